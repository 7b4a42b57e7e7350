/* SPDX-License-Identifier: Apache-2.0
 *
 * See driver.h.  Malformed text aborts: it is the test that is wrong then.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 1024 };

static void wrong(const char *text)
{
    fprintf(stderr, "driver: cannot read '%.40s'\n", text);
    abort();
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t whole = strtoull(text, &end, 10), half = 0;
    if (end == text)
        wrong(text);
    if (end[0] == '.' && end[1] == '5') {
        half = 1;
        end += 2;
    }
    uint64_t unit = *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1;
    if (unit > 1)
        end++;
    if (*end && *end != ' ')
        wrong(text);
    return whole * unit + half * unit / 2;
}

void driver_start(struct driver *d, const char *options)
{
    *d = (struct driver){0};
    vram_arena_init(&d->arena, UINT64_C(1) << 30);
    d->cx = (struct vram_cx){.arena = &d->arena, .error = &d->error};
    struct vram_caching_options o = {0};
    for (const char *p = options; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        const char *value = strchr(p, '=');
        if (!value)
            wrong(p);
        uint64_t n = number(++value);
        if (!strncmp(p, "total=", 6))
            o.total = n;
        else if (!strncmp(p, "max_split=", 10))
            o.max_split = n;
        else if (!strncmp(p, "pow2=", 5))
            o.power2_divisions = (uint32_t)n;
        else if (!strncmp(p, "expandable=", 11))
            o.expandable = n != 0;
        else
            wrong(p);
    }
    vram_caching_init(&d->caching, &d->cx, &o);
}

void driver_finish(struct driver *d) { vram_arena_finish(&d->arena); }

struct name {
    char text[24];
    uint32_t block;
    int live;
};

static struct name *find(struct name *names, size_t *n, const char *text, size_t length)
{
    if (length == 0 || length >= sizeof names->text)
        wrong(text);
    for (size_t i = 0; i < *n; i++)
        if (strlen(names[i].text) == length && !memcmp(names[i].text, text, length))
            return &names[i];
    if (*n == NAMES)
        wrong(text);
    struct name *new = &names[(*n)++];
    memset(new, 0, sizeof *new);
    memcpy(new->text, text, length);
    return new;
}

static int step(struct driver *d, struct name *names, size_t *n, const char *p)
{
    if (*p == '-') {
        struct name *name = find(names, n, p + 1, strcspn(p + 1, " "));
        if (!name->live)
            wrong(p);
        vram_caching_free(&d->caching, name->block);
        name->live = 0;
        return 0;
    }
    unsigned stream = 0;
    size_t length = strcspn(p, "=@");
    const char *value = p + length;
    if (*value == '@')
        stream = (unsigned)strtoul(value + 1, NULL, 10);
    value += strcspn(value, "=");
    if (!*value)
        wrong(p);
    struct name *name = find(names, n, p, length);
    if (name->live)
        wrong(p);
    int code = vram_caching_malloc(&d->caching, number(value + 1), stream, &name->block);
    if (code == VRAM_E_LIMIT && d->caching.options.total)
        memcpy(d->oom, name->text, sizeof d->oom);
    else if (code)
        return code;
    name->live = 1;
    if (d->caching.allocated > d->peak_allocated)
        d->peak_allocated = d->caching.allocated;
    return 0;
}

int driver_play(struct driver *d, const char *sequence)
{
    struct name *names = calloc(NAMES, sizeof *names);
    if (!names)
        abort();
    size_t n = 0;
    int code = 0;
    for (const char *p = sequence + strspn(sequence, " "); *p && *p != '\n' && !code && !d->oom[0];
         p += strcspn(p, " "), p += strspn(p, " "))
        code = step(d, names, &n, p);
    free(names);
    return code;
}
