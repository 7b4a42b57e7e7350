/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan with every open value decided: what was given, what the model says, what the defaults are,
 * and what has to be assumed.  Each decision is kept with its origin for the report.
 */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "train/setup/resolver.h"

int vram_setup_note(struct vram_cx *cx, struct vram_setup *setup, const char *key, const char *value,
                    const char *origin)
{
    struct vram_resolved row = {key, vram_arena_strndup(cx->arena, value, strlen(value)), origin};
    if (!row.value || !vram_vec_push(&setup->resolved, cx->arena, row))
        return vram_fail_memory(cx);
    return VRAM_OK;
}

int vram_resolve_note(struct resolver *r, const char *key, const char *value, const char *origin)
{
    return vram_setup_note(r->cx, r->s, key, value, origin);
}

/* A setting that stands as the plan has it: given, or the table's default. */
int vram_resolve_note_plan(struct resolver *r, enum vram_key key)
{
    return vram_resolve_note(r, vram_settings[key].key, vram_plan_text(r->plan, key),
                vram_plan_given(r->plan, key) ? "given" : "default");
}

/* One that needs no line when it stands at its default. */
int vram_resolve_note_given(struct resolver *r, enum vram_key key)
{
    return vram_plan_given(r->plan, key) ? vram_resolve_note_plan(r, key) : VRAM_OK;
}

int vram_resolve_note_number(struct resolver *r, const char *key, int64_t value, const char *origin)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return vram_resolve_note(r, key, text, origin);
}

int vram_resolve_unsupported(struct resolver *r, enum vram_key key)
{
    return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                     "%s=%s is not supported yet (vramcast list %s)", vram_settings[key].key,
                     vram_plan_text(r->plan, key),
                     key == VRAM_KEY_OPTIMIZER  ? "optimizers"
                     : key == VRAM_KEY_STRATEGY ? "strategies"
                                                : "settings");
}

int64_t vram_resolve_int(const struct resolver *r, const struct vram_config *c, const char *key)
{
    const struct vram_config *v = vram_config_get_text(r->cx, c, key);
    return v && v->type == VRAM_CONFIG_INT && v->integer > 0 ? v->integer : 0;
}


/* Pairs and a reference model: not run, and without them the answer would be another one's. */
static int refuse_preference(struct resolver *r)
{
    if (vram_plan_int(r->plan, VRAM_KEY_PAIRS) > 1)
        return vram_resolve_unsupported(r, VRAM_KEY_PAIRS);
    return vram_plan_is(r->plan, VRAM_KEY_REF_MODEL, "none") ? VRAM_OK : vram_resolve_unsupported(r, VRAM_KEY_REF_MODEL);
}

int vram_resolve_mode(struct resolver *r)
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
    VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_MODE));
    VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_MICRO_BATCH));
    if (s->mode == VRAM_MODE_TRAIN) {
        VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_ACCUMULATION));
        VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_STEPS));
        VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_LENGTHS));
    }
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_KERNELS_AS));
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_ESTIMATOR));
    if (!s->card)
        VRAM_TRY(vram_find(r->cx, VRAM_F_ORACLE_KERNELS, "kernels_as",
                           "kernels run as the training oracle has them, not as a card does"));
    return VRAM_OK;
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
        if (e->row != VRAM_KEY_TRAIN_NAME && !s->graph && !s->forward)
            VRAM_TRY(vram_find(cx, VRAM_F_SETTING_UNUSED, e->name,
                               "%s=%s is for ONNX files and has no effect here", e->name, e->text));
    }
    return VRAM_OK;
}

static int resolve(struct vram_cx *cx, const struct vram_plan *plan, const struct vram_tree *tree, bool graph,
                   struct vram_setup *out)
{
    struct resolver r = {cx, plan, tree, out, graph};
    *out = (struct vram_setup){.plan = plan};
    VRAM_TRY(vram_resolve_mode(&r));
    VRAM_TRY(vram_resolve_versions(&r));
    VRAM_TRY(vram_resolve_strategy(&r));
    VRAM_TRY(vram_resolve_precision(&r));
    VRAM_TRY(vram_resolve_components(&r));
    VRAM_TRY(vram_resolve_lora(&r));
    VRAM_TRY(vram_resolve_seq(&r));
    VRAM_TRY(vram_resolve_images(&r));
    VRAM_TRY(vram_resolve_attention(&r));
    VRAM_TRY(vram_resolve_checkpointing(&r));
    VRAM_TRY(vram_resolve_loss(&r));
    VRAM_TRY(vram_resolve_generation(&r));
    VRAM_TRY(vram_resolve_optimizer(&r));
    VRAM_TRY(vram_resolve_gpu(&r));
    return vram_resolve_check_attention(&r);
}

int vram_setup_resolve(struct vram_cx *cx, const struct vram_plan *plan,
                       const struct vram_tree *tree, struct vram_setup *out)
{
    return resolve(cx, plan, tree, false, out);
}

int vram_setup_graph_training(struct vram_cx *cx, const struct vram_plan *plan, const struct vram_tree *tree,
                              struct vram_setup *out)
{
    return resolve(cx, plan, tree, true, out);
}
