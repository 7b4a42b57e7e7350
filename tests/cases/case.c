/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a file of cases; see README.md for its form.
 */
#include "case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *file_name;
static unsigned line_number;

__attribute__((noreturn)) static void wrong(const char *what, const char *word)
{
    fprintf(stderr, "%s:%u: %s '%s'\n", file_name, line_number, what, word);
    exit(1);
}

static void add(char *to, size_t size, const char *prefix, const char *line)
{
    size_t n = strlen(to), more = strlen(prefix) + strlen(line) + 1;
    if (n + more >= size)
        wrong("too long:", line);
    snprintf(to + n, size - n, "%s%s\n", prefix, line);
}

static int numbers(const char *text, int64_t *out)
{
    int n = 0;
    if (!strcmp(text, "scalar"))
        return 0;
    for (char *end; *text; text = *end ? end + 1 : end) {
        if (n == VRAM_MAX_RANK)
            wrong("too many sizes", text);
        out[n++] = strtoll(text, &end, 10);
        if (end == text || (*end && *end != ','))
            wrong("not a size:", text);
    }
    return n;
}

static char *word(char **rest)
{
    char *w = *rest + strspn(*rest, " ");
    char *end = w + strcspn(w, " ");
    *rest = *end ? end + 1 : end;
    *end = 0;
    return w;
}

/* NAME DTYPE SHAPE [strides STRIDES] [grad | param] */
static void read_operand(struct test_case *c, char *line)
{
    if (c->noperands == MAX_OPERANDS)
        wrong("too many operands:", line);
    struct operand *o = &c->operand[c->noperands++];
    char *rest = line, *name = word(&rest), *dtype = word(&rest), *shape = word(&rest);
    snprintf(o->name, sizeof o->name, "%s", name);
    o->dtype = vram_dtype_by_name(dtype);
    if (!o->dtype)
        wrong("no dtype:", dtype);
    o->rank = numbers(shape, o->shape);
    for (char *w; *(w = word(&rest));) {
        if (!strcmp(w, "grad"))
            o->grad = true;
        else if (!strcmp(w, "param"))
            o->grad = o->param = true;
        else if (!strcmp(w, "strides") && numbers(word(&rest), o->stride) == o->rank)
            o->strided = true;
        else
            wrong("not understood:", w);
    }
}

static void read_options(struct test_case *c, char *rest)
{
    for (char *w; *(w = word(&rest));) {
        if (!strncmp(w, "autocast=", 9))
            c->autocast = vram_dtype_by_name(w + 9);
        else if (!strcmp(w, "attention=efficient"))
            c->attention = VRAM_ATTENTION_EFFICIENT;
        else if (!strcmp(w, "attention=math"))
            c->attention = VRAM_ATTENTION_MATH;
        else if (!strcmp(w, "card"))
            c->card = true;
        else if (!strcmp(w, "eval"))
            c->eval = true;
        else
            wrong("not understood:", w);
    }
}

static void read_header(struct test_case *c, const char *line)
{
    size_t n = strcspn(line, ":");
    if (!line[n] || n >= sizeof c->op || strlen(line) >= sizeof c->header)
        wrong("a header is 'case OP: what':", line);
    memcpy(c->op, line, n);
    snprintf(c->header, sizeof c->header, "%s", line);
    c->line = line_number;
}

static void read_line(struct test_case *c, char *line)
{
    char *rest = line;
    if (line[0] == '>')
        add(c->expected, sizeof c->expected, "", line);
    else if (line[0] == '|')
        add(c->code, sizeof c->code, "  ", line + (line[1] ? 2 : 1));
    else if (!strncmp(line, "with ", 5))
        read_options(c, line + 5);
    else if (!strncmp(line, "gradient strides ", 17)) {
        c->gradient.rank = numbers(line + 17, c->gradient.stride);
        c->gradient.strided = true;
    } else if (*rest)
        read_operand(c, line);
}

bool case_next(struct test_case *c, const char *file, const char **at, unsigned *line)
{
    memset(c, 0, sizeof *c);
    file_name = c->file = file;
    while (**at) {
        char text[1024];
        size_t n = strcspn(*at, "\n");
        line_number = *line + 1;
        if (n >= sizeof text)
            wrong("too long:", file);
        memcpy(text, *at, n);
        text[n] = 0;
        if (!strncmp(text, "case ", 5)) {
            if (c->line)
                return true;
            read_header(c, text + 5);
        } else if (text[0] != '#' && c->line) {
            read_line(c, text);
        }
        *at += n + ((*at)[n] == '\n');
        ++*line;
    }
    return c->line != 0;
}
