/* SPDX-License-Identifier: Apache-2.0
 *
 * The report as JSON, schema "vramcast.report/1" (docs/report.md).  More may be added; nothing that
 * is here goes or changes its meaning.
 */
#include <inttypes.h>
#include <string.h>

#include "handles.h"

static void number(struct vram_text *t, const char *name, uint64_t n, bool more)
{
    vram_text_printf(t, "\"%s\": %" PRIu64 "%s", name, n, more ? ", " : "");
}

static void text(struct vram_text *t, const char *name, const char *value, bool more)
{
    vram_text_printf(t, "\"%s\": ", name);
    vram_text_json(t, value);
    vram_text_puts(t, more ? ", " : "");
}

static void range(struct vram_text *t, const char *name, vram_range r)
{
    vram_text_printf(t, "\"%s\": {\"low\": %" PRIu64 ", \"expected\": %" PRIu64 ", \"high\": %" PRIu64 "}, ",
                     name, r.low, r.expected, r.high);
}

/* Trainable parameters of what the checkpoint only names: a component is named as a whole. */
static uint64_t named_trainable(const vram_report *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < vram_report_component_count(r); i++) {
        vram_report_component_view k = {.size = sizeof k};
        vram_report_component(r, i, &k);
        n += k.named_only < k.trainable_count ? k.named_only : k.trainable_count;
    }
    return n;
}

/* `parameters` are those at hand; `named_only` adds what the checkpoint only names (LLaVA's tower in
 * the original layout).  components[] holds both: the run needs them. */
static void model(struct vram_text *t, const vram_report *r, const vram_report_view *v)
{
    const struct vram_checkpoint *c = &r->model->checkpoint;
    vram_text_puts(t, " \"model\": {");
    text(t, "path", c->path, true);
    text(t, "format", c->format, true);
    text(t, "family", c->family, true);
    vram_text_puts(t, "\n  \"parameters\": {");
    number(t, "total", v->parameters_total - v->named_only, true);
    number(t, "trainable", v->parameters_trainable - named_trainable(r), true);
    vram_text_puts(t, "\"by_component\": {");
    bool any = false;
    for (size_t i = 0; i < vram_report_component_count(r); i++) {
        vram_report_component_view k = {.size = sizeof k};
        vram_report_component(r, i, &k);
        if (k.parameter_count == k.named_only)
            continue;
        vram_text_puts(t, any ? ", " : "");
        vram_text_json(t, k.name);
        vram_text_printf(t, ": %" PRIu64, k.parameter_count - k.named_only);
        any = true;
    }
    vram_text_puts(t, "}, ");
    number(t, "named_only", v->named_only, false);
    vram_text_puts(t, "}},\n");
}

static void plan(struct vram_text *t, const vram_report *r)
{
    size_t n = vram_report_setting_count(r);
    vram_text_puts(t, " \"plan\": {");
    for (size_t i = 0; i < n; i++) {
        vram_report_setting_view s = {.size = sizeof s};
        vram_report_setting(r, i, &s);
        vram_text_puts(t, i ? ",\n  " : "\n  ");
        vram_text_json(t, s.key);
        vram_text_puts(t, ": {");
        text(t, "value", s.value, true);
        text(t, "origin", s.origin, *s.by);
        if (*s.by)
            text(t, "by", s.by, false);
        vram_text_puts(t, "}");
    }
    vram_text_puts(t, "},\n");
}

static void peak(struct vram_text *t, const vram_report_view *v)
{
    vram_text_puts(t, " \"peak\": ");
    if (!v->peak_known) {
        vram_text_puts(t, "null,\n");
        return;
    }
    vram_text_puts(t, "{");
    range(t, "allocated", v->allocated);
    range(t, "reserved", v->reserved);
    range(t, "device", v->device);
    if (v->host.high)
        range(t, "host", v->host);
    text(t, "phase", v->peak_phase, true);
    text(t, "owner", v->peak_owner, false);
    vram_text_puts(t, "},\n");
}

static void ranks(struct vram_text *t, const vram_report *r)
{
    size_t n = vram_report_rank_count(r);
    if (!n)
        return;
    vram_text_puts(t, " \"ranks\": [");
    for (size_t i = 0; i < n; i++) {
        vram_rank_view k = {.size = sizeof k};
        vram_report_rank(r, i, &k);
        vram_text_puts(t, i ? ",\n  {" : "\n  {");
        number(t, "rank", k.rank, true);
        number(t, "stage", k.stage, true);
        range(t, "allocated", k.allocated);
        range(t, "reserved", k.reserved);
        range(t, "device", k.device);
        text(t, "phase", k.phase, false);
        vram_text_puts(t, "}");
    }
    vram_text_puts(t, "],\n");
}

static void phases(struct vram_text *t, const vram_report *r)
{
    size_t n = vram_report_phase_count(r);
    vram_text_puts(t, " \"phases\": [");
    for (size_t i = 0; i < n; i++) {
        vram_phase_view p = {.size = sizeof p};
        vram_report_phase(r, i, &p);
        vram_text_puts(t, i ? ",\n  {" : "\n  {");
        text(t, "name", p.name, true);
        number(t, "peak", p.peak, true);
        number(t, "end", p.end, false);
        vram_text_puts(t, "}");
    }
    vram_text_puts(t, "],\n");
}

static void factors(struct vram_text *t, const vram_report_view *v)
{
    vram_text_puts(t, " \"factors\": ");
    if (!v->peak_known) {
        vram_text_puts(t, "null,\n");
        return;
    }
    vram_text_puts(t, "{");
    number(t, "parameters", v->parameters, true);
    number(t, "gradients", v->gradients, true);
    number(t, "optimizer", v->optimizer, true);
    number(t, "activations", v->activations, true);
    number(t, "temporaries", v->temporaries, true);
    number(t, "inputs", v->inputs, true);
    number(t, "buffers", v->buffers, true);
    number(t, "workspace", v->workspace, true);
    number(t, "rounding", v->rounding, false);
    vram_text_puts(t, "},\n");
}

static void components(struct vram_text *t, const vram_report *r)
{
    size_t n = vram_report_component_count(r);
    vram_text_puts(t, " \"components\": [");
    for (size_t i = 0; i < n; i++) {
        vram_report_component_view c = {.size = sizeof c};
        vram_report_component(r, i, &c);
        vram_text_puts(t, i ? ",\n  {" : "\n  {");
        text(t, "name", c.name, true);
        vram_text_puts(t, "\"parameters\": {");
        number(t, "count", c.parameter_count, true);
        number(t, "bytes", c.parameters, true);
        number(t, "trainable", c.trainable_count, false);
        vram_text_puts(t, "}, ");
        number(t, "gradients", c.gradients, true);
        number(t, "optimizer", c.optimizer, true);
        number(t, "activations", c.activations, true);
        number(t, "saved", c.saved, false);
        vram_text_puts(t, "}");
    }
    vram_text_puts(t, "],\n");
}

static void saved(struct vram_text *t, const vram_report *r, const vram_report_view *v)
{
    bool any = false;
    if (!v->peak_known) {
        vram_text_puts(t, " \"saved\": null,\n");
        return;
    }
    vram_text_puts(t, " \"saved\": {");
    number(t, "total", v->saved, true);
    number(t, "total_512", v->saved_512, true);
    vram_text_puts(t, "\"by_component\": {");
    for (size_t i = 0; i < vram_report_component_count(r); i++) {
        vram_report_component_view c = {.size = sizeof c};
        vram_report_component(r, i, &c);
        if (!c.saved)
            continue;
        vram_text_puts(t, any ? ", " : "");
        vram_text_json(t, c.name);
        vram_text_printf(t, ": %" PRIu64, c.saved);
        any = true;
    }
    vram_text_puts(t, "}},\n");
}

static void findings(struct vram_text *t, const vram_report *r)
{
    static const char *const severities[] = {"note", "assume", "warn"};
    size_t n = vram_report_finding_count(r);
    vram_text_puts(t, " \"findings\": [");
    for (size_t i = 0; i < n; i++) {
        vram_finding_view f = {.size = sizeof f};
        vram_report_finding(r, i, &f);
        vram_text_puts(t, i ? ",\n  {" : "\n  {");
        text(t, "id", f.id, true);
        text(t, "severity", severities[f.severity], true);
        text(t, "subject", f.subject, true);
        text(t, "text", f.text, false);
        vram_text_puts(t, "}");
    }
    vram_text_puts(t, "],\n");
}

static void verdict(struct vram_text *t, const vram_report_view *v)
{
    vram_text_puts(t, " \"events\": ");
    vram_text_printf(t, "%" PRIu64 ",\n \"verdict\": ", v->events);
    if (!*v->gpu) {
        vram_text_puts(t, "null\n");
        return;
    }
    vram_text_puts(t, "{");
    text(t, "gpu", v->gpu, true);
    number(t, "capacity", v->gpu_capacity, true);
    text(t, "result", v->verdict_name, false);
    vram_text_puts(t, "}\n");
}

int vram_report_json(const vram_report *r, vram_write_fn write, void *ctx, vram_error *error)
{
    struct vram_text t;
    vram_report_view v = {.size = sizeof v};
    vram_report_get(r, &v);
    vram_text_init(&t, write, ctx);
    vram_text_puts(&t, "{\n \"schema\": \"vramcast.report/1\",\n");
    model(&t, r, &v);
    plan(&t, r);
    peak(&t, &v);
    ranks(&t, r);
    phases(&t, r);
    factors(&t, &v);
    components(&t, r);
    saved(&t, r, &v);
    findings(&t, r);
    verdict(&t, &v);
    vram_text_puts(&t, "}\n");
    int code = vram_text_flush(&t);
    if (code && error)
        *error = (vram_error){.code = code, .offset = VRAM_NO_OFFSET,
                              .text = "the report could not be written"};
    return code;
}
