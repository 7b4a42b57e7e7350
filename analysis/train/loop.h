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
    const bool *may_train; /* by scope: train.modules; NULL = all may */
    int64_t rows;          /* of the batch that is made, where it is not micro_batch; 0 = it is */
};

/* pipeline.c: the steps of one stage */
struct vram_pipeline;
struct vram_pipeline *vram_pipeline_new(struct vram_loop *l);
void vram_pipeline_step(struct vram_pipeline *p, int number);

/* iteration.c: the strategy and the optimizer at work behind load */
void vram_loop_start(struct vram_loop *l);
/* all steps of the plan; behind them the optimizer is gone */
void vram_loop_train(struct vram_loop *l);
/* What a step is made of: the batch of the top module's inputs(), its fields as keywords of forward (with
 * the count of labels, when there is one), a call of forward under autocast, a tensor of an output
 * record (NULL: there is none), and cuBLAS's workspace in its low and high number. */
struct vram_value vram_loop_batch(struct vram_loop *l);
void vram_loop_call_with(struct vram_loop *l, struct vram_value batch, struct vram_handle *items,
                         struct vram_call *call);
struct vram_value vram_loop_forward(struct vram_loop *l, struct vram_call *call);
struct vram_handle *vram_loop_field(struct vram_loop *l, struct vram_value v, const char *name);
void vram_loop_cublas(struct vram_loop *l, uint64_t low, uint64_t high);
void vram_loop_zero_grad(struct vram_loop *l);
/* The text model's hidden size. */
int64_t vram_loop_hidden(struct vram_loop *l);

/* infer.c: one forward without grad, in evaluation mode, and the tokens behind it */
void vram_loop_infer(struct vram_loop *l);

/* asked.c: vram_machine.setting; false = no such key */
bool vram_loop_setting(void *ctx, vram_sym key, struct vram_value *out);

#endif
