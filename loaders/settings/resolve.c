/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements against the rows of the tools: what the plan gets, by whom, and what is left over.
 */
#include <stdio.h>
#include <string.h>

#include "settings/tables.h"

/* One setting that the plan will get. */
struct given {
    const char *key, *value;
    const struct vram_said *by;
};

struct open {
    const char *key;
    const struct vram_said *by;
};

struct resolver {
    struct vram_settings *s;
    struct vram_cx *cx;
    VRAM_VEC(struct given) given;
    VRAM_VEC(struct open) open; /* left to others */
};

/* "zero2.json:12"; of a default the tool that has it */
static const char *place(const struct resolver *r, const struct vram_said *said)
{
    if (!said->line)
        return vram_format(r->cx->arena, "default of %s", vram_tools[said->whose].name);
    return vram_format(r->cx->arena, "%s:%u", r->s->files.at[said->file].name, said->line);
}

/* ---- one statement of a key ---- */

/* Does b, of the same key, win over a?  The file that names another knows better, then what
 * is given later, then what stands later. */
static bool wins(const struct resolver *r, const struct vram_said *b, const struct vram_said *a)
{
    const struct vram_settings_file *files = r->s->files.at;
    if (!a->line || !b->line) /* a default */
        return a->line < b->line;
    if (a->file != b->file && files[a->file].parent == b->file)
        return true;
    if (a->file != b->file && files[b->file].parent == a->file)
        return false;
    if (a->file != b->file)
        return files[b->file].given != files[a->file].given ? files[b->file].given > files[a->file].given
                                                            : b->file > a->file;
    return a->merged != b->merged ? a->merged : b->order > a->order;
}

static int twice(struct resolver *r, const struct vram_said *a, const struct vram_said *b)
{
    const char *subject = place(r, a);
    char key[96];
    if (!subject)
        return vram_fail_memory(r->cx);
    vram_escape(key, sizeof key, a->key, strlen(a->key));
    return vram_find(r->cx, VRAM_F_SETTINGS_TWICE, subject, "%s stands again in line %u", key, b->line);
}

/* Statements that another of the same file wins over are done; of different files the rows' settings
 * are held against each other. */
static int weed(struct resolver *r)
{
    struct vram_settings *s = r->s;
    for (size_t i = 0; i < s->said.n; i++) {
        struct vram_said *a = &s->said.at[i];
        if (a->tool == VRAM_TOOL_NONE || !vram_tool_knows(a->tool, a->key)) {
            a->done = true;
            continue;
        }
        for (size_t k = 0; k < i; k++) {
            struct vram_said *b = &s->said.at[k];
            bool related = a->file == b->file || s->files.at[a->file].parent == b->file ||
                           s->files.at[b->file].parent == a->file;
            if (b->done || a->done || !related || a->tool != b->tool || strcmp(a->key, b->key))
                continue;
            bool last = wins(r, a, b);
            if (a->file == b->file && !a->merged && !b->merged && strcmp(a->value, b->value))
                VRAM_TRY(twice(r, last ? b : a, last ? a : b));
            *(last ? &b->done : &a->done) = true;
        }
    }
    return VRAM_OK;
}

/* ---- conditions ---- */

/* What is said of a key: by the tool, else by any; "" when nobody says it. */
static const char *said_of(const struct resolver *r, enum vram_tool tool, const char *key, size_t n)
{
    const struct vram_said *found = NULL;
    for (size_t i = 0; i < r->s->said.n; i++) {
        const struct vram_said *x = &r->s->said.at[i];
        if (x->tool == VRAM_TOOL_NONE || strncmp(x->key, key, n) || x->key[n])
            continue;
        if (found && found->tool == tool && x->tool != tool)
            continue;
        if (!found || (x->tool == tool && found->tool != tool) || wins(r, x, found))
            found = x;
    }
    return found && !found->computed ? found->value : "";
}

static const char *planned(const struct resolver *r, const char *key, size_t n)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)n, key);
    const char *text = vram_plan_get(r->s->plan, name);
    for (size_t i = 0; !text && i < r->given.n; i++)
        if (!strcmp(r->given.at[i].key, name))
            text = r->given.at[i].value;
    return text ? text : "";
}

static bool holds(const struct resolver *r, enum vram_tool tool, const char *when)
{
    const char *word;
    size_t n;
    while (vram_next_word(&when, &word, &n)) {
        char test[160];
        snprintf(test, sizeof test, "%.*s", (int)n, word);
        bool no = test[0] == '!';
        const char *key = test + no, *plan = key + (*key == ':');
        const char *sign = strchr(plan, '=');
        size_t k = (size_t)(sign - plan);
        const char *value = plan > key ? planned(r, plan, k) : said_of(r, tool, key, k);
        if (vram_value_is(sign + 1, value) == no)
            return false;
    }
    return true;
}

/* ---- assignments ---- */

static int differ(struct resolver *r, const char *key, const struct given *a, const struct given *b)
{
    const char *first = place(r, a->by), *second = place(r, b->by);
    if (!first || !second)
        return vram_fail_memory(r->cx);
    return vram_find(r->cx, VRAM_F_SETTINGS_DIFFER, key, "%s by %s, but %s by %s, which was taken",
                     a->value, first, b->value, second);
}

/* refines: the row saw the value that it replaces */
static int assign(struct resolver *r, const struct given *new, bool refines)
{
    if (vram_plan_get(r->s->plan, new->key))
        return VRAM_OK; /* the caller has said it */
    for (size_t i = 0; i < r->given.n; i++) {
        struct given *old = &r->given.at[i];
        bool old_default = !old->by->line, new_default = !new->by->line;
        if (strcmp(old->key, new->key))
            continue;
        bool same = !strcmp(old->value, new->value) ||
                    (!strpbrk(old->value, "|*>") && vram_value_is(old->value, new->value));
        if (new_default && !refines)
            return VRAM_OK;
        if (old_default || refines) {
            const struct vram_said *by = new_default && !old_default ? old->by : new->by;
            *old = *new;
            old->by = by;
            return VRAM_OK;
        }
        if (same)
            return VRAM_OK;
        const struct vram_settings_file *files = r->s->files.at;
        uint32_t a = old->by->file, b = new->by->file;
        bool later = files[a].given != files[b].given ? files[b].given > files[a].given : b >= a;
        struct given loser = later ? *old : *new, winner = later ? *new : *old;
        *old = winner;
        return differ(r, new->key, &loser, &winner);
    }
    return vram_vec_push(&r->given, r->cx->arena, *new) ? VRAM_OK : vram_fail_memory(r->cx);
}

/* "key=value" with '*' for what was said */
static int set_one(struct resolver *r, const struct vram_settings_row *row, struct vram_said *said,
                   const char *word, size_t n)
{
    const char *sign = memchr(word, '=', n);
    size_t k = sign ? (size_t)(sign - word) : n, rest = sign ? n - k - 1 : 0;
    const char *star = sign ? memchr(sign + 1, '*', rest) : NULL;
    struct given new = {.by = said};
    if (*word == '?') {
        struct open open = {vram_arena_strndup(r->cx->arena, word + 1, n - 1), said};
        if (!open.key || !vram_vec_push(&r->open, r->cx->arena, open))
            return vram_fail_memory(r->cx);
        return VRAM_OK;
    }
    new.key = vram_arena_strndup(r->cx->arena, word, k);
    new.value = star ? vram_format(r->cx->arena, "%.*s%s%.*s", (int)(star - sign - 1), sign + 1,
                                   said->value, (int)(word + n - star - 1), star + 1)
                     : vram_arena_strndup(r->cx->arena, sign + 1, rest);
    if (!new.key || !new.value)
        return vram_fail_memory(r->cx);
    char test[80];
    snprintf(test, sizeof test, ":%s=", new.key);
    return assign(r, &new, strstr(row->when, test) != NULL);
}

static int apply(struct resolver *r, const struct vram_settings_row *row, struct vram_said *said)
{
    const char *at = row->sets, *word;
    size_t n;
    said->done = true;
    if (*row->note) {
        const char *subject = place(r, said);
        if (!subject)
            return vram_fail_memory(r->cx);
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_READ_AS, subject, "%s: %s", said->key, row->note));
    }
    while (vram_next_word(&at, &word, &n))
        VRAM_TRY(set_one(r, row, said, word, n));
    return VRAM_OK;
}

/* ---- defaults of the tools ---- */

static bool is_a(enum vram_tool tool, enum vram_tool parent)
{
    for (; tool != VRAM_TOOL_NONE; tool = vram_tools[tool].parent)
        if (tool == parent)
            return true;
    return false;
}

/* The nearest default of the key, from the tool upwards. */
static const struct vram_settings_row *default_of(const struct resolver *r, enum vram_tool tool,
                                                  const char *key)
{
    for (; tool != VRAM_TOOL_NONE; tool = vram_tools[tool].parent)
        for (uint32_t i = 0; i < vram_tools[tool].n; i++) {
            const struct vram_settings_row *row = &vram_tools[tool].rows[i];
            if (row->kind == VRAM_ROW_DEFAULT && !strcmp(row->key, key) && holds(r, tool, row->when))
                return row;
        }
    return NULL;
}

/* Of a tool that is there, the keys that are not. */
static int add_defaults(struct resolver *r, enum vram_tool tool)
{
    struct vram_settings *s = r->s;
    for (enum vram_tool t = tool; t != VRAM_TOOL_NONE; t = vram_tools[t].parent)
        for (uint32_t i = 0; i < vram_tools[t].n; i++) {
            const struct vram_settings_row *row = &vram_tools[t].rows[i];
            bool said = false;
            if (row->kind != VRAM_ROW_DEFAULT || default_of(r, tool, row->key) != row)
                continue;
            for (size_t k = 0; k < s->said.n; k++)
                said = said || (s->said.at[k].tool != VRAM_TOOL_NONE && is_a(s->said.at[k].tool, t) &&
                                !strcmp(s->said.at[k].key, row->key));
            struct vram_said x = {.key = row->key, .value = row->value, .tool = tool,
                                  .whose = t, .order = (uint32_t)s->said.n};
            if (!said && !vram_vec_push(&s->said, r->cx->arena, x))
                return vram_fail_memory(r->cx);
        }
    return VRAM_OK;
}

static int defaults(struct resolver *r)
{
    bool present[VRAM_TOOLS] = {false};
    for (size_t i = 0; i < r->s->said.n; i++)
        if (r->s->said.at[i].tool != VRAM_TOOL_NONE)
            present[r->s->said.at[i].tool] = true;
    for (int t = 0; t < VRAM_TOOLS; t++) /* a parent's come with its child's */
        for (int k = 0; k < VRAM_TOOLS; k++)
            if (k != t && present[k] && is_a((enum vram_tool)k, (enum vram_tool)t))
                present[t] = false;
    for (int t = 0; t < VRAM_TOOLS; t++)
        if (present[t])
            VRAM_TRY(add_defaults(r, (enum vram_tool)t));
    return VRAM_OK;
}

/* ---- all of it ---- */

static int run_rows(struct resolver *r, enum vram_tool tool)
{
    struct vram_settings *s = r->s;
    for (uint32_t i = 0; i < vram_tools[tool].n; i++) {
        const struct vram_settings_row *row = &vram_tools[tool].rows[i];
        if (row->kind != VRAM_ROW_SETS)
            continue;
        for (size_t k = 0; k < s->said.n; k++) {
            struct vram_said *said = &s->said.at[k];
            if (said->done || said->computed || strcmp(said->key, row->key) ||
                vram_tool_of_key(said->tool, said->key) != tool)
                continue;
            if (vram_value_is(row->value, said->value) && holds(r, said->tool, row->when))
                VRAM_TRY(apply(r, row, said));
        }
    }
    return VRAM_OK;
}

/* What matters and no row took. */
static int left_over(struct resolver *r)
{
    for (size_t i = 0; i < r->s->said.n; i++) {
        const struct vram_said *said = &r->s->said.at[i];
        char value[96] = "";
        if (said->done || !said->line || (!*said->value && !said->computed))
            continue;
        const char *subject = place(r, said);
        if (!subject)
            return vram_fail_memory(r->cx);
        if (!said->computed)
            vram_escape(value, sizeof value, said->value, strlen(said->value));
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTINGS_UNKNOWN, subject,
                           said->computed ? "%s%s%s: it matters, and only running the file could tell it"
                                          : "%s%s%s: it matters, and this value is not understood",
                           said->key, *value ? "=" : "", value));
    }
    return VRAM_OK;
}

static int left_open(struct resolver *r)
{
    for (size_t i = 0; i < r->open.n; i++) {
        const struct vram_said *said = r->open.at[i].by;
        const char *key = r->open.at[i].key;
        if (*planned(r, key, strlen(key)))
            continue;
        const char *subject = place(r, said);
        if (!subject)
            return vram_fail_memory(r->cx);
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTINGS_OPEN, subject,
                           "%s=%s: it is decided elsewhere, and no file says how; give it with %s=",
                           said->key, said->value, key));
    }
    return VRAM_OK;
}

/* The file said it: its place is where a value that is out of range stands. */
static int fill(struct resolver *r)
{
    for (size_t i = 0; i < r->given.n; i++) {
        const struct given *g = &r->given.at[i];
        const char *by = place(r, g->by);
        vram_error e;
        if (!by)
            return vram_fail_memory(r->cx);
        if (!vram_plan_set_by(r->s->plan, g->key, g->value, by, !g->by->line, &e))
            continue;
        vram_fail(r->cx, e.code, VRAM_NO_OFFSET, "%s: %s", g->by->key, e.text);
        vram_where(r->cx, "%s", by);
        return e.code;
    }
    return VRAM_OK;
}

int vram_settings_resolve(struct vram_settings *s)
{
    struct resolver r = {.s = s, .cx = s->cx};
    VRAM_TRY(weed(&r));
    VRAM_TRY(defaults(&r));
    for (int tool = 0; tool < VRAM_TOOLS; tool++)
        VRAM_TRY(run_rows(&r, (enum vram_tool)tool));
    VRAM_TRY(left_over(&r));
    VRAM_TRY(left_open(&r));
    return fill(&r);
}
