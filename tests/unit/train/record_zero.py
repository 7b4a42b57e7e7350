#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record_zero.py DEEPSPEED_SOURCE [NUMBER...] > zero.txt: what DeepSpeed's ZeRO allocates, from a run of it.

Trains a model of fixtures/configs for two steps on the CPU with the real engine, as the one rank of a
group (torch's "fake" backend: collectives do nothing) that this project follows, the one whose
partition touches the most elements, and writes what the files of ZeRO and the optimizer allocated, in
order.  What is smaller than 64 bytes is left out.  Run by hand with torch, transformers and
DeepSpeed's requirements; tests/unit/train reads the text alone.
"""
import sys

from recording import Log, build, decays, fake_group, optimizer, run

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
    model, batch = build(name, precision)
    groups = [[int(p.numel()) for n, p in model.named_parameters() if decays(n) == decayed]
              for decayed in (True, False)]
    fake_group(followed(groups, ranks), ranks)
    settings = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": micro,
                "bf16": {"enabled": precision == "bf16"}, "gradient_clipping": 1.0,
                "zero_allow_untested_optimizer": True, "zero_force_ds_cpu_optimizer": False,
                "zero_optimization": {"stage": stage, "reduce_bucket_size": bucket,
                                      "overlap_comm": switch == "zero.overlap_comm=on",
                                      "reduce_scatter": switch != "zero.reduce_scatter=off",
                                      "contiguous_gradients": True}}
    log = Log(["stage_1_and_2", "/torch/optim/"])
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
                # stage 1 reduces behind the last backward, before the step
                log.phase = "step%d.optimizer" % step
                engine.step()
    return log


def settings_of(case):
    return ("strategy=zero%d gpus=%d accumulation=%d zero.reduce_bucket_size=%d %s optimizer=%s "
            "precision=%s model=%s" % case)


run(__file__, CASES, record, settings_of, 1)
