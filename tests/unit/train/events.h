/* SPDX-License-Identifier: Apache-2.0
 *
 * A prediction for tests: a bundled config, settings as on the command line, and the events of the
 * run as the dump prints them.
 */
#ifndef VRAM_TESTS_TRAIN_EVENTS_H
#define VRAM_TESTS_TRAIN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "vram/vram.h"

extern const char *fixtures_root; /* where fixtures/ lies; main sets it */

struct event {
    bool alloc, free;               /* neither: the storage changes its category */
    uint32_t storage;
    uint64_t bytes;                 /* alloc */
    char category[16], op[24], param[96], module[96]; /* alloc, but for category */
    const char *phase;              /* "step1.backward" */
};

struct run {
    vram_model *model;
    vram_plan *plan;
    struct vram_text_memory text;
    struct event *at;
    size_t n;
};

vram_model *open_config(const char *name);
vram_plan *plan_of(const char *settings); /* "key=value key=value" */
/* Opens, predicts and reads the events; a failure ends the test. */
void run_events(struct run *r, const char *config, const char *settings);
void run_free(struct run *r);

/* Behind the last event of a phase. */
size_t phase_end(const struct run *r, const char *phase);
/* Bytes alive behind the first `until` events, of a category (NULL: any), made by an op (NULL: any). */
uint64_t live(const struct run *r, size_t until, const char *category, const char *op);
/* What an op allocated in a phase. */
uint64_t allocated(const struct run *r, const char *phase, const char *op);

#endif
