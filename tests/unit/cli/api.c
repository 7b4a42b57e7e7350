/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables, dumps and plans from JSON through the public header; every call also with each of its
 * memory requests failing once: a clean error or the same answer, never a half-done plan.
 *
 *     api_test ROOT    where fixtures/ lies
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/text.h"
#include "vram/vram.h"

static const char *root;
static const char *const passes[] = {"config", "tree", "program", "plan", "events", "replay"};
enum { PASSES = sizeof passes / sizeof *passes };

/* ---- tables -------------------------------------------------------------------------------- */

static void tables(void **state)
{
    (void)state;
    assert_true(vram_table_count() >= 11);
    assert_null(vram_table_name(vram_table_count()));
    assert_null(vram_table_help(vram_table_count()));
    assert_null(vram_table_column(vram_table_count(), 0));
    assert_null(vram_table_cell(vram_table_count(), 0, 0));
    for (size_t t = 0; t < vram_table_count(); t++) {
        size_t rows = 0, columns = 0;
        assert_true(*vram_table_help(t));
        while (vram_table_column(t, columns))
            columns++;
        assert_true(columns >= 2 && columns <= 16);
        assert_null(vram_table_column(t, columns + 5));
        for (; vram_table_cell(t, rows, 0); rows++) {
            assert_true(*vram_table_cell(t, rows, 0));
            for (size_t c = 0; c < columns; c++) {
                assert_non_null(vram_table_cell(t, rows, c));
                /* static text: the same pointer every time */
                assert_ptr_equal(vram_table_cell(t, rows, c), vram_table_cell(t, rows, c));
            }
            assert_null(vram_table_cell(t, rows, columns));
        }
        assert_true(rows > 0);
        assert_null(vram_table_cell(t, rows + 100000, 0));
    }
}

static const char *find_cell(const char *table, const char *row, const char *column)
{
    size_t t = 0, r = 0, c = 0;
    while (strcmp(vram_table_name(t), table) != 0)
        t++;
    while (strcmp(vram_table_cell(t, r, 0), row) != 0)
        r++;
    while (strcmp(vram_table_column(t, c), column) != 0)
        c++;
    return vram_table_cell(t, r, c);
}

static void cells(void **state)
{
    (void)state;
    assert_string_equal(find_cell("gpus", "a100-80g", "bytes"), "84987084800");
    assert_string_equal(find_cell("gpus", "a100-80g", "GiB"), "79.15");
    assert_string_equal(find_cell("gpus", "a100-80g", "sm"), "8.0");
    assert_string_equal(find_cell("families", "llava", "head"), "LlavaForConditionalGeneration");
    assert_string_equal(find_cell("families", "clip_vision_model", "head"), "");
    assert_string_equal(find_cell("dtypes", "bf16", "bits"), "16");
    assert_string_equal(find_cell("settings", "micro_batch", "default"), "1");
    assert_string_equal(find_cell("findings", "V0203", "severity"), "warn");
    assert_string_equal(find_cell("constants", "grad-scaler", "expected"), "1536");
    assert_string_equal(find_cell("optimizers", "none", "name"), "none");
    for (size_t i = 0; i < vram_setting_count(); i++) {
        vram_setting_view s = {.size = sizeof s};
        vram_setting(i, &s);
        assert_string_equal(find_cell("settings", s.key, "type"), s.type);
    }
}

/* ---- plans from JSON ----------------------------------------------------------------------- */

static void plan_values(void **state)
{
    static const char text[] =
        "\xef\xbb\xbf{\"micro_batch\": 8, \"headroom\": 0.05, \"gpu\": \"a100-80g\", \"padded\": true,\n"
        " \"clip_grad\": false, \"lora.targets\": [\"q\", \"v\\u0061\"], \"seq\": 2e3, \"dim.batch\": 4,\n"
        " \"image_size\": \"336x672\"}";
    static const char *const expected[][2] = {
        {"micro_batch", "8"},  {"headroom", "0.05"},  {"gpu", "a100-80g"},     {"padded", "on"},
        {"clip_grad", "off"},  {"lora.targets", "q,va"}, {"seq", "2000"},      {"dim.batch", "4"},
        {"image_size", "336x672"}};
    vram_plan *plan;
    vram_error e;
    (void)state;
    assert_int_equal(vram_plan_create(&plan, &e), 0);
    if (vram_plan_set_json(plan, text, sizeof text - 1, &e))
        fail_msg("%s: %s", e.where, e.text);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(vram_plan_get(plan, expected[i][0]), expected[i][1]);
    vram_plan_free(plan);
}

static void plan_refusals(void **state)
{
    static const struct {
        const char *text;
        int code;
        uint64_t offset;
        const char *where;
    } rows[] = {
        {"", VRAM_E_FORMAT, 0, ""},
        {"[]", VRAM_E_FORMAT, 0, ""},
        {"{\"seq\": 1", VRAM_E_FORMAT, 9, ""},
        {"{\"seq\": 1} x", VRAM_E_FORMAT, 11, ""},
        {"{\"seq\" 1}", VRAM_E_FORMAT, 7, ""},
        {"{\"seq\": 1, \"sec\": 2}", VRAM_E_NOTFOUND, 11, "'sec'"},
        {"{\"seq\": 0}", VRAM_E_RANGE, 1, "'seq'"},
        {"{\"seq\": -1e400}", VRAM_E_RANGE, 1, "'seq'"},
        {"{\"seq\": \"a\"}", VRAM_E_ARGUMENT, 1, "'seq'"},
        {"{\"seq\": \"\\u0000\"}", VRAM_E_ARGUMENT, 8, "'seq'"},
        {"{\"seq\": {}}", VRAM_E_ARGUMENT, 8, "'seq'"},
        {"{\"seq\": null}", VRAM_E_ARGUMENT, 8, "'seq'"},
        {"{\"seq\": [[1]]}", VRAM_E_ARGUMENT, 9, "'seq'"},
        {"{\"seq\": [1, 2]}", VRAM_E_ARGUMENT, 1, "'seq'"},
        {"{\"seq\": 1, \"seq\": 1}", VRAM_E_CONFLICT, 11, "'seq'"},
        {"{\"\": 1}", VRAM_E_NOTFOUND, 1, "''"},
        {"{\"\\u001b[31m\": 1}", VRAM_E_NOTFOUND, 1, "'\\u001b[31m'"},
    };
    vram_plan *plan;
    vram_error e;
    (void)state;
    assert_int_equal(vram_plan_create(&plan, &e), 0);
    assert_int_equal(vram_plan_set(plan, "seq", "77", &e), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int code = vram_plan_set_json(plan, rows[i].text, strlen(rows[i].text), &e);
        if (code != rows[i].code || e.code != code || e.offset != rows[i].offset ||
            strcmp(e.where, rows[i].where) != 0 || !*e.text)
            fail_msg("%s: %d at %llu, %s: %s", rows[i].text, code, (unsigned long long)e.offset,
                     e.where, e.text);
        assert_string_equal(vram_plan_get(plan, "seq"), "77");
        assert_null(vram_plan_get(plan, "micro_batch"));
    }
    assert_int_equal(vram_plan_set_json(plan, "{\"micro_batch\": 2, \"seq\": 0}", 27, NULL),
                     VRAM_E_RANGE);
    assert_null(vram_plan_get(plan, "micro_batch"));
    vram_plan_free(plan);
}

/* ---- plans from other tools' files --------------------------------------------------------- */

static const char *fixture(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/fixtures/settings/%s", root, name);
    return path;
}

static void plan_files(void **state)
{
    char zero[500], launch[500], other[500], expected[600];
    const char *const files[] = {fixture(zero, sizeof zero, "zero2.json"),
                                 fixture(launch, sizeof launch, "llava_pretrain.sh")};
    const char *const more[] = {fixture(other, sizeof other, "zero3_offload.json")};
    const char *const bad[] = {zero, "no/such/file"};
    vram_plan *plan;
    vram_error e;
    (void)state;
    assert_int_equal(vram_plan_create(&plan, &e), 0);
    assert_int_equal(vram_plan_set(plan, "micro_batch", "3", &e), 0);
    assert_int_equal(vram_plan_set_files(plan, bad, 2, &e), VRAM_E_NOTFOUND);
    assert_string_equal(e.where, "no/such/file");
    assert_null(vram_plan_get(plan, "strategy")); /* all or nothing */
    assert_int_equal(vram_plan_set_files(plan, NULL, 0, NULL), 0);
    if (vram_plan_set_files(plan, files, 2, &e))
        fail_msg("%s: %s", e.where, e.text);
    assert_string_equal(vram_plan_get(plan, "micro_batch"), "3");
    assert_null(vram_plan_by(plan, "micro_batch"));
    assert_string_equal(vram_plan_get(plan, "strategy"), "zero2");
    snprintf(expected, sizeof expected, "%s:10", zero);
    assert_string_equal(vram_plan_by(plan, "strategy"), expected);
    assert_string_equal(vram_plan_by(plan, "optimizer"), "default of LLaVA");
    assert_null(vram_plan_by(plan, "no such key"));
    assert_int_equal(vram_plan_finding_count(plan), 0);
    /* what is given stays, also by files; what is new is added, and remarked on */
    assert_int_equal(vram_plan_set_files(plan, more, 1, &e), 0);
    assert_string_equal(vram_plan_get(plan, "strategy"), "zero2");
    assert_string_equal(vram_plan_get(plan, "offload"), "params");
    assert_int_equal(vram_plan_finding_count(plan), 2);
    vram_finding_view f = {.size = sizeof f};
    vram_plan_finding(plan, 1, &f);
    assert_string_equal(f.id, "V0321");
    snprintf(expected, sizeof expected, "%s:15", other);
    assert_string_equal(f.subject, expected);
    /* a word forgets who said it */
    assert_int_equal(vram_plan_set(plan, "strategy", "ddp", &e), 0);
    assert_null(vram_plan_by(plan, "strategy"));
    vram_plan_free(plan);
}

static void plan_files_memory(void **state)
{
    char zero[500], yaml[500];
    const char *const files[] = {fixture(zero, sizeof zero, "zero3_offload.json"),
                                 fixture(yaml, sizeof yaml, "axolotl_qlora.yaml")};
    (void)state;
    for (uint64_t n = 1;; n++) {
        vram_plan *plan;
        vram_error e;
        assert_int_equal(vram_plan_create(&plan, &e), 0);
        vram_fail_after(n);
        int code = vram_plan_set_files(plan, files, 2, &e);
        bool over = vram_fail_after(0) < n;
        assert_int_equal(code, over ? VRAM_OK : VRAM_E_NOMEM);
        assert_int_equal(e.code, code);
        assert_true((vram_plan_get(plan, "strategy") != NULL) == over);
        assert_int_equal(vram_plan_finding_count(plan) > 0, over);
        vram_plan_free(plan);
        if (over)
            break;
    }
}

/* A value of thousands of bytes, a key of thousands of bytes. */
static void plan_long(void **state)
{
    char *text = malloc(20000);
    vram_plan *plan;
    vram_error e;
    (void)state;
    assert_non_null(text);
    assert_int_equal(vram_plan_create(&plan, &e), 0);
    int n = snprintf(text, 20000, "{\"vision_tower\": \"%09000d\"}", 1);
    assert_int_equal(vram_plan_set_json(plan, text, (size_t)n, &e), VRAM_E_LIMIT);
    n = snprintf(text, 20000, "{\"%09000d\": 1}", 1);
    assert_int_equal(vram_plan_set_json(plan, text, (size_t)n, &e), VRAM_E_NOTFOUND);
    n = snprintf(text, 20000, "{\"vision_tower\": \"%04000d\"}", 1);
    assert_int_equal(vram_plan_set_json(plan, text, (size_t)n, &e), 0);
    vram_plan_free(plan);
    free(text);
}

static void plan_memory(void **state)
{
    static const char text[] = "{\"micro_batch\": 8, \"lora.targets\": [\"q\", \"v\"], \"dim.n\": 4}";
    vram_plan *plan;
    vram_error e;
    (void)state;
    assert_int_equal(vram_plan_create(&plan, &e), 0);
    for (uint64_t n = 1;; n++) {
        vram_fail_after(n);
        int code = vram_plan_set_json(plan, text, sizeof text - 1, &e);
        if (vram_fail_after(0) < n && !code)
            break;
        if (!code)
            continue;
        assert_int_equal(code, VRAM_E_NOMEM);
        assert_null(vram_plan_get(plan, "micro_batch"));
        assert_null(vram_plan_get(plan, "dim.n"));
    }
    assert_string_equal(vram_plan_get(plan, "dim.n"), "4");
    vram_plan_free(plan);
}

/* ---- dumps --------------------------------------------------------------------------------- */

static vram_model *open_model(void)
{
    char path[1024];
    vram_model *model;
    vram_error e;
    snprintf(path, sizeof path, "%s/fixtures/configs/tiny-qwen3", root);
    if (vram_model_open(&model, path, NULL, &e))
        fail_msg("%s: %s", e.where, e.text);
    return model;
}

static void dumps(void **state)
{
    vram_model *model = open_model();
    (void)state;
    for (size_t i = 0; i < PASSES; i++) {
        struct vram_text_memory one = {0}, two = {0};
        vram_error e;
        assert_int_equal(vram_dump(model, NULL, passes[i], vram_text_memory_write, &one, &e), 0);
        assert_int_equal(vram_dump(model, NULL, passes[i], vram_text_memory_write, &two, NULL), 0);
        assert_string_equal(one.at, two.at);
        assert_int_equal(one.at[one.n - 1], '\n');
        free(one.at);
        free(two.at);
    }
    vram_model_free(model);
}

static int refuse(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    (void)text;
    (void)n;
    return 1;
}

static void dump_refusals(void **state)
{
    vram_model *model = open_model();
    vram_plan *plan;
    vram_error e;
    struct vram_text_memory text = {0};
    (void)state;
    assert_int_equal(vram_dump(model, NULL, "trees", vram_text_memory_write, &text, &e),
                     VRAM_E_NOTFOUND);
    for (size_t i = 0; i < PASSES; i++) {
        assert_int_equal(vram_dump(model, NULL, passes[i], refuse, NULL, &e), VRAM_E_CANCELED);
        assert_int_equal(e.code, VRAM_E_CANCELED);
    }
    assert_int_equal(vram_plan_create(&plan, &e), 0);
    assert_int_equal(vram_plan_set(plan, "gpu", "abacus", &e), 0);
    assert_int_equal(vram_dump(model, plan, "plan", vram_text_memory_write, &text, &e),
                     VRAM_E_ARGUMENT);
    assert_int_equal(text.n, 0);
    vram_plan_free(plan);
    vram_model_free(model);
}

/* Every n-th request of a dump fails; requests are many, so n grows. */
static void dump_memory(void **state)
{
    vram_model *model = open_model();
    (void)state;
    for (size_t i = 0; i < PASSES; i++)
        for (uint64_t n = 1;; n += 1 + n / 8) {
            struct vram_text_memory text = {0};
            vram_error e;
            vram_fail_after(n);
            int code = vram_dump(model, NULL, passes[i], vram_text_memory_write, &text, &e);
            bool over = vram_fail_after(0) < n;
            free(text.at);
            if (over) {
                assert_int_equal(code, 0);
                break;
            }
            /* the writer's own request may be the one */
            assert_true(code == VRAM_E_NOMEM || code == VRAM_E_CANCELED || !code);
        }
    vram_model_free(model);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),        cmocka_unit_test(cells),
        cmocka_unit_test(plan_values),   cmocka_unit_test(plan_refusals),
        cmocka_unit_test(plan_long),     cmocka_unit_test(plan_memory),
        cmocka_unit_test(plan_files),    cmocka_unit_test(plan_files_memory),
        cmocka_unit_test(dumps),         cmocka_unit_test(dump_refusals),
        cmocka_unit_test(dump_memory)};
    root = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
