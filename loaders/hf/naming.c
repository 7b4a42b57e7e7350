/* SPDX-License-Identifier: Apache-2.0
 *
 * The naming rows; see naming.h.  Paths were read off the classes of transformers 5.24, built on
 * the meta device.
 */
#include "hf/naming.h"

#include <string.h>

#include "hf/config.h"

/* LLaVA, LLaVA-NeXT and PaliGemma: files of the hub (vision_tower.vision_model.layers), of
 * transformers 4.5x (model.vision_tower.vision_model.layers) and of today, which store the paths
 * themselves. */
static const struct vram_rename vision_language[] = {
    {"vision_tower.vision_model.", "model.vision_tower."},
    {"vision_tower.", "model.vision_tower."},
    {"model.vision_tower.vision_model.", "model.vision_tower."},
    {"language_model.model.", "model.language_model."},
    {"language_model.lm_head.", "lm_head."},
    {"language_model.", "model.language_model."},
    {"multi_modal_projector.", "model.multi_modal_projector."},
    {"image_newline", "model.image_newline"},
    {NULL, NULL}};

/* The original LLaVA repository: a Llama with a projector and a tower inside its model. */
static const struct vram_rename original[] = {
    {"model.vision_tower.vision_tower.vision_model.", "model.vision_tower."},
    {"model.mm_projector.0.", "model.multi_modal_projector.linear_1."},
    {"model.mm_projector.2.", "model.multi_modal_projector.linear_2."},
    {"model.image_newline", "model.image_newline"},
    {"model.", "model.language_model."},
    {NULL, NULL}};

static const struct vram_rename vision_only[] = {{"vision_model.", ""}, {NULL, NULL}};
static const struct vram_rename text_only[] = {{"text_model.", ""}, {NULL, NULL}};

/* ViT and DINOv2 of the hub: encoder.layer.0.attention.attention.query */
#define VIT_LAYER(from, to)                                                                        \
    {from ".attention.attention.query.", to ".attention.q_proj."},                                 \
    {from ".attention.attention.key.", to ".attention.k_proj."},                                   \
    {from ".attention.attention.value.", to ".attention.v_proj."},                                 \
    {from ".attention.output.dense.", to ".attention.o_proj."}
#define VIT(prefix)                                                                                \
    VIT_LAYER(prefix "encoder.layer.#", prefix "layers.#"),                                        \
    {prefix "encoder.layer.#.intermediate.dense.", prefix "layers.#.mlp.fc1."},                    \
    {prefix "encoder.layer.#.output.dense.", prefix "layers.#.mlp.fc2."},                          \
    {prefix "encoder.layer.#.", prefix "layers.#."}

static const struct vram_rename vit[] = {VIT("vit."), {NULL, NULL}};
static const struct vram_rename vit_alone[] = {VIT(""), {NULL, NULL}};
static const struct vram_rename deit[] = {VIT("deit."), {NULL, NULL}};
static const struct vram_rename dinov2[] = {
    VIT_LAYER("dinov2.encoder.layer.#", "dinov2.encoder.layer.#"), {NULL, NULL}};
static const struct vram_rename dinov2_alone[] = {
    VIT_LAYER("encoder.layer.#", "encoder.layer.#"), {NULL, NULL}};

/* Qwen2-VL of the hub: visual.blocks beside model.layers and lm_head */
static const struct vram_rename qwen_vl[] = {
    {"visual.", "model.visual."},
    {"model.visual.", "model.visual."},
    {"model.language_model.", "model.language_model."},
    {"model.", "model.language_model."},
    {NULL, NULL}};

static const struct vram_rename audio_language[] = {
    {"audio_tower.", "model.audio_tower."},
    {"language_model.model.", "model.language_model."},
    {"language_model.lm_head.", "lm_head."},
    {"multi_modal_projector.", "model.multi_modal_projector."},
    {NULL, NULL}};

static const struct vram_rename mllama[] = {
    {"vision_model.", "model.vision_model."},
    {"language_model.model.", "model.language_model."},
    {"language_model.lm_head.", "lm_head."},
    {"multi_modal_projector.", "model.multi_modal_projector."},
    {NULL, NULL}};
/* the first BERT called a norm's weight and bias gamma and beta */
static const struct vram_rename bert[] = {{".LayerNorm.gamma", ".LayerNorm.weight"},
                                          {".LayerNorm.beta", ".LayerNorm.bias"},
                                          {"embeddings.", "bert.embeddings."},
                                          {"encoder.", "bert.encoder."},
                                          {NULL, NULL}};
static const struct vram_rename bert_model[] = {{"bert.", ""}, {NULL, NULL}};

/* files of the bare model, of transformers before 5 */
static const struct vram_rename gpt2[] = {{"wte.", "transformer.wte."},
                                          {"wpe.", "transformer.wpe."},
                                          {"h.", "transformer.h."},
                                          {"ln_f.", "transformer.ln_f."},
                                          {NULL, NULL}};
static const struct vram_rename bloom[] = {
    {"word_embeddings", "transformer.word_embeddings"},
    {"h.", "transformer.h."},
    {"ln_f.", "transformer.ln_f."},
    {NULL, NULL}};
static const struct vram_rename gpt_neox[] = {{"embed_out.", "lm_head."}, {NULL, NULL}};
/* a matrix of each expert; transformers 5 keeps all of a layer in two */
static const struct vram_rename mixtral[] = {
    {".block_sparse_moe.experts.*.w1.weight", ".mlp.experts.gate_up_proj"},
    {".block_sparse_moe.experts.*.w3.weight", ".mlp.experts.gate_up_proj"},
    {".block_sparse_moe.experts.*.w2.weight", ".mlp.experts.down_proj"},
    {".block_sparse_moe.", ".mlp."},
    {NULL, NULL}};
static const struct vram_rename experts[] = {
    {".mlp.experts.*.gate_proj.weight", ".mlp.experts.gate_up_proj"},
    {".mlp.experts.*.up_proj.weight", ".mlp.experts.gate_up_proj"},
    {".mlp.experts.*.down_proj.weight", ".mlp.experts.down_proj"},
    {NULL, NULL}};
/* V3's files hold a layer more, which predicts the token after the next; transformers leaves it */
static const struct vram_rename deepseek_v3[] = {
    {"model.layers.61.", "next_token.61."},
    {".mlp.experts.*.gate_proj.weight", ".mlp.experts.gate_up_proj"},
    {".mlp.experts.*.up_proj.weight", ".mlp.experts.gate_up_proj"},
    {".mlp.experts.*.down_proj.weight", ".mlp.experts.down_proj"},
    {NULL, NULL}};
static const struct vram_rename opt[] = {{"decoder.", "model.decoder."}, {NULL, NULL}};

static bool two_layers(const struct vram_cx *cx, const struct vram_config *root)
{
    return vram_config_get_text(cx, root, "mm_vision_tower") &&
           !strcmp(vram_config_text(cx, root, "mm_projector_type", "linear"), "mlp2x_gelu");
}

static bool original_next(const struct vram_cx *cx, const struct vram_config *root)
{
    return two_layers(cx, root) &&
           strstr(vram_config_text(cx, root, "mm_patch_merge_type", "flat"), "unpad");
}

/* a config of the original repository that no row above it took: its projector is another */
static bool not_original(const struct vram_cx *cx, const struct vram_config *root)
{
    return !vram_config_get_text(cx, root, "mm_vision_tower");
}

static const struct vram_naming rows[] = {
    {"LlavaNextForConditionalGeneration", "llava_next", " llava llava_llama ",
     " LlavaLlamaForCausalLM ", original, original_next, "llama"},
    {"LlavaNextForConditionalGeneration", "llava_next", " llava llava_mistral ",
     " LlavaMistralForCausalLM ", original, original_next, "mistral"},
    {"LlavaForConditionalGeneration", "llava", " llava llava_llama ", " LlavaLlamaForCausalLM ",
     original, two_layers, "llama"},
    {"LlavaForConditionalGeneration", "llava", " llava llava_mistral ", " LlavaMistralForCausalLM ",
     original, two_layers, "mistral"},
    {"LlavaForConditionalGeneration", "llava", " llava ", " LlavaForConditionalGeneration ",
     vision_language, not_original, NULL},
    {"VipLlavaForConditionalGeneration", "vipllava", " vipllava ",
     " VipLlavaForConditionalGeneration ", vision_language, NULL, NULL},
    {"LlavaNextForConditionalGeneration", "llava_next", " llava_next ",
     " LlavaNextForConditionalGeneration ", vision_language, NULL, NULL},
    {"LlavaOnevisionForConditionalGeneration", "llava_onevision", " llava_onevision ",
     " LlavaOnevisionForConditionalGeneration ", vision_language, NULL, NULL},
    {"Mistral3ForConditionalGeneration", "mistral3", " mistral3 ",
     " Mistral3ForConditionalGeneration ", vision_language, NULL, NULL},
    {"PaliGemmaForConditionalGeneration", "paligemma", " paligemma ",
     " PaliGemmaForConditionalGeneration ", vision_language, NULL, NULL},
    {"LlamaForCausalLM", "llama", " llama ", " LlamaForCausalLM ", NULL, NULL, NULL},
    {"MistralForCausalLM", "mistral", " mistral ", " MistralForCausalLM ", NULL, NULL, NULL},
    {"Qwen2ForCausalLM", "qwen2", " qwen2 ", " Qwen2ForCausalLM ", NULL, NULL, NULL},
    {"Qwen3ForCausalLM", "qwen3", " qwen3 ", " Qwen3ForCausalLM ", NULL, NULL, NULL},
    {"GemmaForCausalLM", "gemma", " gemma ", " GemmaForCausalLM ", NULL, NULL, NULL},
    {"BertForMaskedLM", "bert", " bert ", " BertForMaskedLM ", bert, NULL, NULL},
    {"BertModel", "bert", " bert ", " BertModel ", bert_model, NULL, NULL},
    {"FalconForCausalLM", "falcon", " falcon ", " FalconForCausalLM ", NULL, NULL, NULL},
    {"Gemma2ForCausalLM", "gemma2", " gemma2 ", " Gemma2ForCausalLM ", NULL, NULL, NULL},
    {"GPT2LMHeadModel", "gpt2", " gpt2 ", " GPT2LMHeadModel ", gpt2, NULL, NULL},
    {"GPTNeoXForCausalLM", "gpt_neox", " gpt_neox ", " GPTNeoXForCausalLM ", gpt_neox, NULL, NULL},
    {"MixtralForCausalLM", "mixtral", " mixtral ", " MixtralForCausalLM ", mixtral, NULL, NULL},
    {"Qwen2MoeForCausalLM", "qwen2_moe", " qwen2_moe ", " Qwen2MoeForCausalLM ", experts, NULL,
     NULL},
    {"Qwen3MoeForCausalLM", "qwen3_moe", " qwen3_moe ", " Qwen3MoeForCausalLM ", experts, NULL,
     NULL},
    {"OPTForCausalLM", "opt", " opt ", " OPTForCausalLM ", opt, NULL, NULL},
    {"PhiForCausalLM", "phi", " phi ", " PhiForCausalLM ", NULL, NULL, NULL},
    {"Phi3ForCausalLM", "phi3", " phi3 ", " Phi3ForCausalLM ", NULL, NULL, NULL},
    {"T5ForConditionalGeneration", "t5", " t5 ", " T5ForConditionalGeneration ", NULL, NULL, NULL},
    {"T5EncoderModel", "t5", " t5 ", " T5EncoderModel ", NULL, NULL, NULL},
    {"OlmoForCausalLM", "olmo", " olmo ", " OlmoForCausalLM ", NULL, NULL, NULL},
    {"Olmo2ForCausalLM", "olmo2", " olmo2 ", " Olmo2ForCausalLM ", NULL, NULL, NULL},
    {"GraniteForCausalLM", "granite", " granite ", " GraniteForCausalLM ", NULL, NULL, NULL},
    {"Starcoder2ForCausalLM", "starcoder2", " starcoder2 ", " Starcoder2ForCausalLM ", NULL, NULL,
     NULL},
    {"StableLmForCausalLM", "stablelm", " stablelm ", " StableLmForCausalLM ", NULL, NULL, NULL},
    {"CohereForCausalLM", "cohere", " cohere ", " CohereForCausalLM ", NULL, NULL, NULL},
    {"RobertaForMaskedLM", "roberta", " roberta ", " RobertaForMaskedLM ", NULL, NULL, NULL},
    {"DistilBertForMaskedLM", "distilbert", " distilbert ", " DistilBertForMaskedLM ", NULL, NULL,
     NULL},
    {"GptOssForCausalLM", "gpt_oss", " gpt_oss ", " GptOssForCausalLM ", NULL, NULL, NULL},
    {"GPTJForCausalLM", "gptj", " gptj ", " GPTJForCausalLM ", NULL, NULL, NULL},
    {"DeepseekV3ForCausalLM", "deepseek_v3", " deepseek_v3 ", " DeepseekV3ForCausalLM ",
     deepseek_v3, NULL, NULL},
    {"DeepseekV2ForCausalLM", "deepseek_v2", " deepseek_v2 ", " DeepseekV2ForCausalLM ", experts,
     NULL, NULL},
    {"BloomForCausalLM", "bloom", " bloom ", " BloomForCausalLM ", bloom, NULL, NULL},
    {"MptForCausalLM", "mpt", " mpt ", " MptForCausalLM ", NULL, NULL, NULL},
    {"CLIPModel", "clip", " clip ", " CLIPModel ", NULL, NULL, NULL},
    {"CLIPVisionModel", "clip_vision_model", " clip_vision_model ", " CLIPVisionModel ",
     vision_only, NULL, NULL},
    {"CLIPTextModel", "clip_text_model", " clip_text_model ", " CLIPTextModel ", text_only, NULL,
     NULL},
    {"Dinov2ForImageClassification", "dinov2", " dinov2 ", " Dinov2ForImageClassification ", dinov2,
     NULL, NULL},
    {"Dinov2Model", "dinov2", " dinov2 ", " Dinov2Model ", dinov2_alone, NULL, NULL},
    {"ViTForImageClassification", "vit", " vit ", " ViTForImageClassification ", vit, NULL, NULL},
    {"DeiTForImageClassification", "deit", " deit ", " DeiTForImageClassification ", deit, NULL, NULL},
    {"DeiTModel", "deit", " deit ", " DeiTModel ", vit_alone, NULL, NULL},
    {"ViTModel", "vit", " vit ", " ViTModel ", vit_alone, NULL, NULL},
    {"Qwen2VLForConditionalGeneration", "qwen2_vl", " qwen2_vl ",
     " Qwen2VLForConditionalGeneration ", qwen_vl, NULL, NULL},
    {"Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl", " qwen2_5_vl ",
     " Qwen2_5_VLForConditionalGeneration ", qwen_vl, NULL, NULL},
    {"Idefics3ForConditionalGeneration", "idefics3", " idefics3 ",
     " Idefics3ForConditionalGeneration ", NULL, NULL, NULL},
    {"SmolVLMForConditionalGeneration", "smolvlm", " smolvlm ", " SmolVLMForConditionalGeneration ",
     NULL, NULL, NULL},
    {"InternVLForConditionalGeneration", "internvl", " internvl ",
     " InternVLForConditionalGeneration ", vision_language, NULL, NULL},
    {"Gemma3ForConditionalGeneration", "gemma3", " gemma3 ", " Gemma3ForConditionalGeneration ",
     vision_language, NULL, NULL},
    {"Gemma3ForCausalLM", "gemma3_text", " gemma3_text ", " Gemma3ForCausalLM ", NULL, NULL, NULL},
    {"WhisperForConditionalGeneration", "whisper", " whisper ", " WhisperForConditionalGeneration ",
     NULL, NULL, NULL},
    {"Qwen2AudioForConditionalGeneration", "qwen2_audio", " qwen2_audio ",
     " Qwen2AudioForConditionalGeneration ", audio_language, NULL, NULL},
    {"MllamaForConditionalGeneration", "mllama", " mllama ", " MllamaForConditionalGeneration ",
     mllama, NULL, NULL},
    {"Blip2ForConditionalGeneration", "blip-2", " blip-2 ", " Blip2ForConditionalGeneration ",
     NULL, NULL, NULL},
    {"SiglipModel", "siglip", " siglip ", " SiglipModel ", NULL, NULL, NULL},
    {"SiglipVisionModel", "siglip_vision_model", " siglip_vision_model ", " SiglipVisionModel ",
     vision_only, NULL, NULL},
    {"SiglipTextModel", "siglip_text_model", " siglip_text_model ", " SiglipTextModel ", text_only,
     NULL, NULL},
};

const struct vram_naming *vram_naming_row(size_t i)
{
    return i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}

/* Is word one of the words of list (" a b ")? */
static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    if (!n || strchr(word, ' '))
        return false;
    for (const char *at = list; (at = strstr(at, word)); at++)
        if (at > list && at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

/* Are both classes for the same, "ForCausalLM"? */
static bool same_purpose(const char *a, const char *b)
{
    a = strstr(a, "For");
    b = strstr(b, "For");
    return a && b && !strcmp(a, b);
}

const char *vram_naming_architecture(const struct vram_cx *cx, const struct vram_config *root)
{
    const struct vram_config *list = vram_config_get_text(cx, root, "architectures");
    const struct vram_config *first = list && list->type == VRAM_CONFIG_ARRAY ? list->first : NULL;
    return first && first->type == VRAM_CONFIG_STRING ? vram_sym_text(cx->syms, first->text) : NULL;
}

/* By the named class, where model_type does not contradict; else by model_type, where the named
 * class does not say that it is for something else ("LlamaForSequenceClassification"). */
const struct vram_naming *vram_naming_find(const struct vram_cx *cx,
                                           const struct vram_config *root)
{
    const char *architecture = vram_naming_architecture(cx, root);
    const char *type = vram_config_text(cx, root, "model_type", "");
    for (int by_type = 0; by_type < 2; by_type++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const struct vram_naming *row = &rows[i];
            bool fits = by_type ? listed(row->types, type) &&
                                      (!architecture ||
                                       same_purpose(architecture, row->class_name))
                                : architecture && listed(row->architectures, architecture) &&
                                      (!type[0] || listed(row->types, type));
            if (fits && (!row->holds || row->holds(cx, root)))
                return row;
        }
    }
    return NULL;
}

vram_sym vram_naming_path(struct vram_cx *cx, const struct vram_naming *row, vram_sym name)
{
    uint32_t rule;
    int64_t number;
    return vram_rename_path(cx, row ? row->renames : NULL, name, &rule, &number);
}

static bool ends(const char *text, size_t n, const char *end)
{
    size_t k = strlen(end);
    return n >= k && memcmp(text + n - k, end, k) == 0 && (n == k || text[n - k - 1] == '.');
}

/* Persistent buffers of older versions: rotary frequencies, position numbers, causal masks.  A mask
 * is called like a bias and known by its shape [1, 1, n, n]. */
bool vram_naming_buffer(const struct vram_cx *cx, vram_sym name, const int64_t *dims, uint32_t rank)
{
    static const char *const always[] = {"rotary_emb.inv_freq", "rotary_pos_emb.inv_freq",
                                         "position_ids", "masked_bias", "e_score_correction_bias"};
    const char *text = cx->syms->at[name].text;
    size_t n = cx->syms->at[name].n;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (ends(text, n, always[i]))
            return true;
    return (ends(text, n, "attn.bias") || ends(text, n, "attention.bias")) && rank == 4 &&
           dims[0] == 1 && dims[1] == 1 && dims[2] == dims[3];
}
