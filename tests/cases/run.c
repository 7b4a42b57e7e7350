/* SPDX-License-Identifier: Apache-2.0
 *
 * One case on the machine: the code becomes the forward of a module, operands are its arguments,
 * backward starts with a given gradient of the first output.  What happened is written in the form in
 * which make_cases.py writes what the framework did.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "case.h"
#include "text/template.h"

enum { MAX_STORAGES = 4096 };

struct run {
    const struct test_case *c;
    struct vram_text *out;
    struct vram_arena arena;
    struct vram_syms syms;
    vram_error error;
    struct vram_cx cx;
    struct vram_program program;
    struct vram_tree tree;
    struct vram_scope scope;
    struct vram_events events;
    struct vram_machine m;
    struct vram_handle *operand[MAX_OPERANDS];
    struct vram_value result;
    const char *name[MAX_STORAGES]; /* of operands' storages */
    int number[MAX_STORAGES], made; /* of others, in the order they are made */
};

/* ---- the program --------------------------------------------------------------------------- */

static int nothing_else(void *ctx, struct vram_cx *cx, struct vram_program *program, vram_sym name)
{
    (void)ctx;
    (void)cx;
    (void)program;
    (void)name;
    return VRAM_E_NOTFOUND;
}

static int compile(struct run *r)
{
    const struct vram_linker linker = {nothing_else, NULL, vram_op_find};
    char text[MAX_CODE + 256] = "module Case(";
    for (int i = 0; i < r->c->noperands; i++) {
        strcat(text, i ? ", " : "");
        strcat(text, r->c->operand[i].name);
    }
    strcat(text, "):\n");
    strcat(text, r->c->code);
    VRAM_TRY(vram_template_parse(&r->cx, &r->program, r->c->file, text, strlen(text)));
    uint32_t cls = vram_program_class(&r->program, vram_sym_of(&r->syms, "Case"));
    VRAM_TRY(vram_program_link(&r->cx, &r->program, &linker, cls));
    r->scope.cls = cls;
    r->tree.program = &r->program;
    r->tree.syms = &r->syms;
    r->tree.scopes = &r->scope;
    r->tree.nscopes = 1;
    return VRAM_OK;
}

/* ---- operands ------------------------------------------------------------------------------ */

/* Strides of one's own: the storage reaches to the last element, as torch.empty_strided has it. */
static struct vram_handle *make(struct vram_machine *m, const struct operand *o)
{
    int64_t n[1] = {1};
    if (!o->strided)
        return vram_new(m, o->shape, o->rank, o->dtype, NULL);
    for (int i = 0; i < o->rank; i++)
        n[0] += (o->shape[i] - 1) * o->stride[i];
    struct vram_handle *flat = vram_new(m, n, 1, o->dtype, NULL);
    struct vram_handle *x = vram_alias(m, flat, o->shape, o->stride, o->rank, false);
    vram_drop(m, flat);
    return x;
}

static void make_operands(struct run *r)
{
    for (int i = 0; i < r->c->noperands; i++) {
        const struct operand *o = &r->c->operand[i];
        struct vram_handle *x = r->operand[i] = make(&r->m, o);
        x->requires_grad = x->leaf = o->grad;
        if (o->param)
            x->param = (uint32_t)i;
        if (x->storage)
            r->name[x->storage->id] = o->name;
    }
}

/* ---- what happened ------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void put_frees(struct run *r, int *freed, size_t *n)
{
    qsort(freed, *n, sizeof *freed, ascending);
    for (size_t i = 0; i < *n; i++)
        vram_text_printf(r->out, " -%d", freed[i]);
    *n = 0;
}

/* Allocations in order; frees between two of them in order of their numbers. */
static void put_events(struct run *r, const char *what, size_t from)
{
    int freed[MAX_STORAGES];
    size_t n = 0;
    bool any = false;
    vram_text_printf(r->out, "> %-9s", what);
    for (size_t i = from; i < r->events.n; i++) {
        const struct vram_event *e = &r->events.at[i];
        if (e->kind == VRAM_EVENT_FREE) {
            freed[n++] = r->number[e->storage];
            any = true;
        } else if (e->kind == VRAM_EVENT_ALLOC) {
            put_frees(r, freed, &n);
            r->number[e->storage] = ++r->made;
            vram_text_printf(r->out, " %d=%" PRIu64, r->made, r->events.storages[e->storage].bytes);
            any = true;
        }
    }
    put_frees(r, freed, &n);
    vram_text_puts(r->out, any ? "\n" : " nothing\n");
}

static void put_storage(struct run *r, const struct vram_handle *x)
{
    if (!x->storage)
        vram_text_puts(r->out, " nothing");
    else if (r->name[x->storage->id])
        vram_text_printf(r->out, " %s", r->name[x->storage->id]);
    else
        vram_text_printf(r->out, " %d", r->number[x->storage->id]);
}

static void put_sizes(struct run *r, const struct vram_handle *x, const int64_t *sizes, bool strides)
{
    bool empty = vram_numel(x) == 0;
    for (int i = 0; i < x->rank; i++)
        if (strides && (x->shape[i] == 1 || empty))
            vram_text_puts(r->out, i ? ",*" : "*");
        else
            vram_text_printf(r->out, i ? ",%" PRId64 : "%" PRId64, sizes[i]);
}

static void put_layout(struct run *r, const struct vram_handle *x)
{
    vram_text_printf(r->out, " %s ", vram_dtypes[x->dtype].name);
    if (x->rank)
        put_sizes(r, x, x->shape, false);
    vram_text_puts(r->out, x->rank ? " strides " : "scalar");
    put_sizes(r, x, x->stride, true);
    vram_text_puts(r->out, " in");
    put_storage(r, x);
}

static void put_value(struct run *r, struct vram_value v)
{
    if (v.kind == VRAM_V_BOX) {
        for (uint32_t i = 0; i < v.u.box->n; i++)
            put_value(r, v.u.box->at[i]);
        return;
    }
    vram_text_puts(r->out, "> output   ");
    switch (v.kind) {
    case VRAM_V_TENSOR:
        put_layout(r, v.u.tensor);
        vram_text_puts(r->out, v.u.tensor->requires_grad ? " grad" : "");
        break;
    case VRAM_V_INT:
        vram_text_printf(r->out, " %" PRId64, v.u.i);
        break;
    case VRAM_V_BOOL:
        vram_text_puts(r->out, v.u.i ? " true" : " false");
        break;
    case VRAM_V_FLOAT:
        vram_text_printf(r->out, " %g", v.u.f);
        break;
    case VRAM_V_DTYPE:
        vram_text_printf(r->out, " %s", vram_dtypes[v.u.i].name);
        break;
    default:
        vram_text_puts(r->out, v.kind == VRAM_V_NONE ? " none" : " ?");
    }
    vram_text_puts(r->out, "\n");
}

/* ---- the tape ------------------------------------------------------------------------------ */

struct walk {
    VRAM_VEC(struct vram_tape_node *) nodes;
    uint32_t task;
};

static void reach(struct run *r, struct walk *w, struct vram_tape_node *n)
{
    if (!n || n->task == w->task)
        return;
    n->task = w->task;
    vram_vec_push(&w->nodes, &r->arena, n);
}

static void reach_from(struct run *r, struct walk *w, struct vram_value v)
{
    if (v.kind == VRAM_V_TENSOR)
        reach(r, w, v.u.tensor->node);
    for (uint32_t i = 0; v.kind == VRAM_V_BOX && i < v.u.box->n; i++)
        reach_from(r, w, v.u.box->at[i]);
}

static int by_age(const void *a, const void *b)
{
    const struct vram_tape_node *x = *(struct vram_tape_node *const *)a;
    const struct vram_tape_node *y = *(struct vram_tape_node *const *)b;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Every entry that is alive, in the order in which they were packed. */
static void put_saved(struct run *r)
{
    struct walk w = {.task = ++r->m.tasks};
    bool any = false;
    reach_from(r, &w, r->result);
    for (size_t i = 0; i < w.nodes.n; i++)
        for (int k = 0; k < w.nodes.at[i]->nedges; k++)
            reach(r, &w, w.nodes.at[i]->edges[k].node);
    if (w.nodes.n)
        qsort(w.nodes.at, w.nodes.n, sizeof *w.nodes.at, by_age);
    vram_text_puts(r->out, "> saved    ");
    for (size_t i = 0; i < w.nodes.n; i++)
        for (int k = 0; k < w.nodes.at[i]->nsaved; k++)
            if (w.nodes.at[i]->saved[k].tensor && w.nodes.at[i]->saved[k].tensor->storage) {
                put_storage(r, w.nodes.at[i]->saved[k].tensor);
                any = true;
            }
    vram_text_puts(r->out, any ? "\n" : " nothing\n");
}

/* ---- the run ------------------------------------------------------------------------------- */

static struct vram_handle *first_trained(struct vram_value v)
{
    struct vram_handle *x = NULL;
    if (v.kind == VRAM_V_TENSOR && v.u.tensor->node)
        return v.u.tensor;
    for (uint32_t i = 0; v.kind == VRAM_V_BOX && i < v.u.box->n && !x; i++)
        x = first_trained(v.u.box->at[i]);
    return x;
}

static void backward(struct run *r, struct vram_handle *out)
{
    struct operand like = {.dtype = (enum vram_dtype)out->dtype, .rank = out->rank,
                           .strided = r->c->gradient.strided};
    memcpy(like.shape, out->shape, sizeof like.shape);
    memcpy(like.stride, r->c->gradient.stride, sizeof like.stride);
    struct vram_handle *g = make(&r->m, &like);
    if (g->storage)
        r->name[g->storage->id] = "g";
    size_t from = r->events.n;
    vram_backward(&r->m, out, vram_hold(g));
    put_events(r, "backward", from);
    for (int i = 0; i < r->c->noperands; i++) {
        if (!r->operand[i]->requires_grad)
            continue;
        vram_text_printf(r->out, "> gradient  %s", r->c->operand[i].name);
        if (r->operand[i]->grad)
            put_layout(r, r->operand[i]->grad);
        else
            vram_text_puts(r->out, " none");
        vram_text_puts(r->out, "\n");
    }
}

static void forward(struct run *r)
{
    struct vram_call call = {.nargs = (uint32_t)r->c->noperands};
    for (int i = 0; i < r->c->noperands; i++)
        call.args[i] = vram_tensor_value(vram_hold(r->operand[i]));
    if (r->c->autocast)
        vram_autocast_enter(&r->m, r->c->autocast);
    vram_call_module(&r->m, 0, &call, &r->result);
    if (r->c->autocast)
        vram_autocast_leave(&r->m);
}

static int whole(struct run *r)
{
    VRAM_TRY(compile(r));
    VRAM_TRY(vram_machine_init(&r->m, &r->cx, &r->program, &r->tree));
    int code = setjmp(r->m.escape);
    if (code)
        return code;
    r->m.events = &r->events;
    r->m.grad = true;
    r->m.training = !r->c->eval;
    r->m.card = r->c->card;
    r->m.sms = 132;
    r->m.attention = r->c->attention;
    make_operands(r);
    size_t from = r->events.n;
    forward(r);
    put_events(r, "forward", from);
    put_value(r, r->result);
    put_saved(r);
    struct vram_handle *out = first_trained(r->result);
    if (out)
        backward(r, out);
    return VRAM_OK;
}

void case_run(const struct test_case *c, struct vram_text *out)
{
    static struct run run; /* large, and reached again after a longjmp */
    struct run *r = &run;
    memset(r, 0, sizeof *r);
    r->c = c;
    r->out = out;
    vram_arena_init(&r->arena, UINT64_C(1) << 30);
    r->cx = (struct vram_cx){&r->arena, &r->syms, &vram_limits_default, NULL, &r->error};
    if (vram_syms_init(&r->syms, &r->arena) || whole(r))
        vram_text_printf(out, "> fails    %s\n", r->error.text);
    vram_arena_finish(&r->arena);
}
