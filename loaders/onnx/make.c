/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw graphs into final ones: every name becomes a value's id, every call of a function a graph of
 * its own.
 *
 * Names: a graph sees its own values and, in a subgraph, those of the graphs around it; a function's
 * body sees nothing of its caller.  value_of has for each symbol the value that it means now; what a
 * graph changes there is undone at its end.  A name of a subgraph that hides an outer one is against
 * the specification, but runtimes take the inner one: a finding.
 */
#include "onnx/raw.h"

#include <stdio.h>
#include <string.h>

#include "onnx/make.h"

static const uint32_t ABSENT = UINT32_C(1) << 31; /* an input of a function that the call leaves out */

static struct raw_graph *raw_of(const struct maker *m, uint32_t raw) { return &m->l->graphs.at[raw]; }

static int room(struct maker *m, bool pushed)
{
    return pushed ? VRAM_OK : vram_fail_memory(m->cx);
}

/* ---- names ---- */

/* What the name means in the graph; 0 = nothing. */
static uint32_t lookup(const struct maker *m, vram_sym name, uint32_t graph)
{
    uint32_t value = name < m->n_names ? m->value_of[name] : 0, id = value & ~ABSENT;
    return id && m->roots.at[m->values.at[id].graph] == m->roots.at[graph] ? value : 0;
}

static int mean(struct maker *m, vram_sym name, uint32_t value)
{
    if (!vram_vec_push(&m->undo, &m->l->raw, (struct undo){name, m->value_of[name]}))
        return vram_fail_memory(m->cx);
    m->value_of[name] = value;
    return VRAM_OK;
}

static int add_value(struct maker *m, struct vram_onnx_value value, uint32_t *id)
{
    uint32_t outer = lookup(m, value.name, value.graph);
    if (outer)
        VRAM_TRY(onnx_note(m->l, VRAM_F_ONNX_SHADOW, onnx_at_value(m->l, value.name).text,
                           "a subgraph has a name of the graph around it: inside, the inner one is taken"));
    if (m->values.n >= m->cx->limits->onnx_items)
        return vram_fail(m->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "more than %llu values",
                         (unsigned long long)m->cx->limits->onnx_items);
    *id = (uint32_t)m->values.n;
    VRAM_TRY(room(m, vram_vec_push(&m->values, m->cx->arena, value)));
    return mean(m, value.name, *id);
}

/* The value of that name in this very graph, else 0. */
static uint32_t own(const struct maker *m, vram_sym name, uint32_t graph)
{
    uint32_t value = lookup(m, name, graph) & ~ABSENT;
    return value && m->values.at[value].graph == graph ? value : 0;
}

/* Node `reader` of graph reads what the name means: the id, 0 when it is left out.  Where the value
 * is an outer graph's, the node of that graph that the subgraph stands in waits for it. */
static int read_name(struct maker *m, vram_sym name, uint32_t graph, uint32_t *id)
{
    uint32_t value = lookup(m, name, graph);
    *id = value & ABSENT ? 0 : value;
    if (!*id)
        return VRAM_OK;
    const struct vram_onnx_value *v = &m->values.at[*id];
    if (v->graph == graph || !v->producer)
        return VRAM_OK;
    while (m->graphs.at[graph].parent != v->graph)
        graph = m->graphs.at[graph].parent;
    struct onnx_wait wait = {m->graphs.at[graph].owner, *id};
    if (v->producer >= wait.node)
        m->graphs.at[v->graph].sorted = false;
    return room(m, vram_vec_push(&m->waits, &m->l->raw, wait));
}

/* What a graph costs when it is made once more, in nodes. */
static uint64_t weight(const struct raw_graph *g)
{
    return g->nodes.n + (g->inputs.n + g->outputs.n + g->infos.n + g->inits.n + g->lists) / 16;
}

/* ---- declarations ---- */

static int inputs(struct maker *m, uint32_t graph, const struct raw_graph *raw)
{
    for (size_t i = 0; i < raw->inputs.n; i++) {
        struct raw_value in = raw->inputs.at[i];
        uint32_t id;
        if (own(m, in.name, graph)) {
            vram_where(m->cx, "%s", onnx_at_value(m->l, in.name).text);
            return vram_fail(m->cx, VRAM_E_FORMAT, VRAM_NO_OFFSET, "two inputs of a graph have this name");
        }
        VRAM_TRY(add_value(m, (struct vram_onnx_value){.name = in.name, .graph = graph, .type = in.type,
                                                       .role = VRAM_ONNX_INPUT}, &id));
    }
    return VRAM_OK;
}

static int initializers(struct maker *m, uint32_t graph, const struct raw_graph *raw)
{
    for (size_t i = 0; i < raw->inits.n; i++) {
        uint32_t tensor = raw->inits.at[i];
        vram_sym name = m->l->tensors.at[tensor].name;
        uint32_t id = own(m, name, graph);
        if (!id)
            VRAM_TRY(add_value(m, (struct vram_onnx_value){.name = name, .graph = graph, .role = VRAM_ONNX_INITIALIZER},
                               &id));
        else if (m->values.at[id].tensor)
            VRAM_TRY(onnx_note(m->l, VRAM_F_ONNX_INIT_TWICE, onnx_at_value(m->l, name).text,
                               "two initializers have this name: the last is taken"));
        else if (m->l->out->ir_version >= 1 && m->l->out->ir_version < 4)
            m->values.at[id].role = VRAM_ONNX_INITIALIZER; /* older files list all of them as inputs */
        m->values.at[id].tensor = tensor;
    }
    return VRAM_OK;
}

/* The inputs' and initializers' values, which are the first of the graph. */
static int list_values(struct maker *m, uint32_t graph, uint32_t first)
{
    struct vram_onnx_graph *g = &m->graphs.at[graph];
    size_t n = m->values.n - first;
    if (!vram_vec_room(&m->edges, m->cx->arena, 2 * n))
        return vram_fail_memory(m->cx);
    g->inputs.first = (uint32_t)m->edges.n;
    for (uint32_t v = first; v < m->values.n; v++)
        if (m->values.at[v].role == VRAM_ONNX_INPUT)
            m->edges.at[m->edges.n++] = v;
    g->inputs.n = (uint32_t)m->edges.n - g->inputs.first;
    g->initializers.first = (uint32_t)m->edges.n;
    for (uint32_t v = first; v < m->values.n; v++)
        if (m->values.at[v].tensor)
            m->edges.at[m->edges.n++] = v;
    g->initializers.n = (uint32_t)m->edges.n - g->initializers.first;
    return VRAM_OK;
}

static int taken(struct maker *m, const struct raw_node *raw, uint32_t id)
{
    const struct vram_onnx_value *v = &m->values.at[id];
    vram_where(m->cx, "%s", onnx_at_node(m->l, raw).text);
    return vram_fail(m->cx, VRAM_E_FORMAT, raw->offset, "its output '%s' is already the name of %s",
                     onnx_shown(m->cx, v->name).text,
                     v->producer ? "another node's output" : v->role == VRAM_ONNX_INPUT ? "an input of the graph" : "an initializer");
}

static int declare_node(struct maker *m, uint32_t graph, const struct raw_node *raw)
{
    uint32_t id = (uint32_t)m->nodes.n, value;
    struct vram_onnx_node node = {.domain = raw->domain, .op = raw->op, .name = raw->name, .graph = graph,
                                  .number = raw->number, .offset = raw->offset};
    if (!vram_vec_room(&m->edges, m->cx->arena, raw->out.n) || !vram_vec_push(&m->nodes, m->cx->arena, node))
        return vram_fail_memory(m->cx);
    m->nodes.at[id].out = (struct vram_onnx_span){(uint32_t)m->edges.n, raw->out.n};
    for (uint32_t i = 0; i < raw->out.n; i++) {
        vram_sym name = m->l->names.at[raw->out.first + i];
        value = 0;
        if (name && (value = own(m, name, graph)))
            return taken(m, raw, value);
        if (name)
            VRAM_TRY(add_value(m, (struct vram_onnx_value){.name = name, .graph = graph, .producer = id,
                                                           .role = VRAM_ONNX_MADE}, &value));
        m->edges.at[m->edges.n++] = value;
    }
    return VRAM_OK;
}

/* Types that the file declares for values of this graph. */
static void claims(struct maker *m, uint32_t graph, const raw_values *list)
{
    for (size_t i = 0; i < list->n; i++) {
        uint32_t id = own(m, list->at[i].name, graph);
        if (id && list->at[i].type && m->values.at[id].role != VRAM_ONNX_INPUT)
            m->values.at[id].type = list->at[i].type;
    }
}

/* ---- nodes ---- */

static int inputs_of(struct maker *m, uint32_t id, const struct raw_node *raw)
{
    struct vram_onnx_node *node = &m->nodes.at[id];
    if (!vram_vec_room(&m->edges, m->cx->arena, raw->in.n))
        return vram_fail_memory(m->cx);
    node->in = (struct vram_onnx_span){(uint32_t)m->edges.n, raw->in.n};
    for (uint32_t i = 0; i < raw->in.n; i++) {
        vram_sym name = m->l->names.at[raw->in.first + i];
        uint32_t value = 0;
        if (name) {
            VRAM_TRY(read_name(m, name, node->graph, &value));
            if (!value && !lookup(m, name, node->graph)) {
                vram_where(m->cx, "%s", onnx_at_node(m->l, raw).text);
                return vram_fail(m->cx, VRAM_E_FORMAT, raw->offset,
                                 "it reads '%s', which is no input, initializer or output of a node",
                                 onnx_shown(m->cx, name).text);
            }
        }
        if (m->values.at[value].graph == node->graph && m->values.at[value].producer >= id)
            m->graphs.at[node->graph].sorted = false;
        m->edges.at[m->edges.n++] = value;
    }
    return VRAM_OK;
}

static int path_of(struct maker *m, uint32_t node, const char *attr, uint32_t index, vram_sym *path)
{
    const struct vram_onnx_node *n = &m->nodes.at[node];
    char label[64];
    const char *name = vram_sym_text(m->cx->syms, n->name), *outer = vram_sym_text(m->cx->syms, m->graphs.at[n->graph].path);
    if (!n->name) {
        snprintf(label, sizeof label, "%.40s_%u", vram_sym_text(m->cx->syms, n->op), n->number);
        name = label;
    }
    /* names of exporters are paths of modules, with a slash in front */
    const char *slash = name[0] == '/' ? "" : "/", *dot = attr ? "." : "";
    size_t room = strlen(outer) + strlen(name) + (attr ? strlen(attr) : 0) + 16;
    if (room > m->cx->limits->onnx_name_bytes)
        return vram_fail(m->cx, VRAM_E_LIMIT, n->offset, "the path of a subgraph takes %zu bytes", room);
    struct vram_arena_mark mark = vram_arena_mark(&m->paths);
    char *text = index ? vram_format(&m->paths, "%s%s%s%s%s_%u", outer, slash, name, dot, attr ? attr : "", index)
                       : vram_format(&m->paths, "%s%s%s%s%s", outer, slash, name, dot, attr ? attr : "");
    *path = text ? vram_sym_add(m->cx->syms, text, strlen(text), 1) : VRAM_SYM_NONE;
    vram_arena_rewind(&m->paths, mark);
    return *path == VRAM_SYM_NONE ? vram_fail_memory(m->cx) : VRAM_OK;
}

/* The attribute's graphs, as subgraphs of the node. */
static int subgraphs(struct maker *m, uint32_t node, uint32_t attr, const struct call *call)
{
    struct vram_onnx_attr *a = &m->attrs.at[attr];
    const char *name = vram_sym_text(m->cx->syms, a->name);
    uint32_t *ids = NULL, n = a->n;
    const uint32_t *raws = a->kind == VRAM_ATTR_GRAPH ? &a->id : a->ids;
    ids = vram_arena_array(m->cx->arena, n, sizeof *ids);
    if (!ids)
        return vram_fail_memory(m->cx);
    for (uint32_t i = 0; i < n; i++) {
        struct place place = {.parent = m->nodes.at[node].graph, .owner = node};
        uint32_t raw = raws[i];
        VRAM_TRY(path_of(m, node, name, i, &place.path));
        VRAM_TRY(onnx_make_graph(m, raw, &place, call, &ids[i]));
        raws = m->attrs.at[attr].kind == VRAM_ATTR_GRAPH ? &m->attrs.at[attr].id : m->attrs.at[attr].ids;
    }
    a = &m->attrs.at[attr];
    if (a->kind == VRAM_ATTR_GRAPH)
        a->id = ids[0];
    else
        a->ids = ids;
    return VRAM_OK;
}

/* What an attribute of the function stands for in this call: the call's own, the default, or nothing.
 * *made: its graphs are final. */
static bool argument(const struct maker *m, const struct call *call, const struct raw_attr *ref,
                     struct vram_onnx_attr *out, bool *made)
{
    const struct vram_onnx_node *node = &m->nodes.at[call->node];
    for (uint32_t i = 0; i < node->attrs.n; i++)
        if (m->attrs.at[node->attrs.first + i].name == ref->ref) {
            *out = m->attrs.at[node->attrs.first + i];
            *made = true;
            out->name = ref->is.name;
            return true;
        }
    const struct raw_function *f = &m->l->functions.at[call->function];
    for (size_t i = 0; i < f->defaults.n; i++)
        if (f->defaults.at[i].is.name == ref->ref) {
            *out = f->defaults.at[i].is;
            *made = false;
            out->name = ref->is.name;
            return true;
        }
    return false;
}

static int attributes(struct maker *m, uint32_t node, const struct raw_node *raw, const struct call *call)
{
    uint32_t first = (uint32_t)m->attrs.n, n;
    bool made;
    m->nodes.at[node].attrs.first = first;
    for (uint32_t i = 0; i < raw->attrs.n; i++) {
        const struct raw_attr *a = &m->l->attrs.at[raw->attrs.first + i];
        struct vram_onnx_attr attr = a->is;
        made = attr.kind != VRAM_ATTR_GRAPH && attr.kind != VRAM_ATTR_GRAPHS;
        if (a->ref && !call) {
            vram_where(m->cx, "%s: attribute '%s'", onnx_at_node(m->l, raw).text, onnx_shown(m->cx, attr.name).text);
            return vram_fail(m->cx, VRAM_E_FORMAT, raw->offset,
                             "it refers to an attribute of a function, but stands in none");
        }
        if (a->ref && !argument(m, call, a, &attr, &made))
            continue;
        if (!made && attr.kind != VRAM_ATTR_GRAPH && attr.kind != VRAM_ATTR_GRAPHS)
            made = true;
        if (!vram_vec_push(&m->attrs, m->cx->arena, attr) ||
            !vram_vec_push(&m->made, &m->l->raw, (uint8_t)made))
            return vram_fail_memory(m->cx);
    }
    n = (uint32_t)m->attrs.n - first;
    m->nodes.at[node].attrs.n = n;
    /* subgraphs push attributes of their own: the marks of these are looked at behind the loop's start */
    size_t marks = m->made.n - n;
    for (uint32_t i = 0; i < n; i++)
        if (!m->made.at[marks + i])
            VRAM_TRY(subgraphs(m, node, first + i, call));
    m->made.n = marks;
    return VRAM_OK;
}

static int version(struct maker *m, uint32_t node, const struct raw_node *raw, const struct call *call, bool function)
{
    const raw_opsets *lists[2] = {call ? &m->l->functions.at[call->function].opsets : &m->l->opsets, &m->l->opsets};
    m->nodes.at[node].version = 1;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            if (lists[k]->at[i].domain == raw->domain) {
                int64_t v = lists[k]->at[i].version;
                m->nodes.at[node].version = v < 1 ? 1 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
                return VRAM_OK;
            }
    if (function)
        return VRAM_OK;
    return onnx_note(m->l, VRAM_F_ONNX_NOT_IMPORTED, onnx_at_node(m->l, raw).text,
                     "no version of domain '%s' is imported: read as version 1",
                     raw->domain ? onnx_shown(m->cx, raw->domain).text : "ai.onnx");
}

/* The body of the function that the node calls, unless that takes too much. */
static int body(struct maker *m, uint32_t node, const struct raw_node *raw, uint32_t function)
{
    struct raw_function *f = &m->l->functions.at[function];
    const struct raw_graph *g = raw_of(m, f->graph);
    struct call call = {.function = function, .node = node};
    struct place place = {.parent = m->nodes.at[node].graph, .owner = node, .body = true, .in = m->nodes.at[node].in};
    uint64_t limit = m->cx->limits->onnx_inlined;
    if (f->active || raw->in.n > g->inputs.n || raw->out.n > g->outputs.n) {
        vram_where(m->cx, "%s", onnx_at_node(m->l, raw).text);
        if (f->active)
            return vram_fail(m->cx, VRAM_E_FORMAT, raw->offset, "function '%s' calls itself",
                             onnx_shown(m->cx, f->name).text);
        return vram_fail(m->cx, VRAM_E_FORMAT, raw->offset,
                         "the call has %u inputs and %u outputs, the function %zu and %zu", raw->in.n, raw->out.n,
                         g->inputs.n, g->outputs.n);
    }
    if (m->depth >= m->cx->limits->onnx_depth || m->inlined + weight(g) > limit)
        return onnx_note(m->l, VRAM_F_ONNX_NOT_INLINED, onnx_at_node(m->l, raw).text,
                         "calls of functions make more than %llu nodes or %llu levels: what this one makes stays unknown",
                         (unsigned long long)limit, (unsigned long long)m->cx->limits->onnx_depth);
    f->active = true;
    uint32_t graph;
    VRAM_TRY(path_of(m, node, NULL, 0, &place.path));
    VRAM_TRY(onnx_make_graph(m, f->graph, &place, &call, &graph));
    m->nodes.at[node].body = graph;
    m->l->functions.at[function].active = false;
    return VRAM_OK;
}

static int node(struct maker *m, uint32_t id, const struct raw_node *raw, const struct call *call)
{
    uint32_t function = onnx_function(m->l, raw);
    VRAM_TRY(version(m, id, raw, call, function != 0));
    VRAM_TRY(inputs_of(m, id, raw));
    VRAM_TRY(attributes(m, id, raw, call));
    return function ? body(m, id, raw, function) : VRAM_OK;
}

/* ---- graphs ---- */

static int outputs(struct maker *m, uint32_t graph, const struct raw_graph *raw)
{
    uint32_t first = (uint32_t)m->edges.n;
    if (!vram_vec_room(&m->edges, m->cx->arena, raw->outputs.n))
        return vram_fail_memory(m->cx);
    for (size_t i = 0; i < raw->outputs.n; i++) {
        vram_sym name = raw->outputs.at[i].name;
        uint32_t value;
        VRAM_TRY(read_name(m, name, graph, &value));
        if (!value) {
            VRAM_TRY(onnx_note(m->l, VRAM_F_ONNX_NOT_MADE, onnx_at_value(m->l, name).text,
                               "an output of the graph that no node makes: it stays unknown"));
            VRAM_TRY(add_value(m, (struct vram_onnx_value){.name = name, .graph = graph,
                                                           .type = raw->outputs.at[i].type, .role = VRAM_ONNX_MADE},
                               &value));
        }
        m->edges.at[m->edges.n++] = value;
    }
    m->graphs.at[graph].outputs = (struct vram_onnx_span){first, (uint32_t)raw->outputs.n};
    return VRAM_OK;
}

/* Of the waits since `from`, this graph's are taken out; they go to `mine`. */
static int order(struct maker *m, uint32_t graph, uint32_t first, uint32_t n, size_t from)
{
    struct vram_onnx_graph *g = &m->graphs.at[graph];
    size_t kept = from, mine = 0;
    struct vram_arena_mark mark = vram_arena_mark(&m->paths);
    struct onnx_wait *waits = vram_arena_array(&m->paths, m->waits.n - from, sizeof *waits);
    if (!waits || !vram_vec_room(&m->order, m->cx->arena, n))
        return vram_fail_memory(m->cx);
    for (size_t i = from; i < m->waits.n; i++)
        if (m->values.at[m->waits.at[i].value].graph == graph)
            waits[mine++] = m->waits.at[i];
        else
            m->waits.at[kept++] = m->waits.at[i];
    m->waits.n = kept;
    g->nodes = (struct vram_onnx_span){(uint32_t)m->order.n, n};
    uint32_t *to = m->order.at ? m->order.at + m->order.n : NULL;
    m->order.n += n;
    int rc = VRAM_OK;
    if (g->sorted) {
        for (uint32_t i = 0; i < n; i++)
            to[i] = first + i;
    } else {
        struct onnx_sorting s = {m->cx, &m->paths, m->nodes.at, m->values.at, m->edges.at, first, n, waits, mine, m->l->file};
        rc = onnx_sort(&s, to);
        if (!rc)
            rc = onnx_note(m->l, VRAM_F_ONNX_UNSORTED, m->l->file,
                           "nodes stand before what they read: they are taken in an order that works");
    }
    vram_arena_rewind(&m->paths, mark);
    return rc;
}

static int contents(struct maker *m, uint32_t raw_id, uint32_t graph, const struct place *place, const struct call *call)
{
    struct raw_graph *raw = raw_of(m, raw_id);
    uint32_t first_value = (uint32_t)m->values.n, first = (uint32_t)m->nodes.n, n = (uint32_t)raw->nodes.n;
    size_t waits = m->waits.n;
    VRAM_TRY(inputs(m, graph, raw));
    for (uint32_t i = 0; place->body && i < raw->inputs.n; i++)
        if (i >= place->in.n || !m->edges.at[place->in.first + i])
            VRAM_TRY(mean(m, raw->inputs.at[i].name, (first_value + i) | ABSENT));
    VRAM_TRY(initializers(m, graph, raw));
    VRAM_TRY(list_values(m, graph, first_value));
    for (uint32_t i = 0; i < n; i++)
        VRAM_TRY(declare_node(m, graph, &raw->nodes.at[i]));
    claims(m, graph, &raw->infos);
    claims(m, graph, &raw->outputs);
    for (uint32_t i = 0; i < n; i++)
        VRAM_TRY(node(m, first + i, &raw->nodes.at[i], call));
    VRAM_TRY(outputs(m, graph, raw));
    return order(m, graph, first, n, waits);
}

int onnx_make_graph(struct maker *m, uint32_t raw, const struct place *place, const struct call *call, uint32_t *id)
{
    uint32_t graph = (uint32_t)m->graphs.n;
    size_t undo = m->undo.n;
    bool inner = place->parent && !place->body; /* sees the names around it */
    struct vram_onnx_graph g = {.name = raw_of(m, raw)->name, .path = place->path, .parent = place->parent,
                                .owner = place->owner, .sorted = true};
    uint32_t root = inner ? m->roots.at[place->parent] : graph;
    if (!vram_vec_push(&m->graphs, m->cx->arena, g) || !vram_vec_push(&m->roots, &m->l->raw, root))
        return vram_fail_memory(m->cx);
    if (call)
        m->inlined += weight(raw_of(m, raw));
    m->depth++;
    VRAM_TRY(contents(m, raw, graph, place, call));
    m->depth--;
    while (m->undo.n > undo) {
        struct undo u = m->undo.at[--m->undo.n];
        m->value_of[u.name] = u.value;
    }
    *id = graph;
    return VRAM_OK;
}

/* ---- the model ---- */

static int begin(struct maker *m)
{
    m->n_names = m->cx->syms->first + m->cx->syms->n;
    m->value_of = vram_arena_array(&m->l->raw, m->n_names, sizeof *m->value_of);
    if (!m->value_of || !vram_vec_push(&m->graphs, m->cx->arena, (struct vram_onnx_graph){0}) ||
        !vram_vec_push(&m->roots, &m->l->raw, 0) ||
        !vram_vec_push(&m->nodes, m->cx->arena, (struct vram_onnx_node){0}) ||
        !vram_vec_push(&m->values, m->cx->arena, (struct vram_onnx_value){0}) ||
        !vram_vec_push(&m->attrs, m->cx->arena, (struct vram_onnx_attr){0}))
        return vram_fail_memory(m->cx);
    return VRAM_OK;
}

static int opsets(struct maker *m)
{
    const raw_opsets *list = &m->l->opsets;
    struct vram_onnx_opset *copy = vram_arena_array(m->cx->arena, list->n, sizeof *copy);
    if (!copy)
        return vram_fail_memory(m->cx);
    if (list->n)
        memcpy(copy, list->at, list->n * sizeof *copy);
    m->l->out->opsets.at = copy;
    m->l->out->opsets.n = (uint32_t)list->n;
    return VRAM_OK;
}

#define GIVE(member, vector) (out->member.at = (vector).at, out->member.n = (uint32_t)(vector).n)

int onnx_make(struct onnx_load *l)
{
    struct maker m = {.l = l, .cx = l->cx};
    struct vram_onnx *out = l->out;
    struct place top = {0};
    uint32_t graph;
    vram_arena_init(&m.paths, UINT64_MAX);
    int rc = onnx_scratch(&m.paths) ? onnx_functions(l) : vram_fail_memory(l->cx);
    if (!rc)
        rc = begin(&m);
    if (!rc)
        rc = opsets(&m);
    if (!rc)
        rc = onnx_make_graph(&m, l->main, &top, NULL, &graph);
    vram_arena_finish(&m.paths);
    if (rc)
        return rc;
    GIVE(graphs, m.graphs);
    GIVE(nodes, m.nodes);
    GIVE(values, m.values);
    GIVE(attrs, m.attrs);
    GIVE(edges, m.edges);
    GIVE(order, m.order);
    GIVE(tensors, l->tensors);
    GIVE(types, l->types);
    GIVE(dims, l->dims);
    return VRAM_OK;
}
