/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators on values: truth and equality as in Python, 64-bit integers that throw instead of
 * wrapping, reals, joined lists; an operator on tensors is the op of that name.
 */
#include <math.h>

#include "base/math.h"
#include "machine/machine.h"

bool vram_truth(struct vram_machine *m, struct vram_value v)
{
    switch (v.kind) {
    case VRAM_V_NONE:
        return false;
    case VRAM_V_INT:
    case VRAM_V_BOOL:
        return v.u.i != 0;
    case VRAM_V_STRING:
        return v.u.i != 0; /* symbol 0 is the empty string */
    case VRAM_V_FLOAT:
        return v.u.f != 0;
    case VRAM_V_BOX:
        return v.u.box->n != 0;
    case VRAM_V_TENSOR:
        vram_throw(m, VRAM_E_FORMAT, "a tensor has no data to decide by");
    default:
        return true;
    }
}

static bool same(struct vram_machine *m, const struct vram_value *a, const struct vram_value *b,
                 int depth)
{
    if (depth > VRAM_MAX_BOX_DEPTH)
        vram_throw(m, VRAM_E_LIMIT, "containers nest more than %d deep", VRAM_MAX_BOX_DEPTH);
    vram_step(m);
    if (a->kind != b->kind) {
        bool numbers = (a->kind == VRAM_V_INT && b->kind == VRAM_V_FLOAT) ||
                       (a->kind == VRAM_V_FLOAT && b->kind == VRAM_V_INT);
        return numbers && (a->kind == VRAM_V_INT ? (double)a->u.i : a->u.f) ==
                              (b->kind == VRAM_V_INT ? (double)b->u.i : b->u.f);
    }
    if (a->kind == VRAM_V_FLOAT)
        return a->u.f == b->u.f;
    if (a->kind == VRAM_V_BOX) {
        if (a->u.box->n != b->u.box->n || a->u.box->kind == VRAM_BOX_RECORD)
            return a->u.box == b->u.box;
        for (uint32_t i = 0; i < a->u.box->n; i++)
            if (!same(m, &a->u.box->at[i], &b->u.box->at[i], depth + 1))
                return false;
        return true;
    }
    return a->kind == VRAM_V_NONE || a->u.i == b->u.i;
}

bool vram_values_equal(struct vram_machine *m, const struct vram_value *a,
                       const struct vram_value *b)
{
    return same(m, a, b, 0);
}

static bool is_number(const struct vram_value *v)
{
    return v->kind == VRAM_V_INT || v->kind == VRAM_V_FLOAT || v->kind == VRAM_V_BOOL;
}

static double real(const struct vram_value *v)
{
    return v->kind == VRAM_V_FLOAT ? v->u.f : (double)v->u.i;
}

static struct vram_value compare_numbers(enum vram_operator op, double c)
{
    return vram_bool(op == VRAM_OPERATOR_LT   ? c < 0
                   : op == VRAM_OPERATOR_LE ? c <= 0
                   : op == VRAM_OPERATOR_GT ? c > 0
                                            : c >= 0);
}

static struct vram_value integers(struct vram_machine *m, enum vram_operator op,
                                  const struct vram_value *a, const struct vram_value *b)
{
    struct vram_value v = {.kind = VRAM_V_INT};
    int64_t x = a->u.i, y = b->u.i;
    bool fits = true;
    switch (op) {
    case VRAM_OPERATOR_ADD:
        fits = vram_add_i64(x, y, &v.u.i);
        break;
    case VRAM_OPERATOR_SUB:
        fits = vram_sub_i64(x, y, &v.u.i);
        break;
    case VRAM_OPERATOR_MUL:
        fits = vram_mul_i64(x, y, &v.u.i);
        if (fits && m->tag_product)
            v.tag = m->tag_product(m, a, b);
        break;
    case VRAM_OPERATOR_FLOORDIV:
    case VRAM_OPERATOR_MOD:
        if (y == 0)
            vram_throw(m, VRAM_E_RANGE, "division by zero");
        fits = op == VRAM_OPERATOR_MOD ? vram_floormod_i64(x, y, &v.u.i)
                                       : vram_floordiv_i64(x, y, &v.u.i);
        break;
    case VRAM_OPERATOR_DIV:
        if (y == 0)
            vram_throw(m, VRAM_E_RANGE, "division by zero");
        v.kind = VRAM_V_FLOAT;
        v.u.f = (double)x / (double)y;
        break;
    default:
        return compare_numbers(op, x < y ? -1 : x > y);
    }
    if (!fits)
        vram_throw(m, VRAM_E_RANGE, "a number above 64 bits");
    return v;
}

static struct vram_value reals(struct vram_machine *m, enum vram_operator op, double x, double y)
{
    struct vram_value v = {.kind = VRAM_V_FLOAT};
    if (y == 0 && (op == VRAM_OPERATOR_DIV || op == VRAM_OPERATOR_FLOORDIV || op == VRAM_OPERATOR_MOD))
        vram_throw(m, VRAM_E_RANGE, "division by zero");
    switch (op) {
    case VRAM_OPERATOR_ADD:
        v.u.f = x + y;
        break;
    case VRAM_OPERATOR_SUB:
        v.u.f = x - y;
        break;
    case VRAM_OPERATOR_MUL:
        v.u.f = x * y;
        break;
    case VRAM_OPERATOR_DIV:
        v.u.f = x / y;
        break;
    case VRAM_OPERATOR_FLOORDIV:
        v.u.f = floor(x / y);
        break;
    case VRAM_OPERATOR_MOD:
        v.u.f = x - floor(x / y) * y;
        break;
    default:
        return compare_numbers(op, x < y ? -1 : x > y ? 1 : x == y ? 0 : NAN);
    }
    return v;
}

/* An operator on tensors is the op of that name. */
static bool tensors(struct vram_machine *m, enum vram_operator op, struct vram_value a,
                    struct vram_value b, struct vram_value *out)
{
    uint16_t row = op == VRAM_OPERATOR_ADD   ? m->op_add
                   : op == VRAM_OPERATOR_SUB ? m->op_sub
                   : op == VRAM_OPERATOR_MUL ? m->op_mul
                   : op == VRAM_OPERATOR_DIV ? m->op_div
                   : op == VRAM_OPERATOR_FLOORDIV || op == VRAM_OPERATOR_MOD ? UINT16_MAX
                                                                             : m->op_compare;
    struct vram_value args[VRAM_MAX_ARGS] = {a, b};
    if (row == UINT16_MAX)
        vram_throw(m, VRAM_E_FORMAT, "// and %% are not known for tensors");
    uint16_t old = m->op;
    m->op = row;
    bool stopped = vram_op_row_at(row)->run(m, vram_op_row_at(row), args, out);
    m->op = old;
    vram_value_drop(m, a);
    vram_value_drop(m, b);
    return stopped;
}

static struct vram_value concat(struct vram_machine *m, struct vram_value a, struct vram_value b)
{
    struct vram_value v = {.kind = VRAM_V_BOX};
    v.u.box = vram_box_new(m, (enum vram_box_kind)a.u.box->kind, a.u.box->n + b.u.box->n);
    for (uint32_t i = 0; i < a.u.box->n; i++)
        vram_box_push(m, v.u.box, vram_value_hold(a.u.box->at[i]));
    for (uint32_t i = 0; i < b.u.box->n; i++)
        vram_box_push(m, v.u.box, vram_value_hold(b.u.box->at[i]));
    vram_value_drop(m, a);
    vram_value_drop(m, b);
    return v;
}

bool vram_eval_binary(struct vram_machine *m, const struct vram_node *n, struct vram_value a,
                      struct vram_value b, struct vram_value *out)
{
    enum vram_operator op = (enum vram_operator)n->c;
    bool nothing = a.kind == VRAM_V_NONE || b.kind == VRAM_V_NONE;
    if ((a.kind == VRAM_V_TENSOR || b.kind == VRAM_V_TENSOR) && !nothing)
        return tensors(m, op, a, b, out);
    if (op == VRAM_OPERATOR_EQ || op == VRAM_OPERATOR_NE) {
        *out = vram_bool(vram_values_equal(m, &a, &b) == (op == VRAM_OPERATOR_EQ));
        vram_value_drop(m, a);
        vram_value_drop(m, b);
        return false;
    }
    if (is_number(&a) && is_number(&b)) {
        *out = a.kind == VRAM_V_FLOAT || b.kind == VRAM_V_FLOAT ? reals(m, op, real(&a), real(&b))
                                                                : integers(m, op, &a, &b);
        return false;
    }
    if (op == VRAM_OPERATOR_ADD && a.kind == VRAM_V_BOX && b.kind == VRAM_V_BOX &&
        a.u.box->kind != VRAM_BOX_RECORD && b.u.box->kind != VRAM_BOX_RECORD) {
        *out = concat(m, a, b);
        return false;
    }
    vram_throw(m, VRAM_E_FORMAT, nothing ? "a value that is needed here is missing"
                                         : "these two do not go together");
}
