/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole run: the machine made ready, parameters and buffers loaded, then the steps, or one
 * forward, or (when no template describes the model) what follows from the parameters alone.
 */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "train/choose.h"
#include "train/loop.h"

static enum vram_dtype held_dtype(const struct vram_setup *s, const struct vram_param *p)
{
    if (p->fixed)
        return (enum vram_dtype)p->fixed;
    return p->buffer && !p->floating ? (enum vram_dtype)p->dtype : s->dtype;
}

static bool trains(const struct vram_loop *l, const struct vram_param *p)
{
    const struct vram_scope *scope = &l->m.tree->scopes[p->scope];
    return !p->buffer && !p->packed && !p->original && vram_dtype_is_float(held_dtype(l->s, p)) &&
           (p->adapter || (vram_setup_mode(l->s, scope->component) == VRAM_TRAIN_FULL &&
                           (!l->may_train || l->may_train[p->scope])));
}

static void load_one(struct vram_loop *l, uint32_t i)
{
    struct vram_machine *m = &l->m;
    const struct vram_param *p = &m->tree->params[i];
    l->run->requires_grad[i] = trains(l, p);
    l->run->dtype[i] = (uint8_t)held_dtype(l->s, p);
    if (l->run->requires_grad[i])
        l->run->trainable += vram_param_whole(p);
    if (p->absent)
        return;
    m->scope = p->scope;
    int64_t words[1] = {(int64_t)p->packed};
    const int64_t *dims = p->packed ? words : p->dims;
    int rank = p->packed ? 1 : p->rank;
    bool host = !p->buffer && l->strategy.row && l->strategy.row->loads_on_host;
    struct vram_handle *x = host ? vram_blank(m, dims, rank, held_dtype(l->s, p))
                                 : vram_new(m, dims, rank, held_dtype(l->s, p), NULL);
    x->leaf = true;
    x->param = i;
    vram_set_category(m, x, p->buffer ? VRAM_CAT_BUFFER : VRAM_CAT_PARAMETER);
    if (x->storage)
        m->events->storages[x->storage->id].param = i;
    x->requires_grad = l->run->requires_grad[i];
    m->params[i] = x;
    if (l->strategy.row && l->strategy.row->load && !p->buffer)
        l->strategy.row->load(&l->strategy, i);
}

static void load(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    const struct vram_tree *t = m->tree;
    m->op = VRAM_OP_LOAD;
    vram_phase(m, "load");
    for (int buffers = 0; buffers < 2; buffers++)
        for (uint32_t i = 0; i < t->nparams; i++)
            if (t->params[i].buffer == (buffers == 1) && t->params[i].tied_to == VRAM_NO_INDEX)
                load_one(l, i);
    m->scope = 0;
}

/* Input gradients are switched on with checkpointing when the model's main input is input_ids, and by PEFT
 * around any model (PeftModel._prepare_model_for_gradient_checkpointing). */
static bool any_lora(const struct vram_setup *s)
{
    for (uint32_t i = 0; i < s->ntrain; i++)
        if (s->train[i] == VRAM_TRAIN_LORA)
            return true;
    return false;
}

static bool main_input_is_ids(const struct vram_loop *l)
{
    const struct vram_callable *c = &l->top->forward;
    return c->npositional && !strcmp(vram_sym_text(l->m.cx->syms,
                                                   l->m.program->params.at[c->params].name),
                                     "input_ids");
}

/* Layers that can be checkpointed are counted through the whole model (transformers 5.24,
 * _set_gradient_checkpointing). */
static bool *pass_over(struct vram_loop *l)
{
    const struct vram_tree *t = l->m.tree;
    bool *out = vram_machine_alloc(&l->m, t->nscopes, sizeof *out);
    int64_t layer = 0;
    for (uint32_t i = 0; i < t->nscopes; i++)
        if (l->m.program->classes.at[t->scopes[i].cls].checkpointed)
            out[i] = layer++ % l->s->checkpoint_every != 0;
    return out;
}

/* A card that is not named has as many multiprocessors as the one of the recordings, an H100. */
enum { RECORDED_SMS = 132 };

static void prepare(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    const struct vram_setup *s = l->s;
    m->setting = vram_loop_setting;
    m->setting_ctx = l;
    m->card = s->card;
    m->workspaces = true;
    m->attention = s->attention;
    m->shared_sequence = s->cp > 1;
    m->sm = s->gpu ? s->gpu->sm : 0;
    m->sms = s->gpu && s->gpu->sms ? s->gpu->sms : RECORDED_SMS;
    m->checkpointing = s->checkpointing && !s->selective;
    m->selective = s->selective;
    m->core_attention = vram_machine_sym(m, "attention");
    m->offload_inputs = s->offload_inputs;
    if (s->checkpointing && s->checkpoint_every > 1 && m->tree->known)
        m->passed_over = pass_over(l);
    m->reentrant = s->reentrant;
    m->checkpointed_component = s->checkpointed;
    m->ncheckpointed = s->ntrain;
    if (m->tree->known) {
        l->top = &m->program->classes.at[m->tree->scopes[0].cls];
        m->input_grads = m->checkpointing && s->mode == VRAM_MODE_TRAIN &&
                         (main_input_is_ids(l) || any_lora(s));
    }
    m->params = vram_machine_alloc(m, m->tree->nparams, sizeof(struct vram_handle *));
    if (s->mode == VRAM_MODE_TRAIN)
        l->strategy = (struct vram_strategy){.m = m, .setup = s, .row = s->strategy,
                                             .optimizer = &l->optimizer, .host = &l->run->host};
    l->run->requires_grad = vram_machine_alloc(m, m->tree->nparams, sizeof(bool));
    l->run->dtype = vram_machine_alloc(m, m->tree->nparams, sizeof(uint8_t));
}

static int begin(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup,
                 struct vram_run *out, struct vram_loop **loop)
{
    struct vram_loop *l = vram_arena_alloc(cx->arena, sizeof *l);
    struct vram_events *events = vram_arena_alloc(cx->arena, sizeof *events);
    if (!l || !events)
        return vram_fail_memory(cx);
    *out = (struct vram_run){.events = events};
    VRAM_TRY(vram_choose_trained(cx, tree, setup, &l->may_train));
    /* room for a 7B model's two steps: never copied, and what is not touched costs nothing */
    if (!vram_vec_room(events, cx->arena, 1 << 16) ||
        !vram_vec_grow_(cx->arena, (void **)&events->storages, 0, &events->storages_cap, 1 << 15,
                        sizeof *events->storages))
        return vram_fail_memory(cx);
    VRAM_TRY(vram_machine_init(&l->m, cx, tree->program, tree));
    l->s = setup;
    l->run = out;
    l->m.events = events;
    *loop = l;
    return VRAM_OK;
}

static void run(struct vram_loop *l)
{
    if (l->s->mode == VRAM_MODE_TRAIN)
        vram_loop_train(l);
    else if (l->s->mode == VRAM_MODE_INFER)
        vram_loop_infer(l);
}

static void run_states(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    if (l->s->mode != VRAM_MODE_TRAIN)
        return;
    vram_loop_start(l);
    m->op = VRAM_OP_BACKWARD;
    for (uint32_t i = 0; i < l->strategy.n; i++) {
        struct vram_handle *p = l->strategy.params[i];
        m->scope = m->tree->params[p->param].scope;
        p->grad = vram_new_like(m, p, (enum vram_dtype)p->dtype);
        vram_set_category(m, p->grad, VRAM_CAT_GRADIENT);
        if (p->grad->storage)
            m->events->storages[p->grad->storage->id].param = p->param;
        if (m->accumulated)
            m->accumulated(m, p, p->grad);
    }
    vram_optimizer_backward_end(&l->optimizer);
    if (l->s->strategy->reduce_all)
        l->s->strategy->reduce_all(&l->strategy);
    if (l->s->strategy->step)
        l->s->strategy->step(&l->strategy);
    else
        vram_optimizer_step(&l->optimizer);
    vram_optimizer_report(&l->optimizer);
}

/* Positions of one picture in a sequence, by the top module's own count; 0 = it has none. */
static int64_t image_tokens(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    struct vram_call none = {.nargs = 0};
    struct vram_value method = {0}, out = {0};
    if (!l->top || !l->s->images)
        return 0;
    uint32_t i = vram_class_member(m->program, l->top, vram_machine_sym(m, "image_tokens"));
    if (i != VRAM_NO_INDEX)
        method = vram_member_value(m, 0, i);
    if (method.kind != VRAM_V_FUNC)
        return 0;
    vram_call_function(m, (uint32_t)method.u.i, 0, &none, &out);
    m->at = UINT32_MAX;
    if (out.kind != VRAM_V_INT || out.u.i < 0 || out.u.i > INT32_MAX)
        vram_throw(m, VRAM_E_FORMAT, "image_tokens() must return a number of positions");
    return out.u.i;
}

/* Pictures that have no room in the sequence, but would have it as one tile each: who counts tiles calls them
 * images.  Read the other way no model runs the batch. */
static bool read_as_tiles(struct vram_loop *l, struct vram_setup *setup)
{
    int64_t one;
    if (vram_plan_given(setup->plan, VRAM_KEY_TILES))
        return false;
    setup->one_tile = true;
    one = image_tokens(l);
    setup->one_tile = one > 0 && one <= setup->seq / setup->images;
    return setup->one_tile;
}

/* A sequence should have room for its pictures; the reference runs do not look at the ids. */
static void decide_seq(struct vram_loop *l, struct vram_setup *setup)
{
    int64_t one = image_tokens(l), all;
    char text[32];
    if (setup->cp > 1 && (setup->images || setup->seq % (2 * setup->cp)))
        vram_throw(&l->m, VRAM_E_ARGUMENT,
                   setup->images ? "cp=%lld: a sequence with pictures is not split between ranks"
                                 : "cp=%lld: the sequence must be a multiple of twice as many positions",
                   (long long)setup->cp);
    if (__builtin_mul_overflow(one, setup->images, &all) || all > INT32_MAX)
        vram_throw(&l->m, VRAM_E_ARGUMENT, "images=%lld of %lld positions each are too many",
                   (long long)setup->images, (long long)one);
    if (setup->text_tokens == VRAM_PLAN_UNSET) {
        if (setup->seq < all && setup->card && read_as_tiles(l, setup)) {
            if (vram_find(l->m.cx, VRAM_F_SETTING_READ_AS, "images",
                          "images=%lld is read as so many tiles: as pictures of %lld positions each they have no "
                          "room in seq=%lld (tiles=N says how many a picture has)",
                          (long long)setup->images, (long long)one, (long long)setup->seq))
                vram_throw_memory(&l->m);
            return;
        }
        if (setup->seq < all && setup->card &&
            vram_find(l->m.cx, VRAM_F_SEQ_SHORT, "seq",
                      "seq=%lld has no room for images=%lld of %lld positions each: the real model "
                      "refuses this batch (text_tokens=N computes seq)",
                      (long long)setup->seq, (long long)setup->images, (long long)one))
            vram_throw_memory(&l->m);
        return;
    }
    setup->seq = setup->text_tokens + all;
    if (setup->seq == 0)
        vram_throw(&l->m, VRAM_E_ARGUMENT, "text_tokens=0 leaves no position");
    snprintf(text, sizeof text, "%lld", (long long)setup->seq);
    if (vram_setup_note(l->m.cx, setup, "seq", text, "model"))
        vram_throw_memory(&l->m);
}

/* Errors of the machine come out here, by longjmp. */
static int guarded(struct vram_loop *l, struct vram_setup *setup, void (*what)(struct vram_loop *l))
{
    int code = setjmp(l->m.escape);
    if (code)
        return code;
    prepare(l);
    if (setup && !setup->forward)
        decide_seq(l, setup);
    load(l);
    what(l);
    l->run->rank = l->strategy.rank;
    l->run->host.most_exact += l->m.most_offloaded;
    l->run->host.most_held += l->m.most_offloaded;
    return VRAM_OK;
}

/* Kernels that ran instead of the one that was asked for, or that the card would have on a newer one. */
static int report_kernels(const struct vram_loop *l)
{
    const struct vram_setup *s = l->s;
    const char *asked = vram_plan_text(s->plan, VRAM_KEY_ATTENTION), *why = NULL;
    if (s->selective && !l->m.selected)
        VRAM_TRY(vram_find(l->m.cx, VRAM_F_SETTING_UNUSED, "checkpointing",
                           "checkpointing=selective has no effect: attention is no part of its own in this model"));
    bool efficient = l->m.kernels & 1u << VRAM_KERNEL_EFFICIENT;
    bool math = l->m.kernels & 1u << VRAM_KERNEL_MATH;
    enum vram_dtype compute = s->autocast != VRAM_DT_NONE ? s->autocast : s->dtype;
    bool old = l->m.sm && l->m.sm < 80 && compute != VRAM_DT_F32;
    if (!strcmp(asked, "efficient") && math)
        why = "the efficient kernel takes no grouped heads, no bf16 before compute capability 8.0 and only "
              "aligned head sizes";
    else if (!strcmp(asked, "sdpa") && old && (efficient || math))
        why = compute == VRAM_DT_BF16
                  ? "before compute capability 8.0 there is no flash kernel, and no efficient one in bf16"
                  : "before compute capability 8.0 there is no flash kernel";
    else if ((!strncmp(asked, "flash", 5) || !strcmp(asked, "cudnn")) && (efficient || math))
        why = "the flash kernel takes no mask and no head sizes above 256";
    if (!why)
        return VRAM_OK;
    return vram_find(l->m.cx, VRAM_F_KERNEL_FALLBACK, "attention", "attention=%s: %s; %s%s%s ran, as torch chooses",
                     asked, why, efficient ? "the efficient kernel" : "", efficient && math ? " and " : "",
                     math ? "the math kernel" : "");
}

int vram_run(struct vram_cx *cx, const struct vram_tree *tree, struct vram_setup *setup,
             struct vram_run *out)
{
    struct vram_loop *l = NULL;
    VRAM_TRY(begin(cx, tree, setup, out, &l));
    VRAM_TRY(guarded(l, setup, run));
    return report_kernels(l);
}

int vram_run_states(struct vram_cx *cx, const struct vram_tree *tree,
                    const struct vram_setup *setup, struct vram_run *out)
{
    struct vram_loop *l = NULL;
    VRAM_TRY(begin(cx, tree, setup, out, &l));
    return guarded(l, NULL, run_states);
}
