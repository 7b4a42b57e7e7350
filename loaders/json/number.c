/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON numbers.  Integers are exact in 64 bits; everything else becomes a double, without the C
 * library's strtod, which reads the locale.  Up to 19 digits and exponents to ±22 the double is
 * the nearest one; beyond that it may be one unit in the last place off, which no size depends on.
 */
#include <float.h>
#include <math.h>

#include "json/json.h"

static bool digit(const char *p, const char *end) { return p < end && *p >= '0' && *p <= '9'; }

/* digits · 10^exponent */
static double scale(uint64_t digits, int64_t exponent)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (digits == 0 || exponent < -400)
        return 0.0;
    if (exponent > 400)
        return (double)INFINITY;
    if (digits <= UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22)
        return exponent < 0 ? (double)digits / exact[-exponent] : (double)digits * exact[exponent];
    long double x = (long double)digits, ten = 10.0L;
    for (uint64_t e = (uint64_t)(exponent < 0 ? -exponent : exponent); e; e >>= 1, ten *= ten)
        if (e & 1)
            x = exponent < 0 ? x / ten : x * ten;
    return (double)x;
}

struct decimal {
    uint64_t digits;  /* the leading ones that fit */
    int64_t exponent; /* what the others count */
    bool cut;         /* not all digits fitted */
};

static const char *take(struct decimal *d, const char *p, const char *end, int64_t worth)
{
    for (; digit(p, end); p++) {
        uint64_t next;
        bool fits = !d->cut && !__builtin_mul_overflow(d->digits, UINT64_C(10), &next) &&
                    !__builtin_add_overflow(next, (uint64_t)(*p - '0'), &next);
        if (fits)
            d->digits = next;
        else
            d->cut = true;
        d->exponent += fits ? worth : worth + 1;
    }
    return p;
}

/* the fraction and exponent behind an integer part; NULL and *bad when malformed */
static const char *fraction(struct decimal *d, const char *p, const char *end, const char **bad)
{
    if (p < end && *p == '.') {
        if (!digit(p + 1, end)) {
            *bad = p + 1;
            return NULL;
        }
        p = take(d, p + 1, end, -1);
    }
    if (p == end || (*p != 'e' && *p != 'E'))
        return p;
    p++;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (!digit(p, end)) {
        *bad = p;
        return NULL;
    }
    int64_t e = 0;
    for (; digit(p, end); p++)
        if (e < 1000000000)
            e = e * 10 + (*p - '0');
    d->exponent += negative ? -e : e;
    return p;
}

const char *vram_json_number(struct vram_json *j, const char *p, const char **bad)
{
    const char *end = j->end, *start = p;
    bool negative = *p == '-';
    p += negative;
    if (!digit(p, end) || (*p == '0' && digit(p + 1, end))) {
        *bad = digit(p, end) ? p + 1 : p;
        return NULL;
    }
    struct decimal d = {0};
    p = take(&d, p, end, 0);
    bool whole = !(p < end && (*p == '.' || *p == 'e' || *p == 'E'));
    if (!whole && !(p = fraction(&d, p, end, bad)))
        return NULL;
    j->token = VRAM_JSON_FLOAT;
    j->real = whole && !d.cut ? (double)d.digits : scale(d.digits, d.exponent);
    if (negative)
        j->real = -j->real;
    /* serde_json reads -0 as a float, Python as 0 */
    if (whole && !d.cut && !(negative && d.digits == 0 && j->mode == VRAM_JSON_STRICT)) {
        uint64_t most = (uint64_t)INT64_MAX + negative;
        if (d.digits <= most) {
            j->token = VRAM_JSON_INT;
            j->natural = d.digits;
            j->integer = negative ? (int64_t)(0 - d.digits) : (int64_t)d.digits;
        } else if (!negative) {
            j->token = VRAM_JSON_UINT;
            j->natural = d.digits;
        }
    }
    if (j->mode == VRAM_JSON_STRICT && isinf(j->real)) { /* serde_json: number out of range */
        *bad = start;
        return NULL;
    }
    return p;
}
