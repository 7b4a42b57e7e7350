/* SPDX-License-Identifier: Apache-2.0
 *
 * Cards out of the library's table; see cards.h.
 */
#include "output/cards.h"

#include <stdlib.h>
#include <string.h>

#include <vram/vram.h>

static size_t table_by_name(const char *name)
{
    size_t i = 0;
    while (i < vram_table_count() && strcmp(vram_table_name(i), name) != 0)
        i++;
    return i;
}

static const char *cell(size_t table, size_t row, const char *column)
{
    const char *name;
    for (size_t i = 0; (name = vram_table_column(table, i)); i++)
        if (!strcmp(name, column))
            return vram_table_cell(table, row, i);
    return "";
}

static int by_bytes(const void *a, const void *b)
{
    const struct card *x = a, *y = b;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes ? 1 : strcmp(x->name, y->name);
}

size_t cards_list(struct card cards[MOST_CARDS])
{
    size_t table = table_by_name("gpus"), n = 0;
    for (size_t row = 0; vram_table_cell(table, row, 0) && n < MOST_CARDS; row++) {
        const char *name = vram_table_cell(table, row, 0);
        if (strtod(cell(table, row, "sm"), NULL) < 8 || strstr(name, "laptop") ||
            strstr(name, "mig") || strstr(cell(table, row, "source"), "unified"))
            continue;
        const char *context = strrchr(cell(table, row, "context_mib"), '.');
        cards[n++] = (struct card){name, cell(table, row, "GiB"),
                                   strtoull(cell(table, row, "bytes"), NULL, 10),
                                   context ? strtoull(context + 1, NULL, 10) << 20 : 0};
    }
    qsort(cards, n, sizeof *cards, by_bytes);
    return n;
}

uint64_t cards_usual_context(void)
{
    size_t table = table_by_name("constants");
    for (size_t row = 0; vram_table_cell(table, row, 0); row++)
        if (!strcmp(vram_table_cell(table, row, 0), "context"))
            return strtoull(cell(table, row, "high"), NULL, 10);
    return 0;
}
