/* SPDX-License-Identifier: Apache-2.0
 *
 * Division with rounding, remainders, the smaller and the larger of two dims.
 */
#include "base/math.h"
#include "ir/dims_table.h"

static int64_t gcd(int64_t a, int64_t b) /* both ≥ 0 */
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* a = by·whole + rest with the coefficients of rest in [0, by); by > 0 */
static bool split(struct vram_dims *dims, vram_dim a, int64_t by, vram_dim *whole, vram_dim *rest)
{
    struct dim_term own, w[VRAM_DIM_TERMS], r[VRAM_DIM_TERMS];
    uint32_t n;
    const struct dim_term *t = dim_terms(dims, a, &own, &n);
    for (uint32_t i = 0; i < n; i++) {
        w[i].product = r[i].product = t[i].product;
        vram_floordiv_i64(t[i].c, by, &w[i].c);
        vram_floormod_i64(t[i].c, by, &r[i].c);
    }
    *whole = dim_sum_of(dims, w, n);
    *rest = dim_sum_of(dims, r, n);
    return *whole && *rest;
}

/* Greatest common divisor of the coefficients, 1's one apart when `constant` is not asked for. */
static int64_t content(const struct vram_dims *dims, vram_dim a, bool constant, int64_t with)
{
    struct dim_term own;
    uint32_t n;
    const struct dim_term *t = dim_terms(dims, a, &own, &n);
    int64_t g = with;
    for (uint32_t i = 0; i < n && g != 1; i++)
        if (constant || t[i].product)
            g = gcd(g, t[i].c == INT64_MIN ? 1 : t[i].c < 0 ? -t[i].c : t[i].c);
    return g;
}

/* x // m + p, where one atom is such a quotient by a number and stands alone: (x + m·p), m */
static bool merged_quotient(struct vram_dims *dims, vram_dim a, vram_dim *sum, int64_t *by)
{
    struct dim_term own;
    uint32_t n, found = UINT32_MAX;
    const struct dim_term *t = dim_terms(dims, a, &own, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct dim_product *p = &dims->products.at[t[i].product];
        if (p->n != 1 || t[i].c != 1 || dims->atoms.at[p->atoms[0]].kind != ATOM_FLOORDIV ||
            !dim_small(dims->atoms.at[p->atoms[0]].b))
            continue;
        if (found != UINT32_MAX)
            return false;
        found = i;
    }
    if (found == UINT32_MAX)
        return false;
    const struct dim_atom atom = dims->atoms.at[dims->products.at[t[found].product].atoms[0]];
    *by = dim_small_value(atom.b);
    vram_dim others = vram_dim_mul(dims, vram_dim_sub(dims, a, atom.self), atom.b);
    *sum = vram_dim_add(dims, atom.a, others);
    return *sum && *by > 0;
}

/* a // by, by > 1 */
static vram_dim by_number(struct vram_dims *dims, vram_dim a, int64_t by)
{
    vram_dim whole, rest, inner;
    int64_t inner_by, product;
    if (!split(dims, a, by, &whole, &rest))
        return VRAM_DIM_UNKNOWN;
    int64_t g = content(dims, rest, false, by), constant = dim_constant(dims, rest);
    if (g > 1) { /* floor((g·p + k) / (g·c)) = floor((p + floor(k/g)) / c) */
        rest = vram_dim_sub(dims, rest, vram_dim_int(dims, constant % g));
        rest = vram_dim_exact(dims, rest, vram_dim_int(dims, g));
        by /= g;
    }
    if (merged_quotient(dims, rest, &inner, &inner_by) && vram_mul_i64(inner_by, by, &product) &&
        product < SMALL)
        return vram_dim_add(dims, whole, by_number(dims, inner, product));
    struct dim_range range = dim_range_of(dims, rest);
    if (!rest || by == 1)
        return vram_dim_add(dims, whole, rest);
    if (range.low >= 0 && range.high < by)
        return whole;
    return vram_dim_add(dims, whole, dim_atom_of(dims, ATOM_FLOORDIV, rest, vram_dim_int(dims, by)));
}

/* Takes out of both what every term of both has as a factor. */
static void cancel(struct vram_dims *dims, vram_dim *a, vram_dim *b)
{
    int64_t g = content(dims, *a, true, content(dims, *b, true, 0));
    if (g > 1) {
        *a = vram_dim_exact(dims, *a, vram_dim_int(dims, g));
        *b = vram_dim_exact(dims, *b, vram_dim_int(dims, g));
    }
    struct dim_term own;
    uint32_t n;
    const struct dim_term *t = dim_terms(dims, *b, &own, &n);
    const struct dim_product first = dims->products.at[t[0].product];
    for (uint32_t k = 0; k < first.n; k++) {
        vram_dim factor = dims->atoms.at[first.atoms[k]].self;
        vram_dim x = vram_dim_exact(dims, *a, factor), y = x ? vram_dim_exact(dims, *b, factor) : x;
        if (!x || !y)
            continue;
        *a = x;
        *b = y;
    }
}

vram_dim vram_dim_floordiv(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    int64_t x, y, q;
    if (!a || !b)
        return VRAM_DIM_UNKNOWN;
    bool number = vram_dim_is_int(dims, b, &y);
    if (number && y == 0)
        return dim_broken(dims, VRAM_DIM_ZERO_DIVISION);
    if (number && vram_dim_is_int(dims, a, &x))
        return vram_floordiv_i64(x, y, &q) ? vram_dim_int(dims, q) : dim_broken(dims, VRAM_DIM_OVERFLOW);
    if (number && y < 0) /* a // −y = −a // y */
        return y == INT64_MIN ? VRAM_DIM_UNKNOWN
                              : vram_dim_floordiv(dims, vram_dim_sub(dims, dim_small_id(0), a),
                                                  vram_dim_int(dims, -y));
    if (number)
        return y == 1 ? a : by_number(dims, a, y);
    vram_dim exact = vram_dim_exact(dims, a, b);
    if (exact)
        return exact;
    vram_dim before = b;
    cancel(dims, &a, &b);
    return b != before ? vram_dim_floordiv(dims, a, b) : dim_atom_of(dims, ATOM_FLOORDIV, a, b);
}

vram_dim vram_dim_ceildiv(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    vram_dim zero = dim_small_id(0);
    if (!a || !b)
        return VRAM_DIM_UNKNOWN;
    if (vram_dim_less(dims, b, zero) != VRAM_FALSE)
        return vram_dim_sub(dims, zero, vram_dim_floordiv(dims, vram_dim_sub(dims, zero, a), b));
    vram_dim more = vram_dim_sub(dims, b, dim_small_id(1));
    return vram_dim_floordiv(dims, vram_dim_add(dims, a, more), b);
}

vram_dim vram_dim_mod(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    int64_t x, y, r;
    vram_dim whole;
    if (!a || !b)
        return VRAM_DIM_UNKNOWN;
    bool number = vram_dim_is_int(dims, b, &y);
    if (number && y == 0)
        return dim_broken(dims, VRAM_DIM_ZERO_DIVISION);
    if (number && (y == 1 || y == -1))
        return dim_small_id(0);
    if (number && vram_dim_is_int(dims, a, &x))
        return vram_floormod_i64(x, y, &r) ? vram_dim_int(dims, r) : dim_broken(dims, VRAM_DIM_OVERFLOW);
    if (number && y > 0) {
        if (!split(dims, a, y, &whole, &a))
            return VRAM_DIM_UNKNOWN;
        if (dim_range_of(dims, a).low >= 0 && dim_range_of(dims, a).high < y)
            return a;
    } else if (!number) {
        if (vram_dim_exact(dims, a, b))
            return dim_small_id(0);
        if (dim_range_of(dims, a).low >= 0 && vram_dim_less(dims, a, b) == VRAM_TRUE)
            return a;
    }
    return dim_atom_of(dims, ATOM_MOD, a, b);
}

/* ---- min and max --------------------------------------------------------------------------- */

struct operands {
    vram_dim at[MOST_OPERANDS];
    uint32_t n;
};

/* Is a ≤ b for certain?  By their ranges, or because a is a min that has b, or b a max that has a. */
static bool at_most(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    const struct dim_atom *x = dim_alone(dims, a), *y = dim_alone(dims, b);
    const vram_dim parts[2][2] = {{x && x->kind == ATOM_MIN ? x->a : 0, x && x->kind == ATOM_MIN ? x->b : 0},
                                  {y && y->kind == ATOM_MAX ? y->a : 0, y && y->kind == ATOM_MAX ? y->b : 0}};
    if (a == b || vram_dim_less(dims, b, a) == VRAM_FALSE)
        return true;
    for (int i = 0; i < 2; i++)
        if ((parts[0][i] && at_most(dims, parts[0][i], b)) || (parts[1][i] && at_most(dims, a, parts[1][i])))
            return true;
    return false;
}

/* Adds a to the operands, but for what another one makes pointless; false: too many. */
static bool add_operand(struct vram_dims *dims, enum atom_kind kind, struct operands *all, vram_dim a)
{
    const struct dim_atom *atom = dim_alone(dims, a);
    if (atom && atom->kind == kind) {
        const vram_dim x = atom->a, y = atom->b;
        return add_operand(dims, kind, all, x) && add_operand(dims, kind, all, y);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        vram_dim b = all->at[i];
        if (kind == ATOM_MAX ? at_most(dims, a, b) : at_most(dims, b, a)) /* b serves as well */
            return true;
        if (!(kind == ATOM_MAX ? at_most(dims, b, a) : at_most(dims, a, b)))
            all->at[kept++] = b;
    }
    all->n = kept;
    if (all->n == MOST_OPERANDS)
        return false;
    all->at[all->n++] = a;
    return true;
}

static vram_dim extreme(struct vram_dims *dims, enum atom_kind kind, vram_dim a, vram_dim b)
{
    struct operands all = {.n = 0};
    if (!a || !b)
        return VRAM_DIM_UNKNOWN;
    if (!add_operand(dims, kind, &all, a) || !add_operand(dims, kind, &all, b))
        return VRAM_DIM_UNKNOWN;
    for (uint32_t i = 1; i < all.n; i++) /* by id: max(a, b) is max(b, a) */
        for (uint32_t k = i; k && all.at[k] < all.at[k - 1]; k--) {
            vram_dim x = all.at[k];
            all.at[k] = all.at[k - 1];
            all.at[k - 1] = x;
        }
    vram_dim r = all.at[0];
    for (uint32_t i = 1; i < all.n && r; i++)
        r = dim_atom_of(dims, kind, r, all.at[i]);
    return r;
}

vram_dim vram_dim_min(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    if (dim_small(a) && dim_small(b))
        return a < b ? a : b;
    return extreme(dims, ATOM_MIN, a, b);
}

vram_dim vram_dim_max(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    if (dim_small(a) && dim_small(b))
        return a > b ? a : b;
    return extreme(dims, ATOM_MAX, a, b);
}
