/* SPDX-License-Identifier: Apache-2.0
 *
 * ZeRO 3: parameters in shards (coordinator.c), gradients and steps (zero3.c).
 */
#ifndef VRAM_TRAIN_ZERO3_H
#define VRAM_TRAIN_ZERO3_H

#include "base/vec.h"
#include "train/strategy.h"

/* Numbers of scopes or parameters, each once, in the order in which they came. */
struct vram_set {
    uint32_t *at;
    size_t n, cap;
};

/* An all-gather on its way: one flat tensor for all its parameters.  It is held for each of them until
 * the module comes that asks for it. */
struct vram_gather {
    struct vram_handle *flat;
    uint32_t *params;
    uint32_t n, held;
    bool complete;
};

struct vram_shard {
    uint64_t elements;            /* of one rank: rounded up */
    struct vram_handle *own;      /* the rank's: a tensor of its own, or the flat one of all */
    bool partitioned;             /* it is a parameter of this engine */
    bool here;                    /* the whole parameter is there */
    bool in_flight;               /* nobody has waited for it yet */
    bool persistent;              /* stays whole when it was gathered */
    struct vram_gather *gather;   /* NULL: gathered alone */
    int64_t fetched_for;          /* the last module of the trace that it was fetched for */
    struct vram_set active;        /* modules that use it now */
};

struct vram_trace_entry {
    uint32_t param;
    int64_t step;
};

enum vram_trace { VRAM_TRACE_NONE, VRAM_TRACE_RECORD, VRAM_TRACE_COMPLETE };

/* PartitionedParameterCoordinator */
struct vram_coordinator {
    struct vram_strategy *s;
    uint64_t ranks;
    struct vram_shard *shard;     /* by parameter of the tree */
    struct vram_set *params;      /* by scope: its own, then those of others that its code reads */
    uint64_t prefetch, most, reuse;
    bool sequential, overlaps, from_host, wrapped;
    uint64_t available;           /* elements gathered */
    enum vram_trace mode;
    int64_t step;                 /* modules that have begun */
    struct vram_set order;        /* scopes as they began, forward and backward */
    VRAM_VEC(struct vram_trace_entry) queue;
    size_t queue_at;
    struct vram_set backward;     /* scopes whose backward has begun */
    struct vram_set *recomputed;  /* by scope: frozen parameters gathered again in its backward */
};

void vram_coordinator_init(struct vram_coordinator *c, struct vram_strategy *s);
/* A new forward: what is in flight is given up, the trace begins, is complete, or is followed. */
void vram_coordinator_reset(struct vram_coordinator *c);
/* Behind a backward: modules whose inputs needed no gradient are released. */
void vram_coordinator_leftovers(struct vram_coordinator *c);
void vram_coordinator_release_all(struct vram_coordinator *c);
/* One parameter whole and away again; persistent ones whole behind a step. */
void vram_coordinator_visit(struct vram_coordinator *c, uint32_t param);
void vram_coordinator_persist(struct vram_coordinator *c);

#endif
