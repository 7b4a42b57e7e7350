/* SPDX-License-Identifier: Apache-2.0
 *
 * A model as JSON, schema "vramcast.inspect/1" (docs/cli.md).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/inspect.h"
#include "output/json.h"

static void model(struct json *j, const vram_model *model)
{
    vram_model_view m = {.size = sizeof m};
    vram_model_get(model, &m);
    json_open(j, "model", '{', false);
    json_text(j, "path", m.path);
    json_text(j, "format", m.format);
    json_text(j, "family", m.family);
    json_text(j, "class", m.class_name);
    json_text(j, "summary", m.summary);
    json_number(j, "parameters", m.parameters);
    json_number(j, "named_only", m.named_only);
    json_number(j, "parameter_bytes", m.parameter_bytes);
    json_number(j, "weight_files", m.weight_files);
    json_number(j, "modules", m.modules);
    json_bool(j, "activations_known", m.activations_known);
    json_close(j);
}

static void components(struct json *j, const vram_model *model)
{
    char dtypes[DTYPES_TEXT];
    json_open(j, "components", '[', false);
    for (size_t i = 0; i < vram_model_component_count(model); i++) {
        vram_component_view c = {.size = sizeof c};
        vram_model_component(model, i, &c);
        inspect_dtypes(model, c.name, dtypes);
        json_open(j, NULL, '{', true);
        json_text(j, "name", c.name);
        json_number(j, "parameters", c.parameters);
        json_number(j, "named_only", c.named_only);
        json_number(j, "bytes", c.parameter_bytes);
        json_number(j, "modules", c.modules);
        json_text(j, "dtypes", dtypes);
        json_close(j);
    }
    json_close(j);
}

static void modules(struct json *j, const vram_model *model)
{
    json_open(j, "modules", '[', false);
    for (size_t i = 0; i < vram_model_module_count(model); i++) {
        vram_module_view m = {.size = sizeof m};
        vram_model_module(model, i, &m);
        json_open(j, NULL, '{', true);
        json_text(j, "path", m.path);
        json_text(j, "class", m.class_name);
        json_text(j, "component", m.component);
        json_number(j, "parent", m.parent);
        json_number(j, "repeat", m.repeat);
        json_number(j, "parameters", m.parameters);
        json_number(j, "bytes", m.parameter_bytes);
        json_close(j);
    }
    json_close(j);
}

static void tensors(struct json *j, const vram_model *model)
{
    json_open(j, "tensors", '[', false);
    for (size_t i = 0; i < vram_model_param_count(model); i++) {
        vram_param_view p = {.size = sizeof p};
        vram_model_param(model, i, &p);
        json_open(j, NULL, '{', true);
        json_text(j, "path", p.path);
        json_text(j, "dtype", p.dtype);
        json_open(j, "shape", '[', true);
        for (uint32_t k = 0; k < p.rank; k++)
            json_integer(j, NULL, p.dims[k]);
        json_close(j);
        json_number(j, "bytes", p.bytes);
        json_bool(j, "buffer", p.buffer);
        json_text(j, "stored", p.stored);
        json_text(j, "file", p.file);
        json_text(j, "tied_to", p.tied_to);
        json_close(j);
    }
    json_close(j);
}

static void config(struct json *j, const vram_model *model)
{
    json_open(j, "config", '[', false);
    for (size_t i = 0; i < vram_model_config_count(model); i++) {
        vram_config_view c = {.size = sizeof c};
        vram_model_config(model, i, &c);
        json_open(j, NULL, '{', true);
        json_text(j, "key", c.key);
        json_text(j, "value", c.value);
        json_text(j, "origin", c.origin);
        if (c.offset == VRAM_NO_OFFSET)
            json_raw(j, "offset", "null");
        else
            json_number(j, "offset", c.offset);
        json_close(j);
    }
    json_close(j);
}

static void findings(struct json *j, const vram_model *model)
{
    static const char *const severities[] = {"note", "assume", "warn"};
    json_open(j, "findings", '[', false);
    for (size_t i = 0; i < vram_model_finding_count(model); i++) {
        vram_finding_view f = {.size = sizeof f};
        vram_model_finding(model, i, &f);
        json_open(j, NULL, '{', true);
        json_text(j, "id", f.id);
        json_text(j, "severity", severities[f.severity]);
        json_text(j, "subject", f.subject);
        json_text(j, "text", f.text);
        json_close(j);
    }
    json_close(j);
}

void inspect_json(struct page *page, const struct inspection *what)
{
    struct json j = {.page = page};
    json_open(&j, NULL, '{', false);
    json_text(&j, "schema", "vramcast.inspect/1");
    model(&j, what->model);
    components(&j, what->model);
    modules(&j, what->model);
    if (what->tensors)
        tensors(&j, what->model);
    if (what->config)
        config(&j, what->model);
    findings(&j, what->model);
    json_close(&j);
}
