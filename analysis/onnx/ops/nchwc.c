/* SPDX-License-Identifier: Apache-2.0
 *
 * com.microsoft.nchwc: what ONNX Runtime's CPU optimiser makes of convolutions.  Shapes are written
 * as [N, C, H, W] with C rounded up to the processor's block (8 or 16), so that channels of data
 * and weight are not compared; ReorderOutput gives the true number back.
 */
#include "common.h"

static int conv(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *weight = op->in[1];
    struct vram_onnx_window w;
    VRAM_TRY(vram_onnx_rank(op, 0, 4, 4));
    VRAM_TRY(vram_onnx_rank(op, 1, 4, 4));
    if (!vram_onnx_ranked(x) || !vram_onnx_ranked(weight))
        return vram_onnx_out_rank(op, 0, x->dtype, 4);
    VRAM_TRY(vram_onnx_window(op, 2, weight->dims + 2, &w));
    vram_dim dims[4] = {x->dims[0], weight->dims[0], vram_onnx_window_dim(op, &w, 0, x->dims[2]),
                        vram_onnx_window_dim(op, &w, 1, x->dims[3])};
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, 4);
}

static int pool(struct vram_op *op)
{
    return vram_onnx_pool(op, op->in[0], op->in[0]->dtype, false);
}

static int global_pool(struct vram_op *op)
{
    return vram_onnx_global_pool(op, op->in[0], op->in[0]->dtype, false);
}

/* Channels that fill blocks of 16 stay; what others become depends on the processor. */
static vram_dim blocked(struct vram_op *op, vram_dim c)
{
    vram_dim rest = vram_dim_mod(op->dims, c, vram_onnx_num(op, 16));
    return vram_dim_equal(op->dims, rest, vram_onnx_num(op, 0)) == VRAM_TRUE ? c : VRAM_DIM_UNKNOWN;
}

static int reorder_input(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t last;
    VRAM_TRY(vram_op_int(op, "channels_last", 0, &last));
    VRAM_TRY(vram_onnx_rank(op, 0, 4, 4));
    if (!vram_onnx_ranked(x))
        return vram_onnx_out_rank(op, 0, x->dtype, 4);
    vram_dim dims[4] = {x->dims[0], blocked(op, x->dims[last ? 3 : 1]), x->dims[last ? 1 : 2],
                        x->dims[last ? 2 : 3]};
    return vram_op_out_dims(op, 0, x->dtype, dims, 4);
}

static int reorder_output(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t last, channels;
    VRAM_TRY(vram_op_int(op, "channels_last", 0, &last));
    VRAM_TRY(vram_onnx_need_from(op, "channels", 1, &channels));
    VRAM_TRY(vram_onnx_rank(op, 0, 4, 4));
    if (!vram_onnx_ranked(x))
        return vram_onnx_out_rank(op, 0, x->dtype, 4);
    vram_dim c = vram_onnx_num(op, channels);
    vram_dim first[4] = {x->dims[0], c, x->dims[2], x->dims[3]};
    vram_dim behind[4] = {x->dims[0], x->dims[2], x->dims[3], c};
    return vram_op_out_dims(op, 0, x->dtype, last ? behind : first, 4);
}

static int upsample(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const int64_t *scales;
    uint32_t n;
    VRAM_TRY(vram_op_ints(op, "scales", &scales, &n));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (scales && n != x->rank)
        return vram_op_fail(op, "%u scales for rank %u", n, x->rank);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; scales && i < n; i++)
        dims[i] = vram_dim_mul(op->dims, dims[i], vram_onnx_num(op, scales[i]));
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static const struct vram_op_row rows[] = {
    {"Conv", 1, 2, 4, 1, 1, conv, NULL, NULL},
    {"MaxPool", 1, 1, 1, 1, 1, pool, NULL, NULL},
    {"AveragePool", 1, 1, 1, 1, 1, pool, NULL, NULL},
    {"GlobalMaxPool", 1, 1, 1, 1, 1, global_pool, NULL, NULL},
    {"GlobalAveragePool", 1, 1, 1, 1, 1, global_pool, NULL, NULL},
    {"ReorderInput", 1, 1, 1, 1, 1, reorder_input, NULL, "channels rounded up to a block"},
    {"ReorderOutput", 1, 1, 1, 1, 1, reorder_output, NULL, NULL},
    {"Upsample", 1, 1, 1, 1, 1, upsample, NULL, NULL},
};
VRAM_ONNX_FAMILY(nchwc, "com.microsoft.nchwc", "nchwc", rows);
