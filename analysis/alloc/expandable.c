/* SPDX-License-Identifier: Apache-2.0
 *
 * Expandable segments of the caching allocator: one long address range per pool, whose pages are
 * mapped where memory is needed.  Rules: ExpandableSegment, find_expandable_block, map_block and
 * unmap_block of c10/cuda/CUDACachingAllocator.cpp (torch 2.9).
 *
 * Addresses begin at 0 in each range, so that a page boundary is a multiple of the page size.
 * Without a limit nothing is ever unmapped and a range has one hole, at its end.
 */
#include "alloc/caching.h"

#include "base/math.h"

static uint64_t page_size(uint16_t pool)
{
    return pool % 2 ? UINT64_C(20) << 20 : UINT64_C(2) << 20;
}

/* The range is so long that the limit is always met first. */
static void reserve_range(struct vram_caching *c, uint16_t p)
{
    struct vram_pool *pool = c->pools[p];
    uint64_t page = page_size(p), size = (UINT64_C(1) << 62) / page * page;
    pool->first = pool->holes = vram_block_new(&c->blocks, 0, size, p, VRAM_BLOCK_HOLE);
    c->segments++;
}

/* Maps at least `need` bytes at the start of a hole and joins them with free neighbours.  0 when
 * the limit is reached. */
static uint32_t map(struct vram_caching *c, uint32_t hole, uint64_t need)
{
    struct vram_block *at = c->blocks.at; /* the caller made room: it does not move */
    uint16_t p = at[hole].pool;
    struct vram_pool *pool = c->pools[p];
    uint64_t bytes = vram_round_up(need, page_size(p));
    if (bytes > c->limit - c->reserved)
        return 0;
    c->reserved += bytes;
    uint32_t *link = &pool->holes;
    while (*link != hole)
        link = &at[*link].right;
    *link = at[hole].right;
    if (bytes < at[hole].size) {
        uint32_t rest = vram_block_cut(&c->blocks, hole, bytes, VRAM_BLOCK_HOLE);
        at[rest].right = *link;
        *link = rest;
    }
    at[hole].state = VRAM_BLOCK_FREE;
    uint32_t id = vram_caching_merge(c, hole);
    vram_free_insert(&pool->free, &c->blocks, id);
    return id;
}

/* The first place where free memory and holes together suffice: a hole, or the free block before
 * one. */
static uint32_t find_place(const struct vram_caching *c, const struct vram_pool *pool,
                           uint64_t size)
{
    const struct vram_block *at = c->blocks.at;
    for (uint32_t hole = pool->holes; hole; hole = at[hole].right) {
        uint32_t start = at[hole].before;
        if (!start || at[start].state != VRAM_BLOCK_FREE)
            start = hole;
        uint64_t sum = 0;
        for (uint32_t id = start; id && at[id].state != VRAM_BLOCK_USED; id = at[id].after) {
            sum += at[id].size;
            if (sum >= size)
                return start;
        }
    }
    return 0;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

void vram_expandable_grow(struct vram_caching *c, uint16_t p, uint64_t size, uint32_t *block)
{
    struct vram_pool *pool = c->pools[p];
    if (!pool->first)
        reserve_range(c, p);
    *block = 0;
    uint32_t id = find_place(c, pool, size);
    const struct vram_block *at = c->blocks.at;
    if (id && at[id].state == VRAM_BLOCK_HOLE)
        id = map(c, id, least(size, at[id].size));
    while (id && at[id].size < size) {
        uint32_t hole = at[id].after;
        id = map(c, hole, least(size - at[id].size, at[hole].size));
    }
    if (id)
        vram_free_erase(&pool->free, &c->blocks, id);
    *block = id;
}

/* Turns the whole pages of a free block, already out of the index, into a hole. */
static uint32_t punch(struct vram_caching *c, struct vram_pool *pool, uint32_t id, uint64_t low,
                      uint64_t high)
{
    struct vram_blocks *blocks = &c->blocks;
    if (low > blocks->at[id].addr) {
        uint32_t rest = vram_block_cut(blocks, id, low - blocks->at[id].addr, VRAM_BLOCK_FREE);
        vram_free_insert(&pool->free, blocks, id);
        id = rest;
    }
    if (high < blocks->at[id].addr + blocks->at[id].size) {
        uint32_t rest = vram_block_cut(blocks, id, high - low, VRAM_BLOCK_FREE);
        vram_free_insert(&pool->free, blocks, rest);
    }
    blocks->at[id].state = VRAM_BLOCK_HOLE;
    c->reserved -= high - low;
    return id;
}

int vram_expandable_unmap(struct vram_caching *c, uint16_t p)
{
    struct vram_pool *pool = c->pools[p];
    uint64_t page = page_size(p);
    for (uint32_t id = pool->first; id; id = c->blocks.at[id].after) {
        const struct vram_block *b = &c->blocks.at[id];
        uint64_t low = vram_round_up(b->addr, page), high = (b->addr + b->size) / page * page;
        if (b->state != VRAM_BLOCK_FREE || high <= low)
            continue;
        if (!vram_blocks_room(&c->blocks, 2))
            return vram_fail_memory(c->cx);
        vram_free_erase(&pool->free, &c->blocks, id);
        id = punch(c, pool, id, low, high);
    }
    uint32_t *link = &pool->holes;
    for (uint32_t id = pool->first; id; id = c->blocks.at[id].after) {
        struct vram_block *at = c->blocks.at;
        if (at[id].state != VRAM_BLOCK_HOLE)
            continue;
        while (at[id].after && at[at[id].after].state == VRAM_BLOCK_HOLE)
            vram_block_join(&c->blocks, id);
        *link = id;
        link = &at[id].right;
    }
    *link = 0;
    return VRAM_OK;
}
