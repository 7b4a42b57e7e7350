/* SPDX-License-Identifier: Apache-2.0
 *
 * vram_load on small folders: which file is taken, what is said of the rest, hub caches, and every
 * allocation failing once.
 */
#include "helper.h"

#include <stdio.h>
#include <unistd.h>

#include "hf/config.h"

#define ONE "{'w':{'dtype':'F16','shape':[2],'data_offsets':[0,4]}}"
#define TWO "{'v':{'dtype':'F16','shape':[2],'data_offsets':[0,4]}}"
#define LLAMA                                                                                      \
    "{'model_type':'llama','architectures':['LlamaForCausalLM'],'torch_dtype':'float16',"          \
    "'vocab_size':8,'hidden_size':4,'intermediate_size':4,'num_hidden_layers':1,"                  \
    "'num_attention_heads':2}"
#define INDEX(a, b) "{'metadata':{'total_size':8},'weight_map':{'w':'" a "','v':'" b "'}}"

static void fails(const char *path, int code, const char *where, const char *text)
{
    struct world w;
    struct vram_checkpoint c;
    int rc = vram_load(world_begin(&w), path, NULL, &c);
    if (rc != code || !strstr(w.error.where, where) || !strstr(w.error.text, text))
        fail_msg("%s %s: %s", vram_code_name(rc), w.error.where, w.error.text);
    world_end(&w);
}

static void test_nothing_there(void **state)
{
    (void)state;
    char *top = make_folder();
    fails("", VRAM_E_NOTFOUND, "", "path is empty");
    fails(at(top, "absent"), VRAM_E_NOTFOUND, "absent", "no such file");
    fails(at(top, "absent/x.safetensors"), VRAM_E_NOTFOUND, "absent/x", "no such file");
    fails(top, VRAM_E_NOTFOUND, top, "neither weights nor a config.json");
    put_folder(top, "config.json");
    fails(top, VRAM_E_IO, "config.json", "a folder, not a file");
    remove_folder(top);
}

static void test_single_file(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = make_folder();
    put_tensors(top, "any-name.safetensors", ONE, 4);
    world_load(&w, at(top, "any-name.safetensors"), &c);
    assert_string_equal(c.format, "safetensors");
    assert_string_equal(c.name, "any-name.safetensors");
    assert_string_equal(c.files[0].name, "any-name.safetensors");
    assert_true(c.nfiles == 1 && c.ntensors == 1 && !c.config && !c.partial);
    assert_int_equal(world_found(&w, VRAM_F_NO_CONFIG), 1);
    world_end(&w);
    put_text(top, "config.json", LLAMA);
    world_load(&w, at(top, "any-name.safetensors"), &c);
    assert_string_equal(c.class_name, "LlamaForCausalLM");
    assert_string_equal(c.family, "llama");
    assert_int_equal(w.findings.n, 0);
    world_end(&w);
    remove_folder(top);
}

static void test_bare_config(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = make_folder();
    put_text(top, "config.json", LLAMA);
    put_text(top, "other.json", LLAMA);
    put_tensors(top, "model.safetensors", ONE, 4);
    for (int i = 0; i < 2; i++) {
        world_load(&w, at(top, i ? "other.json" : "config.json"), &c);
        assert_string_equal(c.format, "config");
        assert_true(c.nfiles == 0 && c.ntensors == 0 && c.config);
        assert_int_equal(world_found(&w, VRAM_F_CONFIG_ALONE), 1);
        assert_string_equal(world_subject(&w, VRAM_F_CONFIG_ALONE), i ? "other.json" : "config.json");
        world_end(&w);
    }
    unlink(at(top, "model.safetensors"));
    world_load(&w, top, &c);
    assert_string_equal(c.format, "config");
    assert_string_equal(world_subject(&w, VRAM_F_NO_WEIGHTS), "model.safetensors");
    world_end(&w);
    remove_folder(top);
}

static void test_other_files(void **state)
{
    (void)state;
    char *top = make_folder();
    put_text(top, "m.gguf", "GGUF\3\0\0\0");
    put_text(top, "notes.txt", "hello");
    put_text(top, "w.safetensors", "version https://git-lfs.github.com/spec/v1\n");
    put_text(top, "c.json", "");
    put_text(top, "p.json", "<!DOCTYPE html>");
    fails(at(top, "m.gguf"), VRAM_E_UNSUPPORTED, "m.gguf", "a GGUF file");
    fails(at(top, "notes.txt"), VRAM_E_UNSUPPORTED, "notes.txt", "no file that is known here");
    fails(at(top, "w.safetensors"), VRAM_E_FORMAT, "w.safetensors", "git lfs pull");
    fails(at(top, "c.json"), VRAM_E_FORMAT, "c.json", "empty");
    fails(at(top, "p.json"), VRAM_E_FORMAT, "p.json", "a web page");
    fails(top, VRAM_E_FORMAT, "w.safetensors", "git lfs pull");
    remove_folder(top);
}

/* what is taken of several copies */
static void test_copies(void **state)
{
    (void)state;
    static const struct {
        const char *files[5]; /* in the folder */
        const char *taken;    /* the file that is read; NULL: an index */
        const char *said;     /* subject of FORMAT_CHOSEN, or "" */
    } cases[] = {
        {{"model.safetensors", "pytorch_model.bin"}, "model.safetensors", "model.safetensors"},
        {{"model.safetensors", "model.fp16.safetensors"}, "model.safetensors", "model.safetensors"},
        {{"model.safetensors", "training_args.bin", "optimizer.pt"}, "model.safetensors", ""},
        {{"model.fp16.safetensors"}, "model.fp16.safetensors", ""},
        {{"model.fp16.safetensors", "model.fp8.safetensors"},
         "model.fp8.safetensors",
         "model.fp8.safetensors"},
        {{"model.safetensors", "consolidated.safetensors"},
         "model.safetensors",
         "model.safetensors"},
        {{"consolidated.safetensors"}, "consolidated.safetensors", ""},
        {{"gptq-4bit.safetensors"}, "gptq-4bit.safetensors", ""},
        {{"diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.fp16.safetensors"},
         "diffusion_pytorch_model.safetensors",
         "diffusion_pytorch_model.safetensors"},
        {{"adapter_model.safetensors", "x.safetensors"}, "x.safetensors", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct vram_checkpoint c;
        char *top = make_folder();
        put_text(top, "config.json", LLAMA);
        for (const char *const *f = cases[i].files; *f; f++)
            put_tensors(top, *f, ONE, 4);
        world_load(&w, top, &c);
        assert_int_equal(c.nfiles, 1);
        assert_string_equal(c.files[0].name, cases[i].taken);
        assert_string_equal(world_subject(&w, VRAM_F_FORMAT_CHOSEN), cases[i].said);
        assert_int_equal(world_found(&w, VRAM_F_FILE_IGNORED),
                         !strcmp(cases[i].files[0], "adapter_model.safetensors"));
        world_end(&w);
        remove_folder(top);
    }
}

static void test_only_other_formats(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = make_folder();
    put_text(top, "pytorch_model.bin", "PK\3\4");
    fails(top, VRAM_E_UNSUPPORTED, "pytorch_model.bin", "no config.json");
    put_text(top, "config.json", LLAMA);
    world_load(&w, top, &c);
    assert_string_equal(world_subject(&w, VRAM_F_NOT_OPENED), "pytorch_model.bin");
    assert_string_equal(c.format, "config");
    assert_true(c.partial);
    world_end(&w);
    remove_folder(top);
}

static void test_shards(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = make_folder();
    put_text(top, "config.json", LLAMA);
    put_tensors(top, "model-00001-of-00002.safetensors", ONE, 4);
    put_tensors(top, "model-00002-of-00002.safetensors", TWO, 4);
    /* without an index: all that the numbers promise */
    world_load(&w, top, &c);
    assert_true(c.nfiles == 2 && c.ntensors == 2 && !c.partial && w.findings.n == 0);
    world_end(&w);
    put_text(top, "model.safetensors.index.json",
             INDEX("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"));
    for (int i = 0; i < 2; i++) {
        world_load(&w, i ? at(top, "model.safetensors.index.json") : top, &c);
        assert_true(c.nfiles == 2 && c.ntensors == 2 && !c.partial && w.findings.n == 0);
        assert_string_equal(vram_sym_text(&w.syms, c.tensors[1].name), "v");
        world_end(&w);
    }
    world_load(&w, at(top, "model-00002-of-00002.safetensors"), &c);
    assert_true(c.nfiles == 1 && c.partial);
    world_end(&w);
    unlink(at(top, "model-00002-of-00002.safetensors"));
    world_load(&w, top, &c);
    assert_true(c.nfiles == 1 && c.ntensors == 1 && c.partial);
    assert_string_equal(world_subject(&w, VRAM_F_SHARD_MISSING),
                        "model-00002-of-00002.safetensors");
    assert_int_equal(w.findings.n, 1);
    world_end(&w);
    unlink(at(top, "model.safetensors.index.json"));
    world_load(&w, top, &c);
    assert_int_equal(world_found(&w, VRAM_F_SHARD_MISSING), 1);
    assert_true(c.partial);
    world_end(&w);
    remove_folder(top);
}

static void test_links_and_the_next_copy(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = make_folder();
    put_folder(top, "m");
    put_tensors(top, "outside.safetensors", ONE, 4);
    put_text(top, "m/config.json", LLAMA);
    put_link(top, "m/model.safetensors", "../outside.safetensors");
    world_load(&w, at(top, "m"), &c);
    assert_int_equal(world_found(&w, VRAM_F_SHARD_ESCAPE), 1);
    assert_true(c.ntensors == 0 && c.partial);
    world_end(&w);
    put_tensors(top, "m/model.fp16.safetensors", TWO, 4);
    world_load(&w, at(top, "m"), &c);
    assert_int_equal(world_found(&w, VRAM_F_SHARD_ESCAPE), 1);
    assert_string_equal(c.files[0].name, "model.fp16.safetensors");
    assert_false(c.partial);
    world_end(&w);
    /* a file that the user names is read wherever its link leads */
    world_load(&w, at(top, "m/model.safetensors"), &c);
    assert_int_equal(c.ntensors, 1);
    world_end(&w);
    unlink(at(top, "m/config.json"));
    put_link(top, "m/config.json", "/etc/passwd");
    world_load(&w, at(top, "m"), &c);
    assert_null(c.config);
    assert_non_null(strstr(world_finding(&w, VRAM_F_NO_CONFIG), "leads out"));
    world_end(&w);
    remove_folder(top);
}

static void test_hub_cache(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = make_folder();
    put_folder(top, "models--a--b");
    put_folder(top, "models--a--b/blobs");
    put_folder(top, "models--a--b/snapshots");
    fails(at(top, "models--a--b"), VRAM_E_NOTFOUND, "models--a--b", "refs/main is missing");
    put_folder(top, "models--a--b/snapshots/123");
    put_text(top, "models--a--b/blobs/c", LLAMA);
    put_tensors(top, "models--a--b/blobs/w", ONE, 4);
    put_link(top, "models--a--b/snapshots/123/config.json", "../../blobs/c");
    put_link(top, "models--a--b/snapshots/123/model.safetensors", "../../blobs/w");
    world_load(&w, at(top, "models--a--b"), &c); /* the only snapshot */
    assert_true(c.ntensors == 1 && w.findings.n == 0);
    world_end(&w);
    put_folder(top, "models--a--b/refs");
    put_folder(top, "models--a--b/snapshots/456");
    put_text(top, "models--a--b/refs/main", "123\n");
    world_load(&w, at(top, "models--a--b/"), &c);
    assert_true(c.ntensors == 1 && w.findings.n == 0);
    world_end(&w);
    world_load(&w, at(top, "models--a--b/snapshots/123"), &c);
    assert_true(c.ntensors == 1 && w.findings.n == 0);
    world_end(&w);
    put_text(top, "models--a--b/refs/main", "789");
    fails(at(top, "models--a--b"), VRAM_E_NOTFOUND, "models--a--b", "names snapshot 789");
    put_text(top, "models--a--b/refs/main", "../..");
    fails(at(top, "models--a--b"), VRAM_E_FORMAT, "refs/main", "no name of a snapshot");
    remove_folder(top);
}

static void test_empty_tensors(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = make_folder();
    put_text(top, "config.json", LLAMA);
    put_tensors(top, "model.safetensors",
                "{'a':{'dtype':'F16','shape':[0],'data_offsets':[0,0]},"
                "'b':{'dtype':'F16','shape':[2],'data_offsets':[0,4]},"
                "'g_idx':{'dtype':'I32','shape':[0],'data_offsets':[4,4]}}", 4);
    world_load(&w, top, &c);
    assert_int_equal(c.ntensors, 2);
    assert_true(c.partial);
    assert_non_null(strstr(world_finding(&w, VRAM_F_TENSORS_EMPTY), "1 tensors"));
    world_end(&w);
    remove_folder(top);
}

static void test_dtypes_and_quantisation(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *tensor;
        enum vram_finding_kind kind;
        unsigned n;
    } cases[] = {
        {"'torch_dtype':'float16'", "F16", VRAM_F_DTYPE_DIFFERS, 0},
        {"'torch_dtype':'torch.float16'", "F16", VRAM_F_DTYPE_UNKNOWN, 0},
        {"'torch_dtype':'auto'", "F16", VRAM_F_DTYPE_UNKNOWN, 0},
        {"'torch_dtype':null", "F16", VRAM_F_DTYPE_UNKNOWN, 0},
        {"'dtype':'float32'", "F16", VRAM_F_DTYPE_DIFFERS, 1},
        {"'dtype':'floaty'", "F16", VRAM_F_DTYPE_UNKNOWN, 1},
        {"'dtype':16", "F16", VRAM_F_DTYPE_UNKNOWN, 1},
        {"'quantization_config':{'quant_method':'gptq'}", "F16", VRAM_F_QUANT_CLAIM, 1},
        {"'quantization_config':null", "F16", VRAM_F_QUANT_CLAIM, 0},
        {"'quantization_config':{'quant_method':'gptq'}", "I32", VRAM_F_QUANT_UNKNOWN, 1},
        {"'quantization_config':{'quant_method':'gptq'}", "I32", VRAM_F_QUANT_CLAIM, 0},
        {"'x':1", "F8_E4M3", VRAM_F_QUANT_UNKNOWN, 1},
        {"'x':1", "I64", VRAM_F_QUANT_UNKNOWN, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct vram_checkpoint c;
        char *top = make_folder(), config[200], header[200];
        unsigned bytes = strstr(cases[i].tensor, "64") ? 8 : strstr(cases[i].tensor, "32") ? 4
                       : strstr(cases[i].tensor, "F8") ? 1 : 2;
        snprintf(config, sizeof config, "{'model_type':'llama',%s}", cases[i].keys);
        snprintf(header, sizeof header, "{'w':{'dtype':'%s','shape':[1,1],'data_offsets':[0,%u]}}",
                 cases[i].tensor, bytes);
        put_text(top, "config.json", config);
        put_tensors(top, "model.safetensors", header, bytes);
        world_load(&w, top, &c);
        if (world_found(&w, cases[i].kind) != cases[i].n)
            fail_msg("%s with %s", cases[i].keys, cases[i].tensor);
        world_end(&w);
        remove_folder(top);
    }
}

static void test_unknown_architecture(void **state)
{
    (void)state;
    struct world w;
    struct vram_checkpoint c;
    char *top = make_folder();
    put_text(top, "config.json", "{'model_type':'zorbax','architectures':['ZorbaxForCausalLM'],"
                                 "'num_hidden_layers':-5}");
    put_tensors(top, "model.safetensors", ONE, 4);
    world_load(&w, top, &c);
    assert_string_equal(c.class_name, "ZorbaxForCausalLM");
    assert_string_equal(c.family, "zorbax");
    assert_int_equal(c.tensors[0].path, c.tensors[0].name);
    world_end(&w);
    put_text(top, "config.json", "{}");
    world_load(&w, top, &c);
    assert_string_equal(c.class_name, "");
    assert_string_equal(world_subject(&w, VRAM_F_NO_MODEL_TYPE), "config.json: model_type");
    world_end(&w);
    remove_folder(top);
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    char *top = make_folder();
    put_text(top, "config.json", "\xef\xbb\xbf" LLAMA);
    put_tensors(top, "a.safetensors", ONE, 4);
    put_tensors(top, "b.safetensors", TWO, 3);
    put_text(top, "model.safetensors.index.json",
             "{'weight_map':{'w':'a.safetensors','v':'b.safetensors','x':'c.safetensors',"
             "'w':'a.safetensors'}}");
    world_sweep(top, NULL);
    world_sweep(at(top, "a.safetensors"), NULL);
    world_sweep(at(top, "config.json"), NULL);
    put_text(top, "config.json",
             "{'model_type':'llava_next','x':[{'y':1}],'torch_dtype':'half'}");
    world_sweep(top, NULL);
    put_text(top, "config.json", "{'model_type':'paligemma','n_embd':3,'text_config':{}}");
    world_sweep(top, NULL);
    remove_folder(top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_single_file),
        cmocka_unit_test(test_bare_config),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_only_other_formats),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_links_and_the_next_copy),
        cmocka_unit_test(test_hub_cache),
        cmocka_unit_test(test_empty_tensors),
        cmocka_unit_test(test_dtypes_and_quantisation),
        cmocka_unit_test(test_unknown_architecture),
        cmocka_unit_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
