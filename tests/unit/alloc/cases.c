/* SPDX-License-Identifier: Apache-2.0
 *
 * Worked examples of the caching allocator, one row each: what torch's rules give for a short
 * sequence of requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "driver.h"

struct example {
    const char *name, *options, *sequence;
    uint64_t allocated, reserved;
    uint32_t segments;
    uint64_t peak_reserved;
    uint32_t retries;
    const char *oom;
};

static const struct example examples[] = {
    {"1 byte", "", "a=1", 512, 2097152, 1, 2097152, 0, ""},
    {"513 bytes", "", "a=513", 1024, 2097152, 1, 2097152, 0, ""},
    {"3 x 700 KiB: small pool, 2 MiB segments", "", "a=700K b=700K c=700K", 2150400, 4194304, 2,
     4194304, 0, ""},
    {"1 MiB is small", "", "a=1M b=1M", 2097152, 2097152, 1, 2097152, 0, ""},
    {"1 MiB + 1 is large", "", "a=1048577", 1049088, 20971520, 1, 20971520, 0, ""},
    {"3 x 9 MiB share 20 MiB segments", "", "a=9M b=9M c=9M", 28311552, 41943040, 2, 41943040, 0,
     ""},
    {"10 MiB has its own segment", "", "a=10M", 10485760, 10485760, 1, 10485760, 0, ""},
    {"rest of a segment below 1 MiB counts", "", "a=11534337", 12582912, 12582912, 1, 12582912, 0,
     ""},
    {"19 MiB from a cached 20 MiB segment", "", "a=9M b=9M -a -b c=19M", 20971520, 20971520, 1,
     20971520, 0, ""},
    {"10.5 MiB from a hole of 11", "", "a=9M b=10.5M", 20971520, 20971520, 1, 20971520, 0, ""},
    {"100 MiB freed, then 60 + 30 + 20", "", "a=100M -a b=60M c=30M d=20M", 115343360, 125829120, 2,
     125829120, 0, ""},
    {"best fit: 40 before 100", "", "a=100M b=40M -a -b c=39M", 41943040, 146800640, 2, 146800640,
     0, ""},
    {"fragmentation", "", "a=40M b=40M c=40M -a -c d=80M", 125829120, 209715200, 4, 209715200, 0,
     ""},
    {"fragmentation, expandable", "expandable=1", "a=40M b=40M c=40M -a -c d=80M", 125829120,
     167772160, 1, 167772160, 0, ""},
    {"growth after a free, expandable", "expandable=1", "a=50M -a b=60M", 62914560, 62914560, 1,
     62914560, 0, ""},
    {"growth after a free", "", "a=50M -a b=60M", 62914560, 115343360, 2, 115343360, 0, ""},
    {"retry frees the cache", "total=125829120", "a=50M -a b=100M", 104857600, 104857600, 1,
     104857600, 1, ""},
    {"retry unmaps whole pages", "total=125829120 expandable=1", "a=50M b=30M -a c@1=60M", 94371840,
     104857600, 2, 104857600, 1, ""},
    {"retry cannot free a split segment", "total=125829120", "a=100M -a b=10M c=80M d=40M",
     94371840, 104857600, 1, 104857600, 1, "d"},
    {"max_split: 70 is not cut from 100", "max_split=67108864", "a=100M -a b=70M", 73400320,
     178257920, 2, 178257920, 0, ""},
    {"max_split: 85 takes 100 whole", "max_split=67108864", "a=100M -a b=85M", 104857600, 104857600,
     1, 104857600, 0, ""},
    {"max_split: a small request leaves the large block", "max_split=67108864", "a=100M -a b=30M",
     31457280, 136314880, 2, 136314880, 0, ""},
    {"4 divisions: 1200 KiB", "pow2=4", "a=1200K", 1310720, 20971520, 1, 20971520, 0, ""},
    {"8 divisions: 70 MiB", "pow2=8", "a=70M", 75497472, 75497472, 1, 75497472, 0, ""},
    {"streams share nothing", "", "a=50M -a b@1=50M", 52428800, 104857600, 2, 104857600, 0, ""},
    {"a cuBLAS workspace", "", "a=8519680", 8519680, 20971520, 1, 20971520, 0, ""},
    {"logits 4096 x 152064", "", "a=1245708288 b=2491416576 c=2491416576 -a -b", 2491416576,
     6228541440, 3, 6228541440, 0, ""},
};

static void worked_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        struct driver d;
        driver_start(&d, e->options);
        assert_int_equal(driver_play(&d, e->sequence), VRAM_OK);
        const struct vram_caching *c = &d.caching;
        if (c->allocated != e->allocated || c->reserved != e->reserved ||
            c->segments != e->segments || c->peak_reserved != e->peak_reserved ||
            c->retries != e->retries || strcmp(d.oom, e->oom) != 0)
            fail_msg("%s: allocated %llu reserved %llu segments %u peak %llu retries %u oom '%s'",
                     e->name, (unsigned long long)c->allocated, (unsigned long long)c->reserved,
                     c->segments, (unsigned long long)c->peak_reserved, c->retries, d.oom);
        driver_finish(&d);
    }
    assert_int_equal(sizeof examples / sizeof *examples, 27);
}

static void edges(void **state)
{
    (void)state;
    struct driver d;
    uint32_t block = 7;
    driver_start(&d, "");
    assert_int_equal(vram_caching_malloc(&d.caching, 0, 0, &block), VRAM_OK);
    assert_int_equal(block, 0);
    assert_int_equal(d.caching.reserved, 0);
    vram_caching_free(&d.caching, 0);
    assert_int_equal(vram_caching_malloc(&d.caching, UINT64_C(1) << 61, 255, &block), VRAM_OK);
    assert_int_equal(vram_caching_malloc(&d.caching, UINT64_C(1) << 61, 255, &block), VRAM_OK);
    /* no limit was set, but sums must stay below 2^62 */
    assert_int_equal(vram_caching_malloc(&d.caching, UINT64_C(1) << 61, 0, &block), VRAM_E_RANGE);
    driver_finish(&d);

    driver_start(&d, "expandable=1");
    assert_int_equal(vram_caching_malloc(&d.caching, UINT64_MAX, 0, &block), VRAM_E_RANGE);
    driver_finish(&d);
    driver_start(&d, "expandable=1");
    assert_int_equal(vram_caching_malloc(&d.caching, UINT64_C(1) << 61, 0, &block), VRAM_OK);
    assert_int_equal(vram_caching_malloc(&d.caching, UINT64_C(1) << 61, 1, &block), VRAM_E_RANGE);
    driver_finish(&d);
}

/* after running out, requests that fit are still served */
static void goes_on_after_oom(void **state)
{
    (void)state;
    for (int expandable = 0; expandable < 2; expandable++) {
        struct driver d;
        uint32_t a, b;
        driver_start(&d, expandable ? "total=64M expandable=1" : "total=64M");
        assert_int_equal(vram_caching_malloc(&d.caching, 40 << 20, 0, &a), VRAM_OK);
        assert_int_equal(vram_caching_malloc(&d.caching, 40 << 20, 0, &b), VRAM_E_LIMIT);
        d.error = (vram_error){0};
        vram_caching_free(&d.caching, a);
        assert_int_equal(vram_caching_malloc(&d.caching, 60 << 20, 0, &b), VRAM_OK);
        assert_int_equal(d.caching.allocated, 60 << 20);
        assert_int_equal(d.caching.reserved, 60 << 20);
        driver_finish(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_examples),
        cmocka_unit_test(edges),
        cmocka_unit_test(goes_on_after_oom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
