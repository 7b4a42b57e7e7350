/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer as text of 80 columns: the verdict and the peak, what the model is, where the bytes
 * are, when, what was assumed, what is odd.  One unit for the page; reads without colour.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output/output.h"

static void blank(const struct sheet *s) { page_put(s->page, "\n"); }

void sheet_label(struct page *page, const char *label)
{
    page_style(page, label ? PAGE_STRONG : PAGE_PLAIN);
    page_cell(page, label ? label : "", OUTPUT_LABEL, PAGE_LEFT);
    page_style(page, PAGE_PLAIN);
}

const char *sheet_dot(const struct page *page) { return page->ascii ? ", " : " · "; }

static const char *setting(const struct sheet *s, const char *key)
{
    for (size_t i = 0; i < vram_report_setting_count(s->p->report); i++) {
        vram_report_setting_view v = {.size = sizeof v};
        vram_report_setting(s->p->report, i, &v);
        if (!strcmp(v.key, key))
            return v.value;
    }
    return "";
}

/* ---- the verdict and the peak -------------------------------------------------------------- */

static void headline(const struct sheet *s, enum page_style style, const char *format,
                     const char *gpu, const char *text)
{
    char left[96];
    snprintf(left, sizeof left, format, gpu);
    page_style(s->page, style);
    page_put(s->page, left);
    page_style(s->page, PAGE_PLAIN);
    size_t width = page_width(left), indent = width + 2 > OUTPUT_LABEL ? width + 2 : OUTPUT_LABEL;
    page_spaces(s->page, indent - width);
    page_paragraph(s->page, indent, text);
}

static void verdict(const struct sheet *s)
{
    const vram_report_view *v = &s->view;
    vram_model_view m = {.size = sizeof m};
    vram_model_get(s->p->model, &m);
    char text[256], a[UNITS_TEXT], b[UNITS_TEXT], c[UNITS_TEXT];
    const char *unit = s->scale.name, *headroom = setting(s, "headroom");
    double usable = (double)v->gpu_capacity * (1 - strtod(headroom, NULL));
    uint64_t room = (uint64_t)usable;
    const char *kept = s->sum                        ? ", by the sum over modules"
                       : strtod(headroom, NULL) > 0 ? ", headroom kept free"
                                                    : "";
    static const char *const counts[] = {"gpus", "tp", "pp"};
    unsigned long long all = 1;
    char gpus[24];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        unsigned long long n = strtoull(setting(s, counts[i]), NULL, 10);
        all *= n ? n : 1;
    }
    snprintf(gpus, sizeof gpus, "%llu", all);
    bool many = all > 1;
    scale_text(s->scale, room, c);
    snprintf(text, sizeof text, "%s %s on %s%.20s%s%s; gpu=NAME gives a verdict",
             scale_text(s->scale, v->device.expected, a), unit, many ? "each of " : "",
             many ? gpus : "the", many ? " cards" : " card", kept);
    switch (v->verdict) {
    case VRAM_FITS:
        snprintf(text, sizeof text, "%s %s to spare of its %s %s, by the high estimate%s",
                 scale_text(s->scale, room - v->device.high, a), unit, c, unit, kept);
        headline(s, PAGE_GOOD, "fits %s", v->gpu, text);
        break;
    case VRAM_TIGHT:
        snprintf(text, sizeof text,
                 "%s %s to spare of its %s %s as expected, %s %s too much by the high estimate%s",
                 scale_text(s->scale, room - v->device.expected, a), unit, c, unit,
                 scale_text(s->scale, v->device.high - room, b), unit, kept);
        headline(s, PAGE_DOUBTFUL, "tight on %s", v->gpu, text);
        break;
    case VRAM_DOES_NOT_FIT:
        snprintf(text, sizeof text, "%s %s more than its %s %s%s",
                 scale_text(s->scale, v->device.expected - room, a), unit, c, unit, kept);
        headline(s, PAGE_BAD, "does not fit %s", v->gpu, text);
        break;
    default:
        if (!v->peak_known)
            headline(s, PAGE_DOUBTFUL, "cannot tell%s", "",
                     !strcmp(m.format, "onnx")
                         ? "not all sizes of the graph are known, or what it keeps: the weights are exact, the "
                           "peak is unknown"
                     : v->parameters_total
                         ? "no template says what this model runs: parameters, gradients and "
                           "optimizer state are exact, activations and the peak unknown"
                         : "no template says what this model is made of or runs, and there are "
                           "no weights to count");
        else
            headline(s, PAGE_STRONG, s->sum ? "sum%s" : "peak%s", "", text);
    }
}

static void meter(const struct sheet *s, const char *name, const vram_range *r, const char *help)
{
    char text[UNITS_TEXT];
    const uint64_t values[] = {r->low, r->expected, r->high};
    sheet_label(s->page, name);
    for (size_t i = 0; i < 3; i++)
        page_cell(s->page, scale_text(s->scale, values[i], text), 10, PAGE_RIGHT);
    page_printf(s->page, "  %s\n", help);
}

static void meters(const struct sheet *s)
{
    const vram_report_view *v = &s->view;
    char title[48];
    if (!v->peak_known)
        return;
    snprintf(title, sizeof title, "%s %s", s->scale.name, s->sum ? "in all" : "at the peak");
    sheet_label(s->page, title);
    page_put(s->page, "       low  expected      high\n");
    if (s->sum) {
        meter(s, "sum", &v->allocated, "over modules, not a moment");
        meter(s, "device", &v->device, "with CUDA context");
        return;
    }
    meter(s, "allocated", &v->allocated, "tensors and workspaces");
    meter(s, "reserved", &v->reserved, "with the allocator's cache");
    meter(s, "device", &v->device, "with CUDA context, libraries");
    if (v->host.high)
        meter(s, "host", &v->host, "offloaded, in host memory");
}

/* ---- the model ----------------------------------------------------------------------------- */

static void model(const struct sheet *s)
{
    vram_model_view m = {.size = sizeof m};
    char all[UNITS_TEXT], trained[UNITS_TEXT], files[64] = "config only", what[128];
    char line[256];
    uint64_t trains = s->view.parameters_trainable;
    vram_model_get(s->p->model, &m);
    if (m.weight_files)
        snprintf(files, sizeof files, "%u weight file%s", (unsigned)m.weight_files,
                 m.weight_files == 1 ? "" : "s");
    snprintf(what, sizeof what, trains == s->view.parameters_total ? "all trained"
                                : trains                           ? "%s trained"
                                                                   : "none trained",
             count_text(trains, trained));
    if (page_width(output_title(m.path)) < OUTPUT_LABEL) {
        sheet_label(s->page, output_title(m.path));
    } else { /* a long name gets a line of its own */
        page_paragraph(s->page, OUTPUT_LABEL, output_title(m.path));
        sheet_label(s->page, NULL);
    }
    snprintf(line, sizeof line, "%.20s%s%s%s%s parameters%s%s",
             *m.family ? m.family : !strcmp(m.format, "onnx") ? "ONNX graph" : "unknown model",
             sheet_dot(s->page), files, sheet_dot(s->page),
             m.parameters ? count_text(m.parameters, all) : "unknown", m.parameters ? ", " : "",
             m.parameters ? what : "");
    page_paragraph(s->page, OUTPUT_LABEL, line);
    if (m.named_only) {
        sheet_label(s->page, NULL);
        page_printf(s->page, "%s of them in a checkpoint that this one only names\n",
                    count_text(m.named_only, all));
    }
    for (const char *part = m.summary; *part;) { /* one line a component */
        size_t n = strcspn(part, ";");
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), part);
        sheet_label(s->page, NULL);
        page_paragraph(s->page, OUTPUT_LABEL, line);
        part += n + strspn(part + n, "; ");
    }
}

/* ---- who holds the peak -------------------------------------------------------------------- */

struct share {
    const char *name;
    uint64_t bytes, figure;
};

static int by_bytes(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : strcmp(x->name, y->name);
}

/* Shares in the order of their size, their figures adding up to total. */
static size_t divide(struct share *shares, size_t n, uint64_t total)
{
    uint64_t parts[80], figures[80];
    qsort(shares, n, sizeof *shares, by_bytes);
    for (size_t i = 0; i < n; i++)
        parts[i] = shares[i].bytes;
    apportion(parts, n, total, figures);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        shares[i].figure = figures[i];
        kept += figures[i] > 0;
    }
    return kept;
}

static void owner(const struct sheet *s)
{
    const vram_report_view *v = &s->view;
    struct share shares[] = {{"parameters", v->parameters, 0}, {"gradients", v->gradients, 0},
                             {"optimizer", v->optimizer, 0},   {"activations", v->activations, 0},
                             {"temporaries", v->temporaries, 0}, {"inputs", v->inputs, 0},
                             {"buffers", v->buffers, 0},       {"workspace", v->workspace, 0},
                             {"rounding", v->rounding, 0}};
    char line[512], *at = line;
    if (s->sum || !v->peak_known)
        return;
    sheet_label(s->page, "at the peak");
    snprintf(line, sizeof line, "%s runs %s", v->peak_phase,
             *v->peak_owner ? v->peak_owner : "code of no module");
    page_paragraph(s->page, OUTPUT_LABEL, line);
    size_t n = divide(shares, sizeof shares / sizeof *shares, 1000);
    for (size_t i = 0; i < n; i++)
        at += snprintf(at, sizeof line - (size_t)(at - line), "%s%s %u.%u%%", i ? ", " : "",
                       shares[i].name, (unsigned)(shares[i].figure / 10),
                       (unsigned)(shares[i].figure % 10));
    sheet_label(s->page, NULL);
    page_paragraph(s->page, OUTPUT_LABEL, line);
}

static void kept(const struct sheet *s)
{
    struct share shares[64];
    char line[2048], text[UNITS_TEXT];
    size_t n = vram_report_component_count(s->p->report), used;
    n = n < 64 ? n : 64;
    if (!s->view.saved)
        return;
    for (size_t i = 0; i < n; i++) {
        vram_report_component_view c = {.size = sizeof c};
        vram_report_component(s->p->report, i, &c);
        shares[i] = (struct share){c.name, c.saved, 0};
    }
    uint64_t total = scale_round(s->scale, s->view.saved);
    n = divide(shares, n, total);
    used = (size_t)snprintf(line, sizeof line, "%s %s =", scale_figure(s->scale, total, text),
                            s->scale.name);
    for (size_t i = 0; i < n && used + 100 < sizeof line; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s %.60s %s", i ? "," : "",
                                 shares[i].name, scale_figure(s->scale, shares[i].figure, text));
    sheet_label(s->page, "kept for backward");
    page_paragraph(s->page, OUTPUT_LABEL, line);
}

/* ---- settings and findings ----------------------------------------------------------------- */

/* Appends " key=value"; what finds no room is left out. */
static void add_setting(char *line, size_t size, const char *key, const char *value)
{
    size_t used = strlen(line);
    if (used + 300 < size)
        snprintf(line + used, size - used, "%s%.60s=%.200s", used ? " " : "", key, value);
}

static void settings_of(const struct sheet *s, const char *origin, const char *label)
{
    char line[4096] = "";
    for (size_t i = 0; i < vram_report_setting_count(s->p->report); i++) {
        vram_report_setting_view v = {.size = sizeof v};
        vram_report_setting(s->p->report, i, &v);
        if (!strcmp(v.origin, origin) && !*v.by)
            add_setting(line, sizeof line, v.key, v.value);
    }
    /* settings that decide others and do not appear themselves, as train */
    for (size_t i = 0; !strcmp(origin, "given") && i < vram_setting_count(); i++) {
        vram_setting_view v = {.size = sizeof v};
        vram_setting(i, &v);
        const char *given = vram_plan_get(s->p->plan, v.key);
        if (given && !*setting(s, v.key))
            add_setting(line, sizeof line, v.key, given);
    }
    if (!*line)
        return;
    sheet_label(s->page, label);
    page_paragraph(s->page, OUTPUT_LABEL, line);
}

/* What settings files gave, a line each: "strategy=zero2  given by zero2.json:12". */
static void settings_of_files(const struct sheet *s)
{
    const char *label = "from files";
    for (size_t i = 0; i < vram_report_setting_count(s->p->report); i++) {
        char line[700];
        vram_report_setting_view v = {.size = sizeof v};
        vram_report_setting(s->p->report, i, &v);
        if (!*v.by)
            continue;
        snprintf(line, sizeof line, "%.60s=%.200s  %s%.300s", v.key, v.value,
                 strcmp(v.origin, "given") ? "" : "given by ", v.by);
        sheet_label(s->page, label);
        page_paragraph(s->page, OUTPUT_LABEL, line);
        label = "";
    }
}

/* Ranks that differ, with rank=all. */
static void ranks(const struct sheet *s)
{
    const char *label = "ranks";
    for (size_t i = 0; i < vram_report_rank_count(s->p->report); i++) {
        char line[200], figure[UNITS_TEXT];
        vram_rank_view v = {.size = sizeof v};
        vram_report_rank(s->p->report, i, &v);
        snprintf(line, sizeof line, "rank %llu, stage %llu: %s %s allocated, highest in %.60s",
                 (unsigned long long)v.rank, (unsigned long long)v.stage,
                 scale_text(s->scale, v.allocated.expected, figure), s->scale.name, v.phase);
        sheet_label(s->page, label);
        page_paragraph(s->page, OUTPUT_LABEL, line);
        label = "";
    }
}

static void settings(const struct sheet *s)
{
    settings_of(s, "given", "given");
    settings_of_files(s);
    settings_of(s, "model", "from the model");
    settings_of(s, "assumed", "assumed");
    settings_of(s, "default", "by default");
}

void sheet_findings(struct page *page, const vram_model *model, const vram_report *report)
{
    static const char *const labels[] = {"note", "assumed", "warning"};
    size_t n = report ? vram_report_finding_count(report) : vram_model_finding_count(model);
    for (int severity = VRAM_WARN; severity >= VRAM_NOTE; severity--)
        for (size_t i = 0; i < n; i++) {
            vram_finding_view f = {.size = sizeof f};
            char line[2048];
            if (report)
                vram_report_finding(report, i, &f);
            else
                vram_model_finding(model, i, &f);
            if (f.severity != severity)
                continue;
            bool said = !strncmp(f.text, f.subject, strlen(f.subject)); /* "seq: seq=2048 ..." */
            snprintf(line, sizeof line, "%s%s%s", said ? "" : f.subject, said ? "" : ": ", f.text);
            page_style(page, severity == VRAM_WARN ? PAGE_DOUBTFUL : PAGE_STRONG);
            page_cell(page, labels[severity], 12, PAGE_LEFT);
            page_style(page, PAGE_PLAIN);
            page_cell(page, f.id, OUTPUT_LABEL - 12, PAGE_LEFT);
            page_paragraph(page, OUTPUT_LABEL, line);
        }
}

int output_text(struct page *page, const struct prediction *p)
{
    struct sheet s = {.page = page, .p = p, .view = {.size = sizeof s.view}};
    vram_model_view m = {.size = sizeof m};
    vram_report_get(p->report, &s.view);
    vram_model_get(p->model, &m);
    s.sum = !strcmp(s.view.estimator, "sum");
    s.scale = scale_for(s.view.peak_known ? s.view.allocated.expected : m.parameter_bytes);
    if (p->overview && s.view.peak_known) {
        sheet_overview(&s);
        blank(&s);
    }
    verdict(&s);
    meters(&s);
    blank(&s);
    model(&s);
    blank(&s);
    if (sheet_table(&s))
        blank(&s);
    if (s.view.peak_known) {
        sheet_timeline(&s);
        blank(&s);
        owner(&s);
        kept(&s);
        blank(&s);
    }
    if (vram_report_rank_count(p->report)) {
        ranks(&s);
        blank(&s);
    }
    settings(&s);
    if (vram_report_finding_count(p->report))
        blank(&s);
    sheet_findings(page, p->model, p->report);
    return s.view.peak_known ? CLI_DONE : CLI_UNKNOWN;
}
