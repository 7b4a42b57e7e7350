/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention and what stands around it, of ai.onnx and ai.onnx.preview.
 */
#include "common.h"

/* Sizes of a query, key or value: [batch, heads, sequence, head] or [batch, sequence, heads·head].
 */
struct heads {
    vram_dim batch, heads, sequence, size;
};

static int split_heads(struct vram_op *op, uint32_t i, const char *attribute, struct heads *h)
{
    const struct vram_info *x = op->in[i];
    int64_t n;
    *h = (struct heads){VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    VRAM_TRY(vram_onnx_rank(op, i, 3, 4));
    if (!vram_onnx_ranked(x))
        return 0;
    h->batch = x->dims[0];
    if (x->rank == 4) {
        h->heads = x->dims[1];
        h->sequence = x->dims[2];
        h->size = x->dims[3];
        return 0;
    }
    VRAM_TRY(vram_onnx_need_from(op, attribute, 1, &n));
    h->heads = vram_onnx_num(op, n);
    h->sequence = x->dims[1];
    return vram_onnx_divide(op, x->dims[2], h->heads, "hidden size", &h->size);
}

/* past + present on the sequence axis */
static vram_dim total(struct vram_op *op, uint32_t past, vram_dim sequence)
{
    const struct vram_info *x = vram_onnx_in(op, past);
    if (!x)
        return sequence;
    return vram_onnx_ranked(x) && x->rank == 4 ? vram_dim_add(op->dims, x->dims[2], sequence)
                                               : VRAM_DIM_UNKNOWN;
}

static int attention(struct vram_op *op)
{
    const struct vram_info *q = op->in[0], *k = op->in[1], *v = op->in[2];
    struct heads query, key, value;
    vram_dim same;
    if (!vram_onnx_ranked(q))
        return vram_op_out(op, 0, q->dtype);
    VRAM_TRY(split_heads(op, 0, "q_num_heads", &query));
    VRAM_TRY(split_heads(op, 1, "kv_num_heads", &key));
    VRAM_TRY(split_heads(op, 2, "kv_num_heads", &value));
    VRAM_TRY(vram_onnx_rank(op, 4, 4, 4));
    VRAM_TRY(vram_onnx_rank(op, 5, 4, 4));
    VRAM_TRY(vram_op_same(op, query.size, key.size, "head sizes of query and key", &same));
    VRAM_TRY(vram_op_same(op, key.sequence, value.sequence, "lengths of key and value", &same));
    vram_dim all = total(op, 4, key.sequence);
    vram_dim present_key[] = {key.batch, key.heads, all, key.size};
    vram_dim present_value[] = {value.batch, value.heads, total(op, 5, value.sequence), value.size};
    vram_dim scores[] = {query.batch, query.heads, query.sequence, all};
    vram_dim y3[] = {query.batch, query.sequence, vram_dim_mul(op->dims, query.heads, value.size)};
    vram_dim y4[] = {query.batch, query.heads, query.sequence, value.size};
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(vram_op_out_dims(op, 1, k->dtype, present_key, 4));
    VRAM_TRY(vram_op_out_dims(op, 2, v->dtype, present_value, 4));
    VRAM_TRY(vram_op_out_dims(op, 3, q->dtype, scores, 4));
    return q->rank == 3 ? vram_op_out_dims(op, 0, q->dtype, y3, 3)
                        : vram_op_out_dims(op, 0, q->dtype, y4, 4);
}

/* A decoder of 3 axes needs the number of heads. */
static int rotary(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t heads;
    vram_dim same;
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 4));
    if (vram_onnx_ranked(x) && x->rank == 3) {
        VRAM_TRY(vram_onnx_need_from(op, "num_heads", 1, &heads));
        VRAM_TRY(vram_onnx_divide(op, x->dims[2], vram_onnx_num(op, heads), "hidden size", &same));
    }
    return vram_onnx_like(op);
}

/* [B, T, heads·size]: output [B, T, query heads·value size], state [B, heads, key size, value size]
 */
static int linear_attention(struct vram_op *op)
{
    const struct vram_info *q = op->in[0], *past = vram_onnx_in(op, 3);
    struct heads query, key, value;
    for (uint32_t i = 0; i < 3; i++)
        VRAM_TRY(vram_onnx_rank(op, i, 3, 3));
    VRAM_TRY(split_heads(op, 0, "q_num_heads", &query));
    VRAM_TRY(split_heads(op, 1, "kv_num_heads", &key));
    VRAM_TRY(split_heads(op, 2, "kv_num_heads", &value));
    vram_dim state[] = {query.batch, key.heads, key.size, value.size};
    vram_dim y[] = {query.batch, query.sequence, vram_dim_mul(op->dims, query.heads, value.size)};
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(vram_op_out_dims(op, 1, past ? past->dtype : q->dtype, state, 4));
    return vram_op_out_dims(op, 0, q->dtype, y, 3);
}

/* The modifying graphs keep shape and type of what they are given. */
static int flex_attention(struct vram_op *op)
{
    const struct vram_info *q = op->in[0], *v = op->in[2];
    for (uint32_t i = 0; i < 3; i++)
        VRAM_TRY(vram_onnx_rank(op, i, 4, 4));
    if (!vram_onnx_ranked(q))
        return vram_onnx_out_rank(op, 0, q->dtype, 4);
    vram_dim y[] = {q->dims[0], q->dims[1], q->dims[2],
                    vram_onnx_ranked(v) ? v->dims[3] : VRAM_DIM_UNKNOWN};
    return vram_op_out_dims(op, 0, q->dtype, y, 4);
}

static const struct vram_op_row rows[] = {
    {"Attention", 23, 3, 6, 1, 4, attention, NULL, NULL},
    {"Attention", 24, 3, 7, 1, 4, attention, NULL, "'nonpad_kv_seqlen'"},
    {"RotaryEmbedding", 23, 3, 4, 1, 1, rotary, NULL, NULL},
    {"LinearAttention", 27, 3, 6, 2, 2, linear_attention, NULL, NULL},
};
VRAM_ONNX_FAMILY(attention, "", "attention", rows);

static const struct vram_op_row preview_rows[] = {
    {"FlexAttention", 1, 3, 3, 1, 1, flex_attention, NULL, NULL},
};
VRAM_ONNX_FAMILY(preview, "ai.onnx.preview", "preview", preview_rows);
