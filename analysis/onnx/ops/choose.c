/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that choose elements by what they are: where the data say how many, the size is a fresh one.
 */
#include <string.h>

#include "common.h"

/* How many elements of input i are not zero; −1 when not all of them are decided. */
static int64_t count_true(struct vram_op *op, uint32_t i)
{
    struct vram_onnx_grid g;
    int64_t n = 0;
    if (!vram_onnx_value(op, i, &g))
        return -1;
    for (int64_t k = 0; k < g.n; k++) {
        enum vram_truth t = vram_element_is_true(op, vram_op_value(op, op->in[i])[k]);
        if (t == VRAM_MAYBE)
            return -1;
        n += t == VRAM_TRUE;
    }
    return n;
}

static int nonzero(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    vram_dim dims[2] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    int64_t n = count_true(op, 0);
    vram_dim most = VRAM_DIM_UNKNOWN;
    if (vram_onnx_ranked(x)) {
        dims[0] = vram_onnx_num(op, x->rank);
        most = vram_op_product(op, x->dims, 0, x->rank);
    }
    dims[1] = n >= 0 ? vram_onnx_num(op, n) : vram_op_fresh(op, "nonzero", 0, most);
    return vram_op_out_dims(op, 0, VRAM_DT_I64, dims, 2);
}

static int value_nonzero(struct vram_op *op)
{
    struct vram_onnx_grid x;
    struct vram_element *e;
    int64_t n = count_true(op, 0), found = 0, at[VRAM_ONNX_VALUE_RANK];
    if (n < 0 || !vram_onnx_value(op, 0, &x) || !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < x.n; i++) {
        if (vram_element_is_true(op, op->in[0]->value[i]) != VRAM_TRUE)
            continue;
        vram_onnx_at(&x, i, at);
        for (uint32_t k = 0; k < x.rank; k++)
            e[k * n + found] = vram_element_dim(vram_onnx_num(op, at[k]));
        found++;
    }
    return 0;
}

static int compress(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t n = count_true(op, 1);
    uint32_t axis;
    VRAM_TRY(vram_onnx_rank(op, 1, 1, 1));
    if (!vram_op_has(op, "axis")) {
        vram_dim most =
            vram_onnx_ranked(x) ? vram_op_product(op, x->dims, 0, x->rank) : VRAM_DIM_UNKNOWN;
        vram_dim d = n >= 0 ? vram_onnx_num(op, n) : vram_op_fresh(op, "compress", 0, most);
        return vram_op_out_dims(op, 0, x->dtype, &d, 1);
    }
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    VRAM_TRY(vram_onnx_axis_attr(op, 0, x->rank, &axis));
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[axis] = n >= 0 ? vram_onnx_num(op, n) : vram_op_fresh(op, "compress", 0, x->dims[axis]);
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

/* How many different numbers input 0 has; −1 when not all are known. */
static int64_t distinct(struct vram_op *op, double *sorted)
{
    struct vram_onnx_grid g;
    int64_t n = 0;
    double x;
    if (!vram_onnx_value(op, 0, &g))
        return -1;
    for (int64_t i = 0; i < g.n; i++) {
        int64_t k = n;
        if (!vram_element_number(op, vram_op_value(op, op->in[0])[i], &x))
            return -1;
        while (k > 0 && sorted[k - 1] > x)
            k--;
        if (k > 0 && sorted[k - 1] == x)
            continue;
        memmove(sorted + k + 1, sorted + k, (size_t)(n - k) * sizeof *sorted);
        sorted[k] = x;
        n++;
    }
    return n;
}

static int unique(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    double sorted[VRAM_VALUE_ELEMENTS + 1];
    bool flat = !vram_op_has(op, "axis") || (vram_onnx_ranked(x) && x->rank == 1);
    vram_dim all = VRAM_DIM_UNKNOWN;
    uint32_t axis = 0;
    if (vram_op_has(op, "axis") && vram_onnx_ranked(x))
        VRAM_TRY(vram_onnx_axis_attr(op, 0, x->rank, &axis));
    if (vram_onnx_ranked(x))
        all = flat ? vram_op_product(op, x->dims, 0, x->rank) : x->dims[axis];
    int64_t known = flat ? distinct(op, sorted) : -1;
    vram_dim n = known >= 0 ? vram_onnx_num(op, known) : vram_op_fresh(op, "unique", 0, all);
    VRAM_TRY(vram_op_out_dims(op, 1, VRAM_DT_I64, &n, 1));
    VRAM_TRY(vram_op_out_dims(op, 2, VRAM_DT_I64, &all, 1));
    VRAM_TRY(vram_op_out_dims(op, 3, VRAM_DT_I64, &n, 1));
    if (flat)
        return vram_op_out_dims(op, 0, x->dtype, &n, 1);
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[axis] = n;
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int value_unique(struct vram_op *op)
{
    double sorted[VRAM_VALUE_ELEMENTS + 1];
    int64_t order, n = distinct(op, sorted);
    struct vram_element *e;
    VRAM_TRY(vram_op_int(op, "sorted", 1, &order));
    if (n < 0 || !order || !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < n && (uint32_t)i < op->out[0].elements; i++)
        e[i] = sorted[i] == (double)(int64_t)sorted[i]
                   ? vram_element_dim(vram_onnx_num(op, (int64_t)sorted[i]))
                   : vram_element_real(sorted[i]);
    return 0;
}

/* ---- TopK, OneHot, Trilu ---- */

static int top_k(struct vram_op *op, vram_dim k)
{
    const struct vram_info *x = op->in[0];
    int64_t n, size;
    uint32_t axis;
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(x)) {
        VRAM_TRY(vram_op_out(op, 1, VRAM_DT_I64));
        return vram_op_out(op, 0, x->dtype);
    }
    VRAM_TRY(vram_onnx_axis_attr(op, -1, x->rank, &axis));
    if (vram_dim_is_int(op->dims, k, &n) && n < 0)
        return vram_op_fail(op, "K is %lld", (long long)n);
    if (vram_dim_is_int(op->dims, k, &n) && vram_dim_is_int(op->dims, x->dims[axis], &size) &&
        n > size)
        return vram_op_fail(op, "K is %lld of %lld", (long long)n, (long long)size);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[axis] = k == VRAM_DIM_UNKNOWN ? vram_op_fresh(op, "topk", 0, x->dims[axis]) : k;
    VRAM_TRY(vram_op_out_dims(op, 1, VRAM_DT_I64, dims, x->rank));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int top_k_attribute(struct vram_op *op)
{
    int64_t k;
    VRAM_TRY(vram_onnx_need_from(op, "k", 1, &k));
    return top_k(op, vram_onnx_num(op, k));
}

static int top_k_input(struct vram_op *op)
{
    const vram_dim *k;
    uint32_t n;
    VRAM_TRY(vram_onnx_rank(op, 1, 0, 1));
    return top_k(op, vram_op_value_dims(op, op->in[1], &k, &n) && n == 1 ? k[0] : VRAM_DIM_UNKNOWN);
}

/* Of numbers in one row. */
static int value_top_k(struct vram_op *op)
{
    struct vram_onnx_grid x, y;
    struct vram_element *e, *where;
    int64_t largest;
    double value[VRAM_VALUE_ELEMENTS];
    VRAM_TRY(vram_op_int(op, "largest", 1, &largest));
    if (!vram_onnx_value(op, 0, &x) || x.rank != 1 || op->n_out < 2 ||
        !vram_onnx_grid(op, &op->out[0], &y) || y.n > x.n)
        return 0;
    for (int64_t i = 0; i < x.n; i++)
        if (!vram_element_number(op, op->in[0]->value[i], &value[i]))
            return 0;
    bool *taken = vram_onnx_flags(op, (uint32_t)x.n);
    if (!taken || !(e = vram_op_elements(op, 0)) || !(where = vram_op_elements(op, 1)))
        return op->cx->error->code;
    for (int64_t k = 0; k < y.n; k++) {
        int64_t best = -1;
        for (int64_t i = 0; i < x.n; i++)
            if (!taken[i] &&
                (best < 0 || (largest ? value[i] > value[best] : value[i] < value[best])))
                best = i;
        taken[best] = true;
        e[k] = op->in[0]->value[best];
        where[k] = vram_element_dim(vram_onnx_num(op, best));
    }
    return 0;
}

static int one_hot(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    uint8_t dtype = vram_onnx_in_dtype(op, 2);
    const vram_dim *depth;
    uint32_t axis, n;
    int64_t size;
    VRAM_TRY(vram_onnx_rank(op, 1, 0, 1));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, dtype);
    VRAM_TRY(vram_onnx_axis_attr(op, -1, x->rank + 1, &axis));
    vram_dim *dims = vram_op_dims(op, x->rank + 1);
    if (!dims)
        return op->cx->error->code;
    vram_dim d =
        vram_op_value_dims(op, op->in[1], &depth, &n) && n == 1 ? depth[0] : VRAM_DIM_UNKNOWN;
    if (vram_dim_is_int(op->dims, d, &size) && size < 0)
        return vram_op_fail(op, "a depth of %lld", (long long)size);
    if (d == VRAM_DIM_UNKNOWN)
        d = vram_op_fresh(op, "depth", 0, VRAM_DIM_UNKNOWN);
    for (uint32_t i = 0, k = 0; i <= x->rank; i++)
        dims[i] = i == axis ? d : x->dims[k++];
    return vram_op_out_dims(op, 0, dtype, dims, x->rank + 1);
}

/* Of numbers: the second value where an index says so, the first elsewhere; below 0 from the end. */
static int value_one_hot(struct vram_op *op)
{
    struct vram_onnx_grid x, v, y;
    struct vram_element *e;
    int64_t at[VRAM_ONNX_VALUE_RANK], n;
    uint32_t axis;
    if (!vram_onnx_value(op, 0, &x) || !vram_onnx_value(op, 2, &v) || v.n != 2 ||
        !vram_onnx_grid(op, &op->out[0], &y))
        return 0;
    VRAM_TRY(vram_onnx_axis_attr(op, -1, y.rank, &axis));
    if (!(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < y.n; i++) {
        int64_t from = 0;
        vram_onnx_at(&y, i, at);
        for (uint32_t k = 0, d = 0; k < y.rank; k++)
            if (k != axis)
                from += at[k] * x.stride[d++];
        e[i] = vram_element_unknown;
        if (vram_element_whole(op, op->in[0]->value[from], &n))
            e[i] = op->in[2]->value[n == at[axis] || n == at[axis] - y.dim[axis]];
    }
    return 0;
}

static int trilu(struct vram_op *op)
{
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    return vram_onnx_like(op);
}

static int value_trilu(struct vram_op *op)
{
    struct vram_onnx_grid x;
    struct vram_element *e;
    int64_t upper, k = 0, at[VRAM_ONNX_VALUE_RANK];
    VRAM_TRY(vram_op_int(op, "upper", 1, &upper));
    if (!vram_onnx_value(op, 0, &x) || x.rank < 2 ||
        (vram_onnx_in(op, 1) && !vram_op_value_int(op, op->in[1], &k)) ||
        !(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < x.n; i++) {
        vram_onnx_at(&x, i, at);
        int64_t off = at[x.rank - 1] - at[x.rank - 2];
        bool kept = upper ? off >= k : off <= k;
        e[i] = kept ? op->in[0]->value[i] : vram_element_dim(vram_onnx_num(op, 0));
    }
    return 0;
}

static int reverse_sequence(struct vram_op *op)
{
    VRAM_TRY(vram_onnx_rank(op, 0, 2, VRAM_ONNX_ANY));
    VRAM_TRY(vram_onnx_rank(op, 1, 1, 1));
    return vram_onnx_like(op);
}

static const struct vram_op_row rows[] = {
    {"NonZero", 9, 1, 1, 1, 1, nonzero, value_nonzero, "as many columns as the data says"},
    {"Compress", 9, 2, 2, 1, 1, compress, NULL, "as many as the condition says"},
    {"Unique", 11, 1, 1, 1, 4, unique, value_unique, "as many as the data says"},
    {"TopK", 1, 1, 1, 2, 2, top_k_attribute, value_top_k, "k is an attribute"},
    {"TopK", 10, 2, 2, 2, 2, top_k_input, value_top_k, NULL},
    {"OneHot", 9, 3, 3, 1, 1, one_hot, value_one_hot, NULL},
    {"Trilu", 14, 1, 2, 1, 1, trilu, value_trilu, NULL},
    {"ReverseSequence", 10, 2, 2, 1, 1, reverse_sequence, NULL, NULL},
};
VRAM_ONNX_FAMILY(choose, "", "choose", rows);
