/* SPDX-License-Identifier: Apache-2.0
 *
 *     steps ROOT    accumulation, checkpoints and the autocast cache, seen in whole runs
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

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && !strcmp(text + n - k, end);
}

/* ---- accumulation -------------------------------------------------------------------------- */

static size_t count_op(const struct run *r, const char *phase, const char *op)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->at[i].alloc && !strcmp(r->at[i].phase, phase) && !strcmp(r->at[i].op, op);
    return n;
}

/* The next allocation of a phase from i on; what libraries keep comes the first time only. */
static size_t next_in(const struct run *r, const char *phase, size_t i)
{
    while (i < r->n && (!r->at[i].alloc || strcmp(r->at[i].phase, phase) != 0 ||
                        !strcmp(r->at[i].category, "workspace")))
        i++;
    return i;
}

/* The allocations of two phases, one after the other, are the same. */
static void same_allocations(const struct run *r, const char *one, const char *two)
{
    size_t i = next_in(r, one, 0), k = next_in(r, two, 0), pairs = 0;
    for (; i < r->n && k < r->n; pairs++) {
        assert_int_equal(r->at[i].bytes, r->at[k].bytes);
        assert_string_equal(r->at[i].module, r->at[k].module);
        i = next_in(r, one, i + 1);
        k = next_in(r, two, k + 1);
    }
    assert_true(i == r->n && k == r->n && pairs > 50);
}

static void accumulation(void **state)
{
    static const char *const configs[] = {"tiny-qwen3", "tiny-llava-1.5", "tiny-paligemma"};
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        struct run one, three;
        run_events(&one, configs[c], "seq=32 precision=bf16");
        run_events(&three, configs[c], "seq=32 precision=bf16 accumulation=3");
        /* every batch is there from the start */
        assert_int_equal(count_op(&three, "step1.inputs", "inputs"),
                         3 * count_op(&one, "step1.inputs", "inputs"));
        /* gradients are added in place: no backward leaves more of them than the first */
        uint64_t first = live(&three, phase_end(&three, "step1.micro1.backward"), "gradients", NULL);
        assert_true(first > 0);
        assert_int_equal(first, live(&three, phase_end(&three, "step1.micro2.backward"), "gradients", NULL));
        assert_int_equal(first, live(&three, phase_end(&three, "step1.micro3.backward"), "gradients", NULL));
        assert_int_equal(first, live(&one, phase_end(&one, "step1.backward"), "gradients", NULL));
        assert_int_equal(live(&three, phase_end(&three, "step1.after"), "gradients", NULL), 0);
        assert_int_equal(live(&three, phase_end(&three, "step1.after"), "inputs", NULL), 0);
        same_allocations(&three, "step1.micro1.forward", "step1.micro2.forward");
        same_allocations(&three, "step1.micro1.backward", "step1.micro2.backward");
        run_free(&one);
        run_free(&three);
    }
}

/* ---- checkpoints --------------------------------------------------------------------------- */

/* What a module's own op allocates in the first backward, over all layers. */
static size_t in_backward(const char *settings, const char *module)
{
    struct run r;
    size_t n = 0;
    run_events(&r, "tiny-qwen3", settings);
    for (size_t i = 0; i < r.n; i++)
        n += r.at[i].alloc && !strcmp(r.at[i].phase, "step1.backward") &&
             ends_with(r.at[i].module, module) && !strcmp(r.at[i].op, "linear");
    run_free(&r);
    return n;
}

/* A recomputation makes the output of a Linear once more; the kind that is not reentrant stops when
 * it has what is kept: before the last product. */
static void early_stop(void **state)
{
    enum { LAYERS = 2 };
    static const char none[] = "seq=32 precision=bf16", plain[] = "seq=32 precision=bf16 checkpointing=all",
                      reentrant[] = "seq=32 precision=bf16 checkpointing=all checkpointing.reentrant=on";
    (void)state;
    size_t gate = in_backward(none, "mlp.gate_proj"), down = in_backward(none, "mlp.down_proj");
    assert_true(gate >= 2 * LAYERS && down >= 2 * LAYERS);
    assert_int_equal(in_backward(plain, "mlp.gate_proj"), gate + LAYERS);
    assert_int_equal(in_backward(reentrant, "mlp.gate_proj"), gate + LAYERS);
    assert_int_equal(in_backward(plain, "mlp.down_proj"), down);
    assert_int_equal(in_backward(reentrant, "mlp.down_proj"), down + LAYERS);
    /* the head is in no checkpoint */
    assert_int_equal(in_backward(plain, "lm_head"), in_backward(none, "lm_head"));
}

static uint64_t saved_by(const char *settings, uint64_t *layers)
{
    struct run r;
    run_events(&r, "tiny-qwen3", settings);
    size_t end = phase_end(&r, "step1.loss");
    uint64_t sum = live(&r, end ? end : phase_end(&r, "step1.forward"), "activations", NULL);
    *layers = 0;
    for (size_t i = 0; i < r.n; i++)
        *layers += r.at[i].alloc && !strcmp(r.at[i].phase, "step1.forward") &&
                   strstr(r.at[i].module, "layers.0") && !strcmp(r.at[i].category, "activations");
    run_free(&r);
    return sum;
}

/* What is kept grows by the layer's input alone; both kinds keep the same. */
static void kept(void **state)
{
    uint64_t unused;
    uint64_t all = saved_by("seq=64 precision=bf16", &unused);
    uint64_t plain = saved_by("seq=64 precision=bf16 checkpointing=all", &unused);
    uint64_t reentrant =
        saved_by("seq=64 precision=bf16 checkpointing=all checkpointing.reentrant=on", &unused);
    (void)state;
    assert_true(plain < all / 2);
    assert_true(plain >= reentrant && plain - reentrant <= 2 * 4 * 64 * 16 + 64 * 8);
}

/* ---- the autocast cache -------------------------------------------------------------------- */

struct casts {
    size_t n, most; /* copies of weights; the most of one parameter */
    size_t alive;   /* when the phase is over */
};

static struct casts casts_in(const struct run *r, const char *phase)
{
    struct casts c = {0, 0, 0};
    size_t end = phase_end(r, phase);
    for (size_t i = 0; i < end; i++) {
        size_t same = 0;
        bool freed = false;
        if (!r->at[i].alloc || !*r->at[i].param || strcmp(r->at[i].phase, phase) != 0)
            continue;
        for (size_t k = 0; k < end; k++)
            same += r->at[k].alloc && !strcmp(r->at[k].phase, phase) &&
                    !strcmp(r->at[k].param, r->at[i].param);
        for (size_t k = i + 1; k < end; k++)
            freed = freed || (r->at[k].free && r->at[k].storage == r->at[i].storage);
        c.n++;
        c.most = same > c.most ? same : c.most;
        c.alive += !freed;
    }
    return c;
}

static struct casts casts(const char *settings, const char *phase)
{
    struct run r;
    run_events(&r, "tiny-qwen3", settings);
    struct casts c = casts_in(&r, phase);
    run_free(&r);
    return c;
}

static void autocast_cache(void **state)
{
    enum { LINEARS = 2 * 7 + 1 }; /* the head's matrix is the embedding's */
    static const char plain[] = "seq=32 precision=bf16-mixed";
    static const char checkpointed[] = "seq=32 precision=bf16-mixed checkpointing=all";
    (void)state;
    /* one copy of each matrix; the embedding itself is looked up in fp32 */
    struct casts c = casts(plain, "step1.forward");
    assert_int_equal(c.n, LINEARS);
    assert_int_equal(c.most, 1);
    assert_int_equal(c.alive, LINEARS);
    assert_int_equal(casts("seq=32 precision=bf16", "step1.forward").n, 0);
    /* under checkpoints only the cache holds them, and it ends with the region */
    c = casts(checkpointed, "step1.forward");
    assert_int_equal(c.n, LINEARS);
    struct run r;
    run_events(&r, "tiny-qwen3", checkpointed);
    c = casts_in(&r, "step1.forward");
    size_t in_layers = 0;
    for (size_t i = 0; i < r.n; i++)
        in_layers += r.at[i].alloc && !strcmp(r.at[i].phase, "step1.backward") && *r.at[i].param &&
                     strstr(r.at[i].module, "layers.") && !strcmp(r.at[i].op, "linear") &&
                     r.at[i].bytes != 0;
    assert_true(in_layers >= 2 * 7); /* made again by each recomputation */
    run_free(&r);
    /* every micro-batch has a region, so a cache, of its own */
    static const char two[] = "seq=32 precision=bf16-mixed accumulation=2";
    assert_int_equal(casts(two, "step1.micro1.forward").n, LINEARS);
    assert_int_equal(casts(two, "step1.micro2.forward").n, LINEARS);
}

/* A frozen matrix is no leaf that trains: its copy is kept by nobody, and made for every call. */
static void frozen_casts(void **state)
{
    struct run r;
    (void)state;
    run_events(&r, "tiny-llava-1.5", "seq=32 precision=bf16-mixed train=frozen train.head=full");
    struct casts c = casts_in(&r, "step1.forward");
    assert_true(c.n > 2 * 7 && c.most == 1);
    assert_int_equal(c.alive, 1); /* the head's: in the cache to the end, then kept by nobody: */
    run_free(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accumulation), cmocka_unit_test(early_stop),   cmocka_unit_test(kept),
        cmocka_unit_test(autocast_cache), cmocka_unit_test(frozen_casts)};
    fixtures_root = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
