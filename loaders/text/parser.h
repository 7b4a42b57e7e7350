/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the two halves of the template parser: expressions (expr.c) and definitions with their
 * statements (template.c).
 */
#ifndef VRAM_TEXT_PARSER_H
#define VRAM_TEXT_PARSER_H

#include "ir/program.h"
#include "text/lexer.h"

enum { VRAM_MAX_LOCALS = 200, VRAM_MAX_LIST = 256, VRAM_MAX_NESTING = 60 };

struct vram_parser {
    struct vram_lexer lex;
    struct vram_cx *cx;
    struct vram_program *program;
    uint16_t file;
    int nesting;
    void *class_body; /* room for a class, used again for the next */
    /* names of the frame that is being parsed */
    vram_sym locals[VRAM_MAX_LOCALS];
    uint32_t nlocals;
};

/* ---- tokens */
int vram_parse_next(struct vram_parser *p);
bool vram_parse_is(const struct vram_parser *p, const char *punct);
bool vram_parse_is_name(const struct vram_parser *p, const char *name);
int vram_parse_expect(struct vram_parser *p, const char *punct);
/* A name that is no reserved word. */
int vram_parse_name(struct vram_parser *p, vram_sym *out);
/* Takes the token when it is that word or punctuation. */
int vram_parse_take(struct vram_parser *p, const char *punct, bool *taken);
int vram_parse_take_name(struct vram_parser *p, const char *name, bool *taken);

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
