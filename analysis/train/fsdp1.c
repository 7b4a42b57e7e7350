/* SPDX-License-Identifier: Apache-2.0
 *
 * FullyShardedDataParallel of torch 2.9 (distributed/fsdp/_flat_param.py, _runtime_utils.py) as
 * accelerate 1.15 wraps a model: the layers and the rest are one flat parameter each, cut evenly.
 * Parameters are looks into the whole flat one, so its gradient is made at once, when those of all
 * its parameters are there.
 *
 * Followed is the rank with the most elements that are no padding.
 */
#include "train/fsdp1.h"

static struct vram_fsdp1 *state_of(struct vram_machine *m)
{
    return ((struct vram_strategy *)m->strategy)->own;
}

static struct vram_flat *handle_of(struct vram_machine *m, uint32_t scope)
{
    struct vram_fsdp1 *f = state_of(m);
    return &f->handles[f->units.of_scope[scope] - 1];
}

struct vram_handle **vram_flat_params(struct vram_machine *m, const struct vram_flat *h)
{
    struct vram_handle **params = vram_machine_alloc(m, h->unit->n, sizeof(struct vram_handle *));
    for (uint32_t i = 0; i < h->unit->n; i++)
        params[i] = m->params[h->unit->params[i]];
    return params;
}

struct vram_handle *vram_flat_shared(struct vram_machine *m, const struct vram_flat *h,
                                     uint64_t elements, enum vram_dtype dtype,
                                     enum vram_category category)
{
    return vram_shared_new(m, elements, dtype, category, vram_flat_params(m, h), h->unit->n);
}

/* ---- views -------------------------------------------------------------------------------- */

/* split_with_sizes_backward: zeros where no gradient came (padding, too), then all of it in one. */
static void split_backward(struct vram_machine *m, struct vram_tape_node *n,
                           struct vram_handle **grads, struct vram_handle **saved,
                           struct vram_handle **out)
{
    struct vram_flat *h = &state_of(m)->handles[n->arg[0]];
    struct vram_handle **zeros = vram_machine_alloc(m, 2 * (size_t)h->unit->n + 1, sizeof *zeros);
    enum vram_dtype dtype = (enum vram_dtype)h->flat->dtype;
    uint32_t made = 0;
    (void)saved;
    for (uint32_t i = 0; i <= h->unit->n; i++) {
        if (h->padding[i])
            zeros[made++] = vram_flat_new(m, h->padding[i], dtype);
        if (i < h->unit->n && !grads[i])
            zeros[made++] =
                vram_flat_new(m, (uint64_t)vram_numel(m->params[h->unit->params[i]]), dtype);
    }
    out[0] = vram_flat_new(m, h->elements, dtype);
    while (made)
        vram_drop(m, zeros[--made]);
}

static void piece_backward(struct vram_machine *m, struct vram_tape_node *n,
                           struct vram_handle **grads, struct vram_handle **saved,
                           struct vram_handle **out)
{
    (void)saved;
    out[0] = vram_reshape_gradient(m, grads[0], n->meta[0].shape, n->meta[0].rank);
}

/* _use_unsharded_views: the parameters of this forward look into the whole flat one.  A unit that
 * is gathered ahead does so before the nodes of the unit in front of it are made: its gradient
 * comes behind theirs. */
static void look_into(struct vram_machine *m, struct vram_flat *h)
{
    uint32_t n = h->unit->n;
    struct vram_handle **parts = vram_machine_alloc(m, n, sizeof(struct vram_handle *));
    struct vram_tape_node *split, *view;
    uint16_t op = m->op;
    bool grad = m->grad;
    m->op = VRAM_OP_BACKWARD;
    m->grad = h->trains;
    vram_begin(m, &split,
               &(struct vram_begin){.inputs = &h->flat, .ninputs = 1, .backward = split_backward});
    if (split)
        split->arg[0] = h - state_of(m)->handles;
    for (uint32_t i = 0; i < n; i++) {
        int64_t shape[1] = {vram_numel(m->params[h->unit->params[i]])}, stride[1] = {1};
        parts[i] = vram_alias(m, h->flat, shape, stride, 1, false);
    }
    vram_end(m, split, parts, (int)n, NULL, 0);
    for (uint32_t i = 0; i < n; i++) {
        struct vram_handle *x = m->params[h->unit->params[i]];
        vram_storage_move(m, x, h->flat);
        if (x->node)
            vram_node_drop(m, x->node);
        x->node = NULL;
        x->leaf = false;
        x->requires_grad = false;
        vram_begin(
            m, &view,
            &(struct vram_begin){.inputs = &parts[i], .ninputs = 1, .backward = piece_backward});
        vram_end(m, view, &x, 1, NULL, 0);
        vram_drop(m, parts[i]);
    }
    m->op = op;
    m->grad = grad;
}

/* ---- gather ------------------------------------------------------------------------------- */

static bool lowers(const struct vram_flat *h) { return h->own->dtype != h->flat->dtype; }

/* _unshard: the shard is lowered, all ranks' shards are gathered, the lowered one goes. */
static void unshard(struct vram_machine *m, struct vram_flat *h)
{
    uint64_t bytes = 0;
    if (h->whole)
        return;
    h->whole = true;
    m->scope = h->unit->scopes[0];
    m->stream = VRAM_STREAM_GATHER;
    struct vram_handle *low = NULL;
    if (lowers(h))
        low = vram_flat_new(m, h->shard, (enum vram_dtype)h->flat->dtype);
    vram_dtype_bytes((enum vram_dtype)h->flat->dtype, h->shard * state_of(m)->ranks, &bytes);
    vram_storage_return(m, h->flat->storage, bytes);
    vram_drop(m, low);
    m->stream = 0;
}

static void reshard(struct vram_machine *m, struct vram_flat *h)
{
    if (h->whole)
        vram_storage_leave(m, h->flat->storage);
    h->whole = false;
    h->prefetched = false;
}

/* init_flat_param_attributes: what is resized later is made once, and given up. */
static void prepare(struct vram_machine *m, struct vram_flat *h)
{
    struct vram_fsdp1 *f = state_of(m);
    uint64_t whole = h->shard * f->ranks;
    m->scope = h->unit->scopes[0];
    if (lowers(h))
        vram_drop(m, vram_flat_new(m, h->shard, (enum vram_dtype)h->flat->dtype));
    struct vram_handle *bytes =
        vram_flat_shared(m, h, whole, (enum vram_dtype)h->flat->dtype, VRAM_CAT_PARAMETER);
    vram_storage_move(m, h->flat, bytes);
    vram_drop(m, bytes);
    vram_storage_leave(m, h->flat->storage);
    if (lowers(h))
        vram_drop(m, vram_flat_new(m, whole, (enum vram_dtype)h->own->dtype));
}

/* ---- hooks -------------------------------------------------------------------------------- */

static bool wants(struct vram_machine *m, uint32_t scope)
{
    return state_of(m)->units.of_scope[scope] != 0;
}

static void fetch_ahead(struct vram_machine *m, uint32_t which, bool forward)
{
    struct vram_flat *h = &state_of(m)->handles[which];
    if (h->prefetched || !(forward ? h->needed : h->before_backward))
        return;
    unshard(m, h);
    if (forward)
        look_into(m, h);
    h->prefetched = true;
}

static bool prefetches(struct vram_machine *m, const char *when)
{
    const struct vram_strategy *s = m->strategy;
    return vram_plan_is(s->setup->plan, VRAM_KEY_FSDP_PREFETCH, when);
}

static void prefetch_backward(struct vram_machine *m, const struct vram_flat *h)
{
    if (h->place > 0)
        fetch_ahead(m, state_of(m)->forwards.at[h->place - 1], false);
}

static void prefetch_forward(struct vram_machine *m, const struct vram_flat *h)
{
    struct vram_fsdp1 *f = state_of(m);
    const struct vram_strategy *s = m->strategy;
    for (size_t i = 0; f->ready && i + 1 < f->first.n; i++)
        if (f->first.at[i] == (uint32_t)(h - f->handles) &&
            vram_plan_on(s->setup->plan, VRAM_KEY_FSDP_FORWARD_PREFETCH, false))
            fetch_ahead(m, f->first.at[i + 1], true);
}

/* _root_pre_forward: the first one makes what is used from now on; sharded gradients of the step
 * before are let go here. */
static void begin_iteration(struct vram_machine *m)
{
    struct vram_fsdp1 *f = state_of(m);
    bool first = !f->started;
    f->ready = f->started;
    f->started = true;
    for (size_t i = 0; i < f->units.list.n; i++) {
        struct vram_flat *h = &f->handles[i];
        h->needed = true;
        h->prefetched = false;
        if (((struct vram_strategy *)m->strategy)->micro == 0)
            vram_let_go(m, &h->grad);
    }
    for (size_t i = 0; first && i < f->units.list.n; i++)
        if (f->handles[i].unit->n)
            prepare(m, &f->handles[i]);
}

static bool before_forward(struct vram_machine *m, uint32_t scope)
{
    struct vram_fsdp1 *f = state_of(m);
    struct vram_flat *h = handle_of(m, scope);
    uint32_t at = m->scope;
    uint16_t op = m->op;
    if (h->phase == BACKWARD_PRE)
        return false;
    m->op = VRAM_OP_STRATEGY;
    if (scope == 0)
        begin_iteration(m);
    if (!h->unit->n) { /* all of it is in other units */
        m->op = op;
        return scope == 0;
    }
    h->phase = FORWARD;
    if (!f->ready && !vram_vec_push(&f->first, m->cx->arena, (uint32_t)(h - f->handles)))
        vram_throw_memory(m);
    if (!h->prefetched) {
        unshard(m, h);
        look_into(m, h);
    }
    h->needed = false;
    prefetch_forward(m, h);
    m->scope = at;
    m->op = op;
    return true;
}

static bool after_forward(struct vram_machine *m, uint32_t scope)
{
    struct vram_fsdp1 *f = state_of(m);
    struct vram_flat *h = handle_of(m, scope);
    if (h->phase == BACKWARD_PRE || !h->unit->n)
        return false;
    if (h->place < 0)
        h->place = (int64_t)f->forwards.n;
    if (!vram_vec_push(&f->forwards, m->cx->arena, (uint32_t)(h - f->handles)))
        vram_throw_memory(m);
    if (scope != 0 && h->unit->reshard)
        reshard(m, h);
    h->prefetched = false;
    h->before_backward = true; /* an output asks for a gradient, or nobody comes back */
    h->phase = IDLE;
    return true;
}

static void before_backward(struct vram_machine *m, uint32_t scope)
{
    struct vram_flat *h = handle_of(m, scope);
    uint32_t at = m->scope;
    uint16_t op = m->op;
    if (h->phase == BACKWARD_PRE || h->phase == BACKWARD_POST)
        return;
    m->op = VRAM_OP_STRATEGY;
    h->phase = BACKWARD_PRE;
    if (!h->prefetched)
        unshard(m, h);
    h->before_backward = false;
    if (prefetches(m, "pre"))
        prefetch_backward(m, h);
    m->scope = at;
    m->op = op;
}

static void let_go(struct vram_machine *m, struct vram_flat *h)
{
    uint32_t at = m->scope;
    uint16_t op = m->op;
    m->op = VRAM_OP_STRATEGY;
    h->phase = BACKWARD_POST;
    reshard(m, h);
    if (prefetches(m, "post"))
        prefetch_backward(m, h);
    m->scope = at;
    m->op = op;
}

/* A unit that does not train is let go as its inputs have their gradients. */
static void after_backward(struct vram_machine *m, uint32_t scope)
{
    struct vram_flat *h = handle_of(m, scope);
    if (!h->trains && h->unit->n)
        let_go(m, h);
}

const struct vram_module_hooks vram_fsdp1_hooks = {.before_forward = before_forward,
                                                   .after_forward = after_forward,
                                                   .before_backward = before_backward,
                                                   .after_backward = after_backward,
                                                   .wants = wants,
                                                   .keywords = true,
                                                   .behind = true,
                                                   .casts_top = true};

/* ---- gradients ---------------------------------------------------------------------------- */

static void give_gradient(struct vram_machine *m, struct vram_handle *grad, struct vram_handle *own)
{
    vram_let_go(m, &own->grad);
    own->grad = vram_alias(m, grad, own->shape, own->stride, own->rank, false);
}

/* _use_sharded_grad_views */
static void give_gradients(struct vram_machine *m, struct vram_flat *h)
{
    struct vram_fsdp1 *f = state_of(m);
    for (uint32_t k = 0; f->pieces && k < h->unit->n; k++)
        if (f->piece[h->unit->params[k]].own)
            give_gradient(m, h->grad, f->piece[h->unit->params[k]].own);
    if (!f->pieces)
        give_gradient(m, h->grad, h->own);
}

/* Is the piece all of a vector, in the dtype of the gradient? */
static bool fits(const struct vram_handle *whole, const struct vram_handle *own)
{
    return whole->rank == 1 && vram_numel(whole) == vram_numel(own) && whole->dtype == own->dtype;
}

/* _use_unsharded_grad_views, where gradients wait for a later micro-batch: .grad is made like the
 * piece that the rank holds, then its data is replaced. */
static void show_gradients(struct vram_machine *m, struct vram_flat *h)
{
    struct vram_fsdp1 *f = state_of(m);
    for (uint32_t k = 0; f->pieces && k < h->unit->n; k++) {
        struct vram_handle *own = f->piece[h->unit->params[k]].own;
        if (!own || own->grad)
            continue;
        m->scope = m->tree->params[h->unit->params[k]].scope;
        if (!fits(m->params[h->unit->params[k]], own))
            vram_drop(m, vram_new_like(m, own, (enum vram_dtype)own->dtype));
        give_gradient(m, h->flat->grad, own);
    }
}

/* _reduce_grad: cast for the way, padded to even shards, reduced, raised. */
static void reduce(struct vram_machine *m, struct vram_flat *h)
{
    struct vram_fsdp1 *f = state_of(m);
    struct vram_handle *computed = h->flat->grad, *sent = NULL, *padded = NULL;
    enum vram_dtype dtype = f->sent ? f->sent : (enum vram_dtype)computed->dtype;
    enum vram_dtype own = (enum vram_dtype)h->own->dtype;
    h->flat->grad = NULL;
    m->scope = h->unit->scopes[0];
    m->stream = VRAM_STREAM_REDUCE;
    if (computed->dtype != dtype)
        sent = vram_flat_new(m, h->elements, dtype);
    if (h->elements < h->shard * f->ranks)
        padded = vram_flat_new(m, h->shard * f->ranks, dtype);
    struct vram_handle *part = vram_flat_shared(m, h, h->shard, dtype, VRAM_CAT_GRADIENT);
    if (dtype != own) {
        struct vram_handle *raised = vram_flat_shared(m, h, h->shard, own, VRAM_CAT_GRADIENT);
        vram_drop(m, part);
        part = raised;
    }
    m->stream = 0;
    vram_drop(m, h->grad);
    h->grad = part;
    give_gradients(m, h);
    vram_drop(m, padded);
    vram_drop(m, sent);
    vram_drop(m, computed);
}

/* _post_backward_hook, at the flat parameter's AccumulateGrad */
void vram_fsdp1_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g)
{
    struct vram_strategy *s = m->strategy;
    struct vram_fsdp1 *f = s->own;
    struct vram_flat *h = NULL;
    uint32_t scope = m->scope;
    uint16_t op = m->op;
    (void)g;
    for (size_t i = 0; i < f->units.list.n; i++)
        if (f->handles[i].flat == leaf)
            h = &f->handles[i];
    if (!h)
        return;
    vram_set_category(m, leaf->grad, VRAM_CAT_GRADIENT);
    struct vram_storage_row *row = &m->events->storages[leaf->grad->storage->id];
    row->share =
        row->share ? row->share : vram_share_new(m, vram_flat_params(m, h), h->unit->n, row->bytes);
    let_go(m, h);
    m->op = VRAM_OP_STRATEGY;
    if (s->micro + 1 == (uint64_t)s->setup->accumulation)
        reduce(m, h);
    else
        show_gradients(m, h);
    m->scope = scope;
    m->op = op;
}

/* _post_backward_final_callback */
void vram_fsdp1_backward_end(struct vram_strategy *s)
{
    struct vram_fsdp1 *f = s->own;
    for (size_t i = 0; i < f->units.list.n; i++) {
        struct vram_flat *h = &f->handles[i];
        reshard(s->m, h);
        h->phase = IDLE;
        h->place = -1;
        h->before_backward = false;
    }
    f->forwards.n = 0;
}

/* Without a forward no piece is on the tape: what was given to the parameters is joined. */
void vram_fsdp1_reduce_all(struct vram_strategy *s)
{
    struct vram_fsdp1 *f = s->own;
    s->micro = (uint32_t)s->setup->accumulation - 1;
    for (size_t i = 0; i < f->units.list.n; i++) {
        struct vram_flat *h = &f->handles[i];
        if (!h->trains)
            continue;
        h->flat->grad = vram_flat_new(s->m, h->elements, (enum vram_dtype)h->flat->dtype);
        for (uint32_t k = 0; k < h->unit->n; k++)
            vram_let_go(s->m, &s->m->params[h->unit->params[k]]->grad);
        vram_fsdp1_accumulated(s->m, h->flat, h->flat->grad);
    }
}

/* Parameters give theirs up; the flat ones keep them until the next forward begins. */
void vram_fsdp1_zero_grad(struct vram_strategy *s)
{
    struct vram_fsdp1 *f = s->own;
    for (uint32_t p = 0; p < s->m->tree->nparams; p++)
        if (f->piece[p].own)
            vram_let_go(s->m, &f->piece[p].own->grad);
    for (size_t i = 0; i < f->units.list.n; i++) {
        if (f->handles[i].own)
            vram_let_go(s->m, &f->handles[i].own->grad);
        if (!f->pieces)
            vram_let_go(s->m, &f->handles[i].grad);
    }
}
