/* SPDX-License-Identifier: Apache-2.0
 *
 * What networks of convolutions run beside them: batch norm, the highest of a window, rolled pictures.
 */
#include <string.h>

#include "ops.h"

/* ---- batch_norm --------------------------------------------------------------------------- */

/* gradients of x, weight and bias at once, that of x whether it is asked for or not */
static void batch_norm_backward(VRAM_FORMULA)
{
    for (int i = 0; i < 3; i++) {
        const struct vram_meta *meta = &n->meta[i];
        bool follows = i == 0 && m->card && vram_channels_last(s[0]);
        out[i] = i && !vram_needs(n, i) ? NULL
                 : follows              ? vram_in_format_of(m, g[0], meta->shape, (enum vram_dtype)meta->dtype, true)
                                        : vram_new(m, meta->shape, meta->rank, (enum vram_dtype)meta->dtype, NULL);
    }
}

/* batch_norm(x, weight, bias, mean, var): the statistics of the batch, fp32 a channel, while training */
static bool batch_norm(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *stats[2];
    struct vram_handle *w = vram_arg_or_null(m, row, a, 1), *b = vram_arg_or_null(m, row, a, 2);
    struct vram_handle *mean = vram_arg_or_null(m, row, a, 3), *var = vram_arg_or_null(m, row, a, 4);
    struct vram_handle *xs[3] = {x, w, b}, *save[4] = {x, mean, var, w};
    if (x->rank != 4)
        vram_throw(m, VRAM_E_CONFLICT, "batch_norm takes [n, c, h, w]");
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, 3, save, 4, 2, batch_norm_backward}))
        return true;
    struct vram_handle *o = vram_in_format_of(m, x, x->shape, (enum vram_dtype)x->dtype,
                                              m->card && vram_channels_last(x));
    for (int i = 0; i < 2; i++)
        stats[i] = vram_new(m, x->shape + 1, 1, VRAM_DT_F32, NULL);
    bool stopped = vram_end(m, n, &o, 1, stats, n ? 2 : 0);
    vram_drop(m, stats[0]);
    vram_drop(m, stats[1]);
    if (stopped)
        vram_let_go(m, &o);
    return vram_result(o, out);
}

/* ---- max_pool ----------------------------------------------------------------------------- */

static void max_pool_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(g);
    out[0] = vram_in_format_of(m, s[0], n->meta[0].shape, (enum vram_dtype)n->meta[0].dtype,
                               vram_channels_last(s[0]));
}

/* max_pool(x, window, stride, padding): of rows and columns; places as int64 */
static bool max_pool(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t window = vram_arg_int(m, row, a, 1, 1), stride = vram_arg_int(m, row, a, 2, window);
    int64_t pad = vram_arg_int(m, row, a, 3, 0), shape[VRAM_MAX_RANK];
    if (x->rank != 4 || window < 1 || stride < 1 || pad < 0 || pad > window / 2)
        vram_throw(m, VRAM_E_CONFLICT, "max_pool takes [n, c, h, w], a window, a stride and a padding");
    memcpy(shape, x->shape, sizeof shape);
    for (int i = 2; i < 4; i++) {
        if (x->shape[i] + 2 * pad < window)
            vram_throw(m, VRAM_E_CONFLICT, "the window is larger than the input");
        shape[i] = (x->shape[i] + 2 * pad - window) / stride + 1;
    }
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, 1, 1, max_pool_backward}))
        return true;
    bool last = vram_channels_last(x);
    struct vram_handle *o = vram_in_format_of(m, x, shape, (enum vram_dtype)x->dtype, last);
    struct vram_handle *places = vram_in_format_of(m, x, shape, VRAM_DT_I64, last);
    bool stopped = vram_end(m, n, &o, 1, &places, n ? 1 : 0);
    vram_drop(m, places);
    if (stopped)
        vram_let_go(m, &o);
    return vram_result(o, out);
}

/* ---- average_all ---------------------------------------------------------------------------- */

static void average_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_new(m, n->meta[0].shape, 4, (enum vram_dtype)g[0]->dtype, NULL);
}

/* zeros of the result, of which the gradient is a part (AsStridedBackward) */
static void restrided_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_new(m, n->meta[0].shape, 4, (enum vram_dtype)g[0]->dtype, NULL);
}

/* average_all(x): adaptive_avg_pool2d to one place, which is a mean; channels last are strided anew */
static bool average_all(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    if (x->rank != 4)
        vram_throw(m, VRAM_E_CONFLICT, "average_all takes [n, c, h, w]");
    const int64_t shape[4] = {x->shape[0], x->shape[1], 1, 1};
    bool last = vram_channels_last(x);
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, average_backward);
    struct vram_handle *o = vram_end_one(m, n, vram_new(m, shape, 4, (enum vram_dtype)x->dtype, NULL), false);
    if (!o || !last)
        return vram_result(o, out);
    const int64_t strides[4] = {shape[1], 1, shape[1], shape[1]};
    vram_begin_plain(m, &n, &o, 1, restrided_backward);
    struct vram_handle *again = vram_end_one(m, n, vram_alias(m, o, shape, strides, 4, false), false);
    vram_drop(m, o);
    return vram_result(again, out);
}

/* ---- roll --------------------------------------------------------------------------------- */

/* One dimension after the other: all but the last make a tensor that goes.  Fake tensors see one. */
static struct vram_handle *rolled(struct vram_machine *m, const struct vram_handle *x, int64_t dims)
{
    struct vram_handle *o = NULL;
    for (int64_t i = m->card ? 0 : dims - 1; i < dims; i++) {
        struct vram_handle *next = vram_new(m, x->shape, x->rank, (enum vram_dtype)x->dtype, NULL);
        vram_drop(m, o);
        o = next;
    }
    return o;
}

static void roll_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = rolled(m, g[0], n->arg[0]);
}

/* roll(x, dims): so many dimensions are turned */
static bool roll(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t dims = vram_arg_int(m, row, a, 1, 1);
    if (dims < 1 || dims > x->rank)
        vram_throw(m, VRAM_E_CONFLICT, "roll turns one dimension or more of its input");
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, roll_backward);
    if (n)
        n->arg[0] = dims;
    return vram_result(vram_end_one(m, n, rolled(m, x, dims), false), out);
}

static const struct vram_op_row picture_rows[] = {
    {"batch_norm", "x w? b? mean? var?", "", "x, the weight, the running values and the batch's mean and variance",
     "the output, an fp32 mean and variance of each channel; backward all gradients at once",
     "derivatives.yaml cudnn_batch_norm, native_batch_norm", batch_norm, ""},
    {"max_pool", "x window stride? padding?", "", "x and the places",
     "the highest values and int64 places; backward one x-sized gradient",
     "derivatives.yaml max_pool2d_with_indices", max_pool, ""},
    {"average_all", "x", "", "nothing", "the mean of a picture; backward one x-sized gradient",
     "ATen/native/AdaptiveAveragePooling.cpp", average_all, ""},
    {"roll", "x dims", "", "nothing", "a copy a dimension, the last stays; backward the same",
     "ATen/native/TensorTransformations.h roll_common", roll, ""},
};
const struct vram_op_family vram_ops_picture = {picture_rows, sizeof picture_rows / sizeof *picture_rows};
