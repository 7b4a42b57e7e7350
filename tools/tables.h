/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables that `list` shows: the library's, then the command's own: what man pages and completions are
 * made from.
 */
#ifndef VRAM_TOOLS_TABLES_H
#define VRAM_TOOLS_TABLES_H

#include <stddef.h>

size_t table_count(void);
const char *table_name(size_t table);
const char *table_help(size_t table);
/* NULL past the last column, past the last row */
const char *table_column(size_t table, size_t column);
const char *table_cell(size_t table, size_t row, size_t column);

#endif
