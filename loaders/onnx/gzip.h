/* SPDX-License-Identifier: Apache-2.0
 *
 * A gzip'd file as a stream of its unpacked bytes, with caps on what it may unpack to
 * (vram_limits.onnx_unpacked, .onnx_ratio).
 */
#ifndef VRAM_ONNX_GZIP_H
#define VRAM_ONNX_GZIP_H

#include <stdbool.h>

#include "base/cx.h"
#include "source.h"

struct onnx_gzip;

bool onnx_is_gzip(const unsigned char magic[2]);
int onnx_gzip_open(struct vram_cx *cx, const struct vram_source *source, struct onnx_gzip **out);
/* n bytes, fewer only at the end. */
int onnx_gzip_read(struct vram_cx *cx, struct onnx_gzip *g, unsigned char *to, size_t n, size_t *got);
void onnx_gzip_close(struct onnx_gzip *g); /* NULL is fine */

#endif
