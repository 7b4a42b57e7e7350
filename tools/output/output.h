/* SPDX-License-Identifier: Apache-2.0
 *
 * Forms of an answer, one row each; and the parts that the text form is made of.
 */
#ifndef VRAM_TOOLS_OUTPUT_H
#define VRAM_TOOLS_OUTPUT_H

#include <stdbool.h>

#include <vram/vram.h>

#include "output/page.h"
#include "output/units.h"

struct prediction {
    const char *path; /* as given */
    const vram_model *model;
    const vram_plan *plan;
    const vram_report *report;
    bool overview; /* nothing was asked for: say first what common uses need */
};

struct output_row {
    const char *name;
    const char *help;
    bool needs_peak; /* without one there is nothing to write */
    int (*write)(struct page *page, const struct prediction *p); /* an enum cli_exit */
};
extern const struct output_row outputs[]; /* name NULL ends them */
/* NULL: no such output. */
const struct output_row *output_find(const char *name);

/* The last part of a path: what the model is called. */
const char *output_title(const char *path);

int output_text(struct page *page, const struct prediction *p);
int output_svg(struct page *page, const struct prediction *p);

/* ---- parts of the text form ---------------------------------------------------------------- */

enum { OUTPUT_LABEL = 19 }; /* columns of what stands on the left */

/* What every part needs. */
struct sheet {
    struct page *page;
    const struct prediction *p;
    vram_report_view view;
    struct scale scale;
    bool sum; /* estimator=sum: a sum over modules, not a moment */
};

/* A label in the left margin (NULL: none), in columns of its own. */
void sheet_label(struct page *page, const char *label);
/* component × factor, with sums and shares; false: there is nothing to show */
bool sheet_table(const struct sheet *s);
/* phases with bars */
void sheet_timeline(const struct sheet *s);
/* inference, LoRA and full fine-tuning, and the smallest card for each */
void sheet_overview(const struct sheet *s);
/* warnings, assumptions, notes; of the model when report is NULL */
void sheet_findings(struct page *page, const vram_model *model, const vram_report *report);
/* "·" or ",": between parts of a line */
const char *sheet_dot(const struct page *page);

#endif
