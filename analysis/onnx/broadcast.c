/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes of several inputs that must be equal, or may be broadcast.
 */
#include <inttypes.h>
#include <string.h>

#include "onnx/pass.h"

int vram_op_same(struct vram_op *op, vram_dim a, vram_dim b, const char *what, vram_dim *out)
{
    int64_t x, y;
    *out = a ? a : b;
    if (a == b || !a || !b)
        return VRAM_OK;
    bool na = vram_dim_is_int(op->dims, a, &x), nb = vram_dim_is_int(op->dims, b, &y);
    if (na && nb)
        return vram_op_fail(op, "%s: %" PRId64 " and %" PRId64 " must be equal", what, x, y);
    if (!na && (nb || (vram_dim_on_data(op->dims, a) && !vram_dim_on_data(op->dims, b))))
        *out = b;
    return vram_infer_relate(op->pass, op->node, a, b, what);
}

static int broadcast_dim(struct vram_op *op, vram_dim a, vram_dim b, vram_dim *out)
{
    int64_t x, y;
    bool na = vram_dim_is_int(op->dims, a, &x), nb = vram_dim_is_int(op->dims, b, &y);
    if (a == b || (nb && y == 1) || (na && x != 1 && !nb)) {
        *out = a;
    } else if ((na && x == 1) || (nb && !na)) {
        *out = b;
    } else if (na && nb) {
        return vram_op_fail(op, "sizes %" PRId64 " and %" PRId64 " cannot be broadcast", x, y);
    } else if (vram_infer_related(op->pass, a, b)) {
        *out = vram_dim_on_data(op->dims, a) ? b : a;
    } else {
        *out = vram_dim_max(op->dims, a, b);
    }
    return VRAM_OK;
}

int vram_op_broadcast(struct vram_op *op, const struct vram_info *const *in, uint32_t n, vram_dim **dims,
                      uint32_t *rank)
{
    uint32_t most = 0;
    *rank = UINT32_MAX;
    *dims = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (!in[i] || !in[i]->ranked)
            return VRAM_OK;
        most = in[i]->rank > most ? in[i]->rank : most;
    }
    vram_dim *out = vram_op_dims(op, most), one = vram_dim_int(op->dims, 1);
    if (!out)
        return op->cx->error->code;
    for (uint32_t k = 0; k < most; k++)
        out[k] = one;
    for (uint32_t i = 0; i < n; i++) {
        vram_dim *to = out + (most - in[i]->rank);
        for (uint32_t k = 0; k < in[i]->rank; k++)
            if (to[k] != in[i]->dims[k])
                VRAM_TRY(broadcast_dim(op, to[k], in[i]->dims[k], &to[k]));
    }
    *dims = out;
    *rank = most;
    return VRAM_OK;
}

vram_dim vram_op_product(struct vram_op *op, const vram_dim *dims, uint32_t first, uint32_t end)
{
    vram_dim r = vram_dim_int(op->dims, 1);
    for (uint32_t i = first; i < end; i++)
        r = vram_dim_mul(op->dims, r, dims[i]);
    return r;
}
