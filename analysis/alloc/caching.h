/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA caching allocator of PyTorch 2.9, as a model: requests in, block and segment sizes out.
 * Used by the rows "torch" and "torch-expandable"; the options beyond those two exist so that every
 * rule can be tested and an out-of-memory retry be followed.
 *
 * Not modelled: record_stream (a block is reusable at once), garbage_collection_threshold,
 * private pools of CUDA graphs.
 */
#ifndef VRAM_ALLOC_CACHING_H
#define VRAM_ALLOC_CACHING_H

#include <stdbool.h>
#include <stdint.h>

#include "alloc/blocks.h"
#include "base/cx.h"

enum { VRAM_CACHING_STREAMS = 256 };

struct vram_caching_options {
    uint64_t total;            /* bytes that segments may take in all; 0 = no limit */
    uint64_t max_split;        /* max_split_size, above 20 MiB; 0 = none */
    uint64_t max_non_split;    /* max_non_split_rounding; 0 = 20 MiB, torch's default */
    uint32_t power2_divisions; /* roundup_power2_divisions, a power of two; 0 or 1 = off */
    bool expandable;           /* expandable_segments */
};

struct vram_pool {
    struct vram_free_blocks free;
    uint32_t first; /* expandable: first block of the one address range */
    uint32_t holes; /* expandable: its HOLE blocks by address, linked by .right */
};

struct vram_caching {
    struct vram_cx *cx;
    struct vram_caching_options options;
    struct vram_blocks blocks;
    struct vram_pool *pools[VRAM_CACHING_STREAMS * 2]; /* stream · 2 + large; NULL until used */
    uint64_t top;                                      /* address of the next segment */
    uint64_t limit;                                    /* of reserved */
    uint64_t allocated;                                /* sum of used blocks */
    uint64_t reserved; /* sum of segments, of mapped pages when expandable */
    uint64_t peak_reserved;
    uint32_t segments;
    uint32_t retries; /* times the cache was emptied because memory had run out */
};

/* Takes memory from cx->arena from the first request on. */
void vram_caching_init(struct vram_caching *c, struct vram_cx *cx,
                       const struct vram_caching_options *options);

/* One request; *block is 0 for n = 0.  VRAM_E_LIMIT: options.total is full even after the cache
 * was emptied (torch raises OutOfMemoryError); VRAM_E_RANGE: more than 2^62 bytes; VRAM_E_NOMEM.
 * After VRAM_E_LIMIT the state is what torch would be left with, and further calls are allowed. */
int vram_caching_malloc(struct vram_caching *c, uint64_t n, unsigned stream, uint32_t *block);
/* Gives a block back to its pool; 0 is ignored. */
void vram_caching_free(struct vram_caching *c, uint32_t block);

/* torch.cuda.empty_cache(): every segment without a used block goes back; 0 or an error code. */
int vram_caching_empty(struct vram_caching *c);

/* A request rounded as torch rounds it. */
uint64_t vram_caching_round(const struct vram_caching_options *options, uint64_t n);

/* ---- between caching.c and expandable.c ---- */

/* Joins a free block, not in the index, with free neighbours; returns the number that stays. */
uint32_t vram_caching_merge(struct vram_caching *c, uint32_t block);
/* Maps pages until a free block of size bytes exists and takes it out of the index; *block = 0
 * when it does not fit below c->limit. */
void vram_expandable_grow(struct vram_caching *c, uint16_t pool, uint64_t size, uint32_t *block);
/* Unmaps every page that lies wholly in free memory; 0 or an error code. */
int vram_expandable_unmap(struct vram_caching *c, uint16_t pool);

#endif
