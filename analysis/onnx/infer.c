/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass over a model; see infer.h.  Linear in nodes: a node costs its operator's row, found by its
 * symbol, and what its outputs take in the arena.
 */
#include "onnx/infer.h"

#include <string.h>

#include "onnx/pass.h"

const char *vram_onnx_value_text(struct vram_cx *cx, const struct vram_onnx *model, uint32_t value)
{
    char shown[400];
    const char *path = vram_sym_text(cx->syms, model->graphs.at[model->values.at[value].graph].path);
    const char *name = vram_sym_text(cx->syms, model->values.at[value].name);
    const char *full = vram_format(cx->arena, "%.200s%s%.200s", path, *path ? "/" : "", name);
    if (!full)
        return "";
    vram_escape(shown, sizeof shown, full, strlen(full));
    const char *text = vram_arena_strndup(cx->arena, shown, strlen(shown));
    return text ? text : "";
}

static int report_unknown(struct vram_infer *pass)
{
    char op[100], domain[100];
    for (size_t i = 0; i < pass->ops.n; i++) {
        const struct vram_op_entry *e = &pass->ops.at[i];
        if (!e->unknown)
            continue;
        const char *o = vram_sym_text(pass->cx->syms, e->op), *d = vram_sym_text(pass->cx->syms, e->domain);
        vram_escape(op, sizeof op, o, strlen(o));
        vram_escape(domain, sizeof domain, d, strlen(d));
        VRAM_TRY(vram_find(pass->cx, VRAM_F_ONNX_OPERATOR, *domain ? vram_format(pass->cx->arena, "%s.%s", domain, op) : op,
                           "an operator that is not known in version %u (%s%s): its outputs are taken as the file declares "
                           "them, or stay unknown",
                           e->version, vram_infer_node(pass, &pass->model->nodes.at[e->first]),
                           e->unknown > 1 ? ", and others" : ""));
    }
    return VRAM_OK;
}

int vram_onnx_infer(struct vram_cx *cx, const struct vram_onnx *model, const struct vram_onnx_bindings *bindings,
                    struct vram_inference *out)
{
    struct vram_infer pass = {.cx = cx, .model = model};
    pass.dims = vram_dims_new(cx->arena, cx->syms);
    pass.at = vram_arena_array(cx->arena, model->values.n, sizeof *pass.at);
    if (!pass.dims || !pass.at)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_infer_inputs(&pass, bindings));
    VRAM_TRY(vram_infer_graph(&pass, 1));
    VRAM_TRY(report_unknown(&pass));
    *out = (struct vram_inference){.model = model, .dims = pass.dims, .at = pass.at, .n = model->values.n,
                                .symbols = pass.symbols.at, .n_symbols = (uint32_t)pass.symbols.n,
                                .bound = pass.bound.at, .n_bound = pass.bound.n,
                                .unknown_ops = pass.unknown_ops};
    return VRAM_OK;
}
