/* SPDX-License-Identifier: Apache-2.0
 *
 * DeepSpeed ZeRO 1 and 2 (0.19.6, runtime/zero/stage_1_and_2.py): flat 16-bit groups, one fp32
 * partition a group, gradients by way of the IPG bucket, step on the partition.
 *
 * The rank that is followed is the one whose partition touches the most gradient elements.
 */
#include "train/zero.h"

static uint64_t elements_of(const struct vram_handle *p) { return (uint64_t)vram_numel(p); }

/* ---- backward: buckets -------------------------------------------------------------------- */

void vram_zero_backward_begin(struct vram_strategy *s)
{
    struct vram_zero *z = s->own;
    bool overlap = vram_plan_on(s->setup->plan, VRAM_KEY_ZERO_OVERLAP_COMM, false);
    z->setup_pending = z->contiguous && !z->ipg[0];
    z->buffers = overlap ? 2 : 1;
}

static void setup_buckets(struct vram_strategy *s)
{
    struct vram_zero *z = s->own;
    int64_t shape[1] = {(int64_t)z->bucket_size};
    if (!z->setup_pending)
        return;
    z->setup_pending = false;
    s->m->scope = 0;
    for (int i = 0; i < z->buffers; i++)
        z->ipg[i] = vram_new(s->m, shape, 1, s->setup->dtype, NULL);
}

/* Elements of a parameter that lie in the rank's partition of its group. */
static uint64_t piece_of(const struct vram_zero *z, const struct vram_zero_group *g, uint32_t i)
{
    uint64_t from = z->rank * g->partition, to = from + g->partition;
    uint64_t at = z->place[g->params[i]->param].from, end = at + elements_of(g->params[i]);
    at = at > from ? at : from;
    end = end < to ? end : to;
    return end > at ? end - at : 0;
}

static bool last_micro(const struct vram_strategy *s)
{
    return s->micro + 1 == (uint64_t)s->setup->accumulation;
}

/* copy_grads_in_partition with offload: summed on the host over the micro-batches, then the rank's piece
 * goes there in fp32. */
static void send_to_host(struct vram_strategy *s, struct vram_handle *p)
{
    struct vram_zero *z = s->own;
    struct vram_zero_group *g = &z->group[z->place[p->param].group];
    uint64_t bytes = 0;
    uint32_t i = 0;
    if (s->setup->accumulation > 1 && !z->on_host[p->param]) {
        vram_dtype_bytes(s->setup->dtype, elements_of(p), &bytes);
        vram_host_pin(s, bytes);
        z->on_host[p->param] = true;
    }
    while (g->params[i] != p)
        i++;
    if (last_micro(s)) {
        vram_let_go(s->m, &z->norms[p->param]);
        z->norms[p->param] = vram_offload_piece(s, piece_of(z, g, i), s->setup->dtype);
    }
}

/* A gradient of the rank's partition moves into the partition's own buffer, made at the first one. */
static void keep_own(struct vram_strategy *s, struct vram_handle *p)
{
    struct vram_zero *z = s->own;
    bool mine = z->mine[p->param];
    if (mine && vram_offloads(s))
        send_to_host(s, p);
    else if (mine && z->contiguous && !z->own)
        z->own = vram_shared_new(s->m, z->mine_elements, s->setup->dtype, VRAM_CAT_GRADIENT,
                                 s->params, s->n);
    if (z->contiguous || (s->row->partitions_gradients && !mine))
        vram_let_go(s->m, &p->grad);
}

/* Pieces are joined before they are reduced (flatten_dense_tensors); a single one is used where it
 * lies. */
struct pieces {
    struct vram_strategy *s;
    uint64_t elements, limit, last; /* limit: behind it a new lot begins; last: the last piece's owner */
    uint32_t n;
};

static void reduce_pieces(struct pieces *p)
{
    int64_t shape[1] = {(int64_t)p->elements};
    if (p->n > 1)
        vram_drop(p->s->m, vram_new(p->s->m, shape, 1, p->s->setup->dtype, NULL));
    p->n = 0;
    p->elements = 0;
}

static void add_piece(struct pieces *p, uint64_t owner, uint64_t elements, bool joined)
{
    if (!joined && p->elements > p->limit)
        reduce_pieces(p);
    p->n += !joined;
    p->elements += elements;
    p->last = owner;
}

/* average_tensor: the parts of a bucket by the ranks that own them; neighbours of one owner are one */
static void reduce_bucket(struct vram_strategy *s)
{
    struct vram_zero *z = s->own;
    struct pieces p = {.s = s, .limit = z->contiguous ? z->bucket_size : UINT64_MAX, .last = UINT64_MAX};
    if (z->contiguous && !z->scatter)
        return; /* the whole bucket as it is */
    for (uint32_t i = 0; i < z->nin_bucket; i++) {
        const struct vram_zero_place *place = &z->place[z->in_bucket[i]->param];
        uint64_t part = z->group[place->group].partition, at = place->from;
        uint64_t end = at + elements_of(z->in_bucket[i]);
        if (!z->contiguous)
            add_piece(&p, 0, end - at, false);
        for (uint64_t owner = at / part; z->contiguous && at < end; owner++) {
            uint64_t to = (owner + 1) * part < end ? (owner + 1) * part : end;
            add_piece(&p, owner, to - at, owner == p.last);
            at = to;
        }
    }
    reduce_pieces(&p);
}

/* reduce_ipg_grads */
static void flush(struct vram_strategy *s)
{
    struct vram_zero *z = s->own;
    s->m->scope = 0;
    reduce_bucket(s);
    for (uint32_t i = 0; i < z->nin_bucket; i++)
        keep_own(s, z->in_bucket[i]);
    z->nin_bucket = 0;
    z->filled = 0;
}

/* reduce_independent_p_g_buckets_and_remove_grads; what is larger than the bucket waits as it is */
static void reduce(struct vram_strategy *s, struct vram_handle *p)
{
    struct vram_zero *z = s->own;
    uint64_t n = elements_of(p);
    if (z->filled + n > z->bucket_size)
        flush(s);
    if (z->contiguous && n <= z->bucket_size)
        vram_let_go(s->m, &p->grad); /* it lives in the bucket now */
    z->filled += n;
    z->came[p->param] = true;
    z->in_bucket[z->nin_bucket++] = p;
}

static bool overlaps(const struct vram_strategy *s)
{
    return vram_plan_on(s->setup->plan, VRAM_KEY_ZERO_OVERLAP_COMM, false);
}

/* Stage 2 reduces in every backward, stage 1 in the step's last one: as gradients come when it
 * overlaps, else when all are there. */
void vram_zero_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g)
{
    struct vram_strategy *s = m->strategy;
    uint32_t scope = m->scope;
    uint16_t op = m->op;
    (void)g;
    if (leaf->param == VRAM_NO_PARAM || leaf->param >= m->tree->nparams)
        return;
    m->op = VRAM_OP_STRATEGY;
    setup_buckets(s);
    if (s->row->partitions_gradients || (overlaps(s) && last_micro(s)))
        reduce(s, leaf);
    m->scope = scope;
    m->op = op;
}

static uint64_t covered(const struct vram_zero *z, const struct vram_zero_group *g, uint32_t *pieces)
{
    uint64_t sum = 0;
    *pieces = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t n = piece_of(z, g, i);
        sum += n;
        *pieces += n > 0;
    }
    return sum;
}

/* Without the partition's buffer each gradient of the rank is kept as it came; one that did not come
 * is made of zeros.  What is there already takes the new one up: *later, which holds it until then. */
static void keep_each(struct vram_strategy *s, const struct vram_zero_group *g, struct vram_handle **later)
{
    struct vram_zero *z = s->own;
    for (uint32_t i = 0; i < g->n; i++) {
        struct vram_handle *p = g->params[i], *new = NULL, **kept = &z->kept_each[p->param];
        s->m->scope = s->m->tree->params[p->param].scope;
        if (z->mine[p->param] && !z->came[p->param])
            new = vram_new(s->m, p->shape, p->rank, s->setup->dtype, NULL);
        else if (z->mine[p->param] && !z->contiguous)
            new = vram_hold(p->grad);
        vram_let_go(s->m, &p->grad);
        z->came[p->param] = false;
        if (new && *kept)
            later[i] = new;
        else if (new)
            *kept = new;
        if (new)
            vram_set_category(s->m, new, VRAM_CAT_GRADIENT);
    }
    s->m->scope = 0;
}

static void drop_all(struct vram_machine *m, struct vram_handle **list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        vram_let_go(m, &list[i]);
}

/* Behind the last backward partitions that no parameter fills get zeros. */
static void fill_up(struct vram_strategy *s, struct vram_zero_group *g)
{
    uint32_t pieces;
    uint64_t n = covered(s->own, g, &pieces);
    if (n < g->partition && last_micro(s))
        g->padding = vram_shared_new(s->m, g->partition - n, s->setup->dtype, VRAM_CAT_GRADIENT,
                                     g->params, g->n);
}

/* independent_gradient_partition_epilogue: what this backward brought is kept, or added to what the
 * step already has. */
static void epilogue(struct vram_strategy *s)
{
    struct vram_zero *z = s->own;
    struct vram_machine *m = s->m;
    struct vram_handle **later[2];
    flush(s);
    for (uint32_t i = 0; vram_offloads(s) && i < s->n; i++)
        vram_let_go(m, &s->params[i]->grad);
    for (int i = 0; vram_offloads(s) && i < 2; i++)
        vram_let_go(m, &z->ipg[i]);
    if (vram_offloads(s))
        return;
    if (!z->kept)
        z->kept = vram_hold(z->own);
    for (int g = 0; g < 2; g++) {
        later[g] = vram_machine_alloc(m, z->group[g].n ? z->group[g].n : 1, sizeof *later[g]);
        keep_each(s, &z->group[g], later[g]);
        if (g)
            drop_all(m, later[0], z->group[0].n);
        fill_up(s, &z->group[g]);
    }
    for (int i = 0; i < 2; i++)
        vram_let_go(m, &z->ipg[i]);
    vram_let_go(m, &z->own);
    drop_all(m, later[1], z->group[1].n);
}

void vram_zero_backward_end(struct vram_strategy *s)
{
    s->m->op = VRAM_OP_STRATEGY;
    if (s->row->partitions_gradients)
        epilogue(s);
}

/* Stage 1 at the end of the step's last backward. */
bool vram_zero_synchronises(const struct vram_strategy *s)
{
    return !s->row->partitions_gradients;
}

void vram_zero_synchronise(struct vram_strategy *s)
{
    struct vram_zero *z = s->own;
    for (int g = 0; g < 2 && !overlaps(s); g++)
        for (uint32_t i = 0; i < z->group[g].n; i++)
            if (z->group[g].params[i]->grad)
                reduce(s, z->group[g].params[i]);
    epilogue(s);
}

/* ---- step --------------------------------------------------------------------------------- */

static void norm(struct vram_strategy *s, const struct vram_zero_group *g)
{
    struct vram_zero_piece *pieces = vram_machine_alloc(s->m, g->n ? g->n : 1, sizeof *pieces);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t elements = piece_of(s->own, g, i);
        if (elements)
            pieces[n++] = (struct vram_zero_piece){g->params[i]->param, elements};
    }
    vram_zero_norm(s, pieces, n);
}

/* The gradients of a group's partition are let go; with the last group their buffer. */
static void forget(struct vram_strategy *s, struct vram_zero_group *g, bool last)
{
    struct vram_zero *z = s->own;
    vram_let_go(s->m, &g->padding);
    for (uint32_t i = 0; i < g->n; i++)
        vram_let_go(s->m, &z->kept_each[g->params[i]->param]);
    if (last)
        vram_let_go(s->m, &z->kept);
}

/* Joined (a single piece is used where it lies), raised to fp32, stepped on. */
static void step_group(struct vram_strategy *s, struct vram_zero_group *g, int which, bool last)
{
    struct vram_machine *m = s->m;
    uint32_t pieces;
    struct vram_handle *flat = NULL;
    covered(s->own, g, &pieces);
    if (pieces + (g->padding != NULL) > 1)
        flat = vram_shared_new(m, g->partition, s->setup->dtype, VRAM_CAT_GRADIENT, g->params, g->n);
    g->master.grad = flat;
    if (s->setup->dtype != VRAM_DT_F32) {
        g->master.grad =
            vram_shared_new(m, g->partition, VRAM_DT_F32, VRAM_CAT_GRADIENT, g->params, g->n);
        vram_drop(m, flat);
    }
    if (g->master.grad)
        forget(s, g, last);
    vram_zero_update(s, &g->master, which == s->optimizer->decayed);
    vram_let_go(m, &g->master.grad);
    forget(s, g, last);
}

void vram_zero_step(struct vram_strategy *s)
{
    struct vram_machine *m = s->m;
    struct vram_zero *z = s->own;
    m->op = VRAM_OP_STRATEGY;
    if (vram_offloads(s)) {
        drop_all(m, z->norms, m->tree->nparams);
        vram_offload_step(s, z->group[0].partition + z->group[1].partition);
        return;
    }
    if (s->optimizer->row->no_step) {
        for (int g = 0; g < 2; g++)
            forget(s, &z->group[g], true);
        return;
    }
    for (int g = 0; g < 2; g++)
        norm(s, &z->group[g]);
    m->scope = 0;
    for (int g = 0; g < 2; g++)
        if (z->group[g].n)
            step_group(s, &z->group[g], g, g == 1 || !z->group[1].n);
    m->op = VRAM_OP_LOOP;
}
