/* SPDX-License-Identifier: Apache-2.0
 *
 * Where an answer goes and how text stands on it: standard output or a file that appears whole or
 * not at all; columns, paragraphs of 80 columns, colour on a terminal.  Everything printed through
 * page_put is escaped, so that names out of a model's files cannot drive a terminal.
 *
 * The first failure to write sticks and is told by page_close.
 */
#ifndef VRAM_TOOLS_PAGE_H
#define VRAM_TOOLS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { PAGE_COLUMNS = 80 };

struct page {
    FILE *file;
    const char *target; /* as given; NULL = standard output */
    char *real;         /* the file to become: where a link leads */
    char *temporary;    /* its name until it is whole; NULL = written straight */
    int error;          /* errno of the first failure; 0 = none */
    bool colour;        /* on a terminal, unless NO_COLOR is set */
    bool ascii;         /* on a terminal that does not read UTF-8; pipes and files get UTF-8 */
};

/* path NULL: standard output.  0, or an enum cli_exit with the error printed. */
int page_open(struct page *page, const char *path);
/* Makes the file appear, unless code says that there is no answer.  code, or CLI_SYSTEM with the
 * error printed. */
int page_close(struct page *page, int code);

/* A vram_write_fn: bytes as they are. */
int page_write(void *page, const char *text, size_t n);
void page_put(struct page *page, const char *text);
__attribute__((format(printf, 2, 3))) void page_printf(struct page *page, const char *format, ...);

enum page_style { PAGE_PLAIN, PAGE_STRONG, PAGE_FAINT, PAGE_GOOD, PAGE_DOUBTFUL, PAGE_BAD };
void page_style(struct page *page, enum page_style style);

/* Columns that text takes on a terminal. */
size_t page_width(const char *text);
enum page_align { PAGE_LEFT, PAGE_RIGHT, PAGE_START };
/* Exactly width columns.  What is longer keeps its end, where paths differ; PAGE_START is on the
 * left and keeps its start. */
void page_cell(struct page *page, const char *text, size_t width, enum page_align align);
/* Text from here on, broken at spaces to stay within 80 columns; further lines are indented, and
 * so, it is taken, is this place.  Ends the line. */
void page_paragraph(struct page *page, size_t indent, const char *text);
void page_spaces(struct page *page, size_t n);
/* Printable text with what could drive a terminal as \xNN. */
void page_escape(char *out, size_t size, const char *text);

#endif
