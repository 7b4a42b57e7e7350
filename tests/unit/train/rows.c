/* SPDX-License-Identifier: Apache-2.0
 *
 *     rows ROOT    the rows of the optimizers: names, that each runs, and what is true of kinds of
 * them
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "events.h"

/* every value of transformers 5.24's OptimizerNames */
static const char *const transformers_names[] = {"adamw_torch",
                                                 "adamw_torch_fused",
                                                 "adamw_torch_xla",
                                                 "adamw_torch_npu_fused",
                                                 "adafactor",
                                                 "adamw_anyprecision",
                                                 "adamw_torch_4bit",
                                                 "adamw_torch_8bit",
                                                 "ademamix",
                                                 "sgd",
                                                 "adagrad",
                                                 "adamw_bnb_8bit",
                                                 "adamw_8bit",
                                                 "ademamix_8bit",
                                                 "lion_8bit",
                                                 "lion_32bit",
                                                 "paged_adamw_32bit",
                                                 "paged_adamw_8bit",
                                                 "paged_ademamix_32bit",
                                                 "paged_ademamix_8bit",
                                                 "paged_lion_32bit",
                                                 "paged_lion_8bit",
                                                 "rmsprop",
                                                 "rmsprop_bnb",
                                                 "rmsprop_bnb_8bit",
                                                 "rmsprop_bnb_32bit",
                                                 "galore_adamw",
                                                 "galore_adamw_8bit",
                                                 "galore_adafactor",
                                                 "galore_adamw_layerwise",
                                                 "galore_adamw_8bit_layerwise",
                                                 "galore_adafactor_layerwise",
                                                 "lomo",
                                                 "adalomo",
                                                 "grokadamw",
                                                 "schedule_free_radam",
                                                 "schedule_free_adamw",
                                                 "schedule_free_sgd",
                                                 "apollo_adamw",
                                                 "apollo_adamw_layerwise",
                                                 "stable_adamw"};

/* words of the setting that have no row yet */
static const char *const without_row[] = {"badam", "came", "prodigy"};

static size_t table_of(const char *name)
{
    size_t t = 0;
    while (vram_table_name(t) && strcmp(vram_table_name(t), name) != 0)
        t++;
    assert_non_null(vram_table_name(t));
    return t;
}

static size_t column_of(size_t table, const char *name)
{
    size_t c = 0;
    while (strcmp(vram_table_column(table, c), name) != 0)
        c++;
    return c;
}

static bool among(const char *words, const char *word, size_t n)
{
    for (size_t k; *words; words += k + (words[k] == ' ')) {
        k = strcspn(words, " ");
        if (k == n && !memcmp(words, word, n))
            return true;
    }
    return false;
}

static bool has_row(const char *word, size_t n)
{
    size_t t = table_of("optimizers"), aliases = column_of(t, "aliases");
    for (size_t row = 0; vram_table_cell(t, row, 0); row++)
        if (among(vram_table_cell(t, row, 0), word, n) ||
            among(vram_table_cell(t, row, aliases), word, n))
            return true;
    return false;
}

static const char *optimizer_words(void)
{
    vram_setting_view view = {.size = sizeof view};
    for (size_t i = 0; i < vram_setting_count(); i++) {
        vram_setting(i, &view);
        if (!strcmp(view.key, "optimizer"))
            return view.values;
    }
    return "";
}

/* The setting's words and the rows' names and aliases are the same, but for those without a row. */
static void words_and_rows(void **state)
{
    const char *words = optimizer_words();
    size_t t = table_of("optimizers"), aliases = column_of(t, "aliases"), missing = 0;
    (void)state;
    for (size_t n; *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        bool known = false;
        for (size_t i = 0; i < sizeof without_row / sizeof *without_row; i++)
            known = known || (strlen(without_row[i]) == n && !memcmp(without_row[i], words, n));
        missing += known;
        if (has_row(words, n) == known)
            fail_msg("%.*s", (int)n, words);
    }
    assert_int_equal(missing, sizeof without_row / sizeof *without_row);
    for (size_t row = 0; vram_table_cell(t, row, 0); row++) {
        const char *name = vram_table_cell(t, row, 0), *other = vram_table_cell(t, row, aliases);
        if (!among(optimizer_words(), name, strlen(name)))
            fail_msg("%s is no word of the setting", name);
        for (size_t n; *other; other += n + (other[n] == ' ')) {
            n = strcspn(other, " ");
            if (!among(optimizer_words(), other, n))
                fail_msg("%.*s is no word of the setting", (int)n, other);
        }
    }
}

/* What a run does, of tensors of a category and an op (NULL: any): most bytes alive, and those at
 * its end. */
static uint64_t most_alive(const struct run *r, const char *category, const char *op, uint64_t *end)
{
    struct {
        uint64_t bytes;
        bool mine, right;
    } *s = calloc(r->n + 1, sizeof *s);
    uint64_t sum = 0, most = 0;
    assert_non_null(s);
    for (size_t i = 0; i < r->n; i++) {
        const struct event *e = &r->at[i];
        bool was = s[e->storage].right;
        if (e->alloc) {
            s[e->storage].bytes = e->bytes;
            s[e->storage].mine = !op || !strcmp(e->op, op);
        }
        s[e->storage].right =
            !e->free && s[e->storage].mine && (!category || !strcmp(e->category, category));
        sum += s[e->storage].right && !was ? s[e->storage].bytes : 0;
        sum -= was && !s[e->storage].right ? s[e->storage].bytes : 0;
        most = sum > most ? sum : most;
    }
    *end = sum;
    free(s);
    return most;
}

/* Each row runs, on every kind of tensor, and leaves nothing. */
static void each_runs(void **state)
{
    static const char *const configs[] = {"tiny-qwen3", "tiny-llava-1.5"}, *const precisions[] = {
                                                                               "bf16", "fp32"};
    size_t t = table_of("optimizers");
    (void)state;
    for (size_t row = 0; vram_table_cell(t, row, 0); row++)
        for (int k = 0; k < 4; k++) {
            char settings[256];
            struct run r;
            uint64_t end, most;
            snprintf(settings, sizeof settings,
                     "seq=640 attention=eager optimizer=%s precision=%s optimizer.foreach=%s",
                     vram_table_cell(t, row, 0), precisions[k % 2], k % 3 ? "on" : "off");
            run_events(&r, configs[k / 2], settings);
            uint64_t state_end;
            most = most_alive(&r, "temporaries", "optimizer", &end) +
                   most_alive(&r, "optimizer", NULL, &state_end);
            if (end || state_end)
                fail_msg("%s leaves %llu bytes", settings, (unsigned long long)(end + state_end));
            bool none = !strcmp(vram_table_cell(t, row, 0), "none") ||
                        (strstr(settings, "optimizer=lomo") && strstr(settings, "fp32"));
            if ((most == 0) != none)
                fail_msg("%s has at most %llu bytes", settings, (unsigned long long)most);
            run_free(&r);
        }
}

static void names_of_transformers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof transformers_names / sizeof *transformers_names; i++) {
        char settings[128];
        struct run r;
        snprintf(settings, sizeof settings, "seq=16 optimizer=%s", transformers_names[i]);
        run_events(&r, "tiny-qwen3", settings);
        assert_true(phase_end(&r, "step2.after") > 0);
        run_free(&r);
    }
}

/* ---- stepping inside backward ---------------------------------------------------------------- */

static uint64_t largest_gradient(const struct run *r)
{
    uint64_t most = 0;
    for (size_t i = 0; i < vram_model_param_count(r->model); i++) {
        vram_param_view p = {.size = sizeof p};
        vram_model_param(r->model, i, &p);
        uint64_t n = 2;
        for (uint32_t d = 0; d < p.rank; d++)
            n *= (uint64_t)p.dims[d];
        most = !p.buffer && !*p.tied_to && n > most ? n : most;
    }
    return most;
}

/* Gradients never coexist: one, or with hooks on tensors the one that waits and the next. */
static void one_gradient(void **state)
{
    static const struct {
        const char *settings;
        bool pairs;
    } rows[] = {{"optimizer=adamw-fused optimizer_in_backward=on", false},
                {"optimizer=sgd optimizer_in_backward=on", false},
                {"optimizer=galore-adamw-layerwise optimizer.rank=8", false},
                {"optimizer=apollo-layerwise optimizer.rank=8", false},
                {"optimizer=lomo", true},
                {"optimizer=adalomo", true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char settings[256];
        struct run r;
        uint64_t end, most, largest;
        snprintf(settings, sizeof settings, "seq=16 precision=bf16 %s", rows[i].settings);
        run_events(&r, "tiny-qwen3", settings);
        most = most_alive(&r, "gradients", NULL, &end);
        largest = largest_gradient(&r);
        assert_int_equal(end, 0);
        if (rows[i].pairs)
            assert_in_range(most, largest, 2 * largest);
        else
            assert_int_equal(most, largest);
        run_free(&r);
    }
}

/* ---- where state is -------------------------------------------------------------------------- */

/* SOAP: two squares in bf16 of each side up to 10,000 of a matrix */
static uint64_t sides(const vram_param_view *p)
{
    uint64_t sum = 0;
    for (uint32_t d = 0; d < p->rank && p->rank == 2; d++)
        sum += p->dims[d] <= 10000 ? 4 * (uint64_t)p->dims[d] * (uint64_t)p->dims[d] : 0;
    return sum;
}

/* The 7B: tensors with states of all kinds; bytes by the elements of each. */
static void places(void **state)
{
    enum { CARD_8, CARD_32, SCALES, HOST, SOAP };
    static const char config[] = "checkpoints/llava-1.5-7b-hf/config.json";
    static const struct {
        const char *optimizer;
        int kind;
    } rows[] = {{"adamw-8bit", CARD_8},
                {"adamw-32bit", CARD_32},
                {"paged-adamw-8bit", SCALES},
                {"adamw-cpu", HOST},
                    {"soap", SOAP}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char settings[128];
        struct run r;
        uint64_t expected = 0;
        snprintf(settings, sizeof settings, "seq=2048 precision=bf16 optimizer=%s",
                 rows[i].optimizer);
        run_events(&r, config, settings);
        for (size_t k = 0; k < vram_model_param_count(r.model); k++) {
            vram_param_view p = {.size = sizeof p};
            vram_model_param(r.model, k, &p);
            uint64_t n = 1, blocks;
            for (uint32_t d = 0; d < p.rank; d++)
                n *= (uint64_t)p.dims[d];
            /* LLaVA takes the state before the last layer of the tower */
            bool tower = strstr(p.path, "vision_tower") != NULL;
            if (p.buffer || *p.tied_to ||
                (tower && (strstr(p.path, "layers.23.") || strstr(p.path, "post_layernorm"))))
                continue;
            blocks = 4 * ((n + 255) / 256);
            bool embedding = strstr(p.path, "embed_tokens") || strstr(p.path, "position_embedding");
            bool wide = n < 4096 || embedding, paged = n >= 100000;
            if (rows[i].kind == CARD_32)
                expected += 8 * n;
            else if (rows[i].kind == HOST)
                expected += n < 4096 ? 4 + 4 * n : 0;
            else if (rows[i].kind == SOAP)
                expected += 4 * n + sides(&p);
            else if (wide)
                expected += rows[i].kind == SCALES && paged ? 0 : 8 * n;
            else
                expected += 2 * blocks + (rows[i].kind == SCALES && paged ? 0 : 2 * n);
        }
        if (rows[i].kind == CARD_8 || rows[i].kind == SCALES)
            expected += 2 * 1024; /* the maps of the optimizer */
        uint64_t actual = live(&r, phase_end(&r, "step1.optimizer"), "optimizer", "optimizer");
        if (actual != expected)
            fail_msg("%s: %llu bytes, expected %llu", settings, (unsigned long long)actual,
                     (unsigned long long)expected);
        run_free(&r);
    }
}

/* ---- versions -------------------------------------------------------------------------------- */

/* torch 2.0's list of denominators beside that of roots: one more parameter-sized list at the
 * step's peak. */
static void versions(void **state)
{
    static const struct {
        const char *settings;
        uint64_t lists;
    } rows[] = {{"optimizer=adamw torch=2.0", 2}, {"optimizer=adamw torch=2.1", 1},
                {"optimizer=adamw", 1},           {"torch=2.0", 2},
                {"transformers=4.46", 1},         {"torch=2.7", 1},
                {"transformers=4.54", 0},         {"", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char settings[128];
        struct run r;
        snprintf(settings, sizeof settings, "seq=16 precision=bf16 %s", rows[i].settings);
        run_events(&r, "tiny-qwen3", settings);
        uint64_t parameters = live(&r, phase_end(&r, "load"), "parameters", NULL);
        uint64_t made = allocated(&r, "step2.optimizer", "optimizer");
        if (made != rows[i].lists * parameters)
            fail_msg("%s: %llu of %llu", settings, (unsigned long long)made,
                     (unsigned long long)parameters);
        run_free(&r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_and_rows),
                                       cmocka_unit_test(each_runs),
                                       cmocka_unit_test(names_of_transformers),
                                       cmocka_unit_test(one_gradient),
                                       cmocka_unit_test(places),
                                       cmocka_unit_test(versions)};
    fixtures_root = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
