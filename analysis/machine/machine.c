/* SPDX-License-Identifier: Apache-2.0
 *
 * A machine at its start.
 */
#include "machine/machine.h"

#include <string.h>

enum { STACK = 8192 };

int vram_machine_init(struct vram_machine *m, struct vram_cx *cx, const struct vram_program *program,
                      const struct vram_tree *tree)
{
    memset(m, 0, sizeof *m);
    m->cx = cx;
    m->program = program;
    m->tree = tree;
    m->at = UINT32_MAX;
    m->stack = vram_arena_array(cx->arena, STACK, sizeof *m->stack);
    m->stack_size = STACK;
    m->sym_shape = vram_sym_of(cx->syms, "shape");
    m->sym_append = vram_sym_of(cx->syms, "append");
    uint32_t n = vram_op_count();
    uint8_t *nparams = vram_arena_array(cx->arena, n, sizeof *nparams);
    if (!m->stack || !nparams || m->sym_append == VRAM_SYM_NONE || m->sym_shape == VRAM_SYM_NONE)
        return vram_fail_memory(cx);
    for (uint32_t i = 0; i < n; i++) {
        const char *p = vram_op_row_at(i)->params;
        nparams[i] = *p ? 1 : 0;
        for (; *p; p++)
            nparams[i] = (uint8_t)(nparams[i] + (*p == ' '));
    }
    m->op_nparams = nparams;
    m->op_add = (uint16_t)vram_op_find("add");
    m->op_sub = (uint16_t)vram_op_find("sub");
    m->op_mul = (uint16_t)vram_op_find("mul");
    m->op_div = (uint16_t)vram_op_find("div");
    m->op_neg = (uint16_t)vram_op_find("neg");
    m->op_compare = (uint16_t)vram_op_find("compare");
    return VRAM_OK;
}
