/* SPDX-License-Identifier: Apache-2.0
 *
 * Naming rows: which row a config picks, what it makes of names, which tensors are buffers.
 */
#include "helper.h"

#include "hf/config.h"
#include "hf/defaults.h"
#include "hf/naming.h"

/* what the original LLaVA repository writes of a tower and a projector of two layers */
#define TWO_LAYERS "'mm_vision_tower':'x','mm_projector_type':'mlp2x_gelu'"

static const struct vram_naming *find(struct world *w, const char *json)
{
    struct vram_config *root;
    assert_int_equal(vram_config_parse(world_begin(w), "c", q(json), strlen(json), &root), 0);
    return vram_naming_find(&w->cx, root);
}

static void test_rows(void **state)
{
    (void)state;
    static const struct {
        const char *json, *class_name; /* NULL: no row */
    } cases[] = {
        {"{'model_type':'llama','architectures':['LlamaForCausalLM']}", "LlamaForCausalLM"},
        {"{'model_type':'llama'}", "LlamaForCausalLM"},
        {"{'architectures':['Qwen2ForCausalLM']}", "Qwen2ForCausalLM"},
        {"{'model_type':'mistral','architectures':['MyMistralForCausalLM']}", "MistralForCausalLM"},
        {"{'model_type':'llama','architectures':['LlamaForSequenceClassification']}", NULL},
        {"{'model_type':'llama','architectures':['LlamaModel']}", NULL},
        {"{'model_type':'zorbax','architectures':['LlamaForCausalLM']}", NULL},
        {"{'model_type':'zorbax'}", NULL},
        {"{'model_type':''}", NULL},
        {"{'model_type':' llava'}", NULL},
        {"{'model_type':'llava llava_llama'," TWO_LAYERS "}", NULL},
        {"{}", NULL},
        {"{'model_type':5,'architectures':'LlamaForCausalLM'}", NULL},
        {"{'model_type':'llava'}", "LlavaForConditionalGeneration"},
        {"{'model_type':'llava_next'}", "LlavaNextForConditionalGeneration"},
        {"{'model_type':'paligemma'}", "PaliGemmaForConditionalGeneration"},
        {"{'model_type':'clip'}", "CLIPModel"},
        {"{'model_type':'blip-2'}", "Blip2ForConditionalGeneration"},
        {"{'model_type':'vipllava'}", "VipLlavaForConditionalGeneration"},
        {"{'model_type':'qwen2_5_vl'}", "Qwen2_5_VLForConditionalGeneration"},
        {"{'model_type':'gemma3_text'}", "Gemma3ForCausalLM"},
        {"{'model_type':'vit'}", "ViTForImageClassification"},
        {"{'model_type':'vit','architectures':['ViTModel']}", "ViTModel"},
        {"{'model_type':'clip_vision_model','architectures':['CLIPVisionModelWithProjection']}",
         NULL},
        {"{'model_type':'llava','architectures':['LlavaLlamaForCausalLM']," TWO_LAYERS "}",
         "LlavaForConditionalGeneration"},
        {"{'model_type':'llava_mistral','architectures':['LlavaMistralForCausalLM']," TWO_LAYERS
         ",'mm_patch_merge_type':'spatial_unpad'}",
         "LlavaNextForConditionalGeneration"},
        {"{'model_type':'mixtral'}", "MixtralForCausalLM"},
        {"{'model_type':'bert'}", "BertForMaskedLM"},
        {"{'model_type':'bert','architectures':['BertModel']}", "BertModel"},
        {"{'model_type':'bert','architectures':['BertForQuestionAnswering']}", NULL},
        {"{'model_type':'t5','architectures':['T5EncoderModel']}", "T5EncoderModel"},
        {"{'model_type':'gemma3_text'}", "Gemma3ForCausalLM"},
        {"{'model_type':'deepseek_v3'}", "DeepseekV3ForCausalLM"},
        {"{'model_type':'llava','architectures':['LlavaLlamaForCausalLM'],'mm_vision_tower':'x'}",
         NULL},
        {"{'model_type':'llava','architectures':['LlavaQwenForCausalLM']," TWO_LAYERS "}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        const struct vram_naming *row = find(&w, cases[i].json);
        if (!row != !cases[i].class_name || (row && strcmp(row->class_name, cases[i].class_name)))
            fail_msg("%s: %s", cases[i].json, row ? row->class_name : "no row");
        world_end(&w);
    }
}

static void test_every_row_has_its_class(void **state)
{
    (void)state;
    const struct vram_naming *row;
    for (size_t i = 0; (row = vram_naming_row(i)); i++) {
        assert_non_null(vram_class_find(row->config_class));
        assert_true(row->types[0] == ' ' && row->types[strlen(row->types) - 1] == ' ');
        assert_true(row->architectures[0] == ' ');
        assert_true(!row->decoder || vram_class_find(row->decoder));
    }
}

static void test_paths(void **state)
{
    (void)state;
    static const char hub[] = "{'model_type':'llava_next'}";
    static const char original[] =
        "{'model_type':'llava','architectures':['LlavaLlamaForCausalLM'],'mm_vision_tower':'x',"
        "'mm_projector_type':'mlp2x_gelu'}";
    static const struct {
        const char *json, *name, *path;
    } cases[] = {
        {hub, "language_model.model.layers.0.mlp.up_proj.weight",
         "model.language_model.layers.0.mlp.up_proj.weight"},
        {hub, "language_model.lm_head.weight", "lm_head.weight"},
        {hub, "vision_tower.vision_model.pre_layrnorm.bias",
         "model.vision_tower.pre_layrnorm.bias"},
        {hub, "vision_tower.patch_conv.weight", "model.vision_tower.patch_conv.weight"},
        {hub, "model.vision_tower.vision_model.pre_layrnorm.bias",
         "model.vision_tower.pre_layrnorm.bias"},
        {hub, "model.vision_tower.pre_layrnorm.bias", "model.vision_tower.pre_layrnorm.bias"},
        {hub, "multi_modal_projector.linear_1.weight",
         "model.multi_modal_projector.linear_1.weight"},
        {hub, "image_newline", "model.image_newline"},
        {hub, "lm_head.weight", "lm_head.weight"},
        {original, "model.mm_projector.0.weight", "model.multi_modal_projector.linear_1.weight"},
        {original, "model.mm_projector.2.bias", "model.multi_modal_projector.linear_2.bias"},
        {original, "model.layers.3.input_layernorm.weight",
         "model.language_model.layers.3.input_layernorm.weight"},
        {original, "model.image_newline", "model.image_newline"},
        {original, "model.vision_tower.vision_tower.vision_model.embeddings.class_embedding",
         "model.vision_tower.embeddings.class_embedding"},
        {original, "lm_head.weight", "lm_head.weight"},
        {"{'model_type':'clip_vision_model'}", "vision_model.embeddings.class_embedding",
         "embeddings.class_embedding"},
        {"{'model_type':'clip'}", "vision_model.embeddings.class_embedding",
         "vision_model.embeddings.class_embedding"},
        {"{'model_type':'zorbax'}", "vision_tower.x", "vision_tower.x"},
        {"{'model_type':'qwen2_5_vl'}", "visual.blocks.0.norm1.weight",
         "model.visual.blocks.0.norm1.weight"},
        {"{'model_type':'qwen2_5_vl'}", "model.norm.weight", "model.language_model.norm.weight"},
        {"{'model_type':'qwen2_vl'}", "model.visual.merger.ln_q.bias",
         "model.visual.merger.ln_q.bias"},
        {"{'model_type':'qwen2_vl'}", "model.language_model.norm.weight",
         "model.language_model.norm.weight"},
        {"{'model_type':'mllama'}", "vision_model.gated_positional_embedding.gate",
         "model.vision_model.gated_positional_embedding.gate"},
        {"{'model_type':'mllama'}", "language_model.lm_head.weight", "lm_head.weight"},
        {"{'model_type':'qwen2_audio'}", "audio_tower.conv1.weight",
         "model.audio_tower.conv1.weight"},
        {"{'model_type':'vipllava'}", "multi_modal_projector.projector_layernorm.weight",
         "model.multi_modal_projector.projector_layernorm.weight"},
        {"{'model_type':'blip-2'}", "query_tokens", "query_tokens"},
        {"{'model_type':'vit'}", "vit.encoder.layer.11.attention.attention.key.bias",
         "vit.layers.11.attention.k_proj.bias"},
        {"{'model_type':'vit'}", "vit.encoder.layer.0.output.dense.weight",
         "vit.layers.0.mlp.fc2.weight"},
        {"{'model_type':'vit'}", "vit.encoder.layer.x.output.dense.weight",
         "vit.encoder.layer.x.output.dense.weight"},
        {"{'model_type':'gpt2'}", "wte.weight", "transformer.wte.weight"},
        {"{'model_type':'gpt2'}", "h.3.attn.c_attn.bias", "transformer.h.3.attn.c_attn.bias"},
        {"{'model_type':'gpt2'}", "transformer.h.3.ln_1.bias", "transformer.h.3.ln_1.bias"},
        {"{'model_type':'bloom'}", "word_embeddings_layernorm.bias",
         "transformer.word_embeddings_layernorm.bias"},
        {"{'model_type':'gpt_neox'}", "embed_out.weight", "lm_head.weight"},
        {"{'model_type':'bert'}", "bert.embeddings.LayerNorm.gamma",
         "bert.embeddings.LayerNorm.weight"},
        {"{'model_type':'bert'}", "cls.predictions.transform.LayerNorm.beta",
         "cls.predictions.transform.LayerNorm.bias"},
        {"{'model_type':'bert','architectures':['BertModel']}", "bert.pooler.dense.bias",
         "pooler.dense.bias"},
        {"{'model_type':'mixtral'}", "model.layers.0.block_sparse_moe.gate.weight",
         "model.layers.0.mlp.gate.weight"},
        {"{'model_type':'mixtral'}", "model.layers.0.block_sparse_moe.experts.11.w3.weight",
         "model.layers.0.mlp.experts.gate_up_proj"},
        {"{'model_type':'qwen3_moe'}", "model.layers.0.mlp.experts.7.down_proj.weight",
         "model.layers.0.mlp.experts.down_proj"},
        {"{'model_type':'qwen2_moe'}", "model.layers.0.mlp.shared_expert.down_proj.weight",
         "model.layers.0.mlp.shared_expert.down_proj.weight"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        const struct vram_naming *row = find(&w, cases[i].json);
        vram_sym path = vram_naming_path(&w.cx, row, vram_sym_of(&w.syms, cases[i].name));
        assert_string_equal(vram_sym_text(&w.syms, path), cases[i].path);
        world_end(&w);
    }
}

static void test_buffers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t dims[4];
        uint32_t rank;
        bool buffer;
    } cases[] = {
        {"model.layers.0.self_attn.rotary_emb.inv_freq", {64}, 1, true},
        {"rotary_emb.inv_freq", {64}, 1, true},
        {"vision_model.embeddings.position_ids", {1, 577}, 2, true},
        {"h.0.attn.masked_bias", {0}, 0, true},
        {"h.0.attn.bias", {1, 1, 1024, 1024}, 4, true},
        {"h.0.attn.bias", {768}, 1, false},
        {"h.0.c_attn.bias", {1, 1, 4, 4}, 4, false},
        {"my_position_ids", {3}, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct vram_cx *cx = world_begin(&w);
        vram_sym name = vram_sym_of(&w.syms, cases[i].name);
        assert_int_equal(vram_naming_buffer(cx, name, cases[i].dims, cases[i].rank),
                         cases[i].buffer);
        world_end(&w);
    }
}

/* Parts of one parameter: [experts, rows of both, columns] when all are there. */
static void test_parts(void **state)
{
    (void)state;
    static const struct vram_rename rules[] = {
        {".moe.experts.*.w1.weight", ".mlp.experts.both"},
        {".moe.experts.*.w3.weight", ".mlp.experts.both"},
        {".moe.experts.*.w2.weight", ".mlp.experts.down"},
        {".moe.", ".mlp."},
        {"h.", "layers."},
        {NULL, NULL}};
    static const int64_t up[] = {6, 4}, other[] = {5, 4}, down[] = {4, 6};
    struct given {
        const char *name;
        const int64_t *dims;
    };
    static const struct {
        struct given given[8];
        const char *path;   /* of the tensor made of parts; of the first one where none was */
        int64_t dims[3];    /* {0}: incomplete */
        size_t left;
    } cases[] = {
        {{{"h.0.moe.experts.0.w1.weight", up}, {"h.0.moe.experts.1.w3.weight", up},
          {"h.0.moe.experts.0.w3.weight", up}, {"h.0.moe.experts.1.w1.weight", up},
          {"h.0.moe.gate.weight", up}},
         "h.0.mlp.experts.both", {2, 12, 4}, 2},
        {{{"h.0.moe.experts.0.w1.weight", up}, {"h.0.moe.experts.0.w3.weight", other}},
         "h.0.mlp.experts.both", {1, 11, 4}, 1},
        {{{"h.0.moe.experts.0.w2.weight", down}, {"h.0.moe.experts.1.w2.weight", down},
          {"h.0.moe.experts.2.w2.weight", down}},
         "h.0.mlp.experts.down", {3, 4, 6}, 1},
        {{{"h.0.moe.experts.0.w2.weight", down}, {"h.0.moe.experts.2.w2.weight", down}},
         "h.0.mlp.experts.down", {0}, 2},
        {{{"h.0.moe.experts.0.w2.weight", down}, {"h.0.moe.experts.1.w2.weight", up}},
         "h.0.mlp.experts.down", {0}, 2},
        {{{"h.0.moe.experts.0.w1.weight", up}}, "h.0.mlp.experts.both", {0}, 1},
        {{{"h.0.moe.experts.0.w2.weight", down}, {"h.0.moe.experts.00.w2.weight", down}},
         "h.0.mlp.experts.down", {0}, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct vram_cx *cx = world_begin(&w);
        struct vram_tensor t[8];
        size_t n = 0;
        for (; n < 8 && cases[i].given[n].name; n++) {
            vram_sym name = vram_sym_of(&w.syms, cases[i].given[n].name);
            t[n] = (struct vram_tensor){.name = name, .path = name, .dtype = VRAM_DT_BF16, .rank = 2,
                                        .dims = cases[i].given[n].dims, .bytes = 48};
        }
        size_t given = n;
        assert_int_equal(vram_rename_tensors(cx, rules, NULL, t, &n), 0);
        assert_int_equal(n, cases[i].left);
        assert_string_equal(vram_sym_text(&w.syms, t[0].path), cases[i].path);
        assert_int_equal(t[0].incomplete, cases[i].dims[0] == 0);
        for (int k = 0; k < 3 && cases[i].dims[0]; k++)
            assert_int_equal(t[0].dims[k], cases[i].dims[k]);
        if (cases[i].dims[0])
            assert_int_equal(t[0].rank == 3 ? t[0].bytes : 0, 48 * (given - (n - 1)));
        if (n > 1 && !t[1].incomplete)
            assert_string_equal(vram_sym_text(&w.syms, t[1].path), "h.0.mlp.gate.weight");
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_every_row_has_its_class),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
