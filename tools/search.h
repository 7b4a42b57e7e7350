/* SPDX-License-Identifier: Apache-2.0
 *
 * The limits of a plan: the largest value of a setting that a card still takes, the fewest cards.
 * By predictions only: doubling until one fails, halving the rest; the answer and its neighbour are
 * both tried.
 */
#ifndef VRAM_TOOLS_SEARCH_H
#define VRAM_TOOLS_SEARCH_H

#include "trial.h"

struct limit {
    const char *key;
    bool least;          /* the fewest (gpus), not the most */
    int64_t step;        /* values are multiples of it: 1, or an image's patch */
    int64_t global_batch; /* > 0: accumulation follows micro_batch and gpus, so that this stays */
    bool found;
    int64_t value;       /* that passes */
    struct trial at;     /* with it; when not found: with the smallest value (the most cards) */
    bool ended;          /* the next value was tried and does not pass, as `beyond` says */
    int64_t next;
    struct trial beyond;
};

/* Settings that `fit --max` takes; NULL past the end. */
const char *limit_key(size_t i);
/* Fills in *limit; gpu may be NULL: the plan's.  false: out of memory. */
bool limit_find(const vram_model *model, const vram_plan *plan, const char *gpu, enum require require,
                struct limit *limit);
/* The step of image_size for this model; 0 = it is not known. */
int64_t limit_image_step(const vram_model *model);

#endif
