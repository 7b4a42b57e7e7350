/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes of the batch.
 */
#include <string.h>

#include "train/setup/resolver.h"

static bool only_vision(const struct resolver *r)
{
    vram_sym vision = vram_sym_find(r->cx->syms, "vision", 6);
    for (uint32_t i = 0; i < r->tree->nscopes; i++)
        if (r->tree->scopes[i].component != vision)
            return false;
    return r->tree->nscopes > 0 && vision != VRAM_SYM_NONE;
}

/* The decoder's own length, at most 2048. */
int vram_resolve_seq(struct resolver *r)
{
    struct vram_setup *s = r->s;
    const struct vram_config *root = r->tree->scopes[0].config;
    const struct vram_config *text = vram_config_get_text(r->cx, root, "text_config");
    int64_t most = vram_resolve_int(r, text ? text : root, "max_position_embeddings");
    s->seq = vram_plan_int(r->plan, VRAM_KEY_SEQ);
    s->text_tokens = r->graph ? VRAM_PLAN_UNSET : vram_plan_int(r->plan, VRAM_KEY_TEXT_TOKENS);
    if (r->graph)
        return vram_resolve_note_given(r, VRAM_KEY_SEQ);
    if (s->text_tokens != VRAM_PLAN_UNSET && s->seq != VRAM_PLAN_UNSET)
        return vram_fail(r->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET,
                         "seq and text_tokens are two ways to say the same: give one of them");
    if (s->text_tokens != VRAM_PLAN_UNSET) /* seq follows when the model is there */
        return vram_resolve_note_plan(r, VRAM_KEY_TEXT_TOKENS);
    if (s->seq != VRAM_PLAN_UNSET) {
        if (most && s->seq > most)
            VRAM_TRY(vram_find(r->cx, VRAM_F_SEQ_LONG, "seq",
                               "seq=%lld is longer than the model's max_position_embeddings %lld",
                               (long long)s->seq, (long long)most));
        return vram_resolve_note_number(r, "seq", s->seq, "given");
    }
    s->seq = most && most < 2048 ? most : 2048;
    if (only_vision(r))
        return VRAM_OK; /* there is no sequence to say a length of */
    VRAM_TRY(vram_find(r->cx, VRAM_F_SEQ_CLIPPED, "seq",
                       "seq=%lld: not given; the model's length, at most 2048", (long long)s->seq));
    return vram_resolve_note_number(r, "seq", s->seq, most ? "model" : "assumed");
}

int vram_resolve_images(struct resolver *r)
{
    struct vram_setup *s = r->s;
    bool sees = false;
    vram_sym vision = vram_sym_find(r->cx->syms, "vision", 6);
    for (uint32_t i = 0; i < r->tree->nscopes && !sees; i++)
        sees = r->tree->scopes[i].component == vision && vision != VRAM_SYM_NONE;
    s->images = sees ? vram_plan_int(r->plan, VRAM_KEY_IMAGES) : 0;
    s->has_image_size = vram_plan_size(r->plan, VRAM_KEY_IMAGE_SIZE, &s->image_height,
                                       &s->image_width);
    if (!sees)
        return VRAM_OK;
    VRAM_TRY(vram_resolve_note(r, "images", vram_plan_text(r->plan, VRAM_KEY_IMAGES),
                  vram_plan_given(r->plan, VRAM_KEY_IMAGES) ? "given" : "assumed"));
    if (s->has_image_size)
        return vram_resolve_note_plan(r, VRAM_KEY_IMAGE_SIZE);
    return VRAM_OK;
}
