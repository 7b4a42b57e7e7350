/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors: dims, element type, and where the payload is.
 */
#include "onnx/raw.h"

#include "base/math.h"

static const uint64_t MOST = UINT64_C(1) << 62;

/* Elements and bytes that dims and dtype make; zero wins over overflow. */
static int sizes(struct onnx_load *l, uint64_t offset, struct vram_onnx_tensor *t)
{
    bool zero = false, fits = true;
    uint64_t elements = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] < 0)
            return vram_fail(l->cx, VRAM_E_FORMAT, offset, "dimension %u is negative: %lld", i,
                             (long long)t->dims[i]);
        zero = zero || t->dims[i] == 0;
        fits = fits && vram_mul_u64(elements, (uint64_t)t->dims[i], &elements) && elements <= MOST;
    }
    if (zero) {
        elements = 0;
        fits = true;
    }
    uint64_t bytes = 0;
    if (!fits || (t->dtype != VRAM_DT_STRING && (!vram_dtype_bytes(t->dtype, elements, &bytes) || bytes > MOST)))
        return vram_fail(l->cx, VRAM_E_RANGE, offset, "the product of its dimensions is out of range (2^62 bytes)");
    t->elements = elements;
    t->bytes = bytes;
    return VRAM_OK;
}

static int shape(struct onnx_load *l, const int64_t *dims, size_t rank, uint64_t offset, struct vram_onnx_tensor *t)
{
    if (rank > l->cx->limits->rank)
        return vram_fail(l->cx, VRAM_E_LIMIT, offset, "%zu dimensions are more than the limit of %llu", rank,
                         (unsigned long long)l->cx->limits->rank);
    int64_t *copy = vram_arena_array(l->cx->arena, rank, sizeof *copy);
    if (!copy)
        return vram_fail_memory(l->cx);
    for (size_t i = 0; i < rank; i++)
        copy[i] = dims[i];
    t->rank = (uint32_t)rank;
    t->dims = copy;
    return sizes(l, offset, t);
}

static int add(struct onnx_load *l, const struct vram_onnx_tensor *t, uint32_t *id)
{
    if (l->tensors.n >= l->cx->limits->tensors)
        return vram_fail(l->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "more than %llu tensors",
                         (unsigned long long)l->cx->limits->tensors);
    *id = (uint32_t)l->tensors.n;
    return vram_vec_push(&l->tensors, l->cx->arena, *t) ? VRAM_OK : vram_fail_memory(l->cx);
}

static int tensor(struct onnx_load *l, const Onnx__TensorProto *proto, const struct onnx_who *who,
                  struct vram_onnx_tensor *t)
{
    uint64_t offset = onnx_mark_offset(&proto->base);
    int number = proto->has_data_type ? proto->data_type : 0;
    t->dtype = (uint8_t)vram_dtype_by_onnx(number);
    if (!t->dtype)
        return vram_fail(l->cx, VRAM_E_FORMAT, offset,
                         number ? "data type %d does not exist: the file is damaged or newer than this tool"
                                : "the data type is undefined (%d)", number);
    if (proto->segment)
        return vram_fail(l->cx, VRAM_E_UNSUPPORTED, offset, "tensors in segments are not supported: export the model again");
    VRAM_TRY(shape(l, proto->dims, proto->n_dims, offset, t));
    if (proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        return onnx_external(l, proto, who, t);
    return onnx_payload(l, proto, who, t);
}

int onnx_tensor(struct onnx_load *l, const Onnx__TensorProto *proto, uint32_t *id)
{
    struct vram_onnx_tensor t = {.name = onnx_name(l, proto->name)};
    if (t.name == VRAM_SYM_NONE)
        return l->cx->error->code;
    struct onnx_who who = {.what = "tensor", .name = t.name};
    int rc = tensor(l, proto, &who, &t);
    if (!rc)
        rc = add(l, &t, id);
    if (rc)
        vram_where(l->cx, "%s", onnx_at(l, &who).text);
    return rc;
}

/* NNZ values, and NNZ or NNZ × rank indices */
static int sparse(struct onnx_load *l, const Onnx__SparseTensorProto *proto, const struct onnx_who *who,
                  struct vram_onnx_tensor *t)
{
    uint64_t offset = onnx_mark_offset(&proto->values->base), stored;
    struct vram_onnx_tensor values = {0}, indices = {0};
    VRAM_TRY(tensor(l, proto->values, who, &values));
    VRAM_TRY(tensor(l, proto->indices, who, &indices));
    t->dtype = values.dtype;
    t->place = values.place;
    t->file = values.file;
    t->offset = values.offset;
    t->sparse = true;
    VRAM_TRY(shape(l, proto->dims, proto->n_dims, offset, t));
    if (values.rank != 1 || values.elements > t->elements)
        return vram_fail(l->cx, VRAM_E_FORMAT, offset,
                         "the values of a sparse tensor must be a list of at most as many as its dims make");
    bool linear = indices.rank == 1 && indices.elements == values.elements;
    bool tuples = indices.rank == 2 && (uint64_t)indices.dims[0] == values.elements &&
                  (uint64_t)indices.dims[1] == t->rank;
    if (indices.dtype != VRAM_DT_I64 || !(linear || tuples))
        return vram_fail(l->cx, VRAM_E_FORMAT, onnx_mark_offset(&proto->indices->base),
                         "the indices of a sparse tensor must be int64, one or %u for each of its %llu values", t->rank,
                         (unsigned long long)values.elements);
    if (!vram_add_u64(values.stored, indices.stored, &stored) || stored > MOST)
        return vram_fail(l->cx, VRAM_E_RANGE, offset, "its bytes are out of range (2^62)");
    t->stored = stored;
    return VRAM_OK;
}

int onnx_sparse(struct onnx_load *l, const Onnx__SparseTensorProto *proto, uint32_t *id)
{
    if (!proto->values || !proto->indices)
        return vram_fail(l->cx, VRAM_E_FORMAT, VRAM_NO_OFFSET, "a sparse tensor without %s",
                         proto->values ? "indices" : "values");
    struct vram_onnx_tensor t = {.name = onnx_name(l, proto->values->name)};
    if (t.name == VRAM_SYM_NONE)
        return l->cx->error->code;
    struct onnx_who who = {.what = "tensor", .name = t.name};
    int rc = sparse(l, proto, &who, &t);
    if (!rc)
        rc = add(l, &t, id);
    if (rc)
        vram_where(l->cx, "%s", onnx_at(l, &who).text);
    return rc;
}
