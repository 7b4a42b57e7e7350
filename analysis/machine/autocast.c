/* SPDX-License-Identifier: Apache-2.0
 *
 * Autocast: what is cast, and the cache of casts of trainable fp32 leaves (at::autocast::cached_cast).
 */
#include "base/vec.h"
#include "machine/machine.h"

static void cast_backward(struct vram_machine *m, struct vram_tape_node *n,
                          struct vram_handle **g, struct vram_handle **saved,
                          struct vram_handle **out)
{
    (void)saved;
    out[0] = g[0]->dtype == n->meta[0].dtype
                 ? vram_hold(g[0])
                 : vram_new_like(m, g[0], (enum vram_dtype)n->meta[0].dtype);
}

struct vram_handle *vram_cast(struct vram_machine *m, struct vram_handle *x, enum vram_dtype dtype)
{
    struct vram_tape_node *n;
    if (x->dtype == dtype)
        return vram_hold(x);
    if (vram_begin(m, &n, &(struct vram_begin){.inputs = &x, .ninputs = 1,
                                               .backward = cast_backward}))
        return NULL; /* saves nothing, so it never stops a recomputation */
    struct vram_handle *o = vram_new_like(m, x, dtype);
    if (x->param != VRAM_NO_PARAM && o->storage) {
        m->events->storages[o->storage->id].param = x->param;
        m->events->storages[o->storage->id].flags |= VRAM_STORAGE_WEIGHT_CAST;
    }
    vram_end(m, n, &o, 1, NULL, 0);
    return o;
}

struct vram_handle *vram_autocast_lower(struct vram_machine *m, struct vram_handle *x)
{
    if (m->autocast == VRAM_DT_NONE || !x || !vram_dtype_is_float((enum vram_dtype)x->dtype) ||
        x->dtype == m->autocast)
        return vram_hold(x);
    bool cached = m->cache_generation && x->leaf && x->requires_grad && x->dtype == VRAM_DT_F32 &&
                  !x->base;
    if (cached && x->cast_generation == m->cache_generation)
        return vram_hold(x->cast);
    struct vram_handle *o = vram_cast(m, x, m->autocast);
    if (cached) {
        if (!vram_vec_push(&m->cache, m->cx->arena, vram_hold(o)))
            vram_throw_memory(m);
        x->cast = o;
        x->cast_generation = m->cache_generation;
    }
    return o;
}

struct vram_handle *vram_autocast_fp32(struct vram_machine *m, struct vram_handle *x)
{
    if (m->autocast == VRAM_DT_NONE || !x || !vram_dtype_is_float((enum vram_dtype)x->dtype))
        return vram_hold(x);
    return vram_cast(m, x, VRAM_DT_F32);
}

void vram_autocast_enter(struct vram_machine *m, enum vram_dtype dtype)
{
    m->autocast = dtype;
    m->cache_generation = ++m->generations;
}

/* The cache ends with the outermost region. */
void vram_autocast_leave(struct vram_machine *m)
{
    for (size_t i = 0; i < m->cache.n; i++)
        vram_drop(m, m->cache.at[i]);
    m->cache.n = 0;
    m->autocast = VRAM_DT_NONE;
    m->cache_generation = 0;
}
