/* SPDX-License-Identifier: Apache-2.0
 *
 * The dtype table; see dtype.h.
 */
#include "ir/dtype.h"

#include <string.h>

#include "base/math.h"

const struct vram_dtype_row vram_dtypes[VRAM_DT_COUNT] = {
    {"none", "", "", "", 0, 0, VRAM_KIND_NONE},
#define VRAM_DTYPE(id, name, torch, safetensors, onnx, number, bits, kind)                         \
    {name, torch, safetensors, onnx, number, bits, kind},
#include "ir/dtypes.def"
#undef VRAM_DTYPE
};

static bool is(const char *row, const char *name, size_t n)
{
    return n && strlen(row) == n && memcmp(row, name, n) == 0;
}

enum vram_dtype vram_dtype_by_name(const char *name)
{
    for (int d = 1; d < VRAM_DT_COUNT; d++)
        if (vram_dtypes[d].name[0] == name[0] && !strcmp(vram_dtypes[d].name, name))
            return (enum vram_dtype)d;
    return VRAM_DT_NONE;
}

enum vram_dtype vram_dtype_by_torch(const char *name, size_t n)
{
    if (n > 6 && memcmp(name, "torch.", 6) == 0) { /* configs write both forms */
        name += 6;
        n -= 6;
    }
    for (int d = 1; d < VRAM_DT_COUNT; d++)
        if (is(vram_dtypes[d].torch, name, n))
            return (enum vram_dtype)d;
    return VRAM_DT_NONE;
}

enum vram_dtype vram_dtype_by_safetensors(const char *name, size_t n)
{
    for (int d = 1; d < VRAM_DT_COUNT; d++)
        if (is(vram_dtypes[d].safetensors, name, n))
            return (enum vram_dtype)d;
    return VRAM_DT_NONE;
}

enum vram_dtype vram_dtype_by_onnx(int number)
{
    for (int d = 1; number > 0 && d < VRAM_DT_COUNT; d++)
        if (vram_dtypes[d].onnx_number == number)
            return (enum vram_dtype)d;
    return VRAM_DT_NONE;
}

bool vram_dtype_bytes(enum vram_dtype dtype, uint64_t n, uint64_t *bytes)
{
    uint64_t bits;
    if (vram_dtypes[dtype].bits == 0 || !vram_mul_u64(n, (uint64_t)vram_dtypes[dtype].bits, &bits) ||
        bits > UINT64_MAX - 7)
        return false;
    *bytes = (bits + 7) / 8;
    return true;
}
