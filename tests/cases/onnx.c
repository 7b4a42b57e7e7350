/* SPDX-License-Identifier: Apache-2.0
 *
 *     onnx FILE.case...    what each operator gives, against what the specification says
 *
 * A case is a few nodes in ONNX's textual syntax with the types of their inputs; see onnx/README.md.
 * Also: every operator row has a case of its own versions.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cx.h"
#include "onnx/infer.h"
#include "onnx/onnx.h"

enum { MAX_TEXT = 1 << 14, MAX_LINES = 24 };

struct onnx_case {
    const char *file;
    unsigned line;
    char header[128]; /* "com.microsoft:Gelu 1: what is special" */
    char domain[64], op[64];
    unsigned version;
    unsigned n_in, n_nodes, n_out;
    char *in[MAX_LINES], *nodes[MAX_LINES], *out[MAX_LINES];
};

struct buffer {
    char at[MAX_TEXT];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void put(struct buffer *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(b->at + b->n, sizeof b->at - b->n, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof b->at - b->n) {
        fprintf(stderr, "a case is too long\n");
        exit(1);
    }
    b->n += (size_t)n;
}

/* ---- reading ---- */

static void form(const struct onnx_case *c, const char *what)
{
    fprintf(stderr, "%s:%u: %s\n", c->file, c->line, what);
    exit(1);
}

static void header(struct onnx_case *c, const char *text)
{
    const char *space = strchr(text, ' '), *colon = strchr(text, ':');
    snprintf(c->header, sizeof c->header, "%s", text);
    if (!space || sscanf(space, " %u", &c->version) != 1)
        form(c, "a case begins with its operator and version");
    if (colon && colon < space) {
        snprintf(c->domain, sizeof c->domain, "%.*s", (int)(colon - text), text);
        text = colon + 1;
    }
    snprintf(c->op, sizeof c->op, "%.*s", (int)(space - text), text);
}

static void add(struct onnx_case *c, char **list, unsigned *n, char *line)
{
    if (*n == MAX_LINES)
        form(c, "too many lines");
    list[(*n)++] = line;
}

/* The next case; *at moves on.  Lines are cut out of the text. */
static bool next(struct onnx_case *c, const char *file, char **at, unsigned *line)
{
    bool found = false;
    *c = (struct onnx_case){.file = file};
    while (**at) {
        char *text = *at, *end = text + strcspn(text, "\n");
        if (!strncmp(text, "case ", 5) && found)
            return true;
        *at = *end ? end + 1 : end;
        *end = 0;
        ++*line;
        if (!strncmp(text, "case ", 5)) {
            found = true;
            c->line = *line;
            header(c, text + 5);
        } else if (text[0] && text[0] != '#') {
            if (text[0] == '|')
                add(c, c->nodes, &c->n_nodes, text + 1);
            else if (!strncmp(text, "> ", 2))
                add(c, c->out, &c->n_out, text + 2);
            else
                add(c, c->in, &c->n_in, text);
        }
    }
    return found;
}

/* The last word before " = ": a value's name. */
static void name_of(const char *line, char *out, size_t size)
{
    const char *end = strstr(line, " = ");
    if (!end)
        end = line + strlen(line);
    const char *begin = end;
    while (begin > line && begin[-1] != ' ')
        begin--;
    snprintf(out, size, "%.*s", (int)(end - begin), begin);
}

/* ---- running ---- */

static void model_text(const struct onnx_case *c, struct buffer *b)
{
    static const char *const others[] = {"", "ai.onnx.ml", "com.microsoft", "com.microsoft.nchwc",
                                         "ai.onnx.preview", "ai.onnx.preview.training"};
    b->n = 0;
    put(b, "<ir_version: 8, opset_import: [\"%s\" : %u", c->domain, c->version);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], c->domain) != 0)
            put(b, ", \"%s\" : %u", others[i], i ? 1u : 17u);
    put(b, "]>\ng (");
    for (unsigned i = 0, n = 0; i < c->n_in; i++)
        if (!strstr(c->in[i], " = "))
            put(b, "%s%s", n++ ? ", " : "", c->in[i]);
    put(b, ") => ()\n<");
    for (unsigned i = 0, n = 0; i < c->n_in; i++)
        if (strstr(c->in[i], " = "))
            put(b, "%s%s", n++ ? ", " : "", c->in[i]);
    put(b, "> {");
    for (unsigned i = 0; i < c->n_nodes; i++)
        put(b, "%s\n", c->nodes[i]);
    put(b, "}");
}

static void put_dtype(struct buffer *b, uint8_t dtype)
{
    const char *name = dtype == VRAM_DT_STRING ? "string" : vram_dtypes[dtype].onnx;
    if (dtype == VRAM_DT_NONE)
        put(b, "?");
    for (; dtype != VRAM_DT_NONE && *name; name++)
        put(b, "%c", tolower((unsigned char)*name));
}

static void put_dim(struct buffer *b, const struct vram_dims *dims, vram_dim d)
{
    put(b, "%s", d ? vram_dim_text(dims, d) : "?");
}

static void put_elements(struct buffer *b, const struct vram_dims *dims, const struct vram_info *x)
{
    put(b, " = {");
    for (uint32_t i = 0; i < x->elements; i++) {
        const struct vram_element *e = &x->value[i];
        put(b, i ? ", " : "");
        if (e->kind == VRAM_ELEMENT_REAL)
            put(b, "%.9g", e->real);
        else
            put_dim(b, dims, e->kind == VRAM_ELEMENT_RATIO ? e->num : VRAM_DIM_UNKNOWN);
        if (e->kind == VRAM_ELEMENT_RATIO && e->den != 1)
            put(b, "/%lld", (long long)e->den);
    }
    put(b, "}");
}

/* "float[b,3] y = {1, 2}": a tensor without brackets is a scalar, with empty ones of unknown rank */
static void describe(struct buffer *b, const struct vram_dims *dims, const struct vram_info *x,
                     const char *name, bool elements)
{
    b->n = 0;
    if (x->kind == VRAM_ONNX_SEQUENCE) {
        put(b, "seq %s", name);
        return;
    }
    if (x->kind == VRAM_ONNX_OPTIONAL) {
        put(b, "optional %s", name);
        return;
    }
    put_dtype(b, x->dtype);
    if (x->dtype == VRAM_DT_NONE && !x->ranked) {
        put(b, " %s", name);
        return;
    }
    if (!x->ranked || x->rank)
        put(b, "[");
    for (uint32_t i = 0; x->ranked && i < x->rank; i++) {
        put(b, i ? "," : "");
        put_dim(b, dims, x->dims[i]);
    }
    if (!x->ranked || x->rank)
        put(b, "]");
    put(b, " %s", name);
    if (elements && x->value)
        put_elements(b, dims, x);
}

static const struct vram_info *find(const struct vram_cx *cx, const struct vram_onnx *model,
                                    const struct vram_inference *shapes, const char *name)
{
    for (uint32_t v = 1; v < model->values.n; v++)
        if (model->values.at[v].graph == 1 &&
            !strcmp(vram_sym_text(cx->syms, model->values.at[v].name), name))
            return &shapes->at[v];
    return NULL;
}

static unsigned wrong(const struct onnx_case *c, const char *expected, const char *actual)
{
    printf("%s:%u: %s\n    expected  %s\n    here      %s\n", c->file, c->line, c->header, expected,
           actual);
    return 1;
}

static unsigned compare(const struct onnx_case *c, const struct vram_cx *cx, int code,
                        const struct vram_onnx *model, const struct vram_inference *shapes)
{
    static struct buffer b;
    unsigned failed = 0;
    char name[64];
    if (!strncmp(c->out[0], "fails: ", 7)) {
        bool said = code && strstr(cx->error->text, c->out[0] + 7);
        return said ? 0 : wrong(c, c->out[0], code ? cx->error->text : "no error");
    }
    if (code)
        return wrong(c, c->out[0], cx->error->text);
    for (unsigned i = 0; i < c->n_out; i++) {
        name_of(c->out[i], name, sizeof name);
        const struct vram_info *x = find(cx, model, shapes, name);
        if (!x)
            return wrong(c, c->out[i], "no such value");
        describe(&b, shapes->dims, x, name, strstr(c->out[i], " = ") != NULL);
        if (strcmp(b.at, c->out[i]) != 0)
            failed = wrong(c, c->out[i], b.at);
    }
    return failed;
}

static unsigned run(const struct onnx_case *c)
{
    static struct buffer text;
    struct vram_arena arena;
    struct vram_syms syms;
    vram_error error = {.offset = VRAM_NO_OFFSET};
    struct vram_findings findings = {0};
    struct vram_cx cx = {&arena, &syms, &vram_limits_default, &findings, &error};
    struct vram_onnx model = {0};
    struct vram_inference shapes = {0};
    if (!c->n_nodes || !c->n_out)
        form(c, "a case has nodes and an expectation");
    model_text(c, &text);
    vram_arena_init(&arena, vram_limits_default.arena_bytes);
    int code = vram_syms_init(&syms, &arena);
    if (!code)
        code = vram_onnx_load_text(&cx, c->file, text.at, text.n, &model);
    if (!code)
        code = vram_onnx_infer(&cx, &model, NULL, &shapes);
    unsigned failed = compare(c, &cx, code, &model, &shapes);
    vram_arena_finish(&arena);
    return failed;
}

/* ---- rows ---- */

/* The row that a case is about: the newest that its version has. */
static size_t row_of(const struct onnx_case *c)
{
    struct vram_onnx_op_row row;
    size_t best = SIZE_MAX;
    uint32_t since = 0;
    for (size_t i = 0; vram_onnx_op_listed(i, &row); i++)
        if (!strcmp(row.domain, c->domain) && !strcmp(row.name, c->op) && row.since <= c->version &&
            row.since >= since) {
            best = i;
            since = row.since;
        }
    return best;
}

static unsigned uncovered(const bool *covered, size_t n)
{
    struct vram_onnx_op_row row;
    unsigned missing = 0;
    for (size_t i = 0; i < n && vram_onnx_op_listed(i, &row); i++)
        if (!covered[i]) {
            printf("operator row %s%s%s %u has no case\n", row.domain, *row.domain ? ":" : "",
                   row.name, row.since);
            missing++;
        }
    return missing;
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t n, cap = 1 << 20;
    char *text = malloc(cap);
    if (!f || !text) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    n = fread(text, 1, cap - 1, f);
    text[n] = 0;
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    struct vram_onnx_op_row row;
    unsigned cases = 0, failed = 0;
    size_t rows = 0;
    while (vram_onnx_op_listed(rows, &row))
        rows++;
    bool *covered = calloc(rows + 1, sizeof *covered);
    for (int i = 1; i < argc; i++) {
        static struct onnx_case c;
        char *text = read_file(argv[i]), *at = text;
        for (unsigned line = 0; next(&c, argv[i], &at, &line); cases++) {
            size_t r = row_of(&c);
            failed += run(&c);
            if (r == SIZE_MAX)
                failed += wrong(&c, "an operator row", "none of this name and version");
            else
                covered[r] = true;
        }
        free(text);
    }
    failed += uncovered(covered, rows);
    printf("onnx cases: %u of %zu rows, wrong: %u\n", cases, rows, failed);
    free(covered);
    return failed != 0;
}
