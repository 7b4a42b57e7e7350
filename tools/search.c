/* SPDX-License-Identifier: Apache-2.0
 *
 * Searching for limits; see search.h.
 */
#include "search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Settings of which more takes more memory, and the most that is asked for. */
static const struct { const char *key; int64_t most; } keys[] = {
    {"micro_batch", 1 << 20}, {"seq", 1 << 24},        {"text_tokens", 1 << 24},
    {"images", 1 << 16},      {"image_size", 1 << 16}, {"tiles", 4096},
    {"frames", 1 << 16},      {"lora.rank", 1 << 16},  {"new_tokens", 1 << 24},
    {"kv_tokens", 1 << 24},   {"gpus", 1 << 16}};
enum { KEYS = sizeof keys / sizeof *keys };

const char *limit_key(size_t i) { return i + 1 < KEYS ? keys[i].key : NULL; /* not gpus */ }

static int64_t most_of(const char *key)
{
    if (!strncmp(key, "dim.", 4))
        return 1 << 24;
    for (size_t i = 0; i < KEYS; i++)
        if (!strcmp(keys[i].key, key))
            return keys[i].most;
    return 1;
}

static int64_t config_number(const vram_model *model, const char *key)
{
    for (size_t i = 0; i < vram_model_config_count(model); i++) {
        vram_config_view v = {.size = sizeof v};
        vram_model_config(model, i, &v);
        if (!strcmp(v.key, key))
            return strtoll(v.value, NULL, 10);
    }
    return 0;
}

/* A picture is cut into patches, and some models merge squares of them. */
int64_t limit_image_step(const vram_model *model)
{
    int64_t patch = config_number(model, "vision_config.patch_size");
    int64_t merge = config_number(model, "vision_config.spatial_merge_size");
    patch = patch > 0 ? patch : config_number(model, "patch_size");
    merge = merge > 0 ? merge : config_number(model, "spatial_merge_size");
    return patch <= 0 || patch > 4096 || merge > 64 ? 0 : patch * (merge > 0 ? merge : 1);
}

struct search {
    const vram_model *model;
    const vram_plan *plan;
    const char *gpu;
    enum require require;
    struct limit *limit;
    bool memory; /* ran out of it */
};

static int64_t given(const vram_plan *plan, const char *key)
{
    const char *text = vram_plan_get(plan, key);
    return text ? strtoll(text, NULL, 10) : 1;
}

/* The plan with the value.  A global batch that it does not divide cannot be kept. */
static bool passes(struct search *s, int64_t value, struct trial *out)
{
    const struct limit *l = s->limit;
    char text[24], accumulation[24];
    struct change changes[2] = {{l->key, text}, {"accumulation", accumulation}};
    size_t n = 1;
    snprintf(text, sizeof text, "%" PRId64, value);
    if (l->global_batch) {
        bool gpus = !strcmp(l->key, "gpus");
        int64_t at_once = value * given(s->plan, gpus ? "micro_batch" : "gpus");
        *out = (struct trial){.verdict = VRAM_CANNOT_TELL};
        if (at_once > l->global_batch || l->global_batch % at_once)
            return false;
        snprintf(accumulation, sizeof accumulation, "%" PRId64, l->global_batch / at_once);
        n = 2;
    }
    if (!trial_run(s->model, s->plan, s->gpu, changes, n, out))
        s->memory = true;
    return trial_passes(out, s->require);
}

/* good passes and bad does not (least: the other way round); both in steps. */
static void bisect(struct search *s, int64_t good, int64_t bad)
{
    struct limit *l = s->limit;
    while ((good > bad ? good - bad : bad - good) > 1 && !s->memory) {
        int64_t middle = good + (bad - good) / 2;
        struct trial t;
        if (passes(s, middle * l->step, &t)) {
            good = middle;
            l->at = t;
        } else {
            bad = middle;
            l->beyond = t;
        }
    }
    l->found = true;
    l->value = good * l->step;
    l->next = bad * l->step;
    l->ended = true;
}

static void find_most(struct search *s)
{
    struct limit *l = s->limit;
    int64_t cap = most_of(l->key) / l->step, good = 1, bad;
    if (!passes(s, l->step, &l->at))
        return;
    for (bad = 2; bad <= cap && !s->memory; bad *= 2) {
        struct trial t;
        if (!passes(s, bad * l->step, &t)) {
            l->beyond = t;
            bisect(s, good, bad);
            return;
        }
        good = bad;
        l->at = t;
    }
    l->found = true; /* as much as there may be */
    l->value = good * l->step;
}

static void find_least(struct search *s)
{
    struct limit *l = s->limit;
    int64_t cap = most_of(l->key), bad = 0;
    for (int64_t good = 1; good <= cap && !s->memory; good *= 2) {
        struct trial t;
        bool ok = passes(s, good, &t);
        l->at = t;
        if (ok && good == 1) {
            l->found = true;
            l->value = 1;
            return;
        }
        if (ok) {
            bisect(s, good, bad);
            return;
        }
        l->beyond = t;
        bad = good;
    }
}

/* With a global batch only its divisors count, so that all of them are tried. */
static void find_divisor(struct search *s)
{
    struct limit *l = s->limit;
    int64_t cap = most_of(l->key) < l->global_batch ? most_of(l->key) : l->global_batch;
    for (int64_t i = 1; i <= cap && !s->memory; i++) {
        struct trial t;
        if (l->global_batch % i)
            continue;
        bool ok = passes(s, i, &t);
        if (ok || !l->found)
            l->at = t;
        if (ok) {
            l->found = true;
            l->value = i;
            if (l->least)
                return;
        } else if (l->found && t.ran) {
            l->ended = true;
            l->next = i;
            l->beyond = t;
            return;
        }
    }
}

bool limit_find(const vram_model *model, const vram_plan *plan, const char *gpu, enum require require,
                struct limit *limit)
{
    struct search s = {model, plan, gpu, require, limit, false};
    if (limit->global_batch)
        find_divisor(&s);
    else if (limit->least)
        find_least(&s);
    else
        find_most(&s);
    return !s.memory;
}
