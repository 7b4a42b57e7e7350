/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions: arguments left to right; a temporary dies when the call that consumed it returns.
 */
#include <math.h>
#include <string.h>

#include "base/math.h"
#include "machine/machine.h"

struct vram_value vram_config_value(struct vram_machine *m, struct vram_config *c)
{
    struct vram_value v = {0};
    if (!c)
        return v;
    if (m->tag_config) /* a tree is built; what runs shares the config with others */
        c->used = true;
    switch (c->type) {
    case VRAM_CONFIG_BOOL:
        v.kind = VRAM_V_BOOL;
        v.u.i = c->integer;
        break;
    case VRAM_CONFIG_INT:
        v = vram_int(c->integer);
        v.tag = m->tag_config ? m->tag_config(m, c) : 0;
        break;
    case VRAM_CONFIG_FLOAT:
        v.kind = VRAM_V_FLOAT;
        v.u.f = c->real;
        break;
    case VRAM_CONFIG_STRING:
        v.kind = VRAM_V_STRING;
        v.u.i = c->text;
        break;
    case VRAM_CONFIG_OBJECT:
        v.kind = VRAM_V_CONFIG;
        v.u.config = c;
        break;
    case VRAM_CONFIG_ARRAY:
        v.kind = VRAM_V_BOX;
        v.u.box = vram_box_new(m, VRAM_BOX_LIST, 0);
        for (struct vram_config *e = c->first; e; e = e->next)
            vram_box_push(m, v.u.box, vram_config_value(m, e));
        break;
    default:
        break;
    }
    return v;
}

struct vram_value vram_member_value(struct vram_machine *m, uint32_t scope, uint32_t member)
{
    const struct vram_scope *s = &m->tree->scopes[scope];
    const struct vram_class *cls = &m->program->classes.at[s->cls];
    const struct vram_decl *d = &m->program->decls.at[cls->members[member]];
    struct vram_value v = {0};
    if (d->kind == VRAM_DECL_METHOD) {
        v.kind = VRAM_V_FUNC;
        v.method = true;
        v.tag = scope;
        v.u.i = d->function;
        return v;
    }
    v = m->tree->members[s->members + member];
    if (v.kind == VRAM_V_PARAM && m->around && m->around->names)
        m->around->names(m, (uint32_t)v.u.i);
    if (v.kind == VRAM_V_PARAM && m->params)
        return vram_tensor_value(m->params[v.u.i]);
    return v;
}

/* A declaration may name a member that stands further down: then it has no value yet. */
static struct vram_value member(struct vram_machine *m, const struct vram_frame *f, uint32_t i)
{
    if (f->scope == VRAM_NO_INDEX)
        vram_throw(m, VRAM_E_INTERNAL, "a member outside a module");
    return vram_value_hold(vram_member_value(m, f->scope, i));
}

/* ---- fields, indices, containers ---------------------------------------------------------- */

static struct vram_value shape_tuple(struct vram_machine *m, const struct vram_handle *x)
{
    struct vram_value v = {.kind = VRAM_V_BOX};
    v.u.box = vram_box_new(m, VRAM_BOX_TUPLE, x->rank);
    for (int i = 0; i < x->rank; i++)
        vram_box_push(m, v.u.box, vram_int(x->shape[i]));
    return v;
}

static struct vram_value field(struct vram_machine *m, struct vram_value object, vram_sym name)
{
    const char *text = vram_sym_text(m->cx->syms, name);
    struct vram_value v = {0};
    switch (object.kind) {
    case VRAM_V_CONFIG:
        return vram_config_value(m, vram_config_get(object.u.config, name));
    case VRAM_V_MODULE: {
        const struct vram_class *cls =
            &m->program->classes.at[m->tree->scopes[object.u.i].cls];
        uint32_t i = vram_class_member(m->program, cls, name);
        if (i != VRAM_NO_INDEX)
            return vram_value_hold(vram_member_value(m, (uint32_t)object.u.i, i));
        /* an adapted layer has the weight and bias of the one inside (peft BaseTunerLayer) */
        i = vram_class_member(m->program, cls, vram_sym_find(m->cx->syms, "base_layer", 10));
        if (i != VRAM_NO_INDEX)
            return field(m, vram_member_value(m, (uint32_t)object.u.i, i), name);
        break;
    }
    case VRAM_V_BOX:
        for (uint32_t i = 0; object.u.box->kind == VRAM_BOX_RECORD && i < object.u.box->n; i++)
            if (object.u.box->keys[i] == name)
                return vram_value_hold(object.u.box->at[i]);
        break;
    case VRAM_V_TENSOR:
        if (!strcmp(text, "shape"))
            return shape_tuple(m, object.u.tensor);
        if (!strcmp(text, "rank"))
            return vram_int(object.u.tensor->rank);
        if (!strcmp(text, "dtype")) {
            v.kind = VRAM_V_DTYPE;
            v.u.i = object.u.tensor->dtype;
            return v;
        }
        break;
    default:
        break;
    }
    vram_throw(m, VRAM_E_FORMAT, "there is no field '%s' here", text);
}

static int64_t index_in(struct vram_machine *m, struct vram_value i, int64_t n)
{
    if (i.kind != VRAM_V_INT || i.u.i < -n || i.u.i >= n)
        vram_throw(m, VRAM_E_FORMAT, "an index outside the list");
    return i.u.i < 0 ? i.u.i + n : i.u.i;
}

static bool index_expr(struct vram_machine *m, struct vram_frame *f, const struct vram_node *n,
                       uint32_t node, struct vram_value *out)
{
    const struct vram_node *of = &m->program->nodes.at[n->a];
    struct vram_value object, i;
    /* x.shape[i] without making the tuple */
    bool shape = of->kind == VRAM_N_FIELD && of->b == m->sym_shape;
    if (vram_eval(m, f, shape ? of->a : n->a, &object))
        return true;
    if (vram_eval(m, f, n->b, &i)) {
        vram_value_drop(m, object);
        return true;
    }
    m->at = node;
    if (shape && object.kind == VRAM_V_TENSOR) {
        *out = vram_int(object.u.tensor->shape[index_in(m, i, object.u.tensor->rank)]);
    } else if (object.kind == VRAM_V_BOX && object.u.box->kind != VRAM_BOX_RECORD && !shape) {
        *out = vram_value_hold(object.u.box->at[index_in(m, i, object.u.box->n)]);
    } else if (object.kind == VRAM_V_MODULES && !shape) {
        struct vram_list l = m->tree->lists[object.u.i];
        *out = (struct vram_value){.kind = VRAM_V_MODULE};
        out->u.i = m->tree->list_scopes[l.first + (uint32_t)index_in(m, i, l.n)];
    } else {
        vram_throw(m, VRAM_E_FORMAT, "only lists and shapes can be indexed");
    }
    vram_value_drop(m, object);
    return false;
}

static bool container(struct vram_machine *m, struct vram_frame *f, const struct vram_node *n,
                      struct vram_value *out)
{
    bool record = n->kind == VRAM_N_RECORD;
    struct vram_box *box = vram_box_new(
        m, record ? VRAM_BOX_RECORD : n->kind == VRAM_N_LIST ? VRAM_BOX_LIST : VRAM_BOX_TUPLE, n->b);
    struct vram_value v = {.kind = VRAM_V_BOX};
    v.u.box = box;
    for (uint32_t i = 0; i < n->b; i++) {
        const uint32_t *at = m->program->lists.at + n->a + (record ? 2 * i : i);
        struct vram_value item;
        if (vram_eval(m, f, at[record], &item)) {
            vram_value_drop(m, v);
            return true;
        }
        if (record)
            box->keys[box->n] = at[0];
        vram_box_push(m, box, item);
    }
    *out = v;
    return false;
}

static struct vram_value context(const struct vram_machine *m, uint32_t which)
{
    struct vram_value v = {.kind = VRAM_V_BOOL};
    switch ((enum vram_context)which) {
    case VRAM_CONTEXT_TRAINING:
        v.u.i = m->training;
        break;
    case VRAM_CONTEXT_GRAD:
        v.u.i = m->grad;
        break;
    case VRAM_CONTEXT_CHECKPOINTING:
        v.u.i = m->checkpointing && m->training;
        break;
    case VRAM_CONTEXT_AUTOCAST:
        if (m->autocast == VRAM_DT_NONE)
            return (struct vram_value){0};
        v.kind = VRAM_V_DTYPE;
        v.u.i = m->autocast;
        break;
    default:
        break;
    }
    return v;
}

static bool unary(struct vram_machine *m, struct vram_frame *f, const struct vram_node *n,
                  uint32_t node, struct vram_value *out)
{
    struct vram_value v;
    if (vram_eval(m, f, n->a, &v))
        return true;
    m->at = node;
    if (n->kind == VRAM_N_NOT) {
        *out = vram_bool(!vram_truth(m, v));
        vram_value_drop(m, v);
        return false;
    }
    if (v.kind == VRAM_V_TENSOR) {
        struct vram_value args[VRAM_MAX_ARGS] = {v};
        const struct vram_op_row *row = vram_op_row_at(m->op_neg);
        uint16_t old = m->op;
        m->op = m->op_neg;
        bool stopped = row->run(m, row, args, out);
        m->op = old;
        vram_value_drop(m, v);
        return stopped;
    }
    if (v.kind == VRAM_V_FLOAT)
        v.u.f = -v.u.f;
    else if (v.kind != VRAM_V_INT || v.u.i == INT64_MIN)
        vram_throw(m, VRAM_E_FORMAT, "only numbers and tensors can be negated");
    else
        v = vram_int(-v.u.i);
    *out = v;
    return false;
}

static bool logic(struct vram_machine *m, struct vram_frame *f, const struct vram_node *n,
                  uint32_t node, struct vram_value *out)
{
    struct vram_value v;
    if (vram_eval(m, f, n->a, &v))
        return true;
    m->at = node;
    bool yes = vram_truth(m, v);
    if (n->kind == VRAM_N_CHOICE) {
        vram_value_drop(m, v);
        return vram_eval(m, f, yes ? n->b : n->c, out);
    }
    if (yes == (n->kind == VRAM_N_OR)) {
        *out = v;
        return false;
    }
    vram_value_drop(m, v);
    return vram_eval(m, f, n->b, out);
}

static struct vram_value reference(enum vram_value_kind kind, uint32_t index)
{
    struct vram_value v = {.kind = (uint8_t)kind};
    v.u.i = index;
    return v;
}

/* What has expressions inside. */
static bool composite(struct vram_machine *m, struct vram_frame *f, const struct vram_node *n,
                      uint32_t node, struct vram_value *out)
{
    struct vram_value a, b;
    switch (n->kind) {
    case VRAM_N_FIELD:
        if (vram_eval(m, f, n->a, &a))
            return true;
        m->at = node;
        *out = field(m, a, n->b);
        vram_value_drop(m, a);
        return false;
    case VRAM_N_INDEX:
        return index_expr(m, f, n, node, out);
    case VRAM_N_BINARY:
        if (vram_eval(m, f, n->a, &a))
            return true;
        if (vram_eval(m, f, n->b, &b)) {
            vram_value_drop(m, a);
            return true;
        }
        m->at = node;
        return vram_eval_binary(m, n, a, b, out);
    case VRAM_N_NOT:
    case VRAM_N_NEGATE:
        return unary(m, f, n, node, out);
    case VRAM_N_AND:
    case VRAM_N_OR:
    case VRAM_N_CHOICE:
        return logic(m, f, n, node, out);
    case VRAM_N_TUPLE:
    case VRAM_N_LIST:
    case VRAM_N_RECORD:
        return container(m, f, n, out);
    case VRAM_N_CALL:
        return vram_eval_call(m, f, node, out);
    default:
        vram_throw(m, VRAM_E_INTERNAL, "not an expression");
    }
}

bool vram_eval(struct vram_machine *m, struct vram_frame *f, uint32_t node, struct vram_value *out)
{
    const struct vram_node *n = &m->program->nodes.at[node];
    *out = (struct vram_value){0};
    switch (n->kind) {
    case VRAM_N_NONE:
        return false;
    case VRAM_N_BOOL:
        *out = vram_bool(n->a);
        return false;
    case VRAM_N_INT:
        *out = vram_int(m->program->ints.at[n->a]);
        return false;
    case VRAM_N_FLOAT:
        out->kind = VRAM_V_FLOAT;
        out->u.f = m->program->floats.at[n->a];
        return false;
    case VRAM_N_STRING:
        *out = reference(VRAM_V_STRING, n->a);
        return false;
    case VRAM_N_DTYPE:
        *out = reference(VRAM_V_DTYPE, n->a);
        return false;
    case VRAM_N_SLOT:
        *out = vram_value_hold(f->slots[n->a]);
        return false;
    case VRAM_N_MEMBER:
        *out = member(m, f, n->a);
        return false;
    case VRAM_N_FUNC:
        *out = reference(VRAM_V_FUNC, n->a);
        return false;
    case VRAM_N_CLASS:
        *out = reference(VRAM_V_CLASS, n->a);
        return false;
    case VRAM_N_OP:
        *out = reference(VRAM_V_OP, n->a);
        return false;
    case VRAM_N_CONTEXT:
        *out = context(m, n->a);
        return false;
    case VRAM_N_CONFIG:
        m->at = node;
        if (f->scope == VRAM_NO_INDEX)
            vram_throw(m, VRAM_E_FORMAT, "only modules have a config");
        out->kind = VRAM_V_CONFIG;
        out->u.config = m->tree->scopes[f->scope].config;
        return false;
    case VRAM_N_SETTING:
        m->at = node;
        if (!m->setting)
            vram_throw(m, VRAM_E_FORMAT, "a declaration does not know the plan");
        if (!m->setting(m->setting_ctx, n->a, out))
            vram_throw(m, VRAM_E_FORMAT, "there is no setting '%s'",
                       vram_sym_text(m->cx->syms, n->a));
        return false;
    default:
        vram_deeper(m);
        bool stopped = composite(m, f, n, node, out);
        m->depth--;
        return stopped;
    }
}
