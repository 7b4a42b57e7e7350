/* SPDX-License-Identifier: Apache-2.0
 *
 * What must hold of every model that the loader lets pass: ids within their arrays, an order in which
 * each node stands once and behind what it reads, a text that can be printed.
 */
#ifndef VRAM_FUZZ_ONNX_MODEL_H
#define VRAM_FUZZ_ONNX_MODEL_H

#include <stdlib.h>

#include "base/vec.h"
#include "ir/print_onnx.h"

static inline void fuzz_span(struct vram_onnx_span span, uint32_t n)
{
    if (span.n && (span.first > n || span.n > n - span.first))
        abort();
}

static inline void fuzz_edges(const struct vram_onnx *m, struct vram_onnx_span span)
{
    fuzz_span(span, m->edges.n);
    for (uint32_t i = 0; i < span.n; i++)
        if (m->edges.at[span.first + i] >= m->values.n)
            abort();
}

static inline void fuzz_attrs(const struct vram_onnx *m, struct vram_onnx_span span)
{
    fuzz_span(span, m->attrs.n);
    for (uint32_t i = 0; i < span.n; i++) {
        const struct vram_onnx_attr *a = &m->attrs.at[span.first + i];
        if (a->kind == VRAM_ATTR_GRAPH && (!a->id || a->id >= m->graphs.n))
            abort();
        if ((a->kind == VRAM_ATTR_TENSOR || a->kind == VRAM_ATTR_SPARSE_TENSOR) && (!a->id || a->id >= m->tensors.n))
            abort();
        if (a->kind == VRAM_ATTR_TYPE && a->id >= m->types.n)
            abort();
    }
}

/* place: by node, its position in its graph's order */
static inline void fuzz_order(const struct vram_onnx *m, uint32_t graph, uint32_t *place)
{
    struct vram_onnx_span nodes = m->graphs.at[graph].nodes;
    fuzz_span(nodes, m->order.n);
    for (uint32_t i = 0; i < nodes.n; i++) {
        uint32_t id = m->order.at[nodes.first + i];
        if (!id || id >= m->nodes.n || place[id] || m->nodes.at[id].graph != graph)
            abort();
        place[id] = i + 1;
    }
    for (uint32_t i = 0; i < nodes.n; i++) {
        const struct vram_onnx_node *n = &m->nodes.at[m->order.at[nodes.first + i]];
        fuzz_edges(m, n->in);
        fuzz_edges(m, n->out);
        fuzz_attrs(m, n->attrs);
        if (!n->version || n->body >= m->graphs.n)
            abort();
        for (uint32_t k = 0; k < n->in.n; k++) {
            const struct vram_onnx_value *v = &m->values.at[m->edges.at[n->in.first + k]];
            if (v->producer && v->graph == graph && place[v->producer] > i)
                abort();
        }
    }
}

static inline int fuzz_nowhere(void *ctx, const char *text, size_t n)
{
    *(size_t *)ctx += text ? n : 0;
    return 0;
}

static inline void fuzz_model(struct vram_cx *cx, const struct vram_onnx *m)
{
    uint32_t *place = calloc(m->nodes.n, sizeof *place);
    struct vram_text *text = malloc(sizeof *text);
    size_t printed = 0;
    if (!place || !text || m->graphs.n < 2)
        abort();
    for (uint32_t g = 1; g < m->graphs.n; g++) {
        const struct vram_onnx_graph *graph = &m->graphs.at[g];
        fuzz_edges(m, graph->inputs);
        fuzz_edges(m, graph->outputs);
        fuzz_edges(m, graph->initializers);
        if (graph->parent >= g || graph->owner >= m->nodes.n)
            abort();
        fuzz_order(m, g, place);
    }
    for (uint32_t t = 1; t < m->tensors.n; t++)
        for (uint64_t i = 0; m->tensors.at[t].data && i < m->tensors.at[t].elements; i++) {
            double x;
            vram_onnx_real(&m->tensors.at[t], i, &x);
        }
    vram_text_init(text, fuzz_nowhere, &printed);
    vram_onnx_print(m, cx->syms, text);
    if (vram_text_flush(text) || !printed)
        abort();
    free(text);
    free(place);
}

#endif
