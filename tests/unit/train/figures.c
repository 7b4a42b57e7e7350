/* SPDX-License-Identifier: Apache-2.0
 *
 *     figures ROOT    worked figures of sharding and optimizers
 *
 * What the published formulas give for a model's parameters, counted here from their shapes alone,
 * against the bytes of a run.  One row a figure.  T: trained elements, D: ranks, w: bytes of a weight,
 * B: elements of a bucket; groups are padded to multiples of 2·D.
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

enum { GROUPS = 2 }; /* decayed, not decayed */

struct count {
    const char *last_layer; /* of the tower: nothing reads what it makes */
    uint64_t ranks, w;
    uint64_t t, padded, part[GROUPS], partition; /* partition: of both groups */
    uint64_t reached, tensors; /* of t: what gets a gradient */
    uint64_t touched, piece;   /* followed rank: whole parameters it touches, its largest piece */
    uint64_t zeros;            /* of touched: without a gradient */
    uint64_t rows_columns;     /* Adafactor's fp32 elements */
    uint64_t even;             /* ZeRO 3: a rank's shards, each parameter rounded up */
    uint64_t rows, reached_rows; /* FSDP2: a rank's rows, each first dimension rounded up */
    uint64_t largest;          /* parameter */
    uint64_t small;            /* of reached: in parameters of less than 4096 elements */
};

/* LLaVA takes the state before the last layer. */
static bool reached(const struct count *c, const char *path)
{
    return !strstr(path, "vision_tower") || !c->last_layer ||
           (!strstr(path, c->last_layer) && !strstr(path, "post_layernorm"));
}

static bool decayed(const char *path) { return !strstr(path, "bias") && !strstr(path, "norm"); }

static bool trained(const vram_param_view *p) { return !p->buffer && !*p->tied_to; }

static uint64_t elements(const vram_param_view *p)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < p->rank; i++)
        n *= (uint64_t)p->dims[i];
    return n;
}

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
    a = a > from ? a : from;
    b = b < to ? b : to;
    return b > a ? b - a : 0;
}

/* Whole parameters that a rank's slices touch, and the largest piece of one of them. */
static uint64_t touched(const vram_model *m, const struct count *c, uint64_t rank, uint64_t *piece,
                        uint64_t *zeros)
{
    uint64_t at[GROUPS] = {0, 0}, sum = 0;
    *piece = *zeros = 0;
    for (size_t i = 0; i < vram_model_param_count(m); i++) {
        vram_param_view p = {.size = sizeof p};
        vram_model_param(m, i, &p);
        if (!trained(&p))
            continue;
        int g = decayed(p.path) ? 0 : 1;
        uint64_t n = elements(&p);
        uint64_t mine = overlap(at[g], at[g] + n, rank * c->part[g], (rank + 1) * c->part[g]);
        sum += mine ? n : 0;
        *zeros += mine && !reached(c, p.path) ? n : 0;
        *piece = mine > *piece ? mine : *piece;
        at[g] += n;
    }
    return sum;
}

static void count(const vram_model *m, struct count *c)
{
    uint64_t t[GROUPS] = {0, 0};
    for (size_t i = 0; i < vram_model_param_count(m); i++) {
        vram_param_view p = {.size = sizeof p};
        vram_model_param(m, i, &p);
        uint64_t n = elements(&p), last = p.rank ? (uint64_t)p.dims[p.rank - 1] : 1;
        if (!trained(&p))
            continue;
        t[decayed(p.path) ? 0 : 1] += n;
        c->even += (n + c->ranks - 1) / c->ranks;
        uint64_t rows = ((uint64_t)p.dims[0] + c->ranks - 1) / c->ranks * (n / (uint64_t)p.dims[0]);
        c->rows += rows;
        c->reached_rows += reached(c, p.path) ? rows : 0;
        c->largest = n > c->largest ? n : c->largest;
        if (!reached(c, p.path))
            continue;
        c->tensors++;
        c->reached += n;
        c->small += n < 4096 ? n : 0;
        /* the last dimension averaged away, then the one before it */
        c->rows_columns += p.rank < 2 ? n : n / last + n / (uint64_t)p.dims[p.rank - 2];
    }
    for (int g = 0; g < GROUPS; g++) {
        uint64_t align = 2 * c->ranks, whole = (t[g] + align - 1) / align * align;
        c->t += t[g];
        c->padded += whole;
        c->part[g] = whole / c->ranks;
        c->partition += c->part[g];
    }
    for (uint64_t r = 0; r < c->ranks; r++) {
        uint64_t piece, zeros, sum = touched(m, c, r, &piece, &zeros);
        if (sum > c->touched) {
            c->touched = sum;
            c->piece = piece;
            c->zeros = zeros;
        }
    }
}

/* ---- the figures --------------------------------------------------------------------------- */

enum figure {
    FLAT_WEIGHTS,     /* w·T: 16-bit weights of the groups, parameters are views */
    FP32_PARTITION,   /* 4·T/D from the start */
    ZERO_GRADIENTS,   /* 4·T/D for a moment at the start */
    ADAM_STATES,      /* 8·T/D behind the first step */
    FULL_GRADIENTS,   /* w·T when a backward of stage 1 is over */
    OWN_GRADIENTS,    /* w · (whole parameters that the partition touches) when one of stage 2 is, and
                         zeros for those without a gradient */
    BUCKETS,          /* w·B, twice with overlap_comm: made in a backward */
    FP64_PIECE,       /* 8 · (largest piece of the partition) in the step */
    STEP_GRADIENTS,   /* w·T/D and 4·T/D in the step */
    ROOTS,            /* 4·T/D more by the optimizer's lists */
    DDP_BUCKETS,      /* w·T from the start */
    DDP_GRADIENTS,    /* w·T beside the buckets when a step is over, 0 with views */
    SHARDS,           /* ZeRO 3: w·T/D, each parameter's shard rounded up */
    SHARD_MASTERS,    /* ZeRO 3: 4·T/D */
    SHARD_GRADIENTS,  /* ZeRO 3: w·T/D, from the start */
    SHARD_STATES,     /* ZeRO 3: 8·T/D behind the first step */
    KEPT_BUCKET,      /* ZeRO 3: w·B, from the start */
    ROWS,             /* FSDP2: bytes·T/D, each first dimension rounded up; factor: bytes */
    ROW_STATES,       /* FSDP2: factor·T/D, of what gets a gradient */
    UNSYNCED,         /* FSDP2: factor·T when a backward that does not reduce is over */
    HOST,             /* offload, ZeRO 1 and 2: 4·T/D, its gradients, w·T/D, w·(largest), 8·T/D */
    HOST_3,           /* offload, ZeRO 3: 4·T/D, its gradients, w·T/D, 8·T/D; factor: w·T/D of the weights */
    OFFLOADED,        /* card and host together when the first step is over: of the real engine */
    SMALL_STATES,     /* CPUOffloadOptimizer: 2w a small element */
    SMALL_GRADIENTS,  /* w a small element with +grads */
    STATES,           /* of an optimizer on one card, behind its first step */
};

struct row {
    const char *name, *config, *settings;
    enum figure figure;
    uint64_t ranks, w;
    uint64_t factor; /* BUCKETS: elements in all; STATES: bytes an element; DDP_GRADIENTS: 1 or 0 */
};

#define QWEN "tiny-qwen3"
#define LLAVA "tiny-llava-1.5"
#define PALI "tiny-paligemma"
#define LLAVA_7B "checkpoints/llava-1.5-7b-hf/config.json"
#define BIG "seq=2048 attention=sdpa "
#define ZERO1(d) "strategy=zero1 zero.reduce_bucket_size=100000 precision=bf16 gpus=" d
#define OFFLOAD "seq=16 optimizer=adamw steps=1 zero.reduce_bucket_size=20000 offload=optimizer+grads "
#define ALONE                                                                                      \
    "zero.stage3_param_persistence_threshold=0 zero.stage3_prefetch_bucket_size=0 "               \
    "zero.stage3_max_reuse_distance=0 "
#define ZERO3(d) "strategy=zero3 zero.reduce_bucket_size=100000 precision=bf16 gpus=" d
#define ZERO2(d) "strategy=zero2 zero.reduce_bucket_size=100000 precision=bf16 gpus=" d

static const struct row rows[] = {
    {"zero1, 2 ranks: flat weights", QWEN, ZERO1("2"), FLAT_WEIGHTS, 2, 2, 0},
    {"zero2, 3 ranks: flat weights, padded", LLAVA, ZERO2("3"), FLAT_WEIGHTS, 3, 2, 0},
    {"zero1, 8 ranks: flat weights", LLAVA_7B, BIG ZERO1("8"), FLAT_WEIGHTS, 8, 2, 0},
    {"zero1, 2 ranks: fp32 partition", QWEN, ZERO1("2"), FP32_PARTITION, 2, 2, 0},
    {"zero1, 5 ranks: fp32 partition", PALI, ZERO1("5"), FP32_PARTITION, 5, 2, 0},
    {"zero2, 8 ranks: fp32 partition", LLAVA_7B, BIG ZERO2("8"), FP32_PARTITION, 8, 2, 0},
    {"zero2, 64 ranks: fp32 partition", LLAVA_7B, BIG ZERO2("64"), FP32_PARTITION, 64, 2, 0},
    {"zero1, 4 ranks: zero gradients at the start", LLAVA, ZERO1("4"), ZERO_GRADIENTS, 4, 2, 0},
    {"zero2, 8 ranks: zero gradients at the start", LLAVA_7B, BIG ZERO2("8"), ZERO_GRADIENTS, 8, 2, 0},
    {"zero1, 2 ranks: Adam's states", LLAVA, ZERO1("2") " optimizer=adamw", ADAM_STATES, 2, 2, 0},
    {"zero2, 7 ranks: Adam's states", PALI, ZERO2("7") " optimizer=adamw", ADAM_STATES, 7, 2, 0},
    {"zero2, 8 ranks: Adam's states", LLAVA_7B, BIG ZERO2("8") " optimizer=adamw", ADAM_STATES, 8, 2, 0},
    {"zero1, 2 ranks: full gradients", QWEN, ZERO1("2") " accumulation=3", FULL_GRADIENTS, 2, 2, 0},
    {"zero1, 8 ranks: full gradients", LLAVA_7B, BIG ZERO1("8") " accumulation=2", FULL_GRADIENTS, 8, 2, 0},
    {"zero2, 2 ranks: own gradients", QWEN, ZERO2("2") " accumulation=3", OWN_GRADIENTS, 2, 2, 0},
    {"zero2, 4 ranks: own gradients", LLAVA, ZERO2("4") " accumulation=2", OWN_GRADIENTS, 4, 2, 0},
    {"zero2, 8 ranks: own gradients", LLAVA_7B, BIG ZERO2("8") " accumulation=2", OWN_GRADIENTS, 8, 2, 0},
    {"zero2, 32 ranks: own gradients", LLAVA_7B, BIG ZERO2("32") " accumulation=2", OWN_GRADIENTS, 32, 2, 0},
    {"zero1: the bucket", QWEN, ZERO1("2") " accumulation=2 zero.reduce_bucket_size=500000000", BUCKETS, 2, 2,
     500000000},
    {"zero1: two buckets with overlap_comm", QWEN,
     ZERO1("2") " accumulation=2 zero.reduce_bucket_size=3000 zero.overlap_comm=on", BUCKETS, 2, 2, 6000},
    {"zero1, fp32: the bucket", QWEN,
     "strategy=zero1 precision=fp32 gpus=2 accumulation=2 zero.reduce_bucket_size=7000", BUCKETS, 2, 4, 7000},
    {"zero1: auto is the hidden size squared", QWEN,
     ZERO1("2") " accumulation=2 zero.reduce_bucket_size=auto", BUCKETS, 2, 2, 64 * 64},
    {"zero1: auto is the text's hidden size squared", LLAVA_7B,
     BIG ZERO1("2") " accumulation=2 zero.reduce_bucket_size=auto", BUCKETS, 2, 2, 4096 * 4096},
    {"zero1, 2 ranks: float64 piece", LLAVA, ZERO1("2"), FP64_PIECE, 2, 2, 0},
    {"zero2, 16 ranks: float64 piece, cut by the partition", QWEN, ZERO2("16"), FP64_PIECE, 16, 2, 0},
    {"zero2, 8 ranks: float64 piece", LLAVA_7B, BIG ZERO2("8"), FP64_PIECE, 8, 2, 0},
    {"zero1, 2 ranks: gradients of the step", LLAVA, ZERO1("2"), STEP_GRADIENTS, 2, 2, 0},
    {"zero2, 6 ranks: gradients of the step", PALI, ZERO2("6"), STEP_GRADIENTS, 6, 2, 0},
    {"zero1, 2 ranks: the lists of AdamW", LLAVA, ZERO1("2") " optimizer=adamw", ROOTS, 2, 2, 0},
    {"zero2, 3 ranks: fused AdamW has none", QWEN, ZERO2("3") " optimizer=adamw-fused", ROOTS, 3, 2, 0},
    {"zero3, 2 ranks: shards", QWEN, ZERO3("2"), SHARDS, 2, 2, 0},
    {"zero3, 7 ranks: shards, padded", LLAVA, ZERO3("7"), SHARDS, 7, 2, 0},
    {"zero3, 8 ranks: shards", LLAVA_7B, BIG ZERO3("8"), SHARDS, 8, 2, 0},
    {"zero3, 3 ranks: fp32 shards", PALI, ZERO3("3"), SHARD_MASTERS, 3, 2, 0},
    {"zero3, 64 ranks: fp32 shards", LLAVA_7B, BIG ZERO3("64"), SHARD_MASTERS, 64, 2, 0},
    {"zero3, 4 ranks: gradients", LLAVA, ZERO3("4"), SHARD_GRADIENTS, 4, 2, 0},
    {"zero3, 4 ranks: gradients summed in fp32", LLAVA, ZERO3("4") " zero.grad_accum_dtype=fp32",
     SHARD_GRADIENTS, 4, 4, 0},
    {"zero3, 5 ranks: Adam's states", PALI, ZERO3("5") " optimizer=adamw", SHARD_STATES, 5, 2, 0},
    {"zero3, 8 ranks: Adam's states", LLAVA_7B, BIG ZERO3("8") " optimizer=adamw", SHARD_STATES, 8, 2, 0},
    {"zero3: the bucket stays", QWEN, ZERO3("2"), KEPT_BUCKET, 2, 2, 100000},
    {"fsdp2, 2 ranks: shards", LLAVA, "strategy=fsdp2 gpus=2 precision=bf16", ROWS, 2, 2, 2},
    {"fsdp2, 3 ranks, mixed: fp32 shards", PALI, "strategy=fsdp2 gpus=3 precision=bf16-autocast", ROWS, 3, 2, 4},
    {"hsdp, 4 shards: as fsdp2", QWEN, "strategy=hsdp gpus=16 shards=4 precision=fp32", ROWS, 4, 4, 4},
    {"fsdp2, 8 ranks: shards", LLAVA_7B, BIG "strategy=fsdp2 gpus=8 precision=bf16-autocast", ROWS, 8, 2, 4},
    {"fsdp2, 8 ranks: Adam's states", LLAVA_7B,
     BIG "strategy=fsdp2 gpus=8 precision=bf16-mixed optimizer=adamw clip_grad=off", ROW_STATES, 8, 4, 8},
    {"fsdp2: gradients that are not reduced", QWEN,
     "strategy=fsdp2 gpus=4 precision=bf16-mixed accumulation=2", UNSYNCED, 4, 2, 2},
    {"fsdp2: the same in fp32", QWEN,
     "strategy=fsdp2 gpus=4 precision=bf16-mixed accumulation=2 fsdp.reduce_dtype=fp32", UNSYNCED, 4, 2, 4},
    {"zero2, 2 ranks: host memory", QWEN, ZERO2("2") " offload=optimizer+grads", HOST, 2, 2, 0},
    {"zero1, 8 ranks: host memory", LLAVA_7B, BIG ZERO1("8") " offload=optimizer+grads", HOST, 8, 2, 0},
    {"zero3, 2 ranks: host memory", QWEN, ZERO3("2") " offload=optimizer+grads", HOST_3, 2, 2, 0},
    {"zero3, 4 ranks: host memory with weights", LLAVA_7B, BIG ZERO3("4") " offload=params", HOST_3, 4, 2, 1},
    /* record_offload.py */
    {"zero2, offloaded", QWEN, OFFLOAD "strategy=zero2 gpus=2 precision=bf16", OFFLOADED, 2, 2, 1261696},
    {"zero1, offloaded", QWEN, OFFLOAD "strategy=zero1 gpus=4 precision=bf16", OFFLOADED, 4, 2, 799168},
    {"zero2, offloaded, two micro-batches", QWEN,
     OFFLOAD "strategy=zero2 gpus=2 precision=fp32 accumulation=2", OFFLOADED, 2, 4, 1906688},
    {"zero3, offloaded", QWEN, OFFLOAD ALONE "strategy=zero3 gpus=2 precision=bf16", OFFLOADED, 2, 2, 1067840},
    {"zero3, offloaded, two micro-batches", QWEN,
     OFFLOAD ALONE "strategy=zero3 gpus=2 precision=fp32 accumulation=2", OFFLOADED, 2, 4, 1313408},
    {"zero3, weights as well", QWEN,
     "seq=16 optimizer=adamw steps=1 zero.reduce_bucket_size=20000 offload=params " ALONE
     "strategy=zero3 gpus=4 precision=bf16", OFFLOADED, 4, 2, 553920},
    {"ddp: buckets", LLAVA, "strategy=ddp gpus=2 precision=bf16", DDP_BUCKETS, 2, 2, 0},
    {"ddp, fp32 weights: buckets", LLAVA, "strategy=ddp gpus=8 precision=bf16-mixed", DDP_BUCKETS, 8, 4, 0},
    {"ddp: buckets", LLAVA_7B, BIG "strategy=ddp gpus=8 precision=bf16", DDP_BUCKETS, 8, 2, 0},
    {"ddp: gradients beside the buckets", PALI, "strategy=ddp gpus=2 precision=fp32 accumulation=2",
     DDP_GRADIENTS, 2, 4, 1},
    {"ddp: none with views", PALI,
     "strategy=ddp gpus=2 precision=fp32 accumulation=2 ddp.gradient_as_bucket_view=on", DDP_GRADIENTS, 2, 4, 0},
    {"host optimizer: states of small parameters", LLAVA, "precision=bf16 optimizer=adamw offload=optimizer",
     SMALL_STATES, 1, 2, 0},
    {"host optimizer: all gradients", LLAVA, "precision=bf16 optimizer=adamw offload=optimizer", FULL_GRADIENTS, 1, 2, 0},
    {"host optimizer and gradients: small gradients", PALI, "precision=fp32 optimizer=adamw offload=optimizer+grads",
     SMALL_GRADIENTS, 1, 4, 0},
    {"adamw, bf16: 4 bytes an element", LLAVA, "precision=bf16 optimizer=adamw", STATES, 1, 2, 4},
    {"adamw, fp32: 8 bytes an element", LLAVA, "precision=bf16-mixed optimizer=adamw", STATES, 1, 4, 8},
    {"adam, bf16: 4 bytes an element", PALI, "precision=bf16 optimizer=adam", STATES, 1, 2, 4},
    {"adamw-fused, bf16: and a counter each", LLAVA, "precision=bf16 optimizer=adamw-fused", STATES, 1, 2, 4},
    {"adamw-fused, fp32, 7B", LLAVA_7B, BIG "precision=fp32 optimizer=adamw-fused", STATES, 1, 4, 8},
    {"sgd: none", LLAVA, "precision=bf16 optimizer=sgd", STATES, 1, 2, 0},
    {"sgd-momentum, bf16: 2 bytes an element", LLAVA, "precision=bf16 optimizer=sgd-momentum", STATES, 1, 2, 2},
    {"sgd-momentum, fp32: 4 bytes an element", PALI, "precision=fp32 optimizer=sgd-momentum", STATES, 1, 4, 4},
    {"adafactor, bf16: fp32 rows and columns", LLAVA, "precision=bf16 optimizer=adafactor", STATES, 1, 2, 0},
    {"adafactor, 7B", LLAVA_7B, BIG "precision=bf16 optimizer=adafactor", STATES, 1, 2, 0},
    {"no optimizer", QWEN, "precision=bf16 optimizer=none", STATES, 1, 2, 0},
};

static const char *first_backward(const struct row *r)
{
    return strstr(r->settings, "accumulation") ? "step1.micro1.backward" : "step1.backward";
}

/* An optimizer's state on one card, by its name in the settings. */
static uint64_t states(const struct row *r, const struct count *c)
{
    if (strstr(r->settings, "adafactor"))
        return 4 * c->rows_columns + 4 * c->tensors; /* a scalar each: the root mean square */
    return r->factor * c->reached + (strstr(r->settings, "fused") ? 4 * c->tensors : 0);
}

static uint64_t formula(const struct row *r, const struct count *c)
{
    switch (r->figure) {
    case FLAT_WEIGHTS:
        return c->w * c->padded;
    case FP32_PARTITION:
    case ZERO_GRADIENTS:
        return 4 * c->partition;
    case ADAM_STATES:
        return 8 * c->partition;
    case FULL_GRADIENTS:
        return c->w * c->reached;
    case SMALL_STATES:
        return 2 * c->w * c->small;
    case SMALL_GRADIENTS:
        return c->w * c->small;
    case DDP_BUCKETS:
        return c->w * c->t;
    case DDP_GRADIENTS:
        return c->w * c->reached * r->factor;
    case OWN_GRADIENTS:
        return c->w * (c->touched + c->zeros);
    case OFFLOADED:
        return r->factor;
    case BUCKETS:
        return c->w * r->factor;
    case FP64_PIECE:
        return 8 * c->piece;
    case STEP_GRADIENTS:
        return (c->w + 4) * c->partition;
    case ROOTS:
        return strstr(r->settings, "fused") ? 0 : 4 * c->partition;
    case SHARDS:
    case SHARD_GRADIENTS:
        return c->w * c->even;
    case SHARD_MASTERS:
        return 4 * c->even;
    case SHARD_STATES:
        return 8 * c->even;
    case KEPT_BUCKET:
        return c->w * r->factor;
    case ROWS:
        return r->factor * c->rows;
    case ROW_STATES:
        return r->factor * c->reached_rows;
    case UNSYNCED:
        return r->factor * c->reached;
    case HOST:
        return (4 + 4 + c->w + 8) * c->partition + c->w * c->largest;
    case HOST_3:
        return (4 + 4 + c->w + 8 + c->w * r->factor) * c->even;
    default:
        return states(r, c);
    }
}

/* In the step the strategy casts pieces, and makes gradients: the largest of the first, all of the
 * second. */
static uint64_t in_step(const struct run *run, bool gradients)
{
    uint64_t sum = 0;
    for (size_t i = 0; i + 1 < run->n; i++) {
        const struct event *e = &run->at[i], *next = e + 1;
        bool gradient = next->storage == e->storage && !next->free && !strcmp(next->category, "gradients");
        if (!e->alloc || strcmp(e->phase, "step1.optimizer") != 0 || strcmp(e->op, "strategy") != 0 ||
            gradient != gradients)
            continue;
        sum = gradients ? sum + e->bytes : e->bytes > sum ? e->bytes : sum;
    }
    return sum;
}

/* The tensors' bytes. */
static uint64_t host(const struct run *run)
{
    vram_report *report = NULL;
    vram_report_view view = {.size = sizeof view};
    vram_error e;
    if (vram_predict(&report, run->model, run->plan, &e))
        fail_msg("%s", e.text);
    vram_report_get(report, &view);
    vram_report_free(report);
    assert_true(view.host.low <= view.host.expected && view.host.expected <= view.host.high);
    return view.host.low;
}

static uint64_t measured(const struct row *r, const struct run *run)
{
    size_t load = phase_end(run, "load"), back = phase_end(run, first_backward(r));
    size_t step = phase_end(run, "step1.optimizer");
    switch (r->figure) {
    case FLAT_WEIGHTS:
    case SHARDS:
    case ROWS:
        return live(run, load, "parameters", "strategy");
    case FP32_PARTITION:
    case SHARD_MASTERS:
        return live(run, load, "optimizer", "strategy");
    case SHARD_GRADIENTS:
        return live(run, load, "gradients", "strategy");
    case KEPT_BUCKET:
        return live(run, load, "temporaries", "strategy");
    case OFFLOADED:
        return live(run, step, NULL, "strategy") + live(run, step, NULL, "optimizer") + host(run);
    case HOST:
    case HOST_3:
        return host(run);
    case ZERO_GRADIENTS: /* all that the start made, without what stays and the clones of partitions */
        return allocated(run, "load", "strategy") - live(run, load, NULL, "strategy") -
               live(run, load, "optimizer", "strategy") / 2;
    case ADAM_STATES:
    case SHARD_STATES:
    case ROW_STATES:
    case STATES:
    case SMALL_STATES:
        return live(run, step, "optimizer", "optimizer");
    case UNSYNCED:
    case FULL_GRADIENTS:
    case OWN_GRADIENTS:
    case SMALL_GRADIENTS:
        return live(run, back, "gradients", NULL);
    case BUCKETS:
        return live(run, back, "temporaries", "strategy");
    case FP64_PIECE:
        return in_step(run, false);
    case STEP_GRADIENTS:
        return in_step(run, true);
    case ROOTS:
        return allocated(run, "step2.optimizer", "optimizer");
    case DDP_BUCKETS:
        return live(run, load, "gradients", "strategy");
    default:
        back = phase_end(run, "step1.micro2.backward");
        return live(run, back, "gradients", NULL) - live(run, back, "gradients", "strategy");
    }
}

static void figures(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct count c = {.ranks = r->ranks, .w = r->w};
        c.last_layer = !strcmp(r->config, LLAVA)      ? "layers.1."
                       : !strcmp(r->config, LLAVA_7B) ? "layers.23."
                                                      : NULL;
        struct run run;
        run_events(&run, r->config, r->settings);
        count(run.model, &c);
        uint64_t expected = formula(r, &c), actual = measured(r, &run);
        if (expected != actual) {
            wrong++;
            printf("%s (%s): %llu here, %llu by the formula\n", r->name, r->config,
                   (unsigned long long)actual, (unsigned long long)expected);
        }
        run_free(&run);
    }
    printf("figures: %zu, wrong: %d\n", sizeof rows / sizeof *rows, wrong);
    assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures)};
    fixtures_root = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
