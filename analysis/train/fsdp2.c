/* SPDX-License-Identifier: Apache-2.0
 *
 * FSDP2: fully_shard of torch 2.9 (distributed/fsdp/_fully_shard) as accelerate 1.15 applies it
 * (utils/fsdp_utils.py fsdp2_prepare_model).  Every parameter is cut along its first dimension; a
 * unit's parameters are gathered through one flat tensor and copied out, gradients are reduced
 * through another.
 *
 * The first rank is followed: its shards are the largest.
 */
#include "train/fsdp2.h"

static struct vram_fsdp2 *state_of(struct vram_machine *m)
{
    return ((struct vram_strategy *)m->strategy)->own;
}

static struct vram_group *group_of(struct vram_machine *m, uint32_t scope)
{
    struct vram_fsdp2 *f = state_of(m);
    return &f->groups[f->units.of_scope[scope] - 1];
}

static uint64_t bytes_of(enum vram_dtype dtype, uint64_t elements)
{
    uint64_t bytes = 0;
    vram_dtype_bytes(dtype, elements, &bytes);
    return bytes;
}

/* ---- gather ------------------------------------------------------------------------------- */

/* foreach_all_gather: shards are cast into one tensor where they travel in another dtype, then lie
 * in the flat output of all ranks.  A single rank has nothing to gather. */
static void unshard(struct vram_machine *m, struct vram_group *g)
{
    struct vram_fsdp2 *f = state_of(m);
    uint64_t cast = 0, bytes = 0;
    if (g->pending || g->whole)
        return;
    g->pending = true;
    for (uint32_t i = 0; i < g->unit->n; i++) {
        uint32_t p = g->unit->params[i];
        enum vram_dtype to = (enum vram_dtype)m->params[p]->dtype;
        cast += f->part[p].shard->dtype != to ? bytes_of(to, f->part[p].padded) : 0;
        bytes += bytes_of(to, f->part[p].padded) * f->ranks;
    }
    if (f->ranks == 1)
        return;
    m->scope = g->unit->scopes[0];
    m->stream = VRAM_STREAM_GATHER;
    struct vram_handle *lower = cast ? vram_flat_new(m, cast, VRAM_DT_U8) : NULL;
    g->gathered = vram_flat_new(m, bytes, VRAM_DT_U8);
    vram_drop(m, lower);
    m->stream = 0;
}

static void copy_out(struct vram_machine *m, uint32_t p, uint64_t elements)
{
    struct vram_handle *x = m->params[p];
    m->scope = m->tree->params[p].scope;
    if (x->storage) {
        vram_storage_return(m, x->storage, bytes_of((enum vram_dtype)x->dtype, elements));
        return;
    }
    struct vram_handle *whole = vram_flat_new(m, elements, (enum vram_dtype)x->dtype);
    vram_set_category(m, whole, VRAM_CAT_PARAMETER);
    if (whole->storage)
        m->events->storages[whole->storage->id].param = p;
    vram_storage_move(m, x, whole);
    vram_drop(m, whole);
}

/* wait_for_unshard: in forward the output is kept until the next unit has been copied out (a name
 * of the function holds it that long), so that the two can overlap.  A single rank casts its shards
 * one by one. */
static void wait(struct vram_machine *m, struct vram_group *g, enum vram_fsdp2_phase phase)
{
    struct vram_fsdp2 *f = state_of(m);
    struct vram_handle *cast = NULL, *before = NULL;
    if (!g->pending)
        return;
    if (phase == FORWARD) {
        before = f->previous;
        f->previous = NULL;
    }
    for (uint32_t i = 0; i < g->unit->n; i++) {
        uint32_t p = g->unit->params[i];
        struct vram_part *part = &f->part[p];
        if (f->ranks == 1 && part->shard->dtype != m->params[p]->dtype) {
            struct vram_handle *next =
                vram_flat_new(m, part->padded, (enum vram_dtype)m->params[p]->dtype);
            vram_drop(m, cast);
            cast = next;
        }
        copy_out(m, p, part->padded * f->ranks);
    }
    vram_drop(m, cast);
    if (phase == FORWARD)
        f->previous = g->gathered;
    else
        vram_drop(m, g->gathered);
    vram_drop(m, before);
    g->gathered = NULL;
    g->pending = false;
    g->whole = true;
}

static void reshard(struct vram_machine *m, struct vram_group *g)
{
    for (uint32_t i = 0; g->whole && i < g->unit->n; i++)
        if (m->params[g->unit->params[i]]->storage)
            vram_storage_leave(m, m->params[g->unit->params[i]]->storage);
    g->whole = false;
}

/* ---- gradients ---------------------------------------------------------------------------- */

static bool synchronises(const struct vram_strategy *s)
{
    return s->micro + 1 == (uint64_t)s->setup->accumulation;
}

/* accumulate_unsharded_grad_if_needed, to_accumulated_grad_if_needed */
static void sum_up(struct vram_machine *m, struct vram_group *g, bool last)
{
    struct vram_fsdp2 *f = state_of(m);
    for (uint32_t i = 0; f->sent && i < g->unit->n; i++) {
        uint32_t p = g->unit->params[i];
        struct vram_handle *x = m->params[p];
        if (!x->grad || x->grad->dtype == f->sent)
            continue;
        m->scope = m->tree->params[p].scope;
        if (!f->part[p].summed && !last) {
            f->part[p].summed = vram_new(m, x->shape, x->rank, f->sent, NULL);
            vram_set_category(m, f->part[p].summed, VRAM_CAT_GRADIENT);
        }
        if (f->part[p].summed)
            vram_let_go(m, &x->grad);
    }
}

/* What foreach_reduce gave: into the shards' gradients. */
static void view_out(struct vram_machine *m, struct vram_handle *const *with, uint32_t n,
                     struct vram_handle *out)
{
    struct vram_fsdp2 *f = state_of(m);
    for (uint32_t i = 0; i < n; i++) {
        struct vram_handle *shard = f->part[with[i]->param].shard;
        if (!shard->grad)
            shard->grad = vram_alias(m, out, shard->shape, shard->stride, shard->rank, false);
    }
}

static void reduce(struct vram_machine *m, struct vram_group *g, struct vram_handle **with,
                   uint32_t n)
{
    struct vram_fsdp2 *f = state_of(m);
    uint64_t elements = 0;
    enum vram_dtype dtype = f->sent ? f->sent : (enum vram_dtype)with[0]->dtype;
    enum vram_dtype own = (enum vram_dtype)f->part[with[0]->param].shard->dtype;
    vram_let_go(m, &f->reduced);
    vram_let_go(m, &g->all_reduced);
    for (uint32_t i = 0; i < n; i++)
        elements += f->part[with[i]->param].padded;
    m->scope = g->unit->scopes[0];
    /* the name of a loop holds the last gradient until the function returns */
    struct vram_handle *last = with[n - 1], *named = f->part[last->param].summed;
    named = vram_hold(named ? named : last->grad);
    f->reduced = vram_flat_new(m, elements * f->ranks, dtype);
    for (uint32_t i = 0; i < n; i++) {
        vram_let_go(m, &with[i]->grad);
        vram_let_go(m, &f->part[with[i]->param].summed);
    }
    m->stream = VRAM_STREAM_REDUCE;
    struct vram_handle *out = vram_shared_new(m, elements, dtype, VRAM_CAT_GRADIENT, with, n);
    if (f->replicated)
        g->all_reduced = vram_hold(out);
    if (dtype != own) {
        struct vram_handle *raised = vram_shared_new(m, elements, own, VRAM_CAT_GRADIENT, with, n);
        vram_drop(m, out);
        out = raised;
    }
    m->stream = 0;
    view_out(m, with, n, out);
    vram_drop(m, out);
    vram_drop(m, named);
}

static void post_backward(struct vram_machine *m, struct vram_group *g)
{
    struct vram_fsdp2 *f = state_of(m);
    struct vram_handle **with;
    uint32_t n = 0, scope = m->scope;
    uint16_t op = m->op;
    m->op = VRAM_OP_STRATEGY;
    bool last = synchronises(m->strategy);
    g->phase = POST_BACKWARD;
    if (!last)
        reshard(m, g);
    sum_up(m, g, last);
    with = vram_machine_alloc(m, g->unit->n ? g->unit->n : 1, sizeof(struct vram_handle *));
    for (uint32_t i = 0; last && i < g->unit->n; i++) {
        uint32_t p = g->unit->params[i];
        if (m->params[p]->grad || f->part[p].summed)
            with[n++] = m->params[p];
    }
    if (last)
        reshard(m, g);
    if (n)
        reduce(m, g, with, n);
    m->scope = scope;
    m->op = op;
}

/* _root_post_backward_final_callback */
void vram_fsdp2_backward_end(struct vram_strategy *s)
{
    struct vram_fsdp2 *f = s->own;
    for (size_t i = 0; i < f->units.list.n; i++) {
        struct vram_group *g = &f->groups[f->order[i]];
        if (g->phase != POST_BACKWARD)
            post_backward(s->m, g);
        g->phase = IDLE;
        g->in_backward = false;
        g->running = 0;
        g->forwards.n = 0;
        vram_let_go(s->m, &g->all_reduced);
        if (g->pending) /* fetched ahead, and not used */
            vram_let_go(s->m, &g->gathered);
        g->pending = false;
    }
    f->forwards.n = 0;
    vram_let_go(s->m, &f->reduced);
}

/* ---- hooks -------------------------------------------------------------------------------- */

static bool wants(struct vram_machine *m, uint32_t scope)
{
    return state_of(m)->units.of_scope[scope] != 0;
}

/* Of modules in one unit the first one begins it, the last one ends it. */
static uint32_t bit_of(const struct vram_group *g, uint32_t scope)
{
    for (uint32_t i = 0; i < g->unit->nscopes; i++)
        if (g->unit->scopes[i] == scope)
            return 1u << i;
    return 0;
}

/* A recomputation finds the unit whole: backward has gathered it. */
static bool before_forward(struct vram_machine *m, uint32_t scope)
{
    struct vram_group *g = group_of(m, scope);
    uint32_t at = m->scope;
    uint16_t op = m->op;
    if (g->running)
        return false;
    g->running = (1u << g->unit->nscopes) - 1;
    if (g->in_backward)
        return false;
    m->op = VRAM_OP_STRATEGY;
    g->phase = FORWARD;
    unshard(m, g);
    wait(m, g, FORWARD);
    m->scope = at;
    m->op = op;
    return true;
}

static bool after_forward(struct vram_machine *m, uint32_t scope)
{
    struct vram_fsdp2 *f = state_of(m);
    struct vram_group *g = group_of(m, scope);
    g->running &= ~bit_of(g, scope);
    if (g->running || g->in_backward)
        return false;
    if (g->unit->reshard)
        reshard(m, g);
    if (!vram_vec_push(&g->forwards, m->cx->arena, (uint32_t)f->forwards.n) ||
        !vram_vec_push(&f->forwards, m->cx->arena, (uint32_t)(g - f->groups)))
        vram_throw_memory(m);
    g->phase = IDLE;
    if (scope == 0)
        vram_let_go(m, &f->previous);
    return true;
}

/* The unit that ran before this one is gathered ahead. */
static void before_backward(struct vram_machine *m, uint32_t scope)
{
    struct vram_fsdp2 *f = state_of(m);
    struct vram_group *g = group_of(m, scope);
    uint32_t at = m->scope;
    uint16_t op = m->op;
    g->in_backward = true;
    g->running = 0;
    if (g->phase == PRE_BACKWARD)
        return;
    m->op = VRAM_OP_STRATEGY;
    g->phase = PRE_BACKWARD;
    unshard(m, g);
    wait(m, g, PRE_BACKWARD);
    if (g->forwards.n) {
        uint32_t before = g->forwards.at[--g->forwards.n];
        if (before > 0)
            unshard(m, &f->groups[f->forwards.at[before - 1]]);
    }
    m->scope = at;
    m->op = op;
}

static void after_backward(struct vram_machine *m, uint32_t scope)
{
    post_backward(m, group_of(m, scope));
}

const struct vram_module_hooks vram_fsdp2_hooks = {.before_forward = before_forward,
                                                   .after_forward = after_forward,
                                                   .before_backward = before_backward,
                                                   .after_backward = after_backward,
                                                   .wants = wants,
                                                   .keywords = true,
                                                   .casts = true};

void vram_fsdp2_reduce_all(struct vram_strategy *s)
{
    s->micro = (uint32_t)s->setup->accumulation - 1;
    vram_fsdp2_backward_end(s);
}

void vram_fsdp2_zero_grad(struct vram_strategy *s)
{
    struct vram_fsdp2 *f = s->own;
    for (uint32_t p = 0; p < s->m->tree->nparams; p++)
        if (f->part[p].shard)
            vram_let_go(s->m, &f->part[p].shard->grad);
}
