/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements chosen by a condition: where, masked_fill, clamp.
 */
#include "ops.h"

/* ---- where -------------------------------------------------------------------------------- */

/* the choice between a gradient and a zero that is made for it */
static struct vram_handle *chosen_gradient(struct vram_machine *m, struct vram_handle *condition,
                                           struct vram_handle *g)
{
    struct vram_handle *zero = vram_new_scalar(m, (enum vram_dtype)g->dtype);
    struct vram_handle *o = vram_elt2(m, (enum vram_dtype)g->dtype, condition, g);
    vram_drop(m, zero);
    return o;
}

static void where_backward(VRAM_FORMULA)
{
    for (int i = n->nedges - 1; i >= 0; i--)
        out[i] = vram_needs(n, i) ? chosen_gradient(m, s[0], g[0]) : NULL;
}

/* a contiguous clone is filled */
static void masked_fill_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    out[0] = vram_new(m, g[0]->shape, g[0]->rank, (enum vram_dtype)g[0]->dtype, NULL);
}

/* masked_fill(x, mask): x with a number where the mask holds */
static bool masked_fill(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *mask = vram_arg(m, row, a, 1),
                       *xs[2] = {x, mask};
    int64_t shape[VRAM_MAX_RANK];
    int rank = vram_broadcast(m, xs, 2, shape);
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &mask, 1, 0, masked_fill_backward}))
        return true;
    struct vram_handle *o = vram_new(m, shape, rank, (enum vram_dtype)x->dtype, NULL);
    return vram_result(vram_end_one(m, n, o, false), out);
}

/* clamp_backward: a zero, a comparison for each end there is, and the choice; all live long */
static void clamp_backward(VRAM_FORMULA)
{
    struct vram_handle *zero = vram_new_scalar(m, (enum vram_dtype)g[0]->dtype);
    struct vram_handle *in = vram_elt1(m, VRAM_DT_BOOL, s[0]);
    struct vram_handle *below = n->arg[0] == 2 ? vram_elt1(m, VRAM_DT_BOOL, s[0]) : NULL;
    out[0] = vram_elt2(m, (enum vram_dtype)g[0]->dtype, in, g[0]);
    vram_drop(m, below);
    vram_drop(m, in);
    vram_drop(m, zero);
}

/* clamp(x, least, most): either end may be none */
static bool clamp(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int ends = (a[1].kind != VRAM_V_NONE) + (a[2].kind != VRAM_V_NONE);
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, 1, 0, clamp_backward}))
        return true;
    if (n)
        n->arg[0] = ends;
    return vram_result(vram_end_one(m, n, vram_elt1(m, (enum vram_dtype)x->dtype, x), false), out);
}

/* where(condition, x, y): a number becomes a tensor for the time of the call */
static bool where(VRAM_OP)
{
    struct vram_handle *c = vram_arg(m, row, a, 0), *xs[3] = {c}, *number = NULL;
    int n = 1;
    for (int i = 1; i < 3; i++)
        if (a[i].kind != VRAM_V_INT && a[i].kind != VRAM_V_FLOAT)
            xs[n++] = vram_arg(m, row, a, i);
    if (n == 1)
        vram_arg(m, row, a, 1); /* throws */
    struct vram_tape_node *node;
    if (vram_begin(m, &node, &(struct vram_begin){xs + 1, n - 1, &c, 1, 0, where_backward}))
        return true;
    enum vram_dtype d = n == 3 ? vram_promote(xs[1], xs[2]) : (enum vram_dtype)xs[1]->dtype;
    if (n == 2)
        number = vram_new_scalar(m, d);
    struct vram_handle *o = vram_elt(m, d, xs, n);
    vram_drop(m, number);
    return vram_result(vram_end_one(m, node, o, false), out);
}

/* masked_fill_(x, mask): in place */
static bool masked_fill_in_place(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *mask = vram_arg(m, row, a, 1);
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &mask, 1, 0, masked_fill_backward}))
        return true;
    return vram_result(
        vram_end_one(m, n, vram_alias(m, x, x->shape, x->stride, x->rank, x->base != NULL), false), out);
}

static const struct vram_op_row choice_rows[] = {
    {"masked_fill", "x mask", "", "the mask", "one output each way", "derivatives.yaml masked_fill",
     masked_fill, ""},
    {"masked_fill_", "x mask", "", "the mask", "nothing: in place; backward one output",
     "derivatives.yaml masked_fill_", masked_fill_in_place, ""},
    {"clamp", "x least? most?", "", "x", "one output; backward a scalar, a bool an end, the choice",
     "derivatives.yaml clamp", clamp, ""},
    {"where", "condition x y", "", "the condition",
     "the choice; a number is a scalar for the call; backward a scalar and a choice a side",
     "derivatives.yaml where.self", where, ""},
};
const struct vram_op_family vram_ops_choice = {choice_rows,
                                               sizeof choice_rows / sizeof *choice_rows};
