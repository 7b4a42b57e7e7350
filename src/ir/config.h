/* SPDX-License-Identifier: Apache-2.0
 *
 * A model's configuration as a tree of values that remember who said them.  The loader makes it
 * from config.json and fills in what the file leaves out (class defaults); the tree builder
 * replaces values that tensor shapes contradict.  Numbers keep both their integer and their
 * floating value.  Values form lists: the members of an object or array are linked by `next`.
 */
#ifndef VRAM_IR_CONFIG_H
#define VRAM_IR_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cx.h"

enum vram_config_type { VRAM_CONFIG_NULL, VRAM_CONFIG_BOOL, VRAM_CONFIG_INT, VRAM_CONFIG_FLOAT,
                        VRAM_CONFIG_STRING, VRAM_CONFIG_ARRAY, VRAM_CONFIG_OBJECT };

enum vram_origin { VRAM_ORIGIN_CONFIG,   /* stands in the file, at offset */
                   VRAM_ORIGIN_DEFAULT,  /* the class default of transformers */
                   VRAM_ORIGIN_TENSOR,   /* read off a tensor's shape */
                   VRAM_ORIGIN_DERIVED };/* follows from other values or files */

struct vram_config {
    vram_sym key;             /* in its object; 0 for array members and the root */
    enum vram_config_type type;
    enum vram_origin origin;
    bool used;                /* the tree builder asked for it */
    bool templated;           /* a template's default: said again whenever a tree is built */
    int64_t integer;          /* INT; 0/1 for BOOL */
    double real;              /* FLOAT and INT */
    vram_sym text;            /* STRING */
    uint64_t offset;          /* in config.json, or VRAM_NO_OFFSET */
    struct vram_config *first, *last; /* members of ARRAY and OBJECT */
    struct vram_config *next;
    struct vram_config *parent;
    /* of an integer that is DERIVED: from / per (per NULL = 1), so that it follows when one of them
     * is corrected; NULL = it does not */
    const struct vram_config *from, *per;
};

/* The member of an object; NULL when it has none (or v is NULL or no object).  An explicit null is a
 * value of type NULL. */
struct vram_config *vram_config_get(const struct vram_config *v, vram_sym key);
struct vram_config *vram_config_get_text(const struct vram_cx *cx, const struct vram_config *v,
                                         const char *key);
/* Appends a new member; NULL when out of memory (the error is set). */
struct vram_config *vram_config_add(struct vram_cx *cx, struct vram_config *parent, vram_sym key,
                                    enum vram_config_type type, enum vram_origin origin);
/* "text_config.hidden_size" into out (cut when too long). */
void vram_config_path(const struct vram_cx *cx, const struct vram_config *v, char *out, size_t size);
/* "config", "default", "tensor", "derived" */
const char *vram_origin_name(enum vram_origin origin);

#endif
