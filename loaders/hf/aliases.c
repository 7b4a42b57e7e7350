/* SPDX-License-Identifier: Apache-2.0
 *
 * One table of other names for the same key.  The classes of transformers do not know the size
 * aliases of other families (a Llama config with n_embd has the default hidden_size), so those
 * hold only where defaults.c has no class for the object; a class has the names of its own row.
 */
#include <string.h>

#include "hf/config.h"
#include "hf/defaults.h"

static const struct alias {
    const char *alias, *key;
    bool always;
} aliases[] = {
    {"torch_dtype", "dtype", true}, /* until transformers 4 */
    {"image_token_id", "image_token_index", true},
    {"vision_feature_layers", "vision_feature_layer", true}, /* VipLLaVA */
    {"llm_config", "text_config", true},
    {"llm_cfg", "text_config", true},
    {"text_config_dict", "text_config", true}, /* CLIP before transformers 4.2x */
    {"vision_config_dict", "vision_config", true},
    {"vision_cfg", "vision_config", true},
    {"n_embd", "hidden_size", false},
    {"n_embed", "hidden_size", false},
    {"d_model", "hidden_size", false},
    {"dim", "hidden_size", false},
    {"n_layer", "num_hidden_layers", false},
    {"n_layers", "num_hidden_layers", false},
    {"num_layers", "num_hidden_layers", false},
    {"n_head", "num_attention_heads", false},
    {"n_heads", "num_attention_heads", false},
    {"num_heads", "num_attention_heads", false},
    {"n_kv_heads", "num_key_value_heads", false},
    {"num_kv_heads", "num_key_value_heads", false},
    {"multi_query_group_num", "num_key_value_heads", false},
    {"n_inner", "intermediate_size", false},
    {"ffn_dim", "intermediate_size", false},
    {"d_ff", "intermediate_size", false},
    {"ffn_hidden_size", "intermediate_size", false},
    {"padded_vocab_size", "vocab_size", false},
    {"n_positions", "max_position_embeddings", false},
    {"n_ctx", "max_position_embeddings", false},
};

/* An object is renamed; of a plain value a copy is made, so that a message can name the key as it
 * stands in the file. */
static int apply(struct vram_cx *cx, struct vram_config *v, const char *alias, const char *key)
{
    struct vram_config *from = vram_config_get_text(cx, v, alias);
    if (!from || from->type == VRAM_CONFIG_NULL || vram_config_get_text(cx, v, key))
        return VRAM_OK;
    if (from->type != VRAM_CONFIG_OBJECT)
        return vram_config_copy(cx, v, key, from, VRAM_ORIGIN_CONFIG);
    from->key = vram_sym_of(cx->syms, key);
    return from->key == VRAM_SYM_NONE ? vram_fail_memory(cx) : VRAM_OK;
}

static int canonical(struct vram_cx *cx, struct vram_config *v)
{
    const struct vram_class *class = vram_class_find(vram_config_text(cx, v, "model_type", ""));
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (aliases[i].always || !class)
            VRAM_TRY(apply(cx, v, aliases[i].alias, aliases[i].key));
    for (const struct vram_class_name *n = class ? class->names : NULL; n && n->name; n++)
        VRAM_TRY(apply(cx, v, n->name, n->key));
    return VRAM_OK;
}

int vram_config_canonical(struct vram_cx *cx, struct vram_config *root)
{
    VRAM_TRY(canonical(cx, root));
    for (struct vram_config *m = root->first; m; m = m->next)
        if (m->type == VRAM_CONFIG_OBJECT)
            VRAM_TRY(canonical(cx, m));
    return VRAM_OK;
}
