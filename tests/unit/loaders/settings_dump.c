/* SPDX-License-Identifier: Apache-2.0
 *
 * settings-dump FILE... [key=value]...: what settings files make of a plan, a line for each setting with
 * who said it, then the findings.  key=value is given before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"

int main(int argc, char **argv)
{
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_findings findings = {0};
    vram_error error = {.offset = VRAM_NO_OFFSET};
    struct vram_plan *plan = NULL;
    const char **files = calloc((size_t)argc, sizeof *files);
    size_t n = 0;
    vram_arena_init(&arena, 64u << 20);
    struct vram_cx cx = {&arena, &syms, &vram_limits_default, &findings, &error};
    int rc = !files || vram_syms_init(&syms, &arena) || vram_plan_create(&plan, &error) ? -1 : 0;
    for (int i = 1; i < argc && !rc; i++) {
        char *sign = strchr(argv[i], '=');
        if (!sign) {
            files[n++] = argv[i];
            continue;
        }
        *sign = 0;
        rc = vram_plan_set(plan, argv[i], sign + 1, &error);
    }
    if (!rc)
        rc = vram_settings_read(&cx, plan, files, n);
    if (rc)
        printf("error: %s: %s: %s\n", vram_code_name(rc), error.where, error.text);
    for (int k = 0; k < VRAM_KEY_COUNT && !rc; k++) {
        bool implied;
        const char *by = vram_plan_who(plan, (enum vram_key)k, &implied);
        if (by)
            printf("%s=%s  %s%s\n", vram_settings[k].key, vram_plan_text(plan, (enum vram_key)k),
                   implied ? "" : "by ", by);
    }
    for (size_t i = 0; i < findings.n && !rc; i++)
        printf("%s %s: %s\n", vram_finding_rows[findings.at[i].kind].id, findings.at[i].subject,
               findings.at[i].text);
    vram_plan_free(plan);
    vram_arena_finish(&arena);
    free(files);
    return 0;
}
