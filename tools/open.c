/* SPDX-License-Identifier: Apache-2.0
 *
 * From words to handles: which word is the path and which are settings, the plan file, the model.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* key=value: a path with '=' in its first part is given as ./a=b */
static const char *setting_value(const char *word)
{
    const char *p = word;
    if (!isalpha((unsigned char)*p) && *p != '_')
        return NULL;
    while (isalnum((unsigned char)*p) || (*p && strchr("_.-+:", *p)))
        p++;
    return *p == '=' ? p + 1 : NULL;
}

/* A setting that is wrong is wrong usage; only the library's own trouble is not. */
static int exit_of_setting(const vram_error *e)
{
    return cli_exit_of(e) == CLI_SYSTEM ? CLI_SYSTEM : CLI_USAGE;
}

enum { KEY_MOST = 512, PLAN_MOST = 1 << 20 };

static int set(vram_plan *plan, const char *word, const char *value)
{
    char key[KEY_MOST];
    vram_error e;
    size_t n = (size_t)(value - word) - 1;
    if (n >= sizeof key)
        return cli_fail(CLI_USAGE, "a key of %zu letters", n);
    memcpy(key, word, n);
    key[n] = 0;
    if (vram_plan_set(plan, key, value, &e))
        return cli_fail_library(exit_of_setting(&e), NULL, &e);
    return CLI_DONE;
}

static int read_plan(vram_plan *plan, const char *path)
{
    vram_error e;
    int code = CLI_DONE;
    char *text = malloc(PLAN_MOST + 1);
    FILE *file = text ? fopen(path, "rb") : NULL;
    if (!file) {
        code = text ? cli_fail(CLI_INPUT, "%s: %s", path, strerror(errno))
                    : cli_fail(CLI_SYSTEM, "out of memory");
        goto out;
    }
    size_t n = fread(text, 1, PLAN_MOST + 1, file);
    if (ferror(file))
        code = cli_fail(CLI_INPUT, "%s: %s", path, strerror(errno));
    else if (n > PLAN_MOST)
        code = cli_fail(CLI_INPUT, "%s: a plan of more than %d bytes", path, PLAN_MOST);
    else if (vram_plan_set_json(plan, text, n, &e))
        code = cli_fail_library(cli_exit_of(&e), path, &e);
out:
    if (file)
        fclose(file);
    free(text);
    return code;
}

/* The tower's folder is needed before there is a model to plan for. */
static int open_model(struct cli_input *input, const struct cli_args *args)
{
    vram_error e;
    vram_open_options options = {.size = sizeof options,
                                 .templates_dir = args->option[CLI_TEMPLATES],
                                 .vision_tower = vram_plan_get(input->plan, "vision_tower")};
    if (vram_model_open(&input->model, input->path, &options, &e))
        return cli_fail_library(cli_exit_of(&e), NULL, &e);
    return CLI_DONE;
}

int cli_open(struct cli_input *input, const struct cli_args *args, size_t most)
{
    const char *named[2] = {NULL, NULL};
    size_t n = 0;
    vram_error e;
    *input = (struct cli_input){.path = NULL};
    if (vram_plan_create(&input->plan, &e))
        return cli_fail_library(CLI_SYSTEM, NULL, &e);
    if (args->option[CLI_PLAN]) {
        int code = read_plan(input->plan, args->option[CLI_PLAN]);
        if (code)
            return code;
        input->settings = true;
    }
    for (size_t i = 0; i < args->nwords; i++) {
        const char *value = setting_value(args->words[i]);
        if (!value && n == most)
            return cli_fail(CLI_USAGE, "one word too many: '%s' (usage: vramcast %s %s)",
                            args->words[i], args->command->name, args->command->synopsis);
        if (!value) {
            named[n++] = args->words[i];
            continue;
        }
        int code = set(input->plan, args->words[i], value);
        if (code)
            return code;
        input->settings = true;
    }
    if (args->nfiles) { /* last: what words and the plan file say stays */
        if (vram_plan_set_files(input->plan, args->files, args->nfiles, &e))
            return cli_fail_library(cli_exit_of(&e), NULL, &e);
        input->settings = true;
    }
    if (n < most)
        return cli_fail(CLI_USAGE, "%s is missing (usage: vramcast %s %s)",
                        n ? "what to explain" : "the path of a model", args->command->name,
                        args->command->synopsis);
    input->path = named[0];
    input->what = named[1];
    return open_model(input, args);
}

void cli_close(struct cli_input *input)
{
    vram_plan_free(input->plan);
    vram_model_free(input->model);
}

/* What the run refuses is the plan when a setting was given and named, else the model. */
int cli_run(vram_report **report, const struct cli_input *input)
{
    vram_error e;
    if (!vram_predict(report, input->model, input->plan, &e))
        return CLI_DONE;
    bool usage = e.code == VRAM_E_ARGUMENT || e.code == VRAM_E_UNSUPPORTED;
    return cli_fail_library(usage ? exit_of_setting(&e) : cli_exit_of(&e),
                            usage || *e.where ? NULL : input->path, &e);
}

int cli_strict(const struct cli_args *args, const struct cli_input *input,
               const vram_report *report)
{
    size_t n = report ? vram_report_finding_count(report) : vram_model_finding_count(input->model);
    for (size_t i = 0; args->option[CLI_STRICT] && i < n; i++) {
        vram_finding_view f = {.size = sizeof f};
        if (report)
            vram_report_finding(report, i, &f);
        else
            vram_model_finding(input->model, i, &f);
        if (f.severity == VRAM_WARN)
            return cli_fail(CLI_INPUT, "%s%s%s (%s, --strict)", f.subject, *f.subject ? ": " : "",
                            f.text, f.id);
    }
    return CLI_DONE;
}
