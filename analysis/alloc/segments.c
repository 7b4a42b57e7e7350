/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the caching allocator's segments come from and when they go back; see caching.h.
 */
#include "alloc/caching.h"

#include "base/math.h"

#define MIB (UINT64_C(1) << 20)

static const uint64_t small_segment = 2 * MIB;    /* segment of the small pool */
static const uint64_t own_segment = 10 * MIB;     /* from here on a segment of its own … */
static const uint64_t segment_rounding = 2 * MIB; /* … rounded up to this */

static uint64_t segment_size(uint64_t size)
{
    if (size <= VRAM_CACHING_SMALL)
        return small_segment;
    return size < own_segment ? VRAM_CACHING_SEGMENT : vram_round_up(size, segment_rounding);
}

static uint32_t new_segment(struct vram_caching *c, unsigned p, uint64_t size)
{
    uint64_t bytes = segment_size(size);
    if (bytes > c->limit - c->reserved)
        return 0;
    uint32_t id = vram_block_new(&c->blocks);
    c->blocks.at[id] = (struct vram_block){.addr = c->top,
                                           .size = bytes,
                                           .pool = (uint16_t)p,
                                           .class = (uint8_t)vram_fit_class(bytes)};
    vram_fit_insert(&c->pools[p]->free, c->blocks.at, id);
    c->top += bytes;
    c->reserved += bytes;
    c->segments++;
    return id;
}

static uint32_t grow(struct vram_caching *c, unsigned p, uint64_t size)
{
    uint32_t id =
        c->options.expandable ? vram_expandable_grow(c, p, size) : new_segment(c, p, size);
    if (c->reserved > c->peak_reserved)
        c->peak_reserved = c->reserved;
    return id;
}

static void drop_segment(struct vram_caching *c, uint32_t id)
{
    const struct vram_block *b = &c->blocks.at[id];
    vram_fit_erase(&c->pools[b->pool]->free, c->blocks.at, id);
    c->reserved -= b->size;
    c->segments--;
    vram_block_drop(&c->blocks, id);
}

static bool whole_segment(const struct vram_caching *c, uint32_t id)
{
    const struct vram_block *b = &c->blocks.at[id];
    return vram_block_free(b) && !b->before && !b->after;
}

/* The largest free block of the pool, ties at the highest address. */
static uint32_t largest(const struct vram_caching *c, unsigned p)
{
    const struct vram_block *at = c->blocks.at;
    uint32_t best = 0;
    for (uint32_t id = 1; id < c->blocks.n; id++)
        if (vram_block_free(&at[id]) && at[id].pool == p &&
            (at[id].size > at[best].size ||
             (at[id].size == at[best].size && at[id].addr > at[best].addr)))
            best = id;
    return best;
}

/* With max_split_size only: gives back cached blocks that are too large to be split, one that
 * would do or the largest ones until their sum does.  true when that may have helped. */
static bool release_oversize(struct vram_caching *c, unsigned p, uint64_t size)
{
    uint64_t split = c->options.max_split, got = 0;
    if (split == UINT64_MAX || c->options.expandable)
        return false;
    uint64_t key = size > split ? size : vram_round_up(split, VRAM_CACHING_UNIT);
    uint32_t id = vram_fit_best(&c->pools[p]->free, c->blocks.at, key, vram_fit_class(key));
    if (id && whole_segment(c, id)) {
        drop_segment(c, id);
        return true;
    }
    while (got < key) {
        id = largest(c, p);
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
            VRAM_TRY(vram_expandable_unmap(c, p));
    return VRAM_OK;
}

/* More memory for the request: from the card, or after giving cached memory back to it. */
int vram_caching_obtain(struct vram_caching *c, unsigned p, uint64_t size, uint32_t *block)
{
    uint32_t id = grow(c, p, size);
    if (!id && release_oversize(c, p, size))
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
    *block = id;
    return VRAM_OK;
}
