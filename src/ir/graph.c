/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of kept payloads; see graph.h.
 */
#include "ir/graph.h"

#include <math.h>
#include <string.h>

/* The bits of element i, low ones first; types of up to 64 bits. */
static bool bits_of(const struct vram_onnx_tensor *t, uint64_t i, unsigned *bits, uint64_t *out)
{
    *bits = (unsigned)vram_dtypes[t->dtype].bits;
    if (!t->data || i >= t->elements || *bits == 0 || *bits > 64)
        return false;
    uint64_t v = 0, at = i * *bits, byte = at / 8;
    for (unsigned b = 0; b * 8 < at % 8 + *bits && b < 8; b++)
        v |= (uint64_t)t->data[byte + b] << (8 * b);
    *out = v >> (at % 8);
    if (*bits < 64)
        *out &= (UINT64_C(1) << *bits) - 1;
    return true;
}

static bool is_signed(uint8_t dtype)
{
    switch (dtype) {
    case VRAM_DT_I2:
    case VRAM_DT_I4:
    case VRAM_DT_I8:
    case VRAM_DT_I16:
    case VRAM_DT_I32:
    case VRAM_DT_I64: return true;
    default: return false;
    }
}

bool vram_onnx_integer(const struct vram_onnx_tensor *t, uint64_t i, int64_t *out)
{
    uint64_t v;
    unsigned bits;
    enum vram_dtype_kind kind = vram_dtypes[t->dtype].kind;
    if ((kind != VRAM_KIND_INT && kind != VRAM_KIND_BOOL) || !bits_of(t, i, &bits, &v))
        return false;
    if (kind == VRAM_KIND_BOOL)
        v = v != 0;
    else if (is_signed(t->dtype) && bits < 64 && v >> (bits - 1))
        v |= ~UINT64_C(0) << bits;
    else if (!is_signed(t->dtype) && v > INT64_MAX)
        return false;
    memcpy(out, &v, sizeof v);
    return true;
}

/* Small floats: bits of exponent and mantissa, and how the largest exponent and −0 are read. */
enum special { IEEE, FINITE, ONE_NAN, UNSIGNED_ZERO };
static const struct small {
    uint8_t dtype, exponent, mantissa, special;
    int bias;
} smalls[] = {
    {VRAM_DT_F16, 5, 10, IEEE, 15},
    {VRAM_DT_BF16, 8, 7, IEEE, 127},
    {VRAM_DT_F8E5M2, 5, 2, IEEE, 15},
    {VRAM_DT_F8E4M3, 4, 3, ONE_NAN, 7},
    {VRAM_DT_F8E4M3FNUZ, 4, 3, UNSIGNED_ZERO, 8},
    {VRAM_DT_F8E5M2FNUZ, 5, 2, UNSIGNED_ZERO, 16},
    {VRAM_DT_F6E2M3, 2, 3, FINITE, 1},
    {VRAM_DT_F6E3M2, 3, 2, FINITE, 3},
    {VRAM_DT_F4, 2, 1, FINITE, 1},
};

static double small_float(const struct small *s, uint64_t v)
{
    unsigned e = (unsigned)(v >> s->mantissa) & ((1u << s->exponent) - 1);
    unsigned f = (unsigned)v & ((1u << s->mantissa) - 1), top = (1u << s->exponent) - 1;
    bool minus = v >> (s->exponent + s->mantissa) & 1;
    if (s->special == IEEE && e == top)
        return f ? (double)NAN : minus ? -(double)INFINITY : (double)INFINITY;
    if (s->special == ONE_NAN && e == top && f == (1u << s->mantissa) - 1)
        return (double)NAN;
    if (s->special == UNSIGNED_ZERO && minus && e == 0 && f == 0)
        return (double)NAN;
    double x = e ? ldexp((double)((1u << s->mantissa) + f), (int)e - s->bias - s->mantissa)
                 : ldexp((double)f, 1 - s->bias - s->mantissa);
    return minus ? -x : x;
}

bool vram_onnx_real(const struct vram_onnx_tensor *t, uint64_t i, double *out)
{
    uint64_t v;
    unsigned bits;
    int64_t whole;
    if (vram_dtypes[t->dtype].kind == VRAM_KIND_COMPLEX || !bits_of(t, i, &bits, &v))
        return false;
    if (vram_dtypes[t->dtype].kind != VRAM_KIND_FLOAT) {
        *out = vram_onnx_integer(t, i, &whole) ? (double)whole : (double)v; /* above 2^63 */
        return true;
    }
    uint32_t half = (uint32_t)v;
    float single;
    if (t->dtype == VRAM_DT_F64) {
        memcpy(out, &v, sizeof v);
    } else if (t->dtype == VRAM_DT_F32) {
        memcpy(&single, &half, sizeof single);
        *out = (double)single;
    } else if (t->dtype == VRAM_DT_F8E8M0) {
        *out = v == 255 ? (double)NAN : ldexp(1.0, (int)v - 127);
    } else {
        for (size_t s = 0; s < sizeof smalls / sizeof *smalls; s++)
            if (smalls[s].dtype == t->dtype)
                *out = small_float(&smalls[s], v);
    }
    return true;
}
