/* SPDX-License-Identifier: Apache-2.0
 *
 * The answers of `vramcast fit`, as text and as JSON (schema vramcast.fit/1).
 */
#ifndef VRAM_TOOLS_FIT_H
#define VRAM_TOOLS_FIT_H

#include "advice.h"
#include "output/cards.h"
#include "output/page.h"
#include "search.h"

struct fit_limit {
    const char *gpu;
    struct limit limit;
};
struct fit_card {
    struct card card;
    struct trial trial;
    bool passes;
};

struct fitted {
    const char *path;
    enum require require;
    const struct fit_limit *limits; /* a card each */
    size_t nlimits;
    const struct fit_card *cards;   /* that hold the plan as it is, smallest first */
    size_t ncards;
    bool listed;                    /* cards were asked for */
    const char *advised;            /* card of the advice; NULL = none was asked for */
    const struct advice *advice;    /* by bytes saved */
    size_t nadvice;
};

void fit_text(struct page *page, const struct fitted *f);
void fit_json(struct page *page, const struct fitted *f);

#endif
