/* SPDX-License-Identifier: Apache-2.0
 *
 * Many predictions of one opened model at once: sweep PATH THREADS SEQ...
 *
 * A line for every length, in the order given, whatever the number of threads: the model is shared, every
 * prediction has a plan of its own.
 *
 *     cc sweep.c $(pkg-config --cflags --libs vramcast) -pthread -o sweep
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <vram/vram.h>

struct sweep {
    const vram_model *model;
    char **lengths;
    struct answer {
        int code;
        uint64_t bytes;
        char text[384];
    } *answers;
    size_t n, next;
    pthread_mutex_t lock;
};

static void predict(const vram_model *model, const char *length, struct answer *answer)
{
    vram_error error;
    vram_plan *plan = NULL;
    vram_report *report = NULL;
    int code = vram_plan_create(&plan, &error);
    if (!code)
        code = vram_plan_set(plan, "seq", length, &error);
    if (!code)
        code = vram_predict(&report, model, plan, &error);
    answer->code = code;
    if (code) {
        snprintf(answer->text, sizeof answer->text, "%s", error.text);
    } else {
        vram_report_view v = {.size = sizeof v};
        vram_report_get(report, &v);
        answer->bytes = v.allocated.expected;
    }
    vram_report_free(report);
    vram_plan_free(plan);
}

static void *work(void *arg)
{
    struct sweep *s = arg;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        size_t i = s->next++;
        pthread_mutex_unlock(&s->lock);
        if (i >= s->n)
            return NULL;
        predict(s->model, s->lengths[i], &s->answers[i]);
    }
}

static int run(struct sweep *s, size_t threads)
{
    pthread_t *ids = calloc(threads, sizeof *ids);
    size_t started = 0;
    int bad = 0;
    s->answers = calloc(s->n, sizeof *s->answers);
    if (!ids || !s->answers) {
        fputs("sweep: out of memory\n", stderr);
        free(ids);
        return 1;
    }
    while (started < threads && !pthread_create(&ids[started], NULL, work, s))
        started++;
    if (!started)
        work(s);
    for (size_t i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    for (size_t i = 0; i < s->n; i++) {
        const struct answer *a = &s->answers[i];
        bad |= a->code != VRAM_OK;
        if (a->code)
            printf("seq=%s %s\n", s->lengths[i], a->text);
        else
            printf("seq=%s %" PRIu64 "\n", s->lengths[i], a->bytes);
    }
    free(ids);
    return bad;
}

int main(int argc, char **argv)
{
    vram_error error;
    vram_model *model = NULL;
    long threads = argc > 3 ? strtol(argv[2], NULL, 10) : 0;
    if (threads < 1 || threads > 1024) {
        fputs("usage: sweep PATH THREADS SEQ...\n", stderr);
        return 2;
    }
    if (vram_model_open(&model, argv[1], NULL, &error)) {
        fprintf(stderr, "sweep: %s: %s\n", error.where, error.text);
        return 1;
    }
    struct sweep s = {.model = model, .lengths = argv + 3, .n = (size_t)argc - 3};
    pthread_mutex_init(&s.lock, NULL);
    int bad = run(&s, (size_t)threads);
    pthread_mutex_destroy(&s.lock);
    free(s.answers);
    vram_model_free(model);
    return bad;
}
