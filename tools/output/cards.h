/* SPDX-License-Identifier: Apache-2.0
 *
 * The cards of the library's table that a person would think of for a run.
 */
#ifndef VRAM_TOOLS_CARDS_H
#define VRAM_TOOLS_CARDS_H

#include <stddef.h>
#include <stdint.h>

struct card {
    const char *name, *gib;
    uint64_t bytes, context; /* the most that its context may take */
};
enum { MOST_CARDS = 256 };

/* Cards of their own memory that compute in bf16: no parts of one, none in a laptop, none that
 * shares its memory with the host.  By memory, smallest first; returns how many. */
size_t cards_list(struct card cards[MOST_CARDS]);
/* What a CUDA context may take on a card that was not named, as the device meter has it. */
uint64_t cards_usual_context(void);

#endif
