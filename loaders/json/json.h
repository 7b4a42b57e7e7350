/* SPDX-License-Identifier: Apache-2.0
 *
 * Streaming JSON reader (RFC 8259) over a range of memory.  The caller pulls one token at a time;
 * nothing recurses, nothing is allocated, every token and every error knows its byte.
 *
 *     struct vram_json j;
 *     VRAM_TRY(vram_json_open(&j, cx, bytes, n, 0, VRAM_JSON_STRICT));
 *     VRAM_TRY(vram_json_next(&j));                 j.token, j.offset, j.text ...
 *
 * Strict accepts what serde_json accepts (safetensors headers); lenient accepts what Python's json
 * module reads (configs, indexes): a byte order mark, NaN, Infinity and -Infinity.  Comments,
 * trailing commas, single quotes and text after the end are errors in both.  Whether a key stands
 * twice only the caller can know.
 *
 * The reader does not know which file it reads: the caller says where (vram_where).
 */
#ifndef VRAM_JSON_JSON_H
#define VRAM_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cx.h"

enum vram_json_token {
    VRAM_JSON_END, /* after the whole value; nothing but space follows */
    VRAM_JSON_OBJECT,
    VRAM_JSON_OBJECT_END,
    VRAM_JSON_ARRAY,
    VRAM_JSON_ARRAY_END,
    VRAM_JSON_KEY,    /* text, n, escaped; its value is the next token */
    VRAM_JSON_STRING, /* text, n, escaped */
    VRAM_JSON_INT,    /* integer, real */
    VRAM_JSON_UINT,   /* natural, real: above INT64_MAX */
    VRAM_JSON_FLOAT,  /* real: a fraction, an exponent, or an integer beyond 64 bits */
    VRAM_JSON_TRUE,
    VRAM_JSON_FALSE,
    VRAM_JSON_NULL
};

enum vram_json_mode { VRAM_JSON_STRICT, VRAM_JSON_LENIENT };

enum { VRAM_JSON_DEPTH_MAX = 1024 }; /* whatever the limits say */

struct vram_json {
    enum vram_json_token token;
    bool escaped;     /* text holds escapes: see vram_json_decode */
    const char *text; /* between the quotes; of a number: its digits */
    size_t n;
    int64_t integer;
    uint64_t natural;
    double real;
    uint64_t offset; /* of the token in the file; of a string: its opening quote */

    uint64_t bom, nonfinite; /* lenient: where the first one was, or VRAM_NO_OFFSET */

    struct vram_cx *cx;
    const char *begin, *at, *end;
    uint64_t base; /* offset of begin in the file */
    enum vram_json_mode mode;
    uint32_t depth, depth_max;
    unsigned char expect;
    uint64_t objects[VRAM_JSON_DEPTH_MAX / 64]; /* one bit per level: an object */
};

/* Checks that all of it is UTF-8 and not empty.  base: where bytes lie in the file. */
int vram_json_open(struct vram_json *j, struct vram_cx *cx, const void *bytes, size_t n,
                   uint64_t base, enum vram_json_mode mode);
int vram_json_next(struct vram_json *j);
/* After a key or at the first token of a value: reads to the value's end. */
int vram_json_skip(struct vram_json *j);

/* Is the current key or string this text? */
bool vram_json_is(const struct vram_json *j, const char *text);
/* The current key or string without escapes, into out (at least j->n bytes); returns its length,
 * which is never larger than j->n.  A lone surrogate (lenient only) becomes U+FFFD. */
size_t vram_json_decode(const struct vram_json *j, char *out);
/* The current key or string as an interned name; VRAM_SYM_NONE when out of memory. */
vram_sym vram_json_sym(const struct vram_json *j);
/* "an object", "a string" ...: the current token in words */
const char *vram_json_token_name(enum vram_json_token token);

/* number.c: reads the number at p (a digit or a minus); returns where it ends, or NULL when it is
 * malformed, with *bad at the byte.  Fills token, integer, natural, real. */
const char *vram_json_number(struct vram_json *j, const char *p, const char **bad);
/* text.c: the first byte that is not UTF-8, or n. */
size_t vram_json_utf8(const char *bytes, size_t n);
/* text.c: the closing quote of the string that starts at p (after its opening quote), or NULL with
 * *bad and *why; sets *escaped. */
const char *vram_json_string(const char *p, const char *end, enum vram_json_mode mode,
                             bool *escaped, const char **bad, const char **why);

#endif
