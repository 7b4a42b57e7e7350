/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass itself, private to analysis/onnx: what a run over the graphs keeps.
 */
#ifndef VRAM_ONNX_PASS_H
#define VRAM_ONNX_PASS_H

#include "base/vec.h"
#include "onnx/op.h"

/* An operator of this model: its row, found once. */
struct vram_op_entry {
    vram_sym domain, op;
    uint32_t version;
    const struct vram_op_row *row; /* NULL: none */
    uint32_t unknown;              /* nodes that wanted it in vain */
    uint32_t first;                /* the first of them */
};

/* Dims that must be equal: a tree of them; its root says what number, if any, and who said it. */
struct vram_relation {
    vram_dim dim;
    uint32_t up; /* itself: the root */
    bool numbered;
    int64_t number;
    uint32_t node;
};

struct vram_infer {
    struct vram_cx *cx;
    const struct vram_onnx *model;
    struct vram_dims *dims;
    struct vram_info *at;
    VRAM_VEC(struct vram_op_entry) ops;
    uint32_t *op_slots, op_mask; /* index of ops + 1 */
    VRAM_VEC(struct vram_relation) relations;
    uint32_t *relation_slots, relation_mask;
    uint32_t loops;    /* around the node that runs */
    uint64_t unknown_ops;
    /* inputs and what is bound */
    VRAM_VEC(vram_dim) symbols;
    VRAM_VEC(struct vram_dim_binding) bound;
};

/* subgraph.c: all nodes of a graph, in order */
int vram_infer_graph(struct vram_infer *pass, uint32_t graph);
/* domains.c: NULL without a row */
struct vram_op_entry *vram_infer_entry(struct vram_infer *pass, const struct vram_onnx_node *node);
/* values.c: what is known of a tensor's value */
int vram_infer_tensor(struct vram_infer *pass, uint32_t tensor, struct vram_info *out);
/* values.c: fetches the elements of a constant that has not too many */
int vram_infer_fetch(struct vram_infer *pass, const struct vram_info *info);
/* inputs.c: infos of the main graph's inputs, with bindings put in */
int vram_infer_inputs(struct vram_infer *pass, const struct vram_onnx_bindings *bindings);
/* inputs.c: a declared type, with the file's symbols and what is bound to them */
int vram_infer_declared(struct vram_infer *pass, uint32_t type, struct vram_info *out);
/* relations.c: a and b must be equal, says the node; the one to go on with */
int vram_infer_relate(struct vram_infer *pass, const struct vram_onnx_node *node, vram_dim a, vram_dim b,
                      const char *what);
bool vram_infer_related(struct vram_infer *pass, vram_dim a, vram_dim b);

/* "node 12 'name' (Conv)", for messages: in the arena, escaped; "" without memory */
const char *vram_infer_node(struct vram_infer *pass, const struct vram_onnx_node *node);

#endif
