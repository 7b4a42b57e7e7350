/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements and frames of the template language.
 */
#include "text/statement.h"

#include <string.h>

#include "base/vec.h"

/* Turns a parsed expression into a place that can be assigned. */
static int target(struct vram_parser *p, uint32_t node)
{
    struct vram_node *n = &p->program->nodes.at[node];
    switch (n->kind) {
    case VRAM_N_SLOT:
    case VRAM_N_FIELD:
    case VRAM_N_INDEX:
        return VRAM_OK;
    case VRAM_N_NAME: {
        uint32_t slot;
        VRAM_TRY(vram_parse_add_local(p, n->a, &slot));
        n->kind = VRAM_N_SLOT;
        n->b = n->a;
        n->a = slot;
        return VRAM_OK;
    }
    case VRAM_N_TUPLE: {
        uint32_t first = n->a, count = n->b;
        for (uint32_t i = 0; i < count; i++)
            VRAM_TRY(target(p, p->program->lists.at[first + i]));
        return VRAM_OK;
    }
    default:
        return vram_lexer_fail_at(&p->lex, n->line, n->column, "this cannot be assigned to");
    }
}

/* expr {, expr}: a TUPLE node when there is a comma */
static int expressions(struct vram_parser *p, uint32_t *out)
{
    uint32_t items[VRAM_MAX_LIST];
    size_t n = 1;
    struct vram_node node = {
        .kind = VRAM_N_TUPLE, .line = p->lex.token_line, .column = p->lex.token_column};
    VRAM_TRY(vram_parse_expr(p, &items[0]));
    if (!vram_parse_is(p, ",")) {
        *out = items[0];
        return VRAM_OK;
    }
    while (vram_parse_is(p, ",")) {
        if (n == VRAM_MAX_LIST)
            return vram_lexer_fail(&p->lex, "more than %d items", VRAM_MAX_LIST);
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(vram_parse_expr(p, &items[n++]));
    }
    VRAM_TRY(vram_parse_list(p, items, n, &node.a));
    node.b = (uint32_t)n;
    return vram_parse_node(p, out, node);
}

static int return_statement(struct vram_parser *p, struct vram_node *node)
{
    node->kind = VRAM_S_RETURN;
    VRAM_TRY(vram_parse_next(p));
    if (p->lex.token == VRAM_T_NEWLINE)
        return vram_parse_node(p, &node->a, (struct vram_node){.kind = VRAM_N_NONE});
    return expressions(p, &node->a);
}

static int del_statement(struct vram_parser *p, uint32_t *out)
{
    uint32_t items[VRAM_MAX_LIST], first;
    size_t n = 0;
    bool more;
    struct vram_node block = {
        .kind = VRAM_S_BLOCK, .line = p->lex.token_line, .column = p->lex.token_column};
    VRAM_TRY(vram_parse_next(p));
    do {
        vram_sym name;
        struct vram_node node = {
            .kind = VRAM_S_DEL, .line = p->lex.token_line, .column = p->lex.token_column};
        if (n == VRAM_MAX_LIST)
            return vram_lexer_fail(&p->lex, "too many names");
        VRAM_TRY(vram_parse_name(p, &name));
        node.a = vram_parse_local(p, name);
        node.b = name;
        if (node.a == VRAM_NO_INDEX)
            return vram_lexer_fail_at(&p->lex, node.line, node.column,
                                      "del takes names that were assigned");
        VRAM_TRY(vram_parse_node(p, &items[n++], node));
        VRAM_TRY(vram_parse_take(p, ",", &more));
    } while (more);
    VRAM_TRY(vram_parse_list(p, items, n, &first));
    block.a = first;
    block.b = (uint32_t)n;
    return vram_parse_node(p, out, block);
}

static int if_statement(struct vram_parser *p, struct vram_node *node)
{
    node->kind = VRAM_S_IF;
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(vram_parse_expr(p, &node->a));
    VRAM_TRY(vram_parse_block(p, &node->b));
    if (vram_parse_is_name(p, "elif")) {
        struct vram_node inner = {.line = p->lex.token_line, .column = p->lex.token_column};
        if (++p->nesting >= VRAM_MAX_NESTING - 1) /* room for its own block */
            return vram_lexer_fail(&p->lex, "too many elif");
        VRAM_TRY(if_statement(p, &inner));
        p->nesting--;
        uint32_t at;
        VRAM_TRY(vram_parse_node(p, &at, inner));
        node->c = at + 1;
    } else if (vram_parse_is_name(p, "else")) {
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(vram_parse_block(p, &node->c));
        node->c++;
    }
    return VRAM_OK;
}

static int for_statement(struct vram_parser *p, struct vram_node *node)
{
    uint32_t items[8];
    size_t n = 0;
    bool more;
    node->kind = VRAM_S_FOR;
    VRAM_TRY(vram_parse_next(p));
    do {
        vram_sym name;
        uint32_t slot;
        if (n == sizeof items / sizeof *items)
            return vram_lexer_fail(&p->lex, "too many loop names");
        VRAM_TRY(vram_parse_name(p, &name));
        VRAM_TRY(vram_parse_add_local(p, name, &slot));
        VRAM_TRY(vram_parse_node(p, &items[n++],
                                 (struct vram_node){.kind = VRAM_N_SLOT, .a = slot, .b = name}));
        VRAM_TRY(vram_parse_take(p, ",", &more));
    } while (more);
    node->a = items[0];
    if (n > 1) {
        struct vram_node tuple = {.kind = VRAM_N_TUPLE, .b = (uint32_t)n};
        VRAM_TRY(vram_parse_list(p, items, n, &tuple.a));
        VRAM_TRY(vram_parse_node(p, &node->a, tuple));
    }
    if (!vram_parse_is_name(p, "in"))
        return vram_lexer_fail(&p->lex, "expected 'in'");
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(vram_parse_expr(p, &node->b));
    return vram_parse_block(p, &node->c);
}

static int with_statement(struct vram_parser *p, struct vram_node *node)
{
    VRAM_TRY(vram_parse_next(p));
    if (vram_parse_is_name(p, "no_grad")) {
        node->kind = VRAM_S_NOGRAD;
        VRAM_TRY(vram_parse_next(p));
        return vram_parse_block(p, &node->b);
    }
    if (!vram_parse_is_name(p, "autocast"))
        return vram_lexer_fail(&p->lex, "with takes autocast(off), autocast(DTYPE) or no_grad");
    node->kind = VRAM_S_AUTOCAST;
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(vram_parse_expect(p, "("));
    if (vram_parse_is_name(p, "off")) {
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(vram_parse_node(p, &node->a, (struct vram_node){.kind = VRAM_N_NONE}));
    } else {
        VRAM_TRY(vram_parse_expr(p, &node->a));
    }
    VRAM_TRY(vram_parse_expect(p, ")"));
    return vram_parse_block(p, &node->b);
}

static int simple_statement(struct vram_parser *p, struct vram_node *node)
{
    uint32_t left;
    bool assigns;
    if (vram_parse_is_name(p, "phase")) {
        node->kind = VRAM_S_PHASE;
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(vram_parse_expect(p, "("));
        VRAM_TRY(vram_parse_name(p, &node->a));
        return vram_parse_expect(p, ")");
    }
    VRAM_TRY(expressions(p, &left));
    VRAM_TRY(vram_parse_take(p, "=", &assigns));
    if (!assigns) {
        node->kind = VRAM_S_EXPR;
        node->a = left;
        return VRAM_OK;
    }
    node->kind = VRAM_S_ASSIGN;
    node->a = left;
    VRAM_TRY(expressions(p, &node->b));
    return target(p, left);
}

static int statement(struct vram_parser *p, uint32_t *out)
{
    struct vram_node node = {.line = p->lex.token_line, .column = p->lex.token_column};
    if (p->lex.token == VRAM_T_INDENT)
        return vram_lexer_fail(&p->lex, "this line is indented, but no block begins here");
    if (vram_parse_is_name(p, "if")) {
        VRAM_TRY(if_statement(p, &node));
    } else if (vram_parse_is_name(p, "for")) {
        VRAM_TRY(for_statement(p, &node));
    } else if (vram_parse_is_name(p, "with")) {
        VRAM_TRY(with_statement(p, &node));
    } else if (vram_parse_is_name(p, "del")) {
        VRAM_TRY(del_statement(p, out));
        return vram_parse_end_line(p);
    } else {
        if (vram_parse_is_name(p, "return"))
            VRAM_TRY(return_statement(p, &node));
        else
            VRAM_TRY(simple_statement(p, &node));
        VRAM_TRY(vram_parse_end_line(p));
    }
    return vram_parse_node(p, out, node);
}

int vram_parse_statements(struct vram_parser *p, uint32_t *out)
{
    uint32_t items[VRAM_MAX_LIST];
    size_t n = 0;
    struct vram_node block = {
        .kind = VRAM_S_BLOCK, .line = p->lex.token_line, .column = p->lex.token_column};
    while (p->lex.token != VRAM_T_DEDENT && p->lex.token != VRAM_T_END) {
        if (n == VRAM_MAX_LIST)
            return vram_lexer_fail(&p->lex, "more than %d statements in a block", VRAM_MAX_LIST);
        VRAM_TRY(statement(p, &items[n++]));
    }
    VRAM_TRY(vram_parse_list(p, items, n, &block.a));
    block.b = (uint32_t)n;
    return vram_parse_node(p, out, block);
}

int vram_parse_block(struct vram_parser *p, uint32_t *out)
{
    if (++p->nesting > VRAM_MAX_NESTING)
        return vram_lexer_fail(&p->lex, "blocks nest more than %d deep", VRAM_MAX_NESTING);
    VRAM_TRY(vram_parse_expect(p, ":"));
    if (p->lex.token == VRAM_T_NEWLINE) {
        VRAM_TRY(vram_parse_next(p));
        if (p->lex.token != VRAM_T_INDENT)
            return vram_lexer_fail(&p->lex, "expected an indented block");
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(vram_parse_statements(p, out));
        if (p->lex.token == VRAM_T_DEDENT)
            VRAM_TRY(vram_parse_next(p));
    } else { /* one statement on the same line */
        uint32_t one, first;
        struct vram_node block = {
            .kind = VRAM_S_BLOCK, .line = p->lex.token_line, .b = 1, .column = p->lex.token_column};
        VRAM_TRY(statement(p, &one));
        VRAM_TRY(vram_parse_list(p, &one, 1, &first));
        block.a = first;
        VRAM_TRY(vram_parse_node(p, out, block));
    }
    p->nesting--;
    return VRAM_OK;
}

/* The next of n parameters. */
static int parameter(struct vram_parser *p, struct vram_param_def *out, size_t n,
                     const struct vram_param_def *before)
{
    bool has;
    uint32_t line = p->lex.token_line;
    uint16_t column = p->lex.token_column;
    VRAM_TRY(vram_parse_name(p, &out->name));
    for (size_t i = 0; i < n; i++)
        if (before[i].name == out->name)
            return vram_lexer_fail_at(&p->lex, line, column, "two parameters of the same name");
    VRAM_TRY(vram_parse_take(p, "=", &has));
    out->fallback = 0;
    if (has) {
        VRAM_TRY(vram_parse_expr(p, &out->fallback));
        out->fallback++;
    }
    return VRAM_OK;
}

int vram_parse_signature(struct vram_parser *p, struct vram_callable *out, bool frame)
{
    struct vram_param_def params[64];
    size_t n = 0;
    bool keyword = false, taken;
    p->nlocals = 0;
    VRAM_TRY(vram_parse_expect(p, "("));
    while (!vram_parse_is(p, ")")) {
        uint32_t slot;
        if (n == sizeof params / sizeof *params)
            return vram_lexer_fail(&p->lex, "too many parameters");
        VRAM_TRY(vram_parse_take(p, "**", &out->rest));
        VRAM_TRY(parameter(p, &params[n], n, params));
        if (frame)
            VRAM_TRY(vram_parse_add_local(p, params[n].name, &slot));
        n++;
        if (out->rest)
            break;
        if (keyword)
            out->nkeyword++;
        else
            out->npositional++;
        if (vram_parse_is(p, ";")) {
            if (keyword)
                return vram_lexer_fail(&p->lex, "a second ';'");
            keyword = true;
            VRAM_TRY(vram_parse_next(p));
            continue;
        }
        VRAM_TRY(vram_parse_take(p, ",", &taken));
        if (!taken && !vram_parse_is(p, ")"))
            return vram_lexer_fail(&p->lex, "expected ',', ';' or ')'");
    }
    VRAM_TRY(vram_parse_expect(p, ")"));
    struct vram_program *g = p->program;
    out->params = (uint32_t)g->params.n;
    if (!vram_vec_room(&g->params, p->cx->arena, n))
        return vram_fail_memory(p->cx);
    if (n)
        memcpy(g->params.at + g->params.n, params, n * sizeof *params);
    g->params.n += n;
    return VRAM_OK;
}
