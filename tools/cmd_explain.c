/* SPDX-License-Identifier: Apache-2.0
 *
 * vramcast explain: whose bytes are in a component, a module or a parameter, who makes them and how
 * long they are kept.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "output/explain.h"

/* "…x.layers.3" for "layers.3", whole parts only */
static bool ends_with(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix);
    return n >= k && !strcmp(path + n - k, suffix) && (n == k || path[n - k - 1] == '.');
}

/* Modules, then parameters, whose path ends so; component "" = of any.  How many, the first of
 * them, and two in words. */
static size_t by_ending(const vram_model *model, const char *component, const char *suffix,
                        struct subject *out, char *words, size_t size)
{
    size_t n = 0, used = 0;
    for (size_t i = 1; i < vram_model_module_count(model); i++) {
        vram_module_view m = {.size = sizeof m};
        vram_model_module(model, i, &m);
        if (!ends_with(m.path, suffix) || (*component && strcmp(m.component, component) != 0))
            continue;
        if (n < 2)
            used += (size_t)snprintf(words + used, size - used, "%s%.150s", n ? ", " : "", m.path);
        if (!n++)
            *out = (struct subject){SUBJECT_MODULE, m.path, i};
    }
    for (size_t i = 0; !n && i < vram_model_param_count(model); i++) {
        vram_param_view p = {.size = sizeof p};
        vram_module_view m = {.size = sizeof m};
        vram_model_param(model, i, &p);
        vram_model_module(model, p.module, &m);
        if (*component && strcmp(m.component, component) != 0)
            continue;
        if (ends_with(p.path, suffix) || !strcmp(p.stored, suffix)) {
            *out = (struct subject){SUBJECT_PARAMETER, p.path, i};
            n++;
        }
    }
    return n;
}

static const char *component_name(size_t i, const void *report)
{
    static _Thread_local vram_report_component_view c;
    c = (vram_report_component_view){.size = sizeof c};
    if (i >= vram_report_component_count(report))
        return NULL;
    vram_report_component(report, i, &c);
    return c.name;
}

/* WHAT: a component, a path, the end of a path, or COMPONENT.END */
static int resolve(const struct cli_input *input, const vram_report *report, struct subject *out)
{
    char words[400] = "", component[64];
    const char *what = input->what, *dot = strchr(what, '.'), *name;
    size_t n;
    for (size_t i = 0; (name = component_name(i, report)); i++)
        if (!strcmp(name, what)) {
            *out = (struct subject){SUBJECT_COMPONENT, name, i};
            return CLI_DONE;
        }
    for (size_t i = 0; i < vram_model_module_count(input->model); i++) {
        vram_module_view m = {.size = sizeof m};
        vram_model_module(input->model, i, &m);
        if (i && !strcmp(m.path, what)) {
            *out = (struct subject){SUBJECT_MODULE, m.path, i};
            return CLI_DONE;
        }
    }
    n = by_ending(input->model, "", what, out, words, sizeof words);
    if (!n && dot && (size_t)(dot - what) < sizeof component) {
        snprintf(component, sizeof component, "%.*s", (int)(dot - what), what);
        n = by_ending(input->model, component, dot + 1, out, words, sizeof words);
    }
    if (n == 1)
        return CLI_DONE;
    if (n)
        return cli_fail(CLI_USAGE, "'%s' is %zu modules: %s%s; write COMPONENT.%s or a whole path",
                        what, n, words, n > 2 ? " ..." : "", what);
    const char *near = cli_nearest(what, component_name, report);
    return cli_fail(CLI_USAGE,
                    "'%s' is no component, module or parameter of %s%s%s%s (vramcast inspect)",
                    what, input->path, near ? "; did you mean " : "", near ? near : "",
                    near ? "?" : "");
}

static int explain(const struct cli_args *args, const struct cli_input *input, bool json)
{
    struct page page;
    vram_report *report = NULL;
    struct explanation e = {.model = input->model};
    vram_report_view view = {.size = sizeof view};
    int code = cli_run(&report, input);
    if (code)
        return code;
    vram_report_get(report, &view);
    if (!view.peak_known)
        code = cli_fail(CLI_UNKNOWN, "%s: what this model runs is not known: nothing to explain",
                        input->path);
    if (!code)
        code = cli_strict(args, input, report);
    if (!code)
        code = resolve(input, report, &e.subject);
    e.report = report;
    if (!code && explain_collect(&e))
        code = cli_fail(CLI_SYSTEM, "out of memory");
    if (!code)
        code = page_open(&page, args->option[CLI_OUTPUT]);
    if (!code) {
        (json ? explain_json : explain_text)(&page, &e);
        code = page_close(&page, CLI_DONE);
    }
    explain_finish(&e);
    vram_report_free(report);
    return code;
}

static int run(const struct cli_args *args)
{
    struct cli_input input;
    bool json;
    int code = cli_text_or_json(args, &json);
    if (code)
        return code;
    code = cli_open(&input, args, 2);
    if (!code)
        code = explain(args, &input, json);
    cli_close(&input);
    return code;
}

static const struct cli_option options[] = {CLI_ROW_FORMAT, CLI_ROW_OUTPUT,    CLI_ROW_PLAN,
    CLI_ROW_SETTINGS,
                                            CLI_ROW_TEMPLATES, CLI_ROW_STRICT, CLI_ROW_HELP,
                                            CLI_ROW_END};

const struct cli_command cli_explain = {
    "explain", "PATH WHAT [key=value]...",
    "what a part of a model holds, who makes it and who keeps it how long",
    "WHAT is a component (decoder), the path of a module or a parameter, the end of\n"
    "one (layers.3.mlp), or both (decoder.layers.3). Settings are those of predict.\n",
    options, run};
