/* SPDX-License-Identifier: Apache-2.0
 *
 * The command: rows of sub-commands and what is said about all of them.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output/page.h"

const struct cli_command *const cli_commands[] = {&cli_predict, &cli_check, &cli_fit, &cli_inspect,
                                                  &cli_explain, &cli_shapes, &cli_compare, &cli_scan,
                                                  &cli_list, NULL};

static void usage(struct page *page)
{
    page_printf(page, "vramcast %s: peak GPU memory, predicted from a model's files\n\n",
                vram_version());
    page_put(page, "usage: vramcast COMMAND [options] ...\n\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        page_printf(page, "  %-9s ", cli_commands[i]->name);
        page_paragraph(page, 12, cli_commands[i]->help);
    }
    page_put(page, "\n  --help    this text; vramcast COMMAND --help: its options\n"
                   "  --version\n\n"
                   "exit codes\n"
                   "  0 an answer; it fits   1 it does not fit (check, fit)\n"
                   "  2 wrong usage          3 a file is bad or missing\n"
                   "  4 an answer, but the peak is unknown   5 no memory, or nowhere to write\n");
}

static int show_usage(void)
{
    struct page page;
    page_open(&page, NULL);
    usage(&page);
    return page_close(&page, CLI_DONE);
}

static int show_version(void)
{
    struct page page;
    page_open(&page, NULL);
    page_printf(&page, "vramcast %s\n", vram_version());
    return page_close(&page, CLI_DONE);
}

static int show_help(const struct cli_command *command)
{
    struct page page;
    page_open(&page, NULL);
    cli_help(&page, command);
    return page_close(&page, CLI_DONE);
}

static const char *command_name(size_t i, const void *rows)
{
    (void)rows;
    return cli_commands[i] ? cli_commands[i]->name : NULL;
}

static int unknown(const char *word)
{
    const char *near = cli_nearest(word, command_name, NULL);
    return cli_fail(CLI_USAGE, "there is no command '%s'%s%s%s (vramcast --help)", word,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static const struct cli_command *find(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (!strcmp(cli_commands[i]->name, name))
            return cli_commands[i];
    return NULL;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
    struct cli_args args;
    const char **words = malloc((size_t)argc * 2 * sizeof *words);
    if (!words)
        return cli_fail(CLI_SYSTEM, "out of memory");
    int code = cli_args_read(&args, command, argc, argv, words);
    if (!code)
        code = args.option[CLI_HELP] ? show_help(command) : command->run(&args);
    free(words);
    return code;
}

/* A descriptor that the caller closed must not become a model's file.  What is written to a closed
 * standard output has to fail, so that it gets one that cannot be written. */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) != fd)
            abort();
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    if (argc < 2)
        return cli_fail(CLI_USAGE, "a command is missing (vramcast --help)");
    const char *word = argv[1];
    if (!strcmp(word, "--version") || !strcmp(word, "-V"))
        return show_version();
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || (!strcmp(word, "help") && argc == 2))
        return show_usage();
    if (!strcmp(word, "help"))
        return find(argv[2]) ? show_help(find(argv[2])) : unknown(argv[2]);
    const struct cli_command *command = find(word);
    return command ? run(command, argc - 1, argv + 1) : unknown(word);
}
