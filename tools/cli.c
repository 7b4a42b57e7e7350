/* SPDX-License-Identifier: Apache-2.0
 *
 * Options from rows by getopt_long, help from the same rows, errors as one line.
 */
#include "cli.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "output/page.h"

/* ---- errors -------------------------------------------------------------------------------- */

int cli_fail(int code, const char *format, ...)
{
    char text[1200], shown[1800];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    page_escape(shown, sizeof shown, text);
    fprintf(stderr, "vramcast: %s\n", shown);
    return code;
}

int cli_fail_library(int code, const char *file, const vram_error *error)
{
    char offset[40] = "";
    if (error->offset != VRAM_NO_OFFSET)
        snprintf(offset, sizeof offset, " (offset %" PRIu64 ")", error->offset);
    return cli_fail(code, "%s%s%s%s%s%s", file ? file : "", file ? ": " : "", error->where,
                    *error->where ? ": " : "", error->text, offset);
}

int cli_exit_of(const vram_error *error)
{
    switch (error->code) {
    case VRAM_E_NOMEM:
    case VRAM_E_CANCELED:
    case VRAM_E_INTERNAL:
        return CLI_SYSTEM;
    default:
        return CLI_INPUT;
    }
}

/* Typing mistakes between two words: one letter more, less or another. */
static size_t mistakes(const char *a, const char *b)
{
    size_t row[32], n = strlen(b);
    if (n >= sizeof row / sizeof *row || strlen(a) > 2 * n + 2)
        return SIZE_MAX;
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 0; a[i]; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < n; k++) {
            size_t best = corner + (a[i] != b[k]);
            best = row[k] + 1 < best ? row[k] + 1 : best;
            best = row[k + 1] + 1 < best ? row[k + 1] + 1 : best;
            corner = row[k + 1];
            row[k + 1] = best;
        }
    }
    return row[n];
}

const char *cli_nearest(const char *word, const char *(*name)(size_t i, const void *ctx),
                        const void *ctx)
{
    const char *best = NULL, *at;
    size_t least = strlen(word) / 3 + 2; /* more than that is another word */
    for (size_t i = 0; (at = name(i, ctx)); i++) {
        size_t n = mistakes(word, at);
        if (n < least) {
            least = n;
            best = at;
        }
    }
    return best;
}

/* ---- options ------------------------------------------------------------------------------- */

enum { MOST_OPTIONS = 24 };

static const char *option_name(size_t i, const void *rows)
{
    return ((const struct cli_option *)rows)[i].name;
}

static int bad_option(const struct cli_args *args, int code, char **argv)
{
    const struct cli_command *c = args->command;
    const char *word = argv[optind - 1];
    if (code == ':')
        return cli_fail(CLI_USAGE, "%s takes a value (vramcast %s --help)", word, c->name);
    if (optopt && !strncmp(word, "--", 2)) /* a flag with "=value" */
        return cli_fail(CLI_USAGE, "%s: the option takes no value", word);
    if (optopt)
        return cli_fail(CLI_USAGE, "there is no option -%c (vramcast %s --help)", optopt, c->name);
    const char *near = cli_nearest(word + 2, option_name, c->options);
    return cli_fail(CLI_USAGE, "there is no option %s%s%s%s (vramcast %s --help)", word,
                    near ? "; did you mean --" : "", near ? near : "", near ? "?" : "", c->name);
}

int cli_args_read(struct cli_args *args, const struct cli_command *command, int argc, char **argv,
                  const char **words)
{
    struct option long_options[MOST_OPTIONS + 1] = {{NULL, 0, NULL, 0}};
    char letters[2 * MOST_OPTIONS + 3] = "-:"; /* words come in order; a missing value is ':' */
    size_t n = 0, at = 2;
    *args = (struct cli_args){.command = command, .words = words, .files = words + argc};
    for (const struct cli_option *o = command->options; o->name && n < MOST_OPTIONS; o++) {
        long_options[n++] = (struct option){o->name, o->value ? required_argument : no_argument,
                                            NULL, 256 + (int)o->id};
        if (o->letter) {
            letters[at++] = o->letter;
            if (o->value)
                letters[at++] = ':';
        }
    }
    letters[at] = 0;
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, letters, long_options, NULL)) != -1;) {
        if (code == 1) {
            words[args->nwords++] = optarg;
            continue;
        }
        if (code == '?' || code == ':')
            return bad_option(args, code, argv);
        for (const struct cli_option *o = command->options; o->name; o++)
            if (code == o->letter || code == 256 + (int)o->id) {
                args->option[o->id] = o->value ? optarg : "";
                if (o->id == CLI_SETTINGS)
                    args->files[args->nfiles++] = optarg;
            }
    }
    while (optind < argc) /* behind "--" */
        words[args->nwords++] = argv[optind++];
    return CLI_DONE;
}

int cli_text_or_json(const struct cli_args *args, bool *json)
{
    const char *name = args->option[CLI_FORMAT] ? args->option[CLI_FORMAT] : "text";
    *json = !strcmp(name, "json");
    return *json || !strcmp(name, "text") ? CLI_DONE
                                          : cli_fail(CLI_USAGE, "--format %s: text or json", name);
}

void cli_help(struct page *page, const struct cli_command *c)
{
    char left[64];
    size_t width = 0;
    for (const struct cli_option *o = c->options; o->name; o++) {
        size_t n = strlen(o->name) + (o->value ? strlen(o->value) + 1 : 0);
        width = n > width ? n : width;
    }
    page_printf(page, "usage: vramcast %s [options] %s\n\n", c->name, c->synopsis);
    page_paragraph(page, 0, c->help);
    page_printf(page, "\noptions\n");
    for (const struct cli_option *o = c->options; o->name; o++) {
        const char letter[] = {o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                               o->letter ? ',' : ' ', 0};
        snprintf(left, sizeof left, "%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        page_printf(page, "  %s --", letter);
        page_cell(page, left, width + 2, PAGE_LEFT);
        page_paragraph(page, 10 + width, o->help);
    }
    if (c->more)
        page_printf(page, "\n%s", c->more);
}
