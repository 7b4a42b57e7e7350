/* SPDX-License-Identifier: Apache-2.0
 *
 * A model as text and as JSON (schema "vramcast.inspect/1").
 */
#ifndef VRAM_TOOLS_INSPECT_H
#define VRAM_TOOLS_INSPECT_H

#include <stdbool.h>

#include <vram/vram.h>

#include "output/page.h"

struct inspection {
    const vram_model *model;
    bool tensors, config; /* list them as well */
};

void inspect_text(struct page *page, const struct inspection *what);
void inspect_json(struct page *page, const struct inspection *what);

/* ---- what both forms say (facts.c) --------------------------------------------------------- */

enum { DTYPES_TEXT = 128, DIMS_TEXT = 256, NAME_TEXT = 256 };

/* The dtypes of a component's parameters, "bf16, fp32"; component NULL: of all. */
void inspect_dtypes(const vram_model *model, const char *component, char out[DTYPES_TEXT]);
/* "[4096, 11008]" */
void inspect_dims(const vram_param_view *param, char out[DIMS_TEXT]);
/* A module and its like siblings below their parent, "layers.0-31" or "q_proj, k_proj"; returns
 * false when the module is one of those that an earlier one speaks for. */
bool inspect_module(const vram_model *model, size_t i, vram_module_view *view,
                    char name[NAME_TEXT]);

struct inspect_file {
    const char *name;
    uint64_t tensors, bytes;
};
/* Weight files in the order in which parameters name them; at most `most`. */
size_t inspect_files(const vram_model *model, struct inspect_file *files, size_t most);

#endif
