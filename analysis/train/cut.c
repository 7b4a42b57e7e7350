/* SPDX-License-Identifier: Apache-2.0
 *
 * Splits a model over the ranks of tensor and expert parallelism as transformers' plans say (its
 * distributed/tensor_parallel.py, expert_parallel.py, mixin.py): rules of the families are the plans,
 * styles are what they name.  A parameter has the rule of its own path, else that of its module.
 */
#include "train/cut.h"

#include <string.h>

const struct vram_style_row vram_styles[] = {
    {"colwise", VRAM_AXIS_TP, VRAM_CUT_OUTPUTS, true, "outputs are split; the input's gradient is summed"},
    {"colwise_gather_output", VRAM_AXIS_TP, VRAM_CUT_OUTPUTS, true, "outputs are split and gathered"},
    {"rowwise", VRAM_AXIS_TP, VRAM_CUT_INPUTS, true, "inputs are split; outputs are summed"},
    {"rowwise_split_input", VRAM_AXIS_TP, VRAM_CUT_INPUTS, true, "a whole input is split, outputs are summed"},
    {"embedding_rowwise", VRAM_AXIS_TP, VRAM_CUT_ROWS, true, "the vocabulary is split, rows are summed"},
    {"packed_colwise", VRAM_AXIS_TP, VRAM_CUT_OUTPUTS, false, "outputs of each half are split"},
    {"replicated_with_grad_allreduce", VRAM_AXIS_TP, VRAM_CUT_NONE, false,
     "whole; its gradient is summed where it is"},
    {"moe_tp_experts", VRAM_AXIS_TP, VRAM_CUT_NONE, true, "a part of every expert; outputs are summed"},
    {"grouped_gemm", VRAM_AXIS_EP, VRAM_CUT_ROWS, false, "whole experts are split over ranks"},
    {"ep_dispatch_experts", VRAM_AXIS_EP, VRAM_CUT_NONE, true, "tokens go to the ranks of their experts and back"},
    {"mla_kv_a_proj", VRAM_AXIS_TP, VRAM_CUT_NONE, true, "whole; the rotary part's gradient is summed"},
};
const uint32_t vram_styles_count = sizeof vram_styles / sizeof *vram_styles;

struct cut {
    struct vram_cx *cx;
    const struct vram_setup *setup;
    struct vram_tree *tree;
    uint32_t parallel; /* the class of the templates */
    uint32_t n;        /* modules that rules found */
    uint32_t experts;  /* parameters of split experts */
};

static bool ends_so(const char *path, const char *end, size_t n)
{
    size_t k = strlen(path);
    return k >= n && !memcmp(path + k - n, end, n) && (k == n || path[k - n - 1] == '.');
}

/* The row of the first rule of the family, of this axis, whose text has an end of the path. */
static const struct vram_style_row *rule_of(struct cut *c, const struct vram_family *f, const char *path,
                                            enum vram_axis axis)
{
    const struct vram_program *g = c->tree->program;
    for (uint32_t i = 0; f && i < f->nparallels; i++) {
        const struct vram_parallel *r = &g->parallels.at[f->parallels + i];
        const char *ends = vram_sym_text(c->cx->syms, r->ends);
        for (size_t n; *ends; ends += n + strspn(ends + n, " ")) {
            n = strcspn(ends, " ");
            if (!ends_so(path, ends, n))
                continue;
            for (uint32_t k = 0; k < vram_styles_count; k++)
                if (vram_styles[k].axis == axis && !strcmp(vram_styles[k].name, vram_sym_text(c->cx->syms, r->style)))
                    return &vram_styles[k];
        }
    }
    return NULL;
}

/* Expert parallelism goes before tensor parallelism. */
static const struct vram_style_row *style_of(struct cut *c, const struct vram_family *f, const char *path)
{
    const struct vram_style_row *row = c->setup->ep > 1 ? rule_of(c, f, path, VRAM_AXIS_EP) : NULL;
    return row || c->setup->tp < 2 ? row : rule_of(c, f, path, VRAM_AXIS_TP);
}

static const struct vram_family *family_of(struct cut *c, const struct vram_scope *s)
{
    const struct vram_config *type = s->config ? vram_config_get_text(c->cx, s->config, "model_type") : NULL;
    return type && type->type == VRAM_CONFIG_STRING ? vram_program_family(c->tree->program, type->text) : NULL;
}

static int64_t ranks_of(const struct cut *c, const struct vram_style_row *row)
{
    return row->axis == VRAM_AXIS_TP ? c->setup->tp : c->setup->ep;
}

/* The first rank's part is the largest: torch.chunk's. */
static int cut_param(struct cut *c, struct vram_param *p, const struct vram_style_row *row)
{
    int dim = row->cut == VRAM_CUT_ROWS     ? 0
              : row->cut == VRAM_CUT_INPUTS ? p->rank - 1
              : p->rank > 1                 ? p->rank - 2
                                            : p->rank - 1;
    int64_t ranks = ranks_of(c, row), *dims;
    if (p->buffer || row->cut == VRAM_CUT_NONE || !p->rank)
        return VRAM_OK;
    p->mesh = (uint8_t)(1 + row->axis);
    if (row->cut == VRAM_CUT_INPUTS && p->rank == 1) /* a bias is added to the sum, by everybody */
        return VRAM_OK;
    if (row->axis == VRAM_AXIS_EP && p->dims[dim] % ranks)
        return vram_fail(c->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET, "ep=%lld does not divide %lld experts",
                         (long long)ranks, (long long)p->dims[dim]);
    c->experts += row->axis == VRAM_AXIS_EP;
    dims = vram_arena_array(c->cx->arena, p->rank, sizeof *dims);
    if (!dims)
        return vram_fail_memory(c->cx);
    memcpy(dims, p->dims, p->rank * sizeof *dims);
    dims[dim] = (dims[dim] + ranks - 1) / ranks;
    p->whole = p->elements;
    p->elements = p->dims[dim] ? p->elements / (uint64_t)p->dims[dim] * (uint64_t)dims[dim] : 0;
    p->dims = dims;
    vram_dtype_bytes((enum vram_dtype)p->dtype, p->elements, &p->bytes);
    return VRAM_OK;
}

static int wrap(struct cut *c, struct vram_scope *s, const struct vram_style_row *row)
{
    const struct vram_program *g = c->tree->program;
    vram_sym name = vram_sym_find(c->cx->syms, row->name, strlen(row->name));
    uint32_t i = c->parallel == VRAM_NO_INDEX || name == VRAM_SYM_NONE
                     ? VRAM_NO_INDEX
                     : vram_class_member(g, &g->classes.at[c->parallel], name);
    if (i == VRAM_NO_INDEX)
        return vram_fail(c->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET, "no template says what %s runs around %s",
                         row->name, vram_sym_text(c->cx->syms, s->path));
    s->split = g->decls.at[g->classes.at[c->parallel].members[i]].function + 1;
    return VRAM_OK;
}

static int cut_scope(struct cut *c, struct vram_scope *s)
{
    const struct vram_family *f = family_of(c, s);
    const struct vram_style_row *row = style_of(c, f, vram_sym_text(c->cx->syms, s->path)), *own;
    for (uint32_t i = s->first_param; f && i < s->first_param + s->nparams; i++) {
        struct vram_param *p = &c->tree->params[i];
        own = style_of(c, f, vram_sym_text(c->cx->syms, p->path));
        own = own ? own : row;
        if (own && ranks_of(c, own) > 1)
            VRAM_TRY(cut_param(c, p, own));
    }
    if (!row || ranks_of(c, row) < 2)
        return VRAM_OK;
    c->n++;
    return row->around ? wrap(c, s, row) : VRAM_OK;
}

/* Whose storage it is has the say. */
static void follow_ties(struct vram_tree *t)
{
    for (uint32_t i = 0; i < t->nparams; i++) {
        struct vram_param *p = &t->params[i];
        if (p->tied_to == VRAM_NO_INDEX)
            continue;
        const struct vram_param *q = &t->params[p->tied_to];
        p->dims = q->dims;
        p->elements = q->elements;
        p->whole = q->whole;
        p->bytes = q->bytes;
        p->mesh = q->mesh;
    }
}

static int cut_layers(struct cut *c)
{
    vram_sym name = vram_sym_find(c->cx->syms, "Parallel", strlen("Parallel"));
    c->parallel = name == VRAM_SYM_NONE ? VRAM_NO_INDEX : vram_program_class(c->tree->program, name);
    for (uint32_t i = 0; i < c->tree->nscopes; i++)
        VRAM_TRY(cut_scope(c, &c->tree->scopes[i]));
    if (!c->n)
        return vram_fail(c->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "tp=%lld: transformers has no plan that splits this model over ranks",
                         (long long)c->setup->tp);
    if (c->setup->ep > 1 && !c->experts)
        return vram_fail(c->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "ep=%lld: transformers has no plan that splits this model's experts", (long long)c->setup->ep);
    follow_ties(c->tree);
    return VRAM_OK;
}

/* ---- pipeline stages ------------------------------------------------------------------------ */

/* The first of the layers of a stage; the remainder goes to the first ones, one layer each. */
static int64_t first_layer(const struct vram_setup *s, int64_t stage, int64_t layers)
{
    int64_t more = layers % s->pp;
    return stage * (layers / s->pp) + (stage < more ? stage : more);
}

static bool below(const struct vram_tree *t, uint32_t scope, uint32_t of)
{
    return scope >= of && scope < t->scopes[of].end;
}

static bool any_tied(const struct vram_tree *t, uint32_t scope)
{
    for (uint32_t i = 0; i < t->nparams; i++)
        if (t->params[i].tied_to != VRAM_NO_INDEX && t->params[t->params[i].tied_to].scope == scope)
            return true;
    return false;
}

static void leave_out(struct vram_tree *t, uint32_t scope)
{
    for (uint32_t i = scope; i < t->scopes[scope].end; i++) {
        t->scopes[i].absent = true;
        for (uint32_t k = 0; k < t->scopes[i].nparams; k++)
            t->params[t->scopes[i].first_param + k].absent = true;
    }
}

static bool is_layer(const struct vram_tree *t, uint32_t scope, uint32_t base)
{
    uint32_t cls = t->scopes[scope].cls;
    return t->scopes[scope].parent == base && cls != VRAM_NO_INDEX && t->program->classes.at[cls].checkpointed;
}

/* Embedding first, layers, then what follows them in the base model and outside of it; a tied embedding is
 * on the last stage, too (transformers apply_pipeline_parallelism). */
static int cut_stages(struct cut *c)
{
    const struct vram_setup *s = c->setup;
    struct vram_tree *t = c->tree;
    uint32_t embed = VRAM_NO_INDEX, base, others = 0;
    int64_t layers = 0, number = 0;
    for (uint32_t i = 0; i < t->nscopes && t->known; i++)
        embed = t->scopes[i].input_embedding ? i : embed;
    base = embed == VRAM_NO_INDEX ? 0 : t->scopes[embed].parent;
    for (uint32_t i = 0; i < t->nscopes; i++)
        layers += is_layer(t, i, base);
    vram_sym head = vram_sym_find(c->cx->syms, "lm_head", strlen("lm_head"));
    for (uint32_t i = 0; i < t->nscopes; i++)
        others += t->scopes[i].component != t->scopes[base].component && t->scopes[i].component != head;
    if (embed == VRAM_NO_INDEX || !layers || !base || others)
        return vram_fail(c->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "pp=%lld: stages are cut of decoders alone, as transformers cuts them", (long long)s->pp);
    if (layers < s->pp)
        return vram_fail(c->cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET, "pp=%lld: the model has %lld layers",
                         (long long)s->pp, (long long)layers);
    bool first = s->stage == 0, last = s->stage == s->pp - 1;
    for (uint32_t i = 1; i < t->nscopes; i++) {
        bool layer = is_layer(t, i, base), outside = !below(t, i, base) && !below(t, base, i);
        if (layer) {
            if (number < first_layer(s, s->stage, layers) || number >= first_layer(s, s->stage + 1, layers))
                leave_out(t, i);
            number++;
        } else if (i == embed ? !first && !(last && any_tied(t, embed))
                              : t->scopes[i].nparams && !below(t, i, embed) && (outside || t->scopes[i].parent == base)) {
            bool buffers = true;
            for (uint32_t k = 0; k < t->scopes[i].nparams; k++)
                buffers = buffers && t->params[t->scopes[i].first_param + k].buffer;
            if (!buffers && (i == embed || (number == 0 ? !first : !last)))
                leave_out(t, i);
        }
    }
    return VRAM_OK;
}

int vram_cut_model(struct vram_cx *cx, struct vram_tree *tree, const struct vram_setup *setup)
{
    struct cut c = {.cx = cx, .setup = setup, .tree = tree};
    if (setup->tp < 2 && setup->pp < 2)
        return VRAM_OK;
    struct vram_scope *scopes = vram_arena_array(cx->arena, tree->nscopes, sizeof *scopes);
    struct vram_param *params = vram_arena_array(cx->arena, tree->nparams, sizeof *params);
    if (!scopes || !params)
        return vram_fail_memory(cx);
    memcpy(scopes, tree->scopes, tree->nscopes * sizeof *scopes);
    memcpy(params, tree->params, tree->nparams * sizeof *params);
    tree->scopes = scopes;
    tree->params = params;
    if (setup->tp > 1)
        VRAM_TRY(cut_layers(&c));
    return setup->pp > 1 ? cut_stages(&c) : VRAM_OK;
}
