/* SPDX-License-Identifier: Apache-2.0
 *
 * Recurrent layers: RNN, GRU and LSTM.  With layout 0 the data is [sequence, batch, input], with
 * layout 1 [batch, sequence, input].
 */
#include <string.h>

#include "common.h"

static int directions(struct vram_op *op, int64_t *n)
{
    const char *direction;
    VRAM_TRY(vram_op_string(op, "direction", "forward", &direction));
    *n = strcmp(direction, "bidirectional") ? 1 : 2;
    if (*n == 1 && strcmp(direction, "forward") != 0 && strcmp(direction, "reverse") != 0)
        return vram_op_fail(op, "attribute 'direction' is none of forward, reverse, bidirectional");
    return 0;
}

int vram_onnx_rnn(struct vram_op *op, uint32_t outputs, vram_dim hidden)
{
    const struct vram_info *x = op->in[0];
    int64_t ways, layout, size;
    vram_dim sequence = VRAM_DIM_UNKNOWN, batch = VRAM_DIM_UNKNOWN, same;
    VRAM_TRY(directions(op, &ways));
    VRAM_TRY(vram_op_int(op, "layout", 0, &layout));
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    if (layout != 0 && layout != 1)
        return vram_op_fail(op, "attribute 'layout' is %lld", (long long)layout);
    if (vram_op_has(op, "hidden_size")) {
        VRAM_TRY(vram_onnx_need_from(op, "hidden_size", 1, &size));
        VRAM_TRY(vram_op_same(op, hidden, vram_onnx_num(op, size), "'hidden_size' and the weight",
                              &same));
        hidden = vram_onnx_num(op, size);
    }
    if (vram_onnx_ranked(x)) {
        sequence = x->dims[layout];
        batch = x->dims[1 - layout];
    }
    vram_dim n = vram_onnx_num(op, ways);
    vram_dim all[2][4] = {{sequence, n, batch, hidden}, {batch, sequence, n, hidden}};
    vram_dim last[2][3] = {{n, batch, hidden}, {batch, n, hidden}};
    VRAM_TRY(vram_op_out_dims(op, 0, x->dtype, all[layout], 4));
    for (uint32_t i = 1; i < outputs; i++)
        VRAM_TRY(vram_op_out_dims(op, i, x->dtype, last[layout], 3));
    return 0;
}

static int recurrent(struct vram_op *op, uint32_t outputs)
{
    const struct vram_info *x = op->in[0], *w = op->in[1], *r = op->in[2];
    vram_dim same;
    VRAM_TRY(vram_onnx_rank(op, 1, 3, 3));
    VRAM_TRY(vram_onnx_rank(op, 2, 3, 3));
    if (vram_onnx_ranked(x) && x->rank == 3 && vram_onnx_ranked(w))
        VRAM_TRY(vram_op_same(op, x->dims[2], w->dims[2], "input sizes of data and weight", &same));
    return vram_onnx_rnn(op, outputs, vram_onnx_ranked(r) ? r->dims[2] : VRAM_DIM_UNKNOWN);
}

static int rnn(struct vram_op *op) { return recurrent(op, 2); }
static int lstm(struct vram_op *op) { return recurrent(op, 3); }

static const struct vram_op_row rows[] = {
    {"RNN", 1, 3, 6, 0, 2, rnn, NULL, NULL},
    {"RNN", 14, 3, 6, 0, 2, rnn, NULL, "'layout'"},
    {"GRU", 1, 3, 6, 2, 2, rnn, NULL, "both outputs"},
    {"GRU", 3, 3, 6, 0, 2, rnn, NULL, NULL},
    {"GRU", 14, 3, 6, 0, 2, rnn, NULL, "'layout'"},
    {"LSTM", 1, 3, 8, 0, 3, lstm, NULL, NULL},
    {"LSTM", 14, 3, 8, 0, 3, lstm, NULL, "'layout'"},
};
VRAM_ONNX_FAMILY(rnn, "", "rnn", rows);
