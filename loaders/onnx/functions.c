/* SPDX-License-Identifier: Apache-2.0
 *
 * Which function a node calls: by domain, name and overload.  A function goes before an operator of
 * that name, and of two equal ones the last counts, as ONNX Runtime has it.
 */
#include "onnx/raw.h"

static uint32_t find(const struct onnx_load *l, vram_sym domain, vram_sym name, vram_sym overload)
{
    uint32_t f = name < l->function_names ? l->function_of[name] : 0;
    while (f && (l->functions.at[f].domain != domain || l->functions.at[f].overload != overload))
        f = l->functions.at[f].next;
    return f;
}

uint32_t onnx_function(const struct onnx_load *l, const struct raw_node *node)
{
    return l->function_names ? find(l, node->domain, node->op, node->overload) : 0;
}

int onnx_functions(struct onnx_load *l)
{
    if (l->functions.n <= 1)
        return VRAM_OK;
    uint32_t names = 0;
    for (size_t f = 1; f < l->functions.n; f++)
        names = l->functions.at[f].name >= names ? l->functions.at[f].name + 1 : names;
    l->function_of = vram_arena_array(&l->raw, names, sizeof *l->function_of);
    if (!l->function_of)
        return vram_fail_memory(l->cx);
    l->function_names = names;
    for (uint32_t i = 1; i < l->functions.n; i++) {
        struct raw_function *f = &l->functions.at[i];
        if (find(l, f->domain, f->name, f->overload))
            VRAM_TRY(onnx_note(l, VRAM_F_ONNX_FUNCTION_TWICE, l->file,
                               "function '%s' is defined twice: the last is taken", onnx_shown(l->cx, f->name).text));
        f->next = l->function_of[f->name];
        l->function_of[f->name] = i;
    }
    return VRAM_OK;
}
