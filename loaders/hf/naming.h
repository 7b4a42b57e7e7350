/* SPDX-License-Identifier: Apache-2.0
 *
 * Naming rows: how checkpoints of a family spell what transformers 5.24 calls by one module path.
 * A row is picked by the class that config.json names, else by its model_type; without a row names
 * stay as they are.  To add a family: its row here, its class in defaults.c, its template.
 */
#ifndef VRAM_HF_NAMING_H
#define VRAM_HF_NAMING_H

#include <stdbool.h>

#include "base/cx.h"
#include "ir/config.h"
#include "ir/rename.h"

struct vram_naming {
    const char *class_name;    /* top class in transformers; its path is "" */
    const char *config_class;  /* row of defaults.c */
    const char *types;         /* " llava llava_llama ": model_type, between spaces */
    const char *architectures; /* the same: names in config.json that mean this row */
    const struct vram_rename *renames; /* may be NULL */
    /* further condition on the root of config.json; NULL = none */
    bool (*holds)(const struct vram_cx *cx, const struct vram_config *root);
    const char *decoder; /* of the original LLaVA naming: the decoder's model_type, else NULL */
};

/* NULL when no row knows the model.  root may be NULL. */
const struct vram_naming *vram_naming_find(const struct vram_cx *cx,
                                           const struct vram_config *root);
const struct vram_naming *vram_naming_row(size_t i); /* NULL past the end */
/* architectures[0], or NULL */
const char *vram_naming_architecture(const struct vram_cx *cx, const struct vram_config *root);

/* The module path of a stored name; VRAM_SYM_NONE when out of memory.  row may be NULL. */
vram_sym vram_naming_path(struct vram_cx *cx, const struct vram_naming *row, vram_sym name);
/* Is it a buffer that older versions stored? */
bool vram_naming_buffer(const struct vram_cx *cx, vram_sym name, const int64_t *dims,
                        uint32_t rank);

#endif
