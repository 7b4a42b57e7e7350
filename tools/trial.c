/* SPDX-License-Identifier: Apache-2.0
 *
 * Predictions with changed settings; see trial.h.
 */
#include "trial.h"

#include <string.h>

#include "cli.h"

static bool set_all(vram_plan *plan, const struct change *changes, size_t n, vram_error *error)
{
    for (size_t i = 0; i < n; i++)
        if (vram_plan_set(plan, changes[i].key, changes[i].value, error))
            return false;
    return true;
}

static void read_report(const vram_report *report, struct trial *out)
{
    vram_report_view v = {.size = sizeof v};
    vram_report_get(report, &v);
    out->ran = true;
    out->known = v.peak_known;
    out->allocated = v.allocated;
    out->reserved = v.reserved;
    out->device = v.device;
    out->capacity = v.gpu_capacity;
    out->verdict = v.verdict;
}

bool trial_run(const vram_model *model, const vram_plan *plan, const char *gpu,
               const struct change *changes, size_t n, struct trial *out)
{
    vram_plan *copy = NULL;
    vram_report *report = NULL;
    *out = (struct trial){.verdict = VRAM_CANNOT_TELL};
    if (vram_plan_copy(&copy, plan, &out->error))
        return false;
    if ((!gpu || !vram_plan_set(copy, "gpu", gpu, &out->error)) &&
        set_all(copy, changes, n, &out->error) &&
        !vram_predict(&report, model, copy, &out->error))
        read_report(report, out);
    vram_report_free(report);
    vram_plan_free(copy);
    return out->error.code != VRAM_E_NOMEM;
}

bool trial_passes(const struct trial *t, enum require require)
{
    return t->ran && (t->verdict == VRAM_FITS ||
                      (t->verdict == VRAM_TIGHT && require == REQUIRE_LIKELY));
}

int trial_require(const char *text, enum require *out)
{
    *out = text && !strcmp(text, "certain") ? REQUIRE_CERTAIN : REQUIRE_LIKELY;
    if (!text || !strcmp(text, "likely") || !strcmp(text, "certain"))
        return CLI_DONE;
    return cli_fail(CLI_USAGE, "--require %s: likely or certain", text);
}

/* The last gpu= counts, as with every other setting. */
int trial_gpus(struct cli_args *args, struct gpu_list *out)
{
    size_t kept = 0;
    out->n = 0;
    for (size_t i = 0; i < args->nwords; i++) {
        if (strncmp(args->words[i], "gpu=", 4) != 0) {
            args->words[kept++] = args->words[i];
            continue;
        }
        if (strlen(args->words[i] + 4) >= sizeof out->text)
            return cli_fail(CLI_USAGE, "gpu=: a list that is too long");
        strcpy(out->text, args->words[i] + 4);
        out->n = 0;
        for (char *at = out->text, *end; at; at = end) {
            if ((end = strchr(at, ',')))
                *end++ = 0;
            if (out->n == TRIAL_GPUS)
                return cli_fail(CLI_USAGE, "gpu=: more than %d cards", TRIAL_GPUS);
            out->names[out->n++] = at;
        }
    }
    args->nwords = kept;
    return CLI_DONE;
}
