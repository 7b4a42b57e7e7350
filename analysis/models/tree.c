/* SPDX-License-Identifier: Apache-2.0
 *
 * Instances: runs the declarations of classes, in registration order (a module's own parameters
 * come before its children's), and makes scopes, parameters and attributes.
 */
#include "models/tree.h"

#include <string.h>

#include "base/math.h"
#include "base/vec.h"
#include "models/builder.h"

enum { MAX_ROUNDS = 12 };

static uint32_t instance(struct vram_builder *b, uint32_t cls, uint32_t parent, vram_sym name,
                         vram_sym path, struct vram_config *config, vram_sym component,
                         struct vram_call *init);

static void check(struct vram_builder *b, int code)
{
    if (code)
        longjmp(b->machine.escape, code);
}

static void *grow(struct vram_builder *b, void *at, size_t n, size_t *cap, size_t more, size_t size)
{
    if (*cap - n < more && !vram_vec_grow_(b->cx->arena, &at, n, cap, more, size))
        vram_throw_memory(&b->machine);
    return at;
}

static vram_sym join(struct vram_builder *b, vram_sym path, const char *name)
{
    char text[1024];
    const char *above = vram_sym_text(b->cx->syms, path);
    size_t n = strlen(above), k = strlen(name);
    if (n + k + 2 > sizeof text)
        vram_throw(&b->machine, VRAM_E_LIMIT, "a module path is too long");
    memcpy(text, above, n);
    if (n)
        text[n++] = '.';
    memcpy(text + n, name, k);
    vram_sym s = vram_sym_add(b->cx->syms, text, n + k, 1);
    if (s == VRAM_SYM_NONE)
        vram_throw_memory(&b->machine);
    return s;
}

static struct vram_value eval(struct vram_builder *b, struct vram_frame *f, uint32_t node)
{
    struct vram_value v;
    vram_eval(&b->machine, f, node - 1, &v);
    return v;
}

static bool holds(struct vram_builder *b, struct vram_frame *f, uint32_t condition)
{
    return !condition || vram_truth(&b->machine, eval(b, f, condition));
}

/* ---- attributes, parameters, buffers ------------------------------------------------------ */

static void attribute(struct vram_builder *b, struct vram_frame *f, const struct vram_decl *d,
                      struct vram_value *member)
{
    if (d->init)
        return; /* bound by the constructor call */
    struct vram_value v = eval(b, f, d->value);
    if (v.kind == VRAM_V_NONE && d->fallback)
        v = eval(b, f, d->fallback);
    vram_value_keep(&b->machine, v, 0);
    *member = v;
}

static void parameter(struct vram_builder *b, struct vram_frame *f, const struct vram_decl *d,
                      uint32_t member)
{
    struct vram_machine *m = &b->machine;
    struct vram_value list = eval(b, f, d->dims), dtype = {0};
    uint32_t rank = list.u.box->n;
    int64_t elements;
    if (rank > VRAM_MAX_RANK)
        vram_throw(m, VRAM_E_LIMIT, "a parameter of more than %d dimensions", VRAM_MAX_RANK);
    if (b->tree.nparams >= b->cx->limits->params)
        vram_throw(m, VRAM_E_LIMIT, "more than %llu parameters",
                   (unsigned long long)b->cx->limits->params);
    int64_t *dims = vram_machine_alloc(m, rank ? rank : 1, sizeof *dims);
    for (uint32_t i = 0; i < rank; i++) {
        if (list.u.box->at[i].kind == VRAM_V_NONE)
            vram_throw(m, VRAM_E_RANGE, "'%s' has a size that is none: does config.json say it?",
                       vram_sym_text(b->cx->syms, d->name));
        if (list.u.box->at[i].kind != VRAM_V_INT || list.u.box->at[i].u.i < 0)
            vram_throw(m, VRAM_E_RANGE, "'%s' has a size that is no positive integer",
                       vram_sym_text(b->cx->syms, d->name));
        dims[i] = list.u.box->at[i].u.i;
    }
    if (!vram_product_i64(dims, rank, &elements))
        vram_throw(m, VRAM_E_RANGE, "'%s' has more elements than 64 bits count",
                   vram_sym_text(b->cx->syms, d->name));
    if (d->dtype)
        dtype = eval(b, f, d->dtype);
    b->tree.params = grow(b, b->tree.params, b->tree.nparams, &b->cap_params, 1,
                          sizeof *b->tree.params);
    struct vram_param *p = &b->tree.params[b->tree.nparams];
    *p = (struct vram_param){.name = d->name,
                             .path = join(b, b->tree.scopes[f->scope].path,
                                          vram_sym_text(b->cx->syms, d->name)),
                             .scope = f->scope, .tensor = VRAM_NO_INDEX, .tied_to = VRAM_NO_INDEX,
                             .fixed = dtype.kind == VRAM_V_DTYPE ? (uint8_t)dtype.u.i : 0,
                             .rank = (uint8_t)rank, .buffer = d->kind == VRAM_DECL_BUFFER,
                             .decay_set = d->decay_set, .decay = d->decay, .dims = dims,
                             .elements = (uint64_t)elements};
    check(b, vram_bind_param(b, p, list.u.box->at));
    struct vram_value v = {.kind = VRAM_V_PARAM};
    v.u.i = b->tree.nparams++;
    b->tree.members[member] = v;
    b->tree.scopes[f->scope].nparams++;
}

/* ---- children ----------------------------------------------------------------------------- */

/* auto: the class that the config's model_type names */
static uint32_t class_by_config(struct vram_builder *b, const struct vram_config *config)
{
    const struct vram_config *type = vram_config_get_text(b->cx, config, "model_type");
    const struct vram_family *family = NULL;
    uint32_t cls = VRAM_NO_INDEX;
    if (type && type->type == VRAM_CONFIG_STRING)
        check(b, vram_family_of(b, type->text, &family));
    if (family)
        check(b, vram_class_named(b, family->base, &cls));
    if (cls == VRAM_NO_INDEX)
        check(b, vram_no_template(b, config));
    check(b, vram_program_link(b->cx, b->program, b->linker, cls));
    return cls;
}

static void call_arguments(struct vram_builder *b, struct vram_frame *f, const struct vram_node *n,
                           struct vram_call *call)
{
    call->nargs = call->nkw = 0;
    if (n->c > VRAM_MAX_ARGS || n->nkw > VRAM_MAX_ARGS)
        vram_throw(&b->machine, VRAM_E_FORMAT, "too many arguments");
    for (uint32_t i = 0; i < n->c; i++)
        call->args[call->nargs++] = eval(b, f, b->program->lists.at[n->b + i] + 1);
    for (uint32_t i = 0; i < n->nkw; i++) {
        const uint32_t *pair = b->program->lists.at + n->b + n->c + 2 * i;
        call->kw[call->nkw].name = pair[0];
        call->kw[call->nkw++].value = eval(b, f, pair[1] + 1);
    }
}

static uint32_t child(struct vram_builder *b, struct vram_frame *f, const struct vram_decl *d,
                      vram_sym name, vram_sym path)
{
    uint32_t scope = f->scope;
    struct vram_config *config = b->tree.scopes[scope].config;
    const struct vram_node *n = &b->program->nodes.at[d->value - 1];
    if (d->config) {
        struct vram_value v = eval(b, f, d->config);
        if (v.kind != VRAM_V_CONFIG)
            vram_throw(&b->machine, VRAM_E_UNBOUND, "config.json has no configuration for '%s'",
                       vram_sym_text(b->cx->syms, path));
        config = v.u.config;
    }
    struct vram_value callee = eval(b, f, n->a + 1);
    if (callee.kind != VRAM_V_CLASS)
        vram_throw(&b->machine, VRAM_E_FORMAT, "a child is a module class");
    uint32_t cls = (uint32_t)callee.u.i;
    bool named = cls != VRAM_NO_INDEX;
    if (!named)
        cls = class_by_config(b, config);
    check(b, vram_program_link(b->cx, b->program, b->linker, cls));
    if (named && d->config)
        check(b, vram_check_part(b, cls, config));
    struct vram_call *init = b->calls[b->depth];
    if (!init)
        init = b->calls[b->depth] = vram_machine_alloc(&b->machine, 1, sizeof *init);
    call_arguments(b, f, n, init);
    uint32_t id = instance(b, cls, scope, name, path, config,
                           d->component ? d->component : b->tree.scopes[scope].component, init);
    b->tree.scopes[id].input_embedding = d->input_embedding;
    b->tree.scopes[id].part = d->component != 0;
    return id;
}

/* A list of layers: as many as the config says, or as the tensors' names show. */
static uint32_t layer_count(struct vram_builder *b, struct vram_frame *f, const struct vram_decl *d,
                            vram_sym path)
{
    struct vram_value n = eval(b, f, d->count);
    if (n.kind != VRAM_V_INT || n.u.i < 0)
        vram_throw(&b->machine, VRAM_E_RANGE, "'%s' needs a number of layers",
                   vram_sym_text(b->cx->syms, path));
    uint32_t found = vram_bind_count(b, path);
    if (found && (int64_t)found != n.u.i && !(b->checkpoint->partial && (int64_t)found < n.u.i)) {
        if (n.tag)
            check(b, vram_override_size(b, &n, found, VRAM_NO_INDEX, path));
        n.u.i = found;
    }
    if ((uint64_t)n.u.i + b->tree.nscopes > b->cx->limits->scopes)
        vram_throw(&b->machine, VRAM_E_LIMIT, "%lld layers; a model may have %llu modules",
                   (long long)n.u.i, (unsigned long long)b->cx->limits->scopes);
    return (uint32_t)n.u.i;
}

static void children(struct vram_builder *b, struct vram_frame *f, const struct vram_decl *d,
                     uint32_t member)
{
    vram_sym path = join(b, b->tree.scopes[f->scope].path, vram_sym_text(b->cx->syms, d->name));
    uint32_t n = layer_count(b, f, d, path);
    b->tree.lists = grow(b, b->tree.lists, b->tree.nlists, &b->cap_lists, 1, sizeof *b->tree.lists);
    b->tree.list_scopes = grow(b, b->tree.list_scopes, b->tree.nlist_scopes, &b->cap_list_scopes, n,
                               sizeof *b->tree.list_scopes);
    uint32_t first = b->tree.nlist_scopes, list = b->tree.nlists++;
    b->tree.nlist_scopes += n;
    b->tree.lists[list] = (struct vram_list){first, n};
    for (uint32_t i = 0; i < n; i++) {
        char number[16];
        int digits = 0;
        for (uint32_t k = i; digits == 0 || k; k /= 10)
            number[15 - ++digits] = (char)('0' + k % 10);
        number[15] = 0;
        vram_sym name = vram_machine_sym(&b->machine, number + 15 - digits);
        if (d->loop_slot)
            f->slots[d->loop_slot - 1] = vram_int(i);
        uint32_t id = child(b, f, d, name, join(b, path, number + 15 - digits));
        b->tree.list_scopes[first + i] = id;
    }
    struct vram_value v = {.kind = VRAM_V_MODULES};
    v.u.i = list;
    b->tree.members[member] = v;
}

/* ---- instances ---------------------------------------------------------------------------- */

static void bind_init(struct vram_builder *b, struct vram_frame *f, struct vram_call *call,
                      uint32_t members)
{
    const struct vram_class *c = f->cls;
    const char *name = vram_sym_text(b->cx->syms, c->name);
    uint32_t used = 0; /* keywords, one bit each */
    if (call->nargs > c->npositional)
        vram_throw(&b->machine, VRAM_E_FORMAT, "%s takes %u positional arguments, %u were given",
                   name, (unsigned)c->npositional, (unsigned)call->nargs);
    for (uint32_t i = 0; i < c->ninit; i++) {
        const struct vram_param_def *p = &b->program->params.at[c->init + i];
        struct vram_value v = {0};
        bool given = i < call->nargs;
        if (given)
            v = call->args[i];
        for (uint32_t k = 0; !given && k < call->nkw; k++)
            if (call->kw[k].name == p->name) {
                v = call->kw[k].value;
                used |= 1u << k;
                given = true;
            }
        if (!given && !p->fallback)
            vram_throw(&b->machine, VRAM_E_FORMAT, "%s needs '%s'", name,
                       vram_sym_text(b->cx->syms, p->name));
        if (!given)
            v = eval(b, f, p->fallback);
        vram_value_keep(&b->machine, v, 0);
        uint32_t at = vram_class_member(b->program, c, p->name);
        if (at == VRAM_NO_INDEX)
            vram_throw(&b->machine, VRAM_E_INTERNAL, "a constructor argument without a member");
        b->tree.members[members + at] = v;
    }
    for (uint32_t k = 0; k < call->nkw; k++)
        if (!(used & (1u << k)))
            vram_throw(&b->machine, VRAM_E_FORMAT, "%s takes no keyword '%s'", name,
                       vram_sym_text(b->cx->syms, call->kw[k].name));
}

static void declare(struct vram_builder *b, struct vram_frame *f, uint32_t members, bool nested)
{
    for (uint32_t i = 0; i < f->cls->nmembers; i++) {
        const struct vram_decl *d = &b->program->decls.at[f->cls->members[i]];
        bool is_child = d->kind == VRAM_DECL_CHILD || d->kind == VRAM_DECL_CHILDREN;
        uint32_t node = d->dims ? d->dims : d->count ? d->count : d->value;
        b->machine.at = node ? node - 1 : UINT32_MAX;
        if (d->kind == VRAM_DECL_METHOD || is_child != nested)
            continue;
        if (!holds(b, f, d->condition)) {
            b->tree.members[members + i] = (struct vram_value){0};
            continue;
        }
        if (d->kind == VRAM_DECL_ATTR) {
            attribute(b, f, d, &b->tree.members[members + i]);
        } else if (!is_child) {
            parameter(b, f, d, members + i);
        } else if (d->kind == VRAM_DECL_CHILDREN) {
            children(b, f, d, members + i);
        } else {
            struct vram_value v = {.kind = VRAM_V_MODULE};
            vram_sym name = d->place ? d->place : d->name, path = b->tree.scopes[f->scope].path;
            const char *text = vram_sym_text(b->cx->syms, name);
            bool here = d->place && !strcmp(text, "here");
            v.u.i = child(b, f, d, name, here ? path : join(b, path, text));
            b->tree.members[members + i] = v;
        }
    }
}

static uint32_t instance(struct vram_builder *b, uint32_t cls, uint32_t parent, vram_sym name,
                         vram_sym path, struct vram_config *config, vram_sym component,
                         struct vram_call *init)
{
    struct vram_machine *m = &b->machine;
    const struct vram_class *c = &b->program->classes.at[cls];
    if (++b->depth > VRAM_MAX_MODULE_DEPTH || b->tree.nscopes >= b->cx->limits->scopes)
        vram_throw(m, VRAM_E_LIMIT, "modules nest more than %d deep, or are too many",
                   VRAM_MAX_MODULE_DEPTH);
    b->tree.scopes = grow(b, b->tree.scopes, b->tree.nscopes, &b->cap_scopes, 1,
                          sizeof *b->tree.scopes);
    b->tree.members = grow(b, b->tree.members, b->tree.nmembers, &b->cap_members, c->nmembers,
                           sizeof *b->tree.members);
    uint32_t id = b->tree.nscopes++, members = b->tree.nmembers;
    if (c->nmembers)
        memset(b->tree.members + members, 0, c->nmembers * sizeof *b->tree.members);
    b->tree.nmembers += c->nmembers;
    b->tree.scopes[id] = (struct vram_scope){
        .name = name, .path = path, .parent = parent, .cls = cls,
        .component = c->component && id == 0 ? c->component : component,
        .members = members, .first_param = b->tree.nparams, .config = config};
    struct vram_frame f = {.scope = id, .cls = c};
    f.slots = vram_slots_take(m, c->build_slots);
    m->scope = id;
    if (id == 0 || config != b->tree.scopes[parent].config)
        check(b, vram_family_defaults(b, &f));
    bind_init(b, &f, init, members);
    declare(b, &f, members, false);
    declare(b, &f, members, true);
    vram_slots_give(m, f.slots, c->build_slots);
    b->tree.scopes[id].end = b->tree.nscopes;
    b->depth--;
    m->scope = parent;
    return id;
}

/* ---- the whole tree ----------------------------------------------------------------------- */

static void reset(struct vram_builder *b)
{
    struct vram_tree *t = &b->tree;
    t->nscopes = t->nparams = t->nmembers = t->nlists = t->nlist_scopes = 0;
    b->tags.n = b->overrides.n = 0;
    b->absent = b->depth = 0;
    b->absent_elements = 0;
    b->machine.top = b->machine.depth = 0;
    for (uint32_t i = 0; i < b->checkpoint->ntensors; i++)
        b->checkpoint->tensors[i].bound = false;
}

static int build_once(struct vram_builder *b, uint32_t cls)
{
    struct vram_call none = {.nargs = 0};
    int code = setjmp(b->machine.escape);
    if (code)
        return code;
    reset(b);
    instance(b, cls, 0, 0, 0, b->checkpoint->config, vram_machine_sym(&b->machine, "decoder"), &none);
    return VRAM_OK;
}

/* Every class that is instantiated says what it runs. */
static bool all_run(const struct vram_builder *b)
{
    for (uint32_t i = 0; i < b->tree.nscopes; i++)
        if (!b->program->classes.at[b->tree.scopes[i].cls].forward.body)
            return false;
    return true;
}

static int build_known(struct vram_builder *b, uint32_t cls)
{
    bool again = true;
    VRAM_TRY(vram_program_link(b->cx, b->program, b->linker, cls));
    for (int round = 0; again; round++) {
        size_t found = b->cx->findings ? b->cx->findings->n : 0;
        VRAM_TRY(build_once(b, cls));
        again = false;
        if (round < MAX_ROUNDS && b->overrides.n && b->cx->findings)
            b->cx->findings->n = found; /* what this round saw is seen again, or was its cause */
        if (round < MAX_ROUNDS)
            VRAM_TRY(vram_overrides_apply(b, &again));
    }
    VRAM_TRY(vram_ties_apply(b));
    VRAM_TRY(vram_bind_report(b));
    b->tree.known = true;
    b->tree.runs = all_run(b);
    return vram_tree_repeats(b->cx, &b->tree);
}

static enum vram_dtype stored_dtype(const struct vram_cx *cx, const struct vram_checkpoint *c)
{
    const struct vram_config *d = vram_config_get_text(cx, c->config, "dtype");
    enum vram_dtype dtype = VRAM_DT_NONE;
    if (d && d->type == VRAM_CONFIG_STRING) {
        const char *text = vram_sym_text(cx->syms, d->text);
        dtype = vram_dtype_by_torch(text, strlen(text));
    }
    for (uint32_t i = 0; i < c->ntensors && dtype == VRAM_DT_NONE; i++)
        if (vram_dtype_is_float((enum vram_dtype)c->tensors[i].dtype))
            dtype = (enum vram_dtype)c->tensors[i].dtype;
    return dtype == VRAM_DT_NONE ? VRAM_DT_F32 : dtype;
}

int vram_tree_build(struct vram_cx *cx, struct vram_program *program,
                    const struct vram_linker *linker, struct vram_checkpoint *checkpoint,
                    struct vram_tree *out)
{
    struct vram_builder *b = vram_arena_alloc(cx->arena, sizeof *b);
    if (!b)
        return vram_fail_memory(cx);
    b->cx = cx;
    b->program = program;
    b->linker = linker;
    b->checkpoint = checkpoint;
    VRAM_TRY(vram_machine_init(&b->machine, cx, program, &b->tree));
    b->machine.tag_config = vram_tag_config;
    b->machine.tag_product = vram_tag_product;
    b->machine.tags = b;
    VRAM_TRY(vram_family_rename(b));
    VRAM_TRY(vram_bind_index(b));
    b->tree.program = program;
    b->tree.syms = cx->syms;
    b->tree.dtype = stored_dtype(cx, checkpoint);
    uint32_t cls;
    if (checkpoint->onnx) { /* the graph says what runs; the tree is where its weights stand */
        VRAM_TRY(vram_tree_from_names(cx, checkpoint, out));
        out->dtype = b->tree.dtype;
        return VRAM_OK;
    }
    VRAM_TRY(vram_root_class(b, &cls));
    if (cls == VRAM_NO_INDEX)
        return vram_unknown_model(b, out);
    size_t found = cx->findings ? cx->findings->n : 0;
    int code = build_known(b, cls);
    if (code && cx->findings)
        cx->findings->n = found; /* of a tree that is not to be */
    if (code)
        return vram_unknown_part(b, code, out);
    *out = b->tree;
    return VRAM_OK;
}

void vram_tree_count(const struct vram_tree *tree, uint32_t scope, uint64_t *elements,
                     uint64_t *bytes)
{
    uint32_t end = tree->scopes[scope].end;
    *elements = *bytes = 0;
    for (uint32_t i = tree->scopes[scope].first_param; i < tree->nparams; i++) {
        const struct vram_param *p = &tree->params[i];
        if (p->scope < scope || p->scope >= end)
            break;
        if (p->buffer || p->tied_to != VRAM_NO_INDEX)
            continue;
        *elements += vram_param_whole(p);
        *bytes += p->bytes;
    }
}
