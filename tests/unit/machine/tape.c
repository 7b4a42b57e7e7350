/* SPDX-License-Identifier: Apache-2.0
 *
 * The tape by hand: who counts as the keeper of a storage, how gradients meet and are taken, the order
 * of equals in the backward queue, the autocast cache, holders that die early.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/ops/ops.h"

enum { SCOPES = 4 };

struct bench {
    struct vram_arena arena;
    struct vram_syms syms;
    vram_error error;
    struct vram_cx cx;
    struct vram_program program;
    struct vram_tree tree;
    struct vram_scope scopes[SCOPES];
    struct vram_events events;
    struct vram_machine m;
};

static struct bench *begin(void)
{
    static struct bench bench;
    struct bench *b = &bench;
    memset(b, 0, sizeof *b);
    vram_arena_init(&b->arena, UINT64_C(1) << 30);
    assert_int_equal(vram_syms_init(&b->syms, &b->arena), 0);
    b->cx = (struct vram_cx){&b->arena, &b->syms, &vram_limits_default, NULL, &b->error};
    b->tree = (struct vram_tree){.program = &b->program, .syms = &b->syms, .scopes = b->scopes,
                                 .nscopes = SCOPES};
    assert_int_equal(vram_machine_init(&b->m, &b->cx, &b->program, &b->tree), 0);
    b->m.events = &b->events;
    b->m.grad = b->m.training = true;
    return b;
}

static void end(struct bench *b) { vram_arena_finish(&b->arena); }

static struct vram_handle *leaf(struct vram_machine *m, int64_t rows, int64_t columns, enum vram_dtype d,
                                bool grad)
{
    int64_t shape[2] = {rows, columns};
    struct vram_handle *x = vram_new(m, shape, 2, d, NULL);
    x->leaf = x->requires_grad = grad;
    return x;
}

static struct vram_handle *op(struct vram_machine *m, const char *name, struct vram_handle *x,
                              struct vram_handle *y)
{
    uint32_t i = vram_op_find(name);
    struct vram_value args[VRAM_MAX_ARGS] = {vram_tensor_value(x), vram_tensor_value(y)}, out = {0};
    m->op = (uint16_t)i;
    vram_op_row_at(i)->run(m, vram_op_row_at(i), args, &out);
    return out.u.tensor;
}

static const struct vram_storage_row *row_of(const struct bench *b, const struct vram_handle *x)
{
    return &b->events.storages[x->storage->id];
}

/* ---- who keeps it -------------------------------------------------------------------------- */

/* Two modules keep the same storage: it is the first one's, by the order of the forward. */
static void first_keeper(void **state)
{
    struct bench *b = begin();
    struct vram_machine *m = &b->m;
    (void)state;
    if (setjmp(m->escape))
        fail_msg("%s", b->error.text);
    struct vram_handle *x = leaf(m, 4, 4, VRAM_DT_F32, true);
    m->scope = 1;
    struct vram_handle *y = op(m, "mul", x, x); /* made in 1, kept by what comes */
    m->scope = 3;
    struct vram_handle *late = op(m, "silu", y, NULL);
    m->scope = 2;
    struct vram_handle *later = op(m, "silu", y, NULL);
    struct vram_handle *loss = op(m, "add", later, late);
    vram_tape_savers(m, loss);
    assert_int_equal(row_of(b, y)->scope, 1);
    assert_int_equal(row_of(b, y)->saver, 3);
    end(b);
}

/* A keeper that died, or that the loss does not reach, does not count. */
static void living_keeper(void **state)
{
    struct bench *b = begin();
    struct vram_machine *m = &b->m;
    (void)state;
    if (setjmp(m->escape))
        fail_msg("%s", b->error.text);
    struct vram_handle *x = leaf(m, 4, 4, VRAM_DT_F32, true);
    m->scope = 1;
    struct vram_handle *y = op(m, "mul", x, x);
    m->scope = 2;
    struct vram_handle *dead = op(m, "silu", y, NULL);
    vram_drop(m, dead);
    struct vram_handle *aside = op(m, "tanh", y, NULL);
    struct vram_handle *beside = op(m, "silu", y, NULL); /* alive, but no part of the loss */
    m->scope = 3;
    struct vram_handle *loss = op(m, "silu", y, NULL);
    vram_tape_savers(m, loss);
    assert_int_equal(row_of(b, y)->saver, 3);
    vram_drop(m, aside);
    vram_drop(m, beside);
    end(b);
}

/* While somebody keeps it, it is an activation; before and after a temporary; what was something else
 * stays what it was. */
static void category(void **state)
{
    struct bench *b = begin();
    struct vram_machine *m = &b->m;
    (void)state;
    if (setjmp(m->escape))
        fail_msg("%s", b->error.text);
    struct vram_handle *x = leaf(m, 4, 4, VRAM_DT_F32, true);
    vram_set_category(m, x, VRAM_CAT_PARAMETER);
    struct vram_handle *y = op(m, "mul", x, x);
    assert_int_equal(y->storage->category, VRAM_CAT_TEMPORARY);
    struct vram_handle *a = op(m, "silu", y, NULL), *c = op(m, "silu", y, NULL);
    assert_int_equal(y->storage->category, VRAM_CAT_SAVED);
    vram_drop(m, a);
    assert_int_equal(y->storage->category, VRAM_CAT_SAVED);
    vram_drop(m, c);
    assert_int_equal(y->storage->category, VRAM_CAT_TEMPORARY);
    assert_int_equal(x->storage->category, VRAM_CAT_PARAMETER);
    vram_drop(m, y);
    vram_drop(m, x);
    assert_int_equal(m->live, 0);
    end(b);
}

/* ---- gradients ----------------------------------------------------------------------------- */

static uint64_t backward_allocations(struct bench *b, struct vram_handle *loss)
{
    size_t from = b->events.n;
    uint64_t n = 0;
    vram_backward(&b->m, loss, NULL);
    for (size_t i = from; i < b->events.n; i++)
        n += b->events.at[i].kind == VRAM_EVENT_ALLOC;
    return n;
}

/* The first gradient is taken, the next one added in place: the root and one tensor a product. */
static void taken_and_added(void **state)
{
    struct bench *b = begin();
    struct vram_machine *m = &b->m;
    (void)state;
    if (setjmp(m->escape))
        fail_msg("%s", b->error.text);
    struct vram_handle *x = leaf(m, 4, 4, VRAM_DT_F32, true), *w = leaf(m, 4, 4, VRAM_DT_F32, false);
    struct vram_handle *y = op(m, "mul", x, w);
    assert_int_equal(backward_allocations(b, y), 2);
    struct vram_storage *first = x->grad->storage;
    vram_drop(m, y);
    y = op(m, "mul", x, w);
    assert_int_equal(backward_allocations(b, y), 2); /* the new one lives while it is added */
    assert_ptr_equal(x->grad->storage, first);
    vram_drop(m, y);
    vram_let_go(m, &x->grad);
    /* a gradient that the root still holds is copied */
    y = op(m, "add", x, w);
    assert_int_equal(backward_allocations(b, y), 2);
    vram_drop(m, y);
    vram_drop(m, x);
    vram_drop(m, w);
    assert_int_equal(m->live, 0);
    end(b);
}

/* A gradient of another layout is copied into the leaf's. */
static void layout_of_leaf(void **state)
{
    struct bench *b = begin();
    struct vram_machine *m = &b->m;
    int64_t turned[2] = {1, 4};
    (void)state;
    if (setjmp(m->escape))
        fail_msg("%s", b->error.text);
    struct vram_handle *x = leaf(m, 4, 6, VRAM_DT_BF16, true), *y = op(m, "neg", x, NULL);
    struct vram_handle *g = vram_new(m, x->shape, 2, VRAM_DT_BF16, turned);
    vram_backward(m, y, g);
    assert_int_equal(x->grad->stride[0], 6);
    assert_int_equal(x->grad->stride[1], 1);
    vram_drop(m, y);
    vram_drop(m, x);
    assert_int_equal(m->live, 0);
    end(b);
}

/* Leaves that are ready at once: the queue is a heap that keeps no order among equals.  The orders are
 * those of torch 2.9.1 for one function of n inputs. */
static uint64_t order[8];
static int norder;

static void note_order(struct vram_machine *m, struct vram_handle *x, struct vram_handle *g)
{
    (void)m;
    (void)g;
    order[norder++] = (uint64_t)x->shape[0];
}

static void all_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    for (int i = 0; i < n->nedges; i++)
        out[i] = vram_new(m, n->meta[i].shape, n->meta[i].rank, (enum vram_dtype)g[0]->dtype, NULL);
}

static void one_order(int leaves, const uint64_t *expected)
{
    struct bench *b = begin();
    struct vram_machine *m = &b->m;
    struct vram_handle *xs[7], *y;
    struct vram_tape_node *n;
    if (setjmp(m->escape))
        fail_msg("%s", b->error.text);
    m->accumulated = note_order;
    norder = 0;
    for (int i = 0; i < leaves; i++)
        xs[i] = leaf(m, i + 1, 2, VRAM_DT_F32, true);
    vram_begin_plain(m, &n, xs, leaves, all_backward);
    y = vram_end_one(m, n, vram_new_scalar(m, VRAM_DT_F32), false);
    vram_backward(m, y, NULL);
    assert_int_equal(norder, leaves);
    assert_memory_equal(order, expected, (size_t)leaves * sizeof *order);
    end(b);
}

static void order_of_equals(void **state)
{
    static const uint64_t expected[][7] = {
        {1, 2, 3}, {1, 3, 2, 4}, {1, 3, 5, 2, 4}, {1, 3, 6, 5, 2, 4}, {1, 3, 6, 7, 5, 2, 4}};
    (void)state;
    for (int leaves = 3; leaves <= 7; leaves++)
        one_order(leaves, expected[leaves - 3]);
}

/* A graph of a hundred thousand nodes dies without a deep stack. */
static void deep_graph(void **state)
{
    struct bench *b = begin();
    struct vram_machine *m = &b->m;
    (void)state;
    if (setjmp(m->escape))
        fail_msg("%s", b->error.text);
    struct vram_handle *x = leaf(m, 1, 1, VRAM_DT_F32, true), *y = vram_hold(x);
    for (int i = 0; i < 100000; i++)
        vram_replace(m, &y, op(m, "sigmoid", y, NULL));
    vram_drop(m, y);
    assert_int_equal(m->live, 4);
    vram_drop(m, x);
    assert_int_equal(m->live, 0);
    end(b);
}

/* ---- the autocast cache -------------------------------------------------------------------- */

static size_t allocations(const struct bench *b)
{
    return b->events.nstorages;
}

static void cast_once_a_region(void **state)
{
    struct bench *b = begin();
    struct vram_machine *m = &b->m;
    (void)state;
    if (setjmp(m->escape))
        fail_msg("%s", b->error.text);
    struct vram_handle *w = leaf(m, 4, 4, VRAM_DT_F32, true), *frozen = leaf(m, 4, 4, VRAM_DT_F32, false);
    vram_autocast_enter(m, VRAM_DT_BF16);
    size_t before = allocations(b);
    struct vram_handle *one = vram_autocast_lower(m, w), *two = vram_autocast_lower(m, w);
    assert_ptr_equal(one, two);
    assert_int_equal(allocations(b), before + 1);
    struct vram_handle *f = vram_autocast_lower(m, frozen), *g = vram_autocast_lower(m, frozen);
    assert_ptr_not_equal(f, g);
    assert_int_equal(allocations(b), before + 3);
    /* a view of the weight is no leaf */
    struct vram_handle *t = vram_op_transpose(m, w, 0, 1);
    struct vram_handle *u = vram_autocast_lower(m, t), *v = vram_autocast_lower(m, t);
    assert_ptr_not_equal(u, v);
    struct vram_handle *all[7] = {one, two, f, g, t, u, v};
    for (int i = 0; i < 7; i++)
        vram_drop(m, all[i]);
    assert_int_equal(m->live, 64 + 64 + 32); /* the cache holds its copy */
    vram_autocast_leave(m);
    assert_int_equal(m->live, 64 + 64);
    /* the next region makes its own */
    vram_autocast_enter(m, VRAM_DT_BF16);
    before = allocations(b);
    vram_drop(m, vram_autocast_lower(m, w));
    vram_drop(m, vram_autocast_lower(m, w));
    assert_int_equal(allocations(b), before + 1);
    vram_autocast_leave(m);
    assert_int_equal(m->live, 64 + 64);
    end(b);
}

/* ---- memory inside kernels ------------------------------------------------------------------ */

/* flash_api.cpp mha_bwd: a row sum and an fp32 dq for rows up to 128 and sizes up to 32, and with grouped
 * heads dk and dv for all heads. */
struct attention {
    int64_t rows, heads, key_heads, positions, size;
    uint64_t bytes[4];
};

static void one_workspace(const struct attention *x)
{
    struct bench *b = begin();
    struct vram_machine *m = &b->m;
    int64_t q[4] = {x->rows, x->heads, x->positions, x->size};
    int64_t k[4] = {x->rows, x->key_heads, x->positions, x->size};
    const struct vram_op_row *row = vram_op_row_at(vram_op_find("sdpa"));
    struct vram_value args[VRAM_MAX_ARGS] = {{0}}, out = {0};
    if (setjmp(m->escape))
        fail_msg("%s", b->error.text);
    m->workspaces = true;
    for (int j = 0; j < 3; j++) {
        args[j] = vram_tensor_value(vram_new(m, j ? k : q, 4, VRAM_DT_BF16, NULL));
        args[j].u.tensor->leaf = args[j].u.tensor->requires_grad = true;
    }
    row->run(m, row, args, &out);
    vram_backward(m, out.u.tensor, NULL);
    int found = 0;
    for (size_t e = 0; e < b->events.n; e++) {
        if (b->events.at[e].kind != VRAM_EVENT_ALLOC || b->events.at[e].category != VRAM_CAT_WORKSPACE)
            continue;
        assert_true(found < 4);
        assert_int_equal(b->events.storages[b->events.at[e].storage].bytes, x->bytes[found++]);
    }
    assert_int_equal(found, x->bytes[2] ? 4 : 2);
    end(b);
}

static void flash_workspace(void **state)
{
    static const struct attention rows[] = {
        {2, 4, 4, 128, 64, {4 * 2 * 4 * 128, 4 * 2 * 128 * 4 * 64, 0, 0}},
        {2, 4, 2, 100, 80, {4 * 2 * 4 * 128, 4 * 2 * 128 * 4 * 96, 2 * 2 * 100 * 4 * 80, 2 * 2 * 100 * 4 * 80}},
        {1, 8, 1, 129, 136, {4 * 8 * 256, 4 * 256 * 8 * 192, 2 * 129 * 8 * 136, 2 * 129 * 8 * 136}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        one_workspace(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_keeper),    cmocka_unit_test(living_keeper),
        cmocka_unit_test(category),        cmocka_unit_test(taken_and_added),
        cmocka_unit_test(layout_of_leaf),  cmocka_unit_test(order_of_equals),
        cmocka_unit_test(deep_graph),      cmocka_unit_test(cast_once_a_region),
        cmocka_unit_test(flash_workspace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
