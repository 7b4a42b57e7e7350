/* SPDX-License-Identifier: Apache-2.0
 *
 * Embedding, gathering, joining.
 */
#include <string.h>

#include "base/math.h"
#include "ops.h"

/* ---- embedding: a dense gradient of the whole table --------------------------------------- */

/* Rows of the table before it was split over ranks; 0 = it is not. */
static int64_t rows_in_all(const struct vram_machine *m, const struct vram_handle *w)
{
    const struct vram_param *p = w->param < m->tree->nparams ? &m->tree->params[w->param] : NULL;
    return p && p->whole && w->shape[0] ? (int64_t)(p->whole / (p->elements / (uint64_t)w->shape[0])) : 0;
}

/* The ids as places in this rank's part: what is outside is set to 0, in a copy
 * (torch/distributed/tensor/_ops/_embedding_ops.py). */
static struct vram_handle *own_places(struct vram_machine *m, struct vram_handle *ids)
{
    struct vram_handle *inside = vram_new_like(m, ids, (enum vram_dtype)ids->dtype);
    struct vram_handle *own = vram_new_like(m, ids, (enum vram_dtype)ids->dtype);
    vram_drop(m, inside);
    if (!m->card) /* the 0: on the host where there is a card */
        vram_drop(m, vram_new_scalar(m, (enum vram_dtype)ids->dtype));
    return own;
}

static void embedding_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, (enum vram_dtype)g[0]->dtype, NULL);
}

static bool embedding(VRAM_OP)
{
    struct vram_handle *w = vram_arg(m, row, a, 0), *ids = vram_arg(m, row, a, 1);
    int64_t shape[VRAM_MAX_RANK];
    if (w->rank != 2 || ids->rank == VRAM_MAX_RANK)
        vram_throw(m, VRAM_E_CONFLICT, "embedding needs a table and ids");
    memcpy(shape, ids->shape, sizeof shape);
    shape[ids->rank] = w->shape[1];
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&w, 1, &ids, 1, 0, embedding_backward}))
        return true;
    int64_t rows = rows_in_all(m, w);
    struct vram_handle *places = rows ? own_places(m, ids) : NULL;
    if (n && rows) /* every rank makes the gradient of the whole table */
        n->meta[0].shape[0] = rows;
    struct vram_handle *x = vram_new(m, shape, ids->rank + 1, (enum vram_dtype)w->dtype, NULL);
    vram_drop(m, places);
    return vram_result(vram_end_one(m, n, x, false), out);
}

/* ---- cat ---------------------------------------------------------------------------------- */

/* every input's gradient is a view of the incoming one */
static void cat_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    for (int i = 0; i < n->nedges; i++)
        out[i] = vram_needs(n, i) ? vram_alias(m, g[0], n->meta[i].shape, g[0]->stride,
                                               n->meta[i].rank, true)
                                  : NULL;
}

/* as promotion has it, step by step */
static enum vram_dtype common_dtype(struct vram_handle *const *xs, uint32_t n)
{
    struct vram_handle so_far = *xs[0];
    for (uint32_t i = 1; i < n; i++)
        so_far.dtype = (uint8_t)vram_promote(&so_far, xs[i]);
    return (enum vram_dtype)so_far.dtype;
}

static bool cat(VRAM_OP)
{
    if (a[0].kind != VRAM_V_BOX || a[0].u.box->kind == VRAM_BOX_RECORD || a[0].u.box->n == 0 ||
        a[0].u.box->n > UINT16_MAX)
        vram_throw(m, VRAM_E_FORMAT, "cat takes a list of tensors");
    struct vram_box *box = a[0].u.box;
    struct vram_handle *few[16], **xs = few;
    if (box->n > 16)
        xs = vram_machine_alloc(m, box->n, sizeof *xs);
    for (uint32_t i = 0; i < box->n; i++)
        xs[i] = vram_arg(m, row, box->at, (int)i);
    int d = vram_arg_dim(m, row, a, 1, 0, xs[0]);
    int64_t shape[VRAM_MAX_RANK];
    memcpy(shape, xs[0]->shape, sizeof shape);
    for (uint32_t i = 1; i < box->n; i++) {
        for (int k = 0; k < xs[0]->rank; k++)
            if (xs[i]->rank != xs[0]->rank || (k != d && xs[i]->shape[k] != shape[k]))
                vram_throw(m, VRAM_E_CONFLICT, "cat of tensors of different shapes");
        if (!vram_add_i64(shape[d], xs[i]->shape[d], &shape[d]))
            vram_throw(m, VRAM_E_RANGE, "cat of too many elements");
    }
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, xs, (int)box->n, cat_backward);
    return vram_result(
        vram_end_one(m, n, vram_new(m, shape, xs[0]->rank, common_dtype(xs, box->n), NULL), false), out);
}

/* ---- repeat ------------------------------------------------------------------------------- */

/* a sum for each new dimension, from the front, then one over the copies */
static void repeat_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    const struct vram_meta *meta = &n->meta[0];
    struct vram_handle *x = vram_hold(g[0]);
    enum vram_dtype d = (enum vram_dtype)x->dtype;
    if (meta->rank == x->rank && !memcmp(meta->shape, x->shape, (size_t)x->rank * sizeof *x->shape)) {
        out[0] = x; /* repeated once: nothing to sum */
        return;
    }
    while (x->rank > meta->rank)
        vram_replace(m, &x, vram_new(m, x->shape + 1, x->rank - 1, d, NULL));
    vram_replace(m, &x, vram_new(m, meta->shape, meta->rank, d, NULL));
    out[0] = x;
}

static bool repeat(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t times[VRAM_MAX_RANK], shape[VRAM_MAX_RANK];
    int rank = vram_arg_dims(m, row, a, 1, times), pad = rank - x->rank;
    if (pad < 0)
        vram_throw(m, VRAM_E_CONFLICT, "repeat needs a number for each dimension");
    for (int i = 0; i < rank; i++)
        if (times[i] < 0 || !vram_mul_i64(times[i], i < pad ? 1 : x->shape[i - pad], &shape[i]))
            vram_throw(m, VRAM_E_RANGE, "a repetition below zero or too large");
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, repeat_backward);
    return vram_result(
        vram_end_one(m, n, vram_new(m, shape, rank, (enum vram_dtype)x->dtype, NULL), false), out);
}

/* ---- stack -------------------------------------------------------------------------------- */

static void unstack_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    int64_t stride[VRAM_MAX_RANK];
    for (int i = 0, k = 0; i < g[0]->rank; i++)
        if (i != n->arg[0])
            stride[k++] = g[0]->stride[i];
    for (int i = 0; i < n->nedges; i++)
        out[i] = vram_needs(n, i)
                     ? vram_alias(m, g[0], n->meta[i].shape, stride, n->meta[i].rank, true)
                     : NULL;
}

/* tensors of one shape along a new dimension, counted in the result */
static bool stack(VRAM_OP)
{
    if (a[0].kind != VRAM_V_BOX || a[0].u.box->kind == VRAM_BOX_RECORD || a[0].u.box->n == 0 ||
        a[0].u.box->n > UINT16_MAX)
        vram_throw(m, VRAM_E_FORMAT, "stack takes a list of tensors");
    struct vram_box *box = a[0].u.box;
    struct vram_handle **xs = vram_machine_alloc(m, box->n, sizeof *xs);
    for (uint32_t i = 0; i < box->n; i++) {
        xs[i] = vram_arg(m, row, box->at, (int)i);
        if (xs[i]->rank != xs[0]->rank || xs[i]->rank == VRAM_MAX_RANK ||
            memcmp(xs[i]->shape, xs[0]->shape, xs[0]->rank * sizeof *xs[0]->shape))
            vram_throw(m, VRAM_E_CONFLICT, "a stack of tensors of different shapes");
    }
    int64_t shape[VRAM_MAX_RANK], at = vram_arg_int(m, row, a, 1, 0);
    int rank = xs[0]->rank + 1, d = (int)(at < 0 ? at + rank : at);
    if (at < -rank || at >= rank)
        vram_throw(m, VRAM_E_RANGE, "no dimension %lld", (long long)at);
    for (int i = 0; i < rank; i++)
        shape[i] = i == d ? box->n : xs[0]->shape[i - (i > d)];
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, xs, (int)box->n, unstack_backward);
    if (n)
        n->arg[0] = d;
    return vram_result(
        vram_end_one(m, n, vram_new(m, shape, rank, common_dtype(xs, box->n), NULL), false), out);
}

/* ---- masked_scatter ----------------------------------------------------------------------- */

/* masked_fill of the whole, then the source-sized gather; on a card masked_select makes index
 * tables of the selected elements first */
static void masked_scatter_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_needs(n, 0) ? vram_new(m, g[0]->shape, g[0]->rank, (enum vram_dtype)g[0]->dtype,
                                         NULL)
                              : NULL; /* a contiguous clone is filled */
    if (!vram_needs(n, 1)) {
        out[1] = NULL;
        return;
    }
    const struct vram_meta *meta = &n->meta[1];
    uint64_t elements = 1;
    for (int i = 0; i < meta->rank; i++)
        elements *= (uint64_t)meta->shape[i];
    struct vram_storage *tables =
        vram_workspace_begin(m, 0, 8 * 3 * elements, 8 * 3 * elements);
    out[1] = vram_new(m, meta->shape, meta->rank, (enum vram_dtype)g[0]->dtype, NULL);
    vram_workspace_end(m, tables);
}

static bool masked_scatter(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *mask = vram_arg(m, row, a, 1);
    struct vram_handle *source = vram_arg(m, row, a, 2), *xs[2] = {x, source};
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, 2, &mask, 1, 0, masked_scatter_backward}))
        return true;
    struct vram_handle *o = vram_new(m, x->shape, x->rank, (enum vram_dtype)x->dtype, NULL);
    /* an int64 prefix sum and a full bool mask inside the call (IndexKernel.cpp) */
    uint64_t elements = (uint64_t)vram_numel(x);
    struct vram_storage *full = vram_workspace_begin(m, elements, elements, elements);
    struct vram_storage *sums = vram_workspace_begin(m, 8 * elements, 8 * elements, 8 * elements);
    vram_workspace_end(m, sums);
    vram_workspace_end(m, full);
    return vram_result(vram_end_one(m, n, o, false), out);
}

/* ---- index: rows by int64 tensors --------------------------------------------------------- */

/* An index on the host goes to the card for the time of the call (TensorAdvancedIndexing.cpp). */
static void visit(struct vram_machine *m, int64_t rows)
{
    struct vram_handle *ids = NULL;
    if (m->card && rows)
        ids = vram_new(m, &rows, 1, VRAM_DT_I64, NULL);
    vram_drop(m, ids);
}

/* zeros of the source; a real run scatters into them, the oracle makes a second tensor */
static void index_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    const struct vram_meta *meta = &n->meta[0];
    enum vram_dtype d = (enum vram_dtype)g[0]->dtype;
    out[0] = vram_new(m, meta->shape, meta->rank, d, NULL);
    visit(m, n->arg[0]);
    if (!m->card)
        vram_replace(m, &out[0], vram_new(m, meta->shape, meta->rank, d, NULL));
}

/* index(x, shape, i, j ...): the result's shape is said, the indices are kept; without, the index of
 * the rows is on the host */
static bool index_op(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *ids[4];
    int64_t shape[VRAM_MAX_RANK];
    struct vram_value list[2] = {a[1]};
    if (a[1].kind != VRAM_V_BOX)
        vram_throw(m, VRAM_E_FORMAT, "index takes the result's shape as a tuple");
    int rank = vram_arg_dims(m, row, list, 0, shape), nids = 0;
    for (int i = 2; i < 6 && a[i].kind != VRAM_V_NONE; i++)
        ids[nids++] = vram_arg(m, row, a, i);
    int64_t rows = nids == 0 && rank > 0 ? shape[0] : 0;
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, ids, nids, 0, index_backward}))
        return true;
    if (n)
        n->arg[0] = rows;
    struct vram_handle *o = vram_new(m, shape, rank, (enum vram_dtype)x->dtype, NULL);
    visit(m, rows);
    return vram_result(vram_end_one(m, n, o, false), out);
}

/* ---- gather: one entry a place, along the last dimension ---------------------------------- */

static bool gather(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *places = vram_arg(m, row, a, 1);
    if (x->rank != places->rank || x->rank == 0)
        vram_throw(m, VRAM_E_CONFLICT, "gather needs places of as many dimensions as it has");
    struct vram_handle *save[2] = {places, x};
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, save, 2, 0, index_backward}))
        return true;
    struct vram_handle *o =
        vram_new(m, places->shape, places->rank, (enum vram_dtype)x->dtype, NULL);
    return vram_result(vram_end_one(m, n, o, false), out);
}

/* ---- copy_into: a part of a tensor is overwritten ----------------------------------------- */

/* CopySlices: a copy of the whole gradient, a clone of the part for the copy's own formula, which
 * casts it, and where the old x trained, zeros that the part is overwritten with */
static void copy_into_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    enum vram_dtype d = (enum vram_dtype)g[0]->dtype, own = (enum vram_dtype)n->meta[1].dtype;
    struct vram_handle *whole = vram_new(m, n->meta[0].shape, n->meta[0].rank, d, NULL);
    struct vram_handle *part = vram_new(m, n->meta[1].shape, n->meta[1].rank, d, NULL);
    struct vram_handle *zeros = vram_needs(n, 0) ? vram_new_like(m, part, d) : NULL;
    out[1] = !vram_needs(n, 1) ? NULL : own == d ? vram_hold(part) : vram_new_like(m, part, own);
    vram_drop(m, zeros);
    vram_drop(m, part);
    out[0] = vram_needs(n, 0) ? vram_hold(whole) : NULL;
    vram_drop(m, whole);
}

/* copy_into(x, start, y): x[..., start : start + n].copy_(y); x is returned as it is now */
static bool copy_into(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *y = vram_arg(m, row, a, 2), *xs[2] = {x, y};
    int64_t start = vram_arg_int(m, row, a, 1, 0), size = x->rank ? x->shape[x->rank - 1] : 0;
    if (x->rank != y->rank || x->rank == 0 || start < 0 || start > size ||
        y->shape[y->rank - 1] > size - start ||
        memcmp(x->shape, y->shape, (x->rank - 1u) * sizeof *x->shape))
        vram_throw(m, VRAM_E_CONFLICT, "a part that does not fit");
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, xs, 2, copy_into_backward);
    return vram_result(
        vram_end_one(m, n, vram_alias(m, x, x->shape, x->stride, x->rank, x->base != NULL), false),
        out);
}

static const struct vram_op_row index_rows[] = {
    {"embedding", "w ids", "", "the ids if the table trains", "the rows; backward a dense table",
     "derivatives.yaml embedding", embedding, ""},
    {"cat", "xs dim", "", "nothing", "one tensor; backward views of the gradient",
     "derivatives.yaml cat", cat, ""},
    {"repeat", "x n a? b? c? d? e? f? g? h?", "", "nothing", "a copy; backward the sum",
     "derivatives.yaml repeat", repeat, ""},
    {"stack", "xs dim", "", "nothing", "one tensor; backward views of the gradient",
     "derivatives.yaml stack", stack, ""},
    {"masked_scatter", "x mask source", "", "the mask",
     "a copy of x; inside, an int64 prefix sum and a full mask; backward masked_fill, then the "
     "source-sized gather",
     "ATen IndexKernel.cpp, derivatives.yaml", masked_scatter, ""},
    {"gather", "x places", "", "the places and x", "an entry a place; backward zeros of the source",
     "derivatives.yaml gather", gather, ""},
    {"copy_into", "x start y", "", "nothing",
     "nothing: a part of x; backward the whole, and the part once or twice",
     "torch/csrc/autograd/functions/tensor.cpp CopySlices", copy_into, ""},
    {"index", "x shape i? j? k? l?", "", "the indices, unless they are on the host",
     "the gathered rows; backward zeros of the source",
     "derivatives.yaml index.Tensor", index_op, ""},
};
const struct vram_op_family vram_ops_index = {index_rows, sizeof index_rows / sizeof *index_rows};
