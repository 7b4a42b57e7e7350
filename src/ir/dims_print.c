/* SPDX-License-Identifier: Apache-2.0
 *
 * Dims as text, in Python's notation: what every term of a sum has as a factor stands before it,
 * "batch*(seq + 576)"; what is subtracted stands behind what is not.
 */
#include <inttypes.h>

#include "ir/dims_table.h"

bool vram_dim_is_name(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '.')))
            return false;
    }
    return n != 0;
}

static void name(const struct vram_dims *dims, vram_sym sym, struct vram_text *out)
{
    const char *text = vram_sym_text(dims->syms, sym);
    if (vram_dim_is_name(text, strlen(text))) {
        vram_text_puts(out, text);
        return;
    }
    vram_text_puts(out, "`");
    for (; *text; text++)
        vram_text_puts(out, *text == '`' ? "``" : (char[2]){*text, 0});
    vram_text_puts(out, "`");
}

/* In parentheses unless it is a name, a number ≥ 0 or a call. */
static void operand(const struct vram_dims *dims, vram_dim a, struct vram_text *out)
{
    const struct dim_atom *atom = dim_alone(dims, a);
    int64_t n;
    bool plain = vram_dim_is_int(dims, a, &n) ? n >= 0
                                              : atom && atom->kind != ATOM_FLOORDIV && atom->kind != ATOM_MOD;
    vram_text_puts(out, plain ? "" : "(");
    vram_dim_print(dims, a, out);
    vram_text_puts(out, plain ? "" : ")");
}

static void put_atom(const struct vram_dims *dims, uint32_t number, bool factor, struct vram_text *out)
{
    static const char *const words[] = {"", " // ", " % ", "min", "max"};
    const struct dim_atom *atom = &dims->atoms.at[number];
    if (atom->kind == ATOM_SYMBOL) {
        name(dims, atom->name, out);
    } else if (atom->kind == ATOM_MIN || atom->kind == ATOM_MAX) {
        vram_text_printf(out, "%s(", words[atom->kind]);
        vram_dim_print(dims, atom->a, out);
        vram_text_puts(out, ", ");
        vram_dim_print(dims, atom->b, out);
        vram_text_puts(out, ")");
    } else {
        vram_text_puts(out, factor ? "(" : "");
        operand(dims, atom->a, out);
        vram_text_puts(out, words[atom->kind]);
        operand(dims, atom->b, out);
        vram_text_puts(out, factor ? ")" : "");
    }
}

/* What all terms have in common: a number and atoms. */
struct common {
    uint64_t c;
    uint32_t atoms[VRAM_DIM_TERMS], n;
};

static uint64_t absolute(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

/* Atoms of product p without those of the common ones. */
static uint32_t others(const struct dim_product *p, const struct common *c, uint32_t *out)
{
    uint32_t n = 0, k = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (k < c->n && c->atoms[k] == p->atoms[i])
            k++;
        else
            out[n++] = p->atoms[i];
    }
    return n;
}

static void find_common(const struct vram_dims *dims, const struct dim_sum *sum, struct common *c)
{
    const struct dim_product *first = &dims->products.at[sum->terms[0].product];
    uint32_t rest[VRAM_DIM_TERMS];
    *c = (struct common){.c = 1};
    for (uint32_t i = 0; i < first->n && sum->n > 1; i++) {
        bool all = true;
        c->atoms[c->n++] = first->atoms[i];
        for (uint32_t t = 1; t < sum->n && all; t++) {
            const struct dim_product *p = &dims->products.at[sum->terms[t].product];
            all = others(p, c, rest) == p->n - c->n;
        }
        c->n -= !all;
    }
    if (!c->n)
        return;
    c->c = 0;
    for (uint32_t t = 0; t < sum->n; t++)
        for (uint64_t b = absolute(sum->terms[t].c), r; b; b = r) {
            r = c->c % b;
            c->c = b;
        }
}

static void put_product(const struct vram_dims *dims, uint64_t c, const uint32_t *atoms, uint32_t n, bool alone,
                        struct vram_text *out)
{
    if (c != 1 || !n)
        vram_text_printf(out, "%" PRIu64, c);
    for (uint32_t i = 0; i < n; i++) {
        vram_text_puts(out, i || c != 1 ? "*" : "");
        put_atom(dims, atoms[i], !(alone && n == 1 && c == 1), out);
    }
}

/* The terms of one sign, the one without atoms behind the others. */
static void put_terms(const struct vram_dims *dims, const struct dim_sum *sum, const struct common *c,
                      bool negative, bool *first, struct vram_text *out)
{
    uint32_t atoms[VRAM_DIM_TERMS];
    for (uint32_t i = 0; i < 2 * sum->n; i++) {
        const struct dim_term *t = &sum->terms[i % sum->n];
        uint32_t n = others(&dims->products.at[t->product], c, atoms);
        if ((t->c < 0) != negative || (n == 0) != (i >= sum->n))
            continue;
        vram_text_puts(out, *first ? (negative ? "-" : "") : negative ? " - " : " + ");
        put_product(dims, absolute(t->c) / c->c, atoms, n, !negative, out);
        *first = false;
    }
}

void vram_dim_print(const struct vram_dims *dims, vram_dim a, struct vram_text *out)
{
    struct common c;
    bool first = true;
    if (!a || dim_small(a)) {
        vram_text_printf(out, a ? "%" PRId64 : "?", a ? dim_small_value(a) : 0);
        return;
    }
    const struct dim_sum *sum = &dims->sums.at[a];
    find_common(dims, sum, &c);
    if (c.n) {
        put_product(dims, c.c, c.atoms, c.n, false, out);
        vram_text_puts(out, "*(");
    }
    put_terms(dims, sum, &c, false, &first, out);
    put_terms(dims, sum, &c, true, &first, out);
    vram_text_puts(out, c.n ? ")" : "");
}

struct sink {
    struct vram_arena *arena;
    VRAM_VEC(char) text;
};

static int keep(void *ctx, const char *text, size_t n)
{
    struct sink *s = ctx;
    if (!vram_vec_room(&s->text, s->arena, n + 1))
        return -1;
    memcpy(s->text.at + s->text.n, text, n);
    s->text.n += n;
    return 0;
}

const char *vram_dim_text(const struct vram_dims *dims, vram_dim a)
{
    struct sink sink = {.arena = dims->arena};
    struct vram_text out;
    vram_sym sym;
    if (a && !dim_small(a) && vram_dim_is_symbol(dims, a, &sym)) {
        const char *text = vram_sym_text(dims->syms, sym);
        if (vram_dim_is_name(text, strlen(text)))
            return text;
    }
    vram_text_init(&out, keep, &sink);
    vram_dim_print(dims, a, &out);
    if (vram_text_flush(&out) || !vram_vec_room(&sink.text, dims->arena, 1))
        return NULL;
    sink.text.at[sink.text.n] = 0;
    return sink.text.at;
}
