/* SPDX-License-Identifier: Apache-2.0
 *
 * com.microsoft: fused attention and its caches.
 * B batch, S sequence, N heads, H size of a head.
 */
#include <string.h>

#include "common.h"

static vram_dim dim_of(const struct vram_info *x, uint32_t i)
{
    return vram_onnx_ranked(x) && i < x->rank ? x->dims[i] : VRAM_DIM_UNKNOWN;
}

static int like_input(struct vram_op *op, uint32_t out, uint32_t in)
{
    return vram_op_out_like(op, out, vram_onnx_in_dtype(op, in), vram_onnx_in(op, in));
}

/* Heads of the node, and a size divided among them. */
static int head_size(struct vram_op *op, vram_dim hidden, vram_dim *heads, vram_dim *size)
{
    int64_t n;
    VRAM_TRY(vram_onnx_need_from(op, "num_heads", 1, &n));
    *heads = vram_onnx_num(op, n);
    return vram_onnx_divide(op, hidden, *heads, "hidden size", size);
}

/* ---- projections are part of the operator ---- */

/* Hidden size of the values: said, or a third of the weight's columns. */
static int value_hidden(struct vram_op *op, const struct vram_info *weight, vram_dim *out)
{
    const int64_t *sizes;
    uint32_t n;
    VRAM_TRY(vram_op_ints(op, "qkv_hidden_sizes", &sizes, &n));
    if (sizes && n) {
        if (n != 3 || sizes[2] <= 0)
            return vram_op_fail(op, "attribute 'qkv_hidden_sizes' is not three sizes");
        *out = vram_onnx_num(op, sizes[2]);
        return 0;
    }
    *out = VRAM_DIM_UNKNOWN;
    return vram_onnx_divide(op, dim_of(weight, 1), vram_onnx_num(op, 3), "columns of the weight",
                            out);
}

/* past [2, B, N, P, H] and the present that follows, output 1 */
static int stacked_present(struct vram_op *op, uint32_t past, uint8_t dtype, vram_dim hidden)
{
    const struct vram_info *x = op->in[0], *before = vram_onnx_in(op, past);
    vram_dim heads, size, all = dim_of(x, 1);
    int64_t shared;
    VRAM_TRY(vram_op_int(op, "past_present_share_buffer", 0, &shared));
    VRAM_TRY(vram_onnx_rank(op, past, 5, 5));
    VRAM_TRY(head_size(op, hidden, &heads, &size));
    if (shared && before)
        return vram_op_out_like(op, 1, dtype, before);
    if (before)
        all = vram_dim_add(op->dims, dim_of(before, 3), all);
    vram_dim dims[5] = {vram_onnx_num(op, 2), dim_of(x, 0), heads, all, size};
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 1, dtype, dims, 5);
}

static int projected(struct vram_op *op, const struct vram_info *weight, uint32_t past,
                     uint8_t dtype)
{
    const struct vram_info *x = op->in[0];
    vram_dim hidden;
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    VRAM_TRY(value_hidden(op, weight, &hidden));
    VRAM_TRY(stacked_present(op, past, dtype, hidden));
    vram_dim dims[3] = {dim_of(x, 0), dim_of(x, 1), hidden};
    return vram_op_out_dims(op, 0, dtype, dims, 3);
}

static int attention(struct vram_op *op) { return projected(op, op->in[1], 4, op->in[0]->dtype); }

static int qattention(struct vram_op *op)
{
    return projected(op, op->in[1], 8, vram_onnx_in_dtype(op, 3));
}

static int qordered_attention(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    vram_dim dims[3] = {dim_of(x, 0), dim_of(x, 1), dim_of(vram_onnx_in(op, 7), 1)};
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    return vram_op_out_dims(op, 0, x->dtype, dims, 3);
}

/* [tokens, hidden] */
static int packed_attention(struct vram_op *op)
{
    vram_dim heads, size, dims[2] = {dim_of(op->in[0], 0)};
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    VRAM_TRY(value_hidden(op, op->in[1], &dims[1]));
    VRAM_TRY(head_size(op, dims[1], &heads, &size));
    return vram_op_out_dims(op, 0, op->in[0]->dtype, dims, 2);
}

/* [S, B, hidden]; caches [B, N, new S, H] */
static int decoder_attention(struct vram_op *op)
{
    const struct vram_info *q = op->in[0];
    vram_dim heads, size;
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    VRAM_TRY(head_size(op, dim_of(q, 2), &heads, &size));
    for (uint32_t i = 1; i < op->n_out; i++) {
        vram_dim dims[4] = {dim_of(q, 1), heads, vram_op_fresh(op, "cache", 0, VRAM_DIM_UNKNOWN),
                            size};
        VRAM_TRY(vram_op_out_dims(op, i, q->dtype, dims, 4));
    }
    return vram_onnx_like(op);
}

/* ---- queries, keys and values are given ---- */

struct mha {
    vram_dim batch, sequence, heads, size; /* of the query */
    vram_dim kv, value_size;               /* length of the keys, size of a value's head */
};

/* [B, S, N·H], or all three in one [B, S, N, 3, H] */
static int mha_query(struct vram_op *op, struct mha *m)
{
    const struct vram_info *q = op->in[0];
    int64_t n;
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 5));
    VRAM_TRY(vram_onnx_need_from(op, "num_heads", 1, &n));
    m->heads = vram_onnx_num(op, n);
    m->batch = dim_of(q, 0);
    m->sequence = m->kv = dim_of(q, 1);
    m->size = VRAM_DIM_UNKNOWN;
    if (vram_onnx_ranked(q) && q->rank == 5)
        m->size = q->dims[4];
    else if (vram_onnx_ranked(q))
        VRAM_TRY(vram_onnx_divide(op, q->dims[2], m->heads, "hidden size", &m->size));
    m->value_size = m->size;
    return 0;
}

/* Keys are [B, K, N·H], [B, N, K, H], or with the values [B, K, N, 2, H]. */
static int mha_values(struct vram_op *op, struct mha *m)
{
    const struct vram_info *k = vram_onnx_in(op, 1), *v = vram_onnx_in(op, 2);
    if (k)
        m->kv = !vram_onnx_ranked(k) ? VRAM_DIM_UNKNOWN : dim_of(k, k->rank == 4 ? 2 : 1);
    if (v && !vram_onnx_ranked(v))
        m->value_size = VRAM_DIM_UNKNOWN;
    else if (v && v->rank == 4)
        m->value_size = v->dims[3];
    else if (v && v->rank == 3)
        VRAM_TRY(vram_onnx_divide(op, v->dims[2], m->heads, "hidden size", &m->value_size));
    return 0;
}

static int mha_present(struct vram_op *op, const struct mha *m, uint32_t past_key, bool shared,
                       vram_dim *all)
{
    const struct vram_info *before = vram_onnx_in(op, past_key);
    VRAM_TRY(vram_onnx_rank(op, past_key, 4, 4));
    VRAM_TRY(vram_onnx_rank(op, past_key + 1, 4, 4));
    *all = m->kv;
    if (before)
        *all = shared ? dim_of(before, 2) : vram_dim_add(op->dims, dim_of(before, 2), m->kv);
    VRAM_TRY(vram_op_check(op));
    vram_dim key[4] = {m->batch, m->heads, *all, m->size};
    vram_dim value[4] = {m->batch, m->heads, *all, m->value_size};
    VRAM_TRY(vram_op_out_dims(op, 1, op->in[0]->dtype, key, 4));
    return vram_op_out_dims(op, 2, op->in[0]->dtype, value, 4);
}

static int mha_output(struct vram_op *op, const struct mha *m, vram_dim all)
{
    vram_dim y[3] = {m->batch, m->sequence, vram_dim_mul(op->dims, m->heads, m->value_size)};
    vram_dim scores[4] = {m->batch, m->heads, m->sequence, all};
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(vram_op_out_dims(op, 3, op->in[0]->dtype, scores, 4));
    return vram_op_out_dims(op, 0, op->in[0]->dtype, y, 3);
}

static int multi_head_attention(struct vram_op *op)
{
    struct mha m;
    vram_dim all;
    VRAM_TRY(mha_query(op, &m));
    VRAM_TRY(mha_values(op, &m));
    VRAM_TRY(mha_present(op, &m, 6, vram_onnx_in(op, 8) != NULL, &all));
    return mha_output(op, &m, all);
}

/* One token; without keys the query holds all three. */
static int decoder_masked_mha(struct vram_op *op)
{
    const struct vram_info *q = op->in[0], *k = vram_onnx_in(op, 1);
    struct mha m;
    int64_t shared;
    vram_dim all;
    VRAM_TRY(vram_op_int(op, "past_present_share_buffer", 0, &shared));
    VRAM_TRY(mha_query(op, &m));
    VRAM_TRY(mha_values(op, &m));
    if (!k && vram_onnx_ranked(q)) {
        VRAM_TRY(vram_onnx_divide(op, dim_of(q, 2),
                                  vram_dim_mul(op->dims, m.heads, vram_onnx_num(op, 3)),
                                  "hidden size", &m.size));
        m.value_size = m.size;
    }
    VRAM_TRY(mha_present(op, &m, 5, shared != 0, &all));
    return mha_output(op, &m, all);
}

/* [tokens, hidden] or [tokens, N, 3, H] */
static int packed_mha(struct vram_op *op)
{
    const struct vram_info *q = op->in[0], *v = vram_onnx_in(op, 2);
    vram_dim dims[2] = {dim_of(q, 0), dim_of(q, 1)};
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 4));
    if (v)
        dims[1] = dim_of(v, 1);
    else if (vram_onnx_ranked(q) && q->rank == 4)
        dims[1] = vram_dim_mul(op->dims, q->dims[1], q->dims[3]);
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, q->dtype, dims, 2);
}

/* Heads of query and cache, and the size of one: of a packed input all heads share its columns. */
static int grouped(struct vram_op *op, vram_dim columns, bool packed, vram_dim *heads,
                   vram_dim *kv_heads, vram_dim *size)
{
    int64_t n, kv;
    VRAM_TRY(vram_onnx_need_from(op, "num_heads", 1, &n));
    VRAM_TRY(vram_onnx_need_from(op, "kv_num_heads", 1, &kv));
    if (n > INT32_MAX || kv > INT32_MAX)
        return vram_op_fail(op, "%lld and %lld heads", (long long)n, (long long)kv);
    *heads = vram_onnx_num(op, n);
    *kv_heads = vram_onnx_num(op, kv);
    return vram_onnx_divide(op, columns, packed ? vram_onnx_num(op, n + 2 * kv) : *heads,
                            "hidden size", size);
}

/* The cache is as long as it was, or as the whole sequence when that is longer. */
static vram_dim grouped_total(struct vram_op *op, const struct vram_info *past)
{
    const vram_dim *said;
    uint32_t n;
    int64_t window;
    vram_dim before = past ? dim_of(past, 2) : vram_onnx_num(op, 0);
    if (!vram_op_int(op, "sliding_window_cache", 0, &window) && window && past)
        return before;
    if (vram_op_value_dims(op, op->in[6], &said, &n) && n == 1 && said[0] != VRAM_DIM_UNKNOWN)
        return vram_dim_max(op->dims, before, said[0]);
    return vram_op_fresh(op, "total_sequence_length", 0, VRAM_DIM_UNKNOWN);
}

static int group_query_attention(struct vram_op *op)
{
    const struct vram_info *q = op->in[0], *past = vram_onnx_in(op, 3);
    vram_dim heads, kv_heads, size, all, scores;
    const vram_dim *said;
    uint32_t n;
    VRAM_TRY(vram_onnx_need(op, 5, "seqlens_k"));
    VRAM_TRY(vram_onnx_need(op, 6, "total_sequence_length"));
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    VRAM_TRY(vram_onnx_rank(op, 3, 4, 4));
    VRAM_TRY(grouped(op, dim_of(q, 2), !vram_onnx_in(op, 1), &heads, &kv_heads, &size));
    all = grouped_total(op, past);
    scores = vram_op_value_dims(op, op->in[6], &said, &n) && n == 1 ? said[0] : VRAM_DIM_UNKNOWN;
    vram_dim y[3] = {dim_of(q, 0), dim_of(q, 1), vram_dim_mul(op->dims, heads, size)};
    vram_dim present[4] = {dim_of(q, 0), kv_heads, all, past ? dim_of(past, 3) : size};
    vram_dim qk[4] = {dim_of(q, 0), heads, dim_of(q, 1), scores};
    uint8_t cache = past ? past->dtype : q->dtype;
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(vram_op_out_dims(op, 1, cache, present, 4));
    VRAM_TRY(vram_op_out_dims(op, 2, cache, present, 4));
    VRAM_TRY(vram_op_out_dims(op, 3, q->dtype, qk, 4));
    return vram_op_out_dims(op, 0, q->dtype, y, 3);
}

/* The caches are updated in place. */
static int sparse_attention(struct vram_op *op)
{
    const struct vram_info *q = op->in[0];
    vram_dim heads, kv_heads, size;
    VRAM_TRY(vram_onnx_need(op, 3, "past_key"));
    VRAM_TRY(vram_onnx_need(op, 4, "past_value"));
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    VRAM_TRY(grouped(op, dim_of(q, 2), !vram_onnx_in(op, 1), &heads, &kv_heads, &size));
    vram_dim y[3] = {dim_of(q, 0), dim_of(q, 1), vram_dim_mul(op->dims, heads, size)};
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(like_input(op, 1, 3));
    VRAM_TRY(like_input(op, 2, 4));
    return vram_op_out_dims(op, 0, q->dtype, y, 3);
}

static int paged_attention(struct vram_op *op)
{
    const struct vram_info *q = op->in[0];
    vram_dim heads, kv_heads, size;
    const char *layout;
    int64_t value_size;
    VRAM_TRY(vram_op_string(op, "kv_cache_layout", "SEPARATE", &layout));
    VRAM_TRY(vram_onnx_int_from(op, "v_head_size", 0, 0, &value_size));
    VRAM_TRY(vram_onnx_need(op, 3, "key_cache"));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    bool latent = !strcmp(layout, "LATENT");
    VRAM_TRY(grouped(op, dim_of(q, 1), !latent && !vram_onnx_in(op, 1), &heads, &kv_heads, &size));
    if (value_size)
        size = vram_onnx_num(op, value_size);
    vram_dim y[2] = {dim_of(q, 0), vram_dim_mul(op->dims, heads, size)};
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(like_input(op, 1, 3));
    if (vram_onnx_in(op, 4))
        VRAM_TRY(like_input(op, 2, 4));
    return vram_op_out_dims(op, 0, q->dtype, y, 2);
}

static const struct vram_op_row rows[] = {
    {"Attention", 1, 2, 7, 1, 2, attention, NULL, NULL},
    {"QAttention", 1, 5, 9, 1, 2, qattention, NULL, NULL},
    {"QOrderedAttention", 1, 14, 20, 1, 1, qordered_attention, NULL, NULL},
    {"PackedAttention", 1, 5, 6, 1, 1, packed_attention, NULL, NULL},
    {"DecoderAttention", 1, 5, 12, 1, 3, decoder_attention, NULL, "caches as the flags say"},
    {"DecoderMaskedSelfAttention", 1, 3, 9, 1, 2, attention, NULL, NULL},
    {"DecoderMaskedMultiHeadAttention", 1, 1, 11, 1, 4, decoder_masked_mha, NULL, NULL},
    {"MultiHeadAttention", 1, 1, 10, 1, 4, multi_head_attention, NULL, NULL},
    {"PackedMultiHeadAttention", 1, 1, 7, 1, 1, packed_mha, NULL, NULL},
    {"GroupQueryAttention", 1, 1, 16, 1, 4, group_query_attention, NULL, NULL},
    {"SparseAttention", 1, 1, 11, 3, 3, sparse_attention, NULL, NULL},
    {"PagedAttention", 1, 1, 17, 1, 3, paged_attention, NULL, NULL},
    {"LongformerAttention", 1, 7, 7, 1, 1, vram_onnx_like, NULL, NULL},
    {"QOrderedLongformerAttention", 1, 14, 14, 1, 1, vram_onnx_like, NULL, NULL},
};
VRAM_ONNX_FAMILY(microsoft_attention, "com.microsoft", "microsoft_attention", rows);
