/* SPDX-License-Identifier: Apache-2.0
 *
 * The table component × factor.  All its figures are rounded together (largest remainder of the
 * total), and sums are sums of what is printed, so that rows and columns add up on the page.
 */
#include <stdlib.h>
#include <string.h>

#include "output/output.h"

enum { FACTORS = 4, MOST_COMPONENTS = 64, OTHERS = 3 };
enum { MOST_CELLS = MOST_COMPONENTS * FACTORS + OTHERS };

static const char *const factor_names[FACTORS] = {"parameters", "gradients", "optimizer",
                                                  "activations"};
static const char *const other_names[OTHERS] = {"inputs, buffers", "temporaries",
                                                "workspace, rounding"};

struct table {
    const struct sheet *s;
    size_t n; /* components */
    const char *names[MOST_COMPONENTS];
    uint64_t counts[MOST_COMPONENTS]; /* of parameters */
    uint64_t bytes[MOST_CELLS], figures[MOST_CELLS]; /* components × factors, then the others */
    uint64_t shares[MOST_COMPONENTS + OTHERS];       /* of rows, in tenths of a percent */
    uint64_t total;
    size_t name_width, widths[FACTORS + 1];
};

static void fill(struct table *t)
{
    const vram_report *r = t->s->p->report;
    const vram_report_view *v = &t->s->view;
    size_t n = vram_report_component_count(r);
    t->n = n < MOST_COMPONENTS ? n : MOST_COMPONENTS;
    for (size_t i = 0; i < n; i++) {
        vram_report_component_view c = {.size = sizeof c};
        vram_report_component(r, i, &c);
        size_t row = i < t->n ? i : t->n - 1; /* what finds no room joins the last row */
        t->names[row] = i < t->n ? c.name : "others";
        t->counts[row] += c.parameter_count;
        t->bytes[row * FACTORS] += c.parameters;
        t->bytes[row * FACTORS + 1] += c.gradients;
        t->bytes[row * FACTORS + 2] += c.optimizer;
        t->bytes[row * FACTORS + 3] += c.activations;
    }
    uint64_t *others = t->bytes + t->n * FACTORS;
    others[0] = v->inputs + v->buffers;
    others[1] = v->temporaries;
    others[2] = v->workspace + v->rounding;
}

static uint64_t row_sum(const struct table *t, const uint64_t *cells, size_t row)
{
    if (row >= t->n)
        return cells[t->n * FACTORS + row - t->n];
    uint64_t sum = 0;
    for (size_t i = 0; i < FACTORS; i++)
        sum += cells[row * FACTORS + i];
    return sum;
}

static uint64_t column_sum(const struct table *t, const uint64_t *cells, size_t column)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->n; i++)
        sum += cells[i * FACTORS + column];
    return sum;
}

static void round_together(struct table *t)
{
    uint64_t sums[MOST_COMPONENTS + OTHERS], total = 0;
    size_t cells = t->n * FACTORS + OTHERS, rows = t->n + OTHERS;
    for (size_t i = 0; i < cells; i++)
        total += t->bytes[i];
    t->total = scale_round(t->s->scale, total);
    apportion(t->bytes, cells, t->total, t->figures);
    for (size_t i = 0; i < rows; i++)
        sums[i] = row_sum(t, t->bytes, i);
    apportion(sums, rows, 1000, t->shares);
}

static size_t figure_width(const struct table *t, uint64_t figure)
{
    char text[UNITS_TEXT];
    return strlen(scale_figure(t->s->scale, figure, text));
}

static void measure(struct table *t)
{
    size_t used = 2 + 5; /* the shares */
    for (size_t i = 0; i < FACTORS; i++) {
        size_t w = figure_width(t, column_sum(t, t->figures, i));
        t->widths[i] = w > strlen(factor_names[i]) ? w : strlen(factor_names[i]);
        used += 2 + t->widths[i];
    }
    t->widths[FACTORS] = figure_width(t, t->total);
    if (t->widths[FACTORS] < 8)
        t->widths[FACTORS] = 8;
    used += 2 + t->widths[FACTORS];
    t->name_width = 15;
    for (size_t i = 0; i < t->n; i++)
        if (page_width(t->names[i]) > t->name_width)
            t->name_width = page_width(t->names[i]);
    if (t->name_width > PAGE_COLUMNS - used)
        t->name_width = PAGE_COLUMNS - used;
}

static void put(const struct table *t, size_t column, const char *text)
{
    page_spaces(t->s->page, 2);
    page_cell(t->s->page, text, t->widths[column], PAGE_RIGHT);
}

/* Nothing at all is a dash; less than half a unit is 0.000. */
static void put_figure(const struct table *t, size_t column, uint64_t figure, uint64_t bytes)
{
    char text[UNITS_TEXT];
    put(t, column, bytes ? scale_figure(t->s->scale, figure, text)
                         : t->s->page->ascii ? "-" : "–");
}

static void put_share(const struct table *t, uint64_t tenths)
{
    page_printf(t->s->page, "  %3u.%u\n", (unsigned)(tenths / 10), (unsigned)(tenths % 10));
}

static void head(const struct table *t)
{
    struct page *page = t->s->page;
    char title[UNITS_TEXT];
    snprintf(title, sizeof title, "%s%s", t->s->scale.name,
             !t->s->view.peak_known ? ", exact" : t->s->sum ? ", summed" : " at the peak");
    page_style(page, PAGE_STRONG);
    page_cell(page, title, t->name_width, PAGE_LEFT);
    for (size_t i = 0; i < FACTORS; i++)
        put(t, i, factor_names[i]);
    put(t, FACTORS, "sum");
    page_put(page, "      %\n");
    page_style(page, PAGE_PLAIN);
}

static void component_row(const struct table *t, size_t row)
{
    const uint64_t *figures = t->figures + row * FACTORS, *bytes = t->bytes + row * FACTORS;
    page_cell(t->s->page, t->names[row], t->name_width, PAGE_LEFT);
    for (size_t i = 0; i < FACTORS; i++)
        if (i == 3 && !t->s->view.peak_known)
            put(t, i, "?");
        else
            put_figure(t, i, figures[i], bytes[i]);
    put_figure(t, FACTORS, row_sum(t, t->figures, row), row_sum(t, t->bytes, row));
    put_share(t, t->shares[row]);
}

static void other_row(const struct table *t, size_t row)
{
    size_t width = t->name_width;
    uint64_t bytes = row_sum(t, t->bytes, row);
    for (size_t i = 0; i < FACTORS; i++)
        width += 2 + t->widths[i];
    page_cell(t->s->page, other_names[row - t->n], width, PAGE_LEFT);
    put_figure(t, FACTORS, row_sum(t, t->figures, row), bytes);
    put_share(t, t->shares[row]);
}

static void foot(const struct table *t)
{
    page_style(t->s->page, PAGE_STRONG);
    page_spaces(t->s->page, t->name_width);
    for (size_t i = 0; i < FACTORS; i++)
        if (i == 3 && !t->s->view.peak_known)
            put(t, i, "?");
        else
            put_figure(t, i, column_sum(t, t->figures, i), column_sum(t, t->bytes, i));
    put_figure(t, FACTORS, t->total, t->total);
    put_share(t, 1000);
    page_style(t->s->page, PAGE_PLAIN);
}

bool sheet_table(const struct sheet *s)
{
    struct table t = {.s = s};
    fill(&t);
    round_together(&t);
    if (!t.total)
        return false;
    measure(&t);
    head(&t);
    for (size_t i = 0; i < t.n + OTHERS; i++) {
        if (!row_sum(&t, t.figures, i) && (i >= t.n || !t.counts[i]))
            continue; /* a part of the model stays, even when it prints as 0.000 */
        if (i < t.n)
            component_row(&t, i);
        else
            other_row(&t, i);
    }
    foot(&t);
    return true;
}
