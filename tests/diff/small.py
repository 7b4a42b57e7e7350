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
    "gemma3-text": config("gemma3_text", "Gemma3ForCausalLM", head_dim=16, num_key_value_heads=2,
                          sliding_window=40, sliding_window_pattern=2, num_hidden_layers=3),
    "gemma3-text-near": config("gemma3_text", "Gemma3ForCausalLM", head_dim=16, num_key_value_heads=1,
                               attention_dropout=0.1, final_logit_softcapping=30.0),
}
