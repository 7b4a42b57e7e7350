/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of a shell's words: quotes, escapes, expansions of variables that the script sets; see shell.h.
 */
#include <stdio.h>
#include <string.h>

#include "settings/shell_state.h"

int vram_shell_bad(struct vram_shell *s, uint32_t line, const char *why)
{
    s->line = line;
    return vram_fail(s->cx, VRAM_E_FORMAT, VRAM_NO_OFFSET, "%s", why);
}

/* ---- the word that is read ---- */

int vram_shell_put(struct vram_shell *s, const char *text, size_t n)
{
    if (!s->started)
        s->word_line = s->line;
    s->started = true;
    if (!vram_vec_room(&s->buffer, s->cx->arena, n))
        return vram_fail_memory(s->cx);
    if (n)
        memcpy(s->buffer.at + s->buffer.n, text, n);
    s->buffer.n += n;
    return VRAM_OK;
}

int vram_shell_take(struct vram_shell *s, struct vram_word *out)
{
    *out = (struct vram_word){vram_arena_strndup(s->cx->arena, s->buffer.at ? s->buffer.at : "",
                                                 s->buffer.n),
                              s->word_line, false};
    s->buffer.n = 0;
    s->started = false;
    if (!out->text)
        return vram_fail_memory(s->cx);
    out->computed = strstr(out->text, VRAM_SHELL_UNKNOWN) != NULL;
    return VRAM_OK;
}

/* words that stand before a command */
static bool keyword(const struct vram_shell *s)
{
    static const char words[] = " if then elif else fi while until do done for case esac { } ! ( ) ";
    char shown[16] = " ";
    size_t n = s->buffer.n;
    if (s->in_array || s->command.words.n || s->command.before.n || !n || n > 8)
        return false;
    memcpy(shown + 1, s->buffer.at, n);
    shown[n + 1] = ' ';
    return strstr(words, shown) != NULL;
}

int vram_shell_finish(struct vram_shell *s)
{
    struct vram_word word;
    if (!s->started)
        return VRAM_OK;
    bool nothing = s->skip || keyword(s);
    VRAM_TRY(vram_shell_take(s, &word));
    if (nothing) {
        s->skip = false;
        return VRAM_OK;
    }
    bool fits = s->in_array ? vram_vec_push(&s->array, s->cx->arena, word)
                            : vram_vec_push(&s->command.words, s->cx->arena, word);
    return fits ? VRAM_OK : vram_fail_memory(s->cx);
}

/* ---- variables ---- */

struct vram_variable *vram_shell_find(struct vram_shell *s, const char *name, size_t n)
{
    for (size_t i = 0; i < s->variables.n; i++)
        if (!strncmp(s->variables.at[i].name, name, n) && !s->variables.at[i].name[n])
            return &s->variables.at[i];
    return NULL;
}

int vram_shell_spend(struct vram_shell *s, uint64_t bytes)
{
    s->made += bytes + 1;
    if (s->made <= s->cx->limits->settings_bytes)
        return VRAM_OK;
    return vram_fail(s->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "variables become more than %llu bytes",
                     (unsigned long long)s->cx->limits->settings_bytes);
}

/* Without quotes what a variable holds is split at spaces. */
static int expand_word(struct vram_shell *s, const struct vram_word *word, bool split)
{
    size_t n = strlen(word->text);
    VRAM_TRY(vram_shell_spend(s, n));
    if (!split)
        return vram_shell_put(s, word->text, n);
    for (const char *p = word->text; *p;) {
        size_t k = strcspn(p, " \t\n");
        if (k)
            VRAM_TRY(vram_shell_put(s, p, k));
        p += k;
        k = strspn(p, " \t\n");
        if (k)
            VRAM_TRY(vram_shell_finish(s));
        p += k;
    }
    return VRAM_OK;
}

int vram_shell_unknown(struct vram_shell *s)
{
    return vram_shell_put(s, VRAM_SHELL_UNKNOWN, 1);
}

/* all: "${NAME[@]}", each of an array's words is one */
static int expand(struct vram_shell *s, const struct vram_variable *v, bool split, bool all)
{
    if (!v)
        return vram_shell_unknown(s);
    for (uint32_t i = 0; i < v->n && (i == 0 || all); i++) {
        if (i)
            VRAM_TRY(s->whole ? vram_shell_put(s, " ", 1) : vram_shell_finish(s));
        VRAM_TRY(expand_word(s, &v->words[i], split));
    }
    return VRAM_OK;
}

int vram_shell_nested(struct vram_shell *s, char open, char close)
{
    uint32_t line = s->line;
    for (unsigned depth = 1; s->p < s->end; s->p++) {
        if (*s->p == '\n')
            s->line++;
        if (*s->p == '\\' && s->p + 1 < s->end) {
            s->p++;
            s->line += *s->p == '\n';
        } else if (*s->p == '\'' && open == '(') { /* a bracket inside quotes is none */
            const char *stop = memchr(s->p + 1, '\'', (size_t)(s->end - s->p - 1));
            for (; stop && s->p < stop; s->p++)
                s->line += s->p[1] == '\n';
        } else if (*s->p == close && --depth == 0) {
            s->p++;
            return VRAM_OK;
        } else if (*s->p == open && open != close) {
            depth++;
        }
    }
    return vram_shell_bad(s, line, open == '{' ? "${ is never closed" : "a substitution is never closed");
}

/* ${NAME}, ${NAME[@]}, ${NAME:-text}; of the rest only a shell could tell */
static int braces(struct vram_shell *s, bool split)
{
    const char *name = s->p, *p = name;
    while (p < s->end && is_name(*p))
        p++;
    size_t n = (size_t)(p - name);
    VRAM_TRY(vram_shell_nested(s, '{', '}'));
    size_t rest = (size_t)(s->p - 1 - p);
    const struct vram_variable *v = n ? vram_shell_find(s, name, n) : NULL;
    if (!n || is_digit(*name))
        return vram_shell_unknown(s);
    if (rest == 0)
        return expand(s, v, split, false);
    if (rest == 3 && (!memcmp(p, "[@]", 3) || !memcmp(p, "[*]", 3)))
        return expand(s, v, split, true);
    size_t colon = *p == ':';
    if (rest > colon && (p[colon] == '-' || p[colon] == '=')) {
        if (v && !(colon && v->n == 1 && !v->words[0].text[0]))
            return expand(s, v, split, false);
        const char *text = p + colon + 1;
        size_t k = rest - colon - 1;
        if (memchr(text, '$', k) || memchr(text, '`', k) || memchr(text, '"', k) ||
            memchr(text, '\'', k) || memchr(text, '\\', k))
            return vram_shell_unknown(s);
        struct vram_word word = {vram_arena_strndup(s->cx->arena, text, k), s->line, false};
        return word.text ? expand_word(s, &word, split) : vram_fail_memory(s->cx);
    }
    return vram_shell_unknown(s);
}

/* "16 / $n": numbers and variables that hold some, from left to right.  False when it is more. */
static bool calculate(struct vram_shell *s, const char *p, const char *end, int64_t *out)
{
    char operator= '+';
    *out = 0;
    for (bool number = true;; number = !number) {
        while (p < end && (is_blank(*p) || *p == '\\' || *p == '"' || *p == '\''))
            p++;
        if (p == end)
            return !number;
        if (!number) {
            operator= *p++;
            if (!strchr("*/", operator))
                return false; /* sums would need an order */
            continue;
        }
        int64_t n = 0;
        p += *p == '$';
        const char *name = p;
        while (p < end && is_name(*p))
            p++;
        const struct vram_variable *v = is_digit(*name) || p == name
                                            ? NULL : vram_shell_find(s, name, (size_t)(p - name));
        const char *digits = v && v->n == 1 ? v->words[0].text : name;
        size_t k = v ? strlen(digits) : (size_t)(p - name);
        for (size_t i = 0; i < k; i++) {
            if (!is_digit(digits[i]) || k > 9)
                return false;
            n = n * 10 + (digits[i] - '0');
        }
        if (!k || (operator== '/' && !n) || *out > INT32_MAX)
            return false;
        *out = operator== '+' ? n : operator== '*' ? *out * n : *out / n;
    }
}

/* $(( … )) and $(expr … ) of plain numbers, which need no shell; all else does */
static int substitution(struct vram_shell *s, const char *from, const char *end)
{
    char text[24];
    int64_t n;
    if (end - from > 2 && *from == '(' && end[-1] == ')') {
        from++;
        end--;
    } else if (end - from > 5 && !memcmp(from, "expr ", 5)) {
        from += 5;
    } else {
        return vram_shell_unknown(s);
    }
    if (!calculate(s, from, end, &n))
        return vram_shell_unknown(s);
    int k = snprintf(text, sizeof text, "%lld", (long long)n);
    return vram_shell_put(s, text, (size_t)k);
}

/* p at the dollar sign */
static int dollar(struct vram_shell *s, bool quoted)
{
    const char *p = ++s->p;
    bool split = !quoted && !s->whole;
    if (p == s->end || (!is_name(*p) && !strchr("{(@*#?$!-'", *p)))
        return vram_shell_put(s, "$", 1);
    if (*p == '\'')
        return quoted ? vram_shell_put(s, "$", 1) : VRAM_OK; /* $'…': the quotes come */
    if (*p == '{' || *p == '(') {
        s->p++;
        if (*p == '{')
            return braces(s, split);
        VRAM_TRY(vram_shell_nested(s, '(', ')'));
        return substitution(s, p + 1, s->p - 1);
    }
    if (!is_name_start(*p)) {
        s->p++;
        return vram_shell_unknown(s);
    }
    while (s->p < s->end && is_name(*s->p))
        s->p++;
    return expand(s, vram_shell_find(s, p, (size_t)(s->p - p)), split, false);
}

/* ---- quotes ---- */

static int single_quotes(struct vram_shell *s)
{
    const char *from = ++s->p, *close = memchr(from, '\'', (size_t)(s->end - from));
    if (!close)
        return vram_shell_bad(s, s->line, "a ' quote is never closed");
    VRAM_TRY(vram_shell_put(s, from, (size_t)(close - from)));
    for (const char *p = from; p < close; p++)
        s->line += *p == '\n';
    s->p = close + 1;
    return VRAM_OK;
}

static int double_quotes(struct vram_shell *s)
{
    uint32_t line = s->line;
    VRAM_TRY(vram_shell_put(s, "", 0));
    for (s->p++; s->p < s->end;) {
        char c = *s->p;
        if (c == '"') {
            s->p++;
            return VRAM_OK;
        }
        if (c == '$') {
            VRAM_TRY(dollar(s, true));
            continue;
        }
        if (c == '`') {
            s->p++;
            VRAM_TRY(vram_shell_nested(s, '`', '`'));
            VRAM_TRY(vram_shell_unknown(s));
            continue;
        }
        bool escape = c == '\\' && s->p + 1 < s->end && strchr("$`\"\\\n", s->p[1]);
        s->p += escape;
        s->line += *s->p == '\n';
        if (!escape || *s->p != '\n')
            VRAM_TRY(vram_shell_put(s, s->p, 1));
        s->p++;
    }
    return vram_shell_bad(s, line, "a \" quote is never closed");
}

int vram_shell_piece(struct vram_shell *s)
{
    char c = *s->p;
    if (c == '\'')
        return single_quotes(s);
    if (c == '"')
        return double_quotes(s);
    if (c == '$')
        return dollar(s, false);
    if (c == '`') {
        s->p++;
        VRAM_TRY(vram_shell_nested(s, '`', '`'));
        return vram_shell_unknown(s);
    }
    if (c == '\\') {
        const char *next = s->p + 1;
        if (next < s->end && *next == '\r' && next + 1 < s->end && next[1] == '\n')
            next++;
        if (next == s->end || *next == '\n') { /* a line that goes on */
            s->line += next < s->end;
            s->p = next < s->end ? next + 1 : next;
            return VRAM_OK;
        }
        s->p = next;
    }
    VRAM_TRY(vram_shell_put(s, s->p, 1));
    s->p++;
    return VRAM_OK;
}
