/* SPDX-License-Identifier: Apache-2.0
 *
 * The step of an optimizer: clips, and for each group runs the scripts of the row's rules.
 */
#include <string.h>

#include "base/vec.h"
#include "train/optimizer.h"

/* ---- one word ------------------------------------------------------------------------------ */

/* A tensor that stays: state of parameter p. */
static void keep(struct vram_optimizer *o, struct vram_handle *p, struct vram_handle **at,
                 struct vram_handle *x)
{
    vram_set_category(o->m, x, VRAM_CAT_OPTIMIZER);
    if (x->storage) {
        struct vram_storage_row *row = &o->m->events->storages[x->storage->id];
        if (p->param < o->m->tree->nparams)
            row->param = p->param;
        else /* a flat partition: its states divide as it does */
            row->share =
                vram_share_scale(o->m, o->share[p->param - o->m->tree->nparams], row->bytes);
    }
    struct vram_handle *old = *at;
    *at = x;
    vram_drop(o->m, old);
}

static bool skipped(const struct vram_optimizer *o, const struct vram_word *w,
                    const struct vram_handle *p)
{
    return (w->decayed && !o->decays) || (w->undecayed && o->decays) ||
           (w->first && o->stepped[p->param]) || (w->later && !o->stepped[p->param]);
}

static struct vram_handle *make(struct vram_optimizer *o, const struct vram_word *w,
                                struct vram_handle *p)
{
    struct vram_machine *m = o->m;
    if (p->param < m->tree->nparams)
        m->scope = m->tree->params[p->param].scope;
    if (w->act == VRAM_ACT_CAST) {
        struct vram_handle *from = w->grad ? p->grad : p;
        return !from || from->dtype == w->dtype ? vram_hold(from)
                                                : vram_new_like(m, from, (enum vram_dtype)w->dtype);
    }
    int64_t shape[1] = {vram_script_elements(m, w, p, o->setup->optimizer_rank)};
    enum vram_dtype dtype = (enum vram_dtype)(w->dtype ? w->dtype : p->dtype);
    return shape[0] == 1 ? vram_new_scalar(m, dtype) : vram_new(m, shape, 1, dtype, NULL);
}

/* Bytes that are not on the card. */
static void elsewhere(struct vram_optimizer *o, const struct vram_word *w,
                      const struct vram_handle *p)
{
    uint64_t bytes = 0;
    int64_t n = vram_script_elements(o->m, w, p, o->setup->optimizer_rank);
    if (o->stepped[p->param])
        return;
    vram_dtype_bytes((enum vram_dtype)(w->dtype ? w->dtype : p->dtype), (uint64_t)n, &bytes);
    *(w->place == VRAM_PLACE_HOST ? &o->host : &o->managed) += bytes;
}

static struct vram_handle **place_of(struct vram_optimizer *o, const struct vram_word *w,
                                     const struct vram_handle *p)
{
    return w->keep == VRAM_KEEP_SHARED ? &o->shared[w->name]
                                       : &o->state[(size_t)p->param * o->nstates + w->name];
}

static void state(struct vram_optimizer *o, const struct vram_word *w, struct vram_handle *p)
{
    struct vram_handle **at = place_of(o, w, p);
    if (w->place != VRAM_PLACE_CARD)
        elsewhere(o, w, p);
    else if (!*at || w->keep == VRAM_KEEP_REMADE)
        keep(o, p, at, make(o, w, p));
}

static void forget(struct vram_optimizer *o, uint32_t name)
{
    struct vram_names_value *v = &o->names[name];
    while (v->n)
        vram_drop(o->m, v->at[--v->n]);
}

/* a name becomes a list with one tensor for each parameter */
static void assign(struct vram_optimizer *o, const struct vram_word *w, struct vram_handle **p,
                   uint32_t n)
{
    struct vram_handle **list = vram_machine_alloc(o->m, n, sizeof(struct vram_handle *));
    for (uint32_t i = 0; i < n; i++)
        list[i] = make(o, w, p[i]);
    forget(o, w->name);
    o->names[w->name] = (struct vram_names_value){list, n};
}

/* the state of one parameter and a name change their tensors */
static void swap(struct vram_optimizer *o, const struct vram_word *w, struct vram_handle *p)
{
    struct vram_handle **at = place_of(o, w, p), *old = *at;
    struct vram_names_value *v = &o->names[w->from];
    *at = NULL;
    keep(o, p, at, v->at[0]);
    v->at[0] = old;
    v->n = old != NULL;
}

static void move(struct vram_optimizer *o, const struct vram_word *w, struct vram_handle *p)
{
    struct vram_handle *from = *o->names[w->from].at;
    if (w->keep != VRAM_KEEP_NO) {
        swap(o, w, p);
    } else if (w->name == VRAM_SCRIPT_GRAD) {
        vram_let_go(o->m, &p->grad);
        p->grad = vram_hold(from);
        vram_set_category(o->m, from, VRAM_CAT_GRADIENT);
    } else if (w->name == VRAM_SCRIPT_PARAM) {
        vram_storage_move(o->m, p, from);
        vram_set_category(o->m, from, VRAM_CAT_PARAMETER);
    } else {
        forget(o, w->name);
        o->names[w->name] = o->names[w->from];
        o->names[w->from] = (struct vram_names_value){0};
    }
}

static void run_word(struct vram_optimizer *o, const struct vram_word *w, struct vram_handle **p,
                     uint32_t n)
{
    if (skipped(o, w, p[0]))
        return;
    if (w->act == VRAM_ACT_DROP && w->name == VRAM_SCRIPT_GRAD)
        for (uint32_t i = 0; i < n; i++)
            vram_let_go(o->m, &p[i]->grad);
    else if (w->act == VRAM_ACT_DROP)
        forget(o, w->name);
    else if (w->act == VRAM_ACT_RENAME)
        move(o, w, p[0]);
    else if (w->keep == VRAM_KEEP_NO)
        assign(o, w, p, n);
    else
        for (uint32_t i = 0; i < n; i++)
            state(o, w, p[i]);
}

static void run(struct vram_optimizer *o, const struct vram_script *s, struct vram_handle **p,
                uint32_t n)
{
    for (uint32_t from = 0, to; from < s->n; from = to) {
        bool inner = s->at[from].inner;
        for (to = from + 1; inner && to < s->n && s->at[to].inner;)
            to++;
        for (uint32_t i = 0; i < (inner ? n : 1); i++)
            for (uint32_t k = from; k < to; k++)
                run_word(o, &s->at[k], p + i, inner ? 1 : n);
    }
}

/* ---- one group ----------------------------------------------------------------------------- */

static bool holds(const struct vram_optimizer *o, const struct vram_optimizer_rule *r)
{
    return (!r->since || o->setup->torch >= r->since) && (!r->until || o->setup->torch < r->until);
}

/* the row's first rule that is for the parameter; VRAM_OPTIMIZER_RULES: none, it is left alone */
static uint32_t rule_of(const struct vram_optimizer *o, const struct vram_handle *p)
{
    uint32_t i = 0;
    for (; i < VRAM_OPTIMIZER_RULES; i++) {
        const struct vram_optimizer_rule *r = &o->row->rules[i];
        if (holds(o, r) && (r->applies ? r->applies(o, p) : r->states || r->each))
            break;
    }
    return i;
}

static struct vram_script *script(const struct vram_optimizer *o, uint32_t rule,
                                  enum vram_optimizer_pass pass)
{
    static struct vram_script none;
    return rule < VRAM_OPTIMIZER_RULES ? &o->scripts[rule * VRAM_PASSES + pass] : &none;
}

/* Of gradients that are whole where the parameter is a part, the parts (DTensor redistributes them). */
static uint32_t cut_gradients(struct vram_optimizer *o, struct vram_handle **p, uint32_t n,
                              struct vram_handle **parts)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++)
        if (p[i]->grad && p[i]->rank && p[i]->grad->shape[0] != p[i]->shape[0] && vram_param_mesh(o->m, p[i]))
            parts[k++] = vram_new_like(o->m, p[i], (enum vram_dtype)p[i]->grad->dtype);
    return k;
}

static void run_each(struct vram_optimizer *o, struct vram_handle **p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct vram_handle *part = NULL;
        cut_gradients(o, &p[i], 1, &part);
        run(o, script(o, rule_of(o, p[i]), VRAM_PASS_EACH), &p[i], 1);
        vram_drop(o->m, part);
    }
}

/* What lists of gradients are handed to makes the parts again, for each time it names them. */
static void cut_lists(struct vram_optimizer *o, struct vram_handle **p, uint32_t n)
{
    struct vram_handle **parts = vram_machine_alloc(o->m, 2 * (size_t)n + 1, sizeof(struct vram_handle *));
    for (int times = 1; times <= 2; times++) {
        uint32_t k = 0;
        for (int i = 0; i < times; i++)
            k += cut_gradients(o, p, n, parts + k);
        while (k)
            vram_drop(o->m, parts[--k]);
    }
}

/* all parameters of a dtype and rule at once */
static void run_lists(struct vram_optimizer *o, struct vram_handle **p, uint32_t n)
{
    uint8_t dtypes[8];
    uint32_t ndtypes = vram_dtypes_of(p, n, dtypes);
    struct vram_handle **bucket = vram_machine_alloc(o->m, n ? n : 1, sizeof(struct vram_handle *));
    for (uint32_t d = 0; d < ndtypes; d++)
        for (uint32_t rule = 0; rule < VRAM_OPTIMIZER_RULES; rule++) {
            uint32_t k = 0;
            for (uint32_t i = 0; i < n; i++)
                if (p[i]->dtype == dtypes[d] && rule_of(o, p[i]) == rule)
                    bucket[k++] = p[i];
            if (k && !o->row->rules[rule].lists) {
                run_each(o, bucket, k);
                continue;
            }
            cut_lists(o, bucket, k);
            if (k)
                run(o, script(o, rule, VRAM_PASS_LISTS), bucket, k);
        }
}

void vram_optimizer_update(struct vram_optimizer *o, struct vram_handle **p, uint32_t n, bool decay)
{
    o->m->op = VRAM_OP_OPTIMIZER;
    o->decays = decay;
    for (uint32_t i = 0; i < n; i++)
        run(o, script(o, rule_of(o, p[i]), VRAM_PASS_STATES), &p[i], 1);
    (o->setup->foreach ? run_lists : run_each)(o, p, n);
    for (uint32_t i = 0; i < n; i++)
        o->stepped[p[i]->param] = true;
    if (!o->row->one_function)
        vram_optimizer_forget(o);
}

void vram_optimizer_forget(struct vram_optimizer *o)
{
    for (uint32_t i = 0; i < VRAM_SCRIPT_NAMES; i++)
        forget(o, i);
}

/* ---- the step ------------------------------------------------------------------------------ */

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

static struct vram_handle *clip(struct vram_optimizer *o, struct vram_handle **all)
{
    struct vram_machine *m = o->m;
    uint32_t n = with_gradient(o, all);
    m->op = VRAM_OP_CLIP;
    struct vram_handle *norm = vram_clip(m, all, n);
    m->op = VRAM_OP_OPTIMIZER;
    return norm;
}

/* Parameters of a mesh of ranks are a group of their own (Trainer.create_optimizer). */
static void update_group(struct vram_optimizer *o, int g, struct vram_handle **all)
{
    struct vram_handle **p = o->params[g];
    uint8_t meshes[VRAM_MESHES];
    uint32_t nmeshes = vram_meshes_of(o->m, p, o->n[g], meshes);
    for (uint32_t k = 0; k < nmeshes; k++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < o->n[g]; i++)
            if (p[i]->grad && vram_param_mesh(o->m, p[i]) == meshes[k])
                all[n++] = p[i];
        vram_optimizer_update(o, all, n, g == o->decayed);
    }
}

void vram_optimizer_step(struct vram_optimizer *o)
{
    struct vram_machine *m = o->m;
    struct vram_handle **all, *norm = NULL;
    uint32_t scope = m->scope;
    uint16_t op = m->op;
    if (o->row->no_step)
        return;
    m->op = VRAM_OP_OPTIMIZER;
    all = vram_machine_alloc(m, m->tree->nparams, sizeof(struct vram_handle *));
    if (o->setup->clip)
        norm = clip(o, all);
    for (int g = 0; g < 2; g++)
        update_group(o, g, all);
    vram_optimizer_forget(o);
    vram_drop(m, norm);
    m->scope = scope;
    m->op = op;
}

/* ---- the step inside backward --------------------------------------------------------------- */

static void step_one(struct vram_optimizer *o, struct vram_handle *p)
{
    struct vram_machine *m = o->m;
    uint32_t scope = m->scope;
    uint16_t op = m->op;
    m->op = VRAM_OP_OPTIMIZER;
    vram_optimizer_update(o, &p, 1, o->group[p->param] == o->decayed);
    vram_optimizer_forget(o);
    vram_let_go(m, &p->grad);
    m->scope = scope;
    m->op = op;
}

/* A hook on the tensor runs before its gradient is stored: it steps on the parameter before. */
void vram_optimizer_accumulated(struct vram_optimizer *o, struct vram_handle *leaf)
{
    struct vram_handle *now = leaf;
    if (!o->setup->in_backward || o->row->no_step || leaf->param >= o->m->tree->nparams ||
        !leaf->grad)
        return;
    if (o->row->in_backward == VRAM_BACKWARD_NEXT) {
        now = o->pending;
        o->pending = leaf;
    }
    if (now)
        step_one(o, now);
}

void vram_optimizer_backward_end(struct vram_optimizer *o)
{
    if (o->pending)
        step_one(o, o->pending);
    o->pending = NULL;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void count_states(struct vram_optimizer *o, struct vram_script s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if ((s.at[i].keep == VRAM_KEEP_STATE || s.at[i].keep == VRAM_KEEP_REMADE) &&
            s.at[i].name >= o->nstates)
            o->nstates = s.at[i].name + 1u;
}

static void parse(struct vram_optimizer *o)
{
    struct vram_script_names *names = vram_machine_alloc(o->m, 1, sizeof *names);
    o->scripts = vram_machine_alloc(o->m, VRAM_OPTIMIZER_RULES * VRAM_PASSES, sizeof *o->scripts);
    o->nstates = 1;
    for (uint32_t i = 0; i < VRAM_OPTIMIZER_RULES; i++) {
        const struct vram_optimizer_rule *r = &o->row->rules[i];
        const char *texts[VRAM_PASSES] = {r->states, r->each, r->lists};
        for (int k = 0; k < VRAM_PASSES; k++)
            count_states(o, o->scripts[i * VRAM_PASSES + (uint32_t)k] =
                                vram_script_parse(o->m, names, texts[k]));
    }
}

/* By groups; what is given the model has state for all that is in it, frozen or not. */
static void construct(struct vram_optimizer *o)
{
    struct vram_machine *m = o->m;
    m->op = VRAM_OP_OPTIMIZER;
    for (int g = 0; g < 2 && !o->row->in_backward; g++)
        for (uint32_t i = 0; i < o->n[g]; i++)
            run(o, script(o, rule_of(o, o->params[g][i]), VRAM_PASS_STATES), &o->params[g][i], 1);
    for (uint32_t i = 0; i < m->tree->nparams && o->row->in_backward; i++)
        if (m->params[i] && m->params[i]->param == i && !m->tree->params[i].buffer)
            run(o, script(o, rule_of(o, m->params[i]), VRAM_PASS_STATES), &m->params[i], 1);
    m->op = VRAM_OP_LOOP;
}

void vram_optimizer_flats(struct vram_optimizer *o, uint32_t n)
{
    size_t all = (size_t)o->m->tree->nparams + n;
    uint8_t *group = vram_machine_alloc(o->m, all, sizeof *group);
    if (o->group)
        memcpy(group, o->group, o->m->tree->nparams);
    o->group = group;
    o->nflats = n;
    o->share = vram_machine_alloc(o->m, n ? n : 1, sizeof *o->share);
    o->state = vram_machine_alloc(o->m, all * o->nstates, sizeof(struct vram_handle *));
    o->stepped = vram_machine_alloc(o->m, all, sizeof *o->stepped);
}

void vram_optimizer_init(struct vram_optimizer *o, struct vram_machine *m,
                         const struct vram_setup *setup)
{
    *o = (struct vram_optimizer){.m = m, .setup = setup, .row = setup->optimizer};
    parse(o);
    vram_optimizer_flats(o, 2);
    o->names = vram_machine_alloc(m, VRAM_SCRIPT_NAMES, sizeof *o->names);
    o->shared = vram_machine_alloc(m, VRAM_SCRIPT_NAMES, sizeof *o->shared);
    vram_optimizer_group(o);
    if (o->row->at_construction && !setup->deepspeed) /* else made anew, of the partition */
        construct(o);
}

static int find_elsewhere(const struct vram_optimizer *o)
{
    struct vram_cx *cx = o->m->cx;
    const char *name = o->row->name;
    if (o->managed)
        VRAM_TRY(vram_find(cx, VRAM_F_STATE_ELSEWHERE, "optimizer",
                           "%s: %llu bytes of state in managed memory: outside the allocator, on the "
                           "card while they are used and as long as there is room",
                           name, (unsigned long long)o->managed));
    if (o->host)
        VRAM_TRY(vram_find(cx, VRAM_F_STATE_ELSEWHERE, "optimizer",
                           "%s: %llu bytes of parameters, gradients and state in host memory", name,
                           (unsigned long long)o->host));
    return VRAM_OK;
}

void vram_optimizer_report(struct vram_optimizer *o)
{
    if (find_elsewhere(o))
        vram_throw_memory(o->m);
}

void vram_optimizer_finish(struct vram_optimizer *o)
{
    size_t n = ((size_t)o->m->tree->nparams + o->nflats) * o->nstates;
    for (size_t i = 0; i < n; i++)
        vram_let_go(o->m, &o->state[i]);
    for (int k = 0; k < VRAM_SCRIPT_NAMES; k++)
        vram_let_go(o->m, &o->shared[k]);
}
