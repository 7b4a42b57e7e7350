/* SPDX-License-Identifier: Apache-2.0
 *
 * Configurations of timm: `architecture` names an entry point, `model_args` what was handed to it.
 */
#ifndef VRAM_HF_TIMM_H
#define VRAM_HF_TIMM_H

#include "base/cx.h"
#include "ir/config.h"

struct vram_timm_row {
    const char *architecture, *class_name;
    const char *args; /* JSON: what the entry point hands to the class */
};
extern const struct vram_timm_row vram_timm_rows[]; /* ends with NULL */

/* A root that says `architecture` and no model_type gets the class as model_type and the arguments as
 * keys; any other stays.  name: of the file, for messages. */
int vram_timm_config(struct vram_cx *cx, const char *name, struct vram_config *root);

#endif
