/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a protobuf file, forwards only: from memory, from a file through a window (what is skipped
 * is not read), or out of a gzip stream (what is skipped is unpacked and forgotten).
 */
#ifndef VRAM_ONNX_WIRE_H
#define VRAM_ONNX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cx.h"
#include "base/math.h"
#include "source.h"

struct onnx_gzip;

struct onnx_wire {
    struct vram_cx *cx;
    const struct vram_source *source; /* NULL: all is in the window */
    struct onnx_gzip *gzip;           /* NULL: plain */
    const unsigned char *window;
    unsigned char *buffer; /* of the window, when it is ours */
    uint64_t base;         /* offset of window[0] */
    size_t n, at;          /* of the window: filled, read */
    size_t next;           /* bytes of the next read */
    uint64_t size;         /* of the file; UINT64_MAX while it is not known */
};

void onnx_wire_block(struct onnx_wire *w, struct vram_cx *cx, const void *bytes, size_t n);
int onnx_wire_file(struct onnx_wire *w, struct vram_cx *cx, const struct vram_source *source);
void onnx_wire_close(struct onnx_wire *w);

static inline uint64_t onnx_wire_offset(const struct onnx_wire *w) { return w->base + w->at; }
/* The first bytes, at most n of them and as many as the window has. */
int onnx_wire_head(struct onnx_wire *w, const unsigned char **head, size_t *n);
/* Is there nothing more? */
int onnx_wire_ended(struct onnx_wire *w, bool *ended);

int onnx_wire_varint(struct onnx_wire *w, uint64_t *out);
int onnx_wire_read(struct onnx_wire *w, void *to, size_t n);
int onnx_wire_skip(struct onnx_wire *w, uint64_t n);

#endif
