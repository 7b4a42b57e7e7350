/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees into statements; see tree.h.
 */
#include "settings/tree.h"

#include <stdio.h>
#include <string.h>

void vram_tree_begin(struct vram_said_tree *t, struct vram_settings *s, uint32_t file)
{
    t->s = s;
    t->file = file;
    t->n = 0;
    t->depth = 0;
    t->key[0] = 0;
    t->lost = false;
}

/* appends ".text" to the key */
static void extend(struct vram_said_tree *t, const char *text, size_t n)
{
    size_t dot = t->n > 0;
    if (n + dot >= sizeof t->key - t->n || memchr(text, 0, n)) {
        t->lost = true;
        return;
    }
    if (dot)
        t->key[t->n++] = '.';
    memcpy(t->key + t->n, text, n);
    t->n += n;
    t->key[t->n] = 0;
}

void vram_tree_here(struct vram_said_tree *t)
{
    t->n = t->depth ? t->levels[t->depth - 1].key : 0;
    t->key[t->n] = 0;
    t->lost = t->n == VRAM_TREE_KEY - 1;
}

void vram_tree_key(struct vram_said_tree *t, const char *key, size_t n)
{
    vram_tree_here(t);
    extend(t, key, n);
}

void vram_tree_place(struct vram_said_tree *t)
{
    struct level *l = t->depth ? &t->levels[t->depth - 1] : NULL;
    char number[12];
    if (!l || !l->list)
        return;
    vram_tree_here(t);
    extend(t, number, (size_t)snprintf(number, sizeof number, "%u", l->count));
}

void vram_tree_taken(struct vram_said_tree *t)
{
    if (t->depth)
        t->levels[t->depth - 1].count++;
    vram_tree_here(t);
}

int vram_tree_open(struct vram_said_tree *t, bool list, uint32_t line)
{
    if (t->depth == VRAM_TREE_DEPTH)
        return vram_fail(t->s->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "nested more than %d levels deep",
                         VRAM_TREE_DEPTH);
    vram_tree_place(t);
    size_t items = t->depth ? t->levels[t->depth - 1].items : 0;
    t->levels[t->depth++] = (struct level){.key = t->lost ? VRAM_TREE_KEY - 1 : t->n,
                                           .items = items, .line = line, .list = list};
    return VRAM_OK;
}

/* a list of scalars is one value; an empty one says that, too */
int vram_tree_close(struct vram_said_tree *t)
{
    struct level *l = &t->levels[--t->depth];
    struct level *above = t->depth ? &t->levels[t->depth - 1] : NULL;
    size_t start = above ? above->items : 0;
    int rc = VRAM_OK;
    if (l->list && (l->scalars || !l->count) && l->key < VRAM_TREE_KEY - 1) {
        t->key[l->key] = 0;
        t->items[l->items] = 0;
        rc = vram_settings_say(t->s, t->file, t->key, t->items + start, l->line);
        if (!rc)
            t->s->said.at[t->s->said.n - 1].computed = l->overlong;
    }
    vram_tree_taken(t);
    return rc;
}

/* appends ",text" to the items of the list that is open */
static void item(struct vram_said_tree *t, const char *text, size_t n)
{
    struct level *l = &t->levels[t->depth - 1];
    size_t comma = l->scalars > 0;
    l->count++;
    if (n + comma + 1 > sizeof t->items - l->items || memchr(text, 0, n)) {
        l->overlong = true;
        return;
    }
    if (comma)
        t->items[l->items++] = ',';
    memcpy(t->items + l->items, text, n);
    l->items += n;
    l->scalars++;
}

int vram_tree_scalar(struct vram_said_tree *t, const char *text, size_t n, uint32_t line)
{
    struct level *l = t->depth ? &t->levels[t->depth - 1] : NULL;
    int rc = VRAM_OK;
    if (l && l->list && text) {
        item(t, text, n);
        return VRAM_OK;
    }
    if (l && !l->list && text && !t->lost) {
        bool whole = !memchr(text, 0, n);
        char *value = vram_arena_strndup(t->s->cx->arena, text, n);
        rc = value ? vram_settings_say(t->s, t->file, t->key, value, line)
                   : vram_fail_memory(t->s->cx);
        if (!rc)
            t->s->said.at[t->s->said.n - 1].computed = !whole;
    }
    vram_tree_taken(t);
    return rc;
}
