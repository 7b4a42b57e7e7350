/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the reader of ONNX's textual syntax, which writes the wire format as it reads, and the
 * words of the language.
 */
#ifndef VRAM_ONNX_TEXT_H
#define VRAM_ONNX_TEXT_H

#include <stdbool.h>

#include "base/cx.h"
#include "base/vec.h"
#include "json/json.h"
#include "onnx.pb-c.h"
#include "onnx/copy.h"

/* what was written from byte `wire` on came from byte `text` on */
struct text_origin {
    uint64_t wire, text;
};

struct onnx_text {
    struct vram_cx *cx;
    const char *begin, *at, *end;
    struct onnx_copy out;
    VRAM_VEC(struct text_origin) origins;
    unsigned depth; /* of graphs and types */
};

struct text_word {
    const char *at;
    size_t n;
};

/* text_words.c.  Functions that return int report an error with line and column. */
__attribute__((format(printf, 3, 4))) int text_fail(struct onnx_text *t, const char *at, const char *format, ...);
void text_space(struct onnx_text *t);
/* Is this the next character?  It is taken then. */
bool text_is(struct onnx_text *t, char c);
bool text_sees(struct onnx_text *t, char c); /* and it stays */
int text_expect(struct onnx_text *t, char c);
bool text_sees_word(struct onnx_text *t); /* an identifier or a string */
int text_identifier(struct onnx_text *t, struct text_word *out); /* letters, digits, _ */
int text_name(struct onnx_text *t, struct text_word *out);       /* an identifier or a string */
int text_string(struct onnx_text *t, struct text_word *out);     /* in the arena, without escapes */
/* j->token: INT, UINT or FLOAT */
int text_number(struct onnx_text *t, struct vram_json *j);
bool text_word_is(struct text_word w, const char *text);

/* Writing, fields by their names in the schema. */
uint32_t text_field(const ProtobufCMessageDescriptor *of, const char *field);
int text_put_word(struct onnx_text *t, const ProtobufCMessageDescriptor *of, const char *field, struct text_word w);
int text_put_int(struct onnx_text *t, const ProtobufCMessageDescriptor *of, const char *field, uint64_t v);
int text_put_float(struct onnx_text *t, const ProtobufCMessageDescriptor *of, const char *field, double v);
int text_begin(struct onnx_text *t, const ProtobufCMessageDescriptor *of, const char *field, size_t *at);
void text_end(struct onnx_text *t, size_t at);

/* text_values.c */
/* A type, as the content of a TypeProto. */
int text_type(struct onnx_text *t);
bool text_sees_type(struct onnx_text *t);
/* "float[2] x = {1, 2}": the declaration goes into `declare` of the graph (NULL: nowhere, when it has
 * a value), a value into its initializers. */
int text_declaration(struct onnx_text *t, const ProtobufCMessageDescriptor *graph, const char *declare);
int text_attribute(struct onnx_text *t, const ProtobufCMessageDescriptor *of, const char *field);

/* text.c: "name (inputs) => (outputs) <initializers> { nodes }", as the content of a GraphProto */
int text_graph(struct onnx_text *t);

#endif
