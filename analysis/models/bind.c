/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters against tensors: by path, with shapes compared.
 */
#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "models/builder.h"

/* For "model.layers.3.mlp.up.weight": list "model.layers" has at least 4 members. */
static int note_numbers(struct vram_builder *b, const char *path)
{
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
        const char *p = dot + 1;
        uint32_t n = 0;
        while (*p >= '0' && *p <= '9' && n < 1000000)
            n = n * 10 + (uint32_t)(*p++ - '0');
        if (p == dot + 1 || *p != '.')
            continue;
        vram_sym list = vram_sym_add(b->cx->syms, path, (size_t)(dot - path), 1);
        if (list == VRAM_SYM_NONE)
            return vram_fail_memory(b->cx);
        if (list >= b->nchildren_of) {
            uint32_t cap = list * 2 + 64;
            uint32_t *at = vram_arena_array(b->cx->arena, cap, sizeof *at);
            if (!at)
                return vram_fail_memory(b->cx);
            if (b->nchildren_of)
                memcpy(at, b->children_of, b->nchildren_of * sizeof *at);
            b->children_of = at;
            b->nchildren_of = cap;
        }
        if (b->children_of[list] < n + 1)
            b->children_of[list] = n + 1;
    }
    return VRAM_OK;
}

int vram_bind_index(struct vram_builder *b)
{
    const struct vram_checkpoint *c = b->checkpoint;
    uint32_t last = 0;
    for (uint32_t i = 0; i < c->ntensors; i++)
        last = c->tensors[i].path > last ? c->tensors[i].path : last;
    b->ntensor_by_path = last + 1;
    b->tensor_by_path = vram_arena_array(b->cx->arena, b->ntensor_by_path, sizeof(uint32_t));
    if (!b->tensor_by_path)
        return vram_fail_memory(b->cx);
    for (uint32_t i = 0; i < c->ntensors; i++) {
        if (!c->tensors[i].incomplete)
            b->tensor_by_path[c->tensors[i].path] = i + 1;
        VRAM_TRY(note_numbers(b, vram_sym_text(b->cx->syms, c->tensors[i].path)));
    }
    return VRAM_OK;
}

uint32_t vram_bind_count(const struct vram_builder *b, vram_sym list_path)
{
    return list_path < b->nchildren_of ? b->children_of[list_path] : 0;
}

static void shape_text(char *out, size_t size, const int64_t *dims, uint32_t rank)
{
    size_t n = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < rank && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", i ? ", " : "", (long long)dims[i]);
}

/* The shapes differ: correct the config where a size comes from it, else take the tensor's. */
static int disagree(struct vram_builder *b, struct vram_param *p, const struct vram_value *sizes,
                    uint32_t tensor)
{
    const struct vram_tensor *t = &b->checkpoint->tensors[tensor];
    size_t before = b->overrides.n;
    char has[120], wants[120], name[160];
    if (t->rank == p->rank)
        for (uint32_t i = 0; i < p->rank; i++)
            if (t->dims[i] != p->dims[i])
                VRAM_TRY(vram_override_size(b, &sizes[i], t->dims[i], tensor, t->name));
    shape_text(has, sizeof has, t->dims, t->rank);
    shape_text(wants, sizeof wants, p->dims, p->rank);
    p->dims = t->dims;
    p->rank = t->rank;
    int64_t n;
    if (!vram_product_i64(t->dims, t->rank, &n))
        return vram_fail(b->cx, VRAM_E_RANGE, t->offset, "too many elements");
    p->elements = (uint64_t)n;
    if (b->overrides.n != before)
        return VRAM_OK;
    const char *text = vram_sym_text(b->cx->syms, t->name);
    vram_escape(name, sizeof name, text, strlen(text));
    return vram_find(b->cx, VRAM_F_SHAPE_WINS,
                     vram_format(b->cx->arena, "%s: tensor '%s'",
                                 b->checkpoint->files[t->file].name, name),
                     "shape [%s], the config gives [%s]; the shape was taken", has, wants);
}

static bool same_dims(const struct vram_tensor *t, const struct vram_param *p)
{
    return t->rank == p->rank && !memcmp(t->dims, p->dims, p->rank * sizeof *p->dims);
}

int vram_bind_param(struct vram_builder *b, struct vram_param *p, const struct vram_value *sizes)
{
    uint32_t t = p->path < b->ntensor_by_path ? b->tensor_by_path[p->path] : 0;
    p->dtype = p->fixed ? p->fixed : (uint8_t)b->tree.dtype;
    if (t) {
        struct vram_tensor *tensor = &b->checkpoint->tensors[t - 1];
        bool floating = vram_dtype_is_float((enum vram_dtype)tensor->dtype);
        tensor->bound = true;
        p->tensor = t - 1;
        if (floating || p->buffer)
            p->dtype = tensor->dtype;
        if (!floating && !p->buffer)
            VRAM_TRY(vram_find(b->cx, VRAM_F_QUANT_UNKNOWN, "weights",
                               "tensors of dtype %s stand for weights; they are counted by their "
                               "logical shape",
                               vram_dtypes[tensor->dtype].safetensors));
        else if (!same_dims(tensor, p))
            VRAM_TRY(disagree(b, p, sizes, t - 1));
    } else if (!p->buffer) {
        if (b->absent++ == 0)
            b->first_absent = p->path;
        b->absent_elements += p->elements;
    }
    p->floating = vram_dtype_is_float((enum vram_dtype)p->dtype);
    if (!vram_dtype_bytes((enum vram_dtype)p->dtype, p->elements, &p->bytes) ||
        p->bytes > b->cx->limits->bytes_total)
        return vram_fail(b->cx, VRAM_E_RANGE, VRAM_NO_OFFSET, "'%s' is too large",
                         vram_sym_text(b->cx->syms, p->path));
    return VRAM_OK;
}

/* ---- what is left over, what is absent ---------------------------------------------------- */

static int report_leftover(struct vram_builder *b)
{
    const struct vram_checkpoint *c = b->checkpoint;
    uint32_t n = 0, first = 0, buffers = 0;
    uint64_t bytes = 0;
    char name[160];
    for (uint32_t i = 0; i < c->ntensors; i++) {
        const struct vram_tensor *t = &c->tensors[i];
        buffers += t->buffer && !t->bound;
        if (t->bound || t->buffer || t->incomplete)
            continue;
        if (n++ == 0)
            first = i;
        bytes += t->bytes;
    }
    if (buffers)
        VRAM_TRY(vram_find(b->cx, VRAM_F_BUFFER_STORED, "weights",
                           "%u stored buffers are not parameters", (unsigned)buffers));
    if (!n)
        return VRAM_OK;
    const char *text = vram_sym_text(b->cx->syms, c->tensors[first].name);
    vram_escape(name, sizeof name, text, strlen(text));
    return vram_find(b->cx, VRAM_F_TENSOR_LEFTOVER,
                     vram_format(b->cx->arena, "%s: tensor '%s'",
                                 c->files[c->tensors[first].file].name, name),
                     "%u tensors (%llu bytes) belong to no module of the architecture; they are "
                     "not counted",
                     (unsigned)n, (unsigned long long)bytes);
}

/* Whole parts whose tensors are all absent are named by their config ("vision_config"). */
static const char *absent_part(struct vram_builder *b, vram_sym *path)
{
    const struct vram_tree *t = &b->tree;
    for (uint32_t i = 1; i < t->nscopes; i++) {
        const struct vram_scope *s = &t->scopes[i];
        if (s->config == t->scopes[s->parent].config || s->config->key == 0)
            continue;
        bool any = false, all = true;
        for (uint32_t k = s->first_param; k < t->nparams && t->params[k].scope < s->end; k++) {
            any = any || !t->params[k].buffer;
            all = all && (t->params[k].buffer || t->params[k].tensor == VRAM_NO_INDEX);
        }
        if (any && all) {
            *path = s->path;
            return vram_format(b->cx->arena, "config.json: %s",
                               vram_sym_text(b->cx->syms, s->config->key));
        }
    }
    return NULL;
}

static bool is_outside(const struct vram_checkpoint *c, const char *path)
{
    return c->outside_prefix && !strncmp(path, c->outside_prefix, strlen(c->outside_prefix));
}

/* What the checkpoint only names and no file at hand holds. */
static void mark_named_only(struct vram_builder *b)
{
    for (uint32_t i = 0; b->checkpoint->outside_prefix && i < b->tree.nparams; i++) {
        struct vram_param *p = &b->tree.params[i];
        p->named_only = p->tensor == VRAM_NO_INDEX &&
                        is_outside(b->checkpoint, vram_sym_text(b->cx->syms, p->path));
    }
}

static int report_absent(struct vram_builder *b)
{
    const struct vram_checkpoint *c = b->checkpoint;
    vram_sym part = 0;
    uint32_t n = 0, first = VRAM_NO_INDEX;
    uint64_t elements = 0;
    if (!c->ntensors || c->partial)
        return VRAM_OK;
    for (uint32_t i = 0; i < b->tree.nparams; i++) {
        const struct vram_param *p = &b->tree.params[i];
        if (p->buffer || p->tensor != VRAM_NO_INDEX || p->tied_to != VRAM_NO_INDEX ||
            p->named_only)
            continue;
        if (n++ == 0)
            first = i;
        elements += p->elements;
    }
    if (!n)
        return VRAM_OK;
    const char *subject = absent_part(b, &part);
    if (subject)
        VRAM_TRY(vram_find(b->cx, VRAM_F_TENSOR_ABSENT, subject,
                           "no file holds a tensor of '%s'; its sizes come from the config",
                           vram_sym_text(b->cx->syms, part)));
    return vram_find(b->cx, VRAM_F_TENSOR_ABSENT,
                     vram_sym_text(b->cx->syms, b->tree.params[first].path),
                     "%u parameters (%llu elements) are in no file; their sizes come from the config",
                     (unsigned)n, (unsigned long long)elements);
}

int vram_bind_report(struct vram_builder *b)
{
    mark_named_only(b);
    VRAM_TRY(report_leftover(b));
    return report_absent(b);
}
