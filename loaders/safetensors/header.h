/* SPDX-License-Identifier: Apache-2.0
 *
 * Header of a safetensors file: names, dtypes, shapes, places.  Weights are never read.
 *
 * Accepts what the reference implementation (safetensors 0.8) accepts, with its ten checks in its
 * order, but for these, on purpose:
 *   - a file that is shorter or longer than its header accounts for is a finding (FILE_SHORT,
 *     FILE_LONG): sizes are known all the same;
 *   - the same tensor name twice is refused by name (the reference keeps one of the two);
 *   - refused although the reference takes them: a tensor's entry written as an array, a NUL
 *     inside a name, a dimension above 2^63 − 1, more dimensions than the limits allow.
 */
#ifndef VRAM_SAFETENSORS_HEADER_H
#define VRAM_SAFETENSORS_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/cx.h"
#include "ir/checkpoint.h"
#include "source.h"
#include "symmap.h"

/* The tensors of all files of one model. */
struct vram_tensors {
    struct vram_tensor *at;
    size_t n, cap;
    struct vram_symmap by_name; /* name → number in `at` + 1; of a name in two files the newest */
};

/* Reads the header of an open file and appends its tensors, as file number `file`.  Fills
 * size, header_bytes, data_bytes of *out. */
int vram_header_read(struct vram_cx *cx, const struct vram_source *source, uint32_t file,
                     struct vram_buffer *buffer, struct vram_tensors *tensors,
                     struct vram_file *out);

/* The same over memory: bytes are the file's first n, which hold its whole header or all of a file
 * that is shorter.  size: of the file.  name: for messages. */
int vram_header_parse(struct vram_cx *cx, const char *name, const void *bytes, size_t n,
                      uint64_t size, uint32_t file, struct vram_tensors *tensors,
                      struct vram_file *out);

/* How many bytes vram_header_parse wants, from the first eight; refuses what is no safetensors
 * file.  head: the file's first n bytes, best VRAM_KIND_BYTES of them. */
int vram_header_length(struct vram_cx *cx, const void *head, size_t n, uint64_t size,
                       uint64_t *length);

/* check.c: bytes of one tensor, the data's end, in the order of the data. */
struct vram_span {
    uint64_t begin, end; /* data_offsets */
    uint32_t tensor;     /* number in tensors */
};
int vram_header_check(struct vram_cx *cx, const char *name, const struct vram_tensors *tensors,
                      struct vram_span *spans, size_t n, uint64_t data_there, uint64_t *data_end);
/* "FILE: tensor 'NAME'" */
void vram_where_tensor(struct vram_cx *cx, const char *file, vram_sym tensor);
/* "12.4 of 13.5 GB", exact bytes when both would read the same. */
void vram_part_text(char *out, size_t size, uint64_t part, uint64_t whole);

#endif
