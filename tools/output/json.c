/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON out; see json.h.
 */
#include "output/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void raw(struct json *j, const char *text) { page_write(j->page, text, strlen(text)); }

/* Bytes of the well-formed UTF-8 sequence at p; 0 when there is none. */
static size_t sequence(const unsigned char *p)
{
    size_t k = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < k; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool bad = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
               (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90);
    return bad ? 0 : k;
}

static void string(struct json *j, const char *text)
{
    raw(j, "\"");
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        char escape[8];
        size_t k = sequence(p);
        if (k == 0)
            raw(j, "\\ufffd");
        else if (*p == '"' || *p == '\\')
            page_write(j->page, (const char[]){'\\', (char)*p}, 2);
        else if (*p < 0x20 || *p == 0x7f) {
            snprintf(escape, sizeof escape, "\\u%04x", *p);
            raw(j, escape);
        } else
            page_write(j->page, (const char *)p, k);
        p += k ? k : 1;
    }
    raw(j, "\"");
}

static void before(struct json *j, const char *key)
{
    if (j->depth) {
        int at = j->depth - 1;
        raw(j, j->any[at] ? "," : "");
        if (j->flat[at]) {
            raw(j, j->any[at] ? " " : "");
        } else {
            raw(j, "\n");
            page_spaces(j->page, (size_t)j->depth);
        }
        j->any[at] = true;
    }
    if (key) {
        string(j, key);
        raw(j, ": ");
    }
}

void json_open(struct json *j, const char *key, char bracket, bool flat)
{
    before(j, key);
    raw(j, bracket == '{' ? "{" : "[");
    j->close[j->depth] = bracket == '{' ? '}' : ']';
    j->any[j->depth] = false;
    j->flat[j->depth] = flat || (j->depth && j->flat[j->depth - 1]);
    j->depth++;
}

void json_close(struct json *j)
{
    int at = --j->depth;
    if (!j->flat[at] && j->any[at]) {
        raw(j, "\n");
        page_spaces(j->page, (size_t)at);
    }
    page_write(j->page, &j->close[at], 1);
    if (!at)
        raw(j, "\n");
}

void json_text(struct json *j, const char *key, const char *value)
{
    before(j, key);
    string(j, value);
}

void json_raw(struct json *j, const char *key, const char *value)
{
    before(j, key);
    raw(j, value);
}

void json_number(struct json *j, const char *key, uint64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, n);
    json_raw(j, key, text);
}

void json_integer(struct json *j, const char *key, int64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, n);
    json_raw(j, key, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
    json_raw(j, key, value ? "true" : "false");
}
