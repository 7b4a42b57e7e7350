/* SPDX-License-Identifier: Apache-2.0
 *
 * config.json into a tree of values that remember where they stand, and small helpers to look into
 * and to complete such a tree.  Knows JSON; which keys mean something is said elsewhere
 * (aliases.c, defaults.c).
 */
#ifndef VRAM_HF_CONFIG_H
#define VRAM_HF_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cx.h"
#include "ir/config.h"

/* name: of the file, for messages.  The root is an object, or it is an error. */
int vram_config_parse(struct vram_cx *cx, const char *name, const void *bytes, size_t n,
                      struct vram_config **out);

/* Gives keys the names that the classes use: "torch_dtype" → dtype, "llm_config" → text_config;
 * sizes ("n_embd" → hidden_size) only where no class of defaults.c reads the object. */
int vram_config_canonical(struct vram_cx *cx, struct vram_config *root);

/* The error "NAME: KEY" at the value's offset. */
__attribute__((format(printf, 5, 6))) int vram_config_fail(struct vram_cx *cx, const char *name,
                                                           const struct vram_config *v, int code,
                                                           const char *format, ...);
/* "NAME: KEY" for a finding's subject, into out. */
void vram_config_subject(const struct vram_cx *cx, const char *name, const struct vram_config *v,
                         char *out, size_t size);

/* A string member's text, an integer member; the fallback when it is absent or of another type. */
const char *vram_config_text(const struct vram_cx *cx, const struct vram_config *v,
                             const char *key, const char *fallback);
int64_t vram_config_int(const struct vram_cx *cx, const struct vram_config *v, const char *key,
                        int64_t fallback);
bool vram_config_bool(const struct vram_cx *cx, const struct vram_config *v, const char *key,
                      bool fallback);
/* Absent or null. */
bool vram_config_unset(const struct vram_cx *cx, const struct vram_config *v, const char *key);

/* The member, made when it is absent, with its value and origin replaced; error code or 0. */
int vram_config_set_int(struct vram_cx *cx, struct vram_config *v, const char *key, int64_t value,
                        enum vram_origin origin);
int vram_config_set_real(struct vram_cx *cx, struct vram_config *v, const char *key, double value,
                         enum vram_origin origin);
int vram_config_set_bool(struct vram_cx *cx, struct vram_config *v, const char *key, bool value,
                         enum vram_origin origin);
int vram_config_set_text(struct vram_cx *cx, struct vram_config *v, const char *key,
                         const char *value, enum vram_origin origin);
int vram_config_set_null(struct vram_cx *cx, struct vram_config *v, const char *key,
                         enum vram_origin origin);
/* An empty object or array as a new member (key NULL: of an array). */
struct vram_config *vram_config_add_branch(struct vram_cx *cx, struct vram_config *parent,
                                           const char *key, enum vram_config_type type,
                                           enum vram_origin origin);
/* A copy of from, with everything in it and its offsets, as a new member `key` of parent. */
int vram_config_copy(struct vram_cx *cx, struct vram_config *parent, const char *key,
                     const struct vram_config *from, enum vram_origin origin);

#endif
