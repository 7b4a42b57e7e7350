/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds the module tree: the classes of the program, their sizes from the config, their parameters
 * bound to the tensors of the checkpoint.  Tensor shapes win over the config; every tensor is
 * bound or reported.
 */
#ifndef VRAM_MODELS_TREE_H
#define VRAM_MODELS_TREE_H

#include "ir/model.h"

/* Errors: what the templates refuse (FORMAT), sizes out of range (RANGE, LIMIT).  An architecture
 * without a template gives the tree that the tensor names spell, with `known` false. */
int vram_tree_build(struct vram_cx *cx, struct vram_program *program,
                    const struct vram_linker *linker, struct vram_checkpoint *checkpoint,
                    struct vram_tree *out);

/* generic.c: the tree that names spell. */
int vram_tree_from_names(struct vram_cx *cx, struct vram_checkpoint *checkpoint,
                         struct vram_tree *out);
/* Which part of a model a module path belongs to, when no template says it: "vision",
 * "projector", "decoder", "lm_head", "fusion" ... (the rule of the training oracle). */
const char *vram_component_of_path(const char *path, bool multimodal);

#endif
