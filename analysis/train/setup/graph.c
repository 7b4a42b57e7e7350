/* SPDX-License-Identifier: Apache-2.0
 *
 * What an inference of an ONNX graph leaves to decide: little, because the file says types and sizes.
 */
#include "alloc/alloc.h"
#include "train/setup/resolver.h"

static int resolve_allocator(struct resolver *r)
{
    if (vram_plan_given(r->plan, VRAM_KEY_ALLOCATOR))
        return VRAM_OK; /* vram_resolve_gpu has it */
    r->s->allocator = vram_allocator_find("ort");
    for (size_t i = 0; i < r->s->resolved.n; i++)
        if (r->s->resolved.at[i].key == vram_settings[VRAM_KEY_ALLOCATOR].key) {
            r->s->resolved.at[i].value = r->s->allocator->name;
            r->s->resolved.at[i].origin = "model";
        }
    return VRAM_OK;
}

int vram_setup_graph(struct vram_cx *cx, const struct vram_plan *plan, const struct vram_tree *tree,
                     struct vram_setup *out)
{
    struct resolver r = {cx, plan, tree, out, true};
    if (vram_plan_is(plan, VRAM_KEY_MODE, "train") && vram_plan_given(plan, VRAM_KEY_MODE))
        return vram_setup_graph_training(cx, plan, tree, out);
    *out = (struct vram_setup){.plan = plan, .graph = true, .mode = VRAM_MODE_INFER, .steps = 1, .micro_batch = 1,
                               .accumulation = 1, .ranks = 1, .tp = 1, .pp = 1, .ep = 1, .cp = 1, .card = true,
                               .strategy = vram_strategy_find("none")};
    if (vram_plan_given(plan, VRAM_KEY_MODE)) {
        out->mode = vram_plan_is(plan, VRAM_KEY_MODE, "load") ? VRAM_MODE_LOAD : VRAM_MODE_INFER;
        VRAM_TRY(vram_resolve_note_plan(&r, VRAM_KEY_MODE));
    } else {
        VRAM_TRY(vram_resolve_note(&r, "mode", "infer", "model"));
    }
    VRAM_TRY(vram_resolve_note_plan(&r, VRAM_KEY_ONNX_VIEWS));
    VRAM_TRY(vram_resolve_gpu(&r));
    return resolve_allocator(&r);
}
