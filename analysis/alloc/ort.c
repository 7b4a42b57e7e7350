/* SPDX-License-Identifier: Apache-2.0
 *
 * ONNX Runtime's arena: best fit with coalescing in regions that double.
 *
 *   sizes     multiples of 256 bytes
 *   find      the smallest free chunk that is large enough, of equal ones the lowest address; the bins only
 *             make the search short
 *   split     when the chunk is at least twice as large as asked for, or 128 MiB would be wasted; else the whole
 *             chunk is handed out
 *   extend    the first region has 1 MiB; one that is too small doubles until it is not, and the next begins at
 *             twice the last (arena_extend_strategy = kNextPowerOfTwo, the default of all providers)
 *   free      joined with free neighbours of the same region; regions stay
 *   weights   by Reserve, one by one, straight from the device and outside the chunks
 *
 * Source: BFCArena in onnxruntime/core/framework/bfc_arena.{h,cc}; that initializers are reserved,
 * TensorAllocatorWithMemPattern (core/framework/tensor_allocator_with_mem_pattern.h).  One stream, no
 * limit, no memory patterns: a session that runs a shape for the first time.
 */
#include "alloc/alloc.h"
#include "alloc/rows.h"
#include "base/vec.h"

enum { UNIT = 256, BINS = 21, NONE = 0 };
static const uint64_t MIB = UINT64_C(1) << 20;
static const uint64_t MOST = UINT64_C(1) << 61;

struct chunk {
    uint64_t addr, size;
    uint32_t before, after; /* neighbours in the region */
    uint32_t next;          /* in its bin, or of unused numbers */
    bool used;
};

struct arena {
    struct vram_cx *cx;
    VRAM_VEC(struct chunk) chunks; /* number 0 is none */
    uint32_t unused;
    uint32_t bin[BINS];            /* lists of free chunks by size, then address: few in a graph's run */
    uint64_t region;               /* bytes of the next one */
    uint64_t end;                  /* addresses given so far */
    uint64_t in_use, held, regions;
};

static unsigned bin_of(uint64_t size)
{
    unsigned bin = 63u - (unsigned)__builtin_clzll(size / UNIT);
    return bin < BINS ? bin : BINS - 1;
}

static void insert(struct arena *a, uint32_t id)
{
    struct chunk *at = a->chunks.at;
    uint32_t *link = &a->bin[bin_of(at[id].size)];
    while (*link && (at[*link].size < at[id].size ||
                     (at[*link].size == at[id].size && at[*link].addr < at[id].addr)))
        link = &at[*link].next;
    at[id].next = *link;
    at[id].used = false;
    *link = id;
}

static void take_out(struct arena *a, uint32_t id)
{
    uint32_t *link = &a->bin[bin_of(a->chunks.at[id].size)];
    while (*link != id)
        link = &a->chunks.at[*link].next;
    *link = a->chunks.at[id].next;
}

/* A number for a chunk; NONE when out of memory. */
static uint32_t number(struct arena *a)
{
    uint32_t id = a->unused;
    if (id) {
        a->unused = a->chunks.at[id].next;
        return id;
    }
    struct chunk none = {0};
    if (!a->chunks.n && !vram_vec_push(&a->chunks, a->cx->arena, none))
        return NONE;
    return vram_vec_push(&a->chunks, a->cx->arena, none) ? (uint32_t)a->chunks.n - 1 : NONE;
}

static uint32_t find(const struct arena *a, uint64_t size)
{
    for (unsigned bin = bin_of(size); bin < BINS; bin++)
        for (uint32_t id = a->bin[bin]; id; id = a->chunks.at[id].next)
            if (a->chunks.at[id].size >= size)
                return id;
    return NONE;
}

static int extend(struct arena *a, uint64_t size, uint32_t *out)
{
    bool grown = false;
    while (size > a->region) {
        a->region *= 2;
        grown = true;
    }
    uint32_t id = number(a);
    if (!id)
        return vram_fail_memory(a->cx);
    a->chunks.at[id] = (struct chunk){.addr = a->end, .size = a->region};
    a->end += a->region;
    a->held += a->region;
    a->regions++;
    if (a->held > MOST)
        return vram_fail(a->cx, VRAM_E_RANGE, VRAM_NO_OFFSET, "the arena's regions overflow");
    if (!grown)
        a->region *= 2;
    insert(a, id);
    *out = id;
    return VRAM_OK;
}

static int request(struct arena *a, uint64_t bytes, uint32_t *out)
{
    uint64_t size = (bytes + UNIT - 1) / UNIT * UNIT;
    uint32_t id = find(a, size);
    if (!id)
        VRAM_TRY(extend(a, size, &id));
    take_out(a, id);
    uint64_t left = a->chunks.at[id].size - size;
    if (left >= size || left >= 128 * MIB) {
        uint32_t rest = number(a);
        if (!rest)
            return vram_fail_memory(a->cx);
        struct chunk *c = &a->chunks.at[id];
        a->chunks.at[rest] = (struct chunk){.addr = c->addr + size, .size = left, .before = id,
                                            .after = c->after};
        if (c->after)
            a->chunks.at[c->after].before = rest;
        c->after = rest;
        c->size = size;
        if (left)
            insert(a, rest);
    }
    a->chunks.at[id].used = true;
    a->in_use += a->chunks.at[id].size;
    *out = id;
    return VRAM_OK;
}

/* The chunk behind becomes part of the one before. */
static void merge(struct arena *a, uint32_t id)
{
    struct chunk *at = a->chunks.at;
    uint32_t gone = at[id].after;
    at[id].size += at[gone].size;
    at[id].after = at[gone].after;
    if (at[id].after)
        at[at[id].after].before = id;
    at[gone].next = a->unused;
    a->unused = gone;
}

static void give_back(struct arena *a, uint32_t id)
{
    struct chunk *at = a->chunks.at;
    a->in_use -= at[id].size;
    at[id].used = false;
    if (at[id].after && !at[at[id].after].used) {
        take_out(a, at[id].after);
        merge(a, id);
    }
    if (at[id].before && !at[at[id].before].used) {
        id = at[id].before;
        take_out(a, id);
        merge(a, id);
    }
    insert(a, id);
}

struct replayer {
    struct arena arena;
    uint32_t *chunk;    /* by storage */
    uint64_t *reserved; /* by storage: bytes straight from the device */
    uint64_t requested;
};

static int step(struct replayer *p, const struct vram_events *events, const struct vram_event *e,
                enum vram_bound bound)
{
    uint64_t bytes = vram_storage_bytes(events, e->storage, bound);
    bool weight = events->storages[e->storage].op == VRAM_OP_LOAD;
    if (bytes > MOST)
        return vram_fail(p->arena.cx, VRAM_E_RANGE, VRAM_NO_OFFSET, "the sum of the live bytes overflows");
    if (e->kind == VRAM_EVENT_ALLOC) {
        p->requested += bytes;
        if (!bytes)
            return VRAM_OK;
        if (!weight)
            return request(&p->arena, bytes, &p->chunk[e->storage]);
        p->reserved[e->storage] = bytes;
        p->arena.in_use += bytes;
        p->arena.held += bytes;
        return VRAM_OK;
    }
    p->requested -= bytes;
    if (p->reserved[e->storage]) {
        p->arena.in_use -= bytes;
        p->arena.held -= bytes;
        p->reserved[e->storage] = 0;
    } else if (p->chunk[e->storage]) {
        give_back(&p->arena, p->chunk[e->storage]);
        p->chunk[e->storage] = NONE;
    }
    return VRAM_OK;
}

static int replay_ort(struct vram_cx *cx, const struct vram_events *events, enum vram_bound bound,
                      struct vram_replay *out)
{
    struct replayer p = {.arena = {.cx = cx, .region = MIB}};
    struct vram_replay r = {0};
    p.chunk = vram_arena_array(cx->arena, events->nstorages, sizeof *p.chunk);
    p.reserved = vram_arena_array(cx->arena, events->nstorages, sizeof *p.reserved);
    if (!p.chunk || !p.reserved)
        return vram_fail_memory(cx);
    for (size_t i = 0; i < events->n; i++) {
        const struct vram_event *e = &events->at[i];
        if (e->kind != VRAM_EVENT_ALLOC && e->kind != VRAM_EVENT_FREE)
            continue;
        VRAM_TRY(step(&p, events, e, bound));
        if (p.arena.in_use > r.allocated) {
            r.allocated = p.arena.in_use;
            r.requested = p.requested;
            r.event = (uint32_t)i;
        }
        r.reserved = p.arena.held > r.reserved ? p.arena.held : r.reserved;
    }
    r.varied = r.reserved;
    r.segments = (uint32_t)p.arena.regions;
    *out = r;
    return VRAM_OK;
}

const struct vram_allocator_row vram_allocator_ort = {
    .name = "ort",
    .help = "ONNX Runtime's arena: best fit in regions that double, weights beside it",
    .source = "onnxruntime/core/framework/bfc_arena.cc",
    .replay = replay_ort,
};
