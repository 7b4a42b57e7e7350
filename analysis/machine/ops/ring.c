/* SPDX-License-Identifier: Apache-2.0
 *
 * Ring attention over a sequence that is split between ranks (torch 2.9
 * distributed/tensor/experimental/_attention.py: _templated_ring_attention and its backward, flash, load
 * balanced, keys and values gathered at once).  The last rank is followed: all blocks of keys are for all
 * of its queries, so it needs most.
 */
#include <string.h>

#include "base/math.h"
#include "ops.h"

static struct vram_handle *flat(struct vram_machine *m, const struct vram_handle *k, const struct vram_handle *v,
                                int64_t times, enum vram_dtype dtype)
{
    int64_t n, elements = vram_numel(k);
    if (__builtin_add_overflow(elements, vram_numel(v), &elements) || !vram_mul_i64(elements, times, &n))
        vram_throw(m, VRAM_E_RANGE, "too many elements");
    return vram_new(m, &n, 1, dtype, NULL);
}

/* The kernel works on [batch, positions, heads, size]. */
static struct vram_handle *block_out(struct vram_machine *m, struct vram_handle *q)
{
    struct vram_handle *t = vram_swapped(m, q, 1, 2);
    struct vram_handle *y = vram_new(m, t->shape, t->rank, (enum vram_dtype)q->dtype, NULL);
    vram_drop(m, t);
    return vram_replace(m, &y, vram_swapped(m, y, 1, 2));
}

static struct vram_handle *half_of(struct vram_machine *m, struct vram_handle *x)
{
    int64_t shape[VRAM_MAX_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[2] = (shape[2] + 1) / 2;
    struct vram_handle *view = vram_alias(m, x, shape, x->stride, x->rank, false);
    struct vram_handle *y = block_out(m, view);
    vram_drop(m, view);
    return y;
}

/* One kernel call's results. */
struct block {
    struct vram_handle *out, *lse, *seed, *offset;
};

static struct block run_block(struct vram_machine *m, struct vram_handle *q)
{
    int64_t pair[1] = {2};
    struct block b = {.out = block_out(m, q), .lse = vram_new(m, q->shape, 3, VRAM_DT_F32, NULL)};
    b.seed = vram_new(m, pair, 1, VRAM_DT_U64, NULL);
    b.offset = vram_new_scalar(m, VRAM_DT_U64);
    return b;
}

static void drop_block(struct vram_machine *m, struct block *b)
{
    vram_let_go(m, &b->out);
    vram_let_go(m, &b->lse);
    vram_let_go(m, &b->seed);
    vram_let_go(m, &b->offset);
}

/* _SDPAMerger: out - sigmoid(difference) * (out - block), and the same of the sums; in fp32. */
static void merge(struct vram_machine *m, struct vram_handle **out, struct vram_handle **lse,
                  struct vram_handle *block, struct vram_handle *block_lse)
{
    if (!*out) {
        *out = block;
        *lse = vram_hold(block_lse);
        return;
    }
    struct vram_handle *a = vram_new_like(m, *lse, VRAM_DT_F32);
    vram_replace(m, &a, vram_new_like(m, a, VRAM_DT_F32));
    struct vram_handle *difference = vram_new_like(m, block, VRAM_DT_F32);
    struct vram_handle *product = vram_new_like(m, block, VRAM_DT_F32);
    vram_drop(m, a);
    vram_drop(m, difference);
    struct vram_handle *sum = vram_new_like(m, block, VRAM_DT_F32);
    vram_drop(m, product);
    struct vram_handle *b = vram_new_like(m, *lse, VRAM_DT_F32);
    vram_replace(m, &b, vram_new_like(m, b, VRAM_DT_F32));
    vram_replace(m, lse, vram_new_like(m, b, VRAM_DT_F32));
    vram_drop(m, b);
    vram_replace(m, out, sum);
    vram_drop(m, block);
}

/* ---- backward ------------------------------------------------------------------------------- */

struct gradients {
    struct vram_handle *q, *k, *v;
};

static struct gradients block_gradients(struct vram_machine *m, struct vram_handle *q, struct vram_handle *k,
                                        struct vram_handle *v, bool half)
{
    struct gradients g = {block_out(m, q), NULL, NULL};
    g.k = half ? half_of(m, k) : block_out(m, k);
    g.v = half ? half_of(m, v) : block_out(m, v);
    return g;
}

static void drop_gradients(struct vram_machine *m, struct gradients *g)
{
    vram_let_go(m, &g->q);
    vram_let_go(m, &g->k);
    vram_let_go(m, &g->v);
}

static struct vram_handle *view_of(struct vram_machine *m, struct vram_handle *both, const struct vram_handle *x)
{
    int64_t stride[VRAM_MAX_RANK];
    vram_contiguous_strides(x->shape, x->rank, stride);
    return vram_alias(m, both, x->shape, stride, x->rank, true);
}

enum { KEPT_KEY, KEPT_QUERY, KEPT_VALUE };

static void ring_backward(VRAM_FORMULA)
{
    struct vram_handle *q = s[KEPT_QUERY], *k = s[KEPT_KEY], *v = s[KEPT_VALUE];
    enum vram_dtype d = (enum vram_dtype)q->dtype;
    int64_t ranks = n->arg[0];
    (void)g;
    struct gradients sums = {vram_new_like(m, q, VRAM_DT_F32), vram_new_like(m, k, VRAM_DT_F32),
                             vram_new_like(m, v, VRAM_DT_F32)};
    struct gradients one = {NULL, NULL, NULL};
    struct vram_handle *key = vram_op_contiguous(m, k), *value = vram_op_contiguous(m, v);
    struct vram_handle *gathered = NULL, *sent = NULL, *going = NULL, *come = NULL;
    for (int64_t i = 0; i < ranks; i++) {
        if (i < ranks - 1)
            vram_replace(m, &sent, flat(m, k, v, 1, d));
        if (!gathered)
            gathered = flat(m, k, v, ranks, d);
        if (i > 0) { /* the next ones are looks into what was gathered */
            vram_let_go(m, &key);
            vram_let_go(m, &value);
        }
        struct gradients now = block_gradients(m, q, k, v, i > 0);
        drop_gradients(m, &one);
        one = now;
        if (i > 0) { /* the other ranks' sums of this block; this one's is added */
            vram_replace(m, &going, vram_hold(come));
            vram_let_go(m, &sums.k);
            vram_let_go(m, &sums.v);
            sums.k = vram_new(m, k->shape, k->rank, VRAM_DT_F32, NULL);
            sums.v = vram_new(m, v->shape, v->rank, VRAM_DT_F32, NULL);
        }
        struct vram_handle *a = vram_op_contiguous(m, sums.k), *b = vram_op_contiguous(m, sums.v);
        vram_replace(m, &going, flat(m, k, v, 1, VRAM_DT_F32));
        vram_drop(m, a);
        vram_drop(m, b);
        vram_replace(m, &come, flat(m, k, v, 1, VRAM_DT_F32));
    }
    out[0] = vram_new_like(m, q, d);
    vram_let_go(m, &sums.q);
    struct vram_handle *both = flat(m, k, v, 1, d);
    out[1] = view_of(m, both, k);
    out[2] = view_of(m, both, v);
    struct vram_handle *rest[] = {both, going, come, sent, gathered, key, value};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        vram_drop(m, rest[i]);
    drop_gradients(m, &sums);
    drop_gradients(m, &one);
}

/* ---- forward -------------------------------------------------------------------------------- */

/* ring_attention(q, k, v, ranks): causal attention of this rank's positions to those of all */
static bool ring_attention(VRAM_OP)
{
    struct vram_handle *q = vram_arg(m, row, a, 0), *k = vram_arg(m, row, a, 1), *v = vram_arg(m, row, a, 2);
    struct vram_handle *xs[3] = {q, k, v}, *save[3] = {k, q, v}, *out32 = NULL, *lse = NULL;
    int64_t ranks = vram_arg_int(m, row, a, 3, 1);
    struct block last = {NULL, NULL, NULL, NULL};
    struct vram_tape_node *n;
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || ranks < 2 || q->dtype == VRAM_DT_F32)
        vram_throw(m, VRAM_E_CONFLICT, "ring attention is in 16 bit, of two ranks or more");
    if (vram_begin(m, &n, &(struct vram_begin){xs, 3, save, 3, 4, ring_backward}))
        return true;
    if (n)
        n->arg[0] = ranks;
    struct vram_handle *key = vram_op_contiguous(m, k), *value = vram_op_contiguous(m, v), *gathered = NULL;
    for (int64_t i = 0; i < ranks; i++) {
        struct vram_handle *sent = i < ranks - 1 ? flat(m, k, v, 1, (enum vram_dtype)k->dtype) : NULL;
        if (!gathered)
            gathered = flat(m, k, v, ranks, (enum vram_dtype)k->dtype);
        vram_drop(m, sent);
        if (i > 0) {
            vram_let_go(m, &key);
            vram_let_go(m, &value);
        }
        struct block now = run_block(m, q);
        drop_block(m, &last);
        last = now;
        merge(m, &out32, &lse, vram_new_like(m, last.out, VRAM_DT_F32), last.lse);
    }
    struct vram_handle *o = vram_new_like(m, out32, (enum vram_dtype)q->dtype);
    struct vram_handle *keep[4] = {lse, o, last.seed, last.offset};
    bool stopped = vram_end(m, n, &o, 1, keep, n ? 4 : 0);
    drop_block(m, &last);
    vram_drop(m, out32);
    vram_drop(m, lse);
    vram_drop(m, gathered);
    vram_drop(m, key);
    vram_drop(m, value);
    if (!stopped)
        return vram_result(o, out);
    vram_drop(m, o);
    return true;
}

static const struct vram_op_row ring_rows[] = {
    {"ring_attention", "q k v ranks", "lower", "q, k, v, the output, log-sum-exp and two seeds",
     "keys and values of all ranks, a block's output, fp32 sums; backward fp32 sums that go around",
     "torch 2.9 distributed/tensor/experimental/_attention.py", ring_attention, ""},
};
const struct vram_op_family vram_ops_ring = {ring_rows, sizeof ring_rows / sizeof *ring_rows};
