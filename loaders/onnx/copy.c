/* SPDX-License-Identifier: Apache-2.0
 *
 * See copy.h.
 */
#include "onnx/copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { LENGTH = 5 };

bool onnx_copy_room(struct onnx_copy *c, size_t n)
{
    if (c->cap - c->n >= n)
        return true;
    size_t cap = c->cap ? c->cap : 4096;
    while (cap - c->n < n) {
        if (cap > SIZE_MAX / 2)
            return false;
        cap *= 2;
    }
    unsigned char *at = vram_realloc(c->at, cap, 1);
    if (!at)
        return false;
    c->at = at;
    c->cap = cap;
    return true;
}

void onnx_copy_free(struct onnx_copy *c)
{
    free(c->at);
    *c = (struct onnx_copy){0};
}

void onnx_copy_varint(struct onnx_copy *c, uint64_t v)
{
    for (; v > 127; v >>= 7)
        c->at[c->n++] = (unsigned char)(v | 128);
    c->at[c->n++] = (unsigned char)v;
}

void onnx_copy_key(struct onnx_copy *c, uint32_t number, unsigned wire)
{
    onnx_copy_varint(c, (uint64_t)number << 3 | wire);
}

void onnx_copy_escape(struct onnx_copy *c, size_t start, uint32_t number, size_t n, size_t zeros)
{
    size_t text = c->n - n;
    unsigned char *raw = c->at + text;
    memmove(raw + zeros + 8, raw, n); /* out of the way of the longer text and its length */
    c->n = start;
    onnx_copy_key(c, number, 2);
    onnx_copy_varint(c, n + zeros);
    for (size_t i = 0; i < n; i++) {
        unsigned char b = raw[zeros + 8 + i];
        if (b == 0)
            c->at[c->n++] = 0xc0;
        c->at[c->n++] = b == 0 ? 0x80 : b;
    }
}

bool onnx_copy_mark(struct onnx_copy *c, uint32_t number, uint64_t v)
{
    if (!onnx_copy_room(c, 24))
        return false;
    onnx_copy_key(c, number, 1);
    for (int i = 0; i < 8; i++)
        c->at[c->n++] = (unsigned char)(v >> (8 * i));
    return true;
}

bool onnx_copy_begin(struct onnx_copy *c, uint32_t number, size_t *length_at)
{
    if (!onnx_copy_room(c, 16))
        return false;
    onnx_copy_key(c, number, 2);
    *length_at = c->n;
    c->n += LENGTH;
    return true;
}

void onnx_copy_end(struct onnx_copy *c, size_t length_at)
{
    uint64_t n = c->n - length_at - LENGTH;
    for (int i = 0; i < LENGTH; i++, n >>= 7)
        c->at[length_at + (size_t)i] = (unsigned char)((n & 127) | (i < LENGTH - 1 ? 128 : 0));
}
