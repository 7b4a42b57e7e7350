/* SPDX-License-Identifier: Apache-2.0
 *
 * ONNX files into struct vram_onnx.  Only structure is read: payloads of weights are passed over, so
 * that a model costs what its nodes and headers cost, whatever the size of its weights.
 *
 * An error has the byte of the (unpacked) file; node numbers in messages count from 0 in the file's
 * order.  What is odd but leaves an answer is a finding, V05xx; many of one kind are one finding.
 */
#ifndef VRAM_ONNX_LOAD_H
#define VRAM_ONNX_LOAD_H

#include <stddef.h>

#include "base/cx.h"
#include "ir/graph.h"
#include "source.h"

/* A file that the user named; gzip'd ones are unpacked as they are read, one named .onnxtxt is text.  Everything in *out lives in
 * cx's arena and symbols. */
int vram_onnx_load(struct vram_cx *cx, const char *path, struct vram_onnx *out);

/* Is it named .onnxtxt? */
bool vram_onnx_is_text(const char *path);
/* The file itself, and its folder (may be NULL); the caller closes it. */
int vram_onnx_source(struct vram_cx *cx, const char *path, struct vram_folder *in, struct vram_source *out);

/* The same from memory; name is for messages.  External data are not looked for. */
int vram_onnx_load_block(struct vram_cx *cx, const char *name, const void *bytes, size_t n,
                         struct vram_onnx *out);

/* ONNX's textual syntax; offsets are those of the text, and messages have line and column.  See
 * README.md for the subset. */
int vram_onnx_load_text(struct vram_cx *cx, const char *name, const char *text, size_t n,
                        struct vram_onnx *out);

#endif
