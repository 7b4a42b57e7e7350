/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening and reading a model's files; see source.h for the rules.  Reads with pread instead of
 * mapping: a mapped file that somebody shortens meanwhile kills the process.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kind.h"

enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY }; /* never wait, not even on a pipe */

bool vram_name_is_bare(const char *name, size_t n)
{
    return n > 0 && n <= NAME_MAX && !memchr(name, '/', n) && !memchr(name, 0, n) &&
           !(n == 1 && name[0] == '.') && !(n == 2 && name[0] == '.' && name[1] == '.');
}

bool vram_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool vram_is_repository(const char *name) { return strncmp(name, "models--", 8) == 0; }

static size_t trimmed(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

const char *vram_path_last(const char *path, size_t *n)
{
    size_t end = trimmed(path), start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    *n = end - start;
    return path + start;
}

int vram_folder_open(struct vram_cx *cx, const char *path, const char *prefix,
                     struct vram_folder *out)
{
    char *copy = vram_arena_strndup(cx->arena, path, trimmed(path));
    if (!copy)
        return vram_fail_memory(cx);
    *out = (struct vram_folder){copy, prefix};
    return VRAM_OK;
}

int vram_path_real(struct vram_cx *cx, const char *path, char **out)
{
    char real[PATH_MAX];
    *out = NULL;
    if (!realpath(path, real))
        return VRAM_OK;
    *out = vram_arena_strndup(cx->arena, real, strlen(real));
    return *out ? VRAM_OK : vram_fail_memory(cx);
}

/* strerror follows the locale; these are the ones that happen */
static int refused(struct vram_cx *cx, int number)
{
    const char *why = number == EACCES || number == EPERM ? "permission denied"
                    : number == EMFILE || number == ENFILE ? "too many open files"
                    : number == EIO ? "input/output error"
                    : number == ELOOP ? "too many symbolic links"
                    : number == ENAMETOOLONG ? "the path is too long"
                    : number == ENXIO || number == ENODEV ? "it is not a regular file" : NULL;
    if (why)
        return vram_fail(cx, VRAM_E_IO, VRAM_NO_OFFSET, "cannot be opened: %s", why);
    return vram_fail(cx, VRAM_E_IO, VRAM_NO_OFFSET, "cannot be opened: error %d of the system",
                     number);
}

/* Is path inside folder (both resolved)? */
static bool inside(const char *path, const char *folder, size_t n)
{
    return strncmp(path, folder, n) == 0 && path[n] == '/';
}

/* …/models--ORG--NAME/snapshots/REV, or a folder in it → length of …/models--ORG--NAME; 0 for anything
 * else */
static size_t repository(const char *real)
{
    static const char mark[] = "/snapshots/";
    for (const char *at = real; (at = strstr(at, mark)); at += sizeof mark - 2) {
        size_t n = (size_t)(at - real), start = n;
        while (start > 0 && real[start - 1] != '/')
            start--;
        if (at[sizeof mark - 1] && vram_is_repository(real + start))
            return n;
    }
    return 0;
}

/* where the link at path leads to, and whether it may */
static enum vram_presence follow(const struct vram_folder *folder, const char *path,
                                 char target[PATH_MAX])
{
    char real[PATH_MAX], blobs[PATH_MAX + 8];
    if (!realpath(folder->path, real))
        return VRAM_ABSENT;
    if (!realpath(path, target))
        return VRAM_DANGLING;
    if (inside(target, real, strlen(real)))
        return VRAM_PRESENT;
    size_t n = repository(real);
    if (!n)
        return VRAM_ESCAPING;
    int length = snprintf(blobs, sizeof blobs, "%.*s/blobs", (int)n, real);
    return inside(target, blobs, (size_t)length) ? VRAM_PRESENT : VRAM_ESCAPING;
}

static int adopt(struct vram_cx *cx, int fd, struct vram_source *out)
{
    struct stat st;
    if (fstat(fd, &st))
        return refused(cx, errno);
    if (S_ISDIR(st.st_mode))
        return vram_fail(cx, VRAM_E_IO, VRAM_NO_OFFSET, "this is a folder, not a file");
    if (!S_ISREG(st.st_mode) || st.st_size < 0)
        return vram_fail(cx, VRAM_E_IO, VRAM_NO_OFFSET, "this is not a regular file");
    out->fd = fd;
    out->size = (uint64_t)st.st_size;
    return VRAM_OK;
}

static int open_file(struct vram_cx *cx, const struct vram_folder *folder, const char *name,
                     bool given, struct vram_source *out, enum vram_presence *presence)
{
    char path[PATH_MAX], target[PATH_MAX], shown[300];
    vram_escape(shown, sizeof shown, name, strlen(name));
    out->fd = -1;
    out->name = vram_format(cx->arena, "%s%s", folder->prefix, shown);
    if (!out->name)
        return vram_fail_memory(cx);
    *presence = VRAM_ABSENT;
    int n = snprintf(path, sizeof path, "%s/%s", folder->path, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return refused(cx, ENAMETOOLONG);
    int fd = open(path, given ? FLAGS : FLAGS | O_NOFOLLOW);
    if (fd < 0 && errno == ELOOP && !given) {
        *presence = follow(folder, path, target);
        if (*presence != VRAM_PRESENT)
            return VRAM_OK;
        fd = open(target, FLAGS | O_NOFOLLOW);
    }
    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return VRAM_OK;
        return refused(cx, errno);
    }
    *presence = VRAM_PRESENT;
    int rc = adopt(cx, fd, out);
    if (rc)
        close(fd);
    return rc;
}

int vram_source_open(struct vram_cx *cx, const struct vram_folder *folder, const char *name,
                     struct vram_source *out, enum vram_presence *presence)
{
    int rc = open_file(cx, folder, name, false, out, presence);
    if (rc && out->name)
        vram_where(cx, "%s", out->name);
    return rc;
}

int vram_source_open_given(struct vram_cx *cx, const struct vram_folder *folder, const char *name,
                           struct vram_source *out, enum vram_presence *presence)
{
    int rc = open_file(cx, folder, name, true, out, presence);
    if (rc && out->name)
        vram_where(cx, "%s", out->name);
    return rc;
}

static int open_below(struct vram_cx *cx, const struct vram_folder *folder, const char *name,
                      struct vram_source *out, enum vram_presence *presence)
{
    char path[PATH_MAX], target[PATH_MAX];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s/%s", folder->path, name);
    *presence = VRAM_ABSENT;
    if (n < 0 || (size_t)n >= sizeof path)
        return refused(cx, ENAMETOOLONG);
    if (lstat(path, &st))
        return errno == ENOENT || errno == ENOTDIR ? VRAM_OK : refused(cx, errno);
    *presence = follow(folder, path, target); /* whatever links are on the way */
    if (*presence != VRAM_PRESENT)
        return VRAM_OK;
    int fd = open(target, FLAGS | O_NOFOLLOW);
    if (fd < 0)
        return refused(cx, errno);
    int rc = adopt(cx, fd, out);
    if (rc)
        close(fd);
    return rc;
}

int vram_source_open_below(struct vram_cx *cx, const struct vram_folder *folder, const char *path,
                           struct vram_source *out, enum vram_presence *presence)
{
    char shown[300];
    vram_escape(shown, sizeof shown, path, strlen(path));
    out->fd = -1;
    out->name = vram_format(cx->arena, "%s%s", folder->prefix, shown);
    if (!out->name)
        return vram_fail_memory(cx);
    int rc = open_below(cx, folder, path, out, presence);
    if (rc)
        vram_where(cx, "%s", out->name);
    return rc;
}

void vram_source_close(struct vram_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    source->fd = -1;
}

int vram_source_read(struct vram_cx *cx, const struct vram_source *source, uint64_t offset,
                     void *to, size_t n)
{
    char *at = to;
    while (n) {
        ssize_t got = pread(source->fd, at, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vram_fail(cx, VRAM_E_IO, offset, "cannot be read: error %d of the system",
                             errno);
        if (got == 0)
            return vram_fail(cx, VRAM_E_IO, offset, "the file became shorter while it was read");
        at += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return VRAM_OK;
}

bool vram_buffer_reserve(struct vram_buffer *buffer, size_t n)
{
    if (n <= buffer->cap)
        return true;
    unsigned char *at = vram_realloc(buffer->at, n, 1);
    if (!at)
        return false;
    buffer->at = at;
    buffer->cap = n;
    return true;
}

static int refuse_kind(struct vram_cx *cx, const struct vram_source *source,
                       const struct vram_buffer *buffer)
{
    size_t n = source->size < VRAM_KIND_BYTES ? (size_t)source->size : VRAM_KIND_BYTES;
    const struct vram_kind *kind = n ? vram_kind_of(buffer->at, n) : NULL;
    if (!kind || !strcmp(kind->name, "json"))
        return VRAM_OK;
    return vram_fail(cx, VRAM_E_FORMAT, 0, "this is %s: %s", kind->is, kind->advice);
}

int vram_source_json(struct vram_cx *cx, const struct vram_source *source,
                     struct vram_buffer *buffer)
{
    unsigned long long size = source->size, most = cx->limits->json_bytes;
    int rc = VRAM_OK;
    if (size > most)
        rc = vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET,
                       "%llu bytes are more than the limit of %llu", size, most);
    else if (!vram_buffer_reserve(buffer, (size_t)size + 1))
        rc = vram_fail_memory(cx);
    if (!rc)
        rc = vram_source_read(cx, source, 0, buffer->at, (size_t)size);
    if (!rc)
        rc = refuse_kind(cx, source, buffer);
    if (rc)
        vram_where(cx, "%s", source->name);
    return rc;
}

void vram_buffer_free(struct vram_buffer *buffer)
{
    free(buffer->at);
    *buffer = (struct vram_buffer){0};
}
