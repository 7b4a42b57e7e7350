/* SPDX-License-Identifier: Apache-2.0
 *
 * FSDP2: its state; fsdp2.c is what happens in a step, fsdp2_start.c how a model is cut.
 */
#ifndef VRAM_TRAIN_FSDP2_H
#define VRAM_TRAIN_FSDP2_H

#include "train/units.h"

enum vram_fsdp2_phase { IDLE, FORWARD, PRE_BACKWARD, POST_BACKWARD };

/* A parameter's part of the rank. */
struct vram_part {
    struct vram_handle *shard;   /* what the optimizer steps on; its own dtype */
    uint64_t padded;             /* elements of a shard */
    struct vram_handle *summed;  /* unsharded gradient in the reduction's dtype, of earlier micro-batches */
};

struct vram_group {
    struct vram_unit *unit;
    enum vram_fsdp2_phase phase;
    bool in_backward;            /* from its first gradient on until backward is over */
    bool whole;
    bool pending;                /* gathered, not copied out */
    struct vram_handle *gathered;
    struct vram_handle *all_reduced; /* hsdp: waits until backward is over */
    uint32_t running;            /* of its modules, one bit each */
    struct { uint32_t *at; size_t n, cap; } forwards; /* its places in the order of forwards */
};

struct vram_fsdp2 {
    struct vram_units units;
    struct vram_group *groups;        /* by unit */
    uint32_t *order;             /* units as the root finds them: by their first module */
    struct vram_part *part;           /* by parameter */
    uint64_t ranks;
    bool replicated;             /* hsdp */
    enum vram_dtype compute, sent; /* param_dtype, reduce_dtype; VRAM_DT_NONE = as it is */
    struct vram_handle *previous;  /* the all-gather before: let go behind the next copy-out */
    struct vram_handle *reduced;   /* the reduction before */
    struct { uint32_t *at; size_t n, cap; } forwards;
};

#endif
