/* SPDX-License-Identifier: Apache-2.0
 *
 * The vision tower that a checkpoint of the original LLaVA naming only names.  Looked for in the
 * folder that the caller gives, then beside the checkpoint (a folder called like the tower, or the
 * hub cache's) unless its tensors are here and its sizes are known, then among the well-known ones.
 * Where sizes come from elsewhere, a finding says from where.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "hf/checkpoint.h"
#include "hf/config.h"
#include "hf/defaults.h"

struct tower {
    struct vram_loading own; /* the tower's own checkpoint */
    const struct vram_config *vision; /* its vision configuration */
    const struct vram_class *class;
    bool inner; /* its tensors stand under vision_model. among others */
};

/* The folder to look in, if there is one: *found. */
static int beside(struct vram_loading *l, const char *named, struct vram_folder *folder,
                  bool *found)
{
    struct vram_cx *cx = l->cx;
    size_t n;
    const char *last = vram_path_last(named, &n);
    char *real;
    *found = false;
    VRAM_TRY(vram_path_real(cx, l->folder.path, &real));
    if (!real || !vram_name_is_bare(last, n))
        return VRAM_OK;
    char *slash = strrchr(real, '/');
    char *path = vram_format(cx->arena, "%.*s/%.*s", (int)(slash - real), real, (int)n, last);
    char *prefix = vram_format(cx->arena, "../%.*s/", (int)n, last);
    if (!path || !prefix)
        return vram_fail_memory(cx);
    *found = vram_is_folder(path);
    if (*found)
        return vram_folder_open(cx, path, prefix, folder);
    /* …/models--A--B/snapshots/REV → …/models--ORG--NAME */
    char *snapshots = strstr(real, "/snapshots/");
    if (!snapshots || last == named || strchr(named, '/') + 1 != last)
        return VRAM_OK;
    *snapshots = 0;
    slash = strrchr(real, '/');
    path = vram_format(cx->arena, "%.*s/models--%.*s--%.*s", (int)(slash - real), real,
                       (int)(last - named - 1), named, (int)n, last);
    if (!path)
        return vram_fail_memory(cx);
    *found = vram_is_folder(path);
    if (!*found)
        return VRAM_OK;
    VRAM_TRY(vram_folder_open(cx, path, prefix, folder));
    return vram_cache_snapshot(cx, folder);
}

/* Reads the tower's config.json; t->vision stays NULL when there is none or it is no tower's. */
static int read_config(struct tower *t)
{
    struct vram_loading *own = &t->own;
    struct vram_cx *cx = own->cx;
    struct vram_source source;
    enum vram_presence presence;
    VRAM_TRY(vram_source_open(cx, &own->folder, "config.json", &source, &presence));
    if (presence != VRAM_PRESENT)
        return VRAM_OK;
    int rc = vram_source_json(cx, &source, &own->buffer);
    if (!rc)
        rc = vram_config_parse(cx, source.name, own->buffer.at, (size_t)source.size, &own->config);
    vram_source_close(&source);
    if (!rc)
        rc = vram_config_canonical(cx, own->config);
    if (rc)
        return rc;
    const char *type = vram_config_text(cx, own->config, "model_type", "");
    struct vram_config *part = own->config;
    t->inner = !strcmp(type, "clip") || !strcmp(type, "siglip");
    if (t->inner) {
        part = vram_config_get_text(cx, own->config, "vision_config");
        type = !strcmp(type, "clip") ? "clip_vision_model" : "siglip_vision_model";
    }
    if (!part || part->type != VRAM_CONFIG_OBJECT ||
        (strcmp(type, "clip_vision_model") != 0 && strcmp(type, "siglip_vision_model") != 0))
        return VRAM_OK;
    t->vision = part;
    t->class = vram_class_find(type);
    return vram_class_apply(cx, source.name, part, t->class);
}

/* The tower's values as this model's vision_config; where they stand is another file's business. */
static int adopt_config(struct vram_loading *l, const struct tower *t, struct vram_config *vision)
{
    struct vram_cx *cx = l->cx;
    VRAM_TRY(vram_config_set_text(cx, vision, "model_type", t->class->model_type,
                                  VRAM_ORIGIN_DERIVED));
    for (const struct vram_class_key *k = t->class->keys; k->key; k++) {
        const struct vram_config *m = vram_config_get_text(cx, t->vision, k->key);
        if (!m)
            continue;
        VRAM_TRY(vram_config_copy(cx, vision, k->key, m, VRAM_ORIGIN_DERIVED));
        vision->last->offset = VRAM_NO_OFFSET;
    }
    return VRAM_OK;
}

/* The repositories that use SigLIP drop its last layer and its head and take the new last layer's
 * output. */
static int shorten_siglip(struct vram_loading *l, struct vram_config *vision)
{
    struct vram_cx *cx = l->cx;
    int64_t layers = vram_config_int(cx, vision, "num_hidden_layers", 1);
    if (strcmp(vram_config_text(cx, vision, "model_type", ""), "siglip_vision_model") != 0)
        return VRAM_OK;
    if (layers > 1)
        VRAM_TRY(vram_config_set_int(cx, vision, "num_hidden_layers", layers - 1,
                                     VRAM_ORIGIN_DERIVED));
    VRAM_TRY(vram_config_set_bool(cx, vision, "vision_use_head", false, VRAM_ORIGIN_DERIVED));
    return vram_config_set_int(cx, l->config, "vision_feature_layer", -1, VRAM_ORIGIN_DERIVED);
}

/* Does the shortened tower have this tensor ("encoder.layers.26.…")? */
static bool kept(const char *name, int64_t layers)
{
    static const char begin[] = "encoder.layers.";
    if (!strncmp(name, "head.", 5))
        return false;
    return strncmp(name, begin, sizeof begin - 1) != 0 ||
           strtol(name + sizeof begin - 1, NULL, 10) < layers;
}

static int adopt_tensors(struct vram_loading *l, struct tower *t, int64_t layers)
{
    static const char inner[] = "vision_model.";
    struct vram_cx *cx = l->cx;
    uint32_t base = (uint32_t)l->files.n;
    VRAM_TRY(vram_weights_load(&t->own));
    for (size_t i = 0; i < t->own.files.n; i++) {
        t->own.files.at[i].outside = true;
        if (!vram_vec_push(&l->files, cx->arena, t->own.files.at[i]))
            return vram_fail_memory(cx);
    }
    for (size_t i = 0; i < t->own.tensors.n; i++) {
        struct vram_tensor x = t->own.tensors.at[i];
        const char *name = vram_sym_text(cx->syms, x.name);
        bool under = !strncmp(name, inner, sizeof inner - 1);
        if (under)
            name += sizeof inner - 1;
        if ((t->inner && !under) || !kept(name, layers))
            continue;
        char *path = vram_format(cx->arena, "model.vision_tower.%s", name);
        x.path = path ? vram_sym_of(cx->syms, path) : VRAM_SYM_NONE;
        x.file += base;
        if (x.path == VRAM_SYM_NONE || !vram_vec_push(&l->tensors, cx->arena, x))
            return vram_fail_memory(cx);
    }
    return VRAM_OK;
}

static int say(struct vram_loading *l, const char *named, const struct tower *t, bool stored)
{
    char subject[300], shown[160];
    size_t n;
    const char *last = vram_path_last(named, &n);
    bool known = vram_tower_known(last, n);
    vram_escape(shown, sizeof shown, named, strlen(named));
    vram_config_subject(l->cx, l->config_name,
                        vram_config_get_text(l->cx, l->config, "mm_vision_tower"), subject,
                        sizeof subject);
    if (t->vision && !stored)
        return vram_find(l->cx, VRAM_F_TOWER_NAMED, subject,
                         "the vision tower %s is only named: its sizes%s come from %s", shown,
                         t->own.tensors.n ? " and weights" : "", t->own.folder.prefix);
    if (t->vision || (known && stored))
        return VRAM_OK;
    if (known)
        return vram_find(l->cx, VRAM_F_TOWER_NAMED, subject,
                         "the vision tower %s is only named: its published sizes were taken",
                         shown);
    return vram_find(l->cx, VRAM_F_TOWER_NAMED, subject,
                     "the vision tower %s is not known: where tensors do not say it, the sizes of "
                     "clip-vit-large-patch14-336 are assumed", shown);
}

static int load(struct vram_loading *l, struct tower *t, const char *named, bool want_tensors)
{
    struct vram_cx *cx = l->cx;
    const char *given = l->options->vision_tower;
    bool found = given != NULL;
    size_t n;
    const char *last = vram_path_last(named, &n);
    if (given) {
        char shown[240];
        vram_escape(shown, sizeof shown - 1, given, strlen(given));
        if (shown[0] && shown[strlen(shown) - 1] != '/')
            strcat(shown, "/");
        const char *prefix = vram_arena_strndup(cx->arena, shown, strlen(shown));
        if (!prefix)
            return vram_fail_memory(cx);
        VRAM_TRY(vram_folder_open(cx, given, prefix, &t->own.folder));
        VRAM_TRY(vram_cache_snapshot(cx, &t->own.folder));
    } else if (want_tensors || !vram_tower_known(last, n)) {
        VRAM_TRY(beside(l, named, &t->own.folder, &found));
    }
    if (found)
        VRAM_TRY(read_config(t));
    if (given && !t->vision)
        return vram_fail(cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "the folder given for the vision tower has no config.json of a CLIP or "
                         "SigLIP model");
    if (vram_config_get_text(cx, l->config, "vision_config"))
        return VRAM_OK;
    struct vram_config *vision = vram_config_add_branch(cx, l->config, "vision_config",
                                                        VRAM_CONFIG_OBJECT, VRAM_ORIGIN_DERIVED);
    if (!vision)
        return vram_fail_memory(cx);
    VRAM_TRY(t->vision ? adopt_config(l, t, vision) : vram_tower_sizes(cx, last, n, vision));
    VRAM_TRY(shorten_siglip(l, vision));
    if (t->vision && want_tensors)
        VRAM_TRY(adopt_tensors(l, t, vram_config_int(cx, vision, "num_hidden_layers", 1)));
    return say(l, named, t, !want_tensors);
}

int vram_tower_load(struct vram_loading *l, const char *named, bool want_tensors)
{
    struct vram_checkpoint unused = {0};
    struct tower t = {
        .own = {.cx = l->cx, .options = l->options, .out = &unused, .optional = true}};
    int rc = load(l, &t, named, want_tensors);
    if (rc && l->options->vision_tower) {
        vram_where(l->cx, "%s", l->options->vision_tower);
        l->placed = true;
    }
    vram_loading_finish(&t.own);
    return rc;
}
