/* SPDX-License-Identifier: Apache-2.0
 *
 * Who trains: components, adapters.
 */
#include <stdio.h>
#include <string.h>

#include "train/pack.h"
#include "train/setup/resolver.h"

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
    bool follows = !own && decoder && (head || (fusion && !vram_plan_given(r->plan, VRAM_KEY_TRAIN)));
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

int vram_resolve_components(struct resolver *r)
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
        VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_TRAIN_MODULES));
    if (s->mode == VRAM_MODE_TRAIN && vram_plan_given(r->plan, VRAM_KEY_TRAIN))
        VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_TRAIN)); /* the default of each train.NAME below */
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
        VRAM_TRY(vram_resolve_note(r, kept, names[train[c]], given_mode(r->plan, name) ? "given" : "default"));
    }
    return s->mode == VRAM_MODE_TRAIN ? report_absent(r, seen) : VRAM_OK;
}

int vram_resolve_lora(struct resolver *r)
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
    s->dora = vram_plan_on(r->plan, VRAM_KEY_LORA_DORA, false);
    if (s->dora && s->packing && !vram_packing_dora(s->packing))
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "lora.dora=on: PEFT has no DoRA for matrices that are packed like this");
    if (vram_plan_is(r->plan, VRAM_KEY_TRAIN_EMBEDDINGS, "lora"))
        return vram_resolve_unsupported(r, VRAM_KEY_TRAIN_EMBEDDINGS);
    const enum vram_key small[] = {VRAM_KEY_LORA_ALPHA, VRAM_KEY_LORA_DORA, VRAM_KEY_LORA_BIAS,
                                   VRAM_KEY_LORA_MODULES_TO_SAVE, VRAM_KEY_TRAIN_EMBEDDINGS,
                                   VRAM_KEY_LORA_RANK_PATTERN};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        VRAM_TRY(vram_resolve_note_given(r, small[i]));
    VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_LORA_RANK));
    VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_LORA_TARGETS));
    VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_LORA_DROPOUT));
    return vram_resolve_note(r, "lora.dtype", s->lora_dtype ? vram_dtypes[s->lora_dtype].name : "base",
                vram_plan_given(r->plan, VRAM_KEY_LORA_DTYPE) ? "given" : "default");
}
