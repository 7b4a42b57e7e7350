/* SPDX-License-Identifier: Apache-2.0
 *
 * An ONNX model as its file has it: graphs, nodes, values, attributes, tensors.  Read once by
 * loaders/onnx, then const and shared.  Ids are indices into the arrays of the model; 0 is none, and
 * the first element of every array stands for it.
 *
 * All graphs of a model share the arrays.  A name is resolved by the loader: a node of a subgraph
 * that reads a value of an outer graph has that value's id among its inputs.  A call of a
 * model-local function is a node with a body: a graph of its own for each call, with attribute
 * references already resolved.
 *
 * Nothing here is believed: declared types are claims (a graph's inputs apart), payloads above
 * VRAM_ONNX_KEPT bytes are known by their length only.
 */
#ifndef VRAM_IR_GRAPH_H
#define VRAM_IR_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sym.h"
#include "ir/dtype.h"

/* Payloads up to this many bytes are kept: they may be shapes, axes, scales, trip counts. */
enum { VRAM_ONNX_KEPT = 4096 };

/* n elements of one of the arrays, from first on */
struct vram_onnx_span {
    uint32_t first, n;
};

enum vram_onnx_kind {
    VRAM_ONNX_UNKNOWN, /* no type is given */
    VRAM_ONNX_TENSOR,
    VRAM_ONNX_SPARSE,
    VRAM_ONNX_SEQUENCE,
    VRAM_ONNX_OPTIONAL,
    VRAM_ONNX_MAP,
    VRAM_ONNX_OPAQUE
};

/* A dimension as written.  size ≥ 0; −1: name tells it ("batch", "seq+1", "2"), 0 = nothing does.
 * Exporters write −1 for what they do not know: the loader makes it a nameless one, with a finding. */
struct vram_onnx_dim {
    int64_t size;
    vram_sym name;
};

struct vram_onnx_type {
    uint8_t kind;                /* enum vram_onnx_kind */
    uint8_t dtype;               /* enum vram_dtype, of a tensor; NONE: undefined, or a number that is none */
    bool ranked;                 /* there is a shape; rank 0 is a scalar */
    struct vram_onnx_span shape; /* of dims; n = rank */
    uint32_t element;            /* type of the elements of a sequence, optional, map; 0 = none */
};

enum vram_onnx_place {
    VRAM_ONNX_INLINE,   /* the payload is in the file */
    VRAM_ONNX_EXTERNAL, /* in a file beside it: `file`, `offset` */
    VRAM_ONNX_NOWHERE   /* left out, or external and the file is missing or too short (a finding) */
};

/* An initializer or the tensor of an attribute.  Dims are final: ≥ 0, and their product and the
 * bytes fit 2^62. */
struct vram_onnx_tensor {
    vram_sym name;
    uint8_t dtype;
    uint8_t place;  /* enum vram_onnx_place */
    bool sparse;    /* dims are those of the dense tensor, stored those of what is there */
    uint32_t rank;
    const int64_t *dims;
    uint64_t elements;
    uint64_t bytes;  /* of the dense tensor in memory: sub-byte types packed; strings: of their text */
    uint64_t stored; /* of the payload as stored */
    /* Kept payloads only, else NULL: elements in the type's own width, little-endian, sub-byte types packed
     * low bits first; strings: none. */
    const unsigned char *data;
    vram_sym file; /* of an external one */
    uint64_t offset;
};

enum vram_onnx_attr_kind { /* AttributeProto.AttributeType's numbers */
    VRAM_ATTR_NONE,
    VRAM_ATTR_FLOAT,
    VRAM_ATTR_INT,
    VRAM_ATTR_STRING,
    VRAM_ATTR_TENSOR,
    VRAM_ATTR_GRAPH,
    VRAM_ATTR_FLOATS,
    VRAM_ATTR_INTS,
    VRAM_ATTR_STRINGS,
    VRAM_ATTR_TENSORS,
    VRAM_ATTR_GRAPHS,
    VRAM_ATTR_SPARSE_TENSOR,
    VRAM_ATTR_SPARSE_TENSORS,
    VRAM_ATTR_TYPE,
    VRAM_ATTR_TYPES
};

struct vram_onnx_attr {
    vram_sym name;
    uint8_t kind; /* enum vram_onnx_attr_kind */
    uint32_t n;   /* elements of a list, 1 otherwise */
    union {
        int64_t i;
        double f;
        uint32_t id;          /* TENSOR, SPARSE_TENSOR, GRAPH, TYPE; STRING: its symbol */
        const int64_t *ints;  /* INTS */
        const double *floats; /* FLOATS */
        const uint32_t *ids;  /* lists of the kinds that have ids */
    };
};

struct vram_onnx_node {
    vram_sym domain; /* 0 = ai.onnx, whatever way the file says it */
    vram_sym op;
    vram_sym name;   /* may be 0 */
    uint32_t version; /* of its domain in this file; 1 where none is imported (a finding) */
    uint32_t graph;   /* that it stands in */
    uint32_t number;  /* its place in the file's list, from 0: for messages */
    struct vram_onnx_span in;    /* of edges: value ids, 0 = left out */
    struct vram_onnx_span out;   /* of edges: value ids, 0 = not wanted */
    struct vram_onnx_span attrs; /* of attrs, in the file's order; of equal names the first counts */
    uint32_t body;   /* graph of the function that it calls; 0 = an operator */
    uint64_t offset; /* byte in the file, of its message */
};

enum vram_onnx_role {
    VRAM_ONNX_INPUT,       /* of its graph; may have a tensor as well: a default */
    VRAM_ONNX_INITIALIZER, /* tensor is set */
    VRAM_ONNX_MADE         /* by producer; nobody where a graph's output is made by no node (a finding) */
};

struct vram_onnx_value {
    vram_sym name;
    uint32_t graph;
    uint32_t producer; /* node */
    uint32_t type;     /* what the file declares: inputs, outputs and value_info; 0 = nothing */
    uint32_t tensor;   /* its data */
    uint8_t role;      /* enum vram_onnx_role */
};

struct vram_onnx_graph {
    vram_sym name;
    vram_sym path;   /* "" for the main one; "/NODE.then_branch", "/NODE" for a function's body … */
    uint32_t parent; /* graph that it stands in; 0 for the main one */
    uint32_t owner;  /* node that has it as an attribute or body */
    struct vram_onnx_span inputs;       /* of edges.  Before IR version 4 initializers stand among the inputs
                                           as well: left out here, role INITIALIZER; from it on such a one is a
                                           default: here and in `initializers`, role INPUT with a tensor */
    struct vram_onnx_span outputs;      /* of edges; of a subgraph also values of the graphs around it */
    struct vram_onnx_span initializers; /* of edges: all values of the graph that have a tensor */
    struct vram_onnx_span nodes;        /* of order: node ids, each behind what it reads */
    bool sorted;                        /* the file's order was good */
};

struct vram_onnx_opset {
    vram_sym domain;
    int64_t version;
};

#define VRAM_ONNX_ARRAY(type)                                                                      \
    struct {                                                                                       \
        const type *at;                                                                            \
        uint32_t n; /* with element 0 */                                                           \
    }

struct vram_onnx {
    int64_t ir_version;
    vram_sym producer, producer_version;
    uint64_t file_bytes; /* unpacked */
    VRAM_ONNX_ARRAY(struct vram_onnx_opset) opsets; /* no element 0 */
    VRAM_ONNX_ARRAY(struct vram_onnx_graph) graphs; /* 1 is the main graph */
    VRAM_ONNX_ARRAY(struct vram_onnx_node) nodes;
    VRAM_ONNX_ARRAY(struct vram_onnx_value) values;
    VRAM_ONNX_ARRAY(struct vram_onnx_tensor) tensors;
    VRAM_ONNX_ARRAY(struct vram_onnx_attr) attrs;
    VRAM_ONNX_ARRAY(struct vram_onnx_type) types;
    VRAM_ONNX_ARRAY(struct vram_onnx_dim) dims; /* no element 0 */
    VRAM_ONNX_ARRAY(uint32_t) edges;            /* value ids; no element 0 */
    VRAM_ONNX_ARRAY(uint32_t) order;            /* node ids; no element 0 */
};

/* Element i of a kept payload; false where it is not kept, i is out of range, or the type is neither
 * a whole number nor boolean (integer) or is a string or complex (real). */
bool vram_onnx_integer(const struct vram_onnx_tensor *tensor, uint64_t i, int64_t *out);
bool vram_onnx_real(const struct vram_onnx_tensor *tensor, uint64_t i, double *out);

#endif
