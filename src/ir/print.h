/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the two halves of the printer: expressions (print_expr.c) and definitions with their
 * statements (print.c).  Private to them.
 */
#ifndef VRAM_IR_PRINT_H
#define VRAM_IR_PRINT_H

#include "base/text.h"
#include "ir/program.h"

/* How tightly an expression binds; a looser one inside a tighter one gets parentheses. */
enum vram_level { VRAM_LEVEL_CHOICE, VRAM_LEVEL_OR, VRAM_LEVEL_AND, VRAM_LEVEL_NOT,
                  VRAM_LEVEL_COMPARE, VRAM_LEVEL_SUM, VRAM_LEVEL_PRODUCT, VRAM_LEVEL_NEGATE,
                  VRAM_LEVEL_POSTFIX };

struct vram_printer {
    struct vram_text *out;
    const struct vram_syms *syms;
    const struct vram_program *g;
    const struct vram_class *cls;      /* whose members are named; NULL in free functions */
    const struct vram_callable *frame; /* whose locals are named; NULL in declarations */
    char mark[16];                     /* before the number of a local without a name */
    unsigned depth;
};

void vram_print_expression(struct vram_printer *p, uint32_t node, enum vram_level least);
/* a, b: a tuple without its parentheses, where a whole line is one */
void vram_print_expressions(struct vram_printer *p, uint32_t node);
/* name: as its node remembers it, or 0 */
void vram_print_slot(struct vram_printer *p, uint32_t slot, vram_sym name);

#endif
