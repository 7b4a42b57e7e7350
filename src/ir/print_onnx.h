/* SPDX-License-Identifier: Apache-2.0
 *
 * An ONNX model as text, close to ONNX's own syntax: for dumps and tests.
 */
#ifndef VRAM_IR_PRINT_ONNX_H
#define VRAM_IR_PRINT_ONNX_H

#include "base/text.h"
#include "ir/graph.h"

void vram_onnx_print(const struct vram_onnx *model, const struct vram_syms *syms, struct vram_text *out);
/* "float[batch,3,?]" */
void vram_onnx_print_type(const struct vram_onnx *model, const struct vram_syms *syms, uint32_t type,
                          struct vram_text *out);

#endif
