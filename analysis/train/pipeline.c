/* SPDX-License-Identifier: Apache-2.0
 *
 * A step of one pipeline stage: torch.distributed.pipelining's Schedule1F1B (2.9, schedules.py, stage.py)
 * around the stage that transformers' apply_pipeline_parallelism leaves of a model.  The first forwards are
 * as many as stages follow, this one included; then a backward and a forward in turn; then the other
 * backwards.  Several tapes live at a time.
 *
 * Buffers of all micro-batches are made in the first step and stay; the gradients of received inputs and
 * the last stage's outputs stay until the next step begins.
 */
#include <string.h>

#include "train/loop.h"

struct vram_pipeline {
    struct vram_loop *l;
    uint32_t base, stage, stages;
    int64_t n;                      /* micro-batches of a step */
    struct vram_value batch;        /* of the whole step */
    int step;
    struct vram_handle **received;  /* by micro-batch: inputs; NULL in the first stage */
    struct vram_handle **gradients; /* of outputs; NULL in the last stage */
    struct vram_handle **outputs;   /* that backward is still to come for */
    struct vram_handle **merged;    /* the last stage's, for the caller */
    struct vram_handle **losses;
    struct vram_handle *latest;     /* what the schedule's names still hold */
};

static bool first(const struct vram_pipeline *p) { return p->stage == 0; }
static bool last(const struct vram_pipeline *p) { return p->stage + 1 == p->stages; }

static void prefix(struct vram_pipeline *p, int64_t micro)
{
    struct vram_machine *m = &p->l->m;
    const char *text = p->n == 1 || micro < 0
                           ? vram_format(m->cx->arena, "step%d.", p->step)
                           : vram_format(m->cx->arena, "step%d.micro%lld.", p->step, (long long)micro + 1);
    if (!text)
        vram_throw_memory(m);
    m->phase_prefix = text;
}

/* Rows of micro-batch k. */
static struct vram_handle *chunk(struct vram_pipeline *p, const char *field, int64_t k)
{
    struct vram_handle *x = vram_loop_field(p->l, p->batch, field);
    int64_t shape[VRAM_MAX_RANK];
    (void)k;
    if (!x)
        return NULL;
    memcpy(shape, x->shape, sizeof shape);
    shape[0] /= p->n;
    return vram_alias(&p->l->m, x, shape, x->stride, x->rank, true);
}

static void add_keyword(struct vram_machine *m, struct vram_call *call, const char *name, struct vram_handle *x)
{
    call->kw[call->nkw].name = vram_machine_sym(m, name);
    call->kw[call->nkw++].value = vram_tensor_value(x); /* none when there is none */
}

/* The stage's output for x: hidden states, or logits.  Takes x. */
static struct vram_handle *forward(struct vram_pipeline *p, struct vram_handle *x, int64_t k)
{
    struct vram_machine *m = &p->l->m;
    struct vram_call call = {.nargs = 0};
    struct vram_value out;
    add_keyword(m, &call, "input_ids", first(p) ? x : NULL);
    if (!first(p))
        add_keyword(m, &call, "inputs_embeds", x);
    add_keyword(m, &call, "attention_mask", chunk(p, "attention_mask", k));
    if (p->l->s->autocast != VRAM_DT_NONE)
        vram_throw(m, VRAM_E_UNSUPPORTED, "pipeline stages under autocast are not described");
    vram_call_module(m, last(p) ? 0 : p->base, &call, &out);
    m->at = UINT32_MAX;
    struct vram_handle *y = vram_hold(vram_loop_field(p->l, out, last(p) ? "logits" : "last_hidden_state"));
    if (!y)
        vram_throw(m, VRAM_E_UNSUPPORTED, "the model gives nothing that a next stage takes");
    vram_value_drop(m, out);
    return y;
}

static struct vram_handle *loss_of(struct vram_pipeline *p, struct vram_handle *logits, int64_t k)
{
    struct vram_machine *m = &p->l->m;
    uint32_t f = vram_program_function(m->program, vram_machine_sym(m, "causal_lm_loss"));
    struct vram_call call = {.nargs = 2};
    struct vram_value out;
    if (f == VRAM_NO_INDEX)
        vram_throw(m, VRAM_E_UNSUPPORTED, "no template says what the loss of a pipeline is");
    call.args[0] = vram_tensor_value(vram_hold(logits));
    call.args[1] = vram_tensor_value(chunk(p, "labels", k));
    m->in_loss = m->loss_begun = true;
    vram_call_function(m, f, VRAM_NO_INDEX, &call, &out);
    m->in_loss = false;
    m->at = UINT32_MAX;
    return out.u.tensor;
}

/* ---- what is made in the first step -------------------------------------------------------- */

/* Hidden states of every micro-batch. */
static struct vram_handle **buffers(struct vram_pipeline *p, const int64_t shape[3], bool input)
{
    struct vram_machine *m = &p->l->m;
    struct vram_handle **out = vram_machine_alloc(m, (size_t)p->n, sizeof(struct vram_handle *));
    for (int64_t i = 0; i < p->n; i++) {
        out[i] = vram_new(m, shape, 3, p->l->s->dtype, NULL);
        if (input)
            vram_require_grad(m, out[i]);
    }
    return out;
}

/* One forward without a tape tells the shapes; then the buffers. */
static void initialise(struct vram_pipeline *p)
{
    struct vram_machine *m = &p->l->m;
    const struct vram_setup *s = p->l->s;
    const int64_t one[1] = {1};
    struct vram_handle *ids = chunk(p, "input_ids", 0);
    struct vram_handle *received = vram_new(m, one, 1, VRAM_DT_F32, NULL); /* ranks greet each other */
    struct vram_handle *sent = vram_new_scalar(m, VRAM_DT_I64);
    int64_t width = vram_loop_hidden(p->l), shape[3] = {ids->shape[0], ids->shape[1], width};
    struct vram_handle *x = first(p) ? vram_new_like(m, ids, (enum vram_dtype)ids->dtype)
                                     : vram_new(m, shape, 3, s->dtype, NULL);
    vram_drop(m, ids);
    m->grad = false;
    m->quiet = true;
    vram_drop(m, forward(p, x, 0));
    m->grad = true;
    m->quiet = false;
    p->received = first(p) ? NULL : buffers(p, shape, true);
    p->gradients = last(p) ? NULL : buffers(p, shape, false);
    vram_drop(m, received);
    vram_drop(m, sent);
}

/* ---- one micro-batch ------------------------------------------------------------------------ */

static void one_forward(struct vram_pipeline *p, int64_t k)
{
    struct vram_machine *m = &p->l->m;
    prefix(p, k);
    vram_phase(m, "forward");
    if (!p->l->run->saved_event && k == 0)
        vram_loop_cublas(p->l, 1, 1);
    struct vram_handle *y = forward(p, first(p) ? chunk(p, "input_ids", k) : vram_hold(p->received[k]), k);
    vram_let_go(m, &p->latest);
    p->latest = vram_hold(y);
    p->outputs[k] = y;
    if (!last(p))
        return;
    p->merged[k] = vram_hold(y);
    p->losses[k] = loss_of(p, y, k);
}

static void one_backward(struct vram_pipeline *p, int64_t k)
{
    struct vram_machine *m = &p->l->m;
    struct vram_handle *y = p->outputs[k];
    bool early = !p->l->run->saved_event;
    if (early) {
        p->l->run->saved_event = (uint32_t)m->events->n;
        vram_tape_savers(m, last(p) ? p->losses[k] : y);
    }
    prefix(p, k);
    vram_phase(m, "backward");
    if (early)
        vram_loop_cublas(p->l, 0, 3);
    m->op = VRAM_OP_BACKWARD;
    p->outputs[k] = NULL;
    if (last(p))
        vram_backward(m, p->losses[k], NULL);
    else
        vram_backward_from(m, &y, &p->gradients[k], 1);
    vram_drop(m, y);
    m->op = VRAM_OP_LOOP;
}

/* The outputs of all micro-batches joined, for a caller who does not look at them. */
static void finish(struct vram_pipeline *p)
{
    struct vram_machine *m = &p->l->m;
    vram_let_go(m, &p->latest);
    if (!last(p))
        return;
    for (int64_t k = 0; k < p->n; k++)
        vram_let_go(m, &p->losses[k]);
    int64_t shape[VRAM_MAX_RANK];
    memcpy(shape, p->merged[0]->shape, sizeof shape);
    shape[0] *= p->n;
    vram_drop(m, vram_new(m, shape, p->merged[0]->rank, (enum vram_dtype)p->merged[0]->dtype, NULL));
}

static void clear(struct vram_pipeline *p)
{
    struct vram_machine *m = &p->l->m;
    for (int64_t k = 0; k < p->n; k++) {
        vram_let_go(m, &p->merged[k]);
        if (p->received)
            vram_let_go(m, &p->received[k]->grad);
    }
}

static void schedule(struct vram_pipeline *p)
{
    int64_t warm = p->stages - p->stage, done = 0, ahead = 0;
    for (warm = warm < p->n ? warm : p->n; ahead < warm; ahead++)
        one_forward(p, ahead);
    while (done < p->n) {
        one_backward(p, done++);
        if (ahead < p->n)
            one_forward(p, ahead++);
    }
    finish(p);
}

struct vram_pipeline *vram_pipeline_new(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    struct vram_pipeline *p = vram_machine_alloc(m, 1, sizeof *p);
    size_t n = (size_t)l->s->accumulation;
    *p = (struct vram_pipeline){.l = l, .stage = (uint32_t)l->s->stage, .stages = (uint32_t)l->s->pp,
                                .n = l->s->accumulation};
    for (uint32_t i = 0; i < m->tree->nscopes; i++)
        if (m->tree->scopes[i].input_embedding)
            p->base = m->tree->scopes[i].parent;
    p->outputs = vram_machine_alloc(m, n, sizeof(struct vram_handle *));
    p->merged = vram_machine_alloc(m, n, sizeof(struct vram_handle *));
    p->losses = vram_machine_alloc(m, n, sizeof(struct vram_handle *));
    return p;
}

void vram_pipeline_step(struct vram_pipeline *p, int number)
{
    struct vram_loop *l = p->l;
    struct vram_machine *m = &l->m;
    p->step = number;
    prefix(p, -1);
    vram_phase(m, "inputs");
    l->rows = l->s->micro_batch * p->n;
    p->batch = vram_loop_batch(l);
    l->rows = 0;
    clear(p);
    if (!p->received && !p->gradients)
        initialise(p);
    schedule(p);
    prefix(p, -1);
    vram_phase(m, "optimizer");
    vram_optimizer_step(&l->optimizer);
    if (!l->run->step_event)
        l->run->step_event = (uint32_t)m->events->n;
    vram_phase(m, "after");
    vram_loop_zero_grad(l);
    vram_value_drop(m, p->batch);
}
