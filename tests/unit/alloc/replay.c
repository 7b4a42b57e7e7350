/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator rows on hand-made events, and what must hold for any events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "alloc/alloc.h"
#include "driver.h"

enum { MIB = 1 << 20, MOST = 4096 };

struct fixture {
    struct vram_event at[MOST];
    struct vram_storage_row storages[MOST];
    struct vram_phase_row phases[8];
    struct vram_bytes_range ranges[4];
    struct vram_events events;
    struct vram_arena arena;
    vram_error error;
    struct vram_cx cx;
};

static void start(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->events.at = f->at;
    f->events.storages = f->storages;
    f->events.phases = f->phases;
    f->events.ranges = f->ranges;
    vram_arena_init(&f->arena, UINT64_C(1) << 30);
    f->cx = (struct vram_cx){.arena = &f->arena, .error = &f->error};
}

static void push(struct fixture *f, uint32_t storage, enum vram_event_kind kind,
                 enum vram_category category)
{
    assert_true(f->events.n < MOST);
    f->at[f->events.n++] = (struct vram_event){storage, (uint8_t)kind, (uint8_t)category, 0};
}

static uint32_t make(struct fixture *f, uint64_t bytes, enum vram_category category)
{
    uint32_t id = (uint32_t)f->events.nstorages++;
    assert_true(id < MOST);
    f->storages[id] = (struct vram_storage_row){.bytes = bytes};
    push(f, id, VRAM_EVENT_ALLOC, category);
    return id;
}

static void drop(struct fixture *f, uint32_t id) { push(f, id, VRAM_EVENT_FREE, 0); }

static void phase(struct fixture *f)
{
    push(f, (uint32_t)f->events.nphases++, VRAM_EVENT_PHASE, 0);
}

static struct vram_replay run(struct fixture *f, const char *name, enum vram_bound bound)
{
    struct vram_replay r = {0};
    struct vram_arena_mark mark = vram_arena_mark(&f->arena);
    assert_int_equal(vram_allocator_find(name)->replay(&f->cx, &f->events, bound, &r), VRAM_OK);
    vram_arena_rewind(&f->arena, mark);
    return r;
}

static void rows_are_found(void **state)
{
    (void)state;
    assert_null(vram_allocator_find("tcmalloc"));
    for (size_t i = 0; vram_allocators[i]; i++) {
        assert_ptr_equal(vram_allocator_find(vram_allocators[i]->name), vram_allocators[i]);
        assert_true(vram_allocators[i]->help[0] && vram_allocators[i]->source[0]);
    }
}

static void phases_start_at_what_is_live(void **state)
{
    (void)state;
    static struct fixture f;
    start(&f);
    uint32_t early = make(&f, 5, VRAM_CAT_PARAMETER); /* before any phase */
    phase(&f);
    uint32_t a = make(&f, 100, VRAM_CAT_TEMPORARY);
    uint32_t w = make(&f, 1000, VRAM_CAT_WORKSPACE);
    push(&f, a, VRAM_EVENT_CATEGORY, VRAM_CAT_SAVED);
    drop(&f, w);
    phase(&f); /* nothing happens in it */
    phase(&f);
    drop(&f, a);
    make(&f, 40, VRAM_CAT_TEMPORARY);
    drop(&f, early);
    struct vram_replay_phase *p;
    assert_int_equal(vram_replay_phases(&f.cx, &f.events, &p), VRAM_OK);
    assert_int_equal(p[0].peak, 105);
    assert_int_equal(p[0].end, 105);
    assert_int_equal(p[1].peak, 105);
    assert_int_equal(p[1].end, 105);
    assert_int_equal(p[2].peak, 105);
    assert_int_equal(p[2].end, 40);
    /* the workspace counts for every allocator */
    struct vram_replay r = run(&f, "exact", VRAM_EXPECTED);
    assert_int_equal(r.allocated, 1105);
    assert_int_equal(r.reserved, 1105);
    assert_int_equal(r.requested, 1105);
    assert_int_equal(r.event, 3);
    assert_int_equal(r.segments, 1);
    r = run(&f, "torch", VRAM_EXPECTED);
    assert_int_equal(r.allocated, 512 + 512 + 1024);
    assert_int_equal(r.requested, 1105);
    assert_int_equal(r.reserved, 2 * MIB);
    assert_int_equal(r.event, 3);
    vram_arena_finish(&f.arena);
}

static void an_emptied_cache_leaves_tensors_alone(void **state)
{
    (void)state;
    static struct fixture f;
    start(&f);
    make(&f, 30 * MIB, VRAM_CAT_WORKSPACE); /* storage 0, which the event below does not mean */
    phase(&f);
    drop(&f, make(&f, 50 * MIB, VRAM_CAT_TEMPORARY));
    push(&f, 0, VRAM_EVENT_EMPTY_CACHE, VRAM_CAT_PARAMETER);
    make(&f, 40 * MIB, VRAM_CAT_TEMPORARY);
    struct vram_replay_phase *p;
    assert_int_equal(vram_replay_phases(&f.cx, &f.events, &p), VRAM_OK);
    assert_int_equal(p[0].peak, 50 * MIB);
    assert_int_equal(p[0].end, 40 * MIB);
    const char *const names[] = {"exact", "torch", "torch-expandable"};
    for (int i = 0; i < 3; i++) {
        struct vram_replay r = run(&f, names[i], VRAM_EXPECTED);
        assert_int_equal(r.allocated, 80 * MIB);
        assert_int_equal(r.reserved, 80 * MIB);
    }
    vram_arena_finish(&f.arena);
}

static void bounds_choose_the_bytes(void **state)
{
    (void)state;
    static struct fixture f;
    start(&f);
    make(&f, 3 * MIB, VRAM_CAT_PARAMETER);
    f.storages[make(&f, 40 * MIB, VRAM_CAT_WORKSPACE)].range = 1;
    f.ranges[0] = (struct vram_bytes_range){0, 100 * MIB};
    f.events.nranges = 1;
    const char *const names[] = {"exact", "torch", "torch-expandable"};
    const uint64_t reserved[][3] = {{3, 43, 103}, {20, 60, 120}, {20, 60, 120}};
    for (int i = 0; i < 3; i++) {
        const uint64_t allocated[] = {3, 43, 103};
        struct vram_replay all[VRAM_HIGH + 1];
        const struct vram_allocator_row *row = vram_allocator_find(names[i]);
        assert_int_equal(vram_replay_bounds(&f.cx, row, &f.events, all), VRAM_OK);
        for (int bound = VRAM_LOW; bound <= VRAM_HIGH; bound++) {
            struct vram_replay r = run(&f, names[i], (enum vram_bound)bound);
            assert_int_equal(r.allocated, allocated[bound] * MIB);
            assert_int_equal(r.requested, allocated[bound] * MIB);
            assert_int_equal(r.reserved, reserved[i][bound] * MIB);
            assert_memory_equal(&r, &all[bound], sizeof r);
        }
    }
    vram_arena_finish(&f.arena);
}

static void streams_have_pools(void **state)
{
    (void)state;
    static struct fixture f;
    start(&f);
    drop(&f, make(&f, 50 * MIB, VRAM_CAT_TEMPORARY));
    make(&f, 50 * MIB, VRAM_CAT_TEMPORARY);
    f.storages[1].stream = 255;
    struct vram_replay r = run(&f, "torch", VRAM_EXPECTED);
    assert_int_equal(r.reserved, 100 * MIB);
    assert_int_equal(r.allocated, 50 * MIB);
    assert_int_equal(r.segments, 2);
    f.storages[1].stream = 0;
    assert_int_equal(run(&f, "torch", VRAM_EXPECTED).reserved, 50 * MIB);
    vram_arena_finish(&f.arena);
}

static void broken_events_are_faults(void **state)
{
    (void)state;
    static struct fixture f;
    for (int i = 0; i < 3; i++) {
        struct vram_replay r = {.allocated = 77}, all[VRAM_HIGH + 1] = {r, r, r};
        start(&f);
        uint32_t a = make(&f, i == 2 ? UINT64_MAX / 2 : 5, VRAM_CAT_INPUT);
        if (i == 0) {
            drop(&f, a);
            drop(&f, a);
        } else {
            push(&f, a, VRAM_EVENT_ALLOC, VRAM_CAT_INPUT);
        }
        const struct vram_allocator_row *torch = vram_allocator_find("torch");
        assert_int_equal(torch->replay(&f.cx, &f.events, VRAM_EXPECTED, &r),
                         i == 2 ? VRAM_E_RANGE : VRAM_E_INTERNAL);
        assert_int_equal(r.allocated, 77);
        for (f.events.nranges = 0; f.events.nranges < 2; f.events.nranges++)
            assert_int_equal(vram_replay_bounds(&f.cx, torch, &f.events, all),
                             i == 2 ? VRAM_E_RANGE : VRAM_E_INTERNAL);
        assert_int_equal(all[VRAM_LOW].allocated + all[VRAM_HIGH].allocated, 2 * 77);
        vram_arena_finish(&f.arena);
    }
}

static uint32_t seed;
static uint32_t rnd(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(seed >> 8) * below) >> 24);
}

/* random events that free everything in the end */
static void fill(struct fixture *f, uint32_t begin, int streams)
{
    static uint32_t live[MOST];
    uint32_t n = 0;
    seed = begin;
    while (f->events.n < MOST - 600 || n) {
        bool more = f->events.n < MOST - 600;
        if (n && (!more || n > 500 || rnd(100) < 48)) {
            uint32_t i = rnd(n);
            drop(f, live[i]);
            live[i] = live[--n];
        } else {
            uint32_t kind = rnd(4);
            uint64_t bytes = rnd(kind == 0   ? 2048
                                 : kind == 1 ? 1 << 20
                                 : kind == 2 ? 12 << 20
                                             : 200 << 20);
            live[n++] = make(f, bytes, VRAM_CAT_TEMPORARY);
            f->storages[live[n - 1]].stream = (uint8_t)rnd((uint32_t)streams);
        }
    }
}

/* Takes every block out of a pool's index, smallest first, and puts them back; their number. */
static uint32_t check_index(struct vram_fit *fit, struct vram_block *at)
{
    static uint32_t out[MOST * 2];
    uint32_t n = 0, id;
    while ((id = vram_fit_best(fit, at, 512, vram_fit_class(512)))) {
        const struct vram_block *b = &at[id], *last = n ? &at[out[n - 1]] : NULL;
        assert_int_equal(b->state, VRAM_BLOCK_HEAD);
        assert_true(!last || last->size < b->size ||
                    (last->size == b->size && last->addr < b->addr));
        assert_int_equal(vram_fit_best(fit, at, b->size, b->class), id);
        vram_fit_erase(fit, at, id);
        assert_true(n < MOST * 2);
        out[n++] = id;
    }
    for (int word = 0; word < VRAM_FIT_WORDS; word++)
        assert_int_equal(fit->bits[word], 0);
    for (uint32_t i = 0; i < n; i++) /* from both ends, so that the order is not theirs */
        vram_fit_insert(fit, at, out[i % 2 ? n - 1 - i / 2 : i / 2]);
    return n;
}

/* blocks tile their segments, no free neighbours are left apart, the index holds all free blocks */
static void check_blocks(const struct vram_caching *c)
{
    uint64_t used = 0, mapped = 0;
    uint32_t nfree = 0, indexed = 0;
    for (uint32_t i = 1; i < c->blocks.n; i++) {
        const struct vram_block *b = &c->blocks.at[i], *after = &c->blocks.at[b->after];
        if (b->state == VRAM_BLOCK_SPARE)
            continue;
        assert_int_equal(b->size % 512, 0);
        assert_true(b->state == VRAM_BLOCK_HOLE || b->class == vram_fit_class(b->size));
        used += b->state == VRAM_BLOCK_USED ? b->size : 0;
        mapped += b->state != VRAM_BLOCK_HOLE ? b->size : 0;
        nfree += vram_block_free(b);
        if (!b->after)
            continue;
        assert_int_equal(after->before, i);
        assert_int_equal(after->addr, b->addr + b->size);
        assert_int_equal(after->pool, b->pool);
        assert_false(vram_block_free(b) && vram_block_free(after));
        assert_false(b->state == VRAM_BLOCK_HOLE && after->state == VRAM_BLOCK_HOLE);
    }
    for (int p = 0; p < VRAM_CACHING_STREAMS * 2; p++)
        if (c->pools[p])
            indexed += check_index(&c->pools[p]->free, c->blocks.at);
    assert_int_equal(nfree, indexed);
    assert_int_equal(used, c->allocated);
    assert_int_equal(mapped, c->reserved);
    assert_true(c->requested <= c->allocated);
    assert_true(c->allocated <= c->reserved && c->reserved <= c->peak_reserved);
}

static void play(struct fixture *f, struct vram_caching *c)
{
    static uint32_t block_of[MOST];
    for (size_t i = 0; i < f->events.n; i++) {
        const struct vram_event *e = &f->at[i];
        const struct vram_storage_row *s = &f->storages[e->storage];
        if (e->kind == VRAM_EVENT_ALLOC) {
            f->error = (vram_error){0};
            int code = vram_caching_malloc(c, s->bytes, s->stream, &block_of[e->storage]);
            assert_true(code == VRAM_OK || (code == VRAM_E_LIMIT && c->options.total));
            if (code)
                block_of[e->storage] = 0;
        } else {
            vram_caching_free(c, block_of[e->storage]);
        }
        if (i % 64 == 0)
            check_blocks(c);
    }
}

static void anything_holds_together(void **state)
{
    (void)state;
    static struct fixture f;
    static struct vram_caching c;
    for (uint32_t i = 0; i < 24; i++) {
        start(&f);
        fill(&f, i, i % 3 ? 1 : 4);
        struct vram_caching_options o = {.expandable = i % 2,
                                         .total = i % 4 > 1 ? UINT64_C(8) << 30 : 0,
                                         .max_split = i % 8 == 4 ? 64 * MIB : 0};
        vram_caching_init(&c, &f.cx, &o);
        play(&f, &c);
        check_blocks(&c);
        assert_int_equal(c.allocated, 0);
        assert_true(o.total == 0 || c.peak_reserved <= o.total);
        vram_arena_finish(&f.arena);
    }
}

static void rows_agree(void **state)
{
    (void)state;
    static struct fixture f;
    for (uint32_t i = 0; i < 12; i++) {
        start(&f);
        fill(&f, 1000 + i, 2);
        struct vram_replay exact = run(&f, "exact", VRAM_EXPECTED);
        struct vram_replay torch = run(&f, "torch", VRAM_EXPECTED);
        struct vram_replay again = run(&f, "torch", VRAM_EXPECTED);
        struct vram_replay expandable = run(&f, "torch-expandable", VRAM_EXPECTED);
        assert_memory_equal(&torch, &again, sizeof torch);
        struct vram_replay all[VRAM_HIGH + 1];
        f.events.nranges = i % 2; /* of which none is used: all bounds are the same */
        for (size_t k = 0; vram_allocators[k]; k++) {
            assert_int_equal(vram_replay_bounds(&f.cx, vram_allocators[k], &f.events, all),
                             VRAM_OK);
            struct vram_replay one = run(&f, vram_allocators[k]->name, VRAM_LOW);
            for (int bound = VRAM_LOW; bound <= VRAM_HIGH; bound++)
                assert_memory_equal(&one, &all[bound], sizeof one);
        }
        assert_true(exact.allocated <= expandable.allocated);
        assert_true(expandable.allocated <= torch.allocated); /* it always cuts off the rest */
        assert_true(torch.allocated <= torch.reserved);
        assert_true(expandable.allocated <= expandable.reserved);
        assert_true(torch.requested <= torch.allocated);
        vram_arena_finish(&f.arena);
    }
}

static void expandable_fragments_less(void **state)
{
    (void)state;
    static const char *const sequences[] = {
        "a=40M b=40M c=40M -a -c d=80M",
        "a=50M -a b=60M",
        "a=100M -a b=101M -b c=102M -c d=103M",
        "a=40M b=40M c=40M d=40M -b -d e=80M -a f=81M",
    };
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        struct driver fixed, expandable;
        driver_start(&fixed, "");
        driver_start(&expandable, "expandable=1");
        assert_int_equal(driver_play(&fixed, sequences[i]), VRAM_OK);
        assert_int_equal(driver_play(&expandable, sequences[i]), VRAM_OK);
        assert_true(expandable.caching.peak_reserved < fixed.caching.peak_reserved);
        driver_finish(&fixed);
        driver_finish(&expandable);
    }
}

static void memory_runs_out_anywhere(void **state)
{
    (void)state;
    static struct fixture f;
    for (size_t row = 0; vram_allocators[row]; row++) {
        int code = VRAM_E_NOMEM;
        for (uint64_t n = 1; code; n++) {
            assert_true(n < 100);
            start(&f);
            fill(&f, 5, 2);
            struct vram_replay r = {.allocated = 77};
            struct vram_replay_phase *phases = NULL;
            struct vram_replay all[VRAM_HIGH + 1] = {r, r, r};
            f.events.nranges = 1;
            vram_fail_after(n);
            code = vram_replay_bounds(&f.cx, vram_allocators[row], &f.events, all);
            assert_true(code == VRAM_OK || all[VRAM_LOW].allocated == 77);
            if (!code)
                code = vram_allocators[row]->replay(&f.cx, &f.events, VRAM_EXPECTED, &r);
            if (!code)
                code = vram_replay_phases(&f.cx, &f.events, &phases);
            else
                assert_int_equal(r.allocated, 77);
            vram_fail_after(0);
            assert_true(code == VRAM_OK || code == VRAM_E_NOMEM);
            assert_int_equal(code, f.error.code);
            assert_true((code == VRAM_OK) == (phases != NULL));
            vram_arena_finish(&f.arena);
        }
    }
}

/* Worked by hand after BFCArena: regions of 1, 2, 4 MiB; a chunk of less than twice the size goes whole. */
static void ort_doubles_its_regions(void **state)
{
    (void)state;
    struct fixture f;
    struct vram_replay r;
    const struct vram_allocator_row *ort = vram_allocator_find("ort");
    start(&f);
    uint32_t small = make(&f, 100, VRAM_CAT_TEMPORARY); /* 256 of 1 MiB */
    uint32_t large = make(&f, 700 << 10, VRAM_CAT_TEMPORARY); /* the rest, which is not twice as much */
    assert_int_equal(ort->replay(&f.cx, &f.events, VRAM_EXPECTED, &r), VRAM_OK);
    assert_int_equal(r.allocated, MIB);
    assert_int_equal(r.reserved, MIB);
    assert_int_equal(r.requested, 100 + (700 << 10));
    make(&f, 1, VRAM_CAT_TEMPORARY); /* nothing is left: a second region, of 2 MiB */
    assert_int_equal(ort->replay(&f.cx, &f.events, VRAM_EXPECTED, &r), VRAM_OK);
    assert_int_equal(r.allocated, MIB + 256);
    assert_int_equal(r.reserved, 3 * MIB);
    drop(&f, small);
    drop(&f, large);
    make(&f, MIB, VRAM_CAT_TEMPORARY); /* joined again: the whole of the first region, the smallest that fits */
    make(&f, 5 * MIB, VRAM_CAT_TEMPORARY); /* 4 MiB are too few: 8 */
    assert_int_equal(ort->replay(&f.cx, &f.events, VRAM_EXPECTED, &r), VRAM_OK);
    assert_int_equal(r.reserved, 11 * MIB);
    assert_int_equal(r.allocated, 256 + MIB + 8 * MIB); /* 8 is not twice 5 */
    assert_int_equal(r.segments, 3);
    vram_arena_finish(&f.arena);
}

static void ort_reserves_weights(void **state)
{
    (void)state;
    struct fixture f;
    struct vram_replay r;
    start(&f);
    f.storages[make(&f, 1000, VRAM_CAT_PARAMETER)].op = VRAM_OP_LOAD;
    drop(&f, make(&f, 300 * MIB, VRAM_CAT_TEMPORARY));
    make(&f, 10, VRAM_CAT_TEMPORARY); /* 256 of the 512 MiB, which stay */
    assert_int_equal(vram_allocator_find("ort")->replay(&f.cx, &f.events, VRAM_EXPECTED, &r), VRAM_OK);
    assert_int_equal(r.allocated, 1000 + UINT64_C(300) * MIB); /* 212 MiB more would be wasted: split */
    assert_int_equal(r.reserved, 1000 + UINT64_C(512) * MIB);
    vram_arena_finish(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_found),
        cmocka_unit_test(phases_start_at_what_is_live),
        cmocka_unit_test(an_emptied_cache_leaves_tensors_alone),
        cmocka_unit_test(bounds_choose_the_bytes),
        cmocka_unit_test(streams_have_pools),
        cmocka_unit_test(broken_events_are_faults),
        cmocka_unit_test(anything_holds_together),
        cmocka_unit_test(rows_agree),
        cmocka_unit_test(expandable_fragments_less),
        cmocka_unit_test(ort_doubles_its_regions),
        cmocka_unit_test(ort_reserves_weights),
        cmocka_unit_test(memory_runs_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
