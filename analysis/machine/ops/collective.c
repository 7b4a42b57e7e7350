/* SPDX-License-Identifier: Apache-2.0
 *
 * What ranks of a mesh tell each other (torch.distributed._functional_collectives and DTensor's
 * redistribute): results are new tensors, as out-of-place collectives make them.
 */
#include <string.h>

#include "base/math.h"
#include "ops.h"

/* Ranks of a collective, an argument of the op. */
static int64_t ranks_of(struct vram_machine *m, const struct vram_op_row *row, const struct vram_value *a, int i)
{
    int64_t n = vram_arg_int(m, row, a, i, 1);
    if (n < 1 || n > INT32_MAX)
        vram_throw(m, VRAM_E_RANGE, "%s over %lld ranks", row->name, (long long)n);
    return n;
}

static void as_it_is(VRAM_FORMULA)
{
    VRAM_UNUSED(m);
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    out[0] = vram_hold(g[0]);
}

static void reduced(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    out[0] = vram_new(m, g[0]->shape, g[0]->rank, (enum vram_dtype)g[0]->dtype, NULL);
}

/* partial → replicated; the gradient is that of every rank */
static bool all_reduce(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, as_it_is);
    return vram_result(
        vram_end_one(m, n, vram_new(m, x->shape, x->rank, (enum vram_dtype)x->dtype, NULL), false), out);
}

/* x itself, whose gradients are partial: they are summed */
static bool all_reduce_gradient(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, reduced);
    return vram_result(vram_end_one(m, n, vram_alias(m, x, x->shape, x->stride, x->rank, true), false), out);
}

static void reduced_in_place(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    VRAM_UNUSED(s);
    out[0] = vram_op_contiguous(m, g[0]);
}

static struct vram_handle *same(struct vram_machine *m, struct vram_handle *x, vram_backward_fn backward)
{
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, backward);
    return vram_end_one(m, n, vram_alias(m, x, x->shape, x->stride, x->rank, x->base != NULL), false);
}

static bool all_reduce_in_place(VRAM_OP) { return vram_result(same(m, vram_arg(m, row, a, 0), as_it_is), out); }

static bool all_reduce_gradient_in_place(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    return vram_result(x->requires_grad && m->grad ? same(m, x, reduced_in_place) : vram_hold(x), out);
}

/* ---- the last dimension, split over the ranks and whole ------------------------------------- */

/* The parts one behind another, as the collective has them, then joined where they belong. */
static struct vram_handle *gathered(struct vram_machine *m, struct vram_handle *x, int64_t ranks, int64_t width)
{
    int64_t shape[VRAM_MAX_RANK];
    int last = x->rank - 1;
    enum vram_dtype d = (enum vram_dtype)x->dtype;
    memcpy(shape, x->shape, sizeof shape);
    if (!vram_mul_i64(x->shape[0], ranks, &shape[0]))
        vram_throw(m, VRAM_E_RANGE, "too many elements");
    struct vram_handle *parts = vram_new(m, shape, x->rank, d, NULL);
    if (last == 0)
        return parts;
    shape[0] = x->shape[0];
    if (!vram_mul_i64(x->shape[last], ranks, &shape[last]) || width > shape[last])
        vram_throw(m, VRAM_E_CONFLICT, "%lld parts are less than the whole", (long long)ranks);
    struct vram_handle *whole = vram_new(m, shape, x->rank, d, NULL);
    vram_drop(m, parts);
    if (width == shape[last])
        return whole;
    shape[last] = width; /* the last rank's part was filled up */
    return vram_replace(m, &whole, vram_alias(m, whole, shape, whole->stride, whole->rank, true));
}

static void own_part(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, (enum vram_dtype)g[0]->dtype, NULL);
}

/* gather_last(x, ranks, width): x is this rank's part of the last dimension, which is width in all */
static bool gather_last(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t ranks = ranks_of(m, row, a, 1), width;
    if (!x->rank || !vram_mul_i64(x->shape[x->rank - 1], ranks, &width))
        vram_throw(m, VRAM_E_CONFLICT, "nothing to gather");
    width = vram_arg_int(m, row, a, 2, width);
    struct vram_tape_node *n;
    vram_begin_plain(m, &n, &x, 1, own_part);
    return vram_result(vram_end_one(m, n, gathered(m, x, ranks, width), false), out);
}

static void whole_again(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    struct vram_handle *x = vram_is_contiguous(g[0]) ? vram_hold(g[0]) : vram_op_clone(m, g[0]);
    out[0] = gathered(m, x, n->arg[0], n->meta[0].shape[n->meta[0].rank - 1]);
    vram_drop(m, x);
}

/* split_last(x, ranks): this rank's part of the last dimension, copied */
static bool split_last(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t ranks = ranks_of(m, row, a, 1), shape[VRAM_MAX_RANK];
    struct vram_tape_node *n;
    if (!x->rank)
        vram_throw(m, VRAM_E_CONFLICT, "nothing to split");
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = (shape[x->rank - 1] + ranks - 1) / ranks;
    vram_begin_plain(m, &n, &x, 1, whole_again);
    if (n)
        n->arg[0] = ranks;
    return vram_result(vram_end_one(m, n, vram_new(m, shape, x->rank, (enum vram_dtype)x->dtype, NULL), false),
                       out);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void like_input(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    out[0] = vram_new(m, n->meta[0].shape, n->meta[0].rank, (enum vram_dtype)g[0]->dtype, NULL);
}

/* As many rows as said, in a new tensor; backward as many as there were, in a new one. */
static bool other_rows(struct vram_machine *m, struct vram_handle *x, int64_t rows, struct vram_value *out)
{
    int64_t shape[VRAM_MAX_RANK];
    struct vram_tape_node *n;
    if (!x->rank || rows < 0)
        vram_throw(m, VRAM_E_CONFLICT, "there are no rows");
    memcpy(shape, x->shape, sizeof shape);
    shape[0] = rows;
    vram_begin_plain(m, &n, &x, 1, like_input);
    return vram_result(vram_end_one(m, n, vram_new(m, shape, x->rank, (enum vram_dtype)x->dtype, NULL), false),
                       out);
}

/* split_rows(x, ranks): this rank's slice, copied */
static bool split_rows(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t ranks = ranks_of(m, row, a, 1);
    return other_rows(m, x, x->rank ? (x->shape[0] + ranks - 1) / ranks : -1, out);
}

/* gather_rows(x, ranks): the slices of all */
static bool gather_rows(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t rows;
    if (!x->rank || !vram_mul_i64(x->shape[0], ranks_of(m, row, a, 1), &rows))
        vram_throw(m, VRAM_E_CONFLICT, "nothing to gather");
    return other_rows(m, x, rows, out);
}

/* all_to_all(x, rows): rows that other ranks sent */
static bool all_to_all(VRAM_OP)
{
    return other_rows(m, vram_arg(m, row, a, 0), vram_arg_int(m, row, a, 1, 0), out);
}

/* put_rows(x, places): empty_like(x) with x's rows put to their places (index_put_) */
static bool put_rows(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *places = vram_arg(m, row, a, 1), *y;
    struct vram_tape_node *n;
    y = vram_new_like(m, x, (enum vram_dtype)x->dtype);
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &places, 1, 0, like_input})) {
        vram_drop(m, y);
        return true;
    }
    return vram_result(vram_end_one(m, n, y, false), out);
}

static const struct vram_op_row collective_rows[] = {
    {"all_reduce", "x", "", "nothing", "a new tensor; backward nothing",
     "torch 2.9 _functional_collectives.all_reduce; DTensor Partial to Replicate", all_reduce, ""},
    {"as_partial", "x", "", "nothing", "a new tensor, a share of x; backward nothing",
     "DTensor Replicate to Partial", all_reduce, ""},
    {"all_reduce_gradient", "x", "", "nothing", "nothing; backward a new tensor",
     "DTensor.from_local: a Partial gradient becomes Replicate", all_reduce_gradient, ""},
    {"all_reduce_", "x", "", "nothing", "nothing: in place; backward nothing",
     "transformers distributed/parallel_utils.py _AllReduceForward", all_reduce_in_place, ""},
    {"all_reduce_gradient_", "x", "", "nothing", "nothing; backward in place, of a contiguous copy if need be",
     "transformers distributed/parallel_utils.py _AllReduceBackward", all_reduce_gradient_in_place, ""},
    {"split_rows", "x ranks", "", "nothing", "this rank's slice; backward the whole",
     "DTensor Replicate to Shard(0)", split_rows, ""},
    {"gather_rows", "x ranks", "", "nothing", "the slices of all; backward this rank's",
     "DTensor Shard(0) to Replicate", gather_rows, ""},
    {"all_to_all", "x rows", "", "nothing", "what others sent; backward what goes back",
     "torch 2.9 _functional_collectives.all_to_all_single_autograd", all_to_all, ""},
    {"put_rows", "x places", "", "the places", "a tensor like x; backward one", "derivatives.yaml index_put_",
     put_rows, ""},
    {"gather_last", "x ranks width?", "", "nothing", "the parts, then the whole; backward this rank's part",
     "DTensor Shard(-1) to Replicate: all_gather_tensor", gather_last, ""},
    {"split_last", "x ranks", "", "nothing", "this rank's part; backward the parts, then the whole",
     "DTensor Replicate to Shard(-1)", split_last, ""},
};
const struct vram_op_family vram_ops_collective = {collective_rows,
                                                   sizeof collective_rows / sizeof *collective_rows};
