/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading a checkpoint, pass by pass; see checkpoint.h and the lists in `folder`, `file` and
 * `config` below.  The order matters: config.json says how names read, tensors say whether the
 * config's claims hold.
 */
#include "hf/checkpoint.h"

#include <stdio.h>

#include "hf/config.h"
#include "hf/defaults.h"
#include "hf/timm.h"

void vram_loading_finish(struct vram_loading *l) { vram_buffer_free(&l->buffer); }

/* Reads the file into l->config when it is there. */
static int read_config(struct vram_loading *l, const char *name, bool given)
{
    struct vram_cx *cx = l->cx;
    struct vram_source source;
    enum vram_presence presence;
    VRAM_TRY(given ? vram_source_open_given(cx, &l->folder, name, &source, &presence)
                   : vram_source_open(cx, &l->folder, name, &source, &presence));
    l->config_name = source.name;
    l->config_link = presence == VRAM_ESCAPING
                         ? "a link that leads out of the model's folder; it was not followed"
                     : presence == VRAM_DANGLING ? "a link to a file that is not there"
                                                 : NULL;
    if (presence != VRAM_PRESENT)
        return VRAM_OK;
    int rc = vram_source_json(cx, &source, &l->buffer);
    if (!rc)
        rc = vram_config_parse(cx, source.name, l->buffer.at, (size_t)source.size, &l->config);
    vram_source_close(&source);
    return rc;
}

/* Which class it is, and what that class makes of the config. */
static int understand(struct vram_loading *l)
{
    struct vram_cx *cx = l->cx;
    if (!l->config)
        return VRAM_OK;
    VRAM_TRY(vram_timm_config(cx, l->config_name, l->config));
    const struct vram_config *type = vram_config_get_text(cx, l->config, "model_type");
    char subject[300];
    if (type && type->type != VRAM_CONFIG_STRING && type->type != VRAM_CONFIG_NULL)
        return vram_config_fail(cx, l->config_name, type, VRAM_E_FORMAT, "a string expected");
    if (vram_config_unset(cx, l->config, "model_type")) {
        const char *class = vram_naming_architecture(cx, l->config);
        snprintf(subject, sizeof subject, "%s: model_type", l->config_name);
        VRAM_TRY(vram_find(cx, VRAM_F_NO_MODEL_TYPE, subject, "the key is missing%s",
                           class ? "; architectures says which model it is" : ""));
    }
    VRAM_TRY(vram_config_canonical(cx, l->config));
    l->naming = vram_naming_find(cx, l->config);
    if (l->naming && l->naming->decoder)
        VRAM_TRY(vram_original_config(l));
    VRAM_TRY(vram_derive_labels_of_text(cx, l->config));
    const char *name = l->naming ? l->naming->config_class
                                 : vram_config_text(cx, l->config, "model_type", "");
    const struct vram_class *class = vram_class_find(name);
    return class ? vram_class_apply(cx, l->config_name, l->config, class) : VRAM_OK;
}

/* Stored names into module paths; old buffers are marked.  Tensors of a named tower have theirs. */
static int translate(struct vram_loading *l)
{
    for (size_t i = 0; i < l->tensors.n; i++) {
        struct vram_tensor *t = &l->tensors.at[i];
        t->buffer = vram_naming_buffer(l->cx, t->name, t->dims, t->rank);
        if (!l->files.at[t->file].outside)
            t->path = t->name;
    }
    return vram_rename_tensors(l->cx, l->naming ? l->naming->renames : NULL, l->files.at,
                               l->tensors.at, &l->tensors.n);
}

static void hand_over(struct vram_loading *l)
{
    struct vram_checkpoint *out = l->out;
    const char *class = l->config ? vram_naming_architecture(l->cx, l->config) : NULL;
    out->format = l->files.n ? "safetensors" : "config";
    out->config = l->config;
    out->family = l->config ? vram_config_text(l->cx, l->config, "model_type", "") : "";
    out->class_name = l->naming ? l->naming->class_name : class ? class : "";
    out->files = l->files.at;
    out->nfiles = (uint32_t)l->files.n;
    out->tensors = l->tensors.at;
    out->ntensors = (uint32_t)l->tensors.n;
}

/* everything after config and weights have been read */
static int conclude(struct vram_loading *l)
{
    VRAM_TRY(vram_check_empty(l));
    VRAM_TRY(understand(l));
    VRAM_TRY(translate(l));
    VRAM_TRY(vram_check_dtype(l));
    VRAM_TRY(vram_check_quantised(l));
    hand_over(l);
    return VRAM_OK;
}

static int no_config(struct vram_loading *l)
{
    if (l->config)
        return VRAM_OK;
    return vram_find(l->cx, VRAM_F_NO_CONFIG, l->config_name,
                     "%s%s: parameters are exact, what the model runs is unknown",
                     l->config_link ? "this is " : "the file is not there",
                     l->config_link ? l->config_link : "");
}

int vram_load_folder(struct vram_loading *l, const struct vram_folder *folder)
{
    l->folder = *folder;
    VRAM_TRY(read_config(l, "config.json", false));
    VRAM_TRY(vram_weights_load(l));
    VRAM_TRY(no_config(l));
    return conclude(l);
}

int vram_load_file(struct vram_loading *l, const struct vram_folder *folder, const char *name)
{
    enum vram_presence presence;
    l->folder = *folder;
    VRAM_TRY(read_config(l, "config.json", false));
    VRAM_TRY(no_config(l));
    VRAM_TRY(vram_weights_file(l, name, true, &presence));
    if (presence != VRAM_PRESENT)
        return vram_fail(l->cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "the file went away");
    l->out->partial = strstr(name, "-of-") != NULL; /* one of several shards */
    return conclude(l);
}

int vram_load_config(struct vram_loading *l, const struct vram_folder *folder, const char *name)
{
    l->folder = *folder;
    VRAM_TRY(read_config(l, name, true));
    if (!l->config)
        return vram_fail(l->cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "the file went away");
    VRAM_TRY(vram_find(l->cx, VRAM_F_CONFIG_ALONE, l->config_name,
                       "sizes come from this file alone, no weights were looked for"));
    l->out->partial = true;
    return conclude(l);
}
