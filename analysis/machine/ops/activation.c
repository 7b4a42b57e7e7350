/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations that write into their input, and the piecewise ones of mobile networks.  What the
 * derivative needs of the old input is cloned first (VariableType: grad_fn->self_ of an op in place).
 */
#include "ops.h"

/* the gradient and what was kept, in the layout of the gradient */
static void gated_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    out[0] = vram_elt2(m, (enum vram_dtype)g[0]->dtype, g[0], s[0]);
}

/* the layout of what is kept comes first (threshold_backward) */
static void threshold_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    out[0] = vram_elt2(m, (enum vram_dtype)g[0]->dtype, s[0], g[0]);
}

static struct vram_handle *same_storage(struct vram_machine *m, struct vram_handle *x)
{
    return vram_alias(m, x, x->shape, x->stride, x->rank, x->base != NULL);
}

/* keeps its result, which lies where x lay */
static bool relu_in_place(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    vram_begin(m, &n, &(struct vram_begin){&x, 1, NULL, 0, 1, threshold_backward});
    return vram_result(vram_end_one(m, n, same_storage(m, x), true), out);
}

/* keeps the old x */
static bool overwritten(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *old = NULL;
    struct vram_tape_node *n;
    if (x->requires_grad && m->grad)
        old = vram_new_like(m, x, (enum vram_dtype)x->dtype);
    bool stopped = vram_begin(m, &n, &(struct vram_begin){&x, 1, &old, 1, 0, gated_backward});
    vram_drop(m, old);
    return stopped || vram_result(vram_end_one(m, n, same_storage(m, x), false), out);
}

static bool piecewise(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, 1, 0, gated_backward}))
        return true;
    return vram_result(vram_end_one(m, n, vram_elt1(m, (enum vram_dtype)x->dtype, x), false), out);
}

static const struct vram_op_row activation_rows[] = {
    {"relu_", "x", "", "its result", "nothing: x's storage is the result; backward one output",
     "derivatives.yaml relu", relu_in_place, ""},
    {"silu_", "x", "", "a clone of x", "the clone; backward one output",
     "derivatives.yaml silu, VariableType", overwritten, ""},
    {"hardswish_", "x", "", "a clone of x", "the clone; backward one output",
     "derivatives.yaml hardswish, VariableType", overwritten, ""},
    {"hardtanh_", "x", "", "a clone of x", "the clone; backward one output",
     "derivatives.yaml hardtanh_, VariableType", overwritten, ""},
    {"hardswish", "x", "", "x", "one output each way", "derivatives.yaml hardswish", piecewise, ""},
    {"hardsigmoid", "x", "", "x", "one output each way", "derivatives.yaml hardsigmoid", piecewise, ""},
};
const struct vram_op_family vram_ops_activation = {activation_rows,
                                                   sizeof activation_rows / sizeof *activation_rows};
