/* SPDX-License-Identifier: Apache-2.0
 *
 * What would need less memory: changes of the plan, each tried by a prediction of its own, with the
 * bytes it saves and its price in words.
 */
#ifndef VRAM_TOOLS_ADVICE_H
#define VRAM_TOOLS_ADVICE_H

#include "trial.h"

enum { ADVICE_CHANGES = 6, ADVICE_MOST = 400, ADVICE_VALUE = 24 };

struct advice {
    const char *price[2];  /* of its one or two changes; [1] = NULL for one */
    size_t n;              /* settings changed */
    const char *keys[ADVICE_CHANGES];
    char values[ADVICE_CHANGES][ADVICE_VALUE];
    struct trial trial;    /* with the changes */
    uint64_t saved;        /* device bytes, as expected, less than before; > 0 */
    size_t rank[2];        /* rows of the table, cheapest first; [1] = SIZE_MAX for one */
};

/* All single changes that save device memory, and with `pairs` all pairs of changes that save more than
 * either alone; by saved bytes, most first.  gpu may be NULL.  Returns the number, at most `most`; SIZE_MAX
 * when out of memory. */
size_t advice_find(const vram_model *model, const vram_plan *plan, const char *gpu, bool pairs,
                   struct advice *out, size_t most);
/* The advice that passes, cheapest price first, singles before pairs: moved to the front; their
 * number. */
size_t advice_passing(struct advice *at, size_t n, enum require require);
/* "checkpointing=all optimizer=adamw-8bit" */
const char *advice_words(const struct advice *a, char out[ADVICE_CHANGES * 64]);

#endif
