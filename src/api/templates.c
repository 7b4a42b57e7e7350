/* SPDX-License-Identifier: Apache-2.0
 *
 * Where templates come from: the user's folder first, then the built-in files, each parsed when the
 * first of its names is needed.
 */
#include "handles.h"

#include <string.h>

#include "base/vec.h"
#include "models/embedded.h"
#include "text/folder.h"
#include "text/template.h"

int vram_templates_begin(struct vram_cx *cx, struct vram_program *program,
                         struct vram_template_source *source)
{
    source->parsed = vram_arena_array(cx->arena, vram_embedded_files_count, sizeof(bool));
    if (!source->parsed)
        return vram_fail_memory(cx);
    return source->dir ? vram_template_folder(cx, program, source->dir) : VRAM_OK;
}

static int compare(const char *name, unsigned i)
{
    return strcmp(name, vram_embedded_names[i].name);
}

int vram_templates_require(void *ctx, struct vram_cx *cx, struct vram_program *program,
                           vram_sym name)
{
    struct vram_template_source *source = ctx;
    const char *text = vram_sym_text(cx->syms, name);
    unsigned low = 0, high = vram_embedded_names_count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (compare(text, middle) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == vram_embedded_names_count || compare(text, low))
        return VRAM_E_NOTFOUND;
    unsigned file = vram_embedded_names[low].file;
    if (source->parsed[file])
        return VRAM_E_NOTFOUND;
    source->parsed[file] = true;
    const struct vram_embedded_file *f = &vram_embedded_files[file];
    return vram_template_parse(cx, program, f->name, f->text, strlen(f->text));
}
