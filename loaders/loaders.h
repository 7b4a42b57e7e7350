/* SPDX-License-Identifier: Apache-2.0
 *
 * The way in: a path into a checkpoint.  Syntax only; nothing here knows what a model does with
 * memory.
 */
#ifndef VRAM_LOADERS_H
#define VRAM_LOADERS_H

#include "base/cx.h"
#include "ir/checkpoint.h"

struct vram_load_options {
    const char *vision_tower; /* folder of a tower that is only named; NULL: look beside it */
};

/* Reads what is at path: a checkpoint folder, a hub cache's folder of one repository
 * (models--ORG--NAME, its refs/main), one .safetensors file, an index, a config.json alone, or an
 * ONNX file (out->onnx is its graph then).
 * options may be NULL.  Everything in *out lives in the arena. */
int vram_load(struct vram_cx *cx, const char *path, const struct vram_load_options *options,
              struct vram_checkpoint *out);

/* Formats that are opened, for `vramcast list formats`; NULL past the end. */
const char *vram_loader_format(size_t i);
const char *vram_loader_help(size_t i);

#endif
