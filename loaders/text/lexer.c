/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens of the template language; see lexer.h.  Bounded: no recursion, no allocation.
 */
#include "text/lexer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/math.h"

enum { LETTER = 1, DIGIT = 2 };

/* letters, '_' and digits of ASCII; whatever the locale says */
static const unsigned char class_of[256] = {
    ['0'] = DIGIT,  ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT,  ['4'] = DIGIT,  ['5'] = DIGIT,
    ['6'] = DIGIT,  ['7'] = DIGIT,  ['8'] = DIGIT,  ['9'] = DIGIT,  ['_'] = LETTER, ['a'] = LETTER,
    ['b'] = LETTER, ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER, ['f'] = LETTER, ['g'] = LETTER,
    ['h'] = LETTER, ['i'] = LETTER, ['j'] = LETTER, ['k'] = LETTER, ['l'] = LETTER, ['m'] = LETTER,
    ['n'] = LETTER, ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER, ['r'] = LETTER, ['s'] = LETTER,
    ['t'] = LETTER, ['u'] = LETTER, ['v'] = LETTER, ['w'] = LETTER, ['x'] = LETTER, ['y'] = LETTER,
    ['z'] = LETTER, ['A'] = LETTER, ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER, ['E'] = LETTER,
    ['F'] = LETTER, ['G'] = LETTER, ['H'] = LETTER, ['I'] = LETTER, ['J'] = LETTER, ['K'] = LETTER,
    ['L'] = LETTER, ['M'] = LETTER, ['N'] = LETTER, ['O'] = LETTER, ['P'] = LETTER, ['Q'] = LETTER,
    ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER, ['U'] = LETTER, ['V'] = LETTER, ['W'] = LETTER,
    ['X'] = LETTER, ['Y'] = LETTER, ['Z'] = LETTER};

static inline bool name_start(char c) { return class_of[(unsigned char)c] == LETTER; }
static inline bool digit(char c) { return class_of[(unsigned char)c] == DIGIT; }

/* ---- errors ------------------------------------------------------------------------------- */

static int fail_at(struct vram_lexer *lex, size_t offset, uint32_t line, uint16_t column,
                   const char *format, va_list args)
{
    char text[256];
    vsnprintf(text, sizeof text, format, args);
    return vram_fail(lex->cx, VRAM_E_FORMAT, offset, "line %u, column %u: %s", (unsigned)line,
                     (unsigned)column, text);
}

int vram_lexer_fail(struct vram_lexer *lex, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int code = fail_at(lex, lex->token_start, lex->token_line, lex->token_column, format, args);
    va_end(args);
    return code;
}

int vram_lexer_fail_at(struct vram_lexer *lex, uint32_t line, uint16_t column, const char *format,
                       ...)
{
    size_t at = 0;
    for (uint32_t i = 1; i < line && at < lex->n; i++) {
        const char *eol = memchr(lex->text + at, '\n', lex->n - at);
        at = eol ? (size_t)(eol - lex->text) + 1 : lex->n;
    }
    at += column ? column - 1u : 0;
    va_list args;
    va_start(args, format);
    int code = fail_at(lex, at < lex->n ? at : lex->n, line, column, format, args);
    va_end(args);
    return code;
}

/* ---- lines -------------------------------------------------------------------------------- */

static void begin(struct vram_lexer *lex)
{
    size_t column = lex->at - lex->line_start + 1;
    lex->start = lex->token_start = lex->at;
    lex->token_line = lex->line;
    lex->token_column = column > UINT16_MAX ? UINT16_MAX : (uint16_t)column;
}

static inline char peek(const struct vram_lexer *lex, size_t ahead)
{
    return lex->at + ahead < lex->n ? lex->text[lex->at + ahead] : 0;
}

/* Up to the end of the line, or of the text. */
static void skip_line(struct vram_lexer *lex)
{
    const char *eol = memchr(lex->text + lex->at, '\n', lex->n - lex->at);
    lex->at = eol ? (size_t)(eol - lex->text) : lex->n;
}

/* Compares the line's indentation with the open blocks: INDENT, DEDENTs to come, or neither. */
static int block_of(struct vram_lexer *lex, uint32_t width, bool *indent)
{
    *indent = width > lex->indents[lex->nindents - 1];
    if (*indent) {
        if (lex->nindents == VRAM_MAX_INDENTS)
            return vram_lexer_fail(lex, "blocks nest too deeply");
        lex->indents[lex->nindents++] = width;
        lex->token = VRAM_T_INDENT;
        lex->end = lex->at;
        return VRAM_OK;
    }
    while (width < lex->indents[lex->nindents - 1]) {
        lex->nindents--;
        lex->pending_dedents++;
    }
    if (width != lex->indents[lex->nindents - 1])
        return vram_lexer_fail(lex, "this indentation matches no block above");
    return VRAM_OK;
}

/* Skips empty lines and comments; measures the indentation of the next line that has something. */
static int line_start(struct vram_lexer *lex, bool *indent)
{
    lex->line_start = lex->at;
    for (;;) {
        while (peek(lex, 0) == ' ')
            lex->at++;
        size_t width = lex->at - lex->line_start;
        begin(lex);
        if (peek(lex, 0) == '\t')
            return vram_lexer_fail(lex, "a tab; indent with spaces");
        if (peek(lex, 0) == '\r' && (peek(lex, 1) == '\n' || lex->at + 1 == lex->n))
            lex->at++;
        if (lex->at < lex->n && (lex->text[lex->at] == '\n' || lex->text[lex->at] == '#')) {
            skip_line(lex);
            if (lex->at < lex->n) {
                lex->line_start = ++lex->at;
                lex->line++;
            }
            continue;
        }
        lex->at_line_start = false;
        return block_of(lex, lex->at >= lex->n ? 0 : (uint32_t)width, indent);
    }
}

/* ---- tokens ------------------------------------------------------------------------------- */

static const char *digits(const char *p, double *mantissa, double *scale)
{
    for (; digit(*p) || *p == '_'; p++)
        if (*p != '_') {
            *mantissa = *mantissa * 10 + (*p - '0');
            *scale *= 10;
        }
    return p;
}

/* The value of a real: digits, point and exponent only, so it cannot depend on the locale. */
static double real_of(const char *p)
{
    double mantissa = 0, scale = 1;
    int exponent = 0;
    p = digits(p, &mantissa, &scale);
    scale = 1;
    if (*p == '.')
        p = digits(p + 1, &mantissa, &scale);
    bool negative = *p == 'e' && p[1] == '-';
    if (*p == 'e')
        for (p += negative ? 2 : 1; digit(*p); p++)
            exponent = exponent < 1000 ? exponent * 10 + (*p - '0') : exponent;
    mantissa /= scale;
    for (; exponent > 0; exponent--)
        mantissa = negative ? mantissa / 10 : mantissa * 10;
    return mantissa;
}

static void skip_digits(struct vram_lexer *lex)
{
    while (digit(peek(lex, 0)) || peek(lex, 0) == '_')
        lex->at++;
}

static int number(struct vram_lexer *lex)
{
    char copy[64];
    skip_digits(lex);
    bool real = peek(lex, 0) == '.' && digit(peek(lex, 1));
    if (real) {
        lex->at++;
        skip_digits(lex);
    }
    if (peek(lex, 0) == 'e' &&
        (digit(peek(lex, 1)) || (peek(lex, 1) == '-' && digit(peek(lex, 2))))) {
        real = true;
        for (lex->at += 2; digit(peek(lex, 0));)
            lex->at++;
    }
    lex->end = lex->at;
    size_t n = lex->end - lex->start;
    if (name_start(peek(lex, 0)))
        return vram_lexer_fail(lex, "a name cannot begin with a digit");
    if (n >= sizeof copy)
        return vram_lexer_fail(lex, "a number with too many digits");
    lex->token = real ? VRAM_T_FLOAT : VRAM_T_INT;
    lex->integer = 0;
    for (size_t i = lex->start; !real && i < lex->end; i++) {
        char c = lex->text[i];
        if (c != '_' && (!vram_mul_i64(lex->integer, 10, &lex->integer) ||
                         !vram_add_i64(lex->integer, c - '0', &lex->integer)))
            return vram_lexer_fail(lex, "an integer above 64 bits");
    }
    if (!real)
        return VRAM_OK;
    memcpy(copy, lex->text + lex->start, n);
    copy[n] = 0;
    lex->real = real_of(copy);
    return isfinite(lex->real) ? VRAM_OK : vram_lexer_fail(lex, "a number that is too large");
}

static int string(struct vram_lexer *lex)
{
    size_t from = ++lex->at;
    while (lex->at < lex->n && lex->text[lex->at] != '"' &&
           (unsigned char)lex->text[lex->at] >= ' ')
        lex->at++;
    if (peek(lex, 0) != '"' && lex->at < lex->n && lex->text[lex->at] != '\n' &&
        lex->text[lex->at] != '\r')
        return vram_lexer_fail(lex, "a string with a control character (byte 0x%02x)",
                               (unsigned)(unsigned char)lex->text[lex->at]);
    if (peek(lex, 0) != '"')
        return vram_lexer_fail(lex, "a string without its closing quote");
    lex->start = from;
    lex->end = lex->at++;
    lex->token = VRAM_T_STRING;
    return VRAM_OK;
}

static int punctuation(struct vram_lexer *lex, char c)
{
    char next = peek(lex, 1);
    bool two = next == '=' ? c == '=' || c == '!' || c == '<' || c == '>'
                           : next == c && (c == '/' || c == '*');
    lex->token = VRAM_T_PUNCT;
    lex->punct[0] = c;
    lex->punct[1] = two ? next : 0;
    lex->punct[2] = 0;
    if (two) {
        lex->at += 2;
        lex->end = lex->at;
        return VRAM_OK;
    }
    switch (c) {
    case '(': case '[': case '{':
        lex->brackets++;
        break;
    case ')': case ']': case '}':
        lex->brackets -= lex->brackets > 0;
        break;
    case ':': case ';': case ',': case '.': case '=': case '<': case '>': case '+': case '-':
    case '*': case '/': case '%':
        break;
    default:
        return vram_lexer_fail(lex, "a character that means nothing here (byte 0x%02x)",
                               (unsigned)(unsigned char)c);
    }
    lex->end = ++lex->at;
    return VRAM_OK;
}

/* The end of the text ends the line and all blocks. */
static int end_of_text(struct vram_lexer *lex)
{
    lex->end = lex->at;
    lex->pending_dedents = lex->nindents - 1;
    lex->nindents = 1;
    lex->token = lex->open_line || lex->pending_dedents ? VRAM_T_NEWLINE : VRAM_T_END;
    lex->open_line = false;
    return VRAM_OK;
}

/* Spaces, comments, and inside brackets the ends of lines; *c is what comes then, 0 at the end of
 * the text (or a NUL byte in it). */
static bool skip_space(struct vram_lexer *lex, char *c)
{
    for (;; lex->at++) {
        *c = peek(lex, 0);
        if (*c == '#') {
            skip_line(lex);
            *c = peek(lex, 0);
        }
        if (*c == '\n' && lex->brackets) {
            lex->line++;
            lex->line_start = lex->at + 1;
        } else if (*c != ' ' && *c != '\r') {
            begin(lex);
            return lex->at < lex->n;
        }
    }
}

int vram_lexer_next(struct vram_lexer *lex)
{
    if (lex->at_line_start) {
        bool indent;
        VRAM_TRY(line_start(lex, &indent));
        if (indent)
            return VRAM_OK;
    }
    if (lex->pending_dedents) {
        lex->pending_dedents--;
        lex->token = VRAM_T_DEDENT;
        return VRAM_OK;
    }
    char c;
    if (!skip_space(lex, &c))
        return end_of_text(lex);
    if (c == '\n') {
        lex->at++;
        lex->line++;
        lex->end = lex->at;
        lex->at_line_start = true;
        lex->open_line = false;
        lex->token = VRAM_T_NEWLINE;
        return VRAM_OK;
    }
    lex->open_line = true;
    if (name_start(c)) {
        size_t at = lex->at + 1;
        while (at < lex->n && class_of[(unsigned char)lex->text[at]])
            at++;
        lex->end = lex->at = at;
        lex->token = VRAM_T_NAME;
        return VRAM_OK;
    }
    if (digit(c))
        return number(lex);
    return c == '"' ? string(lex) : punctuation(lex, c);
}

int vram_lexer_start(struct vram_lexer *lex, struct vram_cx *cx, const char *text, size_t n)
{
    *lex = (struct vram_lexer){.cx = cx, .text = text, .n = n, .line = 1, .nindents = 1,
                               .at_line_start = true};
    return vram_lexer_next(lex);
}
