/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes worth trying, a row each, from cheap to dear; see advice.h.  Whether one helps, and how
 * much, is never written here: it is tried.
 */
#include "advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Settings of the plan as it runs: given, of the model, or defaults. */
struct setup {
    const vram_report *report;
};

static const char *effective(const struct setup *s, const char *key)
{
    for (size_t i = 0; i < vram_report_setting_count(s->report); i++) {
        vram_report_setting_view v = {.size = sizeof v};
        vram_report_setting(s->report, i, &v);
        if (!strcmp(v.key, key))
            return v.value;
    }
    return "";
}

static long long number(const struct setup *s, const char *key)
{
    const char *text = effective(s, key);
    return *text ? strtoll(text, NULL, 10) : 1;
}

static void add(struct advice *a, const char *key, const char *format, long long value)
{
    if (a->n == ADVICE_CHANGES)
        return;
    a->keys[a->n] = key;
    snprintf(a->values[a->n++], ADVICE_VALUE, format, value);
}

/* ---- changes whose values depend on the plan ---- */

typedef bool make_fn(const struct setup *s, struct advice *a);

static bool training(const struct setup *s) { return strcmp(effective(s, "mode"), "infer") != 0; }

static bool halve_batch(const struct setup *s, struct advice *a)
{
    long long batch = number(s, "micro_batch");
    if (batch < 2 || batch % 2)
        return false;
    add(a, "micro_batch", "%lld", batch / 2);
    if (training(s))
        add(a, "accumulation", "%lld", number(s, "accumulation") * 2);
    return true;
}

static bool one_by_one(const struct setup *s, struct advice *a)
{
    long long batch = number(s, "micro_batch");
    if (batch < 3)
        return false;
    add(a, "micro_batch", "%lld", 1);
    if (training(s))
        add(a, "accumulation", "%lld", number(s, "accumulation") * batch);
    return true;
}

static bool halve_length(const struct setup *s, struct advice *a)
{
    long long seq = number(s, "seq");
    if (seq < 256)
        return false;
    add(a, "seq", "%lld", seq / 2);
    return true;
}

static bool sharded(const struct setup *s, struct advice *a)
{
    (void)a;
    return training(s) && number(s, "gpus") > 1;
}

static bool any(const struct setup *s, struct advice *a)
{
    (void)a;
    return training(s);
}

static bool inference(const struct setup *s, struct advice *a)
{
    (void)a;
    return !training(s);
}

static bool two_cards(const struct setup *s, struct advice *a)
{
    (void)a;
    return training(s) && number(s, "gpus") == 1;
}

struct row {
    make_fn *make; /* may the change be tried here?  fills in what depends on the plan */
    struct change fixed[3];
    const char *price;
};

static const struct row rows[] = {
    {any, {{"attention", "sdpa"}}, "nothing: a fused kernel with the same result"},
    {any, {{"loss", "chunked"}}, "little: logits in pieces, the same result; your trainer must have it"},
    {any, {{"kernels", "liger"}, {"loss", "liger"}}, "a package (liger-kernel); the same result"},
    {any, {{"optimizer", "adamw-fused"}}, "nothing: the fused form of AdamW"},
    {any, {{"optimizer", "paged-adamw-8bit"}}, "optimizer states in 8 bit, paged to the host when short"},
    {any, {{"optimizer", "adamw-8bit"}}, "optimizer states in 8 bit (bitsandbytes)"},
    {any, {{"optimizer", "adafactor"}}, "another optimizer: tune the learning rate again"},
    {halve_batch, {{NULL, NULL}}, "the same global batch in more, smaller passes"},
    {one_by_one, {{NULL, NULL}}, "the same global batch, one sequence at a time: slower"},
    {any, {{"checkpointing", "decoder"}}, "the decoder's forward runs twice: up to a third more time"},
    {any, {{"checkpointing", "all"}}, "forward runs twice: up to a third more time"},
    {sharded, {{"strategy", "zero2"}}, "gradients and states are sharded: DeepSpeed"},
    {sharded, {{"strategy", "zero3"}}, "weights are gathered layer by layer: more traffic"},
    {sharded, {{"strategy", "fsdp2"}}, "weights are gathered layer by layer: more traffic"},
    {two_cards, {{"gpus", "2"}, {"strategy", "zero3"}}, "a second card"},
    {two_cards, {{"gpus", "8"}, {"strategy", "zero3"}}, "seven more cards"},
    {sharded, {{"strategy", "zero3"}, {"offload", "optimizer"}}, "the optimizer runs on the CPU: slow steps, host memory"},
    {any, {{"train.vision", "frozen"}}, "the vision encoder stays as it is"},
    {any, {{"train", "lora"}}, "only adapters are trained"},
    {any, {{"train", "lora"}, {"weights", "nf4"}}, "only adapters are trained, on a 4-bit base"},
    {any, {{"precision", "bf16"}}, "weights and states in bf16 without fp32 copies"},
    {inference, {{"precision", "bf16"}}, "weights in bf16"},
    {inference, {{"weights", "int8"}}, "weights in 8 bit"},
    {inference, {{"weights", "nf4"}}, "weights in 4 bit"},
    {halve_length, {{NULL, NULL}}, "sequences of half the length"},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Row i as advice; false when it does not apply or changes nothing. */
static bool make(const struct setup *s, size_t i, struct advice *a)
{
    bool differs = false;
    *a = (struct advice){.price = {rows[i].price, NULL}, .rank = {i, SIZE_MAX}};
    if (!rows[i].make(s, a))
        return false;
    for (size_t k = 0; k < 3 && rows[i].fixed[k].key; k++) {
        a->keys[a->n] = rows[i].fixed[k].key;
        snprintf(a->values[a->n++], ADVICE_VALUE, "%s", rows[i].fixed[k].value);
    }
    for (size_t k = 0; k < a->n; k++)
        differs = differs || strcmp(effective(s, a->keys[k]), a->values[k]) != 0;
    return differs;
}

struct search {
    const vram_model *model;
    const vram_plan *plan;
    const char *gpu;
    uint64_t before;
    struct advice one[ROWS]; /* single changes that can be run; some help only beside another */
    size_t ones;
    struct advice *at;
    size_t n, most;
};

/* Tries the changes; false: out of memory. */
static bool attempt(struct search *s, struct advice *a)
{
    struct change changes[ADVICE_CHANGES];
    for (size_t k = 0; k < a->n; k++)
        changes[k] = (struct change){a->keys[k], a->values[k]};
    if (!trial_run(s->model, s->plan, s->gpu, changes, a->n, &a->trial))
        return false;
    if (a->trial.ran && a->trial.known && a->trial.device.expected < s->before)
        a->saved = s->before - a->trial.device.expected;
    return true;
}

static void keep(struct search *s, const struct advice *a)
{
    if (s->n < s->most)
        s->at[s->n++] = *a;
}

/* Both changes; false when they speak of the same setting. */
static bool join(const struct advice *a, const struct advice *b, struct advice *out)
{
    if (a->n + b->n > ADVICE_CHANGES)
        return false;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            if (!strcmp(a->keys[i], b->keys[k]) ||
                (!strncmp(a->keys[i], "train", 5) && !strncmp(b->keys[k], "train", 5)))
                return false;
    *out = *a;
    out->saved = 0;
    out->price[1] = b->price[0];
    out->rank[1] = b->rank[0];
    for (size_t k = 0; k < b->n; k++) {
        out->keys[out->n] = b->keys[k];
        memcpy(out->values[out->n++], b->values[k], ADVICE_VALUE);
    }
    return true;
}

static bool try_pairs(struct search *s)
{
    for (size_t i = 0; i < s->ones; i++)
        for (size_t k = i + 1; k < s->ones; k++) {
            struct advice both;
            const struct advice *a = &s->one[i], *b = &s->one[k];
            if (!join(a, b, &both))
                continue;
            if (!attempt(s, &both))
                return false;
            if (both.saved > (a->saved > b->saved ? a->saved : b->saved))
                keep(s, &both); /* else the second change adds nothing */
        }
    return true;
}

static bool try_singles(struct search *s, const struct setup *setup)
{
    struct advice a;
    for (size_t i = 0; i < ROWS; i++) {
        if (!make(setup, i, &a))
            continue;
        if (!attempt(s, &a))
            return false;
        if (a.trial.ran && a.trial.known)
            s->one[s->ones++] = a;
        if (a.saved)
            keep(s, &a);
    }
    return true;
}

static int by_saved(const void *a, const void *b)
{
    const struct advice *x = a, *y = b;
    if (x->saved != y->saved)
        return x->saved < y->saved ? 1 : -1;
    if (x->rank[0] != y->rank[0])
        return x->rank[0] < y->rank[0] ? -1 : 1;
    return x->rank[1] < y->rank[1] ? -1 : x->rank[1] > y->rank[1];
}

static bool try_all(struct search *s, bool pairs)
{
    vram_report *report = NULL;
    vram_plan *plan = NULL;
    bool ok = !vram_plan_copy(&plan, s->plan, NULL) &&
              (!s->gpu || !vram_plan_set(plan, "gpu", s->gpu, NULL)) &&
              !vram_predict(&report, s->model, plan, NULL);
    if (ok) {
        struct setup setup = {report};
        vram_report_view v = {.size = sizeof v};
        vram_report_get(report, &v);
        s->before = v.device.expected;
        ok = try_singles(s, &setup) && (!pairs || try_pairs(s));
    }
    vram_report_free(report);
    vram_plan_free(plan);
    return ok;
}

size_t advice_find(const vram_model *model, const vram_plan *plan, const char *gpu, bool pairs,
                   struct advice *out, size_t most)
{
    struct search s = {.model = model, .plan = plan, .gpu = gpu, .at = out, .most = most};
    if (!try_all(&s, pairs))
        return SIZE_MAX;
    qsort(out, s.n, sizeof *out, by_saved);
    return s.n;
}

/* Fewer and cheaper changes first. */
static int by_price(const void *a, const void *b)
{
    const struct advice *x = a, *y = b;
    bool two_x = x->price[1], two_y = y->price[1];
    if (two_x != two_y)
        return two_x ? 1 : -1;
    size_t dear_x = two_x && x->rank[1] > x->rank[0] ? x->rank[1] : x->rank[0];
    size_t dear_y = two_y && y->rank[1] > y->rank[0] ? y->rank[1] : y->rank[0];
    return dear_x != dear_y ? (dear_x < dear_y ? -1 : 1) : by_saved(a, b);
}

size_t advice_passing(struct advice *at, size_t n, enum require require)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (trial_passes(&at[i].trial, require)) {
            struct advice a = at[i];
            at[i] = at[kept];
            at[kept++] = a;
        }
    qsort(at, kept, sizeof *at, by_price);
    return kept;
}

const char *advice_words(const struct advice *a, char out[ADVICE_CHANGES * 64])
{
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < a->n; i++)
        used += (size_t)snprintf(out + used, ADVICE_CHANGES * 64 - used, "%s%s=%s", i ? " " : "",
                                 a->keys[i], a->values[i]);
    return out;
}
