/* SPDX-License-Identifier: Apache-2.0
 *
 * The original LLaVA naming: a flat config that gets the members of LlavaConfig, and the vision
 * tower that it only names.
 */
#include "helper.h"

#include <stdio.h>

#include "hf/config.h"

#define ORIGINAL                                                                                   \
    "{'model_type':'llava','architectures':['LlavaLlamaForCausalLM'],'vocab_size':8,"              \
    "'hidden_size':4,'intermediate_size':4,'num_hidden_layers':1,'num_attention_heads':2,"         \
    "'mm_projector_type':'mlp2x_gelu','mm_vision_select_layer':-2,"                                \
    "'mm_vision_tower':'openai/clip-vit-large-patch14-336'}"

static char *original_folder(void)
{
    static const char *const names[] = {"model.mm_projector.0.weight", "model.layers.0.x.weight",
                                        "lm_head.weight"};
    char header[600] = "{";
    uint64_t offset = 0;
    char *top = make_folder();
    put_folder(top, "llava");
    put_text(top, "llava/config.json", ORIGINAL);
    for (size_t i = 0; i < 3; i++)
        add_entry(header, sizeof header, names[i], "[2]", &offset, 4);
    strcat(header, "}");
    put_tensors(top, "llava/model.safetensors", header, offset);
    return top;
}

static const struct vram_config *value(struct world *w, const struct vram_checkpoint *c,
                                       const char *part, const char *key)
{
    return vram_config_get_text(&w->cx, vram_config_get_text(&w->cx, c->config, part), key);
}

static void test_original_with_a_tower_that_is_only_named(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = original_folder();
    world_load(&w, at(top, "llava"), &c);
    assert_string_equal(c.class_name, "LlavaForConditionalGeneration");
    assert_string_equal(c.outside_prefix, "model.vision_tower.");
    assert_string_equal(c.outside_name, "openai/clip-vit-large-patch14-336");
    assert_int_equal(c.ntensors, 3);
    assert_string_equal(vram_sym_text(&w.syms, c.tensors[0].path),
                        "model.multi_modal_projector.linear_1.weight");
    const struct vram_config *v = value(&w, &c, "text_config", "hidden_size");
    assert_true(v->integer == 4 && v->origin == VRAM_ORIGIN_DERIVED);
    assert_int_equal(v->offset, strstr(ORIGINAL, "'hidden_size':") + 14 - ORIGINAL);
    v = value(&w, &c, "vision_config", "image_size");
    assert_true(v->integer == 336 && v->origin == VRAM_ORIGIN_DERIVED &&
                v->offset == VRAM_NO_OFFSET);
    assert_int_equal(vram_config_int(&w.cx, c.config, "vision_feature_layer", 0), -2);
    assert_int_equal(world_found(&w, VRAM_F_TOWER_NAMED), 1);
    assert_non_null(strstr(world_finding(&w, VRAM_F_TOWER_NAMED), "published sizes"));
    world_end(&w);
    remove_folder(top);
}

static void put_tower(const char *top, const char *folder, const char *type, bool weights)
{
    char name[100], text[400];
    put_folder(top, folder);
    snprintf(name, sizeof name, "%s/config.json", folder);
    snprintf(text, sizeof text,
             "{'model_type':'%s','text_config':{},'vision_config':{'hidden_size':6,"
             "'num_attention_heads':3,'num_hidden_layers':3,'image_size':28,'patch_size':14}}",
             type);
    put_text(top, name, text);
    if (!weights)
        return;
    static const char *const names[] = {
        "text_model.x", "vision_model.embeddings.position_ids", "vision_model.encoder.layers.0.w",
        "vision_model.encoder.layers.2.w", "vision_model.head.probe"};
    char header[800] = "{";
    uint64_t offset = 0;
    for (size_t i = 0; i < 5; i++)
        add_entry(header, sizeof header, names[i], "[2]", &offset, 4);
    strcat(header, "}");
    snprintf(name, sizeof name, "%s/model.safetensors", folder);
    put_tensors(top, name, header, offset);
}

static void test_tower_beside(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = original_folder();
    put_tower(top, "clip-vit-large-patch14-336", "clip", true);
    world_load(&w, at(top, "llava"), &c);
    assert_int_equal(value(&w, &c, "vision_config", "hidden_size")->integer, 6);
    assert_int_equal(c.nfiles, 2);
    assert_true(c.files[1].outside && !c.files[0].outside);
    assert_string_equal(c.files[1].name, "../clip-vit-large-patch14-336/model.safetensors");
    assert_int_equal(c.ntensors, 3 + 3);
    assert_string_equal(vram_sym_text(&w.syms, c.tensors[4].path),
                        "model.vision_tower.encoder.layers.0.w");
    assert_true(c.tensors[3].buffer && !c.tensors[4].buffer && c.tensors[4].file == 1);
    assert_non_null(c.outside_prefix);
    assert_non_null(
        strstr(world_finding(&w, VRAM_F_TOWER_NAMED), "sizes and weights come from ../clip"));
    world_end(&w);
    remove_folder(top);
}

static void test_tower_given(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = original_folder();
    char given[600];
    put_tower(top, "clip-vit-large-patch14-336", "clip", false);
    put_tower(top, "mine", "siglip", true);
    strcpy(given, at(top, "mine"));
    struct vram_load_options options = {.vision_tower = given};
    struct vram_cx *cx = world_begin(&w);
    assert_int_equal(vram_load(cx, at(top, "llava"), &options, &c), 0);
    /* without its last layer and its head */
    assert_int_equal(value(&w, &c, "vision_config", "num_hidden_layers")->integer, 2);
    assert_int_equal(value(&w, &c, "vision_config", "vision_use_head")->integer, 0);
    assert_int_equal(vram_config_int(cx, c.config, "vision_feature_layer", 0), -1);
    assert_int_equal(c.ntensors, 3 + 2);
    world_end(&w);
    strcpy(given, at(top, "llava"));
    assert_int_equal(vram_load(world_begin(&w), at(top, "llava"), &options, &c),
                     VRAM_E_UNSUPPORTED);
    world_end(&w);
    strcpy(given, at(top, "absent"));
    assert_int_not_equal(vram_load(world_begin(&w), at(top, "llava"), &options, &c), 0);
    world_end(&w);
    remove_folder(top);
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    char *top = original_folder(), tower[600];
    world_sweep(at(top, "llava"), NULL);
    put_tower(top, "clip-vit-large-patch14-336", "clip", true);
    world_sweep(at(top, "llava"), NULL);
    strcpy(tower, at(top, "clip-vit-large-patch14-336"));
    world_sweep(at(top, "llava"), tower);
    remove_folder(top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_original_with_a_tower_that_is_only_named),
        cmocka_unit_test(test_tower_beside),
        cmocka_unit_test(test_tower_given),
        cmocka_unit_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
