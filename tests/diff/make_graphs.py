#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records fixtures/graphs: small models exported by torch.onnx.export, their configs, and what torch keeps of
the modules that they come from (torch.autograd.graph.saved_tensors_hooks).

make_graphs.py DIR  (needs torch, torchvision-free; transformers, onnx, onnxscript)
"""
import json
import os
import sys
import warnings
import weakref

import onnx
import torch
from transformers import (CLIPVisionConfig, CLIPVisionModel, SiglipVisionConfig, SiglipVisionModel, ViTConfig, ViTModel)

warnings.filterwarnings("ignore")
SMALL = dict(hidden_size=64, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, image_size=32,
             patch_size=8, attn_implementation="eager")
TOWERS = {"vit": lambda: ViTModel(ViTConfig(**SMALL), add_pooling_layer=False),
          "clip": lambda: CLIPVisionModel(CLIPVisionConfig(**SMALL, hidden_act="gelu")),
          "siglip": lambda: SiglipVisionModel(SiglipVisionConfig(**SMALL, vision_use_head=False))}


class Hidden(torch.nn.Module):
    def __init__(self, tower):
        super().__init__()
        self.tower = tower

    def forward(self, pixel_values):
        return self.tower(pixel_values=pixel_values).last_hidden_state


class Decomposed(torch.nn.Module):
    """gelu as exporters before opset 20 write it"""

    def forward(self, x):
        return x * (torch.erf(x / 1.4142135381698608) + 1.0) * 0.5


class Convolutions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False), torch.nn.BatchNorm2d(32), torch.nn.Hardswish(),
            torch.nn.Conv2d(32, 32, 3, padding=2, dilation=2, groups=32), torch.nn.Sigmoid(), torch.nn.AvgPool2d(2),
            torch.nn.Flatten(), torch.nn.Linear(512, 10))

    def forward(self, pixel_values):
        return self.body(pixel_values)


class Kept:
    def __init__(self, tensor):
        self.tensor = tensor


def saved(model, x):
    """bytes of storages that the tape keeps and that are no parameters, buffers or inputs"""
    own = [*model.parameters(), *model.buffers(), x]
    before = {t.untyped_storage().data_ptr() for t in own}
    alive = weakref.WeakSet()  # what does not lead to the loss goes with the output

    def pack(t):
        kept = Kept(t)
        alive.add(kept)
        return kept
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        loss = model(x).mean()
    storages = [kept.tensor.untyped_storage() for kept in alive]
    assert loss.requires_grad
    return sum({s.data_ptr(): s.nbytes() for s in storages if s.data_ptr() not in before}.values())


def store(model, path):
    """without payloads, doc strings and the exporter's metadata"""
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    for v in (*model.graph.value_info, *model.graph.input, *model.graph.output, *model.graph.initializer, model.graph):
        del v.metadata_props[:]
    del model.metadata_props[:]
    onnx.save(model, path, save_as_external_data=True, location="weights", size_threshold=2048)
    os.remove(os.path.join(os.path.dirname(path), "weights"))


def distinct(model):
    """no two parameters alike, or the exporter makes them one"""
    for p in model.parameters():
        torch.nn.init.normal_(p)
    return model


def export_tower(out, name, opset, x, rows):
    model = distinct(Hidden(TOWERS[name]())).eval()  # dropout is 0 in all of them
    program = torch.onnx.export(model, (x,), dynamo=True, opset_version=opset, input_names=["pixel_values"],
                                output_names=["last_hidden_state"], verbose=False)
    store(program.model_proto, f"{out}/{name}-{opset}.onnx")
    if opset < 20:  # what the graph says, said in modules
        for parent in list(model.modules()):
            for key, child in list(parent.named_children()):
                if type(child).__name__ in ("GELUActivation", "GELU"):
                    setattr(parent, key, Decomposed())
    rows[f"{name}-{opset}"] = {"saved": saved(model, x), "parameters": sum(p.numel() for p in model.parameters()),
                               "config": name if opset >= 20 else None}


def main():
    out = sys.argv[1]
    rows = {}
    torch.manual_seed(0)
    x = torch.randn(2, 3, 32, 32)
    os.makedirs(out, exist_ok=True)
    for name, make in TOWERS.items():
        os.makedirs(f"{out}/{name}", exist_ok=True)
        config = make().config
        config.architectures = [type(make()).__name__]
        with open(f"{out}/{name}/config.json", "w", encoding="ascii") as f:
            f.write(config.to_json_string())
    for name, opset in (("vit", 20), ("clip", 20), ("siglip", 20), ("vit", 18), ("clip", 18)):
        export_tower(out, name, opset, x, rows)
    model = distinct(Convolutions()).train()
    torch.onnx.export(model, (x,), f"{out}/convolutions.onnx", dynamo=False, opset_version=17, do_constant_folding=False,
                      training=torch.onnx.TrainingMode.TRAINING, input_names=["pixel_values"], output_names=["y"])
    store(onnx.load(f"{out}/convolutions.onnx"), f"{out}/convolutions-17.onnx")
    os.remove(f"{out}/convolutions.onnx")
    rows["convolutions-17"] = {"saved": saved(model, x), "parameters": sum(p.numel() for p in model.parameters()),
                               "config": None}
    with open(f"{out}/saved.json", "w", encoding="ascii") as f:
        json.dump(rows, f, indent=1)
        f.write("\n")


main()
