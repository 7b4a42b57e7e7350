/* SPDX-License-Identifier: Apache-2.0
 *
 * Users' own settings files: what other tools' files say, as keys of the plan.
 *
 *     bytes ─syntax─▶ statements ─rows of the tool─▶ settings, each with who said it
 *
 * json.c, yaml.c and shell.c know how things are written; tables/ knows the tools' keys; resolve.c
 * holds the statements against the rows.  Nothing is executed, and only files that were given, or
 * that one of them names below its own folder, are opened.
 */
#ifndef VRAM_SETTINGS_SETTINGS_H
#define VRAM_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cx.h"
#include "base/vec.h"
#include "plan/plan.h"

/* Whose files: rows of tables/tools.def.  The order is that in which their rows are held against
 * what was said, so that conditions on the plan see what earlier tools decided. */
enum vram_tool {
#define VRAM_TOOL(id, name, parent, shown, marks) VRAM_TOOL_##id,
#include "settings/tables/tools.def"
#undef VRAM_TOOL
    VRAM_TOOLS,
    VRAM_TOOL_NONE = VRAM_TOOLS
};

/* One statement. */
struct vram_said {
    const char *key;   /* "zero_optimization.stage"; "$NAME": a variable of the environment */
    const char *value; /* "2", "true", "q_proj,v_proj" */
    enum vram_tool tool;
    enum vram_tool whose; /* of a default: the tool, or its parent, that has it */
    uint32_t file;
    uint32_t line;  /* from 1; 0: a default */
    bool computed;  /* only a shell could say the value */
    bool merged;    /* YAML's "<<": any other statement of the key wins */
    bool done;      /* a row has taken it */
    uint32_t order; /* place among all statements */
};

struct vram_settings_file {
    const char *path;   /* to open */
    const char *name;   /* for messages, escaped */
    const char *real;   /* without links: the same file is read once */
    const char *inside; /* below this folder what it names is looked for */
    const char *prefix; /* before all of its keys; "" */
    enum vram_tool tool;  /* whose it is; VRAM_TOOL_NONE: its keys tell */
    uint32_t given;     /* position of the given file that led here */
    uint32_t parent;    /* the file that names it, or itself */
};

struct vram_settings {
    struct vram_cx *cx;
    struct vram_plan *plan;
    VRAM_VEC(struct vram_said) said;
    VRAM_VEC(struct vram_settings_file) files;
};

/* Reads files and sets what they say in the plan, but for keys that it gives already.  On failure the
 * plan may be half set.  Findings go to cx. */
int vram_settings_read(struct vram_cx *cx, struct vram_plan *plan, const char *const *paths,
                       size_t n);

/* ---- syntax ---- */

/* Texts of n bytes, none of them longer than the limit; each says what it holds (tool as `tool`).
 * Errors know their line. */
int vram_settings_json(struct vram_settings *s, uint32_t file, const char *text, size_t n);
int vram_settings_yaml(struct vram_settings *s, uint32_t file, const char *text, size_t n);
int vram_settings_shell(struct vram_settings *s, uint32_t file, const char *text, size_t n);
/* By the file's name and first bytes. */
int vram_settings_text(struct vram_settings *s, uint32_t file, const char *text, size_t n);

/* Appends a statement, whose tool is not known yet; key and value are copied. */
int vram_settings_say(struct vram_settings *s, uint32_t file, const char *key, const char *value,
                      uint32_t line);
/* The error's place: "zero2.json:12". */
int vram_settings_where(struct vram_settings *s, uint32_t file, uint64_t line, int code);
/* 1 + line feeds in n bytes */
uint32_t vram_settings_line(const char *text, size_t n);

/* ---- meaning ---- */

/* Whose the file's statements from `first` on are, by the tools' marks; and what their INSIDE, SPLITS
 * and CALLED rows make of them. */
int vram_settings_own(struct vram_settings *s, uint32_t file, uint32_t first);
/* Is the statement of a launch command one that only a training has? */
bool vram_settings_trains(const struct vram_said *said);
/* follow.c: opens what the file's statements from `first` on name; new files come behind. */
int vram_settings_follow(struct vram_settings *s, uint32_t file, uint32_t first);
/* resolve.c: the plan from all statements. */
int vram_settings_resolve(struct vram_settings *s);

#endif
