/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on the elements of known values.  Numbers of a float type are computed in double and
 * rounded to that type, as a runtime would; expressions are exact ratios.
 */
#include <math.h>

#include "common.h"

const struct vram_element vram_element_unknown = {VRAM_ELEMENT_UNKNOWN, VRAM_DIM_UNKNOWN, 1, 0};

/* Whole numbers to here are exact in double. */
#define WHOLE 9007199254740992.0

bool vram_element_known(struct vram_element e)
{
    return e.kind == VRAM_ELEMENT_REAL ||
           (e.kind == VRAM_ELEMENT_RATIO && e.num != VRAM_DIM_UNKNOWN);
}

bool vram_element_number(struct vram_op *op, struct vram_element e, double *x)
{
    int64_t n;
    if (e.kind == VRAM_ELEMENT_REAL) {
        *x = e.real;
        return true;
    }
    if (e.kind != VRAM_ELEMENT_RATIO || !vram_dim_is_int(op->dims, e.num, &n))
        return false;
    *x = (double)n / (double)e.den;
    return true;
}

bool vram_element_whole(struct vram_op *op, struct vram_element e, int64_t *n)
{
    if (e.kind == VRAM_ELEMENT_REAL) {
        if (!(fabs(e.real) <= WHOLE) || floor(e.real) != e.real)
            return false;
        *n = (int64_t)e.real;
        return true;
    }
    return e.kind == VRAM_ELEMENT_RATIO && e.den == 1 && vram_dim_is_int(op->dims, e.num, n);
}

/* x with so many significant bits, half to even */
static double significant(double x, int bits)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (!isfinite(x) || x == 0)
        return x;
    return ldexp(nearbyint(ldexp(m, bits)), exponent - bits);
}

struct vram_element vram_element_round_to(struct vram_op *op, double x, uint8_t dtype)
{
    if (dtype == VRAM_DT_F32)
        x = (double)(float)x;
    else if (dtype == VRAM_DT_F16)
        x = significant(x, 11);
    else if (dtype == VRAM_DT_BF16)
        x = significant(x, 8);
    else if (dtype != VRAM_DT_F64)
        return vram_element_unknown;
    if (fabs(x) <= WHOLE && floor(x) == x)
        return vram_element_dim(vram_dim_int(op->dims, (int64_t)x));
    return vram_element_real(x);
}

struct vram_element vram_element_truth(struct vram_op *op, enum vram_truth truth)
{
    return truth == VRAM_MAYBE ? vram_element_unknown
                               : vram_element_dim(vram_dim_int(op->dims, truth == VRAM_TRUE));
}

enum vram_truth vram_element_is_true(struct vram_op *op, struct vram_element e)
{
    double x;
    if (vram_element_number(op, e, &x))
        return x != 0 ? VRAM_TRUE : VRAM_FALSE;
    return VRAM_MAYBE;
}

/* A real as a ratio, when its denominator is a small power of two. */
static bool as_ratio(struct vram_op *op, struct vram_element *e)
{
    if (e->kind == VRAM_ELEMENT_RATIO)
        return e->num != VRAM_DIM_UNKNOWN;
    if (e->kind != VRAM_ELEMENT_REAL || !(fabs(e->real) < 1 << 30))
        return false;
    for (int64_t den = 1; den <= 1 << 16; den *= 2) {
        double x = e->real * (double)den;
        if (floor(x) == x) {
            *e = vram_element_dim(vram_dim_int(op->dims, (int64_t)x));
            e->den = den;
            return true;
        }
    }
    return false;
}

/* num / den with common factors taken out; unknown when den does not fit. */
static struct vram_element ratio(struct vram_op *op, vram_dim num, int64_t den)
{
    static const int64_t factors[] = {2, 3, 5, 7};
    struct vram_element e = vram_element_unknown;
    if (num == VRAM_DIM_UNKNOWN || den <= 0)
        return e;
    for (size_t i = 0; den > 1 && i < sizeof factors / sizeof *factors; i++)
        while (den % factors[i] == 0) {
            vram_dim less = vram_dim_exact(op->dims, num, vram_dim_int(op->dims, factors[i]));
            if (less == VRAM_DIM_UNKNOWN)
                break;
            num = less;
            den /= factors[i];
        }
    e = vram_element_dim(num);
    e.den = den;
    return e;
}

static bool product(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out) && *out <= (int64_t)1 << 31;
}

/* Both as ratios over one denominator. */
static bool common(struct vram_op *op, struct vram_element *a, struct vram_element *b, int64_t *den)
{
    if (!as_ratio(op, a) || !as_ratio(op, b))
        return false;
    if (a->den == b->den) {
        *den = a->den;
        return true;
    }
    if (!product(a->den, b->den, den))
        return false;
    a->num = vram_dim_mul(op->dims, a->num, vram_dim_int(op->dims, b->den));
    b->num = vram_dim_mul(op->dims, b->num, vram_dim_int(op->dims, a->den));
    return true;
}

static bool is_float(uint8_t dtype) { return vram_dtype_is_float((enum vram_dtype)dtype); }

/* Numbers of a narrower type may wrap around: those are not followed. */
static struct vram_element fits(struct vram_op *op, struct vram_element e, uint8_t dtype)
{
    int64_t n;
    if (is_float(dtype) || e.kind != VRAM_ELEMENT_RATIO || !vram_dim_is_int(op->dims, e.num, &n))
        return e;
    bool wraps = dtype == VRAM_DT_I32                           ? n < INT32_MIN || n > INT32_MAX
                 : dtype == VRAM_DT_U32 || dtype == VRAM_DT_U64 ? n < 0
                 : dtype == VRAM_DT_I16                         ? n < INT16_MIN || n > INT16_MAX
                 : dtype == VRAM_DT_I8                          ? n < INT8_MIN || n > INT8_MAX
                 : dtype == VRAM_DT_U16                         ? n < 0 || n > UINT16_MAX
                 : dtype == VRAM_DT_U8                          ? n < 0 || n > UINT8_MAX
                                                                : false;
    return wraps ? vram_element_unknown : e;
}

/* Both are numbers of a float type. */
static bool floats(struct vram_op *op, struct vram_element a, struct vram_element b, uint8_t dtype,
                   double *x, double *y)
{
    return is_float(dtype) && vram_element_number(op, a, x) && vram_element_number(op, b, y);
}

struct vram_element vram_element_add(struct vram_op *op, struct vram_element a,
                                     struct vram_element b, uint8_t dtype)
{
    double x, y;
    int64_t den;
    if (floats(op, a, b, dtype, &x, &y))
        return vram_element_round_to(op, x + y, dtype);
    if (!common(op, &a, &b, &den))
        return vram_element_unknown;
    return fits(op, ratio(op, vram_dim_add(op->dims, a.num, b.num), den), dtype);
}

struct vram_element vram_element_sub(struct vram_op *op, struct vram_element a,
                                     struct vram_element b, uint8_t dtype)
{
    double x, y;
    int64_t den;
    if (floats(op, a, b, dtype, &x, &y))
        return vram_element_round_to(op, x - y, dtype);
    if (!common(op, &a, &b, &den))
        return vram_element_unknown;
    return fits(op, ratio(op, vram_dim_sub(op->dims, a.num, b.num), den), dtype);
}

struct vram_element vram_element_mul(struct vram_op *op, struct vram_element a,
                                     struct vram_element b, uint8_t dtype)
{
    double x, y;
    int64_t den;
    if (floats(op, a, b, dtype, &x, &y))
        return vram_element_round_to(op, x * y, dtype);
    if (!as_ratio(op, &a) || !as_ratio(op, &b) || !product(a.den, b.den, &den))
        return vram_element_unknown;
    return fits(op, ratio(op, vram_dim_mul(op->dims, a.num, b.num), den), dtype);
}

/* a / b rounded towards zero; a and b are whole */
static vram_dim truncated(struct vram_op *op, vram_dim a, vram_dim b)
{
    struct vram_dims *d = op->dims;
    vram_dim zero = vram_dim_int(d, 0);
    int64_t low, high, blow, bhigh;
    vram_dim_range(d, a, &low, &high);
    vram_dim_range(d, b, &blow, &bhigh);
    if (bhigh < 0) {
        a = vram_dim_sub(d, zero, a);
        b = vram_dim_sub(d, zero, b);
        vram_dim_range(d, a, &low, &high);
    } else if (blow < 0) {
        return VRAM_DIM_UNKNOWN;
    }
    if (low >= 0)
        return vram_dim_floordiv(d, a, b);
    vram_dim minus = vram_dim_sub(d, zero, a);
    if (high <= 0)
        return vram_dim_sub(d, zero, vram_dim_floordiv(d, minus, b));
    return vram_dim_sub(d, vram_dim_floordiv(d, vram_dim_max(d, a, zero), b),
                        vram_dim_floordiv(d, vram_dim_max(d, minus, zero), b));
}

struct vram_element vram_element_div(struct vram_op *op, struct vram_element a,
                                     struct vram_element b, uint8_t dtype)
{
    double x, y;
    int64_t n, den;
    if (floats(op, a, b, dtype, &x, &y))
        return y == 0 ? vram_element_unknown : vram_element_round_to(op, x / y, dtype);
    if (!as_ratio(op, &a) || !as_ratio(op, &b))
        return vram_element_unknown;
    if (!is_float(dtype)) {
        if (a.den != 1 || b.den != 1)
            return vram_element_unknown;
        return fits(op, vram_element_dim(truncated(op, a.num, b.num)), dtype);
    }
    a.num = vram_dim_mul(op->dims, a.num, vram_dim_int(op->dims, b.den));
    if (vram_dim_is_int(op->dims, b.num, &n)) {
        if (n < 0 && n > INT64_MIN) {
            a.num = vram_dim_sub(op->dims, vram_dim_int(op->dims, 0), a.num);
            n = -n;
        }
        return n > 0 && product(a.den, n, &den) ? ratio(op, a.num, den) : vram_element_unknown;
    }
    return ratio(op, vram_dim_exact(op->dims, a.num, b.num), a.den);
}

/* Sign of the divisor, as Python has it. */
struct vram_element vram_element_mod(struct vram_op *op, struct vram_element a,
                                     struct vram_element b, uint8_t dtype)
{
    double x, y;
    if (floats(op, a, b, dtype, &x, &y))
        return y == 0 ? vram_element_unknown
                      : vram_element_round_to(op, x - floor(x / y) * y, dtype);
    if (!as_ratio(op, &a) || !as_ratio(op, &b) || a.den != 1 || b.den != 1)
        return vram_element_unknown;
    return vram_element_dim(vram_dim_mod(op->dims, a.num, b.num));
}

/* Sign of the dividend, as C has it. */
struct vram_element vram_element_fmod(struct vram_op *op, struct vram_element a,
                                      struct vram_element b, uint8_t dtype)
{
    int64_t n, m, low, high;
    double x, y;
    if (floats(op, a, b, dtype, &x, &y))
        return y == 0 ? vram_element_unknown : vram_element_round_to(op, fmod(x, y), dtype);
    if (vram_element_whole(op, a, &n) && vram_element_whole(op, b, &m) && m != 0)
        return vram_element_dim(vram_dim_int(op->dims, m == -1 ? 0 : n % m));
    if (!as_ratio(op, &a) || !as_ratio(op, &b) || a.den != 1 || b.den != 1)
        return vram_element_unknown;
    vram_dim_range(op->dims, a.num, &low, &high);
    if (low < 0)
        return vram_element_unknown;
    vram_dim_range(op->dims, b.num, &low, &high);
    return low < 0 ? vram_element_unknown : vram_element_dim(vram_dim_mod(op->dims, a.num, b.num));
}

struct vram_element vram_element_pow(struct vram_op *op, struct vram_element a,
                                     struct vram_element b, uint8_t dtype)
{
    double x, y;
    int64_t n;
    if (floats(op, a, b, dtype, &x, &y))
        return vram_element_round_to(op, pow(x, y), dtype);
    if (!vram_element_whole(op, b, &n) || n < 0 || n > 64 || !vram_element_known(a))
        return vram_element_unknown;
    struct vram_element r = vram_element_dim(vram_dim_int(op->dims, 1));
    while (n-- > 0)
        r = vram_element_mul(op, r, a, dtype);
    return r;
}

static struct vram_element extreme(struct vram_op *op, struct vram_element a, struct vram_element b,
                                   uint8_t dtype,
                                   vram_dim (*choose)(struct vram_dims *, vram_dim, vram_dim),
                                   bool greater)
{
    double x, y;
    int64_t den;
    if (floats(op, a, b, dtype, &x, &y))
        return (x < y) == greater ? b : a;
    if (!common(op, &a, &b, &den))
        return vram_element_unknown;
    return ratio(op, choose(op->dims, a.num, b.num), den);
}

struct vram_element vram_element_min(struct vram_op *op, struct vram_element a,
                                     struct vram_element b, uint8_t dtype)
{
    return extreme(op, a, b, dtype, vram_dim_min, false);
}

struct vram_element vram_element_max(struct vram_op *op, struct vram_element a,
                                     struct vram_element b, uint8_t dtype)
{
    return extreme(op, a, b, dtype, vram_dim_max, true);
}

struct vram_element vram_element_neg(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    return vram_element_sub(op, vram_element_dim(vram_dim_int(op->dims, 0)), a, dtype);
}

struct vram_element vram_element_abs(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    return vram_element_max(op, a, vram_element_neg(op, a, dtype), dtype);
}

struct vram_element vram_element_sign(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    struct vram_element zero = vram_element_dim(vram_dim_int(op->dims, 0));
    (void)dtype;
    if (vram_element_before(op, zero, a) == VRAM_TRUE)
        return vram_element_dim(vram_dim_int(op->dims, 1));
    if (vram_element_before(op, a, zero) == VRAM_TRUE)
        return vram_element_dim(vram_dim_int(op->dims, -1));
    return vram_element_same(op, a, zero) == VRAM_TRUE ? zero : vram_element_unknown;
}

struct vram_element vram_element_floor(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    if (a.kind == VRAM_ELEMENT_REAL)
        return vram_element_round_to(op, floor(a.real), dtype);
    if (!as_ratio(op, &a))
        return vram_element_unknown;
    return vram_element_dim(vram_dim_floordiv(op->dims, a.num, vram_dim_int(op->dims, a.den)));
}

struct vram_element vram_element_ceil(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    if (a.kind == VRAM_ELEMENT_REAL)
        return vram_element_round_to(op, ceil(a.real), dtype);
    if (!as_ratio(op, &a))
        return vram_element_unknown;
    return vram_element_dim(vram_dim_ceildiv(op->dims, a.num, vram_dim_int(op->dims, a.den)));
}

/* Half to even. */
struct vram_element vram_element_round(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    double x;
    if (a.kind == VRAM_ELEMENT_RATIO && a.den == 1)
        return a;
    return vram_element_number(op, a, &x) ? vram_element_round_to(op, nearbyint(x), dtype)
                                          : vram_element_unknown;
}

struct vram_element vram_element_map(struct vram_op *op, struct vram_element a, uint8_t dtype,
                                     double (*f)(double))
{
    double x;
    return vram_element_number(op, a, &x) ? vram_element_round_to(op, f(x), dtype)
                                          : vram_element_unknown;
}

enum vram_truth vram_element_same(struct vram_op *op, struct vram_element a, struct vram_element b)
{
    double x, y;
    int64_t den;
    if (a.kind == VRAM_ELEMENT_REAL || b.kind == VRAM_ELEMENT_REAL) {
        if (!vram_element_number(op, a, &x) || !vram_element_number(op, b, &y))
            return VRAM_MAYBE;
        return x == y ? VRAM_TRUE : VRAM_FALSE;
    }
    return common(op, &a, &b, &den) ? vram_dim_equal(op->dims, a.num, b.num) : VRAM_MAYBE;
}

enum vram_truth vram_element_before(struct vram_op *op, struct vram_element a,
                                    struct vram_element b)
{
    double x, y;
    int64_t den;
    if (a.kind == VRAM_ELEMENT_REAL || b.kind == VRAM_ELEMENT_REAL) {
        if (vram_element_number(op, a, &x) && vram_element_number(op, b, &y))
            return x < y ? VRAM_TRUE : VRAM_FALSE;
        if (!common(op, &a, &b, &den))
            return VRAM_MAYBE;
        return vram_dim_less(op->dims, a.num, b.num);
    }
    return common(op, &a, &b, &den) ? vram_dim_less(op->dims, a.num, b.num) : VRAM_MAYBE;
}
