/* SPDX-License-Identifier: Apache-2.0
 *
 * An ONNX model as a checkpoint: its initializers as named tensors, in the order of the main graph.
 */
#ifndef VRAM_ONNX_CHECKPOINT_H
#define VRAM_ONNX_CHECKPOINT_H

#include "hf/checkpoint.h"

/* One .onnx file; l->out->onnx is the graph. */
int vram_load_onnx(struct vram_loading *l, const struct vram_folder *folder, const char *name);

#endif
