# SPDX-License-Identifier: Apache-2.0
"""make_timm.py SEED OUT [NAME...]: one random plan of each small model of timm, as make_reference.py does.

Needs timm 1.0.31 and torchvision beside the interpreter of make_reference.py.  The loop is that of timm's own
script: the model returns logits, cross entropy is called outside; autocast is around both.
"""
import json
import os
import random
import sys
import types

import make_reference
import oracle
import inputs as builders
import fakecuda
import timm
import torch

SMALL = {"embed_dim": 48, "depth": 2, "num_heads": 4}


def config(architecture, side=64, **model_args):
    out = {"architecture": architecture, "num_classes": 10, "pretrained_cfg": {"input_size": [3, side, side]}}
    return dict(out, model_args=model_args) if model_args else out


def vit(architecture, side=56):
    return config(architecture, side, img_size=side, **SMALL)


STAGES = {"depths": [1, 1, 2, 1], "dims": [16, 32, 48, 64]}
CONFIGS = {
    "timm-vit": vit("vit_tiny_patch16_224", 64), "timm-vit-clip": vit("vit_large_patch14_clip_336"),
    "timm-vit-siglip": vit("vit_so400m_patch14_siglip_384"), "timm-vit-dinov2": vit("vit_giant_patch14_dinov2"),
    "timm-vit-reg": vit("vit_base_patch14_reg4_dinov2"),
    "timm-deit-distilled": vit("deit_tiny_distilled_patch16_224", 64),
    "timm-beit": vit("beit_base_patch16_224", 64), "timm-eva02": vit("eva02_large_patch14_clip_336"),
    "timm-resnet18": config("resnet18"), "timm-resnet50d": config("resnet50d"),
    "timm-resnext": config("resnext50_32x4d"), "timm-vgg": config("vgg11", 224), "timm-vgg-bn": config("vgg11_bn", 224),
    "timm-convnext": config("convnext_atto", **STAGES), "timm-convnext-cl": config("convnext_tiny", **STAGES),
    "timm-swin": config("swin_tiny_patch4_window7_224", 112, img_size=112, embed_dim=24, depths=[2, 2, 2, 2],
                        num_heads=[2, 2, 4, 4]),
    "timm-efficientnet": config("efficientnet_b0"), "timm-mobilenetv3": config("mobilenetv3_small_050"),
    "timm-mobilenetv2": config("mobilenetv2_100"),
}


def load_config(source):
    data = source if isinstance(source, dict) else json.load(open(source))
    return types.SimpleNamespace(model_type="vit", **data), data


def make_model(unused, data, plan, device="cuda"):
    fakecuda.ATTENTION["backend"] = "math" if plan["attention"] == "eager" else plan["attention"]
    args = dict(data.get("model_args", {}), num_classes=data["num_classes"])
    with torch.device(device):
        model = timm.create_model(data["architecture"], pretrained=False, **args)
    model = model.to(oracle.DTYPES[plan["precision"]])
    for module in model.modules():
        if plan["attention"] == "eager" and hasattr(module, "fused_attn"):
            module.fused_attn = False
    model.config, model.data = types.SimpleNamespace(use_cache=False), data
    model.activation_checkpointing_enable = lambda keywords: model.set_grad_checkpointing(True)
    return model


def one_forward(model, made, plan):
    from accelerate.utils.operations import convert_to_fp32

    def call():
        logits = model(made["pixel_values"])
        return {"loss": torch.nn.functional.cross_entropy(logits, made["labels"]), "logits": logits}

    fast = oracle.AUTOCAST.get(plan["precision"])
    if fast is None:
        return call()
    with torch.autocast("cuda", dtype=fast):
        out = call()
    return convert_to_fp32(out)


class Builder(builders.Builder):
    def __init__(self, unused, model, plan):
        self.model, self.plan, self.kind, self.unused, self.passes_items = model, plan, "vision", [], False

    def inputs(self):
        side, n = self.model.data["pretrained_cfg"]["input_size"][1], self.plan["micro_batch"]
        dtype = torch.float32 if self.plan["precision"] in oracle.AUTOCAST else oracle.DTYPES[self.plan["precision"]]
        return {"pixel_values": builders.cuda(n, 3, side, side, dtype=dtype), "labels": builders.cuda(n)}

    def loss(self, outputs):
        return outputs["loss"]


def draw(rng, name):
    plan = {"micro_batch": 1 if "vgg" in name else rng.choice([2, 3]),
            "precision": rng.choice(["fp32", "fp32", "bf16", "bf16-mixed", "fp16-mixed"]),
            "attention": rng.choice(["flash", "flash", "eager"]),
            "optimizer": rng.choice(["sgd_momentum", "adamw_fused", "adamw_foreach", "sgd"]), "steps": 2,
            "clip_grad": rng.random() < 0.5, "grad_accumulation": rng.choice([1, 1, 2]),
            "gradient_checkpointing": rng.choice(["off", "off", "on"]), "train": {"default": "full", "head": "full"}}
    return dict(plan, gradient_checkpointing="off") if "vgg" in name else plan


def main():
    seed, out, names = int(sys.argv[1]), sys.argv[2], sys.argv[3:] or list(CONFIGS)
    oracle.load_config, oracle.make_model, oracle.one_forward = load_config, make_model, one_forward
    builders.Builder = Builder
    rng = random.Random(seed)
    os.makedirs(out, exist_ok=True)
    for number, name in enumerate(names):
        to = os.path.join(out, "%s-%d-%03d" % (name, seed, number))
        result = oracle.execute(CONFIGS[name], draw(rng, name), to + ".tmp.gz")
        json.dump({"config": CONFIGS[name], "plan": result["plan"]}, open(to + ".json", "w"))
        make_reference.compact(to + ".tmp.gz", to + ".events.gz")
        os.remove(to + ".tmp.gz")
        print(os.path.basename(to), flush=True)


if __name__ == "__main__":
    main()
