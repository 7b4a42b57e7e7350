/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products: as numpy.matmul, Gemm, Einsum, and their quantised forms.
 */
#include <string.h>

#include "common.h"

/* Dims of an operand with its two places changed as asked; a vector stays one. */
static vram_dim *operand(struct vram_op *op, const struct vram_info *x, bool trans, bool batch)
{
    vram_dim *dims = vram_onnx_copy(op, x), first;
    uint32_t n = x->rank;
    if (!dims || n < 2)
        return dims;
    if (batch && n > 2) { /* [0, 1 … n−2, n−1] becomes [1 … n−2, 0, n−1] */
        first = dims[0];
        memmove(dims, dims + 1, (n - 2) * sizeof *dims);
        dims[n - 2] = first;
    }
    if (trans) {
        first = dims[n - 1];
        dims[n - 1] = dims[n - 2];
        dims[n - 2] = first;
    }
    return dims;
}

int vram_onnx_matmul(struct vram_op *op, const struct vram_onnx_matmul *m, uint8_t dtype)
{
    const struct vram_info *a = m->a, *b = m->b;
    vram_dim *out, inner;
    uint32_t rank;
    if ((vram_onnx_ranked(a) && a->rank == 0) || (vram_onnx_ranked(b) && b->rank == 0))
        return vram_op_fail(op, "a scalar cannot be multiplied as a matrix");
    if (!vram_onnx_ranked(a) || !vram_onnx_ranked(b))
        return vram_op_out(op, 0, dtype);
    vram_dim *x = operand(op, a, m->trans_a, m->batch_a);
    vram_dim *y = operand(op, b, m->trans_b, m->batch_b);
    if (!x || !y)
        return op->cx->error->code;
    vram_dim ky = y[b->rank > 1 ? b->rank - 2 : 0];
    VRAM_TRY(vram_op_same(op, x[a->rank - 1], ky, "inner sizes of the product", &inner));
    VRAM_TRY(vram_onnx_broadcast_dims(op, x, a->rank > 2 ? a->rank - 2 : 0, y,
                                      b->rank > 2 ? b->rank - 2 : 0, &out, &rank));
    vram_dim *dims = vram_op_dims(op, rank + 2);
    if (!dims)
        return op->cx->error->code;
    if (rank)
        memcpy(dims, out, rank * sizeof *dims);
    if (a->rank > 1)
        dims[rank++] = x[a->rank - 2];
    if (b->rank > 1)
        dims[rank++] = y[b->rank - 1];
    return vram_op_out_dims(op, 0, dtype, dims, rank);
}

int vram_onnx_gemm(struct vram_op *op, const struct vram_info *a, const struct vram_info *b,
                   uint8_t dtype)
{
    int64_t trans_a, trans_b;
    vram_dim inner, dims[2] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    VRAM_TRY(vram_op_int(op, "transA", 0, &trans_a));
    VRAM_TRY(vram_op_int(op, "transB", 0, &trans_b));
    if ((vram_onnx_ranked(a) && a->rank != 2) || (vram_onnx_ranked(b) && b->rank != 2))
        return vram_op_fail(op, "operands of ranks %u and %u instead of matrices",
                            vram_onnx_ranked(a) ? a->rank : 2, vram_onnx_ranked(b) ? b->rank : 2);
    if (vram_onnx_ranked(a))
        dims[0] = a->dims[trans_a != 0];
    if (vram_onnx_ranked(b))
        dims[1] = b->dims[trans_b == 0];
    if (vram_onnx_ranked(a) && vram_onnx_ranked(b))
        VRAM_TRY(vram_op_same(op, a->dims[trans_a == 0], b->dims[trans_b != 0],
                              "inner sizes of the product", &inner));
    return vram_op_out_dims(op, 0, dtype, dims, 2);
}

int vram_onnx_linear(struct vram_op *op, const struct vram_info *x, int64_t k, int64_t n)
{
    vram_dim same;
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, vram_onnx_dtype(x));
    if (x->rank == 0)
        return vram_op_fail(op, "a scalar cannot be multiplied as a matrix");
    if (k >= 0)
        VRAM_TRY(vram_op_same(op, x->dims[x->rank - 1], vram_onnx_num(op, k),
                              "inner sizes of the product", &same));
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[x->rank - 1] = vram_onnx_num(op, n);
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int matmul(struct vram_op *op)
{
    const struct vram_onnx_matmul m = {.a = op->in[0], .b = op->in[1]};
    return vram_onnx_matmul(op, &m, op->in[0]->dtype);
}

static int matmul_integer(struct vram_op *op)
{
    const struct vram_onnx_matmul m = {.a = op->in[0], .b = op->in[1]};
    return vram_onnx_matmul(op, &m, VRAM_DT_I32);
}

static int qlinear_matmul(struct vram_op *op)
{
    const struct vram_onnx_matmul m = {.a = op->in[0], .b = op->in[3]};
    return vram_onnx_matmul(op, &m, vram_onnx_in_dtype(op, 7));
}

/* The addend is broadcast to the product. */
static int gemm(struct vram_op *op)
{
    const struct vram_info *c = vram_onnx_in(op, 2), *y = &op->out[0];
    vram_dim *dims;
    uint32_t rank;
    VRAM_TRY(vram_onnx_gemm(op, op->in[0], op->in[1], op->in[0]->dtype));
    if (!vram_onnx_ranked(c) || op->n_out == 0 || !y->ranked)
        return 0;
    if (c->rank > 2)
        return vram_op_fail(op, "addend of rank %u", c->rank);
    if (op->version < 7)
        return 0;
    return vram_onnx_broadcast_dims(op, y->dims, y->rank, c->dims, c->rank, &dims, &rank);
}

/* ---- Einsum ---- */

struct einsum {
    bool seen[52];
    uint32_t count[52]; /* how often the letter stands among the operands */
    vram_dim size[52];
    vram_dim *dots; /* sizes of the ellipsis, right-aligned */
    uint32_t n_dots;
    bool has_dots;
};

static int letter(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

/* Counts the letters of one term of n characters and whether it has an ellipsis. */
static int scan(struct vram_op *op, const char *term, size_t n, uint32_t *letters, bool *dots)
{
    *letters = 0;
    *dots = false;
    for (size_t i = 0; i < n; i++) {
        if (term[i] == ' ')
            continue;
        if (letter(term[i]) >= 0) {
            ++*letters;
        } else if (n - i >= 3 && !memcmp(term + i, "...", 3) && !*dots) {
            *dots = true;
            i += 2;
        } else {
            return vram_op_fail(op, "the equation has '%.*s' as a term", (int)(n > 40 ? 40 : n),
                                term);
        }
    }
    return 0;
}

static int letter_size(struct vram_op *op, struct einsum *e, int c, vram_dim d)
{
    int64_t one;
    e->count[c]++;
    if (!e->seen[c] || (vram_dim_is_int(op->dims, e->size[c], &one) && one == 1)) {
        e->seen[c] = true;
        e->size[c] = d;
        return 0;
    }
    if (vram_dim_is_int(op->dims, d, &one) && one == 1)
        return 0;
    return vram_op_same(op, e->size[c], d, "sizes of one letter", &e->size[c]);
}

static int einsum_term(struct vram_op *op, struct einsum *e, const char *term, size_t n,
                       const struct vram_info *x)
{
    uint32_t letters, k = 0;
    bool dots;
    VRAM_TRY(scan(op, term, n, &letters, &dots));
    e->has_dots = e->has_dots || dots;
    if (!vram_onnx_ranked(x)) {
        for (size_t i = 0; i < n; i++)
            if (letter(term[i]) >= 0)
                VRAM_TRY(letter_size(op, e, letter(term[i]), VRAM_DIM_UNKNOWN));
        if (dots)
            e->n_dots = UINT32_MAX;
        return 0;
    }
    if (dots ? x->rank < letters : x->rank != letters)
        return vram_op_fail(op, "term '%.*s' for an operand of rank %u", (int)(n > 40 ? 40 : n),
                            term, x->rank);
    for (size_t i = 0; i < n; i++) {
        if (letter(term[i]) >= 0) {
            VRAM_TRY(letter_size(op, e, letter(term[i]), x->dims[k++]));
        } else if (term[i] == '.') {
            uint32_t own = x->rank - letters;
            if (e->n_dots != UINT32_MAX)
                VRAM_TRY(vram_onnx_broadcast_dims(op, e->dots, e->n_dots, x->dims + k, own,
                                                  &e->dots, &e->n_dots));
            k += own;
            i += 2;
        }
    }
    return 0;
}

/* Without an arrow: the ellipsis, then the letters that stand once, in their order. */
static int einsum_implicit(struct vram_op *op, const struct einsum *e, uint8_t dtype)
{
    vram_dim *dims = vram_op_dims(op, e->n_dots + 52);
    uint32_t rank = 0;
    if (!dims)
        return op->cx->error->code;
    for (; rank < e->n_dots; rank++)
        dims[rank] = e->dots[rank];
    for (int c = 0; c < 52; c++)
        if (e->count[c] == 1)
            dims[rank++] = e->size[c];
    return vram_op_out_dims(op, 0, dtype, dims, rank);
}

static int einsum_output(struct vram_op *op, const struct einsum *e, const char *term, size_t n,
                         uint8_t dtype)
{
    uint32_t letters, rank = 0;
    bool dots, used[52] = {false};
    VRAM_TRY(scan(op, term, n, &letters, &dots));
    if (letters > 52)
        return vram_op_fail(op, "the equation's output has a letter twice");
    vram_dim *dims = vram_op_dims(op, e->n_dots + letters);
    if (!dims)
        return op->cx->error->code;
    for (size_t i = 0; i < n; i++) {
        int c = letter(term[i]);
        if (term[i] == '.') {
            for (uint32_t k = 0; k < e->n_dots; k++)
                dims[rank++] = e->dots[k];
            i += 2;
        } else if (c >= 0) {
            if (used[c] || !e->seen[c])
                return vram_op_fail(op, "letter '%c' of the equation's output stands %s", term[i],
                                    used[c] ? "twice" : "in no operand");
            used[c] = true;
            dims[rank++] = e->size[c];
        }
    }
    return vram_op_out_dims(op, 0, dtype, dims, rank);
}

static int einsum(struct vram_op *op)
{
    struct einsum e = {.n_dots = 0};
    const char *equation;
    uint32_t k = 0;
    VRAM_TRY(vram_onnx_need_string(op, "equation", &equation));
    const char *arrow = strstr(equation, "->");
    const char *end = arrow ? arrow : equation + strlen(equation);
    for (const char *term = equation;; k++) {
        const char *comma = memchr(term, ',', (size_t)(end - term));
        size_t n = (size_t)((comma ? comma : end) - term);
        if (k >= op->n_in)
            return vram_op_fail(op, "the equation has more terms than the %u operands", op->n_in);
        VRAM_TRY(einsum_term(op, &e, term, n, op->in[k]));
        if (!comma)
            break;
        term = comma + 1;
    }
    if (k + 1 != op->n_in)
        return vram_op_fail(op, "the equation has %u terms for %u operands", k + 1, op->n_in);
    if (e.n_dots == UINT32_MAX)
        return vram_op_out(op, 0, op->in[0]->dtype);
    return arrow ? einsum_output(op, &e, arrow + 2, strlen(arrow + 2), op->in[0]->dtype)
                 : einsum_implicit(op, &e, op->in[0]->dtype);
}

static const struct vram_op_row rows[] = {
    {"MatMul", 1, 2, 2, 1, 1, matmul, NULL, NULL},
    {"MatMulInteger", 10, 2, 4, 1, 1, matmul_integer, NULL, NULL},
    {"QLinearMatMul", 10, 8, 8, 1, 1, qlinear_matmul, NULL, NULL},
    {"Gemm", 1, 3, 3, 1, 1, gemm, NULL, NULL},
    {"Gemm", 7, 3, 3, 1, 1, gemm, NULL, "the addend is broadcast"},
    {"Gemm", 11, 2, 3, 1, 1, gemm, NULL, "the addend may be left out"},
    {"Einsum", 12, 1, VRAM_ONNX_ANY, 1, 1, einsum, NULL, NULL},
};
VRAM_ONNX_FAMILY(matmul, "", "matmul", rows);
