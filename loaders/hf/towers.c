/* SPDX-License-Identifier: Apache-2.0
 *
 * Vision towers that checkpoints name without storing them: their published sizes.  One row each,
 * from the towers' own config.json.
 */
#include <string.h>

#include "hf/checkpoint.h"
#include "hf/config.h"

static const struct tower {
    const char *name; /* last part */
    const char *model_type;
    int hidden, intermediate, layers, heads, patch, image, projection;
} towers[] = {
    {"clip-vit-base-patch16", "clip_vision_model", 768, 3072, 12, 12, 16, 224, 512},
    {"clip-vit-base-patch32", "clip_vision_model", 768, 3072, 12, 12, 32, 224, 512},
    {"clip-vit-large-patch14", "clip_vision_model", 1024, 4096, 24, 16, 14, 224, 768},
    {"clip-vit-large-patch14-336", "clip_vision_model", 1024, 4096, 24, 16, 14, 336, 768},
    {"siglip-base-patch16-224", "siglip_vision_model", 768, 3072, 12, 12, 16, 224, 0},
    {"siglip-so400m-patch14-224", "siglip_vision_model", 1152, 4304, 27, 16, 14, 224, 0},
    {"siglip-so400m-patch14-384", "siglip_vision_model", 1152, 4304, 27, 16, 14, 384, 0},
};

/* what is assumed of a tower that nobody knows: the one of LLaVA-1.5 */
static const struct tower *const usual = &towers[3];

static const struct tower *find(const char *last, size_t n)
{
    for (size_t i = 0; i < sizeof towers / sizeof *towers; i++)
        if (strlen(towers[i].name) == n && !strncmp(towers[i].name, last, n))
            return &towers[i];
    return NULL;
}

bool vram_tower_known(const char *last, size_t n) { return find(last, n) != NULL; }

int vram_tower_sizes(struct vram_cx *cx, const char *last, size_t n, struct vram_config *vision)
{
    const struct tower *t = find(last, n);
    if (!t)
        t = usual;
    const struct {
        const char *key;
        int value;
    } sizes[] = {{"hidden_size", t->hidden}, {"intermediate_size", t->intermediate},
                 {"num_hidden_layers", t->layers}, {"num_attention_heads", t->heads},
                 {"patch_size", t->patch}, {"image_size", t->image},
                 {"projection_dim", t->projection}};
    VRAM_TRY(vram_config_set_text(cx, vision, "model_type", t->model_type, VRAM_ORIGIN_DERIVED));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value)
            VRAM_TRY(vram_config_set_int(cx, vision, sizes[i].key, sizes[i].value,
                                         VRAM_ORIGIN_DERIVED));
    return VRAM_OK;
}
