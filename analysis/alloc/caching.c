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

#include "alloc/serve.h"

void vram_caching_init(struct vram_caching *c, struct vram_cx *cx,
                       const struct vram_caching_options *options)
{
    uint32_t divisions = options->power2_divisions;
    assert((divisions & (divisions - 1)) == 0 || divisions == 0);
    (void)divisions;
    *c = (struct vram_caching){.cx = cx, .options = *options, .limit = VRAM_CACHING_LIMIT};
    if (!c->options.max_non_split)
        c->options.max_non_split = VRAM_CACHING_SEGMENT;
    if (!c->options.max_split)
        c->options.max_split = UINT64_MAX;
    if (options->total && options->total < c->limit)
        c->limit = options->total;
    c->plain = !c->options.expandable && c->options.max_split == UINT64_MAX;
    vram_blocks_init(&c->blocks, cx->arena, options->expect);
}

static void start_pool(const struct vram_caching *c, unsigned p)
{
    bool any = c->options.expandable || p % 2 == 0; /* any rest is worth a split */
    *c->pools[p] = (struct vram_pool){.least_rest = any ? VRAM_CACHING_UNIT
                                                        : VRAM_CACHING_SMALL + VRAM_CACHING_UNIT,
                                      .whole_from = any ? UINT64_MAX : c->options.max_split};
}

struct vram_pool *vram_caching_new_pool(struct vram_caching *c, unsigned p)
{
    c->pools[p] = vram_arena_alloc(c->cx->arena, sizeof *c->pools[p]);
    if (c->pools[p])
        start_pool(c, p);
    return c->pools[p];
}

void vram_caching_reset(struct vram_caching *c)
{
    for (unsigned p = 0; p < VRAM_CACHING_STREAMS * 2; p++)
        if (c->pools[p])
            start_pool(c, p);
    vram_blocks_reset(&c->blocks);
    c->top = c->allocated = c->requested = c->reserved = c->peak_reserved = 0;
    c->segments = c->retries = 0;
}

/* Bytes a free block counts with in the search: with the address range it could grow into. */
static uint64_t growable(const struct vram_block *at, uint32_t id)
{
    const struct vram_block *after = &at[at[id].after];
    return at[id].size + (after->state == VRAM_BLOCK_HOLE ? after->size : 0);
}

/* With expandable segments: a block at the edge of the mapped range is kept for growth while a
 * tighter one exists. */
static uint32_t spare_edges(struct vram_fit *free, struct vram_block *at, uint32_t id,
                            uint64_t size)
{
    uint32_t aside = 0;
    while (at[at[id].after].state == VRAM_BLOCK_HOLE) {
        vram_fit_erase(free, at, id);
        at[id].next = aside;
        aside = id;
        uint32_t next = vram_fit_best(free, at, size, vram_fit_class(size));
        if (!next || growable(at, next) >= growable(at, id))
            break;
        id = next;
    }
    while (aside) {
        uint32_t next = at[aside].next;
        vram_fit_insert(free, at, aside);
        aside = next;
    }
    return id;
}

uint32_t vram_caching_choose(struct vram_caching *c, struct vram_pool *pool, uint32_t id,
                             uint64_t size)
{
    const struct vram_caching_options *o = &c->options;
    if (o->expandable)
        id = spare_edges(&pool->free, c->blocks.at, id, size);
    /* too large to be cut, or to be wasted */
    uint64_t found = c->blocks.at[id].size;
    bool large = found >= o->max_split;
    return large && (size < o->max_split || found - size >= o->max_non_split) ? 0 : id;
}

uint32_t vram_caching_release(struct vram_caching *c, uint32_t block)
{
    return vram_serve_release(c, block);
}

int vram_caching_malloc(struct vram_caching *c, uint64_t n, unsigned stream, uint32_t *block)
{
    assert(stream < VRAM_CACHING_STREAMS);
    *block = 0;
    if (n == 0)
        return VRAM_OK;
    if (n > VRAM_CACHING_LIMIT / 2)
        return vram_fail(c->cx, VRAM_E_RANGE, VRAM_NO_OFFSET,
                         "one tensor of %llu bytes: nothing is that large", (unsigned long long)n);
    return vram_serve_request(c, n, stream, block);
}

void vram_caching_free(struct vram_caching *c, uint32_t block)
{
    if (block)
        vram_serve_return(c, block);
}
