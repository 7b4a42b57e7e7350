/* SPDX-License-Identifier: Apache-2.0
 *
 * vramcast scan: every model of a tree, or of a list, a record each.
 *
 * One thread finds paths, some make records, the main one writes them in the order of the paths.  They
 * share a ring of jobs; nobody runs further ahead than it is long.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "resume.h"
#include "scan.h"

enum { MOST_JOBS = 256, AHEAD = 16 /* jobs of a thread */, PATHS = 4096, STOPPED = 130 };

enum state { FREE, FOUND, TAKEN, MADE, KEPT /* a record of it is there already */ };

struct job {
    enum state state;
    char *path;
    int trouble;
    char stamp[20];
    struct record record;
};

struct scan {
    const struct cli_args *args;
    const vram_plan *plan;
    vram_open_options options;
    char settings[8192]; /* all that decides an answer beside the files, for stamps */
    const char *roots[PATHS];
    size_t nroots;
    uint64_t shard, shards; /* 1-based */
    struct resume *resume;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *ring;
    size_t size;
    uint64_t found, taken, written; /* jobs ever */
    bool ended;                     /* no more paths */
    bool memory;                    /* ran out of it */
    _Atomic uint64_t total;         /* paths there are, once they are counted */
};

static atomic_int stopped;
static void stop(int signal) { stopped = signal; }

/* ---- finding paths --------------------------------------------------------------------------- */

/* By the path alone: shards of one list never overlap, however it grows. */
static bool in_shard(const struct scan *s, const char *path)
{
    uint64_t h = 14695981039346656037u;
    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * 1099511628211u;
    return (h ^ h >> 32) % s->shards == s->shard - 1;
}

/* Hands a path on; false: the scan is over.  What has not changed since the last time is not made
 * again. */
static bool found(struct scan *s, const char *path, int trouble)
{
    struct job job = {.state = FOUND, .path = strdup(path), .trouble = trouble};
    bool memory = !job.path;
    record_stamp(path, s->settings, job.stamp);
    pthread_mutex_lock(&s->lock);
    while (s->found - s->written == s->size && !stopped && !s->memory)
        pthread_cond_wait(&s->changed, &s->lock);
    if (s->resume && !memory && !stopped && resume_has(s->resume, path, job.stamp, &memory))
        job.state = KEPT;
    s->memory = s->memory || memory;
    bool on = !stopped && !s->memory;
    if (on) {
        s->ring[s->found++ % s->size] = job;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    if (!on)
        free(job.path);
    return on;
}

static void find_in_list(struct scan *s)
{
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, stdin)) > 0;) {
        while (n && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            line[--n] = 0;
        if (n && in_shard(s, line) && !found(s, line, 0))
            break;
    }
    free(line);
}

static void find_in_trees(struct scan *s)
{
    struct walk *w = walk_open(s->roots, s->nroots);
    const char *path;
    int trouble;
    bool memory = !w;
    while (w && (path = walk_next(w, &trouble, &memory)))
        if (in_shard(s, path) && !found(s, path, trouble))
            break;
    walk_close(w);
    if (memory) {
        pthread_mutex_lock(&s->lock);
        s->memory = true;
        pthread_mutex_unlock(&s->lock);
    }
}

static void *finder(void *scan)
{
    struct scan *s = scan;
    if (s->args->option[CLI_STDIN])
        find_in_list(s);
    else
        find_in_trees(s);
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* For the time that is left, on a terminal: a second walk that only counts. */
static void *counter(void *scan)
{
    struct scan *s = scan;
    struct walk *w = walk_open(s->roots, s->nroots);
    const char *path;
    uint64_t n = 0;
    int trouble;
    bool memory;
    while (w && !stopped && (path = walk_next(w, &trouble, &memory)))
        n += in_shard(s, path);
    walk_close(w);
    pthread_mutex_lock(&s->lock);
    s->total = n;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- making records -------------------------------------------------------------------------- */

static void *worker(void *scan)
{
    struct scan *s = scan;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->taken == s->found && !s->ended && !s->memory && !stopped)
            pthread_cond_wait(&s->changed, &s->lock);
        if (s->taken == s->found || s->memory || stopped)
            break;
        if (s->taken < s->written) /* the writer has passed jobs that were kept */
            s->taken = s->written;
        struct job *job = &s->ring[s->taken % s->size];
        if (s->taken == s->found)
            continue;
        s->taken++;
        if (job->state != FOUND)
            continue;
        job->state = TAKEN;
        pthread_mutex_unlock(&s->lock);
        bool ok = record_make(&job->record, job->path, job->trouble, s->plan, &s->options, job->stamp);
        pthread_mutex_lock(&s->lock);
        job->state = MADE;
        s->memory = s->memory || !ok;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct progress {
    bool on;
    double begun, shown;
};

static void show(struct progress *p, const struct scan *s, uint64_t done, bool last)
{
    double now = seconds(), rate;
    if (!p->on || (!last && now - p->shown < 0.2))
        return;
    p->shown = now;
    rate = (double)done / (now - p->begun + 1e-9);
    if (s->total >= done && s->total && !last && rate > 0) {
        uint64_t left = (uint64_t)((double)(s->total - done) / rate);
        unsigned filled = (unsigned)(20 * done / s->total);
        fprintf(stderr, "\r[%.*s%.*s] %llu of %llu  %.0f/s  %llu:%02llu left \033[K", (int)filled,
                "####################", (int)(20 - filled), "....................",
                (unsigned long long)done, (unsigned long long)s->total, rate,
                (unsigned long long)(left / 60), (unsigned long long)(left % 60));
    } else {
        fprintf(stderr, "\r%llu models  %.0f/s \033[K%s", (unsigned long long)done, rate, last ? "\n" : "");
    }
}

/* Takes the next job in order when it is done; false: nothing more will be.  Wakes up now and then for
 * the progress and for Ctrl-C. */
static bool next(struct scan *s, struct job *out, struct progress *p)
{
    bool got = false;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        struct job *head = &s->ring[s->written % s->size];
        bool any = s->written < s->found;
        if (any && (head->state == MADE || head->state == KEPT)) {
            *out = *head;
            head->state = FREE;
            got = true;
            break;
        }
        if (stopped || s->memory || (!any && s->ended))
            break;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&s->changed, &s->lock, &until);
        show(p, s, s->written, false);
    }
    pthread_mutex_unlock(&s->lock);
    return got;
}

static void behind(struct scan *s)
{
    pthread_mutex_lock(&s->lock);
    s->written++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* An enum cli_exit, with the error printed. */
static int write_all(struct scan *s, const struct scan_output_row *row, struct scan_output *out)
{
    struct progress p = {isatty(2) && !s->args->option[CLI_STDIN], seconds(), 0};
    struct job job;
    bool ok = true;
    while (ok && next(s, &job, &p)) {
        if (job.state == MADE) {
            ok = row->write(out, &job.record);
            if (ok && s->resume) {
                pthread_mutex_lock(&s->lock);
                ok = resume_wrote(s->resume, job.path);
                pthread_mutex_unlock(&s->lock);
            }
        }
        free(job.path);
        behind(s);
        show(&p, s, s->written, false);
    }
    int trouble = errno;
    show(&p, s, s->written, true);
    if (!ok && !stopped)
        stopped = SIGPIPE; /* the others end, too */
    pthread_cond_broadcast(&s->changed);
    if (!ok)
        return cli_fail(CLI_SYSTEM, "the records cannot be written: %s", strerror(trouble));
    return s->memory ? cli_fail(CLI_SYSTEM, "out of memory") : CLI_DONE;
}

/* ---- threads ----------------------------------------------------------------------------------- */

static size_t jobs_of(const struct cli_args *args)
{
    long n = args->option[CLI_JOBS] ? strtol(args->option[CLI_JOBS], NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_JOBS ? MOST_JOBS : (size_t)n;
}

static int scan(struct scan *s, const struct scan_output_row *row, struct scan_output *out)
{
    pthread_t threads[MOST_JOBS + 2];
    size_t jobs = jobs_of(s->args), n = 0;
    bool listed = s->args->option[CLI_STDIN];
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    s->size = AHEAD * jobs;
    s->ring = calloc(s->size, sizeof *s->ring);
    if (!s->ring)
        return cli_fail(CLI_SYSTEM, "out of memory");
    bool ok = !pthread_create(&threads[n], NULL, finder, s) && ++n;
    for (size_t i = 0; ok && i < jobs; i++)
        ok = !pthread_create(&threads[n], NULL, worker, s) && ++n;
    if (ok && isatty(2) && !listed)
        n += !pthread_create(&threads[n], NULL, counter, s);
    if (!ok)
        stopped = SIGTERM;
    int code = write_all(s, row, out);
    if (!ok)
        code = cli_fail(CLI_SYSTEM, "no thread can be started");
    pthread_mutex_lock(&s->lock);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = listed && stopped ? 1 : 0; i < n; i++) /* a reader of a pipe that is open waits on */
        pthread_join(threads[i], NULL);
    for (size_t i = 0; !(listed && stopped) && i < s->size; i++)
        if (s->ring[i].state != FREE)
            free(s->ring[i].path);
    if (!(listed && stopped))
        free(s->ring);
    return code ? code : stopped ? STOPPED : CLI_DONE;
}

/* ---- the command --------------------------------------------------------------------------------- */

static int find_output(const struct cli_args *args, const struct scan_output_row **out)
{
    const char *name = args->option[CLI_FORMAT] ? args->option[CLI_FORMAT] : "jsonl";
    for (*out = scan_outputs; (*out)->name; ++*out)
        if (!strcmp((*out)->name, name))
            break;
    if (!(*out)->name)
        return cli_fail(CLI_USAGE, "--format %s: jsonl, csv, md, html%s", name,
                        strcmp(name, "sqlite") ? " or sqlite" : "; this program was built without sqlite");
    if ((*out)->file && !args->option[CLI_OUTPUT])
        return cli_fail(CLI_USAGE, "--format %s needs --output FILE", name);
    if (args->option[CLI_RESUME] && (strcmp(name, "jsonl") != 0 || !args->option[CLI_OUTPUT]))
        return cli_fail(CLI_USAGE, "--resume goes on with a jsonl file: it needs --output FILE");
    return CLI_DONE;
}

static int read_shard(const struct cli_args *args, struct scan *s)
{
    const char *text = args->option[CLI_SHARD];
    char *end = NULL;
    s->shard = s->shards = 1;
    if (!text)
        return CLI_DONE;
    s->shard = strtoull(text, &end, 10);
    if (*end == '/')
        s->shards = strtoull(end + 1, &end, 10);
    if (*end || end == text || s->shard < 1 || s->shard > s->shards || s->shards > 1000000)
        return cli_fail(CLI_USAGE, "--shard %s: k/n with 1 <= k <= n", text);
    return CLI_DONE;
}

/* What decides an answer beside the model's files. */
static void note_settings(struct scan *s)
{
    size_t n = (size_t)snprintf(s->settings, sizeof s->settings, "%s", vram_version());
    const char *more[] = {s->args->option[CLI_PLAN], s->args->option[CLI_TEMPLATES]};
    for (size_t i = 0; i < s->args->nwords + s->args->nfiles + 2 && n < sizeof s->settings; i++) {
        const char *word = i < s->args->nwords ? s->args->words[i]
                           : i < s->args->nwords + s->args->nfiles
                               ? s->args->files[i - s->args->nwords]
                               : more[i - s->args->nwords - s->args->nfiles];
        char stamp[20] = "";
        if (!word || (i < s->args->nwords && !strchr(word, '=')))
            continue;
        if (i >= s->args->nwords)
            record_stamp(word, "", stamp);
        n += (size_t)snprintf(s->settings + n, sizeof s->settings - n, "\n%s %s", word, stamp);
    }
}

static int with_file(struct scan *s, const struct scan_output_row *row)
{
    const char *path = s->args->option[CLI_OUTPUT];
    FILE *file = stdout;
    if (s->args->option[CLI_RESUME] && !(s->resume = resume_open(path, &file)))
        return CLI_SYSTEM;
    if (!s->resume && path && !row->file && !(file = fopen(path, "w")))
        return cli_fail(CLI_SYSTEM, "%s: %s", path, strerror(errno));
    struct scan_output *out = row->open(file, path);
    int code = out ? scan(s, row, out) : CLI_SYSTEM;
    bool ok = !out || row->close(out);
    if (s->resume)
        ok = resume_close(s->resume, !code) && ok;
    else if (file != stdout)
        ok = !fclose(file) && ok;
    return ok || code ? code : cli_fail(CLI_SYSTEM, "the records cannot be written: %s", strerror(errno));
}

static int run(const struct cli_args *args)
{
    static struct scan s; /* large */
    const struct scan_output_row *row;
    struct cli_input input = {.path = NULL};
    s = (struct scan){.args = args, .options = {.size = sizeof s.options,
                      .templates_dir = args->option[CLI_TEMPLATES]}};
    int code = find_output(args, &row);
    if (!code)
        code = read_shard(args, &s);
    if (!code)
        code = cli_plan(&input, args, s.roots, PATHS, &s.nroots);
    if (!code && !s.nroots == !args->option[CLI_STDIN])
        code = cli_fail(CLI_USAGE, s.nroots ? "--stdin takes its paths from standard input, not from words"
                                            : "which folders? or --stdin (usage: vramcast scan %s)",
                        args->command->synopsis);
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.changed, NULL);
    s.plan = input.plan;
    note_settings(&s);
    if (!code)
        code = with_file(&s, row);
    if (code != STOPPED)
        vram_plan_free(input.plan);
    return code;
}

static const struct cli_option options[] = {
    {CLI_FORMAT, "format", 'f', "NAME", "jsonl (the default), csv, md, html or sqlite"},
    {CLI_OUTPUT, "output", 'o', "FILE", "write to FILE, a record at a time"},
    {CLI_RESUME, "resume", 'r', NULL, "go on with FILE: what has not changed is not made again"},
    {CLI_JOBS, "jobs", 'j', "N", "threads (default: one for each processor)"},
    {CLI_SHARD, "shard", 0, "K/N", "the K-th of N parts, by the paths"},
    {CLI_STDIN, "stdin", 0, NULL, "paths of models from standard input, one a line"},
    CLI_ROW_PLAN,
    CLI_ROW_SETTINGS,
    CLI_ROW_TEMPLATES,
    CLI_ROW_HELP,
    CLI_ROW_END};

const struct cli_command cli_scan = {
    "scan", "DIR... [key=value]...",
    "every model of a tree or a list: a record each, whatever is wrong with it",
    "Models are folders with a config.json, a shard index or .safetensors files, hub\n"
    "cache repositories, and .onnx files. A record says what the model is, its peak\n"
    "under the settings, the verdict with gpu=NAME, and what is odd. Models that\n"
    "cannot be read are records, too; the exit code is 0 when all have one.\n",
    options, run};
