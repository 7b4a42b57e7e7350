/* SPDX-License-Identifier: Apache-2.0
 *
 * Training of an ONNX graph: each node is lowered to machine ops and run, as a module that has them for its
 * forward.  What a node runs is the method of its operator's name in models/onnx.vt (OnnxOperators,
 * MicrosoftOperators).  Values that inference knows are no tensors: nobody computes them.  A value dies behind its last
 * reader.  Functions are run as their body; a product and the sum of a bias behind it as the Linear that they were.
 *
 * What is not described (an operator without a method, If, Loop, Scan, sizes that depend on data) makes its outputs
 * and is assumed to keep all its inputs: `assumed` lists these operators.
 */
#ifndef VRAM_ONNX_LOWER_H
#define VRAM_ONNX_LOWER_H

#include "onnx/infer.h"
#include "train/train.h"

/* The class of a domain's operators, for the linker; NULL past the end. */
const char *vram_lower_class(size_t i);

struct vram_lower;

/* What a run needs: out->forward is for vram_setup.  tree: of the checkpoint that the graph is. */
int vram_lower(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_onnx *model,
               const struct vram_inference *shapes, struct vram_lower **out);
const struct vram_forward *vram_lower_forward(const struct vram_lower *lower);
/* After a run: the operators whose saved tensors were assumed, "" when there are none; in the arena. */
const char *vram_lower_assumed(struct vram_cx *cx, const struct vram_lower *lower);

#endif
