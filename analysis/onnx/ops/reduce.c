/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions: axes are an attribute, and from version 18 (ReduceSum: 13) an input.
 */
#include <math.h>
#include <string.h>

#include "common.h"

struct reduction {
    const struct vram_info *x;
    uint8_t dtype;
    bool keep;
    bool known;      /* the axes are */
    uint32_t n_axes; /* how many, where only that is known; UINT32_MAX: not even that */
    bool *axes;      /* by axis of x */
};

static int shape(struct vram_op *op, const struct reduction *r)
{
    uint32_t rank = 0;
    const struct vram_info *x = r->x;
    if (!vram_onnx_ranked(x) || (!r->known && !r->keep && r->n_axes > x->rank))
        return vram_op_out(op, 0, r->dtype);
    if (!r->known)
        return vram_onnx_out_rank(op, 0, r->dtype, r->keep ? x->rank : x->rank - r->n_axes);
    vram_dim *dims = vram_op_dims(op, x->rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (!r->axes[i])
            dims[rank++] = x->dims[i];
        else if (r->keep)
            dims[rank++] = vram_onnx_num(op, 1);
    }
    return vram_op_out_dims(op, 0, r->dtype, dims, rank);
}

/* Axes from a list; none given: all of them, or none when the node says so. */
static int set_axes(struct vram_op *op, struct reduction *r, const int64_t *axes, uint32_t n,
                    bool none_means_none)
{
    if (!vram_onnx_ranked(r->x))
        return 0;
    if (!(r->axes = vram_onnx_flags(op, r->x->rank)))
        return op->cx->error->code;
    r->known = true;
    if (n == 0 && !none_means_none)
        memset(r->axes, 1, r->x->rank);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t axis;
        VRAM_TRY(vram_op_axis(op, "axes", axes[i], r->x->rank, &axis));
        r->axes[axis] = true;
    }
    return 0;
}

static int keepdims(struct vram_op *op, struct reduction *r)
{
    int64_t keep;
    VRAM_TRY(vram_op_int(op, "keepdims", 1, &keep));
    r->keep = keep != 0;
    return 0;
}

static int from_attribute(struct vram_op *op, struct reduction *r)
{
    const int64_t *axes;
    uint32_t n;
    VRAM_TRY(keepdims(op, r));
    VRAM_TRY(vram_op_ints(op, "axes", &axes, &n));
    return set_axes(op, r, axes, n, false);
}

static int from_input(struct vram_op *op, struct reduction *r)
{
    const struct vram_info *in = vram_onnx_in(op, 1);
    const int64_t *axes = NULL;
    uint32_t n = 0;
    int64_t noop;
    VRAM_TRY(keepdims(op, r));
    VRAM_TRY(vram_op_int(op, "noop_with_empty_axes", 0, &noop));
    r->n_axes = UINT32_MAX;
    if (in && !vram_onnx_ints(op, in, &axes, &n)) {
        if (vram_onnx_length(op, in, &n) && n == 1) /* of more, two may be the same */
            r->n_axes = n;
        return 0;
    }
    return set_axes(op, r, axes, n, noop != 0);
}

int vram_onnx_reduce_attr(struct vram_op *op, const struct vram_info *x, uint8_t dtype)
{
    struct reduction r = {.x = x, .dtype = dtype};
    VRAM_TRY(from_attribute(op, &r));
    return shape(op, &r);
}

static int reduce_attribute(struct vram_op *op)
{
    return vram_onnx_reduce_attr(op, op->in[0], op->in[0]->dtype);
}

static int reduce_input(struct vram_op *op)
{
    struct reduction r = {.x = op->in[0], .dtype = op->in[0]->dtype};
    VRAM_TRY(from_input(op, &r));
    return shape(op, &r);
}

static bool axes_are_input(const struct vram_op *op)
{
    return op->n_in > 1 || (!vram_op_has(op, "axes") && vram_op_has(op, "noop_with_empty_axes"));
}

/* Index in the output of element `at` of the operand. */
static int64_t reduced_index(const struct reduction *r, const struct vram_onnx_grid *x,
                             const int64_t *at)
{
    int64_t index = 0;
    for (uint32_t i = 0; i < x->rank; i++)
        if (!r->axes[i])
            index = index * x->dim[i] + at[i];
    return index;
}

static int fold(struct vram_op *op, vram_element_fn2 *f, bool mean)
{
    struct reduction r = {.x = op->in[0], .dtype = op->out[0].dtype};
    struct vram_onnx_grid x, y;
    int64_t at[VRAM_ONNX_VALUE_RANK], count = 1;
    struct vram_element *e;
    if (!vram_onnx_value(op, 0, &x) || x.n == 0)
        return 0;
    VRAM_TRY(axes_are_input(op) ? from_input(op, &r) : from_attribute(op, &r));
    if (!r.known || !vram_onnx_grid(op, &op->out[0], &y) || !(e = vram_op_elements(op, 0)))
        return 0;
    bool *seen = vram_onnx_flags(op, (uint32_t)y.n);
    if (!seen)
        return op->cx->error->code;
    for (int64_t i = 0; i < x.n; i++) {
        vram_onnx_at(&x, i, at);
        int64_t o = reduced_index(&r, &x, at);
        e[o] = seen[o] ? f(op, e[o], op->in[0]->value[i], r.dtype) : op->in[0]->value[i];
        seen[o] = true;
    }
    for (uint32_t i = 0; mean && i < x.rank; i++)
        count *= r.axes[i] ? x.dim[i] : 1;
    for (int64_t o = 0; mean && o < y.n; o++)
        e[o] = vram_element_div(op, e[o], vram_element_dim(vram_onnx_num(op, count)), r.dtype);
    return vram_op_check(op);
}

static int value_sum(struct vram_op *op) { return fold(op, vram_element_add, false); }
static int value_mean(struct vram_op *op) { return fold(op, vram_element_add, true); }
static int value_prod(struct vram_op *op) { return fold(op, vram_element_mul, false); }
static int value_max(struct vram_op *op) { return fold(op, vram_element_max, false); }
static int value_min(struct vram_op *op) { return fold(op, vram_element_min, false); }

/* ---- the place of an extreme ---- */

static int arg(struct vram_op *op)
{
    struct reduction r = {.x = op->in[0], .dtype = VRAM_DT_I64};
    int64_t axis;
    VRAM_TRY(keepdims(op, &r));
    VRAM_TRY(vram_op_int(op, "axis", 0, &axis));
    VRAM_TRY(set_axes(op, &r, &axis, 1, false));
    return shape(op, &r);
}

static int value_arg(struct vram_op *op, bool greatest)
{
    struct reduction r = {.x = op->in[0]};
    struct vram_onnx_grid x, y;
    int64_t axis, last, at[VRAM_ONNX_VALUE_RANK];
    struct vram_element *e;
    double value, best[VRAM_VALUE_ELEMENTS];
    VRAM_TRY(vram_op_int(op, "axis", 0, &axis));
    VRAM_TRY(vram_op_int(op, "select_last_index", 0, &last));
    if (!vram_onnx_value(op, 0, &x) || x.n == 0)
        return 0;
    VRAM_TRY(set_axes(op, &r, &axis, 1, false));
    for (int64_t i = 0; i < x.n; i++)
        if (!vram_element_number(op, op->in[0]->value[i], &value))
            return 0;
    if (!vram_onnx_grid(op, &op->out[0], &y) || !(e = vram_op_elements(op, 0)))
        return 0;
    if (axis < 0)
        axis += x.rank;
    for (int64_t i = 0; i < x.n; i++) {
        vram_onnx_at(&x, i, at);
        int64_t o = reduced_index(&r, &x, at);
        vram_element_number(op, op->in[0]->value[i], &value);
        if (at[axis] == 0 || (greatest ? value > best[o] : value < best[o]) ||
            (last && value == best[o])) {
            best[o] = value;
            e[o] = vram_element_dim(vram_onnx_num(op, at[axis]));
        }
    }
    return 0;
}

static int value_argmax(struct vram_op *op) { return value_arg(op, true); }
static int value_argmin(struct vram_op *op) { return value_arg(op, false); }

/* The determinant of the last two axes. */
static int det(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    vram_dim same;
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    VRAM_TRY(
        vram_op_same(op, x->dims[x->rank - 2], x->dims[x->rank - 1], "sides of the matrix", &same));
    return vram_op_out_dims(op, 0, x->dtype, x->dims, x->rank - 2);
}

#define REDUCE(name, input, value)                                                                 \
    {name, 1, 1, 1, 1, 1, reduce_attribute, value, NULL},                                          \
    {                                                                                              \
        name, input, 1, 2, 1, 1, reduce_input, value, "axes are an input"                          \
    }
static const struct vram_op_row rows[] = {
    REDUCE("ReduceL1", 18, NULL),
    REDUCE("ReduceL2", 18, NULL),
    REDUCE("ReduceLogSum", 18, NULL),
    REDUCE("ReduceLogSumExp", 18, NULL),
    REDUCE("ReduceMax", 18, value_max),
    REDUCE("ReduceMean", 18, value_mean),
    REDUCE("ReduceMin", 18, value_min),
    REDUCE("ReduceProd", 18, value_prod),
    REDUCE("ReduceSum", 13, value_sum),
    REDUCE("ReduceSumSquare", 18, NULL),
    {"ArgMax", 1, 1, 1, 1, 1, arg, value_argmax, NULL},
    {"ArgMin", 1, 1, 1, 1, 1, arg, value_argmin, NULL},
    {"Det", 11, 1, 1, 1, 1, det, NULL, NULL},
};
VRAM_ONNX_FAMILY(reduce, "", "reduce", rows);
