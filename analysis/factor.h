/* SPDX-License-Identifier: Apache-2.0
 *
 * Attribution: which component and which factor the live bytes belong to, at one moment of a run.
 */
#ifndef VRAM_FACTOR_H
#define VRAM_FACTOR_H

#include "ir/model.h"
#include "train/train.h"

struct vram_factor_component {
    vram_sym name;
    uint64_t parameter_count, trainable_count; /* elements, tied weights once */
    uint64_t named_only;                       /* of them: of a checkpoint that is only named */
    uint64_t parameters, gradients, optimizer, activations; /* bytes at the moment */
    uint64_t saved;                            /* bytes at the end of the first forward */
};

struct vram_factors {
    uint64_t parameters, gradients, optimizer, activations, temporaries, inputs, buffers, workspace;
    uint64_t saved, saved_512; /* the second: each storage rounded up to 512 bytes */
    struct vram_factor_component *components; /* in the order of the data, the loss last */
    uint32_t ncomponents;
};

static inline uint64_t vram_factors_named_only(const struct vram_factors *f)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->ncomponents; i++)
        n += f->components[i].named_only;
    return n;
}

/* The state of the run after event `at` (its bytes as requested), and after run->saved_event. */
int vram_factor(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_run *run,
                uint32_t at, struct vram_factors *out);

/* The paper's equation from the same run (arXiv 2512.07853): every module's parameters, and for
 * modules that train gradients, optimizer state and activations; a sum, not a moment. */
int vram_factor_sum(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_run *run,
                    const struct vram_setup *setup, struct vram_factors *out);

#endif
