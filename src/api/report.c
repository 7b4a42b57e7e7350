/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a report.
 */
#include <string.h>

#include "handles.h"

#define COPY(view, ...)                                                                            \
    do {                                                                                           \
        const __typeof__(*(view)) full_ = {__VA_ARGS__};                                           \
        vram_view_copy((view), (view)->size, &full_, sizeof full_);                                \
    } while (0)

static const char *const verdicts[] = {"fits", "tight", "does-not-fit", "cannot-tell", ""};

static const char *text_of(const struct vram_report *r, vram_sym sym)
{
    return vram_sym_text(&r->syms, sym);
}

void vram_report_get(const vram_report *r, vram_report_view *view)
{
    const struct vram_factors *f = &r->factors;
    const struct vram_gpu_row *gpu = r->setup.gpu;
    bool k = r->known;
    COPY(view, .peak_known = k, .allocated = r->allocated, .reserved = r->reserved,
         .device = r->device, .peak_phase = r->peak_phase, .peak_owner = r->peak_owner,
         .parameters = k ? f->parameters : 0, .gradients = k ? f->gradients : 0,
         .optimizer = k ? f->optimizer : 0, .activations = k ? f->activations : 0,
         .temporaries = k ? f->temporaries : 0, .inputs = k ? f->inputs : 0,
         .buffers = k ? f->buffers : 0, .workspace = k ? f->workspace : 0, .rounding = r->rounding,
         .saved = f->saved, .saved_512 = f->saved_512, .parameters_total = r->parameters_total,
         .named_only = vram_factors_named_only(f),
         .parameters_trainable = r->run.trainable, .events = r->run.events ? r->run.events->n : 0,
         .gpu = gpu ? gpu->short_name : "", .gpu_capacity = gpu ? gpu->usable_bytes : 0,
         .verdict = r->verdict, .verdict_name = verdicts[r->verdict],
         .estimator = vram_plan_text(r->own_plan, VRAM_KEY_ESTIMATOR),
         .host = {r->run.host.most_exact, r->run.host.most_held, r->run.host.most_held});
}

size_t vram_report_component_count(const vram_report *r) { return r->factors.ncomponents; }

void vram_report_component(const vram_report *r, size_t i, vram_report_component_view *view)
{
    const struct vram_factor_component *c = &r->factors.components[i];
    COPY(view, .name = text_of(r, c->name), .parameter_count = c->parameter_count,
         .named_only = c->named_only,
         .trainable_count = c->trainable_count, .parameters = c->parameters,
         .gradients = c->gradients, .optimizer = c->optimizer, .activations = c->activations,
         .saved = c->saved);
}

size_t vram_report_phase_count(const vram_report *r)
{
    return r->phases ? r->run.events->nphases : 0;
}

void vram_report_phase(const vram_report *r, size_t i, vram_phase_view *view)
{
    COPY(view, .name = r->run.events->phases[i].name, .peak = r->phases[i].peak,
         .end = r->phases[i].end);
}

size_t vram_report_rank_count(const vram_report *r) { return r->nranks; }

void vram_report_rank(const vram_report *r, size_t i, vram_rank_view *view)
{
    size_t size = view->size;
    vram_view_copy(view, size, &r->ranks[i], sizeof r->ranks[i]);
    view->size = size;
}

size_t vram_report_setting_count(const vram_report *r) { return r->setup.resolved.n; }

void vram_report_setting(const vram_report *r, size_t i, vram_report_setting_view *view)
{
    const struct vram_resolved *s = &r->setup.resolved.at[i];
    const char *name, *by = NULL;
    bool implied = false;
    int row = strcmp(s->origin, "given") ? -1 : vram_setting_find(s->key, &name);
    if (row >= 0)
        by = vram_plan_who(r->own_plan, (enum vram_key)row, &implied);
    COPY(view, .key = s->key, .value = s->value, .origin = by && implied ? "default" : s->origin,
         .by = by ? by : "");
}

size_t vram_report_finding_count(const vram_report *r) { return r->findings.n; }

void vram_report_finding(const vram_report *r, size_t i, vram_finding_view *view)
{
    vram_finding_copy(&r->findings, i, view);
}

/* ---- storages ----------------------------------------------------------------------------- */

static const struct { const char *name, *rule; } loop_ops[] = {
    {"load", "the parameter or buffer itself, in the dtype that precision says"},
    {"inputs", "the batch as the collator makes it"},
    {"loop", "made by the training loop (accelerate, loss scaling, label count)"},
    {"backward", "made by the backward engine: sums, casts and copies of gradients"},
    {"clip", "gradient clipping: one scalar per gradient, their stack and norm"},
    {"optimizer", "optimizer state and the temporaries of its step"},
    {"strategy", "buffers of the data-parallel strategy"}};

size_t vram_report_storage_count(const vram_report *r)
{
    return r->known && r->run.events ? r->run.events->nstorages : 0;
}

const char *vram_report_maker(const struct vram_report *r, uint32_t storage)
{
    const struct vram_storage_row *s = &r->run.events->storages[storage];
    const char *path = text_of(r, r->tree.scopes[s->scope].path);
    if (*path)
        return path;
    if (s->flags & VRAM_STORAGE_LOSS)
        return "loss";
    return s->op < VRAM_OP_LOAD ? text_of(r, r->tree.scopes[0].component)
                                : loop_ops[s->op - VRAM_OP_LOAD].name;
}

void vram_report_storage(const vram_report *r, size_t i, vram_storage_view *view)
{
    const struct vram_events *e = r->run.events;
    const struct vram_storage_row *s = &e->storages[i];
    const struct vram_op_row *row = s->op < VRAM_OP_LOAD ? vram_op_row_at(s->op) : NULL;
    uint32_t loop = row ? 0 : (uint32_t)(s->op - VRAM_OP_LOAD);
    uint8_t category = r->category_at_peak[i] & 127;
    bool of_param = s->param != VRAM_NO_PARAM, saved = category == VRAM_CAT_SAVED;
    uint32_t scope = of_param && !saved ? r->tree.params[s->param].scope : s->scope;
    /* whose bytes they are: as factor.c attributes them */
    uint32_t owner = saved ? s->saver : scope;
    bool loss = owner == 0 && (saved || !of_param) && (s->flags & VRAM_STORAGE_LOSS);
    uint32_t gone = r->phase_gone[i];
    COPY(view, .bytes = s->bytes, .module = text_of(r, r->tree.scopes[scope].path),
         .component = loss ? "loss" : text_of(r, r->tree.scopes[owner].component),
         .op = row ? row->name : loop_ops[loop].name,
         .what = of_param ? text_of(r, r->tree.params[s->param].path) : "",
         .category = vram_category_names[category],
         .rule = row ? row->allocates : loop_ops[loop].rule,
         .made = e->phases[r->phase_made[i]].name,
         .gone = gone == UINT32_MAX ? "" : e->phases[gone].name,
         .at_peak = r->category_at_peak[i] >> 7);
}
