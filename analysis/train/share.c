/* SPDX-License-Identifier: Apache-2.0
 *
 * Flat buffers belong to several components: their bytes are divided by the elements that each has in
 * them, in whole bytes that add up.
 */
#include <string.h>

#include "train/strategy.h"

/* number of a share; the parts are cut at rounded cumulative positions, so that they add up */
uint32_t vram_share_new(struct vram_machine *m, struct vram_handle *const *params, uint32_t n,
                        uint64_t bytes)
{
    struct vram_events *e = m->events;
    uint64_t total = 0, so_far = 0, cut = 0;
    uint32_t parts = 0;
    struct vram_share_part *part = vram_machine_alloc(m, n ? n : 1, sizeof *part);
    for (uint32_t i = 0; i < n; i++) {
        vram_sym c = m->tree->scopes[m->tree->params[params[i]->param].scope].component;
        uint64_t elements = (uint64_t)vram_numel(params[i]);
        uint32_t k = 0;
        while (k < parts && part[k].component != c)
            k++;
        if (k == parts)
            part[parts++] = (struct vram_share_part){c, 0};
        part[k].bytes += elements;
        total += elements;
    }
    for (uint32_t k = 0; k < parts; k++) {
        so_far += part[k].bytes;
        uint64_t to = total ? (uint64_t)((double)bytes * ((double)so_far / (double)total)) : 0;
        if (k + 1 == parts)
            to = bytes;
        part[k].bytes = to - cut;
        cut = to;
    }
    if (!vram_events_share_room(e, m->cx->arena))
        vram_throw_memory(m);
    e->shares[e->nshares++] = (struct vram_share){part, parts};
    return (uint32_t)e->nshares;
}

uint32_t vram_share_scale(struct vram_machine *m, uint32_t share, uint64_t bytes)
{
    struct vram_events *e = m->events;
    struct vram_share old = e->shares[share - 1];
    struct vram_share_part *part = vram_machine_alloc(m, old.n ? old.n : 1, sizeof *part);
    uint64_t total = 0, so_far = 0, cut = 0;
    for (uint32_t i = 0; i < old.n; i++)
        total += old.parts[i].bytes;
    for (uint32_t i = 0; i < old.n; i++) {
        so_far += old.parts[i].bytes;
        uint64_t to = i + 1 == old.n ? bytes
                      : total        ? (uint64_t)((double)bytes * ((double)so_far / (double)total))
                                     : 0;
        part[i] = (struct vram_share_part){old.parts[i].component, to - cut};
        cut = to;
    }
    if (!vram_events_share_room(e, m->cx->arena))
        vram_throw_memory(m);
    e->shares[e->nshares++] = (struct vram_share){part, old.n};
    return (uint32_t)e->nshares;
}

struct vram_handle *vram_flat_new(struct vram_machine *m, uint64_t elements, enum vram_dtype dtype)
{
    int64_t shape[1] = {(int64_t)elements};
    return vram_new(m, shape, 1, dtype, NULL);
}

struct vram_handle *vram_shared_new(struct vram_machine *m, uint64_t elements,
                                    enum vram_dtype dtype, enum vram_category category,
                                    struct vram_handle *const *params, uint32_t n)
{
    struct vram_handle *x = vram_flat_new(m, elements, dtype);
    vram_set_category(m, x, category);
    if (x->storage) {
        struct vram_storage_row *row = &m->events->storages[x->storage->id];
        row->share = vram_share_new(m, params, n, row->bytes);
    }
    return x;
}
