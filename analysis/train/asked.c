/* SPDX-License-Identifier: Apache-2.0
 *
 * What a template gets when it asks for a setting of the plan.
 */
#include <string.h>

#include "train/fused.h"
#include "train/loop.h"

static struct vram_value text_value(struct vram_machine *m, const char *text)
{
    struct vram_value v = {.kind = VRAM_V_STRING};
    v.u.i = vram_machine_sym(m, text);
    return v;
}

static struct vram_value number_or_none(int64_t n)
{
    return n == VRAM_PLAN_UNSET ? (struct vram_value){0} : vram_int(n);
}

static struct vram_value image_size(struct vram_loop *l)
{
    struct vram_value v = {.kind = VRAM_V_BOX};
    if (!l->s->has_image_size)
        return (struct vram_value){0};
    v.u.box = vram_box_new(&l->m, VRAM_BOX_TUPLE, 2);
    vram_box_push(&l->m, v.u.box, vram_int(l->s->image_height));
    vram_box_push(&l->m, v.u.box, vram_int(l->s->image_width));
    return v;
}

/* Any other plan key as it stands: numbers as integers, switches as booleans, else text. */
static bool plan_value(struct vram_loop *l, const char *key, struct vram_value *out)
{
    for (int k = 0; k < VRAM_KEY_COUNT; k++) {
        if (strcmp(vram_settings[k].key, key))
            continue;
        enum vram_key row = (enum vram_key)k;
        const char *text = vram_plan_text(l->s->plan, row);
        int64_t n = vram_plan_int(l->s->plan, row);
        l->run->asked[k] = true;
        *out = !*text                                         ? (struct vram_value){0}
               : vram_settings[k].type == VRAM_SETTING_INTEGER   ? number_or_none(n)
               : vram_settings[k].type == VRAM_SETTING_SWITCH    ? vram_bool(vram_plan_on(l->s->plan, row, false))
                                                              : text_value(&l->m, text);
        return true;
    }
    return false;
}

bool vram_loop_setting(void *ctx, vram_sym sym, struct vram_value *out)
{
    struct vram_loop *l = ctx;
    const struct vram_setup *s = l->s;
    const char *key = vram_sym_text(l->m.cx->syms, sym);
    if (!strcmp(key, "attention"))
        *out = text_value(&l->m, s->eager ? "eager" : s->flash_package ? "flash" : "sdpa");
    else if (!strcmp(key, "loss"))
        *out = text_value(&l->m, s->loss);
    else if (!strcmp(key, "logits"))
        *out = text_value(&l->m, s->logits);
    else if (!strcmp(key, "padded"))
        *out = vram_bool(s->padded);
    else if (!strcmp(key, "kv_tokens"))
        *out = vram_int(s->kv_tokens);
    else if (!strcmp(key, "micro_batch"))
        *out = vram_int(l->rows ? l->rows : s->micro_batch);
    else if (!strcmp(key, "seq"))
        *out = vram_int(s->cp > 1 ? s->seq / s->cp : s->seq); /* this rank's positions */
    else if (!strcmp(key, "images"))
        *out = vram_int(s->images);
    else if (!strcmp(key, "tiles") && s->one_tile)
        *out = vram_int(1);
    else if (!strcmp(key, "image_size"))
        *out = image_size(l);
    else if (!strncmp(key, "kernels.", 8))
        return vram_fused_setting(&l->m, s, key, out);
    else
        return plan_value(l, key, out);
    return true;
}
