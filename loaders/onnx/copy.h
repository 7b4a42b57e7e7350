/* SPDX-License-Identifier: Apache-2.0
 *
 * The compact copy: a heap buffer of wire format.  A caller makes room first, keys and numbers then
 * fit; a message's length takes five bytes, filled in at its end.
 */
#ifndef VRAM_ONNX_COPY_H
#define VRAM_ONNX_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of fields that no schema has: marks, eight bytes each. */
enum {
    ONNX_MARK_OFFSET = 1 << 28,
    ONNX_MARK_GRAPH,
    ONNX_MARK_COUNT = ONNX_MARK_OFFSET + 32, /* + the field's number */
    ONNX_MARK_BYTES = ONNX_MARK_OFFSET + 64
};

struct onnx_copy {
    unsigned char *at;
    size_t n, cap;
};

bool onnx_copy_room(struct onnx_copy *c, size_t n);
void onnx_copy_free(struct onnx_copy *c);

void onnx_copy_varint(struct onnx_copy *c, uint64_t v);
void onnx_copy_key(struct onnx_copy *c, uint32_t number, unsigned wire);
/* The string field of n bytes that begins at start has `zeros` NULs: each becomes C0 80. */
void onnx_copy_escape(struct onnx_copy *c, size_t start, uint32_t number, size_t n, size_t zeros);

/* These make their own room. */
bool onnx_copy_mark(struct onnx_copy *c, uint32_t number, uint64_t v);
bool onnx_copy_begin(struct onnx_copy *c, uint32_t number, size_t *length_at);
void onnx_copy_end(struct onnx_copy *c, size_t length_at);

#endif
