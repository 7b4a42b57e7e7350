/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading settings files: one after the other, with those that they name; see settings.h.
 */
#include "settings/settings.h"

#include <stdio.h>
#include <string.h>

#include "source.h"

uint32_t vram_settings_line(const char *text, size_t n)
{
    uint32_t line = 1;
    for (const char *p = text, *end = text + n; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        line++;
    return line;
}

int vram_settings_where(struct vram_settings *s, uint32_t file, uint64_t line, int code)
{
    vram_where(s->cx, line ? "%s:%llu" : "%s", s->files.at[file].name, (unsigned long long)line);
    return code;
}

int vram_settings_say(struct vram_settings *s, uint32_t file, const char *key, const char *value,
                      uint32_t line)
{
    struct vram_cx *cx = s->cx;
    const char *prefix = s->files.at[file].prefix;
    if (s->said.n >= cx->limits->settings)
        return vram_settings_where(s, file, line,
                                   vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET,
                                             "more than %llu settings",
                                             (unsigned long long)cx->limits->settings));
    struct vram_said said = {.key = vram_format(cx->arena, "%s%s", prefix, key),
                             .value = vram_arena_strndup(cx->arena, value, strlen(value)),
                             .tool = VRAM_TOOL_NONE,
                             .file = file,
                             .line = line,
                             .order = (uint32_t)s->said.n};
    if (!said.key || !said.value || !vram_vec_push(&s->said, cx->arena, said))
        return vram_fail_memory(cx);
    return VRAM_OK;
}

/* ---- which syntax ---- */

static bool ends(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n >= k && !strcmp(name + n - k, suffix);
}

static bool is_json(const char *name, const char *text, size_t n)
{
    size_t i = n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < n && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n'))
        i++;
    return ends(name, ".json") || (i < n && text[i] == '{');
}

static bool is_yaml(const char *name, const char *text, size_t n)
{
    return ends(name, ".yaml") || ends(name, ".yml") || (n >= 4 && !memcmp(text, "---\n", 4));
}

int vram_settings_text(struct vram_settings *s, uint32_t file, const char *text, size_t n)
{
    const char *name = s->files.at[file].path;
    if (is_yaml(name, text, n))
        return vram_settings_yaml(s, file, text, n);
    if (is_json(name, text, n))
        return vram_settings_json(s, file, text, n);
    return vram_settings_shell(s, file, text, n);
}

/* ---- files ---- */

/* The whole of a file; with the rules of model files, but for its own limit. */
static int load(struct vram_settings *s, uint32_t file, struct vram_buffer *buffer, size_t *n)
{
    const struct vram_settings_file *f = &s->files.at[file];
    struct vram_limits limits = *s->cx->limits;
    struct vram_cx cx = *s->cx;
    struct vram_folder folder;
    struct vram_source source;
    enum vram_presence presence;
    size_t length;
    const char *last = vram_path_last(f->path, &length);
    const char *parent = last == f->path ? "." : vram_arena_strndup(cx.arena, f->path,
                                                                    (size_t)(last - f->path));
    const char *name = vram_arena_strndup(cx.arena, last, length);
    if (!parent || !name)
        return vram_fail_memory(&cx);
    limits.json_bytes = limits.settings_bytes;
    cx.limits = &limits;
    if (!length)
        return vram_fail(&cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "the path is empty");
    VRAM_TRY(vram_folder_open(&cx, parent, "", &folder));
    VRAM_TRY(vram_source_open_given(&cx, &folder, name, &source, &presence));
    if (presence != VRAM_PRESENT)
        return vram_fail(&cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "there is no such file");
    int rc = vram_source_json(&cx, &source, buffer);
    *n = (size_t)source.size;
    vram_source_close(&source);
    return rc;
}

static int read_one(struct vram_settings *s, uint32_t file, struct vram_buffer *buffer)
{
    size_t n = 0;
    uint32_t first = (uint32_t)s->said.n;
    int rc = load(s, file, buffer, &n);
    if (rc) { /* the path as given says more than the name alone */
        s->cx->error->where[0] = 0;
        return vram_settings_where(s, file, 0, rc);
    }
    VRAM_TRY(vram_settings_text(s, file, (const char *)buffer->at, n));
    VRAM_TRY(vram_settings_own(s, file, first));
    return vram_settings_follow(s, file, first);
}

static int give(struct vram_settings *s, const char *path, uint32_t given)
{
    char shown[200], *real;
    struct vram_cx *cx = s->cx;
    size_t length;
    const char *last = vram_path_last(path, &length);
    vram_escape(shown, sizeof shown, path, strlen(path));
    struct vram_settings_file f = {.path = path,
                                   .name = vram_arena_strndup(cx->arena, shown, strlen(shown)),
                                   .prefix = "", .tool = VRAM_TOOL_NONE, .given = given,
                                   .parent = given};
    const char *folder = vram_arena_strndup(cx->arena, last == path ? "." : path,
                                            last == path ? 1 : (size_t)(last - path));
    if (!f.name || !folder)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_path_real(cx, path, &real));
    f.real = real ? real : path;
    VRAM_TRY(vram_path_real(cx, folder, &real));
    f.inside = real ? real : folder;
    return vram_vec_push(&s->files, cx->arena, f) ? VRAM_OK : vram_fail_memory(cx);
}

int vram_settings_read(struct vram_cx *cx, struct vram_plan *plan, const char *const *paths,
                       size_t n)
{
    struct vram_settings s = {.cx = cx, .plan = plan};
    struct vram_buffer buffer = {0};
    int rc = VRAM_OK;
    if (n > cx->limits->settings_files)
        return vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "more than %llu settings files",
                         (unsigned long long)cx->limits->settings_files);
    for (size_t i = 0; i < n && !rc; i++)
        rc = give(&s, paths[i], (uint32_t)i);
    for (uint32_t i = 0; i < s.files.n && !rc; i++)
        rc = read_one(&s, i, &buffer);
    vram_buffer_free(&buffer);
    return rc ? rc : vram_settings_resolve(&s);
}
