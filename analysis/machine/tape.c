/* SPDX-License-Identifier: Apache-2.0
 *
 * The tape: nodes with edges to what made their inputs and the tensors their formulas need.  Saved
 * inputs are packed before the kernel runs, saved outputs after it.  Rules: torch autograd
 * (VariableTypeUtils, saved_variable); docs/engine.md section 3.
 */
#include <string.h>

#include "base/vec.h"
#include "machine/machine.h"

/* Blocks that are used again are kept by size: steps of 64 bytes, beyond that powers of two. */
static uint8_t size_class_of(size_t need, size_t *size)
{
    size_t k = (need + 63) / 64;
    if (k < VRAM_NODE_STEPS) {
        *size = k * 64;
        return (uint8_t)k;
    }
    uint8_t class = VRAM_NODE_STEPS;
    for (*size = VRAM_NODE_STEPS * 64; *size < need; *size *= 2)
        class++;
    return class;
}

/* One block: header, edges, meta, saved entries. */
static struct vram_tape_node *new_node(struct vram_machine *m, int nedges, int nsaved)
{
    size_t need = sizeof(struct vram_tape_node) +
                  (size_t)nedges * (sizeof(struct vram_edge) + sizeof(struct vram_meta)) +
                  (size_t)nsaved * sizeof(struct vram_saved);
    size_t size;
    uint8_t size_class = size_class_of(need, &size);
    struct vram_tape_node *n = m->free_nodes[size_class];
    if (n)
        m->free_nodes[size_class] = n->next;
    else
        n = vram_machine_alloc(m, size, 1);
    memset(n, 0, sizeof *n);
    n->refs = 1;
    n->size_class = size_class;
    n->edges = (struct vram_edge *)(n + 1);
    n->meta = (struct vram_meta *)(n->edges + nedges);
    n->saved = (struct vram_saved *)(n->meta + nedges);
    memset(n->edges, 0, (size_t)nedges * sizeof *n->edges);
    memset(n->saved, 0, (size_t)nsaved * sizeof *n->saved);
    n->nedges = (uint16_t)nedges;
    n->op = m->op;
    n->scope = m->scope;
    return n;
}

void vram_saved_drop(struct vram_machine *m, struct vram_saved *s)
{
    struct vram_handle *x = s->tensor;
    struct vram_holder *h = s->holder;
    *s = (struct vram_saved){0};
    if (x && x->param == VRAM_NO_PARAM) /* a parameter itself is not marked */
        vram_unmark_saved(m, x);
    vram_drop(m, x);
    if (h)
        vram_holder_drop(m, h);
}

/* Nodes die through a list, not by recursion: a graph is thousands of nodes deep. */
void vram_node_drop(struct vram_machine *m, struct vram_tape_node *n)
{
    if (--n->refs > 0)
        return;
    n->next = m->dead;
    m->dead = n;
    if (m->draining)
        return;
    m->draining = true;
    while ((n = m->dead) != NULL) {
        m->dead = n->next;
        for (int i = 0; i < n->nsaved; i++)
            vram_saved_drop(m, &n->saved[i]);
        if (n->variable) {
            n->variable->accumulate = NULL;
            vram_let_go(m, &n->variable);
        }
        for (int i = 0; i < n->nedges; i++)
            if (n->edges[i].node)
                vram_node_drop(m, n->edges[i].node);
        if (n->frame)
            vram_checkpoint_drop(m, n->frame);
        n->next = m->free_nodes[n->size_class];
        m->free_nodes[n->size_class] = n;
    }
    m->draining = false;
}

/* AccumulateGrad of a leaf: one node as long as somebody's edge holds it. */
static struct vram_tape_node *accumulate_of(struct vram_machine *m, struct vram_handle *leaf)
{
    if (leaf->accumulate) {
        leaf->accumulate->refs++;
        return leaf->accumulate;
    }
    struct vram_tape_node *n = new_node(m, 0, 0);
    n->seq = UINT64_MAX;
    n->nouts = 1;
    n->variable = vram_hold(leaf);
    leaf->accumulate = n;
    return n;
}

struct vram_tape_node *vram_place(struct vram_machine *m, struct vram_handle *x)
{
    if (!x->node)
        return x->requires_grad ? accumulate_of(m, x) : NULL;
    x->node->refs++;
    return x->node;
}

static void set_edge(struct vram_machine *m, struct vram_tape_node *n, int i, struct vram_handle *x)
{
    if (!x)
        return;
    n->meta[i].rank = x->rank;
    n->meta[i].dtype = x->dtype;
    memcpy(n->meta[i].shape, x->shape, x->rank * sizeof *x->shape);
    if (x->requires_grad)
        n->edges[i] = (struct vram_edge){vram_place(m, x), x->node ? x->out : 0};
}

bool vram_begin(struct vram_machine *m, struct vram_tape_node **out, const struct vram_begin *b)
{
    bool any = false;
    *out = NULL;
    for (int i = 0; m->grad && i < b->ninputs; i++)
        any = any || (b->inputs[i] && b->inputs[i]->requires_grad);
    if (!any)
        return false;
    struct vram_tape_node *n = new_node(m, b->ninputs, b->nsave + b->nsave_out);
    n->backward = b->backward;
    n->seq = m->seq++;
    for (int i = 0; i < b->ninputs; i++)
        set_edge(m, n, i, b->inputs[i]);
    for (int i = 0; i < b->nsave; i++) {
        n->nsaved++;
        if (b->save[i] && vram_pack(m, &n->saved[i], b->save[i])) {
            vram_node_drop(m, n);
            return true;
        }
    }
    *out = n;
    return false;
}

bool vram_end(struct vram_machine *m, struct vram_tape_node *n, struct vram_handle *const *outs,
              int nouts, struct vram_handle *const *save, int nsave)
{
    if (!n)
        return false;
    n->nouts = (uint16_t)nouts;
    for (int i = 0; i < nouts; i++) {
        struct vram_handle *o = outs[i];
        if (!o || vram_dtypes[o->dtype].kind < VRAM_KIND_FLOAT)
            continue; /* integers have no gradient */
        o->node = n;
        n->refs++;
        o->out = (uint16_t)i;
        o->requires_grad = true;
    }
    bool stop = false;
    for (int i = 0; i < nsave && !stop; i++) {
        n->nsaved++;
        stop = vram_pack(m, &n->saved[n->nsaved - 1], save[i]);
    }
    vram_node_drop(m, n); /* the creator's reference; the outputs hold it now */
    return stop;
}

void vram_require_grad(struct vram_machine *m, struct vram_handle *x)
{
    (void)m;
    if (x->requires_grad)
        return;
    x->requires_grad = true;
    x->leaf = true;
}

/* ---- who saved what ----------------------------------------------------------------------- */

struct walk {
    VRAM_VEC(struct vram_tape_node *) todo;
    uint64_t *first; /* by storage: 1 + sequence number of the first entry that holds it */
};

static void note_saver(struct vram_machine *m, struct walk *w, struct vram_handle *x, uint64_t seq,
                       uint32_t scope)
{
    if (!x || !x->storage || (w->first[x->storage->id] && w->first[x->storage->id] <= seq + 1))
        return;
    w->first[x->storage->id] = seq + 1;
    m->events->storages[x->storage->id].saver = scope;
}

static void push_node(struct vram_machine *m, struct walk *w, struct vram_tape_node *n, uint32_t task)
{
    if (n->task == task)
        return;
    n->task = task;
    if (!vram_vec_push(&w->todo, m->cx->arena, n))
        vram_throw_memory(m);
}

void vram_tape_savers(struct vram_machine *m, struct vram_handle *loss)
{
    struct walk w = {.first = vram_machine_alloc(m, m->events->nstorages, sizeof(uint64_t))};
    uint32_t task = ++m->tasks;
    if (loss->node)
        push_node(m, &w, loss->node, task);
    while (w.todo.n) {
        struct vram_tape_node *n = w.todo.at[--w.todo.n];
        for (int i = 0; i < n->nsaved; i++) {
            uint64_t seq;
            uint32_t scope;
            const struct vram_call *call = vram_holder_call(n->saved[i].holder, &seq, &scope);
            note_saver(m, &w, n->saved[i].tensor, n->seq, n->scope);
            for (uint32_t k = 0; call && k < call->nargs; k++)
                if (call->args[k].kind == VRAM_V_TENSOR)
                    note_saver(m, &w, call->args[k].u.tensor, seq, scope);
        }
        for (int i = 0; i < n->nedges; i++)
            if (n->edges[i].node)
                push_node(m, &w, n->edges[i].node, task);
    }
}
