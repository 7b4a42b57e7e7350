/* SPDX-License-Identifier: Apache-2.0
 *
 * Configuration classes of transformers 5.24: which keys a class reads, of which type, with which
 * default, and what it derives from them.  Facts as rows; one row per model_type.
 */
#ifndef VRAM_HF_DEFAULTS_H
#define VRAM_HF_DEFAULTS_H

#include <stddef.h>

#include "hf/config.h"

enum {
    VRAM_KEY_NULLABLE = 1, /* null is a value of it */
    VRAM_KEY_SIZE = 2,     /* decides shapes: a default is worth a note */
    VRAM_KEY_PAIR = 4,     /* may be written as two equal numbers: height and width */
    VRAM_KEY_LIST = 8      /* may be a list as well */
};

struct vram_class_key {
    const char *key;
    enum vram_config_type type; /* of the value; the default is null when flag DEFAULT_NULL */
    unsigned flags;
    bool null;       /* the default is null */
    int64_t integer; /* default of INT and BOOL */
    double real;     /* of FLOAT */
    const char *text;/* of STRING */
};

struct vram_class;

/* The class's attribute_map: what files may call a key that others call by its usual name. */
struct vram_class_name {
    const char *name, *key; /* end: name NULL */
};

/* A configuration inside a configuration. */
struct vram_class_part {
    const char *key;        /* "text_config" */
    const char *model_type; /* what it is when it does not say */
    bool fixed;             /* it is that, whatever it says */
    const struct vram_class_key *given; /* what the outer class gives when the part is absent */
    bool flat; /* files may say its keys in the outer object */
};

struct vram_class {
    const char *model_type;
    const struct vram_class_key *keys;   /* end: key NULL */
    const struct vram_class_part *parts; /* end: key NULL; may be NULL */
    bool heads_divide; /* the class or its attention refuses heads that do not divide hidden_size */
    /* what the class sets from other values, after defaults; may be NULL */
    int (*derive)(struct vram_cx *cx, struct vram_config *v);
    const struct vram_class_name *names; /* may be NULL */
};

/* NULL when no row reads this model_type. */
const struct vram_class *vram_class_find(const char *model_type);
const struct vram_class *vram_class_row(size_t i); /* NULL past the end */

/* Checks the types and ranges of what v gives, fills in what it leaves out, derives the rest; parts
 * first.  name: of the file, for messages. */
int vram_class_apply(struct vram_cx *cx, const char *name, struct vram_config *v,
                     const struct vram_class *class);

/* derive.c */
int vram_derive_decoder(struct vram_cx *cx, struct vram_config *v); /* head_dim, key-value heads */
int vram_derive_qwen(struct vram_cx *cx, struct vram_config *v);
int vram_derive_qwen2_moe(struct vram_cx *cx, struct vram_config *v);
int vram_derive_deepseek(struct vram_cx *cx, struct vram_config *v);
int vram_derive_falcon(struct vram_cx *cx, struct vram_config *v);
int vram_derive_opt(struct vram_cx *cx, struct vram_config *v);
int vram_derive_t5(struct vram_cx *cx, struct vram_config *v);
int vram_derive_gemma(struct vram_cx *cx, struct vram_config *v);
int vram_derive_head_dim(struct vram_cx *cx, struct vram_config *v);
int vram_derive_siglip_text(struct vram_cx *cx, struct vram_config *v);
int vram_derive_labels(struct vram_cx *cx, struct vram_config *v); /* num_labels */
/* the same for a root that names labels or a head that has them */
int vram_derive_labels_of_text(struct vram_cx *cx, struct vram_config *v);
int vram_derive_vit(struct vram_cx *cx, struct vram_config *v);
int vram_derive_llava(struct vram_cx *cx, struct vram_config *v);
int vram_derive_llava_next(struct vram_cx *cx, struct vram_config *v);
int vram_derive_vipllava(struct vram_cx *cx, struct vram_config *v);
int vram_derive_blip2(struct vram_cx *cx, struct vram_config *v);
int vram_derive_llava_onevision(struct vram_cx *cx, struct vram_config *v);
int vram_derive_mllama_text(struct vram_cx *cx, struct vram_config *v);
int vram_derive_mllama_vision(struct vram_cx *cx, struct vram_config *v);
int vram_derive_paligemma(struct vram_cx *cx, struct vram_config *v);
int vram_derive_qwen_vision(struct vram_cx *cx, struct vram_config *v); /* which blocks are full */

#endif
