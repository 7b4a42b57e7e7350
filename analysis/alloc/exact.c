/* SPDX-License-Identifier: Apache-2.0
 *
 * No allocator: the sum of what was asked for.  The row `exact`, and the peak and end of every
 * phase as a framework's own tensors have them.
 */
#include "alloc/alloc.h"
#include "alloc/rows.h"
#include "base/math.h"

static int too_much(struct vram_cx *cx)
{
    return vram_fail(cx, VRAM_E_RANGE, VRAM_NO_OFFSET, "the sum of the live bytes overflows");
}

static int replay_exact(struct vram_cx *cx, const struct vram_events *events, enum vram_bound bound,
                        struct vram_replay *out)
{
    uint64_t live = 0;
    struct vram_replay r = {0};
    const struct vram_event *at = events->at;
    for (size_t i = 0, n = events->n; i < n; i++) {
        if (at[i].kind != VRAM_EVENT_ALLOC && at[i].kind != VRAM_EVENT_FREE)
            continue;
        uint64_t bytes = vram_storage_bytes(events, at[i].storage, bound);
        bool made = at[i].kind == VRAM_EVENT_ALLOC;
        live += made ? bytes : -bytes;
        r.segments += made ? 1 : UINT32_MAX;
        if (made && live < bytes)
            return too_much(cx);
        if (live > r.allocated) {
            r.allocated = live;
            r.event = (uint32_t)i;
        }
    }
    r.reserved = r.varied = r.requested = r.allocated;
    *out = r;
    return VRAM_OK;
}

const struct vram_allocator_row vram_allocator_exact = {
    .name = "exact",
    .help = "the bytes of the live storages, without rounding, segments or a cache",
    .source = "the events themselves",
    .replay = replay_exact,
};

/* A phase starts at the bytes that are live when it begins and ends at those live when the next
 * one does; its peak is the highest sum in between, both ends included. */
int vram_replay_phases(struct vram_cx *cx, const struct vram_events *events,
                       struct vram_replay_phase **out)
{
    struct vram_replay_phase *phases = vram_arena_array(cx->arena, events->nphases, sizeof *phases);
    uint8_t *counted = vram_arena_alloc(cx->arena, events->nstorages); /* 1: a tensor, and alive */
    if (!phases || !counted)
        return vram_fail_memory(cx);
    struct vram_replay_phase before = {0}, *phase = &before;
    const struct vram_event *at = events->at;
    uint64_t live = 0, peak = 0;
    for (size_t i = 0, n = events->n; i < n; i++) {
        uint32_t storage = at[i].storage;
        if (at[i].kind == VRAM_EVENT_PHASE) {
            if (storage >= events->nphases)
                return vram_fail(cx, VRAM_E_INTERNAL, VRAM_NO_OFFSET, "event %zu: no phase %u", i,
                                 storage);
            *phase = (struct vram_replay_phase){peak, live};
            phase = &phases[storage];
            peak = live;
        } else if (at[i].kind != VRAM_EVENT_EMPTY_CACHE) {
            uint64_t bytes = events->storages[storage].bytes;
            uint8_t was = counted[storage];
            uint8_t is = at[i].kind != VRAM_EVENT_FREE && at[i].category != VRAM_CAT_WORKSPACE;
            counted[storage] = is;
            live += is > was ? bytes : 0;
            if (is > was && live < bytes)
                return too_much(cx);
            live -= is < was ? bytes : 0;
            peak = live > peak ? live : peak;
        }
    }
    *phase = (struct vram_replay_phase){peak, live};
    *out = phases;
    return VRAM_OK;
}
