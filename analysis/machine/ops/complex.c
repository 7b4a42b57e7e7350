/* SPDX-License-Identifier: Apache-2.0
 *
 * Complex numbers: other looks at pairs of real ones.
 */
#include "ops.h"

/* ---- as_complex, as_real ------------------------------------------------------------------ */

/* pairs of the last dimension seen as complex numbers */
static struct vram_handle *complex_look(struct vram_machine *m, struct vram_handle *x)
{
    int64_t stride[VRAM_MAX_RANK];
    int rank = x->rank - 1;
    enum vram_dtype d = x->dtype == VRAM_DT_F64 ? VRAM_DT_C128 : VRAM_DT_C64;
    for (int i = 0; i < rank; i++)
        stride[i] = x->stride[i] / 2;
    struct vram_handle *y = vram_alias(m, x, x->shape, stride, rank, true);
    y->dtype = (uint8_t)d;
    return y;
}

static struct vram_handle *real_look(struct vram_machine *m, struct vram_handle *x)
{
    int64_t shape[VRAM_MAX_RANK], stride[VRAM_MAX_RANK];
    for (int i = 0; i < x->rank; i++) {
        shape[i] = x->shape[i];
        stride[i] = 2 * x->stride[i];
    }
    shape[x->rank] = 2;
    stride[x->rank] = 1;
    struct vram_handle *y = vram_alias(m, x, shape, stride, x->rank + 1, true);
    y->dtype = x->dtype == VRAM_DT_C128 ? VRAM_DT_F64 : VRAM_DT_F32;
    return y;
}

static void complex_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    out[0] = real_look(m, g[0]);
}

static bool as_complex(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int last = x->rank - 1;
    bool even = last >= 0 && x->shape[last] == 2 && x->stride[last] == 1;
    for (int i = 0; even && i < last; i++)
        even = x->stride[i] % 2 == 0;
    if (!even || (x->dtype != VRAM_DT_F32 && x->dtype != VRAM_DT_F64))
        vram_throw(m, VRAM_E_CONFLICT, "complex numbers are pairs of neighbours in fp32 or fp64");
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, complex_backward);
    return vram_result(vram_end_one(m, n, complex_look(m, x), false), out);
}

static void real_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    struct vram_handle *whole = vram_hold(g[0]);
    if (!vram_is_contiguous(whole))
        vram_replace(m, &whole,
                     vram_new(m, whole->shape, whole->rank, (enum vram_dtype)whole->dtype, NULL));
    out[0] = complex_look(m, whole);
    vram_drop(m, whole);
}

static bool as_real(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    if (vram_dtypes[x->dtype].kind != VRAM_KIND_COMPLEX || x->rank == VRAM_MAX_RANK)
        vram_throw(m, VRAM_E_CONFLICT, "as_real needs complex numbers");
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, real_backward);
    return vram_result(vram_end_one(m, n, real_look(m, x), false), out);
}

static const struct vram_op_row complex_rows[] = {
    {"as_complex", "x", "", "nothing", "nothing: pairs of the last dimension as one number",
     "derivatives.yaml view_as_complex", as_complex, ""},
    {"as_real", "x", "", "nothing", "nothing; backward a copy unless contiguous",
     "derivatives.yaml view_as_real", as_real, ""},
};
const struct vram_op_family vram_ops_complex = {complex_rows,
                                                sizeof complex_rows / sizeof *complex_rows};
