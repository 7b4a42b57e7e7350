/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose a node is: the deepest module whose path begins the node's name.
 */
#ifndef VRAM_ONNX_SCOPES_H
#define VRAM_ONNX_SCOPES_H

#include "base/cx.h"
#include "ir/graph.h"
#include "ir/model.h"

struct vram_graph_scopes {
    const struct vram_syms *syms;
    uint32_t *of; /* by symbol: 1 + scope of that path */
    uint32_t n;
};

int vram_graph_scopes(struct vram_cx *cx, const struct vram_tree *tree, struct vram_graph_scopes *out);
/* otherwise: where the name says none */
uint32_t vram_graph_scope(const struct vram_graph_scopes *scopes, const struct vram_onnx_node *node,
                          uint32_t otherwise);

#endif
