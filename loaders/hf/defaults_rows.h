/* SPDX-License-Identifier: Apache-2.0
 *
 * How a configuration class is written down: one row a key.  Sizes of tensors are SIZE.
 */
#ifndef VRAM_HF_DEFAULTS_ROWS_H
#define VRAM_HF_DEFAULTS_ROWS_H

#include "hf/defaults.h"

#define INT(key, value, flags) {key, VRAM_CONFIG_INT, flags, false, value, 0, NULL}
#define SIZE(key, value) INT(key, value, VRAM_KEY_SIZE)
#define PAIR(key, value) INT(key, value, VRAM_KEY_SIZE | VRAM_KEY_PAIR)
#define INT_OR_NULL(key, value, flags) INT(key, value, (flags) | VRAM_KEY_NULLABLE)
#define INT_NULL(key) {key, VRAM_CONFIG_INT, VRAM_KEY_NULLABLE, true, 0, 0, NULL}
#define BOOL(key, value) {key, VRAM_CONFIG_BOOL, 0, false, value, 0, NULL}
#define BOOL_NULL(key) {key, VRAM_CONFIG_BOOL, VRAM_KEY_NULLABLE, true, 0, 0, NULL}
#define REAL(key, value) {key, VRAM_CONFIG_FLOAT, VRAM_KEY_NULLABLE, false, 0, value, NULL}
#define REAL_NULL(key) {key, VRAM_CONFIG_FLOAT, VRAM_KEY_NULLABLE, true, 0, 0, NULL}
#define TEXT(key, value) {key, VRAM_CONFIG_STRING, 0, false, 0, 0, value}
#define END {NULL, VRAM_CONFIG_NULL, 0, false, 0, 0, NULL}

/* the rows of one file, ended by one without a model_type */
extern const struct vram_class vram_text_classes[];

#endif
