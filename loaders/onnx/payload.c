/* SPDX-License-Identifier: Apache-2.0
 *
 * Payloads inside the file: raw bytes or a typed list, checked against the dims, and kept when small.
 *
 * onnx.proto, TensorProto: raw_data are the elements in little-endian order, 4-bit and 2-bit ones
 * packed low bits first, 6-bit ones four in three bytes; int32_data has an element an entry, or a
 * byte of packed 4-bit or 2-bit ones; complex numbers take two entries.
 */
#include "onnx/raw.h"

#include <string.h>

enum list { FLOATS, INT32S, INT64S, DOUBLES, UINT64S, STRINGS, LISTS };

static const char *const list_names[LISTS] = {"float_data",  "int32_data",  "int64_data",
                                              "double_data", "uint64_data", "string_data"};

static enum list list_of(enum vram_dtype dtype)
{
    switch (dtype) {
    case VRAM_DT_F32:
    case VRAM_DT_C64: return FLOATS;
    case VRAM_DT_F64:
    case VRAM_DT_C128: return DOUBLES;
    case VRAM_DT_I64: return INT64S;
    case VRAM_DT_U32:
    case VRAM_DT_U64: return UINT64S;
    case VRAM_DT_STRING: return STRINGS;
    default: return INT32S;
    }
}

static uint64_t entries(const struct vram_onnx_tensor *t)
{
    int bits = vram_dtypes[t->dtype].bits;
    if (bits == 4 || bits == 2)
        return t->bytes;
    return vram_dtypes[t->dtype].kind == VRAM_KIND_COMPLEX ? 2 * t->elements : t->elements;
}

/* How many entries a list has: between low and high, which differ when its numbers were passed over. */
static void count(const Onnx__TensorProto *p, enum list list, uint64_t *low, uint64_t *high)
{
    const size_t kept[LISTS] = {p->n_float_data,  p->n_int32_data,  p->n_int64_data,
                                p->n_double_data, p->n_uint64_data, p->n_string_data};
    uint64_t counted = kept[list];
    uint64_t packed = 0;
    if (p->base.n_unknown_fields > 1) { /* more than the offset */
        counted += onnx_mark_count(&p->base, list_names[list]);
        packed = onnx_mark_bytes(&p->base, list_names[list]);
    }
    bool numbers = list == INT32S || list == INT64S || list == UINT64S;
    *low = counted + (numbers ? (packed + 9) / 10 : 0);
    *high = counted + (numbers ? packed : 0);
}

static void put(unsigned char *to, uint64_t v, unsigned bytes)
{
    for (unsigned b = 0; b < bytes; b++)
        to[b] = (unsigned char)(v >> (8 * b));
}

static void six_bits(unsigned char *to, size_t i, uint64_t v)
{
    size_t bit = 6 * i;
    unsigned both = (unsigned)(v & 63) << (bit % 8);
    to[bit / 8] |= (unsigned char)both;
    if (both > 255)
        to[bit / 8 + 1] |= (unsigned char)(both >> 8);
}

/* The list's elements in the type's own width. */
static void narrow(const Onnx__TensorProto *p, enum list list, const struct vram_onnx_tensor *t, unsigned char *to)
{
    unsigned bits = (unsigned)vram_dtypes[t->dtype].bits, width = bits < 8 ? 1 : bits / 8;
    size_t n = (size_t)entries(t);
    for (size_t i = 0; i < n; i++) {
        uint64_t v = 0;
        uint32_t single;
        switch (list) {
        case FLOATS:
            memcpy(&single, &p->float_data[i], sizeof single);
            put(to + 4 * i, single, 4);
            continue;
        case DOUBLES:
            memcpy(&v, &p->double_data[i], sizeof v);
            put(to + 8 * i, v, 8);
            continue;
        case INT32S: v = (uint64_t)(int64_t)p->int32_data[i]; break;
        case INT64S: v = (uint64_t)p->int64_data[i]; break;
        default: v = p->uint64_data[i]; break;
        }
        if (bits == 6)
            six_bits(to, i, v);
        else
            put(to + width * i, v, width);
    }
}

static int keep(struct onnx_load *l, const Onnx__TensorProto *p, enum list list, struct vram_onnx_tensor *t)
{
    if (t->bytes == 0 || t->bytes > VRAM_ONNX_KEPT)
        return VRAM_OK;
    unsigned char *data = vram_arena_alloc(l->cx->arena, (size_t)t->bytes);
    if (!data)
        return vram_fail_memory(l->cx);
    if (list == LISTS)
        memcpy(data, p->raw_data.data, (size_t)t->bytes);
    else
        narrow(p, list, t, data);
    t->data = data;
    return VRAM_OK;
}

static int raw(struct onnx_load *l, const Onnx__TensorProto *p, uint64_t n, uint64_t offset, struct vram_onnx_tensor *t)
{
    if (t->dtype == VRAM_DT_STRING)
        return vram_fail(l->cx, VRAM_E_FORMAT, offset, "strings cannot be in raw_data");
    if (n != t->bytes)
        return vram_fail(l->cx, VRAM_E_FORMAT, offset,
                         "raw_data has %llu bytes, its dimensions and type make %llu: the file is damaged",
                         (unsigned long long)n, (unsigned long long)t->bytes);
    t->stored = n;
    return keep(l, p, LISTS, t);
}

static int typed(struct onnx_load *l, const Onnx__TensorProto *p, uint64_t offset, struct vram_onnx_tensor *t)
{
    enum list right = list_of((enum vram_dtype)t->dtype);
    uint64_t low, high, want = entries(t);
    count(p, right, &low, &high);
    for (enum list i = 0; i < LISTS; i++) {
        uint64_t others, most;
        count(p, i, &others, &most);
        if (i != right && most)
            return vram_fail(l->cx, VRAM_E_FORMAT, offset, "elements of type %s are in %s, they belong into %s",
                             vram_dtypes[t->dtype].onnx, list_names[i], list_names[right]);
    }
    if (want < low || want > high)
        return vram_fail(l->cx, VRAM_E_FORMAT, offset,
                         "%s has %llu entries, its dimensions make %llu: the file is damaged", list_names[right], (unsigned long long)high, (unsigned long long)want);
    if (t->dtype == VRAM_DT_STRING) {
        t->bytes = t->stored = onnx_mark_bytes(&p->base, "string_data");
        return VRAM_OK;
    }
    t->stored = t->bytes;
    return low == high && low == want ? keep(l, p, right, t) : VRAM_OK;
}

int onnx_payload(struct onnx_load *l, const Onnx__TensorProto *p, const struct onnx_who *who, struct vram_onnx_tensor *t)
{
    uint64_t offset = onnx_mark_offset(&p->base), low, high, lists = 0;
    t->place = VRAM_ONNX_INLINE;
    for (enum list i = 0; i < LISTS; i++) {
        count(p, i, &low, &high);
        lists += high;
    }
    uint64_t n = p->has_raw_data ? p->raw_data.len : 0;
    if (p->base.n_unknown_fields > 1 && onnx_mark_bytes(&p->base, "raw_data"))
        n = onnx_mark_bytes(&p->base, "raw_data");
    if (!lists && !n && t->elements) { /* tools save such skeletons on purpose */
        t->place = VRAM_ONNX_NOWHERE;
        return onnx_note(l, VRAM_F_ONNX_NO_DATA, onnx_at(l, who).text, "the file was saved without its data: sizes are known, values are not");
    }
    if (lists && n)
        VRAM_TRY(onnx_note(l, VRAM_F_ONNX_DATA_TWICE, onnx_at(l, who).text, "its data stand twice, raw and as a list: raw_data are taken"));
    if (n == 0 && (lists || !p->has_raw_data || t->elements == 0))
        return typed(l, p, offset, t);
    return raw(l, p, n, offset, t);
}
