/* SPDX-License-Identifier: Apache-2.0
 *
 * vramcast check: the pre-flight.  Will this run fit these cards?  The exit code says it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output/check.h"

enum { SHOWN = 5 }; /* pieces of advice for a card */

static int find_output(const struct cli_args *args, const struct check_row **out)
{
    const char *name = args->option[CLI_FORMAT] ? args->option[CLI_FORMAT] : "text";
    for (*out = check_outputs; (*out)->name; ++*out)
        if (!strcmp((*out)->name, name))
            return CLI_DONE;
    return cli_fail(CLI_USAGE, "--format %s: text, json, junit, github or sarif", name);
}

/* Single changes; where none of them passes, pairs too. */
static int advise(const struct cli_input *input, enum require require, struct verdict *v)
{
    v->advice = calloc(ADVICE_MOST, sizeof *v->advice);
    if (!v->advice)
        return cli_fail(CLI_SYSTEM, "out of memory");
    for (int pairs = 0; pairs < 2 && !v->nadvice; pairs++) {
        size_t n = advice_find(input->model, input->plan, v->gpu, pairs, v->advice, ADVICE_MOST);
        if (n == SIZE_MAX)
            return cli_fail(CLI_SYSTEM, "out of memory");
        v->nadvice = advice_passing(v->advice, n, require);
    }
    v->nadvice = v->nadvice < SHOWN ? v->nadvice : SHOWN;
    return CLI_DONE;
}

static int judge(const struct cli_input *input, enum require require, struct verdict *v)
{
    if (!trial_run(input->model, input->plan, v->gpu, NULL, 0, &v->trial))
        return cli_fail(CLI_SYSTEM, "out of memory");
    if (!v->trial.ran)
        return cli_fail_run(input, &v->trial.error);
    v->passes = trial_passes(&v->trial, require);
    return v->passes || !v->trial.known ? CLI_DONE : advise(input, require, v);
}

/* Does not fit beats cannot tell: one card that is too small decides. */
static int exit_of(const struct verdict *at, size_t n)
{
    int code = CLI_DONE;
    for (size_t i = 0; i < n; i++)
        if (!at[i].passes && at[i].trial.known)
            return CLI_NO;
        else if (!at[i].passes)
            code = CLI_UNKNOWN;
    return code;
}

static int check(const struct cli_args *args, const struct cli_input *input,
                 const struct gpu_list *gpus, const struct check_row *output)
{
    struct verdict at[TRIAL_GPUS] = {{.gpu = NULL}};
    struct checked c = {.path = input->path, .at = at, .n = gpus->n};
    vram_model_view m = {.size = sizeof m};
    struct page page;
    int code = trial_require(args->option[CLI_REQUIRE], &c.require);
    vram_model_get(input->model, &m);
    c.family = m.family;
    for (size_t i = 0; !code && i < gpus->n; i++) {
        at[i].gpu = gpus->names[i];
        code = judge(input, c.require, &at[i]);
    }
    if (!code)
        code = page_open(&page, args->option[CLI_OUTPUT]);
    if (!code) {
        output->write(&page, &c);
        code = page_close(&page, exit_of(at, c.n));
    }
    for (size_t i = 0; i < gpus->n; i++)
        free(at[i].advice);
    return code;
}

static int strict(const struct cli_args *args, const struct cli_input *input)
{
    vram_report *report = NULL;
    int code = args->option[CLI_STRICT] ? cli_run(&report, input) : CLI_DONE;
    if (!code)
        code = report ? cli_strict(args, input, report) : CLI_DONE;
    vram_report_free(report);
    return code;
}

static int run(const struct cli_args *given)
{
    const struct check_row *output;
    struct cli_args args = *given;
    struct gpu_list gpus;
    struct cli_input input = {.path = NULL};
    int code = find_output(&args, &output);
    if (!code)
        code = trial_gpus(&args, &gpus);
    if (code)
        return code;
    code = cli_open(&input, &args, 1);
    if (!code && !gpus.n && vram_plan_get(input.plan, "gpu"))
        gpus = (struct gpu_list){.names = {vram_plan_get(input.plan, "gpu")}, .n = 1};
    if (!code && !gpus.n)
        code = cli_fail(CLI_USAGE, "which card? gpu=NAME or gpu=A,B (vramcast list gpus)");
    if (!code)
        code = strict(&args, &input);
    if (!code)
        code = check(&args, &input, &gpus, output);
    cli_close(&input);
    return code;
}

static const struct cli_option options[] = {
    {CLI_FORMAT, "format", 'f', "NAME", "text (the default), json, junit, github or sarif"},
    CLI_ROW_OUTPUT,
    CLI_ROW_PLAN,
    CLI_ROW_SETTINGS,
    CLI_ROW_TEMPLATES,
    CLI_ROW_STRICT,
    CLI_ROW_REQUIRE,
    CLI_ROW_HELP,
    CLI_ROW_END};

const struct cli_command cli_check = {
    "check", "PATH gpu=NAME[,NAME]... [key=value]...",
    "the pre-flight: will this run fit these cards? The exit code says it",
    "Exit codes: 0 it fits every card named, 1 it does not, 4 that cannot be told.\n"
    "Settings are those of predict: words, --plan, --settings. Where it does not\n"
    "fit, the answer lists changes with which it would; each of them was tried.\n",
    options, run};
