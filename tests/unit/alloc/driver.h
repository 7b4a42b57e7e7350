/* SPDX-License-Identifier: Apache-2.0
 *
 * A text driver for the caching allocator: "a=40M b@1=60M -a" allocates a (40 MiB), b (60 MiB on
 * stream 1) and frees a.  Sizes: bytes, or with K or M (also "10.5M").  Options:
 * "total=125829120 max_split=67108864 pow2=4 expandable=1".
 */
#ifndef TESTS_UNIT_ALLOC_DRIVER_H
#define TESTS_UNIT_ALLOC_DRIVER_H

#include "alloc/caching.h"

struct driver {
    struct vram_arena arena;
    vram_error error;
    struct vram_cx cx;
    struct vram_caching caching;
    uint64_t peak_allocated;
    char oom[24]; /* name of the request that did not fit; "" = none */
};

void driver_start(struct driver *d, const char *options);
void driver_finish(struct driver *d);
/* 0; or the library's code when anything but the modelled card's memory ran out */
int driver_play(struct driver *d, const char *sequence);

#endif
