/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures; see units.h.
 */
#include "output/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

static const struct { uint64_t unit; const char *name; } units[] = {
    {UINT64_C(1) << 30, "GiB"}, {UINT64_C(1) << 20, "MiB"}, {UINT64_C(1) << 10, "KiB"}};

static struct scale make(size_t unit, unsigned decimals)
{
    struct scale s = {units[unit].unit, units[unit].name, decimals, 1};
    for (unsigned i = 0; i < decimals; i++)
        s.fine *= 10;
    return s;
}

/* Six digits at most, so that a table of them fits on the page. */
struct scale scale_for(uint64_t largest)
{
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof *units && largest < units[unit].unit / 2)
        unit++;
    uint64_t whole = largest / units[unit].unit;
    return make(unit, whole < 1000 ? 3 : whole < 10000 ? 2 : 1);
}

uint64_t scale_round(struct scale s, uint64_t bytes)
{
    return bytes / s.unit * s.fine + (bytes % s.unit * s.fine + s.unit / 2) / s.unit;
}

const char *scale_figure(struct scale s, uint64_t figure, char out[UNITS_TEXT])
{
    snprintf(out, UNITS_TEXT, "%" PRIu64 ".%0*" PRIu64, figure / s.fine, (int)s.decimals,
             figure % s.fine);
    return out;
}

const char *scale_text(struct scale s, uint64_t bytes, char out[UNITS_TEXT])
{
    return scale_figure(s, scale_round(s, bytes), out);
}

void apportion(const uint64_t *parts, size_t n, uint64_t total, uint64_t *out)
{
    double sum = 0, rest[512];
    uint64_t given = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)parts[i];
    for (size_t i = 0; i < n; i++) {
        double share = sum > 0 ? (double)parts[i] / sum * (double)total : 0;
        out[i] = (uint64_t)share;
        rest[i] = share - (double)out[i];
        given += out[i];
    }
    while (given < total && sum > 0) { /* at most once round: n remainders below one */
        size_t most = 0;
        for (size_t i = 1; i < n; i++)
            if (rest[i] > rest[most])
                most = i;
        out[most]++;
        rest[most] = -1;
        given++;
    }
}

/* Three digits of n in the given unit. */
static void three(uint64_t n, uint64_t unit, const char *name, char out[UNITS_TEXT])
{
    unsigned decimals = n < 10 * unit ? 2 : n < 100 * unit ? 1 : 0;
    uint64_t fine = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
    uint64_t figure = n / unit * fine + (n % unit * fine + unit / 2) / unit;
    if (decimals)
        snprintf(out, UNITS_TEXT, "%" PRIu64 ".%0*" PRIu64 " %s", figure / fine, (int)decimals,
                 figure % fine, name);
    else
        snprintf(out, UNITS_TEXT, "%" PRIu64 " %s", figure, name);
}

const char *count_text(uint64_t n, char out[UNITS_TEXT])
{
    static const struct { uint64_t unit; const char *name; } names[] = {
        {1000000000000, "T"}, {1000000000, "B"}, {1000000, "M"}, {1000, "K"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (n >= names[i].unit) {
            three(n, names[i].unit, names[i].name, out);
            return out;
        }
    snprintf(out, UNITS_TEXT, "%" PRIu64, n);
    return out;
}

const char *bytes_text(uint64_t bytes, char out[UNITS_TEXT])
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (bytes >= units[i].unit) {
            three(bytes, units[i].unit, units[i].name, out);
            return out;
        }
    snprintf(out, UNITS_TEXT, "%" PRIu64 " B", bytes);
    return out;
}
