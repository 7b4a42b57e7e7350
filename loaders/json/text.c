/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON strings: the hot loop that finds their end, UTF-8, escapes.  Eight bytes at a time where
 * the machine is little-endian; byte by byte elsewhere and near the end.
 */
#include <string.h>

#include "json/json.h"

#define ONES UINT64_C(0x0101010101010101)
#define TOPS UINT64_C(0x8080808080808080)

static uint64_t load(const char *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

/* a top bit in each byte that is '"', '\' or a control character; right up to the first one */
static uint64_t special(uint64_t w)
{
    uint64_t quote = w ^ (ONES * '"'), slash = w ^ (ONES * '\\');
    uint64_t control = (w - ONES * 0x20) & ~w;
    return (((quote - ONES) & ~quote) | ((slash - ONES) & ~slash) | control) & TOPS;
}

static const char *plain_run(const char *p, const char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    while (end - p >= 8) {
        uint64_t found = special(load(p));
        if (found)
            return p + (__builtin_ctzll(found) >> 3);
        p += 8;
    }
#endif
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
        p++;
    return p;
}

size_t vram_json_utf8(const char *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes, *end = p + n;
    while (p < end) {
        if (end - p >= 8 && !(load((const char *)p) & TOPS)) {
            p += 8;
            continue;
        }
        if (*p < 0x80) {
            p++;
            continue;
        }
        size_t left = (size_t)(end - p), k = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
        if (*p < 0xc2 || *p > 0xf4 || left < k)
            break;
        /* overlong forms, surrogates and what lies above U+10FFFF show in the second byte */
        unsigned char low = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;
        unsigned char high = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;
        if (p[1] < low || p[1] > high || (k > 2 && (p[2] & 0xc0) != 0x80) ||
            (k > 3 && (p[3] & 0xc0) != 0x80))
            break;
        p += k;
    }
    return n - (size_t)(end - p);
}

/* four hexadecimal digits at p, or −1 */
static int32_t hex4(const char *p, const char *end)
{
    int32_t v = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
              : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

static bool high_half(int32_t u) { return u >= 0xd800 && u < 0xdc00; }
static bool low_half(int32_t u) { return u >= 0xdc00 && u < 0xe000; }

/* the second half of a surrogate pair at p ("\uDC00"), or −1 */
static int32_t second_half(const char *p, const char *end)
{
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    int32_t u = hex4(p + 2, end);
    return low_half(u) ? u : -1;
}

/* the escape at p (its backslash); returns where it ends or NULL */
static const char *escape(const char *p, const char *end, enum vram_json_mode mode,
                          const char **why)
{
    *why = "a backslash in a string must be followed by one of \" \\ / b f n r t u";
    if (end - p < 2 || !p[1] || !strchr("\"\\/bfnrtu", p[1]))
        return NULL;
    if (p[1] != 'u')
        return p + 2;
    int32_t u = hex4(p + 2, end);
    *why = "\\u must be followed by four hexadecimal digits";
    if (u < 0)
        return NULL;
    if (high_half(u) && second_half(p + 6, end) >= 0)
        return p + 12;
    *why = "half of a surrogate pair stands alone";
    return (high_half(u) || low_half(u)) && mode == VRAM_JSON_STRICT ? NULL : p + 6;
}

const char *vram_json_string(const char *p, const char *end, enum vram_json_mode mode,
                             bool *escaped, const char **bad, const char **why)
{
    *escaped = false;
    for (;;) {
        p = plain_run(p, end);
        *bad = p;
        if (p == end) {
            *why = "the text ends inside a string: the file is cut off or a quote is missing";
            return NULL;
        }
        if (*p == '"')
            return p;
        if (*p != '\\') {
            *why = "a control character or line break inside a string must be written as an escape";
            return NULL;
        }
        *escaped = true;
        p = escape(p, end, mode, why);
        if (!p)
            return NULL;
    }
}

static size_t put_utf8(char *out, int32_t u)
{
    if (u < 0x80) {
        out[0] = (char)u;
        return 1;
    }
    size_t k = u < 0x800 ? 2 : u < 0x10000 ? 3 : 4;
    for (size_t i = k - 1; i > 0; i--, u >>= 6)
        out[i] = (char)(0x80 | (u & 0x3f));
    out[0] = (char)((0xf00 >> k & 0xff) | u);
    return k;
}

size_t vram_json_decode(const struct vram_json *j, char *out)
{
    const char *p = j->text, *end = p + j->n;
    size_t at = 0;
    while (p < end) {
        if (*p != '\\') {
            out[at++] = *p++;
            continue;
        }
        static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
        const char *known = strchr(from, p[1]);
        if (p[1] != 'u') {
            out[at++] = known ? to[known - from] : p[1];
            p += 2;
            continue;
        }
        int32_t u = hex4(p + 2, end), second = high_half(u) ? second_half(p + 6, end) : -1;
        p += 6;
        if (second >= 0) {
            u = 0x10000 + ((u - 0xd800) << 10) + (second - 0xdc00);
            p += 6;
        } else if (high_half(u) || low_half(u)) {
            u = 0xfffd;
        }
        at += put_utf8(out + at, u);
    }
    return at;
}
