/* SPDX-License-Identifier: Apache-2.0
 *
 *     threads ROOT    many threads predict on one model at once: every report is the same JSON
 *
 * Under -Db_sanitize=thread this also shows that a frozen model is not written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "events.h"

enum { THREADS = 8, ROUNDS = 3 };

static const char *const settings[] = {
    "seq=64 gpu=a100-80g",
    "seq=64 precision=bf16-mixed checkpointing=all optimizer=adamw gpu=h100-80g",
    "seq=64 train=lora lora.rank=8 gpu=a100-40g",
    "seq=64 strategy=zero2 gpus=4 zero.reduce_bucket_size=5000",
    "seq=64 strategy=zero3 gpus=4 zero.reduce_bucket_size=5000",
    "seq=64 strategy=fsdp gpus=4 precision=bf16-mixed",
    "seq=64 mode=infer attention=eager padded=on",
};
enum { PLANS = sizeof settings / sizeof *settings };

struct job {
    const vram_model *model;
    const vram_plan *plan[PLANS];
    int first;
    struct vram_text_memory text[PLANS]; /* of each plan, once */
    int failed;
};

static int predict(const vram_model *model, const vram_plan *plan, struct vram_text_memory *text)
{
    vram_report *report = NULL;
    vram_error e;
    if (vram_predict(&report, model, plan, &e))
        return 1;
    int code = vram_report_json(report, vram_text_memory_write, text, &e);
    vram_report_free(report);
    return code != 0;
}

/* Each thread begins with another plan, so that different ones run at once. */
static void *work(void *arg)
{
    struct job *j = arg;
    for (int round = 0; round < ROUNDS && !j->failed; round++)
        for (int i = 0; i < PLANS && !j->failed; i++) {
            int k = (j->first + i) % PLANS;
            struct vram_text_memory again = {0};
            j->failed = predict(j->model, j->plan[k], round ? &again : &j->text[k]);
            if (round && !j->failed)
                j->failed = again.n != j->text[k].n || memcmp(again.at, j->text[k].at, again.n) != 0;
            free(again.at);
        }
    return NULL;
}

static void one_config(const char *config)
{
    vram_model *model = open_config(config);
    vram_plan *plan[PLANS];
    static struct job jobs[THREADS];
    pthread_t thread[THREADS];
    struct vram_text_memory alone[PLANS] = {{0}};
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < PLANS; i++) {
        plan[i] = plan_of(settings[i]);
        assert_int_equal(predict(model, plan[i], &alone[i]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        jobs[t].model = model;
        jobs[t].first = t;
        for (int i = 0; i < PLANS; i++)
            jobs[t].plan[i] = plan[i];
        assert_int_equal(pthread_create(&thread[t], NULL, work, &jobs[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(thread[t], NULL), 0);
        assert_int_equal(jobs[t].failed, 0);
        for (int i = 0; i < PLANS; i++) {
            assert_int_equal(jobs[t].text[i].n, alone[i].n);
            assert_memory_equal(jobs[t].text[i].at, alone[i].at, alone[i].n);
            free(jobs[t].text[i].at);
        }
    }
    for (int i = 0; i < PLANS; i++) {
        vram_plan_free(plan[i]);
        free(alone[i].at);
    }
    vram_model_free(model);
}

static void at_once(void **state)
{
    (void)state;
    one_config("tiny-llava-1.5");
    one_config("tiny-qwen3");
    one_config("tiny-paligemma");
}

/* Models are opened at once, too. */
static void *open_and_free(void *arg)
{
    vram_model *model = open_config(arg);
    vram_model_free(model);
    return NULL;
}

static void opened_at_once(void **state)
{
    static char names[2][16] = {"tiny-llava-1.5", "tiny-qwen3"};
    pthread_t thread[THREADS];
    (void)state;
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, open_and_free, names[t % 2]), 0);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_join(thread[t], NULL), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_once), cmocka_unit_test(opened_at_once)};
    fixtures_root = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
