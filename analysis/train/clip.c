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

/* A gradient that every rank of the mesh has whole, while others have their parts. */
static bool replicated(const struct vram_machine *m, const struct vram_handle *p)
{
    const struct vram_param *q = p->param < m->tree->nparams ? &m->tree->params[p->param] : NULL;
    return q && q->mesh && (!q->whole || (p->grad && p->rank && p->grad->shape[0] != p->shape[0]));
}

/* get_total_norm: one scalar per gradient in its dtype, their stack in the highest one, the norm. */
static struct vram_handle *total_norm(struct vram_machine *m, struct vram_handle **params, uint32_t n)
{
    uint8_t dtypes[8];
    uint32_t ndtypes = vram_dtypes_of(params, n, dtypes), k = 0, all = 0;
    struct vram_handle **norms = vram_machine_alloc(m, 2 * (size_t)n, sizeof(struct vram_handle *));
    for (uint32_t d = 0; d < ndtypes; d++)
        for (uint32_t i = 0; i < n; i++)
            if (params[i]->dtype == dtypes[d])
                norms[k++] = vram_new_scalar(m, (enum vram_dtype)dtypes[d]);
    int64_t shape[1] = {k};
    enum vram_dtype dtype = ndtypes > 1 ? VRAM_DT_F32 : (enum vram_dtype)dtypes[0];
    for (uint32_t i = 0; i < n; i++) /* made as partial as the others are */
        if (replicated(m, params[i]))
            norms[k + all++] = vram_new_scalar(m, (enum vram_dtype)params[i]->dtype);
    struct vram_handle *stack = vram_new(m, shape, 1, dtype, NULL);
    while (all)
        vram_drop(m, norms[k + --all]);
    struct vram_handle *total = vram_new_scalar(m, dtype);
    vram_drop(m, stack);
    while (k)
        vram_drop(m, norms[--k]);
    return total;
}

/* clip_grads_with_norm_: a sum, its inverse, the product, its bound; the last two live until the next are
 * there. */
static void coefficient(struct vram_machine *m, enum vram_dtype dtype, struct vram_handle **product,
                        struct vram_handle **bound)
{
    struct vram_handle *sum = vram_new_scalar(m, dtype), *inverse = vram_new_scalar(m, dtype);
    struct vram_handle *now = vram_new_scalar(m, dtype);
    vram_drop(m, sum);
    vram_drop(m, inverse);
    vram_let_go(m, product);
    *product = now;
    now = vram_new_scalar(m, dtype);
    vram_let_go(m, bound);
    *bound = now;
}

/* DTensor.full_tensor of a norm: powers are summed. */
static struct vram_handle *full(struct vram_machine *m, enum vram_dtype dtype)
{
    struct vram_handle *power = vram_new_scalar(m, dtype), *sum = vram_new_scalar(m, dtype);
    struct vram_handle *root = vram_new_scalar(m, dtype);
    vram_drop(m, power);
    vram_drop(m, sum);
    return root;
}

/* Meshes in the order of first appearance; how many. */
uint32_t vram_meshes_of(const struct vram_machine *m, struct vram_handle **params, uint32_t n, uint8_t out[VRAM_MESHES])
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < found && out[k] != vram_param_mesh(m, params[i]))
            k++;
        if (k == found && found < VRAM_MESHES)
            out[found++] = vram_param_mesh(m, params[i]);
    }
    return found;
}

static enum vram_dtype widest(struct vram_handle **norms, uint32_t n)
{
    uint8_t d = norms[0]->dtype;
    for (uint32_t i = 1; i < n; i++)
        d = vram_dtypes[norms[i]->dtype].bits > vram_dtypes[d].bits ? norms[i]->dtype : d;
    return (enum vram_dtype)d;
}

/* Gradients on several meshes: a norm of each, then that of all (Trainer._mixed_mesh_grad_norm). */
static struct vram_handle *clip_meshes(struct vram_machine *m, struct vram_handle **params, uint32_t n,
                                       const uint8_t *meshes, uint32_t nmeshes)
{
    struct vram_handle **some = vram_machine_alloc(m, n, sizeof(struct vram_handle *));
    struct vram_handle *norms[VRAM_MESHES], *last = NULL, *product = NULL, *bound = NULL;
    for (uint32_t k = 0; k < nmeshes; k++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < n; i++)
            if (vram_param_mesh(m, params[i]) == meshes[k])
                some[count++] = params[i];
        struct vram_handle *norm = total_norm(m, some, count);
        vram_let_go(m, &last);
        last = norm;
        norms[k] = meshes[k] ? full(m, (enum vram_dtype)norm->dtype) : vram_hold(norm);
    }
    int64_t shape[1] = {nmeshes};
    enum vram_dtype dtype = widest(norms, nmeshes);
    struct vram_handle *stack = vram_new(m, shape, 1, dtype, NULL), *total = vram_new_scalar(m, dtype);
    vram_drop(m, stack);
    for (uint32_t k = 0; k < nmeshes; k++) {
        coefficient(m, dtype, &product, &bound);
        vram_let_go(m, &product);
        vram_let_go(m, &bound);
    }
    for (uint32_t k = 0; k < nmeshes; k++)
        vram_drop(m, norms[k]);
    vram_drop(m, last);
    return total;
}

uint8_t vram_param_mesh(const struct vram_machine *m, const struct vram_handle *p)
{
    return p->param < m->tree->nparams ? m->tree->params[p->param].mesh : 0;
}

/* The norm, then the coefficient's four scalars. */
struct vram_handle *vram_clip(struct vram_machine *m, struct vram_handle **params, uint32_t n)
{
    struct vram_handle *total, *product = NULL, *bound = NULL;
    if (!n)
        return NULL;
    m->scope = 0;
    uint8_t meshes[VRAM_MESHES];
    uint32_t nmeshes = vram_meshes_of(m, params, n, meshes);
    if (nmeshes > 1)
        return clip_meshes(m, params, n, meshes, nmeshes);
    total = total_norm(m, params, n);
    coefficient(m, (enum vram_dtype)total->dtype, &product, &bound);
    vram_drop(m, product);
    vram_drop(m, bound);
    return total;
}
