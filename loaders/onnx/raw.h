/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ONNX file says, part by part, before names are resolved and calls of functions made.  Raw
 * graphs, nodes and attributes live in an arena of their own; tensors, types and dims are final.
 */
#ifndef VRAM_ONNX_RAW_H
#define VRAM_ONNX_RAW_H

#include "base/cx.h"
#include "base/vec.h"
#include "ir/graph.h"
#include "onnx.pb-c.h"
#include "onnx/skim.h"
#include "source.h"

enum { ONNX_NEWEST_OPSET = 28 }; /* of ai.onnx, in onnx 1.23 */

struct raw_attr {
    struct vram_onnx_attr is; /* GRAPH, GRAPHS: raw graphs */
    vram_sym ref;             /* of an attribute of the function around it; 0 = none */
};

struct raw_node {
    vram_sym domain, op, name, overload;
    uint32_t number;
    struct vram_onnx_span in, out; /* of names */
    struct vram_onnx_span attrs;
    uint64_t offset;
};

struct raw_value {
    vram_sym name;
    uint32_t type;
};

typedef VRAM_VEC(struct raw_value) raw_values;
typedef VRAM_VEC(struct vram_onnx_opset) raw_opsets;
typedef VRAM_VEC(vram_sym) raw_names;

struct raw_graph {
    vram_sym name;
    VRAM_VEC(struct raw_node) nodes;
    raw_values inputs, outputs, infos;
    VRAM_VEC(uint32_t) inits; /* tensors */
    uint32_t function;        /* whose body it is */
    uint64_t lists;           /* inputs, outputs and attributes of all nodes */
};

struct raw_function {
    vram_sym domain, name, overload;
    uint32_t graph;
    raw_opsets opsets;
    VRAM_VEC(struct raw_attr) defaults;
    uint32_t next;  /* another one of that name */
    bool active;    /* a call of it is being made */
    uint64_t offset;
};

/* An external file: opened once, its size remembered. */
enum onnx_file_state { ONNX_FILE_NEW, ONNX_FILE_THERE, ONNX_FILE_MISSING };
struct onnx_file {
    enum onnx_file_state state;
    uint64_t size;
};

struct onnx_note {
    uint64_t n;
    const char *subject, *text;
};

struct onnx_load {
    struct vram_cx *cx;
    const char *file;                 /* for messages */
    const struct vram_folder *folder; /* of external data; NULL: they are not looked for */
    struct vram_arena raw;

    VRAM_VEC(struct raw_graph) graphs; /* 1 = the first that began */
    VRAM_VEC(struct raw_function) functions;
    VRAM_VEC(struct raw_attr) attrs;
    raw_names names;
    raw_opsets opsets;
    uint32_t main;
    uint64_t n_nodes;
    uint32_t *function_of; /* by symbol below function_names: the last function of that name */
    uint32_t function_names;

    VRAM_VEC(struct vram_onnx_tensor) tensors;
    VRAM_VEC(struct vram_onnx_type) types;
    VRAM_VEC(struct vram_onnx_dim) dims;

    VRAM_VEC(uint32_t) seen;            /* by symbol: the last node with an attribute of that name */
    uint32_t seen_turn;
    VRAM_VEC(struct onnx_file) files;   /* by symbol of the location */
    struct vram_source open;            /* the last one that was read from */
    vram_sym open_name;

    struct vram_onnx *out;
    struct onnx_note notes[VRAM_F_COUNT];
};

/* What a message is about; its text is made when there is a message. */
struct onnx_who {
    const char *what; /* "tensor", "value"; NULL: the file itself, or the node */
    vram_sym name;
    const struct raw_node *node;
};
/* "model.onnx: node 412 'Conv' /enc/conv1" */
struct onnx_place {
    char text[256];
};
struct onnx_place onnx_at(const struct onnx_load *l, const struct onnx_who *who);
struct onnx_place onnx_at_node(const struct onnx_load *l, const struct raw_node *node);
struct onnx_place onnx_at_value(const struct onnx_load *l, vram_sym name);
/* A name for a message: escaped, cut. */
struct onnx_place onnx_shown(const struct vram_cx *cx, vram_sym name);

/* A finding that may be made often: the first is kept, the others are counted. */
__attribute__((format(printf, 4, 5))) int onnx_note(struct onnx_load *l, enum vram_finding_kind kind,
                                                    const char *subject, const char *format, ...);
int onnx_notes_out(struct onnx_load *l);

/* VRAM_SYM_NONE when out of memory (the error is set).  text may be NULL. */
vram_sym onnx_name(struct onnx_load *l, const char *text);
/* The domain, with ai.onnx as 0. */
vram_sym onnx_domain(struct onnx_load *l, const char *text);

/* tensor.c */
int onnx_tensor(struct onnx_load *l, const Onnx__TensorProto *t, uint32_t *id);
int onnx_sparse(struct onnx_load *l, const Onnx__SparseTensorProto *t, uint32_t *id);
/* payload.c: checks what is stored against t's dims and dtype, and keeps it when it is small. */
int onnx_payload(struct onnx_load *l, const Onnx__TensorProto *proto, const struct onnx_who *who,
                 struct vram_onnx_tensor *t);
/* external.c */
int onnx_external(struct onnx_load *l, const Onnx__TensorProto *proto, const struct onnx_who *who,
                  struct vram_onnx_tensor *t);
void onnx_external_close(struct onnx_load *l);
/* types.c */
int onnx_type(struct onnx_load *l, const Onnx__TypeProto *t, const struct onnx_who *who, bool input, uint32_t *id);
/* attrs.c */
int onnx_attr(struct onnx_load *l, const Onnx__AttributeProto *a, const struct onnx_who *who, struct raw_attr *out);
/* parts.c */
uint32_t onnx_graph(void *load, uint64_t offset, bool function);
int onnx_part(void *load, enum onnx_part part, uint32_t graph, const ProtobufCMessage *message);
/* functions.c: makes them known by their names; the one that a node calls, 0 = none */
int onnx_functions(struct onnx_load *l);
uint32_t onnx_function(const struct onnx_load *l, const struct raw_node *node);
/* make.c: names resolved, functions called; the final arrays */
int onnx_make(struct onnx_load *l);

/* sort.c */
struct onnx_wait { /* a node must stand behind the one that makes this value */
    uint32_t node, value;
};
struct onnx_sorting {
    struct vram_cx *cx;
    struct vram_arena *scratch;
    const struct vram_onnx_node *nodes; /* by id */
    const struct vram_onnx_value *values;
    const uint32_t *edges;
    uint32_t first, n;             /* the graph's nodes */
    const struct onnx_wait *waits; /* what subgraphs of its nodes read of its values, by rising node */
    size_t n_waits;
    const char *file;
};
/* The nodes' ids in an order in which each stands behind what it reads; those that may stay, stay. */
int onnx_sort(const struct onnx_sorting *s, uint32_t *order);

#endif
