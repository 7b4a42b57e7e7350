/* SPDX-License-Identifier: Apache-2.0
 *
 * vramcast list: the tables of the library and of the command.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "output/json.h"
#include "output/page.h"
#include "tables.h"

static const char *name_at(size_t i, const void *ctx)
{
    (void)ctx;
    return table_name(i);
}

/* ---- text: as many of the first columns as fit --------------------------------------------- */

enum { MOST_COLUMNS = 16, NARROW = 30, GAP = 2, PARAGRAPH = 24 };

struct layout {
    size_t table, n;             /* columns shown */
    size_t widths[MOST_COLUMNS];
    bool all;
};

/* The width that all but one in twenty of a column's cells have. */
static size_t usual_width(size_t table, size_t column)
{
    size_t counts[NARROW + 2] = {0}, rows = 0, width = 0, covered;
    for (const char *cell; (cell = table_cell(table, rows, column)); rows++) {
        size_t w = page_width(cell);
        counts[w < NARROW + 1 ? w : NARROW + 1]++;
    }
    for (covered = counts[0]; covered + rows / 20 < rows && width < NARROW + 1;)
        covered += counts[++width];
    size_t name = page_width(table_column(table, column));
    return name > width ? name : width;
}

/* Narrow columns side by side; the first wide one gets the rest of the line, broken into several,
 * and ends the row.  A cell that is longer than its column pushes what follows to the next line. */
static void measure(struct layout *l)
{
    size_t at = 0, c = 0;
    bool ended = false;
    for (; c < MOST_COLUMNS && table_column(l->table, c) && !ended; c++) {
        size_t w = usual_width(l->table, c), left = PAGE_COLUMNS - at;
        bool wide = w > NARROW || w > left;
        if (wide && c && left < PARAGRAPH)
            break;
        ended = wide && c;
        l->widths[c] = ended ? left : w < NARROW ? w : NARROW;
        at += l->widths[c] + GAP;
        at = at < PAGE_COLUMNS ? at : PAGE_COLUMNS;
    }
    l->n = c;
    l->all = !table_column(l->table, c);
}

static void put_row(struct page *page, const struct layout *l, const char *const *cells)
{
    size_t column = 0, last = l->n - 1;
    while (last && !*cells[last]) /* empty ends leave no spaces behind */
        last--;
    for (size_t c = 0; c < last; c++) {
        size_t w = page_width(cells[c]);
        page_put(page, cells[c]);
        if (w > l->widths[c]) {
            page_put(page, "\n");
            page_spaces(page, column);
            w = 0;
        }
        page_spaces(page, l->widths[c] + GAP - w);
        column += l->widths[c] + GAP;
    }
    page_paragraph(page, column, cells[last]);
}

static void list_text(struct page *page, size_t table)
{
    struct layout l = {.table = table};
    const char *cells[MOST_COLUMNS];
    measure(&l);
    if (!l.n)
        return;
    for (size_t c = 0; c < l.n; c++)
        cells[c] = table_column(table, c);
    page_style(page, PAGE_STRONG);
    put_row(page, &l, cells);
    page_style(page, PAGE_PLAIN);
    for (size_t row = 0; table_cell(table, row, 0); row++) {
        for (size_t c = 0; c < l.n; c++)
            cells[c] = table_cell(table, row, c);
        put_row(page, &l, cells);
    }
    if (l.all)
        return;
    page_put(page, "\nalso with --format json:");
    for (size_t c = l.n; table_column(table, c); c++)
        page_printf(page, "%s %s", c > l.n ? "," : "", table_column(table, c));
    page_put(page, "\n");
}

static void tables_text(struct page *page)
{
    size_t width = 0;
    for (size_t i = 0; i < table_count(); i++)
        width = page_width(table_name(i)) > width ? page_width(table_name(i)) : width;
    page_put(page, "tables (vramcast list TABLE)\n");
    for (size_t i = 0; i < table_count(); i++) {
        page_spaces(page, 2);
        page_cell(page, table_name(i), width + 2, PAGE_LEFT);
        page_paragraph(page, width + 4, table_help(i));
    }
}

/* ---- JSON: everything ---------------------------------------------------------------------- */

static void list_json(struct page *page, size_t table)
{
    struct json j = {.page = page};
    json_open(&j, NULL, '{', false);
    json_text(&j, "schema", "vramcast.list/1");
    json_text(&j, "table", table_name(table));
    json_open(&j, "rows", '[', false);
    for (size_t row = 0; table_cell(table, row, 0); row++) {
        json_open(&j, NULL, '{', true);
        for (size_t c = 0; table_column(table, c); c++)
            json_text(&j, table_column(table, c), table_cell(table, row, c));
        json_close(&j);
    }
    json_close(&j);
    json_close(&j);
}

static void tables_json(struct page *page)
{
    struct json j = {.page = page};
    json_open(&j, NULL, '{', false);
    json_text(&j, "schema", "vramcast.list/1");
    json_open(&j, "tables", '[', false);
    for (size_t i = 0; i < table_count(); i++) {
        json_open(&j, NULL, '{', true);
        json_text(&j, "name", table_name(i));
        json_text(&j, "help", table_help(i));
        json_close(&j);
    }
    json_close(&j);
    json_close(&j);
}

/* What people call the tables: no typing mistake leads from these to ours. */
static const char *other_name(const char *name)
{
    static const struct { const char *theirs, *ours; } rows[] = {
        {"cards", "gpus"},   {"devices", "gpus"},     {"hardware", "gpus"},    {"models", "families"},
        {"keys", "settings"}, {"options", "settings"}, {"architectures", "families"}, {"types", "dtypes"},
        {"precisions", "dtypes"}, {"warnings", "findings"}, {"operators", "ops"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].theirs, name))
            return rows[i].ours;
    return NULL;
}

static int find_table(const char *name, size_t *out)
{
    char all[200] = "";
    for (*out = 0; *out < table_count(); ++*out)
        if (!strcmp(table_name(*out), name))
            return CLI_DONE;
    const char *near = other_name(name);
    near = near ? near : cli_nearest(name, name_at, NULL);
    if (near)
        return cli_fail(CLI_USAGE, "there is no table '%s'; did you mean %s? (vramcast list)", name, near);
    for (size_t i = 0, at = 0; i < table_count() && at < sizeof all; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i ? ", " : "", table_name(i));
    return cli_fail(CLI_USAGE, "there is no table '%s': %s", name, all);
}

static int run(const struct cli_args *args)
{
    struct page page;
    size_t table = 0;
    bool json;
    int code = cli_text_or_json(args, &json);
    if (code)
        return code;
    if (args->nwords > 1)
        return cli_fail(CLI_USAGE, "one word too many: '%s' (usage: vramcast list [TABLE])",
                        args->words[1]);
    if (args->nwords) {
        code = find_table(args->words[0], &table);
        if (code)
            return code;
    }
    code = page_open(&page, args->option[CLI_OUTPUT]);
    if (code)
        return code;
    if (args->nwords)
        (json ? list_json : list_text)(&page, table);
    else
        (json ? tables_json : tables_text)(&page);
    return page_close(&page, CLI_DONE);
}

static const struct cli_option options[] = {CLI_ROW_FORMAT, CLI_ROW_OUTPUT, CLI_ROW_HELP,
                                            CLI_ROW_END};

const struct cli_command cli_list = {
    "list", "[TABLE]", "what is known: settings, cards, model families, optimizers ...",
    "Without TABLE: the tables there are.\n", options, run};
