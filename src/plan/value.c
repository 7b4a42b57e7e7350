/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the text of a setting's value, by the type and the range of its row; see settings.h.
 * Exact decimal arithmetic: no floating point, no locale.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cx.h"
#include "base/math.h"
#include "plan/settings.h"
#include "plan/suggest.h"

enum { DIGITS = 64, DECIMALS = 9 };

struct reader {
    const struct vram_setting_row *row;
    const char *key;  /* for messages */
    const char *text; /* without spaces around it */
    size_t n;
    vram_error *error;
};

__attribute__((format(printf, 3, 4))) static int refuse(const struct reader *r, int code,
                                                        const char *format, ...)
{
    char key[96], text[64], what[216];
    vram_escape(key, sizeof key, r->key, strlen(r->key));
    vram_escape(text, sizeof text, r->text, r->n);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    *r->error = (vram_error){.code = code, .offset = VRAM_NO_OFFSET};
    snprintf(r->error->text, sizeof r->error->text, "%s: '%s' %s", key, text, what);
    return code;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* ---- decimal numbers ---- */

enum outcome { FINE, NOT_A_NUMBER, TOO_LARGE, NOT_WHOLE };

struct decimal {
    char digits[DIGITS]; /* '0' … '9', without zeros in front */
    int n;
    int point; /* digits before the decimal point; may lie outside 0 … n */
    bool negative;
};

/* "-12.5e3": returns the characters read, 0 when it is no number. */
static size_t scan(const char *p, size_t n, struct decimal *d)
{
    size_t i = 0;
    bool any = false, fraction = false;
    *d = (struct decimal){0};
    if (i < n && (p[i] == '-' || p[i] == '+'))
        d->negative = p[i++] == '-';
    for (; i < n && (is_digit(p[i]) || (p[i] == '.' && !fraction)); i++) {
        if (p[i] == '.') {
            fraction = true;
            continue;
        }
        any = true;
        if (!fraction && (d->n || p[i] != '0'))
            d->point++;
        if (fraction && !d->n && p[i] == '0')
            d->point--;
        if (d->n || p[i] != '0') {
            if (d->n == DIGITS)
                return 0; /* nobody writes that */
            d->digits[d->n++] = p[i];
        }
    }
    if (!any)
        return 0;
    size_t k = i + 1; /* an exponent counts only when digits follow: "5EiB" has none */
    bool minus = k < n && p[k] == '-';
    if (k < n && (p[k] == '-' || p[k] == '+'))
        k++;
    if (i < n && lower(p[i]) == 'e' && k < n && is_digit(p[k])) {
        int exponent = 0;
        for (; k < n && is_digit(p[k]); k++)
            if (exponent < 10000)
                exponent = exponent * 10 + (p[k] - '0');
        d->point += minus ? -exponent : exponent;
        i = k;
    }
    return i;
}

/* The number times 10^scale, rounded to nearest; NOT_WHOLE when that lost something. */
static enum outcome value_of(const struct decimal *d, int scale, int64_t *out)
{
    int keep = d->point + scale; /* digits before the cut */
    int64_t v = 0;
    for (int i = 0; i < keep && (v || i < d->n); i++)
        if (!vram_mul_i64(v, 10, &v) || !vram_add_i64(v, i < d->n ? d->digits[i] - '0' : 0, &v))
            return TOO_LARGE;
    bool lost = keep < d->n;
    if (keep >= 0 && keep < d->n && d->digits[keep] >= '5' && !vram_add_i64(v, 1, &v))
        return TOO_LARGE;
    for (int i = keep < 0 ? 0 : keep; lost && i < d->n && d->digits[i] == '0'; i++)
        if (i + 1 == d->n)
            lost = false;
    *out = d->negative ? -v : v;
    return lost ? NOT_WHOLE : FINE;
}

static enum outcome whole(const char *p, size_t n, int64_t *out)
{
    struct decimal d;
    if (n == 0 || scan(p, n, &d) != n)
        return NOT_A_NUMBER;
    return value_of(&d, 0, out);
}

/* 10^-9ths as the shortest decimal text. */
static void print_billionths(char *out, int64_t v)
{
    uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    int n = sprintf(out, "%s%" PRIu64 ".%09" PRIu64, v < 0 ? "-" : "", size / VRAM_SETTING_BILLION,
                    size % VRAM_SETTING_BILLION);
    while (out[n - 1] == '0')
        n--;
    if (out[n - 1] == '.')
        n--;
    out[n] = 0;
}

/* ---- ranges: "LEAST..MOST words" ---- */

/* The words of a row's values, beginning behind the range where there is one. */
static const char *words_of(const struct vram_setting_row *row)
{
    const char *p = row->values;
    if (row->type != VRAM_SETTING_CHOICE)
        p += strcspn(p, " ");
    return p + strspn(p, " ");
}

static bool same_word(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char x = lower(a[i]), y = lower(b[i]);
        if ((x == '_' ? '-' : x) != (y == '_' ? '-' : y))
            return false;
    }
    return true;
}

/* Position of the text among the words; -1 when it is none of them. */
static int find_word(const struct reader *r, const char **word)
{
    int i = 0;
    for (const char *p = words_of(r->row); *p; i++) {
        size_t n = strcspn(p, " ");
        if (n == r->n && same_word(p, r->text, n)) {
            *word = p;
            return i;
        }
        p += n;
        p += strspn(p, " ");
    }
    return -1;
}

/* scale: decimals that v counts in */
static int check_range(const struct reader *r, int64_t v, int scale)
{
    const char *p = r->row->values, *dots = strstr(p, "..");
    size_t n = strcspn(p, " ");
    struct decimal d;
    int64_t low = 0, high = 0;
    scan(p, (size_t)(dots - p), &d);
    value_of(&d, scale, &low);
    scan(dots + 2, n - (size_t)(dots + 2 - p), &d);
    value_of(&d, scale, &high);
    if (v < low || v > high)
        return refuse(r, VRAM_E_RANGE, "is outside its range, %.*s", (int)n, p);
    return VRAM_OK;
}

/* ---- types ---- */

static int parse_integer(const struct reader *r, struct vram_setting_value *out, char *canonical)
{
    const char *word;
    if (find_word(r, &word) >= 0) {
        out->number = VRAM_SETTING_WORD;
        sprintf(canonical, "%.*s", (int)r->n, word);
        return VRAM_OK;
    }
    switch (whole(r->text, r->n, &out->number)) {
    case NOT_A_NUMBER:
    case NOT_WHOLE:
        return refuse(r, VRAM_E_ARGUMENT, "is not an integer (%s)", r->row->values);
    case TOO_LARGE:
        return refuse(r, VRAM_E_RANGE, "is outside its range, %s", r->row->values);
    case FINE:
        break;
    }
    VRAM_TRY(check_range(r, out->number, 0));
    sprintf(canonical, "%" PRId64, out->number);
    return VRAM_OK;
}

static int parse_decimal(const struct reader *r, struct vram_setting_value *out, char *canonical)
{
    bool fraction = r->row->type == VRAM_SETTING_FRACTION;
    bool percent = fraction && r->n > 1 && r->text[r->n - 1] == '%';
    struct decimal d;
    size_t n = r->n - percent;
    if (scan(r->text, n, &d) != n)
        return refuse(r, VRAM_E_ARGUMENT, "is not a %s (%s%s)",
                      vram_setting_type_name(r->row->type), r->row->values,
                      fraction ? ", or per cent as 5%" : "");
    if (value_of(&d, percent ? DECIMALS - 2 : DECIMALS, &out->number) == TOO_LARGE)
        return refuse(r, VRAM_E_RANGE, "is outside its range, %s", r->row->values);
    VRAM_TRY(check_range(r, out->number, DECIMALS));
    print_billionths(canonical, out->number);
    return VRAM_OK;
}

static int parse_choice(const struct reader *r, struct vram_setting_value *out, char *canonical)
{
    const char *word;
    int i = find_word(r, &word);
    if (i >= 0) {
        out->number = i;
        sprintf(canonical, "%.*s", (int)r->n, word);
        return VRAM_OK;
    }
    struct vram_suggestion s;
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)(r->n < 63 ? r->n : 0), r->text);
    vram_suggest_init(&s, given);
    for (const char *p = r->row->values; *p; p += strcspn(p, " "), p += strspn(p, " "))
        vram_suggest_offer(&s, p, strcspn(p, " "));
    const char *all = r->row->values;
    size_t shown = strlen(all), most = 140;
    if (shown > most)
        for (shown = most; all[shown] != ' ';)
            shown--;
    const char *more = all[shown] ? " ..." : "";
    if (s.word)
        return refuse(r, VRAM_E_ARGUMENT, "is not known; did you mean %.*s? (%.*s%s)",
                      (int)s.word_n, s.word, (int)shown, all, more);
    return refuse(r, VRAM_E_ARGUMENT, "is not one of: %.*s%s", (int)shown, all, more);
}

static int parse_switch(const struct reader *r, struct vram_setting_value *out, char *canonical)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == r->n && same_word(words[i], r->text, r->n)) {
            out->number = i % 2;
            sprintf(canonical, "%s", words[i % 2]);
            return VRAM_OK;
        }
    return refuse(r, VRAM_E_ARGUMENT, "is neither on nor off (true, false, yes, no, 1, 0)");
}

static int64_t unit_of(const char *p, size_t n)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } units[] = {{"", 1},
                 {"B", 1},
                 {"KiB", INT64_C(1) << 10},
                 {"MiB", INT64_C(1) << 20},
                 {"GiB", INT64_C(1) << 30},
                 {"TiB", INT64_C(1) << 40},
                 {"kB", 1000},
                 {"MB", 1000000},
                 {"GB", 1000000000},
                 {"TB", INT64_C(1000000000000)}};
    while (n && *p == ' ') {
        p++;
        n--;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == n && same_word(units[i].name, p, n))
            return units[i].bytes;
    return 0;
}

static int parse_bytes(const struct reader *r, struct vram_setting_value *out, char *canonical)
{
    enum { SCALE = 6 };
    struct decimal d;
    size_t n = scan(r->text, r->n, &d);
    int64_t unit = n ? unit_of(r->text + n, r->n - n) : 0, v = 0;
    if (!unit)
        return refuse(r, VRAM_E_ARGUMENT,
                      "is not a number of bytes, or one with KiB, MiB, GiB, TiB, kB, MB, GB, TB");
    enum outcome outcome = value_of(&d, unit == 1 ? 0 : SCALE, &v);
    bool fits = outcome != TOO_LARGE;
    if (unit == 1 && outcome == NOT_WHOLE)
        return refuse(r, VRAM_E_ARGUMENT, "is not a whole number of bytes");
    if (unit > 1) { /* v counts millionths */
        int64_t rest = v % 1000000;
        fits = fits && vram_mul_i64(v / 1000000, unit, &v) &&
               vram_add_i64(v, rest * unit / 1000000, &v);
    }
    if (!fits)
        return refuse(r, VRAM_E_RANGE, "is outside its range, %s", r->row->values);
    VRAM_TRY(check_range(r, v, 0));
    out->number = v;
    sprintf(canonical, "%" PRId64, v);
    return VRAM_OK;
}

static int parse_size(const struct reader *r, struct vram_setting_value *out, char *canonical)
{
    size_t n = 0;
    while (n < r->n && lower(r->text[n]) != 'x')
        n++;
    int64_t h = 0, w = 0;
    enum outcome a = whole(r->text, n, &h), b = FINE;
    if (n < r->n)
        b = whole(r->text + n + 1, r->n - n - 1, &w);
    else
        w = h;
    if (a == TOO_LARGE || b == TOO_LARGE)
        return refuse(r, VRAM_E_RANGE, "is outside its range, %s", r->row->values);
    if (a != FINE || b != FINE)
        return refuse(r, VRAM_E_ARGUMENT, "is not a size as 336 or 336x672 (height x width)");
    VRAM_TRY(check_range(r, h, 0));
    VRAM_TRY(check_range(r, w, 0));
    out->number = h;
    out->width = w;
    if (h == w)
        sprintf(canonical, "%" PRId64, h);
    else
        sprintf(canonical, "%" PRId64 "x%" PRId64, h, w);
    return VRAM_OK;
}

static int parse_version(const struct reader *r, struct vram_setting_value *out, char *canonical)
{
    int64_t part[3] = {0};
    size_t i = 0;
    int n = 0;
    for (;;) {
        size_t begin = i;
        while (i < r->n && is_digit(r->text[i]) && i - begin < 4)
            part[n] = part[n] * 10 + (r->text[i++] - '0');
        if (i == begin || i - begin > 3)
            goto bad;
        n++;
        if (n == 3 || i == r->n || r->text[i] != '.')
            break;
        i++;
    }
    if (n < 2 || (i < r->n && r->text[i] != '+')) /* "+cu128" says nothing about behaviour */
        goto bad;
    out->number = vram_setting_version((int)part[0], (int)part[1], (int)part[2]);
    sprintf(canonical, n == 3 ? "%d.%d.%d" : "%d.%d", (int)part[0], (int)part[1], (int)part[2]);
    return VRAM_OK;
bad:
    return refuse(r, VRAM_E_ARGUMENT, "is not a version as 5.24 or 2.9.1");
}

static int parse_shape(const struct reader *r, struct vram_setting_value *out, char *canonical)
{
    (void)out;
    size_t rank = 0;
    char *to = canonical;
    if (r->n == 6 && same_word("scalar", r->text, 6)) {
        sprintf(canonical, "scalar");
        return VRAM_OK;
    }
    for (size_t i = 0; i <= r->n; rank++) {
        size_t begin = i;
        int64_t dim;
        while (i < r->n && lower(r->text[i]) != 'x')
            i++;
        enum outcome outcome = whole(r->text + begin, i - begin, &dim);
        if (rank == VRAM_SETTING_RANK_MAX || outcome == TOO_LARGE ||
            (outcome == FINE && (dim < 0 || dim > INT64_C(1) << 62)))
            return refuse(r, VRAM_E_RANGE, "has a dimension below 0 or above 2^62, or more than %d",
                          VRAM_SETTING_RANK_MAX);
        if (outcome != FINE)
            return refuse(r, VRAM_E_ARGUMENT, "is not a shape as 2x3x64x64 or scalar");
        to += sprintf(to, "%s%" PRId64, rank ? "x" : "", dim);
        i++;
    }
    return VRAM_OK;
}

static int parse_list(const struct reader *r, struct vram_setting_value *out, char *canonical)
{
    (void)out;
    char *to = canonical;
    for (size_t i = 0; i <= r->n; i++) {
        size_t begin = i, end;
        while (i < r->n && r->text[i] != ',')
            i++;
        for (end = i; end > begin && r->text[end - 1] == ' ';)
            end--;
        while (begin < end && r->text[begin] == ' ')
            begin++;
        if (begin == end)
            return refuse(r, VRAM_E_ARGUMENT, "has an empty item");
        if (to > canonical)
            *to++ = ',';
        memcpy(to, r->text + begin, end - begin);
        to += end - begin;
    }
    *to = 0;
    return VRAM_OK;
}

static int parse_text(const struct reader *r, struct vram_setting_value *out, char *canonical)
{
    (void)out;
    memcpy(canonical, r->text, r->n);
    canonical[r->n] = 0;
    return VRAM_OK;
}

int vram_setting_parse(enum vram_key row, const char *key, const char *text,
                       struct vram_setting_value *out, char *canonical, vram_error *error)
{
    typedef int parse_fn(const struct reader *, struct vram_setting_value *, char *);
    static parse_fn *const by_type[VRAM_SETTING_TYPES] = {
        [VRAM_SETTING_INTEGER] = parse_integer,  [VRAM_SETTING_NUMBER] = parse_decimal,
        [VRAM_SETTING_FRACTION] = parse_decimal, [VRAM_SETTING_CHOICE] = parse_choice,
        [VRAM_SETTING_SWITCH] = parse_switch,    [VRAM_SETTING_BYTES] = parse_bytes,
        [VRAM_SETTING_SIZE] = parse_size,        [VRAM_SETTING_LIST] = parse_list,
        [VRAM_SETTING_TEXT] = parse_text,        [VRAM_SETTING_VERSION] = parse_version,
        [VRAM_SETTING_SHAPE] = parse_shape,
    };
    struct reader r = {.row = &vram_settings[row], .key = key, .text = text, .error = error};
    while (*r.text == ' ')
        r.text++;
    r.n = strlen(r.text);
    while (r.n && r.text[r.n - 1] == ' ')
        r.n--;
    if (r.n == 0)
        return refuse(&r, VRAM_E_ARGUMENT, "is empty; expected: %.200s", r.row->values);
    if (r.n > VRAM_SETTING_TEXT_MAX)
        return refuse(&r, VRAM_E_RANGE, "... is longer than %d bytes", VRAM_SETTING_TEXT_MAX);
    for (size_t i = 0; i < r.n; i++)
        if ((unsigned char)r.text[i] < 0x20 || r.text[i] == 0x7f)
            return refuse(&r, VRAM_E_ARGUMENT, "has a control character");
    struct vram_setting_value value = {0};
    VRAM_TRY(by_type[r.row->type](&r, &value, canonical));
    *out = value;
    return VRAM_OK;
}

bool vram_setting_item(const char **at, const char **item, size_t *n)
{
    if (!**at)
        return false;
    *item = *at;
    *n = strcspn(*at, ",");
    *at += *n + ((*at)[*n] == ',');
    return true;
}

size_t vram_setting_shape(const char *text, int64_t dims[VRAM_SETTING_RANK_MAX])
{
    size_t rank = 0;
    if (*text == 's')
        return 0;
    while (*text && rank < VRAM_SETTING_RANK_MAX) {
        size_t n = strcspn(text, "x");
        whole(text, n, &dims[rank++]);
        text += n + (text[n] == 'x');
    }
    return rank;
}
