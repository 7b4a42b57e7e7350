/* SPDX-License-Identifier: Apache-2.0
 *
 * How the model runs: attention, checkpointing, loss, generation.
 */
#include <string.h>

#include "train/fused.h"
#include "train/setup/resolver.h"

int vram_resolve_attention(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *a = vram_plan_text(r->plan, VRAM_KEY_ATTENTION);
    s->eager = !strcmp(a, "eager");
    s->flash_package = !strcmp(a, "flash2") || !strcmp(a, "flash3");
    s->attention = !strcmp(a, "efficient") ? VRAM_ATTENTION_EFFICIENT
                   : !strcmp(a, "math")    ? VRAM_ATTENTION_MATH
                                           : VRAM_ATTENTION_AUTO;
    s->padded = vram_plan_on(r->plan, VRAM_KEY_PADDED, false);
    if (!s->card && s->padded && s->attention == VRAM_ATTENTION_AUTO)
        s->attention = VRAM_ATTENTION_EFFICIENT; /* the oracle picks one kernel for the whole model */
    if (!strcmp(a, "flash2") || !strcmp(a, "flash3") || !strcmp(a, "cudnn"))
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_READ_AS, "attention",
                           "attention=%s is read as sdpa with the flash kernel", a));
    VRAM_TRY(vram_fused_resolve(r->cx, r->tree, s));
    if (vram_plan_on(r->plan, VRAM_KEY_PACKING, false))
        return vram_resolve_unsupported(r, VRAM_KEY_PACKING);
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_KERNELS));
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_PACKING));
    VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_ATTENTION));
    return vram_resolve_note_plan(r, VRAM_KEY_PADDED);
}

int vram_resolve_checkpointing(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *c = vram_plan_text(r->plan, VRAM_KEY_CHECKPOINTING);
    if (s->mode != VRAM_MODE_TRAIN)
        return VRAM_OK;
    s->selective = !strcmp(c, "selective");
    if (s->selective)
        VRAM_TRY(vram_find(r->cx, VRAM_F_KERNELS_BASIS, "checkpointing",
                           "selective is Megatron's: attention between the projections runs again (core_attn), by "
                           "torch's checkpoint that is not reentrant; the policy of torch's selective "
                           "checkpoint contexts is another"));
    s->checkpoint_every = vram_plan_int(r->plan, VRAM_KEY_CHECKPOINTING_EVERY);
    s->offload_inputs = vram_plan_on(r->plan, VRAM_KEY_CHECKPOINTING_OFFLOAD, false) ||
                        vram_plan_is(r->plan, VRAM_KEY_OFFLOAD, "activations");
    s->checkpointing = strcmp(c, "off") != 0;
    s->reentrant = vram_plan_on(r->plan, VRAM_KEY_CHECKPOINTING_REENTRANT, false);
    if (s->selective && s->reentrant)
        return vram_resolve_unsupported(r, VRAM_KEY_CHECKPOINTING_REENTRANT);
    for (uint32_t i = 0; s->checkpointing && i < r->tree->nscopes; i++) {
        vram_sym component = r->tree->scopes[i].component;
        s->checkpointed[component] = !strcmp(c, "all") ||
                                     !strcmp(c, vram_sym_text(r->cx->syms, component));
    }
    if (s->offload_inputs && (!s->checkpointing || s->reentrant))
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "what a checkpoint keeps is offloaded: with checkpointing, and not the reentrant kind");
    VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_CHECKPOINTING));
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_CHECKPOINTING_EVERY));
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_CHECKPOINTING_OFFLOAD));
    if (s->checkpointing)
        VRAM_TRY(vram_resolve_note(r, "checkpointing.reentrant", s->reentrant ? "on" : "off",
                      vram_plan_given(r->plan, VRAM_KEY_CHECKPOINTING_REENTRANT) ? "given" : "default"));
    return VRAM_OK;
}

/* A classifier is a head, and the head is chosen as the model is opened. */
static bool has_classifier(const struct resolver *r)
{
    for (uint32_t i = 0; i < r->tree->nscopes; i++)
        if (!strcmp(vram_sym_text(r->cx->syms, r->tree->scopes[i].component), "head"))
            return true;
    return false;
}

/* Two towers whose likeness is scaled by a parameter of the model itself: CLIP, SigLIP. */
static bool is_contrastive(const struct resolver *r)
{
    for (uint32_t i = 0; i < r->tree->nparams && r->tree->params[i].scope == 0; i++)
        if (!strcmp(vram_sym_text(r->cx->syms, r->tree->params[i].path), "logit_scale"))
            return true;
    return false;
}

static int resolve_task(struct resolver *r)
{
    bool contrastive = vram_plan_is(r->plan, VRAM_KEY_TASK, "contrastive") || !strcmp(r->s->loss, "contrastive");
    bool classify = vram_plan_is(r->plan, VRAM_KEY_TASK, "classify") ||
                    vram_plan_is(r->plan, VRAM_KEY_TASK, "image-class") || !strcmp(r->s->loss, "classifier");
    bool given = vram_plan_given(r->plan, VRAM_KEY_TASK);
    if (contrastive && r->tree->known && !is_contrastive(r))
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "a contrastive loss needs a model of two towers, such as CLIP and SigLIP");
    if (given && !classify && !contrastive && !vram_plan_is(r->plan, VRAM_KEY_TASK, "causal-lm"))
        return vram_resolve_unsupported(r, VRAM_KEY_TASK);
    if (classify && r->tree->known && !has_classifier(r))
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "the model has no classifier: it is to be opened with the task \"classify\"");
    return VRAM_OK;
}

int vram_resolve_loss(struct resolver *r)
{
    struct vram_setup *s = r->s;
    bool given = vram_plan_given(r->plan, VRAM_KEY_LOSS);
    s->loss = given                         ? vram_plan_text(r->plan, VRAM_KEY_LOSS)
              : s->mode == VRAM_MODE_INFER  ? "none"
              : s->fused && s->fused_loss   ? "liger"
                                            : vram_plan_text(r->plan, VRAM_KEY_LOSS);
    s->logits = vram_plan_text(r->plan, VRAM_KEY_LOGITS);
    static const char *const known[] = {"hf", "liger", "cce", "chunked", "classifier", "contrastive"};
    bool found = s->mode != VRAM_MODE_TRAIN && !strcmp(s->loss, "none");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        found = found || !strcmp(s->loss, known[i]);
    if (!found)
        return vram_resolve_unsupported(r, VRAM_KEY_LOSS);
    if (!r->graph) /* it has its own, or the means of its outputs */
        VRAM_TRY(vram_resolve_note(r, "loss", s->loss, given ? "given" : "default"));
    VRAM_TRY(resolve_task(r));
    if (!strcmp(s->loss, "classifier") || !strcmp(s->loss, "contrastive"))
        s->loss = "hf"; /* the model's own */
    const enum vram_key given_too[] = {VRAM_KEY_TASK, VRAM_KEY_REF_MODEL, VRAM_KEY_PAIRS};
    for (size_t i = 0; i < sizeof given_too / sizeof *given_too; i++)
        VRAM_TRY(vram_resolve_note_given(r, given_too[i]));
    return VRAM_OK;
}

/* Positions in the cache at the end: those of the prompt, then one of each token but the last.
 * generate() asks for the last position's logits alone. */
int vram_resolve_generation(struct resolver *r)
{
    struct vram_setup *s = r->s;
    int64_t kv = vram_plan_int(r->plan, VRAM_KEY_KV_TOKENS), new = vram_plan_int(r->plan, VRAM_KEY_NEW_TOKENS);
    bool given = kv != VRAM_PLAN_UNSET;
    if (s->mode != VRAM_MODE_INFER)
        return VRAM_OK;
    if (!given)
        kv = new == VRAM_PLAN_UNSET || new == 0 ? 0 : s->seq + new - 1;
    else if (kv && kv < s->seq)
        return vram_fail(r->cx, VRAM_E_CONFLICT, VRAM_NO_OFFSET,
                         "kv_tokens=%lld is less than the prompt, seq=%lld", (long long)kv, (long long)s->seq);
    else if (kv && new != VRAM_PLAN_UNSET && new != 0 && kv != s->seq + new - 1)
        return vram_fail(r->cx, VRAM_E_CONFLICT, VRAM_NO_OFFSET,
                         "kv_tokens=%lld and new_tokens=%lld disagree for seq=%lld", (long long)kv,
                         (long long)new, (long long)s->seq);
    s->kv_tokens = kv;
    if (kv && !*s->logits)
        s->logits = "last";
    if (!vram_plan_is(r->plan, VRAM_KEY_KV_DTYPE, "") &&
        vram_dtype_by_name(vram_plan_text(r->plan, VRAM_KEY_KV_DTYPE)) != s->dtype)
        return vram_resolve_unsupported(r, VRAM_KEY_KV_DTYPE);
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_NEW_TOKENS));
    VRAM_TRY(vram_resolve_note_given(r, VRAM_KEY_KV_DTYPE));
    if (kv || given)
        VRAM_TRY(vram_resolve_note_number(r, "kv_tokens", kv, given ? "given" : "default"));
    return vram_resolve_note(r, "logits", *s->logits ? s->logits : "full",
                vram_plan_given(r->plan, VRAM_KEY_LOGITS) ? "given" : "default");
}

/* What the packages of these kernels refuse: their call raises, nothing takes its place. */
int vram_resolve_check_attention(struct resolver *r)
{
    const struct vram_setup *s = r->s;
    const char *a = vram_plan_text(r->plan, VRAM_KEY_ATTENTION);
    if (strncmp(a, "flash", 5) != 0 && strcmp(a, "cudnn") != 0)
        return VRAM_OK;
    if (s->dtype == VRAM_DT_F32 && s->autocast == VRAM_DT_NONE)
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "attention=%s does not run in fp32: it takes fp16 and bf16", a);
    if (s->gpu && s->gpu->sm && s->gpu->sm < 80)
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "attention=%s does not run on %s: it needs compute capability 8.0, the card has %d.%d",
                         a, s->gpu->short_name, s->gpu->sm / 10, s->gpu->sm % 10);
    return VRAM_OK;
}
