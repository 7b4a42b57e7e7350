/* SPDX-License-Identifier: Apache-2.0
 *
 * LoRA: a copy of the module tree in which every adapted Linear, or module that extends it, has
 * become PEFT's module around it.
 * The frozen model is not touched; numbers of scopes and parameters shift, so that registration
 * order stays what the framework's is (base, then A, then B).
 */
#include <string.h>

#include "train/train.h"

struct adapt {
    struct vram_cx *cx;
    const struct vram_tree *from;
    const struct vram_setup *setup;
    struct vram_tree *to;
    uint32_t lora, linear, dropout; /* classes */
    vram_sym weight;
    uint32_t *scope_map, *param_map;
    const char *targets;
};

/* q → q_proj: the short names of projections */
static const char *full_name(const char *item, size_t n)
{
    static const char *const names[] = {"q_proj", "k_proj", "v_proj", "o_proj",
                                        "gate_proj", "up_proj", "down_proj"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n + 5 && !memcmp(names[i], item, n))
            return names[i];
    return NULL;
}

static bool ends_with(const char *path, const char *item, size_t n)
{
    size_t k = strlen(path);
    return k >= n && !memcmp(path + k - n, item, n) && (k == n || path[k - n - 1] == '.');
}

static bool targeted(const struct adapt *a, const char *path)
{
    if (!strcmp(a->targets, "all-linear"))
        return true;
    for (const char *p = a->targets; *p;) {
        size_t n = strcspn(p, ",");
        const char *full = full_name(p, n);
        if (ends_with(path, p, n) || (full && ends_with(path, full, strlen(full))))
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

static bool is_linear(const struct adapt *a, uint32_t cls)
{
    while (cls != a->linear && cls != VRAM_NO_INDEX)
        cls = a->from->program->classes.at[cls].base;
    return cls != VRAM_NO_INDEX;
}

/* The member of a module; none when it has no such member. */
static struct vram_value member_of(const struct adapt *a, const struct vram_scope *s, vram_sym name)
{
    const struct vram_program *g = a->from->program;
    uint32_t i = vram_class_member(g, &g->classes.at[s->cls], name);
    return i == VRAM_NO_INDEX ? (struct vram_value){0} : a->from->members[s->members + i];
}

/* The matrix of a Linear; NULL when the module has none. */
static const struct vram_param *weight_of(const struct adapt *a, const struct vram_scope *s)
{
    struct vram_value v = member_of(a, s, a->weight);
    const struct vram_param *w = v.kind == VRAM_V_PARAM ? &a->from->params[v.u.i] : NULL;
    return w && w->rank == 2 ? w : NULL;
}

/* What get_output_embeddings() finds is never adapted: the Linear a template calls the head. */
static bool is_head(const struct adapt *a, const struct vram_scope *s)
{
    const char *component = vram_sym_text(a->cx->syms, s->component);
    return s->part && (!strcmp(component, "lm_head") || !strcmp(component, "head"));
}

static bool adaptable(const struct adapt *a, const struct vram_scope *s, uint32_t scope)
{
    return is_linear(a, s->cls) && s->end == scope + 1 && !is_head(a, s) && weight_of(a, s);
}

static bool adapted(const struct adapt *a, uint32_t scope)
{
    const struct vram_scope *s = &a->from->scopes[scope];
    return adaptable(a, s, scope) && vram_setup_mode(a->setup, s->component) == VRAM_TRAIN_LORA &&
           targeted(a, vram_sym_text(a->cx->syms, s->path));
}

bool vram_adaptable(struct vram_cx *cx, const struct vram_tree *tree, vram_sym component)
{
    struct adapt a = {.cx = cx, .from = tree};
    a.weight = vram_sym_find(cx->syms, "weight", 6);
    a.linear = vram_program_class(tree->program, vram_sym_find(cx->syms, "Linear", 6));
    for (uint32_t i = 0; a.linear != VRAM_NO_INDEX && i < tree->nscopes; i++)
        if (tree->scopes[i].component == component && adaptable(&a, &tree->scopes[i], i))
            return true;
    return false;
}

/* A weight is [outputs, inputs]; who keeps it the other way says so in its constructor. */
static bool transposed(const struct adapt *a, const struct vram_scope *s,
                       const struct vram_param *w)
{
    struct vram_value in = member_of(a, s, vram_sym_find(a->cx->syms, "inputs", 6));
    struct vram_value out = member_of(a, s, vram_sym_find(a->cx->syms, "outputs", 7));
    return in.kind == VRAM_V_INT && out.kind == VRAM_V_INT && in.u.i == w->dims[0] &&
           out.u.i == w->dims[1] && w->dims[0] != w->dims[1];
}

static int copy_params(struct adapt *a, uint32_t old, uint32_t new)
{
    const struct vram_scope *s = &a->from->scopes[old];
    struct vram_scope *t = &a->to->scopes[new];
    t->first_param = a->to->nparams;
    t->nparams = s->nparams;
    for (uint32_t i = 0; i < s->nparams; i++) {
        a->param_map[s->first_param + i] = a->to->nparams;
        a->to->params[a->to->nparams] = a->from->params[s->first_param + i];
        a->to->params[a->to->nparams++].scope = new;
    }
    return VRAM_OK;
}

static uint32_t new_scope(struct adapt *a, uint32_t parent, const char *name, uint32_t cls)
{
    struct vram_tree *t = a->to;
    const struct vram_scope *p = &t->scopes[parent];
    char *path = vram_format(a->cx->arena, "%s.%s", vram_sym_text(a->cx->syms, p->path), name);
    if (!path)
        return VRAM_NO_INDEX;
    vram_sym path_sym = vram_sym_of(a->cx->syms, path), name_sym = vram_sym_of(a->cx->syms, name);
    if (path_sym == VRAM_SYM_NONE || name_sym == VRAM_SYM_NONE)
        return VRAM_NO_INDEX;
    t->scopes[t->nscopes] = (struct vram_scope){
        .name = name_sym, .path = path_sym,
        .parent = parent, .cls = cls, .component = p->component, .members = t->nmembers,
        .first_param = t->nparams, .end = t->nscopes + 1, .repeat = 1, .config = p->config};
    t->nmembers += t->program->classes.at[cls].nmembers;
    return t->nscopes++;
}

/* Sets a member of a new module. */
static int set(struct adapt *a, uint32_t scope, const char *name, struct vram_value v)
{
    const struct vram_scope *s = &a->to->scopes[scope];
    const struct vram_class *c = &a->to->program->classes.at[s->cls];
    vram_sym sym = vram_sym_of(a->cx->syms, name);
    if (sym == VRAM_SYM_NONE)
        return vram_fail_memory(a->cx);
    uint32_t i = vram_class_member(a->to->program, c, sym);
    if (i == VRAM_NO_INDEX)
        return vram_fail(a->cx, VRAM_E_FORMAT, VRAM_NO_OFFSET, "the template of %s has no '%s'",
                         vram_sym_text(a->cx->syms, c->name), name);
    a->to->members[s->members + i] = v;
    return VRAM_OK;
}

static int set_module(struct adapt *a, uint32_t scope, const char *name, uint32_t module)
{
    struct vram_value v = {.kind = VRAM_V_MODULE};
    v.u.i = module;
    return set(a, scope, name, v);
}

static int set_real(struct adapt *a, uint32_t scope, const char *name, double x)
{
    struct vram_value v = {.kind = VRAM_V_FLOAT};
    v.u.f = x;
    return set(a, scope, name, v);
}

/* A Linear of the adapter: one weight, no bias. */
static int small_linear(struct adapt *a, uint32_t parent, const char *name, int64_t rows,
                        int64_t columns, enum vram_dtype dtype)
{
    struct vram_tree *t = a->to;
    uint32_t s = new_scope(a, parent, name, a->linear);
    int64_t *dims = vram_arena_array(a->cx->arena, 2, sizeof *dims);
    char *path = s == VRAM_NO_INDEX ? NULL
                                    : vram_format(a->cx->arena, "%s.weight",
                                                  vram_sym_text(a->cx->syms, t->scopes[s].path));
    if (!dims || !path)
        return vram_fail_memory(a->cx);
    dims[0] = rows;
    dims[1] = columns;
    struct vram_param p = {.name = a->weight, .path = vram_sym_of(a->cx->syms, path), .scope = s,
                           .tensor = VRAM_NO_INDEX, .tied_to = VRAM_NO_INDEX, .dtype = (uint8_t)dtype,
                           .fixed = (uint8_t)dtype, .rank = 2, .adapter = true,
                           .floating = true, .dims = dims};
    if (p.path == VRAM_SYM_NONE)
        return vram_fail_memory(a->cx);
    if (__builtin_mul_overflow(rows, columns, &p.elements) ||
        !vram_dtype_bytes(dtype, p.elements, &p.bytes))
        return vram_fail(a->cx, VRAM_E_RANGE, VRAM_NO_OFFSET, "lora.rank is too large");
    struct vram_value v = {.kind = VRAM_V_PARAM};
    v.u.i = t->nparams;
    VRAM_TRY(set(a, s, "weight", v));
    t->params[t->nparams++] = p;
    t->scopes[s].nparams = 1;
    return set_module(a, parent, name, s);
}

/* members of an unchanged module; numbers are mapped when all are known */
static void copy_members(struct adapt *a, uint32_t old, uint32_t new)
{
    const struct vram_scope *s = &a->from->scopes[old];
    uint32_t n = a->from->program->classes.at[s->cls].nmembers;
    a->to->scopes[new].members = a->to->nmembers;
    memcpy(a->to->members + a->to->nmembers, a->from->members + s->members,
           n * sizeof *a->to->members);
    a->to->nmembers += n;
}

static int wrap(struct adapt *a, uint32_t old)
{
    struct vram_tree *t = a->to;
    const struct vram_scope *s = &a->from->scopes[old];
    const struct vram_param *weight = weight_of(a, s);
    bool swap = transposed(a, s, weight);
    uint32_t id = t->nscopes++;
    t->scopes[id] = *s;
    t->scopes[id].cls = a->lora;
    t->scopes[id].parent = a->scope_map[s->parent];
    t->scopes[id].nparams = 0;
    t->scopes[id].first_param = t->nparams;
    t->scopes[id].members = t->nmembers;
    t->nmembers += t->program->classes.at[a->lora].nmembers;
    a->scope_map[old] = id;

    uint32_t base = new_scope(a, id, "base_layer", s->cls);
    if (base == VRAM_NO_INDEX)
        return vram_fail_memory(a->cx);
    t->nmembers = t->scopes[base].members;
    copy_members(a, old, base);
    VRAM_TRY(copy_params(a, old, base));
    uint32_t drop = new_scope(a, id, "lora_dropout", a->dropout);
    if (drop == VRAM_NO_INDEX)
        return vram_fail_memory(a->cx);
    VRAM_TRY(set_real(a, drop, "p", a->setup->lora_dropout));
    VRAM_TRY(set_module(a, id, "base_layer", base));
    VRAM_TRY(set_module(a, id, "lora_dropout", drop));
    VRAM_TRY(set_real(a, id, "scaling", 1));
    enum vram_dtype dtype = a->setup->lora_dtype ? a->setup->lora_dtype : a->setup->dtype;
    VRAM_TRY(small_linear(a, id, "lora_A", a->setup->lora_rank, weight->dims[!swap], dtype));
    VRAM_TRY(small_linear(a, id, "lora_B", weight->dims[swap], a->setup->lora_rank, dtype));
    t->scopes[id].end = t->nscopes;
    return VRAM_OK;
}

static void renumber(struct adapt *a)
{
    struct vram_tree *t = a->to;
    for (uint32_t i = 0; i < a->from->nscopes; i++) {
        uint32_t id = a->scope_map[i];
        struct vram_scope *s = &t->scopes[id];
        if (s->cls == a->lora && a->from->scopes[i].cls != a->lora) {
            s = &t->scopes[id + 1]; /* the base layer carries the copied members */
        } else {
            uint32_t end = a->from->scopes[i].end;
            s->end = end < a->from->nscopes ? a->scope_map[end] : t->nscopes;
        }
        uint32_t n = t->program->classes.at[s->cls].nmembers;
        for (uint32_t k = 0; k < n; k++) {
            struct vram_value *v = &t->members[s->members + k];
            if (v->kind == VRAM_V_MODULE)
                v->u.i = a->scope_map[v->u.i];
            else if (v->kind == VRAM_V_PARAM)
                v->u.i = a->param_map[v->u.i];
        }
    }
    for (uint32_t i = 0; i < t->nlist_scopes; i++)
        t->list_scopes[i] = a->scope_map[a->from->list_scopes[i]];
    for (uint32_t i = 0; i < t->nparams; i++)
        if (t->params[i].tied_to != VRAM_NO_INDEX)
            t->params[i].tied_to = a->param_map[t->params[i].tied_to];
}

static int room(struct adapt *a, uint32_t n)
{
    const struct vram_tree *f = a->from;
    struct vram_tree *t = a->to;
    struct vram_arena *arena = a->cx->arena;
    uint32_t per = t->program->classes.at[a->lora].nmembers +
                   3 * t->program->classes.at[a->linear].nmembers +
                   t->program->classes.at[a->dropout].nmembers;
    t->scopes = vram_arena_array(arena, (size_t)f->nscopes + 4 * (size_t)n, sizeof *t->scopes);
    t->params = vram_arena_array(arena, (size_t)f->nparams + 2 * (size_t)n, sizeof *t->params);
    t->members = vram_arena_array(arena, (size_t)f->nmembers + (size_t)per * n, sizeof *t->members);
    t->list_scopes = vram_arena_array(arena, f->nlist_scopes, sizeof *t->list_scopes);
    a->scope_map = vram_arena_array(arena, f->nscopes, sizeof *a->scope_map);
    a->param_map = vram_arena_array(arena, f->nparams, sizeof *a->param_map);
    if (!t->scopes || !t->params || !t->members || !t->list_scopes || !a->scope_map || !a->param_map)
        return vram_fail_memory(a->cx);
    t->nscopes = t->nparams = t->nmembers = 0;
    t->nlist_scopes = f->nlist_scopes;
    return VRAM_OK;
}

/* Where transformers stacked what were Linears of experts, PEFT 0.21 reads their old names, and
 * "all-linear", as adapters around the stacks and the router, which are not described. */
static int say_experts(const struct adapt *a)
{
    static const char types[] = " mixtral qwen2_moe qwen3_moe deepseek_v2 deepseek_v3 ";
    static const char *const names[] = {"gate",      "w1",      "w2",       "w3",
                                        "gate_proj", "up_proj", "down_proj"};
    const struct vram_tree *t = a->from;
    const struct vram_config *of = vram_config_get_text(a->cx, t->scopes[0].config, "model_type");
    const char *type = of ? vram_sym_text(a->cx->syms, of->text) : "";
    char *word = vram_format(a->cx->arena, " %s ", type);
    if (!word)
        return vram_fail_memory(a->cx);
    bool named = !strcmp(a->targets, "all-linear");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        named = named || targeted(a, names[i]);
    if (!named || !strstr(types, word))
        return VRAM_OK;
    for (uint32_t i = 0; i < t->nparams; i++)
        if (t->params[i].rank == 3 &&
            vram_setup_mode(a->setup, t->scopes[t->params[i].scope].component) == VRAM_TRAIN_LORA)
            return vram_find(a->cx, VRAM_F_LORA_EXPERTS, "lora.targets",
                             "%s: PEFT also adapts the stacked experts of %s; here they get no "
                             "adapter, as with a regex of module names: the answer is too low",
                             a->targets, type);
    return VRAM_OK;
}

int vram_adapt(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup,
               struct vram_tree *out)
{
    struct adapt a = {.cx = cx, .from = tree, .setup = setup, .to = out,
                      .targets = vram_plan_text(setup->plan, VRAM_KEY_LORA_TARGETS)};
    uint32_t n = 0;
    *out = *tree;
    out->syms = cx->syms;
    if (!tree->known || setup->mode != VRAM_MODE_TRAIN)
        return VRAM_OK;
    a.weight = vram_sym_of(cx->syms, "weight");
    vram_sym lora = vram_sym_of(cx->syms, "LoraLinear"), linear = vram_sym_of(cx->syms, "Linear");
    vram_sym dropout = vram_sym_of(cx->syms, "Dropout");
    if (a.weight == VRAM_SYM_NONE || lora == VRAM_SYM_NONE || linear == VRAM_SYM_NONE ||
        dropout == VRAM_SYM_NONE)
        return vram_fail_memory(cx);
    a.lora = vram_program_class(tree->program, lora);
    a.linear = vram_program_class(tree->program, linear);
    a.dropout = vram_program_class(tree->program, dropout);
    if (a.lora == VRAM_NO_INDEX || a.linear == VRAM_NO_INDEX || a.dropout == VRAM_NO_INDEX)
        return VRAM_OK;
    bool wanted = false;
    for (uint32_t i = 0; i < tree->nscopes; i++) {
        n += adapted(&a, i);
        wanted = wanted || vram_setup_mode(setup, tree->scopes[i].component) == VRAM_TRAIN_LORA;
    }
    if (!n)
        return wanted ? vram_fail(cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                                  "lora.targets=%s matches no Linear of the LoRA components",
                                  a.targets)
                      : VRAM_OK;
    VRAM_TRY(say_experts(&a));
    VRAM_TRY(room(&a, n));
    for (uint32_t i = 0; i < tree->nscopes; i++) {
        if (adapted(&a, i)) {
            VRAM_TRY(wrap(&a, i));
            continue;
        }
        uint32_t id = out->nscopes++;
        a.scope_map[i] = id;
        out->scopes[id] = tree->scopes[i];
        out->scopes[id].parent = i ? a.scope_map[tree->scopes[i].parent] : 0;
        copy_members(&a, i, id);
        VRAM_TRY(copy_params(&a, i, id));
    }
    renumber(&a);
    return VRAM_OK;
}
