/* SPDX-License-Identifier: Apache-2.0
 *
 * What the families of operators share beyond op.h: inputs that may be absent, attributes of a
 * kind, walking over known values, arithmetic on their elements, and the rules that operators of
 * several domains have in common.
 */
#ifndef VRAM_ONNX_OPS_COMMON_H
#define VRAM_ONNX_OPS_COMMON_H

#include "onnx/op.h"

/* A family of the table `rows`: vram_onnx_ops_IDENT */
#define VRAM_ONNX_FAMILY(ident, domain, name, rows)                                                \
    const struct vram_op_family vram_onnx_ops_##ident = {domain, name, rows,                       \
                                                         sizeof rows / sizeof *rows}
#define VRAM_ONNX_ANY UINT32_MAX

/* ---- inputs and attributes ---- */
static inline const struct vram_info *vram_onnx_in(const struct vram_op *op, uint32_t i)
{
    return i < op->n_in ? op->in[i] : NULL;
}
static inline bool vram_onnx_ranked(const struct vram_info *x) { return x && x->ranked; }
static inline uint8_t vram_onnx_dtype(const struct vram_info *x)
{
    return x ? x->dtype : (uint8_t)VRAM_DT_NONE;
}
/* dtype and shape of input i, whatever is known of it */
static inline uint8_t vram_onnx_in_dtype(const struct vram_op *op, uint32_t i)
{
    return vram_onnx_dtype(vram_onnx_in(op, i));
}
static inline vram_dim vram_onnx_num(struct vram_op *op, int64_t n)
{
    return vram_dim_int(op->dims, n);
}
/* An input that operators require though inputs before it are optional. */
int vram_onnx_need(struct vram_op *op, uint32_t i, const char *name);
/* Rank of input i, when it is known, within low … high. */
int vram_onnx_rank(struct vram_op *op, uint32_t i, uint32_t low, uint32_t high);
/* An attribute that holds a TensorProto.DataType; *out = otherwise when it is absent. */
int vram_onnx_dtype_attr(struct vram_op *op, const char *name, uint8_t otherwise, uint8_t *out);
/* The same, and it has to be there. */
int vram_onnx_need_dtype(struct vram_op *op, const char *name, uint8_t *out);
int vram_onnx_need_string(struct vram_op *op, const char *name, const char **out);
/* An int attribute that is at least `low`. */
int vram_onnx_int_from(struct vram_op *op, const char *name, int64_t otherwise, int64_t low,
                       int64_t *out);
int vram_onnx_need_from(struct vram_op *op, const char *name, int64_t low, int64_t *out);
/* axis attribute of the given default, for this rank */
int vram_onnx_axis_attr(struct vram_op *op, int64_t otherwise, uint32_t rank, uint32_t *out);
/* Marks the axes of a list in set (rank of them, zeroed); twice the same one is an error. */
int vram_onnx_axes(struct vram_op *op, const char *what, const int64_t *axes, uint32_t n,
                   uint32_t rank, bool *set);
/* Length of a 1-D input when it is a number that can be a rank. */
bool vram_onnx_length(struct vram_op *op, const struct vram_info *x, uint32_t *n);
/* As vram_op_value_ints; an input without elements is known whatever the file has for them. */
bool vram_onnx_ints(struct vram_op *op, const struct vram_info *x, const int64_t **out,
                    uint32_t *n);
/* Output i of known rank of which no dim is known. */
int vram_onnx_out_rank(struct vram_op *op, uint32_t i, uint8_t dtype, uint32_t rank);
/* A copy of an input's dims, to be changed. */
vram_dim *vram_onnx_copy(struct vram_op *op, const struct vram_info *x);
/* A dim by a number or dim that must divide it: numbers that do not are an error. */
int vram_onnx_divide(struct vram_op *op, vram_dim a, vram_dim b, const char *what, vram_dim *out);
/* *out = a when it is not NULL, else a bool array of n; in scratch */
bool *vram_onnx_flags(struct vram_op *op, uint32_t n);

/* ---- shapes that many have ---- */
vram_op_fn vram_onnx_like;      /* output 0 is as input 0 */
vram_op_fn vram_onnx_like_bool; /* … with another dtype */
vram_op_fn vram_onnx_like_f32;
vram_op_fn vram_onnx_like_i64;
vram_op_fn vram_onnx_like_axis; /* as input 0, with an axis attribute that must fit */
/* output i is input 0 broadcast with others */
int vram_onnx_broadcast(struct vram_op *op, uint8_t dtype, const struct vram_info *const *in,
                        uint32_t n);
vram_op_fn vram_onnx_broadcast_all; /* of all inputs, dtype of the first */
/* Dims of two shapes, broadcast: NULL and UINT32_MAX when one is unranked. */
int vram_onnx_broadcast_dims(struct vram_op *op, const vram_dim *a, uint32_t ranka,
                             const vram_dim *b, uint32_t rankb, vram_dim **out, uint32_t *rank);

struct vram_onnx_matmul {
    const struct vram_info *a, *b;
    bool trans_a, trans_b; /* the last two dims change places */
    bool batch_a, batch_b; /* the first dim moves behind the other batch dims, before that */
};
/* Output 0 of a matrix product as numpy.matmul has it. */
int vram_onnx_matmul(struct vram_op *op, const struct vram_onnx_matmul *m, uint8_t dtype);
/* Output 0 = [M, N] with transA and transB of the node. */
int vram_onnx_gemm(struct vram_op *op, const struct vram_info *a, const struct vram_info *b,
                   uint8_t dtype);
/* Output 0 is x with its last dim, which must be `k`, replaced by n. */
int vram_onnx_linear(struct vram_op *op, const struct vram_info *x, int64_t k, int64_t n);

/* Window of a convolution or pooling: attributes of the node, for `spatial` axes. */
struct vram_onnx_window {
    uint32_t spatial;
    vram_dim *kernel;
    const int64_t *strides, *pads, *dilations; /* NULL = 1, 0, 1 */
    bool same, ceil;                           /* auto_pad is SAME_*; ceil_mode */
};
/* kernel: dims of the weight, or NULL: kernel_shape is required. */
int vram_onnx_window(struct vram_op *op, uint32_t spatial, const vram_dim *kernel,
                     struct vram_onnx_window *w);
/* Size of axis i behind the window. */
vram_dim vram_onnx_window_dim(struct vram_op *op, const struct vram_onnx_window *w, uint32_t i,
                              vram_dim in);
/* Output 0 of a convolution; channels_last: of the data, never of the weight.  bias may be NULL. */
int vram_onnx_conv(struct vram_op *op, const struct vram_info *x, const struct vram_info *weight,
                   uint8_t dtype, bool channels_last);
int vram_onnx_pool(struct vram_op *op, const struct vram_info *x, uint8_t dtype,
                   bool channels_last);
int vram_onnx_global_pool(struct vram_op *op, const struct vram_info *x, uint8_t dtype,
                          bool channels_last);
int vram_onnx_conv_transpose(struct vram_op *op, const struct vram_info *pads);

/* Axes from attribute `axes` reduced away. */
int vram_onnx_reduce_attr(struct vram_op *op, const struct vram_info *x, uint8_t dtype);
int vram_onnx_pad(struct vram_op *op, const struct vram_info *x, const vram_dim *pads,
                  const uint32_t *axes, uint32_t n);
/* Output 0: inputs first, first + step … one behind the other on the node's axis. */
int vram_onnx_concat(struct vram_op *op, uint32_t first, uint32_t step, int64_t axis,
                     uint8_t dtype);
int vram_onnx_gather(struct vram_op *op, const struct vram_info *data,
                     const struct vram_info *indices, int64_t axis, uint8_t dtype);
/* The last dim of Y, Y_h and Y_c of a recurrent layer; gates is 1, 3 or 4. */
int vram_onnx_rnn(struct vram_op *op, uint32_t outputs, vram_dim hidden);
/* The number of elements of Range, or a fresh dim. */
int vram_onnx_range(struct vram_op *op, const struct vram_info *delta);

/* ---- known values ---- */
enum { VRAM_ONNX_VALUE_RANK = 16 };
/* The shape of a value in numbers. */
struct vram_onnx_grid {
    uint32_t rank;
    int64_t n; /* elements, at most VRAM_VALUE_ELEMENTS */
    int64_t dim[VRAM_ONNX_VALUE_RANK], stride[VRAM_ONNX_VALUE_RANK];
};
/* False when a dim is no number, there are too many elements or axes. */
bool vram_onnx_grid(struct vram_op *op, const struct vram_info *x, struct vram_onnx_grid *grid);
/* The same of an input whose elements are followed. */
bool vram_onnx_value(struct vram_op *op, uint32_t i, struct vram_onnx_grid *grid);
/* Coordinates of element i. */
void vram_onnx_at(const struct vram_onnx_grid *grid, int64_t i, int64_t *at);
/* Index of the element of a grid that broadcasting puts at `at` of a grid of `rank` axes. */
int64_t vram_onnx_broadcast_index(const struct vram_onnx_grid *grid, uint32_t rank,
                                  const int64_t *at);

/* ---- elements (arith.c); dtype is that of the result ---- */
typedef struct vram_element vram_element_fn1(struct vram_op *op, struct vram_element a,
                                             uint8_t dtype);
typedef struct vram_element vram_element_fn2(struct vram_op *op, struct vram_element a,
                                             struct vram_element b, uint8_t dtype);
extern const struct vram_element vram_element_unknown;
bool vram_element_known(struct vram_element e);
/* It is a number. */
bool vram_element_number(struct vram_op *op, struct vram_element e, double *x);
/* It is a whole number. */
bool vram_element_whole(struct vram_op *op, struct vram_element e, int64_t *n);
/* A number rounded to the dtype. */
struct vram_element vram_element_round_to(struct vram_op *op, double x, uint8_t dtype);
struct vram_element vram_element_truth(struct vram_op *op, enum vram_truth truth);
enum vram_truth vram_element_is_true(struct vram_op *op, struct vram_element e);
enum vram_truth vram_element_same(struct vram_op *op, struct vram_element a, struct vram_element b);
enum vram_truth vram_element_before(struct vram_op *op, struct vram_element a,
                                    struct vram_element b);
vram_element_fn2 vram_element_add, vram_element_sub, vram_element_mul, vram_element_div,
    vram_element_mod, vram_element_fmod, vram_element_pow, vram_element_min, vram_element_max;
vram_element_fn1 vram_element_neg, vram_element_abs, vram_element_sign, vram_element_floor,
    vram_element_ceil, vram_element_round;
/* A number through a function of numbers. */
struct vram_element vram_element_map(struct vram_op *op, struct vram_element a, uint8_t dtype,
                                     double (*f)(double));
/* Output 0 = f of the elements of inputs. */
int vram_onnx_value1(struct vram_op *op, vram_element_fn1 *f);
int vram_onnx_value2(struct vram_op *op, vram_element_fn2 *f);

#endif
