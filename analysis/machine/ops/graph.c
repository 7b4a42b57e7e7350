/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that graphs of operators name one by one: norms of batches and groups, pools, one-input
 * functions, and forms that many kernels have.  What each keeps: tools/autograd/derivatives.yaml of torch 2.9.
 */
#include <string.h>

#include "ops.h"

static struct vram_handle *of_shape(struct vram_machine *m, const struct vram_op_row *row,
                                    const struct vram_value *a, int i, enum vram_dtype dtype)
{
    int64_t shape[VRAM_MAX_RANK];
    struct vram_value list[2] = {a[i]};
    if (a[i].kind != VRAM_V_BOX)
        vram_throw(m, VRAM_E_FORMAT, "%s takes a shape as a tuple", row->name);
    int rank = vram_arg_dims(m, row, list, 0, shape);
    return vram_new(m, shape, rank, dtype, NULL);
}

/* a gradient for each input that wants one, made as it is */
static void whole_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    VRAM_UNUSED(g);
    for (int i = 0; i < n->nedges; i++)
        out[i] = !vram_needs(n, i) ? NULL
                                   : vram_new(m, n->meta[i].shape, n->meta[i].rank,
                                              (enum vram_dtype)n->meta[i].dtype, NULL);
}

/* ---- one input ---------------------------------------------------------------------------- */

enum keeps { NOTHING, INPUT, RESULT };

/* What the formula makes on the way; it is there until the gradient is. */
static const struct unary {
    const char *name;
    enum keeps keeps;
    int steps;
} unaries[] = {
    {"erf", INPUT, 4},     {"log", INPUT, 0},       {"sin", INPUT, 1},        {"cos", INPUT, 2},
    {"abs", INPUT, 1},     {"root", RESULT, 1},  {"inverse", RESULT, 2}, {"softplus", INPUT, 0},
    {"mish", INPUT, 0},    {"leaky_relu", INPUT, 0},
    {"elu", INPUT, 0},     {"stepwise", NOTHING, 0},
};

static void unary_backward(VRAM_FORMULA)
{
    struct vram_handle *step[4], *like = s && n->nsaved ? s[0] : g[0];
    for (int i = 0; i < n->arg[0]; i++)
        step[i] = vram_elt1(m, (enum vram_dtype)like->dtype, like);
    out[0] = vram_elt2(m, (enum vram_dtype)g[0]->dtype, g[0], like);
    for (int i = 0; i < n->arg[0]; i++)
        vram_drop(m, step[i]);
}

static bool unary(VRAM_OP)
{
    const struct unary *u = unaries;
    while (strcmp(u->name, row->name))
        u++;
    struct vram_handle *x = vram_arg(m, row, a, 0), *o = NULL;
    struct vram_tape_node *n;
    x = row->autocast[0] ? vram_autocast_fp32(m, x) : vram_hold(x);
    struct vram_begin b = {&x, 1, &x, u->keeps == INPUT, u->keeps == RESULT, unary_backward};
    if (!vram_begin(m, &n, &b)) {
        if (n)
            n->arg[0] = u->steps;
        o = vram_end_one(m, n, vram_elt1(m, (enum vram_dtype)x->dtype, x), u->keeps == RESULT);
    }
    vram_drop(m, x);
    return vram_result(o, out);
}

/* ---- forms -------------------------------------------------------------------------------- */

/* made_of(x, shape): one tensor of x, nothing kept */
static bool made_of(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, whole_backward);
    return vram_result(vram_end_one(m, n, of_shape(m, row, a, 1, (enum vram_dtype)x->dtype), false), out);
}

/* the gradient over the number of equals, where x is the result (scale_grad_by_count) */
static void extremes_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    struct vram_handle *places = vram_elt2(m, VRAM_DT_BOOL, s[0], s[1]);
    struct vram_handle *counts = vram_new(m, s[1]->shape, s[1]->rank, VRAM_DT_I64, NULL);
    struct vram_handle *share = vram_elt1(m, (enum vram_dtype)g[0]->dtype, g[0]);
    out[0] = vram_elt2(m, (enum vram_dtype)g[0]->dtype, share, places);
    vram_drop(m, places);
    vram_drop(m, counts);
    vram_drop(m, share);
}

/* extremes(x, shape): x and the result are kept, to find the places again */
static bool extremes(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, 1, 1, extremes_backward}))
        return true;
    return vram_result(vram_end_one(m, n, of_shape(m, row, a, 1, (enum vram_dtype)x->dtype), true), out);
}

/* half the gradient where both are equal, then nothing where the other one won */
static void greater_backward(VRAM_FORMULA)
{
    for (int i = 1; i >= 0; i--) {
        if (!vram_needs(n, i))
            continue;
        enum vram_dtype d = (enum vram_dtype)g[0]->dtype;
        struct vram_handle *half = vram_elt1(m, d, g[0]), *equal = vram_elt2(m, VRAM_DT_BOOL, s[1], s[0]);
        out[i] = vram_elt2(m, d, equal, g[0]);
        struct vram_handle *lost = vram_elt2(m, VRAM_DT_BOOL, s[1], s[0]);
        vram_drop(m, half);
        vram_drop(m, equal);
        vram_drop(m, lost);
    }
}

/* greater(x, y) */
static bool greater(VRAM_OP)
{
    struct vram_handle *xs[2] = {vram_arg(m, row, a, 0), vram_arg(m, row, a, 1)}, *save[2] = {xs[1], xs[0]};
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, 2, save, 2, 0, greater_backward}))
        return true;
    return vram_result(vram_end_one(m, n, vram_elt2(m, vram_promote(xs[0], xs[1]), xs[0], xs[1]), false), out);
}

/* A list's members: tensors into xs, how many there are. */
static int tensors_of(struct vram_machine *m, const struct vram_op_row *row, const struct vram_value *a,
                      struct vram_handle ***xs)
{
    if (a->kind != VRAM_V_BOX || a->u.box->n > INT16_MAX)
        vram_throw(m, VRAM_E_FORMAT, "%s takes a list of tensors", row->name);
    int n = 0;
    *xs = vram_machine_alloc(m, a->u.box->n ? a->u.box->n : 1, sizeof **xs);
    for (uint32_t i = 0; i < a->u.box->n; i++)
        if (a->u.box->at[i].kind == VRAM_V_TENSOR)
            (*xs)[n++] = a->u.box->at[i].u.tensor;
    return n;
}

/* keeping(xs, shapes, dtypes): all inputs are kept.  Members that are no tensors are passed over, and an
 * output whose shape is none is none. */
static bool keeping(VRAM_OP)
{
    struct vram_handle **xs, **ys;
    int nxs = tensors_of(m, row, &a[0], &xs), n = 0;
    if (a[1].kind != VRAM_V_BOX || a[2].kind != VRAM_V_BOX || a[1].u.box->n != a[2].u.box->n)
        vram_throw(m, VRAM_E_FORMAT, "keeping takes as many dtypes as shapes");
    const struct vram_box *shapes = a[1].u.box, *dtypes = a[2].u.box;
    struct vram_tape_node *node;
    if (vram_begin(m, &node, &(struct vram_begin){xs, nxs, xs, nxs, 0, whole_backward}))
        return true;
    ys = vram_machine_alloc(m, shapes->n + 1, sizeof *ys);
    struct vram_value result = {.kind = VRAM_V_BOX};
    result.u.box = vram_box_new(m, VRAM_BOX_TUPLE, shapes->n);
    for (uint32_t i = 0; i < shapes->n; i++) {
        struct vram_handle *y = NULL;
        if (shapes->at[i].kind != VRAM_V_NONE)
            y = of_shape(m, row, shapes->at, (int)i, vram_arg_dtype(m, row, dtypes->at, (int)i));
        if (y && vram_dtype_is_float((enum vram_dtype)y->dtype))
            ys[n++] = y;
        vram_box_push(m, result.u.box, vram_tensor_value(y));
    }
    *out = result;
    if (!vram_end(m, node, ys, n, NULL, 0))
        return false;
    vram_value_drop(m, result);
    return true;
}

/* scattered(x, places, updates): a copy of x with updates at some places, which are kept */
static void placed_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    enum vram_dtype d = (enum vram_dtype)g[0]->dtype;
    const struct vram_meta *updates = &n->meta[1];
    if (vram_needs(n, 0)) { /* the gradient with zeros at the places */
        struct vram_handle *zeros = vram_new(m, updates->shape, updates->rank, d, NULL);
        out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, d, NULL);
        vram_drop(m, zeros);
    }
    if (vram_needs(n, 1))
        out[1] = vram_new(m, updates->shape, updates->rank, d, NULL);
}

static bool placed(VRAM_OP)
{
    struct vram_handle *xs[2] = {vram_arg(m, row, a, 0), vram_arg(m, row, a, 2)};
    struct vram_handle *places = vram_arg_or_null(m, row, a, 1);
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, 2, &places, places ? 1 : 0, 0, placed_backward}))
        return true;
    return vram_result(vram_end_one(m, n, vram_new_like(m, xs[0], (enum vram_dtype)xs[0]->dtype), false), out);
}

/* ---- pools -------------------------------------------------------------------------------- */

/* greatest_of(x, shape): x and the int64 places of the greatest */
static bool max_pool(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, 1, 1, whole_backward}))
        return true;
    struct vram_handle *o = of_shape(m, row, a, 1, (enum vram_dtype)x->dtype);
    struct vram_handle *places = vram_new(m, o->shape, o->rank, VRAM_DT_I64, NULL);
    bool stopped = vram_end(m, n, &o, 1, &places, n ? 1 : 0);
    vram_drop(m, places);
    if (stopped)
        vram_let_go(m, &o);
    return vram_result(o, out);
}

/* pool_of(x, shape): x is kept */
static bool pooled(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, 1, 0, whole_backward}))
        return true;
    return vram_result(vram_end_one(m, n, of_shape(m, row, a, 1, (enum vram_dtype)x->dtype), false), out);
}

/* ---- norms -------------------------------------------------------------------------------- */

/* The output and so many statistics of `count` numbers in fp32 (or wider), which are kept with `save`. */
static bool normed(struct vram_machine *m, struct vram_handle *const *xs, int nxs, struct vram_handle *const *save,
                   int nsave, int64_t count, int nstats, struct vram_value *out)
{
    struct vram_handle *x = xs[0], *stats[2], *o;
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, nxs, save, nsave, nstats, whole_backward}))
        return true;
    o = vram_new_like(m, x, (enum vram_dtype)x->dtype);
    for (int i = 0; i < nstats; i++)
        stats[i] = vram_new(m, &count, 1, x->dtype == VRAM_DT_F64 ? VRAM_DT_F64 : VRAM_DT_F32, NULL);
    bool stopped = vram_end(m, n, &o, 1, stats, n ? nstats : 0);
    for (int i = 0; i < nstats; i++)
        vram_drop(m, stats[i]);
    if (stopped)
        vram_let_go(m, &o);
    return vram_result(o, out);
}

/* fixed_norm(x, w, b, mean, var): a batch_norm with the statistics of the model; the batch's are empty. */
static bool fixed_norm(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *w = vram_arg_or_null(m, row, a, 1);
    struct vram_handle *mean = vram_arg_or_null(m, row, a, 3), *var = vram_arg_or_null(m, row, a, 4);
    struct vram_handle *xs[3] = {x, w, vram_arg_or_null(m, row, a, 2)}, *save[4] = {x, mean, var, w};
    return normed(m, xs, 3, save, 4, 0, 2, out);
}

/* group_norm(x, w, b, groups): mean and rstd of each group of each row of the batch */
static bool group_norm(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_handle *w = vram_arg_or_null(m, row, a, 1), *b = vram_arg_or_null(m, row, a, 2), *xs[3];
    int64_t groups = vram_arg_int(m, row, a, 3, 1), count;
    if (x->rank < 2 || groups < 1 || __builtin_mul_overflow(groups, x->shape[0], &count))
        vram_throw(m, VRAM_E_CONFLICT, "group_norm needs a batch and groups");
    xs[0] = vram_autocast_fp32(m, x);
    xs[1] = vram_autocast_fp32(m, w);
    xs[2] = vram_autocast_fp32(m, b);
    bool stopped = normed(m, xs, 3, xs, 2, count, 2, out);
    for (int i = 0; i < 3; i++)
        vram_drop(m, xs[i]);
    return stopped;
}

/* fused_rms_norm(x, w): one number a row */
static bool rms_norm(VRAM_OP)
{
    struct vram_handle *xs[2] = {vram_arg(m, row, a, 0), vram_arg_or_null(m, row, a, 1)};
    int64_t width = xs[0]->rank ? xs[0]->shape[xs[0]->rank - 1] : 1;
    return normed(m, xs, 2, xs, 2, width ? vram_numel(xs[0]) / width : 0, 1, out);
}

/* is_tensor(x) */
static bool is_tensor(VRAM_OP)
{
    VRAM_UNUSED(m);
    VRAM_UNUSED(row);
    *out = vram_bool(a[0].kind == VRAM_V_TENSOR);
    return false;
}

#define UNARY(name, autocast, saves) \
    {name, "x", autocast, saves, "one output; backward the gradient, and what its formula makes on the way", \
     "derivatives.yaml " name, unary, ""}

static const struct vram_op_row graph_rows[] = {
    UNARY("erf", "", "x"), UNARY("log", "fp32", "x"), UNARY("sin", "", "x"), UNARY("cos", "", "x"),
    UNARY("abs", "", "x"), UNARY("root", "", "its result"), UNARY("inverse", "fp32", "its result"),
    UNARY("softplus", "fp32", "x"), UNARY("mish", "", "x"), 
    UNARY("leaky_relu", "", "x"), UNARY("elu", "", "x"),
    UNARY("stepwise", "", "nothing"),
    {"made_of", "x shape", "", "nothing", "one tensor each way", "pad, repeat, cumsum, mean ...", made_of, ""},
    {"extremes", "x shape", "", "x and its result", "one tensor; backward bools, counts, a share, the product", "derivatives.yaml amax, amin", extremes, ""},
    {"greater", "x y", "", "both", "the greater; backward a half, a choice and two bools a side, one stays",
     "derivatives.yaml maximum, minimum", greater, ""},
    {"keeping", "xs shapes dtypes", "", "all inputs", "the outputs; backward a gradient a side",
     "what is not described", keeping, ""},
    {"scattered", "x places? updates", "", "the places", "one tensor like x; backward one a side, and zeros for the places",
     "derivatives.yaml scatter, index_put", placed, ""},
    {"greatest_of", "x shape", "", "x and int64 places", "the output and the places; backward one tensor",
     "derivatives.yaml max_pool2d_with_indices", max_pool, ""},
    {"pool_of", "x shape", "", "x", "one tensor each way", "derivatives.yaml avg_pool2d", pooled, ""},
    {"fixed_norm", "x w? b? mean? var?", "", "x, w, mean, var, and two empty statistics",
     "the output; backward a gradient a side", "derivatives.yaml native_batch_norm in evaluation", fixed_norm, ""},
    {"group_norm", "x w? b? groups?", "fp32", "x, w, mean and rstd of each group", "the output and statistics",
     "derivatives.yaml native_group_norm", group_norm, ""},
    {"fused_rms_norm", "x w?", "", "x, w and one number a row", "the output and the numbers",
     "derivatives.yaml _fused_rms_norm", rms_norm, ""},
    {"is_tensor", "x?", "", "", "nothing: whether it is a tensor", "", is_tensor, ""},
};
const struct vram_op_family vram_ops_graph = {graph_rows, sizeof graph_rows / sizeof *graph_rows};
