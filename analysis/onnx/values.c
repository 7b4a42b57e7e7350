/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of values that are known: of constants, which are fetched on demand, and of what operators
 * make of them.
 */
#include <string.h>

#include "onnx/pass.h"

/* ---- constants ----------------------------------------------------------------------------- */

int vram_infer_tensor(struct vram_infer *pass, uint32_t tensor, struct vram_info *out)
{
    const struct vram_onnx_tensor *t = &pass->model->tensors.at[tensor];
    vram_dim *dims = vram_arena_array(pass->cx->arena, t->rank, sizeof *dims);
    if (!dims)
        return vram_fail_memory(pass->cx);
    for (uint32_t i = 0; i < t->rank; i++)
        dims[i] = vram_dim_int(pass->dims, t->dims[i]);
    *out = (struct vram_info){.kind = VRAM_ONNX_TENSOR, .dtype = t->dtype, .ranked = true, .rank = t->rank,
                              .dims = dims, .tensor = tensor};
    return VRAM_OK;
}

static struct vram_element element(struct vram_infer *pass, const struct vram_onnx_tensor *t, uint64_t i)
{
    int64_t n;
    double x;
    if (vram_onnx_integer(t, i, &n))
        return vram_element_dim(vram_dim_int(pass->dims, n));
    if (!vram_onnx_real(t, i, &x))
        return (struct vram_element){.kind = VRAM_ELEMENT_UNKNOWN};
    return vram_element_of(pass->dims, x);
}

int vram_infer_fetch(struct vram_infer *pass, const struct vram_info *info)
{
    if (!info || info->value || !info->tensor)
        return VRAM_OK;
    const struct vram_onnx_tensor *t = &pass->model->tensors.at[info->tensor];
    if (!t->data || t->sparse || t->elements > VRAM_VALUE_ELEMENTS)
        return VRAM_OK;
    struct vram_element *e = vram_arena_array(pass->cx->arena, (size_t)t->elements, sizeof *e);
    if (!e)
        return vram_fail_memory(pass->cx);
    for (uint64_t i = 0; i < t->elements; i++)
        e[i] = element(pass, t, i);
    struct vram_info *own = (struct vram_info *)(uintptr_t)info; /* infos are the pass's */
    own->value = e;
    own->elements = (uint32_t)t->elements;
    return VRAM_OK;
}

/* ---- asked by operators -------------------------------------------------------------------- */

const struct vram_element *vram_op_value(struct vram_op *op, const struct vram_info *in)
{
    if (!in)
        return NULL;
    return vram_infer_fetch(op->pass, in) ? NULL : in->value;
}

struct vram_element vram_element_dim(vram_dim d)
{
    if (!d)
        return (struct vram_element){.kind = VRAM_ELEMENT_UNKNOWN};
    return (struct vram_element){.kind = VRAM_ELEMENT_RATIO, .num = d, .den = 1};
}

struct vram_element vram_element_real(double x)
{
    return (struct vram_element){.kind = VRAM_ELEMENT_REAL, .real = x};
}

struct vram_element vram_element_of(struct vram_dims *dims, double x)
{
    if (x >= -1e15 && x <= 1e15 && !((double)(int64_t)x < x) && !((double)(int64_t)x > x))
        return vram_element_dim(vram_dim_int(dims, (int64_t)x));
    return vram_element_real(x);
}

bool vram_op_value_dims(struct vram_op *op, const struct vram_info *in, const vram_dim **out, uint32_t *n)
{
    const struct vram_element *e = vram_op_value(op, in);
    if (!e || !in->ranked || in->rank > 1)
        return false;
    vram_dim *dims = vram_op_dims(op, in->elements);
    if (!dims)
        return false;
    for (uint32_t i = 0; i < in->elements; i++)
        dims[i] = e[i].kind == VRAM_ELEMENT_RATIO && e[i].den == 1 ? e[i].num : VRAM_DIM_UNKNOWN;
    *out = dims;
    *n = in->elements;
    return true;
}

bool vram_op_value_ints(struct vram_op *op, const struct vram_info *in, const int64_t **out, uint32_t *n)
{
    const struct vram_element *e = vram_op_value(op, in);
    if (!e)
        return false;
    int64_t *ints = vram_arena_array(op->cx->arena, in->elements, sizeof *ints);
    if (!ints) {
        vram_fail_memory(op->cx);
        return false;
    }
    for (uint32_t i = 0; i < in->elements; i++)
        if (e[i].kind != VRAM_ELEMENT_RATIO || e[i].den != 1 || !vram_dim_is_int(op->dims, e[i].num, &ints[i]))
            return false;
    *out = ints;
    *n = in->elements;
    return true;
}

bool vram_op_value_int(struct vram_op *op, const struct vram_info *in, int64_t *out)
{
    const struct vram_element *e = vram_op_value(op, in);
    return e && in->elements == 1 && e->kind == VRAM_ELEMENT_RATIO && e->den == 1 &&
           vram_dim_is_int(op->dims, e->num, out);
}

bool vram_op_value_real(struct vram_op *op, const struct vram_info *in, double *out)
{
    const struct vram_element *e = vram_op_value(op, in);
    int64_t n;
    if (!e || in->elements != 1)
        return false;
    if (e->kind == VRAM_ELEMENT_REAL)
        *out = e->real;
    else if (e->kind == VRAM_ELEMENT_RATIO && vram_dim_is_int(op->dims, e->num, &n))
        *out = (double)n / (double)e->den;
    else
        return false;
    return true;
}

/* ---- made by operators --------------------------------------------------------------------- */

/* Number of elements when it is one and small. */
static bool few(const struct vram_op *op, const struct vram_info *out, uint32_t *n)
{
    int64_t all = 1, d;
    if (!out->ranked)
        return false;
    for (uint32_t k = 0; k < out->rank; k++) {
        if (!vram_dim_is_int(op->dims, out->dims[k], &d) || d > VRAM_VALUE_ELEMENTS)
            return false;
        all *= d;
        if (all > VRAM_VALUE_ELEMENTS)
            return false;
    }
    *n = (uint32_t)all;
    return true;
}

struct vram_element *vram_op_elements(struct vram_op *op, uint32_t i)
{
    uint32_t n;
    if (i >= op->n_out || !few(op, &op->out[i], &n))
        return NULL;
    struct vram_element *e = vram_arena_array(op->cx->arena, n, sizeof *e);
    if (!e) {
        vram_fail_memory(op->cx);
        return NULL;
    }
    op->out[i].value = e;
    op->out[i].elements = n;
    return e;
}

int vram_value_copy(struct vram_op *op)
{
    uint32_t n;
    if (!op->n_in || !op->in[0] || !op->in[0]->value || !op->n_out || !few(op, &op->out[0], &n) ||
        n != op->in[0]->elements)
        return VRAM_OK;
    op->out[0].value = op->in[0]->value;
    op->out[0].elements = n;
    return VRAM_OK;
}
