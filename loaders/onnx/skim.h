/* SPDX-License-Identifier: Apache-2.0
 *
 * The first reading of an ONNX file: walks the wire format by the descriptors that protoc-c makes from
 * onnx.proto, checks nesting, lengths and numbers, passes over what nobody needs (weights,
 * documentation, metadata, unknown fields), and hands over the rest in parts: a node, a tensor, a
 * declaration at a time, unpacked by protobuf-c.  Neither a file nor a graph is ever unpacked as a
 * whole, so that memory follows the largest part.
 *
 * What protobuf-c's structs have no place for travels as unknown fields, the only ones there are:
 * where a message stands, what was passed over, which graph an attribute has.  A NUL in a string of
 * the schema becomes C0 80, which is no UTF-8, so that strings end where C thinks they do.
 */
#ifndef VRAM_ONNX_SKIM_H
#define VRAM_ONNX_SKIM_H

#include <stdint.h>

#include "onnx.pb-c.h"
#include "onnx/wire.h"

enum onnx_part {
    ONNX_NESTED, /* of a part: not handed over by itself */
    ONNX_DROP,
    ONNX_PAYLOAD, /* of a tensor: kept up to VRAM_ONNX_KEPT bytes */
    ONNX_GRAPH,
    ONNX_FUNCTION,
    ONNX_TRAINING, /* dropped, and counted */
    /* handed over, as messages of the field's type */
    ONNX_NODE,
    ONNX_INPUT,
    ONNX_OUTPUT,
    ONNX_INFO,
    ONNX_INIT,
    ONNX_SPARSE,
    ONNX_OPSET,
    ONNX_DEFAULT, /* of a function's attribute */
    /* handed over last: what a message of parts has besides them */
    ONNX_MODEL_HEAD,
    ONNX_GRAPH_HEAD,
    ONNX_FUNCTION_HEAD
};

struct onnx_skim {
    struct onnx_wire *wire;
    const char *file; /* for messages */
    void *ctx;
    /* A graph (of a function: its body) begins: its number from 1 on; 0: error. */
    uint32_t (*graph)(void *ctx, uint64_t offset, bool function);
    /* The next part of graph; 0 = of the model. */
    int (*part)(void *ctx, enum onnx_part part, uint32_t graph, const ProtobufCMessage *message);
    uint32_t main; /* the model's graph, when there is one */
    /* Counted for findings. */
    uint64_t trainings, graphs_merged, not_utf8, with_nul;
    uint64_t odd_name; /* offset of the first name of the last two kinds */
};

int onnx_skim(struct onnx_skim *skim);

/* Makes an arena one that is rewound again and again: its first chunk stays. */
static inline bool onnx_scratch(struct vram_arena *arena) { return vram_arena_alloc(arena, 1) != NULL; }

/* What travels with a message. */
uint64_t onnx_mark_offset(const ProtobufCMessage *message);
uint32_t onnx_mark_graphs(const ProtobufCMessage *message);
uint32_t onnx_mark_graph(const ProtobufCMessage *message, uint32_t i);
/* Of a field that was passed over: its elements, as far as they were counted, and the bytes of the
 * rest. */
uint64_t onnx_mark_count(const ProtobufCMessage *message, const char *field);
uint64_t onnx_mark_bytes(const ProtobufCMessage *message, const char *field);

#endif
