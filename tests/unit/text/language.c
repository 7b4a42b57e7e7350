/* SPDX-License-Identifier: Apache-2.0
 *
 * What declarations make of a config, and how a run of a template ends that cannot go on.
 */
#include "helper.h"

#include <stdio.h>

/* "a.b[2, 3] bf16" a line: parameters, buffers (with a '~') and ties (with what they are). */
static void parameters(const struct text_test *t, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < t->tree.nparams && n < size; i++) {
        const struct vram_param *p = &t->tree.params[i];
        n += (size_t)snprintf(out + n, size - n, "%s%s[", p->buffer ? "~" : "",
                              vram_sym_text(&t->syms, p->path));
        for (uint32_t k = 0; k < p->rank && n < size; k++)
            n +=
                (size_t)snprintf(out + n, size - n, "%s%lld", k ? ", " : "", (long long)p->dims[k]);
        if (n < size)
            n += (size_t)snprintf(out + n, size - n, "] %s", vram_dtypes[p->dtype].name);
        if (n < size && p->tied_to != VRAM_NO_INDEX)
            n += (size_t)snprintf(out + n, size - n, " = %s",
                                  vram_sym_text(&t->syms, t->tree.params[p->tied_to].path));
        if (n < size)
            n += (size_t)snprintf(out + n, size - n, "\n");
    }
}

static void declarations(void **state)
{
    static const struct {
        const char *text, *config, *want;
    } all[] = {
        {"module M:\n"
         "  attr a = config.a else 5\n"
         "  attr b = config.b else 5\n"
         "  attr c = config.c else 5\n"
         "  attr d = config.d or 5\n"
         "  param w[a, b, c, d]\n",
         "{'a': 0, 'b': null, 'd': 0}", "w[0, 5, 5, 5] fp32\n"},
        {"module M:\n"
         "  param a[2] if config.yes\n"
         "  param b[2] if not config.yes\n"
         "  param c[2] bf16\n"
         "  buffer d[] i64\n"
         "  param e[2] (fp16 if config.yes else bf16) no_decay\n",
         "{'yes': true, 'dtype': 'bfloat16'}", "a[2] bf16\nc[2] bf16\n~d[] i64\ne[2] fp16\n"},
        {"module P:\n"
         "  init(a, b=a + 1; c=[a, b])\n"
         "  param w[a, b]\n"
         "  param v[c[1]]\n"
         "module M:\n"
         "  child p: P(2)\n"
         "  child q: P(2, c=[0, 7])\n"
         "  children r[2] as i: P(i, i)\n",
         "{}",
         "p.w[2, 3] fp32\np.v[3] fp32\nq.w[2, 3] fp32\nq.v[7] fp32\n"
         "r.0.w[0, 0] fp32\nr.0.v[0] fp32\nr.1.w[1, 1] fp32\nr.1.v[1] fp32\n"},
        {"module Own:\n"
         "  param e[5]\n"
         "module M:\n"
         "  child first as 0: Linear(1, 2, bias=false)\n"
         "  child own as here: Own() component projector\n"
         "  child last as 2: Linear(2, 3, bias=false)\n"
         "  tie last.weight = first.weight if config.tied\n",
         "{'tied': false}", "0.weight[2, 1] fp32\ne[5] fp32\n2.weight[3, 2] fp32\n"},
        /* own parameters come before those of children, wherever they stand */
        {"module M:\n"
         "  child a: Linear(1, 2)\n"
         "  param w[3]\n"
         "  tie w = w\n"
         "  child b: Linear(1, 2, bias=false)\n"
         "  tie b.weight = a.weight if config.tied\n",
         "{'tied': true}",
         "w[3] fp32\na.weight[2, 1] fp32\na.bias[2] fp32\nb.weight[2, 1] fp32 = a.weight\n"},
        /* an extended module keeps its places; what it is given anew takes the old one's */
        {"module A:\n"
         "  attr n = 1\n"
         "  param w[n]\n"
         "  child c: Linear(n, n, bias=false)\n"
         "  param v[n]\n"
         "module M extends A:\n"
         "  attr n = 2\n"
         "  param x[n]\n"
         "  child c: Linear(3, n, bias=false)\n",
         "{}", "w[2] fp32\nv[2] fp32\nx[2] fp32\nc.weight[2, 3] fp32\n"},
        {"module N:\n"
         "  param w[config.n]\n"
         "module M:\n"
         "  child a: N()\n"
         "  child b: N() using config.part\n",
         "{'n': 1, 'part': {'n': 2}}", "a.w[1] fp32\nb.w[2] fp32\n"},
        /* a name of the user's hides the built-in one, for built-in modules as well */
        {"module Embedding(ids):\n"
         "  init(rows, width)\n"
         "  param table[rows, width]\n"
         "  return embedding(table, ids)\n"
         "module M:\n"
         "  child e: CLIPTextEmbeddings()\n",
         "{'vocab_size': 7, 'hidden_size': 2, 'max_position_embeddings': 3}",
         "~e.position_ids[1, 3] i64\ne.token_embedding.table[7, 2] fp32\n"
         "e.position_embedding.table[3, 2] fp32\n"},
        {"function fib(n):\n"
         "  return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
         "module M:\n"
         "  attr l = config.list\n"
         "  param w[fib(10), len(l), l[-1], 7 // 2 * 2 + 7 % 4, int(2.9), min(1, 2)]\n",
         "{'list': [4, 5]}", "w[55, 2, 5, 9, 2, 1] fp32\n"},
        {"family \"my-type\": N\n"
         "module N:\n"
         "  param w[config.n]\n"
         "module M:\n"
         "  child a: auto() using config.part\n",
         "{'part': {'model_type': 'my-type', 'n': 2}}", "a.w[2] fp32\n"},
        /* what the config leaves out; null is said, and what follows from a default follows */
        {"family m: M\n"
         "  default a = 2\n"
         "  default b = 3\n"
         "  default c = 4 * config.b\n"
         "  default d = 5\n"
         "family n: N\n"
         "  default a = 7\n"
         "module N:\n"
         "  param w[config.a]\n"
         "module M:\n"
         "  param w[config.a, config.b, config.c, config.d or 6]\n"
         "  child n: N()\n"
         "  child o: N() using config.part\n",
         "{'model_type': 'm', 'b': 10, 'd': null, 'part': {'model_type': 'n'}}",
         "w[2, 10, 40, 6] fp32\nn.w[2] fp32\no.w[7] fp32\n"},
        {"module M:\n  param w[2]", "{}", "w[2] fp32\n"},
        {"\r\nmodule M:\r\n  # nothing\r\n\r\n  param w[2] \r\n# end", "{}", "w[2] fp32\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct text_test t;
        char got[1000];
        text_begin(&t);
        if (text_parse(&t, "a.vt", all[i].text) || text_build(&t, "M", all[i].config))
            fail_msg("%s: %s\n%s", t.error.where, t.error.text, all[i].text);
        parameters(&t, got, sizeof got);
        assert_string_equal(got, all[i].want);
        text_end(&t);
    }
}

/* Every dtype whose name is one of the language is a dtype there, but not where it is assigned. */
static void dtypes(void **state)
{
    char text[100];
    unsigned found = 0;
    (void)state;
    for (int d = 1; d < VRAM_DT_COUNT; d++) {
        const char *name = vram_dtypes[d].name;
        struct text_test t;
        if (strchr(name, '-'))
            continue;
        found++;
        text_begin(&t);
        snprintf(text, sizeof text, "function f(): return %s\nfunction g(%s): return %s\n", name,
                 name, name);
        if (text_parse(&t, "a.vt", text))
            fail_msg("%s: %s", name, t.error.text);
        assert_int_equal(t.program.nodes.at[0].kind, VRAM_N_DTYPE);
        assert_int_equal(t.program.nodes.at[0].a, d);
        bool local = false;
        for (size_t i = 1; i < t.program.nodes.n; i++) {
            assert_int_not_equal(t.program.nodes.at[i].kind, VRAM_N_DTYPE);
            local = local || t.program.nodes.at[i].kind == VRAM_N_SLOT;
        }
        assert_true(local);
        text_end(&t);
    }
    assert_true(found > 15);
}

static void refused_declarations(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *error, *where;
    } all[] = {
        {"module M:\n  param w[-1]\n", VRAM_E_RANGE,
         "line 2, column 11: 'w' has a size that is no positive integer", "a.vt"},
        {"module M:\n  param w[2.5]\n", VRAM_E_RANGE,
         "line 2, column 10: 'w' has a size that is no positive integer", "a.vt"},
        {"module M:\n  param w[config.absent]\n", VRAM_E_RANGE,
         "line 2, column 17: 'w' has a size that is none: does config.json say it?", "a.vt"},
        {"module M:\n  param w[9223372036854775807, 2]\n", VRAM_E_RANGE,
         "line 2, column 10: 'w' has more elements than 64 bits count", "a.vt"},
        {"module M:\n  param w[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n", VRAM_E_LIMIT,
         "line 2, column 10: a parameter of more than 10 dimensions", "a.vt"},
        {"module M:\n  attr a = config.n + 1\n", VRAM_E_FORMAT,
         "line 2, column 21: a value that is needed here is missing", "a.vt"},
        {"module M:\n  attr a = 1 / 0\n", VRAM_E_RANGE, "line 2, column 14: division by zero",
         "a.vt"},
        {"module M:\n  attr a = 9223372036854775807 + 1\n", VRAM_E_RANGE,
         "line 2, column 32: a number above 64 bits", "a.vt"},
        {"module M:\n  attr a = config.model_type.b\n", VRAM_E_FORMAT,
         "line 2, column 29: there is no field 'b' here", "a.vt"},
        {"module M:\n  attr a = [1][1]\n", VRAM_E_FORMAT,
         "line 2, column 15: an index outside the list", "a.vt"},
        {"module M:\n  attr a = new((1,), fp32)\n", VRAM_E_FORMAT,
         "line 2, column 12: a declaration cannot make tensors", "a.vt"},
        {"module M:\n  attr a = setting(seq)\n", VRAM_E_FORMAT,
         "line 2, column 12: a declaration does not know the plan", "a.vt"},
        {"module M:\n  child a: Linear(1)\n", VRAM_E_FORMAT,
         "line 2, column 12: Linear needs 'outputs' (in a)", "a.vt"},
        {"module M:\n  child a: Linear(1, 2, 3)\n", VRAM_E_FORMAT,
         "line 2, column 12: Linear takes 2 positional arguments, 3 were given (in a)", "a.vt"},
        {"module M:\n  child a: Linear(1, 2, biased=true)\n", VRAM_E_FORMAT,
         "line 2, column 12: Linear takes no keyword 'biased' (in a)", "a.vt"},
        {"module M:\n  child a: Linear(-1, 2)\n", VRAM_E_RANGE,
         "line 7, column 15: 'weight' has a size that is no positive integer (in a)", "nn.vt"},
        {"module M:\n  child a: len(1)\n", VRAM_E_FORMAT,
         "line 2, column 12: a child is a module class", "a.vt"},
        {"module M:\n  child a: Linear(1, 2) using config.part\n", VRAM_E_UNBOUND,
         "line 2, column 37: config.json has no configuration for 'a'", "a.vt"},
        {"module M:\n  children a[config.n]: Linear(1, 2)\n", VRAM_E_RANGE,
         "line 2, column 20: 'a' needs a number of layers", "a.vt"},
        {"module M:\n  children a[9000000000000]: Linear(1, 2)\n", VRAM_E_LIMIT,
         "line 2, column 14: 9000000000000 layers; a model may have 1048576 modules", "a.vt"},
        {"module M:\n  child a: M()\n", VRAM_E_LIMIT,
         "line 2, column 12: modules nest more than 40 deep, or are too many"
         " (in a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a)",
         "a.vt"},
        {"family m: M\n  default a = [1]\nmodule M:\n  param w[config.a]\n", VRAM_E_FORMAT,
         "line 2, column 15: the default of 'a' is no number, string, true, false or none", "a.vt"},
        {"family m: M\n  default a = nothing\nmodule M:\n  param w[config.a]\n", VRAM_E_FORMAT,
         "line 2, column 15: nothing is called 'nothing'", "a.vt"},
        {"family m: M\n  default a = config.b.c\nmodule M:\n  param w[config.a]\n", VRAM_E_FORMAT,
         "line 2, column 23: there is no field 'c' here", "a.vt"},
        {"module M:\n  child a: auto() using config.part\n", VRAM_E_UNBOUND,
         "line 2, column 31: config.json has no configuration for 'a'", "a.vt"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct text_test t;
        text_begin(&t);
        if (text_parse(&t, "a.vt", all[i].text))
            fail_msg("%s\n%s", t.error.text, all[i].text);
        assert_int_equal(text_build(&t, "M", "{'model_type': 'm'}"), all[i].code);
        assert_string_equal(t.error.text, all[i].error);
        assert_string_equal(t.error.where, all[i].where);
        text_end(&t);
    }
}

/* Stored names by the family's renamings; shapes correct what a default said. */
static void stored(void **state)
{
    static const char text[] = "family m: M\n"
                               "  default n = 3\n"
                               "  default twice = 2 * config.n\n"
                               "  rename \"old.w\" to \"new.w\"\n"
                               "  rename \"old.\" to \"part.\"\n"
                               "module N:\n"
                               "  param w[config.n]\n"
                               "  param v[config.twice]\n"
                               "module M:\n"
                               "  child part: N()\n"
                               "  child new: N()\n";
    static const struct {
        const char *name;
        int64_t size;
    } tensors[] = {{"old.w", 5}, {"old.v", 10}, {"part.w", 5}, {"new.v", 10}};
    struct text_test t;
    char got[400];
    (void)state;
    text_begin(&t);
    assert_int_equal(text_parse(&t, "a.vt", text), 0);
    for (int i = 0; i < 4; i++)
        text_tensor(&t, tensors[i].name, tensors[i].size);
    if (text_build(&t, "M", "{'model_type': 'm'}"))
        fail_msg("%s: %s", t.error.where, t.error.text);
    parameters(&t, got, sizeof got);
    assert_string_equal(got, "part.w[5] fp32\npart.v[10] fp32\nnew.w[5] fp32\nnew.v[10] fp32\n");
    for (uint32_t i = 0; i < t.tree.nparams; i++)
        assert_int_not_equal(t.tree.params[i].tensor, VRAM_NO_INDEX);
    assert_int_equal(t.findings.n, 1);
    assert_string_equal(
        t.findings.at[0].text,
        "config.json leaves it out (class default 3), the shape of tensor 'part.w' gives "
        "5; the shape was taken");
    text_end(&t);
}

/* The body of a model with one parameter w[2], a batch of ids[1, 4] and a list l; line 8 is its
 * first. */
static const char head[] = "module N(x):\n"
                           "  return x * 2\n"
                           "module M(ids):\n"
                           "  attr l = [1, [2]]\n"
                           "  param w[2]\n"
                           "  child n: N()\n"
                           "  function inputs(): return {ids: new((1, 4), i64)}\n";

struct ending {
    const char *body;
    int code;
    const char *error; /* without its place when that is line 8 */
};

static void ends(const struct ending *e, size_t n, uint64_t steps)
{
    for (size_t i = 0; i < n; i++) {
        struct text_test t;
        char *text = text_repeat(head, e[i].body, 1, "\n");
        text_begin(&t);
        t.limits.steps = steps;
        if (text_parse(&t, "a.vt", text) || text_build(&t, "M", "{}"))
            fail_msg("%s: %s\n%s", t.error.where, t.error.text, text);
        assert_int_equal(text_run(&t), e[i].code);
        assert_string_equal(t.error.text, e[i].error);
        assert_string_equal(t.error.where, e[i].code ? "a.vt" : "");
        text_end(&t);
        free(text);
    }
}

static void refused_statements(void **state)
{
    static const struct ending all[] = {
        {"  return {loss: mean(n(w))}", 0, ""},
        {"  return n(w, 1)", VRAM_E_FORMAT,
         "line 8, column 10: N takes 1 positional arguments, 2 were given (in n)"},
        {"  return n()", VRAM_E_FORMAT, "line 8, column 10: N needs the argument 'x' (in n)"},
        {"  return n(w, y=1)", VRAM_E_FORMAT,
         "line 8, column 10: N was given a keyword it does not take (in n)"},
        {"  return n(**w)", VRAM_E_FORMAT, "line 8, column 10: ** takes a record"},
        {"  return w(1)", VRAM_E_FORMAT,
         "line 8, column 10: only modules, functions and ops can be called"},
        {"  return add(w)", VRAM_E_FORMAT, "line 8, column 10: add(x y): argument 2 is missing"},
        {"  return add(w, w, w)", VRAM_E_FORMAT, "line 8, column 10: add takes 2 arguments"},
        {"  return add(w, z=w)", VRAM_E_FORMAT, "line 8, column 10: add takes no keyword 'z'"},
        {"  return embedding(w, 1)", VRAM_E_FORMAT,
         "line 8, column 10: embedding(w ids): argument 2 must be a tensor"},
        {"  return transpose(w, 0, 1)", VRAM_E_FORMAT,
         "line 8, column 10: transpose(x dim0 dim1): argument 3 must be a dimension of the tensor"},
        {"  return to(w, 1)", VRAM_E_FORMAT,
         "line 8, column 10: to(x dtype): argument 2 must be a dtype"},
        {"  if w: return w", VRAM_E_FORMAT, "line 8, column 3: a tensor has no data to decide by"},
        {"  return w // 2", VRAM_E_FORMAT,
         "line 8, column 12: // and % are not known for tensors"},
        {"  return w + \"a\"", VRAM_E_FORMAT,
         "line 8, column 12: add(x y): argument 2 must be a tensor"},
        {"  return 1 + \"a\"", VRAM_E_FORMAT, "line 8, column 12: these two do not go together"},
        {"  return -\"a\"", VRAM_E_FORMAT,
         "line 8, column 10: only numbers and tensors can be negated"},
        {"  return w.size", VRAM_E_FORMAT, "line 8, column 11: there is no field 'size' here"},
        {"  return w.shape[1]", VRAM_E_FORMAT, "line 8, column 17: an index outside the list"},
        {"  return w[0]", VRAM_E_FORMAT, "line 8, column 11: only lists and shapes can be indexed"},
        {"  a, b = w", VRAM_E_FORMAT, "line 8, column 3: expected 2 values to assign"},
        {"  a, b = [1]", VRAM_E_FORMAT, "line 8, column 3: expected 2 values to assign"},
        {"  w.a = 1", VRAM_E_FORMAT,
         "line 8, column 4: only records have fields that can be assigned"},
        {"  a = {b: 1}\n  a.c = 1", VRAM_E_FORMAT, "line 9, column 4: the record has no field 'c'"},
        {"  a = [1]\n  a[1] = 1", VRAM_E_FORMAT,
         "line 9, column 4: there is no such place in the list"},
        {"  a = (1, 2)\n  a[1] = 1", VRAM_E_FORMAT,
         "line 9, column 4: there is no such place in the list"},
        {"  w.append(1)", VRAM_E_FORMAT, "line 8, column 4: append takes one value, into a list"},
        {"  l.append(1)", VRAM_E_FORMAT,
         "line 8, column 4: this list belongs to a declaration and stays as it is"},
        {"  for x in l:\n    if is_list(x): x[0] = w", VRAM_E_FORMAT,
         "line 9, column 21: this list belongs to a declaration and stays as it is"},
        {"  for x in w: x", VRAM_E_FORMAT, "line 8, column 3: only lists can be looped over"},
        {"  x = error(\"not now\")", VRAM_E_UNSUPPORTED, "line 8, column 7: not now"},
        {"  x = new((9223372036854775807, 2), fp32)", VRAM_E_RANGE,
         "line 8, column 7: a tensor of negative or impossible size"},
        {"  x = new((-1,), fp32)", VRAM_E_RANGE,
         "line 8, column 7: a tensor of negative or impossible size"},
        {"  return f()\nfunction f(): return config.a", VRAM_E_FORMAT,
         "line 9, column 22: only modules have a config"},
    };
    (void)state;
    ends(all, sizeof all / sizeof *all, vram_limits_default.steps);
}

/* No template runs for ever, fills the stack or all memory. */
static void budgets(void **state)
{
    static const struct ending all[] = {
        {"  for i in range(1000000): x = i", VRAM_E_LIMIT,
         "line 8, column 3: the templates take more than 10000 steps"},
        {"  a = [1]\n  for i in a: a.append(i)", VRAM_E_LIMIT,
         "line 9, column 15: the templates take more than 10000 steps"},
        {"  f(1)\nfunction f(x): return f(x)", VRAM_E_LIMIT,
         "line 9, column 23: calls and expressions nest more than 1000 deep"},
        {"  f(1)\nfunction f(x): return -(-(-f(x)))", VRAM_E_LIMIT,
         "line 9, column 28: calls and expressions nest more than 1000 deep"},
        {"  f(1)\nfunction f(x):\n  if x: if x: if x: f(x)", VRAM_E_LIMIT,
         "line 10, column 21: calls and expressions nest more than 1000 deep"},
        {"  x = range(1048577)", VRAM_E_LIMIT, "line 8, column 7: range(1048577)"},
        {"  a = [1]\n  for i in range(30): a = a + a", VRAM_E_LIMIT,
         "line 9, column 29: a list of more than 1048576 values"},
        {"  a = [1]\n  b = [1]\n  for i in range(70):\n    a = [a, a]\n    b = [b, b]\n  x = a == "
         "b",
         VRAM_E_LIMIT, "line 13, column 9: containers nest more than 64 deep"},
        {"  a = [1]\n  b = [1]\n  for i in range(40):\n    a = [a, a]\n    b = [b, b]\n  x = a == "
         "b",
         VRAM_E_LIMIT, "line 13, column 9: the templates take more than 10000 steps"},
        {"  a = []\n  a.append(a)\n  b = []\n  b.append(b)\n  x = a == b", VRAM_E_LIMIT,
         "line 12, column 9: containers nest more than 64 deep"},
        /* a chain of six hundred lists dies without a stack for it */
        {"  a = []\n  b = a\n  for i in range(600):\n    c = []\n    b.append(c)\n    b = c\n"
         "  del a, b, c\n  return {loss: mean(w)}",
         0, ""},
    };
    (void)state;
    ends(all, sizeof all / sizeof *all, 10000);
}

static void build_budget(void **state)
{
    static const struct {
        const char *text, *error;
    } all[] = {
        {"function f(n):\n"
         "  for i in range(1000000): n = n + 1\n"
         "  return n\n"
         "module M:\n"
         "  attr a = f(0)\n",
         "line 2, column 3: the templates take more than 10000 steps"},
        {"function f(n):\n  return f(n)\nmodule M:\n  param w[f(0)]\n",
         "line 2, column 10: calls and expressions nest more than 1000 deep"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct text_test t;
        text_begin(&t);
        t.limits.steps = 10000;
        assert_int_equal(text_parse(&t, "a.vt", all[i].text), 0);
        assert_int_equal(text_build(&t, "M", "{}"), VRAM_E_LIMIT);
        assert_string_equal(t.error.text, all[i].error);
        text_end(&t);
    }
}

/* A small model of the built-in files with the n-th allocation failing: a clean error each time. */
static void allocations(void **state)
{
    static const char text[] = "family x: X, XForCausalLM\n"
                               "module X extends LlamaModel:\n"
                               "  attr own = [1, {a: \"b\"}]\n"
                               "module XForCausalLM extends LlamaForCausalLM:\n"
                               "  child model: X()\n";
    static const char config[] =
        "{'model_type': 'x', 'hidden_size': 8, 'intermediate_size': 8, 'vocab_size': 8,"
        " 'num_hidden_layers': 1, 'num_attention_heads': 1, 'hidden_act': 'silu'}";
    (void)state;
    for (uint64_t n = 1, last = UINT64_MAX; n <= last; n++) { /* some thousand */
        struct text_test t;
        text_begin(&t);
        vram_fail_after(n);
        int code = text_parse(&t, "a.vt", text);
        if (!code)
            code = text_build(&t, "XForCausalLM", config);
        if (!code)
            code = text_run(&t);
        if (vram_fail_after(0) < n) { /* nothing failed */
            assert_int_equal(code, 0);
            last = 0;
        } else {
            assert_int_equal(code, VRAM_E_NOMEM);
            assert_string_equal(t.error.text, "out of memory");
        }
        text_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declarations),         cmocka_unit_test(dtypes),
        cmocka_unit_test(refused_declarations), cmocka_unit_test(stored),
        cmocka_unit_test(refused_statements),   cmocka_unit_test(budgets),
        cmocka_unit_test(build_budget),         cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
