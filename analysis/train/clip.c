/* SPDX-License-Identifier: Apache-2.0
 *
 * Clipping the norm of the gradients (torch.nn.utils.clip_grad_norm_, foreach).
 */
#include "train/optimizer.h"

/* Lists of one dtype come out in the reverse order of first appearance. */
uint32_t vram_dtypes_of(struct vram_handle **p, uint32_t n, uint8_t *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < found && out[k] != p[i]->dtype)
            k++;
        if (k == found && found < 8)
            out[found++] = p[i]->dtype;
    }
    for (uint32_t i = 0; i < found / 2; i++) {
        uint8_t swap = out[i];
        out[i] = out[found - 1 - i];
        out[found - 1 - i] = swap;
    }
    return found;
}

/* One scalar per gradient in its dtype, their stack in the highest one, the norm; then the
 * coefficient's four scalars. */
struct vram_handle *vram_clip(struct vram_machine *m, struct vram_handle **params, uint32_t n)
{
    uint8_t dtypes[8];
    uint32_t ndtypes = vram_dtypes_of(params, n, dtypes), k = 0;
    if (!n)
        return NULL;
    struct vram_handle **norms = vram_machine_alloc(m, n, sizeof(struct vram_handle *));
    m->scope = 0;
    for (uint32_t d = 0; d < ndtypes; d++)
        for (uint32_t i = 0; i < n; i++)
            if (params[i]->dtype == dtypes[d])
                norms[k++] = vram_new_scalar(m, (enum vram_dtype)dtypes[d]);
    int64_t shape[1] = {k};
    enum vram_dtype dtype = ndtypes > 1 ? VRAM_DT_F32 : (enum vram_dtype)dtypes[0];
    struct vram_handle *stack = vram_new(m, shape, 1, dtype, NULL);
    struct vram_handle *total = vram_new_scalar(m, dtype);
    vram_drop(m, stack);
    while (k)
        vram_drop(m, norms[--k]);
    struct vram_handle *sum = vram_new_scalar(m, dtype), *inverse = vram_new_scalar(m, dtype);
    struct vram_handle *product = vram_new_scalar(m, dtype);
    vram_drop(m, sum);
    vram_drop(m, inverse);
    struct vram_handle *coefficient = vram_new_scalar(m, dtype);
    vram_drop(m, product);
    vram_drop(m, coefficient);
    return total;
}
