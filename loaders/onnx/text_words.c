/* SPDX-License-Identifier: Apache-2.0
 *
 * Words, numbers and errors of the textual syntax, and the fields that are written; see text.h.
 */
#include "onnx/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int text_fail(struct onnx_text *t, const char *at, const char *format, ...)
{
    char what[200];
    unsigned line = 1, column = 1;
    for (const char *p = t->begin; p < at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return vram_fail(t->cx, VRAM_E_FORMAT, (uint64_t)(at - t->begin), "line %u, column %u: %s", line, column, what);
}

void text_space(struct onnx_text *t)
{
    while (t->at < t->end && strchr(" \t\r\n#", *t->at) && *t->at) {
        if (*t->at == '#')
            while (t->at < t->end && *t->at != '\n')
                t->at++;
        else
            t->at++;
    }
}

bool text_sees(struct onnx_text *t, char c)
{
    text_space(t);
    return t->at < t->end && *t->at == c;
}

bool text_is(struct onnx_text *t, char c)
{
    bool yes = text_sees(t, c);
    t->at += yes;
    return yes;
}

int text_expect(struct onnx_text *t, char c)
{
    if (text_is(t, c))
        return VRAM_OK;
    char found[8] = "the end";
    if (t->at < t->end)
        vram_escape(found, sizeof found, t->at, 1);
    return text_fail(t, t->at, "'%c' expected, found %s", c, found);
}

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool digit(char c) { return c >= '0' && c <= '9'; }

bool text_sees_word(struct onnx_text *t)
{
    text_space(t);
    return t->at < t->end && (letter(*t->at) || *t->at == '"');
}

int text_identifier(struct onnx_text *t, struct text_word *out)
{
    text_space(t);
    const char *start = t->at;
    if (t->at == t->end || !letter(*t->at))
        return text_fail(t, t->at, "a name expected");
    while (t->at < t->end && (letter(*t->at) || digit(*t->at)))
        t->at++;
    *out = (struct text_word){start, (size_t)(t->at - start)};
    return VRAM_OK;
}

int text_name(struct onnx_text *t, struct text_word *out)
{
    return text_sees(t, '"') ? text_string(t, out) : text_identifier(t, out);
}

int text_string(struct onnx_text *t, struct text_word *out)
{
    if (!text_is(t, '"'))
        return text_fail(t, t->at, "a string expected");
    const char *start = t->at;
    while (t->at < t->end && *t->at != '"')
        t->at += *t->at == '\\' && t->end - t->at > 1 ? 2 : 1;
    if (t->at >= t->end)
        return text_fail(t, start - 1, "the string has no end");
    char *copy = vram_arena_strndup(t->cx->arena, start, (size_t)(t->at - start));
    if (!copy)
        return vram_fail_memory(t->cx);
    size_t n = 0;
    for (const char *p = start; p < t->at; p++) {
        p += *p == '\\';
        copy[n++] = *p;
    }
    t->at++;
    *out = (struct text_word){copy, n};
    return VRAM_OK;
}

int text_number(struct onnx_text *t, struct vram_json *j)
{
    text_space(t);
    const char *start = t->at, *bad = start;
    *j = (struct vram_json){.cx = t->cx, .begin = t->begin, .end = t->end, .mode = VRAM_JSON_LENIENT};
    bool minus = t->at < t->end && *t->at == '-';
    const char *word = t->at + minus;
    bool nan = t->end - word >= 3 && !memcmp(word, "nan", 3), inf = t->end - word >= 3 && !memcmp(word, "inf", 3);
    if (nan || inf) {
        j->token = VRAM_JSON_FLOAT;
        j->real = nan ? (double)NAN : minus ? -(double)INFINITY : (double)INFINITY;
        t->at = word + 3;
        return VRAM_OK;
    }
    if (word == t->end || !digit(*word))
        return text_fail(t, start, "a number expected");
    const char *end = vram_json_number(j, start, &bad);
    if (!end)
        return text_fail(t, bad, "this is no number");
    t->at = end;
    return VRAM_OK;
}

bool text_word_is(struct text_word w, const char *text)
{
    return strlen(text) == w.n && memcmp(w.at, text, w.n) == 0;
}

/* ---- writing ---- */

uint32_t text_field(const ProtobufCMessageDescriptor *of, const char *field)
{
    return protobuf_c_message_descriptor_get_field_by_name(of, field)->id;
}

int text_put_word(struct onnx_text *t, const ProtobufCMessageDescriptor *of, const char *field, struct text_word w)
{
    if (!onnx_copy_room(&t->out, w.n + 32))
        return vram_fail_memory(t->cx);
    onnx_copy_key(&t->out, text_field(of, field), 2);
    onnx_copy_varint(&t->out, w.n);
    memcpy(t->out.at + t->out.n, w.at, w.n);
    t->out.n += w.n;
    return VRAM_OK;
}

int text_put_int(struct onnx_text *t, const ProtobufCMessageDescriptor *of, const char *field, uint64_t v)
{
    if (!onnx_copy_room(&t->out, 32))
        return vram_fail_memory(t->cx);
    onnx_copy_key(&t->out, text_field(of, field), 0);
    onnx_copy_varint(&t->out, v);
    return VRAM_OK;
}

/* a float or double field, as the schema has it */
int text_put_float(struct onnx_text *t, const ProtobufCMessageDescriptor *of, const char *field, double v)
{
    const ProtobufCFieldDescriptor *d = protobuf_c_message_descriptor_get_field_by_name(of, field);
    float single = (float)v;
    uint64_t bits = 0;
    unsigned n = d->type == PROTOBUF_C_TYPE_DOUBLE ? 8 : 4;
    if (!onnx_copy_room(&t->out, 32))
        return vram_fail_memory(t->cx);
    onnx_copy_key(&t->out, d->id, n == 8 ? 1 : 5);
    if (n == 8) {
        memcpy(&bits, &v, sizeof v);
    } else {
        uint32_t half;
        memcpy(&half, &single, sizeof single);
        bits = half;
    }
    for (unsigned b = 0; b < n; b++)
        t->out.at[t->out.n++] = (unsigned char)(bits >> (8 * b));
    return VRAM_OK;
}

int text_begin(struct onnx_text *t, const ProtobufCMessageDescriptor *of, const char *field, size_t *at)
{
    text_space(t);
    struct text_origin origin = {t->out.n, (uint64_t)(t->at - t->begin)};
    if (!onnx_copy_begin(&t->out, text_field(of, field), at) || !vram_vec_push(&t->origins, t->cx->arena, origin))
        return vram_fail_memory(t->cx);
    return VRAM_OK;
}

void text_end(struct onnx_text *t, size_t at) { onnx_copy_end(&t->out, at); }
