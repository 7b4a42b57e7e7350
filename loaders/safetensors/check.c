/* SPDX-License-Identifier: Apache-2.0
 *
 * The checks that need all entries: sorted by place, the tensors must cover the data without gaps
 * or overlaps, each as large as its shape says.  In the reference: Metadata::validate.
 */
#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "safetensors/header.h"

void vram_where_tensor(struct vram_cx *cx, const char *file, vram_sym tensor)
{
    char shown[160];
    vram_escape(shown, sizeof shown, cx->syms->at[tensor].text, cx->syms->at[tensor].n);
    vram_where(cx, "%s: tensor '%s'", file, shown);
}

static bool before(const struct vram_span *a, const struct vram_span *b)
{
    return a->begin != b->begin ? a->begin < b->begin
         : a->end != b->end ? a->end < b->end : a->tensor < b->tensor;
}

static void sift(struct vram_span *at, size_t root, size_t n)
{
    struct vram_span x = at[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && before(&at[child], &at[child + 1]))
            child++;
        if (!before(&x, &at[child]))
            break;
        at[root] = at[child];
    }
    at[root] = x;
}

/* Heapsort: no memory, no bad case.  Files come sorted nearly always. */
static void sort(struct vram_span *at, size_t n)
{
    size_t i = 1;
    while (i < n && before(&at[i - 1], &at[i]))
        i++;
    if (i >= n)
        return;
    for (i = n / 2; i-- > 0;)
        sift(at, i, n);
    for (i = n; i-- > 1;) {
        struct vram_span x = at[0];
        at[0] = at[i];
        at[i] = x;
        sift(at, 0, i);
    }
}

static int fail_at(struct vram_cx *cx, const char *name, const struct vram_tensor *t, int code,
                   const char *format, unsigned long long a, unsigned long long b)
{
    int rc = vram_fail(cx, code, t->offset, format, a, b);
    vram_where_tensor(cx, name, t->name);
    return rc;
}

/* InvalidOffset.  A gap may be the fault of a tensor that was put far outside the file: then that
 * one, the last, is named. */
static int misplaced(struct vram_cx *cx, const char *name, const struct vram_tensors *tensors,
                     const struct vram_span *spans, size_t n, size_t at, uint64_t expected,
                     uint64_t data_there)
{
    const struct vram_span *s = &spans[at], *last = &spans[n - 1];
    if (s->end < s->begin)
        return fail_at(cx, name, &tensors->at[s->tensor], VRAM_E_FORMAT,
                       "data_offsets [%llu, %llu] end before they begin", s->begin, s->end);
    if (last->end > data_there && (n == 1 || last->begin != spans[n - 2].end))
        return fail_at(cx, name, &tensors->at[last->tensor], VRAM_E_FORMAT,
                       "data_offsets [%llu, %llu] lie outside the file's data", last->begin,
                       last->end);
    return fail_at(cx, name, &tensors->at[s->tensor], VRAM_E_FORMAT,
                   "its data begin at %llu, where the tensor before ends at %llu: data must follow "
                   "each other without gaps or overlaps", s->begin, expected);
}

static int check_one(struct vram_cx *cx, const char *name, const struct vram_tensor *t,
                     const struct vram_span *s)
{
    uint64_t bits = 1;
    bool fits = true;
    for (uint32_t i = 0; i < t->rank && fits; i++)
        fits = vram_mul_u64(bits, (uint64_t)t->dims[i], &bits);
    fits = fits && vram_mul_u64(bits, (uint64_t)vram_dtypes[t->dtype].bits, &bits);
    if (!fits)
        return fail_at(cx, name, t, VRAM_E_RANGE,
                       "the product of its dimensions does not fit 64 bits", 0, 0);
    if (bits % 8)
        return fail_at(cx, name, t, VRAM_E_FORMAT,
                       "its %llu bits do not fill whole bytes", bits, 0);
    if (bits / 8 != s->end - s->begin)
        return fail_at(cx, name, t, VRAM_E_FORMAT,
                       "shape and dtype make %llu bytes, data_offsets %llu", bits / 8,
                       s->end - s->begin);
    return VRAM_OK;
}

int vram_header_check(struct vram_cx *cx, const char *name, const struct vram_tensors *tensors,
                      struct vram_span *spans, size_t n, uint64_t data_there, uint64_t *data_end)
{
    uint64_t end = 0;
    sort(spans, n);
    for (size_t i = 0; i < n; i++) {
        const struct vram_span *s = &spans[i];
        if (s->begin != end || s->end < s->begin)
            return misplaced(cx, name, tensors, spans, n, i, end, data_there);
        VRAM_TRY(check_one(cx, name, &tensors->at[s->tensor], s));
        end = s->end;
    }
    if (end > cx->limits->bytes_total) {
        int rc = vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET,
                           "the tensors take %llu bytes, more than the limit of %llu",
                           (unsigned long long)end, (unsigned long long)cx->limits->bytes_total);
        vram_where(cx, "%s", name);
        return rc;
    }
    *data_end = end;
    return VRAM_OK;
}

void vram_part_text(char *out, size_t size, uint64_t part, uint64_t whole)
{
    static const struct {
        uint64_t unit;
        const char *name;
    } units[] = {{1000000000, "GB"}, {1000000, "MB"}, {1000, "kB"}};
    for (size_t i = 0; i < 3; i++) {
        uint64_t tenth = units[i].unit / 10;
        if (whole < units[i].unit)
            continue;
        /* rounded down, so that what is there never looks complete */
        if (part / tenth == whole / tenth)
            break;
        snprintf(out, size, "%llu.%llu of %llu.%llu %s", (unsigned long long)(part / tenth / 10),
                 (unsigned long long)(part / tenth % 10), (unsigned long long)(whole / tenth / 10),
                 (unsigned long long)(whole / tenth % 10), units[i].name);
        return;
    }
    snprintf(out, size, "%llu of %llu bytes", (unsigned long long)part, (unsigned long long)whole);
}
