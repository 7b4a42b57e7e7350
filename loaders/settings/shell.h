/* SPDX-License-Identifier: Apache-2.0
 *
 * A shell script as words.  Quotes, comments, continued lines, variables that the script itself sets,
 * here-documents and redirections are read as sh and bash read them; nothing is run, and what only
 * running could tell is marked so.
 */
#ifndef VRAM_SETTINGS_SHELL_H
#define VRAM_SETTINGS_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cx.h"
#include "base/vec.h"

/* In a word's text: here stands what only running could tell. */
#define VRAM_SHELL_UNKNOWN "\x1a"

struct vram_word {
    const char *text;
    uint32_t line;
    bool computed; /* it holds such a place: a substitution, a variable that the script does not set */
};

struct vram_variable {
    const char *name;
    struct vram_word *words; /* more than one: an array */
    uint32_t n;
    bool exported;
};

/* One simple command: its words, and the variables that stand before it. */
struct vram_command {
    VRAM_VEC(struct vram_word) words;
    VRAM_VEC(struct vram_variable) before;
};

struct vram_shell;
typedef int (*vram_command_fn)(void *ctx, const struct vram_shell *shell,
                               const struct vram_command *command);

/* Calls command for each simple command, in order.  On failure *line is where it stands. */
int vram_shell_read(struct vram_cx *cx, const char *text, size_t n, vram_command_fn command,
                    void *ctx, uint32_t *line);
/* The variables that are exported by now; NULL past the end. */
const struct vram_variable *vram_shell_exported(const struct vram_shell *shell, size_t i);

#endif
