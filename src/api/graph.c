/* SPDX-License-Identifier: Apache-2.0
 *
 * The handle of an ONNX file, and of the shapes of its values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "handles.h"
#include "onnx/fill.h"
#include "onnx/infer.h"
#include "onnx/onnx.h"

struct vram_graph {
    struct vram_arena arena;
    struct vram_limits limits;
    struct vram_syms syms;
    struct vram_findings findings;
    struct vram_onnx model;
    const char *path;
    uint64_t initializer_bytes;
    uint32_t initializers;
};

struct vram_shapes {
    struct vram_arena arena;
    struct vram_syms syms;         /* on top of the graph's */
    struct vram_findings findings; /* the file's, then those of the pass */
    const struct vram_graph *graph;
    struct vram_inference inference;
    const char **symbols;
    uint8_t *output; /* by value: an output of the main graph */
    const struct vram_claim *claims;
    size_t n_claims;
};

#define COPY(view, ...)                                                                            \
    do {                                                                                           \
        const __typeof__(*(view)) full_ = {__VA_ARGS__};                                           \
        vram_view_copy((view), (view)->size, &full_, sizeof full_);                                \
    } while (0)

/* ---- the file ------------------------------------------------------------------------------ */

static vram_error *begin_error(vram_error *error, vram_error *local)
{
    error = error ? error : local;
    *error = (vram_error){.offset = VRAM_NO_OFFSET};
    return error;
}

static void *new_handle(size_t size, vram_error *error)
{
    void *handle = vram_realloc(NULL, 1, size);
    if (handle)
        return memset(handle, 0, size);
    error->code = VRAM_E_NOMEM;
    snprintf(error->text, sizeof error->text, "out of memory");
    return NULL;
}

static int open_graph(struct vram_cx *cx, struct vram_graph *g, const char *path)
{
    g->path = vram_arena_strndup(cx->arena, path, strlen(path));
    if (!g->path)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_onnx_load(cx, path, &g->model));
    for (uint32_t i = 1; i < g->model.values.n; i++) {
        const struct vram_onnx_value *v = &g->model.values.at[i];
        if (!v->tensor)
            continue;
        g->initializers++;
        g->initializer_bytes += g->model.tensors.at[v->tensor].bytes;
    }
    return VRAM_OK;
}

int vram_graph_open(vram_graph **out, const char *path, const vram_open_options *options, vram_error *error)
{
    vram_error local;
    vram_open_options o = {.size = sizeof o};
    error = begin_error(error, &local);
    if (options)
        vram_view_copy(&o, options->size < sizeof o ? options->size : sizeof o, options, sizeof o);
    struct vram_graph *g = new_handle(sizeof *g, error);
    if (!g)
        return VRAM_E_NOMEM;
    g->limits = vram_limits_default;
    vram_arena_init(&g->arena, o.memory_limit ? o.memory_limit : g->limits.arena_bytes);
    struct vram_cx cx = {&g->arena, &g->syms, &g->limits, &g->findings, error};
    int code = vram_syms_init(&g->syms, &g->arena);
    code = code ? vram_fail_memory(&cx) : open_graph(&cx, g, path);
    if (code) {
        vram_graph_free(g);
        return code;
    }
    *out = g;
    return VRAM_OK;
}

void vram_graph_free(vram_graph *g)
{
    if (!g)
        return;
    vram_arena_finish(&g->arena);
    free(g);
}

void vram_graph_get(const vram_graph *g, vram_graph_view *view)
{
    int64_t opset = 0;
    for (uint32_t i = 0; i < g->model.opsets.n; i++)
        if (!g->model.opsets.at[i].domain)
            opset = g->model.opsets.at[i].version;
    COPY(view, .path = g->path, .producer = vram_sym_text(&g->syms, g->model.producer),
         .producer_version = vram_sym_text(&g->syms, g->model.producer_version), .ir_version = g->model.ir_version,
         .opset = opset, .graphs = g->model.graphs.n - 1, .nodes = g->model.nodes.n - 1,
         .values = g->model.values.n - 1, .initializers = g->initializers,
         .initializer_bytes = g->initializer_bytes);
}

/* ---- shapes -------------------------------------------------------------------------------- */

static struct vram_cx context(struct vram_shapes *s, vram_error *error)
{
    return (struct vram_cx){&s->arena, &s->syms, &s->graph->limits, &s->findings, error};
}

/* "2x3x64" or "scalar", as the plan has checked it */
static int shape_of(struct vram_cx *cx, const char *text, struct vram_onnx_bind_input *out)
{
    uint32_t n = *text >= '0' && *text <= '9';
    for (const char *p = text; *p; p++)
        n += *p == 'x';
    n = strcmp(text, "scalar") ? n : 0;
    int64_t *dims = vram_arena_array(cx->arena, n, sizeof *dims);
    if (!dims)
        return vram_fail_memory(cx);
    char *at = (char *)(uintptr_t)text;
    for (uint32_t i = 0; i < n; i++)
        dims[i] = strtoll(i ? at + 1 : at, &at, 10);
    out->dims = dims;
    out->rank = n;
    return VRAM_OK;
}

static int bindings_of(struct vram_cx *cx, const struct vram_plan *plan, struct vram_onnx_bindings *out)
{
    size_t n = plan ? vram_plan_extra_count(plan) : 0;
    struct vram_onnx_bind_symbol *symbols = vram_arena_array(cx->arena, n, sizeof *symbols);
    struct vram_onnx_bind_input *inputs = vram_arena_array(cx->arena, n, sizeof *inputs);
    if (!symbols || !inputs)
        return vram_fail_memory(cx);
    out->symbols = symbols;
    out->inputs = inputs;
    for (size_t i = 0; i < n; i++) {
        const struct vram_plan_extra *e = vram_plan_extra(plan, i);
        if (e->row == VRAM_KEY_DIM_NAME) {
            symbols[out->n_symbols].name = e->name;
            symbols[out->n_symbols++].value = e->number;
        } else if (e->row == VRAM_KEY_INPUT_NAME) {
            inputs[out->n_inputs].name = e->name;
            VRAM_TRY(shape_of(cx, e->text, &inputs[out->n_inputs++]));
        }
    }
    return VRAM_OK;
}

static int infer(struct vram_cx *cx, struct vram_shapes *s, const struct vram_plan *plan)
{
    struct vram_onnx_bindings bindings = {0};
    const struct vram_findings *found = &s->graph->findings;
    for (size_t i = 0; i < found->n; i++)
        if (!vram_vec_push(&s->findings, cx->arena, found->at[i]))
            return vram_fail_memory(cx);
    VRAM_TRY(bindings_of(cx, plan, &bindings));
    VRAM_TRY(vram_onnx_infer(cx, &s->graph->model, &bindings, &s->inference));
    s->symbols = vram_arena_array(cx->arena, s->inference.n_symbols, sizeof *s->symbols);
    s->output = vram_arena_array(cx->arena, s->inference.n, sizeof *s->output);
    if (!s->symbols || !s->output)
        return vram_fail_memory(cx);
    for (uint32_t i = 0; i < s->inference.n_symbols; i++) {
        vram_sym name = 0;
        vram_dim_is_symbol(s->inference.dims, s->inference.symbols[i], &name);
        s->symbols[i] = vram_sym_text(&s->syms, name);
    }
    const struct vram_onnx_graph *main = &s->graph->model.graphs.at[1];
    for (uint32_t i = 0; i < main->outputs.n; i++)
        s->output[s->graph->model.edges.at[main->outputs.first + i]] = 1;
    return VRAM_OK;
}

int vram_shapes_infer(vram_shapes **out, const vram_graph *graph, const vram_plan *plan, vram_error *error)
{
    vram_error local;
    error = begin_error(error, &local);
    struct vram_shapes *s = new_handle(sizeof *s, error);
    if (!s)
        return VRAM_E_NOMEM;
    s->graph = graph;
    vram_arena_init(&s->arena, graph->arena.cap);
    struct vram_cx cx = context(s, error);
    int code = vram_syms_layer(&s->syms, &graph->syms, &s->arena);
    code = code ? vram_fail_memory(&cx) : infer(&cx, s, plan);
    if (code) {
        vram_shapes_free(s);
        return code;
    }
    *out = s;
    return VRAM_OK;
}

void vram_shapes_free(vram_shapes *s)
{
    if (!s)
        return;
    vram_arena_finish(&s->arena);
    free(s);
}

size_t vram_shapes_value_count(const vram_shapes *s) { return s->inference.n - 1; }

void vram_shapes_value(const vram_shapes *s, size_t i, vram_value_view *view)
{
    static const char *const kinds[] = {"", "tensor", "sparse", "sequence", "optional", "map", "opaque"};
    const struct vram_onnx_value *v = &s->graph->model.values.at[i + 1];
    const struct vram_info *info = &s->inference.at[i + 1];
    const char *role = v->role == VRAM_ONNX_INPUT         ? "input"
                       : v->role == VRAM_ONNX_INITIALIZER ? "initializer"
                       : s->output[i + 1]                 ? "output"
                                                          : "";
    COPY(view, .path = vram_sym_text(&s->syms, s->graph->model.graphs.at[v->graph].path),
         .name = vram_sym_text(&s->syms, v->name), .role = role, .kind = kinds[info->kind],
         .dtype = info->dtype ? vram_dtypes[info->dtype].name : "", .rank = info->ranked ? info->rank : UINT32_MAX);
}

struct cut {
    char *at;
    size_t left;
};

static int cut_write(void *ctx, const char *text, size_t n)
{
    struct cut *cut = ctx;
    n = n < cut->left ? n : cut->left;
    memcpy(cut->at, text, n);
    cut->at += n;
    cut->left -= n;
    return 0;
}

int64_t vram_shapes_size(const vram_shapes *s, size_t i, uint32_t axis, char *text, size_t n)
{
    const struct vram_info *info = &s->inference.at[i + 1];
    const struct vram_dims *dims = s->inference.dims;
    vram_dim d = info->ranked && axis < info->rank ? info->dims[axis] : VRAM_DIM_UNKNOWN;
    int64_t size;
    if (text && n) {
        struct cut cut = {text, n - 1};
        struct vram_text out;
        vram_text_init(&out, cut_write, &cut);
        vram_dim_print(dims, d, &out);
        vram_text_flush(&out);
        *cut.at = 0;
    }
    if (vram_dim_is_int(dims, d, &size))
        return size;
    return !d ? VRAM_SIZE_UNKNOWN : vram_dim_on_data(dims, d) ? VRAM_SIZE_DATA : VRAM_SIZE_EXPRESSION;
}

const char *vram_shapes_symbol(const vram_shapes *s, size_t i)
{
    return i < s->inference.n_symbols ? s->symbols[i] : NULL;
}

size_t vram_shapes_finding_count(const vram_shapes *s) { return s->findings.n; }

void vram_shapes_finding(const vram_shapes *s, size_t i, vram_finding_view *view)
{
    vram_finding_copy(&s->findings, i, view);
}

/* ---- claims -------------------------------------------------------------------------------- */

int vram_shapes_check(vram_shapes *s, vram_error *error)
{
    vram_error local;
    error = begin_error(error, &local);
    struct vram_cx cx = context(s, error);
    VRAM_TRY(vram_onnx_claims(&cx, &s->inference, &s->claims, &s->n_claims));
    for (size_t i = 0; i < s->n_claims; i++) {
        const struct vram_claim *c = &s->claims[i];
        if (c->kind == VRAM_CLAIM_WRONG)
            VRAM_TRY(vram_find(&cx, VRAM_F_ONNX_CLAIM, vram_onnx_value_text(&cx, &s->graph->model, c->value),
                               "the file says %s, its graph gives %s", c->says, c->is));
    }
    return VRAM_OK;
}

size_t vram_shapes_claim_count(const vram_shapes *s) { return s->n_claims; }

void vram_shapes_claim(const vram_shapes *s, size_t i, vram_claim_view *view)
{
    const struct vram_claim *c = &s->claims[i];
    COPY(view, .value = c->value - 1, .says = c->says, .is = c->is, .wrong = c->kind == VRAM_CLAIM_WRONG);
}

/* ---- a copy with what was found ------------------------------------------------------------ */

struct filling {
    struct vram_cx *cx;
    const struct vram_shapes *s;
    struct vram_text_memory bytes; /* the declarations */
    size_t n;
};

/* A tensor that a node of the main graph makes, of which the file says nothing and the pass something. */
static bool is_open(const struct vram_shapes *s, uint32_t value)
{
    const struct vram_onnx_value *v = &s->graph->model.values.at[value];
    const struct vram_info *info = &s->inference.at[value];
    const char *name = vram_sym_text(&s->syms, v->name);
    return v->role == VRAM_ONNX_MADE && v->graph == 1 && !v->type && info->kind == VRAM_ONNX_TENSOR && info->dtype &&
           info->ranked && *name && !strstr(name, "\xc0\x80"); /* what stands for a NUL */
}

static int declare(struct filling *f, uint32_t value)
{
    const struct vram_info *info = &f->s->inference.at[value];
    const struct vram_dims *dims = f->s->inference.dims;
    struct vram_cx *cx = f->cx;
    int64_t *sizes = vram_arena_array(cx->arena, info->rank, sizeof *sizes);
    const char **texts = vram_arena_array(cx->arena, info->rank, sizeof *texts);
    struct vram_onnx_declaration d = {.name = vram_sym_text(&f->s->syms, f->s->graph->model.values.at[value].name),
                                      .dtype = info->dtype, .rank = info->rank, .sizes = sizes, .texts = texts};
    unsigned char *bytes;
    size_t n;
    if (!sizes || !texts)
        return vram_fail_memory(cx);
    for (uint32_t k = 0; k < info->rank; k++) {
        struct vram_text_memory memory = {0};
        struct vram_text text;
        sizes[k] = -1;
        texts[k] = "";
        if (!info->dims[k] || vram_dim_is_int(dims, info->dims[k], &sizes[k]))
            continue;
        vram_text_init(&text, vram_text_memory_write, &memory);
        vram_dim_print(dims, info->dims[k], &text);
        texts[k] = vram_text_flush(&text) ? NULL : vram_arena_strndup(cx->arena, memory.at, memory.n);
        free(memory.at);
        if (!texts[k])
            return vram_fail_memory(cx);
    }
    VRAM_TRY(vram_onnx_declare(cx, &d, &bytes, &n));
    f->n++;
    return vram_text_memory_write(&f->bytes, (const char *)bytes, n) ? vram_fail_memory(cx) : VRAM_OK;
}

static int write_copy(const struct filling *f, const struct vram_onnx_room *at, vram_write_fn write, vram_copy_fn copy,
                      void *ctx)
{
    unsigned char head[VRAM_ONNX_HEAD];
    size_t n = vram_onnx_graph_head(head, at->end - at->body + f->bytes.n);
    bool refused = copy(ctx, 0, at->key) || write(ctx, (const char *)head, n) ||
                   copy(ctx, at->body, at->end - at->body) || (f->bytes.n && write(ctx, f->bytes.at, f->bytes.n)) ||
                   copy(ctx, at->end, at->file - at->end);
    return refused ? vram_fail(f->cx, VRAM_E_CANCELED, VRAM_NO_OFFSET, "the copy could not be written") : VRAM_OK;
}

int vram_shapes_fill(const vram_shapes *s, vram_write_fn write, vram_copy_fn copy, void *ctx, size_t *declared,
                     vram_error *error)
{
    vram_error local;
    struct vram_arena scratch;
    struct vram_syms syms;
    struct vram_onnx_room place;
    error = begin_error(error, &local);
    vram_arena_init(&scratch, s->arena.cap);
    struct vram_cx cx = {&scratch, &syms, &s->graph->limits, NULL, error};
    struct filling f = {.cx = &cx, .s = s};
    int code = vram_syms_init(&syms, &scratch) ? vram_fail_memory(&cx) : VRAM_OK;
    code = code ? code : vram_onnx_find_place(&cx, s->graph->path, &place);
    for (uint32_t i = 1; i < s->inference.n && !code; i++)
        if (is_open(s, i)) {
            struct vram_arena_mark mark = vram_arena_mark(&scratch);
            code = declare(&f, i);
            vram_arena_rewind(&scratch, mark);
        }
    code = code ? code : write_copy(&f, &place, write, copy, ctx);
    if (!code && declared)
        *declared = f.n;
    free(f.bytes.at);
    vram_arena_finish(&scratch);
    return code;
}
