/* SPDX-License-Identifier: Apache-2.0
 *
 * The prediction, one pass a line: setup → adapt → run → replay → factor → device → verdict.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "handles.h"
#include "train/cut.h"

/* Findings of the model come first; they are shared, not copied. */
static int inherit_findings(struct vram_cx *cx, const struct vram_model *model)
{
    for (size_t i = 0; i < model->findings.n; i++)
        if (!vram_vec_push(cx->findings, cx->arena, model->findings.at[i]))
            return vram_fail_memory(cx);
    return VRAM_OK;
}

/* Settings files: what was noteworthy in them, and what they gave that no pass notes itself. */
static int inherit_files(struct vram_cx *cx, const struct vram_plan *plan, struct vram_setup *s)
{
    size_t n;
    const struct vram_plan_finding *f = vram_plan_findings(plan, &n);
    for (size_t i = 0; i < n; i++)
        VRAM_TRY(vram_find(cx, (enum vram_finding_kind)f[i].kind, f[i].subject, "%s", f[i].text));
    for (int k = 0; k < VRAM_KEY_COUNT; k++) {
        bool noted = !vram_plan_who(plan, (enum vram_key)k, NULL);
        struct vram_resolved row = {vram_settings[k].key, vram_plan_text(plan, (enum vram_key)k),
                                    "given"};
        for (size_t i = 0; i < s->resolved.n && !noted; i++)
            noted = !strcmp(s->resolved.at[i].key, row.key);
        if (!noted && !vram_vec_push(&s->resolved, cx->arena, row))
            return vram_fail_memory(cx);
    }
    return VRAM_OK;
}

static void order(vram_range *x)
{
    uint64_t low = x->low < x->high ? x->low : x->high, high = x->low < x->high ? x->high : x->low;
    x->low = low < x->expected ? low : x->expected;
    x->high = high > x->expected ? high : x->expected;
}

static uint64_t more_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Of compiled code eager code is the upper bound: the run is made again without the rule. */
static int bound_compiled(struct vram_cx *cx, const struct vram_allocator_row *a, struct vram_report *r)
{
    struct vram_setup eager = r->setup;
    struct vram_run run;
    struct vram_replay bounds[3], *high = &r->replay[VRAM_HIGH];
    struct vram_cx quiet = *cx; /* its findings are said already */
    if (!eager.compiled)
        return VRAM_OK;
    quiet.findings = NULL;
    eager.compiled = false;
    VRAM_TRY(vram_run(&quiet, &r->tree, &eager, &run));
    VRAM_TRY(vram_replay_bounds(&quiet, a, run.events, bounds));
    high->allocated = more_of(high->allocated, bounds[VRAM_HIGH].allocated);
    high->reserved = more_of(high->reserved, bounds[VRAM_HIGH].reserved);
    high->varied = more_of(high->varied, bounds[VRAM_HIGH].varied);
    return VRAM_OK;
}

/* The same events with every uncertain one at its low, expected and high size. */
static int replay(struct vram_cx *cx, struct vram_report *r)
{
    VRAM_TRY(vram_replay_bounds(cx, r->setup.allocator, r->run.events, r->replay));
    VRAM_TRY(bound_compiled(cx, r->setup.allocator, r));
    VRAM_TRY(vram_replay_phases(cx, r->run.events, &r->phases));
    r->allocated = (vram_range){r->replay[0].allocated, r->replay[1].allocated,
                                r->replay[2].allocated};
    r->reserved = (vram_range){r->replay[0].reserved, r->replay[1].reserved,
                               r->replay[2].reserved};
    /* smaller blocks can fall worse than larger ones do */
    order(&r->allocated);
    order(&r->reserved);
    r->varied = r->replay[2].varied > r->reserved.high ? r->replay[2].varied : r->reserved.high;
    r->rounding = r->replay[1].allocated - r->replay[1].requested;
    return VRAM_OK;
}

static void find_peak(struct vram_report *r)
{
    const struct vram_events *e = r->run.events;
    uint32_t at = r->replay[1].event;
    r->peak_phase = "";
    for (size_t i = 0; i < e->nphases && e->phases[i].first_event <= at; i++)
        r->peak_phase = e->phases[i].name;
    const struct vram_event *v = &e->at[at];
    r->peak_owner = v->kind == VRAM_EVENT_PHASE ? "" : vram_report_maker(r, v->storage);
}

/* ---- device: what lives outside torch ----------------------------------------------------- */

static void add(vram_range *to, const char *constant, uint64_t times)
{
    const struct vram_constant_row *c = vram_constant_find(constant);
    if (!c)
        return;
    to->low += c->low * times;
    to->expected += c->expected * times;
    to->high += c->high * times;
}

static void device(struct vram_report *r)
{
    const struct vram_setup *s = &r->setup;
    vram_range more = {0, 0, 0};
    if (s->gpu) {
        more.low = (uint64_t)s->gpu->context_low << 20;
        more.expected = (uint64_t)s->gpu->context_expected << 20;
        more.high = (uint64_t)s->gpu->context_high << 20;
    } else {
        add(&more, "context", 1);
    }
    add(&more, "context-kernels", 1);
    uint64_t groups = (s->ranks > 1 ? (uint64_t)s->strategy->communicators : 0) + (s->tp > 1) + (s->pp > 1) + (s->cp > 1);
    if (groups) {
        add(&more, "nccl-first", 1);
        add(&more, "nccl-further", groups - 1);
    }
    if (s->deepspeed)
        add(&more, "deepspeed-ops", 1);
    /* what shorter batches left in the cache gives way when the card is full */
    uint64_t card = s->gpu && s->gpu->usable_bytes > more.high ? s->gpu->usable_bytes - more.high : UINT64_MAX;
    if (r->varied > card)
        r->varied = card;
    if (r->varied > r->reserved.high)
        r->reserved.high = r->varied;
    r->device = (vram_range){r->reserved.low + more.low, r->reserved.expected + more.expected,
                             r->reserved.high + more.high};
}

static void judge(struct vram_report *r)
{
    const struct vram_gpu_row *gpu = r->setup.gpu;
    r->verdict = gpu ? VRAM_CANNOT_TELL : VRAM_NO_GPU;
    if (!gpu || !r->known)
        return;
    double usable = (double)gpu->usable_bytes * (1 - r->setup.headroom);
    r->verdict = (double)r->device.high <= usable       ? VRAM_FITS
                 : (double)r->device.expected <= usable ? VRAM_TIGHT
                                                        : VRAM_DOES_NOT_FIT;
}

/* ---- the paper's equation instead of the timeline ----------------------------------------- */

static int sum_estimate(struct vram_cx *cx, struct vram_report *r)
{
    struct vram_factors *f = &r->factors;
    VRAM_TRY(vram_factor_sum(cx, &r->tree, &r->run, &r->setup, f));
    uint64_t total = f->parameters + f->gradients + f->optimizer + f->activations;
    f->temporaries = f->inputs = f->buffers = f->workspace = 0;
    r->rounding = 0;
    r->allocated = r->reserved = (vram_range){total, total, total};
    r->peak_phase = "";
    r->peak_owner = "";
    return VRAM_OK;
}

/* ---- when each storage lives -------------------------------------------------------------- */

static int lifetimes(struct vram_cx *cx, struct vram_report *r)
{
    const struct vram_events *e = r->run.events;
    size_t n = e->nstorages;
    uint32_t phase = 0, peak = r->replay[1].event;
    r->phase_made = vram_arena_array(cx->arena, n, sizeof *r->phase_made);
    r->phase_gone = vram_arena_array(cx->arena, n, sizeof *r->phase_gone);
    r->category_at_peak = vram_arena_array(cx->arena, n, sizeof *r->category_at_peak);
    if (!r->phase_made || !r->phase_gone || !r->category_at_peak)
        return vram_fail_memory(cx);
    for (size_t i = 0; i < n; i++)
        r->phase_gone[i] = UINT32_MAX;
    for (uint32_t i = 0; i < e->n; i++) {
        const struct vram_event *v = &e->at[i];
        if (v->kind == VRAM_EVENT_PHASE)
            phase = v->storage;
        else if (v->kind == VRAM_EVENT_FREE)
            r->phase_gone[v->storage] = phase;
        else if (v->kind == VRAM_EVENT_ALLOC)
            r->phase_made[v->storage] = phase;
        /* category and 128 while the peak is not reached or it was alive then */
        if (v->kind == VRAM_EVENT_FREE && i <= peak)
            r->category_at_peak[v->storage] &= 127;
        else if ((v->kind == VRAM_EVENT_ALLOC || v->kind == VRAM_EVENT_CATEGORY) && i <= peak)
            r->category_at_peak[v->storage] = (uint8_t)(128 | v->category);
        else if (v->kind == VRAM_EVENT_ALLOC ||
                 (v->kind == VRAM_EVENT_CATEGORY && !(r->category_at_peak[v->storage] & 128)))
            r->category_at_peak[v->storage] = v->category;
    }
    return VRAM_OK;
}

static int assumptions(struct vram_cx *cx, const struct vram_report *r)
{
    const struct vram_resolved *row;
    for (size_t i = 0; i < r->setup.resolved.n; i++) {
        row = &r->setup.resolved.at[i];
        if (!strcmp(row->origin, "assumed") && strcmp(row->key, "seq")) /* seq has its own finding */
            VRAM_TRY(vram_find(cx, VRAM_F_SETTING_ASSUMED, row->key, "%s=%s was assumed", row->key,
                               row->value));
    }
    return VRAM_OK;
}

/* The report is the worst rank's: which one depends on the model. */
static int note_rank(struct vram_cx *cx, struct vram_report *r)
{
    if (r->setup.mode != VRAM_MODE_TRAIN || !r->setup.strategy->shards || r->setup.ranks < 2)
        return VRAM_OK;
    struct vram_resolved row = {"rank", vram_format(cx->arena, "%llu", (unsigned long long)r->run.rank),
                                "model"};
    if (!row.value || !vram_vec_push(&r->setup.resolved, cx->arena, row))
        return vram_fail_memory(cx);
    return VRAM_OK;
}

int vram_run_known(struct vram_cx *cx, struct vram_report *r)
{
    VRAM_TRY(note_rank(cx, r));
    VRAM_TRY(replay(cx, r));
    find_peak(r);
    if (vram_plan_is(r->setup.plan, VRAM_KEY_ESTIMATOR, "sum") && r->setup.mode == VRAM_MODE_TRAIN)
        VRAM_TRY(sum_estimate(cx, r));
    else
        VRAM_TRY(vram_factor(cx, &r->tree, &r->run, r->replay[1].event, &r->factors));
    VRAM_TRY(lifetimes(cx, r));
    r->known = true;
    device(r);
    return VRAM_OK;
}

/* Without a template: parameters, gradients and optimizer state are exact, the peak is unknown. */
int vram_run_untold(struct vram_cx *cx, struct vram_report *r, bool untold)
{
    VRAM_TRY(vram_run_states(cx, &r->tree, &r->setup, &r->run));
    uint32_t last = r->run.events->n ? (uint32_t)r->run.events->n - 1 : 0;
    VRAM_TRY(vram_factor(cx, &r->tree, &r->run, last, &r->factors));
    r->peak_phase = r->peak_owner = "";
    if (untold)
        return vram_find(cx, VRAM_F_NO_FORWARD, r->model->checkpoint.family,
                         "no template says what this model runs: activations unknown");
    return VRAM_OK;
}

/* The run ended with an error that is an answer: the peak is unknown, and why. */
static int cannot(struct vram_cx *cx, struct vram_report *r, enum vram_finding_kind kind)
{
    const vram_error e = *cx->error;
    *cx->error = (vram_error){.offset = VRAM_NO_OFFSET};
    VRAM_TRY(vram_find(cx, kind, e.where, "%s: activations unknown", e.text));
    r->tree.runs = false;
    return vram_run_untold(cx, r, false);
}

/* What a template does not describe, and a model whose files contradict each other, does not run: that is
 * an answer, too.  With templates of the user's own a mistake in them is likelier. */
static int run(struct vram_cx *cx, struct vram_report *r)
{
    if (r->model->checkpoint.onnx) {
        int graph = vram_graph_run(cx, r);
        return graph == VRAM_E_UNSUPPORTED && r->setup.forward ? cannot(cx, r, VRAM_F_NO_FORWARD) : graph;
    }
    if (!r->tree.known || !r->tree.runs)
        return vram_run_untold(cx, r, r->tree.known);
    int code = vram_run(cx, &r->tree, &r->setup, &r->run);
    if (!code)
        return vram_run_known(cx, r);
    if (code == VRAM_E_UNSUPPORTED)
        return cannot(cx, r, VRAM_F_NO_FORWARD);
    bool files = r->tree.corrected || !r->model->program.own_files;
    if (!files || (code != VRAM_E_RANGE && code != VRAM_E_FORMAT && code != VRAM_E_CONFLICT))
        return code;
    return vram_blame(r->model, r->own_plan, cx->error) ? cx->error->code
                                                        : cannot(cx, r, VRAM_F_CANNOT_RUN);
}

/* ---- ranks that differ ---------------------------------------------------------------------- */

/* The plan with another value of a setting, by itself; *out is freed by the caller. */
static int with(struct vram_cx *cx, const vram_model *model, const struct vram_plan *plan, const char *key,
                uint64_t value, vram_report **out)
{
    vram_plan *own = NULL;
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    int code = vram_plan_copy(&own, plan, cx->error);
    code = code ? code : vram_plan_set(own, key, text, cx->error);
    code = code ? code : vram_predict(out, model, own, cx->error);
    vram_plan_free(own);
    return code;
}

/* A report of its own for one rank; its figures are kept. */
static int one_rank(struct vram_cx *cx, const vram_model *model, const struct vram_plan *plan, uint64_t rank,
                    vram_rank_view *out)
{
    vram_report *r = NULL;
    VRAM_TRY(with(cx, model, plan, "rank", rank, &r));
    *out = (vram_rank_view){.size = sizeof *out, .rank = rank, .stage = (uint64_t)r->setup.stage,
                            .allocated = r->allocated, .reserved = r->reserved, .device = r->device,
                            .phase = vram_arena_strndup(cx->arena, r->peak_phase, strlen(r->peak_phase))};
    vram_report_free(r);
    return out->phase ? VRAM_OK : vram_fail_memory(cx);
}

/* The rank that needs most becomes the plan's; with rank=all the others are told, too. */
static int find_worst(struct vram_cx *cx, const vram_model *model, const struct vram_plan *plan,
                      struct vram_report *r)
{
    struct vram_setup *s = &r->setup;
    size_t n = (size_t)s->pp, worst = 0;
    char text[24];
    if (s->pp < 2 || vram_plan_int(plan, VRAM_KEY_RANK) >= 0)
        return VRAM_OK;
    vram_rank_view *ranks = vram_arena_array(cx->arena, n, sizeof *ranks);
    if (!ranks)
        return vram_fail_memory(cx);
    for (size_t i = 0; i < n; i++) {
        VRAM_TRY(one_rank(cx, model, plan, i * (uint64_t)s->tp, &ranks[i]));
        if (ranks[i].allocated.expected > ranks[worst].allocated.expected)
            worst = i;
    }
    s->stage = (int64_t)worst;
    snprintf(text, sizeof text, "%llu", (unsigned long long)ranks[worst].rank);
    for (size_t i = 0; i < s->resolved.n; i++)
        if (!strcmp(s->resolved.at[i].key, "rank"))
            s->resolved.at[i].value = vram_arena_strndup(cx->arena, text, strlen(text));
    if (vram_plan_is(plan, VRAM_KEY_RANK, "all")) {
        r->ranks = ranks;
        r->nranks = n;
    }
    return VRAM_OK;
}

/* When all tokens choose this rank's experts it receives what all ranks send. */
static int crowded(struct vram_cx *cx, const vram_model *model, const struct vram_plan *plan, struct vram_report *r)
{
    const struct vram_setup *s = &r->setup;
    vram_report *worst = NULL;
    if (s->ep < 2 || s->mode != VRAM_MODE_TRAIN || !r->known || vram_plan_given(plan, VRAM_KEY_EP_LOAD))
        return VRAM_OK;
    VRAM_TRY(with(cx, model, plan, "ep_load", (uint64_t)s->ep, &worst));
    r->allocated.high = worst->allocated.high > r->allocated.high ? worst->allocated.high : r->allocated.high;
    r->reserved.high = worst->reserved.high > r->reserved.high ? worst->reserved.high : r->reserved.high;
    r->device.high = worst->device.high > r->device.high ? worst->device.high : r->device.high;
    vram_report_free(worst);
    return VRAM_OK;
}

static int adapt(struct vram_cx *cx, const vram_model *model, struct vram_report *r)
{
    if (r->setup.graph) {
        r->tree = model->tree;
        return VRAM_OK;
    }
    VRAM_TRY(vram_adapt(cx, &model->tree, &r->setup, &r->tree));
    return vram_cut_model(cx, &r->tree, &r->setup);
}

int vram_predict_into(struct vram_cx *cx, const struct vram_model *model,
                      const struct vram_plan *plan, struct vram_report *r)
{
    uint64_t bytes;
    VRAM_TRY(inherit_findings(cx, model));
    VRAM_TRY((model->checkpoint.onnx ? vram_setup_graph : vram_setup_resolve)(cx, plan, &model->tree, &r->setup));
    VRAM_TRY(find_worst(cx, model, plan, r));
    VRAM_TRY(inherit_files(cx, plan, &r->setup));
    VRAM_TRY(adapt(cx, model, r));
    vram_tree_count(&r->tree, 0, &r->parameters_total, &bytes);
    VRAM_TRY(run(cx, r));
    VRAM_TRY(crowded(cx, model, plan, r));
    VRAM_TRY(vram_setup_unused(cx, &r->setup, r->run.asked));
    judge(r);
    return assumptions(cx, r);
}

static int make(struct vram_cx *cx, struct vram_report *r, const vram_model *model,
                const vram_plan *plan)
{
    if (vram_syms_layer(&r->syms, &model->syms, &r->arena))
        return vram_fail_memory(cx);
    r->model = model;
    VRAM_TRY(plan ? vram_plan_copy(&r->own_plan, plan, cx->error)
                  : vram_plan_create(&r->own_plan, cx->error));
    return vram_predict_into(cx, model, r->own_plan, r);
}

int vram_predict(vram_report **out, const vram_model *model, const vram_plan *plan,
                 vram_error *error)
{
    vram_error local;
    if (!error)
        error = &local;
    *error = (vram_error){.offset = VRAM_NO_OFFSET};
    struct vram_report *r = vram_realloc(NULL, 1, sizeof *r);
    if (!r) {
        error->code = VRAM_E_NOMEM;
        snprintf(error->text, sizeof error->text, "out of memory");
        return VRAM_E_NOMEM;
    }
    memset(r, 0, sizeof *r);
    vram_arena_init(&r->arena, model->arena.cap);
    struct vram_cx cx = {&r->arena, &r->syms, &model->limits, &r->findings, error};
    int code = make(&cx, r, model, plan);
    if (code) {
        bool ran = r->tree.scopes && (code == VRAM_E_LIMIT || code == VRAM_E_RANGE || code == VRAM_E_CONFLICT ||
                                      (code == VRAM_E_FORMAT && !model->program.own_files));
        vram_report_free(r); /* gives its memory back first */
        return ran && plan && vram_blame(model, plan, error) ? error->code : code;
    }
    *out = r;
    return VRAM_OK;
}

void vram_report_free(vram_report *r)
{
    if (!r)
        return;
    vram_plan_free(r->own_plan);
    vram_arena_finish(&r->arena);
    free(r);
}
