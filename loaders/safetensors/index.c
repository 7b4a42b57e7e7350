/* SPDX-License-Identifier: Apache-2.0
 *
 * The index's text into a map; see index.h.
 */
#include "safetensors/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "json/json.h"

struct reader {
    struct vram_cx *cx;
    struct vram_index *index;
    struct vram_json json;
    struct vram_symmap tensors; /* name → entry + 1 */
    struct vram_symmap shards;  /* name → shard + 1 */
    uint32_t twice;             /* keys that stand twice */
    char first_twice[160];
};

static int fail(struct reader *r, const char *what)
{
    return vram_fail(r->cx, VRAM_E_FORMAT, r->json.offset, "%s, found %s", what,
                     vram_json_token_name(r->json.token));
}

static void note_twice(struct reader *r)
{
    if (r->twice++ == 0)
        vram_escape(r->first_twice, sizeof r->first_twice, r->json.text, r->json.n);
}

static int find_shard(struct reader *r, uint32_t *shard)
{
    struct vram_cx *cx = r->cx;
    vram_sym name = vram_json_sym(&r->json);
    if (name == VRAM_SYM_NONE)
        return vram_fail_memory(cx);
    uint32_t known = vram_symmap_get(&r->shards, name);
    if (!known) {
        char shown[160];
        vram_escape(shown, sizeof shown, cx->syms->at[name].text, cx->syms->at[name].n);
        if (!vram_name_is_bare(cx->syms->at[name].text, cx->syms->at[name].n))
            return vram_fail(cx, VRAM_E_FORMAT, r->json.offset,
                             "file name '%s' leads out of the model's folder: only names without "
                             "'/' are allowed", shown);
        if (r->index->shards.n >= cx->limits->shards)
            return vram_fail(cx, VRAM_E_LIMIT, r->json.offset, "more than %llu weight files",
                             (unsigned long long)cx->limits->shards);
        if (!vram_vec_push(&r->index->shards, cx->arena, (struct vram_index_shard){.name = name}) ||
            !vram_symmap_put(&r->shards, cx->arena, name, (uint32_t)r->index->shards.n))
            return vram_fail_memory(cx);
        known = (uint32_t)r->index->shards.n;
    }
    *shard = known - 1;
    return VRAM_OK;
}

static int entry(struct reader *r)
{
    struct vram_cx *cx = r->cx;
    struct vram_json *j = &r->json;
    vram_sym tensor = vram_json_sym(j);
    if (tensor == VRAM_SYM_NONE)
        return vram_fail_memory(cx);
    uint32_t older = vram_symmap_get(&r->tensors, tensor), shard = 0;
    if (older)
        note_twice(r);
    else if (r->index->entries.n >= cx->limits->tensors)
        return vram_fail(cx, VRAM_E_LIMIT, j->offset, "more than %llu tensors",
                         (unsigned long long)cx->limits->tensors);
    int rc = vram_json_next(j);
    if (!rc && j->token != VRAM_JSON_STRING)
        rc = fail(r, "a file name expected");
    if (!rc)
        rc = find_shard(r, &shard);
    if (rc) {
        vram_where_tensor(cx, r->index->name, tensor);
        return rc;
    }
    if (older) {
        r->index->entries.at[older - 1].shard = shard;
        return VRAM_OK;
    }
    if (!vram_vec_push(&r->index->entries, cx->arena, (struct vram_index_entry){tensor, shard}) ||
        !vram_symmap_put(&r->tensors, cx->arena, tensor, (uint32_t)r->index->entries.n))
        return vram_fail_memory(cx);
    return VRAM_OK;
}

static int weight_map(struct reader *r)
{
    struct vram_json *j = &r->json;
    VRAM_TRY(vram_json_next(j));
    if (j->token != VRAM_JSON_OBJECT)
        return fail(r, "weight_map must be an object of tensor names and file names");
    /* a second weight_map replaces the first */
    r->index->entries.n = r->index->shards.n = 0;
    vram_symmap_clear(&r->tensors);
    vram_symmap_clear(&r->shards);
    for (;;) {
        VRAM_TRY(vram_json_next(j));
        if (j->token == VRAM_JSON_OBJECT_END)
            return VRAM_OK;
        VRAM_TRY(entry(r));
    }
}

static int total_size(struct reader *r)
{
    struct vram_json *j = &r->json;
    VRAM_TRY(vram_json_next(j));
    r->index->has_total = true;
    if (j->token == VRAM_JSON_UINT || (j->token == VRAM_JSON_INT && j->integer >= 0))
        r->index->total = j->natural;
    else if (j->token == VRAM_JSON_FLOAT && j->real >= 0 && j->real < 4e18)
        r->index->total = (uint64_t)j->real; /* 1.3e10: some tools write it so */
    else {
        r->index->has_total = false;
        VRAM_TRY(vram_find(r->cx, VRAM_F_INDEX_TOTAL, r->index->name,
                           "metadata.total_size must be an integer, found %s; it was not checked",
                           vram_json_token_name(j->token)));
        VRAM_TRY(vram_json_skip(j));
    }
    return VRAM_OK;
}

static int metadata(struct reader *r)
{
    struct vram_json *j = &r->json;
    VRAM_TRY(vram_json_next(j));
    if (j->token != VRAM_JSON_OBJECT)
        return vram_json_skip(j);
    for (bool seen = false;;) {
        VRAM_TRY(vram_json_next(j));
        if (j->token == VRAM_JSON_OBJECT_END)
            return VRAM_OK;
        if (!vram_json_is(j, "total_size")) {
            VRAM_TRY(vram_json_skip(j));
            continue;
        }
        if (seen)
            note_twice(r);
        seen = true;
        VRAM_TRY(total_size(r));
    }
}

static int members(struct reader *r)
{
    struct vram_json *j = &r->json;
    bool has_map = false;
    VRAM_TRY(vram_json_next(j));
    if (j->token != VRAM_JSON_OBJECT)
        return fail(r, "an object with weight_map expected");
    for (;;) {
        VRAM_TRY(vram_json_next(j));
        if (j->token == VRAM_JSON_OBJECT_END)
            break;
        if (vram_json_is(j, "weight_map")) {
            if (has_map)
                note_twice(r);
            has_map = true;
            VRAM_TRY(weight_map(r));
        } else if (vram_json_is(j, "metadata")) {
            VRAM_TRY(metadata(r));
        } else {
            VRAM_TRY(vram_json_skip(j));
        }
    }
    if (!has_map)
        return vram_fail(r->cx, VRAM_E_FORMAT, j->offset, "weight_map is missing");
    return vram_json_next(j);
}

struct by_name {
    const char *text;
    uint32_t shard;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct by_name *)a)->text, ((const struct by_name *)b)->text);
}

/* Shards in the order of their names, so that nothing depends on the order in the index. */
static int sort_shards(struct vram_cx *cx, struct vram_index *index)
{
    size_t n = index->shards.n;
    struct by_name *order = vram_arena_array(cx->arena, n, sizeof *order);
    struct vram_index_shard *sorted = vram_arena_array(cx->arena, n, sizeof *sorted);
    uint32_t *number = vram_arena_array(cx->arena, n, sizeof *number);
    if (!order || !sorted || !number)
        return vram_fail_memory(cx);
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct by_name){vram_sym_text(cx->syms, index->shards.at[i].name), i};
    if (n)
        qsort(order, n, sizeof *order, compare_names);
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = index->shards.at[order[i].shard];
        number[order[i].shard] = i;
    }
    index->shards.at = sorted;
    index->shards.cap = n;
    for (size_t i = 0; i < index->entries.n; i++)
        index->entries.at[i].shard = number[index->entries.at[i].shard];
    return VRAM_OK;
}

int vram_index_parse(struct vram_cx *cx, const char *name, const void *bytes, size_t n,
                     struct vram_index *out)
{
    *out = (struct vram_index){.name = name};
    struct reader r = {.cx = cx, .index = out};
    int rc = vram_json_open(&r.json, cx, bytes, n, 0, VRAM_JSON_LENIENT);
    if (!rc)
        rc = members(&r);
    if (!rc)
        rc = sort_shards(cx, out);
    if (rc)
        vram_where(cx, "%s", name);
    if (rc || !r.twice)
        return rc;
    if (r.twice == 1)
        return vram_find(cx, VRAM_F_JSON_DUPLICATE, name,
                         "key '%s' stands twice; the last value was taken", r.first_twice);
    return vram_find(cx, VRAM_F_JSON_DUPLICATE, name,
                     "key '%s' and %u others stand twice; the last values were taken",
                     r.first_twice, r.twice - 1);
}

/* ---- the index against the shards ------------------------------------------------------------ */

/* one kind of oddity of one file: the first one's name, and how many more */
struct odd {
    vram_sym first;
    uint32_t n;
    uint32_t file; /* of the first: where it is instead, + 1 */
};

static void add_odd(struct odd *odd, vram_sym name, uint32_t file)
{
    if (odd->n++ == 0) {
        odd->first = name;
        odd->file = file;
    }
}

static int report(struct vram_cx *cx, enum vram_finding_kind kind, const char *file,
                  const struct odd *odd, const char *text, const char *more)
{
    char shown[160], others[48] = "";
    if (!odd->n)
        return VRAM_OK;
    vram_escape(shown, sizeof shown, cx->syms->at[odd->first].text, cx->syms->at[odd->first].n);
    if (odd->n > 1)
        snprintf(others, sizeof others, " (and %u more)", odd->n - 1);
    return vram_find(cx, kind, file, "tensor '%s'%s %s%s", shown, others, text, more);
}

/* Leaves one of each name: where the index says, else the first. */
static int drop_twins(struct vram_cx *cx, const struct vram_index *index,
                      const struct vram_symmap *listed, const struct vram_file *files,
                      struct vram_tensors *tensors, struct odd *odd)
{
    struct vram_symmap *by_name = &tensors->by_name;
    vram_symmap_clear(by_name);
    for (uint32_t i = 0; i < tensors->n; i++) {
        struct vram_tensor *t = &tensors->at[i];
        uint32_t entry = vram_symmap_get(listed, t->name);
        uint32_t older = vram_symmap_get(by_name, t->name);
        const struct vram_index_shard *meant =
            entry ? &index->shards.at[index->entries.at[entry - 1].shard] : NULL;
        if (older && meant && !meant->missing && meant->file == t->file)
            older = 0; /* this one is meant: it replaces the older one */
        if (!older && !vram_symmap_put(by_name, cx->arena, t->name, i + 1))
            return vram_fail_memory(cx);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tensors->n; i++) {
        struct vram_tensor t = tensors->at[i];
        uint32_t best = vram_symmap_get(by_name, t.name);
        if (best != i + 1) {
            add_odd(&odd[t.file], t.name, 0);
            continue;
        }
        tensors->at[kept++] = t;
    }
    tensors->n = kept;
    for (uint32_t i = 0; i < kept; i++)
        vram_symmap_put(by_name, cx->arena, tensors->at[i].name, i + 1);
    for (size_t i = 0; i < index->shards.n; i++) {
        const struct vram_index_shard *s = &index->shards.at[i];
        if (!s->missing)
            VRAM_TRY(report(cx, VRAM_F_TENSOR_TWICE, files[s->file].name, &odd[s->file],
                            "is in another shard too; it was counted once", ""));
    }
    return VRAM_OK;
}

static int find_absent(struct vram_cx *cx, const struct vram_index *index,
                       const struct vram_file *files, const struct vram_tensors *tensors,
                       struct odd *odd, uint64_t *sum, bool *complete)
{
    for (size_t i = 0; i < index->entries.n; i++) {
        const struct vram_index_entry *e = &index->entries.at[i];
        const struct vram_index_shard *s = &index->shards.at[e->shard];
        uint32_t there = vram_symmap_get(&tensors->by_name, e->tensor);
        if (there)
            *sum += tensors->at[there - 1].bytes;
        else
            *complete = false;
        if (s->missing || (there && tensors->at[there - 1].file == s->file))
            continue;
        add_odd(&odd[s->file], e->tensor, there ? tensors->at[there - 1].file + 1 : 0);
    }
    for (size_t i = 0; i < index->shards.n; i++) {
        const struct vram_index_shard *s = &index->shards.at[i];
        if (s->missing)
            continue;
        const struct odd *o = &odd[s->file];
        VRAM_TRY(report(cx, VRAM_F_INDEX_TENSOR_MISSING, files[s->file].name, o,
                        o->file ? "is not in this shard, as the index says, but in "
                                : "is not in this shard, although the index says so",
                        o->file ? files[o->file - 1].name : ""));
    }
    return VRAM_OK;
}

static int find_unlisted(struct vram_cx *cx, const struct vram_index *index,
                         const struct vram_symmap *listed, const struct vram_file *files,
                         const struct vram_tensors *tensors, struct odd *odd)
{
    for (uint32_t i = 0; i < tensors->n; i++)
        if (!vram_symmap_get(listed, tensors->at[i].name))
            add_odd(&odd[tensors->at[i].file], tensors->at[i].name, 0);
    for (size_t i = 0; i < index->shards.n; i++) {
        const struct vram_index_shard *s = &index->shards.at[i];
        if (!s->missing)
            VRAM_TRY(report(cx, VRAM_F_INDEX_TENSOR_UNLISTED, files[s->file].name, &odd[s->file],
                            "is not listed in ", index->name));
    }
    return VRAM_OK;
}

int vram_index_compare(struct vram_cx *cx, const struct vram_index *index,
                       const struct vram_file *files, struct vram_tensors *tensors)
{
    uint32_t nfiles = 0;
    for (size_t i = 0; i < index->shards.n; i++)
        if (!index->shards.at[i].missing && index->shards.at[i].file >= nfiles)
            nfiles = index->shards.at[i].file + 1;
    struct odd *odd = vram_arena_array(cx->arena, (size_t)nfiles * 3, sizeof *odd);
    struct vram_symmap listed = {0};
    if (!odd)
        return vram_fail_memory(cx);
    for (uint32_t i = 0; i < index->entries.n; i++)
        if (!vram_symmap_put(&listed, cx->arena, index->entries.at[i].tensor, i + 1))
            return vram_fail_memory(cx);
    uint64_t sum = 0;
    bool complete = true;
    VRAM_TRY(drop_twins(cx, index, &listed, files, tensors, odd));
    if (!index->name)
        return VRAM_OK;
    VRAM_TRY(find_absent(cx, index, files, tensors, odd + nfiles, &sum, &complete));
    VRAM_TRY(find_unlisted(cx, index, &listed, files, tensors, odd + 2 * (size_t)nfiles));
    if (complete && index->has_total && index->total != sum)
        return vram_find(cx, VRAM_F_INDEX_TOTAL, index->name,
                         "metadata.total_size is %llu, the tensors take %llu bytes",
                         (unsigned long long)index->total, (unsigned long long)sum);
    return VRAM_OK;
}
