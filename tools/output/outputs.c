/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of outputs.
 */
#include <string.h>

#include "cli.h"
#include "output/output.h"

static int json(struct page *page, const struct prediction *p)
{
    vram_report_view v = {.size = sizeof v};
    vram_error e;
    vram_report_get(p->report, &v);
    if (vram_report_json(p->report, page_write, page, &e) && !page->error)
        return cli_fail_library(CLI_SYSTEM, NULL, &e);
    return v.peak_known ? CLI_DONE : CLI_UNKNOWN;
}

const struct output_row outputs[] = {
    {"text", "for people, 80 columns", false, output_text},
    {"json", "for programs, schema vramcast.report/1", false, json},
    {"svg", "a picture of the timeline", true, output_svg},
    {NULL, NULL, false, NULL},
};

const struct output_row *output_find(const char *name)
{
    for (const struct output_row *row = outputs; row->name; row++)
        if (!strcmp(row->name, name))
            return row;
    return NULL;
}

const char *output_title(const char *path)
{
    const char *end = path + strlen(path), *p;
    while (end > path && end[-1] == '/')
        end--;
    for (p = end; p > path && p[-1] != '/'; p--) {
    }
    return *p ? p : path;
}
