/* SPDX-License-Identifier: Apache-2.0
 *
 * What a loader found: a configuration, named tensors, files.  Syntax only; which module a tensor
 * belongs to is said by `path`, its name in the framework's own module tree (the loader's
 * naming row translates), and decided by the tree builder.
 */
#ifndef VRAM_IR_CHECKPOINT_H
#define VRAM_IR_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cx.h"
#include "ir/config.h"
#include "ir/dtype.h"

struct vram_onnx;

struct vram_file {
    const char *name;       /* relative to the model's directory */
    uint64_t size;          /* bytes on disk */
    uint64_t header_bytes;  /* 8 + header length */
    uint64_t data_bytes;    /* what the header promises */
    bool outside;           /* of another checkpoint: the vision tower that this one only names */
};

struct vram_tensor {
    vram_sym name;   /* as stored */
    vram_sym path;   /* in the framework's module tree; = name until a naming row translates it */
    uint32_t file;   /* in files */
    uint8_t dtype;   /* enum vram_dtype */
    uint8_t rank;
    bool buffer;     /* the naming row says: a stored buffer, not a parameter */
    bool bound;      /* a parameter of the tree is it */
    bool incomplete; /* a part of a parameter, of which others are not here */
    uint32_t parts;  /* how many stored tensors it was made of; 0: it is one */
    const int64_t *dims;
    uint64_t bytes;  /* in the file */
    uint64_t offset; /* of its entry in the header, for errors */
};

struct vram_checkpoint {
    const char *path;           /* as given */
    const char *name;           /* last part of the path */
    const char *format;         /* "safetensors", "config", "onnx" */
    const struct vram_onnx *onnx; /* the graph; NULL: it is a checkpoint of modules */
    struct vram_config *config; /* root object; NULL when there is no config.json */
    const char *family;         /* model_type or "" */
    const char *class_name;     /* top class of the framework, or "" when no row knows it */
    const char *task;           /* "classify": a head of another purpose than the files name; NULL */
    struct vram_file *files;
    uint32_t nfiles;
    struct vram_tensor *tensors; /* in order of files and headers */
    uint32_t ntensors;
    bool partial;               /* weight files are missing: absent tensors are no surprise */
    /* Modules whose path begins so are not part of this checkpoint: its config only names the
     * checkpoint they come from ("model.vision_tower."), whether or not that one was found and its
     * tensors are here too (in files that are `outside`).  NULL when there are none. */
    const char *outside_prefix;
    const char *outside_name;   /* "openai/clip-vit-large-patch14-336"; NULL */
};

#endif
