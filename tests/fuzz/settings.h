/* SPDX-License-Identifier: Apache-2.0
 *
 * What the targets of settings files share: one file in memory, from its syntax to the plan.  What it
 * names is not there, so that nothing is opened.
 */
#ifndef VRAM_FUZZ_SETTINGS_H
#define VRAM_FUZZ_SETTINGS_H

#include "settings/settings.h"
#include "target.h"

typedef int (*fuzz_syntax)(struct vram_settings *s, uint32_t file, const char *text, size_t n);

static inline int fuzz_settings(fuzz_syntax syntax, const uint8_t *data, size_t n)
{
    struct fuzz f;
    struct vram_limits limits = vram_limits_default;
    struct vram_cx *cx = fuzz_begin(&f);
    struct vram_plan *plan = NULL;
    limits.settings = 2000;
    cx->limits = &limits;
    if (vram_plan_create(&plan, &f.error))
        abort();
    struct vram_settings s = {.cx = cx, .plan = plan};
    struct vram_settings_file file = {.path = "/nowhere/input", .name = "input",
                                      .real = "/nowhere/input", .inside = "/nowhere", .prefix = "",
                                      .tool = VRAM_TOOL_NONE};
    if (!vram_vec_push(&s.files, cx->arena, file))
        abort();
    int rc = syntax(&s, 0, (const char *)data, n);
    if (!rc)
        rc = vram_settings_own(&s, 0, 0);
    if (!rc)
        rc = vram_settings_follow(&s, 0, 0);
    if (!rc)
        rc = vram_settings_resolve(&s);
    fuzz_check(&f, rc, n);
    vram_plan_free(plan);
    fuzz_end(&f);
    return 0;
}

#endif
