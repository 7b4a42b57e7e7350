/* SPDX-License-Identifier: Apache-2.0 */
#include "train/optimizer.h"
const struct vram_optimizer_row vram_optimizers_others[] = {
    {.name = NULL}};
