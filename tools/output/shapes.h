/* SPDX-License-Identifier: Apache-2.0
 *
 * What `vramcast shapes` shows: inputs and open sizes, outputs, every value, what the file claims.
 */
#ifndef VRAM_TOOLS_SHAPES_H
#define VRAM_TOOLS_SHAPES_H

#include <vram/vram.h>

#include "output/page.h"

struct shown_shapes {
    const vram_graph *graph;
    const vram_shapes *shapes;
    bool claims; /* they were asked for */
};

void shapes_text(struct page *page, const struct shown_shapes *s);
/* schema "vramcast.shapes/1", docs/shapes.md */
void shapes_json(struct page *page, const struct shown_shapes *s);

#endif
