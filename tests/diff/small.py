# SPDX-License-Identifier: Apache-2.0
"""Small configs of families that have no result among the reference data, and their odd variants."""

BASE = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
        "vocab_size": 512, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1}


def config(model_type, head, **keys):
    return dict(BASE, model_type=model_type, architectures=[head], **keys)


# described by tests/templates/NAME, by nothing in the library
USERS = {
    "persimmon": config("persimmon", "PersimmonForCausalLM", partial_rotary_factor=0.5),
    "persimmon-plain": config("persimmon", "PersimmonForCausalLM", qk_layernorm=False, hidden_act="gelu",
                              hidden_dropout=0.1, attention_dropout=0.1),
}

SMALL = {
    "cohere": config("cohere", "CohereForCausalLM", num_key_value_heads=2),
    "cohere-norms": config("cohere", "CohereForCausalLM", use_qk_norm=True, attention_bias=True,
                           tie_word_embeddings=False, attention_dropout=0.1),
    "gemma3-text": config("gemma3_text", "Gemma3ForCausalLM", head_dim=16, num_key_value_heads=2,
                          sliding_window=40, sliding_window_pattern=2, num_hidden_layers=3),
    "gemma3-text-near": config("gemma3_text", "Gemma3ForCausalLM", head_dim=16, num_key_value_heads=1,
                               attention_dropout=0.1, final_logit_softcapping=30.0),
    "deepseek-v3-moe": config("deepseek_v3", "DeepseekV3ForCausalLM", num_key_value_heads=4, q_lora_rank=48,
                              kv_lora_rank=32, qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=16,
                              n_routed_experts=8, moe_intermediate_size=64, num_experts_per_tok=2, n_group=4,
                              topk_group=2, first_k_dense_replace=1),
    "deepseek-v3-moe-plain": config("deepseek_v3", "DeepseekV3ForCausalLM", num_key_value_heads=4,
                                    q_lora_rank=None, kv_lora_rank=32, qk_nope_head_dim=16,
                                    qk_rope_head_dim=16, v_head_dim=32, n_routed_experts=8,
                                    moe_intermediate_size=64, num_experts_per_tok=3, n_group=1,
                                    topk_group=1, first_k_dense_replace=0, norm_topk_prob=False,
                                    rope_interleave=False, n_shared_experts=2),
    "deepseek-v2-moe": config("deepseek_v2", "DeepseekV2ForCausalLM", num_key_value_heads=4, q_lora_rank=None,
                              kv_lora_rank=32, qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=16,
                              n_routed_experts=8, moe_intermediate_size=64, num_experts_per_tok=2,
                              first_k_dense_replace=1),
    "deepseek-v2-moe-groups": config("deepseek_v2", "DeepseekV2ForCausalLM", num_key_value_heads=4,
                                     q_lora_rank=48, kv_lora_rank=32, qk_nope_head_dim=16,
                                     qk_rope_head_dim=16, v_head_dim=32, n_routed_experts=8,
                                     moe_intermediate_size=64, num_experts_per_tok=3, n_group=4,
                                     topk_group=2, topk_method="group_limited_greedy"),
    "distilbert": dict({k: v for k, v in BASE.items() if k in ("vocab_size", "pad_token_id")}, dim=64,
                       n_layers=2, n_heads=4, hidden_dim=128, model_type="distilbert",
                       architectures=["DistilBertForMaskedLM"]),
    "gpt-oss-moe": config("gpt_oss", "GptOssForCausalLM", num_key_value_heads=2, head_dim=16,
                          num_local_experts=4, num_experts_per_tok=2, sliding_window=40),
    "gpt-oss-moe-plain": config("gpt_oss", "GptOssForCausalLM", num_key_value_heads=4, head_dim=16,
                                num_local_experts=8, num_experts_per_tok=4, attention_bias=False,
                                attention_dropout=0.1, num_hidden_layers=3),
    "gptj": {"model_type": "gptj", "architectures": ["GPTJForCausalLM"], "n_embd": 64, "n_layer": 2,
             "n_head": 4, "rotary_dim": 8, "vocab_size": 512, "n_positions": 128},
    "gptj-whole": {"model_type": "gptj", "architectures": ["GPTJForCausalLM"], "n_embd": 64, "n_layer": 2,
                   "n_head": 4, "rotary_dim": 16, "vocab_size": 512, "n_positions": 128, "n_inner": 96,
                   "resid_pdrop": 0.1, "attn_pdrop": 0.1, "embd_pdrop": 0.1, "tie_word_embeddings": True},
    "roberta": config("roberta", "RobertaForMaskedLM", type_vocab_size=1, max_position_embeddings=130),
    "granite": config("granite", "GraniteForCausalLM", num_key_value_heads=2, residual_multiplier=0.2,
                      logits_scaling=8.0, embedding_multiplier=12.0, attention_multiplier=0.1),
    "granite-bias": config("granite", "GraniteForCausalLM", attention_bias=True, mlp_bias=True,
                           tie_word_embeddings=True, attention_dropout=0.1),
    "olmo": config("olmo", "OlmoForCausalLM", num_key_value_heads=2),
    "olmo-tied": config("olmo", "OlmoForCausalLM", tie_word_embeddings=True, attention_bias=True,
                        attention_dropout=0.1),
    "olmo2": config("olmo2", "Olmo2ForCausalLM", num_key_value_heads=2),
    "stablelm": config("stablelm", "StableLmForCausalLM", num_key_value_heads=2),
    "stablelm-parallel": config("stablelm", "StableLmForCausalLM", num_key_value_heads=4, use_qkv_bias=True,
                                use_parallel_residual=True, qk_layernorm=True, hidden_dropout=0.1),
    "starcoder2": config("starcoder2", "Starcoder2ForCausalLM", num_key_value_heads=2),
    "starcoder2-window": config("starcoder2", "Starcoder2ForCausalLM", num_key_value_heads=1,
                                sliding_window=40, residual_dropout=0.1, embedding_dropout=0.1,
                                use_bias=False, tie_word_embeddings=False),
}
