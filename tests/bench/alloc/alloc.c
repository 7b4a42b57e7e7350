/* SPDX-License-Identifier: Apache-2.0
 *
 * What one event costs in each allocator replay: nanoseconds, best of several runs.
 *
 *     network   what training a decoder leaves behind: parameters, and per layer and step saved
 *               activations, temporaries, gradients; a few hundred sizes
 *     random    sizes over eight powers of ten, freed in any order
 *     alike     200,000 free blocks of 400 sizes, all in one class
 *     same      200,000 blocks of one size, freed in any order, the lowest taken each time
 *     distinct  200,000 free blocks, no two of one size
 *
 * The last three are the worst that the index of free blocks can meet.  `bounds` is the cost per
 * event and bound when all three bounds are replayed at once.  Compare figures of one run only; no
 * test depends on them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc/alloc.h"

enum { MOST = 1200000 };

static struct vram_event at[MOST];
static struct vram_storage_row storages[MOST];
static struct vram_bytes_range unused_range;
static struct vram_events events = {
    .at = at, .storages = storages, .ranges = &unused_range, .nranges = 1};
static uint32_t seed = 1;

static uint32_t rnd(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(seed >> 8) * below) >> 24);
}

static uint32_t make(uint64_t bytes)
{
    uint32_t id = (uint32_t)events.nstorages++;
    if (events.n == MOST)
        abort();
    storages[id] = (struct vram_storage_row){.bytes = bytes};
    at[events.n++] = (struct vram_event){id, VRAM_EVENT_ALLOC, VRAM_CAT_TEMPORARY, 0};
    return id;
}

static void drop(uint32_t id)
{
    if (events.n == MOST)
        abort();
    at[events.n++] = (struct vram_event){id, VRAM_EVENT_FREE, 0, 0};
}

static void reset(void)
{
    events.n = events.nstorages = 0;
    seed = 1;
}

/* bytes of what a decoder layer keeps: hidden states, norms' statistics, the MLP's inner width */
static const uint64_t kept[] = {1 << 24, 1 << 13, 1 << 24, 1 << 24,  1 << 23,  1 << 23,  1 << 18,
                                1 << 24, 1 << 13, 1 << 24, 46137344, 46137344, 46137344, 1 << 24};
static const uint64_t weights[] = {33554432, 8388608,  8388608, 33554432, 90177536,
                                   90177536, 90177536, 8192,    8192};
enum { KEPT = sizeof kept / sizeof *kept, WEIGHTS = sizeof weights / sizeof *weights, LAYERS = 80 };

static void network(void)
{
    static uint32_t saved[LAYERS][KEPT], grads[LAYERS][WEIGHTS];
    reset();
    for (int l = 0; l < LAYERS * WEIGHTS; l++)
        make(weights[l % WEIGHTS]);
    for (int step = 0; events.n < 200000; step++) {
        for (int l = 0; l < LAYERS; l++)
            for (int k = 0; k < KEPT; k++) {
                uint32_t a = make(kept[k] * 2), b = make(kept[(k + 5) % KEPT]);
                saved[l][k] = make(kept[k]);
                drop(a);
                drop(make(512));
                drop(b);
            }
        for (int l = LAYERS - 1; l >= 0; l--)
            for (int k = KEPT - 1; k >= 0; k--) {
                uint32_t a = make(kept[k]), b = make(kept[k]);
                drop(saved[l][k]);
                if (k < WEIGHTS)
                    grads[l][k] = make(weights[k]);
                drop(a);
                drop(b);
            }
        for (int l = 0; l < LAYERS * WEIGHTS; l++) {
            if (step == 0) {
                make(weights[l % WEIGHTS]);
                make(weights[l % WEIGHTS]);
                make(512);
            }
            drop(make(weights[l % WEIGHTS] * 2));
            drop(grads[l / WEIGHTS][l % WEIGHTS]);
        }
    }
}

static void random_events(void)
{
    static uint32_t live[4096];
    uint32_t n = 0;
    reset();
    while (events.n < 200000) {
        if (n && (n == 4096 || rnd(100) < 49)) {
            uint32_t i = rnd(n);
            drop(live[i]);
            live[i] = live[--n];
        } else {
            live[n++] = make((rnd(1000) + 1) * (UINT64_C(1) << rnd(20)));
        }
    }
}

static void alike(void)
{
    reset();
    /* pairs keep the free ones from joining; sizes differ by less than a class is wide */
    for (int i = 0; i < 200000; i++) {
        make(10 * 1048576 + rnd(400) * 512);
        make(10 * 1048576);
    }
    for (uint32_t i = 0; i < 200000; i++)
        drop(i * 2);
    while (events.n < 1000000)
        drop(make(10 * 1048576 + rnd(400) * 512));
}

/* pairs keep the free ones from joining */
static void same(void)
{
    static uint32_t live[200000];
    uint32_t n = 0;
    reset();
    for (; n < 200000; n++) {
        live[n] = make(10 * 1048576);
        make(10 * 1048576);
    }
    for (; n > 100000; n--) {
        uint32_t i = rnd(n);
        drop(live[i]);
        live[i] = live[n - 1];
    }
    while (events.n < 1000000) {
        uint32_t i = rnd(n);
        drop(live[i]);
        live[i] = make(10 * 1048576);
    }
}

static void distinct(void)
{
    static uint32_t order[200000];
    reset();
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t k = rnd(i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (uint32_t i = 0; i < 200000; i++) {
        make(10 * 1048576 + order[i] * UINT64_C(512));
        make(10 * 1048576);
    }
    for (uint32_t i = 0; i < 200000; i++)
        drop(order[i] * 2);
    while (events.n < 1000000)
        drop(make(10 * 1048576 + rnd(200000) * UINT64_C(512)));
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int bounds(struct vram_cx *cx, const struct vram_allocator_row *row, struct vram_replay *out)
{
    struct vram_replay r[VRAM_HIGH + 1];
    int code = vram_replay_bounds(cx, row, &events, r);
    *out = r[VRAM_EXPECTED];
    return code;
}

static int single(struct vram_cx *cx, const struct vram_allocator_row *row, struct vram_replay *out)
{
    return row->replay(cx, &events, VRAM_EXPECTED, out);
}

static double best(const struct vram_allocator_row *row, struct vram_replay *out,
                   int (*run)(struct vram_cx *, const struct vram_allocator_row *,
                              struct vram_replay *))
{
    double least = 1e300;
    for (int i = 0; i < 9; i++) {
        struct vram_arena arena;
        vram_error error = {0};
        vram_arena_init(&arena, UINT64_C(1) << 32);
        struct vram_cx cx = {.arena = &arena, .error = &error};
        double begin = now();
        if (run(&cx, row, out)) {
            fprintf(stderr, "%s\n", error.text);
            exit(1);
        }
        double took = now() - begin;
        least = took < least ? took : least;
        vram_arena_finish(&arena);
    }
    return least / (double)events.n;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*fill)(void);
    } loads[] = {{"network", network},
                 {"random", random_events},
                 {"alike", alike},
                 {"same", same},
                 {"distinct", distinct}};
    printf("%-10s %10s  %-18s %9s %9s %12s %13s %9s\n", "events", "n", "allocator", "ns/event",
           "bounds", "allocated", "reserved", "segments");
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        loads[i].fill();
        for (size_t k = 0; vram_allocators[k]; k++) {
            if (!strcmp(vram_allocators[k]->name, "ort"))
                continue; /* its bins are lists, for graphs; long on these loads */
            struct vram_replay r;
            double three = best(vram_allocators[k], &r, bounds) / 3;
            double ns = best(vram_allocators[k], &r, single);
            printf("%-10s %10zu  %-18s %9.1f %9.1f %8" PRIu64 " MiB %9" PRIu64 " MiB %9" PRIu32
                   "\n",
                   loads[i].name, events.n, vram_allocators[k]->name, ns, three, r.allocated >> 20,
                   r.reserved >> 20, r.segments);
        }
    }
    return 0;
}
