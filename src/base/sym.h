/* SPDX-License-Identifier: Apache-2.0
 *
 * Interned strings: a string becomes a small dense id, equal strings the same one.  Id 0 is the
 * empty string.  The table's hash is seeded per process, so that a file cannot choose names that
 * collide; no order of the hash is ever visible.
 */
#ifndef VRAM_BASE_SYM_H
#define VRAM_BASE_SYM_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef uint32_t vram_sym;

struct vram_sym_entry {
    const char *text; /* zero-terminated; may hold zero bytes before n */
    uint32_t n;
    uint32_t hash;
};

struct vram_syms {
    struct vram_arena *arena;
    const struct vram_syms *base; /* a frozen table below this one; its ids hold here too */
    uint32_t first;               /* ids below are the base's */
    struct vram_sym_entry *at;    /* by id − first */
    uint32_t n, cap;              /* of this layer */
    uint32_t *slots; /* open addressing, ids + 1; 0 = free */
    uint32_t mask;
    uint64_t seed;
};

#define VRAM_SYM_NONE UINT32_MAX /* also: out of memory */

/* 0 or VRAM_E_NOMEM */
int vram_syms_init(struct vram_syms *syms, struct vram_arena *arena);
/* A table on top of a frozen one: what is added stays in the layer, so that any number of runs may
 * share the base.  0 or VRAM_E_NOMEM. */
int vram_syms_layer(struct vram_syms *syms, const struct vram_syms *base,
                    struct vram_arena *arena);
/* The id of text; VRAM_SYM_NONE when out of memory.  copy=0: text outlives the table. */
vram_sym vram_sym_add(struct vram_syms *syms, const char *text, size_t n, int copy);
vram_sym vram_sym_of(struct vram_syms *syms, const char *text);
/* The id when the string is known, else VRAM_SYM_NONE. */
vram_sym vram_sym_find(const struct vram_syms *syms, const char *text, size_t n);
const char *vram_sym_text(const struct vram_syms *syms, vram_sym sym);

#endif
