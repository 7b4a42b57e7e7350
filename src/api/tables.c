/* SPDX-License-Identifier: Apache-2.0
 *
 * What the library knows, as tables of text: one row per table, its columns and its cell function
 * directly above.  The first column names the row; columns come in the order of their use, because
 * narrow output shows only the first ones.
 *
 * Cells are static text.  Numbers and what is read out of the built-in templates become text once
 * per process, on first use, behind pthread_once: to a caller they have always been there.
 */
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc/alloc.h"
#include "base/cx.h"
#include "ir/dtype.h"
#include "loaders.h"
#include "machine/machine.h"
#include "models/embedded.h"
#include "onnx/infer.h"
#include "plan/settings.h"
#include "settings/tables.h"
#include "tables/tables.h"
#include "train/train.h"

/* ---- text made once ------------------------------------------------------------------------ */

enum { MOST_GPUS = 512, MOST_CONSTANTS = 256, MOST_FAMILIES = 512, MOST_OPTIMIZERS = 128, MOST_VERSIONS = 64 };
enum { GPU_GIB, GPU_SM, GPU_CONTEXT, GPU_BYTES, GPU_SMS, GPU_TEXTS };

static struct {
    char pool[1 << 17]; /* untouched pages of it cost nothing */
    size_t used;
    const char *gpus[MOST_GPUS][GPU_TEXTS];
    const char *constants[MOST_CONSTANTS][3];
    const char *bits[VRAM_DT_COUNT];
    const char *optimizers[MOST_OPTIMIZERS][2];
    const char *versions[MOST_VERSIONS];
    struct { const char *type, *base, *causal, *file; } families[MOST_FAMILIES];
    size_t nfamilies;
} made;

__attribute__((format(printf, 1, 2))) static const char *text(const char *format, ...)
{
    va_list args;
    size_t room = sizeof made.pool - made.used;
    char *at = made.pool + made.used;
    va_start(args, format);
    int n = vsnprintf(at, room, format, args);
    va_end(args);
    bool fits = n >= 0 && (size_t)n < room;
    assert(fits); /* else the pool is too small */
    if (!fits)
        return "";
    made.used += (size_t)n + 1;
    return at;
}

static const char *number(uint64_t n) { return text("%" PRIu64, n); }

static void make_gpus(void)
{
    for (unsigned i = 0; i < vram_gpus_count && i < MOST_GPUS; i++) {
        const struct vram_gpu_row *g = &vram_gpus[i];
        const char **row = made.gpus[i];
        uint64_t hundredths = g->usable_bytes / ((UINT64_C(1) << 30) / 100);
        row[GPU_GIB] = text("%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
        row[GPU_SM] = g->sm ? text("%d.%d", g->sm / 10, g->sm % 10) : "";
        row[GPU_CONTEXT] = text("%d..%d..%d", g->context_low, g->context_expected, g->context_high);
        row[GPU_BYTES] = number(g->usable_bytes);
        row[GPU_SMS] = g->sms ? text("%d", g->sms) : "";
    }
}

static void make_constants(void)
{
    for (unsigned i = 0; i < vram_constants_count && i < MOST_CONSTANTS; i++) {
        made.constants[i][0] = number(vram_constants[i].low);
        made.constants[i][1] = number(vram_constants[i].expected);
        made.constants[i][2] = number(vram_constants[i].high);
    }
}

/* `family TYPE: BASE, CAUSAL` on a line of a built-in template */
static void make_family(const char *line, const char *file)
{
    size_t n = strcspn(line, "\n"), colon = strcspn(line, ":");
    if (colon >= n || made.nfamilies == MOST_FAMILIES)
        return;
    const char *base = line + colon + 1 + strspn(line + colon + 1, " ");
    size_t nbase = strcspn(base, ", \n");
    const char *causal = base + nbase + strspn(base + nbase, ", ");
    size_t ncausal = strcspn(causal, " \n");
    size_t at = made.nfamilies++;
    made.families[at].type = text("%.*s", (int)colon, line);
    made.families[at].base = text("%.*s", (int)nbase, base);
    made.families[at].causal = text("%.*s", (int)ncausal, causal);
    made.families[at].file = file;
}

static void make_families(void)
{
    static const char word[] = "family ";
    for (unsigned i = 0; i < vram_embedded_files_count; i++)
        for (const char *line = vram_embedded_files[i].text; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (!strncmp(line, word, sizeof word - 1))
                make_family(line + sizeof word - 1, vram_embedded_files[i].name);
        }
}

static void make_optimizers(void)
{
    const struct vram_optimizer_row *row;
    char line[2048];
    for (unsigned i = 0; (row = vram_optimizer_at(i)) && i < MOST_OPTIMIZERS; i++)
        for (int k = 0; k < 2; k++) {
            vram_optimizer_describe(row, k == 0, line, sizeof line);
            made.optimizers[i][k] = text("%s", line);
        }
}

static void make(void)
{
    make_optimizers();
    make_gpus();
    make_constants();
    make_families();
    for (int i = 0; i < VRAM_DT_COUNT; i++)
        made.bits[i] = text("%d", vram_dtypes[i].bits);
    for (int i = 0; i < MOST_VERSIONS; i++)
        made.versions[i] = text("%d", i);
}

static void make_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make);
}

/* ---- tables: a cell, NULL past the end ------------------------------------------------------ */

#define CELL(...) ((const char *const[]){__VA_ARGS__})[column]

static const char *const setting_columns[] = {"key", "default", "help", "type", "values", "source",
                                              NULL};
static const char *setting_cell(size_t row, size_t column)
{
    if (row >= VRAM_KEY_COUNT)
        return NULL;
    const struct vram_setting_row *s = &vram_settings[row];
    return CELL(s->key, s->fallback, s->help, vram_setting_type_name(s->type), s->values,
                s->source);
}

static const char *const key_columns[] = {"key",  "value", "sets", "tool", "kind",
                                          "when", "note",  "source", NULL};
static const char *key_cell(size_t row, size_t column)
{
    static const char *const kinds[] = {"sets", "default", "called", "inside", "opens",
                                        "splits", "follows"};
    for (int tool = 0; tool < VRAM_TOOLS; row -= vram_tools[tool++].n) {
        if (row >= vram_tools[tool].n)
            continue;
        const struct vram_settings_row *r = &vram_tools[tool].rows[row];
        const char *other = r->tool == VRAM_TOOL_NONE ? "" : vram_tools[r->tool].name;
        return CELL(r->key, r->value, *other ? other : r->sets, vram_tools[tool].name, kinds[r->kind],
                    r->when, r->note, r->source);
    }
    return NULL;
}

static const char *const tool_columns[] = {"name", "files", "marks", "keys as well", NULL};
static const char *tool_cell(size_t row, size_t column)
{
    if (row >= VRAM_TOOLS)
        return NULL;
    const struct vram_tool_row *t = &vram_tools[row];
    return CELL(t->name, t->shown, t->marks,
                t->parent == VRAM_TOOL_NONE ? "" : vram_tools[t->parent].name);
}

static const char *const gpu_columns[] = {"name",        "GiB",   "sm",  "card",    "architecture",
                                          "context_mib", "bytes", "sms", "aliases", "source", NULL};
static const char *gpu_cell(size_t row, size_t column)
{
    if (row >= vram_gpus_count || row >= MOST_GPUS)
        return NULL;
    const struct vram_gpu_row *g = &vram_gpus[row];
    const char *const *m = made.gpus[row];
    return CELL(g->short_name, m[GPU_GIB], m[GPU_SM], g->name, g->architecture, m[GPU_CONTEXT],
                m[GPU_BYTES], m[GPU_SMS], g->aliases, g->source);
}

static const char *const constant_columns[] = {"name", "unit", "expected", "when",
                                               "low",  "high", "source",   NULL};
static const char *constant_cell(size_t row, size_t column)
{
    if (row >= vram_constants_count || row >= MOST_CONSTANTS)
        return NULL;
    const struct vram_constant_row *c = &vram_constants[row];
    const char *const *m = made.constants[row];
    return CELL(c->name, c->unit, m[1], c->when, m[0], m[2], c->source);
}

static const char *const op_columns[] = {"name",     "operands", "allocates", "saves",
                                         "autocast", "source",   NULL};
static const char *op_cell(size_t row, size_t column)
{
    if (row >= vram_op_count())
        return NULL;
    const struct vram_op_row *o = vram_op_row_at((uint32_t)row);
    return CELL(o->name, o->params, o->allocates, o->saves, o->autocast, o->source);
}

static const char *const onnx_columns[] = {"name", "domain", "since", "note", NULL};
static const char *onnx_cell(size_t row, size_t column)
{
    struct vram_onnx_op_row o;
    if (!vram_onnx_op_listed(row, &o))
        return NULL;
    return CELL(o.name, *o.domain ? o.domain : "ai.onnx", made.versions[o.since < MOST_VERSIONS ? o.since : 0],
                o.note ? o.note : "");
}

static const char *const optimizer_columns[] = {"name",    "states", "temporaries",
                                                "aliases", "note",   "source", NULL};
static const char *optimizer_cell(size_t row, size_t column)
{
    const struct vram_optimizer_row *o = vram_optimizer_at((uint32_t)row);
    if (!o || row >= MOST_OPTIMIZERS)
        return NULL;
    const char *const *m = made.optimizers[row];
    return CELL(o->name, m[0], m[1], o->aliases, o->note ? o->note : "", o->source);
}

static const char *const help_columns[] = {"name", "help", "source", NULL};
static const char *strategy_cell(size_t row, size_t column)
{
    if (row >= vram_strategies_count)
        return NULL;
    const struct vram_strategy_row *s = &vram_strategies[row];
    return CELL(s->name, s->help, s->source);
}

static const char *allocator_cell(size_t row, size_t column)
{
    const struct vram_allocator_row *a = NULL;
    for (size_t i = 0; i <= row; i++)
        if (!(a = vram_allocators[i]))
            return NULL;
    return CELL(a->name, a->help, a->source);
}

static const char *const dtype_columns[] = {"name", "bits", "torch", "safetensors",
                                            "onnx", "kind", NULL};
static const char *dtype_cell(size_t row, size_t column)
{
    static const char *const kinds[] = {"", "bool", "integer", "float", "complex", "string"};
    if (row + 1 >= VRAM_DT_COUNT)
        return NULL;
    const struct vram_dtype_row *d = &vram_dtypes[row + 1];
    return CELL(d->name, made.bits[row + 1], d->torch, d->safetensors, d->onnx, kinds[d->kind]);
}

static const char *const family_columns[] = {"model_type", "class", "head", "file", NULL};
static const char *family_cell(size_t row, size_t column)
{
    if (row >= made.nfamilies)
        return NULL;
    return CELL(made.families[row].type, made.families[row].base, made.families[row].causal,
                made.families[row].file);
}

static const char *const finding_columns[] = {"id", "severity", "meaning", "name", NULL};
static const char *finding_cell(size_t row, size_t column)
{
    static const char *const severities[] = {"note", "assume", "warn"};
    if (row >= VRAM_F_COUNT)
        return NULL;
    const struct vram_finding_row *f = &vram_finding_rows[row];
    return CELL(f->id, severities[f->severity], f->meaning, f->name);
}

static const char *const format_columns[] = {"name", "help", NULL};
static const char *format_cell(size_t row, size_t column)
{
    if (!vram_loader_format(row))
        return NULL;
    return CELL(vram_loader_format(row), vram_loader_help(row));
}

static const struct table {
    const char *name, *help;
    const char *const *columns;
    const char *(*cell)(size_t row, size_t column);
} tables[] = {
    {"settings", "keys of a plan: key=value", setting_columns, setting_cell},
    {"tools", "whose settings files --settings reads", tool_columns, tool_cell},
    {"keys", "keys of those files, and what they become", key_columns, key_cell},
    {"gpus", "cards for gpu=, with what torch may use of them", gpu_columns, gpu_cell},
    {"families", "model types whose modules are described", family_columns, family_cell},
    {"formats", "files and folders that are opened", format_columns, format_cell},
    {"optimizers", "optimizers that are run, of those that optimizer= names", optimizer_columns,
     optimizer_cell},
    {"strategies", "what strategy= adds", help_columns, strategy_cell},
    {"allocators", "models of memory allocators for allocator=", help_columns, allocator_cell},
    {"ops", "kernels of the machine: what they allocate and keep", op_columns, op_cell},
    {"onnx-ops", "operators of ONNX graphs whose shapes are known", onnx_columns, onnx_cell},
    {"dtypes", "element types and their names elsewhere", dtype_columns, dtype_cell},
    {"constants", "memory outside the tensors, with its source", constant_columns, constant_cell},
    {"findings", "everything that an answer may remark", finding_columns, finding_cell},
};
enum { TABLES = sizeof tables / sizeof *tables };

size_t vram_table_count(void) { return TABLES; }

const char *vram_table_name(size_t table) { return table < TABLES ? tables[table].name : NULL; }

const char *vram_table_help(size_t table) { return table < TABLES ? tables[table].help : NULL; }

const char *vram_table_column(size_t table, size_t column)
{
    if (table >= TABLES)
        return NULL;
    for (size_t i = 0; i < column; i++)
        if (!tables[table].columns[i])
            return NULL;
    return tables[table].columns[column];
}

const char *vram_table_cell(size_t table, size_t row, size_t column)
{
    if (!vram_table_column(table, column))
        return NULL;
    make_once();
    return tables[table].cell(row, column);
}
