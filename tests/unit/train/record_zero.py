#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record_zero.py DEEPSPEED_SOURCE [NUMBER...] > zero.txt: what DeepSpeed's ZeRO allocates, from a run of it.

Trains a model of fixtures/configs for two steps on the CPU with the real engine, as the one rank of a
group (torch's "fake" backend: collectives do nothing) that this project follows, the one whose
partition touches the most elements, and writes what the files of ZeRO and the optimizer allocated, in
order.  What is smaller than 64 bytes is left out.  Run by hand with torch, transformers and
DeepSpeed's requirements; tests/unit/train reads the text alone.
"""
import contextlib
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
DTYPES = {"bf16": lambda torch: torch.bfloat16, "fp32": lambda torch: torch.float32}

# stage, ranks, micro-batches, bucket elements, switch, optimizer, precision, model
CASES = [
    (1, 2, 2, 1000000, "", "adamw", "bf16", "tiny-qwen3"),
    (2, 2, 2, 1000000, "", "adamw", "bf16", "tiny-qwen3"),
    (2, 2, 1, 20000, "", "adamw", "bf16", "tiny-qwen3"),
    (2, 4, 1, 20000, "", "adamw", "bf16", "tiny-qwen3"),
    (1, 4, 1, 20000, "", "adamw", "bf16", "tiny-qwen3"),
    (2, 1, 1, 1000000, "", "adamw", "bf16", "tiny-qwen3"),
    (1, 1, 1, 20000, "", "adamw", "bf16", "tiny-qwen3"),
    (2, 2, 1, 20000, "zero.overlap_comm=on", "adamw", "bf16", "tiny-qwen3"),
    (1, 2, 1, 20000, "zero.overlap_comm=on", "adamw", "bf16", "tiny-qwen3"),
    (1, 2, 2, 20000, "zero.overlap_comm=on", "adamw", "bf16", "tiny-qwen3"),
    (2, 3, 3, 1000000, "", "adamw", "bf16", "tiny-qwen3"),
    (2, 8, 1, 1000000, "", "adamw", "bf16", "tiny-qwen3"),
    (1, 8, 2, 20000, "", "adamw", "bf16", "tiny-qwen3"),
    (2, 2, 1, 1000000, "", "sgd-momentum", "bf16", "tiny-qwen3"),
    (2, 2, 1, 1000000, "", "adamw", "fp32", "tiny-qwen3"),
    (1, 2, 1, 20000, "", "adamw", "fp32", "tiny-qwen3"),
    (2, 2, 1, 20000, "zero.reduce_scatter=off", "adamw", "bf16", "tiny-qwen3"),
    (2, 48, 1, 1000000, "", "adamw", "bf16", "tiny-qwen3"),
    # the tower's last layer gets no gradient
    (1, 2, 2, 1000000, "", "adamw", "bf16", "tiny-llava-1.5"),
    (2, 2, 2, 1000000, "", "adamw", "bf16", "tiny-llava-1.5"),
    (2, 4, 1, 30000, "", "adamw", "bf16", "tiny-llava-1.5"),
    (2, 9, 2, 30000, "", "adamw", "fp32", "tiny-llava-1.5"),
]


def decays(name):
    return not any(word in name for word in ("bias", "norm", "layrnorm"))


def optimizer(kind, model):
    import torch
    norms = [p for n, p in model.named_parameters() if not decays(n)]
    others = [p for n, p in model.named_parameters() if decays(n)]
    groups = [{"params": others, "weight_decay": 0.01}, {"params": norms, "weight_decay": 0.0}]
    if kind == "sgd-momentum":
        return torch.optim.SGD(groups, lr=1e-3, momentum=0.9, foreach=True)
    return torch.optim.AdamW(groups, lr=1e-3, foreach=True)


def tracking(log, phase):
    """A dispatch mode that logs births and deaths of storages made by ZeRO or an optimizer."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        live, refs, made = {}, [], 0

        def see(self, x):
            if isinstance(x, (list, tuple)):
                for item in x:
                    self.see(item)
                return
            if not isinstance(x, torch.Tensor) or x.device.type != "cpu":
                return
            storage = x.untyped_storage()
            key = storage._cdata
            if storage.nbytes() == 0 or key in self.live:
                return
            Mode.made += 1
            number = self.live[key] = Mode.made
            ours = [f for f in traceback.extract_stack()
                    if "stage_1_and_2" in f.filename or "/torch/optim/" in f.filename]
            if ours and storage.nbytes() >= SMALLEST:
                log.append((phase[0], number, storage.nbytes()))

            def dead(_):
                if self.live.get(key) == number:
                    del self.live[key]
                log.append((phase[0], number, 0))
            self.refs.append(weakref.ref(storage, dead))

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            self.see(out)
            return out

    return Mode()


def followed(groups, ranks):
    """The rank whose partitions touch the most elements of whole parameters, the first of equals."""
    def touched(rank):
        total = 0
        for sizes in groups:
            part = -(-sum(sizes) // (2 * ranks)) * 2
            at = 0
            for n in sizes:
                total += n if at + n > rank * part and at < (rank + 1) * part else 0
                at += n
        return total
    return max(range(ranks), key=touched)


def record(source, case):
    stage, ranks, micro, bucket, switch, kind, precision, name = case
    sys.path.insert(0, source)
    import logging
    logging.disable(logging.WARNING)
    import deepspeed
    import torch
    import transformers
    from torch.testing._internal.distributed.fake_pg import FakeStore
    gc.disable()
    data = json.load(open(os.path.join(CONFIGS, name, "config.json")))
    config = transformers.CONFIG_MAPPING[data["model_type"]].from_dict(data)
    cls = getattr(transformers, data["architectures"][0])
    model = cls._from_config(config, attn_implementation="eager", dtype=DTYPES[precision](torch))
    groups = [[int(p.numel()) for n, p in model.named_parameters() if decays(n) == decayed]
              for decayed in (True, False)]
    rank = followed(groups, ranks)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks))
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=rank, world_size=ranks)
    settings = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": micro,
                "bf16": {"enabled": precision == "bf16"}, "gradient_clipping": 1.0,
                "zero_allow_untested_optimizer": True, "zero_force_ds_cpu_optimizer": False,
                "zero_optimization": {"stage": stage, "reduce_bucket_size": bucket,
                                      "overlap_comm": switch == "zero.overlap_comm=on",
                                      "reduce_scatter": switch != "zero.reduce_scatter=off",
                                      "contiguous_gradients": True}}
    log, phase = [], ["load"]
    ids = torch.zeros(1, SEQ[name], dtype=torch.long)
    batch = {"input_ids": ids, "labels": ids}
    if name == "tiny-llava-1.5":
        model.resize_token_embeddings(config.text_config.vocab_size)
        config.image_token_index = model.config.image_token_id = 511
        ids[:, :16] = 511
        batch["pixel_values"] = torch.zeros(1, 3, 56, 56, dtype=DTYPES[precision](torch))
    with tracking(log, phase):
        engine = deepspeed.initialize(model=model, optimizer=optimizer(kind, model), config=settings)[0]
        for step in (1, 2):
            for i in range(micro):
                at = "step%d." % step if micro == 1 else "step%d.micro%d." % (step, i + 1)
                phase[0] = at + "forward"
                loss = engine(use_cache=False, **batch).loss
                phase[0] = at + "backward"
                engine.backward(loss)
                del loss
                # stage 1 reduces behind the last backward, before the step
                phase[0] = "step%d.optimizer" % step
                engine.step()
    return log


def show(case, log):
    """Numbered by order; a death is told where it falls between births."""
    number, text, frees, phase = {}, [], [], None

    def flush():
        text.extend("-%d" % n for n in sorted(frees))
        frees.clear()

    for at, key, size in log:
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
    settings = ("strategy=zero%d gpus=%d accumulation=%d zero.reduce_bucket_size=%d %s optimizer=%s "
                "precision=%s model=%s" % case)
    print("case " + " ".join(settings.split()))
    for line in " ".join(text).split("\n"):
        if len(line.split()) > 2:
            print(line.rstrip())
    print(flush=True)


def main():
    if len(sys.argv) == 3 and os.environ.get("RECORD"):
        case = CASES[int(sys.argv[2])]
        with contextlib.redirect_stdout(sys.stderr):
            log = record(sys.argv[1], case)
        show(case, log)
        sys.stdout.flush()
        os._exit(0)
    env = dict(os.environ, RECORD="1", DS_ACCELERATOR="cpu", OMP_NUM_THREADS="1", LOCAL_RANK="0",
               MASTER_ADDR="127.0.0.1", MASTER_PORT="29500", HF_HUB_OFFLINE="1")
    for number in sys.argv[2:] or map(str, range(len(CASES))):
        subprocess.run([sys.executable, __file__, sys.argv[1], number], env=env, check=True)


main()
