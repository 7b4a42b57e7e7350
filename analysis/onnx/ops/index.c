/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that read or write elements at given places.
 */
#include <string.h>

#include "common.h"

/* ---- Gather ---- */

int vram_onnx_gather(struct vram_op *op, const struct vram_info *data,
                     const struct vram_info *indices, int64_t axis, uint8_t dtype)
{
    uint32_t a, rank = 0;
    if (!vram_onnx_ranked(data))
        return vram_op_out(op, 0, dtype);
    if (data->rank == 0)
        return vram_op_fail(op, "the data is a scalar");
    VRAM_TRY(vram_op_axis(op, "axis", axis, data->rank, &a));
    if (!vram_onnx_ranked(indices))
        return vram_op_out(op, 0, dtype);
    vram_dim *dims = vram_op_dims(op, data->rank + indices->rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < data->rank; i++) {
        if (i != a)
            dims[rank++] = data->dims[i];
        for (uint32_t k = 0; i == a && k < indices->rank; k++)
            dims[rank++] = indices->dims[k];
    }
    return vram_op_out_dims(op, 0, dtype, dims, rank);
}

static int gather(struct vram_op *op)
{
    int64_t axis;
    VRAM_TRY(vram_op_int(op, "axis", 0, &axis));
    return vram_onnx_gather(op, op->in[0], op->in[1], axis, op->in[0]->dtype);
}

/* An index as a place in [0, size); false when it is no number or lies outside. */
static bool place(struct vram_op *op, struct vram_element e, int64_t size, int64_t *out)
{
    if (!vram_element_whole(op, e, out) || *out < -size || *out >= size)
        return false;
    if (*out < 0)
        *out += size;
    return true;
}

static int value_gather(struct vram_op *op)
{
    struct vram_onnx_grid data, indices, y;
    struct vram_element *e;
    uint32_t axis;
    if (!vram_onnx_value(op, 0, &data) || !vram_onnx_value(op, 1, &indices) || !data.rank ||
        !vram_onnx_grid(op, &op->out[0], &y))
        return 0;
    VRAM_TRY(vram_onnx_axis_attr(op, 0, data.rank, &axis));
    if (!(e = vram_op_elements(op, 0)))
        return 0;
    int64_t inner = data.stride[axis], chosen;
    for (int64_t i = 0; i < y.n; i++) {
        int64_t outer = i / (inner * indices.n), k = i / inner % indices.n;
        e[i] = vram_element_unknown;
        if (place(op, op->in[1]->value[k], data.dim[axis], &chosen))
            e[i] = op->in[0]->value[(outer * data.dim[axis] + chosen) * inner + i % inner];
    }
    return 0;
}

static int gather_elements(struct vram_op *op)
{
    const struct vram_info *data = op->in[0], *indices = op->in[1];
    uint32_t axis;
    if (vram_onnx_ranked(data)) {
        VRAM_TRY(vram_onnx_axis_attr(op, 0, data->rank, &axis));
        if (vram_onnx_ranked(indices) && indices->rank != data->rank)
            return vram_op_fail(op, "data of rank %u and indices of rank %u", data->rank,
                                indices->rank);
    }
    return vram_op_out_like(op, 0, data->dtype, indices);
}

static int value_gather_elements(struct vram_op *op)
{
    struct vram_onnx_grid data, indices;
    struct vram_element *e;
    int64_t at[VRAM_ONNX_VALUE_RANK];
    uint32_t axis;
    if (!vram_onnx_value(op, 0, &data) || !vram_onnx_value(op, 1, &indices) ||
        data.rank != indices.rank || !data.rank)
        return 0;
    VRAM_TRY(vram_onnx_axis_attr(op, 0, data.rank, &axis));
    if (!(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < indices.n; i++) {
        int64_t from = 0;
        bool inside;
        vram_onnx_at(&indices, i, at);
        inside = place(op, op->in[1]->value[i], data.dim[axis], &at[axis]);
        for (uint32_t k = 0; k < data.rank; k++) {
            inside = inside && at[k] < data.dim[k];
            from += at[k] * data.stride[k];
        }
        e[i] = inside ? op->in[0]->value[from] : vram_element_unknown;
    }
    return 0;
}

/* The last axis of the indices holds coordinates of the data. */
static int gather_nd(struct vram_op *op)
{
    const struct vram_info *data = op->in[0], *indices = op->in[1];
    int64_t batch, n;
    uint32_t rank = 0;
    VRAM_TRY(vram_onnx_int_from(op, "batch_dims", 0, 0, &batch));
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    VRAM_TRY(vram_onnx_rank(op, 1, 1, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(data) || !vram_onnx_ranked(indices) ||
        !vram_dim_is_int(op->dims, indices->dims[indices->rank - 1], &n))
        return vram_op_out(op, 0, data->dtype);
    if (batch >= (int64_t)data->rank || batch >= (int64_t)indices->rank || n < 1 ||
        n > (int64_t)data->rank - batch)
        return vram_op_fail(op, "%lld coordinates behind %lld batch dims for rank %u", (long long)n,
                            (long long)batch, data->rank);
    vram_dim *dims = vram_op_dims(op, data->rank + indices->rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i + 1 < indices->rank; i++)
        dims[rank++] = indices->dims[i];
    for (uint32_t i = (uint32_t)(batch + n); i < data->rank; i++)
        dims[rank++] = data->dims[i];
    return vram_op_out_dims(op, 0, data->dtype, dims, rank);
}

/* First element of the part of x that coordinates (n of them, from element `first` of the indices)
 * name behind `base`; −1 when they are not known or outside. */
static int64_t part(struct vram_op *op, const struct vram_onnx_grid *x, uint32_t axis,
                    const struct vram_element *coordinates, int64_t n, int64_t base)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t p;
        if (!place(op, coordinates[k], x->dim[axis + k], &p))
            return -1;
        base += p * x->stride[axis + k];
    }
    return base;
}

static int value_gather_nd(struct vram_op *op)
{
    struct vram_onnx_grid x, indices, y;
    struct vram_element *e;
    int64_t batch, before = 1;
    VRAM_TRY(vram_op_int(op, "batch_dims", 0, &batch));
    if (!vram_onnx_value(op, 0, &x) || !vram_onnx_value(op, 1, &indices) || indices.n == 0 ||
        !vram_onnx_grid(op, &op->out[0], &y) || !(e = vram_op_elements(op, 0)))
        return 0;
    int64_t n = indices.dim[indices.rank - 1], parts = indices.n / n, size = y.n / parts;
    for (int64_t i = 0; i < batch; i++)
        before *= indices.dim[i];
    int64_t each = before ? x.n / before : 0;
    for (int64_t i = 0; i < parts; i++) {
        int64_t from =
            part(op, &x, (uint32_t)batch, op->in[1]->value + i * n, n, i / (parts / before) * each);
        bool inside = from >= 0 && from + size <= x.n;
        for (int64_t k = 0; k < size; k++)
            e[i * size + k] = inside ? op->in[0]->value[from + k] : vram_element_unknown;
    }
    return 0;
}

/* ---- Scatter ---- */

static int scatter_elements(struct vram_op *op)
{
    const struct vram_info *data = op->in[0], *indices = op->in[1], *updates = op->in[2];
    uint32_t axis;
    if (vram_onnx_ranked(data)) {
        VRAM_TRY(vram_onnx_axis_attr(op, 0, data->rank, &axis));
        if (vram_onnx_ranked(indices) && indices->rank != data->rank)
            return vram_op_fail(op, "data of rank %u and indices of rank %u", data->rank,
                                indices->rank);
    }
    if (vram_onnx_ranked(indices) && vram_onnx_ranked(updates) && indices->rank != updates->rank)
        return vram_op_fail(op, "indices of rank %u and updates of rank %u", indices->rank,
                            updates->rank);
    return vram_onnx_like(op);
}

static bool plain(struct vram_op *op)
{
    const char *reduction;
    return !vram_op_string(op, "reduction", "none", &reduction) && !strcmp(reduction, "none");
}

static int value_scatter_elements(struct vram_op *op)
{
    struct vram_onnx_grid x, indices, updates;
    struct vram_element *e;
    int64_t at[VRAM_ONNX_VALUE_RANK];
    uint32_t axis;
    if (!plain(op) || !vram_onnx_value(op, 0, &x) || !vram_onnx_value(op, 1, &indices) ||
        !vram_onnx_value(op, 2, &updates) || updates.n != indices.n || x.rank != indices.rank ||
        !x.rank)
        return 0;
    VRAM_TRY(vram_onnx_axis_attr(op, 0, x.rank, &axis));
    for (int64_t i = 0; i < indices.n; i++) {
        int64_t p;
        if (!place(op, op->in[1]->value[i], x.dim[axis], &p))
            return 0;
    }
    if (!(e = vram_op_elements(op, 0)))
        return 0;
    memcpy(e, op->in[0]->value, (size_t)x.n * sizeof *e);
    for (int64_t i = 0; i < indices.n; i++) {
        int64_t to = 0;
        vram_onnx_at(&indices, i, at);
        bool inside = place(op, op->in[1]->value[i], x.dim[axis], &at[axis]);
        for (uint32_t k = 0; k < x.rank; k++) {
            inside = inside && at[k] < x.dim[k];
            to += at[k] * x.stride[k];
        }
        if (inside)
            e[to] = op->in[2]->value[i];
    }
    return 0;
}

static int scatter_nd(struct vram_op *op)
{
    const struct vram_info *data = op->in[0], *indices = op->in[1];
    int64_t n;
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    VRAM_TRY(vram_onnx_rank(op, 1, 1, VRAM_ONNX_ANY));
    if (vram_onnx_ranked(data) && vram_onnx_ranked(indices) &&
        vram_dim_is_int(op->dims, indices->dims[indices->rank - 1], &n) && n > (int64_t)data->rank)
        return vram_op_fail(op, "%lld coordinates for rank %u", (long long)n, data->rank);
    return vram_onnx_like(op);
}

static int value_scatter_nd(struct vram_op *op)
{
    struct vram_onnx_grid x, indices, updates;
    struct vram_element *e;
    if (!plain(op) || !vram_onnx_value(op, 0, &x) || !vram_onnx_value(op, 1, &indices) ||
        !vram_onnx_value(op, 2, &updates) || !indices.rank || indices.n == 0)
        return 0;
    int64_t n = indices.dim[indices.rank - 1], parts = indices.n / n, size = updates.n / parts;
    if (n > (int64_t)x.rank)
        return 0;
    for (int64_t i = 0; i < parts; i++) { /* all or nothing: an unknown place may be any */
        int64_t to = part(op, &x, 0, op->in[1]->value + i * n, n, 0);
        if (to < 0 || to + size > x.n)
            return 0;
    }
    if (!(e = vram_op_elements(op, 0)))
        return 0;
    memcpy(e, op->in[0]->value, (size_t)x.n * sizeof *e);
    for (int64_t i = 0; i < parts; i++)
        memcpy(e + part(op, &x, 0, op->in[1]->value + i * n, n, 0), op->in[2]->value + i * size,
               (size_t)size * sizeof *e);
    return 0;
}

static int tensor_scatter(struct vram_op *op)
{
    const struct vram_info *cache = op->in[0], *update = op->in[1];
    uint32_t axis;
    vram_dim same;
    if (!vram_onnx_ranked(cache))
        return vram_onnx_like(op);
    VRAM_TRY(vram_onnx_axis_attr(op, -2, cache->rank, &axis));
    if (axis == 0)
        return vram_op_fail(op, "the axis is the batch");
    if (vram_onnx_ranked(update)) {
        if (update->rank != cache->rank)
            return vram_op_fail(op, "cache of rank %u and update of rank %u", cache->rank,
                                update->rank);
        for (uint32_t i = 0; i < cache->rank; i++)
            if (i != axis)
                VRAM_TRY(
                    vram_op_same(op, cache->dims[i], update->dims[i], "cache and update", &same));
    }
    return vram_onnx_like(op);
}

static const struct vram_op_row rows[] = {
    {"Gather", 1, 2, 2, 1, 1, gather, value_gather, NULL},
    {"GatherElements", 11, 2, 2, 1, 1, gather_elements, value_gather_elements, NULL},
    {"GatherND", 11, 2, 2, 1, 1, gather_nd, value_gather_nd, NULL},
    {"GatherND", 12, 2, 2, 1, 1, gather_nd, value_gather_nd, "'batch_dims'"},
    {"Scatter", 9, 3, 3, 1, 1, scatter_elements, value_scatter_elements,
     "deprecated from 11: ScatterElements"},
    {"ScatterElements", 11, 3, 3, 1, 1, scatter_elements, value_scatter_elements, NULL},
    {"ScatterND", 11, 3, 3, 1, 1, scatter_nd, value_scatter_nd, NULL},
    {"TensorScatter", 24, 2, 3, 1, 1, tensor_scatter, NULL, NULL},
};
VRAM_ONNX_FAMILY(index, "", "index", rows);
