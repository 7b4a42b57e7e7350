/* SPDX-License-Identifier: Apache-2.0
 *
 * The pull reader; see json.h.  One bit per level says whether it is an object, `expect` says what
 * may come next; there is no other state.
 */
#include "json/json.h"

#include <string.h>

enum expect { VALUE, FIRST_VALUE, KEY, FIRST_KEY, AFTER };

static uint64_t where(const struct vram_json *j, const char *p)
{
    return j->base + (uint64_t)(p - j->begin);
}

static int bad(struct vram_json *j, const char *p, const char *why)
{
    return vram_fail(j->cx, VRAM_E_FORMAT, where(j, p), "%s", why);
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

static bool in_object(const struct vram_json *j)
{
    uint32_t level = j->depth - 1;
    return j->objects[level / 64] >> (level % 64) & 1;
}

/* what people write where JSON is wanted, in words */
static const char *guess(const char *p, const char *end)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"//", "comments are not JSON: remove it"},
        {"/*", "comments are not JSON: remove it"},
        {"#", "comments are not JSON: remove it"},
        {"'", "strings need double quotes in JSON, not single ones"},
        {"None", "None is Python, not JSON: write null"},
        {"True", "True is Python, not JSON: write true"},
        {"False", "False is Python, not JSON: write false"},
        {"NaN", "NaN is not JSON"},
        {"Infinity", "Infinity is not JSON"},
        {"-Infinity", "-Infinity is not JSON"},
        {"<<<<<<<", "a merge conflict was left in the file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].text);
        if ((size_t)(end - p) >= n && memcmp(p, rows[i].text, n) == 0)
            return rows[i].why;
    }
    return NULL;
}

static int unexpected(struct vram_json *j, const char *p, const char *wanted)
{
    if (p == j->end && !j->depth)
        return bad(j, p, "the text ends where a value should be");
    if (p == j->end)
        return vram_fail(j->cx, VRAM_E_FORMAT, where(j, p),
                         "the text ends inside an %s: the file is cut off",
                         in_object(j) ? "object" : "array");
    const char *why = guess(p, j->end);
    if (why)
        return bad(j, p, why);
    char shown[8];
    size_t k = 1;
    while (k < 4 && p + k < j->end && ((unsigned char)p[k] & 0xc0) == 0x80)
        k++;
    vram_escape(shown, sizeof shown, p, k);
    return vram_fail(j->cx, VRAM_E_FORMAT, where(j, p), "%s expected, found '%s'", wanted, shown);
}

int vram_json_open(struct vram_json *j, struct vram_cx *cx, const void *bytes, size_t n,
                   uint64_t base, enum vram_json_mode mode)
{
    static const char bom[] = "\xef\xbb\xbf";
    const char *p = bytes;
    *j = (struct vram_json){.cx = cx, .begin = p, .at = p, .end = p + n, .base = base, .mode = mode,
                            .expect = VALUE, .bom = VRAM_NO_OFFSET, .nonfinite = VRAM_NO_OFFSET};
    j->depth_max = cx->limits->json_depth < VRAM_JSON_DEPTH_MAX ? (uint32_t)cx->limits->json_depth
                                                                : VRAM_JSON_DEPTH_MAX;
    if (n == 0)
        return bad(j, p, "the file is empty");
    if (mode == VRAM_JSON_LENIENT && n >= 2) {
        if (!memcmp(p, "\xff\xfe", 2) || !memcmp(p, "\xfe\xff", 2) || !p[0] || !p[1])
            return bad(j, p, "the file is UTF-16 or UTF-32 text: save it as UTF-8");
        if (n >= 3 && !memcmp(p, bom, 3)) {
            j->bom = base;
            j->at += 3;
        }
    }
    size_t valid = vram_json_utf8(p, n);
    if (valid < n)
        return vram_fail(cx, VRAM_E_FORMAT, base + valid, "byte 0x%02x is not UTF-8",
                         (unsigned char)p[valid]);
    if (skip_space(j->at, j->end) == j->end)
        return bad(j, j->end, "there is no JSON value in it, only space");
    return VRAM_OK;
}

static int open_level(struct vram_json *j, const char *p, bool object)
{
    if (j->depth == j->depth_max)
        return vram_fail(j->cx, VRAM_E_LIMIT, where(j, p), "nested more than %u levels deep",
                         j->depth_max);
    uint64_t bit = UINT64_C(1) << (j->depth % 64), *word = &j->objects[j->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    j->depth++;
    j->token = object ? VRAM_JSON_OBJECT : VRAM_JSON_ARRAY;
    j->expect = object ? FIRST_KEY : FIRST_VALUE;
    j->at = p + 1;
    return VRAM_OK;
}

static int close_level(struct vram_json *j, const char *p)
{
    j->token = in_object(j) ? VRAM_JSON_OBJECT_END : VRAM_JSON_ARRAY_END;
    j->offset = where(j, p);
    j->depth--;
    j->expect = AFTER;
    j->at = p + 1;
    return VRAM_OK;
}

/* the string whose opening quote is at p, into text and n; j->at behind it */
static int string(struct vram_json *j, const char *p)
{
    const char *at, *why;
    const char *close = vram_json_string(p + 1, j->end, j->mode, &j->escaped, &at, &why);
    if (!close)
        return bad(j, at, why);
    j->text = p + 1;
    j->n = (size_t)(close - j->text);
    j->at = close + 1;
    return VRAM_OK;
}

static int key(struct vram_json *j, const char *p)
{
    if (p == j->end || *p != '"')
        return unexpected(j, p, "a key in double quotes");
    j->offset = where(j, p);
    VRAM_TRY(string(j, p));
    p = skip_space(j->at, j->end);
    if (p == j->end || *p != ':')
        return unexpected(j, p, "a colon after the key");
    j->at = p + 1;
    j->token = VRAM_JSON_KEY;
    j->expect = VALUE;
    return VRAM_OK;
}

static bool word(struct vram_json *j, const char *p, const char *text, enum vram_json_token token)
{
    size_t n = strlen(text);
    if ((size_t)(j->end - p) < n || memcmp(p, text, n) != 0)
        return false;
    j->token = token;
    j->at = p + n;
    return true;
}

/* NaN and the infinities, which Python writes and reads */
static bool nonfinite(struct vram_json *j, const char *p)
{
    bool minus = *p == '-';
    if (j->mode != VRAM_JSON_LENIENT || !(word(j, p + minus, "Infinity", VRAM_JSON_FLOAT) ||
                                          (!minus && word(j, p, "NaN", VRAM_JSON_FLOAT))))
        return false;
    j->real = p[minus] == 'N' ? (double)__builtin_nanf("") : (double)__builtin_inff();
    if (minus)
        j->real = -j->real;
    if (j->nonfinite == VRAM_NO_OFFSET)
        j->nonfinite = where(j, p);
    return true;
}

static int number(struct vram_json *j, const char *p)
{
    const char *at;
    const char *end = vram_json_number(j, p, &at);
    if (!end) {
        if (at == j->end)
            return unexpected(j, at, "a digit");
        return bad(j, at, at == p ? "the number is out of range"
                          : *at >= '0' && *at <= '9' ? "a number must not begin with 0"
                                                     : "a digit is missing in a number");
    }
    j->text = p;
    j->n = (size_t)(end - p);
    j->at = end;
    return VRAM_OK;
}

static int value(struct vram_json *j, const char *p)
{
    if (p == j->end)
        return unexpected(j, p, "a value");
    j->offset = where(j, p);
    j->expect = AFTER;
    switch (*p) {
    case '{':
        return open_level(j, p, true);
    case '[':
        return open_level(j, p, false);
    case '"':
        j->token = VRAM_JSON_STRING;
        return string(j, p);
    case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9':
        return number(j, p);
    default:
        if (word(j, p, "true", VRAM_JSON_TRUE) || word(j, p, "false", VRAM_JSON_FALSE) ||
            word(j, p, "null", VRAM_JSON_NULL) || nonfinite(j, p))
            return VRAM_OK;
        if (*p == '-' && !guess(p, j->end))
            return number(j, p);
        return unexpected(j, p, "a value");
    }
}

static int at_end(struct vram_json *j, const char *p)
{
    j->token = VRAM_JSON_END;
    j->at = p;
    j->offset = where(j, p);
    if (p == j->end)
        return VRAM_OK;
    if (!*p)
        return bad(j, p, "NUL bytes after the end of the JSON value: only spaces may fill up");
    return bad(j, p, "there is text after the end of the JSON value");
}

int vram_json_next(struct vram_json *j)
{
    const char *p = skip_space(j->at, j->end);
    if (j->expect == AFTER) {
        if (j->depth == 0)
            return at_end(j, p);
        bool object = in_object(j);
        if (p < j->end && *p == (object ? '}' : ']'))
            return close_level(j, p);
        if (p == j->end || *p != ',')
            return unexpected(j, p, object ? "a comma or '}'" : "a comma or ']'");
        const char *comma = p;
        p = skip_space(p + 1, j->end);
        if (p < j->end && (*p == '}' || *p == ']'))
            return bad(j, comma, "a comma before a closing bracket is not JSON: remove it");
        return object ? key(j, p) : value(j, p);
    }
    if (j->expect == FIRST_KEY) {
        if (p < j->end && *p == '}')
            return close_level(j, p);
        return key(j, p);
    }
    if (j->expect == FIRST_VALUE && p < j->end && *p == ']')
        return close_level(j, p);
    return value(j, p);
}

int vram_json_skip(struct vram_json *j)
{
    if (j->token == VRAM_JSON_KEY)
        VRAM_TRY(vram_json_next(j));
    if (j->token != VRAM_JSON_OBJECT && j->token != VRAM_JSON_ARRAY)
        return VRAM_OK;
    for (uint32_t outside = j->depth - 1; j->depth > outside;)
        VRAM_TRY(vram_json_next(j));
    return VRAM_OK;
}

bool vram_json_is(const struct vram_json *j, const char *text)
{
    size_t n = strlen(text);
    if (!j->escaped)
        return j->n == n && memcmp(j->text, text, n) == 0;
    char plain[256]; /* an escape is at most six times as long as what it stands for */
    if (j->n > sizeof plain)
        return false;
    return vram_json_decode(j, plain) == n && memcmp(plain, text, n) == 0;
}

vram_sym vram_json_sym(const struct vram_json *j)
{
    if (!j->escaped)
        return vram_sym_add(j->cx->syms, j->text, j->n, 1);
    char *plain = vram_arena_alloc(j->cx->arena, j->n + 1);
    if (!plain)
        return VRAM_SYM_NONE;
    return vram_sym_add(j->cx->syms, plain, vram_json_decode(j, plain), 0);
}

const char *vram_json_token_name(enum vram_json_token token)
{
    static const char *const names[] = {
        "the end", "an object", "the end of an object", "an array", "the end of an array", "a key",
        "a string", "an integer", "an integer", "a number that is no 64-bit integer", "true",
        "false", "null"};
    _Static_assert(sizeof names / sizeof *names == VRAM_JSON_NULL + 1, "one name for each token");
    return names[token];
}
