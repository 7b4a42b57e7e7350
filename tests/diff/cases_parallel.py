# SPDX-License-Identifier: Apache-2.0
"""What record_parallel.py runs: {name: (config, plan)}."""
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 96,
         "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 128,
         "max_position_embeddings": 64, "tie_word_embeddings": False, "pad_token_id": 0}
QWEN3 = dict(LLAMA, model_type="qwen3", architectures=["Qwen3ForCausalLM"], head_dim=16)


def plan(*more, **keys):
    return dict({"mode": "train", "micro_batch": 1, "seq_len": 32, "images": 0, "image_size": None, "precision": "bf16",
                 "train": {"default": "full"}, "lora": None, "gradient_checkpointing": "off", "attention": "eager",
                 "optimizer": "adamw_fused", "grad_accumulation": 1, "steps": 2, "clip_grad": True,
                 "more": list(more)}, **keys)


MOE = {"num_experts_per_tok": 2, "moe_intermediate_size": 32}


def like(model_type, architecture, **keys):
    return dict(LLAMA, model_type=model_type, architectures=[architecture], **keys)


FOUR = dict(LLAMA, num_hidden_layers=4)
MIXTRAL = like("mixtral", "MixtralForCausalLM", num_local_experts=4, num_experts_per_tok=2)
PHI3 = like("phi3", "Phi3ForCausalLM")
BIASED = dict(LLAMA, attention_bias=True, mlp_bias=True)
CASES = {
    "tp-llama": (LLAMA, plan("tp=2")),
    "tp-qwen3": (QWEN3, plan("tp=2", grad_accumulation=2)),
    "tp-tied": (dict(LLAMA, tie_word_embeddings=True), plan("tp=2")),
    "tp-bias": (BIASED, plan("tp=2", precision="fp32")),
    "tp-uneven": (dict(LLAMA, num_key_value_heads=4, vocab_size=129, intermediate_size=90), plan("tp=4")),
    "tp-foreach": (LLAMA, plan("tp=2", optimizer="adamw_foreach")),
    "tp-sgd": (LLAMA, plan("tp=2", optimizer="sgd", clip_grad=False)),
    "tp-checkpoint": (dict(QWEN3, num_key_value_heads=4),
                      plan("tp=4", gradient_checkpointing="on", precision="fp32")),
    "tp-gemma": (like("gemma", "GemmaForCausalLM", head_dim=16, tie_word_embeddings=True), plan("tp=2")),
    "tp-gemma3": (like("gemma3_text", "Gemma3ForCausalLM", head_dim=16), plan("tp=2")),
    "tp-olmo2": (like("olmo2", "Olmo2ForCausalLM"), plan("tp=2")),
    "tp-phi": (like("phi", "PhiForCausalLM"), plan("tp=2", precision="fp32")),
    "tp-phi3": (PHI3, plan("tp=2")),
    "tp-starcoder2": (like("starcoder2", "Starcoder2ForCausalLM"), plan("tp=2", precision="fp32")),
    "tp-mixtral": (MIXTRAL, plan("tp=2")),
    "tp-qwen3-moe": (like("qwen3_moe", "Qwen3MoeForCausalLM", head_dim=16, num_experts=4, decoder_sparse_step=1,
                          mlp_only_layers=[], **MOE), plan("tp=2")),
    "tp-deepseek-v2": (like("deepseek_v2", "DeepseekV2ForCausalLM", kv_lora_rank=16, q_lora_rank=None,
                            qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=16, n_routed_experts=4,
                            n_shared_experts=1, first_k_dense_replace=1, num_key_value_heads=4, head_dim=8, **MOE),
                       plan("tp=2")),
    "ep-mixtral": (MIXTRAL, plan("tp=2", "ep=2")),
    "ep-four": (dict(MIXTRAL, num_key_value_heads=4), plan("tp=4", "ep=4", micro_batch=2, optimizer="adamw_foreach")),
    "ep-checkpoint": (MIXTRAL, plan("tp=2", "ep=2", gradient_checkpointing="on")),
    "ep-qwen3-moe": (like("qwen3_moe", "Qwen3MoeForCausalLM", head_dim=16, num_experts=4, decoder_sparse_step=1,
                          mlp_only_layers=[], **MOE), plan("tp=2", "ep=2")),
    "ep-infer": (MIXTRAL, plan("tp=2", "ep=2", mode="infer")),
    "pp-first": (LLAMA, plan("pp=2", "rank=0", grad_accumulation=3)),
    "pp-last": (LLAMA, plan("pp=2", "rank=1", grad_accumulation=3)),
    "pp-middle": (FOUR, plan("pp=4", "rank=1", grad_accumulation=6, precision="fp32")),
    "pp-widest": (FOUR, plan("pp=4", "rank=0", grad_accumulation=4, micro_batch=2)),
    "pp-tied-first": (dict(FOUR, tie_word_embeddings=True), plan("pp=3", "rank=0", grad_accumulation=3)),
    "pp-tied-last": (dict(FOUR, tie_word_embeddings=True), plan("pp=3", "rank=2", grad_accumulation=3)),
    "pp-checkpoint": (dict(QWEN3, num_hidden_layers=4),
                      plan("pp=2", "rank=1", grad_accumulation=4, gradient_checkpointing="on")),
    "pp-uneven": (dict(LLAMA, num_hidden_layers=5), plan("pp=3", "rank=1", optimizer="sgd", grad_accumulation=3)),
    "tp-infer": (BIASED, plan("tp=2", mode="infer", precision="fp32")),
    "tp-infer-phi3": (PHI3, plan("tp=2", mode="infer")),
}
