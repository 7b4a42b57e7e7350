/* SPDX-License-Identifier: Apache-2.0
 *
 * DistributedDataParallel (torch 2.9): weights are broadcast in chunks at the start; gradients are
 * copied into buckets, which stay.  The first buckets hold everything of a dtype; after the first
 * step they are rebuilt in the order in which gradients came.  All of it happens in the last backward
 * of a step: the others run under no_sync.
 */
#include <string.h>

#include "train/strategy.h"

enum { BROADCAST_CHUNK = 250 << 20 };

struct bucket {
    struct vram_handle *flat;
};

struct ddp {
    struct vram_handle **order;   /* parameters as their gradients came in the first backward */
    uint32_t norder;
    struct bucket *buckets;
    uint32_t nbuckets;
    struct vram_handle **flat_of; /* by parameter of the tree: the bucket it is in (not owned) */
    bool rebuilt;
    bool views;                   /* gradient_as_bucket_view */
};

static uint64_t bytes_of(const struct vram_handle *p)
{
    uint64_t bytes = 0;
    vram_dtype_bytes((enum vram_dtype)p->dtype, (uint64_t)vram_numel(p), &bytes);
    return bytes;
}

static void drop_buckets(struct vram_strategy *s)
{
    struct ddp *d = s->own;
    for (uint32_t i = 0; i < d->nbuckets; i++)
        vram_let_go(s->m, &d->buckets[i].flat);
    d->nbuckets = 0;
}

/* Buckets of at most `limit` bytes (the first one `first`), one dtype each; a larger parameter has
 * one of its own. */
static void make_buckets(struct vram_strategy *s, struct vram_handle **params, uint32_t n,
                         uint64_t first, uint64_t limit)
{
    struct ddp *d = s->own;
    struct vram_handle **in = vram_machine_alloc(s->m, n ? n : 1, sizeof(struct vram_handle *));
    for (int dtype = 1; dtype < VRAM_DT_COUNT; dtype++) {
        uint64_t bytes = 0, elements = 0, cap = first;
        uint32_t k = 0;
        for (uint32_t i = 0; i <= n; i++) {
            bool mine = i < n && params[i]->dtype == dtype;
            if (mine) {
                in[k++] = params[i];
                bytes += bytes_of(params[i]);
                elements += (uint64_t)vram_numel(params[i]);
            }
            if (k && (bytes >= cap || i == n)) { /* closed once it has reached its limit */
                s->m->scope = 0;
                struct vram_handle *flat = vram_shared_new(
                    s->m, elements, (enum vram_dtype)dtype, VRAM_CAT_GRADIENT, in, k);
                d->buckets[d->nbuckets++].flat = flat;
                while (k)
                    d->flat_of[in[--k]->param] = flat;
                bytes = elements = 0;
                cap = limit;
            }
        }
    }
}

/* _broadcast_coalesced: parameters, then buffers, joined by dtype until a chunk is full; two chunks are
 * on their way at a time.  Chunks go in the order of their first tensors. */
static void broadcast(struct vram_machine *m)
{
    uint64_t filled[VRAM_DT_COUNT] = {0};
    uint32_t n = m->tree->nparams, first[VRAM_DT_COUNT] = {0};
    uint64_t *chunk = vram_machine_alloc(m, 2 * (size_t)n, sizeof *chunk); /* by first tensor */
    for (uint32_t i = 0; i < 2 * n; i++) {
        const struct vram_handle *x = m->params[i % n];
        if (!x || m->tree->params[i % n].buffer != (i >= n) || x->param != i % n)
            continue;
        if (!filled[x->dtype])
            first[x->dtype] = i;
        filled[x->dtype] += bytes_of(x);
        chunk[first[x->dtype]] = filled[x->dtype];
        if (filled[x->dtype] >= BROADCAST_CHUNK)
            filled[x->dtype] = 0;
    }
    struct vram_handle *going[2] = {NULL, NULL};
    for (uint32_t i = 0, k = 0; i < 2 * n; i++) {
        if (!chunk[i])
            continue;
        int64_t shape[1] = {(int64_t)chunk[i]};
        vram_let_go(m, &going[k % 2]);
        going[k++ % 2] = vram_new(m, shape, 1, VRAM_DT_U8, NULL);
    }
    vram_let_go(m, &going[0]);
    vram_let_go(m, &going[1]);
}

void vram_ddp_init(struct vram_strategy *s)
{
    struct vram_machine *m = s->m;
    struct ddp *d = vram_machine_alloc(m, 1, sizeof *d);
    s->own = d;
    d->order = vram_machine_alloc(m, s->n ? s->n : 1, sizeof(struct vram_handle *));
    d->buckets = vram_machine_alloc(m, (size_t)s->n + VRAM_DT_COUNT, sizeof *d->buckets);
    d->views = vram_plan_on(s->setup->plan, VRAM_KEY_DDP_GRADIENT_AS_BUCKET_VIEW, false);
    d->flat_of = vram_machine_alloc(m, m->tree->nparams, sizeof(struct vram_handle *));
    m->scope = 0;
    broadcast(m);
    make_buckets(s, s->params, s->n, UINT64_MAX, UINT64_MAX);
}

/* Behind the first backward, when the next forward begins. */
void vram_ddp_forward_begin(struct vram_strategy *s)
{
    struct ddp *d = s->own;
    const struct vram_plan *plan = s->setup->plan;
    uint64_t limit = (uint64_t)vram_plan_int(plan, VRAM_KEY_DDP_BUCKET_CAP);
    uint64_t first = (uint64_t)vram_plan_int(plan, VRAM_KEY_DDP_FIRST_BUCKET_CAP);
    if (d->rebuilt || !d->norder)
        return;
    /* the small first bucket is there only as long as nobody asks for a size */
    if (vram_plan_given(plan, VRAM_KEY_DDP_BUCKET_CAP) &&
        !vram_plan_given(plan, VRAM_KEY_DDP_FIRST_BUCKET_CAP))
        first = limit;
    d->rebuilt = true;
    uint16_t op = s->m->op;
    s->m->op = VRAM_OP_STRATEGY;
    drop_buckets(s);
    make_buckets(s, d->order, d->norder, first, limit);
    s->m->op = op;
}

/* With views the gradient is the bucket's own memory. */
void vram_ddp_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g)
{
    struct vram_strategy *s = m->strategy;
    struct ddp *d = s->own;
    (void)g;
    if (leaf->param == VRAM_NO_PARAM || s->micro + 1 != (uint64_t)s->setup->accumulation)
        return;
    if (!d->rebuilt && d->norder < s->n)
        d->order[d->norder++] = leaf;
    if (d->views && leaf->grad) {
        struct vram_handle *flat = d->flat_of[leaf->param];
        struct vram_handle *view =
            vram_alias(m, flat, leaf->shape, leaf->stride, leaf->rank, false);
        vram_drop(m, leaf->grad);
        leaf->grad = view;
    }
}
