/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames, statements and calls: who holds a value, and when a name lets go.
 *
 *   - An assignment drops the old value after the new one exists.
 *   - A module call holds its arguments until it returns; a function call moves them into the
 *     callee's names, so that they die when those are assigned again.
 *   - A return drops all names, in order, after the result exists.
 */
#include <string.h>

#include "machine/machine.h"

enum flow { FLOW_NEXT, FLOW_RETURN, FLOW_STOP };

static enum flow block(struct vram_machine *m, struct vram_frame *f, uint32_t node,
                       struct vram_value *out);

void vram_call_drop(struct vram_machine *m, struct vram_call *call)
{
    for (uint32_t i = 0; i < call->nargs; i++)
        vram_value_drop(m, call->args[i]);
    for (uint32_t i = 0; i < call->nkw; i++)
        vram_value_drop(m, call->kw[i].value);
    call->nargs = call->nkw = 0;
}

/* Calls, blocks and expressions: each is a piece of the stack, and a step. */
void vram_deeper(struct vram_machine *m)
{
    vram_step(m);
    if (m->depth >= m->cx->limits->depth)
        vram_throw(m, VRAM_E_LIMIT, "calls and expressions nest more than %llu deep",
                   (unsigned long long)m->cx->limits->depth);
    m->depth++;
}

struct vram_value *vram_slots_take(struct vram_machine *m, uint32_t n)
{
    if (m->stack_size - m->top < n)
        vram_throw(m, VRAM_E_LIMIT, "all calls together hold more than %u names",
                   (unsigned)m->stack_size);
    vram_deeper(m);
    struct vram_value *slots = m->stack + m->top;
    memset(slots, 0, n * sizeof *slots);
    m->top += n;
    return slots;
}

void vram_slots_give(struct vram_machine *m, struct vram_value *slots, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        vram_value_drop(m, slots[i]);
    m->top -= n;
    m->depth--;
}

void vram_step(struct vram_machine *m)
{
    if (++m->steps > m->cx->limits->steps)
        vram_throw(m, VRAM_E_LIMIT, "the templates take more than %llu steps",
                   (unsigned long long)m->cx->limits->steps);
}

/* ---- assignment --------------------------------------------------------------------------- */

static bool assign(struct vram_machine *m, struct vram_frame *f, uint32_t target,
                   struct vram_value v);

/* Spreads a tuple over names, one after the other; the tuple goes last. */
static bool spread(struct vram_machine *m, struct vram_frame *f, const struct vram_node *n,
                   struct vram_value v)
{
    if (v.kind != VRAM_V_BOX || v.u.box->n != n->b)
        vram_throw(m, VRAM_E_FORMAT, "expected %u values to assign", (unsigned)n->b);
    for (uint32_t i = 0; i < n->b; i++)
        if (assign(m, f, m->program->lists.at[n->a + i], vram_value_hold(v.u.box->at[i]))) {
            vram_value_drop(m, v);
            return true;
        }
    vram_value_drop(m, v);
    return false;
}

/* In a ModelOutput a field without a value is no entry; with its first value it becomes the last one. */
static void move_to_end(struct vram_box *box, uint32_t i)
{
    struct vram_value v = box->at[i];
    vram_sym key = box->keys[i];
    for (; i + 1 < box->n; i++) {
        box->at[i] = box->at[i + 1];
        box->keys[i] = box->keys[i + 1];
    }
    box->at[i] = v;
    box->keys[i] = key;
}

static void set_field(struct vram_machine *m, struct vram_value object, vram_sym name,
                      struct vram_value v)
{
    struct vram_box *box = object.u.box;
    if (object.kind != VRAM_V_BOX || box->kind != VRAM_BOX_RECORD)
        vram_throw(m, VRAM_E_FORMAT, "only records have fields that can be assigned");
    for (uint32_t i = 0; i < box->n; i++)
        if (box->keys[i] == name) {
            bool entry = box->at[i].kind != VRAM_V_NONE;
            vram_box_set(m, box, i, v);
            if (!entry)
                move_to_end(box, i);
            return;
        }
    vram_throw(m, VRAM_E_FORMAT, "the record has no field '%s'",
               vram_sym_text(m->cx->syms, name));
}

/* Takes v. */
static bool assign(struct vram_machine *m, struct vram_frame *f, uint32_t target,
                   struct vram_value v)
{
    const struct vram_node *n = &m->program->nodes.at[target];
    struct vram_value object, index;
    switch (n->kind) {
    case VRAM_N_SLOT: {
        struct vram_value old = f->slots[n->a];
        f->slots[n->a] = v;
        vram_value_drop(m, old);
        return false;
    }
    case VRAM_N_TUPLE:
        m->at = target;
        return spread(m, f, n, v);
    case VRAM_N_FIELD:
        if (vram_eval(m, f, n->a, &object))
            break;
        m->at = target;
        set_field(m, object, n->b, v);
        vram_value_drop(m, object);
        return false;
    default: /* INDEX: the parser lets nothing else through */
        if (vram_eval(m, f, n->a, &object))
            break;
        if (vram_eval(m, f, n->b, &index)) {
            vram_value_drop(m, object);
            break;
        }
        m->at = target;
        if (object.kind != VRAM_V_BOX || object.u.box->kind != VRAM_BOX_LIST ||
            index.kind != VRAM_V_INT || index.u.i < 0 || index.u.i >= object.u.box->n)
            vram_throw(m, VRAM_E_FORMAT, "there is no such place in the list");
        vram_box_set(m, object.u.box, (uint32_t)index.u.i, v);
        vram_value_drop(m, object);
        return false;
    }
    vram_value_drop(m, v);
    return true;
}

/* ---- statements --------------------------------------------------------------------------- */

static enum flow loop_over(struct vram_machine *m, struct vram_frame *f, const struct vram_node *n,
                           struct vram_value item, struct vram_value *out)
{
    m->at = (uint32_t)(n - m->program->nodes.at);
    vram_step(m);
    if (assign(m, f, n->a, item))
        return FLOW_STOP;
    return block(m, f, n->c, out);
}

static enum flow for_statement(struct vram_machine *m, struct vram_frame *f,
                               const struct vram_node *n, struct vram_value *out)
{
    struct vram_value list;
    enum flow flow = FLOW_NEXT;
    if (vram_eval(m, f, n->b, &list))
        return FLOW_STOP;
    if (list.kind == VRAM_V_MODULES) {
        struct vram_list l = m->tree->lists[list.u.i];
        for (uint32_t i = 0; i < l.n && flow == FLOW_NEXT; i++) {
            struct vram_value item = {.kind = VRAM_V_MODULE};
            item.u.i = m->tree->list_scopes[l.first + i];
            flow = loop_over(m, f, n, item, out);
        }
        return flow;
    }
    if (list.kind != VRAM_V_BOX || list.u.box->kind == VRAM_BOX_RECORD)
        vram_throw(m, VRAM_E_FORMAT, "only lists can be looped over");
    for (uint32_t i = 0; i < list.u.box->n && flow == FLOW_NEXT; i++)
        flow = loop_over(m, f, n, vram_value_hold(list.u.box->at[i]), out);
    vram_value_drop(m, list);
    return flow;
}

static enum flow if_statement(struct vram_machine *m, struct vram_frame *f,
                              const struct vram_node *n, struct vram_value *out)
{
    struct vram_value test;
    if (vram_eval(m, f, n->a, &test))
        return FLOW_STOP;
    bool yes = vram_truth(m, test);
    vram_value_drop(m, test);
    if (yes)
        return block(m, f, n->b, out);
    if (!n->c)
        return FLOW_NEXT;
    const struct vram_node *other = &m->program->nodes.at[n->c - 1];
    return other->kind == VRAM_S_IF ? if_statement(m, f, other, out)
                                    : block(m, f, n->c - 1, out);
}

static enum flow autocast_statement(struct vram_machine *m, struct vram_frame *f,
                                    const struct vram_node *n, struct vram_value *out)
{
    struct vram_value dtype;
    enum vram_dtype old = m->autocast;
    if (vram_eval(m, f, n->a, &dtype))
        return FLOW_STOP;
    m->autocast = dtype.kind == VRAM_V_DTYPE ? (enum vram_dtype)dtype.u.i : VRAM_DT_NONE;
    enum flow flow = block(m, f, n->b, out);
    m->autocast = old;
    return flow;
}

static enum flow statement(struct vram_machine *m, struct vram_frame *f, uint32_t node,
                           struct vram_value *out)
{
    const struct vram_node *n = &m->program->nodes.at[node];
    struct vram_value v;
    m->at = node;
    vram_step(m);
    switch (n->kind) {
    case VRAM_S_ASSIGN:
        if (vram_eval(m, f, n->b, &v))
            return FLOW_STOP;
        return assign(m, f, n->a, v) ? FLOW_STOP : FLOW_NEXT;
    case VRAM_S_EXPR:
        if (vram_eval(m, f, n->a, &v))
            return FLOW_STOP;
        vram_value_drop(m, v);
        return FLOW_NEXT;
    case VRAM_S_RETURN:
        return vram_eval(m, f, n->a, out) ? FLOW_STOP : FLOW_RETURN;
    case VRAM_S_DEL:
        v = f->slots[n->a];
        f->slots[n->a] = (struct vram_value){0};
        vram_value_drop(m, v);
        return FLOW_NEXT;
    case VRAM_S_IF:
        return if_statement(m, f, n, out);
    case VRAM_S_FOR:
        return for_statement(m, f, n, out);
    case VRAM_S_AUTOCAST:
        return autocast_statement(m, f, n, out);
    case VRAM_S_NOGRAD: {
        bool grad = m->grad;
        m->grad = false;
        enum flow flow = block(m, f, n->b, out);
        m->grad = grad;
        return flow;
    }
    case VRAM_S_PHASE:
        if (!m->quiet)
            vram_phase(m, vram_sym_text(m->cx->syms, n->a));
        /* what no module does from here on belongs to the loss */
        m->in_loss = m->loss_begun = true;
        return FLOW_NEXT;
    case VRAM_S_BLOCK: /* del a, b */
        return block(m, f, node, out);
    default:
        vram_throw(m, VRAM_E_INTERNAL, "not a statement");
    }
}

static enum flow block(struct vram_machine *m, struct vram_frame *f, uint32_t node,
                       struct vram_value *out)
{
    const struct vram_node *n = &m->program->nodes.at[node];
    const uint32_t *list = m->program->lists.at + n->a;
    enum flow flow = FLOW_NEXT;
    vram_deeper(m);
    for (uint32_t i = 0; i < n->b && flow == FLOW_NEXT; i++)
        flow = statement(m, f, list[i], out);
    m->depth--;
    return flow;
}

/* ---- calls -------------------------------------------------------------------------------- */

/* What keywords are left over, as the record that **kw names. */
static struct vram_value rest_record(struct vram_machine *m, const struct vram_call *call,
                                     uint32_t used)
{
    struct vram_value v = {.kind = VRAM_V_BOX};
    v.u.box = vram_box_new(m, VRAM_BOX_RECORD, call->nkw);
    for (uint32_t i = 0; i < call->nkw; i++)
        if (!(used & (1u << i))) {
            v.u.box->keys[v.u.box->n] = call->kw[i].name;
            vram_box_push(m, v.u.box, vram_value_hold(call->kw[i].value));
        }
    return v;
}

/* Fills the parameters of a frame from a call; the call keeps its own references. */
static bool bind(struct vram_machine *m, struct vram_frame *f, const struct vram_callable *c,
                 const struct vram_call *call, const char *name)
{
    uint32_t n = (uint32_t)c->npositional + c->nkeyword, used = 0;
    if (call->nargs > c->npositional)
        vram_throw(m, VRAM_E_FORMAT, "%s takes %u positional arguments, %u were given", name,
                   (unsigned)c->npositional, (unsigned)call->nargs);
    for (uint32_t i = 0; i < n; i++) {
        const struct vram_param_def *p = &m->program->params.at[c->params + i];
        uint32_t k = 0;
        while (k < call->nkw && call->kw[k].name != p->name)
            k++;
        if (i < call->nargs) {
            f->slots[i] = vram_value_hold(call->args[i]);
        } else if (k < call->nkw) {
            f->slots[i] = vram_value_hold(call->kw[k].value);
            used |= 1u << k;
        } else if (!p->fallback) {
            vram_throw(m, VRAM_E_FORMAT, "%s needs the argument '%s'", name,
                       vram_sym_text(m->cx->syms, p->name));
        } else if (vram_eval(m, f, p->fallback - 1, &f->slots[i])) {
            return true;
        }
    }
    if (c->rest)
        f->slots[n] = rest_record(m, call, used);
    else if (used != (call->nkw ? (1u << call->nkw) - 1 : 0))
        vram_throw(m, VRAM_E_FORMAT, "%s was given a keyword it does not take", name);
    return false;
}

static bool run(struct vram_machine *m, struct vram_frame *f, const struct vram_callable *c,
                struct vram_value *out)
{
    *out = (struct vram_value){0};
    enum flow flow = block(m, f, c->body - 1, out);
    vram_slots_give(m, f->slots, c->nslots);
    return flow == FLOW_STOP;
}

static bool run_body(struct vram_machine *m, uint32_t scope, const struct vram_call *call,
                     struct vram_value *out)
{
    const struct vram_class *cls = &m->program->classes.at[m->tree->scopes[scope].cls];
    const char *name = vram_sym_text(m->cx->syms, cls->name);
    if (!cls->forward.body)
        vram_throw(m, VRAM_E_UNSUPPORTED, "no template says what %s runs", name);
    struct vram_frame f = {.scope = scope, .cls = cls};
    f.slots = vram_slots_take(m, cls->forward.nslots);
    if (bind(m, &f, &cls->forward, call, name)) {
        vram_slots_give(m, f.slots, cls->forward.nslots);
        return true;
    }
    return run(m, &f, &cls->forward, out);
}

bool vram_call_inner(struct vram_machine *m, uint32_t scope, struct vram_call *call, struct vram_value *out)
{
    bool stopped = run_body(m, scope, call, out);
    vram_call_drop(m, call);
    return stopped;
}

/* In a split model: the function of the module's style is handed forward itself and the arguments. */
static bool run_split(struct vram_machine *m, uint32_t scope, const struct vram_call *call,
                      struct vram_value *out)
{
    struct vram_call around = {.nargs = call->nargs + 1, .nkw = call->nkw};
    if (call->nargs == VRAM_MAX_ARGS)
        vram_throw(m, VRAM_E_LIMIT, "too many arguments");
    around.args[0] = (struct vram_value){.kind = VRAM_V_MODULE, .method = true};
    around.args[0].u.i = scope;
    for (uint32_t i = 0; i < call->nargs; i++)
        around.args[i + 1] = vram_value_hold(call->args[i]);
    for (uint32_t i = 0; i < call->nkw; i++) {
        around.kw[i] = call->kw[i];
        vram_value_hold(call->kw[i].value);
    }
    return vram_call_function(m, m->tree->scopes[scope].split - 1, scope, &around, out);
}

/* transformers' PipelineIdentityLayer */
static bool hand_on(struct vram_machine *m, uint32_t scope, const struct vram_call *call, struct vram_value *out)
{
    (void)m;
    (void)scope;
    *out = call->nargs ? vram_value_hold(call->args[0])
           : call->nkw ? vram_value_hold(call->kw[0].value)
                       : (struct vram_value){0};
    return false;
}

bool vram_run_forward(struct vram_machine *m, uint32_t scope, const struct vram_call *call,
                      struct vram_value *out)
{
    const struct vram_scope *s = &m->tree->scopes[scope];
    bool stopped = (s->absent ? hand_on : s->split ? run_split : run_body)(m, scope, call, out);
    /* the hook of enable_input_require_grads */
    if (!stopped && m->input_grads && m->tree->scopes[scope].input_embedding &&
        out->kind == VRAM_V_TENSOR)
        vram_require_grad(m, out->u.tensor);
    if (!stopped && scope == 0 && m->finish)
        m->finish(m, out);
    return stopped;
}

bool vram_call_function(struct vram_machine *m, uint32_t function, uint32_t scope,
                        struct vram_call *call, struct vram_value *out)
{
    const struct vram_function *fn = &m->program->functions.at[function];
    struct vram_frame f = {.scope = scope};
    if (m->selective && fn->name == m->core_attention && m->grad && !m->hooks) {
        m->selected++;
        bool ended = vram_checkpoint_call(m, function, call, out);
        vram_call_drop(m, call);
        return ended;
    }
    if (scope != VRAM_NO_INDEX)
        f.cls = &m->program->classes.at[m->tree->scopes[scope].cls];
    f.slots = vram_slots_take(m, fn->callable.nslots);
    vram_step(m);
    bool stopped = bind(m, &f, &fn->callable, call, vram_sym_text(m->cx->syms, fn->name));
    vram_call_drop(m, call); /* moved: from here on only the callee's names hold them */
    if (stopped) {
        vram_slots_give(m, f.slots, fn->callable.nslots);
        return true;
    }
    return run(m, &f, &fn->callable, out);
}

static bool is_checkpointed(const struct vram_machine *m, uint32_t scope, const struct vram_class *c)
{
    vram_sym component = m->tree->scopes[scope].component;
    return c->checkpointed && !m->tree->scopes[scope].absent && m->training && m->grad && component < m->ncheckpointed &&
           m->checkpointed_component[component] && !(m->passed_over && m->passed_over[scope]);
}

/* What hooks are around: transformers checkpoints forward, not the call. */
static bool run_checkpointed(struct vram_machine *m, uint32_t scope, const struct vram_call *call,
                             struct vram_value *out)
{
    if (!is_checkpointed(m, scope, &m->program->classes.at[m->tree->scopes[scope].cls]))
        return vram_run_forward(m, scope, call, out);
    return m->reentrant ? vram_reentrant_call(m, call, out) : vram_checkpoint_call(m, VRAM_NO_INDEX, call, out);
}

bool vram_call_module(struct vram_machine *m, uint32_t scope, struct vram_call *call,
                      struct vram_value *out)
{
    uint32_t old_scope = m->scope;
    bool old_loss = m->in_loss, stopped;
    vram_step(m);
    m->scope = scope;
    m->in_loss = false;
    if (scope == 0)
        m->loss_begun = false;
    if (m->around && (!m->around->wants || m->around->wants(m, scope)))
        stopped = vram_hooked_forward(m, scope, call, out, run_checkpointed);
    else
        stopped = run_checkpointed(m, scope, call, out);
    vram_call_drop(m, call);
    m->scope = old_scope;
    m->in_loss = old_loss || (scope && !old_scope && m->loss_begun); /* it may have begun inside */
    return stopped;
}
