/* SPDX-License-Identifier: Apache-2.0
 *
 *     repeat ROOT    later steps that are copied against later steps that are run
 *
 * Event by event, for plans over all bundled configs; a strategy or optimizer that says that its steps
 * are not alike is run both times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "events.h"
#include "inner.h"

static const char *const configs[] = {"tiny-qwen3", "tiny-llava-1.5", "tiny-paligemma"};

static const struct plan {
    const char *settings;
    bool alike; /* the steps may be copied */
} plans[] = {
    {"steps=2 seq=64", true},
    {"steps=5 seq=64 micro_batch=3", true},
    {"steps=3 seq=64 precision=fp32 optimizer=adamw", true},
    {"steps=3 seq=64 precision=bf16-mixed optimizer=adam optimizer.foreach=off", true},
    {"steps=3 seq=64 precision=fp16-mixed accumulation=3", true},
    {"steps=2 seq=64 precision=bf16-autocast checkpointing=all", true},
    {"steps=3 seq=64 checkpointing=all checkpointing.reentrant=on precision=bf16", true},
    {"steps=3 seq=64 attention=eager padded=on micro_batch=2", true},
    {"steps=3 seq=64 attention=math precision=fp32", true},
    {"steps=4 seq=64 optimizer=sgd clip_grad=off", true},
    {"steps=3 seq=64 optimizer=sgd-momentum optimizer.foreach=off accumulation=2", true},
    {"steps=3 seq=64 optimizer=none", true},
    {"steps=3 seq=64 train=lora lora.rank=4 lora.dropout=0.1", true},
    {"steps=3 seq=64 train=frozen train.decoder=lora precision=bf16-mixed checkpointing=decoder", true},
    {"steps=3 seq=64 strategy=zero1 gpus=2 accumulation=2 zero.reduce_bucket_size=5000", true},
    {"steps=3 seq=64 strategy=zero2 gpus=4 zero.reduce_bucket_size=5000 zero.overlap_comm=on", true},
    {"steps=3 seq=64 strategy=zero2 gpus=3 accumulation=2 precision=fp32 optimizer=adamw", true},
    {"steps=3 seq=64 optimizer=adafactor", false},
    {"steps=4 seq=64 strategy=ddp gpus=2 accumulation=2", false},
    {"steps=3 seq=64 strategy=zero3 gpus=2", false},
    {"steps=3 seq=64 strategy=fsdp2 gpus=2", false},
    {"steps=3 seq=64 strategy=ddp gpus=2 ddp.gradient_as_bucket_view=on optimizer=adafactor", false},
    {"steps=3 seq=64 kernels_as=oracle attention=eager padded=on precision=bf16-mixed", true},
};

static void same_events(const struct vram_events *a, const struct vram_events *b, const char *what)
{
    if (a->n != b->n || a->nstorages != b->nstorages || a->nphases != b->nphases)
        fail_msg("%s: %zu events of %zu storages copied, %zu of %zu run", what, a->n, a->nstorages, b->n,
                 b->nstorages);
    for (size_t i = 0; i < a->n; i++)
        if (a->at[i].kind != b->at[i].kind || a->at[i].category != b->at[i].category ||
            a->at[i].storage != b->at[i].storage)
            fail_msg("%s: event %zu: kind %d of %u copied, %d of %u run", what, i, a->at[i].kind,
                     (unsigned)a->at[i].storage, b->at[i].kind, (unsigned)b->at[i].storage);
    for (size_t i = 0; i < a->nstorages; i++) {
        const struct vram_storage_row *x = &a->storages[i], *y = &b->storages[i];
        if (x->bytes != y->bytes || x->op != y->op || x->scope != y->scope || x->param != y->param ||
            x->flags != y->flags || (x->range == 0) != (y->range == 0))
            fail_msg("%s: storage %zu: %llu bytes copied, %llu run", what, i,
                     (unsigned long long)x->bytes, (unsigned long long)y->bytes);
    }
    for (size_t i = 0; i < a->nphases; i++) {
        assert_string_equal(a->phases[i].name, b->phases[i].name);
        assert_int_equal(a->phases[i].first_event, b->phases[i].first_event);
    }
}

static void copied_as_run(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof configs / sizeof *configs; c++) {
        vram_model *model = open_config(configs[c]);
        for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
            struct inner copied, run;
            char what[256];
            vram_plan *plan = plan_of(plans[i].settings);
            snprintf(what, sizeof what, "%s, %s", configs[c], plans[i].settings);
            inner_run(&copied, model, plan, false);
            inner_run(&run, model, plan, true);
            same_events(copied.run.events, run.run.events, what);
            bool alike = !copied.setup.strategy->changes && !vram_optimizer_varies(copied.setup.optimizer);
            assert_int_equal(alike, plans[i].alike);
            inner_free(&copied);
            inner_free(&run);
            vram_plan_free(plan);
        }
        vram_model_free(model);
    }
}

/* A copied step costs no run of templates. */
static void copies(void **state)
{
    vram_model *model = open_config("tiny-qwen3");
    vram_plan *few = plan_of("steps=2 seq=64"), *many = plan_of("steps=40 seq=64");
    struct inner a, b;
    (void)state;
    inner_run(&a, model, few, false);
    inner_run(&b, model, many, false);
    size_t one = a.run.events->n, all = b.run.events->n;
    assert_true(all > 15 * one && all < 21 * one);
    inner_free(&a);
    inner_free(&b);
    vram_plan_free(few);
    vram_plan_free(many);
    vram_model_free(model);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copied_as_run), cmocka_unit_test(copies)};
    fixtures_root = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
