/* SPDX-License-Identifier: Apache-2.0
 *
 * Dims from text, as exporters write them (Python's and SymPy's notation):
 *
 *     sum    = [-] term { (+|-) term }
 *     term   = factor { (*|//|%|/) factor }
 *     factor = [-] primary [ ** number ]
 *     primary = number | name | `name` | ( sum ) | FUNCTION( sum {, sum} )
 *
 * Values are fractions while "/" is around, so that floor(a/2) is a // 2; one that is left over in the
 * end is no dim.  A hyphen with letters close on both sides belongs to a name: "batch-size" is one
 * symbol, as is everything that does not parse.
 */
#include "base/math.h"
#include "ir/dims_table.h"

enum { DEEPEST = 64, HIGHEST_POWER = 8 };

struct fraction {
    vram_dim num, den;
};

struct reader {
    struct vram_dims *dims;
    const char *text;
    size_t n, at;
    int depth;
    bool bad;
};

static struct fraction sum(struct reader *r);

static struct fraction bad(struct reader *r)
{
    r->bad = true;
    return (struct fraction){0, 0};
}

static void skip(struct reader *r)
{
    while (r->at < r->n && (r->text[r->at] == ' ' || r->text[r->at] == '\t'))
        r->at++;
}

static bool take(struct reader *r, const char *word)
{
    size_t n = strlen(word);
    skip(r);
    if (r->n - r->at < n || memcmp(r->text + r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool digit(char c) { return c >= '0' && c <= '9'; }

/* ---- fractions ----------------------------------------------------------------------------- */

static struct fraction whole(struct reader *r, vram_dim a)
{
    return (struct fraction){a, vram_dim_int(r->dims, 1)};
}

static vram_dim as_whole(struct reader *r, struct fraction a)
{
    vram_dim q = r->bad ? VRAM_DIM_UNKNOWN : vram_dim_exact(r->dims, a.num, a.den);
    if (!q)
        bad(r);
    return q;
}

static struct fraction plus(struct reader *r, struct fraction a, struct fraction b, bool minus)
{
    struct vram_dims *d = r->dims;
    vram_dim x = vram_dim_mul(d, a.num, b.den), y = vram_dim_mul(d, b.num, a.den);
    return (struct fraction){minus ? vram_dim_sub(d, x, y) : vram_dim_add(d, x, y),
                             vram_dim_mul(d, a.den, b.den)};
}

static struct fraction divided(struct reader *r, struct fraction a, struct fraction b)
{
    struct vram_dims *d = r->dims;
    if (b.num == vram_dim_int(d, 0))
        return bad(r);
    return (struct fraction){vram_dim_mul(d, a.num, b.den), vram_dim_mul(d, a.den, b.num)};
}

/* ---- functions ----------------------------------------------------------------------------- */

enum function { F_FLOOR, F_CEIL, F_FLOORDIV, F_CEILDIV, F_DIV, F_MOD, F_MIN, F_MAX, F_SAME };

static const struct { const char *name; enum function is; int arguments; } functions[] = {
    {"floor", F_FLOOR, 1},       {"ceil", F_CEIL, 1},         {"ceiling", F_CEIL, 1},
    {"FloorToInt", F_FLOOR, 1},  {"CeilToInt", F_CEIL, 1},    {"TruncToInt", F_FLOOR, 1},
    {"FloorDiv", F_FLOORDIV, 2}, {"CleanDiv", F_FLOORDIV, 2}, {"CeilDiv", F_CEILDIV, 2},
    {"IntTrueDiv", F_DIV, 2},    {"FloatTrueDiv", F_DIV, 2},  {"Mod", F_MOD, 2},
    {"PythonMod", F_MOD, 2},     {"mod", F_MOD, 2},           {"min", F_MIN, 0},
    {"Min", F_MIN, 0},           {"max", F_MAX, 0},           {"Max", F_MAX, 0},
    {"int", F_SAME, 1},          {"Identity", F_SAME, 1},     {"ToFloat", F_SAME, 1},
};

static struct fraction apply(struct reader *r, enum function f, struct fraction a, struct fraction b)
{
    struct vram_dims *d = r->dims;
    switch (f) {
    case F_FLOOR:
        return whole(r, vram_dim_floordiv(d, a.num, a.den));
    case F_CEIL:
        return whole(r, vram_dim_ceildiv(d, a.num, a.den));
    case F_DIV:
        return divided(r, a, b);
    case F_FLOORDIV:
        a = divided(r, a, b);
        return whole(r, r->bad ? VRAM_DIM_UNKNOWN : vram_dim_floordiv(d, a.num, a.den));
    case F_CEILDIV:
        a = divided(r, a, b);
        return whole(r, r->bad ? VRAM_DIM_UNKNOWN : vram_dim_ceildiv(d, a.num, a.den));
    case F_MOD:
        return whole(r, vram_dim_mod(d, as_whole(r, a), as_whole(r, b)));
    case F_MIN:
        return whole(r, vram_dim_min(d, as_whole(r, a), as_whole(r, b)));
    case F_MAX:
        return whole(r, vram_dim_max(d, as_whole(r, a), as_whole(r, b)));
    default:
        return a;
    }
}

static struct fraction call(struct reader *r, const char *name, size_t n)
{
    size_t row = 0, rows = sizeof functions / sizeof *functions;
    while (row < rows && (strlen(functions[row].name) != n || memcmp(functions[row].name, name, n) != 0))
        row++;
    if (row == rows)
        return bad(r);
    struct fraction all = sum(r);
    int given = 1;
    bool fold = functions[row].is >= F_FLOORDIV && functions[row].is <= F_MAX;
    for (; !r->bad && fold && take(r, ","); given++) {
        struct fraction next = sum(r);
        if (!r->bad)
            all = apply(r, functions[row].is, all, next);
    }
    if (r->bad || !take(r, ")") || (functions[row].arguments && functions[row].arguments != given))
        return bad(r);
    return fold ? all : apply(r, functions[row].is, all, all);
}

/* ---- grammar ------------------------------------------------------------------------------- */

static struct fraction symbol(struct reader *r, const char *name, size_t n)
{
    return whole(r, vram_dim_symbol(r->dims, vram_sym_add(r->dims->syms, name, n, 1)));
}

static struct fraction quoted(struct reader *r)
{
    char name[1024];
    size_t n = 0;
    while (r->at < r->n && n < sizeof name) {
        char c = r->text[r->at++];
        bool twice = c == '`' && r->at < r->n && r->text[r->at] == '`';
        if (c == '`' && !twice)
            return symbol(r, name, n);
        r->at += twice;
        name[n++] = c;
    }
    return bad(r);
}

static struct fraction number(struct reader *r)
{
    int64_t v = 0;
    for (; r->at < r->n && digit(r->text[r->at]); r->at++)
        if (!vram_mul_i64(v, 10, &v) || !vram_add_i64(v, r->text[r->at] - '0', &v))
            return bad(r);
    if (r->at < r->n && (letter(r->text[r->at]) || r->text[r->at] == '.'))
        return bad(r);
    return whole(r, vram_dim_int(r->dims, v));
}

static struct fraction primary(struct reader *r)
{
    if (take(r, "(")) {
        struct fraction a = sum(r);
        return !r->bad && take(r, ")") ? a : bad(r);
    }
    if (take(r, "`"))
        return quoted(r);
    if (r->at == r->n)
        return bad(r);
    if (digit(r->text[r->at]))
        return number(r);
    size_t from = r->at;
    while (r->at < r->n &&
           (letter(r->text[r->at]) || (r->at > from && (digit(r->text[r->at]) || r->text[r->at] == '.'))))
        r->at++;
    if (r->at == from)
        return bad(r);
    size_t n = r->at - from;
    if (r->at + 1 < r->n && r->text[r->at] == '-' && letter(r->text[r->at + 1]))
        return bad(r); /* "batch-size" */
    return take(r, "(") ? call(r, r->text + from, n) : symbol(r, r->text + from, n);
}

static struct fraction factor(struct reader *r)
{
    if (++r->depth > DEEPEST)
        return bad(r);
    struct fraction a;
    if (take(r, "-")) {
        a = factor(r);
        if (!r->bad)
            a.num = vram_dim_sub(r->dims, vram_dim_int(r->dims, 0), a.num);
    } else {
        a = primary(r);
        if (!r->bad && take(r, "**")) {
            skip(r);
            struct fraction base = a, power = r->at < r->n && digit(r->text[r->at]) ? number(r) : bad(r);
            int64_t k = 0;
            if (r->bad || !vram_dim_is_int(r->dims, power.num, &k) || k > HIGHEST_POWER)
                return bad(r);
            for (a = whole(r, vram_dim_int(r->dims, 1)); k; k--)
                a = (struct fraction){vram_dim_mul(r->dims, a.num, base.num),
                                      vram_dim_mul(r->dims, a.den, base.den)};
        }
    }
    r->depth--;
    return a;
}

static struct fraction term(struct reader *r)
{
    struct vram_dims *d = r->dims;
    struct fraction a = factor(r);
    while (!r->bad) {
        if (take(r, "//")) {
            struct fraction b = factor(r);
            a = r->bad ? b : apply(r, F_FLOORDIV, a, b);
        } else if (take(r, "%")) {
            struct fraction b = factor(r);
            a = r->bad ? b : apply(r, F_MOD, a, b);
        } else if (take(r, "/")) {
            struct fraction b = factor(r);
            a = r->bad ? b : divided(r, a, b);
        } else if (take(r, "*")) {
            struct fraction b = factor(r);
            a = (struct fraction){vram_dim_mul(d, a.num, b.num), vram_dim_mul(d, a.den, b.den)};
        } else {
            break;
        }
    }
    return a;
}

static struct fraction sum(struct reader *r)
{
    if (++r->depth > DEEPEST)
        return bad(r);
    struct fraction a = term(r);
    while (!r->bad) {
        bool minus = take(r, "-");
        if (!minus && !take(r, "+"))
            break;
        struct fraction b = term(r);
        if (!r->bad)
            a = plus(r, a, b, minus);
    }
    r->depth--;
    return a;
}

static vram_dim read(struct vram_dims *dims, const char *text, size_t n)
{
    struct reader r = {.dims = dims, .text = text, .n = n};
    struct fraction a = sum(&r);
    skip(&r);
    return r.bad || r.at < n ? VRAM_DIM_UNKNOWN : as_whole(&r, a);
}

vram_dim vram_dim_parse(struct vram_dims *dims, const char *text, size_t n)
{
    size_t from = 0;
    enum vram_dim_broken before = dims->broken;
    while (from < n && (text[from] == ' ' || text[from] == '\t'))
        from++;
    while (n > from && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    text += from;
    n -= from;
    vram_dim a = vram_dim_is_name(text, n) || !n ? VRAM_DIM_UNKNOWN : read(dims, text, n);
    if (dims->broken != VRAM_DIM_NO_MEMORY)
        dims->broken = before;
    return a ? a : vram_dim_symbol(dims, vram_sym_add(dims->syms, text, n, 1));
}
