/* SPDX-License-Identifier: Apache-2.0
 *
 *     failure ROOT    every public call with its n-th memory request failing
 *
 * A clean VRAM_E_NOMEM, the result's place untouched, nothing lost (AddressSanitizer looks), and the
 * same call works afterwards.  Requests are many: behind the first ones every next is further away.
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
#include "events.h"

static void *const untouched = (void *)&fixtures_root;

/* The next request to fail: each of the first, then steps that keep a sweep of n requests short. */
static uint64_t next(uint64_t n) { return n + 1 + n / 500; }

static void expect_nomem(int code, const vram_error *e, const char *what, uint64_t n)
{
    if (code != VRAM_E_NOMEM || e->code != VRAM_E_NOMEM || !*e->text)
        fail_msg("%s: request %llu failed: %d, %s: %s", what, (unsigned long long)n, code, e->where,
                 e->text);
}

/* ---- opening ------------------------------------------------------------------------------- */

static void open_one(const char *name)
{
    char path[1024];
    uint64_t tried = 0;
    snprintf(path, sizeof path, "%s/fixtures/%s", fixtures_root, name);
    for (uint64_t n = 1;; n = next(n), tried++) {
        vram_model *model = untouched;
        vram_error e;
        vram_fail_after(n);
        int code = vram_model_open(&model, path, NULL, &e);
        if (vram_fail_after(0) < n) { /* it had fewer requests */
            assert_int_equal(code, VRAM_OK);
            vram_model_free(model);
            break;
        }
        if (code == VRAM_OK) { /* a request that can be done without */
            vram_model_free(model);
            continue;
        }
        expect_nomem(code, &e, name, n);
        assert_ptr_equal(model, untouched);
    }
    assert_true(tried > 20);
}

static void opening(void **state)
{
    (void)state;
    open_one("configs/tiny-qwen3");
    open_one("configs/tiny-llava-1.5");
    open_one("configs/tiny-paligemma/config.json");
}

/* ---- predicting ---------------------------------------------------------------------------- */

static const char *const settings[] = {
    "seq=32",
    "seq=32 precision=bf16-mixed checkpointing=all optimizer=adamw gpu=a100-80g allocator=torch-expandable",
    "seq=32 checkpointing=all checkpointing.reentrant=on optimizer=adafactor",
    "seq=32 train=lora lora.rank=4 lora.targets=q,v lora.dropout=0.1",
    "seq=32 strategy=zero2 gpus=3 accumulation=2 zero.reduce_bucket_size=5000",
    "seq=32 strategy=zero1 gpus=2 zero.overlap_comm=on zero.reduce_bucket_size=5000",
    "seq=32 strategy=zero3 gpus=3 checkpointing=all zero.stage3_param_persistence_threshold=0",
    "seq=32 strategy=zero3 gpus=2 offload=params zero.reduce_bucket_size=5000",
    "seq=32 strategy=fsdp2 gpus=2 precision=bf16-mixed accumulation=2 fsdp.reduce_dtype=fp32",
    "seq=32 strategy=fsdp gpus=2 precision=bf16-mixed fsdp.prefetch=pre fsdp.wrap=LlamaMLP",
    "seq=32 strategy=ddp gpus=2 ddp.gradient_as_bucket_view=on ddp.bucket_cap=20000",
    "seq=32 mode=infer attention=eager padded=on estimator=timeline",
    "seq=32 estimator=sum attention=math",
};

static void predicting(void **state)
{
    vram_model *model = open_config("tiny-qwen3");
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        vram_plan *plan = plan_of(settings[i]);
        for (uint64_t n = 1;; n = next(n)) {
            vram_report *report = untouched;
            vram_error e;
            vram_fail_after(n);
            int code = vram_predict(&report, model, plan, &e);
            bool over = vram_fail_after(0) < n;
            if (code == VRAM_OK)
                vram_report_free(report);
            if (over) {
                assert_int_equal(code, VRAM_OK);
                break;
            }
            if (code == VRAM_OK)
                continue;
            expect_nomem(code, &e, settings[i], n);
            assert_ptr_equal(report, untouched);
        }
        vram_plan_free(plan);
    }
    vram_model_free(model);
}

/* ---- printing ------------------------------------------------------------------------------ */

static int count_bytes(void *ctx, const char *text, size_t n)
{
    (void)text;
    *(size_t *)ctx += n;
    return 0;
}

static void report_json(void **state)
{
    vram_model *model = open_config("tiny-llava-1.5");
    vram_plan *plan = plan_of("seq=32 gpu=a100-80g");
    vram_report *report;
    vram_error e;
    size_t whole = 0;
    (void)state;
    assert_int_equal(vram_predict(&report, model, plan, &e), VRAM_OK);
    assert_int_equal(vram_report_json(report, count_bytes, &whole, &e), VRAM_OK);
    for (uint64_t n = 1;; n++) {
        size_t bytes = 0;
        vram_fail_after(n);
        int code = vram_report_json(report, count_bytes, &bytes, &e);
        bool over = vram_fail_after(0) < n;
        if (code == VRAM_OK)
            assert_int_equal(bytes, whole);
        else
            expect_nomem(code, &e, "json", n);
        if (over) {
            assert_int_equal(code, VRAM_OK);
            break;
        }
    }
    vram_report_free(report);
    vram_plan_free(plan);
    vram_model_free(model);
}

static void dumps(void **state)
{
    static const char *const passes[] = {"config", "tree", "program", "plan", "events", "replay"};
    vram_model *model = open_config("tiny-qwen3");
    vram_plan *plan = plan_of("seq=32 train=lora lora.rank=2");
    (void)state;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        for (uint64_t n = 1;; n = next(n)) {
            size_t bytes = 0;
            vram_error e;
            vram_fail_after(n);
            int code = vram_dump(model, plan, passes[i], count_bytes, &bytes, &e);
            bool over = vram_fail_after(0) < n;
            if (code)
                expect_nomem(code, &e, passes[i], n);
            if (over) {
                assert_int_equal(code, VRAM_OK);
                break;
            }
        }
    vram_plan_free(plan);
    vram_model_free(model);
}

/* ---- plans --------------------------------------------------------------------------------- */

static void plans(void **state)
{
    static const char *const keys[][2] = {{"seq", "77"},           {"lora.targets", "q,k,v"},
                                          {"dim.batch", "3"},      {"train.other", "frozen"},
                                          {"vision_tower", "/tmp"}, {"image_size", "336x672"}};
    (void)state;
    for (uint64_t n = 1;; n++) {
        vram_plan *plan = untouched;
        vram_error e;
        vram_fail_after(n);
        int code = vram_plan_create(&plan, &e);
        bool over = vram_fail_after(0) < n;
        if (code == VRAM_OK)
            vram_plan_free(plan);
        else
            assert_ptr_equal(plan, untouched);
        if (over) {
            assert_int_equal(code, VRAM_OK);
            break;
        }
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        vram_plan *plan = plan_of("micro_batch=2");
        vram_error e;
        for (uint64_t n = 1;; n++) {
            vram_fail_after(n);
            int code = vram_plan_set(plan, keys[i][0], keys[i][1], &e);
            bool over = vram_fail_after(0) < n;
            if (code) {
                expect_nomem(code, &e, keys[i][0], n);
                assert_null(vram_plan_get(plan, keys[i][0]));
            }
            if (over || !code)
                break;
        }
        assert_string_equal(vram_plan_get(plan, "micro_batch"), "2");
        vram_plan_free(plan);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening),     cmocka_unit_test(predicting), cmocka_unit_test(report_json),
        cmocka_unit_test(dumps),       cmocka_unit_test(plans)};
    fixtures_root = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
