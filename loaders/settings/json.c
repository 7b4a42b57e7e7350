/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON settings: what Python's json module reads, into statements.
 */
#include <string.h>

#include "json/json.h"
#include "settings/tree.h"

struct reader {
    struct vram_said_tree tree;
    struct vram_json j;
    const char *text;
    size_t counted; /* bytes whose lines are counted */
    uint32_t line;  /* of that byte */
};

/* offsets only grow, so that lines are counted once */
static uint32_t line_at(struct reader *r, uint64_t offset)
{
    if (offset > r->counted) {
        r->line += vram_settings_line(r->text + r->counted, (size_t)(offset - r->counted)) - 1;
        r->counted = (size_t)offset;
    }
    return r->line;
}

static int string(struct reader *r, bool key, uint32_t line)
{
    struct vram_cx *cx = r->tree.s->cx;
    const char *text = r->j.text;
    size_t n = r->j.n;
    if (r->j.escaped) {
        char *plain = vram_arena_alloc(cx->arena, n + 1);
        if (!plain)
            return vram_fail_memory(cx);
        n = vram_json_decode(&r->j, plain);
        text = plain;
    }
    if (!key)
        return vram_tree_scalar(&r->tree, text, n, line);
    vram_tree_key(&r->tree, text, n);
    return VRAM_OK;
}

static int token(struct reader *r)
{
    uint32_t line = line_at(r, r->j.offset);
    switch (r->j.token) {
    case VRAM_JSON_OBJECT:
    case VRAM_JSON_ARRAY:
        return vram_tree_open(&r->tree, r->j.token == VRAM_JSON_ARRAY, line);
    case VRAM_JSON_OBJECT_END:
    case VRAM_JSON_ARRAY_END:
        return vram_tree_close(&r->tree);
    case VRAM_JSON_KEY:
    case VRAM_JSON_STRING:
        return string(r, r->j.token == VRAM_JSON_KEY, line);
    case VRAM_JSON_INT:
    case VRAM_JSON_UINT:
    case VRAM_JSON_FLOAT:
        return vram_tree_scalar(&r->tree, r->j.text, r->j.n, line);
    case VRAM_JSON_TRUE:
        return vram_tree_scalar(&r->tree, "true", 4, line);
    case VRAM_JSON_FALSE:
        return vram_tree_scalar(&r->tree, "false", 5, line);
    default:
        return vram_tree_scalar(&r->tree, NULL, 0, line);
    }
}

static int read_all(struct reader *r, size_t n)
{
    struct vram_cx *cx = r->tree.s->cx;
    VRAM_TRY(vram_json_open(&r->j, cx, r->text, n, 0, VRAM_JSON_LENIENT));
    VRAM_TRY(vram_json_next(&r->j));
    if (r->j.token != VRAM_JSON_OBJECT)
        return vram_fail(cx, VRAM_E_FORMAT, r->j.offset, "settings are an object, not %s",
                         vram_json_token_name(r->j.token));
    while (r->j.token != VRAM_JSON_END) {
        VRAM_TRY(token(r));
        VRAM_TRY(vram_json_next(&r->j));
    }
    return VRAM_OK;
}

int vram_settings_json(struct vram_settings *s, uint32_t file, const char *text, size_t n)
{
    struct reader *r = vram_arena_alloc(s->cx->arena, sizeof *r);
    if (!r)
        return vram_fail_memory(s->cx);
    r->text = text;
    r->line = 1;
    vram_tree_begin(&r->tree, s, file);
    int rc = read_all(r, n);
    uint64_t at = rc ? s->cx->error->offset : 0;
    if (rc)
        vram_settings_where(s, file, at <= n ? vram_settings_line(text, (size_t)at) : r->line, rc);
    return rc;
}
