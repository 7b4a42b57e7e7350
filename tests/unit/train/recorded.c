/* SPDX-License-Identifier: Apache-2.0
 *
 *     recorded ROOT FILE    what strategies and optimizers allocate, against runs of the real ones
 *
 * FILE is zero.txt, ddp.txt or optimizers*.txt, made by record_*.py.  Compared are allocations of the
 * strategy and the optimizer in order, each run of deaths as a set; what is small, norms and
 * counters, is left out on both sides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "events.h"

enum { MAX_STORAGES = 8192 };

static const char *file;

struct writer {
    bool ddp;
    char text[1 << 16];
    size_t n;
    int number[MAX_STORAGES], freed[MAX_STORAGES];
    int made, nfreed;
    char phase[64];
    struct { uint64_t bytes; bool gradient, strategy; } live[MAX_STORAGES];
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->n += (size_t)vsnprintf(w->text + w->n, sizeof w->text - w->n, format, args);
    va_end(args);
    assert_true(w->n < sizeof w->text);
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void put_frees(struct writer *w)
{
    qsort(w->freed, (size_t)w->nfreed, sizeof *w->freed, ascending);
    for (int i = 0; i < w->nfreed; i++)
        put(w, " -%d", w->freed[i]);
    w->nfreed = 0;
}

/* Gradients beside the buckets. */
static void put_own(struct writer *w)
{
    uint64_t own = 0;
    const char *dot = strrchr(w->phase, '.');
    for (int i = 0; i < MAX_STORAGES; i++)
        if (w->live[i].gradient && !w->live[i].strategy)
            own += w->live[i].bytes;
    if (w->ddp && dot && !strcmp(dot, ".backward"))
        put(w, " own=%llu", (unsigned long long)own);
}

/* ZeRO 1 reduces behind the last backward: the engine does so in it.  The loss belongs to forward. */
static void at_phase(struct writer *w, const char *phase)
{
    static const char *const parts[] = {".synchronise", ".after", ".loss"};
    const char *dot = strrchr(phase, '.');
    for (size_t i = 0; dot && i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(dot, parts[i]))
            return;
    if (!strcmp(phase, w->phase))
        return;
    put_frees(w);
    put_own(w);
    snprintf(w->phase, sizeof w->phase, "%s", phase);
    put(w, "\n> %s", phase);
}

static bool of_interest(const struct writer *w, const struct event *e)
{
    if (w->ddp)
        return e->bytes >= 256 && !strcmp(e->op, "strategy");
    return e->bytes >= 64 && (!strcmp(e->op, "strategy") || !strcmp(e->op, "optimizer"));
}

/* Lines without a word are left out. */
static void squeeze(char *text)
{
    char *to = text;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (*line != '>' || !strchr(line + 2, ' '))
            continue;
        size_t n = strlen(line);
        memmove(to, line, n);
        to += n;
        *to++ = '\n';
    }
    *to = 0;
}

static void one_event(struct writer *w, const struct event *e, const char *last)
{
    if (e->alloc) {
        w->live[e->storage].bytes = e->bytes;
        w->live[e->storage].strategy = !strcmp(e->op, "strategy");
    }
    w->live[e->storage].gradient = !e->free && !strcmp(e->category, "gradients");
    if (e->alloc && of_interest(w, e)) {
        put_frees(w);
        w->number[e->storage] = ++w->made;
        put(w, " %d=%llu", w->made, (unsigned long long)e->bytes);
    } else if (e->free && w->number[e->storage] && strcmp(e->phase, last) != 0) {
        w->freed[w->nfreed++] = w->number[e->storage];
    }
}

static void compare(const char *settings, const char *expected, int *wrong)
{
    static struct writer w;
    struct run r;
    char all[1024];
    memset(&w, 0, sizeof w);
    w.ddp = strstr(settings, "strategy=ddp") != NULL;
    const char *model = strstr(settings, " model=");
    int n = model ? (int)(model - settings) : (int)strlen(settings);
    model = model ? model + 7 : "tiny-qwen3";
    snprintf(all, sizeof all, "%.*s attention=eager seq=%d%s", n, settings,
             strcmp(model, "tiny-qwen3") ? 32 : 16,
             w.ddp                           ? " steps=3"
             : strstr(settings, "strategy=") ? " steps=2 optimizer.foreach=on"
                                             : " steps=2 clip_grad=off");
    run_events(&r, model, all);
    for (size_t i = 0; i < r.n; i++) {
        assert_true(r.at[i].storage < MAX_STORAGES);
        at_phase(&w, r.at[i].phase);
        one_event(&w, &r.at[i], w.ddp ? "step3.after" : "step2.after");
    }
    put_frees(&w);
    squeeze(w.text);
    if (strcmp(w.text, expected) != 0) {
        ++*wrong;
        printf("%s\nhere:\n%sthe real one:\n%s\n", settings, w.text, expected);
    }
    run_free(&r);
}

static void recorded(void **state)
{
    static char text[1 << 19], expected[1 << 16];
    FILE *f = fopen(file, "rb");
    int cases = 0, wrong = 0;
    (void)state;
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    for (char *c = text; *c;) {
        char *header = c, *end = strchr(c, '\n');
        if (strncmp(c, "case ", 5) != 0) {
            c = end + 1;
            continue;
        }
        *end = 0;
        char *stop = strstr(end + 1, "\n\n");
        size_t n = stop ? (size_t)(stop - end) : strlen(end + 1);
        assert_in_range(n, 1, sizeof expected - 1);
        memcpy(expected, end + 1, n);
        expected[n] = 0;
        compare(header + 5, expected, &wrong);
        cases++;
        c = end + 1 + n;
    }
    printf("recorded runs: %d, wrong: %d\n", cases, wrong);
    assert_int_equal(wrong, 0);
    assert_true(cases >= 7);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded)};
    if (argc != 3)
        return 2;
    fixtures_root = argv[1];
    file = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
