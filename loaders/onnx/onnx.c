/* SPDX-License-Identifier: Apache-2.0
 *
 * The way in; see onnx.h.
 */
#include "onnx/onnx.h"

#include <string.h>

#include "kind.h"
#include "onnx/gzip.h"
#include "onnx/raw.h"

/* Another kind of file under an ONNX name? */
static int check_kind(struct vram_cx *cx, struct onnx_wire *wire)
{
    const unsigned char *head;
    size_t n = VRAM_KIND_BYTES;
    VRAM_TRY(onnx_wire_head(wire, &head, &n));
    const struct vram_kind *kind = vram_kind_of(head, n);
    if (kind)
        return vram_fail(cx, VRAM_E_FORMAT, 0, "this is %s, not an ONNX model: %s", kind->is, kind->advice);
    /* safetensors: eight bytes of length, then an object */
    if (n >= 9 && !memcmp(head + 4, "\0\0\0\0{", 5))
        return vram_fail(cx, VRAM_E_FORMAT, 0, "this is a safetensors file, not an ONNX model: give it the suffix .safetensors");
    return VRAM_OK;
}

static int skim(struct onnx_load *l, struct onnx_wire *wire)
{
    struct onnx_skim s = {.wire = wire, .file = l->file, .ctx = l, .graph = onnx_graph, .part = onnx_part};
    VRAM_TRY(onnx_skim(&s));
    if (!s.main)
        return vram_fail(l->cx, VRAM_E_FORMAT, onnx_wire_offset(wire),
                         "the file ends without a graph: it is truncated or no ONNX model");
    l->main = s.main;
    l->out->file_bytes = onnx_wire_offset(wire);
    unsigned long long at = s.odd_name;
    if (s.graphs_merged)
        VRAM_TRY(onnx_note(l, VRAM_F_ONNX_GRAPH_TWICE, l->file, "a graph stands twice: both parts are joined, as protobuf has it"));
    if (s.trainings)
        VRAM_TRY(onnx_note(l, VRAM_F_ONNX_TRAINING, l->file, "training information was not read: only the graph is"));
    if (s.not_utf8)
        VRAM_TRY(onnx_note(l, VRAM_F_ONNX_NAME, l->file, "%llu names are not UTF-8, the first at byte %llu: shown with \\x",
                           (unsigned long long)s.not_utf8, at));
    if (s.with_nul)
        VRAM_TRY(onnx_note(l, VRAM_F_ONNX_NAME, l->file, "%llu names have a NUL byte in them, the first at byte %llu: shown as \\xc0\\x80",
                           (unsigned long long)s.with_nul, at));
    return VRAM_OK;
}

static bool first_elements(struct onnx_load *l)
{
    return vram_vec_push(&l->graphs, &l->raw, (struct raw_graph){0}) &&
           vram_vec_push(&l->functions, &l->raw, (struct raw_function){0}) &&
           vram_vec_push(&l->tensors, l->cx->arena, (struct vram_onnx_tensor){0}) &&
           vram_vec_push(&l->types, l->cx->arena, (struct vram_onnx_type){0});
}

static int load(struct vram_cx *cx, const char *file, const struct vram_folder *folder, struct onnx_wire *wire,
                struct vram_onnx *out)
{
    struct onnx_load *l = vram_arena_alloc(cx->arena, sizeof *l);
    if (!l)
        return vram_fail_memory(cx);
    *out = (struct vram_onnx){0};
    *l = (struct onnx_load){.cx = cx, .file = file, .folder = folder, .out = out};
    vram_arena_init(&l->raw, cx->limits->arena_bytes);
    int rc = first_elements(l) ? check_kind(cx, wire) : vram_fail_memory(cx);
    if (!rc)
        rc = skim(l, wire);
    onnx_external_close(l);
    if (!rc && l->opsets.n == 0)
        rc = onnx_note(l, VRAM_F_ONNX_OPSET, file, "no operator set is imported: version 1 is assumed");
    if (!rc)
        rc = onnx_make(l);
    if (!rc)
        rc = onnx_notes_out(l);
    if (rc && l->raw.capped && cx->error->code == VRAM_E_NOMEM)
        cx->error->code = rc = VRAM_E_LIMIT;
    if (rc)
        vram_where(cx, "%s", file);
    vram_arena_finish(&l->raw);
    return rc;
}

int vram_onnx_load_block(struct vram_cx *cx, const char *name, const void *bytes, size_t n, struct vram_onnx *out)
{
    struct onnx_wire wire;
    char shown[128];
    vram_escape(shown, sizeof shown, name, strlen(name));
    char *file = vram_arena_strndup(cx->arena, shown, strlen(shown));
    if (!file)
        return vram_fail_memory(cx);
    onnx_wire_block(&wire, cx, bytes, n);
    return load(cx, file, NULL, &wire, out);
}

static int load_source(struct vram_cx *cx, const struct vram_folder *folder, const struct vram_source *source,
                       struct vram_onnx *out)
{
    struct onnx_wire wire;
    int rc = onnx_wire_file(&wire, cx, source);
    if (!rc)
        rc = load(cx, source->name, folder, &wire, out);
    else
        vram_where(cx, "%s", source->name);
    onnx_wire_close(&wire);
    return rc;
}

/* A file of ONNX's textual syntax, whole. */
static int load_text(struct vram_cx *cx, const struct vram_source *source, struct vram_onnx *out)
{
    if (source->size > cx->limits->template_bytes)
        return vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "a text of more than %llu bytes",
                         (unsigned long long)cx->limits->template_bytes);
    char *text = vram_arena_array(cx->arena, (size_t)source->size + 1, 1);
    if (!text)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_source_read(cx, source, 0, text, (size_t)source->size));
    return vram_onnx_load_text(cx, source->name, text, (size_t)source->size, out);
}

bool vram_onnx_is_text(const char *path)
{
    static const char suffix[] = ".onnxtxt";
    size_t n = strlen(path), length = sizeof suffix - 1;
    return n > length && !memcmp(path + n - length, suffix, length);
}

int vram_onnx_source(struct vram_cx *cx, const char *path, struct vram_folder *in, struct vram_source *out)
{
    size_t n;
    const char *name = vram_path_last(path, &n);
    char *bare = vram_arena_strndup(cx->arena, name, n);
    char *parent = vram_arena_strndup(cx->arena, path, (size_t)(name - path));
    struct vram_folder folder;
    enum vram_presence presence;
    if (!bare || !parent)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_folder_open(cx, *parent ? parent : ".", "", &folder));
    VRAM_TRY(vram_source_open_given(cx, &folder, bare, out, &presence));
    if (presence != VRAM_PRESENT) {
        vram_where(cx, "%s", out->name);
        return vram_fail(cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "there is no such file");
    }
    if (in)
        *in = folder;
    return VRAM_OK;
}

int vram_onnx_load(struct vram_cx *cx, const char *path, struct vram_onnx *out)
{
    struct vram_folder folder;
    struct vram_source source;
    VRAM_TRY(vram_onnx_source(cx, path, &folder, &source));
    int rc = vram_onnx_is_text(path) ? load_text(cx, &source, out) : load_source(cx, &folder, &source, out);
    vram_source_close(&source);
    return rc;
}
