/* SPDX-License-Identifier: Apache-2.0
 *
 * A value of the template language.  Small and copied freely; what is shared (tensors, containers) is
 * counted by the machine.  Integers may remember which config value they are a multiple of, so
 * that a tensor's shape can correct the config.
 */
#ifndef VRAM_IR_VALUE_H
#define VRAM_IR_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sym.h"

struct vram_config;
struct vram_handle; /* a tensor of the machine */
struct vram_box;

enum vram_value_kind {
    VRAM_V_NONE,
    VRAM_V_INT,
    VRAM_V_FLOAT,
    VRAM_V_BOOL,
    VRAM_V_DTYPE,
    VRAM_V_STRING,
    VRAM_V_CONFIG,  /* an object of the configuration */
    VRAM_V_PARAM,   /* number of a parameter of the tree */
    VRAM_V_MODULE,  /* number of a scope of the tree */
    VRAM_V_MODULES, /* number of a list of scopes of the tree */
    VRAM_V_CLASS,
    VRAM_V_FUNC,    /* free function, or a method of the scope in `tag` */
    VRAM_V_OP,
    VRAM_V_TENSOR,
    VRAM_V_BOX      /* tuple, list or record */
};

struct vram_value {
    uint8_t kind;
    bool method;  /* FUNC: bound to scope `tag`; MODULE: its forward alone, without what is around it */
    uint32_t tag; /* INT: 1 + index of its origin (tree.c), 0 = none; FUNC: scope */
    union {
        int64_t i; /* INT, BOOL, DTYPE, STRING (sym), PARAM, MODULE, MODULES, CLASS, FUNC, OP */
        double f;
        struct vram_config *config;
        struct vram_handle *tensor;
        struct vram_box *box;
    } u;
};

enum vram_box_kind { VRAM_BOX_TUPLE, VRAM_BOX_LIST, VRAM_BOX_RECORD };

struct vram_box {
    int32_t refs;      /* < 0: lives as long as the tree, not counted, never changed */
    uint8_t kind;      /* enum vram_box_kind */
    bool opaque;       /* a cache object: nothing looks inside when outputs are converted */
    uint32_t n, cap;
    vram_sym *keys;    /* RECORD */
    struct vram_value *at;
    struct vram_box *next_dead; /* in the machine's list of those that wait to die */
};

static inline struct vram_value vram_bool(bool b)
{
    struct vram_value v = {.kind = VRAM_V_BOOL};
    v.u.i = b;
    return v;
}

static inline struct vram_value vram_int(int64_t i)
{
    return (struct vram_value){.kind = VRAM_V_INT, .u.i = i};
}

#endif
