/* SPDX-License-Identifier: Apache-2.0
 *
 * Which modules the adapt pass replaces (choose.c).
 */
#ifndef VRAM_TRAIN_CHOOSE_H
#define VRAM_TRAIN_CHOOSE_H

#include "train/train.h"

enum {
    VRAM_ADAPTED = 1, /* PEFT's module around a Linear */
    VRAM_PACKED = 2,  /* the matrix of a Linear is held in packed words */
    VRAM_SAVED = 4    /* PEFT trains a copy of the module (modules_to_save) */
};

struct vram_choices {
    uint8_t *what;    /* by scope, of the bits above */
    int64_t *rank;    /* by scope, of adapters */
    uint32_t nadapted, npacked;
    uint32_t nsaved;  /* parameters that are copied */
};

/* linear: the class Linear of the program.  Errors: VRAM_E_ARGUMENT when what was asked for names no
 * module, VRAM_E_LIMIT, VRAM_E_NOMEM. */
int vram_choose(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup, uint32_t linear,
                struct vram_choices *out);

/* train.modules: by scope of the (adapted) tree, may its own parameters train?  NULL = all may.  Modules are named
 * as lora.targets are; what is below a named one may train, too. */
int vram_choose_trained(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup,
                        const bool **out);

/* The member of a module; none when it has no such member. */
struct vram_value vram_member_of(const struct vram_tree *tree, const struct vram_scope *s, vram_sym name);
/* The matrix of a Linear; NULL when the module has none. */
const struct vram_param *vram_matrix_of(const struct vram_cx *cx, const struct vram_tree *tree,
                                        const struct vram_scope *s);

#endif
