/* SPDX-License-Identifier: Apache-2.0
 *
 * A prediction with some settings changed, reduced to what deciding needs.
 */
#ifndef VRAM_TOOLS_TRIAL_H
#define VRAM_TOOLS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include <vram/vram.h>

enum require { REQUIRE_LIKELY, REQUIRE_CERTAIN }; /* of a tight verdict: passes, does not */

struct change {
    const char *key, *value;
};

struct trial {
    bool ran;      /* the plan can be run; else error says why not */
    bool known;    /* the peak is known */
    vram_range allocated, reserved, device;
    uint64_t capacity; /* of the card, 0 without one */
    int verdict;       /* enum vram_verdict */
    vram_error error;
};

/* The plan with n changes on the model.  false: out of memory (told by the caller), else *out says
 * what came out.  gpu may be NULL: the plan's. */
bool trial_run(const vram_model *model, const vram_plan *plan, const char *gpu,
               const struct change *changes, size_t n, struct trial *out);
/* Would the run be let through? */
bool trial_passes(const struct trial *trial, enum require require);

/* Reads --require; NULL = likely.  An enum cli_exit, with the error printed. */
int trial_require(const char *text, enum require *out);

/* gpu=a,b of the words as a list, taken off the words: n names of at most TRIAL_GPUS in `names`, which
 * point into `text`.  An enum cli_exit, with the error printed. */
enum { TRIAL_GPUS = 32, TRIAL_GPU_TEXT = 2048 };
struct gpu_list {
    char text[TRIAL_GPU_TEXT];
    const char *names[TRIAL_GPUS];
    size_t n;
};
struct cli_args;
int trial_gpus(struct cli_args *args, struct gpu_list *out);

#endif
