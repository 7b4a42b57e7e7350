/* SPDX-License-Identifier: Apache-2.0
 *
 * The header's text into tensor rows; see header.h.  Knows the safetensors format (eight length
 * bytes, a JSON object, data), nothing of models.
 */
#include "safetensors/header.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "ir/dtype.h"
#include "json/json.h"
#include "kind.h"

enum { LENGTH_BYTES = 8, RANK_MAX = 64 };

struct spans {
    struct vram_span *at;
    size_t n, cap;
};

/* one header while it is read */
struct reader {
    struct vram_cx *cx;
    const char *name;
    uint32_t file;
    struct vram_tensors *tensors;
    struct vram_json json;
    struct spans spans; /* on the heap: they go when the header has been read */
};

int vram_header_length(struct vram_cx *cx, const void *head, size_t n, uint64_t size,
                       uint64_t *length)
{
    const unsigned char *p = head;
    uint64_t said = 0;
    for (size_t i = 0; i < LENGTH_BYTES && i < n; i++)
        said |= (uint64_t)p[i] << (8 * i);
    bool cut = n > LENGTH_BYTES && p[LENGTH_BYTES] == '{'; /* a header begins, but does not end */
    if (n < LENGTH_BYTES || said > cx->limits->header_bytes ||
        (said > size - LENGTH_BYTES && !cut)) {
        const struct vram_kind *kind = vram_kind_of(head, n);
        if (kind)
            return vram_fail(cx, VRAM_E_FORMAT, 0, "this is %s: %s", kind->is, kind->advice);
    }
    if (n < LENGTH_BYTES) /* HeaderTooSmall */
        return vram_fail(cx, VRAM_E_FORMAT, n,
                         "the file is %llu bytes long, too short for a safetensors header: "
                         "download it again", (unsigned long long)n);
    if (said > cx->limits->header_bytes) /* HeaderTooLarge */
        return vram_fail(cx, VRAM_E_LIMIT, 0,
                         "header length %llu is above the limit of %llu bytes: this is no "
                         "safetensors file, or a damaged one", (unsigned long long)said,
                         (unsigned long long)cx->limits->header_bytes);
    if (said > size - LENGTH_BYTES) /* InvalidHeaderLength */
        return vram_fail(cx, VRAM_E_FORMAT, 0,
                         "the header should be %llu bytes long, the file ends after %llu: the "
                         "download is incomplete, or this is no safetensors file",
                         (unsigned long long)said,
                         (unsigned long long)(size - LENGTH_BYTES));
    *length = LENGTH_BYTES + said;
    return VRAM_OK;
}

static int fail(struct reader *r, const char *what)
{
    return vram_fail(r->cx, VRAM_E_FORMAT, r->json.offset, "%s, found %s", what,
                     vram_json_token_name(r->json.token));
}

/* __metadata__: texts by name, or null.  Nothing of it is kept. */
static int metadata(struct reader *r)
{
    struct vram_json *j = &r->json;
    VRAM_TRY(vram_json_next(j));
    if (j->token == VRAM_JSON_NULL)
        return VRAM_OK;
    if (j->token != VRAM_JSON_OBJECT)
        return fail(r, "__metadata__ must be an object");
    for (;;) {
        VRAM_TRY(vram_json_next(j));
        if (j->token == VRAM_JSON_OBJECT_END)
            return VRAM_OK;
        VRAM_TRY(vram_json_next(j));
        if (j->token != VRAM_JSON_STRING)
            return fail(r, "__metadata__ must hold strings only");
    }
}

static int dtype(struct reader *r, struct vram_tensor *t)
{
    struct vram_json *j = &r->json;
    if (j->token != VRAM_JSON_STRING)
        return fail(r, "dtype must be a string");
    char plain[64], shown[64];
    size_t n = j->n < sizeof plain ? vram_json_decode(j, plain) : 0;
    t->dtype = (uint8_t)vram_dtype_by_safetensors(plain, n);
    if (t->dtype != VRAM_DT_NONE)
        return VRAM_OK;
    vram_escape(shown, sizeof shown, j->text, j->n);
    return vram_fail(r->cx, VRAM_E_FORMAT, j->offset,
                     "dtype '%s' is not one of the 22 that safetensors knows (F32, BF16, F16 ...)",
                     shown);
}

static int shape(struct reader *r, struct vram_tensor *t)
{
    struct vram_json *j = &r->json;
    int64_t dims[RANK_MAX];
    uint64_t most = r->cx->limits->rank < RANK_MAX ? r->cx->limits->rank : RANK_MAX, rank = 0;
    if (j->token != VRAM_JSON_ARRAY)
        return fail(r, "shape must be an array");
    for (;; rank++) {
        VRAM_TRY(vram_json_next(j));
        if (j->token == VRAM_JSON_ARRAY_END)
            break;
        if (j->token == VRAM_JSON_UINT)
            return vram_fail(r->cx, VRAM_E_RANGE, j->offset, "a dimension does not fit 63 bits");
        if (j->token == VRAM_JSON_INT && j->integer < 0)
            return vram_fail(r->cx, VRAM_E_FORMAT, j->offset, "a dimension is negative: %lld",
                             (long long)j->integer);
        if (j->token != VRAM_JSON_INT)
            return fail(r, "a dimension must be an integer");
        if (rank == most)
            return vram_fail(r->cx, VRAM_E_LIMIT, j->offset, "more than %llu dimensions",
                             (unsigned long long)most);
        dims[rank] = j->integer;
    }
    int64_t *kept = vram_arena_array(r->cx->arena, rank, sizeof *kept);
    if (!kept)
        return vram_fail_memory(r->cx);
    if (rank)
        memcpy(kept, dims, rank * sizeof *kept);
    t->dims = kept;
    t->rank = (uint8_t)rank;
    return VRAM_OK;
}

static int offsets(struct reader *r, struct vram_span *span)
{
    struct vram_json *j = &r->json;
    uint64_t *at[] = {&span->begin, &span->end};
    if (j->token != VRAM_JSON_ARRAY)
        return fail(r, "data_offsets must be an array of two integers");
    for (size_t i = 0; i < 2; i++) {
        VRAM_TRY(vram_json_next(j));
        if (j->token != VRAM_JSON_UINT && (j->token != VRAM_JSON_INT || j->integer < 0))
            return fail(r, "data_offsets must be two integers from 0 on");
        *at[i] = j->natural;
    }
    VRAM_TRY(vram_json_next(j));
    if (j->token != VRAM_JSON_ARRAY_END)
        return fail(r, "data_offsets must be two integers");
    return VRAM_OK;
}

/* the members of one tensor's object; unknown ones are skipped, as the reference does */
static int members(struct reader *r, struct vram_tensor *t, struct vram_span *span)
{
    static const char *const fields[] = {"dtype", "shape", "data_offsets"};
    struct vram_json *j = &r->json;
    unsigned seen = 0;
    VRAM_TRY(vram_json_next(j));
    if (j->token != VRAM_JSON_OBJECT)
        return fail(r, "an object with dtype, shape and data_offsets expected");
    for (;;) {
        VRAM_TRY(vram_json_next(j));
        if (j->token == VRAM_JSON_OBJECT_END)
            break;
        unsigned i = 0;
        while (i < 3 && !vram_json_is(j, fields[i]))
            i++;
        if (i == 3) {
            VRAM_TRY(vram_json_skip(j));
            continue;
        }
        if (seen & 1u << i)
            return vram_fail(r->cx, VRAM_E_FORMAT, j->offset, "%s stands twice", fields[i]);
        seen |= 1u << i;
        VRAM_TRY(vram_json_next(j));
        VRAM_TRY(i == 0 ? dtype(r, t) : i == 1 ? shape(r, t) : offsets(r, span));
    }
    for (unsigned i = 0; i < 3; i++)
        if (!(seen & 1u << i))
            return vram_fail(r->cx, VRAM_E_FORMAT, t->offset, "%s is missing", fields[i]);
    return VRAM_OK;
}

static int keep_span(struct reader *r, struct vram_span span)
{
    struct spans *s = &r->spans;
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 512;
        struct vram_span *at = vram_realloc(s->at, cap, sizeof *at);
        if (!at)
            return vram_fail_memory(r->cx);
        s->at = at;
        s->cap = cap;
    }
    s->at[s->n++] = span;
    return VRAM_OK;
}

static int append(struct reader *r, const struct vram_tensor *t, const struct vram_span *span)
{
    struct vram_tensors *all = r->tensors;
    uint32_t older = vram_symmap_get(&all->by_name, t->name);
    if (older && all->at[older - 1].file == r->file)
        return vram_fail(r->cx, VRAM_E_FORMAT, t->offset,
                         "the name stands twice in the header; the first is at byte %llu",
                         (unsigned long long)all->at[older - 1].offset);
    if (all->n >= r->cx->limits->tensors)
        return vram_fail(r->cx, VRAM_E_LIMIT, t->offset, "more than %llu tensors",
                         (unsigned long long)r->cx->limits->tensors);
    if (!vram_vec_push(all, r->cx->arena, *t) ||
        !vram_symmap_put(&all->by_name, r->cx->arena, t->name, (uint32_t)all->n))
        return vram_fail_memory(r->cx);
    return keep_span(r, *span);
}

static int entry(struct reader *r)
{
    struct vram_json *j = &r->json;
    struct vram_span span = {.tensor = (uint32_t)r->tensors->n};
    struct vram_tensor t = {.file = r->file, .offset = j->offset, .name = vram_json_sym(j)};
    if (t.name == VRAM_SYM_NONE)
        return vram_fail_memory(r->cx);
    t.path = t.name;
    int rc = VRAM_OK;
    if (memchr(r->cx->syms->at[t.name].text, 0, r->cx->syms->at[t.name].n))
        rc = vram_fail(r->cx, VRAM_E_FORMAT, t.offset, "the name holds a NUL character");
    if (!rc)
        rc = members(r, &t, &span);
    t.bytes = span.end - span.begin;
    if (!rc)
        rc = append(r, &t, &span);
    if (rc)
        vram_where_tensor(r->cx, r->name, t.name);
    return rc;
}

static int entries(struct reader *r, const char *text, size_t n)
{
    struct vram_json *j = &r->json;
    bool described = false;
    if (n == 0)
        return vram_fail(r->cx, VRAM_E_FORMAT, LENGTH_BYTES, "the header is empty");
    VRAM_TRY(vram_json_open(j, r->cx, text, n, LENGTH_BYTES, VRAM_JSON_STRICT));
    VRAM_TRY(vram_json_next(j));
    if (j->token != VRAM_JSON_OBJECT)
        return fail(r, "the header must be an object");
    /* one entry takes about 128 bytes of header */
    if (!vram_vec_room(r->tensors, r->cx->arena, n / 128 + 1))
        return vram_fail_memory(r->cx);
    for (;;) {
        VRAM_TRY(vram_json_next(j));
        if (j->token == VRAM_JSON_OBJECT_END)
            break;
        if (!vram_json_is(j, "__metadata__")) {
            VRAM_TRY(entry(r));
            continue;
        }
        if (described)
            return vram_fail(r->cx, VRAM_E_FORMAT, j->offset, "__metadata__ stands twice");
        described = true;
        VRAM_TRY(metadata(r));
    }
    return vram_json_next(j);
}

/* MetadataIncompleteBuffer in the reference */
static int compare_size(struct vram_cx *cx, const char *name, uint64_t size, uint64_t promised)
{
    char part[64];
    if (size < promised) {
        vram_part_text(part, sizeof part, size, promised);
        return vram_find(cx, VRAM_F_FILE_SHORT, name,
                         "%s there: the download is incomplete; sizes come from the header", part);
    }
    if (size > promised)
        return vram_find(cx, VRAM_F_FILE_LONG, name,
                         "%llu bytes follow after the last tensor that the header does not account "
                         "for",
                         (unsigned long long)(size - promised));
    return VRAM_OK;
}

int vram_header_parse(struct vram_cx *cx, const char *name, const void *bytes, size_t n,
                      uint64_t size, uint32_t file, struct vram_tensors *tensors,
                      struct vram_file *out)
{
    struct reader r = {.cx = cx, .name = name, .file = file, .tensors = tensors};
    uint64_t length = 0, data_end = 0;
    int rc = vram_header_length(cx, bytes, n, size, &length);
    if (!rc && length > n)
        rc = vram_fail(cx, VRAM_E_INTERNAL, VRAM_NO_OFFSET, "the header was not read to its end");
    if (!rc)
        rc = entries(&r, (const char *)bytes + LENGTH_BYTES, (size_t)length - LENGTH_BYTES);
    if (!rc)
        rc = vram_header_check(cx, name, tensors, r.spans.at, r.spans.n, size - length, &data_end);
    if (!rc)
        rc = compare_size(cx, name, size, length + data_end);
    if (!rc && r.spans.n == 0)
        rc = vram_find(cx, VRAM_F_FILE_NO_TENSORS, name,
                       "the header is sound but names no tensors");
    free(r.spans.at);
    if (rc) {
        vram_where(cx, "%s", name);
        return rc;
    }
    out->size = size;
    out->header_bytes = length;
    out->data_bytes = data_end;
    return VRAM_OK;
}

int vram_header_read(struct vram_cx *cx, const struct vram_source *source, uint32_t file,
                     struct vram_buffer *buffer, struct vram_tensors *tensors,
                     struct vram_file *out)
{
    size_t first = source->size < VRAM_KIND_BYTES ? (size_t)source->size : VRAM_KIND_BYTES;
    uint64_t length = 0;
    int rc = vram_buffer_reserve(buffer, VRAM_KIND_BYTES) ? VRAM_OK : vram_fail_memory(cx);
    if (!rc)
        rc = vram_source_read(cx, source, 0, buffer->at, first);
    if (!rc)
        rc = vram_header_length(cx, buffer->at, first, source->size, &length);
    if (!rc && length > first) {
        rc = vram_buffer_reserve(buffer, (size_t)length) ? VRAM_OK : vram_fail_memory(cx);
        if (!rc)
            rc = vram_source_read(cx, source, first, buffer->at + first, (size_t)length - first);
        first = (size_t)length;
    }
    if (rc) {
        vram_where(cx, "%s", source->name);
        return rc;
    }
    return vram_header_parse(cx, source->name, buffer->at, first, source->size, file, tensors, out);
}
