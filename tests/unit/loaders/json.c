/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON reader: every error with its byte, every kind of value, both modes.
 */
#include "helper.h"

#include <math.h>

#include "json/json.h"

static int read_all(struct vram_cx *cx, const char *text, size_t n, enum vram_json_mode mode)
{
    struct vram_json j;
    VRAM_TRY(vram_json_open(&j, cx, text, n, 0, mode));
    do {
        VRAM_TRY(vram_json_next(&j));
    } while (j.token != VRAM_JSON_END);
    return VRAM_OK;
}

static const struct {
    const char *input, *caret; /* ` for "; the caret stands under the byte the error names */
    int code;
    const char *text;
} errors[] = {
    {"{`a`: 1 // one",
     "        ^", VRAM_E_FORMAT, "comments are not JSON"},
    {"/* x */ {}",
     "^", VRAM_E_FORMAT, "comments are not JSON"},
    {"# x",
     "^", VRAM_E_FORMAT, "comments are not JSON"},
    {"{'a': 1}",
     " ^", VRAM_E_FORMAT, "double quotes"},
    {"{`a`: 'x'}",
     "      ^", VRAM_E_FORMAT, "double quotes"},
    {"{`a`: None}",
     "      ^", VRAM_E_FORMAT, "write null"},
    {"[True]",
     " ^", VRAM_E_FORMAT, "write true"},
    {"[False]",
     " ^", VRAM_E_FORMAT, "write false"},
    {"{`a`: 1,}",
     "       ^", VRAM_E_FORMAT, "a comma before a closing bracket"},
    {"[1, ]",
     "  ^", VRAM_E_FORMAT, "a comma before a closing bracket"},
    {"[1,,2]",
     "   ^", VRAM_E_FORMAT, "a value expected, found ','"},
    {"[1 2]",
     "   ^", VRAM_E_FORMAT, "a comma or ']' expected, found '2'"},
    {"{`a` 1}",
     "     ^", VRAM_E_FORMAT, "a colon after the key expected"},
    {"{`a`: 1 `b`: 2}",
     "        ^", VRAM_E_FORMAT, "a comma or '}' expected"},
    {"{1: 2}",
     " ^", VRAM_E_FORMAT, "a key in double quotes expected, found '1'"},
    {"{`a`: }",
     "      ^", VRAM_E_FORMAT, "a value expected, found '}'"},
    {"[}",
     " ^", VRAM_E_FORMAT, "a value expected, found '}'"},
    {"{} {}",
     "   ^", VRAM_E_FORMAT, "text after the end"},
    {"{}}",
     "  ^", VRAM_E_FORMAT, "text after the end"},
    {"",
     "^", VRAM_E_FORMAT, "empty"},
    {" \n ",
     "   ^", VRAM_E_FORMAT, "only space"},
    {"{`a`: 1",
     "       ^", VRAM_E_FORMAT, "ends inside an object"},
    {"[1,",
     "   ^", VRAM_E_FORMAT, "ends inside an array"},
    {"{`a`",
     "    ^", VRAM_E_FORMAT, "ends inside an object"},
    {"{`a",
     "   ^", VRAM_E_FORMAT, "ends inside a string"},
    {"[`a\nb`]",
     "   ^", VRAM_E_FORMAT, "a control character"},
    {"[`a\\x`]",
     "   ^", VRAM_E_FORMAT, "a backslash"},
    {"[`a\\u12g4`]",
     "   ^", VRAM_E_FORMAT, "four hexadecimal digits"},
    {"[`a\\ud800`]",
     "   ^", VRAM_E_FORMAT, "surrogate"},
    {"[`a\\udc00`]",
     "   ^", VRAM_E_FORMAT, "surrogate"},
    {"[`a\\ud800\\u0041`]",
     "   ^", VRAM_E_FORMAT, "surrogate"},
    {"[`a\\",
     "   ^", VRAM_E_FORMAT, "a backslash"},
    {"[01]",
     "  ^", VRAM_E_FORMAT, "must not begin with 0"},
    {"[-]",
     "  ^", VRAM_E_FORMAT, "a digit is missing"},
    {"[1.]",
     "   ^", VRAM_E_FORMAT, "a digit is missing"},
    {"[1.e5]",
     "   ^", VRAM_E_FORMAT, "a digit is missing"},
    {"[1e+]",
     "    ^", VRAM_E_FORMAT, "a digit is missing"},
    {"[1e",
     "   ^", VRAM_E_FORMAT, "ends inside an array"},
    {"[.5]",
     " ^", VRAM_E_FORMAT, "a value expected, found '.'"},
    {"[+1]",
     " ^", VRAM_E_FORMAT, "a value expected, found '+'"},
    {"[1e999]",
     " ^", VRAM_E_FORMAT, "out of range"},
    {"[NaN]",
     " ^", VRAM_E_FORMAT, "NaN is not JSON"},
    {"[-Infinity]",
     " ^", VRAM_E_FORMAT, "-Infinity is not JSON"},
    {"[nul]",
     " ^", VRAM_E_FORMAT, "a value expected, found 'n'"},
    {"[1]\n<<<<<<< HEAD",
     "    ^", VRAM_E_FORMAT, "text after the end"},
    {"{\n<<<<<<< HEAD",
     "  ^", VRAM_E_FORMAT, "merge conflict"},
    {"[`\xff`]",
     "  ^", VRAM_E_FORMAT, "0xff is not UTF-8"},
    {"[`\xed\xa0\x80`]", /* a surrogate */
     "  ^", VRAM_E_FORMAT, "not UTF-8"},
    {"[`\xc0\x80`]", /* overlong */
     "  ^", VRAM_E_FORMAT, "not UTF-8"},
    {"[`\xf4\x90\x80\x80`]", /* above U+10FFFF */
     "  ^", VRAM_E_FORMAT, "not UTF-8"},
    {"[`\xe2\x82",
     "  ^", VRAM_E_FORMAT, "not UTF-8"},
    {"[[[[[1]]]]]",
     "    ^", VRAM_E_LIMIT, "more than 4 levels"},
    {"{`a`:{`a`:{`a`:{`a`:[]}}}}",
     "                    ^", VRAM_E_LIMIT, "more than 4 levels"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct world w;
        struct vram_cx *cx = world_begin(&w);
        w.limits.json_depth = 4;
        size_t n = strlen(errors[i].input);
        char *exact = malloc(n ? n : 1); /* so that reading too far is seen */
        assert_non_null(exact);
        for (size_t k = 0; k < n; k++)
            exact[k] = errors[i].input[k] == '`' ? '"' : errors[i].input[k];
        assert_int_not_equal(read_all(cx, exact, n, VRAM_JSON_STRICT), 0);
        world_check(&w, errors[i].code, errors[i].caret, 0, errors[i].text);
        free(exact);
        world_end(&w);
    }
}

static void test_bytes_that_c_strings_cannot_hold(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        enum vram_json_mode mode;
        const char *caret, *text;
    } cases[] = {
        {"{}\0\0", 4, VRAM_JSON_STRICT, "  ^", "NUL bytes"},
        {"\xff\xfe{\0}\0", 6, VRAM_JSON_LENIENT, "^", "UTF-16"},
        {"\0{\0}", 4, VRAM_JSON_LENIENT, "^", "UTF-16"},
        {"\xef\xbb\xbf{}", 5, VRAM_JSON_STRICT, "^", "a value expected"},
        {"[\"\0\"]", 5, VRAM_JSON_STRICT, "  ^", "a control character"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        assert_int_not_equal(read_all(world_begin(&w), cases[i].bytes, cases[i].n, cases[i].mode),
                             0);
        world_check(&w, VRAM_E_FORMAT, cases[i].caret, 0, cases[i].text);
        world_end(&w);
    }
}

static struct vram_json one(struct vram_cx *cx, const char *text, enum vram_json_mode mode)
{
    struct vram_json j;
    assert_int_equal(vram_json_open(&j, cx, text, strlen(text), 0, mode), 0);
    assert_int_equal(vram_json_next(&j), 0);
    return j;
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum vram_json_token token;
        int64_t integer;
        double real;
    } cases[] = {
        {"0", VRAM_JSON_INT, 0, 0},
        {"-1", VRAM_JSON_INT, -1, -1},
        {"9223372036854775807", VRAM_JSON_INT, INT64_MAX, 9223372036854775807.0},
        {"-9223372036854775808", VRAM_JSON_INT, INT64_MIN, -9223372036854775808.0},
        {"9223372036854775808", VRAM_JSON_UINT, 0, 9223372036854775808.0},
        {"18446744073709551615", VRAM_JSON_UINT, 0, 18446744073709551615.0},
        {"18446744073709551616", VRAM_JSON_FLOAT, 0, 18446744073709551616.0},
        {"-9223372036854775809", VRAM_JSON_FLOAT, 0, -9223372036854775809.0},
        {"-0", VRAM_JSON_FLOAT, 0, -0.0}, /* as serde_json; Python says 0 */
        {"1.0", VRAM_JSON_FLOAT, 0, 1},
        {"1e-05", VRAM_JSON_FLOAT, 0, 1e-05},
        {"2.6592", VRAM_JSON_FLOAT, 0, 2.6592},
        {"0.02", VRAM_JSON_FLOAT, 0, 0.02},
        {"1e22", VRAM_JSON_FLOAT, 0, 1e22},
        {"1E+2", VRAM_JSON_FLOAT, 0, 100},
        {"1e-400", VRAM_JSON_FLOAT, 0, 0},
        {"5e-324", VRAM_JSON_FLOAT, 0, 5e-324},
        {"1.7976931348623157e308", VRAM_JSON_FLOAT, 0, 1.7976931348623157e308},
        {"0.1000000000000000000000001", VRAM_JSON_FLOAT, 0, 0.1},
        {"123456789012345678901234567890", VRAM_JSON_FLOAT, 0, 123456789012345678901234567890.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct vram_json j = one(world_begin(&w), cases[i].text, VRAM_JSON_STRICT);
        assert_int_equal(j.token, cases[i].token);
        if (j.token == VRAM_JSON_INT)
            assert_int_equal(j.integer, cases[i].integer);
        assert_true(fabs(j.real - cases[i].real) <= fabs(cases[i].real) * 1e-15);
        world_end(&w);
    }
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *json, *plain;
        size_t n;
    } cases[] = {
        {"\"\"", "", 0},
        {"\"plain text that is longer than eight bytes\"",
         "plain text that is longer than eight bytes", 42},
        {"\"1234567\\\"\"", "1234567\"", 8},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8},
        {"\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10},
        {"\"\xe2\x82\xac\"", "\xe2\x82\xac", 3},
        {"\"a\\u0000b\"", "a\0b", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct vram_cx *cx = world_begin(&w);
        struct vram_json j = one(cx, cases[i].json, VRAM_JSON_STRICT);
        char out[64];
        assert_int_equal(j.token, VRAM_JSON_STRING);
        assert_int_equal(vram_json_decode(&j, out), cases[i].n);
        assert_memory_equal(out, cases[i].plain, cases[i].n);
        vram_sym sym = vram_json_sym(&j);
        assert_int_equal(w.syms.at[sym].n, cases[i].n);
        assert_memory_equal(w.syms.at[sym].text, cases[i].plain, cases[i].n + 1);
        world_end(&w);
    }
}

static void test_names_are_compared_without_escapes(void **state)
{
    (void)state;
    struct world w;
    struct vram_json j = one(world_begin(&w), "\"\\u0064type\"", VRAM_JSON_STRICT);
    assert_true(vram_json_is(&j, "dtype"));
    assert_false(vram_json_is(&j, "dtyp"));
    world_end(&w);
}

static void test_lenient(void **state)
{
    (void)state;
    struct world w;
    struct vram_cx *cx = world_begin(&w);
    struct vram_json j;
    static const char text[] = "\xef\xbb\xbf [NaN, -Infinity, Infinity, -0, \"\\ud800x\", 1e999]";
    assert_int_equal(vram_json_open(&j, cx, text, sizeof text - 1, 0, VRAM_JSON_LENIENT), 0);
    assert_int_equal(j.bom, 0);
    assert_int_equal(vram_json_next(&j), 0);
    assert_int_equal(j.token, VRAM_JSON_ARRAY);
    assert_int_equal(vram_json_next(&j), 0);
    assert_true(j.token == VRAM_JSON_FLOAT && isnan(j.real));
    assert_int_equal(j.nonfinite, 5);
    assert_int_equal(vram_json_next(&j), 0);
    assert_true(j.token == VRAM_JSON_FLOAT && isinf(j.real) && j.real < 0);
    assert_int_equal(vram_json_next(&j), 0);
    assert_true(j.token == VRAM_JSON_FLOAT && isinf(j.real) && j.real > 0);
    assert_int_equal(vram_json_next(&j), 0);
    assert_true(j.token == VRAM_JSON_INT && j.integer == 0);
    assert_int_equal(vram_json_next(&j), 0);
    char out[16];
    assert_int_equal(vram_json_decode(&j, out), 4);
    assert_memory_equal(out, "\xef\xbf\xbdx", 4); /* half a pair becomes U+FFFD */
    assert_int_equal(vram_json_next(&j), 0);
    assert_true(isinf(j.real));
    world_end(&w);
}

static void test_skip(void **state)
{
    (void)state;
    struct world w;
    struct vram_cx *cx = world_begin(&w);
    struct vram_json j;
    static const char text[] = "{\"a\": [1, {\"b\": []}, \"}\"], \"c\": 7}";
    assert_int_equal(vram_json_open(&j, cx, text, sizeof text - 1, 100, VRAM_JSON_STRICT), 0);
    assert_int_equal(vram_json_next(&j), 0);
    assert_int_equal(vram_json_next(&j), 0);
    assert_int_equal(j.offset, 101);
    assert_int_equal(vram_json_skip(&j), 0);
    assert_int_equal(vram_json_next(&j), 0);
    assert_true(j.token == VRAM_JSON_KEY && vram_json_is(&j, "c"));
    assert_int_equal(vram_json_skip(&j), 0);
    assert_int_equal(j.integer, 7);
    assert_int_equal(vram_json_next(&j), 0);
    assert_int_equal(j.token, VRAM_JSON_OBJECT_END);
    assert_int_equal(vram_json_next(&j), 0);
    assert_int_equal(j.token, VRAM_JSON_END);
    world_end(&w);
}

/* every place where eight-byte steps begin and end */
static void test_long_strings_at_every_offset(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40; n++) {
        for (size_t quote = 0; quote <= n; quote++) {
            char text[64] = "\"";
            memset(text + 1, 'x', n);
            text[1 + quote] = '"';
            struct world w;
            struct vram_cx *cx = world_begin(&w);
            struct vram_json j;
            char *exact = malloc(2 + n);
            assert_non_null(exact);
            memcpy(exact, text, 2 + n);
            assert_int_equal(vram_json_open(&j, cx, exact, 2 + n, 0, VRAM_JSON_STRICT), 0);
            int rc = vram_json_next(&j);
            assert_int_equal(rc, 0);
            assert_int_equal(j.n, quote);
            free(exact);
            world_end(&w);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_bytes_that_c_strings_cannot_hold),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_names_are_compared_without_escapes),
        cmocka_unit_test(test_lenient),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_long_strings_at_every_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
