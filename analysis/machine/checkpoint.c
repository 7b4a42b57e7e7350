/* SPDX-License-Identifier: Apache-2.0
 *
 * Activation checkpointing (torch.utils.checkpoint 2.9).
 *
 * Not reentrant: the forward runs normally, but saved tensors are replaced by empty holders; the
 * call's arguments stay.  At the first unpack the call runs again and fills the holders in
 * order; it stops when the last one is filled.  A holder gives its tensor away at unpack.
 *
 * Reentrant: one node; forward without a tape; backward runs the call again with a tape and then an
 * inner backward.
 */
#include <string.h>

#include "base/vec.h"
#include "machine/machine.h"

struct vram_holder {
    struct vram_checkpoint_frame *frame; /* counted */
    struct vram_handle *tensor;
    uint32_t index;
};

struct vram_checkpoint_frame {
    int32_t refs;
    bool done, recomputing, offloaded;
    uint32_t tensors; /* reentrant: which arguments are tensors, one bit each */
    struct vram_meta *outs; /* and what the results are that a gradient may come for */
    uint32_t scope;
    uint32_t function;     /* what is called; VRAM_NO_INDEX: the module of the scope */
    uint64_t seq;          /* of the tape when the call began */
    enum vram_dtype autocast;
    struct vram_call call; /* positional tensors detached but for their place in the graph */
    VRAM_VEC(struct vram_holder *) holders; /* NULL once dropped */
    uint32_t filled;
    struct vram_checkpoint_frame *outer; /* hooks below this one */
};

void vram_checkpoint_drop(struct vram_machine *m, struct vram_checkpoint_frame *f)
{
    if (--f->refs > 0)
        return;
    for (uint32_t i = 0; i < f->call.nargs; i++)
        if (f->call.args[i].kind == VRAM_V_TENSOR)
            vram_unmark_saved(m, f->call.args[i].u.tensor);
    vram_call_drop(m, &f->call);
}

void vram_holder_drop(struct vram_machine *m, struct vram_holder *h)
{
    if (h->tensor)
        vram_let_go(m, &h->tensor);
    h->frame->holders.at[h->index] = NULL;
    vram_checkpoint_drop(m, h->frame);
}

const struct vram_call *vram_holder_call(const struct vram_holder *h, uint64_t *seq, uint32_t *scope)
{
    if (!h)
        return NULL;
    *seq = h->frame->seq;
    *scope = h->frame->scope;
    return &h->frame->call;
}

/* A parameter is kept itself, whatever storage it has later; a recomputation detaches those that
 * train. */
static struct vram_handle *kept(struct vram_machine *m, struct vram_handle *x, bool recomputed)
{
    bool itself = m->around && x->leaf && x->param != VRAM_NO_PARAM;
    if (itself && !(recomputed && x->requires_grad))
        return vram_hold(x);
    vram_mark_saved(m, x);
    return vram_detach(m, x);
}

/* A tensor goes on the tape: as it is, or by way of the innermost checkpoint. */
bool vram_pack(struct vram_machine *m, struct vram_saved *entry, struct vram_handle *x)
{
    struct vram_checkpoint_frame *f = m->hooks;
    if (f && !f->recomputing) {
        struct vram_holder *h = vram_machine_alloc(m, 1, sizeof *h);
        h->frame = f;
        h->index = (uint32_t)f->holders.n;
        f->refs++;
        if (!vram_vec_push(&f->holders, m->cx->arena, h))
            vram_throw_memory(m);
        entry->holder = h;
        return false;
    }
    if (f) {
        if (f->filled >= f->holders.n)
            vram_throw(m, VRAM_E_INTERNAL, "a recomputation saves more tensors than its forward");
        struct vram_holder *h = f->holders.at[f->filled++];
        if (h)
            h->tensor = kept(m, x, true);
        if (f->filled == f->holders.n) {
            m->stopped = true;
            return true;
        }
    }
    entry->tensor = kept(m, x, f != NULL);
    return false;
}

/* Keeps a call's arguments as a checkpoint does: tensors by another handle that remembers its
 * place in the graph but is no view. */
static void keep_call(struct vram_machine *m, struct vram_call *to, const struct vram_call *from)
{
    *to = *from;
    for (uint32_t i = 0; i < from->nargs; i++) {
        struct vram_value v = from->args[i];
        if (v.kind != VRAM_V_TENSOR) {
            to->args[i] = vram_value_hold(v);
            continue;
        }
        struct vram_handle *x = v.u.tensor, *kept = vram_detach(m, x);
        kept->requires_grad = x->requires_grad;
        kept->node = vram_place(m, x);
        kept->out = x->node ? x->out : 0;
        kept->param = x->param;
        vram_mark_saved(m, kept);
        to->args[i].u.tensor = kept;
    }
    for (uint32_t i = 0; i < from->nkw; i++)
        to->kw[i].value = vram_value_hold(from->kw[i].value);
}

/* Another handle in the place of x in the graph, which gives the place up. */
static struct vram_handle *takes_place(struct vram_machine *m, struct vram_handle *y, struct vram_handle *x)
{
    y->requires_grad = x->requires_grad;
    y->node = x->node;
    if (y->node)
        y->node->refs++;
    y->out = x->out;
    y->param = x->param;
    vram_drop(m, x);
    return y;
}

static uint64_t pinned(const struct vram_handle *x)
{
    uint64_t bytes = 0, size = 1;
    if (!vram_dtype_bytes((enum vram_dtype)x->dtype, (uint64_t)vram_numel(x), &bytes) || !bytes)
        return 0;
    while (size < bytes)
        size *= 2;
    return size;
}

/* save_on_cpu around the call: positional tensors wait in pinned host memory until it runs again. */
static void offload(struct vram_machine *m, struct vram_checkpoint_frame *f)
{
    for (uint32_t i = 0; i < f->call.nargs; i++) {
        struct vram_handle *x = f->call.args[i].u.tensor;
        if (f->call.args[i].kind != VRAM_V_TENSOR)
            continue;
        vram_unmark_saved(m, x);
        m->offloaded += pinned(x);
        m->most_offloaded = m->offloaded > m->most_offloaded ? m->offloaded : m->most_offloaded;
        f->call.args[i].u.tensor =
            takes_place(m, vram_blank(m, x->shape, x->rank, (enum vram_dtype)x->dtype), x);
    }
    f->offloaded = true;
}

static void bring_back(struct vram_machine *m, struct vram_checkpoint_frame *f)
{
    for (uint32_t i = 0; f->offloaded && i < f->call.nargs; i++) {
        struct vram_handle *x = f->call.args[i].u.tensor;
        if (f->call.args[i].kind != VRAM_V_TENSOR)
            continue;
        f->call.args[i].u.tensor =
            takes_place(m, vram_new(m, x->shape, x->rank, (enum vram_dtype)x->dtype, NULL), x);
    }
}

/* What came back dies when the call is over; the host's copies die with the frame. */
static void send_away(struct vram_machine *m, struct vram_checkpoint_frame *f)
{
    for (uint32_t i = 0; f->offloaded && i < f->call.nargs; i++)
        if (f->call.args[i].kind == VRAM_V_TENSOR) {
            m->offloaded -= pinned(f->call.args[i].u.tensor);
            vram_let_go(m, &f->call.args[i].u.tensor);
            f->call.args[i] = (struct vram_value){0};
        }
}

/* The body; a function is handed arguments of its own. */
static bool run_call(struct vram_machine *m, struct vram_checkpoint_frame *f, struct vram_value *out)
{
    struct vram_call call = f->call;
    if (f->function == VRAM_NO_INDEX)
        return vram_run_forward(m, f->scope, &f->call, out);
    for (uint32_t i = 0; i < call.nargs; i++)
        vram_value_hold(call.args[i]);
    for (uint32_t i = 0; i < call.nkw; i++)
        vram_value_hold(call.kw[i].value);
    return vram_call_function(m, f->function, VRAM_NO_INDEX, &call, out);
}

bool vram_checkpoint_call(struct vram_machine *m, uint32_t function, const struct vram_call *call,
                          struct vram_value *out)
{
    struct vram_checkpoint_frame *f = vram_machine_alloc(m, 1, sizeof *f);
    f->refs = 1;
    f->scope = m->scope;
    f->function = function;
    f->seq = m->seq;
    f->autocast = m->autocast;
    f->outer = m->hooks;
    keep_call(m, &f->call, call);
    m->hooks = f;
    bool stopped = run_call(m, f, out);
    m->hooks = f->outer;
    if (m->offload_inputs)
        offload(m, f);
    vram_checkpoint_drop(m, f);
    return stopped;
}

struct state {
    bool grad;
    enum vram_dtype autocast;
    uint32_t cache_generation;
    uint32_t scope;
};

/* Recomputation: with grad, under the autocast of the forward, with a cache of its own. */
static struct state enter(struct vram_machine *m, const struct vram_checkpoint_frame *f)
{
    struct state old = {m->grad, m->autocast, m->cache_generation, m->scope};
    m->grad = true;
    m->scope = f->scope;
    if (f->autocast != VRAM_DT_NONE && m->autocast == VRAM_DT_NONE)
        vram_autocast_enter(m, f->autocast);
    return old;
}

static void leave(struct vram_machine *m, struct state old)
{
    if (m->autocast != old.autocast)
        vram_autocast_leave(m);
    m->autocast = old.autocast;
    m->cache_generation = old.cache_generation;
    m->grad = old.grad;
    m->scope = old.scope;
}

static void recompute(struct vram_machine *m, struct vram_checkpoint_frame *f)
{
    struct vram_value out = {0};
    struct state old = enter(m, f);
    struct vram_checkpoint_frame *hooks = m->hooks;
    f->done = true;
    f->recomputing = true;
    bring_back(m, f);
    m->hooks = f;
    bool stopped = run_call(m, f, &out);
    send_away(m, f);
    m->stopped = false;
    m->hooks = hooks;
    f->recomputing = false;
    if (!stopped)
        vram_value_drop(m, out);
    leave(m, old);
}

struct vram_handle *vram_unpack(struct vram_machine *m, struct vram_saved *entry)
{
    if (!entry->holder)
        return vram_hold(entry->tensor);
    struct vram_holder *h = entry->holder;
    if (!h->frame->done)
        recompute(m, h->frame);
    struct vram_handle *x = h->tensor;
    h->tensor = NULL;
    if (!x)
        vram_throw(m, VRAM_E_INTERNAL, "a recomputation did not fill a saved tensor");
    /* it was marked when the holder took it; from here on only the formula holds it */
    if (x->param == VRAM_NO_PARAM)
        vram_unmark_saved(m, x);
    return x;
}

/* ---- reentrant ---------------------------------------------------------------------------- */

/* The results that take part in autograd: a tensor, or those of a tuple. */
static int results(struct vram_machine *m, struct vram_value *v, struct vram_value ***out)
{
    bool many = v->kind == VRAM_V_BOX && v->u.box->kind != VRAM_BOX_RECORD;
    uint32_t n = many ? v->u.box->n : 1;
    int found = 0;
    *out = vram_machine_alloc(m, n, sizeof **out);
    for (uint32_t i = 0; i < n; i++) {
        struct vram_value *x = many ? &v->u.box->at[i] : v;
        if (x->kind == VRAM_V_TENSOR && vram_dtype_is_float((enum vram_dtype)x->u.tensor->dtype))
            (*out)[found++] = x;
        else if (x->kind == VRAM_V_BOX)
            vram_throw(m, VRAM_E_UNSUPPORTED,
                       "a checkpointed module must return tensors or a tuple of them here");
    }
    return found;
}

/* The incoming gradients of all results: zeros where none came. */
static struct vram_handle **whole_gradients(struct vram_machine *m, const struct vram_tape_node *n,
                                            struct vram_handle **grads)
{
    struct vram_handle **all = vram_machine_alloc(m, n->nouts, sizeof *all);
    for (int i = 0; i < n->nouts; i++) {
        const struct vram_meta *meta = &n->frame->outs[i];
        all[i] = grads[i]
                     ? vram_hold(grads[i])
                     : vram_new(m, meta->shape, meta->rank, (enum vram_dtype)meta->dtype, NULL);
    }
    return all;
}

static void backward_of(struct vram_machine *m, struct vram_value *result, struct vram_handle **all)
{
    struct vram_value **found;
    int n = 0, k = results(m, result, &found);
    struct vram_handle **xs = vram_machine_alloc(m, (size_t)k, sizeof *xs);
    struct vram_handle **grads = vram_machine_alloc(m, (size_t)k, sizeof *grads);
    for (int i = 0; i < k; i++)
        if (found[i]->u.tensor->requires_grad) {
            xs[n] = found[i]->u.tensor;
            grads[n++] = all[i];
        }
    vram_backward_from(m, xs, grads, n);
}

static void reentrant_backward(struct vram_machine *m, struct vram_tape_node *n,
                               struct vram_handle **grads, struct vram_handle **saved,
                               struct vram_handle **out)
{
    struct vram_checkpoint_frame *f = n->frame;
    struct vram_call call = f->call;
    struct vram_value result = {0};
    for (uint32_t i = 0; i < call.nkw; i++)
        call.kw[i].value = vram_value_hold(call.kw[i].value);
    for (uint32_t i = 0, s = 0; i < call.nargs; i++) {
        if (!(f->tensors & (1u << i))) {
            call.args[i] = vram_value_hold(call.args[i]);
            continue;
        }
        struct vram_handle *x = vram_detach(m, saved[s]);
        x->requires_grad = x->leaf = n->edges[s].node != NULL;
        call.args[i] = vram_tensor_value(x);
        s++;
    }
    struct vram_handle **all = whole_gradients(m, n, grads);
    struct state old = enter(m, f);
    m->hooks = NULL;
    vram_run_forward(m, f->scope, &call, &result);
    leave(m, old);
    backward_of(m, &result, all);
    vram_value_drop(m, result);
    for (int i = 0; i < n->nouts; i++)
        vram_drop(m, all[i]);
    for (uint32_t i = 0, s = 0; i < call.nargs; i++)
        if (f->tensors & (1u << i)) {
            struct vram_handle *x = call.args[i].u.tensor;
            out[s++] = x->grad;
            x->grad = NULL;
        }
    vram_call_drop(m, &call);
}

/* What the function that runs again captures: all but the tensors, which the node saves. */
static struct vram_checkpoint_frame *capture(struct vram_machine *m, const struct vram_call *call)
{
    struct vram_checkpoint_frame *f = vram_machine_alloc(m, 1, sizeof *f);
    f->refs = 1;
    f->scope = m->scope;
    f->autocast = m->autocast;
    f->call = *call;
    for (uint32_t i = 0; i < call->nargs; i++) {
        if (call->args[i].kind == VRAM_V_TENSOR) {
            f->tensors |= 1u << i;
            f->call.args[i] = (struct vram_value){0};
        } else {
            vram_value_hold(call->args[i]);
        }
    }
    for (uint32_t i = 0; i < call->nkw; i++)
        vram_value_hold(call->kw[i].value);
    return f;
}

/* An argument that is a result as well becomes a look at it. */
static void unlike_arguments(struct vram_machine *m, const struct vram_call *call,
                             struct vram_value *v)
{
    for (uint32_t i = 0; i < call->nargs; i++) {
        struct vram_handle *x = v->u.tensor;
        if (call->args[i].kind == VRAM_V_TENSOR && call->args[i].u.tensor == x) {
            v->u.tensor = vram_alias(m, x, x->shape, x->stride, x->rank, true);
            vram_drop(m, x);
            return;
        }
    }
}

static bool end_reentrant(struct vram_machine *m, struct vram_tape_node *node,
                          const struct vram_call *call, struct vram_value *out)
{
    struct vram_value **found;
    int n = results(m, out, &found);
    struct vram_handle **outs = vram_machine_alloc(m, (size_t)n, sizeof *outs);
    node->frame->outs = vram_machine_alloc(m, (size_t)n, sizeof *node->frame->outs);
    for (int i = 0; i < n; i++) {
        unlike_arguments(m, call, found[i]);
        outs[i] = found[i]->u.tensor;
        struct vram_meta *meta = &node->frame->outs[i];
        meta->rank = outs[i]->rank;
        meta->dtype = outs[i]->dtype;
        memcpy(meta->shape, outs[i]->shape, outs[i]->rank * sizeof *meta->shape);
    }
    return vram_end(m, node, outs, n, NULL, 0);
}

bool vram_reentrant_call(struct vram_machine *m, const struct vram_call *call, struct vram_value *out)
{
    struct vram_handle *tensors[VRAM_MAX_ARGS];
    int n = 0;
    for (uint32_t i = 0; i < call->nargs; i++)
        if (call->args[i].kind == VRAM_V_TENSOR)
            tensors[n++] = call->args[i].u.tensor;
    struct vram_tape_node *node;
    if (vram_begin(m, &node, &(struct vram_begin){.inputs = tensors, .ninputs = n, .save = tensors,
                                                  .nsave = n, .backward = reentrant_backward}))
        return true;
    if (node)
        node->frame = capture(m, call);
    bool grad = m->grad;
    m->grad = false;
    bool stopped = vram_run_forward(m, m->scope, call, out);
    m->grad = grad;
    if (stopped)
        return true;
    return node && end_reentrant(m, node, call, out);
}
