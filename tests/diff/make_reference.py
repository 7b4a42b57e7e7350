# SPDX-License-Identifier: Apache-2.0
"""make_reference.py SEED SECONDS OUT [CONFIG...]: random plans run by the real framework.

Needs an interpreter with torch and transformers, and the training oracle beside the project
(../shared/oracle).  Draws plans over small configs of the known families and their odd variants, runs
each, and writes OUT/NAME.json (config and plan) and OUT/NAME.events.gz (`a BYTES`, `f NUMBER`,
`p PHASE`; storages are numbered in order of allocation).  Families of tests/templates are run when
they are named.  What is kept in reference/ is replayed by
reference.py; a campaign compares everything: `reference.py VRAMCAST OUT`.
"""
import copy
import gzip
import json
import os
import random
import sys
import time

import small
from common import shared

sys.path.insert(0, shared("oracle"))
import oracle  # noqa: E402 (its folder is known only now)
import tiny  # noqa: E402

FAMILIES = """llava-1.5-7b llava-next-mistral-7b paligemma-3b-224 llama-2-7b llama-3-8b llama-3.2-1b
mistral-7b qwen2-7b qwen2.5-0.5b qwen3 gemma-2b gemma2-2b gpt2 phi-2 pythia-1b opt-1.3b
phi-3-mini-4k mixtral-8x7b qwen1.5-moe-a2.7b qwen3-30b-a3b falcon-7b bert-base-uncased t5-base""".split()

# name: (family, keys that differ)
VARIANTS = {
    "mistral-window": ("mistral-7b", {"sliding_window": 48}),
    "qwen2-window": ("qwen2-7b", {"use_sliding_window": True, "sliding_window": 40,
                                  "max_window_layers": 1}),
    "llama-bias": ("llama-3-8b", {"attention_bias": True, "mlp_bias": True}),
    "llama-head-dim": ("llama-3-8b", {"head_dim": 32}),
    "llama-gelu": ("llama-2-7b", {"hidden_act": "gelu"}),
    "gemma-kv2": ("gemma-2b", {"num_key_value_heads": 2}),
    "gemma2-window": ("gemma2-2b", {"sliding_window": 40, "attn_logit_softcapping": None,
                                    "attention_dropout": 0.1}),
    "gemma2-no-cap": ("gemma2-2b", {"final_logit_softcapping": None}),
    "gpt2-inner": ("gpt2", {"n_inner": 96, "activation_function": "gelu", "resid_pdrop": 0.0}),
    "neox-serial": ("pythia-1b", {"use_parallel_residual": False, "attention_dropout": 0.1,
                                  "hidden_dropout": 0.1, "attention_bias": False}),
    "phi-norms": ("phi-2", {"qk_layernorm": True, "embd_pdrop": 0.1, "num_key_value_heads": 2,
                            "attention_dropout": 0.1}),
    "phi3-window": ("phi-3-mini-4k", {"sliding_window": 40, "resid_pdrop": 0.1,
                                      "num_key_value_heads": 2}),
    "phi3-partial": ("phi-3-mini-4k", {"partial_rotary_factor": 0.5, "sliding_window": None}),
    "t5-gated": ("t5-base", {"feed_forward_proj": "gated-gelu", "num_decoder_layers": 3}),
    "t5-silu": ("t5-base", {"feed_forward_proj": "gated-silu", "dropout_rate": 0.0, "d_kv": 8}),
    "bert-plain": ("bert-base-uncased", {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
                                         "hidden_act": "relu", "tie_word_embeddings": False}),
    "falcon-groups": ("falcon-7b", {"new_decoder_architecture": True, "num_kv_heads": 2}),
    "falcon-one-norm": ("falcon-7b", {"new_decoder_architecture": True, "num_kv_heads": 4,
                                      "num_ln_in_parallel_attn": 1, "hidden_dropout": 0.1}),
    "falcon-serial": ("falcon-7b", {"parallel_attn": False, "multi_query": False, "bias": True,
                                    "attention_dropout": 0.1, "ffn_hidden_size": 96}),
    "mixtral-window": ("mixtral-8x7b", {"sliding_window": 40}),
    "qwen2-moe-mixed": ("qwen1.5-moe-a2.7b", {"decoder_sparse_step": 2, "norm_topk_prob": True,
                                              "num_hidden_layers": 3, "qkv_bias": False}),
    "qwen2-moe-window": ("qwen1.5-moe-a2.7b", {"use_sliding_window": True, "sliding_window": 40}),
    "qwen3-moe-plain": ("qwen3-30b-a3b", {"mlp_only_layers": [0], "norm_topk_prob": False}),
    "opt-after": ("opt-1.3b", {"do_layer_norm_before": False, "word_embed_proj_dim": 32,
                               "attention_dropout": 0.1, "enable_bias": False}),
    "llava-full": ("llava-1.5-7b", {"vision_feature_select_strategy": "full"}),
    "llava-layers": ("llava-1.5-7b", {"vision_feature_layer": [-2, -1]}),
    "llava-no-bias": ("llava-1.5-7b", {"multimodal_projector_bias": False,
                                       "projector_hidden_act": "relu"}),
}


def configs():
    out = {}
    for family in FAMILIES:
        out[family] = tiny.shrink(json.load(open(shared("golden", "train", family, "config.json"))))
    for name, (family, keys) in VARIANTS.items():
        out[name] = dict(copy.deepcopy(out[family]), **keys)
    for name, text in (("llava-qwen2", "qwen2-7b"), ("llava-mistral", "mistral-7b")):
        decoder = {k: v for k, v in out[text].items() if k != "architectures"}
        out[name] = dict(copy.deepcopy(out["llava-1.5-7b"]), text_config=decoder)
    out["llava-siglip"] = dict(copy.deepcopy(out["llava-1.5-7b"]), vision_feature_layer=-1,
                               vision_feature_select_strategy="full",
                               vision_config=out["paligemma-3b-224"]["vision_config"])
    out.update(small.SMALL)
    return out

# last names of modules; a plan whose names the model has not is refused
LORA = [["q_proj", "v_proj", "query_key_value", "c_attn", "qkv_proj", "query", "q_lin"],
        ["k_proj", "down_proj", "fc1", "linear_1", "dense", "c_proj", "wo"]]


def draw_training(rng, pictures, head=True):
    modes = ["full", "frozen", "lora"]
    if pictures:
        train = {part: rng.choice(modes) for part in ("vision", "projector", "decoder")}
        if set(train.values()) == {"frozen"}:
            train["decoder"] = "full"
        return train
    train = {"default": rng.choice(["full", "lora"])}
    if head and rng.random() < 0.2:
        train["lm_head"] = rng.choice(["full", "frozen"])
    return train


def draw(rng, name):
    pictures = "llava" in name or "paligemma" in name
    plan = {"micro_batch": rng.choice([1, 1, 2, 3]), "seq_len": rng.choice([64, 64, 96, 50]),
            "precision": rng.choice(["bf16", "bf16", "fp32", "bf16-mixed", "fp16-mixed",
                                     "bf16-autocast"]),
            "attention": rng.choice(["flash", "flash", "efficient", "eager", "math"])}
    if "moe" in name or "mixtral" in name or "a3b" in name:  # fake grouped products are of bf16
        plan["precision"] = rng.choice(["bf16", "bf16-autocast"])
    if "next" in name:
        plan["seq_len"] = rng.choice([200, 256])
    if pictures:
        plan["images"] = rng.choice([1, 1, 1, 2, 0])
    if rng.random() < 0.08:
        return dict(plan, mode="infer", precision=rng.choice(["bf16", "fp32"]), steps=1)
    train = draw_training(rng, pictures, head="distil" not in name)  # the oracle knows no head there
    plan.update(steps=rng.choice([1, 2, 2, 3]), train=train, clip_grad=rng.random() < 0.8,
                gradient_checkpointing=rng.choice(["off", "off", "on", "reentrant"]),
                optimizer=rng.choice(["adamw_fused", "adamw_foreach", "sgd", "sgd_momentum",
                                      "adafactor", "none"]),
                grad_accumulation=rng.choice([1, 1, 2, 3]))
    if "lora" in train.values():
        plan["lora"] = {"rank": rng.choice([4, 8]), "alpha": 16, "dropout": rng.choice([0.0, 0.05]),
                        "targets": rng.choice(["all-linear", "all-linear"] + LORA)}
    return plan


def compact(source, target):
    with gzip.GzipFile(target, "wb", mtime=0) as out:
        number = {}
        for line in gzip.open(source, "rt"):
            event = json.loads(line)
            if "phase" in event:
                text = "p " + event["phase"]
            elif "alloc" in event:
                number[event["alloc"]] = len(number)
                text = "a %d" % event["bytes"]
            else:
                text = "f %d" % number[event["free"]]
            out.write((text + "\n").encode())


def main():
    seed, seconds, out = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    every = configs()
    names = sys.argv[4:] or list(every)
    every.update(small.USERS)
    rng, end, made = random.Random(seed), time.time() + seconds, 0
    os.makedirs(out, exist_ok=True)
    work = os.path.join(out, "config.tmp.json")
    while time.time() < end:
        name = rng.choice(names)
        plan = draw(rng, name)
        made += 1
        to = os.path.join(out, "%s-%d-%03d" % (name, seed, made))
        json.dump(every[name], open(work, "w"))
        try:
            result = oracle.execute(work, dict(plan), to + ".tmp.gz")
        except Exception as error:  # a plan that the framework itself refuses
            print(os.path.basename(to), "refused:", repr(error)[:200], flush=True)
            continue
        json.dump({"config": every[name], "plan": result["plan"]}, open(to + ".json", "w"))
        compact(to + ".tmp.gz", to + ".events.gz")
        os.remove(to + ".tmp.gz")
        print(os.path.basename(to), flush=True)
    os.remove(work)


if __name__ == "__main__":
    main()
