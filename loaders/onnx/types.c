/* SPDX-License-Identifier: Apache-2.0
 *
 * Declared types.
 */
#include "onnx/raw.h"

#include <string.h>

static int dimension(struct onnx_load *l, const Onnx__TensorShapeProto__Dimension *d, const struct onnx_who *who)
{
    struct vram_onnx_dim dim = {.size = -1};
    if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE) {
        dim.size = d->dim_value;
        if (dim.size < 0) {
            VRAM_TRY(onnx_note(l, VRAM_F_ONNX_DIM_NEGATIVE, onnx_at(l, who).text,
                               "a dimension of %lld is taken as unknown: bind it, or export it with a name",
                               (long long)dim.size));
            dim.size = -1;
        }
    } else if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM) {
        dim.name = onnx_name(l, d->dim_param);
        if (dim.name == VRAM_SYM_NONE)
            return l->cx->error->code;
        if (d->dim_param[0] && strspn(d->dim_param, "0123456789") == strlen(d->dim_param))
            VRAM_TRY(onnx_note(l, VRAM_F_ONNX_DIM_NUMBER, onnx_at(l, who).text,
                               "a dimension is named \"%.24s\": it is taken as that number", d->dim_param));
    }
    return vram_vec_push(&l->dims, l->cx->arena, dim) ? VRAM_OK : vram_fail_memory(l->cx);
}

static int tensor(struct onnx_load *l, int32_t elem, const Onnx__TensorShapeProto *shape, const struct onnx_who *who,
                  bool input, struct vram_onnx_type *type)
{
    type->dtype = (uint8_t)vram_dtype_by_onnx(elem);
    if (!type->dtype && (elem != 0 || input))
        VRAM_TRY(onnx_note(l, VRAM_F_ONNX_DTYPE, onnx_at(l, who).text, elem ? "element type %d does not exist: its bytes cannot be counted"
                                                             : "there is no element type (%d): its bytes cannot be counted",
                           elem));
    if (!shape)
        return VRAM_OK;
    if (shape->n_dim > l->cx->limits->rank)
        return vram_fail(l->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "%zu dimensions are more than the limit of %llu",
                         shape->n_dim, (unsigned long long)l->cx->limits->rank);
    type->ranked = true;
    type->shape = (struct vram_onnx_span){(uint32_t)l->dims.n, (uint32_t)shape->n_dim};
    for (size_t i = 0; i < shape->n_dim; i++)
        VRAM_TRY(dimension(l, shape->dim[i], who));
    return VRAM_OK;
}

/* Nesting is bounded: the skimmer let it pass. */
int onnx_type(struct onnx_load *l, const Onnx__TypeProto *t, const struct onnx_who *who, bool input, uint32_t *id)
{
    struct vram_onnx_type type = {0};
    const Onnx__TypeProto *element = NULL;
    *id = 0;
    switch (t ? t->value_case : ONNX__TYPE_PROTO__VALUE__NOT_SET) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        type.kind = VRAM_ONNX_TENSOR;
        VRAM_TRY(tensor(l, t->tensor_type->elem_type, t->tensor_type->shape, who, input, &type));
        break;
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        type.kind = VRAM_ONNX_SPARSE;
        VRAM_TRY(tensor(l, t->sparse_tensor_type->elem_type, t->sparse_tensor_type->shape, who, input, &type));
        break;
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        type.kind = VRAM_ONNX_SEQUENCE;
        element = t->sequence_type->elem_type;
        break;
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        type.kind = VRAM_ONNX_OPTIONAL;
        element = t->optional_type->elem_type;
        break;
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        type.kind = VRAM_ONNX_MAP;
        element = t->map_type->value_type;
        break;
    case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE: type.kind = VRAM_ONNX_OPAQUE; break;
    default: return VRAM_OK;
    }
    if (element)
        VRAM_TRY(onnx_type(l, element, who, false, &type.element));
    *id = (uint32_t)l->types.n;
    return vram_vec_push(&l->types, l->cx->arena, type) ? VRAM_OK : vram_fail_memory(l->cx);
}
