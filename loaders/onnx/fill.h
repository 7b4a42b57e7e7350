/* SPDX-License-Identifier: Apache-2.0
 *
 * Where declarations of values may be added to an ONNX file, and their bytes.  A copy of the file is what stands
 * before the graph, the graph with its new length and the declarations behind it, and the rest.
 */
#ifndef VRAM_ONNX_FILL_H
#define VRAM_ONNX_FILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/cx.h"

struct vram_onnx_room {
    uint64_t key;       /* byte of the graph's key in the file; of two graphs the last one's */
    uint64_t body, end; /* its message */
    uint64_t file;      /* bytes of the file */
};
/* VRAM_E_UNSUPPORTED for a text or a packed file. */
int vram_onnx_find_place(struct vram_cx *cx, const char *path, struct vram_onnx_room *out);

/* A tensor as value_info says it. */
struct vram_onnx_declaration {
    const char *name;
    uint8_t dtype;
    uint32_t rank;
    const int64_t *sizes;      /* −1: texts says it */
    const char *const *texts;  /* "" = not known */
};
/* Its bytes as a part of a graph, in the arena. */
int vram_onnx_declare(struct vram_cx *cx, const struct vram_onnx_declaration *d, unsigned char **bytes, size_t *n);

/* The key and length of a graph of so many bytes; returns how many bytes of `to`. */
enum { VRAM_ONNX_HEAD = 20 };
size_t vram_onnx_graph_head(unsigned char to[VRAM_ONNX_HEAD], uint64_t n);

#endif
