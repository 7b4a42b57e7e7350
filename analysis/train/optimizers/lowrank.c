/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimizers that keep state of projected gradients: GaLore (galore-torch 1.0) and APOLLO (apollo-torch
 * 1.0.3), as transformers 5.24 sets them up: only weights of Linears that are targets, the rest plain,
 * no weight decay.  The projector is made anew every 200 steps, and every step here is such a step; of a
 * fp32 gradient it is a slice of the decomposition, which so stays whole.
 */
#include "train/optimizer.h"
#include "train/optimizers/adafactor.h"

static bool is_narrow(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return p->dtype != VRAM_DT_F32 && vram_param_is_target(o, p);
}

static bool is_wide(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return vram_param_is_target(o, p) && p->shape[0] < p->shape[1];
}

static bool is_small(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    return vram_numel(p) < 4096;
}

/* what bitsandbytes sees is the projected matrix */
static bool is_target_small(const struct vram_optimizer *o, const struct vram_handle *p)
{
    if (!vram_param_is_target(o, p))
        return false;
    int64_t large = p->shape[0] > p->shape[1] ? p->shape[0] : p->shape[1];
    int64_t least = p->shape[0] + p->shape[1] - large, rank = o->setup->optimizer_rank;
    return large * (rank < least ? rank : least) < 4096;
}

static bool is_narrow_small(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return p->dtype != VRAM_DT_F32 && is_target_small(o, p);
}

static bool is_wide_small(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return is_wide(o, p) && is_target_small(o, p);
}

#define TARGETS_16 "16-bit targets"
#define TARGETS_WIDE "targets with more inputs than outputs"
#define TARGETS_TALL "other targets"

/* singular values, and what galore_projector.py multiplies and does not need */
#define SVD "u=R*m:fp32 s=m:fp32 vh=m*C:fp32 diagonal=r*r:fp32 product=M*r:fp32 -diagonal "
#define SVD_END "-u -s -vh -product "
#define SVD_16 "wide=n:fp32 " SVD "^projector=m*r -wide " SVD_END "low=M*r"
#define SVD_WIDE SVD "@projector<u " SVD_END "low=M*r:fp32"
#define SVD_TALL SVD "@projector<vh " SVD_END "low=M*r:fp32"

#define PLAIN_ADAM {.each = "@exp_avg=n @exp_avg_sq=n root=n update=n"}
#define GALORE_STEP "@exp_avg=M*r @exp_avg_sq=M*r root=M*r small=M*r -update back=n update=n -back -small -low"

#define GALORE(svd) svd " " GALORE_STEP
#define GALORE_ADAMW \
    {{.when = TARGETS_16, .applies = is_narrow, .each = GALORE(SVD_16)}, \
     {.when = TARGETS_WIDE, .applies = is_wide, .each = GALORE(SVD_WIDE)}, \
     {.when = TARGETS_TALL, .applies = vram_param_is_target, .each = GALORE(SVD_TALL)}, \
     PLAIN_ADAM}

/* The parameter lives in a copy from then on, its gradient is the projected one; the state is
 * bitsandbytes', of the projected shape. */
#define SWAP "saved=n data=M*r param<saved grad<low"
#define BACK "back=n scaled=n -back -scaled -data"
#define GALORE_8(svd, state) svd " " SWAP " " state " @unorm=1:fp32 " BACK
#define STATE_8 "@state1=M*r:u8 @state2=M*r:u8 @absmax1=M*r/256:fp32 @absmax2=M*r/256:fp32"
#define STATE_32 "@state1=M*r:fp32 @state2=M*r:fp32"
#define MAPS "&dynamic=256:fp32 &udynamic=256:fp32"
#define SMALL ", projected fewer than 4096 elements"
#define GALORE_ADAMW_8BIT \
    {{.when = TARGETS_16 SMALL, .applies = is_narrow_small, .each = GALORE_8(SVD_16, STATE_32)}, \
     {.when = TARGETS_16, .applies = is_narrow, .each = GALORE_8(SVD_16, MAPS " " STATE_8)}, \
     {.when = TARGETS_WIDE SMALL, .applies = is_wide_small, .each = GALORE_8(SVD_WIDE, STATE_32)}, \
     {.when = TARGETS_WIDE, .applies = is_wide, .each = GALORE_8(SVD_WIDE, MAPS " " STATE_8)}, \
     {.when = TARGETS_TALL SMALL, .applies = is_target_small, .each = GALORE_8(SVD_TALL, STATE_32)}, \
     {.when = TARGETS_TALL, .applies = vram_param_is_target, .each = GALORE_8(SVD_TALL, MAPS " " STATE_8)}, \
     {.when = "others with fewer than 4096 elements", .applies = is_small, \
      .each = "@state1=n:fp32 @state2=n:fp32 @unorm=1:fp32"}, \
     {.each = MAPS " @state1=n:u8 @state2=n:u8 @absmax1=n/256:fp32 @absmax2=n/256:fp32 @unorm=1:fp32"}}

/* transformers' Adafactor of the projected gradient, which is fp32 then, and back to the whole; a slice of
 * a fp32 decomposition is the projector whatever the parameter is */
#define FACTORED(svd, rows, columns) \
    "-grad32 grad32~grad " svd " grad32<low @row=" rows ":fp32 @column=" columns ":fp32 -param32 " \
    "param32~param " RMS("^rms") " square=M*r:fp32 small=M*r:fp32 -square -update r=" rows \
    ":fp32 -r c=" columns ":fp32 -c mean=1:fp32 r=" rows ":fp32 -mean c=" columns \
    ":fp32 product=M*r:fp32 -r -c -small " \
    CLIPPED " back=n:fp32 update=n:fp32 -back -product negated=n:fp32 -negated"
#define GALORE_ADAFACTOR \
    {{.when = TARGETS_WIDE, .applies = is_wide, .each = FACTORED(SVD_WIDE, "r", "M")}, \
     {.when = TARGETS_TALL, .applies = vram_param_is_target, .each = FACTORED(SVD_TALL, "M", "r")}, \
     {.when = "other matrices", .applies = vram_param_is_matrix, .each = ADAFACTOR_MATRIX}, \
     {.each = ADAFACTOR_VECTOR}}

/* a random matrix in fp32, scaled, then in the gradient's dtype; the factor's norms are per channel */
#define PROJECT_16 \
    "wide=n:fp32 random=m*r:fp32 even=m*r:fp32 -random ^projector=m*r -even -wide low=M*r"
#define PROJECT_32 "random=m*r:fp32 ^projector=m*r:fp32 -random low=M*r"
#define APOLLO_STEP "@exp_avg=M*r @exp_avg_sq=M*r root=M*r small=M*r -update " \
                    "norm1=M norm2=M sum=M -norm2 factor=M -norm1 -sum " \
                    "scaled=n +ratio=1 -ratio +scaled=n ^norm=1 -small -low"
/* one factor for the whole matrix */
#define MINI_STEP "@exp_avg=M*r @exp_avg_sq=M*r root=M*r small=M*r -update " \
                  "norm1=1 norm2=1 sum=1 -norm2 factor=1 -norm1 -sum " \
                  "scaled=n +ratio=1 -ratio +scaled=n ^norm=1 -small -low"
#define APOLLO(step) \
    {{.when = TARGETS_16, .applies = is_narrow, .each = PROJECT_16 " " step}, \
     {.when = TARGETS_TALL, .applies = vram_param_is_target, .each = PROJECT_32 " " step}, \
     PLAIN_ADAM}

#define GALORE_SOURCE "galore_torch/adamw.py, galore_projector.py; transformers trainer_optimizer.py"
#define GALORE_8_SOURCE "galore_torch/adamw8bit.py, galore_projector.py; bitsandbytes/optim/optimizer.py"
#define SOLVER "the workspace of the singular value decomposition is not counted"
#define ANEW "as in steps that make the projector anew, every 200th"
#define APOLLO_SOURCE "apollo_torch/apollo.py, random_projector.py; transformers trainer_optimizer.py"

const struct vram_optimizer_row vram_optimizers_lowrank[] = {
    {.name = "galore-adamw",
     .aliases = "",
     .source = GALORE_SOURCE,
     .unknown = SOLVER,
     .note = ANEW,
     .one_function = true,
     .low_rank = true,
     .second = vram_param_is_target,
     .rules = GALORE_ADAMW},
    {.name = "galore-adamw-layerwise",
     .aliases = "",
     .source = GALORE_SOURCE,
     .unknown = SOLVER,
     .note = ANEW,
     .one_function = true,
     .low_rank = true,
     .second = vram_param_is_target,
     .in_backward = VRAM_BACKWARD_STORED,
     .rules = GALORE_ADAMW},
    {.name = "galore-adamw-8bit",
     .aliases = "",
     .source = GALORE_8_SOURCE,
     .unknown = SOLVER,
     .note = ANEW,
     .low_rank = true,
     .second = vram_param_is_target,
     .one_function = true,
     .rules = GALORE_ADAMW_8BIT},
    {.name = "galore-adamw-8bit-layerwise",
     .aliases = "",
     .source = GALORE_8_SOURCE,
     .unknown = SOLVER,
     .note = ANEW,
     .low_rank = true,
     .second = vram_param_is_target,
     .in_backward = VRAM_BACKWARD_STORED,
     .one_function = true,
     .rules = GALORE_ADAMW_8BIT},
    {.name = "apollo-mini",
     .aliases = "",
     .source = APOLLO_SOURCE,
     .note = ANEW "; scale_type=tensor; meant with optimizer.rank=1",
     .one_function = true,
     .low_rank = true,
     .second = vram_param_is_target,
     .rules = APOLLO(MINI_STEP)},
    {.name = "galore-adafactor",
     .aliases = "",
     .source = "galore_torch/adafactor.py, galore_projector.py; transformers trainer_optimizer.py",
     .unknown = SOLVER,
     .note = ANEW,
     .low_rank = true,
     .second = vram_param_is_target,
     .one_function = true,
     .rules = GALORE_ADAFACTOR},
    {.name = "galore-adafactor-layerwise",
     .aliases = "",
     .source = "galore_torch/adafactor.py, galore_projector.py",
     .unknown = SOLVER,
     .note = "transformers 5.24 leaves relative_step on under this name, which Adafactor refuses beside a rate",
     .low_rank = true,
     .second = vram_param_is_target,
     .in_backward = VRAM_BACKWARD_STORED,
     .one_function = true,
     .rules = GALORE_ADAFACTOR},
    {.name = "apollo",
     .aliases = "apollo-adamw",
     .source = APOLLO_SOURCE,
     .note = ANEW,
     .one_function = true,
     .low_rank = true,
     .second = vram_param_is_target,
     .rules = APOLLO(APOLLO_STEP)},
    {.name = "apollo-layerwise",
     .aliases = "apollo-adamw-layerwise",
     .source = APOLLO_SOURCE,
     .note = ANEW,
     .one_function = true,
     .low_rank = true,
     .second = vram_param_is_target,
     .in_backward = VRAM_BACKWARD_STORED,
     .rules = APOLLO(APOLLO_STEP)},
    {.name = NULL}};
