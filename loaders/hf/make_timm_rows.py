#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_timm_rows.py > timm_rows.c: what timm's entry points hand to the classes that templates describe.

Run by hand, with a Python that has timm.  Each entry point is called; the constructor of its class notes the
arguments and nothing is built, but for networks of inverted residuals, whose blocks are read off the model
on the meta device.  An architecture with an argument that no template reads is left out.
"""
import functools
import inspect
import json
import sys

import timm
import torch
from timm.models import beit, convnext, deit, efficientnet, eva, mobilenetv3, resnet, swin_transformer, vgg
from timm.models import vision_transformer

NAMES = ("vit_", "deit", "beit", "eva02", "resnet", "resnext", "wide_res", "convnext", "swin_", "efficientnet_b",
         "mobilenetv", "vgg", "mnasnet")
HANDED = {"num_classes", "in_chans", "device", "dtype"}  # of the call, or the same for all
VIT = set("""img_size patch_size embed_dim depth num_heads mlp_ratio class_token global_pool no_embed_class init_values
reg_tokens qkv_bias pre_norm fc_norm final_norm qk_norm act_layer norm_layer mlp_layer""".split())
KNOWN = {
    "VisionTransformer": VIT, "VisionTransformerDistilled": VIT,
    "Beit": set("img_size patch_size embed_dim depth num_heads mlp_ratio use_abs_pos_emb use_rel_pos_bias init_values".split()),
    "Eva": set("""img_size patch_size embed_dim depth num_heads mlp_ratio qkv_fused swiglu_mlp scale_mlp scale_attn_inner
use_rot_pos_emb ref_feat_shape global_pool""".split()),
    "ResNet": set("block layers stem_type stem_width avg_down base_width cardinality".split()),
    "ConvNeXt": set("depths dims conv_mlp".split()),
    "SwinTransformer": set("img_size patch_size window_size embed_dim depths num_heads".split()),
    "VGG": set("cfg norm_layer".split()),
}
WORDS = {"norm_layer": {"LayerNorm", "BatchNorm2d"}, "act_layer": {"quick_gelu", "gelu_tanh", "SiLU"},
         "mlp_layer": {"GluMlp"}, "block": {"BasicBlock", "Bottleneck"}, "stem_type": {"deep", "deep_tiered"},
         "global_pool": {"avg", "token", "map"}}
CLASSES = [vision_transformer.VisionTransformer, deit.VisionTransformerDistilled, beit.Beit, eva.Eva, resnet.ResNet,
           convnext.ConvNeXt, swin_transformer.SwinTransformer, vgg.VGG, efficientnet.EfficientNet,
           mobilenetv3.MobileNetV3]


class Called(Exception):
    pass


def plain(value):
    if isinstance(value, functools.partial):
        return plain(value.func)
    if isinstance(value, type) or inspect.isfunction(value):
        return value.__name__
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return value


def arguments(name, kinds):
    real = {}
    for cls in CLASSES:
        def init(self, *args, _cls=cls, **kw):
            raise Called(_cls, args, kw)
        real[cls], cls.__init__ = cls.__init__, init
    try:
        timm.create_model(name)
    except Called as call:
        return call.args
    finally:
        for cls, init in real.items():
            cls.__init__ = init
    return None


def act(module):
    inner = getattr(module, "act", module)
    return {"SiLU": "silu", "ReLU": "relu", "ReLU6": "relu6", "Hardswish": "hardswish",
            "HardswishMe": "hardswish", "Swish": "silu"}.get(type(inner).__name__, "")


def block_row(b):
    """kind, middle and outer channels, window, stride, channels of the squeeze, activation, is there a skip?"""
    kind = type(b).__name__
    kinds = {"DepthwiseSeparableConv": "ds", "InvertedResidual": "ir", "EdgeResidual": "er", "ConvBnAct": "cn"}
    if kind not in kinds or getattr(b, "conv_s2d", None) is not None:
        raise ValueError(kind)
    first = {"ds": "conv_dw", "ir": "conv_dw", "er": "conv_exp", "cn": "conv"}[kinds[kind]]
    conv = getattr(b, first)
    if type(conv).__name__ != "Conv2d" or conv.dilation != (1, 1) or type(getattr(b, "aa", None)).__name__ not in ("Identity", "NoneType"):
        raise ValueError(kind)
    if kinds[kind] in ("ds", "ir") and conv.groups != conv.in_channels:
        raise ValueError("groups")
    if conv.padding[0] != conv.kernel_size[0] // 2:
        raise ValueError("padding")
    se = getattr(b, "se", None)
    squeeze = se.conv_reduce.out_channels if hasattr(se, "conv_reduce") else 0
    last = {"ds": "conv_pw", "ir": "conv_pwl", "er": "conv_pwl", "cn": "conv"}[kinds[kind]]
    out = getattr(b, last).out_channels
    if kinds[kind] == "ds" and act(b.bn2):
        raise ValueError("act")
    return [kinds[kind], conv.out_channels, out, conv.kernel_size[0], conv.stride[0], squeeze, act(b.bn1), bool(b.has_skip)]


def mobile(name):
    with torch.device("meta"):
        model = timm.create_model(name)
    if type(model.conv_stem).__name__ != "Conv2d" or model.conv_stem.kernel_size != (3, 3) or not act(model.bn1):
        raise ValueError("stem")
    row = {"stem": model.conv_stem.out_channels, "act": act(model.bn1), "stages": [[block_row(b) for b in stage] for stage in model.blocks]}
    if type(model.conv_head).__name__ != "Conv2d":
        raise ValueError("head")
    row["head"] = model.conv_head.out_channels
    if type(model).__name__ == "MobileNetV3":
        if type(model.norm_head).__name__ != "Identity" or model.conv_head.bias is None:
            raise ValueError("head")
        row["act_head"] = act(model.act2)
    se = [m for m in model.modules() if type(m).__name__ == "SqueezeExcite"]
    if se:
        row["gate"] = {"Sigmoid": "sigmoid", "Hardsigmoid": "hardsigmoid"}[type(se[0].gate).__name__]
        row["squeeze_act"] = act(se[0].act1)
    return row


def row_of(name):
    found = arguments(name, CLASSES)
    if not found:
        return None
    cls, args, kw = found
    kind = cls.__name__
    if kind in ("EfficientNet", "MobileNetV3"):
        return kind, mobile(name)
    names = list(inspect.signature(REAL[cls]).parameters)[1:]
    given = dict(zip(names, args), **kw)
    row = {}
    for key, value in given.items():
        if key in HANDED or value is None:
            continue
        value = plain(value)
        if key not in KNOWN[kind] or (key in WORDS and value not in WORDS[key] and value != ""):
            return None
        if key == "img_size" and isinstance(value, list):
            value = value[0]
        if key != "norm_layer" or kind == "VGG":
            row[key] = value
    return kind, row


REAL = {cls: cls.__init__ for cls in CLASSES}


def main():
    rows = []
    for name in timm.list_models():
        if not name.startswith(NAMES):
            continue
        try:
            found = row_of(name)
        except ValueError as why:
            print(name, "left out:", why, file=sys.stderr)
            continue
        if found:
            rows.append((name,) + found)
    print("""/* SPDX-License-Identifier: Apache-2.0
 *
 * Architectures of timm %s and the arguments of their classes.  Made by make_timm_rows.py.
 */
#include "hf/timm.h"

const struct vram_timm_row vram_timm_rows[] = {""" % timm.__version__)
    for name, kind, row in rows:
        text = json.dumps(row, separators=(",", ":")).replace('"', '\\"')
        lines = [text[i:i + 100] for i in range(0, len(text), 100)]
        for i in range(len(lines) - 1):  # never between a backslash and what it escapes
            while lines[i].endswith("\\"):
                lines[i], lines[i + 1] = lines[i][:-1], lines[i][-1] + lines[i + 1]
        print('    {"%s", "%s",\n     "%s"},' % (name, kind, '"\n     "'.join(lines)))
    print("    {NULL, NULL, NULL}};")


main()
