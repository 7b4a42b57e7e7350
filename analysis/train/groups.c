/* SPDX-License-Identifier: Apache-2.0
 *
 * In which group of the optimizer a parameter is: decayed or not, as the Trainer decides, or for
 * optimizers of low rank other parameters and targets.
 */
#include <string.h>

#include "train/optimizer.h"

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool contains(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (; *text; text++) {
        size_t i = 0;
        while (i < n && lower(text[i]) == word[i])
            i++;
        if (i == n)
            return true;
    }
    return false;
}

/* One part of a path: "norm", "..._norm", or a forbidden word anywhere in it. */
static bool undecayed_name(const char *part)
{
    size_t n = strlen(part);
    bool norm = n >= 4 && contains(part + n - 4, "norm") && (n == 4 || part[n - 5] == '_');
    return norm || contains(part, "bias") || contains(part, "layernorm") ||
           contains(part, "rmsnorm");
}

/* By scope: parameters below are not decayed (transformers Trainer.get_decay_parameter_names; the
 * words hold no dot, so parts of a path can be looked at one by one). */
static uint8_t *undecayed_scopes(struct vram_machine *m)
{
    const struct vram_tree *t = m->tree;
    uint8_t *marks = vram_machine_alloc(m, t->nscopes, sizeof *marks);
    for (uint32_t i = 0; i < t->nscopes; i++) {
        const struct vram_scope *s = &t->scopes[i];
        marks[i] = (i && marks[s->parent]) || undecayed_name(vram_sym_text(t->syms, s->name));
    }
    return marks;
}

static bool decays(const struct vram_machine *m, const uint8_t *scopes, const struct vram_param *p)
{
    const struct vram_tree *t = m->tree;
    uint32_t cls = t->scopes[p->scope].cls;
    if (p->decay_set)
        return p->decay;
    if (cls != VRAM_NO_INDEX &&
        !strcmp(vram_sym_text(t->syms, t->program->classes.at[cls].name), "LayerNorm"))
        return false;
    return !scopes[p->scope] && !undecayed_name(vram_sym_text(t->syms, p->name));
}


/* ---- what a module is ---------------------------------------------------------------------- */

static bool is_a(const struct vram_machine *m, const struct vram_handle *p, const char *class)
{
    const struct vram_tree *t = m->tree;
    uint32_t c = p->param < t->nparams ? t->scopes[t->params[p->param].scope].cls : VRAM_NO_INDEX;
    while (c != VRAM_NO_INDEX &&
           strcmp(vram_sym_text(t->syms, t->program->classes.at[c].name), class) != 0)
        c = t->program->classes.at[c].base;
    return c != VRAM_NO_INDEX;
}

bool vram_param_is_embedding(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return is_a(o->m, p, "Embedding");
}

/* or more than two dimensions, as a convolution's */
bool vram_param_is_matrix(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    return p->rank >= 2;
}

/* weights of Linears whose path holds an item (transformers check_target_module_exists) */
bool vram_param_is_target(const struct vram_optimizer *o, const struct vram_handle *p)
{
    const struct vram_tree *t = o->m->tree;
    const char *targets = o->setup->optimizer_targets, *item;
    size_t n;
    if (p->rank != 2 || !is_a(o->m, p, "Linear"))
        return false;
    const char *path = vram_sym_text(t->syms, t->scopes[t->params[p->param].scope].path);
    if (!strcmp(targets, "all-linear"))
        return true;
    while (vram_setting_item(&targets, &item, &n))
        for (const char *at = path; *at; at++)
            if (!strncmp(at, item, n))
                return true;
    return false;
}

/* torchao's CPUOffloadOptimizer keeps what is smaller than 4096 elements on the card. */
bool vram_steps_on_host(const struct vram_setup *setup, const struct vram_handle *p)
{
    return setup->host_optimizer && vram_numel(p) >= 4096;
}

/* ---- the two groups ------------------------------------------------------------------------ */

void vram_optimizer_group(struct vram_optimizer *o)
{
    struct vram_machine *m = o->m;
    const struct vram_tree *tree = m->tree;
    const uint8_t *scopes = undecayed_scopes(m);
    o->decayed = o->row->second ? -1 : 0;
    for (int g = 0; g < 2; g++)
        o->params[g] = vram_machine_alloc(m, tree->nparams, sizeof(struct vram_handle *));
    for (uint32_t i = 0; i < tree->nparams; i++) {
        struct vram_handle *p = m->params[i];
        if (!p || p->param != i || !p->requires_grad || vram_steps_on_host(o->setup, p))
            continue;
        bool second = o->row->second ? o->row->second(o, p) : !decays(m, scopes, &tree->params[i]);
        o->group[i] = second;
        o->params[second][o->n[second]++] = p;
    }
    if (o->row->low_rank && !o->n[1] &&
        vram_find(m->cx, VRAM_F_SETTING_UNUSED, "optimizer.targets", "no weight of a Linear is a target of %s",
                  o->row->name))
        vram_throw_memory(m);
}
