/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies at a path, and who reads it.  One row for each format; the first bytes decide, the
 * name's end is only a hint for files that are damaged or no model at all.
 */
#include "loaders.h"

#include <stdio.h>
#include <string.h>

#include "hf/checkpoint.h"
#include "kind.h"
#include "onnx/checkpoint.h"
#include "source.h"

/* a file that the user pointed at */
struct given {
    const struct vram_folder *folder;
    const char *name;
    const char *head; /* its first bytes */
    size_t n;
};

static bool ends(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n >= k && !strcmp(name + n - k, suffix);
}

static bool is_safetensors(const struct given *file)
{
    const unsigned char *p = (const unsigned char *)file->head;
    return file->n > 8 && p[4] == 0 && p[5] == 0 && p[6] == 0 && p[7] == 0 && p[8] == '{';
}

static int open_safetensors(struct vram_loading *l, const struct given *file)
{
    return vram_load_file(l, file->folder, file->name);
}

static bool is_json(const struct given *file)
{
    const struct vram_kind *kind = vram_kind_of(file->head, file->n);
    return kind && !strcmp(kind->name, "json");
}

static bool is_index(const struct given *file)
{
    return is_json(file) && ends(file->name, ".json") && strstr(file->name, ".safetensors.index.");
}

static int open_index(struct vram_loading *l, const struct given *file)
{
    return vram_load_folder(l, file->folder);
}

static int open_config(struct vram_loading *l, const struct given *file)
{
    return vram_load_config(l, file->folder, file->name);
}

/* Protobuf has no magic: nearly all files begin with the IR version (field 1, a small number), and the
 * producer's name or the opset follow; gzip'd ones are known by their names. */
static bool is_onnx(const struct given *file)
{
    const unsigned char *p = (const unsigned char *)file->head;
    return !vram_kind_of(file->head, file->n) && file->n > 2 && p[0] == 0x08 && p[1] < 64 &&
           (p[2] == 0x12 || p[2] == 0x3a || p[2] == 0x42 || p[2] == 0x22);
}

static int open_onnx(struct vram_loading *l, const struct given *file)
{
    return vram_load_onnx(l, file->folder, file->name);
}

static const struct opener {
    const char *format, *help;
    const char *suffix;
    bool (*is)(const struct given *file);
    int (*open)(struct vram_loading *l, const struct given *file);
} openers[] = {
    {"safetensors", "a safetensors file, with the config.json beside it", ".safetensors",
     is_safetensors, open_safetensors},
    {"index", "the index of a sharded checkpoint: as its folder", ".safetensors.index.json",
     is_index, open_index},
    {"config", "a config.json alone: the model before its weights are there", ".json", is_json,
     open_config},
    {"onnx", "an ONNX graph, gzip'd or not, with its external data", ".onnx", is_onnx, open_onnx},
    {"onnxtxt", "an ONNX graph in ONNX's textual syntax", ".onnxtxt", is_onnx, open_onnx},
    {"onnx.gz", "a gzip'd ONNX graph", ".onnx.gz", is_onnx, open_onnx},
};

const char *vram_loader_format(size_t i)
{
    return i < sizeof openers / sizeof *openers ? openers[i].format : NULL;
}

const char *vram_loader_help(size_t i)
{
    return i < sizeof openers / sizeof *openers ? openers[i].help : NULL;
}

/* Errors say where in a file; here the file gets the folder that the caller gave, or the path is said when
 * the error is of no file.  A place that is too long loses its beginning. */
static void say_place(const struct vram_loading *l, const char *path)
{
    vram_error *e = l->cx->error;
    char shown[600], whole[900];
    const char *folder = l->folder.path ? l->folder.path : path;
    bool inside = e->where[0] != 0;
    if (inside && (l->placed || (!strcmp(folder, ".") && path[0] != '.')))
        return;
    vram_escape(shown, sizeof shown, inside ? folder : path, strlen(inside ? folder : path));
    size_t n = (size_t)snprintf(whole, sizeof whole, "%s%s%s", shown,
                                !inside || shown[strlen(shown) - 1] == '/' ? "" : "/", e->where);
    size_t cut = n < sizeof e->where ? 0 : n - (sizeof e->where - 4);
    snprintf(e->where, sizeof e->where, "%s%.252s", cut ? "..." : "", whole + cut);
}

static int open_given(struct vram_loading *l, const struct given *file)
{
    const size_t n = sizeof openers / sizeof *openers;
    for (size_t i = 0; i < n; i++)
        if (openers[i].is(file))
            return openers[i].open(l, file);
    for (size_t i = 0; i < n; i++)
        if (ends(file->name, openers[i].suffix))
            return openers[i].open(l, file);
    const struct vram_kind *kind = vram_kind_of(file->head, file->n);
    if (kind)
        return vram_fail(l->cx, VRAM_E_UNSUPPORTED, 0, "this is %s: %s", kind->is, kind->advice);
    return vram_fail(l->cx, VRAM_E_UNSUPPORTED, 0,
                     "this is no file that is known here: give a checkpoint folder, a .safetensors "
                     "file or a config.json");
}

/* path names a file: its folder and its name are what the loaders take */
static int load_file(struct vram_loading *l, const char *path)
{
    struct vram_cx *cx = l->cx;
    size_t n;
    const char *last = vram_path_last(path, &n);
    struct vram_folder folder;
    struct given file = {.folder = &folder};
    char *name = vram_arena_strndup(cx->arena, last, n);
    const char *parent = ".";
    if (last != path)
        parent = vram_arena_strndup(cx->arena, path, (size_t)(last - path));
    if (!name || !parent)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_folder_open(cx, parent, "", &folder));
    struct vram_source source;
    enum vram_presence presence;
    char head[VRAM_KIND_BYTES];
    VRAM_TRY(vram_source_open_given(cx, &folder, name, &source, &presence));
    if (presence != VRAM_PRESENT)
        return vram_fail(cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "there is no such file or folder");
    file.name = name;
    file.head = head;
    file.n = source.size < sizeof head ? (size_t)source.size : sizeof head;
    int rc = vram_source_read(cx, &source, 0, head, file.n);
    vram_source_close(&source);
    return rc ? rc : open_given(l, &file);
}

static int load_any(struct vram_loading *l, const char *path)
{
    struct vram_folder folder;
    if (!path[0])
        return vram_fail(l->cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "the path is empty");
    if (!vram_is_folder(path))
        return load_file(l, path);
    VRAM_TRY(vram_folder_open(l->cx, path, "", &folder));
    VRAM_TRY(vram_cache_snapshot(l->cx, &folder));
    return vram_load_folder(l, &folder);
}

int vram_load(struct vram_cx *cx, const char *path, const struct vram_load_options *options,
              struct vram_checkpoint *out)
{
    static const struct vram_load_options none;
    struct vram_loading l = {.cx = cx, .options = options ? options : &none, .out = out};
    *out = (struct vram_checkpoint){.path = path, .family = "", .class_name = "", .format = ""};
    size_t n;
    const char *last = vram_path_last(path, &n);
    out->path = vram_arena_strndup(cx->arena, path, strlen(path));
    out->name = vram_arena_strndup(cx->arena, last, n);
    int rc = out->path && out->name ? load_any(&l, path) : vram_fail_memory(cx);
    vram_loading_finish(&l);
    if (rc)
        say_place(&l, path);
    return rc;
}
