/* SPDX-License-Identifier: Apache-2.0
 *
 * A model as text of 80 columns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/inspect.h"
#include "output/output.h"

enum { MOST_FILES = 4096 };

static void heading(struct page *page, const char *text)
{
    page_put(page, "\n");
    page_style(page, PAGE_STRONG);
    page_printf(page, "%s\n", text);
    page_style(page, PAGE_PLAIN);
}

static void summary(struct page *page, const vram_model *model)
{
    vram_model_view m = {.size = sizeof m};
    char count[UNITS_TEXT], bytes[UNITS_TEXT];
    vram_model_get(model, &m);
    sheet_label(page, "model");
    if (page_width(m.path) > PAGE_COLUMNS - OUTPUT_LABEL)
        page_cell(page, m.path, PAGE_COLUMNS - OUTPUT_LABEL, PAGE_LEFT);
    else
        page_put(page, m.path);
    page_put(page, "\n");
    sheet_label(page, "is");
    page_printf(page, "%s%s%s\n", *m.family ? m.family : "of an unknown family",
                *m.class_name ? sheet_dot(page) : "", m.class_name);
    sheet_label(page, "parameters");
    if (!m.parameters && !m.activations_known)
        page_put(page, "unknown: no template, and no weights to count\n");
    else
        page_printf(page, "%s = %" PRIu64 "%s%s %s\n", count_text(m.parameters, count), m.parameters,
                    sheet_dot(page), bytes_text(m.parameter_bytes, bytes),
                    m.weight_files ? "as stored" : "as the config says");
    if (m.named_only) {
        sheet_label(page, NULL);
        page_printf(page, "%s of them in a checkpoint that this one only names\n",
                    count_text(m.named_only, count));
    }
    if (!m.activations_known) {
        sheet_label(page, "activations");
        page_put(page, "unknown: no template says what this model runs\n");
    }
}

static void components(struct page *page, const vram_model *model)
{
    char count[UNITS_TEXT], bytes[UNITS_TEXT], dtypes[DTYPES_TEXT];
    heading(page, "component            parameters        bytes  modules  dtype");
    for (size_t i = 0; i < vram_model_component_count(model); i++) {
        vram_component_view c = {.size = sizeof c};
        vram_model_component(model, i, &c);
        inspect_dtypes(model, c.name, dtypes);
        page_cell(page, c.name, OUTPUT_LABEL, PAGE_LEFT);
        page_cell(page, count_text(c.parameters, count), 12, PAGE_RIGHT);
        page_cell(page, bytes_text(c.parameter_bytes, bytes), 13, PAGE_RIGHT);
        page_printf(page, "%9u", (unsigned)c.modules);
        page_printf(page, "%s%s\n", *dtypes ? "  " : "", dtypes);
    }
}

static void files(struct page *page, const vram_model *model)
{
    struct inspect_file *at = calloc(MOST_FILES, sizeof *at);
    char bytes[UNITS_TEXT];
    if (!at) {
        page->error = 12; /* ENOMEM */
        return;
    }
    size_t n = inspect_files(model, at, MOST_FILES);
    if (n)
        heading(page, "file                                       tensors        bytes");
    for (size_t i = 0; i < n; i++) {
        page_cell(page, at[i].name, 40, PAGE_LEFT);
        page_printf(page, "%10" PRIu64, at[i].tensors);
        page_cell(page, bytes_text(at[i].bytes, bytes), 13, PAGE_RIGHT);
        page_put(page, "\n");
    }
    free(at);
}

/* Depth in two columns each; deep trees stop indenting. */
static size_t indent_of(const vram_module_view *m) { return m->depth < 12 ? 2 * m->depth : 24; }

static void tree(struct page *page, const vram_model *model)
{
    enum { NAME = 42, COUNT = 9 };
    char name[NAME_TEXT], count[UNITS_TEXT], class[160];
    uint32_t hidden = UINT32_MAX; /* depth below which everything repeats what was shown */
    heading(page, "module                                    class"
                  "                      parameters");
    for (size_t i = 0; i < vram_model_module_count(model); i++) {
        vram_module_view m;
        bool shown = inspect_module(model, i, &m, name);
        if (m.depth > hidden)
            continue;
        hidden = shown ? UINT32_MAX : m.depth;
        if (!shown)
            continue;
        size_t indent = indent_of(&m);
        page_spaces(page, indent);
        page_cell(page, name, NAME - 2 - indent, PAGE_START);
        page_spaces(page, 2);
        if (m.repeat > 1)
            snprintf(class, sizeof class, "%.100s %s %u", m.class_name, page->ascii ? "x" : "×",
                     (unsigned)m.repeat);
        else
            snprintf(class, sizeof class, "%.100s", m.class_name);
        page_cell(page, class, PAGE_COLUMNS - NAME - COUNT, PAGE_START);
        const char *figure = m.parameters ? count_text(m.parameters * m.repeat, count)
                                          : page->ascii ? "-" : "–";
        page_cell(page, figure, COUNT, PAGE_RIGHT);
        page_put(page, "\n");
    }
}

static void tensors(struct page *page, const vram_model *model)
{
    char dims[DIMS_TEXT], shape[DIMS_TEXT + 64], bytes[UNITS_TEXT];
    heading(page, "parameter                                            dtype and shape"
                  "       bytes");
    for (size_t i = 0; i < vram_model_param_count(model); i++) {
        vram_param_view p = {.size = sizeof p};
        vram_model_param(model, i, &p);
        inspect_dims(&p, dims);
        snprintf(shape, sizeof shape, "%.20s%s%s", p.dtype, dims, p.buffer ? " buffer" : "");
        page_cell(page, p.path, 44, PAGE_LEFT);
        page_spaces(page, 2);
        page_cell(page, shape, 24, PAGE_RIGHT);
        page_cell(page, *p.tied_to ? "tied" : bytes_text(p.bytes, bytes), 10, PAGE_RIGHT);
        page_put(page, "\n");
    }
}

static void config(struct page *page, const vram_model *model)
{
    char origin[64];
    heading(page, "config value                                                   who says it");
    for (size_t i = 0; i < vram_model_config_count(model); i++) {
        vram_config_view c = {.size = sizeof c};
        char line[1024];
        vram_model_config(model, i, &c);
        if (c.offset == VRAM_NO_OFFSET)
            snprintf(origin, sizeof origin, "%s", c.origin);
        else
            snprintf(origin, sizeof origin, "%s, offset %" PRIu64, c.origin, c.offset);
        snprintf(line, sizeof line, "%s = %s", c.key, c.value);
        page_cell(page, line, 56, PAGE_START);
        page_spaces(page, 2);
        page_cell(page, origin, 22, PAGE_RIGHT);
        page_put(page, "\n");
    }
}

void inspect_text(struct page *page, const struct inspection *what)
{
    summary(page, what->model);
    components(page, what->model);
    files(page, what->model);
    tree(page, what->model);
    if (what->tensors)
        tensors(page, what->model);
    if (what->config)
        config(page, what->model);
    if (vram_model_finding_count(what->model))
        page_put(page, "\n");
    sheet_findings(page, what->model, NULL);
}
