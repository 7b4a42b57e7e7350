/* SPDX-License-Identifier: Apache-2.0
 *
 * The tools' keys as rows.  A key with no row does not matter to memory.  One that has rows, none of
 * which takes its value, matters and is not understood.
 *
 *   VRAM_SETS(key, value, when, sets, source)         what a value means for the plan
 *   VRAM_NOTED(key, value, when, sets, note, source)  the same, with something to know
 *   VRAM_DEFAULT(key, value, when, source)            what the tool takes when the key is not there
 *   VRAM_CALLED(key, real, source)                    another name; one that ends in '_' or '.' is
 *                                                     the beginning of names
 *   VRAM_INSIDE(key, TOOL, source)                    below it another tool's keys
 *   VRAM_OPENS(key, source)                           a value that is JSON text has keys below it
 *   VRAM_SPLITS(key, source)                          each word of the value is a key below it
 *   VRAM_FOLLOWS(key, TOOL, prefix, source)           a file of TOOL (NONE: its keys tell), whose keys
 *                                                     get the prefix
 *
 * value: alternatives with '|'.  "*" is anything but nothing, ">1" a number above, true and false the
 *   words for them, "" nothing; else the text, whatever its case, or the same number.
 * when: tests with spaces between, all of which must hold: "key=value", "!key=value" on what is said
 *   (by the tool, else by any; nothing when it is not said), ":key=value" on the plan so far.
 * sets: "key=value" with spaces between; '*' in the value is the value that was said.  "?key" leaves
 *   the key to others, and is a finding when none of them says it.
 *
 * Rows are tried tool by tool and in order; the first that takes a statement has it.
 */
#ifndef VRAM_SETTINGS_TABLES_H
#define VRAM_SETTINGS_TABLES_H

#include "settings/settings.h"

enum vram_settings_kind {
    VRAM_ROW_SETS,
    VRAM_ROW_DEFAULT,
    VRAM_ROW_CALLED,
    VRAM_ROW_INSIDE,
    VRAM_ROW_OPENS,
    VRAM_ROW_SPLITS,
    VRAM_ROW_FOLLOWS
};

struct vram_settings_row {
    enum vram_settings_kind kind;
    const char *key, *value, *when, *sets, *note, *source;
    enum vram_tool tool; /* of INSIDE and FOLLOWS */
};

struct vram_tool_row {
    const char *name; /* "DeepSpeed" */
    enum vram_tool parent; /* whose keys it has as well */
    const char *shown;     /* the files, for people */
    const char *marks;     /* keys that only its files have */
    const struct vram_settings_row *rows;
    uint32_t n;
};
extern const struct vram_tool_row vram_tools[VRAM_TOOLS];

/* Is the key one that the tool, or its parent, has rows of? */
bool vram_tool_knows(enum vram_tool tool, const char *key);
/* The tool's rows for the key, else its parent's: which of the two. */
enum vram_tool vram_tool_of_key(enum vram_tool tool, const char *key);
/* One of the alternatives? */
bool vram_value_is(const char *alternatives, const char *value);
/* The next word of a list with spaces between; false at the end. */
bool vram_next_word(const char **at, const char **word, size_t *n);

#endif
