#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record_zero3.py DEEPSPEED_SOURCE [NUMBER...] > zero3.txt: what DeepSpeed's ZeRO 3 allocates, from a run.

As record_zero.py, with stage 3 and rank 0.  Written is what stage3.py, partition_parameters.py,
coalesced_collectives.py and the optimizer allocated: shards, gathered parameters, buckets, masters,
states.  The flat tensor that defragment() makes is told where its copy to a card would be made.
"""
import sys

from recording import Log, adapt, build, checkpoint, fake_group, optimizer, run

QWEN, LLAVA = "tiny-qwen3", "tiny-llava-1.5"
SMALL = {"reduce_bucket_size": 20000, "stage3_prefetch_bucket_size": 10000,
         "stage3_param_persistence_threshold": 100, "stage3_max_reuse_distance": 20000}
# ranks, micro-batches, keys of zero_optimization beside SMALL, other settings, optimizer, precision, model
CASES = [
    (2, 1, {}, "", "adamw", "bf16", QWEN),
    (4, 1, {"stage3_prefetch_bucket_size": 0, "stage3_max_reuse_distance": 0}, "", "adamw", "bf16", QWEN),
    (2, 2, {}, "", "adamw", "bf16", QWEN),
    (3, 1, {"stage3_prefetch_bucket_size": 40000}, "", "adamw", "bf16", QWEN),
    (2, 1, {"stage3_max_reuse_distance": 1000000000, "stage3_prefetch_bucket_size": 50000000,
            "stage3_param_persistence_threshold": 100000, "reduce_bucket_size": 1000000}, "", "adamw",
     "bf16", QWEN),
    (2, 1, {"stage3_max_live_parameters": 15000, "stage3_prefetch_bucket_size": 40000}, "", "adamw",
     "bf16", QWEN),
    (2, 1, {"sub_group_size": 10000}, "", "adamw", "bf16", QWEN),
    (2, 1, {"sub_group_size": 10000}, "", "adamw", "fp32", QWEN),
    (2, 1, {"stage3_allgather_sequential": True, "stage3_prefetch_bucket_size": 20000}, "", "adamw",
     "bf16", QWEN),
    (2, 1, {"reduce_scatter": False}, "", "adamw", "bf16", QWEN),
    (1, 1, {}, "", "adamw", "bf16", QWEN),
    (48, 1, {}, "", "sgd-momentum", "bf16", QWEN),
    (2, 1, {}, "checkpointing=all", "adamw", "bf16", QWEN),
    (8, 3, {"reduce_bucket_size": 1000000}, "checkpointing=all", "adamw", "bf16", QWEN),
    (2, 1, {"stage3_model_persistence_threshold": 200}, "", "adamw", "bf16", QWEN),
    (2, 1, {"contiguous_gradients": False}, "", "adamw", "bf16", QWEN),
    (2, 2, {}, "", "adamw", "bf16", LLAVA),
    (4, 1, {"stage3_prefetch_bucket_size": 40000}, "train.vision=frozen", "adamw", "bf16", LLAVA),
    (4, 1, {}, "train.vision=frozen checkpointing=all", "adamw", "fp32", LLAVA),
    (2, 1, {"stage3_prefetch_bucket_size": 0}, "train.decoder=frozen checkpointing=all", "adamw", "bf16",
     LLAVA),
    (3, 2, {"sub_group_size": 30000}, "checkpointing=all", "adamw", "bf16", LLAVA),
    (2, 1, {}, "train=lora lora.rank=4", "adamw", "bf16", QWEN),
    (2, 1, {}, "train=lora lora.rank=4 checkpointing=all", "adamw", "bf16", QWEN),
    (2, 1, {"stage3_max_reuse_distance": 0, "stage3_prefetch_bucket_size": 0},
     "train=lora lora.rank=4 checkpointing=all", "adamw", "bf16", QWEN),
    (2, 1, {}, "checkpointing=all checkpointing.reentrant=on", "adamw", "bf16", QWEN),
    (2, 2, {"stage3_prefetch_bucket_size": 0},
     "train.vision=frozen checkpointing=all checkpointing.reentrant=on", "adamw", "bf16", LLAVA),
    (2, 1, {}, "train=lora lora.rank=4 checkpointing=all checkpointing.reentrant=on", "adamw", "bf16", QWEN),
]
OURS = ["/zero/stage3.py", "/zero/partition_parameters.py", "coalesced_collectives", "/torch/optim/"]


def on_a_card(log):
    """defragment() joins shards in host memory and copies them back: the copy is what is told."""
    from deepspeed.runtime.zero import stage3
    inner = stage3.defragment

    def defragment(tensors):
        before = len(log.entries)
        out = inner(tensors)
        born = [e for e in log.entries[before:] if e[2]]
        assert len(born) == 1
        log.entries.remove(born[0])
        log.entries.append(born[0])
        return out

    stage3.defragment = defragment


def record(source, case):
    ranks, micro, keys, more, kind, precision, name = case
    sys.path.insert(0, source)
    import logging
    logging.disable(logging.WARNING)
    import deepspeed
    model, batch = build(name, precision)
    model = adapt(model, more)
    checkpoint(model, more)
    fake_group(0, ranks)
    settings = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": micro,
                "bf16": {"enabled": precision == "bf16"}, "gradient_clipping": 1.0,
                "zero_allow_untested_optimizer": True, "zero_force_ds_cpu_optimizer": False,
                "zero_optimization": {"stage": 3, **SMALL, **keys}}
    log = Log(OURS)
    on_a_card(log)
    with log.following():
        engine = deepspeed.initialize(model=model, optimizer=optimizer(kind, model), config=settings)[0]
        for step in (1, 2):
            for i in range(micro):
                at = "step%d." % step if micro == 1 else "step%d.micro%d." % (step, i + 1)
                log.phase = at + "forward"
                loss = engine(use_cache=False, **batch).loss
                log.phase = at + "backward"
                engine.backward(loss)
                del loss
                log.phase = "step%d.optimizer" % step
                engine.step()
    return log


def settings_of(case):
    ranks, micro, keys, more, kind, precision, name = case
    zero = " ".join("zero.%s=%s" % (k, {True: "on", False: "off"}.get(v, v) if isinstance(v, bool) else v)
                    for k, v in dict(SMALL, **keys).items())
    return "strategy=zero3 gpus=%d accumulation=%d %s %s optimizer=%s precision=%s model=%s" % (
        ranks, micro, zero, more, kind, precision, name)


if __name__ == "__main__":
    run(__file__, CASES, record, settings_of, 1)
