/* SPDX-License-Identifier: Apache-2.0
 *
 * A model split over ranks that compute together: styles of modules (tensor and expert parallelism).
 */
#ifndef VRAM_TRAIN_CUT_H
#define VRAM_TRAIN_CUT_H

#include "train/train.h"

/* Which dimension of a parameter is split. */
enum vram_cut { VRAM_CUT_NONE, VRAM_CUT_OUTPUTS, VRAM_CUT_INPUTS, VRAM_CUT_ROWS };
enum vram_axis { VRAM_AXIS_TP, VRAM_AXIS_EP };

struct vram_style_row {
    const char *name;
    enum vram_axis axis;
    enum vram_cut cut;
    bool around;       /* Parallel of the templates has a function of the name */
    const char *help;
};
extern const struct vram_style_row vram_styles[];
extern const uint32_t vram_styles_count;

/* Puts the rank's part of every parameter into a copy of the tree.  Errors: VRAM_E_UNSUPPORTED,
 * VRAM_E_ARGUMENT. */
int vram_cut_model(struct vram_cx *cx, struct vram_tree *tree, const struct vram_setup *setup);

#endif
