/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists that name modules: ends, short names, expressions, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "train/names.h"

static const char q[] = "model.layers.3.self_attn.q_proj", up[] = "model.layers.12.mlp.up_proj",
                  fused[] = "transformer.h.3.attn.c_attn", tower[] = "vision_tower.encoder.layers.3.self_attn.q_proj";

static const struct {
    const char *list, *path;
    bool tails;
    size_t item; /* the first that means the path; the number of items when none does */
} rows[] = {
    {"q_proj", q, false, 0},
    {"k_proj,q_proj", q, false, 1},
    {"q", q, false, 0},
    {"self_attn.q_proj", q, false, 0},
    {"attn.q_proj", q, false, 1},
    {"proj", q, false, 1},
    {"k,v,,o", q, false, 3},
    {".*q_proj", q, false, 0},
    {".*(q|k)_proj", q, false, 0},
    {"q_pro[j]", q, false, 1},
    {"q_pro[j]", q, true, 0},
    {"layers\\.[0-9]\\..*", q, true, 0},
    {"layers\\.\\d+\\.mlp\\.(gate|up)_proj", up, true, 0},
    {"^(?!.*vision).*q_proj$", q, false, 0},
    {"^(?!.*vision).*q_proj$", tower, false, 1},
    {"layers.3.self_attn.q_proj", tower, false, 0},
    {"", q, false, 0},
    {"o,v", fused, false, 1},
    {"o,c", fused, false, 2},
    {"k", "layers.0.attention.wqkv", false, 0},
    {"up", "layers.0.mlp.gate_up_proj", false, 0},
};

struct world {
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_findings findings;
    vram_error error;
    struct vram_cx cx;
};

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    vram_arena_init(&w->arena, 1 << 24);
    w->cx = (struct vram_cx){&w->arena, &w->syms, NULL, &w->findings, &w->error};
}

static void meanings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        struct vram_names names;
        size_t item;
        begin(&w);
        assert_int_equal(vram_names_read(&w.cx, "lora.targets", rows[i].list, rows[i].tails, &names), 0);
        assert_int_equal(vram_names_find(&w.cx, &names, rows[i].path, &item), 0);
        if (item != rows[i].item)
            fail_msg("%s on %s: item %zu", rows[i].list, rows[i].path, item);
        vram_arena_finish(&w.arena);
    }
}

static void refused(void **state)
{
    struct world w;
    struct vram_names names;
    size_t item;
    char path[200], list[5000];
    (void)state;
    begin(&w);
    assert_int_equal(vram_names_read(&w.cx, "lora.targets", "a,q_(proj", false, &names), VRAM_E_ARGUMENT);
    assert_non_null(strstr(w.error.text, "lora.targets: 'q_(proj' is no name and no expression"));
    w.error = (vram_error){.code = VRAM_OK}; /* the first error stays until it is read */
    memset(list, '(', sizeof list - 1);
    list[sizeof list - 1] = 0;
    assert_int_equal(vram_names_read(&w.cx, "lora.targets", list, false, &names), VRAM_E_LIMIT);
    w.error = (vram_error){.code = VRAM_OK};
    /* backtracking without end */
    memset(path, 'a', sizeof path - 1);
    memcpy(path + sizeof path - 3, "b!", 3); /* the last letter is there, but not at the end */
    assert_int_equal(vram_names_read(&w.cx, "lora.targets", "(a|aa|a?)+b", false, &names), 0);
    assert_int_equal(vram_names_find(&w.cx, &names, path, &item), VRAM_E_LIMIT);
    assert_non_null(strstr(w.error.text, "takes too long"));
    vram_arena_finish(&w.arena);
}

/* The n-th request for memory fails, for every n. */
static void memory(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct world w;
        struct vram_names names;
        size_t item = 0;
        begin(&w);
        vram_fail_after(n);
        int code = vram_names_read(&w.cx, "lora.targets", ".*(q|k)_proj", false, &names);
        if (!code)
            code = vram_names_find(&w.cx, &names, q, &item);
        vram_fail_after(0);
        vram_arena_finish(&w.arena);
        if (!code) {
            assert_int_equal(item, 0);
            return;
        }
        assert_int_equal(code, VRAM_E_NOMEM);
        assert_true(n < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(meanings), cmocka_unit_test(refused),
                                       cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
