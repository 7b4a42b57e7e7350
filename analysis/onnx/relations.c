/* SPDX-License-Identifier: Apache-2.0
 *
 * Which dims must be equal because nodes say so: a forest over dims.  Two numbers for the same dims are
 * a contradiction between two nodes, and a finding.
 */
#include <inttypes.h>

#include "onnx/pass.h"

static uint32_t *slot_of(struct vram_infer *pass, vram_dim dim)
{
    for (uint32_t i = dim * 2654435761u;; i++) {
        uint32_t *slot = &pass->relation_slots[i & pass->relation_mask];
        if (!*slot || pass->relations.at[*slot - 1].dim == dim)
            return slot;
    }
}

static bool room(struct vram_infer *pass)
{
    if (pass->relation_slots && pass->relations.n < pass->relation_mask / 2)
        return true;
    pass->relation_mask = pass->relation_slots ? pass->relation_mask * 2 + 1 : 63;
    pass->relation_slots = vram_arena_array(pass->cx->arena, (size_t)pass->relation_mask + 1, sizeof(uint32_t));
    if (!pass->relation_slots)
        return false;
    for (uint32_t i = 0; i < pass->relations.n; i++)
        *slot_of(pass, pass->relations.at[i].dim) = i + 1;
    return true;
}

static uint32_t root(struct vram_infer *pass, uint32_t i)
{
    struct vram_relation *at = pass->relations.at;
    while (at[i].up != i)
        i = at[i].up = at[at[i].up].up;
    return i;
}

/* UINT32_MAX without memory */
static uint32_t relation(struct vram_infer *pass, vram_dim dim, uint32_t node)
{
    if (!room(pass))
        return UINT32_MAX;
    uint32_t *slot = slot_of(pass, dim), n = (uint32_t)pass->relations.n;
    if (*slot)
        return root(pass, *slot - 1);
    struct vram_relation r = {.dim = dim, .up = n, .node = node};
    r.numbered = vram_dim_is_int(pass->dims, dim, &r.number);
    if (!vram_vec_push(&pass->relations, pass->cx->arena, r))
        return UINT32_MAX;
    *slot = n + 1;
    return n;
}

bool vram_infer_related(struct vram_infer *pass, vram_dim a, vram_dim b)
{
    if (!pass->relation_slots)
        return false;
    uint32_t *x = slot_of(pass, a), *y = slot_of(pass, b);
    return *x && *y && root(pass, *x - 1) == root(pass, *y - 1);
}

static int contradict(struct vram_infer *pass, const struct vram_relation *a, const struct vram_relation *b,
                      const struct vram_onnx_node *node, vram_dim dim, const char *what)
{
    const struct vram_relation *before = a->node == (uint32_t)(node - pass->model->nodes.at) ? b : a;
    const char *text = vram_dim_text(pass->dims, dim);
    return vram_find(pass->cx, VRAM_F_ONNX_CONTRADICTION, vram_infer_node(pass, node),
                     "%s: '%s' must be %" PRId64 " here and %" PRId64 " in %s", what, text ? text : "?",
                     before == a ? b->number : a->number, before->number,
                     vram_infer_node(pass, &pass->model->nodes.at[before->node]));
}

/* A number is true everywhere: it is no member of the forest, but the root's. */
int vram_infer_relate(struct vram_infer *pass, const struct vram_onnx_node *node, vram_dim a, vram_dim b,
                      const char *what)
{
    uint32_t id = (uint32_t)(node - pass->model->nodes.at), x, y;
    int64_t n;
    if (vram_dim_is_int(pass->dims, a, &n)) {
        vram_dim t = a;
        a = b;
        b = t;
    }
    struct vram_relation number = {.numbered = vram_dim_is_int(pass->dims, b, &n), .number = n, .node = id};
    x = relation(pass, a, id);
    if (x == UINT32_MAX)
        return vram_fail_memory(pass->cx);
    if (number.numbered) {
        struct vram_relation *r = &pass->relations.at[x];
        if (r->numbered && r->number != n)
            return contradict(pass, r, &number, node, a, what);
        if (!r->numbered) {
            r->numbered = true;
            r->number = n;
            r->node = id;
        }
        return VRAM_OK;
    }
    y = relation(pass, b, id);
    if (y == UINT32_MAX)
        return vram_fail_memory(pass->cx);
    struct vram_relation *p = &pass->relations.at[x], *q = &pass->relations.at[y];
    if (p->numbered && q->numbered && p->number != q->number)
        return contradict(pass, p, q, node, a, what);
    if (x != y) {
        q->up = x;
        if (!p->numbered) {
            p->numbered = q->numbered;
            p->number = q->number;
            p->node = q->numbered ? q->node : p->node;
        }
    }
    return VRAM_OK;
}
