/* SPDX-License-Identifier: Apache-2.0
 *
 * What a file is by its first bytes, for the kinds that are not opened but often lie where weights
 * should be: a pointer instead of the file, an error page, another format.  One row each.
 */
#ifndef VRAM_KIND_H
#define VRAM_KIND_H

#include <stddef.h>

struct vram_kind {
    const char *name;   /* "git-lfs" */
    const char *is;     /* "a Git LFS pointer" */
    const char *advice; /* what to do about it */
};

/* How many first bytes are worth giving. */
enum { VRAM_KIND_BYTES = 512 };

/* The row for a file that begins with these n bytes; NULL when none fits. */
const struct vram_kind *vram_kind_of(const void *head, size_t n);
const struct vram_kind *vram_kind_row(size_t i); /* NULL past the end */

#endif
