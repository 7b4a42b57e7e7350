/* SPDX-License-Identifier: Apache-2.0
 *
 * model.safetensors.index.json: which shard holds which tensor.  Read as Python reads it (lenient);
 * a name that is no bare file name is an error, oddities that leave an answer are findings.
 */
#ifndef VRAM_SAFETENSORS_INDEX_H
#define VRAM_SAFETENSORS_INDEX_H

#include "safetensors/header.h"

struct vram_index_entry {
    vram_sym tensor;
    uint32_t shard; /* in shards */
};

struct vram_index_shard {
    vram_sym name;
    bool missing;    /* set by who opens it */
    uint32_t file;   /* its number among the files, unless missing */
};

struct vram_index {
    const char *name; /* of the index file, for messages; NULL: there is none, only shards */
    struct {
        struct vram_index_entry *at;
        size_t n, cap;
    } entries;
    struct {
        struct vram_index_shard *at;
        size_t n, cap;
    } shards; /* sorted by name */
    bool has_total;
    uint64_t total; /* metadata.total_size */
};

int vram_index_parse(struct vram_cx *cx, const char *name, const void *bytes, size_t n,
                     struct vram_index *out);

/* Holds the index against what the shards hold: findings for a tensor that its shard does not
 * hold, one that is not listed, one in two shards, a wrong total.  Of a tensor in two shards the
 * one that the index means stays; the others leave `tensors`. */
int vram_index_compare(struct vram_cx *cx, const struct vram_index *index,
                       const struct vram_file *files, struct vram_tensors *tensors);

#endif
