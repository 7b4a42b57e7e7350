/* SPDX-License-Identifier: Apache-2.0
 *
 * The storages of one part of a model, in groups of equal ones.
 */
#ifndef VRAM_TOOLS_EXPLAIN_H
#define VRAM_TOOLS_EXPLAIN_H

#include <stddef.h>

#include <vram/vram.h>

#include "output/page.h"

enum subject_kind { SUBJECT_COMPONENT, SUBJECT_MODULE, SUBJECT_PARAMETER };

struct subject {
    enum subject_kind kind;
    const char *name; /* component, or path */
    size_t number;    /* of the component, module or parameter */
};

/* Storages that differ only in the numbers in their paths. */
struct group {
    vram_storage_view one; /* the first of them */
    uint64_t count;
    uint64_t kind; /* bytes of all groups with its category, op and lifetime */
};

enum { EXPLAIN_CATEGORIES = 8 };

struct explanation {
    const vram_model *model;
    const vram_report *report;
    struct subject subject;
    struct group *groups; /* what lives at the peak first; by kind, by bytes */
    size_t n;
    uint64_t at_peak[EXPLAIN_CATEGORIES]; /* bytes by explain_categories */
};
extern const char *const explain_categories[EXPLAIN_CATEGORIES];

/* 0, or -1 when out of memory. */
int explain_collect(struct explanation *e);
void explain_finish(struct explanation *e);
/* "layers.*.mlp": a path with its numbers left out */
void explain_pattern(const char *path, char *out, size_t size);

void explain_text(struct page *page, const struct explanation *e);
void explain_json(struct page *page, const struct explanation *e);

#endif
