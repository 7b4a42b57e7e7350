/* SPDX-License-Identifier: Apache-2.0
 *
 * An index of free blocks that answers "the smallest one of at least n bytes, ties at the lowest
 * address".
 *
 * Sizes fall into classes, eight between two powers of two; a bitmap finds the next class that has
 * any.  Most classes hold one size, so that what is asked for stands at the class's root.  In
 * general a class is a trie of its sizes, one bit a level, and the blocks of one size are a pairing
 * heap by address, whose root, the head, is the node in the trie.  A step costs O(log n),
 * amortised, and at most a level per bit of a size more.
 *
 * What the fields of a free block mean here:
 *
 *             link[0], link[1]                        next
 *     HEAD    subtries, by the next bit of the size   first child in the heap
 *     FREE    next sibling; previous one or parent    first child in the heap
 */
#ifndef VRAM_ALLOC_FIT_H
#define VRAM_ALLOC_FIT_H

#include "alloc/blocks.h"

/* Sizes are multiples of 512 up to 2^62; those from 8 TiB on share the last class. */
enum { VRAM_FIT_UNIT = 9, VRAM_FIT_SUB = 3, VRAM_FIT_WORDS = 4, VRAM_FIT_LAST = 255 };

struct vram_fit {
    uint64_t bits[VRAM_FIT_WORDS]; /* bit c: class c has any */
    uint32_t root[VRAM_FIT_LAST + 1];
};

/* A class is 2^shift units of 512 bytes wide. */
static inline unsigned vram_fit_shift(uint64_t size)
{
    uint64_t units = size >> VRAM_FIT_UNIT | UINT64_C(1) << VRAM_FIT_SUB;
    return 63u - (unsigned)__builtin_clzll(units) - VRAM_FIT_SUB;
}

static inline unsigned vram_fit_class(uint64_t size)
{
    unsigned shift = vram_fit_shift(size);
    unsigned class = (shift << VRAM_FIT_SUB) + (unsigned)(size >> VRAM_FIT_UNIT >> shift);
    return class < VRAM_FIT_LAST ? class : VRAM_FIT_LAST;
}

/* What the functions below need only where a class has more than one size or block. */
uint32_t *vram_fit_node(uint32_t *link, struct vram_block *at, uint64_t size);
uint32_t vram_fit_search(const struct vram_fit *fit, const struct vram_block *at, uint64_t size,
                         unsigned class);
uint32_t vram_fit_smallest(const struct vram_block *at, uint32_t node, uint32_t best);
uint32_t vram_fit_combine(struct vram_block *at, uint32_t first);
uint32_t vram_fit_leaf(struct vram_block *at, uint32_t *link);

/* Makes one heap the first child of another's root. */
static inline void vram_fit_adopt(struct vram_block *at, uint32_t parent, uint32_t child)
{
    uint32_t sibling = at[parent].next;
    at[child].link[0] = sibling;
    at[sibling].link[1] = child;
    at[child].link[1] = parent;
    at[parent].next = child;
}

/* Makes one heap of two; returns its root. */
static inline uint32_t vram_fit_meld(struct vram_block *at, uint32_t a, uint32_t b)
{
    uint32_t low = at[a].addr < at[b].addr ? a : b, high = low == a ? b : a;
    at[high].state = VRAM_BLOCK_FREE;
    vram_fit_adopt(at, low, high);
    return low;
}

/* The block's state becomes FREE or HEAD. */
static inline void vram_fit_insert(struct vram_fit *fit, struct vram_block *at, uint32_t id)
{
    struct vram_block *b = &at[id];
    unsigned class = b->class;
    uint32_t *link = &fit->root[class];
    if (*link && at[*link].size != b->size)
        link = vram_fit_node(link, at, b->size);
    uint32_t head = *link;
    b->next = 0;
    b->state = VRAM_BLOCK_HEAD;
    if (!head) {
        b->link[0] = b->link[1] = 0;
        *link = id;
        fit->bits[class / 64] |= UINT64_C(1) << (class % 64);
        return;
    }
    uint32_t smaller = at[head].link[0], larger = at[head].link[1];
    uint32_t low = vram_fit_meld(at, head, id);
    at[low].link[0] = smaller;
    at[low].link[1] = larger;
    *link = low;
}

static inline void vram_fit_erase_head(struct vram_fit *fit, struct vram_block *at, uint32_t id)
{
    const struct vram_block *b = &at[id];
    uint32_t *link = &fit->root[b->class];
    if (*link != id)
        link = vram_fit_node(link, at, b->size);
    uint32_t heir = b->next;
    if (heir) {
        if (at[heir].link[0])
            heir = vram_fit_combine(at, heir);
        at[heir].state = VRAM_BLOCK_HEAD;
    } else if (b->link[0] | b->link[1]) {
        heir = vram_fit_leaf(at, link);
    } else {
        *link = 0;
        if (!fit->root[b->class])
            fit->bits[b->class / 64] &= ~(UINT64_C(1) << (b->class % 64));
        return;
    }
    at[heir].link[0] = b->link[0];
    at[heir].link[1] = b->link[1];
    *link = heir;
}

static inline void vram_fit_erase(struct vram_fit *fit, struct vram_block *at, uint32_t id)
{
    const struct vram_block *b = &at[id];
    if (b->state == VRAM_BLOCK_HEAD) {
        vram_fit_erase_head(fit, at, id);
        return;
    }
    uint32_t sibling = b->link[0], before = b->link[1], heir = sibling;
    at[sibling].link[1] = before;
    if (b->next) {
        heir = vram_fit_combine(at, b->next);
        at[heir].link[0] = sibling;
        at[heir].link[1] = before;
        at[sibling].link[1] = heir;
    }
    if (at[before].next == id)
        at[before].next = heir;
    else
        at[before].link[0] = heir;
}

/* Gives a block of the index a new place and size. */
static inline void vram_fit_move(struct vram_fit *fit, struct vram_block *at, uint32_t id,
                                 uint64_t addr, uint64_t size)
{
    struct vram_block *b = &at[id];
    unsigned class = vram_fit_class(size);
    bool alone = fit->root[b->class] == id && !(b->link[0] | b->link[1] | b->next);
    if (alone && class == b->class) { /* its place in the index is the same */
        b->addr = addr;
        b->size = size;
        return;
    }
    vram_fit_erase(fit, at, id);
    b->addr = addr;
    b->size = size;
    b->class = (uint8_t) class;
    vram_fit_insert(fit, at, id);
}

/* The root of the first class after `class` that has any; 0 when there is none. */
static inline uint32_t vram_fit_above(const struct vram_fit *fit, unsigned class)
{
    unsigned word = class / 64;
    uint64_t bits = fit->bits[word] & (UINT64_MAX - 1) << (class % 64);
    while (!bits) {
        if (++word == VRAM_FIT_WORDS)
            return 0;
        bits = fit->bits[word];
    }
    return fit->root[word * 64 + (unsigned)__builtin_ctzll(bits)];
}

/* The smallest by (size, address) of at least `size` bytes, a HEAD; 0 when there is none. */
static inline uint32_t vram_fit_best(const struct vram_fit *fit, const struct vram_block *at,
                                     uint64_t size, unsigned class)
{
    uint32_t id = fit->root[class];
    if (at[id].size == size)
        return id;
    if (id && (at[id].link[0] | at[id].link[1]))
        return vram_fit_search(fit, at, size, class);
    if (at[id].size < size)
        id = vram_fit_above(fit, class);
    if (id && (at[id].link[0] | at[id].link[1]))
        id = vram_fit_smallest(at, id, id);
    return id;
}

#endif
