# SPDX-License-Identifier: Apache-2.0
"""make_reference.py SEED SECONDS OUT [CONFIG...]: random plans run by the real framework.

Needs an interpreter with torch and transformers, and the training oracle beside the project
(../shared/oracle).  Draws plans over small configs of the known families and their odd variants, runs
each, and writes OUT/NAME.json (config and plan) and OUT/NAME.events.gz (`a BYTES`, `f NUMBER`,
`p PHASE`; storages are numbered in order of allocation).  What is kept in reference/ is replayed by
reference.py; a campaign compares everything: `reference.py VRAMCAST OUT`.  Families of tests/templates are run when
they are named.  CONFIG names one of those
below, or one that a case in reference/ or OUT has (NAME-SEED-NUMBER.json: {"config": ...}).
"""
import copy
import functools
import glob
import gzip
import json
import os
import random
import re
import sys
import time

import small
from common import shared

sys.path.insert(0, shared("oracle"))
import oracle  # noqa: E402 (its folder is known only now)
import tiny  # noqa: E402
import variants  # noqa: E402

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

# model_type: what its inputs have
TEXT = {"seq_len": [64, 64, 96, 50]}
PICTURES = dict(TEXT, images=[1, 1, 1, 2, 0])
ALWAYS = dict(TEXT, images=[1, 1, 2])  # where a batch without pictures is not run
INPUTS = {
    "llava": PICTURES, "vipllava": PICTURES, "paligemma": PICTURES,
    "gemma3": dict(PICTURES, seq_len=[96, 128]),
    "llava_next": dict(PICTURES, seq_len=[200, 256]),
    "qwen2_vl": dict(PICTURES, seq_len=[96, 130], image_size=[[56, 84], [140, 112], [84, 84]]),
    "qwen2_5_vl": dict(PICTURES, seq_len=[96, 130], image_size=[[112, 140], [196, 84], [56, 56]]),
    "internvl": dict(ALWAYS, seq_len=[128, 200], tiles=[1, 2, 3]),
    "idefics3": dict(ALWAYS, seq_len=[128, 200], tiles=[1, 3]),
    "smolvlm": dict(ALWAYS, seq_len=[128, 200], tiles=[1, 4]),
    "llava_onevision": {"seq_len": [300, 400], "images": [1],
                        "image_size": [[112, 112], [200, 100], [56, 170], [300, 220]]},
    "blip-2": ALWAYS,
    "mllama": ALWAYS, "qwen2_audio": {"seq_len": [40, 64], "images": [1]},
    "whisper": {"seq_len": [12, 32]},
    "clip": {"seq_len": [16, 12]}, "siglip": {"seq_len": [16, 12]},
    "vit": {}, "dinov2": {"image_size": [None, [96, 80]]},
}
PARTS = ("vision", "audio", "projector", "decoder")
HEADED = ("vit", "dinov2")
GENERATE = """llama mistral qwen2 qwen3 gemma llava llava_next gemma3_text gemma3 internvl gemma2 phi phi3 gpt2 gptj gpt_neox opt falcon bloom mpt granite olmo olmo2 starcoder2 stablelm cohere mixtral qwen2_moe qwen3_moe idefics3 smolvlm
llava_onevision mistral3 vipllava qwen2_vl qwen2_5_vl gpt_neo""".split()


def inputs_of(config):
    vision = config.get("vision_config", {})
    if vision.get("model_type") == "pixtral":  # whole patches that are not shrunk
        unit = vision["patch_size"] * config.get("spatial_merge_size", 1)
        most = vision["image_size"] // unit * unit
        half = vision["image_size"] // unit // 2 * unit
        return dict(ALWAYS, image_size=[[most, half], [half, most], [half, half]])
    return INPUTS.get(config["model_type"], TEXT)


def configs(out_folder):
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
    towers = {"clip": ("llava-1.5-7b", "CLIPVisionModel"), "siglip": ("paligemma-3b-224", "SiglipVisionModel")}
    for name, (family, cls) in towers.items():
        vision = {k: v for k, v in out[family]["vision_config"].items() if k != "vision_use_head"}
        out["tower-" + name] = dict(vision, architectures=[cls])
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference")
    for path in glob.glob(here + "/*-*-*.json") + glob.glob(out_folder + "/*-*-*.json"):
        name = re.sub(r"-\d+-\d+\.json$", "", os.path.basename(path))
        if name.endswith(".json"):  # a run that was not drawn
            continue
        if name not in out:
            out[name] = json.load(open(path))["config"]
    out.update(small.SMALL)
    return out

# last names of modules; a plan whose names the model has not is refused
LORA = [["q_proj", "v_proj", "query_key_value", "c_attn", "qkv_proj", "query", "q_lin"],
        ["k_proj", "down_proj", "fc1", "linear_1", "dense", "c_proj", "wo"]]

def generate(new_tokens):
    """In place of the oracle's single forward: generate(), greedily, with its cache."""
    import torch
    from transformers import masking_utils
    fast_all, is_tracing = masking_utils.fast_all, masking_utils.is_tracing

    def run(model, plan, tracker, builder):
        oracle.register_model(model, tracker)
        tracker.set_phase("forward")
        made = oracle.fresh_inputs(builder, tracker)
        made.pop("labels", None)
        # without padding a mask of ones is left away; only its values would tell
        ones = plan["attention"] == "flash"
        masking_utils.fast_all = (lambda mask: True) if ones else fast_all
        masking_utils.is_tracing = (lambda x=None: False) if ones else is_tracing
        forward, calls = model.forward, []

        @functools.wraps(forward)
        def counted(*args, **kwargs):
            calls.append(1)
            if len(calls) == 2:
                tracker.set_phase("decode")
            return forward(*args, **kwargs)
        model.forward = counted
        model.config.use_cache = True
        try:
            with torch.no_grad():
                model.generate(**made, max_new_tokens=new_tokens, do_sample=False, eos_token_id=None,
                               pad_token_id=0, use_cache=True)
        finally:
            masking_utils.fast_all, masking_utils.is_tracing = fast_all, is_tracing
        return {}
    return run


def packed(make_model, weights):
    """The oracle's make_model, with bitsandbytes' 4-bit Linears where transformers would put them."""
    import bitsandbytes
    import torch
    from bitsandbytes.functional import QuantState

    def state(n, shape, dtype):
        f32 = {"dtype": torch.float32, "device": "cuda"}
        made = dict(shape=shape, blocksize=64, quant_type="nf4", dtype=dtype, code=torch.empty(16, **f32))
        if weights == "nf4":
            return QuantState(absmax=torch.empty(-(-n // 64), **f32), **made)
        inner = QuantState(absmax=torch.empty(-(-(-(-n // 64)) // 256), **f32), blocksize=256,
                           code=packed.code, dtype=torch.float32)
        return QuantState(absmax=torch.empty(-(-n // 64), dtype=torch.uint8, device="cuda"),
                          offset=torch.empty((), **f32), state2=inner, **made)

    def run(config, data, plan, device="cuda"):
        model = make_model(config, data, plan, device)
        packed.code = torch.empty(256, device="cuda")
        head = model.get_output_embeddings()
        dtype = oracle.DTYPES[plan["precision"]]
        compute = oracle.AUTOCAST.get(plan["precision"]) or dtype
        for name, module in list(model.named_modules()):
            for key, child in list(module.named_children()):
                if not isinstance(child, torch.nn.Linear) or child is head:
                    continue
                new = bitsandbytes.nn.Linear4bit.__new__(bitsandbytes.nn.Linear4bit)
                torch.nn.Module.__init__(new)
                new.in_features, new.out_features = child.in_features, child.out_features
                new.compute_dtype, new.compute_type_is_set = compute, True
                new.quant_storage, new.support_avx512bf16_for_cpu = torch.uint8, False
                n = child.weight.numel()
                data_ = torch.empty((n + 1) // 2, 1, dtype=torch.uint8, device="cuda")
                new.weight = torch.nn.Parameter(data_, requires_grad=False)  # fakes have no subclass
                for attribute, value in dict(
                        quant_state=state(n, child.weight.shape, dtype), blocksize=64, module=new,
                        compress_statistics=weights != "nf4", quant_type="nf4",
                        bnb_quantized=True).items():
                    setattr(new.weight, attribute, value)
                new.bias = child.bias
                new.quant_state = new.weight.quant_state
                module.register_module(key, new)
        model.is_loaded_in_4bit = True
        return model
    return run


def labelled(Builder):
    """The oracle's batches, with one label a row where a sequence is classified."""
    class Labelled(Builder):
        def text(self):
            made = super().text() if "ForSequenceClassification" not in type(self.model).__name__ else None
            if made is None:
                zeros = sys.modules[Builder.__module__].cuda
                made = {"input_ids": zeros(self.batch, self.seq), "labels": zeros(self.batch),
                        "attention_mask": zeros(self.batch, self.seq)}
                self.unused = [] if self.masked else ["attention_mask"]
            return made
    return Labelled


def draw_training(rng, config, inputs, head=True):
    modes = ["full", "frozen", "lora"]
    if "images" in inputs:
        unused = "vision" if config["model_type"] == "qwen2_audio" else "audio"
        train = {part: rng.choice(modes) for part in PARTS if part != unused}
        if set(train.values()) == {"frozen"}:
            train["decoder"] = "full"
        return train
    if inputs is not TEXT:
        train = {"default": rng.choice(["full", "lora"])}
        if config["model_type"] in HEADED:
            train["head"] = "full"
        return train
    train = {"default": rng.choice(["full", "lora"])}
    if head and rng.random() < 0.2:
        train["lm_head"] = rng.choice(["full", "frozen"])
    return train


def draw(rng, name, config, generation=0.1):
    inputs = inputs_of(config)
    plan = {"micro_batch": rng.choice([1, 1, 2, 3])}
    if "seq_len" in inputs:
        plan["seq_len"] = rng.choice(inputs["seq_len"])
    plan.update(precision=rng.choice(["bf16", "bf16", "fp32", "bf16-mixed", "fp16-mixed",
                                      "bf16-autocast"]),
                attention=rng.choice(["flash", "flash", "efficient", "eager", "math"]))
    if "moe" in name or "mixtral" in name or "a3b" in name:  # fake grouped products are of bf16
        plan["precision"] = rng.choice(["bf16", "bf16-autocast"])
    for key in ("images", "image_size", "tiles"):
        if key in inputs:
            plan[key] = rng.choice(inputs[key])
    if rng.random() < 0.08:
        return dict(plan, mode="infer", precision=rng.choice(["bf16", "fp32"]), steps=1)
    if rng.random() < generation and config["model_type"] in GENERATE:
        return dict(plan, mode="infer", precision=rng.choice(["bf16", "fp32"]), steps=1,
                    micro_batch=rng.choice([2, 3]), new_tokens=rng.choice([1, 2, 5, 9]))
    train = draw_training(rng, config, inputs, head="distil" not in name)  # the oracle knows no head there
    plan.update(steps=rng.choice([1, 2, 2, 3]), train=train, clip_grad=rng.random() < 0.8,
                gradient_checkpointing=rng.choice(["off", "off", "on", "reentrant"]),
                optimizer=rng.choice(["adamw_fused", "adamw_foreach", "sgd", "sgd_momentum",
                                      "adafactor", "none"]),
                grad_accumulation=rng.choice([1, 1, 2, 3]))
    if "lora" in train.values() and set(train.values()) <= {"lora", "frozen"} and "mixed" not in plan["precision"] and rng.random() < 0.3:
        plan["weights"] = rng.choice(["nf4", "nf4-dq"])
    if "lora" in train.values():
        plan["lora"] = {"rank": rng.choice([4, 8]), "alpha": 16, "dropout": rng.choice([0.0, 0.05]),
                        "targets": rng.choice(["all-linear", "all-linear"] + LORA)}
    return plan


def compact(source, target, without=None):
    """without: an input that is left out, as generate() is handed none; "": one that the oracle itself
    makes and drops (labels of a tower)."""
    with gzip.GzipFile(target, "wb", mtime=0) as out:
        number, skipped, phase = {}, set(), ""
        for line in gzip.open(source, "rt"):
            event = json.loads(line)
            phase = event.get("phase", phase)
            made = phase.endswith(("inputs", "forward")) and event.get("op") == "zeros.default"
            if "alloc" in event and event["module"] == without and (without or made):
                skipped.add(event["alloc"])
            if event.get("alloc", event.get("free")) in skipped:
                continue
            if "phase" in event:
                text = "p " + event["phase"]
            elif "alloc" in event:
                number[event["alloc"]] = len(number)
                text = "a %d" % event["bytes"]
            else:
                text = "f %d" % number[event["free"]]
            out.write((text + "\n").encode())


# keys of a plan that the oracle does not know
OURS = ("new_tokens", "weights", "kernels", "selective", "dora", "bias", "modules_to_save", "rank_pattern")


def record(config, plan, to):
    """One run; a plan that the framework itself refuses leaves no files."""
    more = {key: plan.pop(key) for key in OURS if plan.get(key)}
    new_tokens = more.get("new_tokens", 0)
    work = to + ".config.tmp"
    json.dump(config, open(work, "w"))
    if "weights" in more:
        oracle.make_model = packed(oracle.make_model, more["weights"])
    if new_tokens:
        oracle.infer = generate(new_tokens)
    variants.careful_sums()
    try:
        if "kernels" in more:
            getattr(variants, more["kernels"])()
        if "selective" in more:
            variants.selective()
        adapters = {key: more[key] for key in ("dora", "bias", "modules_to_save", "rank_pattern") if key in more}
        if adapters:
            variants.adapters(**adapters)
        result = oracle.execute(work, dict(plan), to + ".tmp.gz")
        json.dump({"config": config, "plan": dict(result["plan"], **more)}, open(to + ".json", "w"))
        without = "labels" if new_tokens else "" if os.path.basename(to).startswith("tower") else None
        compact(to + ".tmp.gz", to + ".events.gz", without=without)
        os.remove(to + ".tmp.gz")
        print(os.path.basename(to), flush=True)
    except Exception as error:
        print(os.path.basename(to), "refused:", repr(error)[:200], flush=True)
    finally:
        os.remove(work)


def main():
    seed, seconds, out = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    every = configs(out)
    names = sys.argv[4:] or list(every)
    every.update(small.USERS)
    rng, end, made = random.Random(seed), time.time() + seconds, 0
    import inputs as builders
    builders.Builder = labelled(builders.Builder)
    os.makedirs(out, exist_ok=True)
    while time.time() < end:
        name = rng.choice(names)
        plan = draw(rng, name, every[name])
        made += 1
        child = os.fork()  # what is patched in the framework dies with it
        if not child:
            record(every[name], plan, os.path.join(out, "%s-%d-%03d" % (name, seed, made)))
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
