/* SPDX-License-Identifier: Apache-2.0
 *
 * Forms of the pre-flight's answer: for people, programs and the tools that collect test results.
 */
#ifndef VRAM_TOOLS_CHECK_H
#define VRAM_TOOLS_CHECK_H

#include "advice.h"
#include "output/page.h"

/* One card's verdict. */
struct verdict {
    const char *gpu;
    struct trial trial;
    bool passes;
    struct advice *advice; /* what would pass, cheapest first */
    size_t nadvice;
};

struct checked {
    const char *path;
    const char *family;
    enum require require;
    const struct verdict *at;
    size_t n;
};

struct check_row {
    const char *name;
    void (*write)(struct page *page, const struct checked *c);
};
extern const struct check_row check_outputs[]; /* name NULL ends them */

/* One piece of advice: the changes, what they save, the device bytes and the verdict with them, the price. */
struct json;
void advice_json(struct json *j, const struct advice *a);
/* "fits", "tight", "does-not-fit", "cannot-tell" */
const char *verdict_word(const struct trial *trial);

#endif
