/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes.  Their type says which field counts; files older than IR version 2 leave it out.
 */
#include "onnx/raw.h"

#include <string.h>

static size_t present(const Onnx__AttributeProto *a, unsigned kind)
{
    switch (kind) {
    case VRAM_ATTR_FLOAT: return a->has_f != 0;
    case VRAM_ATTR_INT: return a->has_i != 0;
    case VRAM_ATTR_STRING: return a->has_s != 0;
    case VRAM_ATTR_TENSOR: return a->t != NULL;
    case VRAM_ATTR_FLOATS: return a->n_floats;
    case VRAM_ATTR_INTS: return a->n_ints;
    case VRAM_ATTR_STRINGS: return a->n_strings;
    case VRAM_ATTR_TENSORS: return a->n_tensors;
    case VRAM_ATTR_GRAPH:
    case VRAM_ATTR_GRAPHS: return onnx_mark_graphs(&a->base);
    case VRAM_ATTR_SPARSE_TENSOR: return a->sparse_tensor != NULL;
    case VRAM_ATTR_SPARSE_TENSORS: return a->n_sparse_tensors;
    case VRAM_ATTR_TYPE: return a->tp != NULL;
    case VRAM_ATTR_TYPES: return a->n_type_protos;
    default: return 0;
    }
}

static int kind_of(struct onnx_load *l, const Onnx__AttributeProto *a, uint8_t *kind)
{
    static const char *const fields[] = {"",       "f",    "i",       "s",       "t",      "g",
                                         "floats", "ints", "strings", "tensors", "graphs", "sparse_tensor",
                                         "sparse_tensors", "tp", "type_protos"};
    unsigned found = 0, type = a->has_type ? (unsigned)a->type : 0;
    if (type > VRAM_ATTR_TYPES)
        return vram_fail(l->cx, VRAM_E_FORMAT, onnx_mark_offset(&a->base), "its type %u does not exist", type);
    for (unsigned k = 1; k <= VRAM_ATTR_TYPES && !found; k++)
        if (present(a, k))
            found = k;
    *kind = (uint8_t)(type ? type : found);
    if (!type || !found || present(a, type))
        return VRAM_OK;
    return vram_fail(l->cx, VRAM_E_FORMAT, onnx_mark_offset(&a->base),
                     "its type says that %s counts, but only %s is there: the file contradicts itself", fields[type],
                     fields[found]);
}

static int missing(struct onnx_load *l, const Onnx__AttributeProto *a)
{
    return vram_fail(l->cx, VRAM_E_FORMAT, onnx_mark_offset(&a->base), "it has no value");
}

static int text(struct onnx_load *l, ProtobufCBinaryData s, uint32_t *id)
{
    *id = vram_sym_add(l->cx->syms, s.data ? (const char *)s.data : "", s.len, 1);
    return *id == VRAM_SYM_NONE ? vram_fail_memory(l->cx) : VRAM_OK;
}

/* one element with an id */
static int element(struct onnx_load *l, const Onnx__AttributeProto *a, unsigned kind, size_t i, const struct onnx_who *who,
                   uint32_t *id)
{
    switch (kind) {
    case VRAM_ATTR_STRING: return text(l, a->s, id);
    case VRAM_ATTR_STRINGS: return text(l, a->strings[i], id);
    case VRAM_ATTR_TENSOR: return onnx_tensor(l, a->t, id);
    case VRAM_ATTR_TENSORS: return onnx_tensor(l, a->tensors[i], id);
    case VRAM_ATTR_SPARSE_TENSOR: return onnx_sparse(l, a->sparse_tensor, id);
    case VRAM_ATTR_SPARSE_TENSORS: return onnx_sparse(l, a->sparse_tensors[i], id);
    case VRAM_ATTR_TYPE: return onnx_type(l, a->tp, who, false, id);
    case VRAM_ATTR_TYPES: return onnx_type(l, a->type_protos[i], who, false, id);
    default: *id = onnx_mark_graph(&a->base, (uint32_t)i); return VRAM_OK;
    }
}

static int numbers(struct onnx_load *l, const Onnx__AttributeProto *a, struct vram_onnx_attr *out)
{
    if (out->kind == VRAM_ATTR_INTS) {
        int64_t *ints = vram_arena_array(l->cx->arena, out->n, sizeof *ints);
        if (!ints)
            return vram_fail_memory(l->cx);
        if (out->n)
            memcpy(ints, a->ints, out->n * sizeof *ints);
        out->ints = ints;
        return VRAM_OK;
    }
    double *floats = vram_arena_array(l->cx->arena, out->n, sizeof *floats);
    if (!floats)
        return vram_fail_memory(l->cx);
    for (uint32_t i = 0; i < out->n; i++)
        floats[i] = (double)a->floats[i];
    out->floats = floats;
    return VRAM_OK;
}

static int value(struct onnx_load *l, const Onnx__AttributeProto *a, const struct onnx_who *who, struct vram_onnx_attr *out)
{
    switch (out->kind) {
    case VRAM_ATTR_NONE: return VRAM_OK;
    case VRAM_ATTR_FLOAT: out->f = (double)a->f; return VRAM_OK;
    case VRAM_ATTR_INT: out->i = a->i; return VRAM_OK;
    case VRAM_ATTR_INTS:
    case VRAM_ATTR_FLOATS: return numbers(l, a, out);
    case VRAM_ATTR_STRING:
    case VRAM_ATTR_TENSOR:
    case VRAM_ATTR_GRAPH:
    case VRAM_ATTR_SPARSE_TENSOR:
    case VRAM_ATTR_TYPE:
        if (out->kind != VRAM_ATTR_STRING && !present(a, out->kind))
            return missing(l, a);
        return element(l, a, out->kind, 0, who, &out->id);
    default: break;
    }
    uint32_t *ids = vram_arena_array(l->cx->arena, out->n, sizeof *ids);
    if (!ids)
        return vram_fail_memory(l->cx);
    for (uint32_t i = 0; i < out->n; i++)
        VRAM_TRY(element(l, a, out->kind, i, who, &ids[i]));
    out->ids = ids;
    return VRAM_OK;
}

static bool is_list(unsigned kind)
{
    return (kind >= VRAM_ATTR_FLOATS && kind <= VRAM_ATTR_GRAPHS) || kind == VRAM_ATTR_SPARSE_TENSORS ||
           kind == VRAM_ATTR_TYPES;
}

int onnx_attr(struct onnx_load *l, const Onnx__AttributeProto *a, const struct onnx_who *who, struct raw_attr *out)
{
    *out = (struct raw_attr){.is = {.name = onnx_name(l, a->name)}, .ref = onnx_name(l, a->ref_attr_name)};
    if (out->is.name == VRAM_SYM_NONE || out->ref == VRAM_SYM_NONE)
        return l->cx->error->code;
    int rc = kind_of(l, a, &out->is.kind);
    size_t n = present(a, out->is.kind);
    if (!rc && n > UINT32_MAX)
        rc = vram_fail(l->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "an attribute of %zu elements", n);
    out->is.n = is_list(out->is.kind) ? (uint32_t)n : 1;
    if (!rc && !out->ref)
        rc = value(l, a, who, &out->is);
    if (rc)
        vram_where(l->cx, "%s: attribute '%s'", onnx_at(l, who).text, onnx_shown(l->cx, out->is.name).text);
    return rc;
}
