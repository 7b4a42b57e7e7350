/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass over ONNX graphs: what is bound, what contradicts, control flow, claims, memory running out.  What
 * single operators do is in tests/cases/onnx.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "onnx/infer.h"
#include "onnx/onnx.h"

struct run {
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_findings findings;
    struct vram_limits limits;
    vram_error error;
    struct vram_cx cx;
    struct vram_onnx model;
    struct vram_inference shapes;
};

#define HEAD "<ir_version: 10, opset_import: [\"\" : 20]>\n"

/* Code of loading and inferring. */
static int run_with(struct run *r, const char *text, const struct vram_onnx_bindings *b)
{
    memset(r, 0, sizeof *r);
    r->error.offset = VRAM_NO_OFFSET;
    r->limits = vram_limits_default;
    vram_arena_init(&r->arena, UINT64_C(1) << 28);
    r->cx = (struct vram_cx){&r->arena, &r->syms, &r->limits, &r->findings, &r->error};
    if (vram_syms_init(&r->syms, &r->arena))
        return vram_fail_memory(&r->cx);
    int code = vram_onnx_load_text(&r->cx, "test", text, strlen(text), &r->model);
    return code ? code : vram_onnx_infer(&r->cx, &r->model, b, &r->shapes);
}

static void end(struct run *r) { vram_arena_finish(&r->arena); }

static void open_model(struct run *r, const char *text, const struct vram_onnx_bindings *b)
{
    if (run_with(r, text, b))
        fail_msg("%s: %s", r->error.where, r->error.text);
}

/* "2, seq + 1" of the value of this name, the last of several; "?" without a rank */
static void is(struct run *r, const char *name, const char *dims)
{
    char text[400] = "none";
    for (uint32_t i = 1; i < r->model.values.n; i++) {
        const struct vram_info *info = &r->shapes.at[i];
        if (strcmp(vram_sym_text(&r->syms, r->model.values.at[i].name), name) != 0)
            continue;
        size_t n = (size_t)snprintf(text, sizeof text, "%s", info->ranked ? "" : "?");
        for (uint32_t k = 0; info->ranked && k < info->rank; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", k ? ", " : "",
                                  info->dims[k] ? vram_dim_text(r->shapes.dims, info->dims[k]) : "?");
    }
    assert_string_equal(text, dims);
}

static const char *found(const struct run *r, enum vram_finding_kind kind)
{
    for (size_t i = 0; i < r->findings.n; i++)
        if (r->findings.at[i].kind == kind)
            return r->findings.at[i].text;
    return NULL;
}

/* ---- bindings ------------------------------------------------------------------------------ */

static const char cache[] = HEAD "g (float[batch,seq] x, float[batch,\"past + seq\"] mask, float[?,3] odd) => (float[a,b] y)"
                                 "{ y = Identity (mask) }";

static void test_unbound(void **state)
{
    (void)state;
    struct run r;
    open_model(&r, cache, NULL);
    is(&r, "y", "batch, seq + past");
    is(&r, "odd", "odd_0, 3");
    assert_int_equal(r.shapes.n_symbols, 4);
    end(&r);
}

static void test_bound(void **state)
{
    (void)state;
    struct run r;
    struct vram_onnx_bind_symbol names[] = {{"batch", 2}, {"past + seq", 12}};
    int64_t x[] = {2, 5}, odd[] = {7, 3};
    struct vram_onnx_bind_input inputs[] = {{"x", x, 2}, {"odd", odd, 2}};
    struct vram_onnx_bindings b = {names, 2, inputs, 2};
    open_model(&r, cache, &b);
    is(&r, "y", "2, 12");
    is(&r, "odd", "7, 3");
    assert_int_equal(r.shapes.n_symbols, 0);
    assert_int_equal(r.shapes.n_bound, 4); /* past = 12 − 5 among them */
    end(&r);
    b.n_inputs = 0; /* an expression as a whole, when its parts stay open */
    open_model(&r, cache, &b);
    is(&r, "mask", "2, 12");
    end(&r);
}

static void refused(const struct vram_onnx_bindings *b, const char *words)
{
    struct run r;
    assert_int_equal(run_with(&r, cache, b), VRAM_E_ARGUMENT);
    if (!strstr(r.error.text, words))
        fail_msg("%s", r.error.text);
    end(&r);
}

static void test_bound_wrong(void **state)
{
    (void)state;
    struct vram_onnx_bind_symbol batch[] = {{"batch", 3}}, none[] = {{"bach", 3}}, small[] = {{"past + seq", 1}};
    int64_t x[] = {2, 5}, odd[] = {7, 4};
    struct vram_onnx_bind_input two = {"x", x, 2}, flat = {"x", x, 1}, other = {"z", x, 2}, four = {"odd", odd, 2};
    refused(&(struct vram_onnx_bindings){batch, 1, &two, 1}, "'batch' is 3, not 2");
    refused(&(struct vram_onnx_bindings){none, 1, NULL, 0}, "no input has a dimension 'bach'");
    refused(&(struct vram_onnx_bindings){NULL, 0, &flat, 1}, "2 dimensions, not 1");
    refused(&(struct vram_onnx_bindings){NULL, 0, &other, 1}, "no such input");
    refused(&(struct vram_onnx_bindings){NULL, 0, &four, 1}, "'3' is 3, not 4");
    refused(&(struct vram_onnx_bindings){small, 1, &two, 1}, "'past' would be -4");
}

/* ---- what nodes say of each other ----------------------------------------------------------- */

static void test_contradiction(void **state)
{
    (void)state;
    struct run r;
    open_model(&r, HEAD "g (float[n,m] x, float[4,8] a, float[5,8] b) => (float[n,8] y, float[n,8] z)"
                        "{ y = MatMul (x, a)\n z = MatMul (x, b) }", NULL);
    const char *text = found(&r, VRAM_F_ONNX_CONTRADICTION);
    assert_non_null(text);
    assert_non_null(strstr(text, "'m' must be 5 here and 4 in node 0"));
    is(&r, "z", "n, 8");
    end(&r);
    open_model(&r, HEAD "g (float[n,m] x, float[4,8] a, float[p,8] b, float[p,9] c) => (float[n,8] y, float[n,9] z)"
                        "{ y = MatMul (x, a)\n v = MatMul (x, b)\n z = MatMul (x, c) }", NULL);
    assert_null(found(&r, VRAM_F_ONNX_CONTRADICTION)); /* p is 4, too */
    end(&r);
}

static void test_unknown_operator(void **state)
{
    (void)state;
    struct run r;
    open_model(&r, "<ir_version: 10, opset_import: [\"\" : 20, \"mine\" : 1]>\n"
                   "g (float[n,4] x) => (float[n,9] y, float[p,q] z) <float[n,7] w>"
                   "{ w = mine.Op (x)\n y = Identity (w)\n v = mine.Op (w)\n z = Relu (v) }", NULL);
    is(&r, "y", "n, 7"); /* claimed */
    is(&r, "z", "?");
    assert_non_null(found(&r, VRAM_F_ONNX_OPERATOR));
    assert_int_equal(r.shapes.unknown_ops, 2);
    end(&r);
}

static void test_claims(void **state)
{
    (void)state;
    struct run r;
    const struct vram_claim *claims;
    size_t n;
    open_model(&r, HEAD "g (float[n,4] x) => (float[n,m] y, int64[2,found] z) <float[3,4] narrow, float[n,5] wrong, int32[n,4] other>"
                        "{ narrow = Relu (x)\n wrong = Relu (narrow)\n other = Relu (wrong)\n y = Relu (other)\n z = NonZero (x) }", NULL);
    is(&r, "y", "n, 4");
    is(&r, "z", "2, found");
    assert_int_equal(vram_onnx_claims(&r.cx, &r.shapes, &claims, &n), VRAM_OK);
    assert_int_equal(n, 3);
    static const struct { const char *says; uint8_t kind; } rows[] = {
        {"fp32 [3, 4]", VRAM_CLAIM_NARROW}, {"fp32 [n, 5]", VRAM_CLAIM_WRONG}, {"i32 [n, 4]", VRAM_CLAIM_WRONG}};
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < 3 && strcmp(rows[k].says, claims[i].says) != 0)
            k++;
        assert_true(k < 3);
        assert_int_equal(claims[i].kind, rows[k].kind);
        assert_string_equal(claims[i].is, "fp32 [n, 4]");
    }
    end(&r);
}

static void test_control(void **state)
{
    (void)state;
    struct run r;
    /* a known condition takes its branch; an unknown one gives what both have in common */
    open_model(&r, HEAD "g (float[n,4] x, bool c) => (float[n,d] y, float[n,e] z) <bool yes = {1}>"
                        "{ y = If (yes) <then_branch = t () => (float[n,8] a) { a = Concat <axis = 1> (x, x) },"
                        "                else_branch = e () => (float[n,4] b) { b = Relu (x) }>\n"
                        "  z = If (c) <then_branch = t () => (float[n,8] a2) { a2 = Concat <axis = 1> (x, x) },"
                        "              else_branch = e () => (float[n,4] b2) { b2 = Relu (x) }> }", NULL);
    is(&r, "y", "n, 8");
    is(&r, "z", "n, e"); /* a size that depends on data has the file's name */
    end(&r);
    /* few rounds run one by one, many until nothing changes; what changes is a size of its own */
    static const char loop[] = HEAD "g (float[n,4] x) => (float[a,b] y, float[c,n,4] s) <int64 m = {%d}, bool yes = {1}>"
                                    "{ y, s = Loop (m, yes, x) <body = l (int64 i, bool go, float[p,q] v) =>"
                                    "  (bool go2, float[p2,q] v2, float[n,4] out)"
                                    "  { go2 = Identity (go)\n v2 = Concat <axis = 0> (v, x)\n out = Relu (x) }> }";
    char text[1000];
    snprintf(text, sizeof text, loop, 2);
    open_model(&r, text, NULL);
    is(&r, "y", "3*n, 4");
    is(&r, "s", "2, n, 4");
    end(&r);
    snprintf(text, sizeof text, loop, 1000);
    open_model(&r, text, NULL);
    is(&r, "y", "a, 4");
    is(&r, "s", "1000, n, 4");
    end(&r);
}

/* Loops in loops cost no more than a few runs of each. */
static void test_nested(void **state)
{
    (void)state;
    struct run r;
    char text[20000];
    size_t n = (size_t)snprintf(text, sizeof text, HEAD "g (float[n,4] x, int64 m) => (float[a,b] y) <bool yes = {1}>\n{ y = ");
    enum { LEVELS = 10 };
    for (int i = 0; i < LEVELS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "Loop (m, yes, %s%d) <body = l (int64 i%d, bool g%d, float[?,?] v%d) => (bool h%d, float[?,?] w%d)"
                              "{ h%d = Identity (g%d)\n w%d = ", i ? "v" : "x", i, i + 1, i + 1, i + 1, i + 1, i + 1, i + 1, i + 1, i + 1);
    n += (size_t)snprintf(text + n, sizeof text - n, "Concat <axis = 0> (v%d, v%d)", LEVELS, LEVELS);
    for (int i = 0; i < LEVELS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, " }>");
    snprintf(text + n, sizeof text - n, " }");
    char *x0 = strstr(text, "x0");
    x0[1] = ' ';
    open_model(&r, text, NULL);
    is(&r, "x", "n, 4");
    end(&r);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct run r;
    uint64_t all;
    vram_fail_after(0);
    open_model(&r, cache, NULL);
    all = vram_fail_after(0);
    end(&r);
    assert_true(all > 20);
    for (uint64_t i = 1; i <= all; i++) {
        vram_fail_after(i);
        int code = run_with(&r, cache, NULL);
        vram_fail_after(0);
        assert_true(code == VRAM_E_NOMEM);
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unbound),       cmocka_unit_test(test_bound),  cmocka_unit_test(test_bound_wrong),
        cmocka_unit_test(test_contradiction), cmocka_unit_test(test_unknown_operator),
        cmocka_unit_test(test_claims),        cmocka_unit_test(test_control), cmocka_unit_test(test_nested),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
