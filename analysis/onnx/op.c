/* SPDX-License-Identifier: Apache-2.0
 *
 * What operators are given: attributes, errors, outputs; see op.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "onnx/pass.h"

/* ---- errors -------------------------------------------------------------------------------- */

const char *vram_infer_node(struct vram_infer *pass, const struct vram_onnx_node *node)
{
    char name[160], op[80];
    const char *n = vram_sym_text(pass->cx->syms, node->name), *o = vram_sym_text(pass->cx->syms, node->op);
    const char *path = vram_sym_text(pass->cx->syms, pass->model->graphs.at[node->graph].path);
    vram_escape(name, sizeof name, n, strlen(n));
    vram_escape(op, sizeof op, o, strlen(o));
    const char *text = vram_format(pass->cx->arena, "%s%snode %u%s%s%s (%s)", path, *path ? ": " : "", node->number,
                                   *name ? " '" : "", name, *name ? "'" : "", op);
    return text ? text : "";
}

int vram_op_fail(struct vram_op *op, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    vram_where(op->cx, "%s", vram_infer_node(op->pass, op->node));
    return vram_fail(op->cx, VRAM_E_FORMAT, op->node->offset, "%s", text);
}

int vram_op_check(struct vram_op *op)
{
    switch (vram_dims_broken(op->dims)) {
    case VRAM_DIM_FINE:
        return VRAM_OK;
    case VRAM_DIM_OVERFLOW:
        return vram_op_fail(op, "a size or an element of a shape does not fit 64 bits");
    case VRAM_DIM_ZERO_DIVISION:
        return vram_op_fail(op, "a size or an element of a shape is divided by 0");
    default:
        return vram_fail_memory(op->cx);
    }
}

/* ---- attributes ---------------------------------------------------------------------------- */

static const struct vram_onnx_attr *find(const struct vram_op *op, const char *name)
{
    const struct vram_onnx_attr *at = op->model->attrs.at + op->node->attrs.first;
    for (uint32_t i = 0; i < op->node->attrs.n; i++)
        if (!strcmp(vram_sym_text(op->cx->syms, at[i].name), name))
            return &at[i];
    return NULL;
}

/* The attribute when it is there and of this kind; *out = NULL when it is not there. */
static int get(struct vram_op *op, const char *name, enum vram_onnx_attr_kind kind,
               const struct vram_onnx_attr **out)
{
    static const char *const kinds[] = {"nothing", "float",   "int",    "string",  "tensor", "graph",
                                        "list of floats", "list of ints", "list of strings", "list of tensors",
                                        "list of graphs", "sparse tensor", "list of sparse tensors", "type",
                                        "list of types"};
    *out = find(op, name);
    if (!*out || (*out)->kind == kind)
        return VRAM_OK;
    return vram_op_fail(op, "attribute '%s' is of kind %s, not %s", name,
                        (*out)->kind < sizeof kinds / sizeof *kinds ? kinds[(*out)->kind] : "?", kinds[kind]);
}

bool vram_op_has(const struct vram_op *op, const char *name) { return find(op, name) != NULL; }

int vram_op_int(struct vram_op *op, const char *name, int64_t otherwise, int64_t *out)
{
    const struct vram_onnx_attr *a;
    VRAM_TRY(get(op, name, VRAM_ATTR_INT, &a));
    *out = a ? a->i : otherwise;
    return VRAM_OK;
}

int vram_op_need_int(struct vram_op *op, const char *name, int64_t *out)
{
    if (!find(op, name))
        return vram_op_fail(op, "attribute '%s' is missing", name);
    return vram_op_int(op, name, 0, out);
}

int vram_op_float(struct vram_op *op, const char *name, double otherwise, double *out)
{
    const struct vram_onnx_attr *a;
    VRAM_TRY(get(op, name, VRAM_ATTR_FLOAT, &a));
    *out = a ? a->f : otherwise;
    return VRAM_OK;
}

int vram_op_string(struct vram_op *op, const char *name, const char *otherwise, const char **out)
{
    const struct vram_onnx_attr *a;
    VRAM_TRY(get(op, name, VRAM_ATTR_STRING, &a));
    *out = a ? vram_sym_text(op->cx->syms, a->id) : otherwise;
    return VRAM_OK;
}

int vram_op_ints(struct vram_op *op, const char *name, const int64_t **out, uint32_t *n)
{
    const struct vram_onnx_attr *a;
    VRAM_TRY(get(op, name, VRAM_ATTR_INTS, &a));
    *out = a ? a->ints : NULL;
    *n = a ? a->n : 0;
    return VRAM_OK;
}

int vram_op_floats(struct vram_op *op, const char *name, const double **out, uint32_t *n)
{
    const struct vram_onnx_attr *a;
    VRAM_TRY(get(op, name, VRAM_ATTR_FLOATS, &a));
    *out = a ? a->floats : NULL;
    *n = a ? a->n : 0;
    return VRAM_OK;
}

int vram_op_strings(struct vram_op *op, const char *name, uint32_t *n)
{
    const struct vram_onnx_attr *a;
    VRAM_TRY(get(op, name, VRAM_ATTR_STRINGS, &a));
    *n = a ? a->n : 0;
    return VRAM_OK;
}

int vram_op_tensor(struct vram_op *op, const char *name, const struct vram_onnx_tensor **out)
{
    const struct vram_onnx_attr *a = find(op, name);
    bool sparse = a && a->kind == VRAM_ATTR_SPARSE_TENSOR;
    VRAM_TRY(get(op, name, sparse ? VRAM_ATTR_SPARSE_TENSOR : VRAM_ATTR_TENSOR, &a));
    *out = a ? &op->model->tensors.at[a->id] : NULL;
    return VRAM_OK;
}

int vram_op_graph(struct vram_op *op, const char *name, uint32_t *graph)
{
    const struct vram_onnx_attr *a;
    VRAM_TRY(get(op, name, VRAM_ATTR_GRAPH, &a));
    *graph = a ? a->id : 0;
    return VRAM_OK;
}

int vram_op_axis(struct vram_op *op, const char *what, int64_t axis, uint32_t rank, uint32_t *out)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return vram_op_fail(op, "%s is %" PRId64 ", outside a rank of %u", what, axis, rank);
    *out = (uint32_t)(axis < 0 ? axis + rank : axis);
    return VRAM_OK;
}

/* ---- outputs ------------------------------------------------------------------------------- */

int vram_op_out(struct vram_op *op, uint32_t i, uint8_t dtype)
{
    if (i < op->n_out) {
        op->out[i].kind = VRAM_ONNX_TENSOR;
        op->out[i].dtype = dtype;
    }
    return VRAM_OK;
}

vram_dim *vram_op_dims(struct vram_op *op, uint32_t rank)
{
    if (rank > op->cx->limits->rank * 32) {
        vram_op_fail(op, "a rank of %u", rank);
        return NULL;
    }
    vram_dim *dims = vram_arena_array(op->cx->arena, rank, sizeof *dims);
    if (!dims)
        vram_fail_memory(op->cx);
    return dims;
}

/* An input's dims are not copied again when they are the answer. */
static const vram_dim *shared(const struct vram_op *op, const vram_dim *dims, uint32_t rank)
{
    for (uint32_t i = 0; i < op->n_in && i < 3; i++)
        if (op->in[i] && op->in[i]->ranked && op->in[i]->rank == rank &&
            !memcmp(op->in[i]->dims, dims, rank * sizeof *dims))
            return op->in[i]->dims;
    return NULL;
}

int vram_op_out_dims(struct vram_op *op, uint32_t i, uint8_t dtype, const vram_dim *dims, uint32_t rank)
{
    int64_t n;
    VRAM_TRY(vram_op_out(op, i, dtype));
    if (i >= op->n_out)
        return VRAM_OK;
    for (uint32_t k = 0; k < rank; k++)
        if (vram_dim_is_int(op->dims, dims[k], &n) && n < 0)
            return vram_op_fail(op, "output %u has a size of %" PRId64 " at axis %u", i, n, k);
    const vram_dim *mine = rank ? shared(op, dims, rank) : NULL;
    if (!mine) {
        vram_dim *copy = vram_op_dims(op, rank);
        if (!copy)
            return op->cx->error->code;
        if (rank)
            memcpy(copy, dims, rank * sizeof *copy);
        mine = copy;
    }
    op->out[i].ranked = true;
    op->out[i].rank = rank;
    op->out[i].dims = mine;
    return VRAM_OK;
}

int vram_op_out_like(struct vram_op *op, uint32_t i, uint8_t dtype, const struct vram_info *like)
{
    VRAM_TRY(vram_op_out(op, i, dtype));
    if (i >= op->n_out || !like || !like->ranked)
        return VRAM_OK;
    op->out[i].ranked = true;
    op->out[i].rank = like->rank;
    op->out[i].dims = like->dims;
    return VRAM_OK;
}

int vram_op_out_scalar(struct vram_op *op, uint32_t i, uint8_t dtype)
{
    return vram_op_out_dims(op, i, dtype, NULL, 0);
}

vram_dim vram_op_fresh(struct vram_op *op, const char *stem, int64_t low, vram_dim high)
{
    int64_t least, most = VRAM_DIM_HIGHEST;
    if (high != VRAM_DIM_UNKNOWN)
        vram_dim_range(op->dims, high, &least, &most);
    return vram_dim_fresh(op->dims, stem, low, most < low ? low : most);
}
