/* SPDX-License-Identifier: Apache-2.0
 *
 * A topological order: depth first in the file's order, without recursion, so that the longest chain
 * of nodes takes no stack and a cycle can be named.
 */
#include "onnx/raw.h"

#include <stdio.h>
#include <string.h>

enum { NEW, OPEN, DONE };

struct step {
    uint32_t node, next; /* id; the next of what it waits for */
};

struct sorter {
    const struct onnx_sorting *s;
    uint8_t *state;       /* by id − first */
    uint32_t *first_wait; /* the same, and one more */
    struct step *stack;
    size_t depth;
};

/* Node i of those that a node waits for; 0: none, UINT32_MAX: past the end. */
static uint32_t before(const struct sorter *sorter, uint32_t node, uint32_t i)
{
    const struct onnx_sorting *s = sorter->s;
    const struct vram_onnx_node *n = &s->nodes[node];
    const uint32_t *first = &sorter->first_wait[node - s->first];
    uint32_t value;
    if (i < n->in.n)
        value = s->edges[n->in.first + i];
    else if (i - n->in.n < first[1] - first[0])
        value = s->waits[first[0] + i - n->in.n].value;
    else
        return UINT32_MAX;
    uint32_t producer = s->values[value].producer;
    return producer >= s->first && producer - s->first < s->n ? producer : 0;
}

static int cycle(const struct sorter *sorter, uint32_t again)
{
    const struct onnx_sorting *s = sorter->s;
    char text[300];
    size_t at = 0, i = sorter->depth - 1, shown = 0;
    while (sorter->stack[i].node != again)
        i--;
    /* the stack has each node above the one that waits for it */
    for (size_t j = sorter->depth; j-- > i && shown < 5; shown++) {
        const struct vram_onnx_node *n = &s->nodes[sorter->stack[j].node];
        struct onnx_place op = onnx_shown(s->cx, n->op);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u '%.24s'", shown ? " -> " : "", n->number, op.text);
    }
    size_t length = sorter->depth - i;
    const struct vram_onnx_node *n = &s->nodes[again];
    vram_where(s->cx, "%s: node %u '%s'", s->file, n->number, onnx_shown(s->cx, n->op).text);
    if (length == 1)
        return vram_fail(s->cx, VRAM_E_FORMAT, n->offset, "the node reads its own output");
    return vram_fail(s->cx, VRAM_E_FORMAT, n->offset, "%zu nodes feed each other in a circle: %s%s -> ...", length,
                     text, length > 5 ? " -> ..." : "");
}

static int visit(struct sorter *sorter, uint32_t start, uint32_t *order, uint32_t *n)
{
    const struct onnx_sorting *s = sorter->s;
    sorter->stack[sorter->depth++] = (struct step){start, 0};
    sorter->state[start - s->first] = OPEN;
    while (sorter->depth) {
        struct step *top = &sorter->stack[sorter->depth - 1];
        uint32_t node = before(sorter, top->node, top->next++);
        if (node == UINT32_MAX) {
            sorter->state[top->node - s->first] = DONE;
            order[(*n)++] = top->node;
            sorter->depth--;
        } else if (node && sorter->state[node - s->first] == OPEN) {
            return cycle(sorter, node);
        } else if (node && sorter->state[node - s->first] == NEW) {
            sorter->state[node - s->first] = OPEN;
            sorter->stack[sorter->depth++] = (struct step){node, 0};
        }
    }
    return VRAM_OK;
}

int onnx_sort(const struct onnx_sorting *s, uint32_t *order)
{
    struct vram_arena_mark mark = vram_arena_mark(s->scratch);
    struct sorter sorter = {
        .s = s,
        .state = vram_arena_array(s->scratch, s->n, 1),
        .first_wait = vram_arena_array(s->scratch, (size_t)s->n + 1, sizeof *sorter.first_wait),
        .stack = vram_arena_array(s->scratch, s->n, sizeof *sorter.stack),
    };
    uint32_t n = 0;
    int rc = VRAM_OK;
    if (!sorter.state || !sorter.first_wait || !sorter.stack)
        rc = vram_fail_memory(s->cx);
    for (uint32_t i = 0, w = 0; !rc && i <= s->n; i++) {
        while (w < s->n_waits && s->waits[w].node < s->first + i)
            w++;
        sorter.first_wait[i] = w;
    }
    for (uint32_t i = 0; !rc && i < s->n; i++)
        if (sorter.state[i] == NEW)
            rc = visit(&sorter, s->first + i, order, &n);
    vram_arena_rewind(s->scratch, mark);
    return rc;
}
