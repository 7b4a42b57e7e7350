/* SPDX-License-Identifier: Apache-2.0
 *
 * vramcast shapes: what every value of an ONNX graph is, over the sizes of its inputs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "cli.h"
#include "output/shapes.h"

/* NAME=N and dim.NAME=N are sizes, input.NAME=2x3 shapes.  A name may be an expression of the file, so
 * the last '=' counts. */
static int bind(vram_plan *plan, const char *word)
{
    const char *value = strrchr(word, '=');
    bool prefixed = !strncmp(word, "dim.", 4) || !strncmp(word, "input.", 6);
    vram_error e;
    if (!value || value == word)
        return cli_fail(CLI_USAGE, "'%s' binds nothing: NAME=N or input.NAME=2x3x64 (vramcast shapes --help)", word);
    size_t n = (size_t)(value - word), most = n + sizeof "dim.";
    char *key = malloc(most);
    if (!key)
        return cli_fail(CLI_SYSTEM, "out of memory");
    snprintf(key, most, "%s%.*s", prefixed ? "" : "dim.", (int)n, word);
    int code = vram_plan_set(plan, key, value + 1, &e);
    free(key);
    return code ? cli_fail_library(cli_exit_of(&e) == CLI_SYSTEM ? CLI_SYSTEM : CLI_USAGE, NULL, &e) : CLI_DONE;
}

static int show(const struct cli_args *args, const struct shown_shapes *s, bool json)
{
    struct page page;
    int code = page_open(&page, args->option[CLI_OUTPUT]);
    if (code)
        return code;
    (json ? shapes_json : shapes_text)(&page, s);
    return page_close(&page, CLI_DONE);
}

/* ---- a copy with declarations ---------------------------------------------------------------- */

struct copying {
    struct page page;
    int from;
};

static int put(void *ctx, const char *text, size_t n) { return page_write(&((struct copying *)ctx)->page, text, n); }

/* Through a buffer, where the system cannot do it alone. */
static int copy_slowly(struct copying *c, off_t at, uint64_t n)
{
    char buffer[1 << 16];
    while (n && !c->page.error) {
        ssize_t k = pread(c->from, buffer, n < sizeof buffer ? (size_t)n : sizeof buffer, at);
        if (k <= 0)
            return c->page.error = k ? errno : EIO; /* the file became shorter */
        page_write(&c->page, buffer, (size_t)k);
        at += k;
        n -= (uint64_t)k;
    }
    return c->page.error;
}

/* Within the system: weights do not pass through this process. */
static int copy(void *ctx, uint64_t offset, uint64_t n)
{
    struct copying *c = ctx;
    off_t at = (off_t)offset;
    if (!c->page.error && fflush(c->page.file))
        c->page.error = errno;
    while (n && !c->page.error) {
        ssize_t k = sendfile(fileno(c->page.file), c->from, &at, n < 1u << 30 ? (size_t)n : 1u << 30);
        if (k <= 0 && errno != EINTR)
            return copy_slowly(c, at, n);
        n -= k > 0 ? (uint64_t)k : 0;
    }
    return c->page.error;
}

static int fill(const struct cli_args *args, const char *path, const vram_shapes *shapes)
{
    struct copying c = {.from = open(path, O_RDONLY | O_CLOEXEC)};
    vram_error e;
    size_t declared = 0;
    if (c.from < 0)
        return cli_fail(CLI_INPUT, "%s: %s", path, strerror(errno));
    int code = page_open(&c.page, args->option[CLI_FILL]);
    if (!code && vram_shapes_fill(shapes, put, copy, &c, &declared, &e) && !c.page.error)
        code = cli_fail_library(cli_exit_of(&e), path, &e);
    if (c.page.file != NULL && c.page.target)
        code = page_close(&c.page, code);
    close(c.from);
    if (!code)
        printf("%zu values declared in %s\n", declared, args->option[CLI_FILL]);
    return code;
}

static int infer(const struct cli_args *args, const char *path, const vram_graph *graph, const vram_plan *plan, bool json)
{
    vram_shapes *shapes;
    vram_error e;
    if (vram_shapes_infer(&shapes, graph, plan, &e))
        return e.code == VRAM_E_ARGUMENT ? cli_fail_library(CLI_USAGE, NULL, &e)
                                         : cli_fail_library(cli_exit_of(&e), path, &e);
    struct shown_shapes s = {graph, shapes, args->option[CLI_CLAIMS] != NULL};
    int code = args->option[CLI_FILL]                      ? fill(args, path, shapes)
               : s.claims && vram_shapes_check(shapes, &e)
                   ? cli_fail_library(cli_exit_of(&e), path, &e)
                   : show(args, &s, json);
    vram_shapes_free(shapes);
    return code;
}

static int run(const struct cli_args *args)
{
    vram_plan *plan;
    vram_graph *graph = NULL;
    vram_error e;
    bool json;
    int code = cli_text_or_json(args, &json);
    if (code)
        return code;
    if (!args->nwords)
        return cli_fail(CLI_USAGE, "the path of a model is missing (usage: vramcast shapes %s)", args->command->synopsis);
    if (vram_plan_create(&plan, &e))
        return cli_fail_library(CLI_SYSTEM, NULL, &e);
    for (size_t i = 1; i < args->nwords && !code; i++)
        code = bind(plan, args->words[i]);
    if (!code && vram_graph_open(&graph, args->words[0], NULL, &e))
        code = cli_fail_library(cli_exit_of(&e), NULL, &e);
    if (!code)
        code = infer(args, args->words[0], graph, plan, json);
    vram_graph_free(graph);
    vram_plan_free(plan);
    return code;
}

static const struct cli_option options[] = {
    {CLI_CLAIMS, "claims", 'c', NULL, "list where the file's own shapes do not follow from its inputs"},
    {CLI_FILL, "fill", 0, "OUT.onnx", "write a copy of the model in which every value is declared, instead of an answer"},
    CLI_ROW_FORMAT,
    CLI_ROW_OUTPUT,
    CLI_ROW_HELP,
    CLI_ROW_END};

const struct cli_command cli_shapes = {
    "shapes", "MODEL.onnx [NAME=N]... [input.NAME=2x3]...",
    "the shape of every value of an ONNX graph, over the sizes of its inputs",
    "NAME is a size that the file gives a name (\"batch\"), or an expression of them as\n"
    "the file has it (\"past + 1\"); input.NAME is the shape of an input, and binds what\n"
    "has no name there. Sizes that nothing binds stay as they are: a nameless one is\n"
    "called after its input and its place, input_ids_0.\n",
    options, run};
