/* SPDX-License-Identifier: Apache-2.0
 *
 * DeepSpeed ZeRO 3 (0.19.6, runtime/zero/stage3.py): every parameter is cut into one shard a rank;
 * gradients go by way of the IPG bucket, which stays, into one flat buffer of shards; the step
 * goes over sub-groups.  When parameters are whole is coordinator.c's.
 *
 * All ranks need the same but for padding; the first one is followed, whose shards are full.
 */
#include "train/zero3.h"

/* Parameters that are stepped on together. */
struct sub_group {
    struct vram_handle **params;
    uint32_t n;
    int which;         /* group of the optimizer */
    uint64_t elements; /* of the rank's shards */
    struct vram_handle master;
};

struct zero3 {
    struct vram_coordinator c;   /* first: coordinator.c looks for it here */
    struct vram_handle *weights; /* shards of all that trains */
    struct vram_handle *gradients;
    struct vram_handle *ipg;
    struct sub_group *groups;
    uint32_t ngroups;
    struct vram_handle **norms; /* offload: by parameter, until the step */
    uint64_t bucket_size, filled;
    struct vram_handle **bucket;
    uint32_t nbucket;
    bool contiguous, scatter;
    enum vram_dtype sent, summed; /* communication_data_type, grad_accum_dtype */
};

static uint64_t elements_of(const struct vram_handle *p) { return (uint64_t)vram_numel(p); }

/* ---- start -------------------------------------------------------------------------------- */

/* Made with the first parameter; a model without any has one, too. */
static struct zero3 *state_of(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    if (z)
        return z;
    s->own = z = vram_machine_alloc(s->m, 1, sizeof *z);
    z->c.shard = vram_machine_alloc(s->m, s->m->tree->nparams, sizeof *z->c.shard);
    return z;
}

/* zero.Init: the whole parameter, the rank's shard, and the parameter is gone. */
void vram_zero3_load(struct vram_strategy *s, uint32_t param)
{
    struct vram_machine *m = s->m;
    struct zero3 *z = state_of(s);
    struct vram_handle *p = m->params[param];
    uint64_t ranks = (uint64_t)s->setup->ranks;
    struct vram_shard *d = &z->c.shard[param];
    d->partitioned = true;
    d->elements = (elements_of(p) + ranks - 1) / ranks;
    int64_t shape[1] = {(int64_t)d->elements};
    uint16_t op = m->op;
    m->op = VRAM_OP_STRATEGY;
    if (s->setup->offload == VRAM_OFFLOAD_PARAMS) {
        uint64_t bytes = 0;
        vram_dtype_bytes((enum vram_dtype)p->dtype, d->elements, &bytes);
        vram_host_pin(s, bytes);
        d->own = vram_blank(m, shape, 1, (enum vram_dtype)p->dtype);
    } else {
        d->own = vram_new(m, shape, 1, (enum vram_dtype)p->dtype, NULL);
        vram_set_category(m, d->own, VRAM_CAT_PARAMETER);
    }
    if (d->own->storage)
        m->events->storages[d->own->storage->id].param = param;
    vram_storage_move(m, p, NULL);
    m->op = op;
}

/* _create_fp16_sub_groups: one is closed as soon as it has reached its size */
static void cut_group(struct vram_strategy *s, int which, uint64_t size)
{
    struct zero3 *z = s->own;
    struct vram_handle **params = s->optimizer->params[which];
    uint32_t n = s->optimizer->n[which];
    uint64_t filled = 0;
    for (uint32_t i = 0, from = 0; i < n; i++) {
        filled += z->c.shard[params[i]->param].elements;
        if (filled < size && i + 1 < n)
            continue;
        z->groups[z->ngroups++] = (struct sub_group){
            .params = params + from, .n = i + 1 - from, .which = which, .elements = filled};
        from = i + 1;
        filled = 0;
    }
}

/* defragment: by way of host memory into one tensor */
static void defragment(struct vram_strategy *s, uint64_t elements)
{
    struct zero3 *z = s->own;
    for (uint32_t i = 0; i < s->n; i++)
        vram_let_go(s->m, &z->c.shard[s->params[i]->param].own);
    vram_empty_cache(s->m);
    z->weights = vram_shared_new(s->m, elements, (enum vram_dtype)s->params[0]->dtype,
                                 VRAM_CAT_PARAMETER, s->params, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        z->c.shard[s->params[i]->param].own = vram_hold(z->weights);
}

/* offload=params: from pinned shards into one pinned tensor for each group of the optimizer. */
static void join_on_host(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    for (int g = 0; g < 2; g++) {
        uint64_t bytes = 0, sum = 0;
        for (uint32_t i = 0; i < z->ngroups; i++)
            sum += z->groups[i].which == g ? z->groups[i].elements : 0;
        vram_dtype_bytes(s->setup->dtype, sum, &bytes);
        if (bytes)
            vram_host_pin(s, bytes);
        for (uint32_t i = 0; i < s->optimizer->n[g]; i++) {
            vram_dtype_bytes(s->setup->dtype,
                             z->c.shard[s->optimizer->params[g][i]->param].elements, &bytes);
            vram_host_give(s, bytes, true);
        }
    }
}

/* Raised and cloned; the name of the raised one lives on into the next sub-group.  Of fp32 weights
 * only the clone is made (the device is compared with its name, which is never equal). */
static void make_masters(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    struct vram_machine *m = s->m;
    struct vram_handle *raised = NULL;
    for (uint32_t i = 0; i < z->ngroups; i++) {
        struct sub_group *g = &z->groups[i];
        if (s->setup->dtype != VRAM_DT_F32) {
            struct vram_handle *x =
                vram_shared_new(m, g->elements, VRAM_DT_F32, VRAM_CAT_OPTIMIZER, g->params, g->n);
            vram_drop(m, raised);
            raised = x;
        }
        g->master =
            *vram_shared_new(m, g->elements, VRAM_DT_F32, VRAM_CAT_OPTIMIZER, g->params, g->n);
        vram_zero_master(s, &g->master, i);
    }
    vram_drop(m, raised);
}

/* The same on the host: raised and cloned one by one, and a pinned fp32 gradient for each
 * sub-group. */
static void masters_on_host(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    uint64_t before = 0;
    for (uint32_t i = 0; i < z->ngroups; i++) {
        vram_host_take(s, 4 * z->groups[i].elements, false);
        vram_host_give(s, before, false);
        vram_host_take(s, 4 * z->groups[i].elements, false);
        before = 4 * z->groups[i].elements;
    }
    vram_host_give(s, before, false);
    for (uint32_t i = 0; i < z->ngroups; i++)
        vram_host_pin(s, 4 * z->groups[i].elements);
}

/* initialize_optimizer_states: one gradient for the largest sub-group, given back */
static void first_gradient(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    const struct sub_group *most = &z->groups[0];
    for (uint32_t i = 1; i < z->ngroups; i++)
        if (z->groups[i].elements > most->elements)
            most = &z->groups[i];
    vram_drop(s->m, vram_shared_new(s->m, most->elements, VRAM_DT_F32, VRAM_CAT_GRADIENT,
                                    most->params, most->n));
}

static enum vram_dtype dtype_of(const struct vram_strategy *s, enum vram_key key)
{
    const char *text = vram_plan_text(s->setup->plan, key);
    return *text ? vram_dtype_by_name(text) : s->setup->dtype;
}

static void begin(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    const struct vram_plan *plan = s->setup->plan;
    z->bucket_size = vram_zero_elements(s, VRAM_KEY_ZERO_REDUCE_BUCKET_SIZE);
    z->contiguous = vram_plan_on(plan, VRAM_KEY_ZERO_CONTIGUOUS_GRADIENTS, true);
    z->scatter = vram_plan_on(plan, VRAM_KEY_ZERO_REDUCE_SCATTER, true);
    z->sent = dtype_of(s, VRAM_KEY_ZERO_COMMUNICATION_DATA_TYPE);
    z->summed = dtype_of(s, VRAM_KEY_ZERO_GRAD_ACCUM_DTYPE);
    z->bucket = vram_machine_alloc(s->m, s->n, sizeof(struct vram_handle *));
    z->groups = vram_machine_alloc(s->m, s->n, sizeof *z->groups);
    for (int g = 0; g < 2; g++)
        cut_group(s, g, vram_zero_elements(s, VRAM_KEY_ZERO_SUB_GROUP_SIZE));
    vram_optimizer_flats(s->optimizer, z->ngroups);
}

/* Gradients of the rank's shards, for good. */
static void keep_gradients(struct vram_strategy *s, uint64_t elements)
{
    struct zero3 *z = s->own;
    uint64_t bytes = 0;
    if (!vram_offloads(s)) {
        z->gradients =
            vram_shared_new(s->m, elements, z->summed, VRAM_CAT_GRADIENT, s->params, s->n);
        return;
    }
    vram_dtype_bytes(z->summed, elements, &bytes);
    vram_host_pin(s, bytes);
    z->norms = vram_machine_alloc(s->m, s->m->tree->nparams, sizeof *z->norms);
}

void vram_zero3_init(struct vram_strategy *s)
{
    struct zero3 *z = state_of(s);
    struct vram_machine *m = s->m;
    uint64_t elements = 0;
    vram_coordinator_init(&z->c, s);
    m->keeps_linear = true; /* memory_efficient_linear */
    m->scope = 0;
    if (!s->n)
        return;
    begin(s);
    for (uint32_t i = 0; i < z->ngroups; i++)
        elements += z->groups[i].elements;
    if (z->c.from_host)
        join_on_host(s);
    else
        defragment(s, elements);
    if (vram_offloads(s)) {
        masters_on_host(s);
    } else {
        make_masters(s);
        first_gradient(s);
    }
    int64_t shape[1] = {(int64_t)z->bucket_size};
    if (z->contiguous)
        z->ipg = vram_new(m, shape, 1, z->sent, NULL);
    keep_gradients(s, elements);
    for (uint32_t i = 0; i < z->ngroups; i++) /* create_reduce_and_remove_grad_hooks */
        for (uint32_t k = 0; k < z->groups[i].n; k++)
            vram_coordinator_visit(&z->c, z->groups[i].params[k]->param);
    m->scope = 0;
}

/* ---- gradients ---------------------------------------------------------------------------- */

/* What lives together until a function returns. */
struct names {
    struct vram_handle **at;
    uint32_t n;
};

static void drop_names(struct vram_machine *m, struct names *names)
{
    while (names->n)
        vram_drop(m, names->at[--names->n]);
}

/* Where the shards of a tensor are not even, each short one is filled up. */
static void fill_up(struct vram_strategy *s, struct names *padding)
{
    struct zero3 *z = s->own;
    uint64_t ranks = (uint64_t)s->setup->ranks;
    padding->at = vram_machine_alloc(s->m, (size_t)ranks * z->nbucket, sizeof *padding->at);
    for (uint64_t r = 0; r < ranks; r++)
        for (uint32_t i = 0; i < z->nbucket; i++) {
            uint64_t n = elements_of(z->bucket[i]), part = (n + ranks - 1) / ranks;
            uint64_t from = r * part < n ? r * part : n, to = from + part < n ? from + part : n;
            if (part > to - from)
                padding->at[padding->n++] = vram_flat_new(s->m, part - (to - from), z->sent);
        }
}

/* reduce_scatter_coalesced: tensors are laid out rank by rank in a copy, but for a single even one
 */
static struct vram_handle *interleave(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    struct names padding = {0};
    uint64_t ranks = (uint64_t)s->setup->ranks, elements = 0;
    if (z->nbucket == 1 && elements_of(z->bucket[0]) % ranks == 0)
        return NULL;
    for (uint32_t i = 0; i < z->nbucket; i++)
        elements += (elements_of(z->bucket[i]) + ranks - 1) / ranks * ranks;
    fill_up(s, &padding);
    struct vram_handle *copy = vram_flat_new(s->m, elements, z->sent);
    drop_names(s->m, &padding);
    return copy;
}

/* __avg_scatter_grads: into the type that travels, interleaved, into the type that is summed */
static void scatter(struct vram_strategy *s, struct names *parts)
{
    struct zero3 *z = s->own;
    struct names sent = {vram_machine_alloc(s->m, z->nbucket, sizeof *sent.at), 0};
    for (uint32_t i = 0; z->sent != s->setup->dtype && i < z->nbucket; i++)
        sent.at[sent.n++] = vram_flat_new(s->m, elements_of(z->bucket[i]), z->sent);
    struct vram_handle *copy = interleave(s);
    for (uint32_t i = 0; z->sent != z->summed && i < z->nbucket; i++)
        parts->at[parts->n++] =
            vram_flat_new(s->m, z->c.shard[z->bucket[i]->param].elements, z->summed);
    if (z->sent == z->summed && copy)
        parts->at[parts->n++] = vram_hold(copy);
    if (z->sent == z->summed && !copy && sent.n)
        parts->at[parts->n++] = vram_hold(sent.at[0]);
    vram_drop(s->m, copy);
    drop_names(s->m, &sent);
}

/* __avg_scatter_contiguous_grads: the whole bucket is reduced, and scaled in a copy */
static void reduce_all(struct vram_strategy *s, struct names *parts)
{
    struct zero3 *z = s->own;
    struct vram_handle *bucket = NULL;
    if (s->setup->ranks > 1)
        bucket = vram_flat_new(s->m, z->filled, z->sent);
    if (z->sent != z->summed) {
        struct vram_handle *cast = vram_flat_new(s->m, z->filled, z->summed);
        vram_drop(s->m, bucket);
        bucket = cast;
    }
    if (bucket)
        parts->at[parts->n++] = bucket;
}

/* partition_grads with offload: the shard's gradient is taken to the host, and back for its norm.
 */
static void send_to_host(struct vram_strategy *s, const struct vram_handle *p)
{
    struct zero3 *z = s->own;
    uint64_t elements = z->c.shard[p->param].elements;
    if (!vram_offloads(s))
        return;
    s->m->scope = s->m->tree->params[p->param].scope;
    struct vram_handle *back = vram_flat_new(s->m, elements, z->summed);
    if (s->micro + 1 == (uint64_t)s->setup->accumulation) {
        vram_let_go(s->m, &z->norms[p->param]);
        z->norms[p->param] = vram_offload_piece(s, elements, z->summed);
    }
    vram_drop(s->m, back);
}

/* __reduce_and_partition_ipg_grads */
static void flush(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    struct names parts = {vram_machine_alloc(s->m, z->nbucket + 1, sizeof *parts.at), 0};
    uint8_t stream = s->m->stream;
    if (!z->nbucket)
        return;
    s->m->scope = 0;
    s->m->stream = z->c.overlaps ? VRAM_STREAM_REDUCE : 0;
    if (z->contiguous && z->filled <= z->bucket_size && !z->scatter)
        reduce_all(s, &parts);
    else
        scatter(s, &parts);
    for (uint32_t i = 0; i < z->nbucket; i++) {
        send_to_host(s, z->bucket[i]);
        vram_let_go(s->m, &z->bucket[i]->grad);
    }
    drop_names(s->m, &parts);
    z->nbucket = 0;
    z->filled = 0;
    s->m->stream = stream;
}

/* reduce_independent_p_g_buckets_and_remove_grads; what does not fit waits as it is */
void vram_zero3_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g)
{
    struct vram_strategy *s = m->strategy;
    struct zero3 *z = s->own;
    uint32_t scope = m->scope;
    uint16_t op = m->op;
    (void)g;
    if (leaf->param == VRAM_NO_PARAM || leaf->param >= m->tree->nparams)
        return;
    m->op = VRAM_OP_STRATEGY;
    if (z->filled + elements_of(leaf) > z->bucket_size)
        flush(s);
    if (z->contiguous && z->filled + elements_of(leaf) <= z->bucket_size)
        vram_let_go(m, &leaf->grad); /* it lives in the bucket now */
    z->bucket[z->nbucket++] = leaf;
    z->filled += elements_of(leaf);
    m->scope = scope;
    m->op = op;
}

void vram_zero3_backward_end(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    s->m->op = VRAM_OP_STRATEGY;
    flush(s);
    vram_coordinator_leftovers(&z->c);
}

/* ---- step --------------------------------------------------------------------------------- */

/* fp16: infinities and what is no number are looked for in all gradients at once. */
static void look_for_overflow(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    if (s->setup->dtype != VRAM_DT_F16 || !z->gradients)
        return;
    uint64_t elements = (uint64_t)vram_numel(z->gradients);
    struct vram_handle *size = vram_flat_new(s->m, elements, z->summed);
    struct vram_handle *infinite = vram_flat_new(s->m, elements, VRAM_DT_BOOL);
    vram_drop(s->m, size);
    vram_drop(s->m, infinite);
    vram_drop(s->m, vram_flat_new(s->m, elements, VRAM_DT_BOOL));
}

static void norm(struct vram_strategy *s, const struct sub_group *g)
{
    struct zero3 *z = s->own;
    struct vram_zero_piece *pieces = vram_machine_alloc(s->m, g->n, sizeof *pieces);
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t p = g->params[i]->param;
        pieces[i] = (struct vram_zero_piece){p, z->c.shard[p].elements};
    }
    vram_zero_norm(s, pieces, g->n);
}

/* Shards of the sub-group joined (a single one is used where it lies), raised, stepped on. */
static void step_group(struct vram_strategy *s, struct sub_group *g)
{
    struct zero3 *z = s->own;
    struct vram_machine *m = s->m;
    struct vram_handle *joined = NULL;
    if (g->n > 1)
        joined = vram_shared_new(m, g->elements, z->summed, VRAM_CAT_GRADIENT, g->params, g->n);
    g->master.grad = joined;
    if (z->summed != VRAM_DT_F32) {
        g->master.grad =
            vram_shared_new(m, g->elements, VRAM_DT_F32, VRAM_CAT_GRADIENT, g->params, g->n);
        vram_drop(m, joined);
    }
    vram_zero_update(s, &g->master, g->which == s->optimizer->decayed);
    vram_let_go(m, &g->master.grad);
}

static void step_on_host(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    uint64_t elements = 0;
    for (uint32_t i = 0; i < z->ngroups; i++)
        elements += z->groups[i].elements;
    for (uint32_t i = 0; z->norms && i < s->m->tree->nparams; i++)
        vram_let_go(s->m, &z->norms[i]);
    vram_offload_step(s, elements);
    vram_coordinator_persist(&z->c);
    s->m->scope = 0;
    s->m->op = VRAM_OP_LOOP;
}

void vram_zero3_step(struct vram_strategy *s)
{
    struct zero3 *z = s->own;
    struct vram_machine *m = s->m;
    m->op = VRAM_OP_STRATEGY;
    flush(s); /* of an unknown architecture, whose backward was not run */
    vram_coordinator_release_all(&z->c);
    if (vram_offloads(s)) {
        step_on_host(s);
        return;
    }
    look_for_overflow(s);
    for (uint32_t i = 0; !s->optimizer->row->no_step && i < z->ngroups; i++)
        norm(s, &z->groups[i]);
    m->scope = 0;
    for (uint32_t i = 0; !s->optimizer->row->no_step && i < z->ngroups; i++)
        step_group(s, &z->groups[i]);
    vram_coordinator_persist(&z->c);
    m->scope = 0;
    m->op = VRAM_OP_LOOP;
}
