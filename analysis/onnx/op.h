/* SPDX-License-Identifier: Apache-2.0
 *
 * What an operator's row and its functions see.  A row says in which versions it holds and how many
 * inputs and outputs the operator has; `shape` fills the types of the outputs, `value` (optional)
 * their elements, and runs only when the shape function succeeded and the outputs are small.
 *
 *     static int flatten(struct vram_op *op) { … }
 *     const struct vram_op_row vram_ops_shape[] = {
 *         {"Flatten", 1, 1, 1, 1, 1, flatten, vram_value_copy, NULL},
 *
 * Inputs that are required and absent are refused before the function runs.  An input of unknown rank
 * leaves the outputs as they are (dtype known, no rank) unless the function can say more.  Nothing
 * here knows what memory an op takes.
 */
#ifndef VRAM_ONNX_OP_H
#define VRAM_ONNX_OP_H

#include "onnx/infer.h"

struct vram_infer; /* the pass */

struct vram_op {
    struct vram_infer *pass;
    struct vram_cx *cx;
    struct vram_dims *dims;
    const struct vram_onnx *model;
    const struct vram_onnx_node *node;
    uint32_t version;
    const struct vram_info *const *in; /* NULL = left out */
    uint32_t n_in;
    struct vram_info *out; /* n_out of them, zeroed: nothing known */
    uint32_t n_out;        /* as the node lists them, unwanted ones too */
};

typedef int vram_op_fn(struct vram_op *op);

struct vram_op_row {
    const char *name;
    uint32_t since;             /* the newest row with since ≤ version counts */
    uint32_t least_in, most_in; /* UINT32_MAX: any number */
    uint32_t least_out, most_out;
    vram_op_fn *shape;
    vram_op_fn *value; /* NULL: elements are not followed */
    const char *note;
};

/* Tables, one per family (ops/<family>.c: vram_onnx_ops_<family>), sorted by nothing; domains.c lists them. */
struct vram_op_family {
    const char *domain; /* "", "ai.onnx.ml", "com.microsoft" … */
    const char *name;   /* "math" */
    const struct vram_op_row *rows;
    size_t n;
};
extern const struct vram_op_family *const vram_op_families[];
extern const size_t vram_n_op_families;

/* ---- attributes: of the wrong kind is an error, absent gives the default ---- */
int vram_op_int(struct vram_op *op, const char *name, int64_t otherwise, int64_t *out);
int vram_op_float(struct vram_op *op, const char *name, double otherwise, double *out);
/* zero-terminated; otherwise may be NULL */
int vram_op_string(struct vram_op *op, const char *name, const char *otherwise, const char **out);
/* *out = NULL, *n = 0 when absent */
int vram_op_ints(struct vram_op *op, const char *name, const int64_t **out, uint32_t *n);
int vram_op_floats(struct vram_op *op, const char *name, const double **out, uint32_t *n);
int vram_op_strings(struct vram_op *op, const char *name, uint32_t *n); /* how many */
int vram_op_tensor(struct vram_op *op, const char *name, const struct vram_onnx_tensor **out);
int vram_op_graph(struct vram_op *op, const char *name, uint32_t *graph);
bool vram_op_has(const struct vram_op *op, const char *name);
/* An int attribute that must be there. */
int vram_op_need_int(struct vram_op *op, const char *name, int64_t *out);
/* axis in [−rank, rank) made ≥ 0, else an error; `what` names the attribute or input */
int vram_op_axis(struct vram_op *op, const char *what, int64_t axis, uint32_t rank, uint32_t *out);

/* ---- errors ---- */
/* The file contradicts itself here (VRAM_E_FORMAT); the pass adds the node. */
__attribute__((format(printf, 2, 3))) int vram_op_fail(struct vram_op *op, const char *format, ...);
/* An error when the last arithmetic on numbers overflowed or divided by zero, else 0. */
int vram_op_check(struct vram_op *op);

/* ---- outputs ---- */
/* Output i (nothing happens when the node lists fewer): a tensor of dtype without rank. */
int vram_op_out(struct vram_op *op, uint32_t i, uint8_t dtype);
/* … of this shape: dims are copied; a number below 0 is an error. */
int vram_op_out_dims(struct vram_op *op, uint32_t i, uint8_t dtype, const vram_dim *dims, uint32_t rank);
/* … of the shape of an input (which may be unranked or not a tensor). */
int vram_op_out_like(struct vram_op *op, uint32_t i, uint8_t dtype, const struct vram_info *like);
int vram_op_out_scalar(struct vram_op *op, uint32_t i, uint8_t dtype);
/* rank dims in scratch that lives to the end of the pass; NULL when out of memory (the error is set) */
vram_dim *vram_op_dims(struct vram_op *op, uint32_t rank);
/* A size that depends on data: a fresh symbol, low ≤ it ≤ high (high may be UNKNOWN = no end). */
vram_dim vram_op_fresh(struct vram_op *op, const char *stem, int64_t low, vram_dim high);

/* ---- dims ---- */
/* Two dims that must be equal: the one that says more; numbers that differ are an error, a name
 * against a number or another name is remembered as a condition, and a contradiction between
 * conditions becomes a finding that names both nodes. */
int vram_op_same(struct vram_op *op, vram_dim a, vram_dim b, const char *what, vram_dim *out);
/* Broadcasting of n inputs (NULL and unranked ones make the result unranked: *rank = UINT32_MAX):
 * of two dims 1 gives way, a number above 1 wins over a name, two names that may differ give max(a, b). */
int vram_op_broadcast(struct vram_op *op, const struct vram_info *const *in, uint32_t n,
                      vram_dim **dims, uint32_t *rank);
/* Product of dims [first, end); UNKNOWN when one is. */
vram_dim vram_op_product(struct vram_op *op, const vram_dim *dims, uint32_t first, uint32_t end);

/* ---- known values ----
 * A value function has them in in[i]->value.  A shape function asks by these, because elements of constants are
 * fetched only when somebody wants them. */
/* All elements; NULL: not followed. */
const struct vram_element *vram_op_value(struct vram_op *op, const struct vram_info *in);
/* Whole-number elements of a 1-D or scalar input as dims; false (not an error) when they are not
 * all followed; single unknown ones are VRAM_DIM_UNKNOWN. */
bool vram_op_value_dims(struct vram_op *op, const struct vram_info *in, const vram_dim **out, uint32_t *n);
/* The same, all of them numbers. */
bool vram_op_value_ints(struct vram_op *op, const struct vram_info *in, const int64_t **out, uint32_t *n);
/* A scalar or one-element input as a number. */
bool vram_op_value_int(struct vram_op *op, const struct vram_info *in, int64_t *out);
bool vram_op_value_real(struct vram_op *op, const struct vram_info *in, double *out);
/* Elements for output i, to be filled in; NULL when its dims are not numbers or too many (no error),
 * or out of memory (error set). */
struct vram_element *vram_op_elements(struct vram_op *op, uint32_t i);
struct vram_element vram_element_dim(vram_dim d);
struct vram_element vram_element_real(double x);
/* A whole one as a dim, so that it takes part in arithmetic with dims, another one as a real. */
struct vram_element vram_element_of(struct vram_dims *dims, double x);
/* Common value functions. */
vram_op_fn vram_value_copy; /* output 0 has the elements of input 0 in the same order */

/* ---- subgraphs ---- */
/* Runs a graph of the node with these infos for its inputs (n of them must be its number of inputs, else an
 * error); its outputs' infos are written to out[0 … n_out).  Nested as deep as files may be. */
int vram_op_run_graph(struct vram_op *op, uint32_t graph, const struct vram_info *const *in, uint32_t n,
                      const struct vram_info **out, uint32_t n_out);
/* What two infos have in common (If's branches, a Loop's state before and after): equal dims stay, others
 * become unknown (fresh where `stem` is given). */
int vram_op_merge(struct vram_op *op, const struct vram_info *a, const struct vram_info *b, const char *stem,
                  struct vram_info *out);

#endif
