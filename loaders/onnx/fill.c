/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations for a copy of an ONNX file; see fill.h.
 */
#include "onnx/fill.h"

#include <stdlib.h>
#include <string.h>

#include "ir/dtype.h"
#include "onnx.pb-c.h"
#include "onnx/onnx.h"
#include "onnx/wire.h"

static uint32_t field(const ProtobufCMessageDescriptor *message, const char *name)
{
    return protobuf_c_message_descriptor_get_field_by_name(message, name)->id;
}

static size_t varint(unsigned char *to, uint64_t n)
{
    size_t k = 0;
    for (; n > 127; n >>= 7)
        to[k++] = (unsigned char)(n | 128);
    to[k++] = (unsigned char)n;
    return k;
}

/* key and length of a message in field `number` */
static size_t head(unsigned char *to, uint32_t number, uint64_t n)
{
    size_t k = varint(to, (uint64_t)number << 3 | 2);
    return k + varint(to + k, n);
}

size_t vram_onnx_graph_head(unsigned char to[VRAM_ONNX_HEAD], uint64_t n)
{
    return head(to, field(&onnx__model_proto__descriptor, "graph"), n);
}

/* ---- the place ----------------------------------------------------------------------------- */

static int pass_field(struct onnx_wire *w, uint64_t key, struct vram_onnx_room *out, uint64_t at)
{
    uint64_t n;
    switch (key & 7) {
    case 0:
        return onnx_wire_varint(w, &n);
    case 1:
        return onnx_wire_skip(w, 8);
    case 2:
        VRAM_TRY(onnx_wire_varint(w, &n));
        if (key >> 3 == field(&onnx__model_proto__descriptor, "graph")) {
            out->key = at;
            out->body = onnx_wire_offset(w);
            out->end = out->body + n;
        }
        return onnx_wire_skip(w, n);
    case 3:
    case 4: /* groups: their parts are passed one by one */
        return VRAM_OK;
    case 5:
        return onnx_wire_skip(w, 4);
    default:
        return vram_fail(w->cx, VRAM_E_FORMAT, at, "a key that no field has");
    }
}

static int scan(struct onnx_wire *w, struct vram_onnx_room *out)
{
    bool ended;
    uint64_t key;
    for (;;) {
        VRAM_TRY(onnx_wire_ended(w, &ended));
        if (ended)
            break;
        uint64_t at = onnx_wire_offset(w);
        VRAM_TRY(onnx_wire_varint(w, &key));
        VRAM_TRY(pass_field(w, key, out, at));
    }
    out->file = onnx_wire_offset(w);
    return out->end ? VRAM_OK : vram_fail(w->cx, VRAM_E_FORMAT, out->file, "the file has no graph");
}

int vram_onnx_find_place(struct vram_cx *cx, const char *path, struct vram_onnx_room *out)
{
    struct vram_source source;
    struct onnx_wire wire;
    *out = (struct vram_onnx_room){0};
    if (vram_onnx_is_text(path))
        return vram_fail(cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET, "a text is not copied");
    VRAM_TRY(vram_onnx_source(cx, path, NULL, &source));
    int rc = onnx_wire_file(&wire, cx, &source);
    if (!rc && wire.gzip)
        rc = vram_fail(cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET, "a packed file is not copied: unpack it first");
    rc = rc ? rc : scan(&wire, out);
    onnx_wire_close(&wire);
    vram_source_close(&source);
    return rc;
}

/* ---- a declaration ------------------------------------------------------------------------- */

static int fill_dims(struct vram_cx *cx, const struct vram_onnx_declaration *d, Onnx__TensorShapeProto *shape)
{
    Onnx__TensorShapeProto__Dimension *dims = vram_arena_array(cx->arena, d->rank, sizeof *dims);
    Onnx__TensorShapeProto__Dimension **list = vram_arena_array(cx->arena, d->rank, sizeof *list);
    if (!dims || !list)
        return vram_fail_memory(cx);
    for (uint32_t i = 0; i < d->rank; i++) {
        onnx__tensor_shape_proto__dimension__init(&dims[i]);
        list[i] = &dims[i];
        if (d->sizes[i] >= 0) {
            dims[i].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            dims[i].dim_value = d->sizes[i];
        } else if (*d->texts[i]) {
            dims[i].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            dims[i].dim_param = (char *)(uintptr_t)d->texts[i];
        }
    }
    shape->n_dim = d->rank;
    shape->dim = list;
    return VRAM_OK;
}

int vram_onnx_declare(struct vram_cx *cx, const struct vram_onnx_declaration *d, unsigned char **bytes, size_t *n)
{
    Onnx__ValueInfoProto info = ONNX__VALUE_INFO_PROTO__INIT;
    Onnx__TypeProto type = ONNX__TYPE_PROTO__INIT;
    Onnx__TypeProto__Tensor tensor = ONNX__TYPE_PROTO__TENSOR__INIT;
    Onnx__TensorShapeProto shape = ONNX__TENSOR_SHAPE_PROTO__INIT;
    VRAM_TRY(fill_dims(cx, d, &shape));
    tensor.has_elem_type = 1;
    tensor.elem_type = vram_dtypes[d->dtype].onnx_number;
    tensor.shape = &shape;
    type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type.tensor_type = &tensor;
    info.name = (char *)(uintptr_t)d->name;
    info.type = &type;
    size_t size = onnx__value_info_proto__get_packed_size(&info);
    *bytes = vram_arena_array(cx->arena, size + VRAM_ONNX_HEAD, 1);
    if (!*bytes)
        return vram_fail_memory(cx);
    size_t k = head(*bytes, field(&onnx__graph_proto__descriptor, "value_info"), size);
    *n = k + onnx__value_info_proto__pack(&info, *bytes + k);
    return VRAM_OK;
}
