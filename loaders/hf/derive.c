/* SPDX-License-Identifier: Apache-2.0
 *
 * What configuration classes set from other values (their __post_init__ in transformers 5.24).
 * Called after defaults are in and all types are checked.
 */
#include "hf/defaults.h"

#include <string.h>

/* key = from / per (per NULL = 1) where nothing says it. */
static int quotient(struct vram_cx *cx, struct vram_config *v, const char *key, const char *from,
                    const char *per)
{
    int64_t n = per ? vram_config_int(cx, v, per, 1) : 1;
    if (!vram_config_unset(cx, v, key))
        return VRAM_OK;
    VRAM_TRY(vram_config_set_int(cx, v, key, vram_config_int(cx, v, from, n) / n,
                                 VRAM_ORIGIN_DERIVED));
    struct vram_config *made = vram_config_get_text(cx, v, key);
    made->from = vram_config_get_text(cx, v, from);
    made->per = per ? vram_config_get_text(cx, v, per) : NULL;
    return VRAM_OK;
}

/* Qwen2 has no such field, but its attention computes the same. */
int vram_derive_head_dim(struct vram_cx *cx, struct vram_config *v)
{
    return quotient(cx, v, "head_dim", "hidden_size", "num_attention_heads");
}

int vram_derive_decoder(struct vram_cx *cx, struct vram_config *v)
{
    VRAM_TRY(quotient(cx, v, "num_key_value_heads", "num_attention_heads", NULL));
    return vram_derive_head_dim(cx, v);
}

int vram_derive_qwen(struct vram_cx *cx, struct vram_config *v)
{
    if (!vram_config_bool(cx, v, "use_sliding_window", false) &&
        !vram_config_unset(cx, v, "sliding_window"))
        VRAM_TRY(vram_config_set_null(cx, v, "sliding_window", VRAM_ORIGIN_DERIVED));
    return vram_derive_decoder(cx, v);
}

/* Qwen2-MoE says 0 where Qwen2 says null. */
int vram_derive_qwen2_moe(struct vram_cx *cx, struct vram_config *v)
{
    if (!vram_config_bool(cx, v, "use_sliding_window", false))
        VRAM_TRY(vram_config_set_int(cx, v, "sliding_window", 0, VRAM_ORIGIN_DERIVED));
    return vram_derive_decoder(cx, v);
}

int vram_derive_deepseek(struct vram_cx *cx, struct vram_config *v)
{
    VRAM_TRY(quotient(cx, v, "head_dim", "qk_rope_head_dim", NULL));
    return quotient(cx, v, "num_key_value_heads", "num_attention_heads", NULL);
}

int vram_derive_falcon(struct vram_cx *cx, struct vram_config *v)
{
    VRAM_TRY(quotient(cx, v, "num_kv_heads", "num_attention_heads", NULL));
    if (!vram_config_unset(cx, v, "ffn_hidden_size"))
        return VRAM_OK;
    return vram_config_set_int(cx, v, "ffn_hidden_size",
                               4 * vram_config_int(cx, v, "hidden_size", 0), VRAM_ORIGIN_DERIVED);
}

int vram_derive_opt(struct vram_cx *cx, struct vram_config *v)
{
    return quotient(cx, v, "word_embed_proj_dim", "hidden_size", NULL);
}

int vram_derive_t5(struct vram_cx *cx, struct vram_config *v)
{
    return quotient(cx, v, "num_decoder_layers", "num_hidden_layers", NULL);
}

int vram_derive_gemma(struct vram_cx *cx, struct vram_config *v)
{
    const char *act = vram_config_text(cx, v, "hidden_act", "");
    if (!strcmp(act, "gelu")) /* an old value that always meant the tanh form */
        return vram_config_set_text(cx, v, "hidden_act", "gelu_pytorch_tanh", VRAM_ORIGIN_DERIVED);
    return VRAM_OK;
}

int vram_derive_siglip_text(struct vram_cx *cx, struct vram_config *v)
{
    return quotient(cx, v, "projection_size", "hidden_size", NULL);
}

/* num_labels: as many as id2label names, else what it says itself, else two */
int vram_derive_labels(struct vram_cx *cx, struct vram_config *v)
{
    const struct vram_config *names = vram_config_get_text(cx, v, "id2label");
    int64_t n = 0;
    if (!names || names->type != VRAM_CONFIG_OBJECT)
        return vram_config_unset(cx, v, "num_labels")
                   ? vram_config_set_int(cx, v, "num_labels", 2, VRAM_ORIGIN_DEFAULT)
                   : VRAM_OK;
    for (const struct vram_config *c = names->first; c; c = c->next)
        n++;
    return vram_config_set_int(cx, v, "num_labels", n, VRAM_ORIGIN_DERIVED);
}

int vram_derive_labels_of_text(struct vram_cx *cx, struct vram_config *v)
{
    bool names = vram_config_get_text(cx, v, "id2label") != NULL;
    return names ? vram_derive_labels(cx, v) : VRAM_OK;
}

int vram_derive_vit(struct vram_cx *cx, struct vram_config *v)
{
    VRAM_TRY(quotient(cx, v, "pooler_output_size", "hidden_size", NULL));
    return vram_derive_labels(cx, v);
}

int vram_derive_llava(struct vram_cx *cx, struct vram_config *v)
{
    const struct vram_config *text = vram_config_get_text(cx, v, "text_config");
    if (!vram_config_bool(cx, v, "tie_word_embeddings", false) &&
        vram_config_bool(cx, text, "tie_word_embeddings", false))
        return vram_config_set_bool(cx, v, "tie_word_embeddings", true, VRAM_ORIGIN_DERIVED);
    return VRAM_OK;
}

/* A list of integers, or of pairs of them, where nothing says it. */
static int list(struct vram_cx *cx, struct vram_config *v, const char *key, const int64_t *values,
                size_t n, bool pairs)
{
    struct vram_config *old = vram_config_get_text(cx, v, key), *to = old;
    if (old && old->type != VRAM_CONFIG_NULL)
        return VRAM_OK;
    if (old) {
        old->type = VRAM_CONFIG_ARRAY;
        old->origin = VRAM_ORIGIN_DEFAULT;
    } else {
        to = vram_config_add_branch(cx, v, key, VRAM_CONFIG_ARRAY, VRAM_ORIGIN_DEFAULT);
    }
    struct vram_config *in = to;
    for (size_t i = 0; in && i < n; i++) {
        if (pairs && i % 2 == 0)
            in = vram_config_add_branch(cx, to, NULL, VRAM_CONFIG_ARRAY, VRAM_ORIGIN_DEFAULT);
        struct vram_config *x =
            in ? vram_config_add_branch(cx, in, NULL, VRAM_CONFIG_INT, VRAM_ORIGIN_DEFAULT) : NULL;
        if (!x)
            return vram_fail_memory(cx);
        x->integer = values[i];
        x->real = (double)values[i];
    }
    return in ? VRAM_OK : vram_fail_memory(cx);
}

int vram_derive_llava_next(struct vram_cx *cx, struct vram_config *v)
{
    static const int64_t grids[] = {336, 672, 672, 336, 672, 672, 1008, 336, 336, 1008};
    return list(cx, v, "image_grid_pinpoints", grids, sizeof grids / sizeof *grids, true);
}

/* every grid of one to six tiles a side; "anyres_max_9" means nine tiles */
int vram_derive_llava_onevision(struct vram_cx *cx, struct vram_config *v)
{
    const char *ratio = vram_config_text(cx, v, "vision_aspect_ratio", "");
    int64_t sides[72], most = 0;
    for (int i = 0; i < 36; i++) {
        sides[2 * i] = 384 * (1 + i / 6);
        sides[2 * i + 1] = 384 * (1 + i % 6);
    }
    if (!strncmp(ratio, "anyres_max_", 11))
        for (const char *c = ratio + 11; *c >= '0' && *c <= '9' && most < 1000; c++)
            most = 10 * most + (*c - '0');
    VRAM_TRY(vram_derive_llava(cx, v));
    VRAM_TRY(vram_config_set_int(cx, v, "max_patches", most ? most : 9, VRAM_ORIGIN_DERIVED));
    return list(cx, v, "image_grid_pinpoints", sides, sizeof sides / sizeof *sides, true);
}

int vram_derive_vipllava(struct vram_cx *cx, struct vram_config *v)
{
    static const int64_t layers[] = {-2, -5, -8, -11, 6};
    return list(cx, v, "vision_feature_layer", layers, sizeof layers / sizeof *layers, false);
}

/* the Q-Former looks at what the tower makes, whatever its own configuration says */
int vram_derive_blip2(struct vram_cx *cx, struct vram_config *v)
{
    const struct vram_config *vision = vram_config_get_text(cx, v, "vision_config");
    struct vram_config *asks = vram_config_get_text(cx, v, "qformer_config");
    if (!vision || !asks)
        return VRAM_OK;
    return vram_config_set_int(cx, asks, "encoder_hidden_size",
                               vram_config_int(cx, vision, "hidden_size", 1408), VRAM_ORIGIN_DERIVED);
}

int vram_derive_mllama_text(struct vram_cx *cx, struct vram_config *v)
{
    static const int64_t cross[] = {3, 8, 13, 18, 23, 28, 33, 38};
    return list(cx, v, "cross_attention_layers", cross, sizeof cross / sizeof *cross, false);
}

int vram_derive_mllama_vision(struct vram_cx *cx, struct vram_config *v)
{
    static const int64_t ratios[] = {1, 1, 1, 2, 1, 3, 1, 4, 2, 1, 2, 2, 3, 1, 4, 1};
    static const int64_t layers[] = {3, 7, 15, 23, 30};
    VRAM_TRY(list(cx, v, "supported_aspect_ratios", ratios, sizeof ratios / sizeof *ratios, true));
    return list(cx, v, "intermediate_layers_indices", layers, sizeof layers / sizeof *layers, false);
}

int vram_derive_qwen_vision(struct vram_cx *cx, struct vram_config *v)
{
    static const int64_t full[] = {7, 15, 23, 31};
    return list(cx, v, "fullatt_block_indexes", full, sizeof full / sizeof *full, false);
}

int vram_derive_paligemma(struct vram_cx *cx, struct vram_config *v)
{
    struct vram_config *text = vram_config_get_text(cx, v, "text_config");
    struct vram_config *vision = vram_config_get_text(cx, v, "vision_config");
    int64_t patch = vram_config_int(cx, vision, "patch_size", 0); /* unchecked in a class unknown */
    int64_t side = patch > 0 ? vram_config_int(cx, vision, "image_size", 0) / patch : 0;
    if (side > 65536 || side < 0)
        side = 0;
    if (vram_config_unset(cx, text, "use_bidirectional_attention"))
        VRAM_TRY(vram_config_set_bool(cx, text, "use_bidirectional_attention", true,
                                      VRAM_ORIGIN_DERIVED));
    VRAM_TRY(vram_config_set_int(cx, text, "num_image_tokens", side * side, VRAM_ORIGIN_DERIVED));
    return vram_config_set_int(cx, vision, "projection_dim",
                               vram_config_int(cx, v, "projection_dim", 2048), VRAM_ORIGIN_DERIVED);
}
