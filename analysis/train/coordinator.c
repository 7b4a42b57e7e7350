/* SPDX-License-Identifier: Apache-2.0
 *
 * When ZeRO 3 gathers parameters and lets them go (DeepSpeed 0.19.6,
 * runtime/zero/partitioned_param_coordinator.py, partition_parameters.py, parameter_offload.py).
 *
 * The first forward and backward are recorded: every module fetches its own parameters as it begins
 * and releases them as it ends.  From then on the recorded order says what comes next: parameters
 * are fetched ahead, and stay when they are used again soon.
 */
#include <stdlib.h>
#include <string.h>

#include "train/zero3.h"

static struct vram_coordinator *coordinator_of(struct vram_machine *m)
{
    struct vram_strategy *s = m->strategy;
    return s->own; /* the first member of ZeRO 3's state */
}

static uint64_t elements_of(const struct vram_coordinator *c, uint32_t p)
{
    return c->s->m->tree->params[p].elements;
}

/* ---- sets --------------------------------------------------------------------------------- */

static void push(struct vram_coordinator *c, struct vram_set *set, uint32_t x)
{
    if (!vram_vec_push(set, c->s->m->cx->arena, x))
        vram_throw_memory(c->s->m);
}

static void add(struct vram_coordinator *c, struct vram_set *set, uint32_t x)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i] == x)
            return;
    push(c, set, x);
}

static void discard(struct vram_set *set, uint32_t x)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i] == x) {
            memmove(set->at + i, set->at + i + 1, (--set->n - i) * sizeof *set->at);
            return;
        }
}

/* ---- gather ------------------------------------------------------------------------------- */

/* The whole parameter comes in a tensor of `elements`; on a single rank the shard is the parameter.
 */
static void come(struct vram_coordinator *c, uint32_t p, uint64_t elements)
{
    struct vram_machine *m = c->s->m;
    int64_t shape[1] = {(int64_t)elements};
    m->scope = m->tree->params[p].scope;
    struct vram_handle *x = c->ranks == 1 && !c->from_host
                                ? vram_hold(c->shard[p].own)
                                : vram_new(m, shape, 1, (enum vram_dtype)m->params[p]->dtype, NULL);
    vram_set_category(m, x, VRAM_CAT_PARAMETER);
    if ((c->ranks > 1 || c->from_host) && x->storage)
        m->events->storages[x->storage->id].param = p;
    vram_storage_move(m, m->params[p], x);
    vram_drop(m, x);
}

static void leave(struct vram_coordinator *c, uint32_t p)
{
    vram_storage_move(c->s->m, c->s->m->params[p], NULL);
    c->shard[p].here = false;
}

/* offload=params: the rank's own shards come from the host for the gather. */
static void bring(struct vram_coordinator *c, const uint32_t *params, uint32_t n)
{
    struct vram_machine *m = c->s->m;
    struct vram_handle **own = vram_machine_alloc(m, n, sizeof *own);
    for (uint32_t i = 0; c->from_host && i < n; i++) {
        int64_t shape[1] = {(int64_t)c->shard[params[i]].elements};
        own[i] = vram_new(m, shape, 1, (enum vram_dtype)m->params[params[i]]->dtype, NULL);
    }
    for (uint32_t i = 0; i < n; i++)
        vram_drop(m, own[i]);
}

/* The parameter alone, where it stays. */
static void come_alone(struct vram_coordinator *c, uint32_t p)
{
    come(c, p, c->shard[p].elements * c->ranks);
    if (c->ranks > 1)
        bring(c, &p, 1);
}

/* One tensor for the shards of all ranks; a parameter alone is gathered where it stays. */
static void gather_type(struct vram_coordinator *c, const uint32_t *params, uint32_t n,
                        enum vram_dtype dtype)
{
    struct vram_machine *m = c->s->m;
    struct vram_gather *g = vram_machine_alloc(m, 1, sizeof *g);
    int64_t shape[1] = {0};
    g->params = vram_machine_alloc(m, n, sizeof *g->params);
    for (uint32_t i = 0; i < n; i++)
        if (m->params[params[i]]->dtype == dtype) {
            shape[0] += (int64_t)(c->shard[params[i]].elements * c->ranks);
            c->shard[params[i]].gather = g;
            g->params[g->n++] = params[i];
        }
    m->scope = m->tree->params[g->params[0]].scope;
    g->held = g->n;
    g->flat = vram_new(m, shape, 1, dtype, NULL);
    bring(c, g->params, g->n);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* __all_gather_params: in the order of the tree */
static void gather(struct vram_coordinator *c, struct vram_set *set)
{
    struct vram_machine *m = c->s->m;
    uint32_t *params = set->at, n = (uint32_t)set->n;
    uint8_t stream = m->stream;
    if (n)
        qsort(params, n, sizeof *params, ascending);
    m->stream = c->overlaps ? VRAM_STREAM_GATHER : 0;
    for (uint32_t i = 0; i < n; i++) {
        c->available += elements_of(c, params[i]);
        c->shard[params[i]].in_flight = true;
        c->shard[params[i]].gather = NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct vram_shard *d = &c->shard[params[i]];
        if (c->sequential || n == 1 || c->ranks == 1)
            come_alone(c, params[i]);
        else if (!d->gather)
            gather_type(c, params, n, (enum vram_dtype)m->params[params[i]]->dtype);
    }
    m->stream = stream;
}

/* Whoever waits first copies every parameter of the gather out of the flat tensor. */
static void wait(struct vram_coordinator *c, uint32_t p)
{
    struct vram_machine *m = c->s->m;
    struct vram_gather *g = c->shard[p].gather;
    uint8_t stream = m->stream;
    if (!c->shard[p].in_flight)
        return;
    c->shard[p].in_flight = false;
    if (!g) {
        c->shard[p].here = true;
        return;
    }
    m->stream = c->overlaps ? VRAM_STREAM_GATHER : 0;
    for (uint32_t i = 0; !g->complete && i < g->n; i++) {
        come(c, g->params[i], elements_of(c, g->params[i]));
        c->shard[g->params[i]].here = true;
    }
    m->stream = stream;
    g->complete = true;
    c->shard[p].gather = NULL;
    if (--g->held == 0)
        vram_let_go(m, &g->flat);
}

static void release(struct vram_coordinator *c, uint32_t p)
{
    if (!c->shard[p].here || c->shard[p].active.n)
        return;
    leave(c, p);
    c->available -= elements_of(c, p);
}

static bool is_away(const struct vram_shard *d)
{
    return d->partitioned && !d->here && !d->in_flight;
}

/* ---- fetch -------------------------------------------------------------------------------- */

/* Parameters of the module leave the queue: they need not be fetched ahead any more. */
static void pass_over(struct vram_coordinator *c, const struct vram_set *own)
{
    uint32_t wanted = 0;
    for (size_t i = 0; i < own->n; i++)
        wanted += c->shard[own->at[i]].fetched_for < c->step;
    for (; wanted && c->queue_at < c->queue.n; wanted--) {
        struct vram_trace_entry e = c->queue.at[c->queue_at++];
        c->shard[e.param].fetched_for = e.step;
    }
}

/* The next parameters of the trace that are away, up to the size of the prefetch bucket. */
static void prefetch(struct vram_coordinator *c)
{
    struct vram_set ahead = {0};
    uint64_t room = c->most > c->available ? c->most - c->available : 0, elements = 0;
    room = room < c->prefetch ? room : c->prefetch;
    while (c->queue_at < c->queue.n && elements < room) {
        struct vram_trace_entry e = c->queue.at[c->queue_at++];
        struct vram_shard *d = &c->shard[e.param];
        size_t before = ahead.n;
        d->fetched_for = e.step > d->fetched_for ? e.step : d->fetched_for;
        if (is_away(d))
            add(c, &ahead, e.param);
        if (ahead.n > before)
            elements += elements_of(c, e.param);
    }
    gather(c, &ahead);
}

static void fetch(struct vram_machine *m, uint32_t scope, bool forward)
{
    struct vram_coordinator *c = coordinator_of(m);
    struct vram_set *own = &c->params[scope], missing = {0};
    uint32_t at = m->scope;
    uint16_t op = m->op;
    m->op = VRAM_OP_STRATEGY;
    if (c->mode == VRAM_TRACE_RECORD)
        push(c, &c->order, scope);
    if (!forward)
        add(c, &c->backward, scope);
    for (size_t i = 0; i < own->n; i++)
        if (is_away(&c->shard[own->at[i]]))
            push(c, &missing, own->at[i]);
    gather(c, &missing);
    for (size_t i = 0; i < own->n; i++) {
        uint32_t p = own->at[i];
        add(c, &c->shard[p].active, scope);
        if (forward && m->backwards && c->backward.n && !m->params[p]->requires_grad) {
            uint32_t last = c->backward.at[c->backward.n - 1];
            add(c, &c->recomputed[last], p);
            add(c, &c->shard[p].active, last);
        }
        wait(c, p);
    }
    if (c->mode == VRAM_TRACE_COMPLETE) {
        pass_over(c, own);
        prefetch(c);
    }
    c->step++;
    m->scope = at;
    m->op = op;
}

/* ---- release ------------------------------------------------------------------------------ */

/* Does a complete trace use it again within the distance? */
static bool used_soon(const struct vram_coordinator *c, uint32_t p)
{
    uint64_t passed = 0;
    for (size_t i = (size_t)c->step; i < c->order.n && passed < c->reuse; i++) {
        const struct vram_set *next = &c->params[c->order.at[i]];
        for (size_t k = 0; k < next->n; k++) {
            if (next->at[k] == p)
                return true;
            passed += elements_of(c, next->at[k]);
        }
    }
    return false;
}

static bool stays(const struct vram_coordinator *c, uint32_t p)
{
    const struct vram_shard *d = &c->shard[p];
    return c->mode == VRAM_TRACE_COMPLETE &&
           (d->persistent || d->fetched_for > c->step || used_soon(c, p));
}

static void release_module(struct vram_machine *m, uint32_t scope, bool forward)
{
    struct vram_coordinator *c = coordinator_of(m);
    uint16_t op = m->op;
    m->op = VRAM_OP_STRATEGY;
    for (size_t i = 0; i < c->params[scope].n; i++) {
        uint32_t p = c->params[scope].at[i];
        discard(&c->shard[p].active, scope);
        if (!stays(c, p))
            release(c, p);
    }
    for (size_t i = 0; !forward && i < c->recomputed[scope].n; i++) {
        uint32_t p = c->recomputed[scope].at[i];
        discard(&c->shard[p].active, scope);
        if (!c->shard[p].persistent)
            release(c, p);
    }
    if (!forward) {
        c->recomputed[scope].n = 0;
        discard(&c->backward, scope);
    }
    m->op = op;
}

/* Code of one module reads another's parameter: it is gathered there and then, and from now on with
 * the reader's own (register_external_parameter). */
static void name_parameter(struct vram_machine *m, uint32_t p)
{
    struct vram_coordinator *c = coordinator_of(m);
    uint32_t at = m->scope;
    uint16_t op = m->op;
    if (c->mode == VRAM_TRACE_NONE || !is_away(&c->shard[p]))
        return;
    m->op = VRAM_OP_STRATEGY;
    add(c, &c->params[at], p);
    qsort(c->params[at].at, c->params[at].n, sizeof *c->params[at].at, ascending);
    come_alone(c, p);
    c->shard[p].here = true;
    m->scope = at;
    m->op = op;
}

static bool before_forward(struct vram_machine *m, uint32_t scope)
{
    if (scope == 0)
        vram_coordinator_reset(coordinator_of(m));
    fetch(m, scope, true);
    if (scope == 0 && coordinator_of(m)->wrapped)
        fetch(m, scope, true);
    return true;
}

static bool after_forward(struct vram_machine *m, uint32_t scope)
{
    release_module(m, scope, true);
    return true;
}

static void before_backward(struct vram_machine *m, uint32_t scope)
{
    fetch(m, scope, false);
    if (scope == 0 && coordinator_of(m)->wrapped)
        fetch(m, scope, false);
}

static void after_backward(struct vram_machine *m, uint32_t scope)
{
    release_module(m, scope, false);
}

const struct vram_module_hooks vram_coordinator_hooks = {.before_forward = before_forward,
                                                         .after_forward = after_forward,
                                                         .before_backward = before_backward,
                                                         .after_backward = after_backward,
                                                         .names = name_parameter};

void vram_coordinator_leftovers(struct vram_coordinator *c)
{
    while (c->backward.n) {
        uint32_t scope = c->backward.at[c->backward.n - 1];
        struct vram_set *more = &c->recomputed[scope];
        for (size_t i = 0; i < c->params[scope].n; i++)
            add(c, more, c->params[scope].at[i]);
        for (size_t i = 0; i < more->n; i++) {
            discard(&c->shard[more->at[i]].active, scope);
            if (!c->shard[more->at[i]].persistent)
                release(c, more->at[i]);
        }
        more->n = 0;
        c->backward.n--;
    }
}

/* ---- between iterations ------------------------------------------------------------------- */

static void complete_trace(struct vram_coordinator *c)
{
    c->mode = VRAM_TRACE_COMPLETE;
    for (size_t i = 0; i < c->order.n; i++)
        for (size_t k = 0; k < c->params[c->order.at[i]].n; k++) {
            struct vram_trace_entry e = {c->params[c->order.at[i]].at[k], (int64_t)i};
            if (!vram_vec_push(&c->queue, c->s->m->cx->arena, e))
                vram_throw_memory(c->s->m);
        }
}

void vram_coordinator_reset(struct vram_coordinator *c)
{
    uint32_t n = c->s->m->tree->nparams;
    uint16_t op = c->s->m->op;
    c->s->m->op = VRAM_OP_STRATEGY;
    for (uint32_t p = 0; p < n; p++)
        if (c->shard[p].in_flight) {
            wait(c, p);
            release(c, p);
        }
    if (c->mode == VRAM_TRACE_RECORD)
        complete_trace(c);
    else if (c->mode == VRAM_TRACE_NONE)
        c->mode = VRAM_TRACE_RECORD;
    for (uint32_t p = 0; p < n; p++)
        c->shard[p].fetched_for = -1;
    c->queue_at = 0;
    c->step = 0;
    c->available = 0;
    c->s->m->op = op;
}

void vram_coordinator_release_all(struct vram_coordinator *c)
{
    for (uint32_t p = 0; p < c->s->m->tree->nparams; p++) {
        wait(c, p);
        c->shard[p].active.n = 0;
        release(c, p);
    }
}

void vram_coordinator_visit(struct vram_coordinator *c, uint32_t p)
{
    struct vram_machine *m = c->s->m;
    int64_t shape[1] = {(int64_t)(c->shard[p].elements * c->ranks)};
    m->scope = m->tree->params[p].scope;
    vram_drop(m, vram_new(m, shape, 1, (enum vram_dtype)m->params[p]->dtype, NULL));
}

void vram_coordinator_persist(struct vram_coordinator *c)
{
    for (uint32_t p = 0; p < c->s->m->tree->nparams; p++)
        if (c->shard[p].persistent && is_away(&c->shard[p])) {
            come_alone(c, p);
            c->shard[p].here = true;
        }
}

/* ---- start -------------------------------------------------------------------------------- */

/* Own parameters of every module: a tied one belongs to each that has it. */
static void list_parameters(struct vram_coordinator *c)
{
    const struct vram_tree *t = c->s->m->tree;
    c->params = vram_machine_alloc(c->s->m, t->nscopes, sizeof *c->params);
    for (uint32_t i = 0; i < t->nparams; i++)
        if (!t->params[i].buffer)
            add(c, &c->params[t->params[i].scope],
                t->params[i].tied_to == VRAM_NO_INDEX ? i : t->params[i].tied_to);
}

/* mark_persistent_parameters: small ones, until they are many */
static void mark_persistent(struct vram_coordinator *c)
{
    uint64_t small = vram_zero_elements(c->s, VRAM_KEY_ZERO_STAGE3_PARAM_PERSISTENCE_THRESHOLD);
    uint64_t most = vram_zero_elements(c->s, VRAM_KEY_ZERO_STAGE3_MODEL_PERSISTENCE_THRESHOLD),
             sum = 0;
    for (uint32_t p = 0; p < c->s->m->tree->nparams; p++) {
        uint64_t n = elements_of(c, p);
        if (!c->shard[p].partitioned || n > most - sum || n > small)
            continue;
        c->shard[p].persistent = true;
        sum += n;
    }
}

void vram_coordinator_init(struct vram_coordinator *c, struct vram_strategy *s)
{
    const struct vram_plan *plan = s->setup->plan;
    c->s = s;
    c->ranks = (uint64_t)s->setup->ranks;
    c->recomputed = vram_machine_alloc(s->m, s->m->tree->nscopes, sizeof *c->recomputed);
    c->prefetch = vram_zero_elements(s, VRAM_KEY_ZERO_STAGE3_PREFETCH_BUCKET_SIZE);
    c->most = vram_zero_elements(s, VRAM_KEY_ZERO_STAGE3_MAX_LIVE_PARAMETERS);
    c->reuse = vram_zero_elements(s, VRAM_KEY_ZERO_STAGE3_MAX_REUSE_DISTANCE);
    c->sequential = vram_plan_on(plan, VRAM_KEY_ZERO_STAGE3_ALLGATHER_SEQUENTIAL, false);
    c->overlaps = vram_plan_on(plan, VRAM_KEY_ZERO_OVERLAP_COMM, true);
    if (c->sequential)
        c->prefetch = 1; /* as the engine sets it */
    for (uint32_t i = 0; i < s->setup->ntrain;
         i++) /* PeftModel and LoraModel instead of the model */
        c->wrapped = c->wrapped || s->setup->train[i] == VRAM_TRAIN_LORA;
    c->from_host = s->setup->offload == VRAM_OFFLOAD_PARAMS;
    list_parameters(c);
    mark_persistent(c);
}
