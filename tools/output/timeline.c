/* SPDX-License-Identifier: Apache-2.0
 *
 * The timeline in text: a bar for what stays after each phase and, lighter, what it held on top
 * for a while.
 */
#include <string.h>

#include "output/output.h"
#include "output/phases.h"

enum { BAR = 32 };

static size_t bar(const struct phases *t, uint64_t bytes)
{
    return (size_t)((double)bytes / (double)t->highest * BAR + 0.5);
}

static void repeat(struct page *page, const char *glyph, size_t n)
{
    for (size_t i = 0; i < n; i++)
        page_put(page, glyph);
}

static void put(const struct sheet *s, const struct phases *t, const struct phase_line *l,
                size_t width, size_t figures)
{
    struct page *page = s->page;
    char text[UNITS_TEXT];
    size_t whole = bar(t, l->peak), stays = bar(t, l->end < l->peak ? l->end : l->peak);
    page_cell(page, l->label, width, PAGE_LEFT);
    page_cell(page, scale_text(s->scale, l->peak, text), figures, PAGE_RIGHT);
    page_spaces(page, whole || l->owner ? 2 : 0);
    if (l->owner)
        page_style(page, PAGE_STRONG);
    repeat(page, page->ascii ? "#" : "█", stays);
    repeat(page, page->ascii ? "." : "░", whole - stays);
    page_put(page, l->owner ? "  peak" : "");
    if (l->owner)
        page_style(page, PAGE_PLAIN);
    page_put(page, "\n");
}

void sheet_timeline(const struct sheet *s)
{
    struct phases t;
    char left[OUTPUT_LABEL + 1], text[UNITS_TEXT];
    size_t width = 0;
    phases_read(&t, s->p->report, s->sum ? "" : s->view.peak_phase);
    for (size_t i = 0; i < t.n; i++)
        width = strlen(t.lines[i].label) > width ? strlen(t.lines[i].label) : width;
    width = width < 30 ? width + 2 : 32;
    size_t figures = strlen(scale_text(s->scale, t.highest, text));
    /* with micro-batches the labels take the margin */
    bool margin = OUTPUT_LABEL + width + figures + 2 + BAR + 6 <= PAGE_COLUMNS;
    snprintf(left, sizeof left, "%s in tensors", s->scale.name);
    if (!margin) {
        page_style(s->page, PAGE_STRONG);
        page_printf(s->page, "timeline, %s\n", left);
        page_style(s->page, PAGE_PLAIN);
    }
    for (size_t i = 0; i < t.n; i++) {
        if (margin && i < 2)
            sheet_label(s->page, i == 0 ? "timeline" : left);
        else if (margin)
            sheet_label(s->page, NULL);
        put(s, &t, &t.lines[i], width, figures);
    }
}
