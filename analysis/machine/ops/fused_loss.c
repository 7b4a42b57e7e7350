/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses that take the head's product into themselves, so that logits are never there as a whole.
 */
#include "base/math.h"
#include "ops.h"

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static int64_t power_of_two_from(int64_t n)
{
    int64_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

static void check(struct vram_machine *m, const struct vram_handle *x, const struct vram_handle *w)
{
    if (x->rank != 2 || w->rank != 2 || x->shape[1] != w->shape[1])
        vram_throw(m, VRAM_E_CONFLICT, "a fused loss needs rows and the head's matrix");
}

/* ---- Liger: gradients are made in forward, chunk by chunk ---------------------------------- */

/* They are what is kept, scaled in place; first the gradient of the loss is compared with 1. */
static void liger_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(g);
    vram_drop(m, vram_new_scalar(m, VRAM_DT_F32));
    for (int i = 0; i < n->nsaved; i++)
        out[i] = vram_hold(s[i]);
}

/* As many rows at once as keep the logits about as large as the input. */
static int64_t liger_chunk(const struct vram_handle *x, const struct vram_handle *w)
{
    int64_t wide = ceil_div(w->shape[0], x->shape[1] ? x->shape[1] : 1);
    int64_t chunk = power_of_two_from(ceil_div(x->shape[0], wide ? wide : 1));
    return chunk < x->shape[0] ? chunk : x->shape[0];
}

/* Without autocast, or of its dtype: one buffer serves all chunks.  Else every product casts its operands,
 * the transposed matrix each time. */
struct liger {
    struct vram_handle *x, *w, *grad_x, *grad_w;
    enum vram_dtype dtype; /* of the logits */
    bool buffered;
};

static struct vram_handle *rows_of(struct vram_machine *m, int64_t rows, int64_t columns, enum vram_dtype dtype)
{
    int64_t shape[2] = {rows, columns};
    return vram_new(m, shape, 2, dtype, NULL);
}

static struct vram_handle *liger_logits(struct vram_machine *m, const struct liger *l, int64_t rows)
{
    struct vram_handle *w = NULL, *x = NULL;
    if (l->w->dtype != l->dtype)
        w = rows_of(m, l->w->shape[1], l->w->shape[0], l->dtype);
    if (l->x->dtype != l->dtype)
        x = rows_of(m, rows, l->x->shape[1], l->dtype);
    struct vram_handle *logits = rows_of(m, rows, l->w->shape[0], l->dtype);
    vram_drop(m, x);
    vram_drop(m, w);
    return logits;
}

/* The gradients of one chunk: a product of its own where it cannot be written or added in place. */
static void liger_gradients(struct vram_machine *m, const struct liger *l, int64_t rows)
{
    if (!l->buffered) {
        struct vram_handle *w = vram_autocast_lower(m, l->w);
        vram_drop(m, rows_of(m, rows, l->x->shape[1], l->dtype));
        vram_drop(m, w);
    }
    if (!l->grad_w)
        return;
    if (l->dtype == VRAM_DT_F32)
        vram_drop(m, rows_of(m, l->w->shape[0], l->w->shape[1], VRAM_DT_F32));
    else if (l->x->dtype != l->dtype)
        vram_drop(m, rows_of(m, rows, l->x->shape[1], l->dtype));
}

static void liger_chunks(struct vram_machine *m, struct liger *l, bool gradients)
{
    int64_t chunk = liger_chunk(l->x, l->w);
    l->dtype = m->autocast != VRAM_DT_NONE ? m->autocast : (enum vram_dtype)l->x->dtype;
    l->buffered = l->x->dtype == l->w->dtype && l->x->dtype == l->dtype;
    struct vram_handle *buffer = l->buffered ? rows_of(m, chunk, l->w->shape[0], l->dtype) : NULL;
    for (int64_t at = 0; at < l->x->shape[0]; at += chunk) {
        int64_t rows = l->x->shape[0] - at < chunk ? l->x->shape[0] - at : chunk;
        struct vram_handle *logits = buffer ? NULL : liger_logits(m, l, rows);
        if (gradients)
            liger_gradients(m, l, rows);
        vram_drop(m, logits);
    }
    vram_drop(m, buffer);
}

/* forward's Python; l has the gradients at its end */
static struct vram_handle *liger_run(struct vram_machine *m, struct liger *l, bool trains, bool head_trains)
{
    l->grad_x = vram_new_like(m, l->x, (enum vram_dtype)l->x->dtype);
    if (trains && head_trains)
        l->grad_w = vram_new_like(m, l->w, (enum vram_dtype)l->w->dtype);
    struct vram_handle *each = vram_new(m, l->x->shape, 1, VRAM_DT_F32, NULL);
    struct vram_handle *counts = vram_new(m, l->x->shape, 1, VRAM_DT_BOOL, NULL);
    vram_drop(m, vram_new_scalar(m, VRAM_DT_I64));
    liger_chunks(m, l, trains);
    struct vram_handle *o = vram_new_scalar(m, VRAM_DT_F32);
    vram_drop(m, counts);
    vram_drop(m, each);
    return o;
}

/* A head alone does not train: gradients are made where the input's is wanted. */
static bool liger_loss(VRAM_OP)
{
    struct liger l = {.x = vram_arg(m, row, a, 0), .w = vram_arg(m, row, a, 1)};
    check(m, l.x, l.w);
    struct vram_handle *xs[2] = {l.x, l.w}, *keep[2];
    struct vram_tape_node *n;
    vram_begin(m, &n, &(struct vram_begin){xs, 2, NULL, 0, 2, liger_backward});
    struct vram_handle *o = liger_run(m, &l, n && vram_needs(n, 0), n && vram_needs(n, 1));
    int saved = 0;
    keep[saved++] = l.grad_x;
    if (l.grad_w)
        keep[saved++] = l.grad_w;
    if (vram_end(m, n, &o, 1, keep, n ? saved : 0))
        vram_let_go(m, &o);
    vram_drop(m, l.grad_w);
    vram_drop(m, l.grad_x);
    return vram_result(o, out);
}

/* ---- cut cross entropy: logits live block by block inside the kernel ----------------------- */

static void cut_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(g);
    for (int i = 0; i < n->nedges; i++)
        out[i] = vram_needs(n, i) ? vram_new_like(m, s[i], (enum vram_dtype)s[i]->dtype) : NULL;
}

static bool cut_loss(VRAM_OP)
{
    struct vram_handle *x = vram_autocast_lower(m, vram_arg(m, row, a, 0)), *o = NULL;
    struct vram_handle *w = vram_autocast_lower(m, vram_arg(m, row, a, 1));
    struct vram_handle *target = vram_arg(m, row, a, 2);
    check(m, x, w);
    struct vram_handle *xs[2] = {x, w}, *save[3] = {x, w, target};
    struct vram_tape_node *n;
    if (!vram_begin(m, &n, &(struct vram_begin){xs, 2, save, 3, 1, cut_backward})) {
        struct vram_handle *lse = vram_new(m, x->shape, 1, VRAM_DT_F32, NULL);
        struct vram_handle *each = vram_new(m, x->shape, 1, VRAM_DT_F32, NULL);
        o = vram_new_scalar(m, VRAM_DT_F32);
        vram_drop(m, each);
        bool stopped = vram_end(m, n, &o, 1, &lse, n ? 1 : 0);
        vram_drop(m, lse);
        if (stopped)
            vram_let_go(m, &o);
    }
    vram_drop(m, w);
    vram_drop(m, x);
    return vram_result(o, out);
}

/* ---- torch.compile: the logits as they are, two numbers a row; backward their gradient -------- */

static void compiled_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(g);
    VRAM_UNUSED(n);
    out[0] = vram_new_like(m, s[0], (enum vram_dtype)s[0]->dtype);
}

static bool compiled_loss(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *target = vram_arg(m, row, a, 1), *rows[2], *o;
    if (x->rank != 2 || target->rank != 1)
        vram_throw(m, VRAM_E_CONFLICT, "a loss needs rows of logits and a target each");
    struct vram_handle *save[2] = {x, target};
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, save, 2, 2, compiled_backward}))
        return vram_result(NULL, out);
    for (int i = 0; i < 2; i++)
        rows[i] = vram_new(m, x->shape, 1, VRAM_DT_F32, NULL);
    o = vram_new_scalar(m, VRAM_DT_F32);
    if (vram_end(m, n, &o, 1, rows, n ? 2 : 0))
        vram_let_go(m, &o);
    for (int i = 0; i < 2; i++)
        vram_drop(m, rows[i]);
    return vram_result(o, out);
}

static const struct vram_op_row fused_rows[] = {
    {"liger_loss", "x weight target", "", "both gradients, made in forward",
     "the gradient of x; that of weight if it trains; a chunk of logits at a time; a number a row; under "
     "autocast the casts of each chunk",
     "liger-kernel 0.8.5 ops/fused_linear_cross_entropy.py", liger_loss, ""},
    {"compiled_loss", "x target", "", "x, target, two numbers a row",
     "two fp32 numbers a row; backward one output", "torch 2.9 _functorch/partitioners.py min-cut of the loss",
     compiled_loss, ""},
    {"cut_loss", "x weight target", "lower", "x, weight, target, a number a row",
     "two numbers a row; backward both gradients", "cut-cross-entropy 25.1 cce.py", cut_loss, ""},
};
const struct vram_op_family vram_ops_fused_loss = {fused_rows, sizeof fused_rows / sizeof *fused_rows};
