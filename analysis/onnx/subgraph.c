/* SPDX-License-Identifier: Apache-2.0
 *
 * Running the nodes of a graph, and graphs inside nodes.  A value of a subgraph keeps the info of the
 * last run.
 */
#include <string.h>

#include "onnx/pass.h"

/* ---- one node ------------------------------------------------------------------------------ */

/* A new size that depends on data is called what the file calls it, where that name is free. */
static void name_fresh(struct vram_infer *pass, const struct vram_info *out, uint32_t value)
{
    uint32_t type = pass->model->values.at[value].type;
    const struct vram_onnx_type *t = &pass->model->types.at[type];
    vram_sym ours;
    if (!type || !t->ranked || !out->ranked || t->shape.n != out->rank)
        return;
    for (uint32_t i = 0; i < out->rank; i++) {
        const struct vram_onnx_dim *d = &pass->model->dims.at[t->shape.first + i];
        if (d->size >= 0 || !d->name || !out->dims[i] || !vram_dim_on_data(pass->dims, out->dims[i]) ||
            !vram_dim_is_symbol(pass->dims, out->dims[i], &ours))
            continue;
        const char *text = vram_sym_text(pass->cx->syms, d->name);
        if (vram_dim_is_name(text, strlen(text)))
            vram_dim_rename(pass->dims, out->dims[i], d->name);
    }
}

/* An operator without a row: what the file declares is taken, and said so by the entry's finding. */
static int take_claims(struct vram_op *op, const uint32_t *out)
{
    for (uint32_t i = 0; i < op->n_out; i++)
        if (out[i] && op->model->values.at[out[i]].type)
            VRAM_TRY(vram_infer_declared(op->pass, op->model->values.at[out[i]].type, &op->out[i]));
    return VRAM_OK;
}

static int check_counts(struct vram_op *op, const struct vram_op_row *row)
{
    uint32_t n_in = op->n_in, n_out = op->n_out;
    while (n_in && !op->in[n_in - 1]) /* trailing ones may be left out either way */
        n_in--;
    if (n_in < row->least_in)
        return vram_op_fail(op, "%u inputs, where %u are required", n_in, row->least_in);
    if (n_in > row->most_in)
        return vram_op_fail(op, "%u inputs, where %u is the most", n_in, row->most_in);
    for (uint32_t i = 0; i < row->least_in; i++)
        if (!op->in[i])
            return vram_op_fail(op, "input %u is required, and left out", i);
    if (n_out > row->most_out)
        return vram_op_fail(op, "%u outputs, where %u is the most", n_out, row->most_out);
    return VRAM_OK;
}

/* Some output is small enough for its elements to be followed. */
static bool small(const struct vram_op *op)
{
    const struct vram_info *out = op->out;
    int64_t all = 1, d;
    for (uint32_t k = 0; k < out->rank; k++) {
        if (!vram_dim_is_int(op->dims, out->dims[k], &d) || d > VRAM_VALUE_ELEMENTS)
            return false;
        all *= d;
    }
    return out->ranked && all <= VRAM_VALUE_ELEMENTS;
}

static int run_row(struct vram_op *op, const struct vram_op_row *row)
{
    VRAM_TRY(check_counts(op, row));
    VRAM_TRY(row->shape(op));
    VRAM_TRY(op->cx->error->code);
    VRAM_TRY(vram_op_check(op));
    if (!row->value || !op->n_out || !small(op))
        return VRAM_OK;
    for (uint32_t i = 0; i < op->n_in; i++)
        VRAM_TRY(vram_infer_fetch(op->pass, op->in[i]));
    VRAM_TRY(row->value(op));
    VRAM_TRY(op->cx->error->code);
    return vram_op_check(op);
}

static int run_body(struct vram_op *op)
{
    const struct vram_info *out[16], **at = out;
    if (op->n_out > 16)
        at = vram_arena_array(op->cx->arena, op->n_out, sizeof *at);
    if (!at)
        return vram_fail_memory(op->cx);
    VRAM_TRY(vram_op_run_graph(op, op->node->body, op->in, op->n_in, at, op->n_out));
    for (uint32_t i = 0; i < op->n_out; i++)
        if (at[i])
            op->out[i] = *at[i];
    return VRAM_OK;
}

static int run_op(struct vram_op *op, const uint32_t *out)
{
    if (op->node->body)
        return run_body(op);
    struct vram_op_entry *entry = vram_infer_entry(op->pass, op->node);
    if (!entry)
        return op->cx->error->code;
    if (entry->row)
        return run_row(op, entry->row);
    if (!entry->unknown++)
        entry->first = (uint32_t)(op->node - op->model->nodes.at);
    op->pass->unknown_ops++;
    return take_claims(op, out);
}

enum { FEW = 16 };

static int run_node(struct vram_infer *pass, uint32_t id)
{
    const struct vram_onnx_node *node = &pass->model->nodes.at[id];
    const uint32_t *in_ids = pass->model->edges.at + node->in.first, *out_ids = pass->model->edges.at + node->out.first;
    const struct vram_info *few_in[FEW], **in = few_in;
    struct vram_info few_out[FEW], *out = few_out;
    struct vram_op op = {.pass = pass, .cx = pass->cx, .dims = pass->dims, .model = pass->model, .node = node,
                         .version = node->version, .n_in = node->in.n, .n_out = node->out.n};
    if (op.n_in > FEW)
        in = vram_arena_array(pass->cx->arena, op.n_in, sizeof *in);
    if (op.n_out > FEW)
        out = vram_arena_array(pass->cx->arena, op.n_out, sizeof *out);
    if (!in || !out)
        return vram_fail_memory(pass->cx);
    for (uint32_t i = 0; i < op.n_in; i++)
        in[i] = in_ids[i] ? &pass->at[in_ids[i]] : NULL;
    memset(out, 0, op.n_out * sizeof *out);
    op.in = in;
    op.out = out;
    size_t before = vram_dims_count(pass->dims);
    VRAM_TRY(run_op(&op, out_ids));
    bool made = vram_dims_count(pass->dims) != before;
    for (uint32_t i = 0; i < op.n_out; i++) {
        if (!out_ids[i])
            continue;
        if (made)
            name_fresh(pass, &out[i], out_ids[i]);
        pass->at[out_ids[i]] = out[i];
    }
    return VRAM_OK;
}

/* ---- graphs -------------------------------------------------------------------------------- */

int vram_infer_graph(struct vram_infer *pass, uint32_t graph)
{
    const struct vram_onnx_graph *g = &pass->model->graphs.at[graph];
    for (uint32_t i = 0; i < g->initializers.n; i++) {
        uint32_t value = pass->model->edges.at[g->initializers.first + i];
        if (pass->model->values.at[value].tensor && !pass->at[value].kind)
            VRAM_TRY(vram_infer_tensor(pass, pass->model->values.at[value].tensor, &pass->at[value]));
    }
    for (uint32_t i = 0; i < g->nodes.n; i++)
        VRAM_TRY(run_node(pass, pass->model->order.at[g->nodes.first + i]));
    return VRAM_OK;
}

int vram_op_run_graph(struct vram_op *op, uint32_t graph, const struct vram_info *const *in, uint32_t n,
                      const struct vram_info **out, uint32_t n_out)
{
    const struct vram_onnx *model = op->model;
    const struct vram_onnx_graph *g = &model->graphs.at[graph];
    bool body = graph == op->node->body;
    if (body ? n > g->inputs.n : n != g->inputs.n)
        return vram_op_fail(op, "a graph of %u inputs is given %u", g->inputs.n, n);
    if (n_out > g->outputs.n)
        return vram_op_fail(op, "a graph of %u outputs has to give %u", g->outputs.n, n_out);
    for (uint32_t i = 0; i < g->inputs.n; i++) {
        uint32_t value = model->edges.at[g->inputs.first + i];
        struct vram_info info = {0};
        if (model->values.at[value].type)
            VRAM_TRY(vram_infer_declared(op->pass, model->values.at[value].type, &info));
        if (i < n && in[i] && in[i]->kind) {
            uint8_t dtype = info.dtype; /* declared types of a subgraph's inputs say more than nothing */
            info = *in[i];
            info.dtype = info.dtype ? info.dtype : dtype;
        } else {
            info = (struct vram_info){.kind = info.kind, .dtype = info.dtype};
        }
        op->pass->at[value] = info;
    }
    VRAM_TRY(vram_infer_graph(op->pass, graph));
    for (uint32_t i = 0; i < n_out; i++)
        out[i] = &op->pass->at[model->edges.at[g->outputs.first + i]];
    return VRAM_OK;
}

/* ---- what two infos have in common --------------------------------------------------------- */

static int merge_dims(struct vram_op *op, const struct vram_info *a, const struct vram_info *b, const char *stem,
                      struct vram_info *out)
{
    vram_dim *dims = vram_op_dims(op, a->rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < a->rank; i++) {
        dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : VRAM_DIM_UNKNOWN;
        if (!dims[i] && stem) { /* either of the two */
            int64_t low, high;
            vram_dim_range(op->dims, vram_dim_min(op->dims, a->dims[i], b->dims[i]), &low, &high);
            dims[i] = vram_op_fresh(op, stem, low < 0 ? 0 : low, vram_dim_max(op->dims, a->dims[i], b->dims[i]));
        }
    }
    out->ranked = true;
    out->rank = a->rank;
    out->dims = dims;
    return VRAM_OK;
}

static bool same_element(struct vram_element a, struct vram_element b)
{
    return a.kind == b.kind && (a.kind == VRAM_ELEMENT_RATIO ? a.num == b.num && a.den == b.den
                                                            : a.kind == VRAM_ELEMENT_REAL && !(a.real < b.real) && !(a.real > b.real));
}

static int merge_values(struct vram_op *op, const struct vram_info *a, const struct vram_info *b, struct vram_info *out)
{
    if (a->tensor && a->tensor == b->tensor)
        out->tensor = a->tensor;
    VRAM_TRY(vram_infer_fetch(op->pass, a));
    VRAM_TRY(vram_infer_fetch(op->pass, b));
    if (!a->value || !b->value || a->elements != b->elements)
        return VRAM_OK;
    struct vram_element *e = vram_arena_array(op->cx->arena, a->elements, sizeof *e);
    if (!e)
        return vram_fail_memory(op->cx);
    for (uint32_t i = 0; i < a->elements; i++)
        e[i] = same_element(a->value[i], b->value[i]) ? a->value[i]
                                                      : (struct vram_element){.kind = VRAM_ELEMENT_UNKNOWN};
    out->value = e;
    out->elements = a->elements;
    return VRAM_OK;
}

static bool empty(const struct vram_op *op, const struct vram_info *sequence)
{
    int64_t n;
    return sequence->kind == VRAM_ONNX_SEQUENCE && vram_dim_is_int(op->dims, sequence->length, &n) && n == 0;
}

int vram_op_merge(struct vram_op *op, const struct vram_info *a, const struct vram_info *b, const char *stem,
                  struct vram_info *out)
{
    struct vram_info r = {.kind = a->kind == b->kind ? a->kind : (uint8_t)VRAM_ONNX_UNKNOWN,
                          .dtype = a->dtype == b->dtype ? a->dtype : (uint8_t)VRAM_DT_NONE};
    r.length = a->length == b->length ? a->length : VRAM_DIM_UNKNOWN;
    if (empty(op, a) || empty(op, b)) { /* which says nothing of elements */
        r.element = empty(op, a) ? b->element : a->element;
    } else if (a->element && b->element) {
        struct vram_info *element = vram_arena_alloc(op->cx->arena, sizeof *element);
        if (!element)
            return vram_fail_memory(op->cx);
        VRAM_TRY(vram_op_merge(op, a->element, b->element, stem, element));
        r.element = element;
    }
    if (r.kind && a->ranked && b->ranked && a->rank == b->rank) {
        VRAM_TRY(merge_dims(op, a, b, stem, &r));
        if (!memcmp(a->dims, b->dims, a->rank * sizeof *a->dims))
            VRAM_TRY(merge_values(op, a, b, &r));
    }
    *out = r;
    return VRAM_OK;
}
