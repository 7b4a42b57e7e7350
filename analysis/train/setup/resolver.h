/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this folder share: a plan on its way to a setup.
 */
#ifndef VRAM_TRAIN_RESOLVER_H
#define VRAM_TRAIN_RESOLVER_H

#include "train/train.h"

struct resolver {
    struct vram_cx *cx;
    const struct vram_plan *plan;
    const struct vram_tree *tree;
    struct vram_setup *s;
    bool graph; /* of an ONNX file: it says itself what it takes and gives */
};

/* A decision and where it comes from; a setting as the plan has it (given, or the table's default);
 * one that needs no line when it stands at its default. */
int vram_resolve_note(struct resolver *r, const char *key, const char *value, const char *origin);
int vram_resolve_note_number(struct resolver *r, const char *key, int64_t value, const char *origin);
int vram_resolve_note_plan(struct resolver *r, enum vram_key key);
int vram_resolve_note_given(struct resolver *r, enum vram_key key);
/* The refusal of a value that is not followed. */
int vram_resolve_unsupported(struct resolver *r, enum vram_key key);
/* A positive integer of the config; 0 = there is none. */
int64_t vram_resolve_int(const struct resolver *r, const struct vram_config *c, const char *key);

/* The decisions, in their order. */
int vram_resolve_mode(struct resolver *r);
int vram_resolve_versions(struct resolver *r);
int vram_resolve_strategy(struct resolver *r);
int vram_resolve_precision(struct resolver *r);
int vram_resolve_components(struct resolver *r);
int vram_resolve_lora(struct resolver *r);
int vram_resolve_seq(struct resolver *r);
int vram_resolve_images(struct resolver *r);
int vram_resolve_attention(struct resolver *r);
int vram_resolve_checkpointing(struct resolver *r);
int vram_resolve_loss(struct resolver *r);
int vram_resolve_generation(struct resolver *r);
int vram_resolve_optimizer(struct resolver *r);
int vram_resolve_gpu(struct resolver *r);
int vram_resolve_check_attention(struct resolver *r);

#endif
