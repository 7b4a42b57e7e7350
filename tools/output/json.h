/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON as the commands write it: objects and arrays opened and closed, commas and lines kept.
 */
#ifndef VRAM_TOOLS_JSON_H
#define VRAM_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "output/page.h"

enum { JSON_DEPTH = 16 };

struct json {
    struct page *page;
    int depth;
    char close[JSON_DEPTH];
    bool any[JSON_DEPTH];  /* something stands in it */
    bool flat[JSON_DEPTH]; /* on one line */
};

/* bracket: '{' or '['; key NULL in arrays and at the top; flat: all of it on one line */
void json_open(struct json *j, const char *key, char bracket, bool flat);
void json_close(struct json *j);
void json_text(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, uint64_t n);
void json_integer(struct json *j, const char *key, int64_t n);
void json_bool(struct json *j, const char *key, bool value);
/* a value that is JSON already */
void json_raw(struct json *j, const char *key, const char *value);

#endif
