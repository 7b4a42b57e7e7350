/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the weight files of a folder are read.  Where a folder holds several copies, the order
 * is the one of transformers: one file, an index with shards, then variants; after them what
 * transformers itself would not take.  What was left aside is a finding.
 */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "hf/checkpoint.h"
#include "hf/listing.h"
#include "safetensors/index.h"

struct weights {
    struct vram_loading *l;
    struct vram_listing listing;
    const char *taken; /* what was read: a file or an index */
};

int vram_weights_file(struct vram_loading *l, const char *name, bool given,
                      enum vram_presence *presence)
{
    struct vram_source source;
    VRAM_TRY(given ? vram_source_open_given(l->cx, &l->folder, name, &source, presence)
                   : vram_source_open(l->cx, &l->folder, name, &source, presence));
    if (*presence != VRAM_PRESENT)
        return VRAM_OK;
    struct vram_file file = {.name = source.name};
    int rc = vram_header_read(l->cx, &source, (uint32_t)l->files.n, &l->buffer, &l->tensors, &file);
    vram_source_close(&source);
    if (!rc && !vram_vec_push(&l->files, l->cx->arena, file))
        rc = vram_fail_memory(l->cx);
    return rc;
}

/* a weight file that is named but cannot be read */
static int missing(struct vram_loading *l, const char *name, enum vram_presence presence)
{
    char escaped[270], shown[400];
    vram_escape(escaped, sizeof escaped, name, strlen(name));
    snprintf(shown, sizeof shown, "%s%s", l->folder.prefix, escaped);
    l->trouble = true;
    if (presence == VRAM_ESCAPING)
        return vram_find(l->cx, VRAM_F_SHARD_ESCAPE, shown,
                         "this is a link that leads out of the model's folder; it was not "
                         "followed");
    if (presence == VRAM_DANGLING)
        return vram_find(l->cx, VRAM_F_SHARD_MISSING, shown,
                         "this is a link to a file that is not there: download it again");
    return vram_find(l->cx, VRAM_F_SHARD_MISSING, shown,
                     "the file is not there: the download is incomplete");
}

/* Reads one file when it is there; else says why not and leaves taken unset. */
static int take_file(struct weights *w, const char *name)
{
    enum vram_presence presence;
    vram_listing_use(&w->listing, name);
    VRAM_TRY(vram_weights_file(w->l, name, false, &presence));
    if (presence != VRAM_PRESENT)
        return missing(w->l, name, presence);
    w->taken = name;
    return VRAM_OK;
}

static int take_shards(struct weights *w, struct vram_index *index)
{
    struct vram_loading *l = w->l;
    for (size_t i = 0; i < index->shards.n; i++) {
        struct vram_index_shard *s = &index->shards.at[i];
        const char *name = vram_sym_text(l->cx->syms, s->name);
        enum vram_presence presence;
        s->file = (uint32_t)l->files.n;
        VRAM_TRY(vram_weights_file(l, name, false, &presence));
        s->missing = presence != VRAM_PRESENT;
        if (s->missing) {
            l->out->partial = true;
            VRAM_TRY(missing(l, name, presence));
        }
        vram_listing_use(&w->listing, name);
    }
    return vram_index_compare(l->cx, index, l->files.at, &l->tensors);
}

static int take_index(struct weights *w, const char *name)
{
    struct vram_loading *l = w->l;
    struct vram_source source;
    struct vram_index index;
    enum vram_presence presence;
    vram_listing_use(&w->listing, name);
    VRAM_TRY(vram_source_open(l->cx, &l->folder, name, &source, &presence));
    if (presence != VRAM_PRESENT)
        return missing(l, name, presence);
    int rc = vram_source_json(l->cx, &source, &l->buffer);
    if (!rc)
        rc = vram_index_parse(l->cx, source.name, l->buffer.at, (size_t)source.size, &index);
    vram_source_close(&source);
    if (rc)
        return rc;
    w->taken = name;
    if (index.entries.n == 0)
        VRAM_TRY(vram_find(l->cx, VRAM_F_FILE_NO_TENSORS, source.name, "weight_map is empty"));
    return take_shards(w, &index);
}

/* "NAME-00001-of-00003.safetensors" → 3, and the length of NAME; 0 when it is not so */
static unsigned shard_count(const char *name, size_t *stem)
{
    const char *of = strstr(name, "-of-");
    unsigned at, n;
    int end = 0;
    if (!of || of - name < 6 || strlen(of) != strlen("-of-00003.safetensors"))
        return 0;
    const char *number = of - 6;
    if (sscanf(number, "-%5u-of-%5u.safetensors%n", &at, &n, &end) != 2 || number[end] || !end)
        return 0;
    *stem = (size_t)(number - name);
    return n;
}

/* Shards without an index: all that the first one's number promises. */
static int take_numbered(struct weights *w, const char *first)
{
    struct vram_loading *l = w->l;
    size_t stem = 0;
    unsigned n = shard_count(first, &stem);
    if (n == 0)
        return take_file(w, first);
    if (n > l->cx->limits->shards)
        return vram_fail(l->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "more than %llu weight files",
                         (unsigned long long)l->cx->limits->shards);
    struct vram_index index = {.name = NULL};
    for (unsigned i = 1; i <= n; i++) {
        char *name = vram_format(l->cx->arena, "%.*s-%05u-of-%05u.safetensors", (int)stem, first, i,
                                 n);
        vram_sym sym = name ? vram_sym_of(l->cx->syms, name) : VRAM_SYM_NONE;
        if (sym == VRAM_SYM_NONE ||
            !vram_vec_push(&index.shards, l->cx->arena, (struct vram_index_shard){.name = sym}))
            return vram_fail_memory(l->cx);
    }
    w->taken = first;
    return take_shards(w, &index);
}

/* shortest first, so that "model.safetensors" goes before "model.fp16.safetensors" */
static const char *shortest(const struct vram_listing *listing, enum vram_role role,
                            const char *begin)
{
    const char *best = NULL;
    for (size_t i = 0; i < listing->n; i++) {
        const struct vram_listed *f = &listing->at[i];
        if (f->role == role && !f->used && !strncmp(f->name, begin, strlen(begin)) &&
            (!best || strlen(f->name) < strlen(best)))
            best = f->name;
    }
    return best;
}

static const struct way {
    enum vram_role role;
    const char *begin; /* of the name */
    int (*take)(struct weights *w, const char *name);
} ways[] = {
    {VRAM_ROLE_SAFETENSORS, "model.safetensors", take_file},
    {VRAM_ROLE_INDEX, "model.safetensors.index.json", take_index},
    {VRAM_ROLE_SAFETENSORS, "model.", take_file}, /* model.fp16.safetensors */
    {VRAM_ROLE_INDEX, "", take_index},            /* model.safetensors.index.fp16.json */
    {VRAM_ROLE_SHARD, "", take_numbered},
    {VRAM_ROLE_SAFETENSORS, "", take_file},       /* gptq_model-4bit-128g.safetensors */
    {VRAM_ROLE_ORIGINAL, "", take_numbered},
    {VRAM_ROLE_ADAPTER, "", take_file},
};

/* several copies, or things beside the model: what was left aside */
static int left_aside(struct weights *w)
{
    const char *first = NULL, *adapter = NULL;
    unsigned n = 0;
    for (size_t i = 0; i < w->listing.n; i++) {
        const struct vram_listed *f = &w->listing.at[i];
        if (f->used)
            continue;
        if (f->role == VRAM_ROLE_ADAPTER)
            adapter = f->name;
        else if (n++ == 0)
            first = f->name;
    }
    struct vram_cx *cx = w->l->cx;
    char shown[300], other[300];
    if (adapter) {
        vram_escape(shown, sizeof shown, adapter, strlen(adapter));
        VRAM_TRY(vram_find(cx, VRAM_F_FILE_IGNORED, shown,
                           "an adapter lies beside whole weights; it was not applied"));
    }
    if (!n)
        return VRAM_OK;
    vram_escape(shown, sizeof shown, w->taken, strlen(w->taken));
    vram_escape(other, sizeof other, first, strlen(first));
    if (n == 1)
        return vram_find(cx, VRAM_F_FORMAT_CHOSEN, shown, "this was read; %s was left aside",
                         other);
    return vram_find(cx, VRAM_F_FORMAT_CHOSEN, shown,
                     "this was read; %s and %u more were left aside", other, n - 1);
}

/* nothing that can be read: sizes from the config, or an error */
static int none(struct weights *w)
{
    struct vram_loading *l = w->l;
    const struct vram_listed *other = NULL;
    char shown[300];
    if (l->optional)
        return VRAM_OK;
    l->out->partial = true;
    for (size_t i = 0; i < w->listing.n && !other; i++)
        if (w->listing.at[i].role == VRAM_ROLE_OTHER)
            other = &w->listing.at[i];
    if (other)
        vram_escape(shown, sizeof shown, other->name, strlen(other->name));
    if (other && l->config)
        return vram_find(l->cx, VRAM_F_NOT_OPENED, shown,
                         "this is %s, which is not opened: sizes come from config.json alone",
                         other->is);
    if (other) {
        int rc = vram_fail(l->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                           "this is %s, which is not opened, and there is no config.json to take "
                           "sizes from", other->is);
        vram_where(l->cx, "%s", shown);
        return rc;
    }
    if (l->config && !l->trouble)
        return vram_find(l->cx, VRAM_F_NO_WEIGHTS, "model.safetensors",
                         "neither it nor shards with an index are there: sizes come from "
                         "config.json alone");
    if (l->config)
        return VRAM_OK;
    if (l->config_link)
        return vram_fail(l->cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "config.json is %s, and %s",
                         l->config_link,
                         l->trouble ? "no weight file can be read" : "there are no weights");
    return vram_fail(l->cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "%s",
                     l->trouble
                         ? "no weight file can be read and there is no config.json"
                         : "there are neither weights nor a config.json: this is no checkpoint");
}

int vram_weights_load(struct vram_loading *l)
{
    struct weights w = {.l = l};
    VRAM_TRY(vram_listing_read(l->cx, l->folder.path, &w.listing));
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !w.taken; i++) {
        const char *name = shortest(&w.listing, ways[i].role, ways[i].begin);
        if (name)
            VRAM_TRY(ways[i].take(&w, name));
    }
    return w.taken ? left_aside(&w) : none(&w);
}
