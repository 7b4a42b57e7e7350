/* SPDX-License-Identifier: Apache-2.0
 *
 * Slice: attributes, and inputs from version 10 on; sizes of slices whose bounds are expressions.
 */
#include <string.h>

#include "common.h"

/* ---- Slice ---- */

/* Exporters write "to the end" as one of these or more. */
#define FAR INT32_MAX

struct range {
    vram_dim start, end;
    int64_t step; /* 0 = not known */
};

/* A start or end of a forward slice within [0, size]; UNKNOWN when its sign is not known. */
static vram_dim clamp(struct vram_op *op, vram_dim at, vram_dim size)
{
    struct vram_dims *d = op->dims;
    vram_dim zero = vram_onnx_num(op, 0);
    int64_t n, low, high;
    if (at == VRAM_DIM_UNKNOWN || size == VRAM_DIM_UNKNOWN)
        return VRAM_DIM_UNKNOWN;
    if (vram_dim_is_int(d, at, &n) && !vram_dim_is_int(d, size, &low)) {
        if (n >= FAR)
            return size;
        if (n <= -(int64_t)FAR)
            return zero;
    }
    vram_dim_range(d, at, &low, &high);
    if (low >= 0)
        return vram_dim_min(d, at, size);
    if (high <= 0)
        return vram_dim_max(d, vram_dim_add(d, size, at), zero);
    return VRAM_DIM_UNKNOWN;
}

/* The same in numbers, where a step back may end before the first element. */
static int64_t clamp_back(int64_t at, int64_t size)
{
    if (at < 0)
        at = at < -size ? -1 : at + size;
    return at >= size ? size - 1 : at;
}

static vram_dim sliced_back(struct vram_op *op, const struct range *r, vram_dim size)
{
    int64_t start, end, n;
    uint64_t step = 0 - (uint64_t)r->step; /* the most negative number has no int64_t of its size */
    if (!vram_dim_is_int(op->dims, r->start, &start) || !vram_dim_is_int(op->dims, r->end, &end))
        return VRAM_DIM_UNKNOWN;
    if (vram_dim_is_int(op->dims, size, &n)) {
        int64_t span = clamp_back(start, n) - clamp_back(end, n);
        return vram_onnx_num(op, span > 0 ? (int64_t)(((uint64_t)span - 1) / step) + 1 : 0);
    }
    if ((start == -1 || start >= FAR) && end <= -(int64_t)FAR && step <= INT64_MAX)
        return vram_dim_ceildiv(op->dims, size, vram_onnx_num(op, (int64_t)step));
    return VRAM_DIM_UNKNOWN;
}

/* How far it is from start to end, going forwards. */
static vram_dim span_of(struct vram_op *op, const struct range *r, vram_dim size)
{
    struct vram_dims *d = op->dims;
    vram_dim zero = vram_onnx_num(op, 0), end = clamp(op, r->end, size);
    int64_t low, high;
    if (end == size && end != VRAM_DIM_UNKNOWN && r->start != VRAM_DIM_UNKNOWN) {
        /* to the end: the short forms of size − min(start, size) and size − max(size + start, 0) */
        vram_dim_range(d, r->start, &low, &high);
        if (low >= 0)
            return vram_dim_max(d, vram_dim_sub(d, size, r->start), zero);
        if (high <= 0 && low > -(int64_t)FAR)
            return vram_dim_min(d, vram_dim_sub(d, zero, r->start), size);
    }
    return vram_dim_max(d, vram_dim_sub(d, end, clamp(op, r->start, size)), zero);
}

/* Size of an axis behind the slice, or a fresh one up to the size before. */
static vram_dim sliced(struct vram_op *op, const struct range *r, vram_dim size)
{
    struct vram_dims *d = op->dims;
    vram_dim n = VRAM_DIM_UNKNOWN;
    if (r->step < 0)
        n = sliced_back(op, r, size);
    if (r->step > 0)
        n = vram_dim_ceildiv(d, span_of(op, r, size), vram_onnx_num(op, r->step));
    return n == VRAM_DIM_UNKNOWN ? vram_op_fresh(op, "slice", 0, size) : n;
}

/* What is sliced: axis by axis; NULL where nothing is known about an axis. */
struct slices {
    uint32_t n;
    uint32_t *axis;
    struct range *range;
};

static int alloc_slices(struct vram_op *op, struct slices *s, uint32_t n)
{
    s->n = n;
    s->axis = vram_arena_array(op->cx->arena, n, sizeof *s->axis);
    s->range = vram_arena_array(op->cx->arena, n, sizeof *s->range);
    return s->axis && s->range ? 0 : vram_fail_memory(op->cx);
}

static int slice_axes(struct vram_op *op, struct slices *s, const int64_t *axes, uint32_t rank)
{
    if (!axes && s->n > rank)
        return vram_op_fail(op, "%u starts for rank %u", s->n, rank);
    bool *seen = vram_onnx_flags(op, rank);
    if (!seen)
        return op->cx->error->code;
    if (axes)
        VRAM_TRY(vram_onnx_axes(op, "axes", axes, s->n, rank, seen));
    for (uint32_t i = 0; i < s->n; i++) {
        s->axis[i] = i;
        if (axes)
            VRAM_TRY(vram_op_axis(op, "axes", axes[i], rank, &s->axis[i]));
    }
    return 0;
}

static int slices_of_attributes(struct vram_op *op, struct slices *s, uint32_t rank)
{
    const int64_t *starts, *ends, *axes;
    uint32_t n, n_ends, n_axes;
    if (!vram_op_has(op, "starts") || !vram_op_has(op, "ends"))
        return vram_op_fail(op, "attribute '%s' is missing",
                            vram_op_has(op, "starts") ? "ends" : "starts");
    VRAM_TRY(vram_op_ints(op, "starts", &starts, &n));
    VRAM_TRY(vram_op_ints(op, "ends", &ends, &n_ends));
    VRAM_TRY(vram_op_ints(op, "axes", &axes, &n_axes));
    if (n != n_ends || (axes && n != n_axes))
        return vram_op_fail(op, "%u starts, %u ends", n, n_ends);
    VRAM_TRY(alloc_slices(op, s, n));
    for (uint32_t i = 0; i < n; i++)
        s->range[i] = (struct range){vram_onnx_num(op, starts[i]), vram_onnx_num(op, ends[i]), 1};
    return slice_axes(op, s, axes, rank);
}

/* Dims of one of the inputs; NULL when they are not known.  Their number has to be n, or sets it.
 */
static int slice_input(struct vram_op *op, uint32_t i, const char *name, const vram_dim **out,
                       uint32_t *n)
{
    const struct vram_info *x = vram_onnx_in(op, i);
    uint32_t given;
    *out = NULL;
    if (!x)
        return 0;
    VRAM_TRY(vram_onnx_rank(op, i, 1, 1));
    if (!vram_op_value_dims(op, x, out, &given)) {
        *out = NULL;
        if (!vram_onnx_length(op, x, &given))
            return 0;
    }
    if (*n != UINT32_MAX && *n != given)
        return vram_op_fail(op, "%u starts and %u %s", *n, given, name);
    *n = given;
    return 0;
}

/* s->axis stays NULL when not even the axes are known. */
static int slices_of_inputs(struct vram_op *op, struct slices *s, uint32_t rank)
{
    const vram_dim *starts, *ends, *axes, *steps;
    const int64_t *numbers = NULL;
    uint32_t n = UINT32_MAX, n_axes;
    s->axis = NULL;
    VRAM_TRY(slice_input(op, 1, "starts", &starts, &n));
    VRAM_TRY(slice_input(op, 2, "ends", &ends, &n));
    VRAM_TRY(slice_input(op, 3, "axes", &axes, &n));
    VRAM_TRY(slice_input(op, 4, "steps", &steps, &n));
    if (vram_onnx_in(op, 3) && !vram_op_value_ints(op, op->in[3], &numbers, &n_axes))
        return 0;
    if (n == UINT32_MAX)
        return 0;
    VRAM_TRY(alloc_slices(op, s, n));
    for (uint32_t i = 0; i < n; i++) {
        struct range *r = &s->range[i];
        r->start = starts ? starts[i] : VRAM_DIM_UNKNOWN;
        r->end = ends ? ends[i] : VRAM_DIM_UNKNOWN;
        r->step = vram_onnx_in(op, 4) ? 0 : 1;
        if (steps && vram_dim_is_int(op->dims, steps[i], &r->step) && r->step == 0)
            return vram_op_fail(op, "a step of 0");
    }
    return slice_axes(op, s, numbers, rank);
}

static int slices_of(struct vram_op *op, struct slices *s, uint32_t rank)
{
    return op->version < 10 && op->node->domain == 0 ? slices_of_attributes(op, s, rank)
                                                     : slices_of_inputs(op, s, rank);
}

static int slice(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    struct slices s;
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    VRAM_TRY(slices_of(op, &s, x->rank));
    if (!s.axis)
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < s.n; i++)
        dims[s.axis[i]] = sliced(op, &s.range[i], x->dims[s.axis[i]]);
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int value_slice(struct vram_op *op)
{
    struct vram_onnx_grid x, y;
    struct slices s;
    struct vram_element *e;
    int64_t at[VRAM_ONNX_VALUE_RANK], start, first[VRAM_ONNX_VALUE_RANK] = {0};
    int64_t step[VRAM_ONNX_VALUE_RANK];
    if (!vram_onnx_value(op, 0, &x) || !vram_onnx_grid(op, &op->out[0], &y))
        return 0;
    VRAM_TRY(slices_of(op, &s, x.rank));
    for (uint32_t k = 0; k < x.rank; k++)
        step[k] = 1;
    if (!s.axis)
        return 0;
    for (uint32_t i = 0; i < s.n; i++) {
        int64_t size = x.dim[s.axis[i]];
        if (s.range[i].step == 0 || !vram_dim_is_int(op->dims, s.range[i].start, &start))
            return 0;
        step[s.axis[i]] = s.range[i].step;
        if (s.range[i].step < 0)
            first[s.axis[i]] = clamp_back(start, size);
        else
            first[s.axis[i]] = start >= 0 ? start : start < -size ? 0 : start + size;
    }
    if (!(e = vram_op_elements(op, 0)))
        return 0;
    for (int64_t i = 0; i < y.n; i++) {
        int64_t from = 0;
        vram_onnx_at(&y, i, at);
        for (uint32_t k = 0; k < x.rank; k++)
            from += (first[k] + (at[k] ? at[k] * step[k] : 0)) * x.stride[k];
        e[i] = op->in[0]->value[from];
    }
    return 0;
}

static const struct vram_op_row rows[] = {
    {"Slice", 1, 1, 1, 1, 1, slice, value_slice, "starts and ends are attributes"},
    {"Slice", 10, 3, 5, 1, 1, slice, value_slice, NULL},
};
VRAM_ONNX_FAMILY(slice, "", "slice", rows);
