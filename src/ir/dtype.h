/* SPDX-License-Identifier: Apache-2.0
 *
 * Element types: one row for every dtype of safetensors (22), of ONNX (to number 28) and of
 * PyTorch that the machine makes.  A row knows its names in each world and its size in bits.
 */
#ifndef VRAM_IR_DTYPE_H
#define VRAM_IR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vram_dtype {
    VRAM_DT_NONE, /* not a dtype */
#define VRAM_DTYPE(id, name, torch, safetensors, onnx, number, bits, kind) VRAM_DT_##id,
#include "ir/dtypes.def"
#undef VRAM_DTYPE
    VRAM_DT_COUNT
};

enum vram_dtype_kind { VRAM_KIND_NONE, VRAM_KIND_BOOL, VRAM_KIND_INT, VRAM_KIND_FLOAT,
                       VRAM_KIND_COMPLEX, VRAM_KIND_STRING };

struct vram_dtype_row {
    const char *name;        /* ours: "bf16" */
    const char *torch;       /* "bfloat16"; "" when torch has none */
    const char *safetensors; /* "BF16"; "" when the format has none */
    const char *onnx;        /* "BFLOAT16"; "" when ONNX has none */
    int onnx_number;         /* TensorProto.DataType; 0 when ONNX has none */
    int bits;                /* of one element; 0 for strings */
    enum vram_dtype_kind kind;
};
extern const struct vram_dtype_row vram_dtypes[VRAM_DT_COUNT];

/* VRAM_DT_NONE when there is no such dtype. */
enum vram_dtype vram_dtype_by_name(const char *name);
enum vram_dtype vram_dtype_by_torch(const char *name, size_t n);
enum vram_dtype vram_dtype_by_safetensors(const char *name, size_t n);
enum vram_dtype vram_dtype_by_onnx(int number);

/* Bytes of n elements, the last byte filled up; false on overflow or for strings. */
bool vram_dtype_bytes(enum vram_dtype dtype, uint64_t n, uint64_t *bytes);

static inline bool vram_dtype_is_float(enum vram_dtype d)
{
    return vram_dtypes[d].kind == VRAM_KIND_FLOAT;
}

#endif
