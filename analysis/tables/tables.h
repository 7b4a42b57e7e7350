/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about cards and libraries, one row each, with the source of every number.
 */
#ifndef VRAM_TABLES_TABLES_H
#define VRAM_TABLES_TABLES_H

#include <stddef.h>
#include <stdint.h>

struct vram_gpu_row {
    const char *short_name; /* "a100-80g": lower-case family-memory, SXM where both exist; for a
                               family with one size the family alone is an alias */
    const char *name;       /* "A100 SXM4 80GB" */
    const char *aliases;    /* further names, separated by ';' */
    const char *architecture;
    int sm;                /* compute capability times ten: 80, 90, 120; 0 for other makers */
    int sms;               /* multiprocessors; 0 = not known, and for other makers */
    uint64_t usable_bytes; /* what torch reports as total */
    const char *source;    /* "measured", "recalled", "derived" ... */
    int context_low, context_expected, context_high; /* MiB of a CUDA context */
};
extern const struct vram_gpu_row vram_gpus[];
extern const unsigned vram_gpus_count;
/* By short name, name or alias, without regard to case, spaces, '-' and '_'; "80GB" reads as "80g".
 * NULL when unknown. */
const struct vram_gpu_row *vram_gpu_find(const char *name);
/* Cards whose name holds the word ("a100"), else the one that is nearest by typing mistakes; how many. */
size_t vram_gpu_near(const char *word, const struct vram_gpu_row **out, size_t most);

/* Memory outside the tensors. */
struct vram_constant_row {
    const char *name; /* "cublas-workspace" */
    const char *unit; /* "bytes" or "count" */
    uint64_t low, expected, high;
    const char *when; /* the runs that it applies to */
    const char *source;
};
extern const struct vram_constant_row vram_constants[];
extern const unsigned vram_constants_count;
const struct vram_constant_row *vram_constant_find(const char *name); /* NULL when unknown */

#endif
