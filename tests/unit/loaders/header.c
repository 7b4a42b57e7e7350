/* SPDX-License-Identifier: Apache-2.0
 *
 * The safetensors header reader: every refusal with its byte and its tensor, all dtypes, findings.
 */
#include "helper.h"

#include <stdio.h>

#include "ir/dtype.h"
#include "safetensors/header.h"

/* Parses a file of the given header; its data are `data` bytes long. */
static int parse_size(struct world *w, const char *header, size_t n, uint64_t data,
                      struct vram_tensors *tensors, struct vram_file *file)
{
    unsigned char *bytes = malloc(n + 8);
    assert_non_null(bytes);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)n >> (8 * i) & 0xff);
    memcpy(bytes + 8, header, n);
    int rc =
        vram_header_parse(&w->cx, "m.safetensors", bytes, n + 8, n + 8 + data, 0, tensors, file);
    free(bytes);
    return rc;
}

static int parse(struct world *w, const char *header, uint64_t data, struct vram_tensors *tensors,
                 struct vram_file *file)
{
    return parse_size(w, q(header), strlen(header), data, tensors, file);
}

static const struct {
    const char *header, *caret; /* the caret stands under the byte the error names */
    uint64_t data;
    int code;
    const char *where, *text;
} errors[] = {
    /* deserialisation */
    {"[1]",
     "^", 0, VRAM_E_FORMAT, "m.safetensors", "must be an object, found an array"},
    {"nope",
     "^", 0, VRAM_E_FORMAT, "m.safetensors", "a value expected"},
    {"{'a\xff':1}",
     "   ^", 0, VRAM_E_FORMAT, "m.safetensors", "not UTF-8"},
    {"{'a':1}",
     "     ^", 0, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "an object with dtype"},
    {"{'a':['F32',[1],[0,4]]}",
     "     ^", 4, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "an object with dtype"},
    {"{'a':{'dtype':'F32','shape':[1]}}",
     " ^", 4, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "data_offsets is missing"},
    {"{'a':{'dtype':'F32','data_offsets':[0,4]}}",
     " ^", 4, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "shape is missing"},
    {"{'a':{'shape':[1],'data_offsets':[0,4]}}",
     " ^", 4, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "dtype is missing"},
    {"{'a':{'dtype':'F32','shape':[1],'dtype':'F32','data_offsets':[0,4]}}",
     "                                ^",
     4, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "dtype stands twice"},
    {"{'a':{'dtype':'float16','shape':[1],'data_offsets':[0,2]}}",
     "              ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "dtype 'float16' is not one of"},
    {"{'a':{'dtype':5,'shape':[1],'data_offsets':[0,2]}}",
     "              ^", 2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "dtype must be a string"},
    {"{'a':{'dtype':'F16','shape':3,'data_offsets':[0,2]}}",
     "                            ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "shape must be an array"},
    {"{'a':{'dtype':'F16','shape':[2,-1],'data_offsets':[0,2]}}",
     "                               ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "negative: -1"},
    {"{'a':{'dtype':'F16','shape':[1.5],'data_offsets':[0,2]}}",
     "                             ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "must be an integer"},
    {"{'a':{'dtype':'F16','shape':[1.0],'data_offsets':[0,2]}}",
     "                             ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "must be an integer"},
    {"{'a':{'dtype':'F16','shape':['1'],'data_offsets':[0,2]}}",
     "                             ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "found a string"},
    {"{'a':{'dtype':'F16','shape':[9223372036854775808],'data_offsets':[0,2]}}",
     "                             ^", 2, VRAM_E_RANGE, "m.safetensors: tensor 'a'", "63 bits"},
    {"{'a':{'dtype':'F16','shape':[1,1,1,1],'data_offsets':[0,2]}}",
     "                                   ^",
     2, VRAM_E_LIMIT, "m.safetensors: tensor 'a'", "more than 3 dim"},
    {"{'a':{'dtype':'F16','shape':[1],'data_offsets':2}}",
     "                                               ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "array of two"},
    {"{'a':{'dtype':'F16','shape':[1],'data_offsets':[0]}}",
     "                                                 ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "two integers"},
    {"{'a':{'dtype':'F16','shape':[1],'data_offsets':[0,2,3]}}",
     "                                                    ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "two integers"},
    {"{'a':{'dtype':'F16','shape':[1],'data_offsets':[-1,2]}}",
     "                                                ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "from 0 on"},
    {"{'a\\u0000b':{'dtype':'F16','shape':[1],'data_offsets':[0,2]}}",
     " ^", 2, VRAM_E_FORMAT, "m.safetensors: tensor 'a\\x00b'", "NUL"},
    {"{'__metadata__':[]}",
     "                ^", 0, VRAM_E_FORMAT, "m.safetensors", "__metadata__ must be an object"},
    {"{'__metadata__':{'a':1}}",
     "                     ^", 0, VRAM_E_FORMAT, "m.safetensors", "strings only"},
    {"{'__metadata__':{},'__metadata__':{}}",
     "                   ^", 0, VRAM_E_FORMAT, "m.safetensors", "__metadata__ stands twice"},
    {"{'a':{'dtype':'F16','shape':[1",
     "                              ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "ends inside an array"},
    {"{} x",
     "   ^", 0, VRAM_E_FORMAT, "m.safetensors", "text after the end"},
    {"{'a':{'x':[[[[[[[]]]]]]]}}",
     "               ^", 0, VRAM_E_LIMIT, "m.safetensors: tensor 'a'", "more than 7 levels"},
    /* InvalidOffset */
    {"{'a':{'dtype':'U8','shape':[2],'data_offsets':[2,0]}}",
     " ^", 2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "end before they begin"},
    {"{'a':{'dtype':'U8','shape':[1],'data_offsets':[1,2]}}",
     " ^", 2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "without gaps"},
    {"{'a':{'dtype':'U8','shape':[1],'data_offsets':[0,1]},'b':{'dtype':'U8','shape':[1],'data_offsets':[0,1]}}",
     "                                                     ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'b'", "without gaps"},
    {"{'a':{'dtype':'U8','shape':[1],'data_offsets':[9223372036854775744,9223372036854775745]},'b':{'dtype':'U8','shape':[1],'data_offsets':[1,2]}}",
     " ^", 2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "lie outside the file's data"},
    /* ValidationOverflow */
    {"{'a':{'dtype':'U8','shape':[4294967296,4294967296],'data_offsets':[0,2]}}",
     " ^", 2, VRAM_E_RANGE, "m.safetensors: tensor 'a'", "does not fit 64 bits"},
    {"{'a':{'dtype':'F64','shape':[2305843009213693952],'data_offsets':[0,2]}}",
     " ^", 2, VRAM_E_RANGE, "m.safetensors: tensor 'a'", "does not fit 64 bits"},
    /* MisalignedSlice */
    {"{'a':{'dtype':'F4','shape':[3],'data_offsets':[0,2]}}",
     " ^", 2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "12 bits do not fill whole bytes"},
    /* TensorInvalidInfo */
    {"{'a':{'dtype':'F16','shape':[3],'data_offsets':[0,2]}}",
     " ^", 2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "make 6 bytes, data_offsets 2"},
    /* ours: a name twice */
    {"{'a':{'dtype':'U8','shape':[1],'data_offsets':[0,1]},'a':{'dtype':'U8','shape':[1],'data_offsets':[1,2]}}",
     "                                                     ^",
     2, VRAM_E_FORMAT, "m.safetensors: tensor 'a'", "the first is at byte 9"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct world w;
        world_begin(&w);
        w.limits.rank = 3;
        w.limits.json_depth = 9;
        if (errors[i].code == VRAM_E_LIMIT && strstr(errors[i].text, "levels"))
            w.limits.json_depth = 7;
        struct vram_tensors tensors = {0};
        struct vram_file file;
        assert_int_not_equal(parse(&w, errors[i].header, errors[i].data, &tensors, &file), 0);
        world_check(&w, errors[i].code, errors[i].caret, 8, errors[i].text);
        assert_string_equal(w.error.where, errors[i].where);
        world_end(&w);
    }
}

static void test_nul_padding(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    struct vram_tensors tensors = {0};
    struct vram_file file;
    assert_int_not_equal(parse_size(&w, "{}\0\0\0\0\0\0", 8, 0, &tensors, &file), 0);
    world_check(&w, VRAM_E_FORMAT, "  ^", 8, "NUL bytes");
    world_end(&w);
}

/* files whose first bytes are no header: whole file, size on disk (0: as long as the bytes) */
static void test_lengths_and_other_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        uint64_t size;
        int code;
        const char *caret, *text;
    } cases[] = {
        {"", 0, 0, VRAM_E_FORMAT, "^", "an empty file"},
        {"\x10\0\0\0\0\0\0", 7, 0, VRAM_E_FORMAT, "       ^", "7 bytes long"},
        {"\0\0\0\0\0\0\0\0", 8, 0, VRAM_E_FORMAT, "        ^", "the header is empty"},
        {"\x0b\0\0\0\0\0\0\0{}", 10, 0, VRAM_E_FORMAT, "^",
         "should be 11 bytes long, the file ends after 2"},
        {"\x01\xe1\xf5\x05\0\0\0\0{}", 10, 200000000, VRAM_E_LIMIT, "^",
         "100000001 is above the limit"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, 0, VRAM_E_LIMIT, "^", "18446744073709551615"},
        {"version https://git-lfs.github.com/spec/v1\n", 43, 0, VRAM_E_FORMAT, "^", "git lfs pull"},
        {"<!DOCTYPE html><html>", 21, 0, VRAM_E_FORMAT, "^", "a web page"},
        {"  <html>  ", 10, 0, VRAM_E_FORMAT, "^", "a web page"},
        {"<?xml version='1.0'?><Error>", 28, 0, VRAM_E_FORMAT, "^", "a web page"},
        {"{\"error\":\"Repository not found\"}", 32, 0, VRAM_E_FORMAT, "^", "JSON text"},
        {"GGUF\x03\0\0\0\0\0", 10, 0, VRAM_E_FORMAT, "^", "a GGUF file"},
        {"PK\x03\x04\0\0\x08\x08\0\0", 10, 0, VRAM_E_FORMAT, "^", "a zip archive"},
        {"\x80\x02}q\0X\x05\0\0\0", 10, 0, VRAM_E_FORMAT, "^", "pickle"},
        {"\x89HDF\r\n\x1a\n\0\0", 10, 0, VRAM_E_FORMAT, "^", "HDF5"},
        {"\x1f\x8b\x08\0\0\0\0\0\0\x03", 10, 0, VRAM_E_FORMAT, "^", "gzip"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        struct vram_tensors tensors = {0};
        struct vram_file file;
        char *exact = malloc(cases[i].n ? cases[i].n : 1);
        assert_non_null(exact);
        memcpy(exact, cases[i].bytes, cases[i].n);
        uint64_t size = cases[i].size ? cases[i].size : cases[i].n;
        assert_int_not_equal(
            vram_header_parse(&w.cx, "m", exact, cases[i].n, size, 0, &tensors, &file), 0);
        world_check(&w, cases[i].code, cases[i].caret, 0, cases[i].text);
        assert_string_equal(w.error.where, "m");
        free(exact);
        world_end(&w);
    }
}

static void test_every_dtype(void **state)
{
    (void)state;
    unsigned known = 0;
    for (int d = 1; d < VRAM_DT_COUNT; d++) {
        if (!vram_dtypes[d].safetensors[0])
            continue;
        known++;
        struct world w;
        world_begin(&w);
        struct vram_tensors tensors = {0};
        struct vram_file file;
        char header[200];
        unsigned bytes = (unsigned)vram_dtypes[d].bits; /* of 8 elements */
        snprintf(header, sizeof header, "{'x':{'dtype':'%s','shape':[2,4],'data_offsets':[0,%u]}}",
                 vram_dtypes[d].safetensors, bytes);
        assert_int_equal(parse(&w, header, bytes, &tensors, &file), 0);
        assert_int_equal(tensors.n, 1);
        assert_int_equal(tensors.at[0].dtype, d);
        assert_int_equal(tensors.at[0].bytes, bytes);
        world_end(&w);
    }
    assert_int_equal(known, 22);
}

static void test_rows(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    struct vram_tensors tensors = {0};
    struct vram_file file;
    const char *header =
        "{'__metadata__':{'format':'pt','format':'np'}, 'b.\\u00e9':{'shape':[2,3],'dtype':'BF16',"
        "'note':[{'x':null}],'data_offsets':[4,16]}, 'a':{'dtype':'F32','shape':[],"
        "'data_offsets':[0,4]},'none':{'dtype':'I64','shape':[0,9],'data_offsets':[16,16]}}   ";
    assert_int_equal(parse(&w, header, 16, &tensors, &file), 0);
    assert_int_equal(w.findings.n, 0);
    assert_int_equal(tensors.n, 3);
    const struct vram_tensor *t = tensors.at;
    assert_string_equal(vram_sym_text(&w.syms, t[0].name), "b.\xc3\xa9");
    assert_true(t[0].rank == 2 && t[0].dims[0] == 2 && t[0].dims[1] == 3 && t[0].bytes == 12);
    assert_int_equal(t[0].offset, 8 + (strstr(header, "'b.") - header));
    assert_true(t[1].rank == 0 && t[1].bytes == 4);
    assert_true(t[2].rank == 2 && t[2].bytes == 0);
    assert_int_equal(file.header_bytes, 8 + strlen(header));
    assert_int_equal(file.data_bytes, 16);
    world_end(&w);
}

static void test_findings(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        uint64_t data;
        enum vram_finding_kind kind;
        const char *text;
    } cases[] = {
        {"{'a':{'dtype':'F32','shape':[250000000],'data_offsets':[0,1000000000]}}", 500000000,
         VRAM_F_FILE_SHORT, "0.5 of 1.0 GB there: the download is incomplete"},
        {"{'a':{'dtype':'U8','shape':[20],'data_offsets':[0,20]}}", 19, VRAM_F_FILE_SHORT,
         "82 of 83 bytes there"},
        {"{'a':{'dtype':'U8','shape':[2],'data_offsets':[0,2]}}", 5, VRAM_F_FILE_LONG, "3 bytes"},
        {"{}", 0, VRAM_F_FILE_NO_TENSORS, "no tensors"},
        {"{'__metadata__':{}}", 0, VRAM_F_FILE_NO_TENSORS, "no tensors"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_begin(&w);
        struct vram_tensors tensors = {0};
        struct vram_file file;
        assert_int_equal(parse(&w, cases[i].header, cases[i].data, &tensors, &file), 0);
        assert_int_equal(w.findings.n, 1);
        assert_int_equal(w.findings.at[0].kind, cases[i].kind);
        assert_string_equal(w.findings.at[0].subject, "m.safetensors");
        assert_non_null(strstr(w.findings.at[0].text, cases[i].text));
        world_end(&w);
    }
}

static void test_parts_in_words(void **state)
{
    (void)state;
    static const struct {
        uint64_t part, whole;
        const char *text;
    } cases[] = {
        {UINT64_C(12400000000), UINT64_C(13500000000), "12.4 of 13.5 GB"},
        {UINT64_C(13499999999), UINT64_C(13500000000), "13.4 of 13.5 GB"},
        {UINT64_C(13510000000), UINT64_C(13520000000), "13510000000 of 13520000000 bytes"},
        {67800, 134600, "67.8 of 134.6 kB"},
        {0, 5, "0 of 5 bytes"},
        {1, UINT64_C(1) << 62, "0.0 of 4611686018.4 GB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        vram_part_text(text, sizeof text, cases[i].part, cases[i].whole);
        assert_string_equal(text, cases[i].text);
    }
}

static void test_limits(void **state)
{
    (void)state;
    const char *two = "{'a':{'dtype':'U8','shape':[1],'data_offsets':[0,1]},"
                      "'b':{'dtype':'U8','shape':[1],'data_offsets':[1,2]}}";
    struct vram_file file;
    for (int i = 0; i < 2; i++) {
        struct world w;
        world_begin(&w);
        struct vram_tensors tensors = {0};
        *(i ? &w.limits.tensors : &w.limits.bytes_total) = 1;
        assert_int_equal(parse(&w, two, 2, &tensors, &file), VRAM_E_LIMIT);
        assert_non_null(strstr(w.error.text, i ? "more than 1 tensors" : "take 2 bytes"));
        world_end(&w);
    }
}

/* Offsets in the worst order for a sort, names that are long and alike: must stay fast. */
static void test_many_tensors_backwards(void **state)
{
    (void)state;
    enum { N = 20000 };
    static char header[N * 120];
    size_t n = 0;
    header[n++] = '{';
    for (unsigned i = N; i-- > 0;)
        n += (size_t)snprintf(header + n, 120,
                              "'aaaaaaaaaaaaaaaaaaaaaaaa.%u':{'dtype':'U8','shape':[1],"
                              "'data_offsets':[%u,%u]}%s", i, i, i + 1, i ? "," : "}");
    header[n] = 0;
    requote(header, '\'');
    struct world w;
    world_begin(&w);
    struct vram_tensors tensors = {0};
    struct vram_file file;
    assert_int_equal(parse_size(&w, header, n, N, &tensors, &file), 0);
    assert_int_equal(tensors.n, N);
    assert_true(w.arena.used < 4 * n);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_nul_padding),
        cmocka_unit_test(test_lengths_and_other_kinds),
        cmocka_unit_test(test_every_dtype),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_parts_in_words),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_many_tensors_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
