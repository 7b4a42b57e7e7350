/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan from settings files of other tools.  The loaders read them into a copy, which replaces the plan
 * when all of them were good; their findings go with it.
 */
#include <string.h>

#include "handles.h"
#include "plan/plan.h"
#include "settings/settings.h"

static int keep_findings(struct vram_plan *plan, const struct vram_findings *f, vram_error *e)
{
    for (size_t i = 0; i < f->n; i++)
        VRAM_TRY(vram_plan_find(plan, (int)f->at[i].kind, f->at[i].subject, f->at[i].text, e));
    return VRAM_OK;
}

int vram_plan_set_files(vram_plan *plan, const char *const *paths, size_t n, vram_error *error)
{
    vram_error e = {.offset = VRAM_NO_OFFSET};
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_findings findings = {0};
    struct vram_plan *copy = NULL;
    vram_arena_init(&arena, vram_limits_default.arena_bytes);
    struct vram_cx cx = {&arena, &syms, &vram_limits_default, &findings, &e};
    int code = vram_plan_copy(&copy, plan, &e);
    if (!code && vram_syms_init(&syms, &arena))
        code = vram_fail_memory(&cx);
    if (!code)
        code = vram_settings_read(&cx, copy, paths, n);
    if (!code)
        code = keep_findings(copy, &findings, &e);
    if (!code)
        vram_plan_swap(plan, copy);
    vram_plan_free(copy);
    vram_arena_finish(&arena);
    if (error)
        *error = e;
    return code;
}

const char *vram_plan_by(const vram_plan *plan, const char *key)
{
    const char *name;
    int row = key ? vram_setting_find(key, &name) : -1;
    return row < 0 ? NULL : vram_plan_who(plan, (enum vram_key)row, NULL);
}

size_t vram_plan_finding_count(const vram_plan *plan)
{
    size_t n;
    vram_plan_findings(plan, &n);
    return n;
}

void vram_plan_finding(const vram_plan *plan, size_t i, vram_finding_view *view)
{
    size_t n;
    const struct vram_plan_finding *f = &vram_plan_findings(plan, &n)[i];
    struct vram_finding one = {(enum vram_finding_kind)f->kind, f->subject, f->text};
    vram_finding_copy(&(struct vram_findings){.at = &one, .n = 1}, 0, view);
}
