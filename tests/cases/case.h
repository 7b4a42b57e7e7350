/* SPDX-License-Identifier: Apache-2.0
 *
 * A case: operands, a few lines of template code, and what the real framework does with them.  The
 * form of the files is described in README.md.
 */
#ifndef VRAM_CASES_CASE_H
#define VRAM_CASES_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "ir/dtype.h"
#include "machine/machine.h"

enum { MAX_OPERANDS = 8, MAX_CODE = 2048, MAX_EXPECTED = 8192 };

struct operand {
    char name[16];
    enum vram_dtype dtype;
    int rank;
    int64_t shape[VRAM_MAX_RANK], stride[VRAM_MAX_RANK];
    bool strided;    /* strides are given */
    bool grad, param;
};

struct test_case {
    const char *file;
    unsigned line;
    char op[32];     /* first word of the header: the row it is about */
    char header[160];
    struct operand operand[MAX_OPERANDS];
    int noperands;
    struct operand gradient; /* layout of the root gradient when `strided` */
    char code[MAX_CODE];     /* the body, indented as a template's */
    char expected[MAX_EXPECTED];
    /* how it is run */
    enum vram_dtype autocast;
    enum vram_attention attention;
    bool card, eval;
};

/* The next case of a file's text; false at its end.  *at and *line move on.  Exits with a message
 * when the file is not in form. */
bool case_next(struct test_case *c, const char *file, const char **at, unsigned *line);

/* Runs it and writes what happened, in the form of the expectations. */
void case_run(const struct test_case *c, struct vram_text *out);

#endif
