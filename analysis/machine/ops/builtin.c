/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of the language that are no kernels: making tensors, looking at shapes and numbers.
 */
#include <math.h>
#include <string.h>

#include "base/math.h"
#include "ops.h"

static bool number(struct vram_value *out, int64_t i)
{
    *out = vram_int(i);
    return false;
}

/* new(shape, dtype): a tensor that the code makes itself */
static bool new_tensor(VRAM_OP)
{
    int64_t shape[VRAM_MAX_RANK];
    struct vram_value list[2] = {a[0]};
    if (a[0].kind != VRAM_V_BOX)
        vram_throw(m, VRAM_E_FORMAT, "new takes a shape as a tuple, then a dtype");
    int rank = vram_arg_dims(m, row, list, 0, shape);
    return vram_result(vram_new(m, shape, rank, vram_arg_dtype(m, row, a, 1), NULL), out);
}

/* zeros of the whole storage, and a look at them with the input's layout */
static void strided_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(s);
    const struct vram_meta *meta = &n->meta[0];
    int64_t elements[1] = {n->arg[0]}, stride[VRAM_MAX_RANK];
    struct vram_handle *whole = vram_new(m, elements, 1, (enum vram_dtype)g[0]->dtype, NULL);
    vram_contiguous_strides(meta->shape, meta->rank, stride);
    out[0] = vram_alias(m, whole, meta->shape, stride, meta->rank, true);
    vram_drop(m, whole);
}

/* strided(x, shape, strides): another look at the same bytes */
static bool strided(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    int64_t shape[VRAM_MAX_RANK], stride[VRAM_MAX_RANK], n;
    struct vram_value list[2] = {a[1]};
    if (a[1].kind != VRAM_V_BOX || a[2].kind != VRAM_V_BOX)
        vram_throw(m, VRAM_E_FORMAT, "strided takes two tuples");
    int rank = vram_arg_dims(m, row, list, 0, shape);
    list[0] = a[2];
    if (vram_arg_dims(m, row, list, 0, stride) != rank ||
        !vram_product_i64(shape, (size_t)rank, &n))
        vram_throw(m, VRAM_E_FORMAT, "strided takes as many strides as sizes");
    struct vram_tape_node *node;
    vram_begin_plain(m, &node, &x, 1, strided_backward);
    if (node)
        node->arg[0] = vram_numel(x);
    return vram_result(vram_end_one(m, node, vram_alias(m, x, shape, stride, rank, true), false), out);
}

static bool shape(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    out->kind = VRAM_V_BOX;
    out->u.box = vram_box_new(m, VRAM_BOX_TUPLE, x->rank);
    for (int i = 0; i < x->rank; i++)
        vram_box_push(m, out->u.box, vram_int(x->shape[i]));
    return false;
}

static bool dtype(VRAM_OP)
{
    out->kind = VRAM_V_DTYPE;
    out->u.i = vram_arg(m, row, a, 0)->dtype;
    return false;
}

static bool numel(VRAM_OP) { return number(out, vram_numel(vram_arg(m, row, a, 0))); }

static bool len(VRAM_OP)
{
    VRAM_UNUSED(row);
    if (a[0].kind == VRAM_V_MODULES)
        return number(out, m->tree->lists[a[0].u.i].n);
    if (a[0].kind != VRAM_V_BOX)
        vram_throw(m, VRAM_E_FORMAT, "len takes a list");
    return number(out, a[0].u.box->n);
}

static bool is_list(VRAM_OP)
{
    VRAM_UNUSED(m);
    VRAM_UNUSED(row);
    out->kind = VRAM_V_BOOL;
    out->u.i = a[0].kind == VRAM_V_BOX && a[0].u.box->kind != VRAM_BOX_RECORD;
    return false;
}

static bool range(VRAM_OP)
{
    int64_t n = vram_arg_int(m, row, a, 0, 0);
    if (n < 0 || n > (1 << 20))
        vram_throw(m, VRAM_E_LIMIT, "range(%lld)", (long long)n);
    out->kind = VRAM_V_BOX;
    out->u.box = vram_box_new(m, VRAM_BOX_LIST, (uint32_t)n);
    for (int64_t i = 0; i < n; i++)
        vram_box_push(m, out->u.box, vram_int(i));
    return false;
}

static struct vram_value item(struct vram_machine *m, const struct vram_value *list, uint32_t i)
{
    if (list->kind == VRAM_V_BOX)
        return vram_value_hold(list->u.box->at[i]);
    struct vram_value v = {.kind = VRAM_V_MODULE};
    v.u.i = m->tree->list_scopes[m->tree->lists[list->u.i].first + i];
    return v;
}

static bool enumerate(VRAM_OP)
{
    struct vram_value n = {0};
    len(m, row, a, &n);
    out->kind = VRAM_V_BOX;
    out->u.box = vram_box_new(m, VRAM_BOX_LIST, (uint32_t)n.u.i);
    for (uint32_t i = 0; i < (uint32_t)n.u.i; i++) {
        struct vram_value pair = {.kind = VRAM_V_BOX};
        pair.u.box = vram_box_new(m, VRAM_BOX_TUPLE, 2);
        vram_box_push(m, pair.u.box, vram_int(i));
        vram_box_push(m, pair.u.box, item(m, &a[0], i));
        vram_box_push(m, out->u.box, pair);
    }
    return false;
}

/* a list that outputs hold as an object: converting outputs to fp32 does not look inside */
static bool kv_cache(VRAM_OP)
{
    VRAM_UNUSED(row);
    VRAM_UNUSED(a);
    out->kind = VRAM_V_BOX;
    out->u.box = vram_box_new(m, VRAM_BOX_LIST, 1);
    out->u.box->opaque = true;
    vram_box_push(m, out->u.box, vram_int(0));
    return false;
}

/* x.requires_grad = True, of a tensor that nothing made x of; x itself */
static bool require_grad(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    if (!x->node)
        vram_require_grad(m, x);
    return vram_result(vram_hold(x), out);
}

static bool extreme(VRAM_OP)
{
    double x = vram_arg_real(m, row, a, 0, 0), y = vram_arg_real(m, row, a, 1, 0);
    bool first = !strcmp(row->name, "min") ? x <= y : x >= y;
    *out = a[first ? 0 : 1];
    return false;
}

static bool to_integer(struct vram_machine *m, double x, struct vram_value *out)
{
    if (!(x > -9e18 && x < 9e18))
        vram_throw(m, VRAM_E_RANGE, "a number above 64 bits");
    return number(out, (int64_t)x);
}

static bool integer(VRAM_OP) { return to_integer(m, trunc(vram_arg_real(m, row, a, 0, 0)), out); }
static bool floor_(VRAM_OP) { return to_integer(m, floor(vram_arg_real(m, row, a, 0, 0)), out); }
static bool ceil_(VRAM_OP) { return to_integer(m, ceil(vram_arg_real(m, row, a, 0, 0)), out); }

static bool square_root(VRAM_OP)
{
    double x = vram_arg_real(m, row, a, 0, 0);
    if (x < 0)
        vram_throw(m, VRAM_E_RANGE, "the root of a negative number");
    out->kind = VRAM_V_FLOAT;
    out->u.f = sqrt(x);
    return false;
}

/* round(x, digits): half to even, as Python */
static bool round_(VRAM_OP)
{
    int64_t digits = vram_arg_int(m, row, a, 1, 0);
    double scale = pow(10, (double)digits), x = vram_arg_real(m, row, a, 0, 0) * scale;
    if (a[1].kind == VRAM_V_NONE)
        return to_integer(m, nearbyint(x), out);
    out->kind = VRAM_V_FLOAT;
    out->u.f = nearbyint(x) / scale;
    return false;
}

/* The value of the module's config, or of one around it, that this text is; NULL: it is none. */
static const struct vram_config *said_by(const struct vram_machine *m, vram_sym text)
{
    const struct vram_config *c = m->tree && m->scope < m->tree->nscopes
                                      ? m->tree->scopes[m->scope].config : NULL;
    for (; c; c = c->parent)
        for (const struct vram_config *v = c->first; v; v = v->next)
            if (v->used && v->type == VRAM_CONFIG_STRING && v->text == text)
                return v;
    return NULL;
}

/* error("text", value): no template describes this, because of a value of the config */
static bool error(VRAM_OP)
{
    VRAM_UNUSED(row);
    VRAM_UNUSED(out);
    const char *text = a[0].kind == VRAM_V_STRING ? vram_sym_text(m->cx->syms, (vram_sym)a[0].u.i)
                                                  : "the template does not describe this";
    char path[160], shown[80] = "";
    const struct vram_config *c = NULL;
    if (a[1].kind == VRAM_V_STRING) {
        const char *value = vram_sym_text(m->cx->syms, (vram_sym)a[1].u.i);
        vram_escape(shown, sizeof shown, value, strlen(value));
        c = said_by(m, (vram_sym)a[1].u.i);
    }
    if (c) {
        vram_config_path(m->cx, c, path, sizeof path);
        vram_where(m->cx, "config.json: %s", path);
        m->at = UINT32_MAX; /* the file is to blame, no line of a template */
    }
    vram_throw(m, VRAM_E_UNSUPPORTED, "%s%s%s%s", *shown ? "'" : "", shown, *shown ? "': " : "", text);
}

/* what the real code raises for: the settings are to blame, not the template */
static bool refuse(VRAM_OP)
{
    VRAM_UNUSED(row);
    VRAM_UNUSED(out);
    vram_throw(m, VRAM_E_CONFLICT, "%s", a[0].kind == VRAM_V_STRING ? vram_sym_text(m->cx->syms, (vram_sym)a[0].u.i)
                                                                    : "the code of the model raises here");
}

static const struct vram_op_row builtin_rows[] = {
    {"new", "shape dtype", "", "nothing", "one tensor", "torch.empty, zeros, arange ...",
     new_tensor, ""},
    {"strided", "x shape strides", "", "nothing", "nothing: another look at the same bytes",
     "torch.as_strided", strided, ""},
    {"shape", "x", "", "", "nothing: the sizes, a tuple", "", shape, ""},
    {"dtype", "x", "", "", "nothing: the dtype", "", dtype, ""},
    {"numel", "x", "", "", "nothing: the product of the sizes", "", numel, ""},
    {"len", "x", "", "", "nothing: how many members a list has", "", len, ""},
    {"is_list", "x?", "", "", "nothing: whether it is a list or tuple", "", is_list, ""},
    {"range", "n", "", "", "nothing: the list 0 ... n - 1", "", range, ""},
    {"enumerate", "x", "", "", "nothing: a list of pairs (number, member)", "", enumerate, ""},
    {"kv_cache", "", "", "", "nothing: a list that outputs hold as an object; its first member is 0",
     "transformers DynamicCache", kv_cache, ""},
    {"require_grad", "x", "", "nothing", "nothing: x, which is a leaf from here on",
     "Tensor.requires_grad", require_grad, ""},
    {"min", "x y", "", "", "nothing: the lesser number", "", extreme, ""},
    {"max", "x y", "", "", "nothing: the greater number", "", extreme, ""},
    {"int", "x", "", "", "nothing: the number without its fraction", "", integer, ""},
    {"floor", "x", "", "", "nothing: the integer below", "", floor_, ""},
    {"ceil", "x", "", "", "nothing: the integer above", "", ceil_, ""},
    {"sqrt", "x", "", "", "nothing: the square root", "", square_root, ""},
    {"round", "x digits?", "", "", "nothing: half to even; an integer without digits",
     "", round_, ""},
    {"error", "text value?", "", "", "nothing: the run ends, the answer is \"cannot tell\"", "", error, ""},
    {"refuse", "text", "", "", "nothing: the run ends, the settings are refused", "", refuse, ""},
};
const struct vram_op_family vram_ops_builtin = {builtin_rows,
                                                sizeof builtin_rows / sizeof *builtin_rows};
