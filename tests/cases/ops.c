/* SPDX-License-Identifier: Apache-2.0
 *
 *     ops [--print] FILE...    every case against what the real framework did
 *
 * Also: each op row has a case whose operands need grad and one where none does, or at least one when
 * it makes no tensor.  --print shows what the machine does instead of comparing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

struct tally {
    bool print;
    unsigned cases, wrong;
    bool *with, *without; /* by op row */
};

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t n = 0, cap = 1 << 20;
    char *text = malloc(cap);
    if (!f || !text) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    n = fread(text, 1, cap - 1, f);
    text[n] = 0;
    fclose(f);
    return text;
}

/* What is expected to fail does so for a reason of our own. */
static bool agrees(const char *expected, const char *actual)
{
    if (!strncmp(actual, "> fails", 7))
        return !strcmp(expected, "> fails\n");
    return !strcmp(expected, actual);
}

static void show(const struct test_case *c, const char *actual)
{
    printf("%s:%u: %s\n", c->file, c->line, c->header);
    for (const char *a = actual, *e = c->expected; *a || *e;) {
        size_t n = strcspn(a, "\n"), k = strcspn(e, "\n");
        bool same = n == k && !memcmp(a, e, n);
        if (!same && *a)
            printf("    here      %.*s\n", (int)n, a);
        if (!same && *e)
            printf("    expected  %.*s\n", (int)k, e);
        a += n + (a[n] == '\n');
        e += k + (e[k] == '\n');
    }
}

static void one(struct tally *t, const struct test_case *c)
{
    struct vram_text_memory memory = {0};
    struct vram_text out;
    bool trains = false;
    uint32_t op = vram_op_find(c->op);
    for (int i = 0; i < c->noperands; i++)
        trains = trains || c->operand[i].grad;
    vram_text_init(&out, vram_text_memory_write, &memory);
    case_run(c, &out);
    vram_text_put(&out, "", 1);
    vram_text_flush(&out);
    t->cases++;
    if (t->print) {
        printf("case %s\n%s\n", c->header, memory.at);
    } else if (op == VRAM_NO_INDEX || !agrees(c->expected, memory.at)) {
        t->wrong++;
        show(c, memory.at);
    }
    if (op != VRAM_NO_INDEX)
        (trains ? t->with : t->without)[op] = true;
    free(memory.at);
}

/* A row that keeps nothing by its own words and says so is a kernel; one that says nothing is a
 * function of the language. */
static void check_rows(struct tally *t)
{
    for (uint32_t i = 0; i < vram_op_count(); i++) {
        const struct vram_op_row *row = vram_op_row_at(i);
        bool kernel = row->saves[0] && strcmp(row->name, "new") != 0;
        bool missing = kernel ? !t->with[i] || !t->without[i] : !t->with[i] && !t->without[i];
        if (missing) {
            printf("op row '%s' has no case %s\n", row->name,
                   !kernel      ? "at all"
                   : t->with[i] ? "in which nothing trains"
                                : "with something that trains");
            t->wrong++;
        }
    }
}

int main(int argc, char **argv)
{
    struct tally t = {.with = calloc(vram_op_count(), sizeof(bool)),
                      .without = calloc(vram_op_count(), sizeof(bool))};
    for (int i = 1; i < argc; i++) {
        static struct test_case c;
        if (!strcmp(argv[i], "--print")) {
            t.print = true;
            continue;
        }
        char *text = read_file(argv[i]);
        const char *at = text;
        for (unsigned line = 0; case_next(&c, argv[i], &at, &line);)
            one(&t, &c);
        free(text);
    }
    if (!t.print)
        check_rows(&t);
    if (!t.print)
        printf("op cases: %u, wrong: %u\n", t.cases, t.wrong);
    free(t.with);
    free(t.without);
    return t.wrong != 0;
}
