/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints expressions of the template language with no more parentheses than they need.
 */
#include "ir/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/dtype.h"

static void puts_of(struct vram_printer *p, const char *text) { vram_text_puts(p->out, text); }

static const char *name_of(const struct vram_printer *p, vram_sym sym)
{
    return vram_sym_text(p->syms, sym);
}

static void put_sym(struct vram_printer *p, vram_sym sym) { puts_of(p, name_of(p, sym)); }

/* ---- atoms -------------------------------------------------------------------------------- */

void vram_print_slot(struct vram_printer *p, uint32_t slot, vram_sym name)
{
    const struct vram_callable *f = p->frame;
    uint32_t n = f ? (uint32_t)f->npositional + f->nkeyword + f->rest : 0;
    if (slot < n)
        name = p->g->params.at[f->params + slot].name;
    if (name)
        put_sym(p, name);
    else
        vram_text_printf(p->out, "%s%" PRIu32, p->mark, slot);
}

/* What the lexer makes of digits with a point (or not) and a power of ten: its own arithmetic,
 * which is not correctly rounded. */
static double as_read(const char *digits, int point, int exponent)
{
    double mantissa = 0, scale = 1;
    for (int i = 0; digits[i]; i++) {
        mantissa = mantissa * 10 + (digits[i] - '0');
        if (i >= point)
            scale *= 10;
    }
    double x = mantissa / scale;
    for (; exponent > 0; exponent--)
        x *= 10;
    for (; exponent < 0; exponent++)
        x /= 10;
    return x;
}

/* The shortest spelling that is read back as the same number. */
static void put_float(struct vram_printer *p, double x)
{
    char printed[48], digits[48] = "";
    for (int most = 1; most <= 21; most++) {
        int n = 0;
        snprintf(printed, sizeof printed, "%.*e", most - 1, x);
        const char *e = strchr(printed, 'e');
        for (const char *c = printed; c < e; c++)
            if (*c >= '0' && *c <= '9') /* whatever the locale's decimal point is */
                digits[n++] = *c;
        digits[n] = 0;
        int exponent = atoi(e + 1);
        if (exponent >= 0 && exponent < 16) { /* 12.5 */
            while (n < exponent + 2)
                digits[n++] = '0';
            digits[n] = 0;
            if (as_read(digits, exponent + 1, 0) == x || most == 21) {
                vram_text_printf(p->out, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
                return;
            }
        } else if (as_read(digits, 1, exponent) == x || most == 21) {
            vram_text_printf(p->out, "%c%s%se%d", digits[0], digits[1] ? "." : "", digits + 1,
                             exponent);
            return;
        }
    }
}

static void put_name(struct vram_printer *p, const struct vram_node *n)
{
    const struct vram_program *g = p->g;
    static const char *const contexts[VRAM_CONTEXT_COUNT] = {"training", "grad", "autocast",
                                                             "checkpointing"};
    switch ((enum vram_node_kind)n->kind) {
    case VRAM_N_NAME:
        put_sym(p, n->a);
        break;
    case VRAM_N_MEMBER:
        put_sym(p, g->decls.at[p->cls->members[n->a]].name);
        break;
    case VRAM_N_FUNC:
        put_sym(p, g->functions.at[n->a].name);
        break;
    case VRAM_N_CLASS: /* without a number: the class that the config names */
        puts_of(p, n->a == VRAM_NO_INDEX ? "auto" : name_of(p, g->classes.at[n->a].name));
        break;
    case VRAM_N_OP: /* who knows the ops puts their names back before printing */
        vram_text_printf(p->out, "op%" PRIu32, n->a);
        break;
    case VRAM_N_CONTEXT:
        puts_of(p, contexts[n->a]);
        break;
    case VRAM_N_DTYPE:
        puts_of(p, vram_dtypes[n->a].name);
        break;
    case VRAM_N_SLOT:
        vram_print_slot(p, n->a, n->b);
        break;
    case VRAM_N_SETTING:
        vram_text_printf(p->out, "setting(%s)", name_of(p, n->a));
        break;
    default:
        puts_of(p, n->kind == VRAM_N_CONFIG ? "config" : n->kind == VRAM_N_BOOL && n->a ? "true"
                   : n->kind == VRAM_N_BOOL ? "false" : "none");
    }
}

/* ---- expressions -------------------------------------------------------------------------- */

static const struct { const char *text; enum vram_level level; } operators[] = {
    [VRAM_OPERATOR_ADD] = {" + ", VRAM_LEVEL_SUM},        [VRAM_OPERATOR_SUB] = {" - ", VRAM_LEVEL_SUM},
    [VRAM_OPERATOR_MUL] = {" * ", VRAM_LEVEL_PRODUCT},    [VRAM_OPERATOR_DIV] = {" / ", VRAM_LEVEL_PRODUCT},
    [VRAM_OPERATOR_FLOORDIV] = {" // ", VRAM_LEVEL_PRODUCT}, [VRAM_OPERATOR_MOD] = {" % ", VRAM_LEVEL_PRODUCT},
    [VRAM_OPERATOR_EQ] = {" == ", VRAM_LEVEL_COMPARE},    [VRAM_OPERATOR_NE] = {" != ", VRAM_LEVEL_COMPARE},
    [VRAM_OPERATOR_LT] = {" < ", VRAM_LEVEL_COMPARE},     [VRAM_OPERATOR_LE] = {" <= ", VRAM_LEVEL_COMPARE},
    [VRAM_OPERATOR_GT] = {" > ", VRAM_LEVEL_COMPARE},     [VRAM_OPERATOR_GE] = {" >= ", VRAM_LEVEL_COMPARE}};

static enum vram_level level_of(const struct vram_node *n)
{
    switch ((enum vram_node_kind)n->kind) {
    case VRAM_N_CHOICE:
        return VRAM_LEVEL_CHOICE;
    case VRAM_N_OR:
        return VRAM_LEVEL_OR;
    case VRAM_N_AND:
        return VRAM_LEVEL_AND;
    case VRAM_N_NOT:
        return VRAM_LEVEL_NOT;
    case VRAM_N_BINARY:
        return operators[n->c].level;
    case VRAM_N_NEGATE:
        return VRAM_LEVEL_NEGATE;
    default:
        return VRAM_LEVEL_POSTFIX;
    }
}

static void items(struct vram_printer *p, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        puts_of(p, i ? ", " : "");
        vram_print_expression(p, p->g->lists.at[first + i], VRAM_LEVEL_CHOICE);
    }
}

static void pairs(struct vram_printer *p, uint32_t first, uint32_t n, const char *joint, bool more)
{
    for (uint32_t i = 0; i < n; i++) {
        vram_sym name = p->g->lists.at[first + 2 * i];
        puts_of(p, i || more ? ", " : "");
        put_sym(p, name);
        puts_of(p, name ? joint : "**"); /* a pair without a name spreads a record */
        vram_print_expression(p, p->g->lists.at[first + 2 * i + 1], VRAM_LEVEL_CHOICE);
    }
}

static void bracketed(struct vram_printer *p, const struct vram_node *n)
{
    switch ((enum vram_node_kind)n->kind) {
    case VRAM_N_TUPLE:
        puts_of(p, "(");
        items(p, n->a, n->b);
        puts_of(p, n->b == 1 ? ",)" : ")");
        break;
    case VRAM_N_LIST:
        puts_of(p, "[");
        items(p, n->a, n->b);
        puts_of(p, "]");
        break;
    case VRAM_N_RECORD:
        puts_of(p, "{");
        pairs(p, n->a, n->b, ": ", false);
        puts_of(p, "}");
        break;
    case VRAM_N_CALL:
        vram_print_expression(p, n->a, VRAM_LEVEL_POSTFIX);
        puts_of(p, "(");
        items(p, n->b, n->c);
        pairs(p, n->b + n->c, n->nkw, "=", n->c > 0);
        puts_of(p, ")");
        break;
    default: /* VRAM_N_INDEX */
        vram_print_expression(p, n->a, VRAM_LEVEL_POSTFIX);
        puts_of(p, "[");
        vram_print_expression(p, n->b, VRAM_LEVEL_CHOICE);
        puts_of(p, "]");
    }
}

/* Two sides of a word or sign; the left one may bind as loosely as the whole. */
static void sides(struct vram_printer *p, const struct vram_node *n, const char *sign, enum vram_level level)
{
    vram_print_expression(p, n->a, level);
    puts_of(p, sign);
    vram_print_expression(p, n->b, (enum vram_level)(level + 1));
}

static void inner(struct vram_printer *p, const struct vram_node *n)
{
    switch ((enum vram_node_kind)n->kind) {
    case VRAM_N_INT:
        vram_text_printf(p->out, "%" PRId64, p->g->ints.at[n->a]);
        break;
    case VRAM_N_FLOAT:
        put_float(p, p->g->floats.at[n->a]);
        break;
    case VRAM_N_STRING:
        vram_text_printf(p->out, "\"%s\"", name_of(p, n->a));
        break;
    case VRAM_N_FIELD:
        vram_print_expression(p, n->a, VRAM_LEVEL_POSTFIX);
        vram_text_printf(p->out, ".%s", name_of(p, n->b));
        break;
    case VRAM_N_CHOICE:
        vram_print_expression(p, n->b, VRAM_LEVEL_OR);
        puts_of(p, " if ");
        vram_print_expression(p, n->a, VRAM_LEVEL_OR);
        puts_of(p, " else ");
        vram_print_expression(p, n->c, VRAM_LEVEL_CHOICE);
        break;
    case VRAM_N_BINARY:
        sides(p, n, operators[n->c].text, operators[n->c].level);
        break;
    case VRAM_N_AND:
        sides(p, n, " and ", VRAM_LEVEL_AND);
        break;
    case VRAM_N_OR:
        sides(p, n, " or ", VRAM_LEVEL_OR);
        break;
    case VRAM_N_NOT:
        puts_of(p, "not ");
        vram_print_expression(p, n->a, VRAM_LEVEL_NOT);
        break;
    case VRAM_N_NEGATE:
        puts_of(p, "-");
        vram_print_expression(p, n->a, VRAM_LEVEL_NEGATE);
        break;
    case VRAM_N_TUPLE:
    case VRAM_N_LIST:
    case VRAM_N_RECORD:
    case VRAM_N_CALL:
    case VRAM_N_INDEX:
        bracketed(p, n);
        break;
    default:
        put_name(p, n);
    }
}

void vram_print_expression(struct vram_printer *p, uint32_t node, enum vram_level least)
{
    const struct vram_node *n = &p->g->nodes.at[node];
    bool loose = level_of(n) < least;
    puts_of(p, loose ? "(" : "");
    inner(p, n);
    puts_of(p, loose ? ")" : "");
}

void vram_print_expressions(struct vram_printer *p, uint32_t node)
{
    const struct vram_node *n = &p->g->nodes.at[node];
    if (n->kind == VRAM_N_TUPLE && n->b > 1)
        items(p, n->a, n->b);
    else
        vram_print_expression(p, node, VRAM_LEVEL_CHOICE);
}
