/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of dims: plus, minus, times, exact division, and putting values in for symbols.
 */
#include <stdlib.h>

#include "base/math.h"
#include "ir/dims_table.h"

/* ---- plus and minus ------------------------------------------------------------------------ */

/* a + sign·b */
static vram_dim plus(struct vram_dims *dims, vram_dim a, vram_dim b, int64_t sign)
{
    struct dim_term own_a, own_b, terms[2 * VRAM_DIM_TERMS];
    uint32_t na, nb, n = 0, i = 0, k = 0;
    const struct dim_term *ta = dim_terms(dims, a, &own_a, &na), *tb = dim_terms(dims, b, &own_b, &nb);
    while (i < na || k < nb) {
        if (k == nb || (i < na && ta[i].product < tb[k].product)) {
            terms[n++] = ta[i++];
            continue;
        }
        struct dim_term t = tb[k++];
        if (!vram_mul_i64(t.c, sign, &t.c))
            return VRAM_DIM_UNKNOWN;
        if (i < na && ta[i].product == t.product && !vram_add_i64(t.c, ta[i++].c, &t.c))
            return VRAM_DIM_UNKNOWN;
        terms[n] = t;
        n += t.c != 0;
    }
    return dim_sum_of(dims, terms, n);
}

/* UNKNOWN because of numbers alone */
static vram_dim checked(struct vram_dims *dims, vram_dim a, vram_dim b, vram_dim r)
{
    int64_t x;
    if (!r && vram_dim_is_int(dims, a, &x) && vram_dim_is_int(dims, b, &x))
        return dim_broken(dims, VRAM_DIM_OVERFLOW);
    return r;
}

vram_dim vram_dim_add(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    if (dim_small(a) && dim_small(b))
        return vram_dim_int(dims, dim_small_value(a) + dim_small_value(b));
    if (!a || !b)
        return VRAM_DIM_UNKNOWN;
    return checked(dims, a, b, plus(dims, a, b, 1));
}

vram_dim vram_dim_sub(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    if (dim_small(a) && dim_small(b))
        return vram_dim_int(dims, dim_small_value(a) - dim_small_value(b));
    if (!a || !b)
        return VRAM_DIM_UNKNOWN;
    return checked(dims, a, b, plus(dims, a, b, -1));
}

/* ---- times --------------------------------------------------------------------------------- */

/* 0 when it has too many factors, and of 1·1 */
static uint32_t product_mul(struct vram_dims *dims, uint32_t a, uint32_t b)
{
    uint32_t atoms[2 * VRAM_DIM_TERMS], n = 0, i = 0, k = 0;
    if (!a || !b)
        return a ? a : b;
    const struct dim_product x = dims->products.at[a], y = dims->products.at[b];
    while (i < x.n || k < y.n)
        atoms[n++] = k == y.n || (i < x.n && x.atoms[i] <= y.atoms[k]) ? x.atoms[i++] : y.atoms[k++];
    return n > VRAM_DIM_TERMS ? 0 : dim_product_of(dims, atoms, n);
}

static vram_dim times(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    struct dim_term own_a, own_b, terms[MOST_PRODUCTS];
    uint32_t na, nb, n = 0;
    const struct dim_term *ta = dim_terms(dims, a, &own_a, &na), *tb = dim_terms(dims, b, &own_b, &nb);
    if (na * nb > MOST_PRODUCTS)
        return VRAM_DIM_UNKNOWN;
    for (uint32_t i = 0; i < na; i++)
        for (uint32_t k = 0; k < nb; k++, n++) {
            uint32_t p = product_mul(dims, ta[i].product, tb[k].product);
            if ((!p && (ta[i].product || tb[k].product)) || !vram_mul_i64(ta[i].c, tb[k].c, &terms[n].c))
                return VRAM_DIM_UNKNOWN;
            terms[n].product = p;
        }
    return dim_sum_of(dims, terms, n);
}

vram_dim vram_dim_mul(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    if (dim_small(a) && dim_small(b))
        return vram_dim_int(dims, dim_small_value(a) * dim_small_value(b));
    if (!a || !b)
        return VRAM_DIM_UNKNOWN;
    if (a == dim_small_id(1) || b == dim_small_id(1))
        return a == dim_small_id(1) ? b : a;
    return checked(dims, a, b, times(dims, a, b));
}

/* ---- exact division ------------------------------------------------------------------------ */

/* a / b of products; false when b does not divide a */
static bool product_div(struct vram_dims *dims, uint32_t a, uint32_t b, uint32_t *out)
{
    uint32_t atoms[VRAM_DIM_TERMS], n = 0, k = 0;
    const struct dim_product x = dims->products.at[a], y = dims->products.at[b];
    for (uint32_t i = 0; i < x.n; i++) {
        if (k < y.n && y.atoms[k] == x.atoms[i])
            k++;
        else
            atoms[n++] = x.atoms[i];
    }
    if (k < y.n)
        return false;
    *out = dim_product_of(dims, atoms, n);
    return *out || !n;
}

/* Order of products that multiplication keeps: more factors first, then the ones of older atoms. */
static bool leads(const struct vram_dims *dims, uint32_t a, uint32_t b)
{
    const struct dim_product *x = &dims->products.at[a], *y = &dims->products.at[b];
    if (x->n != y->n)
        return x->n > y->n;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->atoms[i] != y->atoms[i])
            return x->atoms[i] < y->atoms[i];
    return false;
}

static struct dim_term leading(const struct vram_dims *dims, vram_dim a)
{
    struct dim_term own, best;
    uint32_t n;
    const struct dim_term *t = dim_terms(dims, a, &own, &n);
    best = t[0];
    for (uint32_t i = 1; i < n; i++)
        if (leads(dims, t[i].product, best.product))
            best = t[i];
    return best;
}

vram_dim vram_dim_exact(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    vram_dim zero = dim_small_id(0), quotient = zero;
    if (!a || !b)
        return VRAM_DIM_UNKNOWN;
    if (b == zero)
        return dim_broken(dims, VRAM_DIM_ZERO_DIVISION);
    if (a == zero || b == dim_small_id(1))
        return a;
    if (a == b)
        return dim_small_id(1);
    struct dim_term by = leading(dims, b);
    for (int steps = 0; a && a != zero && steps < VRAM_DIM_TERMS; steps++) {
        struct dim_term t = leading(dims, a);
        if (by.c == -1 ? !vram_mul_i64(t.c, -1, &t.c) : t.c % by.c != 0)
            return VRAM_DIM_UNKNOWN;
        if (by.c != -1)
            t.c /= by.c;
        if (!product_div(dims, t.product, by.product, &t.product))
            return VRAM_DIM_UNKNOWN;
        vram_dim part = dim_sum_of(dims, &t, 1);
        vram_dim taken = part ? times(dims, part, b) : VRAM_DIM_UNKNOWN;
        a = taken ? plus(dims, a, taken, -1) : VRAM_DIM_UNKNOWN;
        quotient = a ? plus(dims, quotient, part, 1) : VRAM_DIM_UNKNOWN;
        if (!quotient)
            return VRAM_DIM_UNKNOWN;
    }
    return a == zero ? quotient : VRAM_DIM_UNKNOWN;
}

/* ---- values for symbols -------------------------------------------------------------------- */

struct binding {
    struct vram_dims *dims;
    const struct vram_dim_binding *at;
    size_t n;
};

static vram_dim bind(const struct binding *b, vram_dim a);

static vram_dim bind_operation(const struct binding *b, const struct dim_atom *atom)
{
    vram_dim x = bind(b, atom->a), y = bind(b, atom->b);
    switch (atom->kind) {
    case ATOM_FLOORDIV:
        return vram_dim_floordiv(b->dims, x, y);
    case ATOM_MOD:
        return vram_dim_mod(b->dims, x, y);
    case ATOM_MIN:
        return vram_dim_min(b->dims, x, y);
    default:
        return vram_dim_max(b->dims, x, y);
    }
}

static vram_dim bind_atom(const struct binding *b, uint32_t number)
{
    const struct dim_atom atom = b->dims->atoms.at[number]; /* the vector may grow */
    vram_dim value = atom.self;
    if (atom.bound_in == b->dims->binding)
        return atom.bound;
    if (atom.kind != ATOM_SYMBOL)
        value = bind_operation(b, &atom);
    for (size_t i = 0; atom.kind == ATOM_SYMBOL && i < b->n; i++)
        if (b->at[i].name == atom.name)
            value = b->at[i].value;
    b->dims->atoms.at[number].bound_in = b->dims->binding;
    b->dims->atoms.at[number].bound = value;
    return value;
}

/* Recursion is as deep as the expression, which MOST_LEAVES caps. */
static vram_dim bind(const struct binding *b, vram_dim a)
{
    if (dim_small(a) || !a)
        return a;
    const struct dim_sum sum = b->dims->sums.at[a];
    vram_dim total = dim_small_id(0);
    for (uint32_t i = 0; i < sum.n; i++) {
        vram_dim part = vram_dim_int(b->dims, sum.terms[i].c);
        const struct dim_product p = b->dims->products.at[sum.terms[i].product];
        for (uint32_t k = 0; k < p.n; k++)
            part = vram_dim_mul(b->dims, part, bind_atom(b, p.atoms[k]));
        total = vram_dim_add(b->dims, total, part);
    }
    return total;
}

vram_dim vram_dim_bind(struct vram_dims *dims, vram_dim a, const struct vram_dim_binding *at, size_t n)
{
    struct binding b = {dims, at, n};
    dims->binding++;
    return bind(&b, a);
}

int vram_dim_symbols(const struct vram_dims *dims, vram_dim a, int (*each)(void *ctx, vram_dim symbol), void *ctx)
{
    struct dim_term own;
    uint32_t n;
    int code = 0;
    if (!a)
        return 0;
    const struct dim_term *t = dim_terms(dims, a, &own, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct dim_product p = dims->products.at[t[i].product];
        for (uint32_t k = 0; k < p.n && !code; k++) {
            const struct dim_atom x = dims->atoms.at[p.atoms[k]];
            code = x.kind == ATOM_SYMBOL ? each(ctx, x.self) : vram_dim_symbols(dims, x.a, each, ctx);
            if (!code && x.kind != ATOM_SYMBOL)
                code = vram_dim_symbols(dims, x.b, each, ctx);
        }
    }
    return code;
}

static int is_it(void *ctx, vram_dim symbol) { return symbol == *(const vram_dim *)ctx; }

static bool mentions(const struct vram_dims *dims, vram_dim a, vram_dim symbol)
{
    return vram_dim_symbols(dims, a, is_it, &symbol) != 0;
}

vram_dim vram_dim_solve(struct vram_dims *dims, vram_dim a, vram_dim symbol, vram_dim value)
{
    struct dim_term own;
    uint32_t n;
    if (!a || !value || !dim_alone(dims, symbol))
        return VRAM_DIM_UNKNOWN;
    const struct dim_term *t = dim_terms(dims, a, &own, &n);
    uint32_t product = dims->sums.at[symbol].terms[0].product;
    for (uint32_t i = 0; i < n; i++) {
        if (t[i].product != product)
            continue;
        struct dim_term mine = t[i];
        vram_dim rest = vram_dim_sub(dims, a, dim_sum_of(dims, &(struct dim_term){mine.c, product}, 1));
        if (!rest || mentions(dims, rest, symbol))
            return VRAM_DIM_UNKNOWN;
        return vram_dim_exact(dims, vram_dim_sub(dims, value, rest), vram_dim_int(dims, mine.c));
    }
    return VRAM_DIM_UNKNOWN;
}
