/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked integer arithmetic.  Each function returns true when the exact result fits and was
 * stored; on false *out is untouched.
 */
#ifndef VRAM_BASE_MATH_H
#define VRAM_BASE_MATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool vram_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool vram_mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool vram_add_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool vram_sub_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_sub_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool vram_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

/* Floor division, as Python's //.  False for b == 0 and INT64_MIN // -1. */
static inline bool vram_floordiv_i64(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    int64_t q = a / b;
    *out = q - ((a % b != 0) && ((a < 0) != (b < 0)));
    return true;
}

/* Remainder with the sign of b, as Python's %. */
static inline bool vram_floormod_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t q;
    if (!vram_floordiv_i64(a, b, &q))
        return false;
    *out = a - q * b;
    return true;
}

/* Product of n dimensions, all ≥ 0; false on overflow or a negative dimension. */
static inline bool vram_product_i64(const int64_t *dims, size_t n, int64_t *out)
{
    int64_t r = 1;
    for (size_t i = 0; i < n; i++)
        if (dims[i] < 0 || !vram_mul_i64(r, dims[i], &r))
            return false;
    *out = r;
    return true;
}

/* a rounded up to a multiple of to (> 0); the caller knows that it fits. */
static inline uint64_t vram_round_up(uint64_t a, uint64_t to) { return (a + to - 1) / to * to; }

#endif
