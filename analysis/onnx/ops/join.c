/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that put tensors together and take them apart: Concat, Split, Pad.
 */
#include <string.h>

#include "common.h"

/* ---- Concat ---- */

int vram_onnx_concat(struct vram_op *op, uint32_t first, uint32_t step, int64_t axis, uint8_t dtype)
{
    const struct vram_info *model = NULL;
    bool all = true;
    uint32_t a;
    for (uint32_t i = first; i < op->n_in; i += step) {
        const struct vram_info *x = op->in[i];
        if (!vram_onnx_ranked(x)) {
            all = false;
        } else if (!model) {
            model = x;
        } else if (model->rank != x->rank) {
            return vram_op_fail(op, "operands of ranks %u and %u", model->rank, x->rank);
        }
        if (x && dtype == VRAM_DT_NONE)
            dtype = x->dtype;
    }
    if (!model)
        return vram_op_out(op, 0, dtype);
    VRAM_TRY(vram_op_axis(op, "axis", axis, model->rank, &a));
    vram_dim *dims = vram_onnx_copy(op, model), sum = vram_onnx_num(op, 0);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = first; i < op->n_in; i += step) {
        const struct vram_info *x = op->in[i];
        if (!vram_onnx_ranked(x))
            continue;
        sum = vram_dim_add(op->dims, sum, x->dims[a]);
        for (uint32_t k = 0; k < x->rank; k++)
            if (k != a)
                VRAM_TRY(vram_op_same(op, dims[k], x->dims[k], "sizes of the operands", &dims[k]));
    }
    dims[a] = all ? sum : VRAM_DIM_UNKNOWN;
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, dtype, dims, model->rank);
}

static int concat(struct vram_op *op)
{
    int64_t axis;
    VRAM_TRY(vram_op_need_int(op, "axis", &axis));
    return vram_onnx_concat(op, 0, 1, axis, VRAM_DT_NONE);
}

static int concat_1(struct vram_op *op)
{
    int64_t axis;
    VRAM_TRY(vram_op_int(op, "axis", 1, &axis));
    return vram_onnx_concat(op, 0, 1, axis, VRAM_DT_NONE);
}

/* Operands that are not followed leave their places unknown. */
static int value_concat(struct vram_op *op)
{
    struct vram_onnx_grid x, y;
    struct vram_element *e;
    int64_t axis, place = 0, at[VRAM_ONNX_VALUE_RANK];
    bool any = false;
    VRAM_TRY(vram_op_int(op, "axis", 1, &axis));
    for (uint32_t k = 0; k < op->n_in; k++)
        any = any || vram_onnx_value(op, k, &x);
    if (!any || !vram_onnx_grid(op, &op->out[0], &y) || !(e = vram_op_elements(op, 0)))
        return 0;
    if (axis < 0)
        axis += y.rank;
    for (uint32_t k = 0; k < op->n_in; k++) {
        if (!op->in[k] || !vram_onnx_grid(op, op->in[k], &x))
            return 0;
        for (int64_t i = 0; i < x.n; i++) {
            int64_t to = 0;
            vram_onnx_at(&x, i, at);
            at[axis] += place;
            for (uint32_t d = 0; d < y.rank; d++)
                to += at[d] * y.stride[d];
            e[to] = op->in[k]->value ? op->in[k]->value[i] : vram_element_unknown;
        }
        place += x.dim[axis];
    }
    return 0;
}

/* ---- Split ---- */

static int split_outputs(struct vram_op *op, uint32_t axis, const vram_dim *sizes)
{
    const struct vram_info *x = op->in[0];
    for (uint32_t i = 0; i < op->n_out; i++) {
        vram_dim *dims = vram_onnx_copy(op, x);
        if (!dims)
            return op->cx->error->code;
        dims[axis] = sizes ? sizes[i] : VRAM_DIM_UNKNOWN;
        VRAM_TRY(vram_op_out_dims(op, i, x->dtype, dims, x->rank));
    }
    return 0;
}

/* One size more or less than outputs, or sizes that do not add up, are errors. */
static int split_given(struct vram_op *op, uint32_t axis, const vram_dim *sizes, uint32_t n)
{
    const struct vram_info *x = op->in[0];
    vram_dim sum = vram_onnx_num(op, 0), same;
    if (n != op->n_out)
        return vram_op_fail(op, "%u sizes for %u outputs", n, op->n_out);
    for (uint32_t i = 0; i < n; i++)
        sum = vram_dim_add(op->dims, sum, sizes[i]);
    VRAM_TRY(
        vram_op_same(op, x->dims[axis], sum, "the split axis and the sum of the sizes", &same));
    return split_outputs(op, axis, sizes);
}

/* Equal parts; the last may be smaller when `uneven`. */
static int split_equal(struct vram_op *op, uint32_t axis, bool uneven)
{
    const struct vram_info *x = op->in[0];
    vram_dim n = vram_onnx_num(op, op->n_out), part;
    vram_dim *sizes = vram_op_dims(op, op->n_out);
    if (!sizes)
        return op->cx->error->code;
    if (uneven)
        part = vram_dim_ceildiv(op->dims, x->dims[axis], n);
    else
        VRAM_TRY(vram_onnx_divide(op, x->dims[axis], n, "the split axis", &part));
    for (uint32_t i = 0; i < op->n_out; i++)
        sizes[i] = part;
    if (uneven && op->n_out)
        sizes[op->n_out - 1] =
            vram_dim_sub(op->dims, x->dims[axis],
                         vram_dim_mul(op->dims, part, vram_onnx_num(op, (int64_t)op->n_out - 1)));
    VRAM_TRY(vram_op_check(op));
    return split_outputs(op, axis, sizes);
}

static int split_unranked(struct vram_op *op)
{
    for (uint32_t i = 0; i < op->n_out; i++)
        VRAM_TRY(vram_op_out(op, i, op->in[0]->dtype));
    return 0;
}

static int split_attribute(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const int64_t *split;
    uint32_t axis, n;
    VRAM_TRY(vram_op_ints(op, "split", &split, &n));
    if (!vram_onnx_ranked(x))
        return split_unranked(op);
    VRAM_TRY(vram_onnx_axis_attr(op, 0, x->rank, &axis));
    if (!split)
        return split_equal(op, axis, false);
    vram_dim *sizes = vram_op_dims(op, n);
    if (!sizes)
        return op->cx->error->code;
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = vram_onnx_num(op, split[i]);
    return split_given(op, axis, sizes, n);
}

static int split_input(struct vram_op *op, bool uneven)
{
    const struct vram_info *x = op->in[0], *split = vram_onnx_in(op, 1);
    const vram_dim *sizes;
    uint32_t axis, n;
    if (!vram_onnx_ranked(x))
        return split_unranked(op);
    VRAM_TRY(vram_onnx_axis_attr(op, 0, x->rank, &axis));
    if (!split)
        return split_equal(op, axis, uneven);
    if (vram_op_value_dims(op, split, &sizes, &n))
        return split_given(op, axis, sizes, n);
    return split_outputs(op, axis, NULL);
}

static int split_1(struct vram_op *op)
{
    return vram_onnx_in(op, 1) ? split_input(op, false) : split_attribute(op);
}

static int split_13(struct vram_op *op) { return split_input(op, false); }

static int split_18(struct vram_op *op)
{
    int64_t n;
    VRAM_TRY(vram_onnx_int_from(op, "num_outputs", op->n_out, 1, &n));
    if (vram_op_has(op, "num_outputs") && vram_onnx_in(op, 1))
        return vram_op_fail(op, "both 'split' and 'num_outputs' are given");
    if (n != (int64_t)op->n_out)
        return vram_op_fail(op, "attribute 'num_outputs' is %lld for %u outputs", (long long)n,
                            op->n_out);
    return split_input(op, vram_op_has(op, "num_outputs"));
}

static int value_split(struct vram_op *op)
{
    struct vram_onnx_grid x, y;
    int64_t place = 0, at[VRAM_ONNX_VALUE_RANK];
    uint32_t axis;
    if (!vram_onnx_value(op, 0, &x))
        return 0;
    VRAM_TRY(vram_onnx_axis_attr(op, 0, x.rank, &axis));
    for (uint32_t o = 0; o < op->n_out; o++) {
        struct vram_element *e;
        if (!vram_onnx_grid(op, &op->out[o], &y) || place + y.dim[axis] > x.dim[axis] ||
            !(e = vram_op_elements(op, o)))
            return 0;
        for (int64_t i = 0; i < y.n; i++) {
            int64_t from = place * x.stride[axis];
            vram_onnx_at(&y, i, at);
            for (uint32_t k = 0; k < x.rank; k++)
                from += at[k] * x.stride[k];
            e[i] = op->in[0]->value[from];
        }
        place += y.dim[axis];
    }
    return 0;
}

/* ---- Pad ---- */

/* pads: n begins, then n ends, of these axes (NULL: 0 … n − 1) */
int vram_onnx_pad(struct vram_op *op, const struct vram_info *x, const vram_dim *pads,
                  const uint32_t *axes, uint32_t n)
{
    vram_dim *dims = vram_onnx_copy(op, x);
    int64_t size;
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = axes ? axes[i] : i;
        dims[a] = vram_dim_add(op->dims, dims[a], vram_dim_add(op->dims, pads[i], pads[n + i]));
        if (vram_dim_is_int(op->dims, dims[a], &size) && size < 0)
            return vram_op_fail(op, "padding leaves %lld of axis %u", (long long)size, a);
    }
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int pad_attribute(struct vram_op *op, const char *name)
{
    const struct vram_info *x = op->in[0];
    const int64_t *given;
    uint32_t n;
    if (!vram_op_has(op, name))
        return vram_op_fail(op, "attribute '%s' is missing", name);
    VRAM_TRY(vram_op_ints(op, name, &given, &n));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (n % 2 || n / 2 != x->rank)
        return vram_op_fail(op, "%u pads for rank %u", n, x->rank);
    vram_dim *pads = vram_op_dims(op, n);
    if (!pads)
        return op->cx->error->code;
    for (uint32_t i = 0; i < n; i++)
        pads[i] = vram_onnx_num(op, given[i]);
    return vram_onnx_pad(op, x, pads, NULL, n / 2);
}

static int pad_1(struct vram_op *op) { return pad_attribute(op, "paddings"); }
static int pad_2(struct vram_op *op) { return pad_attribute(op, "pads"); }

/* Axes that the pads are of; *axes = NULL: all.  *known is false when they are not. */
static int pad_axes(struct vram_op *op, uint32_t rank, uint32_t **axes, uint32_t *n, bool *known)
{
    const int64_t *given;
    *axes = NULL;
    *n = rank;
    *known = true;
    if (!vram_onnx_in(op, 3))
        return 0;
    if (!vram_op_value_ints(op, op->in[3], &given, n)) {
        *known = false;
        return 0;
    }
    if (!(*axes = vram_arena_array(op->cx->arena, *n, sizeof **axes)))
        return vram_fail_memory(op->cx);
    for (uint32_t i = 0; i < *n; i++)
        VRAM_TRY(vram_op_axis(op, "axes", given[i], rank, &(*axes)[i]));
    return 0;
}

static int pad(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const vram_dim *pads;
    uint32_t n, *axes, n_axes;
    bool known;
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    VRAM_TRY(pad_axes(op, x->rank, &axes, &n_axes, &known));
    if (!known || !vram_op_value_dims(op, op->in[1], &pads, &n))
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank);
    if (n % 2 || n / 2 != n_axes)
        return vram_op_fail(op, "%u pads for %u axes", n, n_axes);
    return vram_onnx_pad(op, x, pads, axes, n_axes);
}

/* A constant around the data; other modes are not followed. */
static int value_pad(struct vram_op *op)
{
    struct vram_onnx_grid x, y, c;
    const char *mode;
    const int64_t *pads;
    struct vram_element *e, fill = vram_element_dim(vram_onnx_num(op, 0));
    uint32_t n, *axes, n_axes;
    int64_t at[VRAM_ONNX_VALUE_RANK], begin[VRAM_ONNX_VALUE_RANK] = {0};
    bool known;
    VRAM_TRY(vram_op_string(op, "mode", "constant", &mode));
    if (strcmp(mode, "constant") != 0 || !vram_onnx_value(op, 0, &x) ||
        !vram_op_value_ints(op, op->in[1], &pads, &n) || !vram_onnx_grid(op, &op->out[0], &y))
        return 0;
    VRAM_TRY(pad_axes(op, x.rank, &axes, &n_axes, &known));
    if (!known || n != 2 * n_axes)
        return 0;
    if (vram_onnx_in(op, 2))
        fill = vram_onnx_value(op, 2, &c) && c.n == 1 ? op->in[2]->value[0] : vram_element_unknown;
    for (uint32_t i = 0; i < n_axes; i++) {
        if (pads[i] > VRAM_VALUE_ELEMENTS || pads[i] < -VRAM_VALUE_ELEMENTS)
            return 0;
        begin[axes ? axes[i] : i] = pads[i];
    }
    if (!(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < y.n; i++) {
        int64_t from = 0;
        bool inside = true;
        vram_onnx_at(&y, i, at);
        for (uint32_t k = 0; k < x.rank; k++) {
            int64_t p = at[k] - begin[k];
            inside = inside && p >= 0 && p < x.dim[k];
            from += inside ? p * x.stride[k] : 0;
        }
        e[i] = inside ? op->in[0]->value[from] : fill;
    }
    return 0;
}

static const struct vram_op_row rows[] = {
    {"Concat", 1, 1, VRAM_ONNX_ANY, 1, 1, concat_1, value_concat, "axis 1 when none is given"},
    {"Concat", 4, 1, VRAM_ONNX_ANY, 1, 1, concat, value_concat, NULL},
    {"Split", 1, 1, 2, 1, VRAM_ONNX_ANY, split_1, value_split, NULL},
    {"Split", 2, 1, 1, 1, VRAM_ONNX_ANY, split_attribute, value_split, "sizes are an attribute"},
    {"Split", 13, 1, 2, 1, VRAM_ONNX_ANY, split_13, value_split, NULL},
    {"Split", 18, 1, 2, 1, VRAM_ONNX_ANY, split_18, value_split,
     "'num_outputs', a smaller last part"},
    {"Pad", 1, 1, 1, 1, 1, pad_1, NULL, "attribute 'paddings'"},
    {"Pad", 2, 1, 1, 1, 1, pad_2, NULL, "attribute 'pads'"},
    {"Pad", 11, 2, 3, 1, 1, pad, value_pad, NULL},
    {"Pad", 18, 2, 4, 1, 1, pad, value_pad, "'axes'"},
};
VRAM_ONNX_FAMILY(join, "", "join", rows);
