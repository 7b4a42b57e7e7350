/* SPDX-License-Identifier: Apache-2.0
 *
 * What no template describes: the model as a whole, or a part of it, by the model_type of its config.
 * Then the tree is the one that the tensors' names spell, and a finding says what has no template.
 */
#include <stdio.h>
#include <string.h>

#include "models/builder.h"

/* The model_type of a config; VRAM_SYM_NONE: it has none. */
static vram_sym type_of(const struct vram_builder *b, const struct vram_config *config)
{
    const struct vram_config *type = vram_config_get_text(b->cx, config, "model_type");
    return type && type->type == VRAM_CONFIG_STRING ? type->text : VRAM_SYM_NONE;
}

int vram_no_template(struct vram_builder *b, const struct vram_config *config)
{
    const struct vram_config *type = vram_config_get_text(b->cx, config, "model_type");
    vram_sym sym = type_of(b, config);
    const char *text = sym == VRAM_SYM_NONE ? "(none)" : vram_sym_text(b->cx->syms, sym);
    char path[200], name[100];
    vram_config_path(b->cx, type ? type : config, path, sizeof path);
    vram_escape(name, sizeof name, text, strlen(text));
    vram_where(b->cx, "config.json: %s", path);
    return vram_fail(b->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                     "no template describes model_type '%s' here", name);
}

/* ---- is a class written for a config? ----------------------------------------------------- */

/* That say the families of the nearest class, from it upwards, that has any; a class without any is for
 * whatever stands where it is used. */
static bool made_for(const struct vram_program *p, uint32_t cls, vram_sym model_type)
{
    for (bool any = false; cls != VRAM_NO_INDEX && !any; cls = p->classes.at[cls].base) {
        vram_sym name = p->classes.at[cls].name;
        for (size_t i = 0; i < p->families.n; i++) {
            const struct vram_family *f = &p->families.at[i];
            bool its = f->base == name || f->causal == name;
            if (its && f->model_type == model_type)
                return true;
            any = any || its;
        }
        if (any)
            return false;
    }
    return true;
}

int vram_check_part(struct vram_builder *b, uint32_t cls, const struct vram_config *config)
{
    vram_sym type = type_of(b, config);
    return type == VRAM_SYM_NONE || made_for(b->program, cls, type) ? VRAM_OK
                                                                    : vram_no_template(b, config);
}

/* A configuration inside the model's whose model_type no family has; NULL: there is none. */
static int part_without(struct vram_builder *b, const struct vram_config **out)
{
    *out = NULL;
    for (const struct vram_config *c = b->checkpoint->config->first; c && !*out; c = c->next) {
        const struct vram_family *family = NULL;
        if (type_of(b, c) == VRAM_SYM_NONE)
            continue;
        VRAM_TRY(vram_family_of(b, type_of(b, c), &family));
        if (!family)
            *out = c;
    }
    return VRAM_OK;
}

/* ---- the tree instead --------------------------------------------------------------------- */

static int unknown(struct vram_builder *b, const char *subject, const char *why,
                   struct vram_tree *out)
{
    const struct vram_checkpoint *c = b->checkpoint;
    VRAM_TRY(vram_tree_from_names(b->cx, b->checkpoint, out));
    out->dtype = b->tree.dtype;
    if (!c->config)
        return VRAM_OK; /* the loader has said that there is no config */
    return vram_find(b->cx, VRAM_F_UNKNOWN_ARCHITECTURE, subject,
                     "%s: %s; a template (--templates) can say what it runs", why,
                     c->ntensors ? "parameters are exact, activations unknown"
                                 : "its parameters are unknown as well, no weights are there");
}

int vram_unknown_model(struct vram_builder *b, struct vram_tree *out)
{
    const struct vram_checkpoint *c = b->checkpoint;
    const char *what = *c->class_name ? c->class_name : c->family;
    bool typed = vram_config_get_text(b->cx, c->config, "model_type") != NULL;
    char name[100], why[140];
    vram_escape(name, sizeof name, what, strlen(what));
    snprintf(why, sizeof why, "no template describes '%s'", name);
    return unknown(b, typed ? "config.json: model_type" : "config.json: architectures", why, out);
}

int vram_unknown_part(struct vram_builder *b, int code, struct vram_tree *out)
{
    vram_error *e = b->cx->error, first = *e;
    const struct vram_config *part = NULL;
    bool sizes = code == VRAM_E_RANGE || code == VRAM_E_UNBOUND || code == VRAM_E_FORMAT;
    *e = (vram_error){.offset = VRAM_NO_OFFSET};
    if (sizes && !b->program->own_files) /* of a class that nobody knows */
        VRAM_TRY(part_without(b, &part));
    if (part) {
        vram_no_template(b, part);
        first = *e;
        *e = (vram_error){.offset = VRAM_NO_OFFSET};
    } else if (code != VRAM_E_UNSUPPORTED) {
        *e = first;
        return code;
    }
    return unknown(b, first.where, first.text, out);
}
