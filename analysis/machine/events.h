/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run leaves behind: an ordered list of allocations and frees, with who made them and why.
 * The machine appends, allocator replays and the report read.  Nothing here is ever changed
 * afterwards.
 */
#ifndef VRAM_MACHINE_EVENTS_H
#define VRAM_MACHINE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cx.h"

/* What a storage is for.  A storage changes category while it lives: a temporary becomes saved when
 * the tape keeps it, a backward result becomes a gradient when .grad takes it. */
enum vram_category {
    VRAM_CAT_PARAMETER,
    VRAM_CAT_BUFFER,
    VRAM_CAT_INPUT,
    VRAM_CAT_GRADIENT,
    VRAM_CAT_OPTIMIZER, /* states, master copies, shards */
    VRAM_CAT_SAVED,     /* held by the tape: activations and autocast copies of weights */
    VRAM_CAT_TEMPORARY,
    VRAM_CAT_WORKSPACE, /* inside kernels and libraries; not a framework tensor */
    VRAM_CAT_COUNT
};
extern const char *const vram_category_names[VRAM_CAT_COUNT];

enum vram_event_kind {
    VRAM_EVENT_ALLOC,
    VRAM_EVENT_FREE,
    VRAM_EVENT_CATEGORY, /* the storage changes to `category` */
    VRAM_EVENT_PHASE,    /* `storage` is the number of the phase that begins */
    VRAM_EVENT_EMPTY_CACHE /* torch.cuda.empty_cache(): caching allocators give segments back */
};

struct vram_event {
    uint32_t storage;
    uint8_t kind;     /* enum vram_event_kind */
    uint8_t category; /* ALLOC and CATEGORY: enum vram_category */
    uint16_t spare;
};

struct vram_storage_row {
    uint64_t bytes;    /* as requested: elements times size; expected value when uncertain */
    uint32_t scope;    /* module running when it was made */
    uint32_t saver;    /* module running when the tape first kept it; = scope until then */
    uint32_t param;    /* parameter it is, belongs to or is a copy of; VRAM_NO_PARAM else */
    uint32_t range;    /* 1 + index into ranges when low and high differ from bytes; 0 = certain */
    uint32_t share;    /* 1 + index into shares when it belongs to several components; 0 = one */
    uint16_t op;       /* row of the op table, or VRAM_OP_* of events.h */
    uint8_t stream;    /* 0 = the compute stream; others have pools of their own */
    uint8_t flags;     /* VRAM_STORAGE_* */
};
#define VRAM_NO_PARAM UINT32_MAX
/* `op` of storages that no op row makes */
enum { VRAM_OP_LOAD = 0xff00, VRAM_OP_INPUTS, VRAM_OP_LOOP, VRAM_OP_BACKWARD, VRAM_OP_CLIP,
       VRAM_OP_OPTIMIZER, VRAM_OP_STRATEGY };
#define VRAM_STORAGE_WEIGHT_CAST 1 /* an autocast copy of a parameter */
#define VRAM_STORAGE_LOSS 2        /* made by code of the loss, outside any module */

struct vram_bytes_range {
    uint64_t low, high;
};

/* How the bytes of a flat buffer divide among components; the parts add up to its bytes. */
struct vram_share_part {
    vram_sym component;
    uint64_t bytes;
};
struct vram_share {
    const struct vram_share_part *parts;
    uint32_t n;
};

struct vram_phase_row {
    const char *name;     /* "step1.forward" */
    uint32_t first_event; /* index of its PHASE event */
};

struct vram_events {
    struct vram_event *at;
    size_t n, cap;
    struct vram_storage_row *storages; /* by id, in order of allocation */
    size_t nstorages, storages_cap;
    struct vram_bytes_range *ranges;
    size_t nranges, ranges_cap;
    struct vram_phase_row *phases;
    size_t nphases, phases_cap;
    struct vram_share *shares;
    size_t nshares, shares_cap;
    /* a step that ran before with shorter batches, as far as the upper bound goes; 0, 0 = none */
    size_t varied_from, varied_to;
};

/* Room for one more of each; false when out of memory. */
bool vram_events_room(struct vram_events *e, struct vram_arena *arena);       /* a storage */
bool vram_events_range_room(struct vram_events *e, struct vram_arena *arena);
bool vram_events_share_room(struct vram_events *e, struct vram_arena *arena);
bool vram_events_phase_room(struct vram_events *e, struct vram_arena *arena);

enum vram_bound { VRAM_LOW, VRAM_EXPECTED, VRAM_HIGH };

static inline uint64_t vram_storage_bytes(const struct vram_events *e, uint32_t storage,
                                          enum vram_bound bound)
{
    const struct vram_storage_row *s = &e->storages[storage];
    if (bound == VRAM_EXPECTED || s->range == 0)
        return s->bytes;
    const struct vram_bytes_range *r = &e->ranges[s->range - 1];
    return bound == VRAM_LOW ? r->low : r->high;
}

#endif
