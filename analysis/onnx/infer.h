/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbolic shape and value inference over an ONNX model: what every value of every graph is, as
 * expressions over the names of the file's own inputs.  Declared types of inputs are trusted, all others
 * are claims and only compared.  Works unbound; binding is substitution before the pass.
 *
 * Source of every rule: the ONNX operator specification (onnx/defs of 1.23) and, for com.microsoft,
 * ONNX Runtime's ContribOperators.md.
 */
#ifndef VRAM_ONNX_INFER_H
#define VRAM_ONNX_INFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cx.h"
#include "ir/dims.h"
#include "ir/graph.h"

/* One element of a known value: a whole-number expression by a divisor, which holds integers,
 * booleans (0, 1) and what float arithmetic on shapes makes (2*h, h/2); or a plain real. */
enum vram_element_kind { VRAM_ELEMENT_UNKNOWN, VRAM_ELEMENT_RATIO, VRAM_ELEMENT_REAL };
struct vram_element {
    uint8_t kind;
    vram_dim num; /* RATIO */
    int64_t den;  /* RATIO, ≥ 1 */
    double real;  /* REAL */
};

/* Values of more elements are not followed; their shapes are. */
enum { VRAM_VALUE_ELEMENTS = 1024 };

/* What is known about a value. */
struct vram_info {
    uint8_t kind;  /* enum vram_onnx_kind; VRAM_ONNX_UNKNOWN: nothing is known */
    uint8_t dtype; /* NONE: unknown */
    bool ranked;
    uint32_t rank;
    const vram_dim *dims;         /* rank of them, VRAM_DIM_UNKNOWN where unknown */
    const struct vram_element *value; /* all elements in row-major order, or NULL: not followed, or */
    uint32_t tensor;              /* … those of this tensor of the model, which are fetched when an op asks */
    uint32_t elements;            /* of value */
    const struct vram_info *element; /* of a sequence or optional: what all its elements have in common */
    vram_dim length;              /* of a sequence; UNKNOWN when not known */
};

struct vram_onnx_bindings {
    /* NAME = n for a symbol */
    const struct vram_onnx_bind_symbol { const char *name; int64_t value; } *symbols;
    size_t n_symbols;
    /* input.NAME = 2x3x64x64: binds nameless dims, checks named ones; rank 0 is a scalar */
    const struct vram_onnx_bind_input { const char *name; const int64_t *dims; uint32_t rank; } *inputs;
    size_t n_inputs;
};

struct vram_inference {
    const struct vram_onnx *model;
    struct vram_dims *dims;
    struct vram_info *at; /* by value id */
    uint32_t n;
    const vram_dim *symbols; /* that the inputs left open, in their order */
    uint32_t n_symbols;
    const struct vram_dim_binding *bound; /* what symbols of the file were given, or follow from that */
    size_t n_bound;
    uint64_t unknown_ops; /* nodes of operators without a row */
};

/* bindings may be NULL.  Everything in *out lives in cx's arena. */
int vram_onnx_infer(struct vram_cx *cx, const struct vram_onnx *model,
                    const struct vram_onnx_bindings *bindings, struct vram_inference *out);

/* What the file declares of a value (dtype, rank, dims) and inference does not find. */
enum vram_claim_kind {
    VRAM_CLAIM_WRONG,  /* it cannot be so */
    VRAM_CLAIM_NARROW, /* a number where the inputs leave the size open, or another expression */
};
struct vram_claim {
    uint8_t kind; /* enum vram_claim_kind */
    uint32_t value;
    const char *says, *is; /* "fp32 [2, seq]" */
};
/* In the order of values; n in *n. */
int vram_onnx_claims(struct vram_cx *cx, const struct vram_inference *shapes, const struct vram_claim **out,
                     size_t *n);

/* A value's name, with the path of its graph before it; escaped, in the arena. */
const char *vram_onnx_value_text(struct vram_cx *cx, const struct vram_onnx *model, uint32_t value);

/* Operators with a row, for `vramcast list onnx-ops`; false past the end. */
struct vram_onnx_op_row {
    const char *domain, *name;
    uint32_t since; /* first version of the domain it describes */
    const char *note; /* NULL, or what a reader should know */
};
bool vram_onnx_op_listed(size_t i, struct vram_onnx_op_row *out);

#endif
