/* SPDX-License-Identifier: Apache-2.0
 *
 * One line about a model: what each of its components is.
 */
#include <stdio.h>
#include <string.h>

#include "handles.h"

static long long config_int(struct vram_cx *cx, const struct vram_config *c, const char *key)
{
    const struct vram_config *v = vram_config_get_text(cx, c, key);
    return v && v->type == VRAM_CONFIG_INT ? (long long)v->integer : 0;
}

/* The longest run of like members of a list inside, if there are at least two. */
static uint32_t layers(struct vram_cx *cx, const struct vram_tree *t, uint32_t scope)
{
    uint32_t most = 0;
    for (uint32_t i = scope + 1; i < t->scopes[scope].end; i++) {
        const char *name = vram_sym_text(cx->syms, t->scopes[i].name);
        if (t->scopes[i].component == t->scopes[scope].component && t->scopes[i].repeat > most &&
            *name >= '0' && *name <= '9')
            most = t->scopes[i].repeat;
    }
    return most > 1 ? most : 0;
}

/* A component's own module: the first one in it whose parent is not. */
static bool begins(const struct vram_tree *t, uint32_t i)
{
    return i && t->scopes[i].component != t->scopes[t->scopes[i].parent].component;
}

static size_t describe(struct vram_cx *cx, const struct vram_tree *t, uint32_t i, char *out,
                       size_t size)
{
    const struct vram_scope *s = &t->scopes[i];
    const char *name = vram_sym_text(cx->syms, s->component);
    const char *cls = s->cls == VRAM_NO_INDEX
                          ? "unknown class"
                          : vram_sym_text(cx->syms, t->program->classes.at[s->cls].name);
    uint32_t n = layers(cx, t, i);
    long long width = config_int(cx, s->config, "hidden_size");
    long long pixels = config_int(cx, s->config, "image_size");
    size_t at = (size_t)snprintf(out, size, "%s %s", name, cls);
    if (n && at < size)
        at += (size_t)snprintf(out + at, size - at, ", %u layers", (unsigned)n);
    if (n && width && at < size)
        at += (size_t)snprintf(out + at, size - at, " of %lld", width);
    if (n && pixels && at < size)
        at += (size_t)snprintf(out + at, size - at, ", %lld px", pixels);
    return at < size ? at : size - 1;
}

/* Did a module before it say the same of this component: two Linear of a projector? */
static bool said(struct vram_cx *cx, const struct vram_tree *t, uint32_t i, const char *text)
{
    char other[600];
    for (uint32_t k = 0; k < i; k++)
        if (begins(t, k) && t->scopes[k].component == t->scopes[i].component) {
            describe(cx, t, k, other, sizeof other);
            if (!strcmp(other, text))
                return true;
        }
    return false;
}

const char *vram_model_summary(struct vram_cx *cx, const struct vram_tree *t)
{
    char text[600], one[600];
    size_t at = 0;
    text[0] = 0;
    bool any = false;
    for (uint32_t i = 0; i < t->nscopes && t->known; i++) {
        const char *name = vram_sym_text(cx->syms, t->scopes[i].component);
        if (!begins(t, i) || !strcmp(name, "lm_head") || at + 100 > sizeof text)
            continue;
        size_t n = describe(cx, t, i, one, sizeof one);
        if (said(cx, t, i, one) || at + n + 3 > sizeof text)
            continue;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", any ? "; " : "", one);
        any = true;
    }
    if (!any && t->known)
        describe(cx, t, 0, text, sizeof text);
    return vram_arena_strndup(cx->arena, text, strlen(text));
}
