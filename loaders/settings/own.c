/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose a file's statements are, and the names under which the tables have their keys.
 */
#include <string.h>

#include "settings/tables.h"

/* Is the key the mark, or below it? */
static bool marked(const char *marks, const char *key)
{
    const char *word;
    size_t n;
    for (const char *at = marks; vram_next_word(&at, &word, &n);)
        if (!strncmp(key, word, n) && (!key[n] || key[n] == '.'))
            return true;
    return false;
}

bool vram_settings_trains(const struct vram_said *said)
{
    if (said->tool == VRAM_TOOL_LAUNCH) /* the script reads a file, or accelerate does */
        return !strcmp(said->key, "settings_file") || !strcmp(said->key, "config_file");
    for (int tool = 0; tool < VRAM_TOOLS; tool++)
        if (said->key[0] != '$' && marked(vram_tools[tool].marks, said->key))
            return true;
    return false;
}

static enum vram_tool guess(const struct vram_settings *s, uint32_t first)
{
    for (int tool = 0; tool < VRAM_TOOLS; tool++)
        for (size_t i = first; i < s->said.n; i++)
            if (s->said.at[i].tool == VRAM_TOOL_NONE &&
                marked(vram_tools[tool].marks, s->said.at[i].key))
                return (enum vram_tool)tool;
    return VRAM_TOOL_NONE;
}

/* The tool's row of a kind that is about the key, or about the beginning of it. */
static const struct vram_settings_row *row_for(enum vram_tool tool, enum vram_settings_kind kind,
                                               const char *key)
{
    for (; tool != VRAM_TOOL_NONE; tool = vram_tools[tool].parent)
        for (uint32_t i = 0; i < vram_tools[tool].n; i++) {
            const struct vram_settings_row *r = &vram_tools[tool].rows[i];
            size_t n = strlen(r->key);
            bool open = kind == VRAM_ROW_INSIDE ||
                        (kind == VRAM_ROW_CALLED && n && (r->key[n - 1] == '_' || r->key[n - 1] == '.'));
            if (r->kind != kind || strncmp(key, r->key, n))
                continue;
            if (kind == VRAM_ROW_INSIDE ? key[n] == '.' : open ? key[n] != 0 : !key[n])
                return r;
        }
    return NULL;
}

/* Each word of the value is a statement of its own, below the key. */
static int split(struct vram_settings *s, size_t i)
{
    const struct vram_said from = s->said.at[i];
    for (const char *p = from.value; *p;) {
        size_t n = strcspn(p, " ,");
        if (n) {
            const char *key = vram_format(s->cx->arena, "%s.%.*s", from.key, (int)n, p);
            if (!key)
                return vram_fail_memory(s->cx);
            VRAM_TRY(vram_settings_say(s, from.file, key, "true", from.line));
            struct vram_said *to = &s->said.at[s->said.n - 1];
            to->key = key; /* a file's prefix stands before it already */
            to->tool = from.tool;
            to->computed = from.computed;
        }
        p += n;
        p += strspn(p, " ,");
    }
    return VRAM_OK;
}

/* JSON text in an argument: statements below its key, on its line.  What is no JSON stays as it is. */
static int open_text(struct vram_settings *s, size_t i)
{
    const struct vram_said from = s->said.at[i];
    struct vram_cx *cx = s->cx, own = *cx;
    vram_error error = {.offset = VRAM_NO_OFFSET};
    size_t first = s->said.n, prefix = strlen(s->files.at[from.file].prefix);
    own.error = &error;
    s->cx = &own;
    int rc = vram_settings_json(s, from.file, from.value, strlen(from.value));
    s->cx = cx;
    if (rc == VRAM_E_NOMEM || rc == VRAM_E_LIMIT) {
        *cx->error = error;
        return rc;
    }
    if (rc) {
        s->said.n = first;
        return VRAM_OK;
    }
    for (size_t k = first; k < s->said.n; k++) {
        struct vram_said *x = &s->said.at[k];
        x->key = vram_format(cx->arena, "%s.%s", from.key, x->key + prefix);
        if (!x->key)
            return vram_fail_memory(cx);
        x->tool = from.tool;
        x->line = from.line;
    }
    s->said.at[i].value = "";
    return VRAM_OK;
}

static int settle(struct vram_settings *s, size_t i)
{
    const struct vram_settings_row *r;
    for (int step = 0; step < 4; step++) { /* names lead to names, but not far */
        struct vram_said *said = &s->said.at[i];
        if (said->value[0] == '{' && row_for(said->tool, VRAM_ROW_OPENS, said->key))
            VRAM_TRY(open_text(s, i));
        else if (row_for(said->tool, VRAM_ROW_SPLITS, said->key))
            VRAM_TRY(split(s, i));
        said = &s->said.at[i];
        if ((r = row_for(said->tool, VRAM_ROW_CALLED, said->key))) {
            size_t n = strlen(r->key);
            said->key = said->key[n] ? vram_format(s->cx->arena, "%s%s", r->value, said->key + n)
                                     : r->value;
        } else if ((r = row_for(said->tool, VRAM_ROW_INSIDE, said->key))) {
            said->key += strlen(r->key) + 1;
            said->tool = r->tool;
        } else {
            return VRAM_OK;
        }
        if (!said->key)
            return vram_fail_memory(s->cx);
    }
    return VRAM_OK;
}

static int no_tool(struct vram_settings *s, uint32_t file)
{
    char names[200] = "";
    for (int i = 0; i < VRAM_TOOLS; i++)
        if (*vram_tools[i].marks && strlen(names) + strlen(vram_tools[i].name) + 3 < sizeof names)
            strcat(strcat(names, *names ? ", " : ""), vram_tools[i].name);
    return vram_settings_where(s, file, 0,
                               vram_fail(s->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                                         "no key is one of a tool that is known (%s)", names));
}

int vram_settings_own(struct vram_settings *s, uint32_t file, uint32_t first)
{
    enum vram_tool tool = s->files.at[file].tool;
    bool any = false;
    if (tool == VRAM_TOOL_NONE)
        tool = guess(s, first);
    for (size_t i = first; i < s->said.n; i++) {
        if (s->said.at[i].tool == VRAM_TOOL_NONE)
            s->said.at[i].tool = tool;
        any = any || s->said.at[i].tool != VRAM_TOOL_NONE;
    }
    if (!any)
        return no_tool(s, file);
    for (size_t i = first; i < s->said.n; i++) /* split adds to them */
        if (s->said.at[i].tool != VRAM_TOOL_NONE)
            VRAM_TRY(settle(s, i));
    return VRAM_OK;
}
