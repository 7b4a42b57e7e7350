/* SPDX-License-Identifier: Apache-2.0
 *
 * From words to handles: which word is the path and which are settings, the plan file, the model.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "hub.h"

/* key=value: a path with '=' in its first part is given as ./a=b */
static const char *setting_value(const char *word)
{
    const char *p = word;
    if (!strncmp(word, "input.", 6) || !strncmp(word, "dim.", 4)) { /* names of a graph are any text */
        const char *last = strrchr(word, '=');
        return last ? last + 1 : NULL;
    }
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

/* graph: a key that is none of the plan's is a symbolic dimension of the graph. */
static int set(vram_plan *plan, const char *word, const char *value, bool graph)
{
    char key[KEY_MOST + 4] = "dim.", *own = key + 4;
    vram_error e;
    size_t n = (size_t)(value - word) - 1;
    if (n >= KEY_MOST)
        return cli_fail(CLI_USAGE, "a key of %zu letters", n);
    memcpy(own, word, n);
    own[n] = 0;
    if (!vram_plan_set(plan, own, value, &e))
        return CLI_DONE;
    if (graph && e.code == VRAM_E_NOTFOUND && !vram_plan_set(plan, key, value, NULL))
        return CLI_DONE;
    return cli_fail_library(exit_of_setting(&e), NULL, &e);
}

static bool ends(const char *word, const char *suffix)
{
    size_t n = strlen(word), k = strlen(suffix);
    return n > k && !strcmp(word + n - k, suffix);
}

/* Is a path among the words that of an ONNX graph? */
static bool of_graph(const struct cli_args *args)
{
    for (size_t i = 0; i < args->nwords; i++)
        if (!setting_value(args->words[i]) && (ends(args->words[i], ".onnx") || ends(args->words[i], ".onnx.gz") || ends(args->words[i], ".onnxtxt")))
            return true;
    return false;
}

/* A pipe with a name may have no writer, and nobody waits for one; a pipe that was handed over
 * (/dev/stdin, <(...)) has a name that leads nowhere. */
static FILE *open_plan(const char *path)
{
    struct stat st;
    char *named = NULL;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    bool file = !fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode));
    if (file && S_ISFIFO(st.st_mode))
        file = !(named = realpath(path, NULL));
    free(named);
    errno = file ? 0 : S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    FILE *f = file && !fcntl(fd, F_SETFL, 0) ? fdopen(fd, "rb") : NULL;
    if (!f)
        close(fd);
    return f;
}

static int read_text(vram_plan *plan, const char *path, FILE *file, char *text)
{
    vram_error e;
    size_t n = fread(text, 1, PLAN_MOST + 1, file);
    if (ferror(file))
        return cli_fail(CLI_INPUT, "%s: %s", path, strerror(errno));
    if (n > PLAN_MOST)
        return cli_fail(CLI_INPUT, "%s: a plan of more than %d bytes", path, PLAN_MOST);
    if (!vram_plan_set_json(plan, text, n, &e))
        return CLI_DONE;
    bool setting = e.code == VRAM_E_NOTFOUND || e.code == VRAM_E_ARGUMENT || e.code == VRAM_E_RANGE;
    return cli_fail_library(setting ? CLI_USAGE : cli_exit_of(&e), path, &e);
}

static int read_plan(vram_plan *plan, const char *path)
{
    char *text = malloc(PLAN_MOST + 1);
    FILE *file = text ? open_plan(path) : NULL;
    int code = !text  ? cli_fail(CLI_SYSTEM, "out of memory")
               : file ? read_text(plan, path, file, text)
                      : cli_fail(CLI_INPUT, "%s: %s", path,
                                 errno == EINVAL ? "this is not a regular file" : strerror(errno));
    if (file)
        fclose(file);
    free(text);
    return code;
}

/* The tower's folder and the head are needed before there is a model to plan for. */
static int open_model(struct cli_input *input, const struct cli_args *args)
{
    vram_error e;
    const char *task = vram_plan_get(input->plan, "task"), *loss = vram_plan_get(input->plan, "loss");
    bool classify = (task && !strcmp(task, "classify")) || (loss && !strcmp(loss, "classifier"));
    vram_open_options options = {.size = sizeof options,
                                 .task = classify ? "classify" : NULL,
                                 .templates_dir = args->option[CLI_TEMPLATES],
                                 .vision_tower = vram_plan_get(input->plan, "vision_tower")};
    char *cached = hub_find(input->path);
    int code = vram_model_open(&input->model, cached ? cached : input->path, &options, &e);
    free(cached);
    if (code == VRAM_E_NOTFOUND && hub_is_name(input->path))
        return cli_fail(CLI_INPUT, "%s: neither a path nor a model in the local hub cache (download it first: "
                        "its config.json is enough)", input->path);
    return code ? cli_fail_library(cli_exit_of(&e), NULL, &e) : CLI_DONE;
}

int cli_plan(struct cli_input *input, const struct cli_args *args, const char **names, size_t most,
             size_t *n)
{
    vram_error e;
    bool graph = of_graph(args);
    *input = (struct cli_input){.path = NULL};
    *n = 0;
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
        if (!value && *n == most)
            return cli_fail(CLI_USAGE, "one word too many: '%s' (usage: vramcast %s %s)",
                            args->words[i], args->command->name, args->command->synopsis);
        if (!value) {
            names[(*n)++] = args->words[i];
            continue;
        }
        int code = set(input->plan, args->words[i], value, graph);
        if (code)
            return code;
        input->settings = true;
    }
    if (args->nfiles) { /* last: what words and the plan file say stays */
        if (vram_plan_set_files(input->plan, args->files, args->nfiles, &e))
            return cli_fail_library(cli_exit_of(&e), NULL, &e);
        input->settings = true;
    }
    return CLI_DONE;
}

int cli_open(struct cli_input *input, const struct cli_args *args, size_t most)
{
    const char *named[2] = {NULL, NULL};
    size_t n;
    int code = cli_plan(input, args, named, most, &n);
    if (code)
        return code;
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
int cli_fail_run(const struct cli_input *input, const vram_error *e)
{
    bool usage = e->code == VRAM_E_ARGUMENT || e->code == VRAM_E_UNSUPPORTED ||
                 e->code == VRAM_E_NOTFOUND || (e->code == VRAM_E_CONFLICT && !*e->where);
    return cli_fail_library(usage ? exit_of_setting(e) : cli_exit_of(e),
                            usage || *e->where ? NULL : input->path, e);
}

int cli_run(vram_report **report, const struct cli_input *input)
{
    vram_error e;
    if (!vram_predict(report, input->model, input->plan, &e))
        return CLI_DONE;
    return cli_fail_run(input, &e);
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
