/* SPDX-License-Identifier: Apache-2.0
 *
 * Text sink: buffered, formatted output to a write function.  Independent of locale.  The first
 * failure sticks; later calls do nothing, so that only vram_text_flush need be checked.
 */
#ifndef VRAM_BASE_TEXT_H
#define VRAM_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "vram/vram.h"

struct vram_text {
    vram_write_fn write;
    void *ctx;
    int failed;
    size_t n;
    char buffer[4096];
};

void vram_text_init(struct vram_text *text, vram_write_fn write, void *ctx);
void vram_text_put(struct vram_text *text, const char *bytes, size_t n);
void vram_text_puts(struct vram_text *text, const char *string);
/* printf without locale-dependent conversions: use only %s %c %d %u %ll* %x and PRI macros */
__attribute__((format(printf, 2, 3))) void vram_text_printf(struct vram_text *text,
                                                            const char *format, ...);
/* a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD */
void vram_text_json(struct vram_text *text, const char *string);
/* 0 or VRAM_E_CANCELED */
int vram_text_flush(struct vram_text *text);

/* A sink that keeps everything in memory (grows by vram_realloc). */
struct vram_text_memory {
    char *at;
    size_t n, cap;
};
int vram_text_memory_write(void *memory, const char *text, size_t n);

#endif
