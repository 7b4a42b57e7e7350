/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a folder; see listing.h.
 */
#include "hf/listing.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { ENTRIES_MAX = 1 << 20 };

/* the first row that fits decides */
static const struct pattern {
    const char *begin, *middle, *end;
    enum vram_role role;
    const char *is; /* NULL: no weights at all */
} patterns[] = {
    {"adapter_model", "", ".safetensors", VRAM_ROLE_ADAPTER, "adapter"},
    {"consolidated", "", ".safetensors", VRAM_ROLE_ORIGINAL, "original"},
    {"", "-of-", ".safetensors", VRAM_ROLE_SHARD, "shard"},
    {"", "", ".safetensors", VRAM_ROLE_SAFETENSORS, "safetensors"},
    {"", ".safetensors.index.", ".json", VRAM_ROLE_INDEX, "index"},
    {"", ".safetensors.index", ".json", VRAM_ROLE_INDEX, "index"},
    /* files of a training run */
    {"training_args", "", ".bin", VRAM_ROLE_OTHER, NULL},
    {"optimizer", "", "", VRAM_ROLE_OTHER, NULL},
    {"scheduler", "", "", VRAM_ROLE_OTHER, NULL},
    {"rng_state", "", "", VRAM_ROLE_OTHER, NULL},
    {"random_states", "", "", VRAM_ROLE_OTHER, NULL},
    {"scaler", "", "", VRAM_ROLE_OTHER, NULL},
    {"tokenizer", "", "", VRAM_ROLE_OTHER, NULL},
    /* weights that are not opened */
    {"pytorch_model_fsdp", "", "", VRAM_ROLE_OTHER, "a sharded FSDP checkpoint"},
    {"", "", ".bin", VRAM_ROLE_OTHER, "a pickle (torch.save)"},
    {"", "", ".pth", VRAM_ROLE_OTHER, "a pickle (torch.save)"},
    {"", "", ".pt", VRAM_ROLE_OTHER, "a pickle (torch.save)"},
    {"", "", ".ckpt", VRAM_ROLE_OTHER, "a pickle (torch.save)"},
    {"", "", ".gguf", VRAM_ROLE_OTHER, "a GGUF file (llama.cpp)"},
    {"", "", ".h5", VRAM_ROLE_OTHER, "a TensorFlow file"},
    {"", "", ".msgpack", VRAM_ROLE_OTHER, "a Flax file"},
    {"", "", ".ot", VRAM_ROLE_OTHER, "a Rust file"},
    {"", "", ".onnx", VRAM_ROLE_OTHER, "an ONNX file"},
};

static bool fits(const struct pattern *p, const char *name, size_t n)
{
    size_t begin = strlen(p->begin), end = strlen(p->end);
    return n >= begin + end && !strncmp(name, p->begin, begin) && !strcmp(name + n - end, p->end) &&
           strstr(name, p->middle);
}

static int keep(struct vram_cx *cx, const char *name, struct vram_listing *out)
{
    size_t n = strlen(name), i = 0;
    while (i < sizeof patterns / sizeof *patterns && !fits(&patterns[i], name, n))
        i++;
    if (i == sizeof patterns / sizeof *patterns || !patterns[i].is)
        return VRAM_OK;
    struct vram_listed l = {.role = patterns[i].role, .is = patterns[i].is};
    l.name = vram_arena_strndup(cx->arena, name, n);
    return l.name && vram_vec_push(out, cx->arena, l) ? VRAM_OK : vram_fail_memory(cx);
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct vram_listed *)a)->name, ((const struct vram_listed *)b)->name);
}

int vram_listing_read(struct vram_cx *cx, const char *path, struct vram_listing *out)
{
    *out = (struct vram_listing){0};
    DIR *dir = opendir(path);
    if (!dir)
        return vram_fail(cx, errno == ENOENT ? VRAM_E_NOTFOUND : VRAM_E_IO, VRAM_NO_OFFSET,
                         "the folder cannot be read");
    int rc = VRAM_OK;
    size_t seen = 0;
    for (struct dirent *e; !rc && (e = readdir(dir));) {
        if (++seen > ENTRIES_MAX)
            rc = vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "more than %d files in the folder",
                           ENTRIES_MAX);
        else if (e->d_name[0] != '.')
            rc = keep(cx, e->d_name, out);
    }
    closedir(dir);
    if (!rc && out->n)
        qsort(out->at, out->n, sizeof *out->at, compare);
    return rc;
}

void vram_listing_use(struct vram_listing *listing, const char *name)
{
    struct vram_listed key = {.name = name};
    struct vram_listed *found =
        listing->n ? bsearch(&key, listing->at, listing->n, sizeof key, compare) : NULL;
    if (found)
        found->used = true;
}
