/* SPDX-License-Identifier: Apache-2.0
 *
 * Strategies: what data parallelism adds, at the places where the real ones hook.  One row each;
 * their code is in a file of its own.
 */
#include <string.h>

#include "train/strategy.h"

const struct vram_strategy_row vram_strategies[] = {
    {.name = "none", .help = "one GPU", .source = ""},
    {.name = "ddp",
     .help = "DistributedDataParallel: gradient buckets beside the gradients",
     .source = "torch 2.9 nn/parallel/distributed.py, reducer.cpp",
     .communicators = 1,
     .changes = true, /* buckets are made anew behind the first step */
     .init = vram_ddp_init,
     .forward_begin = vram_ddp_forward_begin,
     .accumulated = vram_ddp_accumulated},
    {.name = "zero1",
     .help = "DeepSpeed ZeRO 1: optimizer state sharded",
     .source = "DeepSpeed 0.19.6 runtime/zero/stage_1_and_2.py",
     .shards = true,
     .deepspeed = true,
     .communicators = 2, /* the default group and the engine's data-parallel group */
     .init = vram_zero_init,
     .backward_begin = vram_zero_backward_begin,
     .accumulated = vram_zero_accumulated,
     .backward_end = vram_zero_backward_end,
     .synchronises = vram_zero_synchronises,
     .synchronise = vram_zero_synchronise,
     .step = vram_zero_step},
    {.name = "zero2",
     .help = "DeepSpeed ZeRO 2: optimizer state and gradients sharded",
     .source = "DeepSpeed 0.19.6 runtime/zero/stage_1_and_2.py",
     .shards = true,
     .deepspeed = true,
     .communicators = 2, /* the default group and the engine's data-parallel group */
     .partitions_gradients = true,
     .init = vram_zero_init,
     .backward_begin = vram_zero_backward_begin,
     .accumulated = vram_zero_accumulated,
     .backward_end = vram_zero_backward_end,
     .synchronises = vram_zero_synchronises,
     .synchronise = vram_zero_synchronise,
     .step = vram_zero_step},
    {.name = "zero3",
     .help = "DeepSpeed ZeRO 3: parameters sharded as well, gathered module by module",
     .source = "DeepSpeed 0.19.6 runtime/zero/stage3.py, partitioned_param_coordinator.py",
     .shards = true,
     .deepspeed = true,
     .communicators = 2, /* the default group and the engine's data-parallel group */
     .partitions_gradients = true,
     .changes = true, /* what is fetched ahead follows the trace of the first step */
     .around = &vram_coordinator_hooks,
     .load = vram_zero3_load,
     .init = vram_zero3_init,
     .accumulated = vram_zero3_accumulated,
     .backward_end = vram_zero3_backward_end,
     .step = vram_zero3_step},
    {.name = "fsdp2",
     .help = "fully_shard: parameters, gradients and optimizer state sharded, gathered layer by layer",
     .source = "torch 2.9 distributed/fsdp/_fully_shard; accelerate 1.15 fsdp2_prepare_model",
     .shards = true,
     .fsdp = true,
     .loads_on_host = true,
     .communicators = 1,
     .changes = true, /* memory of gathered parameters is made in the first step and used again */
     .around = &vram_fsdp2_hooks,
     .load = vram_fsdp2_load,
     .init = vram_fsdp2_init,
     .backward_end = vram_fsdp2_backward_end,
     .reduce_all = vram_fsdp2_reduce_all,
     .zero_grad = vram_fsdp2_zero_grad},
    {.name = "fsdp",
     .help = "FullyShardedDataParallel: one flat parameter a layer, sharded",
     .source = "torch 2.9 distributed/fsdp/_flat_param.py, _runtime_utils.py; accelerate 1.15",
     .shards = true,
     .fsdp = true,
     .loads_on_host = true,
     .communicators = 1,
     .changes = true, /* what is gathered is made in the first forward */
     .around = &vram_fsdp1_hooks,
     .init = vram_fsdp1_init,
     .accumulated = vram_fsdp1_accumulated,
     .backward_end = vram_fsdp1_backward_end,
     .reduce_all = vram_fsdp1_reduce_all,
     .zero_grad = vram_fsdp1_zero_grad},
    {.name = "hsdp",
     .help = "fully_shard over groups of `shards` ranks, copies of which are reduced together",
     .source = "torch 2.9 distributed/fsdp/_fully_shard with a mesh of two dimensions",
     .shards = true,
     .fsdp = true,
     .loads_on_host = true,
     .communicators = 2, /* shards and replicas */
     .changes = true,
     .around = &vram_fsdp2_hooks,
     .load = vram_fsdp2_load,
     .init = vram_fsdp2_init,
     .backward_end = vram_fsdp2_backward_end,
     .reduce_all = vram_fsdp2_reduce_all,
     .zero_grad = vram_fsdp2_zero_grad},
};
const uint32_t vram_strategies_count = sizeof vram_strategies / sizeof *vram_strategies;

const struct vram_strategy_row *vram_strategy_find(const char *name)
{
    for (uint32_t i = 0; i < vram_strategies_count; i++)
        if (!strcmp(vram_strategies[i].name, name))
            return &vram_strategies[i];
    return NULL;
}
