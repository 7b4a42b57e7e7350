/* SPDX-License-Identifier: Apache-2.0
 *
 * The phases of a report as lines of a picture.  Micro-batches after the first and steps after the
 * second share a line: they are alike, and the line shows the highest.
 */
#ifndef VRAM_TOOLS_PHASES_H
#define VRAM_TOOLS_PHASES_H

#include <stdbool.h>
#include <stddef.h>

#include <vram/vram.h>

enum { PHASES_MOST = 96 };
enum phase_part { PHASE_PARAMETERS, PHASE_OPTIMIZER, PHASE_GRADIENTS, PHASE_ACTIVATIONS,
                  PHASE_OTHER, PHASE_PARTS };

struct phase_line {
    unsigned step, step_last, micro, micro_last; /* 0 = none */
    const char *what;                            /* "forward" */
    uint64_t peak, end;                          /* bytes of tensors */
    bool owner;                                  /* the peak of the run is in it */
    char label[128];                             /* "3-10 micro 2-8 forward" */
    uint64_t parts[PHASE_PARTS];                 /* of peak; see phases_divide */
};

struct phases {
    struct phase_line lines[PHASES_MOST];
    size_t n;
    uint64_t highest; /* at least 1 */
};

/* peak_phase: the one that owns the peak, or "". */
void phases_read(struct phases *phases, const vram_report *report, const char *peak_phase);
/* What the bytes at the peak of each line are, by running the plan again and following its events
 * (vram_dump).  0 or the library's code. */
int phases_divide(struct phases *phases, const vram_model *model, const vram_plan *plan,
                  vram_error *error);

#endif
