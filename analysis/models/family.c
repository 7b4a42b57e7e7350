/* SPDX-License-Identifier: Apache-2.0
 *
 * What a template says about a whole model_type: values that config.json leaves out, and how files
 * spell the names of tensors.
 */
#include <stdio.h>
#include <string.h>

#include "ir/rename.h"
#include "models/builder.h"

/* Lets the linker parse the file that defines a name; a name that no file has is no error here. */
static int want(struct vram_builder *b, vram_sym name)
{
    if (!b->linker->require)
        return VRAM_OK;
    int code = b->linker->require(b->linker->ctx, b->cx, b->program, name);
    return code == VRAM_E_NOTFOUND ? VRAM_OK : code;
}

int vram_family_of(struct vram_builder *b, vram_sym model_type, const struct vram_family **out)
{
    *out = vram_program_family(b->program, model_type);
    if (*out)
        return VRAM_OK;
    VRAM_TRY(want(b, model_type));
    *out = vram_program_family(b->program, model_type);
    return VRAM_OK;
}

int vram_class_named(struct vram_builder *b, vram_sym name, uint32_t *cls)
{
    if (vram_program_class(b->program, name) == VRAM_NO_INDEX)
        VRAM_TRY(want(b, name));
    *cls = vram_program_class(b->program, name);
    return VRAM_OK;
}

/* ---- the class to build -------------------------------------------------------------------- */

/* A head that tells classes apart; whole networks of timm have one and are called as they are. */
static bool classifies(const char *class_name)
{
    return strstr(class_name, "Classification") || !(strstr(class_name, "For") || strstr(class_name, "Model"));
}

/* task=classify: "BertModel" → BertForSequenceClassification, unless the files or the family say one. */
static int classifier(struct vram_builder *b, const struct vram_family *f, uint32_t *out)
{
    char name[128];
    const char *own = b->checkpoint->class_name, *base = f ? vram_sym_text(b->cx->syms, f->base) : "";
    const char *other = f && f->causal ? vram_sym_text(b->cx->syms, f->causal) : base;
    size_t n = strlen(base), end = n > 5 && !strcmp(base + n - 5, "Model") ? n - 5 : n;
    if (*own && classifies(own))
        snprintf(name, sizeof name, "%s", own);
    else if (classifies(other))
        snprintf(name, sizeof name, "%s", other);
    else
        snprintf(name, sizeof name, "%.*sForSequenceClassification", (int)(end < 90 ? end : 90), base);
    vram_sym sym = vram_sym_of(b->cx->syms, name);
    if (sym == VRAM_SYM_NONE)
        return vram_fail_memory(b->cx);
    VRAM_TRY(vram_class_named(b, sym, out));
    if (*out != VRAM_NO_INDEX)
        return VRAM_OK;
    return vram_fail(b->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET, "task=classify: no template describes %s", name);
}

int vram_root_class(struct vram_builder *b, uint32_t *out)
{
    const struct vram_checkpoint *c = b->checkpoint;
    const struct vram_family *f = NULL;
    *out = VRAM_NO_INDEX;
    vram_sym name = vram_sym_of(b->cx->syms, c->class_name);
    vram_sym type = vram_sym_of(b->cx->syms, c->family);
    if (name == VRAM_SYM_NONE || type == VRAM_SYM_NONE)
        return vram_fail_memory(b->cx);
    if (!c->config)
        return VRAM_OK;
    if (c->task && *c->family) {
        VRAM_TRY(vram_family_of(b, type, &f));
        return classifier(b, f, out);
    }
    if (*c->class_name)
        VRAM_TRY(vram_class_named(b, name, out));
    if (*out != VRAM_NO_INDEX || !*c->family)
        return VRAM_OK;
    VRAM_TRY(vram_family_of(b, type, &f));
    return f ? vram_class_named(b, f->causal ? f->causal : f->base, out) : VRAM_OK;
}

/* ---- defaults ----------------------------------------------------------------------------- */

static bool set_value(struct vram_config *to, struct vram_value v)
{
    to->integer = 0;
    to->real = 0;
    switch (v.kind) {
    case VRAM_V_NONE:
        to->type = VRAM_CONFIG_NULL;
        return true;
    case VRAM_V_BOOL:
    case VRAM_V_INT:
        to->type = v.kind == VRAM_V_INT ? VRAM_CONFIG_INT : VRAM_CONFIG_BOOL;
        to->integer = v.u.i;
        to->real = (double)v.u.i;
        return true;
    case VRAM_V_FLOAT:
        to->type = VRAM_CONFIG_FLOAT;
        to->real = v.u.f;
        return true;
    case VRAM_V_STRING:
        to->type = VRAM_CONFIG_STRING;
        to->text = (vram_sym)v.u.i;
        return true;
    default:
        return false;
    }
}

/* A key that the file has, be it null, stays; a shape that corrected a default stays, too. */
static void set_default(struct vram_builder *b, struct vram_frame *f, struct vram_config *config,
                        const struct vram_default *d)
{
    struct vram_config *c = vram_config_get(config, d->key);
    struct vram_value v;
    if (c && !(c->templated && c->origin != VRAM_ORIGIN_TENSOR))
        return;
    vram_eval(&b->machine, f, d->value, &v);
    if (!c)
        c = vram_config_add(b->cx, config, d->key, VRAM_CONFIG_NULL, VRAM_ORIGIN_DEFAULT);
    if (!c)
        vram_throw_memory(&b->machine);
    c->templated = true;
    c->origin = b->program->nodes.at[d->value].kind <= VRAM_N_STRING ? VRAM_ORIGIN_DEFAULT
                                                                     : VRAM_ORIGIN_DERIVED;
    b->machine.at = d->value;
    if (!set_value(c, v))
        vram_throw(&b->machine, VRAM_E_FORMAT,
                   "the default of '%s' is no number, string, true, false or none",
                   vram_sym_text(b->cx->syms, d->key));
}

int vram_family_defaults(struct vram_builder *b, struct vram_frame *f)
{
    struct vram_config *config = b->tree.scopes[f->scope].config;
    const struct vram_config *type = vram_config_get_text(b->cx, config, "model_type");
    const struct vram_family *family = NULL;
    if (type && type->type == VRAM_CONFIG_STRING)
        VRAM_TRY(vram_family_of(b, type->text, &family));
    if (!family || !family->ndefaults)
        return VRAM_OK;
    VRAM_TRY(vram_program_link_family(b->cx, b->program, b->linker, family));
    size_t index = (size_t)(family - b->program->families.at);
    for (uint32_t i = 0; i < b->program->families.at[index].ndefaults; i++) {
        struct vram_default d =
            b->program->defaults.at[b->program->families.at[index].defaults + i];
        set_default(b, f, config, &d);
    }
    return VRAM_OK;
}

/* ---- names of tensors --------------------------------------------------------------------- */

int vram_family_rename(struct vram_builder *b)
{
    struct vram_checkpoint *c = b->checkpoint;
    const struct vram_family *family = NULL;
    vram_sym type = *c->family ? vram_sym_of(b->cx->syms, c->family) : VRAM_SYM_NONE;
    if (*c->family && type == VRAM_SYM_NONE)
        return vram_fail_memory(b->cx);
    if (type != VRAM_SYM_NONE)
        VRAM_TRY(vram_family_of(b, type, &family));
    if (!family || !family->nrenamings)
        return VRAM_OK;
    struct vram_rename *rules =
        vram_arena_array(b->cx->arena, family->nrenamings + 1, sizeof *rules);
    if (!rules)
        return vram_fail_memory(b->cx);
    for (uint32_t i = 0; i < family->nrenamings; i++) {
        const struct vram_renaming *r = &b->program->renamings.at[family->renamings + i];
        rules[i].from = vram_sym_text(b->cx->syms, r->from);
        rules[i].to = vram_sym_text(b->cx->syms, r->to);
    }
    size_t n = c->ntensors;
    VRAM_TRY(vram_rename_tensors(b->cx, rules, NULL, c->tensors, &n));
    c->ntensors = (uint32_t)n;
    return VRAM_OK;
}
