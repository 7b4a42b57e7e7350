/* SPDX-License-Identifier: Apache-2.0
 *
 * The frozen module tree of a model: every scope has the class that the framework would
 * instantiate, its parameters with exact shapes and dtypes, and its attributes.  Ids, not
 * pointers: scope 0 is the model itself.  After the tree builder has returned nothing changes, and
 * any number of threads may run it.
 */
#ifndef VRAM_IR_MODEL_H
#define VRAM_IR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/checkpoint.h"
#include "ir/program.h"
#include "ir/value.h"

struct vram_scope {
    vram_sym name;        /* "self_attn", or the number of a list member as text */
    vram_sym path;        /* "model.layers.3.self_attn" */
    uint32_t parent;      /* itself for scope 0 */
    uint32_t cls;         /* class of the program; VRAM_NO_INDEX in an unknown architecture */
    vram_sym component;
    uint32_t members;     /* first value in members[], one per member of the class */
    uint32_t first_param; /* own parameters and buffers are a run in params[] */
    uint32_t nparams;
    uint32_t end;         /* scopes below are (this, end) */
    uint32_t repeat;      /* siblings alike from here on, this one included; 0 = like the one before */
    struct vram_config *config;
    bool input_embedding; /* what get_input_embeddings() of a model finds */
    bool part;            /* its declaration, and not its parent's, says the component */
    bool absent;          /* of another pipeline stage: hands on what it is given */
    uint32_t split;       /* 1 + function that runs around its forward in a split model; 0 = none */
};

struct vram_param {
    vram_sym name;     /* "weight" */
    vram_sym path;     /* "model.layers.3.self_attn.q_proj.weight" */
    uint32_t scope;
    uint32_t tensor;   /* in the checkpoint; VRAM_NO_INDEX = not stored */
    uint32_t tied_to;  /* the parameter whose storage it is; VRAM_NO_INDEX = its own */
    uint8_t dtype;     /* as stored, else as the config says */
    uint8_t fixed;     /* the class says the dtype, whatever the precision; VRAM_DT_NONE = no */
    uint8_t rank;
    bool buffer;
    bool adapter;      /* made by PEFT: trains where the rest is frozen */
    bool named_only;   /* of a checkpoint that this one only names and that is not at hand */
    bool floating;
    bool decay_set, decay;
    bool original;     /* what PEFT has copied; the copy trains */
    uint64_t packed;   /* held in so many elements of `fixed`, never trained; 0 = as dims say */
    const int64_t *dims;
    bool absent;       /* of another pipeline stage */
    uint8_t mesh;      /* of ranks, on which it is a DTensor, split or not; 0 = on none */
    uint64_t whole;    /* elements before it was split over ranks; 0 = it is not */
    uint64_t elements;
    uint64_t bytes;    /* in dtype */
};

struct vram_list {
    uint32_t first, n; /* run in list_scopes[] */
};

struct vram_tree {
    const struct vram_program *program;
    const struct vram_syms *syms;
    struct vram_scope *scopes;
    uint32_t nscopes;
    struct vram_param *params;
    uint32_t nparams;
    struct vram_value *members;
    uint32_t nmembers;
    struct vram_list *lists;
    uint32_t nlists;
    uint32_t *list_scopes;
    uint32_t nlist_scopes;
    bool known;        /* the classes are known, not only names */
    bool runs;         /* every class that a run calls says what it runs */
    bool corrected;    /* shapes and config disagree somewhere */
    enum vram_dtype dtype; /* of the model as stored: config's, else the first float tensor's */
};

/* Elements of the parameter in the model, be it split over ranks. */
static inline uint64_t vram_param_whole(const struct vram_param *p)
{
    return p->whole ? p->whole : p->elements;
}

/* Elements and bytes of a scope and all below, tied weights once, buffers not counted. */
void vram_tree_count(const struct vram_tree *tree, uint32_t scope, uint64_t *elements,
                     uint64_t *bytes);

#endif
