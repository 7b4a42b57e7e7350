/* SPDX-License-Identifier: Apache-2.0
 *
 * Wrapping units of FSDP: modules whose parameters are gathered and let go together.
 */
#ifndef VRAM_TRAIN_UNITS_H
#define VRAM_TRAIN_UNITS_H

#include "base/vec.h"
#include "train/strategy.h"

enum { VRAM_UNIT_SCOPES = 3 };

struct vram_unit {
    uint32_t scopes[VRAM_UNIT_SCOPES]; /* modules that run one after the other */
    uint32_t nscopes;
    uint32_t *params;      /* in the order in which they are flattened or gathered */
    uint32_t n;
    bool reshard;          /* let go behind forward */
    void *own;             /* the strategy's state of it */
};

struct vram_units {
    struct vram_strategy *s;
    VRAM_VEC(struct vram_unit) list;
    uint32_t *of_scope;    /* 1 + the unit of a module; 0 = of none itself */
    bool *taken;           /* by parameter */
    bool adapters;         /* modules of LoRA are units, too */
};

void vram_units_init(struct vram_units *u, struct vram_strategy *s);
/* The model's layers, or the classes of fsdp.wrap: one unit each, in the order of the tree. */
void vram_units_layers(struct vram_units *u);
/* One unit of these modules, without what is below in other units.  Nothing where nothing is left. */
void vram_units_add(struct vram_units *u, const uint32_t *scopes, uint32_t n, bool reshard);
/* Gives every unit its parameters; behind the last add. */
void vram_units_fill(struct vram_units *u);

#endif
