/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays events through the model of the CUDA caching allocator: the rows `torch` and
 * `torch-expandable`.
 */
#include "alloc/alloc.h"
#include "alloc/caching.h"
#include "alloc/rows.h"

static int fault(struct vram_cx *cx, size_t event, const char *what)
{
    return vram_fail(cx, VRAM_E_INTERNAL, VRAM_NO_OFFSET, "event %zu: %s", event, what);
}

static int replay(struct vram_cx *cx, const struct vram_events *events, enum vram_bound bound,
                  bool expandable, struct vram_replay *out)
{
    struct vram_caching *c = vram_arena_alloc(cx->arena, sizeof *c);
    /* block + 1 of every live storage; 0 = not live */
    uint32_t *block_of = vram_arena_array(cx->arena, events->nstorages, sizeof *block_of);
    if (!c || !block_of)
        return vram_fail_memory(cx);
    vram_caching_init(c, cx, &(struct vram_caching_options){.expandable = expandable});
    struct vram_replay r = {0};
    uint64_t requested = 0;
    for (size_t i = 0; i < events->n; i++) {
        const struct vram_event *e = &events->at[i];
        if (e->kind == VRAM_EVENT_ALLOC) {
            if (block_of[e->storage])
                return fault(cx, i, "a storage is made twice");
            uint64_t bytes = vram_storage_bytes(events, e->storage, bound);
            uint32_t block;
            VRAM_TRY(vram_caching_malloc(c, bytes, events->storages[e->storage].stream, &block));
            block_of[e->storage] = block + 1;
            requested += bytes;
            if (c->allocated > r.allocated) {
                r.allocated = c->allocated;
                r.requested = requested;
                r.event = (uint32_t)i;
            }
        } else if (e->kind == VRAM_EVENT_FREE) {
            if (!block_of[e->storage])
                return fault(cx, i, "a storage is freed that is not alive");
            vram_caching_free(c, block_of[e->storage] - 1);
            block_of[e->storage] = 0;
            requested -= vram_storage_bytes(events, e->storage, bound);
        } else if (e->kind == VRAM_EVENT_EMPTY_CACHE) {
            VRAM_TRY(vram_caching_empty(c));
        }
    }
    r.reserved = c->peak_reserved;
    r.segments = c->segments;
    *out = r;
    return VRAM_OK;
}

static int replay_torch(struct vram_cx *cx, const struct vram_events *events, enum vram_bound bound,
                        struct vram_replay *out)
{
    return replay(cx, events, bound, false, out);
}

const struct vram_allocator_row vram_allocator_torch = {
    .name = "torch",
    .help = "the CUDA caching allocator at its defaults",
    .source = "c10/cuda/CUDACachingAllocator.cpp, torch 2.9",
    .replay = replay_torch,
};

static int replay_expandable(struct vram_cx *cx, const struct vram_events *events,
                             enum vram_bound bound, struct vram_replay *out)
{
    return replay(cx, events, bound, true, out);
}

const struct vram_allocator_row vram_allocator_torch_expandable = {
    .name = "torch-expandable",
    .help = "the CUDA caching allocator with expandable_segments:True",
    .source = "ExpandableSegment in c10/cuda/CUDACachingAllocator.cpp, torch 2.9",
    .replay = replay_expandable,
};
