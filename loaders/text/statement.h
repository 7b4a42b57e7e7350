/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements and frames; used by template.c only.
 */
#ifndef VRAM_TEXT_STATEMENT_H
#define VRAM_TEXT_STATEMENT_H

#include "text/parser.h"

/* `(a, b=1; c=none, **kw)`; starts a new frame of locals */
int vram_parse_signature(struct vram_parser *p, struct vram_callable *out);
/* `:` and an indented block, or one statement on the line; *out is a BLOCK node */
int vram_parse_block(struct vram_parser *p, uint32_t *out);
/* statements up to the end of the block */
int vram_parse_statements(struct vram_parser *p, uint32_t *out);

#endif
