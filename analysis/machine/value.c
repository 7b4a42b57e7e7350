/* SPDX-License-Identifier: Apache-2.0
 *
 * Storages, handles and values: who holds what.  Every allocation and free of the run is appended
 * to the events here and nowhere else.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "base/vec.h"
#include "machine/machine.h"

const char *const vram_category_names[VRAM_CAT_COUNT] = {
    "parameters", "buffers", "inputs", "gradients", "optimizer", "activations", "temporaries",
    "workspace"};

/* ---- errors and memory -------------------------------------------------------------------- */

void vram_throw(struct vram_machine *m, int code, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const struct vram_node *n =
        m->program && m->at < m->program->nodes.n ? &m->program->nodes.at[m->at] : NULL;
    const char *scope = m->tree && m->scope < m->tree->nscopes
                            ? vram_sym_text(m->cx->syms, m->tree->scopes[m->scope].path)
                            : "";
    if (n && n->line) {
        code = vram_fail(m->cx, code, VRAM_NO_OFFSET, "line %u, column %u: %s%s%s%s",
                         (unsigned)n->line, (unsigned)n->column, text, *scope ? " (in " : "",
                         scope, *scope ? ")" : "");
        vram_where(m->cx, "%s", vram_program_file(m->program, m->at));
    } else {
        code = vram_fail(m->cx, code, VRAM_NO_OFFSET, "%s", text);
    }
    longjmp(m->escape, code);
}

void vram_throw_memory(struct vram_machine *m) { longjmp(m->escape, vram_fail_memory(m->cx)); }

void *vram_machine_alloc(struct vram_machine *m, size_t n, size_t size)
{
    void *block = vram_arena_array(m->cx->arena, n, size);
    if (!block)
        vram_throw_memory(m);
    return block;
}

vram_sym vram_machine_sym(struct vram_machine *m, const char *text)
{
    vram_sym sym = vram_sym_of(m->cx->syms, text);
    if (sym == VRAM_SYM_NONE)
        vram_throw_memory(m);
    return sym;
}

/* ---- events ------------------------------------------------------------------------------- */

bool vram_events_room(struct vram_events *e, struct vram_arena *arena)
{
    return e->nstorages < e->storages_cap ||
           vram_vec_grow_(arena, (void **)&e->storages, e->nstorages, &e->storages_cap, 1,
                          sizeof *e->storages);
}

bool vram_events_range_room(struct vram_events *e, struct vram_arena *arena)
{
    return e->nranges < e->ranges_cap ||
           vram_vec_grow_(arena, (void **)&e->ranges, e->nranges, &e->ranges_cap, 1,
                          sizeof *e->ranges);
}

bool vram_events_share_room(struct vram_events *e, struct vram_arena *arena)
{
    return e->nshares < e->shares_cap ||
           vram_vec_grow_(arena, (void **)&e->shares, e->nshares, &e->shares_cap, 1,
                          sizeof *e->shares);
}

bool vram_events_phase_room(struct vram_events *e, struct vram_arena *arena)
{
    return e->nphases < e->phases_cap ||
           vram_vec_grow_(arena, (void **)&e->phases, e->nphases, &e->phases_cap, 1,
                          sizeof *e->phases);
}

static void push_event(struct vram_machine *m, struct vram_event event)
{
    if (!vram_vec_push(m->events, m->cx->arena, event))
        vram_throw_memory(m);
}

void vram_phase(struct vram_machine *m, const char *name)
{
    struct vram_events *e = m->events;
    char *full = vram_format(m->cx->arena, "%s%s", m->phase_prefix ? m->phase_prefix : "", name);
    if (!full || !vram_events_phase_room(e, m->cx->arena))
        vram_throw_memory(m);
    e->phases[e->nphases] = (struct vram_phase_row){full, (uint32_t)e->n};
    push_event(m, (struct vram_event){.kind = VRAM_EVENT_PHASE, .storage = (uint32_t)e->nphases});
    e->nphases++;
}

void vram_empty_cache(struct vram_machine *m)
{
    push_event(m, (struct vram_event){.kind = VRAM_EVENT_EMPTY_CACHE});
}

/* A row for a storage, and its birth. */
static void begin_bytes(struct vram_machine *m, struct vram_storage *s, uint64_t bytes)
{
    struct vram_events *e = m->events;
    if (!vram_events_room(e, m->cx->arena))
        vram_throw_memory(m);
    s->id = (uint32_t)e->nstorages;
    e->storages[e->nstorages++] =
        (struct vram_storage_row){.bytes = bytes, .scope = m->scope, .saver = m->scope,
                                  .param = VRAM_NO_PARAM, .op = m->op, .stream = m->stream,
                                  .flags = m->in_loss ? VRAM_STORAGE_LOSS : 0};
    push_event(m, (struct vram_event){.storage = s->id, .kind = VRAM_EVENT_ALLOC,
                                      .category = s->category});
    m->live += bytes;
}

static struct vram_storage *new_storage(struct vram_machine *m, uint64_t bytes,
                                        enum vram_category category)
{
    struct vram_storage *s = m->free_storages;
    if (s)
        m->free_storages = s->next_free;
    else
        s = vram_machine_alloc(m, 1, sizeof *s);
    *s = (struct vram_storage){.refs = 1, .category = (uint8_t)category,
                               .base_category = (uint8_t)category};
    begin_bytes(m, s, bytes);
    return s;
}

static void end_bytes(struct vram_machine *m, const struct vram_storage *s)
{
    push_event(m, (struct vram_event){.storage = s->id, .kind = VRAM_EVENT_FREE});
    m->live -= m->events->storages[s->id].bytes;
}

void vram_storage_leave(struct vram_machine *m, struct vram_storage *s)
{
    if (!s->away)
        end_bytes(m, s);
    s->away = true;
}

void vram_storage_return(struct vram_machine *m, struct vram_storage *s, uint64_t bytes)
{
    struct vram_storage_row old = m->events->storages[s->id];
    s->away = false;
    s->category = s->base_category;
    begin_bytes(m, s, bytes);
    m->events->storages[s->id].param = old.param;
    m->events->storages[s->id].share = old.bytes == bytes ? old.share : 0;
}

static void free_storage(struct vram_machine *m, struct vram_storage *s)
{
    if (!s->away)
        end_bytes(m, s);
    s->next_free = m->free_storages;
    m->free_storages = s;
}

static void change_category(struct vram_machine *m, struct vram_storage *s, uint8_t category)
{
    if (s->category == category)
        return;
    s->category = category;
    if (s->away)
        return;
    push_event(m, (struct vram_event){.storage = s->id, .kind = VRAM_EVENT_CATEGORY,
                                      .category = category});
}

void vram_set_category(struct vram_machine *m, struct vram_handle *x, enum vram_category category)
{
    if (!x->storage)
        return;
    x->storage->base_category = (uint8_t)category;
    change_category(m, x->storage, (uint8_t)category);
}

/* Only what would be a temporary becomes an activation: parameters and inputs stay what they are. */
void vram_mark_saved(struct vram_machine *m, struct vram_handle *x)
{
    struct vram_storage *s = x->storage;
    if (s && s->saved++ == 0 && s->base_category == VRAM_CAT_TEMPORARY) {
        m->events->storages[s->id].saver = m->scope;
        change_category(m, s, VRAM_CAT_SAVED);
    }
}

void vram_unmark_saved(struct vram_machine *m, struct vram_handle *x)
{
    struct vram_storage *s = x->storage;
    bool dies = s && s->refs == 1 && x->refs == 1; /* then its category need not change */
    if (s && --s->saved == 0 && !dies)
        change_category(m, s, s->base_category);
}

struct vram_storage *vram_workspace_begin(struct vram_machine *m, uint64_t low, uint64_t expected,
                                          uint64_t high)
{
    struct vram_events *e = m->events;
    if (!m->workspaces || high == 0)
        return NULL;
    struct vram_storage *s = new_storage(m, expected, VRAM_CAT_WORKSPACE);
    if (low != expected || high != expected) {
        if (!vram_events_range_room(e, m->cx->arena))
            vram_throw_memory(m);
        e->ranges[e->nranges++] = (struct vram_bytes_range){low, high};
        e->storages[s->id].range = (uint32_t)e->nranges;
    }
    return s;
}

void vram_workspace_end(struct vram_machine *m, struct vram_storage *s)
{
    if (s)
        free_storage(m, s);
}

/* ---- handles ------------------------------------------------------------------------------ */

static struct vram_handle *new_handle(struct vram_machine *m, const int64_t *shape,
                                      const int64_t *stride, int rank, enum vram_dtype dtype)
{
    if (rank > VRAM_MAX_RANK)
        vram_throw(m, VRAM_E_LIMIT, "a tensor of %d dimensions; the machine follows %d", rank,
                   VRAM_MAX_RANK);
    struct vram_handle *x = m->free_handles;
    if (x)
        m->free_handles = x->next_free;
    else
        x = vram_machine_alloc(m, 1, sizeof *x);
    memset(x, 0, offsetof(struct vram_handle, shape));
    x->refs = 1;
    x->rank = (uint8_t)rank;
    x->dtype = (uint8_t)dtype;
    x->param = VRAM_NO_PARAM;
    if (rank) {
        memcpy(x->shape, shape, (size_t)rank * sizeof *shape);
        if (stride)
            memcpy(x->stride, stride, (size_t)rank * sizeof *stride);
        else
            vram_contiguous_strides(shape, rank, x->stride);
    }
    return x;
}

struct vram_handle *vram_new(struct vram_machine *m, const int64_t *shape, int rank,
                             enum vram_dtype dtype, const int64_t *stride)
{
    int64_t n;
    uint64_t bytes;
    if (!m->events)
        vram_throw(m, VRAM_E_FORMAT, "a declaration cannot make tensors");
    if (!vram_product_i64(shape, (size_t)rank, &n) ||
        !vram_dtype_bytes(dtype, (uint64_t)n, &bytes) || bytes > m->cx->limits->bytes_total)
        vram_throw(m, VRAM_E_RANGE, "a tensor of negative or impossible size");
    struct vram_handle *x = new_handle(m, shape, stride, rank, dtype);
    if (bytes)
        x->storage = new_storage(m, bytes, VRAM_CAT_TEMPORARY);
    return x;
}

struct vram_handle *vram_blank(struct vram_machine *m, const int64_t *shape, int rank,
                               enum vram_dtype dtype)
{
    return new_handle(m, shape, NULL, rank, dtype);
}

struct vram_handle *vram_new_like(struct vram_machine *m, const struct vram_handle *x,
                                  enum vram_dtype dtype)
{
    int64_t stride[VRAM_MAX_RANK];
    vram_like_strides(x, stride);
    return vram_new(m, x->shape, x->rank, dtype, stride);
}

struct vram_handle *vram_new_scalar(struct vram_machine *m, enum vram_dtype dtype)
{
    return vram_new(m, NULL, 0, dtype, NULL);
}

struct vram_handle *vram_alias(struct vram_machine *m, struct vram_handle *x, const int64_t *shape,
                               const int64_t *stride, int rank, bool view)
{
    struct vram_handle *a = new_handle(m, shape, stride, rank, (enum vram_dtype)x->dtype);
    a->storage = x->storage;
    if (a->storage)
        a->storage->refs++;
    if (view)
        a->base = vram_hold(x->base ? x->base : x);
    return a;
}

struct vram_handle *vram_detach(struct vram_machine *m, struct vram_handle *x)
{
    return vram_alias(m, x, x->shape, x->stride, x->rank, false);
}

void vram_drop(struct vram_machine *m, struct vram_handle *x)
{
    /* a view holds its base: a chain of at most two, so this loop replaces recursion */
    while (x && --x->refs == 0) {
        struct vram_handle *base = x->base;
        struct vram_tape_node *node = x->node;
        struct vram_handle *grad = x->grad;
        if (x->storage && --x->storage->refs == 0)
            free_storage(m, x->storage);
        x->next_free = m->free_handles;
        m->free_handles = x;
        if (node)
            vram_node_drop(m, node);
        if (grad)
            vram_drop(m, grad);
        x = base;
    }
}

void vram_storage_move(struct vram_machine *m, struct vram_handle *x, struct vram_handle *to)
{
    struct vram_storage *old = x->storage;
    x->storage = to ? to->storage : NULL;
    if (x->storage)
        x->storage->refs++;
    if (old && --old->refs == 0)
        free_storage(m, old);
}

void vram_let_go(struct vram_machine *m, struct vram_handle **x)
{
    struct vram_handle *old = *x;
    *x = NULL;
    vram_drop(m, old);
}

int64_t vram_numel(const struct vram_handle *x)
{
    int64_t n = 1;
    for (int i = 0; i < x->rank; i++)
        n *= x->shape[i];
    return n;
}

/* ---- values ------------------------------------------------------------------------------- */

struct vram_value vram_value_hold(struct vram_value v)
{
    if (v.kind == VRAM_V_TENSOR)
        v.u.tensor->refs++;
    else if (v.kind == VRAM_V_BOX && v.u.box->refs >= 0)
        v.u.box->refs++;
    return v;
}

static void drop_members(struct vram_machine *m, struct vram_box *box)
{
    uint32_t n = box->n;
    box->n = 0;
    for (uint32_t i = 0; i < n; i++)
        vram_value_drop(m, box->at[i]);
}

/* A container dies with what is in it.  Few of them nest; those that nest deeper than a stack should
 * wait in a list. */
static void drop_box(struct vram_machine *m, struct vram_box *box)
{
    if (m->drops == VRAM_MAX_BOX_DEPTH) {
        box->next_dead = m->dead_boxes;
        m->dead_boxes = box;
        return;
    }
    m->drops++;
    drop_members(m, box);
    m->drops--;
    while (m->drops == 0 && (box = m->dead_boxes) != NULL) {
        m->dead_boxes = box->next_dead;
        m->drops++;
        drop_members(m, box);
        m->drops--;
    }
}

void vram_value_drop(struct vram_machine *m, struct vram_value v)
{
    if (v.kind == VRAM_V_TENSOR) {
        vram_drop(m, v.u.tensor);
    } else if (v.kind == VRAM_V_BOX && v.u.box->refs >= 0 && --v.u.box->refs == 0) {
        drop_box(m, v.u.box);
    }
}

struct vram_box *vram_box_new(struct vram_machine *m, enum vram_box_kind kind, uint32_t n)
{
    struct vram_box *box = vram_machine_alloc(m, 1, sizeof *box);
    box->refs = 1;
    box->kind = (uint8_t)kind;
    box->cap = n;
    box->at = vram_machine_alloc(m, n ? n : 1, sizeof *box->at);
    if (kind == VRAM_BOX_RECORD)
        box->keys = vram_machine_alloc(m, n ? n : 1, sizeof *box->keys);
    return box;
}

void vram_value_keep(struct vram_machine *m, struct vram_value v, int depth)
{
    struct vram_box *box = v.u.box;
    if (v.kind != VRAM_V_BOX || box->refs < 0)
        return;
    if (depth > VRAM_MAX_BOX_DEPTH)
        vram_throw(m, VRAM_E_LIMIT, "containers nest more than %d deep", VRAM_MAX_BOX_DEPTH);
    box->refs = -1;
    for (uint32_t i = 0; i < box->n; i++)
        vram_value_keep(m, box->at[i], depth + 1);
}

void vram_box_set(struct vram_machine *m, struct vram_box *box, uint32_t i, struct vram_value v)
{
    if (box->refs < 0)
        vram_throw(m, VRAM_E_FORMAT, "this list belongs to a declaration and stays as it is");
    struct vram_value old = box->at[i];
    box->at[i] = v;
    vram_value_drop(m, old);
}

void vram_box_push(struct vram_machine *m, struct vram_box *box, struct vram_value v)
{
    if (box->refs < 0)
        vram_throw(m, VRAM_E_FORMAT, "this list belongs to a declaration and stays as it is");
    if (box->n == VRAM_MAX_BOX)
        vram_throw(m, VRAM_E_LIMIT, "a list of more than %d values", VRAM_MAX_BOX);
    if (box->n == box->cap) {
        uint32_t cap = box->cap ? box->cap * 2 : 8;
        struct vram_value *at = vram_machine_alloc(m, cap, sizeof *at);
        memcpy(at, box->at, box->n * sizeof *at);
        box->at = at;
        box->cap = cap;
    }
    box->at[box->n++] = v;
}
