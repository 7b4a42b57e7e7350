/* SPDX-License-Identifier: Apache-2.0
 *
 * LOMO and AdaLOMO (lomo-optim 0.1.1): a hook on each tensor, which runs before the tensor's gradient is
 * stored and steps on the parameter whose gradient is.
 */
#include "train/optimizer.h"
#include "train/optimizers/adafactor.h"

const struct vram_optimizer_row vram_optimizers_backward[] = {
    {.name = "lomo",
     .aliases = "",
     .source = "lomo_optim/lomo.py fuse_update",
     .in_backward = VRAM_BACKWARD_NEXT,
     .rules = {{.each = "grad32~grad -grad param32~param"}}},
    {.name = "adalomo",
     .aliases = "",
     .source = "lomo_optim/adalomo.py fuse_update",
     .in_backward = VRAM_BACKWARD_NEXT,
     .at_construction = true,
     .rules = {{.when = "matrices", .applies = vram_param_is_matrix, .states = "@row=R:fp32 @column=C:fp32",
                .each = "grad32~grad -grad square=n:fp32 update=n:fp32 -square rows=R:fp32 -rows "
                        "columns=C:fp32 -columns mean=1:fp32 rows=R:fp32 -mean columns=C:fp32 product=n:fp32 "
                        "-rows -columns update<product "
                        CLIPPED " param32~param"},
               {.states = "@square=n:fp32",
                .each = "grad32~grad -grad square=n:fp32 update=n:fp32 -square update=n:fp32 "
                        CLIPPED " param32~param"}}},
    {.name = NULL}};
