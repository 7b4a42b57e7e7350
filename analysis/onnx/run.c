/* SPDX-License-Identifier: Apache-2.0
 *
 * Lives as events; see run.h.
 */
#include "onnx/run.h"

#include <string.h>

#include "base/vec.h"
#include "onnx/scopes.h"

struct builder {
    struct vram_cx *cx;
    const struct vram_tree *tree;
    const struct vram_onnx *model;
    const struct vram_onnx_lives *lives;
    struct vram_events *events;
    uint32_t *storage;  /* by value: 1 + number; 0 = none yet */
    uint32_t *param;    /* by initializer of the main graph: its parameter */
    struct vram_graph_scopes scopes;
    uint32_t *first;    /* by position: 1 + first value that goes behind it */
    uint32_t *next;     /* by value: the next that goes then */
};

static int push(struct builder *b, struct vram_event event)
{
    return vram_vec_push(b->events, b->cx->arena, event) ? VRAM_OK : vram_fail_memory(b->cx);
}

static int phase(struct builder *b, const char *name)
{
    struct vram_events *e = b->events;
    if (!vram_events_phase_room(e, b->cx->arena))
        return vram_fail_memory(b->cx);
    e->phases[e->nphases] = (struct vram_phase_row){name, (uint32_t)e->n};
    return push(b, (struct vram_event){.kind = VRAM_EVENT_PHASE, .storage = (uint32_t)e->nphases++});
}

static int alloc(struct builder *b, uint32_t value, struct vram_storage_row row, uint8_t category)
{
    struct vram_events *e = b->events;
    const struct vram_onnx_life *life = &b->lives->at[value];
    if (!vram_events_room(e, b->cx->arena) || !vram_events_range_room(e, b->cx->arena))
        return vram_fail_memory(b->cx);
    row.bytes = life->bytes;
    if (life->low < life->bytes) {
        e->ranges[e->nranges++] = (struct vram_bytes_range){life->low, life->bytes};
        row.range = (uint32_t)e->nranges;
    }
    b->storage[value] = (uint32_t)e->nstorages + 1;
    e->storages[e->nstorages] = row;
    return push(b, (struct vram_event){.kind = VRAM_EVENT_ALLOC, .category = category,
                                       .storage = (uint32_t)e->nstorages++});
}

/* ---- whose it is ---- */

/* A node without a telling name belongs to the module of the weight it reads, or to the node's before. */
static uint32_t scope_by_weight(const struct builder *b, const struct vram_onnx_node *node, uint32_t before)
{
    for (uint32_t k = 0; k < node->in.n; k++) {
        uint32_t v = b->model->edges.at[node->in.first + k];
        uint32_t s = v ? b->storage[v] : 0;
        if (s && b->events->storages[s - 1].param != VRAM_NO_PARAM)
            return b->events->storages[s - 1].scope;
    }
    return before;
}

/* ---- the run ---- */

static int load(struct builder *b)
{
    const struct vram_onnx *m = b->model;
    const struct vram_onnx_span span = m->graphs.at[1].initializers;
    b->param = vram_arena_array(b->cx->arena, span.n, sizeof *b->param);
    if (!b->param)
        return vram_fail_memory(b->cx);
    for (uint32_t i = 0; i < b->tree->nparams; i++)
        if (b->tree->params[i].tensor < span.n)
            b->param[b->tree->params[i].tensor] = i + 1;
    VRAM_TRY(phase(b, "load"));
    for (uint32_t i = 0; i < span.n; i++) {
        uint32_t v = m->edges.at[span.first + i], param = b->param[i];
        if (!b->lives->at[v].counted || b->storage[v])
            continue;
        struct vram_storage_row row = {.param = VRAM_NO_PARAM, .op = VRAM_OP_LOAD};
        bool buffer = !param || b->tree->params[param - 1].buffer;
        if (param) {
            row.param = param - 1;
            row.scope = row.saver = b->tree->params[param - 1].scope;
        }
        VRAM_TRY(alloc(b, v, row, buffer ? VRAM_CAT_BUFFER : VRAM_CAT_PARAMETER));
    }
    return VRAM_OK;
}

static int inputs(struct builder *b)
{
    const struct vram_onnx_span span = b->model->graphs.at[1].inputs;
    for (uint32_t i = 0; i < span.n; i++) {
        uint32_t v = b->model->edges.at[span.first + i];
        struct vram_storage_row row = {.param = VRAM_NO_PARAM, .op = VRAM_OP_INPUTS};
        if (v && !b->storage[v] && b->lives->at[v].counted)
            VRAM_TRY(alloc(b, v, row, VRAM_CAT_INPUT));
    }
    return VRAM_OK;
}

/* Values by the position behind which they go, so that the run is linear. */
static int index_ends(struct builder *b)
{
    b->first = vram_arena_array(b->cx->arena, b->lives->nnodes, sizeof *b->first);
    b->next = vram_arena_array(b->cx->arena, b->model->values.n, sizeof *b->next);
    if (!b->first || !b->next)
        return vram_fail_memory(b->cx);
    for (uint32_t v = b->model->values.n; v-- > 1;) {
        const struct vram_onnx_life *life = &b->lives->at[v];
        if (!life->counted || life->gone == VRAM_LIVE_ALWAYS)
            continue;
        b->next[v] = b->first[life->gone];
        b->first[life->gone] = v;
    }
    return VRAM_OK;
}

static int step(struct builder *b, uint32_t position, uint32_t *scope)
{
    const struct vram_onnx *m = b->model;
    const struct vram_onnx_node *node = &m->nodes.at[b->lives->nodes[position]];
    *scope = vram_graph_scope(&b->scopes, node, scope_by_weight(b, node, *scope));
    for (uint32_t k = 0; k < node->out.n; k++) {
        uint32_t v = m->edges.at[node->out.first + k];
        struct vram_storage_row row = {.param = VRAM_NO_PARAM, .op = VRAM_OP_LOOP, .scope = *scope,
                                       .saver = *scope};
        if (v && b->lives->at[v].counted && !b->storage[v])
            VRAM_TRY(alloc(b, v, row, VRAM_CAT_TEMPORARY));
    }
    for (uint32_t v = b->first[position]; v; v = b->next[v])
        if (b->storage[v])
            VRAM_TRY(push(b, (struct vram_event){.kind = VRAM_EVENT_FREE, .storage = b->storage[v] - 1}));
    return VRAM_OK;
}

int vram_onnx_run(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_onnx *model,
                  const struct vram_onnx_lives *lives, bool only_load, struct vram_run *out)
{
    struct builder b = {.cx = cx, .tree = tree, .model = model, .lives = lives};
    uint32_t scope = 0;
    out->events = b.events = vram_arena_alloc(cx->arena, sizeof *out->events);
    b.storage = vram_arena_array(cx->arena, model->values.n, sizeof *b.storage);
    out->requires_grad = vram_arena_array(cx->arena, tree->nparams, sizeof *out->requires_grad);
    out->dtype = vram_arena_array(cx->arena, tree->nparams, sizeof *out->dtype);
    if (!b.events || !b.storage || !out->requires_grad || !out->dtype)
        return vram_fail_memory(cx);
    for (uint32_t i = 0; i < tree->nparams; i++)
        out->dtype[i] = tree->params[i].dtype;
    VRAM_TRY(vram_graph_scopes(cx, tree, &b.scopes));
    VRAM_TRY(load(&b));
    if (only_load)
        return VRAM_OK;
    VRAM_TRY(phase(&b, "forward"));
    VRAM_TRY(inputs(&b));
    VRAM_TRY(index_ends(&b));
    for (uint32_t i = 0; i < lives->nnodes; i++)
        VRAM_TRY(step(&b, i, &scope));
    return VRAM_OK;
}
