/* SPDX-License-Identifier: Apache-2.0
 *
 * State of make.c.
 */
#ifndef VRAM_ONNX_MAKE_H
#define VRAM_ONNX_MAKE_H

#include "onnx/raw.h"

struct undo {
    vram_sym name;
    uint32_t value;
};

/* a call of a function that is being made: what its attribute references mean */
struct call {
    uint32_t function, node;
};

/* where a graph stands */
struct place {
    uint32_t parent, owner;
    vram_sym path;
    bool body;                /* of a function */
    struct vram_onnx_span in; /* of the call: edges */
};

struct maker {
    struct onnx_load *l;
    struct vram_cx *cx;
    struct vram_arena paths; /* scratch */
    VRAM_VEC(struct vram_onnx_graph) graphs;
    VRAM_VEC(struct vram_onnx_node) nodes;
    VRAM_VEC(struct vram_onnx_value) values;
    VRAM_VEC(struct vram_onnx_attr) attrs;
    VRAM_VEC(uint32_t) edges;
    VRAM_VEC(uint32_t) order;
    VRAM_VEC(uint32_t) roots; /* by graph: the outermost whose names it sees */
    VRAM_VEC(struct undo) undo;
    VRAM_VEC(struct onnx_wait) waits;
    VRAM_VEC(uint8_t) made; /* of attributes: no graphs that must be made */
    uint32_t *value_of;     /* by symbol */
    uint32_t n_names;
    uint64_t inlined; /* nodes of functions' bodies, about */
    uint64_t depth;
};

int onnx_make_graph(struct maker *m, uint32_t raw, const struct place *place, const struct call *call, uint32_t *id);

#endif
