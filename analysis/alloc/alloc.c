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
    NULL,
};

const struct vram_allocator_row *vram_allocator_find(const char *name)
{
    for (size_t i = 0; vram_allocators[i]; i++)
        if (!strcmp(vram_allocators[i]->name, name))
            return vram_allocators[i];
    return NULL;
}
