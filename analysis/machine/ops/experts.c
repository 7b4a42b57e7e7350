/* SPDX-License-Identifier: Apache-2.0
 *
 * What routing tokens to experts needs: the best of a row, and one product over groups of rows.
 */
#include <string.h>

#include "base/math.h"
#include "ops.h"

/* ---- topk --------------------------------------------------------------------------------- */

/* zeros of the source; a real run scatters into them, the oracle makes a second tensor */
static void topk_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    const struct vram_meta *meta = &n->meta[0];
    enum vram_dtype d = (enum vram_dtype)g[0]->dtype;
    out[0] = vram_new(m, meta->shape, meta->rank, d, NULL);
    if (!m->card)
        vram_replace(m, &out[0], vram_new(m, meta->shape, meta->rank, d, NULL));
}

/* the list of k values a row and their places */
static bool best(struct vram_machine *m, struct vram_handle *x, int64_t k, struct vram_value *out)
{
    struct vram_handle *found[2];
    int64_t shape[VRAM_MAX_RANK];
    if (x->rank == 0 || k < 0 || k > x->shape[x->rank - 1])
        vram_throw(m, VRAM_E_CONFLICT, "the best %lld of a row that has not as many", (long long)k);
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = k;
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, NULL, 0, 1, topk_backward}))
        return true;
    found[0] = vram_new(m, shape, x->rank, (enum vram_dtype)x->dtype, NULL);
    found[1] = vram_new(m, shape, x->rank, VRAM_DT_I64, NULL);
    bool stopped = vram_end(m, n, found, 1, &found[1], n ? 1 : 0);
    out->kind = VRAM_V_BOX;
    out->u.box = vram_box_new(m, VRAM_BOX_LIST, 2);
    for (uint32_t i = 0; i < 2; i++)
        vram_box_push(m, out->u.box, vram_tensor_value(found[i]));
    return stopped;
}

/* topk(x, k) along the last dimension */
static bool topk(VRAM_OP)
{
    return best(m, vram_arg(m, row, a, 0), vram_arg_int(m, row, a, 1, 0), out);
}

/* x.max(-1, keepdim=True) */
static bool row_max(VRAM_OP) { return best(m, vram_arg(m, row, a, 0), 1, out); }

/* ---- grouped_mm --------------------------------------------------------------------------- */

/* rows start at multiples of 16 bytes (create_grouped_gemm_output_tensor) */
static struct vram_handle *product(struct vram_machine *m, const int64_t *shape, int rank,
                                   enum vram_dtype dtype)
{
    int64_t per = 16 / (vram_dtypes[dtype].bits / 8), columns = shape[rank - 1];
    int64_t row = (int64_t)vram_round_up((uint64_t)columns, (uint64_t)per);
    if (row == columns)
        return vram_new(m, shape, rank, dtype, NULL);
    int64_t stride[3] = {row, 1}, rows = shape[0];
    if (rank == 3) {
        rows *= shape[1];
        memcpy(stride, (int64_t[]){row * shape[1], row, 1}, sizeof stride);
    }
    int64_t elements, sizes[2] = {rows, row};
    if (!vram_product_i64(sizes, 2, &elements))
        vram_throw(m, VRAM_E_RANGE, "a product of too many elements");
    if (rows > 0)
        elements -= row - columns;
    struct vram_handle *whole = vram_new(m, &elements, 1, dtype, NULL);
    return vram_replace(m, &whole, vram_alias(m, whole, shape, stride, rank, false));
}

/* the weight's gradient lies as the weight does */
static void grouped_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    const struct vram_meta *w = &n->meta[1];
    enum vram_dtype d = (enum vram_dtype)g[0]->dtype;
    out[1] = NULL;
    if (vram_needs(n, 1)) {
        int64_t shape[3] = {w->shape[0], w->shape[1 + n->arg[0]], w->shape[2 - n->arg[0]]};
        out[1] = product(m, shape, 3, d);
        if (n->arg[0])
            vram_replace(m, &out[1], vram_swapped(m, out[1], 1, 2));
    }
    out[0] = vram_needs(n, 0) ? product(m, n->meta[0].shape, 2, d) : NULL;
}

/* grouped_mm(x, w, offsets): rows of x against the matrix of their group, w[groups, inputs,
 * outputs] */
static bool grouped_mm(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0), *w = vram_arg(m, row, a, 1);
    struct vram_handle *offsets = vram_arg(m, row, a, 2), *xs[2] = {x, w};
    if (x->rank != 2 || w->rank != 3 || x->shape[1] != w->shape[1] || x->dtype != w->dtype)
        vram_throw(m, VRAM_E_CONFLICT, "a grouped product needs rows and a matrix a group");
    struct vram_handle *save[3] = {x->requires_grad ? w : NULL, offsets,
                                   w->requires_grad ? x : NULL};
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){xs, 2, save, 3, 0, grouped_backward}))
        return true;
    if (n)
        n->arg[0] = w->stride[1] == 1 && w->stride[2] == w->shape[1];
    int64_t shape[2] = {x->shape[0], w->shape[2]};
    return vram_result(vram_end_one(m, n, product(m, shape, 2, (enum vram_dtype)x->dtype), false),
                       out);
}

static const struct vram_op_row experts_rows[] = {
    {"topk", "x k", "", "the places", "values and int64 places; backward zeros of the source",
     "derivatives.yaml topk", topk, ""},
    {"row_max", "x", "", "the place",
     "value and int64 place of a row; backward zeros of the source", "derivatives.yaml max.dim",
     row_max, ""},
    {"grouped_mm", "x w offsets", "", "x if w needs grad, w if x does, the offsets",
     "the product, rows at multiples of 16 bytes; backward: weight, then input",
     "derivatives.yaml _grouped_mm, GroupedMMUtils.h", grouped_mm, ""},
};
const struct vram_op_family vram_ops_experts = {experts_rows,
                                                sizeof experts_rows / sizeof *experts_rows};
