#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record_fsdp1.py [NUMBER...] > fsdp1.txt: what FullyShardedDataParallel allocates, from a run of it.

As record_fsdp2.py with torch's first FSDP, given what accelerate 1.15 gives it (prepare_model); the
rank is the one with the most elements that are no padding.
"""
import functools
import os
import types

from record_fsdp2 import LAYERS, LLAVA, QWEN
from recording import Log, adapt, build, checkpoint, fake_group, optimizer, run

# shards, micro-batches, other settings, optimizer, precision, model
CASES = [
    (2, 1, "", "adamw", "bf16", QWEN),
    (2, 1, "", "adamw", "bf16-mixed", QWEN),
    (4, 2, "", "adamw", "bf16-mixed", QWEN),
    (3, 3, "fsdp.reduce_dtype=fp32", "adamw", "bf16-mixed", QWEN),
    (2, 1, "fsdp.prefetch=pre", "adamw", "fp32", QWEN),
    (2, 1, "fsdp.prefetch=post", "adamw", "bf16-mixed", QWEN),
    (2, 2, "fsdp.prefetch=pre fsdp.forward_prefetch=on", "adamw", "bf16-mixed", QWEN),
    (2, 1, "fsdp.reshard=off", "adamw", "bf16-mixed", QWEN),
    (2, 1, "checkpointing=all", "adamw", "bf16-mixed", QWEN),
    (48, 1, "", "sgd-momentum", "bf16", QWEN),
    (2, 1, "", "adamw", "bf16-mixed", LLAVA),
    (4, 2, "", "adamw", "bf16", LLAVA),
    (2, 1, "train.vision=frozen checkpointing=all", "adamw", "bf16-mixed", LLAVA),
    (2, 1, "train=lora lora.rank=4 lora.dtype=base", "adamw", "bf16", QWEN),
    (2, 1, "train=lora lora.rank=4 checkpointing=all", "adamw", "bf16-mixed", QWEN),
    (2, 1, "checkpointing=all checkpointing.reentrant=on", "adamw", "bf16-mixed", QWEN),
]
OURS = ["fsdp/_flat_param", "fsdp/_runtime_utils", "/torch/optim/"]


def follow_resizes(log):
    from torch.distributed.fsdp import _flat_param

    def free_storage(tensor):
        storage = tensor.untyped_storage()
        if storage.size() == 0:
            return
        storage.resize_(0)
        log.add(log.live[storage._cdata], 0)

    def alloc_storage(tensor, size):
        storage, bytes_ = tensor.untyped_storage(), size.numel() * tensor.itemsize
        if storage.size() == bytes_:
            return
        storage.resize_(bytes_)
        log.made += 1
        log.live[storage._cdata] = log.made
        log.add(log.made, bytes_)

    _flat_param._free_storage, _flat_param._alloc_storage = free_storage, alloc_storage


def classes_of(model, name):
    return {type(m) for m in model.modules() if type(m).__name__ in LAYERS[name]}


def prepare(model, case):
    import torch
    from torch.distributed.fsdp import (BackwardPrefetch, FullyShardedDataParallel as FSDP, MixedPrecision,
                                        ShardingStrategy)
    from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
    shards, micro, more, kind, precision, name = case
    mixed = "mixed" in precision
    policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls=classes_of(model, name))
    if "train=lora" in more:  # as transformers sets it
        from peft.utils.other import fsdp_auto_wrap_policy
        os.environ["FSDP_TRANSFORMER_CLS_TO_WRAP"] = ",".join(LAYERS[name])
        policy = fsdp_auto_wrap_policy(model)
    reduce = torch.float32 if "reduce_dtype=fp32" in more else torch.bfloat16
    if mixed:
        from accelerate.utils import convert_outputs_to_fp32
        inner = torch.autocast("cpu", dtype=torch.bfloat16)(type(model).forward)
        model.forward = types.MethodType(convert_outputs_to_fp32(inner), model)
    model = FSDP(
        model, device_id=torch.device("cpu"), use_orig_params=True, limit_all_gathers=True,
        auto_wrap_policy=policy,
        mixed_precision=MixedPrecision(torch.bfloat16, reduce, torch.bfloat16) if mixed else None,
        sharding_strategy=(ShardingStrategy.SHARD_GRAD_OP if "reshard=off" in more
                           else ShardingStrategy.FULL_SHARD),
        backward_prefetch=(BackwardPrefetch.BACKWARD_PRE if "prefetch=pre" in more else
                           BackwardPrefetch.BACKWARD_POST if "prefetch=post" in more else None),
        forward_prefetch="forward_prefetch=on" in more)
    for module in FSDP.fsdp_modules(model):
        param = module._flat_param if module._has_params else None
        if mixed and param is not None and param.dtype != torch.float32 and param.requires_grad:
            param.data = param.data.to(torch.float32)
            module._handle._orig_param_dtype = torch.float32
    return model


def record(case):
    import contextlib
    shards, micro, more, kind, precision, name = case
    fake_group(int(os.environ.get("RANK_FOLLOWED", "0")), shards)
    model, batch = build(name, {"bf16-mixed": "fp32"}.get(precision, precision))
    model = adapt(model, more)
    checkpoint(model, more)
    log = Log(OURS, ["_cast_forward_inputs"])
    follow_resizes(log)
    for p in model.parameters():
        log.see(p)
    with log.following():
        model = prepare(model, case)
        optim = optimizer(kind, model)
        for step in (1, 2):
            for i in range(micro):
                at = "step%d." % step if micro == 1 else "step%d.micro%d." % (step, i + 1)
                log.phase = at + "forward"
                with model.no_sync() if i + 1 < micro else contextlib.nullcontext():
                    loss = model(use_cache=False, **batch).loss
                    log.phase = at + "backward"
                    loss.backward()
                del loss
            log.phase = "step%d.optimizer" % step
            optim.step()
            if step == 1:
                optim.zero_grad()
        log.stopped = True
    return log


def settings_of(case):
    shards, micro, more, kind, precision, name = case
    return "strategy=fsdp gpus=%d accumulation=%d %s optimizer=%s precision=%s model=%s" % (
        shards, micro, more + " clip_grad=off", kind, precision, name)


if __name__ == "__main__":
    run(os.path.abspath(__file__), CASES, record, settings_of, 0)
