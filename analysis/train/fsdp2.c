/* SPDX-License-Identifier: Apache-2.0
 *
 * FSDP2: fully_shard of torch 2.9 (distributed/fsdp/_fully_shard) as accelerate 1.15 applies it
 * (utils/fsdp_utils.py fsdp2_prepare_model).  Every parameter is cut along its first dimension; a
 * unit's parameters are gathered through one flat tensor and copied out, gradients are reduced
 * through another.
 *
 * The first rank is followed: its shards are the largest.
 */
#include <string.h>

#include "train/units.h"

enum phase { IDLE, FORWARD, PRE_BACKWARD, POST_BACKWARD };

/* A parameter's part of the rank. */
struct part {
    struct vram_handle *shard;   /* what the optimizer steps on; its own dtype */
    uint64_t padded;             /* elements of a shard */
    struct vram_handle *summed;  /* unsharded gradient in the reduction's dtype, of earlier micro-batches */
};

struct group {
    struct vram_unit *unit;
    enum phase phase;
    bool in_backward;            /* from its first gradient on until backward is over */
    bool whole;
    bool pending;                /* gathered, not copied out */
    struct vram_handle *gathered;
    struct vram_handle *all_reduced; /* hsdp: waits until backward is over */
    uint32_t running;            /* of its modules, one bit each */
    struct { uint32_t *at; size_t n, cap; } forwards; /* its places in the order of forwards */
};

struct fsdp2 {
    struct vram_units units;
    struct group *groups;        /* by unit */
    uint32_t *order;             /* units as the root finds them: by their first module */
    struct part *part;           /* by parameter */
    uint64_t ranks;
    bool replicated;             /* hsdp */
    enum vram_dtype compute, sent; /* param_dtype, reduce_dtype; VRAM_DT_NONE = as it is */
    struct vram_handle *previous;  /* the all-gather before: let go behind the next copy-out */
    struct vram_handle *reduced;   /* the reduction before */
    struct { uint32_t *at; size_t n, cap; } forwards;
};

static struct fsdp2 *state_of(struct vram_machine *m) { return ((struct vram_strategy *)m->strategy)->own; }

static struct group *group_of(struct vram_machine *m, uint32_t scope)
{
    struct fsdp2 *f = state_of(m);
    return &f->groups[f->units.of_scope[scope] - 1];
}

static uint64_t bytes_of(enum vram_dtype dtype, uint64_t elements)
{
    uint64_t bytes = 0;
    vram_dtype_bytes(dtype, elements, &bytes);
    return bytes;
}

static struct vram_handle *flat(struct vram_machine *m, uint64_t elements, enum vram_dtype dtype)
{
    int64_t shape[1] = {(int64_t)elements};
    return vram_new(m, shape, 1, dtype, NULL);
}

/* ---- gather ------------------------------------------------------------------------------- */

/* foreach_all_gather: shards are cast into one tensor where they travel in another dtype, then lie in
 * the flat output of all ranks.  A single rank has nothing to gather. */
static void unshard(struct vram_machine *m, struct group *g)
{
    struct fsdp2 *f = state_of(m);
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
    struct vram_handle *lower = cast ? flat(m, cast, VRAM_DT_U8) : NULL;
    g->gathered = flat(m, bytes, VRAM_DT_U8);
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
    struct vram_handle *whole = flat(m, elements, (enum vram_dtype)x->dtype);
    vram_set_category(m, whole, VRAM_CAT_PARAMETER);
    if (whole->storage)
        m->events->storages[whole->storage->id].param = p;
    vram_storage_move(m, x, whole);
    vram_drop(m, whole);
}

/* wait_for_unshard: in forward the output is kept until the next unit has been copied out (a name of the
 * function holds it that long), so that the two can overlap.  A single rank casts its shards one by
 * one. */
static void wait(struct vram_machine *m, struct group *g, enum phase phase)
{
    struct fsdp2 *f = state_of(m);
    struct vram_handle *cast = NULL, *before = NULL;
    if (!g->pending)
        return;
    if (phase == FORWARD) {
        before = f->previous;
        f->previous = NULL;
    }
    for (uint32_t i = 0; i < g->unit->n; i++) {
        uint32_t p = g->unit->params[i];
        struct part *part = &f->part[p];
        if (f->ranks == 1 && part->shard->dtype != m->params[p]->dtype) {
            struct vram_handle *next = flat(m, part->padded, (enum vram_dtype)m->params[p]->dtype);
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

static void reshard(struct vram_machine *m, struct group *g)
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
static void sum_up(struct vram_machine *m, struct group *g, bool last)
{
    struct fsdp2 *f = state_of(m);
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
    struct fsdp2 *f = state_of(m);
    for (uint32_t i = 0; i < n; i++) {
        struct vram_handle *shard = f->part[with[i]->param].shard;
        if (!shard->grad)
            shard->grad = vram_alias(m, out, shard->shape, shard->stride, shard->rank, false);
    }
}

static void reduce(struct vram_machine *m, struct group *g, struct vram_handle **with, uint32_t n)
{
    struct fsdp2 *f = state_of(m);
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
    f->reduced = flat(m, elements * f->ranks, dtype);
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

static void post_backward(struct vram_machine *m, struct group *g)
{
    struct fsdp2 *f = state_of(m);
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
    struct fsdp2 *f = s->own;
    for (size_t i = 0; i < f->units.list.n; i++) {
        struct group *g = &f->groups[f->order[i]];
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
static uint32_t bit_of(const struct group *g, uint32_t scope)
{
    for (uint32_t i = 0; i < g->unit->nscopes; i++)
        if (g->unit->scopes[i] == scope)
            return 1u << i;
    return 0;
}

/* A recomputation finds the unit whole: backward has gathered it. */
static bool before_forward(struct vram_machine *m, uint32_t scope)
{
    struct group *g = group_of(m, scope);
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
    struct fsdp2 *f = state_of(m);
    struct group *g = group_of(m, scope);
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
    struct fsdp2 *f = state_of(m);
    struct group *g = group_of(m, scope);
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

static void after_backward(struct vram_machine *m, uint32_t scope) { post_backward(m, group_of(m, scope)); }

const struct vram_module_hooks vram_fsdp2_hooks = {
    .before_forward = before_forward, .after_forward = after_forward,
    .before_backward = before_backward, .after_backward = after_backward,
    .wants = wants, .keywords = true, .casts = true};

/* ---- start -------------------------------------------------------------------------------- */

static uint32_t child_named(const struct vram_tree *t, uint32_t parent, const char *name)
{
    for (uint32_t i = parent + 1; i < t->scopes[parent].end; i++)
        if (t->scopes[i].parent == parent && !strcmp(vram_sym_text(t->syms, t->scopes[i].name), name))
            return i;
    return VRAM_NO_INDEX;
}

/* _find_final_norm: the last direct child of the base model whose class is a norm.  PEFT's wrapper hides
 * the base model. */
static uint32_t final_norm(const struct vram_strategy *s)
{
    const struct vram_tree *t = s->m->tree;
    uint32_t base = child_named(t, 0, "model"), found = VRAM_NO_INDEX;
    for (uint32_t i = 0; i < s->setup->ntrain; i++)
        if (s->setup->train[i] == VRAM_TRAIN_LORA)
            return VRAM_NO_INDEX;
    for (uint32_t i = base; base != VRAM_NO_INDEX && i < t->scopes[base].end; i++)
        if (t->scopes[i].parent == base && t->scopes[i].cls != VRAM_NO_INDEX &&
            strstr(vram_sym_text(t->syms, t->program->classes.at[t->scopes[i].cls].name), "Norm"))
            found = i;
    return found;
}

/* get_input_embeddings() of the model: that of its text. */
static uint32_t input_embedding(const struct vram_tree *t)
{
    uint32_t found = VRAM_NO_INDEX;
    for (uint32_t i = 0; i < t->nscopes; i++)
        if (t->scopes[i].input_embedding &&
            strcmp(vram_sym_text(t->syms, t->scopes[i].component), "vision") != 0)
            found = i;
    return found;
}

static bool tied(const struct vram_tree *t, uint32_t head)
{
    const struct vram_scope *s = &t->scopes[head];
    for (uint32_t i = s->first_param; i < s->first_param + s->nparams; i++)
        if (t->params[i].tied_to != VRAM_NO_INDEX)
            return true;
    return false;
}

/* The layers; the embedding; norm and head, which stay whole between forward and backward; the rest. */
static void make_units(struct vram_units *u)
{
    const struct vram_strategy *s = u->s;
    const struct vram_tree *t = s->m->tree;
    bool again = vram_plan_on(s->setup->plan, VRAM_KEY_FSDP_RESHARD, true);
    uint32_t embed = input_embedding(t), head = child_named(t, 0, "lm_head"), norm = final_norm(s);
    uint32_t tail[VRAM_UNIT_SCOPES], n = 0, root = 0;
    bool shared = embed != VRAM_NO_INDEX && head != VRAM_NO_INDEX && tied(t, head);
    vram_units_layers(u);
    if (embed != VRAM_NO_INDEX && !shared)
        vram_units_add(u, &embed, 1, again);
    if (norm != VRAM_NO_INDEX)
        tail[n++] = norm;
    if (shared)
        tail[n++] = embed;
    if (head != VRAM_NO_INDEX)
        tail[n++] = head;
    vram_units_add(u, tail, n, false);
    vram_units_add(u, &root, 1, false);
    vram_units_fill(u);
}

/* fully_shard: the whole unit comes to the card, its shards are made, the whole goes. */
static void shard_unit(struct vram_machine *m, struct fsdp2 *f, const struct vram_unit *unit)
{
    struct vram_handle **whole = vram_machine_alloc(m, unit->n ? unit->n : 1, sizeof *whole);
    for (uint32_t i = 0; i < unit->n; i++) {
        struct vram_handle *x = m->params[unit->params[i]];
        m->scope = m->tree->params[unit->params[i]].scope;
        m->op = VRAM_OP_LOAD;
        whole[i] = vram_new(m, x->shape, x->rank, (enum vram_dtype)f->part[unit->params[i]].shard->dtype, NULL);
        vram_set_category(m, whole[i], VRAM_CAT_PARAMETER);
    }
    m->op = VRAM_OP_STRATEGY;
    for (uint32_t i = 0; i < unit->n; i++) {
        struct part *part = &f->part[unit->params[i]];
        m->scope = m->tree->params[unit->params[i]].scope;
        struct vram_handle *bytes = flat(m, part->padded, (enum vram_dtype)part->shard->dtype);
        vram_set_category(m, bytes, VRAM_CAT_PARAMETER);
        if (bytes->storage)
            m->events->storages[bytes->storage->id].param = unit->params[i];
        vram_storage_move(m, part->shard, bytes);
        vram_drop(m, bytes);
    }
    for (uint32_t i = 0; i < unit->n; i++)
        vram_drop(m, whole[i]);
}

/* The shard that a parameter becomes: rows of the first dimension. */
static void make_part(struct vram_machine *m, struct fsdp2 *f, uint32_t p, enum vram_dtype held)
{
    struct vram_handle *x = m->params[p];
    int64_t shape[VRAM_MAX_RANK], rows = x->rank ? x->shape[0] : 1;
    memcpy(shape, x->shape, sizeof shape);
    shape[0] = (rows + (int64_t)f->ranks - 1) / (int64_t)f->ranks;
    struct vram_handle *shard = vram_blank(m, shape, x->rank, held);
    shard->leaf = true;
    shard->param = p;
    shard->requires_grad = x->requires_grad;
    f->part[p].shard = shard;
    f->part[p].padded = (uint64_t)vram_numel(shard);
}

static int by_first_module(const struct fsdp2 *f, uint32_t a, uint32_t b)
{
    uint32_t x = f->units.list.at[a].scopes[0], y = f->units.list.at[b].scopes[0];
    for (uint32_t i = 0; i < f->units.list.at[a].nscopes; i++)
        x = f->units.list.at[a].scopes[i] < x ? f->units.list.at[a].scopes[i] : x;
    for (uint32_t i = 0; i < f->units.list.at[b].nscopes; i++)
        y = f->units.list.at[b].scopes[i] < y ? f->units.list.at[b].scopes[i] : y;
    return x < y ? -1 : x > y;
}

static void sort_units(struct vram_machine *m, struct fsdp2 *f)
{
    uint32_t n = (uint32_t)f->units.list.n;
    f->order = vram_machine_alloc(m, n, sizeof *f->order);
    f->groups = vram_machine_alloc(m, n, sizeof *f->groups);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i;
        f->groups[i].unit = &f->units.list.at[i];
        for (; k > 0 && by_first_module(f, i, f->order[k - 1]) < 0; k--)
            f->order[k] = f->order[k - 1];
        f->order[k] = i;
    }
}

/* Trained parameters are held in fp32 where compute is mixed; whatever the dtype, it is lowered when it
 * is gathered. */
void vram_fsdp2_load(struct vram_strategy *s, uint32_t p)
{
    struct vram_machine *m = s->m;
    struct fsdp2 *f = s->own;
    struct vram_handle *x = m->params[p];
    bool mixed = s->setup->autocast != VRAM_DT_NONE, floating = vram_dtype_is_float((enum vram_dtype)x->dtype);
    if (!f) {
        s->own = f = vram_machine_alloc(m, 1, sizeof *f);
        f->part = vram_machine_alloc(m, m->tree->nparams, sizeof *f->part);
        f->ranks = (uint64_t)s->setup->ranks;
    }
    make_part(m, f, p, mixed && x->requires_grad ? VRAM_DT_F32 : (enum vram_dtype)x->dtype);
    if (mixed && floating)
        x->dtype = (uint8_t)s->setup->autocast;
}

static void to_shards(struct vram_strategy *s, struct fsdp2 *f)
{
    for (int g = 0; g < 2; g++)
        for (uint32_t i = 0; i < s->optimizer->n[g]; i++)
            s->optimizer->params[g][i] = f->part[s->optimizer->params[g][i]->param].shard;
}

void vram_fsdp2_init(struct vram_strategy *s)
{
    struct vram_machine *m = s->m;
    struct fsdp2 *f = s->own;
    const char *sent = vram_plan_text(s->setup->plan, VRAM_KEY_FSDP_REDUCE_DTYPE);
    if (!f)
        s->own = f = vram_machine_alloc(m, 1, sizeof *f);
    f->replicated = !strcmp(s->row->name, "hsdp");
    m->hooked_dtype = s->setup->autocast;
    f->sent = *sent ? vram_dtype_by_name(sent) : VRAM_DT_NONE;
    if (f->sent == s->setup->autocast || (!s->setup->autocast && f->sent == s->setup->dtype))
        f->sent = VRAM_DT_NONE;
    vram_units_init(&f->units, s);
    make_units(&f->units);
    sort_units(m, f);
    for (size_t i = 0; i < f->units.list.n; i++)
        shard_unit(m, f, &f->units.list.at[i]);
    to_shards(s, f);
    m->scope = 0;
}

void vram_fsdp2_zero_grad(struct vram_strategy *s)
{
    struct fsdp2 *f = s->own;
    for (uint32_t p = 0; p < s->m->tree->nparams; p++)
        if (f->part[p].shard)
            vram_let_go(s->m, &f->part[p].shard->grad);
}
