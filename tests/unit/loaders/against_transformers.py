# SPDX-License-Identifier: Apache-2.0
"""Class defaults and module paths against the real classes: against_transformers.py DUMP SHARED_DIR

Run by hand where Python has torch and transformers 5.24. Defaults: every value that the loaders fill
in must be the class's. Paths: the tensors of each shared checkpoint of a known family, under the
module paths the loaders give them, must be exactly the parameters of the class built on the meta
device.
"""
import csv, json, os, re, subprocess, sys, tempfile

import torch
import transformers
from transformers import CONFIG_MAPPING, AutoConfig

CASES = {  # model_type -> further configurations to try
    "llava": [{"text_config": {"model_type": "qwen2", "tie_word_embeddings": True},
               "vision_config": {"model_type": "siglip_vision_model"}}],
    "llava_next": [{"text_config": {"model_type": "mistral"}, "vision_config": {}}],
    "paligemma": [{"text_config": {}, "vision_config": {"image_size": 448, "patch_size": 14}}],
    "clip": [{"text_config": {"hidden_size": 64, "num_attention_heads": 4},
              "vision_config": {"image_size": [336, 336]}},
             {"text_config": {"eos_token_id": 2, "hidden_size": 64},
              "text_config_dict": {"hidden_size": 128, "projection_dim": 32}}],
    "clip_vision_model": [], "clip_text_model": [], "siglip": [], "siglip_vision_model": [],
    "siglip_text_model": [], "llama": [{"hidden_size": 2048, "num_attention_heads": 16}],
    "mistral": [{"head_dim": None, "hidden_size": 1024}],
    "qwen2": [{"use_sliding_window": True, "num_key_value_heads": None}],
    "qwen3": [{"head_dim": 64, "use_sliding_window": True}], "gemma": [{"hidden_act": "gelu"}],
    "pixtral": [{"hidden_size": 512}],
    "vit": [{"id2label": {"0": "a", "1": "b", "2": "c"}, "hidden_size": 96}], "dinov2": [],
    "qwen2_vl": [{"hidden_size": 1536, "num_attention_heads": 12, "use_sliding_window": True,
                  "vision_config": {"embed_dim": 64, "model_type": "qwen2_vl"}}],
    "internvl": [{"vision_config": {"image_size": [56, 56], "norm_type": "rms_norm"}}],
    "idefics3": [{"text_config": {"model_type": "mistral"}, "vision_config": {"image_size": 364}}],
    "gemma3": [{"text_config": {"hidden_size": 64}, "vision_config": {"vision_use_head": False}}],
    "gemma3_text": [{"sliding_window": 512}],
    "mistral3": [{"text_config": {"model_type": "mistral"}, "vision_config": {"hidden_size": 512}}],
    "whisper": [{"d_model": 64}], "qwen2_audio": [{"text_config": {"hidden_size": 64}}],
    "mllama": [{"text_config": {"num_hidden_layers": 8}, "vision_config": {"hidden_size": 640}}],
    "blip-2": [{"vision_config": {"hidden_size": 64}, "text_config": {"hidden_size": 240}}],
    "vipllava": [{"vision_feature_layer": [-2, 3], "text_config": {"hidden_size": 64}}],
    "smolvlm": [], "llava_onevision": [{"vision_aspect_ratio": "anyres_max_4", "text_config": {}}],
    "qwen2_5_vl": [{"text_config": {"tie_word_embeddings": True}, "vision_config": {"depth": 2}}],
    "bloom": [{"n_embed": 128, "n_layer": 3}], "mpt": [{"d_model": 128, "attn_config": {"clip_qkv": 8.0}}],
    "gemma2": [{"query_pre_attn_scalar": 128}], "gpt2": [{"n_embd": 64, "n_layer": 3, "n_head": 2, "n_positions": 99}],
    "gpt_neox": [{"rotary_pct": 0.5}], "opt": [{"hidden_size": 1152}],
    "phi": [{"num_key_value_heads": 8}], "phi3": [{"num_key_value_heads": 8}],
    "mixtral": [{"num_experts": 4}], "qwen2_moe": [{"use_sliding_window": True}],
    "qwen3_moe": [{"num_local_experts": 16, "use_sliding_window": True}],
    "falcon": [{"n_embed": 128, "num_attention_heads": 8}], "bert": [],
    "t5": [{"d_model": 64, "num_layers": 3, "num_heads": 2, "d_kv": 8}],
    "olmo": [{"num_key_value_heads": 8}], "olmo2": [], "granite": [], "starcoder2": [],
    "stablelm": [], "cohere": [], "roberta": [],
    "distilbert": [{"dim": 64, "n_layers": 3, "n_heads": 2}],
    "gptj": [{"n_embd": 64, "n_layer": 3, "n_head": 2, "n_positions": 99}],
    "gpt_oss": [{"num_experts": 8}], "deepseek_v2": [{"num_experts_per_tok": 6}],
    "deepseek_v3": [{"num_local_experts": 16}],
}
FAMILIES = {"llava", "llava_next", "llava-original", "paligemma", "llama", "mistral", "qwen2", "qwen3",
            "clip", "siglip", "vit", "dinov2", "qwen2_vl", "qwen2_5_vl", "internvl", "idefics3", "smolvlm",
            "llava_onevision", "gemma3", "gemma3_text", "mistral3", "whisper",
            "qwen2_audio", "mllama", "blip-2", "gemma2", "gpt2", "gpt_neox", "opt", "phi3", "mixtral", "qwen3_moe",
            "falcon", "deepseek_v2"}


def lines(dump, path):
    return subprocess.run([dump, path], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()


def attribute(config, path):
    for key in path.replace("]", "").replace("[", ".").split("."):
        config = config[int(key)] if key.isdigit() else getattr(config, key)
    return config


def check_defaults(dump, top):
    wrong = n = 0
    for model_type, extras in CASES.items():
        for extra in [{}] + extras:
            with open(os.path.join(top, "config.json"), "w") as f:
                json.dump(dict(extra, model_type=model_type), f)
            real = CONFIG_MAPPING[model_type](**json.loads(json.dumps(extra)))
            for line in lines(dump, os.path.join(top, "config.json")):
                m = re.match(r"  (\S+) = (.*?)  \((\w+)( @\d+)?\)$", line)
                if not m or m[2] in ("{", "["):
                    continue
                ours = json.loads(m[2])
                try:
                    theirs = attribute(real, m[1])
                except AttributeError:  # Qwen2's head_dim: its attention computes it
                    continue
                if m[1].endswith("model_type") and theirs == "":  # a part without a type of its own
                    continue
                if m[1] == "head_dim" and theirs is None:  # the same
                    continue
                if isinstance(theirs, (list, tuple)) and not isinstance(ours, list):
                    theirs = theirs[0]
                n += 1
                if ours != theirs:
                    wrong += 1
                    print("%s %s: %s is %r, ours %r" % (model_type, extra, m[1], theirs, ours))
    print("%d values, %d wrong" % (n, wrong))
    return wrong


def class_of(folder, class_name):
    with open(os.path.join(folder, "config.json")) as f:
        raw = json.load(f)
    if "mm_vision_tower" not in raw:
        return getattr(transformers, class_name), AutoConfig.from_pretrained(folder)
    flat = {k: v for k, v in raw.items()
            if not k.startswith("mm_") and k not in ("model_type", "architectures", "image_grid_pinpoints")}
    config = getattr(transformers, class_name.replace("ForConditionalGeneration", "Config"))
    return getattr(transformers, class_name), config(text_config=dict(flat, model_type="llama"))


def check_paths(dump, shared, top):
    wrong = n = 0
    source = os.path.join(shared, "checkpoints")
    subprocess.run([sys.executable, os.path.join(source, "materialize.py"), source, top], check=True)
    with open(os.path.join(source, "index.csv"), newline="") as f:
        rows = [r for r in csv.DictReader(f) if r["family"] in FAMILIES and not r["quantised"] and not r["adapter"]
                and not re.search("@lmms-lab|paligemma2|^_layouts", r["folder"])]
    for r in rows:
        out, ours = lines(dump, os.path.join(top, r["folder"])), {}
        for line in out:
            m = re.match(r"  \d+ (\S+?)(?: -> (\S+))? \S+ \[([\d,]*)\] \d+ @\d+$", line)
            if m:
                ours[m[2] or m[1]] = [int(x) for x in m[3].split(",") if x]
        name = re.search(r"class '(\w*)'", out[0])[1]
        cls, config = class_of(os.path.join(top, r["folder"]), name)
        with torch.device("meta"):
            theirs = cls(config)
        # a tied weight may be stored twice: it counts when it is
        twice = dict(theirs.named_parameters(remove_duplicate=False))
        theirs = {k: list(p.shape) for k, p in twice.items() if k in ours or k in dict(theirs.named_parameters())}
        n += 1
        if ours != theirs:
            wrong += 1
            other = [k for k in ours if k in theirs and ours[k] != theirs[k]]
            print("%s: %s %s" % (r["folder"], sorted(set(ours) ^ set(theirs))[:5], other[:5]))
    print("%d checkpoints, %d wrong" % (n, wrong))
    return wrong


def main(dump, shared):
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as top:
        return 1 if check_defaults(dump, top) + check_paths(dump, shared, top) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
