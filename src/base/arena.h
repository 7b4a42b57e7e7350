/* SPDX-License-Identifier: Apache-2.0
 *
 * One arena per handle: memory is taken, never given back one by one, and freed all at once.
 * Blocks are zeroed and aligned to 16 bytes.  Under AddressSanitizer, or with
 * -Darena_debug=true, each block is a malloc of its own, so that overruns are seen.
 *
 * Not thread safe: an arena belongs to one handle or one call.
 */
#ifndef VRAM_BASE_ARENA_H
#define VRAM_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vram_arena_chunk;

struct vram_arena {
    struct vram_arena_chunk *last; /* newest chunk; chunks form a list to the oldest */
    struct vram_arena_chunk *spare; /* zeroed, left by a rewind: the next one, when it is large enough */
    uint64_t used;                 /* bytes handed out */
    uint64_t cap;                  /* most bytes to hand out; then NULL */
    size_t next_chunk;             /* size of the next chunk */
    bool capped;                   /* a NULL was given because of cap, not for want of memory */
};

struct vram_arena_mark {
    struct vram_arena_chunk *last;
    size_t used_in_chunk;
    uint64_t used;
};

void vram_arena_init(struct vram_arena *arena, uint64_t cap_bytes);
void vram_arena_finish(struct vram_arena *arena); /* frees everything; a zeroed arena is fine */

/* size zeroed bytes; NULL when out of memory or above the cap.  size 0 gives a valid pointer. */
void *vram_arena_alloc(struct vram_arena *arena, size_t size);
/* n elements of size bytes; NULL also when n·size overflows. */
void *vram_arena_array(struct vram_arena *arena, size_t n, size_t size);
/* A zero-terminated copy of n bytes. */
char *vram_arena_strndup(struct vram_arena *arena, const char *text, size_t n);

/* Scratch: everything taken after mark goes at rewind. */
struct vram_arena_mark vram_arena_mark(const struct vram_arena *arena);
void vram_arena_rewind(struct vram_arena *arena, struct vram_arena_mark mark);

/* Tests only: the n-th memory request from now on (1 = the next one), of any arena or handle in
 * this thread, fails once; 0 turns it off.  Returns how many requests were made since the last
 * call. */
uint64_t vram_fail_after(uint64_t n);

/* malloc/calloc/realloc for the few blocks that do not live in an arena; same failure hook. */
void *vram_realloc(void *block, size_t n, size_t size);

#endif
