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
    INT_OR_NULL("eos_token_id", 49407, 0), END};

static const struct vram_class_key clip_vision[] = {
    SIZE("hidden_size", 768), SIZE("intermediate_size", 3072), SIZE("projection_dim", 512),
    SIZE("num_hidden_layers", 12), SIZE("num_attention_heads", 12), INT("num_channels", 3, 0),
    PAIR("image_size", 224), PAIR("patch_size", 32), TEXT("hidden_act", "quick_gelu"),
    REAL("layer_norm_eps", 1e-5), REAL("attention_dropout", 0.0), END};

static const struct vram_class_key clip[] = {
    INT_OR_NULL("projection_dim", 512, VRAM_KEY_SIZE), REAL("logit_scale_init_value", 2.6592), END};

static const struct vram_class_part clip_parts[] = {
    {"text_config", "clip_text_model", true, NULL, false},
    {"vision_config", "clip_vision_model", true, NULL, false},
    {NULL, NULL, false, NULL, false}};

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
    {"text_config", "siglip_text_model", true, NULL, false},
    {"vision_config", "siglip_vision_model", true, NULL, false},
    {NULL, NULL, false, NULL, false}};

/* head_dim: hidden_size / num_attention_heads */
static const struct vram_class_key pixtral[] = {
    SIZE("hidden_size", 1024), SIZE("intermediate_size", 4096), SIZE("num_hidden_layers", 24),
    SIZE("num_attention_heads", 16), INT("num_channels", 3, 0), PAIR("image_size", 1024),
    PAIR("patch_size", 16), TEXT("hidden_act", "gelu"), REAL("attention_dropout", 0.0), END};

static const struct vram_class_key vit[] = {
    SIZE("hidden_size", 768), SIZE("num_hidden_layers", 12), SIZE("num_attention_heads", 12),
    SIZE("intermediate_size", 3072), TEXT("hidden_act", "gelu"), REAL("hidden_dropout_prob", 0.0),
    REAL("attention_probs_dropout_prob", 0.0), REAL("layer_norm_eps", 1e-12),
    PAIR("image_size", 224), PAIR("patch_size", 16), INT("num_channels", 3, 0),
    BOOL("qkv_bias", 1), INT_NULL("pooler_output_size"), TEXT("pooler_act", "tanh"), END};

static const struct vram_class_key dinov2[] = {
    SIZE("hidden_size", 768), SIZE("num_hidden_layers", 12), SIZE("num_attention_heads", 12),
    SIZE("mlp_ratio", 4), TEXT("hidden_act", "gelu"), REAL("hidden_dropout_prob", 0.0),
    REAL("attention_probs_dropout_prob", 0.0), REAL("layer_norm_eps", 1e-6),
    PAIR("image_size", 224), PAIR("patch_size", 14), INT("num_channels", 3, 0),
    BOOL("qkv_bias", 1), REAL("drop_path_rate", 0.0), BOOL("use_swiglu_ffn", 0),
    BOOL("use_mask_token", 1), END};

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
    {"text_config", "llama", false, NULL, false},
    {"vision_config", "clip_vision_model", false, llava_vision, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_key vipllava[] = {
    INT("image_token_index", 32000, 0), INT("image_seq_length", 576, 0),
    TEXT("projector_hidden_act", "gelu"), REAL("projector_layernorm_eps", 1e-5),
    BOOL("tie_word_embeddings", 0), END};

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
    {"text_config", "gemma", false, paligemma_text, false},
    {"vision_config", "siglip_vision_model", false, paligemma_vision, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_key qwen_vl_text[] = {
    SIZE("vocab_size", 152064), SIZE("hidden_size", 8192), SIZE("intermediate_size", 29568),
    SIZE("num_hidden_layers", 80), SIZE("num_attention_heads", 64),
    INT_OR_NULL("num_key_value_heads", 8, VRAM_KEY_SIZE), TEXT("hidden_act", "silu"),
    INT("max_position_embeddings", 32768, 0), REAL("rms_norm_eps", 1e-5), BOOL("use_cache", 1),
    BOOL("use_sliding_window", 0), INT_OR_NULL("sliding_window", 4096, 0),
    INT_OR_NULL("max_window_layers", 80, 0), REAL("attention_dropout", 0.0),
    INT_NULL("pad_token_id"), END};

static const struct vram_class_key qwen2_vl_vision[] = {
    SIZE("depth", 32), SIZE("embed_dim", 1280), SIZE("hidden_size", 3584),
    TEXT("hidden_act", "quick_gelu"), SIZE("mlp_ratio", 4), SIZE("num_heads", 16),
    INT("in_channels", 3, 0), PAIR("patch_size", 14), SIZE("spatial_merge_size", 2),
    PAIR("temporal_patch_size", 2), END};

static const struct vram_class_key qwen2_5_vl_vision[] = {
    SIZE("depth", 32), SIZE("hidden_size", 3584), TEXT("hidden_act", "silu"),
    SIZE("intermediate_size", 3420), SIZE("num_heads", 16), INT("in_channels", 3, 0),
    PAIR("patch_size", 14), SIZE("spatial_merge_size", 2), PAIR("temporal_patch_size", 2),
    INT("tokens_per_second", 4, 0), INT("window_size", 112, 0), SIZE("out_hidden_size", 3584), END};

static const struct vram_class_key qwen_vl[] = {
    INT("image_token_id", 151655, 0), INT("video_token_id", 151656, 0),
    BOOL("tie_word_embeddings", 0), END};

static const struct vram_class_part qwen2_vl_parts[] = {
    {"text_config", "qwen2_vl_text", true, NULL, true},
    {"vision_config", "qwen2_vl_vision", true, NULL, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_part qwen2_5_vl_parts[] = {
    {"text_config", "qwen2_5_vl_text", true, NULL, true},
    {"vision_config", "qwen2_5_vl_vision", true, NULL, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_key internvl_vision[] = {
    SIZE("hidden_size", 1024), SIZE("num_hidden_layers", 24), SIZE("num_attention_heads", 16),
    BOOL("attention_bias", 0), BOOL("use_qk_norm", 0), SIZE("intermediate_size", 4096),
    TEXT("hidden_act", "gelu"), REAL("hidden_dropout_prob", 0.0), REAL("attention_dropout", 0.0),
    REAL("projection_dropout", 0.0), TEXT("norm_type", "layer_norm"),
    REAL("layer_norm_eps", 1e-6), PAIR("image_size", 448), PAIR("patch_size", 14),
    INT("num_channels", 3, 0), BOOL("use_mask_token", 0),
    BOOL("use_absolute_position_embeddings", 1), BOOL("use_mean_pooling", 1), END};

static const struct vram_class_key internvl[] = {
    INT("image_token_id", 151667, 0), INT("image_seq_length", 256, 0),
    REAL("downsample_ratio", 0.5), TEXT("projector_hidden_act", "gelu"),
    INT("vision_feature_layer", -1, VRAM_KEY_LIST),
    TEXT("vision_feature_select_strategy", "default"), BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_part internvl_parts[] = {
    {"text_config", "qwen2", false, NULL, false},
    {"vision_config", "internvl_vision", false, NULL, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_key idefics3_vision[] = {
    SIZE("hidden_size", 1152), SIZE("intermediate_size", 3072), SIZE("num_hidden_layers", 12),
    SIZE("num_attention_heads", 16), INT("num_channels", 3, 0), PAIR("image_size", 224),
    PAIR("patch_size", 32), TEXT("hidden_act", "gelu_pytorch_tanh"), REAL("layer_norm_eps", 1e-6),
    REAL("attention_dropout", 0.0), END};

static const struct vram_class_key idefics3[] = {
    BOOL("use_cache", 1), INT("image_token_id", 128257, 0), BOOL("tie_word_embeddings", 0),
    SIZE("scale_factor", 2), END};

static const struct vram_class_key idefics3_text[] = {REAL("rms_norm_eps", 1e-5), END};

static const struct vram_class_part idefics3_parts[] = {
    {"text_config", "llama", false, idefics3_text, false},
    {"vision_config", "idefics3_vision", true, NULL, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_part smolvlm_parts[] = {
    {"text_config", "llama", false, idefics3_text, false},
    {"vision_config", "smolvlm_vision", true, NULL, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_key llava_onevision[] = {
    INT("image_token_index", 151646, 0), INT("video_token_index", 151647, 0),
    TEXT("projector_hidden_act", "gelu"), TEXT("vision_feature_select_strategy", "full"),
    INT("vision_feature_layer", -1, VRAM_KEY_LIST), BOOL("multimodal_projector_bias", 1),
    BOOL("tie_word_embeddings", 0), TEXT("vision_aspect_ratio", "anyres_max_9"), END};

static const struct vram_class_key llava_onevision_vision[] = {
    SIZE("hidden_size", 1152), SIZE("intermediate_size", 4304), SIZE("patch_size", 14),
    SIZE("image_size", 384), SIZE("num_hidden_layers", 26), SIZE("num_attention_heads", 16),
    BOOL("vision_use_head", 0), END};

static const struct vram_class_part llava_onevision_parts[] = {
    {"text_config", "qwen2", false, NULL, false},
    {"vision_config", "siglip_vision_model", false, llava_onevision_vision, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_key gemma3[] = {
    INT_OR_NULL("mm_tokens_per_image", 256, 0), INT_OR_NULL("image_token_index", 262144, 0),
    BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_part gemma3_parts[] = {
    {"text_config", "gemma3_text", true, NULL, false},
    {"vision_config", "siglip_vision_model", false, NULL, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_key mistral3[] = {
    INT("image_token_index", 10, 0), TEXT("projector_hidden_act", "gelu"),
    INT("vision_feature_layer", -1, VRAM_KEY_LIST), BOOL("multimodal_projector_bias", 0),
    SIZE("spatial_merge_size", 2), BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key mistral3_text[] = {
    SIZE("head_dim", 128), TEXT("hidden_act", "silu"), SIZE("hidden_size", 5120),
    SIZE("intermediate_size", 32768), INT("max_position_embeddings", 131072, 0),
    SIZE("num_attention_heads", 32), SIZE("num_hidden_layers", 40), SIZE("num_key_value_heads", 8),
    REAL("rms_norm_eps", 1e-5), INT_NULL("sliding_window"), SIZE("vocab_size", 131072), END};

static const struct vram_class_key mistral3_vision[] = {
    SIZE("intermediate_size", 4096), SIZE("hidden_size", 1024), SIZE("patch_size", 14),
    SIZE("image_size", 1540), SIZE("num_hidden_layers", 24), SIZE("num_attention_heads", 16),
    TEXT("hidden_act", "gelu"), END};

static const struct vram_class_part mistral3_parts[] = {
    {"text_config", "mistral", false, mistral3_text, false},
    {"vision_config", "pixtral", false, mistral3_vision, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_key whisper[] = {
    SIZE("vocab_size", 51865), SIZE("num_mel_bins", 80), SIZE("encoder_layers", 4),
    SIZE("encoder_attention_heads", 6), SIZE("decoder_layers", 4),
    SIZE("decoder_attention_heads", 6), SIZE("decoder_ffn_dim", 1536),
    SIZE("encoder_ffn_dim", 1536), REAL("encoder_layerdrop", 0.0), REAL("decoder_layerdrop", 0.0),
    TEXT("activation_function", "gelu"), SIZE("d_model", 384), REAL("dropout", 0.0),
    REAL("attention_dropout", 0.0), REAL("activation_dropout", 0.0),
    SIZE("max_source_positions", 1500), SIZE("max_target_positions", 448),
    BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key qwen2_audio_encoder[] = {
    SIZE("num_mel_bins", 128), SIZE("encoder_layers", 32), SIZE("encoder_attention_heads", 20),
    SIZE("encoder_ffn_dim", 5120), REAL("encoder_layerdrop", 0.0), SIZE("d_model", 1280),
    REAL("dropout", 0.0), REAL("attention_dropout", 0.0), TEXT("activation_function", "gelu"),
    REAL("activation_dropout", 0.0), SIZE("max_source_positions", 1500), END};

static const struct vram_class_key qwen2_audio[] = {INT("audio_token_index", 151646, 0), END};

static const struct vram_class_part qwen2_audio_parts[] = {
    {"text_config", "qwen2", false, NULL, false},
    {"audio_config", "qwen2_audio_encoder", false, NULL, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_key mllama_vision[] = {
    SIZE("hidden_size", 1280), TEXT("hidden_act", "gelu"), SIZE("num_hidden_layers", 32),
    SIZE("num_global_layers", 8), SIZE("attention_heads", 16), INT("num_channels", 3, 0),
    SIZE("intermediate_size", 5120), SIZE("vision_output_dim", 7680), PAIR("image_size", 448),
    PAIR("patch_size", 14), REAL("norm_eps", 1e-5), INT("max_num_tiles", 4, 0), END};

static const struct vram_class_key mllama_text[] = {
    SIZE("vocab_size", 128256), SIZE("hidden_size", 4096), TEXT("hidden_act", "silu"),
    SIZE("num_hidden_layers", 40), SIZE("num_attention_heads", 32), SIZE("num_key_value_heads", 8),
    SIZE("intermediate_size", 14336), REAL("rms_norm_eps", 1e-5),
    INT("max_position_embeddings", 131072, 0), BOOL("use_cache", 1), BOOL("tie_word_embeddings", 0),
    REAL("dropout", 0.0), INT_OR_NULL("pad_token_id", 128004, 0), END};

static const struct vram_class_key mllama[] = {INT("image_token_index", 128256, 0), END};

static const struct vram_class_part mllama_parts[] = {
    {"text_config", "mllama_text_model", true, NULL, false},
    {"vision_config", "mllama_vision_model", true, NULL, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class_key blip2_vision[] = {
    SIZE("hidden_size", 1408), SIZE("intermediate_size", 6144), SIZE("num_hidden_layers", 39),
    SIZE("num_attention_heads", 16), PAIR("image_size", 224), PAIR("patch_size", 14),
    TEXT("hidden_act", "gelu"), REAL("layer_norm_eps", 1e-6), REAL("attention_dropout", 0.0),
    BOOL("qkv_bias", 1), END};

static const struct vram_class_key blip2_qformer[] = {
    SIZE("vocab_size", 30522), SIZE("hidden_size", 768), SIZE("num_hidden_layers", 12),
    SIZE("num_attention_heads", 12), SIZE("intermediate_size", 3072), TEXT("hidden_act", "gelu"),
    REAL("hidden_dropout_prob", 0.1), REAL("attention_probs_dropout_prob", 0.1),
    INT("max_position_embeddings", 512, 0), REAL("layer_norm_eps", 1e-12),
    INT("cross_attention_frequency", 2, 0), SIZE("encoder_hidden_size", 1408),
    BOOL("use_qformer_text_input", 0), END};

static const struct vram_class_key blip2[] = {SIZE("num_query_tokens", 32),
                                              INT_NULL("image_token_index"), END};

static const struct vram_class_part blip2_parts[] = {
    {"text_config", "opt", false, NULL, false},
    {"vision_config", "blip_2_vision_model", true, NULL, false},
    {"qformer_config", "blip_2_qformer", true, NULL, false},
    {NULL, NULL, false, NULL, false}};

static const struct vram_class classes[] = {
    {"blip-2", blip2, blip2_parts, false, vram_derive_blip2, NULL},
    {"blip_2_qformer", blip2_qformer, NULL, false, NULL, NULL},
    {"blip_2_vision_model", blip2_vision, NULL, false, NULL, NULL},
    {"clip", clip, clip_parts, false, NULL, NULL},
    {"clip_text_model", clip_text, NULL, true, NULL, NULL},
    {"clip_vision_model", clip_vision, NULL, true, NULL, NULL},
    {"dinov2", dinov2, NULL, true, vram_derive_labels, NULL},
    {"gemma", gemma, NULL, false, vram_derive_gemma, NULL},
    {"gemma3", gemma3, gemma3_parts, false, NULL, NULL},
    {"idefics3", idefics3, idefics3_parts, false, NULL, NULL},
    {"idefics3_vision", idefics3_vision, NULL, true, NULL, NULL},
    {"internvl", internvl, internvl_parts, false, NULL, NULL},
    {"internvl_vision", internvl_vision, NULL, true, NULL, NULL},
    {"llama", llama, NULL, true, vram_derive_decoder, NULL},
    {"llava", llava, llava_parts, false, vram_derive_llava, NULL},
    {"llava_next", llava, llava_parts, false, vram_derive_llava_next, NULL},
    {"llava_onevision", llava_onevision, llava_onevision_parts, false,
     vram_derive_llava_onevision, NULL},
    {"vipllava", vipllava, llava_parts, false, vram_derive_vipllava, NULL},
    {"mistral", mistral, NULL, false, vram_derive_decoder, NULL},
    {"mistral3", mistral3, mistral3_parts, false, NULL, NULL},
    {"mllama", mllama, mllama_parts, false, NULL, NULL},
    {"mllama_text_model", mllama_text, NULL, true, vram_derive_mllama_text, NULL},
    {"mllama_vision_model", mllama_vision, NULL, false, vram_derive_mllama_vision, NULL},
    {"paligemma", paligemma, paligemma_parts, false, vram_derive_paligemma, NULL},
    {"pixtral", pixtral, NULL, false, vram_derive_head_dim, NULL},
    {"qwen2", qwen2, NULL, false, vram_derive_qwen, NULL},
    {"qwen2_audio", qwen2_audio, qwen2_audio_parts, false, NULL, NULL},
    {"qwen2_audio_encoder", qwen2_audio_encoder, NULL, false, NULL, NULL},
    {"qwen2_5_vl", qwen_vl, qwen2_5_vl_parts, false, vram_derive_llava, NULL},
    {"qwen2_5_vl_text", qwen_vl_text, NULL, true, vram_derive_qwen, NULL},
    {"qwen2_5_vl_vision", qwen2_5_vl_vision, NULL, false, vram_derive_qwen_vision, NULL},
    {"qwen2_vl", qwen_vl, qwen2_vl_parts, false, vram_derive_llava, NULL},
    {"qwen2_vl_text", qwen_vl_text, NULL, true, vram_derive_qwen, NULL},
    {"qwen2_vl_vision", qwen2_vl_vision, NULL, false, NULL, NULL},
    {"qwen3", qwen3, NULL, false, vram_derive_qwen, NULL},
    {"siglip", siglip, siglip_parts, false, NULL, NULL},
    {"siglip_text_model", siglip_text, NULL, true, vram_derive_siglip_text, NULL},
    {"siglip_vision_model", siglip_vision, NULL, true, NULL, NULL},
    {"smolvlm", idefics3, smolvlm_parts, false, NULL, NULL},
    {"smolvlm_vision", idefics3_vision, NULL, true, NULL, NULL},
    {"vit", vit, NULL, true, vram_derive_vit, NULL},
    {"deit", vit, NULL, true, vram_derive_vit, NULL},
    {"whisper", whisper, NULL, false, NULL, NULL},
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
