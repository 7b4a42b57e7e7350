/* SPDX-License-Identifier: Apache-2.0
 *
 * What the main graph's inputs are, and what the caller binds.  A symbol may be bound by its name, an
 * expression that stands in the file ("past + 1") by its text, all dims of an input by input.NAME; from an
 * expression and a number follows the symbol where it stands alone in it, linearly.
 */
#include <inttypes.h>
#include <string.h>

#include "onnx/pass.h"

/* expression = number, said by the caller */
struct equation {
    vram_dim dim;
    int64_t number;
    const char *by; /* "batch", "input.x" */
    bool done;
};

struct equations {
    struct vram_infer *pass;
    VRAM_VEC(struct equation) at;
};

static const char *name_of(struct vram_infer *pass, uint32_t value)
{
    return vram_sym_text(pass->cx->syms, pass->model->values.at[value].name);
}

static int argument(struct vram_infer *pass, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int argument(struct vram_infer *pass, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = vram_vformat(pass->cx->arena, format, args);
    va_end(args);
    return text ? vram_fail(pass->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET, "%s", text) : vram_fail_memory(pass->cx);
}

/* What an input's dims stand in: an optional one is bound by what it holds. */
static struct vram_info *info_of(struct vram_infer *pass, uint32_t value)
{
    struct vram_info *info = &pass->at[value];
    if (info->kind == VRAM_ONNX_OPTIONAL && info->element && info->element->kind == VRAM_ONNX_TENSOR)
        return (struct vram_info *)(uintptr_t)info->element; /* fresh from declared() */
    return info;
}

/* ---- declared types ------------------------------------------------------------------------ */

/* A dim as written; UNKNOWN when nothing is. */
static vram_dim declared_dim(struct vram_infer *pass, const struct vram_onnx_dim *d)
{
    int64_t n;
    if (d->size >= 0)
        return vram_dim_int(pass->dims, d->size);
    if (!d->name)
        return VRAM_DIM_UNKNOWN;
    const char *text = vram_sym_text(pass->cx->syms, d->name);
    vram_dim dim = vram_dim_parse(pass->dims, text, strlen(text));
    return vram_dim_is_int(pass->dims, dim, &n) && n < 0 ? VRAM_DIM_UNKNOWN : dim;
}

static int declared(struct vram_infer *pass, uint32_t type, struct vram_info *out, uint32_t depth)
{
    const struct vram_onnx_type *t = &pass->model->types.at[type];
    *out = (struct vram_info){.kind = t->kind, .dtype = t->dtype, .ranked = t->ranked};
    if (t->element && depth < 16) {
        struct vram_info *element = vram_arena_alloc(pass->cx->arena, sizeof *element);
        if (!element)
            return vram_fail_memory(pass->cx);
        VRAM_TRY(declared(pass, t->element, element, depth + 1));
        out->element = element;
    }
    if (!t->ranked)
        return VRAM_OK;
    vram_dim *dims = vram_arena_array(pass->cx->arena, t->shape.n, sizeof *dims);
    if (!dims)
        return vram_fail_memory(pass->cx);
    for (uint32_t i = 0; i < t->shape.n; i++)
        dims[i] = declared_dim(pass, &pass->model->dims.at[t->shape.first + i]);
    out->rank = t->shape.n;
    out->dims = dims;
    return VRAM_OK;
}

static int put_bindings(struct vram_infer *pass, struct vram_info *info)
{
    vram_dim *dims = vram_arena_array(pass->cx->arena, info->rank, sizeof *dims);
    if (!dims)
        return vram_fail_memory(pass->cx);
    for (uint32_t i = 0; i < info->rank; i++)
        dims[i] = vram_dim_bind(pass->dims, info->dims[i], pass->bound.at, pass->bound.n);
    info->dims = dims;
    return VRAM_OK;
}

int vram_infer_declared(struct vram_infer *pass, uint32_t type, struct vram_info *out)
{
    VRAM_TRY(declared(pass, type, out, 0));
    return out->ranked && pass->bound.n ? put_bindings(pass, out) : VRAM_OK;
}

/* ---- names for what has none --------------------------------------------------------------- */

/* A nameless dim is a symbol all the same: input_ids_0. */
static int name_dims(struct vram_infer *pass, uint32_t value, struct vram_info *info)
{
    vram_dim *dims = (vram_dim *)(uintptr_t)info->dims; /* fresh from declared() */
    for (uint32_t i = 0; i < info->rank; i++) {
        if (dims[i])
            continue;
        const char *stem = vram_format(pass->cx->arena, "%.200s_%u", name_of(pass, value), i);
        dims[i] = stem ? vram_dim_fresh_input(pass->dims, stem) : VRAM_DIM_UNKNOWN;
        if (!dims[i])
            return vram_fail_memory(pass->cx);
    }
    return VRAM_OK;
}

static int note_symbol(struct vram_infer *pass, vram_dim symbol)
{
    for (size_t i = 0; i < pass->symbols.n; i++)
        if (pass->symbols.at[i] == symbol)
            return VRAM_OK;
    return vram_vec_push(&pass->symbols, pass->cx->arena, symbol) ? VRAM_OK : vram_fail_memory(pass->cx);
}

/* ---- equations ----------------------------------------------------------------------------- */

static int add(struct equations *all, vram_dim dim, int64_t number, const char *by)
{
    struct equation e = {dim, number, by, false};
    if (number < 0)
        return argument(all->pass, "%s: a size of %" PRId64, by, number);
    return vram_vec_push(&all->at, all->pass->cx->arena, e) ? VRAM_OK : vram_fail_memory(all->pass->cx);
}

static int set_symbol(struct vram_infer *pass, vram_dim symbol, int64_t number, const char *by)
{
    vram_sym name;
    if (!vram_dim_is_symbol(pass->dims, symbol, &name))
        return VRAM_OK;
    if (number < 0)
        return argument(pass, "%s: '%s' would be %" PRId64, by, vram_sym_text(pass->cx->syms, name), number);
    struct vram_dim_binding b = {name, vram_dim_int(pass->dims, number)};
    return vram_vec_push(&pass->bound, pass->cx->arena, b) ? VRAM_OK : vram_fail_memory(pass->cx);
}

/* One look at an equation: is it true, and does it say what a symbol is? */
static int look(struct equations *all, struct equation *e)
{
    struct vram_infer *pass = all->pass;
    struct vram_dims *d = pass->dims;
    vram_dim left = vram_dim_bind(d, e->dim, pass->bound.at, pass->bound.n), open = VRAM_DIM_UNKNOWN;
    int64_t n;
    if (vram_dim_is_int(d, left, &n)) {
        e->done = true;
        if (n != e->number)
            return argument(pass, "%s: '%s' is %" PRId64 ", not %" PRId64, e->by, vram_dim_text(d, e->dim), n,
                            e->number);
        return VRAM_OK;
    }
    for (size_t i = 0; i < pass->symbols.n && !open; i++) {
        vram_dim value = vram_dim_solve(d, left, pass->symbols.at[i], vram_dim_int(d, e->number));
        open = value && vram_dim_is_int(d, value, &n) ? pass->symbols.at[i] : VRAM_DIM_UNKNOWN;
    }
    if (!open)
        return VRAM_OK;
    e->done = true;
    return set_symbol(pass, open, n, e->by);
}

/* Until nothing new follows; each round but the last binds a symbol. */
static int solve(struct equations *all)
{
    size_t before;
    do {
        before = all->pass->bound.n;
        for (size_t i = 0; i < all->at.n; i++)
            if (!all->at.at[i].done)
                VRAM_TRY(look(all, &all->at.at[i]));
    } while (all->pass->bound.n > before);
    return VRAM_OK;
}

/* ---- what the caller says ------------------------------------------------------------------ */

static bool stands_in_inputs(struct vram_infer *pass, vram_dim dim)
{
    const struct vram_onnx_graph *g = &pass->model->graphs.at[1];
    for (uint32_t i = 0; i < g->inputs.n; i++) {
        const struct vram_info *info = info_of(pass, pass->model->edges.at[g->inputs.first + i]);
        for (uint32_t k = 0; k < info->rank; k++)
            if (info->dims[k] == dim)
                return true;
    }
    for (size_t i = 0; i < pass->symbols.n; i++)
        if (pass->symbols.at[i] == dim)
            return true;
    return false;
}

static int bind_names(struct equations *all, const struct vram_onnx_bindings *b)
{
    struct vram_infer *pass = all->pass;
    for (size_t i = 0; i < b->n_symbols; i++) {
        const char *name = b->symbols[i].name;
        vram_dim dim = vram_dim_parse(pass->dims, name, strlen(name));
        if (!stands_in_inputs(pass, dim)) {
            const char *first = pass->symbols.n ? vram_dim_text(pass->dims, pass->symbols.at[0]) : NULL;
            return argument(pass, "no input has a dimension '%s'%s%s%s", name, first ? "; there is '" : "",
                            first ? first : "", first ? "'" : "");
        }
        VRAM_TRY(add(all, dim, b->symbols[i].value, name));
    }
    return VRAM_OK;
}

static int bind_input(struct equations *all, const struct vram_onnx_bind_input *in)
{
    struct vram_infer *pass = all->pass;
    const struct vram_onnx_graph *g = &pass->model->graphs.at[1];
    const char *by = vram_format(pass->cx->arena, "input.%s", in->name);
    uint32_t value = 0;
    if (!by)
        return vram_fail_memory(pass->cx);
    for (uint32_t i = 0; i < g->inputs.n && !value; i++)
        if (!strcmp(name_of(pass, pass->model->edges.at[g->inputs.first + i]), in->name))
            value = pass->model->edges.at[g->inputs.first + i];
    if (!value)
        return argument(pass, "%s: there is no such input", by);
    struct vram_info *info = info_of(pass, value);
    if (info->kind != VRAM_ONNX_TENSOR)
        return argument(pass, "%s: it is no tensor", by);
    if (!info->ranked) {
        vram_dim *dims = vram_arena_array(pass->cx->arena, in->rank, sizeof *dims);
        if (!dims)
            return vram_fail_memory(pass->cx);
        for (uint32_t k = 0; k < in->rank; k++)
            dims[k] = vram_dim_int(pass->dims, in->dims[k]);
        info->ranked = true;
        info->rank = in->rank;
        info->dims = dims;
    }
    if (info->rank != in->rank)
        return argument(pass, "%s: the file says %u dimensions, not %u", by, info->rank, in->rank);
    for (uint32_t k = 0; k < in->rank; k++)
        VRAM_TRY(add(all, info->dims[k], in->dims[k], by));
    return VRAM_OK;
}

/* ---- inputs -------------------------------------------------------------------------------- */

static int begin(struct vram_infer *pass, uint32_t value)
{
    const struct vram_onnx_value *v = &pass->model->values.at[value];
    struct vram_info *info = &pass->at[value];
    if (v->tensor) /* a default is taken */
        return vram_infer_tensor(pass, v->tensor, info);
    if (v->type)
        VRAM_TRY(vram_infer_declared(pass, v->type, info));
    info = info_of(pass, value);
    return info->ranked ? name_dims(pass, value, info) : VRAM_OK;
}

static int note_symbols(void *ctx, vram_dim symbol) { return note_symbol(ctx, symbol); }

/* An expression that the caller bound as a whole, and that was not solved. */
static vram_dim whole(const struct equations *all, vram_dim dim)
{
    for (size_t i = 0; i < all->at.n; i++)
        if (!all->at.at[i].done && all->at.at[i].dim == dim)
            return vram_dim_int(all->pass->dims, all->at.at[i].number);
    return dim;
}

static int finish(struct equations *all, uint32_t value)
{
    struct vram_infer *pass = all->pass;
    struct vram_info *info = info_of(pass, value);
    int64_t n;
    vram_dim *dims = vram_arena_array(pass->cx->arena, info->rank, sizeof *dims);
    if (!dims)
        return vram_fail_memory(pass->cx);
    for (uint32_t i = 0; i < info->rank; i++) {
        dims[i] = vram_dim_bind(pass->dims, whole(all, info->dims[i]), pass->bound.at, pass->bound.n);
        if (vram_dim_is_int(pass->dims, dims[i], &n) && n < 0)
            return argument(pass, "input '%s': '%s' is %" PRId64, name_of(pass, value),
                            vram_dim_text(pass->dims, info->dims[i]), n);
    }
    info->dims = dims;
    return VRAM_OK;
}

int vram_infer_inputs(struct vram_infer *pass, const struct vram_onnx_bindings *b)
{
    const struct vram_onnx_graph *g = &pass->model->graphs.at[1];
    const uint32_t *inputs = pass->model->edges.at + g->inputs.first;
    struct equations all = {.pass = pass};
    for (uint32_t i = 0; i < g->inputs.n; i++)
        VRAM_TRY(begin(pass, inputs[i]));
    for (uint32_t i = 0; i < g->inputs.n; i++) {
        const struct vram_info *info = info_of(pass, inputs[i]);
        for (uint32_t k = 0; k < info->rank; k++)
            VRAM_TRY(vram_dim_symbols(pass->dims, info->dims[k], note_symbols, pass));
    }
    if (!b || (!b->n_symbols && !b->n_inputs))
        return VRAM_OK;
    VRAM_TRY(bind_names(&all, b));
    for (size_t i = 0; i < b->n_inputs; i++)
        VRAM_TRY(bind_input(&all, &b->inputs[i]));
    VRAM_TRY(solve(&all));
    for (uint32_t i = 0; i < g->inputs.n; i++)
        VRAM_TRY(finish(&all, inputs[i]));
    size_t open = 0;
    vram_sym name;
    for (size_t i = 0; i < pass->symbols.n; i++) {
        size_t k = 0;
        if (!vram_dim_is_symbol(pass->dims, pass->symbols.at[i], &name))
            continue;
        while (k < pass->bound.n && pass->bound.at[k].name != name)
            k++;
        if (k == pass->bound.n)
            pass->symbols.at[open++] = pass->symbols.at[i];
    }
    pass->symbols.n = open;
    return VRAM_OK;
}
