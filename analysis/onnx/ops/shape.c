/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that give the same elements another shape, and those that repeat them.
 */
#include <string.h>

#include "common.h"

/* ---- Reshape ---- */

/* Target size i: copied from the data where it is 0. */
static int target_dim(struct vram_op *op, const struct vram_info *x, const vram_dim *target,
                      uint32_t i, bool allow_zero, vram_dim *out, bool *infer)
{
    int64_t n;
    *out = target[i];
    *infer = false;
    if (!vram_dim_is_int(op->dims, target[i], &n))
        return 0;
    if (n < -1)
        return vram_op_fail(op, "a size of %lld in the shape", (long long)n);
    *infer = n == -1;
    if (n == 0 && !allow_zero) {
        *out = VRAM_DIM_UNKNOWN;
        if (vram_onnx_ranked(x)) {
            if (i >= x->rank)
                return vram_op_fail(op, "size 0 at place %u, and the data has rank %u", i, x->rank);
            *out = x->dims[i];
        }
    }
    return 0;
}

/* The product of `from` without those that also stand in `out`, which go from there as well. */
static vram_dim cancel(struct vram_op *op, const vram_dim *from, uint32_t n, vram_dim *out,
                       uint32_t n_out)
{
    vram_dim left = vram_onnx_num(op, 1), one = left;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < n_out && (out[k] != from[i] || from[i] == VRAM_DIM_UNKNOWN))
            k++;
        if (k < n_out)
            out[k] = one;
        else
            left = vram_dim_mul(op->dims, left, from[i]);
    }
    return left;
}

/* The size at place `hole`, so that there are as many elements as before. */
static int fill(struct vram_op *op, const struct vram_info *x, vram_dim *dims, uint32_t rank,
                uint32_t hole)
{
    vram_dim *others = vram_op_dims(op, rank);
    int64_t n;
    if (!others)
        return op->cx->error->code;
    memcpy(others, dims, rank * sizeof *others);
    others[hole] = vram_onnx_num(op, 1);
    vram_dim have = cancel(op, x->dims, x->rank, others, rank);
    vram_dim need = vram_op_product(op, others, 0, rank);
    if (vram_dim_is_int(op->dims, need, &n) && n == 0) {
        dims[hole] = VRAM_DIM_UNKNOWN;
        return 0;
    }
    return vram_onnx_divide(op, have, need, "number of elements", &dims[hole]);
}

/* More rank than this times rank of the data is left to the general case. */
enum { CANCEL = 64 };

static int reshape_to(struct vram_op *op, const vram_dim *target, uint32_t rank, bool allow_zero)
{
    const struct vram_info *x = op->in[0];
    vram_dim *dims = vram_op_dims(op, rank);
    uint32_t hole = rank, unknown = 0;
    bool infer;
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < rank; i++) {
        VRAM_TRY(target_dim(op, x, target, i, allow_zero, &dims[i], &infer));
        if (infer && hole < rank)
            return vram_op_fail(op, "two sizes of -1 in the shape");
        if (infer) {
            hole = i;
            dims[i] = VRAM_DIM_UNKNOWN;
        }
    }
    for (uint32_t i = 0; i < rank; i++)
        unknown += dims[i] == VRAM_DIM_UNKNOWN;
    for (uint32_t i = 0; i < rank && unknown == 1 && hole == rank; i++)
        if (dims[i] == VRAM_DIM_UNKNOWN)
            hole = i;
    if (!vram_onnx_ranked(x) || x->rank > CANCEL || rank > CANCEL)
        return vram_op_out_dims(op, 0, x->dtype, dims, rank);
    if (hole < rank && unknown == 1) {
        VRAM_TRY(fill(op, x, dims, rank, hole));
    } else if (unknown == 0) {
        vram_dim have = vram_op_product(op, x->dims, 0, x->rank);
        vram_dim want = vram_op_product(op, dims, 0, rank);
        int64_t n, m;
        if (vram_dim_is_int(op->dims, have, &n) && vram_dim_is_int(op->dims, want, &m) && n != m)
            return vram_op_fail(op, "%lld elements become %lld", (long long)n, (long long)m);
    }
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, rank);
}

static int reshape_attribute(struct vram_op *op)
{
    const int64_t *shape;
    uint32_t n;
    VRAM_TRY(vram_op_ints(op, "shape", &shape, &n));
    vram_dim *target = vram_op_dims(op, n);
    if (!target)
        return op->cx->error->code;
    for (uint32_t i = 0; i < n; i++)
        target[i] = vram_onnx_num(op, shape[i]);
    return reshape_to(op, target, n, false);
}

static int reshape(struct vram_op *op)
{
    const vram_dim *target;
    uint32_t n;
    int64_t allow_zero;
    VRAM_TRY(vram_op_int(op, "allowzero", 0, &allow_zero));
    VRAM_TRY(vram_onnx_rank(op, 1, 1, 1));
    if (vram_op_value_dims(op, op->in[1], &target, &n))
        return reshape_to(op, target, n, allow_zero != 0);
    if (vram_onnx_length(op, op->in[1], &n))
        return vram_onnx_out_rank(op, 0, op->in[0]->dtype, n);
    return vram_op_out(op, 0, op->in[0]->dtype);
}

/* ---- Flatten, Squeeze, Unsqueeze, Transpose ---- */

static int flatten(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t axis;
    VRAM_TRY(vram_op_int(op, "axis", 1, &axis));
    if (!vram_onnx_ranked(x))
        return vram_onnx_out_rank(op, 0, x->dtype, 2);
    if (axis < -(int64_t)x->rank || axis > (int64_t)x->rank)
        return vram_op_fail(op, "axis %lld for rank %u", (long long)axis, x->rank);
    uint32_t split = (uint32_t)(axis < 0 ? axis + x->rank : axis);
    vram_dim dims[2] = {vram_op_product(op, x->dims, 0, split),
                        vram_op_product(op, x->dims, split, x->rank)};
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, 2);
}

/* Without axes: every dim of 1 goes. */
static int squeeze_ones(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    vram_dim *dims = vram_op_dims(op, x->rank);
    uint32_t rank = 0;
    int64_t n;
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < x->rank; i++) {
        bool number = vram_dim_is_int(op->dims, x->dims[i], &n);
        if (!number && vram_dim_equal(op->dims, x->dims[i], vram_onnx_num(op, 1)) != VRAM_FALSE)
            return vram_op_out(op, 0, x->dtype); /* may be 1 */
        if (!number || n != 1)
            dims[rank++] = x->dims[i];
    }
    return vram_op_out_dims(op, 0, x->dtype, dims, rank);
}

static int squeeze_axes(struct vram_op *op, const int64_t *axes, uint32_t n)
{
    const struct vram_info *x = op->in[0];
    uint32_t rank = 0;
    vram_dim same;
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    bool *gone = vram_onnx_flags(op, x->rank);
    vram_dim *dims = vram_op_dims(op, x->rank);
    if (!gone || !dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < n; i++) { /* the same axis twice is one */
        uint32_t axis;
        VRAM_TRY(vram_op_axis(op, "axes", axes[i], x->rank, &axis));
        gone[axis] = true;
    }
    for (uint32_t i = 0; i < x->rank; i++) {
        if (gone[i])
            VRAM_TRY(vram_op_same(op, x->dims[i], vram_onnx_num(op, 1), "squeezed size", &same));
        else
            dims[rank++] = x->dims[i];
    }
    return vram_op_out_dims(op, 0, x->dtype, dims, rank);
}

static int squeeze_attribute(struct vram_op *op)
{
    const int64_t *axes;
    uint32_t n;
    VRAM_TRY(vram_op_ints(op, "axes", &axes, &n));
    if (axes && n)
        return squeeze_axes(op, axes, n);
    return vram_onnx_ranked(op->in[0]) ? squeeze_ones(op) : vram_op_out(op, 0, op->in[0]->dtype);
}

static int squeeze(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *in = vram_onnx_in(op, 1);
    const int64_t *axes;
    uint32_t n;
    if (!in)
        return vram_onnx_ranked(x) ? squeeze_ones(op) : vram_op_out(op, 0, x->dtype);
    if (vram_onnx_ints(op, in, &axes, &n)) {
        if (n == 0 && vram_onnx_ranked(x)) /* as a runtime takes it */
            return squeeze_ones(op);
        return squeeze_axes(op, axes, n);
    }
    if (vram_onnx_ranked(x) && vram_onnx_length(op, in, &n) && n == 1 && x->rank)
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank - n);
    return vram_op_out(op, 0, x->dtype);
}

static int unsqueeze_axes(struct vram_op *op, const int64_t *axes, uint32_t n)
{
    const struct vram_info *x = op->in[0];
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    uint32_t rank = x->rank + n;
    bool *added = vram_onnx_flags(op, rank);
    vram_dim *dims = vram_op_dims(op, rank);
    if (!added || !dims)
        return op->cx->error->code;
    VRAM_TRY(vram_onnx_axes(op, "axes", axes, n, rank, added));
    for (uint32_t i = 0, k = 0; i < rank; i++)
        dims[i] = added[i] ? vram_onnx_num(op, 1) : x->dims[k++];
    return vram_op_out_dims(op, 0, x->dtype, dims, rank);
}

static int unsqueeze_attribute(struct vram_op *op)
{
    const int64_t *axes;
    uint32_t n;
    if (!vram_op_has(op, "axes"))
        return vram_op_fail(op, "attribute 'axes' is missing");
    VRAM_TRY(vram_op_ints(op, "axes", &axes, &n));
    return unsqueeze_axes(op, axes, n);
}

static int unsqueeze(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const int64_t *axes;
    uint32_t n;
    if (vram_onnx_ints(op, op->in[1], &axes, &n))
        return unsqueeze_axes(op, axes, n);
    if (vram_onnx_ranked(x) && vram_onnx_length(op, op->in[1], &n))
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank + n);
    return vram_op_out(op, 0, x->dtype);
}

static int permutation(struct vram_op *op, uint32_t rank, const int64_t **perm)
{
    uint32_t n;
    VRAM_TRY(vram_op_ints(op, "perm", perm, &n));
    if (!*perm)
        return 0;
    if (n != rank)
        return vram_op_fail(op, "attribute 'perm' has %u numbers for rank %u", n, rank);
    bool *seen = vram_onnx_flags(op, rank);
    if (!seen)
        return op->cx->error->code;
    for (uint32_t i = 0; i < n; i++) {
        if ((*perm)[i] < 0 || (*perm)[i] >= (int64_t)rank || seen[(*perm)[i]])
            return vram_op_fail(op, "attribute 'perm' is no permutation: %lld at place %u",
                                (long long)(*perm)[i], i);
        seen[(*perm)[i]] = true;
    }
    return 0;
}

static int transpose(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const int64_t *perm;
    uint32_t n;
    if (!vram_onnx_ranked(x)) {
        VRAM_TRY(vram_op_ints(op, "perm", &perm, &n));
        return perm ? vram_onnx_out_rank(op, 0, x->dtype, n) : vram_op_out(op, 0, x->dtype);
    }
    VRAM_TRY(permutation(op, x->rank, &perm));
    vram_dim *dims = vram_op_dims(op, x->rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i] = x->dims[perm ? (uint32_t)perm[i] : x->rank - 1 - i];
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int value_transpose(struct vram_op *op)
{
    struct vram_onnx_grid x, y;
    const int64_t *perm;
    struct vram_element *e;
    int64_t at[VRAM_ONNX_VALUE_RANK];
    if (!vram_onnx_value(op, 0, &x) || !vram_onnx_grid(op, &op->out[0], &y))
        return 0;
    VRAM_TRY(permutation(op, x.rank, &perm));
    if (!(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < y.n; i++) {
        int64_t from = 0;
        vram_onnx_at(&y, i, at);
        for (uint32_t k = 0; k < x.rank; k++)
            from += at[k] * x.stride[perm ? (uint32_t)perm[k] : x.rank - 1 - k];
        e[i] = op->in[0]->value[from];
    }
    return 0;
}

/* ---- Expand and Tile ---- */

static int expand(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const vram_dim *target;
    vram_dim *dims;
    uint32_t n, rank;
    int64_t size;
    VRAM_TRY(vram_onnx_rank(op, 1, 1, 1));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (!vram_op_value_dims(op, op->in[1], &target, &n)) {
        if (vram_onnx_length(op, op->in[1], &n))
            return vram_onnx_out_rank(op, 0, x->dtype, n > x->rank ? n : x->rank);
        return vram_op_out(op, 0, x->dtype);
    }
    for (uint32_t i = 0; i < n; i++)
        if (vram_dim_is_int(op->dims, target[i], &size) && size < 0)
            return vram_op_fail(op, "a size of %lld in the shape", (long long)size);
    VRAM_TRY(vram_onnx_broadcast_dims(op, x->dims, x->rank, target, n, &dims, &rank));
    return vram_op_out_dims(op, 0, x->dtype, dims, rank);
}

/* Each element where broadcasting finds it; also where only the place in a period counts. */
static int value_repeat(struct vram_op *op)
{
    struct vram_onnx_grid x, y;
    struct vram_element *e;
    int64_t at[VRAM_ONNX_VALUE_RANK];
    if (!vram_onnx_value(op, 0, &x) || !vram_onnx_grid(op, &op->out[0], &y) ||
        !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < y.n; i++) {
        int64_t from = 0;
        vram_onnx_at(&y, i, at);
        for (uint32_t k = 0; k < x.rank; k++)
            from += at[y.rank - x.rank + k] % x.dim[k] * x.stride[k];
        e[i] = op->in[0]->value[from];
    }
    return 0;
}

static int tile(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const vram_dim *repeats;
    uint32_t n;
    int64_t times;
    VRAM_TRY(vram_onnx_rank(op, 1, 1, 1));
    if (!vram_onnx_ranked(x)) {
        if (vram_onnx_length(op, op->in[1], &n))
            return vram_onnx_out_rank(op, 0, x->dtype, n);
        return vram_op_out(op, 0, x->dtype);
    }
    if (!vram_op_value_dims(op, op->in[1], &repeats, &n))
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank);
    if (n != x->rank)
        return vram_op_fail(op, "%u repeats for rank %u", n, x->rank);
    vram_dim *dims = vram_op_dims(op, n);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < n; i++) {
        if (vram_dim_is_int(op->dims, repeats[i], &times) && times < 0)
            return vram_op_fail(op, "%lld repeats", (long long)times);
        dims[i] = vram_dim_mul(op->dims, x->dims[i], repeats[i]);
    }
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, n);
}

static int tile_1(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t axis, times;
    uint32_t i;
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (!vram_op_value_int(op, op->in[2], &axis) || !vram_op_value_int(op, op->in[1], &times))
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank);
    VRAM_TRY(vram_op_axis(op, "axis", axis, x->rank, &i));
    if (times < 0)
        return vram_op_fail(op, "%lld repeats", (long long)times);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[i] = vram_dim_mul(op->dims, dims[i], vram_onnx_num(op, times));
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

/* ---- blocks between depth and space ---- */

static int block_move(struct vram_op *op, bool to_space)
{
    const struct vram_info *x = op->in[0];
    int64_t side, area;
    VRAM_TRY(vram_onnx_need_from(op, "blocksize", 1, &side));
    VRAM_TRY(vram_onnx_rank(op, 0, 4, 4));
    if (!vram_onnx_ranked(x))
        return vram_onnx_out_rank(op, 0, x->dtype, 4);
    if (__builtin_mul_overflow(side, side, &area))
        return vram_op_fail(op, "attribute 'blocksize' is %lld", (long long)side);
    vram_dim block = vram_onnx_num(op, side), all = vram_onnx_num(op, area);
    vram_dim dims[4] = {x->dims[0]};
    if (to_space) {
        VRAM_TRY(vram_onnx_divide(op, x->dims[1], all, "channels", &dims[1]));
        dims[2] = vram_dim_mul(op->dims, x->dims[2], block);
        dims[3] = vram_dim_mul(op->dims, x->dims[3], block);
    } else {
        dims[1] = vram_dim_mul(op->dims, x->dims[1], all);
        VRAM_TRY(vram_onnx_divide(op, x->dims[2], block, "height", &dims[2]));
        VRAM_TRY(vram_onnx_divide(op, x->dims[3], block, "width", &dims[3]));
    }
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, 4);
}

static int depth_to_space(struct vram_op *op) { return block_move(op, true); }
static int space_to_depth(struct vram_op *op) { return block_move(op, false); }

static int eye_like(struct vram_op *op)
{
    uint8_t dtype;
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    VRAM_TRY(vram_onnx_dtype_attr(op, "dtype", op->in[0]->dtype, &dtype));
    return vram_op_out_like(op, 0, dtype, op->in[0]);
}

static const struct vram_op_row rows[] = {
    {"Reshape", 1, 1, 1, 1, 1, reshape_attribute, vram_value_copy, "the shape is an attribute"},
    {"Reshape", 5, 2, 2, 1, 1, reshape, vram_value_copy, NULL},
    {"Reshape", 14, 2, 2, 1, 1, reshape, vram_value_copy, "'allowzero'"},
    {"Flatten", 1, 1, 1, 1, 1, flatten, vram_value_copy, NULL},
    {"Squeeze", 1, 1, 1, 1, 1, squeeze_attribute, vram_value_copy, "axes are an attribute"},
    {"Squeeze", 13, 1, 2, 1, 1, squeeze, vram_value_copy, NULL},
    {"Unsqueeze", 1, 1, 1, 1, 1, unsqueeze_attribute, vram_value_copy, "axes are an attribute"},
    {"Unsqueeze", 13, 2, 2, 1, 1, unsqueeze, vram_value_copy, NULL},
    {"Transpose", 1, 1, 1, 1, 1, transpose, value_transpose, NULL},
    {"Expand", 8, 2, 2, 1, 1, expand, value_repeat, NULL},
    {"Tile", 1, 3, 3, 1, 1, tile_1, value_repeat, "one axis"},
    {"Tile", 6, 2, 2, 1, 1, tile, value_repeat, NULL},
    {"DepthToSpace", 1, 1, 1, 1, 1, depth_to_space, NULL, NULL},
    {"SpaceToDepth", 1, 1, 1, 1, 1, space_to_depth, NULL, NULL},
    {"EyeLike", 9, 1, 1, 1, 1, eye_like, NULL, NULL},
};
VRAM_ONNX_FAMILY(shape, "", "shape", rows);
