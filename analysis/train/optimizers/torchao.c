/* SPDX-License-Identifier: Apache-2.0
 *
 * torchao (0.14.1, with torch 2.9): state in blocks of 256 elements, as the Trainer asks for.  Every
 * tensor has maps of its own.
 */
#include "train/optimizer.h"

enum { BLOCK = 256, LEAST = 4096 };

static bool is_plain(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    return vram_numel(p) < LEAST || vram_numel(p) % BLOCK != 0;
}

static bool is_small(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    return vram_numel(p) < LEAST;
}

#define PLAIN {.when = "fewer than 4096 elements, or no multiple of 256", .applies = is_plain, \
               .each = "@exp_avg=n @exp_avg_sq=n"}
#define SOURCE "torchao/optim/adam.py _new_buffer"
#define COMPILED "the step is compiled: what its kernels need beside state is not known and not counted"

const struct vram_optimizer_row vram_optimizers_torchao[] = {
    {.name = "adamw-torch-8bit",
     .aliases = "",
     .source = SOURCE ", subclass_8bit.py",
     .unknown = COMPILED,
     .rules = {PLAIN, {.each = "@exp_avg=n:u8 @scale1=n/256:fp32 @map1=256:fp32 "
                               "@exp_avg_sq=n:u8 @scale2=n/256:fp32 @map2=256:fp32"}}},
    {.name = "adamw-4bit",
     .aliases = "adamw-torch-4bit",
     .source = SOURCE ", subclass_4bit.py",
     .unknown = COMPILED,
     .rules = {PLAIN, {.each = "@exp_avg=n/2:u8 @scale1=n/256:fp32 @map1=16:fp32 "
                               "@exp_avg_sq=n/2:u8 @scale2=n/256:fp32 @map2=16:fp32"}}},
    {.name = "adamw-fp8",
     .aliases = "",
     .source = SOURCE ", subclass_fp8.py",
     .unknown = COMPILED,
     .rules = {PLAIN, {.each = "@exp_avg=n:fp8-e4m3 @scale1=n/256:fp32 "
                               "@exp_avg_sq=n:fp8-e4m3 @scale2=n/256:fp32"}}},
    {.name = "adamw-cpu",
     .aliases = "",
     .source = "torchao/optim/cpu_offload.py CPUOffloadOptimizer, read",
     .note = "gradients stay on the card until the step is over (offload_gradients=False)",
     .rules = {{.when = "fewer than 4096 elements", .applies = is_small,
                .each = "@step=1:fp32 @exp_avg=n @exp_avg_sq=n"},
               {.each = "@parameter=n:host @gradient=n:host @exp_avg=n:host @exp_avg_sq=n:host"}}},
    {.name = NULL}};
