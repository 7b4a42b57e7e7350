/* SPDX-License-Identifier: Apache-2.0
 *
 * Inference: one forward, and with a cache the tokens behind it, as generate() of transformers 5.24
 * makes them (GenerationMixin._sample): the step's inputs are remade, the last position's logits are
 * raised to fp32 and live until the next ones.
 */
#include <string.h>

#include "train/loop.h"

enum { MOST_STEPS = 16 }; /* decoding steps that are run; the cache grows between them */

struct generation {
    struct vram_loop *l;
    struct vram_box *cache;
    struct vram_handle *ids, *mask, *positions, *types, *logits; /* types: what each token is */
    struct vram_handle *first_positions; /* generate()'s own arguments live as long as it runs */
    struct vram_handle *used_mask;       /* and a step's until the next step's are made */
    struct vram_value encoded;
    int64_t length; /* tokens so far */
};

static struct vram_handle *replace(struct vram_machine *m, struct vram_handle **at, struct vram_handle *new)
{
    struct vram_handle *old = *at;
    *at = new;
    vram_drop(m, old);
    return new;
}

static struct vram_handle *tokens(struct generation *g, int64_t n)
{
    int64_t shape[2] = {g->l->s->micro_batch, n};
    return vram_new(&g->l->m, shape, 2, VRAM_DT_I64, NULL);
}

static bool has_param(const struct vram_loop *l, const struct vram_callable *c, vram_sym name)
{
    for (uint32_t i = 0; i < (uint32_t)c->npositional + c->nkeyword; i++)
        if (l->m.program->params.at[c->params + i].name == name)
            return true;
    return false;
}

/* Does the top module take such a keyword? */
static bool takes(struct vram_loop *l, const char *name)
{
    return has_param(l, &l->top->forward, vram_machine_sym(&l->m, name));
}

/* _update_model_kwargs_for_generation: its names hold the old ones until it returns. */
static void grow_inputs(struct generation *g, int64_t n)
{
    struct vram_machine *m = &g->l->m;
    struct vram_handle *types = g->types, *positions = g->positions, *mask = g->mask;
    g->length = n;
    g->types = types ? tokens(g, n) : NULL;
    g->positions = positions ? tokens(g, n) : NULL;
    g->mask = tokens(g, n);
    vram_drop(m, mask);
    vram_drop(m, positions);
    vram_drop(m, types);
}

/* The next token of each sequence, from the last position's logits. */
static void sample(struct generation *g, struct vram_value out)
{
    struct vram_machine *m = &g->l->m;
    const struct vram_handle *all = vram_loop_field(g->l, out, "logits");
    if (!all || all->rank < 2)
        vram_throw(m, VRAM_E_ARGUMENT, "kv_tokens: this model makes no tokens");
    int64_t shape[2] = {all->shape[0], all->shape[all->rank - 1]};
    grow_inputs(g, g->length + 1);
    replace(m, &g->logits, vram_new(m, shape, 2, VRAM_DT_F32, NULL));
    struct vram_handle *next = vram_new(m, shape, 1, VRAM_DT_I64, NULL);
    replace(m, &g->ids, tokens(g, g->length));
    vram_drop(m, next);
}

/* What `n` positions take when each was joined on: a window keeps a look at all but one of its own. */
static void stretch_one(struct generation *g, struct vram_box *layer, uint32_t i, int64_t n)
{
    struct vram_machine *m = &g->l->m;
    struct vram_handle *x = layer->at[i].u.tensor;
    int64_t window = layer->at[2].kind == VRAM_V_INT ? layer->at[2].u.i : INT64_MAX;
    int64_t held = n < window - 1 ? n : window - 1, shape[VRAM_MAX_RANK];
    if (x->rank < 3 || x->shape[2] >= held)
        return;
    memcpy(shape, x->shape, sizeof shape);
    shape[2] = n < window ? n : window;
    struct vram_value all = vram_tensor_value(vram_new(m, shape, x->rank, (enum vram_dtype)x->dtype, NULL));
    if (held < shape[2]) {
        struct vram_handle *whole = all.u.tensor;
        shape[2] = held;
        all.u.tensor = vram_alias(m, whole, shape, whole->stride, whole->rank, true);
        vram_drop(m, whole);
    }
    vram_box_set(m, layer, i, all);
}

static void stretch(struct generation *g, int64_t n)
{
    for (uint32_t k = 1; k < g->cache->n; k++) {
        struct vram_box *layer = g->cache->at[k].u.box;
        g->l->m.scope = 0;
        for (uint32_t i = 0; i < 2; i++)
            if (layer->at[i].kind == VRAM_V_TENSOR)
                stretch_one(g, layer, i, n);
    }
    grow_inputs(g, n + 1);
    replace(&g->l->m, &g->ids, tokens(g, g->length));
}

static void keyword(struct vram_loop *l, struct vram_call *call, const char *name, struct vram_value v)
{
    if (call->nkw == VRAM_MAX_ARGS)
        vram_throw(&l->m, VRAM_E_LIMIT, "too many inputs");
    call->kw[call->nkw].name = vram_machine_sym(&l->m, name);
    call->kw[call->nkw++].value = v;
}

static void decode_one(struct generation *g)
{
    struct vram_machine *m = &g->l->m;
    struct vram_value cache = {.kind = VRAM_V_BOX};
    struct vram_call call = {.nargs = 0};
    cache.u.box = g->cache;
    keyword(g->l, &call, "input_ids", vram_tensor_value(tokens(g, 1)));
    keyword(g->l, &call, "attention_mask", vram_tensor_value(vram_hold(g->mask)));
    if (g->positions)
        keyword(g->l, &call, "position_ids", vram_tensor_value(tokens(g, 1)));
    replace(m, &g->used_mask, vram_hold(g->mask));
    keyword(g->l, &call, "cache", vram_value_hold(cache));
    keyword(g->l, &call, "use_cache", vram_bool(true));
    struct vram_value out = vram_loop_forward(g->l, &call);
    sample(g, out);
    vram_value_drop(m, out);
}

static struct vram_box *cache_of(struct vram_loop *l, struct vram_value out)
{
    for (uint32_t i = 0; out.kind == VRAM_V_BOX && i < out.u.box->n; i++) {
        struct vram_value v = out.u.box->at[i];
        if (out.u.box->kind == VRAM_BOX_RECORD && v.kind == VRAM_V_BOX &&
            !strcmp(vram_sym_text(l->m.cx->syms, out.u.box->keys[i]), "cache") && v.u.box->n > 1)
            return v.u.box;
    }
    vram_throw(&l->m, VRAM_E_ARGUMENT, "kv_tokens: no template says how this model generates");
}

/* Steps evenly over the tokens to come; the last one is the last token's. */
static void decode(struct generation *g, struct vram_value out, struct vram_value batch)
{
    struct vram_loop *l = g->l;
    struct vram_machine *m = &l->m;
    struct vram_value cache = {.kind = VRAM_V_BOX};
    int64_t more = l->s->kv_tokens - l->s->seq, n = more < MOST_STEPS ? more : MOST_STEPS;
    g->cache = cache.u.box = cache_of(l, out);
    vram_value_hold(cache);
    g->ids = vram_hold(vram_loop_field(l, batch, "input_ids"));
    g->mask = vram_hold(vram_loop_field(l, batch, "attention_mask"));
    if (takes(l, "token_type_ids"))
        g->types = vram_hold(vram_loop_field(l, batch, "token_type_ids"));
    sample(g, out);
    vram_value_drop(m, out);
    if (n)
        vram_phase(m, "decode");
    for (int64_t i = 0; i < n; i++) {
        m->op = VRAM_OP_LOOP;
        int64_t before = l->s->seq + more * (i + 1) / n - 1;
        if (before >= g->length)
            stretch(g, before);
        decode_one(g);
    }
    vram_let_go(m, &g->ids);
    vram_let_go(m, &g->mask);
    vram_let_go(m, &g->positions);
    vram_let_go(m, &g->types);
    vram_let_go(m, &g->first_positions);
    vram_let_go(m, &g->used_mask);
    vram_value_drop(m, g->encoded);
    vram_let_go(m, &g->logits);
    vram_value_drop(m, cache);
    if (n < more && vram_find(m->cx, VRAM_F_STEPS_SAMPLED, "kv_tokens",
                              "%lld of %lld decoding steps are run, evenly over the lengths; the last is one of them",
                              (long long)n, (long long)more))
        vram_throw_memory(m);
}

/* What encode_images() of the top module takes is encoded before the first forward, which is handed the
 * output record instead (_prepare_multimodal_encoder_kwargs_for_generation). */
static void encode(struct generation *g, struct vram_call *call)
{
    struct vram_machine *m = &g->l->m;
    uint32_t i = vram_class_member(m->program, g->l->top, vram_machine_sym(m, "encode_images"));
    struct vram_value method = i == VRAM_NO_INDEX ? (struct vram_value){0} : vram_member_value(m, 0, i);
    struct vram_call own = {.nargs = 0};
    uint32_t kept = 0;
    if (method.kind != VRAM_V_FUNC)
        return;
    const struct vram_callable *c = &m->program->functions.at[method.u.i].callable;
    for (uint32_t k = 0; k < call->nkw; k++) {
        if (has_param(g->l, c, call->kw[k].name))
            own.kw[own.nkw++] = call->kw[k];
        else
            call->kw[kept++] = call->kw[k];
    }
    call->nkw = kept;
    if (own.nkw < c->npositional) { /* no picture is there */
        vram_call_drop(m, &own);
        return;
    }
    vram_call_function(m, (uint32_t)method.u.i, 0, &own, &g->encoded);
    m->op = VRAM_OP_LOOP;
    keyword(g->l, call, "mm_encoder_outputs", vram_value_hold(g->encoded));
}

/* Positions are counted from the mask (generate: _prepare_position_ids_for_generation); the model is
 * handed a copy of the tokens (prepare_inputs_for_generation). */
static void first_inputs(struct generation *g, struct vram_call *call)
{
    struct vram_loop *l = g->l;
    struct vram_machine *m = &l->m;
    if (takes(l, "position_ids")) {
        struct vram_handle *sum = tokens(g, g->length), *less = tokens(g, g->length);
        vram_drop(m, sum);
        struct vram_handle *padding = vram_new(m, less->shape, 2, VRAM_DT_BOOL, NULL);
        g->positions = tokens(g, g->length);
        g->first_positions = vram_hold(g->positions);
        vram_drop(m, padding);
        vram_drop(m, less);
        keyword(l, call, "position_ids", vram_tensor_value(vram_hold(g->positions)));
    }
    encode(g, call);
    for (uint32_t i = 0; i < call->nkw; i++) {
        struct vram_value *v = &call->kw[i].value;
        if (v->kind == VRAM_V_TENSOR && !strcmp(vram_sym_text(m->cx->syms, call->kw[i].name), "input_ids")) {
            vram_drop(m, v->u.tensor);
            v->u.tensor = tokens(g, g->length);
        }
    }
    keyword(l, call, "use_cache", vram_bool(true));
}

void vram_loop_infer(struct vram_loop *l)
{
    struct vram_machine *m = &l->m;
    struct generation g = {.l = l, .length = l->s->seq};
    struct vram_call call;
    if (l->s->kv_tokens && !takes(l, "cache"))
        vram_throw(m, VRAM_E_ARGUMENT, "kv_tokens: no template says how this model generates");
    vram_phase(m, "forward");
    vram_loop_cublas(l, 1, 1);
    struct vram_value b = vram_loop_batch(l);
    vram_loop_call_with(l, b, NULL, &call);
    if (l->s->kv_tokens)
        first_inputs(&g, &call);
    struct vram_value out = vram_loop_forward(l, &call);
    if (l->s->kv_tokens)
        decode(&g, out, b);
    else
        vram_value_drop(m, out);
    if (!l->s->kv_tokens && !l->s->card && !l->s->padded) /* the oracle keeps the mask that it did not hand over */
        vram_hold(vram_loop_field(l, b, "attention_mask"));
    vram_value_drop(m, b);
}
