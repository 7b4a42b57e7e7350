/* SPDX-License-Identifier: Apache-2.0
 *
 * See choose.h.
 */
#include "train/choose.h"

#include <stdlib.h>
#include <string.h>

#include "train/names.h"

struct chooser {
    struct vram_cx *cx;
    const struct vram_tree *tree;
    const struct vram_setup *setup;
    uint32_t linear;
    bool all_linear, embeddings;
    struct vram_names targets, to_save, patterns;
    int64_t *ranks;    /* of the patterns */
    bool *matched;     /* by target */
    struct vram_choices *out;
};

struct vram_value vram_member_of(const struct vram_tree *tree, const struct vram_scope *s, vram_sym name)
{
    uint32_t i = vram_class_member(tree->program, &tree->program->classes.at[s->cls], name);
    return i == VRAM_NO_INDEX ? (struct vram_value){0} : tree->members[s->members + i];
}

const struct vram_param *vram_matrix_of(const struct vram_cx *cx, const struct vram_tree *tree,
                                        const struct vram_scope *s)
{
    struct vram_value v = vram_member_of(tree, s, vram_sym_find(cx->syms, "weight", 6));
    const struct vram_param *w = v.kind == VRAM_V_PARAM ? &tree->params[v.u.i] : NULL;
    return w && w->rank == 2 ? w : NULL;
}

static bool is_linear(const struct chooser *c, uint32_t i)
{
    const struct vram_scope *s = &c->tree->scopes[i];
    uint32_t cls = s->cls;
    while (cls != c->linear && cls != VRAM_NO_INDEX)
        cls = c->tree->program->classes.at[cls].base;
    return cls != VRAM_NO_INDEX && s->end == i + 1 && vram_matrix_of(c->cx, c->tree, s);
}

/* What get_output_embeddings() finds is never adapted: the Linear a template calls lm_head.  A classifier
 * (head) is one like others. */
static bool is_head(const struct chooser *c, const struct vram_scope *s)
{
    const char *component = vram_sym_text(c->cx->syms, s->component);
    return s->part && !strcmp(component, "lm_head");
}

bool vram_adaptable(struct vram_cx *cx, const struct vram_tree *tree, vram_sym component)
{
    struct chooser c = {.cx = cx, .tree = tree};
    c.linear = vram_program_class(tree->program, vram_sym_find(cx->syms, "Linear", 6));
    for (uint32_t i = 0; c.linear != VRAM_NO_INDEX && i < tree->nscopes; i++)
        if (tree->scopes[i].component == component && is_linear(&c, i) && !is_head(&c, &tree->scopes[i]))
            return true;
    return false;
}

static const char *path_of(const struct chooser *c, uint32_t i)
{
    return vram_sym_text(c->cx->syms, c->tree->scopes[i].path);
}

/* bitsandbytes leaves out the output layer, GPTQ and AWQ all but the decoder; what trains whole has to be plain. */
static bool packs(const struct chooser *c, uint32_t i)
{
    const struct vram_scope *s = &c->tree->scopes[i];
    const char *component = vram_sym_text(c->cx->syms, s->component);
    if (c->setup->packing && vram_packing_decoder_only(c->setup->packing) && strcmp(component, "decoder"))
        return false;
    return c->setup->packing && strcmp(component, "lm_head") && strcmp(component, "head") &&
           vram_setup_mode(c->setup, s->component) != VRAM_TRAIN_FULL;
}

/* Names of modules to save; with train.embeddings=full the input embedding and the output layer, too. */
static int saves(const struct chooser *c, uint32_t i, bool *out)
{
    const struct vram_scope *s = &c->tree->scopes[i];
    size_t item;
    *out = c->embeddings &&
           (s->input_embedding ||
            (s->end == i + 1 && !strcmp(vram_sym_text(c->cx->syms, s->component), "lm_head")));
    VRAM_TRY(vram_names_find(c->cx, &c->to_save, path_of(c, i), &item));
    *out = *out || item < c->to_save.n;
    return VRAM_OK;
}

static int adapts(const struct chooser *c, uint32_t i, bool *out)
{
    *out = c->all_linear;
    for (size_t k = 0; k < c->targets.n; k++) {
        bool meant;
        VRAM_TRY(vram_name_matches(c->cx, &c->targets.at[k], path_of(c, i), &meant));
        c->matched[k] = c->matched[k] || meant;
        *out = *out || meant;
    }
    return VRAM_OK;
}

static int choose_one(struct chooser *c, uint32_t i)
{
    const struct vram_scope *s = &c->tree->scopes[i];
    bool saved, adapted = false, linear = is_linear(c, i);
    bool lora = vram_setup_mode(c->setup, s->component) == VRAM_TRAIN_LORA;
    size_t pattern;
    VRAM_TRY(saves(c, i, &saved));
    saved = saved || (i && c->out->what[s->parent] & VRAM_SAVED);
    if (linear && lora && !saved && !is_head(c, s))
        VRAM_TRY(adapts(c, i, &adapted));
    bool packed = linear && !saved && packs(c, i);
    c->out->what[i] = (uint8_t)(adapted * VRAM_ADAPTED + packed * VRAM_PACKED + saved * VRAM_SAVED);
    c->out->nadapted += adapted;
    c->out->npacked += packed;
    c->out->nsaved += saved ? s->nparams : 0;
    if (!adapted)
        return VRAM_OK;
    VRAM_TRY(vram_names_find(c->cx, &c->patterns, path_of(c, i), &pattern));
    c->out->rank[i] = pattern < c->patterns.n ? c->ranks[pattern] : c->setup->lora_rank;
    return VRAM_OK;
}

/* PATTERN=RANK, ...: the ranks are taken off the ends of the names. */
static int read_ranks(struct chooser *c)
{
    const char *list = vram_plan_text(c->setup->plan, VRAM_KEY_LORA_RANK_PATTERN);
    char *text = vram_arena_strndup(c->cx->arena, list, strlen(list));
    size_t most = 1, n = 0;
    for (const char *p = list; *p; p++)
        most += *p == ',';
    c->ranks = vram_arena_array(c->cx->arena, most, sizeof *c->ranks);
    if (!text || !c->ranks)
        return vram_fail_memory(c->cx);
    char *to = text;
    for (const char *p = list; *p;) {
        size_t all = strcspn(p, ","), name = all;
        while (name && p[name] != '=')
            name--;
        char *end;
        int64_t rank = name ? strtoll(p + name + 1, &end, 10) : 0;
        if (!name || end != p + all || rank < 1 || rank > 65536)
            return vram_fail(c->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                             "lora.rank_pattern: '%.*s' is not PATTERN=RANK with a rank of 1 to 65536", (int)all, p);
        if (to != text)
            *to++ = ',';
        memmove(to, p, name);
        to += name;
        c->ranks[n++] = rank;
        p += all + (p[all] == ',');
    }
    *to = 0;
    return vram_names_read(c->cx, "lora.rank_pattern", text, true, &c->patterns);
}

static int read_lists(struct chooser *c, bool lora)
{
    const struct vram_plan *plan = c->setup->plan;
    const char *targets = vram_plan_text(plan, VRAM_KEY_LORA_TARGETS);
    if (!lora)
        return VRAM_OK;
    c->all_linear = !strcmp(targets, "all-linear");
    c->embeddings = vram_plan_is(plan, VRAM_KEY_TRAIN_EMBEDDINGS, "full");
    if (!c->all_linear)
        VRAM_TRY(vram_names_read(c->cx, "lora.targets", targets, false, &c->targets));
    VRAM_TRY(vram_names_read(c->cx, "lora.modules_to_save", vram_plan_text(plan, VRAM_KEY_LORA_MODULES_TO_SAVE),
                             false, &c->to_save));
    c->matched = vram_arena_array(c->cx->arena, c->targets.n ? c->targets.n : 1, sizeof *c->matched);
    return c->matched ? read_ranks(c) : vram_fail_memory(c->cx);
}

/* Where transformers stacked what were Linears of experts, PEFT 0.21 reads their old names, and
 * "all-linear", as adapters around the stacks and the router, which are not described. */
static int say_experts(const struct chooser *c)
{
    static const char types[] = " mixtral qwen2_moe qwen3_moe deepseek_v2 deepseek_v3 ";
    static const char *const names[] = {"gate", "w1", "w2", "w3", "gate_proj", "up_proj", "down_proj"};
    const struct vram_tree *t = c->tree;
    const struct vram_config *of = vram_config_get_text(c->cx, t->scopes[0].config, "model_type");
    const char *type = of ? vram_sym_text(c->cx->syms, of->text) : "";
    char *word = vram_format(c->cx->arena, " %s ", type);
    if (!word)
        return vram_fail_memory(c->cx);
    bool named = c->all_linear;
    for (size_t i = 0; i < sizeof names / sizeof *names && !named; i++) {
        size_t item;
        VRAM_TRY(vram_names_find(c->cx, &c->targets, names[i], &item));
        named = item < c->targets.n;
    }
    if (!named || !strstr(types, word))
        return VRAM_OK;
    for (uint32_t i = 0; i < t->nparams; i++)
        if (t->params[i].rank == 3 &&
            vram_setup_mode(c->setup, t->scopes[t->params[i].scope].component) == VRAM_TRAIN_LORA)
            return vram_find(c->cx, VRAM_F_LORA_EXPERTS, "lora.targets",
                             "%s: PEFT also adapts the stacked experts of %s; here they get no adapter, as with "
                             "a regex of module names: the answer is too low",
                             vram_plan_text(c->setup->plan, VRAM_KEY_LORA_TARGETS), type);
    return VRAM_OK;
}

/* What named nothing. */
static int report(const struct chooser *c, bool lora)
{
    if (lora && !c->out->nadapted)
        return vram_fail(c->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "lora.targets=%s matches no Linear of the LoRA components",
                         vram_plan_text(c->setup->plan, VRAM_KEY_LORA_TARGETS));
    if (c->setup->packing && !c->out->npacked)
        return vram_fail(c->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "weights=%s: no Linear is left to pack; matrices that train whole stay plain",
                         vram_plan_text(c->setup->plan, VRAM_KEY_WEIGHTS));
    for (size_t i = 0; i < c->targets.n; i++)
        if (!c->matched[i])
            VRAM_TRY(vram_find(c->cx, VRAM_F_SETTING_UNUSED, "lora.targets",
                               "'%.*s' matches no Linear of the LoRA components", (int)c->targets.at[i].n,
                               c->targets.at[i].text));
    if (c->to_save.n && !c->out->nsaved)
        return vram_find(c->cx, VRAM_F_SETTING_UNUSED, "lora.modules_to_save", "'%s' matches no module",
                         vram_plan_text(c->setup->plan, VRAM_KEY_LORA_MODULES_TO_SAVE));
    return VRAM_OK;
}

int vram_choose(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup, uint32_t linear,
                struct vram_choices *out)
{
    struct chooser c = {.cx = cx, .tree = tree, .setup = setup, .linear = linear, .out = out};
    bool lora = false;
    *out = (struct vram_choices){0};
    out->what = vram_arena_array(cx->arena, tree->nscopes, sizeof *out->what);
    out->rank = vram_arena_array(cx->arena, tree->nscopes, sizeof *out->rank);
    if (!out->what || !out->rank)
        return vram_fail_memory(cx);
    for (uint32_t i = 0; i < tree->nscopes && !lora; i++)
        lora = vram_setup_mode(setup, tree->scopes[i].component) == VRAM_TRAIN_LORA;
    VRAM_TRY(read_lists(&c, lora));
    for (uint32_t i = 0; (lora || setup->packing) && i < tree->nscopes; i++)
        VRAM_TRY(choose_one(&c, i));
    if (lora && out->nadapted)
        VRAM_TRY(say_experts(&c));
    return report(&c, lora);
}

int vram_choose_trained(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup,
                        const bool **out)
{
    const char *list = vram_plan_text(setup->plan, VRAM_KEY_TRAIN_MODULES);
    struct vram_names names;
    bool any = false;
    *out = NULL;
    if (!*list || setup->mode != VRAM_MODE_TRAIN)
        return VRAM_OK;
    bool *may = vram_arena_array(cx->arena, tree->nscopes, sizeof *may);
    if (!may)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_names_read(cx, "train.modules", list, false, &names));
    for (uint32_t i = 0; i < tree->nscopes; i++) {
        size_t item;
        VRAM_TRY(vram_names_find(cx, &names, vram_sym_text(cx->syms, tree->scopes[i].path), &item));
        may[i] = item < names.n || (i && may[tree->scopes[i].parent]);
        any = any || may[i];
    }
    *out = may;
    if (!any)
        return vram_fail(cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET, "train.modules=%s names no module", list);
    return VRAM_OK;
}
