/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalisation, softmax and dropout: the output is as the data; statistics beside it.
 */
#include "common.h"

/* Mean, variance and the like: one number for each channel. */
static int channel_outputs(struct vram_op *op, uint32_t first, uint32_t end, uint8_t dtype)
{
    const struct vram_info *x = op->in[0], *scale = vram_onnx_in(op, 1);
    vram_dim c = VRAM_DIM_UNKNOWN;
    if (vram_onnx_ranked(x) && x->rank > 1)
        c = x->dims[1];
    else if (vram_onnx_ranked(scale) && scale->rank == 1)
        c = scale->dims[0];
    for (uint32_t i = first; i < end; i++)
        VRAM_TRY(vram_op_out_dims(op, i, dtype, &c, 1));
    return 0;
}

/* The parameters have as many numbers as the data channels. */
static int channel_inputs(struct vram_op *op, uint32_t n)
{
    const struct vram_info *x = op->in[0];
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    for (uint32_t i = 1; i < n; i++) {
        const struct vram_info *p = vram_onnx_in(op, i);
        vram_dim same;
        VRAM_TRY(vram_onnx_rank(op, i, 1, 1));
        if (vram_onnx_ranked(x) && x->rank > 1 && vram_onnx_ranked(p))
            VRAM_TRY(
                vram_op_same(op, x->dims[1], p->dims[0], "channels of data and parameters", &same));
    }
    return 0;
}

static int batch_norm(struct vram_op *op)
{
    int64_t spatial;
    VRAM_TRY(vram_op_int(op, "spatial", 1, &spatial));
    if (spatial || op->version >= 9)
        VRAM_TRY(channel_inputs(op, 5));
    VRAM_TRY(channel_outputs(op, 1, op->n_out, op->in[0]->dtype));
    return vram_onnx_like(op);
}

static int batch_norm_14(struct vram_op *op)
{
    uint8_t dtype = vram_onnx_in_dtype(op, 3);
    VRAM_TRY(channel_inputs(op, 5));
    VRAM_TRY(channel_outputs(op, 1, op->n_out, dtype ? dtype : op->in[0]->dtype));
    return vram_onnx_like(op);
}

static int instance_norm(struct vram_op *op)
{
    VRAM_TRY(channel_inputs(op, 3));
    return vram_onnx_like(op);
}

static int group_norm(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t groups;
    vram_dim same;
    VRAM_TRY(vram_onnx_need_from(op, "num_groups", 1, &groups));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    if (vram_onnx_ranked(x))
        VRAM_TRY(vram_onnx_divide(op, x->dims[1], vram_onnx_num(op, groups), "channels", &same));
    return vram_onnx_like(op);
}

/* Data dims before the axis, then ones: what the statistics of a layer have. */
static int layer_statistics(struct vram_op *op, uint32_t axis, uint8_t dtype)
{
    const struct vram_info *x = op->in[0];
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = axis; i < x->rank; i++)
        dims[i] = vram_onnx_num(op, 1);
    for (uint32_t i = 1; i < op->n_out; i++)
        VRAM_TRY(vram_op_out_dims(op, i, dtype, dims, x->rank));
    return 0;
}

static int layer_norm(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    uint8_t dtype = VRAM_DT_F32;
    uint32_t axis;
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    if (op->n_out > 1) /* it says nothing else about the outputs, and files have 0 there */
        VRAM_TRY(vram_onnx_dtype_attr(op, "stash_type", VRAM_DT_F32, &dtype));
    for (uint32_t i = 1; i < op->n_out; i++)
        VRAM_TRY(vram_op_out(op, i, dtype));
    if (vram_onnx_ranked(x)) {
        VRAM_TRY(vram_onnx_axis_attr(op, -1, x->rank, &axis));
        VRAM_TRY(layer_statistics(op, axis, dtype));
    }
    return vram_onnx_like(op);
}

/* ONNX Runtime's: a type of the scale that is not the data's gives the output's. */
static int simplified_layer_norm(struct vram_op *op)
{
    uint8_t dtype = vram_onnx_in_dtype(op, 1);
    VRAM_TRY(layer_norm(op));
    return vram_op_out_like(op, 0, dtype ? dtype : op->in[0]->dtype, op->in[0]);
}

static int rms_norm(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *scale = op->in[1];
    uint32_t axis;
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    if (vram_onnx_ranked(x)) {
        VRAM_TRY(vram_onnx_axis_attr(op, -1, x->rank, &axis));
        if (vram_onnx_ranked(scale) && scale->rank > x->rank)
            return vram_op_fail(op, "scale of rank %u for data of rank %u", scale->rank, x->rank);
    }
    return vram_op_out_like(op, 0, scale->dtype ? scale->dtype : x->dtype, x);
}

/* axis in [−rank, rank], where rank means that nothing is normalised */
static int softmax_1(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    uint32_t axis;
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    if (vram_onnx_ranked(x)) {
        int64_t n;
        VRAM_TRY(vram_op_int(op, "axis", 1, &n));
        if (n != (int64_t)x->rank)
            VRAM_TRY(vram_op_axis(op, "axis", n, x->rank, &axis));
    }
    return vram_onnx_like(op);
}

static int softmax_13(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    uint32_t axis;
    if (vram_onnx_ranked(x) && x->rank)
        VRAM_TRY(vram_onnx_axis_attr(op, -1, x->rank, &axis));
    return vram_onnx_like(op);
}

static int mean_variance(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const int64_t *axes;
    uint32_t n;
    VRAM_TRY(vram_op_ints(op, "axes", &axes, &n));
    if (vram_onnx_ranked(x) && axes) {
        bool *set = vram_onnx_flags(op, x->rank);
        if (!set)
            return op->cx->error->code;
        VRAM_TRY(vram_onnx_axes(op, "axes", axes, n, x->rank, set));
    }
    return vram_onnx_like(op);
}

static int lrn(struct vram_op *op)
{
    int64_t size;
    VRAM_TRY(vram_onnx_need_from(op, "size", 1, &size));
    return vram_onnx_like(op);
}

/* ---- dropout: the mask had the data's type, and is boolean since version 10 ---- */

static int dropout(struct vram_op *op)
{
    VRAM_TRY(vram_op_out_like(op, 1, op->version < 10 ? op->in[0]->dtype : (uint8_t)VRAM_DT_BOOL,
                              op->in[0]));
    return vram_onnx_like(op);
}

static const struct vram_op_row rows[] = {
    {"BatchNormalization", 1, 5, 5, 1, 5, batch_norm, NULL, NULL},
    {"BatchNormalization", 7, 5, 5, 1, 5, batch_norm, NULL, "the outputs decide on training"},
    {"BatchNormalization", 9, 5, 5, 1, 5, batch_norm, NULL, "'spatial' is gone"},
    {"BatchNormalization", 14, 5, 5, 1, 3, batch_norm_14, NULL, "running statistics"},
    {"BatchNormalization", 15, 5, 5, 1, 3, batch_norm_14, NULL, "statistics of their own type"},
    {"InstanceNormalization", 1, 3, 3, 1, 1, instance_norm, NULL, NULL},
    {"GroupNormalization", 18, 3, 3, 1, 1, group_norm, NULL, "deprecated: parameters by group"},
    {"GroupNormalization", 21, 3, 3, 1, 1, group_norm, NULL, NULL},
    {"LayerNormalization", 1, 2, 3, 1, 3, layer_norm, NULL, "before 17: ONNX Runtime's"},
    {"LayerNormalization", 17, 2, 3, 1, 3, layer_norm, NULL, NULL},
    {"SimplifiedLayerNormalization", 1, 2, 2, 1, 2, simplified_layer_norm, NULL, "ONNX Runtime's"},
    {"RMSNormalization", 23, 2, 2, 1, 1, rms_norm, NULL, NULL},
    {"LpNormalization", 1, 1, 1, 1, 1, vram_onnx_like_axis, NULL, NULL},
    {"MeanVarianceNormalization", 1, 1, 1, 1, 1, mean_variance, NULL, "before 9: experimental"},
    {"MeanVarianceNormalization", 9, 1, 1, 1, 1, mean_variance, NULL, NULL},
    {"LRN", 1, 1, 1, 1, 1, lrn, NULL, NULL},
    {"Softmax", 1, 1, 1, 1, 1, softmax_1, NULL, "over the axis and all behind it"},
    {"Softmax", 13, 1, 1, 1, 1, softmax_13, NULL, NULL},
    {"LogSoftmax", 1, 1, 1, 1, 1, softmax_1, NULL, "over the axis and all behind it"},
    {"LogSoftmax", 13, 1, 1, 1, 1, softmax_13, NULL, NULL},
    {"Hardmax", 1, 1, 1, 1, 1, softmax_1, NULL, "over the axis and all behind it"},
    {"Hardmax", 13, 1, 1, 1, 1, softmax_13, NULL, NULL},
    {"Dropout", 1, 1, 1, 1, 2, dropout, NULL, NULL},
    {"Dropout", 7, 1, 1, 1, 2, dropout, NULL, "'is_test' is gone"},
    {"Dropout", 10, 1, 1, 1, 2, dropout, NULL, "the mask is boolean"},
    {"Dropout", 12, 1, 3, 1, 2, dropout, NULL, "ratio and training_mode are inputs"},
};
VRAM_ONNX_FAMILY(norm, "", "norm", rows);
