/* SPDX-License-Identifier: Apache-2.0
 *
 * What two answers are compared by: figures with names, from a prediction, from a report that was written
 * as JSON, or from what was measured.
 */
#ifndef VRAM_TOOLS_FACTS_H
#define VRAM_TOOLS_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include <vram/vram.h>

struct cli_args;

enum fact_kind { FACT_METER, FACT_FACTOR, FACT_COMPONENT, FACT_PHASE, FACT_MODEL, FACT_KINDS };

struct fact {
    enum fact_kind kind;
    char name[96];
    uint64_t value; /* bytes; of FACT_MODEL a number of parameters */
};

enum { FACTS = 512 };

struct facts {
    const char *path;
    char source[32]; /* "prediction", "report", "memory_stats", "nvidia-smi", "snapshot" */
    size_t n;
    struct fact at[FACTS]; /* beyond them facts are left out, and `more` says so */
    bool more;
};

/* The value of a fact; false: this side does not have it. */
bool facts_find(const struct facts *f, enum fact_kind kind, const char *name, uint64_t *out);
void facts_add(struct facts *f, enum fact_kind kind, const char *name, uint64_t value);

/* From a prediction. */
void facts_of_report(struct facts *f, const vram_report *report);
/* From a file: a report of `predict --format json`, torch.cuda.memory_stats() as JSON, or a table of
 * nvidia-smi --format=csv.  An enum cli_exit with the error printed; *is = false and 0 when the file is none
 * of them. */
int facts_of_file(struct facts *f, const char *path, bool *is);

#endif
