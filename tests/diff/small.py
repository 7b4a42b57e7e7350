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

SMALL = {}
