/* SPDX-License-Identifier: Apache-2.0
 *
 * What nodes are given; see lower_value.h.
 */
#include "onnx/lower_value.h"

#include <string.h>

static bool integer_kind(uint8_t dtype) { return !vram_dtype_is_float((enum vram_dtype)dtype); }

/* element i as a number */
static bool element(const struct vram_inference *shapes, const struct vram_info *info, uint32_t i,
                    struct vram_value *out)
{
    int64_t n;
    double x;
    if (info->value) {
        const struct vram_element *e = &info->value[i];
        bool ratio = e->kind == VRAM_ELEMENT_RATIO && vram_dim_is_int(shapes->dims, e->num, &n);
        if (!ratio && e->kind != VRAM_ELEMENT_REAL)
            return false;
        x = ratio ? (double)n / (double)e->den : e->real;
        n = ratio ? n / e->den : 0;
    } else {
        const struct vram_onnx_tensor *t = &shapes->model->tensors.at[info->tensor];
        bool whole = vram_onnx_integer(t, i, &n);
        if (!whole && !vram_onnx_real(t, i, &x))
            return false;
        if (whole)
            x = (double)n;
    }
    *out = vram_int(n);
    if (integer_kind(info->dtype))
        return true;
    out->kind = VRAM_V_FLOAT;
    out->u.f = x;
    return true;
}

static bool followed(const struct vram_inference *shapes, const struct vram_info *info, uint32_t *n)
{
    *n = info->elements;
    if (info->kind != VRAM_ONNX_TENSOR || info->dtype == VRAM_DT_NONE || !info->ranked)
        return false;
    if (info->value)
        return true;
    const struct vram_onnx_tensor *t = &shapes->model->tensors.at[info->tensor];
    *n = (uint32_t)t->elements;
    return info->tensor && t->data && !t->sparse && t->elements <= VRAM_VALUE_ELEMENTS;
}

bool vram_known(const struct vram_inference *shapes, const struct vram_info *info)
{
    struct vram_value v;
    uint32_t n;
    if (!followed(shapes, info, &n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!element(shapes, info, i, &v))
            return false;
    return true;
}

struct vram_value vram_known_tuple(struct vram_machine *m, const struct vram_inference *shapes,
                                   const struct vram_info *info)
{
    struct vram_value out = {.kind = VRAM_V_BOX}, v = {0};
    uint32_t n = 0;
    followed(shapes, info, &n);
    out.u.box = vram_box_new(m, VRAM_BOX_TUPLE, n);
    for (uint32_t i = 0; i < n; i++) {
        element(shapes, info, i, &v);
        vram_box_push(m, out.u.box, v);
    }
    return out;
}

struct vram_value vram_known_number(const struct vram_inference *shapes, const struct vram_info *info)
{
    struct vram_value v = {0};
    element(shapes, info, 0, &v);
    return v;
}

int vram_lower_sizes(struct vram_machine *m, const struct vram_inference *shapes, uint32_t value, int64_t *shape,
                     bool *exact)
{
    const struct vram_info *info = &shapes->at[value];
    const char *name = vram_sym_text(m->cx->syms, shapes->model->values.at[value].name);
    char shown[100];
    vram_escape(shown, sizeof shown, name, strlen(name));
    if (info->kind != VRAM_ONNX_TENSOR || !info->ranked || info->dtype == VRAM_DT_NONE || info->rank > VRAM_MAX_RANK)
        vram_throw(m, VRAM_E_UNSUPPORTED, "the sizes of '%s' are not known", shown);
    *exact = true;
    for (uint32_t i = 0; i < info->rank; i++) {
        int64_t low = 0, high = INT64_MAX;
        if (info->dims[i] != VRAM_DIM_UNKNOWN)
            vram_dim_range(shapes->dims, info->dims[i], &low, &high);
        if (high < 0 || high >= (int64_t)1 << 40)
            vram_throw(m, VRAM_E_UNSUPPORTED, "the sizes of '%s' are not known", shown);
        shape[i] = high;
        *exact = *exact && low == high;
    }
    return (int)info->rank;
}

struct vram_value vram_tuple_of(struct vram_machine *m, const int64_t *ints, uint32_t n)
{
    struct vram_value out = {.kind = VRAM_V_BOX};
    out.u.box = vram_box_new(m, VRAM_BOX_TUPLE, n);
    for (uint32_t i = 0; i < n; i++)
        vram_box_push(m, out.u.box, vram_int(ints[i]));
    return out;
}

struct vram_value vram_lower_attr(struct vram_machine *m, const struct vram_onnx *model,
                                  const struct vram_onnx_node *node, vram_sym name)
{
    struct vram_value v = {0};
    const struct vram_onnx_attr *a = model->attrs.at + node->attrs.first, *end = a + node->attrs.n;
    while (a < end && a->name != name)
        a++;
    if (a == end)
        return v;
    switch (a->kind) {
    case VRAM_ATTR_INT:
        return vram_int(a->i);
    case VRAM_ATTR_FLOAT:
        v.kind = VRAM_V_FLOAT;
        v.u.f = a->f;
        return v;
    case VRAM_ATTR_STRING:
        v.kind = VRAM_V_STRING;
        v.u.i = a->id;
        return v;
    case VRAM_ATTR_INTS:
        return vram_tuple_of(m, a->ints, a->n);
    default:
        return v;
    }
}
