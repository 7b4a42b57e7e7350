/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantisation: the shape stays, the type is that of the zero point, the scale, or said.
 */
#include "common.h"

/* A scale for each place of the axis, or for each block of it. */
static int check_axis(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *scale = op->in[1];
    uint32_t axis;
    vram_dim same;
    int64_t block;
    VRAM_TRY(vram_onnx_int_from(op, "block_size", 0, 0, &block));
    if (op->version < 13 || block || !vram_onnx_ranked(x) || !vram_onnx_ranked(scale) ||
        scale->rank != 1 || x->rank < 1)
        return 0;
    vram_dim one = vram_onnx_num(op, 1);
    if (vram_dim_equal(op->dims, scale->dims[0], one) == VRAM_TRUE)
        return 0;
    VRAM_TRY(vram_onnx_axis_attr(op, 1, x->rank, &axis));
    return vram_op_same(op, x->dims[axis], scale->dims[0], "the axis and its scales", &same);
}

static int quantize(struct vram_op *op)
{
    uint8_t dtype, zero = vram_onnx_in_dtype(op, 2);
    VRAM_TRY(vram_onnx_dtype_attr(op, "output_dtype", zero ? zero : (uint8_t)VRAM_DT_U8, &dtype));
    VRAM_TRY(check_axis(op));
    return vram_op_out_like(op, 0, dtype, op->in[0]);
}

static int dequantize_f32(struct vram_op *op)
{
    VRAM_TRY(check_axis(op));
    return vram_onnx_like_f32(op);
}

static int dequantize(struct vram_op *op)
{
    uint8_t dtype;
    VRAM_TRY(vram_onnx_dtype_attr(op, "output_dtype", op->in[1]->dtype, &dtype));
    VRAM_TRY(check_axis(op));
    return vram_op_out_like(op, 0, dtype, op->in[0]);
}

static int dynamic_quantize(struct vram_op *op)
{
    VRAM_TRY(vram_op_out_like(op, 0, VRAM_DT_U8, op->in[0]));
    VRAM_TRY(vram_op_out_scalar(op, 1, VRAM_DT_F32));
    return vram_op_out_scalar(op, 2, VRAM_DT_U8);
}

static const struct vram_op_row rows[] = {
    {"QuantizeLinear", 10, 2, 3, 1, 1, quantize, NULL, NULL},
    {"QuantizeLinear", 13, 2, 3, 1, 1, quantize, NULL, "'axis'"},
    {"QuantizeLinear", 21, 2, 3, 1, 1, quantize, NULL, "'block_size', 'output_dtype'"},
    {"DequantizeLinear", 10, 2, 3, 1, 1, dequantize_f32, NULL, NULL},
    {"DequantizeLinear", 13, 2, 3, 1, 1, dequantize_f32, NULL, "'axis'"},
    {"DequantizeLinear", 19, 2, 3, 1, 1, dequantize, NULL, "type of the scale"},
    {"DequantizeLinear", 23, 2, 3, 1, 1, dequantize, NULL, "'output_dtype'"},
    {"DynamicQuantizeLinear", 11, 1, 1, 3, 3, dynamic_quantize, NULL, NULL},
};
VRAM_ONNX_FAMILY(quant, "", "quant", rows);
