/* SPDX-License-Identifier: Apache-2.0
 *
 * Constants, shapes as values, and what passes a value on: the roots of all shape arithmetic.
 */
#include <math.h>
#include <string.h>

#include "onnx/op.h"

static const struct vram_info *input(const struct vram_op *op, uint32_t i) { return i < op->n_in ? op->in[i] : NULL; }

/* ---- Constant ------------------------------------------------------------------------------ */

static int vector(struct vram_op *op, uint8_t dtype, uint32_t n)
{
    vram_dim d = vram_dim_int(op->dims, n);
    return vram_op_out_dims(op, 0, dtype, &d, 1);
}

static int constant_tensor(struct vram_op *op, const char *name)
{
    const struct vram_onnx_tensor *t;
    VRAM_TRY(vram_op_tensor(op, name, &t));
    vram_dim *dims = vram_op_dims(op, t->rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < t->rank; i++)
        dims[i] = vram_dim_int(op->dims, t->dims[i]);
    VRAM_TRY(vram_op_out_dims(op, 0, t->dtype, dims, t->rank));
    if (op->n_out)
        op->out[0].tensor = (uint32_t)(t - op->model->tensors.at);
    return VRAM_OK;
}

static int constant(struct vram_op *op)
{
    double x;
    int64_t i;
    const int64_t *ints;
    const double *floats;
    uint32_t n;
    if (vram_op_has(op, "value"))
        return constant_tensor(op, "value");
    if (vram_op_has(op, "sparse_value"))
        return constant_tensor(op, "sparse_value");
    if (vram_op_has(op, "value_int")) {
        VRAM_TRY(vram_op_int(op, "value_int", 0, &i));
        return vram_op_out_scalar(op, 0, VRAM_DT_I64);
    }
    if (vram_op_has(op, "value_float")) {
        VRAM_TRY(vram_op_float(op, "value_float", 0, &x));
        return vram_op_out_scalar(op, 0, VRAM_DT_F32);
    }
    if (vram_op_has(op, "value_ints")) {
        VRAM_TRY(vram_op_ints(op, "value_ints", &ints, &n));
        return vector(op, VRAM_DT_I64, n);
    }
    if (vram_op_has(op, "value_floats")) {
        VRAM_TRY(vram_op_floats(op, "value_floats", &floats, &n));
        return vector(op, VRAM_DT_F32, n);
    }
    if (vram_op_has(op, "value_string"))
        return vram_op_out_scalar(op, 0, VRAM_DT_STRING);
    if (vram_op_has(op, "value_strings")) {
        VRAM_TRY(vram_op_strings(op, "value_strings", &n));
        return vector(op, VRAM_DT_STRING, n);
    }
    return vram_op_fail(op, "the constant has no value");
}

/* A tensor's elements are fetched when somebody asks. */
static int constant_value(struct vram_op *op)
{
    double x = 0;
    int64_t i = 0;
    const int64_t *ints;
    const double *floats;
    uint32_t n = 0, k = 0;
    if (op->out[0].tensor || op->out[0].dtype == VRAM_DT_STRING)
        return VRAM_OK;
    VRAM_TRY(vram_op_int(op, "value_int", 0, &i));
    VRAM_TRY(vram_op_float(op, "value_float", 0, &x));
    VRAM_TRY(vram_op_ints(op, "value_ints", &ints, &n));
    VRAM_TRY(vram_op_floats(op, "value_floats", &floats, &k));
    struct vram_element *e = vram_op_elements(op, 0);
    if (!e)
        return VRAM_OK;
    for (uint32_t j = 0; j < n; j++)
        e[j] = vram_element_dim(vram_dim_int(op->dims, ints[j]));
    for (uint32_t j = 0; j < k; j++)
        e[j] = vram_element_of(op->dims, floats[j]);
    if (!op->out[0].rank)
        e[0] = vram_op_has(op, "value_int") ? vram_element_dim(vram_dim_int(op->dims, i))
                                            : vram_element_of(op->dims, x);
    return VRAM_OK;
}

/* ---- ConstantOfShape ----------------------------------------------------------------------- */

/* The element that fills; *t may be NULL: 0.0 */
static int filler(struct vram_op *op, const struct vram_onnx_tensor **t)
{
    VRAM_TRY(vram_op_tensor(op, "value", t));
    if (*t && (*t)->elements != 1)
        return vram_op_fail(op, "the filler has %llu elements", (unsigned long long)(*t)->elements);
    return VRAM_OK;
}

static int constant_of_shape(struct vram_op *op)
{
    const struct vram_info *in = op->in[0];
    const struct vram_onnx_tensor *t;
    const vram_dim *dims;
    uint32_t n;
    int64_t rank;
    VRAM_TRY(filler(op, &t));
    uint8_t dtype = t ? t->dtype : (uint8_t)VRAM_DT_F32;
    if (in->ranked && in->rank != 1)
        return vram_op_fail(op, "the shape has rank %u", in->rank);
    if (vram_op_value_dims(op, in, &dims, &n))
        return vram_op_out_dims(op, 0, dtype, dims, n);
    if (in->ranked && vram_dim_is_int(op->dims, in->dims[0], &rank) && rank <= VRAM_VALUE_ELEMENTS) {
        vram_dim *unknown = vram_op_dims(op, (uint32_t)rank);
        return unknown ? vram_op_out_dims(op, 0, dtype, unknown, (uint32_t)rank) : op->cx->error->code;
    }
    return vram_op_out(op, 0, dtype);
}

static int constant_of_shape_value(struct vram_op *op)
{
    const struct vram_onnx_tensor *t;
    struct vram_element fill = vram_element_dim(vram_dim_int(op->dims, 0));
    int64_t n;
    double x;
    VRAM_TRY(filler(op, &t));
    if (t && vram_onnx_integer(t, 0, &n))
        fill = vram_element_dim(vram_dim_int(op->dims, n));
    else if (t && vram_onnx_real(t, 0, &x))
        fill = vram_element_of(op->dims, x);
    else if (t)
        return VRAM_OK;
    struct vram_element *e = vram_op_elements(op, 0);
    for (uint32_t i = 0; e && i < op->out[0].elements; i++)
        e[i] = fill;
    return VRAM_OK;
}

/* ---- Shape, Size --------------------------------------------------------------------------- */

/* Axes that Shape gives: from, and how many. */
static int shape_part(struct vram_op *op, uint32_t *from, uint32_t *n)
{
    int64_t rank = op->in[0]->rank, start, end;
    VRAM_TRY(vram_op_int(op, "start", 0, &start));
    VRAM_TRY(vram_op_int(op, "end", rank, &end));
    start = start < 0 ? start + rank : start;
    end = end < 0 ? end + rank : end;
    start = start < 0 ? 0 : start > rank ? rank : start;
    end = end < 0 ? 0 : end > rank ? rank : end;
    *from = (uint32_t)start;
    *n = end > start ? (uint32_t)(end - start) : 0;
    return VRAM_OK;
}

static int shape(struct vram_op *op)
{
    uint32_t from, n;
    vram_dim unknown = VRAM_DIM_UNKNOWN;
    if (!op->in[0]->ranked)
        return vram_op_out_dims(op, 0, VRAM_DT_I64, &unknown, 1);
    VRAM_TRY(shape_part(op, &from, &n));
    return vector(op, VRAM_DT_I64, n);
}

static int shape_value(struct vram_op *op)
{
    uint32_t from, n;
    if (!op->in[0]->ranked)
        return VRAM_OK;
    VRAM_TRY(shape_part(op, &from, &n));
    struct vram_element *e = vram_op_elements(op, 0);
    for (uint32_t i = 0; e && i < n; i++)
        e[i] = vram_element_dim(op->in[0]->dims[from + i]);
    return VRAM_OK;
}

static int size(struct vram_op *op) { return vram_op_out_scalar(op, 0, VRAM_DT_I64); }

static int size_value(struct vram_op *op)
{
    struct vram_element *e = op->in[0]->ranked ? vram_op_elements(op, 0) : NULL;
    if (e)
        e[0] = vram_element_dim(vram_op_product(op, op->in[0]->dims, 0, op->in[0]->rank));
    return VRAM_OK;
}

/* ---- Identity, Cast ------------------------------------------------------------------------ */

static int identity(struct vram_op *op)
{
    if (op->n_out && op->in[0])
        op->out[0] = *op->in[0];
    return VRAM_OK;
}

static int to_dtype(struct vram_op *op, uint8_t *out)
{
    const char *name;
    int64_t n;
    if (op->version < 6) { /* the attribute was a string */
        VRAM_TRY(vram_op_string(op, "to", "", &name));
        *out = VRAM_DT_NONE;
        for (int d = 1; d < VRAM_DT_COUNT; d++)
            if (*vram_dtypes[d].onnx && !strcmp(vram_dtypes[d].onnx, name))
                *out = (uint8_t)d;
        return *out ? VRAM_OK : vram_op_fail(op, "attribute 'to' is no type");
    }
    VRAM_TRY(vram_op_need_int(op, "to", &n));
    *out = (uint8_t)(n > 0 && n < 256 ? vram_dtype_by_onnx((int)n) : VRAM_DT_NONE);
    return *out ? VRAM_OK : vram_op_fail(op, "attribute 'to' is %lld, which is no type", (long long)n);
}

static int cast(struct vram_op *op)
{
    uint8_t dtype;
    VRAM_TRY(to_dtype(op, &dtype));
    return vram_op_out_like(op, 0, dtype, op->in[0]);
}

static int cast_like(struct vram_op *op) { return vram_op_out_like(op, 0, op->in[1]->dtype, op->in[0]); }

/* n as it is in so many bits */
static int64_t wrap(int64_t n, const struct vram_dtype_row *row)
{
    if (row->bits >= 64 || row->bits <= 0)
        return n;
    uint64_t mask = (UINT64_C(1) << row->bits) - 1, low = (uint64_t)n & mask;
    bool is_signed = *row->name == 'i';
    return (int64_t)(is_signed && low >> (row->bits - 1) ? low | ~mask : low);
}

static struct vram_element unknown(void) { return (struct vram_element){.kind = VRAM_ELEMENT_UNKNOWN}; }

static struct vram_element cast_whole(struct vram_op *op, vram_dim d, const struct vram_dtype_row *row)
{
    int64_t n, low, high;
    if (vram_dim_is_int(op->dims, d, &n))
        return vram_element_dim(vram_dim_int(op->dims, row->kind == VRAM_KIND_BOOL ? n != 0 : wrap(n, row)));
    if (row->kind != VRAM_KIND_BOOL)
        return vram_element_dim(d);
    vram_dim_range(op->dims, d, &low, &high);
    return low > 0 || high < 0 ? vram_element_dim(vram_dim_int(op->dims, 1)) : unknown();
}

static struct vram_element cast_element(struct vram_op *op, struct vram_element e, uint8_t dtype)
{
    const struct vram_dtype_row *row = &vram_dtypes[dtype];
    int64_t low, high;
    if (e.kind == VRAM_ELEMENT_UNKNOWN || row->kind == VRAM_KIND_STRING || row->kind == VRAM_KIND_COMPLEX)
        return unknown();
    if (row->kind == VRAM_KIND_FLOAT)
        return e;
    if (e.kind == VRAM_ELEMENT_REAL) {
        if (row->kind == VRAM_KIND_BOOL)
            return vram_element_dim(vram_dim_int(op->dims, e.real < 0 || e.real > 0));
        if (!(e.real > -9e18 && e.real < 9e18)) /* what comes out is the machine's */
            return unknown();
        return cast_whole(op, vram_dim_int(op->dims, (int64_t)e.real), row);
    }
    if (e.den == 1)
        return cast_whole(op, e.num, row);
    if (row->kind == VRAM_KIND_BOOL)
        return cast_whole(op, e.num, row);
    vram_dim den = vram_dim_int(op->dims, e.den);
    vram_dim_range(op->dims, e.num, &low, &high); /* towards 0 */
    if (low >= 0)
        return cast_whole(op, vram_dim_floordiv(op->dims, e.num, den), row);
    return high <= 0 ? cast_whole(op, vram_dim_ceildiv(op->dims, e.num, den), row) : unknown();
}

static int cast_value(struct vram_op *op)
{
    const struct vram_info *in = input(op, 0);
    struct vram_element *e = in->value ? vram_op_elements(op, 0) : NULL;
    for (uint32_t i = 0; e && i < in->elements && i < op->out[0].elements; i++)
        e[i] = cast_element(op, in->value[i], op->out[0].dtype);
    return VRAM_OK;
}

static const struct vram_op_row rows[] = {
    {"Constant", 1, 0, 0, 1, 1, constant, constant_value, NULL},
    {"ConstantOfShape", 9, 1, 1, 1, 1, constant_of_shape, constant_of_shape_value, NULL},
    {"Shape", 1, 1, 1, 1, 1, shape, shape_value, NULL},
    {"Size", 1, 1, 1, 1, 1, size, size_value, NULL},
    {"Identity", 1, 1, 1, 1, 1, identity, NULL, NULL},
    {"Cast", 1, 1, 1, 1, 1, cast, cast_value, NULL},
    {"CastLike", 15, 2, 2, 1, 1, cast_like, cast_value, NULL},
};
const struct vram_op_family vram_onnx_ops_constant = {"", "constant", rows, sizeof rows / sizeof *rows};
