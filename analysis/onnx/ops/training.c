/* SPDX-License-Identifier: Apache-2.0
 *
 * ai.onnx.preview.training: optimizers update what they are given, and Gradient gives a derivative
 * for each of the values that its attribute xs names.
 */
#include "common.h"

/* Inputs: R, T, then n each of values, gradients and states; outputs: values, then states. */
static int update(struct vram_op *op, uint32_t states)
{
    uint32_t each = 2 + states, n = (op->n_in - 2) / each;
    if ((op->n_in - 2) % each || op->n_out != n * (1 + states))
        return vram_op_fail(op, "%u inputs and %u outputs: not %u of each value and %u", op->n_in,
                            op->n_out, each, 1 + states);
    for (uint32_t i = 0; i < op->n_out; i++) {
        /* values come first, their gradients are not given back */
        const struct vram_info *x = vram_onnx_in(op, 2 + (i < n ? i : i + n));
        VRAM_TRY(vram_op_out_like(op, i, vram_onnx_dtype(x), x));
    }
    return 0;
}

static int adagrad(struct vram_op *op) { return update(op, 1); }
static int momentum(struct vram_op *op)
{
    static const char *const required[] = {"alpha", "beta", "mode", "norm_coefficient"};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!vram_op_has(op, required[i]))
            return vram_op_fail(op, "attribute '%s' is missing", required[i]);
    return update(op, 1);
}
static int adam(struct vram_op *op) { return update(op, 2); }

/* Inputs are the values of xs, then those of zs: the outputs are as the first. */
static int gradient(struct vram_op *op)
{
    if (!vram_op_has(op, "xs") || !vram_op_has(op, "y"))
        return vram_op_fail(op, "attribute '%s' is missing", vram_op_has(op, "xs") ? "y" : "xs");
    if (op->n_out > op->n_in)
        return vram_op_fail(op, "%u outputs for %u inputs", op->n_out, op->n_in);
    for (uint32_t i = 0; i < op->n_out; i++)
        VRAM_TRY(vram_op_out_like(op, i, vram_onnx_in_dtype(op, i), vram_onnx_in(op, i)));
    return 0;
}

#define ANY VRAM_ONNX_ANY
static const struct vram_op_row rows[] = {
    {"Adagrad", 1, 3, ANY, 1, ANY, adagrad, NULL, NULL},
    {"Momentum", 1, 3, ANY, 1, ANY, momentum, NULL, NULL},
    {"Adam", 1, 3, ANY, 1, ANY, adam, NULL, NULL},
    {"Gradient", 1, 1, ANY, 1, ANY, gradient, NULL, NULL},
};
VRAM_ONNX_FAMILY(training, "ai.onnx.preview.training", "training", rows);
