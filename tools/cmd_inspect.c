/* SPDX-License-Identifier: Apache-2.0
 *
 * vramcast inspect: what a model is.  Its tree with repeated siblings on one line, its components,
 * its files, on request every tensor and every config value with who said it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output/inspect.h"

static int run(const struct cli_args *args)
{
    struct cli_input input;
    struct page page;
    bool json;
    struct inspection what = {.tensors = args->option[CLI_TENSORS] != NULL,
                              .config = args->option[CLI_CONFIG] != NULL};
    int code = cli_text_or_json(args, &json);
    if (code)
        return code;
    code = cli_open(&input, args, 1);
    if (!code)
        code = cli_strict(args, &input, NULL);
    if (!code)
        code = page_open(&page, args->option[CLI_OUTPUT]);
    if (!code) {
        what.model = input.model;
        (json ? inspect_json : inspect_text)(&page, &what);
        code = page_close(&page, CLI_DONE);
    }
    cli_close(&input);
    return code;
}

static const struct cli_option options[] = {
    {CLI_TENSORS, "tensors", 't', NULL, "list every parameter and buffer"},
    {CLI_CONFIG, "config", 'c', NULL, "list the config values that were used, and who said them"},
    CLI_ROW_FORMAT,
    CLI_ROW_OUTPUT,
    CLI_ROW_TEMPLATES,
    CLI_ROW_STRICT,
    CLI_ROW_HELP,
    CLI_ROW_END};

const struct cli_command cli_inspect = {
    "inspect", "PATH [vision_tower=DIR]",
    "what a model is: modules, parameters, dtypes, files, config values",
    "PATH is a checkpoint directory, a .safetensors file or a config.json.\n", options, run};
