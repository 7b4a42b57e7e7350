/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stages of ZeRO share (DeepSpeed 0.19.6): sizes that Hugging Face fills in, the norm of a
 * partition's gradients, the step on a flat partition.
 */
#include "train/strategy.h"

/* hidden_size of the text model; transformers/integrations/deepspeed.py */
static int64_t hidden_size(const struct vram_machine *m)
{
    const struct vram_config *root = m->tree->scopes[0].config;
    const struct vram_config *text = vram_config_get_text(m->cx, root, "text_config");
    const struct vram_config *h = vram_config_get_text(m->cx, root, "hidden_size");
    if (!h || h->type != VRAM_CONFIG_INT)
        h = vram_config_get_text(m->cx, text ? text : root, "hidden_size");
    return h && h->type == VRAM_CONFIG_INT ? h->integer : 0;
}

uint64_t vram_zero_elements(const struct vram_strategy *s, enum vram_key key)
{
    int64_t n = vram_plan_int(s->setup->plan, key), h = hidden_size(s->m);
    if (n != VRAM_PLAN_AUTO)
        return (uint64_t)n;
    switch (h ? key : VRAM_KEY_COUNT) {
    case VRAM_KEY_ZERO_REDUCE_BUCKET_SIZE:
        return (uint64_t)(h * h);
    case VRAM_KEY_ZERO_STAGE3_PREFETCH_BUCKET_SIZE:
        return (uint64_t)(0.9 * (double)(h * h));
    case VRAM_KEY_ZERO_STAGE3_PARAM_PERSISTENCE_THRESHOLD:
        return (uint64_t)(10 * h);
    default:
        vram_throw(s->m, VRAM_E_ARGUMENT, "%s=auto: the config has no hidden_size",
                   vram_settings[key].key);
    }
}

/* get_grad_norm_direct: each piece is cast to float64, one after the other; then the stack of their
 * norms and its squares. */
void vram_zero_norm(struct vram_strategy *s, const struct vram_zero_piece *pieces, uint32_t n)
{
    struct vram_machine *m = s->m;
    struct vram_handle **norms = vram_machine_alloc(m, n ? n : 1, sizeof *norms);
    int64_t count[1] = {n};
    for (uint32_t i = 0; i < n; i++) {
        int64_t shape[1] = {(int64_t)pieces[i].elements};
        m->scope = m->tree->params[pieces[i].param].scope;
        struct vram_handle *wide = vram_new(m, shape, 1, VRAM_DT_F64, NULL);
        norms[i] = vram_new_scalar(m, VRAM_DT_F64);
        vram_drop(m, wide);
    }
    m->scope = 0;
    struct vram_handle *stack = vram_new(m, count, 1, VRAM_DT_F64, NULL);
    vram_drop(m, vram_new(m, count, 1, VRAM_DT_F64, NULL));
    vram_drop(m, stack);
    while (n)
        vram_drop(m, norms[--n]);
}

/* A partition as a parameter of the optimizer; which: its number behind the tree's parameters. */
void vram_zero_master(struct vram_strategy *s, struct vram_handle *master, uint32_t which)
{
    master->param = s->m->tree->nparams + which;
    if (!vram_offloads(s))
        s->optimizer->share[which] = s->m->events->storages[master->storage->id].share;
}

void vram_zero_update(struct vram_strategy *s, struct vram_handle *master, bool decay)
{
    struct vram_handle *one[1] = {master};
    vram_optimizer_update(s->optimizer, one, 1, decay);
    vram_optimizer_forget(s->optimizer);
    s->m->op = VRAM_OP_STRATEGY;
}
