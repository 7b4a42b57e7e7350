/* SPDX-License-Identifier: Apache-2.0
 *
 * Norms, reductions and softmax.
 */
#include <string.h>

#include "ops.h"

/* ---- layer_norm: one joint formula keeps everything --------------------------------------- */

/* The kernel writes rows one behind another; fake fp32 tensors have the layout of the last product,
 * of rstd and the gradient. */
static void layer_norm_backward(VRAM_FORMULA)
{
    bool follows = !m->card && s[1]->dtype == VRAM_DT_F32;
    for (int i = 0; i < 3; i++) {
        const struct vram_meta *meta = &n->meta[i];
        enum vram_dtype d = i == 0 ? (enum vram_dtype)s[1]->dtype : (enum vram_dtype)meta->dtype;
        out[i] = !vram_needs(n, i)      ? NULL
                 : i == 0 && follows    ? vram_elt2(m, d, s[4], g[0])
                                        : vram_new(m, meta->shape, meta->rank, d, NULL);
    }
}

/* the output and the fp32 mean and rstd of every row */
static struct vram_handle *layer_norm_kernel(struct vram_machine *m, struct vram_handle *x,
                                             struct vram_tape_node *n)
{
    int64_t rows[VRAM_MAX_RANK];
    memcpy(rows, x->shape, sizeof rows);
    rows[x->rank - 1] = 1;
    struct vram_handle *o = vram_new(m, x->shape, x->rank, (enum vram_dtype)x->dtype, NULL);
    struct vram_handle *stats[2];
    for (int i = 0; i < 2; i++)
        stats[i] = vram_new(m, rows, x->rank, VRAM_DT_F32, NULL);
    bool stopped = vram_end(m, n, &o, 1, stats, n ? 2 : 0);
    vram_drop(m, stats[0]);
    vram_drop(m, stats[1]);
    if (!stopped)
        return o;
    vram_drop(m, o);
    return NULL;
}

static bool layer_norm(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *w = vram_arg_or_null(m, row, a, 1);
    struct vram_handle *b = vram_arg_or_null(m, row, a, 2), *o = NULL;
    if (x->rank == 0)
        vram_throw(m, VRAM_E_CONFLICT, "layer_norm needs rows");
    b = vram_autocast_fp32(m, b);
    w = vram_autocast_fp32(m, w);
    x = vram_autocast_fp32(m, x);
    struct vram_handle *xs[3] = {x, w, b}, *save[3] = {b, x, w};
    struct vram_tape_node *n;
    if (!vram_begin(m, &n, &(struct vram_begin){xs, 3, save, 3, 2, layer_norm_backward}))
        o = layer_norm_kernel(m, x, n);
    vram_drop(m, x);
    vram_drop(m, w);
    vram_drop(m, b);
    return vram_result(o, out);
}

/* ---- mean, sum ---------------------------------------------------------------------------- */

/* one full-size division */
static void mean_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, (enum vram_dtype)g[0]->dtype, NULL);
}

/* a view of the gradient, expanded */
static void sum_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    const struct vram_meta *meta = &n->meta[0];
    int64_t kept[VRAM_MAX_RANK], stride[VRAM_MAX_RANK];
    for (int i = 0; i < meta->rank; i++)
        kept[i] = n->arg[0] < 0 || i == n->arg[0] ? 1 : meta->shape[i];
    vram_contiguous_strides(kept, meta->rank, stride);
    for (int i = 0; i < meta->rank; i++)
        if (n->arg[0] < 0 || i == n->arg[0])
            stride[i] = 0;
    out[0] = vram_alias(m, g[0], meta->shape, stride, meta->rank, true);
}

/* the mean of several dimensions at once */
static bool mean_of(struct vram_machine *m, const struct vram_op_row *row, struct vram_value *a,
                    struct vram_value *out)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t dims[VRAM_MAX_RANK], shape[VRAM_MAX_RANK];
    int ndims = vram_arg_dims(m, row, a, 1, dims), rank = 0;
    bool keep = vram_arg_bool(a, 2, true), gone[VRAM_MAX_RANK] = {false};
    for (int i = 0; i < ndims; i++) {
        dims[i] += dims[i] < 0 ? x->rank : 0;
        if (dims[i] < 0 || dims[i] >= x->rank)
            vram_throw(m, VRAM_E_FORMAT, "mean: no such dimension");
        gone[dims[i]] = true;
    }
    for (int i = 0; i < x->rank; i++)
        if (!gone[i] || keep)
            shape[rank++] = gone[i] ? 1 : x->shape[i];
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, mean_backward);
    struct vram_handle *o = vram_new(m, shape, rank, (enum vram_dtype)x->dtype, NULL);
    return vram_result(vram_end_one(m, n, o, false), out);
}

/* reduced over one dimension (kept with size 1 or dropped), or over all when none is given */
static struct vram_handle *reduced(struct vram_machine *m, const struct vram_handle *x, int d,
                                   bool keep, enum vram_dtype dtype)
{
    int64_t shape[VRAM_MAX_RANK];
    int rank = 0;
    for (int i = 0; d >= 0 && i < x->rank; i++)
        if (i != d || keep)
            shape[rank++] = i == d ? 1 : x->shape[i];
    return vram_new(m, shape, rank, dtype, NULL);
}

static bool reduce(struct vram_machine *m, const struct vram_op_row *row, struct vram_value *a,
                   struct vram_value *out, enum vram_dtype dtype, vram_backward_fn backward)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int d = a[1].kind == VRAM_V_NONE ? -1 : vram_arg_dim(m, row, a, 1, 0, x);
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, backward);
    if (n)
        n->arg[0] = d;
    if (!vram_dtype_is_float(dtype))
        dtype = VRAM_DT_I64;
    struct vram_handle *o = reduced(m, x, d, vram_arg_bool(a, 2, true), dtype);
    return vram_result(vram_end_one(m, n, o, false), out);
}

static bool mean(VRAM_OP)
{
    if (a[1].kind == VRAM_V_BOX)
        return mean_of(m, row, a, out);
    return reduce(m, row, a, out, (enum vram_dtype)vram_arg(m, row, a, 0)->dtype, mean_backward);
}

/* under autocast the kernel is told to sum in fp32: no copy of x */
static bool sum(VRAM_OP)
{
    enum vram_dtype dtype = (enum vram_dtype)vram_arg(m, row, a, 0)->dtype;
    return reduce(m, row, a, out, m->autocast ? VRAM_DT_F32 : dtype, sum_backward);
}

/* ---- norm --------------------------------------------------------------------------------- */

/* x over the norm, where that is not 0, times the gradient */
static void norm_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    struct vram_handle *q = vram_elt2(m, vram_promote(s[0], s[1]), s[0], s[1]);
    struct vram_handle *zero = vram_elt1(m, VRAM_DT_BOOL, s[1]);
    out[0] = vram_elt2(m, vram_promote(g[0], q), g[0], q);
    vram_drop(m, zero);
    vram_drop(m, q);
}

/* The Euclidean norm of one dimension, which stays.  Autocast tells the kernel the wide dtype. */
static bool norm(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int d = vram_arg_dim(m, row, a, 1, -1, x);
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, 1, 1, norm_backward}))
        return true;
    enum vram_dtype dtype = m->autocast ? VRAM_DT_F32 : (enum vram_dtype)x->dtype;
    return vram_result(vram_end_one(m, n, reduced(m, x, d, true, dtype), true), out);
}

/* ---- softmax ------------------------------------------------------------------------------ */

static void softmax_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(g);
    VRAM_UNUSED(s);
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, (enum vram_dtype)n->meta[0].dtype, NULL);
}

struct vram_handle *vram_op_softmax(struct vram_machine *m, struct vram_handle *x)
{
    struct vram_tape_node *n;
    vram_begin(m, &n, &(struct vram_begin){&x, 1, NULL, 0, 1, softmax_backward});
    return vram_end_one(m, n, vram_new(m, x->shape, x->rank, (enum vram_dtype)x->dtype, NULL), true);
}

/* fp16 → fp32 happens inside the kernel (at::softmax with a dtype), and so does the way back */
static struct vram_handle *softmax_of_half(struct vram_machine *m, struct vram_handle *x)
{
    struct vram_tape_node *n;
    vram_begin(m, &n, &(struct vram_begin){&x, 1, NULL, 0, 1, softmax_backward});
    return vram_end_one(m, n, vram_new(m, x->shape, x->rank, VRAM_DT_F32, NULL), true);
}

static bool softmax(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    bool is_float = vram_dtype_is_float((enum vram_dtype)x->dtype);
    enum vram_dtype dtype = a[2].kind != VRAM_V_NONE ? vram_arg_dtype(m, row, a, 2)
                            : m->autocast != VRAM_DT_NONE && is_float ? VRAM_DT_F32
                                                                     : (enum vram_dtype)x->dtype;
    if (x->dtype == VRAM_DT_F16 && dtype == VRAM_DT_F32)
        return vram_result(softmax_of_half(m, x), out);
    x = vram_cast(m, x, dtype);
    struct vram_handle *o = vram_op_softmax(m, x);
    vram_drop(m, x);
    return vram_result(o, out);
}

static const struct vram_op_row norm_rows[] = {
    {"layer_norm", "x w? b?", "fp32", "bias, x, weight, mean and rstd if any of them needs grad",
     "the output, fp32 mean and rstd per row; backward all gradients at once",
     "derivatives.yaml native_layer_norm", layer_norm, ""},
    {"mean", "x dim? keep?", "", "nothing", "the mean, also of a list of dimensions; backward one full-size division",
     "derivatives.yaml mean", mean, ""},
    {"sum", "x dim? keep?", "fp32", "nothing", "the sum; backward a view", "derivatives.yaml sum", sum, ""},
    {"norm", "x dim?", "fp32", "x and the norm",
     "the norm; backward x over it, a bool a row, the product", "derivatives.yaml linalg_vector_norm",
     norm, ""},
    {"softmax", "x dim? dtype?", "fp32", "its result",
     "one output each way; from fp16 to fp32 inside the kernel", "derivatives.yaml _softmax",
     softmax, ""},
    {"log_softmax", "x dim? dtype?", "fp32", "its result",
     "one output each way; from fp16 to fp32 inside the kernel",
     "derivatives.yaml _log_softmax", softmax, ""},
};
const struct vram_op_family vram_ops_norm = {norm_rows, sizeof norm_rows / sizeof *norm_rows};
