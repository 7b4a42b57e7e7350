/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules of nodes; see scopes.h.
 */
#include "onnx/scopes.h"

int vram_graph_scopes(struct vram_cx *cx, const struct vram_tree *tree, struct vram_graph_scopes *out)
{
    *out = (struct vram_graph_scopes){.syms = cx->syms};
    for (uint32_t i = 0; i < tree->nscopes; i++)
        out->n = tree->scopes[i].path >= out->n ? tree->scopes[i].path + 1 : out->n;
    out->of = vram_arena_array(cx->arena, out->n, sizeof *out->of);
    if (!out->of)
        return vram_fail_memory(cx);
    for (uint32_t i = 0; i < tree->nscopes; i++)
        out->of[tree->scopes[i].path] = i + 1;
    return VRAM_OK;
}

uint32_t vram_graph_scope(const struct vram_graph_scopes *scopes, const struct vram_onnx_node *node,
                          uint32_t otherwise)
{
    char path[512];
    const char *name = vram_sym_text(scopes->syms, node->name);
    size_t n = 0;
    for (name += *name == '/'; *name && n + 1 < sizeof path; name++)
        path[n++] = *name == '/' ? '.' : *name;
    for (; n; n--) { /* "/model/layers.0/mlp/MatMul" → model.layers.0.mlp.MatMul, … mlp, … */
        vram_sym sym = vram_sym_find(scopes->syms, path, n);
        if (sym != VRAM_SYM_NONE && sym < scopes->n && scopes->of[sym])
            return scopes->of[sym] - 1;
        while (n > 1 && path[n - 1] != '.')
            n--;
    }
    return otherwise;
}
