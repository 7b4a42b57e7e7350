/* SPDX-License-Identifier: Apache-2.0
 *
 * Shell scripts: assignments, arrays, commands, redirections, here-documents; see shell.h.
 */
#include <string.h>

#include "settings/shell_state.h"

enum { VARIABLES_MOST = 1000 }; /* they are searched one by one */

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

/* words up to the closing bracket */
static int array(struct vram_shell *s)
{
    uint32_t line = s->line;
    s->array.n = 0;
    s->in_array = true;
    for (s->p++; s->p < s->end;) {
        char c = *s->p;
        if (is_blank(c) || c == '\n' || c == ')') {
            VRAM_TRY(vram_shell_finish(s));
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
            return vram_shell_bad(s, s->line, "an operator inside an array");
        else
            VRAM_TRY(vram_shell_piece(s));
    }
    return vram_shell_bad(s, line, "( of an array is never closed");
}

static int too_many(struct vram_shell *s)
{
    return vram_fail(s->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "more than %d variables", VARIABLES_MOST);
}

static int keep(struct vram_shell *s, struct vram_variable v)
{
    struct vram_variable *old = vram_shell_find(s, v.name, strlen(v.name));
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
    struct vram_variable *old = vram_shell_find(s, name, n);
    size_t before = more && old ? old->n : 0;
    struct vram_variable v = {.name = vram_arena_strndup(arena, name, n),
                              .words = vram_arena_array(arena, before + count, sizeof *words),
                              .n = (uint32_t)(before + count),
                              .exported = (old && old->exported) ||
                                          (s->exporting &&
                                           !strcmp(s->command.words.at[0].text, "export"))};
    if (!v.name || !v.words)
        return vram_fail_memory(s->cx);
    VRAM_TRY(vram_shell_spend(s, (before + count) * sizeof *words));
    if (before)
        memcpy(v.words, old->words, before * sizeof *words);
    if (count)
        memcpy(v.words + before, words, count * sizeof *words);
    if (before && !is_array) { /* text behind text */
        const struct vram_word *a = &v.words[before - 1], *b = &v.words[before];
        char *text = vram_format(arena, "%s%s", a->text, b->text);
        if (!text)
            return vram_fail_memory(s->cx);
        VRAM_TRY(vram_shell_spend(s, strlen(text)));
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
    VRAM_TRY(vram_shell_put(s, "", 0));
    s->whole = true;
    while (s->p < s->end && !is_blank(*s->p) && !strchr("\n;&|<>()", *s->p))
        VRAM_TRY(vram_shell_piece(s));
    s->whole = false;
    VRAM_TRY(vram_shell_take(s, &word));
    return assign(s, at, name, more, &word, 1, false);
}

/* ---- commands ---- */

/* The end of a command.  Variables before no command stay; before one they are only its own. */
static int end_command(struct vram_shell *s, vram_command_fn command, void *ctx)
{
    VRAM_TRY(vram_shell_finish(s));
    struct vram_command *c = &s->command;
    for (size_t i = 0; i < c->before.n && !c->words.n; i++)
        VRAM_TRY(keep(s, c->before.at[i]));
    for (size_t i = 1; i < c->words.n && !strcmp(c->words.at[0].text, "export"); i++) {
        struct vram_variable *v = vram_shell_find(s, c->words.at[i].text, strlen(c->words.at[i].text));
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
        s->started = false, s->buffer.n = 0;
    VRAM_TRY(vram_shell_finish(s));
    while (s->p < s->end && (*s->p == '<' || *s->p == '>'))
        s->p++;
    bool document = s->p - at == 2 && at[0] == '<';
    if (s->p < s->end && (*s->p == '&' || *s->p == '|' || (document && *s->p == '-')))
        s->p++;
    if (s->p < s->end && *s->p == '(') { /* <( … ) */
        s->p++;
        VRAM_TRY(vram_shell_nested(s, '(', ')'));
        VRAM_TRY(vram_shell_unknown(s));
        return vram_shell_finish(s);
    }
    while (s->p < s->end && is_blank(*s->p))
        s->p++;
    s->skip = true;
    if (!document)
        return VRAM_OK;
    while (s->p < s->end && !is_blank(*s->p) && *s->p != '\n')
        VRAM_TRY(vram_shell_piece(s));
    const char *end = vram_arena_strndup(s->cx->arena, s->buffer.at ? s->buffer.at : "", s->buffer.n);
    if (!end || !vram_vec_push(&s->documents, s->cx->arena, end))
        return vram_fail_memory(s->cx);
    return vram_shell_finish(s);
}

static int step(struct vram_shell *s, vram_command_fn command, void *ctx)
{
    size_t name, length;
    char c = *s->p;
    bool both = c == '&' && s->p + 1 < s->end && s->p[1] == '>'; /* &> */
    if (is_blank(c) || (strchr("\n;&|()", c) && !both)) {
        VRAM_TRY(is_blank(c) ? vram_shell_finish(s) : end_command(s, command, ctx));
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
        return vram_shell_piece(s);
    if (c == '#') {
        while (s->p < s->end && *s->p != '\n')
            s->p++;
        return VRAM_OK;
    }
    length = !s->skip && (!s->command.words.n || exports(s)) ? assignment(s, &name) : 0;
    return length ? read_assignment(s, name, length) : vram_shell_piece(s);
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
