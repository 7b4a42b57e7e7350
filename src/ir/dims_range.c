/* SPDX-License-Identifier: Apache-2.0
 *
 * Between which numbers a dim lies: interval arithmetic, and what follows from it.
 */
#include "base/math.h"
#include "ir/dims_table.h"

static int64_t saturate(bool negative) { return negative ? INT64_MIN : INT64_MAX; }

static bool endless(int64_t x) { return x == INT64_MIN || x == INT64_MAX; }

/* What is too large for a low end is a low end all the same, and the other way round. */
static int64_t add_end(int64_t a, int64_t b, int64_t none)
{
    int64_t r;
    if (a == none || b == none)
        return none;
    return vram_add_i64(a, b, &r) ? r : saturate(a < 0);
}

struct dim_range dim_range_add(struct dim_range a, struct dim_range b)
{
    return (struct dim_range){add_end(a.low, b.low, INT64_MIN), add_end(a.high, b.high, INT64_MAX)};
}

static int64_t mul_end(int64_t a, int64_t b)
{
    int64_t r;
    if (a == 0 || b == 0)
        return 0;
    return !endless(a) && !endless(b) && vram_mul_i64(a, b, &r) ? r : saturate((a < 0) != (b < 0));
}

static int64_t floordiv_end(int64_t a, int64_t b)
{
    int64_t r;
    if (endless(a))
        return saturate((a < 0) != (b < 0));
    if (endless(b))
        return a == 0 || (a < 0) == (b < 0) ? 0 : -1;
    return vram_floordiv_i64(a, b, &r) ? r : INT64_MAX;
}

static struct dim_range corners(struct dim_range a, struct dim_range b, int64_t (*f)(int64_t, int64_t))
{
    int64_t x[4] = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
    struct dim_range r = {x[0], x[0]};
    for (int i = 1; i < 4; i++) {
        r.low = x[i] < r.low ? x[i] : r.low;
        r.high = x[i] > r.high ? x[i] : r.high;
    }
    return r;
}

struct dim_range dim_range_mul(struct dim_range a, struct dim_range b)
{
    return corners(a, b, mul_end);
}

/* A divisor is not 0; one that may have either sign says nothing. */
static struct dim_range floordiv(struct dim_range a, struct dim_range b)
{
    if (b.low < 0 && b.high > 0)
        return (struct dim_range){INT64_MIN, INT64_MAX};
    if (b.low >= 0 && b.low < 1)
        b.low = 1;
    if (b.high <= 0 && b.high > -1)
        b.high = -1;
    if (b.low > b.high)
        return (struct dim_range){INT64_MIN, INT64_MAX};
    return corners(a, b, floordiv_end);
}

static struct dim_range mod(struct dim_range a, struct dim_range b)
{
    int64_t most = b.high == INT64_MAX ? INT64_MAX : b.high - 1;
    int64_t least = b.low == INT64_MIN ? INT64_MIN : b.low + 1;
    if (a.low >= 0 && a.high < b.low)
        return a;
    if (b.low >= 0)
        return (struct dim_range){0, a.low >= 0 && a.high < most ? a.high : most < 0 ? 0 : most};
    return (struct dim_range){least < 0 ? least : 0, most > 0 ? most : 0};
}

struct dim_range dim_range_atom(const struct vram_dims *dims, enum atom_kind kind, vram_dim x,
                                vram_dim y)
{
    struct dim_range a = dim_range_of(dims, x), b = dim_range_of(dims, y);
    switch (kind) {
    case ATOM_FLOORDIV:
        return floordiv(a, b);
    case ATOM_MOD:
        return mod(a, b);
    case ATOM_MIN:
        return (struct dim_range){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
    case ATOM_MAX:
        return (struct dim_range){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
    default:
        return (struct dim_range){INT64_MIN, INT64_MAX};
    }
}

struct dim_range dim_range_of(const struct vram_dims *dims, vram_dim a)
{
    if (dim_small(a))
        return (struct dim_range){dim_small_value(a), dim_small_value(a)};
    return a ? dims->sums.at[a].range : (struct dim_range){INT64_MIN, INT64_MAX};
}

void vram_dim_range(const struct vram_dims *dims, vram_dim a, int64_t *low, int64_t *high)
{
    struct dim_range r = dim_range_of(dims, a);
    *low = r.low;
    *high = r.high;
}

/* a − b where that can be said */
static struct dim_range difference(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    enum vram_dim_broken before = dims->broken;
    struct dim_range r = dim_range_of(dims, vram_dim_sub(dims, a, b));
    if (dims->broken != VRAM_DIM_NO_MEMORY)
        dims->broken = before; /* a comparison breaks nothing */
    return r;
}

enum vram_truth vram_dim_equal(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    if (!a || !b)
        return VRAM_MAYBE;
    if (a == b)
        return VRAM_TRUE;
    if (dim_small(a) && dim_small(b))
        return VRAM_FALSE;
    struct dim_range r = difference(dims, a, b);
    return r.low > 0 || r.high < 0 ? VRAM_FALSE : VRAM_MAYBE;
}

enum vram_truth vram_dim_less(struct vram_dims *dims, vram_dim a, vram_dim b)
{
    int64_t x, y;
    if (!a || !b)
        return VRAM_MAYBE;
    if (vram_dim_is_int(dims, a, &x) && vram_dim_is_int(dims, b, &y))
        return x < y ? VRAM_TRUE : VRAM_FALSE;
    struct dim_range r = difference(dims, a, b);
    return r.high < 0 ? VRAM_TRUE : r.low >= 0 ? VRAM_FALSE : VRAM_MAYBE;
}
