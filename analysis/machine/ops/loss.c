/* SPDX-License-Identifier: Apache-2.0
 *
 * Loss kernels.
 */
#include "ops.h"

static void nll_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(g);
    VRAM_UNUSED(s);
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, (enum vram_dtype)n->meta[0].dtype, NULL);
}

static bool nll_loss(VRAM_OP)
{
    struct vram_handle *x = vram_autocast_fp32(m, vram_arg(m, row, a, 0));
    struct vram_handle *target = vram_arg(m, row, a, 1), *save[2] = {x, target}, *o = NULL;
    struct vram_tape_node *n;
    if (!vram_begin(m, &n, &(struct vram_begin){&x, 1, save, 2, 1, nll_backward})) {
        o = vram_new_scalar(m, (enum vram_dtype)x->dtype);
        struct vram_handle *weight = vram_new_scalar(m, (enum vram_dtype)x->dtype);
        bool stopped = vram_end(m, n, &o, 1, &weight, n ? 1 : 0);
        vram_drop(m, weight);
        if (stopped)
            vram_let_go(m, &o);
    }
    vram_drop(m, x);
    return vram_result(o, out);
}

static const struct vram_op_row loss_rows[] = {
    {"nll_loss", "x target", "fp32", "x, the target and the total weight",
     "two scalars; backward one x-sized gradient", "derivatives.yaml nll_loss_forward", nll_loss, ""},
};
const struct vram_op_family vram_ops_loss = {loss_rows, sizeof loss_rows / sizeof *loss_rows};
