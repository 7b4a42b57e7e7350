/* SPDX-License-Identifier: Apache-2.0
 *
 * What liger-kernel 0.8.5 patches in an instance of each model (transformers/monkey_patch.py,
 * apply_liger_kernel_to_*, with the arguments that transformers' use_liger_kernel leaves at their
 * defaults).  A part of a model is patched by the row of its own type, if the top model's row says that it
 * asks for that.
 */
#include <string.h>

#include "train/fused.h"

enum {
    MLP = 1,
    ROPE = 2,
    LOSS = 4,       /* the fused loss, on by default */
    OLD = 8,        /* its forward needs another transformers than 5.24 */
    UNKNOWN = 16    /* it patches something that is not described */
};

struct fused_row {
    const char *type;     /* model_type of the config that the module was built with */
    const char *tops;     /* of the model at the top: words; NULL: the type itself */
    const char *in_place; /* names of norms whose backward writes over the gradient that came */
    const char *copying;  /* of norms whose backward does not */
    unsigned what;
};

#define LLAMA_NORMS "norm input_layernorm post_attention_layernorm"
#define GEMMA2_NORMS LLAMA_NORMS " pre_feedforward_layernorm post_feedforward_layernorm"
#define HOSTS " llava internvl" /* look up the type of their text in the same table */

static const struct fused_row liger[] = {
    {"llama", "llama" HOSTS, LLAMA_NORMS, NULL, MLP | ROPE | LOSS},
    {"mistral", "mistral" HOSTS, LLAMA_NORMS, NULL, MLP | ROPE | LOSS},
    {"qwen2", "qwen2" HOSTS, LLAMA_NORMS, NULL, MLP | ROPE | LOSS},
    {"qwen3", "qwen3" HOSTS, LLAMA_NORMS " q_norm k_norm", NULL, MLP | ROPE | LOSS},
    {"phi3", "phi3" HOSTS, LLAMA_NORMS, NULL, MLP | ROPE | LOSS},
    {"gemma", "gemma" HOSTS, LLAMA_NORMS, NULL, MLP | ROPE | LOSS},
    {"gemma2", "gemma2" HOSTS, NULL, GEMMA2_NORMS, MLP | ROPE | LOSS},
    {"gemma3_text", "gemma3_text gemma3", NULL, GEMMA2_NORMS " q_norm k_norm", MLP | ROPE | LOSS},
    {"olmo2", "olmo2" HOSTS, "norm", "post_attention_layernorm post_feedforward_layernorm", MLP | ROPE | LOSS},
    {"pixtral", "llava", "ln_pre attention_norm ffn_norm", NULL, MLP | ROPE},
    {"siglip_vision_model", "gemma3", NULL, "post_layernorm layer_norm1 layer_norm2", 0},
    {"internvl_vision", "internvl", "q_norm k_norm", "layernorm layernorm_before layernorm_after", 0},
    {"llava", NULL, NULL, NULL, LOSS | OLD},
    {"internvl", NULL, NULL, NULL, LOSS | OLD},
    {"gemma3", NULL, NULL, "mm_soft_emb_norm", LOSS},
    /* a loss of another kind, experts, rotary embeddings in three dimensions, a forward that fails with 5.24 */
    {"paligemma", NULL, NULL, NULL, UNKNOWN},
    {"smolvlm", NULL, NULL, NULL, UNKNOWN},
    {"granite", NULL, NULL, NULL, UNKNOWN},
    {"mixtral", NULL, NULL, NULL, UNKNOWN},
    {"qwen3_moe", NULL, NULL, NULL, UNKNOWN},
    {"deepseek_v2", NULL, NULL, NULL, UNKNOWN},
    {"deepseek_v3", NULL, NULL, NULL, UNKNOWN},
    {"gpt_oss", NULL, NULL, NULL, UNKNOWN},
    {"mllama", NULL, NULL, NULL, UNKNOWN},
    {"qwen2_vl", NULL, NULL, NULL, UNKNOWN},
    {"qwen2_5_vl", NULL, NULL, NULL, UNKNOWN},
};

/* Is this one of the words of a list?  NULL has none. */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == n && !strncmp(at, word, n))
            return true;
    return false;
}

static const char *type_of(struct vram_cx *cx, const struct vram_tree *t, uint32_t scope)
{
    const struct vram_config *v = vram_config_get_text(cx, t->scopes[scope].config, "model_type");
    return v && v->type == VRAM_CONFIG_STRING ? vram_sym_text(cx->syms, v->text) : "";
}

static const struct fused_row *row_of(const char *top, const char *type)
{
    for (size_t i = 0; i < sizeof liger / sizeof *liger; i++)
        if (!strcmp(liger[i].type, type) && has_word(liger[i].tops ? liger[i].tops : type, top))
            return &liger[i];
    return NULL;
}

/* torch.compile, and Unsloth, whose patched code is compiled or written by hand to the same effect: what the
 * min-cut partitioner keeps of a layer is what goes into or comes out of products and attention, with the input
 * and a number a row of each norm. */
static int resolve_compiled(struct vram_cx *cx, struct vram_setup *s)
{
    bool unsloth = vram_plan_is(s->plan, VRAM_KEY_KERNELS, "unsloth");
    bool compile = vram_plan_on(s->plan, VRAM_KEY_COMPILE, false);
    s->compiled = s->mode == VRAM_MODE_TRAIN && (unsloth || compile);
    if (compile)
        VRAM_TRY(vram_find(cx, VRAM_F_KERNELS_BASIS, "compile",
                           "a rule: what is kept is what torch 2.9's min-cut partitioner keeps of decoder layers and "
                           "their loss, eager code the upper bound; what inductor's kernels hold beside it is not known"));
    return unsloth ? vram_find(cx, VRAM_F_KERNELS_BASIS, "kernels",
                               "a rule, read in unsloth's sources: layers keep what compiled ones keep; checkpointing, "
                               "offloading and the loss are as the plan says; eager code is the upper bound")
                   : VRAM_OK;
}

int vram_fused_resolve(struct vram_cx *cx, const struct vram_tree *tree, struct vram_setup *s)
{
    s->fused = false;
    VRAM_TRY(resolve_compiled(cx, s));
    if (!vram_plan_is(s->plan, VRAM_KEY_KERNELS, "liger"))
        return VRAM_OK;
    const char *top = type_of(cx, tree, 0);
    const struct fused_row *row = row_of(top, top);
    if (!row)
        return vram_find(cx, VRAM_F_SETTING_UNUSED, "kernels",
                         "liger-kernel 0.8.5 has nothing for models of type '%s': they run as they are", top);
    if (row->what & UNKNOWN)
        return vram_fail(cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                         "what Liger's kernels keep in models of type '%s' is not described yet", top);
    if (row->what & OLD)
        VRAM_TRY(vram_find(cx, VRAM_F_KERNELS_BASIS, "kernels",
                           "the forward that liger-kernel 0.8.5 has for '%s' fails with transformers 5.24: counted "
                           "as it would run", top));
    VRAM_TRY(vram_find(cx, VRAM_F_KERNELS_BASIS, "kernels",
                       "as liger-kernel 0.8.5's Python allocates and keeps; its kernels were not launched"));
    s->fused = true;
    s->fused_loss = row->what & LOSS;
    return VRAM_OK;
}

bool vram_fused_setting(struct vram_machine *m, const struct vram_setup *s, const char *key,
                        struct vram_value *out)
{
    const struct fused_row *row =
        s->fused ? row_of(type_of(m->cx, m->tree, 0), type_of(m->cx, m->tree, m->scope)) : NULL;
    const char *name = vram_sym_text(m->cx->syms, m->tree->scopes[m->scope].name);
    if (s->compiled) { /* whatever can be one kernel is; nothing of LayerNorm's changes */
        bool norm = !strcmp(key, "kernels.norm");
        *out = norm ? (struct vram_value){.kind = VRAM_V_STRING} : vram_bool(strcmp(key, "kernels.layer_norm") != 0);
        if (norm)
            out->u.i = vram_machine_sym(m, "copy");
        return true;
    }
    if (!strcmp(key, "kernels.norm")) {
        bool in_place = row && has_word(row->in_place, name);
        *out = (struct vram_value){0};
        if (in_place || (row && has_word(row->copying, name))) {
            out->kind = VRAM_V_STRING;
            out->u.i = vram_machine_sym(m, in_place ? "in_place" : "copy");
        }
    } else if (!strcmp(key, "kernels.layer_norm")) {
        *out = vram_bool(row && (has_word(row->in_place, name) || has_word(row->copying, name)));
    } else if (!strcmp(key, "kernels.mlp")) {
        *out = vram_bool(row && row->what & MLP);
    } else if (!strcmp(key, "kernels.rope")) {
        *out = vram_bool(row && row->what & ROPE);
    } else if (!strcmp(key, "kernels.loss") || !strcmp(key, "kernels.activation")) {
        *out = vram_bool(false);
    } else {
        return false;
    }
    return true;
}
