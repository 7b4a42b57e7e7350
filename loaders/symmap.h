/* SPDX-License-Identifier: Apache-2.0
 *
 * A map from interned names to small numbers.  Names are dense ids, so that the map is an array:
 * no hash, and no order to choose for whoever wrote the file.
 */
#ifndef VRAM_SYMMAP_H
#define VRAM_SYMMAP_H

#include <stdbool.h>
#include <string.h>

#include "base/sym.h"

struct vram_symmap {
    uint32_t *at; /* by name; 0 = not in the map */
    uint32_t cap;
};

static inline uint32_t vram_symmap_get(const struct vram_symmap *map, vram_sym name)
{
    return name < map->cap ? map->at[name] : 0;
}

/* value > 0; false when out of memory */
static inline bool vram_symmap_put(struct vram_symmap *map, struct vram_arena *arena, vram_sym name,
                                   uint32_t value)
{
    if (name >= map->cap) {
        uint32_t cap = map->cap < 1024 ? 1024 : map->cap;
        while (cap <= name)
            cap = cap > UINT32_MAX / 2 ? UINT32_MAX : cap * 2;
        uint32_t *at = vram_arena_array(arena, cap, sizeof *at);
        if (!at)
            return false;
        if (map->cap)
            memcpy(at, map->at, map->cap * sizeof *at);
        map->at = at;
        map->cap = cap;
    }
    map->at[name] = value;
    return true;
}

static inline void vram_symmap_clear(struct vram_symmap *map)
{
    if (map->cap)
        memset(map->at, 0, map->cap * sizeof *map->at);
}

#endif
