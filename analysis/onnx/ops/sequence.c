/* SPDX-License-Identifier: Apache-2.0
 *
 * Sequences and optionals.  A sequence is known by what its elements have in common, and its length.
 */
#include "onnx/op.h"

static const struct vram_info *input(const struct vram_op *op, uint32_t i) { return i < op->n_in ? op->in[i] : NULL; }

/* What an element is, without its value. */
static struct vram_info *kept(struct vram_op *op, const struct vram_info *x)
{
    struct vram_info *element = vram_arena_alloc(op->cx->arena, sizeof *element);
    if (!element) {
        vram_fail_memory(op->cx);
        return NULL;
    }
    *element = *x;
    element->value = NULL;
    element->tensor = 0;
    element->elements = 0;
    return element;
}

static int put(struct vram_op *op, const struct vram_info *element, vram_dim length)
{
    if (op->n_out)
        op->out[0] = (struct vram_info){.kind = VRAM_ONNX_SEQUENCE, .element = element, .length = length};
    return VRAM_OK;
}

static int need_sequence(struct vram_op *op, uint32_t i)
{
    const struct vram_info *x = op->in[i];
    if (x->kind == VRAM_ONNX_UNKNOWN || x->kind == VRAM_ONNX_SEQUENCE)
        return VRAM_OK;
    return vram_op_fail(op, "input %u is no sequence", i);
}

static int sequence_empty(struct vram_op *op)
{
    int64_t n;
    struct vram_info tensor = {.kind = VRAM_ONNX_TENSOR};
    VRAM_TRY(vram_op_int(op, "dtype", 1, &n));
    tensor.dtype = (uint8_t)(n > 0 && n < 256 ? vram_dtype_by_onnx((int)n) : VRAM_DT_NONE);
    if (!tensor.dtype)
        return vram_op_fail(op, "attribute 'dtype' is %lld, which is no type", (long long)n);
    const struct vram_info *element = kept(op, &tensor);
    return element ? put(op, element, vram_dim_int(op->dims, 0)) : op->cx->error->code;
}

static int sequence_construct(struct vram_op *op)
{
    struct vram_info all = *op->in[0];
    for (uint32_t i = 1; i < op->n_in; i++)
        if (op->in[i])
            VRAM_TRY(vram_op_merge(op, &all, op->in[i], NULL, &all));
    const struct vram_info *element = kept(op, &all);
    return element ? put(op, element, vram_dim_int(op->dims, op->n_in)) : op->cx->error->code;
}

static int sequence_insert(struct vram_op *op)
{
    const struct vram_info *s = op->in[0], *x = op->in[1], *element = x;
    struct vram_info both;
    int64_t n;
    VRAM_TRY(need_sequence(op, 0));
    if (s->element && !(vram_dim_is_int(op->dims, s->length, &n) && n == 0)) {
        VRAM_TRY(vram_op_merge(op, s->element, x, NULL, &both));
        element = &both;
    }
    element = kept(op, element);
    return element ? put(op, element, vram_dim_add(op->dims, s->length, vram_dim_int(op->dims, 1)))
                   : op->cx->error->code;
}

static int sequence_erase(struct vram_op *op)
{
    VRAM_TRY(need_sequence(op, 0));
    return put(op, op->in[0]->element, vram_dim_sub(op->dims, op->in[0]->length, vram_dim_int(op->dims, 1)));
}

static int sequence_at(struct vram_op *op)
{
    VRAM_TRY(need_sequence(op, 0));
    if (op->in[0]->element && op->n_out)
        op->out[0] = *op->in[0]->element;
    return VRAM_OK;
}

static int sequence_length(struct vram_op *op)
{
    VRAM_TRY(need_sequence(op, 0));
    return vram_op_out_scalar(op, 0, VRAM_DT_I64);
}

static int sequence_length_value(struct vram_op *op)
{
    struct vram_element *e = op->in[0]->length ? vram_op_elements(op, 0) : NULL;
    if (e)
        e[0] = vram_element_dim(op->in[0]->length);
    return VRAM_OK;
}

/* ---- to and from tensors ------------------------------------------------------------------- */

/* Size of the parts, and how many: `split` is left out, a scalar, or a list. */
static int parts(struct vram_op *op, vram_dim whole, vram_dim *size, vram_dim *n)
{
    const struct vram_info *split = input(op, 1);
    const vram_dim *sizes;
    uint32_t count;
    *size = split ? VRAM_DIM_UNKNOWN : vram_dim_int(op->dims, 1);
    *n = split ? VRAM_DIM_UNKNOWN : whole;
    if (!split || !vram_op_value_dims(op, split, &sizes, &count))
        return op->cx->error->code;
    if (!split->rank) {
        *n = vram_dim_ceildiv(op->dims, whole, sizes[0]);
        /* the last part is smaller unless the size divides */
        *size = vram_dim_mod(op->dims, whole, sizes[0]) == vram_dim_int(op->dims, 0) ? sizes[0] : VRAM_DIM_UNKNOWN;
        return vram_op_check(op);
    }
    *n = vram_dim_int(op->dims, count);
    for (uint32_t i = 0; i < count; i++)
        *size = !i || sizes[i] == *size ? sizes[i] : VRAM_DIM_UNKNOWN;
    return VRAM_OK;
}

static int split_to_sequence(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    int64_t axis, keep;
    uint32_t at, k = 0;
    vram_dim size, n;
    VRAM_TRY(vram_op_int(op, "axis", 0, &axis));
    VRAM_TRY(vram_op_int(op, "keepdims", 1, &keep));
    struct vram_info part = {.kind = VRAM_ONNX_TENSOR, .dtype = x->dtype};
    if (!x->ranked) {
        const struct vram_info *element = kept(op, &part);
        return element ? put(op, element, VRAM_DIM_UNKNOWN) : op->cx->error->code;
    }
    VRAM_TRY(vram_op_axis(op, "axis", axis, x->rank, &at));
    VRAM_TRY(parts(op, x->dims[at], &size, &n));
    vram_dim *dims = vram_op_dims(op, x->rank);
    if (!dims)
        return op->cx->error->code;
    bool drop = !input(op, 1) && !keep;
    for (uint32_t i = 0; i < x->rank; i++)
        if (i != at || !drop)
            dims[k++] = i == at ? size : x->dims[i];
    part.ranked = true;
    part.rank = k;
    part.dims = dims;
    const struct vram_info *element = kept(op, &part);
    return element ? put(op, element, n) : op->cx->error->code;
}

static int concat_from_sequence(struct vram_op *op)
{
    const struct vram_info *s = op->in[0], *x = s->element;
    int64_t axis, fresh;
    uint32_t at;
    VRAM_TRY(need_sequence(op, 0));
    VRAM_TRY(vram_op_need_int(op, "axis", &axis));
    VRAM_TRY(vram_op_int(op, "new_axis", 0, &fresh));
    if (!x || !x->ranked)
        return vram_op_out(op, 0, x ? x->dtype : (uint8_t)VRAM_DT_NONE);
    uint32_t rank = x->rank + (fresh ? 1 : 0);
    VRAM_TRY(vram_op_axis(op, "axis", axis, rank, &at));
    vram_dim *dims = vram_op_dims(op, rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t k = 0; k < rank; k++)
        dims[k] = !fresh ? x->dims[k] : k < at ? x->dims[k] : k > at ? x->dims[k - 1] : VRAM_DIM_UNKNOWN;
    vram_dim sum = fresh ? s->length : vram_dim_mul(op->dims, x->dims[at], s->length);
    dims[at] = sum ? sum : vram_op_fresh(op, "concat", 0, VRAM_DIM_UNKNOWN);
    return vram_op_out_dims(op, 0, x->dtype, dims, rank);
}

/* ---- optionals ----------------------------------------------------------------------------- */

static int optional(struct vram_op *op)
{
    const struct vram_info *element = NULL;
    if (input(op, 0) && !(element = kept(op, op->in[0])))
        return op->cx->error->code;
    op->out[0] = (struct vram_info){.kind = VRAM_ONNX_OPTIONAL, .element = element,
                                    .length = element ? vram_dim_int(op->dims, 1) : VRAM_DIM_UNKNOWN};
    return VRAM_OK;
}

static int optional_has(struct vram_op *op) { return vram_op_out_scalar(op, 0, VRAM_DT_BOOL); }

/* Only what is no optional, is left out, or was made of something is known. */
static int optional_has_value(struct vram_op *op)
{
    const struct vram_info *x = input(op, 0);
    bool has = x && x->kind && (x->kind != VRAM_ONNX_OPTIONAL || x->length);
    if (x && !has)
        return VRAM_OK;
    struct vram_element *e = vram_op_elements(op, 0);
    if (e)
        e[0] = vram_element_dim(vram_dim_int(op->dims, has));
    return VRAM_OK;
}

static int optional_get(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    if (x->kind != VRAM_ONNX_OPTIONAL)
        op->out[0] = *x;
    else if (x->element)
        op->out[0] = *x->element;
    return VRAM_OK;
}

static const struct vram_op_row rows[] = {
    {"SequenceEmpty", 11, 0, 0, 1, 1, sequence_empty, NULL, NULL},
    {"SequenceConstruct", 11, 1, UINT32_MAX, 1, 1, sequence_construct, NULL, NULL},
    {"SequenceInsert", 11, 2, 3, 1, 1, sequence_insert, NULL, NULL},
    {"SequenceErase", 11, 1, 2, 1, 1, sequence_erase, NULL, NULL},
    {"SequenceAt", 11, 2, 2, 1, 1, sequence_at, NULL, NULL},
    {"SequenceLength", 11, 1, 1, 1, 1, sequence_length, sequence_length_value, NULL},
    {"SplitToSequence", 11, 1, 2, 1, 1, split_to_sequence, NULL, "parts that differ in size have an unknown one"},
    {"ConcatFromSequence", 11, 1, 1, 1, 1, concat_from_sequence, NULL, NULL},
    {"Optional", 15, 0, 1, 1, 1, optional, NULL, NULL},
    {"OptionalHasElement", 15, 0, 1, 1, 1, optional_has, optional_has_value, NULL},
    {"OptionalGetElement", 15, 1, 1, 1, 1, optional_get, NULL, NULL},
};
const struct vram_op_family vram_onnx_ops_sequence = {"", "sequence", rows, sizeof rows / sizeof *rows};
