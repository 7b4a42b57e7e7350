/* SPDX-License-Identifier: Apache-2.0
 *
 * For the loaders' tests: a context with memory of its own, small folders on disk, and checks of
 * errors whose place is drawn with a caret under the byte.
 */
#ifndef LOADERS_TEST_HELPER_H
#define LOADERS_TEST_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cx.h"
#include "ir/checkpoint.h"
#include "loaders.h"

struct world {
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_findings findings;
    struct vram_limits limits;
    vram_error error;
    struct vram_cx cx;
};

struct vram_cx *world_begin(struct world *w);
void world_end(struct world *w);
/* JSON in C without a forest of backslashes, so that carets stand where they point: `mark` stands
 * for a double quote.  q() makes a copy with ' as the mark; the last few copies stay valid. */
void requote(char *text, char mark);
const char *q(const char *text);
/* vram_load, which must succeed. */
void world_load(struct world *w, const char *path, struct vram_checkpoint *out);
/* vram_load with the n-th request for memory failing, for every n that happens. */
void world_sweep(const char *path, const char *tower);
/* How many findings of a kind there are; the text of the first, or "". */
unsigned world_found(const struct world *w, enum vram_finding_kind kind);
const char *world_finding(const struct world *w, enum vram_finding_kind kind);
const char *world_subject(const struct world *w, enum vram_finding_kind kind);
/* The error's code, its byte (base + where the caret stands) and a part of its text. */
void world_check(const struct world *w, int code, const char *caret, size_t base, const char *text);

/* A new folder under the temporary directory; `remove_folder` takes it and all in it away. */
char *make_folder(void);
void remove_folder(char *path);
/* folder/name into a static buffer. */
const char *at(const char *folder, const char *name);
void put_file(const char *folder, const char *name, const void *bytes, size_t n);
/* The text, with ' for a double quote. */
void put_text(const char *folder, const char *name, const char *text);
/* A safetensors file: length, header (with ' for a double quote), a hole of `data` bytes. */
void put_tensors(const char *folder, const char *name, const char *header, uint64_t data);
void put_folder(const char *folder, const char *name);
void put_link(const char *folder, const char *name, const char *target);
/* A header's entry of a float16 tensor; appends to text. */
void add_entry(char *text, size_t size, const char *name, const char *shape, uint64_t *offset,
               uint64_t bytes);

#endif
