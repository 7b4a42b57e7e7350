/* SPDX-License-Identifier: Apache-2.0
 *
 * Configs of the original LLaVA repository are flat: a decoder's keys with mm_* keys among them,
 * and the vision tower only named.  Here they get the members that LlavaConfig has, so that one
 * class and one template serve all namings.  llava/model/llava_arch.py there says what mm_* mean.
 */
#include <string.h>

#include "hf/checkpoint.h"
#include "hf/config.h"
#include "hf/defaults.h"

static int decoder(struct vram_loading *l)
{
    struct vram_cx *cx = l->cx;
    const struct vram_class *class = vram_class_find(l->naming->decoder);
    if (vram_config_get_text(cx, l->config, "text_config") || !class)
        return VRAM_OK;
    struct vram_config *text = vram_config_add_branch(cx, l->config, "text_config",
                                                      VRAM_CONFIG_OBJECT, VRAM_ORIGIN_DERIVED);
    if (!text)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_config_set_text(cx, text, "model_type", class->model_type, VRAM_ORIGIN_DERIVED));
    for (const struct vram_class_key *k = class->keys; k->key; k++) {
        const struct vram_config *m = vram_config_get_text(cx, l->config, k->key);
        if (m)
            VRAM_TRY(vram_config_copy(cx, text, k->key, m, VRAM_ORIGIN_DERIVED));
    }
    return VRAM_OK;
}

static int picture(struct vram_loading *l)
{
    struct vram_cx *cx = l->cx;
    struct vram_config *root = l->config;
    const struct vram_config *layer = vram_config_get_text(cx, root, "mm_vision_select_layer");
    const char *feature = vram_config_text(cx, root, "mm_vision_select_feature", "patch");
    if (strcmp(feature, "patch") != 0 && strcmp(feature, "cls_patch") != 0)
        return vram_config_fail(cx, l->config_name,
                                vram_config_get_text(cx, root, "mm_vision_select_feature"),
                                VRAM_E_RANGE, "patch or cls_patch expected");
    if (layer && !vram_config_get_text(cx, root, "vision_feature_layer"))
        VRAM_TRY(vram_config_copy(cx, root, "vision_feature_layer", layer, VRAM_ORIGIN_DERIVED));
    if (!vram_config_get_text(cx, root, "vision_feature_select_strategy"))
        VRAM_TRY(vram_config_set_text(cx, root, "vision_feature_select_strategy",
                                      !strcmp(feature, "cls_patch") ? "full" : "default",
                                      VRAM_ORIGIN_DERIVED));
    if (!vram_config_get_text(cx, root, "projector_hidden_act"))
        VRAM_TRY(vram_config_set_text(cx, root, "projector_hidden_act", "gelu",
                                      VRAM_ORIGIN_DERIVED));
    return VRAM_OK;
}

/* A run that trained the tower saved it; the files say so, or (a bare config) the run's settings. */
static bool tower_stored(const struct vram_loading *l)
{
    static const char begin[] = "model.vision_tower.";
    if (!l->tensors.n) {
        const struct vram_config *unfrozen =
            vram_config_get_text(l->cx, l->config, "unfreeze_mm_vision_tower");
        const char *parts = vram_config_text(l->cx, l->config, "mm_tunable_parts", "");
        return (unfrozen && unfrozen->type == VRAM_CONFIG_BOOL && unfrozen->integer) ||
               strstr(parts, "mm_vision_tower");
    }
    for (size_t i = 0; i < l->tensors.n; i++)
        if (!strncmp(vram_sym_text(l->cx->syms, l->tensors.at[i].name), begin, sizeof begin - 1))
            return true;
    return false;
}

int vram_original_config(struct vram_loading *l)
{
    struct vram_cx *cx = l->cx;
    const struct vram_config *named = vram_config_get_text(cx, l->config, "mm_vision_tower");
    if (named->type != VRAM_CONFIG_STRING)
        return vram_config_fail(cx, l->config_name, named, VRAM_E_FORMAT,
                                "the name of a vision tower expected");
    bool stored = tower_stored(l);
    if (!stored) {
        l->out->outside_prefix = "model.vision_tower.";
        l->out->outside_name = vram_sym_text(cx->syms, named->text);
    }
    VRAM_TRY(decoder(l));
    VRAM_TRY(picture(l));
    return vram_tower_load(l, vram_sym_text(cx->syms, named->text), !stored);
}
