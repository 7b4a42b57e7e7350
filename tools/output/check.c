/* SPDX-License-Identifier: Apache-2.0
 *
 * The pre-flight's answer in its forms, a row each; see check.h.
 */
#include "output/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/json.h"
#include "output/units.h"

enum { LINE = 1024 };

const char *verdict_word(const struct trial *t)
{
    static const char *const words[] = {"fits", "tight", "does-not-fit", "cannot-tell"};
    return words[t->verdict <= VRAM_CANNOT_TELL ? t->verdict : VRAM_CANNOT_TELL];
}

/* "a100-80g: 45.2 GiB expected, 47.1 GiB at most, of 79.2 GiB" */
static const char *figures(const struct verdict *v, char out[LINE])
{
    char a[UNITS_TEXT], b[UNITS_TEXT], c[UNITS_TEXT];
    if (!v->trial.known)
        snprintf(out, LINE, "%s: what this model runs is not known", v->gpu);
    else
        snprintf(out, LINE, "%s: %s expected, %s at most, of %s", v->gpu,
                 bytes_text(v->trial.device.expected, a), bytes_text(v->trial.device.high, b),
                 bytes_text(v->trial.capacity, c));
    return out;
}

/* "checkpointing=all (31.2 GiB, 14.0 GiB less)" of the cheapest; "" when nothing helps */
static const char *remedy(const struct verdict *v, char out[LINE])
{
    char words[ADVICE_CHANGES * 64], a[UNITS_TEXT], b[UNITS_TEXT];
    out[0] = 0;
    if (v->nadvice)
        snprintf(out, LINE, "%s: %s, %s less", advice_words(v->advice, words),
                 bytes_text(v->advice->trial.device.expected, a), bytes_text(v->advice->saved, b));
    return out;
}

/* ---- text ---- */

static void advice_lines(struct page *page, const struct verdict *v)
{
    char words[ADVICE_CHANGES * 64], line[LINE], a[UNITS_TEXT], b[UNITS_TEXT];
    if (v->passes || !v->trial.known)
        return;
    page_put(page, v->nadvice ? "  it would with\n"
                              : "  no change that is tried here, nor two of them, make it fit\n");
    for (size_t i = 0; i < v->nadvice; i++) {
        const struct advice *one = &v->advice[i];
        page_printf(page, "    %s\n", advice_words(one, words));
        snprintf(line, sizeof line, "%s, %s less; %s%s%s",
                 bytes_text(one->trial.device.expected, a), bytes_text(one->saved, b),
                 one->price[0], one->price[1] ? "; " : "", one->price[1] ? one->price[1] : "");
        page_spaces(page, 6);
        page_paragraph(page, 6, line);
    }
}

static void text(struct page *page, const struct checked *c)
{
    static const enum page_style styles[] = {PAGE_GOOD, PAGE_DOUBTFUL, PAGE_BAD, PAGE_DOUBTFUL};
    char line[LINE];
    for (size_t i = 0; i < c->n; i++) {
        const struct verdict *v = &c->at[i];
        const char *word = verdict_word(&v->trial);
        page_style(page, styles[v->trial.verdict <= VRAM_CANNOT_TELL ? v->trial.verdict : 3]);
        page_put(page, word);
        page_style(page, PAGE_PLAIN);
        page_spaces(page, 14 - page_width(word));
        page_paragraph(page, 14, figures(v, line));
    }
    for (size_t i = 0; i < c->n; i++)
        advice_lines(page, &c->at[i]);
}

/* ---- JSON ---- */

static void range(struct json *j, const char *key, const vram_range *r)
{
    json_open(j, key, '{', true);
    json_number(j, "low", r->low);
    json_number(j, "expected", r->expected);
    json_number(j, "high", r->high);
    json_close(j);
}

void advice_json(struct json *j, const struct advice *a)
{
    json_open(j, NULL, '{', true);
    json_open(j, "changes", '{', true);
    for (size_t k = 0; k < a->n; k++)
        json_text(j, a->keys[k], a->values[k]);
    json_close(j);
    json_number(j, "saves", a->saved);
    json_number(j, "device", a->trial.device.expected);
    json_text(j, "result", verdict_word(&a->trial));
    json_open(j, "price", '[', true);
    for (size_t k = 0; k < 2 && a->price[k]; k++)
        json_text(j, NULL, a->price[k]);
    json_close(j);
    json_close(j);
}

static void json(struct page *page, const struct checked *c)
{
    struct json j = {.page = page};
    bool all = true;
    for (size_t i = 0; i < c->n; i++)
        all = all && c->at[i].passes;
    json_open(&j, NULL, '{', false);
    json_text(&j, "schema", "vramcast.check/1");
    json_text(&j, "path", c->path);
    json_text(&j, "family", c->family);
    json_text(&j, "require", c->require == REQUIRE_CERTAIN ? "certain" : "likely");
    json_bool(&j, "passes", all);
    json_open(&j, "gpus", '[', false);
    for (size_t i = 0; i < c->n; i++) {
        const struct verdict *v = &c->at[i];
        json_open(&j, NULL, '{', false);
        json_text(&j, "gpu", v->gpu);
        json_text(&j, "result", verdict_word(&v->trial));
        json_bool(&j, "passes", v->passes);
        json_number(&j, "capacity", v->trial.capacity);
        if (v->trial.known)
            range(&j, "device", &v->trial.device);
        json_open(&j, "advice", '[', false);
        for (size_t k = 0; k < v->nadvice; k++)
            advice_json(&j, &v->advice[k]);
        json_close(&j);
        json_close(&j);
    }
    json_close(&j);
    json_close(&j);
    page_write(page, "\n", 1);
}

/* ---- what collects test results ---- */

static void raw(struct page *page, const char *text) { page_write(page, text, strlen(text)); }

/* Text and attribute values of XML: no control characters, no bytes that are not UTF-8. */
static void xml(struct page *page, const char *text)
{
    char shown[4 * LINE];
    page_escape(shown, sizeof shown, text);
    for (const char *p = shown; *p; p++)
        switch (*p) {
        case '&': raw(page, "&amp;"); break;
        case '<': raw(page, "&lt;"); break;
        case '>': raw(page, "&gt;"); break;
        case '"': raw(page, "&quot;"); break;
        default: page_write(page, p, 1);
        }
}

static void junit(struct page *page, const struct checked *c)
{
    char line[LINE];
    size_t failed = 0, skipped = 0;
    for (size_t i = 0; i < c->n; i++) {
        failed += !c->at[i].passes && c->at[i].trial.known;
        skipped += !c->at[i].trial.known;
    }
    page_printf(page, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<testsuite name=\"vramcast check\" tests=\"%zu\" failures=\"%zu\" "
                      "errors=\"%zu\" skipped=\"0\">\n", c->n, failed, skipped);
    for (size_t i = 0; i < c->n; i++) {
        const struct verdict *v = &c->at[i];
        raw(page, "  <testcase classname=\"");
        xml(page, c->path);
        raw(page, "\" name=\"");
        xml(page, v->gpu);
        raw(page, v->passes ? "\">\n    <system-out>"
                            : v->trial.known ? "\">\n    <failure type=\"" : "\">\n    <error type=\"");
        if (!v->passes) {
            raw(page, verdict_word(&v->trial));
            raw(page, "\" message=\"");
            xml(page, figures(v, line));
            raw(page, "\">");
            xml(page, remedy(v, line));
            raw(page, v->trial.known ? "</failure>\n" : "</error>\n");
        } else {
            xml(page, figures(v, line));
            raw(page, "</system-out>\n");
        }
        raw(page, "  </testcase>\n");
    }
    raw(page, "</testsuite>\n");
}

/* Workflow commands: %, CR and LF are escaped as they want it; page_escape leaves no CR or LF. */
static void command_text(struct page *page, const char *text, bool property)
{
    char shown[4 * LINE];
    page_escape(shown, sizeof shown, text);
    for (const char *p = shown; *p; p++)
        if (*p == '%')
            raw(page, "%25");
        else if (property && (*p == ':' || *p == ','))
            raw(page, *p == ':' ? "%3A" : "%2C");
        else
            page_write(page, p, 1);
}

static void github(struct page *page, const struct checked *c)
{
    char line[LINE];
    for (size_t i = 0; i < c->n; i++) {
        const struct verdict *v = &c->at[i];
        raw(page, !v->passes ? "::error title=" : v->trial.verdict == VRAM_TIGHT ? "::warning title="
                                                                                : "::notice title=");
        command_text(page, c->path, true);
        raw(page, " ");
        raw(page, verdict_word(&v->trial));
        raw(page, "::");
        command_text(page, figures(v, line), false);
        if (*remedy(v, line)) {
            raw(page, "; it would fit with ");
            command_text(page, line, false);
        }
        raw(page, "\n");
    }
}

static void sarif_result(struct json *j, const struct checked *c, const struct verdict *v)
{
    char line[LINE];
    json_open(j, NULL, '{', false);
    json_text(j, "ruleId", verdict_word(&v->trial));
    json_text(j, "level", !v->passes ? "error" : v->trial.verdict == VRAM_TIGHT ? "warning" : "note");
    json_text(j, "kind", v->passes ? "pass" : v->trial.known ? "fail" : "open");
    json_open(j, "message", '{', false);
    json_text(j, "text", figures(v, line));
    json_close(j);
    json_open(j, "locations", '[', false);
    json_open(j, NULL, '{', false);
    json_open(j, "physicalLocation", '{', false);
    json_open(j, "artifactLocation", '{', false);
    json_text(j, "uri", c->path);
    json_close(j);
    json_close(j);
    json_close(j);
    json_close(j);
    json_close(j);
}

static void sarif(struct page *page, const struct checked *c)
{
    static const struct { const char *id, *text; } rules[] = {
        {"fits", "The high estimate is below the card's usable memory."},
        {"tight", "The expected peak is below the card's usable memory, the high estimate is not."},
        {"does-not-fit", "The expected peak is above the card's usable memory."},
        {"cannot-tell", "What the model runs is not known, and so its peak is not."}};
    struct json j = {.page = page};
    json_open(&j, NULL, '{', false);
    json_text(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_text(&j, "version", "2.1.0");
    json_open(&j, "runs", '[', false);
    json_open(&j, NULL, '{', false);
    json_open(&j, "tool", '{', false);
    json_open(&j, "driver", '{', false);
    json_text(&j, "name", "vramcast");
    json_text(&j, "version", vram_version());
    json_open(&j, "rules", '[', false);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        json_open(&j, NULL, '{', true);
        json_text(&j, "id", rules[i].id);
        json_open(&j, "shortDescription", '{', true);
        json_text(&j, "text", rules[i].text);
        json_close(&j);
        json_close(&j);
    }
    for (int i = 0; i < 3; i++)
        json_close(&j);
    json_open(&j, "results", '[', false);
    for (size_t i = 0; i < c->n; i++)
        sarif_result(&j, c, &c->at[i]);
    for (int i = 0; i < 4; i++)
        json_close(&j);
    page_write(page, "\n", 1);
}

const struct check_row check_outputs[] = {
    {"text", text}, {"json", json}, {"junit", junit}, {"github", github}, {"sarif", sarif},
    {NULL, NULL}};
