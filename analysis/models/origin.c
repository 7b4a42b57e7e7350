/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes win over the config.  While declarations are evaluated, integers remember the config
 * value they are (a multiple of); when a tensor's shape contradicts a size, that config value is
 * corrected, the finding says so, and the tree is built again.
 */
#include <string.h>

#include "base/vec.h"
#include "models/builder.h"

static uint32_t add_tag(struct vram_machine *m, struct vram_config *c, int64_t factor)
{
    struct vram_builder *b = m->tags;
    if (!vram_vec_push(&b->tags, b->cx->arena, (struct vram_origin_tag){c, factor}))
        vram_throw_memory(m);
    return (uint32_t)b->tags.n;
}

uint32_t vram_tag_config(struct vram_machine *m, struct vram_config *c)
{
    return add_tag(m, c, 1);
}

/* The left factor is what is corrected (heads × head size: the heads). */
uint32_t vram_tag_product(struct vram_machine *m, const struct vram_value *x,
                          const struct vram_value *y)
{
    struct vram_builder *b = m->tags;
    if (!x->tag) {
        const struct vram_value *swap = x;
        x = y;
        y = swap;
    }
    if (!x->tag)
        return 0;
    struct vram_origin_tag t = b->tags.at[x->tag - 1];
    int64_t factor;
    if (__builtin_mul_overflow(t.factor, y->u.i, &factor) || factor <= 0)
        return 0;
    return add_tag(m, t.config, factor);
}

int vram_override_size(struct vram_builder *b, const struct vram_value *size, int64_t actual,
                       uint32_t tensor, vram_sym path)
{
    if (!size->tag)
        return VRAM_OK;
    struct vram_origin_tag t = b->tags.at[size->tag - 1];
    if (t.factor <= 0 || actual <= 0 || actual % t.factor ||
        t.config->origin == VRAM_ORIGIN_TENSOR) /* two tensors disagree: the first one stays */
        return VRAM_OK;
    struct vram_override o = {t.config, actual / t.factor, t.factor == 1, tensor, path};
    for (size_t i = 0; i < b->overrides.n; i++)
        if (b->overrides.at[i].config == o.config && (b->overrides.at[i].direct || !o.direct))
            return VRAM_OK;
    return vram_vec_push(&b->overrides, b->cx->arena, o) ? VRAM_OK : vram_fail_memory(b->cx);
}

static int tell(struct vram_builder *b, const struct vram_override *o)
{
    char key[200], name[160], said[80];
    const char *path = vram_sym_text(b->cx->syms, o->path);
    vram_config_path(b->cx, o->config, key, sizeof key);
    vram_escape(name, sizeof name, path, strlen(path));
    const char *subject = vram_format(b->cx->arena, "config.json: %s", key);
    const char *before =
        vram_format(b->cx->arena, o->config->origin == VRAM_ORIGIN_CONFIG
                                      ? "config.json says %lld"
                                      : "config.json leaves it out (class default %lld)",
                    (long long)o->config->integer);
    if (!subject || !before)
        return vram_fail_memory(b->cx);
    strncpy(said, before, sizeof said - 1);
    said[sizeof said - 1] = 0;
    if (o->tensor == VRAM_NO_INDEX)
        return vram_find(b->cx, VRAM_F_SHAPE_WINS, subject, "%s, the tensors have %lld ('%s'); %lld was taken",
                         said, (long long)o->value, name, (long long)o->value);
    return vram_find(b->cx, VRAM_F_SHAPE_WINS, subject,
                     "%s, the shape of tensor '%s' gives %lld; the shape was taken", said, name,
                     (long long)o->value);
}

/* Values that follow from corrected ones, in an object and all below. */
static void follow(struct vram_config *object)
{
    for (struct vram_config *c = object ? object->first : NULL; c; c = c->next) {
        if (c->type == VRAM_CONFIG_OBJECT)
            follow(c);
        if (c->origin != VRAM_ORIGIN_DERIVED || !c->from)
            continue;
        int64_t per = c->per ? c->per->integer : 1;
        c->integer = c->from->integer / (per > 0 ? per : 1);
        c->real = (double)c->integer;
    }
}

/* Is it what a template makes of other values, each time anew? */
static bool follows(const struct vram_config *c)
{
    return c->templated && c->origin == VRAM_ORIGIN_DERIVED;
}

int vram_overrides_apply(struct vram_builder *b, bool *changed)
{
    bool direct = false;
    *changed = false;
    for (size_t i = 0; i < b->overrides.n; i++)
        direct = direct || (b->overrides.at[i].direct && !follows(b->overrides.at[i].config));
    for (size_t i = 0; i < b->overrides.n; i++) {
        const struct vram_override *o = &b->overrides.at[i];
        if (direct && (!o->direct || follows(o->config)))
            continue; /* products may be right once the sizes themselves are */
        VRAM_TRY(tell(b, o));
        o->config->integer = o->value;
        o->config->real = (double)o->value;
        o->config->origin = VRAM_ORIGIN_TENSOR;
        *changed = true;
    }
    if (*changed) {
        b->tree.corrected = true;
        follow(b->checkpoint->config);
    }
    return VRAM_OK;
}
