/* SPDX-License-Identifier: Apache-2.0
 *
 * vramcast compare: two answers, figure by figure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "facts.h"
#include "output/json.h"
#include "output/page.h"
#include "output/units.h"

static const char *const kinds[FACT_KINDS] = {"meter", "factor", "component", "phase", "model"};

/* One figure on both sides. */
struct pair {
    enum fact_kind kind;
    const char *name;
    bool a, b;
    uint64_t left, right;
};

/* All that either side has, in A's order; *n of them. */
static struct pair *pairs_of(const struct facts *a, const struct facts *b, size_t *n)
{
    struct pair *at = calloc(a->n + b->n + 1, sizeof *at);
    *n = 0;
    for (int kind = 0; at && kind < FACT_KINDS; kind++)
        for (int side = 0; side < 2; side++) {
            const struct facts *f = side ? b : a;
            for (size_t i = 0; i < f->n; i++) {
                struct pair p = {.kind = f->at[i].kind, .name = f->at[i].name};
                if ((int)p.kind != kind)
                    continue;
                p.a = facts_find(a, p.kind, p.name, &p.left);
                p.b = facts_find(b, p.kind, p.name, &p.right);
                if (!side || !p.a)
                    at[(*n)++] = p;
            }
        }
    return at;
}

static bool differs(const struct pair *p) { return p->a && p->b && p->left != p->right; }

/* ---- text ---- */

static void cell(struct page *page, bool there, uint64_t value, bool count)
{
    char text[UNITS_TEXT];
    page_cell(page, !there ? "-" : count ? count_text(value, text) : bytes_text(value, text), 12, PAGE_RIGHT);
}

static void difference(struct page *page, const struct pair *p)
{
    char text[UNITS_TEXT], line[UNITS_TEXT + 40];
    uint64_t d = p->left > p->right ? p->left - p->right : p->right - p->left;
    if (!p->a || !p->b)
        return;
    if (!d) {
        page_put(page, "  the same");
        return;
    }
    snprintf(line, sizeof line, "  %s%s", p->right > p->left ? "+" : "-",
             p->kind == FACT_MODEL ? count_text(d, text) : bytes_text(d, text));
    page_cell(page, line, 14, PAGE_LEFT);
    if (p->left) {
        uint64_t tenths = d >= UINT64_MAX / 1000 ? 9999 : (d * 1000 + p->left / 2) / p->left;
        page_printf(page, " %s%" PRIu64 ".%u %%", p->right > p->left ? "+" : "-", tenths / 10, (unsigned)(tenths % 10));
    }
}

static void text(struct page *page, const struct facts *a, const struct facts *b, const struct pair *at, size_t n)
{
    const char *title[FACT_KINDS] = {"meters at the peak", "factors at the peak", "components", "phases", "model"};
    page_printf(page, "A  %s (%s)\nB  %s (%s)\n", a->path, a->source, b->path, b->source);
    for (int kind = 0; kind < FACT_KINDS; kind++) {
        bool any = false;
        for (size_t i = 0; i < n; i++) {
            const struct pair *p = &at[i];
            if ((int)p->kind != kind || (kind >= FACT_COMPONENT && kind != FACT_MODEL && !differs(p)) ||
                (!p->left && !p->right))
                continue;
            if (!any) {
                page_put(page, "\n");
                page_style(page, PAGE_STRONG);
                page_cell(page, title[kind], 30, PAGE_LEFT);
                page_put(page, "           A           B\n");
                page_style(page, PAGE_PLAIN);
                any = true;
            }
            page_cell(page, p->name, 30, PAGE_START);
            cell(page, p->a, p->left, kind == FACT_MODEL);
            cell(page, p->b, p->right, kind == FACT_MODEL);
            difference(page, p);
            page_put(page, "\n");
        }
    }
}

/* ---- JSON ---- */

static void side(struct json *j, const char *key, const struct facts *f)
{
    json_open(j, key, '{', true);
    json_text(j, "path", f->path);
    json_text(j, "source", f->source);
    json_close(j);
}

static void json(struct page *page, const struct facts *a, const struct facts *b, const struct pair *at, size_t n)
{
    struct json j = {.page = page};
    json_open(&j, NULL, '{', false);
    json_text(&j, "schema", "vramcast.compare/1");
    side(&j, "a", a);
    side(&j, "b", b);
    json_open(&j, "figures", '[', false);
    for (size_t i = 0; i < n; i++) {
        json_open(&j, NULL, '{', true);
        json_text(&j, "kind", kinds[at[i].kind]);
        json_text(&j, "name", at[i].name);
        if (at[i].a)
            json_number(&j, "a", at[i].left);
        if (at[i].b)
            json_number(&j, "b", at[i].right);
        if (at[i].a && at[i].b)
            json_integer(&j, "difference", (int64_t)(at[i].right - at[i].left));
        json_close(&j);
    }
    json_close(&j);
    json_close(&j);
    page_write(page, "\n", 1);
}

/* ---- the command ---- */

/* What a word names: a file of figures, or a model, which is predicted. */
static int read_side(struct facts *f, const struct cli_args *args, const char *path)
{
    bool is;
    struct cli_input input = {.path = NULL};
    vram_report *report = NULL;
    f->path = path;
    int code = facts_of_file(f, path, &is);
    if (code || is)
        return code;
    const char **words = malloc((args->nwords + 1) * sizeof *words);
    if (!words)
        return cli_fail(CLI_SYSTEM, "out of memory");
    struct cli_args one = *args;
    one.words = words;
    one.nwords = 0;
    for (size_t i = 0; i < args->nwords; i++)
        words[one.nwords++] = args->words[i];
    words[one.nwords++] = path;
    code = cli_open(&input, &one, 1);
    if (!code)
        code = cli_run(&report, &input);
    if (!code)
        facts_of_report(f, report);
    vram_report_free(report);
    cli_close(&input);
    free(words);
    return code;
}

/* Words "a:KEY=VALUE" and "b:KEY=VALUE" are settings of one side; paths are the two words without '='. */
static int split(const struct cli_args *args, struct cli_args sides[2], const char **words, const char *paths[2])
{
    size_t n = 0;
    for (int s = 0; s < 2; s++) {
        sides[s] = *args;
        sides[s].words = words + (size_t)s * args->nwords;
        sides[s].nwords = 0;
    }
    for (size_t i = 0; i < args->nwords; i++) {
        const char *word = args->words[i];
        bool of_a = !strncmp(word, "a:", 2), of_b = !strncmp(word, "b:", 2);
        if (!strchr(word, '=') || *word == '/' || *word == '.') {
            if (n == 2)
                return cli_fail(CLI_USAGE, "one word too many: '%s'", word);
            paths[n++] = word;
            continue;
        }
        for (int s = 0; s < 2; s++)
            if ((!of_a && !of_b) || (s ? of_b : of_a))
                sides[s].words[sides[s].nwords++] = of_a || of_b ? word + 2 : word;
    }
    if (!n)
        return cli_fail(CLI_USAGE, "what is to be compared? (usage: vramcast compare %s)", args->command->synopsis);
    if (n == 1)
        paths[1] = paths[0]; /* two plans of one model */
    return CLI_DONE;
}

/* Settings of one side count after those of both. */
static void both_first(struct cli_args *side, const struct cli_args *all, const char *prefix, const char **spare)
{
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < all->nwords; i++) {
            const char *word = all->words[i];
            bool own = !strncmp(word, prefix, 2);
            if (!strchr(word, '=') || *word == '/' || *word == '.' || own != (pass == 1) ||
                (!own && (!strncmp(word, "a:", 2) || !strncmp(word, "b:", 2))))
                continue;
            spare[n++] = own ? word + 2 : word;
        }
    memcpy(side->words, spare, n * sizeof *spare);
    side->nwords = n;
}

static int answer(const struct cli_args *args, const struct facts *a, const struct facts *b, bool as_json)
{
    struct page page;
    size_t n;
    bool same = true, any = false;
    struct pair *at = pairs_of(a, b, &n);
    int code = at ? page_open(&page, args->option[CLI_OUTPUT]) : cli_fail(CLI_SYSTEM, "out of memory");
    for (size_t i = 0; at && i < n; i++) {
        any = any || (at[i].a && at[i].b);
        same = same && !differs(&at[i]);
    }
    if (!code) {
        (as_json ? json : text)(&page, a, b, at, n);
        code = page_close(&page, !any ? CLI_UNKNOWN : same ? CLI_DONE : CLI_NO);
    }
    free(at);
    return code;
}

static int run(const struct cli_args *args)
{
    struct cli_args sides[2];
    const char *paths[2] = {NULL, NULL};
    bool as_json;
    struct facts *f = calloc(2, sizeof *f);
    const char **words = calloc(3 * args->nwords + 1, sizeof *words);
    int code = f && words ? cli_text_or_json(args, &as_json) : cli_fail(CLI_SYSTEM, "out of memory");
    if (!code)
        code = split(args, sides, words, paths);
    for (int s = 0; !code && s < 2; s++) {
        both_first(&sides[s], args, s ? "b:" : "a:", words + 2 * args->nwords);
        code = read_side(&f[s], &sides[s], paths[s]);
    }
    if (!code)
        code = answer(args, &f[0], &f[1], as_json);
    free(words);
    free(f);
    return code;
}

static const struct cli_option options[] = {CLI_ROW_FORMAT,    CLI_ROW_OUTPUT, CLI_ROW_PLAN, CLI_ROW_SETTINGS,
                                            CLI_ROW_TEMPLATES, CLI_ROW_HELP,   CLI_ROW_END};

const struct cli_command cli_compare = {
    "compare", "A [B] [key=value]... [a:|b:key=value]...",
    "two models, plans, reports or a report and a measurement, figure by figure",
    "A and B are models, reports (predict --format json), torch.cuda.memory_stats()\n"
    "as JSON, or nvidia-smi --format=csv tables. Settings count for both sides,\n"
    "a:KEY=VALUE and b:KEY=VALUE for one: two plans of one model are compared with\n"
    "`vramcast compare MODEL b:checkpointing=all`. Exit codes: 0 all figures that\n"
    "both have are equal, 1 they differ, 4 they have none in common.\n",
    options, run};
