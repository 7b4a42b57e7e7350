/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening files: which links are followed, what is refused without waiting, what is read.
 */
#include "helper.h"

#include <sys/stat.h>

#include "kind.h"
#include "source.h"

static enum vram_presence look(struct world *w, const char *folder, const char *name)
{
    struct vram_folder f;
    struct vram_source source;
    enum vram_presence presence;
    world_begin(w);
    assert_int_equal(vram_folder_open(&w->cx, folder, "", &f), 0);
    assert_int_equal(vram_source_open(&w->cx, &f, name, &source, &presence), 0);
    if (presence == VRAM_PRESENT)
        vram_source_close(&source);
    return presence;
}

static void test_bare_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n;
        bool bare;
    } cases[] = {{"model.safetensors", 17, true}, {"..x", 3, true}, {"", 0, false}, {".", 1, false},
                 {"..", 2, false}, {"a/b", 3, false}, {"/a", 2, false}, {"a\0b", 3, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(vram_name_is_bare(cases[i].name, cases[i].n), cases[i].bare);
    char longest[300];
    memset(longest, 'x', sizeof longest);
    assert_true(vram_name_is_bare(longest, 255));
    assert_false(vram_name_is_bare(longest, 256));
}

static void test_links(void **state)
{
    (void)state;
    struct world w;
    char *top = make_folder();
    put_folder(top, "model");
    put_folder(top, "model/sub");
    put_folder(top, "models-not-a-cache");
    put_text(top, "outside", "x");
    put_text(top, "model/inside", "x");
    put_text(top, "model/sub/deep", "x");
    put_text(top, "model-twin", "x"); /* begins like the folder's name */
    put_link(top, "model/to-inside", "inside");
    put_link(top, "model/to-deep", "sub/deep");
    put_link(top, "model/round-about", "../model/inside");
    put_link(top, "model/to-outside", "../outside");
    put_link(top, "model/to-twin", "../model-twin");
    put_link(top, "model/to-etc", "/etc/passwd");
    put_link(top, "model/to-link-out", "to-outside");
    put_link(top, "model/nowhere", "gone");
    put_link(top, "model/loop", "loop");
    static const struct {
        const char *name;
        enum vram_presence presence;
    } cases[] = {{"inside", VRAM_PRESENT},      {"to-inside", VRAM_PRESENT},
                 {"to-deep", VRAM_PRESENT},     {"round-about", VRAM_PRESENT},
                 {"to-outside", VRAM_ESCAPING}, {"to-twin", VRAM_ESCAPING},
                 {"to-etc", VRAM_ESCAPING},     {"to-link-out", VRAM_ESCAPING},
                 {"nowhere", VRAM_DANGLING},    {"loop", VRAM_DANGLING},
                 {"absent", VRAM_ABSENT}};
    char model[600];
    strcpy(model, at(top, "model"));
    put_link(top, "alias", "model"); /* the folder itself may be reached through a link */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int alias = 0; alias < 2; alias++) {
            enum vram_presence found = look(&w, alias ? at(top, "alias/") : model, cases[i].name);
            if (found != cases[i].presence)
                fail_msg("%s: %d, expected %d", cases[i].name, (int)found, (int)cases[i].presence);
            world_end(&w);
        }
    }
    remove_folder(top);
}

static void test_hub_cache(void **state)
{
    (void)state;
    struct world w;
    char *top = make_folder();
    put_folder(top, "models--a--b");
    put_folder(top, "models--a--b/blobs");
    put_folder(top, "models--a--b/snapshots");
    put_folder(top, "models--a--b/snapshots/123");
    put_folder(top, "models--c--d");
    put_folder(top, "models--c--d/blobs");
    put_text(top, "models--a--b/blobs/x", "x");
    put_text(top, "models--c--d/blobs/x", "x");
    put_link(top, "models--a--b/snapshots/123/own", "../../blobs/x");
    put_link(top, "models--a--b/snapshots/123/gone", "../../blobs/y");
    put_link(top, "models--a--b/snapshots/123/other", "../../../models--c--d/blobs/x");
    char snapshot[600];
    strcpy(snapshot, at(top, "models--a--b/snapshots/123"));
    assert_int_equal(look(&w, snapshot, "own"), VRAM_PRESENT);
    world_end(&w);
    assert_int_equal(look(&w, snapshot, "gone"), VRAM_DANGLING);
    world_end(&w);
    assert_int_equal(look(&w, snapshot, "other"), VRAM_ESCAPING);
    world_end(&w);
    remove_folder(top);
}

/* a pipe would block a careless open for ever */
static void test_what_is_no_regular_file(void **state)
{
    (void)state;
    char *top = make_folder();
    assert_int_equal(mkfifo(at(top, "pipe"), 0600), 0);
    put_folder(top, "folder");
    static const struct {
        const char *name, *text;
    } cases[] = {{"pipe", "not a regular file"}, {"folder", "a folder, not a file"}};
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        struct vram_folder f;
        struct vram_source source;
        enum vram_presence presence;
        world_begin(&w);
        assert_int_equal(vram_folder_open(&w.cx, top, "", &f), 0);
        assert_int_equal(vram_source_open(&w.cx, &f, cases[i].name, &source, &presence), VRAM_E_IO);
        assert_string_equal(w.error.where, cases[i].name);
        assert_non_null(strstr(w.error.text, cases[i].text));
        world_end(&w);
    }
    remove_folder(top);
}

static void test_reading(void **state)
{
    (void)state;
    struct world w;
    struct vram_folder f;
    struct vram_source source;
    enum vram_presence presence;
    struct vram_buffer buffer = {0};
    char *top = make_folder();
    put_text(top, "t", "0123456789");
    struct vram_cx *cx = world_begin(&w);
    assert_int_equal(vram_folder_open(cx, at(top, "///"), "../", &f), 0);
    assert_string_equal(f.path, top);
    assert_int_equal(vram_source_open(cx, &f, "t", &source, &presence), 0);
    assert_string_equal(source.name, "../t");
    assert_int_equal(source.size, 10);
    char part[4] = "";
    assert_int_equal(vram_source_read(cx, &source, 3, part, 3), 0);
    assert_string_equal(part, "345");
    assert_int_equal(vram_source_json(cx, &source, &buffer), 0);
    assert_memory_equal(buffer.at, "0123456789", 10);
    w.limits.json_bytes = 9;
    assert_int_equal(vram_source_json(cx, &source, &buffer), VRAM_E_LIMIT);
    assert_string_equal(w.error.where, "../t");
    world_end(&w);
    cx = world_begin(&w);
    assert_int_equal(vram_source_read(cx, &source, 8, part, 3), VRAM_E_IO);
    assert_int_equal(w.error.offset, 10);
    vram_source_close(&source);
    vram_buffer_free(&buffer);
    world_end(&w);
    remove_folder(top);
}

static void test_names_are_shown_harmlessly(void **state)
{
    (void)state;
    struct world w;
    assert_int_equal(look(&w, ".", "\x1b[2Jx"), VRAM_ABSENT);
    world_end(&w);
}

static void test_kinds_have_words(void **state)
{
    (void)state;
    const struct vram_kind *kind;
    size_t n = 0;
    for (; (kind = vram_kind_row(n)); n++)
        assert_true(kind->name[0] && kind->is[0] && kind->advice[0]);
    assert_true(n >= 9);
    assert_null(vram_kind_of("\x01\x02\x03", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bare_names),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_hub_cache),
        cmocka_unit_test(test_what_is_no_regular_file),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_names_are_shown_harmlessly),
        cmocka_unit_test(test_kinds_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
