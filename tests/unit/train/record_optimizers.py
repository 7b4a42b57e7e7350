#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record_optimizers.py torch|packages|versions > FILE.txt: what the real optimizers allocate in two steps.

The parameters of fixtures/configs/tiny-qwen3 with gradients, in the Trainer's groups, on the CPU.  What is
smaller than 64 bytes (counters, norms) is left out.  Optimizers that step inside backward get a real
backward; of others only the step is run.  What is refreshed every so many steps (projectors, bases) is in each.  Run by hand; tests/unit/train
reads the text alone.

torch: torch 2.9.1, transformers 5.24.  packages: PINNED.  versions DIR: the optimizer files of earlier
releases, from DIR/torch-VERSION/torch/optim and DIR/transformers-VERSION, run on torch 2.9.1.
"""
import functools
import gc
import importlib.util
import json
import os
import sys
import types
import warnings
import weakref

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIG = os.path.join(HERE, "..", "..", "..", "fixtures", "configs", "tiny-qwen3", "config.json")
SMALLEST = 64
RANK = 8
SECOND_GROUP = (32, 64, 128, 256)  # sizes of norms; all other parameters are larger
PINNED = ("bitsandbytes 0.50.2, torchao 0.14.1, galore-torch 1.0, apollo-torch 1.0.3, lomo-optim 0.1.1, "
          "schedulefree 1.4.1, torch-optimi 0.3.3, grokadamw 0.1.2, adam-mini 1.1.1, pytorch_optimizer 4.1.0")

LOOP_AND_LISTS = ("adamw", "adam", "sgd", "sgd-momentum")
LATER = ("adagrad", "rmsprop", "nadam", "radam", "adadelta", "adamax", "asgd")
TORCH = [(kind, foreach, precision) for precision in ("bf16", "fp32") for kind, foreach in (
    [("adamw-fused", "")] + [(k, f) for k in LOOP_AND_LISTS for f in ("on", "off")] + [("adafactor", "")])]
TORCH += [(kind, foreach, "bf16") for kind in LATER for foreach in ("on", "off")]
TORCH += [("rprop", "off", "bf16"), ("muon+adamw", "on", "bf16"), ("muon+adamw", "off", "fp32")]
PACKAGES = [(kind, "", "bf16") for kind in (
    "adamw-8bit", "adamw-32bit", "lion-8bit", "lion-32bit", "rmsprop-8bit", "rmsprop-32bit", "ademamix", "ademamix-8bit",
    "adamw-torch-8bit", "adamw-4bit", "adamw-fp8", "schedulefree-sgd", "grokadamw")]
PACKAGES += [(kind, foreach, "bf16") for foreach in ("on", "off") for kind in (
    "schedulefree-adamw", "schedulefree-radam", "lion", "adan")]
PACKAGES += [(kind, "", precision) for precision in ("bf16", "fp32") for kind in (
    "stable-adamw", "galore-adamw", "galore-adamw-8bit", "galore-adafactor", "galore-adamw-layerwise",
    "galore-adamw-8bit-layerwise", "galore-adafactor-layerwise", "apollo", "apollo-mini", "apollo-layerwise", "lomo", "adalomo",
    "adam-mini", "soap", "shampoo") if (kind, precision) != ("lomo", "fp32")]
# steps that a kind takes before its step is always the same
WARM = {"radam": 5, "schedulefree-radam": 4}
CLASSES = {"adamw": "AdamW", "adam": "Adam", "sgd": "SGD", "adagrad": "Adagrad", "rmsprop": "RMSprop",
           "nadam": "NAdam", "radam": "RAdam", "adadelta": "Adadelta", "adamax": "Adamax", "asgd": "ASGD"}
# the releases where a rule begins or ends; ALL=1 records every kind of every release that DIR has
CHANGES = {"2.0.1": ("adamw", "adam", "adagrad", "nadam", "radam", "adamax", "asgd"),
           "2.1.0": ("adamw", "adam", "adagrad", "nadam", "radam", "adamax", "asgd"),
           "2.2.2": ("radam", "adamax", "asgd"), "2.3.1": ("radam", "adamax")}
if os.environ.get("ALL"):
    CHANGES = {d[6:]: LOOP_AND_LISTS + LATER for d in sorted(os.listdir(sys.argv[2])) if d.startswith("torch-")}
VERSIONS = [(kind, foreach, "bf16", "torch", version) for version, kinds in CHANGES.items() for kind in kinds
            for foreach in ("on", "off")]
VERSIONS += [("adamw-hf", "", "bf16", "transformers", "4.31.0")]


# ---- the optimizers: each takes the model, its groups, and gives an object with step() -------------------

def of_torch(name, model, groups, lists, **more):
    import torch
    return getattr(torch.optim, name)(groups, lr=1e-3, **lists, **more)


class Both:
    """Two optimizers as one."""

    def __init__(self, *parts):
        self.parts = parts

    def step(self):
        for part in self.parts:
            part.step()


def muon(model, groups, lists):
    import torch
    hidden = [p for n, p in model.named_parameters() if p.dim() == 2 and "embed" not in n]
    mine = {id(p) for p in hidden}
    rest = [p for p in model.parameters() if id(p) not in mine]
    return Both(torch.optim.Muon(hidden, lr=1e-3), torch.optim.AdamW(rest, lr=1e-3, **lists))


def adafactor(model, groups, lists):
    from transformers.optimization import Adafactor
    return Adafactor(groups, lr=1e-3, scale_parameter=False, relative_step=False)


class Elsewhere:
    """A map that is on the CPU while the model is on the card: it is copied when it is used."""

    def __init__(self, x):
        self.x = x

    def to(self, device):
        return self.x.clone()


def in_place():
    """Kernels of a card need no memory, and what they compute decides nothing."""
    import bitsandbytes
    manager = bitsandbytes.optim.GlobalOptimManager.get_instance()
    manager.initialize()
    for name in ("optimizer_update_32bit", "optimizer_update_8bit_blockwise"):
        setattr(bitsandbytes.functional, name, lambda *_, **__: None)
    return manager


def of_bnb(name, bits, model, groups, lists):
    import bitsandbytes
    import torch
    manager = in_place()
    made = getattr(bitsandbytes.optim, name)(groups, lr=1e-3, optim_bits=bits)
    made.name2qmap = {k: Elsewhere(x) for k, x in made.name2qmap.items()}
    for module in model.modules():
        if bits == 8 and isinstance(module, torch.nn.Embedding):
            manager.register_module_override(module, "weight", {"optim_bits": 32})
    return made


def of_torchao(name, model, groups, lists):
    import torch
    import torchao.optim
    # as compiled: what is inside a kernel is not seen
    torch.compile = lambda f, **_: lambda *args: None
    # maps are computed on the CPU, once
    getattr(torchao.optim, name)([torch.zeros(8192, requires_grad=True)], block_size=256)._new_buffer(
        torch.zeros(8192), True)
    getattr(torchao.optim, name)([torch.zeros(8192, requires_grad=True)], block_size=256)._new_buffer(
        torch.zeros(8192), False)
    return getattr(torchao.optim, name)(groups, lr=1e-3, block_size=256)


def of_schedulefree(name, model, groups, lists):
    import schedulefree
    made = getattr(schedulefree, name)(groups, lr=1e-3, **lists)
    made.train()
    return made


def grokadamw(model, groups, lists):
    import grokadamw
    return grokadamw.GrokAdamW(groups, lr=1e-3)


def stable_adamw(model, groups, lists):
    """As on a card, where it takes its Triton kernels; they are not run."""
    import optimi.stableadamw
    sys.modules["optimi.stableadamw"]._triton_stableadamw = lambda *_, **__: None
    return optimi.StableAdamW(groups, lr=1e-3, triton=True)


def of_pytorch_optimizer(name, model, groups, lists):
    import pytorch_optimizer
    more = {"precondition_frequency": 1} if name == "SOAP" else {}
    return getattr(pytorch_optimizer, name)(groups, lr=1e-3, **lists, **more)


def low_rank(model, **more):
    import torch
    names = {n + ".weight" for n, m in model.named_modules() if isinstance(m, torch.nn.Linear)}
    targets = [p for n, p in model.named_parameters() if n in names]
    others = [p for n, p in model.named_parameters() if n not in names]
    return [{"params": others}, {"params": targets, "rank": RANK, "update_proj_gap": 1, "proj_type": "std", **more}]


def low_rank_class(name):
    import apollo_torch
    import galore_torch
    import torch
    torch.cuda.synchronize = lambda: None
    apollo_torch.random_projector.next_seed = lambda seed, adv=0: seed + 1  # on the CPU
    in_place()
    if name.startswith("apollo"):
        tensor = name == "apollo-mini"
        return apollo_torch.APOLLOAdamW, dict(proj="random", scale=1.0, scale_type="tensor" if tensor else "channel"), {}
    if name == "galore-adafactor":
        return galore_torch.GaLoreAdafactor, dict(scale=0.25), dict(scale_parameter=False, relative_step=False)
    return (galore_torch.GaLoreAdamW8bit if "8bit" in name else galore_torch.GaLoreAdamW), dict(scale=0.25), {}


def of_low_rank(name, model, groups, lists):
    cls, projected, more = low_rank_class(name)
    if name == "apollo-mini":
        projected["rank"] = 1
    groups = low_rank(model)
    groups[1].update(projected)
    made = cls(groups, lr=1e-3, **more)
    if hasattr(made, "name2qmap"):
        made.name2qmap = {k: Elsewhere(x) for k, x in made.name2qmap.items()}
    return made


def gradients(model):
    return sum(p.grad is not None for p in model.parameters())


def layerwise(name, model, groups, lists, watch):
    cls, projected, more = low_rank_class(name)
    for number, group in enumerate(low_rank(model)):
        for p in group["params"]:
            one = dict(group, params=[p], **(projected if number else {}))
            made = cls([one], lr=1e-3, **more)
            if hasattr(made, "name2qmap"):
                made.name2qmap = {k: Elsewhere(x) for k, x in made.name2qmap.items()}

            def hook(p, made=made):
                assert gradients(model) == 1
                with watch():
                    made.step()
                made.zero_grad()
            p.register_post_accumulate_grad_hook(hook)


def lomo(name, model, groups, lists, watch):
    import lomo_optim
    import torch
    torch.Tensor.cuda = lambda x: x
    cls = {"lomo": lomo_optim.Lomo, "adalomo": lomo_optim.AdaLomo}[name]

    class Watched(cls):
        def fuse_update(self):
            step = super().fuse_update()

            def watched(x):
                assert gradients(model) <= 1  # beside x, which is not stored yet
                with watch():
                    x = step(x)
                assert gradients(model) == 0
                return x
            return watched
    with watch("load"):
        return Watched(model, lr=1e-3)


def adam_mini(model, groups, lists):
    import adam_mini
    import torch
    torch.distributed.is_initialized = lambda: False
    c = model.config
    return adam_mini.Adam_mini(model.named_parameters(), lr=1e-3, weight_decay=0.01, dim=c.hidden_size,
                               n_heads=c.num_attention_heads, n_kv_heads=c.num_key_value_heads)


def earlier(package, version, kind, model, groups, lists):
    """The class of an earlier release, from its own file."""
    import torch
    if package == "transformers":
        path = os.path.join(sys.argv[2], "transformers-%s" % version, "transformers", "optimization.py")
        source = open(path).read()
        source = source[source.index("class AdamW("):source.index("class Adafactor(")]
        names = {"Optimizer": torch.optim.Optimizer, "torch": torch, "nn": torch.nn, "math": __import__("math"),
                 "Callable": None, "Iterable": list, "Tuple": __import__("typing").Tuple, "warnings": warnings,
                 "require_version": lambda *_: None}
        exec(source, names)
        return names["AdamW"](groups, lr=1e-3)
    directory = os.path.join(sys.argv[2], "torch-%s" % version, "torch")
    name, file = "earlier_%s" % version.replace(".", "_"), kind.split("-")[0]
    for module, path in (("", None), (".utils", None), (".utils._foreach_utils", "utils/_foreach_utils.py"),
                         (".optim", None), (".optim.optimizer", "optim/optimizer.py"),
                         (".optim.adam", "optim/adam.py"), (".optim." + file, "optim/%s.py" % file)):
        if path is None:
            made = types.ModuleType(name + module)
            made.__path__ = []
            sys.modules[name + module] = made
            continue
        source = open(os.path.join(directory, path)).read().replace("torch.utils._foreach_utils",
                                                                    name + ".utils._foreach_utils")
        source = source.replace("getattr(torch, str_dtype)", "str_dtype")  # the C function gives types since
        spec = importlib.util.spec_from_loader(name + module, None)
        made = importlib.util.module_from_spec(spec)
        made.__package__ = (name + module).rpartition(".")[0]
        sys.modules[name + module] = made
        exec(compile(source, path, "exec"), made.__dict__)
    cls = getattr(sys.modules[name + ".optim." + file], CLASSES[file])
    more = {"momentum": 0.9} if kind == "sgd-momentum" else {}
    groups = [{"params": g["params"]} for g in groups] if kind == "rprop" else groups
    return cls(groups, lr=1e-3, **lists, **more)


KINDS = {
    "adamw-fused": functools.partial(of_torch, "AdamW", fused=True),
    "adamw": functools.partial(of_torch, "AdamW"), "adam": functools.partial(of_torch, "Adam"),
    "sgd": functools.partial(of_torch, "SGD"), "sgd-momentum": functools.partial(of_torch, "SGD", momentum=0.9),
    "adagrad": functools.partial(of_torch, "Adagrad"), "rmsprop": functools.partial(of_torch, "RMSprop"),
    "nadam": functools.partial(of_torch, "NAdam"), "radam": functools.partial(of_torch, "RAdam"),
    "adadelta": functools.partial(of_torch, "Adadelta"), "adamax": functools.partial(of_torch, "Adamax"),
    "asgd": functools.partial(of_torch, "ASGD"),
    "rprop": lambda model, groups, lists: of_torch(
        "Rprop", model, [{"params": g["params"]} for g in groups], lists),
    "adafactor": adafactor, "muon+adamw": muon,
    "adamw-8bit": functools.partial(of_bnb, "AdamW", 8), "adamw-32bit": functools.partial(of_bnb, "AdamW", 32),
    "lion-8bit": functools.partial(of_bnb, "Lion", 8), "lion-32bit": functools.partial(of_bnb, "Lion", 32),
    "rmsprop-8bit": functools.partial(of_bnb, "RMSprop", 8),
    "rmsprop-32bit": functools.partial(of_bnb, "RMSprop", 32),
    "ademamix": functools.partial(of_bnb, "AdEMAMix", 32), "ademamix-8bit": functools.partial(of_bnb, "AdEMAMix", 8),
    "adamw-torch-8bit": functools.partial(of_torchao, "AdamW8bit"),
    "adamw-4bit": functools.partial(of_torchao, "AdamW4bit"), "adamw-fp8": functools.partial(of_torchao, "AdamWFp8"),
    "schedulefree-adamw": functools.partial(of_schedulefree, "AdamWScheduleFree"),
    "schedulefree-radam": functools.partial(of_schedulefree, "RAdamScheduleFree"),
    "schedulefree-sgd": functools.partial(of_schedulefree, "SGDScheduleFree"),
    "grokadamw": grokadamw, "stable-adamw": stable_adamw, "lion": functools.partial(of_pytorch_optimizer, "Lion"),
    "adan": functools.partial(of_pytorch_optimizer, "Adan"), "soap": functools.partial(of_pytorch_optimizer, "SOAP"),
    "adam-mini": adam_mini, "shampoo": functools.partial(of_pytorch_optimizer, "Shampoo"),
}
for each in ("galore-adamw", "galore-adamw-8bit", "galore-adafactor", "apollo", "apollo-mini"):
    KINDS[each] = functools.partial(of_low_rank, each)


# ---- recording ------------------------------------------------------------------------------------------

class Log:
    """Allocations and ends of storages, each with the phase in which it was seen; "" = not looked at."""

    def __init__(self):
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode
        self.events, self.phase = [], ""
        self.live, self.refs, self.made, self.silent = {}, [], 0, set()
        log = self

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                out = function(*args, **(kwargs or {}))
                log.see(out)
                return out
        self.mode, self.tensor = Mode(), torch.Tensor

    def see(self, x):
        if isinstance(x, (list, tuple)):
            for item in x:
                self.see(item)
            return
        if not isinstance(x, self.tensor):
            return
        if hasattr(x, "__tensor_flatten__") and type(x) is not self.tensor:
            for name in x.__tensor_flatten__()[0]:
                self.see(getattr(x, name))
            return
        storage = x.untyped_storage()
        key = storage._cdata
        if storage.nbytes() == 0 or key in self.live:
            return
        self.made += 1
        number = self.live[key] = self.made
        self.events.append((self.phase, number, storage.nbytes()))

        def dead(_):
            if self.live.get(key) == number:
                del self.live[key]
            self.events.append((self.phase, number, 0))
        self.refs.append(weakref.ref(storage, dead))

    def watch(self, phase):
        log = self

        class Watch:
            def __enter__(self):
                self.before, log.phase = log.phase, phase

            def __exit__(self, *_):
                log.phase = self.before
        return Watch()


def parameters(precision):
    import torch
    import transformers
    config = transformers.CONFIG_MAPPING["qwen3"].from_dict(json.load(open(CONFIG)))
    model = transformers.Qwen3ForCausalLM._from_config(
        config, dtype={"bf16": torch.bfloat16, "fp32": torch.float32}[precision])
    groups = [{"params": [p for n, p in model.named_parameters() if n.endswith("norm.weight") == norm],
               "weight_decay": 0.0 if norm else 0.01} for norm in (False, True)]
    return model, groups


def run_in_backward(log, kind, model, groups, lists):
    import torch
    number = [0]

    def watch(phase=None):
        return log.watch(phase or "step%d.backward" % number[0])
    made = (lomo if "lomo" in kind else layerwise)(kind.replace("-layerwise", ""), model, groups, lists, watch)
    ids = torch.zeros(1, 16, dtype=torch.long)
    for number[0] in (1, 2):
        loss = model(input_ids=ids, labels=ids).loss
        if "lomo" in kind:
            made.fused_backward(loss, 1e-3)
        else:
            loss.backward()
        del loss


def run_steps(log, kind, model, groups, lists, make):
    import torch
    with log.watch("load" if kind == "adagrad" else ""):
        made = make(model, groups, lists)
    warm = WARM.get(kind, 0)
    for number in range(1, warm + 3):
        for p in model.parameters():
            p.data.view(-1)
            p.grad = torch.randn_like(p) * 0.01
        with log.watch("warm" if number <= warm else "step%d.optimizer" % (number - warm)):
            made.step()
    return made


def only_what_stays(events):
    """Of warm steps the state alone, in front of what the first step does for the same group."""
    ended = {n for phase, n, size in events if phase == "warm" and not size}
    state = [("step1.optimizer", n, size) for phase, n, size in events if phase == "warm" and n not in ended]
    rest = [e for e in events if e[0] != "warm"]
    large = [e for e in state if e[2] > max(SECOND_GROUP)]
    cut = next((i for i, e in enumerate(rest) if e[0] and e[2] in SECOND_GROUP), len(rest))
    return large + rest[:cut] + [e for e in state if e[2] <= max(SECOND_GROUP)] + rest[cut:]


def record(kind, foreach, precision, package=None, version=None):
    log = Log()
    lists = {} if not foreach else {"foreach": foreach == "on"}
    with log.mode:
        model, groups = parameters(precision)
        for p in model.parameters():
            p.data.view(-1)
        if "layerwise" in kind or "lomo" in kind:
            made = run_in_backward(log, kind, model, groups, lists)
        else:
            make = functools.partial(earlier, package, version, kind) if package else KINDS[kind]
            made = run_steps(log, kind, model, groups, lists, make)
        end = len(log.events)
    del made
    return only_what_stays(log.events[:end])


def show(kind, foreach, precision, log, package=None, version=None):
    number, text, frees, at = {}, [], [], ""

    def flush():
        text.extend("-%d" % n for n in sorted(frees))
        frees.clear()

    for phase, key, size in log:
        if (size and (not phase or size < SMALLEST)) or (size == 0 and key not in number):
            continue
        if phase and phase != at:
            flush()
            text.append("\n> %s" % phase)
            at = phase
        if size:
            flush()
            number[key] = len(number) + 1
            text.append("%d=%d" % (number[key], size))
        else:
            frees.append(number[key])
    flush()
    low = kind.startswith(("galore", "apollo"))
    print("case optimizer=%s%s%s%s precision=%s" % (
        kind, " optimizer.foreach=" + foreach if foreach else "",
        " optimizer.rank=%d" % (1 if kind == "apollo-mini" else RANK) if low else "",
        " %s=%s" % (package, version) if package else "", precision), end="")
    print(" ".join(text).replace(" \n", "\n"))
    print(flush=True)


def main():
    os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1", LOCAL_RANK="0")
    warnings.simplefilter("ignore")
    gc.disable()
    import torch
    torch.manual_seed(0)
    which = sys.argv[1]
    for case in {"torch": TORCH, "packages": PACKAGES, "versions": VERSIONS}[which]:
        if len(sys.argv) > 2 and which != "versions" and case[0] not in sys.argv[2:]:
            continue
        try:
            show(*case[:3], record(*case), *case[3:])
        except Exception as e:
            import traceback
            traceback.print_exc()
    print(sys.version.split()[0], file=sys.stderr)


main()
