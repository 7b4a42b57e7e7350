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

static uint64_t page_size(unsigned p) { return p % 2 ? UINT64_C(20) << 20 : UINT64_C(2) << 20; }

/* The range is so long that the limit is always met first. */
static void reserve_range(struct vram_caching *c, unsigned p)
{
    struct vram_pool *pool = c->pools[p];
    uint64_t page = page_size(p), size = (UINT64_C(1) << 62) / page * page;
    uint32_t first = vram_block_new(&c->blocks), hole = vram_block_new(&c->blocks);
    c->blocks.at[first] =
        (struct vram_block){.after = hole, .pool = (uint16_t)p, .state = VRAM_BLOCK_USED};
    c->blocks.at[hole] = (struct vram_block){
        .size = size, .before = first, .pool = (uint16_t)p, .state = VRAM_BLOCK_HOLE};
    pool->first = first;
    pool->holes = hole;
    c->segments++;
}

/* Maps at least `need` bytes at the start of a hole; the free block that they are then part of, or
 * 0 when the limit is reached. */
static uint32_t map(struct vram_caching *c, uint32_t hole, uint64_t need)
{
    struct vram_block *b = &c->blocks.at[hole]; /* the caller made room: it does not move */
    uint64_t bytes = vram_round_up(need, page_size(b->pool));
    if (bytes > c->limit - c->reserved)
        return 0;
    c->reserved += bytes;
    if (bytes < b->size) {
        uint32_t front =
            vram_block_cut(&c->blocks, hole, bytes, vram_fit_class(bytes), VRAM_BLOCK_USED);
        b->addr += bytes;
        b->size -= bytes;
        return vram_caching_release(c, front);
    }
    uint32_t *link = &c->pools[b->pool]->holes;
    while (*link != hole)
        link = &c->blocks.at[*link].next;
    *link = b->next;
    b->class = (uint8_t)vram_fit_class(bytes);
    return vram_caching_release(c, hole);
}

/* The first place where free memory and holes together suffice: a hole, or the free block before
 * one. */
static uint32_t find_place(const struct vram_caching *c, const struct vram_pool *pool,
                           uint64_t size)
{
    const struct vram_block *at = c->blocks.at;
    for (uint32_t hole = pool->holes; hole; hole = at[hole].next) {
        uint32_t start = at[hole].before;
        if (!start || !vram_block_free(&at[start]))
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

uint32_t vram_expandable_grow(struct vram_caching *c, unsigned p, uint64_t size)
{
    struct vram_pool *pool = c->pools[p];
    if (!pool->first)
        reserve_range(c, p);
    const struct vram_block *at = c->blocks.at;
    uint32_t id = find_place(c, pool, size);
    if (id && at[id].state == VRAM_BLOCK_HOLE)
        id = map(c, id, least(size, at[id].size));
    while (id && at[id].size < size) {
        uint32_t hole = at[id].after;
        id = map(c, hole, least(size - at[id].size, at[hole].size));
    }
    return id;
}

/* Turns the whole pages of a free block into a hole; returns the hole. */
static uint32_t punch(struct vram_caching *c, struct vram_pool *pool, uint32_t id, uint64_t low,
                      uint64_t high)
{
    struct vram_block *at = c->blocks.at; /* the caller made room */
    uint64_t addr = at[id].addr, end = addr + at[id].size;
    vram_fit_erase(&pool->free, at, id);
    if (low > addr) {
        uint32_t front =
            vram_block_cut(&c->blocks, id, low - addr, vram_fit_class(low - addr), VRAM_BLOCK_USED);
        vram_fit_insert(&pool->free, at, front);
    }
    uint32_t hole = id;
    if (high < end) {
        hole = vram_block_cut(&c->blocks, id, high - low, 0, VRAM_BLOCK_HOLE);
        at[id].addr = high;
        at[id].size = end - high;
        at[id].class = (uint8_t)vram_fit_class(end - high);
        vram_fit_insert(&pool->free, at, id);
    }
    at[hole].addr = low;
    at[hole].size = high - low;
    at[hole].state = VRAM_BLOCK_HOLE;
    c->reserved -= high - low;
    return hole;
}

int vram_expandable_unmap(struct vram_caching *c, unsigned p)
{
    struct vram_pool *pool = c->pools[p];
    uint64_t page = page_size(p);
    for (uint32_t id = pool->first; id; id = c->blocks.at[id].after) {
        const struct vram_block *b = &c->blocks.at[id];
        uint64_t low = vram_round_up(b->addr, page), high = (b->addr + b->size) / page * page;
        if (!vram_block_free(b) || high <= low)
            continue;
        if (!vram_blocks_room(&c->blocks, 2))
            return vram_fail_memory(c->cx);
        id = punch(c, pool, id, low, high);
    }
    struct vram_block *at = c->blocks.at;
    uint32_t *link = &pool->holes;
    for (uint32_t id = pool->first; id; id = at[id].after) {
        if (at[id].state != VRAM_BLOCK_HOLE)
            continue;
        for (uint32_t after; at[after = at[id].after].state == VRAM_BLOCK_HOLE;) {
            at[id].size += at[after].size;
            vram_block_unlink(&c->blocks, after);
        }
        *link = id;
        link = &at[id].next;
    }
    *link = 0;
    return VRAM_OK;
}
