/* SPDX-License-Identifier: Apache-2.0
 *
 * A user's folder of template files; see folder.h.
 */
#include "text/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/template.h"

static int wanted(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 3 && e->d_name[0] != '.' && !strcmp(e->d_name + n - 3, ".vt");
}

static int bytewise(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* what: behind the name */
static int fail(struct vram_cx *cx, const char *what, const char *name, int number)
{
    const char *why = number == ENOENT                      ? "it is not there"
                      : number == ENOTDIR                   ? "it is no folder"
                      : number == EACCES || number == EPERM ? "permission denied"
                                                            : NULL;
    int code = number == ENOENT || number == ENOTDIR ? VRAM_E_NOTFOUND : VRAM_E_IO;
    code = why ? vram_fail(cx, code, VRAM_NO_OFFSET, "%s: %s", what, why)
               : vram_fail(cx, code, VRAM_NO_OFFSET, "%s (error %d)", what, number);
    vram_where(cx, "%s", name);
    return code;
}

static int empty(struct vram_cx *cx, const char *path)
{
    vram_where(cx, "%s", path);
    return vram_fail(cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "the templates' folder has no .vt file");
}

static int parse_file(struct vram_cx *cx, struct vram_program *program, int fd, const char *name)
{
    struct stat st;
    if (fstat(fd, &st))
        return fail(cx, "cannot be read", name, errno);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > cx->limits->template_bytes) {
        vram_where(cx, "%s", name);
        return vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET,
                         "not a regular file of at most %llu bytes",
                         (unsigned long long)cx->limits->template_bytes);
    }
    size_t n = (size_t)st.st_size, have = 0;
    char *text = vram_arena_alloc(cx->arena, n);
    if (!text)
        return vram_fail_memory(cx);
    while (have < n) {
        ssize_t k = read(fd, text + have, n - have);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return fail(cx, "cannot be read", name, k ? errno : EIO);
        have += (size_t)k;
    }
    return vram_template_parse(cx, program, name, text, n);
}

int vram_template_folder(struct vram_cx *cx, struct vram_program *program, const char *path)
{
    struct dirent **names;
    int n = scandir(path, &names, wanted, bytewise), code = VRAM_OK;
    if (n < 0)
        return fail(cx, "the templates' folder cannot be read", path, errno);
    if (n == 0)
        code = empty(cx, path);
    for (int i = 0; i < n; i++) {
        char *name = code ? NULL : vram_format(cx->arena, "%s/%s", path, names[i]->d_name);
        free(names[i]);
        if (code)
            continue;
        int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
        if (!name)
            code = vram_fail_memory(cx);
        else if (fd < 0)
            code = fail(cx, "cannot be opened", name, errno);
        else
            code = parse_file(cx, program, fd, name);
        if (fd >= 0)
            close(fd);
    }
    free(names);
    program->own_files = (uint16_t)program->files.n;
    return code;
}
