#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record_offload.py DEEPSPEED_SOURCE: what DeepSpeed holds under offloading, card and host together.

A CPU run cannot tell the two apart, but their sum can be compared: printed is a line for each case, the
bytes of what ZeRO and the optimizer made and still hold when the first step is over, without what is
smaller than 64 bytes.  They stand in figures.c (OFFLOADED).  Run by hand, as record_zero.py.
"""
import sys

from recording import Log, build, fake_group, optimizer, run

QWEN = "tiny-qwen3"
# stage, rank, ranks, micro-batches, what is moved, precision
CASES = [
    (2, 0, 2, 1, "optimizer+grads", "bf16"),
    (1, 0, 4, 1, "optimizer+grads", "bf16"),
    (2, 0, 2, 2, "optimizer+grads", "fp32"),
    (3, 0, 2, 1, "optimizer+grads", "bf16"),
    (3, 0, 2, 2, "optimizer+grads", "fp32"),
    (3, 0, 4, 1, "params", "bf16"),
]
OURS = ["stage_1_and_2", "/zero/stage3.py", "/zero/partition_parameters.py", "coalesced_collectives",
        "/torch/optim/"]


def record(source, case):
    stage, rank, ranks, micro, what, precision = case
    sys.path.insert(0, source)
    import logging
    logging.disable(logging.WARNING)
    import deepspeed
    model, batch = build(QWEN, precision)
    fake_group(rank, ranks)
    zero = {"stage": stage, "reduce_bucket_size": 20000, "offload_optimizer": {"device": "cpu"}}
    if stage == 3:
        zero.update(stage3_param_persistence_threshold=0, stage3_prefetch_bucket_size=0,
                    stage3_max_reuse_distance=0)
    if what == "params":
        zero["offload_param"] = {"device": "cpu"}
    settings = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": micro,
                "bf16": {"enabled": precision == "bf16"}, "gradient_clipping": 1.0,
                "zero_allow_untested_optimizer": True, "zero_force_ds_cpu_optimizer": False,
                "zero_optimization": zero}
    log = Log(OURS)
    with log.following():
        engine = deepspeed.initialize(model=model, optimizer=optimizer("adamw", model), config=settings)[0]
        for _ in range(micro):
            loss = engine(use_cache=False, **batch).loss
            engine.backward(loss)
            del loss
            engine.step()
    held = {}
    for _, number, size in log.entries:
        held[number] = size
    log.entries = [("held", 1, sum(held.values()))]
    return log


def settings_of(case):
    stage, rank, ranks, micro, what, precision = case
    three = ("zero.stage3_param_persistence_threshold=0 zero.stage3_prefetch_bucket_size=0 "
             "zero.stage3_max_reuse_distance=0" if stage == 3 else "")
    return "strategy=zero%d gpus=%d accumulation=%d offload=%s precision=%s %s" % (
        stage, ranks, micro, what, precision, three)


if __name__ == "__main__":
    run(__file__, CASES, record, settings_of, 1)
