/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs, names, functions and order, from models in the textual syntax: what is printed of them, and
 * what is refused, with the byte.  In the tables ' stands for a double quote.
 */
#include "helper.h"

#include <stdio.h>

#include "base/text.h"
#include "ir/print_onnx.h"
#include "onnx/onnx.h"

#define MODEL "<ir_version: 8, opset_import: ['': 18, 'f': 1]> "
#define LENGTH (sizeof MODEL - 1)

static int read(struct world *w, const char *text, struct vram_onnx *m)
{
    return vram_onnx_load_text(world_begin(w), "m", q(text), strlen(text), m);
}

static char *printed(const struct world *w, const struct vram_onnx *m)
{
    static struct vram_text text;
    struct vram_text_memory memory = {0};
    vram_text_init(&text, vram_text_memory_write, &memory);
    vram_onnx_print(m, &w->syms, &text);
    assert_int_equal(vram_text_flush(&text), 0);
    char *copy = calloc(memory.n + 1, 1);
    assert_non_null(copy);
    memcpy(copy, memory.at, memory.n);
    free(memory.at);
    return copy;
}

static const struct {
    const char *text, *print;
    int finding; /* the only kind there is; −1: none */
} prints[] = {
    {"g (float[N, 3, ?] x) => (float[N] y) { y = Flatten <axis = -1> (x) }",
     "graph '' g (fp32[N,3,?] x) => (fp32[N] y)\n"
     "  y = Flatten:18 <axis = -1> (x)\n", -1},
    /* left out, and unwanted */
    {"g (float x) => (float y) { y, , u = Op (x, , '', x) }",
     "graph '' g (fp32[] x) => (fp32[] y)\n"
     "  y, '', u = Op:18 (x, '', '', x)\n", -1},
    /* no nodes */
    {"g (float x) => (float x) { }", "graph '' g (fp32[] x) => (fp32[] x)\n", -1},
    {"g () => (float[2] w) <float[2] w = {1, -2.5}> { }",
     "graph '' g () => (fp32[2] w)\n"
     "  w = fp32[2] {1, -2.5}\n", -1},
    /* unsorted; what may stay stays */
    {"g (float x) => (float y) { a = A (x)  y = B (c, a)  d = D (x)  c = C (d) }",
     "graph '' g (fp32[] x) => (fp32[] y) sorted\n"
     "  a = A:18 (x)\n"
     "  d = D:18 (x)\n"
     "  c = C:18 (d)\n"
     "  y = B:18 (c, a)\n", VRAM_F_ONNX_UNSORTED},
    /* a subgraph reads outer values two levels up, of which one is made later */
    {"g (bool c) => (float y) { y = If (c) <then_branch = a () => (float p) {"
     " p = If (c) <then_branch = b () => (float r) { r = Neg (late) }> }>  late = Make () }",
     "graph '' g (bool[] c) => (fp32[] y) sorted\n"
     "  late = Make:18 ()\n"
     "  y = If:18 <then_branch = graph /If_0.then_branch> (c)\n"
     "    graph /If_0.then_branch a () => (fp32[] p)\n"
     "      p = If:18 <then_branch = graph /If_0.then_branch/If_0.then_branch> (c)\n"
     "        graph /If_0.then_branch/If_0.then_branch b () => (fp32[] r)\n"
     "          r = Neg:18 (late)\n", VRAM_F_ONNX_UNSORTED},
    /* siblings may share names; a nested one that hides a name of the outer graph wins inside */
    {"g (bool c, float x) => (float y) { [n] y = If (c) <then_branch = a () => (float p) { p = Neg (x) },"
     " else_branch = b () => (float p) { x = Abs (c)  p = Neg (x) }> }",
     "graph '' g (bool[] c, fp32[] x) => (fp32[] y)\n"
     "  [n] y = If:18 <then_branch = graph /n.then_branch, else_branch = graph /n.else_branch> (c)\n"
     "    graph /n.then_branch a () => (fp32[] p)\n"
     "      p = Neg:18 (x)\n"
     "    graph /n.else_branch b () => (fp32[] p)\n"
     "      x = Abs:18 (c)\n"
     "      p = Neg:18 (x)\n", VRAM_F_ONNX_SHADOW},
    /* functions: references, defaults, what is not given, overloads, imports of their own, inputs left out */
    {"g (float x) => (float y) { a = f.F <k = 3> (x)  y = f.F:two (a) }"
     "<domain: 'f', opset_import: ['': 9]> F <k, l: int = 4, m> (u, v) => (w)"
     " { w = Op <i: int = @k, j: int = @l, o: int = @m, p = 1> (u, v) }"
     "<domain: 'f', overload: 'two', opset_import: ['': 9, 'f': 1]> F (u) => (w) { w = f.F (u) }",
     "graph '' g (fp32[] x) => (fp32[] y)\n"
     "  a = f.F:1 <k = 3> (x)\n"
     "    graph /F_0 F (u, v) => (w)\n"
     "      w = Op:9 <i = 3, j = 4, p = 1> (u, '')\n"
     "  y = f.F:1 (a)\n"
     "    graph /F_1 F (u) => (w)\n"
     "      w = f.F:1 (u)\n"
     "        graph /F_1/F_0 F (u, v) => (w)\n"
     "          w = Op:9 <j = 4, p = 1> (u, '')\n", -1},
    /* a body does not see its caller's values, and its own names hide nothing */
    {"g (float x) => (float y) { h = Neg (x)  y = f.F (h) } <domain: 'f', opset_import: ['': 18]> F (x) => (h) { h = Abs (x) }",
     "graph '' g (fp32[] x) => (fp32[] y)\n"
     "  h = Neg:18 (x)\n"
     "  y = f.F:1 (h)\n"
     "    graph /F_1 F (x) => (h)\n"
     "      h = Abs:18 (x)\n", -1},
    /* graphs as arguments of a call belong to the caller */
    {"g (bool c, float x) => (float y) { y = f.F <b = t () => (float p) { p = Neg (x) }> (c) }"
     "<domain: 'f', opset_import: ['': 18]> F <b> (c) => (y) { y = If <then_branch: graph = @b> (c) }",
     "graph '' g (bool[] c, fp32[] x) => (fp32[] y)\n"
     "  y = f.F:1 <b = graph /F_0.b> (c)\n"
     "    graph /F_0 F (c) => (y)\n"
     "      y = If:18 <then_branch = graph /F_0.b> (c)\n"
     "    graph /F_0.b t () => (fp32[] p)\n"
     "      p = Neg:18 (x)\n", -1},
    {"g (float x) => (float y) { y = Op <a = 1, a = 2> (x) }",
     "graph '' g (fp32[] x) => (fp32[] y)\n"
     "  y = Op:18 <a = 1, a = 2> (x)\n", VRAM_F_ONNX_ATTR_TWICE},
    {"g (float x) => (float z) { y = Op (x) }",
     "graph '' g (fp32[] x) => (fp32[] z)\n"
     "  y = Op:18 (x)\n", VRAM_F_ONNX_NOT_MADE},
    {"g (float[-1] x) => (float y) { y = ai.onnx.Op (x) }",
     "graph '' g (fp32[?] x) => (fp32[] y)\n"
     "  y = Op:18 (x)\n", VRAM_F_ONNX_DIM_NEGATIVE},
    {"g (float['2'] x) => (float y) { y = Op (x) }",
     "graph '' g (fp32['2'] x) => (fp32[] y)\n"
     "  y = Op:18 (x)\n", VRAM_F_ONNX_DIM_NUMBER},
    {"g (float x) => (float y) { y = com.microsoft.Gelu (x) }",
     "graph '' g (fp32[] x) => (fp32[] y)\n"
     "  y = com.microsoft.Gelu:1 (x)\n", VRAM_F_ONNX_NOT_IMPORTED},
    {"g (float x) => (float y) <float[1] w = {1}, int64[] y> { w2 = A (w)  y = Op <t = int64[2] {3, 4}, s = ['a', 'b'], f = 1.5> (x) }",
     "graph '' g (fp32[] x) => (fp32[] y)\n"
     "  w = fp32[1] {1}\n"
     "  w2 = A:18 (w)\n"
     "  y = Op:18 <t = i64[2] {3, 4}, s = ['a', 'b'], f = 1.5> (x)\n", -1},
};

static void test_print(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof prints / sizeof *prints; i++) {
        struct world w;
        struct vram_onnx m;
        char text[1024];
        snprintf(text, sizeof text, MODEL "%s", prints[i].text);
        if (read(&w, text, &m))
            fail_msg("%s\n%s @%llu: %s", text, w.error.where, (unsigned long long)w.error.offset, w.error.text);
        char *out = printed(&w, &m);
        const char *body = strchr(out, '\n') + 1, *want = q(prints[i].print);
        if (strcmp(body, want))
            fail_msg("%s\ngives\n%s\nnot\n%s", text, body, want);
        for (size_t k = 0; k < w.findings.n; k++)
            assert_int_equal(w.findings.at[k].kind, prints[i].finding);
        assert_int_equal(w.findings.n, prints[i].finding >= 0);
        free(out);
        world_end(&w);
    }
}

static const struct {
    const char *text, *caret; /* under the byte the error names, behind the model's head */
    int code;
    const char *where, *message;
} errors[] = {
    /* the syntax */
    {"g (float x) => (float y) { y = Op (x }",
     "                                     ^", VRAM_E_FORMAT, "m", "line 1, column 86: ')' expected"},
    {"g (floot x) => (float y) { }",
     "   ^", VRAM_E_FORMAT, "m", "'floot' is no type"},
    {"g (float x) => (float y) <float[2] w = {1, b}> { }",
     "                                           ^", VRAM_E_FORMAT, "m", "a number expected"},
    {"g (float x) => (float y) { y = Op <a : nat = 1> (x) }",
     "                                       ^", VRAM_E_FORMAT, "m", "'nat' is no type of an attribute"},
    {"g (float x) => (float y) { y = Op <a = @b> (x) }",
     "                                         ^", VRAM_E_FORMAT, "m", "needs a type"},
    {"g (float x) => (float y) { y = Op <s = 'ab> (x) }",
     "                                       ^", VRAM_E_FORMAT, "m", "no end"},
    /* the graph */
    {"g (float x) => (float y) { y = Op (z) }",
     "                           ^", VRAM_E_FORMAT, "m: node 0 'Op'", "reads 'z', which is no input"},
    {"g (float x) => (float y) { y = A (x)  y = B (x) }",
     "                                      ^", VRAM_E_FORMAT, "m: node 1 'B'", "another node's output"},
    {"g (float x) => (float y) { x = A (x) }",
     "                           ^", VRAM_E_FORMAT, "m: node 0 'A'", "'x' is already the name of an input"},
    {"g () => (float y) <float y = {1}> { y = A () }",
     "                                    ^", VRAM_E_FORMAT, "m: node 0 'A'", "an initializer"},
    {"g () => (float y) { y = A (y) }",
     "                    ^", VRAM_E_FORMAT, "m: node 0 'A'", "reads its own output"},
    {"g () => (float y) { y = A (z)  z = B (y) }",
     "                    ^", VRAM_E_FORMAT, "m: node 0 'A'", "2 nodes feed each other in a circle: 1 'B' -> 0 'A'"},
    {"g (bool c) => (float y) { y = If <b = a () => (float p) { p = Neg (y) }> (c) }",
     "                          ^", VRAM_E_FORMAT, "m: node 0 'If'", "reads its own output"},
    {"g (float x) => (float y) { y = Op <a: int = @b> (x) }",
     "                           ^", VRAM_E_FORMAT, "m: node 0 'Op': attribute 'a'", "stands in none"},
    /* functions */
    {"g (float x) => (float y) { y = f.F (x) } <domain: 'f'> F (a) => (b) { b = f.G (a) } <domain: 'f'> G (a) => (b) { b = f.F (a) }",
     "                                                                                                                 ^",
     VRAM_E_FORMAT, "m: node 0 'F'", "function 'F' calls itself"},
    {"g (float x) => (float y) { y = f.F (x, x) } <domain: 'f'> F (a) => (b) { b = Neg (a) }",
     "                           ^", VRAM_E_FORMAT, "m: node 0 'F'", "2 inputs and 1 outputs, the function 1 and 1"},
    {"g (float x) => (float y) { y = f.F (x) } <domain: 'f'> F (a) => (b) { b = Neg (x) }",
     "                                                                      ^",
     VRAM_E_FORMAT, "m: node 0 'Neg'", "reads 'x'"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct world w;
        struct vram_onnx m;
        char text[1024];
        snprintf(text, sizeof text, MODEL "%s", errors[i].text);
        if (!read(&w, text, &m))
            fail_msg("%s is read", text);
        if (!strstr(w.error.text, errors[i].message))
            fail_msg("%s\n%s: %s", text, w.error.where, w.error.text);
        world_check(&w, errors[i].code, errors[i].caret, LENGTH, errors[i].message);
        assert_string_equal(w.error.where, errors[i].where);
        world_end(&w);
    }
}

/* Before IR version 4 initializers stand among the inputs; from it on they are defaults. */
static void test_defaults(void **state)
{
    (void)state;
    for (int ir = 3; ir <= 4; ir++) {
        struct world w;
        struct vram_onnx m;
        char text[200];
        snprintf(text, sizeof text, "<ir_version: %d, opset_import: ['': 9]> g (float x, float[1] w = {1}) => (float y) { y = A (x, w) }", ir);
        assert_int_equal(read(&w, text, &m), 0);
        assert_int_equal(m.graphs.at[1].inputs.n, ir == 3 ? 1 : 2);
        assert_int_equal(m.graphs.at[1].initializers.n, 1);
        uint32_t v = m.edges.at[m.graphs.at[1].initializers.first];
        assert_int_equal(m.values.at[v].role, ir == 3 ? VRAM_ONNX_INITIALIZER : VRAM_ONNX_INPUT);
        assert_true(m.values.at[v].type && m.values.at[v].tensor);
        world_end(&w);
    }
}

/* Calls that double at each level stop at the limit, and what is beyond stays unknown. */
static void test_inlining(void **state)
{
    (void)state;
    char text[2000] = MODEL "g (float x) => (float y) { y = f.F0 (x) }";
    for (int i = 0; i < 12; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "<domain: 'f'> F%d (a) => (c) { b = f.F%d (a)  c = f.F%d (b) }", i, i + 1, i + 1);
    struct world w;
    struct vram_onnx m;
    world_begin(&w);
    w.limits.onnx_inlined = 1000;
    assert_int_equal(vram_onnx_load_text(&w.cx, "m", q(text), strlen(text), &m), 0);
    assert_true(m.nodes.n <= 1002);
    assert_int_equal(world_found(&w, VRAM_F_ONNX_NOT_INLINED), 1);
    world_end(&w);
    /* a limit that is not met: 2 + 4 + ... + 2^12 nodes and one */
    assert_int_equal(read(&w, text, &m), 0);
    assert_int_equal(m.nodes.n - 1, 8191);
    assert_int_equal(world_found(&w, VRAM_F_ONNX_NOT_INLINED), 0);
    world_end(&w);
}

static void test_limits(void **state)
{
    (void)state;
    struct world w;
    struct vram_onnx m;
    const char *text = MODEL "g (float[1, 2, 3] x) => (float y) { y = A (x)  z = B (x) }";
    world_begin(&w);
    w.limits.rank = 2;
    assert_int_equal(vram_onnx_load_text(&w.cx, "m", q(text), strlen(text), &m), VRAM_E_LIMIT);
    assert_string_equal(w.error.where, "m: value 'x'");
    world_end(&w);
    world_begin(&w);
    w.limits.onnx_nodes = 1;
    assert_int_equal(vram_onnx_load_text(&w.cx, "m", q(text), strlen(text), &m), VRAM_E_LIMIT);
    world_end(&w);
}

static void test_sweep(void **state)
{
    (void)state;
    const char *text = MODEL "g (float x, bool c) => (float y) <float[2] w = {1, 2}> { y = f.F <k = [1, 2]> (a)  a = If (c) "
                             "<then_branch = t () => (float p) { p = Neg (x) }> } <domain: 'f'> F <k> (u) => (v) { v = Op <k: ints = @k> (u) }";
    for (uint64_t n = 1;; n++) {
        struct world w;
        struct vram_onnx m;
        world_begin(&w);
        vram_fail_after(n);
        int rc = vram_onnx_load_text(&w.cx, "m", q(text), strlen(text), &m);
        uint64_t made = vram_fail_after(0);
        assert_int_equal(rc, w.error.code);
        world_end(&w);
        if (made < n) {
            assert_int_equal(rc, 0);
            assert_true(n > 100);
            return;
        }
        assert_int_equal(rc, VRAM_E_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print),    cmocka_unit_test(test_errors), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_inlining), cmocka_unit_test(test_limits), cmocka_unit_test(test_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
