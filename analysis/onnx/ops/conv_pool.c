/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions and pooling: a window that moves over the spatial axes.
 */
#include <string.h>

#include "common.h"

/* ---- the window ---- */

/* A list attribute with one number for each axis (or two, of pads), all at least `low`. */
static int per_axis(struct vram_op *op, const char *name, uint32_t n, int64_t low,
                    const int64_t **out)
{
    uint32_t given;
    VRAM_TRY(vram_op_ints(op, name, out, &given));
    if (!*out || given == 0) {
        *out = NULL;
        return 0;
    }
    if (given != n)
        return vram_op_fail(op, "attribute '%s' has %u numbers instead of %u", name, given, n);
    for (uint32_t i = 0; i < n; i++)
        if ((*out)[i] < low)
            return vram_op_fail(op, "attribute '%s' has %lld, which is below %lld", name,
                                (long long)(*out)[i], (long long)low);
    return 0;
}

static int auto_pad(struct vram_op *op, struct vram_onnx_window *w)
{
    const char *pad;
    VRAM_TRY(vram_op_string(op, "auto_pad", "NOTSET", &pad));
    w->same = !strcmp(pad, "SAME_UPPER") || !strcmp(pad, "SAME_LOWER");
    if (w->same || !strcmp(pad, "VALID"))
        w->pads = NULL;
    else if (strcmp(pad, "NOTSET") != 0 && pad[0])
        return vram_op_fail(op, "attribute 'auto_pad' is none of NOTSET, SAME_UPPER, SAME_LOWER, "
                                "VALID");
    return 0;
}

int vram_onnx_window(struct vram_op *op, uint32_t spatial, const vram_dim *kernel,
                     struct vram_onnx_window *w)
{
    const int64_t *sizes;
    int64_t ceil;
    if (spatial > UINT32_MAX / 2)
        return vram_op_fail(op, "too many axes");
    w->spatial = spatial;
    VRAM_TRY(per_axis(op, "kernel_shape", spatial, 1, &sizes));
    VRAM_TRY(per_axis(op, "strides", spatial, 1, &w->strides));
    VRAM_TRY(per_axis(op, "dilations", spatial, 1, &w->dilations));
    VRAM_TRY(per_axis(op, "pads", spatial * 2, 0, &w->pads));
    VRAM_TRY(vram_op_int(op, "ceil_mode", 0, &ceil));
    w->ceil = ceil != 0;
    VRAM_TRY(auto_pad(op, w));
    if (!kernel && !sizes && spatial)
        return vram_op_fail(op, "attribute 'kernel_shape' is missing");
    if (!(w->kernel = vram_op_dims(op, spatial)))
        return op->cx->error->code;
    for (uint32_t i = 0; i < spatial; i++) {
        w->kernel[i] = sizes ? vram_onnx_num(op, sizes[i]) : kernel[i];
        if (sizes && kernel)
            VRAM_TRY(vram_op_same(op, w->kernel[i], kernel[i], "'kernel_shape' and the weight",
                                  &w->kernel[i]));
    }
    return 0;
}

/* Places that the dilated kernel covers. */
static vram_dim covered(struct vram_op *op, const struct vram_onnx_window *w, uint32_t i)
{
    vram_dim one = vram_onnx_num(op, 1);
    vram_dim step = vram_onnx_num(op, w->dilations ? w->dilations[i] : 1);
    return vram_dim_add(
        op->dims, vram_dim_mul(op->dims, step, vram_dim_sub(op->dims, w->kernel[i], one)), one);
}

/* In ceil mode the last window has to begin within the data or the padding before it. */
static vram_dim ceil_dim(struct vram_op *op, const struct vram_onnx_window *w, uint32_t i,
                         vram_dim in, vram_dim room, vram_dim stride)
{
    struct vram_dims *d = op->dims;
    vram_dim begin = vram_onnx_num(op, w->pads ? w->pads[i] : 0);
    vram_dim end = vram_onnx_num(op, w->pads ? w->pads[w->spatial + i] : 0);
    vram_dim most = vram_dim_add(d, vram_dim_ceildiv(d, room, stride), vram_onnx_num(op, 1));
    if (vram_dim_less(d, covered(op, w, i), vram_dim_add(d, end, stride)) == VRAM_FALSE)
        return most;
    return vram_dim_min(d, most, vram_dim_ceildiv(d, vram_dim_add(d, in, begin), stride));
}

vram_dim vram_onnx_window_dim(struct vram_op *op, const struct vram_onnx_window *w, uint32_t i,
                              vram_dim in)
{
    struct vram_dims *d = op->dims;
    vram_dim stride = vram_onnx_num(op, w->strides ? w->strides[i] : 1);
    if (w->same)
        return vram_dim_ceildiv(d, in, stride);
    vram_dim room = in;
    if (w->pads)
        room = vram_dim_add(d, room,
                            vram_dim_add(d, vram_onnx_num(op, w->pads[i]),
                                         vram_onnx_num(op, w->pads[w->spatial + i])));
    room = vram_dim_sub(d, room, covered(op, w, i));
    if (w->ceil)
        return ceil_dim(op, w, i, in, room, stride);
    return vram_dim_add(d, vram_dim_floordiv(d, room, stride), vram_onnx_num(op, 1));
}

/* ---- convolutions ---- */

/* The channels of data and weight agree. */
static int channels(struct vram_op *op, vram_dim data, const struct vram_info *weight,
                    int64_t group)
{
    vram_dim same;
    int64_t out;
    if (vram_dim_is_int(op->dims, weight->dims[0], &out) && out % group != 0)
        return vram_op_fail(op, "%lld channels in %lld groups", (long long)out, (long long)group);
    return vram_op_same(op, data, vram_dim_mul(op->dims, weight->dims[1], vram_onnx_num(op, group)),
                        "channels of data and weight", &same);
}

int vram_onnx_conv(struct vram_op *op, const struct vram_info *x, const struct vram_info *weight,
                   uint8_t dtype, bool channels_last)
{
    struct vram_onnx_window w;
    int64_t group;
    VRAM_TRY(vram_onnx_int_from(op, "group", 1, 1, &group));
    if (!vram_onnx_ranked(x) && !vram_onnx_ranked(weight))
        return vram_op_out(op, 0, dtype);
    uint32_t rank = vram_onnx_ranked(x) ? x->rank : weight->rank;
    if (rank < 3 || (vram_onnx_ranked(weight) && weight->rank != rank))
        return vram_op_fail(op, "data of rank %u and weight of rank %u", rank,
                            vram_onnx_ranked(weight) ? weight->rank : rank);
    vram_dim *dims = vram_op_dims(op, rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = VRAM_DIM_UNKNOWN;
    uint32_t channel = channels_last ? rank - 1 : 1, first = channels_last ? 1 : 2;
    if (vram_onnx_ranked(weight))
        dims[channel] = weight->dims[0];
    if (vram_onnx_ranked(x)) {
        dims[0] = x->dims[0];
        if (vram_onnx_ranked(weight))
            VRAM_TRY(channels(op, x->dims[channel], weight, group));
        else if (!vram_op_has(op, "kernel_shape"))
            return vram_op_out_dims(op, 0, dtype, dims, rank);
        VRAM_TRY(
            vram_onnx_window(op, rank - 2, vram_onnx_ranked(weight) ? weight->dims + 2 : NULL, &w));
        for (uint32_t i = 0; i < rank - 2; i++)
            dims[first + i] = vram_onnx_window_dim(op, &w, i, x->dims[first + i]);
    }
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, dtype, dims, rank);
}

static int conv(struct vram_op *op)
{
    return vram_onnx_conv(op, op->in[0], op->in[1], op->in[0]->dtype, false);
}

static int conv_integer(struct vram_op *op)
{
    return vram_onnx_conv(op, op->in[0], op->in[1], VRAM_DT_I32, false);
}

static int qlinear_conv(struct vram_op *op)
{
    return vram_onnx_conv(op, op->in[0], vram_onnx_in(op, 3), vram_onnx_in_dtype(op, 7), false);
}

static int deform_conv(struct vram_op *op)
{
    int64_t groups;
    VRAM_TRY(vram_onnx_int_from(op, "offset_group", 1, 1, &groups));
    return conv(op);
}

/* Size of axis i of a transposed convolution. */
static int transposed_dim(struct vram_op *op, const struct vram_onnx_window *w, uint32_t i,
                          vram_dim in, const int64_t *extra, const vram_dim *pads, vram_dim *out)
{
    struct vram_dims *d = op->dims;
    vram_dim stride = vram_onnx_num(op, w->strides ? w->strides[i] : 1);
    if (w->same) {
        *out = vram_dim_mul(d, in, stride);
        return 0;
    }
    vram_dim size = vram_dim_mul(d, stride, vram_dim_sub(d, in, vram_onnx_num(op, 1)));
    size = vram_dim_add(d, size, covered(op, w, i));
    size = vram_dim_add(d, size, vram_onnx_num(op, extra ? extra[i] : 0));
    for (uint32_t end = 0; end < 2; end++) {
        uint32_t k = end * w->spatial + i;
        size = vram_dim_sub(d, size, pads ? pads[k] : vram_onnx_num(op, w->pads ? w->pads[k] : 0));
    }
    *out = size;
    return 0;
}

/* pads: an input instead of the attribute, or NULL */
int vram_onnx_conv_transpose(struct vram_op *op, const struct vram_info *pads)
{
    const struct vram_info *x = op->in[0], *weight = op->in[1];
    const int64_t *extra, *shape;
    const vram_dim *given = NULL;
    struct vram_onnx_window w;
    int64_t group;
    uint32_t n_shape, n_given;
    vram_dim same;
    VRAM_TRY(vram_onnx_int_from(op, "group", 1, 1, &group));
    if (!vram_onnx_ranked(x) || !vram_onnx_ranked(weight))
        return vram_op_out(op, 0, x->dtype);
    if (x->rank < 3 || weight->rank != x->rank)
        return vram_op_fail(op, "data of rank %u and weight of rank %u", x->rank, weight->rank);
    uint32_t n = x->rank - 2;
    VRAM_TRY(vram_op_same(op, x->dims[1], weight->dims[0], "channels of data and weight", &same));
    VRAM_TRY(vram_onnx_window(op, n, weight->dims + 2, &w));
    VRAM_TRY(per_axis(op, "output_padding", n, 0, &extra));
    VRAM_TRY(vram_op_ints(op, "output_shape", &shape, &n_shape));
    if (shape && n_shape != n && n_shape != n + 2)
        return vram_op_fail(op, "attribute 'output_shape' has %u numbers instead of %u", n_shape,
                            n);
    vram_dim *dims = vram_op_dims(op, x->rank);
    if (!dims)
        return op->cx->error->code;
    dims[0] = x->dims[0];
    dims[1] = vram_dim_mul(op->dims, weight->dims[1], vram_onnx_num(op, group));
    if (pads && (!vram_op_value_dims(op, pads, &given, &n_given) || n_given != 2 * n)) {
        for (uint32_t i = 0; i < n; i++)
            dims[2 + i] = VRAM_DIM_UNKNOWN;
        return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (shape)
            dims[2 + i] = vram_onnx_num(op, shape[n_shape - n + i]);
        else
            VRAM_TRY(transposed_dim(op, &w, i, x->dims[2 + i], extra, given, &dims[2 + i]));
    }
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int conv_transpose(struct vram_op *op) { return vram_onnx_conv_transpose(op, NULL); }

/* [N, C·∏block, L] becomes [N, C, image…] */
static int col2im(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const vram_dim *image, *block;
    uint32_t n = 0, n_block;
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    if (!vram_op_value_dims(op, op->in[1], &image, &n)) {
        if (vram_onnx_length(op, op->in[1], &n) && n < VRAM_VALUE_ELEMENTS)
            return vram_onnx_out_rank(op, 0, x->dtype, n + 2);
        return vram_op_out(op, 0, x->dtype);
    }
    vram_dim *dims = vram_op_dims(op, n + 2);
    if (!dims)
        return op->cx->error->code;
    dims[0] = dims[1] = VRAM_DIM_UNKNOWN;
    if (vram_onnx_ranked(x))
        dims[0] = x->dims[0];
    if (vram_op_value_dims(op, op->in[2], &block, &n_block)) {
        if (n_block != n)
            return vram_op_fail(op, "image of %u axes and block of %u", n, n_block);
        if (vram_onnx_ranked(x))
            VRAM_TRY(vram_onnx_divide(op, x->dims[1], vram_op_product(op, block, 0, n), "channels",
                                      &dims[1]));
    }
    for (uint32_t i = 0; i < n; i++)
        dims[2 + i] = image[i];
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, n + 2);
}

/* The state holds the last k − 1 positions. */
static int causal_conv(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *weight = op->in[1];
    vram_dim same, state[3] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    VRAM_TRY(vram_onnx_rank(op, 1, 3, 3));
    if (vram_onnx_ranked(x))
        memcpy(state, x->dims, 2 * sizeof *state);
    if (vram_onnx_ranked(weight)) {
        VRAM_TRY(vram_op_same(op, state[1], weight->dims[0], "channels of data and weight", &same));
        state[2] = vram_dim_sub(op->dims, weight->dims[2], vram_onnx_num(op, 1));
    }
    VRAM_TRY(vram_op_out_dims(op, 1, x->dtype, state, 3));
    return vram_onnx_like(op);
}

/* ---- pooling ---- */

int vram_onnx_pool(struct vram_op *op, const struct vram_info *x, uint8_t dtype, bool channels_last)
{
    struct vram_onnx_window w;
    uint32_t first = channels_last ? 1 : 2;
    if (!vram_op_has(op, "kernel_shape"))
        return vram_op_fail(op, "attribute 'kernel_shape' is missing");
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, dtype);
    if (x->rank < 3)
        return vram_op_fail(op, "data of rank %u", x->rank);
    VRAM_TRY(vram_onnx_window(op, x->rank - 2, NULL, &w));
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < w.spatial; i++)
        dims[first + i] = vram_onnx_window_dim(op, &w, i, x->dims[first + i]);
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, dtype, dims, x->rank);
}

static int pool(struct vram_op *op)
{
    return vram_onnx_pool(op, op->in[0], op->in[0]->dtype, false);
}

/* LpPool 1 could leave the kernel out: the whole data then. */
static int lp_pool_1(struct vram_op *op)
{
    return vram_op_has(op, "kernel_shape")
               ? pool(op)
               : vram_onnx_global_pool(op, op->in[0], op->in[0]->dtype, false);
}

static int max_pool(struct vram_op *op)
{
    VRAM_TRY(pool(op));
    return vram_op_out_like(op, 1, VRAM_DT_I64, &op->out[0]);
}

int vram_onnx_global_pool(struct vram_op *op, const struct vram_info *x, uint8_t dtype,
                          bool channels_last)
{
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, dtype);
    if (x->rank < 2)
        return vram_op_fail(op, "data of rank %u", x->rank);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = channels_last ? 1 : 2; i < x->rank - (channels_last ? 1 : 0); i++)
        dims[i] = vram_onnx_num(op, 1);
    return vram_op_out_dims(op, 0, dtype, dims, x->rank);
}

static int global_pool(struct vram_op *op)
{
    return vram_onnx_global_pool(op, op->in[0], op->in[0]->dtype, false);
}

/* What pooling with the same window would have read, unless the shape is said. */
static int max_unpool(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *shape = vram_onnx_in(op, 2);
    struct vram_onnx_window w;
    const vram_dim *given;
    uint32_t n;
    if (!vram_op_has(op, "kernel_shape"))
        return vram_op_fail(op, "attribute 'kernel_shape' is missing");
    if (shape) {
        if (vram_op_value_dims(op, shape, &given, &n))
            return vram_op_out_dims(op, 0, x->dtype, given, n);
        return vram_onnx_ranked(x) ? vram_onnx_out_rank(op, 0, x->dtype, x->rank)
                                   : vram_op_out(op, 0, x->dtype);
    }
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (x->rank < 3)
        return vram_op_fail(op, "data of rank %u", x->rank);
    VRAM_TRY(vram_onnx_window(op, x->rank - 2, NULL, &w));
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < w.spatial; i++)
        VRAM_TRY(transposed_dim(op, &w, i, x->dims[2 + i], NULL, NULL, &dims[2 + i]));
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static const struct vram_op_row rows[] = {
    {"Conv", 1, 2, 3, 1, 1, conv, NULL, NULL},
    {"ConvInteger", 10, 2, 4, 1, 1, conv_integer, NULL, NULL},
    {"QLinearConv", 10, 8, 9, 1, 1, qlinear_conv, NULL, NULL},
    {"DeformConv", 19, 3, 5, 1, 1, deform_conv, NULL, NULL},
    {"ConvTranspose", 1, 2, 3, 1, 1, conv_transpose, NULL, NULL},
    {"Col2Im", 18, 3, 3, 1, 1, col2im, NULL, NULL},
    {"CausalConvWithState", 27, 2, 4, 2, 2, causal_conv, NULL, NULL},
    {"AveragePool", 1, 1, 1, 1, 1, pool, NULL, NULL},
    {"MaxPool", 1, 1, 1, 1, 1, pool, NULL, NULL},
    {"MaxPool", 8, 1, 1, 1, 2, max_pool, NULL, "second output: indices"},
    {"LpPool", 1, 1, 1, 1, 1, lp_pool_1, NULL, NULL},
    {"LpPool", 2, 1, 1, 1, 1, pool, NULL, "the kernel's shape is required"},
    {"GlobalAveragePool", 1, 1, 1, 1, 1, global_pool, NULL, NULL},
    {"GlobalLpPool", 1, 1, 1, 1, 1, global_pool, NULL, NULL},
    {"GlobalMaxPool", 1, 1, 1, 1, 1, global_pool, NULL, NULL},
    {"MaxUnpool", 9, 2, 3, 1, 1, max_unpool, NULL, NULL},
};
VRAM_ONNX_FAMILY(conv_pool, "", "conv_pool", rows);
