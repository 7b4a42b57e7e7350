/* SPDX-License-Identifier: Apache-2.0
 *
 * Many cards: the strategy, how many share a copy, what waits in host memory.
 */
#include <string.h>

#include "train/setup/resolver.h"

/* Keys of a strategy begin with its name without the stage: zero. for zero2. */
static int note_strategy(struct resolver *r, const char *name)
{
    size_t n = strcspn(name, "0123456789");
    if (!strcmp(name, "hsdp"))
        name = "fsdp";
    for (int i = 0; i < VRAM_KEY_COUNT; i++)
        if (!strncmp(vram_settings[i].key, name, n) && vram_settings[i].key[n] == '.')
            VRAM_TRY(vram_resolve_note_given(r, (enum vram_key)i));
    return VRAM_OK;
}

/* DeepSpeed moves the gradients with the optimizer; parameters only where they are sharded. */
static int resolve_offload(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *what = vram_plan_text(r->plan, VRAM_KEY_OFFLOAD);
    bool params = !strcmp(what, "params"), three = !strcmp(s->strategy->name, "zero3");
    if (!strcmp(what, "none") || s->mode != VRAM_MODE_TRAIN)
        return VRAM_OK;
    if (!strcmp(what, "activations")) /* transformers does that; see the checkpoints */
        return vram_resolve_note_plan(r, VRAM_KEY_OFFLOAD);
    if (!strcmp(s->strategy->name, "none") && !params) { /* torchao's CPUOffloadOptimizer */
        s->host_optimizer = true;
        s->host_gradients = !strcmp(what, "optimizer+grads");
        if (s->host_gradients && s->accumulation > 1)
            return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                             "offload=optimizer+grads: a gradient leaves the card as it comes, accumulation must be 1");
        return vram_resolve_note_plan(r, VRAM_KEY_OFFLOAD);
    }
    if (!s->strategy->deepspeed || (params && !three))
        return vram_resolve_unsupported(r, VRAM_KEY_OFFLOAD);
    s->offload = params ? VRAM_OFFLOAD_PARAMS : VRAM_OFFLOAD_OPTIMIZER;
    if (!strcmp(what, "optimizer"))
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_READ_AS, "offload",
                           "DeepSpeed moves the gradients with the optimizer: offload=optimizer is "
                           "read as optimizer+grads"));
    return vram_resolve_note_plan(r, VRAM_KEY_OFFLOAD);
}

/* HSDP: groups of shards, copies of which are reduced together. */
static int resolve_shards(struct resolver *r)
{
    int64_t gpus = vram_plan_int(r->plan, VRAM_KEY_GPUS), shards = vram_plan_int(r->plan, VRAM_KEY_SHARDS);
    bool copies = !strcmp(r->s->strategy->name, "hsdp");
    r->s->ranks = shards != VRAM_PLAN_UNSET ? shards : gpus != VRAM_PLAN_UNSET ? gpus : 1;
    if (copies && (shards == VRAM_PLAN_UNSET || gpus % shards != 0))
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "strategy=hsdp needs shards=N, and gpus=%lld to be a multiple of it",
                         (long long)gpus);
    return VRAM_OK;
}

/* fully_shard has no such switches. */
static int find_unused(struct resolver *r)
{
    static const enum vram_key keys[] = {VRAM_KEY_FSDP_PREFETCH, VRAM_KEY_FSDP_FORWARD_PREFETCH,
                                         VRAM_KEY_FSDP_USE_ORIG_PARAMS};
    const char *name = r->s->strategy->name;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if ((!strcmp(name, "fsdp2") || !strcmp(name, "hsdp")) && vram_plan_given(r->plan, keys[i]))
            VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_UNUSED, vram_settings[keys[i]].key,
                               "fully_shard has no such switch"));
    return VRAM_OK;
}

/* What only stage 3 is followed in. */
static int refuse_types(struct resolver *r)
{
    static const enum vram_key keys[] = {VRAM_KEY_ZERO_COMMUNICATION_DATA_TYPE,
                                         VRAM_KEY_ZERO_GRAD_ACCUM_DTYPE};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (r->s->strategy->deepspeed && strcmp(r->s->strategy->name, "zero3") != 0 &&
            vram_plan_given(r->plan, keys[i]))
            return vram_resolve_unsupported(r, keys[i]);
    return VRAM_OK;
}

/* Ranks of a stage follow each other: the tensor-parallel ones, which are alike. */
static int resolve_stage(struct resolver *r)
{
    struct vram_setup *s = r->s;
    int64_t rank = vram_plan_int(r->plan, VRAM_KEY_RANK);
    if (rank >= 0 && rank / s->tp >= s->pp)
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET, "rank=%lld: there are %lld", (long long)rank,
                         (long long)(s->pp * s->tp));
    if (s->tp > 1)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "tp and pp together: transformers' plan names modules that a stage does not have, and raises");
    if (s->accumulation < s->pp)
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "pp=%lld: Schedule1F1B takes as many micro-batches as stages or more; accumulation=%lld",
                         (long long)s->pp, (long long)s->accumulation);
    s->stage = rank < 0 ? 0 : rank / s->tp;
    VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_PP));
    VRAM_TRY(vram_resolve_note_number(r, "rank", s->stage * s->tp, rank < 0 ? "model" : "given"));
    return vram_find(r->cx, VRAM_F_SETTING_ASSUMED, "pp",
                     "pp=%lld: 1F1B of torch.distributed.pipelining with accumulation=%lld micro-batches, layers "
                     "divided evenly", (long long)s->pp, (long long)s->accumulation);
}

/* Ranks that share a batch and have different experts. */
static int resolve_experts(struct resolver *r)
{
    struct vram_setup *s = r->s;
    if (s->ep != s->tp)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "ep=%lld: without data-parallel shards transformers wants ep and tp to be equal; with them it "
                         "is not described", (long long)s->ep);
    if (s->mode == VRAM_MODE_TRAIN)
        VRAM_TRY(vram_find(r->cx, VRAM_F_EXPERTS_BALANCED, "ep",
                           "ep=%lld: the rank receives as many rows as it sends (ep_load=1); the high estimates are "
                           "those of %lld times as many, when all choose its experts", (long long)s->ep,
                           (long long)s->ep));
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_EP_LOAD));
    return vram_resolve_note_plan(r, VRAM_KEY_EP);
}

/* accelerate 1.15 has context parallelism with fully_shard alone, whose shards are then over both; torch's
 * ring takes no mask and, here, the flash kernel. */
static int resolve_context(struct resolver *r)
{
    struct vram_setup *s = r->s;
    s->cp = vram_plan_int(r->plan, VRAM_KEY_CP);
    if (s->cp < 2)
        return VRAM_OK;
    bool flash = vram_plan_is(r->plan, VRAM_KEY_ATTENTION, "sdpa") && !vram_plan_on(r->plan, VRAM_KEY_PADDED, false);
    if (strcmp(s->strategy->name, "fsdp2") != 0 || s->mode != VRAM_MODE_TRAIN)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "cp=%lld: accelerate has it with strategy=fsdp2, in training", (long long)s->cp);
    if (!flash || vram_plan_is(r->plan, VRAM_KEY_PRECISION, "fp32"))
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "cp=%lld: ring attention runs with attention=sdpa in 16 bit and without padding",
                         (long long)s->cp);
    s->ranks *= s->cp;
    VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_ASSUMED, "cp",
                       "cp=%lld: torch's ring attention, load balanced, keys and values gathered at once; the last "
                       "rank is followed", (long long)s->cp));
    return vram_resolve_note_plan(r, VRAM_KEY_CP);
}

/* Tensor parallelism as from_pretrained(distributed_config=...) does it; stages as torch's pipelining. */
static int resolve_split(struct resolver *r)
{
    struct vram_setup *s = r->s;
    s->tp = vram_plan_int(r->plan, VRAM_KEY_TP);
    s->pp = vram_plan_int(r->plan, VRAM_KEY_PP);
    s->ep = vram_plan_int(r->plan, VRAM_KEY_EP);
    VRAM_TRY(resolve_context(r));
    bool train = s->mode == VRAM_MODE_TRAIN, alone = !strcmp(s->strategy->name, "none");
    if (s->tp > 1 && !alone)
        return vram_resolve_unsupported(r, VRAM_KEY_TP);
    if (s->pp > 1 && (!alone || !train))
        return vram_resolve_unsupported(r, VRAM_KEY_PP);
    if (s->ep > 1)
        VRAM_TRY(resolve_experts(r));
    if (s->tp > 1)
        VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_TP));
    return s->pp > 1 ? resolve_stage(r) : VRAM_OK;
}

int vram_resolve_strategy(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *name = vram_plan_text(r->plan, VRAM_KEY_STRATEGY);
    s->strategy = vram_strategy_find(name);
    if (!s->strategy)
        return vram_resolve_unsupported(r, VRAM_KEY_STRATEGY);
    VRAM_TRY(resolve_shards(r));
    VRAM_TRY(resolve_split(r));
    const enum vram_key parallel[] = {VRAM_KEY_SP};
    for (size_t i = 0; i < sizeof parallel / sizeof *parallel; i++)
        if (vram_plan_int(r->plan, parallel[i]) > 1)
            return vram_resolve_unsupported(r, parallel[i]);
    const char *engine = vram_plan_text(r->plan, VRAM_KEY_ENGINE);
    s->deepspeed = s->strategy->deepspeed;
    const char *own = s->strategy->deepspeed ? "deepspeed" : s->strategy->fsdp ? "fsdp" : "torch";
    if (*engine && strcmp(engine, own) != 0)
        return vram_resolve_unsupported(r, VRAM_KEY_ENGINE);
    VRAM_TRY(resolve_offload(r));
    VRAM_TRY(refuse_types(r));
    VRAM_TRY(find_unused(r));
    VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_STRATEGY));
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_SHARDS));
    for (size_t i = 0; i < sizeof parallel / sizeof *parallel; i++)
        VRAM_TRY(vram_resolve_note_given(r, parallel[i]));
    VRAM_TRY(note_strategy(r, name));
    if (vram_plan_int(r->plan, VRAM_KEY_GPUS) > 1 && !strcmp(name, "none"))
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_UNUSED, "gpus",
                           "gpus=%lld has no effect with strategy=none: each GPU holds everything",
                           (long long)vram_plan_int(r->plan, VRAM_KEY_GPUS)));
    bool given = vram_plan_given(r->plan, VRAM_KEY_GPUS);
    VRAM_TRY(vram_resolve_note_number(r, "gpus", given ? vram_plan_int(r->plan, VRAM_KEY_GPUS) : s->ranks,
                         given ? "given" : "default"));
    return vram_resolve_note(r, "engine", own, *engine ? "given" : "default");
}
