/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps: inputs, forward, loss, backward, synchronise, optimizer, after; as the Hugging Face
 * Trainer and accelerate drive them (transformers 5.24, accelerate 1.15).
 */
#include <string.h>

#include "train/loop.h"
#include "train/optimizer.h"
#include "train/repeat.h"
#include "train/strategy.h"

static struct vram_value inputs_of_top(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    uint32_t i = vram_class_member(m->program, l->top, vram_machine_sym(m, "inputs"));
    struct vram_value v = {0};
    struct vram_call none = {.nargs = 0};
    struct vram_value method = {0};
    if (i != VRAM_NO_INDEX)
        method = vram_member_value(m, 0, i);
    if (method.kind != VRAM_V_FUNC)
        vram_throw(m, VRAM_E_UNSUPPORTED, "no template says what inputs %s takes",
                   vram_sym_text(m->cx->syms, l->top->name));
    vram_call_function(m, (uint32_t)method.u.i, 0, &none, &v);
    return v;
}

struct vram_value vram_loop_batch(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    struct vram_value v;
    m->op = VRAM_OP_INPUTS;
    v = l->s->forward ? l->s->forward->inputs(l->s->forward->ctx, m) : inputs_of_top(l);
    m->at = UINT32_MAX;
    if (v.kind != VRAM_V_BOX || v.u.box->kind != VRAM_BOX_RECORD)
        vram_throw(m, VRAM_E_FORMAT, "inputs() must return a record");
    for (uint32_t k = 0; k < v.u.box->n; k++)
        if (v.u.box->at[k].kind == VRAM_V_TENSOR)
            vram_set_category(m, v.u.box->at[k].u.tensor, VRAM_CAT_INPUT);
    m->op = VRAM_OP_LOOP;
    return v;
}

static bool is_sym(const struct vram_loop *l, vram_sym sym, const char *text)
{
    return !strcmp(vram_sym_text(l->m.cx->syms, sym), text);
}

/* The engine of DeepSpeed hands floats over in its own dtype. */
static void convert_inputs(struct vram_loop *l, struct vram_value batch_)
{
    enum vram_dtype d = l->s->input_dtype;
    for (uint32_t k = 0; d != VRAM_DT_NONE && k < batch_.u.box->n; k++) {
        struct vram_value *v = &batch_.u.box->at[k];
        if (v->kind != VRAM_V_TENSOR || !vram_dtype_is_float((enum vram_dtype)v->u.tensor->dtype) ||
            v->u.tensor->dtype == d)
            continue;
        struct vram_handle *x = vram_new(&l->m, v->u.tensor->shape, v->u.tensor->rank, d, NULL);
        vram_set_category(&l->m, x, VRAM_CAT_INPUT);
        struct vram_handle *old = v->u.tensor;
        v->u.tensor = x;
        vram_drop(&l->m, old);
    }
}

/* Keywords of the model's forward: every field that is there. */
void vram_loop_call_with(struct vram_loop *l, struct vram_value batch_, struct vram_handle *items,
                      struct vram_call *call)
{
    call->nargs = call->nkw = 0;
    for (uint32_t k = 0; k < batch_.u.box->n; k++) {
        struct vram_value v = batch_.u.box->at[k];
        if (v.kind == VRAM_V_NONE || (!l->m.training && is_sym(l, batch_.u.box->keys[k], "labels")))
            continue;
        if (call->nkw == VRAM_MAX_ARGS - 1)
            vram_throw(&l->m, VRAM_E_LIMIT, "too many inputs");
        call->kw[call->nkw].name = batch_.u.box->keys[k];
        call->kw[call->nkw++].value = vram_value_hold(v);
    }
    if (items) {
        call->kw[call->nkw].name = vram_machine_sym(&l->m, "num_items_in_batch");
        call->kw[call->nkw++].value = vram_tensor_value(vram_hold(items));
    }
}

/* ---- forward ------------------------------------------------------------------------------ */

/* accelerate's convert_to_fp32: a new output object with every 16-bit tensor raised; what the
 * output holds as an object (a cache) is passed on. */
static struct vram_value to_fp32(struct vram_machine *m, struct vram_value v, int depth)
{
    vram_step(m);
    if (v.kind == VRAM_V_TENSOR &&
        (v.u.tensor->dtype == VRAM_DT_BF16 || v.u.tensor->dtype == VRAM_DT_F16))
        return vram_tensor_value(vram_cast(m, v.u.tensor, VRAM_DT_F32));
    if (v.kind != VRAM_V_BOX || v.u.box->opaque)
        return vram_value_hold(v);
    if (depth > VRAM_MAX_BOX_DEPTH)
        vram_throw(m, VRAM_E_LIMIT, "containers nest more than %d deep", VRAM_MAX_BOX_DEPTH);
    struct vram_value out = {.kind = VRAM_V_BOX};
    out.u.box = vram_box_new(m, (enum vram_box_kind)v.u.box->kind, v.u.box->n);
    for (uint32_t i = 0; i < v.u.box->n; i++) {
        if (v.u.box->kind == VRAM_BOX_RECORD)
            out.u.box->keys[i] = v.u.box->keys[i];
        vram_box_push(m, out.u.box, to_fp32(m, v.u.box->at[i], depth + 1));
    }
    return out;
}

/* What wraps the model's forward inside its call: autocast ends, 16-bit outputs are raised. */
static void leave_autocast(struct vram_machine *m, struct vram_value *out)
{
    bool in_loss = m->in_loss;
    uint32_t at = m->at;
    uint16_t op = m->op;
    m->at = UINT32_MAX; /* no line of a template */
    m->in_loss = false;
    m->op = VRAM_OP_LOOP;
    vram_autocast_leave(m);
    if (m->training) {
        struct vram_value wide = to_fp32(m, *out, 0);
        vram_value_drop(m, *out);
        *out = wide;
    }
    m->at = at;
    m->in_loss = in_loss;
    m->op = op;
}

struct vram_value vram_loop_forward(struct vram_loop *l, struct vram_call *call)
{
    struct vram_machine *m = &l->m;
    struct vram_value out;
    if (l->s->autocast != VRAM_DT_NONE) {
        vram_autocast_enter(m, l->s->autocast);
        m->finish = leave_autocast;
    }
    vram_call_module(m, 0, call, &out);
    m->at = UINT32_MAX; /* what follows is no line of a template */
    return out;
}

/* The same of a forward that is no template: there are no modules that hooks could be around. */
static struct vram_value own_forward(struct vram_loop *l, struct vram_value batch_)
{
    struct vram_machine *m = &l->m;
    if (m->around)
        vram_throw(m, VRAM_E_UNSUPPORTED, "this strategy gathers parameters around modules, and a graph has none");
    if (l->s->autocast != VRAM_DT_NONE)
        vram_autocast_enter(m, l->s->autocast);
    m->scope = 0;
    struct vram_value out = l->s->forward->run(l->s->forward->ctx, m, batch_);
    m->scope = 0;
    if (l->s->autocast != VRAM_DT_NONE)
        leave_autocast(m, &out);
    return out;
}

struct vram_handle *vram_loop_field(struct vram_loop *l, struct vram_value v, const char *name)
{
    for (uint32_t i = 0; v.kind == VRAM_V_BOX && v.u.box->kind == VRAM_BOX_RECORD && i < v.u.box->n;
         i++)
        if (is_sym(l, v.u.box->keys[i], name) && v.u.box->at[i].kind == VRAM_V_TENSOR)
            return v.u.box->at[i].u.tensor;
    return NULL;
}

static struct vram_handle *run_op(struct vram_loop *l, const char *name, struct vram_handle *x,
                                  struct vram_value second)
{
    uint32_t op = vram_op_find(name);
    struct vram_value args[VRAM_MAX_ARGS] = {vram_tensor_value(x), second}, out = {0};
    l->m.op = (uint16_t)op;
    vram_op_row_at(op)->run(&l->m, vram_op_row_at(op), args, &out);
    l->m.op = VRAM_OP_LOOP;
    return out.u.tensor;
}

/* The sum of the means of all outputs that something trains; NULL: there is none. */
static struct vram_handle *mean_of_all(struct vram_loop *l, struct vram_value out)
{
    struct vram_handle *loss = NULL;
    for (uint32_t i = 0; i < out.u.box->n; i++) {
        if (out.u.box->at[i].kind != VRAM_V_TENSOR || !out.u.box->at[i].u.tensor->requires_grad)
            continue;
        struct vram_handle *x = run_op(l, "mean", out.u.box->at[i].u.tensor, (struct vram_value){0});
        struct vram_handle *sum = loss ? run_op(l, "add", loss, vram_tensor_value(x)) : vram_hold(x);
        vram_drop(&l->m, loss);
        vram_drop(&l->m, x);
        loss = sum;
    }
    return loss;
}

/* The model's own loss; a model that gives none is trained on the mean of its output. */
static struct vram_handle *loss_of(struct vram_loop *l, struct vram_value out)
{
    static const char *const fields[] = {"logits", "last_hidden_state", "pooler_output"};
    struct vram_handle *loss = vram_hold(vram_loop_field(l, out, "loss"));
    for (size_t i = 0; !loss && !l->s->forward && i < sizeof fields / sizeof *fields; i++) {
        struct vram_handle *x = vram_loop_field(l, out, fields[i]);
        if (!x)
            continue;
        struct vram_handle *wide = vram_cast(&l->m, x, VRAM_DT_F32);
        loss = run_op(l, "mean", wide, (struct vram_value){0});
        vram_drop(&l->m, wide);
    }
    if (!loss && l->s->forward)
        loss = mean_of_all(l, out);
    if (!loss)
        vram_throw(&l->m, VRAM_E_UNSUPPORTED, "the model gives nothing to train on");
    if (l->s->loss_scale) {
        struct vram_value scale = {.kind = VRAM_V_FLOAT};
        scale.u.f = 65536;
        struct vram_handle *scaled = run_op(l, "mul", loss, scale);
        vram_drop(&l->m, loss);
        loss = scaled;
    }
    return loss;
}

/* ---- steps -------------------------------------------------------------------------------- */

static const char *prefix(struct vram_loop *l, int step, int64_t micro)
{
    char *text = l->s->accumulation == 1 || micro == 0
                     ? vram_format(l->m.cx->arena, "step%d.", step)
                     : vram_format(l->m.cx->arena, "step%d.micro%lld.", step, (long long)micro);
    if (!text)
        vram_throw_memory(&l->m);
    return text;
}

/* A thread's first product makes its cuBLAS workspace, which stays: one of the thread that runs
 * forward, one of autograd's; in the worst case more streams have theirs. */
void vram_loop_cublas(struct vram_loop *l, uint64_t low, uint64_t high)
{
    int sm = l->m.sm;
    const struct vram_constant_row *c =
        vram_constant_find(!sm          ? "cublas-workspace"
                           : sm < 90    ? "cublas-workspace-before-sm90"
                           : sm < 100   ? "cublas-workspace-sm90"
                                        : "cublas-workspace-sm100");
    if (c)
        vram_workspace_begin(&l->m, c->low * low, c->expected, c->high * high);
}

static void micro_step(struct vram_loop *l, struct vram_value batch_)
{
    struct vram_machine *m = &l->m;
    const struct vram_strategy_row *row = l->s->strategy;
    struct vram_call call;
    bool labels = vram_loop_field(l, batch_, "labels") != NULL; /* the Trainer counts them */
    struct vram_handle *items =
        l->top && l->top->forward.rest && labels ? vram_new_scalar(m, VRAM_DT_I64) : NULL;
    vram_phase(m, "forward");
    if (!l->run->saved_event)
        vram_loop_cublas(l, 1, 1);
    if (row->forward_begin)
        row->forward_begin(&l->strategy);
    convert_inputs(l, batch_);
    if (!l->s->forward)
        vram_loop_call_with(l, batch_, items, &call);
    struct vram_value out = l->s->forward ? own_forward(l, batch_) : vram_loop_forward(l, &call);
    if (l->s->forward)
        vram_phase(m, "loss");
    m->in_loss = l->s->forward != NULL;
    struct vram_handle *loss = loss_of(l, out);
    m->in_loss = false;
    vram_value_drop(m, out);
    vram_drop(m, items);
    bool first = !l->run->saved_event;
    if (first) {
        l->run->saved_event = (uint32_t)m->events->n;
        vram_tape_savers(m, loss);
    }
    vram_phase(m, "backward");
    if (first)
        vram_loop_cublas(l, 0, 3);
    m->op = VRAM_OP_BACKWARD;
    if (row->backward_begin)
        row->backward_begin(&l->strategy);
    vram_backward(m, loss, NULL);
    vram_drop(m, loss);
    vram_optimizer_backward_end(&l->optimizer);
    if (row->backward_end)
        row->backward_end(&l->strategy);
    m->op = VRAM_OP_LOOP;
}

void vram_loop_zero_grad(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    if (l->s->strategy->zero_grad)
        l->s->strategy->zero_grad(&l->strategy);
    for (uint32_t i = 0; i < m->tree->nparams; i++)
        if (m->params[i])
            vram_let_go(m, &m->params[i]->grad);
}

/* From the second on the micro-batches of a step are alike, but for the last, at which strategies work:
 * of many the first are run and the last one. */
enum { MICRO_STEPS = 256 /* of all steps together */, MICRO_LEAST = 8 };

static int64_t micro_run(const struct vram_loop *l)
{
    int64_t n = l->s->accumulation, most = MICRO_STEPS / l->s->steps;
    most = most < MICRO_LEAST ? MICRO_LEAST : most;
    return n <= most || l->s->run_every_step ? n : most;
}

static void step(struct vram_loop *l, int number)
{
    struct vram_machine *m = &l->m;
    int64_t first = micro_run(l) - 1; /* so many, and the last one */
    const struct vram_strategy_row *row = l->s->strategy;
    int64_t n = l->s->accumulation;
    struct vram_value *batches = vram_machine_alloc(m, (size_t)n, sizeof *batches);
    m->phase_prefix = prefix(l, number, 0);
    vram_phase(m, "inputs");
    for (int64_t i = 0; i < n; i++)
        batches[i] = vram_loop_batch(l);
    for (int64_t i = 0; i < n; i++) {
        if (i >= first && i < n - 1) {
            convert_inputs(l, batches[i]); /* all that such a one leaves behind */
            continue;
        }
        m->phase_prefix = prefix(l, number, i + 1);
        l->strategy.micro = (uint32_t)i;
        micro_step(l, batches[i]);
    }
    m->phase_prefix = prefix(l, number, 0);
    if (row->synchronise && row->synchronises(&l->strategy)) {
        vram_phase(m, "synchronise");
        m->op = VRAM_OP_STRATEGY;
        row->synchronise(&l->strategy);
    }
    vram_phase(m, "optimizer");
    if (row->step)
        row->step(&l->strategy);
    else
        vram_optimizer_step(&l->optimizer);
    if (!l->run->step_event)
        l->run->step_event = (uint32_t)m->events->n;
    vram_phase(m, "after");
    vram_loop_zero_grad(l);
    for (int64_t i = 0; i < n; i++)
        vram_value_drop(m, batches[i]);
}

int64_t vram_loop_hidden(struct vram_loop *l)
{
    struct vram_cx *cx = l->m.cx;
    const struct vram_config *root = l->m.tree->scopes[0].config;
    const struct vram_config *text = vram_config_get_text(cx, root, "text_config");
    const struct vram_config *v = vram_config_get_text(cx, text ? text : root, "hidden_size");
    if (!v || v->type != VRAM_CONFIG_INT || v->integer < 1)
        vram_throw(&l->m, VRAM_E_UNSUPPORTED, "the config has no hidden_size");
    return v->integer;
}

/* .grad of a leaf is set: the strategy's hook first, then an optimizer that does not wait */
static void step_in_backward(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g)
{
    struct vram_strategy *s = m->strategy;
    if (s->row->accumulated)
        s->row->accumulated(m, leaf, g);
    vram_optimizer_accumulated(s->optimizer, leaf);
}

/* CPUOffloadOptimizer: a copy goes to the host, the gradient dies. */
static void gradient_to_host(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g)
{
    const struct vram_strategy *s = m->strategy;
    (void)g;
    if (vram_steps_on_host(s->setup, leaf))
        vram_let_go(m, &leaf->grad);
}

/* On the host: pinned copies of parameters and gradients, and the states. */
static void count_host_optimizer(struct vram_loop *l)
{
    for (uint32_t i = 0; i < l->strategy.n; i++) {
        const struct vram_handle *p = l->strategy.params[i];
        uint64_t bytes = vram_steps_on_host(l->s, p) && p->storage ? l->m.events->storages[p->storage->id].bytes : 0;
        for (int k = 0; k < 2; k++)
            vram_host_take(&l->strategy, bytes, true);
        vram_host_take(&l->strategy, bytes * (uint64_t)(l->s->optimizer->on_host - 1), false);
    }
}

void vram_loop_start(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    uint32_t n = 0;
    m->training = m->grad = true;
    l->strategy.params = vram_machine_alloc(m, m->tree->nparams, sizeof(struct vram_handle *));
    for (uint32_t i = 0; i < m->tree->nparams; i++)
        if (l->run->requires_grad[i] && m->params[i])
            l->strategy.params[n++] = m->params[i];
    l->strategy.n = n;
    m->strategy = &l->strategy;
    m->accumulated = l->s->in_backward ? step_in_backward : l->s->strategy->accumulated;
    m->inputs_left = vram_machine_alloc(m, m->tree->nscopes, sizeof *m->inputs_left);
    m->around = l->s->strategy->around;
    if (l->s->host_gradients)
        m->accumulated = gradient_to_host;
    vram_optimizer_init(&l->optimizer, m, l->s);
    if (l->s->host_optimizer)
        count_host_optimizer(l);
    if (l->s->strategy->init) {
        m->op = VRAM_OP_STRATEGY;
        l->s->strategy->init(&l->strategy);
    }
    m->op = VRAM_OP_LOOP;
}

static void pipeline_steps(struct vram_loop *l)
{
    struct vram_pipeline *p = vram_pipeline_new(l);
    for (int i = 1; i <= l->s->steps; i++) {
        vram_pipeline_step(p, i);
        if (i == 1)
            vram_optimizer_report(&l->optimizer);
    }
    vram_optimizer_finish(&l->optimizer);
}

void vram_loop_train(struct vram_loop *l)
{
    vram_loop_start(l);
    if (l->s->pp > 1) {
        pipeline_steps(l);
        return;
    }
    int64_t n = l->s->accumulation, run = micro_run(l);
    if (run < n && vram_find(l->m.cx, VRAM_F_STEPS_SAMPLED, "accumulation",
                             "%lld of %lld micro-batches of a step are run, the last one among them: the "
                             "others are like the one before", (long long)run, (long long)n))
        vram_throw_memory(&l->m);
    size_t from = l->m.events->n;
    uint32_t first = (uint32_t)l->m.events->nstorages;
    step(l, 1);
    if (!vram_plan_is(l->s->plan, VRAM_KEY_LENGTHS, "fixed")) {
        l->m.events->varied_from = from;
        l->m.events->varied_to = l->m.events->n;
    }
    vram_optimizer_report(&l->optimizer);
    /* a strategy that changes its buffers between steps, or an optimizer that makes state anew, has
     * to be run */
    bool alike = !l->s->strategy->changes && !vram_optimizer_varies(l->s->optimizer) &&
                 !l->s->run_every_step;
    if (!alike || !vram_steps_repeat(&l->m, from, first, l->s->steps))
        for (int i = 2; i <= l->s->steps; i++)
            step(l, i);
    vram_optimizer_finish(&l->optimizer); /* the run is over */
}
