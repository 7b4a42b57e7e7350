/* SPDX-License-Identifier: Apache-2.0
 *
 * A template file of any bytes: parsed; printed and parsed again; the last modules in it built as a
 * model and run for one step, with small budgets.  What it names and does not define comes from the
 * built-in files.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "factor.h"
#include "hf/config.h"
#include "models/embedded.h"
#include "models/tree.h"
#include "target.h"
#include "text/template.h"
#include "train/train.h"

enum { MOST_MODULES = 2, PLANS = 5, SMALL = 600 };

static const char config_text[] =
    "{\"model_type\": \"fuzz\", \"hidden_size\": 8, \"intermediate_size\": 16, \"vocab_size\": 32,"
    " \"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"num_key_value_heads\": 1,"
    " \"head_dim\": 4, \"max_position_embeddings\": 16, \"hidden_act\": \"silu\", "
    "\"rms_norm_eps\": 1e-6,"
    " \"tie_word_embeddings\": true, \"image_size\": 4, \"patch_size\": 2, \"num_channels\": 3,"
    " \"list\": [1, 2.5, [null, \"s\"]], \"vision_feature_layer\": -2,"
    " \"vision_feature_select_strategy\": \"default\", \"projector_hidden_act\": \"gelu\","
    " \"image_grid_pinpoints\": [[4, 8], [8, 8]], \"image_token_index\": 31, \"projection_dim\": 8,"
    " \"text_config\": {\"model_type\": \"llama\", \"hidden_size\": 8, \"intermediate_size\": 16,"
    "  \"vocab_size\": 32, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"hidden_act\": "
    "\"silu\"},"
    " \"vision_config\": {\"model_type\": \"clip_vision_model\", \"hidden_size\": 8, "
    "\"image_size\": 4,"
    "  \"intermediate_size\": 16, \"num_hidden_layers\": 2, \"num_attention_heads\": 2,"
    "  \"patch_size\": 2, \"num_channels\": 3, \"hidden_act\": \"quick_gelu\", \"projection_dim\": "
    "8}}";

/* ---- built-in files ----------------------------------------------------------------------- */

struct source {
    bool parsed[64];
};

static int require(void *ctx, struct vram_cx *cx, struct vram_program *program, vram_sym name)
{
    struct source *source = ctx;
    const char *text = vram_sym_text(cx->syms, name);
    for (unsigned i = 0; i < vram_embedded_names_count; i++) {
        const struct vram_embedded_name *row = &vram_embedded_names[i];
        if (strcmp(row->name, text) != 0)
            continue;
        if (source->parsed[row->file])
            return VRAM_E_NOTFOUND;
        source->parsed[row->file] = true;
        const struct vram_embedded_file *f = &vram_embedded_files[row->file];
        return vram_template_parse(cx, program, f->name, f->text, strlen(f->text));
    }
    return VRAM_E_NOTFOUND;
}

/* ---- what every answer must be ------------------------------------------------------------ */

static _Noreturn void wrong(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* An error has a text; one of the file's own has the line and column of its offset. */
static void check_error(const struct fuzz *f, int rc, const uint8_t *data, size_t n)
{
    unsigned line, column, want_line = 1;
    size_t start = 0;
    if (rc != f->error.code || (rc && !f->error.text[0]))
        wrong("not the error that was returned", f->error.text);
    if (!rc || f->error.offset == VRAM_NO_OFFSET)
        return;
    if (f->error.offset > n || sscanf(f->error.text, "line %u, column %u: ", &line, &column) != 2)
        wrong("no place", f->error.text);
    for (size_t i = 0; i < f->error.offset; i++)
        if (data[i] == '\n') {
            want_line++;
            start = i + 1;
        }
    size_t want_column = f->error.offset - start + 1;
    if (line != want_line || (column != want_column && want_column < UINT16_MAX))
        wrong("another place than the offset's", f->error.text);
}

static char *printed(const struct vram_cx *cx, const struct vram_program *program)
{
    struct vram_text_memory memory = {0};
    struct vram_text out;
    vram_text_init(&out, vram_text_memory_write, &memory);
    vram_program_print(&out, cx->syms, program);
    if (vram_text_flush(&out) || !memory.at)
        abort();
    return memory.at;
}

/* print(parse(print(x))) == print(x) */
static void check_print(const struct vram_cx *cx, const struct vram_program *program)
{
    struct fuzz again;
    struct vram_program second = {0};
    char *first = printed(cx, program), *other = NULL;
    if (vram_template_parse(fuzz_begin(&again), &second, "input", first, strlen(first)))
        wrong(first, again.error.text);
    other = printed(&again.cx, &second);
    if (strcmp(first, other) != 0)
        wrong(first, other);
    free(first);
    free(other);
    fuzz_end(&again);
}

/* ---- a model of it ------------------------------------------------------------------------ */

static int plan_of(struct vram_cx *cx, unsigned variant, struct vram_plan **out)
{
    static const char *const plans[PLANS][6][2] = {
        {{"precision", "fp32"}, {"attention", "eager"}},
        {{"precision", "bf16-mixed"}, {"checkpointing", "all"}, {"padded", "true"}},
        {{"precision", "bf16"},
         {"checkpointing", "all"},
         {"checkpointing.reentrant", "true"},
         {"optimizer", "adafactor"}},
        {{"mode", "infer"}, {"attention", "math"}, {"logits", "last"}},
        {{"precision", "fp16-mixed"}, {"train", "lora"}, {"lora.dropout", "0.1"}},
    };
    VRAM_TRY(vram_plan_create(out, cx->error));
    VRAM_TRY(vram_plan_set(*out, "seq", "8", cx->error));
    VRAM_TRY(vram_plan_set(*out, "steps", "1", cx->error));
    variant %= PLANS;
    for (int i = 0; i < 6 && plans[variant][i][0]; i++)
        VRAM_TRY(vram_plan_set(*out, plans[variant][i][0], plans[variant][i][1], cx->error));
    return VRAM_OK;
}

/* One step under a plan; 0 or an error, which need not say where. */
static int run(struct vram_cx *cx, const struct vram_tree *tree, unsigned variant)
{
    struct vram_plan *plan = NULL;
    struct vram_setup setup;
    struct vram_tree adapted;
    struct vram_run out;
    struct vram_factors factors;
    int rc = plan_of(cx, variant, &plan);
    if (rc)
        abort();
    rc = vram_setup_resolve(cx, plan, tree, &setup);
    if (!rc)
        rc = vram_adapt(cx, tree, &setup, &adapted);
    if (!rc)
        rc = adapted.known && adapted.runs ? vram_run(cx, &adapted, &setup, &out)
                                           : vram_run_states(cx, &adapted, &setup, &out);
    if (!rc)
        rc = vram_factor(cx, &adapted, &out, out.events->n ? (uint32_t)out.events->n - 1 : 0,
                         &factors);
    vram_plan_free(plan);
    return rc;
}

/* Tensors that contradict the config, or belong to nothing. */
static int tensors(struct vram_cx *cx, struct vram_checkpoint *c)
{
    static const int64_t dims[][2] = {{40, 8}, {12, 8}, {8, 24}, {7, 0}};
    static const char *const names[] = {"model.embed_tokens.weight", "layers.2.w", "weight", "w"};
    c->files = vram_arena_array(cx->arena, 1, sizeof *c->files);
    c->tensors = vram_arena_array(cx->arena, 4, sizeof *c->tensors);
    if (!c->files || !c->tensors)
        return vram_fail_memory(cx);
    c->files[0].name = "weights";
    c->nfiles = 1;
    c->ntensors = 4;
    for (uint32_t i = 0; i < 4; i++) {
        struct vram_tensor *t = &c->tensors[i];
        t->name = t->path = vram_sym_of(cx->syms, names[i]);
        t->dtype = VRAM_DT_BF16;
        t->rank = i < 3 ? 2 : 1;
        t->dims = dims[i];
        t->bytes = 2;
    }
    return VRAM_OK;
}

static int build(struct vram_cx *cx, struct vram_program *program, const struct vram_linker *linker,
                 const char *class_name, bool stored, struct vram_tree *tree)
{
    struct vram_checkpoint c = {.family = "fuzz",
                                .class_name = class_name,
                                .partial = true,
                                .path = "input",
                                .format = "config"};
    VRAM_TRY(vram_config_parse(cx, "input", (const uint8_t *)config_text, sizeof config_text - 1,
                               &c.config));
    if (stored)
        VRAM_TRY(tensors(cx, &c));
    VRAM_TRY(vram_tree_build(cx, program, linker, &c, tree));
    static const char *const names[] = {"LoraLinear", "Linear", "Dropout", "DoraLinearLayer"};
    for (int i = 0; i < 4 && tree->known; i++) {
        vram_sym name = vram_sym_of(cx->syms, names[i]);
        require(linker->ctx, cx, program, name);
        uint32_t cls = vram_program_class(program, name);
        if (cls != VRAM_NO_INDEX)
            VRAM_TRY(vram_program_link(cx, program, linker, cls));
    }
    return VRAM_OK;
}

static void check_run(const struct fuzz *f, int rc)
{
    if (rc != f->error.code || (rc && !f->error.text[0]) || rc == VRAM_E_INTERNAL)
        wrong("no error of a template", f->error.text);
}

/* Small inputs under every plan, others under one. */
static void run_plans(struct fuzz *f, const struct vram_tree *tree, size_t n, unsigned variant)
{
    for (unsigned i = 0; i < (n <= SMALL ? PLANS : 1); i++) {
        f->error = (vram_error){.offset = VRAM_NO_OFFSET};
        check_run(f, run(&f->cx, tree, variant + i));
    }
    f->error = (vram_error){.offset = VRAM_NO_OFFSET};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct vram_limits limits = vram_limits_default;
    struct source source = {0};
    struct vram_linker linker = {require, &source, vram_op_find};
    struct vram_program program = {0};
    struct fuzz f;
    struct vram_cx *cx = fuzz_begin(&f);
    unsigned variant = 0;
    limits.steps = 50000;
    limits.scopes = limits.params = 2000;
    cx->limits = &limits;
    f.arena.cap = 64u << 20;
    for (size_t i = 0; i < n; i++)
        variant = variant * 31 + data[i];
    int rc = vram_template_parse(cx, &program, "input", (const char *)data, n);
    check_error(&f, rc, data, n);
    if (!rc)
        check_print(cx, &program);
    program.own_files = (uint16_t)program.files.n;
    size_t classes = rc ? 0 : program.classes.n;
    /* what an error leaves of a program is of no use */
    for (size_t i = classes; !rc && i-- > 0 && i + MOST_MODULES >= classes;) {
        const char *name = vram_sym_text(cx->syms, program.classes.at[i].name);
        struct vram_tree tree;
        f.findings = (struct vram_findings){0};
        rc = build(cx, &program, &linker, name, variant & 1, &tree);
        check_run(&f, rc);
        if (!rc)
            run_plans(&f, &tree, n, variant >> 4);
    }
    fuzz_end(&f);
    return 0;
}
