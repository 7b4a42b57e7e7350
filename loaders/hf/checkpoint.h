/* SPDX-License-Identifier: Apache-2.0
 *
 * A Hugging Face checkpoint: config.json, weights in one of the ways people keep them, names
 * translated into module paths.  The passes of one load share this state; the order they run in
 * is the list in checkpoint.c.
 */
#ifndef VRAM_HF_CHECKPOINT_H
#define VRAM_HF_CHECKPOINT_H

#include "hf/naming.h"
#include "ir/checkpoint.h"
#include "loaders.h"
#include "safetensors/header.h"
#include "source.h"

struct vram_files {
    struct vram_file *at;
    size_t n, cap;
};

struct vram_loading {
    struct vram_cx *cx;
    const struct vram_load_options *options;
    struct vram_checkpoint *out;
    struct vram_folder folder;
    struct vram_buffer buffer; /* one file's text at a time; vram_loading_finish frees it */
    struct vram_tensors tensors;
    struct vram_files files;
    const char *config_name; /* "config.json", for messages */
    const char *config_link; /* it is a link that was not followed: why; else NULL */
    struct vram_config *config;
    const struct vram_naming *naming;
    bool trouble;  /* weights are missing, and a finding says which */
    bool optional; /* a folder without weights is fine */
    bool placed;   /* an error says where its file lies, not only below which folder */
};

/* A folder with config.json, weights, or both. */
int vram_load_folder(struct vram_loading *l, const struct vram_folder *folder);
/* One safetensors file and the config.json beside it. */
int vram_load_file(struct vram_loading *l, const struct vram_folder *folder, const char *name);
/* A config.json alone, whatever lies beside it. */
int vram_load_config(struct vram_loading *l, const struct vram_folder *folder, const char *name);
void vram_loading_finish(struct vram_loading *l);

/* cache.c: when folder is a hub cache's models--ORG--NAME, its snapshot instead. */
int vram_cache_snapshot(struct vram_cx *cx, struct vram_folder *folder);

/* weights.c: finds the weights of a folder and reads their headers into tensors and files.  In a
 * folder without any, nothing is read and it is said why (finding), or, without a config, an
 * error. */
int vram_weights_load(struct vram_loading *l);
/* One file's header; presence as vram_source_open says it. */
int vram_weights_file(struct vram_loading *l, const char *name, bool given,
                      enum vram_presence *presence);

/* original.c: a flat config of the original LLaVA repository gets text_config and vision_config. */
int vram_original_config(struct vram_loading *l);
/* tower.c: the configuration of the vision tower that `named` names, as member vision_config of
 * l->config; with its tensors, when they are wanted and at hand. */
int vram_tower_load(struct vram_loading *l, const char *named, bool want_tensors);
/* towers.c: the sizes of a well-known tower, by the last part of its name; false: not known. */
bool vram_tower_known(const char *last, size_t n);
int vram_tower_sizes(struct vram_cx *cx, const char *last, size_t n, struct vram_config *vision);

/* checks.c: what the tensors say against what the config says. */
int vram_check_empty(struct vram_loading *l);
int vram_check_dtype(struct vram_loading *l);
int vram_check_quantised(struct vram_loading *l);

#endif
