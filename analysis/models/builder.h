/* SPDX-License-Identifier: Apache-2.0
 *
 * State of a tree that is being built; shared by tree.c (instances), bind.c (tensors against
 * shapes) and origin.c (which config value a size came from).
 */
#ifndef VRAM_MODELS_BUILDER_H
#define VRAM_MODELS_BUILDER_H

#include "machine/machine.h"
#include "models/tree.h"

/* value = config value × factor */
struct vram_origin_tag {
    struct vram_config *config;
    int64_t factor;
};

struct vram_override {
    struct vram_config *config;
    int64_t value;
    bool direct;     /* the size is the config value itself, not a multiple */
    uint32_t tensor; /* that says it; VRAM_NO_INDEX: a count of layers */
    vram_sym path;   /* of the tensor or the list */
};

enum { VRAM_MAX_MODULE_DEPTH = 40 };

struct vram_builder {
    struct vram_cx *cx;
    struct vram_program *program;
    const struct vram_linker *linker;
    struct vram_checkpoint *checkpoint;
    struct vram_tree tree;
    size_t cap_scopes, cap_params, cap_members, cap_lists, cap_list_scopes;
    struct vram_machine machine;
    VRAM_GROW(struct vram_origin_tag) tags;
    VRAM_GROW(struct vram_override) overrides;
    uint32_t *tensor_by_path; /* by sym: 1 + tensor */
    uint32_t ntensor_by_path;
    uint32_t *children_of; /* by sym of a list's path: 1 + highest number seen among tensors */
    uint32_t nchildren_of;
    struct vram_scope *root_pending;
    uint32_t absent;          /* parameters without a tensor */
    uint64_t absent_elements;
    vram_sym first_absent;
    uint32_t depth;
    struct vram_call *calls[VRAM_MAX_MODULE_DEPTH + 1]; /* constructor arguments, by depth */
};

/* origin.c */
uint32_t vram_tag_config(struct vram_machine *m, struct vram_config *c);
uint32_t vram_tag_product(struct vram_machine *m, const struct vram_value *a,
                          const struct vram_value *b);
/* Notes what value the config should have had for a size to be `actual`. */
int vram_override_size(struct vram_builder *b, const struct vram_value *size, int64_t actual,
                       uint32_t tensor, vram_sym path);
/* Applies the noted values, each with its finding; *changed when there were any. */
int vram_overrides_apply(struct vram_builder *b, bool *changed);

/* family.c: rows and classes by name; *out is NULL, *cls VRAM_NO_INDEX when no file has them */
int vram_family_of(struct vram_builder *b, vram_sym model_type, const struct vram_family **out);
int vram_class_named(struct vram_builder *b, vram_sym name, uint32_t *cls);
/* The class to build: the checkpoint's own, else the family's; the one that the task asks for. */
int vram_root_class(struct vram_builder *b, uint32_t *out);
/* Fills in what the config of a new scope leaves out.  May throw. */
int vram_family_defaults(struct vram_builder *b, struct vram_frame *f);
/* Paths of the tensors, by the renamings of the model's family. */
int vram_family_rename(struct vram_builder *b);

/* unknown.c: the error that nothing describes the model_type of this config */
int vram_no_template(struct vram_builder *b, const struct vram_config *config);
/* The same error when a class that stands in the template is not written for the config's model_type. */
int vram_check_part(struct vram_builder *b, uint32_t cls, const struct vram_config *config);
/* The tree that names spell, when no class is known, or when the build of a known one ended with code
 * because of a part that no template describes; any other code is returned. */
int vram_unknown_model(struct vram_builder *b, struct vram_tree *out);
int vram_unknown_part(struct vram_builder *b, int code, struct vram_tree *out);

/* bind.c */
int vram_bind_index(struct vram_builder *b);
/* Binds the newest parameter of the tree; sizes: its dims as evaluated. */
int vram_bind_param(struct vram_builder *b, struct vram_param *p, const struct vram_value *sizes);
/* How many members a list of layers has by the tensors' names; 0 = no tensor names it. */
uint32_t vram_bind_count(const struct vram_builder *b, vram_sym list_path);
/* After the tree is complete: what is left over, what is absent. */
int vram_bind_report(struct vram_builder *b);

/* ties.c */
int vram_ties_apply(struct vram_builder *b);

/* repeat.c */
int vram_tree_repeats(struct vram_cx *cx, struct vram_tree *tree);

#endif
