/* SPDX-License-Identifier: Apache-2.0
 *
 * How FSDP1 cuts a model: FlatParamHandle of torch 2.9 (distributed/fsdp/_flat_param.py), wrapped
 * as accelerate 1.15 does it (accelerator.py prepare_model).
 */
#include <stdlib.h>
#include <string.h>

#include "train/fsdp1.h"

/* Where each parameter lies: at 16 bytes of the compute dtype with pieces, and a multiple of the
 * ranks in all. */
static void lay_out(struct vram_machine *m, struct vram_fsdp1 *f, struct vram_flat *h)
{
    uint64_t size = 1, aligned, at = 0;
    vram_dtype_bytes((enum vram_dtype)h->flat->dtype, 1, &size);
    aligned = f->pieces && size < 16 ? 16 / size : 1;
    h->padding = vram_machine_alloc(m, (size_t)h->unit->n + 1, sizeof *h->padding);
    for (uint32_t i = 0; i < h->unit->n; i++) {
        h->padding[i] = (aligned - at % aligned) % aligned;
        at += h->padding[i];
        f->piece[h->unit->params[i]].offset = at;
        at += (uint64_t)vram_numel(m->params[h->unit->params[i]]);
    }
    if (f->pieces)
        h->padding[h->unit->n] = (f->ranks - at % f->ranks) % f->ranks;
    h->elements = at + h->padding[h->unit->n];
    h->shard = (h->elements + f->ranks - 1) / f->ranks;
}

/* Elements of a parameter in a rank's shard. */
static uint64_t in_shard(struct vram_machine *m, const struct vram_fsdp1 *f,
                         const struct vram_flat *h, uint32_t p, uint64_t rank)
{
    uint64_t from = rank * h->shard, to = from + h->shard;
    uint64_t a = f->piece[p].offset, b = a + (uint64_t)vram_numel(m->params[p]);
    a = a > from ? a : from;
    b = b < to ? b : to;
    return b > a ? b - a : 0;
}

static void choose_rank(struct vram_machine *m, struct vram_fsdp1 *f)
{
    uint64_t best = 0;
    for (uint64_t r = 0; r < f->ranks && r < 4096; r++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < f->units.list.n; i++)
            for (uint32_t k = 0; f->handles[i].trains && k < f->handles[i].unit->n; k++)
                sum += in_shard(m, f, &f->handles[i], f->handles[i].unit->params[k], r);
        if (sum > best) {
            best = sum;
            f->rank = r;
        }
    }
}

/* The unit comes to the card, is joined (padding is made for it), the shard is cloned, the joined
 * and the loose ones go. */
static void shard_unit(struct vram_machine *m, struct vram_flat *h)
{
    uint32_t n = h->unit->n, made = 0;
    struct vram_handle **loose = vram_machine_alloc(m, 2 * (size_t)n + 1, sizeof *loose);
    for (uint32_t i = 0; i < n; i++) {
        struct vram_handle *x = m->params[h->unit->params[i]];
        m->op = VRAM_OP_LOAD;
        m->scope = m->tree->params[h->unit->params[i]].scope;
        loose[made] = vram_new(m, x->shape, x->rank, h->loaded, NULL);
        vram_set_category(m, loose[made++], VRAM_CAT_PARAMETER);
    }
    m->op = VRAM_OP_STRATEGY;
    m->scope = h->unit->scopes[0];
    for (uint32_t i = 0; i <= n; i++)
        if (h->padding[i])
            loose[made++] = vram_flat_new(m, h->padding[i], h->loaded);
    struct vram_handle *joined = vram_flat_shared(m, h, h->elements, h->loaded, VRAM_CAT_PARAMETER);
    h->own = vram_flat_shared(m, h, h->shard, h->loaded, VRAM_CAT_PARAMETER);
    vram_drop(m, joined);
    while (made)
        vram_drop(m, loose[--made]);
}

/* Wrapped from the inside out. */
static void wrap(struct vram_machine *m, struct vram_fsdp1 *f, uint32_t scope)
{
    const struct vram_scope *scopes = m->tree->scopes;
    for (uint32_t c = scope + 1; c < scopes[scope].end; c = scopes[c].end)
        wrap(m, f, c);
    if (f->units.of_scope[scope] && f->handles[f->units.of_scope[scope] - 1].unit->n)
        shard_unit(m, &f->handles[f->units.of_scope[scope] - 1]);
}

/* accelerate raises what trains where compute is mixed. */
static void raise_shard(struct vram_machine *m, const struct vram_fsdp1 *f, struct vram_flat *h)
{
    if (!f->compute || !h->trains || !h->own || h->own->dtype == VRAM_DT_F32)
        return;
    struct vram_handle *raised = vram_flat_shared(m, h, h->shard, VRAM_DT_F32, VRAM_CAT_PARAMETER);
    vram_drop(m, h->own);
    h->own = raised;
}

static struct vram_handle *piece_new(struct vram_machine *m, const struct vram_flat *h,
                                     uint64_t elements)
{
    int64_t shape[1] = {(int64_t)elements};
    struct vram_handle *x = vram_blank(m, shape, 1, (enum vram_dtype)h->own->dtype);
    x->leaf = x->requires_grad = true;
    return x;
}

/* What the optimizer steps on: the pieces of parameters, in their groups, or the shards. */
static void give_to_optimizer(struct vram_strategy *s, struct vram_fsdp1 *f)
{
    struct vram_optimizer *o = s->optimizer;
    if (!f->pieces) {
        o->n[0] = o->n[1] = 0;
        vram_optimizer_flats(o, (uint32_t)f->units.list.n);
        for (size_t i = 0; i < f->units.list.n; i++) {
            struct vram_flat *h = &f->handles[i];
            if (!h->trains)
                continue;
            h->own->requires_grad = h->own->leaf = true;
            vram_zero_master(s, h->own, (uint32_t)i);
            o->params[0][o->n[0]++] = h->own;
        }
        return;
    }
    for (int g = 0; g < 2; g++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < o->n[g]; i++) {
            uint32_t p = o->params[g][i]->param;
            for (size_t k = 0; k < f->units.list.n; k++) /* its unit has given it an offset */
                for (uint32_t q = 0; q < f->handles[k].unit->n; q++) {
                    uint64_t mine = in_shard(s->m, f, &f->handles[k], p, f->rank);
                    if (f->handles[k].unit->params[q] != p || !mine)
                        continue;
                    f->piece[p].own = piece_new(s->m, &f->handles[k], mine);
                    f->piece[p].own->param = p;
                    o->params[g][n++] = f->piece[p].own;
                }
        }
        o->n[g] = n;
    }
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void make_handles(struct vram_strategy *s, struct vram_fsdp1 *f)
{
    struct vram_machine *m = s->m;
    uint32_t root = 0;
    vram_units_init(&f->units, s);
    for (uint32_t i = 0; i < s->setup->ntrain; i++)
        f->units.adapters = f->units.adapters || s->setup->train[i] == VRAM_TRAIN_LORA;
    vram_units_add(&f->units, &root, 1, false);
    vram_units_layers(&f->units);
    vram_units_fill(&f->units);
    f->handles = vram_machine_alloc(m, f->units.list.n, sizeof *f->handles);
    f->piece = vram_machine_alloc(m, m->tree->nparams, sizeof *f->piece);
    for (size_t i = 0; i < f->units.list.n; i++) {
        struct vram_flat *h = &f->handles[i];
        h->unit = &f->units.list.at[i];
        h->place = -1;
        if (h->unit->n) /* as modules are registered */
            qsort(h->unit->params, h->unit->n, sizeof *h->unit->params, ascending);
        for (uint32_t k = 0; k < h->unit->n; k++)
            h->trains = h->trains || m->params[h->unit->params[k]]->requires_grad;
        int64_t none[1] = {0};
        if (h->unit->n)
            h->loaded = (enum vram_dtype)m->params[h->unit->params[0]]->dtype;
        h->flat = vram_blank(m, none, 1, f->compute ? f->compute : h->loaded);
        lay_out(m, f, h);
        h->flat->shape[0] = (int64_t)h->elements;
        h->flat->leaf = true;
        h->flat->requires_grad = h->trains;
    }
}

void vram_fsdp1_init(struct vram_strategy *s)
{
    struct vram_machine *m = s->m;
    struct vram_fsdp1 *f = vram_machine_alloc(m, 1, sizeof *f);
    const char *sent = vram_plan_text(s->setup->plan, VRAM_KEY_FSDP_REDUCE_DTYPE);
    s->own = f;
    f->ranks = (uint64_t)s->setup->ranks;
    f->pieces = vram_plan_on(s->setup->plan, VRAM_KEY_FSDP_USE_ORIG_PARAMS, true);
    f->compute = m->hooked_dtype = s->setup->autocast;
    f->sent = *sent ? vram_dtype_by_name(sent) : VRAM_DT_NONE;
    make_handles(s, f);
    choose_rank(m, f);
    s->rank = f->rank;
    wrap(m, f, 0);
    for (size_t i = 0; i < f->units.list.n; i++)
        raise_shard(m, f, &f->handles[i]);
    for (uint32_t p = 0; f->compute && p < m->tree->nparams; p++)
        if (m->params[p] && !m->tree->params[p].buffer)
            m->params[p]->dtype = (uint8_t)f->compute;
    give_to_optimizer(s, f);
    m->scope = 0;
}
