/* SPDX-License-Identifier: Apache-2.0
 *
 * Which weights lie in a folder: its file names, each with what it is by name.  One row per way of
 * keeping weights.
 */
#ifndef VRAM_HF_LISTING_H
#define VRAM_HF_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cx.h"

enum vram_role {
    VRAM_ROLE_SAFETENSORS, /* NAME.safetensors */
    VRAM_ROLE_SHARD,       /* NAME-00001-of-00003.safetensors */
    VRAM_ROLE_INDEX,       /* NAME.safetensors.index.json, with or without a variant */
    VRAM_ROLE_ADAPTER,     /* adapter_model.safetensors */
    VRAM_ROLE_ORIGINAL,    /* consolidated*.safetensors: the vendor's own naming */
    VRAM_ROLE_OTHER        /* weights in a format that is not opened */
};

struct vram_listed {
    const char *name;
    enum vram_role role;
    const char *is; /* of OTHER: "a pickle (torch.save)" */
    bool used;      /* it was opened or tried, or belongs to what was */
};

struct vram_listing {
    struct vram_listed *at; /* sorted by name */
    size_t n, cap;
};

int vram_listing_read(struct vram_cx *cx, const char *path, struct vram_listing *out);
/* Marks a name as used. */
void vram_listing_use(struct vram_listing *listing, const char *name);

#endif
