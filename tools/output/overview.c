/* SPDX-License-Identifier: Apache-2.0
 *
 * The newcomer's question, before any setting: what do common uses of this model need, and what is
 * the smallest card for each?  Predictions of the library, one per use and per card that is tried.
 */
#include <stdlib.h>
#include <string.h>

#include "output/cards.h"
#include "output/output.h"

static bool predict(const struct sheet *s, const char *key, const char *value, const char *gpu,
                    vram_report_view *view)
{
    vram_plan *plan = NULL;
    vram_report *report = NULL;
    *view = (vram_report_view){.size = sizeof *view};
    bool ok = !vram_plan_create(&plan, NULL) && !vram_plan_set(plan, key, value, NULL) &&
              (!gpu || !vram_plan_set(plan, "gpu", gpu, NULL)) &&
              !vram_predict(&report, s->p->model, plan, NULL);
    if (ok) {
        vram_report_get(report, view);
        view->gpu = view->peak_phase = view->peak_owner = view->verdict_name = "";
    }
    vram_report_free(report);
    vram_plan_free(plan);
    return ok && view->peak_known;
}

/* The first card in order of capacity that the run fits, by running it on those that should hold
 * it: what the run needs without a card named, with the card's own context. */
static const struct card *smallest(const struct sheet *s, const char *key, const char *value,
                                   const vram_report_view *need, const struct card *cards, size_t n)
{
    vram_report_view view;
    uint64_t without = need->device.high - cards_usual_context();
    for (size_t i = 0; i < n; i++)
        if (cards[i].bytes >= without + cards[i].context &&
            predict(s, key, value, cards[i].name, &view) && view.verdict == VRAM_FITS)
            return &cards[i];
    return NULL;
}

void sheet_overview(const struct sheet *s)
{
    static const struct { const char *label, *key, *value; } uses[] = {
        {"inference", "mode", "infer"},
        {"LoRA", "train", "lora"},
        {"full fine-tuning", "train", "full"}};
    struct card cards[MOST_CARDS];
    size_t n = cards_list(cards);
    sheet_label(s->page, "what it takes");
    page_printf(s->page, "with          %10s  smallest card\n", s->scale.name);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        char text[UNITS_TEXT], with[64];
        vram_report_view view;
        sheet_label(s->page, uses[i].label);
        snprintf(with, sizeof with, "%s=%s", uses[i].key, uses[i].value);
        page_cell(s->page, with, 14, PAGE_LEFT);
        if (!strcmp(uses[i].value, "full")) {
            view = s->view; /* the defaults, which the rest of the page shows */
        } else if (!predict(s, uses[i].key, uses[i].value, NULL, &view)) {
            page_put(s->page, "         ?  cannot tell\n");
            continue;
        }
        const struct card *card = smallest(s, uses[i].key, uses[i].value, &view, cards, n);
        page_cell(s->page, scale_text(s->scale, view.device.expected, text), 10, PAGE_RIGHT);
        if (card)
            page_printf(s->page, "  %s (%s GiB)\n", card->name, card->gib);
        else
            page_put(s->page, "  none that is known holds it alone\n");
    }
    page_put(s->page, "\n");
    sheet_label(s->page, NULL);
    page_put(s->page, "full fine-tuning in detail, at the defaults:\n");
}
