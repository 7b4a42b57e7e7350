/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of the template language share: a text is parsed, linked, built as a model, run.
 */
#ifndef VRAM_TEST_TEXT_HELPER_H
#define VRAM_TEST_TEXT_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/model.h"
#include "ir/program.h"

struct text_test {
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_limits limits;
    struct vram_findings findings;
    vram_error error;
    struct vram_cx cx;
    struct vram_program program;
    struct vram_linker linker;
    bool built_in[64]; /* files that are parsed already */
    struct vram_tensor tensors[8];
    int64_t sizes[8];
    uint32_t ntensors;
    struct vram_tree tree;
};

/* Nothing parsed; errors may be provoked by limits. */
void text_begin(struct text_test *t);
void text_end(struct text_test *t);
/* A file of the user's. */
int text_parse(struct text_test *t, const char *name, const char *text);
/* After the last file: names that no file has come from the built-in ones. */
int text_link(struct text_test *t, const char *module);
/* A tensor of the checkpoint: one dimension, fp32. */
void text_tensor(struct text_test *t, const char *name, int64_t size);
/* A model of that class with this config.json ('…' stands for "…"). */
int text_build(struct text_test *t, const char *module, const char *config);
/* One step of training in fp32, of the model that was built. */
int text_run(struct text_test *t);

/* n times piece between two other texts; freed by the caller */
char *text_repeat(const char *before, const char *piece, int n, const char *after);

#endif
