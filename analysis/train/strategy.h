/* SPDX-License-Identifier: Apache-2.0
 *
 * What strategies share.
 */
#ifndef VRAM_TRAIN_STRATEGY_H
#define VRAM_TRAIN_STRATEGY_H

#include "train/train.h"

/* Streams beside the compute stream: their blocks are kept apart. */
enum { VRAM_STREAM_GATHER = 1, VRAM_STREAM_REDUCE = 2 };

struct vram_handle *vram_flat_new(struct vram_machine *m, uint64_t elements, enum vram_dtype dtype);
/* A flat tensor of elements that belong to the given parameters. */
struct vram_handle *vram_shared_new(struct vram_machine *m, uint64_t elements,
                                    enum vram_dtype dtype, enum vram_category category,
                                    struct vram_handle *const *params, uint32_t n);
uint32_t vram_share_new(struct vram_machine *m, struct vram_handle *const *params, uint32_t n,
                        uint64_t bytes);

/* deepspeed.c: what the stages of ZeRO share */
struct vram_zero_piece {
    uint32_t param;
    uint64_t elements;
};
uint64_t vram_zero_elements(const struct vram_strategy *s, enum vram_key key); /* auto is filled in */
void vram_zero_norm(struct vram_strategy *s, const struct vram_zero_piece *pieces, uint32_t n);
void vram_zero_master(struct vram_strategy *s, struct vram_handle *master, uint32_t which);
void vram_zero_update(struct vram_strategy *s, struct vram_handle *master, bool decay);

/* offload.c: host memory; pinned blocks are powers of two */
void vram_host_take(struct vram_strategy *s, uint64_t bytes, bool pinned);
void vram_host_give(struct vram_strategy *s, uint64_t bytes, bool pinned);
void vram_host_pin(struct vram_strategy *s, uint64_t bytes); /* a tensor is made, then its pinned copy */
bool vram_offloads(const struct vram_strategy *s);
void vram_offload_step(struct vram_strategy *s, uint64_t elements);
struct vram_handle *vram_offload_piece(struct vram_strategy *s, uint64_t elements,
                                       enum vram_dtype dtype); /* its norm */

/* zero.c */
void vram_zero_init(struct vram_strategy *s);
void vram_zero_backward_begin(struct vram_strategy *s);
void vram_zero_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g);
void vram_zero_backward_end(struct vram_strategy *s);
bool vram_zero_synchronises(const struct vram_strategy *s);
void vram_zero_synchronise(struct vram_strategy *s);
void vram_zero_step(struct vram_strategy *s);

/* zero3.c, coordinator.c */
extern const struct vram_module_hooks vram_coordinator_hooks;
void vram_zero3_load(struct vram_strategy *s, uint32_t param);
void vram_zero3_init(struct vram_strategy *s);
void vram_zero3_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g);
void vram_zero3_backward_end(struct vram_strategy *s);
void vram_zero3_step(struct vram_strategy *s);

/* fsdp1.c */
extern const struct vram_module_hooks vram_fsdp1_hooks;
void vram_fsdp1_init(struct vram_strategy *s);
void vram_fsdp1_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g);
void vram_fsdp1_backward_end(struct vram_strategy *s);
void vram_fsdp1_reduce_all(struct vram_strategy *s);
void vram_fsdp1_zero_grad(struct vram_strategy *s);

/* fsdp2.c */
extern const struct vram_module_hooks vram_fsdp2_hooks;
void vram_fsdp2_load(struct vram_strategy *s, uint32_t param);
void vram_fsdp2_init(struct vram_strategy *s);
void vram_fsdp2_backward_end(struct vram_strategy *s);
void vram_fsdp2_reduce_all(struct vram_strategy *s);
void vram_fsdp2_zero_grad(struct vram_strategy *s);

/* ddp.c */
void vram_ddp_init(struct vram_strategy *s);
void vram_ddp_forward_begin(struct vram_strategy *s);
void vram_ddp_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g);

#endif
