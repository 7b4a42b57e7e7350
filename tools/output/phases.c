/* SPDX-License-Identifier: Apache-2.0
 *
 * Phases; see phases.h.
 */
#include "output/phases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "step2.micro3.forward": takes "step2." off and returns 2 */
static unsigned take_number(const char **name, const char *word)
{
    size_t n = strlen(word);
    char *end;
    if (strncmp(*name, word, n) != 0)
        return 0;
    unsigned long value = strtoul(*name + n, &end, 10);
    if (end == *name + n || *end != '.')
        return 0;
    *name = end + 1;
    return (unsigned)value;
}

/* The line that a phase belongs to: the same name, step and micro-batch, where "later" is one. */
static struct phase_line *find(struct phases *p, const char *name, unsigned *step, unsigned *micro,
                               const char **what)
{
    *what = name;
    *step = take_number(what, "step");
    *micro = take_number(what, "micro");
    for (size_t i = 0; i < p->n; i++) {
        struct phase_line *l = &p->lines[i];
        if ((l->step < 3 ? l->step : 3) == (*step < 3 ? *step : 3) &&
            (l->micro < 2 ? l->micro : 2) == (*micro < 2 ? *micro : 2) && !strcmp(l->what, *what))
            return l;
    }
    return NULL;
}

static void add(struct phases *p, const vram_phase_view *phase, const char *peak_phase)
{
    const char *what;
    unsigned step, micro;
    struct phase_line *l = find(p, phase->name, &step, &micro, &what);
    if (!l && p->n == PHASES_MOST)
        return;
    if (!l) {
        l = &p->lines[p->n++];
        *l = (struct phase_line){.step = step, .micro = micro, .what = what};
    }
    l->step_last = step > l->step_last ? step : l->step_last;
    l->micro_last = micro > l->micro_last ? micro : l->micro_last;
    l->peak = phase->peak > l->peak ? phase->peak : l->peak;
    l->end = phase->end;
    l->owner = l->owner || (*peak_phase && !strcmp(phase->name, peak_phase));
    p->highest = l->peak > p->highest ? l->peak : p->highest;
}

static void range(char *out, size_t size, unsigned first, unsigned last)
{
    if (first == last)
        snprintf(out, size, "%u ", first);
    else
        snprintf(out, size, "%u-%u ", first, last);
}

void phases_read(struct phases *p, const vram_report *report, const char *peak_phase)
{
    p->n = 0;
    p->highest = 1;
    for (size_t i = 0; i < vram_report_phase_count(report); i++) {
        vram_phase_view phase = {.size = sizeof phase};
        vram_report_phase(report, i, &phase);
        add(p, &phase, peak_phase);
    }
    for (size_t i = 0; i < p->n; i++) {
        struct phase_line *l = &p->lines[i];
        char step[32] = "", micro[32] = "";
        if (l->step)
            range(step, sizeof step, l->step, l->step_last);
        if (l->micro)
            range(micro, sizeof micro, l->micro, l->micro_last);
        size_t n = (size_t)snprintf(l->label, sizeof l->label, "%s%s%s", step,
                                    l->micro ? "micro " : "", micro);
        snprintf(l->label + n, sizeof l->label - n, "%.20s", l->what);
    }
}

/* ---- what the bytes are -------------------------------------------------------------------- */

struct storage {
    uint64_t bytes;
    int part; /* -1: not alive, or no tensor of the framework */
};

struct follower {
    struct phases *phases;
    struct phase_line *line; /* that the current phase belongs to */
    struct storage *storages;
    size_t n;
    uint64_t live[PHASE_PARTS], total;
    char text[4096];  /* a line of the dump that has not ended yet */
    size_t used;
    bool failed;
};

static int part_of(const char *category)
{
    static const struct { const char *name; int part; } rows[] = {
        {"parameters", PHASE_PARAMETERS}, {"optimizer", PHASE_OPTIMIZER},
        {"gradients", PHASE_GRADIENTS},   {"activations", PHASE_ACTIVATIONS},
        {"workspace", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strncmp(category, rows[i].name, strlen(rows[i].name)))
            return rows[i].part;
    return PHASE_OTHER;
}

/* Where the line is as full as it gets, its parts are what lives now. */
static void look(struct follower *f)
{
    if (!f->line || f->total < f->line->peak)
        return;
    memcpy(f->line->parts, f->live, sizeof f->live);
}

static void move(struct follower *f, struct storage *s, int part)
{
    if (s->part >= 0) {
        f->live[s->part] -= s->bytes;
        f->total -= s->bytes;
    }
    s->part = part;
    if (part >= 0) {
        f->live[part] += s->bytes;
        f->total += s->bytes;
    }
}

static struct storage *storage_at(struct follower *f, size_t id)
{
    if (id >= f->n) {
        size_t n = id * 2 + 1024;
        struct storage *at = realloc(f->storages, n * sizeof *at);
        if (!at) {
            f->failed = true;
            return NULL;
        }
        for (size_t i = f->n; i < n; i++)
            at[i] = (struct storage){0, -1};
        f->storages = at;
        f->n = n;
    }
    return &f->storages[id];
}

/* alloc ID BYTES CATEGORY ... | free ID | category ID CATEGORY | phase NAME */
static void event(struct follower *f, char *line)
{
    char *at = strchr(line, ' ');
    unsigned step, micro;
    const char *what;
    if (!at)
        return;
    *at++ = 0;
    if (!strcmp(line, "phase")) {
        f->line = find(f->phases, at, &step, &micro, &what);
        look(f);
        return;
    }
    struct storage *s = storage_at(f, strtoul(at, &at, 10));
    if (!s)
        return;
    if (!strcmp(line, "free")) {
        move(f, s, -1);
        return;
    }
    if (!strcmp(line, "alloc"))
        s->bytes = strtoull(at, &at, 10);
    move(f, s, part_of(at + strspn(at, " ")));
    look(f);
}

static int follow(void *ctx, const char *text, size_t n)
{
    struct follower *f = ctx;
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '\n') {
            if (f->used + 1 < sizeof f->text)
                f->text[f->used++] = text[i];
            continue;
        }
        f->text[f->used] = 0;
        f->used = 0;
        event(f, f->text);
    }
    return f->failed;
}

int phases_divide(struct phases *p, const vram_model *model, const vram_plan *plan,
                  vram_error *error)
{
    struct follower f = {.phases = p};
    int code = vram_dump(model, plan, "events", follow, &f, error);
    free(f.storages);
    return code;
}
