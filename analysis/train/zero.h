/* SPDX-License-Identifier: Apache-2.0
 *
 * ZeRO 1 and 2: their state; zero.c is what happens in a step, zero_start.c how weights are flattened and
 * partitioned.
 */
#ifndef VRAM_TRAIN_ZERO_H
#define VRAM_TRAIN_ZERO_H

#include "train/strategy.h"

/* Where a parameter lies in its flat group. */
struct vram_zero_place {
    uint8_t group;
    uint64_t from;
};

struct vram_zero_group {
    struct vram_handle **params; /* in registration order */
    uint32_t n;
    uint64_t elements;           /* padded to a multiple of 2·ranks */
    uint64_t partition;          /* elements of one rank */
    struct vram_handle *flat;    /* 16-bit weights of the group; the parameters are views of it */
    struct vram_handle *padding; /* of the rank's gradients: zeros behind the last parameter */
    struct vram_handle master;   /* the fp32 partition as a parameter of the optimizer */
};

struct vram_zero {
    struct vram_zero_group group[2];
    uint64_t rank;               /* that is followed */
    bool *mine;                  /* by parameter of the tree: touches the rank's partition */
    struct vram_zero_place *place;         /* by parameter of the tree */
    uint64_t mine_elements;      /* of all parameters that do, whole */
    uint64_t bucket_size;        /* elements */
    struct vram_handle *ipg[2];
    int buffers;                 /* two with overlap_comm */
    bool setup_pending;          /* buffers are made at the first gradient */
    bool contiguous;             /* gradients move into buckets and into the partition's buffer */
    bool scatter;                /* pieces of a bucket are reduced for their owners */
    uint64_t filled;
    struct vram_handle **in_bucket;
    uint32_t nin_bucket;
    struct vram_handle *own;     /* gradients of the partition, of this backward */
    struct vram_handle *kept;    /* of earlier backwards of the step */
    struct vram_handle **kept_each; /* of its own storage: by parameter of the tree */
    struct vram_handle *staging; /* offload: as large as the largest parameter */
    struct vram_handle **norms;  /* offload: by parameter of the tree, until the step */
    bool *on_host;               /* offload: by parameter of the tree: its gradients are summed there */
    bool *came;                  /* by parameter of the tree: had a gradient in this backward */
};

#endif
