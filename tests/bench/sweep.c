/* SPDX-License-Identifier: Apache-2.0
 *
 *     sweep MODEL [PLANS]    that many different plans on one opened model, on one core
 *
 * Prints the time of opening, of all predictions and of one.  Nothing is asserted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "vram/vram.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int fail(const vram_error *e)
{
    fprintf(stderr, "%s: %s\n", e->where, e->text);
    return 1;
}

static int set(vram_plan *plan, const char *key, long value, vram_error *e)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    return vram_plan_set(plan, key, text, e);
}

/* Lengths, batches, ranks, adapters and checkpointing in turn. */
static int nth(vram_plan **plan, int i, vram_error *e)
{
    static const char *const strategies[] = {"none", "ddp", "zero1", "zero2"};
    return vram_plan_create(plan, e) || set(*plan, "seq", 512 + 64 * (i % 25), e) ||
           set(*plan, "micro_batch", 1 + i / 25 % 5, e) || set(*plan, "gpus", 8, e) ||
           vram_plan_set(*plan, "strategy", strategies[i / 125 % 4], e) ||
           vram_plan_set(*plan, "checkpointing", i / 500 % 2 ? "all" : "off", e) ||
           vram_plan_set(*plan, "train", i % 2 ? "lora" : "full", e);
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 1000;
    vram_model *model = NULL;
    vram_error e;
    double begun = now();
    if (argc < 2 || vram_model_open(&model, argv[1], NULL, &e))
        return argc < 2 ? 2 : fail(&e);
    double opened = now();
    for (int i = 0; i < n; i++) {
        vram_plan *plan = NULL;
        vram_report *report = NULL;
        if (nth(&plan, i, &e) || vram_predict(&report, model, plan, &e))
            return fail(&e);
        vram_report_free(report);
        vram_plan_free(plan);
    }
    double done = now();
    printf("opening %.2f ms; %d plans %.2f s, %.2f ms each\n", (opened - begun) * 1e3, n, done - opened,
           (done - opened) * 1e3 / n);
    vram_model_free(model);
    return 0;
}
