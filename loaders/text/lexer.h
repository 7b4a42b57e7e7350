/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens of the template language: names, numbers, strings, operators, and the line structure
 * (NEWLINE, INDENT, DEDENT) that Python has.  Inside brackets lines run on.
 */
#ifndef VRAM_TEXT_LEXER_H
#define VRAM_TEXT_LEXER_H

#include <stddef.h>
#include <stdint.h>

#include "base/cx.h"

enum vram_token { VRAM_T_END, VRAM_T_NEWLINE, VRAM_T_INDENT, VRAM_T_DEDENT, VRAM_T_NAME,
                  VRAM_T_INT, VRAM_T_FLOAT, VRAM_T_STRING, VRAM_T_PUNCT };

enum { VRAM_MAX_INDENTS = 32 };

struct vram_lexer {
    struct vram_cx *cx;
    const char *text;
    size_t n, at;
    uint32_t line;
    size_t line_start;
    int brackets;
    uint32_t indents[VRAM_MAX_INDENTS];
    int nindents;
    int pending_dedents;
    bool at_line_start;
    bool open_line;      /* a token stood on this line; its NEWLINE is still to come */
    /* the current token */
    enum vram_token token;
    size_t start, end;   /* span; strings without their quotes */
    size_t token_start;  /* where it begins, quotes and all */
    uint32_t token_line;
    uint16_t token_column;
    char punct[3];       /* PUNCT: "==" or "(" ... */
    int64_t integer;
    double real;
};

int vram_lexer_start(struct vram_lexer *lex, struct vram_cx *cx, const char *text, size_t n);
int vram_lexer_next(struct vram_lexer *lex);
/* A one-line error at the current token, with its line, column and byte offset. */
__attribute__((format(printf, 2, 3))) int vram_lexer_fail(struct vram_lexer *lex,
                                                          const char *format, ...);
/* The same at a place that was read before. */
__attribute__((format(printf, 4, 5))) int vram_lexer_fail_at(struct vram_lexer *lex, uint32_t line,
                                                             uint16_t column, const char *format,
                                                             ...);

#endif
