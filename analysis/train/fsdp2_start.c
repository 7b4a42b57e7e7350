/* SPDX-License-Identifier: Apache-2.0
 *
 * How FSDP2 cuts a model: fsdp2_prepare_model of accelerate 1.15 (utils/fsdp_utils.py), FSDPParam
 * of torch 2.9 (distributed/fsdp/_fully_shard/_fsdp_param.py).
 */
#include <string.h>

#include "train/fsdp2.h"

static uint32_t child_named(const struct vram_tree *t, uint32_t parent, const char *name)
{
    for (uint32_t i = parent + 1; i < t->scopes[parent].end; i++)
        if (t->scopes[i].parent == parent &&
            !strcmp(vram_sym_text(t->syms, t->scopes[i].name), name))
            return i;
    return VRAM_NO_INDEX;
}

/* _find_final_norm: the last direct child of the base model whose class is a norm.  PEFT's wrapper
 * hides the base model. */
static uint32_t final_norm(const struct vram_strategy *s)
{
    const struct vram_tree *t = s->m->tree;
    uint32_t base = child_named(t, 0, "model"), found = VRAM_NO_INDEX;
    for (uint32_t i = 0; i < s->setup->ntrain; i++)
        if (s->setup->train[i] == VRAM_TRAIN_LORA)
            return VRAM_NO_INDEX;
    for (uint32_t i = base; base != VRAM_NO_INDEX && i < t->scopes[base].end; i++)
        if (t->scopes[i].parent == base && t->scopes[i].cls != VRAM_NO_INDEX &&
            strstr(vram_sym_text(t->syms, t->program->classes.at[t->scopes[i].cls].name), "Norm"))
            found = i;
    return found;
}

/* get_input_embeddings() of the model: that of its text. */
static uint32_t input_embedding(const struct vram_tree *t)
{
    uint32_t found = VRAM_NO_INDEX;
    for (uint32_t i = 0; i < t->nscopes; i++)
        if (t->scopes[i].input_embedding &&
            strcmp(vram_sym_text(t->syms, t->scopes[i].component), "vision") != 0)
            found = i;
    return found;
}

static bool tied(const struct vram_tree *t, uint32_t head)
{
    const struct vram_scope *s = &t->scopes[head];
    for (uint32_t i = s->first_param; i < s->first_param + s->nparams; i++)
        if (t->params[i].tied_to != VRAM_NO_INDEX)
            return true;
    return false;
}

/* The layers; the embedding; norm and head, which stay whole between forward and backward; the
 * rest. */
static void make_units(struct vram_units *u)
{
    const struct vram_strategy *s = u->s;
    const struct vram_tree *t = s->m->tree;
    bool again = vram_plan_on(s->setup->plan, VRAM_KEY_FSDP_RESHARD, true);
    uint32_t embed = input_embedding(t), head = child_named(t, 0, "lm_head"), norm = final_norm(s);
    uint32_t tail[VRAM_UNIT_SCOPES], n = 0, root = 0;
    bool shared = embed != VRAM_NO_INDEX && head != VRAM_NO_INDEX && tied(t, head);
    vram_units_layers(u);
    if (embed != VRAM_NO_INDEX && !shared)
        vram_units_add(u, &embed, 1, again);
    if (norm != VRAM_NO_INDEX)
        tail[n++] = norm;
    if (shared)
        tail[n++] = embed;
    if (head != VRAM_NO_INDEX)
        tail[n++] = head;
    vram_units_add(u, tail, n, false);
    vram_units_add(u, &root, 1, false);
    vram_units_fill(u);
}

/* fully_shard: the whole unit comes to the card, its shards are made, the whole goes. */
static void shard_unit(struct vram_machine *m, struct vram_fsdp2 *f, const struct vram_unit *unit)
{
    struct vram_handle **whole = vram_machine_alloc(m, unit->n ? unit->n : 1, sizeof *whole);
    for (uint32_t i = 0; i < unit->n; i++) {
        struct vram_handle *x = m->params[unit->params[i]];
        m->scope = m->tree->params[unit->params[i]].scope;
        m->op = VRAM_OP_LOAD;
        whole[i] = vram_new(m, x->shape, x->rank,
                            (enum vram_dtype)f->part[unit->params[i]].shard->dtype, NULL);
        vram_set_category(m, whole[i], VRAM_CAT_PARAMETER);
    }
    m->op = VRAM_OP_STRATEGY;
    for (uint32_t i = 0; i < unit->n; i++) {
        struct vram_part *part = &f->part[unit->params[i]];
        m->scope = m->tree->params[unit->params[i]].scope;
        struct vram_handle *bytes =
            vram_flat_new(m, part->padded, (enum vram_dtype)part->shard->dtype);
        vram_set_category(m, bytes, VRAM_CAT_PARAMETER);
        if (bytes->storage)
            m->events->storages[bytes->storage->id].param = unit->params[i];
        vram_storage_move(m, part->shard, bytes);
        vram_drop(m, bytes);
    }
    for (uint32_t i = 0; i < unit->n; i++)
        vram_drop(m, whole[i]);
}

/* The shard that a parameter becomes: rows of the first dimension. */
static void make_part(struct vram_machine *m, struct vram_fsdp2 *f, uint32_t p,
                      enum vram_dtype held)
{
    struct vram_handle *x = m->params[p];
    int64_t shape[VRAM_MAX_RANK], rows = x->rank ? x->shape[0] : 1;
    memcpy(shape, x->shape, sizeof shape);
    shape[0] = (rows + (int64_t)f->ranks - 1) / (int64_t)f->ranks;
    struct vram_handle *shard = vram_blank(m, shape, x->rank, held);
    shard->leaf = true;
    shard->param = p;
    shard->requires_grad = x->requires_grad;
    f->part[p].shard = shard;
    f->part[p].padded = (uint64_t)vram_numel(shard);
}

static int by_first_module(const struct vram_fsdp2 *f, uint32_t a, uint32_t b)
{
    uint32_t x = f->units.list.at[a].scopes[0], y = f->units.list.at[b].scopes[0];
    for (uint32_t i = 0; i < f->units.list.at[a].nscopes; i++)
        x = f->units.list.at[a].scopes[i] < x ? f->units.list.at[a].scopes[i] : x;
    for (uint32_t i = 0; i < f->units.list.at[b].nscopes; i++)
        y = f->units.list.at[b].scopes[i] < y ? f->units.list.at[b].scopes[i] : y;
    return x < y ? -1 : x > y;
}

static void sort_units(struct vram_machine *m, struct vram_fsdp2 *f)
{
    uint32_t n = (uint32_t)f->units.list.n;
    f->order = vram_machine_alloc(m, n, sizeof *f->order);
    f->groups = vram_machine_alloc(m, n, sizeof *f->groups);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i;
        f->groups[i].unit = &f->units.list.at[i];
        for (; k > 0 && by_first_module(f, i, f->order[k - 1]) < 0; k--)
            f->order[k] = f->order[k - 1];
        f->order[k] = i;
    }
}

/* Made with the first parameter; a model without any has one, too. */
static struct vram_fsdp2 *state_of(struct vram_strategy *s)
{
    struct vram_fsdp2 *f = s->own;
    if (f)
        return f;
    s->own = f = vram_machine_alloc(s->m, 1, sizeof *f);
    f->part = vram_machine_alloc(s->m, s->m->tree->nparams, sizeof *f->part);
    f->ranks = (uint64_t)s->setup->ranks;
    return f;
}

/* Trained parameters are held in fp32 where compute is mixed; whatever the dtype, it is lowered
 * when it is gathered. */
void vram_fsdp2_load(struct vram_strategy *s, uint32_t p)
{
    struct vram_machine *m = s->m;
    struct vram_fsdp2 *f = state_of(s);
    struct vram_handle *x = m->params[p];
    bool mixed = s->setup->autocast != VRAM_DT_NONE,
         floating = vram_dtype_is_float((enum vram_dtype)x->dtype);
    make_part(m, f, p, mixed && x->requires_grad ? VRAM_DT_F32 : (enum vram_dtype)x->dtype);
    if (mixed && floating)
        x->dtype = (uint8_t)s->setup->autocast;
}

static void to_shards(struct vram_strategy *s, struct vram_fsdp2 *f)
{
    for (int g = 0; g < 2; g++)
        for (uint32_t i = 0; i < s->optimizer->n[g]; i++)
            s->optimizer->params[g][i] = f->part[s->optimizer->params[g][i]->param].shard;
}

void vram_fsdp2_init(struct vram_strategy *s)
{
    struct vram_machine *m = s->m;
    struct vram_fsdp2 *f = state_of(s);
    const char *sent = vram_plan_text(s->setup->plan, VRAM_KEY_FSDP_REDUCE_DTYPE);
    f->replicated = !strcmp(s->row->name, "hsdp");
    m->hooked_dtype = s->setup->autocast;
    f->sent = *sent ? vram_dtype_by_name(sent) : VRAM_DT_NONE;
    if (f->sent == s->setup->autocast || (!s->setup->autocast && f->sent == s->setup->dtype))
        f->sent = VRAM_DT_NONE;
    vram_units_init(&f->units, s);
    make_units(&f->units);
    sort_units(m, f);
    for (size_t i = 0; i < f->units.list.n; i++)
        shard_unit(m, f, &f->units.list.at[i]);
    to_shards(s, f);
    m->scope = 0;
}
