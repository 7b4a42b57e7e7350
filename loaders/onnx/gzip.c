/* SPDX-License-Identifier: Apache-2.0
 *
 * See gzip.h.  Members that follow each other are one file, as gzip has it.
 */
#include "gzip.h"

#include <stdlib.h>
#include <zlib.h>

enum { PACKED = 32 * 1024, ALWAYS = 1024 * 1024 /* unpacked bytes that no ratio forbids */ };

struct onnx_gzip {
    const struct vram_source *source;
    z_stream z;
    uint64_t at;       /* packed bytes that were read */
    uint64_t unpacked; /* bytes that were made */
    bool member;       /* inside one */
    unsigned char packed[PACKED];
};

static void *take(void *opaque, unsigned n, unsigned size)
{
    (void)opaque;
    return vram_realloc(NULL, n, size);
}

static void give(void *opaque, void *block)
{
    (void)opaque;
    free(block);
}

bool onnx_is_gzip(const unsigned char magic[2]) { return magic[0] == 0x1f && magic[1] == 0x8b; }

int onnx_gzip_open(struct vram_cx *cx, const struct vram_source *source, struct onnx_gzip **out)
{
    struct onnx_gzip *g = vram_realloc(NULL, 1, sizeof *g);
    if (!g)
        return vram_fail_memory(cx);
    *g = (struct onnx_gzip){.source = source, .z = {.zalloc = take, .zfree = give}, .member = true};
    if (inflateInit2(&g->z, 15 + 16) != Z_OK) { /* 16: a gzip header, nothing else */
        free(g);
        return vram_fail_memory(cx);
    }
    *out = g;
    return VRAM_OK;
}

void onnx_gzip_close(struct onnx_gzip *g)
{
    if (g)
        inflateEnd(&g->z);
    free(g);
}

static int load(struct vram_cx *cx, struct onnx_gzip *g)
{
    uint64_t left = g->source->size - g->at;
    size_t n = left < PACKED ? (size_t)left : PACKED;
    VRAM_TRY(vram_source_read(cx, g->source, g->at, g->packed, n));
    g->at += n;
    g->z.next_in = g->packed;
    g->z.avail_in = (unsigned)n;
    return VRAM_OK;
}

static int step(struct vram_cx *cx, struct onnx_gzip *g)
{
    int rc = inflate(&g->z, Z_NO_FLUSH);
    uint64_t at = g->at - g->z.avail_in;
    if (rc == Z_MEM_ERROR)
        return vram_fail_memory(cx);
    if (rc == Z_STREAM_END)
        g->member = false;
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        return vram_fail(cx, VRAM_E_FORMAT, at, "the gzip data are damaged%s%s: download the file again",
                         g->z.msg ? ": " : "", g->z.msg ? g->z.msg : "");
    return VRAM_OK;
}

int onnx_gzip_read(struct vram_cx *cx, struct onnx_gzip *g, unsigned char *to, size_t n, size_t *got)
{
    g->z.next_out = to;
    g->z.avail_out = (unsigned)n;
    while (g->z.avail_out) {
        if (!g->z.avail_in) {
            if (g->at == g->source->size) {
                if (g->member)
                    return vram_fail(cx, VRAM_E_FORMAT, g->at,
                                     "the gzip data end here, before their end: download the file again");
                break;
            }
            VRAM_TRY(load(cx, g));
        }
        if (!g->member) { /* zeros may follow, or another member */
            if (*g->z.next_in == 0) {
                g->z.next_in++;
                g->z.avail_in--;
                continue;
            }
            inflateReset(&g->z);
            g->member = true;
        }
        VRAM_TRY(step(cx, g));
    }
    *got = n - g->z.avail_out;
    g->unpacked += *got;
    uint64_t most = cx->limits->onnx_unpacked, ratio = cx->limits->onnx_ratio;
    if (g->unpacked > most || (g->unpacked > ALWAYS && g->unpacked / ratio > g->source->size))
        return vram_fail(cx, VRAM_E_LIMIT, g->at,
                         "the gzip'd file unpacks to more than %llu bytes or %llu times its size: unpack it first",
                         (unsigned long long)most, (unsigned long long)ratio);
    return VRAM_OK;
}
