/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bytes of an ONNX graph are alive when, in one inference run in the order of its nodes: what a
 * runtime without tricks does.
 *
 *   weights      initializers of the main graph, alive all the time; sparse ones do not count
 *   inputs       inputs of the main graph that are no initializers, alive all the time
 *   activations  an output lives from its node to its last reader, one of the graph's outputs to the
 *                end, one that nobody reads while its node runs.  A value that a subgraph reads is read by
 *                the node that owns the subgraph.  What subgraphs make themselves is not counted.
 *
 * With views, outputs of Reshape, Flatten, Squeeze, Unsqueeze and Identity are their first input under
 * another shape, whose life reaches to the last reader of any of them.
 */
#ifndef VRAM_ONNX_LIVE_H
#define VRAM_ONNX_LIVE_H

#include "onnx/infer.h"

#define VRAM_LIVE_ALWAYS UINT32_MAX

struct vram_onnx_life {
    uint64_t bytes;    /* of its storage; of a range of sizes the largest */
    uint64_t low;      /* the smallest; = bytes when the size is a number */
    uint32_t made;     /* position of its node in the order; of weights and inputs VRAM_LIVE_ALWAYS */
    uint32_t gone;     /* position behind which it is gone; VRAM_LIVE_ALWAYS: the end */
    uint32_t storage;  /* value that owns it: itself, or with views another one */
    bool counted;      /* it is a value of the main graph with a storage of its own */
    bool known;        /* bytes are */
};

struct vram_onnx_lives {
    struct vram_onnx_life *at; /* by value id */
    const uint32_t *nodes;     /* node ids in the order of the run */
    uint32_t nnodes;
    uint32_t unknown;          /* a counted value whose size is not known; 0: all are */
    uint32_t unknowns;         /* how many of them */
};

struct vram_onnx_peak {
    uint64_t weights, inputs;
    uint64_t activations; /* at their highest */
    uint64_t peak;        /* the sum */
    uint32_t position;    /* of the node that runs then; VRAM_LIVE_ALWAYS without nodes */
    uint64_t floor;       /* no order of the nodes needs less: weights, inputs, and the largest node's own operands */
};

/* Bytes of a tensor with this info, at least and at most; false: not known. */
bool vram_onnx_bytes(struct vram_dims *dims, const struct vram_info *info, uint64_t *low, uint64_t *high);

int vram_onnx_lives(struct vram_cx *cx, const struct vram_onnx *model, const struct vram_inference *shapes,
                    bool views, struct vram_onnx_lives *out);
/* Values of unknown size count as nothing: look at lives->unknown. */
int vram_onnx_peak(struct vram_cx *cx, const struct vram_onnx *model, const struct vram_onnx_lives *lives,
                   struct vram_onnx_peak *out);

#endif
