/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of allocators; each row stands in the file of its model.
 */
#include "alloc/alloc.h"

#include <stddef.h>
#include <string.h>

#include "alloc/rows.h"

const struct vram_allocator_row *const vram_allocators[] = {
    &vram_allocator_exact,
    &vram_allocator_torch,
    &vram_allocator_torch_expandable,
    &vram_allocator_ort,
    NULL,
};

const struct vram_allocator_row *vram_allocator_find(const char *name)
{
    for (size_t i = 0; vram_allocators[i]; i++)
        if (!strcmp(vram_allocators[i]->name, name))
            return vram_allocators[i];
    return NULL;
}

int vram_replay_bounds(struct vram_cx *cx, const struct vram_allocator_row *row,
                       const struct vram_events *events, struct vram_replay *out)
{
    struct vram_replay r[VRAM_HIGH + 1];
    if (events->nranges == 0 && events->varied_from == events->varied_to) { /* nothing is uncertain */
        VRAM_TRY(row->replay(cx, events, VRAM_EXPECTED, &r[VRAM_LOW]));
        r[VRAM_EXPECTED] = r[VRAM_HIGH] = r[VRAM_LOW];
    } else if (row->bounds) {
        VRAM_TRY(row->bounds(cx, events, r));
    } else {
        for (unsigned bound = VRAM_LOW; bound <= VRAM_HIGH; bound++)
            VRAM_TRY(row->replay(cx, events, (enum vram_bound)bound, &r[bound]));
    }
    memcpy(out, r, sizeof r);
    return VRAM_OK;
}
