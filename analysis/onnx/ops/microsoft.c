/* SPDX-License-Identifier: Apache-2.0
 *
 * com.microsoft: fused products and convolutions, and operators that have no family of their own.
 */
#include "common.h"

/* ---- products ---- */

static int fused_matmul(struct vram_op *op)
{
    int64_t trans_a, trans_b, batch_a, batch_b;
    VRAM_TRY(vram_op_int(op, "transA", 0, &trans_a));
    VRAM_TRY(vram_op_int(op, "transB", 0, &trans_b));
    VRAM_TRY(vram_op_int(op, "transBatchA", 0, &batch_a));
    VRAM_TRY(vram_op_int(op, "transBatchB", 0, &batch_b));
    const struct vram_onnx_matmul m = {.a = op->in[0],
                                       .b = op->in[1],
                                       .trans_a = trans_a != 0,
                                       .trans_b = trans_b != 0,
                                       .batch_a = batch_a != 0,
                                       .batch_b = batch_b != 0};
    return vram_onnx_matmul(op, &m, op->in[1]->dtype);
}

static int fused_matmul_activation(struct vram_op *op)
{
    const char *activation;
    VRAM_TRY(vram_onnx_need_string(op, "activation", &activation));
    return fused_matmul(op);
}

static int fused_gemm(struct vram_op *op)
{
    return vram_onnx_gemm(op, op->in[0], op->in[1], op->in[0]->dtype);
}

static int gemm_float8(struct vram_op *op)
{
    uint8_t dtype;
    VRAM_TRY(vram_onnx_dtype_attr(op, "dtype", VRAM_DT_F32, &dtype));
    return vram_onnx_gemm(op, op->in[0], op->in[1], dtype);
}

/* Distances between the rows of [M, N] and [K, N] */
static int cdist(struct vram_op *op)
{
    const struct vram_info *a = op->in[0], *b = op->in[1];
    vram_dim dims[2] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN}, same;
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    VRAM_TRY(vram_onnx_rank(op, 1, 2, 2));
    if (vram_onnx_ranked(a))
        dims[0] = a->dims[0];
    if (vram_onnx_ranked(b))
        dims[1] = b->dims[0];
    if (vram_onnx_ranked(a) && vram_onnx_ranked(b))
        VRAM_TRY(vram_op_same(op, a->dims[1], b->dims[1], "columns of the matrices", &same));
    return vram_op_out_dims(op, 0, a->dtype, dims, 2);
}

/* ---- convolutions and pooling ---- */

static int conv(struct vram_op *op)
{
    return vram_onnx_conv(op, op->in[0], op->in[1], op->in[0]->dtype, false);
}
static int nhwc_conv(struct vram_op *op)
{
    return vram_onnx_conv(op, op->in[0], op->in[1], op->in[0]->dtype, true);
}
static int pool(struct vram_op *op)
{
    return vram_onnx_pool(op, op->in[0], op->in[0]->dtype, false);
}
static int nhwc_pool(struct vram_op *op)
{
    return vram_onnx_pool(op, op->in[0], op->in[0]->dtype, true);
}
static int conv_transpose(struct vram_op *op)
{
    return vram_onnx_conv_transpose(op, vram_onnx_in(op, 2));
}

/* [boxes, C, height, width] of the crop size */
static int crop_and_resize(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *boxes = op->in[1];
    const vram_dim *size;
    uint32_t n;
    vram_dim dims[4] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    VRAM_TRY(vram_onnx_rank(op, 0, 4, 4));
    VRAM_TRY(vram_onnx_rank(op, 1, 2, 2));
    if (vram_onnx_ranked(boxes))
        dims[0] = boxes->dims[0];
    if (vram_onnx_ranked(x))
        dims[1] = x->dims[1];
    if (vram_op_value_dims(op, op->in[3], &size, &n) && n == 2) {
        dims[2] = size[0];
        dims[3] = size[1];
    }
    return vram_op_out_dims(op, 0, x->dtype, dims, 4);
}

/* [N, C, …] sampled at [N, …, 2] */
static int grid_sample(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *grid = op->in[1];
    vram_dim dims[4] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    VRAM_TRY(vram_onnx_rank(op, 0, 4, 4));
    VRAM_TRY(vram_onnx_rank(op, 1, 4, 4));
    for (uint32_t i = 0; i < 2 && vram_onnx_ranked(x); i++)
        dims[i] = x->dims[i];
    for (uint32_t i = 0; i < 2 && vram_onnx_ranked(grid); i++)
        dims[2 + i] = grid->dims[1 + i];
    return vram_op_out_dims(op, 0, x->dtype, dims, 4);
}

/* ---- shapes ---- */

static int pad(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const vram_dim *pads;
    uint32_t n;
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (!vram_op_value_dims(op, op->in[1], &pads, &n))
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank);
    if (n % 2 || n / 2 != x->rank)
        return vram_op_fail(op, "%u pads for rank %u", n, x->rank);
    return vram_onnx_pad(op, x, pads, NULL, n / 2);
}

static int expand_dims(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t n;
    uint32_t axis;
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (!vram_op_value_int(op, op->in[1], &n))
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank + 1);
    VRAM_TRY(vram_op_axis(op, "axis", n, x->rank + 1, &axis));
    vram_dim *dims = vram_op_dims(op, x->rank + 1);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0, k = 0; i <= x->rank; i++)
        dims[i] = i == axis ? vram_onnx_num(op, 1) : x->dims[k++];
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank + 1);
}

/* Windows of `size` every `step` along an axis become an axis of their own at the end. */
static int unfold(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t dim, size, step;
    uint32_t axis;
    VRAM_TRY(vram_op_int(op, "dim", -1, &dim));
    VRAM_TRY(vram_onnx_need_from(op, "size", 1, &size));
    VRAM_TRY(vram_onnx_int_from(op, "step", 1, 1, &step));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    VRAM_TRY(vram_op_axis(op, "dim", dim, x->rank, &axis));
    vram_dim *dims = vram_op_dims(op, x->rank + 1);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i] = x->dims[i];
    dims[x->rank] = vram_onnx_num(op, size);
    dims[axis] =
        vram_dim_add(op->dims,
                     vram_dim_floordiv(op->dims, vram_dim_sub(op->dims, dims[axis], dims[x->rank]),
                                       vram_onnx_num(op, step)),
                     vram_onnx_num(op, 1));
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank + 1);
}

static int trilu(struct vram_op *op)
{
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    return vram_onnx_like(op);
}

static int range(struct vram_op *op) { return vram_onnx_range(op, vram_onnx_in(op, 2)); }

static int embedding(struct vram_op *op)
{
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    return vram_onnx_gather(op, op->in[0], op->in[1], 0, op->in[0]->dtype);
}

static int gather_nd(struct vram_op *op)
{
    const struct vram_info *data = op->in[0], *indices = op->in[1];
    int64_t n;
    uint32_t rank = 0;
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    VRAM_TRY(vram_onnx_rank(op, 1, 1, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(data) || !vram_onnx_ranked(indices) ||
        !vram_dim_is_int(op->dims, indices->dims[indices->rank - 1], &n))
        return vram_op_out(op, 0, data->dtype);
    if (n < 1 || n > (int64_t)data->rank)
        return vram_op_fail(op, "%lld coordinates for rank %u", (long long)n, data->rank);
    vram_dim *dims = vram_op_dims(op, data->rank + indices->rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i + 1 < indices->rank; i++)
        dims[rank++] = indices->dims[i];
    for (uint32_t i = (uint32_t)n; i < data->rank; i++)
        dims[rank++] = data->dims[i];
    return vram_op_out_dims(op, 0, data->dtype, dims, rank);
}

/* ---- spectra: the last signal_ndim axes ---- */

static int rfft(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    vram_dim *dims = vram_op_dims(op, x->rank + 1);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i] = x->dims[i];
    dims[x->rank - 1] =
        vram_dim_add(op->dims, vram_dim_floordiv(op->dims, dims[x->rank - 1], vram_onnx_num(op, 2)),
                     vram_onnx_num(op, 1));
    dims[x->rank] = vram_onnx_num(op, 2);
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank + 1);
}

static int irfft(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t n;
    VRAM_TRY(vram_onnx_need_from(op, "signal_ndim", 1, &n));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[x->rank - 2] =
        vram_dim_mul(op->dims, vram_onnx_num(op, 2),
                     vram_dim_sub(op->dims, dims[x->rank - 2], vram_onnx_num(op, 1)));
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank - 1);
}

/* ---- text and tokens ---- */

static int murmur(struct vram_op *op)
{
    int64_t positive;
    VRAM_TRY(vram_op_int(op, "positive", 1, &positive));
    return vram_op_out_like(op, 0, positive ? VRAM_DT_U32 : VRAM_DT_I32, op->in[0]);
}

static int ngram_repeat(struct vram_op *op)
{
    int64_t size;
    VRAM_TRY(vram_onnx_need_from(op, "ngram_size", 1, &size));
    return vram_op_out_like(op, 0, op->in[1]->dtype, op->in[1]);
}

/* ids […] give […, (orders − 1)·heads]; what is kept is [batch, orders − 1] */
static int ngram_hash(struct vram_op *op, vram_dim batch)
{
    const struct vram_info *ids = op->in[0];
    int64_t size, heads, pad_id;
    VRAM_TRY(vram_onnx_need_from(op, "max_ngram_size", 2, &size));
    VRAM_TRY(vram_onnx_need_from(op, "n_head_per_ngram", 1, &heads));
    VRAM_TRY(vram_op_need_int(op, "pad_id", &pad_id));
    vram_dim orders = vram_onnx_num(op, size - 1), kept[2] = {batch, orders};
    VRAM_TRY(vram_op_out_dims(op, 1, ids->dtype, kept, 2));
    VRAM_TRY(vram_op_out_dims(op, 2, VRAM_DT_I32, kept, 2));
    if (!vram_onnx_ranked(ids))
        return vram_op_out(op, 0, ids->dtype);
    vram_dim *dims = vram_op_dims(op, ids->rank + 1);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < ids->rank; i++)
        dims[i] = ids->dims[i];
    dims[ids->rank] = vram_dim_mul(op->dims, orders, vram_onnx_num(op, heads));
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, ids->dtype, dims, ids->rank + 1);
}

static int ngram_hash_batch(struct vram_op *op)
{
    const struct vram_info *ids = op->in[0];
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    return ngram_hash(op, vram_onnx_ranked(ids) ? ids->dims[0] : VRAM_DIM_UNKNOWN);
}

static int ngram_hash_packed(struct vram_op *op)
{
    const struct vram_info *ends = op->in[3];
    vram_dim batch = VRAM_DIM_UNKNOWN;
    VRAM_TRY(vram_onnx_rank(op, 0, 1, 1));
    VRAM_TRY(vram_onnx_rank(op, 3, 1, 1));
    if (vram_onnx_ranked(ends))
        batch = vram_dim_sub(op->dims, ends->dims[0], vram_onnx_num(op, 1));
    return ngram_hash(op, batch);
}

/* [C] or [N, C] get an axis as long as the longest string has tokens. */
static int tokenizer(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t n;
    const char *text;
    VRAM_TRY(vram_op_need_int(op, "mark", &n));
    VRAM_TRY(vram_op_need_int(op, "mincharnum", &n));
    VRAM_TRY(vram_onnx_need_string(op, "pad_value", &text));
    VRAM_TRY(vram_onnx_rank(op, 0, 1, 2));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, VRAM_DT_STRING);
    vram_dim dims[3] = {x->dims[0], x->dims[x->rank - 1]};
    dims[x->rank] = vram_op_fresh(op, "tokens", 0, VRAM_DIM_UNKNOWN);
    return vram_op_out_dims(op, 0, VRAM_DT_STRING, dims, x->rank + 1);
}

/* Words, one a row, by filters [F, …] give [words, F]. */
static int word_conv(struct vram_op *op)
{
    const struct vram_info *words = op->in[0], *filters = op->in[1];
    vram_dim dims[2] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    if (vram_onnx_ranked(words))
        dims[0] = words->dims[0];
    if (vram_onnx_ranked(filters) && filters->rank)
        dims[1] = filters->dims[0];
    return vram_op_out_dims(op, 0, filters->dtype, dims, 2);
}

/* Padding goes: as many tokens as the counts say. */
static int remove_padding(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *counts = op->in[1];
    vram_dim offsets[2] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN}, tokens[2] = {VRAM_DIM_UNKNOWN};
    vram_dim one = vram_onnx_num(op, 1), ends = VRAM_DIM_UNKNOWN, most = VRAM_DIM_UNKNOWN;
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    tokens[1] = VRAM_DIM_UNKNOWN;
    if (vram_onnx_ranked(x)) {
        offsets[0] = x->dims[0];
        offsets[1] = x->dims[1];
        tokens[1] = x->dims[2];
        ends = vram_dim_add(op->dims, x->dims[0], one);
        most = vram_dim_mul(op->dims, x->dims[0], x->dims[1]);
    }
    tokens[0] = vram_op_fresh(op, "tokens", 0, most);
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(vram_op_out_dims(op, 1, counts->dtype, offsets, 2));
    VRAM_TRY(vram_op_out_dims(op, 2, counts->dtype, &ends, 1));
    VRAM_TRY(vram_op_out_dims(op, 3, counts->dtype, &one, 1));
    return vram_op_out_dims(op, 0, x->dtype, tokens, 2);
}

static int restore_padding(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *offsets = op->in[1];
    vram_dim dims[3] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    VRAM_TRY(vram_onnx_rank(op, 1, 2, 2));
    for (uint32_t i = 0; i < 2 && vram_onnx_ranked(offsets); i++)
        dims[i] = offsets->dims[i];
    if (vram_onnx_ranked(x))
        dims[2] = x->dims[1];
    return vram_op_out_dims(op, 0, x->dtype, dims, 3);
}

/* A path [2, steps] through the matrix. */
static int time_warping(struct vram_op *op)
{
    vram_dim dims[2] = {vram_onnx_num(op, 2), vram_op_fresh(op, "path", 1, VRAM_DIM_UNKNOWN)};
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 3));
    return vram_op_out_dims(op, 0, VRAM_DT_I32, dims, 2);
}

static int bifurcation(struct vram_op *op)
{
    vram_dim n = vram_op_fresh(op, "tokens", 0, VRAM_DIM_UNKNOWN);
    VRAM_TRY(vram_op_out_scalar(op, 1, op->in[0]->dtype));
    return vram_op_out_dims(op, 0, op->in[0]->dtype, &n, 1);
}

/* In the order of appearance, with places and counts. */
static int unique(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    VRAM_TRY(vram_onnx_rank(op, 0, 1, 1));
    vram_dim all = vram_onnx_ranked(x) ? x->dims[0] : VRAM_DIM_UNKNOWN;
    vram_dim n = vram_op_fresh(op, "unique", 0, all);
    VRAM_TRY(vram_op_out_dims(op, 1, VRAM_DT_I64, &all, 1));
    VRAM_TRY(vram_op_out_dims(op, 2, VRAM_DT_I64, &n, 1));
    return vram_op_out_dims(op, 0, x->dtype, &n, 1);
}

static int attention_lstm(struct vram_op *op)
{
    const struct vram_info *r = op->in[2];
    VRAM_TRY(vram_onnx_rank(op, 2, 3, 3));
    return vram_onnx_rnn(op, 3, vram_onnx_ranked(r) ? r->dims[2] : VRAM_DIM_UNKNOWN);
}

/* What a compiled part gives is known to its maker only. */
static int opaque(struct vram_op *op)
{
    (void)op;
    return 0;
}

#define ANY VRAM_ONNX_ANY
static const struct vram_op_row rows[] = {
    {"FusedMatMul", 1, 2, 2, 1, 1, fused_matmul, NULL, NULL},
    {"TransposeMatMul", 1, 2, 2, 1, 1, fused_matmul, NULL, NULL},
    {"SparseToDenseMatMul", 1, 2, 2, 1, 1, fused_matmul, NULL, NULL},
    {"FusedMatMulActivation", 1, 2, 2, 1, 1, fused_matmul_activation, NULL, NULL},
    {"GemmFastGelu", 1, 2, 3, 1, 1, fused_matmul, NULL, NULL},
    {"FusedGemm", 1, 2, 3, 1, 1, fused_gemm, NULL, NULL},
    {"GemmFloat8", 1, 2, 6, 1, 1, gemm_float8, NULL, NULL},
    {"CDist", 1, 2, 2, 1, 1, cdist, NULL, NULL},
    {"FusedConv", 1, 2, 4, 1, 1, conv, NULL, NULL},
    {"NhwcConv", 1, 2, 3, 1, 1, nhwc_conv, NULL, NULL},
    {"NhwcFusedConv", 1, 2, 4, 1, 1, nhwc_conv, NULL, NULL},
    {"ConvTransposeWithDynamicPads", 1, 2, 4, 1, 1, conv_transpose, NULL, NULL},
    {"MaxpoolWithMask", 1, 2, 2, 1, 1, pool, NULL, NULL},
    {"NhwcMaxPool", 1, 1, 1, 1, 1, nhwc_pool, NULL, NULL},
    {"CropAndResize", 1, 4, 4, 1, 1, crop_and_resize, NULL, NULL},
    {"GridSample", 1, 2, 2, 1, 1, grid_sample, NULL, NULL},
    {"Pad", 1, 2, 3, 1, 1, pad, NULL, NULL},
    {"ExpandDims", 1, 2, 2, 1, 1, expand_dims, vram_value_copy, NULL},
    {"UnfoldTensor", 1, 1, 1, 1, 1, unfold, NULL, NULL},
    {"Trilu", 1, 1, 2, 1, 1, trilu, NULL, NULL},
    {"Range", 1, 2, 3, 1, 1, range, NULL, NULL},
    {"TorchEmbedding", 1, 2, 4, 1, 1, embedding, NULL, NULL},
    {"GatherND", 1, 2, 2, 1, 1, gather_nd, NULL, NULL},
    {"Rfft", 1, 1, 1, 1, 1, rfft, NULL, NULL},
    {"Irfft", 1, 1, 1, 1, 1, irfft, NULL, NULL},
    {"MurmurHash3", 1, 1, 1, 1, 1, murmur, NULL, NULL},
    {"NGramRepeatBlock", 1, 2, 2, 1, 1, ngram_repeat, NULL, NULL},
    {"NGramHashMapping", 1, 3, 7, 1, 2, ngram_hash_batch, NULL, NULL},
    {"VarlenNGramHashMapping", 1, 4, 9, 1, 3, ngram_hash_packed, NULL, NULL},
    {"Tokenizer", 1, 1, 1, 1, 1, tokenizer, NULL, "as many tokens as the text has"},
    {"WordConvEmbedding", 1, 4, 4, 1, 1, word_conv, NULL, NULL},
    {"RemovePadding", 1, 2, 2, 4, 4, remove_padding, NULL, "as many tokens as the counts say"},
    {"RestorePadding", 1, 2, 2, 1, 1, restore_padding, NULL, NULL},
    {"DynamicTimeWarping", 1, 1, 1, 1, 1, time_warping, NULL, "as long as the path"},
    {"BifurcationDetector", 1, 3, 4, 2, 2, bifurcation, NULL, "as many tokens as the data says"},
    {"Unique", 1, 1, 1, 3, 3, unique, NULL, "as many as the data says"},
    {"AttnLSTM", 1, 3, 14, 0, 3, attention_lstm, NULL, NULL},
    {"EPContext", 1, 0, ANY, 1, ANY, opaque, NULL, "a compiled part: known to its maker only"},
    {"Snpe", 1, 1, ANY, 1, ANY, opaque, NULL, "a compiled part: known to its maker only"},
};
VRAM_ONNX_FAMILY(microsoft, "com.microsoft", "microsoft", rows);
