/* SPDX-License-Identifier: Apache-2.0
 *
 * Class defaults as transformers 5.24 has them: the dataclass fields of
 * transformers/models/NAME/configuration_NAME.py, as far as they decide sizes or what is run.
 * Facts only; tests/unit/loaders/against_transformers.py compares them with the classes.
 */
#include <string.h>

#include "hf/defaults_rows.h"

static const struct vram_class_key clip_text[] = {
    SIZE("vocab_size", 49408), SIZE("hidden_size", 512), SIZE("intermediate_size", 2048),
    INT_OR_NULL("projection_dim", 512, VRAM_KEY_SIZE), SIZE("num_hidden_layers", 12),
    SIZE("num_attention_heads", 8), SIZE("max_position_embeddings", 77),
    TEXT("hidden_act", "quick_gelu"), REAL("layer_norm_eps", 1e-5), REAL("attention_dropout", 0.0),
    END};

static const struct vram_class_key clip_vision[] = {
    SIZE("hidden_size", 768), SIZE("intermediate_size", 3072), SIZE("projection_dim", 512),
    SIZE("num_hidden_layers", 12), SIZE("num_attention_heads", 12), INT("num_channels", 3, 0),
    PAIR("image_size", 224), PAIR("patch_size", 32), TEXT("hidden_act", "quick_gelu"),
    REAL("layer_norm_eps", 1e-5), REAL("attention_dropout", 0.0), END};

static const struct vram_class_key clip[] = {
    INT_OR_NULL("projection_dim", 512, VRAM_KEY_SIZE), REAL("logit_scale_init_value", 2.6592), END};

static const struct vram_class_part clip_parts[] = {
    {"text_config", "clip_text_model", true, NULL},
    {"vision_config", "clip_vision_model", true, NULL},
    {NULL, NULL, false, NULL}};

static const struct vram_class_key siglip_text[] = {
    SIZE("vocab_size", 32000), SIZE("hidden_size", 768), SIZE("intermediate_size", 3072),
    SIZE("num_hidden_layers", 12), SIZE("num_attention_heads", 12),
    SIZE("max_position_embeddings", 64), TEXT("hidden_act", "gelu_pytorch_tanh"),
    REAL("layer_norm_eps", 1e-6), REAL("attention_dropout", 0.0), INT_NULL("projection_size"), END};

static const struct vram_class_key siglip_vision[] = {
    SIZE("hidden_size", 768), SIZE("intermediate_size", 3072), SIZE("num_hidden_layers", 12),
    SIZE("num_attention_heads", 12), INT("num_channels", 3, 0), PAIR("image_size", 224),
    PAIR("patch_size", 16), TEXT("hidden_act", "gelu_pytorch_tanh"), REAL("layer_norm_eps", 1e-6),
    REAL("attention_dropout", 0.0), BOOL("vision_use_head", 1), END};

static const struct vram_class_key siglip[] = {END};

static const struct vram_class_part siglip_parts[] = {
    {"text_config", "siglip_text_model", true, NULL},
    {"vision_config", "siglip_vision_model", true, NULL},
    {NULL, NULL, false, NULL}};

/* head_dim: hidden_size / num_attention_heads */
static const struct vram_class_key pixtral[] = {
    SIZE("hidden_size", 1024), SIZE("intermediate_size", 4096), SIZE("num_hidden_layers", 24),
    SIZE("num_attention_heads", 16), INT("num_channels", 3, 0), PAIR("image_size", 1024),
    PAIR("patch_size", 16), TEXT("hidden_act", "gelu"), REAL("attention_dropout", 0.0), END};

static const struct vram_class_key llama[] = {
    SIZE("vocab_size", 32000), SIZE("hidden_size", 4096), SIZE("intermediate_size", 11008),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32),
    INT_NULL("num_key_value_heads"), TEXT("hidden_act", "silu"),
    INT("max_position_embeddings", 2048, 0), REAL("rms_norm_eps", 1e-6), BOOL("use_cache", 1),
    INT_NULL("pad_token_id"), BOOL("tie_word_embeddings", 0), BOOL("attention_bias", 0),
    REAL("attention_dropout", 0.0), BOOL("mlp_bias", 0), INT_NULL("head_dim"), END};

static const struct vram_class_key mistral[] = {
    SIZE("vocab_size", 32000), SIZE("hidden_size", 4096), SIZE("intermediate_size", 14336),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32),
    INT_OR_NULL("num_key_value_heads", 8, VRAM_KEY_SIZE), INT_NULL("head_dim"),
    TEXT("hidden_act", "silu"), INT("max_position_embeddings", 131072, 0),
    REAL("rms_norm_eps", 1e-6), BOOL("use_cache", 1), INT_NULL("pad_token_id"),
    BOOL("tie_word_embeddings", 0), INT_OR_NULL("sliding_window", 4096, 0),
    REAL("attention_dropout", 0.0), END};

static const struct vram_class_key qwen2[] = {
    SIZE("vocab_size", 151936), SIZE("hidden_size", 4096), SIZE("intermediate_size", 22016),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32),
    INT_OR_NULL("num_key_value_heads", 32, VRAM_KEY_SIZE), TEXT("hidden_act", "silu"),
    INT("max_position_embeddings", 32768, 0), REAL("rms_norm_eps", 1e-6), BOOL("use_cache", 1),
    BOOL("tie_word_embeddings", 0), BOOL("use_sliding_window", 0),
    INT_OR_NULL("sliding_window", 4096, 0), INT("max_window_layers", 28, 0),
    REAL("attention_dropout", 0.0), INT_NULL("pad_token_id"), END};

static const struct vram_class_key qwen3[] = {
    SIZE("vocab_size", 151936), SIZE("hidden_size", 4096), SIZE("intermediate_size", 22016),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32),
    INT_OR_NULL("num_key_value_heads", 32, VRAM_KEY_SIZE), SIZE("head_dim", 128),
    TEXT("hidden_act", "silu"), INT("max_position_embeddings", 32768, 0),
    REAL("rms_norm_eps", 1e-6), BOOL("use_cache", 1), BOOL("tie_word_embeddings", 0),
    BOOL("attention_bias", 0), BOOL("use_sliding_window", 0),
    INT_OR_NULL("sliding_window", 4096, 0), INT("max_window_layers", 28, 0),
    REAL("attention_dropout", 0.0), INT_NULL("pad_token_id"), END};

static const struct vram_class_key gemma[] = {
    SIZE("vocab_size", 256000), SIZE("hidden_size", 3072), SIZE("intermediate_size", 24576),
    SIZE("num_hidden_layers", 28), SIZE("num_attention_heads", 16),
    SIZE("num_key_value_heads", 16), SIZE("head_dim", 256), TEXT("hidden_act", "gelu_pytorch_tanh"),
    INT("max_position_embeddings", 8192, 0), REAL("rms_norm_eps", 1e-6), BOOL("use_cache", 1),
    INT_OR_NULL("pad_token_id", 0, 0), BOOL("tie_word_embeddings", 1), BOOL("attention_bias", 0),
    REAL("attention_dropout", 0.0), BOOL_NULL("use_bidirectional_attention"), END};

static const struct vram_class_key llava[] = {
    INT("image_token_index", 32000, 0), INT("image_seq_length", 576, 0),
    TEXT("projector_hidden_act", "gelu"), TEXT("vision_feature_select_strategy", "default"),
    INT("vision_feature_layer", -2, VRAM_KEY_LIST), BOOL("multimodal_projector_bias", 1),
    BOOL("tie_word_embeddings", 0), END};

/* what LlavaConfig and LlavaNextConfig give when vision_config is absent */
static const struct vram_class_key llava_vision[] = {
    SIZE("intermediate_size", 4096), SIZE("hidden_size", 1024), SIZE("patch_size", 14),
    SIZE("image_size", 336), SIZE("num_hidden_layers", 24), SIZE("num_attention_heads", 16),
    SIZE("projection_dim", 768), END};

static const struct vram_class_part llava_parts[] = {
    {"text_config", "llama", false, NULL},
    {"vision_config", "clip_vision_model", false, llava_vision},
    {NULL, NULL, false, NULL}};

static const struct vram_class_key paligemma[] = {
    INT("image_token_index", 256000, 0), SIZE("projection_dim", 2048),
    BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key paligemma_vision[] = {
    SIZE("intermediate_size", 4096), SIZE("hidden_size", 1152), SIZE("patch_size", 14),
    SIZE("image_size", 224), SIZE("num_hidden_layers", 27), SIZE("num_attention_heads", 16),
    BOOL("vision_use_head", 0), END};

static const struct vram_class_key paligemma_text[] = {
    SIZE("hidden_size", 2048), SIZE("num_hidden_layers", 18), SIZE("intermediate_size", 16384),
    SIZE("num_attention_heads", 8), SIZE("num_key_value_heads", 1),
    SIZE("vocab_size", 257152), END};

static const struct vram_class_part paligemma_parts[] = {
    {"text_config", "gemma", false, paligemma_text},
    {"vision_config", "siglip_vision_model", false, paligemma_vision},
    {NULL, NULL, false, NULL}};

static const struct vram_class classes[] = {
    {"clip", clip, clip_parts, false, NULL, NULL},
    {"clip_text_model", clip_text, NULL, true, NULL, NULL},
    {"clip_vision_model", clip_vision, NULL, true, NULL, NULL},
    {"gemma", gemma, NULL, false, vram_derive_gemma, NULL},
    {"llama", llama, NULL, true, vram_derive_decoder, NULL},
    {"llava", llava, llava_parts, false, vram_derive_llava, NULL},
    {"llava_next", llava, llava_parts, false, vram_derive_llava_next, NULL},
    {"mistral", mistral, NULL, false, vram_derive_decoder, NULL},
    {"paligemma", paligemma, paligemma_parts, false, vram_derive_paligemma, NULL},
    {"pixtral", pixtral, NULL, false, vram_derive_head_dim, NULL},
    {"qwen2", qwen2, NULL, false, vram_derive_qwen, NULL},
    {"qwen3", qwen3, NULL, false, vram_derive_qwen, NULL},
    {"siglip", siglip, siglip_parts, false, NULL, NULL},
    {"siglip_text_model", siglip_text, NULL, true, vram_derive_siglip_text, NULL},
    {"siglip_vision_model", siglip_vision, NULL, true, NULL, NULL},
    {NULL, NULL, NULL, false, NULL, NULL},
};

static const struct vram_class *const tables[] = {classes, vram_text_classes};

const struct vram_class *vram_class_row(size_t i)
{
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        for (const struct vram_class *c = tables[k]; c->model_type; c++)
            if (i-- == 0)
                return c;
    return NULL;
}

const struct vram_class *vram_class_find(const char *model_type)
{
    const struct vram_class *c;
    for (size_t i = 0; (c = vram_class_row(i)); i++)
        if (!strcmp(c->model_type, model_type))
            return c;
    return NULL;
}
