/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses: one number, or one for each target when nothing is reduced.
 */
#include <string.h>

#include "common.h"

/* [N, C, d …] against targets [N, d …] */
static int loss(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *target = op->in[1];
    const char *reduction;
    vram_dim same;
    VRAM_TRY(vram_op_string(op, "reduction", "mean", &reduction));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    if (vram_onnx_ranked(x) && vram_onnx_ranked(target)) {
        if (target->rank != x->rank - 1)
            return vram_op_fail(op, "scores of rank %u and targets of rank %u", x->rank,
                                target->rank);
        for (uint32_t i = 0; i < target->rank; i++)
            VRAM_TRY(vram_op_same(op, x->dims[i ? i + 1 : 0], target->dims[i], "scores and targets",
                                  &same));
    }
    if (!strcmp(reduction, "none"))
        return vram_op_out_like(op, 0, x->dtype, target);
    if (strcmp(reduction, "mean") != 0 && strcmp(reduction, "sum") != 0)
        return vram_op_fail(op, "attribute 'reduction' is none of none, mean, sum");
    return vram_op_out_scalar(op, 0, x->dtype);
}

static int cross_entropy(struct vram_op *op)
{
    VRAM_TRY(vram_op_out_like(op, 1, op->in[0]->dtype, op->in[0]));
    return loss(op);
}

static const struct vram_op_row rows[] = {
    {"NegativeLogLikelihoodLoss", 12, 2, 3, 1, 1, loss, NULL, NULL},
    {"SoftmaxCrossEntropyLoss", 12, 2, 3, 1, 2, cross_entropy, NULL, NULL},
};
VRAM_ONNX_FAMILY(loss, "", "loss", rows);
