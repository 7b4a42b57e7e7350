/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers of the families: inputs, attributes, common shapes, walking over known values.
 */
#include <string.h>

#include "common.h"

int vram_onnx_need(struct vram_op *op, uint32_t i, const char *name)
{
    return vram_onnx_in(op, i) ? 0 : vram_op_fail(op, "input '%s' is missing", name);
}

int vram_onnx_rank(struct vram_op *op, uint32_t i, uint32_t low, uint32_t high)
{
    const struct vram_info *x = vram_onnx_in(op, i);
    if (!vram_onnx_ranked(x) || (x->rank >= low && x->rank <= high))
        return 0;
    if (low == high)
        return vram_op_fail(op, "input %u has rank %u, not %u", i, x->rank, low);
    return vram_op_fail(op, "input %u has rank %u, which is %s %u", i, x->rank,
                        x->rank < low ? "below" : "above", x->rank < low ? low : high);
}

int vram_onnx_dtype_attr(struct vram_op *op, const char *name, uint8_t otherwise, uint8_t *out)
{
    int64_t n;
    *out = otherwise;
    if (!vram_op_has(op, name))
        return 0;
    VRAM_TRY(vram_op_int(op, name, 0, &n));
    *out = n > 0 && n < 256 ? (uint8_t)vram_dtype_by_onnx((int)n) : (uint8_t)VRAM_DT_NONE;
    if (*out == VRAM_DT_NONE)
        return vram_op_fail(op, "attribute '%s' is %lld, which is no type", name, (long long)n);
    return 0;
}

int vram_onnx_need_dtype(struct vram_op *op, const char *name, uint8_t *out)
{
    int64_t n;
    VRAM_TRY(vram_op_need_int(op, name, &n));
    return vram_onnx_dtype_attr(op, name, VRAM_DT_NONE, out);
}

int vram_onnx_need_string(struct vram_op *op, const char *name, const char **out)
{
    if (!vram_op_has(op, name))
        return vram_op_fail(op, "attribute '%s' is missing", name);
    return vram_op_string(op, name, "", out);
}

int vram_onnx_int_from(struct vram_op *op, const char *name, int64_t otherwise, int64_t low,
                       int64_t *out)
{
    VRAM_TRY(vram_op_int(op, name, otherwise, out));
    if (*out < low)
        return vram_op_fail(op, "attribute '%s' is %lld, which is below %lld", name,
                            (long long)*out, (long long)low);
    return 0;
}

int vram_onnx_need_from(struct vram_op *op, const char *name, int64_t low, int64_t *out)
{
    VRAM_TRY(vram_op_need_int(op, name, out));
    return vram_onnx_int_from(op, name, 0, low, out);
}

int vram_onnx_axis_attr(struct vram_op *op, int64_t otherwise, uint32_t rank, uint32_t *out)
{
    int64_t axis;
    VRAM_TRY(vram_op_int(op, "axis", otherwise, &axis));
    return vram_op_axis(op, "axis", axis, rank, out);
}

int vram_onnx_axes(struct vram_op *op, const char *what, const int64_t *axes, uint32_t n,
                   uint32_t rank, bool *set)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t axis;
        VRAM_TRY(vram_op_axis(op, what, axes[i], rank, &axis));
        if (set[axis])
            return vram_op_fail(op, "%s has axis %u twice", what, axis);
        set[axis] = true;
    }
    return 0;
}

bool vram_onnx_length(struct vram_op *op, const struct vram_info *x, uint32_t *n)
{
    int64_t size;
    if (!vram_onnx_ranked(x) || x->rank != 1 || !vram_dim_is_int(op->dims, x->dims[0], &size) ||
        size < 0 || size > VRAM_VALUE_ELEMENTS)
        return false;
    *n = (uint32_t)size;
    return true;
}

bool vram_onnx_ints(struct vram_op *op, const struct vram_info *x, const int64_t **out,
                    uint32_t *n)
{
    *out = NULL;
    return (vram_onnx_length(op, x, n) && *n == 0) || vram_op_value_ints(op, x, out, n);
}

int vram_onnx_out_rank(struct vram_op *op, uint32_t i, uint8_t dtype, uint32_t rank)
{
    vram_dim *dims = vram_op_dims(op, rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t k = 0; k < rank; k++)
        dims[k] = VRAM_DIM_UNKNOWN;
    return vram_op_out_dims(op, i, dtype, dims, rank);
}

vram_dim *vram_onnx_copy(struct vram_op *op, const struct vram_info *x)
{
    vram_dim *dims = vram_op_dims(op, x->rank);
    if (dims && x->rank)
        memcpy(dims, x->dims, x->rank * sizeof *dims);
    return dims;
}

bool *vram_onnx_flags(struct vram_op *op, uint32_t n)
{
    bool *flags = vram_arena_array(op->cx->arena, n, sizeof *flags);
    if (!flags)
        vram_fail_memory(op->cx);
    return flags;
}

int vram_onnx_divide(struct vram_op *op, vram_dim a, vram_dim b, const char *what, vram_dim *out)
{
    int64_t x, y;
    if (vram_dim_is_int(op->dims, a, &x) && vram_dim_is_int(op->dims, b, &y) &&
        (y <= 0 || x % y != 0))
        return vram_op_fail(op, "%s %lld is no multiple of %lld", what, (long long)x, (long long)y);
    *out = vram_dim_exact(op->dims, a, b);
    if (*out == VRAM_DIM_UNKNOWN)
        *out = vram_dim_floordiv(op->dims, a, b);
    return 0;
}

/* ---- shapes that many have ---- */

int vram_onnx_like(struct vram_op *op)
{
    return vram_op_out_like(op, 0, vram_onnx_in_dtype(op, 0), vram_onnx_in(op, 0));
}

int vram_onnx_like_bool(struct vram_op *op)
{
    return vram_op_out_like(op, 0, VRAM_DT_BOOL, vram_onnx_in(op, 0));
}

int vram_onnx_like_f32(struct vram_op *op)
{
    return vram_op_out_like(op, 0, VRAM_DT_F32, vram_onnx_in(op, 0));
}

int vram_onnx_like_i64(struct vram_op *op)
{
    return vram_op_out_like(op, 0, VRAM_DT_I64, vram_onnx_in(op, 0));
}

int vram_onnx_like_axis(struct vram_op *op)
{
    const struct vram_info *x = vram_onnx_in(op, 0);
    uint32_t axis;
    if (vram_onnx_ranked(x) && x->rank && vram_op_has(op, "axis"))
        VRAM_TRY(vram_onnx_axis_attr(op, 0, x->rank, &axis));
    return vram_onnx_like(op);
}

int vram_onnx_broadcast(struct vram_op *op, uint8_t dtype, const struct vram_info *const *in,
                        uint32_t n)
{
    vram_dim *dims;
    uint32_t rank;
    VRAM_TRY(vram_op_broadcast(op, in, n, &dims, &rank));
    return rank == UINT32_MAX ? vram_op_out(op, 0, dtype)
                              : vram_op_out_dims(op, 0, dtype, dims, rank);
}

int vram_onnx_broadcast_all(struct vram_op *op)
{
    return vram_onnx_broadcast(op, vram_onnx_in_dtype(op, 0), op->in, op->n_in);
}

int vram_onnx_broadcast_dims(struct vram_op *op, const vram_dim *a, uint32_t ranka,
                             const vram_dim *b, uint32_t rankb, vram_dim **out, uint32_t *rank)
{
    vram_dim *x = vram_op_dims(op, ranka), *y = vram_op_dims(op, rankb);
    if (!x || !y)
        return op->cx->error->code;
    if (ranka)
        memcpy(x, a, ranka * sizeof *x);
    if (rankb)
        memcpy(y, b, rankb * sizeof *y);
    const struct vram_info p = {.kind = VRAM_ONNX_TENSOR, .ranked = true, .rank = ranka, .dims = x};
    const struct vram_info q = {.kind = VRAM_ONNX_TENSOR, .ranked = true, .rank = rankb, .dims = y};
    const struct vram_info *const both[] = {&p, &q};
    return vram_op_broadcast(op, both, 2, out, rank);
}

/* ---- known values ---- */

bool vram_onnx_grid(struct vram_op *op, const struct vram_info *x, struct vram_onnx_grid *grid)
{
    if (!vram_onnx_ranked(x) || x->rank > VRAM_ONNX_VALUE_RANK)
        return false;
    grid->rank = x->rank;
    grid->n = 1;
    for (uint32_t i = x->rank; i-- > 0;) {
        grid->stride[i] = grid->n;
        if (!vram_dim_is_int(op->dims, x->dims[i], &grid->dim[i]) || grid->dim[i] < 0)
            return false;
        if (grid->dim[i] > VRAM_VALUE_ELEMENTS)
            return false;
        grid->n *= grid->dim[i];
        if (grid->n > VRAM_VALUE_ELEMENTS)
            return false;
    }
    return true;
}

bool vram_onnx_value(struct vram_op *op, uint32_t i, struct vram_onnx_grid *grid)
{
    const struct vram_info *x = vram_onnx_in(op, i);
    return vram_op_value(op, x) && vram_onnx_grid(op, x, grid) && grid->n == x->elements;
}

void vram_onnx_at(const struct vram_onnx_grid *grid, int64_t i, int64_t *at)
{
    for (uint32_t k = 0; k < grid->rank; k++) {
        at[k] = i / grid->stride[k] % grid->dim[k];
    }
}

int64_t vram_onnx_broadcast_index(const struct vram_onnx_grid *grid, uint32_t rank,
                                  const int64_t *at)
{
    int64_t index = 0;
    for (uint32_t k = 0; k < grid->rank; k++)
        if (grid->dim[k] != 1)
            index += at[rank - grid->rank + k] * grid->stride[k];
    return index;
}

int vram_onnx_value1(struct vram_op *op, vram_element_fn1 *f)
{
    struct vram_onnx_grid grid;
    struct vram_element *e;
    if (!vram_onnx_value(op, 0, &grid) || !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < grid.n; i++)
        e[i] = f(op, op->in[0]->value[i], op->out[0].dtype);
    return vram_op_check(op);
}

int vram_onnx_value2(struct vram_op *op, vram_element_fn2 *f)
{
    struct vram_onnx_grid a, b, y;
    struct vram_element *e;
    int64_t at[VRAM_ONNX_VALUE_RANK];
    if (vram_op_has(op, "axis")) /* of old: the second operand stands elsewhere */
        return 0;
    if (!vram_onnx_value(op, 0, &a) || !vram_onnx_value(op, 1, &b) ||
        !vram_onnx_grid(op, &op->out[0], &y) || !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < y.n; i++) {
        vram_onnx_at(&y, i, at);
        e[i] = f(op, op->in[0]->value[vram_onnx_broadcast_index(&a, y.rank, at)],
                 op->in[1]->value[vram_onnx_broadcast_index(&b, y.rank, at)], op->out[0].dtype);
    }
    return vram_op_check(op);
}
