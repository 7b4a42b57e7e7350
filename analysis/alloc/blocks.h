/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of a modelled address space.  Blocks are numbered from 1; numbers stay valid when the
 * array moves, pointers do not.
 *
 * Number 0 is the neighbour at both ends of a segment: it is never free, and what is written to its
 * links is never read, so that blocks can be linked and looked at without asking for an end.
 */
#ifndef VRAM_ALLOC_BLOCKS_H
#define VRAM_ALLOC_BLOCKS_H

#include <assert.h>
#include <stdint.h>

#include "base/arena.h"

enum vram_block_state {
    VRAM_BLOCK_SPARE, /* a number without a block */
    VRAM_BLOCK_USED,
    VRAM_BLOCK_HOLE, /* address range without memory (expandable segments) */
    VRAM_BLOCK_FREE, /* in the index of its pool, fit.h */
    VRAM_BLOCK_HEAD  /* free, and the one of its size that the index gives out first */
};

struct vram_block {
    uint64_t addr;
    uint32_t before; /* neighbours in the same segment: before and after */
    uint32_t next;   /* free: see fit.h; HOLE, SPARE: next in the list */
    uint64_t size;
    uint32_t after;
    uint16_t pool;
    uint8_t state;
    uint8_t class; /* free, USED: vram_fit_class(size) */
    union {
        uint32_t link[2];   /* free: see fit.h */
        uint64_t requested; /* USED: bytes that were asked for */
    };
};

static inline bool vram_block_free(const struct vram_block *b)
{
    return b->state >= VRAM_BLOCK_FREE;
}

struct vram_blocks {
    struct vram_arena *arena;
    struct vram_block *at;
    uint32_t n, cap; /* numbers ever used: 1 … n − 1 */
    uint32_t unused; /* list of SPARE numbers below n */
    uint32_t room;   /* blocks that can be made before the array must grow */
    uint32_t first_cap;
};

/* expect: how many blocks there will be, roughly; 0 = no idea.  Memory is taken later. */
void vram_blocks_init(struct vram_blocks *blocks, struct vram_arena *arena, size_t expect);
void vram_blocks_reset(struct vram_blocks *blocks); /* no blocks; the array stays */
bool vram_blocks_grow(struct vram_blocks *blocks, uint32_t more);

/* Room for `more` new blocks, so that vram_block_new cannot fail; false when out of memory. */
static inline bool vram_blocks_room(struct vram_blocks *blocks, uint32_t more)
{
    return blocks->room >= more || vram_blocks_grow(blocks, more);
}

/* A number for a new block, whose fields are for the caller to fill in. */
static inline uint32_t vram_block_new(struct vram_blocks *blocks)
{
    assert(blocks->room > 0);
    blocks->room--;
    uint32_t id = blocks->unused;
    if (!id)
        return blocks->n++;
    blocks->unused = blocks->at[id].next;
    return id;
}

static inline void vram_block_drop(struct vram_blocks *blocks, uint32_t id)
{
    blocks->at[id].state = VRAM_BLOCK_SPARE;
    blocks->at[id].next = blocks->unused;
    blocks->unused = id;
    blocks->room++;
}

/* Makes a block of `size` bytes at the start of an existing one, in front of it, whose bytes are
 * left to the caller.  Returns the new one. */
static inline uint32_t vram_block_cut(struct vram_blocks *blocks, uint32_t id, uint64_t size,
                                      unsigned class, enum vram_block_state state)
{
    uint32_t front = vram_block_new(blocks);
    struct vram_block *at = blocks->at, *b = &at[id], *f = &at[front];
    assert(size > 0 && size < b->size);
    f->addr = b->addr;
    f->size = size;
    f->before = b->before;
    f->after = id;
    f->pool = b->pool;
    f->state = (uint8_t)state;
    f->class = (uint8_t) class;
    at[b->before].after = front;
    b->before = front;
    return front;
}

/* Takes a block out from between its neighbours; its bytes are left to the caller. */
static inline void vram_block_unlink(struct vram_blocks *blocks, uint32_t id)
{
    struct vram_block *at = blocks->at;
    at[at[id].before].after = at[id].after;
    at[at[id].after].before = at[id].before;
    vram_block_drop(blocks, id);
}

#endif
