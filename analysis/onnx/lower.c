/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph as a forward; see lower.h.
 */
#include "onnx/lower.h"

#include <string.h>

#include "onnx/lower_plan.h"
#include "onnx/lower_value.h"

static const struct domain {
    const char *domain, *cls;
} domains[] = {{"", "OnnxOperators"}, {"com.microsoft", "MicrosoftOperators"}};
enum { NDOMAINS = sizeof domains / sizeof *domains };

const char *vram_lower_class(size_t i) { return i < NDOMAINS ? domains[i].cls : NULL; }

struct vram_lower {
    struct vram_lower_plan plan;
    const struct vram_onnx *model;
    const struct vram_inference *shapes;
    const struct vram_program *program;
    const struct vram_class *ops[NDOMAINS];
    vram_sym domain[NDOMAINS];
    struct vram_forward forward;
    struct vram_value *held; /* by value: its tensor while there is one */
    bool *live;              /* by value: it follows from inputs or parameters, not from sizes and constants alone */
    bool *guessed;           /* by node: all its inputs were assumed to be kept */
    uint32_t scope;          /* of the node before */
};

/* ---- values -------------------------------------------------------------------------------- */

static uint32_t in_of(const struct vram_lower *l, const struct vram_onnx_node *node, uint32_t i)
{
    return i < node->in.n ? l->model->edges.at[node->in.first + i] : 0;
}

static uint32_t out_of(const struct vram_lower *l, const struct vram_onnx_node *node, uint32_t i)
{
    uint32_t v = l->model->edges.at[node->out.first + i];
    return v && l->plan.last[v] ? v : 0; /* somebody reads it */
}

static void let_go(struct vram_lower *l, struct vram_machine *m, uint32_t v)
{
    struct vram_value old = l->held[v];
    l->held[v] = (struct vram_value){0};
    vram_value_drop(m, old);
}

static bool known(const struct vram_lower *l, uint32_t v)
{
    return !l->live[v] && vram_known(l->shapes, &l->shapes->at[v]);
}

/* Known, and one: with a dimension only if it is no index. */
static bool is_number(const struct vram_lower *l, uint32_t v)
{
    const struct vram_info *info = &l->shapes->at[v];
    bool real = vram_dtype_is_float((enum vram_dtype)info->dtype);
    int64_t size;
    return known(l, v) && (info->rank == 0 || (real && info->rank == 1 &&
                                                vram_dim_is_int(l->shapes->dims, info->dims[0], &size) && size == 1));
}

/* The tensor of a value, a new reference; one that is known is made now.  NONE: there is none. */
static struct vram_value tensor_of(struct vram_lower *l, struct vram_machine *m, uint32_t v)
{
    int64_t shape[VRAM_MAX_RANK];
    bool exact;
    if (v && l->held[v].kind == VRAM_V_NONE && l->plan.param[v])
        return vram_tensor_value(vram_hold(m->params[l->plan.param[v] - 1]));
    if (v && l->held[v].kind == VRAM_V_NONE && known(l, v)) {
        int rank = vram_lower_sizes(m, l->shapes, v, shape, &exact);
        l->held[v] = vram_tensor_value(vram_new(m, shape, rank, (enum vram_dtype)l->shapes->at[v].dtype, NULL));
    }
    return v ? vram_value_hold(l->held[v]) : (struct vram_value){0};
}

static struct vram_value argument(struct vram_lower *l, struct vram_machine *m, uint32_t v)
{
    return v && is_number(l, v) ? vram_known_number(l->shapes, &l->shapes->at[v]) : tensor_of(l, m, v);
}

/* ---- outputs ------------------------------------------------------------------------------- */

/* shapes and dtypes of all outputs, NONE for what is left out or no tensor; false: some are ranges */
static bool results(struct vram_lower *l, struct vram_machine *m, const struct vram_onnx_node *node,
                    struct vram_value *shapes, struct vram_value *dtypes)
{
    int64_t shape[VRAM_MAX_RANK];
    bool all = true, exact;
    shapes->kind = dtypes->kind = VRAM_V_BOX;
    shapes->u.box = vram_box_new(m, VRAM_BOX_LIST, node->out.n);
    dtypes->u.box = vram_box_new(m, VRAM_BOX_LIST, node->out.n);
    for (uint32_t i = 0; i < node->out.n; i++) {
        uint32_t v = l->model->edges.at[node->out.first + i];
        struct vram_value size = {0}, dtype = {.kind = VRAM_V_DTYPE, .u.i = v ? l->shapes->at[v].dtype : 0};
        if (v && l->shapes->at[v].kind == VRAM_ONNX_TENSOR) {
            uint32_t rank = (uint32_t)vram_lower_sizes(m, l->shapes, v, shape, &exact);
            size = vram_tuple_of(m, shape, rank);
            all = all && exact;
        }
        vram_box_push(m, shapes->u.box, size);
        vram_box_push(m, dtypes->u.box, dtype);
    }
    return all;
}

static bool same_shape(const struct vram_handle *x, const struct vram_value *shape)
{
    bool same = shape->kind == VRAM_V_BOX && shape->u.box->n == x->rank;
    for (uint32_t i = 0; same && i < x->rank; i++)
        same = shape->u.box->at[i].u.i == x->shape[i];
    return same;
}

/* Gives outputs their tensors, takes nothing; false: one is missing. */
static bool store(struct vram_lower *l, struct vram_machine *m, const struct vram_onnx_node *node,
                  struct vram_value got, const struct vram_value *shapes)
{
    bool box = got.kind == VRAM_V_BOX;
    for (uint32_t i = 0; i < node->out.n; i++) {
        uint32_t v = out_of(l, node, i);
        struct vram_value x = !box && i == 0 ? got : box && i < got.u.box->n ? got.u.box->at[i] : (struct vram_value){0};
        if (!v || shapes->u.box->at[i].kind == VRAM_V_NONE)
            continue;
        if (x.kind != VRAM_V_TENSOR)
            return false;
        if (!same_shape(x.u.tensor, &shapes->u.box->at[i]))
            vram_throw(m, VRAM_E_UNSUPPORTED, "what %s makes has other sizes than its shape function says",
                       vram_sym_text(m->cx->syms, node->op));
        let_go(l, m, v);
        l->held[v] = vram_value_hold(x);
    }
    return true;
}

/* ---- nodes --------------------------------------------------------------------------------- */

/* The method of an operator; NULL: there is none. */
static const struct vram_callable *method_of(const struct vram_lower *l, const struct vram_onnx_node *node,
                                             uint32_t *function)
{
    for (size_t d = 0; d < NDOMAINS; d++) {
        if (!l->ops[d] || node->domain != l->domain[d])
            continue;
        uint32_t i = vram_class_member(l->program, l->ops[d], node->op);
        if (i == VRAM_NO_INDEX)
            return NULL;
        *function = l->program->decls.at[l->ops[d]->members[i]].function;
        return &l->program->functions.at[*function].callable;
    }
    return NULL;
}

static void push_keyword(struct vram_call *call, vram_sym name, struct vram_value v)
{
    if (v.kind == VRAM_V_NONE)
        return;
    call->kw[call->nkw].name = name;
    call->kw[call->nkw++].value = v;
}

static struct vram_value list_of_inputs(struct vram_lower *l, struct vram_machine *m,
                                        const struct vram_onnx_node *node)
{
    struct vram_value xs = {.kind = VRAM_V_BOX};
    xs.u.box = vram_box_new(m, VRAM_BOX_LIST, node->in.n);
    for (uint32_t i = 0; i < node->in.n; i++)
        vram_box_push(m, xs.u.box, argument(l, m, in_of(l, node, i)));
    return xs;
}

/* Arguments by the names of the method's parameters; false: it has no place for an input, or needs one more. */
static bool arguments(struct vram_lower *l, struct vram_machine *m, const struct vram_onnx_node *node,
                      const struct vram_callable *c, struct vram_value shapes, struct vram_value dtypes,
                      struct vram_call *call)
{
    uint32_t bias = l->plan.bias[node - l->model->nodes.at];
    call->nargs = call->nkw = 0;
    for (uint32_t i = 0; i < c->npositional; i++) {
        const struct vram_param_def *p = &l->program->params.at[c->params + i];
        const char *name = vram_sym_text(m->cx->syms, p->name);
        uint32_t v = i == 2 && bias ? bias : in_of(l, node, i);
        if (i == 0 && !strcmp(name, "xs"))
            call->args[call->nargs++] = list_of_inputs(l, m, node);
        else if (i >= node->in.n && !v && !p->fallback)
            return false;
        else if (!strncmp(name, "given_", 6))
            call->args[call->nargs++] =
                v && known(l, v) ? vram_known_tuple(m, l->shapes, &l->shapes->at[v]) : (struct vram_value){0};
        else
            call->args[call->nargs++] = argument(l, m, v);
    }
    for (uint32_t i = c->npositional; i < node->in.n; i++)
        if (in_of(l, node, i) && (c->npositional != 1 || call->args[0].kind != VRAM_V_BOX))
            return false;
    for (uint32_t i = 0; i < c->nkeyword; i++) {
        vram_sym name = l->program->params.at[c->params + c->npositional + i].name;
        const char *text = vram_sym_text(m->cx->syms, name);
        bool one = !strcmp(text, "result") || !strcmp(text, "kind"), shape = !strncmp(text, "result", 6);
        const struct vram_value *all = shape ? &shapes : &dtypes;
        if (one && node->out.n)
            push_keyword(call, name, vram_value_hold(all->u.box->at[0]));
        else if (!strcmp(text, "results") || !strcmp(text, "kinds"))
            push_keyword(call, name, vram_value_hold(*all));
        else
            push_keyword(call, name, vram_lower_attr(m, l->model, node, name));
    }
    return true;
}

/* Does anything of what the node reads stand on the card? */
static bool reads_tensor(struct vram_lower *l, const struct vram_onnx_node *node)
{
    for (uint32_t i = 0; i < node->in.n; i++) {
        uint32_t v = in_of(l, node, i);
        if (v && !is_number(l, v) && (l->held[v].kind != VRAM_V_NONE || l->plan.param[v] || known(l, v)))
            return true;
    }
    return false;
}

static bool by_method(struct vram_lower *l, struct vram_machine *m, const struct vram_onnx_node *node,
                      struct vram_value shapes, struct vram_value dtypes)
{
    uint32_t function;
    struct vram_call call;
    struct vram_value got = {0};
    const struct vram_callable *c = method_of(l, node, &function);
    if (!c)
        return false;
    if (!arguments(l, m, node, c, shapes, dtypes, &call)) {
        vram_call_drop(m, &call);
        return false;
    }
    vram_call_function(m, function, VRAM_NO_INDEX, &call, &got);
    m->at = UINT32_MAX;
    bool stored = got.kind != VRAM_V_NONE && store(l, m, node, got, &shapes);
    vram_value_drop(m, got);
    return stored;
}

static void collect(void *ctx, uint32_t value);
struct collection {
    struct vram_lower *l;
    struct vram_machine *m;
    struct vram_box *xs;
};

/* All inputs are kept, and what subgraphs capture. */
static void by_guess(struct vram_lower *l, struct vram_machine *m, const struct vram_onnx_node *node,
                     struct vram_value shapes, struct vram_value dtypes)
{
    struct vram_value args[VRAM_MAX_ARGS] = {{.kind = VRAM_V_BOX}, shapes, dtypes}, got = {0};
    uint32_t op = vram_op_find("keeping");
    args[0].u.box = vram_box_new(m, VRAM_BOX_LIST, node->in.n);
    struct collection c = {l, m, args[0].u.box};
    vram_lower_reads(l->model, node, collect, &c);
    m->op = (uint16_t)op;
    vram_op_row_at(op)->run(m, vram_op_row_at(op), args, &got);
    store(l, m, node, got, &shapes);
    for (uint32_t i = 0; i < node->out.n; i++) /* a sequence is what it was made of */
        if (out_of(l, node, i) && shapes.u.box->at[i].kind == VRAM_V_NONE)
            l->held[out_of(l, node, i)] = vram_value_hold(args[0]);
    for (uint32_t i = 0; i < c.xs->n; i++)
        if (c.xs->at[i].kind == VRAM_V_TENSOR && c.xs->at[i].u.tensor->requires_grad)
            l->guessed[node - l->model->nodes.at] = true;
    vram_value_drop(m, got);
    vram_value_drop(m, args[0]);
}

static void collect(void *ctx, uint32_t value)
{
    struct collection *c = ctx;
    struct vram_value x = c->l->held[value].kind != VRAM_V_NONE || c->l->plan.param[value]
                              ? argument(c->l, c->m, value) : (struct vram_value){0};
    if (x.kind == VRAM_V_TENSOR) {
        vram_box_push(c->m, c->xs, x);
        return;
    }
    for (uint32_t i = 0; x.kind == VRAM_V_BOX && i < x.u.box->n; i++)
        vram_box_push(c->m, c->xs, vram_value_hold(x.u.box->at[i]));
    vram_value_drop(c->m, x);
}

static void run_operator(struct vram_lower *l, struct vram_machine *m, const struct vram_onnx_node *node)
{
    struct vram_value shapes, dtypes;
    bool exact = results(l, m, node, &shapes, &dtypes);
    for (uint32_t i = 0; exact && i < node->in.n; i++) {
        uint32_t v = in_of(l, node, i);
        int64_t shape[VRAM_MAX_RANK];
        if (v && (l->held[v].kind != VRAM_V_NONE || l->live[v]) && l->shapes->at[v].kind == VRAM_ONNX_TENSOR)
            vram_lower_sizes(m, l->shapes, v, shape, &exact);
    }
    if (!exact || !reads_tensor(l, node) || !by_method(l, m, node, shapes, dtypes))
        by_guess(l, m, node, shapes, dtypes);
    vram_value_drop(m, shapes);
    vram_value_drop(m, dtypes);
}

/* ---- graphs -------------------------------------------------------------------------------- */

/* Nothing is run for what sizes and constants say; else whether outputs follow from inputs or parameters. */
static bool follows(struct vram_lower *l, const struct vram_onnx_node *node)
{
    bool live = false, all = true;
    for (uint32_t i = 0; i < node->in.n; i++)
        live = live || (in_of(l, node, i) && l->live[in_of(l, node, i)]);
    for (uint32_t i = 0; i < node->out.n; i++) {
        uint32_t v = l->model->edges.at[node->out.first + i];
        bool real = v && vram_dtype_is_float((enum vram_dtype)l->shapes->at[v].dtype);
        if (v)
            l->live[v] = live && (real || !vram_known(l->shapes, &l->shapes->at[v]));
        all = all && (!v || known(l, v));
    }
    return !all || !node->out.n;
}

static void run_graph(struct vram_lower *l, struct vram_machine *m, uint32_t graph);

static void run_body(struct vram_lower *l, struct vram_machine *m, const struct vram_onnx_node *node)
{
    const struct vram_onnx_graph *body = &l->model->graphs.at[node->body];
    for (uint32_t i = 0; i < body->inputs.n; i++) {
        uint32_t to = l->model->edges.at[body->inputs.first + i], from = in_of(l, node, i);
        if (!to || !from)
            continue;
        l->live[to] = l->live[from];
        l->held[to] = known(l, from) ? (struct vram_value){0} : tensor_of(l, m, from);
    }
    run_graph(l, m, node->body);
    for (uint32_t i = 0; i < node->out.n && i < body->outputs.n; i++) {
        uint32_t from = l->model->edges.at[body->outputs.first + i], to = out_of(l, node, i);
        if (to && from) {
            l->live[to] = l->live[from];
            l->held[to] = tensor_of(l, m, from);
        }
        if (from)
            let_go(l, m, from);
    }
    for (uint32_t i = 0; i < body->inputs.n; i++)
        let_go(l, m, l->model->edges.at[body->inputs.first + i]);
}

struct dying {
    struct vram_lower *l;
    struct vram_machine *m;
    uint32_t time;
};

static void die(void *ctx, uint32_t value)
{
    struct dying *d = ctx;
    if (d->l->plan.last[value] == d->time)
        let_go(d->l, d->m, value);
}

static void run_node(struct vram_lower *l, struct vram_machine *m, uint32_t id)
{
    const struct vram_onnx_node *node = &l->model->nodes.at[id];
    struct dying d = {l, m, l->plan.time[id]};
    m->scope = l->scope = vram_lower_scope(&l->plan, node, l->scope);
    vram_step(m);
    bool runs = follows(l, node);
    if (node->body) {
        vram_deeper(m);
        run_body(l, m, node);
        m->depth--;
    } else if (l->plan.sum_of[id]) {
        uint32_t v = out_of(l, node, 0);
        if (v)
            l->held[v] = tensor_of(l, m, l->plan.sum_of[id]);
    } else if (runs) {
        run_operator(l, m, node);
    }
    vram_lower_reads(l->model, node, die, &d);
}

static void run_graph(struct vram_lower *l, struct vram_machine *m, uint32_t graph)
{
    const struct vram_onnx_span nodes = l->model->graphs.at[graph].nodes;
    for (uint32_t i = 0; i < nodes.n; i++)
        run_node(l, m, l->model->order.at[nodes.first + i]);
}

/* ---- the forward --------------------------------------------------------------------------- */

/* the tensors that the main graph takes, by name */
static struct vram_value inputs(void *ctx, struct vram_machine *m)
{
    struct vram_lower *l = ctx;
    const struct vram_onnx_span span = l->model->graphs.at[1].inputs;
    struct vram_value out = {.kind = VRAM_V_BOX};
    out.u.box = vram_box_new(m, VRAM_BOX_RECORD, span.n);
    for (uint32_t i = 0; i < span.n; i++) {
        uint32_t v = l->model->edges.at[span.first + i];
        int64_t shape[VRAM_MAX_RANK];
        bool exact;
        out.u.box->keys[i] = l->model->values.at[v].name;
        struct vram_handle *x = NULL;
        if (!l->plan.param[v]) {
            int rank = vram_lower_sizes(m, l->shapes, v, shape, &exact);
            x = vram_new(m, shape, rank, (enum vram_dtype)l->shapes->at[v].dtype, NULL);
        }
        vram_box_push(m, out.u.box, vram_tensor_value(x));
    }
    return out;
}

static struct vram_value run(void *ctx, struct vram_machine *m, struct vram_value batch)
{
    struct vram_lower *l = ctx;
    const struct vram_onnx_graph *main = &l->model->graphs.at[1];
    struct vram_value out = {.kind = VRAM_V_BOX};
    l->scope = 0;
    for (uint32_t i = 0; i < main->inputs.n; i++)
        l->held[l->model->edges.at[main->inputs.first + i]] = vram_value_hold(batch.u.box->at[i]);
    run_graph(l, m, 1);
    out.u.box = vram_box_new(m, VRAM_BOX_RECORD, main->outputs.n);
    for (uint32_t i = 0; i < main->outputs.n; i++) {
        uint32_t v = l->model->edges.at[main->outputs.first + i];
        out.u.box->keys[i] = v ? l->model->values.at[v].name : 0;
        vram_box_push(m, out.u.box, tensor_of(l, m, v));
    }
    for (uint32_t v = 1; v < l->model->values.n; v++)
        let_go(l, m, v);
    return out;
}

static int find_classes(struct vram_cx *cx, struct vram_lower *l)
{
    for (size_t d = 0; d < NDOMAINS; d++) {
        uint32_t cls = vram_program_class(l->program, vram_sym_of(cx->syms, domains[d].cls));
        l->domain[d] = *domains[d].domain ? vram_sym_of(cx->syms, domains[d].domain) : 0;
        l->ops[d] = cls == VRAM_NO_INDEX ? NULL : &l->program->classes.at[cls];
    }
    return VRAM_OK;
}

int vram_lower(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_onnx *model,
               const struct vram_inference *shapes, struct vram_lower **out)
{
    struct vram_lower *l = vram_arena_alloc(cx->arena, sizeof *l);
    if (!l)
        return vram_fail_memory(cx);
    *l = (struct vram_lower){.model = model, .shapes = shapes, .program = tree->program};
    l->forward = (struct vram_forward){l, inputs, run};
    l->held = vram_arena_array(cx->arena, model->values.n, sizeof *l->held);
    l->live = vram_arena_array(cx->arena, model->values.n, sizeof *l->live);
    l->guessed = vram_arena_array(cx->arena, model->nodes.n, sizeof *l->guessed);
    if (!l->held || !l->live || !l->guessed)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_lower_plan(cx, tree, model, shapes, &l->plan));
    VRAM_TRY(find_classes(cx, l));
    for (uint32_t v = 1; v < model->values.n; v++)
        l->live[v] = model->values.at[v].graph == 1 && !model->values.at[v].producer &&
                     (!l->plan.param[v] || !tree->params[l->plan.param[v] - 1].buffer);
    *out = l;
    return VRAM_OK;
}

const struct vram_forward *vram_lower_forward(const struct vram_lower *l) { return &l->forward; }

const char *vram_lower_assumed(struct vram_cx *cx, const struct vram_lower *l)
{
    const char *text = "";
    uint32_t n = 0;
    for (uint32_t i = 1; i < l->model->nodes.n && text; i++) {
        bool before = !l->guessed[i];
        for (uint32_t k = 1; k < i && !before; k++)
            before = l->guessed[k] && l->model->nodes.at[k].op == l->model->nodes.at[i].op;
        if (before)
            continue;
        char name[80];
        const char *op = vram_sym_text(cx->syms, l->model->nodes.at[i].op);
        vram_escape(name, sizeof name, op, strlen(op));
        if (n++ < 12)
            text = vram_format(cx->arena, "%s%s%s", text, *text ? ", " : "", name);
    }
    if (text && n > 12)
        text = vram_format(cx->arena, "%s and %u more", text, n - 12);
    return text;
}
