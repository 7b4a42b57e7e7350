/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products.  linear is made of the ops that torch's composite calls, because their nodes
 * decide when copies and sums run (ATen/native/Linear.cpp).
 */
#include <string.h>

#include "ops.h"
#include "tables/tables.h"

static int64_t rows_of(const struct vram_handle *x) { return x->shape[x->rank - 2]; }
static int64_t cols_of(const struct vram_handle *x) { return x->shape[x->rank - 1]; }

static void check_inner(struct vram_machine *m, int64_t a, int64_t b)
{
    if (a != b)
        vram_throw(m, VRAM_E_CONFLICT, "a product of %lld columns and %lld rows", (long long)a,
                   (long long)b);
}

/* The second operand's gradient has the layout of the operand: that of a Linear, which is a transposed
 * view, arrives as the transpose of a product.  So .grad can take it. */
static struct vram_handle *weight_gradient(struct vram_machine *m, const struct vram_tape_node *n,
                                           const struct vram_handle *g,
                                           const struct vram_handle *input)
{
    int64_t shape[2] = {cols_of(input), cols_of(g)}, stride[2] = {1, cols_of(input)};
    return vram_new(m, shape, 2, (enum vram_dtype)g->dtype, n->arg[0] ? stride : NULL);
}

/* mm_mat1_grad, mm_mat2_grad: are the columns one behind the other? */
static bool by_columns(const struct vram_handle *x)
{
    return x->stride[0] == 1 && x->stride[1] == x->shape[0];
}

static void note_layout(struct vram_tape_node *n, const struct vram_handle *x,
                        const struct vram_handle *w)
{
    if (n)
        n->arg[0] = by_columns(w);
    if (n)
        n->arg[1] = by_columns(x);
}

static struct vram_handle *input_gradient(struct vram_machine *m, const struct vram_tape_node *n,
                                          const struct vram_handle *g,
                                          const struct vram_handle *weight)
{
    int64_t shape[2] = {g->shape[0], weight->shape[0]}, stride[2] = {1, g->shape[0]};
    return vram_new(m, shape, 2, (enum vram_dtype)g->dtype, n->arg[1] ? stride : NULL);
}

/* ---- mm, addmm: the weight comes as its transposed view [in, out] ------------------------- */

static void mm_backward(VRAM_FORMULA)
{
    out[1] = vram_needs(n, 1) ? weight_gradient(m, n, g[0], s[1]) : NULL;
    out[0] = vram_needs(n, 0) ? input_gradient(m, n, g[0], s[0]) : NULL;
}

static struct vram_handle *product(struct vram_machine *m, struct vram_handle *x,
                                   struct vram_handle *w)
{
    int64_t shape[2] = {x->shape[0], w->shape[1]};
    check_inner(m, x->shape[1], w->shape[0]);
    return vram_new(m, shape, 2, (enum vram_dtype)x->dtype, NULL);
}

static struct vram_handle *mm(struct vram_machine *m, struct vram_handle *x, struct vram_handle *w)
{
    struct vram_handle *xs[2] = {x, w};
    struct vram_handle *save[2] = {x->requires_grad ? w : NULL, w->requires_grad ? x : NULL};
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, 2, save, 2, 0, mm_backward}))
        return NULL;
    note_layout(n, x, w);
    return vram_end_one(m, n, product(m, x, w), false);
}

static void addmm_backward(VRAM_FORMULA)
{
    /* input, then weight; the bias's sum is made by the summing step behind the formula */
    out[1] = vram_needs(n, 1) ? input_gradient(m, n, g[0], s[1]) : NULL;
    out[2] = vram_needs(n, 2) ? weight_gradient(m, n, g[0], s[0]) : NULL;
    out[0] = vram_needs(n, 0) ? vram_hold(g[0]) : NULL;
}

static struct vram_handle *addmm(struct vram_machine *m, struct vram_handle *b,
                                 struct vram_handle *x, struct vram_handle *w)
{
    struct vram_handle *xs[3] = {b, x, w};
    struct vram_handle *save[2] = {w->requires_grad ? x : NULL, x->requires_grad ? w : NULL};
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, 3, save, 2, 0, addmm_backward}))
        return NULL;
    note_layout(n, x, w);
    return vram_end_one(m, n, product(m, x, w), false);
}

/* addmm(b, x, w): b + x @ w, of matrices */
static bool added_product(VRAM_OP)
{
    for (int i = 0; i < 3; i++)
        if (vram_arg(m, row, a, i)->rank != (i ? 2 : 1))
            vram_throw(m, VRAM_E_CONFLICT, "addmm takes a vector and two matrices");
    struct vram_handle *w = vram_autocast_lower(m, vram_arg(m, row, a, 2));
    struct vram_handle *x = vram_autocast_lower(m, vram_arg(m, row, a, 1));
    struct vram_handle *b = vram_autocast_lower(m, vram_arg(m, row, a, 0));
    if (b->shape[0] != w->shape[1])
        vram_throw(m, VRAM_E_CONFLICT, "a sum of %lld columns and %lld", (long long)b->shape[0],
                   (long long)w->shape[1]);
    struct vram_handle *o = addmm(m, b, x, w);
    vram_drop(m, w);
    vram_drop(m, x);
    vram_drop(m, b);
    return vram_result(o, out);
}

/* ---- bmm, matmul -------------------------------------------------------------------------- */

static void bmm_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    for (int i = 1; i >= 0; i--)
        out[i] = vram_needs(n, i) ? vram_new(m, n->meta[i].shape, 3, (enum vram_dtype)g[0]->dtype,
                                             NULL)
                                  : NULL;
}

struct vram_handle *vram_op_bmm(struct vram_machine *m, struct vram_handle *a, struct vram_handle *b)
{
    struct vram_handle *xs[2] = {a, b};
    struct vram_handle *save[2] = {a->requires_grad ? b : NULL, b->requires_grad ? a : NULL};
    struct vram_tape_node *n;
    if (a->rank != 3 || b->rank != 3 || a->shape[0] != b->shape[0])
        vram_throw(m, VRAM_E_CONFLICT, "a batched product of unequal batches");
    check_inner(m, a->shape[2], b->shape[1]);
    if (vram_begin(m, &n, &(struct vram_begin){xs, 2, save, 2, 0, bmm_backward}))
        return NULL;
    int64_t shape[3] = {a->shape[0], a->shape[1], b->shape[2]};
    return vram_end_one(m, n, vram_new(m, shape, 3, (enum vram_dtype)a->dtype, NULL), false);
}

/* the two products, each times the factor; the sum over the bias follows behind the formula */
static void baddbmm_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    for (int i = 1; i <= 2; i++) {
        enum vram_dtype d = (enum vram_dtype)g[0]->dtype;
        out[i] = vram_needs(n, i) ? vram_new(m, n->meta[i].shape, 3, d, NULL) : NULL;
        if (out[i] && n->arg[0])
            vram_replace(m, &out[i], vram_new(m, n->meta[i].shape, 3, d, NULL));
    }
    out[0] = vram_needs(n, 0) ? vram_hold(g[0]) : NULL;
}

/* baddbmm(b, x, y, scaled): b + x @ y, the product times a factor */
static bool added_batches(VRAM_OP)
{
    struct vram_handle *y = vram_autocast_lower(m, vram_arg(m, row, a, 2));
    struct vram_handle *x = vram_autocast_lower(m, vram_arg(m, row, a, 1));
    struct vram_handle *b = vram_autocast_lower(m, vram_arg(m, row, a, 0));
    struct vram_handle *xs[3] = {b, x, y}, *o = NULL;
    struct vram_handle *save[2] = {y->requires_grad ? x : NULL, x->requires_grad ? y : NULL};
    struct vram_tape_node *n;
    if (x->rank != 3 || y->rank != 3 || x->shape[0] != y->shape[0])
        vram_throw(m, VRAM_E_CONFLICT, "a batched product of unequal batches");
    check_inner(m, x->shape[2], y->shape[1]);
    int64_t shape[3] = {x->shape[0], x->shape[1], y->shape[2]};
    for (int i = 0; i < b->rank; i++)
        if (b->rank > 3 || (b->shape[i] != 1 && b->shape[i] != shape[3 - b->rank + i]))
            vram_throw(m, VRAM_E_CONFLICT, "baddbmm's first operand does not fit");
    if (!vram_begin(m, &n, &(struct vram_begin){xs, 3, save, 2, 0, baddbmm_backward})) {
        if (n)
            n->arg[0] = vram_arg_bool(a, 3, false);
        o = vram_end_one(m, n, vram_new(m, shape, 3, (enum vram_dtype)x->dtype, NULL), false);
    }
    vram_drop(m, b);
    vram_drop(m, x);
    vram_drop(m, y);
    return vram_result(o, out);
}

/* What the leading dimensions are together; throws when they do not fit. */
static int common_batch(struct vram_machine *m, struct vram_handle *a, struct vram_handle *b,
                        int64_t *shape)
{
    struct vram_handle x = *a, y = *b, *both[2] = {&x, &y};
    x.rank = (uint8_t)(x.rank - 2);
    y.rank = (uint8_t)(y.rank - 2);
    return vram_broadcast(m, both, 2, shape);
}

/* expanded to the common batch (mostly a no-op), which is folded into one dimension */
static struct vram_handle *folded(struct vram_machine *m, struct vram_handle *x,
                                  const int64_t *batch, int nbatch)
{
    int64_t whole[VRAM_MAX_RANK], shape[3] = {-1, rows_of(x), cols_of(x)};
    memcpy(whole, batch, (size_t)nbatch * sizeof *batch);
    whole[nbatch] = rows_of(x);
    whole[nbatch + 1] = cols_of(x);
    struct vram_handle *e = vram_op_expand(m, x, whole, nbatch + 2);
    struct vram_handle *r = vram_op_reshape(m, e, shape, 3);
    vram_drop(m, e);
    return r;
}

static struct vram_handle *batched_product(struct vram_machine *m, struct vram_handle *a,
                                           struct vram_handle *b)
{
    int64_t shape[VRAM_MAX_RANK];
    int n = common_batch(m, a, b, shape);
    struct vram_handle *x = folded(m, a, shape, n), *y = folded(m, b, shape, n);
    struct vram_handle *p = vram_op_bmm(m, x, y);
    vram_drop(m, x);
    vram_drop(m, y);
    if (!p)
        return NULL;
    shape[n] = rows_of(a);
    shape[n + 1] = cols_of(b);
    struct vram_handle *o = vram_op_view(m, p, shape, n + 2);
    vram_drop(m, p);
    return o;
}

/* Can the leading dimensions be folded without a copy? */
static bool foldable(const struct vram_handle *x)
{
    for (int i = 0; i < x->rank - 2; i++)
        if (x->stride[i] != x->stride[i + 1] * x->shape[i + 1])
            return false;
    return true;
}

static struct vram_handle *unfolded(struct vram_machine *m, struct vram_handle *p,
                                    const struct vram_handle *x)
{
    int64_t shape[VRAM_MAX_RANK];
    if (!p)
        return NULL;
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = p->shape[1];
    return vram_replace(m, &p, vram_op_view(m, p, shape, x->rank));
}

/* A matrix behind rows of more dimensions: those are folded, by a copy where the layout asks for one
 * and the matrix trains; else the matrix is expanded (should_fold). */
struct vram_handle *vram_op_matmul(struct vram_machine *m, struct vram_handle *a,
                                   struct vram_handle *b)
{
    if (a->rank < 2 || b->rank < 2 || (a->rank == 2 && b->rank > 2))
        vram_throw(m, VRAM_E_FORMAT, "matmul of ranks %d and %d", (int)a->rank, (int)b->rank);
    check_inner(m, cols_of(a), rows_of(b));
    if (a->rank == 2)
        return mm(m, a, b);
    if (b->rank > 2 || (!b->requires_grad && vram_numel(a) && !foldable(a)))
        return batched_product(m, a, b);
    int64_t flat[2] = {-1, cols_of(a)};
    struct vram_handle *rows = vram_op_reshape(m, a, flat, 2);
    struct vram_handle *y = unfolded(m, mm(m, rows, b), a);
    vram_drop(m, rows);
    return y;
}

static bool matmul(VRAM_OP)
{
    struct vram_handle *y = vram_autocast_lower(m, vram_arg(m, row, a, 1));
    struct vram_handle *x = vram_autocast_lower(m, vram_arg(m, row, a, 0));
    struct vram_handle *o = vram_op_matmul(m, x, y);
    vram_drop(m, x);
    vram_drop(m, y);
    return vram_result(o, out);
}

static bool batched(VRAM_OP)
{
    struct vram_handle *y = vram_autocast_lower(m, vram_arg(m, row, a, 1));
    struct vram_handle *x = vram_autocast_lower(m, vram_arg(m, row, a, 0));
    struct vram_handle *o = vram_op_bmm(m, x, y);
    vram_drop(m, x);
    vram_drop(m, y);
    return vram_result(o, out);
}

/* ---- linear ------------------------------------------------------------------------------- */

static struct vram_handle *with_bias(struct vram_machine *m, struct vram_handle *y,
                                     struct vram_handle *b)
{
    if (!y || !b)
        return y;
    if (!m->card)
        return vram_replace(m, &y, vram_op_add(m, y, b));
    /* on a card the bias is added in place: no new tensor, a new node */
    struct vram_value args[VRAM_MAX_ARGS] = {vram_tensor_value(y), vram_tensor_value(b)}, o = {0};
    uint32_t op = vram_op_find("add_");
    vram_op_row_at(op)->run(m, vram_op_row_at(op), args, &o);
    return vram_replace(m, &y, o.u.tensor);
}

static struct vram_handle *linear_of(struct vram_machine *m, struct vram_handle *x,
                                     struct vram_handle *w, struct vram_handle *b)
{
    struct vram_handle *y, *wt, *rows = NULL;
    int64_t flat[2] = {-1, cols_of(x)};
    if (x->rank > 2 && b && vram_is_contiguous(x)) {
        rows = vram_op_view(m, x, flat, 2);
        wt = vram_op_transpose(m, w, 0, 1);
        y = unfolded(m, addmm(m, b, rows, wt), x);
    } else {
        wt = vram_op_transpose(m, w, 0, 1);
        y = x->rank == 2 && b ? addmm(m, b, x, wt) : with_bias(m, vram_op_matmul(m, x, wt), b);
    }
    vram_drop(m, rows);
    vram_drop(m, wt);
    return y;
}

/* ---- linear as DeepSpeed's stage 3 has it (runtime/zero/linear.py) ------------------------- */

static void kept_linear_backward(VRAM_FORMULA)
{
    enum vram_dtype dtype = (enum vram_dtype)g[0]->dtype;
    int64_t count = cols_of(s[0]) ? vram_numel(s[0]) / cols_of(s[0]) : 0;
    int64_t rows[2] = {count, cols_of(g[0])}, columns[2] = {count, cols_of(s[0])};
    if (vram_needs(n, 0))
        out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, dtype, NULL);
    if (vram_needs(n, 1)) {
        struct vram_handle *y = vram_reshape_gradient(m, g[0], rows, 2);
        struct vram_handle *x = vram_reshape_gradient(m, s[0], columns, 2);
        out[1] = vram_new(m, n->meta[1].shape, 2, dtype, NULL);
        vram_drop(m, y);
        vram_drop(m, x);
    }
    if (n->nedges > 2 && vram_needs(n, 2))
        out[2] = vram_new(m, n->meta[2].shape, 1, dtype, NULL);
}

/* Runs without a tape, then saves whatever it was given; the bias is added in place. */
static struct vram_handle *kept_linear(struct vram_machine *m, struct vram_handle *x,
                                       struct vram_handle *w, struct vram_handle *b)
{
    struct vram_handle *xs[3] = {x, w, b};
    struct vram_tape_node *n;
    int count = b ? 3 : 2;
    bool grad = m->grad;
    vram_begin(m, &n, &(struct vram_begin){.inputs = xs, .ninputs = count, .nsave_out = count,
                                           .backward = kept_linear_backward});
    m->grad = false;
    struct vram_handle *wt = vram_op_transpose(m, w, 0, 1);
    struct vram_handle *y = x->rank == 2 && b ? addmm(m, b, x, wt) : vram_op_matmul(m, x, wt);
    vram_drop(m, wt);
    m->grad = grad;
    if (!vram_end(m, n, &y, 1, xs, count))
        return y;
    vram_drop(m, y);
    return NULL;
}

static bool linear(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *w = vram_arg(m, row, a, 1);
    struct vram_handle *b = vram_arg_or_null(m, row, a, 2);
    if (x->rank < 2 || w->rank != 2)
        vram_throw(m, VRAM_E_CONFLICT, "linear needs rows and a matrix");
    check_inner(m, cols_of(x), w->shape[1]);
    b = vram_autocast_lower(m, b); /* arguments are cast from the last to the first */
    w = vram_autocast_lower(m, w);
    x = vram_autocast_lower(m, x);
    struct vram_handle *y = (m->keeps_linear ? kept_linear : linear_of)(m, x, w, b);
    vram_drop(m, x);
    vram_drop(m, w);
    vram_drop(m, b);
    return vram_result(y, out);
}

/* ---- a product with a matrix in packed words ----------------------------------------------- */

/* The matrix is made for the gradient and dropped: its nested constants, the matrix in the dtype in
 * which it was packed, a cast. */
static void packed_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    struct vram_handle *constants =
        n->arg[2] ? vram_new(m, &n->arg[2], 1, VRAM_DT_F32, NULL) : NULL;
    struct vram_handle *w = vram_new(m, n->arg, 2, (enum vram_dtype)n->arg[3], NULL);
    vram_drop(m, constants);
    vram_replace(m, &w, vram_cast(m, w, (enum vram_dtype)g[0]->dtype));
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, (enum vram_dtype)g[0]->dtype, NULL);
    vram_drop(m, w);
}

/* packed_linear(x, outputs, keeps, constants, dtype): the product alone; what unpacking takes in
 * forward is the template's.  keeps: the function holds x, though the matrix does not train; constants: how
 * many nested ones there are; dtype: that in which the matrix was packed, else x's. */
static bool packed_linear(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *o = NULL;
    int64_t outputs = vram_arg_int(m, row, a, 1, 1), shape[VRAM_MAX_RANK];
    bool keeps = vram_arg_bool(a, 2, false);
    if (x->rank < 1 || outputs < 1)
        vram_throw(m, VRAM_E_CONFLICT, "packed_linear needs rows and a number of outputs");
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = outputs;
    struct vram_tape_node *n;
    if (!vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, keeps ? 1 : 0, 0, packed_backward})) {
        if (n) {
            n->arg[0] = outputs;
            n->arg[1] = cols_of(x);
            n->arg[2] = vram_arg_int(m, row, a, 3, 0);
            n->arg[3] = a[4].kind == VRAM_V_DTYPE ? a[4].u.i : x->dtype;
        }
        o = vram_end_one(m, n, vram_new(m, shape, x->rank, (enum vram_dtype)x->dtype, NULL), false);
    }
    return vram_result(o, out);
}

/* ---- convolution -------------------------------------------------------------------------- */

static void conv_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    for (int i = 0; i < n->nedges; i++)
        out[i] = vram_needs(n, i) ? vram_new(m, n->meta[i].shape, n->meta[i].rank,
                                             (enum vram_dtype)g[0]->dtype, NULL)
                                  : NULL;
}

/* The sizes of the result: said, or from stride and padding. */
static void conv_shape(struct vram_machine *m, const struct vram_op_row *row, struct vram_value *a,
                       const struct vram_handle *x, const struct vram_handle *w, int64_t *shape)
{
    int64_t stride = vram_arg_int(m, row, a, 3, 1), pad = vram_arg_int(m, row, a, 4, 0);
    struct vram_value said[2] = {a[5]};
    if (x->rank != w->rank || x->rank < 3 || stride < 1 || pad < 0 || pad > INT32_MAX ||
        (a[5].kind == VRAM_V_BOX && vram_arg_dims(m, row, said, 0, shape) != x->rank))
        vram_throw(m, VRAM_E_CONFLICT, "a convolution of ranks %d and %d", (int)x->rank, (int)w->rank);
    if (a[5].kind == VRAM_V_BOX)
        return;
    shape[0] = x->shape[0];
    shape[1] = w->shape[0];
    for (int i = 2; i < x->rank; i++) {
        if (x->shape[i] + 2 * pad < w->shape[i])
            vram_throw(m, VRAM_E_CONFLICT, "an input of %lld is smaller than the window of %lld",
                       (long long)x->shape[i], (long long)w->shape[i]);
        shape[i] = (x->shape[i] + 2 * pad - w->shape[i]) / stride + 1;
    }
}

/* conv(x, w, b, stride, padding, shape): x [n, c, spatial...], w [out, c / groups, window...]; shape: of the
 * result, where stride and padding do not say it (dilated, uneven, transposed) */
static bool conv(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *w = vram_arg(m, row, a, 1);
    struct vram_handle *b = vram_arg_or_null(m, row, a, 2);
    int64_t shape[VRAM_MAX_RANK] = {0};
    conv_shape(m, row, a, x, w, shape);
    b = vram_autocast_lower(m, b);
    w = vram_autocast_lower(m, w);
    x = vram_autocast_lower(m, x);
    struct vram_handle *xs[3] = {x, w, b}, *save[2] = {x, w}, *o = NULL;
    struct vram_tape_node *n;
    if (!vram_begin(m, &n, &(struct vram_begin){xs, b ? 3 : 2, save, 2, 0, conv_backward})) {
        /* the algorithm's own memory: heuristics take the first that fits (see constants) */
        const struct vram_constant_row *c = vram_constant_find("cudnn-conv-workspace");
        struct vram_storage *space = vram_workspace_begin(m, c->low, c->expected, c->high);
        o = vram_end_one(m, n, vram_new(m, shape, x->rank, (enum vram_dtype)x->dtype, NULL), false);
        vram_workspace_end(m, space);
    }
    vram_drop(m, x);
    vram_drop(m, w);
    vram_drop(m, b);
    return vram_result(o, out);
}

static const struct vram_op_row matmul_rows[] = {
    {"packed_linear", "x outputs keeps? constants? dtype?", "", "nothing, or x",
     "the product; backward unpacks the matrix for a moment", "bitsandbytes 0.50 autograd/_functions.py",
     packed_linear, ""},
    {"linear", "x w b?", "lower",
     "x if the weight trains, the weight if x needs grad; never the bias; under ZeRO 3 everything",
     "the product; on unfoldable rows a copy; backward: weight, then input, then the bias sum",
     "ATen/native/Linear.cpp", linear, ""},
    {"addmm", "b x w", "lower", "x if the weight trains, the weight if x needs grad",
     "the sum; backward: x, the weight, then the bias sum", "derivatives.yaml addmm", added_product,
     ""},
    {"matmul", "x y", "lower", "each operand if the other needs grad",
     "the product; copies of operands that cannot be folded", "ATen/native/LinearAlgebra.cpp",
     matmul, ""},
    {"bmm", "x y", "lower", "each operand if the other needs grad",
     "the product; backward one output a side", "derivatives.yaml bmm", batched, ""},
    {"baddbmm", "b x y scaled?", "lower", "x and y if the other needs grad",
     "the sum; backward one output a side, and each once more when the product is scaled",
     "derivatives.yaml baddbmm", added_batches, ""},
    {"conv", "x w b? stride? padding? shape?", "lower", "x and the weight if any input needs grad",
     "the output; backward: input, weight, bias; workspace of the algorithm",
     "derivatives.yaml convolution_overrideable", conv, ""},
};
const struct vram_op_family vram_ops_matmul = {matmul_rows,
                                               sizeof matmul_rows / sizeof *matmul_rows};
