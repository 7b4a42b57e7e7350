/* SPDX-License-Identifier: Apache-2.0
 *
 * What the commands share: rows of commands and of options, exit codes, errors, opening what the
 * words on the command line name.  The command knows the library by <vram/vram.h> only.
 */
#ifndef VRAM_TOOLS_CLI_H
#define VRAM_TOOLS_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include <vram/vram.h>

enum cli_exit {
    CLI_DONE = 0,    /* an answer was given */
    CLI_NO = 1,      /* it does not fit, or it differs: only commands that ask that */
    CLI_USAGE = 2,   /* the command line or a setting is wrong */
    CLI_INPUT = 3,   /* a file is bad or missing */
    CLI_UNKNOWN = 4, /* an answer was given, but the peak is unknown */
    CLI_SYSTEM = 5   /* out of memory, or the answer could not be written */
};

/* ---- options ------------------------------------------------------------------------------- */

enum cli_option_id { CLI_HELP, CLI_FORMAT, CLI_OUTPUT, CLI_TEMPLATES, CLI_STRICT, CLI_PLAN,
                     CLI_SETTINGS, CLI_DUMP, CLI_TENSORS, CLI_CONFIG, CLI_CLAIMS, CLI_FILL, CLI_REQUIRE,
                     CLI_MAX, CLI_MIN, CLI_CARDS, CLI_ADVICE, CLI_GLOBAL_BATCH, CLI_JOBS, CLI_SHARD,
                     CLI_STDIN, CLI_RESUME, CLI_OPTIONS };

struct cli_option {
    enum cli_option_id id;
    const char *name;  /* "format" for --format; NULL ends the rows */
    char letter;       /* 'f' for -f; 0 = none */
    const char *value; /* name of its value in help; NULL = it takes none */
    const char *help;
};
/* rows that several commands have */
#define CLI_ROW_HELP {CLI_HELP, "help", 'h', NULL, "show this help"}
#define CLI_ROW_FORMAT {CLI_FORMAT, "format", 'f', "NAME", "text (the default) or json"}
#define CLI_ROW_OUTPUT {CLI_OUTPUT, "output", 'o', "FILE", "write to FILE, all of it or nothing"}
#define CLI_ROW_TEMPLATES                                                                          \
    {CLI_TEMPLATES, "templates", 0, "DIR", "module templates of your own, before the built-in ones"}
#define CLI_ROW_STRICT                                                                             \
    {CLI_STRICT, "strict", 0, NULL, "refuse a model with a warning (exit code 3)"}
#define CLI_ROW_PLAN                                                                               \
    {CLI_PLAN, "plan", 'p', "FILE", "settings from a JSON file; words override them"}
#define CLI_ROW_SETTINGS                                                                           \
    {CLI_SETTINGS, "settings", 's', "FILE",                                                        \
     "another tool's settings (docs/settings.md), as often as you like; words and --plan win"}
#define CLI_ROW_REQUIRE                                                                            \
    {CLI_REQUIRE, "require", 0, "WORD",                                                            \
     "likely (the default): tight passes; certain: it does not"}
#define CLI_ROW_END {CLI_OPTIONS, NULL, 0, NULL, NULL}

struct cli_command;

struct cli_args {
    const struct cli_command *command;
    const char **words; /* what is no option, in order */
    size_t nwords;
    const char *option[CLI_OPTIONS]; /* value, "" of a flag; NULL = not given */
    const char **files; /* of --settings, in order */
    size_t nfiles;
};

struct cli_command {
    const char *name;
    const char *synopsis; /* "PATH [key=value]..." */
    const char *help;     /* one line */
    const char *more;     /* paragraphs of --help */
    const struct cli_option *options;
    int (*run)(const struct cli_args *args); /* an enum cli_exit */
};
extern const struct cli_command cli_predict, cli_check, cli_fit, cli_inspect, cli_explain,
    cli_list, cli_scan, cli_compare, cli_shapes;
extern const struct cli_command *const cli_commands[]; /* NULL ends them */

/* Reads options and words; words holds at least 2 argc pointers.  An enum cli_exit, with the error
 * printed. */
int cli_args_read(struct cli_args *args, const struct cli_command *command, int argc, char **argv,
                  const char **words);
/* --format of commands that write text or JSON; an enum cli_exit, with the error printed. */
int cli_text_or_json(const struct cli_args *args, bool *json);
struct page;
void cli_help(struct page *page, const struct cli_command *command);

/* ---- errors -------------------------------------------------------------------------------- */

/* One line on stderr, with what could drive a terminal shown as \xNN; returns code, an enum
 * cli_exit. */
__attribute__((format(printf, 2, 3))) int cli_fail(int code, const char *format, ...);
/* The library's error about file (NULL: none): "vramcast: FILE: where: text (offset N)". */
int cli_fail_library(int code, const char *file, const vram_error *error);
/* Where the library's codes end: 3 for most, 5 for its own trouble. */
int cli_exit_of(const vram_error *error);
/* The nearest of some names by typing mistakes; NULL when none is near. */
const char *cli_nearest(const char *word, const char *(*name)(size_t i, const void *ctx),
                        const void *ctx);

/* ---- what the words name ------------------------------------------------------------------- */

/* A model and a plan, as `PATH [key=value]...` and the options say. */
struct cli_input {
    const char *path;
    const char *what; /* the second word that is no setting; NULL */
    bool settings;    /* any was given */
    vram_model *model;
    vram_plan *plan;
};

/* The plan alone; words that are no settings are collected, at most `most` of them. */
int cli_plan(struct cli_input *input, const struct cli_args *args, const char **names, size_t most,
             size_t *n);
/* most: words that are no settings.  An enum cli_exit, with the error printed; close either way. */
int cli_open(struct cli_input *input, const struct cli_args *args, size_t most);
void cli_close(struct cli_input *input);
/* The error of a run, printed with its exit code; then the run itself. */
int cli_fail_run(const struct cli_input *input, const vram_error *error);
int cli_run(vram_report **report, const struct cli_input *input);
/* With --strict: the first warning as an error. */
int cli_strict(const struct cli_args *args, const struct cli_input *input,
               const vram_report *report);

#endif
