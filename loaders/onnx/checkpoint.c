/* SPDX-License-Identifier: Apache-2.0
 *
 * Initializers as tensors of modules; see checkpoint.h.
 *
 * Exporters keep the names of parameters ("model.layers.0.mlp.up_proj.weight") where they do not fold
 * constants, else they invent some ("onnx::MatMul_1234"): then the first node that reads it says the module
 * ("/model/layers.0/mlp/up_proj/MatMul").
 */
#include "onnx/checkpoint.h"

#include <ctype.h>
#include <string.h>

#include "onnx/onnx.h"

enum { PARTS = 60 /* of a path; the tree takes 64 */, LONGEST = 1024 };

/* text with '/' as '.', at most PARTS of them; what is empty between two is left out.  Returns the length. */
static size_t dotted(char *out, size_t size, const char *text, size_t n)
{
    size_t used = 0, parts = 0;
    for (size_t i = 0; i < n && used + 1 < size; i++) {
        bool dot = text[i] == '/' || text[i] == '.';
        if (dot && (!used || out[used - 1] == '.'))
            continue;
        out[used++] = !dot ? text[i] : parts++ < PARTS ? '.' : '_';
    }
    while (used && out[used - 1] == '.')
        used--;
    out[used] = 0;
    return used;
}

/* Does the name say a module?  "a.b", not "onnx::MatMul_12" or "1234". */
static bool telling(const char *name)
{
    const char *dot = strpbrk(name, "./");
    return dot && dot[1] && isalpha((unsigned char)name[name[0] == '/']) && !strstr(name, "::");
}

static vram_sym path_of(struct vram_cx *cx, const struct vram_onnx *m, vram_sym name, uint32_t reader)
{
    char path[2 * LONGEST];
    const char *text = vram_sym_text(cx->syms, name);
    size_t n = 0;
    if (!telling(text) && reader) {
        const char *node = vram_sym_text(cx->syms, m->nodes.at[reader].name), *end = strrchr(node, '/');
        if (end)
            n = dotted(path, LONGEST, node, (size_t)(end - node));
        if (n)
            path[n++] = '.';
    }
    if (n) { /* the name is one part */
        for (const char *p = text; *p && n + 1 < sizeof path; p++)
            path[n++] = *p == '.' || *p == '/' ? '_' : *p;
    } else {
        n = dotted(path, sizeof path, text, strlen(text));
    }
    return vram_sym_add(cx->syms, path, n, 1);
}

/* What is computed with rather than learned: numbers of shapes and axes, scalars. */
static bool is_constant(const struct vram_onnx_tensor *t)
{
    bool packed = t->dtype != VRAM_DT_NONE && vram_dtypes[t->dtype].bits <= 8 && t->dtype != VRAM_DT_BOOL;
    return t->elements <= 1 || (!vram_dtype_is_float((enum vram_dtype)t->dtype) && !packed);
}

/* Running statistics of a BatchNormalization stand among the initializers as its weights do; torch has them as
 * buffers. */
static bool is_statistic(const struct vram_cx *cx, const struct vram_onnx *m, uint32_t value, uint32_t reader)
{
    const struct vram_onnx_node *node = &m->nodes.at[reader];
    if (!reader || node->domain || strcmp(vram_sym_text(cx->syms, node->op), "BatchNormalization"))
        return false;
    for (uint32_t k = 3; k < node->in.n; k++)
        if (m->edges.at[node->in.first + k] == value)
            return true;
    return false;
}

static int first_readers(struct vram_cx *cx, const struct vram_onnx *m, uint32_t **out)
{
    uint32_t *reader = vram_arena_array(cx->arena, m->values.n, sizeof *reader);
    if (!reader)
        return vram_fail_memory(cx);
    for (uint32_t i = 1; i < m->nodes.n; i++)
        for (uint32_t k = 0; k < m->nodes.at[i].in.n; k++) {
            uint32_t v = m->edges.at[m->nodes.at[i].in.first + k];
            if (v && !reader[v])
                reader[v] = i;
        }
    *out = reader;
    return VRAM_OK;
}

static int list_tensors(struct vram_loading *l, const struct vram_onnx *m)
{
    struct vram_cx *cx = l->cx;
    const struct vram_onnx_span span = m->graphs.at[1].initializers;
    uint32_t *reader = NULL;
    VRAM_TRY(first_readers(cx, m, &reader));
    l->out->tensors = vram_arena_array(cx->arena, span.n, sizeof *l->out->tensors);
    if (!l->out->tensors)
        return vram_fail_memory(cx);
    for (uint32_t i = 0; i < span.n; i++) {
        uint32_t value = m->edges.at[span.first + i];
        const struct vram_onnx_tensor *t = &m->tensors.at[m->values.at[value].tensor];
        vram_sym name = m->values.at[value].name, path = path_of(cx, m, name, reader[value]);
        if (path == VRAM_SYM_NONE)
            return vram_fail_memory(cx);
        l->out->tensors[i] = (struct vram_tensor){
            .name = name, .path = path, .dtype = t->dtype, .rank = (uint8_t)t->rank, .buffer = is_constant(t) || is_statistic(cx, m, value, reader[value]),
            .dims = t->dims, .bytes = t->bytes};
    }
    l->out->ntensors = span.n;
    return VRAM_OK;
}

int vram_load_onnx(struct vram_loading *l, const struct vram_folder *folder, const char *name)
{
    struct vram_cx *cx = l->cx;
    struct vram_onnx *m = vram_arena_alloc(cx->arena, sizeof *m);
    const char *path = vram_format(cx->arena, "%s/%s", folder->path, name);
    struct vram_file *file = vram_arena_alloc(cx->arena, sizeof *file);
    if (!m || !path || !file)
        return vram_fail_memory(cx);
    l->folder = *folder;
    VRAM_TRY(vram_onnx_load(cx, path, m));
    *file = (struct vram_file){.name = name, .size = m->file_bytes};
    l->out->files = file;
    l->out->nfiles = 1;
    l->out->format = "onnx";
    l->out->onnx = m;
    return list_tensors(l, m);
}
