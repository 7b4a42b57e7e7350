/* SPDX-License-Identifier: Apache-2.0
 *
 * scaled_dot_product_attention: which kernel runs (aten/native/transformers/cuda/sdp_utils.cpp), what
 * each keeps, and what it makes inside.  q, k, v are [batch, heads, positions, head size].
 */
#include <string.h>

#include "base/math.h"
#include "ops.h"

/* the op's other arguments */
struct how {
    bool causal, gqa;
    double dropped; /* of the weights */
};

/* ---- flash -------------------------------------------------------------------------------- */

static struct vram_handle *like_behind_transpose(struct vram_machine *m, struct vram_handle *x)
{
    /* the kernel works on [batch, positions, heads, size] and makes empty_like of that view */
    struct vram_handle *t = vram_swapped(m, x, 1, 2);
    int64_t stride[VRAM_MAX_RANK];
    bool keep = vram_is_dense(t->shape, t->stride, t->rank);
    if (keep)
        memcpy(stride, t->stride, sizeof stride);
    struct vram_handle *y = vram_new(m, t->shape, t->rank, (enum vram_dtype)x->dtype,
                                     keep ? stride : NULL);
    vram_drop(m, t);
    return vram_replace(m, &y, vram_swapped(m, y, 1, 2));
}

/* dq is accumulated in fp32 for rows rounded to 128 and head sizes to 32 (64 above 128), with one
 * fp32 per row; grouped heads expand dk and dv first (flash_api.cpp mha_bwd). */
static uint64_t flash_workspace(struct vram_handle *q, struct vram_handle *k, int which)
{
    uint64_t b = (uint64_t)q->shape[0], h = (uint64_t)q->shape[1], d = (uint64_t)q->shape[3];
    uint64_t rows = vram_round_up((uint64_t)q->shape[2], 128);
    uint64_t size = vram_round_up(d, d <= 128 ? 32 : 64);
    if (which == 0)
        return 4 * b * h * rows;
    if (which == 1)
        return 4 * b * rows * h * size;
    return k->shape[1] == q->shape[1] ? 0 : 2 * b * (uint64_t)k->shape[2] * h * d;
}

/* kept in alphabetical order: (attn_bias,) key, query, value, logsumexp, output, then the seeds */
enum { KEPT_KEY, KEPT_QUERY, KEPT_VALUE };

static void flash_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    VRAM_UNUSED(g);
    struct vram_storage *space[4];
    out[0] = like_behind_transpose(m, s[KEPT_QUERY]);
    out[1] = like_behind_transpose(m, s[KEPT_KEY]);
    out[2] = like_behind_transpose(m, s[KEPT_VALUE]);
    for (int i = 0; i < 4; i++) {
        uint64_t bytes = flash_workspace(s[KEPT_QUERY], s[KEPT_KEY], i);
        space[i] = vram_workspace_begin(m, bytes, bytes, bytes);
    }
    for (int i = 0; i < 4; i++)
        vram_workspace_end(m, space[i]);
}

/* flash: one pair of seeds and an unused scalar; efficient: seed and offset, kept the other way round */
static struct vram_handle *finish(struct vram_machine *m, struct vram_tape_node *n,
                                  struct vram_handle *o, struct vram_handle *lse, bool flash)
{
    int64_t pair[1] = {2};
    struct vram_handle *first = vram_new(m, pair, flash, VRAM_DT_U64, NULL);
    struct vram_handle *second = vram_new_scalar(m, VRAM_DT_U64);
    struct vram_handle *save[4] = {lse, o, flash ? first : second, flash ? second : first};
    bool stopped = vram_end(m, n, &o, 1, save, n ? 4 : 0);
    vram_drop(m, lse);
    vram_drop(m, first);
    vram_drop(m, second);
    if (!stopped)
        return o;
    vram_drop(m, o);
    return NULL;
}

static struct vram_handle *flash_kernel(struct vram_machine *m, struct vram_handle *q,
                                        struct vram_handle *k, struct vram_handle *v)
{
    struct vram_handle *xs[3] = {q, k, v}, *save[3] = {k, q, v};
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, 3, save, 3, 4, flash_backward}))
        return NULL;
    struct vram_handle *o = like_behind_transpose(m, q);
    struct vram_handle *lse = vram_new(m, q->shape, 3, VRAM_DT_F32, NULL);
    return finish(m, n, o, lse, true);
}

/* constant_pad_nd of the last dimension; its backward cuts and copies */
static void pad_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    const struct vram_meta *meta = &n->meta[0];
    struct vram_handle *cut = vram_alias(m, g[0], meta->shape, g[0]->stride, meta->rank, true);
    out[0] = vram_new_like(m, cut, (enum vram_dtype)cut->dtype);
    vram_drop(m, cut);
}

static struct vram_handle *padded(struct vram_machine *m, struct vram_handle *x, int64_t size)
{
    int64_t shape[VRAM_MAX_RANK];
    struct vram_tape_node *n;
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = size;
    vram_begin_plain(m, &n, &x, 1, pad_backward);
    return vram_end_one(m, n, vram_new(m, shape, x->rank, (enum vram_dtype)x->dtype, NULL), false);
}

/* Head sizes that are no multiple of 8 are padded, and the output is cut. */
static struct vram_handle *flash(struct vram_machine *m, struct vram_handle *q,
                                 struct vram_handle *k, struct vram_handle *v)
{
    int64_t size = q->shape[3], whole = (int64_t)vram_round_up((uint64_t)size, 8);
    if (size == whole)
        return flash_kernel(m, q, k, v);
    struct vram_handle *x = padded(m, q, whole), *y = padded(m, k, whole), *z = padded(m, v, whole);
    struct vram_handle *o = flash_kernel(m, x, y, z);
    vram_drop(m, x);
    vram_drop(m, y);
    vram_drop(m, z);
    return o ? vram_replace(m, &o, vram_op_slice(m, o, 3, 0, size)) : NULL;
}

/* ---- memory-efficient --------------------------------------------------------------------- */

/* The bias's gradient exists only when the bias asks for it (a mask never does); its rows are
 * filled up to 16, for fake tensors all but the last.  Cut below autograd, it holds no base. */
static struct vram_handle *bias_gradient(struct vram_machine *m, const struct vram_meta *meta)
{
    int64_t shape[VRAM_MAX_RANK];
    memcpy(shape, meta->shape, sizeof shape);
    shape[meta->rank - 1] = (int64_t)vram_round_up((uint64_t)shape[meta->rank - 1], 16);
    struct vram_handle *wide = vram_new(m, shape, meta->rank, (enum vram_dtype)meta->dtype, NULL);
    struct vram_handle *cut = vram_alias(m, wide, meta->shape, wide->stride, meta->rank, false);
    vram_drop(m, wide);
    return cut;
}

/* [batch, positions, heads, size] in memory, seen as [batch, heads, positions, size] */
static struct vram_handle *positions_first(struct vram_machine *m, const struct vram_handle *x,
                                           int64_t heads, int64_t size)
{
    int64_t shape[4] = {x->shape[0], x->shape[2], heads, size};
    struct vram_handle *y = vram_new(m, shape, 4, (enum vram_dtype)x->dtype, NULL);
    return vram_replace(m, &y, vram_swapped(m, y, 1, 2));
}

/* of one key head that all share, gradients are as large as of many, and are summed behind it */
static void efficient_backward(VRAM_FORMULA)
{
    struct vram_handle **kept = s + n->nedges - 3; /* behind the bias */
    const struct vram_handle *q = kept[KEPT_QUERY], *k = kept[KEPT_KEY], *v = kept[KEPT_VALUE];
    VRAM_UNUSED(g);
    out[0] = positions_first(m, q, q->shape[1], q->shape[3]);
    out[1] = positions_first(m, k, q->shape[1], k->shape[3]);
    out[2] = positions_first(m, v, q->shape[1], v->shape[3]);
    if (n->nedges > 3)
        out[3] = vram_needs(n, 3) ? bias_gradient(m, &n->meta[3]) : NULL;
}

static struct vram_handle *efficient(struct vram_machine *m, struct vram_handle *q,
                                     struct vram_handle *k, struct vram_handle *v,
                                     struct vram_handle *mask)
{
    struct vram_handle *xs[4] = {q, k, v, mask}, *save[4] = {mask, k, q, v};
    int nxs = mask ? 4 : 3;
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, nxs, save + 4 - nxs, nxs, 4, efficient_backward}))
        return NULL;
    bool any = q->requires_grad || k->requires_grad || v->requires_grad;
    struct vram_handle *o = positions_first(m, q, q->shape[1], v->shape[3]);
    int64_t rows[3] = {q->shape[0], q->shape[1],
                       any ? (int64_t)vram_round_up((uint64_t)q->shape[2], 32) : 0};
    struct vram_handle *lse = vram_new(m, rows, 3, VRAM_DT_F32, NULL);
    return finish(m, n, o, lse, false);
}

/* ---- math --------------------------------------------------------------------------------- */

/* The causal bias: a bool triangle, two scalars, and the float matrix made of them. */
static struct vram_handle *causal_bias(struct vram_machine *m, int64_t s, enum vram_dtype dtype)
{
    int64_t shape[2] = {s, s};
    struct vram_handle *ones = vram_new(m, shape, 2, VRAM_DT_BOOL, NULL);
    struct vram_handle *tri = vram_new(m, shape, 2, VRAM_DT_BOOL, NULL);
    vram_drop(m, ones);
    struct vram_handle *x = vram_new_scalar(m, dtype), *y = vram_new_scalar(m, dtype);
    struct vram_handle *bias = vram_new(m, shape, 2, dtype, NULL);
    vram_drop(m, x);
    vram_drop(m, y);
    vram_drop(m, tri);
    return bias;
}

/* grouped heads: repeat_interleave always copies */
static struct vram_handle *repeated(struct vram_machine *m, struct vram_handle *x, int64_t times)
{
    if (times == 1)
        return vram_hold(x);
    int64_t wide[5] = {x->shape[0], x->shape[1], times, x->shape[2], x->shape[3]};
    int64_t shape[4] = {x->shape[0], x->shape[1] * times, x->shape[2], x->shape[3]};
    struct vram_handle *e = vram_op_unsqueeze(m, x, 2);
    vram_replace(m, &e, vram_op_expand(m, e, wide, 5));
    vram_replace(m, &e, vram_op_clone(m, e));
    return vram_replace(m, &e, vram_op_view(m, e, shape, 4));
}

static struct vram_handle *scores(struct vram_machine *m, struct vram_handle *q,
                                  struct vram_handle *k, struct vram_handle *bias)
{
    struct vram_handle *kt = vram_op_transpose(m, k, 2, 3);
    struct vram_handle *ks = vram_op_mul_number(m, kt);
    vram_drop(m, kt);
    struct vram_handle *a = vram_op_matmul(m, q, ks);
    vram_drop(m, ks);
    if (a && bias && m->card) { /* in place on a card */
        struct vram_value args[VRAM_MAX_ARGS] = {vram_tensor_value(a), vram_tensor_value(bias)}, o = {0};
        uint32_t op = vram_op_find("add_");
        vram_op_row_at(op)->run(m, vram_op_row_at(op), args, &o);
        vram_replace(m, &a, o.u.tensor);
    } else if (a && bias) {
        vram_replace(m, &a, vram_op_add(m, a, bias));
    }
    return a;
}

/* On a card rows of nothing but −inf are looked for inside the op: a bool for every score. */
static struct vram_handle *safe_softmax(struct vram_machine *m, struct vram_handle *x)
{
    struct vram_handle *p = vram_op_softmax(m, x);
    if (!p || !m->card)
        return p;
    int64_t rows[VRAM_MAX_RANK];
    memcpy(rows, x->shape, sizeof rows);
    rows[x->rank - 1] = 1;
    struct vram_handle *infinite = vram_new(m, x->shape, x->rank, VRAM_DT_BOOL, NULL);
    struct vram_handle *all = vram_new(m, rows, x->rank, VRAM_DT_BOOL, NULL);
    vram_drop(m, vram_new_scalar(m, (enum vram_dtype)x->dtype));
    vram_drop(m, all);
    vram_drop(m, infinite);
    return p;
}

static struct vram_handle *math_fp32(struct vram_machine *m, struct vram_handle *q,
                                     struct vram_handle *k, struct vram_handle *v,
                                     struct vram_handle *mask, const struct how *how,
                                     enum vram_dtype dtype)
{
    struct vram_handle *qs = vram_op_mul_number(m, q), *o = NULL, *low = NULL;
    struct vram_handle *bias = mask ? vram_hold(mask)
                               : how->causal
                                   ? causal_bias(m, q->shape[2], (enum vram_dtype)q->dtype)
                                   : NULL;
    int64_t times = how->gqa ? q->shape[1] / k->shape[1] : 1;
    struct vram_handle *ke = repeated(m, k, times), *ve = repeated(m, v, times);
    struct vram_handle *a = scores(m, qs, ke, bias);
    if (a) {
        struct vram_handle *p = safe_softmax(m, a);
        vram_replace(m, &a, p);
        if (p)
            p = vram_replace(m, &a, vram_op_dropout(m, p, how->dropped));
        /* the weights are returned too, and made before the product */
        low = p ? vram_cast(m, p, dtype) : NULL;
        o = p ? vram_op_matmul(m, p, ve) : NULL;
        if (o)
            vram_replace(m, &o, vram_cast(m, o, dtype));
    }
    vram_drop(m, low);
    vram_drop(m, a);
    vram_drop(m, ke);
    vram_drop(m, ve);
    vram_drop(m, bias);
    vram_drop(m, qs);
    return o;
}

/* 16-bit inputs are raised to fp32 first and the result is lowered again; all lives to the return */
static struct vram_handle *math(struct vram_machine *m, struct vram_handle *q,
                                struct vram_handle *k, struct vram_handle *v,
                                struct vram_handle *mask, const struct how *how)
{
    enum vram_dtype dtype = (enum vram_dtype)q->dtype;
    struct vram_handle *x = vram_cast(m, q, VRAM_DT_F32), *y = vram_cast(m, k, VRAM_DT_F32);
    struct vram_handle *z = vram_cast(m, v, VRAM_DT_F32);
    struct vram_handle *o = math_fp32(m, x, y, z, mask, how, dtype);
    vram_drop(m, x);
    vram_drop(m, y);
    vram_drop(m, z);
    return o;
}

/* ---- the choice --------------------------------------------------------------------------- */

/* gqa: heads are grouped.  Else one key head is broadcast: torch sends that to math, the oracle to
 * the efficient kernel (sdp_utils_cpp.h check_batch_size_and_num_heads_dense). */
static enum vram_kernel choose(const struct vram_machine *m, const struct vram_handle *q,
                               const struct vram_handle *k, const struct vram_handle *v, bool mask,
                               bool gqa)
{
    bool half = q->dtype == VRAM_DT_BF16 || q->dtype == VRAM_DT_F16;
    bool grouped = q->shape[1] != k->shape[1];
    int64_t d = q->shape[3], align = half ? 8 : 4;
    int sm = m->sm ? m->sm : 80;
    if (m->attention == VRAM_ATTENTION_MATH || (grouped && !gqa && m->card))
        return VRAM_KERNEL_MATH;
    if (m->attention != VRAM_ATTENTION_EFFICIENT && half && !mask && d <= 256 && d == v->shape[3] &&
        sm >= 80)
        return VRAM_KERNEL_FLASH;
    bool aligned = d % align == 0 && v->shape[3] % align == 0;
    bool dtype = q->dtype == VRAM_DT_F32 || q->dtype == VRAM_DT_F16 ||
                 (q->dtype == VRAM_DT_BF16 && sm >= 80);
    return !(grouped && gqa) && aligned && dtype ? VRAM_KERNEL_EFFICIENT
                                                              : VRAM_KERNEL_MATH;
}

/* A bool mask becomes zeros in q's dtype (−inf where false): chosen between two scalars; the oracle
 * fills them by way of the mask's negation. */
static struct vram_handle *chosen(struct vram_machine *m, struct vram_handle *mask,
                                  enum vram_dtype dtype)
{
    struct vram_handle *x = m->card ? vram_new_scalar(m, dtype) : NULL;
    struct vram_handle *y = m->card ? vram_new_scalar(m, dtype) : NULL;
    struct vram_handle *z = vram_new_like(m, mask, dtype);
    if (!m->card)
        y = vram_new_like(m, mask, VRAM_DT_BOOL);
    vram_drop(m, y);
    vram_drop(m, x);
    return z;
}

/* As the kernels take it; rows that are no multiple of 16 bytes are copied into longer ones. */
static struct vram_handle *float_mask(struct vram_machine *m, struct vram_handle *mask,
                                      enum vram_dtype dtype, bool align)
{
    struct vram_handle *z = mask->dtype == VRAM_DT_BOOL ? chosen(m, mask, dtype) : vram_hold(mask);
    int64_t per = 16 / (vram_dtypes[dtype].bits / 8), cols = z->shape[z->rank - 1];
    if (align && cols % per) {
        vram_replace(m, &z, padded(m, z, cols + per - cols % per));
        vram_replace(m, &z, vram_op_slice(m, z, z->rank - 1, 0, cols));
    }
    return z;
}

static struct vram_handle *attend(struct vram_machine *m, struct vram_handle *q,
                                  struct vram_handle *k, struct vram_handle *v,
                                  struct vram_handle *mask, const struct how *how)
{
    enum vram_kernel kernel = choose(m, q, k, v, mask != NULL, how->gqa);
    m->kernels |= 1u << kernel;
    if (kernel == VRAM_KERNEL_FLASH)
        return flash(m, q, k, v);
    struct vram_handle *bias =
        mask ? float_mask(m, mask, (enum vram_dtype)q->dtype, kernel == VRAM_KERNEL_EFFICIENT) : NULL;
    int64_t scores[4] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
    if (bias && kernel == VRAM_KERNEL_EFFICIENT)
        vram_replace(m, &bias, vram_op_expand(m, bias, scores, 4));
    struct vram_handle *o = kernel == VRAM_KERNEL_EFFICIENT ? efficient(m, q, k, v, bias)
                                                            : math(m, q, k, v, bias, how);
    vram_drop(m, bias);
    return o;
}

static bool sdpa(VRAM_OP)
{
    struct vram_handle *q = vram_arg(m, row, a, 0), *k = vram_arg(m, row, a, 1);
    struct vram_handle *v = vram_arg(m, row, a, 2), *mask = vram_arg_or_null(m, row, a, 3);
    struct how how = {vram_arg_bool(a, 4, false), vram_arg_bool(a, 6, true),
                      vram_arg_real(m, row, a, 5, 0)};
    if (m->shared_sequence)
        vram_throw(m, VRAM_E_UNSUPPORTED, "this attention is not described for a sequence that ranks share");
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || k->shape[1] == 0 ||
        q->shape[1] % k->shape[1] || (!how.gqa && k->shape[1] != 1 && k->shape[1] != q->shape[1]))
        vram_throw(m, VRAM_E_CONFLICT, "attention needs [batch, heads, positions, size] and heads "
                                       "that are a multiple of the key heads");
    if (mask && mask->rank == 0)
        vram_throw(m, VRAM_E_CONFLICT, "a mask without dimensions");
    struct vram_handle **xs[4] = {&q, &k, &v, &mask};
    for (int i = 0; i < 4; i++) { /* arguments are cast from the last to the first */
        struct vram_handle **x = xs[m->card ? 3 - i : i];
        *x = vram_autocast_lower(m, *x);
    }
    struct vram_handle *o = attend(m, q, k, v, mask, &how);
    for (int i = 0; i < 4; i++)
        vram_drop(m, *xs[i]);
    return vram_result(o, out);
}

static const struct vram_op_row attention_rows[] = {
    {"sdpa", "q k v mask? causal? p? gqa?", "lower",
     "flash and efficient: q, k, v, the float mask, the output, log-sum-exp (fp32 a row and head) "
     "and two seeds, if any of q, k, v needs grad",
     "flash without a mask in 16 bit; else efficient unless heads are grouped; else math, and so "
     "one key head without gqa. "
     "A bool mask becomes a float one a call; dropout is a tensor in math alone; "
     "backward of flash: fp32 dq and row sums as workspace",
     "ATen sdp_utils.cpp, flash_api.cpp, attention_backward.cu", sdpa, ""},
};
const struct vram_op_family vram_ops_attention = {attention_rows,
                                                  sizeof attention_rows / sizeof *attention_rows};
