/* SPDX-License-Identifier: Apache-2.0
 *
 * What the op files share.  A file holds one family: for each op its function (and its backward
 * formula) directly above its row; the rows of a family end the file and table.c lists the families.
 *
 * A function that may be stopped by the end of a recomputation returns NULL (tensors) or true.
 */
#ifndef VRAM_OPS_OPS_H
#define VRAM_OPS_OPS_H

#include "machine/machine.h"

struct vram_op_family {
    const struct vram_op_row *rows;
    uint32_t n;
};

/* ---- arguments */
struct vram_handle *vram_arg(struct vram_machine *m, const struct vram_op_row *row,
                             const struct vram_value *a, int i); /* a tensor; borrowed */
struct vram_handle *vram_arg_or_null(struct vram_machine *m, const struct vram_op_row *row,
                                     const struct vram_value *a, int i);
int64_t vram_arg_int(struct vram_machine *m, const struct vram_op_row *row,
                     const struct vram_value *a, int i, int64_t fallback);
double vram_arg_real(struct vram_machine *m, const struct vram_op_row *row,
                     const struct vram_value *a, int i, double fallback);
bool vram_arg_bool(const struct vram_value *a, int i, bool fallback);
enum vram_dtype vram_arg_dtype(struct vram_machine *m, const struct vram_op_row *row,
                               const struct vram_value *a, int i);
/* integers from i on, or one list of them; returns how many */
int vram_arg_dims(struct vram_machine *m, const struct vram_op_row *row, const struct vram_value *a,
                  int i, int64_t *dims);
/* a dimension counted from the front; throws when x has none such */
int vram_arg_dim(struct vram_machine *m, const struct vram_op_row *row, const struct vram_value *a,
                 int i, int64_t fallback, const struct vram_handle *x);

/* ---- elementwise results: shape broadcast, layout of the first operand with an opinion */
struct vram_handle *vram_elt(struct vram_machine *m, enum vram_dtype dtype,
                             struct vram_handle *const *xs, int n);
struct vram_handle *vram_elt1(struct vram_machine *m, enum vram_dtype dtype, struct vram_handle *x);
struct vram_handle *vram_elt2(struct vram_machine *m, enum vram_dtype dtype, struct vram_handle *x,
                              struct vram_handle *y);
enum vram_dtype vram_promote(const struct vram_handle *a, const struct vram_handle *b);

/* ---- ops that others are made of; each returns a new reference or NULL when stopped */
struct vram_handle *vram_op_add(struct vram_machine *m, struct vram_handle *a, struct vram_handle *b);
struct vram_handle *vram_op_mul_number(struct vram_machine *m, struct vram_handle *x);
struct vram_handle *vram_op_view(struct vram_machine *m, struct vram_handle *x, const int64_t *shape,
                                 int rank);
struct vram_handle *vram_op_reshape(struct vram_machine *m, struct vram_handle *x,
                                    const int64_t *shape, int rank);
struct vram_handle *vram_op_contiguous(struct vram_machine *m, struct vram_handle *x);
struct vram_handle *vram_op_clone(struct vram_machine *m, struct vram_handle *x);
struct vram_handle *vram_op_transpose(struct vram_machine *m, struct vram_handle *x, int a, int b);
struct vram_handle *vram_op_expand(struct vram_machine *m, struct vram_handle *x,
                                   const int64_t *shape, int rank);
struct vram_handle *vram_op_unsqueeze(struct vram_machine *m, struct vram_handle *x, int dim);
struct vram_handle *vram_op_slice(struct vram_machine *m, struct vram_handle *x, int dim,
                                  int64_t start, int64_t length);
struct vram_handle *vram_op_softmax(struct vram_machine *m, struct vram_handle *x);
struct vram_handle *vram_op_dropout(struct vram_machine *m, struct vram_handle *x, double p);
struct vram_handle *vram_op_bmm(struct vram_machine *m, struct vram_handle *a, struct vram_handle *b);
/* as torch.matmul, of two dimensions or more, without autocast */
struct vram_handle *vram_op_matmul(struct vram_machine *m, struct vram_handle *a,
                                   struct vram_handle *b);
/* Strides as suggest_memory_format has them: channels last where x lies so ([n, c, w] as one row). */
bool vram_channels_last(const struct vram_handle *x);
/* A new tensor of x's rank, channels last or contiguous. */
struct vram_handle *vram_in_format_of(struct vram_machine *m, const struct vram_handle *x, const int64_t *shape,
                                      enum vram_dtype dtype, bool last);
/* two dimensions swapped in a handle that is not on the tape */
struct vram_handle *vram_swapped(struct vram_machine *m, struct vram_handle *x, int a, int b);
/* replaces *x (dropping the old one) */
static inline struct vram_handle *vram_replace(struct vram_machine *m, struct vram_handle **x,
                                               struct vram_handle *by)
{
    struct vram_handle *old = *x;
    *x = by;
    vram_drop(m, old);
    return by;
}

extern const struct vram_op_family vram_ops_elementwise, vram_ops_view, vram_ops_matmul,
    vram_ops_norm, vram_ops_attention, vram_ops_index, vram_ops_resample, vram_ops_loss,
    vram_ops_fused_loss, vram_ops_experts, vram_ops_choice, vram_ops_complex, vram_ops_custom,
    vram_ops_liger, vram_ops_graph, vram_ops_collective, vram_ops_ring, vram_ops_builtin, vram_ops_activation, vram_ops_picture;

/* One node, inputs xs, nothing saved. */
static inline bool vram_begin_plain(struct vram_machine *m, struct vram_tape_node **n,
                                    struct vram_handle *const *xs, int nxs, vram_backward_fn f)
{
    return vram_begin(m, n, &(struct vram_begin){.inputs = xs, .ninputs = nxs, .backward = f});
}

/* Ends a node with one output; NULL when stopped (the output is dropped). */
struct vram_handle *vram_end_one(struct vram_machine *m, struct vram_tape_node *n,
                                 struct vram_handle *out, bool save);

/* For rows: stores a handle as the result; true when it is NULL (stopped). */
static inline bool vram_result(struct vram_handle *x, struct vram_value *out)
{
    *out = vram_tensor_value(x);
    return x == NULL;
}

#define VRAM_UNUSED(x) ((void)(x))
/* parameters of a backward formula */
#define VRAM_FORMULA                                                                               \
    struct vram_machine *m, struct vram_tape_node *n, struct vram_handle **g,                      \
        struct vram_handle **s, struct vram_handle **out
#define VRAM_OP                                                                                    \
    struct vram_machine *m, const struct vram_op_row *row, struct vram_value *a,                   \
        struct vram_value *out

#endif
