/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of all families as one table.
 */
#include <string.h>

#include "train/optimizer.h"

static const struct vram_optimizer_row *const families[] = {
    vram_optimizers_torch,   vram_optimizers_bnb,      vram_optimizers_torchao,
    vram_optimizers_lowrank, vram_optimizers_backward, vram_optimizers_others};

const struct vram_optimizer_row *vram_optimizer_at(uint32_t i)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct vram_optimizer_row *row = families[f]; row->name; row++)
            if (!i--)
                return row;
    return NULL;
}

uint32_t vram_optimizer_count(void)
{
    uint32_t n = 0;
    while (vram_optimizer_at(n))
        n++;
    return n;
}

/* one of some words */
static bool among(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = words; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == n && !memcmp(p, name, n))
            return true;
    return false;
}

const struct vram_optimizer_row *vram_optimizer_find(const char *name)
{
    const struct vram_optimizer_row *row;
    for (uint32_t i = 0; (row = vram_optimizer_at(i)); i++)
        if (!strcmp(row->name, name) || among(row->aliases, name))
            return row;
    return NULL;
}

/* training_args.py of the releases; 4.31 is the last one with its own AdamW, 4.54 the first with
 * fused */
const char *vram_default_optimizer(int transformers, int torch)
{
    if (transformers < 4032)
        return "adamw-hf";
    return transformers < 4054 || torch < 2008 ? "adamw" : "adamw-fused";
}

bool vram_optimizer_varies(const struct vram_optimizer_row *row)
{
    /* "param<": the parameter's own memory is a new one */
    for (int i = 0; i < VRAM_OPTIMIZER_RULES; i++) {
        const struct vram_optimizer_rule *r = &row->rules[i];
        const char *texts[] = {r->states, r->each, r->lists};
        for (int k = 0; k < VRAM_PASSES; k++)
            if (texts[k] && strpbrk(texts[k], "^!+<"))
                return true;
    }
    return false;
}

bool vram_optimizer_has_lists(const struct vram_optimizer_row *row)
{
    for (int i = 0; i < VRAM_OPTIMIZER_RULES; i++)
        if (row->rules[i].lists)
            return true;
    return false;
}

/* ---- for people ---------------------------------------------------------------------------- */

struct line {
    char *at;
    size_t n, size;
};

static void put(struct line *l, const char *text, size_t n)
{
    if (l->n + n < l->size)
        memcpy(l->at + l->n, text, n);
    l->n += l->n + n < l->size ? n : 0;
    l->at[l->n] = 0;
}

static bool said(const char *text, const char *word, size_t n)
{
    for (const char *p = text; (p = strchr(p, *word)); p++)
        if (!strncmp(p, word, n) && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

/* Words of a script that make state, or that do not, each once. */
static void put_words(struct line *l, const char *script, bool states)
{
    size_t begin = l->n;
    for (const char *p = script ? script : ""; *p; p += strspn(p, "] ")) {
        size_t prefix = strspn(p, "[@^&?%!+"), n = strcspn(p, "] ");
        bool state = prefix && memchr(p, '@', prefix) != NULL;
        state = state || (prefix && strcspn(p, "^&") < prefix);
        if (*p != '-' && state == states && !said(l->at + begin, p + prefix, n - prefix)) {
            put(l, " ", l->n ? 1 : 0);
            put(l, p + prefix, n - prefix);
        }
        p += n;
    }
}

void vram_optimizer_describe(const struct vram_optimizer_row *row, bool states, char *out,
                             size_t size)
{
    struct line l = {out, 0, size};
    *out = 0;
    if (row->read_as) {
        put(&l, "as ", 3);
        put(&l, row->read_as, strlen(row->read_as));
    }
    for (int i = 0; i < VRAM_OPTIMIZER_RULES; i++) {
        const struct vram_optimizer_rule *r = &row->rules[i];
        size_t begin = l.n;
        if (i && (r->states || r->each))
            put(&l, "; ", 2);
        const char *when = r->when ? r->when : i && (r->states || r->each) ? "otherwise" : "";
        put(&l, when, strlen(when));
        put(&l, ":", *when != 0);
        size_t before = l.n;
        put_words(&l, states ? r->states : NULL, true);
        put_words(&l, !states && r->lists ? r->lists : r->each, states);
        if (l.n == before && begin != l.n)
            put(&l, " none", 5);
    }
    if (!l.n)
        put(&l, "none", 4);
}
