/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of a modelled address space, and an index of the free ones that answers "the smallest
 * free block of at least n bytes, ties at the lowest address" in O(log n) whatever the sizes are.
 *
 * Blocks are numbered from 1 (0 = none); numbers stay valid when the array moves, pointers do not.
 */
#ifndef VRAM_ALLOC_BLOCKS_H
#define VRAM_ALLOC_BLOCKS_H

#include <stdint.h>

#include "base/arena.h"

enum vram_block_state {
    VRAM_BLOCK_SPARE, /* a number without a block */
    VRAM_BLOCK_USED,
    VRAM_BLOCK_FREE, /* in the index of its pool */
    VRAM_BLOCK_HOLE  /* address range without memory (expandable segments) */
};

struct vram_block {
    uint64_t addr, size;
    uint32_t before, after; /* neighbours in the same segment */
    uint32_t left, right;   /* FREE: in the index; HOLE, SPARE: right = next in the list */
    uint32_t priority;      /* fixed per number */
    uint16_t pool;
    uint8_t state;
    uint8_t spare;
};

struct vram_blocks {
    struct vram_arena *arena;
    struct vram_block *at;
    uint32_t n, cap; /* numbers in use: 1 … n − 1 */
    uint32_t unused; /* list of SPARE numbers */
    uint32_t nunused;
    uint32_t random; /* state of the priorities' generator; always the same sequence */
};

/* Sizes are multiples of 512 below 2^62: 32 classes between two powers of two. */
enum { VRAM_BLOCK_UNIT = 512, VRAM_BLOCK_CLASSES = 1600, VRAM_BLOCK_WORDS = 25 };

/* One search tree per size class, and a bit per class that has any block. */
struct vram_free_blocks {
    uint64_t words; /* bit w: bits[w] != 0 */
    uint64_t bits[VRAM_BLOCK_WORDS];
    uint32_t root[VRAM_BLOCK_CLASSES];
};

void vram_blocks_init(struct vram_blocks *blocks, struct vram_arena *arena);
/* Room for `more` new blocks, so that vram_block_new cannot fail; false when out of memory. */
bool vram_blocks_room(struct vram_blocks *blocks, uint32_t more);
uint32_t vram_block_new(struct vram_blocks *blocks, uint64_t addr, uint64_t size, uint16_t pool,
                        enum vram_block_state state);
void vram_block_drop(struct vram_blocks *blocks, uint32_t id);
/* Cuts a block after `size` bytes; the rest becomes a new neighbour in `state`, not yet in any
 * index.  Returns the rest. */
uint32_t vram_block_cut(struct vram_blocks *blocks, uint32_t id, uint64_t size,
                        enum vram_block_state state);
/* Appends the block after `id` to it; the number of the lower one stays. */
void vram_block_join(struct vram_blocks *blocks, uint32_t id);

void vram_free_insert(struct vram_free_blocks *free, struct vram_blocks *blocks, uint32_t id);
void vram_free_erase(struct vram_free_blocks *free, struct vram_blocks *blocks, uint32_t id);
/* Smallest by (size, address) with at least `size` bytes; 0 when there is none. */
uint32_t vram_free_best(const struct vram_free_blocks *free, const struct vram_blocks *blocks,
                        uint64_t size);
/* The next larger by (size, address); 0 after the last. */
uint32_t vram_free_next(const struct vram_free_blocks *free, const struct vram_blocks *blocks,
                        uint32_t id);
/* The largest by (size, address); 0 when there is none. */
uint32_t vram_free_last(const struct vram_free_blocks *free, const struct vram_blocks *blocks);

#endif
