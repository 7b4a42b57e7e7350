/* SPDX-License-Identifier: Apache-2.0
 *
 * The array of blocks; see blocks.h.  Knows no allocator's rules.
 */
#include "alloc/blocks.h"

#include <string.h>

_Static_assert(sizeof(struct vram_block) == 40, "blocks are what a replay touches most");

enum { FIRST_CAP = 512 };

void vram_blocks_init(struct vram_blocks *blocks, struct vram_arena *arena, size_t expect)
{
    uint32_t first = expect < FIRST_CAP    ? FIRST_CAP
                     : expect < UINT32_MAX ? (uint32_t)expect
                                           : UINT32_MAX;
    *blocks = (struct vram_blocks){.arena = arena, .n = 1, .first_cap = first};
}

void vram_blocks_reset(struct vram_blocks *blocks)
{
    blocks->n = 1;
    blocks->unused = 0;
    blocks->room = blocks->cap ? blocks->cap - 1 : 0;
}

bool vram_blocks_grow(struct vram_blocks *blocks, uint32_t more)
{
    uint64_t cap = blocks->cap ? (uint64_t)blocks->cap * 2 : blocks->first_cap;
    uint64_t want = (uint64_t)blocks->cap + more + 1;
    if (cap < want)
        cap = want;
    if (cap > UINT32_MAX)
        return false;
    struct vram_block *at = vram_arena_array(blocks->arena, (size_t)cap, sizeof *at);
    if (!at)
        return false;
    if (blocks->at)
        memcpy(at, blocks->at, (size_t)blocks->n * sizeof *at);
    blocks->at = at;
    blocks->room += (uint32_t)cap - (blocks->cap ? blocks->cap : 1);
    blocks->cap = (uint32_t)cap;
    return true;
}
