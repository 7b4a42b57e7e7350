/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions of the template language: module, function, family, and what a module declares.
 */
#include "text/template.h"

#include "base/vec.h"
#include "text/statement.h"

/* The frame in which declarations are evaluated: the loop variables of `children`. */
struct build_frame {
    vram_sym names[VRAM_MAX_LOCALS];
    uint32_t n;
};

static void use_frame(struct vram_parser *p, const struct build_frame *f)
{
    memcpy(p->locals, f->names, f->n * sizeof *f->names);
    p->nlocals = f->n;
}

static int clause_name(struct vram_parser *p, vram_sym *out)
{
    VRAM_TRY(vram_parse_next(p));
    return vram_parse_name(p, out);
}

static int condition(struct vram_parser *p, uint32_t *out)
{
    bool taken;
    VRAM_TRY(vram_parse_take_name(p, "if", &taken));
    if (taken) {
        VRAM_TRY(vram_parse_expr(p, out));
        ++*out;
    }
    return VRAM_OK;
}

static int attr_decl(struct vram_parser *p, struct vram_decl *d)
{
    bool taken;
    d->kind = VRAM_DECL_ATTR;
    VRAM_TRY(vram_parse_name(p, &d->name));
    VRAM_TRY(vram_parse_expect(p, "="));
    VRAM_TRY(vram_parse_expr(p, &d->value));
    d->value++;
    VRAM_TRY(vram_parse_take_name(p, "else", &taken));
    if (taken) {
        VRAM_TRY(vram_parse_expr(p, &d->fallback));
        d->fallback++;
    }
    return VRAM_OK;
}

/* param NAME[dims] [dtype] [decay | no_decay] [if condition] */
static int param_decl(struct vram_parser *p, struct vram_decl *d)
{
    VRAM_TRY(vram_parse_name(p, &d->name));
    VRAM_TRY(vram_parse_dims(p, &d->dims));
    d->dims++;
    for (;;) {
        if (p->lex.token == VRAM_T_NEWLINE || vram_parse_is_name(p, "if"))
            return condition(p, &d->condition);
        if (vram_parse_is_name(p, "decay") || vram_parse_is_name(p, "no_decay")) {
            d->decay_set = true;
            d->decay = vram_parse_is_name(p, "decay");
            VRAM_TRY(vram_parse_next(p));
        } else if (!d->dtype) {
            VRAM_TRY(vram_parse_operand(p, &d->dtype));
            d->dtype++;
        } else {
            return vram_lexer_fail(&p->lex, "expected 'decay', 'no_decay' or 'if'");
        }
    }
}

/* `as 0`: what a torch.nn.Sequential calls it; `as here`: it has its parent's path */
static int place(struct vram_parser *p, vram_sym *out)
{
    VRAM_TRY(vram_parse_next(p));
    if (p->lex.token != VRAM_T_INT && !vram_parse_is_name(p, "here"))
        return vram_lexer_fail(&p->lex, "expected a number or 'here'");
    VRAM_TRY(vram_parse_intern(p, out));
    return vram_parse_next(p);
}

/* NAME as 0: CLASS(args), NAME[count] as i: CLASS(args), then
 * [using CONFIG] [component NAME] [input_embedding] [if condition] */
static int child_decl(struct vram_parser *p, struct vram_decl *d, struct build_frame *frame)
{
    VRAM_TRY(vram_parse_name(p, &d->name));
    if (d->kind == VRAM_DECL_CHILD && vram_parse_is_name(p, "as"))
        VRAM_TRY(place(p, &d->place));
    if (d->kind == VRAM_DECL_CHILDREN) {
        vram_sym loop = 0;
        VRAM_TRY(vram_parse_expect(p, "["));
        VRAM_TRY(vram_parse_expr(p, &d->count));
        d->count++;
        VRAM_TRY(vram_parse_expect(p, "]"));
        if (vram_parse_is_name(p, "as")) {
            uint32_t slot;
            VRAM_TRY(clause_name(p, &loop));
            VRAM_TRY(vram_parse_add_local(p, loop, &slot));
            d->loop_slot = (uint16_t)(slot + 1);
            d->loop = loop;
            frame->names[slot] = loop;
            frame->n = p->nlocals;
        }
    }
    VRAM_TRY(vram_parse_expect(p, ":"));
    uint32_t line_number = p->lex.token_line;
    uint16_t column = p->lex.token_column;
    VRAM_TRY(vram_parse_operand(p, &d->value));
    if (p->program->nodes.at[d->value].kind != VRAM_N_CALL)
        return vram_lexer_fail_at(&p->lex, line_number, column, "expected CLASS(...) behind ':'");
    d->value++;
    for (;;) {
        if (vram_parse_is_name(p, "using")) {
            VRAM_TRY(vram_parse_next(p));
            VRAM_TRY(vram_parse_operand(p, &d->config));
            d->config++;
        } else if (vram_parse_is_name(p, "component")) {
            VRAM_TRY(clause_name(p, &d->component));
        } else if (vram_parse_is_name(p, "input_embedding")) {
            d->input_embedding = true;
            VRAM_TRY(vram_parse_next(p));
        } else {
            return condition(p, &d->condition);
        }
    }
}

/* a.b.weight as a list of names */
static int path(struct vram_parser *p, uint32_t *first, uint32_t *n)
{
    uint32_t items[32];
    bool more;
    *n = 0;
    do {
        if (*n == sizeof items / sizeof *items)
            return vram_lexer_fail(&p->lex, "the path is too long");
        VRAM_TRY(vram_parse_name(p, &items[(*n)++]));
        VRAM_TRY(vram_parse_take(p, ".", &more));
    } while (more);
    return vram_parse_list(p, items, *n, first);
}

static int tie_decl(struct vram_parser *p)
{
    struct vram_tie tie = {.line = p->lex.token_line};
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(path(p, &tie.left, &tie.nleft));
    VRAM_TRY(vram_parse_expect(p, "="));
    VRAM_TRY(path(p, &tie.right, &tie.nright));
    p->nlocals = 0; /* ties are looked at when all layers are there */
    VRAM_TRY(condition(p, &tie.condition));
    return vram_vec_push(&p->program->ties, p->cx->arena, tie) ? VRAM_OK : vram_fail_memory(p->cx);
}

static bool next_is_name(const struct vram_parser *p)
{
    size_t at = p->lex.at;
    while (at < p->lex.n && p->lex.text[at] == ' ')
        at++;
    char c = at < p->lex.n ? p->lex.text[at] : 0;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int function_def(struct vram_parser *p, uint32_t owner, uint32_t *out);

/* What stands in a user's files comes first and hides a built-in definition of the same name. */
static int define(struct vram_parser *p, vram_sym name, uint32_t code, uint32_t line)
{
    const struct vram_program *g = p->program;
    uint32_t cls = vram_program_class(g, name), f = vram_program_function(g, name);
    if (cls != VRAM_NO_INDEX && g->classes.at[cls].file >= g->own_files)
        return vram_parse_twice(p, name, line, g->classes.at[cls].file, g->classes.at[cls].line);
    if (f != VRAM_NO_INDEX && g->functions.at[f].file >= g->own_files)
        return vram_parse_twice(p, name, line, g->functions.at[f].file, g->functions.at[f].line);
    return vram_program_define(p->cx, p->program, name, code);
}

struct class_body {
    size_t n;
    bool init; /* the constructor has been declared */
    struct build_frame frame;
    struct vram_decl decls[VRAM_MAX_LIST];
};

/* init(a, b; c=1): the constructor; each parameter becomes an attribute */
static int init_decl(struct vram_parser *p, uint32_t cls, struct class_body *body)
{
    struct vram_callable init = {0};
    uint32_t line = p->lex.token_line;
    if (body->init)
        return vram_lexer_fail(&p->lex, "a second init");
    body->init = true;
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(vram_parse_signature(p, &init, false));
    if (init.rest)
        return vram_lexer_fail(&p->lex, "init takes no **");
    struct vram_class *c = &p->program->classes.at[cls];
    c->init = init.params;
    c->ninit = (uint32_t)init.npositional + init.nkeyword;
    c->npositional = init.npositional;
    for (uint32_t i = 0; i < c->ninit; i++) {
        if (body->n == VRAM_MAX_LIST)
            return vram_lexer_fail(&p->lex, "more than %d declarations", VRAM_MAX_LIST);
        body->decls[body->n++] =
            (struct vram_decl){.kind = VRAM_DECL_ATTR,
                               .init = true,
                               .line = line,
                               .name = p->program->params.at[init.params + i].name};
    }
    return vram_parse_end_line(p);
}

static int method(struct vram_parser *p, uint32_t cls, struct class_body *body)
{
    struct vram_decl d = {.kind = VRAM_DECL_METHOD, .line = p->lex.token_line};
    VRAM_TRY(function_def(p, cls, &d.function));
    d.name = p->program->functions.at[d.function].name;
    body->decls[body->n++] = d;
    return VRAM_OK;
}

/* One declaration; *done when the line begins the body instead. */
static int declaration(struct vram_parser *p, uint32_t cls, struct class_body *body, bool *done)
{
    struct vram_decl d = {.line = p->lex.token_line};
    *done = false;
    if (body->n == VRAM_MAX_LIST)
        return vram_lexer_fail(&p->lex, "more than %d declarations", VRAM_MAX_LIST);
    if (vram_parse_is_name(p, "function"))
        return method(p, cls, body);
    if (vram_parse_is_name(p, "init") && p->lex.at < p->lex.n && p->lex.text[p->lex.at] == '(')
        return init_decl(p, cls, body);
    use_frame(p, &body->frame);
    bool named = next_is_name(p);
    if (vram_parse_is_name(p, "attr") && named) {
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(attr_decl(p, &d));
    } else if ((vram_parse_is_name(p, "param") || vram_parse_is_name(p, "buffer")) && named) {
        d.kind = vram_parse_is_name(p, "param") ? VRAM_DECL_PARAM : VRAM_DECL_BUFFER;
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(param_decl(p, &d));
    } else if ((vram_parse_is_name(p, "child") || vram_parse_is_name(p, "children")) && named) {
        d.kind = vram_parse_is_name(p, "child") ? VRAM_DECL_CHILD : VRAM_DECL_CHILDREN;
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(child_decl(p, &d, &body->frame));
    } else if (vram_parse_is_name(p, "tie") && named) {
        VRAM_TRY(tie_decl(p));
        p->program->classes.at[cls].nties++;
        return vram_parse_end_line(p);
    } else {
        *done = true;
        return VRAM_OK;
    }
    body->decls[body->n++] = d;
    return vram_parse_end_line(p);
}

/* (params) extends NAME component NAME checkpointed */
static int class_head(struct vram_parser *p, struct vram_class *cls)
{
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(vram_parse_name(p, &cls->name));
    if (vram_parse_is(p, "(")) {
        cls->has_signature = true;
        VRAM_TRY(vram_parse_signature(p, &cls->forward, true));
    }
    for (;;) {
        if (vram_parse_is_name(p, "extends")) {
            VRAM_TRY(clause_name(p, &cls->extends));
        } else if (vram_parse_is_name(p, "component")) {
            VRAM_TRY(clause_name(p, &cls->component));
        } else if (vram_parse_is_name(p, "checkpointed")) {
            cls->checkpointed = true;
            VRAM_TRY(vram_parse_next(p));
        } else {
            break;
        }
    }
    return VRAM_OK;
}

static int class_def(struct vram_parser *p)
{
    struct vram_program *g = p->program;
    struct vram_class cls = {.file = p->file, .line = p->lex.token_line, .base = VRAM_NO_INDEX};
    struct build_frame locals;
    bool done = false;
    VRAM_TRY(class_head(p, &cls));
    locals.n = cls.has_signature ? p->nlocals : 0;
    memcpy(locals.names, p->locals, locals.n * sizeof *p->locals);
    cls.ties = (uint32_t)g->ties.n;
    uint32_t index = (uint32_t)g->classes.n;
    if (!vram_vec_push(&g->classes, p->cx->arena, cls))
        return vram_fail_memory(p->cx);
    struct class_body *body = g->scratch;
    if (!body)
        body = g->scratch = vram_arena_alloc(p->cx->arena, sizeof *body);
    if (!body)
        return vram_fail_memory(p->cx);
    body->n = 0;
    body->frame.n = 0;
    body->init = false;

    VRAM_TRY(vram_parse_expect(p, ":"));
    VRAM_TRY(vram_parse_end_line(p));
    if (p->lex.token != VRAM_T_INDENT)
        return vram_lexer_fail(&p->lex, "expected what the module declares or runs, indented");
    VRAM_TRY(vram_parse_next(p));
    while (!done && p->lex.token != VRAM_T_DEDENT && p->lex.token != VRAM_T_END)
        VRAM_TRY(declaration(p, index, body, &done));

    struct vram_class *c = &g->classes.at[index];
    c->build_slots = body->frame.n;
    if (done && !c->has_signature)
        return vram_lexer_fail(&p->lex,
                               "a module with a body names its parameters: module X(a, b):");
    if (done) {
        uint32_t block;
        use_frame(p, &locals);
        VRAM_TRY(vram_parse_statements(p, &block));
        c = &g->classes.at[index];
        c->forward.body = block + 1;
        c->forward.nslots = (uint16_t)p->nlocals;
    }
    if (p->lex.token == VRAM_T_DEDENT)
        VRAM_TRY(vram_parse_next(p));
    c->decls = (uint32_t)g->decls.n;
    c->ndecls = (uint32_t)body->n;
    if (!vram_vec_room(&g->decls, p->cx->arena, body->n))
        return vram_fail_memory(p->cx);
    if (body->n)
        memcpy(g->decls.at + g->decls.n, body->decls, body->n * sizeof *body->decls);
    g->decls.n += body->n;
    return define(p, c->name, index, c->line);
}

static int function_def(struct vram_parser *p, uint32_t owner, uint32_t *out)
{
    struct vram_program *g = p->program;
    struct vram_function f = {.file = p->file, .line = p->lex.token_line, .owner = owner};
    uint32_t block;
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(vram_parse_name(p, &f.name));
    VRAM_TRY(vram_parse_signature(p, &f.callable, true));
    VRAM_TRY(vram_parse_block(p, &block));
    f.callable.body = block + 1;
    f.callable.nslots = (uint16_t)p->nlocals;
    *out = (uint32_t)g->functions.n;
    return vram_vec_push(&g->functions, p->cx->arena, f) ? VRAM_OK : vram_fail_memory(p->cx);
}

static int definition(struct vram_parser *p)
{
    uint32_t f;
    p->nesting = 0;
    if (vram_parse_is_name(p, "module"))
        return class_def(p);
    if (vram_parse_is_name(p, "family"))
        return vram_parse_family(p);
    if (vram_parse_is_name(p, "stack")) { /* the stack version the file describes: for readers */
        VRAM_TRY(vram_parse_next(p));
        if (p->lex.token != VRAM_T_STRING)
            return vram_lexer_fail(&p->lex, "expected a string behind 'stack'");
        VRAM_TRY(vram_parse_next(p));
        return vram_parse_end_line(p);
    }
    if (!vram_parse_is_name(p, "function"))
        return vram_lexer_fail(&p->lex, "expected 'module', 'function', 'family' or 'stack'");
    VRAM_TRY(function_def(p, VRAM_NO_INDEX, &f));
    return define(p, p->program->functions.at[f].name, f | VRAM_CODE_FUNCTION,
                  p->program->functions.at[f].line);
}

static int parse(struct vram_parser *p, const char *text, size_t n)
{
    if (n > p->cx->limits->template_bytes)
        return vram_fail(p->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET,
                         "%llu bytes; a template file may have %llu", (unsigned long long)n,
                         (unsigned long long)p->cx->limits->template_bytes);
    VRAM_TRY(vram_lexer_start(&p->lex, p->cx, text, n));
    while (p->lex.token != VRAM_T_END)
        VRAM_TRY(definition(p));
    return VRAM_OK;
}

int vram_template_parse(struct vram_cx *cx, struct vram_program *program, const char *name,
                        const char *text, size_t n)
{
    struct vram_parser p = {.cx = cx, .program = program, .file = (uint16_t)program->files.n};
    const char *kept = vram_arena_strndup(cx->arena, name, strlen(name));
    /* about as many as the text makes, so that none is copied when more are needed */
    size_t known = n < cx->limits->template_bytes ? n : 0;
    if (!vram_vec_room(&program->nodes, cx->arena, known / 7) ||
        !vram_vec_room(&program->lists, cx->arena, known / 16))
        return vram_fail_memory(cx);
    if (!kept || !vram_vec_push(&program->first_nodes, cx->arena, (uint32_t)program->nodes.n) ||
        !vram_vec_push(&program->files, cx->arena, kept))
        return vram_fail_memory(cx);
    int code = program->files.n < UINT16_MAX
                   ? parse(&p, text, n)
                   : vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "too many template files");
    if (code)
        vram_where(cx, "%s", name);
    return code;
}
