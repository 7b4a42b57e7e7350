/* SPDX-License-Identifier: Apache-2.0
 *
 * All families of operators, and the row for a node's operator.
 */
#include <string.h>

#include "onnx/pass.h"

/* FAMILY(ident): ops/ident.c */
#define FAMILIES(FAMILY) FAMILY(attention) FAMILY(constant) FAMILY(control) FAMILY(conv_pool)      \
    FAMILY(elementwise) FAMILY(generate) FAMILY(image) FAMILY(choose) FAMILY(index) FAMILY(join)   \
    FAMILY(legacy) FAMILY(loss) FAMILY(matmul) FAMILY(microsoft) FAMILY(microsoft_attention)       \
    FAMILY(microsoft_norm) FAMILY(microsoft_quant) FAMILY(microsoft_sequence) FAMILY(ml)           \
    FAMILY(nchwc) FAMILY(norm) FAMILY(preview) FAMILY(quant) FAMILY(reduce) FAMILY(rnn)            \
    FAMILY(sequence) FAMILY(shape) FAMILY(slice) FAMILY(string) FAMILY(training)

#define DECLARE(ident) extern const struct vram_op_family vram_onnx_ops_##ident;
FAMILIES(DECLARE)
#define ADDRESS(ident) &vram_onnx_ops_##ident,
const struct vram_op_family *const vram_op_families[] = {FAMILIES(ADDRESS)};
const size_t vram_n_op_families = sizeof vram_op_families / sizeof *vram_op_families;

bool vram_onnx_op_listed(size_t i, struct vram_onnx_op_row *out)
{
    for (size_t f = 0; f < vram_n_op_families; i -= vram_op_families[f++]->n)
        if (i < vram_op_families[f]->n) {
            const struct vram_op_row *row = &vram_op_families[f]->rows[i];
            *out = (struct vram_onnx_op_row){vram_op_families[f]->domain, row->name, row->since, row->note};
            return true;
        }
    return false;
}

/* The newest row that the version has. */
static const struct vram_op_row *row_of(const char *domain, const char *op, uint32_t version)
{
    const struct vram_op_row *best = NULL;
    for (size_t f = 0; f < vram_n_op_families; f++) {
        const struct vram_op_family *family = vram_op_families[f];
        if (strcmp(family->domain, domain) != 0)
            continue;
        for (size_t i = 0; i < family->n; i++) {
            const struct vram_op_row *row = &family->rows[i];
            if (row->name[0] == op[0] && !strcmp(row->name, op) && row->since <= version &&
                (!best || row->since > best->since))
                best = row;
        }
    }
    return best;
}

static bool is(const struct vram_op_entry *e, const struct vram_onnx_node *node)
{
    return e->op == node->op && e->domain == node->domain && e->version == node->version;
}

static bool room(struct vram_infer *pass)
{
    if (pass->op_slots && pass->ops.n < pass->op_mask / 2)
        return true;
    pass->op_mask = pass->op_slots ? pass->op_mask * 2 + 1 : 127;
    pass->op_slots = vram_arena_array(pass->cx->arena, (size_t)pass->op_mask + 1, sizeof(uint32_t));
    if (!pass->op_slots)
        return false;
    for (uint32_t i = 0; i < pass->ops.n; i++) {
        uint32_t at = pass->ops.at[i].op & pass->op_mask;
        while (pass->op_slots[at])
            at = (at + 1) & pass->op_mask;
        pass->op_slots[at] = i + 1;
    }
    return true;
}

struct vram_op_entry *vram_infer_entry(struct vram_infer *pass, const struct vram_onnx_node *node)
{
    if (!room(pass)) {
        vram_fail_memory(pass->cx);
        return NULL;
    }
    uint32_t at = node->op & pass->op_mask; /* symbols are dense numbers */
    for (; pass->op_slots[at]; at = (at + 1) & pass->op_mask)
        if (is(&pass->ops.at[pass->op_slots[at] - 1], node))
            return &pass->ops.at[pass->op_slots[at] - 1];
    struct vram_op_entry e = {.domain = node->domain, .op = node->op, .version = node->version};
    e.row = row_of(vram_sym_text(pass->cx->syms, node->domain), vram_sym_text(pass->cx->syms, node->op), node->version);
    if (!vram_vec_push(&pass->ops, pass->cx->arena, e)) {
        vram_fail_memory(pass->cx);
        return NULL;
    }
    pass->op_slots[at] = (uint32_t)pass->ops.n;
    return &pass->ops.at[pass->ops.n - 1];
}
