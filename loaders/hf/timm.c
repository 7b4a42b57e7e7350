/* SPDX-License-Identifier: Apache-2.0
 *
 * timm's config.json names an entry point and repeats some of its arguments.  The rest is known by the
 * table; what the file says wins.  A name that differs from a row's in its numbers (patch and picture)
 * is read as that row with these numbers, which a finding says.
 */
#include "hf/timm.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "hf/config.h"

/* Up to the tag: "resnet50.a1_in1k" → resnet50. */
static size_t stem_of(const char *architecture) { return strcspn(architecture, "."); }

static const struct vram_timm_row *exact(const char *name, size_t n)
{
    for (const struct vram_timm_row *r = vram_timm_rows; r->architecture; r++)
        if (strlen(r->architecture) == n && !memcmp(r->architecture, name, n))
            return r;
    return NULL;
}

/* Where a name says the size of its patches and of its pictures. */
struct numbers {
    long patch, picture;
};

/* Are the names equal but for patchN, and N behind the last '_'?  Notes a's numbers. */
static bool alike(const char *a, size_t n, const char *b, struct numbers *of_a)
{
    size_t i = 0, k = 0, m = strlen(b);
    *of_a = (struct numbers){0, 0};
    while (i < n && k < m) {
        bool number = isdigit((unsigned char)a[i]) && isdigit((unsigned char)b[k]);
        bool patch = number && i >= 5 && !memcmp(a + i - 5, "patch", 5);
        size_t ia = i, kb = k;
        long value = 0;
        while (number && ia < n && isdigit((unsigned char)a[ia]))
            value = value < 100000 ? value * 10 + (a[ia++] - '0') : (ia++, value);
        while (number && kb < m && isdigit((unsigned char)b[kb]))
            kb++;
        bool picture = number && ia == n && kb == m && i > 0 && a[i - 1] == '_';
        if (patch || picture) {
            *(patch ? &of_a->patch : &of_a->picture) = value;
            i = ia;
            k = kb;
        } else if (a[i++] != b[k++]) {
            return false;
        }
    }
    return i == n && k == m && of_a->patch && of_a->picture;
}

static int set_missing(struct vram_cx *cx, struct vram_config *root, const struct vram_config *from,
                       enum vram_origin origin)
{
    for (const struct vram_config *v = from ? from->first : NULL; v; v = v->next) {
        const char *key = vram_sym_text(cx->syms, v->key);
        if (vram_config_unset(cx, root, key))
            VRAM_TRY(vram_config_copy(cx, root, key, v, origin));
    }
    return VRAM_OK;
}

/* The side of the pictures: of model_args, else of the weights' own settings, else of the row. */
static int picture(struct vram_cx *cx, struct vram_config *root)
{
    const struct vram_config *cfg = vram_config_get_text(cx, root, "pretrained_cfg");
    const struct vram_config *size = vram_config_get_text(cx, cfg ? cfg : root, "input_size");
    const struct vram_config *side = size && size->type == VRAM_CONFIG_ARRAY ? size->last : NULL;
    int64_t n = side && side->type == VRAM_CONFIG_INT ? side->integer : 0;
    const struct vram_config *img = vram_config_get_text(cx, root, "img_size");
    bool fixed = img && img->type == VRAM_CONFIG_INT;
    if (fixed && img->origin == VRAM_ORIGIN_DEFAULT && n > 0)
        VRAM_TRY(vram_config_set_int(cx, root, "img_size", n, VRAM_ORIGIN_CONFIG));
    else if (fixed)
        n = img->integer;
    return vram_config_set_int(cx, root, "image_size", n > 0 && n < 65536 ? n : 224,
                               n > 0 ? VRAM_ORIGIN_CONFIG : VRAM_ORIGIN_DEFAULT);
}

int vram_timm_config(struct vram_cx *cx, const char *name, struct vram_config *root)
{
    const char *architecture = vram_config_text(cx, root, "architecture", NULL);
    const char *library = vram_config_text(cx, root, "library", "timm");
    if (!architecture || !vram_config_unset(cx, root, "model_type") || strcmp(library, "timm") != 0)
        return VRAM_OK;
    size_t n = stem_of(architecture);
    struct numbers said = {0, 0};
    const struct vram_timm_row *row = exact(architecture, n);
    for (const struct vram_timm_row *r = vram_timm_rows; !row && r->architecture; r++)
        if (alike(architecture, n, r->architecture, &said))
            row = r;
    if (!row)
        return VRAM_OK;
    struct vram_config *args, *given = vram_config_get_text(cx, root, "model_args");
    VRAM_TRY(vram_config_parse(cx, "timm", row->args, strlen(row->args), &args));
    VRAM_TRY(vram_config_set_text(cx, root, "model_type", row->class_name, VRAM_ORIGIN_DERIVED));
    VRAM_TRY(set_missing(cx, root, given && given->type == VRAM_CONFIG_OBJECT ? given : NULL, VRAM_ORIGIN_CONFIG));
    if (said.patch && vram_config_unset(cx, root, "patch_size"))
        VRAM_TRY(vram_config_set_int(cx, root, "patch_size", said.patch, VRAM_ORIGIN_DERIVED));
    if (said.picture && vram_config_unset(cx, root, "img_size"))
        VRAM_TRY(vram_config_set_int(cx, root, "img_size", said.picture, VRAM_ORIGIN_DERIVED));
    VRAM_TRY(set_missing(cx, root, args, VRAM_ORIGIN_DEFAULT));
    VRAM_TRY(picture(cx, root));
    if (!said.patch)
        return VRAM_OK;
    char subject[300];
    vram_config_subject(cx, name, vram_config_get_text(cx, root, "architecture"), subject, sizeof subject);
    return vram_find(cx, VRAM_F_CLASS_DEFAULT, subject, "no entry point of timm is known by this name: read as %s with patches of %ld and pictures of %ld",
                     row->architecture, said.patch, said.picture);
}
