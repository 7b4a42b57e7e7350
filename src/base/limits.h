/* SPDX-License-Identifier: Apache-2.0
 *
 * Every cap on untrusted input, in one struct.  A file that asks for more is refused with
 * VRAM_E_LIMIT before anything is allocated for it.
 */
#ifndef VRAM_BASE_LIMITS_H
#define VRAM_BASE_LIMITS_H

#include <stdint.h>

struct vram_limits {
    uint64_t header_bytes;  /* safetensors header; the format's own cap is 100,000,000 */
    uint64_t json_bytes;    /* any other JSON file (config, index) */
    uint64_t json_depth;    /* nesting; the reference reader stops at 128 */
    uint64_t tensors;       /* tensors of one model, all shards together */
    uint64_t shards;        /* weight files of one model */
    uint64_t scopes;        /* modules of one model */
    uint64_t params;        /* parameters and buffers of one model */
    uint64_t rank;          /* dimensions of one tensor */
    uint64_t bytes_total;   /* sum of all tensors */
    uint64_t arena_bytes;   /* memory of one handle */
    uint64_t template_bytes;/* one .vt file */
    uint64_t settings_bytes;/* one settings file of another tool, and what its variables become */
    uint64_t settings;      /* statements of all of them */
    uint64_t settings_files;/* given, or named by one that is */
    uint64_t steps;         /* statements, calls and expressions of one run of the machine */
    uint64_t onnx_depth;    /* nested messages of an ONNX file; a subgraph takes three */
    uint64_t onnx_nodes;    /* of one ONNX file, all graphs and functions together */
    uint64_t onnx_items;    /* its values, and inputs, outputs and attributes of nodes */
    uint64_t onnx_inlined;  /* nodes that calls of functions make */
    uint64_t onnx_name_bytes; /* one name */
    uint64_t onnx_part_bytes; /* one node or tensor in memory, and eight times its bytes in the file */
    uint64_t onnx_unpacked; /* bytes of a gzip'd file */
    uint64_t onnx_ratio;    /* the same, by its packed bytes */
    uint64_t depth;         /* nested calls and expressions of the machine */
};

/* The defaults; a copy may be changed by the caller of vram_model_open. */
extern const struct vram_limits vram_limits_default;

#endif
