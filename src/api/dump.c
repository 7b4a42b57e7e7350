/* SPDX-License-Identifier: Apache-2.0
 *
 * vram_dump: the product of one pass as lines of text, for golden tests and for study.  One row per
 * pass, its function directly above.  Nothing depends on addresses, hashes or time; names from
 * files are escaped, so that a line is a line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handles.h"

struct dump {
    struct vram_text *out;
    const vram_model *model;
    const vram_report *report; /* NULL for passes that need no run */
    vram_error *error;
};

static void put_name(struct vram_text *out, const char *name)
{
    char shown[1024];
    vram_escape(shown, sizeof shown, name, strlen(name));
    vram_text_puts(out, *shown ? shown : "-");
}

static void put_sym(const struct dump *d, vram_sym sym)
{
    put_name(d->out, vram_sym_text(d->report ? &d->report->syms : &d->model->syms, sym));
}

/* ---- config: KEY = VALUE  ORIGIN[@OFFSET] [used] ------------------------------------------- */

/* The shortest digits that are the same number, with a point whatever the locale says. */
static void put_real(struct vram_text *out, double x)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    for (char *c = text; *c; c++)
        if (*c == ',')
            *c = '.';
    vram_text_puts(out, text);
}

static void put_value(const struct dump *d, const struct vram_config *v)
{
    const char *comma = "";
    switch (v->type) {
    case VRAM_CONFIG_BOOL:
        vram_text_puts(d->out, v->integer ? "true" : "false");
        break;
    case VRAM_CONFIG_INT:
        vram_text_printf(d->out, "%" PRId64, v->integer);
        break;
    case VRAM_CONFIG_FLOAT:
        put_real(d->out, v->real);
        break;
    case VRAM_CONFIG_STRING:
        vram_text_json(d->out, vram_sym_text(&d->model->syms, v->text));
        break;
    case VRAM_CONFIG_ARRAY: /* its members stand on lines of their own unless they are plain */
        vram_text_puts(d->out, "[");
        for (const struct vram_config *m = v->first; m; m = m->next, comma = ", ") {
            vram_text_puts(d->out, comma);
            if (m->type == VRAM_CONFIG_ARRAY || m->type == VRAM_CONFIG_OBJECT)
                vram_text_puts(d->out, m->type == VRAM_CONFIG_ARRAY ? "[...]" : "{...}");
            else
                put_value(d, m);
        }
        vram_text_puts(d->out, "]");
        break;
    default:
        vram_text_puts(d->out, v->type == VRAM_CONFIG_OBJECT ? "{...}" : "null");
    }
}

static void config_lines(const struct dump *d, const struct vram_config *object)
{
    struct vram_syms syms = d->model->syms; /* only read */
    struct vram_cx cx = {.syms = &syms};
    char path[512];
    for (const struct vram_config *v = object ? object->first : NULL; v; v = v->next) {
        if (v->type == VRAM_CONFIG_OBJECT) {
            config_lines(d, v);
            continue;
        }
        vram_config_path(&cx, v, path, sizeof path);
        vram_text_printf(d->out, "%s = ", path);
        put_value(d, v);
        vram_text_printf(d->out, "  %s", vram_origin_name(v->origin));
        if (v->offset != VRAM_NO_OFFSET)
            vram_text_printf(d->out, "@%" PRIu64, v->offset);
        vram_text_puts(d->out, v->used ? " used\n" : "\n");
    }
}

static int config(struct dump *d)
{
    config_lines(d, d->model->checkpoint.config);
    return VRAM_OK;
}

/* ---- tree: a line a module, below it a line a parameter ------------------------------------ */

static void param_line(const struct dump *d, const struct vram_param *p, unsigned depth)
{
    const struct vram_tree *t = &d->model->tree;
    vram_text_printf(d->out, "%*s.", (int)(2 * depth), "");
    put_sym(d, p->name);
    vram_text_printf(d->out, " %s%s[", p->buffer ? "buffer " : "", vram_dtypes[p->dtype].name);
    for (unsigned i = 0; i < p->rank; i++)
        vram_text_printf(d->out, "%s%" PRId64, i ? ", " : "", p->dims[i]);
    vram_text_puts(d->out, "]");
    if (p->tied_to != VRAM_NO_INDEX) {
        vram_text_puts(d->out, " = ");
        put_sym(d, t->params[p->tied_to].path);
    }
    if (p->tensor != VRAM_NO_INDEX) {
        const struct vram_tensor *x = &d->model->checkpoint.tensors[p->tensor];
        vram_text_puts(d->out, " < ");
        put_sym(d, x->name);
        vram_text_puts(d->out, " in ");
        put_name(d->out, d->model->checkpoint.files[x->file].name);
    }
    vram_text_puts(d->out, "\n");
}

static int tree(struct dump *d)
{
    const struct vram_tree *t = &d->model->tree;
    for (uint32_t i = 0; i < t->nscopes; i++) {
        const struct vram_scope *s = &t->scopes[i];
        unsigned depth = 0;
        for (uint32_t k = i; k; k = t->scopes[k].parent)
            depth++;
        vram_text_printf(d->out, "%*s", (int)(2 * depth), "");
        put_sym(d, s->name);
        vram_text_puts(d->out, ": ");
        put_sym(d, s->cls == VRAM_NO_INDEX ? 0 : t->program->classes.at[s->cls].name);
        vram_text_puts(d->out, " of ");
        put_sym(d, s->component);
        vram_text_printf(d->out, s->repeat == 1 ? "\n" : s->repeat ? " x%u\n" : " same\n",
                         (unsigned)s->repeat);
        for (uint32_t k = 0; k < s->nparams; k++)
            param_line(d, &t->params[s->first_param + k], depth + 1);
    }
    return VRAM_OK;
}

/* ---- program: the template files that the model needed, in their own language -------------- */

/* The linker replaced the names of ops by their numbers; the language knows names only, and
 * src/ir knows no op.  A copy of the nodes gets the names back. */
static int program(struct dump *d)
{
    const struct vram_program *linked = &d->model->program;
    struct vram_arena arena;
    struct vram_syms syms;
    vram_arena_init(&arena, d->model->arena.cap);
    struct vram_cx cx = {&arena, &syms, &d->model->limits, NULL, d->error};
    struct vram_node *nodes = vram_arena_array(&arena, linked->nodes.n, sizeof *nodes);
    if (!nodes || vram_syms_layer(&syms, &d->model->syms, &arena))
        goto nomem;
    if (linked->nodes.n)
        memcpy(nodes, linked->nodes.at, linked->nodes.n * sizeof *nodes);
    for (size_t i = 0; i < linked->nodes.n; i++) {
        if (nodes[i].kind != VRAM_N_OP)
            continue;
        nodes[i].kind = VRAM_N_NAME;
        nodes[i].a = vram_sym_of(&syms, vram_op_row_at(nodes[i].a)->name);
        if (nodes[i].a == VRAM_SYM_NONE)
            goto nomem;
    }
    struct vram_program named = *linked;
    named.nodes.at = nodes;
    vram_program_print(d->out, &syms, &named);
    vram_arena_finish(&arena);
    return VRAM_OK;
nomem:
    vram_fail_memory(&cx);
    vram_arena_finish(&arena);
    return d->error->code;
}

/* ---- plan: KEY = VALUE  ORIGIN ------------------------------------------------------------- */

static int plan(struct dump *d)
{
    for (size_t i = 0; i < vram_report_setting_count(d->report); i++) {
        vram_report_setting_view s = {.size = sizeof s};
        vram_report_setting(d->report, i, &s);
        vram_text_printf(d->out, "%s = %s  %s%s%s\n", s.key, s.value,
                         strcmp(s.origin, "given") && *s.by ? s.by : s.origin,
                         !strcmp(s.origin, "given") && *s.by ? " by " : "",
                         strcmp(s.origin, "given") ? "" : s.by);
    }
    return VRAM_OK;
}

/* ---- events: what was allocated and freed, in order ---------------------------------------- */

static void alloc_line(const struct dump *d, const struct vram_event *v)
{
    const struct vram_report *r = d->report;
    const struct vram_events *e = r->run.events;
    const struct vram_storage_row *s = &e->storages[v->storage];
    vram_storage_view view = {.size = sizeof view};
    vram_report_storage(r, v->storage, &view);
    vram_text_printf(d->out, "alloc %" PRIu32 " %" PRIu64 " %s ", v->storage, s->bytes,
                     vram_category_names[v->category]);
    put_sym(d, r->tree.scopes[s->scope].path);
    vram_text_printf(d->out, " %s", view.op);
    if (s->param != VRAM_NO_PARAM) {
        vram_text_puts(d->out, " param=");
        put_sym(d, r->tree.params[s->param].path);
    }
    if (s->range)
        vram_text_printf(d->out, " low=%" PRIu64 " high=%" PRIu64,
                         vram_storage_bytes(e, v->storage, VRAM_LOW),
                         vram_storage_bytes(e, v->storage, VRAM_HIGH));
    if (s->stream)
        vram_text_printf(d->out, " stream=%u", (unsigned)s->stream);
    vram_text_puts(d->out, "\n");
}

static int events(struct dump *d)
{
    const struct vram_events *e = d->report->run.events;
    for (size_t i = 0; d->report->known && i < e->n; i++) {
        const struct vram_event *v = &e->at[i];
        if (v->kind == VRAM_EVENT_ALLOC)
            alloc_line(d, v);
        else if (v->kind == VRAM_EVENT_FREE)
            vram_text_printf(d->out, "free %" PRIu32 "\n", v->storage);
        else if (v->kind == VRAM_EVENT_CATEGORY)
            vram_text_printf(d->out, "category %" PRIu32 " %s\n", v->storage,
                             vram_category_names[v->category]);
        else
            vram_text_printf(d->out, "phase %s\n", e->phases[v->storage].name);
    }
    return VRAM_OK;
}

/* ---- replay: the same events through every allocator, at all three bounds ------------------ */

static const char *phase_of(const struct vram_events *e, uint32_t event)
{
    const char *name = "-";
    for (size_t i = 0; i < e->nphases && e->phases[i].first_event <= event; i++)
        name = e->phases[i].name;
    return name;
}

static int replay(struct dump *d)
{
    static const char *const bounds[] = {"low", "expected", "high"};
    const struct vram_report *r = d->report;
    struct vram_arena arena;
    int code = VRAM_OK;
    vram_arena_init(&arena, d->model->arena.cap);
    struct vram_cx cx = {&arena, NULL, &d->model->limits, NULL, d->error};
    for (size_t i = 0; r->known && vram_allocators[i] && !code; i++)
        for (int bound = 0; bound < VRAM_METERS && !code; bound++) {
            struct vram_replay x = {0};
            code = vram_allocators[i]->replay(&cx, r->run.events, (enum vram_bound)bound, &x);
            if (code)
                break;
            vram_text_printf(d->out,
                             "%s %s allocated %" PRIu64 " reserved %" PRIu64 " requested %" PRIu64
                             " segments %" PRIu32 " event %" PRIu32 " %s\n",
                             vram_allocators[i]->name, bounds[bound], x.allocated, x.reserved,
                             x.requested, x.segments, x.event, phase_of(r->run.events, x.event));
        }
    for (size_t i = 0; r->known && i < r->run.events->nphases; i++)
        vram_text_printf(d->out, "phase %s peak %" PRIu64 " end %" PRIu64 "\n",
                         r->run.events->phases[i].name, r->phases[i].peak, r->phases[i].end);
    vram_arena_finish(&arena);
    return code;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static const struct pass {
    const char *name;
    bool runs; /* looks at a run of the plan */
    int (*print)(struct dump *d);
} passes[] = {
    {"config", false, config}, {"tree", false, tree},    {"program", false, program},
    {"plan", true, plan},      {"events", true, events}, {"replay", true, replay},
};

static int fail(vram_error *error, int code, const char *format, const char *what)
{
    *error = (vram_error){.code = code, .offset = VRAM_NO_OFFSET};
    snprintf(error->text, sizeof error->text, format, what);
    return code;
}

int vram_dump(const vram_model *model, const vram_plan *plan_or_null, const char *pass,
              vram_write_fn write, void *ctx, vram_error *error)
{
    vram_error local;
    const struct pass *row = NULL;
    vram_report *report = NULL;
    struct vram_text out;
    char shown[64];
    if (!error)
        error = &local;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (!strcmp(passes[i].name, pass))
            row = &passes[i];
    if (!row) {
        vram_escape(shown, sizeof shown, pass, strlen(pass));
        return fail(error, VRAM_E_NOTFOUND,
                    "no pass is called '%s': config, tree, program, plan, events or replay", shown);
    }
    *error = (vram_error){.offset = VRAM_NO_OFFSET};
    if (row->runs)
        VRAM_TRY(vram_predict(&report, model, plan_or_null, error));
    vram_text_init(&out, write, ctx);
    struct dump d = {.out = &out, .model = model, .report = report, .error = error};
    int code = row->print(&d);
    vram_report_free(report);
    if (!code && vram_text_flush(&out))
        code = fail(error, VRAM_E_CANCELED, "%s", "the dump could not be written");
    return code;
}
