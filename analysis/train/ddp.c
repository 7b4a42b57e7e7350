/* SPDX-License-Identifier: Apache-2.0
 *
 * DistributedDataParallel (torch 2.9): weights are broadcast in chunks at the start; gradients are
 * copied into buckets, which stay.  The first buckets hold everything of a dtype; after the first
 * backward they are rebuilt in the order in which gradients came.
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
    uint32_t *bucket_of;          /* by position in strategy.params */
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
                d->buckets[d->nbuckets++].flat = vram_shared_new(
                    s->m, elements, (enum vram_dtype)dtype, VRAM_CAT_GRADIENT, in, k);
                bytes = elements = k = 0;
                cap = limit;
            }
        }
    }
}

void vram_ddp_init(struct vram_strategy *s)
{
    struct vram_machine *m = s->m;
    struct ddp *d = vram_machine_alloc(m, 1, sizeof *d);
    uint64_t all = 0;
    s->own = d;
    d->order = vram_machine_alloc(m, s->n ? s->n : 1, sizeof(struct vram_handle *));
    d->buckets = vram_machine_alloc(m, (size_t)s->n + VRAM_DT_COUNT, sizeof *d->buckets);
    d->views = vram_plan_on(s->setup->plan, VRAM_KEY_DDP_GRADIENT_AS_BUCKET_VIEW, false);
    for (uint32_t i = 0; i < m->tree->nparams; i++)
        if (m->params[i])
            all += bytes_of(m->params[i]);
    int64_t chunk[1] = {(int64_t)(all < BROADCAST_CHUNK ? all : BROADCAST_CHUNK)};
    m->scope = 0;
    vram_drop(m, vram_new(m, chunk, 1, VRAM_DT_U8, NULL));
    make_buckets(s, s->params, s->n, UINT64_MAX, UINT64_MAX);
}

/* Behind the first backward, when the next forward begins. */
void vram_ddp_forward_begin(struct vram_strategy *s)
{
    struct ddp *d = s->own;
    if (d->rebuilt || !d->norder)
        return;
    d->rebuilt = true;
    drop_buckets(s);
    make_buckets(s, d->order, d->norder,
                 (uint64_t)vram_plan_int(s->setup->plan, VRAM_KEY_DDP_FIRST_BUCKET_CAP),
                 (uint64_t)vram_plan_int(s->setup->plan, VRAM_KEY_DDP_BUCKET_CAP));
}

/* With views the gradient is the bucket's own memory. */
void vram_ddp_accumulated(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g)
{
    struct vram_strategy *s = m->strategy;
    struct ddp *d = s->own;
    (void)g;
    if (leaf->param == VRAM_NO_PARAM)
        return;
    if (!d->rebuilt && s->micro == 0 && d->norder < s->n)
        d->order[d->norder++] = leaf;
    if (d->views && leaf->grad) {
        struct vram_handle *flat = d->buckets[0].flat;
        struct vram_handle *view =
            vram_alias(m, flat, leaf->shape, leaf->stride, leaf->rank, false);
        vram_drop(m, leaf->grad);
        leaf->grad = view;
    }
}
