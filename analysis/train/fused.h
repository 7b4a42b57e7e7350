/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels=: packages that put code of their own in the place of norms, MLPs, rotary embeddings and the loss.
 */
#ifndef VRAM_TRAIN_FUSED_H
#define VRAM_TRAIN_FUSED_H

#include "train/train.h"

/* Is this model patched, and is what comes of it described?  Decides the loss when the plan does not. */
int vram_fused_resolve(struct vram_cx *cx, const struct vram_tree *tree, struct vram_setup *s);
/* setting(kernels.norm), (kernels.mlp), (kernels.rope) of the module that asks; false: there is no such key.
 * A norm is none, "copy" or "in_place", the others are bools. */
bool vram_fused_setting(struct vram_machine *m, const struct vram_setup *s, const char *key,
                        struct vram_value *out);

#endif
