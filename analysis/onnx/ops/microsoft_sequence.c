/* SPDX-License-Identifier: Apache-2.0
 *
 * com.microsoft: attention with a state instead of a cache, positions, searches and mixtures of experts.
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

/* ---- recurrent attention ---- */

/* A state, with a leading axis when the node keeps several. */
static int windowed(struct vram_op *op, uint32_t out, uint8_t dtype, const vram_dim *state,
                    uint32_t rank)
{
    vram_dim dims[9];
    int64_t window;
    VRAM_TRY(vram_onnx_int_from(op, "state_window", 0, 0, &window));
    dims[0] = vram_onnx_num(op, window);
    memcpy(dims + 1, state, rank * sizeof *dims);
    return window ? vram_op_out_dims(op, out, dtype, dims, rank + 1)
                  : vram_op_out_dims(op, out, dtype, state, rank);
}

/* [B, T, max(N query, N cache)·H value]; state [B, N cache, H key, H value] */
static int linear_attention(struct vram_op *op)
{
    const struct vram_info *q = op->in[0], *past = vram_onnx_in(op, 3);
    int64_t n, kv;
    vram_dim key_size, value_size;
    VRAM_TRY(vram_onnx_need_from(op, "q_num_heads", 1, &n));
    VRAM_TRY(vram_onnx_need_from(op, "kv_num_heads", 1, &kv));
    for (uint32_t i = 0; i < 3; i++)
        VRAM_TRY(vram_onnx_rank(op, i, 3, 3));
    vram_dim cached = vram_onnx_num(op, kv), most = vram_onnx_num(op, n > kv ? n : kv);
    VRAM_TRY(vram_onnx_divide(op, dim_of(op->in[1], 2), cached, "hidden size", &key_size));
    VRAM_TRY(vram_onnx_divide(op, dim_of(op->in[2], 2), cached, "hidden size", &value_size));
    vram_dim state[4] = {dim_of(q, 0), cached, key_size, value_size};
    vram_dim y[3] = {dim_of(q, 0), dim_of(q, 1), vram_dim_mul(op->dims, most, value_size)};
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(windowed(op, 1, past ? past->dtype : q->dtype, state, 4));
    return vram_op_out_dims(op, 0, q->dtype, y, 3);
}

static int linear_attention_gate(struct vram_op *op)
{
    VRAM_TRY(like_input(op, 1, 3));
    return vram_onnx_like(op);
}

/* Query [tokens, N, H] or [B, S, N, H]; the state stays as it is. */
static int gated_delta_net(struct vram_op *op)
{
    const struct vram_info *q = op->in[0], *k = op->in[1], *v = op->in[2];
    const struct vram_info *state = vram_onnx_in(op, 6), *lengths = vram_onnx_in(op, 3);
    struct vram_dims *d = op->dims;
    int64_t capacity;
    VRAM_TRY(vram_onnx_int_from(op, "state_update_capacity", 0, 0, &capacity));
    for (uint32_t i = 0; i < 3; i++)
        VRAM_TRY(vram_onnx_rank(op, i, 3, 4));
    if (!vram_onnx_ranked(q) || !vram_onnx_ranked(v) || q->rank != v->rank)
        return vram_op_out(op, 0, q->dtype);
    uint32_t r = q->rank;
    vram_dim heads = v->dims[r - 2], key = q->dims[r - 1], value = v->dims[r - 1];
    vram_dim batch = dim_of(state, 0);
    if (!vram_onnx_ranked(state) && r == 4)
        batch = q->dims[0];
    else if (!vram_onnx_ranked(state) && vram_onnx_ranked(lengths))
        batch = vram_dim_sub(d, dim_of(lengths, 0), vram_onnx_num(op, 1));
    vram_dim final[4] = {batch, heads, value, key};
    vram_dim keys = vram_onnx_ranked(k) ? vram_dim_mul(d, dim_of(k, r - 2), dim_of(k, r - 1))
                                        : VRAM_DIM_UNKNOWN;
    vram_dim each = vram_dim_add(d, heads, vram_dim_add(d, keys, vram_dim_mul(d, heads, value)));
    vram_dim update[2] = {batch, vram_dim_mul(d, vram_onnx_num(op, capacity), each)};
    vram_dim *y = vram_onnx_copy(op, v);
    if (!y)
        return op->cx->error->code;
    y[r - 2] = vram_dim_max(d, q->dims[r - 2], heads);
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(vram_op_out_dims(op, 1, VRAM_DT_F32, final, 4));
    VRAM_TRY(vram_op_out_dims(op, 2, VRAM_DT_F32, update, 2));
    return vram_op_out_dims(op, 0, q->dtype, y, r);
}

/* (k − 1)·dilation positions */
static int carried(struct vram_op *op, const struct vram_info *weight, vram_dim *out)
{
    int64_t dilation;
    VRAM_TRY(vram_onnx_int_from(op, "dilation", 1, 1, &dilation));
    vram_dim k = vram_onnx_ranked(weight) && weight->rank ? weight->dims[weight->rank - 1]
                                                          : VRAM_DIM_UNKNOWN;
    *out = vram_dim_mul(op->dims, vram_dim_sub(op->dims, k, vram_onnx_num(op, 1)),
                        vram_onnx_num(op, dilation));
    return vram_op_check(op);
}

/* The state is the data with its causal axis (the last; the second of channels-last data) as long
 * as what is carried. */
static int causal_conv(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t last;
    vram_dim length;
    VRAM_TRY(vram_op_int(op, "channels_last", 0, &last));
    VRAM_TRY(carried(op, op->in[1], &length));
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 8));
    if (vram_onnx_ranked(x)) {
        vram_dim *state = vram_onnx_copy(op, x);
        if (!state)
            return op->cx->error->code;
        state[last ? 1 : x->rank - 1] = length;
        VRAM_TRY(windowed(op, 1, x->dtype, state, x->rank));
    }
    return vram_onnx_like(op);
}

static int varlen_causal_conv(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *state = vram_onnx_in(op, 4);
    int64_t capacity;
    vram_dim dims[3] = {VRAM_DIM_UNKNOWN, dim_of(x, 1)};
    VRAM_TRY(vram_onnx_int_from(op, "state_update_capacity", 0, 0, &capacity));
    VRAM_TRY(vram_onnx_need(op, 4, "initial_state"));
    VRAM_TRY(carried(op, op->in[1], &dims[2]));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    dims[0] = dim_of(state, 0);
    VRAM_TRY(vram_op_out_dims(op, 1, x->dtype, dims, 3));
    dims[2] = dims[1];
    dims[1] = vram_onnx_num(op, capacity);
    VRAM_TRY(vram_op_out_dims(op, 2, x->dtype, dims, 3));
    return vram_onnx_like(op);
}

/* ---- positions ---- */

/* [1, N, query length, key length] */
static int relative_position_bias(struct vram_op *op)
{
    vram_dim dims[4] = {vram_onnx_num(op, 1), dim_of(op->in[0], 1)};
    const vram_dim *length;
    int64_t distance;
    uint32_t n;
    VRAM_TRY(vram_op_need_int(op, "max_distance", &distance));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    for (uint32_t i = 1; i < 3; i++) {
        dims[1 + i] = vram_op_value_dims(op, op->in[i], &length, &n) && n == 1
                          ? length[0]
                          : vram_op_fresh(op, "length", 0, VRAM_DIM_UNKNOWN);
    }
    return vram_op_out_dims(op, 0, op->in[0]->dtype, dims, 4);
}

/* [B, N, S, S]; packed tokens say B and S by their offsets */
static int gated_position_bias(struct vram_op *op)
{
    const struct vram_info *q = op->in[0], *offset = vram_onnx_in(op, 6);
    const struct vram_info *from = offset ? offset : q;
    int64_t heads;
    VRAM_TRY(vram_onnx_need_from(op, "num_heads", 1, &heads));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 3));
    vram_dim dims[4] = {dim_of(from, 0), vram_onnx_num(op, heads), dim_of(from, 1),
                        dim_of(from, 1)};
    return vram_op_out_dims(op, 0, q->dtype, dims, 4);
}

static int rotary(struct vram_op *op)
{
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 4));
    return vram_onnx_like(op);
}

static int multimodal_rotary(struct vram_op *op)
{
    if (!vram_op_has(op, "mrope_section"))
        return vram_op_fail(op, "attribute 'mrope_section' is missing");
    return rotary(op);
}

static int gemma_rotary(struct vram_op *op)
{
    VRAM_TRY(like_input(op, 0, 1));
    return like_input(op, 1, 3);
}

/* ---- searches: as long as the graph runs, at most max_length ---- */

static vram_dim value_or_fresh(struct vram_op *op, uint32_t i, const char *stem)
{
    const vram_dim *value;
    uint32_t n;
    if (vram_onnx_in(op, i) && vram_op_value_dims(op, op->in[i], &value, &n) && n == 1 &&
        value[0] != VRAM_DIM_UNKNOWN)
        return value[0];
    return vram_op_fresh(op, stem, 0, VRAM_DIM_UNKNOWN);
}

static int search_attributes(struct vram_op *op)
{
    uint32_t graph;
    int64_t token;
    if (!vram_op_has(op, "decoder"))
        return vram_op_fail(op, "attribute 'decoder' is missing");
    VRAM_TRY(vram_op_graph(op, "decoder", &graph));
    VRAM_TRY(vram_op_need_int(op, "eos_token_id", &token));
    return vram_op_need_int(op, "pad_token_id", &token);
}

/* Said, or fresh: the decoder's own logits are not run. */
static int vocabulary(struct vram_op *op, vram_dim *out)
{
    int64_t n;
    VRAM_TRY(vram_op_int(op, "vocab_size", -1, &n));
    *out = n > 0 ? vram_onnx_num(op, n) : vram_op_fresh(op, "vocabulary", 1, VRAM_DIM_UNKNOWN);
    return 0;
}

static int greedy_search(struct vram_op *op)
{
    vram_dim dims[2] = {dim_of(op->in[0], 0)}, words;
    VRAM_TRY(search_attributes(op));
    dims[1] = value_or_fresh(op, 1, "max_length");
    VRAM_TRY(vram_op_out_dims(op, 0, VRAM_DT_I32, dims, 2));
    VRAM_TRY(vocabulary(op, &words));
    dims[1] = words;
    return vram_op_out_dims(op, 1, VRAM_DT_F32, dims, 2);
}

static int beam_search(struct vram_op *op)
{
    const struct vram_info *ids = op->in[0], *penalty = vram_onnx_in(op, 5);
    uint8_t dtype = penalty ? penalty->dtype : (uint8_t)VRAM_DT_F32;
    vram_dim most, returned, beams, words, batch = dim_of(ids, 0);
    VRAM_TRY(search_attributes(op));
    VRAM_TRY(vram_onnx_need(op, 3, "num_beams"));
    VRAM_TRY(vram_onnx_need(op, 4, "num_return_sequences"));
    most = value_or_fresh(op, 1, "max_length");
    beams = value_or_fresh(op, 3, "beams");
    returned = value_or_fresh(op, 4, "returned");
    VRAM_TRY(vocabulary(op, &words));
    vram_dim sequences[3] = {batch, returned, most}, best[2] = {batch, returned};
    vram_dim steps = vram_dim_sub(op->dims, most, dim_of(ids, 1));
    vram_dim scores[4] = {steps, batch, beams, words};
    VRAM_TRY(vram_op_check(op));
    VRAM_TRY(vram_op_out_dims(op, 1, dtype, best, 2));
    VRAM_TRY(vram_op_out_dims(op, 2, dtype, scores, 4));
    VRAM_TRY(vram_onnx_out_rank(op, 3, VRAM_DT_F32, 5));
    VRAM_TRY(vram_op_out_dims(op, 4, dtype, &batch, 1));
    return vram_op_out_dims(op, 0, VRAM_DT_I32, sequences, 3);
}

/* The experts give back what the router was given. */
static int experts(struct vram_op *op)
{
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 3));
    return vram_onnx_like(op);
}

static const struct vram_op_row rows[] = {
    {"LinearAttention", 1, 3, 6, 2, 2, linear_attention, NULL, NULL},
    {"LinearAttentionGate", 1, 3, 4, 1, 2, linear_attention_gate, NULL, NULL},
    {"GatedDeltaNet", 1, 3, 11, 1, 3, gated_delta_net, NULL, NULL},
    {"CausalConvWithState", 1, 2, 4, 2, 2, causal_conv, NULL, NULL},
    {"VarlenCausalConvWithState", 1, 3, 6, 2, 3, varlen_causal_conv, NULL, NULL},
    {"RelativePositionBias", 1, 3, 3, 1, 1, relative_position_bias, NULL, NULL},
    {"GatedRelativePositionBias", 1, 6, 7, 1, 1, gated_position_bias, NULL, NULL},
    {"RotaryEmbedding", 1, 4, 4, 1, 1, rotary, NULL, NULL},
    {"MRotaryEmbedding", 1, 4, 4, 1, 1, multimodal_rotary, NULL, NULL},
    {"GemmaRotaryEmbedding", 1, 5, 5, 2, 2, gemma_rotary, NULL, NULL},
    {"GreedySearch", 1, 2, 7, 1, 1, greedy_search, NULL, "at most max_length"},
    {"Sampling", 1, 2, 9, 1, 2, greedy_search, NULL, "at most max_length"},
    {"BeamSearch", 1, 2, 12, 1, 3, beam_search, NULL, "at most max_length"},
    {"WhisperBeamSearch", 1, 2, 15, 1, 5, beam_search, NULL, "at most max_length"},
    {"MoE", 1, 3, 8, 1, 1, experts, NULL, NULL},
    {"QMoE", 1, 3, 21, 1, 1, experts, NULL, NULL},
};
VRAM_ONNX_FAMILY(microsoft_sequence, "com.microsoft", "microsoft_sequence", rows);
