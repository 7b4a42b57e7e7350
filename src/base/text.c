/* SPDX-License-Identifier: Apache-2.0
 *
 * Text sink; see text.h.
 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

void vram_text_init(struct vram_text *text, vram_write_fn write, void *ctx)
{
    text->write = write;
    text->ctx = ctx;
    text->failed = 0;
    text->n = 0;
}

static void drain(struct vram_text *text)
{
    if (!text->failed && text->n && text->write(text->ctx, text->buffer, text->n))
        text->failed = 1;
    text->n = 0;
}

void vram_text_put(struct vram_text *text, const char *bytes, size_t n)
{
    if (text->failed)
        return;
    if (n > sizeof text->buffer - text->n)
        drain(text);
    if (n > sizeof text->buffer) {
        if (!text->failed && text->write(text->ctx, bytes, n))
            text->failed = 1;
        return;
    }
    memcpy(text->buffer + text->n, bytes, n);
    text->n += n;
}

void vram_text_puts(struct vram_text *text, const char *string)
{
    vram_text_put(text, string, strlen(string));
}

void vram_text_printf(struct vram_text *text, const char *format, ...)
{
    char small[512];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof small) {
        vram_text_put(text, small, (size_t)n);
    } else if (n >= 0) {
        char *big = vram_realloc(NULL, (size_t)n + 1, 1);
        if (big) {
            vsnprintf(big, (size_t)n + 1, format, again);
            vram_text_put(text, big, (size_t)n);
            free(big);
        } else {
            text->failed = 1;
        }
    }
    va_end(again);
}

/* length of a well-formed UTF-8 sequence, 0 when malformed */
static size_t sequence(const unsigned char *p)
{
    size_t k = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
             : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < k; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return k;
}

void vram_text_json(struct vram_text *text, const char *string)
{
    const unsigned char *p = (const unsigned char *)string;
    vram_text_put(text, "\"", 1);
    while (*p) {
        size_t k = sequence(p);
        if (k == 0) {
            vram_text_puts(text, "\xef\xbf\xbd");
            p++;
        } else if (*p == '"' || *p == '\\') {
            char two[2] = {'\\', (char)*p++};
            vram_text_put(text, two, 2);
        } else if (*p < 0x20 || *p == 0x7f) {
            vram_text_printf(text, "\\u%04x", *p++);
        } else {
            vram_text_put(text, (const char *)p, k);
            p += k;
        }
    }
    vram_text_put(text, "\"", 1);
}

int vram_text_flush(struct vram_text *text)
{
    drain(text);
    return text->failed ? VRAM_E_CANCELED : VRAM_OK;
}

int vram_text_memory_write(void *memory, const char *text, size_t n)
{
    struct vram_text_memory *m = memory;
    if (n > SIZE_MAX / 2 - m->n)
        return -1;
    if (m->n + n + 1 > m->cap) {
        size_t cap = (m->n + n + 1) * 2;
        char *at = vram_realloc(m->at, cap, 1);
        if (!at)
            return -1;
        m->at = at;
        m->cap = cap;
    }
    memcpy(m->at + m->n, text, n);
    m->n += n;
    m->at[m->n] = 0;
    return 0;
}
