/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks and the index of free ones; see blocks.h.  Knows no allocator's rules.
 *
 * The index: sizes fall into classes of about 3 % width; each class has a treap (a search tree
 * that random priorities keep balanced) ordered by (size, address), and a bitmap finds the next
 * class that has any.  Typical searches touch a handful of nodes; when every block falls into one
 * class a treap of all of them remains, so no pattern of sizes makes a step linear.
 */
#include "alloc/blocks.h"

#include <assert.h>
#include <string.h>

_Static_assert(VRAM_BLOCK_CLASSES == VRAM_BLOCK_WORDS * 64, "one bit per class");
_Static_assert(sizeof(struct vram_block) == 40, "blocks are what the replay touches most");

enum { FIRST_CAP = 512, SUB_BITS = 5 };

void vram_blocks_init(struct vram_blocks *blocks, struct vram_arena *arena)
{
    *blocks = (struct vram_blocks){.arena = arena, .n = 1, .random = 0x2545f491};
}

bool vram_blocks_room(struct vram_blocks *blocks, uint32_t more)
{
    uint64_t want = (uint64_t)blocks->n + more; /* spare numbers come on top */
    if (want <= blocks->cap || blocks->nunused >= more)
        return true;
    uint64_t cap = (uint64_t)blocks->cap * 2;
    if (cap < want)
        cap = want < FIRST_CAP ? FIRST_CAP : want;
    if (cap > UINT32_MAX)
        return false;
    struct vram_block *at = vram_arena_array(blocks->arena, (size_t)cap, sizeof *at);
    if (!at)
        return false;
    if (blocks->at)
        memcpy(at, blocks->at, (size_t)blocks->n * sizeof *at);
    blocks->at = at;
    blocks->cap = (uint32_t)cap;
    return true;
}

uint32_t vram_block_new(struct vram_blocks *blocks, uint64_t addr, uint64_t size, uint16_t pool,
                        enum vram_block_state state)
{
    uint32_t id = blocks->unused;
    if (id) {
        blocks->unused = blocks->at[id].right;
        blocks->nunused--;
    } else {
        assert(blocks->n < blocks->cap);
        id = blocks->n++;
        uint32_t r = blocks->random; /* xorshift: never 0 */
        r ^= r << 13;
        r ^= r >> 17;
        r ^= r << 5;
        blocks->random = blocks->at[id].priority = r;
    }
    struct vram_block *b = &blocks->at[id];
    *b = (struct vram_block){
        .addr = addr, .size = size, .priority = b->priority, .pool = pool, .state = (uint8_t)state};
    return id;
}

void vram_block_drop(struct vram_blocks *blocks, uint32_t id)
{
    struct vram_block *b = &blocks->at[id];
    b->state = VRAM_BLOCK_SPARE;
    b->right = blocks->unused;
    blocks->unused = id;
    blocks->nunused++;
}

uint32_t vram_block_cut(struct vram_blocks *blocks, uint32_t id, uint64_t size,
                        enum vram_block_state state)
{
    struct vram_block *b = &blocks->at[id];
    assert(size > 0 && size < b->size);
    uint32_t rest = vram_block_new(blocks, b->addr + size, b->size - size, b->pool, state);
    struct vram_block *r = &blocks->at[rest];
    r->before = id;
    r->after = b->after;
    if (b->after)
        blocks->at[b->after].before = rest;
    b->after = rest;
    b->size = size;
    return rest;
}

void vram_block_join(struct vram_blocks *blocks, uint32_t id)
{
    struct vram_block *b = &blocks->at[id];
    uint32_t gone = b->after;
    b->size += blocks->at[gone].size;
    b->after = blocks->at[gone].after;
    if (b->after)
        blocks->at[b->after].before = id;
    vram_block_drop(blocks, gone);
}

/* ---- the index ---- */

static unsigned class_of(uint64_t size)
{
    uint64_t units = size / VRAM_BLOCK_UNIT;
    assert(units > 0);
    unsigned top = 63u - (unsigned)__builtin_clzll(units);
    if (top < SUB_BITS)
        return (unsigned)units;
    unsigned sub = (unsigned)(units >> (top - SUB_BITS)) & ((1u << SUB_BITS) - 1);
    return ((top - SUB_BITS + 1) << SUB_BITS) + sub;
}

static bool before(const struct vram_block *b, uint64_t size, uint64_t addr)
{
    return b->size != size ? b->size < size : b->addr < addr;
}

void vram_free_insert(struct vram_free_blocks *free, struct vram_blocks *blocks, uint32_t id)
{
    struct vram_block *at = blocks->at, *b = &at[id];
    unsigned class = class_of(b->size);
    uint32_t *link = &free->root[class];
    free->bits[class / 64] |= UINT64_C(1) << (class % 64);
    free->words |= UINT64_C(1) << (class / 64);
    while (*link && at[*link].priority > b->priority)
        link = before(&at[*link], b->size, b->addr) ? &at[*link].right : &at[*link].left;
    /* what hangs here is split in two by the new key */
    uint32_t rest = *link, *less = &b->left, *more = &b->right;
    *link = id;
    while (rest) {
        if (before(&at[rest], b->size, b->addr)) {
            *less = rest;
            less = &at[rest].right;
            rest = *less;
        } else {
            *more = rest;
            more = &at[rest].left;
            rest = *more;
        }
    }
    *less = *more = 0;
}

void vram_free_erase(struct vram_free_blocks *free, struct vram_blocks *blocks, uint32_t id)
{
    struct vram_block *at = blocks->at;
    const struct vram_block *b = &at[id];
    unsigned class = class_of(b->size);
    uint32_t *link = &free->root[class];
    while (*link != id) {
        assert(*link);
        link = before(&at[*link], b->size, b->addr) ? &at[*link].right : &at[*link].left;
    }
    uint32_t l = b->left, r = b->right;
    while (l && r) {
        if (at[l].priority > at[r].priority) {
            *link = l;
            link = &at[l].right;
            l = *link;
        } else {
            *link = r;
            link = &at[r].left;
            r = *link;
        }
    }
    *link = l ? l : r;
    if (!free->root[class]) {
        free->bits[class / 64] &= ~(UINT64_C(1) << (class % 64));
        if (!free->bits[class / 64])
            free->words &= ~(UINT64_C(1) << (class / 64));
    }
}

/* The first block of the first class from `class` on that has any. */
static uint32_t first_from(const struct vram_free_blocks *free, const struct vram_blocks *blocks,
                           unsigned class)
{
    if (class >= VRAM_BLOCK_CLASSES)
        return 0;
    unsigned word = class / 64;
    uint64_t bits = free->bits[word] & (UINT64_MAX << (class % 64));
    if (!bits) {
        uint64_t words = free->words & ~((UINT64_C(2) << word) - 1);
        if (!words)
            return 0;
        word = (unsigned)__builtin_ctzll(words);
        bits = free->bits[word];
    }
    uint32_t id = free->root[word * 64 + (unsigned)__builtin_ctzll(bits)];
    while (blocks->at[id].left)
        id = blocks->at[id].left;
    return id;
}

uint32_t vram_free_best(const struct vram_free_blocks *free, const struct vram_blocks *blocks,
                        uint64_t size)
{
    const struct vram_block *at = blocks->at;
    unsigned class = class_of(size);
    uint32_t best = 0;
    for (uint32_t t = free->root[class]; t;) {
        if (at[t].size >= size) {
            best = t;
            t = at[t].left;
        } else {
            t = at[t].right;
        }
    }
    return best ? best : first_from(free, blocks, class + 1);
}

uint32_t vram_free_next(const struct vram_free_blocks *free, const struct vram_blocks *blocks,
                        uint32_t id)
{
    const struct vram_block *at = blocks->at;
    unsigned class = class_of(at[id].size);
    uint32_t next = 0;
    for (uint32_t t = free->root[class]; t;) {
        if (t != id && !before(&at[t], at[id].size, at[id].addr)) {
            next = t;
            t = at[t].left;
        } else {
            t = at[t].right;
        }
    }
    return next ? next : first_from(free, blocks, class + 1);
}

uint32_t vram_free_last(const struct vram_free_blocks *free, const struct vram_blocks *blocks)
{
    if (!free->words)
        return 0;
    unsigned word = 63u - (unsigned)__builtin_clzll(free->words);
    unsigned bit = 63u - (unsigned)__builtin_clzll(free->bits[word]);
    uint32_t id = free->root[word * 64 + bit];
    while (blocks->at[id].right)
        id = blocks->at[id].right;
    return id;
}
