/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions of the template language, by recursive descent with a nesting limit.
 */
#include <string.h>

#include "text/parser.h"
#include "base/vec.h"
#include "ir/dtype.h"
#include "plan/settings.h"

/* What was parsed is one higher than the highest of its parts. */
static int higher(struct vram_parser *p, unsigned than)
{
    p->height = (p->height > than ? p->height : than) + 1;
    if (p->height > VRAM_MAX_HEIGHT)
        return vram_lexer_fail(&p->lex, "an expression is more than %d operations deep",
                               VRAM_MAX_HEIGHT);
    return VRAM_OK;
}

static int enter(struct vram_parser *p)
{
    if (p->nesting == VRAM_MAX_NESTING)
        return vram_lexer_fail(&p->lex, "expressions nest more than %d deep", VRAM_MAX_NESTING);
    p->nesting++;
    return VRAM_OK;
}

/* a, b ... up to `close`; the count of items.  The height is that of the highest. */
static int items_until(struct vram_parser *p, const char *close, uint32_t *items, size_t *n,
                       bool *comma)
{
    bool taken;
    unsigned most = 0;
    *n = 0;
    *comma = false;
    while (!vram_parse_is(p, close)) {
        if (*n == VRAM_MAX_LIST)
            return vram_lexer_fail(&p->lex, "more than %d items", VRAM_MAX_LIST);
        VRAM_TRY(vram_parse_expr(p, &items[(*n)++]));
        most = p->height > most ? p->height : most;
        VRAM_TRY(vram_parse_take(p, ",", &taken));
        *comma = *comma || taken;
        if (!taken && !vram_parse_is(p, close))
            return vram_lexer_fail(&p->lex, "expected ',' or '%s'", close);
    }
    p->height = most;
    return vram_parse_next(p);
}

int vram_parse_dims(struct vram_parser *p, uint32_t *out)
{
    uint32_t items[VRAM_MAX_LIST], first;
    size_t n;
    bool comma;
    struct vram_node node = {
        .kind = VRAM_N_LIST, .line = p->lex.token_line, .column = p->lex.token_column};
    VRAM_TRY(vram_parse_expect(p, "["));
    VRAM_TRY(items_until(p, "]", items, &n, &comma));
    VRAM_TRY(higher(p, 0));
    VRAM_TRY(vram_parse_list(p, items, n, &first));
    node.a = first;
    node.b = (uint32_t)n;
    return vram_parse_node(p, out, node);
}

/* Is the token a name with a single '=' behind it, as in a keyword argument? */
static bool keyword_ahead(const struct vram_parser *p)
{
    if (p->lex.token != VRAM_T_NAME)
        return false;
    size_t at = p->lex.at;
    while (at < p->lex.n && p->lex.text[at] == ' ')
        at++;
    return at + 1 < p->lex.n && p->lex.text[at] == '=' && p->lex.text[at + 1] != '=';
}

int vram_parse_call(struct vram_parser *p, uint32_t callee, uint32_t *out)
{
    uint32_t items[VRAM_MAX_LIST];
    size_t n = 0, nargs = 0;
    unsigned most = p->height;
    bool taken, keywords = false;
    struct vram_node node = {.kind = VRAM_N_CALL,
                             .a = callee,
                             .line = p->program->nodes.at[callee].line,
                             .column = p->program->nodes.at[callee].column};
    VRAM_TRY(vram_parse_expect(p, "("));
    while (!vram_parse_is(p, ")")) {
        vram_sym name = 0;
        bool rest = false;
        if (n + 2 > VRAM_MAX_LIST)
            return vram_lexer_fail(&p->lex, "too many arguments");
        VRAM_TRY(vram_parse_take(p, "**", &rest));
        if (rest) {
            keywords = true; /* a pair with the empty name spreads a record */
        } else if (keyword_ahead(p)) {
            VRAM_TRY(vram_parse_intern(p, &name));
            VRAM_TRY(vram_parse_next(p));
            VRAM_TRY(vram_parse_next(p));
            keywords = true;
        } else if (keywords) {
            return vram_lexer_fail(&p->lex, "positional arguments come before keywords");
        }
        uint32_t value;
        VRAM_TRY(vram_parse_expr(p, &value));
        most = p->height > most ? p->height : most;
        if (keywords) {
            items[n++] = name;
            node.nkw++;
        } else {
            nargs++;
        }
        items[n++] = value;
        VRAM_TRY(vram_parse_take(p, ",", &taken));
        if (!taken && !vram_parse_is(p, ")"))
            return vram_lexer_fail(&p->lex, "expected ',' or ')'");
    }
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(higher(p, most));
    VRAM_TRY(vram_parse_list(p, items, n, &node.b));
    node.c = (uint32_t)nargs;
    return vram_parse_node(p, out, node);
}

static int record(struct vram_parser *p, uint32_t *out)
{
    uint32_t items[VRAM_MAX_LIST];
    size_t n = 0;
    unsigned most = 0;
    bool taken;
    struct vram_node node = {
        .kind = VRAM_N_RECORD, .line = p->lex.token_line, .column = p->lex.token_column};
    VRAM_TRY(vram_parse_expect(p, "{"));
    while (!vram_parse_is(p, "}")) {
        if (n + 2 > VRAM_MAX_LIST)
            return vram_lexer_fail(&p->lex, "too many fields");
        VRAM_TRY(vram_parse_name(p, &items[n++]));
        VRAM_TRY(vram_parse_expect(p, ":"));
        VRAM_TRY(vram_parse_expr(p, &items[n++]));
        most = p->height > most ? p->height : most;
        VRAM_TRY(vram_parse_take(p, ",", &taken));
        if (!taken && !vram_parse_is(p, "}"))
            return vram_lexer_fail(&p->lex, "expected ',' or '}'");
    }
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(higher(p, most));
    VRAM_TRY(vram_parse_list(p, items, n, &node.a));
    node.b = (uint32_t)n / 2;
    return vram_parse_node(p, out, node);
}

/* A key of the plan; kernels.PART asks whose code runs a part of the module. */
static bool known_setting(const char *key)
{
    const char *rest;
    int row = vram_setting_find(key, &rest);
    return (row >= 0 && !*rest) || !strncmp(key, "kernels.", 8);
}

/* setting(checkpointing.reentrant): the key is not an expression */
static int setting(struct vram_parser *p, struct vram_node *node)
{
    bool more;
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(vram_parse_expect(p, "("));
    uint32_t line = p->lex.token_line;
    uint16_t column = p->lex.token_column;
    size_t start = p->lex.start, end;
    do {
        if (p->lex.token != VRAM_T_NAME)
            return vram_lexer_fail(&p->lex, "expected a plan key");
        end = p->lex.end;
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(vram_parse_take(p, ".", &more));
    } while (more);
    node->a = vram_sym_add(p->cx->syms, p->lex.text + start, end - start, 1);
    if (node->a == VRAM_SYM_NONE)
        return vram_fail_memory(p->cx);
    const char *key = vram_sym_text(p->cx->syms, node->a);
    if (!known_setting(key))
        return vram_lexer_fail_at(&p->lex, line, column, "there is no setting '%s'", key);
    node->kind = VRAM_N_SETTING;
    return vram_parse_expect(p, ")");
}

static int word(struct vram_parser *p, uint32_t *out)
{
    struct vram_node node = {.line = p->lex.token_line, .column = p->lex.token_column};
    const struct vram_word *r = vram_parse_word(p);
    if (r && r->word == VRAM_WORD_SYNTAX)
        return vram_lexer_fail(&p->lex, "expected an expression");
    if (r && r->word == VRAM_WORD_SETTING) {
        VRAM_TRY(setting(p, &node));
        return vram_parse_node(p, out, node);
    }
    if (r) {
        node.kind = r->kind;
        node.a = r->a;
        VRAM_TRY(vram_parse_next(p));
        return vram_parse_node(p, out, node);
    }
    vram_sym name;
    size_t n = p->lex.end - p->lex.start;
    VRAM_TRY(vram_parse_intern(p, &name));
    VRAM_TRY(vram_parse_next(p));
    uint32_t slot = vram_parse_local(p, name);
    enum vram_dtype dtype = slot == VRAM_NO_INDEX && n <= 6 /* as long as "string" */
                                ? vram_dtype_by_name(vram_sym_text(p->cx->syms, name))
                                : VRAM_DT_NONE;
    node.kind = slot != VRAM_NO_INDEX ? VRAM_N_SLOT : dtype ? VRAM_N_DTYPE : VRAM_N_NAME;
    node.a = slot != VRAM_NO_INDEX ? slot : dtype ? (uint32_t)dtype : name;
    node.b = slot != VRAM_NO_INDEX ? name : 0; /* for whoever prints it */
    return vram_parse_node(p, out, node);
}

static int atom(struct vram_parser *p, uint32_t *out)
{
    struct vram_node node = {.line = p->lex.token_line, .column = p->lex.token_column};
    struct vram_program *g = p->program;
    p->height = 1;
    switch (p->lex.token) {
    case VRAM_T_INT:
        node.kind = VRAM_N_INT;
        node.a = (uint32_t)g->ints.n;
        if (!vram_vec_push(&g->ints, p->cx->arena, p->lex.integer))
            return vram_fail_memory(p->cx);
        break;
    case VRAM_T_FLOAT:
        node.kind = VRAM_N_FLOAT;
        node.a = (uint32_t)g->floats.n;
        if (!vram_vec_push(&g->floats, p->cx->arena, p->lex.real))
            return vram_fail_memory(p->cx);
        break;
    case VRAM_T_STRING:
        node.kind = VRAM_N_STRING;
        VRAM_TRY(vram_parse_intern(p, &node.a));
        break;
    case VRAM_T_NAME:
        return word(p, out);
    case VRAM_T_PUNCT:
        if (vram_parse_is(p, "{"))
            return record(p, out);
        if (vram_parse_is(p, "["))
            return vram_parse_dims(p, out);
        if (vram_parse_is(p, "(")) {
            uint32_t items[VRAM_MAX_LIST];
            size_t n;
            bool comma;
            VRAM_TRY(vram_parse_next(p));
            VRAM_TRY(items_until(p, ")", items, &n, &comma));
            if (n == 1 && !comma) {
                *out = items[0];
                return VRAM_OK;
            }
            VRAM_TRY(higher(p, 0));
            node.kind = VRAM_N_TUPLE;
            node.b = (uint32_t)n;
            VRAM_TRY(vram_parse_list(p, items, n, &node.a));
            return vram_parse_node(p, out, node);
        }
        /* fall through */
    default:
        return vram_lexer_fail(&p->lex, "expected an expression");
    }
    VRAM_TRY(vram_parse_next(p));
    return vram_parse_node(p, out, node);
}

static int postfix(struct vram_parser *p, uint32_t *out)
{
    VRAM_TRY(atom(p, out));
    for (;;) {
        struct vram_node node = {
            .a = *out, .line = p->lex.token_line, .column = p->lex.token_column};
        unsigned height = p->height;
        if (vram_parse_is(p, "(")) {
            VRAM_TRY(vram_parse_call(p, *out, out));
            continue;
        }
        if (vram_parse_is(p, ".")) {
            node.kind = VRAM_N_FIELD;
            VRAM_TRY(vram_parse_next(p));
            if (p->lex.token != VRAM_T_NAME)
                return vram_lexer_fail(&p->lex, "expected a name behind '.'");
            VRAM_TRY(vram_parse_intern(p, &node.b));
            VRAM_TRY(vram_parse_next(p));
        } else if (vram_parse_is(p, "[")) {
            node.kind = VRAM_N_INDEX;
            VRAM_TRY(vram_parse_next(p));
            VRAM_TRY(vram_parse_expr(p, &node.b));
            VRAM_TRY(vram_parse_expect(p, "]"));
        } else {
            return VRAM_OK;
        }
        VRAM_TRY(higher(p, height));
        VRAM_TRY(vram_parse_node(p, out, node));
    }
}

static int unary(struct vram_parser *p, uint32_t *out)
{
    if (!vram_parse_is(p, "-"))
        return postfix(p, out);
    struct vram_node node = {
        .kind = VRAM_N_NEGATE, .line = p->lex.token_line, .column = p->lex.token_column};
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(enter(p));
    VRAM_TRY(unary(p, &node.a));
    p->nesting--;
    VRAM_TRY(higher(p, 0));
    return vram_parse_node(p, out, node);
}

struct level {
    uint8_t op, binds;
};

/* What the token is between two operands; binds 0 when it is no operator. */
static struct level level_of(const struct vram_parser *p)
{
    bool two = p->lex.punct[1] != 0;
    switch (p->lex.token == VRAM_T_PUNCT ? p->lex.punct[0] : 0) {
    case '=':
        return (struct level){VRAM_OPERATOR_EQ, two};
    case '!':
        return (struct level){VRAM_OPERATOR_NE, 1};
    case '<':
        return (struct level){two ? VRAM_OPERATOR_LE : VRAM_OPERATOR_LT, 1};
    case '>':
        return (struct level){two ? VRAM_OPERATOR_GE : VRAM_OPERATOR_GT, 1};
    case '+':
        return (struct level){VRAM_OPERATOR_ADD, 2};
    case '-':
        return (struct level){VRAM_OPERATOR_SUB, 2};
    case '*':
        return (struct level){VRAM_OPERATOR_MUL, two ? 0 : 3};
    case '/':
        return (struct level){two ? VRAM_OPERATOR_FLOORDIV : VRAM_OPERATOR_DIV, 3};
    case '%':
        return (struct level){VRAM_OPERATOR_MOD, 3};
    default:
        return (struct level){0, 0};
    }
}

/* Operators that bind at least so tightly, from the left. */
static int binary(struct vram_parser *p, int least, uint32_t *out)
{
    VRAM_TRY(unary(p, out));
    for (;;) {
        struct level level = level_of(p);
        if (level.binds < least)
            return VRAM_OK;
        struct vram_node node = {.kind = VRAM_N_BINARY,
                                 .a = *out,
                                 .c = level.op,
                                 .line = p->lex.token_line,
                                 .column = p->lex.token_column};
        unsigned height = p->height;
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(binary(p, level.binds + 1, &node.b));
        VRAM_TRY(higher(p, height));
        VRAM_TRY(vram_parse_node(p, out, node));
    }
}

static int negation(struct vram_parser *p, uint32_t *out)
{
    bool taken;
    struct vram_node node = {
        .kind = VRAM_N_NOT, .line = p->lex.token_line, .column = p->lex.token_column};
    VRAM_TRY(vram_parse_take_name(p, "not", &taken));
    if (!taken)
        return binary(p, 1, out);
    VRAM_TRY(enter(p));
    VRAM_TRY(negation(p, &node.a));
    p->nesting--;
    VRAM_TRY(higher(p, 0));
    return vram_parse_node(p, out, node);
}

static int conjunction(struct vram_parser *p, uint32_t *out)
{
    bool taken;
    VRAM_TRY(negation(p, out));
    for (;;) {
        struct vram_node node = {.kind = VRAM_N_AND,
                                 .a = *out,
                                 .line = p->lex.token_line,
                                 .column = p->lex.token_column};
        unsigned height = p->height;
        VRAM_TRY(vram_parse_take_name(p, "and", &taken));
        if (!taken)
            return VRAM_OK;
        VRAM_TRY(negation(p, &node.b));
        VRAM_TRY(higher(p, height));
        VRAM_TRY(vram_parse_node(p, out, node));
    }
}

int vram_parse_operand(struct vram_parser *p, uint32_t *out)
{
    bool taken;
    VRAM_TRY(enter(p));
    VRAM_TRY(conjunction(p, out));
    for (;;) {
        struct vram_node node = {
            .kind = VRAM_N_OR, .a = *out, .line = p->lex.token_line, .column = p->lex.token_column};
        unsigned height = p->height;
        VRAM_TRY(vram_parse_take_name(p, "or", &taken));
        if (!taken)
            break;
        VRAM_TRY(conjunction(p, &node.b));
        VRAM_TRY(higher(p, height));
        VRAM_TRY(vram_parse_node(p, out, node));
    }
    p->nesting--;
    return VRAM_OK;
}

int vram_parse_expr(struct vram_parser *p, uint32_t *out)
{
    bool taken;
    VRAM_TRY(vram_parse_operand(p, out));
    struct vram_node node = {
        .kind = VRAM_N_CHOICE, .b = *out, .line = p->lex.token_line, .column = p->lex.token_column};
    VRAM_TRY(vram_parse_take_name(p, "if", &taken));
    if (!taken)
        return VRAM_OK;
    unsigned height = p->height;
    VRAM_TRY(vram_parse_operand(p, &node.a));
    height = p->height > height ? p->height : height;
    if (!vram_parse_is_name(p, "else"))
        return vram_lexer_fail(&p->lex, "expected 'else'");
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(enter(p));
    VRAM_TRY(vram_parse_expr(p, &node.c));
    p->nesting--;
    VRAM_TRY(higher(p, height));
    return vram_parse_node(p, out, node);
}
