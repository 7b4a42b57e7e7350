/* SPDX-License-Identifier: Apache-2.0
 *
 * See print_onnx.h.  A graph prints its nodes in their order; subgraphs and bodies stand indented below
 * the node that has them.  No recursion is deeper than the file was allowed to be.
 */
#include "ir/print_onnx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 16 }; /* elements of a list or tensor */

struct printer {
    const struct vram_onnx *m;
    const struct vram_syms *syms;
    struct vram_text *out;
};

static void indent(const struct printer *p, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        vram_text_puts(p->out, "  ");
}

/* A name as it is, or in quotes when it holds what could be taken for something else. */
static void name(const struct printer *p, vram_sym sym)
{
    const char *text = vram_sym_text(p->syms, sym);
    bool plain = *text != 0;
    for (const char *at = text; *at; at++)
        plain = plain && (unsigned char)*at > 32 && (unsigned char)*at < 127 && !strchr("\"'\\,()<>{}[]=", *at);
    if (plain)
        vram_text_puts(p->out, text);
    else
        vram_text_json(p->out, text);
}

/* nine digits, with a point in every locale */
static void put_real(struct vram_text *out, double x)
{
    char text[40];
    snprintf(text, sizeof text, "%.9g", x);
    for (const char *at = text; *at; at++) {
        bool plain = strchr("0123456789+-einfa", *at) != NULL;
        if (plain)
            vram_text_put(out, at, 1);
        else if (at == text || strchr("0123456789", at[-1]))
            vram_text_put(out, ".", 1);
    }
}

static void dims(const struct printer *p, struct vram_onnx_span span)
{
    vram_text_puts(p->out, "[");
    for (uint32_t i = 0; i < span.n; i++) {
        const struct vram_onnx_dim *d = &p->m->dims.at[span.first + i];
        vram_text_puts(p->out, i ? "," : "");
        if (d->size >= 0)
            vram_text_printf(p->out, "%" PRId64, d->size);
        else if (d->name && strchr("0123456789", vram_sym_text(p->syms, d->name)[0]))
            vram_text_json(p->out, vram_sym_text(p->syms, d->name));
        else if (d->name)
            name(p, d->name);
        else
            vram_text_puts(p->out, "?");
    }
    vram_text_puts(p->out, "]");
}

static void type(const struct printer *p, uint32_t id)
{
    static const char *const kinds[] = {"unknown", "", "sparse_", "seq", "optional", "map", "opaque"};
    const struct vram_onnx_type *t = &p->m->types.at[id];
    if (t->kind == VRAM_ONNX_TENSOR || t->kind == VRAM_ONNX_SPARSE) {
        vram_text_printf(p->out, "%s%s", kinds[t->kind], vram_dtypes[t->dtype].name);
        if (t->ranked)
            dims(p, t->shape);
        return;
    }
    vram_text_puts(p->out, id ? kinds[t->kind] : "unknown");
    if (t->element) {
        vram_text_puts(p->out, "(");
        type(p, t->element);
        vram_text_puts(p->out, ")");
    }
}

void vram_onnx_print_type(const struct vram_onnx *model, const struct vram_syms *syms, uint32_t id, struct vram_text *out)
{
    struct printer p = {model, syms, out};
    type(&p, id);
}

static void value(const struct printer *p, uint32_t id)
{
    if (id)
        name(p, p->m->values.at[id].name);
    else
        vram_text_puts(p->out, "\"\"");
}

static void values(const struct printer *p, struct vram_onnx_span span)
{
    for (uint32_t i = 0; i < span.n; i++) {
        vram_text_puts(p->out, i ? ", " : "");
        value(p, p->m->edges.at[span.first + i]);
    }
}

static void data(const struct printer *p, const struct vram_onnx_tensor *t)
{
    uint64_t n = t->elements < SHOWN ? t->elements : SHOWN;
    int64_t whole;
    double real;
    vram_text_puts(p->out, " {");
    for (uint64_t i = 0; i < n; i++) {
        vram_text_puts(p->out, i ? ", " : "");
        if (vram_onnx_integer(t, i, &whole))
            vram_text_printf(p->out, "%" PRId64, whole);
        else if (vram_onnx_real(t, i, &real))
            put_real(p->out, real);
        else
            vram_text_puts(p->out, "?");
    }
    vram_text_puts(p->out, n < t->elements ? ", ...}" : "}");
}

static void tensor(const struct printer *p, uint32_t id)
{
    static const char *const places[] = {"", " external", " nowhere"};
    const struct vram_onnx_tensor *t = &p->m->tensors.at[id];
    vram_text_printf(p->out, "%s[", vram_dtypes[t->dtype].name);
    for (uint32_t i = 0; i < t->rank; i++)
        vram_text_printf(p->out, "%s%" PRId64, i ? "," : "", t->dims[i]);
    vram_text_printf(p->out, "]%s%s", t->sparse ? " sparse" : "", places[t->place]);
    if (t->file) {
        vram_text_puts(p->out, " ");
        name(p, t->file);
        vram_text_printf(p->out, "@%" PRIu64, t->offset);
    }
    if (t->stored != t->bytes)
        vram_text_printf(p->out, " stored %" PRIu64 " of %" PRIu64, t->stored, t->bytes);
    if (t->data)
        data(p, t);
}

static void element(const struct printer *p, const struct vram_onnx_attr *a, uint32_t i)
{
    uint32_t id = a->n && a->kind >= VRAM_ATTR_STRINGS && a->kind != VRAM_ATTR_SPARSE_TENSOR && a->kind != VRAM_ATTR_TYPE
                    ? a->ids[i] : a->id;
    switch (a->kind) {
    case VRAM_ATTR_FLOAT: put_real(p->out, a->f); break;
    case VRAM_ATTR_INT: vram_text_printf(p->out, "%" PRId64, a->i); break;
    case VRAM_ATTR_FLOATS: put_real(p->out, a->floats[i]); break;
    case VRAM_ATTR_INTS: vram_text_printf(p->out, "%" PRId64, a->ints[i]); break;
    case VRAM_ATTR_STRING:
    case VRAM_ATTR_STRINGS: vram_text_json(p->out, vram_sym_text(p->syms, id)); break;
    case VRAM_ATTR_GRAPH:
    case VRAM_ATTR_GRAPHS:
        vram_text_puts(p->out, "graph ");
        name(p, p->m->graphs.at[id].path);
        break;
    case VRAM_ATTR_TYPE:
    case VRAM_ATTR_TYPES: type(p, id); break;
    default: tensor(p, id); break;
    }
}

static bool is_list(unsigned kind)
{
    return (kind >= VRAM_ATTR_FLOATS && kind <= VRAM_ATTR_GRAPHS) || kind == VRAM_ATTR_SPARSE_TENSORS ||
           kind == VRAM_ATTR_TYPES;
}

static void attributes(const struct printer *p, struct vram_onnx_span span)
{
    for (uint32_t i = 0; i < span.n; i++) {
        const struct vram_onnx_attr *a = &p->m->attrs.at[span.first + i];
        bool list = is_list(a->kind);
        vram_text_puts(p->out, i ? ", " : " <");
        name(p, a->name);
        vram_text_puts(p->out, list ? " = [" : " = ");
        for (uint32_t k = 0; a->kind && k < a->n && k < SHOWN; k++) {
            vram_text_puts(p->out, k ? ", " : "");
            element(p, a, k);
        }
        vram_text_puts(p->out, a->n > SHOWN ? ", ..." : "");
        vram_text_puts(p->out, list ? "]" : "");
    }
    vram_text_puts(p->out, span.n ? ">" : "");
}

static void graph(const struct printer *p, uint32_t id, unsigned depth);

static void node(const struct printer *p, uint32_t id, unsigned depth)
{
    const struct vram_onnx_node *n = &p->m->nodes.at[id];
    indent(p, depth);
    if (n->name) {
        vram_text_puts(p->out, "[");
        name(p, n->name);
        vram_text_puts(p->out, "] ");
    }
    values(p, n->out);
    vram_text_puts(p->out, " = ");
    if (n->domain) {
        name(p, n->domain);
        vram_text_puts(p->out, ".");
    }
    name(p, n->op);
    vram_text_printf(p->out, ":%" PRIu32, n->version);
    attributes(p, n->attrs);
    vram_text_puts(p->out, " (");
    values(p, n->in);
    vram_text_puts(p->out, ")\n");
    if (n->body)
        graph(p, n->body, depth + 1);
    for (uint32_t i = 0; i < n->attrs.n; i++) {
        const struct vram_onnx_attr *a = &p->m->attrs.at[n->attrs.first + i];
        bool graphs = a->kind == VRAM_ATTR_GRAPH || a->kind == VRAM_ATTR_GRAPHS;
        for (uint32_t k = 0; graphs && k < a->n; k++) {
            uint32_t sub = a->kind == VRAM_ATTR_GRAPH ? a->id : a->ids[k];
            if (p->m->graphs.at[sub].owner == id) /* else it is the call's around this body */
                graph(p, sub, depth + 1);
        }
    }
}

static void declarations(const struct printer *p, struct vram_onnx_span span)
{
    for (uint32_t i = 0; i < span.n; i++) {
        uint32_t id = p->m->edges.at[span.first + i];
        vram_text_puts(p->out, i ? ", " : "");
        if (p->m->values.at[id].type) {
            type(p, p->m->values.at[id].type);
            vram_text_puts(p->out, " ");
        }
        value(p, id);
    }
}

static void graph(const struct printer *p, uint32_t id, unsigned depth)
{
    const struct vram_onnx_graph *g = &p->m->graphs.at[id];
    indent(p, depth);
    vram_text_puts(p->out, "graph ");
    name(p, g->path);
    vram_text_puts(p->out, " ");
    name(p, g->name);
    vram_text_puts(p->out, " (");
    declarations(p, g->inputs);
    vram_text_puts(p->out, ") => (");
    declarations(p, g->outputs);
    vram_text_puts(p->out, g->sorted ? ")\n" : ") sorted\n");
    for (uint32_t i = 0; i < g->initializers.n; i++) {
        uint32_t v = p->m->edges.at[g->initializers.first + i];
        indent(p, depth + 1);
        value(p, v);
        vram_text_puts(p->out, " = ");
        tensor(p, p->m->values.at[v].tensor);
        vram_text_puts(p->out, "\n");
    }
    for (uint32_t i = 0; i < g->nodes.n; i++)
        node(p, p->m->order.at[g->nodes.first + i], depth + 1);
}

void vram_onnx_print(const struct vram_onnx *model, const struct vram_syms *syms, struct vram_text *out)
{
    struct printer p = {model, syms, out};
    vram_text_printf(out, "onnx ir %" PRId64, model->ir_version);
    for (uint32_t i = 0; i < model->opsets.n; i++) {
        vram_text_puts(out, i ? ", " : ", opsets ");
        name(&p, model->opsets.at[i].domain);
        vram_text_printf(out, " %" PRId64, model->opsets.at[i].version);
    }
    vram_text_puts(out, "\n");
    if (model->graphs.n > 1)
        graph(&p, 1, 0);
}
