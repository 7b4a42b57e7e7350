/* SPDX-License-Identifier: Apache-2.0
 *
 * ONNX's textual syntax (onnx/defs/parser, docs/Syntax.md of onnx) for fixtures: models, graphs, nodes
 * and functions.  It becomes the wire format, which the loader reads as if it were a file: both have
 * the same meaning and the same checks.
 */
#include "onnx/text.h"

#include <string.h>

#include "onnx/onnx.h"

#define MODEL &onnx__model_proto__descriptor
#define GRAPH &onnx__graph_proto__descriptor
#define FUNCTION &onnx__function_proto__descriptor
#define NODE &onnx__node_proto__descriptor
#define OPSET &onnx__operator_set_id_proto__descriptor

enum { GRAPHS_DEEP = 40 };

/* ---- nodes ---- */

/* "a, , b": names that may be left out, up to `stop`, which stays */
static int names(struct onnx_text *t, const char *field, char stop)
{
    struct text_word w;
    if (text_sees(t, stop))
        return VRAM_OK;
    do {
        w = (struct text_word){"", 0};
        if (text_sees_word(t))
            VRAM_TRY(text_name(t, &w));
        VRAM_TRY(text_put_word(t, NODE, field, w));
    } while (text_is(t, ','));
    return VRAM_OK;
}

static int attributes(struct onnx_text *t)
{
    if (!text_is(t, '<') || text_is(t, '>'))
        return VRAM_OK;
    do
        VRAM_TRY(text_attribute(t, NODE, "attribute"));
    while (text_is(t, ','));
    return text_expect(t, '>');
}

/* "com.microsoft.Gelu:overload" */
static int operator(struct onnx_text *t)
{
    struct text_word w, part;
    VRAM_TRY(text_identifier(t, &part));
    w = part;
    while (t->at < t->end && *t->at == '.') {
        t->at++;
        VRAM_TRY(text_identifier(t, &part));
    }
    size_t domain = (size_t)(part.at - w.at);
    if (domain)
        VRAM_TRY(text_put_word(t, NODE, "domain", (struct text_word){w.at, domain - 1}));
    VRAM_TRY(text_put_word(t, NODE, "op_type", part));
    if (t->at < t->end && *t->at == ':') {
        t->at++;
        VRAM_TRY(text_identifier(t, &part));
        VRAM_TRY(text_put_word(t, NODE, "overload", part));
    }
    return VRAM_OK;
}

static int node(struct onnx_text *t, const ProtobufCMessageDescriptor *of)
{
    size_t at;
    struct text_word w;
    VRAM_TRY(text_begin(t, of, "node", &at));
    if (text_is(t, '[')) {
        VRAM_TRY(text_name(t, &w));
        VRAM_TRY(text_put_word(t, NODE, "name", w));
        VRAM_TRY(text_expect(t, ']'));
    }
    VRAM_TRY(names(t, "output", '='));
    VRAM_TRY(text_expect(t, '='));
    VRAM_TRY(operator(t));
    VRAM_TRY(attributes(t));
    VRAM_TRY(text_expect(t, '('));
    VRAM_TRY(names(t, "input", ')'));
    VRAM_TRY(text_expect(t, ')'));
    VRAM_TRY(attributes(t));
    text_end(t, at);
    return VRAM_OK;
}

static int nodes(struct onnx_text *t, const ProtobufCMessageDescriptor *of)
{
    VRAM_TRY(text_expect(t, '{'));
    while (!text_is(t, '}')) {
        VRAM_TRY(node(t, of));
        text_is(t, ';');
    }
    return VRAM_OK;
}

/* ---- graphs ---- */

static int declarations(struct onnx_text *t, char open, char close, const char *field)
{
    VRAM_TRY(text_expect(t, open));
    if (text_is(t, close))
        return VRAM_OK;
    do
        VRAM_TRY(text_declaration(t, GRAPH, field));
    while (text_is(t, ','));
    return text_expect(t, close);
}

static int arrow(struct onnx_text *t)
{
    VRAM_TRY(text_expect(t, '='));
    return text_expect(t, '>');
}

int text_graph(struct onnx_text *t)
{
    struct text_word w;
    VRAM_TRY(text_name(t, &w));
    if (t->depth >= GRAPHS_DEEP)
        return text_fail(t, t->at, "graphs are nested more than %d levels deep", GRAPHS_DEEP);
    VRAM_TRY(text_put_word(t, GRAPH, "name", w));
    unsigned depth = t->depth;
    t->depth = 0; /* of types */
    VRAM_TRY(declarations(t, '(', ')', "input"));
    VRAM_TRY(arrow(t));
    VRAM_TRY(declarations(t, '(', ')', "output"));
    if (text_sees(t, '<'))
        VRAM_TRY(declarations(t, '<', '>', NULL));
    t->depth = depth + 1;
    VRAM_TRY(nodes(t, GRAPH));
    t->depth = depth;
    return VRAM_OK;
}

/* ---- models and functions ---- */

static int opsets(struct onnx_text *t, const ProtobufCMessageDescriptor *of)
{
    size_t at;
    struct text_word w;
    struct vram_json number;
    VRAM_TRY(text_expect(t, '['));
    if (text_is(t, ']'))
        return VRAM_OK;
    do {
        VRAM_TRY(text_begin(t, of, "opset_import", &at));
        VRAM_TRY(text_string(t, &w));
        VRAM_TRY(text_put_word(t, OPSET, "domain", w));
        VRAM_TRY(text_expect(t, ':'));
        VRAM_TRY(text_number(t, &number));
        VRAM_TRY(text_put_int(t, OPSET, "version", (uint64_t)number.integer));
        text_end(t, at);
    } while (text_is(t, ','));
    return text_expect(t, ']');
}

/* <ir_version: 8, opset_import: ["": 18], producer_name: "x"> */
static int head(struct onnx_text *t, const ProtobufCMessageDescriptor *of)
{
    struct text_word key, w;
    struct vram_json number;
    VRAM_TRY(text_expect(t, '<'));
    if (text_is(t, '>'))
        return VRAM_OK;
    do {
        VRAM_TRY(text_identifier(t, &key));
        VRAM_TRY(text_expect(t, ':'));
        char field[32];
        const ProtobufCFieldDescriptor *d = NULL;
        if (key.n < sizeof field) {
            memcpy(field, key.at, key.n);
            field[key.n] = 0;
            d = protobuf_c_message_descriptor_get_field_by_name(of, field);
        }
        if (d && !strcmp(d->name, "opset_import")) {
            VRAM_TRY(opsets(t, of));
        } else if (d && d->type == PROTOBUF_C_TYPE_INT64) {
            VRAM_TRY(text_number(t, &number));
            VRAM_TRY(text_put_int(t, of, d->name, (uint64_t)number.integer));
        } else if (d && d->type == PROTOBUF_C_TYPE_STRING && d->label != PROTOBUF_C_LABEL_REPEATED) {
            VRAM_TRY(text_string(t, &w));
            VRAM_TRY(text_put_word(t, of, d->name, w));
        } else {
            return text_fail(t, key.at, "'%.*s' is not known here", (int)(key.n < 40 ? key.n : 40), key.at);
        }
    } while (text_is(t, ','));
    return text_expect(t, '>');
}

/* <a, b: int = 2>: attributes without and with a default */
static int parameters(struct onnx_text *t)
{
    struct text_word w;
    do {
        text_space(t);
        const char *start = t->at;
        VRAM_TRY(text_name(t, &w));
        bool has_default = text_sees(t, ':') || text_sees(t, '=');
        if (has_default) {
            t->at = start;
            VRAM_TRY(text_attribute(t, FUNCTION, "attribute_proto"));
        } else {
            VRAM_TRY(text_put_word(t, FUNCTION, "attribute", w));
        }
    } while (text_is(t, ','));
    return text_expect(t, '>');
}

static int formals(struct onnx_text *t, const char *field)
{
    struct text_word w;
    VRAM_TRY(text_expect(t, '('));
    if (text_is(t, ')'))
        return VRAM_OK;
    do {
        VRAM_TRY(text_name(t, &w));
        VRAM_TRY(text_put_word(t, FUNCTION, field, w));
    } while (text_is(t, ','));
    return text_expect(t, ')');
}

static int function(struct onnx_text *t)
{
    struct text_word w;
    size_t at;
    VRAM_TRY(text_begin(t, MODEL, "functions", &at));
    VRAM_TRY(head(t, FUNCTION));
    VRAM_TRY(text_name(t, &w));
    VRAM_TRY(text_put_word(t, FUNCTION, "name", w));
    if (text_is(t, '<'))
        VRAM_TRY(parameters(t));
    VRAM_TRY(formals(t, "input"));
    VRAM_TRY(arrow(t));
    VRAM_TRY(formals(t, "output"));
    VRAM_TRY(nodes(t, FUNCTION));
    text_end(t, at);
    return VRAM_OK;
}

static int model(struct onnx_text *t)
{
    size_t at;
    VRAM_TRY(head(t, MODEL));
    VRAM_TRY(text_begin(t, MODEL, "graph", &at));
    VRAM_TRY(text_graph(t));
    text_end(t, at);
    for (text_space(t); t->at < t->end; text_space(t))
        VRAM_TRY(function(t));
    return VRAM_OK;
}

/* ---- places: bytes of what was written back into bytes of the text ---- */

static uint64_t origin(const struct onnx_text *t, uint64_t wire)
{
    size_t low = 0, high = t->origins.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->origins.at[middle].wire <= wire)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? t->origins.at[low - 1].text : 0;
}

static void places(const struct onnx_text *t, struct vram_onnx *out)
{
    /* made by this call: nobody has it yet */
    struct vram_onnx_node *nodes_of = (struct vram_onnx_node *)(uintptr_t)out->nodes.at;
    for (uint32_t i = 1; i < out->nodes.n; i++)
        nodes_of[i].offset = origin(t, nodes_of[i].offset);
    out->file_bytes = (uint64_t)(t->end - t->begin);
}

int vram_onnx_load_text(struct vram_cx *cx, const char *name, const char *text, size_t n, struct vram_onnx *out)
{
    struct onnx_text t = {.cx = cx, .begin = text, .at = text, .end = text + n};
    int rc = model(&t);
    if (rc) {
        char shown[128];
        vram_escape(shown, sizeof shown, name, strlen(name));
        vram_where(cx, "%s", shown);
    } else {
        rc = vram_onnx_load_block(cx, name, t.out.at, t.out.n, out);
        if (rc && cx->error->offset != VRAM_NO_OFFSET)
            cx->error->offset = origin(&t, cx->error->offset);
        if (!rc)
            places(&t, out);
    }
    onnx_copy_free(&t.out);
    return rc;
}
