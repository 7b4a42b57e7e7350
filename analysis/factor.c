/* SPDX-License-Identifier: Apache-2.0
 *
 * Attribution; see factor.h.  Reads events; knows no allocator.
 */
#include "factor.h"

#include <string.h>

#include "base/math.h"

struct factor {
    struct vram_cx *cx;
    const struct vram_tree *tree;
    const struct vram_run *run;
    struct vram_factors *out;
    uint32_t *index; /* by component sym: 1 + number */
    uint32_t nindex;
};

/* Marks every component of the tree in f->index; returns how many there are. */
static uint32_t mark_components(struct factor *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->tree->nscopes; i++) {
        uint32_t *mark = &f->index[f->tree->scopes[i].component];
        n += !*mark;
        *mark = UINT32_MAX;
    }
    return n;
}

static void add_component(struct factor *f, vram_sym name)
{
    if (name >= f->nindex || f->index[name] != UINT32_MAX)
        return;
    f->out->components[f->out->ncomponents].name = name;
    f->index[name] = ++f->out->ncomponents;
}

/* In the order of the data: what is seen and heard, what decodes, its head; then what else the tree
 * has, the top module's own code, the loss. */
static int list_components(struct factor *f)
{
    static const char *const order[] = {"vision", "audio", "projector", "encoder", "decoder",
                                        "lm_head", "head"};
    const struct vram_tree *t = f->tree;
    struct vram_syms *syms = f->cx->syms;
    vram_sym loss = vram_sym_of(syms, "loss"), fusion = vram_sym_of(syms, "fusion"), most;
    if (loss == VRAM_SYM_NONE || fusion == VRAM_SYM_NONE)
        return vram_fail_memory(f->cx);
    most = loss > fusion ? loss : fusion;
    for (uint32_t i = 0; i < t->nscopes; i++)
        most = t->scopes[i].component > most ? t->scopes[i].component : most;
    f->nindex = most + 1;
    f->index = vram_arena_array(f->cx->arena, f->nindex, sizeof *f->index);
    if (!f->index)
        return vram_fail_memory(f->cx);
    uint32_t n = mark_components(f) + 1;
    f->out->components = vram_arena_array(f->cx->arena, n, sizeof *f->out->components);
    if (!f->out->components)
        return vram_fail_memory(f->cx);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        add_component(f, vram_sym_find(syms, order[i], strlen(order[i])));
    for (uint32_t i = 0; i < t->nscopes; i++)
        if (t->scopes[i].component != fusion)
            add_component(f, t->scopes[i].component);
    add_component(f, fusion);
    f->index[loss] = UINT32_MAX;
    add_component(f, loss);
    return VRAM_OK;
}

static struct vram_factor_component *component(struct factor *f, vram_sym name)
{
    return &f->out->components[f->index[name] - 1];
}

static void count_parameters(struct factor *f)
{
    for (uint32_t i = 0; i < f->tree->nparams; i++) {
        const struct vram_param *p = &f->tree->params[i];
        if (p->buffer || p->tied_to != VRAM_NO_INDEX)
            continue;
        struct vram_factor_component *c = component(f, f->tree->scopes[p->scope].component);
        uint64_t elements = vram_param_whole(p);
        c->parameter_count += elements;
        c->named_only += p->named_only ? elements : 0;
        if (f->run->requires_grad && f->run->requires_grad[i])
            c->trainable_count += elements;
    }
}

/* Whose bytes they are: of a parameter its module's; what the tape holds is of the module that saved
 * it first (as the training oracle says it), of the loss where no module did. */
static struct vram_factor_component *owner(struct factor *f, const struct vram_storage_row *s,
                                           uint8_t category)
{
    bool of_param = s->param != VRAM_NO_PARAM && category != VRAM_CAT_SAVED;
    uint32_t scope = of_param                    ? f->tree->params[s->param].scope
                     : category == VRAM_CAT_SAVED ? s->saver
                                                  : s->scope;
    if (!of_param && scope == 0 && (s->flags & VRAM_STORAGE_LOSS))
        return component(f, vram_sym_of(f->cx->syms, "loss"));
    return component(f, f->tree->scopes[scope].component);
}

static void replay(const struct vram_events *e, size_t from, size_t to, uint8_t *category)
{
    to = to < e->n ? to : e->n; /* a model without a run has no events */
    for (size_t i = from; i < to; i++) {
        const struct vram_event *v = &e->at[i];
        if (v->kind == VRAM_EVENT_ALLOC || v->kind == VRAM_EVENT_CATEGORY)
            category[v->storage] = (uint8_t)(1 + v->category);
        else if (v->kind == VRAM_EVENT_FREE)
            category[v->storage] = 0;
    }
}

/* Bytes of a storage that several components share, by their parts. */
static void add_shared(struct factor *f, const struct vram_storage_row *s, uint8_t category)
{
    const struct vram_share *share = &f->run->events->shares[s->share - 1];
    for (uint32_t i = 0; i < share->n; i++) {
        struct vram_factor_component *c = component(f, share->parts[i].component);
        uint64_t *at = category == VRAM_CAT_PARAMETER  ? &c->parameters
                       : category == VRAM_CAT_GRADIENT ? &c->gradients
                                                       : &c->optimizer;
        *at += share->parts[i].bytes;
    }
}

static void add_live(struct factor *f, uint32_t id, uint8_t category)
{
    const struct vram_storage_row *s = &f->run->events->storages[id];
    struct vram_factors *out = f->out;
    uint64_t bytes = s->bytes;
    switch (category) {
    case VRAM_CAT_PARAMETER:
    case VRAM_CAT_GRADIENT:
    case VRAM_CAT_OPTIMIZER:
        *(category == VRAM_CAT_PARAMETER  ? &out->parameters
          : category == VRAM_CAT_GRADIENT ? &out->gradients
                                          : &out->optimizer) += bytes;
        if (s->share) {
            add_shared(f, s, category);
        } else {
            struct vram_factor_component *c = owner(f, s, category);
            *(category == VRAM_CAT_PARAMETER  ? &c->parameters
              : category == VRAM_CAT_GRADIENT ? &c->gradients
                                              : &c->optimizer) += bytes;
        }
        break;
    case VRAM_CAT_SAVED:
        out->activations += bytes;
        owner(f, s, category)->activations += bytes;
        break;
    case VRAM_CAT_BUFFER:
        out->buffers += bytes;
        break;
    case VRAM_CAT_INPUT:
        out->inputs += bytes;
        break;
    case VRAM_CAT_WORKSPACE:
        out->workspace += bytes;
        break;
    default:
        out->temporaries += bytes;
    }
}

static void add_saved(struct factor *f, const uint8_t *category)
{
    const struct vram_events *e = f->run->events;
    for (uint32_t i = 0; i < e->nstorages; i++)
        if (category[i] == 1 + VRAM_CAT_SAVED) {
            f->out->saved += e->storages[i].bytes;
            f->out->saved_512 += vram_round_up(e->storages[i].bytes, 512);
            owner(f, &e->storages[i], VRAM_CAT_SAVED)->saved += e->storages[i].bytes;
        }
}

static int begin(struct factor *f, uint8_t **category)
{
    *f->out = (struct vram_factors){0};
    *category = vram_arena_array(f->cx->arena, f->run->events ? f->run->events->nstorages : 0, 1);
    if (!*category)
        return vram_fail_memory(f->cx);
    VRAM_TRY(list_components(f));
    count_parameters(f);
    return VRAM_OK;
}

/* Components that hold nothing and never did are left out (but for real parts of the model). */
static void drop_empty(struct vram_factors *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->ncomponents; i++) {
        const struct vram_factor_component *c = &out->components[i];
        if (c->parameter_count || c->saved || c->activations || c->optimizer)
            out->components[n++] = *c;
    }
    out->ncomponents = n;
}

int vram_factor(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_run *run,
                uint32_t at, struct vram_factors *out)
{
    struct factor f = {.cx = cx, .tree = tree, .run = run, .out = out};
    const struct vram_events *e = run->events;
    uint8_t *category;
    VRAM_TRY(begin(&f, &category));
    size_t first = run->saved_event < at + 1 ? run->saved_event : (size_t)at + 1;
    size_t second = run->saved_event < at + 1 ? (size_t)at + 1 : run->saved_event;
    for (int pass = 0; pass < 2; pass++) {
        size_t to = pass == 0 ? first : second;
        replay(e, pass == 0 ? 0 : first, to, category);
        if (to == run->saved_event && run->saved_event && (pass == 0 || first != second))
            add_saved(&f, category);
        if (to == (size_t)at + 1 && (pass == 0 || first != second))
            for (uint32_t i = 0; i < e->nstorages; i++)
                if (category[i])
                    add_live(&f, i, (uint8_t)(category[i] - 1));
    }
    drop_empty(out);
    return VRAM_OK;
}

int vram_factor_sum(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_run *run,
                    const struct vram_setup *setup, struct vram_factors *out)
{
    struct factor f = {.cx = cx, .tree = tree, .run = run, .out = out};
    const struct vram_events *e = run->events;
    uint8_t *category;
    VRAM_TRY(begin(&f, &category));
    replay(e, 0, run->saved_event, category);
    add_saved(&f, category);
    for (uint32_t i = 0; i < e->nstorages; i++) {
        const struct vram_storage_row *s = &e->storages[i];
        if (category[i] == 1 + VRAM_CAT_PARAMETER)
            add_live(&f, i, VRAM_CAT_PARAMETER);
        if (category[i] != 1 + VRAM_CAT_SAVED)
            continue;
        bool loss = s->flags & VRAM_STORAGE_LOSS;
        vram_sym name = owner(&f, s, VRAM_CAT_SAVED)->name;
        if (loss || vram_setup_mode(setup, name) != VRAM_TRAIN_FROZEN)
            add_live(&f, i, VRAM_CAT_SAVED);
    }
    /* gradients and states are at their fullest when the last step of the optimizer is over */
    replay(e, run->saved_event, run->step_event, category);
    for (uint32_t i = 0; i < e->nstorages; i++)
        if (category[i] == 1 + VRAM_CAT_GRADIENT || category[i] == 1 + VRAM_CAT_OPTIMIZER)
            add_live(&f, i, (uint8_t)(category[i] - 1));
    drop_empty(out);
    return VRAM_OK;
}
