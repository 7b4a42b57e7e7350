/* SPDX-License-Identifier: Apache-2.0
 *
 * The index reader: refusals with their byte, and the index held against what shards hold.
 */
#include "helper.h"

#include <stdio.h>

#include "safetensors/index.h"

static const struct {
    const char *text, *caret; /* the caret stands under the byte the error names */
    int code;
    const char *where, *says;
} errors[] = {
    {"[]",
     "^", VRAM_E_FORMAT, "i.json", "an object with weight_map expected"},
    {"{}",
     " ^", VRAM_E_FORMAT, "i.json", "weight_map is missing"},
    {"{'weight_map': [1]}",
     "               ^", VRAM_E_FORMAT, "i.json", "must be an object of tensor names"},
    {"{'weight_map': {'a': 5}}",
     "                     ^",
     VRAM_E_FORMAT, "i.json: tensor 'a'", "a file name expected, found an integer"},
    {"{'weight_map': {'a': '../x'}}",
     "                     ^",
     VRAM_E_FORMAT, "i.json: tensor 'a'", "leads out of the model's folder"},
    {"{'weight_map': {'a': '/etc/passwd'}}",
     "                     ^",
     VRAM_E_FORMAT, "i.json: tensor 'a'", "leads out of the model's folder"},
    {"{'weight_map': {'a': 'sub\\u002fx'}}",
     "                     ^", VRAM_E_FORMAT, "i.json: tensor 'a'", "'sub/x' leads out"},
    {"{'weight_map': {'a': '..'}}",
     "                     ^",
     VRAM_E_FORMAT, "i.json: tensor 'a'", "leads out of the model's folder"},
    {"{'weight_map': {'a': ''}}",
     "                     ^",
     VRAM_E_FORMAT, "i.json: tensor 'a'", "leads out of the model's folder"},
    {"{'weight_map': {'a': 'x\\u0000y'}}",
     "                     ^", VRAM_E_FORMAT, "i.json: tensor 'a'", "'x\\x00y' leads out"},
    {"{'weight_map': {'a': 'x'",
     "                        ^", VRAM_E_FORMAT, "i.json", "ends inside an object"},
    {"{'weight_map': {'a': '1', 'b': '2', 'c': '3'}}",
     "                                         ^",
     VRAM_E_LIMIT, "i.json: tensor 'c'", "more than 2 weight files"},
    {"{'weight_map': {'a': '1', 'b': '1', 'c': '1', 'd': '1'}}",
     "                                              ^",
     VRAM_E_LIMIT, "i.json", "more than 3 tensors"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct world w;
        struct vram_cx *cx = world_begin(&w);
        struct vram_index index;
        w.limits.shards = 2;
        w.limits.tensors = 3;
        assert_int_not_equal(
            vram_index_parse(cx, "i.json", q(errors[i].text), strlen(errors[i].text), &index), 0);
        world_check(&w, errors[i].code, errors[i].caret, 0, errors[i].says);
        assert_string_equal(w.error.where, errors[i].where);
        world_end(&w);
    }
}

static void parse(struct world *w, const char *text, struct vram_index *index)
{
    assert_int_equal(vram_index_parse(world_begin(w), "i.json", q(text), strlen(text), index), 0);
}

static void test_shards_are_sorted(void **state)
{
    (void)state;
    struct world w;
    struct vram_index index;
    parse(&w, "{'metadata':{'total_size':12,'x':[]},'weight_map':{'a':'m-2','b':'m-1','c':'m-2'}}",
          &index);
    assert_int_equal(index.shards.n, 2);
    assert_string_equal(vram_sym_text(&w.syms, index.shards.at[0].name), "m-1");
    assert_int_equal(index.entries.n, 3);
    assert_int_equal(index.entries.at[0].shard, 1);
    assert_int_equal(index.entries.at[1].shard, 0);
    assert_int_equal(index.entries.at[2].shard, 1);
    assert_true(index.has_total && index.total == 12);
    assert_int_equal(w.findings.n, 0);
    world_end(&w);
}

static void test_duplicates(void **state)
{
    (void)state;
    struct world w;
    struct vram_index index;
    parse(&w, "{'weight_map':{'a':'x','b':'x','a':'y'}}", &index);
    assert_int_equal(index.entries.n, 2);
    assert_string_equal(vram_sym_text(&w.syms, index.shards.at[index.entries.at[0].shard].name),
                        "y");
    assert_int_equal(world_found(&w, VRAM_F_JSON_DUPLICATE), 1);
    assert_string_equal(world_subject(&w, VRAM_F_JSON_DUPLICATE), "i.json");
    assert_non_null(strstr(world_finding(&w, VRAM_F_JSON_DUPLICATE), "'a' stands twice"));
    world_end(&w);
    parse(&w, "{'weight_map':{'a':'x'},'weight_map':{'b':'y'}}", &index);
    assert_int_equal(index.entries.n, 1);
    assert_int_equal(index.shards.n, 1);
    assert_int_equal(world_found(&w, VRAM_F_JSON_DUPLICATE), 1);
    world_end(&w);
}

static void test_total_size(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool has;
        uint64_t total;
    } cases[] = {{"12", true, 12}, {"1.2e1", true, 12}, {"'12'", false, 0}, {"null", false, 0},
                 {"-1", false, 0}, {"[12]", false, 0}, {"1e30", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct vram_index index;
        char text[100];
        snprintf(text, sizeof text, "{'metadata':{'total_size':%s},'weight_map':{}}",
                 cases[i].value);
        parse(&w, text, &index);
        assert_int_equal(index.has_total, cases[i].has);
        assert_int_equal(world_found(&w, VRAM_F_INDEX_TOTAL), !cases[i].has);
        if (cases[i].has)
            assert_int_equal(index.total, cases[i].total);
        world_end(&w);
    }
}

/* ---- comparison: shards s1 and s2, each holding some one-byte tensors -------------------------
 */

static void compare(struct world *w, const char *index_text, const char *const held[2],
                    struct vram_tensors *tensors)
{
    static struct vram_file files[2] = {{.name = "s1"}, {.name = "s2"}};
    struct vram_index index;
    parse(w, index_text, &index);
    for (uint32_t file = 0; file < 2; file++) {
        char header[400] = "{";
        uint64_t offset = 0;
        for (const char *p = held[file]; *p; p++) {
            char name[] = {*p, 0};
            add_entry(header, sizeof header, name, "[1]", &offset, 2);
        }
        strcat(header, "}");
        char bytes[420] = {(char)strlen(header), (char)(strlen(header) >> 8)};
        memcpy(bytes + 8, q(header), strlen(header));
        assert_int_equal(vram_header_parse(&w->cx, files[file].name, bytes, 8 + strlen(header),
                                           8 + strlen(header) + offset, file, tensors,
                                           &files[file]),
                         0);
    }
    for (uint32_t i = 0; i < index.shards.n; i++) {
        index.shards.at[i].file = i;
        index.shards.at[i].missing = i > 1;
    }
    assert_int_equal(vram_index_compare(&w->cx, &index, files, tensors), 0);
}

static void test_all_well(void **state)
{
    (void)state;
    struct world w;
    struct vram_tensors tensors = {0};
    compare(&w, "{'metadata':{'total_size':6},'weight_map':{'a':'s1','b':'s1','c':'s2'}}",
            (const char *const[]){"ab", "c"}, &tensors);
    assert_int_equal(w.findings.n, 0);
    assert_int_equal(tensors.n, 3);
    world_end(&w);
}

static void test_wrong_total(void **state)
{
    (void)state;
    struct world w;
    struct vram_tensors tensors = {0};
    compare(&w, "{'metadata':{'total_size':7},'weight_map':{'a':'s1','b':'s1','c':'s2'}}",
            (const char *const[]){"ab", "c"}, &tensors);
    assert_int_equal(world_found(&w, VRAM_F_INDEX_TOTAL), 1);
    assert_non_null(
        strstr(world_finding(&w, VRAM_F_INDEX_TOTAL), "is 7, the tensors take 6 bytes"));
    world_end(&w);
}

static void test_tensor_elsewhere_and_nowhere(void **state)
{
    (void)state;
    struct world w;
    struct vram_tensors tensors = {0};
    compare(&w, "{'weight_map':{'a':'s1','b':'s2','x':'s2','y':'s2','m':'s3'}}",
            (const char *const[]){"ab", ""}, &tensors);
    assert_int_equal(tensors.n, 2);
    assert_int_equal(world_found(&w, VRAM_F_INDEX_TENSOR_MISSING), 1);
    assert_string_equal(world_subject(&w, VRAM_F_INDEX_TENSOR_MISSING), "s2");
    assert_string_equal(
        world_finding(&w, VRAM_F_INDEX_TENSOR_MISSING),
        "tensor 'b' (and 2 more) is not in this shard, as the index says, but in s1");
    world_end(&w);
}

static void test_unlisted(void **state)
{
    (void)state;
    struct world w;
    struct vram_tensors tensors = {0};
    compare(&w, "{'weight_map':{'a':'s1','c':'s2'}}", (const char *const[]){"ab", "c"},
            &tensors);
    assert_int_equal(tensors.n, 3);
    assert_int_equal(world_found(&w, VRAM_F_INDEX_TENSOR_UNLISTED), 1);
    assert_string_equal(world_finding(&w, VRAM_F_INDEX_TENSOR_UNLISTED),
                        "tensor 'b' is not listed in i.json");
    world_end(&w);
}

/* of a tensor in two shards the one that the index means stays */
static void test_twins(void **state)
{
    (void)state;
    for (int second = 0; second < 2; second++) {
        struct world w;
        struct vram_tensors tensors = {0};
        compare(&w, second ? "{'weight_map':{'a':'s2','b':'s1'}}"
                           : "{'weight_map':{'a':'s1','b':'s2'}}",
                (const char *const[]){"ab", "ab"}, &tensors);
        assert_int_equal(tensors.n, 2);
        for (size_t i = 0; i < 2; i++) {
            bool a = vram_sym_text(&w.syms, tensors.at[i].name)[0] == 'a';
            assert_int_equal(tensors.at[i].file, a == (second != 0));
            assert_int_equal(vram_symmap_get(&tensors.by_name, tensors.at[i].name), i + 1);
        }
        assert_int_equal(world_found(&w, VRAM_F_TENSOR_TWICE), 2);
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),          cmocka_unit_test(test_shards_are_sorted),
        cmocka_unit_test(test_duplicates),      cmocka_unit_test(test_total_size),
        cmocka_unit_test(test_all_well),        cmocka_unit_test(test_wrong_total),
        cmocka_unit_test(test_tensor_elsewhere_and_nowhere),
        cmocka_unit_test(test_unlisted),        cmocka_unit_test(test_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
