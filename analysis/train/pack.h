/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices in packed words (pack.c).
 */
#ifndef VRAM_TRAIN_PACK_H
#define VRAM_TRAIN_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/dtype.h"

struct vram_packing;

struct vram_packed_part {
    const char *name; /* below the module: "weight", "quant_state.absmax" */
    enum vram_dtype dtype;
    uint64_t count;   /* elements of dtype */
};

const struct vram_packing *vram_packing_find(const char *name); /* a value of weights; NULL = none */
/* The classes that run in the place of Linear and of PEFT's module around it. */
const char *vram_packing_module(const struct vram_packing *p);
const char *vram_packing_lora(const struct vram_packing *p);
/* How DoRA unpacks such a matrix; NULL: PEFT refuses it. */
const char *vram_packing_dora(const struct vram_packing *p);
bool vram_packing_decoder_only(const struct vram_packing *p);
/* The tensors of a matrix [dims[0], dims[1]]; the first holds the matrix itself. */
/* Constants of which other constants are kept; 0 = none. */
int64_t vram_packing_nested(const struct vram_packing *p, const int64_t *dims);
uint32_t vram_packing_parts(const struct vram_packing *p);
void vram_packing_part(const struct vram_packing *p, uint32_t i, const int64_t *dims,
                       struct vram_packed_part *out);

#endif
