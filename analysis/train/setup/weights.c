/* SPDX-License-Identifier: Apache-2.0
 *
 * In which dtype and words weights are held, and what is computed in.
 */
#include <string.h>

#include "train/setup/resolver.h"

static bool config_on(const struct resolver *r, const struct vram_config *c, const char *key)
{
    const struct vram_config *v = vram_config_get_text(r->cx, c, key);
    return v && v->type == VRAM_CONFIG_BOOL && v->integer;
}

static const char *config_text(const struct resolver *r, const struct vram_config *c, const char *key)
{
    const struct vram_config *v = vram_config_get_text(r->cx, c, key);
    return v && v->type == VRAM_CONFIG_STRING ? vram_sym_text(r->cx->syms, v->text) : "";
}

/* How a config without files says that its weights are packed; NULL = in no way that is known. */
static const char *stored_packing(const struct resolver *r, const struct vram_config *q)
{
    const char *method = config_text(r, q, "quant_method");
    int64_t bits = vram_resolve_int(r, q, "bits");
    if (!strcmp(method, "gptq") && (bits == 4 || bits == 8))
        return bits == 4 ? "gptq-4" : "gptq-8";
    if (!strcmp(method, "awq") && bits == 4)
        return "awq-4";
    if (config_on(r, q, "load_in_8bit"))
        return "int8";
    if (!config_on(r, q, "load_in_4bit"))
        return NULL;
    bool nf4 = !strcmp(config_text(r, q, "bnb_4bit_quant_type"), "nf4");
    if (config_on(r, q, "bnb_4bit_use_double_quant"))
        return nf4 ? "nf4-dq" : "fp4-dq";
    return nf4 ? "nf4" : "fp4";
}

static int resolve_weights(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *weights = vram_plan_text(r->plan, VRAM_KEY_WEIGHTS);
    const struct vram_config *q =
        vram_config_get_text(r->cx, r->tree->scopes[0].config, "quantization_config");
    s->packing = vram_packing_find(weights);
    if (!s->packing && strcmp(weights, "as-stored"))
        return vram_resolve_unsupported(r, VRAM_KEY_WEIGHTS);
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_WEIGHTS));
    if (s->packing || !q || q->type != VRAM_CONFIG_OBJECT || !r->tree->nparams ||
        r->tree->params[0].tensor != VRAM_NO_INDEX)
        return VRAM_OK;
    const char *stored = stored_packing(r, q);
    s->packing = stored ? vram_packing_find(stored) : NULL;
    if (!s->packing)
        return vram_find(r->cx, VRAM_F_QUANT_UNKNOWN, "quantization_config",
                         "weights quantised in this way are not known: the sizes are those of plain ones");
    return vram_resolve_note(r, "weights", stored, "model");
}

int vram_resolve_precision(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *p = vram_plan_text(r->plan, VRAM_KEY_PRECISION);
    bool bf16 = !strncmp(p, "bf16", 4), mixed = strstr(p, "-mixed") != NULL;
    bool autocast = mixed || strstr(p, "-autocast");
    enum vram_dtype half = bf16 ? VRAM_DT_BF16 : VRAM_DT_F16;
    s->dtype = !strcmp(p, "fp32") || mixed ? VRAM_DT_F32 : half;
    s->autocast = autocast ? half : VRAM_DT_NONE;
    s->loss_scale = !strcmp(p, "fp16-mixed");
    if (s->deepspeed && s->mode == VRAM_MODE_TRAIN) {
        /* the engine casts the whole module and keeps fp32 masters: no autocast on top */
        s->dtype = !strcmp(p, "fp32") ? VRAM_DT_F32 : half;
        s->autocast = VRAM_DT_NONE;
        s->input_dtype = s->dtype;
        s->loss_scale = half == VRAM_DT_F16 && s->dtype == VRAM_DT_F16;
    }
    VRAM_TRY(resolve_weights(r));
    return vram_resolve_note_plan(r, VRAM_KEY_PRECISION);
}
