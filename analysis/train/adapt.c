/* SPDX-License-Identifier: Apache-2.0
 *
 * What is put in the place of modules: a copy of the module tree in which a Linear, or module that
 * extends it, whose matrix is held in packed words runs as the packing says, and every adapted one has
 * become PEFT's module around it.
 * The frozen model is not touched; numbers of scopes and parameters shift, so that registration
 * order stays what the framework's is (base, then A, then B).
 */
#include <string.h>

#include "train/choose.h"

struct adapt {
    struct vram_cx *cx;
    const struct vram_tree *from;
    const struct vram_setup *setup;
    struct vram_tree *to;
    uint32_t lora, linear, dropout, dora; /* classes */
    uint32_t packed, packed_lora;   /* Linear and PEFT's module around it, when matrices are packed */
    vram_sym weight;
    uint32_t *scope_map, *param_map, *tie_map;
    struct vram_choices choices;
};

static bool is_wrapper(const struct adapt *a, uint32_t cls)
{
    return cls == a->lora || (a->setup->packing && cls == a->packed_lora);
}

/* A weight is [outputs, inputs]; who keeps it the other way says so in its constructor. */
static bool transposed(const struct adapt *a, const struct vram_scope *s,
                       const struct vram_param *w)
{
    struct vram_value in = vram_member_of(a->from, s, vram_sym_find(a->cx->syms, "inputs", 6));
    struct vram_value out = vram_member_of(a->from, s, vram_sym_find(a->cx->syms, "outputs", 7));
    return in.kind == VRAM_V_INT && out.kind == VRAM_V_INT && in.u.i == w->dims[0] &&
           out.u.i == w->dims[1] && w->dims[0] != w->dims[1];
}

static struct vram_param *copy_param(struct adapt *a, uint32_t old, uint32_t new)
{
    struct vram_param *p = &a->to->params[a->to->nparams++];
    *p = a->from->params[old];
    p->scope = new;
    return p;
}

/* Of a saved module the original comes first and stays; who is tied to it stays so. */
static int copy_params(struct adapt *a, uint32_t old, uint32_t new)
{
    const struct vram_scope *s = &a->from->scopes[old];
    struct vram_scope *t = &a->to->scopes[new];
    bool saved = a->choices.what[old] & VRAM_SAVED;
    t->first_param = a->to->nparams;
    t->nparams = s->nparams;
    for (uint32_t i = s->first_param; i < s->first_param + s->nparams; i++) {
        a->tie_map[i] = a->param_map[i] = a->to->nparams;
        copy_param(a, i, new)->original = saved;
    }
    for (uint32_t i = s->first_param; saved && i < s->first_param + s->nparams; i++) {
        a->param_map[i] = a->to->nparams;
        struct vram_param *copy = copy_param(a, i, new);
        copy->adapter = true;
        copy->tied_to = copy->tensor = VRAM_NO_INDEX;
        t->nparams++;
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

/* The weight of a new module, whose only parameter it is. */
static int add_weight(struct adapt *a, uint32_t s, int64_t *dims, uint8_t rank, enum vram_dtype dtype)
{
    struct vram_tree *t = a->to;
    char *path = vram_format(a->cx->arena, "%s.weight", vram_sym_text(a->cx->syms, t->scopes[s].path));
    struct vram_param p = {.name = a->weight, .scope = s, .tensor = VRAM_NO_INDEX, .tied_to = VRAM_NO_INDEX,
                           .dtype = (uint8_t)dtype, .fixed = (uint8_t)dtype, .rank = rank, .floating = true,
                           .adapter = true, .dims = dims};
    if (!path || !(p.path = vram_sym_of(a->cx->syms, path)))
        return vram_fail_memory(a->cx);
    if (__builtin_mul_overflow(dims[0], rank == 2 ? dims[1] : 1, &p.elements) ||
        !vram_dtype_bytes(dtype, p.elements, &p.bytes))
        return vram_fail(a->cx, VRAM_E_RANGE, VRAM_NO_OFFSET, "lora.rank is too large");
    struct vram_value v = {.kind = VRAM_V_PARAM};
    v.u.i = t->nparams;
    VRAM_TRY(set(a, s, "weight", v));
    t->params[t->nparams++] = p;
    t->scopes[s].nparams = 1;
    return VRAM_OK;
}

/* A Linear of the adapter: one weight, no bias. */
static int small_linear(struct adapt *a, uint32_t parent, const char *name, int64_t rows,
                        int64_t columns, enum vram_dtype dtype)
{
    uint32_t s = new_scope(a, parent, name, a->linear);
    int64_t *dims = vram_arena_array(a->cx->arena, 2, sizeof *dims);
    if (s == VRAM_NO_INDEX || !dims)
        return vram_fail_memory(a->cx);
    dims[0] = rows;
    dims[1] = columns;
    VRAM_TRY(add_weight(a, s, dims, 2, dtype));
    return set_module(a, parent, name, s);
}

/* DoRA's magnitudes: one number a row of the matrix. */
static int magnitudes(struct adapt *a, uint32_t parent, int64_t outputs, bool swap, bool packed,
                      enum vram_dtype dtype)
{
    uint32_t s = new_scope(a, parent, "lora_magnitude_vector", a->dora);
    int64_t *dims = vram_arena_array(a->cx->arena, 1, sizeof *dims);
    if (s == VRAM_NO_INDEX || !dims)
        return vram_fail_memory(a->cx);
    dims[0] = outputs;
    struct vram_value words = {.kind = VRAM_V_STRING}, transposed = vram_bool(swap && !packed); /* packed as [outputs, inputs] */
    words.u.i = vram_sym_of(a->cx->syms, packed ? vram_packing_dora(a->setup->packing) : "");
    VRAM_TRY(set(a, s, "words", words));
    VRAM_TRY(set(a, s, "transposed", transposed));
    VRAM_TRY(add_weight(a, s, dims, 1, dtype));
    return set_module(a, parent, "lora_magnitude_vector", s);
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

/* Who asks the adapted Linear for its weight or bias gets the base layer's (BaseTunerLayer). */
static int set_base_param(struct adapt *a, const struct vram_scope *s, uint32_t lora, const char *name)
{
    struct vram_value v = vram_member_of(a->from, s, vram_sym_of(a->cx->syms, name));
    if (v.kind != VRAM_V_PARAM)
        return VRAM_OK;
    v.u.i = a->param_map[v.u.i];
    return set(a, lora, name, v);
}

static int set_int(struct adapt *a, uint32_t scope, const char *name, int64_t n)
{
    struct vram_value v = {.kind = VRAM_V_INT};
    v.u.i = n;
    return set(a, scope, name, v);
}

/* A part of a packed matrix beside the first. */
static int add_part(struct adapt *a, uint32_t scope, const struct vram_packed_part *part)
{
    struct vram_tree *t = a->to;
    char *path = vram_format(a->cx->arena, "%s.%s", vram_sym_text(a->cx->syms, t->scopes[scope].path),
                             part->name);
    struct vram_param p = {.scope = scope, .tensor = VRAM_NO_INDEX, .tied_to = VRAM_NO_INDEX,
                           .dtype = (uint8_t)part->dtype, .fixed = (uint8_t)part->dtype, .rank = 1,
                           .packed = part->count};
    if (!path || !(p.path = vram_sym_of(a->cx->syms, path)) ||
        !(p.name = vram_sym_of(a->cx->syms, part->name)))
        return vram_fail_memory(a->cx);
    if (!vram_dtype_bytes(part->dtype, part->count, &p.bytes))
        return vram_fail(a->cx, VRAM_E_RANGE, VRAM_NO_OFFSET, "%s is too large", path);
    t->params[t->nparams++] = p;
    t->scopes[scope].nparams++;
    return VRAM_OK;
}

/* The module `new`, already there with its class, gets the parts and what Linear had beside them.
 * Members have the old numbers, as copied ones have. */
static int pack(struct adapt *a, uint32_t old, uint32_t new)
{
    const struct vram_scope *s = &a->from->scopes[old];
    const struct vram_param *w = vram_matrix_of(a->cx, a->from, s);
    const struct vram_packing *packing = a->setup->packing;
    bool swap = transposed(a, s, w);
    struct vram_packed_part part;
    struct vram_value compute = {.kind = VRAM_V_DTYPE};
    VRAM_TRY(copy_params(a, old, new));
    vram_packing_part(packing, 0, w->dims, &part);
    struct vram_param *p = &a->to->params[a->param_map[w - a->from->params]];
    p->dtype = p->fixed = (uint8_t)part.dtype;
    p->packed = part.count;
    if (!vram_dtype_bytes(part.dtype, part.count, &p->bytes))
        return vram_fail(a->cx, VRAM_E_RANGE, VRAM_NO_OFFSET, "a matrix is too large");
    for (uint32_t i = 1; i < vram_packing_parts(packing); i++) {
        vram_packing_part(packing, i, w->dims, &part);
        VRAM_TRY(add_part(a, new, &part));
    }
    /* the first call casts the bias itself to the dtype of the product: it is loaded so */
    struct vram_value bias = vram_member_of(a->from, s, vram_sym_of(a->cx->syms, "bias"));
    if (bias.kind == VRAM_V_PARAM)
        a->to->params[a->param_map[bias.u.i]].fixed =
            (uint8_t)(a->setup->autocast != VRAM_DT_NONE ? a->setup->autocast : a->setup->dtype);
    struct vram_value stored = {.kind = VRAM_V_DTYPE};
    stored.u.i = a->setup->dtype;
    compute.u.i = a->setup->autocast != VRAM_DT_NONE ? a->setup->autocast : a->setup->dtype;
    VRAM_TRY(set_int(a, new, "inputs", w->dims[!swap]));
    VRAM_TRY(set_int(a, new, "outputs", w->dims[swap]));
    VRAM_TRY(set(a, new, "compute", compute));
    VRAM_TRY(set(a, new, "stored", stored));
    VRAM_TRY(set_int(a, new, "nested", vram_packing_nested(packing, w->dims)));
    VRAM_TRY(set(a, new, "weight", vram_member_of(a->from, s, a->weight)));
    return set(a, new, "bias", bias);
}

/* Puts the module itself at `new`: as it is, or packed. */
static int place(struct adapt *a, uint32_t old, uint32_t new)
{
    if (!(a->choices.what[old] & VRAM_PACKED)) {
        copy_members(a, old, new);
        return copy_params(a, old, new);
    }
    a->to->scopes[new].cls = a->packed;
    a->to->scopes[new].members = a->to->nmembers;
    a->to->nmembers += a->to->program->classes.at[a->packed].nmembers;
    return pack(a, old, new);
}

static int wrap(struct adapt *a, uint32_t old)
{
    struct vram_tree *t = a->to;
    const struct vram_scope *s = &a->from->scopes[old];
    const struct vram_param *weight = vram_matrix_of(a->cx, a->from, s);
    bool swap = transposed(a, s, weight);
    uint32_t id = t->nscopes++, cls = a->choices.what[old] & VRAM_PACKED ? a->packed_lora : a->lora;
    t->scopes[id] = *s;
    t->scopes[id].cls = cls;
    t->scopes[id].parent = a->scope_map[s->parent];
    t->scopes[id].nparams = 0;
    t->scopes[id].first_param = t->nparams;
    t->scopes[id].members = t->nmembers;
    t->nmembers += t->program->classes.at[cls].nmembers;
    a->scope_map[old] = id;

    uint32_t base = new_scope(a, id, "base_layer", s->cls);
    if (base == VRAM_NO_INDEX)
        return vram_fail_memory(a->cx);
    t->nmembers = t->scopes[base].members;
    VRAM_TRY(place(a, old, base));
    uint32_t drop = new_scope(a, id, "lora_dropout", a->dropout);
    if (drop == VRAM_NO_INDEX)
        return vram_fail_memory(a->cx);
    VRAM_TRY(set_real(a, drop, "p", a->setup->lora_dropout));
    VRAM_TRY(set_base_param(a, s, id, "weight"));
    VRAM_TRY(set_base_param(a, s, id, "bias"));
    VRAM_TRY(set_module(a, id, "base_layer", base));
    VRAM_TRY(set_module(a, id, "lora_dropout", drop));
    VRAM_TRY(set_real(a, id, "scaling", 1));
    enum vram_dtype dtype = a->setup->lora_dtype ? a->setup->lora_dtype : a->setup->dtype;
    VRAM_TRY(small_linear(a, id, "lora_A", a->choices.rank[old], weight->dims[!swap], dtype));
    VRAM_TRY(small_linear(a, id, "lora_B", weight->dims[swap], a->choices.rank[old], dtype));
    if (a->setup->dora)
        VRAM_TRY(magnitudes(a, id, weight->dims[swap], swap, a->choices.what[old] & VRAM_PACKED, dtype));
    t->scopes[id].end = t->nscopes;
    return VRAM_OK;
}

static void renumber(struct adapt *a)
{
    struct vram_tree *t = a->to;
    for (uint32_t i = 0; i < a->from->nscopes; i++) {
        uint32_t id = a->scope_map[i];
        struct vram_scope *s = &t->scopes[id];
        if (is_wrapper(a, s->cls) && !is_wrapper(a, a->from->scopes[i].cls)) {
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
            t->params[i].tied_to = a->tie_map[t->params[i].tied_to];
}

static int room(struct adapt *a)
{
    uint32_t n = a->choices.nadapted, npacked = a->choices.npacked, nsaved = a->choices.nsaved;
    const struct vram_tree *f = a->from;
    struct vram_tree *t = a->to;
    struct vram_arena *arena = a->cx->arena;
    const struct vram_packing *packing = a->setup->packing;
    uint32_t parts = packing ? vram_packing_parts(packing) : 0;
    uint32_t own = packing ? t->program->classes.at[a->packed].nmembers : 0;
    uint32_t per = t->program->classes.at[a->lora].nmembers +
                   (packing ? t->program->classes.at[a->packed_lora].nmembers : 0) +
                   3 * t->program->classes.at[a->linear].nmembers +
                   t->program->classes.at[a->dropout].nmembers + t->program->classes.at[a->dora].nmembers;
    t->scopes = vram_arena_array(arena, (size_t)f->nscopes + 5 * (size_t)n, sizeof *t->scopes);
    t->params = vram_arena_array(arena, (size_t)f->nparams + 3 * (size_t)n + (size_t)parts * npacked + nsaved,
                                 sizeof *t->params);
    t->members = vram_arena_array(arena, (size_t)f->nmembers + (size_t)per * n + (size_t)own * npacked,
                                  sizeof *t->members);
    t->list_scopes = vram_arena_array(arena, f->nlist_scopes, sizeof *t->list_scopes);
    a->scope_map = vram_arena_array(arena, f->nscopes, sizeof *a->scope_map);
    a->param_map = vram_arena_array(arena, f->nparams, sizeof *a->param_map);
    a->tie_map = vram_arena_array(arena, f->nparams, sizeof *a->tie_map);
    if (!t->scopes || !t->params || !t->members || !t->list_scopes || !a->scope_map || !a->param_map ||
        !a->tie_map)
        return vram_fail_memory(a->cx);
    t->nscopes = t->nparams = t->nmembers = 0;
    t->nlist_scopes = f->nlist_scopes;
    return VRAM_OK;
}

static int find_packed(struct adapt *a)
{
    const struct vram_packing *packing = a->setup->packing;
    if (!packing)
        return VRAM_OK;
    vram_sym module = vram_sym_of(a->cx->syms, vram_packing_module(packing));
    vram_sym lora = vram_sym_of(a->cx->syms, vram_packing_lora(packing));
    if (module == VRAM_SYM_NONE || lora == VRAM_SYM_NONE)
        return vram_fail_memory(a->cx);
    a->packed = vram_program_class(a->from->program, module);
    a->packed_lora = vram_program_class(a->from->program, lora);
    if (a->packed == VRAM_NO_INDEX || a->packed_lora == VRAM_NO_INDEX)
        return vram_fail(a->cx, VRAM_E_FORMAT, VRAM_NO_OFFSET, "no template has %s or %s",
                         vram_packing_module(packing), vram_packing_lora(packing));
    return VRAM_OK;
}

static int find_classes(struct adapt *a)
{
    static const char *const names[] = {"LoraLinear", "Linear", "Dropout", "DoraLinearLayer"};
    uint32_t *const classes[] = {&a->lora, &a->linear, &a->dropout, &a->dora};
    a->weight = vram_sym_of(a->cx->syms, "weight");
    bool all = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vram_sym name = vram_sym_of(a->cx->syms, names[i]);
        if (name == VRAM_SYM_NONE || a->weight == VRAM_SYM_NONE)
            return vram_fail_memory(a->cx);
        *classes[i] = vram_program_class(a->from->program, name);
        all = all && *classes[i] != VRAM_NO_INDEX;
    }
    if (!all)
        a->linear = VRAM_NO_INDEX;
    return all ? find_packed(a) : VRAM_OK;
}

/* lora.bias (peft, _mark_only_adapters_as_trainable): whatever has "bias" in its name, in frozen parts as
 * well, or the biases of adapted layers. */
static void train_biases(struct adapt *a)
{
    bool all = vram_plan_is(a->setup->plan, VRAM_KEY_LORA_BIAS, "all");
    if (!a->choices.nadapted || (!all && !vram_plan_is(a->setup->plan, VRAM_KEY_LORA_BIAS, "lora-only")))
        return;
    for (uint32_t i = 0; i < a->to->nparams; i++) {
        struct vram_param *p = &a->to->params[i];
        const struct vram_scope *s = &a->to->scopes[p->scope];
        bool adapted = is_wrapper(a, a->to->scopes[s->parent].cls) && !strcmp(vram_sym_text(a->cx->syms, p->name), "bias");
        if (!p->original && p->floating && (all ? strstr(vram_sym_text(a->cx->syms, p->path), "bias") != NULL : adapted))
            p->adapter = true;
    }
}

int vram_adapt(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup,
               struct vram_tree *out)
{
    struct adapt a = {.cx = cx, .from = tree, .setup = setup, .to = out};
    *out = *tree;
    out->syms = cx->syms;
    if (!tree->known || (setup->mode != VRAM_MODE_TRAIN && !setup->packing))
        return VRAM_OK;
    VRAM_TRY(find_classes(&a));
    if (a.linear == VRAM_NO_INDEX)
        return VRAM_OK;
    VRAM_TRY(vram_choose(cx, tree, setup, a.linear, &a.choices));
    if (!a.choices.nadapted && !a.choices.npacked)
        return VRAM_OK;
    VRAM_TRY(room(&a));
    for (uint32_t i = 0; i < tree->nscopes; i++) {
        if (a.choices.what[i] & VRAM_ADAPTED) {
            VRAM_TRY(wrap(&a, i));
            continue;
        }
        uint32_t id = out->nscopes++;
        a.scope_map[i] = id;
        out->scopes[id] = tree->scopes[i];
        out->scopes[id].parent = i ? a.scope_map[tree->scopes[i].parent] : 0;
        VRAM_TRY(place(&a, i, id));
    }
    renumber(&a);
    train_biases(&a);
    return VRAM_OK;
}
