/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of settings: one row per key, and how its values are read from text and written.
 * A value is kept as numbers and as its canonical text: one spelling, which parses to the same
 * value.  What a setting means is known to the passes that ask for it, not here.
 */
#ifndef VRAM_PLAN_SETTINGS_H
#define VRAM_PLAN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vram/vram.h"

enum vram_key {
#define VRAM_SETTING(id, key, type, values, fallback, help, source) VRAM_KEY_##id,
#include "plan/settings.def"
#undef VRAM_SETTING
    VRAM_KEY_COUNT
};

enum vram_setting_type {
    VRAM_SETTING_INTEGER,  /* "8", "5e8" */
    VRAM_SETTING_NUMBER,   /* "12.5": up to nine decimals */
    VRAM_SETTING_FRACTION, /* "0.05" or "5%" */
    VRAM_SETTING_CHOICE,   /* one of the words; case and '_' for '-' do not matter */
    VRAM_SETTING_SWITCH,   /* on off true false yes no 1 0 */
    VRAM_SETTING_BYTES,    /* "1048576", "25MiB", "1.5GiB", "80GB" */
    VRAM_SETTING_SIZE,     /* "336" or "336x672": height, width */
    VRAM_SETTING_LIST,     /* "q,v": items without commas */
    VRAM_SETTING_TEXT,
    VRAM_SETTING_VERSION, /* "5.24", "2.9.1+cu128" */
    VRAM_SETTING_SHAPE,   /* "2x3x64x64" or "scalar" */
    VRAM_SETTING_TYPES
};

struct vram_setting_row {
    const char *key;
    enum vram_setting_type type;
    const char *values, *fallback, *help, *source; /* as settings.def says */
};
extern const struct vram_setting_row vram_settings[VRAM_KEY_COUNT];

struct vram_setting_value {
    /* INTEGER, BYTES: itself, or VRAM_SETTING_WORD for "auto"; NUMBER, FRACTION: times 10^9;
     * CHOICE: position of the word; SWITCH: 0 or 1; SIZE: height; VERSION: see
     * vram_setting_version; others: 0 */
    int64_t number;
    int64_t width; /* SIZE */
};
#define VRAM_SETTING_WORD INT64_MIN
#define VRAM_SETTING_BILLION 1000000000

/* The longest text of a value, and room for the canonical text of any. */
enum { VRAM_SETTING_TEXT_MAX = 4096, VRAM_SETTING_CANONICAL = VRAM_SETTING_TEXT_MAX + 1 };

/* 5.24 → 5024000, 2.9.1 → 2009001: versions compare as these numbers do. */
static inline int64_t vram_setting_version(int major, int minor, int patch)
{
    return ((int64_t)major * 1000 + minor) * 1000 + patch;
}

/* The row of a key, "seq" or "dim.batch" (then *name = "batch", else ""); -1 when there is none. */
int vram_setting_find(const char *key, const char **name);
/* A key of the table that was perhaps meant, or NULL. */
const char *vram_setting_suggest(const char *key);
/* True for a row that stands for any number of keys. */
bool vram_setting_is_family(enum vram_key row);

/* Reads a value; key is what messages call it.  0, VRAM_E_ARGUMENT or VRAM_E_RANGE with *error
 * filled in (never NULL).  canonical has room for VRAM_SETTING_CANONICAL bytes. */
int vram_setting_parse(enum vram_key row, const char *key, const char *text,
                       struct vram_setting_value *out, char *canonical, vram_error *error);

/* "integer" … as vram_setting_view has it. */
const char *vram_setting_type_name(enum vram_setting_type type);

/* Walks a LIST's canonical text: false at the end, else *item (not terminated) and *n.  *at starts
 * as the text. */
bool vram_setting_item(const char **at, const char **item, size_t *n);
/* The dimensions of a SHAPE's canonical text; returns the rank. */
enum { VRAM_SETTING_RANK_MAX = 32 };
size_t vram_setting_shape(const char *text, int64_t dims[VRAM_SETTING_RANK_MAX]);

#endif
