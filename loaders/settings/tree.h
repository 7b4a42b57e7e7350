/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree of values as it is read, JSON's and YAML's alike, into flat statements: levels join by dots,
 * a list of scalars is one value with commas, other items of a list get numbers.
 */
#ifndef VRAM_SETTINGS_TREE_H
#define VRAM_SETTINGS_TREE_H

#include "settings/settings.h"

enum { VRAM_TREE_DEPTH = 64, VRAM_TREE_KEY = 512, VRAM_TREE_VALUE = 4096 };

struct vram_said_tree {
    struct vram_settings *s;
    uint32_t file;
    char key[VRAM_TREE_KEY];
    size_t n; /* of the key */
    char items[VRAM_TREE_VALUE]; /* scalars of the lists that are open */
    struct level {
        size_t key, items; /* lengths before it */
        uint32_t count, scalars, line;
        bool list, overlong;
    } levels[VRAM_TREE_DEPTH];
    uint32_t depth;
    bool lost; /* the key is too long to be one that matters */
};

void vram_tree_begin(struct vram_said_tree *t, struct vram_settings *s, uint32_t file);
int vram_tree_open(struct vram_said_tree *t, bool list, uint32_t line);
int vram_tree_close(struct vram_said_tree *t);
/* of the object that is open */
void vram_tree_key(struct vram_said_tree *t, const char *key, size_t n);
/* What comes is said of the object itself that is open. */
void vram_tree_here(struct vram_said_tree *t);
/* text NULL: null, which says nothing */
int vram_tree_scalar(struct vram_said_tree *t, const char *text, size_t n, uint32_t line);
/* The key of a value that begins now, which anchors and copies of it need. */
void vram_tree_place(struct vram_said_tree *t);
/* after a value that was said in another way */
void vram_tree_taken(struct vram_said_tree *t);

#endif
