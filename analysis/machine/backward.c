/* SPDX-License-Identifier: Apache-2.0
 *
 * The backward engine (torch/csrc/autograd/engine.cpp, input_buffer.cpp, accumulate_grad.h): order of
 * nodes, order of lives around one node, how gradients meet, when .grad steals.
 */
#include <string.h>

#include "base/vec.h"
#include "machine/machine.h"

struct visit {
    struct vram_tape_node *node;
    uint32_t deps;
    struct vram_handle **buffer; /* one gradient per output; NULL until the first arrives */
    uint32_t old_task, old_visit;
};

struct ready {
    uint64_t seq;
    uint32_t visit;
};

struct engine {
    struct vram_machine *m;
    uint32_t task;
    VRAM_VEC(struct visit) visits;
    VRAM_VEC(struct ready) heap; /* largest seq first */
};

/* The engine's queue is a std::priority_queue, which keeps no order among equals (all AccumulateGrad
 * nodes are): push and pop move entries as libstdc++ does (bits/stl_heap.h). */
static void sift_up(struct engine *e, size_t hole, struct ready r)
{
    struct ready *at = e->heap.at;
    for (; hole > 0 && at[(hole - 1) / 2].seq < r.seq; hole = (hole - 1) / 2)
        at[hole] = at[(hole - 1) / 2];
    at[hole] = r;
}

static void push_ready(struct engine *e, uint32_t visit)
{
    struct ready r = {e->visits.at[visit].node->seq, visit};
    if (!vram_vec_push(&e->heap, e->m->cx->arena, r))
        vram_throw_memory(e->m);
    sift_up(e, e->heap.n - 1, r);
}

static uint32_t pop_ready(struct engine *e)
{
    struct ready *at = e->heap.at, last = at[--e->heap.n];
    uint32_t top = at[0].visit;
    size_t hole = 0, n = e->heap.n;
    if (n == 0)
        return top;
    for (size_t child = 2; child <= n; child = 2 * hole + 2) { /* the hole goes down, then up */
        if (child == n || at[child].seq < at[child - 1].seq)
            child--;
        at[hole] = at[child];
        hole = child;
    }
    sift_up(e, hole, last);
    return top;
}

static uint32_t visit_of(struct engine *e, struct vram_tape_node *n)
{
    if (n->task == e->task)
        return n->visit;
    struct visit v = {.node = n, .old_task = n->task, .old_visit = n->visit};
    if (!vram_vec_push(&e->visits, e->m->cx->arena, v))
        vram_throw_memory(e->m);
    n->task = e->task;
    n->visit = (uint32_t)e->visits.n - 1;
    return n->visit;
}

/* Counts for every reachable node how many gradients it will be sent. */
static void count(struct engine *e, struct vram_tape_node *root)
{
    visit_of(e, root);
    for (size_t i = 0; i < e->visits.n; i++) {
        struct vram_tape_node *n = e->visits.at[i].node;
        for (int k = 0; k < n->nedges; k++)
            if (n->edges[k].node) {
                uint32_t v = visit_of(e, n->edges[k].node); /* may move the array */
                e->visits.at[v].deps++;
            }
    }
}

static struct vram_handle **buffer_of(struct engine *e, uint32_t visit)
{
    struct visit *v = &e->visits.at[visit];
    if (!v->buffer)
        v->buffer = vram_machine_alloc(e->m, v->node->nouts ? v->node->nouts : 1,
                                       sizeof *v->buffer);
    return v->buffer;
}

/* Of a table that is split over ranks one gradient is whole, another is a part: the whole one is cut, and
 * tensors of a mesh are never added in place. */
static void add_part(struct vram_machine *m, struct vram_handle **slot, struct vram_handle *new)
{
    struct vram_handle *old = *slot, *small = old->shape[0] < new->shape[0] ? old : new;
    struct vram_handle *part = vram_new_like(m, small, (enum vram_dtype)old->dtype);
    *slot = vram_new_like(m, small, (enum vram_dtype)old->dtype);
    vram_drop(m, old);
    vram_drop(m, part);
    vram_drop(m, new);
}

/* A second gradient: added in place when the first is held by nobody else, is no view and is dense;
 * else both are replaced by their sum. */
static void add_into(struct vram_machine *m, struct vram_handle **slot, struct vram_handle *new)
{
    struct vram_handle *old = *slot;
    if (!old) {
        *slot = new;
        return;
    }
    if (old->rank && old->shape[0] != new->shape[0]) {
        add_part(m, slot, new);
        return;
    }
    bool alone = !old->base && old->refs == 1 && (!old->storage || old->storage->refs == 1);
    if (!alone || !vram_is_dense(old->shape, old->stride, old->rank)) {
        struct vram_handle *both[2] = {old, new};
        int64_t stride[VRAM_MAX_RANK];
        vram_elementwise_strides(old->shape, old->rank, both, 2, stride);
        *slot = vram_new(m, old->shape, old->rank, (enum vram_dtype)old->dtype, stride);
        vram_drop(m, old);
    }
    vram_drop(m, new);
}

static bool same_strides(const struct vram_handle *g, const struct vram_handle *p)
{
    for (int i = 0; i < g->rank; i++)
        if (g->shape[i] != 1 && g->stride[i] != p->stride[i])
            return false;
    return true;
}

/* .grad: a first gradient is taken as it is when nobody else holds it and its layout is the
 * leaf's; else it is copied into the leaf's layout.  A later one is added in place. */
static void accumulate(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g)
{
    if (!g)
        return;
    if (!leaf->grad) {
        if (g->refs == 1 && same_strides(g, leaf)) {
            leaf->grad = vram_detach(m, g);
        } else {
            bool dense = vram_is_dense(leaf->shape, leaf->stride, leaf->rank);
            leaf->grad = vram_new(m, leaf->shape, leaf->rank, (enum vram_dtype)leaf->dtype,
                                  dense ? leaf->stride : NULL);
        }
        if (leaf->param != VRAM_NO_PARAM && leaf->grad->storage) {
            vram_set_category(m, leaf->grad, VRAM_CAT_GRADIENT);
            m->events->storages[leaf->grad->storage->id].param = leaf->param;
        }
    }
    if (m->accumulated)
        m->accumulated(m, leaf, g);
}

static bool same_shape(const struct vram_handle *g, const struct vram_meta *meta)
{
    return g->rank == meta->rank &&
           !memcmp(g->shape, meta->shape, (size_t)g->rank * sizeof *g->shape);
}

/* A formula's result in the shape and dtype of the input: first the sum over broadcast dimensions (a look at
 * it where dimensions in front go, at::sum_to), then the cast; each source goes as soon as it is replaced. */
static void fix_up(struct vram_machine *m, struct vram_handle **g, const struct vram_meta *meta)
{
    if (!same_shape(*g, meta)) {
        struct vram_handle *sum =
            vram_new(m, meta->shape, meta->rank, (enum vram_dtype)(*g)->dtype, NULL);
        if ((*g)->rank > meta->rank) {
            struct vram_handle *seen = vram_alias(m, sum, sum->shape, sum->stride, sum->rank, true);
            vram_drop(m, sum);
            sum = seen;
        }
        vram_drop(m, *g);
        *g = sum;
    }
    if ((*g)->dtype != meta->dtype) {
        struct vram_handle *cast = vram_new_like(m, *g, (enum vram_dtype)meta->dtype);
        vram_drop(m, *g);
        *g = cast;
    }
}

static void run_formula(struct vram_machine *m, struct vram_tape_node *n,
                        struct vram_handle **grads, struct vram_handle **out)
{
    struct vram_handle *few[16], **saved = few;
    if (n->nsaved > 16)
        saved = vram_machine_alloc(m, n->nsaved, sizeof *saved);
    for (int i = 0; i < n->nsaved; i++)
        saved[i] = n->saved[i].tensor || n->saved[i].holder ? vram_unpack(m, &n->saved[i]) : NULL;
    m->op = n->op;
    n->backward(m, n, grads, saved, out);
    for (int i = 0; i < n->nsaved; i++)
        vram_drop(m, saved[i]);
    for (int i = 0; i < n->nedges; i++) {
        if (!out[i])
            continue;
        if (n->edges[i].node)
            fix_up(m, &out[i], &n->meta[i]);
        else
            vram_let_go(m, &out[i]);
    }
}

static void run_node(struct engine *e, uint32_t visit)
{
    struct vram_machine *m = e->m;
    struct vram_tape_node *n = e->visits.at[visit].node;
    struct vram_handle **grads = buffer_of(e, visit);
    e->visits.at[visit].buffer = NULL;
    m->scope = n->scope;
    if (!n->backward) {
        accumulate(m, n->variable, grads[0]);
        vram_drop(m, grads[0]);
        return;
    }
    struct vram_handle *few[16] = {0}, **out = few;
    if (n->nedges > 16)
        out = vram_machine_alloc(m, n->nedges, sizeof *out);
    run_formula(m, n, grads, out);
    /* incoming gradients go, then what the node saved, then the results are handed on */
    for (int i = 0; i < n->nouts; i++)
        vram_drop(m, grads[i]);
    for (int i = 0; i < n->nsaved; i++)
        vram_saved_drop(m, &n->saved[i]);
    for (int i = 0; i < n->nedges; i++) {
        struct vram_tape_node *next = n->edges[i].node;
        if (!next)
            continue;
        uint32_t v = next->visit;
        if (out[i])
            add_into(m, &buffer_of(e, v)[n->edges[i].out], out[i]);
        if (--e->visits.at[v].deps == 0)
            push_ready(e, v);
    }
}

static void run_from(struct vram_machine *m, struct vram_tape_node *node, int out,
                     struct vram_handle *root)
{
    struct engine e = {.m = m, .task = ++m->tasks};
    bool grad = m->grad;
    uint32_t scope = m->scope;
    uint16_t op = m->op;
    m->grad = false;
    m->backwards++;
    count(&e, node);
    uint32_t first = visit_of(&e, node);
    buffer_of(&e, first)[out] = vram_hold(root);
    push_ready(&e, first);
    while (e.heap.n)
        run_node(&e, pop_ready(&e));
    for (size_t i = e.visits.n; i-- > 0;) {
        struct visit *v = &e.visits.at[i];
        v->node->task = v->old_task;
        v->node->visit = v->old_visit;
    }
    m->backwards--;
    m->grad = grad;
    m->scope = scope;
    m->op = op;
}

void vram_backward(struct vram_machine *m, struct vram_handle *loss, struct vram_handle *root)
{
    if (!loss->node)
        vram_throw(m, VRAM_E_ARGUMENT,
                   "nothing is trained: no parameter that the loss depends on "
                   "requires a gradient");
    if (!root)
        root = vram_new_like(m, loss, (enum vram_dtype)loss->dtype);
    run_from(m, loss->node, loss->out, root);
    vram_drop(m, root); /* it lives to the end of backward */
}

/* The engine's GraphRoot: hands each tensor its gradient. */
static void hand_on(struct vram_machine *m, struct vram_tape_node *n, struct vram_handle **g,
                    struct vram_handle **saved, struct vram_handle **out)
{
    (void)m;
    (void)g;
    for (int i = 0; i < n->nedges; i++)
        out[i] = vram_hold(saved[i]);
}

void vram_backward_from(struct vram_machine *m, struct vram_handle *const *xs,
                        struct vram_handle *const *grads, int n)
{
    struct vram_tape_node *node;
    bool grad = m->grad;
    m->grad = true;
    vram_begin(m, &node, &(struct vram_begin){xs, n, grads, n, 0, hand_on});
    m->grad = grad;
    if (!node)
        return;
    node->nouts = 1;
    run_from(m, node, 0, NULL);
    vram_node_drop(m, node);
}

struct vram_handle *vram_reshape_gradient(struct vram_machine *m, struct vram_handle *g,
                                          const int64_t *shape, int rank)
{
    int64_t stride[VRAM_MAX_RANK];
    if (vram_view_strides(g, shape, rank, stride))
        return vram_alias(m, g, shape, stride, rank, true);
    return vram_new(m, shape, rank, (enum vram_dtype)g->dtype, NULL); /* a copy; _unsafe_view is no view of it */
}
