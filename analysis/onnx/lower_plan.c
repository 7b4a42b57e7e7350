/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters, lives and Linears of a graph; see lower_plan.h.
 */
#include "onnx/lower_plan.h"

#include <string.h>

/* ---- who reads what ------------------------------------------------------------------------ */

static void graph_reads(const struct vram_onnx *m, uint32_t graph, void (*each)(void *ctx, uint32_t value), void *ctx)
{
    const struct vram_onnx_graph *g = &m->graphs.at[graph];
    for (uint32_t i = 0; i < g->nodes.n; i++)
        vram_lower_reads(m, &m->nodes.at[m->order.at[g->nodes.first + i]], each, ctx);
    for (uint32_t i = 0; i < g->outputs.n; i++)
        if (m->edges.at[g->outputs.first + i])
            each(ctx, m->edges.at[g->outputs.first + i]);
}

void vram_lower_reads(const struct vram_onnx *m, const struct vram_onnx_node *node,
                      void (*each)(void *ctx, uint32_t value), void *ctx)
{
    for (uint32_t i = 0; i < node->in.n; i++)
        if (m->edges.at[node->in.first + i])
            each(ctx, m->edges.at[node->in.first + i]);
    for (uint32_t i = 0; i < node->attrs.n; i++) {
        const struct vram_onnx_attr *a = &m->attrs.at[node->attrs.first + i];
        if (a->kind == VRAM_ATTR_GRAPH)
            graph_reads(m, a->id, each, ctx);
        for (uint32_t k = 0; a->kind == VRAM_ATTR_GRAPHS && k < a->n; k++)
            graph_reads(m, a->ids[k], each, ctx);
    }
}

struct clock {
    struct vram_lower_plan *plan;
    uint32_t now;
};

static void reads(void *ctx, uint32_t value)
{
    struct clock *c = ctx;
    if (c->plan->last[value] != UINT32_MAX)
        c->plan->last[value] = c->now;
}

static void walk(struct clock *c, uint32_t graph)
{
    const struct vram_onnx *m = c->plan->model;
    const struct vram_onnx_graph *g = &m->graphs.at[graph];
    for (uint32_t i = 0; i < g->outputs.n; i++)
        c->plan->last[m->edges.at[g->outputs.first + i]] = UINT32_MAX;
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        uint32_t id = m->order.at[g->nodes.first + i];
        if (m->nodes.at[id].body)
            walk(c, m->nodes.at[id].body);
        c->plan->time[id] = ++c->now;
        vram_lower_reads(m, &m->nodes.at[id], reads, c);
    }
}

/* ---- a product and a bias behind it: the Linear that they were ------------------------------ */

struct linears {
    struct vram_cx *cx;
    struct vram_lower_plan *plan;
    const struct vram_inference *shapes;
    uint32_t *readers; /* by value: how many */
    uint32_t *product; /* by value: the MatMul that makes it */
};

static void count(void *ctx, uint32_t value) { ((struct linears *)ctx)->readers[value]++; }

static bool is_op(const struct linears *l, const struct vram_onnx_node *node, const char *op)
{
    return !node->domain && !node->body && !strcmp(vram_sym_text(l->cx->syms, node->op), op);
}

/* a vector of weights as long as the product's rows */
static bool is_bias(const struct linears *l, uint32_t v, uint32_t product)
{
    const struct vram_info *b = &l->shapes->at[v], *y = &l->shapes->at[product];
    return l->plan->param[v] && !l->plan->tree->params[l->plan->param[v] - 1].buffer && b->rank == 1 && y->ranked &&
           y->rank && b->dims[0] == y->dims[y->rank - 1];
}

static void join(struct linears *l, uint32_t id)
{
    const struct vram_onnx *m = l->plan->model;
    const struct vram_onnx_node *node = &m->nodes.at[id];
    const uint32_t *in = m->edges.at + node->in.first;
    for (uint32_t i = 0; i < 2 && node->in.n == 2; i++) {
        uint32_t product = l->product[in[i]];
        if (!product || l->readers[in[i]] != 1 || !is_bias(l, in[1 - i], in[i]) || m->nodes.at[product].graph != node->graph)
            continue;
        l->plan->bias[product] = in[1 - i];
        l->plan->sum_of[id] = in[i];
        return;
    }
}

static int find_linears(struct linears *l)
{
    const struct vram_onnx *m = l->plan->model;
    l->readers = vram_arena_array(l->cx->arena, m->values.n, sizeof *l->readers);
    l->product = vram_arena_array(l->cx->arena, m->values.n, sizeof *l->product);
    if (!l->readers || !l->product)
        return vram_fail_memory(l->cx);
    for (uint32_t g = 1; g < m->graphs.n; g++)
        if (g == 1 || m->nodes.at[m->graphs.at[g].owner].body == g) /* subgraphs are read by their owners */
            graph_reads(m, g, count, l);
    for (uint32_t i = 1; i < m->nodes.n; i++) {
        const struct vram_onnx_node *node = &m->nodes.at[i];
        if (!is_op(l, node, "MatMul") || node->in.n != 2 || !node->out.n)
            continue;
        const struct vram_info *x = &l->shapes->at[m->edges.at[node->in.first]];
        const struct vram_info *w = &l->shapes->at[m->edges.at[node->in.first + 1]];
        if (w->ranked && w->rank == 2 && x->ranked && x->rank >= 2)
            l->product[m->edges.at[node->out.first]] = i;
    }
    l->product[0] = 0;
    for (uint32_t i = 1; i < m->nodes.n; i++)
        if (is_op(l, &m->nodes.at[i], "Add"))
            join(l, i);
    return VRAM_OK;
}

/* ---- the plan ------------------------------------------------------------------------------ */

static void find_params(struct vram_lower_plan *p)
{
    const struct vram_onnx_span span = p->model->graphs.at[1].initializers;
    for (uint32_t i = 0; i < p->tree->nparams; i++)
        if (p->tree->params[i].tensor < span.n)
            p->param[p->model->edges.at[span.first + p->tree->params[i].tensor]] = i + 1;
}

int vram_lower_plan(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_onnx *model,
                    const struct vram_inference *shapes, struct vram_lower_plan *out)
{
    struct clock clock = {out, 0};
    struct linears linears = {.cx = cx, .plan = out, .shapes = shapes};
    *out = (struct vram_lower_plan){.model = model, .tree = tree};
    uint32_t **arrays[] = {&out->param, &out->last, &out->time, &out->bias, &out->sum_of};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = vram_arena_array(cx->arena, i == 0 || i == 1 ? model->values.n : model->nodes.n, sizeof **arrays[i]);
        if (!*arrays[i])
            return vram_fail_memory(cx);
    }
    VRAM_TRY(vram_graph_scopes(cx, tree, &out->scopes));
    find_params(out);
    walk(&clock, 1);
    return find_linears(&linears);
}

uint32_t vram_lower_scope(const struct vram_lower_plan *p, const struct vram_onnx_node *node, uint32_t before)
{
    for (uint32_t k = 0; k < node->in.n; k++) {
        uint32_t v = p->model->edges.at[node->in.first + k];
        if (v && p->param[v]) {
            before = p->tree->params[p->param[v] - 1].scope;
            break;
        }
    }
    return vram_graph_scope(&p->scopes, node, before);
}
