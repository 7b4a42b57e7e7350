/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan with every open value decided: what was given, what the model says, what the defaults are,
 * and what has to be assumed.  Each decision is kept with its origin for the report.
 */
#include <stdio.h>
#include <string.h>

#include "alloc/alloc.h"
#include "base/vec.h"
#include "train/train.h"

struct resolver {
    struct vram_cx *cx;
    const struct vram_plan *plan;
    const struct vram_tree *tree;
    struct vram_setup *s;
};

int vram_setup_note(struct vram_cx *cx, struct vram_setup *setup, const char *key, const char *value,
                    const char *origin)
{
    struct vram_resolved row = {key, vram_arena_strndup(cx->arena, value, strlen(value)), origin};
    if (!row.value || !vram_vec_push(&setup->resolved, cx->arena, row))
        return vram_fail_memory(cx);
    return VRAM_OK;
}

static int note(struct resolver *r, const char *key, const char *value, const char *origin)
{
    return vram_setup_note(r->cx, r->s, key, value, origin);
}

/* A setting that stands as the plan has it: given, or the table's default. */
static int note_plan(struct resolver *r, enum vram_key key)
{
    return note(r, vram_settings[key].key, vram_plan_text(r->plan, key),
                vram_plan_given(r->plan, key) ? "given" : "default");
}

/* One that needs no line when it stands at its default. */
static int note_given(struct resolver *r, enum vram_key key)
{
    return vram_plan_given(r->plan, key) ? note_plan(r, key) : VRAM_OK;
}

static int note_number(struct resolver *r, const char *key, int64_t value, const char *origin)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return note(r, key, text, origin);
}

static int unsupported(struct resolver *r, enum vram_key key)
{
    return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                     "%s=%s is not supported yet (vramcast list %s)", vram_settings[key].key,
                     vram_plan_text(r->plan, key),
                     key == VRAM_KEY_OPTIMIZER  ? "optimizers"
                     : key == VRAM_KEY_STRATEGY ? "strategies"
                                                : "settings");
}

/* ---- what is run -------------------------------------------------------------------------- */

/* Pairs and a reference model: not run, and without them the answer would be another one's. */
static int refuse_preference(struct resolver *r)
{
    if (vram_plan_int(r->plan, VRAM_KEY_PAIRS) > 1)
        return unsupported(r, VRAM_KEY_PAIRS);
    return vram_plan_is(r->plan, VRAM_KEY_REF_MODEL, "none") ? VRAM_OK : unsupported(r, VRAM_KEY_REF_MODEL);
}

static int resolve_mode(struct resolver *r)
{
    struct vram_setup *s = r->s;
    s->mode = vram_plan_is(r->plan, VRAM_KEY_MODE, "infer")  ? VRAM_MODE_INFER
              : vram_plan_is(r->plan, VRAM_KEY_MODE, "load") ? VRAM_MODE_LOAD
                                                             : VRAM_MODE_TRAIN;
    s->steps = (int)vram_plan_int(r->plan, VRAM_KEY_STEPS);
    s->micro_batch = vram_plan_int(r->plan, VRAM_KEY_MICRO_BATCH);
    s->accumulation = s->mode == VRAM_MODE_TRAIN ? vram_plan_int(r->plan, VRAM_KEY_ACCUMULATION) : 1;
    s->card = !vram_plan_is(r->plan, VRAM_KEY_KERNELS_AS, "oracle");
    VRAM_TRY(refuse_preference(r));
    VRAM_TRY(note_plan(r, VRAM_KEY_MODE));
    VRAM_TRY(note_plan(r, VRAM_KEY_MICRO_BATCH));
    if (s->mode == VRAM_MODE_TRAIN) {
        VRAM_TRY(note_plan(r, VRAM_KEY_ACCUMULATION));
        VRAM_TRY(note_given(r, VRAM_KEY_STEPS));
        VRAM_TRY(note_given(r, VRAM_KEY_LENGTHS));
    }
    VRAM_TRY(note_given(r, VRAM_KEY_KERNELS_AS));
    VRAM_TRY(note_given(r, VRAM_KEY_ESTIMATOR));
    if (!s->card)
        VRAM_TRY(vram_find(r->cx, VRAM_F_ORACLE_KERNELS, "kernels_as",
                           "kernels run as the training oracle has them, not as a card does"));
    return VRAM_OK;
}

/* Keys of a strategy begin with its name without the stage: zero. for zero2. */
static int note_strategy(struct resolver *r, const char *name)
{
    size_t n = strcspn(name, "0123456789");
    if (!strcmp(name, "hsdp"))
        name = "fsdp";
    for (int i = 0; i < VRAM_KEY_COUNT; i++)
        if (!strncmp(vram_settings[i].key, name, n) && vram_settings[i].key[n] == '.')
            VRAM_TRY(note_given(r, (enum vram_key)i));
    return VRAM_OK;
}

/* Rules know versions between these; what changed outside optimizers is not followed. */
static int resolve_version(struct resolver *r, enum vram_key key, int oldest, int newest, int *out)
{
    const char *name = vram_settings[key].key, *given = vram_plan_text(r->plan, key);
    int version = (int)(vram_plan_int(r->plan, key) / 1000);
    *out = version < oldest ? oldest : version > newest ? newest : version;
    if (!vram_plan_given(r->plan, key))
        return VRAM_OK;
    if (version != *out)
        VRAM_TRY(vram_find(r->cx, VRAM_F_VERSION, name, "%s=%s is %s than what the rules know: read as %d.%d",
                           name, given, version < oldest ? "older" : "newer", *out / 1000, *out % 1000));
    else if (version != newest)
        VRAM_TRY(vram_find(r->cx, VRAM_F_VERSION, name,
                           "%s=%s: optimizers and their default follow it, the rest is that of %d.%d", name,
                           given, newest / 1000, newest % 1000));
    return note(r, name, given, "given");
}

static int resolve_versions(struct resolver *r)
{
    VRAM_TRY(resolve_version(r, VRAM_KEY_TRANSFORMERS, 4029, 5024, &r->s->transformers));
    return resolve_version(r, VRAM_KEY_TORCH, 2000, 2009, &r->s->torch);
}

/* DeepSpeed moves the gradients with the optimizer; parameters only where they are sharded. */
static int resolve_offload(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *what = vram_plan_text(r->plan, VRAM_KEY_OFFLOAD);
    bool params = !strcmp(what, "params"), three = !strcmp(s->strategy->name, "zero3");
    if (!strcmp(what, "none") || s->mode != VRAM_MODE_TRAIN)
        return VRAM_OK;
    if (!s->strategy->deepspeed || !strcmp(what, "activations") || (params && !three))
        return unsupported(r, VRAM_KEY_OFFLOAD);
    s->offload = params ? VRAM_OFFLOAD_PARAMS : VRAM_OFFLOAD_OPTIMIZER;
    if (!strcmp(what, "optimizer"))
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_READ_AS, "offload",
                           "DeepSpeed moves the gradients with the optimizer: offload=optimizer is "
                           "read as optimizer+grads"));
    return note_plan(r, VRAM_KEY_OFFLOAD);
}

/* HSDP: groups of shards, copies of which are reduced together. */
static int resolve_shards(struct resolver *r)
{
    int64_t gpus = vram_plan_int(r->plan, VRAM_KEY_GPUS), shards = vram_plan_int(r->plan, VRAM_KEY_SHARDS);
    bool copies = !strcmp(r->s->strategy->name, "hsdp");
    r->s->ranks = shards != VRAM_PLAN_UNSET ? shards : gpus != VRAM_PLAN_UNSET ? gpus : 1;
    if (copies && (shards == VRAM_PLAN_UNSET || gpus % shards != 0))
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "strategy=hsdp needs shards=N, and gpus=%lld to be a multiple of it",
                         (long long)gpus);
    return VRAM_OK;
}

/* fully_shard has no such switches. */
static int find_unused(struct resolver *r)
{
    static const enum vram_key keys[] = {VRAM_KEY_FSDP_PREFETCH, VRAM_KEY_FSDP_FORWARD_PREFETCH,
                                         VRAM_KEY_FSDP_USE_ORIG_PARAMS};
    const char *name = r->s->strategy->name;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if ((!strcmp(name, "fsdp2") || !strcmp(name, "hsdp")) && vram_plan_given(r->plan, keys[i]))
            VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_UNUSED, vram_settings[keys[i]].key,
                               "fully_shard has no such switch"));
    return VRAM_OK;
}

/* What only stage 3 is followed in. */
static int refuse_types(struct resolver *r)
{
    static const enum vram_key keys[] = {VRAM_KEY_ZERO_COMMUNICATION_DATA_TYPE,
                                         VRAM_KEY_ZERO_GRAD_ACCUM_DTYPE};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (r->s->strategy->deepspeed && strcmp(r->s->strategy->name, "zero3") != 0 &&
            vram_plan_given(r->plan, keys[i]))
            return unsupported(r, keys[i]);
    return VRAM_OK;
}

static int resolve_strategy(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *name = vram_plan_text(r->plan, VRAM_KEY_STRATEGY);
    s->strategy = vram_strategy_find(name);
    if (!s->strategy)
        return unsupported(r, VRAM_KEY_STRATEGY);
    VRAM_TRY(resolve_shards(r));
    const enum vram_key parallel[] = {VRAM_KEY_TP, VRAM_KEY_PP, VRAM_KEY_CP, VRAM_KEY_EP, VRAM_KEY_SP};
    for (size_t i = 0; i < sizeof parallel / sizeof *parallel; i++)
        if (vram_plan_int(r->plan, parallel[i]) > 1)
            return unsupported(r, parallel[i]);
    const char *engine = vram_plan_text(r->plan, VRAM_KEY_ENGINE);
    s->deepspeed = s->strategy->deepspeed;
    const char *own = s->strategy->deepspeed ? "deepspeed" : s->strategy->fsdp ? "fsdp" : "torch";
    if (*engine && strcmp(engine, own) != 0)
        return unsupported(r, VRAM_KEY_ENGINE);
    VRAM_TRY(resolve_offload(r));
    VRAM_TRY(refuse_types(r));
    VRAM_TRY(find_unused(r));
    VRAM_TRY(note_plan(r, VRAM_KEY_STRATEGY));
    VRAM_TRY(note_given(r, VRAM_KEY_SHARDS));
    for (size_t i = 0; i < sizeof parallel / sizeof *parallel; i++)
        VRAM_TRY(note_given(r, parallel[i]));
    VRAM_TRY(note_strategy(r, name));
    if (vram_plan_int(r->plan, VRAM_KEY_GPUS) > 1 && !strcmp(name, "none"))
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_UNUSED, "gpus",
                           "gpus=%lld has no effect with strategy=none: each GPU holds everything",
                           (long long)vram_plan_int(r->plan, VRAM_KEY_GPUS)));
    bool given = vram_plan_given(r->plan, VRAM_KEY_GPUS);
    VRAM_TRY(note_number(r, "gpus", given ? vram_plan_int(r->plan, VRAM_KEY_GPUS) : s->ranks,
                         given ? "given" : "default"));
    return note(r, "engine", own, *engine ? "given" : "default");
}

static int64_t config_int(const struct resolver *r, const struct vram_config *c, const char *key)
{
    const struct vram_config *v = vram_config_get_text(r->cx, c, key);
    return v && v->type == VRAM_CONFIG_INT && v->integer > 0 ? v->integer : 0;
}

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
    int64_t bits = config_int(r, q, "bits");
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
        return unsupported(r, VRAM_KEY_WEIGHTS);
    VRAM_TRY(note_given(r, VRAM_KEY_WEIGHTS));
    if (s->packing || !q || q->type != VRAM_CONFIG_OBJECT || !r->tree->nparams ||
        r->tree->params[0].tensor != VRAM_NO_INDEX)
        return VRAM_OK;
    const char *stored = stored_packing(r, q);
    s->packing = stored ? vram_packing_find(stored) : NULL;
    if (!s->packing)
        return vram_find(r->cx, VRAM_F_QUANT_UNKNOWN, "quantization_config",
                         "weights quantised in this way are not known: the sizes are those of plain ones");
    return note(r, "weights", stored, "model");
}

static int resolve_precision(struct resolver *r)
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
    return note_plan(r, VRAM_KEY_PRECISION);
}

/* ---- who trains --------------------------------------------------------------------------- */

static enum vram_train_mode train_mode(const char *text)
{
    return !strcmp(text, "lora")     ? VRAM_TRAIN_LORA
           : !strcmp(text, "frozen") ? VRAM_TRAIN_FROZEN
                                     : VRAM_TRAIN_FULL;
}

static const struct { const char *component; enum vram_key key; } component_keys[] = {
    {"vision", VRAM_KEY_TRAIN_VISION},   {"projector", VRAM_KEY_TRAIN_PROJECTOR},
    {"decoder", VRAM_KEY_TRAIN_DECODER}, {"audio", VRAM_KEY_TRAIN_AUDIO},
    {"encoder", VRAM_KEY_TRAIN_ENCODER}, {"lm_head", VRAM_KEY_TRAIN_HEAD},
    {"head", VRAM_KEY_TRAIN_HEAD}};
static const size_t ncomponent_keys = sizeof component_keys / sizeof *component_keys;

static const char *given_mode(const struct vram_plan *plan, const char *component)
{
    for (size_t i = 0; i < ncomponent_keys; i++)
        if (!strcmp(component_keys[i].component, component) &&
            vram_plan_given(plan, component_keys[i].key))
            return vram_plan_text(plan, component_keys[i].key);
    const struct vram_plan_extra *e = vram_plan_extra_find(plan, VRAM_KEY_TRAIN_NAME, component);
    return e ? e->text : NULL;
}

/* lm_head and head follow the decoder (frozen when that is LoRA); the top module's own
 * parameters follow train, else the decoder, and LoRA leaves them frozen. */
static enum vram_train_mode mode_of(const struct resolver *r, const char *component)
{
    const char *own = given_mode(r->plan, component), *decoder = given_mode(r->plan, "decoder");
    enum vram_train_mode all = train_mode(vram_plan_text(r->plan, VRAM_KEY_TRAIN));
    bool head = !strcmp(component, "lm_head") || !strcmp(component, "head");
    bool fusion = !strcmp(component, "fusion");
    if (own)
        all = train_mode(own);
    else if (decoder && (head || (fusion && !vram_plan_given(r->plan, VRAM_KEY_TRAIN))))
        all = train_mode(decoder);
    return (head || fusion) && all == VRAM_TRAIN_LORA ? VRAM_TRAIN_FROZEN : all;
}

enum vram_train_mode vram_setup_mode(const struct vram_setup *setup, vram_sym component)
{
    if (setup->mode != VRAM_MODE_TRAIN)
        return VRAM_TRAIN_FROZEN;
    return component < setup->ntrain ? (enum vram_train_mode)setup->train[component]
                                     : VRAM_TRAIN_FULL;
}

/* What is to be trained and is not there; frozen says nothing that is not so. */
static int report_absent(struct resolver *r, const bool *seen)
{
    for (size_t i = 0; i < ncomponent_keys; i++) {
        const char *mode = vram_plan_text(r->plan, component_keys[i].key);
        const char *name = component_keys[i].component;
        vram_sym c = vram_sym_find(r->cx->syms, name, strlen(name));
        if (strcmp(name, "head") && vram_plan_given(r->plan, component_keys[i].key) &&
            strcmp(mode, "frozen") && (c == VRAM_SYM_NONE || c >= r->s->ntrain || !seen[c]))
            VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_UNUSED,
                               vram_settings[component_keys[i].key].key,
                               "this model has no component '%s'", name));
    }
    for (size_t i = 0; i < vram_plan_extra_count(r->plan); i++) {
        const struct vram_plan_extra *e = vram_plan_extra(r->plan, i);
        vram_sym c = vram_sym_find(r->cx->syms, e->name, strlen(e->name));
        if (e->row == VRAM_KEY_TRAIN_NAME && strcmp(e->text, "frozen") &&
            (c == VRAM_SYM_NONE || c >= r->s->ntrain || !seen[c]))
            VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_UNUSED,
                               vram_format(r->cx->arena, "train.%s", e->name),
                               "this model has no component '%s'", e->name));
    }
    return VRAM_OK;
}

static int resolve_components(struct resolver *r)
{
    static const char *const names[] = {"full", "frozen", "lora"};
    struct vram_setup *s = r->s;
    const struct vram_tree *t = r->tree;
    uint32_t most = 0;
    for (uint32_t i = 0; i < t->nscopes; i++)
        most = t->scopes[i].component > most ? t->scopes[i].component : most;
    s->ntrain = most + 1;
    uint8_t *train = vram_arena_array(r->cx->arena, s->ntrain, sizeof *train);
    s->checkpointed = vram_arena_array(r->cx->arena, s->ntrain, sizeof *s->checkpointed);
    bool *seen = vram_arena_array(r->cx->arena, s->ntrain, sizeof *seen);
    if (!train || !s->checkpointed || !seen)
        return vram_fail_memory(r->cx);
    s->train = train;
    if (s->mode == VRAM_MODE_TRAIN)
        VRAM_TRY(note_given(r, VRAM_KEY_TRAIN_MODULES));
    if (s->mode == VRAM_MODE_TRAIN && vram_plan_given(r->plan, VRAM_KEY_TRAIN))
        VRAM_TRY(note_plan(r, VRAM_KEY_TRAIN)); /* the default of each train.NAME below */
    for (uint32_t i = 0; i < t->nscopes; i++) {
        vram_sym c = t->scopes[i].component;
        if (seen[c])
            continue;
        seen[c] = true;
        const char *name = vram_sym_text(r->cx->syms, c);
        train[c] = (uint8_t)mode_of(r, name);
        if (s->mode != VRAM_MODE_TRAIN)
            continue;
        char key[80];
        snprintf(key, sizeof key, "train.%s", strcmp(name, "lm_head") ? name : "head");
        const char *kept = vram_arena_strndup(r->cx->arena, key, strlen(key));
        if (!kept)
            return vram_fail_memory(r->cx);
        VRAM_TRY(note(r, kept, names[train[c]], given_mode(r->plan, name) ? "given" : "default"));
    }
    return s->mode == VRAM_MODE_TRAIN ? report_absent(r, seen) : VRAM_OK;
}

static int resolve_lora(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *dtype = vram_plan_text(r->plan, VRAM_KEY_LORA_DTYPE);
    bool any = false;
    for (uint32_t i = 0; i < s->ntrain; i++)
        any = any || s->train[i] == VRAM_TRAIN_LORA;
    s->lora_rank = vram_plan_int(r->plan, VRAM_KEY_LORA_RANK);
    s->lora_dropout = vram_plan_number(r->plan, VRAM_KEY_LORA_DROPOUT);
    s->lora_dtype = !strcmp(dtype, "base") ? VRAM_DT_NONE : vram_dtype_by_name(dtype);
    if (s->deepspeed)
        s->lora_dtype = VRAM_DT_NONE; /* the engine casts the adapters with everything else */
    if (!any || s->mode != VRAM_MODE_TRAIN)
        return VRAM_OK;
    if (vram_plan_on(r->plan, VRAM_KEY_LORA_DORA, false))
        return unsupported(r, VRAM_KEY_LORA_DORA);
    if (vram_plan_given(r->plan, VRAM_KEY_LORA_BIAS) && !vram_plan_is(r->plan, VRAM_KEY_LORA_BIAS, "none"))
        return unsupported(r, VRAM_KEY_LORA_BIAS);
    if (vram_plan_is(r->plan, VRAM_KEY_TRAIN_EMBEDDINGS, "lora"))
        return unsupported(r, VRAM_KEY_TRAIN_EMBEDDINGS);
    const enum vram_key small[] = {VRAM_KEY_LORA_ALPHA, VRAM_KEY_LORA_DORA, VRAM_KEY_LORA_BIAS,
                                   VRAM_KEY_LORA_MODULES_TO_SAVE, VRAM_KEY_TRAIN_EMBEDDINGS,
                                   VRAM_KEY_LORA_RANK_PATTERN};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        VRAM_TRY(note_given(r, small[i]));
    VRAM_TRY(note_plan(r, VRAM_KEY_LORA_RANK));
    VRAM_TRY(note_plan(r, VRAM_KEY_LORA_TARGETS));
    VRAM_TRY(note_plan(r, VRAM_KEY_LORA_DROPOUT));
    return note(r, "lora.dtype", s->lora_dtype ? vram_dtypes[s->lora_dtype].name : "base",
                vram_plan_given(r->plan, VRAM_KEY_LORA_DTYPE) ? "given" : "default");
}

/* ---- sizes of the batch ------------------------------------------------------------------- */

static bool only_vision(const struct resolver *r)
{
    vram_sym vision = vram_sym_find(r->cx->syms, "vision", 6);
    for (uint32_t i = 0; i < r->tree->nscopes; i++)
        if (r->tree->scopes[i].component != vision)
            return false;
    return r->tree->nscopes > 0 && vision != VRAM_SYM_NONE;
}

/* The decoder's own length, at most 2048. */
static int resolve_seq(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const struct vram_config *root = r->tree->scopes[0].config;
    const struct vram_config *text = vram_config_get_text(r->cx, root, "text_config");
    int64_t most = config_int(r, text ? text : root, "max_position_embeddings");
    s->seq = vram_plan_int(r->plan, VRAM_KEY_SEQ);
    s->text_tokens = vram_plan_int(r->plan, VRAM_KEY_TEXT_TOKENS);
    if (s->text_tokens != VRAM_PLAN_UNSET && s->seq != VRAM_PLAN_UNSET)
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "seq and text_tokens are two ways to say the same: give one of them");
    if (s->text_tokens != VRAM_PLAN_UNSET) /* seq follows when the model is there */
        return note_plan(r, VRAM_KEY_TEXT_TOKENS);
    if (s->seq != VRAM_PLAN_UNSET) {
        if (most && s->seq > most)
            VRAM_TRY(vram_find(r->cx, VRAM_F_SEQ_LONG, "seq",
                               "seq=%lld is longer than the model's max_position_embeddings %lld",
                               (long long)s->seq, (long long)most));
        return note_number(r, "seq", s->seq, "given");
    }
    s->seq = most && most < 2048 ? most : 2048;
    if (only_vision(r))
        return VRAM_OK; /* there is no sequence to say a length of */
    VRAM_TRY(vram_find(r->cx, VRAM_F_SEQ_CLIPPED, "seq",
                       "seq=%lld: not given; the model's length, at most 2048", (long long)s->seq));
    return note_number(r, "seq", s->seq, most ? "model" : "assumed");
}

static int resolve_images(struct resolver *r)
{
    struct vram_setup *s = r->s;
    bool sees = false;
    vram_sym vision = vram_sym_find(r->cx->syms, "vision", 6);
    for (uint32_t i = 0; i < r->tree->nscopes && !sees; i++)
        sees = r->tree->scopes[i].component == vision && vision != VRAM_SYM_NONE;
    s->images = sees ? vram_plan_int(r->plan, VRAM_KEY_IMAGES) : 0;
    s->has_image_size = vram_plan_size(r->plan, VRAM_KEY_IMAGE_SIZE, &s->image_height,
                                       &s->image_width);
    if (!sees)
        return VRAM_OK;
    VRAM_TRY(note(r, "images", vram_plan_text(r->plan, VRAM_KEY_IMAGES),
                  vram_plan_given(r->plan, VRAM_KEY_IMAGES) ? "given" : "assumed"));
    if (s->has_image_size)
        return note_plan(r, VRAM_KEY_IMAGE_SIZE);
    return VRAM_OK;
}

/* ---- kernels, checkpointing, optimizer ---------------------------------------------------- */

static int resolve_attention(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *a = vram_plan_text(r->plan, VRAM_KEY_ATTENTION);
    s->eager = !strcmp(a, "eager");
    s->attention = !strcmp(a, "efficient") ? VRAM_ATTENTION_EFFICIENT
                   : !strcmp(a, "math")    ? VRAM_ATTENTION_MATH
                                           : VRAM_ATTENTION_AUTO;
    s->padded = vram_plan_on(r->plan, VRAM_KEY_PADDED, false);
    if (!s->card && s->padded && s->attention == VRAM_ATTENTION_AUTO)
        s->attention = VRAM_ATTENTION_EFFICIENT; /* the oracle picks one kernel for the whole model */
    if (!strcmp(a, "flash2") || !strcmp(a, "flash3") || !strcmp(a, "cudnn"))
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_READ_AS, "attention",
                           "attention=%s is read as sdpa with the flash kernel", a));
    if (!vram_plan_is(r->plan, VRAM_KEY_KERNELS, "hf"))
        return unsupported(r, VRAM_KEY_KERNELS);
    if (vram_plan_on(r->plan, VRAM_KEY_PACKING, false))
        return unsupported(r, VRAM_KEY_PACKING);
    VRAM_TRY(note_given(r, VRAM_KEY_KERNELS));
    VRAM_TRY(note_given(r, VRAM_KEY_PACKING));
    VRAM_TRY(note_plan(r, VRAM_KEY_ATTENTION));
    return note_plan(r, VRAM_KEY_PADDED);
}

static int resolve_checkpointing(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *c = vram_plan_text(r->plan, VRAM_KEY_CHECKPOINTING);
    if (s->mode != VRAM_MODE_TRAIN)
        return VRAM_OK;
    if (!strcmp(c, "selective"))
        return unsupported(r, VRAM_KEY_CHECKPOINTING);
    if (vram_plan_int(r->plan, VRAM_KEY_CHECKPOINTING_EVERY) > 1)
        return unsupported(r, VRAM_KEY_CHECKPOINTING_EVERY);
    if (vram_plan_on(r->plan, VRAM_KEY_CHECKPOINTING_OFFLOAD, false))
        return unsupported(r, VRAM_KEY_CHECKPOINTING_OFFLOAD);
    s->checkpointing = strcmp(c, "off") != 0;
    s->reentrant = vram_plan_on(r->plan, VRAM_KEY_CHECKPOINTING_REENTRANT, false);
    for (uint32_t i = 0; s->checkpointing && i < r->tree->nscopes; i++) {
        vram_sym component = r->tree->scopes[i].component;
        s->checkpointed[component] = !strcmp(c, "all") ||
                                     !strcmp(c, vram_sym_text(r->cx->syms, component));
    }
    VRAM_TRY(note_plan(r, VRAM_KEY_CHECKPOINTING));
    VRAM_TRY(note_given(r, VRAM_KEY_CHECKPOINTING_EVERY));
    VRAM_TRY(note_given(r, VRAM_KEY_CHECKPOINTING_OFFLOAD));
    if (s->checkpointing)
        VRAM_TRY(note(r, "checkpointing.reentrant", s->reentrant ? "on" : "off",
                      vram_plan_given(r->plan, VRAM_KEY_CHECKPOINTING_REENTRANT) ? "given" : "default"));
    return VRAM_OK;
}

static int resolve_loss(struct resolver *r)
{
    struct vram_setup *s = r->s;
    bool given = vram_plan_given(r->plan, VRAM_KEY_LOSS);
    s->loss = s->mode == VRAM_MODE_INFER && !given ? "none" : vram_plan_text(r->plan, VRAM_KEY_LOSS);
    s->logits = vram_plan_text(r->plan, VRAM_KEY_LOGITS);
    static const char *const known[] = {"hf", "liger", "cce", "chunked"};
    bool found = s->mode != VRAM_MODE_TRAIN && !strcmp(s->loss, "none");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        found = found || !strcmp(s->loss, known[i]);
    if (!found)
        return unsupported(r, VRAM_KEY_LOSS);
    VRAM_TRY(note(r, "loss", s->loss, given ? "given" : "default"));
    if (vram_plan_given(r->plan, VRAM_KEY_TASK) && !vram_plan_is(r->plan, VRAM_KEY_TASK, "causal-lm"))
        return unsupported(r, VRAM_KEY_TASK);
    const enum vram_key given_too[] = {VRAM_KEY_TASK, VRAM_KEY_REF_MODEL, VRAM_KEY_PAIRS};
    for (size_t i = 0; i < sizeof given_too / sizeof *given_too; i++)
        VRAM_TRY(note_given(r, given_too[i]));
    return VRAM_OK;
}

/* Positions in the cache at the end: those of the prompt, then one of each token but the last.
 * generate() asks for the last position's logits alone. */
static int resolve_generation(struct resolver *r)
{
    struct vram_setup *s = r->s;
    int64_t kv = vram_plan_int(r->plan, VRAM_KEY_KV_TOKENS), new = vram_plan_int(r->plan, VRAM_KEY_NEW_TOKENS);
    bool given = kv != VRAM_PLAN_UNSET;
    if (s->mode != VRAM_MODE_INFER)
        return VRAM_OK;
    if (!given)
        kv = new == VRAM_PLAN_UNSET || new == 0 ? 0 : s->seq + new - 1;
    else if (kv && kv < s->seq)
        return vram_fail(r->cx, VRAM_E_CONFLICT, VRAM_NO_OFFSET,
                         "kv_tokens=%lld is less than the prompt, seq=%lld", (long long)kv, (long long)s->seq);
    else if (kv && new != VRAM_PLAN_UNSET && new != 0 && kv != s->seq + new - 1)
        return vram_fail(r->cx, VRAM_E_CONFLICT, VRAM_NO_OFFSET,
                         "kv_tokens=%lld and new_tokens=%lld disagree for seq=%lld", (long long)kv,
                         (long long)new, (long long)s->seq);
    s->kv_tokens = kv;
    if (kv && !*s->logits)
        s->logits = "last";
    if (!vram_plan_is(r->plan, VRAM_KEY_KV_DTYPE, "") &&
        vram_dtype_by_name(vram_plan_text(r->plan, VRAM_KEY_KV_DTYPE)) != s->dtype)
        return unsupported(r, VRAM_KEY_KV_DTYPE);
    VRAM_TRY(note_given(r, VRAM_KEY_NEW_TOKENS));
    VRAM_TRY(note_given(r, VRAM_KEY_KV_DTYPE));
    if (kv || given)
        VRAM_TRY(note_number(r, "kv_tokens", kv, given ? "given" : "default"));
    return note(r, "logits", *s->logits ? s->logits : "full",
                vram_plan_given(r->plan, VRAM_KEY_LOGITS) ? "given" : "default");
}

static int put_optimizer(struct resolver *r)
{
    struct vram_setup *s = r->s;
    bool lists = vram_optimizer_has_lists(s->optimizer);
    VRAM_TRY(note(r, "optimizer", s->optimizer->name,
                  vram_plan_given(r->plan, VRAM_KEY_OPTIMIZER) ? "given" : "default"));
    if (lists)
        VRAM_TRY(note(r, "optimizer.foreach", s->foreach ? "on" : "off",
                      vram_plan_given(r->plan, VRAM_KEY_OPTIMIZER_FOREACH) ? "given" : "default"));
    if (s->optimizer->low_rank)
        VRAM_TRY(note_plan(r, VRAM_KEY_OPTIMIZER_RANK));
    if (s->optimizer->low_rank)
        VRAM_TRY(note_plan(r, VRAM_KEY_OPTIMIZER_TARGETS));
    if (s->in_backward || vram_plan_given(r->plan, VRAM_KEY_OPTIMIZER_IN_BACKWARD))
        VRAM_TRY(note(r, "optimizer_in_backward", s->in_backward ? "on" : "off",
                      s->optimizer->in_backward ? "default" : "given"));
    return note(r, "clip_grad", s->clip ? "on" : "off",
                vram_plan_given(r->plan, VRAM_KEY_CLIP_GRAD) ? "given" : "default");
}

/* One gradient at a time: nothing can wait for the others. */
static int check_in_backward(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *name = s->optimizer->name;
    if (s->accumulation > 1)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "optimizer=%s steps inside backward: accumulation must be 1", name);
    if (strcmp(s->strategy->name, "none") != 0)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "optimizer=%s steps inside backward: not under strategy=%s", name,
                         s->strategy->name);
    if (s->clip && vram_plan_given(r->plan, VRAM_KEY_CLIP_GRAD))
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_UNUSED, "clip_grad",
                           "optimizer=%s steps inside backward, before all gradients are there: none is "
                           "clipped", name));
    s->clip = false;
    return VRAM_OK;
}

static int resolve_optimizer(struct resolver *r)
{
    struct vram_setup *s = r->s;
    bool given = vram_plan_given(r->plan, VRAM_KEY_OPTIMIZER), train = s->mode == VRAM_MODE_TRAIN;
    const char *name = given ? vram_plan_text(r->plan, VRAM_KEY_OPTIMIZER)
                             : vram_default_optimizer(s->transformers, s->torch);
    s->optimizer = vram_optimizer_find(train ? name : "none");
    if (!s->optimizer)
        return unsupported(r, VRAM_KEY_OPTIMIZER);
    if (s->offload && !s->optimizer->on_host)
        return unsupported(r, VRAM_KEY_OPTIMIZER);
    if (s->optimizer->read_as) {
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_READ_AS, "optimizer", "optimizer=%s is read as %s: %s", name,
                           s->optimizer->read_as, s->optimizer->note));
        s->optimizer = vram_optimizer_find(s->optimizer->read_as);
    }
    if (s->torch < s->optimizer->since)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "optimizer=%s: torch has it since %d.%d, not in %d.%d", name,
                         s->optimizer->since / 1000, s->optimizer->since % 1000, s->torch / 1000, s->torch % 1000);
    if (s->optimizer->unknown)
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_ASSUMED, "optimizer", "optimizer=%s: %s", name,
                           s->optimizer->unknown));
    s->foreach = vram_plan_on(r->plan, VRAM_KEY_OPTIMIZER_FOREACH, vram_optimizer_has_lists(s->optimizer));
    s->clip = vram_plan_on(r->plan, VRAM_KEY_CLIP_GRAD, true);
    s->optimizer_rank = vram_plan_int(r->plan, VRAM_KEY_OPTIMIZER_RANK);
    s->optimizer_targets = vram_plan_text(r->plan, VRAM_KEY_OPTIMIZER_TARGETS);
    s->in_backward = s->optimizer->in_backward ||
                     vram_plan_on(r->plan, VRAM_KEY_OPTIMIZER_IN_BACKWARD, false);
    if (!train)
        return VRAM_OK;
    const enum vram_key off[] = {VRAM_KEY_COMPILE, VRAM_KEY_FLOAT8};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (vram_plan_on(r->plan, off[i], false))
            return unsupported(r, off[i]);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        VRAM_TRY(note_given(r, off[i]));
    if ((s->deepspeed || s->strategy->fsdp) && s->optimizer->second)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "optimizer=%s tells tensors apart: not under strategy=%s, which flattens them",
                         name, s->strategy->name);
    if (s->in_backward)
        VRAM_TRY(check_in_backward(r));
    return put_optimizer(r);
}

static int no_card(struct resolver *r, const char *name)
{
    const struct vram_gpu_row *near[4];
    char names[160] = "";
    size_t n = vram_gpu_near(name, near, sizeof near / sizeof *near);
    for (size_t i = 0, at = 0; i < n && at < sizeof names; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", near[i]->short_name);
    return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                     "gpu=%s: no such card is known%s%s%s (vramcast list gpus)", name,
                     n ? "; did you mean " : "", names, n ? "?" : "");
}

static int resolve_gpu(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *name = vram_plan_text(r->plan, VRAM_KEY_GPU);
    s->headroom = vram_plan_number(r->plan, VRAM_KEY_HEADROOM);
    if (!vram_allocator_find(vram_plan_text(r->plan, VRAM_KEY_ALLOCATOR)))
        return unsupported(r, VRAM_KEY_ALLOCATOR);
    VRAM_TRY(note_plan(r, VRAM_KEY_ALLOCATOR));
    if (!*name)
        return VRAM_OK;
    s->gpu = vram_gpu_find(name);
    if (!s->gpu)
        return no_card(r, name);
    if (strncmp(s->gpu->source, "measured", 8))
        VRAM_TRY(vram_find(r->cx, VRAM_F_GPU_DERIVED, "gpu", "usable bytes of %s are %s, not measured",
                           s->gpu->name, s->gpu->source));
    VRAM_TRY(note(r, "gpu", s->gpu->short_name, "given"));
    return note_plan(r, VRAM_KEY_HEADROOM);
}

static bool noted(const struct vram_setup *s, const char *key)
{
    for (size_t i = 0; i < s->resolved.n; i++)
        if (!strcmp(s->resolved.at[i].key, key))
            return true;
    return false;
}

int vram_setup_unused(struct vram_cx *cx, const struct vram_setup *s, const bool *asked)
{
    for (int i = 0; i < VRAM_KEY_COUNT; i++) {
        enum vram_key key = (enum vram_key)i;
        if (vram_setting_is_family(key) || !vram_plan_given(s->plan, key) || asked[i] ||
            key == VRAM_KEY_VISION_TOWER || noted(s, vram_settings[i].key))
            continue;
        VRAM_TRY(vram_find(cx, VRAM_F_SETTING_UNUSED, vram_settings[i].key,
                           "%s=%s has no effect on this run", vram_settings[i].key,
                           vram_plan_text(s->plan, key)));
    }
    for (size_t i = 0; i < vram_plan_extra_count(s->plan); i++) {
        const struct vram_plan_extra *e = vram_plan_extra(s->plan, i);
        if (e->row != VRAM_KEY_TRAIN_NAME)
            VRAM_TRY(vram_find(cx, VRAM_F_SETTING_UNUSED, e->name,
                               "%s=%s is for ONNX files and has no effect here", e->name, e->text));
    }
    return VRAM_OK;
}

/* What the packages of these kernels refuse: their call raises, nothing takes its place. */
static int check_attention(struct resolver *r)
{
    const struct vram_setup *s = r->s;
    const char *a = vram_plan_text(r->plan, VRAM_KEY_ATTENTION);
    if (strncmp(a, "flash", 5) != 0 && strcmp(a, "cudnn") != 0)
        return VRAM_OK;
    if (s->dtype == VRAM_DT_F32 && s->autocast == VRAM_DT_NONE)
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "attention=%s does not run in fp32: it takes fp16 and bf16", a);
    if (s->gpu && s->gpu->sm && s->gpu->sm < 80)
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "attention=%s does not run on %s: it needs compute capability 8.0, the card has %d.%d",
                         a, s->gpu->short_name, s->gpu->sm / 10, s->gpu->sm % 10);
    return VRAM_OK;
}

int vram_setup_resolve(struct vram_cx *cx, const struct vram_plan *plan,
                       const struct vram_tree *tree, struct vram_setup *out)
{
    struct resolver r = {cx, plan, tree, out};
    *out = (struct vram_setup){.plan = plan};
    VRAM_TRY(resolve_mode(&r));
    VRAM_TRY(resolve_versions(&r));
    VRAM_TRY(resolve_strategy(&r));
    VRAM_TRY(resolve_precision(&r));
    VRAM_TRY(resolve_components(&r));
    VRAM_TRY(resolve_lora(&r));
    VRAM_TRY(resolve_seq(&r));
    VRAM_TRY(resolve_images(&r));
    VRAM_TRY(resolve_attention(&r));
    VRAM_TRY(resolve_checkpointing(&r));
    VRAM_TRY(resolve_loss(&r));
    VRAM_TRY(resolve_generation(&r));
    VRAM_TRY(resolve_optimizer(&r));
    VRAM_TRY(resolve_gpu(&r));
    return check_attention(&r);
}
