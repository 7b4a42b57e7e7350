/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of a run share: run.c starts it, iteration.c does its steps, asked.c answers
 * templates.
 */
#ifndef VRAM_TRAIN_LOOP_H
#define VRAM_TRAIN_LOOP_H

#include "train/train.h"

struct vram_loop {
    struct vram_machine m;
    const struct vram_setup *s;
    struct vram_run *run;
    struct vram_optimizer optimizer;
    struct vram_strategy strategy;
    const struct vram_class *top;
};

/* iteration.c: the strategy and the optimizer at work behind load */
void vram_loop_start(struct vram_loop *l);
/* all steps of the plan; behind them the optimizer is gone */
void vram_loop_train(struct vram_loop *l);
/* one forward without grad, in evaluation mode */
void vram_loop_infer(struct vram_loop *l);

/* asked.c: vram_machine.setting; false = no such key */
bool vram_loop_setting(void *ctx, vram_sym key, struct vram_value *out);

#endif
