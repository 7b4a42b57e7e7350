/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole run: the machine made ready, parameters and buffers loaded, then the steps, or one
 * forward, or (when no template describes the model) what follows from the parameters alone.
 */
#include <string.h>

#include "base/vec.h"
#include "train/loop.h"

static enum vram_dtype held_dtype(const struct vram_setup *s, const struct vram_param *p)
{
    if (p->fixed)
        return (enum vram_dtype)p->fixed;
    return p->buffer && !p->floating ? (enum vram_dtype)p->dtype : s->dtype;
}

static void load_one(struct vram_loop *l, uint32_t i)
{
    struct vram_machine *m = &l->m;
    const struct vram_param *p = &m->tree->params[i];
    const struct vram_scope *scope = &m->tree->scopes[p->scope];
    m->scope = p->scope;
    struct vram_handle *x = vram_new(m, p->dims, p->rank, held_dtype(l->s, p), NULL);
    x->leaf = true;
    x->param = i;
    vram_set_category(m, x, p->buffer ? VRAM_CAT_BUFFER : VRAM_CAT_PARAMETER);
    if (x->storage)
        m->events->storages[x->storage->id].param = i;
    x->requires_grad = !p->buffer && vram_dtype_is_float((enum vram_dtype)x->dtype) &&
                       (p->adapter || vram_setup_mode(l->s, scope->component) == VRAM_TRAIN_FULL);
    l->run->requires_grad[i] = x->requires_grad;
    l->run->dtype[i] = x->dtype;
    if (x->requires_grad)
        l->run->trainable += p->elements;
    m->params[i] = x;
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

/* Input gradients are switched on with checkpointing when the model's main input is input_ids. */
static bool main_input_is_ids(const struct vram_loop *l)
{
    const struct vram_callable *c = &l->top->forward;
    return c->npositional && !strcmp(vram_sym_text(l->m.cx->syms,
                                                   l->m.program->params.at[c->params].name),
                                     "input_ids");
}

static void prepare(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    const struct vram_setup *s = l->s;
    m->setting = vram_loop_setting;
    m->setting_ctx = l;
    m->card = s->card;
    m->workspaces = true;
    m->attention = s->attention;
    m->sm = s->gpu ? s->gpu->sm : 0;
    m->checkpointing = s->checkpointing;
    m->reentrant = s->reentrant;
    m->checkpointed_component = s->checkpointed;
    m->ncheckpointed = s->ntrain;
    if (m->tree->known) {
        l->top = &m->program->classes.at[m->tree->scopes[0].cls];
        m->input_grads = s->checkpointing && s->mode == VRAM_MODE_TRAIN && main_input_is_ids(l);
    }
    m->params = vram_machine_alloc(m, m->tree->nparams, sizeof(struct vram_handle *));
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
    if (l->s->strategy->step)
        l->s->strategy->step(&l->strategy);
    else
        vram_optimizer_step(&l->optimizer);
}

/* Errors of the machine come out here, by longjmp. */
static int guarded(struct vram_loop *l, void (*what)(struct vram_loop *l))
{
    int code = setjmp(l->m.escape);
    if (code)
        return code;
    prepare(l);
    load(l);
    what(l);
    return VRAM_OK;
}

int vram_run(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup,
             struct vram_run *out)
{
    struct vram_loop *l = NULL;
    VRAM_TRY(begin(cx, tree, setup, out, &l));
    return guarded(l, run);
}

int vram_run_states(struct vram_cx *cx, const struct vram_tree *tree,
                    const struct vram_setup *setup, struct vram_run *out)
{
    struct vram_loop *l = NULL;
    VRAM_TRY(begin(cx, tree, setup, out, &l));
    return guarded(l, run_states);
}
