/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that a settings file names: read when they lie below its own folder.  One that was given, or
 * has the name of one, is not read twice.
 */
#include <stdio.h>
#include <string.h>

#include "settings/tables.h"
#include "source.h"

static const struct vram_settings_row *row_of(const struct vram_said *said)
{
    for (enum vram_tool tool = said->tool; tool != VRAM_TOOL_NONE; tool = vram_tools[tool].parent)
        for (uint32_t i = 0; i < vram_tools[tool].n; i++) {
            const struct vram_settings_row *r = &vram_tools[tool].rows[i];
            if (r->kind == VRAM_ROW_FOLLOWS && !strcmp(r->key, said->key))
                return r;
        }
    return NULL;
}

/* A word that the tool itself knows, as ms-swift's zero2. */
static bool is_word(const struct vram_said *said)
{
    enum vram_tool tool = vram_tool_of_key(said->tool, said->key);
    const struct vram_tool_row *t = tool == VRAM_TOOL_NONE ? NULL : &vram_tools[tool];
    for (uint32_t i = 0; t && i < t->n; i++)
        if (t->rows[i].kind == VRAM_ROW_SETS && !strcmp(t->rows[i].key, said->key) &&
            strcmp(t->rows[i].value, "*") && vram_value_is(t->rows[i].value, said->value))
            return true;
    return false;
}

static int not_read(struct vram_settings *s, const struct vram_said *said, const char *why)
{
    const char *subject = vram_format(s->cx->arena, "%s:%u", s->files.at[said->file].name, said->line);
    char shown[200];
    if (!subject)
        return vram_fail_memory(s->cx);
    vram_escape(shown, sizeof shown, said->value, strlen(said->value));
    return vram_find(s->cx, VRAM_F_SETTINGS_NOT_READ, subject, "%s: %s", shown, why);
}

/* A file of this name was given by hand: it is the one that is meant. */
static bool is_given(const struct vram_settings *s, const char *path)
{
    size_t n, k;
    const char *last = vram_path_last(path, &n);
    for (size_t i = 0; i < s->files.n; i++) {
        const char *other = vram_path_last(s->files.at[i].path, &k);
        if (s->files.at[i].parent == i && n == k && !memcmp(last, other, n))
            return true;
    }
    return false;
}

static bool is_known(const struct vram_settings *s, const char *real)
{
    for (size_t i = 0; i < s->files.n; i++)
        if (!strcmp(s->files.at[i].real, real))
            return true;
    return false;
}

static int add(struct vram_settings *s, const struct vram_said *said,
               const struct vram_settings_row *row, const char *real)
{
    const struct vram_settings_file *from = &s->files.at[said->file];
    const char *top = s->files.at[from->given].name, *below = real + strlen(from->inside);
    size_t n;
    char shown[300];
    below += *below == '/';
    vram_escape(shown, sizeof shown, below, strlen(below));
    struct vram_settings_file f = {.path = real,
                                   .name = vram_format(s->cx->arena, "%.*s%s",
                                                       (int)(vram_path_last(top, &n) - top), top, shown),
                                   .real = real, .inside = from->inside, .prefix = row->value,
                                   .tool = row->tool, .given = from->given, .parent = said->file};
    if (!f.name || !vram_vec_push(&s->files, s->cx->arena, f))
        return vram_fail_memory(s->cx);
    return VRAM_OK;
}

static int follow(struct vram_settings *s, const struct vram_said *said,
                  const struct vram_settings_row *row)
{
    const struct vram_settings_file *from = &s->files.at[said->file];
    size_t n = strlen(from->inside);
    bool given = from->parent == said->file;
    const char *base = vram_path_last(from->real, &(size_t){0});
    char *real;
    if (said->computed)
        return not_read(s, said, "only the shell knows this name");
    if (is_given(s, said->value))
        return VRAM_OK;
    if (said->value[0] == '/')
        return not_read(s, said, "not below the folder of the file that names it; give it as well");
    /* relative to the file; a followed one's own folder counts */
    const char *path =
        given ? vram_format(s->cx->arena, "%s/%s", from->inside, said->value)
              : vram_format(s->cx->arena, "%.*s%s", (int)(base - from->real), from->real, said->value);
    if (!path)
        return vram_fail_memory(s->cx);
    VRAM_TRY(vram_path_real(s->cx, path, &real));
    if (!real)
        return not_read(s, said, "not there, seen from the file that names it; give it as well");
    if (strncmp(real, from->inside, n) || (real[n] != '/' && n > 1))
        return not_read(s, said, "not below the folder of the file that names it; give it as well");
    if (is_known(s, real))
        return VRAM_OK;
    if (s->files.n >= s->cx->limits->settings_files)
        return not_read(s, said, "too many files");
    if (vram_is_folder(real))
        return not_read(s, said, "this is a folder");
    return add(s, said, row, real);
}

int vram_settings_follow(struct vram_settings *s, uint32_t file, uint32_t first)
{
    (void)file;
    for (size_t i = first; i < s->said.n; i++) {
        struct vram_said *said = &s->said.at[i];
        const struct vram_settings_row *row = said->tool == VRAM_TOOL_NONE ? NULL : row_of(said);
        if (!row || !*said->value || vram_value_is("none|false", said->value) || is_word(said))
            continue;
        said->done = true;
        const struct vram_said copy = *said;
        VRAM_TRY(follow(s, &copy, row));
    }
    return VRAM_OK;
}
