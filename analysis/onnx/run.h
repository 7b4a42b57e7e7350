/* SPDX-License-Identifier: Apache-2.0
 *
 * One inference of an ONNX graph as allocations and frees: what live.h says, in order.
 */
#ifndef VRAM_ONNX_RUN_H
#define VRAM_ONNX_RUN_H

#include "onnx/live.h"
#include "train/train.h"

/* tree: of the checkpoint that the graph is (loaders/onnx): the tensor of a parameter is the position of its
 * initializer in the main graph.  load: the weights alone.  out->events is made; op of a storage is
 * VRAM_OP_LOAD, _INPUTS or _LOOP. */
int vram_onnx_run(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_onnx *model,
                  const struct vram_onnx_lives *lives, bool load, struct vram_run *out);

#endif
