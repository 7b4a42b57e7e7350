/* SPDX-License-Identifier: Apache-2.0
 *
 * vramcast predict: the peak of a plan on a model.
 */
#include <string.h>

#include "cli.h"
#include "output/output.h"

static int dump(struct page *page, const struct cli_input *input, const char *pass)
{
    vram_error e;
    if (!vram_dump(input->model, input->plan, pass, page_write, page, &e))
        return CLI_DONE;
    if (page->error)
        return CLI_DONE; /* page_close tells it */
    return cli_fail_run(input, &e);
}

static const char *output_name(size_t i, const void *rows)
{
    return ((const struct output_row *)rows)[i].name;
}

static int find_output(const struct cli_args *args, const struct output_row **out)
{
    const char *name = args->option[CLI_FORMAT] ? args->option[CLI_FORMAT] : "text";
    *out = output_find(name);
    if (*out)
        return CLI_DONE;
    const char *near = cli_nearest(name, output_name, outputs);
    return cli_fail(CLI_USAGE, "--format %s: text, json or svg%s%s%s", name,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* An answer that cannot be given at all is an error; text and JSON say that the peak is unknown. */
static int check_peak(const struct cli_input *input, const vram_report *report,
                      const struct output_row *output)
{
    vram_report_view v = {.size = sizeof v};
    if (!output->needs_peak || !report)
        return CLI_DONE;
    vram_report_get(report, &v);
    return v.peak_known ? CLI_DONE
                        : cli_fail(CLI_UNKNOWN, "%s: what this model runs is not known: no %s",
                                   input->path, output->name);
}

static int predict(const struct cli_args *args, const struct cli_input *input,
                   const struct output_row *output)
{
    struct page page;
    vram_report *report = NULL;
    const char *pass = args->option[CLI_DUMP];
    struct prediction p = {input->path, input->model, input->plan, NULL, !input->settings};
    int code = pass && !args->option[CLI_STRICT] ? CLI_DONE : cli_run(&report, input);
    if (!code)
        code = cli_strict(args, input, report);
    if (!code && !pass)
        code = check_peak(input, report, output);
    if (!code)
        code = page_open(&page, args->option[CLI_OUTPUT]);
    if (!code) {
        p.report = report;
        code = pass ? dump(&page, input, pass) : output->write(&page, &p);
        code = page_close(&page, code);
    }
    vram_report_free(report);
    return code;
}

static int run(const struct cli_args *args)
{
    const struct output_row *output;
    struct cli_input input;
    int code = find_output(args, &output);
    if (code)
        return code;
    code = cli_open(&input, args, 1);
    if (!code)
        code = predict(args, &input, output);
    cli_close(&input);
    return code;
}

static const struct cli_option options[] = {
    {CLI_FORMAT, "format", 'f', "NAME", "text (the default), json or svg"},
    CLI_ROW_OUTPUT,
    CLI_ROW_PLAN,
    CLI_ROW_SETTINGS,
    CLI_ROW_TEMPLATES,
    CLI_ROW_STRICT,
    {CLI_DUMP, "dump", 0, "PASS",
     "print one pass instead: config, tree, program, plan, events or replay"},
    CLI_ROW_HELP,
    CLI_ROW_END};

const struct cli_command cli_predict = {
    "predict", "PATH [key=value]...",
    "the peak GPU memory of training or inference: how much, when, whose",
    "PATH is a checkpoint directory, a .safetensors file or a config.json. Settings\n"
    "are key=value words: micro_batch=8 seq=2048 train=lora gpu=a100-80g. Without\n"
    "any, the text answer first says what common uses of the model need.\n"
    "`vramcast list settings` shows all keys, `vramcast list gpus` the cards.\n",
    options, run};
