/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays events through the model of the CUDA caching allocator: the rows `torch` and
 * `torch-expandable`.
 */
#include <string.h>

#include "alloc/alloc.h"
#include "alloc/rows.h"
#include "alloc/serve.h"

/* What a replay works on. */
struct replayer {
    struct vram_caching caching;
    uint32_t *block_of; /* block + 1 of every live storage; 0 = not live */
    uint8_t *fate;      /* by storage: 1 = made in the step that varies, 2 = and freed there */
};

static int fault(struct vram_cx *cx, size_t event, const char *what)
{
    return vram_fail(cx, VRAM_E_INTERNAL, VRAM_NO_OFFSET, "event %zu: %s", event, what);
}

/* What is not a request for a block: no bytes, or more than there can be. */
static int odd(struct vram_caching *c, uint64_t bytes)
{
    uint32_t none;
    return vram_caching_malloc(c, bytes, 0, &none);
}

/* ---- batches of other lengths -------------------------------------------------------------- */

/* Samples of a training set differ in length.  What shorter batches had stays cached in blocks that a
 * longer one cannot use: the upper bound sees these parts of the length first. */
static const uint64_t tenths[] = {4, 6, 8};

/* Tensors of the batch: not of a parameter, not made by clipping, the optimizer or a strategy. */
static bool of_batch(const struct vram_storage_row *s)
{
    return s->param == VRAM_NO_PARAM && s->op < VRAM_OP_CLIP;
}

static int shorter_batch(struct replayer *p, const struct vram_events *events, uint64_t part)
{
    struct vram_caching *c = &p->caching;
    for (size_t i = events->varied_from; i < events->varied_to; i++) {
        const struct vram_event *e = &events->at[i];
        uint32_t block = 0;
        if (p->fate[e->storage] != 2)
            continue;
        if (e->kind == VRAM_EVENT_ALLOC) {
            const struct vram_storage_row *s = &events->storages[e->storage];
            uint64_t bytes = vram_storage_bytes(events, e->storage, VRAM_HIGH);
            if (e->category != VRAM_CAT_WORKSPACE && of_batch(s))
                bytes = bytes / 10 * part;
            if (bytes - 1 < VRAM_CACHING_LIMIT / 2)
                VRAM_TRY(vram_serve_request(c, bytes, s->stream, &block));
            p->block_of[e->storage] = block + 1;
        } else if (e->kind == VRAM_EVENT_FREE && p->block_of[e->storage]) {
            block = p->block_of[e->storage];
            p->block_of[e->storage] = 0;
            if (block > 1)
                vram_serve_return(c, block - 1);
        }
    }
    return VRAM_OK;
}

static int shorter_batches(struct vram_cx *cx, struct replayer *p, const struct vram_events *events)
{
    p->fate = vram_arena_array(cx->arena, events->nstorages, sizeof *p->fate);
    if (!p->fate)
        return vram_fail_memory(cx);
    for (size_t i = events->varied_from; i < events->varied_to; i++) {
        const struct vram_event *e = &events->at[i];
        if (e->kind == VRAM_EVENT_ALLOC)
            p->fate[e->storage] = 1;
        else if (e->kind == VRAM_EVENT_FREE && p->fate[e->storage])
            p->fate[e->storage] = 2;
    }
    for (size_t i = 0; i < sizeof tenths / sizeof *tenths; i++)
        VRAM_TRY(shorter_batch(p, events, tenths[i]));
    return VRAM_OK;
}

/* One replay, from the first event to the last; varied: with shorter batches first. */
static int play(struct vram_cx *cx, struct replayer *p, const struct vram_events *events,
                enum vram_bound bound, bool varied, struct vram_replay *out)
{
    struct vram_caching *c = &p->caching;
    uint32_t *block_of = p->block_of;
    const struct vram_event *at = events->at;
    struct vram_replay r = {0};
    for (size_t i = 0, n = events->n; i < n; i++) {
        uint32_t storage = at[i].storage, block = 0;
        if (varied && i == events->varied_from)
            VRAM_TRY(shorter_batches(cx, p, events));
        if (at[i].kind == VRAM_EVENT_ALLOC) {
            if (block_of[storage])
                return fault(cx, i, "a storage is made twice");
            uint64_t bytes = vram_storage_bytes(events, storage, bound);
            if (bytes - 1 < VRAM_CACHING_LIMIT / 2)
                VRAM_TRY(vram_serve_request(c, bytes, events->storages[storage].stream, &block));
            else
                VRAM_TRY(odd(c, bytes));
            block_of[storage] = block + 1;
            if (c->allocated > r.allocated) {
                r.allocated = c->allocated;
                r.requested = c->requested;
                r.event = (uint32_t)i;
            }
        } else if (at[i].kind == VRAM_EVENT_FREE) {
            block = block_of[storage];
            if (!block)
                return fault(cx, i, "a storage is freed that is not alive");
            block_of[storage] = 0;
            if (block > 1)
                vram_serve_return(c, block - 1);
        } else if (at[i].kind == VRAM_EVENT_EMPTY_CACHE) {
            VRAM_TRY(vram_caching_empty(c));
        }
    }
    r.reserved = r.varied = c->peak_reserved;
    r.segments = c->segments;
    *out = r;
    return VRAM_OK;
}

static void afresh(struct replayer *p, size_t n)
{
    vram_caching_reset(&p->caching);
    memset(p->block_of, 0, n * sizeof *p->block_of);
}

/* The bounds from `first` to `last`, one after the other in the same memory: touching a page for the
 * first time costs as much as many events. */
static int replay(struct vram_cx *cx, const struct vram_events *events, enum vram_bound first,
                  enum vram_bound last, bool expandable, struct vram_replay *out)
{
    struct vram_replay r[VRAM_HIGH + 1];
    size_t n = events->nstorages;
    struct replayer *p = vram_arena_alloc(cx->arena, sizeof *p);
    if (!p || !(p->block_of = vram_arena_array(cx->arena, n, sizeof *p->block_of)))
        return vram_fail_memory(cx);
    /* blocks for half of the storages: what is alive at once and the gaps between are fewer */
    struct vram_caching_options options = {.expandable = expandable, .expect = n / 2};
    vram_caching_init(&p->caching, cx, &options);
    for (unsigned bound = first; bound <= last; bound++) {
        if (bound > first)
            afresh(p, n);
        VRAM_TRY(play(cx, p, events, (enum vram_bound)bound, false, &r[bound]));
    }
    if (last == VRAM_HIGH && events->varied_from < events->varied_to) {
        struct vram_replay varied = {0};
        afresh(p, n);
        VRAM_TRY(play(cx, p, events, VRAM_HIGH, true, &varied));
        if (varied.reserved > r[VRAM_HIGH].reserved)
            r[VRAM_HIGH].varied = varied.reserved;
    }
    memcpy(out, &r[first], (last - first + 1) * sizeof *out);
    return VRAM_OK;
}

static int replay_torch(struct vram_cx *cx, const struct vram_events *events, enum vram_bound bound,
                        struct vram_replay *out)
{
    return replay(cx, events, bound, bound, false, out);
}

static int bounds_torch(struct vram_cx *cx, const struct vram_events *events,
                        struct vram_replay *out)
{
    return replay(cx, events, VRAM_LOW, VRAM_HIGH, false, out);
}

const struct vram_allocator_row vram_allocator_torch = {
    .name = "torch",
    .help = "the CUDA caching allocator at its defaults",
    .source = "c10/cuda/CUDACachingAllocator.cpp, torch 2.9",
    .replay = replay_torch,
    .bounds = bounds_torch,
};

static int replay_expandable(struct vram_cx *cx, const struct vram_events *events,
                             enum vram_bound bound, struct vram_replay *out)
{
    return replay(cx, events, bound, bound, true, out);
}

static int bounds_expandable(struct vram_cx *cx, const struct vram_events *events,
                             struct vram_replay *out)
{
    return replay(cx, events, VRAM_LOW, VRAM_HIGH, true, out);
}

const struct vram_allocator_row vram_allocator_torch_expandable = {
    .name = "torch-expandable",
    .help = "the CUDA caching allocator with expandable_segments:True",
    .source = "ExpandableSegment in c10/cuda/CUDACachingAllocator.cpp, torch 2.9",
    .replay = replay_expandable,
    .bounds = bounds_expandable,
};
