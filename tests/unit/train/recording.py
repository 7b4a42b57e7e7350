# SPDX-License-Identifier: Apache-2.0
"""What the recorders of strategies share: a model of fixtures/configs, a mode that follows storages, the
text of a case."""
import gc
import json
import os
import subprocess
import sys
import traceback
import weakref

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGS = os.path.join(HERE, "..", "..", "..", "fixtures", "configs")
SEQ = {"tiny-qwen3": 16, "tiny-llava-1.5": 32}
SMALLEST = 64


def dtype_of(precision):
    import torch
    return torch.bfloat16 if precision == "bf16" else torch.float32


def build(name, precision):
    """The model and one batch of it."""
    import torch
    import transformers
    gc.disable()
    data = json.load(open(os.path.join(CONFIGS, name, "config.json")))
    config = transformers.CONFIG_MAPPING[data["model_type"]].from_dict(data)
    cls = getattr(transformers, data["architectures"][0])
    model = cls._from_config(config, attn_implementation="eager", dtype=dtype_of(precision))
    ids = torch.zeros(1, SEQ[name], dtype=torch.long)
    batch = {"input_ids": ids, "labels": ids}
    if name == "tiny-llava-1.5":
        model.resize_token_embeddings(config.text_config.vocab_size)
        config.image_token_index = model.config.image_token_id = 511
        ids[:, :16] = 511
        batch["pixel_values"] = torch.zeros(1, 3, 56, 56, dtype=dtype_of(precision))
    return model, batch


def adapt(model, more):
    """PEFT's adapters, or parts that are frozen."""
    if "train=lora" in more:
        import peft
        return peft.get_peft_model(model, peft.LoraConfig(r=4, lora_alpha=8, target_modules="all-linear"))
    for name, p in model.named_parameters():
        tower, decoder = "vision_tower" in name, "language_model" in name or "lm_head" in name
        p.requires_grad = not (("train.vision=frozen" in more and tower) or
                               ("train.decoder=frozen" in more and decoder))
    return model


def checkpoint(model, more):
    if "checkpointing" in more:
        kwargs = {"use_reentrant": "checkpointing.reentrant=on" in more}
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=kwargs)
        model.enable_input_require_grads()
    model.train()


def decays(name):
    return not any(word in name for word in ("bias", "norm", "layrnorm"))


def groups_of(model):
    norms = [p for n, p in model.named_parameters() if not decays(n) and p.requires_grad]
    others = [p for n, p in model.named_parameters() if decays(n) and p.requires_grad]
    return [{"params": others, "weight_decay": 0.01}, {"params": norms, "weight_decay": 0.0}]


def optimizer(kind, model):
    import torch
    if kind == "sgd-momentum":
        return torch.optim.SGD(groups_of(model), lr=1e-3, momentum=0.9, foreach=True)
    return torch.optim.AdamW(groups_of(model), lr=1e-3, foreach=True)


class Log:
    """Births and deaths of storages that code in one of the files made, in order: (phase, number,
    bytes), 0 bytes for a death."""

    def __init__(self, files, but=()):
        self.but = but  # functions of theirs that are not followed
        self.files, self.phase, self.entries = files, "load", []
        self.live, self.refs, self.made, self.stopped = {}, [], 0, False

    def add(self, number, size):
        if (not size or size >= SMALLEST) and not self.stopped:
            self.entries.append((self.phase, number, size))

    def see(self, x):
        import torch
        if isinstance(x, (list, tuple)):
            for item in x:
                self.see(item)
            return
        if not isinstance(x, torch.Tensor) or x.device.type != "cpu":
            return
        x = getattr(x, "_local_tensor", x)  # of a DTensor
        storage = x.untyped_storage()
        key = storage._cdata
        if storage.nbytes() == 0 or key in self.live:
            return
        self.made += 1
        number = self.live[key] = self.made
        stack = traceback.extract_stack()
        ours = any(word in f.filename for f in stack for word in self.files)
        if ours and not any(f.name in self.but for f in stack):
            self.add(number, storage.nbytes())

        def dead(_):
            if self.live.get(key) == number:
                del self.live[key]
            self.add(number, 0)
        self.refs.append(weakref.ref(storage, dead))

    def following(self):
        from torch.utils._python_dispatch import TorchDispatchMode
        log = self

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                out = function(*args, **(kwargs or {}))
                log.see(out)
                return out

        return Mode()


def fake_group(rank, ranks):
    import torch
    from torch.testing._internal.distributed.fake_pg import FakeStore
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks))
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=rank, world_size=ranks)


def show(settings, log, out):
    """Numbered by order; a death is told where it falls between births."""
    number, text, frees, phase = {}, [], [], None

    def flush():
        text.extend("-%d" % n for n in sorted(frees))
        frees.clear()

    for at, key, size in log.entries:
        if at != phase:
            flush()
            text.append("\n> %s" % at)
            phase = at
        if size:
            flush()
            number[key] = len(number) + 1
            text.append("%d=%d" % (number[key], size))
        elif key in number:
            frees.append(number[key])
    flush()
    print("case " + " ".join(settings.split()), file=out)
    for line in " ".join(text).split("\n"):
        if len(line.split()) > 2:
            print(line.rstrip(), file=out)
    print(file=out, flush=True)


def run(script, cases, record, settings, arguments):
    """Each case in a process of its own: record(*arguments, case) makes its log."""
    words = sys.argv[1 + arguments:]
    if len(words) == 1 and os.environ.get("RECORD"):
        case, out = cases[int(words[0])], os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # what the frameworks say
        log = record(*sys.argv[1:1 + arguments], case)
        show(settings(case), log, out)
        os._exit(0)
    env = dict(os.environ, RECORD="1", DS_ACCELERATOR="cpu", OMP_NUM_THREADS="1", LOCAL_RANK="0",
               MASTER_ADDR="127.0.0.1", MASTER_PORT="29500", HF_HUB_OFFLINE="1")
    for number in words or map(str, range(len(cases))):
        subprocess.run([sys.executable, script, *sys.argv[1:1 + arguments], number], env=env, check=True)
