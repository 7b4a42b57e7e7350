/* SPDX-License-Identifier: Apache-2.0
 *
 * FSDP1: its state; fsdp1.c is what happens in a step, fsdp1_start.c how a model is cut.
 */
#ifndef VRAM_TRAIN_FSDP1_H
#define VRAM_TRAIN_FSDP1_H

#include "train/units.h"

enum vram_fsdp1_phase { IDLE, FORWARD, BACKWARD_PRE, BACKWARD_POST };

/* A parameter's piece in the rank's shards. */
struct vram_piece {
    uint64_t offset;           /* in its flat parameter */
    struct vram_handle *own;   /* NULL: other ranks have it */
};

struct vram_flat {
    const struct vram_unit *unit;
    enum vram_fsdp1_phase phase;
    bool trains, whole, prefetched, before_backward, needed;
    enum vram_dtype loaded;    /* of its parameters */
    uint64_t elements, shard;  /* with padding; of one rank */
    uint64_t *padding;         /* by parameter of the unit: elements in front of it; the last: at the end */
    struct vram_handle *flat;  /* the whole, of the compute dtype; its bytes come and go */
    struct vram_handle *own;   /* the rank's shard */
    struct vram_handle *grad;  /* sharded, until the next forward begins */
    int64_t place;             /* in the order of forwards; -1: not yet */
};

struct vram_fsdp1 {
    struct vram_units units;
    struct vram_flat *handles;
    struct vram_piece *piece;       /* by parameter */
    uint64_t ranks, rank;
    bool started, ready;       /* the first forward has begun; it is over */
    bool pieces;               /* use_orig_params */
    enum vram_dtype compute, sent; /* VRAM_DT_NONE: no mixed precision */
    VRAM_VEC(uint32_t) forwards;   /* handles by the end of their forward */
    VRAM_VEC(uint32_t) first;      /* by the begin, in the first step */
};

/* A tensor of elements of the unit's parameters. */
struct vram_handle *vram_flat_shared(struct vram_machine *m, const struct vram_flat *h, uint64_t elements,
                                     enum vram_dtype dtype, enum vram_category category);
struct vram_handle **vram_flat_params(struct vram_machine *m, const struct vram_flat *h);

#endif
