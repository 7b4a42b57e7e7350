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

#include "alloc/fit.h"
#include "base/cx.h"

enum { VRAM_CACHING_STREAMS = 256 };

struct vram_caching_options {
    uint64_t total;            /* bytes that segments may take in all; 0 = no limit */
    uint64_t max_split;        /* max_split_size, above 20 MiB; 0 = none */
    uint64_t max_non_split;    /* max_non_split_rounding; 0 = 20 MiB, torch's default */
    uint32_t power2_divisions; /* roundup_power2_divisions, a power of two; 0 or 1 = off */
    bool expandable;           /* expandable_segments */
    size_t expect;             /* how many blocks there will be, roughly; 0 = no idea */
};

struct vram_pool {
    struct vram_fit free;
    uint64_t least_rest; /* a block is cut when at least this much remains … */
    uint64_t whole_from; /* … and the request is smaller than this */
    uint32_t first;      /* expandable: begins the one address range; no bytes, never free */
    uint32_t holes;      /* expandable: its HOLE blocks by address, linked by .next */
};

struct vram_caching {
    struct vram_cx *cx;
    struct vram_caching_options options;
    bool plain; /* neither expandable nor max_split: the best fit is always taken */
    struct vram_blocks blocks;
    uint64_t top;       /* address of the next segment */
    uint64_t limit;     /* of reserved */
    uint64_t allocated; /* sum of used blocks */
    uint32_t segments;
    uint32_t retries;   /* times the cache was emptied because memory had run out */
    uint64_t requested; /* sum of used blocks, as they were asked for */
    uint64_t reserved;  /* sum of segments, of mapped pages when expandable */
    uint64_t peak_reserved;
    struct vram_pool *pools[VRAM_CACHING_STREAMS * 2]; /* stream · 2 + large; NULL until used */
};

/* Takes memory from cx->arena from the first request on. */
void vram_caching_init(struct vram_caching *c, struct vram_cx *cx,
                       const struct vram_caching_options *options);

/* Back to the state after vram_caching_init, with the memory that was taken. */
void vram_caching_reset(struct vram_caching *c);

/* One request; *block is 0 for n = 0.  VRAM_E_LIMIT: options.total is full even after the cache
 * was emptied (torch raises OutOfMemoryError); VRAM_E_RANGE: more than 2^62 bytes; VRAM_E_NOMEM.
 * After VRAM_E_LIMIT the state is what torch would be left with, and further calls are allowed. */
int vram_caching_malloc(struct vram_caching *c, uint64_t n, unsigned stream, uint32_t *block);
/* Gives a block back to its pool; 0 is ignored. */
void vram_caching_free(struct vram_caching *c, uint32_t block);

/* torch.cuda.empty_cache(): every segment without a used block goes back; 0 or an error code. */
int vram_caching_empty(struct vram_caching *c);

/* ---- inside the model: serve.h, caching.c, segments.c, expandable.c ---- */

enum {
    VRAM_CACHING_UNIT = 512,        /* every size is a multiple */
    VRAM_CACHING_SMALL = 1 << 20,   /* largest request of the small pool */
    VRAM_CACHING_SEGMENT = 20 << 20 /* of large requests below 10 MiB */
};
#define VRAM_CACHING_LIMIT (UINT64_C(1) << 62) /* sums stay below */

struct vram_pool *vram_caching_new_pool(struct vram_caching *c, unsigned p);
/* What becomes of the best fit when c->plain is not: another free block, or 0 for none. */
uint32_t vram_caching_choose(struct vram_caching *c, struct vram_pool *pool, uint32_t id,
                             uint64_t size);
/* A free block for a request that none in the index serves: from the card, if need be after giving
 * cached memory back to it. */
int vram_caching_obtain(struct vram_caching *c, unsigned p, uint64_t size, uint32_t *block);
/* Turns a block that is not free into a free one, joined with free neighbours; the block that it
 * is then part of. */
uint32_t vram_caching_release(struct vram_caching *c, uint32_t block);
/* Maps pages until a free block of size bytes exists; 0 when it does not fit below c->limit. */
uint32_t vram_expandable_grow(struct vram_caching *c, unsigned p, uint64_t size);
/* Unmaps every page that lies wholly in free memory; 0 or an error code. */
int vram_expandable_unmap(struct vram_caching *c, unsigned p);

#endif
