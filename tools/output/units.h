/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes and counts as people read them, in integer arithmetic: no locale, the same digits anywhere.
 */
#ifndef VRAM_TOOLS_UNITS_H
#define VRAM_TOOLS_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* One unit and number of decimals for a whole page, so that its figures can be compared and added
 * up. */
struct scale {
    uint64_t unit;    /* bytes */
    const char *name; /* "GiB" */
    unsigned decimals;
    uint64_t fine;    /* 10^decimals: figures are whole numbers of unit/fine */
};

enum { UNITS_TEXT = 32 };

/* The scale for figures up to `largest` bytes. */
struct scale scale_for(uint64_t largest);
/* bytes in figures of the scale, rounded half up */
uint64_t scale_round(struct scale scale, uint64_t bytes);
/* "12.308" of 12308 */
const char *scale_figure(struct scale scale, uint64_t figure, char out[UNITS_TEXT]);
/* the same from bytes */
const char *scale_text(struct scale scale, uint64_t bytes, char out[UNITS_TEXT]);

/* Divides total among parts in proportion, in whole numbers that add up to it: the largest
 * remainders are rounded up.  n ≤ 512. */
void apportion(const uint64_t *parts, size_t n, uint64_t total, uint64_t *out);

/* "7.06 B", "131 M", "576": elements or parameters */
const char *count_text(uint64_t n, char out[UNITS_TEXT]);
/* "1.25 GiB", each with its own unit: where figures are not compared */
const char *bytes_text(uint64_t bytes, char out[UNITS_TEXT]);

#endif
