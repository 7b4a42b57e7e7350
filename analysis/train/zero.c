/* SPDX-License-Identifier: Apache-2.0
 *
 * DeepSpeed ZeRO 1 and 2 (0.19.6, runtime/zero/stage_1_and_2.py): flat 16-bit groups, one fp32
 * partition a group, gradients by way of the IPG bucket, step on the partition.
 *
 * The rank that is followed is the one whose partition touches the most gradient elements.
 */
#include <string.h>

#include "base/math.h"
#include "train/strategy.h"

struct group {
    struct vram_handle **params; /* in registration order */
    uint32_t n;
    uint64_t elements;           /* padded to a multiple of 2·ranks */
    uint64_t partition;          /* elements of one rank */
    struct vram_handle *flat;    /* 16-bit weights of the group; the parameters are views of it */
    struct vram_handle master;   /* the fp32 partition as a parameter of the optimizer */
};

struct zero {
    struct group group[2];
    uint64_t rank;               /* that is followed */
    bool *mine;                  /* by parameter of the tree: touches the rank's partition */
    uint64_t mine_elements;      /* of all parameters that do, whole */
    uint64_t bucket_size;        /* elements */
    struct vram_handle *ipg[2];
    int buffers;                 /* two with overlap_comm */
    bool setup_pending;          /* buffers are made at the first gradient */
    uint64_t filled;
    struct vram_handle **in_bucket;
    uint32_t nin_bucket;
    struct vram_handle *large;   /* waits for the next flush: larger than the bucket */
    struct vram_handle *own;     /* gradients of the partition, of this backward */
    struct vram_handle *kept;    /* of earlier backwards of the step */
};

static uint64_t elements_of(const struct vram_handle *p) { return (uint64_t)vram_numel(p); }

/* ---- partitions --------------------------------------------------------------------------- */

/* Elements of the parameters that a rank's slice of a group touches. */
static uint64_t touched(const struct group *g, uint64_t rank, bool *mine)
{
    uint64_t from = rank * g->partition, to = from + g->partition, at = 0, sum = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t end = at + elements_of(g->params[i]);
        if (end > from && at < to) {
            sum += end - at;
            if (mine)
                mine[g->params[i]->param] = true;
        }
        at = end;
    }
    return sum;
}

static void choose_rank(struct vram_strategy *s, struct zero *z)
{
    uint64_t ranks = (uint64_t)s->setup->ranks, best = 0;
    uint64_t tries = ranks < 4096 ? ranks : 4096;
    for (uint64_t r = 0; r < tries; r++) {
        uint64_t sum = touched(&z->group[0], r, NULL) + touched(&z->group[1], r, NULL);
        if (sum > best || r == 0) {
            best = sum;
            z->rank = r;
        }
    }
    z->mine = vram_machine_alloc(s->m, s->m->tree->nparams, sizeof *z->mine);
    z->mine_elements = touched(&z->group[0], z->rank, z->mine) +
                       touched(&z->group[1], z->rank, z->mine);
}

/* ---- init --------------------------------------------------------------------------------- */

static void flatten(struct vram_strategy *s, struct group *g)
{
    struct vram_machine *m = s->m;
    uint64_t usable = s->setup->gpu ? s->setup->gpu->usable_bytes : UINT64_MAX, bytes = 0;
    enum vram_dtype dtype = (enum vram_dtype)g->params[0]->dtype;
    vram_dtype_bytes(dtype, g->elements, &bytes);
    /* built on the card when it has room for both copies, else by way of host memory */
    vram_empty_cache(m);
    bool room = m->live <= usable && usable - m->live >= bytes;
    if (room)
        g->flat = vram_shared_new(m, g->elements, dtype, VRAM_CAT_PARAMETER, g->params, g->n);
    for (uint32_t i = 0; i < g->n && !room; i++)
        vram_storage_move(m, g->params[i], NULL);
    if (!room)
        vram_empty_cache(m);
    if (!room)
        g->flat = vram_shared_new(m, g->elements, dtype, VRAM_CAT_PARAMETER, g->params, g->n);
    for (uint32_t i = 0; i < g->n; i++)
        vram_storage_move(m, g->params[i], g->flat);
}

static void init_group(struct vram_strategy *s, struct zero *z, int which)
{
    struct vram_machine *m = s->m;
    struct group *g = &z->group[which];
    uint64_t align = 2 * (uint64_t)s->setup->ranks;
    g->params = s->optimizer->params[which];
    g->n = s->optimizer->n[which];
    for (uint32_t i = 0; i < g->n; i++)
        g->elements += elements_of(g->params[i]);
    g->elements = vram_round_up(g->elements, align);
    g->partition = g->elements / (uint64_t)s->setup->ranks;
    if (!g->n)
        return;
    flatten(s, g);
    struct vram_handle *clone = vram_shared_new(m, g->partition, s->setup->dtype,
                                                VRAM_CAT_TEMPORARY, g->params, g->n);
    struct vram_handle *master =
        vram_shared_new(m, g->partition, VRAM_DT_F32, VRAM_CAT_OPTIMIZER, g->params, g->n);
    vram_drop(m, clone);
    g->master = *master;
    g->master.param = m->tree->nparams + (uint32_t)which;
    s->optimizer->share[which] = m->events->storages[master->storage->id].share;
}

void vram_zero_init(struct vram_strategy *s)
{
    struct vram_machine *m = s->m;
    struct zero *z = vram_machine_alloc(m, 1, sizeof *z);
    struct vram_handle *zeros[2] = {NULL, NULL};
    int64_t bucket = vram_plan_int(s->setup->plan, VRAM_KEY_ZERO_REDUCE_BUCKET_SIZE);
    s->own = z;
    m->scope = 0;
    if (bucket == VRAM_PLAN_AUTO) {
        const struct vram_config *root = m->tree->scopes[0].config;
        const struct vram_config *text = vram_config_get_text(m->cx, root, "text_config");
        const struct vram_config *h = vram_config_get_text(m->cx, text ? text : root, "hidden_size");
        bucket = h && h->type == VRAM_CONFIG_INT ? h->integer * h->integer : 500000000;
    }
    z->bucket_size = (uint64_t)bucket;
    z->in_bucket = vram_machine_alloc(m, s->n ? s->n : 1, sizeof(struct vram_handle *));
    for (int g = 0; g < 2; g++)
        init_group(s, z, g);
    choose_rank(s, z);
    /* initialize_optimizer_states: zero gradients of all groups at once, then dropped */
    for (int g = 0; g < 2; g++)
        if (z->group[g].n)
            zeros[g] = vram_shared_new(m, z->group[g].partition, VRAM_DT_F32, VRAM_CAT_GRADIENT,
                                       z->group[g].params, z->group[g].n);
    vram_drop(m, zeros[0]);
    vram_drop(m, zeros[1]);
}

/* ---- backward: buckets -------------------------------------------------------------------- */

void vram_zero_backward_begin(struct vram_strategy *s)
{
    struct zero *z = s->own;
    bool contiguous = vram_plan_on(s->setup->plan, VRAM_KEY_ZERO_CONTIGUOUS_GRADIENTS, true);
    bool overlap = vram_plan_on(s->setup->plan, VRAM_KEY_ZERO_OVERLAP_COMM, false);
    z->setup_pending = contiguous && !z->ipg[0];
    z->buffers = overlap ? 2 : 1;
}

static void setup_buckets(struct vram_strategy *s)
{
    struct zero *z = s->own;
    int64_t shape[1] = {(int64_t)z->bucket_size};
    if (!z->setup_pending)
        return;
    z->setup_pending = false;
    s->m->scope = 0;
    for (int i = 0; i < z->buffers; i++)
        z->ipg[i] = vram_new(s->m, shape, 1, s->setup->dtype, NULL);
}

/* A gradient of the rank's partition moves into the partition's own buffer, made at the first one. */
static void keep_own(struct vram_strategy *s, const struct vram_handle *p)
{
    struct zero *z = s->own;
    if (z->own || !z->mine[p->param])
        return;
    struct vram_handle **all = s->params;
    s->m->scope = 0;
    z->own = vram_shared_new(s->m, z->mine_elements, s->setup->dtype, VRAM_CAT_GRADIENT, all, s->n);
}

/* The bucket is reduced by way of a flat copy (allreduce_bucket), then the rank's own gradients move
 * out of it. */
static void flush(struct vram_strategy *s)
{
    struct zero *z = s->own;
    int64_t shape[1] = {(int64_t)z->filled};
    if (z->filled) {
        s->m->scope = 0;
        vram_drop(s->m, vram_new(s->m, shape, 1, s->setup->dtype, NULL));
    }
    for (uint32_t i = 0; i < z->nin_bucket; i++)
        keep_own(s, z->in_bucket[i]);
    if (z->large)
        vram_let_go(s->m, &z->large->grad);
    z->large = NULL;
    z->nin_bucket = 0;
    z->filled = 0;
}

/* reduce_independent_p_g_buckets_and_remove_grads */
static void reduce(struct vram_strategy *s, struct vram_handle *p)
{
    struct zero *z = s->own;
    uint64_t n = elements_of(p);
    if (z->filled + n > z->bucket_size)
        flush(s);
    if (z->ipg[0] && n <= z->bucket_size)
        vram_let_go(s->m, &p->grad); /* it lives in the bucket now */
    else
        z->large = p;
    z->filled += n;
    z->in_bucket[z->nin_bucket++] = p;
}

void vram_zero_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g)
{
    struct vram_strategy *s = m->strategy;
    uint32_t scope = m->scope;
    (void)g;
    if (leaf->param == VRAM_NO_PARAM || leaf->param >= m->tree->nparams)
        return;
    setup_buckets(s);
    if (s->row->partitions_gradients ||
        vram_plan_on(s->setup->plan, VRAM_KEY_ZERO_OVERLAP_COMM, false))
        reduce(s, leaf);
    m->scope = scope;
}

static void release_buckets(struct vram_strategy *s)
{
    struct zero *z = s->own;
    flush(s);
    for (int i = 0; i < 2; i++)
        vram_let_go(s->m, &z->ipg[i]);
}

/* independent_gradient_partition_epilogue: what this backward brought is kept, or added to what the
 * step already has. */
void vram_zero_backward_end(struct vram_strategy *s)
{
    struct zero *z = s->own;
    if (!s->row->partitions_gradients)
        return;
    release_buckets(s);
    if (!z->kept)
        z->kept = z->own;
    else
        vram_drop(s->m, z->own);
    z->own = NULL;
}

/* Stage 1 reduces everything at the end of the step's last backward. */
bool vram_zero_synchronises(const struct vram_strategy *s)
{
    return !s->row->partitions_gradients;
}

void vram_zero_synchronise(struct vram_strategy *s)
{
    struct zero *z = s->own;
    for (int g = 0; g < 2; g++)
        for (uint32_t i = 0; i < z->group[g].n; i++)
            if (z->group[g].params[i]->grad)
                reduce(s, z->group[g].params[i]);
    release_buckets(s);
    z->kept = z->own;
    z->own = NULL;
}

/* ---- step --------------------------------------------------------------------------------- */

/* The norm casts each piece of the partition to float64, one after the other. */
static void norm(struct vram_strategy *s, const struct group *g, uint64_t rank)
{
    uint64_t from = rank * g->partition, to = from + g->partition, at = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t end = at + elements_of(g->params[i]);
        uint64_t a = at > from ? at : from, b = end < to ? end : to;
        if (b > a) {
            int64_t shape[1] = {(int64_t)(b - a)};
            s->m->scope = s->m->tree->params[g->params[i]->param].scope;
            vram_drop(s->m, vram_new(s->m, shape, 1, VRAM_DT_F64, NULL));
        }
        at = end;
    }
}

static void step_group(struct vram_strategy *s, struct group *g, int which, bool last)
{
    struct vram_machine *m = s->m;
    struct zero *z = s->own;
    struct vram_handle *flat =
        vram_shared_new(m, g->partition, s->setup->dtype, VRAM_CAT_GRADIENT, g->params, g->n);
    g->master.grad =
        vram_shared_new(m, g->partition, VRAM_DT_F32, VRAM_CAT_GRADIENT, g->params, g->n);
    vram_drop(m, flat);
    if (last)
        vram_let_go(m, &z->kept); /* the last view of the partition's gradients is gone */
    struct vram_handle *one[1] = {&g->master};
    m->op = VRAM_OP_OPTIMIZER;
    s->optimizer->row->step(s->optimizer, one, 1, which == 0);
    m->op = VRAM_OP_STRATEGY;
    vram_let_go(m, &g->master.grad);
}

void vram_zero_step(struct vram_strategy *s)
{
    struct vram_machine *m = s->m;
    struct zero *z = s->own;
    m->op = VRAM_OP_STRATEGY;
    if (!s->optimizer->row->step) {
        vram_let_go(m, &z->kept);
        return;
    }
    for (int g = 0; g < 2; g++)
        norm(s, &z->group[g], z->rank);
    m->scope = 0;
    for (int g = 0; g < 2; g++)
        if (z->group[g].n)
            step_group(s, &z->group[g], g, g == 1 || !z->group[1].n);
    m->op = VRAM_OP_LOOP;
}
