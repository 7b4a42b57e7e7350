/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan: the values that were given, and the table's defaults for the rest.  The public functions
 * (vram_plan_create, _free, _set, _get) stand in plan.c too; these are for the passes.
 *
 * A setting whose default is decided elsewhere has no value until the pass that decides asks for
 * something else: its text is "", its number VRAM_PLAN_UNSET.
 */
#ifndef VRAM_PLAN_PLAN_H
#define VRAM_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/settings.h"

struct vram_plan; /* the public handle */

#define VRAM_PLAN_UNSET (INT64_MIN + 1)
#define VRAM_PLAN_AUTO VRAM_SETTING_WORD /* "auto" of an INTEGER */

/* Was it given?  Of a family: was any of its keys? */
bool vram_plan_given(const struct vram_plan *plan, enum vram_key key);
/* The canonical text: given, or the default; "" when neither. */
const char *vram_plan_text(const struct vram_plan *plan, enum vram_key key);
/* Is the value this word?  word is spelt as in settings.def. */
bool vram_plan_is(const struct vram_plan *plan, enum vram_key key, const char *word);
/* The number as vram_setting_value has it; VRAM_PLAN_UNSET when there is none. */
int64_t vram_plan_int(const struct vram_plan *plan, enum vram_key key);
/* A SWITCH; otherwise is what it is when unset. */
bool vram_plan_on(const struct vram_plan *plan, enum vram_key key, bool otherwise);
/* A NUMBER or FRACTION; 0 when unset. */
double vram_plan_number(const struct vram_plan *plan, enum vram_key key);
/* A SIZE; false when unset. */
bool vram_plan_size(const struct vram_plan *plan, enum vram_key key, int64_t *height,
                    int64_t *width);

/* The keys of a family that were given, in the order in which they first were. */
struct vram_plan_extra {
    enum vram_key row;
    const char *name; /* "batch" of dim.batch */
    const char *text; /* canonical */
    int64_t number;
};
size_t vram_plan_extra_count(const struct vram_plan *plan); /* of all families */
const struct vram_plan_extra *vram_plan_extra(const struct vram_plan *plan, size_t i);
const struct vram_plan_extra *vram_plan_extra_find(const struct vram_plan *plan, enum vram_key row,
                                                   const char *name); /* NULL = not given */

/* The key's default holds again; families are left as they are. */
void vram_plan_clear(struct vram_plan *plan, enum vram_key key);
/* ---- values that other tools' settings files gave ---- */

/* As vram_plan_set, and who said it: "zero2.json:12", or with `implied` the tool whose default it is,
 * "TrainingArguments".  Either may be set again; vram_plan_set forgets who said it. */
int vram_plan_set_by(struct vram_plan *plan, const char *key, const char *value, const char *by,
                     bool implied, vram_error *error);
/* Who said a key that was set so; NULL otherwise.  implied may be NULL. */
const char *vram_plan_who(const struct vram_plan *plan, enum vram_key key, bool *implied);
/* What was noteworthy in those files: kept with the plan, for the report. */
int vram_plan_find(struct vram_plan *plan, int kind, const char *subject, const char *text,
                   vram_error *error);
struct vram_plan_finding {
    int kind; /* enum vram_finding_kind */
    char *subject, *text;
};
const struct vram_plan_finding *vram_plan_findings(const struct vram_plan *plan, size_t *n);

/* With vram_plan_copy: to try several keys and keep all of them or none. */
void vram_plan_swap(struct vram_plan *a, struct vram_plan *b);

#endif
