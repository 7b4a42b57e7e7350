/* SPDX-License-Identifier: Apache-2.0
 *
 * Strategies: what data parallelism adds, at the places where the real ones hook.
 */
#include <string.h>

#include "train/train.h"

const struct vram_strategy_row vram_strategies[] = {
    {.name = "none", .help = "one GPU, or copies that never meet", .source = ""},
};
const uint32_t vram_strategies_count = sizeof vram_strategies / sizeof *vram_strategies;

const struct vram_strategy_row *vram_strategy_find(const char *name)
{
    for (uint32_t i = 0; i < vram_strategies_count; i++)
        if (!strcmp(vram_strategies[i].name, name))
            return &vram_strategies[i];
    return NULL;
}
