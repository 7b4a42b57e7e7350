/* SPDX-License-Identifier: Apache-2.0
 *
 * Payloads in files beside the model.  A location is a path below the model's own folder: no "..",
 * nothing absolute, no backslash, no link out of the model's tree.  Only sizes are looked at, and
 * payloads small enough to be kept are read.
 */
#include "onnx/raw.h"

#include <string.h>

#include "base/math.h"

struct entry {
    const char *location;
    const char *values[3]; /* of "offset", "length", "checksum" */
};

static const char *const known[] = {"offset", "length", "checksum"};

static int fail(struct onnx_load *l, const Onnx__TensorProto *p, const char *text)
{
    return vram_fail(l->cx, VRAM_E_FORMAT, onnx_mark_offset(&p->base), "%s", text);
}

static int keys(struct onnx_load *l, const Onnx__TensorProto *p, const struct onnx_who *who, struct entry *e)
{
    for (size_t i = 0; i < p->n_external_data; i++) {
        const Onnx__StringStringEntryProto *pair = p->external_data[i];
        const char *key = pair->key ? pair->key : "", *value = pair->value ? pair->value : "";
        const char **place = !strcmp(key, "location") ? &e->location : NULL;
        for (size_t k = 0; k < 3; k++)
            if (!strcmp(key, known[k]))
                place = &e->values[k];
        if (!place) {
            char shown[64];
            vram_escape(shown, sizeof shown, key, strlen(key));
            VRAM_TRY(onnx_note(l, VRAM_F_ONNX_EXTERNAL_KEY, onnx_at(l, who).text, "unknown key '%s' of external data", shown));
            continue;
        }
        if (*place)
            return vram_fail(l->cx, VRAM_E_FORMAT, onnx_mark_offset(&p->base),
                             "'%s' of external data stands twice", key);
        *place = value;
    }
    return e->location && *e->location ? VRAM_OK : fail(l, p, "external data without a location");
}

/* Is it a path that stays below the folder, as far as its text says? */
static int check_location(struct onnx_load *l, const Onnx__TensorProto *p, const char *path)
{
    if (strstr(path, "_ORT_MEM_ADDR_"))
        return fail(l, p, "the location stands for an address in another program's memory: save the model again");
    if (path[0] == '/' || strchr(path, '\\') || (path[0] && path[1] == ':'))
        return fail(l, p, "the location is absolute or has a backslash: it must be a path below the model's folder, with /");
    for (const char *at = path; *at; at += *at == '/') {
        size_t n = strcspn(at, "/");
        if (n == 2 && at[0] == '.' && at[1] == '.')
            return fail(l, p, "the location leaves the model's folder ('..')");
        at += n;
    }
    return VRAM_OK;
}

static int number(struct onnx_load *l, const Onnx__TensorProto *p, const char *text, const char *key, uint64_t *out)
{
    *out = 0;
    if (!*text)
        goto bad;
    for (const char *at = text; *at; at++)
        if (*at < '0' || *at > '9' || !vram_mul_u64(*out, 10, out) ||
            !vram_add_u64(*out, (uint64_t)(*at - '0'), out) || *out > INT64_MAX)
            goto bad;
    return VRAM_OK;
bad:
    return vram_fail(l->cx, VRAM_E_FORMAT, onnx_mark_offset(&p->base),
                     "%s of external data must be a whole number from 0 to 2^63 - 1", key);
}

static struct onnx_file *file_of(struct onnx_load *l, vram_sym name)
{
    while (l->files.n <= name)
        if (!vram_vec_push(&l->files, &l->raw, (struct onnx_file){0}))
            return NULL;
    return &l->files.at[name];
}

/* Opens the file unless it is the last one that was opened. */
static int open_file(struct onnx_load *l, vram_sym name, struct onnx_file *file)
{
    if (l->open_name == name)
        return VRAM_OK;
    onnx_external_close(l);
    enum vram_presence presence;
    VRAM_TRY(vram_source_open_below(l->cx, l->folder, vram_sym_text(l->cx->syms, name), &l->open, &presence));
    struct onnx_place shown = onnx_shown(l->cx, name);
    if (presence == VRAM_ESCAPING)
        return vram_fail(l->cx, VRAM_E_FORMAT, VRAM_NO_OFFSET,
                         "'%s' is a link out of the model's folder, which is not followed", shown.text);
    if (presence != VRAM_PRESENT) {
        file->state = ONNX_FILE_MISSING;
        return onnx_note(l, VRAM_F_ONNX_EXTERNAL_MISSING, l->file,
                         "the file of external data '%s' is not there: sizes are known, values are not", shown.text);
    }
    l->open_name = name;
    *file = (struct onnx_file){ONNX_FILE_THERE, l->open.size};
    return VRAM_OK;
}

void onnx_external_close(struct onnx_load *l)
{
    if (l->open_name)
        vram_source_close(&l->open);
    l->open_name = 0;
}

static int place(struct onnx_load *l, const struct onnx_who *who, struct vram_onnx_tensor *t)
{
    struct onnx_file *file = file_of(l, t->file);
    if (!file)
        return vram_fail_memory(l->cx);
    t->place = VRAM_ONNX_NOWHERE;
    if (file->state == ONNX_FILE_NEW)
        VRAM_TRY(open_file(l, t->file, file));
    if (file->state == ONNX_FILE_MISSING)
        return VRAM_OK;
    if (t->offset + t->stored > file->size)
        return onnx_note(l, VRAM_F_ONNX_EXTERNAL_SHORT, onnx_at(l, who).text,
                         "its data end at byte %llu of a file of %llu bytes: the file is truncated or not the model's",
                         (unsigned long long)(t->offset + t->stored), (unsigned long long)file->size);
    t->place = VRAM_ONNX_EXTERNAL;
    if (t->bytes == 0 || t->bytes > VRAM_ONNX_KEPT)
        return VRAM_OK;
    VRAM_TRY(open_file(l, t->file, file));
    if (file->state != ONNX_FILE_THERE) /* removed meanwhile */
        return VRAM_OK;
    unsigned char *data = vram_arena_alloc(l->cx->arena, (size_t)t->bytes);
    if (!data)
        return vram_fail_memory(l->cx);
    t->data = data;
    return vram_source_read(l->cx, &l->open, t->offset, data, (size_t)t->bytes);
}

int onnx_external(struct onnx_load *l, const Onnx__TensorProto *p, const struct onnx_who *who, struct vram_onnx_tensor *t)
{
    struct entry e = {0};
    uint64_t length = t->bytes, end;
    VRAM_TRY(keys(l, p, who, &e));
    VRAM_TRY(check_location(l, p, e.location));
    if (t->dtype == VRAM_DT_STRING)
        return fail(l, p, "strings cannot be external data");
    if (e.values[0])
        VRAM_TRY(number(l, p, e.values[0], "offset", &t->offset));
    if (e.values[1])
        VRAM_TRY(number(l, p, e.values[1], "length", &length));
    if (!vram_add_u64(t->offset, length, &end) || end > INT64_MAX)
        return fail(l, p, "offset and length of external data overflow");
    if (length != t->bytes)
        return vram_fail(l->cx, VRAM_E_FORMAT, onnx_mark_offset(&p->base),
                         "length of external data is %llu bytes, its dimensions and type make %llu",
                         (unsigned long long)length, (unsigned long long)t->bytes);
    t->stored = length;
    t->file = onnx_name(l, e.location);
    if (t->file == VRAM_SYM_NONE)
        return l->cx->error->code;
    t->place = VRAM_ONNX_NOWHERE;
    return l->folder ? place(l, who, t) : VRAM_OK;
}
