/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks around modules: forward begins and ends, backward begins and ends.  For the latter two an
 * identity goes on the tape in front of every input and behind every output, as DeepSpeed
 * (parameter_offload.py) and FSDP (RegisterPostBackwardFunction) put theirs.
 */
#include "machine/machine.h"

static void input_came(struct vram_machine *m, uint32_t scope)
{
    if (m->inputs_left[scope] && --m->inputs_left[scope] == 0)
        m->around->after_backward(m, scope);
}

/* arg[0]: the module; arg[1]: 1 + the one whose input it is, if that hook is here, too. */
static void output_backward(struct vram_machine *m, struct vram_tape_node *n,
                            struct vram_handle **grads, struct vram_handle **saved,
                            struct vram_handle **out)
{
    (void)saved;
    m->around->before_backward(m, (uint32_t)n->arg[0]);
    if (n->arg[1])
        input_came(m, (uint32_t)n->arg[1] - 1);
    out[0] = vram_hold(grads[0]);
}

static void input_backward(struct vram_machine *m, struct vram_tape_node *n,
                           struct vram_handle **grads, struct vram_handle **saved,
                           struct vram_handle **out)
{
    (void)saved;
    input_came(m, (uint32_t)n->arg[0]);
    out[0] = vram_hold(grads[0]);
}

/* x by another handle whose node calls the hook; takes x. */
static struct vram_handle *through(struct vram_machine *m, struct vram_handle *x, uint32_t scope,
                                   vram_backward_fn backward)
{
    struct vram_tape_node *n;
    vram_begin(m, &n, &(struct vram_begin){.inputs = &x, .ninputs = 1, .backward = backward});
    if (!n)
        return x;
    n->arg[0] = scope;
    struct vram_handle *y = vram_detach(m, x);
    vram_end(m, n, &y, 1, NULL, 0);
    vram_drop(m, x);
    return y;
}

static void cast(struct vram_machine *m, struct vram_value *v)
{
    enum vram_dtype to = m->hooked_dtype;
    uint16_t op = m->op;
    if (to == VRAM_DT_NONE || !vram_dtype_is_float((enum vram_dtype)v->u.tensor->dtype) ||
        v->u.tensor->dtype == to)
        return;
    m->op = VRAM_OP_LOOP;
    struct vram_handle *x = vram_cast(m, v->u.tensor, to);
    m->op = op;
    vram_drop(m, v->u.tensor);
    v->u.tensor = x;
}

static void hook_output(struct vram_machine *m, struct vram_value *v, uint32_t scope)
{
    v->u.tensor = through(m, v->u.tensor, scope, output_backward);
    if (m->around->casts)
        cast(m, v);
}

static void hook_input(struct vram_machine *m, struct vram_value *v, uint32_t scope)
{
    if (m->around->casts || (m->around->casts_top && scope == 0))
        cast(m, v);
    if (!v->u.tensor->requires_grad || !m->grad)
        return;
    m->inputs_left[scope]++;
    struct vram_tape_node *made = v->u.tensor->node;
    if (m->around->behind && made && made->backward == output_backward && !made->arg[1]) {
        made->arg[1] = (int64_t)scope + 1;
        return;
    }
    v->u.tensor = through(m, v->u.tensor, scope, input_backward);
}

typedef void (*hook_fn)(struct vram_machine *m, struct vram_value *v, uint32_t scope);

/* Every tensor in a value; containers are changed where they are. */
static void hook_value(struct vram_machine *m, struct vram_value *v, uint32_t scope, hook_fn hook,
                       int depth)
{
    if (v->kind == VRAM_V_TENSOR)
        hook(m, v, scope);
    if (v->kind != VRAM_V_BOX || v->u.box->opaque || v->u.box->refs < 0 ||
        depth > VRAM_MAX_BOX_DEPTH)
        return;
    for (uint32_t i = 0; i < v->u.box->n; i++)
        hook_value(m, &v->u.box->at[i], scope, hook, depth + 1);
}

/* A container of an argument's own: the caller's stays as it is. */
static struct vram_value own_box(struct vram_machine *m, struct vram_value v)
{
    struct vram_box *old = v.u.box;
    if (v.kind != VRAM_V_BOX || old->opaque)
        return v;
    struct vram_value new = {.kind = VRAM_V_BOX};
    new.u.box = vram_box_new(m, (enum vram_box_kind)old->kind, old->n);
    for (uint32_t i = 0; i < old->n; i++) {
        if (old->kind == VRAM_BOX_RECORD)
            new.u.box->keys[i] = old->keys[i];
        vram_box_push(m, new.u.box, vram_value_hold(old->at[i]));
    }
    vram_value_drop(m, v);
    return new;
}

static void hook_argument(struct vram_machine *m, struct vram_value *v, uint32_t scope)
{
    *v = own_box(m, *v);
    hook_value(m, v, scope, hook_input, VRAM_MAX_BOX_DEPTH);
}

static void hook_call(struct vram_machine *m, struct vram_call *call, uint32_t scope)
{
    m->inputs_left[scope] = 0;
    for (uint32_t i = 0; i < call->nargs; i++)
        hook_argument(m, &call->args[i], scope);
    for (uint32_t i = 0; m->around->keywords && i < call->nkw; i++)
        hook_argument(m, &call->kw[i].value, scope);
}

static void hold_call(struct vram_call *call)
{
    for (uint32_t i = 0; i < call->nargs; i++)
        vram_value_hold(call->args[i]);
    for (uint32_t i = 0; i < call->nkw; i++)
        vram_value_hold(call->kw[i].value);
}

bool vram_hooked_forward(struct vram_machine *m, uint32_t scope, const struct vram_call *call,
                         struct vram_value *out,
                         bool (*body)(struct vram_machine *m, uint32_t scope,
                                      const struct vram_call *call, struct vram_value *out))
{
    struct vram_call own = *call;
    hold_call(&own);
    if (m->around->before_forward(m, scope))
        hook_call(m, &own, scope);
    bool stopped = body(m, scope, &own, out);
    vram_call_drop(m, &own);
    if (stopped) /* as by an exception: nothing that comes behind the call is run */
        return true;
    if (m->around->after_forward(m, scope))
        hook_value(m, out, scope, hook_output, 0);
    return false;
}
