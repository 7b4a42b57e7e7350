/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures at another resolution, their windows as columns, and what is padded.
 */
#include <string.h>

#include "base/math.h"
#include "ops.h"

/* Strides as suggest_memory_format has them: channels last where x lies so ([n, c, w] as one row). */
bool vram_channels_last(const struct vram_handle *x)
{
    if (x->rank < 3 || x->rank > 4)
        return false;
    int w = x->rank - 1;
    int64_t size[4] = {x->shape[0], x->shape[1], w == 3 ? x->shape[2] : 1, x->shape[w]};
    int64_t step[4] = {x->stride[0], x->stride[1],
                       w == 3 ? x->stride[2] : x->stride[w] * x->shape[w], x->stride[w]};
    const int order[4] = {1, 3, 2, 0};
    int64_t least = 0;
    for (int i = 0; i < 4; i++) {
        int d = order[i];
        if (step[1] == 0 || size[d] == 0 || step[d] < least || (d == 0 && least == step[1]))
            return false;
        least = step[d] * (size[d] > 1 ? size[d] : 1);
    }
    return true;
}

struct vram_handle *vram_in_format_of(struct vram_machine *m, const struct vram_handle *x, const int64_t *shape,
                                      enum vram_dtype dtype, bool last)
{
    int64_t stride[4];
    int w = x->rank - 1;
    stride[1] = 1;
    stride[w] = shape[1];
    if (w == 3)
        stride[2] = shape[1] * shape[3];
    stride[0] = stride[2] * shape[2];
    return vram_new(m, shape, x->rank, dtype, last ? stride : NULL);
}

/* A new tensor of this shape and x's dtype in x's format. */
static struct vram_handle *in_format_of(struct vram_machine *m, const struct vram_handle *x,
                                        const int64_t *shape, bool last)
{
    return vram_in_format_of(m, x, shape, (enum vram_dtype)x->dtype, last);
}

/* ---- resize: bilinear, bicubic ------------------------------------------------------------- */

static void whole_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = in_format_of(m, g[0], n->meta[0].shape, vram_channels_last(g[0]));
}

/* resize(x, rows, columns) */
static bool resize(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t rows = vram_arg_int(m, row, a, 1, 0), columns = vram_arg_int(m, row, a, 2, 0);
    if (x->rank != 4 || rows < 1 || columns < 1)
        vram_throw(m, VRAM_E_CONFLICT, "resize takes [n, c, h, w] and at least one row and column");
    int64_t shape[4] = {x->shape[0], x->shape[1], rows, columns};
    struct vram_tape_node *n;
    x = vram_autocast_fp32(m, x);
    vram_begin_plain(m, &n, &x, 1, whole_backward);
    bool last = vram_channels_last(x) && x->shape[1] >= 16; /* few channels are not kept last */
    struct vram_handle *o = vram_end_one(m, n, in_format_of(m, x, shape, last), false);
    vram_drop(m, x);
    return vram_result(o, out);
}

/* ---- avg_pool ------------------------------------------------------------------------------ */

static void pool_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(g);
    out[0] = in_format_of(m, s[0], n->meta[0].shape, vram_channels_last(s[0]));
}

/* avg_pool(x, window): over all dimensions but the first two, steps as long as the window */
static bool avg_pool(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t shape[VRAM_MAX_RANK], window = vram_arg_int(m, row, a, 1, 1);
    if (x->rank < 3 || x->rank > 4 || window < 1)
        vram_throw(m, VRAM_E_CONFLICT, "avg_pool takes [n, c, w] or [n, c, h, w] and a window");
    memcpy(shape, x->shape, sizeof shape);
    for (int i = 2; i < x->rank; i++)
        if ((shape[i] = x->shape[i] / window) < 1)
            vram_throw(m, VRAM_E_CONFLICT, "the window is larger than the input");
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, 1, 0, pool_backward}))
        return true;
    return vram_result(vram_end_one(m, n, in_format_of(m, x, shape, vram_channels_last(x)), false), out);
}

/* ---- columns: what torch.nn.functional.unfold makes ---------------------------------------- */

/* The kernels look at contiguous tensors: another is copied for the time of the call. */
static struct vram_handle *straight(struct vram_machine *m, struct vram_handle *x)
{
    bool copies = m->card && !vram_is_contiguous(x);
    return copies ? vram_new(m, x->shape, x->rank, (enum vram_dtype)x->dtype, NULL) : NULL;
}

static void columns_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, (enum vram_dtype)g[0]->dtype, NULL);
    vram_drop(m, straight(m, g[0]));
}

/* columns(x, window): [n, c, h, w] → [n, c · window², windows], steps as long as the window */
static bool columns(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t window = vram_arg_int(m, row, a, 1, 1), shape[3] = {0}, windows = 0;
    if (x->rank != 4 || window < 1 || window > x->shape[2] || window > x->shape[3])
        vram_throw(m, VRAM_E_CONFLICT, "columns takes [n, c, h, w] and a window that fits");
    if (!vram_mul_i64(x->shape[2] / window, x->shape[3] / window, &windows) ||
        !vram_mul_i64(x->shape[1], window * window, &shape[1]))
        vram_throw(m, VRAM_E_RANGE, "columns of too many elements");
    shape[0] = x->shape[0];
    shape[2] = windows;
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, columns_backward);
    struct vram_handle *o = vram_new(m, shape, 3, (enum vram_dtype)x->dtype, NULL);
    vram_drop(m, straight(m, x));
    return vram_result(vram_end_one(m, n, o, false), out);
}

/* ---- pad ---------------------------------------------------------------------------------- */

/* constant_pad_nd of a negative length: cut, and copied */
static void pad_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    const struct vram_meta *meta = &n->meta[0];
    struct vram_handle *cut = vram_alias(m, g[0], meta->shape, g[0]->stride, meta->rank, true);
    out[0] = vram_new_like(m, cut, (enum vram_dtype)cut->dtype);
    vram_drop(m, cut);
}

/* pad(x, dim, n, dim2, n2): n zeros more at the end of a dimension, or of two; a copy even for none */
static bool pad(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t shape[VRAM_MAX_RANK];
    memcpy(shape, x->shape, sizeof shape);
    for (int i = 1; i == 1 || (i == 3 && a[3].kind != VRAM_V_NONE); i += 2) {
        int d = vram_arg_dim(m, row, a, i, 0, x);
        int64_t more = vram_arg_int(m, row, a, i + 1, 0);
        if (more < 0 || !vram_add_i64(shape[d], more, &shape[d]))
            vram_throw(m, VRAM_E_RANGE, "%lld entries more", (long long)more);
    }
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, pad_backward);
    return vram_result(
        vram_end_one(m, n, vram_new(m, shape, x->rank, (enum vram_dtype)x->dtype, NULL), false), out);
}

static const struct vram_op_row resample_rows[] = {
    {"resize", "x rows columns", "fp32", "nothing", "the picture at its new size; backward the old size",
     "derivatives.yaml upsample_bilinear2d, upsample_bicubic2d", resize, ""},
    {"avg_pool", "x window", "", "x", "the averages; backward one x-sized gradient",
     "derivatives.yaml avg_pool2d", avg_pool, ""},
    {"columns", "x window", "", "nothing", "the windows as columns; backward the picture",
     "derivatives.yaml im2col, Im2Col.cu", columns, ""},
    {"pad", "x dim n dim2? n2?", "", "nothing", "a copy with n entries more; backward a copy of the rest",
     "derivatives.yaml constant_pad_nd", pad, ""},
};
const struct vram_op_family vram_ops_resample = {resample_rows,
                                                 sizeof resample_rows / sizeof *resample_rows};
