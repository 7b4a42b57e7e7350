/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the scripts of optimizer rows; see script.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/math.h"
#include "train/script.h"

struct reader {
    struct vram_machine *m;
    struct vram_script_names *names;
    const char *text, *at;
    bool inner;
};

__attribute__((noreturn)) static void bad(const struct reader *r)
{
    vram_throw(r->m, VRAM_E_FORMAT, "optimizer script '%s' is wrong at '%s'", r->text, r->at);
}

static bool take(struct reader *r, char c)
{
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_text(struct reader *r, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

static uint8_t name_of(struct reader *r)
{
    size_t n = strcspn(r->at, "=~<] ");
    const char *text = r->at;
    if (!n || n > 30)
        bad(r);
    r->at += n;
    if (n == 4 && !memcmp(text, "grad", 4))
        return VRAM_SCRIPT_GRAD;
    if (n == 5 && !memcmp(text, "param", 5))
        return VRAM_SCRIPT_PARAM;
    struct vram_script_names *names = r->names;
    for (uint32_t i = 0; i < names->n; i++)
        if (names->length[i] == n && !memcmp(names->at[i], text, n))
            return (uint8_t)i;
    if (names->n == VRAM_SCRIPT_NAMES)
        bad(r);
    names->at[names->n] = text;
    names->length[names->n] = (uint8_t)n;
    return (uint8_t)names->n++;
}

static void factor(struct reader *r, struct vram_word *w, bool divide)
{
    if (w->nfactors == VRAM_SCRIPT_FACTORS)
        bad(r);
    struct vram_factor *f = &w->factor[w->nfactors++];
    f->divide = divide;
    if (*r->at >= '0' && *r->at <= '9') {
        char *end;
        f->number = strtoll(r->at, &end, 10);
        r->at = end;
    } else if (*r->at && strchr("nRCmMr", *r->at)) {
        f->letter = *r->at++;
    } else {
        bad(r);
    }
}

static void size(struct reader *r, struct vram_word *w)
{
    factor(r, w, false);
    while (*r->at == '*' || *r->at == '/')
        factor(r, w, *r->at++ == '/');
    while (take(r, ':')) {
        char name[16] = {0};
        size_t n = strcspn(r->at, ":] ");
        if (take_text(r, "host")) {
            w->place = VRAM_PLACE_HOST;
        } else if (take_text(r, "managed")) {
            w->place = VRAM_PLACE_MANAGED;
        } else if (n < sizeof name) {
            memcpy(name, r->at, n);
            w->dtype = (uint8_t)vram_dtype_by_name(name);
            if (w->dtype == VRAM_DT_NONE)
                bad(r);
            r->at += n;
        }
    }
}

static void word(struct reader *r, struct vram_word *w)
{
    r->inner = take(r, '[') || r->inner;
    w->inner = r->inner;
    if (take(r, '-')) {
        w->act = VRAM_ACT_DROP;
        w->name = name_of(r);
        if (w->name == VRAM_SCRIPT_PARAM)
            bad(r);
        return;
    }
    for (;; r->at++) {
        if (*r->at == '?')
            w->decayed = true;
        else if (*r->at == '%')
            w->undecayed = true;
        else if (*r->at == '!')
            w->first = true;
        else if (*r->at == '+')
            w->later = true;
        else if (*r->at == '@')
            w->keep = VRAM_KEEP_STATE;
        else if (*r->at == '^')
            w->keep = VRAM_KEEP_REMADE;
        else if (*r->at == '&')
            w->keep = VRAM_KEEP_SHARED;
        else
            break;
    }
    w->name = name_of(r);
    if (take(r, '~')) {
        w->act = VRAM_ACT_CAST;
        w->dtype = VRAM_DT_F32;
        w->grad = take_text(r, "grad");
        if (!w->grad && !take_text(r, "param"))
            bad(r);
    } else if (take(r, '<')) {
        w->act = VRAM_ACT_RENAME;
        w->from = name_of(r);
    } else if (take(r, '=')) {
        size(r, w);
    } else {
        bad(r);
    }
    bool own = w->name >= VRAM_SCRIPT_GRAD || w->from >= VRAM_SCRIPT_GRAD;
    if ((own && (w->act != VRAM_ACT_RENAME || w->from >= VRAM_SCRIPT_GRAD)) ||
        (w->act == VRAM_ACT_CAST && w->keep != VRAM_KEEP_NO))
        bad(r); /* the gradient and the parameter only become something; casts do not stay */
}

struct vram_script vram_script_parse(struct vram_machine *m, struct vram_script_names *names,
                                     const char *text)
{
    struct vram_script s = {0};
    uint32_t most = 1;
    if (!text || !*text)
        return s;
    for (const char *p = text; *p; p++)
        most += *p == ' ';
    s.at = vram_machine_alloc(m, most, sizeof *s.at);
    for (struct reader r = {m, names, text, text, false}; *r.at;) {
        word(&r, &s.at[s.n++]);
        r.inner = !take(&r, ']') && r.inner;
        if (*r.at && !take(&r, ' '))
            bad(&r);
    }
    return s;
}

static int64_t letter(char c, const struct vram_handle *p, int64_t rank)
{
    int64_t last = p->rank ? p->shape[p->rank - 1] : 1;
    int64_t before = p->rank > 1 ? p->shape[p->rank - 2] : 1;
    int64_t least = last < before ? last : before;
    switch (c) {
    case 'n':
        return vram_numel(p);
    case 'R':
        return before;
    case 'C':
        return last;
    case 'm':
        return least;
    case 'M':
        return last > before ? last : before;
    default:
        return rank < least ? rank : least;
    }
}

int64_t vram_script_elements(struct vram_machine *m, const struct vram_word *w,
                             const struct vram_handle *p, int64_t rank)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < w->nfactors; i++) {
        const struct vram_factor *f = &w->factor[i];
        int64_t k = f->letter ? letter(f->letter, p, rank) : f->number;
        if (f->divide)
            n = k ? n / k + (n % k != 0) : 0;
        else if (!vram_mul_i64(n, k, &n))
            vram_throw(m, VRAM_E_LIMIT, "the optimizer's state has too many elements");
    }
    return n;
}
