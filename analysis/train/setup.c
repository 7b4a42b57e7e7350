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

static int note(struct resolver *r, const char *key, const char *value, const char *origin)
{
    struct vram_resolved row = {key, vram_arena_strndup(r->cx->arena, value, strlen(value)), origin};
    if (!row.value || !vram_vec_push(&r->s->resolved, r->cx->arena, row))
        return vram_fail_memory(r->cx);
    return VRAM_OK;
}

/* A setting that stands as the plan has it: given, or the table's default. */
static int note_plan(struct resolver *r, enum vram_key key)
{
    return note(r, vram_settings[key].key, vram_plan_text(r->plan, key),
                vram_plan_given(r->plan, key) ? "given" : "default");
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
    VRAM_TRY(note_plan(r, VRAM_KEY_MODE));
    VRAM_TRY(note_plan(r, VRAM_KEY_MICRO_BATCH));
    if (s->mode == VRAM_MODE_TRAIN)
        VRAM_TRY(note_plan(r, VRAM_KEY_ACCUMULATION));
    if (!s->card)
        VRAM_TRY(vram_find(r->cx, VRAM_F_ORACLE_KERNELS, "kernels_as",
                           "kernels run as the training oracle has them, not as a card does"));
    return VRAM_OK;
}

static int resolve_strategy(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *name = vram_plan_text(r->plan, VRAM_KEY_STRATEGY);
    s->strategy = vram_strategy_find(name);
    if (!s->strategy)
        return unsupported(r, VRAM_KEY_STRATEGY);
    int64_t gpus = vram_plan_int(r->plan, VRAM_KEY_GPUS), shards = vram_plan_int(r->plan, VRAM_KEY_SHARDS);
    s->ranks = shards != VRAM_PLAN_UNSET ? shards : gpus != VRAM_PLAN_UNSET ? gpus : 1;
    const enum vram_key parallel[] = {VRAM_KEY_TP, VRAM_KEY_PP, VRAM_KEY_CP, VRAM_KEY_EP, VRAM_KEY_SP};
    for (size_t i = 0; i < sizeof parallel / sizeof *parallel; i++)
        if (vram_plan_int(r->plan, parallel[i]) > 1)
            return unsupported(r, parallel[i]);
    const char *engine = vram_plan_text(r->plan, VRAM_KEY_ENGINE);
    s->deepspeed = *engine ? !strcmp(engine, "deepspeed") : s->strategy->deepspeed;
    if (!strcmp(engine, "fsdp") || !strcmp(engine, "megatron") ||
        (*engine && s->deepspeed != s->strategy->deepspeed))
        return unsupported(r, VRAM_KEY_ENGINE);
    if (!vram_plan_is(r->plan, VRAM_KEY_OFFLOAD, "none"))
        return unsupported(r, VRAM_KEY_OFFLOAD);
    VRAM_TRY(note_plan(r, VRAM_KEY_STRATEGY));
    VRAM_TRY(note_number(r, "gpus", s->ranks, vram_plan_given(r->plan, VRAM_KEY_GPUS) ? "given" : "default"));
    return note(r, "engine", s->deepspeed ? "deepspeed" : "torch", *engine ? "given" : "default");
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
    if (!vram_plan_is(r->plan, VRAM_KEY_WEIGHTS, "as-stored"))
        return unsupported(r, VRAM_KEY_WEIGHTS);
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

/* lm_head and head follow the decoder (frozen when that is LoRA), else train; the top module's own
 * parameters follow train, else the decoder, and LoRA leaves them frozen. */
static enum vram_train_mode mode_of(const struct resolver *r, vram_sym name)
{
    const char *component = vram_sym_text(r->cx->syms, name);
    const char *own = given_mode(r->plan, component), *decoder = given_mode(r->plan, "decoder");
    enum vram_train_mode all = train_mode(vram_plan_text(r->plan, VRAM_KEY_TRAIN));
    bool head = !strcmp(component, "lm_head") || !strcmp(component, "head");
    bool fusion = !strcmp(component, "fusion");
    bool follows =
        !own && decoder && (head || (fusion && !vram_plan_given(r->plan, VRAM_KEY_TRAIN)));
    if (own || follows)
        all = train_mode(own ? own : decoder);
    bool beyond = follows || fusion || (head && !vram_adaptable(r->cx, r->tree, name));
    return beyond && all == VRAM_TRAIN_LORA ? VRAM_TRAIN_FROZEN : all;
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
    if (s->mode == VRAM_MODE_TRAIN && vram_plan_given(r->plan, VRAM_KEY_TRAIN))
        VRAM_TRY(note_plan(r, VRAM_KEY_TRAIN)); /* the default of each train.NAME below */
    for (uint32_t i = 0; i < t->nscopes; i++) {
        vram_sym c = t->scopes[i].component;
        if (seen[c])
            continue;
        seen[c] = true;
        const char *name = vram_sym_text(r->cx->syms, c);
        train[c] = (uint8_t)mode_of(r, c);
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
    const enum vram_key open[] = {VRAM_KEY_LORA_RANK_PATTERN, VRAM_KEY_LORA_MODULES_TO_SAVE,
                                  VRAM_KEY_TRAIN_EMBEDDINGS, VRAM_KEY_TRAIN_MODULES};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (vram_plan_given(r->plan, open[i]))
            return unsupported(r, open[i]);
    VRAM_TRY(note_plan(r, VRAM_KEY_LORA_RANK));
    VRAM_TRY(note_plan(r, VRAM_KEY_LORA_TARGETS));
    VRAM_TRY(note_plan(r, VRAM_KEY_LORA_DROPOUT));
    return note(r, "lora.dtype", s->lora_dtype ? vram_dtypes[s->lora_dtype].name : "base",
                vram_plan_given(r->plan, VRAM_KEY_LORA_DTYPE) ? "given" : "default");
}

/* ---- sizes of the batch ------------------------------------------------------------------- */

static int64_t config_int(const struct resolver *r, const struct vram_config *c, const char *key)
{
    const struct vram_config *v = vram_config_get_text(r->cx, c, key);
    return v && v->type == VRAM_CONFIG_INT && v->integer > 0 ? v->integer : 0;
}

/* The decoder's own length, at most 2048. */
static int resolve_seq(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const struct vram_config *root = r->tree->scopes[0].config;
    const struct vram_config *text = vram_config_get_text(r->cx, root, "text_config");
    int64_t most = config_int(r, text ? text : root, "max_position_embeddings");
    s->seq = vram_plan_int(r->plan, VRAM_KEY_SEQ);
    if (s->seq != VRAM_PLAN_UNSET) {
        if (most && s->seq > most)
            VRAM_TRY(vram_find(r->cx, VRAM_F_SEQ_LONG, "seq",
                               "seq=%lld is longer than the model's max_position_embeddings %lld",
                               (long long)s->seq, (long long)most));
        return note_number(r, "seq", s->seq, "given");
    }
    s->seq = most && most < 2048 ? most : 2048;
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
    if (strcmp(s->loss, "hf") && (s->mode == VRAM_MODE_TRAIN || strcmp(s->loss, "none")))
        return unsupported(r, VRAM_KEY_LOSS);
    VRAM_TRY(note(r, "loss", s->loss, given ? "given" : "default"));
    int64_t kv = vram_plan_int(r->plan, VRAM_KEY_KV_TOKENS);
    if (s->mode == VRAM_MODE_INFER && kv != VRAM_PLAN_UNSET && kv != 0)
        return unsupported(r, VRAM_KEY_KV_TOKENS);
    if (s->mode == VRAM_MODE_INFER)
        return note(r, "logits", *s->logits ? s->logits : "full",
                    vram_plan_given(r->plan, VRAM_KEY_LOGITS) ? "given" : "default");
    return VRAM_OK;
}

static int resolve_optimizer(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *name = vram_plan_text(r->plan, VRAM_KEY_OPTIMIZER);
    s->optimizer = vram_optimizer_find(s->mode == VRAM_MODE_TRAIN ? name : "none");
    if (!s->optimizer)
        return unsupported(r, VRAM_KEY_OPTIMIZER);
    bool lists = !strcmp(name, "adamw") || !strcmp(name, "adam") || !strncmp(name, "sgd", 3);
    s->foreach = vram_plan_on(r->plan, VRAM_KEY_OPTIMIZER_FOREACH, lists);
    s->clip = vram_plan_on(r->plan, VRAM_KEY_CLIP_GRAD, true);
    if (s->mode != VRAM_MODE_TRAIN)
        return VRAM_OK;
    const enum vram_key off[] = {VRAM_KEY_OPTIMIZER_IN_BACKWARD, VRAM_KEY_COMPILE, VRAM_KEY_FLOAT8};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (vram_plan_on(r->plan, off[i], false))
            return unsupported(r, off[i]);
    VRAM_TRY(note_plan(r, VRAM_KEY_OPTIMIZER));
    if (lists)
        VRAM_TRY(note(r, "optimizer.foreach", s->foreach ? "on" : "off",
                      vram_plan_given(r->plan, VRAM_KEY_OPTIMIZER_FOREACH) ? "given" : "default"));
    return note_plan(r, VRAM_KEY_CLIP_GRAD);
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
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "gpu=%s: no such card is known (vramcast list gpus)", name);
    if (strncmp(s->gpu->source, "measured", 8))
        VRAM_TRY(vram_find(r->cx, VRAM_F_GPU_DERIVED, "gpu", "usable bytes of %s are %s, not measured",
                           s->gpu->name, s->gpu->source));
    VRAM_TRY(note(r, "gpu", s->gpu->short_name, "given"));
    return note_plan(r, VRAM_KEY_HEADROOM);
}

int vram_setup_resolve(struct vram_cx *cx, const struct vram_plan *plan,
                       const struct vram_tree *tree, struct vram_setup *out)
{
    struct resolver r = {cx, plan, tree, out};
    *out = (struct vram_setup){.plan = plan};
    VRAM_TRY(resolve_mode(&r));
    VRAM_TRY(resolve_strategy(&r));
    VRAM_TRY(resolve_precision(&r));
    VRAM_TRY(resolve_components(&r));
    VRAM_TRY(resolve_lora(&r));
    VRAM_TRY(resolve_seq(&r));
    VRAM_TRY(resolve_images(&r));
    VRAM_TRY(resolve_attention(&r));
    VRAM_TRY(resolve_checkpointing(&r));
    VRAM_TRY(resolve_loss(&r));
    VRAM_TRY(resolve_optimizer(&r));
    return resolve_gpu(&r);
}
