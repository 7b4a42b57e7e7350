/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes as text and as JSON; see shapes.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/shapes.h"

enum { LONGEST_SIZE = 8192, NAME = 40, TYPE = 8 };

static void value_at(const struct shown_shapes *s, size_t i, vram_value_view *v)
{
    *v = (vram_value_view){.size = sizeof *v};
    vram_shapes_value(s->shapes, i, v);
}

/* "/If_3.then_branch/x"; the caller frees it.  NULL without memory. */
static char *full_name(const vram_value_view *v)
{
    size_t n = strlen(v->path) + strlen(v->name) + 2;
    char *name = malloc(n);
    if (name)
        snprintf(name, n, "%s%s%s", v->path, *v->path ? "/" : "", v->name);
    return name;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* "[batch, seq + 1]"; the caller frees it */
static char *shape_text(const struct shown_shapes *s, size_t i, const vram_value_view *v)
{
    char size[LONGEST_SIZE], *all = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&all, &n);
    if (!to)
        return NULL;
    if (strcmp(v->kind, "tensor") != 0)
        fputs(*v->kind ? v->kind : "not known", to);
    else if (v->rank == UINT32_MAX)
        fputs("of unknown rank", to);
    else
        fputc('[', to);
    for (uint32_t k = 0; v->rank != UINT32_MAX && k < v->rank; k++) {
        vram_shapes_size(s->shapes, i, k, size, sizeof size);
        fprintf(to, "%s%s", k ? ", " : "", size);
    }
    fputs(v->rank != UINT32_MAX && !strcmp(v->kind, "tensor") ? "]" : "", to);
    fclose(to);
    return all;
}

static void put_value(struct page *page, const struct shown_shapes *s, size_t i, const vram_value_view *v, size_t width)
{
    char *name = full_name(v), *shape = shape_text(s, i, v);
    if (!name || !shape)
        page->error = page->error ? page->error : 12; /* ENOMEM */
    page_spaces(page, 2);
    page_cell(page, name ? name : "", width, PAGE_LEFT);
    page_spaces(page, 2);
    page_cell(page, v->dtype, TYPE, PAGE_LEFT);
    page_paragraph(page, 2 + width + 2 + TYPE, shape ? shape : "");
    free(name);
    free(shape);
}

static size_t name_width(const struct shown_shapes *s, const char *role)
{
    size_t width = 8;
    for (size_t i = 0; i < vram_shapes_value_count(s->shapes) && width < NAME; i++) {
        vram_value_view v;
        value_at(s, i, &v);
        size_t w = strlen(v.path) + strlen(v.name) + (*v.path != 0);
        if (w > width && (!role || (!strcmp(v.role, role) && !*v.path)))
            width = w < NAME ? w : NAME;
    }
    return width;
}

static void put_title(struct page *page, const char *text)
{
    page_style(page, PAGE_STRONG);
    page_printf(page, "%s\n", text);
    page_style(page, PAGE_PLAIN);
}

/* Values of the main graph of this role; NULL: all others. */
static void put_values(struct page *page, const struct shown_shapes *s, const char *title, const char *role)
{
    size_t width = name_width(s, role);
    bool any = false;
    for (size_t i = 0; i < vram_shapes_value_count(s->shapes); i++) {
        vram_value_view v;
        value_at(s, i, &v);
        bool shown = role ? !*v.path && !strcmp(v.role, role)
                          : *v.path || (strcmp(v.role, "input") && strcmp(v.role, "initializer") && strcmp(v.role, "output"));
        if (!shown)
            continue;
        if (!any)
            put_title(page, title);
        any = true;
        put_value(page, s, i, &v, width);
    }
}

static void put_head(struct page *page, const struct shown_shapes *s)
{
    vram_graph_view g = {.size = sizeof g};
    vram_graph_get(s->graph, &g);
    page_style(page, PAGE_STRONG);
    page_printf(page, "%s\n", g.path);
    page_style(page, PAGE_PLAIN);
    page_printf(page, "  opset %" PRId64 ", %u nodes, %u initializers", g.opset, g.nodes, g.initializers);
    if (*g.producer)
        page_printf(page, ", by %s%s%s", g.producer, *g.producer_version ? " " : "", g.producer_version);
    page_put(page, "\n");
    for (size_t i = 0; vram_shapes_symbol(s->shapes, i); i++)
        page_printf(page, "%s%s", i ? ", " : "  open sizes: ", vram_shapes_symbol(s->shapes, i));
    page_put(page, vram_shapes_symbol(s->shapes, 0) ? "\n" : "");
}

static void put_claims(struct page *page, const struct shown_shapes *s)
{
    size_t n = vram_shapes_claim_count(s->shapes);
    put_title(page, n ? "what the file says and its graph does not give" : "all that the file says of its values follows");
    for (size_t i = 0; i < n; i++) {
        vram_claim_view c = {.size = sizeof c};
        vram_value_view v;
        vram_shapes_claim(s->shapes, i, &c);
        value_at(s, c.value, &v);
        char *name = full_name(&v);
        page_printf(page, "  %s\n", name ? name : "");
        page_spaces(page, 4);
        page_put(page, c.wrong ? "wrong:  " : "narrow: ");
        char line[1024];
        snprintf(line, sizeof line, "%s, from the inputs %s", c.says, c.is);
        page_paragraph(page, 12, line);
        free(name);
    }
}

static void put_findings(struct page *page, const struct shown_shapes *s)
{
    static const char *const words[] = {"note", "assumed", "warning"};
    for (size_t i = 0; i < vram_shapes_finding_count(s->shapes); i++) {
        vram_finding_view f = {.size = sizeof f};
        char line[1200];
        vram_shapes_finding(s->shapes, i, &f);
        if (!i)
            put_title(page, "findings");
        page_printf(page, "  %s ", f.id);
        snprintf(line, sizeof line, "%s: %s%s%s", words[f.severity], f.subject, *f.subject ? ": " : "", f.text);
        page_paragraph(page, 8, line);
    }
}

void shapes_text(struct page *page, const struct shown_shapes *s)
{
    put_head(page, s);
    put_values(page, s, "inputs", "input");
    put_values(page, s, "outputs", "output");
    put_values(page, s, "values", NULL);
    if (s->claims)
        put_claims(page, s);
    put_findings(page, s);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_sizes(struct json *j, const struct shown_shapes *s, size_t i, uint32_t rank)
{
    char size[LONGEST_SIZE];
    json_open(j, "dims", '[', true);
    for (uint32_t k = 0; k < rank; k++) {
        int64_t n = vram_shapes_size(s->shapes, i, k, NULL, 0);
        if (n >= 0) {
            json_integer(j, NULL, n);
        } else if (n == VRAM_SIZE_UNKNOWN) {
            json_raw(j, NULL, "null");
        } else {
            vram_shapes_size(s->shapes, i, k, size, sizeof size);
            json_text(j, NULL, size);
        }
    }
    json_close(j);
}

static void json_value(struct json *j, const struct shown_shapes *s, size_t i)
{
    vram_value_view v;
    value_at(s, i, &v);
    char *name = full_name(&v);
    json_open(j, name ? name : "", '{', true);
    if (*v.kind && strcmp(v.kind, "tensor") != 0)
        json_text(j, "kind", v.kind);
    if (*v.dtype)
        json_text(j, "dtype", v.dtype);
    else
        json_raw(j, "dtype", "null");
    if (v.rank == UINT32_MAX || strcmp(v.kind, "tensor") != 0)
        json_raw(j, "dims", "null");
    else
        json_sizes(j, s, i, v.rank);
    json_close(j);
    free(name);
}

static void json_claims(struct json *j, const struct shown_shapes *s)
{
    json_open(j, "claims", '[', false);
    for (size_t i = 0; i < vram_shapes_claim_count(s->shapes); i++) {
        vram_claim_view c = {.size = sizeof c};
        vram_value_view v;
        vram_shapes_claim(s->shapes, i, &c);
        value_at(s, c.value, &v);
        char *name = full_name(&v);
        json_open(j, NULL, '{', true);
        json_text(j, "tensor", name ? name : "");
        json_text(j, "says", c.says);
        json_text(j, "is", c.is);
        json_bool(j, "wrong", c.wrong);
        json_close(j);
        free(name);
    }
    json_close(j);
}

void shapes_json(struct page *page, const struct shown_shapes *s)
{
    static const char *const severities[] = {"note", "assume", "warn"};
    struct json j = {.page = page};
    json_open(&j, NULL, '{', false);
    json_text(&j, "schema", "vramcast.shapes/1");
    json_open(&j, "symbols", '[', true);
    for (size_t i = 0; vram_shapes_symbol(s->shapes, i); i++)
        json_text(&j, NULL, vram_shapes_symbol(s->shapes, i));
    json_close(&j);
    json_open(&j, "tensors", '{', false);
    for (size_t i = 0; i < vram_shapes_value_count(s->shapes); i++)
        json_value(&j, s, i);
    json_close(&j);
    if (s->claims)
        json_claims(&j, s);
    json_open(&j, "findings", '[', false);
    for (size_t i = 0; i < vram_shapes_finding_count(s->shapes); i++) {
        vram_finding_view f = {.size = sizeof f};
        vram_shapes_finding(s->shapes, i, &f);
        json_open(&j, NULL, '{', true);
        json_text(&j, "id", f.id);
        json_text(&j, "severity", severities[f.severity]);
        json_text(&j, "subject", f.subject);
        json_text(&j, "text", f.text);
        json_close(&j);
    }
    json_close(&j);
    json_close(&j);
}
