/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that run graphs: If, Loop, Scan, SequenceMap.
 */
#include <string.h>

#include "base/vec.h"
#include "onnx/pass.h"

enum { ROUNDS = 3, DEEP = 3, SMALL_BODY = 64, UNROLLED = 16 };

static const struct vram_info **pointers(struct vram_op *op, size_t n)
{
    const struct vram_info **at = vram_arena_array(op->cx->arena, n, sizeof *at);
    if (!at)
        vram_fail_memory(op->cx);
    return at;
}

static int graph_of(struct vram_op *op, const char *name, uint32_t *graph, const struct vram_onnx_graph **g)
{
    VRAM_TRY(vram_op_graph(op, name, graph));
    *g = &op->model->graphs.at[*graph];
    return *graph ? VRAM_OK : vram_op_fail(op, "attribute '%s' is missing", name);
}

/* ---- If ------------------------------------------------------------------------------------ */

static int branch(struct vram_op *op, const char *name, struct vram_info *out)
{
    const struct vram_onnx_graph *g = NULL;
    const struct vram_info **at = pointers(op, op->n_out);
    uint32_t graph = 0;
    if (!at)
        return op->cx->error->code;
    VRAM_TRY(graph_of(op, name, &graph, &g));
    if (g->outputs.n != op->n_out)
        return vram_op_fail(op, "%s has %u outputs, the node %u", name, g->outputs.n, op->n_out);
    VRAM_TRY(vram_op_run_graph(op, graph, NULL, 0, at, op->n_out));
    for (uint32_t i = 0; i < op->n_out; i++)
        out[i] = *at[i];
    return VRAM_OK;
}

static int if_(struct vram_op *op)
{
    int64_t condition;
    if (vram_op_value_int(op, op->in[0], &condition))
        return branch(op, condition ? "then_branch" : "else_branch", op->out);
    struct vram_info *a = vram_arena_array(op->cx->arena, op->n_out, sizeof *a);
    struct vram_info *b = vram_arena_array(op->cx->arena, op->n_out, sizeof *b);
    if (!a || !b)
        return vram_fail_memory(op->cx);
    VRAM_TRY(branch(op, "then_branch", a));
    VRAM_TRY(branch(op, "else_branch", b));
    for (uint32_t i = 0; i < op->n_out; i++)
        VRAM_TRY(vram_op_merge(op, &a[i], &b[i], "branch", &op->out[i]));
    return VRAM_OK;
}

/* ---- state that a body hands on ------------------------------------------------------------- */

struct carried {
    uint32_t graph;
    const struct vram_info **in, **out; /* of the body */
    uint32_t n_in, n_out;
    uint32_t at_in, at_out, n;  /* where the states stand */
    struct vram_info *state;    /* n: before any round */
    VRAM_VEC(vram_dim) open;    /* symbols for sizes that change from round to round */
};

static bool is_open(const struct carried *c, vram_dim d)
{
    for (size_t i = 0; i < c->open.n; i++)
        if (c->open.at[i] == d)
            return true;
    return false;
}

/* What holds before every round: the state so far or that of the round.  A size that changed once is a symbol
 * for whatever it is, and stays that. */
static int widen(struct vram_op *op, struct carried *c, struct vram_info *state, const struct vram_info *next,
                 bool *changed)
{
    struct vram_info r;
    VRAM_TRY(vram_op_merge(op, state, next, NULL, &r));
    if (r.ranked) {
        vram_dim *dims = vram_op_dims(op, r.rank);
        if (!dims)
            return op->cx->error->code;
        for (uint32_t i = 0; i < r.rank; i++) {
            dims[i] = r.dims[i];
            if (dims[i])
                continue;
            dims[i] = state->dims[i];
            if (is_open(c, dims[i]))
                continue;
            dims[i] = vram_op_fresh(op, "carried", 0, VRAM_DIM_UNKNOWN);
            if (!dims[i] || !vram_vec_push(&c->open, op->cx->arena, dims[i]))
                return vram_fail_memory(op->cx);
        }
        r.dims = dims;
        *changed |= !state->ranked || memcmp(dims, state->dims, r.rank * sizeof *dims) != 0;
    }
    *changed |= r.kind != state->kind || r.dtype != state->dtype || r.ranked != state->ranked ||
                r.length != state->length || (!r.element) != (!state->element) || (!r.value) != (!state->value);
    for (uint32_t i = 0; r.value && state->value && i < r.elements && !*changed; i++)
        *changed = r.value[i].kind != state->value[i].kind;
    *state = r;
    return VRAM_OK;
}

static int run_body(struct vram_op *op, struct carried *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        c->in[c->at_in + i] = &c->state[i];
    op->pass->loops++;
    int code = vram_op_run_graph(op, c->graph, c->in, c->n_in, c->out, c->n_out);
    op->pass->loops--;
    return code;
}

/* Nothing but kind and type. */
static void forget(struct vram_info *state)
{
    *state = (struct vram_info){.kind = state->kind, .dtype = state->dtype};
}

/* The state is widened until it is the same before every round; what still changes after ROUNDS is
 * forgotten, as is all that loops deep inside of loops carry. */
static int carry(struct vram_op *op, struct carried *c)
{
    bool changed = true;
    for (int r = 0; r < ROUNDS && changed && op->pass->loops < DEEP; r++) {
        changed = false;
        VRAM_TRY(run_body(op, c));
        for (uint32_t i = 0; i < c->n; i++)
            VRAM_TRY(widen(op, c, &c->state[i], c->out[c->at_out + i], &changed));
    }
    if (!changed)
        return VRAM_OK;
    for (uint32_t i = 0; i < c->n; i++)
        forget(&c->state[i]);
    return run_body(op, c);
}

/* States as outputs: what was widened is another size behind the last round than before any. */
static int put_states(struct vram_op *op, const struct carried *c)
{
    for (uint32_t i = 0; i < c->n && i < op->n_out; i++) {
        struct vram_info *out = &op->out[i];
        *out = c->state[i];
        vram_dim *dims = out->ranked ? vram_op_dims(op, out->rank) : NULL;
        if (out->ranked && !dims)
            return op->cx->error->code;
        for (uint32_t k = 0; dims && k < out->rank; k++)
            dims[k] = is_open(c, out->dims[k]) ? vram_op_fresh(op, "loop", 0, VRAM_DIM_UNKNOWN) : out->dims[k];
        out->dims = dims;
    }
    return VRAM_OK;
}

/* Output i: x with a new axis of this size; axis counted in the output, from its end when negative. */
static int stack(struct vram_op *op, uint32_t i, const struct vram_info *x, vram_dim n, int64_t axis)
{
    uint32_t at;
    if (i >= op->n_out)
        return VRAM_OK;
    if (!x->ranked)
        return vram_op_out(op, i, x->dtype);
    VRAM_TRY(vram_op_axis(op, "an axis of a scan output", axis, x->rank + 1, &at));
    vram_dim *dims = vram_op_dims(op, x->rank + 1);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t k = 0; k <= x->rank; k++)
        dims[k] = k == at ? n : x->dims[k - (k > at)];
    return vram_op_out_dims(op, i, x->dtype, dims, x->rank + 1);
}

static int prepare(struct vram_op *op, struct carried *c, const struct vram_onnx_graph *g, uint32_t first)
{
    c->n_in = g->inputs.n;
    c->n_out = g->outputs.n;
    c->in = pointers(op, c->n_in);
    c->out = pointers(op, c->n_out);
    c->state = vram_arena_array(op->cx->arena, c->n, sizeof *c->state);
    if (!c->in || !c->out || !c->state)
        return vram_fail_memory(op->cx);
    for (uint32_t i = 0; i < c->n; i++)
        if (op->in[first + i])
            c->state[i] = *op->in[first + i];
    return VRAM_OK;
}

/* ---- Loop ---------------------------------------------------------------------------------- */

/* A scalar, with its element. */
static int scalar(struct vram_op *op, uint8_t dtype, struct vram_element value, struct vram_info *out)
{
    struct vram_element *e = vram_arena_alloc(op->cx->arena, sizeof *e);
    if (!e)
        return vram_fail_memory(op->cx);
    *e = value;
    *out = (struct vram_info){.kind = VRAM_ONNX_TENSOR, .dtype = dtype, .ranked = true, .value = e, .elements = 1};
    return VRAM_OK;
}

static const struct vram_info *input(const struct vram_op *op, uint32_t i) { return i < op->n_in ? op->in[i] : NULL; }

/* Does this value say true?  One that is left out does. */
static enum vram_truth truth(struct vram_op *op, const struct vram_info *condition)
{
    int64_t n;
    if (!condition)
        return VRAM_TRUE;
    return vram_op_value_int(op, condition, &n) ? (n ? VRAM_TRUE : VRAM_FALSE) : VRAM_MAYBE;
}

/* How often the body runs when its own condition never ends it; UNKNOWN without such a number. */
static vram_dim most_trips(struct vram_op *op)
{
    vram_dim zero = vram_dim_int(op->dims, 0);
    const struct vram_element *e = vram_op_value(op, input(op, 0));
    if (truth(op, input(op, 1)) == VRAM_FALSE)
        return zero;
    if (!e || op->in[0]->elements != 1 || e->kind != VRAM_ELEMENT_RATIO || e->den != 1)
        return VRAM_DIM_UNKNOWN;
    return vram_dim_max(op->dims, e->num, zero);
}

/* Runs the rounds one by one, as long as the body's own condition is known and they are few: *trips, or −1 when
 * that is not so, with the state as before. */
static int unroll(struct vram_op *op, struct carried *c, int64_t most, int64_t *trips)
{
    int64_t limit = op->model->graphs.at[c->graph].nodes.n <= SMALL_BODY ? UNROLLED : ROUNDS, r = 0;
    struct vram_info *before = vram_arena_array(op->cx->arena, c->n, sizeof *before), iteration;
    if (!before)
        return vram_fail_memory(op->cx);
    if (c->n)
        memcpy(before, c->state, c->n * sizeof *before);
    enum vram_truth goes_on = VRAM_TRUE;
    const struct vram_info *open = c->in[0];
    for (; goes_on == VRAM_TRUE && r < limit && (r < most || !most); r++) {
        VRAM_TRY(scalar(op, VRAM_DT_I64, vram_element_dim(vram_dim_int(op->dims, r)), &iteration));
        c->in[0] = &iteration;
        VRAM_TRY(run_body(op, c));
        if (!most) /* only to see what the body makes */
            break;
        goes_on = truth(op, c->out[0]);
        for (uint32_t i = 0; i < c->n; i++)
            c->state[i] = *c->out[c->at_out + i];
    }
    c->in[0] = open;
    *trips = goes_on == VRAM_FALSE || r == most ? r : -1;
    if (*trips < 0 && c->n)
        memcpy(c->state, before, c->n * sizeof *before);
    return VRAM_OK;
}

static int loop_body(struct vram_op *op, struct carried *c, vram_dim *trips)
{
    enum vram_truth first = truth(op, input(op, 1));
    int64_t most = INT64_MAX, known = -1;
    bool number = vram_dim_is_int(op->dims, *trips, &most);
    if (op->pass->loops < DEEP && (first == VRAM_TRUE || (number && most == 0)))
        VRAM_TRY(unroll(op, c, number ? most : INT64_MAX, &known));
    if (known >= 0) {
        *trips = vram_dim_int(op->dims, known);
        return VRAM_OK;
    }
    VRAM_TRY(carry(op, c));
    if (first != VRAM_TRUE || truth(op, c->out[0]) != VRAM_TRUE || !*trips)
        *trips = vram_op_fresh(op, "trips", 0, *trips);
    return VRAM_OK;
}

static int loop(struct vram_op *op)
{
    const struct vram_onnx_graph *g = NULL;
    struct carried c = {.n = op->n_in > 2 ? op->n_in - 2 : 0, .at_in = 2, .at_out = 1};
    struct vram_info iteration, condition;
    const struct vram_element nothing = {.kind = VRAM_ELEMENT_UNKNOWN};
    VRAM_TRY(graph_of(op, "body", &c.graph, &g));
    if (g->inputs.n != c.n + 2 || g->outputs.n < c.n + 1)
        return vram_op_fail(op, "the body has %u inputs and %u outputs for %u values", g->inputs.n, g->outputs.n, c.n);
    if (op->n_out > g->outputs.n - 1)
        return vram_op_fail(op, "the body gives %u outputs, the node has %u", g->outputs.n - 1, op->n_out);
    VRAM_TRY(prepare(op, &c, g, 2));
    VRAM_TRY(scalar(op, VRAM_DT_I64, nothing, &iteration));
    VRAM_TRY(scalar(op, VRAM_DT_BOOL, vram_element_dim(vram_dim_int(op->dims, 1)), &condition));
    c.in[0] = &iteration;
    c.in[1] = &condition;
    vram_dim trips = most_trips(op);
    VRAM_TRY(loop_body(op, &c, &trips));
    VRAM_TRY(put_states(op, &c));
    for (uint32_t i = c.n + 1; i < c.n_out; i++)
        VRAM_TRY(stack(op, i - 1, c.out[i], trips, 0));
    return VRAM_OK;
}

/* ---- Scan ---------------------------------------------------------------------------------- */

struct scan {
    uint32_t first;   /* input that is the first state */
    bool batched;     /* opset 8: a batch axis before all others */
    uint32_t n_scans; /* inputs that are scanned */
};

/* Input x without the axis that is scanned, and the batch axis; its length goes to *n. */
static int slice(struct vram_op *op, const struct scan *s, const struct vram_info *x, int64_t axis,
                 struct vram_info *out, vram_dim *n)
{
    uint32_t at, kept = 0, drop = s->batched ? 2 : 1;
    *out = (struct vram_info){.kind = VRAM_ONNX_TENSOR, .dtype = x ? x->dtype : (uint8_t)VRAM_DT_NONE};
    if (!x || !x->ranked)
        return VRAM_OK;
    if (x->rank < drop)
        return vram_op_fail(op, "a scanned input of rank %u", x->rank);
    if (s->batched)
        at = 1;
    else
        VRAM_TRY(vram_op_axis(op, "scan_input_axes", axis, x->rank, &at));
    vram_dim *dims = vram_op_dims(op, x->rank - drop);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t k = s->batched; k < x->rank; k++)
        if (k != at)
            dims[kept++] = x->dims[k];
    out->ranked = true;
    out->rank = kept;
    out->dims = dims;
    return vram_op_same(op, *n, x->dims[at], "the lengths of scanned inputs", n);
}

static int axis_at(struct vram_op *op, const char *name, uint32_t i, int64_t *out)
{
    const int64_t *axes;
    uint32_t n;
    *out = 0;
    if (!vram_op_has(op, name))
        return VRAM_OK;
    VRAM_TRY(vram_op_ints(op, name, &axes, &n));
    *out = i < n ? axes[i] : 0;
    return VRAM_OK;
}

/* Drops the batch axis of a state, or puts it back. */
static int batch_state(struct vram_op *op, struct vram_info *state, vram_dim *batch, bool drop)
{
    if (!state->ranked)
        return VRAM_OK;
    if (drop && !state->rank)
        return vram_op_fail(op, "a state without a batch axis");
    uint32_t rank = drop ? state->rank - 1 : state->rank + 1;
    vram_dim *dims = vram_op_dims(op, rank);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t k = 0; k < rank; k++)
        dims[k] = drop ? state->dims[k + 1] : k ? state->dims[k - 1] : *batch;
    if (drop)
        VRAM_TRY(vram_op_same(op, *batch, state->dims[0], "the batch of states", batch));
    *state = (struct vram_info){.kind = state->kind, .dtype = state->dtype, .ranked = true, .rank = rank, .dims = dims};
    return VRAM_OK;
}

static int scan_any(struct vram_op *op, bool batched)
{
    const struct vram_onnx_graph *g = NULL;
    struct scan s = {.first = batched, .batched = batched};
    struct carried c = {.n = 0};
    int64_t n, axis;
    vram_dim length = VRAM_DIM_UNKNOWN, batch = VRAM_DIM_UNKNOWN;
    VRAM_TRY(graph_of(op, "body", &c.graph, &g));
    VRAM_TRY(vram_op_need_int(op, "num_scan_inputs", &n));
    if (n < 1 || n > (int64_t)op->n_in - s.first || g->inputs.n != op->n_in - s.first)
        return vram_op_fail(op, "the body has %u inputs, the node %u of which %lld are scanned", g->inputs.n,
                            op->n_in - s.first, (long long)n);
    s.n_scans = (uint32_t)n;
    c.n = op->n_in - s.first - s.n_scans;
    if (g->outputs.n < c.n || op->n_out > g->outputs.n)
        return vram_op_fail(op, "the body has %u outputs, the node %u", g->outputs.n, op->n_out);
    VRAM_TRY(prepare(op, &c, g, s.first));
    struct vram_info *slices = vram_arena_array(op->cx->arena, s.n_scans, sizeof *slices);
    if (!slices)
        return vram_fail_memory(op->cx);
    for (uint32_t i = 0; i < s.n_scans; i++) {
        const struct vram_info *x = op->in[s.first + c.n + i];
        VRAM_TRY(axis_at(op, "scan_input_axes", i, &axis));
        VRAM_TRY(slice(op, &s, x, axis, &slices[i], &length));
        c.in[c.n + i] = &slices[i];
        if (batched && x && x->ranked)
            VRAM_TRY(vram_op_same(op, batch, x->dims[0], "the batch of scanned inputs", &batch));
    }
    for (uint32_t i = 0; batched && i < c.n; i++)
        VRAM_TRY(batch_state(op, &c.state[i], &batch, true));
    VRAM_TRY(carry(op, &c));
    VRAM_TRY(put_states(op, &c));
    for (uint32_t i = c.n; i < c.n_out && i < op->n_out; i++) {
        VRAM_TRY(axis_at(op, "scan_output_axes", i - c.n, &axis));
        VRAM_TRY(stack(op, i, c.out[i], length, batched ? 0 : axis));
    }
    for (uint32_t i = 0; batched && i < op->n_out; i++)
        VRAM_TRY(batch_state(op, &op->out[i], &batch, false));
    return VRAM_OK;
}

static int scan_8(struct vram_op *op) { return scan_any(op, true); }
static int scan_9(struct vram_op *op) { return scan_any(op, false); }

/* ---- SequenceMap --------------------------------------------------------------------------- */

static int sequence_map(struct vram_op *op)
{
    const struct vram_onnx_graph *g = NULL;
    uint32_t graph = 0;
    const struct vram_info **in = pointers(op, op->n_in), **out = pointers(op, op->n_out);
    if (!in || !out)
        return op->cx->error->code;
    VRAM_TRY(graph_of(op, "body", &graph, &g));
    for (uint32_t i = 0; i < op->n_in; i++) {
        bool sequence = op->in[i] && op->in[i]->kind == VRAM_ONNX_SEQUENCE;
        in[i] = sequence ? op->in[i]->element : op->in[i];
    }
    VRAM_TRY(vram_op_run_graph(op, graph, in, op->n_in, out, op->n_out));
    for (uint32_t i = 0; i < op->n_out; i++) {
        struct vram_info *element = vram_arena_alloc(op->cx->arena, sizeof *element);
        if (!element)
            return vram_fail_memory(op->cx);
        *element = *out[i];
        element->value = NULL;
        element->tensor = 0;
        op->out[i] = (struct vram_info){.kind = VRAM_ONNX_SEQUENCE, .element = element, .length = op->in[0]->length};
    }
    return VRAM_OK;
}

static const struct vram_op_row rows[] = {
    {"If", 1, 1, 1, 1, UINT32_MAX, if_, NULL, "a known condition takes its branch, else what both have in common"},
    {"Loop", 1, 0, UINT32_MAX, 0, UINT32_MAX, loop, NULL, "what changes from round to round is a size of its own"},
    {"Scan", 8, 0, UINT32_MAX, 1, UINT32_MAX, scan_8, NULL, NULL},
    {"Scan", 9, 1, UINT32_MAX, 1, UINT32_MAX, scan_9, NULL, NULL},
    {"SequenceMap", 17, 1, UINT32_MAX, 1, UINT32_MAX, sequence_map, NULL, NULL},
};
const struct vram_op_family vram_onnx_ops_control = {"", "control", rows, sizeof rows / sizeof *rows};
