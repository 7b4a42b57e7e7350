/* SPDX-License-Identifier: Apache-2.0
 *
 * The run of an ONNX graph: bind → infer → lives → events.  Then it is a run as any other.
 */
#include <stdio.h>
#include <string.h>

#include "handles.h"
#include "onnx/lower.h"
#include "onnx/run.h"

static bool names_dim(const struct vram_cx *cx, const struct vram_onnx *model, const char *name)
{
    vram_sym sym = vram_sym_find(cx->syms, name, strlen(name));
    for (uint32_t i = 0; sym != VRAM_SYM_NONE && i < model->dims.n; i++)
        if (model->dims.at[i].name == sym)
            return true;
    return false;
}

/* Names that exporters' users give to sizes which a training sets, where the name itself is not bound. */
static const struct usual {
    const char *name;
    enum vram_key key;
} usual[] = {{"batch", VRAM_KEY_MICRO_BATCH},    {"batch_size", VRAM_KEY_MICRO_BATCH}, {"N", VRAM_KEY_MICRO_BATCH},
             {"sequence_length", VRAM_KEY_SEQ},  {"sequence", VRAM_KEY_SEQ},           {"seq_len", VRAM_KEY_SEQ}};
enum { NUSUAL = sizeof usual / sizeof *usual };

static int bind_usual(struct vram_cx *cx, const struct vram_plan *plan, const struct vram_onnx *model, bool training,
                      struct vram_onnx_bind_symbol *symbols, struct vram_onnx_bindings *out)
{
    size_t given = out->n_symbols;
    for (size_t i = 0; training && i < NUSUAL; i++) {
        bool there = vram_plan_int(plan, usual[i].key) == VRAM_PLAN_UNSET || !names_dim(cx, model, usual[i].name);
        for (size_t k = 0; k < given && !there; k++)
            there = !strcmp(symbols[k].name, usual[i].name);
        if (!there)
            symbols[out->n_symbols++] =
                (struct vram_onnx_bind_symbol){usual[i].name, vram_plan_int(plan, usual[i].key)};
    }
    return VRAM_OK;
}

/* dim.NAME, input.NAME, and keys of the plan that a symbol of the file happens to have (seq=16 binds `seq`).  What
 * is given as dim.NAME goes before. */
static int bind(struct vram_cx *cx, const struct vram_plan *plan, const struct vram_onnx *model, bool training,
                bool *asked, struct vram_onnx_bindings *out)
{
    size_t extras = vram_plan_extra_count(plan);
    struct vram_onnx_bind_symbol *symbols =
        vram_arena_array(cx->arena, extras + VRAM_KEY_COUNT + NUSUAL, sizeof *symbols);
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
    VRAM_TRY(bind_usual(cx, plan, model, training, symbols, out));
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
    if (r->setup.mode != VRAM_MODE_LOAD && peak.position != VRAM_LIVE_ALWAYS)
        VRAM_TRY(vram_find(cx, VRAM_F_ONNX_ORDER, "", "%llu bytes live at node %u, the most of this order; no order of "
                           "the nodes needs less than %llu", (unsigned long long)peak.peak, peak.position,
                           (unsigned long long)peak.floor));
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

/* ---- training ------------------------------------------------------------------------------ */

static bool has_loss(struct vram_cx *cx, const struct vram_onnx *model)
{
    const struct vram_onnx_span outs = model->graphs.at[1].outputs;
    for (uint32_t i = 0; i < outs.n; i++) {
        uint32_t v = model->edges.at[outs.first + i];
        if (v && !strcmp(vram_sym_text(cx->syms, model->values.at[v].name), "loss"))
            return true;
    }
    return false;
}

static int say_assumed(struct vram_cx *cx, const struct vram_onnx *model, const struct vram_lower *lower)
{
    const char *assumed = vram_lower_assumed(cx, lower);
    if (!assumed)
        return vram_fail_memory(cx);
    if (*assumed)
        VRAM_TRY(vram_find(cx, VRAM_F_ONNX_SAVED, assumed,
                           "what these operators keep for backward is not described, or their sizes depend on data: all "
                           "their inputs, it is assumed"));
    if (has_loss(cx, model))
        return VRAM_OK;
    return vram_find(cx, VRAM_F_ONNX_LOSS, "loss",
                     "no output of the graph is called so: backward begins at the mean of each output that something trains");
}

/* What is not known of sizes: weights, gradients and optimizer state alone. */
static int train_unknown(struct vram_cx *cx, struct vram_report *r, const struct vram_onnx *model,
                         const struct vram_inference *shapes, const struct vram_onnx_lives *lives)
{
    VRAM_TRY(say_open(cx, model, shapes, lives));
    return vram_run_untold(cx, r, false);
}

/* What works on modules has nothing to work on. */
static int say_unused(struct vram_cx *cx, const struct vram_plan *plan)
{
    static const enum vram_key keys[] = {VRAM_KEY_CHECKPOINTING, VRAM_KEY_COMPILE, VRAM_KEY_WEIGHTS};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (vram_plan_given(plan, keys[i]) && !vram_plan_is(plan, keys[i], "off"))
            VRAM_TRY(vram_find(cx, VRAM_F_SETTING_UNUSED, vram_settings[keys[i]].key,
                               "%s=%s has no effect on a graph: it has no modules", vram_settings[keys[i]].key,
                               vram_plan_text(plan, keys[i])));
    return VRAM_OK;
}

static int train(struct vram_cx *cx, struct vram_report *r, const struct vram_onnx *model,
                 const struct vram_inference *shapes, const struct vram_onnx_lives *lives)
{
    struct vram_lower *lower;
    bool asked[VRAM_KEY_COUNT];
    memcpy(asked, r->run.asked, sizeof asked);
    VRAM_TRY(vram_lower(cx, &r->tree, model, shapes, &lower));
    r->setup.forward = vram_lower_forward(lower);
    int code = vram_run(cx, &r->tree, &r->setup, &r->run);
    for (int k = 0; k < VRAM_KEY_COUNT; k++)
        r->run.asked[k] = r->run.asked[k] || asked[k];
    if (code == VRAM_E_UNSUPPORTED && lives->unknowns) {
        *cx->error = (vram_error){.offset = VRAM_NO_OFFSET};
        return train_unknown(cx, r, model, shapes, lives);
    }
    if (code)
        return code;
    VRAM_TRY(say_unused(cx, r->setup.plan));
    VRAM_TRY(say_assumed(cx, model, lower));
    return vram_run_known(cx, r);
}

int vram_graph_run(struct vram_cx *cx, struct vram_report *r)
{
    const struct vram_onnx *model = r->model->checkpoint.onnx;
    bool training = r->setup.mode == VRAM_MODE_TRAIN;
    struct vram_onnx_bindings bindings;
    struct vram_inference shapes;
    struct vram_onnx_lives lives;
    VRAM_TRY(bind(cx, r->setup.plan, model, training, r->run.asked, &bindings));
    VRAM_TRY(vram_onnx_infer(cx, model, &bindings, &shapes));
    VRAM_TRY(vram_onnx_lives(cx, model, &shapes, vram_plan_on(r->setup.plan, VRAM_KEY_ONNX_VIEWS, false), &lives));
    if (training)
        return train(cx, r, model, &shapes, &lives);
    return lives.unknowns ? unknown(cx, r, model, &shapes, &lives) : known(cx, r, model, &lives);
}
