/* SPDX-License-Identifier: Apache-2.0
 *
 *     lora ROOT    adapter trees: what replaces what, in which order, and that nothing else changes
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "events.h"
#include "inner.h"

static const char *text(const struct inner *r, vram_sym sym) { return vram_sym_text(&r->syms, sym); }

static const char *class_of(const struct inner *r, uint32_t scope)
{
    uint32_t cls = r->tree.scopes[scope].cls;
    return text(r, r->tree.program->classes.at[cls].name);
}

static bool is_adapter(const char *path) { return strstr(path, ".lora_") != NULL; }

/* Every tree: parents before children, ranges nest, parameters are runs, numbers in range. */
static void well_formed(const struct inner *r)
{
    const struct vram_tree *t = &r->tree;
    uint32_t params = 0;
    for (uint32_t i = 0; i < t->nscopes; i++) {
        const struct vram_scope *s = &t->scopes[i], *p = &t->scopes[s->parent];
        assert_true(s->end > i && s->end <= t->nscopes);
        assert_true(i == 0 ? s->parent == 0 : s->parent < i && s->end <= p->end);
        assert_int_equal(s->first_param, params);
        params += s->nparams;
        assert_true(s->members + t->program->classes.at[s->cls].nmembers <= t->nmembers);
    }
    assert_int_equal(params, t->nparams);
    for (uint32_t i = 0; i < t->nparams; i++) {
        const struct vram_param *p = &t->params[i];
        const struct vram_scope *s = &t->scopes[p->scope];
        assert_true(i >= s->first_param && i < s->first_param + s->nparams);
        assert_true(p->tied_to == VRAM_NO_INDEX || (p->tied_to < t->nparams && p->tied_to != i));
    }
    for (uint32_t i = 0; i < t->nmembers; i++) {
        struct vram_value v = t->members[i];
        if (v.kind == VRAM_V_MODULE)
            assert_true(v.u.i >= 0 && v.u.i < t->nscopes);
        if (v.kind == VRAM_V_PARAM)
            assert_true(v.u.i >= 0 && v.u.i < t->nparams);
    }
    for (uint32_t i = 0; i < t->nlist_scopes; i++)
        assert_true(t->list_scopes[i] < t->nscopes);
}

/* Base weight (and bias), then A, then B, as PEFT registers them; shapes [r, in] and [out, r]. */
static uint32_t check_wrapped(const struct inner *r, uint32_t scope, int64_t rank)
{
    const struct vram_tree *t = &r->tree;
    const struct vram_scope *s = &t->scopes[scope];
    static const char *const below[] = {"base_layer", "lora_dropout", "lora_A", "lora_B"};
    uint32_t child = scope + 1, a = 0, b = 0;
    assert_int_equal(s->nparams, 0);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(text(r, t->scopes[child].name), below[i]);
        assert_int_equal(t->scopes[child].parent, scope);
        assert_int_equal(t->scopes[child].component, s->component);
        a = i == 2 ? t->scopes[child].first_param : a;
        b = i == 3 ? t->scopes[child].first_param : b;
        child = t->scopes[child].end;
    }
    assert_int_equal(child, s->end);
    const struct vram_param *w = &t->params[t->scopes[scope + 1].first_param];
    assert_true(w->rank == 2 && w < &t->params[a] && a < b);
    assert_int_equal(t->params[a].dims[0], rank);
    assert_int_equal(t->params[a].dims[1], w->dims[1]);
    assert_int_equal(t->params[b].dims[0], w->dims[0]);
    assert_int_equal(t->params[b].dims[1], rank);
    assert_int_equal(t->params[a].elements, (uint64_t)(rank * w->dims[1]));
    return 1;
}

struct expected {
    const char *config, *settings;
    uint32_t wrapped;
    int64_t rank;
};

static const struct expected rows[] = {
    {"tiny-qwen3", "train=lora lora.rank=4", 2 * 7, 4},
    {"tiny-qwen3", "train=lora lora.rank=4 lora.targets=q,v", 2 * 2, 4},
    {"tiny-qwen3", "train=lora lora.rank=1 lora.targets=gate_proj,layers.1.mlp.up_proj", 3, 1},
    {"tiny-llava-1.5", "train=frozen train.decoder=lora lora.rank=8", 2 * 7, 8},
    {"tiny-llava-1.5", "train=lora lora.rank=8", 2 * 7 + 2 * 6 + 2, 8},
    {"tiny-llava-1.5", "train=lora lora.rank=64 lora.targets=fc1,linear_1", 2 + 1, 64},
    {"tiny-paligemma", "train=full train.vision=lora lora.rank=2", 2 * 6, 2},
};

static void wrapped(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vram_model *model = open_config(rows[i].config);
        vram_plan *plan = plan_of(rows[i].settings);
        struct inner r;
        uint32_t n = 0;
        inner_adapt(&r, model, plan);
        well_formed(&r);
        for (uint32_t k = 0; k < r.tree.nscopes; k++)
            if (!strcmp(class_of(&r, k), "LoraLinear"))
                n += check_wrapped(&r, k, rows[i].rank);
        if (n != rows[i].wrapped)
            fail_msg("%s, %s: %u adapted", rows[i].config, rows[i].settings, (unsigned)n);
        assert_int_equal(r.tree.nparams, model->tree.nparams + 2 * n);
        assert_int_equal(r.tree.nscopes, model->tree.nscopes + 4 * n);
        inner_free(&r);
        vram_plan_free(plan);
        vram_model_free(model);
    }
}

/* What is not adapted stands in the same order with the same shapes, ties included. */
static void rest_unchanged(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vram_model *model = open_config(rows[i].config);
        vram_plan *plan = plan_of(rows[i].settings);
        struct inner r;
        uint32_t *map;
        inner_adapt(&r, model, plan);
        map = calloc(model->tree.nparams, sizeof *map);
        assert_non_null(map);
        for (uint32_t k = 0, old = 0; k < r.tree.nparams; k++) {
            const struct vram_param *p = &r.tree.params[k];
            if (is_adapter(text(&r, p->path)))
                continue;
            const struct vram_param *q = &model->tree.params[old];
            assert_int_equal(p->path, q->path);
            assert_int_equal(p->elements, q->elements);
            assert_ptr_equal(p->dims, q->dims);
            map[old++] = k;
        }
        for (uint32_t k = 0; k < model->tree.nparams; k++)
            if (model->tree.params[k].tied_to != VRAM_NO_INDEX)
                assert_int_equal(r.tree.params[map[k]].tied_to, map[model->tree.params[k].tied_to]);
        free(map);
        inner_free(&r);
        vram_plan_free(plan);
        vram_model_free(model);
    }
}

/* The frozen model is read only: a byte of it that changed would be seen by all threads. */
static void model_untouched(void **state)
{
    vram_model *model = open_config("tiny-llava-1.5");
    const struct vram_tree *t = &model->tree;
    struct vram_tree before = *t;
    size_t n[3] = {t->nscopes * sizeof *t->scopes, t->nparams * sizeof *t->params,
                   t->nmembers * sizeof *t->members};
    const void *at[3] = {t->scopes, t->params, t->members};
    void *copy[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        copy[i] = malloc(n[i]);
        assert_non_null(copy[i]);
        memcpy(copy[i], at[i], n[i]);
    }
    for (int rank = 1; rank <= 256; rank *= 4) { /* a sweep: each on the same model */
        char settings[96];
        struct inner r;
        snprintf(settings, sizeof settings, "train=lora seq=32 lora.rank=%d", rank);
        vram_plan *plan = plan_of(settings);
        inner_run(&r, model, plan, false);
        inner_free(&r);
        vram_plan_free(plan);
    }
    assert_memory_equal(&before, t, sizeof before);
    for (int i = 0; i < 3; i++) {
        assert_memory_equal(copy[i], at[i], n[i]);
        free(copy[i]);
    }
    vram_model_free(model);
}

/* Only the adapters train, in fp32, and what is trained grows by r·(in + out) a Linear. */
static void trained(void **state)
{
    vram_model *model = open_config("tiny-qwen3");
    uint64_t last = 0;
    (void)state;
    for (int rank = 1; rank <= 3; rank++) {
        char settings[96];
        struct inner r;
        uint64_t elements = 0;
        snprintf(settings, sizeof settings, "train=lora seq=32 lora.rank=%d precision=bf16", rank);
        vram_plan *plan = plan_of(settings);
        inner_run(&r, model, plan, false);
        for (uint32_t i = 0; i < r.tree.nparams; i++) {
            bool adapter = is_adapter(text(&r, r.tree.params[i].path));
            assert_int_equal(r.run.requires_grad[i], adapter);
            if (r.tree.params[i].tied_to == VRAM_NO_INDEX && !r.tree.params[i].buffer)
                assert_int_equal(r.run.dtype[i], adapter ? VRAM_DT_F32 : VRAM_DT_BF16);
            elements += adapter ? r.tree.params[i].elements : 0;
        }
        assert_int_equal(r.run.trainable, elements);
        /* hidden 64, heads 64 and 16, intermediate 128, two layers */
        assert_int_equal(elements - last, 2 * (2 * (64 + 64) + 2 * (64 + 16) + 3 * (64 + 128)));
        last = elements;
        inner_free(&r);
        vram_plan_free(plan);
    }
    vram_model_free(model);
}

static void no_target(void **state)
{
    vram_model *model = open_config("tiny-qwen3");
    vram_plan *plan = plan_of("train=lora lora.targets=nothing");
    vram_report *report = NULL;
    vram_error e;
    (void)state;
    assert_int_equal(vram_predict(&report, model, plan, &e), VRAM_E_ARGUMENT);
    assert_null(report);
    assert_non_null(strstr(e.text, "lora.targets=nothing"));
    vram_plan_free(plan);
    vram_model_free(model);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapped), cmocka_unit_test(rest_unchanged), cmocka_unit_test(model_untouched),
        cmocka_unit_test(trained), cmocka_unit_test(no_target)};
    fixtures_root = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
