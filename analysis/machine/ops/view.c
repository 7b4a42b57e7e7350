/* SPDX-License-Identifier: Apache-2.0
 *
 * Views, and the copies that are made where a layout forbids one.
 */
#include <string.h>

#include "base/math.h"
#include "ops.h"

/* ---- view, reshape ------------------------------------------------------------------------ */

static void view_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_reshape_gradient(m, g[0], n->meta[0].shape, n->meta[0].rank);
}

static struct vram_handle *view_as(struct vram_machine *m, struct vram_handle *x,
                                   const int64_t *shape, int rank, const int64_t *stride)
{
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, view_backward);
    return vram_end_one(m, n, vram_alias(m, x, shape, stride, rank, true), false);
}

/* one size may be −1: what is left over */
static void resolve(struct vram_machine *m, const struct vram_handle *x, int64_t *shape, int rank)
{
    int open = -1;
    int64_t known = 1, n = vram_numel(x);
    for (int i = 0; i < rank; i++) {
        if (shape[i] == -1 && open < 0)
            open = i;
        else if (shape[i] < 0 || !vram_mul_i64(known, shape[i], &known))
            vram_throw(m, VRAM_E_RANGE, "a size below zero or a shape too large");
    }
    if (open >= 0)
        shape[open] = known > 0 ? n / known : 0;
    if (open >= 0 ? (known == 0 || n % known != 0) : known != n)
        vram_throw(m, VRAM_E_CONFLICT, "%lld elements do not fill the shape", (long long)n);
}

struct vram_handle *vram_op_view(struct vram_machine *m, struct vram_handle *x, const int64_t *want,
                                 int rank)
{
    int64_t shape[VRAM_MAX_RANK], stride[VRAM_MAX_RANK];
    memcpy(shape, want, (size_t)rank * sizeof *shape);
    resolve(m, x, shape, rank);
    if (!vram_view_strides(x, shape, rank, stride))
        vram_throw(m, VRAM_E_CONFLICT, "the layout does not allow this view; reshape copies");
    return view_as(m, x, shape, rank, stride);
}

struct vram_handle *vram_op_reshape(struct vram_machine *m, struct vram_handle *x,
                                    const int64_t *want, int rank)
{
    int64_t shape[VRAM_MAX_RANK], stride[VRAM_MAX_RANK];
    memcpy(shape, want, (size_t)rank * sizeof *shape);
    resolve(m, x, shape, rank);
    if (vram_view_strides(x, shape, rank, stride))
        return view_as(m, x, shape, rank, stride);
    struct vram_handle *c = vram_op_clone(m, x);
    vram_contiguous_strides(shape, rank, stride);
    struct vram_handle *v = view_as(m, c, shape, rank, stride);
    vram_drop(m, c);
    return v;
}

static bool view(VRAM_OP)
{
    int64_t shape[VRAM_MAX_RANK];
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int rank = vram_arg_dims(m, row, a, 1, shape);
    return vram_result(vram_op_view(m, x, shape, rank), out);
}

static bool reshape(VRAM_OP)
{
    int64_t shape[VRAM_MAX_RANK];
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int rank = vram_arg_dims(m, row, a, 1, shape);
    return vram_result(vram_op_reshape(m, x, shape, rank), out);
}

/* ---- copies ------------------------------------------------------------------------------- */

static void pass_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(m);
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    out[0] = vram_hold(g[0]);
}

struct vram_handle *vram_op_clone(struct vram_machine *m, struct vram_handle *x)
{
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, pass_backward);
    return vram_end_one(m, n, vram_new(m, x->shape, x->rank, (enum vram_dtype)x->dtype, NULL),
                        false);
}

struct vram_handle *vram_op_contiguous(struct vram_machine *m, struct vram_handle *x)
{
    return vram_is_contiguous(x) ? vram_hold(x) : vram_op_clone(m, x);
}

static bool contiguous(VRAM_OP)
{
    return vram_result(vram_op_contiguous(m, vram_arg(m, row, a, 0)), out);
}

/* keeps the layout; what contiguous and reshape copy does not */
static bool clone(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, pass_backward);
    return vram_result(vram_end_one(m, n, vram_new_like(m, x, (enum vram_dtype)x->dtype), false), out);
}

/* ---- transpose, permute ------------------------------------------------------------------- */

static void permuted(const int64_t *from, const int64_t *order, int rank, int64_t *to)
{
    for (int i = 0; i < rank; i++)
        to[i] = from[order[i]];
}

static struct vram_handle *reordered(struct vram_machine *m, struct vram_handle *x,
                                     const int64_t *order)
{
    int64_t shape[VRAM_MAX_RANK], stride[VRAM_MAX_RANK];
    permuted(x->shape, order, x->rank, shape);
    permuted(x->stride, order, x->rank, stride);
    return vram_alias(m, x, shape, stride, x->rank, true);
}

struct vram_handle *vram_swapped(struct vram_machine *m, struct vram_handle *x, int a, int b)
{
    int64_t order[VRAM_MAX_RANK];
    for (int i = 0; i < x->rank; i++)
        order[i] = i == a ? b : i == b ? a : i;
    return reordered(m, x, order);
}

static void transpose_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_swapped(m, g[0], (int)n->arg[0], (int)n->arg[1]);
}

struct vram_handle *vram_op_transpose(struct vram_machine *m, struct vram_handle *x, int a, int b)
{
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, transpose_backward);
    if (n) {
        n->arg[0] = a;
        n->arg[1] = b;
    }
    return vram_end_one(m, n, vram_swapped(m, x, a, b), false);
}

static bool transpose(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int i = vram_arg_dim(m, row, a, 1, 0, x), j = vram_arg_dim(m, row, a, 2, 0, x);
    return vram_result(vram_op_transpose(m, x, i, j), out);
}

static void permute_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    int64_t order[VRAM_MAX_RANK];
    for (int i = 0; i < g[0]->rank; i++)
        order[i] = (n->arg[0] >> (4 * i)) & 15;
    out[0] = reordered(m, g[0], order);
}

static bool permute(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t order[VRAM_MAX_RANK], inverse = 0;
    bool seen[VRAM_MAX_RANK] = {false};
    if (vram_arg_dims(m, row, a, 1, order) != x->rank)
        vram_throw(m, VRAM_E_FORMAT, "permute needs every dimension once");
    for (int i = 0; i < x->rank; i++) {
        order[i] += order[i] < 0 ? x->rank : 0;
        if (order[i] < 0 || order[i] >= x->rank || seen[order[i]])
            vram_throw(m, VRAM_E_FORMAT, "permute needs every dimension once");
        seen[order[i]] = true;
        inverse |= (int64_t)i << (4 * order[i]);
    }
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, permute_backward);
    if (n)
        n->arg[0] = inverse;
    return vram_result(vram_end_one(m, n, reordered(m, x, order), false), out);
}

/* ---- slice, select ------------------------------------------------------------------------ */

/* zeros of the whole input */
static void whole_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, (enum vram_dtype)g[0]->dtype, NULL);
}

/* every step-th entry from start on, length of them */
static struct vram_handle *take(struct vram_machine *m, struct vram_handle *x, int d, int64_t start,
                                int64_t length, int64_t step)
{
    int64_t shape[VRAM_MAX_RANK], stride[VRAM_MAX_RANK], last = 0;
    bool fits = start >= 0 && length >= 0 && step >= 1 && start <= x->shape[d];
    if (fits && length > 0)
        fits = vram_mul_i64(length - 1, step, &last) && last < x->shape[d] - start;
    if (!fits)
        vram_throw(m, VRAM_E_RANGE, "a slice [%lld, +%lld) of %lld", (long long)start,
                   (long long)length, (long long)x->shape[d]);
    memcpy(shape, x->shape, sizeof shape);
    memcpy(stride, x->stride, sizeof stride);
    shape[d] = length;
    stride[d] *= step;
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, whole_backward);
    return vram_end_one(m, n, vram_alias(m, x, shape, stride, x->rank, true), false);
}

struct vram_handle *vram_op_slice(struct vram_machine *m, struct vram_handle *x, int d,
                                  int64_t start, int64_t length)
{
    return take(m, x, d, start, length, 1);
}

static void alias_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(m);
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    out[0] = vram_hold(g[0]);
}

/* x[:, a:b]: Python's indexing makes no slice of everything, only an alias; it looks at a as it is
 * written, so that a start from the end (x[:, -n:]) is always a slice */
static bool slice(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int d = vram_arg_dim(m, row, a, 1, 0, x);
    int64_t start = vram_arg_int(m, row, a, 2, 0), length = vram_arg_int(m, row, a, 3, 0);
    int64_t step = vram_arg_int(m, row, a, 4, 1);
    bool from_end = start < 0 && start >= -x->shape[d];
    if (from_end)
        start += x->shape[d];
    if (!from_end && start == 0 && length == x->shape[d] && step == 1) {
        struct vram_tape_node *n;
        vram_begin_plain(m, &n, &x, 1, alias_backward);
        x = vram_alias(m, x, x->shape, x->stride, x->rank, true);
        return vram_result(vram_end_one(m, n, x, false), out);
    }
    return vram_result(take(m, x, d, start, length, step), out);
}

static struct vram_handle *without_dim(struct vram_machine *m, struct vram_handle *x, int d)
{
    int64_t shape[VRAM_MAX_RANK], stride[VRAM_MAX_RANK];
    for (int i = 0, k = 0; i < x->rank; i++)
        if (i != d) {
            shape[k] = x->shape[i];
            stride[k++] = x->stride[i];
        }
    return vram_alias(m, x, shape, stride, x->rank - 1, true);
}

static bool select_(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int d = vram_arg_dim(m, row, a, 1, 0, x);
    int64_t i = vram_arg_int(m, row, a, 2, 0);
    if (i < -x->shape[d] || i >= x->shape[d])
        vram_throw(m, VRAM_E_RANGE, "entry %lld of %lld", (long long)i, (long long)x->shape[d]);
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, whole_backward);
    return vram_result(vram_end_one(m, n, without_dim(m, x, d), false), out);
}

/* ---- unsqueeze, squeeze, expand ----------------------------------------------------------- */

/* a look at x with a dimension of 1 before d */
static struct vram_handle *with_dim(struct vram_machine *m, struct vram_handle *x, int d)
{
    int64_t shape[VRAM_MAX_RANK], stride[VRAM_MAX_RANK];
    if (x->rank == VRAM_MAX_RANK)
        vram_throw(m, VRAM_E_LIMIT, "too many dimensions");
    for (int i = 0, k = 0; k <= x->rank; k++) {
        if (k == d) {
            shape[k] = 1;
            stride[k] = d < x->rank ? x->stride[d] * x->shape[d] : 1;
        } else {
            shape[k] = x->shape[i];
            stride[k] = x->stride[i++];
        }
    }
    return vram_alias(m, x, shape, stride, x->rank + 1, true);
}

/* views of the gradient as it lies */
static void unsqueeze_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = without_dim(m, g[0], (int)n->arg[0]);
}

static void squeeze_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = n->arg[0] < 0 ? vram_hold(g[0]) : with_dim(m, g[0], (int)n->arg[0]);
}

struct vram_handle *vram_op_unsqueeze(struct vram_machine *m, struct vram_handle *x, int d)
{
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, unsqueeze_backward);
    if (n)
        n->arg[0] = d;
    return vram_end_one(m, n, with_dim(m, x, d), false);
}

static bool unsqueeze(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t d = vram_arg_int(m, row, a, 1, 0);
    if (d < 0)
        d += x->rank + 1;
    if (d < 0 || d > x->rank)
        vram_throw(m, VRAM_E_RANGE, "no such dimension");
    return vram_result(vram_op_unsqueeze(m, x, (int)d), out);
}

static bool squeeze(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int d = vram_arg_dim(m, row, a, 1, 0, x);
    struct vram_tape_node *n;
    bool goes = x->shape[d] == 1;
    vram_begin_plain(m, &n, &x, 1, squeeze_backward);
    if (n)
        n->arg[0] = goes ? d : -1;
    struct vram_handle *o = goes ? without_dim(m, x, d)
                                 : vram_alias(m, x, x->shape, x->stride, x->rank, true);
    return vram_result(vram_end_one(m, n, o, false), out);
}

/* a sum over the expanded dimensions; nothing if none was */
static void expand_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    const struct vram_meta *meta = &n->meta[0];
    if (g[0]->rank == meta->rank && !memcmp(g[0]->shape, meta->shape, meta->rank * sizeof(int64_t)))
        out[0] = vram_hold(g[0]);
    else
        out[0] = vram_new(m, meta->shape, meta->rank, (enum vram_dtype)g[0]->dtype, NULL);
}

struct vram_handle *vram_op_expand(struct vram_machine *m, struct vram_handle *x,
                                   const int64_t *shape, int rank)
{
    int64_t stride[VRAM_MAX_RANK], n;
    int pad = rank - x->rank;
    if (pad < 0 || !vram_product_i64(shape, (size_t)rank, &n))
        vram_throw(m, VRAM_E_RANGE, "a shape that cannot be expanded to");
    for (int i = 0; i < rank; i++) {
        stride[i] = 0;
        if (i < pad)
            continue;
        if (x->shape[i - pad] != shape[i] && x->shape[i - pad] != 1)
            vram_throw(m, VRAM_E_CONFLICT, "size %lld cannot be expanded to %lld",
                       (long long)x->shape[i - pad], (long long)shape[i]);
        if (x->shape[i - pad] == shape[i])
            stride[i] = x->stride[i - pad];
    }
    struct vram_tape_node *node;
    vram_begin_plain(m, &node, &x, 1, expand_backward);
    return vram_end_one(m, node, vram_alias(m, x, shape, stride, rank, true), false);
}

static bool expand(VRAM_OP)
{
    int64_t shape[VRAM_MAX_RANK];
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int rank = vram_arg_dims(m, row, a, 1, shape);
    for (int i = 0; i < rank; i++)
        if (shape[i] == -1 && i >= rank - x->rank)
            shape[i] = x->shape[i - (rank - x->rank)];
    return vram_result(vram_op_expand(m, x, shape, rank), out);
}

/* ---- several views ------------------------------------------------------------------------ */

/* Where no gradient came there is a scalar zero, expanded. */
static void stack_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    struct vram_handle **zeros = vram_machine_alloc(m, n->nouts, sizeof *zeros);
    int i = 0, nzeros = 0;
    while (i < n->nouts - 1 && !g[i])
        i++;
    enum vram_dtype d = (enum vram_dtype)g[i]->dtype;
    for (i = 0; i < n->nouts; i++)
        if (!g[i])
            zeros[nzeros++] = vram_new_scalar(m, d);
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, d, NULL);
    while (nzeros)
        vram_drop(m, zeros[--nzeros]);
}

/* One node with n views as outputs; the list that holds them. */
static bool many(struct vram_machine *m, struct vram_handle *x, uint32_t n,
                 struct vram_handle **views, vram_backward_fn backward, struct vram_value *out)
{
    struct vram_tape_node *node;
    vram_begin_plain(m, &node, &x, 1, backward);
    vram_end(m, node, views, (int)n, NULL, 0);
    out->kind = VRAM_V_BOX;
    out->u.box = vram_box_new(m, VRAM_BOX_LIST, n);
    for (uint32_t i = 0; i < n; i++)
        vram_box_push(m, out->u.box, vram_tensor_value(views[i]));
    return false;
}

static uint32_t count_views(struct vram_machine *m, int64_t n)
{
    if (n < 1 || n > UINT16_MAX)
        vram_throw(m, VRAM_E_LIMIT, "%lld views at once", (long long)n);
    return (uint32_t)n;
}

static bool unbind(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int d = vram_arg_dim(m, row, a, 1, 0, x);
    uint32_t n = count_views(m, x->shape[d]);
    struct vram_handle **views = vram_machine_alloc(m, n, sizeof *views);
    for (uint32_t i = 0; i < n; i++)
        views[i] = without_dim(m, x, d);
    return many(m, x, n, views, stack_backward, out);
}

/* Outputs that got no gradient are filled with zeros first, then one cat of all. */
static void split_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    struct vram_handle *zeros[64];
    int nzeros = 0, first = 0;
    int64_t shape[VRAM_MAX_RANK];
    while (first < n->nouts - 1 && !g[first])
        first++;
    enum vram_dtype d = (enum vram_dtype)g[first]->dtype;
    memcpy(shape, n->meta[0].shape, sizeof shape);
    for (int i = 0; i < n->nouts && nzeros < 64; i++)
        if (!g[i]) {
            const int64_t *sizes = (const int64_t *)(uintptr_t)n->arg[1];
            shape[n->arg[0]] = sizes[i];
            zeros[nzeros++] = vram_new(m, shape, n->meta[0].rank, d, NULL);
        }
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, d, NULL);
    while (nzeros)
        vram_drop(m, zeros[--nzeros]);
}

/* split(x, sizes, dim): sizes is a list, or a number of equal parts' size */
static bool split(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int d = vram_arg_dim(m, row, a, 2, 0, x);
    int64_t shape[VRAM_MAX_RANK], total = 0;
    uint32_t n;
    if (a[1].kind == VRAM_V_BOX) {
        n = count_views(m, a[1].u.box->n);
    } else {
        int64_t size = vram_arg_int(m, row, a, 1, 0);
        n = count_views(m, size > 0 ? (x->shape[d] + size - 1) / size : 0);
    }
    int64_t *sizes = vram_machine_alloc(m, n, sizeof *sizes);
    struct vram_handle **views = vram_machine_alloc(m, n, sizeof *views);
    memcpy(shape, x->shape, sizeof shape);
    for (uint32_t i = 0; i < n; i++) {
        int64_t left = x->shape[d] - total;
        sizes[i] = a[1].kind == VRAM_V_BOX ? a[1].u.box->at[i].u.i
                   : a[1].u.i < left       ? a[1].u.i
                                           : left;
        if ((a[1].kind == VRAM_V_BOX && a[1].u.box->at[i].kind != VRAM_V_INT) || sizes[i] < 0 ||
            sizes[i] > left)
            vram_throw(m, VRAM_E_CONFLICT, "the parts do not fit into %lld", (long long)x->shape[d]);
        total += sizes[i];
        shape[d] = sizes[i];
        views[i] = vram_alias(m, x, shape, x->stride, x->rank, true);
    }
    if (total != x->shape[d])
        vram_throw(m, VRAM_E_CONFLICT, "the parts do not fill %lld", (long long)x->shape[d]);
    struct vram_tape_node *node;
    vram_begin_plain(m, &node, &x, 1, split_backward);
    if (node) {
        node->arg[0] = d;
        node->arg[1] = (int64_t)(uintptr_t)sizes;
    }
    vram_end(m, node, views, (int)n, NULL, 0);
    out->kind = VRAM_V_BOX;
    out->u.box = vram_box_new(m, VRAM_BOX_LIST, n);
    for (uint32_t i = 0; i < n; i++)
        vram_box_push(m, out->u.box, vram_tensor_value(views[i]));
    return false;
}

static const struct vram_op_row view_rows[] = {
    {"view", "x shape a? b? c? d? e? f? g? h?", "", "nothing",
     "nothing; backward a view, or a copy where the gradient's layout forbids one",
     "ATen computeStride", view, ""},
    {"reshape", "x shape a? b? c? d? e? f? g? h?", "", "nothing",
     "a copy where the layout forbids a view", "ATen reshape", reshape, ""},
    {"contiguous", "x", "", "nothing", "a copy unless contiguous", "ATen contiguous", contiguous,
     ""},
    {"clone", "x", "", "nothing", "a copy", "ATen clone", clone, ""},
    {"transpose", "x dim0 dim1", "", "nothing", "nothing", "derivatives.yaml transpose", transpose,
     ""},
    {"permute", "x dims a? b? c? d? e? f? g? h?", "", "nothing", "nothing",
     "derivatives.yaml permute", permute, ""},
    {"slice", "x dim start length step?", "", "nothing",
     "nothing; backward zeros of the whole input, nothing if it is taken whole from 0 on",
     "derivatives.yaml slice_backward, python_variable_indexing.cpp", slice, ""},
    {"select", "x dim index", "", "nothing", "nothing; backward zeros of the whole input",
     "derivatives.yaml select_backward", select_, ""},
    {"unsqueeze", "x dim", "", "nothing", "nothing", "derivatives.yaml unsqueeze", unsqueeze, ""},
    {"squeeze", "x dim", "", "nothing", "nothing", "derivatives.yaml squeeze", squeeze, ""},
    {"expand", "x shape a? b? c? d? e? f? g? h?", "", "nothing", "nothing; backward the sum",
     "derivatives.yaml expand", expand, ""},
    {"unbind", "x dim?", "", "nothing", "nothing; backward one stack", "derivatives.yaml unbind",
     unbind, ""},
    {"split", "x sizes dim", "", "nothing", "nothing; backward one cat of the whole",
     "derivatives.yaml split", split, ""},
};
const struct vram_op_family vram_ops_view = {view_rows, sizeof view_rows / sizeof *view_rows};
