/* SPDX-License-Identifier: Apache-2.0
 *
 * Dims: canonical forms, ranges, text that reads back, and random expressions against arithmetic.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/math.h"
#include "ir/dims.h"
#include "vram/vram.h"

struct table {
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_dims *dims;
};

static struct table *begin(void)
{
    static struct table t;
    vram_arena_init(&t.arena, UINT64_C(1) << 30);
    assert_int_equal(vram_syms_init(&t.syms, &t.arena), VRAM_OK);
    t.dims = vram_dims_new(&t.arena, &t.syms);
    assert_non_null(t.dims);
    return &t;
}

static void end(struct table *t) { vram_arena_finish(&t->arena); }

static vram_dim parse(struct table *t, const char *text)
{
    return vram_dim_parse(t->dims, text, strlen(text));
}

static void is(struct table *t, const char *text, const char *printed)
{
    vram_dim a = parse(t, text);
    const char *out = vram_dim_text(t->dims, a);
    assert_non_null(out);
    assert_string_equal(out, printed);
    assert_int_equal(parse(t, out), a);
}

static void same(struct table *t, const char *a, const char *b)
{
    if (parse(t, a) != parse(t, b))
        fail_msg("%s is %s, %s is %s", a, vram_dim_text(t->dims, parse(t, a)), b,
                 vram_dim_text(t->dims, parse(t, b)));
}

static void test_printed(void **state)
{
    (void)state;
    struct table *t = begin();
    static const char *const rows[][2] = {
        {"2", "2"}, {"-7", "-7"}, {"batch", "batch"}, {"past + 1", "past + 1"}, {"1+past", "past + 1"},
        {"batch*(seq+576)", "batch*(seq + 576)"}, {"2*batch*seq + 4*batch", "2*batch*(seq + 2)"},
        {"2*seq + 4", "2*seq + 4"}, {"3 - seq", "3 - seq"}, {"-seq", "-seq"}, {"-(seq//2)", "-(seq // 2)"},
        {"(((height - 1)//8)) + 1", "(height + 7) // 8"}, {"(8//batch)", "8 // batch"},
        {"2*(seq//3)", "2*(seq // 3)"}, {"2*seq//3", "(2*seq) // 3"}, {"3*seq//2", "seq + seq // 2"},
        {"max(a, b) + 1", "max(a, b) + 1"}, {"min(a, min(b, 4))*2", "2*min(min(a, b), 4)"}, {"seq % 7", "seq % 7"},
        {"7 % seq", "7 % seq"}, {"floor(a/2)", "a // 2"}, {"ceiling(a/2)", "(a + 1) // 2"}, {"Mod(a, 2)", "a % 2"},
        {"s0**2*4", "4*s0*s0"}, {"CeilToInt(IntTrueDiv(a, 8))", "(a + 7) // 8"}, {"FloorDiv(a, 8)", "a // 8"},
        /* what is no expression is one name */
        {"batch-size", "`batch-size`"}, {"batch size", "`batch size`"}, {"/model/Concat_dim_0", "`/model/Concat_dim_0`"},
        {"a/2", "`a/2`"}, {"a b", "`a b`"}, {"f(x)", "`f(x)`"}, {"2x", "`2x`"}, {"(a", "`(a`"}, {"a``b", "`a````b`"},
        {"a+", "`a+`"}, {"unk__3", "unk__3"}, {"input.1_dim_0", "input.1_dim_0"}, {"99999999999999999999", "`99999999999999999999`"},
        {"8//0", "`8//0`"}, {"1.5", "`1.5`"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is(t, rows[i][0], rows[i][1]);
    end(t);
}

static void test_canonical(void **state)
{
    (void)state;
    struct table *t = begin();
    static const char *const rows[][2] = {
        {"a + b", "b + a"}, {"(a + b)*(a - b)", "a*a - b*b"}, {"6*b // 3", "2*b"}, {"(2*b + 1) // 2", "b"},
        {"b % 1", "0"}, {"max(b, 0)", "b"}, {"min(b, 0)", "0"}, {"max(b + 1, b)", "b + 1"}, {"max(a, max(b, a))", "max(b, a)"},
        {"max(max(a, 3), max(b, 4))", "max(b, max(4, a))"}, {"(a*b*768) // (b*64)", "12*a"}, {"a // a", "1"}, {"max(a, min(a, b))", "a"}, {"min(a, max(b, a))", "a"}, {"max(a, min(b, min(c, a)))", "a"},
        {"(a + 8*b) // 8", "a // 8 + b"}, {"(a // 2) // 3", "a // 6"}, {"((a - 1) // 2 + 1 - 1) // 2 + 1", "(a + 3) // 4"},
        {"(4*a + 2) // 6", "(2*a + 1) // 3"}, {"(4*a + 3) // 6", "(2*a + 1) // 3"}, {"(a*c) // (b*c)", "a // b"},
        {"(6*a) // (4*b)", "(3*a) // (2*b)"}, {"(2*b) % 2", "0"}, {"(2*b + 1) % 2", "1"}, {"(a + 7*b) % 7", "a % 7"},
        {"a // -2", "(-a) // 2"}, {"ceil(a/4)", "(a + 3) // 4"}, {"ceil(a/b)", "(a + b - 1) // b"}, {"a - a", "0"},
        {"(a*b) % b", "0"}, {"0 // a", "0"}, {"(a % 5) // 5", "0"}, {"(a % 5) % 7", "a % 5"}, {"-(-a)", "a"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        same(t, rows[i][0], rows[i][1]);
    assert_int_equal(vram_dim_exact(t->dims, parse(t, "a*b*2 + 4*b"), parse(t, "2*b")), parse(t, "a + 2"));
    assert_int_equal(vram_dim_exact(t->dims, parse(t, "a*a - b*b"), parse(t, "a + b")), parse(t, "a - b"));
    assert_int_equal(vram_dim_exact(t->dims, parse(t, "a*a + b*b"), parse(t, "a + b")), VRAM_DIM_UNKNOWN);
    assert_int_equal(vram_dim_exact(t->dims, parse(t, "3*a"), parse(t, "2")), VRAM_DIM_UNKNOWN);
    end(t);
}

static void test_ranges(void **state)
{
    (void)state;
    struct table *t = begin();
    int64_t low, high;
    vram_dim a = vram_dim_symbol(t->dims, vram_sym_of(&t->syms, "a"));
    vram_dim_bound(t->dims, a, 1, 100);
    static const struct { const char *text; int64_t low, high; } rows[] = {
        {"a", 1, 100}, {"2*a - 3", -1, 197}, {"a // 7", 0, 14}, {"a % 7", 0, 6}, {"a % 200", 1, 100}, {"min(a, 50)", 1, 50},
        {"max(a, 50)", 50, 100}, {"-a", -100, -1}, {"a*a", 1, 10000}, {"b", 0, INT64_C(1) << 62}, {"b*b", 0, INT64_MAX},
        {"0 - b*b", INT64_MIN, 0}, {"1000 // b", 0, 1000}, {"b - 4*b", INT64_MIN, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vram_dim_range(t->dims, parse(t, rows[i].text), &low, &high);
        if (low != rows[i].low || high != rows[i].high)
            fail_msg("%s: %lld to %lld", rows[i].text, (long long)low, (long long)high);
    }
    vram_dim b = parse(t, "b"), one = vram_dim_int(t->dims, 1);
    vram_dim b1 = vram_dim_add(t->dims, b, one);
    assert_int_equal(vram_dim_less(t->dims, b, b1), VRAM_TRUE);
    assert_int_equal(vram_dim_less(t->dims, b1, b), VRAM_FALSE);
    assert_int_equal(vram_dim_less(t->dims, a, b), VRAM_MAYBE);
    assert_int_equal(vram_dim_equal(t->dims, b, b1), VRAM_FALSE);
    assert_int_equal(vram_dim_equal(t->dims, b, b), VRAM_TRUE);
    assert_int_equal(vram_dim_equal(t->dims, a, b), VRAM_MAYBE);
    assert_int_equal(vram_dim_equal(t->dims, 0, 0), VRAM_MAYBE);
    end(t);
}

static void test_broken(void **state)
{
    (void)state;
    struct table *t = begin();
    struct vram_dims *d = t->dims;
    vram_dim big = vram_dim_int(d, INT64_MAX), b = parse(t, "b"), zero = vram_dim_int(d, 0);
    int64_t n;
    assert_true(vram_dim_is_int(d, big, &n) && n == INT64_MAX);
    assert_int_equal(vram_dim_add(d, big, vram_dim_int(d, 1)), VRAM_DIM_UNKNOWN);
    assert_int_equal(vram_dims_broken(d), VRAM_DIM_OVERFLOW);
    assert_int_equal(vram_dims_broken(d), VRAM_DIM_FINE);
    assert_int_equal(vram_dim_mul(d, big, vram_dim_int(d, 2)), VRAM_DIM_UNKNOWN);
    assert_int_equal(vram_dims_broken(d), VRAM_DIM_OVERFLOW);
    assert_int_equal(vram_dim_floordiv(d, vram_dim_int(d, INT64_MIN), vram_dim_int(d, -1)), VRAM_DIM_UNKNOWN);
    assert_int_equal(vram_dims_broken(d), VRAM_DIM_OVERFLOW);
    assert_int_equal(vram_dim_mod(d, b, zero), VRAM_DIM_UNKNOWN);
    assert_int_equal(vram_dims_broken(d), VRAM_DIM_ZERO_DIVISION);
    assert_int_equal(vram_dim_floordiv(d, b, zero), VRAM_DIM_UNKNOWN);
    assert_int_equal(vram_dims_broken(d), VRAM_DIM_ZERO_DIVISION);
    assert_int_equal(vram_dim_exact(d, b, zero), VRAM_DIM_UNKNOWN);
    assert_int_equal(vram_dims_broken(d), VRAM_DIM_ZERO_DIVISION);
    /* symbols break nothing, they are only not known */
    assert_int_equal(vram_dim_mul(d, vram_dim_mul(d, b, big), big), VRAM_DIM_UNKNOWN);
    assert_int_equal(vram_dims_broken(d), VRAM_DIM_FINE);
    assert_int_equal(vram_dim_add(d, VRAM_DIM_UNKNOWN, b), VRAM_DIM_UNKNOWN);
    assert_int_equal(vram_dim_mul(d, VRAM_DIM_UNKNOWN, zero), VRAM_DIM_UNKNOWN);
    /* an expression that doubles with each step ends as unknown, soon */
    vram_dim x = b;
    for (int i = 0; i < 10000; i++)
        x = vram_dim_max(d, vram_dim_floordiv(d, x, vram_dim_int(d, 3)),
                         vram_dim_mod(d, vram_dim_add(d, x, parse(t, "c")), vram_dim_int(d, 1000)));
    assert_int_equal(x, VRAM_DIM_UNKNOWN);
    end(t);
}

static void test_symbols(void **state)
{
    (void)state;
    struct table *t = begin();
    struct vram_dims *d = t->dims;
    vram_dim n = vram_dim_fresh(d, "nonzero", 0, 12), m = vram_dim_fresh(d, "nonzero", 0, 12);
    assert_string_equal(vram_dim_text(d, n), "nonzero");
    assert_string_equal(vram_dim_text(d, m), "nonzero_1");
    assert_true(vram_dim_on_data(d, vram_dim_add(d, n, m)));
    assert_false(vram_dim_on_data(d, parse(t, "b + 1")));
    assert_true(vram_dim_rename(d, n, vram_sym_of(&t->syms, "found")));
    assert_string_equal(vram_dim_text(d, n), "found");
    assert_int_equal(parse(t, "found"), n);
    assert_false(vram_dim_rename(d, m, vram_sym_of(&t->syms, "b")));
    assert_int_equal(vram_dim_solve(d, parse(t, "past + 2*seq + 1"), parse(t, "seq"), parse(t, "past + 9")), parse(t, "4"));
    assert_int_equal(vram_dim_solve(d, parse(t, "2*seq"), parse(t, "seq"), parse(t, "5")), VRAM_DIM_UNKNOWN);
    assert_int_equal(vram_dim_solve(d, parse(t, "seq + seq // 3"), parse(t, "seq"), parse(t, "5")), VRAM_DIM_UNKNOWN);
    struct vram_dim_binding at[] = {{vram_sym_of(&t->syms, "past"), parse(t, "7")},
                                    {vram_sym_of(&t->syms, "seq"), parse(t, "2*b")}};
    assert_int_equal(vram_dim_bind(d, parse(t, "(past + seq) // 2"), at, 2), parse(t, "b + 3"));
    end(t);
}

/* ---- random expressions -------------------------------------------------------------------- */

static uint64_t random_state = 12345;
static uint32_t pick(uint32_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % n;
}

enum { NAMES = 4 };
static const char *const names[NAMES] = {"a", "b", "c", "d"};

struct made {
    vram_dim dim;
    int64_t at[2]; /* its value for either binding */
    bool good;     /* no division by 0 at either */
};

static struct made leaf(struct table *t, int64_t values[2][NAMES])
{
    uint32_t k = pick(NAMES);
    int64_t n = (int64_t)pick(20) - 4;
    if (pick(2))
        return (struct made){parse(t, names[k]), {values[0][k], values[1][k]}, true};
    return (struct made){vram_dim_int(t->dims, n), {n, n}, true};
}

static struct made build(struct table *t, int64_t values[2][NAMES], uint32_t depth)
{
    if (!depth || !pick(4))
        return leaf(t, values);
    struct made x = build(t, values, depth - 1), y = build(t, values, depth - 1), r = {.good = x.good && y.good};
    uint32_t op = pick(8);
    static vram_dim (*const f[])(struct vram_dims *, vram_dim, vram_dim) = {
        vram_dim_add, vram_dim_sub, vram_dim_mul, vram_dim_floordiv, vram_dim_mod, vram_dim_min, vram_dim_max,
        vram_dim_ceildiv};
    r.dim = f[op](t->dims, x.dim, y.dim);
    for (int i = 0; i < 2; i++) {
        int64_t a = x.at[i], b = y.at[i];
        bool fits = true;
        switch (op) {
        case 0: fits = vram_add_i64(a, b, &r.at[i]); break;
        case 1: fits = vram_sub_i64(a, b, &r.at[i]); break;
        case 2: fits = vram_mul_i64(a, b, &r.at[i]); break;
        case 3: fits = vram_floordiv_i64(a, b, &r.at[i]); break;
        case 4: fits = vram_floormod_i64(a, b, &r.at[i]); break;
        case 5: r.at[i] = a < b ? a : b; break;
        case 6: r.at[i] = a > b ? a : b; break;
        default: fits = vram_floordiv_i64(-a, b, &r.at[i]); r.at[i] = -r.at[i];
        }
        r.good &= fits;
    }
    return r;
}

static void test_random(void **state)
{
    (void)state;
    uint32_t known = 0, checked = 0;
    for (int round = 0; round < 200; round++) {
        struct table *t = begin();
        int64_t values[2][NAMES];
        struct vram_dim_binding at[2][NAMES];
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < NAMES; k++) {
                values[i][k] = 1 + pick(pick(2) ? 1000 : 9);
                at[i][k] = (struct vram_dim_binding){vram_sym_of(&t->syms, names[k]),
                                                     vram_dim_int(t->dims, values[i][k])};
            }
        for (int n = 0; n < 200; n++) {
            struct made m = build(t, values, 1 + pick(5));
            const char *text;
            known += m.dim != VRAM_DIM_UNKNOWN;
            if (!m.dim)
                continue;
            text = vram_dim_text(t->dims, m.dim);
            assert_non_null(text);
            if (parse(t, text) != m.dim)
                fail_msg("%s reads back as %s", text, vram_dim_text(t->dims, parse(t, text)));
            for (int i = 0; i < 2 && m.good; i++, checked++) {
                int64_t v, low, high;
                vram_dim bound = vram_dim_bind(t->dims, m.dim, at[i], NAMES);
                if (!vram_dim_is_int(t->dims, bound, &v) || v != m.at[i])
                    fail_msg("%s at %lld %lld %lld %lld is %s, not %lld", text, (long long)values[i][0],
                             (long long)values[i][1], (long long)values[i][2], (long long)values[i][3],
                             vram_dim_text(t->dims, bound), (long long)m.at[i]);
                vram_dim_range(t->dims, m.dim, &low, &high);
                if (v < low || v > high)
                    fail_msg("%s is %lld, outside %lld to %lld", text, (long long)v, (long long)low, (long long)high);
            }
        }
        end(t);
    }
    assert_true(known > 30000 && checked > 30000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printed), cmocka_unit_test(test_canonical), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_broken),  cmocka_unit_test(test_symbols),   cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
