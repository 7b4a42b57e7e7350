/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors as values and findings; see cx.h.  Knows no file format and no model.
 */
#include "base/cx.h"

#include <stdio.h>
#include <string.h>

#include "base/vec.h"

const struct vram_finding_row vram_finding_rows[VRAM_F_COUNT] = {
#define VRAM_FINDING(name, id, severity, text) {id, #name, severity, text},
#include "base/findings.def"
#undef VRAM_FINDING
};

const char *vram_code_name(int code)
{
    static const char *const names[] = {"ok",       "nomem",   "io",       "format",   "limit",
                                        "unsupported", "conflict", "unbound", "argument", "notfound",
                                        "range",    "canceled", "internal"};
    int n = -code;
    return n >= 0 && n < (int)(sizeof names / sizeof *names) ? names[n] : "unknown";
}

int vram_fail(struct vram_cx *cx, int code, uint64_t offset, const char *format, ...)
{
    vram_error *e = cx->error;
    if (e->code != VRAM_OK)
        return e->code;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    e->code = code;
    e->offset = offset;
    return code;
}

int vram_fail_memory(struct vram_cx *cx)
{
    if (cx->arena->capped)
        return vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET,
                         "the tool's own limit of %llu bytes of host memory is reached; this says nothing "
                         "of the card",
                         (unsigned long long)cx->arena->cap);
    return vram_fail(cx, VRAM_E_NOMEM, VRAM_NO_OFFSET, "out of memory");
}

void vram_where(struct vram_cx *cx, const char *format, ...)
{
    if (cx->error->where[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(cx->error->where, sizeof cx->error->where, format, args);
    va_end(args);
}

char *vram_vformat(struct vram_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = n < 0 ? NULL : vram_arena_alloc(arena, (size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

char *vram_format(struct vram_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = vram_vformat(arena, format, args);
    va_end(args);
    return text;
}

int vram_find(struct vram_cx *cx, enum vram_finding_kind kind, const char *subject,
              const char *format, ...)
{
    struct vram_findings *f = cx->findings;
    if (!f)
        return VRAM_OK;
    va_list args;
    va_start(args, format);
    const char *text = vram_vformat(cx->arena, format, args);
    va_end(args);
    const char *about = vram_arena_strndup(cx->arena, subject, strlen(subject));
    if (!text || !about)
        return vram_fail_memory(cx);
    for (size_t i = 0; i < f->n; i++)
        if (f->at[i].kind == kind && !strcmp(f->at[i].subject, about) &&
            !strcmp(f->at[i].text, text))
            return VRAM_OK;
    if (f->n >= VRAM_MAX_FINDINGS) /* a broken file may give one for each of its tensors */
        return VRAM_OK;
    if (f->n == VRAM_MAX_FINDINGS - 1) {
        kind = VRAM_F_MORE;
        about = "";
        text = "there are more; the first are shown";
    }
    if (!vram_vec_push(f, cx->arena, (struct vram_finding){kind, about, text}))
        return vram_fail_memory(cx);
    return VRAM_OK;
}

/* length of the valid UTF-8 sequence at p (1 for ASCII), 0 when there is none */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    size_t k = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
             : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    if (k == 0 || k > n)
        return 0;
    for (size_t i = 1; i < k; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if (k == 2 && p[0] == 0xc2 && p[1] < 0xa0) /* C1 control characters */
        return 0;
    return k;
}

void vram_escape(char *out, size_t size, const char *text, size_t n)
{
    size_t at = 0;
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0; i < n;) {
        size_t k = utf8_length(p + i, n - i);
        int plain = k > 1 || (k == 1 && p[i] >= 0x20 && p[i] != 0x7f);
        if (at + (plain ? k : 4) + 1 > size)
            break;
        if (plain) {
            memcpy(out + at, p + i, k);
            at += k;
            i += k;
        } else {
            at += (size_t)snprintf(out + at, 5, "\\x%02x", p[i]);
            i++;
        }
    }
    if (size)
        out[at] = 0;
}
