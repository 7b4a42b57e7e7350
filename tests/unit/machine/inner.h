/* SPDX-License-Identifier: Apache-2.0
 *
 * A run behind the public interface: the passes of src/api/predict.c up to the events, with the
 * switches that only tests have.
 */
#ifndef VRAM_TESTS_MACHINE_INNER_H
#define VRAM_TESTS_MACHINE_INNER_H

#include "api/handles.h"

struct inner {
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_findings findings;
    vram_error error;
    struct vram_cx cx;
    struct vram_tree tree; /* adapted */
    struct vram_setup setup;
    struct vram_run run;
};

/* Adapts only. */
void inner_adapt(struct inner *r, const vram_model *model, const vram_plan *plan);
void inner_run(struct inner *r, const vram_model *model, const vram_plan *plan, bool every_step);
void inner_free(struct inner *r);

#endif
