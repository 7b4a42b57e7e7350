/* SPDX-License-Identifier: Apache-2.0
 *
 * com.microsoft: activations, fused normalisation, dropout, embeddings, and gradients of training
 * graphs.
 */
#include "common.h"

static int broadcast(struct vram_op *op)
{
    return vram_onnx_broadcast(op, op->in[0]->dtype, op->in, 2);
}

/* As input 0; the mask is boolean. */
static int bias_dropout(struct vram_op *op)
{
    VRAM_TRY(vram_op_out_like(op, 1, VRAM_DT_BOOL, op->in[0]));
    return vram_onnx_like(op);
}

/* The mask is packed: 32 elements to a number. */
static int bitmask_dropout(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    vram_dim n = VRAM_DIM_UNKNOWN;
    if (vram_onnx_ranked(x))
        n = vram_dim_ceildiv(op->dims, vram_op_product(op, x->dims, 0, x->rank),
                             vram_onnx_num(op, 32));
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(vram_op_out_dims(op, 1, VRAM_DT_U32, &n, 1));
    return vram_onnx_like(op);
}

static int bias_softmax(struct vram_op *op)
{
    int64_t inner;
    VRAM_TRY(vram_op_need_int(op, "is_inner_broadcast", &inner));
    return vram_onnx_like_axis(op);
}

/* Half of the last axis gates the other half. */
static int bias_split_gelu(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(x))
        return vram_onnx_like(op);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    VRAM_TRY(vram_onnx_divide(op, dims[x->rank - 1], vram_onnx_num(op, 2), "hidden size",
                              &dims[x->rank - 1]));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

/* ---- normalisation ---- */

static int group_norm(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t groups, last, activation;
    vram_dim same;
    VRAM_TRY(vram_op_need_int(op, "activation", &activation));
    VRAM_TRY(vram_onnx_need_from(op, "groups", 1, &groups));
    VRAM_TRY(vram_op_int(op, "channels_last", 1, &last));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    if (vram_onnx_ranked(x))
        VRAM_TRY(vram_onnx_divide(op, x->dims[last ? x->rank - 1 : 1], vram_onnx_num(op, groups),
                                  "channels", &same));
    VRAM_TRY(vram_op_out_like(op, 1, x->dtype, x)); /* the sum, of SkipGroupNorm */
    return vram_onnx_like(op);
}

/* Mean and deviation of each row, and the sum that is normalised. */
static int skip_norm(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 3));
    if (vram_onnx_ranked(x)) {
        vram_dim *dims = vram_onnx_copy(op, x);
        if (!dims)
            return op->cx->error->code;
        dims[x->rank - 1] = vram_onnx_num(op, 1);
        VRAM_TRY(vram_op_out_dims(op, 1, VRAM_DT_F32, dims, x->rank));
        VRAM_TRY(vram_op_out_dims(op, 2, VRAM_DT_F32, dims, x->rank));
    }
    VRAM_TRY(vram_op_out_like(op, 3, x->dtype, x));
    return vram_onnx_like(op);
}

/* ids [B, S] by a table [words, hidden] */
static int embed_norm(struct vram_op *op)
{
    const struct vram_info *ids = op->in[0], *table = vram_onnx_in(op, 2);
    vram_dim dims[3] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    VRAM_TRY(vram_onnx_need(op, 2, "word_embedding"));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    VRAM_TRY(vram_onnx_rank(op, 2, 2, 2));
    if (vram_onnx_ranked(ids)) {
        dims[0] = ids->dims[0];
        dims[1] = ids->dims[1];
    }
    if (vram_onnx_ranked(table))
        dims[2] = table->dims[1];
    uint8_t dtype = table->dtype;
    if (dtype == VRAM_DT_U8 || dtype == VRAM_DT_I8) /* the quantised form computes in float */
        dtype = VRAM_DT_F32;
    VRAM_TRY(vram_op_out_dims(op, 1, VRAM_DT_I32, dims, 1));
    VRAM_TRY(vram_op_out_dims(op, 2, dtype, dims, 3));
    return vram_op_out_dims(op, 0, dtype, dims, 3);
}

/* As the query, whose axis the shared value gets. */
static int engram_gate(struct vram_op *op)
{
    VRAM_TRY(vram_op_out_like(op, 1, op->in[1]->dtype, op->in[1]));
    return vram_op_out_like(op, 0, op->in[1]->dtype, op->in[1]);
}

static int all_finite(struct vram_op *op) { return vram_op_out_scalar(op, 0, VRAM_DT_BOOL); }

/* ---- gradients ---- */

static int like_1(struct vram_op *op)
{
    return vram_op_out_like(op, 0, op->in[1]->dtype, op->in[1]);
}

/* (dY, X, scale, …): of the data, the scale and the bias */
static int layer_norm_grad(struct vram_op *op)
{
    for (uint32_t i = 1; i < 3; i++)
        VRAM_TRY(vram_op_out_like(op, i, op->in[2]->dtype, op->in[2]));
    return like_1(op);
}

#define LIKE(name, least, most)                                                                    \
    {                                                                                              \
        name, 1, least, most, 1, 1, vram_onnx_like, NULL, NULL                                     \
    }
static const struct vram_op_row rows[] = {
    LIKE("BiasAdd", 3, 3),
    LIKE("BiasGelu", 2, 2),
    LIKE("FastGelu", 1, 2),
    LIKE("Gelu", 1, 1),
    LIKE("QuickGelu", 1, 1),
    LIKE("GatedAdd", 3, 3),
    LIKE("GatedRMSNorm", 3, 3),
    LIKE("Inverse", 1, 1),
    LIKE("SampleOp", 1, 1),
    LIKE("QOrderedGelu", 3, 3),
    LIKE("QOrderedLayerNormalization", 3, 5),
    {"BiasSoftmax", 1, 2, 2, 1, 1, bias_softmax, NULL, NULL},
    {"BiasSplitGelu", 1, 2, 2, 1, 1, bias_split_gelu, NULL, NULL},
    {"BiasDropout", 1, 2, 5, 1, 2, bias_dropout, NULL, NULL},
    {"BitmaskBiasDropout", 1, 2, 5, 1, 2, bitmask_dropout, NULL, NULL},
    {"BitmaskDropout", 1, 1, 3, 1, 2, bitmask_dropout, NULL, NULL},
    {"ComplexMul", 1, 2, 2, 1, 1, broadcast, NULL, NULL},
    {"ComplexMulConj", 1, 2, 2, 1, 1, broadcast, NULL, NULL},
    {"EmbedLayerNormalization", 1, 1, 9, 1, 3, embed_norm, NULL, NULL},
    {"QEmbedLayerNormalization", 1, 1, 18, 2, 2, embed_norm, NULL, "experimental"},
    {"EngramGate", 1, 5, 6, 1, 2, engram_gate, NULL, NULL},
    {"GroupNorm", 1, 3, 3, 1, 1, group_norm, NULL, NULL},
    {"SkipGroupNorm", 1, 4, 5, 1, 2, group_norm, NULL, NULL},
    {"SkipLayerNormalization", 1, 3, 5, 1, 4, skip_norm, NULL, NULL},
    {"SkipSimplifiedLayerNormalization", 1, 3, 4, 1, 4, skip_norm, NULL, NULL},
    {"IsAllFinite", 1, 1, VRAM_ONNX_ANY, 1, 1, all_finite, NULL, "experimental"},
    LIKE("SoftmaxGrad", 2, 2),
    LIKE("LogSoftmaxGrad", 2, 2),
    {"SoftmaxCrossEntropyLossGrad", 1, 3, 5, 1, 1, like_1, NULL, NULL},
    {"GeluGrad", 1, 2, 2, 1, 1, like_1, NULL, NULL},
    {"FastGeluGrad", 1, 2, 2, 1, 1, like_1, NULL, NULL},
    {"LayerNormalizationGrad", 1, 5, 5, 1, 3, layer_norm_grad, NULL, NULL},
};
VRAM_ONNX_FAMILY(microsoft_norm, "com.microsoft", "microsoft_norm", rows);
