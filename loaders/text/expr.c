/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions of the template language, by recursive descent with a nesting limit.
 */
#include "text/parser.h"

#include <string.h>

#include "base/vec.h"
#include "ir/dtype.h"

int vram_parse_next(struct vram_parser *p) { return vram_lexer_next(&p->lex); }

bool vram_parse_is(const struct vram_parser *p, const char *punct)
{
    return p->lex.token == VRAM_T_PUNCT && !strcmp(p->lex.punct, punct);
}

bool vram_parse_is_name(const struct vram_parser *p, const char *name)
{
    size_t n = p->lex.end - p->lex.start;
    return p->lex.token == VRAM_T_NAME && strlen(name) == n &&
           !memcmp(p->lex.text + p->lex.start, name, n);
}

int vram_parse_take(struct vram_parser *p, const char *punct, bool *taken)
{
    *taken = vram_parse_is(p, punct);
    return *taken ? vram_parse_next(p) : VRAM_OK;
}

int vram_parse_take_name(struct vram_parser *p, const char *name, bool *taken)
{
    *taken = vram_parse_is_name(p, name);
    return *taken ? vram_parse_next(p) : VRAM_OK;
}

int vram_parse_expect(struct vram_parser *p, const char *punct)
{
    if (!vram_parse_is(p, punct))
        return vram_lexer_fail(&p->lex, "expected '%s'", punct);
    return vram_parse_next(p);
}

static const char *const reserved[] = {"if",   "else", "for",  "in",   "return", "del",  "with",
                                       "and",  "or",   "not",  "none", "true",   "false", "config",
                                       "setting", "training", "grad", "autocast", "checkpointing"};

static bool is_reserved(const struct vram_parser *p)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (vram_parse_is_name(p, reserved[i]))
            return true;
    return false;
}

static int intern(struct vram_parser *p, vram_sym *out)
{
    *out = vram_sym_add(p->cx->syms, p->lex.text + p->lex.start, p->lex.end - p->lex.start, 1);
    return *out == VRAM_SYM_NONE ? vram_fail_memory(p->cx) : VRAM_OK;
}

int vram_parse_name(struct vram_parser *p, vram_sym *out)
{
    if (p->lex.token != VRAM_T_NAME)
        return vram_lexer_fail(&p->lex, "expected a name");
    if (is_reserved(p))
        return vram_lexer_fail(&p->lex, "a reserved word cannot be a name here");
    VRAM_TRY(intern(p, out));
    return vram_parse_next(p);
}

int vram_parse_node(struct vram_parser *p, uint32_t *out, struct vram_node node)
{
    struct vram_program *g = p->program;
    if (node.line == 0) {
        node.line = p->lex.token_line;
        node.column = p->lex.token_column;
    }
    if (g->nodes.n >= UINT32_MAX / 2)
        return vram_fail(p->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "the templates are too large");
    if (!vram_vec_push(&g->nodes, p->cx->arena, node))
        return vram_fail_memory(p->cx);
    *out = (uint32_t)g->nodes.n - 1;
    return VRAM_OK;
}

int vram_parse_list(struct vram_parser *p, const uint32_t *items, size_t n, uint32_t *first)
{
    struct vram_program *g = p->program;
    if (!vram_vec_room(&g->lists, p->cx->arena, n))
        return vram_fail_memory(p->cx);
    *first = (uint32_t)g->lists.n;
    if (n)
        memcpy(g->lists.at + g->lists.n, items, n * sizeof *items);
    g->lists.n += n;
    return VRAM_OK;
}

uint32_t vram_parse_local(const struct vram_parser *p, vram_sym name)
{
    for (uint32_t i = 0; i < p->nlocals; i++)
        if (p->locals[i] == name)
            return i;
    return VRAM_NO_INDEX;
}

int vram_parse_add_local(struct vram_parser *p, vram_sym name, uint32_t *slot)
{
    *slot = vram_parse_local(p, name);
    if (*slot != VRAM_NO_INDEX)
        return VRAM_OK;
    if (p->nlocals == VRAM_MAX_LOCALS)
        return vram_lexer_fail(&p->lex, "more than %d names in one body", VRAM_MAX_LOCALS);
    *slot = p->nlocals;
    p->locals[p->nlocals++] = name;
    return VRAM_OK;
}

static int enter(struct vram_parser *p)
{
    if (p->nesting == VRAM_MAX_NESTING)
        return vram_lexer_fail(&p->lex, "expressions nest more than %d deep", VRAM_MAX_NESTING);
    p->nesting++;
    return VRAM_OK;
}

/* a, b ... up to `close`; the count of items */
static int items_until(struct vram_parser *p, const char *close, uint32_t *items, size_t *n,
                       bool *comma)
{
    bool taken;
    *n = 0;
    *comma = false;
    while (!vram_parse_is(p, close)) {
        if (*n == VRAM_MAX_LIST)
            return vram_lexer_fail(&p->lex, "more than %d items", VRAM_MAX_LIST);
        VRAM_TRY(vram_parse_expr(p, &items[(*n)++]));
        VRAM_TRY(vram_parse_take(p, ",", &taken));
        *comma = *comma || taken;
        if (!taken && !vram_parse_is(p, close))
            return vram_lexer_fail(&p->lex, "expected ',' or '%s'", close);
    }
    return vram_parse_next(p);
}

int vram_parse_dims(struct vram_parser *p, uint32_t *out)
{
    uint32_t items[VRAM_MAX_LIST], first;
    size_t n;
    bool comma;
    struct vram_node node = {.kind = VRAM_N_LIST, .line = p->lex.token_line,
                             .column = p->lex.token_column};
    VRAM_TRY(vram_parse_expect(p, "["));
    VRAM_TRY(items_until(p, "]", items, &n, &comma));
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
    bool taken, keywords = false;
    struct vram_node node = {.kind = VRAM_N_CALL, .a = callee, .line = p->lex.token_line,
                             .column = p->lex.token_column};
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
            VRAM_TRY(intern(p, &name));
            VRAM_TRY(vram_parse_next(p));
            VRAM_TRY(vram_parse_next(p));
            keywords = true;
        } else if (keywords) {
            return vram_lexer_fail(&p->lex, "positional arguments come before keywords");
        }
        uint32_t value;
        VRAM_TRY(vram_parse_expr(p, &value));
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
    VRAM_TRY(vram_parse_list(p, items, n, &node.b));
    node.c = (uint32_t)nargs;
    return vram_parse_node(p, out, node);
}

static int record(struct vram_parser *p, uint32_t *out)
{
    uint32_t items[VRAM_MAX_LIST];
    size_t n = 0;
    bool taken;
    struct vram_node node = {.kind = VRAM_N_RECORD, .line = p->lex.token_line,
                             .column = p->lex.token_column};
    VRAM_TRY(vram_parse_expect(p, "{"));
    while (!vram_parse_is(p, "}")) {
        if (n + 2 > VRAM_MAX_LIST)
            return vram_lexer_fail(&p->lex, "too many fields");
        VRAM_TRY(vram_parse_name(p, &items[n++]));
        VRAM_TRY(vram_parse_expect(p, ":"));
        VRAM_TRY(vram_parse_expr(p, &items[n++]));
        VRAM_TRY(vram_parse_take(p, ",", &taken));
        if (!taken && !vram_parse_is(p, "}"))
            return vram_lexer_fail(&p->lex, "expected ',' or '}'");
    }
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(vram_parse_list(p, items, n, &node.a));
    node.b = (uint32_t)n / 2;
    return vram_parse_node(p, out, node);
}

/* setting(checkpointing.reentrant): the key is not an expression */
static int setting(struct vram_parser *p, uint32_t *out)
{
    struct vram_node node = {.kind = VRAM_N_SETTING, .line = p->lex.token_line,
                             .column = p->lex.token_column};
    VRAM_TRY(vram_parse_next(p));
    size_t from = p->lex.at;
    if (!vram_parse_is(p, "("))
        return vram_lexer_fail(&p->lex, "expected '(' and a plan key");
    size_t n = 0;
    while (from + n < p->lex.n && p->lex.text[from + n] != ')' && p->lex.text[from + n] != '\n')
        n++;
    node.a = vram_sym_add(p->cx->syms, p->lex.text + from, n, 1);
    if (node.a == VRAM_SYM_NONE)
        return vram_fail_memory(p->cx);
    while (!vram_parse_is(p, ")")) {
        if (p->lex.token == VRAM_T_NEWLINE || p->lex.token == VRAM_T_END)
            return vram_lexer_fail(&p->lex, "expected ')' behind the plan key");
        VRAM_TRY(vram_parse_next(p));
    }
    VRAM_TRY(vram_parse_next(p));
    return vram_parse_node(p, out, node);
}

static int word(struct vram_parser *p, uint32_t *out)
{
    static const struct {
        const char *name;
        uint8_t kind;
        uint32_t a;
    } words[] = {{"none", VRAM_N_NONE, 0},
                 {"true", VRAM_N_BOOL, 1},
                 {"false", VRAM_N_BOOL, 0},
                 {"training", VRAM_N_CONTEXT, VRAM_CONTEXT_TRAINING},
                 {"grad", VRAM_N_CONTEXT, VRAM_CONTEXT_GRAD},
                 {"autocast", VRAM_N_CONTEXT, VRAM_CONTEXT_AUTOCAST},
                 {"checkpointing", VRAM_N_CONTEXT, VRAM_CONTEXT_CHECKPOINTING},
                 {"config", VRAM_N_CONFIG, 0}};
    struct vram_node node = {.line = p->lex.token_line, .column = p->lex.token_column};
    if (vram_parse_is_name(p, "setting"))
        return setting(p, out);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vram_parse_is_name(p, words[i].name)) {
            node.kind = words[i].kind;
            node.a = words[i].a;
            VRAM_TRY(vram_parse_next(p));
            return vram_parse_node(p, out, node);
        }
    vram_sym name;
    VRAM_TRY(vram_parse_name(p, &name));
    enum vram_dtype dtype = vram_dtype_by_name(vram_sym_text(p->cx->syms, name));
    uint32_t slot = vram_parse_local(p, name);
    node.kind = slot != VRAM_NO_INDEX ? VRAM_N_SLOT : dtype ? VRAM_N_DTYPE : VRAM_N_NAME;
    node.a = slot != VRAM_NO_INDEX ? slot : dtype ? (uint32_t)dtype : name;
    return vram_parse_node(p, out, node);
}

static int atom(struct vram_parser *p, uint32_t *out)
{
    struct vram_node node = {.line = p->lex.token_line, .column = p->lex.token_column};
    struct vram_program *g = p->program;
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
        VRAM_TRY(intern(p, &node.a));
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
        struct vram_node node = {.a = *out, .line = p->lex.token_line,
                                 .column = p->lex.token_column};
        if (vram_parse_is(p, "(")) {
            VRAM_TRY(vram_parse_call(p, *out, out));
            continue;
        }
        if (vram_parse_is(p, ".")) {
            node.kind = VRAM_N_FIELD;
            VRAM_TRY(vram_parse_next(p));
            if (p->lex.token != VRAM_T_NAME)
                return vram_lexer_fail(&p->lex, "expected a name behind '.'");
            VRAM_TRY(intern(p, &node.b));
            VRAM_TRY(vram_parse_next(p));
        } else if (vram_parse_is(p, "[")) {
            node.kind = VRAM_N_INDEX;
            VRAM_TRY(vram_parse_next(p));
            VRAM_TRY(vram_parse_expr(p, &node.b));
            VRAM_TRY(vram_parse_expect(p, "]"));
        } else {
            return VRAM_OK;
        }
        VRAM_TRY(vram_parse_node(p, out, node));
    }
}

static int unary(struct vram_parser *p, uint32_t *out)
{
    if (!vram_parse_is(p, "-"))
        return postfix(p, out);
    struct vram_node node = {.kind = VRAM_N_NEGATE, .line = p->lex.token_line,
                             .column = p->lex.token_column};
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(enter(p));
    VRAM_TRY(unary(p, &node.a));
    p->nesting--;
    return vram_parse_node(p, out, node);
}

struct level {
    const char *punct;
    enum vram_operator op;
    int binds;
};
static const struct level levels[] = {
    {"==", VRAM_OPERATOR_EQ, 1}, {"!=", VRAM_OPERATOR_NE, 1}, {"<", VRAM_OPERATOR_LT, 1},
    {"<=", VRAM_OPERATOR_LE, 1}, {">", VRAM_OPERATOR_GT, 1},  {">=", VRAM_OPERATOR_GE, 1},
    {"+", VRAM_OPERATOR_ADD, 2}, {"-", VRAM_OPERATOR_SUB, 2}, {"*", VRAM_OPERATOR_MUL, 3},
    {"/", VRAM_OPERATOR_DIV, 3}, {"//", VRAM_OPERATOR_FLOORDIV, 3}, {"%", VRAM_OPERATOR_MOD, 3}};

static int binary(struct vram_parser *p, int binds, uint32_t *out)
{
    if (binds > 3)
        return unary(p, out);
    VRAM_TRY(binary(p, binds + 1, out));
    for (;;) {
        const struct level *level = NULL;
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
            if (levels[i].binds == binds && vram_parse_is(p, levels[i].punct))
                level = &levels[i];
        if (!level)
            return VRAM_OK;
        struct vram_node node = {.kind = VRAM_N_BINARY, .a = *out, .c = level->op,
                                 .line = p->lex.token_line, .column = p->lex.token_column};
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(binary(p, binds + 1, &node.b));
        VRAM_TRY(vram_parse_node(p, out, node));
    }
}

static int negation(struct vram_parser *p, uint32_t *out)
{
    bool taken;
    struct vram_node node = {.kind = VRAM_N_NOT, .line = p->lex.token_line,
                             .column = p->lex.token_column};
    VRAM_TRY(vram_parse_take_name(p, "not", &taken));
    if (!taken)
        return binary(p, 1, out);
    VRAM_TRY(enter(p));
    VRAM_TRY(negation(p, &node.a));
    p->nesting--;
    return vram_parse_node(p, out, node);
}

static int conjunction(struct vram_parser *p, uint32_t *out)
{
    bool taken;
    VRAM_TRY(negation(p, out));
    for (;;) {
        struct vram_node node = {.kind = VRAM_N_AND, .a = *out, .line = p->lex.token_line,
                                 .column = p->lex.token_column};
        VRAM_TRY(vram_parse_take_name(p, "and", &taken));
        if (!taken)
            return VRAM_OK;
        VRAM_TRY(negation(p, &node.b));
        VRAM_TRY(vram_parse_node(p, out, node));
    }
}

int vram_parse_operand(struct vram_parser *p, uint32_t *out)
{
    bool taken;
    VRAM_TRY(enter(p));
    VRAM_TRY(conjunction(p, out));
    for (;;) {
        struct vram_node node = {.kind = VRAM_N_OR, .a = *out, .line = p->lex.token_line,
                                 .column = p->lex.token_column};
        VRAM_TRY(vram_parse_take_name(p, "or", &taken));
        if (!taken)
            break;
        VRAM_TRY(conjunction(p, &node.b));
        VRAM_TRY(vram_parse_node(p, out, node));
    }
    p->nesting--;
    return VRAM_OK;
}

int vram_parse_expr(struct vram_parser *p, uint32_t *out)
{
    bool taken;
    VRAM_TRY(vram_parse_operand(p, out));
    struct vram_node node = {.kind = VRAM_N_CHOICE, .b = *out, .line = p->lex.token_line,
                             .column = p->lex.token_column};
    VRAM_TRY(vram_parse_take_name(p, "if", &taken));
    if (!taken)
        return VRAM_OK;
    VRAM_TRY(vram_parse_operand(p, &node.a));
    if (!vram_parse_is_name(p, "else"))
        return vram_lexer_fail(&p->lex, "expected 'else'");
    VRAM_TRY(vram_parse_next(p));
    VRAM_TRY(enter(p));
    VRAM_TRY(vram_parse_expr(p, &node.c));
    p->nesting--;
    return vram_parse_node(p, out, node);
}
