/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens of the template language; see lexer.h.  Bounded: no recursion, no allocation.
 */
#include "text/lexer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/math.h"

static bool name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool digit(char c) { return c >= '0' && c <= '9'; }

int vram_lexer_fail(struct vram_lexer *lex, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return vram_fail(lex->cx, VRAM_E_FORMAT, lex->start, "line %u, column %u: %s",
                     (unsigned)lex->token_line, (unsigned)lex->token_column, text);
}

static void begin(struct vram_lexer *lex)
{
    size_t column = lex->at - lex->line_start + 1;
    lex->start = lex->at;
    lex->token_line = lex->line;
    lex->token_column = column > UINT16_MAX ? UINT16_MAX : (uint16_t)column;
}

static char peek(const struct vram_lexer *lex, size_t ahead)
{
    return lex->at + ahead < lex->n ? lex->text[lex->at + ahead] : 0;
}

/* Skips empty lines and comments; measures the indentation of the next line that has something. */
static int line_start(struct vram_lexer *lex)
{
    for (;;) {
        lex->line_start = lex->at;
        uint32_t width = 0;
        while (peek(lex, 0) == ' ') {
            lex->at++;
            width++;
        }
        begin(lex);
        if (peek(lex, 0) == '\t')
            return vram_lexer_fail(lex, "a tab; indent with spaces");
        if (peek(lex, 0) == '\r' && peek(lex, 1) == '\n')
            lex->at++;
        if (lex->at < lex->n && (peek(lex, 0) == '\n' || peek(lex, 0) == '#')) {
            const char *eol = memchr(lex->text + lex->at, '\n', lex->n - lex->at);
            lex->at = eol ? (size_t)(eol - lex->text) + 1 : lex->n;
            lex->line++;
            continue;
        }
        if (lex->at >= lex->n)
            width = 0;
        lex->at_line_start = false;
        if (width > lex->indents[lex->nindents - 1]) {
            if (lex->nindents == (int)(sizeof lex->indents / sizeof *lex->indents))
                return vram_lexer_fail(lex, "blocks nest too deeply");
            lex->indents[lex->nindents++] = width;
            lex->token = VRAM_T_INDENT;
            lex->end = lex->at;
            return 1;
        }
        while (width < lex->indents[lex->nindents - 1]) {
            lex->nindents--;
            lex->pending_dedents++;
        }
        if (width != lex->indents[lex->nindents - 1])
            return vram_lexer_fail(lex, "this indentation matches no block above");
        return 0;
    }
}

static int number(struct vram_lexer *lex)
{
    int64_t value = 0;
    bool fits = true;
    while (digit(peek(lex, 0)) || peek(lex, 0) == '_') {
        char c = lex->text[lex->at++];
        if (c != '_')
            fits = fits && vram_mul_i64(value, 10, &value) && vram_add_i64(value, c - '0', &value);
    }
    bool real = peek(lex, 0) == '.' && digit(peek(lex, 1));
    if (real) {
        lex->at++;
        while (digit(peek(lex, 0)))
            lex->at++;
    }
    if (peek(lex, 0) == 'e' && (digit(peek(lex, 1)) || (peek(lex, 1) == '-' && digit(peek(lex, 2))))) {
        real = true;
        lex->at += 2;
        while (digit(peek(lex, 0)))
            lex->at++;
    }
    lex->end = lex->at;
    if (name_start(peek(lex, 0)))
        return vram_lexer_fail(lex, "a name cannot begin with a digit");
    if (!real) {
        if (!fits)
            return vram_lexer_fail(lex, "an integer above 64 bits");
        lex->integer = value;
        lex->token = VRAM_T_INT;
        return 0;
    }
    /* digits, point and exponent only, so the decimal point cannot depend on the locale */
    char copy[64];
    size_t n = lex->end - lex->start;
    if (n >= sizeof copy)
        return vram_lexer_fail(lex, "a number with too many digits");
    memcpy(copy, lex->text + lex->start, n);
    copy[n] = 0;
    double scale = 1, mantissa = 0;
    char *p = copy;
    for (; digit(*p); p++)
        mantissa = mantissa * 10 + (*p - '0');
    if (*p == '.')
        for (p++; digit(*p); p++) {
            mantissa = mantissa * 10 + (*p - '0');
            scale *= 10;
        }
    int exponent = *p == 'e' ? atoi(p + 1) : 0;
    lex->real = mantissa / scale;
    for (; exponent > 0 && exponent < 400; exponent--)
        lex->real *= 10;
    for (; exponent < 0 && exponent > -400; exponent++)
        lex->real /= 10;
    lex->token = VRAM_T_FLOAT;
    return 0;
}

static int string(struct vram_lexer *lex)
{
    lex->at++;
    size_t from = lex->at;
    while (lex->at < lex->n && lex->text[lex->at] != '"' && lex->text[lex->at] != '\n')
        lex->at++;
    if (peek(lex, 0) != '"')
        return vram_lexer_fail(lex, "a string without its closing quote");
    lex->start = from;
    lex->end = lex->at++;
    lex->token = VRAM_T_STRING;
    return 0;
}

static int punctuation(struct vram_lexer *lex)
{
    static const char *const two[] = {"==", "!=", "<=", ">=", "//", "**"};
    static const char one[] = "()[]{}:;,.=<>+-*/%";
    char c = lex->text[lex->at];
    lex->token = VRAM_T_PUNCT;
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (c == two[i][0] && peek(lex, 1) == two[i][1]) {
            memcpy(lex->punct, two[i], 3);
            lex->at += 2;
            lex->end = lex->at;
            return 0;
        }
    if (c == 0 || !strchr(one, c))
        return vram_lexer_fail(lex, "a character that means nothing here (byte 0x%02x)",
                               (unsigned)(unsigned char)c);
    lex->punct[0] = c;
    lex->punct[1] = 0;
    lex->at++;
    lex->end = lex->at;
    if (strchr("([{", c))
        lex->brackets++;
    if (strchr(")]}", c) && lex->brackets > 0)
        lex->brackets--;
    return 0;
}

int vram_lexer_next(struct vram_lexer *lex)
{
    if (lex->at_line_start) {
        int r = line_start(lex);
        if (r < 0)
            return r;
        if (r > 0)
            return 0; /* INDENT */
    }
    if (lex->pending_dedents) {
        lex->pending_dedents--;
        lex->token = VRAM_T_DEDENT;
        return 0;
    }
    for (;;) {
        while (peek(lex, 0) == ' ' || (lex->at < lex->n && peek(lex, 0) == '\r'))
            lex->at++;
        begin(lex);
        if (lex->at >= lex->n) {
            lex->end = lex->at;
            if (lex->nindents > 1 && !lex->brackets) {
                lex->pending_dedents = lex->nindents - 1;
                lex->nindents = 1;
                lex->token = VRAM_T_NEWLINE;
                return 0;
            }
            lex->token = VRAM_T_END;
            return 0;
        }
        if (peek(lex, 0) == '#') {
            const char *eol = memchr(lex->text + lex->at, '\n', lex->n - lex->at);
            lex->at = eol ? (size_t)(eol - lex->text) : lex->n;
            continue;
        }
        if (peek(lex, 0) != '\n')
            break;
        lex->at++;
        lex->line++;
        if (lex->brackets) {
            lex->line_start = lex->at;
            continue;
        }
        lex->end = lex->at;
        lex->at_line_start = true;
        lex->token = VRAM_T_NEWLINE;
        return 0;
    }
    char c = peek(lex, 0);
    if (name_start(c)) {
        while (name_start(peek(lex, 0)) || digit(peek(lex, 0)))
            lex->at++;
        lex->end = lex->at;
        lex->token = VRAM_T_NAME;
        return 0;
    }
    if (digit(c))
        return number(lex);
    if (c == '"')
        return string(lex);
    return punctuation(lex);
}

int vram_lexer_start(struct vram_lexer *lex, struct vram_cx *cx, const char *text, size_t n)
{
    *lex = (struct vram_lexer){.cx = cx, .text = text, .n = n, .line = 1, .nindents = 1,
                               .at_line_start = true};
    return vram_lexer_next(lex);
}
