#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record_optimizers.py > optimizers.txt: what the real optimizers allocate in two steps.

The parameters of fixtures/configs/tiny-qwen3 with gradients, in the Trainer's two groups, on the
CPU.  What is smaller than 64 bytes (counters, norms) is left out.  Run by hand; tests/unit/train
reads the text alone.
"""
import gc
import json
import os
import sys
import weakref

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIG = os.path.join(HERE, "..", "..", "..", "fixtures", "configs", "tiny-qwen3", "config.json")
SMALLEST = 64

# optimizer, settings, precision
CASES = [(kind, foreach, precision) for precision in ("bf16", "fp32") for kind, foreach in (
    ("adamw-fused", ""), ("adamw", "on"), ("adamw", "off"), ("adam", "on"), ("adam", "off"),
    ("sgd", "on"), ("sgd", "off"), ("sgd-momentum", "on"), ("sgd-momentum", "off"),
    ("adafactor", ""))]


def optimizer(kind, foreach, groups):
    import torch
    from transformers.optimization import Adafactor
    lists = {} if not foreach else {"foreach": foreach == "on"}
    if kind == "adamw-fused":
        return torch.optim.AdamW(groups, lr=1e-3, fused=True)
    if kind == "adamw":
        return torch.optim.AdamW(groups, lr=1e-3, **lists)
    if kind == "adam":
        return torch.optim.Adam(groups, lr=1e-3, **lists)
    if kind.startswith("sgd"):
        return torch.optim.SGD(groups, lr=1e-3, momentum=0.9 * (kind == "sgd-momentum"), **lists)
    return Adafactor(groups, lr=1e-3, scale_parameter=False, relative_step=False)


def record(kind, foreach, precision):
    import torch
    import transformers
    from torch.utils._python_dispatch import TorchDispatchMode
    config = transformers.CONFIG_MAPPING["qwen3"].from_dict(json.load(open(CONFIG)))
    model = transformers.Qwen3ForCausalLM._from_config(
        config, dtype={"bf16": torch.bfloat16, "fp32": torch.float32}[precision])
    log, step = [], [0]

    class Mode(TorchDispatchMode):
        live, refs, made = {}, [], 0

        def __init__(self):
            super().__init__()
            self.live, self.refs, self.made = {}, [], 0

        def see(self, x):
            if isinstance(x, (list, tuple)):
                for item in x:
                    self.see(item)
                return
            if not isinstance(x, torch.Tensor):
                return
            storage = x.untyped_storage()
            key = storage._cdata
            if storage.nbytes() == 0 or key in self.live:
                return
            self.made += 1
            number = self.live[key] = self.made
            if step[0] and storage.nbytes() >= SMALLEST:
                log.append((step[0], number, storage.nbytes()))

            def dead(_, at=step):
                if self.live.get(key) == number:
                    del self.live[key]
                log.append((at[0], number, 0))
            self.refs.append(weakref.ref(storage, dead))

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            self.see(out)
            return out

    with Mode():
        groups = [{"params": [p for n, p in model.named_parameters() if n.endswith("norm.weight") == norm],
                   "weight_decay": 0.0 if norm else 0.01} for norm in (False, True)]
        made = optimizer(kind, foreach, groups)
        for number in (1, 2):
            for p in model.parameters():
                p.data.view(-1)
                p.grad = torch.zeros_like(p)
            step[0] = number
            made.step()
            step[0] = 0
        end = len(log)
    return log[:end]


def show(kind, foreach, precision, log):
    number, text, frees, step = {}, [], [], 0

    def flush():
        text.extend("-%d" % n for n in sorted(frees))
        frees.clear()

    for at, key, size in log:
        if at == 0 or (size == 0 and key not in number):
            continue
        if at != step:
            flush()
            text.append("\n> step%d.optimizer" % at)
            step = at
        if size:
            flush()
            number[key] = len(number) + 1
            text.append("%d=%d" % (number[key], size))
        else:
            frees.append(number[key])
    flush()
    print("case optimizer=%s%s precision=%s" % (kind, " optimizer.foreach=" + foreach if foreach else "",
                                                precision), end="")
    print(" ".join(text).replace(" \n", "\n"))
    print(flush=True)


def main():
    os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")
    gc.disable()
    for case in CASES:
        show(*case, record(*case))
    print(sys.version.split()[0], file=sys.stderr)


main()
