/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching allocator once more, as plainly as it can be written: one list of pieces, searched
 * from end to end for everything.  What the library's index and block records must agree with.
 *
 * Expandable segments: without a limit and without emptying the cache only, so that a range is
 * mapped from its start to one edge.
 */
#ifndef TESTS_UNIT_ALLOC_NAIVE_H
#define TESTS_UNIT_ALLOC_NAIVE_H

#include "alloc/caching.h"

enum { NAIVE_MOST = 8192 };

struct naive_piece {
    uint64_t addr, size;
    uint64_t segment; /* where its segment, or range, begins */
    unsigned pool;
    bool free;
};

struct naive {
    struct vram_caching_options options; /* 0 stands for the same as in vram_caching_init */
    struct naive_piece at[NAIVE_MOST];   /* by address */
    size_t n;
    uint64_t top;
    uint64_t allocated, reserved, peak_reserved;
    uint32_t segments, retries;
};

/* The address; UINT64_MAX when options.total is full. */
uint64_t naive_malloc(struct naive *m, uint64_t n, unsigned stream);
void naive_free(struct naive *m, uint64_t addr);
void naive_empty(struct naive *m);

#endif
