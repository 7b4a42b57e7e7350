/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the optimizers share: their state in a run, and the rows by family.
 */
#ifndef VRAM_TRAIN_OPTIMIZER_H
#define VRAM_TRAIN_OPTIMIZER_H

#include "train/script.h"
#include "train/train.h"

/* a name in a script: a list of tensors, or one */
struct vram_names_value {
    struct vram_handle **at;
    uint32_t n;
};

/* clip.c: dtypes in the order in which lists of them come */
uint32_t vram_dtypes_of(struct vram_handle **p, uint32_t n, uint8_t *out);
/* clip.c: meshes of ranks that compute together, on which parameters are; 0 = on none */
enum { VRAM_MESHES = 3 };
uint8_t vram_param_mesh(const struct vram_machine *m, const struct vram_handle *p);
uint32_t vram_meshes_of(const struct vram_machine *m, struct vram_handle **params, uint32_t n, uint8_t out[VRAM_MESHES]);
/* groups.c: parameters that train, into the two groups of the row */
void vram_optimizer_group(struct vram_optimizer *o);
bool vram_param_is_embedding(const struct vram_optimizer *o, const struct vram_handle *p);
bool vram_param_is_matrix(const struct vram_optimizer *o, const struct vram_handle *p);
bool vram_param_is_target(const struct vram_optimizer *o, const struct vram_handle *p);

/* rows of a family, ended by one without a name */
extern const struct vram_optimizer_row vram_optimizers_torch[], vram_optimizers_bnb[],
    vram_optimizers_torchao[], vram_optimizers_lowrank[], vram_optimizers_backward[],
    vram_optimizers_others[];

/* groups.c: does another optimizer, on the host, step on this parameter? */
bool vram_steps_on_host(const struct vram_setup *setup, const struct vram_handle *p);

#endif
