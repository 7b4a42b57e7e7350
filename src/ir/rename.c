/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/rename.h"

#include <string.h>

#include "base/vec.h"

/* of a star's number; rules of a list that may have stars */
enum { digits = 6, max_rules = 64 };

/* Where a pattern was found in a name. */
struct found {
    size_t at, taken;
    int64_t number;     /* the star's; −1: none */
    size_t kept, nkept; /* the digits of '#' */
};

static size_t count_digits(const char *text, size_t n)
{
    size_t k = 0;
    while (k < n && k < digits && text[k] >= '0' && text[k] <= '9')
        k++;
    return k;
}

/* Does pattern match text from f->at on? */
static bool fits(const char *pattern, const char *text, size_t n, struct found *f)
{
    size_t k = f->at;
    f->number = -1;
    f->kept = f->nkept = 0;
    for (const char *p = pattern; *p; p++) {
        if (*p != '*' && *p != '#') {
            if (k == n || text[k++] != *p)
                return false;
            continue;
        }
        size_t length = count_digits(text + k, n - k);
        if (!length)
            return false;
        if (*p == '#') {
            f->kept = k;
            f->nkept = length;
        }
        for (size_t i = *p == '*' ? 0 : length; i < length; i++)
            f->number = (i ? f->number * 10 : 0) + (text[k + i] - '0');
        k += length;
    }
    f->taken = k - f->at;
    return true;
}

static bool find(const char *pattern, const char *text, size_t n, struct found *f)
{
    size_t last = pattern[0] == '.' ? n : 0;
    for (f->at = 0; f->at <= last; f->at++)
        if (fits(pattern, text, n, f))
            return true;
    return false;
}

static char *put(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static size_t length(const struct vram_syms *syms, vram_sym name)
{
    while (name < syms->first)
        syms = syms->base;
    return syms->at[name - syms->first].n;
}

vram_sym vram_rename_path(struct vram_cx *cx, const struct vram_rename *rules, vram_sym name,
                          uint32_t *rule, int64_t *number)
{
    size_t n = length(cx->syms, name);
    const char *text = vram_sym_text(cx->syms, name);
    struct found f = {0};
    *number = -1;
    for (const struct vram_rename *r = rules; r && r->from; r++) {
        if (!find(r->from, text, n, &f))
            continue;
        *rule = (uint32_t)(r - rules);
        *number = f.number;
        size_t to = strlen(r->to);
        if (f.taken == to && !memcmp(text + f.at, r->to, to))
            return name;
        const char *hash = strchr(r->to, '#');
        size_t before = hash ? (size_t)(hash - r->to) : to, behind = hash ? to - before - 1 : 0;
        size_t nkept = hash ? f.nkept : 0, size = n - f.taken + before + nkept + behind;
        char *path = vram_arena_alloc(cx->arena, size + 1), *p = path;
        if (!path)
            return VRAM_SYM_NONE;
        p = put(p, text, f.at);
        p = put(p, r->to, before);
        p = put(p, text + f.kept, nkept);
        p = put(p, r->to + to - behind, behind);
        put(p, text + f.at + f.taken, n - f.at - f.taken);
        return vram_sym_add(cx->syms, path, size, 0);
    }
    return name;
}

/* ---- parts -------------------------------------------------------------------------------- */

struct part {
    uint32_t rule;
    int64_t number; /* −1: a tensor of its own */
};

/* One parameter's parts. */
struct whole {
    size_t first;     /* of its tensors */
    int64_t count;    /* parts seen */
    int64_t most;     /* 1 + the highest number */
    uint64_t bytes;
    int64_t rows[max_rules]; /* of a part, by rule; 0: none seen */
    bool odd;         /* parts that do not go together */
};

struct merge {
    struct vram_cx *cx;
    const struct vram_rename *rules;
    struct vram_tensor *tensors;
    size_t n;
    struct part *parts;
    uint32_t *whole_of; /* by path: 1 + place in wholes */
    uint32_t npaths;
    VRAM_VEC(struct whole) wholes;
};

/* Everything but the number of rows is the same. */
static bool alike(const struct vram_tensor *a, const struct vram_tensor *b)
{
    return a->rank == b->rank && a->dtype == b->dtype &&
           !memcmp(a->dims + 1, b->dims + 1, (a->rank - 1u) * sizeof *a->dims);
}

static int note(struct merge *g, size_t i)
{
    const struct vram_tensor *t = &g->tensors[i];
    const struct part *p = &g->parts[i];
    if (!g->whole_of[t->path]) {
        if (!vram_vec_push(&g->wholes, g->cx->arena, (struct whole){.first = i}))
            return vram_fail_memory(g->cx);
        g->whole_of[t->path] = (uint32_t)g->wholes.n;
    }
    struct whole *w = &g->wholes.at[g->whole_of[t->path] - 1];
    if (!t->rank || p->rule >= max_rules || !alike(t, &g->tensors[w->first]) ||
        (w->rows[p->rule] && w->rows[p->rule] != t->dims[0])) {
        w->odd = true;
        return VRAM_OK;
    }
    w->rows[p->rule] = t->dims[0];
    w->count++;
    w->bytes += t->bytes;
    if (p->number >= w->most)
        w->most = p->number + 1;
    return VRAM_OK;
}

/* The rows of one number; 0 when parts are missing or do not go together. */
static int64_t whole_rows(const struct merge *g, const struct whole *w)
{
    const char *to = g->rules[g->parts[w->first].rule].to;
    int64_t rules = 0, rows = 0;
    for (uint32_t r = 0; g->rules[r].from && r < max_rules; r++) {
        if (strcmp(g->rules[r].to, to) != 0)
            continue;
        if (!w->rows[r])
            return 0;
        rules++;
        rows += w->rows[r];
    }
    return !w->odd && w->count == w->most * rules ? rows : 0;
}

static int join(struct merge *g, const struct whole *w, int64_t rows, struct vram_tensor *out)
{
    int64_t *dims = vram_arena_array(g->cx->arena, out->rank + 1u, sizeof *dims);
    if (!dims)
        return vram_fail_memory(g->cx);
    dims[0] = w->most;
    dims[1] = rows;
    memcpy(dims + 2, out->dims + 1, (out->rank - 1u) * sizeof *dims);
    out->dims = dims;
    out->rank++;
    out->bytes = w->bytes;
    out->parts = (uint32_t)w->count;
    return VRAM_OK;
}

static int merge(struct merge *g, size_t *n)
{
    size_t kept = 0;
    g->whole_of = vram_arena_array(g->cx->arena, g->npaths, sizeof *g->whole_of);
    if (!g->whole_of)
        return vram_fail_memory(g->cx);
    for (size_t i = 0; i < g->n; i++)
        if (g->parts[i].number >= 0)
            VRAM_TRY(note(g, i));
    for (size_t i = 0; i < g->n; i++) {
        struct vram_tensor t = g->tensors[i];
        if (g->parts[i].number >= 0) {
            const struct whole *w = &g->wholes.at[g->whole_of[t.path] - 1];
            int64_t rows = whole_rows(g, w);
            t.incomplete = !rows;
            if (rows && w->first != i)
                continue;
            if (rows)
                VRAM_TRY(join(g, w, rows, &t));
        }
        g->tensors[kept++] = t;
    }
    *n = kept;
    return VRAM_OK;
}

int vram_rename_tensors(struct vram_cx *cx, const struct vram_rename *rules,
                        const struct vram_file *files, struct vram_tensor *tensors, size_t *n)
{
    struct merge g = {.cx = cx, .rules = rules, .tensors = tensors, .n = *n};
    bool any = false;
    if (!rules || !*n)
        return VRAM_OK;
    g.parts = vram_arena_array(cx->arena, *n, sizeof *g.parts);
    if (!g.parts)
        return vram_fail_memory(cx);
    for (size_t i = 0; i < *n; i++) {
        struct vram_tensor *t = &tensors[i];
        g.parts[i].number = -1;
        if (files && files[t->file].outside)
            continue;
        t->path = vram_rename_path(cx, rules, t->path, &g.parts[i].rule, &g.parts[i].number);
        if (t->path == VRAM_SYM_NONE)
            return vram_fail_memory(cx);
        if (t->path >= g.npaths)
            g.npaths = t->path + 1;
        any = any || g.parts[i].number >= 0;
    }
    return any ? merge(&g, n) : VRAM_OK;
}
