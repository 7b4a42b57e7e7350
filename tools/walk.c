/* SPDX-License-Identifier: Apache-2.0
 *
 * Walking trees of models; see scan.h.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scan.h"

enum { DEPTH = 128, LINKS = 4 /* links to folders on one way down */ };

struct entry {
    char *name;
    bool folder, linked;
};

/* A folder on the way down: what is left to visit in it. */
struct level {
    size_t length; /* of its path */
    struct entry *at;
    size_t n, next;
    dev_t device;
    ino_t inode;
    int links; /* followed to come here */
};

struct walk {
    const char *const *roots;
    size_t nroots, root; /* next root */
    char **real;         /* of the roots that are folders; NULL where there is none */
    char *path;
    size_t cap;
    struct level levels[DEPTH];
    int depth;
};

static bool ends(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && !strcmp(name + n - k, suffix);
}

struct walk *walk_open(const char *const *roots, size_t n)
{
    struct walk *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->roots = roots;
    w->nroots = n;
    w->real = calloc(n + 1, sizeof *w->real);
    for (size_t i = 0; w->real && i < n; i++)
        w->real[i] = realpath(roots[i], NULL);
    if (w->real)
        return w;
    free(w);
    return NULL;
}

static void drop(struct level *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->at[i].name);
    free(l->at);
    *l = (struct level){0};
}

void walk_close(struct walk *w)
{
    if (!w)
        return;
    while (w->depth)
        drop(&w->levels[--w->depth]);
    for (size_t i = 0; i < w->nroots; i++)
        free(w->real[i]);
    free(w->real);
    free(w->path);
    free(w);
}

/* path[0 … length) + "/" + name; "." is left out.  false: out of memory. */
static bool extend(struct walk *w, size_t length, const char *name)
{
    size_t n = strlen(name);
    if (length + n + 2 > w->cap) {
        char *grown = realloc(w->path, 2 * (length + n + 2));
        if (!grown)
            return false;
        w->path = grown;
        w->cap = 2 * (length + n + 2);
    }
    if (length && w->path[length - 1] != '/')
        w->path[length++] = '/';
    memcpy(w->path + length, name, n + 1);
    return true;
}

/* Is path the folder, or below it?  Both are real paths. */
static bool within(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return !strncmp(path, folder, n) && (!path[n] || path[n] == '/' || folder[n - 1] == '/');
}

/* A link to a folder: not back to one we are in, not into a tree that is scanned anyway nor to one that
 * holds it. */
static bool follow(const struct walk *w, const struct stat *st)
{
    const struct level *top = &w->levels[w->depth - 1];
    bool ok = top->links < LINKS;
    for (int i = 0; ok && i < w->depth; i++)
        ok = w->levels[i].device != st->st_dev || w->levels[i].inode != st->st_ino;
    char *real = ok ? realpath(w->path, NULL) : NULL;
    ok = ok && real;
    for (size_t i = 0; ok && i < w->nroots; i++)
        ok = !w->real[i] || (!within(real, w->real[i]) && !within(w->real[i], real));
    free(real);
    return ok;
}

/* Is this entry worth keeping?  Sets folder and linked.  A model's own files are seen in *model. */
static bool wanted(const struct walk *w, const struct dirent *d, struct entry *out, bool *model)
{
    const char *name = d->d_name;
    struct stat st;
    int kind = d->d_type;
    *out = (struct entry){.name = NULL};
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return false;
    if (kind == DT_UNKNOWN)
        kind = lstat(w->path, &st) ? DT_UNKNOWN : S_ISLNK(st.st_mode) ? DT_LNK
               : S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_FIFO;
    if (kind == DT_LNK) {
        out->linked = true;
        kind = stat(w->path, &st) ? DT_LNK : S_ISDIR(st.st_mode) ? DT_DIR
               : S_ISREG(st.st_mode) ? DT_REG : DT_FIFO;
        if (kind == DT_DIR && !follow(w, &st))
            return false;
    }
    out->folder = kind == DT_DIR;
    if (out->folder)
        return strcmp(name, ".git") != 0;
    if (kind != DT_REG && kind != DT_LNK) /* a broken link to a model's file is its trouble */
        return false;
    *model = *model || !strcmp(name, "config.json") || ends(name, ".safetensors") ||
             ends(name, ".safetensors.index.json");
    return kind == DT_REG && (ends(name, ".onnx") || ends(name, ".onnx.gz"));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* Reads the folder at w->path as a new level.  0 or an errno. */
static int descend(struct walk *w, bool *model, int links)
{
    struct level l = {.length = strlen(w->path), .links = links};
    struct stat st;
    size_t cap = 0;
    if (w->depth == DEPTH)
        return ELOOP;
    DIR *dir = opendir(w->path);
    if (!dir)
        return errno;
    if (!fstat(dirfd(dir), &st)) {
        l.device = st.st_dev;
        l.inode = st.st_ino;
    }
    w->levels[w->depth++] = l; /* follow() looks at it */
    int code = 0;
    for (struct dirent *d; !code && (errno = 0, d = readdir(dir));) {
        struct entry e;
        if (!extend(w, l.length, d->d_name)) {
            code = ENOMEM;
            break;
        }
        if (!wanted(w, d, &e, model))
            continue;
        if (l.n == cap) {
            struct entry *grown = realloc(l.at, (cap = cap ? 2 * cap : 16) * sizeof *l.at);
            if (!grown) {
                code = ENOMEM;
                break;
            }
            l.at = grown;
        }
        e.name = strdup(d->d_name);
        code = e.name ? 0 : ENOMEM;
        if (e.name)
            l.at[l.n++] = e;
    }
    closedir(dir);
    w->path[l.length] = 0;
    if (l.n)
        qsort(l.at, l.n, sizeof *l.at, by_name);
    w->levels[w->depth - 1] = l;
    if (code)
        drop(&w->levels[--w->depth]);
    return code;
}

/* A repository of the hub cache is one model, and so is a file that was named. */
static bool whole(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct stat st;
    return !strncmp(slash ? slash + 1 : path, "models--", 8) || stat(path, &st) || !S_ISDIR(st.st_mode);
}

/* Goes into w->path; true: it is a model itself, or trouble. */
static bool enter(struct walk *w, int links, int *trouble, bool *memory)
{
    bool model = false;
    int code = descend(w, &model, links);
    *memory = code == ENOMEM;
    *trouble = code;
    return code || model;
}

const char *walk_next(struct walk *w, int *trouble, bool *memory)
{
    *trouble = 0;
    *memory = false;
    for (;;) {
        while (w->depth && w->levels[w->depth - 1].next == w->levels[w->depth - 1].n)
            drop(&w->levels[--w->depth]);
        if (w->depth) {
            struct level *l = &w->levels[w->depth - 1];
            struct entry *e = &l->at[l->next++];
            if (!extend(w, l->length, e->name)) {
                *memory = true;
                return NULL;
            }
            if (!e->folder || whole(w->path))
                return w->path;
            if (enter(w, l->links + e->linked, trouble, memory))
                return *memory ? NULL : w->path;
            continue;
        }
        if (w->root == w->nroots)
            return NULL;
        if (!extend(w, 0, w->roots[w->root++])) {
            *memory = true;
            return NULL;
        }
        for (size_t n = strlen(w->path); n > 1 && w->path[n - 1] == '/'; n--)
            w->path[n - 1] = 0;
        if (whole(w->path))
            return w->path;
        if (enter(w, 0, trouble, memory))
            return *memory ? NULL : w->path;
    }
}
