/* SPDX-License-Identifier: Apache-2.0
 *
 * See wire.h.
 */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#include "gzip.h"

enum { WINDOW = 64 * 1024, AFTER_SKIP = 4 * 1024 };

void onnx_wire_block(struct onnx_wire *w, struct vram_cx *cx, const void *bytes, size_t n)
{
    *w = (struct onnx_wire){.cx = cx, .window = bytes, .n = n, .size = n};
}

int onnx_wire_file(struct onnx_wire *w, struct vram_cx *cx, const struct vram_source *source)
{
    *w = (struct onnx_wire){.cx = cx, .source = source, .size = source->size, .next = WINDOW};
    w->buffer = vram_realloc(NULL, WINDOW, 1);
    w->window = w->buffer;
    if (!w->buffer)
        return vram_fail_memory(cx);
    unsigned char magic[2];
    if (source->size < sizeof magic)
        return VRAM_OK;
    VRAM_TRY(vram_source_read(cx, source, 0, magic, sizeof magic));
    if (!onnx_is_gzip(magic))
        return VRAM_OK;
    w->size = UINT64_MAX;
    return onnx_gzip_open(cx, source, &w->gzip);
}

void onnx_wire_close(struct onnx_wire *w)
{
    onnx_gzip_close(w->gzip);
    free(w->buffer);
    w->buffer = NULL;
    w->gzip = NULL;
}

/* More bytes behind those that are not read yet, which move to the window's start. */
static int fill(struct onnx_wire *w)
{
    if (!w->source)
        return VRAM_OK;
    size_t left = w->n - w->at;
    memmove(w->buffer, w->buffer + w->at, left);
    w->base += w->at;
    w->at = 0;
    w->n = left;
    size_t want = w->next < WINDOW - left ? w->next : WINDOW - left;
    w->next = WINDOW;
    if (w->gzip) {
        size_t got;
        VRAM_TRY(onnx_gzip_read(w->cx, w->gzip, w->buffer + left, want, &got));
        w->n += got;
        if (got < want)
            w->size = w->base + w->n;
        return VRAM_OK;
    }
    uint64_t from = w->base + left;
    if (want > w->size - from)
        want = (size_t)(w->size - from);
    VRAM_TRY(vram_source_read(w->cx, w->source, from, w->buffer + left, want));
    w->n += want;
    return VRAM_OK;
}

static int past_end(struct onnx_wire *w)
{
    return vram_fail(w->cx, VRAM_E_FORMAT, w->base + w->n,
                     "the file ends here, in the middle of its data: it is truncated, download or export it again");
}

int onnx_wire_head(struct onnx_wire *w, const unsigned char **head, size_t *n)
{
    if (w->n == w->at)
        VRAM_TRY(fill(w));
    *head = w->window + w->at;
    if (*n > w->n - w->at)
        *n = w->n - w->at;
    return VRAM_OK;
}

int onnx_wire_ended(struct onnx_wire *w, bool *ended)
{
    if (w->at == w->n)
        VRAM_TRY(fill(w));
    *ended = w->at == w->n;
    return VRAM_OK;
}

int onnx_wire_varint(struct onnx_wire *w, uint64_t *out)
{
    if (w->n - w->at < 10)
        VRAM_TRY(fill(w));
    const unsigned char *p = w->window + w->at;
    size_t most = w->n - w->at;
    uint64_t v = 0;
    for (size_t i = 0; i < 10; i++) {
        if (i == most)
            return past_end(w);
        v |= (uint64_t)(p[i] & 127) << (7 * i);
        if (p[i] < 128) {
            w->at += i + 1;
            *out = v;
            return VRAM_OK;
        }
    }
    return vram_fail(w->cx, VRAM_E_FORMAT, onnx_wire_offset(w),
                     "a number of more than 10 bytes: the file is damaged or no ONNX file");
}

int onnx_wire_read(struct onnx_wire *w, void *to, size_t n)
{
    unsigned char *at = to;
    while (n) {
        if (w->at == w->n) {
            VRAM_TRY(fill(w));
            if (w->at == w->n)
                return past_end(w);
        }
        size_t some = w->n - w->at < n ? w->n - w->at : n;
        memcpy(at, w->window + w->at, some);
        w->at += some;
        at += some;
        n -= some;
    }
    return VRAM_OK;
}

int onnx_wire_skip(struct onnx_wire *w, uint64_t n)
{
    while (n > w->n - w->at && w->gzip) {
        n -= w->n - w->at;
        w->at = w->n;
        VRAM_TRY(fill(w));
        if (w->at == w->n)
            return past_end(w);
    }
    if (n <= w->n - w->at) {
        w->at += (size_t)n;
        return VRAM_OK;
    }
    uint64_t to;
    if (!vram_add_u64(onnx_wire_offset(w), n, &to) || to > w->size) {
        w->base = w->size - w->n; /* the error names the end of the file */
        return past_end(w);
    }
    w->base = to;
    w->n = w->at = 0;
    w->next = AFTER_SKIP;
    return VRAM_OK;
}
