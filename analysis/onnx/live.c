/* SPDX-License-Identifier: Apache-2.0
 *
 * Lives of values and the peak of an order; see live.h.
 */
#include "onnx/live.h"

#include <string.h>

#include "base/math.h"

bool vram_onnx_bytes(struct vram_dims *dims, const struct vram_info *info, uint64_t *low, uint64_t *high)
{
    uint64_t least = 1, most = 1;
    int bits = vram_dtypes[info->dtype].bits;
    if (info->kind != VRAM_ONNX_TENSOR || !info->ranked || info->dtype == VRAM_DT_NONE || !bits)
        return false;
    for (uint32_t i = 0; i < info->rank; i++) {
        int64_t a, b;
        if (info->dims[i] == VRAM_DIM_UNKNOWN)
            return false;
        vram_dim_range(dims, info->dims[i], &a, &b);
        if (b >= (int64_t)1 << 40 && a != b) /* a symbol without a bound */
            return false;
        if (!vram_mul_u64(least, a < 0 ? 0 : (uint64_t)a, &least) || !vram_mul_u64(most, b < 0 ? 0 : (uint64_t)b, &most))
            return false;
    }
    return vram_dtype_bytes((enum vram_dtype)info->dtype, least, low) &&
           vram_dtype_bytes((enum vram_dtype)info->dtype, most, high);
}

/* ---- who reads what, when ---- */

struct pass {
    struct vram_cx *cx;
    const struct vram_onnx *model;
    const struct vram_inference *shapes;
    struct vram_onnx_lives *out;
    uint32_t *position; /* by node: of itself in the main graph, else of the owner there */
    vram_sym view_ops[5];
    bool views;
};

static bool is_view(const struct pass *p, const struct vram_onnx_node *node)
{
    if (!p->views || node->domain || node->body || !node->in.n)
        return false;
    for (size_t i = 0; i < 5; i++)
        if (node->op == p->view_ops[i])
            return true;
    return false;
}

/* Positions of the main graph's nodes; a node of a subgraph has its owner's.  Owners come before what
 * they own: the ids of a subgraph's nodes are given while its owner is read. */
static int place(struct pass *p)
{
    const struct vram_onnx *m = p->model;
    const struct vram_onnx_graph *main = &m->graphs.at[1];
    p->position = vram_arena_array(p->cx->arena, m->nodes.n, sizeof *p->position);
    if (!p->position)
        return vram_fail_memory(p->cx);
    for (uint32_t i = 0; i < main->nodes.n; i++)
        p->position[m->order.at[main->nodes.first + i]] = i;
    for (uint32_t i = 1; i < m->nodes.n; i++) {
        uint32_t graph = m->nodes.at[i].graph, owner = i, depth = 0;
        while (graph > 1 && depth++ < m->graphs.n) {
            owner = m->graphs.at[graph].owner;
            graph = m->nodes.at[owner].graph;
        }
        p->position[i] = p->position[owner];
    }
    p->out->nodes = m->order.at + main->nodes.first;
    p->out->nnodes = main->nodes.n;
    return VRAM_OK;
}

static void always(struct pass *p, uint32_t value)
{
    p->out->at[value].made = p->out->at[value].gone = VRAM_LIVE_ALWAYS;
    p->out->at[value].counted = true;
}

static void start(struct pass *p)
{
    const struct vram_onnx *m = p->model;
    const struct vram_onnx_graph *main = &m->graphs.at[1];
    for (uint32_t i = 1; i < m->values.n; i++)
        p->out->at[i].storage = i;
    for (uint32_t i = 0; i < main->initializers.n; i++)
        always(p, m->edges.at[main->initializers.first + i]);
    for (uint32_t i = 0; i < main->inputs.n; i++)
        always(p, m->edges.at[main->inputs.first + i]);
    for (uint32_t i = 0; i < p->out->nnodes; i++) {
        const struct vram_onnx_node *node = &m->nodes.at[p->out->nodes[i]];
        for (uint32_t k = 0; k < node->out.n; k++) {
            uint32_t v = m->edges.at[node->out.first + k];
            if (!v)
                continue;
            p->out->at[v].made = p->out->at[v].gone = i;
            p->out->at[v].counted = true;
        }
        uint32_t from = is_view(p, node) ? m->edges.at[node->in.first] : 0;
        uint32_t to = node->out.n ? m->edges.at[node->out.first] : 0;
        if (from && to) {
            p->out->at[to].storage = p->out->at[from].storage;
            p->out->at[to].counted = false;
        }
    }
}

static void read_until(struct pass *p, uint32_t value, uint32_t position)
{
    struct vram_onnx_life *life = &p->out->at[p->out->at[value].storage];
    if (life->gone != VRAM_LIVE_ALWAYS && position > life->gone)
        life->gone = position;
}

static void readers(struct pass *p)
{
    const struct vram_onnx *m = p->model;
    const struct vram_onnx_graph *main = &m->graphs.at[1];
    for (uint32_t i = 1; i < m->nodes.n; i++) {
        const struct vram_onnx_node *node = &m->nodes.at[i];
        for (uint32_t k = 0; k < node->in.n; k++) {
            uint32_t v = m->edges.at[node->in.first + k];
            if (v && m->values.at[v].graph == 1)
                read_until(p, v, p->position[i]);
        }
    }
    for (uint32_t g = 2; g < m->graphs.n; g++) /* a subgraph may give an outer value back as it is */
        for (uint32_t k = 0; k < m->graphs.at[g].outputs.n; k++) {
            uint32_t v = m->edges.at[m->graphs.at[g].outputs.first + k];
            if (v && m->values.at[v].graph == 1)
                read_until(p, v, p->position[m->graphs.at[g].owner]);
        }
    for (uint32_t k = 0; k < main->outputs.n; k++) {
        uint32_t v = m->edges.at[main->outputs.first + k];
        if (v)
            read_until(p, v, VRAM_LIVE_ALWAYS);
    }
}

/* A view has the bytes of what it shows. */
static void measure(struct pass *p)
{
    const struct vram_onnx *m = p->model;
    for (uint32_t i = 1; i < m->values.n; i++) {
        struct vram_onnx_life *life = &p->out->at[i];
        const struct vram_onnx_tensor *t = m->values.at[i].tensor ? &m->tensors.at[m->values.at[i].tensor] : NULL;
        if (!life->counted)
            continue;
        if (t && m->values.at[i].role == VRAM_ONNX_INITIALIZER) {
            life->known = true;
            life->low = life->bytes = t->sparse ? 0 : t->bytes;
        } else {
            life->known = vram_onnx_bytes(p->shapes->dims, &p->shapes->at[i], &life->low, &life->bytes);
        }
        if (!life->known) {
            life->low = life->bytes = 0;
            p->out->unknown = p->out->unknown ? p->out->unknown : i;
            p->out->unknowns++;
        }
    }
}

int vram_onnx_lives(struct vram_cx *cx, const struct vram_onnx *model, const struct vram_inference *shapes,
                    bool views, struct vram_onnx_lives *out)
{
    static const char *const names[5] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
    struct pass p = {.cx = cx, .model = model, .shapes = shapes, .out = out, .views = views};
    *out = (struct vram_onnx_lives){.at = vram_arena_array(cx->arena, model->values.n, sizeof *out->at)};
    for (size_t i = 0; i < 5; i++)
        p.view_ops[i] = vram_sym_find(cx->syms, names[i], strlen(names[i]));
    if (!out->at)
        return vram_fail_memory(cx);
    VRAM_TRY(place(&p));
    start(&p);
    readers(&p);
    measure(&p);
    return VRAM_OK;
}

/* ---- the peak of the order ---- */

static bool is_input(const struct vram_onnx *m, uint32_t value)
{
    return m->values.at[value].role == VRAM_ONNX_INPUT && !m->values.at[value].tensor;
}

/* Operands of one node, each storage once; nodes have few of them, or each is looked at once by `seen`. */
static uint64_t operands(const struct vram_onnx *m, const struct vram_onnx_lives *l, uint32_t node,
                         uint32_t *seen, uint32_t mark)
{
    const struct vram_onnx_node *n = &m->nodes.at[node];
    const struct vram_onnx_span spans[2] = {n->in, n->out};
    uint64_t sum = 0;
    for (size_t s = 0; s < 2; s++)
        for (uint32_t k = 0; k < spans[s].n; k++) {
            uint32_t v = m->edges.at[spans[s].first + k], storage = v ? l->at[v].storage : 0;
            if (!storage || seen[storage] == mark || l->at[storage].made == VRAM_LIVE_ALWAYS)
                continue;
            seen[storage] = mark;
            sum += l->at[storage].bytes;
        }
    return sum;
}

int vram_onnx_peak(struct vram_cx *cx, const struct vram_onnx *m, const struct vram_onnx_lives *l,
                   struct vram_onnx_peak *out)
{
    uint64_t live = 0, floor = 0;
    uint64_t *made = vram_arena_array(cx->arena, l->nnodes + 1, sizeof *made);
    uint64_t *gone = vram_arena_array(cx->arena, l->nnodes + 1, sizeof *gone);
    uint32_t *seen = vram_arena_array(cx->arena, m->values.n, sizeof *seen);
    *out = (struct vram_onnx_peak){.position = VRAM_LIVE_ALWAYS};
    if (!made || !gone || !seen)
        return vram_fail_memory(cx);
    for (uint32_t i = 1; i < m->values.n; i++) {
        const struct vram_onnx_life *life = &l->at[i];
        if (!life->counted)
            continue;
        if (life->made == VRAM_LIVE_ALWAYS) {
            *(is_input(m, i) ? &out->inputs : &out->weights) += life->bytes;
            continue;
        }
        made[life->made] += life->bytes;
        if (life->gone != VRAM_LIVE_ALWAYS)
            gone[life->gone] += life->bytes;
    }
    for (uint32_t i = 0; i < l->nnodes; i++) {
        uint64_t own = operands(m, l, l->nodes[i], seen, i + 1);
        live += made[i];
        if (live > out->activations || out->position == VRAM_LIVE_ALWAYS) {
            out->activations = live;
            out->position = i;
        }
        live -= gone[i];
        floor = own > floor ? own : floor;
    }
    out->peak = out->weights + out->inputs + out->activations;
    out->floor = out->weights + out->inputs + floor;
    return VRAM_OK;
}
