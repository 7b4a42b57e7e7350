/* SPDX-License-Identifier: Apache-2.0
 *
 * Growing array in an arena: {at, n, cap}.  Growing leaves the old block behind in the arena; sizes
 * known beforehand should be reserved.  Beyond VRAM_VEC_STEEP bytes it grows fourfold: memory that is
 * never touched costs nothing, a copy touches both blocks.
 *
 *     VRAM_VEC(struct thing) things;
 *     if (!vram_vec_room(&things, arena, 1)) return nomem;
 *     things.at[things.n++] = x;
 */
#ifndef VRAM_BASE_VEC_H
#define VRAM_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"

#define VRAM_VEC_STEEP (32 * 1024)

#define VRAM_VEC(type)                                                                             \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
    }

/* true when `more` further elements fit */
#define vram_vec_room(v, arena, more)                                                              \
    ((v)->cap - (v)->n >= (size_t)(more) ||                                                        \
     vram_vec_grow_((arena), (void **)&(v)->at, (v)->n, &(v)->cap, (more), sizeof *(v)->at))

/* appends one element; false when out of memory */
#define vram_vec_push(v, arena, ...)                                                               \
    (vram_vec_room((v), (arena), 1) ? ((v)->at[(v)->n++] = (__VA_ARGS__), true) : false)

static inline bool vram_vec_grow_(struct vram_arena *arena, void **at, size_t n, size_t *cap,
                                  size_t more, size_t size)
{
    size_t want = *cap < 8 ? 8 : *cap * (*cap * size < VRAM_VEC_STEEP ? 2 : 4);
    if (more > SIZE_MAX / 4 || want / 8 > SIZE_MAX / 32)
        return false;
    if (want < n + more)
        want = n + more;
    void *block = vram_arena_array(arena, want, size);
    if (!block)
        return false;
    if (n)
        memcpy(block, *at, n * size);
    *at = block;
    *cap = want;
    return true;
}

#endif
