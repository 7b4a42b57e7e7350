/* SPDX-License-Identifier: Apache-2.0
 *
 * Configuration values; see config.h.
 */
#include "ir/config.h"

#include <stdio.h>
#include <string.h>

struct vram_config *vram_config_get(const struct vram_config *v, vram_sym key)
{
    if (!v || v->type != VRAM_CONFIG_OBJECT)
        return NULL;
    for (struct vram_config *m = v->first; m; m = m->next)
        if (m->key == key)
            return m;
    return NULL;
}

struct vram_config *vram_config_get_text(const struct vram_cx *cx, const struct vram_config *v,
                                         const char *key)
{
    return vram_config_get(v, vram_sym_find(cx->syms, key, strlen(key)));
}

struct vram_config *vram_config_add(struct vram_cx *cx, struct vram_config *parent, vram_sym key,
                                    enum vram_config_type type, enum vram_origin origin)
{
    struct vram_config *m = vram_arena_alloc(cx->arena, sizeof *m);
    if (!m) {
        vram_fail_memory(cx);
        return NULL;
    }
    m->key = key;
    m->type = type;
    m->origin = origin;
    m->offset = VRAM_NO_OFFSET;
    m->parent = parent;
    if (parent) {
        if (parent->last)
            parent->last->next = m;
        else
            parent->first = m;
        parent->last = m;
    }
    return m;
}

void vram_config_path(const struct vram_cx *cx, const struct vram_config *v, char *out, size_t size)
{
    if (!size)
        return;
    out[0] = 0;
    if (!v || !v->parent)
        return;
    vram_config_path(cx, v->parent, out, size);
    size_t n = strlen(out);
    char key[160];
    const char *text = vram_sym_text(cx->syms, v->key);
    vram_escape(key, sizeof key, text, strlen(text));
    if (v->parent->type == VRAM_CONFIG_ARRAY) {
        unsigned at = 0;
        for (const struct vram_config *m = v->parent->first; m && m != v; m = m->next)
            at++;
        snprintf(out + n, size - n, "[%u]", at);
    } else {
        snprintf(out + n, size - n, "%s%s", n ? "." : "", key);
    }
}

const char *vram_origin_name(enum vram_origin origin)
{
    static const char *const names[] = {"config", "default", "tensor", "derived"};
    return names[origin];
}
