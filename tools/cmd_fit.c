/* SPDX-License-Identifier: Apache-2.0
 *
 * vramcast fit: how much of a setting a card takes, how many cards a plan needs, which cards hold it,
 * and what would save memory.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output/fit.h"

struct fit {
    const struct cli_args *args;
    const struct cli_input *input;
    const struct gpu_list *gpus;
    enum require require;
    struct fit_limit limits[TRIAL_GPUS];
    struct fit_card *cards;
    struct advice *advice;
    struct fitted out;
};

static const char *key_name(size_t i, const void *ctx)
{
    (void)ctx;
    return limit_key(i);
}

/* What is searched for: --max KEY, --min gpus, or --max micro_batch where nothing else was asked. */
static int wanted(const struct fit *f, struct limit *l)
{
    const char *max = f->args->option[CLI_MAX], *min = f->args->option[CLI_MIN];
    const char *batch = f->args->option[CLI_GLOBAL_BATCH];
    if (max && min)
        return cli_fail(CLI_USAGE, "--max or --min, not both");
    if (min && strcmp(min, "gpus") != 0)
        return cli_fail(CLI_USAGE, "--min %s: gpus", min);
    *l = (struct limit){.key = min ? min : max ? max : "micro_batch", .least = min, .step = 1};
    size_t i = 0;
    while (!min && limit_key(i) && strcmp(limit_key(i), l->key) != 0)
        i++;
    if (!min && !limit_key(i) && strncmp(l->key, "dim.", 4) != 0) {
        const char *near = cli_nearest(l->key, key_name, NULL);
        return cli_fail(CLI_USAGE, "--max %s: not a setting that is searched for%s%s%s", l->key,
                        near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    if (batch) {
        char *end;
        l->global_batch = strtoll(batch, &end, 10);
        if (*end || l->global_batch < 1 || l->global_batch > 1 << 24)
            return cli_fail(CLI_USAGE, "--global-batch %s: a number from 1 to %d", batch, 1 << 24);
        if (strcmp(l->key, "micro_batch") != 0 && strcmp(l->key, "gpus") != 0)
            return cli_fail(CLI_USAGE, "--global-batch goes with micro_batch or gpus");
    }
    if (!strcmp(l->key, "image_size") && !(l->step = limit_image_step(f->input->model)))
        return cli_fail(CLI_UNKNOWN, "image_size: the size of this model's patches is not known");
    return CLI_DONE;
}

static int find_limits(struct fit *f)
{
    struct limit l;
    int code = wanted(f, &l);
    for (size_t i = 0; !code && i < f->gpus->n; i++) {
        f->limits[i] = (struct fit_limit){f->gpus->names[i], l};
        struct limit *found = &f->limits[i].limit;
        if (!limit_find(f->input->model, f->input->plan, f->gpus->names[i], f->require, found))
            return cli_fail(CLI_SYSTEM, "out of memory");
        if (!found->found && !found->at.ran && found->at.error.code)
            return cli_fail_run(f->input, &found->at.error);
    }
    f->out.limits = f->limits;
    f->out.nlimits = code ? 0 : f->gpus->n;
    return code;
}

static int find_cards(struct fit *f)
{
    struct card all[MOST_CARDS];
    size_t n = cards_list(all), kept = 0;
    f->cards = calloc(n + 1, sizeof *f->cards);
    if (!f->cards)
        return cli_fail(CLI_SYSTEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        struct fit_card c = {.card = all[i]};
        if (!trial_run(f->input->model, f->input->plan, all[i].name, NULL, 0, &c.trial))
            return cli_fail(CLI_SYSTEM, "out of memory");
        if (!c.trial.ran)
            return cli_fail_run(f->input, &c.trial.error);
        if (trial_passes(&c.trial, f->require))
            f->cards[kept++] = c;
    }
    f->out.cards = f->cards;
    f->out.ncards = kept;
    f->out.listed = true;
    return CLI_DONE;
}

static int find_advice(struct fit *f)
{
    f->advice = calloc(ADVICE_MOST, sizeof *f->advice);
    size_t n = f->advice ? advice_find(f->input->model, f->input->plan, f->gpus->names[0], true,
                                       f->advice, ADVICE_MOST)
                         : SIZE_MAX;
    if (n == SIZE_MAX)
        return cli_fail(CLI_SYSTEM, "out of memory");
    f->out.advice = f->advice;
    f->out.nadvice = n;
    f->out.advised = f->gpus->names[0];
    return CLI_DONE;
}

/* Nothing fits: 1; the peak is unknown: 4. */
static int exit_of(const struct fit *f)
{
    int code = CLI_DONE;
    for (size_t i = 0; i < f->out.nlimits; i++) {
        const struct limit *l = &f->limits[i].limit;
        if (!l->found)
            code = l->at.ran && !l->at.known ? CLI_UNKNOWN : CLI_NO;
    }
    return f->out.listed && !f->out.ncards ? CLI_NO : code;
}

static int answer(struct fit *f, bool json)
{
    bool cards = f->args->option[CLI_CARDS], advice = f->args->option[CLI_ADVICE];
    struct page page;
    int code = CLI_DONE;
    if ((!cards && !advice) || f->args->option[CLI_MAX] || f->args->option[CLI_MIN])
        code = find_limits(f);
    if (!code && cards)
        code = find_cards(f);
    if (!code && advice)
        code = find_advice(f);
    if (!code)
        code = page_open(&page, f->args->option[CLI_OUTPUT]);
    if (!code) {
        (json ? fit_json : fit_text)(&page, &f->out);
        code = page_close(&page, exit_of(f));
    }
    free(f->cards);
    free(f->advice);
    return code;
}

static int run(const struct cli_args *given)
{
    struct cli_args args = *given;
    struct gpu_list gpus;
    struct cli_input input = {.path = NULL};
    struct fit f = {.args = &args, .input = &input, .gpus = &gpus};
    bool json;
    int code = cli_text_or_json(&args, &json);
    if (!code)
        code = trial_require(args.option[CLI_REQUIRE], &f.require);
    if (!code)
        code = trial_gpus(&args, &gpus);
    if (code)
        return code;
    code = cli_open(&input, &args, 1);
    if (!code && !gpus.n && vram_plan_get(input.plan, "gpu"))
        gpus = (struct gpu_list){.names = {vram_plan_get(input.plan, "gpu")}, .n = 1};
    if (!code && !gpus.n && (!args.option[CLI_CARDS] || args.option[CLI_ADVICE]))
        code = cli_fail(CLI_USAGE, "which card? gpu=NAME or gpu=A,B; --cards lists those that fit");
    f.out.path = input.path;
    f.out.require = f.require;
    if (!code)
        code = answer(&f, json);
    cli_close(&input);
    return code;
}

static const struct cli_option options[] = {
    {CLI_MAX, "max", 0, "KEY", "the largest value of a setting that fits (default: micro_batch)"},
    {CLI_MIN, "min", 0, "KEY", "gpus: the fewest cards"},
    {CLI_CARDS, "cards", 0, NULL, "the known cards that hold the plan as it is"},
    {CLI_ADVICE, "advice", 0, NULL, "changes that would save memory, and their price"},
    {CLI_GLOBAL_BATCH, "global-batch", 0, "N",
     "micro_batch x accumulation x gpus stays N: accumulation follows"},
    CLI_ROW_REQUIRE,
    CLI_ROW_FORMAT,
    CLI_ROW_OUTPUT,
    CLI_ROW_PLAN,
    CLI_ROW_SETTINGS,
    CLI_ROW_TEMPLATES,
    CLI_ROW_HELP,
    CLI_ROW_END};

const struct cli_command cli_fit = {
    "fit", "PATH gpu=NAME[,NAME]... [key=value]...",
    "what would fit: the largest batch, length, images; the fewest cards; which cards",
    "KEY is micro_batch, seq, text_tokens, images, image_size, tiles, frames,\n"
    "lora.rank, new_tokens, kv_tokens or dim.NAME of an ONNX graph. The value that is\n"
    "printed was tried, and the next one too. Exit codes: 0 found, 1 nothing fits,\n"
    "4 the peak is unknown.\n",
    options, run};
