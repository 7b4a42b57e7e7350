/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the two halves of the template parser: expressions (expr.c) and definitions with their
 * statements (template.c).
 */
#ifndef VRAM_TEXT_PARSER_H
#define VRAM_TEXT_PARSER_H

#include <string.h>

#include "ir/program.h"
#include "text/lexer.h"

/* NESTING bounds the parser's own recursion, HEIGHT that of whoever walks what it made: a + b + c
 * nests nothing and is two high. */
enum { VRAM_MAX_LOCALS = 200, VRAM_MAX_LIST = 256, VRAM_MAX_NESTING = 60, VRAM_MAX_HEIGHT = 200 };

struct vram_parser {
    struct vram_lexer lex;
    struct vram_cx *cx;
    struct vram_program *program;
    uint16_t file;
    int nesting;
    unsigned height;  /* of the expression that was parsed last */
    /* names of the frame that is being parsed */
    vram_sym locals[VRAM_MAX_LOCALS];
    uint32_t nlocals;
};

/* ---- tokens */
int vram_parse_next(struct vram_parser *p);
int vram_parse_expect(struct vram_parser *p, const char *punct);
int vram_parse_end_line(struct vram_parser *p);

static inline bool vram_parse_is(const struct vram_parser *p, const char *punct)
{
    return p->lex.token == VRAM_T_PUNCT && p->lex.punct[0] == punct[0] &&
           p->lex.punct[1] == punct[1];
}

static inline bool vram_parse_is_word_(const struct vram_parser *p, const char *word, size_t n)
{
    return p->lex.token == VRAM_T_NAME && p->lex.end - p->lex.start == n &&
           !memcmp(p->lex.text + p->lex.start, word, n);
}
/* Is the token this word?  A literal, so that its length is known here. */
#define vram_parse_is_name(p, literal) vram_parse_is_word_((p), "" literal, sizeof literal - 1)

/* What a reserved word means: syntax, setting(...), or a value of that kind. */
enum vram_word_use { VRAM_WORD_SYNTAX, VRAM_WORD_SETTING, VRAM_WORD_VALUE };
struct vram_word {
    const char *text;
    uint8_t n, word, kind, a;
};
/* The row of the current name; NULL when it is an ordinary one. */
const struct vram_word *vram_parse_word(const struct vram_parser *p);
/* The current name, whatever it is; the token stays. */
int vram_parse_intern(struct vram_parser *p, vram_sym *out);
/* A name that is no reserved word. */
int vram_parse_name(struct vram_parser *p, vram_sym *out);
/* Takes the token when it is that word or punctuation. */
int vram_parse_take(struct vram_parser *p, const char *punct, bool *taken);
#define vram_parse_take_name(p, literal, taken)                                                    \
    (*(taken) = vram_parse_is_name(p, literal), *(taken) ? vram_parse_next(p) : VRAM_OK)

/* ---- building */
int vram_parse_node(struct vram_parser *p, uint32_t *out, struct vram_node node);
int vram_parse_list(struct vram_parser *p, const uint32_t *items, size_t n, uint32_t *first);
/* Slot of a local name; VRAM_NO_INDEX when it is none. */
uint32_t vram_parse_local(const struct vram_parser *p, vram_sym name);
int vram_parse_add_local(struct vram_parser *p, vram_sym name, uint32_t *slot);

/* ---- expressions: on success *out is a node number */
int vram_parse_expr(struct vram_parser *p, uint32_t *out);
/* A conditional expression's operand: does not take `if`, so that clauses may follow. */
int vram_parse_operand(struct vram_parser *p, uint32_t *out);
/* `(a, b=c)` after a callee */
int vram_parse_call(struct vram_parser *p, uint32_t callee, uint32_t *out);
/* `[a, b]` as a LIST node */
int vram_parse_dims(struct vram_parser *p, uint32_t *out);

#endif
