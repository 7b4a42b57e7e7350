/* SPDX-License-Identifier: Apache-2.0
 *
 * Models of memory allocators: each replays the same events and says what the allocator would have
 * handed out and held.  An allocator is a row; `allocator=` picks one.
 */
#ifndef VRAM_ALLOC_ALLOC_H
#define VRAM_ALLOC_ALLOC_H

#include "base/cx.h"
#include "machine/events.h"

struct vram_replay_phase {
    uint64_t peak, end; /* framework tensors only (no VRAM_CAT_WORKSPACE), as requested */
};

struct vram_replay {
    uint64_t allocated;        /* highest sum of live blocks, as the allocator counts them */
    uint64_t reserved;         /* highest sum of segments */
    uint64_t varied;           /* VRAM_HIGH: the same after shorter batches; else = reserved */
    uint64_t requested;        /* live bytes as requested, at the event of `allocated` */
    uint32_t event;            /* the event after which `allocated` was first reached */
    uint32_t segments;         /* at the end */
    struct vram_replay_phase *phases; /* one per phase of the events; NULL unless asked for */
};

struct vram_allocator_row {
    const char *name; /* "torch" */
    const char *help;
    const char *source;
    /* 0 or an error code; memory comes from cx->arena and may be rewound by the caller */
    int (*replay)(struct vram_cx *cx, const struct vram_events *events, enum vram_bound bound,
                  struct vram_replay *out);
    /* NULL, or what vram_replay_bounds does, in the memory of one replay */
    int (*bounds)(struct vram_cx *cx, const struct vram_events *events, struct vram_replay *out);
};
extern const struct vram_allocator_row *const vram_allocators[]; /* NULL-terminated */
const struct vram_allocator_row *vram_allocator_find(const char *name);

/* out[VRAM_LOW], [VRAM_EXPECTED], [VRAM_HIGH]: a replay for each, at less than the cost of three. */
int vram_replay_bounds(struct vram_cx *cx, const struct vram_allocator_row *row,
                       const struct vram_events *events, struct vram_replay *out);

/* Peak and end of every phase, exactly as requested: independent of any allocator. */
int vram_replay_phases(struct vram_cx *cx, const struct vram_events *events,
                       struct vram_replay_phase **out);

#endif
