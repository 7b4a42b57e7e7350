/* SPDX-License-Identifier: Apache-2.0
 *
 * What fuzz targets share: a context with its own memory for one input, and the entry point that
 * libFuzzer, or replay.c, calls.
 */
#ifndef VRAM_FUZZ_TARGET_H
#define VRAM_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct fuzz {
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_findings findings;
    vram_error error;
    struct vram_cx cx;
};

/* the error's code and position must make sense whatever the input was */
static inline void fuzz_check(const struct fuzz *f, int rc, size_t n)
{
    if (rc != f->error.code || (rc && !f->error.text[0]) || (rc && !f->error.where[0]) ||
        (f->error.offset != VRAM_NO_OFFSET && f->error.offset > n))
        abort();
}

static inline struct vram_cx *fuzz_begin(struct fuzz *f)
{
    *f = (struct fuzz){.error = {.offset = VRAM_NO_OFFSET}};
    vram_arena_init(&f->arena, 256u << 20);
    f->cx = (struct vram_cx){&f->arena, &f->syms, &vram_limits_default, &f->findings, &f->error};
    if (vram_syms_init(&f->syms, &f->arena))
        abort();
    return &f->cx;
}

static inline void fuzz_end(struct fuzz *f) { vram_arena_finish(&f->arena); }

#endif
