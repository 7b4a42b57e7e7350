/* SPDX-License-Identifier: Apache-2.0
 *
 * The rarer halves of the index of free blocks; see fit.h.
 */
#include "alloc/fit.h"

/* ---- the trie of a class's sizes ---- */

/* The bit of a size that its class's root branches by, doubled. */
static uint64_t top_bit(uint64_t size)
{
    bool last = vram_fit_class(size) == VRAM_FIT_LAST;
    return last ? UINT64_C(1) << 63 : UINT64_C(1) << VRAM_FIT_UNIT << vram_fit_shift(size);
}

/* Where the head of `size` stands below *link, the root of its class, or would. */
uint32_t *vram_fit_node(uint32_t *link, struct vram_block *at, uint64_t size)
{
    uint64_t bit = top_bit(size);
    while (*link && at[*link].size != size) {
        bit >>= 1;
        link = &at[*link].link[(size & bit) != 0];
    }
    return link;
}

/* Takes any leaf below the node *link out; it may stand in the node's place, as it shares the bits
 * that led there. */
uint32_t vram_fit_leaf(struct vram_block *at, uint32_t *link)
{
    while (at[*link].link[0] | at[*link].link[1])
        link = &at[*link].link[at[*link].link[1] != 0];
    uint32_t leaf = *link;
    *link = 0;
    return leaf;
}

/* The smaller of `best` and the smallest size at and below `node`. */
uint32_t vram_fit_smallest(const struct vram_block *at, uint32_t node, uint32_t best)
{
    for (; node; node = at[node].link[at[node].link[0] == 0])
        if (!best || at[node].size < at[best].size)
            best = node;
    return best;
}

/* vram_fit_best, when the class has several sizes. */
uint32_t vram_fit_search(const struct vram_fit *fit, const struct vram_block *at, uint64_t size,
                         unsigned class)
{
    uint64_t bit = top_bit(size);
    uint32_t node = fit->root[class], best = 0, larger = 0;
    while (node && at[node].size != size) {
        if (at[node].size > size && (!best || at[node].size < at[best].size))
            best = node;
        bit >>= 1;
        if (!(size & bit) && at[node].link[1])
            larger = at[node].link[1]; /* the closest larger sizes that are not on the way */
        node = at[node].link[(size & bit) != 0];
    }
    if (node)
        return node;
    best = vram_fit_smallest(at, larger, best);
    return best ? best : vram_fit_smallest(at, vram_fit_above(fit, class), 0);
}

/* ---- the heap of one size's blocks ---- */

/* Makes one heap of siblings: melds them in pairs, then the pairs, the last one first. */
uint32_t vram_fit_combine(struct vram_block *at, uint32_t first)
{
    uint32_t pairs = 0;
    while (first) {
        uint32_t one = first, other = at[one].link[0];
        first = 0;
        if (other) {
            first = at[other].link[0];
            one = vram_fit_meld(at, one, other);
        }
        at[one].link[0] = pairs;
        pairs = one;
    }
    uint32_t heap = pairs, pair = at[heap].link[0];
    while (pair) {
        uint32_t following = at[pair].link[0];
        heap = vram_fit_meld(at, heap, pair);
        pair = following;
    }
    return heap;
}
