/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts that the skimmer hands over, into raw graphs, nodes and functions; and what messages
 * call them.
 */
#include "onnx/raw.h"

#include <stdio.h>
#include <string.h>

/* ---- names in messages ---- */

struct onnx_place onnx_shown(const struct vram_cx *cx, vram_sym name)
{
    struct onnx_place place;
    const char *text = vram_sym_text(cx->syms, name);
    vram_escape(place.text, 100, text, strlen(text));
    return place;
}

struct onnx_place onnx_at_node(const struct onnx_load *l, const struct raw_node *node)
{
    struct onnx_place place;
    struct onnx_place op = onnx_shown(l->cx, node->op), name = onnx_shown(l->cx, node->name);
    snprintf(place.text, sizeof place.text, "%.60s: node %u '%.60s'%s%.99s", l->file, node->number, op.text,
             node->name ? " " : "", name.text);
    return place;
}

struct onnx_place onnx_at(const struct onnx_load *l, const struct onnx_who *who)
{
    struct onnx_place place;
    if (who->node)
        return onnx_at_node(l, who->node);
    if (who->what)
        snprintf(place.text, sizeof place.text, "%.100s: %s '%.100s'", l->file, who->what,
                 onnx_shown(l->cx, who->name).text);
    else
        snprintf(place.text, sizeof place.text, "%.100s", l->file);
    return place;
}

struct onnx_place onnx_at_value(const struct onnx_load *l, vram_sym name)
{
    return onnx_at(l, &(struct onnx_who){.what = "value", .name = name});
}

int onnx_note(struct onnx_load *l, enum vram_finding_kind kind, const char *subject, const char *format, ...)
{
    struct onnx_note *note = &l->notes[kind];
    if (note->n++)
        return VRAM_OK;
    va_list args;
    va_start(args, format);
    note->text = vram_vformat(l->cx->arena, format, args);
    va_end(args);
    note->subject = vram_arena_strndup(l->cx->arena, subject, strlen(subject));
    return note->text && note->subject ? VRAM_OK : vram_fail_memory(l->cx);
}

int onnx_notes_out(struct onnx_load *l)
{
    for (int k = 0; k < VRAM_F_COUNT; k++) {
        const struct onnx_note *note = &l->notes[k];
        if (note->n == 1)
            VRAM_TRY(vram_find(l->cx, (enum vram_finding_kind)k, note->subject, "%s", note->text));
        else if (note->n)
            VRAM_TRY(vram_find(l->cx, (enum vram_finding_kind)k, note->subject, "%s (and %llu more like it)",
                               note->text, (unsigned long long)(note->n - 1)));
    }
    return VRAM_OK;
}

vram_sym onnx_name(struct onnx_load *l, const char *text)
{
    vram_sym name = text && *text ? vram_sym_add(l->cx->syms, text, strlen(text), 1) : 0;
    if (name == VRAM_SYM_NONE)
        vram_fail_memory(l->cx);
    return name;
}

vram_sym onnx_domain(struct onnx_load *l, const char *text)
{
    return text && !strcmp(text, "ai.onnx") ? 0 : onnx_name(l, text);
}

/* ---- nodes ---- */

static int names(struct onnx_load *l, char *const *text, size_t n, struct vram_onnx_span *span)
{
    if (n > l->cx->limits->onnx_items - l->names.n || !vram_vec_room(&l->names, &l->raw, n))
        return n > l->cx->limits->onnx_items - l->names.n
                 ? vram_fail(l->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "more than %llu inputs and outputs of nodes",
                             (unsigned long long)l->cx->limits->onnx_items)
                 : vram_fail_memory(l->cx);
    *span = (struct vram_onnx_span){(uint32_t)l->names.n, (uint32_t)n};
    for (size_t i = 0; i < n; i++) {
        vram_sym name = onnx_name(l, text[i]);
        if (name == VRAM_SYM_NONE)
            return l->cx->error->code;
        l->names.at[l->names.n++] = name;
    }
    return VRAM_OK;
}

/* Does the node have an attribute of that name already?  `seen` says of a name which node had it last. */
static int twice(struct onnx_load *l, vram_sym name, bool *yes)
{
    while (l->seen.n <= name)
        if (!vram_vec_push(&l->seen, &l->raw, 0))
            return vram_fail_memory(l->cx);
    *yes = l->seen.at[name] == l->seen_turn;
    l->seen.at[name] = l->seen_turn;
    return VRAM_OK;
}

static int attributes(struct onnx_load *l, const Onnx__NodeProto *n, struct raw_node *node)
{
    struct onnx_who who = {.node = node};
    bool again = false;
    if (n->n_attribute > l->cx->limits->onnx_items - l->attrs.n)
        return vram_fail(l->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "more than %llu attributes",
                         (unsigned long long)l->cx->limits->onnx_items);
    node->attrs = (struct vram_onnx_span){(uint32_t)l->attrs.n, (uint32_t)n->n_attribute};
    l->seen_turn++;
    for (size_t i = 0; i < n->n_attribute; i++) {
        struct raw_attr attr;
        VRAM_TRY(onnx_attr(l, n->attribute[i], &who, &attr));
        VRAM_TRY(twice(l, attr.is.name, &again));
        if (again)
            VRAM_TRY(onnx_note(l, VRAM_F_ONNX_ATTR_TWICE, onnx_at(l, &who).text, "attribute '%s' stands twice: the first is taken",
                               onnx_shown(l->cx, attr.is.name).text));
        if (!vram_vec_push(&l->attrs, &l->raw, attr))
            return vram_fail_memory(l->cx);
    }
    return VRAM_OK;
}

static int node(struct onnx_load *l, uint32_t graph, const Onnx__NodeProto *n)
{
    struct raw_node node = {.domain = onnx_domain(l, n->domain), .op = onnx_name(l, n->op_type),
                            .name = onnx_name(l, n->name), .overload = onnx_name(l, n->overload),
                            .number = (uint32_t)l->graphs.at[graph].nodes.n, .offset = onnx_mark_offset(&n->base)};
    if (l->cx->error->code)
        return l->cx->error->code;
    if (++l->n_nodes > l->cx->limits->onnx_nodes)
        return vram_fail(l->cx, VRAM_E_LIMIT, node.offset, "more than %llu nodes",
                         (unsigned long long)l->cx->limits->onnx_nodes);
    int rc = VRAM_OK;
    if (!node.op)
        rc = vram_fail(l->cx, VRAM_E_FORMAT, node.offset, "a node without an operator: the file is damaged");
    if (!rc)
        rc = names(l, n->input, n->n_input, &node.in);
    if (!rc)
        rc = names(l, n->output, n->n_output, &node.out);
    if (!rc)
        rc = attributes(l, n, &node);
    if (!rc && n->n_output == 0)
        rc = onnx_note(l, VRAM_F_ONNX_NO_OUTPUTS, onnx_at_node(l, &node).text, "a node without outputs: nothing can use it");
    if (!rc && !vram_vec_push(&l->graphs.at[graph].nodes, &l->raw, node))
        rc = vram_fail_memory(l->cx);
    l->graphs.at[graph].lists += node.in.n + node.out.n + node.attrs.n;
    if (rc)
        vram_where(l->cx, "%s", onnx_at_node(l, &node).text);
    return rc;
}

/* ---- declarations ---- */

static int declared(struct onnx_load *l, uint32_t graph, enum onnx_part part, const Onnx__ValueInfoProto *v)
{
    struct raw_value value = {.name = onnx_name(l, v->name)};
    if (value.name == VRAM_SYM_NONE)
        return l->cx->error->code;
    if (!value.name && part == ONNX_INFO)
        return VRAM_OK; /* a claim about nothing */
    if (!value.name)
        return vram_fail(l->cx, VRAM_E_FORMAT, onnx_mark_offset(&v->base), "it has no name");
    struct onnx_who who = {.what = "value", .name = value.name};
    int rc = onnx_type(l, v->type, &who, part == ONNX_INPUT, &value.type);
    if (rc) {
        vram_where(l->cx, "%s", onnx_at(l, &who).text);
        if (l->cx->error->offset == VRAM_NO_OFFSET && rc != VRAM_E_NOMEM)
            l->cx->error->offset = onnx_mark_offset(&v->base);
        return rc;
    }
    struct raw_graph *g = &l->graphs.at[graph];
    raw_values *list = part == ONNX_INPUT ? &g->inputs : part == ONNX_OUTPUT ? &g->outputs : &g->infos;
    return vram_vec_push(list, &l->raw, value) ? VRAM_OK : vram_fail_memory(l->cx);
}

static int initializer(struct onnx_load *l, uint32_t graph, const ProtobufCMessage *m, bool sparse)
{
    uint32_t id;
    if (sparse)
        VRAM_TRY(onnx_sparse(l, (const Onnx__SparseTensorProto *)m, &id));
    else
        VRAM_TRY(onnx_tensor(l, (const Onnx__TensorProto *)m, &id));
    if (!l->tensors.at[id].name)
        return vram_fail(l->cx, VRAM_E_FORMAT, onnx_mark_offset(m), "it has no name");
    return vram_vec_push(&l->graphs.at[graph].inits, &l->raw, id) ? VRAM_OK : vram_fail_memory(l->cx);
}

enum { OPSETS = 1000 };

static int opset(struct onnx_load *l, raw_opsets *list, const Onnx__OperatorSetIdProto *o)
{
    struct vram_onnx_opset opset = {onnx_domain(l, o->domain), o->version};
    if (opset.domain == VRAM_SYM_NONE)
        return l->cx->error->code;
    if (opset.version < 1)
        VRAM_TRY(onnx_note(l, VRAM_F_ONNX_OPSET, l->file, "version %lld of domain '%s' does not exist: taken as 1",
                           (long long)opset.version, onnx_shown(l->cx, opset.domain).text));
    if (!opset.domain && opset.version > ONNX_NEWEST_OPSET)
        VRAM_TRY(onnx_note(l, VRAM_F_ONNX_OPSET, l->file, "version %lld of ai.onnx is newer than the newest known, %d: read as that",
                           (long long)opset.version, ONNX_NEWEST_OPSET));
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].domain == opset.domain) {
            if (list->at[i].version != opset.version)
                VRAM_TRY(onnx_note(l, VRAM_F_ONNX_OPSET, l->file,
                                   "domain '%s' is imported with versions %lld and %lld: the last is taken",
                                   onnx_shown(l->cx, opset.domain).text, (long long)list->at[i].version,
                                   (long long)opset.version));
            list->at[i].version = opset.version;
            return VRAM_OK;
        }
    if (list->n >= OPSETS)
        return vram_fail(l->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "more than %d imported domains", OPSETS);
    return vram_vec_push(list, &l->raw, opset) ? VRAM_OK : vram_fail_memory(l->cx);
}

/* ---- functions and heads ---- */

static struct raw_function *function_of(struct onnx_load *l, uint32_t graph)
{
    return &l->functions.at[l->graphs.at[graph].function];
}

static int parameter_default(struct onnx_load *l, uint32_t graph, const Onnx__AttributeProto *a)
{
    struct raw_attr attr;
    VRAM_TRY(onnx_attr(l, a, &(struct onnx_who){0}, &attr));
    return vram_vec_push(&function_of(l, graph)->defaults, &l->raw, attr) ? VRAM_OK : vram_fail_memory(l->cx);
}

static int formal(struct onnx_load *l, raw_values *list, char *const *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        vram_sym name = onnx_name(l, text[i]);
        if (name == VRAM_SYM_NONE)
            return l->cx->error->code;
        if (!name)
            return vram_fail(l->cx, VRAM_E_FORMAT, VRAM_NO_OFFSET, "an input or output without a name");
        if (!vram_vec_push(list, &l->raw, (struct raw_value){.name = name}))
            return vram_fail_memory(l->cx);
    }
    return VRAM_OK;
}

static int function_head(struct onnx_load *l, uint32_t graph, const Onnx__FunctionProto *p)
{
    struct raw_function *f = function_of(l, graph);
    f->name = onnx_name(l, p->name);
    f->domain = onnx_domain(l, p->domain);
    f->overload = onnx_name(l, p->overload);
    if (l->cx->error->code)
        return l->cx->error->code;
    l->graphs.at[graph].name = f->name;
    VRAM_TRY(formal(l, &l->graphs.at[graph].inputs, p->input, p->n_input));
    VRAM_TRY(formal(l, &l->graphs.at[graph].outputs, p->output, p->n_output));
    return VRAM_OK;
}

static int graph_head(struct onnx_load *l, uint32_t graph, const Onnx__GraphProto *p)
{
    vram_sym name = onnx_name(l, p->name);
    if (name == VRAM_SYM_NONE)
        return l->cx->error->code;
    if (name)
        l->graphs.at[graph].name = name;
    return VRAM_OK;
}

static int model_head(struct onnx_load *l, const Onnx__ModelProto *p)
{
    l->out->ir_version = p->ir_version;
    l->out->producer = onnx_name(l, p->producer_name);
    l->out->producer_version = onnx_name(l, p->producer_version);
    if (l->cx->error->code)
        return l->cx->error->code;
    if (p->ir_version < 1 || p->ir_version > ONNX__VERSION__IR_VERSION)
        VRAM_TRY(onnx_note(l, VRAM_F_ONNX_IR_VERSION, l->file, "IR version %lld is not one of 1 to %d: read as the newest",
                           (long long)p->ir_version, ONNX__VERSION__IR_VERSION));
    return VRAM_OK;
}

uint32_t onnx_graph(void *load, uint64_t offset, bool function)
{
    struct onnx_load *l = load;
    struct raw_graph graph = {.function = function ? (uint32_t)l->functions.n : 0};
    if (function && !vram_vec_push(&l->functions, &l->raw, (struct raw_function){.graph = (uint32_t)l->graphs.n, .offset = offset}))
        return 0;
    return vram_vec_push(&l->graphs, &l->raw, graph) ? (uint32_t)l->graphs.n - 1 : 0;
}

int onnx_part(void *load, enum onnx_part part, uint32_t graph, const ProtobufCMessage *m)
{
    struct onnx_load *l = load;
    switch (part) {
    case ONNX_NODE: return node(l, graph, (const Onnx__NodeProto *)m);
    case ONNX_INPUT:
    case ONNX_OUTPUT:
    case ONNX_INFO: return declared(l, graph, part, (const Onnx__ValueInfoProto *)m);
    case ONNX_INIT: return initializer(l, graph, m, false);
    case ONNX_SPARSE: return initializer(l, graph, m, true);
    case ONNX_OPSET:
        return opset(l, graph ? &function_of(l, graph)->opsets : &l->opsets, (const Onnx__OperatorSetIdProto *)m);
    case ONNX_DEFAULT: return parameter_default(l, graph, (const Onnx__AttributeProto *)m);
    case ONNX_GRAPH_HEAD: return graph_head(l, graph, (const Onnx__GraphProto *)m);
    case ONNX_FUNCTION_HEAD: return function_head(l, graph, (const Onnx__FunctionProto *)m);
    default: return model_head(l, (const Onnx__ModelProto *)m);
    }
}
