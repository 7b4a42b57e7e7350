/* SPDX-License-Identifier: Apache-2.0
 *
 * The ONNX loader on files made byte by byte: errors with their bytes, what the skimmer passes over,
 * payloads in every encoding, external data, gzip, and memory that runs out.
 */
#include "helper.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "ir/print_onnx.h"
#include "onnx/onnx.h"
#include "wire.h"

static struct wire wire;

static int load_block(struct world *w, struct vram_onnx *m)
{
    unsigned char *exact = malloc(wire.n ? wire.n : 1); /* one byte too far is seen */
    assert_non_null(exact);
    memcpy(exact, wire.at, wire.n);
    int rc = vram_onnx_load_block(world_begin(w), "m.onnx", exact, wire.n, m);
    free(exact);
    return rc;
}

static void must(struct world *w, struct vram_onnx *m)
{
    if (load_block(w, m))
        fail_msg("%s @%llu: %s", w->error.where, (unsigned long long)w->error.offset, w->error.text);
}

static void refused(int code, uint64_t offset, const char *where, const char *text)
{
    struct world w;
    struct vram_onnx m;
    int rc = load_block(&w, &m);
    if (rc != code || w.error.code != code || w.error.offset != offset || strcmp(w.error.where, where) ||
        !strstr(w.error.text, text))
        fail_msg("%s @%llu %s: %s; expected %s @%llu %s: %s", vram_code_name(rc), (unsigned long long)w.error.offset,
                 w.error.where, w.error.text, vram_code_name(code), (unsigned long long)offset, where, text);
    world_end(&w);
}

/* ---- wire ---- */

static void small(void)
{
    w_model(&wire);
    w_node(&wire, "Relu", "x", "y");
    w_value(&wire, 11, "x");
    w_value(&wire, 12, "y");
}

static void test_ordinary(void **state)
{
    (void)state;
    struct world w;
    struct vram_onnx m;
    small();
    w_finish(&wire);
    must(&w, &m);
    assert_int_equal(w.findings.n, 0);
    assert_int_equal(m.ir_version, 8);
    assert_int_equal(m.file_bytes, wire.n);
    assert_int_equal(m.nodes.n, 2);
    assert_int_equal(m.nodes.at[1].version, 18);
    assert_int_equal(m.nodes.at[1].offset, 4); /* 08 08, 3a and a length */
    assert_int_equal(m.graphs.at[1].inputs.n, 1);
    assert_int_equal(m.edges.at[m.nodes.at[1].in.first], m.edges.at[m.graphs.at[1].inputs.first]);
    assert_int_equal(m.values.at[m.edges.at[m.graphs.at[1].outputs.first]].producer, 1);
    world_end(&w);
}

/* Every file that is cut short is refused, at a byte that it has or would have next. */
static void test_cut(void **state)
{
    (void)state;
    small();
    w_finish(&wire);
    size_t whole = wire.n;
    for (wire.n = 0; wire.n < whole; wire.n++) {
        struct world w;
        struct vram_onnx m;
        int rc = load_block(&w, &m);
        if (wire.n == whole - 4) { /* all but the opset: a model, with a finding */
            assert_int_equal(rc, 0);
            assert_int_equal(world_found(&w, VRAM_F_ONNX_OPSET), 1);
        } else {
            assert_int_equal(rc, VRAM_E_FORMAT);
            assert_true(w.error.offset <= wire.n);
        }
        world_end(&w);
    }
}

static void raw(const char *bytes, size_t n)
{
    memcpy(wire.at, bytes, n);
    wire.n = n;
    wire.depth = 0;
}

static void test_wire_errors(void **state)
{
    (void)state;
    raw("\x08\x08\x00", 3);
    refused(VRAM_E_FORMAT, 2, "m.onnx", "field number 0");
    raw("\x08\x08\x3f", 3);
    refused(VRAM_E_FORMAT, 2, "m.onnx", "wire type 7");
    raw("\x0a\x01x", 3);
    refused(VRAM_E_FORMAT, 0, "m.onnx", "ir_version of ModelProto has wire type 2");
    raw("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
    refused(VRAM_E_FORMAT, 1, "m.onnx", "more than 10 bytes");
    raw("\x08\x08\x3a\x7f\x0a", 5);
    refused(VRAM_E_FORMAT, 3, "m.onnx", "127 bytes are promised, the file ends at byte 5");
    raw("\x3a\x04\x0a\x09\x0a\x01x", 7);
    refused(VRAM_E_FORMAT, 3, "m.onnx", "runs past the end of the message around it, byte 6");
    raw("\x08\x08\x5c", 3); /* an end of a group */
    refused(VRAM_E_FORMAT, 2, "m.onnx", "did not begin");
    raw("\xfb\x07\x08\x01", 4); /* a group without an end */
    refused(VRAM_E_FORMAT, 4, "m.onnx", "no end");
    raw("", 0);
    refused(VRAM_E_FORMAT, 0, "m.onnx", "an empty file");
    raw("version https://git-lfs.github.com/spec/v1\n", 43);
    refused(VRAM_E_FORMAT, 0, "m.onnx", "git lfs pull");
    raw("\x02\0\0\0\0\0\0\0{}", 10);
    refused(VRAM_E_FORMAT, 0, "m.onnx", "a safetensors file");
    raw("\x08\x08", 2);
    refused(VRAM_E_FORMAT, 2, "m.onnx", "without a graph");
}

static void test_passed_over(void **state)
{
    (void)state;
    struct world w;
    struct vram_onnx m;
    small();
    w_int(&wire, 500, 7);                           /* unknown fields */
    w_bytes(&wire, 600, "abc", 3);
    memcpy(wire.at + wire.n, "\xfb\x07\x08\x01\xfc\x07", 6); /* and a group */
    wire.n += 6;
    w_text(&wire, 10, "documentation");
    w_finish(&wire);
    w_begin(&wire, 20); /* training_info, whatever is in it */
    w_bytes(&wire, 1, "\xff\xff\xff", 3);
    w_end(&wire);
    must(&w, &m);
    assert_int_equal(w.findings.n, 1);
    assert_int_equal(world_found(&w, VRAM_F_ONNX_TRAINING), 1);
    world_end(&w);
}

static void test_depth(void **state)
{
    (void)state;
    for (int levels = 30; levels <= 40; levels += 10) {
        struct world w;
        struct vram_onnx m;
        w_model(&wire);
        for (int i = 0; i < levels; i++) { /* node, attribute, graph */
            w_begin(&wire, 1);
            w_text(&wire, 4, "If");
            w_text(&wire, 2, "o");
            w_begin(&wire, 5);
            w_text(&wire, 1, "then_branch");
            w_begin(&wire, 6);
        }
        for (int i = 0; i < 3 * levels; i++)
            w_end(&wire);
        w_finish(&wire);
        int rc = load_block(&w, &m);
        assert_int_equal(rc, levels == 30 ? 0 : VRAM_E_LIMIT);
        if (levels == 30)
            assert_int_equal(m.graphs.n, 32);
        else
            assert_non_null(strstr(w.error.text, "more than 100 levels"));
        world_end(&w);
    }
}

/* A graph that stands twice is one, as protobuf merges it; names with a NUL or not UTF-8 stay apart. */
static void test_merged(void **state)
{
    (void)state;
    struct world w;
    struct vram_onnx m;
    w_model(&wire);
    w_node(&wire, "Relu", "x", "y");
    w_value(&wire, 11, "x");
    w_finish(&wire);
    w_begin(&wire, 7);
    w_begin(&wire, 1);
    w_text(&wire, 1, "y");
    w_bytes(&wire, 2, "y\0z", 3);
    w_bytes(&wire, 2, "\xff\xfe", 2);
    w_text(&wire, 4, "Split");
    w_end(&wire);
    w_value(&wire, 12, "y");
    w_end(&wire);
    must(&w, &m);
    assert_int_equal(m.nodes.n, 3);
    assert_int_equal(world_found(&w, VRAM_F_ONNX_GRAPH_TWICE), 1);
    assert_int_equal(world_found(&w, VRAM_F_ONNX_NAME), 1);
    uint32_t out = m.edges.at[m.nodes.at[2].out.first];
    assert_string_equal(vram_sym_text(&w.syms, m.values.at[out].name), "y\xc0\x80z");
    world_end(&w);
}

/* ---- tensors ---- */

static void tensor_begin(int dtype, int64_t dim)
{
    w_model(&wire);
    w_begin(&wire, 5);
    w_text(&wire, 8, "t");
    w_int(&wire, 2, (uint64_t)dtype);
    if (dim != INT64_MIN)
        w_int(&wire, 1, (uint64_t)dim);
}

static void tensor_end(void)
{
    w_end(&wire);
    w_value(&wire, 12, "t");
    w_finish(&wire);
}

static const struct vram_onnx_tensor *the_tensor(struct world *w, struct vram_onnx *m)
{
    tensor_end();
    must(w, m);
    assert_int_equal(m->tensors.n, 2);
    return &m->tensors.at[1];
}

static void test_raw(void **state)
{
    (void)state;
    /* values of the elements as onnx.numpy_helper has them for these bytes */
    static const struct {
        int dtype;
        int64_t n;
        const char *bytes;
        size_t size;
        double values[4];
    } rows[] = {
        {7, 2, "\xff\xff\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\0\0\0", 16, {-1, 2}},
        {22, 3, "\x1f\x08", 2, {-1, 1, -8}},      /* int4 */
        {21, 3, "\x1f\x08", 2, {15, 1, 8}},       /* uint4 */
        {26, 4, "\xe4", 1, {0, 1, -2, -1}},       /* int2 */
        {25, 4, "\xe4", 1, {0, 1, 2, 3}},         /* uint2 */
        {23, 2, "\x7b", 1, {-1.5, 6}},            /* float4e2m1: b = -1.5, 7 = 6 */
        {10, 2, "\x00\x3c\x00\xc0", 4, {1, -2}},  /* float16 */
        {16, 2, "\x80\x3f\x00\xc0", 4, {1, -2}},  /* bfloat16 */
        {17, 2, "\x38\xfe", 2, {1, -448}},        /* float8e4m3fn */
        {18, 2, "\x40\x80", 2, {1, NAN}},         /* float8e4m3fnuz */
        {19, 2, "\x3c\xfc", 2, {1, -INFINITY}},   /* float8e5m2 */
        {20, 2, "\x40\x80", 2, {1, NAN}},         /* float8e5m2fnuz */
        {24, 2, "\x7f\x80", 2, {1, 2}},           /* float8e8m0 */
        {9, 2, "\x01\x00", 2, {1, 0}},
        {12, 1, "\xff\xff\xff\xff", 4, {4294967295.0}},
        {1, 1, "\0\0\x80\x3f", 4, {1}},
        {11, 1, "\0\0\0\0\0\0\xf0\xbf", 8, {-1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        struct vram_onnx m;
        tensor_begin(rows[i].dtype, rows[i].n);
        w_bytes(&wire, 9, rows[i].bytes, rows[i].size);
        const struct vram_onnx_tensor *t = the_tensor(&w, &m);
        assert_int_equal(t->bytes, rows[i].size);
        for (uint64_t k = 0; k < t->elements; k++) {
            double x, want = rows[i].values[k];
            assert_true(vram_onnx_real(t, k, &x));
            if (!(x == want || (isnan(x) && isnan(want))))
                fail_msg("dtype %d element %d: %g, not %g", rows[i].dtype, (int)k, x, want);
        }
        double beyond;
        assert_false(vram_onnx_real(t, t->elements, &beyond));
        world_end(&w);
    }
}

/* 6-bit elements: packed four in three bytes raw, one an entry in int32_data; both mean the same. */
static void test_six_bits(void **state)
{
    (void)state;
    static const unsigned codes[5] = {31, 8, 33, 63, 1};
    static const double values[5] = {7.5, 1, -0.125, -7.5, 0.125}; /* e2m3, bias 1 */
    for (int packed = 0; packed < 2; packed++) {
        struct world w;
        struct vram_onnx m;
        tensor_begin(27, 5);
        if (packed) {
            uint64_t bits = 0;
            for (unsigned i = 0; i < 5; i++)
                bits |= (uint64_t)codes[i] << (6 * i);
            w_bytes(&wire, 9, &bits, 4);
        } else {
            for (unsigned i = 0; i < 5; i++)
                w_int(&wire, 5, codes[i]);
        }
        const struct vram_onnx_tensor *t = the_tensor(&w, &m);
        assert_int_equal(t->bytes, 4);
        for (unsigned i = 0; i < 5; i++) {
            double x;
            assert_true(vram_onnx_real(t, i, &x));
            assert_true(x == values[i]);
        }
        world_end(&w);
    }
}

static void test_typed(void **state)
{
    (void)state;
    struct world w;
    struct vram_onnx m;
    int64_t x;
    tensor_begin(7, 3); /* int64_data, once alone and once packed */
    w_int(&wire, 7, (uint64_t)-5);
    w_bytes(&wire, 7, "\x01\x80\x01", 3);
    const struct vram_onnx_tensor *t = the_tensor(&w, &m);
    assert_true(vram_onnx_integer(t, 0, &x) && x == -5);
    assert_true(vram_onnx_integer(t, 1, &x) && x == 1);
    assert_true(vram_onnx_integer(t, 2, &x) && x == 128);
    world_end(&w);
    tensor_begin(22, 3); /* int4: a byte an entry */
    w_bytes(&wire, 5, "\x1f\x08", 2);
    t = the_tensor(&w, &m);
    assert_true(vram_onnx_integer(t, 2, &x) && x == -8);
    world_end(&w);
    tensor_begin(8, 2); /* strings: their text counts */
    w_text(&wire, 6, "abc");
    w_text(&wire, 6, "");
    t = the_tensor(&w, &m);
    assert_int_equal(t->bytes, 3);
    assert_null(t->data);
    world_end(&w);
}

/* Payloads above the limit: their length is known, nothing of them is kept. */
static void test_large(void **state)
{
    (void)state;
    static unsigned char zeros[40000];
    for (int typed = 0; typed < 2; typed++)
        for (int64_t n = 4096; n <= 4097; n++) {
            struct world w;
            struct vram_onnx m;
            tensor_begin(typed ? 3 : 2, n); /* int8, uint8 */
            w_bytes(&wire, typed ? 5 : 9, zeros, (size_t)n);
            const struct vram_onnx_tensor *t = the_tensor(&w, &m);
            assert_int_equal(t->bytes, n);
            assert_int_equal(t->stored, n);
            assert_true((t->data != NULL) == (n == 4096));
            world_end(&w);
        }
    struct world w;
    struct vram_onnx m;
    tensor_begin(1, 10000); /* floats: whole bytes are counted though they are passed over */
    w_bytes(&wire, 4, zeros, 40000);
    assert_int_equal(the_tensor(&w, &m)->bytes, 40000);
    world_end(&w);
    tensor_begin(1, 9999);
    size_t at = wire.open[1];
    w_bytes(&wire, 4, zeros, 40000);
    tensor_end();
    refused(VRAM_E_FORMAT, at + 3 + 3 /* two lengths */, "m.onnx: tensor 't'", "float_data has 10000 entries, its dimensions make 9999");
}

static void test_tensor_errors(void **state)
{
    (void)state;
    static const struct {
        int dtype;
        int64_t dims[3];
        int raw, code;
        const char *text;
    } rows[] = {
        {1, {2}, 4, VRAM_E_FORMAT, "raw_data has 4 bytes, its dimensions and type make 8"},
        {1, {2}, 64, VRAM_E_FORMAT, "raw_data has 64 bytes"},
        {1, {-1}, 4, VRAM_E_FORMAT, "dimension 0 is negative"},
        {0, {1}, 4, VRAM_E_FORMAT, "undefined"},
        {99, {1}, 4, VRAM_E_FORMAT, "data type 99"},
        {8, {1}, 4, VRAM_E_FORMAT, "strings cannot be in raw_data"},
        {1, {INT64_MAX}, 4, VRAM_E_RANGE, "out of range"},
        {1, {INT64_C(1) << 32, INT64_C(1) << 32}, 4, VRAM_E_RANGE, "out of range"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const char zeros[64];
        tensor_begin(rows[i].dtype, rows[i].dims[0]);
        size_t at = wire.open[1];
        if (rows[i].dims[1])
            w_int(&wire, 1, (uint64_t)rows[i].dims[1]);
        w_bytes(&wire, 9, zeros, (size_t)rows[i].raw);
        tensor_end();
        refused(rows[i].code, at + 2 /* two lengths */, "m.onnx: tensor 't'", rows[i].text);
    }
    tensor_begin(7, 2); /* an int64 in float_data */
    w_bytes(&wire, 4, "\0\0\0\0\0\0\0\0", 8);
    tensor_end();
    refused(VRAM_E_FORMAT, 6, "m.onnx: tensor 't'", "are in float_data, they belong into int64_data");
}

static void test_tensor_findings(void **state)
{
    (void)state;
    struct world w;
    struct vram_onnx m;
    tensor_begin(1, 1);
    w_bytes(&wire, 9, "\0\0\x80\x3f", 4);
    w_bytes(&wire, 4, "\0\0\0\0", 4);
    the_tensor(&w, &m);
    assert_int_equal(world_found(&w, VRAM_F_ONNX_DATA_TWICE), 1);
    world_end(&w);
    tensor_begin(1, 1000); /* saved without its weights */
    const struct vram_onnx_tensor *t = the_tensor(&w, &m);
    assert_int_equal(t->bytes, 4000);
    assert_int_equal(t->place, VRAM_ONNX_NOWHERE);
    assert_int_equal(world_found(&w, VRAM_F_ONNX_NO_DATA), 1);
    world_end(&w);
    tensor_begin(1, 0); /* no elements, whatever the other dimension is */
    w_int(&wire, 1, INT64_MAX);
    assert_int_equal(the_tensor(&w, &m)->bytes, 0);
    assert_int_equal(w.findings.n, 0);
    world_end(&w);
}

/* ---- files ---- */

static void external_model(const char *location, const char *offset, const char *length)
{
    const char *pairs[3][2] = {{"location", location}, {"offset", offset}, {"length", length}};
    tensor_begin(1, 2);
    for (int i = 0; i < 3; i++)
        if (pairs[i][1]) {
            w_begin(&wire, 13);
            w_text(&wire, 1, pairs[i][0]);
            w_text(&wire, 2, pairs[i][1]);
            w_end(&wire);
        }
    w_int(&wire, 14, 1);
    tensor_end();
}

static int load_file(struct world *w, const char *folder, struct vram_onnx *m)
{
    put_file(folder, "m.onnx", wire.at, wire.n);
    return vram_onnx_load(world_begin(w), at(folder, "m.onnx"), m);
}

static void test_external(void **state)
{
    (void)state;
    static const struct {
        const char *location, *offset, *length, *text;
    } errors[] = {
        {"../w.bin", NULL, NULL, "leaves the model's folder"},
        {"sub/../../w.bin", NULL, NULL, "leaves the model's folder"},
        {"/w.bin", NULL, NULL, "absolute or has a backslash"},
        {"..\\w.bin", NULL, NULL, "absolute or has a backslash"},
        {"C:w.bin", NULL, NULL, "absolute or has a backslash"},
        {"*/_ORT_MEM_ADDR_/*", NULL, NULL, "another program's memory"},
        {NULL, NULL, NULL, "without a location"},
        {"w.bin", "-1", NULL, "offset of external data must be a whole number"},
        {"w.bin", "9223372036854775807", "8", "overflow"},
        {"w.bin", "4", "7", "length of external data is 7 bytes, its dimensions and type make 8"},
        {"w.bin", "4", "x", "length of external data must be a whole number"},
        {"sub", NULL, NULL, "this is a folder"},
        {"out.bin", NULL, NULL, "a link out of the model's folder"},
    };
    char *folder = make_folder(), *other = make_folder();
    struct world w;
    struct vram_onnx m;
    put_file(folder, "w.bin", "\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12);
    put_folder(folder, "sub");
    put_file(folder, "sub/w.bin", "\0\0\x80\x3f\0\0\0\x40", 8);
    put_file(other, "w.bin", "\0\0\x80\x3f\0\0\0\x40", 8);
    char target[600];
    snprintf(target, sizeof target, "%s/w.bin", other);
    put_link(folder, "out.bin", target);
    put_link(folder, "in.bin", "sub/w.bin");
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        external_model(errors[i].location, errors[i].offset, errors[i].length);
        assert_int_not_equal(load_file(&w, folder, &m), 0);
        if (!strstr(w.error.text, errors[i].text))
            fail_msg("%zu: %s", i, w.error.text);
        world_end(&w);
    }
    static const char *const good[][2] = {{"w.bin", "4"}, {"sub/w.bin", "0"}, {"./sub/w.bin", NULL}, {"in.bin", NULL}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double x;
        external_model(good[i][0], good[i][1], NULL);
        if (load_file(&w, folder, &m))
            fail_msg("%s: %s", w.error.where, w.error.text);
        assert_int_equal(w.findings.n, 0);
        assert_int_equal(m.tensors.at[1].place, VRAM_ONNX_EXTERNAL);
        assert_true(vram_onnx_real(&m.tensors.at[1], 1, &x) && x == 2);
        world_end(&w);
    }
    external_model("none.bin", NULL, NULL);
    assert_int_equal(load_file(&w, folder, &m), 0);
    assert_int_equal(world_found(&w, VRAM_F_ONNX_EXTERNAL_MISSING), 1);
    assert_int_equal(m.tensors.at[1].bytes, 8);
    assert_int_equal(m.tensors.at[1].place, VRAM_ONNX_NOWHERE);
    world_end(&w);
    external_model("w.bin", "8", NULL);
    assert_int_equal(load_file(&w, folder, &m), 0);
    assert_int_equal(world_found(&w, VRAM_F_ONNX_EXTERNAL_SHORT), 1);
    world_end(&w);
    remove_folder(folder);
    remove_folder(other);
}

static void put_gzip(const char *folder, const char *name, const void *bytes, size_t n, size_t times)
{
    gzFile f = gzopen(at(folder, name), "wb");
    assert_non_null(f);
    for (size_t i = 0; i < times; i++)
        assert_int_equal(gzwrite(f, bytes, (unsigned)n), n);
    assert_int_equal(gzclose(f), Z_OK);
}

static void test_gzip(void **state)
{
    (void)state;
    static const unsigned char zeros[1 << 16];
    char *folder = make_folder();
    struct world w;
    struct vram_onnx m;
    small();
    w_finish(&wire);
    put_gzip(folder, "m.onnx.gz", wire.at, wire.n, 1);
    assert_int_equal(vram_onnx_load(world_begin(&w), at(folder, "m.onnx.gz"), &m), 0);
    assert_int_equal(m.nodes.n, 2);
    assert_int_equal(m.file_bytes, wire.n);
    world_end(&w);
    /* a field of 16 MB that does not matter, but unpacks from 16 KB */
    raw("\x32\x80\x80\x80\x08", 5);
    gzFile f = gzopen(at(folder, "bomb.onnx"), "wb");
    assert_non_null(f);
    gzwrite(f, wire.at, (unsigned)wire.n);
    for (int i = 0; i < 256; i++)
        gzwrite(f, zeros, sizeof zeros);
    gzclose(f);
    assert_int_equal(vram_onnx_load(world_begin(&w), at(folder, "bomb.onnx"), &m), VRAM_E_LIMIT);
    assert_non_null(strstr(w.error.text, "200 times"));
    world_end(&w);
    small();
    w_finish(&wire);
    put_gzip(folder, "cut.onnx", wire.at, wire.n - 6, 1);
    assert_int_equal(vram_onnx_load(world_begin(&w), at(folder, "cut.onnx"), &m), VRAM_E_FORMAT);
    world_end(&w);
    remove_folder(folder);
}

/* Weights are not read: a hole of 3 GB in the middle costs nothing, and all behind it is found. */
static void test_hole(void **state)
{
    (void)state;
    char *folder = make_folder();
    struct world w;
    struct vram_onnx m;
    uint64_t floats = UINT64_C(3) << 28, raw_bytes = floats * 4;
    struct wire tensor = {0}, tail = {0};
    w_text(&tensor, 8, "t");
    w_int(&tensor, 2, 1);
    w_int(&tensor, 1, floats);
    w_varint(&tensor, 9 << 3 | 2);
    w_varint(&tensor, raw_bytes);
    w_node(&tail, "Relu", "t", "y");
    w_value(&tail, 12, "y");
    wire.n = 0;
    w_int(&wire, 1, 8);
    w_varint(&wire, 7 << 3 | 2);
    w_varint(&wire, 1 + 5 + tensor.n + raw_bytes + tail.n);
    w_varint(&wire, 5 << 3 | 2);
    w_varint(&wire, tensor.n + raw_bytes);
    memcpy(wire.at + wire.n, tensor.at, tensor.n);
    wire.n += tensor.n;
    size_t head = wire.n;
    memcpy(wire.at + wire.n, tail.at, tail.n);
    wire.n += tail.n;
    w_begin(&wire, 8);
    w_int(&wire, 2, 18);
    w_end(&wire);
    FILE *f = fopen(at(folder, "m.onnx"), "wb");
    assert_non_null(f);
    fwrite(wire.at, 1, head, f);
    assert_int_equal(fseek(f, (long)raw_bytes, SEEK_CUR), 0);
    fwrite(wire.at + head, 1, wire.n - head, f);
    assert_int_equal(fclose(f), 0);
    if (vram_onnx_load(world_begin(&w), at(folder, "m.onnx"), &m))
        fail_msg("%s @%llu: %s", w.error.where, (unsigned long long)w.error.offset, w.error.text);
    assert_int_equal(m.tensors.at[1].bytes, raw_bytes);
    assert_int_equal(m.nodes.n, 2);
    assert_int_equal(m.file_bytes, raw_bytes + wire.n);
    assert_true(w.arena.used < 64 * 1024);
    world_end(&w);
    remove_folder(folder);
}

/* ---- memory ---- */

static void test_sweep(void **state)
{
    (void)state;
    w_model(&wire);
    for (int i = 0; i < 20; i++) {
        char in[8], out[8];
        snprintf(in, sizeof in, "v%d", i);
        snprintf(out, sizeof out, "v%d", i + 1);
        w_node(&wire, "Relu", in, out);
    }
    w_begin(&wire, 1);
    w_text(&wire, 1, "c");
    w_text(&wire, 2, "o");
    w_text(&wire, 4, "If");
    w_begin(&wire, 5);
    w_text(&wire, 1, "then_branch");
    w_begin(&wire, 6);
    w_node(&wire, "Neg", "v20", "n");
    w_value(&wire, 12, "n");
    w_end(&wire);
    w_end(&wire);
    w_end(&wire);
    w_value(&wire, 11, "v0");
    w_value(&wire, 11, "c");
    w_value(&wire, 12, "o");
    w_begin(&wire, 5);
    w_text(&wire, 8, "k");
    w_int(&wire, 2, 7);
    w_int(&wire, 7, 7);
    w_end(&wire);
    w_finish(&wire);
    for (uint64_t n = 1;; n++) {
        struct world w;
        struct vram_onnx m;
        world_begin(&w);
        vram_fail_after(n);
        int rc = vram_onnx_load_block(&w.cx, "m.onnx", wire.at, wire.n, &m);
        uint64_t made = vram_fail_after(0);
        assert_int_equal(rc, w.error.code);
        world_end(&w);
        if (made < n) {
            assert_int_equal(rc, 0);
            assert_true(n > 100);
            return;
        }
        assert_int_equal(rc, VRAM_E_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_wire_errors),   cmocka_unit_test(test_passed_over),
        cmocka_unit_test(test_depth),         cmocka_unit_test(test_merged),
        cmocka_unit_test(test_raw),           cmocka_unit_test(test_six_bits),
        cmocka_unit_test(test_typed),         cmocka_unit_test(test_large),
        cmocka_unit_test(test_tensor_errors), cmocka_unit_test(test_tensor_findings),
        cmocka_unit_test(test_external),      cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_hole),          cmocka_unit_test(test_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
