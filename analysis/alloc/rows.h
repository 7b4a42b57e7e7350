/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows that alloc.c lists.
 */
#ifndef VRAM_ALLOC_ROWS_H
#define VRAM_ALLOC_ROWS_H

#include "alloc/alloc.h"

extern const struct vram_allocator_row vram_allocator_exact;
extern const struct vram_allocator_row vram_allocator_torch;
extern const struct vram_allocator_row vram_allocator_torch_expandable;
extern const struct vram_allocator_row vram_allocator_ort;

#endif
