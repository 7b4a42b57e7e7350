/* SPDX-License-Identifier: Apache-2.0
 *
 * vram_program_print: what it prints parses into the same program.  Every built-in template is
 * parsed, printed, parsed again and compared definition by definition, node by node (places in the
 * text do not count); a second print gives the same bytes.  Snippets cover what no template uses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "ir/program.h"
#include "models/embedded.h"
#include "text/template.h"

struct side {
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_program program;
    vram_error error;
    struct vram_cx cx;
    struct vram_text_memory text;
};

static void begin(struct side *s)
{
    memset(s, 0, sizeof *s);
    vram_arena_init(&s->arena, UINT64_C(1) << 30);
    assert_int_equal(vram_syms_init(&s->syms, &s->arena), 0);
    s->cx = (struct vram_cx){&s->arena, &s->syms, &vram_limits_default, NULL, &s->error};
}

static void parse(struct side *s, const char *name, const char *text)
{
    if (vram_template_parse(&s->cx, &s->program, name, text, strlen(text)))
        fail_msg("%s: %s\n%s", s->error.where, s->error.text, text);
    struct vram_text out;
    vram_text_init(&out, vram_text_memory_write, &s->text);
    vram_program_print(&out, &s->syms, &s->program);
    assert_int_equal(vram_text_flush(&out), 0);
}

static void finish(struct side *s)
{
    free(s->text.at);
    vram_arena_finish(&s->arena);
}

/* ---- equality ------------------------------------------------------------------------------ */

static void same_sym(const struct side *a, vram_sym x, const struct side *b, vram_sym y)
{
    assert_string_equal(vram_sym_text(&a->syms, x), vram_sym_text(&b->syms, y));
}

static void same(const struct side *a, uint32_t x, const struct side *b, uint32_t y);

static void same_list(const struct side *a, uint32_t x, const struct side *b, uint32_t y,
                      uint32_t n, bool pairs)
{
    for (uint32_t i = 0; i < n; i++)
        if (pairs && i % 2 == 0)
            same_sym(a, a->program.lists.at[x + i], b, b->program.lists.at[y + i]);
        else
            same(a, a->program.lists.at[x + i], b, b->program.lists.at[y + i]);
}

static void same_leaf(const struct side *a, const struct vram_node *m, const struct side *b,
                      const struct vram_node *n)
{
    switch ((enum vram_node_kind)m->kind) {
    case VRAM_N_INT:
        assert_true(a->program.ints.at[m->a] == b->program.ints.at[n->a]);
        break;
    case VRAM_N_FLOAT:
        assert_true(a->program.floats.at[m->a] == b->program.floats.at[n->a]);
        break;
    case VRAM_N_STRING:
    case VRAM_N_NAME:
    case VRAM_N_SETTING:
    case VRAM_S_PHASE:
        same_sym(a, m->a, b, n->a);
        break;
    default: /* BOOL, DTYPE, SLOT, CONTEXT, DEL: a number */
        assert_int_equal(m->a, n->a);
    }
}

static void same(const struct side *a, uint32_t x, const struct side *b, uint32_t y)
{
    const struct vram_node *m = &a->program.nodes.at[x], *n = &b->program.nodes.at[y];
    assert_int_equal(m->kind, n->kind);
    switch ((enum vram_node_kind)m->kind) {
    case VRAM_N_FIELD:
        same_sym(a, m->b, b, n->b);
        same(a, m->a, b, n->a);
        break;
    case VRAM_N_NOT:
    case VRAM_N_NEGATE:
    case VRAM_S_EXPR:
    case VRAM_S_RETURN:
        same(a, m->a, b, n->a);
        break;
    case VRAM_N_BINARY:
        assert_int_equal(m->c, n->c);
        /* fall through */
    case VRAM_N_INDEX:
    case VRAM_N_AND:
    case VRAM_N_OR:
    case VRAM_S_ASSIGN:
    case VRAM_S_AUTOCAST:
        same(a, m->a, b, n->a);
        same(a, m->b, b, n->b);
        break;
    case VRAM_S_NOGRAD:
        same(a, m->b, b, n->b);
        break;
    case VRAM_S_IF:
        assert_int_equal(!m->c, !n->c);
        same(a, m->a, b, n->a);
        same(a, m->b, b, n->b);
        if (m->c)
            same(a, m->c - 1, b, n->c - 1);
        break;
    case VRAM_N_CHOICE:
    case VRAM_S_FOR:
        same(a, m->a, b, n->a);
        same(a, m->b, b, n->b);
        same(a, m->c, b, n->c);
        break;
    case VRAM_N_TUPLE:
    case VRAM_N_LIST:
    case VRAM_S_BLOCK:
        assert_int_equal(m->b, n->b);
        same_list(a, m->a, b, n->a, m->b, false);
        break;
    case VRAM_N_RECORD:
        assert_int_equal(m->b, n->b);
        same_list(a, m->a, b, n->a, m->b * 2, true);
        break;
    case VRAM_N_CALL:
        assert_int_equal(m->c, n->c);
        assert_int_equal(m->nkw, n->nkw);
        same(a, m->a, b, n->a);
        same_list(a, m->b, b, n->b, m->c, false);
        same_list(a, m->b + m->c, b, n->b + n->c, (uint32_t)m->nkw * 2, true);
        break;
    default:
        same_leaf(a, m, b, n);
    }
}

/* node numbers + 1, 0 = absent */
static void same_if(const struct side *a, uint32_t x, const struct side *b, uint32_t y)
{
    assert_int_equal(!x, !y);
    if (x)
        same(a, x - 1, b, y - 1);
}

static void same_params(const struct side *a, uint32_t x, const struct side *b, uint32_t y,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        same_sym(a, a->program.params.at[x + i].name, b, b->program.params.at[y + i].name);
        same_if(a, a->program.params.at[x + i].fallback, b, b->program.params.at[y + i].fallback);
    }
}

static void same_callable(const struct side *a, const struct vram_callable *x,
                          const struct side *b, const struct vram_callable *y)
{
    assert_int_equal(x->npositional, y->npositional);
    assert_int_equal(x->nkeyword, y->nkeyword);
    assert_int_equal(x->rest, y->rest);
    assert_int_equal(x->nslots, y->nslots);
    same_params(a, x->params, b, y->params, (uint32_t)x->npositional + x->nkeyword + x->rest);
    same_if(a, x->body, b, y->body);
}

static void same_decl(const struct side *a, const struct vram_decl *x, const struct side *b,
                      const struct vram_decl *y)
{
    assert_int_equal(x->kind, y->kind);
    assert_int_equal(x->init, y->init);
    assert_int_equal(x->input_embedding, y->input_embedding);
    assert_int_equal(x->decay_set, y->decay_set);
    assert_int_equal(x->decay, y->decay);
    assert_int_equal(x->loop_slot, y->loop_slot);
    same_sym(a, x->name, b, y->name);
    same_sym(a, x->component, b, y->component);
    same_if(a, x->value, b, y->value);
    same_if(a, x->fallback, b, y->fallback);
    same_if(a, x->dims, b, y->dims);
    same_if(a, x->dtype, b, y->dtype);
    same_if(a, x->count, b, y->count);
    same_if(a, x->config, b, y->config);
    same_if(a, x->condition, b, y->condition);
    if (x->kind == VRAM_DECL_METHOD)
        same_callable(a, &a->program.functions.at[x->function].callable, b,
                      &b->program.functions.at[y->function].callable);
}

static void same_class(const struct side *a, const struct vram_class *x, const struct side *b,
                       const struct vram_class *y)
{
    same_sym(a, x->name, b, y->name);
    same_sym(a, x->extends, b, y->extends);
    same_sym(a, x->component, b, y->component);
    assert_int_equal(x->has_signature, y->has_signature);
    assert_int_equal(x->checkpointed, y->checkpointed);
    assert_int_equal(x->ninit, y->ninit);
    assert_int_equal(x->npositional, y->npositional);
    assert_int_equal(x->ndecls, y->ndecls);
    assert_int_equal(x->nties, y->nties);
    assert_int_equal(x->build_slots, y->build_slots);
    same_callable(a, &x->forward, b, &y->forward);
    same_params(a, x->init, b, y->init, x->ninit);
    for (uint32_t i = 0; i < x->ndecls; i++)
        same_decl(a, &a->program.decls.at[x->decls + i], b, &b->program.decls.at[y->decls + i]);
    for (uint32_t i = 0; i < x->nties; i++) {
        const struct vram_tie *s = &a->program.ties.at[x->ties + i];
        const struct vram_tie *t = &b->program.ties.at[y->ties + i];
        assert_int_equal(s->nleft, t->nleft);
        assert_int_equal(s->nright, t->nright);
        for (uint32_t k = 0; k < s->nleft; k++)
            same_sym(a, a->program.lists.at[s->left + k], b, b->program.lists.at[t->left + k]);
        for (uint32_t k = 0; k < s->nright; k++)
            same_sym(a, a->program.lists.at[s->right + k], b, b->program.lists.at[t->right + k]);
        same_if(a, s->condition, b, t->condition);
    }
}

static void same_family(const struct side *a, const struct vram_family *x, const struct side *b,
                        const struct vram_family *y)
{
    assert_int_equal(x->quoted, y->quoted);
    assert_int_equal(x->ndefaults, y->ndefaults);
    assert_int_equal(x->nrenamings, y->nrenamings);
    for (uint32_t i = 0; i < x->ndefaults; i++) {
        const struct vram_default *m = &a->program.defaults.at[x->defaults + i];
        const struct vram_default *n = &b->program.defaults.at[y->defaults + i];
        same_sym(a, m->key, b, n->key);
        same(a, m->value, b, n->value);
    }
    for (uint32_t i = 0; i < x->nrenamings; i++) {
        const struct vram_renaming *m = &a->program.renamings.at[x->renamings + i];
        const struct vram_renaming *n = &b->program.renamings.at[y->renamings + i];
        same_sym(a, m->from, b, n->from);
        same_sym(a, m->to, b, n->to);
    }
}

static void same_program(const struct side *a, const struct side *b)
{
    const struct vram_program *p = &a->program, *q = &b->program;
    assert_int_equal(p->classes.n, q->classes.n);
    assert_int_equal(p->functions.n, q->functions.n);
    assert_int_equal(p->families.n, q->families.n);
    assert_int_equal(p->nodes.n, q->nodes.n);
    for (size_t i = 0; i < p->families.n; i++) {
        same_sym(a, p->families.at[i].model_type, b, q->families.at[i].model_type);
        same_sym(a, p->families.at[i].base, b, q->families.at[i].base);
        same_sym(a, p->families.at[i].causal, b, q->families.at[i].causal);
        same_family(a, &p->families.at[i], b, &q->families.at[i]);
    }
    for (size_t i = 0; i < p->classes.n; i++)
        same_class(a, &p->classes.at[i], b, &q->classes.at[i]);
    for (size_t i = 0; i < p->functions.n; i++) {
        same_sym(a, p->functions.at[i].name, b, q->functions.at[i].name);
        assert_int_equal(p->functions.at[i].owner, q->functions.at[i].owner);
        same_callable(a, &p->functions.at[i].callable, b, &q->functions.at[i].callable);
    }
}

static void round_trip(const char *name, const char *text)
{
    static struct side a, b;
    begin(&a);
    begin(&b);
    parse(&a, name, text);
    parse(&b, name, a.text.at);
    same_program(&a, &b);
    assert_string_equal(a.text.at, b.text.at);
    finish(&a);
    finish(&b);
}

static void templates(void **state)
{
    (void)state;
    assert_true(vram_embedded_files_count > 0);
    for (unsigned i = 0; i < vram_embedded_files_count; i++)
        round_trip(vram_embedded_files[i].name, vram_embedded_files[i].text);
}

static void expressions(void **state)
{
    static const char *const all[] = {
        "a - (b - c)", "a - b - c", "(a + b) * c", "a + b * c", "a // (b * c) % d", "-(a + b)",
        "-a * -b", "not (a and b) or c", "not a == b", "(not a) == b", "a == (b < c)",
        "(a if b else c) if d else e", "a if b else c if d else e", "a if (b if c else d) else e",
        "(a if b else c)(x, y=1, **z)", "(-a).shape", "f(x)(y)[0].z", "[a, (b, c), ()]", "(a,)",
        "{x: 1, y: {z: none}}", "(1 if a else 2) + 3", "setting(checkpointing.reentrant)",
        "training and grad or autocast and not checkpointing", "config.text_config.hidden_size",
        "1e-6", "1e-05", "0.1", "12.5", "1.0", "123456.789", "3e300", "1.17549435e-38", "0.0",
        "9223372036854775807", "bf16", "\"a string # with signs\"", "a != b", "a >= b", "a <= b",
        "a > b", "new((1, 2), i64)", "x.shape[-1]"};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[256];
        snprintf(text, sizeof text, "function f(a, b, c, d, e, x, y, z):\n  return %s\n", all[i]);
        round_trip("expression.vt", text);
    }
}

static void definitions(void **state)
{
    static const char *const all[] = {
        "module A:\n  init()\n",
        "module A(x; y=none, **kw) extends B component vision checkpointed:\n"
        "  init(n, m=3; o=m)\n"
        "  attr k = (1 if n else 2) else 4\n"
        "  param w[n, k] (fp32 if n else bf16) no_decay if m\n"
        "  param v[] decay\n"
        "  tie a.w = b.c.w if n == 1\n"
        "  buffer t[n // 2] fp32\n"
        "  children layers[n] as i: (P if n else Q)(i, k=i + 1) using config.text component decoder\n"
        "  children rest[n] as j: R()\n"
        "  child e: E(n) input_embedding if n\n"
        "  function inputs():\n"
        "    return\n"
        "  for i, l in enumerate(layers):\n"
        "    x, (p, q) = l(x)\n"
        "    kw.a = p\n"
        "    kw[0] = q\n"
        "    del p, q\n"
        "  if training: return x\n"
        "  elif grad:\n"
        "    phase(loss)\n"
        "  else:\n"
        "    with no_grad:\n"
        "      with autocast(off): x = y\n"
        "      with autocast(bf16): f(x)\n"
        "  return x, y\n",
        "family a: B\n  default n = 4\n  rename \"a.\" to \"b.\"\nfamily \"x-y\": D, E\n",
        "family a: B\n  default w = 2 * config.n if config.n else 1\n  default v = \"t\"\n",
        "family a: B\nfamily c: D, E\nfunction g(a, b=a.x; c=1):\n  a, b\n",
        "function f(x):\n  _1 = x\n  _2 = _1\n  return _2\n",
        "function _7(_1):\n  a = _1\n  b = _7(a)\n  return __1, b\n"};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        round_trip("definition.vt", all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(templates), cmocka_unit_test(expressions),
                                       cmocka_unit_test(definitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
