/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the library with answers made elsewhere; diff.py writes them, this reads them from
 * standard input.  Two kinds of records:
 *
 *     T OPTIONS|SEQUENCE|allocated reserved segments peak_reserved peak_allocated retries oom
 *         a trace for the text driver (driver.h); oom is "-" or the name that did not fit
 *     E NAME ROUNDED
 *     A bytes | F id | P peak end | .
 *         an event list: allocations numbered from 0, frees, phases with their peak and end;
 * ROUNDED is the highest sum with every storage rounded up to 512 bytes
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/alloc.h"
#include "driver.h"

static unsigned long traces, lists, wrong;

static int trace(char *line)
{
    char *options = line, *sequence = strchr(line, '|');
    char *answer = sequence ? strchr(sequence + 1, '|') : NULL;
    if (!answer)
        return -1;
    *sequence++ = *answer++ = 0;
    uint64_t allocated, reserved, peak_reserved, peak_allocated;
    uint32_t segments, retries;
    char oom[24];
    if (sscanf(
            answer, "%" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu32 " %23s",
            &allocated, &reserved, &segments, &peak_reserved, &peak_allocated, &retries, oom) != 7)
        return -1;
    struct driver d;
    driver_start(&d, options);
    int code = driver_play(&d, sequence);
    const struct vram_caching *c = &d.caching;
    if (code || c->allocated != allocated || c->reserved != reserved || c->segments != segments ||
        c->peak_reserved != peak_reserved || d.peak_allocated != peak_allocated ||
        c->retries != retries || strcmp(d.oom[0] ? d.oom : "-", oom) != 0) {
        if (wrong++ < 5)
            printf("%s | %s\n  expected %s\n  got      %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu64
                   " %" PRIu64 " %" PRIu32 " %s\n",
                   options, sequence, answer, c->allocated, c->reserved, c->segments,
                   c->peak_reserved, d.peak_allocated, c->retries, d.oom[0] ? d.oom : "-");
    }
    driver_finish(&d);
    traces++;
    return 0;
}

struct list {
    struct vram_events events;
    struct vram_replay_phase phases[256]; /* expected */
};

static void *more(void *block, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return block;
    *cap = *cap ? *cap * 2 : 1024;
    block = realloc(block, *cap * size);
    if (!block)
        abort();
    return block;
}

static int list_line(struct list *l, const char *line)
{
    struct vram_events *e = &l->events;
    struct vram_event event = {0};
    if (line[0] == 'A') {
        e->storages = more(e->storages, e->nstorages, &e->storages_cap, sizeof *e->storages);
        e->storages[e->nstorages] =
            (struct vram_storage_row){.bytes = strtoull(line + 1, NULL, 10)};
        event =
            (struct vram_event){(uint32_t)e->nstorages++, VRAM_EVENT_ALLOC, VRAM_CAT_TEMPORARY, 0};
    } else if (line[0] == 'F') {
        event = (struct vram_event){(uint32_t)strtoul(line + 1, NULL, 10), VRAM_EVENT_FREE, 0, 0};
    } else if (line[0] == 'P' && e->nphases < 256) {
        struct vram_replay_phase *p = &l->phases[e->nphases];
        if (sscanf(line + 1, "%" SCNu64 " %" SCNu64, &p->peak, &p->end) != 2)
            return -1;
        event = (struct vram_event){(uint32_t)e->nphases++, VRAM_EVENT_PHASE, 0, 0};
    } else {
        return -1;
    }
    e->at = more(e->at, e->n, &e->cap, sizeof *e->at);
    e->at[e->n++] = event;
    return 0;
}

static void list_check(const struct list *l, const char *name, uint64_t rounded)
{
    struct vram_arena arena;
    vram_error error = {0};
    vram_arena_init(&arena, UINT64_C(1) << 30);
    struct vram_cx cx = {.arena = &arena, .error = &error};
    struct vram_replay_phase *phases = NULL;
    struct vram_replay replay = {0};
    uint64_t peak = 0;
    if (vram_replay_phases(&cx, &l->events, &phases) ||
        vram_allocator_find("torch")->replay(&cx, &l->events, VRAM_EXPECTED, &replay)) {
        printf("%s: %s\n", name, error.text);
        wrong++;
    }
    for (size_t i = 0; phases && i < l->events.nphases; i++) {
        const struct vram_replay_phase *a = &phases[i], *b = &l->phases[i];
        if ((a->peak != b->peak || a->end != b->end) && wrong++ < 5)
            printf("%s: phase %zu: peak %" PRIu64 " end %" PRIu64 ", expected %" PRIu64 " %" PRIu64
                   "\n",
                   name, i, a->peak, a->end, b->peak, b->end);
        peak = a->peak > peak ? a->peak : peak;
    }
    /* every tensor of these models is small, so torch counts exactly the rounded bytes */
    if (replay.allocated != rounded && wrong++ < 5)
        printf("%s: torch %" PRIu64 ", expected %" PRIu64 "\n", name, replay.allocated, rounded);
    if (vram_allocator_find("exact")->replay(&cx, &l->events, VRAM_EXPECTED, &replay) ||
        replay.allocated != peak)
        wrong++;
    vram_arena_finish(&arena);
    lists++;
}

static int list(char *head, char **line, size_t *cap)
{
    char name[128];
    uint64_t rounded;
    if (sscanf(head, "%127s %" SCNu64, name, &rounded) != 2)
        return -1;
    struct list *l = calloc(1, sizeof *l);
    if (!l)
        abort();
    int code = 0;
    while (!code && getline(line, cap, stdin) > 0 && (*line)[0] != '.')
        code = list_line(l, *line);
    if (!code)
        list_check(l, name, rounded);
    free(l->events.at);
    free(l->events.storages);
    free(l);
    return code;
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    int code = 0;
    while (!code && getline(&line, &cap, stdin) > 0) {
        if (line[0] == 'T')
            code = trace(line + 2);
        else if (line[0] == 'E')
            code = list(line + 2, &line, &cap);
        else
            code = -1;
    }
    if (code)
        printf("cannot read: %.60s\n", line);
    free(line);
    printf("%lu traces, %lu event lists, %lu differ\n", traces, lists, wrong);
    return code || wrong || traces == 0;
}
