/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching allocator; see caching.h.  Rules: c10/cuda/CUDACachingAllocator.cpp (round_size,
 * get_allocation_size, should_split, get_free_block, alloc_found_block, free_block,
 * release_available_cached_blocks, release_cached_blocks) with the constants of torch 2.9.
 *
 * A real card's addresses are not known; segments are taken to lie in the order of their making.
 * That decides only which of two free blocks of equal size is reused.
 */
#include "alloc/caching.h"

#include <assert.h>

#include "base/math.h"

#define MIB (UINT64_C(1) << 20)

static const uint64_t min_block = 512;            /* every size is a multiple */
static const uint64_t small_limit = 1 * MIB;      /* largest request of the small pool */
static const uint64_t small_segment = 2 * MIB;    /* segment of the small pool */
static const uint64_t large_segment = 20 * MIB;   /* segment of requests below own_segment */
static const uint64_t own_segment = 10 * MIB;     /* from here on a segment of its own … */
static const uint64_t segment_rounding = 2 * MIB; /* … rounded up to this */
static const uint64_t no_limit = UINT64_C(1) << 62;

void vram_caching_init(struct vram_caching *c, struct vram_cx *cx,
                       const struct vram_caching_options *options)
{
    uint32_t divisions = options->power2_divisions;
    assert((divisions & (divisions - 1)) == 0 || divisions == 0);
    (void)divisions;
    *c = (struct vram_caching){.cx = cx, .options = *options};
    if (!c->options.max_non_split)
        c->options.max_non_split = large_segment;
    if (!c->options.max_split)
        c->options.max_split = UINT64_MAX;
    c->limit = options->total && options->total < no_limit ? options->total : no_limit;
    vram_blocks_init(&c->blocks, cx->arena);
}

uint64_t vram_caching_round(const struct vram_caching_options *options, uint64_t n)
{
    uint64_t divisions = options->power2_divisions;
    if (n < min_block)
        return min_block;
    if (divisions > 1 && n > min_block * divisions) {
        uint64_t power = UINT64_C(1) << (63 - __builtin_clzll(n));
        return vram_round_up(n, power / divisions); /* power itself stays as it is */
    }
    return vram_round_up(n, min_block);
}

static uint64_t segment_size(uint64_t size)
{
    if (size <= small_limit)
        return small_segment;
    return size < own_segment ? large_segment : vram_round_up(size, segment_rounding);
}

static struct vram_pool *pool_of(struct vram_caching *c, uint16_t pool)
{
    if (!c->pools[pool])
        c->pools[pool] = vram_arena_alloc(c->cx->arena, sizeof *c->pools[pool]);
    return c->pools[pool];
}

uint32_t vram_caching_merge(struct vram_caching *c, uint32_t id)
{
    struct vram_block *at = c->blocks.at;
    struct vram_free_blocks *free = &c->pools[at[id].pool]->free;
    uint32_t other = at[id].before;
    if (other && at[other].state == VRAM_BLOCK_FREE) {
        vram_free_erase(free, &c->blocks, other);
        vram_block_join(&c->blocks, other);
        id = other;
    }
    other = at[id].after;
    if (other && at[other].state == VRAM_BLOCK_FREE) {
        vram_free_erase(free, &c->blocks, other);
        vram_block_join(&c->blocks, id);
    }
    return id;
}

/* Bytes a free block counts with in the search: with the address range it could grow into. */
static uint64_t growable(const struct vram_caching *c, uint32_t id)
{
    const struct vram_block *b = &c->blocks.at[id];
    const struct vram_block *after = &c->blocks.at[b->after];
    return b->size + (b->after && after->state == VRAM_BLOCK_HOLE ? after->size : 0);
}

/* The free block that serves the request, out of the index; 0 when a segment is needed. */
static uint32_t take_free(struct vram_caching *c, struct vram_pool *pool, uint64_t size)
{
    const struct vram_caching_options *o = &c->options;
    uint32_t id = vram_free_best(&pool->free, &c->blocks, size);
    if (!id)
        return 0;
    if (o->expandable) {
        /* a block at the edge of the mapped range is kept for growth while a tighter one exists */
        uint32_t next = vram_free_next(&pool->free, &c->blocks, id);
        while (next && growable(c, next) < growable(c, id)) {
            id = next;
            next = vram_free_next(&pool->free, &c->blocks, id);
        }
    }
    uint64_t found = c->blocks.at[id].size;
    if (size < o->max_split && found >= o->max_split)
        return 0;
    if (size >= o->max_split && found - size >= o->max_non_split)
        return 0;
    vram_free_erase(&pool->free, &c->blocks, id);
    return id;
}

static uint32_t new_segment(struct vram_caching *c, uint16_t pool, uint64_t size)
{
    uint64_t bytes = segment_size(size);
    if (bytes > c->limit - c->reserved)
        return 0;
    uint32_t id = vram_block_new(&c->blocks, c->top, bytes, pool, VRAM_BLOCK_FREE);
    c->top += bytes;
    c->reserved += bytes;
    c->segments++;
    return id;
}

static uint32_t grow(struct vram_caching *c, uint16_t pool, uint64_t size)
{
    uint32_t id = 0;
    if (c->options.expandable)
        vram_expandable_grow(c, pool, size, &id);
    else
        id = new_segment(c, pool, size);
    if (c->reserved > c->peak_reserved)
        c->peak_reserved = c->reserved;
    return id;
}

static void drop_segment(struct vram_caching *c, uint32_t id)
{
    const struct vram_block *b = &c->blocks.at[id];
    vram_free_erase(&c->pools[b->pool]->free, &c->blocks, id);
    c->reserved -= b->size;
    c->segments--;
    vram_block_drop(&c->blocks, id);
}

static bool whole_segment(const struct vram_caching *c, uint32_t id)
{
    const struct vram_block *b = &c->blocks.at[id];
    return b->state == VRAM_BLOCK_FREE && !b->before && !b->after;
}

/* With max_split_size only: gives back cached blocks that are too large to be split, one that
 * would do or the largest ones until their sum does.  true when that may have helped. */
static bool release_oversize(struct vram_caching *c, struct vram_pool *pool, uint64_t size)
{
    uint64_t split = c->options.max_split, got = 0;
    if (split == UINT64_MAX || c->options.expandable)
        return false;
    uint64_t key = size > split ? size : vram_round_up(split, min_block);
    uint32_t id = vram_free_best(&pool->free, &c->blocks, key);
    if (id && whole_segment(c, id)) {
        drop_segment(c, id);
        return true;
    }
    while (got < key) {
        id = vram_free_last(&pool->free, &c->blocks);
        if (!id || c->blocks.at[id].size < split || !whole_segment(c, id))
            break;
        got += c->blocks.at[id].size;
        drop_segment(c, id);
    }
    return got >= key;
}

int vram_caching_empty(struct vram_caching *c)
{
    for (uint32_t id = 1; id < c->blocks.n; id++)
        if (!c->options.expandable && whole_segment(c, id))
            drop_segment(c, id);
    for (unsigned p = 0; c->options.expandable && p < VRAM_CACHING_STREAMS * 2; p++)
        if (c->pools[p])
            VRAM_TRY(vram_expandable_unmap(c, (uint16_t)p));
    return VRAM_OK;
}

static bool should_split(const struct vram_caching *c, uint16_t pool, uint64_t size, uint64_t rest)
{
    if (c->options.expandable || pool % 2 == 0)
        return rest >= min_block;
    return size < c->options.max_split && rest > small_limit;
}

int vram_caching_malloc(struct vram_caching *c, uint64_t n, unsigned stream, uint32_t *block)
{
    assert(stream < VRAM_CACHING_STREAMS);
    if (n == 0) {
        *block = 0;
        return VRAM_OK;
    }
    if (n > no_limit / 2)
        return vram_fail(c->cx, VRAM_E_RANGE, VRAM_NO_OFFSET,
                         "one tensor of %llu bytes: nothing is that large", (unsigned long long)n);
    uint64_t size = vram_caching_round(&c->options, n);
    uint16_t p = (uint16_t)(stream * 2 + (size > small_limit));
    struct vram_pool *pool = pool_of(c, p);
    /* a segment or a range, what is left of it, and the rest of a split */
    if (!pool || !vram_blocks_room(&c->blocks, 4))
        return vram_fail_memory(c->cx);
    uint32_t id = take_free(c, pool, size);
    if (!id)
        id = grow(c, p, size);
    if (!id && release_oversize(c, pool, size))
        id = grow(c, p, size);
    if (!id) {
        c->retries++; /* what torch does before it gives up */
        VRAM_TRY(vram_caching_empty(c));
        if (!vram_blocks_room(&c->blocks, 4))
            return vram_fail_memory(c->cx);
        id = grow(c, p, size);
    }
    if (!id)
        return vram_fail(c->cx, c->options.total ? VRAM_E_LIMIT : VRAM_E_RANGE, VRAM_NO_OFFSET,
                         "%llu bytes do not fit beside the %llu that are reserved",
                         (unsigned long long)size, (unsigned long long)c->reserved);
    struct vram_block *b = &c->blocks.at[id];
    b->state = VRAM_BLOCK_USED;
    if (should_split(c, p, size, b->size - size)) {
        uint32_t rest = vram_block_cut(&c->blocks, id, size, VRAM_BLOCK_FREE);
        vram_free_insert(&pool->free, &c->blocks, rest);
    }
    c->allocated += b->size; /* an unsplit block counts whole */
    *block = id;
    return VRAM_OK;
}

void vram_caching_free(struct vram_caching *c, uint32_t block)
{
    if (!block)
        return;
    struct vram_block *b = &c->blocks.at[block];
    assert(b->state == VRAM_BLOCK_USED);
    struct vram_pool *pool = c->pools[b->pool];
    c->allocated -= b->size;
    b->state = VRAM_BLOCK_FREE;
    uint32_t id = vram_caching_merge(c, block);
    vram_free_insert(&pool->free, &c->blocks, id);
}
