/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions by name and the linker: names become members, functions, classes or ops; a class gets
 * the members of what it extends.  See program.h.
 */
#include "ir/program.h"

#include <string.h>

#include "base/vec.h"

uint32_t vram_program_class(const struct vram_program *program, vram_sym name)
{
    uint32_t code = name < program->by_name.n ? program->by_name.at[name] : 0;
    return code && !(code & VRAM_CODE_FUNCTION) ? code - 1 : VRAM_NO_INDEX;
}

uint32_t vram_program_function(const struct vram_program *program, vram_sym name)
{
    uint32_t code = name < program->by_name.n ? program->by_name.at[name] : 0;
    return code & VRAM_CODE_FUNCTION ? (code & ~VRAM_CODE_FUNCTION) - 1 : VRAM_NO_INDEX;
}

const struct vram_family *vram_program_family(const struct vram_program *program,
                                              vram_sym model_type)
{
    uint32_t i = model_type < program->family_by_type.n ? program->family_by_type.at[model_type] : 0;
    return i ? &program->families.at[i - 1] : NULL;
}

int vram_program_add_family(struct vram_cx *cx, struct vram_program *program,
                            const struct vram_family *family)
{
    vram_sym type = family->model_type;
    if (!vram_vec_push(&program->families, cx->arena, *family))
        return vram_fail_memory(cx);
    if (program->family_by_type.n <= type) {
        size_t more = (size_t)type + 1 - program->family_by_type.n;
        if (!vram_vec_room(&program->family_by_type, cx->arena, more))
            return vram_fail_memory(cx);
        memset(program->family_by_type.at + program->family_by_type.n, 0,
               more * sizeof *program->family_by_type.at);
        program->family_by_type.n = (size_t)type + 1;
    }
    if (!program->family_by_type.at[type])
        program->family_by_type.at[type] = (uint32_t)program->families.n;
    return VRAM_OK;
}

const char *vram_program_file(const struct vram_program *program, uint32_t node)
{
    for (size_t i = program->files.n; node < program->nodes.n && i-- > 0;)
        if (program->first_nodes.at[i] <= node)
            return program->files.at[i];
    return "";
}

int vram_program_define(struct vram_cx *cx, struct vram_program *program, vram_sym name,
                        uint32_t code)
{
    if (program->by_name.n <= name) {
        size_t more = (size_t)name + 1 - program->by_name.n;
        if (!vram_vec_room(&program->by_name, cx->arena, more))
            return vram_fail_memory(cx);
        memset(program->by_name.at + program->by_name.n, 0, more * sizeof *program->by_name.at);
        program->by_name.n = (size_t)name + 1;
    }
    if (!program->by_name.at[name])
        program->by_name.at[name] = code + 1;
    return VRAM_OK;
}

uint32_t vram_class_member(const struct vram_program *program, const struct vram_class *cls,
                           vram_sym name)
{
    for (uint32_t i = 0; i < cls->nmembers; i++)
        if (program->decls.at[cls->members[i]].name == name)
            return i;
    return VRAM_NO_INDEX;
}

/* ---- linking ------------------------------------------------------------------------------ */

enum { MAX_EXTENDS = 40 };

struct link {
    struct vram_cx *cx;
    struct vram_program *program;
    const struct vram_linker *linker;
    uint32_t cls;  /* class whose members are visible; VRAM_NO_INDEX in free functions */
    uint16_t file; /* for errors */
    int extends;   /* classes that are being linked, each because of the one before */
    /* functions whose bodies are still to be linked */
    VRAM_VEC(uint32_t) functions;
    bool *seen_function;
    size_t seen_cap;
};

static int fail_at(struct link *l, const struct vram_node *n, const char *what, vram_sym name)
{
    int code = vram_fail(l->cx, VRAM_E_FORMAT, VRAM_NO_OFFSET, "line %u, column %u: %s '%s'",
                         (unsigned)n->line, (unsigned)n->column, what,
                         vram_sym_text(l->cx->syms, name));
    vram_where(l->cx, "%s", l->program->files.at[l->file]);
    return code;
}

static int link_node(struct link *l, uint32_t node);

static int link_list(struct link *l, uint32_t first, uint32_t n, uint32_t step)
{
    for (uint32_t i = 0; i < n; i += step)
        VRAM_TRY(link_node(l, l->program->lists.at[first + i + step - 1]));
    return VRAM_OK;
}

static int note_function(struct link *l, uint32_t f)
{
    if (f >= l->seen_cap) {
        size_t cap = l->program->functions.n * 2 + 64;
        bool *seen = vram_arena_array(l->cx->arena, cap, sizeof *seen);
        if (!seen)
            return vram_fail_memory(l->cx);
        if (l->seen_cap)
            memcpy(seen, l->seen_function, l->seen_cap * sizeof *seen);
        l->seen_function = seen;
        l->seen_cap = cap;
    }
    if (l->seen_function[f])
        return VRAM_OK;
    l->seen_function[f] = true;
    return vram_vec_push(&l->functions, l->cx->arena, f) ? VRAM_OK : vram_fail_memory(l->cx);
}

static int link_name(struct link *l, uint32_t node)
{
    struct vram_program *g = l->program;
    vram_sym name = g->nodes.at[node].a;
    const char *text = vram_sym_text(l->cx->syms, name);
    uint8_t kind = VRAM_N_NAME;
    uint32_t index = VRAM_NO_INDEX;
    if (l->cls != VRAM_NO_INDEX) {
        index = vram_class_member(g, &g->classes.at[l->cls], name);
        kind = VRAM_N_MEMBER;
    }
    if (index == VRAM_NO_INDEX) {
        index = l->linker->op ? l->linker->op(text) : VRAM_NO_INDEX;
        kind = VRAM_N_OP;
    }
    if (index == VRAM_NO_INDEX && !strcmp(text, "auto")) {
        kind = VRAM_N_CLASS; /* the class that the config names */
    } else if (index == VRAM_NO_INDEX) {
        uint32_t code = name < g->by_name.n ? g->by_name.at[name] : 0;
        if (!code && l->linker->require) {
            int r = l->linker->require(l->linker->ctx, l->cx, g, name);
            if (r && r != VRAM_E_NOTFOUND)
                return r;
            code = name < g->by_name.n ? g->by_name.at[name] : 0;
        }
        if (!code)
            return fail_at(l, &g->nodes.at[node], "nothing is called", name);
        index = vram_program_function(g, name);
        kind = VRAM_N_FUNC;
        if (index == VRAM_NO_INDEX) {
            index = vram_program_class(g, name);
            kind = VRAM_N_CLASS;
        } else {
            VRAM_TRY(note_function(l, index));
        }
    }
    g->nodes.at[node].kind = kind;
    g->nodes.at[node].a = index;
    return VRAM_OK;
}

static int link_node(struct link *l, uint32_t node)
{
    struct vram_node n = l->program->nodes.at[node];
    switch ((enum vram_node_kind)n.kind) {
    case VRAM_N_NAME:
        return link_name(l, node);
    case VRAM_N_FIELD:
    case VRAM_N_NOT:
    case VRAM_N_NEGATE:
    case VRAM_S_EXPR:
    case VRAM_S_RETURN:
        return link_node(l, n.a);
    case VRAM_N_INDEX:
    case VRAM_N_BINARY:
    case VRAM_N_AND:
    case VRAM_N_OR:
    case VRAM_S_ASSIGN:
    case VRAM_S_AUTOCAST:
        VRAM_TRY(link_node(l, n.a));
        return link_node(l, n.b);
    case VRAM_N_CHOICE:
    case VRAM_S_FOR:
        VRAM_TRY(link_node(l, n.a));
        VRAM_TRY(link_node(l, n.b));
        return link_node(l, n.c);
    case VRAM_S_IF:
        VRAM_TRY(link_node(l, n.a));
        VRAM_TRY(link_node(l, n.b));
        return n.c ? link_node(l, n.c - 1) : VRAM_OK;
    case VRAM_S_NOGRAD:
        return link_node(l, n.b);
    case VRAM_N_TUPLE:
    case VRAM_N_LIST:
    case VRAM_S_BLOCK:
        return link_list(l, n.a, n.b, 1);
    case VRAM_N_RECORD:
        return link_list(l, n.a, n.b * 2, 2);
    case VRAM_N_CALL:
        VRAM_TRY(link_node(l, n.a));
        VRAM_TRY(link_list(l, n.b, n.c, 1));
        return link_list(l, n.b + n.c, (uint32_t)n.nkw * 2, 2);
    default:
        return VRAM_OK;
    }
}

static int link_defaults(struct link *l, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (l->program->params.at[first + i].fallback)
            VRAM_TRY(link_node(l, l->program->params.at[first + i].fallback - 1));
    return VRAM_OK;
}

static int link_callable(struct link *l, const struct vram_callable *c)
{
    VRAM_TRY(link_defaults(l, c->params, (uint32_t)c->npositional + c->nkeyword));
    return c->body ? link_node(l, c->body - 1) : VRAM_OK;
}

static int link_decl(struct link *l, const struct vram_decl *d)
{
    const uint32_t nodes[] = {d->value, d->fallback, d->dims, d->dtype,
                              d->count, d->config,   d->condition};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        if (nodes[i])
            VRAM_TRY(link_node(l, nodes[i] - 1));
    return VRAM_OK;
}

static int link_class(struct link *l, uint32_t cls);

/* The class a definition extends, linked; its members come first, so indices stay valid. */
static int inherit(struct link *l, uint32_t cls)
{
    struct vram_program *g = l->program;
    struct vram_class *c = &g->classes.at[cls];
    if (!c->extends)
        return VRAM_OK;
    uint32_t base = vram_program_class(g, c->extends);
    if (base == VRAM_NO_INDEX && l->linker->require) {
        int r = l->linker->require(l->linker->ctx, l->cx, g, c->extends);
        if (r && r != VRAM_E_NOTFOUND)
            return r;
        base = vram_program_class(g, g->classes.at[cls].extends);
    }
    struct vram_node at = {.line = g->classes.at[cls].line, .column = 1};
    if (base == VRAM_NO_INDEX)
        return fail_at(l, &at, "no module is called", g->classes.at[cls].extends);
    VRAM_TRY(link_class(l, base));
    g->classes.at[cls].base = base;
    return VRAM_OK;
}

static int collect_members(struct link *l, uint32_t cls)
{
    struct vram_program *g = l->program;
    struct vram_class *c = &g->classes.at[cls];
    const struct vram_class *base = c->base != VRAM_NO_INDEX ? &g->classes.at[c->base] : NULL;
    uint32_t nbase = base ? base->nmembers : 0;
    c->members = vram_arena_array(l->cx->arena, (size_t)nbase + c->ndecls, sizeof *c->members);
    if (!c->members)
        return vram_fail_memory(l->cx);
    if (nbase)
        memcpy(c->members, base->members, nbase * sizeof *c->members);
    c->nmembers = nbase;
    for (uint32_t i = 0; i < c->ndecls; i++) {
        const struct vram_decl *d = &g->decls.at[c->decls + i];
        uint32_t old = vram_class_member(g, c, d->name);
        if (old != VRAM_NO_INDEX && old >= nbase && g->decls.at[c->members[old]].init &&
            d->kind == VRAM_DECL_PARAM) {
            /* a parameter with the name of the constructor argument that asks for it: it is
             * registered here, not there */
            memmove(c->members + old, c->members + old + 1,
                    (--c->nmembers - old) * sizeof *c->members);
            old = VRAM_NO_INDEX;
        }
        if (old == VRAM_NO_INDEX)
            c->members[c->nmembers++] = c->decls + i;
        else if (old < nbase)
            c->members[old] = c->decls + i;
        else {
            struct vram_node at = {.line = g->decls.at[c->decls + i].line, .column = 1};
            return fail_at(l, &at, "a second member is called", g->decls.at[c->decls + i].name);
        }
    }
    if (!base)
        return VRAM_OK;
    if (!c->has_signature) {
        struct vram_callable own = c->forward;
        c->forward = base->forward;
        if (own.body)
            c->forward.body = own.body;
    } else if (!c->forward.body) {
        struct vram_node at = {.line = c->line, .column = 1};
        return fail_at(l, &at, "parameters without a body, in a module that extends another:",
                       c->name);
    }
    if (!c->ninit) {
        c->init = base->init;
        c->ninit = base->ninit;
        c->npositional = base->npositional;
    }
    c->checkpointed = c->checkpointed || base->checkpointed;
    if (!c->component)
        c->component = base->component;
    if (c->build_slots < base->build_slots)
        c->build_slots = base->build_slots;
    return VRAM_OK;
}

static int link_class(struct link *l, uint32_t cls)
{
    struct vram_program *g = l->program;
    if (g->classes.at[cls].linked)
        return VRAM_OK;
    uint32_t outer_cls = l->cls;
    uint16_t outer_file = l->file;
    struct vram_node at = {.line = g->classes.at[cls].line, .column = 1};
    l->file = g->classes.at[cls].file;
    if (g->classes.at[cls].linking)
        return fail_at(l, &at, "a module extends itself:", g->classes.at[cls].name);
    if (l->extends == MAX_EXTENDS)
        return fail_at(l, &at, "too many modules extend one another, up to",
                       g->classes.at[cls].name);
    g->classes.at[cls].linking = true;
    l->extends++;
    VRAM_TRY(inherit(l, cls));
    l->extends--;
    VRAM_TRY(collect_members(l, cls));
    g->classes.at[cls].linked = true;
    l->cls = cls;
    l->file = g->classes.at[cls].file;
    struct vram_class c = g->classes.at[cls];
    for (uint32_t i = 0; i < c.ndecls; i++) {
        struct vram_decl d = g->decls.at[c.decls + i];
        VRAM_TRY(link_decl(l, &d));
        if (d.kind == VRAM_DECL_METHOD)
            VRAM_TRY(link_callable(l, &g->functions.at[d.function].callable));
    }
    for (uint32_t i = 0; i < c.nties; i++)
        if (g->ties.at[c.ties + i].condition)
            VRAM_TRY(link_node(l, g->ties.at[c.ties + i].condition - 1));
    VRAM_TRY(link_defaults(l, c.init, c.ninit));
    VRAM_TRY(link_callable(l, &c.forward));
    l->cls = outer_cls;
    l->file = outer_file;
    return VRAM_OK;
}

/* A name of the user's that is an operation's would never be looked at. */
static int check_names(struct link *l)
{
    const struct vram_program *g = l->program;
    for (size_t i = 0; i < g->functions.n && g->functions.at[i].file < g->own_files; i++) {
        const struct vram_function *f = &g->functions.at[i];
        struct vram_node at = {.line = f->line, .column = 1};
        l->file = f->file;
        if (f->owner == VRAM_NO_INDEX && l->linker->op &&
            l->linker->op(vram_sym_text(l->cx->syms, f->name)) != VRAM_NO_INDEX)
            return fail_at(l, &at, "there is an operation called", f->name);
    }
    for (size_t i = 0; i < g->classes.n && g->classes.at[i].file < g->own_files; i++) {
        struct vram_node at = {.line = g->classes.at[i].line, .column = 1};
        l->file = g->classes.at[i].file;
        if (l->linker->op &&
            l->linker->op(vram_sym_text(l->cx->syms, g->classes.at[i].name)) != VRAM_NO_INDEX)
            return fail_at(l, &at, "there is an operation called", g->classes.at[i].name);
    }
    return VRAM_OK;
}

/* The bodies of all functions that were named. */
static int link_functions(struct link *l)
{
    for (size_t i = 0; i < l->functions.n; i++) {
        const struct vram_function *f = &l->program->functions.at[l->functions.at[i]];
        l->file = f->file;
        l->cls = VRAM_NO_INDEX;
        struct vram_callable callable = f->callable;
        VRAM_TRY(link_callable(l, &callable));
    }
    return VRAM_OK;
}

int vram_program_link_family(struct vram_cx *cx, struct vram_program *program,
                             const struct vram_linker *linker, const struct vram_family *family)
{
    struct link l = {.cx = cx, .program = program, .linker = linker, .cls = VRAM_NO_INDEX,
                     .file = family->file};
    uint32_t first = family->defaults, n = family->ndefaults;
    size_t index = (size_t)(family - program->families.at);
    if (family->linked)
        return VRAM_OK;
    program->families.at[index].linked = true;
    for (uint32_t i = 0; i < n; i++)
        VRAM_TRY(link_node(&l, program->defaults.at[first + i].value));
    return link_functions(&l);
}

int vram_program_link(struct vram_cx *cx, struct vram_program *program,
                      const struct vram_linker *linker, uint32_t cls)
{
    struct link l = {.cx = cx, .program = program, .linker = linker, .cls = VRAM_NO_INDEX};
    if (program->classes.at[cls].linked)
        return VRAM_OK;
    if (program->own_files && !program->checked) {
        VRAM_TRY(check_names(&l));
        program->checked = true;
    }
    VRAM_TRY(link_class(&l, cls));
    return link_functions(&l);
}
