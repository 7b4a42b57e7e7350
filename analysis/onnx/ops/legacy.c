/* SPDX-License-Identifier: Apache-2.0
 *
 * Experimental operators that ai.onnx dropped (removed between versions 5 and 10), which old files
 * still have.
 */
#include "common.h"

/* Attribute shape with extra_shape behind it; or an input, its values or its own shape. */
static int constant_fill(struct vram_op *op)
{
    const struct vram_info *x = vram_onnx_in(op, 0);
    const int64_t *shape, *extra;
    const vram_dim *first = NULL;
    uint32_t n, n_extra, rank;
    int64_t as_shape;
    uint8_t dtype;
    VRAM_TRY(vram_onnx_dtype_attr(op, "dtype", VRAM_DT_F32, &dtype));
    VRAM_TRY(vram_op_int(op, "input_as_shape", 0, &as_shape));
    VRAM_TRY(vram_op_ints(op, "shape", &shape, &n));
    VRAM_TRY(vram_op_ints(op, "extra_shape", &extra, &n_extra));
    rank = n;
    if (x && as_shape) {
        if (!vram_op_value_dims(op, x, &first, &rank))
            return vram_op_out(op, 0, dtype);
    } else if (x) {
        if (!vram_onnx_ranked(x))
            return vram_op_out(op, 0, dtype);
        first = x->dims;
        rank = x->rank;
    }
    vram_dim *dims = vram_op_dims(op, rank + n_extra);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = first ? first[i] : vram_onnx_num(op, shape[i]);
    for (uint32_t i = 0; i < n_extra; i++)
        dims[rank + i] = vram_onnx_num(op, extra[i]);
    return vram_op_out_dims(op, 0, dtype, dims, rank + n_extra);
}

/* [N, C, H, W] without a border (left, top, right, bottom), or of the size `scale`. */
static int crop(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const int64_t *border, *size;
    uint32_t n, n_size;
    VRAM_TRY(vram_op_ints(op, "border", &border, &n));
    VRAM_TRY(vram_op_ints(op, "scale", &size, &n_size));
    VRAM_TRY(vram_onnx_rank(op, 0, 4, 4));
    if (!border || n != 4 || (size && n_size != 2))
        return vram_op_fail(op, "attribute '%s' is not %d sizes",
                            border && n == 4 ? "scale" : "border", border && n == 4 ? 2 : 4);
    if (!vram_onnx_ranked(x))
        return vram_onnx_out_rank(op, 0, x->dtype, 4);
    vram_dim dims[4] = {x->dims[0], x->dims[1]};
    for (uint32_t i = 0; i < 2; i++) {
        vram_dim out = vram_dim_add(op->dims, vram_onnx_num(op, border[1 - i]),
                                    vram_onnx_num(op, border[3 - i]));
        dims[2 + i] =
            size ? vram_onnx_num(op, size[i]) : vram_dim_sub(op->dims, x->dims[2 + i], out);
    }
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, 4);
}

/* A call into PyTorch: its operator is a word, and its result is not said. */
static int aten(struct vram_op *op)
{
    (void)op;
    return 0;
}

#define LIKE(name, least, most)                                                                    \
    {                                                                                              \
        name, 1, least, most, 1, 1, vram_onnx_like, NULL, "experimental, dropped"                  \
    }
static const struct vram_op_row rows[] = {
    LIKE("Affine", 1, 1),
    LIKE("ImageScaler", 1, 1),
    LIKE("ParametricSoftplus", 1, 1),
    LIKE("Scale", 1, 1),
    LIKE("ScaledTanh", 1, 1),
    LIKE("ThresholdedRelu", 1, 1),
    LIKE("GRUUnit", 4, 4),
    {"ConstantFill", 1, 0, 1, 1, 1, constant_fill, NULL, "experimental, dropped"},
    {"Crop", 1, 1, 1, 1, 1, crop, NULL, "experimental, dropped"},
    {"ATen", 1, 0, VRAM_ONNX_ANY, 1, VRAM_ONNX_ANY, aten, NULL, "a call into PyTorch"},
};
VRAM_ONNX_FAMILY(legacy, "", "legacy", rows);
