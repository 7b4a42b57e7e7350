/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of the records in a file; see resume.h.
 */
#include "resume.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

struct known {
    uint64_t path, stamp;    /* hashes; 0 = a free slot */
    uint64_t offset, length; /* of the line */
    uint64_t order;          /* when its path was seen; 0 = not yet */
};

struct resume {
    char *name;
    FILE *file;
    struct known *at;
    size_t cap, n;
    uint64_t seen;
    uint64_t end; /* of the file */
};

static uint64_t hash(const char *text, size_t n)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h ? h : 1;
}

static struct known *slot(struct known *at, size_t cap, uint64_t path)
{
    size_t i = (size_t)(path * 0x9e3779b97f4a7c15u >> 16) & (cap - 1);
    while (at[i].path && at[i].path != path)
        i = (i + 1) & (cap - 1);
    return &at[i];
}

/* The entry of a path, made when there is none; NULL when out of memory. */
static struct known *entry(struct resume *r, uint64_t path)
{
    if (2 * (r->n + 1) > r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 1024;
        struct known *grown = calloc(cap, sizeof *grown);
        if (!grown)
            return NULL;
        for (size_t i = 0; i < r->cap; i++)
            if (r->at[i].path)
                *slot(grown, cap, r->at[i].path) = r->at[i];
        free(r->at);
        r->at = grown;
        r->cap = cap;
    }
    struct known *k = slot(r->at, r->cap, path);
    if (!k->path) {
        k->path = path;
        r->n++;
    }
    return k;
}

/* The string behind "key": in a line that scan wrote, as it is escaped; n = 0: none. */
static const char *value(const char *line, const char *key, size_t *n)
{
    const char *at = strstr(line, key);
    *n = 0;
    if (!at)
        return NULL;
    at += strlen(key);
    while (at[*n] && at[*n] != '"')
        *n += at[*n] == '\\' && at[*n + 1] ? 2 : 1;
    return at;
}

/* The path as the line has it is not the path itself where it is escaped: both sides hash the
 * escaped form, which scan computes the same way each time. */
static bool note(struct resume *r, const char *line, uint64_t offset, uint64_t length)
{
    static const char head[] = "{\"schema\":\"vramcast.scan/1\",\"path\":\"";
    size_t np, ns;
    if (strncmp(line, head, sizeof head - 1) != 0)
        return true; /* not a record of ours: it goes */
    const char *path = value(line, "\"path\":\"", &np), *stamp = NULL, *last = line;
    for (const char *at; (at = strstr(last, "\"stamp\":\"")); last = at + 1)
        stamp = value(at, "\"stamp\":\"", &ns);
    if (!stamp)
        return true;
    struct known *k = entry(r, hash(path, np));
    if (!k)
        return false;
    k->stamp = hash(stamp, ns);
    k->offset = offset;
    k->length = length;
    return true;
}

static bool load(struct resume *r)
{
    char *line = NULL;
    size_t cap = 0;
    bool ok = true;
    for (ssize_t n; ok && (n = getline(&line, &cap, r->file)) > 0 && line[n - 1] == '\n';) {
        ok = note(r, line, r->end, (uint64_t)n);
        r->end += (uint64_t)n;
    }
    free(line);
    if (!ok)
        errno = ENOMEM;
    return ok && !ferror(r->file) && !ftruncate(fileno(r->file), (off_t)r->end) &&
           !fseeko(r->file, (off_t)r->end, SEEK_SET);
}

struct resume *resume_open(const char *path, FILE **file)
{
    struct resume *r = calloc(1, sizeof *r);
    if (r && (r->name = strdup(path)) && ((r->file = fopen(path, "r+")) || (r->file = fopen(path, "w+"))) &&
        load(r)) {
        *file = r->file;
        return r;
    }
    cli_fail(CLI_SYSTEM, "%s: %s", path, strerror(errno));
    if (r) {
        if (r->file)
            fclose(r->file);
        free(r->name);
        free(r->at);
    }
    free(r);
    return NULL;
}

/* A path as a record's line has it; false when out of memory.  The same escapes as output/scan.c: the
 * bytes that differ only need to differ in the same way each time. */
static uint64_t path_hash(const char *path)
{
    char small[8];
    uint64_t h = 14695981039346656037u;
    for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
        size_t n = 1;
        small[0] = (char)*p;
        if (*p == '"' || *p == '\\') {
            small[0] = '\\';
            small[1] = (char)*p;
            n = 2;
        } else if (*p < 0x20 || *p == 0x7f) {
            n = (size_t)snprintf(small, sizeof small, "\\u%04x", *p);
        }
        for (size_t i = 0; i < n; i++)
            h = (h ^ (unsigned char)small[i]) * 1099511628211u;
    }
    return h ? h : 1;
}

bool resume_has(struct resume *r, const char *path, const char *stamp, bool *memory)
{
    struct known *k = entry(r, path_hash(path));
    *memory = !k;
    if (!k)
        return false;
    k->order = ++r->seen;
    if (*stamp && k->length && k->stamp == hash(stamp, strlen(stamp)))
        return true;
    k->length = 0; /* until it is written */
    return false;
}

bool resume_wrote(struct resume *r, const char *path)
{
    struct known *k = entry(r, path_hash(path));
    off_t end = ftello(r->file);
    if (!k || end < 0)
        return false;
    k->offset = r->end;
    k->length = (uint64_t)end - r->end;
    r->end = (uint64_t)end;
    return true;
}

static int by_order(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool copy_line(FILE *from, const struct known *k, FILE *to)
{
    char block[4096];
    if (fseeko(from, (off_t)k->offset, SEEK_SET))
        return false;
    for (uint64_t left = k->length; left;) {
        size_t n = fread(block, 1, left < sizeof block ? (size_t)left : sizeof block, from);
        if (!n || fwrite(block, 1, n, to) != n)
            return false;
        left -= n;
    }
    return true;
}

static bool rewrite(struct resume *r)
{
    size_t n = 0, size = strlen(r->name) + 8;
    char *name = malloc(size);
    if (!name)
        return false;
    snprintf(name, size, "%s.part", r->name);
    for (size_t i = 0; i < r->cap; i++)
        if (r->at[i].path && r->at[i].order && r->at[i].length)
            r->at[n++] = r->at[i];
    if (n)
        qsort(r->at, n, sizeof *r->at, by_order);
    FILE *to = fopen(name, "w");
    bool ok = to;
    for (size_t i = 0; ok && i < n; i++)
        ok = copy_line(r->file, &r->at[i], to);
    if (to && fclose(to))
        ok = false;
    ok = ok && !rename(name, r->name);
    if (to && !ok)
        remove(name);
    free(name);
    return ok;
}

bool resume_close(struct resume *r, bool complete)
{
    bool ok = !fflush(r->file) && (!complete || rewrite(r));
    if (fclose(r->file))
        ok = false;
    free(r->name);
    free(r->at);
    free(r);
    return ok;
}
