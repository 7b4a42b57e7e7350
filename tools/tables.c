/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's tables and, behind them, three of the command: its commands, their options, and the words
 * that an option takes.
 */
#include "tables.h"

#include "cli.h"
#include "output/check.h"
#include "output/output.h"
#include "scan.h"
#include "search.h"

/* ---- words that options take: rows of other tables where there are any ----------------------- */

static const char *word_at(const char *const *words, size_t n, size_t i)
{
    return i < n ? words[i] : NULL;
}
#define WORDS(name, ...)                                                                           \
    static const char *name(size_t i)                                                              \
    {                                                                                              \
        static const char *const words[] = {__VA_ARGS__};                                          \
        return word_at(words, sizeof words / sizeof *words, i);                                    \
    }
WORDS(text_or_json, "text", "json")
WORDS(requirements, "likely", "certain")
WORDS(minima, "gpus")
WORDS(passes, "config", "tree", "program", "plan", "events", "replay")

static const char *predict_form(size_t i)
{
    return outputs[i].name;
}

static const char *check_form(size_t i)
{
    return check_outputs[i].name;
}

static const char *scan_form(size_t i)
{
    return scan_outputs[i].name;
}

/* The first row that matches counts; command NULL: any that has the option. */
static const struct choices {
    const struct cli_command *command;
    enum cli_option_id option;
    const char *(*word)(size_t i); /* NULL at the end */
} choices[] = {{&cli_predict, CLI_FORMAT, predict_form}, {&cli_check, CLI_FORMAT, check_form},
               {&cli_scan, CLI_FORMAT, scan_form},       {NULL, CLI_FORMAT, text_or_json},
               {NULL, CLI_REQUIRE, requirements},        {NULL, CLI_MAX, limit_key},
               {NULL, CLI_MIN, minima},                  {NULL, CLI_DUMP, passes}};

static const struct choices *choices_of(const struct cli_command *command, enum cli_option_id option)
{
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (choices[i].option == option && (!choices[i].command || choices[i].command == command))
            return &choices[i];
    return NULL;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static const char *command_cell(size_t row, size_t column)
{
    for (size_t i = 0; i < row; i++)
        if (!cli_commands[i])
            return NULL;
    const struct cli_command *c = cli_commands[row];
    const char *cells[] = {c ? c->name : NULL, c ? c->help : NULL, c ? c->synopsis : NULL,
                           c && c->more ? c->more : ""};
    return c ? word_at(cells, sizeof cells / sizeof *cells, column) : NULL;
}

static const char *flag_cell(size_t row, size_t column)
{
    for (size_t i = 0; cli_commands[i]; i++)
        for (const struct cli_option *o = cli_commands[i]->options; o->name; o++)
            if (!row--) {
                static const char letters[26][2] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                                    "j", "k", "l", "m", "n", "o", "p", "q", "r",
                                                    "s", "t", "u", "v", "w", "x", "y", "z"};
                const char *cells[] = {cli_commands[i]->name, o->name,
                                       o->letter >= 'a' && o->letter <= 'z' ? letters[o->letter - 'a'] : "",
                                       o->value ? o->value : "", o->help};
                return word_at(cells, sizeof cells / sizeof *cells, column);
            }
    return NULL;
}

static const char *choice_cell(size_t row, size_t column)
{
    for (size_t i = 0; cli_commands[i]; i++)
        for (const struct cli_option *o = cli_commands[i]->options; o->name; o++) {
            const struct choices *words = choices_of(cli_commands[i], o->id);
            for (size_t k = 0; words && words->word(k); k++)
                if (!row--) {
                    const char *cells[] = {cli_commands[i]->name, o->name, words->word(k)};
                    return word_at(cells, sizeof cells / sizeof *cells, column);
                }
        }
    return NULL;
}

WORDS(command_column, "name", "help", "words", "more")
WORDS(flag_column, "command", "option", "letter", "value", "help")
WORDS(choice_column, "command", "option", "word")

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct table {
    const char *name, *help;
    const char *(*column)(size_t column);
    const char *(*cell)(size_t row, size_t column);
} own[] = {
    {"commands", "commands of vramcast", command_column, command_cell},
    {"flags", "options of the commands", flag_column, flag_cell},
    {"choices", "words that those options take", choice_column, choice_cell},
};

static const struct table *own_table(size_t table)
{
    size_t before = vram_table_count();
    return table >= before && table < table_count() ? &own[table - before] : NULL;
}

size_t table_count(void)
{
    return vram_table_count() + sizeof own / sizeof *own;
}

const char *table_name(size_t table)
{
    return own_table(table) ? own_table(table)->name : vram_table_name(table);
}

const char *table_help(size_t table)
{
    return own_table(table) ? own_table(table)->help : vram_table_help(table);
}

const char *table_column(size_t table, size_t column)
{
    return own_table(table) ? own_table(table)->column(column) : vram_table_column(table, column);
}

const char *table_cell(size_t table, size_t row, size_t column)
{
    return own_table(table) ? own_table(table)->cell(row, column)
                            : vram_table_cell(table, row, column);
}
