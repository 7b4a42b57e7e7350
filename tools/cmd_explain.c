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

/* What fits so far: how many, the first of them, and two in words. */
struct found {
    size_t n, used;
    struct subject first;
    char words[400];
};

static void add(struct found *f, struct subject s)
{
    if (f->n < 2)
        f->used += (size_t)snprintf(f->words + f->used, sizeof f->words - f->used, "%s%.150s",
                                    f->n ? ", " : "", s.name);
    if (!f->n++)
        f->first = s;
}

static void modules(const vram_model *model, const char *component, const char *suffix,
                    struct found *f)
{
    for (size_t i = 1; i < vram_model_module_count(model); i++) {
        vram_module_view m = {.size = sizeof m};
        vram_model_module(model, i, &m);
        if (ends_with(m.path, suffix) && (!*component || !strcmp(m.component, component)))
            add(f, (struct subject){SUBJECT_MODULE, m.path, i});
    }
}

/* whole: of a path or of the name in the file, not only an end */
static void parameters(const vram_model *model, const char *component, const char *suffix,
                       bool whole, struct found *f)
{
    for (size_t i = 0; i < vram_model_param_count(model); i++) {
        vram_param_view p = {.size = sizeof p};
        vram_module_view m = {.size = sizeof m};
        vram_model_param(model, i, &p);
        vram_model_module(model, p.module, &m);
        if (*component && strcmp(m.component, component) != 0)
            continue;
        if (!strcmp(p.path, suffix) || !strcmp(p.stored, suffix) ||
            (!whole && ends_with(p.path, suffix)))
            add(f, (struct subject){SUBJECT_PARAMETER, p.path, i});
    }
}

/* Modules, else a parameter of this name, else parameters whose path ends so; component "" = of any. */
static void by_ending(const vram_model *model, const char *component, const char *suffix,
                      struct found *f)
{
    if (!*suffix)
        return;
    modules(model, component, suffix, f);
    if (!f->n)
        parameters(model, component, suffix, true, f);
    if (!f->n)
        parameters(model, component, suffix, false, f);
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
    char component[64] = "";
    const char *what = input->what, *dot = strchr(what, '.'), *name;
    struct found f = {.n = 0};
    for (size_t i = 0; (name = component_name(i, report)); i++)
        if (!strcmp(name, what)) {
            *out = (struct subject){SUBJECT_COMPONENT, name, i};
            return CLI_DONE;
        }
    for (size_t i = 1; i < vram_model_module_count(input->model); i++) {
        vram_module_view m = {.size = sizeof m};
        vram_model_module(input->model, i, &m);
        if (!strcmp(m.path, what)) {
            *out = (struct subject){SUBJECT_MODULE, m.path, i};
            return CLI_DONE;
        }
    }
    by_ending(input->model, "", what, &f);
    if (!f.n && dot && dot > what && (size_t)(dot - what) < sizeof component) {
        snprintf(component, sizeof component, "%.*s", (int)(dot - what), what);
        by_ending(input->model, component, dot + 1, &f);
    }
    *out = f.first;
    if (f.n == 1)
        return CLI_DONE;
    if (f.n && f.first.kind == SUBJECT_MODULE && !*component)
        return cli_fail(CLI_USAGE, "'%s' is %zu modules: %s%s; write COMPONENT.%s or a whole path",
                        what, f.n, f.words, f.n > 2 ? " ..." : "", what);
    if (f.n)
        return cli_fail(CLI_USAGE, "'%s' is %zu %s: %s%s; write more of the path", what, f.n,
                        f.first.kind == SUBJECT_MODULE ? "modules" : "parameters", f.words,
                        f.n > 2 ? " ..." : "");
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
