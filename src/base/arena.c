/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunked arena; see arena.h.  Knows nothing of what is stored in it.
 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/limits.h"
#include "base/math.h"

#if !defined(VRAM_ARENA_DEBUG) && defined(__SANITIZE_ADDRESS__)
#define VRAM_ARENA_DEBUG 1
#endif
#if !defined(VRAM_ARENA_DEBUG) && defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VRAM_ARENA_DEBUG 1
#endif
#endif
#ifndef VRAM_ARENA_DEBUG
#define VRAM_ARENA_DEBUG 0
#endif

enum { ALIGN = 16, FIRST_CHUNK = 64 * 1024, HUGE_FROM = 128 * 1024, HUGE_PAGE = 2 * 1024 * 1024 };

struct vram_arena_chunk {
    struct vram_arena_chunk *older;
    size_t size; /* of data */
    size_t used;
    size_t mapped; /* bytes to unmap; 0 = a malloc */
    unsigned char data[];
};
_Static_assert(sizeof(struct vram_arena_chunk) % ALIGN == 0, "chunk data must stay aligned");

const struct vram_limits vram_limits_default = {
    .header_bytes = 100000000,
    .json_bytes = 64u << 20,
    .json_depth = 100,
    .tensors = 8u << 20,
    .shards = 4096,
    .scopes = 1u << 20,
    .params = 8u << 20,
    .rank = 32,
    .bytes_total = UINT64_C(1) << 62,
    .arena_bytes = UINT64_C(2) << 30,
    .template_bytes = 4u << 20,
    .settings_bytes = 1u << 20,
    .settings = 20000,
    .settings_files = 32,
    .steps = UINT64_C(200) * 1000 * 1000,
    .depth = 1000,
    .onnx_depth = 100,
    .onnx_nodes = 4u << 20,
    .onnx_items = 64u << 20,
    .onnx_inlined = 1u << 16,
    .onnx_name_bytes = 1u << 20,
    .onnx_part_bytes = 16u << 20,
    .onnx_unpacked = UINT64_C(4) << 30,
    .onnx_ratio = 200,
};

static _Thread_local uint64_t fail_at;
static _Thread_local uint64_t requests;

uint64_t vram_fail_after(uint64_t n)
{
    uint64_t made = requests;
    requests = 0;
    fail_at = n;
    return made;
}

static bool refuse(void)
{
    requests++;
    return fail_at != 0 && requests == fail_at;
}

void *vram_realloc(void *block, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || refuse())
        return NULL;
    return realloc(block, bytes ? bytes : 1);
}

void vram_arena_init(struct vram_arena *arena, uint64_t cap_bytes)
{
    *arena = (struct vram_arena){.cap = cap_bytes, .next_chunk = FIRST_CHUNK};
}

static void free_chunk(struct vram_arena_chunk *chunk)
{
    if (chunk && chunk->mapped)
        munmap(chunk, chunk->mapped);
    else
        free(chunk);
}

static void free_until(struct vram_arena *arena, const struct vram_arena_chunk *keep)
{
    while (arena->last != keep) {
        struct vram_arena_chunk *chunk = arena->last;
        arena->last = chunk->older;
        free_chunk(chunk);
    }
}

void vram_arena_finish(struct vram_arena *arena)
{
    free_until(arena, NULL);
    free_chunk(arena->spare);
    arena->spare = NULL;
    arena->used = 0;
}

/* Scratch that begins at the end of a chunk would map and unmap the next one each time. */
static void keep_spare(struct vram_arena *arena, const struct vram_arena_chunk *keep)
{
    struct vram_arena_chunk *chunk = arena->last;
    if (VRAM_ARENA_DEBUG || arena->spare || chunk == keep || chunk->older != keep || chunk->size > 2 * HUGE_PAGE)
        return;
    memset(chunk->data, 0, chunk->used);
    chunk->used = 0;
    arena->last = chunk->older;
    arena->spare = chunk;
}

/* Whole huge pages, where the system has them: one page fault instead of 512, which are the largest
 * single cost of a short process.  Zeroed by the system; NULL when it has no memory. */
static struct vram_arena_chunk *map_chunk(size_t total)
{
    if (total > SIZE_MAX / 2)
        return NULL;
    size_t size = (size_t)vram_round_up(total, HUGE_PAGE);
    unsigned char *at = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
    if (before)
        munmap(at, before);
    munmap(at + before + size, HUGE_PAGE - before);
    struct vram_arena_chunk *chunk = (struct vram_arena_chunk *)(void *)(at + before);
#ifdef MADV_HUGEPAGE
    (void)madvise(chunk, size, MADV_HUGEPAGE);
#endif
    chunk->mapped = size;
    chunk->size = size - sizeof *chunk;
    return chunk;
}

/* Small chunks first: fresh pages are zero already, so they cost only what is touched. */
static bool grow(struct vram_arena *arena, size_t need)
{
    size_t size = VRAM_ARENA_DEBUG || need > arena->next_chunk ? need : arena->next_chunk;
    size_t total;
    struct vram_arena_chunk *chunk = arena->spare;
    if (chunk && chunk->size >= need) {
        arena->spare = NULL;
        chunk->older = arena->last;
        arena->last = chunk;
        return true;
    }
    if (__builtin_add_overflow(size, sizeof *chunk, &total))
        return false;
    if (!VRAM_ARENA_DEBUG && size > HUGE_FROM) {
        chunk = map_chunk(total);
    } else {
        chunk = calloc(1, total);
        if (chunk)
            chunk->size = size;
    }
    if (!chunk)
        return false;
    chunk->older = arena->last;
    arena->last = chunk;
    arena->next_chunk *= arena->next_chunk <= HUGE_FROM ? 2 : 1;
    return true;
}

void *vram_arena_alloc(struct vram_arena *arena, size_t size)
{
    if (refuse() || size > SIZE_MAX - ALIGN)
        return NULL;
    /* in debug mode blocks keep their exact size, so that one byte too far is seen */
    size_t need = VRAM_ARENA_DEBUG ? size : (size_t)vram_round_up(size, ALIGN);
    uint64_t used;
    if (!vram_add_u64(arena->used, need, &used) || used > arena->cap) {
        arena->capped = true;
        return NULL;
    }
    if (VRAM_ARENA_DEBUG || !arena->last || arena->last->size - arena->last->used < need)
        if (!grow(arena, need))
            return NULL;
    void *block = arena->last->data + arena->last->used;
    arena->last->used += need;
    arena->used = used;
    return block;
}

void *vram_arena_array(struct vram_arena *arena, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        arena->capped = true;
        return NULL;
    }
    return vram_arena_alloc(arena, bytes);
}

char *vram_arena_strndup(struct vram_arena *arena, const char *text, size_t n)
{
    char *copy = n < SIZE_MAX ? vram_arena_alloc(arena, n + 1) : NULL;
    if (copy && n)
        memcpy(copy, text, n);
    return copy;
}

struct vram_arena_mark vram_arena_mark(const struct vram_arena *arena)
{
    return (struct vram_arena_mark){arena->last, arena->last ? arena->last->used : 0, arena->used};
}

void vram_arena_rewind(struct vram_arena *arena, struct vram_arena_mark mark)
{
    keep_spare(arena, mark.last);
    free_until(arena, mark.last);
    if (arena->last) {
        struct vram_arena_chunk *chunk = arena->last;
        memset(chunk->data + mark.used_in_chunk, 0, chunk->used - mark.used_in_chunk);
        chunk->used = mark.used_in_chunk;
    }
    arena->used = mark.used;
}
