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
    for (size_t i = 0; i < events->n; i++) {
        const struct vram_event *e = &events->at[i];
        if (e->kind == VRAM_EVENT_ALLOC) {
            if (!vram_add_u64(live, vram_storage_bytes(events, e->storage, bound), &live))
                return too_much(cx);
            r.segments++;
            if (live > r.allocated) {
                r.allocated = live;
                r.event = (uint32_t)i;
            }
        } else if (e->kind == VRAM_EVENT_FREE) {
            live -= vram_storage_bytes(events, e->storage, bound);
            r.segments--;
        }
    }
    r.reserved = r.requested = r.allocated;
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
    uint8_t *outside = vram_arena_alloc(cx->arena, events->nstorages); /* a workspace now */
    if (!phases || !outside)
        return vram_fail_memory(cx);
    struct vram_replay_phase before = {0}, *phase = &before;
    uint64_t live = 0;
    for (size_t i = 0; i < events->n; i++) {
        const struct vram_event *e = &events->at[i];
        if (e->kind == VRAM_EVENT_PHASE) {
            if (e->storage >= events->nphases)
                return vram_fail(cx, VRAM_E_INTERNAL, VRAM_NO_OFFSET, "event %zu: no phase %u", i,
                                 e->storage);
            phase = &phases[e->storage];
            phase->peak = phase->end = live;
            continue;
        }
        bool is_outside = e->category == VRAM_CAT_WORKSPACE;
        bool was_outside = e->kind == VRAM_EVENT_ALLOC || outside[e->storage];
        uint64_t bytes = events->storages[e->storage].bytes;
        if (e->kind == VRAM_EVENT_FREE)
            is_outside = true;
        else
            outside[e->storage] = is_outside;
        if (was_outside && !is_outside && !vram_add_u64(live, bytes, &live))
            return too_much(cx);
        if (!was_outside && is_outside)
            live -= bytes;
        phase->end = live;
        if (live > phase->peak)
            phase->peak = live;
    }
    *out = phases;
    return VRAM_OK;
}
