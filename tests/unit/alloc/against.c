/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching allocator against the naive one (naive.h), after every step of random traces: sizes
 * and lifetimes as networks have them, and any others; every option.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "naive.h"

#define MIB (UINT64_C(1) << 20)

enum { TRACES = 1500, LIVE = 600 };

struct live {
    uint32_t block;
    uint64_t addr;
};

static uint64_t seed;
static uint64_t rnd(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % below;
}

/* style 0: as a network asks; 1: many in one size class; 2, 3: small, large; 4: powers of two;
 * 5: more than any card has */
static uint64_t bytes(unsigned style)
{
    static const uint64_t few[] = {512,           2048,      65536,    700 << 10, 1 << 20,
                                   (1 << 20) + 1, 2 << 20,   9453568,  10 << 20,  37814272,
                                   90177536,      134217728, 268435456};
    switch (style) {
    case 0:
        return few[rnd(sizeof few / sizeof *few)];
    case 1:
        return 10 * MIB + rnd(400) * 512;
    case 2:
        return 1 + rnd(2 * MIB);
    case 3:
        return MIB + rnd(200 * MIB);
    case 5:
        return (8 + rnd(60)) << 40;
    default:
        return (UINT64_C(1) << rnd(29)) + rnd(2);
    }
}

static struct vram_caching_options options(void)
{
    struct vram_caching_options o = {.expandable = rnd(3) == 0};
    if (rnd(5) == 0)
        o.power2_divisions = 2u << rnd(4);
    if (o.expandable)
        return o;
    if (rnd(3) == 0)
        o.total = (40 + rnd(2000)) * MIB;
    if (rnd(3) == 0)
        o.max_split = (21 + rnd(100)) * MIB + rnd(2) * 77;
    if (rnd(6) == 0)
        o.max_non_split = (1 + rnd(60)) * MIB;
    return o;
}

static void compare(const struct vram_caching *c, const struct naive *m, int code, bool refused)
{
    assert_int_equal(code, refused ? VRAM_E_LIMIT : VRAM_OK);
    assert_int_equal(c->allocated, m->allocated);
    assert_int_equal(c->reserved, m->reserved);
    assert_int_equal(c->peak_reserved, m->peak_reserved);
    assert_int_equal(c->segments, m->segments);
    assert_int_equal(c->retries, m->retries);
}

/* `lifo`: of 4 frees, how many take one of the newest */
static void play(struct vram_caching *c, struct naive *m, unsigned steps)
{
    static struct live live[LIVE];
    unsigned style = (unsigned)rnd(7), lifo = (unsigned)rnd(5), streams = rnd(4) ? 1 : 3;
    size_t n = 0, most = rnd(2) ? 20 : LIVE;
    bool fill = true;
    for (unsigned i = 0; i < steps; i++) {
        fill = n == 0 || (n < most && (rnd(60) ? fill : !fill));
        int code = VRAM_OK;
        bool refused = false;
        if (rnd(200) == 0 && !c->options.expandable) {
            code = vram_caching_empty(c);
            naive_empty(m);
        } else if (n > 0 && (n == most || rnd(100) < (fill ? 30 : 70))) {
            size_t k = rnd(4) < lifo ? n - 1 - rnd(n < 4 ? n : 4) : rnd(n);
            vram_caching_free(c, live[k].block);
            naive_free(m, live[k].addr);
            n--;
            for (; k < n; k++)
                live[k] = live[k + 1];
        } else {
            uint64_t size = bytes(style < 6 ? style : (unsigned)rnd(6));
            unsigned stream = (unsigned)rnd(streams);
            struct live *l = &live[n];
            code = vram_caching_malloc(c, size, stream, &l->block);
            l->addr = naive_malloc(m, size, stream);
            refused = l->addr == UINT64_MAX;
            n += !refused;
            if (!refused && !c->options.expandable)
                assert_int_equal(c->blocks.at[l->block].addr, l->addr);
        }
        compare(c, m, code, refused);
    }
    while (n-- > 0)
        vram_caching_free(c, live[n].block);
    assert_int_equal(c->allocated, 0);
    assert_int_equal(c->requested, 0);
}

static void as_the_naive_one(void **state)
{
    (void)state;
    static struct naive m;
    static struct vram_caching c;
    for (uint64_t i = 0; i < TRACES; i++) {
        seed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        struct vram_arena arena;
        vram_error error = {0};
        vram_arena_init(&arena, UINT64_C(1) << 30);
        struct vram_cx cx = {.arena = &arena, .error = &error};
        m = (struct naive){.options = options()};
        vram_caching_init(&c, &cx, &m.options);
        play(&c, &m, 30 + (unsigned)rnd(i % 50 ? 300 : 4000));
        m = (struct naive){.options = m.options};
        vram_caching_reset(&c); /* as new, in used memory */
        play(&c, &m, 30);
        vram_arena_finish(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_naive_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
