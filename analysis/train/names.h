/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists that name modules, as PEFT reads them: an item is the end of a path ("q_proj", "mlp.up_proj"), a short
 * name of a projection (q k v o gate up down), or a regular expression for the whole path.
 */
#ifndef VRAM_TRAIN_NAMES_H
#define VRAM_TRAIN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cx.h"

struct vram_name_item {
    const char *text; /* of n bytes, not terminated */
    size_t n;
    void *pattern;    /* a compiled expression; NULL for a plain name */
};

struct vram_names {
    struct vram_name_item *at;
    size_t n;
};

/* Reads a list whose items have commas between them; setting: for messages.  tails: an expression may begin
 * behind any dot of the path (rank_pattern), else it is for all of it.  Everything is made in the arena.
 * Errors: VRAM_E_ARGUMENT for an expression that is none, VRAM_E_NOMEM. */
int vram_names_read(struct vram_cx *cx, const char *setting, const char *list, bool tails,
                    struct vram_names *out);

/* Is the module at `path` meant?  VRAM_E_LIMIT when an expression takes too long on it. */
int vram_name_matches(struct vram_cx *cx, const struct vram_name_item *item, const char *path, bool *out);

/* The first item that means it; n = none. */
int vram_names_find(struct vram_cx *cx, const struct vram_names *names, const char *path, size_t *item);

#endif
