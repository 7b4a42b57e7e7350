/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls: what is called (an op, a function, a module, a list's append), and its arguments.
 */
#include <string.h>

#include "machine/machine.h"

/* Spreads the record that **kw names over the keywords of a call. */
static void spread_keywords(struct vram_machine *m, struct vram_call *call, struct vram_value v)
{
    if (v.kind != VRAM_V_BOX || v.u.box->kind != VRAM_BOX_RECORD)
        vram_throw(m, VRAM_E_FORMAT, "** takes a record");
    for (uint32_t i = 0; i < v.u.box->n; i++) {
        if (call->nkw == VRAM_MAX_ARGS)
            vram_throw(m, VRAM_E_FORMAT, "too many keywords");
        call->kw[call->nkw].name = v.u.box->keys[i];
        call->kw[call->nkw++].value = vram_value_hold(v.u.box->at[i]);
    }
    vram_value_drop(m, v);
}

static bool arguments(struct vram_machine *m, struct vram_frame *f, uint32_t node,
                      struct vram_call *call)
{
    const struct vram_node *n = &m->program->nodes.at[node];
    const uint32_t *list = m->program->lists.at + n->b;
    call->nargs = call->nkw = 0;
    m->at = node;
    if (n->c > VRAM_MAX_ARGS)
        vram_throw(m, VRAM_E_FORMAT, "more than %d arguments", VRAM_MAX_ARGS);
    for (uint32_t i = 0; i < n->c; i++) {
        if (vram_eval(m, f, list[i], &call->args[i])) {
            vram_call_drop(m, call);
            return true;
        }
        call->nargs++;
    }
    list += n->c;
    for (uint32_t i = 0; i < n->nkw; i++) {
        struct vram_value v;
        if (vram_eval(m, f, list[2 * i + 1], &v)) {
            vram_call_drop(m, call);
            return true;
        }
        m->at = node;
        if (list[2 * i] == 0) {
            spread_keywords(m, call, v);
            continue;
        }
        if (call->nkw == VRAM_MAX_ARGS)
            vram_throw(m, VRAM_E_FORMAT, "too many keywords");
        call->kw[call->nkw].name = list[2 * i];
        call->kw[call->nkw++].value = v;
    }
    return false;
}

/* Which parameter of the row is called that? */
static int op_parameter(const struct vram_op_row *row, const char *name)
{
    size_t n = strlen(name);
    int i = 0;
    for (const char *p = row->params; *p; i++) {
        const char *end = p + strcspn(p, " ?");
        if ((size_t)(end - p) == n && !memcmp(p, name, n))
            return i;
        p = end + strspn(end, " ?");
    }
    return -1;
}

static bool required(const struct vram_op_row *row, int which)
{
    const char *p = row->params;
    for (int i = 0; i < which; i++)
        p += strcspn(p, " ") + 1;
    return p[strcspn(p, " ?")] != '?';
}

static bool call_op(struct vram_machine *m, uint32_t op, struct vram_call *call,
                    struct vram_value *out)
{
    const struct vram_op_row *row = vram_op_row_at(op);
    struct vram_value a[VRAM_MAX_ARGS];
    uint32_t n = m->op_nparams[op];
    if (call->nargs > n)
        vram_throw(m, VRAM_E_FORMAT, "%s takes %u arguments", row->name, (unsigned)n);
    memcpy(a, call->args, call->nargs * sizeof *a);
    memset(a + call->nargs, 0, (VRAM_MAX_ARGS - call->nargs) * sizeof *a);
    for (uint32_t i = 0; i < call->nkw; i++) {
        const char *name = vram_sym_text(m->cx->syms, call->kw[i].name);
        int at = op_parameter(row, name);
        if (at < 0 || (uint32_t)at < call->nargs)
            vram_throw(m, VRAM_E_FORMAT, "%s takes no keyword '%s'", row->name, name);
        a[at] = call->kw[i].value;
    }
    for (uint32_t i = 0; i < n; i++)
        if (a[i].kind == VRAM_V_NONE && required(row, (int)i))
            vram_throw(m, VRAM_E_FORMAT, "%s(%s): argument %u is missing", row->name, row->params,
                       (unsigned)i + 1);
    uint16_t old = m->op;
    m->op = (uint16_t)op;
    bool stopped = row->run(m, row, a, out);
    m->op = old;
    vram_call_drop(m, call);
    return stopped;
}

/* list.append(x) */
static bool append(struct vram_machine *m, struct vram_frame *f, uint32_t node,
                   const struct vram_node *callee)
{
    const struct vram_node *n = &m->program->nodes.at[node];
    struct vram_value list, item;
    if (vram_eval(m, f, callee->a, &list))
        return true;
    m->at = node;
    if (list.kind != VRAM_V_BOX || list.u.box->kind != VRAM_BOX_LIST || n->c != 1 || n->nkw)
        vram_throw(m, VRAM_E_FORMAT, "append takes one value, into a list");
    if (vram_eval(m, f, m->program->lists.at[n->b], &item)) {
        vram_value_drop(m, list);
        return true;
    }
    m->at = node;
    vram_box_push(m, list.u.box, item);
    vram_value_drop(m, list);
    return false;
}

bool vram_eval_call(struct vram_machine *m, struct vram_frame *f, uint32_t node,
                    struct vram_value *out)
{
    const struct vram_node *n = &m->program->nodes.at[node];
    const struct vram_node *callee = &m->program->nodes.at[n->a];
    struct vram_value what;
    struct vram_call call;
    if (callee->kind == VRAM_N_FIELD && callee->b == m->sym_append)
        return append(m, f, node, callee);
    if (vram_eval(m, f, n->a, &what))
        return true;
    if (arguments(m, f, node, &call)) {
        vram_value_drop(m, what);
        return true;
    }
    m->at = node;
    switch (what.kind) {
    case VRAM_V_OP:
        return call_op(m, (uint32_t)what.u.i, &call, out);
    case VRAM_V_FUNC:
        return vram_call_function(m, (uint32_t)what.u.i, what.method ? what.tag : VRAM_NO_INDEX,
                                  &call, out);
    case VRAM_V_MODULE:
        return what.method ? vram_call_inner(m, (uint32_t)what.u.i, &call, out)
                           : vram_call_module(m, (uint32_t)what.u.i, &call, out);
    default:
        vram_throw(m, VRAM_E_FORMAT, "only modules, functions and ops can be called");
    }
}
