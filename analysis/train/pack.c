/* SPDX-License-Identifier: Apache-2.0
 *
 * weights=nf4 and the like: which matrices are held in packed words, by which tensors, and the class
 * that runs in the place of Linear.  One row each.
 */
#include <string.h>

#include "train/pack.h"

/* How many elements a part has, for a matrix [outputs, inputs]. */
enum count {
    EACH,    /* one for `a` elements; one for `b` of those */
    ROWS,    /* outputs */
    COLUMNS, /* inputs */
    FIXED,   /* a */
    GROUPS   /* one for 128 inputs of each output, `a` to an element */
};

struct part {
    const char *name;
    enum vram_dtype dtype;
    enum count count;
    uint64_t a, b;
};

enum { MOST_PARTS = 6 };

struct vram_packing {
    const char *name, *module, *lora; /* classes for Linear and for PEFT's module around it */
    const char *dora;                 /* how DoRA unpacks a matrix; NULL: PEFT refuses it */
    struct part parts[MOST_PARTS];    /* the first is the matrix */
    const char *source;
    bool decoder_only; /* the packages know the layers of a decoder: no tower is packed */
};

/* The table of 256 values that nested constants share is 1 KiB once and left out. */
#define CODE16 {"quant_state.code", VRAM_DT_F32, FIXED, 16, 0}
#define BNB4 {"weight", VRAM_DT_U8, EACH, 2, 0}
#define NESTED                                                                                     \
    {"quant_state.absmax", VRAM_DT_U8, EACH, 64, 0},                                               \
        {"quant_state.state2.absmax", VRAM_DT_F32, EACH, 64, 256},                                 \
        {"quant_state.offset", VRAM_DT_F32, FIXED, 1, 0}
#define GPTQ(per)                                                                                  \
    {"qweight", VRAM_DT_I32, EACH, per, 0}, {"scales", VRAM_DT_F16, GROUPS, 1, 0},                 \
        {"qzeros", VRAM_DT_I32, GROUPS, per, 0}

static const char bnb[] = "bitsandbytes 0.50 nn/modules.py, functional.py quantize_4bit";
static const char gptq[] = "auto-gptq 0.7, groups of 128: sizes as stored, one temporary matrix each way";

static const struct vram_packing packings[] = {
    {"nf4", "Linear4bit", "LoraLinear4bit", "4bit",
     {BNB4, {"quant_state.absmax", VRAM_DT_F32, EACH, 64, 0}, CODE16}, bnb, false},
    {"fp4", "Linear4bit", "LoraLinear4bit", "4bit",
     {BNB4, {"quant_state.absmax", VRAM_DT_F32, EACH, 64, 0}, CODE16}, bnb, false},
    {"nf4-dq", "Linear4bit", "LoraLinear4bit", "4bit", {BNB4, NESTED, CODE16}, bnb, false},
    {"fp4-dq", "Linear4bit", "LoraLinear4bit", "4bit", {BNB4, NESTED, CODE16}, bnb, false},
    {"int8", "Linear8bitLt", "LoraLinear8bitLt", "8bit",
     {{"weight", VRAM_DT_I8, EACH, 1, 0}, {"SCB", VRAM_DT_F32, ROWS, 0, 0}},
     "bitsandbytes 0.50 nn/modules.py Int8Params, autograd/_functions.py MatMul8bitLt", false},
    {"gptq-4", "PackedLinear", "LoraLinear", NULL, {GPTQ(8), {"g_idx", VRAM_DT_I32, COLUMNS, 0, 0}}, gptq, true},
    {"gptq-8", "PackedLinear", "LoraLinear", NULL, {GPTQ(4), {"g_idx", VRAM_DT_I32, COLUMNS, 0, 0}}, gptq, true},
    {"awq-4", "PackedLinear", "LoraLinear", NULL, {GPTQ(8)}, "autoawq 0.2, groups of 128: sizes as stored",
     true},
};

const struct vram_packing *vram_packing_find(const char *name)
{
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        if (!strcmp(packings[i].name, name))
            return &packings[i];
    return NULL;
}

const char *vram_packing_module(const struct vram_packing *p) { return p->module; }
const char *vram_packing_lora(const struct vram_packing *p) { return p->lora; }
const char *vram_packing_dora(const struct vram_packing *p) { return p->dora; }
bool vram_packing_decoder_only(const struct vram_packing *p) { return p->decoder_only; }

static uint64_t up(uint64_t n, uint64_t by) { return n / by + (n % by != 0); }

static uint64_t count(const struct part *p, uint64_t outputs, uint64_t inputs)
{
    switch (p->count) {
    case EACH:
        return up(up(outputs * inputs, p->a), p->b ? p->b : 1);
    case ROWS:
        return outputs;
    case COLUMNS:
        return inputs;
    case FIXED:
        return p->a;
    default:
        return up(up(inputs, 128) * outputs, p->a);
    }
}

int64_t vram_packing_nested(const struct vram_packing *p, const int64_t *dims)
{
    for (uint32_t i = 1; i < vram_packing_parts(p); i++)
        if (p->parts[i].count == EACH && p->parts[i].b)
            return (int64_t)up((uint64_t)dims[0] * (uint64_t)dims[1], p->parts[i].a);
    return 0;
}

uint32_t vram_packing_parts(const struct vram_packing *p)
{
    uint32_t n = 0;
    while (n < MOST_PARTS && p->parts[n].name)
        n++;
    return n;
}

void vram_packing_part(const struct vram_packing *p, uint32_t i, const int64_t *dims,
                       struct vram_packed_part *out)
{
    const struct part *part = &p->parts[i];
    out->name = part->name;
    out->dtype = part->dtype;
    out->count = count(part, (uint64_t)dims[0], (uint64_t)dims[1]);
}
