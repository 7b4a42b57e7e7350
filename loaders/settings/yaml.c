/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML settings: libyaml's events into statements.  Scalars without quotes mean what YAML 1.1, which
 * the tools read, takes them for.  An alias says what its anchor's statements said, under its own
 * place; "<<" takes a mapping in, and what stands beside it wins.
 */
#include <yaml.h>

#include <stdio.h>
#include <string.h>

#include "settings/tree.h"

/* what an anchor stands before: statements, or one scalar */
struct anchor {
    const char *name;
    const char *key; /* at its place */
    const char *scalar;
    size_t n; /* of the scalar */
    bool is_scalar;
    uint32_t first, end; /* statements; end 0: it is not closed yet */
    uint32_t depth;
};

struct reader {
    struct vram_said_tree tree;
    VRAM_VEC(struct anchor) anchors;
    bool keys[VRAM_TREE_DEPTH + 1]; /* by depth: the next scalar of the mapping is a key */
    bool merging;                   /* the value of "<<" comes */
    uint32_t documents;
};

static uint32_t line_of(const yaml_event_t *e)
{
    return e->start_mark.line < UINT32_MAX ? (uint32_t)e->start_mark.line + 1 : UINT32_MAX;
}

static bool in_map(const struct reader *r)
{
    return r->tree.depth && !r->tree.levels[r->tree.depth - 1].list;
}

/* 500_000 is a number in YAML 1.1 */
static const char *without_underscores(struct vram_cx *cx, const char *text)
{
    char plain[24];
    size_t n = 0;
    if (!strchr(text, '_') || text[0] == '_' || strlen(text) >= sizeof plain ||
        text[strspn(text, "0123456789_")])
        return text;
    for (const char *p = text; *p; p++)
        if (*p != '_')
            plain[n++] = *p;
    const char *copy = vram_arena_strndup(cx->arena, plain, n);
    return copy ? copy : text;
}

/* YAML 1.1: what a scalar without quotes is; NULL for null */
static const char *plain(struct vram_cx *cx, const char *text)
{
    static const struct {
        const char *words, *value;
    } rows[] = {{" ~ null Null NULL ", NULL},
                {" true True TRUE yes Yes YES on On ON ", "true"},
                {" false False FALSE no No NO off Off OFF ", "false"}};
    char word[16];
    if (!*text)
        return NULL;
    if (strlen(text) > 5)
        return without_underscores(cx, text);
    snprintf(word, sizeof word, " %s ", text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(rows[i].words, word))
            return rows[i].value;
    return without_underscores(cx, text);
}

static int begin_anchor(struct reader *r, const yaml_char_t *name, struct anchor **out)
{
    struct vram_cx *cx = r->tree.s->cx;
    const char *text = (const char *)name;
    *out = NULL;
    if (!name)
        return VRAM_OK;
    vram_tree_place(&r->tree);
    struct anchor a = {.name = vram_arena_strndup(cx->arena, text, strlen(text)),
                       .key = vram_arena_strndup(cx->arena, r->tree.key, r->tree.n),
                       .first = (uint32_t)r->tree.s->said.n, .depth = r->tree.depth};
    if (!a.name || !a.key || !vram_vec_push(&r->anchors, cx->arena, a))
        return vram_fail_memory(cx);
    *out = &r->anchors.at[r->anchors.n - 1];
    return VRAM_OK;
}

/* A value is over: the next scalar of a mapping is a key again. */
static void after_value(struct reader *r)
{
    r->keys[r->tree.depth] = true;
    r->merging = false;
}

static int scalar_value(struct reader *r, const char *text, size_t n, uint32_t line)
{
    VRAM_TRY(vram_tree_scalar(&r->tree, text, n, line));
    after_value(r);
    return VRAM_OK;
}

static int key(struct reader *r, const char *text, size_t n)
{
    r->keys[r->tree.depth] = false;
    r->merging = n == 2 && !memcmp(text, "<<", 2);
    if (r->merging)
        vram_tree_here(&r->tree);
    else
        vram_tree_key(&r->tree, text, n);
    return VRAM_OK;
}

static int no_merge(struct reader *r, const yaml_event_t *e)
{
    return vram_fail(r->tree.s->cx, VRAM_E_UNSUPPORTED, e->start_mark.index,
                     "'<<' takes one alias here");
}

static int scalar(struct reader *r, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    size_t n = e->data.scalar.length;
    struct anchor *anchor;
    if (in_map(r) && r->keys[r->tree.depth])
        return key(r, text, n);
    if (r->merging)
        return no_merge(r, e);
    VRAM_TRY(begin_anchor(r, e->data.scalar.anchor, &anchor));
    if (e->data.scalar.plain_implicit && !memchr(text, 0, n)) {
        text = plain(r->tree.s->cx, text);
        n = text ? strlen(text) : 0;
    }
    if (anchor) {
        anchor->is_scalar = true;
        anchor->scalar = text ? vram_arena_strndup(r->tree.s->cx->arena, text, n) : NULL;
        anchor->n = n;
        if (text && !anchor->scalar)
            return vram_fail_memory(r->tree.s->cx);
    }
    return scalar_value(r, text, n, line_of(e));
}

/* The statements of an anchor again, under the place where the alias stands. */
static int repeat(struct reader *r, const struct anchor *a, uint32_t line)
{
    struct vram_settings *s = r->tree.s;
    size_t cut = strlen(s->files.at[r->tree.file].prefix) + strlen(a->key);
    bool merged = r->merging;
    if (!merged)
        vram_tree_place(&r->tree);
    for (uint32_t i = a->first; i < a->end && !r->tree.lost; i++) {
        const struct vram_said from = s->said.at[i];
        const char *rest = from.key + cut; /* "" or ".more" */
        if (!r->tree.n && *rest)
            rest++;
        const char *key = vram_format(s->cx->arena, "%s%s", r->tree.key, rest);
        if (!key)
            return vram_fail_memory(s->cx);
        VRAM_TRY(vram_settings_say(s, r->tree.file, key, from.value, line));
        s->said.at[s->said.n - 1].computed = from.computed;
        s->said.at[s->said.n - 1].merged = merged || from.merged;
    }
    vram_tree_taken(&r->tree);
    after_value(r);
    return VRAM_OK;
}

static int alias(struct reader *r, const yaml_event_t *e)
{
    struct vram_cx *cx = r->tree.s->cx;
    const char *name = (const char *)e->data.alias.anchor;
    for (size_t i = r->anchors.n; i-- > 0;) {
        const struct anchor a = r->anchors.at[i];
        if (strcmp(a.name, name))
            continue;
        if (in_map(r) && r->keys[r->tree.depth])
            return vram_fail(cx, VRAM_E_UNSUPPORTED, e->start_mark.index,
                             "a key that is an alias is not read");
        if (a.is_scalar && r->merging)
            return no_merge(r, e);
        if (a.is_scalar)
            return scalar_value(r, a.scalar, a.n, line_of(e));
        if (!a.end)
            return vram_fail(cx, VRAM_E_FORMAT, e->start_mark.index, "an alias inside its own anchor");
        return repeat(r, &a, line_of(e));
    }
    return vram_fail(cx, VRAM_E_FORMAT, e->start_mark.index, "an alias of an anchor that is not there");
}

static int open_level(struct reader *r, const yaml_event_t *e, bool list)
{
    struct anchor *anchor;
    const yaml_char_t *name =
        list ? e->data.sequence_start.anchor : e->data.mapping_start.anchor;
    if (in_map(r) && r->keys[r->tree.depth])
        return vram_fail(r->tree.s->cx, VRAM_E_UNSUPPORTED, e->start_mark.index,
                         "a key that is a %s is not read", list ? "list" : "mapping");
    if (r->merging)
        return no_merge(r, e);
    VRAM_TRY(begin_anchor(r, name, &anchor));
    VRAM_TRY(vram_tree_open(&r->tree, list, line_of(e)));
    r->keys[r->tree.depth] = true;
    return VRAM_OK;
}

static int close_level(struct reader *r)
{
    VRAM_TRY(vram_tree_close(&r->tree));
    for (size_t i = r->anchors.n; i-- > 0;) {
        struct anchor *a = &r->anchors.at[i];
        if (!a->is_scalar && !a->end && a->depth == r->tree.depth)
            a->end = (uint32_t)r->tree.s->said.n;
        if (a->depth < r->tree.depth)
            break;
    }
    after_value(r);
    return VRAM_OK;
}

static int event(struct reader *r, const yaml_event_t *e)
{
    struct vram_cx *cx = r->tree.s->cx;
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->documents++)
            return vram_fail(cx, VRAM_E_UNSUPPORTED, e->start_mark.index, "a second document");
        return VRAM_OK;
    case YAML_SCALAR_EVENT:
        if (!r->tree.depth && e->data.scalar.length)
            return vram_fail(cx, VRAM_E_FORMAT, e->start_mark.index,
                             "settings are a mapping (key: value), not a single value");
        return r->tree.depth ? scalar(r, e) : VRAM_OK;
    case YAML_ALIAS_EVENT:
        return alias(r, e);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return open_level(r, e, e->type == YAML_SEQUENCE_START_EVENT);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_level(r);
    default:
        return VRAM_OK;
    }
}

static int syntax_error(struct vram_cx *cx, const yaml_parser_t *p, uint64_t *line)
{
    const char *why = p->problem ? p->problem : "it is not YAML";
    if (p->error == YAML_MEMORY_ERROR)
        return vram_fail(cx, VRAM_E_NOMEM, VRAM_NO_OFFSET, "out of memory");
    if (p->error == YAML_READER_ERROR) {
        *line = p->mark.line + 1;
        return vram_fail(cx, VRAM_E_FORMAT, p->problem_offset, "%s", why);
    }
    *line = p->problem_mark.line + 1;
    return vram_fail(cx, VRAM_E_FORMAT, p->problem_mark.index, "%s%s%s", p->context ? p->context : "",
                     p->context ? ": " : "", why);
}

static int read_all(struct reader *r, yaml_parser_t *p)
{
    yaml_event_t e;
    uint64_t line = 0;
    for (bool end = false; !end;) {
        int rc;
        if (!yaml_parser_parse(p, &e)) {
            rc = syntax_error(r->tree.s->cx, p, &line);
            return vram_settings_where(r->tree.s, r->tree.file, line, rc);
        }
        line = line_of(&e);
        end = e.type == YAML_STREAM_END_EVENT;
        rc = event(r, &e);
        yaml_event_delete(&e);
        if (rc)
            return vram_settings_where(r->tree.s, r->tree.file, line, rc);
    }
    return VRAM_OK;
}

int vram_settings_yaml(struct vram_settings *s, uint32_t file, const char *text, size_t n)
{
    yaml_parser_t parser;
    struct reader *r = vram_arena_alloc(s->cx->arena, sizeof *r);
    if (!r || !yaml_parser_initialize(&parser))
        return vram_fail_memory(s->cx);
    vram_tree_begin(&r->tree, s, file);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
    int rc = read_all(r, &parser);
    yaml_parser_delete(&parser);
    return rc;
}
