/* SPDX-License-Identifier: Apache-2.0
 *
 * A safetensors header with 100,000 tensors: our reader, with all its checks and its rows, against
 * jansson, which only parses the JSON.  Prints the ratio of the best of several runs each; absolute
 * times say nothing about another machine.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "safetensors/header.h"

enum { TENSORS = 100000, RUNS = 7, ENTRY = 200 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* names and shapes as a large mixture of experts has them */
static size_t make(char *out, uint64_t *data)
{
    size_t n = 8;
    *data = 0;
    n += (size_t)sprintf(out + n, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (int i = 0; i < TENSORS; i++) {
        int layer = i / 400, expert = i / 3 % 128;
        static const char *const part[] = {"gate_proj", "up_proj", "down_proj"};
        n += (size_t)sprintf(out + n,
                             ",\"model.layers.%d.mlp.experts.%d.%s.%d.weight\":{\"dtype\":\"BF16\","
                             "\"shape\":[768,2048],\"data_offsets\":[%llu,%llu]}",
                             layer, expert, part[i % 3], i, (unsigned long long)*data,
                             (unsigned long long)*data + 768 * 2048 * 2);
        *data += 768 * 2048 * 2;
    }
    out[n++] = '}';
    while (n % 8)
        out[n++] = ' ';
    uint64_t length = n - 8;
    for (int i = 0; i < 8; i++)
        out[i] = (char)(length >> (8 * i) & 0xff);
    return n;
}

static double ours(const char *bytes, size_t n, uint64_t data, uint64_t *memory)
{
    struct vram_arena arena;
    struct vram_syms syms;
    vram_error error = {0};
    vram_arena_init(&arena, vram_limits_default.arena_bytes);
    struct vram_cx cx = {&arena, &syms, &vram_limits_default, NULL, &error};
    struct vram_tensors tensors = {0};
    struct vram_file file;
    double start = now();
    if (vram_syms_init(&syms, &arena) ||
        vram_header_parse(&cx, "bench", bytes, n, n + data, 0, &tensors, &file) ||
        tensors.n != TENSORS) {
        fprintf(stderr, "%s: %s\n", error.where, error.text);
        exit(1);
    }
    double took = now() - start;
    *memory = arena.used;
    vram_arena_finish(&arena);
    return took;
}

static double theirs(const char *bytes, size_t n)
{
    json_error_t error;
    double start = now();
    json_t *root = json_loadb(bytes + 8, n - 8, JSON_REJECT_DUPLICATES, &error);
    double took = now() - start;
    if (!root || json_object_size(root) != TENSORS + 1)
        exit(1);
    json_decref(root);
    return took;
}

int main(void)
{
    char *bytes = malloc((size_t)TENSORS * ENTRY);
    if (!bytes)
        return 1;
    uint64_t data, memory = 0;
    size_t n = make(bytes, &data);
    double best_ours = 1e9, best_theirs = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double a = ours(bytes, n, data, &memory), b = theirs(bytes, n);
        best_ours = a < best_ours ? a : best_ours;
        best_theirs = b < best_theirs ? b : best_theirs;
    }
    printf("header of %zu bytes, %d tensors\n", n, TENSORS);
    printf("ours %.1f ms, jansson %.1f ms: ratio %.1f\n", best_ours * 1e3, best_theirs * 1e3,
           best_theirs / best_ours);
    printf("ours takes %.2f times the header in memory\n", (double)memory / (double)n);
    free(bytes);
    return 0;
}
