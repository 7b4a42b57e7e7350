/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimizers: what each step makes, keeps and drops, in order.  The Trainer's two groups: decayed,
 * then not decayed.  Numbers of all rows: facts of torch 2.9 and transformers 5.24, shown by the
 * training results (docs/accuracy.md).
 */
#include <string.h>

#include "train/train.h"

/* ---- shared ------------------------------------------------------------------------------- */

static struct vram_handle *like(struct vram_machine *m, const struct vram_handle *p)
{
    return vram_new(m, p->shape, p->rank, (enum vram_dtype)p->dtype, NULL);
}

/* A tensor that stays: state of parameter p. */
static void keep(struct vram_optimizer *o, struct vram_handle *p, int slot, struct vram_handle *x)
{
    vram_set_category(o->m, x, VRAM_CAT_OPTIMIZER);
    if (x->storage) {
        struct vram_storage_row *row = &o->m->events->storages[x->storage->id];
        if (p->param < o->m->tree->nparams)
            row->param = p->param;
        else /* a flat partition: its states divide as it does */
            row->share = vram_share_scale(o->m, o->share[p->param - o->m->tree->nparams], row->bytes);
    }
    struct vram_handle **at = &o->state[p->param][slot];
    struct vram_handle *old = *at;
    *at = x;
    vram_drop(o->m, old);
}

static bool fresh(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return !o->state[p->param][0];
}

static void at_param(struct vram_optimizer *o, const struct vram_handle *p)
{
    if (p->param < o->m->tree->nparams)
        o->m->scope = o->m->tree->params[p->param].scope;
}

/* ---- AdamW -------------------------------------------------------------------------------- */

/* per parameter a step counter and two moments; no temporaries */
static void adamw_fused(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool decay)
{
    (void)decay;
    for (uint32_t i = 0; i < n; i++)
        if (fresh(o, p[i])) {
            at_param(o, p[i]);
            keep(o, p[i], 0, vram_new_scalar(o->m, VRAM_DT_F32));
            keep(o, p[i], 1, like(o->m, p[i]));
            keep(o, p[i], 2, like(o->m, p[i]));
        }
}

/* Lists of one dtype come out in the reverse order of first appearance. */
static uint32_t dtypes_of(struct vram_handle **p, uint32_t n, uint8_t *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < found && out[k] != p[i]->dtype)
            k++;
        if (k == found && found < 8)
            out[found++] = p[i]->dtype;
    }
    for (uint32_t i = 0; i < found / 2; i++) {
        uint8_t swap = out[i];
        out[i] = out[found - 1 - i];
        out[found - 1 - i] = swap;
    }
    return found;
}

/* two moments per parameter; the counters are on the CPU */
static void adam_states(struct vram_optimizer *o, struct vram_handle **p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (fresh(o, p[i])) {
            at_param(o, p[i]);
            keep(o, p[i], 0, like(o->m, p[i]));
            keep(o, p[i], 1, like(o->m, p[i]));
        }
}

/* a list with one tensor for each parameter of a dtype */
static struct vram_handle **list_of(struct vram_optimizer *o, struct vram_handle **p, uint32_t n,
                                    uint8_t dtype, uint32_t *count)
{
    struct vram_handle **list = vram_machine_alloc(o->m, n ? n : 1, sizeof(struct vram_handle *));
    *count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (p[i]->dtype == dtype) {
            at_param(o, p[i]);
            list[(*count)++] = like(o->m, p[i]);
        }
    return list;
}

static void drop_list(struct vram_optimizer *o, struct vram_handle **list, uint32_t n)
{
    while (n)
        vram_drop(o->m, list[--n]);
}

/* copies: Adam's own decay is added to a copy of the gradients, gone before what comes next: the roots
 * of all second moments of a dtype at once, which live until those of the next dtype exist */
static void adam_lists(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool copies)
{
    uint8_t dtypes[8];
    struct vram_handle **old = NULL;
    uint32_t nold = 0, ndtypes = dtypes_of(p, n, dtypes);
    adam_states(o, p, n);
    for (uint32_t d = 0; d < ndtypes; d++) {
        uint32_t k;
        if (copies) {
            struct vram_handle **decayed = list_of(o, p, n, dtypes[d], &k);
            drop_list(o, decayed, k);
        }
        struct vram_handle **roots = list_of(o, p, n, dtypes[d], &k);
        drop_list(o, old, nold);
        old = roots;
        nold = k;
    }
    drop_list(o, old, nold);
}

/* one parameter after the other: root and denominator, which lives until the next one exists */
static void adam_loop(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool copies)
{
    struct vram_handle *denominator = NULL;
    adam_states(o, p, n);
    for (uint32_t i = 0; i < n; i++) {
        at_param(o, p[i]);
        struct vram_handle *decayed = copies ? like(o->m, p[i]) : NULL;
        struct vram_handle *root = like(o->m, p[i]), *next = like(o->m, p[i]);
        vram_drop(o->m, root);
        vram_drop(o->m, denominator);
        denominator = next;
        vram_drop(o->m, decayed);
    }
    vram_drop(o->m, denominator);
}

static void adamw(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool decay)
{
    (void)decay; /* shrinks the parameter in place */
    (o->setup->foreach ? adam_lists : adam_loop)(o, p, n, false);
}

static void adam(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool decay)
{
    (o->setup->foreach ? adam_lists : adam_loop)(o, p, n, decay);
}

/* ---- SGD ---------------------------------------------------------------------------------- */

/* one parameter at a time: gradient plus decay, the momentum buffer a clone of that */
static void sgd_loop(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool decay,
                     bool momentum)
{
    for (uint32_t i = 0; i < n; i++) {
        at_param(o, p[i]);
        struct vram_handle *t = decay ? like(o->m, p[i]) : NULL;
        if (momentum && fresh(o, p[i]))
            keep(o, p[i], 0, like(o->m, p[i]));
        vram_drop(o->m, t);
    }
}

/* lists: decay copies all gradients of the group at once */
static void sgd_foreach(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool decay,
                        bool momentum)
{
    struct vram_handle **t = vram_machine_alloc(o->m, n ? n : 1, sizeof(struct vram_handle *));
    for (uint32_t i = 0; decay && i < n; i++) {
        at_param(o, p[i]);
        t[i] = like(o->m, p[i]);
    }
    for (uint32_t i = 0; momentum && i < n; i++)
        if (fresh(o, p[i])) {
            at_param(o, p[i]);
            keep(o, p[i], 0, like(o->m, p[i]));
        }
    for (uint32_t i = 0; decay && i < n; i++)
        vram_drop(o->m, t[i]);
}

static void sgd(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool decay)
{
    (o->setup->foreach ? sgd_foreach : sgd_loop)(o, p, n, decay, false);
}

static void sgd_momentum(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool decay)
{
    (o->setup->foreach ? sgd_foreach : sgd_loop)(o, p, n, decay, true);
}

/* ---- Adafactor (transformers): everything in fp32; names live on into the next parameter --- */

enum { NAME_GRAD, NAME_PARAM, NAME_UPDATE };
enum { STATE_ROW, STATE_COLUMN, STATE_RMS };

static void set_name(struct vram_optimizer *o, int name, struct vram_handle *x)
{
    struct vram_handle *old = o->names[name];
    o->names[name] = x;
    vram_drop(o->m, old);
}

static struct vram_handle *fp32(struct vram_machine *m, const int64_t *shape, int rank)
{
    return vram_new(m, shape, rank, VRAM_DT_F32, NULL);
}

static struct vram_handle *root_mean_square(struct vram_machine *m)
{
    struct vram_handle *norm = vram_new_scalar(m, VRAM_DT_F32);
    struct vram_handle *r = vram_new_scalar(m, VRAM_DT_F32);
    vram_drop(m, norm);
    return r;
}

/* shapes of the factored second moment: rows (last dimension gone), columns (last but one gone) */
static void factors(const struct vram_handle *p, int64_t *rows, int64_t *columns)
{
    memcpy(rows, p->shape, p->rank * sizeof *rows);
    memcpy(columns, p->shape, p->rank * sizeof *columns);
    columns[p->rank - 2] = p->shape[p->rank - 1];
}

static struct vram_handle *factored_update(struct vram_optimizer *o, const struct vram_handle *p)
{
    struct vram_machine *m = o->m;
    int64_t rows[VRAM_MAX_RANK], columns[VRAM_MAX_RANK], mean[VRAM_MAX_RANK];
    factors(p, rows, columns);
    memcpy(mean, p->shape, p->rank * sizeof *mean);
    mean[p->rank - 2] = 1;
    vram_drop(m, fp32(m, rows, p->rank - 1)); /* means of the squares, folded into the states */
    vram_drop(m, fp32(m, columns, p->rank - 1));
    struct vram_handle *average = fp32(m, mean, p->rank - 1);
    struct vram_handle *r = fp32(m, rows, p->rank - 1);
    vram_drop(m, average);
    struct vram_handle *c = fp32(m, columns, p->rank - 1);
    struct vram_handle *update = fp32(m, p->shape, p->rank);
    vram_drop(m, r);
    vram_drop(m, c);
    return update;
}

static void adafactor_one(struct vram_optimizer *o, struct vram_handle *p)
{
    struct vram_machine *m = o->m;
    bool factored = p->rank >= 2, wide = p->dtype == VRAM_DT_F32;
    int64_t rows[VRAM_MAX_RANK], columns[VRAM_MAX_RANK];
    set_name(o, NAME_GRAD, vram_hold(p->grad));
    if (!wide)
        set_name(o, NAME_GRAD, fp32(m, p->shape, p->rank));
    if (fresh(o, p) && factored) {
        factors(p, rows, columns);
        keep(o, p, STATE_ROW, fp32(m, rows, p->rank - 1));
        keep(o, p, STATE_COLUMN, fp32(m, columns, p->rank - 1));
    } else if (fresh(o, p)) {
        keep(o, p, STATE_ROW, fp32(m, p->shape, p->rank));
    }
    set_name(o, NAME_PARAM, vram_hold(p));
    if (!wide)
        set_name(o, NAME_PARAM, fp32(m, p->shape, p->rank));
    keep(o, p, STATE_RMS, root_mean_square(m));
    struct vram_handle *square = fp32(m, p->shape, p->rank);
    set_name(o, NAME_UPDATE, fp32(m, p->shape, p->rank));
    vram_drop(m, square);
    set_name(o, NAME_UPDATE, factored ? factored_update(o, p) : fp32(m, p->shape, p->rank));
    struct vram_handle *rms = root_mean_square(m), *ratio = vram_new_scalar(m, VRAM_DT_F32);
    vram_drop(m, rms);
    vram_drop(m, ratio);
    vram_drop(m, fp32(m, p->shape, p->rank)); /* the negated update */
}

static void adafactor(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool decay)
{
    (void)decay;
    for (uint32_t i = 0; i < n; i++) {
        at_param(o, p[i]);
        adafactor_one(o, p[i]);
    }
}

const struct vram_optimizer_row vram_optimizers[] = {
    {.name = "adamw-fused",
     .moments = 2,
     .states = "step (4 B) and two moments in the parameter's dtype",
     .temporaries = "none",
     .source = "torch/optim/adamw.py fused; transformers 5.24 adamw_torch_fused",
     .step = adamw_fused},
    {.name = "adamw",
     .moments = 2,
     .states = "two moments in the parameter's dtype",
     .temporaries = "one list of roots per dtype",
     .source = "torch/optim/adam.py _multi_tensor_adam",
     .step = adamw},
    {.name = "adam",
     .moments = 2,
     .states = "two moments in the parameter's dtype",
     .temporaries = "decayed copies of the gradients, then one list of roots per dtype",
     .source = "torch/optim/adam.py _multi_tensor_adam",
     .step = adam},
    {.name = "sgd",
     .states = "none",
     .temporaries = "decayed copies of the gradients",
     .source = "torch/optim/sgd.py",
     .step = sgd},
    {.name = "sgd-momentum",
     .moments = 1,
     .states = "one buffer in the gradient's dtype",
     .temporaries = "decayed copies of the gradients",
     .source = "torch/optim/sgd.py",
     .step = sgd_momentum},
    {.name = "adafactor",
     .moments = -1,
     .states = "fp32 rows and columns (matrices) or a full square, and a scalar",
     .temporaries = "fp32 gradient, parameter, squares and update of one parameter",
     .source = "transformers/optimization.py Adafactor",
     .remakes_state = true,
     .step = adafactor},
    {.name = "none", .states = "none", .temporaries = "none", .source = ""},
};
const uint32_t vram_optimizers_count = sizeof vram_optimizers / sizeof *vram_optimizers;

const struct vram_optimizer_row *vram_optimizer_find(const char *name)
{
    for (uint32_t i = 0; i < vram_optimizers_count; i++)
        if (!strcmp(vram_optimizers[i].name, name))
            return &vram_optimizers[i];
    return NULL;
}

/* ---- groups and the step ------------------------------------------------------------------ */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool contains(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (; *text; text++) {
        size_t i = 0;
        while (i < n && lower(text[i]) == word[i])
            i++;
        if (i == n)
            return true;
    }
    return false;
}

/* One part of a path: "norm", "..._norm", or a forbidden word anywhere in it. */
static bool undecayed_name(const char *part)
{
    size_t n = strlen(part);
    bool norm = n >= 4 && contains(part + n - 4, "norm") && (n == 4 || part[n - 5] == '_');
    return norm || contains(part, "bias") || contains(part, "layernorm") ||
           contains(part, "rmsnorm");
}

/* By scope: parameters below are not decayed (transformers Trainer.get_decay_parameter_names; the
 * words hold no dot, so parts of a path can be looked at one by one). */
static uint8_t *undecayed_scopes(struct vram_machine *m)
{
    const struct vram_tree *t = m->tree;
    uint8_t *marks = vram_machine_alloc(m, t->nscopes, sizeof *marks);
    for (uint32_t i = 0; i < t->nscopes; i++) {
        const struct vram_scope *s = &t->scopes[i];
        marks[i] = (i && marks[s->parent]) || undecayed_name(vram_sym_text(t->syms, s->name));
    }
    return marks;
}

static bool decays(const struct vram_machine *m, const uint8_t *scopes, const struct vram_param *p)
{
    const struct vram_tree *t = m->tree;
    uint32_t cls = t->scopes[p->scope].cls;
    if (p->decay_set)
        return p->decay;
    if (cls != VRAM_NO_INDEX &&
        !strcmp(vram_sym_text(t->syms, t->program->classes.at[cls].name), "LayerNorm"))
        return false;
    return !scopes[p->scope] && !undecayed_name(vram_sym_text(t->syms, p->name));
}

void vram_optimizer_flats(struct vram_optimizer *o, uint32_t n)
{
    o->nflats = n;
    o->share = vram_machine_alloc(o->m, n, sizeof *o->share);
    o->state = vram_machine_alloc(o->m, (size_t)o->m->tree->nparams + n, sizeof *o->state);
}

void vram_optimizer_init(struct vram_optimizer *o, struct vram_machine *m,
                         const struct vram_setup *setup)
{
    const struct vram_tree *tree = m->tree;
    *o = (struct vram_optimizer){.m = m, .setup = setup, .row = setup->optimizer};
    vram_optimizer_flats(o, 2);
    for (int g = 0; g < 2; g++)
        o->params[g] = vram_machine_alloc(m, tree->nparams, sizeof(struct vram_handle *));
    const uint8_t *scopes = undecayed_scopes(m);
    for (uint32_t i = 0; i < tree->nparams; i++) {
        struct vram_handle *p = m->params[i];
        if (!p || p->param != i || !p->requires_grad)
            continue;
        int g = decays(m, scopes, &tree->params[i]) ? 0 : 1;
        o->params[g][o->n[g]++] = p;
    }
}

void vram_optimizer_finish(struct vram_optimizer *o)
{
    for (uint32_t i = 0; i < o->m->tree->nparams + o->nflats; i++)
        for (int k = 0; k < 4; k++)
            vram_let_go(o->m, &o->state[i][k]);
}

void vram_optimizer_update(struct vram_optimizer *o, struct vram_handle **params, uint32_t n,
                           bool decay)
{
    o->m->op = VRAM_OP_OPTIMIZER;
    o->row->step(o, params, n, decay);
}

/* Names of the step's code end with it. */
void vram_optimizer_forget(struct vram_optimizer *o)
{
    for (int i = 0; i < 3; i++)
        vram_let_go(o->m, &o->names[i]);
}

/* Parameters of both groups that have a gradient, in the order of the tree. */
static uint32_t with_gradient(const struct vram_optimizer *o, struct vram_handle **all)
{
    uint32_t n = 0;
    for (uint32_t a = 0, b = 0; a < o->n[0] || b < o->n[1];) {
        bool first = b == o->n[1] || (a < o->n[0] && o->params[0][a]->param < o->params[1][b]->param);
        struct vram_handle *p = first ? o->params[0][a++] : o->params[1][b++];
        if (p->grad)
            all[n++] = p;
    }
    return n;
}

void vram_optimizer_step(struct vram_optimizer *o)
{
    struct vram_machine *m = o->m;
    struct vram_handle **all, *norm = NULL;
    uint32_t n = 0, scope = m->scope;
    uint16_t op = m->op;
    if (!o->row->step)
        return;
    all = vram_machine_alloc(m, m->tree->nparams, sizeof(struct vram_handle *));
    if (o->setup->clip) {
        n = with_gradient(o, all);
        m->op = VRAM_OP_CLIP;
        norm = vram_clip(m, all, n);
    }
    for (int g = 0; g < 2; g++) {
        n = 0;
        for (uint32_t i = 0; i < o->n[g]; i++)
            if (o->params[g][i]->grad)
                all[n++] = o->params[g][i];
        vram_optimizer_update(o, all, n, g == 0);
    }
    vram_optimizer_forget(o);
    vram_drop(m, norm);
    m->scope = scope;
    m->op = op;
}

/* One scalar per gradient in its dtype, their stack in the highest one, the norm; then the
 * coefficient's four scalars. */
struct vram_handle *vram_clip(struct vram_machine *m, struct vram_handle **params, uint32_t n)
{
    uint8_t dtypes[8];
    uint32_t ndtypes = dtypes_of(params, n, dtypes), k = 0;
    if (!n)
        return NULL;
    struct vram_handle **norms = vram_machine_alloc(m, n, sizeof(struct vram_handle *));
    m->scope = 0;
    for (uint32_t d = 0; d < ndtypes; d++)
        for (uint32_t i = 0; i < n; i++)
            if (params[i]->dtype == dtypes[d])
                norms[k++] = vram_new_scalar(m, (enum vram_dtype)dtypes[d]);
    int64_t shape[1] = {k};
    enum vram_dtype dtype = ndtypes > 1 ? VRAM_DT_F32 : (enum vram_dtype)dtypes[0];
    struct vram_handle *stack = vram_new(m, shape, 1, dtype, NULL);
    struct vram_handle *total = vram_new_scalar(m, dtype);
    vram_drop(m, stack);
    while (k)
        vram_drop(m, norms[--k]);
    struct vram_handle *sum = vram_new_scalar(m, dtype), *inverse = vram_new_scalar(m, dtype);
    struct vram_handle *product = vram_new_scalar(m, dtype);
    vram_drop(m, sum);
    vram_drop(m, inverse);
    struct vram_handle *coefficient = vram_new_scalar(m, dtype);
    vram_drop(m, product);
    vram_drop(m, coefficient);
    return total;
}
