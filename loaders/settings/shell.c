/* SPDX-License-Identifier: Apache-2.0
 *
 * Shell words; see shell.h.
 */
#include "settings/shell.h"

#include <string.h>

struct vram_shell {
    struct vram_cx *cx;
    const char *p, *end;
    uint32_t line;
    VRAM_VEC(struct vram_variable) variables;
    VRAM_VEC(char) buffer; /* the word that is read */
    struct vram_command command;
    VRAM_VEC(struct vram_word) array; /* of name=( … ) */
    VRAM_VEC(const char *) documents; /* ends of here-documents that begin behind this line */
    bool started;           /* the word has begun, if only with empty quotes */
    bool computed;          /* as it says */
    bool in_array;
    bool whole;             /* a value, which no space splits */
    bool skip;              /* the next word is a redirection's file */
    bool exporting;         /* behind export, declare, local, readonly */
    uint32_t word_line, open_line;
    uint64_t made;          /* bytes that variables became */
};

enum { VARIABLES_MOST = 1000 }; /* they are searched one by one */

static bool is_name_start(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z' ? true : c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name(char c) { return is_name_start(c) || is_digit(c); }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static int bad(struct vram_shell *s, uint32_t line, const char *why)
{
    s->line = line;
    return vram_fail(s->cx, VRAM_E_FORMAT, VRAM_NO_OFFSET, "%s", why);
}

/* ---- the word that is read ---- */

static int put(struct vram_shell *s, const char *text, size_t n)
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

static int take(struct vram_shell *s, struct vram_word *out)
{
    *out = (struct vram_word){vram_arena_strndup(s->cx->arena, s->buffer.at ? s->buffer.at : "",
                                                 s->buffer.n),
                              s->word_line, s->computed};
    s->buffer.n = 0;
    s->started = s->computed = false;
    return out->text ? VRAM_OK : vram_fail_memory(s->cx);
}

/* words that stand before a command */
static bool keyword(const struct vram_shell *s)
{
    static const char words[] = " if then elif else fi while until do done for case esac { } ! ( ) ";
    char shown[16] = " ";
    size_t n = s->buffer.n;
    if (s->in_array || s->command.words.n || s->command.before.n || !n || n > 8 || s->computed)
        return false;
    memcpy(shown + 1, s->buffer.at, n);
    shown[n + 1] = ' ';
    return strstr(words, shown) != NULL;
}

/* The end of a word: it goes where words go now. */
static int finish(struct vram_shell *s)
{
    struct vram_word word;
    if (!s->started)
        return VRAM_OK;
    bool nothing = s->skip || keyword(s);
    VRAM_TRY(take(s, &word));
    if (nothing) {
        s->skip = false;
        return VRAM_OK;
    }
    bool fits = s->in_array ? vram_vec_push(&s->array, s->cx->arena, word)
                            : vram_vec_push(&s->command.words, s->cx->arena, word);
    return fits ? VRAM_OK : vram_fail_memory(s->cx);
}

/* ---- variables ---- */

static struct vram_variable *find(struct vram_shell *s, const char *name, size_t n)
{
    for (size_t i = 0; i < s->variables.n; i++)
        if (!strncmp(s->variables.at[i].name, name, n) && !s->variables.at[i].name[n])
            return &s->variables.at[i];
    return NULL;
}

static int spend(struct vram_shell *s, uint64_t bytes)
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
    VRAM_TRY(spend(s, n));
    if (!split || word->computed) {
        VRAM_TRY(put(s, word->text, n));
        s->computed = s->computed || word->computed;
        return VRAM_OK;
    }
    for (const char *p = word->text; *p;) {
        size_t k = strcspn(p, " \t\n");
        if (k)
            VRAM_TRY(put(s, p, k));
        p += k;
        k = strspn(p, " \t\n");
        if (k)
            VRAM_TRY(finish(s));
        p += k;
    }
    return VRAM_OK;
}

static int unknown(struct vram_shell *s)
{
    VRAM_TRY(put(s, "", 0));
    s->computed = true;
    return VRAM_OK;
}

/* all: "${NAME[@]}", each of an array's words is one */
static int expand(struct vram_shell *s, const struct vram_variable *v, bool split, bool all)
{
    if (!v)
        return unknown(s);
    for (uint32_t i = 0; i < v->n && (i == 0 || all); i++) {
        if (i)
            VRAM_TRY(s->whole ? put(s, " ", 1) : finish(s));
        VRAM_TRY(expand_word(s, &v->words[i], split));
    }
    return VRAM_OK;
}

/* p behind the opening one; leaves p behind the closing one */
static int skip_nested(struct vram_shell *s, char open, char close)
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
    return bad(s, line, open == '{' ? "${ is never closed" : "a substitution is never closed");
}

/* ${NAME}, ${NAME[@]}, ${NAME:-text}; of the rest only a shell could tell */
static int braces(struct vram_shell *s, bool split)
{
    const char *name = s->p, *p = name;
    while (p < s->end && is_name(*p))
        p++;
    size_t n = (size_t)(p - name);
    VRAM_TRY(skip_nested(s, '{', '}'));
    size_t rest = (size_t)(s->p - 1 - p);
    const struct vram_variable *v = n ? find(s, name, n) : NULL;
    if (!n || is_digit(*name))
        return unknown(s);
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
            return unknown(s);
        struct vram_word word = {vram_arena_strndup(s->cx->arena, text, k), s->line, false};
        return word.text ? expand_word(s, &word, split) : vram_fail_memory(s->cx);
    }
    return unknown(s);
}

/* p at the dollar sign */
static int dollar(struct vram_shell *s, bool quoted)
{
    const char *p = ++s->p;
    bool split = !quoted && !s->whole;
    if (p == s->end || (!is_name(*p) && !strchr("{(@*#?$!-'", *p)))
        return put(s, "$", 1);
    if (*p == '\'')
        return quoted ? put(s, "$", 1) : VRAM_OK; /* $'…': the quotes come */
    if (*p == '{' || *p == '(') {
        s->p++;
        if (*p == '{')
            return braces(s, split);
        VRAM_TRY(skip_nested(s, '(', ')'));
        return unknown(s);
    }
    if (!is_name_start(*p)) {
        s->p++;
        return unknown(s);
    }
    while (s->p < s->end && is_name(*s->p))
        s->p++;
    return expand(s, find(s, p, (size_t)(s->p - p)), split, false);
}

/* ---- quotes ---- */

static int single_quotes(struct vram_shell *s)
{
    const char *from = ++s->p, *close = memchr(from, '\'', (size_t)(s->end - from));
    if (!close)
        return bad(s, s->line, "a ' quote is never closed");
    VRAM_TRY(put(s, from, (size_t)(close - from)));
    for (const char *p = from; p < close; p++)
        s->line += *p == '\n';
    s->p = close + 1;
    return VRAM_OK;
}

static int double_quotes(struct vram_shell *s)
{
    uint32_t line = s->line;
    VRAM_TRY(put(s, "", 0));
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
            VRAM_TRY(skip_nested(s, '`', '`'));
            VRAM_TRY(unknown(s));
            continue;
        }
        bool escape = c == '\\' && s->p + 1 < s->end && strchr("$`\"\\\n", s->p[1]);
        s->p += escape;
        s->line += *s->p == '\n';
        if (!escape || *s->p != '\n')
            VRAM_TRY(put(s, s->p, 1));
        s->p++;
    }
    return bad(s, line, "a \" quote is never closed");
}

/* ---- assignments ---- */

/* name= or name+= at p: the length with the sign, 0 when it is none */
static size_t assignment(const struct vram_shell *s, size_t *name)
{
    const char *p = s->p;
    if (p == s->end || !is_name_start(*p))
        return 0;
    while (p < s->end && is_name(*p))
        p++;
    *name = (size_t)(p - s->p);
    if (p + 1 < s->end && p[0] == '+' && p[1] == '=')
        return *name + 2;
    return p < s->end && *p == '=' ? *name + 1 : 0;
}

static bool exports(const struct vram_shell *s)
{
    static const char *const words[] = {"export", "declare", "local", "readonly", "typeset"};
    if (!s->command.words.n)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(s->command.words.at[0].text, words[i]))
            return true;
    return false;
}

static int piece(struct vram_shell *s);

/* words up to the closing bracket */
static int array(struct vram_shell *s)
{
    uint32_t line = s->line;
    s->array.n = 0;
    s->in_array = true;
    for (s->p++; s->p < s->end;) {
        char c = *s->p;
        if (is_blank(c) || c == '\n' || c == ')') {
            VRAM_TRY(finish(s));
            s->line += c == '\n';
            s->p++;
            if (c != ')')
                continue;
            s->in_array = false;
            return VRAM_OK;
        }
        if (c == '#' && !s->started)
            while (s->p < s->end && *s->p != '\n')
                s->p++;
        else if (strchr("|&;<>(", c))
            return bad(s, s->line, "an operator inside an array");
        else
            VRAM_TRY(piece(s));
    }
    return bad(s, line, "( of an array is never closed");
}

static int too_many(struct vram_shell *s)
{
    return vram_fail(s->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "more than %d variables", VARIABLES_MOST);
}

static int keep(struct vram_shell *s, struct vram_variable v)
{
    struct vram_variable *old = find(s, v.name, strlen(v.name));
    if (old) {
        *old = v;
        return VRAM_OK;
    }
    if (s->variables.n == VARIABLES_MOST)
        return too_many(s);
    return vram_vec_push(&s->variables, s->cx->arena, v) ? VRAM_OK : vram_fail_memory(s->cx);
}

/* The value's words, behind those that are there when it is "+=". */
static int assign(struct vram_shell *s, const char *name, size_t n, bool more,
                  struct vram_word *words, size_t count, bool is_array)
{
    struct vram_arena *arena = s->cx->arena;
    struct vram_variable *old = find(s, name, n);
    size_t before = more && old ? old->n : 0;
    struct vram_variable v = {.name = vram_arena_strndup(arena, name, n),
                              .words = vram_arena_array(arena, before + count, sizeof *words),
                              .n = (uint32_t)(before + count),
                              .exported = s->exporting || (old && old->exported)};
    if (!v.name || !v.words)
        return vram_fail_memory(s->cx);
    VRAM_TRY(spend(s, (before + count) * sizeof *words));
    if (before)
        memcpy(v.words, old->words, before * sizeof *words);
    if (count)
        memcpy(v.words + before, words, count * sizeof *words);
    if (before && !is_array) { /* text behind text */
        const struct vram_word *a = &v.words[before - 1], *b = &v.words[before];
        char *text = vram_format(arena, "%s%s", a->text, b->text);
        if (!text)
            return vram_fail_memory(s->cx);
        VRAM_TRY(spend(s, strlen(text)));
        v.words[before - 1] = (struct vram_word){text, b->line, a->computed || b->computed};
        v.n--;
    }
    if (s->exporting)
        return keep(s, v);
    if (s->command.before.n == VARIABLES_MOST)
        return too_many(s);
    return vram_vec_push(&s->command.before, arena, v) ? VRAM_OK : vram_fail_memory(s->cx);
}

static int read_assignment(struct vram_shell *s, size_t name, size_t length)
{
    const char *at = s->p;
    bool more = at[name] == '+';
    struct vram_word word;
    s->p += length;
    s->exporting = exports(s);
    if (s->p < s->end && *s->p == '(') {
        VRAM_TRY(array(s));
        return assign(s, at, name, more, s->array.at, s->array.n, true);
    }
    VRAM_TRY(put(s, "", 0));
    s->whole = true;
    while (s->p < s->end && !is_blank(*s->p) && !strchr("\n;&|<>()", *s->p))
        VRAM_TRY(piece(s));
    s->whole = false;
    VRAM_TRY(take(s, &word));
    return assign(s, at, name, more, &word, 1, false);
}

/* ---- commands ---- */

/* The end of a command.  Variables before no command stay; before one they are only its own. */
static int end_command(struct vram_shell *s, vram_command_fn command, void *ctx)
{
    VRAM_TRY(finish(s));
    struct vram_command *c = &s->command;
    for (size_t i = 0; i < c->before.n && !c->words.n; i++)
        VRAM_TRY(keep(s, c->before.at[i]));
    for (size_t i = 1; i < c->words.n && !strcmp(c->words.at[0].text, "export"); i++) {
        struct vram_variable *v = find(s, c->words.at[i].text, strlen(c->words.at[i].text));
        if (v)
            v->exported = true;
    }
    if (c->words.n)
        VRAM_TRY(command(ctx, s, c));
    c->words.n = c->before.n = 0;
    s->skip = s->exporting = false;
    return VRAM_OK;
}

/* Passes over here-documents, which begin behind the line that names them. */
static void skip_documents(struct vram_shell *s)
{
    for (size_t i = 0; i < s->documents.n; i++) {
        size_t n = strlen(s->documents.at[i]);
        for (bool over = false; s->p < s->end && !over; s->line++) {
            const char *from = s->p, *stop = memchr(from, '\n', (size_t)(s->end - from));
            stop = stop ? stop : s->end;
            while (from < stop && *from == '\t') /* of <<- */
                from++;
            over = (size_t)(stop - from) == n && !memcmp(from, s->documents.at[i], n);
            s->p = stop < s->end ? stop + 1 : stop;
        }
    }
    s->documents.n = 0;
}

/* p at < or >: the operator; its file's name is a word that is passed over */
static int redirection(struct vram_shell *s)
{
    const char *at = s->p;
    bool number = s->started && s->buffer.n == 1 && is_digit(s->buffer.at[0]);
    if (number)
        s->started = s->computed = false, s->buffer.n = 0;
    VRAM_TRY(finish(s));
    while (s->p < s->end && (*s->p == '<' || *s->p == '>'))
        s->p++;
    bool document = s->p - at == 2 && at[0] == '<';
    if (s->p < s->end && (*s->p == '&' || *s->p == '|' || (document && *s->p == '-')))
        s->p++;
    if (s->p < s->end && *s->p == '(') { /* <( … ) */
        s->p++;
        VRAM_TRY(skip_nested(s, '(', ')'));
        VRAM_TRY(unknown(s));
        return finish(s);
    }
    while (s->p < s->end && is_blank(*s->p))
        s->p++;
    s->skip = true;
    if (!document)
        return VRAM_OK;
    while (s->p < s->end && !is_blank(*s->p) && *s->p != '\n')
        VRAM_TRY(piece(s));
    const char *end = vram_arena_strndup(s->cx->arena, s->buffer.at ? s->buffer.at : "", s->buffer.n);
    if (!end || !vram_vec_push(&s->documents, s->cx->arena, end))
        return vram_fail_memory(s->cx);
    return finish(s);
}

/* A piece of a word: a quote, an expansion, an escape or a byte. */
static int piece(struct vram_shell *s)
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
        VRAM_TRY(skip_nested(s, '`', '`'));
        return unknown(s);
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
    VRAM_TRY(put(s, s->p, 1));
    s->p++;
    return VRAM_OK;
}

static int step(struct vram_shell *s, vram_command_fn command, void *ctx)
{
    size_t name, length;
    char c = *s->p;
    bool both = c == '&' && s->p + 1 < s->end && s->p[1] == '>'; /* &> */
    if (is_blank(c) || (strchr("\n;&|()", c) && !both)) {
        VRAM_TRY(is_blank(c) ? finish(s) : end_command(s, command, ctx));
        s->p++;
        s->line += c == '\n';
        if (c == '\n')
            skip_documents(s);
        return VRAM_OK;
    }
    s->p += both;
    if (both || c == '<' || c == '>')
        return redirection(s);
    if (s->started)
        return piece(s);
    if (c == '#') {
        while (s->p < s->end && *s->p != '\n')
            s->p++;
        return VRAM_OK;
    }
    length = !s->skip && (!s->command.words.n || exports(s)) ? assignment(s, &name) : 0;
    return length ? read_assignment(s, name, length) : piece(s);
}

int vram_shell_read(struct vram_cx *cx, const char *text, size_t n, vram_command_fn command,
                    void *ctx, uint32_t *line)
{
    struct vram_shell *s = vram_arena_alloc(cx->arena, sizeof *s);
    int rc = VRAM_OK;
    if (!s)
        return vram_fail_memory(cx);
    *s = (struct vram_shell){.cx = cx, .p = text, .end = text + n, .line = 1};
    const char *zero = memchr(text, 0, n);
    if (zero) {
        *line = 1;
        for (const char *p = text; p < zero; p++)
            *line += *p == '\n';
        return vram_fail(cx, VRAM_E_FORMAT, (uint64_t)(zero - text), "a zero byte: this is no script");
    }
    while (s->p < s->end && !rc)
        rc = step(s, command, ctx);
    if (!rc)
        rc = end_command(s, command, ctx);
    *line = s->line;
    return rc;
}

const struct vram_variable *vram_shell_exported(const struct vram_shell *s, size_t i)
{
    for (size_t k = 0; k < s->variables.n; k++)
        if (s->variables.at[k].exported && i-- == 0)
            return &s->variables.at[k];
    return NULL;
}
