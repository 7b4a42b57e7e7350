/* SPDX-License-Identifier: Apache-2.0
 *
 * Versions of the stack, the optimizer, the card.
 */
#include <stdio.h>
#include <string.h>

#include "alloc/alloc.h"
#include "train/setup/resolver.h"

/* Rules know versions between these; what changed outside optimizers is not followed. */
static int resolve_version(struct resolver *r, enum vram_key key, int oldest, int newest, int *out)
{
    const char *name = vram_settings[key].key, *given = vram_plan_text(r->plan, key);
    int version = (int)(vram_plan_int(r->plan, key) / 1000);
    *out = version < oldest ? oldest : version > newest ? newest : version;
    if (!vram_plan_given(r->plan, key))
        return VRAM_OK;
    if (version != *out)
        VRAM_TRY(vram_find(r->cx, VRAM_F_VERSION, name, "%s=%s is %s than what the rules know: read as %d.%d",
                           name, given, version < oldest ? "older" : "newer", *out / 1000, *out % 1000));
    else if (version != newest)
        VRAM_TRY(vram_find(r->cx, VRAM_F_VERSION, name,
                           "%s=%s: optimizers and their default follow it, the rest is that of %d.%d", name,
                           given, newest / 1000, newest % 1000));
    return vram_resolve_note(r, name, given, "given");
}

int vram_resolve_versions(struct resolver *r)
{
    VRAM_TRY(resolve_version(r, VRAM_KEY_TRANSFORMERS, 4029, 5024, &r->s->transformers));
    return resolve_version(r, VRAM_KEY_TORCH, 2000, 2009, &r->s->torch);
}

static int put_optimizer(struct resolver *r)
{
    struct vram_setup *s = r->s;
    bool lists = vram_optimizer_has_lists(s->optimizer);
    VRAM_TRY(vram_resolve_note(r, "optimizer", s->optimizer->name,
                  vram_plan_given(r->plan, VRAM_KEY_OPTIMIZER) ? "given" : "default"));
    if (lists)
        VRAM_TRY(vram_resolve_note(r, "optimizer.foreach", s->foreach ? "on" : "off",
                      vram_plan_given(r->plan, VRAM_KEY_OPTIMIZER_FOREACH) ? "given" : "default"));
    if (s->optimizer->low_rank)
        VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_OPTIMIZER_RANK));
    if (s->optimizer->low_rank)
        VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_OPTIMIZER_TARGETS));
    if (s->in_backward || vram_plan_given(r->plan, VRAM_KEY_OPTIMIZER_IN_BACKWARD))
        VRAM_TRY(vram_resolve_note(r, "optimizer_in_backward", s->in_backward ? "on" : "off",
                      s->optimizer->in_backward ? "default" : "given"));
    return vram_resolve_note(r, "clip_grad", s->clip ? "on" : "off",
                vram_plan_given(r->plan, VRAM_KEY_CLIP_GRAD) ? "given" : "default");
}

/* One gradient at a time: nothing can wait for the others. */
static int check_in_backward(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *name = s->optimizer->name;
    if (s->accumulation > 1)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "optimizer=%s steps inside backward: accumulation must be 1", name);
    if (strcmp(s->strategy->name, "none") != 0)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "optimizer=%s steps inside backward: not under strategy=%s", name,
                         s->strategy->name);
    if (s->clip && vram_plan_given(r->plan, VRAM_KEY_CLIP_GRAD))
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_UNUSED, "clip_grad",
                           "optimizer=%s steps inside backward, before all gradients are there: none is "
                           "clipped", name));
    s->clip = false;
    return VRAM_OK;
}

int vram_resolve_optimizer(struct resolver *r)
{
    struct vram_setup *s = r->s;
    bool given = vram_plan_given(r->plan, VRAM_KEY_OPTIMIZER), train = s->mode == VRAM_MODE_TRAIN;
    const char *name = given ? vram_plan_text(r->plan, VRAM_KEY_OPTIMIZER)
                             : vram_default_optimizer(s->transformers, s->torch);
    s->optimizer = vram_optimizer_find(train ? name : "none");
    if (!s->optimizer)
        return vram_resolve_unsupported(r, VRAM_KEY_OPTIMIZER);
    if ((s->offload || s->host_optimizer) && !s->optimizer->on_host)
        return vram_resolve_unsupported(r, VRAM_KEY_OPTIMIZER);
    if (s->optimizer->read_as) {
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_READ_AS, "optimizer", "optimizer=%s is read as %s: %s", name,
                           s->optimizer->read_as, s->optimizer->note));
        s->optimizer = vram_optimizer_find(s->optimizer->read_as);
    }
    if (s->torch < s->optimizer->since)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "optimizer=%s: torch has it since %d.%d, not in %d.%d", name,
                         s->optimizer->since / 1000, s->optimizer->since % 1000, s->torch / 1000, s->torch % 1000);
    if (s->optimizer->unknown)
        VRAM_TRY(vram_find(r->cx, VRAM_F_SETTING_ASSUMED, "optimizer", "optimizer=%s: %s", name,
                           s->optimizer->unknown));
    s->foreach = vram_plan_on(r->plan, VRAM_KEY_OPTIMIZER_FOREACH, vram_optimizer_has_lists(s->optimizer));
    s->clip = vram_plan_on(r->plan, VRAM_KEY_CLIP_GRAD, true);
    s->optimizer_rank = vram_plan_int(r->plan, VRAM_KEY_OPTIMIZER_RANK);
    s->optimizer_targets = vram_plan_text(r->plan, VRAM_KEY_OPTIMIZER_TARGETS);
    s->in_backward = s->optimizer->in_backward ||
                     vram_plan_on(r->plan, VRAM_KEY_OPTIMIZER_IN_BACKWARD, false);
    s->clip = s->clip && !s->host_gradients;
    if (!train)
        return VRAM_OK;
    if (s->host_optimizer)
        VRAM_TRY(vram_find(r->cx, VRAM_F_KERNELS_BASIS, "offload",
                           "a rule, read in torchao 0.14.1 optim/cpu_offload.py: what has 4096 elements and more steps on the "
                           "host, on copies in its own dtype"));
    const enum vram_key off[] = {VRAM_KEY_FLOAT8};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (vram_plan_on(r->plan, off[i], false))
            return vram_resolve_unsupported(r, off[i]);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        VRAM_TRY(vram_resolve_note_given(r, off[i]));
    if ((s->deepspeed || s->strategy->fsdp) && s->optimizer->second)
        return vram_fail(r->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "optimizer=%s tells tensors apart: not under strategy=%s, which flattens them",
                         name, s->strategy->name);
    if (s->in_backward)
        VRAM_TRY(check_in_backward(r));
    return put_optimizer(r);
}

static int no_card(struct resolver *r, const char *name)
{
    const struct vram_gpu_row *near[4];
    char names[160] = "";
    size_t n = vram_gpu_near(name, near, sizeof near / sizeof *near);
    for (size_t i = 0, at = 0; i < n && at < sizeof names; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", near[i]->short_name);
    return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                     "gpu=%s: no such card is known%s%s%s (vramcast list gpus)", name,
                     n ? "; did you mean " : "", names, n ? "?" : "");
}

int vram_resolve_gpu(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const char *name = vram_plan_text(r->plan, VRAM_KEY_GPU);
    s->headroom = vram_plan_number(r->plan, VRAM_KEY_HEADROOM);
    s->allocator = vram_allocator_find(vram_plan_text(r->plan, VRAM_KEY_ALLOCATOR));
    if (!s->allocator)
        return vram_resolve_unsupported(r, VRAM_KEY_ALLOCATOR);
    VRAM_TRY(vram_resolve_note_plan(r, VRAM_KEY_ALLOCATOR));
    if (!*name)
        return VRAM_OK;
    s->gpu = vram_gpu_find(name);
    if (!s->gpu)
        return no_card(r, name);
    if (strncmp(s->gpu->source, "measured", 8))
        VRAM_TRY(vram_find(r->cx, VRAM_F_GPU_DERIVED, "gpu", "usable bytes of %s are %s, not measured",
                           s->gpu->name, s->gpu->source));
    VRAM_TRY(vram_resolve_note(r, "gpu", s->gpu->short_name, "given"));
    return vram_resolve_note_plan(r, VRAM_KEY_HEADROOM);
}
