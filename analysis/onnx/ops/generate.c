/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that make tensors: Range, random numbers, windows; and transforms of signals.
 */
#include <math.h>

#include "common.h"

/* ---- Range ---- */

/* ceil((limit − start) / delta), not below 0; UNKNOWN when it cannot be said */
static int range_count(struct vram_op *op, struct vram_element start, struct vram_element limit,
                       struct vram_element delta, vram_dim *out)
{
    struct vram_dims *d = op->dims;
    int64_t n, step;
    double a, b, c;
    *out = VRAM_DIM_UNKNOWN;
    if (vram_element_number(op, delta, &c) && c == 0)
        return vram_op_fail(op, "a step of 0");
    if (!vram_element_whole(op, start, &n) && vram_element_number(op, start, &a) &&
        !vram_element_number(op, limit, &b))
        return 0;
    bool whole = start.kind == VRAM_ELEMENT_RATIO && start.den == 1 &&
                 limit.kind == VRAM_ELEMENT_RATIO && limit.den == 1;
    if (whole && vram_element_whole(op, delta, &step) && step > -INT64_MAX) {
        vram_dim span = step > 0 ? vram_dim_sub(d, limit.num, start.num)
                                 : vram_dim_sub(d, start.num, limit.num);
        *out =
            vram_dim_max(d, vram_dim_ceildiv(d, span, vram_onnx_num(op, step > 0 ? step : -step)),
                         vram_onnx_num(op, 0));
        return vram_op_check(op);
    }
    if (vram_element_number(op, start, &a) && vram_element_number(op, limit, &b) &&
        vram_element_number(op, delta, &c)) {
        double count = ceil((b - a) / c);
        if (count < 9e18)
            *out = vram_onnx_num(op, count > 0 ? (int64_t)count : 0);
    }
    return 0;
}

/* A scalar or one-element input. */
static struct vram_element scalar(struct vram_op *op, uint32_t i)
{
    struct vram_onnx_grid g;
    return vram_onnx_value(op, i, &g) && g.n == 1 ? vram_op_value(op, op->in[i])[0] : vram_element_unknown;
}

int vram_onnx_range(struct vram_op *op, const struct vram_info *delta)
{
    struct vram_element step = vram_element_dim(vram_onnx_num(op, 1));
    vram_dim n;
    for (uint32_t i = 0; i < op->n_in; i++)
        VRAM_TRY(vram_onnx_rank(op, i, 0, 1));
    if (delta)
        step = scalar(op, 2);
    VRAM_TRY(range_count(op, scalar(op, 0), scalar(op, 1), step, &n));
    if (n == VRAM_DIM_UNKNOWN)
        n = vram_op_fresh(op, "range", 0, VRAM_DIM_UNKNOWN);
    return vram_op_out_dims(op, 0, vram_onnx_in_dtype(op, 0), &n, 1);
}

static int range(struct vram_op *op) { return vram_onnx_range(op, op->in[2]); }

static int value_range(struct vram_op *op)
{
    struct vram_onnx_grid y;
    struct vram_element *e, first = scalar(op, 0), step = scalar(op, 2);
    if (!vram_element_known(first) || !vram_element_known(step) ||
        !vram_onnx_grid(op, &op->out[0], &y) || !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < y.n; i++)
        e[i] = vram_element_add(
            op, first,
            vram_element_mul(op, step, vram_element_dim(vram_onnx_num(op, i)), op->out[0].dtype),
            op->out[0].dtype);
    return vram_op_check(op);
}

/* ---- random numbers ---- */

static int random_shape(struct vram_op *op)
{
    const int64_t *shape;
    uint8_t dtype;
    uint32_t n;
    VRAM_TRY(vram_onnx_dtype_attr(op, "dtype", VRAM_DT_F32, &dtype));
    if (!vram_op_has(op, "shape"))
        return vram_op_fail(op, "attribute 'shape' is missing");
    VRAM_TRY(vram_op_ints(op, "shape", &shape, &n));
    vram_dim *dims = vram_op_dims(op, n);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < n; i++)
        dims[i] = vram_onnx_num(op, shape[i]);
    return vram_op_out_dims(op, 0, dtype, dims, n);
}

static int random_like(struct vram_op *op)
{
    uint8_t dtype;
    VRAM_TRY(vram_onnx_dtype_attr(op, "dtype", op->in[0]->dtype, &dtype));
    return vram_op_out_like(op, 0, dtype, op->in[0]);
}

static int multinomial(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t samples;
    uint8_t dtype;
    VRAM_TRY(vram_onnx_dtype_attr(op, "dtype", VRAM_DT_I32, &dtype));
    VRAM_TRY(vram_onnx_int_from(op, "sample_size", 1, 1, &samples));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 2));
    vram_dim dims[2] = {vram_onnx_ranked(x) ? x->dims[0] : VRAM_DIM_UNKNOWN,
                        vram_onnx_num(op, samples)};
    return vram_op_out_dims(op, 0, dtype, dims, 2);
}

/* ---- windows and transforms ---- */

/* A scalar input as a dim, not below 0; fresh when it is not known. */
static int size_input(struct vram_op *op, uint32_t i, const char *stem, vram_dim *out)
{
    const vram_dim *value;
    uint32_t n;
    int64_t size;
    VRAM_TRY(vram_onnx_rank(op, i, 0, 1));
    *out = VRAM_DIM_UNKNOWN;
    if (vram_op_value_dims(op, op->in[i], &value, &n) && n == 1)
        *out = value[0];
    if (vram_dim_is_int(op->dims, *out, &size) && size < 0)
        return vram_op_fail(op, "a size of %lld", (long long)size);
    if (*out == VRAM_DIM_UNKNOWN)
        *out = vram_op_fresh(op, stem, 0, VRAM_DIM_UNKNOWN);
    return 0;
}

static int window(struct vram_op *op)
{
    uint8_t dtype;
    vram_dim n;
    VRAM_TRY(vram_onnx_dtype_attr(op, "output_datatype", VRAM_DT_F32, &dtype));
    VRAM_TRY(size_input(op, 0, "window", &n));
    return vram_op_out_dims(op, 0, dtype, &n, 1);
}

/* floor(n/2) + 1: what one side of a spectrum has */
static vram_dim one_side(struct vram_op *op, vram_dim n)
{
    return vram_dim_add(op->dims, vram_dim_floordiv(op->dims, n, vram_onnx_num(op, 2)),
                        vram_onnx_num(op, 1));
}

/* [floor(dft/2) + 1, mel bins] */
static int mel_matrix(struct vram_op *op)
{
    uint8_t dtype;
    vram_dim dims[2], dft;
    VRAM_TRY(vram_onnx_dtype_attr(op, "output_datatype", VRAM_DT_F32, &dtype));
    VRAM_TRY(size_input(op, 0, "mel", &dims[1]));
    VRAM_TRY(size_input(op, 1, "dft", &dft));
    dims[0] = one_side(op, dft);
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, dtype, dims, 2);
}

/* The axis gets the transform's length, the last axis 2 (1 when a real signal comes out). */
static int transform(struct vram_op *op, bool axis_known, int64_t axis)
{
    const struct vram_info *x = op->in[0];
    int64_t onesided, inverse;
    uint32_t a;
    VRAM_TRY(vram_op_int(op, "onesided", 0, &onesided));
    VRAM_TRY(vram_op_int(op, "inverse", 0, &inverse));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (!axis_known)
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank);
    VRAM_TRY(vram_op_axis(op, "axis", axis, x->rank, &a));
    if (a == x->rank - 1)
        return vram_op_fail(op, "the axis of the complex parts cannot be transformed");
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    if (vram_onnx_in(op, 1))
        VRAM_TRY(size_input(op, 1, "dft", &dims[a]));
    else if (onesided && inverse)
        dims[a] = vram_dim_mul(op->dims, vram_onnx_num(op, 2),
                               vram_dim_sub(op->dims, dims[a], vram_onnx_num(op, 1)));
    if (onesided && !inverse)
        dims[a] = one_side(op, dims[a]);
    dims[x->rank - 1] = vram_onnx_num(op, onesided && inverse ? 1 : 2);
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int dft_attribute(struct vram_op *op)
{
    int64_t axis;
    VRAM_TRY(vram_op_int(op, "axis", 1, &axis));
    return transform(op, true, axis);
}

static int dft_input(struct vram_op *op)
{
    int64_t axis = -2;
    bool known = !vram_onnx_in(op, 2) || vram_op_value_int(op, op->in[2], &axis);
    return transform(op, known, axis);
}

/* [batch, frames, bins, 2] of frames that begin every frame_step */
static int stft(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *window_in = vram_onnx_in(op, 2);
    struct vram_dims *d = op->dims;
    int64_t onesided, n;
    vram_dim dims[4] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN, vram_onnx_num(op, 2)};
    vram_dim step, length = VRAM_DIM_UNKNOWN;
    VRAM_TRY(vram_op_int(op, "onesided", 1, &onesided));
    VRAM_TRY(vram_onnx_rank(op, 0, 2, 3));
    VRAM_TRY(vram_onnx_rank(op, 2, 1, 1));
    VRAM_TRY(size_input(op, 1, "step", &step));
    if (vram_dim_is_int(d, step, &n) && n == 0)
        return vram_op_fail(op, "a step of 0");
    if (vram_onnx_in(op, 3))
        VRAM_TRY(size_input(op, 3, "frame", &length));
    else if (vram_onnx_ranked(window_in))
        length = window_in->dims[0];
    else if (!window_in && vram_onnx_ranked(x))
        length = x->dims[1];
    if (vram_onnx_ranked(x)) {
        dims[0] = x->dims[0];
        dims[1] = vram_dim_add(d, vram_dim_floordiv(d, vram_dim_sub(d, x->dims[1], length), step),
                               vram_onnx_num(op, 1));
    }
    dims[2] = onesided ? one_side(op, length) : length;
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, 4);
}

static const struct vram_op_row rows[] = {
    {"Range", 11, 3, 3, 1, 1, range, value_range, NULL},
    {"RandomNormal", 1, 0, 0, 1, 1, random_shape, NULL, NULL},
    {"RandomUniform", 1, 0, 0, 1, 1, random_shape, NULL, NULL},
    {"RandomNormalLike", 1, 1, 1, 1, 1, random_like, NULL, NULL},
    {"RandomUniformLike", 1, 1, 1, 1, 1, random_like, NULL, NULL},
    {"Bernoulli", 15, 1, 1, 1, 1, random_like, NULL, NULL},
    {"Multinomial", 7, 1, 1, 1, 1, multinomial, NULL, NULL},
    {"BlackmanWindow", 17, 1, 1, 1, 1, window, NULL, NULL},
    {"HammingWindow", 17, 1, 1, 1, 1, window, NULL, NULL},
    {"HannWindow", 17, 1, 1, 1, 1, window, NULL, NULL},
    {"MelWeightMatrix", 17, 5, 5, 1, 1, mel_matrix, NULL, NULL},
    {"DFT", 17, 1, 2, 1, 1, dft_attribute, NULL, "the axis is an attribute"},
    {"DFT", 20, 1, 3, 1, 1, dft_input, NULL, NULL},
    {"STFT", 17, 2, 4, 1, 1, stft, NULL, NULL},
};
VRAM_ONNX_FAMILY(generate, "", "generate", rows);
