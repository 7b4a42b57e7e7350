/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of a model, read-only.  A file is opened by its bare name in the model's folder; only the
 * bytes that are asked for are read (pread), so that a file of 700 GB costs its header.
 *
 * Path rules: no name with a slash, no "..", nothing absolute.  A symbolic link is followed when it
 * leads to a place inside the folder or, in a hub cache (models--ORG--NAME/snapshots/REV), into the
 * blobs of the same repository; any other link is not followed.  Pipes, devices and folders are
 * refused without waiting on them.
 */
#ifndef VRAM_SOURCE_H
#define VRAM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cx.h"

struct vram_folder {
    const char *path;   /* without trailing slashes; "." for the current one */
    const char *prefix; /* before file names in messages: "", or "../clip-vit/" */
};

struct vram_source {
    int fd;
    uint64_t size;
    const char *name; /* for messages: prefix and name, escaped */
};

enum vram_presence {
    VRAM_PRESENT,  /* open; the caller closes it */
    VRAM_ABSENT,   /* no such file */
    VRAM_DANGLING, /* a link to nothing */
    VRAM_ESCAPING  /* a link out of the model's own tree: not followed */
};

/* A name that can lie in a folder: 1 to 255 bytes, no '/', no NUL, not "." or "..". */
bool vram_name_is_bare(const char *name, size_t n);

/* Is there a folder at path?  A copy of it without trailing slashes, in the arena. */
int vram_folder_open(struct vram_cx *cx, const char *path, const char *prefix,
                     struct vram_folder *out);
bool vram_is_folder(const char *path);
/* "models--ORG--NAME" is a hub cache's folder of one repository. */
bool vram_is_repository(const char *name);
/* The last part of a path without trailing slashes; length in *n. */
const char *vram_path_last(const char *path, size_t *n);
/* Absolute, without links; *out = NULL when there is nothing at path. */
int vram_path_real(struct vram_cx *cx, const char *path, char **out);

/* Opens name in folder.  What is not VRAM_PRESENT is no error: *presence says it. */
int vram_source_open(struct vram_cx *cx, const struct vram_folder *folder, const char *name,
                     struct vram_source *out, enum vram_presence *presence);
/* The same for a file that the user named: links are followed anywhere. */
int vram_source_open_given(struct vram_cx *cx, const struct vram_folder *folder, const char *name,
                           struct vram_source *out, enum vram_presence *presence);
/* The same for a path below the folder (sub/model.data); the caller has refused "..", and what is
 * absolute. */
int vram_source_open_below(struct vram_cx *cx, const struct vram_folder *folder, const char *path,
                           struct vram_source *out, enum vram_presence *presence);
void vram_source_close(struct vram_source *source);
/* Exactly n bytes from offset. */
int vram_source_read(struct vram_cx *cx, const struct vram_source *source, uint64_t offset,
                     void *to, size_t n);

/* A heap block that is used again for one file after another. */
struct vram_buffer {
    unsigned char *at;
    size_t cap;
};
bool vram_buffer_reserve(struct vram_buffer *buffer, size_t n);
/* The whole of a file that should be JSON into the buffer.  A file that is too large or known to be
 * something else (a Git LFS pointer, a web page) is refused. */
int vram_source_json(struct vram_cx *cx, const struct vram_source *source,
                     struct vram_buffer *buffer);
void vram_buffer_free(struct vram_buffer *buffer);

#endif
