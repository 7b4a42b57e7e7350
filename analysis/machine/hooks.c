/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks around modules: forward begins and ends, backward begins and ends.  For the latter two an
 * identity goes on the tape in front of every input and behind every output, as DeepSpeed
 * (parameter_offload.py) and FSDP (RegisterPostBackwardFunction) put theirs.
 */
#include "machine/machine.h"

static void output_backward(struct vram_machine *m, struct vram_tape_node *n,
                            struct vram_handle **grads, struct vram_handle **saved,
                            struct vram_handle **out)
{
    (void)saved;
    m->around->before_backward(m, (uint32_t)n->arg[0]);
    out[0] = vram_hold(grads[0]);
}

static void input_backward(struct vram_machine *m, struct vram_tape_node *n,
                           struct vram_handle **grads, struct vram_handle **saved,
                           struct vram_handle **out)
{
    uint32_t scope = (uint32_t)n->arg[0];
    (void)saved;
    if (m->inputs_left[scope] && --m->inputs_left[scope] == 0)
        m->around->after_backward(m, scope);
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

static void hook_value(struct vram_machine *m, struct vram_value *v, uint32_t scope, int depth)
{
    if (v->kind == VRAM_V_TENSOR) {
        v->u.tensor = through(m, v->u.tensor, scope, output_backward);
        return;
    }
    if (v->kind != VRAM_V_BOX || v->u.box->opaque || v->u.box->refs < 0 || depth > VRAM_MAX_BOX_DEPTH)
        return;
    for (uint32_t i = 0; i < v->u.box->n; i++)
        hook_value(m, &v->u.box->at[i], scope, depth + 1);
}

static void hook_input(struct vram_machine *m, struct vram_value *v, uint32_t scope)
{
    if (v->kind != VRAM_V_TENSOR || !v->u.tensor->requires_grad || !m->grad)
        return;
    m->inputs_left[scope]++;
    v->u.tensor = through(m, v->u.tensor, scope, input_backward);
}

bool vram_hooked_forward(struct vram_machine *m, uint32_t scope, const struct vram_call *call,
                         struct vram_value *out,
                         bool (*body)(struct vram_machine *m, uint32_t scope,
                                      const struct vram_call *call, struct vram_value *out))
{
    struct vram_call own = *call;
    m->around->before_forward(m, scope);
    m->inputs_left[scope] = 0;
    for (uint32_t i = 0; i < own.nargs; i++) {
        vram_value_hold(own.args[i]);
        hook_input(m, &own.args[i], scope);
    }
    for (uint32_t i = 0; i < own.nkw; i++) {
        vram_value_hold(own.kw[i].value);
        if (m->around->keywords)
            hook_input(m, &own.kw[i].value, scope);
    }
    bool stopped = body(m, scope, &own, out);
    vram_call_drop(m, &own);
    if (stopped) /* as by an exception: nothing that comes behind the call is run */
        return true;
    m->around->after_forward(m, scope);
    hook_value(m, out, scope, 0);
    return false;
}
