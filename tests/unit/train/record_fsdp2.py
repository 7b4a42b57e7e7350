#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record_fsdp2.py [NUMBER...] > fsdp2.txt: what torch's fully_shard allocates, from a run of it.

Trains a model of fixtures/configs for two steps on the CPU, cut by accelerate's own
fsdp2_prepare_model, as rank 0 of torch's "fake" group (collectives do nothing), and writes what
_fully_shard and the optimizer allocated, in order; storages that are resized away and back count as
others.  What is smaller than 64 bytes is left out.  Run by hand with torch, transformers and
accelerate; tests/unit/train reads the text alone.
"""
import os
import types

from recording import Log, adapt, build, checkpoint, fake_group, optimizer, run

QWEN, LLAVA = "tiny-qwen3", "tiny-llava-1.5"
LAYERS = {QWEN: ["Qwen3DecoderLayer"], LLAVA: ["CLIPEncoderLayer", "LlamaDecoderLayer"]}
# strategy, shards, replicas, micro-batches, other settings, optimizer, precision, model
CASES = [
    ("fsdp2", 2, 1, 1, "", "adamw", "bf16", QWEN),
    ("fsdp2", 4, 1, 1, "", "adamw", "bf16-mixed", QWEN),
    ("fsdp2", 2, 1, 2, "", "adamw", "bf16-mixed", QWEN),
    ("fsdp2", 2, 1, 3, "fsdp.reduce_dtype=fp32", "adamw", "bf16-mixed", QWEN),
    ("fsdp2", 3, 1, 1, "", "adamw", "fp32", QWEN),
    ("fsdp2", 2, 1, 1, "fsdp.reshard=off", "adamw", "bf16-mixed", QWEN),
    ("fsdp2", 2, 1, 1, "checkpointing=all", "adamw", "bf16-mixed", QWEN),
    ("fsdp2", 1, 1, 1, "", "adamw", "bf16-mixed", QWEN),
    ("fsdp2", 48, 1, 1, "", "sgd-momentum", "bf16", QWEN),
    ("hsdp", 2, 2, 1, "", "adamw", "bf16-mixed", QWEN),
    ("hsdp", 2, 4, 2, "", "adamw", "fp32", QWEN),
    ("fsdp2", 2, 1, 1, "", "adamw", "bf16-mixed", LLAVA),
    ("fsdp2", 4, 1, 2, "", "adamw", "bf16", LLAVA),
    ("fsdp2", 2, 1, 1, "train.vision=frozen checkpointing=all", "adamw", "bf16-mixed", LLAVA),
    ("fsdp2", 2, 1, 1, "train.decoder=frozen", "adamw", "bf16-autocast", LLAVA),
    ("fsdp2", 2, 1, 1, "train=lora lora.rank=4", "adamw", "bf16", QWEN),
    ("fsdp2", 2, 1, 1, "train=lora lora.rank=4 checkpointing=all", "adamw", "bf16-autocast", QWEN),
    ("fsdp2", 2, 1, 1, "checkpointing=all checkpointing.reentrant=on", "adamw", "bf16-mixed", QWEN),
]
OURS = ["_fully_shard/_fsdp_collectives", "_fully_shard/_fsdp_param", "/torch/optim/"]


def follow_resizes(log):
    """Unsharded parameters keep their storage and give up its bytes."""
    from torch.distributed.fsdp._fully_shard import _fsdp_param, _fsdp_param_group

    def free_storage(tensor):
        storage = tensor.untyped_storage()
        if storage.size() == 0:
            return
        storage.resize_(0)
        log.add(log.live[storage._cdata], 0)

    def alloc_storage(tensor):
        storage, size = tensor.untyped_storage(), tensor.numel() * tensor.itemsize
        if storage.size() == size:
            return
        storage.resize_(size)
        log.made += 1
        log.live[storage._cdata] = log.made
        log.add(log.made, size)

    _fsdp_param.free_storage = free_storage
    _fsdp_param.alloc_storage = _fsdp_param_group.alloc_storage = alloc_storage


def prepare(model, case):
    import torch
    from accelerate.utils import FullyShardedDataParallelPlugin
    from accelerate.utils.fsdp_utils import fsdp2_prepare_model
    strategy, shards, replicas, micro, more, kind, precision, name = case
    mixed = "bf16" if precision in ("bf16-mixed", "bf16-autocast") else "no"
    plugin = FullyShardedDataParallelPlugin(
        fsdp_version=2, auto_wrap_policy="transformer_based_wrap",
        transformer_cls_names_to_wrap=LAYERS[name], reshard_after_forward="reshard=off" not in more)
    if mixed != "no":
        plugin.set_mixed_precision(mixed)
    if "reduce_dtype=fp32" in more:
        plugin.mixed_precision_policy = torch.distributed.fsdp.MixedPrecisionPolicy(
            param_dtype=torch.bfloat16, reduce_dtype=torch.float32, output_dtype=torch.bfloat16)
    mesh = parallelism = None
    if strategy == "hsdp":
        names = ("dp_replicate", "dp_shard")
        mesh = torch.distributed.init_device_mesh("cpu", (replicas, shards), mesh_dim_names=names)
        parallelism = types.SimpleNamespace(fsdp_dim_names=names)
    accelerator = types.SimpleNamespace(
        state=types.SimpleNamespace(fsdp_plugin=plugin), torch_device_mesh=mesh,
        parallelism_config=parallelism, mixed_precision=mixed, is_main_process=False,
        device=torch.device("cpu"))
    if mixed != "no":
        from accelerate.utils import convert_outputs_to_fp32
        inner = torch.autocast("cpu", dtype=torch.bfloat16)(type(model).forward)
        model.forward = types.MethodType(convert_outputs_to_fp32(inner), model)
    return fsdp2_prepare_model(accelerator, model)


def record(case):
    strategy, shards, replicas, micro, more, kind, precision, name = case
    fake_group(0, shards * replicas)
    model, batch = build(name, {"bf16-mixed": "fp32", "bf16-autocast": "bf16"}.get(precision, precision))
    model = adapt(model, more)
    checkpoint(model, more)
    log = Log(OURS)
    follow_resizes(log)
    with log.following():
        model = prepare(model, case)
        optim = optimizer(kind, model)
        for step in (1, 2):
            for i in range(micro):
                at = "step%d." % step if micro == 1 else "step%d.micro%d." % (step, i + 1)
                model.set_requires_gradient_sync(i + 1 == micro)
                log.phase = at + "forward"
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
    strategy, shards, replicas, micro, more, kind, precision, name = case
    return "strategy=%s gpus=%d shards=%d accumulation=%d %s optimizer=%s precision=%s model=%s" % (
        strategy, shards * replicas, shards, micro, more + " clip_grad=off", kind, precision, name)


if __name__ == "__main__":
    run(os.path.abspath(__file__), CASES, record, settings_of, 0)
