/* SPDX-License-Identifier: Apache-2.0
 *
 * What a graph's nodes are given, as values of the template language.
 */
#ifndef VRAM_ONNX_LOWER_VALUE_H
#define VRAM_ONNX_LOWER_VALUE_H

#include "machine/machine.h"
#include "onnx/infer.h"

/* All elements as numbers; false: they are not all known, or too many. */
bool vram_known(const struct vram_inference *shapes, const struct vram_info *info);
/* They as a tuple; a single one as a number. */
struct vram_value vram_known_tuple(struct vram_machine *m, const struct vram_inference *shapes,
                                   const struct vram_info *info);
struct vram_value vram_known_number(const struct vram_inference *shapes, const struct vram_info *info);

/* The sizes of a tensor, the largest where they are a range; *exact: they are numbers.  Throws where nothing is
 * known. */
int vram_lower_sizes(struct vram_machine *m, const struct vram_inference *shapes, uint32_t value, int64_t *shape,
                     bool *exact);
struct vram_value vram_tuple_of(struct vram_machine *m, const int64_t *ints, uint32_t n);
/* An attribute of a node; NONE: it is absent or no number, text or list of integers. */
struct vram_value vram_lower_attr(struct vram_machine *m, const struct vram_onnx *model,
                                  const struct vram_onnx_node *node, vram_sym name);

#endif
