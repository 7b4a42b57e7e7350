/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements, frames and families; used by template.c only.
 */
#ifndef VRAM_TEXT_STATEMENT_H
#define VRAM_TEXT_STATEMENT_H

#include "text/parser.h"

/* `(a, b=1; c=none, **kw)`; starts a new frame of locals.  frame: the names are locals of it; those
 * of init() are members instead. */
int vram_parse_signature(struct vram_parser *p, struct vram_callable *out, bool frame);
/* `:` and an indented block, or one statement on the line; *out is a BLOCK node */
int vram_parse_block(struct vram_parser *p, uint32_t *out);
/* statements up to the end of the block */
int vram_parse_statements(struct vram_parser *p, uint32_t *out);

/* ---- family.c */
/* a whole family, its lines below included */
int vram_parse_family(struct vram_parser *p);
/* The error of a second definition, in that line; the first one is in another line, maybe of
 * another file. */
int vram_parse_twice(struct vram_parser *p, vram_sym name, uint32_t line, uint16_t file,
                     uint32_t first);

#endif
