/* SPDX-License-Identifier: Apache-2.0
 *
 * torch.autograd.Function of liger-kernel 0.8.5 (its Triton kernels): what their Python makes, keeps and
 * gives back.  The kernels themselves have no memory of their own.  Most write gradients over what came in.
 */
#include <string.h>

#include "ops.h"

/* x laid out row by row: itself, or a copy that is not on the tape; a new reference. */
static struct vram_handle *in_rows(struct vram_machine *m, struct vram_handle *x)
{
    return vram_is_contiguous(x) ? vram_hold(x)
                                 : vram_new(m, x->shape, x->rank, (enum vram_dtype)x->dtype, NULL);
}

static struct vram_handle *seen_as(struct vram_machine *m, struct vram_handle *x, const int64_t *shape, int rank)
{
    int64_t stride[VRAM_MAX_RANK];
    vram_contiguous_strides(shape, rank, stride);
    return vram_alias(m, x, shape, stride, rank, true);
}

/* view(-1, n): a look that keeps x */
static struct vram_handle *as_rows(struct vram_machine *m, struct vram_handle *x)
{
    int64_t width = x->shape[x->rank - 1];
    int64_t shape[2] = {width ? vram_numel(x) / width : 0, width};
    return seen_as(m, x, shape, 2);
}

static struct vram_handle *made(struct vram_machine *m, int64_t rows, int64_t columns, enum vram_dtype dtype)
{
    int64_t shape[2] = {rows, columns};
    return vram_new(m, shape, columns ? 2 : 1, dtype, NULL);
}

/* An output that is a look at what the kernel wrote. */
static struct vram_handle *kernel_output(struct vram_machine *m, const struct vram_handle *x)
{
    struct vram_handle *y = made(m, vram_numel(x) / x->shape[x->rank - 1], x->shape[x->rank - 1],
                                 (enum vram_dtype)x->dtype);
    struct vram_handle *o = seen_as(m, y, x->shape, x->rank);
    vram_drop(m, y);
    return o;
}

/* sum(dim=0).to(dtype) of the partial sums of the multiprocessors */
static struct vram_handle *summed(struct vram_machine *m, struct vram_handle *parts, enum vram_dtype dtype)
{
    struct vram_handle *sum = made(m, parts->shape[1], 0, VRAM_DT_F32);
    if (dtype == VRAM_DT_F32)
        return sum;
    struct vram_handle *o = made(m, parts->shape[1], 0, dtype);
    vram_drop(m, sum);
    return o;
}

static void need_rows(struct vram_machine *m, const struct vram_handle *x, const struct vram_handle *w)
{
    if (x->rank < 1 || w->rank != 1 || x->shape[x->rank - 1] != w->shape[0] || !w->shape[0])
        vram_throw(m, VRAM_E_CONFLICT, "a norm needs rows as wide as its weight");
}

/* ---- RMSNorm ------------------------------------------------------------------------------ */

/* in place: the gradient of x is written over that of the output */
static void rms_norm_backward(VRAM_FORMULA)
{
    struct vram_handle *g0 = in_rows(m, g[0]), *rows = as_rows(m, g0);
    struct vram_handle *parts =
        vram_needs(n, 1) ? made(m, m->sms, rows->shape[1], VRAM_DT_F32) : NULL;
    struct vram_handle *dx = n->arg[0] ? vram_hold(rows) : vram_new_like(m, rows, (enum vram_dtype)rows->dtype);
    out[0] = seen_as(m, dx, g[0]->shape, g[0]->rank);
    if (parts)
        out[1] = summed(m, parts, (enum vram_dtype)s[1]->dtype);
    vram_drop(m, dx);
    vram_drop(m, parts);
    vram_drop(m, rows);
    vram_drop(m, g0);
}

static bool rms_norm(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *w = vram_arg(m, row, a, 1), *o = NULL;
    need_rows(m, x, w);
    struct vram_handle *xs[2] = {x, w}, *kept = in_rows(m, x), *rows = as_rows(m, kept);
    struct vram_tape_node *n;
    vram_begin(m, &n, &(struct vram_begin){xs, 2, NULL, 0, 3, rms_norm_backward});
    o = kernel_output(m, x);
    struct vram_handle *rstd = made(m, rows->shape[0], 0, VRAM_DT_F32);
    if (n)
        n->arg[0] = vram_arg_bool(a, 2, true);
    bool stopped = vram_end(m, n, &o, 1, (struct vram_handle *[]){rows, w, rstd}, n ? 3 : 0);
    vram_drop(m, rstd);
    vram_drop(m, rows);
    vram_drop(m, kept);
    if (stopped)
        vram_let_go(m, &o);
    return vram_result(o, out);
}

/* ---- LayerNorm ---------------------------------------------------------------------------- */

static void layer_norm_backward(VRAM_FORMULA)
{
    struct vram_handle *g0 = in_rows(m, g[0]), *rows = as_rows(m, g0), *parts[3] = {0};
    for (int i = 1; i < 3; i++)
        if (vram_needs(n, i))
            parts[i] = made(m, m->sms, rows->shape[1], VRAM_DT_F32);
    struct vram_handle *dx = made(m, rows->shape[0], rows->shape[1], (enum vram_dtype)s[0]->dtype);
    out[0] = seen_as(m, dx, g[0]->shape, g[0]->rank);
    vram_drop(m, dx);
    for (int i = 1; i < 3; i++)
        if (parts[i])
            out[i] = summed(m, parts[i], (enum vram_dtype)s[i]->dtype);
    for (int i = 1; i < 3; i++)
        vram_drop(m, parts[i]);
    vram_drop(m, rows);
    vram_drop(m, g0);
}

static bool layer_norm(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *w = vram_arg(m, row, a, 1), *b = vram_arg(m, row, a, 2), *o;
    need_rows(m, x, w);
    struct vram_handle *xs[3] = {x, w, b}, *kept = in_rows(m, x), *rows = as_rows(m, kept), *stats[2];
    struct vram_tape_node *n;
    vram_begin(m, &n, &(struct vram_begin){xs, 3, NULL, 0, 5, layer_norm_backward});
    o = kernel_output(m, x);
    for (int i = 0; i < 2; i++)
        stats[i] = made(m, rows->shape[0], 0, VRAM_DT_F32);
    bool stopped =
        vram_end(m, n, &o, 1, (struct vram_handle *[]){rows, w, b, stats[0], stats[1]}, n ? 5 : 0);
    vram_drop(m, stats[1]);
    vram_drop(m, stats[0]);
    vram_drop(m, rows);
    vram_drop(m, kept);
    if (stopped)
        vram_let_go(m, &o);
    return vram_result(o, out);
}

/* ---- SwiGLU and GeGLU: both gradients are written over what was kept ----------------------- */

static void glu_backward(VRAM_FORMULA)
{
    struct vram_handle *g0 = in_rows(m, g[0]);
    for (int i = 0; i < 2; i++)
        out[i] = vram_needs(n, i) ? seen_as(m, s[i], g[0]->shape, g[0]->rank) : NULL;
    vram_drop(m, g0);
}

static bool glu(VRAM_OP)
{
    struct vram_handle *xs[2] = {vram_arg(m, row, a, 0), vram_arg(m, row, a, 1)}, *kept[2], *rows[2];
    if (xs[0]->rank < 1 || vram_numel(xs[0]) != vram_numel(xs[1]))
        vram_throw(m, VRAM_E_CONFLICT, "a gate and what it gates have one shape");
    struct vram_tape_node *n;
    vram_begin(m, &n, &(struct vram_begin){xs, 2, NULL, 0, 2, glu_backward});
    for (int i = 0; i < 2; i++)
        kept[i] = in_rows(m, xs[i]);
    for (int i = 0; i < 2; i++)
        rows[i] = as_rows(m, kept[i]);
    struct vram_handle *o = kernel_output(m, xs[0]);
    bool stopped = vram_end(m, n, &o, 1, rows, n ? 2 : 0);
    for (int i = 0; i < 2; i++) {
        vram_drop(m, rows[i]);
        vram_drop(m, kept[i]);
    }
    if (stopped)
        vram_let_go(m, &o);
    return vram_result(o, out);
}

/* ---- RoPE: turned where they lie, if a position's heads are together ----------------------- */

/* x as the kernel wants it, [batch, positions, heads, d], and seen as it was */
static struct vram_handle *turned(struct vram_machine *m, struct vram_handle *x)
{
    struct vram_handle *swapped = vram_swapped(m, x, 1, 2), *rows = in_rows(m, swapped);
    struct vram_handle *o = vram_swapped(m, rows, 1, 2);
    vram_drop(m, swapped);
    vram_drop(m, rows);
    return o;
}

static void rope_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    for (int i = 0; i < 2; i++)
        out[i] = turned(m, g[i]);
}

static bool rope(VRAM_OP)
{
    struct vram_handle *xs[4], *keep[2], *turned_[2];
    for (int i = 0; i < 4; i++)
        xs[i] = vram_arg(m, row, a, i);
    if (xs[0]->rank != 4 || xs[1]->rank != 4)
        vram_throw(m, VRAM_E_CONFLICT, "heads have four dimensions");
    struct vram_tape_node *n;
    vram_begin(m, &n, &(struct vram_begin){xs, 2, NULL, 0, 2, rope_backward});
    for (int i = 0; i < 2; i++)
        turned_[i] = turned(m, xs[i]);
    for (int i = 0; i < 2; i++)
        keep[i] = in_rows(m, xs[2 + i]);
    bool stopped = vram_end(m, n, turned_, 2, keep, n ? 2 : 0);
    out->kind = VRAM_V_BOX;
    out->u.box = vram_box_new(m, VRAM_BOX_TUPLE, 2);
    for (int i = 0; i < 2; i++) {
        vram_drop(m, keep[i]);
        vram_box_push(m, out->u.box, vram_tensor_value(turned_[i]));
    }
    if (stopped) {
        vram_value_drop(m, *out);
        *out = (struct vram_value){0};
    }
    return stopped;
}

static const struct vram_op_row liger_rows[] = {
    {"liger_rms_norm", "x weight in_place?", "", "x, weight, a number a row",
     "the output, a fp32 number a row; backward a fp32 row of each multiprocessor for the weight, and the "
     "gradient of x unless it is written over that of the output",
     "liger-kernel 0.8.5 ops/rms_norm.py", rms_norm, ""},
    {"liger_layer_norm", "x weight bias", "", "x, weight, bias, two numbers a row",
     "the output, two fp32 numbers a row; backward a fp32 row of each multiprocessor for weight and bias, and "
     "all gradients",
     "liger-kernel 0.8.5 ops/layer_norm.py", layer_norm, ""},
    {"liger_glu", "gate up", "", "gate and up", "the output; backward nothing: gradients are written over gate and up",
     "liger-kernel 0.8.5 ops/swiglu.py, ops/geglu.py", glu, ""},
    {"liger_rope", "q k cos sin", "", "cos and sin", "a copy where a position's heads are not together, each way",
     "liger-kernel 0.8.5 ops/rope.py", rope, ""},
};
const struct vram_op_family vram_ops_liger = {liger_rows, sizeof liger_rows / sizeof *liger_rows};
