/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads template files (.vt) into a program.  Knows the language's syntax and nothing of what an
 * op or a class means.  docs/templates.md describes the language.
 */
#ifndef VRAM_TEXT_TEMPLATE_H
#define VRAM_TEXT_TEMPLATE_H

#include "ir/program.h"

/* Appends the definitions of one file.  name: for errors, kept.  Errors carry line, column and byte
 * offset; `where` is the file's name.  A name that is already defined keeps its first definition. */
int vram_template_parse(struct vram_cx *cx, struct vram_program *program, const char *name,
                        const char *text, size_t n);

#endif
