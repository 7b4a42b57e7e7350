/* SPDX-License-Identifier: Apache-2.0
 *
 * The model handle: files → checkpoint → module tree, then frozen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handles.h"
#include "base/vec.h"
#include "loaders.h"
#include "models/tree.h"
#include "onnx/lower.h"

void vram_view_copy(void *view, size_t view_size, const void *full, size_t full_size)
{
    size_t n = view_size < full_size ? view_size : full_size;
    if (n > sizeof(size_t)) /* the first member is the caller's size */
        memcpy((char *)view + sizeof(size_t), (const char *)full + sizeof(size_t),
               n - sizeof(size_t));
}
#define COPY(view, ...)                                                                            \
    do {                                                                                           \
        const struct_of(view) full_ = {__VA_ARGS__};                                               \
        vram_view_copy((view), (view)->size, &full_, sizeof full_);                                \
    } while (0)
#define struct_of(view) __typeof__(*(view))

/* ---- opening ------------------------------------------------------------------------------ */

static const char *config_text(struct vram_cx *cx, const struct vram_config *c)
{
    const char *text = c->type == VRAM_CONFIG_STRING ? vram_sym_text(cx->syms, c->text) : "";
    switch (c->type) {
    case VRAM_CONFIG_BOOL:
        return c->integer ? "true" : "false";
    case VRAM_CONFIG_INT:
        return vram_format(cx->arena, "%" PRId64, c->integer);
    case VRAM_CONFIG_FLOAT:
        return vram_format(cx->arena, "%.9g", c->real);
    case VRAM_CONFIG_STRING:
        return vram_format(cx->arena, "\"%s\"", text);
    case VRAM_CONFIG_ARRAY:
        return "[...]";
    case VRAM_CONFIG_OBJECT:
        return "{...}";
    default:
        return "null";
    }
}

/* The values that the tree was built from, in the order of the file. */
static int list_config(struct vram_cx *cx, struct vram_model *m, const struct vram_config *c,
                       uint32_t *n, bool count, uint32_t depth)
{
    char path[300];
    for (const struct vram_config *v = c ? c->first : NULL; v && depth < 8; v = v->next) {
        if (v->type == VRAM_CONFIG_OBJECT) {
            VRAM_TRY(list_config(cx, m, v, n, count, depth + 1));
            continue;
        }
        if (!v->used)
            continue;
        if (!count) {
            vram_config_path(cx, v, path, sizeof path);
            m->config_rows[*n] = v;
            m->config_keys[*n] = vram_arena_strndup(cx->arena, path, strlen(path));
            m->config_values[*n] = config_text(cx, v);
            if (!m->config_keys[*n] || !m->config_values[*n])
                return vram_fail_memory(cx);
        }
        ++*n;
    }
    return VRAM_OK;
}

static int note_config(struct vram_cx *cx, struct vram_model *m)
{
    uint32_t n = 0;
    VRAM_TRY(list_config(cx, m, m->checkpoint.config, &n, true, 0));
    m->config_rows = vram_arena_array(cx->arena, n, sizeof *m->config_rows);
    m->config_keys = vram_arena_array(cx->arena, n, sizeof *m->config_keys);
    m->config_values = vram_arena_array(cx->arena, n, sizeof *m->config_values);
    if (!m->config_rows || !m->config_keys || !m->config_values)
        return vram_fail_memory(cx);
    return list_config(cx, m, m->checkpoint.config, &m->nconfig_rows, false, 0);
}

/* Classes that a run may put in a module's place: linked now, because the program is frozen then. */
static int link_replacements(struct vram_cx *cx, struct vram_model *m,
                             const struct vram_linker *linker)
{
    static const char *const names[] = {"LoraLinear", "LoraLinear4bit", "LoraLinear8bitLt", "Linear", "Linear4bit",
                                        "Linear8bitLt", "PackedLinear", "Dropout", "DoraLinearLayer", "Parallel"};
    size_t n = sizeof names / sizeof *names - !m->program.parallels.n; /* the last is for families with plans */
    for (size_t i = 0; i < n; i++) {
        vram_sym name = vram_sym_of(cx->syms, names[i]);
        int code = linker->require(linker->ctx, cx, &m->program, name);
        if (code && code != VRAM_E_NOTFOUND)
            return code;
        uint32_t cls = vram_program_class(&m->program, name);
        if (cls != VRAM_NO_INDEX)
            VRAM_TRY(vram_program_link(cx, &m->program, linker, cls));
    }
    return VRAM_OK;
}

/* What a training of a graph runs. */
static int link_operators(struct vram_cx *cx, struct vram_model *m, const struct vram_linker *linker)
{
    for (size_t i = 0; vram_lower_class(i); i++) {
        vram_sym name = vram_sym_of(cx->syms, vram_lower_class(i));
        int code = linker->require(linker->ctx, cx, &m->program, name);
        if (code && code != VRAM_E_NOTFOUND)
            return code;
        uint32_t cls = vram_program_class(&m->program, name);
        if (cls != VRAM_NO_INDEX)
            VRAM_TRY(vram_program_link(cx, &m->program, linker, cls));
    }
    return VRAM_OK;
}

static int open_model(struct vram_cx *cx, struct vram_model *m, const char *path,
                      const vram_open_options *o)
{
    struct vram_load_options load = {.vision_tower = o ? o->vision_tower : NULL};
    struct vram_template_source *source = vram_arena_alloc(cx->arena, sizeof *source);
    struct vram_run none = {0};
    if (!source)
        return vram_fail_memory(cx);
    source->dir = o ? o->templates_dir : NULL;
    struct vram_linker linker = {vram_templates_require, source, vram_op_find};
    VRAM_TRY(vram_load(cx, path, &load, &m->checkpoint));
    m->checkpoint.task = o && o->task ? vram_arena_strndup(cx->arena, o->task, strlen(o->task)) : NULL;
    if (o && o->task && !m->checkpoint.task)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_templates_begin(cx, &m->program, source));
    VRAM_TRY(vram_tree_build(cx, &m->program, &linker, &m->checkpoint, &m->tree));
    if (m->tree.known)
        VRAM_TRY(link_replacements(cx, m, &linker));
    if (m->checkpoint.onnx)
        VRAM_TRY(link_operators(cx, m, &linker));
    m->tree.program = &m->program;
    m->tree.syms = &m->syms;
    vram_tree_count(&m->tree, 0, &m->parameters, &m->parameter_bytes);
    none.events = vram_arena_alloc(cx->arena, sizeof *none.events);
    m->summary = vram_model_summary(cx, &m->tree);
    if (!m->summary || !none.events)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_factor(cx, &m->tree, &none, 0, &m->components));
    return note_config(cx, m);
}

int vram_model_open(vram_model **out, const char *path, const vram_open_options *options,
                    vram_error *error)
{
    vram_error local;
    vram_open_options o = {.size = sizeof o};
    if (!error)
        error = &local;
    *error = (vram_error){.offset = VRAM_NO_OFFSET};
    if (options)
        vram_view_copy(&o, options->size < sizeof o ? options->size : sizeof o, options, sizeof o);
    struct vram_model *m = vram_realloc(NULL, 1, sizeof *m);
    if (!m) {
        error->code = VRAM_E_NOMEM;
        snprintf(error->text, sizeof error->text, "out of memory");
        return VRAM_E_NOMEM;
    }
    memset(m, 0, sizeof *m);
    m->limits = vram_limits_default;
    vram_arena_init(&m->arena, o.memory_limit ? o.memory_limit : m->limits.arena_bytes);
    struct vram_cx cx = {&m->arena, &m->syms, &m->limits, &m->findings, error};
    int code = vram_syms_init(&m->syms, &m->arena);
    code = code ? vram_fail_memory(&cx) : open_model(&cx, m, path, &o);
    if (code) {
        vram_model_free(m);
        return code;
    }
    *out = m;
    return VRAM_OK;
}

void vram_model_free(vram_model *m)
{
    if (!m)
        return;
    vram_arena_finish(&m->arena);
    free(m);
}

/* ---- reading ------------------------------------------------------------------------------ */

static const char *text_of(const struct vram_model *m, vram_sym sym)
{
    return vram_sym_text(&m->syms, sym);
}

static const char *class_of(const struct vram_model *m, uint32_t scope)
{
    uint32_t cls = m->tree.nscopes ? m->tree.scopes[scope].cls : VRAM_NO_INDEX;
    return cls == VRAM_NO_INDEX ? "" : text_of(m, m->program.classes.at[cls].name);
}

void vram_model_get(const vram_model *m, vram_model_view *view)
{
    COPY(view, .path = m->checkpoint.path, .format = m->checkpoint.format,
         .family = m->checkpoint.family, .class_name = class_of(m, 0), .summary = m->summary,
         .parameters = m->parameters, .named_only = vram_factors_named_only(&m->components),
         .parameter_bytes = m->parameter_bytes,
         .weight_files = m->checkpoint.nfiles, .modules = m->tree.nscopes,
         .activations_known = m->tree.known && m->tree.runs);
}

size_t vram_model_component_count(const vram_model *m) { return m->components.ncomponents; }

void vram_model_component(const vram_model *m, size_t i, vram_component_view *view)
{
    const struct vram_factor_component *c = &m->components.components[i];
    uint64_t bytes = 0;
    uint32_t modules = 0;
    for (uint32_t k = 0; k < m->tree.nparams; k++) {
        const struct vram_param *p = &m->tree.params[k];
        if (!p->buffer && p->tied_to == VRAM_NO_INDEX &&
            m->tree.scopes[p->scope].component == c->name)
            bytes += p->bytes;
    }
    for (uint32_t k = 0; k < m->tree.nscopes; k++)
        modules += m->tree.scopes[k].component == c->name;
    COPY(view, .name = text_of(m, c->name), .parameters = c->parameter_count,
         .named_only = c->named_only,
         .parameter_bytes = bytes, .modules = modules);
}

size_t vram_model_module_count(const vram_model *m) { return m->tree.nscopes; }

void vram_model_module(const vram_model *m, size_t i, vram_module_view *view)
{
    const struct vram_scope *s = &m->tree.scopes[i];
    uint64_t elements, bytes;
    uint32_t depth = 0;
    for (uint32_t k = (uint32_t)i; k; k = m->tree.scopes[k].parent)
        depth++;
    vram_tree_count(&m->tree, (uint32_t)i, &elements, &bytes);
    COPY(view, .path = text_of(m, s->path), .class_name = class_of(m, (uint32_t)i),
         .component = text_of(m, s->component), .parent = s->parent, .depth = depth,
         .repeat = s->repeat, .parameters = elements, .parameter_bytes = bytes);
}

size_t vram_model_param_count(const vram_model *m) { return m->tree.nparams; }

void vram_model_param(const vram_model *m, size_t i, vram_param_view *view)
{
    const struct vram_param *p = &m->tree.params[i];
    const struct vram_tensor *t =
        p->tensor == VRAM_NO_INDEX ? NULL : &m->checkpoint.tensors[p->tensor];
    COPY(view, .path = text_of(m, p->path), .stored = t ? text_of(m, t->name) : "",
         .file = t ? m->checkpoint.files[t->file].name : "", .dtype = vram_dtypes[p->dtype].name,
         .tied_to = p->tied_to == VRAM_NO_INDEX ? "" : text_of(m, m->tree.params[p->tied_to].path),
         .module = p->scope, .rank = p->rank, .dims = p->dims, .bytes = p->bytes,
         .buffer = p->buffer);
}

size_t vram_model_config_count(const vram_model *m) { return m->nconfig_rows; }

void vram_model_config(const vram_model *m, size_t i, vram_config_view *view)
{
    COPY(view, .key = m->config_keys[i], .value = m->config_values[i],
         .origin = vram_origin_name(m->config_rows[i]->origin), .offset = m->config_rows[i]->offset);
}

void vram_finding_copy(const struct vram_findings *f, size_t i, vram_finding_view *view)
{
    const struct vram_finding *x = &f->at[i];
    const struct vram_finding_row *row = &vram_finding_rows[x->kind];
    COPY(view, .id = row->id, .name = row->name, .severity = row->severity, .subject = x->subject,
         .text = x->text);
}

size_t vram_model_finding_count(const vram_model *m) { return m->findings.n; }

void vram_model_finding(const vram_model *m, size_t i, vram_finding_view *view)
{
    vram_finding_copy(&m->findings, i, view);
}
