/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise ops.  What an op keeps follows from its derivative (tools/autograd/derivatives.yaml of
 * torch 2.9); verified rows and bytes: docs/engine.md.
 */
#include <string.h>

#include "ops.h"

struct vram_handle *vram_elt(struct vram_machine *m, enum vram_dtype dtype,
                             struct vram_handle *const *xs, int n)
{
    int64_t shape[VRAM_MAX_RANK], stride[VRAM_MAX_RANK];
    int rank = vram_broadcast(m, xs, n, shape);
    vram_elementwise_strides(shape, rank, xs, n, stride);
    return vram_new(m, shape, rank, dtype, stride);
}

struct vram_handle *vram_elt1(struct vram_machine *m, enum vram_dtype dtype, struct vram_handle *x)
{
    return vram_elt(m, dtype, &x, 1);
}

struct vram_handle *vram_elt2(struct vram_machine *m, enum vram_dtype dtype, struct vram_handle *x,
                              struct vram_handle *y)
{
    struct vram_handle *xs[2] = {x, y};
    return vram_elt(m, dtype, xs, 2);
}

static int category(enum vram_dtype d)
{
    switch (vram_dtypes[d].kind) {
    case VRAM_KIND_COMPLEX:
        return 3;
    case VRAM_KIND_FLOAT:
        return 2;
    case VRAM_KIND_INT:
        return 1;
    default:
        return 0;
    }
}

/* torch.result_type: the higher category wins; within one, tensors with dimensions win over 0-dim
 * ones; then the wider type, fp32 for two different 16-bit floats. */
enum vram_dtype vram_promote(const struct vram_handle *a, const struct vram_handle *b)
{
    enum vram_dtype x = (enum vram_dtype)a->dtype, y = (enum vram_dtype)b->dtype;
    if (x == y)
        return x;
    if (category(x) != category(y))
        return category(x) > category(y) ? x : y;
    if ((a->rank == 0) != (b->rank == 0))
        return a->rank == 0 ? y : x;
    if (vram_dtypes[x].bits != vram_dtypes[y].bits)
        return vram_dtypes[x].bits > vram_dtypes[y].bits ? x : y;
    return category(x) == 2 ? VRAM_DT_F32 : x;
}

/* a tensor and a Python number: the number's category decides only when it is higher */
static enum vram_dtype with_number(const struct vram_handle *x, const struct vram_value *number)
{
    enum vram_dtype d = (enum vram_dtype)x->dtype;
    if (number->kind == VRAM_V_FLOAT && category(d) < 2)
        return VRAM_DT_F32;
    return number->kind == VRAM_V_INT && category(d) < 1 ? VRAM_DT_I64 : d;
}

/* ---- add, sub ----------------------------------------------------------------------------- */

static void add_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(m);
    VRAM_UNUSED(s);
    for (int i = 0; i < n->nedges; i++)
        out[i] = vram_needs(n, i) ? vram_hold(g[0]) : NULL;
}

struct vram_handle *vram_op_add(struct vram_machine *m, struct vram_handle *a, struct vram_handle *b)
{
    struct vram_handle *xs[2] = {a, b};
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, xs, 2, add_backward);
    return vram_end_one(m, n, vram_elt(m, vram_promote(a, b), xs, 2), false);
}

static void sub_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[1] = vram_needs(n, 1) ? vram_elt1(m, (enum vram_dtype)g[0]->dtype, g[0]) : NULL;
    out[0] = vram_needs(n, 0) ? vram_hold(g[0]) : NULL;
}

/* one tensor, one number (either side) */
static struct vram_handle *plain_number(struct vram_machine *m, struct vram_value *a,
                                        vram_backward_fn backward)
{
    int t = a[0].kind == VRAM_V_TENSOR ? 0 : 1;
    struct vram_handle *x = a[t].u.tensor;
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, backward);
    return vram_end_one(m, n, vram_elt1(m, with_number(x, &a[1 - t]), x), false);
}

static bool both_tensors(struct vram_machine *m, const struct vram_op_row *row, struct vram_value *a)
{
    for (int i = 0; i < 2; i++)
        if (a[i].kind != VRAM_V_TENSOR && a[i].kind != VRAM_V_INT && a[i].kind != VRAM_V_FLOAT)
            vram_arg(m, row, a, i); /* throws */
    if (a[0].kind != VRAM_V_TENSOR && a[1].kind != VRAM_V_TENSOR)
        vram_arg(m, row, a, 0);
    return a[0].kind == VRAM_V_TENSOR && a[1].kind == VRAM_V_TENSOR;
}

static bool add(VRAM_OP)
{
    if (!both_tensors(m, row, a))
        return vram_result(plain_number(m, a, add_backward), out);
    return vram_result(vram_op_add(m, a[0].u.tensor, a[1].u.tensor), out);
}

static void negate_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    out[0] = vram_elt1(m, (enum vram_dtype)g[0]->dtype, g[0]);
}

static bool sub(VRAM_OP)
{
    if (!both_tensors(m, row, a))
        return vram_result(plain_number(m, a, a[0].kind == VRAM_V_TENSOR ? add_backward
                                                                         : negate_backward), out);
    struct vram_handle *xs[2] = {a[0].u.tensor, a[1].u.tensor};
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, xs, 2, sub_backward);
    return vram_result(vram_end_one(m, n, vram_elt(m, vram_promote(xs[0], xs[1]), xs, 2), false),
                       out);
}

static bool neg(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, negate_backward);
    return vram_result(vram_end_one(m, n, vram_elt1(m, (enum vram_dtype)x->dtype, x), false), out);
}

/* In place: the result is the same storage, a new place in the graph. */
/* x's storage is the result */
static bool in_place(struct vram_machine *m, struct vram_tape_node *n, struct vram_handle *x,
                     struct vram_value *out)
{
    return vram_result(
        vram_end_one(m, n, vram_alias(m, x, x->shape, x->stride, x->rank, x->base != NULL), false),
        out);
}

static bool add_in_place(VRAM_OP)
{
    struct vram_handle *xs[2] = {vram_arg(m, row, a, 0), vram_arg(m, row, a, 1)};
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, xs, 2, add_backward);
    return in_place(m, n, xs[0], out);
}

/* ---- mul, div ----------------------------------------------------------------------------- */

/* saved tensors and gradients in alphabetical order of the arguments' names: other, self */
static void mul_backward(VRAM_FORMULA)
{
    for (int i = 1; i >= 0; i--) {
        if (!vram_needs(n, i)) {
            out[i] = NULL;
            continue;
        }
        enum vram_dtype d = (enum vram_dtype)s[i]->dtype;
        struct vram_handle *conjugate = category(d) == 3 ? vram_new_like(m, s[i], d) : NULL;
        out[i] = vram_elt2(m, vram_promote(g[0], s[i]), g[0], s[i]);
        vram_drop(m, conjugate);
    }
}

static void scale_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    out[0] = vram_elt1(m, (enum vram_dtype)g[0]->dtype, g[0]);
}

struct vram_handle *vram_op_mul_number(struct vram_machine *m, struct vram_handle *x)
{
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, scale_backward);
    return vram_end_one(m, n, vram_elt1(m, (enum vram_dtype)x->dtype, x), false);
}

static bool mul(VRAM_OP)
{
    if (!both_tensors(m, row, a))
        return vram_result(plain_number(m, a, scale_backward), out);
    struct vram_handle *x = a[0].u.tensor, *y = a[1].u.tensor, *xs[2] = {x, y};
    struct vram_handle *save[2] = {x->requires_grad ? y : NULL, y->requires_grad ? x : NULL};
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, 2, save, 2, 0, mul_backward}))
        return true;
    return vram_result(vram_end_one(m, n, vram_elt(m, vram_promote(x, y), xs, 2), false), out);
}

/* −g · (a / b) / b, made step by step; the steps live to the end of the formula */
static struct vram_handle *divisor_gradient(struct vram_machine *m, struct vram_handle *g,
                                            struct vram_handle *x, struct vram_handle *y)
{
    struct vram_handle *p = vram_elt2(m, vram_promote(x, y), x, y);
    struct vram_handle *q = vram_elt2(m, (enum vram_dtype)p->dtype, p, y);
    struct vram_handle *minus = vram_elt1(m, (enum vram_dtype)g->dtype, g);
    struct vram_handle *r = vram_elt2(m, vram_promote(minus, q), minus, q);
    vram_drop(m, p);
    vram_drop(m, q);
    vram_drop(m, minus);
    return r;
}

static void div_backward(VRAM_FORMULA)
{
    out[1] = vram_needs(n, 1) ? divisor_gradient(m, g[0], s[1], s[0]) : NULL;
    out[0] = vram_needs(n, 0) ? vram_elt2(m, vram_promote(g[0], s[0]), g[0], s[0]) : NULL;
}

static bool divide(VRAM_OP)
{
    if (!both_tensors(m, row, a)) {
        struct vram_value real = {.kind = VRAM_V_FLOAT}; /* true division: of integers, too */
        if (a[0].kind != VRAM_V_TENSOR)
            vram_throw(m, VRAM_E_FORMAT, "a number divided by a tensor");
        a[1] = real;
        return vram_result(plain_number(m, a, scale_backward), out);
    }
    struct vram_handle *x = a[0].u.tensor, *y = a[1].u.tensor, *xs[2] = {x, y};
    struct vram_handle *save[2] = {y, y->requires_grad ? x : NULL};
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, 2, save, 2, 0, div_backward}))
        return true;
    enum vram_dtype d = vram_promote(x, y);
    return vram_result(
        vram_end_one(m, n, vram_elt(m, category(d) < 2 ? VRAM_DT_F32 : d, xs, 2), false), out);
}

/* what y's gradient needs of the old x is cloned first */
static bool divide_in_place(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *old = NULL;
    struct vram_tape_node *n;
    if (!both_tensors(m, row, a)) {
        vram_begin_plain(m, &n, &x, 1, scale_backward);
        return in_place(m, n, x, out);
    }
    struct vram_handle *y = a[1].u.tensor, *xs[2] = {x, y};
    if (y->requires_grad)
        old = vram_new_like(m, x, (enum vram_dtype)x->dtype);
    struct vram_handle *save[2] = {y, old};
    bool stopped = vram_begin(m, &n, &(struct vram_begin){xs, 2, save, 2, 0, div_backward});
    vram_drop(m, old);
    return stopped || in_place(m, n, x, out);
}

/* ---- one input ---------------------------------------------------------------------------- */

/* x^(p−1), times p, times the gradient: the first two go at the end of the formula; zeros for p = 0 */
static void pow_backward(VRAM_FORMULA)
{
    enum vram_dtype d = (enum vram_dtype)s[0]->dtype;
    if (n->arg[0]) {
        out[0] = vram_new_like(m, s[0], d);
        return;
    }
    struct vram_handle *p = vram_elt1(m, d, s[0]), *q = vram_elt1(m, d, p);
    out[0] = vram_elt2(m, (enum vram_dtype)g[0]->dtype, g[0], q);
    vram_drop(m, p);
    vram_drop(m, q);
}

static void from_input_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    out[0] = vram_elt2(m, (enum vram_dtype)g[0]->dtype, g[0], s[0]);
}

/* keeps its input; fp32 under autocast when the row says so */
static bool keeps_input(struct vram_machine *m, const struct vram_op_row *row, struct vram_value *a,
                        struct vram_value *out, vram_backward_fn backward)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    x = row->autocast[0] ? vram_autocast_fp32(m, x) : vram_hold(x);
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, 1, 0, backward})) {
        vram_drop(m, x);
        return true;
    }
    struct vram_handle *o = vram_elt1(m, (enum vram_dtype)x->dtype, x);
    bool stopped = vram_result(vram_end_one(m, n, o, false), out);
    vram_drop(m, x);
    return stopped;
}

/* keeps its result */
static bool keeps_result(struct vram_machine *m, const struct vram_op_row *row, struct vram_value *a,
                         struct vram_value *out, vram_backward_fn backward)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    x = row->autocast[0] ? vram_autocast_fp32(m, x) : vram_hold(x);
    vram_begin(m, &n, &(struct vram_begin){&x, 1, NULL, 0, 1, backward});
    struct vram_handle *o = vram_elt1(m, (enum vram_dtype)x->dtype, x);
    bool stopped = vram_result(vram_end_one(m, n, o, true), out);
    vram_drop(m, x);
    return stopped;
}

static bool power(VRAM_OP)
{
    if (keeps_input(m, row, a, out, pow_backward))
        return true;
    if (out->u.tensor->node)
        out->u.tensor->node->arg[0] = vram_arg_real(m, row, a, 1, 1) == 0;
    return false;
}

static bool activation(VRAM_OP) { return keeps_input(m, row, a, out, from_input_backward); }
static bool squashing(VRAM_OP) { return keeps_result(m, row, a, out, from_input_backward); }

/* the layout of what is kept comes first (threshold_backward) */
static void relu_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    out[0] = vram_elt2(m, (enum vram_dtype)g[0]->dtype, s[0], g[0]);
}

static bool relu(VRAM_OP) { return keeps_result(m, row, a, out, relu_backward); }

/* out^3, times −½, times the gradient */
static void rsqrt_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    struct vram_handle *p = vram_elt1(m, (enum vram_dtype)s[0]->dtype, s[0]);
    struct vram_handle *q = vram_elt1(m, (enum vram_dtype)g[0]->dtype, g[0]);
    out[0] = vram_elt2(m, (enum vram_dtype)g[0]->dtype, q, p);
    vram_drop(m, q);
    vram_drop(m, p);
}

static bool rsqrt(VRAM_OP) { return keeps_result(m, row, a, out, rsqrt_backward); }

/* ---- dropout, casts, comparisons ---------------------------------------------------------- */

/* the kernel's result is contiguous, whatever the gradient's layout */
static void dropout_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    out[0] = vram_new(m, g[0]->shape, g[0]->rank, (enum vram_dtype)g[0]->dtype, NULL);
}

struct vram_handle *vram_op_dropout(struct vram_machine *m, struct vram_handle *x, double p)
{
    if (p == 0 || !m->training)
        return vram_hold(x);
    if (p == 1) { /* times a zero, without the fused kernel */
        struct vram_value out = {0},
                          args[VRAM_MAX_ARGS] = {
                              vram_tensor_value(x),
                              vram_tensor_value(vram_new_scalar(m, (enum vram_dtype)x->dtype))};
        mul(m, NULL, args, &out);
        vram_value_drop(m, args[1]);
        return out.u.tensor;
    }
    struct vram_tape_node *n;
    vram_begin(m, &n, &(struct vram_begin){&x, 1, NULL, 0, 1, dropout_backward});
    struct vram_handle *o = vram_elt1(m, (enum vram_dtype)x->dtype, x);
    struct vram_handle *mask = vram_new(m, x->shape, x->rank, VRAM_DT_BOOL, o->stride);
    bool stopped = vram_end(m, n, &o, 1, &mask, n ? 1 : 0);
    vram_drop(m, mask);
    if (!stopped)
        return o;
    vram_drop(m, o);
    return NULL;
}

static bool dropout(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    return vram_result(vram_op_dropout(m, x, vram_arg_real(m, row, a, 1, 0)), out);
}

static bool to(VRAM_OP)
{
    return vram_result(vram_cast(m, vram_arg(m, row, a, 0), vram_arg_dtype(m, row, a, 1)), out);
}

static bool compare(VRAM_OP)
{
    struct vram_handle *xs[2];
    int n = 0;
    for (int i = 0; i < 2; i++)
        if (a[i].kind == VRAM_V_TENSOR)
            xs[n++] = a[i].u.tensor;
    if (n == 0)
        vram_arg(m, row, a, 0);
    return vram_result(vram_elt(m, VRAM_DT_BOOL, xs, n), out);
}

static const struct vram_op_row elementwise_rows[] = {
    {"add", "x y", "", "nothing", "the promoted sum; backward passes the gradient to both sides",
     "derivatives.yaml add.Tensor", add, ""},
    {"sub", "x y", "", "nothing", "the difference; backward negates for y", "derivatives.yaml sub",
     sub, ""},
    {"neg", "x", "", "nothing", "one output each way", "derivatives.yaml neg", neg, ""},
    {"add_", "x y", "", "nothing", "nothing: x's storage is the result", "derivatives.yaml add",
     add_in_place, ""},
    {"mul", "x y", "", "x if y needs grad, y if x does", "the product; backward one product a side",
     "derivatives.yaml mul.Tensor", mul, ""},
    {"div", "x y", "", "y, and x if y needs grad", "the quotient; backward g/y, for y four steps",
     "derivatives.yaml div.Tensor", divide, ""},
    {"div_", "x y", "", "y, and a clone of x if y needs grad",
     "nothing but the clone; backward as div", "derivatives.yaml div.Tensor, VariableType",
     divide_in_place, ""},
    {"pow", "x exponent", "fp32", "x", "the power; backward x^(p-1), its multiple, the product",
     "derivatives.yaml pow.Tensor_Scalar", power, ""},
    {"rsqrt", "x", "fp32", "its result", "one output; backward cube, half, product",
     "derivatives.yaml rsqrt", rsqrt, ""},
    {"exp", "x", "fp32", "its result", "one output each way", "derivatives.yaml exp", squashing,
     ""},
    {"sigmoid", "x", "", "its result", "one output each way", "derivatives.yaml sigmoid", squashing,
     ""},
    {"tanh", "x", "", "its result", "one output each way", "derivatives.yaml tanh", squashing, ""},
    {"relu", "x", "", "its result", "one output each way", "derivatives.yaml relu", relu, ""},
    {"silu", "x", "", "x", "one output each way", "derivatives.yaml silu", activation, ""},
    {"gelu", "x approximate?", "", "x", "one output each way", "derivatives.yaml gelu", activation,
     ""},
    {"logsigmoid", "x", "", "x", "one output each way", "derivatives.yaml log_sigmoid_forward",
     activation, ""},
    {"dropout", "x p", "", "a mask of one byte per element",
     "output and mask; nothing for p = 0 or in evaluation", "derivatives.yaml native_dropout",
     dropout, ""},
    {"to", "x dtype", "", "nothing", "a copy when the dtype differs; backward casts back",
     "derivatives.yaml _to_copy", to, ""},
    {"compare", "x y", "", "nothing", "one bool per element", "aten eq, ge ...", compare, ""},
};
const struct vram_op_family vram_ops_elementwise = {
    elementwise_rows, sizeof elementwise_rows / sizeof *elementwise_rows};
