/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures out of predictions, reports and measurements; see facts.h.
 */
#include "facts.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

enum { MOST = 64 << 20 }; /* bytes of a file that is read */

void facts_add(struct facts *f, enum fact_kind kind, const char *name, uint64_t value)
{
    if (f->n == FACTS) {
        f->more = true;
        return;
    }
    struct fact *x = &f->at[f->n++];
    x->kind = kind;
    x->value = value;
    snprintf(x->name, sizeof x->name, "%s", name);
}

bool facts_find(const struct facts *f, enum fact_kind kind, const char *name, uint64_t *out)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->at[i].kind == kind && !strcmp(f->at[i].name, name)) {
            *out = f->at[i].value;
            return true;
        }
    return false;
}

/* ---- a prediction ---- */

static const char *const parts[] = {"parameters", "gradients", "optimizer", "activations"};

void facts_of_report(struct facts *f, const vram_report *report)
{
    char name[96];
    vram_report_view v = {.size = sizeof v};
    vram_report_get(report, &v);
    snprintf(f->source, sizeof f->source, "prediction");
    facts_add(f, FACT_MODEL, "parameters", v.parameters_total);
    facts_add(f, FACT_MODEL, "trainable", v.parameters_trainable);
    if (!v.peak_known)
        return;
    facts_add(f, FACT_METER, "allocated", v.allocated.expected);
    facts_add(f, FACT_METER, "reserved", v.reserved.expected);
    facts_add(f, FACT_METER, "device", v.device.expected);
    const struct { const char *name; uint64_t bytes; } factors[] = {
        {"parameters", v.parameters},   {"gradients", v.gradients}, {"optimizer", v.optimizer},
        {"activations", v.activations}, {"temporaries", v.temporaries}, {"inputs", v.inputs},
        {"buffers", v.buffers},         {"workspace", v.workspace}, {"rounding", v.rounding}};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        facts_add(f, FACT_FACTOR, factors[i].name, factors[i].bytes);
    for (size_t i = 0; i < vram_report_component_count(report); i++) {
        vram_report_component_view c = {.size = sizeof c};
        vram_report_component(report, i, &c);
        const uint64_t bytes[] = {c.parameters, c.gradients, c.optimizer, c.activations};
        for (size_t k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "%.60s %s", c.name, parts[k]);
            facts_add(f, FACT_COMPONENT, name, bytes[k]);
        }
    }
    for (size_t i = 0; i < vram_report_phase_count(report); i++) {
        vram_phase_view p = {.size = sizeof p};
        vram_report_phase(report, i, &p);
        facts_add(f, FACT_PHASE, p.name, p.peak);
    }
}

/* ---- JSON ---- */

static void take(struct facts *f, enum fact_kind kind, const char *name, const json_t *value)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        facts_add(f, kind, name, (uint64_t)json_integer_value(value));
}

static void of_json_report(struct facts *f, const json_t *root)
{
    static const char *const meters[] = {"allocated", "reserved", "device"};
    static const char *const factors[] = {"parameters", "gradients", "optimizer", "activations", "temporaries",
                                          "inputs", "buffers", "workspace", "rounding"};
    const json_t *counts = json_object_get(json_object_get(root, "model"), "parameters"), *row;
    size_t i;
    char name[96];
    snprintf(f->source, sizeof f->source, "report");
    take(f, FACT_MODEL, "parameters", json_object_get(counts, "total"));
    take(f, FACT_MODEL, "trainable", json_object_get(counts, "trainable"));
    for (i = 0; i < 3; i++)
        take(f, FACT_METER, meters[i],
             json_object_get(json_object_get(json_object_get(root, "peak"), meters[i]), "expected"));
    for (i = 0; i < 9; i++)
        take(f, FACT_FACTOR, factors[i], json_object_get(json_object_get(root, "factors"), factors[i]));
    json_array_foreach(json_object_get(root, "components"), i, row) {
        const char *component = json_string_value(json_object_get(row, "name"));
        for (size_t k = 0; component && k < 4; k++) {
            const json_t *value = json_object_get(row, parts[k]);
            snprintf(name, sizeof name, "%.60s %s", component, parts[k]);
            take(f, FACT_COMPONENT, name, k ? value : json_object_get(value, "bytes"));
        }
    }
    json_array_foreach(json_object_get(root, "phases"), i, row) {
        const char *phase = json_string_value(json_object_get(row, "name"));
        if (phase)
            take(f, FACT_PHASE, phase, json_object_get(row, "peak"));
    }
}

/* torch.cuda.memory_stats(), flat ("allocated_bytes.all.peak") or nested. */
static bool of_memory_stats(struct facts *f, const json_t *root)
{
    static const char *const names[][2] = {{"allocated_bytes", "allocated"}, {"reserved_bytes", "reserved"}};
    for (size_t i = 0; i < 2; i++) {
        char flat[64];
        snprintf(flat, sizeof flat, "%s.all.peak", names[i][0]);
        const json_t *value = json_object_get(root, flat);
        if (!value)
            value = json_object_get(json_object_get(json_object_get(root, names[i][0]), "all"), "peak");
        take(f, FACT_METER, names[i][1], value);
    }
    snprintf(f->source, sizeof f->source, "memory_stats");
    return f->n > 0;
}

static int of_json(struct facts *f, const char *path, const char *text, size_t n, bool *is)
{
    json_error_t e;
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);
    if (!root)
        return cli_fail(CLI_INPUT, "%s: %s (offset %d)", path, e.text, e.position);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    int code = CLI_DONE;
    *is = true;
    if (schema && !strcmp(schema, "vramcast.report/1"))
        of_json_report(f, root);
    else if (schema)
        code = cli_fail(CLI_INPUT, "%s: this is '%s'; compare reads vramcast.report/1", path, schema);
    else
        *is = of_memory_stats(f, root);
    json_decref(root);
    return code;
}

/* ---- nvidia-smi --query-gpu=…,memory.used --format=csv[,nounits][,noheader] -l 1 ---- */

static uint64_t unit_of(const char *text)
{
    return strstr(text, "GiB") ? UINT64_C(1) << 30 : strstr(text, "KiB") ? 1024 : UINT64_C(1) << 20;
}

/* The highest value of the column memory.used; without a header the first cell with a unit. */
static bool of_nvidia_smi(struct facts *f, char *text)
{
    uint64_t most = 0, unit = UINT64_C(1) << 20;
    int column = -1;
    bool any = false;
    for (char *line = text, *end; line && *line; line = end) {
        int at = 0;
        if ((end = strchr(line, '\n')))
            *end++ = 0;
        for (char *cell = line, *next; cell; cell = next, at++) {
            if ((next = strchr(cell, ',')))
                *next++ = 0;
            while (isspace((unsigned char)*cell))
                cell++;
            if (!strncmp(cell, "memory.used", 11)) {
                column = at;
                unit = unit_of(cell);
            } else if (isdigit((unsigned char)*cell) &&
                       (column == at || (column < 0 && strstr(cell, "iB")))) {
                uint64_t value = strtoull(cell, NULL, 10);
                uint64_t of = strstr(cell, "iB") ? unit_of(cell) : unit;
                any = true;
                if (value < UINT64_MAX / of && value * of > most)
                    most = value * of;
            }
        }
    }
    if (any)
        facts_add(f, FACT_METER, "device", most);
    snprintf(f->source, sizeof f->source, "nvidia-smi");
    return any;
}

/* ---- files ---- */

static char *read_file(const char *path, size_t *n, int *code)
{
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(MOST + 1) : NULL;
    *code = CLI_DONE;
    if (!file)
        *code = cli_fail(CLI_INPUT, "%s: %s", path, strerror(errno));
    else if (!text)
        *code = cli_fail(CLI_SYSTEM, "out of memory");
    else if ((*n = fread(text, 1, MOST + 1, file)) > MOST)
        *code = cli_fail(CLI_INPUT, "%s: more than %d bytes", path, MOST);
    else
        text[*n] = 0;
    if (file)
        fclose(file);
    if (*code) {
        free(text);
        return NULL;
    }
    return text;
}

int facts_of_file(struct facts *f, const char *path, bool *is)
{
    struct stat st;
    size_t n;
    int code;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    *is = false;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || !dot || !strcmp(name, "config.json") ||
        (strcmp(dot, ".json") != 0 && strcmp(dot, ".csv") != 0) || strstr(name, ".safetensors.index."))
        return CLI_DONE;
    char *text = read_file(path, &n, &code);
    if (!text)
        return code;
    f->path = path;
    if (!strcmp(dot, ".csv"))
        *is = of_nvidia_smi(f, text);
    else
        code = of_json(f, path, text, n, is);
    free(text);
    return code;
}
