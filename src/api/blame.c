/* SPDX-License-Identifier: Apache-2.0
 *
 * Which setting is it that the model does not run with?  What a template says of it is of no use to who
 * gave the setting, so that the plan is tried again without each: the first without which it runs is named.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handles.h"

/* Does the plan run, all of it up to the figures? */
static bool runs(const struct vram_model *model, const struct vram_plan *plan)
{
    struct vram_report *r = vram_realloc(NULL, 1, sizeof *r);
    vram_error e = {.offset = VRAM_NO_OFFSET};
    if (!r)
        return false;
    memset(r, 0, sizeof *r);
    vram_arena_init(&r->arena, model->arena.cap);
    struct vram_cx cx = {&r->arena, &r->syms, &model->limits, NULL, &e};
    bool fine = !vram_syms_layer(&r->syms, &model->syms, &r->arena) &&
                !vram_setup_resolve(&cx, plan, &model->tree, &r->setup) &&
                !vram_adapt(&cx, &model->tree, &r->setup, &r->tree) &&
                !vram_run(&cx, &r->tree, &r->setup, &r->run) &&
                !vram_replay_bounds(&cx, vram_allocator_find(vram_plan_text(plan, VRAM_KEY_ALLOCATOR)),
                                    r->run.events, r->replay);
    vram_report_free(r);
    return fine;
}

/* The place in the template ("line 60, column 16: ") is left out: it is not at fault. */
static void tell(vram_error *e, const char *settings)
{
    vram_error old = *e;
    const char *why = !strncmp(old.text, "line ", 5) ? strchr(old.text, ':') : NULL;
    *e = (vram_error){.code = VRAM_E_ARGUMENT, .offset = VRAM_NO_OFFSET};
    snprintf(e->text, sizeof e->text, "%s %s: %.240s", settings,
             old.code == VRAM_E_LIMIT ? "is too much" : "does not run with this model",
             why ? why + 2 : old.text);
}

static bool is_number(enum vram_key key)
{
    enum vram_setting_type type = vram_settings[key].type;
    return type == VRAM_SETTING_INTEGER || type == VRAM_SETTING_NUMBER || type == VRAM_SETTING_SIZE;
}

/* The i-th key to try: numbers first, and details (zero.reduce_bucket_size) before what they belong to. */
static enum vram_key to_try(int i)
{
    for (int numbers = 1; numbers >= 0; numbers--)
        for (int k = VRAM_KEY_COUNT; k-- > 0;)
            if (is_number((enum vram_key)k) == (numbers == 1) && i-- == 0)
                return (enum vram_key)k;
    return VRAM_KEY_MODE;
}

bool vram_blame(const struct vram_model *model, const struct vram_plan *plan, vram_error *error)
{
    if (model->checkpoint.onnx) /* only its own graph can be run */
        return false;
    struct vram_plan *less = NULL, *none = NULL;
    char settings[120] = "";
    size_t n = 0;
    if (vram_plan_copy(&none, plan, NULL))
        return false;
    for (int i = 0; i < VRAM_KEY_COUNT && !*settings; i++) {
        enum vram_key key = to_try(i);
        if (vram_setting_is_family(key) || !vram_plan_given(plan, key) || vram_plan_copy(&less, plan, NULL))
            continue;
        n++;
        vram_plan_clear(less, key);
        vram_plan_clear(none, key);
        if (runs(model, less))
            snprintf(settings, sizeof settings, "%s=%.60s", vram_settings[key].key,
                     vram_plan_text(plan, key));
        vram_plan_free(less);
    }
    if (!*settings && n > 1 && runs(model, none))
        snprintf(settings, sizeof settings, "this set of settings");
    vram_plan_free(none);
    if (*settings)
        tell(error, settings);
    return *settings;
}
