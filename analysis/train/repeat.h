/* SPDX-License-Identifier: Apache-2.0
 *
 * Later steps as copies of the first one's events; used by iteration.c.
 */
#ifndef VRAM_TRAIN_REPEAT_H
#define VRAM_TRAIN_REPEAT_H

#include "machine/machine.h"

/* Appends the events of steps 2 to `steps`.  The events from `from` on, and the storages from
 * first_storage on, are step 1.  false, and nothing appended, when step 1 touches what is older. */
bool vram_steps_repeat(struct vram_machine *m, size_t from, uint32_t first_storage, int steps);

#endif
