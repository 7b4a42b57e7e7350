/* SPDX-License-Identifier: Apache-2.0
 *
 * What fits, as text and as JSON; see fit.h.
 */
#include "output/fit.h"

#include <inttypes.h>
#include <stdio.h>

#include "output/check.h"
#include "output/json.h"
#include "output/units.h"

enum { LINE = 1024, SHOWN = 16 /* pieces of advice of a page; JSON has all */ };

/* ---- text ---- */

static void device(const struct trial *t, char out[LINE])
{
    char a[UNITS_TEXT], b[UNITS_TEXT], c[UNITS_TEXT];
    if (!t->ran)
        snprintf(out, LINE, "%s%s%s", t->error.where, *t->error.where ? ": " : "",
                 t->error.code ? t->error.text : "the global batch cannot be kept");
    else if (!t->known)
        snprintf(out, LINE, "what this model runs is not known");
    else
        snprintf(out, LINE, "%s, %s at most, of %s", bytes_text(t->device.expected, a),
                 bytes_text(t->device.high, b), bytes_text(t->capacity, c));
}

static void limit_text(struct page *page, const struct fit_limit *f)
{
    char line[LINE], shown[LINE];
    const struct limit *l = &f->limit;
    device(&l->at, line);
    page_style(page, l->found ? PAGE_GOOD : PAGE_BAD);
    page_put(page, f->gpu);
    page_style(page, PAGE_PLAIN);
    page_put(page, "\n");
    if (l->found)
        snprintf(shown, sizeof shown, "%s=%" PRId64 "%s", l->key, l->value, l->least ? " at least" : " at most");
    else
        snprintf(shown, sizeof shown, "no %s %s", l->key, l->least ? "is enough" : "is small enough");
    page_put(page, "  ");
    page_cell(page, shown, 26, PAGE_START);
    page_put(page, "  ");
    page_paragraph(page, 30, line);
    if (l->ended) {
        device(&l->beyond, line);
        snprintf(shown, sizeof shown, "%s=%" PRId64, l->key, l->next);
        page_put(page, "  ");
        page_cell(page, shown, 26, PAGE_START);
        page_put(page, "  ");
        page_paragraph(page, 30, line);
    }
}

static void cards_text(struct page *page, const struct fitted *f)
{
    page_put(page, f->ncards ? "cards that hold it, smallest first\n" : "no card that is known holds it\n");
    for (size_t i = 0; i < f->ncards; i++) {
        char a[UNITS_TEXT], b[UNITS_TEXT];
        const struct fit_card *c = &f->cards[i];
        page_put(page, "  ");
        page_cell(page, c->card.name, 24, PAGE_START);
        page_put(page, "  ");
        page_cell(page, verdict_word(&c->trial), 6, PAGE_LEFT);
        page_printf(page, "  %s of %s\n", bytes_text(c->trial.device.high, a),
                    bytes_text(c->trial.capacity, b));
    }
}

static void advice_text(struct page *page, const struct fitted *f)
{
    page_printf(page, "what would save memory on %s, most first\n", f->advised);
    for (size_t i = 0; i < f->nadvice && i < SHOWN; i++) {
        const struct advice *a = &f->advice[i];
        char words[ADVICE_CHANGES * 64], line[LINE], saved[UNITS_TEXT];
        page_put(page, "  ");
        page_cell(page, bytes_text(a->saved, saved), 10, PAGE_RIGHT);
        page_printf(page, "  %s\n", advice_words(a, words));
        snprintf(line, sizeof line, "%s; %s%s%s", verdict_word(&a->trial), a->price[0],
                 a->price[1] ? "; " : "", a->price[1] ? a->price[1] : "");
        page_spaces(page, 14);
        page_paragraph(page, 14, line);
    }
    if (f->nadvice > SHOWN)
        page_printf(page, "  %zu more (--format json)\n", f->nadvice - SHOWN);
    if (!f->nadvice)
        page_put(page, "  nothing that is tried here\n");
}

void fit_text(struct page *page, const struct fitted *f)
{
    for (size_t i = 0; i < f->nlimits; i++)
        limit_text(page, &f->limits[i]);
    if (f->listed)
        cards_text(page, f);
    if (f->advised)
        advice_text(page, f);
}

/* ---- JSON ---- */

static void trial_json(struct json *j, const char *key, const struct trial *t)
{
    json_open(j, key, '{', true);
    json_text(j, "result", t->ran ? verdict_word(t) : "cannot-run");
    if (t->ran && t->known) {
        json_open(j, "device", '{', true);
        json_number(j, "low", t->device.low);
        json_number(j, "expected", t->device.expected);
        json_number(j, "high", t->device.high);
        json_close(j);
        json_number(j, "capacity", t->capacity);
    } else if (!t->ran) {
        json_text(j, "text", t->error.code ? t->error.text : "the global batch cannot be kept");
    }
    json_close(j);
}

static void limit_json(struct json *j, const struct fit_limit *f)
{
    const struct limit *l = &f->limit;
    json_open(j, NULL, '{', false);
    json_text(j, "gpu", f->gpu);
    json_text(j, "key", l->key);
    json_text(j, "kind", l->least ? "min" : "max");
    json_bool(j, "found", l->found);
    if (l->found)
        json_integer(j, "value", l->value);
    trial_json(j, "at", &l->at);
    if (l->ended) {
        json_integer(j, "next", l->next);
        trial_json(j, "beyond", &l->beyond);
    }
    json_close(j);
}

void fit_json(struct page *page, const struct fitted *f)
{
    struct json j = {.page = page};
    json_open(&j, NULL, '{', false);
    json_text(&j, "schema", "vramcast.fit/1");
    json_text(&j, "path", f->path);
    json_text(&j, "require", f->require == REQUIRE_CERTAIN ? "certain" : "likely");
    json_open(&j, "limits", '[', false);
    for (size_t i = 0; i < f->nlimits; i++)
        limit_json(&j, &f->limits[i]);
    json_close(&j);
    if (f->listed) {
        json_open(&j, "cards", '[', false);
        for (size_t i = 0; i < f->ncards; i++) {
            json_open(&j, NULL, '{', true);
            json_text(&j, "gpu", f->cards[i].card.name);
            trial_json(&j, "at", &f->cards[i].trial);
            json_close(&j);
        }
        json_close(&j);
    }
    if (f->advised) {
        json_text(&j, "advice_gpu", f->advised);
        json_open(&j, "advice", '[', false);
        for (size_t i = 0; i < f->nadvice; i++)
            advice_json(&j, &f->advice[i]);
        json_close(&j);
    }
    json_close(&j);
    page_write(page, "\n", 1);
}
