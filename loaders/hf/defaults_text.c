/* SPDX-License-Identifier: Apache-2.0
 *
 * Class defaults of text models, as defaults.c has them.
 */
#include "hf/defaults_rows.h"

static const struct vram_class_key phi[] = {
    SIZE("vocab_size", 51200), SIZE("hidden_size", 2048), SIZE("intermediate_size", 8192),
    SIZE("num_hidden_layers", 24), SIZE("num_attention_heads", 32), INT_NULL("num_key_value_heads"),
    REAL("resid_pdrop", 0.0), REAL("embd_pdrop", 0.0), REAL("attention_dropout", 0.0),
    TEXT("hidden_act", "gelu_new"), INT("max_position_embeddings", 2048, 0),
    REAL("layer_norm_eps", 1e-5), BOOL("use_cache", 1), BOOL("tie_word_embeddings", 0),
    BOOL("qk_layernorm", 0), INT_NULL("pad_token_id"), END};

static const struct vram_class_key gpt2[] = {
    SIZE("vocab_size", 50257), SIZE("max_position_embeddings", 1024), SIZE("hidden_size", 768),
    SIZE("num_hidden_layers", 12), SIZE("num_attention_heads", 12), INT_NULL("n_inner"),
    TEXT("activation_function", "gelu_new"), REAL("resid_pdrop", 0.1), REAL("embd_pdrop", 0.1),
    REAL("attn_pdrop", 0.1), REAL("layer_norm_epsilon", 1e-5), BOOL("use_cache", 1),
    INT_NULL("pad_token_id"), BOOL("scale_attn_by_inverse_layer_idx", 0),
    BOOL("reorder_and_upcast_attn", 0), BOOL("add_cross_attention", 0),
    BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key gpt_neox[] = {
    SIZE("vocab_size", 50432), SIZE("hidden_size", 6144), SIZE("num_hidden_layers", 44),
    SIZE("num_attention_heads", 64), SIZE("intermediate_size", 24576), TEXT("hidden_act", "gelu"),
    REAL("attention_dropout", 0.0), REAL("hidden_dropout", 0.0),
    INT("max_position_embeddings", 2048, 0), REAL("layer_norm_eps", 1e-5), BOOL("use_cache", 1),
    INT_NULL("pad_token_id"), BOOL("tie_word_embeddings", 0), BOOL("use_parallel_residual", 1),
    BOOL("attention_bias", 1), BOOL("is_decoder", 0), END};

static const struct vram_class_key opt[] = {
    SIZE("vocab_size", 50272), SIZE("hidden_size", 768), SIZE("num_hidden_layers", 12),
    SIZE("ffn_dim", 3072), SIZE("max_position_embeddings", 2048), BOOL("do_layer_norm_before", 1),
    INT_NULL("word_embed_proj_dim"), REAL("dropout", 0.1), REAL("attention_dropout", 0.0),
    SIZE("num_attention_heads", 12), TEXT("activation_function", "relu"), REAL("layerdrop", 0.0),
    BOOL("use_cache", 1), INT_OR_NULL("pad_token_id", 1, 0), BOOL("enable_bias", 1),
    BOOL("layer_norm_elementwise_affine", 1), BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key falcon[] = {
    SIZE("vocab_size", 65024), SIZE("hidden_size", 4544), SIZE("num_hidden_layers", 32),
    SIZE("num_attention_heads", 71), INT_NULL("num_ln_in_parallel_attn"),
    REAL("layer_norm_epsilon", 1e-5), BOOL("use_cache", 1), REAL("hidden_dropout", 0.0),
    REAL("attention_dropout", 0.0), INT_NULL("num_kv_heads"), BOOL("alibi", 0),
    BOOL("new_decoder_architecture", 0), BOOL("multi_query", 1), BOOL("parallel_attn", 1),
    BOOL("bias", 0), INT("max_position_embeddings", 2048, 0), INT_NULL("pad_token_id"),
    INT_NULL("ffn_hidden_size"), TEXT("activation", "gelu"), BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key gemma2[] = {
    SIZE("vocab_size", 256000), SIZE("hidden_size", 2304), SIZE("intermediate_size", 9216),
    SIZE("num_hidden_layers", 26), SIZE("num_attention_heads", 8), SIZE("num_key_value_heads", 4),
    SIZE("head_dim", 256), TEXT("hidden_activation", "gelu_pytorch_tanh"),
    INT("max_position_embeddings", 8192, 0), REAL("rms_norm_eps", 1e-6), BOOL("use_cache", 1),
    INT_OR_NULL("pad_token_id", 0, 0), BOOL("tie_word_embeddings", 1), BOOL("attention_bias", 0),
    REAL("attention_dropout", 0.0), INT("query_pre_attn_scalar", 256, 0),
    INT_OR_NULL("sliding_window", 4096, 0), REAL("final_logit_softcapping", 30.0),
    REAL("attn_logit_softcapping", 50.0), BOOL_NULL("use_bidirectional_attention"), END};

static const struct vram_class_key phi3[] = {
    SIZE("vocab_size", 32064), SIZE("hidden_size", 3072), SIZE("intermediate_size", 8192),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32), INT_NULL("num_key_value_heads"),
    REAL("resid_pdrop", 0.0), REAL("embd_pdrop", 0.0), REAL("attention_dropout", 0.0),
    TEXT("hidden_act", "silu"), INT("max_position_embeddings", 4096, 0),
    INT("original_max_position_embeddings", 4096, 0), REAL("rms_norm_eps", 1e-5),
    BOOL("use_cache", 1), BOOL("tie_word_embeddings", 0), INT_OR_NULL("pad_token_id", 32000, 0),
    INT_NULL("sliding_window"), END};

static const struct vram_class_key mixtral[] = {
    SIZE("vocab_size", 32000), SIZE("hidden_size", 4096), SIZE("intermediate_size", 14336),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32), SIZE("num_key_value_heads", 8),
    INT_NULL("head_dim"), TEXT("hidden_act", "silu"), INT("max_position_embeddings", 131072, 0),
    REAL("rms_norm_eps", 1e-5), BOOL("use_cache", 1), INT_NULL("pad_token_id"),
    BOOL("tie_word_embeddings", 0), INT_NULL("sliding_window"), REAL("attention_dropout", 0.0),
    INT("num_experts_per_tok", 2, 0), SIZE("num_local_experts", 8), BOOL("output_router_logits", 0),
    REAL("router_aux_loss_coef", 0.001), REAL("router_jitter_noise", 0.0), END};

static const struct vram_class_key qwen2_moe[] = {
    SIZE("vocab_size", 151936), SIZE("hidden_size", 2048), SIZE("intermediate_size", 5632),
    SIZE("num_hidden_layers", 24), SIZE("num_attention_heads", 16),
    INT_OR_NULL("num_key_value_heads", 16, VRAM_KEY_SIZE), TEXT("hidden_act", "silu"),
    INT("max_position_embeddings", 32768, 0), REAL("rms_norm_eps", 1e-6), BOOL("use_cache", 1),
    BOOL("tie_word_embeddings", 0), BOOL("use_sliding_window", 0),
    INT_OR_NULL("sliding_window", 4096, 0), INT("max_window_layers", 28, 0),
    REAL("attention_dropout", 0.0), INT("decoder_sparse_step", 1, 0),
    SIZE("moe_intermediate_size", 1408), SIZE("shared_expert_intermediate_size", 5632),
    INT("num_experts_per_tok", 4, 0), SIZE("num_experts", 60), BOOL("norm_topk_prob", 0),
    BOOL("output_router_logits", 0), REAL("router_aux_loss_coef", 0.001), BOOL("qkv_bias", 1),
    INT_NULL("pad_token_id"), END};

static const struct vram_class_key qwen3_moe[] = {
    SIZE("vocab_size", 151936), SIZE("hidden_size", 2048), SIZE("intermediate_size", 6144),
    SIZE("num_hidden_layers", 24), SIZE("num_attention_heads", 32), SIZE("num_key_value_heads", 4),
    TEXT("hidden_act", "silu"), INT("max_position_embeddings", 32768, 0),
    REAL("rms_norm_eps", 1e-6), BOOL("use_cache", 1), BOOL("tie_word_embeddings", 0),
    BOOL("attention_bias", 0), BOOL("use_sliding_window", 0),
    INT_OR_NULL("sliding_window", 4096, 0), REAL("attention_dropout", 0.0),
    INT("decoder_sparse_step", 1, 0), SIZE("moe_intermediate_size", 768),
    INT("num_experts_per_tok", 8, 0), SIZE("num_experts", 128), BOOL("norm_topk_prob", 0),
    BOOL("output_router_logits", 0), REAL("router_aux_loss_coef", 0.001), INT_NULL("pad_token_id"),
    END};

static const struct vram_class_key gemma3_text[] = {
    SIZE("vocab_size", 262208), SIZE("hidden_size", 2304), SIZE("intermediate_size", 9216),
    SIZE("num_hidden_layers", 26), SIZE("num_attention_heads", 8), SIZE("num_key_value_heads", 4),
    SIZE("head_dim", 256), TEXT("hidden_activation", "gelu_pytorch_tanh"),
    INT("max_position_embeddings", 131072, 0), REAL("rms_norm_eps", 1e-6), BOOL("use_cache", 1),
    INT_OR_NULL("pad_token_id", 0, 0), BOOL("tie_word_embeddings", 1), BOOL("attention_bias", 0),
    REAL("attention_dropout", 0.0), INT("query_pre_attn_scalar", 256, 0),
    INT_OR_NULL("sliding_window", 4096, 0), REAL_NULL("final_logit_softcapping"),
    REAL_NULL("attn_logit_softcapping"), BOOL("use_bidirectional_attention", 0), END};

static const struct vram_class_key bert[] = {
    SIZE("vocab_size", 30522), SIZE("hidden_size", 768), SIZE("num_hidden_layers", 12),
    SIZE("num_attention_heads", 12), SIZE("intermediate_size", 3072), TEXT("hidden_act", "gelu"),
    REAL("hidden_dropout_prob", 0.1), REAL("attention_probs_dropout_prob", 0.1),
    SIZE("max_position_embeddings", 512), SIZE("type_vocab_size", 2), REAL("layer_norm_eps", 1e-12),
    INT_OR_NULL("pad_token_id", 0, 0), BOOL("use_cache", 1), BOOL("is_decoder", 0),
    BOOL("add_cross_attention", 0), BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key t5[] = {
    SIZE("vocab_size", 32128), SIZE("hidden_size", 512), SIZE("head_dim", 64), SIZE("d_ff", 2048),
    SIZE("num_hidden_layers", 6), INT_NULL("num_decoder_layers"), SIZE("num_attention_heads", 8),
    SIZE("relative_attention_num_buckets", 32), INT("relative_attention_max_distance", 128, 0),
    REAL("dropout_rate", 0.1), REAL("layer_norm_epsilon", 1e-6), TEXT("feed_forward_proj", "relu"),
    BOOL("use_cache", 1), INT_OR_NULL("pad_token_id", 0, 0), BOOL("is_decoder", 0), END};

static const struct vram_class_key olmo[] = {
    SIZE("vocab_size", 50304), SIZE("hidden_size", 4096), SIZE("intermediate_size", 11008),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32), INT_NULL("num_key_value_heads"),
    TEXT("hidden_act", "silu"), INT("max_position_embeddings", 2048, 0), BOOL("use_cache", 1),
    INT_OR_NULL("pad_token_id", 1, 0), BOOL("tie_word_embeddings", 0), BOOL("attention_bias", 0),
    REAL("attention_dropout", 0.0), REAL_NULL("clip_qkv"), END};

static const struct vram_class_key olmo2[] = {
    SIZE("vocab_size", 50304), SIZE("hidden_size", 4096), SIZE("intermediate_size", 11008),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32), INT_NULL("num_key_value_heads"),
    TEXT("hidden_act", "silu"), INT("max_position_embeddings", 2048, 0), BOOL("use_cache", 1),
    INT_OR_NULL("pad_token_id", 1, 0), BOOL("tie_word_embeddings", 0), BOOL("attention_bias", 0),
    REAL("attention_dropout", 0.0), REAL("rms_norm_eps", 1e-5), END};

static const struct vram_class_key granite[] = {
    SIZE("vocab_size", 32000), SIZE("hidden_size", 4096), SIZE("intermediate_size", 11008),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32), INT_NULL("num_key_value_heads"),
    TEXT("hidden_act", "silu"), INT("max_position_embeddings", 2048, 0), REAL("rms_norm_eps", 1e-6),
    BOOL("use_cache", 1), INT_NULL("pad_token_id"), BOOL("tie_word_embeddings", 0),
    BOOL("attention_bias", 0), REAL("attention_dropout", 0.0), BOOL("mlp_bias", 0),
    REAL("embedding_multiplier", 1.0), REAL("logits_scaling", 1.0),
    REAL("residual_multiplier", 1.0), REAL("attention_multiplier", 1.0), END};

static const struct vram_class_key starcoder2[] = {
    SIZE("vocab_size", 49152), SIZE("hidden_size", 3072), SIZE("intermediate_size", 12288),
    SIZE("num_hidden_layers", 30), SIZE("num_attention_heads", 24), SIZE("num_key_value_heads", 2),
    TEXT("hidden_act", "gelu_pytorch_tanh"), INT("max_position_embeddings", 4096, 0),
    REAL("norm_epsilon", 1e-5), BOOL("use_cache", 1), INT_NULL("pad_token_id"),
    INT_NULL("sliding_window"), REAL("attention_dropout", 0.0), REAL("residual_dropout", 0.0),
    REAL("embedding_dropout", 0.0), BOOL("use_bias", 1), BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key stablelm[] = {
    SIZE("vocab_size", 50304), SIZE("intermediate_size", 6912), SIZE("hidden_size", 2560),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32), SIZE("num_key_value_heads", 32),
    TEXT("hidden_act", "silu"), INT("max_position_embeddings", 4096, 0),
    REAL("layer_norm_eps", 1e-5), BOOL("use_cache", 1), BOOL("tie_word_embeddings", 0),
    BOOL("use_qkv_bias", 0), BOOL("qk_layernorm", 0), BOOL("use_parallel_residual", 0),
    REAL("hidden_dropout", 0.0), REAL("attention_dropout", 0.0), INT_NULL("pad_token_id"), END};

static const struct vram_class_key cohere[] = {
    SIZE("vocab_size", 256000), SIZE("hidden_size", 8192), SIZE("intermediate_size", 22528),
    REAL("logit_scale", 0.0625), SIZE("num_hidden_layers", 40), SIZE("num_attention_heads", 64),
    INT_NULL("num_key_value_heads"), TEXT("hidden_act", "silu"),
    INT("max_position_embeddings", 8192, 0), REAL("layer_norm_eps", 1e-5), BOOL("use_cache", 1),
    INT_OR_NULL("pad_token_id", 0, 0), BOOL("tie_word_embeddings", 1), BOOL("attention_bias", 0),
    REAL("attention_dropout", 0.0), BOOL("use_qk_norm", 0), END};

static const struct vram_class_key roberta[] = {
    SIZE("vocab_size", 50265), SIZE("hidden_size", 768), SIZE("num_hidden_layers", 12),
    SIZE("num_attention_heads", 12), SIZE("intermediate_size", 3072), TEXT("hidden_act", "gelu"),
    REAL("hidden_dropout_prob", 0.1), REAL("attention_probs_dropout_prob", 0.1),
    SIZE("max_position_embeddings", 512), SIZE("type_vocab_size", 2), REAL("layer_norm_eps", 1e-12),
    INT_OR_NULL("pad_token_id", 1, 0), BOOL("use_cache", 1), BOOL("is_decoder", 0),
    BOOL("add_cross_attention", 0), BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key distilbert[] = {
    SIZE("vocab_size", 30522), SIZE("max_position_embeddings", 512),
    BOOL("sinusoidal_pos_embds", 0), SIZE("num_hidden_layers", 6), SIZE("num_attention_heads", 12),
    SIZE("hidden_size", 768), SIZE("hidden_dim", 3072), REAL("dropout", 0.1),
    REAL("attention_dropout", 0.1), TEXT("activation", "gelu"), INT_OR_NULL("pad_token_id", 0, 0),
    BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key gpt_oss[] = {
    SIZE("num_hidden_layers", 36), SIZE("num_local_experts", 128), SIZE("vocab_size", 201088),
    SIZE("hidden_size", 2880), SIZE("intermediate_size", 2880), SIZE("head_dim", 64),
    SIZE("num_attention_heads", 64), SIZE("num_key_value_heads", 8),
    INT_OR_NULL("sliding_window", 128, 0), BOOL("tie_word_embeddings", 0),
    TEXT("hidden_act", "silu"), INT("max_position_embeddings", 131072, 0),
    REAL("rms_norm_eps", 1e-5), REAL("attention_dropout", 0.0), INT("num_experts_per_tok", 4, 0),
    REAL("swiglu_alpha", 1.702), REAL("swiglu_limit", 7.0), REAL("router_aux_loss_coef", 0.001),
    BOOL("output_router_logits", 0), BOOL("use_cache", 1), INT_NULL("pad_token_id"),
    BOOL("attention_bias", 1), END};

static const struct vram_class_key gptj[] = {
    SIZE("vocab_size", 50400), INT("max_position_embeddings", 2048, 0), SIZE("hidden_size", 4096),
    SIZE("num_hidden_layers", 28), SIZE("num_attention_heads", 16), SIZE("rotary_dim", 64),
    INT_NULL("n_inner"), TEXT("activation_function", "gelu_new"), REAL("resid_pdrop", 0.0),
    REAL("embd_pdrop", 0.0), REAL("attn_pdrop", 0.0), REAL("layer_norm_epsilon", 1e-5),
    BOOL("use_cache", 1), INT_NULL("pad_token_id"), BOOL("tie_word_embeddings", 0), END};

static const struct vram_class_key deepseek_v3[] = {
    SIZE("vocab_size", 129280), SIZE("hidden_size", 7168), SIZE("intermediate_size", 18432),
    SIZE("moe_intermediate_size", 2048), SIZE("num_hidden_layers", 61),
    SIZE("num_attention_heads", 128), INT_OR_NULL("num_key_value_heads", 128, VRAM_KEY_SIZE),
    SIZE("n_shared_experts", 1), SIZE("n_routed_experts", 256), BOOL("output_router_logits", 0),
    REAL("routed_scaling_factor", 2.5), SIZE("kv_lora_rank", 512),
    INT_OR_NULL("q_lora_rank", 1536, VRAM_KEY_SIZE), SIZE("qk_rope_head_dim", 64),
    INT_OR_NULL("v_head_dim", 128, VRAM_KEY_SIZE), SIZE("qk_nope_head_dim", 128),
    INT_OR_NULL("n_group", 8, 0), INT_OR_NULL("topk_group", 4, 0),
    INT_OR_NULL("num_experts_per_tok", 8, 0), INT_OR_NULL("first_k_dense_replace", 3, 0),
    BOOL("norm_topk_prob", 1), TEXT("hidden_act", "silu"), INT("max_position_embeddings", 4096, 0),
    REAL("rms_norm_eps", 1e-6), BOOL("use_cache", 1), INT_NULL("pad_token_id"),
    BOOL("tie_word_embeddings", 0), BOOL("rope_interleave", 1), BOOL("attention_bias", 0),
    REAL("attention_dropout", 0.0), INT("num_mtp_layers", 1, 0), END};

static const struct vram_class_key deepseek_v2[] = {
    SIZE("vocab_size", 102400), SIZE("hidden_size", 4096), SIZE("intermediate_size", 11008),
    SIZE("num_hidden_layers", 32), SIZE("num_attention_heads", 32), INT_NULL("num_key_value_heads"),
    TEXT("hidden_act", "silu"), INT("max_position_embeddings", 2048, 0), REAL("rms_norm_eps", 1e-6),
    BOOL("use_cache", 1), INT_NULL("pad_token_id"), BOOL("tie_word_embeddings", 0),
    BOOL("attention_bias", 0), REAL("attention_dropout", 0.0), BOOL("mlp_bias", 0),
    INT_NULL("head_dim"), INT("first_k_dense_replace", 0, 0), SIZE("kv_lora_rank", 512),
    INT_OR_NULL("q_lora_rank", 1536, VRAM_KEY_SIZE), INT_NULL("n_group"),
    SIZE("n_routed_experts", 64), BOOL("output_router_logits", 0), SIZE("n_shared_experts", 2),
    SIZE("qk_nope_head_dim", 128), SIZE("qk_rope_head_dim", 64), REAL("routed_scaling_factor", 1.0),
    INT_NULL("topk_group"), TEXT("topk_method", "greedy"), BOOL("norm_topk_prob", 0),
    SIZE("v_head_dim", 128), INT_NULL("num_experts_per_tok"), SIZE("moe_intermediate_size", 1407),
    END};

static const struct vram_class_key bloom[] = {
    SIZE("vocab_size", 250880), SIZE("hidden_size", 64), SIZE("num_hidden_layers", 2),
    SIZE("num_attention_heads", 8), REAL("layer_norm_epsilon", 1e-5), BOOL("use_cache", 1),
    INT_NULL("pad_token_id"), BOOL("apply_residual_connection_post_layernorm", 0),
    REAL("hidden_dropout", 0.0), REAL("attention_dropout", 0.0), INT("pretraining_tp", 1, 0),
    BOOL("slow_but_exact", 0), BOOL("tie_word_embeddings", 1), END};

static const struct vram_class_key mpt[] = {
    SIZE("hidden_size", 2048), SIZE("num_attention_heads", 16), SIZE("num_hidden_layers", 24),
    INT("expansion_ratio", 4, 0), SIZE("max_seq_len", 2048), SIZE("vocab_size", 50368),
    REAL("resid_pdrop", 0.0), REAL("layer_norm_epsilon", 1e-5), REAL("emb_pdrop", 0.0),
    BOOL("use_cache", 0), BOOL("tie_word_embeddings", 1), INT_NULL("pad_token_id"), END};
static const struct vram_class_key mpt_attention[] = {
    REAL("attn_pdrop", 0.0), REAL_NULL("clip_qkv"), REAL_NULL("softmax_scale"), BOOL("alibi", 1),
    END};
static const struct vram_class_part mpt_parts[] = {
    {"attn_config", "mpt_attention", true, NULL, false}, {NULL, NULL, false, NULL, false}};

static const struct vram_class_name gpt2_names[] = {{"n_embd", "hidden_size"},
                                                    {"n_layer", "num_hidden_layers"},
                                                    {"n_head", "num_attention_heads"},
                                                    {"n_positions", "max_position_embeddings"},
                                                    {NULL, NULL}};

static const struct vram_class_name distilbert_names[] = {{"dim", "hidden_size"},
                                                          {"n_layers", "num_hidden_layers"},
                                                          {"n_heads", "num_attention_heads"},
                                                          {NULL, NULL}};

static const struct vram_class_name falcon_names[] = {{"n_embed", "hidden_size"}, {NULL, NULL}};

static const struct vram_class_name mixtral_names[] = {{"num_experts", "num_local_experts"},
                                                       {NULL, NULL}};

static const struct vram_class_name qwen3_moe_names[] = {{"num_local_experts", "num_experts"},
                                                         {NULL, NULL}};

static const struct vram_class_name deepseek_names[] = {{"num_local_experts", "n_routed_experts"},
                                                        {"num_experts", "n_routed_experts"},
                                                        {NULL, NULL}};

static const struct vram_class_name bloom_names[] = {{"n_layer", "num_hidden_layers"},
                                                     {"n_head", "num_attention_heads"},
                                                     {"n_embed", "hidden_size"},
                                                     {NULL, NULL}};

static const struct vram_class_name mpt_names[] = {{"d_model", "hidden_size"},
                                                   {"n_layers", "num_hidden_layers"},
                                                   {"n_heads", "num_attention_heads"},
                                                   {NULL, NULL}};

static const struct vram_class_name t5_names[] = {{"d_model", "hidden_size"},
                                                  {"num_layers", "num_hidden_layers"},
                                                  {"num_heads", "num_attention_heads"},
                                                  {"d_kv", "head_dim"},
                                                  {NULL, NULL}};

const struct vram_class vram_text_classes[] = {
    {"bert", bert, NULL, true, NULL, NULL},
    {"falcon", falcon, NULL, true, vram_derive_falcon, falcon_names},
    {"gemma2", gemma2, NULL, true, NULL, NULL},
    {"gemma3_text", gemma3_text, NULL, true, NULL, NULL},
    {"gpt2", gpt2, NULL, true, NULL, gpt2_names},
    {"gpt_neox", gpt_neox, NULL, true, NULL, NULL},
    {"mixtral", mixtral, NULL, false, vram_derive_decoder, mixtral_names},
    {"opt", opt, NULL, true, vram_derive_opt, NULL},
    {"phi", phi, NULL, false, vram_derive_decoder, NULL},
    {"phi3", phi3, NULL, false, vram_derive_decoder, NULL},
    {"qwen2_moe", qwen2_moe, NULL, false, vram_derive_qwen2_moe, NULL},
    {"qwen3_moe", qwen3_moe, NULL, false, vram_derive_qwen, qwen3_moe_names},
    {"t5", t5, NULL, false, vram_derive_t5, t5_names},
    {"olmo", olmo, NULL, false, vram_derive_decoder, NULL},
    {"olmo2", olmo2, NULL, false, vram_derive_decoder, NULL},
    {"granite", granite, NULL, false, vram_derive_decoder, NULL},
    {"starcoder2", starcoder2, NULL, false, vram_derive_decoder, NULL},
    {"stablelm", stablelm, NULL, false, NULL, NULL},
    {"cohere", cohere, NULL, false, vram_derive_decoder, NULL},
    {"roberta", roberta, NULL, true, NULL, NULL},
    {"distilbert", distilbert, NULL, true, NULL, distilbert_names},
    {"gpt_oss", gpt_oss, NULL, false, vram_derive_decoder, mixtral_names},
    {"gptj", gptj, NULL, true, NULL, gpt2_names},
    {"deepseek_v3", deepseek_v3, NULL, false, NULL, deepseek_names},
    {"deepseek_v2", deepseek_v2, NULL, false, vram_derive_deepseek, deepseek_names},
    {"bloom", bloom, NULL, true, NULL, bloom_names},
    {"mpt", mpt, mpt_parts, true, NULL, mpt_names},
    {"mpt_attention", mpt_attention, NULL, false, NULL, NULL},
    {NULL, NULL, NULL, false, NULL, NULL},
};
