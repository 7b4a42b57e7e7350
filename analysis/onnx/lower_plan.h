/* SPDX-License-Identifier: Apache-2.0
 *
 * What the lowering of a graph looks up: private to lower.c.
 */
#ifndef VRAM_ONNX_LOWER_PLAN_H
#define VRAM_ONNX_LOWER_PLAN_H

#include "onnx/infer.h"
#include "onnx/scopes.h"

struct vram_lower_plan {
    const struct vram_onnx *model;
    const struct vram_tree *tree;
    struct vram_graph_scopes scopes;
    uint32_t *param;  /* by value: 1 + parameter of the tree */
    uint32_t *last;   /* by value: time of its last reader; UINT32_MAX: an output; 0: nobody reads it */
    uint32_t *time;   /* by node, in the order of the run, functions inlined */
    uint32_t *bias;   /* by node: a product: the value of the bias that is added behind it */
    uint32_t *sum_of; /* by node: that sum: the product's value, which is its own */
};

int vram_lower_plan(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_onnx *model,
                    const struct vram_inference *shapes, struct vram_lower_plan *out);
/* Every value that a node reads, those that its subgraphs capture among them; some several times. */
void vram_lower_reads(const struct vram_onnx *model, const struct vram_onnx_node *node,
                      void (*each)(void *ctx, uint32_t value), void *ctx);
/* The module whose node it is. */
uint32_t vram_lower_scope(const struct vram_lower_plan *plan, const struct vram_onnx_node *node, uint32_t before);

#endif
