/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of storages, and both forms of an explanation (JSON: schema "vramcast.explain/1").
 */
#include "output/explain.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/output.h"

const char *const explain_categories[EXPLAIN_CATEGORIES] = {
    "parameters", "gradients", "optimizer", "activations",
    "inputs",     "buffers",   "temporaries", "workspace"};

/* ---- groups -------------------------------------------------------------------------------- */

/* "3" of "layers.3.mlp" at p, the start of a part: its length, 0 when the part is no number */
static size_t number_at(const char *p)
{
    size_t n = strspn(p, "0123456789");
    return n && (p[n] == '.' || !p[n]) ? n : 0;
}

void explain_pattern(const char *path, char *out, size_t size)
{
    size_t at = 0;
    for (const char *p = path; *p && at + 2 < size;) {
        size_t n = p == path || p[-1] == '.' ? number_at(p) : 0;
        out[at++] = n ? '*' : *p;
        p += n ? n : 1;
    }
    out[at] = 0;
}

/* Paths whose numbers do not count. */
static int compare_paths(const char *a, const char *b)
{
    bool start = true;
    while (*a && *b) {
        size_t n = start ? number_at(a) : 0, k = start ? number_at(b) : 0;
        if (!n != !k || (!n && *a != *b))
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        start = *a == '.';
        a += n ? n : 1;
        b += k ? k : 1;
    }
    return *a ? 1 : *b ? -1 : 0;
}

/* What makes two storages alike; their order is of no meaning. */
static int compare(const vram_storage_view *a, const vram_storage_view *b)
{
    if (a->at_peak != b->at_peak)
        return a->at_peak ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    int c = strcmp(a->category, b->category);
    c = c ? c : strcmp(a->op, b->op);
    c = c ? c : strcmp(a->made, b->made);
    c = c ? c : strcmp(a->gone, b->gone);
    c = c ? c : compare_paths(a->module, b->module);
    return c ? c : compare_paths(a->what, b->what);
}

static int by_likeness(const void *a, const void *b)
{
    return compare(&((const struct group *)a)->one, &((const struct group *)b)->one);
}

/* Of one kind: for the same purpose, made by the same op, kept as long. */
static int compare_kinds(const vram_storage_view *a, const vram_storage_view *b)
{
    if (a->at_peak != b->at_peak)
        return a->at_peak ? -1 : 1;
    int c = strcmp(a->category, b->category);
    c = c ? c : strcmp(a->op, b->op);
    c = c ? c : strcmp(a->made, b->made);
    return c ? c : strcmp(a->gone, b->gone);
}

static int by_kind(const void *a, const void *b)
{
    return compare_kinds(&((const struct group *)a)->one, &((const struct group *)b)->one);
}

/* What lives at the peak first, then kinds by their bytes, then groups by theirs. */
static int by_bytes(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    uint64_t m = x->one.bytes * x->count, n = y->one.bytes * y->count;
    if (x->one.at_peak != y->one.at_peak)
        return x->one.at_peak ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind > y->kind ? -1 : 1;
    int c = compare_kinds(&x->one, &y->one);
    if (c || m == n)
        return c ? c : compare(&x->one, &y->one);
    return m > n ? -1 : 1;
}

static bool belongs(const struct explanation *e, const vram_storage_view *s)
{
    const char *name = e->subject.name;
    size_t n = strlen(name);
    switch (e->subject.kind) {
    case SUBJECT_COMPONENT:
        return !strcmp(s->component, name);
    case SUBJECT_MODULE:
        return !strncmp(s->module, name, n) && (!s->module[n] || s->module[n] == '.');
    default:
        return !strcmp(s->what, name);
    }
}

static void count(struct explanation *e, const vram_storage_view *s)
{
    for (size_t i = 0; s->at_peak && i < EXPLAIN_CATEGORIES; i++)
        if (!strcmp(explain_categories[i], s->category))
            e->at_peak[i] += s->bytes;
}

/* Equal storages become one group. */
static void merge(struct explanation *e, size_t n)
{
    qsort(e->groups, n, sizeof *e->groups, by_likeness);
    for (size_t i = 0; i < n; i++) {
        if (e->n && !compare(&e->groups[e->n - 1].one, &e->groups[i].one))
            e->groups[e->n - 1].count++;
        else
            e->groups[e->n++] = e->groups[i];
    }
}

/* Every group learns how much its whole kind is, and large kinds come first. */
static void rank(struct explanation *e)
{
    qsort(e->groups, e->n, sizeof *e->groups, by_kind);
    for (size_t i = 0, k; i < e->n; i = k) {
        uint64_t bytes = 0;
        for (k = i; k < e->n && !by_kind(&e->groups[i], &e->groups[k]); k++)
            bytes += e->groups[k].one.bytes * e->groups[k].count;
        for (size_t at = i; at < k; at++)
            e->groups[at].kind = bytes;
    }
    qsort(e->groups, e->n, sizeof *e->groups, by_bytes);
}

int explain_collect(struct explanation *e)
{
    size_t all = vram_report_storage_count(e->report), n = 0;
    e->groups = calloc(all + 1, sizeof *e->groups);
    if (!e->groups)
        return -1;
    for (size_t i = 0; i < all; i++) {
        vram_storage_view s = {.size = sizeof s};
        vram_report_storage(e->report, i, &s);
        if (!belongs(e, &s))
            continue;
        count(e, &s);
        e->groups[n++] = (struct group){s, 1, 0};
    }
    merge(e, n);
    rank(e);
    return 0;
}

void explain_finish(struct explanation *e) { free(e->groups); }

/* ---- text ---------------------------------------------------------------------------------- */

enum { MOST_KINDS = 14, MOST_GROUPS = 5 };

static void head(struct page *page, const struct explanation *e, const vram_report_view *v,
                 struct scale scale)
{
    char count_shown[UNITS_TEXT], a[UNITS_TEXT], b[UNITS_TEXT];
    uint64_t total = 0;
    for (size_t i = 0; i < EXPLAIN_CATEGORIES; i++)
        total += e->at_peak[i];
    page_style(page, PAGE_STRONG);
    page_paragraph(page, 0, e->subject.name);
    page_style(page, PAGE_PLAIN);
    if (e->subject.kind == SUBJECT_COMPONENT) {
        vram_report_component_view c = {.size = sizeof c};
        vram_report_component(e->report, e->subject.number, &c);
        page_printf(page, "component of %s parameters\n",
                    count_text(c.parameter_count, count_shown));
    } else if (e->subject.kind == SUBJECT_MODULE) {
        vram_module_view m = {.size = sizeof m};
        vram_model_module(e->model, e->subject.number, &m);
        page_printf(page, "%s of %s parameters, in component %s\n", m.class_name,
                    count_text(m.parameters, count_shown), m.component);
    } else {
        vram_param_view p = {.size = sizeof p};
        vram_model_param(e->model, e->subject.number, &p);
        page_printf(page, "%s, %s%s%s\n", p.buffer ? "buffer" : "parameter", p.dtype,
                    *p.tied_to ? ", the same as " : *p.stored ? " as stored" : ", in no file",
                    p.tied_to);
    }
    page_printf(page, "%s of %s %s at the peak, in %s\n\n", scale_text(scale, total, a),
                scale_text(scale, v->allocated.expected, b), scale.name, v->peak_phase);
}

static void factors(struct page *page, const struct explanation *e, struct scale scale)
{
    uint64_t total = 0, figures[EXPLAIN_CATEGORIES], shares[EXPLAIN_CATEGORIES];
    char text[UNITS_TEXT];
    for (size_t i = 0; i < EXPLAIN_CATEGORIES; i++)
        total += e->at_peak[i];
    apportion(e->at_peak, EXPLAIN_CATEGORIES, scale_round(scale, total), figures);
    apportion(e->at_peak, EXPLAIN_CATEGORIES, 1000, shares);
    for (size_t i = 0; i < EXPLAIN_CATEGORIES; i++) {
        if (!e->at_peak[i])
            continue;
        page_cell(page, explain_categories[i], OUTPUT_LABEL, PAGE_LEFT);
        page_cell(page, scale_figure(scale, figures[i], text), 10, PAGE_RIGHT);
        page_printf(page, " %s  %3u.%u %%\n", scale.name, (unsigned)(shares[i] / 10),
                    (unsigned)(shares[i] % 10));
    }
}

static void kind_head(struct page *page, const struct group *g, struct scale scale)
{
    const vram_storage_view *s = &g->one;
    char line[512], text[UNITS_TEXT];
    snprintf(line, sizeof line, "%.20s of %.40s, %.60s to %.60s", s->category, s->op, s->made,
             *s->gone ? s->gone : "the end");
    page_put(page, "\n");
    page_cell(page, line, 70, PAGE_START);
    page_cell(page, scale_text(scale, g->kind, text), 10, PAGE_RIGHT);
    page_put(page, "\n");
    page_spaces(page, 2);
    page_style(page, PAGE_FAINT);
    page_paragraph(page, 2, s->rule);
    page_style(page, PAGE_PLAIN);
}

static void put_group(struct page *page, const struct group *g, struct scale scale)
{
    char module[512], each[UNITS_TEXT + 32], text[UNITS_TEXT];
    const vram_storage_view *s = &g->one;
    bool of_param = *s->what && strcmp(s->category, "activations") != 0;
    explain_pattern(of_param ? s->what : s->module, module, sizeof module);
    snprintf(each, sizeof each, "%s %s %" PRIu64, bytes_text(s->bytes, text),
             page->ascii ? "x" : "×", g->count);
    page_spaces(page, 4);
    page_cell(page, *module ? module : "(the model)", 48, PAGE_LEFT);
    page_cell(page, each, 18, PAGE_RIGHT);
    page_cell(page, scale_text(scale, s->bytes * g->count, text), 10, PAGE_RIGHT);
    page_put(page, "\n");
}

static void put_rest(struct page *page, uint64_t groups, uint64_t bytes, struct scale scale)
{
    char line[64], text[UNITS_TEXT];
    if (!groups)
        return;
    snprintf(line, sizeof line, "and %" PRIu64 " more", groups);
    page_spaces(page, 4);
    page_cell(page, line, 66, PAGE_LEFT);
    page_cell(page, scale_text(scale, bytes, text), 10, PAGE_RIGHT);
    page_put(page, "\n");
}

/* One kind: its head, its largest groups; returns the first group behind it. */
static size_t put_kind(struct page *page, const struct explanation *e, size_t at,
                       struct scale scale)
{
    uint64_t hidden = 0, bytes = 0;
    size_t first = at;
    kind_head(page, &e->groups[at], scale);
    for (; at < e->n && !by_kind(&e->groups[first], &e->groups[at]); at++) {
        const struct group *g = &e->groups[at];
        if (at - first < MOST_GROUPS) {
            put_group(page, g, scale);
        } else {
            hidden++;
            bytes += g->one.bytes * g->count;
        }
    }
    put_rest(page, hidden, bytes, scale);
    return at;
}

/* "step2." of the phase that owns the peak: other steps repeat it */
static bool same_step(const char *phase, const char *peak)
{
    size_t n = strcspn(peak, ".");
    return !peak[n] || !strncmp(phase, peak, n + 1);
}

/* What dies in the phase that made it was never there together with the rest. */
static bool kept(const vram_storage_view *s, const char *peak_phase)
{
    return strcmp(s->made, s->gone) != 0 && same_step(s->made, peak_phase);
}

static void section(struct page *page, const struct explanation *e, const char *peak_phase,
                    struct scale scale, bool at_peak)
{
    size_t kinds = 0, hidden = 0;
    for (size_t i = 0, next; i < e->n; i = next) {
        const vram_storage_view *s = &e->groups[i].one;
        for (next = i; next < e->n && !by_kind(&e->groups[i], &e->groups[next]); next++) {
        }
        if (!s->at_peak == at_peak || (!at_peak && !kept(s, peak_phase)))
            continue;
        if (!kinds++) {
            page_style(page, PAGE_STRONG);
            page_printf(page, "\n%-70s%10s\n",
                        at_peak ? "there at the peak"
                                : "not there at the peak, but kept from one phase to another",
                        scale.name);
            page_style(page, PAGE_PLAIN);
        }
        if (kinds <= MOST_KINDS)
            put_kind(page, e, i, scale);
        else
            hidden++;
    }
    if (hidden)
        page_printf(page, "\nand %zu smaller kinds (--format json shows all)\n", hidden);
}

void explain_text(struct page *page, const struct explanation *e)
{
    vram_report_view v = {.size = sizeof v};
    vram_report_get(e->report, &v);
    struct scale scale = scale_for(v.allocated.expected);
    head(page, e, &v, scale);
    factors(page, e, scale);
    section(page, e, v.peak_phase, scale, true);
    section(page, e, v.peak_phase, scale, false);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void group_json(struct json *j, const struct group *g)
{
    char pattern[512];
    const vram_storage_view *s = &g->one;
    json_open(j, NULL, '{', true);
    json_text(j, "category", s->category);
    json_text(j, "op", s->op);
    explain_pattern(s->module, pattern, sizeof pattern);
    json_text(j, "module", pattern);
    json_text(j, "component", s->component);
    explain_pattern(s->what, pattern, sizeof pattern);
    json_text(j, "parameter", pattern);
    json_number(j, "bytes", s->bytes);
    json_number(j, "count", g->count);
    json_bool(j, "at_peak", s->at_peak);
    json_text(j, "made", s->made);
    json_text(j, "gone", s->gone);
    json_text(j, "rule", s->rule);
    json_close(j);
}

void explain_json(struct page *page, const struct explanation *e)
{
    static const char *const kinds[] = {"component", "module", "parameter"};
    struct json j = {.page = page};
    vram_report_view v = {.size = sizeof v};
    vram_report_get(e->report, &v);
    json_open(&j, NULL, '{', false);
    json_text(&j, "schema", "vramcast.explain/1");
    json_open(&j, "subject", '{', true);
    json_text(&j, "kind", kinds[e->subject.kind]);
    json_text(&j, "name", e->subject.name);
    json_close(&j);
    json_open(&j, "peak", '{', true);
    json_text(&j, "phase", v.peak_phase);
    json_text(&j, "owner", v.peak_owner);
    json_number(&j, "allocated", v.allocated.expected);
    json_close(&j);
    json_open(&j, "at_peak", '{', true);
    for (size_t i = 0; i < EXPLAIN_CATEGORIES; i++)
        json_number(&j, explain_categories[i], e->at_peak[i]);
    json_close(&j);
    json_open(&j, "groups", '[', false);
    for (size_t i = 0; i < e->n; i++)
        group_json(&j, &e->groups[i]);
    json_close(&j);
    json_close(&j);
}
