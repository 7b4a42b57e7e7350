/* SPDX-License-Identifier: Apache-2.0
 *
 * Every refusal of the lexer, the parser and the linker: its text, and its place, which '@' marks
 * in the template.  messages.py sees to it that no refusal is left out.
 */
#include "helper.h"

#include <stdio.h>

struct refusal {
    const char *text;  /* '@' stands before the first byte of what is refused */
    const char *error; /* behind "line L, column C: " */
};

/* Takes the mark out of the text; its place and its line and column. */
static size_t unmark(char *text, unsigned *line, unsigned *column)
{
    char *mark = strchr(text, '@');
    assert_non_null(mark);
    memmove(mark, mark + 1, strlen(mark));
    *line = *column = 1;
    for (const char *p = text; p < mark; p++) {
        ++*column;
        if (*p == '\n') {
            ++*line;
            *column = 1;
        }
    }
    return (size_t)(mark - text);
}

static void refused(const char *marked, const char *error)
{
    struct text_test t;
    unsigned line, column;
    char *text = text_repeat(marked, "", 0, ""), want[400];
    size_t offset = unmark(text, &line, &column);
    snprintf(want, sizeof want, "line %u, column %u: %s", line, column, error);
    text_begin(&t);
    if (!text_parse(&t, "a.vt", text))
        fail_msg("taken: %s\nexpected: %s", text, want);
    assert_string_equal(t.error.text, want);
    assert_string_equal(t.error.where, "a.vt");
    assert_int_equal(t.error.code, VRAM_E_FORMAT);
    assert_int_equal(t.error.offset, offset);
    text_end(&t);
    free(text);
}

static void refused_all(const struct refusal *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        refused(all[i].text, all[i].error);
}
#define REFUSED(all) refused_all((all), sizeof(all) / sizeof *(all))

static void tokens(void **state)
{
    static const struct refusal all[] = {
        {"module A(x):\n@\treturn x\n", "a tab; indent with spaces"},
        {"module A(x):\n  if x:\n    return x\n   @return x\n",
         "this indentation matches no block above"},
        {"function f():\n  return @2x\n", "a name cannot begin with a digit"},
        {"function f():\n  return @0x10\n", "a name cannot begin with a digit"},
        {"function f():\n  return @9223372036854775808\n", "an integer above 64 bits"},
        {"function f():\n  return @1e309\n", "a number that is too large"},
        {"function f():\n  return 1, "
         "@00000000000000000000000000000000000000000000000000000000000000.5\n",
         "a number with too many digits"},
        {"function f():\n  return @\"open\n", "a string without its closing quote"},
        {"function f():\n  return @\"open", "a string without its closing quote"},
        {"function f():\n  return @\"open\r\n", "a string without its closing quote"},
        {"function f():\n  return @\"a\tb\"\n", "a string with a control character (byte 0x09)"},
        {"function f():\n  return 1 @$ 2\n", "a character that means nothing here (byte 0x24)"},
        {"function f():\n  return @\xc3\xa4\n", "a character that means nothing here (byte 0xc3)"},
        {"function f():\n  return 1 @! 2\n", "a character that means nothing here (byte 0x21)"},
        {"function f(): @'", "a character that means nothing here (byte 0x27)"},
    };
    (void)state;
    REFUSED(all);
}

static void expressions(void **state)
{
    static const struct refusal all[] = {
        {"function f():\n  return 1 +@\n", "expected an expression"},
        {"function f():\n  return @else\n", "expected an expression"},
        {"function f():\n  return @)\n", "expected an expression"},
        {"function f():\n  return 1 if 2@\n", "expected 'else'"},
        {"function f(a):\n  return a.@1\n", "expected a name behind '.'"},
        {"function f(a):\n  return a[1@, 2]\n", "expected ']'"},
        {"function f(a):\n  return [1 @2]\n", "expected ',' or ']'"},
        {"function f(a):\n  return (1 @2)\n", "expected ',' or ')'"},
        {"function f(a):\n  return (1,\n\n  2@", "expected ',' or ')'"},
        {"function f(a):\n  return a(1 @2)\n", "expected ',' or ')'"},
        {"function f(a):\n  return a(b=1, @2)\n", "positional arguments come before keywords"},
        {"function f(a):\n  return a(**a, @2)\n", "positional arguments come before keywords"},
        {"function f(a):\n  return {b: 1 @2}\n", "expected ',' or '}'"},
        {"function f(a):\n  return {b @1}\n", "expected ':'"},
        {"function f(a):\n  return {@1: 1}\n", "expected a name"},
        {"function f(a):\n  return {@if: 1}\n", "'if' is a reserved word"},
        {"function f(a):\n  return setting@\n", "expected '('"},
        {"function f(a):\n  return setting(@1)\n", "expected a plan key"},
        {"function f(a):\n  return setting(lora.@)\n", "expected a plan key"},
        {"function f(a):\n  return setting(seq @1)\n", "expected ')'"},
        {"function f(a):\n  return setting(@sequence)\n", "there is no setting 'sequence'"},
        {"function f(a):\n  return setting(@dim.batch)\n", "there is no setting 'dim.batch'"},
        {"function f(a):\n  return a @** 2\n", "expected the end of the line"},
    };
    (void)state;
    REFUSED(all);
}

static void statements(void **state)
{
    static const struct refusal all[] = {
        {"function f():\n  return 1 @2\n", "expected the end of the line"},
        {"function f():\n  @1 = 2\n", "this cannot be assigned to"},
        {"function f():\n  a, @b() = 2\n", "this cannot be assigned to"},
        {"function f():\n  @fp32 = 2\n", "this cannot be assigned to"},
        {"function f(a):\n  a = 1\n    @a = 2\n",
         "this line is indented, but no block begins here"},
        {"function f(a):\n  del a, @b\n", "del takes names that were assigned"},
        {"function f(a):\n  del @1\n", "expected a name"},
        {"function f(a):\n  for @1 in a: a\n", "expected a name"},
        {"function f(a):\n  for b @a: a\n", "expected 'in'"},
        {"function f(a):\n  for a, b, c, d, e, f, g, h, @i in a: a\n", "too many loop names"},
        {"function f(a):\n  with @a: a\n", "with takes autocast(off), autocast(DTYPE) or no_grad"},
        {"function f(a):\n  with autocast@: a\n", "expected '('"},
        {"function f(a):\n  with autocast(a @a): a\n", "expected ')'"},
        {"function f(a):\n  phase @= 1\n", "expected '('"},
        {"function f(a):\n  phase(@1)\n", "expected a name"},
        {"function f(a):\n  if a@\n", "expected ':'"},
        {"function f(a):\n  if a:\n  @a\n", "expected an indented block"},
        {"function f(a):\n@", "expected an indented block"},
    };
    (void)state;
    REFUSED(all);
}

static void definitions(void **state)
{
    static const struct refusal all[] = {
        {"@modul A(x):\n  return x\n", "expected 'module', 'function', 'family' or 'stack'"},
        {"  @module A(x):\n    return x\n", "expected 'module', 'function', 'family' or 'stack'"},
        {"stack @5.24\n", "expected a string behind 'stack'"},
        {"stack \"5.24\" @1\n", "expected the end of the line"},
        {"family a: B, @1\n", "expected a name"},
        {"family a: B, C@, D\n", "expected the end of the line"},
        {"family a @B\n", "expected ':'"},
        {"family a: B\n  @a = 1\n", "expected 'default', 'rename' or 'parallel'"},
        {"family a: B\n  default @1 = 1\n", "expected a name"},
        {"family a: B\n  default a @1\n", "expected '='"},
        {"family a: B\n  default a = 1 @1\n", "expected the end of the line"},
        {"family a: B\n  rename @a to \"b\"\n", "expected the beginning of a name, in quotes"},
        {"family a: B\n  rename \"a\" to @b\n", "expected the beginning of a name, in quotes"},
        {"family a: B\n  rename \"a\" @\"b\"\n", "expected 'to'"},
        {"family a: B\n@family a: C\n", "'a' is defined twice; first in line 1"},
        {"module A(x):\n  return x\n@module A(x):\n  return x\n",
         "'A' is defined twice; first in line 1"},
        {"module A(x):\n  return x\n@function A(x):\n  return x\n",
         "'A' is defined twice; first in line 1"},
        {"\nfunction a(x):\n  return x\n@function a(x):\n  return x\n",
         "'a' is defined twice; first in line 2"},
        {"module @if(x):\n  return x\n", "'if' is a reserved word"},
        {"module A(x)@\n  return x\n", "expected ':'"},
        {"module A(x): @return x\n", "expected the end of the line"},
        {"module A(x):\n@module B(x):\n", "expected what the module declares or runs, indented"},
        {"module A:\n  @return 1\n", "a module with a body names its parameters: module X(a, b):"},
        {"module A(x, @1):\n  return x\n", "expected a name"},
        {"module A(x, @x):\n  return x\n", "two parameters of the same name"},
        {"module A(x; y @z):\n  return x\n", "expected ',', ';' or ')'"},
        {"module A(x; y@; z):\n  return x\n", "a second ';'"},
        {"module A(x, **kw@, z):\n  return x\n", "expected ')'"},
        {"module A:\n  init(a; **b)@\n", "init takes no **"},
        {"module A:\n  init()\n  @init(a)\n", "a second init"},
        {"module A:\n  attr a @1\n", "expected '='"},
        {"module A:\n  attr a = 1 @2\n", "expected the end of the line"},
        {"module A:\n  param w@\n", "expected '['"},
        {"module A:\n  param w[1] fp32 @fp32\n", "expected 'decay', 'no_decay' or 'if'"},
        {"module A:\n  child a@\n", "expected ':'"},
        {"module A:\n  child a as @b: B()\n", "expected a number or 'here'"},
        {"module A:\n  child a: @B\n", "expected CLASS(...) behind ':'"},
        {"module A:\n  child a: @B() + 1\n", "expected CLASS(...) behind ':'"},
        {"module A:\n  children a@: B()\n", "expected '['"},
        {"module A:\n  children a[1] as @1: B()\n", "expected a name"},
        {"module A:\n  child a: B() @C\n", "expected the end of the line"},
        {"module A:\n  tie a.@1 = b\n", "expected a name"},
        {"module A:\n  tie a.b @b\n", "expected '='"},
    };
    (void)state;
    REFUSED(all);
}

/* More of something than there may be: n pieces are one too many. */
static void limits(void **state)
{
    static const struct {
        const char *before, *piece;
        int n;
        const char *after, *error;
    } all[] = {
        {"function f(a):\n  return a", " + a", 200, "@\n",
         "an expression is more than 200 operations deep"},
        {"function f(a):\n  return a", ".b", 200, "@\n",
         "an expression is more than 200 operations deep"},
        {"function f(a):\n  return a", "()", 200, "@\n",
         "an expression is more than 200 operations deep"},
        {"function f(a):\n  return a", " or a", 200, "@\n",
         "an expression is more than 200 operations deep"},
        {"function f(a):\n  return a", " and a", 200, "@\n",
         "an expression is more than 200 operations deep"},
        {"function f(a):\n  return ", "(", 59, "@a\n", "expressions nest more than 60 deep"},
        {"function f(a):\n  return ", "[", 59, "@a\n", "expressions nest more than 60 deep"},
        {"function f(a):\n  return ", "a if a else ", 58, "a if a else @a\n",
         "expressions nest more than 60 deep"},
        {"function f(a):\n  return ", "-", 59, "@a\n", "expressions nest more than 60 deep"},
        {"function f(a):\n  return ", "not ", 59, "@a\n", "expressions nest more than 60 deep"},
        {"function f(a):\n  return [", "a,", 256, "@a]\n", "more than 256 items"},
        {"function f(a):\n  return a", ",a", 255, "@,a\n", "more than 256 items"},
        {"function f(a):\n  return a(", "a,", 255, "@a)\n", "too many arguments"},
        {"function f(a):\n  return {", "b:a,", 128, "@b:a}\n", "too many fields"},
        {"function f(a):\n  del ", "a,", 256, "@a\n", "too many names"},
        {"function f(a):\n", "  a\n", 256, "  @a\n", "more than 256 statements in a block"},
        {"function f(a):\n  ", "with no_grad: ", 59, "with no_grad@: a\n",
         "blocks nest more than 60 deep"},
        {"module A:\n", "  param w[1]\n", 256, "  @param w[1]\n", "more than 256 declarations"},
        {"module A:\n  tie ", "a.", 32, "@a = b\n", "the path is too long"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *text = text_repeat(all[i].before, all[i].piece, all[i].n, all[i].after);
        refused(text, all[i].error);
        free(text);
    }
}

/* The same, where the pieces differ. */
static void numbered_limits(void **state)
{
    char text[20000];
    size_t n = (size_t)snprintf(text, sizeof text, "function f(");
    (void)state;
    for (int i = 0; i < 64; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "a%d, ", i);
    snprintf(text + n, sizeof text - n, "@b):\n  return\n");
    refused(text, "too many parameters");

    n = (size_t)snprintf(text, sizeof text, "function f():\n");
    for (int i = 0; i < 200; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  a%d = 1\n", i);
    snprintf(text + n, sizeof text - n, "  a = 1@\n");
    refused(text, "more than 200 names in one body");

    n = (size_t)snprintf(text, sizeof text, "function f(a):\n");
    for (int i = 0; i < 31; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%*sif a:\n", i + 2, "");
    snprintf(text + n, sizeof text - n, "%*s@a\n", 33, "");
    refused(text, "blocks nest too deeply");

    n = (size_t)snprintf(text, sizeof text, "function f(a):\n  if a: a\n");
    for (int i = 0; i < 57; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  elif a: a\n");
    snprintf(text + n, sizeof text - n, "  @elif a: a\n");
    refused(text, "too many elif");
}

static void other_file(void **state)
{
    struct text_test t;
    (void)state;
    text_begin(&t);
    assert_int_equal(text_parse(&t, "a.vt", "module A(x):\n  return x\n"), 0);
    assert_int_equal(text_parse(&t, "b.vt", "\nmodule A(x):\n  return x\n"), VRAM_E_FORMAT);
    assert_string_equal(t.error.text,
                        "line 2, column 1: 'A' is defined twice; first in line 1 of a.vt");
    assert_string_equal(t.error.where, "b.vt");
    text_end(&t);

    text_begin(&t);
    t.limits.template_bytes = 10;
    assert_int_equal(text_parse(&t, "a.vt", "module A(x)"), VRAM_E_LIMIT);
    assert_string_equal(t.error.text, "11 bytes; a template file may have 10");
    text_end(&t);
}

static void linking(void **state)
{
    static const struct {
        const char *text, *error;
    } all[] = {
        {"module M(x):\n  return 1 + @nothing(x)\n", "nothing is called 'nothing'"},
        {"module M(x):\n  child a: @B(1)\n", "nothing is called 'B'"},
        {"module M(x):\n  function f():\n    return @g\n  return f()\n", "nothing is called 'g'"},
        {"module M(x):\n  init(a; b=@c)\n  return x\n", "nothing is called 'c'"},
        {"module M(x):\n  children a[2] as i: Linear(i, i)\n  tie a.b = b if @i == 1\n  return x\n",
         "nothing is called 'i'"},
        {"function f(x):\n  return @g\nmodule M(x):\n  return f(x)\n", "nothing is called 'g'"},
        {"@module M extends N:\n  param w[1]\n", "no module is called 'N'"},
        {"@module M extends M:\n  param w[1]\n", "a module extends itself: 'M'"},
        {"module N extends M:\n  param w[1]\n@module M extends N:\n  param w[1]\n",
         "a module extends itself: 'M'"},
        {"module M:\n  param w[1]\n@  attr w = 1\n", "a second member is called 'w'"},
        {"@module M(x) extends Linear:\n  param w[1]\n",
         "parameters without a body, in a module that extends another: 'M'"},
        {"module M(x):\n  return x\n@function linear(x):\n  return x\n",
         "there is an operation called 'linear'"},
        {"module M(x):\n  return x\n@module add(x):\n  return x\n",
         "there is an operation called 'add'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct text_test t;
        unsigned line, column;
        char *text = text_repeat(all[i].text, "", 0, ""), want[400];
        unmark(text, &line, &column);
        snprintf(want, sizeof want, "line %u, column %u: %s", line, column, all[i].error);
        text_begin(&t);
        if (text_parse(&t, "a.vt", text))
            fail_msg("%s: %s", t.error.text, text);
        assert_int_equal(text_link(&t, "M"), VRAM_E_FORMAT);
        assert_string_equal(t.error.text, want);
        assert_string_equal(t.error.where, "a.vt");
        text_end(&t);
        free(text);
    }
}

static void long_lineage(void **state)
{
    struct text_test t;
    char text[4000], name[16];
    size_t n = (size_t)snprintf(text, sizeof text, "module A0:\n  param w[1]\n");
    (void)state;
    for (int i = 1; i < 50; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "module A%d extends A%d:\n  init()\n", i,
                              i - 1);
    for (int last = 39; last < 50; last += 10) { /* 40 classes, then 50 */
        text_begin(&t);
        assert_int_equal(text_parse(&t, "a.vt", text), 0);
        snprintf(name, sizeof name, "A%d", last);
        assert_int_equal(text_link(&t, name), last == 39 ? 0 : VRAM_E_FORMAT);
        assert_string_equal(t.error.text, last == 39 ? ""
                                                     : "line 19, column 1: too many modules "
                                                       "extend one another, up to 'A9'");
        text_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),      cmocka_unit_test(expressions),
        cmocka_unit_test(statements),  cmocka_unit_test(definitions),
        cmocka_unit_test(limits),      cmocka_unit_test(numbered_limits),
        cmocka_unit_test(other_file),  cmocka_unit_test(linking),
        cmocka_unit_test(long_lineage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
