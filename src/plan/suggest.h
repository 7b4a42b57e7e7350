/* SPDX-License-Identifier: Apache-2.0
 *
 * "Did you mean …": the nearest of some words, by typing mistakes.
 */
#ifndef VRAM_PLAN_SUGGEST_H
#define VRAM_PLAN_SUGGEST_H

#include <stddef.h>

struct vram_suggestion {
    const char *given;
    size_t n;
    const char *word; /* the best so far; NULL = none is near */
    size_t word_n;
    unsigned distance, limit; /* of the best; what is no mistake any more */
};

void vram_suggest_init(struct vram_suggestion *s, const char *given);
/* Offers a word; it is kept when it is nearer than those before. */
void vram_suggest_offer(struct vram_suggestion *s, const char *word, size_t n);

#endif
