#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record_ddp.py [NUMBER...] > ddp.txt: what DistributedDataParallel allocates, from a run of it.

Trains fixtures/configs/tiny-qwen3 for three steps on the CPU with the real wrapper as rank 0 of two
(torch's "fake" backend and a communication hook that does nothing) and writes what was allocated in
its constructor and before its forwards, in order, and at the end of each backward the bytes of
gradients that are no part of a bucket.  What is smaller than 256 bytes is left out.  Run by hand;
tests/unit/train reads the text alone.
"""
import contextlib
import gc
import json
import os
import subprocess
import sys
import weakref

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIG = os.path.join(HERE, "..", "..", "..", "fixtures", "configs", "tiny-qwen3", "config.json")
SEQ, SMALLEST, STEPS = 16, 256, 3

# precision, micro-batches, gradient_as_bucket_view, first bucket, bucket (None: as torch has them)
CASES = [
    ("bf16", 1, False, None, None),
    ("fp32", 1, True, None, None),
    ("fp32", 2, False, None, 52428),
    ("fp32", 2, True, None, 52428),
    ("bf16", 3, True, None, 20971),
    ("fp32", 1, False, 1024, 65536),
    ("bf16", 1, False, 100000, 4096),
]


def record(case):
    precision, micro, views, first, cap = case
    import torch
    import transformers
    from torch.nn.parallel import DistributedDataParallel
    from torch.testing._internal.distributed.fake_pg import FakeStore
    from torch.utils._python_dispatch import TorchDispatchMode
    gc.disable()
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    config = transformers.CONFIG_MAPPING["qwen3"].from_dict(json.load(open(CONFIG)))
    dtype = {"bf16": torch.bfloat16, "fp32": torch.float32}[precision]
    model = transformers.Qwen3ForCausalLM._from_config(config, attn_implementation="eager", dtype=dtype)
    log, phase = [], [None]

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
            if phase[0] and storage.nbytes() >= SMALLEST:
                # the shapes of parameters, compared between ranks, are on the host
                if not (phase[0] == "load" and x.dtype == torch.int64):
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

    def nothing(_, bucket):
        future = torch.futures.Future()
        future.set_result(bucket.buffer())
        return future

    with Mode():
        for tensor in list(model.parameters()) + list(model.buffers()):
            tensor.view(-1)
        phase[0] = "load"
        options = {} if cap is None or first is not None else {"bucket_cap_mb": cap / (1 << 20)}
        if first is not None:  # both at once cannot be asked for
            real = torch.distributed.Reducer
            torch.distributed.Reducer = lambda *a: real(*a[:5], cap, *a[6:9], first, *a[10:])
        wrapped = DistributedDataParallel(model, gradient_as_bucket_view=views, **options)
        wrapped.register_comm_hook(None, nothing)
        before = wrapped._pre_forward
        at = [None]

        def pre_forward(*args, **kwargs):
            phase[0] = at[0]
            result = before(*args, **kwargs)
            phase[0] = None
            return result
        wrapped._pre_forward = pre_forward
        ids = torch.zeros(1, SEQ, dtype=torch.long)
        phase[0] = None
        for step in range(1, STEPS + 1):
            for i in range(micro):
                name = "step%d." % step if micro == 1 else "step%d.micro%d." % (step, i + 1)
                at[0] = name + "forward"
                with wrapped.no_sync() if i + 1 < micro else contextlib.nullcontext():
                    loss = wrapped(input_ids=ids, labels=ids, use_cache=False).loss
                    loss.backward()
                del loss
                own = {p.grad.untyped_storage()._cdata: p.grad.untyped_storage().nbytes()
                       for p in model.parameters() if p.grad is not None and
                       p.grad.untyped_storage().nbytes() == p.grad.nbytes}
                log.append((name + "backward", "own", sum(own.values())))
            wrapped.zero_grad()
    return log


def show(case, log):
    number, text, frees, phase = {}, [], [], None

    def flush():
        text.extend("-%d" % n for n in sorted(frees))
        frees.clear()

    for at, key, size in log:
        if key != "own" and size == 0 and key not in number:
            continue
        if at != phase:
            flush()
            text.append("\n> %s" % at)
            phase = at
        if key == "own":
            text.append("own=%d" % size)
        elif size:
            flush()
            number[key] = len(number) + 1
            text.append("%d=%d" % (number[key], size))
        else:
            frees.append(number[key])
    flush()
    precision, micro, views, first, cap = case
    print("case strategy=ddp gpus=2 precision=%s accumulation=%d ddp.gradient_as_bucket_view=%s%s%s" % (
        precision, micro, "on" if views else "off", "" if cap is None else " ddp.bucket_cap=%d" % cap,
        "" if first is None else " ddp.first_bucket_cap=%d" % first), end="")
    print(" ".join(text).replace(" \n", "\n"))
    print()


def main():
    if os.environ.get("RECORD"):
        case = CASES[int(sys.argv[1])]
        show(case, record(case))
        sys.stdout.flush()
        os._exit(0)
    for number in sys.argv[1:] or map(str, range(len(CASES))):
        subprocess.run([sys.executable, __file__, number], check=True,
                       env=dict(os.environ, RECORD="1", OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1"))


main()
