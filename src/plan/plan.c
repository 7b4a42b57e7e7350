/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans; see plan.h and the section "plans" of vram.h.  Every text of a plan is a block of its
 * own, so that a key can be set any number of times.
 */
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cx.h"

struct entry {
    struct vram_setting_value value;
    const char *text; /* the canonical text; the table's own when not given */
    char *given;      /* the same, owned; NULL when not given */
    char *by;         /* who gave it, owned; NULL = vram_plan_set */
    bool implied;     /* by is a tool, and this its default */
    bool set;         /* value holds something */
};

struct extra {
    struct vram_plan_extra view; /* its strings lie in the blocks below */
    char *key;
    char *text;
};

enum { EXTRAS_MOST = 4096 }; /* they are searched one by one */

struct vram_plan {
    struct entry at[VRAM_KEY_COUNT];
    struct extra *extras;
    size_t nextras, extras_cap;
    struct vram_plan_finding *findings;
    size_t nfindings, findings_cap;
};

/* A fault is told once, at the end of a public function, so that the caller's struct always holds
 * the outcome of the last call. */
static int give(vram_error *to, const vram_error *from)
{
    if (to)
        *to = *from;
    return from->code;
}

__attribute__((format(printf, 3, 4))) static int fail(vram_error *error, int code,
                                                      const char *format, ...)
{
    *error = (vram_error){.code = code, .offset = VRAM_NO_OFFSET};
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return code;
}

static int fail_memory(vram_error *error) { return fail(error, VRAM_E_NOMEM, "out of memory"); }

static char *duplicate(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = vram_realloc(NULL, n, 1);
    return copy ? memcpy(copy, text, n) : NULL;
}

int vram_plan_create(vram_plan **out, vram_error *error)
{
    vram_error e = {.offset = VRAM_NO_OFFSET};
    char canonical[VRAM_SETTING_CANONICAL];
    struct vram_plan *plan = vram_realloc(NULL, 1, sizeof *plan);
    if (!plan) {
        fail_memory(&e);
        return give(error, &e);
    }
    memset(plan, 0, sizeof *plan);
    for (int i = 0; i < VRAM_KEY_COUNT; i++) {
        const struct vram_setting_row *row = &vram_settings[i];
        struct entry *entry = &plan->at[i];
        entry->text = row->fallback;
        entry->value.number = VRAM_PLAN_UNSET;
        if (!row->fallback[0])
            continue;
        if (vram_setting_parse((enum vram_key)i, row->key, row->fallback, &entry->value, canonical,
                               &e)) {
            e.code = VRAM_E_INTERNAL; /* the table is wrong, not the caller */
            free(plan);
            return give(error, &e);
        }
        entry->set = true;
    }
    *out = plan;
    return give(error, &e);
}

void vram_plan_free(vram_plan *plan)
{
    if (!plan)
        return;
    for (int i = 0; i < VRAM_KEY_COUNT; i++) {
        free(plan->at[i].given);
        free(plan->at[i].by);
    }
    for (size_t i = 0; i < plan->nfindings; i++) {
        free(plan->findings[i].subject);
        free(plan->findings[i].text);
    }
    free(plan->findings);
    for (size_t i = 0; i < plan->nextras; i++) {
        free(plan->extras[i].key);
        free(plan->extras[i].text);
    }
    free(plan->extras);
    free(plan);
}

static struct extra *find_extra(const struct vram_plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->nextras; i++)
        if (!strcmp(plan->extras[i].key, key))
            return &plan->extras[i];
    return NULL;
}

static int set_extra(struct vram_plan *plan, enum vram_key row, const char *key, const char *name,
                     const struct vram_setting_value *value, const char *canonical, vram_error *e)
{
    struct extra *extra = find_extra(plan, key);
    if (!extra && plan->nextras == EXTRAS_MOST)
        return fail(e, VRAM_E_RANGE, "more than %d names in dim., input. and train. together",
                    EXTRAS_MOST);
    char *text = duplicate(canonical);
    if (!text)
        return fail_memory(e);
    if (!extra) {
        if (plan->nextras == plan->extras_cap) {
            size_t cap = plan->extras_cap ? plan->extras_cap * 2 : 8;
            void *at = vram_realloc(plan->extras, cap, sizeof *plan->extras);
            if (!at)
                goto nomem;
            plan->extras = at;
            plan->extras_cap = cap;
        }
        char *own = duplicate(key);
        if (!own)
            goto nomem;
        extra = &plan->extras[plan->nextras++];
        *extra = (struct extra){.key = own};
        extra->view.row = row;
        extra->view.name = own + (name - key);
    }
    free(extra->text);
    extra->text = text;
    extra->view.text = text;
    extra->view.number = value->number;
    return VRAM_OK;
nomem:
    free(text);
    return fail_memory(e);
}

/* by: who says it, NULL for the caller */
static int set(struct vram_plan *plan, const char *key, const char *value, const char *by,
               bool implied, vram_error *e)
{
    if (!key || !value)
        return fail(e, VRAM_E_ARGUMENT, "a setting needs a key and a value");
    const char *name;
    int row = vram_setting_find(key, &name);
    if (row < 0) {
        char shown[96];
        const char *near = vram_setting_suggest(key);
        vram_escape(shown, sizeof shown, key, strlen(key));
        return near ? fail(e, VRAM_E_NOTFOUND, "there is no setting '%s'; did you mean '%s'?",
                           shown, near)
                    : fail(e, VRAM_E_NOTFOUND,
                           "there is no setting '%s'; `vramcast list settings` shows all", shown);
    }
    struct vram_setting_value parsed;
    char canonical[VRAM_SETTING_CANONICAL];
    VRAM_TRY(vram_setting_parse((enum vram_key)row, key, value, &parsed, canonical, e));
    if (vram_setting_is_family((enum vram_key)row))
        return set_extra(plan, (enum vram_key)row, key, name, &parsed, canonical, e);
    struct entry *entry = &plan->at[row];
    char *text = duplicate(canonical), *who = text && by ? duplicate(by) : NULL;
    if (!text || (by && !who)) {
        free(text);
        return fail_memory(e);
    }
    free(entry->given);
    free(entry->by);
    *entry = (struct entry){.value = parsed, .text = text, .given = text, .by = who,
                            .implied = implied, .set = true};
    return VRAM_OK;
}

int vram_plan_set(vram_plan *plan, const char *key, const char *value, vram_error *error)
{
    vram_error e = {.offset = VRAM_NO_OFFSET};
    set(plan, key, value, NULL, false, &e);
    return give(error, &e);
}

int vram_plan_set_by(struct vram_plan *plan, const char *key, const char *value, const char *by,
                     bool implied, vram_error *error)
{
    vram_error e = {.offset = VRAM_NO_OFFSET};
    set(plan, key, value, by, implied, &e);
    return give(error, &e);
}

const char *vram_plan_get(const vram_plan *plan, const char *key)
{
    const char *name;
    int row = key ? vram_setting_find(key, &name) : -1;
    if (row < 0)
        return NULL;
    if (!vram_setting_is_family((enum vram_key)row))
        return plan->at[row].given;
    const struct extra *extra = find_extra(plan, key);
    return extra ? extra->text : NULL;
}

/* ---- what settings files said ---- */

const char *vram_plan_who(const struct vram_plan *plan, enum vram_key key, bool *implied)
{
    if (implied)
        *implied = plan->at[key].implied;
    return plan->at[key].by;
}

static int find(struct vram_plan *plan, int kind, const char *subject, const char *text,
                vram_error *e)
{
    if (plan->nfindings == plan->findings_cap) {
        size_t cap = plan->findings_cap ? plan->findings_cap * 2 : 8;
        void *at = vram_realloc(plan->findings, cap, sizeof *plan->findings);
        if (!at)
            return fail_memory(e);
        plan->findings = at;
        plan->findings_cap = cap;
    }
    struct vram_plan_finding f = {kind, duplicate(subject), NULL};
    f.text = f.subject ? duplicate(text) : NULL;
    if (!f.text) {
        free(f.subject);
        return fail_memory(e);
    }
    plan->findings[plan->nfindings++] = f;
    return VRAM_OK;
}

int vram_plan_find(struct vram_plan *plan, int kind, const char *subject, const char *text,
                   vram_error *error)
{
    vram_error e = {.offset = VRAM_NO_OFFSET};
    find(plan, kind, subject, text, &e);
    return give(error, &e);
}

const struct vram_plan_finding *vram_plan_findings(const struct vram_plan *plan, size_t *n)
{
    *n = plan->nfindings;
    return plan->findings;
}

/* ---- for the passes ---- */

void vram_plan_clear(struct vram_plan *plan, enum vram_key key)
{
    const struct vram_setting_row *row = &vram_settings[key];
    struct entry *entry = &plan->at[key];
    char canonical[VRAM_SETTING_CANONICAL];
    vram_error e;
    if (!entry->given)
        return;
    free(entry->given);
    *entry = (struct entry){.text = row->fallback, .set = row->fallback[0]};
    entry->value.number = VRAM_PLAN_UNSET;
    if (entry->set) /* has been parsed before: it cannot fail */
        vram_setting_parse(key, row->key, row->fallback, &entry->value, canonical, &e);
}

bool vram_plan_given(const struct vram_plan *plan, enum vram_key key)
{
    if (!vram_setting_is_family(key))
        return plan->at[key].given != NULL;
    for (size_t i = 0; i < plan->nextras; i++)
        if (plan->extras[i].view.row == key)
            return true;
    return false;
}

const char *vram_plan_text(const struct vram_plan *plan, enum vram_key key)
{
    return plan->at[key].text;
}

bool vram_plan_is(const struct vram_plan *plan, enum vram_key key, const char *word)
{
    return !strcmp(plan->at[key].text, word);
}

int64_t vram_plan_int(const struct vram_plan *plan, enum vram_key key)
{
    return plan->at[key].value.number;
}

bool vram_plan_on(const struct vram_plan *plan, enum vram_key key, bool otherwise)
{
    return plan->at[key].set ? plan->at[key].value.number == 1 : otherwise;
}

double vram_plan_number(const struct vram_plan *plan, enum vram_key key)
{
    const struct entry *entry = &plan->at[key];
    return entry->set ? (double)entry->value.number / VRAM_SETTING_BILLION : 0;
}

bool vram_plan_size(const struct vram_plan *plan, enum vram_key key, int64_t *height,
                    int64_t *width)
{
    const struct entry *entry = &plan->at[key];
    if (!entry->set)
        return false;
    *height = entry->value.number;
    *width = entry->value.width;
    return true;
}

size_t vram_plan_extra_count(const struct vram_plan *plan) { return plan->nextras; }

const struct vram_plan_extra *vram_plan_extra(const struct vram_plan *plan, size_t i)
{
    return i < plan->nextras ? &plan->extras[i].view : NULL;
}

const struct vram_plan_extra *vram_plan_extra_find(const struct vram_plan *plan, enum vram_key row,
                                                   const char *name)
{
    for (size_t i = 0; i < plan->nextras; i++)
        if (plan->extras[i].view.row == row && !strcmp(plan->extras[i].view.name, name))
            return &plan->extras[i].view;
    return NULL;
}

int vram_plan_copy(struct vram_plan **out, const struct vram_plan *from, vram_error *error)
{
    struct vram_plan *plan = NULL;
    vram_error e = {.offset = VRAM_NO_OFFSET};
    int code = vram_plan_create(&plan, &e);
    for (int i = 0; !code && i < VRAM_KEY_COUNT; i++)
        if (from->at[i].given)
            code = set(plan, vram_settings[i].key, from->at[i].given, from->at[i].by,
                       from->at[i].implied, &e);
    for (size_t i = 0; !code && i < from->nextras; i++)
        code = set(plan, from->extras[i].key, from->extras[i].text, NULL, false, &e);
    for (size_t i = 0; !code && i < from->nfindings; i++)
        code = find(plan, from->findings[i].kind, from->findings[i].subject,
                    from->findings[i].text, &e);
    if (code)
        vram_plan_free(plan);
    else
        *out = plan;
    return give(error, &e);
}

void vram_plan_swap(struct vram_plan *a, struct vram_plan *b)
{
    struct vram_plan c = *a;
    *a = *b;
    *b = c;
}
