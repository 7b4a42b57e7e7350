/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that work element by element, and broadcasting.  Before version 7 the second operand of
 * an arithmetic operator was laid over the first by attributes `broadcast` and `axis`; before
 * version 8 Max, Min, Mean and Sum had operands of one shape.
 */
#include <math.h>

#include "common.h"

/* ---- one operand ---- */

static int value_abs(struct vram_op *op) { return vram_onnx_value1(op, vram_element_abs); }
static int value_neg(struct vram_op *op) { return vram_onnx_value1(op, vram_element_neg); }
static int value_sign(struct vram_op *op) { return vram_onnx_value1(op, vram_element_sign); }
static int value_floor(struct vram_op *op) { return vram_onnx_value1(op, vram_element_floor); }
static int value_ceil(struct vram_op *op) { return vram_onnx_value1(op, vram_element_ceil); }
static int value_round(struct vram_op *op) { return vram_onnx_value1(op, vram_element_round); }

static struct vram_element element_sqrt(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    return vram_element_map(op, a, dtype, sqrt);
}
static struct vram_element element_exp(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    return vram_element_map(op, a, dtype, exp);
}
static struct vram_element element_log(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    return vram_element_map(op, a, dtype, log);
}
static struct vram_element element_reciprocal(struct vram_op *op, struct vram_element a,
                                              uint8_t dtype)
{
    return vram_element_div(op, vram_element_dim(vram_onnx_num(op, 1)), a, dtype);
}
static struct vram_element element_relu(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    return vram_element_max(op, a, vram_element_dim(vram_onnx_num(op, 0)), dtype);
}
static struct vram_element element_not(struct vram_op *op, struct vram_element a, uint8_t dtype)
{
    enum vram_truth t = vram_element_is_true(op, a);
    (void)dtype;
    return vram_element_truth(op, t == VRAM_TRUE ? VRAM_FALSE : t == VRAM_FALSE ? VRAM_TRUE : t);
}
static int value_sqrt(struct vram_op *op) { return vram_onnx_value1(op, element_sqrt); }
static int value_exp(struct vram_op *op) { return vram_onnx_value1(op, element_exp); }
static int value_log(struct vram_op *op) { return vram_onnx_value1(op, element_log); }
static int value_reciprocal(struct vram_op *op) { return vram_onnx_value1(op, element_reciprocal); }
static int value_relu(struct vram_op *op) { return vram_onnx_value1(op, element_relu); }
static int value_not(struct vram_op *op) { return vram_onnx_value1(op, element_not); }

/* The target type has as many bits as the given one. */
static int bitcast(struct vram_op *op)
{
    uint8_t to, from = vram_onnx_in_dtype(op, 0);
    VRAM_TRY(vram_onnx_need_dtype(op, "to", &to));
    if (from != VRAM_DT_NONE && vram_dtypes[from].bits != vram_dtypes[to].bits)
        return vram_op_fail(op, "%s has %d bits and %s %d", vram_dtypes[from].name,
                            vram_dtypes[from].bits, vram_dtypes[to].name, vram_dtypes[to].bits);
    return vram_op_out_like(op, 0, to, op->in[0]);
}

/* ---- two operands ---- */

/* The second operand is laid over the first from `axis` on, or has its shape. */
static int legacy(struct vram_op *op, uint8_t dtype)
{
    const struct vram_info *a = vram_onnx_in(op, 0), *b = vram_onnx_in(op, 1);
    int64_t broadcast;
    VRAM_TRY(vram_op_int(op, "broadcast", 0, &broadcast));
    if (!broadcast && vram_onnx_ranked(a) && vram_onnx_ranked(b)) {
        vram_dim same;
        if (a->rank != b->rank)
            return vram_op_fail(op, "operands of ranks %u and %u without 'broadcast'", a->rank,
                                b->rank);
        for (uint32_t i = 0; i < a->rank; i++)
            VRAM_TRY(
                vram_op_same(op, a->dims[i], b->dims[i], "operands without 'broadcast'", &same));
    }
    return vram_op_out_like(op, 0, dtype, a);
}

static int legacy_same(struct vram_op *op) { return legacy(op, vram_onnx_in_dtype(op, 0)); }
static int legacy_bool(struct vram_op *op) { return legacy(op, VRAM_DT_BOOL); }

static int binary(struct vram_op *op)
{
    uint8_t dtype = vram_onnx_in_dtype(op, 0);
    return vram_onnx_broadcast(op, dtype ? dtype : vram_onnx_in_dtype(op, 1), op->in, 2);
}

static int compare(struct vram_op *op) { return vram_onnx_broadcast(op, VRAM_DT_BOOL, op->in, 2); }

static int bitshift(struct vram_op *op)
{
    const char *direction;
    VRAM_TRY(vram_onnx_need_string(op, "direction", &direction));
    return binary(op);
}

static int value_add(struct vram_op *op) { return vram_onnx_value2(op, vram_element_add); }
static int value_sub(struct vram_op *op) { return vram_onnx_value2(op, vram_element_sub); }
static int value_mul(struct vram_op *op) { return vram_onnx_value2(op, vram_element_mul); }
static int value_div(struct vram_op *op) { return vram_onnx_value2(op, vram_element_div); }
static int value_pow(struct vram_op *op) { return vram_onnx_value2(op, vram_element_pow); }

static int value_mod(struct vram_op *op)
{
    int64_t c_like;
    VRAM_TRY(vram_op_int(op, "fmod", 0, &c_like));
    return vram_onnx_value2(op, c_like ? vram_element_fmod : vram_element_mod);
}

static enum vram_truth inverse(enum vram_truth t)
{
    return t == VRAM_TRUE ? VRAM_FALSE : t == VRAM_FALSE ? VRAM_TRUE : t;
}

static struct vram_element element_equal(struct vram_op *op, struct vram_element a,
                                         struct vram_element b, uint8_t dtype)
{
    (void)dtype;
    return vram_element_truth(op, vram_element_same(op, a, b));
}
static struct vram_element element_less(struct vram_op *op, struct vram_element a,
                                        struct vram_element b, uint8_t dtype)
{
    (void)dtype;
    return vram_element_truth(op, vram_element_before(op, a, b));
}
static struct vram_element element_greater(struct vram_op *op, struct vram_element a,
                                           struct vram_element b, uint8_t dtype)
{
    (void)dtype;
    return vram_element_truth(op, vram_element_before(op, b, a));
}
static struct vram_element element_less_equal(struct vram_op *op, struct vram_element a,
                                              struct vram_element b, uint8_t dtype)
{
    (void)dtype;
    return vram_element_truth(op, inverse(vram_element_before(op, b, a)));
}
static struct vram_element element_greater_equal(struct vram_op *op, struct vram_element a,
                                                 struct vram_element b, uint8_t dtype)
{
    (void)dtype;
    return vram_element_truth(op, inverse(vram_element_before(op, a, b)));
}
static struct vram_element element_and(struct vram_op *op, struct vram_element a,
                                       struct vram_element b, uint8_t dtype)
{
    enum vram_truth x = vram_element_is_true(op, a), y = vram_element_is_true(op, b);
    (void)dtype;
    return vram_element_truth(op, x == VRAM_FALSE || y == VRAM_FALSE ? VRAM_FALSE
                                  : x == VRAM_TRUE                   ? y
                                                                     : VRAM_MAYBE);
}
static struct vram_element element_or(struct vram_op *op, struct vram_element a,
                                      struct vram_element b, uint8_t dtype)
{
    enum vram_truth x = vram_element_is_true(op, a), y = vram_element_is_true(op, b);
    (void)dtype;
    return vram_element_truth(op, x == VRAM_TRUE || y == VRAM_TRUE ? VRAM_TRUE
                                  : x == VRAM_FALSE                ? y
                                                                   : VRAM_MAYBE);
}
static struct vram_element element_xor(struct vram_op *op, struct vram_element a,
                                       struct vram_element b, uint8_t dtype)
{
    enum vram_truth x = vram_element_is_true(op, a), y = vram_element_is_true(op, b);
    (void)dtype;
    if (x == VRAM_MAYBE || y == VRAM_MAYBE)
        return vram_element_unknown;
    return vram_element_truth(op, x != y ? VRAM_TRUE : VRAM_FALSE);
}
static int value_equal(struct vram_op *op) { return vram_onnx_value2(op, element_equal); }
static int value_less(struct vram_op *op) { return vram_onnx_value2(op, element_less); }
static int value_greater(struct vram_op *op) { return vram_onnx_value2(op, element_greater); }
static int value_less_equal(struct vram_op *op) { return vram_onnx_value2(op, element_less_equal); }
static int value_greater_equal(struct vram_op *op)
{
    return vram_onnx_value2(op, element_greater_equal);
}
static int value_and(struct vram_op *op) { return vram_onnx_value2(op, element_and); }
static int value_or(struct vram_op *op) { return vram_onnx_value2(op, element_or); }
static int value_xor(struct vram_op *op) { return vram_onnx_value2(op, element_xor); }

/* The slope is broadcast to the data, never the other way. */
static int prelu(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *slope = op->in[1];
    if (vram_onnx_ranked(x) && vram_onnx_ranked(slope) && slope->rank > x->rank)
        return vram_op_fail(op, "slope of rank %u for data of rank %u", slope->rank, x->rank);
    return vram_onnx_like(op);
}

static int swiglu(struct vram_op *op)
{
    const struct vram_info *a = op->in[0], *b = op->in[1];
    if (!vram_onnx_ranked(a) || !vram_onnx_ranked(b))
        return vram_op_out_like(op, 0, a->dtype, vram_onnx_ranked(a) ? a : b);
    if (a->rank != b->rank)
        return vram_op_fail(op, "operands of ranks %u and %u", a->rank, b->rank);
    vram_dim *dims = vram_op_dims(op, a->rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < a->rank; i++)
        VRAM_TRY(vram_op_same(op, a->dims[i], b->dims[i], "operands", &dims[i]));
    return vram_op_out_dims(op, 0, a->dtype, dims, a->rank);
}

/* ---- any number of operands ---- */

/* Element by element, then by how many there were when it is a mean. */
static int value_fold(struct vram_op *op, vram_element_fn2 *f, bool mean)
{
    struct vram_onnx_grid y, x;
    int64_t at[VRAM_ONNX_VALUE_RANK];
    struct vram_element count = vram_element_dim(vram_onnx_num(op, op->n_in));
    if (!op->n_in || !vram_onnx_grid(op, &op->out[0], &y))
        return 0;
    for (uint32_t k = 0; k < op->n_in; k++)
        if (!vram_onnx_value(op, k, &x))
            return 0;
    struct vram_element *e = vram_op_elements(op, 0);
    for (uint32_t k = 0; e && k < op->n_in; k++) {
        vram_onnx_value(op, k, &x);
        for (int64_t i = 0; i < y.n; i++) {
            vram_onnx_at(&y, i, at);
            struct vram_element v = op->in[k]->value[vram_onnx_broadcast_index(&x, y.rank, at)];
            e[i] = k ? f(op, e[i], v, op->out[0].dtype) : v;
        }
    }
    for (int64_t i = 0; e && mean && i < y.n; i++)
        e[i] = vram_element_div(op, e[i], count, op->out[0].dtype);
    return vram_op_check(op);
}

static int value_min(struct vram_op *op) { return value_fold(op, vram_element_min, false); }
static int value_max(struct vram_op *op) { return value_fold(op, vram_element_max, false); }
static int value_sum(struct vram_op *op) { return value_fold(op, vram_element_add, false); }
static int value_mean(struct vram_op *op) { return value_fold(op, vram_element_add, true); }

static int same_shapes(struct vram_op *op)
{
    const struct vram_info *a = op->in[0];
    vram_dim *dims = vram_onnx_ranked(a) ? vram_onnx_copy(op, a) : NULL;
    if (!dims)
        return vram_onnx_like(op);
    for (uint32_t k = 1; k < op->n_in; k++) {
        const struct vram_info *b = op->in[k];
        if (!vram_onnx_ranked(b))
            continue;
        if (a->rank != b->rank)
            return vram_op_fail(op, "operands of ranks %u and %u", a->rank, b->rank);
        for (uint32_t i = 0; i < a->rank; i++)
            VRAM_TRY(vram_op_same(op, dims[i], b->dims[i], "operands", &dims[i]));
    }
    return vram_op_out_dims(op, 0, a->dtype, dims, a->rank);
}

static int where(struct vram_op *op)
{
    uint8_t dtype = vram_onnx_in_dtype(op, 1);
    return vram_onnx_broadcast(op, dtype ? dtype : vram_onnx_in_dtype(op, 2), op->in, 3);
}

static int value_where(struct vram_op *op)
{
    struct vram_onnx_grid c, a, b, y;
    struct vram_element *e;
    int64_t at[VRAM_ONNX_VALUE_RANK];
    bool left = vram_onnx_value(op, 1, &a), right = vram_onnx_value(op, 2, &b);
    if (!vram_onnx_value(op, 0, &c) || (!left && !right) || !vram_onnx_grid(op, &op->out[0], &y) ||
        !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < y.n; i++) {
        vram_onnx_at(&y, i, at);
        struct vram_element p = vram_element_unknown, q = p;
        if (left)
            p = op->in[1]->value[vram_onnx_broadcast_index(&a, y.rank, at)];
        if (right)
            q = op->in[2]->value[vram_onnx_broadcast_index(&b, y.rank, at)];
        enum vram_truth t =
            vram_element_is_true(op, op->in[0]->value[vram_onnx_broadcast_index(&c, y.rank, at)]);
        e[i] = t == VRAM_TRUE                             ? p
               : t == VRAM_FALSE                          ? q
               : vram_element_same(op, p, q) == VRAM_TRUE ? p
                                                          : vram_element_unknown;
    }
    return 0;
}

/* ---- Clip ---- */

static int clip(struct vram_op *op)
{
    for (uint32_t i = 1; i < 3; i++)
        VRAM_TRY(vram_onnx_rank(op, i, 0, 1));
    return vram_onnx_like(op);
}

static int clip_values(struct vram_op *op, const struct vram_element *low,
                       const struct vram_element *high)
{
    struct vram_onnx_grid x;
    struct vram_element *e;
    if (!vram_onnx_value(op, 0, &x) || !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < x.n; i++) {
        e[i] = op->in[0]->value[i];
        if (low)
            e[i] = vram_element_max(op, e[i], *low, op->out[0].dtype);
        if (high)
            e[i] = vram_element_min(op, e[i], *high, op->out[0].dtype);
    }
    return vram_op_check(op);
}

static int value_clip(struct vram_op *op)
{
    struct vram_onnx_grid g;
    const struct vram_element *bound[2] = {NULL, NULL};
    for (uint32_t i = 1; i < 3; i++) {
        if (!vram_onnx_in(op, i))
            continue;
        if (!vram_onnx_value(op, i, &g) || g.n != 1)
            return 0;
        bound[i - 1] = op->in[i]->value;
    }
    return clip_values(op, bound[0], bound[1]);
}

static int value_clip_attributes(struct vram_op *op)
{
    double low, high;
    VRAM_TRY(vram_op_float(op, "min", -HUGE_VAL, &low));
    VRAM_TRY(vram_op_float(op, "max", HUGE_VAL, &high));
    struct vram_element least = vram_element_real(low), most = vram_element_real(high);
    return clip_values(op, vram_op_has(op, "min") ? &least : NULL,
                       vram_op_has(op, "max") ? &most : NULL);
}

/* ---- along one axis ---- */

static int cumulative(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t n;
    uint32_t axis;
    VRAM_TRY(vram_onnx_rank(op, 1, 0, 1));
    if (vram_onnx_ranked(x) && x->rank && vram_op_value_int(op, op->in[1], &n))
        VRAM_TRY(vram_op_axis(op, "axis", n, x->rank, &axis));
    return vram_onnx_like(op);
}

static int value_cumulative(struct vram_op *op, vram_element_fn2 *f, int64_t neutral)
{
    struct vram_onnx_grid g;
    struct vram_element *e;
    int64_t n, exclusive, reverse;
    uint32_t axis;
    VRAM_TRY(vram_op_int(op, "exclusive", 0, &exclusive));
    VRAM_TRY(vram_op_int(op, "reverse", 0, &reverse));
    if (!vram_onnx_value(op, 0, &g) || !g.rank || !vram_op_value_int(op, op->in[1], &n))
        return 0;
    VRAM_TRY(vram_op_axis(op, "axis", n, g.rank, &axis));
    if (!(e = vram_op_elements(op, 0)))
        return 0;
    int64_t at[VRAM_ONNX_VALUE_RANK], step = reverse ? -g.stride[axis] : g.stride[axis];
    for (int64_t k = 0; k < g.n; k++) {
        int64_t i = reverse ? g.n - 1 - k : k;
        vram_onnx_at(&g, i, at);
        bool first = at[axis] == (reverse ? g.dim[axis] - 1 : 0);
        const struct vram_element *x = op->in[0]->value;
        struct vram_element before =
            first ? vram_element_dim(vram_onnx_num(op, neutral)) : e[i - step];
        if (exclusive)
            e[i] = first ? before : f(op, before, x[i - step], op->out[0].dtype);
        else
            e[i] = f(op, before, x[i], op->out[0].dtype);
    }
    return vram_op_check(op);
}

static int value_cumsum(struct vram_op *op) { return value_cumulative(op, vram_element_add, 0); }
static int value_cumprod(struct vram_op *op) { return value_cumulative(op, vram_element_mul, 1); }

#define UNARY(name, since, value)                                                                  \
    {                                                                                              \
        name, since, 1, 1, 1, 1, vram_onnx_like, value, NULL                                       \
    }
#define OLD "operands laid over by 'broadcast' and 'axis'"
#define BINARY(name, since, shape, value)                                                          \
    {                                                                                              \
        name, since, 2, 2, 1, 1, shape, value, NULL                                                \
    }
static const struct vram_op_row rows[] = {
    UNARY("Abs", 1, value_abs),
    UNARY("Acos", 7, NULL),
    UNARY("Acosh", 9, NULL),
    UNARY("Asin", 7, NULL),
    UNARY("Asinh", 9, NULL),
    UNARY("Atan", 7, NULL),
    UNARY("Atanh", 9, NULL),
    UNARY("BitwiseNot", 18, NULL),
    UNARY("Ceil", 1, value_ceil),
    UNARY("Celu", 12, NULL),
    UNARY("Cos", 7, NULL),
    UNARY("Cosh", 9, NULL),
    UNARY("Elu", 1, NULL),
    UNARY("Erf", 9, NULL),
    UNARY("Exp", 1, value_exp),
    UNARY("Floor", 1, value_floor),
    UNARY("Gelu", 20, NULL),
    UNARY("HardSigmoid", 1, NULL),
    UNARY("HardSwish", 14, NULL),
    UNARY("LeakyRelu", 1, NULL),
    UNARY("Log", 1, value_log),
    UNARY("Mish", 18, NULL),
    UNARY("Neg", 1, value_neg),
    UNARY("Not", 1, value_not),
    UNARY("Reciprocal", 1, value_reciprocal),
    UNARY("Relu", 1, value_relu),
    UNARY("Round", 11, value_round),
    UNARY("Selu", 1, NULL),
    UNARY("Shrink", 9, NULL),
    UNARY("Sigmoid", 1, NULL),
    UNARY("Sign", 9, value_sign),
    UNARY("Sin", 7, NULL),
    UNARY("Sinh", 9, NULL),
    UNARY("Softplus", 1, NULL),
    UNARY("Softsign", 1, NULL),
    UNARY("Sqrt", 1, value_sqrt),
    UNARY("Swish", 24, NULL),
    UNARY("Tan", 7, NULL),
    UNARY("Tanh", 1, NULL),
    UNARY("ThresholdedRelu", 10, NULL),
    {"BitCast", 26, 1, 1, 1, 1, bitcast, NULL, NULL},
    {"IsInf", 10, 1, 1, 1, 1, vram_onnx_like_bool, NULL, NULL},
    {"IsNaN", 9, 1, 1, 1, 1, vram_onnx_like_bool, NULL, NULL},
    {"Add", 1, 2, 2, 1, 1, legacy_same, value_add, OLD},
    BINARY("Add", 7, binary, value_add),
    {"Sub", 1, 2, 2, 1, 1, legacy_same, value_sub, OLD},
    BINARY("Sub", 7, binary, value_sub),
    {"Mul", 1, 2, 2, 1, 1, legacy_same, value_mul, OLD},
    BINARY("Mul", 7, binary, value_mul),
    {"Div", 1, 2, 2, 1, 1, legacy_same, value_div, OLD},
    BINARY("Div", 7, binary, value_div),
    {"Pow", 1, 2, 2, 1, 1, legacy_same, value_pow, OLD},
    BINARY("Pow", 7, binary, value_pow),
    BINARY("Mod", 10, binary, value_mod),
    {"And", 1, 2, 2, 1, 1, legacy_bool, value_and, OLD},
    BINARY("And", 7, compare, value_and),
    {"Or", 1, 2, 2, 1, 1, legacy_bool, value_or, OLD},
    BINARY("Or", 7, compare, value_or),
    {"Xor", 1, 2, 2, 1, 1, legacy_bool, value_xor, OLD},
    BINARY("Xor", 7, compare, value_xor),
    {"Equal", 1, 2, 2, 1, 1, legacy_bool, value_equal, OLD},
    BINARY("Equal", 7, compare, value_equal),
    {"Less", 1, 2, 2, 1, 1, legacy_bool, value_less, OLD},
    BINARY("Less", 7, compare, value_less),
    {"Greater", 1, 2, 2, 1, 1, legacy_bool, value_greater, OLD},
    BINARY("Greater", 7, compare, value_greater),
    BINARY("LessOrEqual", 12, compare, value_less_equal),
    BINARY("GreaterOrEqual", 12, compare, value_greater_equal),
    BINARY("BitShift", 11, bitshift, NULL),
    BINARY("BitwiseAnd", 18, binary, NULL),
    BINARY("BitwiseOr", 18, binary, NULL),
    BINARY("BitwiseXor", 18, binary, NULL),
    BINARY("PRelu", 1, prelu, NULL),
    BINARY("SwiGLU", 28, swiglu, NULL),
    {"Max", 1, 1, VRAM_ONNX_ANY, 1, 1, same_shapes, value_max, NULL},
    {"Max", 8, 1, VRAM_ONNX_ANY, 1, 1, vram_onnx_broadcast_all, value_max, NULL},
    {"Min", 1, 1, VRAM_ONNX_ANY, 1, 1, same_shapes, value_min, NULL},
    {"Min", 8, 1, VRAM_ONNX_ANY, 1, 1, vram_onnx_broadcast_all, value_min, NULL},
    {"Mean", 1, 1, VRAM_ONNX_ANY, 1, 1, same_shapes, value_mean, NULL},
    {"Mean", 8, 1, VRAM_ONNX_ANY, 1, 1, vram_onnx_broadcast_all, value_mean, NULL},
    {"Sum", 1, 1, VRAM_ONNX_ANY, 1, 1, same_shapes, value_sum, NULL},
    {"Sum", 8, 1, VRAM_ONNX_ANY, 1, 1, vram_onnx_broadcast_all, value_sum, NULL},
    {"Where", 9, 3, 3, 1, 1, where, value_where, NULL},
    {"Clip", 1, 1, 1, 1, 1, vram_onnx_like, value_clip_attributes, "bounds are attributes"},
    {"Clip", 11, 1, 3, 1, 1, clip, value_clip, NULL},
    {"CumSum", 11, 2, 2, 1, 1, cumulative, value_cumsum, NULL},
    {"CumProd", 26, 2, 2, 1, 1, cumulative, value_cumprod, NULL},
};
VRAM_ONNX_FAMILY(elementwise, "", "elementwise", rows);
