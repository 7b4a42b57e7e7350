/* SPDX-License-Identifier: Apache-2.0
 *
 * What both forms of an inspection say; see inspect.h.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/inspect.h"

static const char *component_of(const vram_model *model, uint32_t module)
{
    vram_module_view m = {.size = sizeof m};
    vram_model_module(model, module, &m);
    return m.component;
}

void inspect_dtypes(const vram_model *model, const char *component, char out[DTYPES_TEXT])
{
    size_t used = 0;
    uint32_t last = UINT32_MAX;
    bool in = false;
    out[0] = 0;
    for (size_t i = 0; i < vram_model_param_count(model); i++) {
        vram_param_view p = {.size = sizeof p};
        char item[40];
        vram_model_param(model, i, &p);
        if (p.module != last) { /* parameters of a module stand together */
            in = !component || !strcmp(component_of(model, p.module), component);
            last = p.module;
        }
        snprintf(item, sizeof item, "%.20s", p.dtype);
        if (!in || p.buffer || *p.tied_to || strstr(out, item) || used + 24 > DTYPES_TEXT)
            continue;
        used += (size_t)snprintf(out + used, DTYPES_TEXT - used, "%s%s", used ? ", " : "", item);
    }
}

void inspect_dims(const vram_param_view *param, char out[DIMS_TEXT])
{
    size_t used = (size_t)snprintf(out, DIMS_TEXT, "[");
    for (uint32_t i = 0; i < param->rank && used + 26 < DIMS_TEXT; i++)
        used += (size_t)snprintf(out + used, DIMS_TEXT - used, "%s%" PRId64, i ? ", " : "",
                                 param->dims[i]);
    snprintf(out + used, DIMS_TEXT - used, "]");
}

/* The path below the parent's. */
static const char *below(const vram_model *model, const vram_module_view *m)
{
    vram_module_view parent = {.size = sizeof parent};
    vram_model_module(model, m->parent, &parent);
    size_t n = strlen(parent.path);
    return n && !strncmp(m->path, parent.path, n) && m->path[n] == '.' ? m->path + n + 1 : m->path;
}

/* layers.0 and layers.31: the same but for a number at the end */
static bool numbered(const char *first, const char *last, const char **number)
{
    const char *a = strrchr(first, '.'), *b = strrchr(last, '.');
    a = a ? a + 1 : first;
    b = b ? b + 1 : last;
    *number = b;
    return isdigit((unsigned char)*a) && isdigit((unsigned char)*b) && a - first == b - last &&
           !strncmp(first, last, (size_t)(a - first));
}

/* The sibling that stands `n` places after module i. */
static size_t sibling(const vram_model *model, size_t i, uint32_t parent, uint32_t n)
{
    size_t count = vram_model_module_count(model);
    while (n && ++i < count) {
        vram_module_view m = {.size = sizeof m};
        vram_model_module(model, i, &m);
        n -= m.parent == parent && m.depth > 0;
    }
    return i;
}

bool inspect_module(const vram_model *model, size_t i, vram_module_view *view,
                    char name[NAME_TEXT])
{
    vram_module_view m = {.size = sizeof m};
    const char *number;
    *view = (vram_module_view){.size = sizeof *view};
    vram_model_module(model, i, view);
    if (!view->repeat)
        return false;
    size_t used = (size_t)snprintf(name, NAME_TEXT, "%.120s",
                                   *view->path ? below(model, view) : "(the model)");
    if (view->repeat < 2)
        return true;
    vram_model_module(model, sibling(model, i, view->parent, view->repeat - 1), &m);
    if (numbered(name, below(model, &m), &number)) {
        snprintf(name + used, NAME_TEXT - used, "-%.20s", number);
        return true;
    }
    for (uint32_t k = 1; k < view->repeat && used + 64 < NAME_TEXT; k++) {
        vram_model_module(model, sibling(model, i, view->parent, k), &m);
        used += (size_t)snprintf(name + used, NAME_TEXT - used, ", %.60s", below(model, &m));
    }
    return true;
}

size_t inspect_files(const vram_model *model, struct inspect_file *files, size_t most)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < vram_model_param_count(model); i++) {
        vram_param_view p = {.size = sizeof p};
        vram_model_param(model, i, &p);
        if (!*p.file)
            continue;
        for (at = 0; at < n && strcmp(files[at].name, p.file) != 0; at++) {
        }
        if (at == most)
            continue;
        if (at == n)
            files[n++] = (struct inspect_file){p.file, 0, 0};
        files[at].tensors++;
        files[at].bytes += p.bytes;
    }
    return n;
}
