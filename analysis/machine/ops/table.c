/* SPDX-License-Identifier: Apache-2.0
 *
 * All op rows, by number, and the helpers that read their arguments.
 */
#include <string.h>

#include "ops.h"

static const struct vram_op_family *const families[] = {
    &vram_ops_elementwise, &vram_ops_view,    &vram_ops_matmul,   &vram_ops_norm,
    &vram_ops_attention,   &vram_ops_index,   &vram_ops_resample, &vram_ops_loss,
    &vram_ops_fused_loss,  &vram_ops_experts, &vram_ops_choice,   &vram_ops_complex,
    &vram_ops_custom,      &vram_ops_liger,   &vram_ops_collective, &vram_ops_ring, &vram_ops_graph,
    &vram_ops_builtin, &vram_ops_activation, &vram_ops_picture};
enum { NFAMILIES = sizeof families / sizeof *families };

uint32_t vram_op_count(void)
{
    uint32_t n = 0;
    for (int i = 0; i < NFAMILIES; i++)
        n += families[i]->n;
    return n;
}

const struct vram_op_row *vram_op_row_at(uint32_t op)
{
    for (int i = 0; i < NFAMILIES; i++) {
        if (op < families[i]->n)
            return &families[i]->rows[op];
        op -= families[i]->n;
    }
    return NULL;
}

uint32_t vram_op_find(const char *name)
{
    uint32_t first = 0;
    for (int i = 0; i < NFAMILIES; i++) {
        const struct vram_op_row *rows = families[i]->rows;
        for (uint32_t k = 0; k < families[i]->n; k++)
            if (rows[k].name[0] == name[0] && !strcmp(rows[k].name, name))
                return first + k;
        first += families[i]->n;
    }
    return VRAM_NO_INDEX;
}

/* ---- arguments ---------------------------------------------------------------------------- */

__attribute__((noreturn)) static void wrong(struct vram_machine *m, const struct vram_op_row *row,
                                            int i, const char *what)
{
    vram_throw(m, VRAM_E_FORMAT, "%s(%s): argument %d must be %s", row->name, row->params, i + 1,
               what);
}

struct vram_handle *vram_arg(struct vram_machine *m, const struct vram_op_row *row,
                             const struct vram_value *a, int i)
{
    if (a[i].kind != VRAM_V_TENSOR)
        wrong(m, row, i, "a tensor");
    return a[i].u.tensor;
}

struct vram_handle *vram_arg_or_null(struct vram_machine *m, const struct vram_op_row *row,
                                     const struct vram_value *a, int i)
{
    return a[i].kind == VRAM_V_NONE ? NULL : vram_arg(m, row, a, i);
}

int64_t vram_arg_int(struct vram_machine *m, const struct vram_op_row *row,
                     const struct vram_value *a, int i, int64_t fallback)
{
    if (a[i].kind == VRAM_V_NONE)
        return fallback;
    if (a[i].kind != VRAM_V_INT)
        wrong(m, row, i, "an integer");
    return a[i].u.i;
}

double vram_arg_real(struct vram_machine *m, const struct vram_op_row *row,
                     const struct vram_value *a, int i, double fallback)
{
    if (a[i].kind == VRAM_V_NONE)
        return fallback;
    if (a[i].kind == VRAM_V_FLOAT)
        return a[i].u.f;
    return (double)vram_arg_int(m, row, a, i, 0);
}

bool vram_arg_bool(const struct vram_value *a, int i, bool fallback)
{
    return a[i].kind == VRAM_V_BOOL ? a[i].u.i != 0 : fallback;
}

enum vram_dtype vram_arg_dtype(struct vram_machine *m, const struct vram_op_row *row,
                               const struct vram_value *a, int i)
{
    if (a[i].kind != VRAM_V_DTYPE)
        wrong(m, row, i, "a dtype");
    return (enum vram_dtype)a[i].u.i;
}

int vram_arg_dims(struct vram_machine *m, const struct vram_op_row *row, const struct vram_value *a,
                  int i, int64_t *dims)
{
    const struct vram_value *from = a + i;
    uint32_t n = 0, most = (uint32_t)(VRAM_MAX_ARGS - i);
    if (from->kind == VRAM_V_BOX && from->u.box->kind != VRAM_BOX_RECORD) {
        n = from->u.box->n;
        from = from->u.box->at;
        most = n;
    } else {
        while (n < most && from[n].kind == VRAM_V_INT)
            n++;
    }
    if (n > VRAM_MAX_RANK)
        wrong(m, row, i, "at most ten sizes");
    for (uint32_t k = 0; k < n; k++) {
        if (from[k].kind != VRAM_V_INT)
            wrong(m, row, i + (int)k, "an integer");
        dims[k] = from[k].u.i;
    }
    return (int)n;
}

int vram_arg_dim(struct vram_machine *m, const struct vram_op_row *row, const struct vram_value *a,
                 int i, int64_t fallback, const struct vram_handle *x)
{
    int64_t d = vram_arg_int(m, row, a, i, fallback);
    if (d < 0)
        d += x->rank;
    if (d < 0 || d >= x->rank)
        wrong(m, row, i, "a dimension of the tensor");
    return (int)d;
}

struct vram_handle *vram_end_one(struct vram_machine *m, struct vram_tape_node *n,
                                 struct vram_handle *out, bool save)
{
    if (vram_end(m, n, &out, 1, &out, save && n ? 1 : 0)) {
        vram_drop(m, out);
        return NULL;
    }
    return out;
}
