/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the dump of a run's events; see events.h.
 */
#include "events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char *fixtures_root = ".";

vram_model *open_config(const char *name)
{
    char path[1024];
    vram_model *model = NULL;
    vram_error e;
    snprintf(path, sizeof path, "%s/fixtures/%s%s", fixtures_root,
             strchr(name, '/') ? "" : "configs/", name);
    if (vram_model_open(&model, path, NULL, &e))
        fail_msg("%s: %s %s", path, e.where, e.text);
    return model;
}

vram_plan *plan_of(const char *settings)
{
    char text[1024], *rest = text;
    vram_plan *plan = NULL;
    vram_error e;
    assert_in_range(strlen(settings), 0, sizeof text - 1);
    memcpy(text, settings, strlen(settings) + 1);
    assert_int_equal(vram_plan_create(&plan, &e), 0);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value++ = 0;
        if (vram_plan_set(plan, word, value, &e))
            fail_msg("%s=%s: %s", word, value, e.text);
    }
    return plan;
}

static void copy(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from); }

/* alloc ID BYTES CATEGORY MODULE OP [param=...] */
static void read_alloc(struct event *e, char *line)
{
    char *rest = line, *words[6] = {0};
    for (int i = 0; i < 6 && (words[i] = strtok_r(rest, " ", &rest)) != NULL; i++)
        continue;
    assert_non_null(words[5]);
    e->alloc = true;
    e->storage = (uint32_t)strtoul(words[1], NULL, 10);
    e->bytes = strtoull(words[2], NULL, 10);
    copy(e->category, sizeof e->category, words[3]);
    copy(e->module, sizeof e->module, words[4]);
    copy(e->op, sizeof e->op, words[5]);
    for (char *w; (w = strtok_r(rest, " ", &rest)) != NULL;)
        if (!strncmp(w, "param=", 6))
            copy(e->param, sizeof e->param, w + 6);
}

static void read_events(struct run *r)
{
    size_t lines = 0;
    const char *phase = "";
    for (size_t i = 0; i < r->text.n; i++)
        lines += r->text.at[i] == '\n';
    r->at = calloc(lines + 1, sizeof *r->at);
    assert_non_null(r->at);
    r->text.at[r->text.n - 1] = 0;
    char *rest = r->text.at;
    for (char *line; (line = strtok_r(rest, "\n", &rest)) != NULL;) {
        struct event *e = &r->at[r->n];
        if (!strncmp(line, "phase ", 6)) {
            phase = line + 6;
            continue;
        }
        if (!strncmp(line, "alloc ", 6)) {
            read_alloc(e, line);
        } else if (!strncmp(line, "free ", 5)) {
            e->free = true;
            e->storage = (uint32_t)strtoul(line + 5, NULL, 10);
        } else {
            char *category = strrchr(line, ' ') + 1;
            assert_int_equal(strncmp(line, "category ", 9), 0);
            e->storage = (uint32_t)strtoul(line + 9, NULL, 10);
            copy(e->category, sizeof e->category, category);
        }
        e->phase = phase;
        r->n++;
    }
}

void run_events(struct run *r, const char *config, const char *settings)
{
    vram_error e;
    memset(r, 0, sizeof *r);
    r->model = open_config(config);
    r->plan = plan_of(settings);
    if (vram_dump(r->model, r->plan, "events", vram_text_memory_write, &r->text, &e))
        fail_msg("%s, %s: %s %s", config, settings, e.where, e.text);
    read_events(r);
}

void run_free(struct run *r)
{
    vram_plan_free(r->plan);
    vram_model_free(r->model);
    free(r->text.at);
    free(r->at);
}

size_t phase_end(const struct run *r, const char *phase)
{
    size_t end = 0;
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->at[i].phase, phase))
            end = i + 1;
    return end;
}

uint64_t live(const struct run *r, size_t until, const char *category, const char *op)
{
    struct { uint64_t bytes; bool alive, right, made; } *s;
    uint64_t sum = 0;
    s = calloc(r->n + 1, sizeof *s);
    assert_non_null(s);
    for (size_t i = 0; i < until; i++) {
        const struct event *e = &r->at[i];
        if (e->alloc) {
            s[e->storage].bytes = e->bytes;
            s[e->storage].made = !op || !strcmp(e->op, op);
        }
        s[e->storage].alive = !e->free;
        if (!e->free)
            s[e->storage].right = !category || !strcmp(e->category, category);
    }
    for (size_t i = 0; i < r->n; i++)
        if (s[i].alive && s[i].right && s[i].made)
            sum += s[i].bytes;
    free(s);
    return sum;
}

uint64_t allocated(const struct run *r, const char *phase, const char *op)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->at[i].alloc && !strcmp(r->at[i].phase, phase) && !strcmp(r->at[i].op, op))
            sum += r->at[i].bytes;
    return sum;
}
