/* SPDX-License-Identifier: Apache-2.0
 *
 * config.json: provenance, aliases, class defaults, and the refusal of values that a class cannot
 * take, each with its key and its byte.
 */
#include "helper.h"

#include <math.h>
#include <stdio.h>

#include "hf/config.h"
#include "hf/defaults.h"

static struct vram_config *parse(struct world *w, const char *text)
{
    struct vram_config *root = NULL;
    assert_int_equal(vram_config_parse(world_begin(w), "c.json", q(text), strlen(text), &root), 0);
    assert_int_equal(vram_config_canonical(&w->cx, root), 0);
    return root;
}

static int apply(struct world *w, struct vram_config *root)
{
    const char *type = vram_config_text(&w->cx, root, "model_type", "");
    assert_non_null(vram_class_find(type));
    return vram_class_apply(&w->cx, "c.json", root, vram_class_find(type));
}

/* "text_config.hidden_size" */
static struct vram_config *get(struct world *w, struct vram_config *v, const char *path)
{
    const char *dot = strchr(path, '.');
    char key[64];
    snprintf(key, sizeof key, "%.*s", dot ? (int)(dot - path) : 60, path);
    struct vram_config *m = vram_config_get_text(&w->cx, v, key);
    return dot && m ? get(w, m, dot + 1) : m;
}

static void check_int(struct world *w, struct vram_config *root, const char *path, int64_t value,
                      enum vram_origin origin)
{
    const struct vram_config *m = get(w, root, path);
    if (!m || m->type != VRAM_CONFIG_INT || m->integer != value || m->origin != origin)
        fail_msg("%s: %s %lld from %s", path, m ? "is" : "absent", m ? (long long)m->integer : 0,
                 m ? vram_origin_name(m->origin) : "");
}

static const struct {
    const char *json, *caret; /* the caret stands under the byte the error names */
    int code;
    const char *where, *text;
} errors[] = {
    {"{'model_type':'llama','hidden_size':'64'}",
     "                                    ^",
     VRAM_E_FORMAT, "c.json: hidden_size", "an integer expected, found a string"},
    {"{'model_type':'llama','hidden_size':[64]}",
     "                                    ^", VRAM_E_FORMAT, "c.json: hidden_size", "found a list"},
    {"{'model_type':'llama','hidden_size':{}}",
     "                                    ^",
     VRAM_E_FORMAT, "c.json: hidden_size", "found an object"},
    {"{'model_type':'llama','hidden_size':true}",
     "                                    ^", VRAM_E_FORMAT, "c.json: hidden_size", "found true"},
    {"{'model_type':'llama','hidden_size':null}",
     "                                    ^", VRAM_E_FORMAT, "c.json: hidden_size", "found null"},
    {"{'model_type':'llama','hidden_size':2.5}",
     "                                    ^",
     VRAM_E_FORMAT, "c.json: hidden_size", "a number with a fraction"},
    {"{'model_type':'llama','hidden_size':64.0}",
     "                                    ^",
     VRAM_E_FORMAT, "c.json: hidden_size", "a number with a fraction"},
    {"{'model_type':'llama','hidden_size':NaN}",
     "                                    ^", VRAM_E_FORMAT, "c.json: hidden_size", "found NaN"},
    {"{'model_type':'llama','hidden_size':1e30}",
     "                                    ^",
     VRAM_E_FORMAT, "c.json: hidden_size", "beyond 64 bits"},
    {"{'model_type':'llama','hidden_size':18446744073709551615}",
     "                                    ^",
     VRAM_E_FORMAT, "c.json: hidden_size", "beyond 64 bits"},
    {"{'model_type':'llama','hidden_size':-64}",
     "                                    ^",
     VRAM_E_RANGE, "c.json: hidden_size", "-64 is out of range: 1 to"},
    {"{'model_type':'llama','num_hidden_layers':1000000000}",
     "                                          ^",
     VRAM_E_RANGE, "c.json: num_hidden_layers", "out of range"},
    {"{'model_type':'llama','num_attention_heads':0}",
     "                                            ^",
     VRAM_E_RANGE, "c.json: num_attention_heads", "0 is out of range"},
    {"{'model_type':'llama','hidden_size':64,'num_attention_heads':7}",
     "                                                             ^",
     VRAM_E_CONFLICT, "c.json: num_attention_heads", "7 heads do not divide hidden_size 64"},
    {"{'model_type':'llama','tie_word_embeddings':'no'}",
     "                                            ^",
     VRAM_E_FORMAT, "c.json: tie_word_embeddings", "true or false expected, found a string"},
    {"{'model_type':'llama','hidden_act':5}",
     "                                   ^",
     VRAM_E_FORMAT, "c.json: hidden_act", "a string expected, found an integer"},
    {"{'model_type':'llama','rms_norm_eps':'small'}",
     "                                     ^",
     VRAM_E_FORMAT, "c.json: rms_norm_eps", "a number expected, found a string"},
    {"{'model_type':'llava','text_config':null}",
     "                                    ^",
     VRAM_E_FORMAT, "c.json: text_config", "an object expected, found null"},
    {"{'model_type':'llava','vision_config':'clip'}",
     "                                      ^",
     VRAM_E_FORMAT, "c.json: vision_config", "an object expected, found a string"},
    {"{'model_type':'llava','text_config':{'vocab_size':[1]}}",
     "                                                  ^",
     VRAM_E_FORMAT, "c.json: text_config.vocab_size", "found a list"},
    {"{'model_type':'llava','text_config':{'model_type':7}}",
     "                                                  ^",
     VRAM_E_FORMAT, "c.json: text_config.model_type", "a string expected"},
    {"{'model_type':'clip_vision_model','image_size':[224,336]}",
     "                                               ^",
     VRAM_E_UNSUPPORTED, "c.json: image_size", "only squares"},
    {"{'model_type':'clip_vision_model','image_size':[224]}",
     "                                               ^",
     VRAM_E_FORMAT, "c.json: image_size", "another list"},
    {"{'model_type':'siglip_vision_model','patch_size':0}",
     "                                                 ^",
     VRAM_E_RANGE, "c.json: patch_size", "0 is out of range"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct world w;
        struct vram_config *root = parse(&w, errors[i].json);
        assert_int_not_equal(apply(&w, root), 0);
        world_check(&w, errors[i].code, errors[i].caret, 0, errors[i].text);
        assert_string_equal(w.error.where, errors[i].where);
        world_end(&w);
    }
}

static void test_not_an_object(void **state)
{
    (void)state;
    static const char *const texts[] = {"null", "[]", "3", "'x'"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct world w;
        struct vram_config *root;
        assert_int_not_equal(
            vram_config_parse(world_begin(&w), "c.json", q(texts[i]), strlen(texts[i]), &root), 0);
        world_check(&w, VRAM_E_FORMAT, "^", 0, "an object of settings expected");
        assert_string_equal(w.error.where, "c.json");
        world_end(&w);
    }
}

static void test_values_keep_their_place(void **state)
{
    (void)state;
    struct world w;
    struct vram_config *root = parse(&w, "{'a': {'b': [1, 'x', {'c': 2.5}]}, 'd': null}");
    const struct vram_config *list = get(&w, root, "a.b");
    assert_int_equal(list->offset, 12);
    assert_int_equal(list->first->offset, 13);
    const struct vram_config *c = get(&w, list->last, "c");
    assert_true(c->offset == 27 && c->real == 2.5);
    char path[64];
    vram_config_path(&w.cx, c, path, sizeof path);
    assert_string_equal(path, "a.b[2].c");
    assert_int_equal(get(&w, root, "d")->type, VRAM_CONFIG_NULL);
    world_end(&w);
}

static void test_duplicates(void **state)
{
    (void)state;
    struct world w;
    struct vram_config *root =
        parse(&w, "{'a':1,'b':{'x':1,'y':2},'a':3,'b':{'x':5,'x':6}}");
    assert_int_equal(get(&w, root, "a")->integer, 3);
    assert_int_equal(get(&w, root, "b.x")->integer, 6);
    assert_null(get(&w, root, "b.y"));
    assert_int_equal(world_found(&w, VRAM_F_JSON_DUPLICATE), 3);
    assert_string_equal(world_subject(&w, VRAM_F_JSON_DUPLICATE), "c.json: a");
    world_end(&w);
}

/* hostile: as many keys that stand twice as fit; must stay fast and say little */
static void test_many_duplicates(void **state)
{
    (void)state;
    enum { N = 50000 };
    char *text = malloc(N * 24u);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "{'k':0");
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, ",'k%d':%d", i % (N / 2), i);
    text[n++] = '}';
    text[n] = 0;
    requote(text, '\'');
    struct world w;
    struct vram_config *root;
    assert_int_equal(vram_config_parse(world_begin(&w), "c.json", text, n, &root), 0);
    assert_int_equal(world_found(&w, VRAM_F_JSON_DUPLICATE), 9);
    free(text);
    world_end(&w);
}

/* the same with objects: their lost members must not be searched through again and again */
static void test_many_lost_objects(void **state)
{
    (void)state;
    enum { N = 100000 };
    static const char piece[] = "'k':{'x':1,'x':2},";
    char *text = malloc(N * sizeof piece + 10);
    assert_non_null(text);
    size_t n = 1;
    text[0] = '{';
    for (int i = 0; i < N; i++, n += sizeof piece - 1)
        memcpy(text + n, piece, sizeof piece - 1);
    text[n - 1] = '}';
    text[n] = 0;
    requote(text, '\'');
    struct world w;
    struct vram_config *root;
    assert_int_equal(vram_config_parse(world_begin(&w), "c.json", text, n, &root), 0);
    assert_int_equal(get(&w, root, "k.x")->integer, 2);
    assert_null(get(&w, root, "k")->first->next);
    free(text);
    world_end(&w);
}

static void test_tolerated(void **state)
{
    (void)state;
    struct world w;
    struct vram_config *root = parse(&w, "\xef\xbb\xbf{'a': NaN, 'b': -Infinity}");
    assert_true(isnan(get(&w, root, "a")->real) && isinf(get(&w, root, "b")->real));
    assert_int_equal(world_found(&w, VRAM_F_JSON_TOLERATED), 2);
    world_end(&w);
}

static void test_aliases(void **state)
{
    (void)state;
    struct world w;
    struct vram_config *root = parse(
        &w, "{'model_type':'gpt2','torch_dtype':'float16','n_embd':768,'llm_config':{'n_head':3}}");
    check_int(&w, root, "hidden_size", 768, VRAM_ORIGIN_CONFIG);
    assert_int_equal(get(&w, root, "hidden_size")->offset, get(&w, root, "n_embd")->offset);
    check_int(&w, root, "text_config.num_attention_heads", 3, VRAM_ORIGIN_CONFIG);
    assert_string_equal(vram_config_text(&w.cx, root, "dtype", ""), "float16");
    world_end(&w);
    /* a class of transformers does not know another family's keys */
    root =
        parse(&w, "{'model_type':'llama','n_embd':768,'dtype':'bfloat16','torch_dtype':'float16'}");
    assert_null(get(&w, root, "hidden_size"));
    assert_string_equal(vram_config_text(&w.cx, root, "dtype", ""), "bfloat16");
    world_end(&w);
}

static void test_llava_on_the_hub(void **state)
{
    (void)state;
    struct world w;
    struct vram_config *root = parse(
        &w,
        "{'model_type':'llava','text_config':{'vocab_size':32064,'model_type':'llama'},"
        "'vision_config':{'hidden_size':1024,'num_attention_heads':16,'image_size':[336,336]}}");
    assert_int_equal(apply(&w, root), 0);
    check_int(&w, root, "text_config.vocab_size", 32064, VRAM_ORIGIN_CONFIG);
    check_int(&w, root, "text_config.hidden_size", 4096, VRAM_ORIGIN_DEFAULT);
    check_int(&w, root, "text_config.num_hidden_layers", 32, VRAM_ORIGIN_DEFAULT);
    check_int(&w, root, "text_config.num_key_value_heads", 32, VRAM_ORIGIN_DERIVED);
    check_int(&w, root, "text_config.head_dim", 128, VRAM_ORIGIN_DERIVED);
    /* a vision_config that is there has the defaults of CLIP, not those of LLaVA */
    check_int(&w, root, "vision_config.num_hidden_layers", 12, VRAM_ORIGIN_DEFAULT);
    check_int(&w, root, "vision_config.image_size", 336, VRAM_ORIGIN_CONFIG);
    check_int(&w, root, "vision_feature_layer", -2, VRAM_ORIGIN_DEFAULT);
    assert_int_equal(world_found(&w, VRAM_F_CLASS_DEFAULT), 2);
    assert_string_equal(world_subject(&w, VRAM_F_CLASS_DEFAULT), "c.json: text_config");
    assert_non_null(strstr(world_finding(&w, VRAM_F_CLASS_DEFAULT), "hidden_size 4096"));
    world_end(&w);
}

static void test_parts_that_are_absent(void **state)
{
    (void)state;
    struct world w;
    struct vram_config *root = parse(&w, "{'model_type':'paligemma','projection_dim':512}");
    assert_int_equal(apply(&w, root), 0);
    check_int(&w, root, "vision_config.image_size", 224, VRAM_ORIGIN_DEFAULT);
    check_int(&w, root, "vision_config.projection_dim", 512, VRAM_ORIGIN_DERIVED);
    check_int(&w, root, "text_config.num_image_tokens", 256, VRAM_ORIGIN_DERIVED);
    check_int(&w, root, "text_config.hidden_size", 2048, VRAM_ORIGIN_DEFAULT);
    assert_int_equal(get(&w, root, "tie_word_embeddings")->integer, 1);
    assert_int_equal(get(&w, root, "text_config.use_bidirectional_attention")->integer, 1);
    world_end(&w);
}

static void test_derived(void **state)
{
    (void)state;
    struct world w;
    struct vram_config *root = parse(&w, "{'model_type':'qwen2','num_key_value_heads':null,'num_"
                                         "attention_heads':8,'sliding_window':7}");
    assert_int_equal(apply(&w, root), 0);
    check_int(&w, root, "num_key_value_heads", 8, VRAM_ORIGIN_DERIVED);
    assert_int_equal(get(&w, root, "sliding_window")->type, VRAM_CONFIG_NULL);
    world_end(&w);
    root = parse(
        &w,
        "{'model_type':'llava','text_config':{'model_type':'qwen2','tie_word_embeddings':true}}");
    assert_int_equal(apply(&w, root), 0);
    assert_int_equal(get(&w, root, "tie_word_embeddings")->integer, 1);
    world_end(&w);
    root = parse(&w, "{'model_type':'gemma','hidden_act':'gelu'}");
    assert_int_equal(apply(&w, root), 0);
    assert_string_equal(vram_config_text(&w.cx, root, "hidden_act", ""), "gelu_pytorch_tanh");
    world_end(&w);
    root = parse(&w, "{'model_type':'llava_next','image_grid_pinpoints':null}");
    assert_int_equal(apply(&w, root), 0);
    unsigned n = 0;
    for (const struct vram_config *m = get(&w, root, "image_grid_pinpoints")->first; m; m = m->next)
        n++;
    assert_int_equal(n, 5);
    world_end(&w);
}

/* classes of other families inside a known one are left alone, zeros and all */
static void test_unknown_parts(void **state)
{
    (void)state;
    struct world w;
    struct vram_config *root =
        parse(&w, "{'model_type':'paligemma','text_config':{'model_type':'gemma2'},"
                  "'vision_config':{'model_type':'x','patch_size':0,'hidden_size':'?'}}");
    assert_int_equal(apply(&w, root), 0);
    check_int(&w, root, "text_config.num_image_tokens", 0, VRAM_ORIGIN_DERIVED);
    world_end(&w);
}

static void test_rows_are_sound(void **state)
{
    (void)state;
    const struct vram_class *c;
    for (size_t i = 0; (c = vram_class_row(i)); i++) {
        assert_ptr_equal(vram_class_find(c->model_type), c);
        for (const struct vram_class_key *k = c->keys; k->key; k++)
            for (const struct vram_class_key *other = c->keys; other < k; other++)
                assert_string_not_equal(other->key, k->key);
        for (const struct vram_class_part *p = c->parts; p && p->key; p++) {
            assert_non_null(vram_class_find(p->model_type));
            assert_null(vram_class_find(p->model_type)->parts);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_not_an_object),
        cmocka_unit_test(test_values_keep_their_place),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_many_duplicates),
        cmocka_unit_test(test_many_lost_objects),
        cmocka_unit_test(test_tolerated),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_llava_on_the_hub),
        cmocka_unit_test(test_parts_that_are_absent),
        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_unknown_parts),
        cmocka_unit_test(test_rows_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
