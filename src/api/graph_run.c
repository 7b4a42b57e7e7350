/* SPDX-License-Identifier: Apache-2.0
 *
 * The run of an ONNX graph: bind → infer → lives → events.  Then it is a run as any other.
 */
#include <stdio.h>
#include <string.h>

#include "handles.h"
#include "onnx/run.h"

static bool names_dim(const struct vram_cx *cx, const struct vram_onnx *model, const char *name)
{
    vram_sym sym = vram_sym_find(cx->syms, name, strlen(name));
    for (uint32_t i = 0; sym != VRAM_SYM_NONE && i < model->dims.n; i++)
        if (model->dims.at[i].name == sym)
            return true;
    return false;
}

/* dim.NAME, input.NAME, and keys of the plan that a symbol of the file happens to have (seq=16 binds `seq`).  What
 * is given as dim.NAME goes before. */
static int bind(struct vram_cx *cx, const struct vram_plan *plan, const struct vram_onnx *model, bool *asked,
                struct vram_onnx_bindings *out)
{
    size_t extras = vram_plan_extra_count(plan);
    struct vram_onnx_bind_symbol *symbols =
        vram_arena_array(cx->arena, extras + VRAM_KEY_COUNT, sizeof *symbols);
    struct vram_onnx_bind_input *inputs = vram_arena_array(cx->arena, extras, sizeof *inputs);
    if (!symbols || !inputs)
        return vram_fail_memory(cx);
    *out = (struct vram_onnx_bindings){.symbols = symbols, .inputs = inputs};
    for (size_t i = 0; i < extras; i++) {
        const struct vram_plan_extra *e = vram_plan_extra(plan, i);
        if (e->row == VRAM_KEY_DIM_NAME && !names_dim(cx, model, e->name)) {
            VRAM_TRY(vram_find(cx, VRAM_F_SETTING_UNUSED, e->name, "dim.%s=%s: no input of the graph has a dimension "
                               "of this name (vramcast shapes)", e->name, e->text));
        } else if (e->row == VRAM_KEY_DIM_NAME) {
            symbols[out->n_symbols++] = (struct vram_onnx_bind_symbol){e->name, e->number};
        } else if (e->row == VRAM_KEY_INPUT_NAME) {
            int64_t *dims = vram_arena_array(cx->arena, VRAM_SETTING_RANK_MAX, sizeof *dims);
            if (!dims)
                return vram_fail_memory(cx);
            uint32_t rank = (uint32_t)vram_setting_shape(e->text, dims);
            inputs[out->n_inputs++] = (struct vram_onnx_bind_input){e->name, dims, rank};
        }
    }
    for (int k = 0; k < VRAM_KEY_COUNT; k++) {
        const struct vram_setting_row *row = &vram_settings[k];
        bool there = row->type != VRAM_SETTING_INTEGER || vram_setting_is_family((enum vram_key)k) ||
                     !vram_plan_given(plan, (enum vram_key)k) || vram_plan_int(plan, (enum vram_key)k) < 0 ||
                     !names_dim(cx, model, row->key);
        for (size_t i = 0; i < out->n_symbols && !there; i++)
            there = !strcmp(symbols[i].name, row->key);
        if (there)
            continue;
        symbols[out->n_symbols++] = (struct vram_onnx_bind_symbol){row->key, vram_plan_int(plan, (enum vram_key)k)};
        asked[k] = true;
    }
    return VRAM_OK;
}

/* Sizes that nothing gives: which symbols would. */
static int say_open(struct vram_cx *cx, const struct vram_onnx *model, const struct vram_inference *shapes,
                    const struct vram_onnx_lives *lives)
{
    char names[400] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < shapes->n_symbols && used < sizeof names - 100; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.60s=N", i ? " " : "",
                                 vram_dim_text(shapes->dims, shapes->symbols[i]));
    const char *value = vram_sym_text(cx->syms, model->values.at[lives->unknown].name);
    char shown[120];
    vram_escape(shown, sizeof shown, value, strlen(value));
    return vram_find(cx, VRAM_F_ONNX_SIZE, shown, "the sizes of %u tensors are not known, this one first%s%s%s",
                     lives->unknowns, *names ? "; say " : "", names, *names ? " (vramcast shapes)" : "");
}

static int known(struct vram_cx *cx, struct vram_report *r, const struct vram_onnx *model,
                 const struct vram_onnx_lives *lives)
{
    struct vram_onnx_peak peak;
    VRAM_TRY(vram_onnx_peak(cx, model, lives, &peak));
    VRAM_TRY(vram_onnx_run(cx, &r->tree, model, lives, r->setup.mode == VRAM_MODE_LOAD, &r->run));
    return vram_run_known(cx, r);
}

/* The weights alone: their bytes are exact, the peak is unknown. */
static int unknown(struct vram_cx *cx, struct vram_report *r, const struct vram_onnx *model,
                   const struct vram_inference *shapes, const struct vram_onnx_lives *lives)
{
    VRAM_TRY(say_open(cx, model, shapes, lives));
    VRAM_TRY(vram_onnx_run(cx, &r->tree, model, lives, true, &r->run));
    VRAM_TRY(vram_factor(cx, &r->tree, &r->run, (uint32_t)r->run.events->n - 1, &r->factors));
    r->peak_phase = r->peak_owner = "";
    return VRAM_OK;
}

int vram_graph_run(struct vram_cx *cx, struct vram_report *r)
{
    const struct vram_onnx *model = r->model->checkpoint.onnx;
    struct vram_onnx_bindings bindings;
    struct vram_inference shapes;
    struct vram_onnx_lives lives;
    VRAM_TRY(bind(cx, r->setup.plan, model, r->run.asked, &bindings));
    VRAM_TRY(vram_onnx_infer(cx, model, &bindings, &shapes));
    VRAM_TRY(vram_onnx_lives(cx, model, &shapes, vram_plan_on(r->setup.plan, VRAM_KEY_ONNX_VIEWS, false), &lives));
    if (r->setup.mode == VRAM_MODE_TRAIN) {
        VRAM_TRY(vram_find(cx, VRAM_F_NO_FORWARD, "mode",
                           "training of an ONNX graph: what its backward keeps is not described yet"));
        return vram_run_untold(cx, r, false);
    }
    return lives.unknowns ? unknown(cx, r, model, &shapes, &lives) : known(cx, r, model, &lives);
}
