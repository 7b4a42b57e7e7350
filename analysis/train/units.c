/* SPDX-License-Identifier: Apache-2.0
 *
 * How a model is cut into units (accelerate 1.15 utils/fsdp_utils.py, torch 2.9
 * distributed/fsdp/wrap.py): the classes of the repeated layers, which transformers names in
 * _no_split_modules, and what a strategy adds.
 */
#include <string.h>

#include "train/units.h"

void vram_units_init(struct vram_units *u, struct vram_strategy *s)
{
    *u = (struct vram_units){.s = s};
    u->of_scope = vram_machine_alloc(s->m, s->m->tree->nscopes, sizeof *u->of_scope);
    u->taken = vram_machine_alloc(s->m, s->m->tree->nparams, sizeof *u->taken);
}

void vram_units_add(struct vram_units *u, const uint32_t *scopes, uint32_t n, bool reshard)
{
    struct vram_unit unit = {.reshard = reshard};
    for (uint32_t i = 0; i < n; i++) {
        if (u->of_scope[scopes[i]])
            continue;
        unit.scopes[unit.nscopes++] = scopes[i];
        u->of_scope[scopes[i]] = (uint32_t)u->list.n + 1;
    }
    if (unit.nscopes && !vram_vec_push(&u->list, u->s->m->cx->arena, unit))
        vram_throw_memory(u->s->m);
}

static const char *class_name(const struct vram_machine *m, uint32_t scope)
{
    uint32_t cls = m->tree->scopes[scope].cls;
    return cls == VRAM_NO_INDEX ? ""
                                : vram_sym_text(m->tree->syms, m->program->classes.at[cls].name);
}

/* Is the class one of the words of fsdp.wrap? */
static bool wrapped(const struct vram_machine *m, uint32_t scope, const char *words)
{
    const char *name = class_name(m, scope), *item;
    size_t n;
    while (vram_setting_item(&words, &item, &n))
        if (strlen(name) == n && !memcmp(name, item, n))
            return true;
    return false;
}

/* PEFT's policy for FSDP1 (fsdp_auto_wrap_policy): what has no modules below and a weight that
 * trains. */
static bool is_adapter(const struct vram_machine *m, uint32_t scope)
{
    const struct vram_scope *s = &m->tree->scopes[scope];
    for (uint32_t p = s->first_param; s->end == scope + 1 && p < s->first_param + s->nparams; p++)
        if (m->params[p] && m->params[p]->requires_grad &&
            !strcmp(vram_sym_text(m->tree->syms, m->tree->params[p].name), "weight"))
            return true;
    return false;
}

static bool is_layer(const struct vram_machine *m, uint32_t scope, const char *words)
{
    uint32_t cls = m->tree->scopes[scope].cls;
    if (*words)
        return wrapped(m, scope, words);
    return cls != VRAM_NO_INDEX && m->program->classes.at[cls].checkpointed;
}

/* How many layers there are. */
static uint32_t take(struct vram_units *u, const char *words)
{
    const struct vram_machine *m = u->s->m;
    bool again = vram_plan_on(u->s->setup->plan, VRAM_KEY_FSDP_RESHARD, true);
    uint32_t layers = 0;
    for (uint32_t i = 1; i < m->tree->nscopes; i++)
        layers += is_layer(m, i, words);
    for (uint32_t i = 1; layers && i < m->tree->nscopes; i++)
        if (is_layer(m, i, words) || (u->adapters && is_adapter(m, i)))
            vram_units_add(u, &i, 1, again);
    return layers;
}

void vram_units_layers(struct vram_units *u)
{
    const char *words = vram_plan_text(u->s->setup->plan, VRAM_KEY_FSDP_WRAP);
    if (take(u, words) || !*words)
        return;
    if (vram_find(u->s->m->cx, VRAM_F_SETTING_READ_AS, "fsdp.wrap",
                  "no module is a %s: the model's layers are wrapped", words))
        vram_throw_memory(u->s->m);
    take(u, "");
}

/* ---- parameters --------------------------------------------------------------------------- */

static void own_parameters(struct vram_units *u, struct vram_unit *unit, uint32_t scope)
{
    const struct vram_tree *t = u->s->m->tree;
    const struct vram_scope *s = &t->scopes[scope];
    for (uint32_t i = s->first_param; i < s->first_param + s->nparams; i++) {
        uint32_t p = t->params[i].tied_to == VRAM_NO_INDEX ? i : t->params[i].tied_to;
        if (t->params[i].buffer || u->taken[p])
            continue;
        u->taken[p] = true;
        unit->params[unit->n++] = p;
    }
}

/* Children first, but for those that are units themselves. */
static void collect(struct vram_units *u, struct vram_unit *unit, uint32_t scope, int depth)
{
    const struct vram_tree *t = u->s->m->tree;
    if (depth > VRAM_MAX_BOX_DEPTH)
        vram_throw(u->s->m, VRAM_E_LIMIT, "modules nest more than %d deep", VRAM_MAX_BOX_DEPTH);
    for (uint32_t c = scope + 1;
         c<t->scopes[scope].end; c = t->scopes[c].end> c ? t->scopes[c].end : c + 1)
        if (!u->of_scope[c])
            collect(u, unit, c, depth + 1);
    own_parameters(u, unit, scope);
}

void vram_units_fill(struct vram_units *u)
{
    for (size_t i = 0; i < u->list.n; i++) {
        struct vram_unit *unit = &u->list.at[i];
        uint32_t most = 0;
        for (uint32_t k = 0; k < unit->nscopes; k++)
            for (uint32_t c = unit->scopes[k];
                 c == unit->scopes[k] || c < u->s->m->tree->scopes[unit->scopes[k]].end; c++)
                most += u->s->m->tree->scopes[c].nparams;
        unit->params = vram_machine_alloc(u->s->m, most ? most : 1, sizeof *unit->params);
        for (uint32_t k = 0; k < unit->nscopes; k++)
            collect(u, unit, unit->scopes[k], 0);
    }
}
