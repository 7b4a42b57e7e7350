/* SPDX-License-Identifier: Apache-2.0
 *
 * How ZeRO 1 and 2 begin (DeepSpeed 0.19.6, runtime/zero/stage_1_and_2.py __init__): groups are
 * made flat, a rank's partition is cloned and raised, on the card or on the host.
 */
#include "base/math.h"
#include "train/zero.h"

static uint64_t elements_of(const struct vram_handle *p) { return (uint64_t)vram_numel(p); }

/* ---- partitions --------------------------------------------------------------------------- */

/* Elements of the parameters that a rank's slice of a group touches. */
static uint64_t touched(const struct vram_zero_group *g, uint64_t rank, bool *mine)
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

static void choose_rank(struct vram_strategy *s, struct vram_zero *z)
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
    s->rank = z->rank;
    z->mine = vram_machine_alloc(s->m, s->m->tree->nparams, sizeof *z->mine);
    z->mine_elements =
        touched(&z->group[0], z->rank, z->mine) + touched(&z->group[1], z->rank, z->mine);
}

/* ---- init --------------------------------------------------------------------------------- */

static void flatten(struct vram_strategy *s, struct vram_zero_group *g)
{
    struct vram_machine *m = s->m;
    uint64_t usable = s->setup->gpu ? s->setup->gpu->usable_bytes : UINT64_MAX, bytes = 0;
    enum vram_dtype dtype = (enum vram_dtype)g->params[0]->dtype;
    uint64_t own = 0;
    for (uint32_t i = 0; i < g->n; i++)
        own += elements_of(g->params[i]);
    if (g->n == 1 && g->elements == own)
        return; /* one tensor without padding is flat already */
    vram_dtype_bytes(dtype, g->elements, &bytes);
    /* built on the card when it has room for both copies, else by way of host memory */
    vram_empty_cache(m);
    bool room = m->live <= usable && usable - m->live >= bytes;
    if (room) {
        int64_t padding[1] = {(int64_t)(g->elements - own)};
        struct vram_handle *zeros = vram_new(m, padding, 1, dtype, NULL);
        g->flat = vram_shared_new(m, g->elements, dtype, VRAM_CAT_PARAMETER, g->params, g->n);
        vram_drop(m, zeros);
    }
    for (uint32_t i = 0; i < g->n && !room; i++)
        vram_storage_move(m, g->params[i], NULL);
    if (!room)
        vram_empty_cache(m);
    if (!room)
        g->flat = vram_shared_new(m, g->elements, dtype, VRAM_CAT_PARAMETER, g->params, g->n);
    for (uint32_t i = 0; i < g->n; i++)
        vram_storage_move(m, g->params[i], g->flat);
}

/* The rank's partition is cloned, then raised: fp32 weights need no second copy.  A host has its
 * fp32 copy and the 16-bit one that is sent back, both pinned. */
static struct vram_handle *master_of(struct vram_strategy *s, const struct vram_zero_group *g)
{
    struct vram_machine *m = s->m;
    struct vram_handle *clone = NULL, *master;
    uint64_t bytes = 0;
    if (s->setup->dtype != VRAM_DT_F32 || vram_offloads(s))
        clone =
            vram_shared_new(m, g->partition, s->setup->dtype, VRAM_CAT_TEMPORARY, g->params, g->n);
    if (vram_offloads(s)) {
        int64_t shape[1] = {(int64_t)g->partition};
        vram_dtype_bytes(s->setup->dtype, g->partition, &bytes);
        vram_host_pin(s, 4 * g->partition);
        vram_host_pin(s, bytes);
        master = vram_blank(m, shape, 1, VRAM_DT_F32);
    } else {
        master = vram_shared_new(m, g->partition, VRAM_DT_F32, VRAM_CAT_OPTIMIZER, g->params, g->n);
    }
    vram_drop(m, clone);
    return master;
}

static void init_group(struct vram_strategy *s, struct vram_zero *z, int which)
{
    struct vram_zero_group *g = &z->group[which];
    uint64_t align = 2 * (uint64_t)s->setup->ranks;
    g->params = s->optimizer->params[which];
    g->n = s->optimizer->n[which];
    for (uint32_t i = 0; i < g->n; i++) {
        z->place[g->params[i]->param] = (struct vram_zero_place){(uint8_t)which, g->elements};
        g->elements += elements_of(g->params[i]);
    }
    g->elements = vram_round_up(g->elements, align);
    g->partition = g->elements / (uint64_t)s->setup->ranks;
    if (!g->n)
        return;
    flatten(s, g);
    struct vram_handle *master = master_of(s, g);
    g->master = *master;
    vram_zero_master(s, &g->master, (uint32_t)which);
}

/* Staging as large as the largest parameter, here and on the host; fp32 gradients stay there. */
static void start_offload(struct vram_strategy *s)
{
    struct vram_zero *z = s->own;
    uint64_t most = 0, bytes = 0;
    for (uint32_t i = 0; i < s->n; i++)
        most = elements_of(s->params[i]) > most ? elements_of(s->params[i]) : most;
    int64_t shape[1] = {(int64_t)most};
    z->norms = vram_machine_alloc(s->m, s->m->tree->nparams, sizeof *z->norms);
    z->on_host = vram_machine_alloc(s->m, s->m->tree->nparams, sizeof *z->on_host);
    vram_dtype_bytes(s->setup->dtype, most, &bytes);
    vram_host_pin(s, bytes);
    z->staging = vram_new(s->m, shape, 1, s->setup->dtype, NULL);
    for (int g = 0; g < 2; g++)
        vram_host_pin(s, 4 * z->group[g].partition);
}

void vram_zero_init(struct vram_strategy *s)
{
    struct vram_machine *m = s->m;
    struct vram_zero *z = vram_machine_alloc(m, 1, sizeof *z);
    struct vram_handle *zeros[2] = {NULL, NULL};
    s->own = z;
    m->scope = 0;
    z->bucket_size = vram_zero_elements(s, VRAM_KEY_ZERO_REDUCE_BUCKET_SIZE);
    z->in_bucket = vram_machine_alloc(m, s->n ? s->n : 1, sizeof(struct vram_handle *));
    z->place = vram_machine_alloc(m, m->tree->nparams, sizeof *z->place);
    z->kept_each = vram_machine_alloc(m, m->tree->nparams, sizeof(struct vram_handle *));
    z->came = vram_machine_alloc(m, m->tree->nparams, sizeof *z->came);
    z->contiguous =
        vram_offloads(s) || vram_plan_on(s->setup->plan, VRAM_KEY_ZERO_CONTIGUOUS_GRADIENTS, true);
    z->scatter = vram_plan_on(s->setup->plan, VRAM_KEY_ZERO_REDUCE_SCATTER, true);
    for (int g = 0; g < 2; g++)
        init_group(s, z, g);
    choose_rank(s, z);
    if (vram_offloads(s)) {
        start_offload(s);
        return;
    }
    /* initialize_optimizer_states: zero gradients of all groups at once, then dropped */
    for (int g = 0; g < 2; g++)
        if (z->group[g].n)
            zeros[g] = vram_shared_new(m, z->group[g].partition, VRAM_DT_F32, VRAM_CAT_GRADIENT,
                                       z->group[g].params, z->group[g].n);
    vram_drop(m, zeros[0]);
    vram_drop(m, zeros[1]);
}
