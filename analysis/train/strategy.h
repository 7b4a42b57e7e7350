/* SPDX-License-Identifier: Apache-2.0
 *
 * What strategies share.
 */
#ifndef VRAM_TRAIN_STRATEGY_H
#define VRAM_TRAIN_STRATEGY_H

#include "train/train.h"

/* A flat tensor of elements that belong to the given parameters. */
struct vram_handle *vram_shared_new(struct vram_machine *m, uint64_t elements,
                                    enum vram_dtype dtype, enum vram_category category,
                                    struct vram_handle *const *params, uint32_t n);
uint32_t vram_share_new(struct vram_machine *m, struct vram_handle *const *params, uint32_t n,
                        uint64_t bytes);

/* zero.c */
void vram_zero_init(struct vram_strategy *s);
void vram_zero_backward_begin(struct vram_strategy *s);
void vram_zero_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g);
void vram_zero_backward_end(struct vram_strategy *s);
bool vram_zero_synchronises(const struct vram_strategy *s);
void vram_zero_synchronise(struct vram_strategy *s);
void vram_zero_step(struct vram_strategy *s);

/* ddp.c */
void vram_ddp_init(struct vram_strategy *s);
void vram_ddp_forward_begin(struct vram_strategy *s);
void vram_ddp_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g);

#endif
