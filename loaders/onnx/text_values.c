/* SPDX-License-Identifier: Apache-2.0
 *
 * Types, tensors and attributes of the textual syntax; see text.h.
 */
#include "onnx/text.h"

#include <string.h>

#include "ir/dtype.h"

#define TYPE &onnx__type_proto__descriptor
#define SHAPE &onnx__tensor_shape_proto__descriptor
#define DIM &onnx__tensor_shape_proto__dimension__descriptor
#define TENSOR &onnx__tensor_proto__descriptor
#define ATTR &onnx__attribute_proto__descriptor
#define VALUE &onnx__value_info_proto__descriptor
#define ENTRY &onnx__string_string_entry_proto__descriptor

enum { TYPES_DEEP = 20 };

/* ---- types ---- */

static enum vram_dtype dtype_of(struct text_word w)
{
    for (int d = 1; d < VRAM_DT_COUNT; d++) {
        const char *name = vram_dtypes[d].onnx;
        size_t i = 0;
        while (i < w.n && name[i] && w.at[i] == (name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]))
            i++;
        if (i == w.n && w.n && !name[i])
            return (enum vram_dtype)d;
    }
    return VRAM_DT_NONE;
}

static const struct wrapper {
    const char *word, *field, *element;
    const ProtobufCMessageDescriptor *of;
} wrappers[] = {
    {"seq", "sequence_type", "elem_type", &onnx__type_proto__sequence__descriptor},
    {"optional", "optional_type", "elem_type", &onnx__type_proto__optional__descriptor},
    {"map", "map_type", "value_type", &onnx__type_proto__map__descriptor},
    {"sparse_tensor", "sparse_tensor_type", NULL, &onnx__type_proto__sparse_tensor__descriptor},
};

static const struct wrapper *wrapper_of(struct text_word w)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (text_word_is(w, wrappers[i].word))
            return &wrappers[i];
    return NULL;
}

bool text_sees_type(struct onnx_text *t)
{
    const char *start = t->at;
    struct text_word w;
    if (!text_sees_word(t) || text_sees(t, '"') || text_identifier(t, &w))
        return false;
    bool yes = dtype_of(w) || wrapper_of(w);
    /* "float[2] x", not "float = 1" or a value of that name */
    yes = yes && !text_sees(t, '=') && !text_sees(t, ':') && !text_sees(t, ',') && !text_sees(t, ')');
    t->at = start;
    return yes;
}

static int dim(struct onnx_text *t)
{
    size_t at;
    struct vram_json number;
    struct text_word w;
    VRAM_TRY(text_begin(t, SHAPE, "dim", &at));
    if (text_is(t, '?')) {
        ;
    } else if (text_sees_word(t)) {
        VRAM_TRY(text_name(t, &w));
        VRAM_TRY(text_put_word(t, DIM, "dim_param", w));
    } else {
        VRAM_TRY(text_number(t, &number));
        if (number.token != VRAM_JSON_INT)
            return text_fail(t, t->at, "a dimension must be a whole number");
        VRAM_TRY(text_put_int(t, DIM, "dim_value", (uint64_t)number.integer));
    }
    text_end(t, at);
    return VRAM_OK;
}

/* "float" is a scalar, "float[]" has no shape, as in onnx.parser. */
static int tensor_type(struct onnx_text *t, enum vram_dtype dtype, const ProtobufCMessageDescriptor *of)
{
    size_t at;
    VRAM_TRY(text_put_int(t, of, "elem_type", (uint64_t)vram_dtypes[dtype].onnx_number));
    bool list = text_is(t, '[');
    if (list && text_is(t, ']'))
        return VRAM_OK;
    VRAM_TRY(text_begin(t, of, "shape", &at));
    if (list) {
        do
            VRAM_TRY(dim(t));
        while (text_is(t, ','));
        VRAM_TRY(text_expect(t, ']'));
    }
    text_end(t, at);
    return VRAM_OK;
}

static int wrapped(struct onnx_text *t, const struct wrapper *w)
{
    size_t at, inner;
    struct text_word word;
    VRAM_TRY(text_expect(t, '('));
    VRAM_TRY(text_begin(t, TYPE, w->field, &at));
    if (w->element && w->of == &onnx__type_proto__map__descriptor) {
        VRAM_TRY(text_identifier(t, &word));
        VRAM_TRY(text_put_int(t, w->of, "key_type", (uint64_t)vram_dtypes[dtype_of(word)].onnx_number));
        VRAM_TRY(text_expect(t, ','));
    }
    if (w->element) {
        VRAM_TRY(text_begin(t, w->of, w->element, &inner));
        VRAM_TRY(text_type(t));
        text_end(t, inner);
    } else {
        VRAM_TRY(text_identifier(t, &word));
        if (!dtype_of(word))
            return text_fail(t, word.at, "an element type expected");
        VRAM_TRY(tensor_type(t, dtype_of(word), w->of));
    }
    text_end(t, at);
    return text_expect(t, ')');
}

int text_type(struct onnx_text *t)
{
    struct text_word w;
    size_t at;
    VRAM_TRY(text_identifier(t, &w));
    const struct wrapper *wrapper = wrapper_of(w);
    if (t->depth >= TYPES_DEEP)
        return text_fail(t, w.at, "types are nested more than %d levels deep", TYPES_DEEP);
    if (wrapper) {
        t->depth++;
        VRAM_TRY(wrapped(t, wrapper));
        t->depth--;
        return VRAM_OK;
    }
    enum vram_dtype dtype = dtype_of(w);
    if (!dtype)
        return text_fail(t, w.at, "'%.*s' is no type", (int)(w.n < 40 ? w.n : 40), w.at);
    VRAM_TRY(text_begin(t, TYPE, "tensor_type", &at));
    VRAM_TRY(tensor_type(t, dtype, &onnx__type_proto__tensor__descriptor));
    text_end(t, at);
    return VRAM_OK;
}

/* ---- tensors ---- */

static const char *list_of(enum vram_dtype dtype)
{
    switch (dtype) {
    case VRAM_DT_F32:
    case VRAM_DT_C64: return "float_data";
    case VRAM_DT_F64:
    case VRAM_DT_C128: return "double_data";
    case VRAM_DT_I64: return "int64_data";
    case VRAM_DT_U32:
    case VRAM_DT_U64: return "uint64_data";
    case VRAM_DT_STRING: return "string_data";
    default: return "int32_data";
    }
}

static int elements(struct onnx_text *t, enum vram_dtype dtype)
{
    const char *list = list_of(dtype);
    struct vram_json number;
    struct text_word w;
    while (!text_is(t, '}')) {
        text_space(t);
        const char *start = t->at;
        if (dtype == VRAM_DT_STRING) {
            VRAM_TRY(text_string(t, &w));
            VRAM_TRY(text_put_word(t, TENSOR, list, w));
        } else {
            VRAM_TRY(text_number(t, &number));
            bool real = list[0] == 'f' || list[0] == 'd';
            if (!real && number.token == VRAM_JSON_FLOAT)
                return text_fail(t, start, "a whole number expected");
            if (real)
                VRAM_TRY(text_put_float(t, TENSOR, list, number.real));
            else
                VRAM_TRY(text_put_int(t, TENSOR, list, number.token == VRAM_JSON_INT ? (uint64_t)number.integer : number.natural));
        }
        if (!text_is(t, ',') && !text_sees(t, '}'))
            return text_expect(t, '}');
    }
    return VRAM_OK;
}

/* ["location": "w.bin", "offset": 17] */
static int external(struct onnx_text *t)
{
    size_t at;
    struct text_word w;
    struct vram_json number;
    VRAM_TRY(text_put_int(t, TENSOR, "data_location", ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL));
    do {
        VRAM_TRY(text_begin(t, TENSOR, "external_data", &at));
        VRAM_TRY(text_string(t, &w));
        VRAM_TRY(text_put_word(t, ENTRY, "key", w));
        VRAM_TRY(text_expect(t, ':'));
        text_space(t);
        w.at = t->at;
        if (text_sees(t, '"'))
            VRAM_TRY(text_string(t, &w));
        else {
            VRAM_TRY(text_number(t, &number));
            w.n = (size_t)(t->at - w.at);
        }
        VRAM_TRY(text_put_word(t, ENTRY, "value", w));
        text_end(t, at);
    } while (text_is(t, ','));
    return text_expect(t, ']');
}

/* The content of a TensorProto: its type was read from `type` on. */
static int tensor(struct onnx_text *t, const char *type, struct text_word name)
{
    const char *back = t->at;
    struct text_word w;
    struct vram_json number;
    t->at = type;
    VRAM_TRY(text_identifier(t, &w));
    enum vram_dtype dtype = dtype_of(w);
    if (!dtype)
        return text_fail(t, w.at, "the type of a tensor expected");
    VRAM_TRY(text_put_int(t, TENSOR, "data_type", (uint64_t)vram_dtypes[dtype].onnx_number));
    if (text_is(t, '[') && !text_is(t, ']')) {
        do {
            text_space(t);
            const char *start = t->at;
            VRAM_TRY(text_number(t, &number));
            if (number.token != VRAM_JSON_INT)
                return text_fail(t, start, "a dimension must be a whole number");
            VRAM_TRY(text_put_int(t, TENSOR, "dims", (uint64_t)number.integer));
        } while (text_is(t, ','));
        VRAM_TRY(text_expect(t, ']'));
    }
    VRAM_TRY(text_put_word(t, TENSOR, "name", name));
    t->at = back;
    if (text_is(t, '['))
        return external(t);
    VRAM_TRY(text_expect(t, '{'));
    return elements(t, dtype);
}

int text_declaration(struct onnx_text *t, const ProtobufCMessageDescriptor *graph, const char *declare)
{
    struct text_word name;
    size_t at, type_at, from = t->out.n;
    size_t origins = t->origins.n;
    text_space(t);
    const char *type = t->at;
    VRAM_TRY(text_begin(t, graph, declare ? declare : "value_info", &at));
    VRAM_TRY(text_begin(t, VALUE, "type", &type_at));
    VRAM_TRY(text_type(t));
    text_end(t, type_at);
    VRAM_TRY(text_name(t, &name));
    VRAM_TRY(text_put_word(t, VALUE, "name", name));
    text_end(t, at);
    if (!text_is(t, '='))
        return VRAM_OK;
    if (!declare) { /* an initializer and nothing else */
        t->out.n = from;
        t->origins.n = origins;
    }
    VRAM_TRY(text_begin(t, graph, "initializer", &at));
    VRAM_TRY(tensor(t, type, name));
    text_end(t, at);
    return VRAM_OK;
}

/* ---- attributes ---- */

static const struct kind {
    const char *word, *field;
    int type;
    bool list;
} kinds[] = {
    {"float", "f", 1, false},        {"int", "i", 2, false},           {"string", "s", 3, false},
    {"tensor", "t", 4, false},       {"graph", "g", 5, false},         {"floats", "floats", 6, true},
    {"ints", "ints", 7, true},       {"strings", "strings", 8, true},  {"tensors", "tensors", 9, true},
    {"graphs", "graphs", 10, true},  {"type_proto", "tp", 13, false},  {"type_protos", "type_protos", 14, true},
};

enum { FLOAT, INT, STRING, TENSOR_KIND, GRAPH, TYPE_KIND = 10, LISTS = 5 };

/* What the next value is, by its first token; NULL: an error. */
static const struct kind *guess(struct onnx_text *t)
{
    const char *start = t->at;
    struct vram_json number;
    const struct kind *kind = &kinds[GRAPH];
    if (text_sees(t, '"'))
        return &kinds[STRING];
    if (text_sees_type(t))
        return &kinds[TENSOR_KIND];
    if (text_sees_word(t) && !(t->end - t->at > 3 && (!memcmp(t->at, "inf", 3) || !memcmp(t->at, "nan", 3))))
        return kind;
    if (text_number(t, &number))
        return NULL;
    kind = number.token == VRAM_JSON_INT ? &kinds[INT] : &kinds[FLOAT];
    t->at = start;
    return kind;
}

static int value(struct onnx_text *t, const struct kind *kind, const char *field)
{
    struct vram_json number;
    struct text_word w;
    size_t at;
    text_space(t);
    const char *start = t->at;
    switch (kind - kinds) {
    case FLOAT: VRAM_TRY(text_number(t, &number)); return text_put_float(t, ATTR, field, number.real);
    case INT:
        VRAM_TRY(text_number(t, &number));
        if (number.token != VRAM_JSON_INT)
            return text_fail(t, start, "a whole number expected");
        return text_put_int(t, ATTR, field, (uint64_t)number.integer);
    case STRING: VRAM_TRY(text_string(t, &w)); return text_put_word(t, ATTR, field, w);
    default: break;
    }
    VRAM_TRY(text_begin(t, ATTR, field, &at));
    if (kind == &kinds[GRAPH]) {
        VRAM_TRY(text_graph(t));
    } else if (kind == &kinds[TYPE_KIND]) {
        VRAM_TRY(text_type(t));
    } else {
        size_t mark = t->out.n, origins = t->origins.n; /* the type is read once to find its end */
        VRAM_TRY(text_type(t));
        t->out.n = mark;
        t->origins.n = origins;
        w = (struct text_word){"", 0};
        if (text_sees_word(t))
            VRAM_TRY(text_name(t, &w));
        text_is(t, '=');
        VRAM_TRY(tensor(t, start, w));
    }
    text_end(t, at);
    return VRAM_OK;
}

static int list(struct onnx_text *t, const struct kind **kind)
{
    const char *start = t->at;
    const struct kind *element = *kind ? *kind - LISTS : NULL;
    if (*kind && *kind - kinds > TYPE_KIND)
        element = &kinds[TYPE_KIND];
    if (!*kind && !text_sees(t, ']')) { /* [1, 2.5] has floats */
        element = guess(t);
        if (!element)
            return t->cx->error->code;
        for (struct vram_json number; element == &kinds[INT]; ) {
            VRAM_TRY(text_number(t, &number));
            if (number.token != VRAM_JSON_INT)
                element = &kinds[FLOAT];
            else if (!text_is(t, ','))
                break;
        }
        t->at = start;
    }
    if (!element)
        element = &kinds[INT];
    *kind = element == &kinds[TYPE_KIND] ? element + 1 : element + LISTS;
    if (text_is(t, ']'))
        return VRAM_OK;
    do
        VRAM_TRY(value(t, element, (*kind)->field));
    while (text_is(t, ','));
    return text_expect(t, ']');
}

static int typed_value(struct onnx_text *t, const struct kind *kind)
{
    struct text_word w;
    if (text_is(t, '@')) {
        VRAM_TRY(text_name(t, &w));
        VRAM_TRY(text_put_word(t, ATTR, "ref_attr_name", w));
    } else if (text_is(t, '[')) {
        if (kind && !kind->list)
            return text_fail(t, t->at - 1, "one value expected, no list");
        VRAM_TRY(list(t, &kind));
    } else {
        if (!kind)
            kind = guess(t);
        if (!kind)
            return t->cx->error->code;
        VRAM_TRY(value(t, kind, kind->field));
    }
    return kind ? text_put_int(t, ATTR, "type", (uint64_t)kind->type)
                : text_fail(t, t->at, "a reference needs a type: name: int = @other");
}

int text_attribute(struct onnx_text *t, const ProtobufCMessageDescriptor *of, const char *field)
{
    size_t at;
    struct text_word w;
    const struct kind *kind = NULL;
    VRAM_TRY(text_begin(t, of, field, &at));
    VRAM_TRY(text_name(t, &w));
    VRAM_TRY(text_put_word(t, ATTR, "name", w));
    if (text_is(t, ':')) {
        VRAM_TRY(text_identifier(t, &w));
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (text_word_is(w, kinds[k].word))
                kind = &kinds[k];
        if (!kind)
            return text_fail(t, w.at, "'%.*s' is no type of an attribute", (int)(w.n < 40 ? w.n : 40), w.at);
    }
    VRAM_TRY(text_expect(t, '='));
    VRAM_TRY(typed_value(t, kind));
    text_end(t, at);
    return VRAM_OK;
}
