/* SPDX-License-Identifier: Apache-2.0
 *
 * See helper.h.
 */
#include "helper.h"

#include <stdio.h>

#include "hf/config.h"
#include "machine/machine.h"
#include "models/embedded.h"
#include "models/tree.h"
#include "text/template.h"
#include "train/train.h"

static int require(void *ctx, struct vram_cx *cx, struct vram_program *program, vram_sym name)
{
    bool *parsed = ctx;
    for (unsigned i = 0; i < vram_embedded_names_count; i++) {
        unsigned file = vram_embedded_names[i].file;
        if (strcmp(vram_embedded_names[i].name, vram_sym_text(cx->syms, name)) != 0 || parsed[file])
            continue;
        parsed[file] = true;
        const struct vram_embedded_file *f = &vram_embedded_files[file];
        return vram_template_parse(cx, program, f->name, f->text, strlen(f->text));
    }
    return VRAM_E_NOTFOUND;
}

void text_begin(struct text_test *t)
{
    memset(t, 0, sizeof *t);
    t->limits = vram_limits_default;
    t->error.offset = VRAM_NO_OFFSET;
    vram_arena_init(&t->arena, UINT64_C(1) << 30);
    assert_int_equal(vram_syms_init(&t->syms, &t->arena), 0);
    t->cx = (struct vram_cx){&t->arena, &t->syms, &t->limits, &t->findings, &t->error};
    t->linker = (struct vram_linker){require, t->built_in, vram_op_find};
    assert_true(vram_embedded_files_count <= sizeof t->built_in);
}

void text_end(struct text_test *t) { vram_arena_finish(&t->arena); }

/* From a block of the text's exact size, so that one byte too far is seen. */
int text_parse(struct text_test *t, const char *name, const char *text)
{
    size_t n = strlen(text);
    char *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    memcpy(exact, text, n);
    int code = vram_template_parse(&t->cx, &t->program, name, exact, n);
    free(exact);
    return code;
}

int text_link(struct text_test *t, const char *module)
{
    t->program.own_files = (uint16_t)t->program.files.n;
    uint32_t cls = vram_program_class(&t->program, vram_sym_of(&t->syms, module));
    assert_int_not_equal(cls, VRAM_NO_INDEX);
    return vram_program_link(&t->cx, &t->program, &t->linker, cls);
}

void text_tensor(struct text_test *t, const char *name, int64_t size)
{
    uint32_t i = t->ntensors++;
    assert_true(i < sizeof t->tensors / sizeof *t->tensors);
    vram_sym sym = vram_sym_of(&t->syms, name);
    t->sizes[i] = size;
    t->tensors[i] = (struct vram_tensor){.name = sym,
                                         .path = sym,
                                         .dtype = VRAM_DT_F32,
                                         .rank = 1,
                                         .dims = &t->sizes[i],
                                         .bytes = (uint64_t)size * 4};
}

int text_build(struct text_test *t, const char *module, const char *config)
{
    struct vram_checkpoint *c = vram_arena_alloc(&t->arena, sizeof *c);
    char *json = vram_arena_strndup(&t->arena, config, strlen(config));
    if (!c || !json)
        return vram_fail_memory(&t->cx);
    for (char *p = json; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    *c = (struct vram_checkpoint){.path = "model",
                                  .format = "config",
                                  .class_name = module,
                                  .partial = true,
                                  .tensors = t->tensors,
                                  .ntensors = t->ntensors};
    static struct vram_file file = {.name = "weights"};
    c->files = &file;
    c->nfiles = 1;
    t->program.own_files = (uint16_t)t->program.files.n;
    VRAM_TRY(vram_config_parse(&t->cx, "config.json", json, strlen(json), &c->config));
    const struct vram_config *type = vram_config_get_text(&t->cx, c->config, "model_type");
    c->family = type ? vram_sym_text(&t->syms, type->text) : "";
    return vram_tree_build(&t->cx, &t->program, &t->linker, c, &t->tree);
}

int text_run(struct text_test *t)
{
    static const char *const settings[][2] = {
        {"precision", "fp32"}, {"seq", "4"}, {"steps", "1"}, {"micro_batch", "1"}};
    vram_plan *plan = NULL;
    struct vram_setup setup;
    struct vram_run run;
    int code = vram_plan_create(&plan, &t->error);
    for (size_t i = 0; !code && i < sizeof settings / sizeof *settings; i++)
        code = vram_plan_set(plan, settings[i][0], settings[i][1], &t->error);
    if (!code)
        code = vram_setup_resolve(&t->cx, plan, &t->tree, &setup);
    if (!code)
        code = vram_run(&t->cx, &t->tree, &setup, &run);
    vram_plan_free(plan);
    return code;
}

char *text_repeat(const char *before, const char *piece, int n, const char *after)
{
    size_t k = strlen(piece), a = strlen(before), b = strlen(after);
    char *text = malloc(a + k * (size_t)n + b + 1), *p = text;
    assert_non_null(text);
    memcpy(p, before, a);
    p += a;
    for (int i = 0; i < n; i++, p += k)
        memcpy(p, piece, k);
    memcpy(p, after, b + 1);
    return text;
}
