/* SPDX-License-Identifier: Apache-2.0
 *
 * The way of one request and of one block given back through the caching allocator.  Inline, since
 * a replay is little else: caching.c has the same as functions.
 */
#ifndef VRAM_ALLOC_SERVE_H
#define VRAM_ALLOC_SERVE_H

#include "alloc/caching.h"
#include "base/math.h"

/* A request, n > 0, rounded as torch rounds it. */
static inline uint64_t vram_serve_round(const struct vram_caching_options *options, uint64_t n)
{
    uint64_t divisions = options->power2_divisions;
    if (divisions > 1 && n > VRAM_CACHING_UNIT * divisions) {
        uint64_t power = UINT64_C(1) << (63 - __builtin_clzll(n));
        return vram_round_up(n, power / divisions); /* power itself stays as it is */
    }
    return vram_round_up(n, VRAM_CACHING_UNIT);
}

/* Gives out a free block, cut to `size` where that leaves a useful rest. */
static inline uint32_t vram_serve_cut(struct vram_caching *c, struct vram_pool *pool, uint32_t id,
                                      uint64_t size, unsigned class)
{
    struct vram_block *at = c->blocks.at, *b = &at[id];
    uint64_t rest = b->size - size;
    if (rest < pool->least_rest || size >= pool->whole_from) {
        vram_fit_erase(&pool->free, at, id);
        b->state = VRAM_BLOCK_USED;
        return id;
    }
    uint32_t front = vram_block_cut(&c->blocks, id, size, class, VRAM_BLOCK_USED);
    vram_fit_move(&pool->free, at, id, b->addr + size, rest);
    return front;
}

/* vram_caching_malloc for 0 < n ≤ VRAM_CACHING_LIMIT / 2 */
static inline int vram_serve_request(struct vram_caching *c, uint64_t n, unsigned stream,
                                     uint32_t *block)
{
    uint64_t size = vram_serve_round(&c->options, n);
    unsigned class = vram_fit_class(size);
    unsigned p = stream * 2 + (size > VRAM_CACHING_SMALL);
    struct vram_pool *pool = c->pools[p];
    if (!pool && !(pool = vram_caching_new_pool(c, p)))
        return vram_fail_memory(c->cx);
    /* a range and its start, what is left of it, and the rest of a split */
    if (!vram_blocks_room(&c->blocks, 4))
        return vram_fail_memory(c->cx);
    uint32_t id = vram_fit_best(&pool->free, c->blocks.at, size, class);
    if (id && !c->plain)
        id = vram_caching_choose(c, pool, id, size);
    if (!id)
        VRAM_TRY(vram_caching_obtain(c, p, size, &id));
    id = vram_serve_cut(c, pool, id, size, class);
    struct vram_block *b = &c->blocks.at[id];
    b->requested = n;
    c->requested += n;
    c->allocated += b->size; /* an unsplit block counts whole */
    *block = id;
    return VRAM_OK;
}

static inline uint32_t vram_serve_release(struct vram_caching *c, uint32_t id)
{
    struct vram_block *at = c->blocks.at, *b = &at[id];
    struct vram_fit *free = &c->pools[b->pool]->free;
    uint32_t before = b->before, after = b->after;
    bool join_before = vram_block_free(&at[before]), join_after = vram_block_free(&at[after]);
    if (!join_before && !join_after) {
        vram_fit_insert(free, at, id);
        return id;
    }
    uint64_t addr = b->addr, size = b->size;
    vram_block_unlink(&c->blocks, id);
    if (join_after) {
        size += at[after].size;
        if (!join_before) {
            vram_fit_move(free, at, after, addr, size);
            return after;
        }
        vram_fit_erase(free, at, after);
        vram_block_unlink(&c->blocks, after);
    }
    vram_fit_move(free, at, before, at[before].addr, at[before].size + size);
    return before;
}

/* vram_caching_free for a block, not 0 */
static inline void vram_serve_return(struct vram_caching *c, uint32_t id)
{
    const struct vram_block *b = &c->blocks.at[id];
    assert(b->state == VRAM_BLOCK_USED);
    c->allocated -= b->size;
    c->requested -= b->requested;
    vram_serve_release(c, id);
}

#endif
