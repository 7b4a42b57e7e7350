/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens, reserved words and the building of nodes; shared by expressions and definitions.
 */
#include "text/parser.h"

#include "base/vec.h"

int vram_parse_next(struct vram_parser *p) { return vram_lexer_next(&p->lex); }

int vram_parse_take(struct vram_parser *p, const char *punct, bool *taken)
{
    *taken = vram_parse_is(p, punct);
    return *taken ? vram_parse_next(p) : VRAM_OK;
}

int vram_parse_expect(struct vram_parser *p, const char *punct)
{
    if (!vram_parse_is(p, punct))
        return vram_lexer_fail(&p->lex, "expected '%s'", punct);
    return vram_parse_next(p);
}

int vram_parse_end_line(struct vram_parser *p)
{
    if (p->lex.token != VRAM_T_NEWLINE)
        return vram_lexer_fail(&p->lex, "expected the end of the line");
    return vram_parse_next(p);
}

static const struct vram_word words[] = {
#define SYNTAX(text) {text, sizeof text - 1, VRAM_WORD_SYNTAX, 0, 0}
#define VALUE(text, kind, a) {text, sizeof text - 1, VRAM_WORD_VALUE, kind, a}
    SYNTAX("if"), SYNTAX("in"), SYNTAX("or"), SYNTAX("for"), SYNTAX("del"), SYNTAX("and"),
    SYNTAX("not"), SYNTAX("else"), SYNTAX("with"), SYNTAX("return"),
    VALUE("none", VRAM_N_NONE, 0), VALUE("true", VRAM_N_BOOL, 1), VALUE("false", VRAM_N_BOOL, 0),
    VALUE("grad", VRAM_N_CONTEXT, VRAM_CONTEXT_GRAD),
    VALUE("config", VRAM_N_CONFIG, 0),
    VALUE("training", VRAM_N_CONTEXT, VRAM_CONTEXT_TRAINING),
    VALUE("autocast", VRAM_N_CONTEXT, VRAM_CONTEXT_AUTOCAST),
    VALUE("checkpointing", VRAM_N_CONTEXT, VRAM_CONTEXT_CHECKPOINTING),
    {"setting", 7, VRAM_WORD_SETTING, 0, 0}};

const struct vram_word *vram_parse_word(const struct vram_parser *p)
{
    const char *text = p->lex.text + p->lex.start;
    size_t n = p->lex.end - p->lex.start;
    static const bool begins[256] = {['i'] = 1, ['o'] = 1, ['f'] = 1, ['d'] = 1, ['a'] = 1,
                                     ['n'] = 1, ['e'] = 1, ['w'] = 1, ['r'] = 1, ['t'] = 1,
                                     ['g'] = 1, ['c'] = 1, ['s'] = 1};
    if (n < 2 || n > 13 || !begins[(unsigned char)text[0]])
        return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].n == n && words[i].text[0] == text[0] && !memcmp(words[i].text, text, n))
            return &words[i];
    return NULL;
}

int vram_parse_intern(struct vram_parser *p, vram_sym *out)
{
    *out = vram_sym_add(p->cx->syms, p->lex.text + p->lex.start, p->lex.end - p->lex.start, 1);
    return *out == VRAM_SYM_NONE ? vram_fail_memory(p->cx) : VRAM_OK;
}

int vram_parse_name(struct vram_parser *p, vram_sym *out)
{
    if (p->lex.token != VRAM_T_NAME)
        return vram_lexer_fail(&p->lex, "expected a name");
    if (vram_parse_word(p))
        return vram_lexer_fail(&p->lex, "'%s' is a reserved word", vram_parse_word(p)->text);
    VRAM_TRY(vram_parse_intern(p, out));
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
