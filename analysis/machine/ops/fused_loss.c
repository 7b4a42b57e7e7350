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

/* They are what is kept, scaled in place. */
static void liger_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(m);
    VRAM_UNUSED(g);
    for (int i = 0, k = 0; i < n->nedges; i++)
        out[i] = vram_needs(n, i) ? vram_hold(s[k++]) : NULL;
}

/* As many rows at once as keep the logits about as large as the input; one buffer serves all chunks. */
static void liger_chunks(struct vram_machine *m, const struct vram_handle *x, const struct vram_handle *w)
{
    int64_t rows = x->shape[0], wide = ceil_div(w->shape[0], x->shape[1] ? x->shape[1] : 1);
    int64_t chunk = power_of_two_from(ceil_div(rows, wide ? wide : 1));
    int64_t shape[2] = {chunk < rows ? chunk : rows, w->shape[0]};
    vram_drop(m, vram_new(m, shape, 2, (enum vram_dtype)x->dtype, NULL));
}

static bool liger_loss(VRAM_OP)
{
    struct vram_handle *x = vram_autocast_lower(m, vram_arg(m, row, a, 0)), *o = NULL;
    struct vram_handle *w = vram_autocast_lower(m, vram_arg(m, row, a, 1));
    check(m, x, w);
    struct vram_handle *xs[2] = {x, w}, *made[2] = {NULL, NULL};
    struct vram_tape_node *n;
    if (!vram_begin(m, &n, &(struct vram_begin){xs, 2, NULL, 0, 2, liger_backward})) {
        int k = 0, saved = 0;
        made[k++] = vram_new(m, x->shape, 2, (enum vram_dtype)x->dtype, NULL);
        if (n && vram_needs(n, 1))
            made[k++] = vram_new(m, w->shape, 2, (enum vram_dtype)w->dtype, NULL);
        struct vram_handle *each = vram_new(m, x->shape, 1, VRAM_DT_F32, NULL);
        struct vram_handle *mask = vram_new(m, x->shape, 1, VRAM_DT_BOOL, NULL);
        liger_chunks(m, x, w);
        o = vram_new_scalar(m, VRAM_DT_F32);
        vram_drop(m, mask);
        vram_drop(m, each);
        struct vram_handle *keep[2];
        for (int i = 0; i < k; i++)
            if (n && vram_needs(n, i))
                keep[saved++] = made[i];
        bool stopped = vram_end(m, n, &o, 1, keep, saved);
        for (int i = 0; i < k; i++)
            vram_drop(m, made[i]);
        if (stopped)
            vram_let_go(m, &o);
    }
    vram_drop(m, w);
    vram_drop(m, x);
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

static const struct vram_op_row fused_rows[] = {
    {"liger_loss", "x weight", "lower", "both gradients, made in forward",
     "the gradient of x; that of weight if it trains; a chunk of logits; a number a row",
     "liger-kernel 0.8.5 ops/fused_linear_cross_entropy.py", liger_loss, ""},
    {"cut_loss", "x weight target", "lower", "x, weight, target, a number a row",
     "two numbers a row; backward both gradients", "cut-cross-entropy 25.1 cce.py", cut_loss, ""},
};
const struct vram_op_family vram_ops_fused_loss = {fused_rows, sizeof fused_rows / sizeof *fused_rows};
