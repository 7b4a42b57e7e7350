/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that choose elements by number, and those whose result's size depends on the data.
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

/* ---- sizes that depend on the data ---- */

/* How many elements of input i are not zero; −1 when not all of them are decided. */
static int64_t count_true(struct vram_op *op, uint32_t i)
{
    struct vram_onnx_grid g;
    int64_t n = 0;
    if (!vram_onnx_value(op, i, &g))
        return -1;
    for (int64_t k = 0; k < g.n; k++) {
        enum vram_truth t = vram_element_is_true(op, op->in[i]->value[k]);
        if (t == VRAM_MAYBE)
            return -1;
        n += t == VRAM_TRUE;
    }
    return n;
}

static int nonzero(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    vram_dim dims[2] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    int64_t n = count_true(op, 0);
    vram_dim most = VRAM_DIM_UNKNOWN;
    if (vram_onnx_ranked(x)) {
        dims[0] = vram_onnx_num(op, x->rank);
        most = vram_op_product(op, x->dims, 0, x->rank);
    }
    dims[1] = n >= 0 ? vram_onnx_num(op, n) : vram_op_fresh(op, "nonzero", 0, most);
    return vram_op_out_dims(op, 0, VRAM_DT_I64, dims, 2);
}

static int value_nonzero(struct vram_op *op)
{
    struct vram_onnx_grid x;
    struct vram_element *e;
    int64_t n = count_true(op, 0), found = 0, at[VRAM_ONNX_VALUE_RANK];
    if (n < 0 || !vram_onnx_value(op, 0, &x) || !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < x.n; i++) {
        if (vram_element_is_true(op, op->in[0]->value[i]) != VRAM_TRUE)
            continue;
        vram_onnx_at(&x, i, at);
        for (uint32_t k = 0; k < x.rank; k++)
            e[k * n + found] = vram_element_dim(vram_onnx_num(op, at[k]));
        found++;
    }
    return 0;
}

static int compress(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t n = count_true(op, 1);
    uint32_t axis;
    VRAM_TRY(vram_onnx_rank(op, 1, 1, 1));
    if (!vram_op_has(op, "axis")) {
        vram_dim most =
            vram_onnx_ranked(x) ? vram_op_product(op, x->dims, 0, x->rank) : VRAM_DIM_UNKNOWN;
        vram_dim d = n >= 0 ? vram_onnx_num(op, n) : vram_op_fresh(op, "compress", 0, most);
        return vram_op_out_dims(op, 0, x->dtype, &d, 1);
    }
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    VRAM_TRY(vram_onnx_axis_attr(op, 0, x->rank, &axis));
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[axis] = n >= 0 ? vram_onnx_num(op, n) : vram_op_fresh(op, "compress", 0, x->dims[axis]);
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

/* How many different numbers input 0 has; −1 when not all are known. */
static int64_t distinct(struct vram_op *op, double *sorted)
{
    struct vram_onnx_grid g;
    int64_t n = 0;
    double x;
    if (!vram_onnx_value(op, 0, &g))
        return -1;
    for (int64_t i = 0; i < g.n; i++) {
        int64_t k = n;
        if (!vram_element_number(op, op->in[0]->value[i], &x))
            return -1;
        while (k > 0 && sorted[k - 1] > x)
            k--;
        if (k > 0 && sorted[k - 1] == x)
            continue;
        memmove(sorted + k + 1, sorted + k, (size_t)(n - k) * sizeof *sorted);
        sorted[k] = x;
        n++;
    }
    return n;
}

static int unique(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    double sorted[VRAM_VALUE_ELEMENTS + 1];
    bool flat = !vram_op_has(op, "axis") || (vram_onnx_ranked(x) && x->rank == 1);
    vram_dim all = VRAM_DIM_UNKNOWN;
    uint32_t axis = 0;
    if (vram_op_has(op, "axis") && vram_onnx_ranked(x))
        VRAM_TRY(vram_onnx_axis_attr(op, 0, x->rank, &axis));
    if (vram_onnx_ranked(x))
        all = flat ? vram_op_product(op, x->dims, 0, x->rank) : x->dims[axis];
    int64_t known = flat ? distinct(op, sorted) : -1;
    vram_dim n = known >= 0 ? vram_onnx_num(op, known) : vram_op_fresh(op, "unique", 0, all);
    VRAM_TRY(vram_op_out_dims(op, 1, VRAM_DT_I64, &n, 1));
    VRAM_TRY(vram_op_out_dims(op, 2, VRAM_DT_I64, &all, 1));
    VRAM_TRY(vram_op_out_dims(op, 3, VRAM_DT_I64, &n, 1));
    if (flat)
        return vram_op_out_dims(op, 0, x->dtype, &n, 1);
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[axis] = n;
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int value_unique(struct vram_op *op)
{
    double sorted[VRAM_VALUE_ELEMENTS + 1];
    int64_t order, n = distinct(op, sorted);
    struct vram_element *e;
    VRAM_TRY(vram_op_int(op, "sorted", 1, &order));
    if (n < 0 || !order || !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < n && (uint32_t)i < op->out[0].elements; i++)
        e[i] = sorted[i] == (double)(int64_t)sorted[i]
                   ? vram_element_dim(vram_onnx_num(op, (int64_t)sorted[i]))
                   : vram_element_real(sorted[i]);
    return 0;
}

/* ---- TopK, OneHot, Trilu ---- */

static int top_k(struct vram_op *op, vram_dim k)
{
    const struct vram_info *x = op->in[0];
    int64_t n, size;
    uint32_t axis;
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(x)) {
        VRAM_TRY(vram_op_out(op, 1, VRAM_DT_I64));
        return vram_op_out(op, 0, x->dtype);
    }
    VRAM_TRY(vram_onnx_axis_attr(op, -1, x->rank, &axis));
    if (vram_dim_is_int(op->dims, k, &n) && n < 0)
        return vram_op_fail(op, "K is %lld", (long long)n);
    if (vram_dim_is_int(op->dims, k, &n) && vram_dim_is_int(op->dims, x->dims[axis], &size) &&
        n > size)
        return vram_op_fail(op, "K is %lld of %lld", (long long)n, (long long)size);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[axis] = k == VRAM_DIM_UNKNOWN ? vram_op_fresh(op, "topk", 0, x->dims[axis]) : k;
    VRAM_TRY(vram_op_out_dims(op, 1, VRAM_DT_I64, dims, x->rank));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int top_k_attribute(struct vram_op *op)
{
    int64_t k;
    VRAM_TRY(vram_onnx_need_from(op, "k", 1, &k));
    return top_k(op, vram_onnx_num(op, k));
}

static int top_k_input(struct vram_op *op)
{
    const vram_dim *k;
    uint32_t n;
    VRAM_TRY(vram_onnx_rank(op, 1, 0, 1));
    return top_k(op, vram_op_value_dims(op, op->in[1], &k, &n) && n == 1 ? k[0] : VRAM_DIM_UNKNOWN);
}

/* Of numbers in one row. */
static int value_top_k(struct vram_op *op)
{
    struct vram_onnx_grid x, y;
    struct vram_element *e, *where;
    int64_t largest;
    double value[VRAM_VALUE_ELEMENTS];
    VRAM_TRY(vram_op_int(op, "largest", 1, &largest));
    if (!vram_onnx_value(op, 0, &x) || x.rank != 1 || op->n_out < 2 ||
        !vram_onnx_grid(op, &op->out[0], &y) || y.n > x.n)
        return 0;
    for (int64_t i = 0; i < x.n; i++)
        if (!vram_element_number(op, op->in[0]->value[i], &value[i]))
            return 0;
    bool *taken = vram_onnx_flags(op, (uint32_t)x.n);
    if (!taken || !(e = vram_op_elements(op, 0)) || !(where = vram_op_elements(op, 1)))
        return op->cx->error->code;
    for (int64_t k = 0; k < y.n; k++) {
        int64_t best = -1;
        for (int64_t i = 0; i < x.n; i++)
            if (!taken[i] &&
                (best < 0 || (largest ? value[i] > value[best] : value[i] < value[best])))
                best = i;
        taken[best] = true;
        e[k] = op->in[0]->value[best];
        where[k] = vram_element_dim(vram_onnx_num(op, best));
    }
    return 0;
}

static int one_hot(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    uint8_t dtype = vram_onnx_in_dtype(op, 2);
    const vram_dim *depth;
    uint32_t axis, n;
    int64_t size;
    VRAM_TRY(vram_onnx_rank(op, 1, 0, 1));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, dtype);
    VRAM_TRY(vram_onnx_axis_attr(op, -1, x->rank + 1, &axis));
    vram_dim *dims = vram_op_dims(op, x->rank + 1);
    if (!dims)
        return op->cx->error->code;
    vram_dim d =
        vram_op_value_dims(op, op->in[1], &depth, &n) && n == 1 ? depth[0] : VRAM_DIM_UNKNOWN;
    if (vram_dim_is_int(op->dims, d, &size) && size < 0)
        return vram_op_fail(op, "a depth of %lld", (long long)size);
    if (d == VRAM_DIM_UNKNOWN)
        d = vram_op_fresh(op, "depth", 0, VRAM_DIM_UNKNOWN);
    for (uint32_t i = 0, k = 0; i <= x->rank; i++)
        dims[i] = i == axis ? d : x->dims[k++];
    return vram_op_out_dims(op, 0, dtype, dims, x->rank + 1);
}

static int trilu(struct vram_op *op)
{
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    return vram_onnx_like(op);
}

static int value_trilu(struct vram_op *op)
{
    struct vram_onnx_grid x;
    struct vram_element *e;
    int64_t upper, k = 0, at[VRAM_ONNX_VALUE_RANK];
    VRAM_TRY(vram_op_int(op, "upper", 1, &upper));
    if (!vram_onnx_value(op, 0, &x) || x.rank < 2 ||
        (vram_onnx_in(op, 1) && !vram_op_value_int(op, op->in[1], &k)) ||
        !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < x.n; i++) {
        vram_onnx_at(&x, i, at);
        int64_t off = at[x.rank - 1] - at[x.rank - 2];
        bool kept = upper ? off >= k : off <= k;
        e[i] = kept ? op->in[0]->value[i] : vram_element_dim(vram_onnx_num(op, 0));
    }
    return 0;
}

static int reverse_sequence(struct vram_op *op)
{
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    VRAM_TRY(vram_onnx_rank(op, 1, 1, 1));
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
    {"NonZero", 9, 1, 1, 1, 1, nonzero, value_nonzero, "as many columns as the data says"},
    {"Compress", 9, 2, 2, 1, 1, compress, NULL, "as many as the condition says"},
    {"Unique", 11, 1, 1, 1, 4, unique, value_unique, "as many as the data says"},
    {"TopK", 1, 1, 1, 2, 2, top_k_attribute, value_top_k, "k is an attribute"},
    {"TopK", 10, 2, 2, 2, 2, top_k_input, value_top_k, NULL},
    {"OneHot", 9, 3, 3, 1, 1, one_hot, NULL, NULL},
    {"Trilu", 14, 1, 2, 1, 1, trilu, value_trilu, NULL},
    {"ReverseSequence", 10, 2, 2, 1, 1, reverse_sequence, NULL, NULL},
};
VRAM_ONNX_FAMILY(index, "", "index", rows);
