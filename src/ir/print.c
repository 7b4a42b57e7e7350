/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints a program in the template language: definitions file by file in the order of their lines,
 * each on as many lines as the parser wants.  What comes out parses into the same program; comments
 * and the line numbers do not survive.  Names of locals are printed when their nodes remember them,
 * else as _0, _1 ... by slot.
 */
#include "ir/print.h"

#include <string.h>

static void puts_of(struct vram_printer *p, const char *text) { vram_text_puts(p->out, text); }

static const char *name_of(const struct vram_printer *p, vram_sym sym)
{
    return vram_sym_text(p->syms, sym);
}

static void put_sym(struct vram_printer *p, vram_sym sym) { puts_of(p, name_of(p, sym)); }

static void line(struct vram_printer *p)
{
    puts_of(p, "\n");
    for (unsigned i = 0; i < p->depth; i++)
        puts_of(p, "  ");
}

/* ---- statements --------------------------------------------------------------------------- */

static void statement(struct vram_printer *p, const struct vram_node *n);

static void statements(struct vram_printer *p, uint32_t block)
{
    const struct vram_node *n = &p->g->nodes.at[block];
    for (uint32_t i = 0; i < n->b; i++) {
        line(p);
        statement(p, &p->g->nodes.at[p->g->lists.at[n->a + i]]);
    }
}

static void indented(struct vram_printer *p, uint32_t block)
{
    puts_of(p, ":");
    p->depth++;
    statements(p, block);
    p->depth--;
}

static void conditional(struct vram_printer *p, const struct vram_node *n)
{
    puts_of(p, "if ");
    vram_print_expression(p, n->a, VRAM_LEVEL_CHOICE);
    indented(p, n->b);
    if (!n->c)
        return;
    const struct vram_node *other = &p->g->nodes.at[n->c - 1];
    line(p);
    puts_of(p, other->kind == VRAM_S_IF ? "el" : "else");
    if (other->kind == VRAM_S_IF)
        conditional(p, other);
    else
        indented(p, n->c - 1);
}

static void del(struct vram_printer *p, const struct vram_node *block)
{
    puts_of(p, "del ");
    for (uint32_t i = 0; i < block->b; i++) {
        const struct vram_node *n = &p->g->nodes.at[p->g->lists.at[block->a + i]];
        puts_of(p, i ? ", " : "");
        vram_print_slot(p, n->a, n->b);
    }
}

static void with(struct vram_printer *p, const struct vram_node *n)
{
    puts_of(p, n->kind == VRAM_S_NOGRAD ? "with no_grad" : "with autocast(");
    if (n->kind == VRAM_S_AUTOCAST) {
        if (p->g->nodes.at[n->a].kind == VRAM_N_NONE)
            puts_of(p, "off");
        else
            vram_print_expression(p, n->a, VRAM_LEVEL_CHOICE);
        puts_of(p, ")");
    }
    indented(p, n->b);
}

static void statement(struct vram_printer *p, const struct vram_node *n)
{
    switch ((enum vram_node_kind)n->kind) {
    case VRAM_S_ASSIGN:
        vram_print_expressions(p, n->a);
        puts_of(p, " = ");
        vram_print_expressions(p, n->b);
        break;
    case VRAM_S_RETURN:
        puts_of(p, p->g->nodes.at[n->a].kind == VRAM_N_NONE ? "return" : "return ");
        if (p->g->nodes.at[n->a].kind != VRAM_N_NONE)
            vram_print_expressions(p, n->a);
        break;
    case VRAM_S_IF:
        conditional(p, n);
        break;
    case VRAM_S_FOR:
        puts_of(p, "for ");
        vram_print_expressions(p, n->a);
        puts_of(p, " in ");
        vram_print_expression(p, n->b, VRAM_LEVEL_CHOICE);
        indented(p, n->c);
        break;
    case VRAM_S_AUTOCAST:
    case VRAM_S_NOGRAD:
        with(p, n);
        break;
    case VRAM_S_PHASE:
        vram_text_printf(p->out, "phase(%s)", name_of(p, n->a));
        break;
    case VRAM_S_BLOCK: /* inside a block only del makes one */
        del(p, n);
        break;
    default:
        vram_print_expressions(p, n->a);
    }
}

/* ---- definitions -------------------------------------------------------------------------- */

static void parameters(struct vram_printer *p, uint32_t first, uint32_t npositional,
                       uint32_t nkeyword, bool rest)
{
    uint32_t n = npositional + nkeyword;
    puts_of(p, "(");
    for (uint32_t i = 0; i < n + rest; i++) {
        const struct vram_param_def *d = &p->g->params.at[first + i];
        puts_of(p, i == 0 ? "" : i == npositional && nkeyword ? "; " : ", ");
        puts_of(p, i == n ? "**" : "");
        put_sym(p, d->name);
        if (d->fallback) {
            puts_of(p, "=");
            vram_print_expression(p, d->fallback - 1, VRAM_LEVEL_CHOICE);
        }
    }
    puts_of(p, ")");
}

static void signature(struct vram_printer *p, const struct vram_callable *c)
{
    p->frame = c;
    parameters(p, c->params, c->npositional, c->nkeyword, c->rest);
}

static void function(struct vram_printer *p, const struct vram_function *f)
{
    puts_of(p, "function ");
    put_sym(p, f->name);
    signature(p, &f->callable);
    indented(p, f->callable.body - 1);
    p->frame = NULL;
}

static void clause(struct vram_printer *p, const char *word, uint32_t node, enum vram_level least)
{
    if (!node)
        return;
    puts_of(p, word);
    vram_print_expression(p, node - 1, least);
}

static void child(struct vram_printer *p, const struct vram_decl *d)
{
    puts_of(p, d->kind == VRAM_DECL_CHILD ? "child " : "children ");
    put_sym(p, d->name);
    if (d->kind == VRAM_DECL_CHILDREN) {
        puts_of(p, "[");
        vram_print_expression(p, d->count - 1, VRAM_LEVEL_CHOICE);
        puts_of(p, "]");
    }
    if (d->place)
        vram_text_printf(p->out, " as %s", name_of(p, d->place));
    if (d->loop_slot) {
        puts_of(p, " as ");
        vram_print_slot(p, (uint32_t)d->loop_slot - 1, d->loop);
    }
    clause(p, ": ", d->value, VRAM_LEVEL_OR);
    clause(p, " using ", d->config, VRAM_LEVEL_OR);
    if (d->component)
        vram_text_printf(p->out, " component %s", name_of(p, d->component));
    puts_of(p, d->input_embedding ? " input_embedding" : "");
    clause(p, " if ", d->condition, VRAM_LEVEL_CHOICE);
}

static void declaration(struct vram_printer *p, const struct vram_decl *d)
{
    switch ((enum vram_decl_kind)d->kind) {
    case VRAM_DECL_ATTR:
        vram_text_printf(p->out, "attr %s", name_of(p, d->name));
        clause(p, " = ", d->value, VRAM_LEVEL_CHOICE);
        clause(p, " else ", d->fallback, VRAM_LEVEL_CHOICE);
        break;
    case VRAM_DECL_PARAM:
    case VRAM_DECL_BUFFER:
        vram_text_printf(p->out, "%s %s", d->kind == VRAM_DECL_PARAM ? "param" : "buffer",
                         name_of(p, d->name));
        clause(p, "", d->dims, VRAM_LEVEL_CHOICE);
        clause(p, " ", d->dtype, VRAM_LEVEL_OR);
        puts_of(p, !d->decay_set ? "" : d->decay ? " decay" : " no_decay");
        clause(p, " if ", d->condition, VRAM_LEVEL_CHOICE);
        break;
    case VRAM_DECL_METHOD:
        function(p, &p->g->functions.at[d->function]);
        break;
    default:
        child(p, d);
    }
}

static void path(struct vram_printer *p, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        puts_of(p, i ? "." : "");
        put_sym(p, p->g->lists.at[first + i]);
    }
}

static void tie(struct vram_printer *p, const struct vram_tie *t)
{
    puts_of(p, "tie ");
    path(p, t->left, t->nleft);
    puts_of(p, " = ");
    path(p, t->right, t->nright);
    clause(p, " if ", t->condition, VRAM_LEVEL_CHOICE);
}

/* Linking copies what is inherited into the class: only what the class says itself is printed. */
static void head(struct vram_printer *p, const struct vram_class *c)
{
    const struct vram_class *base = c->base == VRAM_NO_INDEX ? NULL : &p->g->classes.at[c->base];
    puts_of(p, "module ");
    put_sym(p, c->name);
    if (c->has_signature)
        signature(p, &c->forward);
    p->frame = NULL;
    if (c->extends)
        vram_text_printf(p->out, " extends %s", name_of(p, c->extends));
    if (c->component && (!base || base->component != c->component))
        vram_text_printf(p->out, " component %s", name_of(p, c->component));
    puts_of(p, c->checkpointed && !(base && base->checkpointed) ? " checkpointed:" : ":");
}

static void module(struct vram_printer *p, const struct vram_class *c)
{
    const struct vram_decl *d = c->ndecls ? p->g->decls.at + c->decls : NULL;
    const struct vram_decl *end = d ? d + c->ndecls : NULL;
    const struct vram_tie *t = c->nties ? p->g->ties.at + c->ties : NULL;
    const struct vram_tie *ties_end = t ? t + c->nties : NULL;
    bool body = c->has_signature && c->forward.body, any = body || d < end || t < ties_end;
    p->cls = c;
    head(p, c);
    p->depth++;
    while (d < end || t < ties_end) {
        line(p);
        if (t < ties_end && (d == end || t->line < d->line)) {
            tie(p, t++);
        } else if (d->init) { /* one `init(...)` made a row of attributes */
            uint32_t n = 0;
            while (d + n < end && d[n].init)
                n++;
            puts_of(p, "init");
            parameters(p, c->init, c->npositional, n - c->npositional, false);
            d += n;
        } else {
            declaration(p, d++);
        }
    }
    p->frame = &c->forward;
    if (body)
        statements(p, c->forward.body - 1);
    p->frame = NULL;
    if (!any) { /* a module says something, at least that it is made without arguments */
        line(p);
        puts_of(p, "init()");
    }
    p->depth--;
    p->cls = NULL;
}

static void family(struct vram_printer *p, const struct vram_family *f)
{
    const char *type = name_of(p, f->model_type), *quote = f->quoted ? "\"" : "";
    vram_text_printf(p->out, "family %s%s%s: %s", quote, type, quote, name_of(p, f->base));
    if (f->causal)
        vram_text_printf(p->out, ", %s", name_of(p, f->causal));
    p->depth++;
    for (uint32_t i = 0; i < f->ndefaults; i++) {
        const struct vram_default *d = &p->g->defaults.at[f->defaults + i];
        line(p);
        vram_text_printf(p->out, "default %s = ", name_of(p, d->key));
        vram_print_expression(p, d->value, VRAM_LEVEL_CHOICE);
    }
    for (uint32_t i = 0; i < f->nrenamings; i++) {
        const struct vram_renaming *r = &p->g->renamings.at[f->renamings + i];
        line(p);
        vram_text_printf(p->out, "rename \"%s\" to \"%s\"", name_of(p, r->from),
                         name_of(p, r->to));
    }
    for (uint32_t i = 0; i < f->nparallels; i++) {
        const struct vram_parallel *r = &p->g->parallels.at[f->parallels + i];
        line(p);
        vram_text_printf(p->out, "parallel %s \"%s\"", name_of(p, r->style), name_of(p, r->ends));
    }
    p->depth--;
}

/* The next definition of a file among three arrays that are each in the order of their lines. */
static bool next(struct vram_printer *p, uint16_t file, size_t at[3])
{
    const struct vram_program *g = p->g;
    uint32_t lines[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    while (at[0] < g->families.n && g->families.at[at[0]].file != file)
        at[0]++;
    while (at[1] < g->classes.n && g->classes.at[at[1]].file != file)
        at[1]++;
    while (at[2] < g->functions.n && (g->functions.at[at[2]].file != file ||
                                      g->functions.at[at[2]].owner != VRAM_NO_INDEX))
        at[2]++;
    if (at[0] < g->families.n)
        lines[0] = g->families.at[at[0]].line;
    if (at[1] < g->classes.n)
        lines[1] = g->classes.at[at[1]].line;
    if (at[2] < g->functions.n)
        lines[2] = g->functions.at[at[2]].line;
    int first = lines[1] < lines[0] ? 1 : 0;
    first = lines[2] < lines[first] ? 2 : first;
    if (lines[first] == UINT32_MAX)
        return false;
    puts_of(p, first == 0 ? "" : "\n");
    if (first == 0)
        family(p, &g->families.at[at[0]]);
    else if (first == 1)
        module(p, &g->classes.at[at[1]]);
    else
        function(p, &g->functions.at[at[2]]);
    puts_of(p, "\n");
    at[first]++;
    return true;
}

/* "_1": what a local without a name could be printed as? */
static bool clashes(const struct vram_printer *p, vram_sym sym)
{
    const char *name = name_of(p, sym);
    size_t n = strlen(p->mark);
    return !strncmp(name, p->mark, n) && name[n] >= '0' && name[n] <= '9';
}

/* Does anything that locals could hide have such a name? */
static bool taken(const struct vram_printer *p)
{
    const struct vram_program *g = p->g;
    for (size_t i = 0; i < g->nodes.n; i++)
        if (g->nodes.at[i].kind == VRAM_N_NAME && clashes(p, g->nodes.at[i].a))
            return true;
    for (size_t i = 0; i < g->params.n; i++)
        if (clashes(p, g->params.at[i].name))
            return true;
    for (size_t i = 0; i < g->decls.n; i++)
        if (clashes(p, g->decls.at[i].name))
            return true;
    for (size_t i = 0; i < g->functions.n; i++)
        if (clashes(p, g->functions.at[i].name))
            return true;
    return false;
}

void vram_program_print(struct vram_text *out, const struct vram_syms *syms,
                        const struct vram_program *program)
{
    struct vram_printer p = {.out = out, .syms = syms, .g = program};
    memset(p.mark, '_', 1);
    while (taken(&p) && strlen(p.mark) + 1 < sizeof p.mark)
        p.mark[strlen(p.mark)] = '_';
    for (size_t file = 0; file < program->files.n; file++) {
        size_t at[3] = {0, 0, 0};
        vram_text_printf(out, "%s# %s\n", file ? "\n" : "", program->files.at[file]);
        while (next(&p, (uint16_t)file, at)) {
        }
    }
}
