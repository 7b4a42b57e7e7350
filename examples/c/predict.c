/* SPDX-License-Identifier: Apache-2.0
 *
 * One prediction: predict PATH [key=value]...
 *
 *     cc predict.c $(pkg-config --cflags --libs vramcast) -o predict
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <vram/vram.h>

/* Sets a plan's key from "key=value". */
static int set(vram_plan *plan, const char *word, vram_error *error)
{
    char key[64];
    const char *value = strchr(word, '=');
    if (!value || (size_t)(value - word) >= sizeof key) {
        snprintf(error->text, sizeof error->text, "%s: not key=value", word);
        return VRAM_E_ARGUMENT;
    }
    memcpy(key, word, (size_t)(value - word));
    key[value - word] = 0;
    return vram_plan_set(plan, key, value + 1, error);
}

static void print(const vram_report *report)
{
    vram_report_view v = {.size = sizeof v};
    vram_report_get(report, &v);
    if (!v.peak_known)
        puts("the peak is unknown; what is exact:");
    else
        printf("%" PRIu64 " bytes of tensors, %" PRIu64 " on the device, in %s\n", v.allocated.expected,
               v.device.expected, v.peak_phase);
    for (size_t i = 0; i < vram_report_component_count(report); i++) {
        vram_report_component_view c = {.size = sizeof c};
        vram_report_component(report, i, &c);
        printf("%-12s parameters %" PRIu64 " gradients %" PRIu64 " optimizer %" PRIu64 " activations %" PRIu64 "\n",
               c.name, c.parameters, c.gradients, c.optimizer, c.activations);
    }
    for (size_t i = 0; i < vram_report_finding_count(report); i++) {
        vram_finding_view f = {.size = sizeof f};
        vram_report_finding(report, i, &f);
        printf("%s %s: %s\n", f.id, f.subject, f.text);
    }
}

int main(int argc, char **argv)
{
    vram_error error = {.code = VRAM_OK};
    vram_model *model = NULL;
    vram_plan *plan = NULL;
    vram_report *report = NULL;
    if (argc < 2) {
        fputs("usage: predict PATH [key=value]...\n", stderr);
        return 2;
    }
    int code = vram_model_open(&model, argv[1], NULL, &error);
    if (!code)
        code = vram_plan_create(&plan, &error);
    for (int i = 2; !code && i < argc; i++)
        code = set(plan, argv[i], &error);
    if (!code)
        code = vram_predict(&report, model, plan, &error);
    if (!code)
        print(report);
    else
        fprintf(stderr, "predict: %s%s%s\n", error.where, *error.where ? ": " : "", error.text);
    vram_report_free(report); /* before its model */
    vram_plan_free(plan);
    vram_model_free(model);
    return code ? 1 : 0;
}
