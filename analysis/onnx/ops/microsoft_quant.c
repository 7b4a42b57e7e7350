/* SPDX-License-Identifier: Apache-2.0
 *
 * com.microsoft: quantised products, convolutions, elementwise operators and formats.
 */
#include "common.h"

/* ---- products with packed weights: N columns of K numbers are attributes ---- */

static int attributes(struct vram_op *op, const char *rows, const char *columns, int64_t *k,
                      int64_t *n)
{
    VRAM_TRY(vram_onnx_need_from(op, rows, 1, k));
    return vram_onnx_need_from(op, columns, 1, n);
}

static int matmul_nbits(struct vram_op *op)
{
    int64_t k, n, block;
    VRAM_TRY(attributes(op, "K", "N", &k, &n));
    VRAM_TRY(vram_onnx_need_from(op, "block_size", 1, &block));
    return vram_onnx_linear(op, op->in[0], k, n);
}

static int matmul_bnb4(struct vram_op *op)
{
    int64_t k, n, block, kind, transposed;
    VRAM_TRY(attributes(op, "K", "N", &k, &n));
    VRAM_TRY(vram_onnx_need_from(op, "block_size", 1, &block));
    VRAM_TRY(vram_op_need_int(op, "quant_type", &kind));
    VRAM_TRY(vram_op_int(op, "transB", 1, &transposed));
    return transposed ? vram_onnx_linear(op, op->in[0], k, n)
                      : vram_onnx_linear(op, op->in[0], n, k);
}

/* The sum before the normalisation is as the data. */
static int matmul_nbits_mlp(struct vram_op *op)
{
    VRAM_TRY(vram_op_out_like(op, 1, op->in[0]->dtype, op->in[0]));
    return matmul_nbits(op);
}

static int matmul_nbits_qkv(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t k, n, kv;
    VRAM_TRY(attributes(op, "K", "Nq", &k, &n));
    VRAM_TRY(vram_onnx_need_from(op, "Nkv", 1, &kv));
    VRAM_TRY(vram_onnx_linear(op, x, k, n));
    if (vram_onnx_ranked(x)) {
        vram_dim *dims = vram_onnx_copy(op, x);
        if (!dims)
            return op->cx->error->code;
        dims[x->rank - 1] = vram_onnx_num(op, kv);
        VRAM_TRY(vram_op_out_dims(op, 1, x->dtype, dims, x->rank));
        VRAM_TRY(vram_op_out_dims(op, 2, x->dtype, dims, x->rank));
    }
    return vram_op_out_like(op, 3, x->dtype, x);
}

/* The weight's shape is an input. */
static int matmul_fpq4(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const int64_t *shape;
    uint32_t n;
    if (vram_op_value_ints(op, op->in[2], &shape, &n) && n == 2 && shape[1] >= 0)
        return vram_onnx_linear(op, x, shape[0], shape[1]);
    return vram_onnx_ranked(x) ? vram_onnx_out_rank(op, 0, x->dtype, x->rank)
                               : vram_op_out(op, 0, x->dtype);
}

/* Weight [N, …]: the output has its rows for columns. */
static int by_weight_rows(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *weight = op->in[1];
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    VRAM_TRY(vram_onnx_rank(op, 1, 2, 2));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[x->rank - 1] = vram_onnx_ranked(weight) ? weight->dims[0] : VRAM_DIM_UNKNOWN;
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

/* ---- products of quantised operands ---- */

static int product(struct vram_op *op, uint32_t b, uint8_t dtype)
{
    const struct vram_onnx_matmul m = {.a = op->in[0], .b = vram_onnx_in(op, b)};
    return vram_onnx_matmul(op, &m, dtype);
}

static int matmul_integer16(struct vram_op *op)
{
    bool bare = op->in[0]->dtype == VRAM_DT_U16 && op->in[1]->dtype == VRAM_DT_U16;
    return product(op, 1, bare ? VRAM_DT_U32 : VRAM_DT_I32);
}

static int integer_to_float(struct vram_op *op)
{
    return product(op, 1, vram_onnx_in_dtype(op, 2));
}
static int dynamic_matmul(struct vram_op *op) { return product(op, 1, op->in[0]->dtype); }
static int qordered_matmul(struct vram_op *op) { return product(op, 2, op->in[0]->dtype); }

/* Full precision when no scale of the output is given. */
static int qgemm(struct vram_op *op)
{
    uint8_t zero = vram_onnx_in_dtype(op, 8);
    return vram_onnx_gemm(op, op->in[0], vram_onnx_in(op, 3), zero ? zero : (uint8_t)VRAM_DT_F32);
}

/* Weight and recurrence are transposed: [directions, hidden, 4·hidden]. */
static int quantized_lstm(struct vram_op *op)
{
    const struct vram_info *r = op->in[2];
    VRAM_TRY(vram_onnx_rank(op, 2, 3, 3));
    return vram_onnx_rnn(op, 3, vram_onnx_ranked(r) ? r->dims[1] : VRAM_DIM_UNKNOWN);
}

/* ---- elementwise: (A, scale, zero point, B, …) ---- */

static int broadcast_at(struct vram_op *op, const uint32_t *places, uint32_t n, uint8_t dtype)
{
    const struct vram_info *in[3] = {NULL, NULL, NULL};
    for (uint32_t i = 0; i < n; i++)
        in[i] = vram_onnx_in(op, places[i]);
    return vram_onnx_broadcast(op, dtype, in, n);
}

static int qlinear_binary(struct vram_op *op)
{
    return broadcast_at(op, (const uint32_t[]){0, 3}, 2, op->in[0]->dtype);
}

static int qlinear_where(struct vram_op *op)
{
    return broadcast_at(op, (const uint32_t[]){0, 1, 4}, 3, vram_onnx_in_dtype(op, 1));
}

static int mul_integer(struct vram_op *op)
{
    return broadcast_at(op, (const uint32_t[]){0, 2}, 2, VRAM_DT_I32);
}

static int qlinear_softmax(struct vram_op *op)
{
    int64_t version;
    VRAM_TRY(vram_op_need_int(op, "opset", &version));
    return vram_onnx_like_axis(op);
}

/* (scale, zero point, then tensor, scale and zero point of each) */
static int qlinear_concat(struct vram_op *op)
{
    int64_t axis;
    VRAM_TRY(vram_op_need_int(op, "axis", &axis));
    if ((op->n_in - 2) % 3)
        return vram_op_fail(op, "%u inputs: not three of each tensor", op->n_in);
    return vram_onnx_concat(op, 2, 3, axis, vram_onnx_in_dtype(op, 1));
}

static int channels_last(struct vram_op *op, bool *last)
{
    int64_t n;
    VRAM_TRY(vram_op_int(op, "channels_last", 0, &n));
    *last = n != 0;
    return 0;
}

static int qlinear_conv(struct vram_op *op)
{
    bool last;
    VRAM_TRY(channels_last(op, &last));
    return vram_onnx_conv(op, op->in[0], vram_onnx_in(op, 3), vram_onnx_in_dtype(op, 7), last);
}

static int qlinear_pool(struct vram_op *op)
{
    bool last;
    VRAM_TRY(channels_last(op, &last));
    return vram_onnx_pool(op, op->in[0], op->in[0]->dtype, last);
}

static int qlinear_global_pool(struct vram_op *op)
{
    bool last;
    VRAM_TRY(channels_last(op, &last));
    return vram_onnx_global_pool(op, op->in[0], op->in[0]->dtype, last);
}

static int qlinear_reduce(struct vram_op *op)
{
    int64_t keep;
    if (!vram_op_has(op, "axes"))
        return vram_op_fail(op, "attribute 'axes' is missing");
    VRAM_TRY(vram_op_need_int(op, "keepdims", &keep));
    return vram_onnx_reduce_attr(op, op->in[0], op->in[0]->dtype);
}

static int reduce_sum_integer(struct vram_op *op)
{
    uint8_t from = op->in[0]->dtype;
    return vram_onnx_reduce_attr(op, op->in[0], from == VRAM_DT_U8 ? VRAM_DT_U32 : VRAM_DT_I32);
}

/* ---- formats ---- */

static int quantize(struct vram_op *op)
{
    uint8_t zero = vram_onnx_in_dtype(op, 2);
    return vram_op_out_like(op, 0, zero ? zero : (uint8_t)VRAM_DT_U8, op->in[0]);
}

static int dequantize(struct vram_op *op)
{
    return vram_op_out_like(op, 0, op->in[1]->dtype, op->in[0]);
}

static int quantize_order(struct vram_op *op)
{
    return vram_op_out_like(op, 0, VRAM_DT_I8, op->in[0]);
}

static int dequantize_order(struct vram_op *op)
{
    uint8_t to;
    VRAM_TRY(vram_onnx_need_dtype(op, "to", &to));
    return vram_op_out_like(op, 0, to, op->in[0]);
}

/* As many bytes as the format makes, with shape and strides of what was packed. */
static int quantize_bfp(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t format;
    vram_dim bytes, rank = VRAM_DIM_UNKNOWN;
    VRAM_TRY(vram_op_need_int(op, "bfp_type", &format));
    if (vram_onnx_ranked(x))
        rank = vram_onnx_num(op, x->rank);
    bytes = vram_op_fresh(op, "bfp", 0, VRAM_DIM_UNKNOWN);
    VRAM_TRY(vram_op_out_dims(op, 1, VRAM_DT_I64, &rank, 1));
    VRAM_TRY(vram_op_out_dims(op, 2, VRAM_DT_I64, &rank, 1));
    return vram_op_out_dims(op, 0, VRAM_DT_U8, &bytes, 1);
}

static int dequantize_bfp(struct vram_op *op)
{
    const vram_dim *shape;
    int64_t format;
    uint32_t n;
    uint8_t dtype;
    VRAM_TRY(vram_op_need_int(op, "bfp_type", &format));
    VRAM_TRY(vram_onnx_dtype_attr(op, "dtype", VRAM_DT_F32, &dtype));
    if (vram_op_value_dims(op, op->in[1], &shape, &n))
        return vram_op_out_dims(op, 0, dtype, shape, n);
    if (vram_onnx_length(op, op->in[1], &n))
        return vram_onnx_out_rank(op, 0, dtype, n);
    return vram_op_out(op, 0, dtype);
}

/* Bytes hold several numbers along the last axis. */
static int gather_quantized(struct vram_op *op)
{
    const struct vram_info *data = op->in[0];
    struct vram_info unpacked = *data;
    int64_t axis, bits;
    VRAM_TRY(vram_op_int(op, "gather_axis", 0, &axis));
    VRAM_TRY(vram_op_int(op, "bits", 4, &bits));
    if (vram_onnx_ranked(data) && data->rank && data->dtype == VRAM_DT_U8) {
        if (bits != 2 && bits != 4 && bits != 8)
            return vram_op_fail(op, "attribute 'bits' is %lld", (long long)bits);
        vram_dim *dims = vram_onnx_copy(op, data), *last;
        if (!dims)
            return op->cx->error->code;
        unpacked.dims = dims;
        last = &dims[data->rank - 1];
        *last = vram_dim_mul(op->dims, *last, vram_onnx_num(op, 8 / bits));
        VRAM_TRY(vram_op_check(op));
    }
    return vram_onnx_gather(op, &unpacked, op->in[1], axis, op->in[2]->dtype);
}

#define LIKE(name, least, most)                                                                    \
    {                                                                                              \
        name, 1, least, most, 1, 1, vram_onnx_like, NULL, NULL                                     \
    }
static const struct vram_op_row rows[] = {
    {"MatMulNBits", 1, 3, 6, 1, 1, matmul_nbits, NULL, NULL},
    {"MatMulBnb4", 1, 3, 3, 1, 1, matmul_bnb4, NULL, NULL},
    {"MatMulNBitsMlp", 1, 1, 9, 1, 2, matmul_nbits_mlp, NULL, NULL},
    {"MatMulNBitsQkv", 1, 1, 12, 3, 4, matmul_nbits_qkv, NULL, NULL},
    {"MatMulFpQ4", 1, 3, 3, 1, 1, matmul_fpq4, NULL, NULL},
    {"MatMulBlockQuantizedFp4Weight", 1, 4, 6, 1, 1, by_weight_rows, NULL, NULL},
    {"MatMulBlockQuantizedFp8Weight", 1, 3, 5, 1, 1, by_weight_rows, NULL, NULL},
    {"MatMulInteger16", 1, 2, 2, 1, 1, matmul_integer16, NULL, NULL},
    {"MatMulIntegerToFloat", 1, 4, 7, 1, 1, integer_to_float, NULL, NULL},
    {"DynamicQuantizeMatMul", 1, 3, 5, 1, 1, dynamic_matmul, NULL, NULL},
    {"QOrderedMatMul", 1, 5, 8, 1, 1, qordered_matmul, NULL, NULL},
    {"QGemm", 1, 6, 9, 1, 1, qgemm, NULL, NULL},
    {"DynamicQuantizeLSTM", 1, 3, 12, 0, 3, quantized_lstm, NULL, NULL},
    {"QLinearAdd", 1, 2, 8, 1, 1, qlinear_binary, NULL, NULL},
    {"QLinearMul", 1, 2, 8, 1, 1, qlinear_binary, NULL, NULL},
    {"QLinearWhere", 1, 9, 9, 1, 1, qlinear_where, NULL, NULL},
    {"MulInteger", 1, 1, 4, 1, 1, mul_integer, NULL, NULL},
    LIKE("QLinearLeakyRelu", 2, 5),
    LIKE("QLinearSigmoid", 2, 5),
    {"QLinearSoftmax", 1, 2, 5, 1, 1, qlinear_softmax, NULL, NULL},
    {"QLinearConcat", 1, 5, VRAM_ONNX_ANY, 1, 1, qlinear_concat, NULL, NULL},
    {"QLinearConv", 1, 8, 9, 1, 1, qlinear_conv, NULL, NULL},
    {"QLinearAveragePool", 1, 2, 5, 1, 1, qlinear_pool, NULL, NULL},
    {"QLinearGlobalAveragePool", 1, 5, 5, 1, 1, qlinear_global_pool, NULL, NULL},
    {"QLinearReduceMean", 1, 2, 5, 1, 1, qlinear_reduce, NULL, NULL},
    {"ReduceSumInteger", 1, 1, 1, 1, 1, reduce_sum_integer, NULL, NULL},
    {"QuantizeLinear", 1, 2, 3, 1, 1, quantize, NULL, NULL},
    {"DequantizeLinear", 1, 2, 3, 1, 1, dequantize, NULL, NULL},
    {"QuantizeWithOrder", 1, 2, 2, 1, 1, quantize_order, NULL, NULL},
    {"DequantizeWithOrder", 1, 2, 2, 1, 1, dequantize_order, NULL, NULL},
    {"QuantizeBFP", 1, 1, 1, 3, 3, quantize_bfp, NULL, "bytes as the format makes"},
    {"DequantizeBFP", 1, 3, 3, 1, 1, dequantize_bfp, NULL, NULL},
    {"GatherBlockQuantized", 1, 3, 4, 1, 1, gather_quantized, NULL, NULL},
};
VRAM_ONNX_FAMILY(microsoft_quant, "com.microsoft", "microsoft_quant", rows);
