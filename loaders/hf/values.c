/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking into and completing a configuration tree; see config.h.
 */
#include <stdio.h>
#include <string.h>

#include "hf/config.h"

void vram_config_subject(const struct vram_cx *cx, const char *name, const struct vram_config *v,
                         char *out, size_t size)
{
    char path[256];
    vram_config_path(cx, v, path, sizeof path);
    snprintf(out, size, "%s%s%s", name, path[0] ? ": " : "", path);
}

int vram_config_fail(struct vram_cx *cx, const char *name, const struct vram_config *v, int code,
                     const char *format, ...)
{
    char where[600], text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    int rc = vram_fail(cx, code, v->offset, "%s", text);
    vram_config_subject(cx, name, v, where, sizeof where);
    vram_where(cx, "%s", where);
    return rc;
}

const char *vram_config_text(const struct vram_cx *cx, const struct vram_config *v, const char *key,
                             const char *fallback)
{
    const struct vram_config *m = vram_config_get_text(cx, v, key);
    return m && m->type == VRAM_CONFIG_STRING ? vram_sym_text(cx->syms, m->text) : fallback;
}

int64_t vram_config_int(const struct vram_cx *cx, const struct vram_config *v, const char *key,
                        int64_t fallback)
{
    const struct vram_config *m = vram_config_get_text(cx, v, key);
    return m && m->type == VRAM_CONFIG_INT ? m->integer : fallback;
}

bool vram_config_bool(const struct vram_cx *cx, const struct vram_config *v, const char *key,
                      bool fallback)
{
    const struct vram_config *m = vram_config_get_text(cx, v, key);
    return m && m->type == VRAM_CONFIG_BOOL ? m->integer != 0 : fallback;
}

bool vram_config_unset(const struct vram_cx *cx, const struct vram_config *v, const char *key)
{
    const struct vram_config *m = vram_config_get_text(cx, v, key);
    return !m || m->type == VRAM_CONFIG_NULL;
}

/* the member for a new value: an existing one loses its value but keeps where it stands */
static struct vram_config *target(struct vram_cx *cx, struct vram_config *v, const char *key,
                                  enum vram_config_type type, enum vram_origin origin)
{
    struct vram_config *m = vram_config_get_text(cx, v, key);
    if (!m) {
        vram_sym name = vram_sym_of(cx->syms, key);
        if (name == VRAM_SYM_NONE) {
            vram_fail_memory(cx);
            return NULL;
        }
        return vram_config_add(cx, v, name, type, origin);
    }
    m->type = type;
    m->origin = origin;
    m->integer = 0;
    m->real = 0;
    m->text = 0;
    m->first = m->last = NULL;
    return m;
}

int vram_config_set_int(struct vram_cx *cx, struct vram_config *v, const char *key, int64_t value,
                        enum vram_origin origin)
{
    struct vram_config *m = target(cx, v, key, VRAM_CONFIG_INT, origin);
    if (!m)
        return vram_fail_memory(cx);
    m->integer = value;
    m->real = (double)value;
    return VRAM_OK;
}

int vram_config_set_real(struct vram_cx *cx, struct vram_config *v, const char *key, double value,
                         enum vram_origin origin)
{
    struct vram_config *m = target(cx, v, key, VRAM_CONFIG_FLOAT, origin);
    if (!m)
        return vram_fail_memory(cx);
    m->real = value;
    return VRAM_OK;
}

int vram_config_set_bool(struct vram_cx *cx, struct vram_config *v, const char *key, bool value,
                         enum vram_origin origin)
{
    struct vram_config *m = target(cx, v, key, VRAM_CONFIG_BOOL, origin);
    if (!m)
        return vram_fail_memory(cx);
    m->integer = value;
    return VRAM_OK;
}

int vram_config_set_text(struct vram_cx *cx, struct vram_config *v, const char *key,
                         const char *value, enum vram_origin origin)
{
    vram_sym text = vram_sym_of(cx->syms, value);
    if (text == VRAM_SYM_NONE)
        return vram_fail_memory(cx);
    struct vram_config *m = target(cx, v, key, VRAM_CONFIG_STRING, origin);
    if (!m)
        return vram_fail_memory(cx);
    m->text = text;
    return VRAM_OK;
}

int vram_config_set_null(struct vram_cx *cx, struct vram_config *v, const char *key,
                         enum vram_origin origin)
{
    return target(cx, v, key, VRAM_CONFIG_NULL, origin) ? VRAM_OK : vram_fail_memory(cx);
}

struct vram_config *vram_config_add_branch(struct vram_cx *cx, struct vram_config *parent,
                                           const char *key, enum vram_config_type type,
                                           enum vram_origin origin)
{
    vram_sym name = key ? vram_sym_of(cx->syms, key) : 0;
    if (name == VRAM_SYM_NONE) {
        vram_fail_memory(cx);
        return NULL;
    }
    return vram_config_add(cx, parent, name, type, origin);
}

/* Depth first without recursion; from's own siblings are not copied. */
int vram_config_copy(struct vram_cx *cx, struct vram_config *parent, const char *key,
                     const struct vram_config *from, enum vram_origin origin)
{
    vram_sym name = vram_sym_of(cx->syms, key);
    if (name == VRAM_SYM_NONE)
        return vram_fail_memory(cx);
    const struct vram_config *at = from;
    struct vram_config *into = parent;
    for (;;) {
        struct vram_config *m =
            vram_config_add(cx, into, at == from ? name : at->key, at->type, origin);
        if (!m)
            return vram_fail_memory(cx);
        m->integer = at->integer;
        m->real = at->real;
        m->text = at->text;
        m->offset = at->offset;
        if (at->first) {
            at = at->first;
            into = m;
            continue;
        }
        while (at != from && !at->next) {
            at = at->parent;
            into = into->parent;
        }
        if (at == from)
            return VRAM_OK;
        at = at->next;
    }
}
