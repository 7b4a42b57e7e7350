/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimizers of single packages: schedulefree 1.4.1, torch-optimi 0.3.3, grokadamw 0.1.2, adam-mini 1.1.1,
 * pytorch_optimizer 4.1.0, and what transformers had before.
 */
#include <string.h>

#include "train/optimizer.h"

static bool is_16_bit(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    return p->dtype != VRAM_DT_F32;
}

enum { WIDEST = 10000 }; /* SOAP's max_precondition_dim: larger sides have no preconditioner */

static bool is_preconditioned(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    return p->rank == 2 && p->shape[0] <= WIDEST && p->shape[1] <= WIDEST;
}

static bool is_half_preconditioned(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    return p->rank == 2 && (p->shape[0] <= WIDEST || p->shape[1] <= WIDEST);
}

static bool is_half_preconditioned_16(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return is_16_bit(o, p) && is_half_preconditioned(o, p);
}

static bool is_preconditioned_16(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return is_16_bit(o, p) && is_preconditioned(o, p);
}

static bool is_matrix(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    return p->rank == 2;
}

static bool is_vector(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    return p->rank == 1;
}

static bool is_matrix_16(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return is_16_bit(o, p) && is_matrix(o, p);
}

static bool is_vector_16(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return is_16_bit(o, p) && is_vector(o, p);
}

/* ---- Adam-mini: by words in the parameter's name -------------------------------------------- */

static bool is_named(const struct vram_optimizer *o, const struct vram_handle *p, const char *words)
{
    const struct vram_tree *t = o->m->tree;
    const char *path = p->param < t->nparams ? vram_sym_text(t->syms, t->params[p->param].path) : "";
    for (size_t n; *words; words += n + (words[n] != 0)) {
        n = strcspn(words, " ");
        for (const char *at = path; *at; at++)
            if (!strncmp(at, words, n))
                return true;
    }
    return false;
}

static bool is_none(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    (void)p;
    return false;
}

static bool is_bias(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return is_named(o, p, "bias");
}

static bool is_query_or_key(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return is_named(o, p, "k_proj q_proj wq wk query key");
}

static bool is_block(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return is_named(o, p, "embed embd wte lm_head output final_layer v_proj wv value mlp feed_forward linear "
                          "o_proj wo attn.proj");
}

#define MINI(first, means) \
    "@m=n " first "@vmean=" means " square=n mean=" means " -square root=" means " h=" means \
    " -root inverse=" means " size=" means " -inverse update=n negated=n -negated"

/* ---- SOAP ----------------------------------------------------------------------------------- */

#define ADAM_STATES "@exp_avg=n @exp_avg_sq=n"

/* the eigenvectors of a side: in fp64 when the gradient has 16 bits */
#define EYE(k) "!eye=" k "*" k " !small=" k "*" k " -eye !sum=" k "*" k " -small "
#define BASIS_16(side, k) \
    EYE(k) "!wide=" k "*" k ":fp64 !eye=" k "*" k ":fp64 !small=" k "*" k ":fp64 -eye !total=" k "*" k \
    ":fp64 -wide -small !made=" k ":fp64 !vectors=" k "*" k ":fp64 !values<made -total !narrow=" k "*" k \
    " -vectors -sum @" side "=" k "*" k " -narrow"
#define BASIS_32(side, k) \
    EYE(k) "!made=" k " !vectors=" k "*" k " !values<made -sum @" side "=" k "*" k " -vectors"
/* and refreshed by a step of power iteration, which sorts the second moment as well */
#define REFRESH(k) \
    "+product=" k "*" k " +small=" k "*" k " +weights=" k " -small +values=" k " +order=" k \
    ":i64 -values +newer=n +iterate=" k "*" k " "
#define REFRESH_16(fresh, k) \
    REFRESH(k) "+wide=" k "*" k ":fp32 +q=" k "*" k ":fp32 +rest=" k "*" k ":fp32 -wide +" fresh "=" k \
    "*" k " -q "
#define REFRESH_32(fresh, k) REFRESH(k) "+" fresh "=" k "*" k " +rest=" k "*" k " "
#define REFRESHED "-product -weights -order -iterate -rest +@exp_avg_sq<newer +@left_basis<fresh1 -fresh1 "
#define SOAP(basis, refresh) \
    ADAM_STATES " @left=R*R @right=C*C !outer=R*R !outer=C*C " basis("left_basis", "R") " " \
    basis("right_basis", "C") " -values -outer " \
    "+step=n +gradient=n -step -newer +square=n -square +root=n +step=n +projected=n -step +ratio=n +step=n " \
    "-ratio +update=n -step +outer=R*R +outer=C*C " refresh("fresh1", "R") refresh("fresh2", "C") REFRESHED \
    "+@right_basis<fresh2 -fresh2 -outer"

/* one side, the smaller one */
#define SOAP_HALF(basis, refresh) \
    ADAM_STATES " @left=m*m !outer=m*m " basis("left_basis", "m") " -values -outer " \
    "+gradient=n -newer +square=n -square +root=n +projected=n +ratio=n +update=n -ratio +outer=m*m " \
    refresh("fresh1", "m") REFRESHED "-outer"

/* ---- Shampoo: two matrices a side, the inverse root by way of singular values in fp32 -------- */

#define SIDE_16(side, k) "!eye=" k "*" k ":fp32 @pre" side "=" k "*" k " -eye @inverse" side "=" k "*" k
#define SIDE_32(side, k) "@pre" side "=" k "*" k " @inverse" side "=" k "*" k
#define POWER_16(k) \
    "wide=" k "*" k ":fp32 u=" k "*" k ":fp32 s=" k ":fp32 v=" k "*" k ":fp32 -wide scaled=" k "*" k \
    ":fp32 root=" k "*" k ":fp32 -scaled narrow=" k "*" k " -root -u -s -v -narrow"
#define POWER_32(k) \
    "u=" k "*" k " s=" k " v=" k "*" k " scaled=" k "*" k " root=" k "*" k " -scaled -u -s -v -root"

#define SCHEDULE_FREE "schedulefree/"
#define POINT "@z=n"

const struct vram_optimizer_row vram_optimizers_others[] = {
    {.name = "adamw-hf",
     .aliases = "",
     .source = "transformers/optimization.py AdamW (4.31); the default until then",
     .one_function = true,
     .rules = {{.each = "@exp_avg=n @exp_avg_sq=n root=n"}}},
    {.name = "schedulefree-adamw",
     .aliases = "schedule-free-adamw",
     .source = SCHEDULE_FREE "adamw_schedulefree.py",
     .one_function = true,
     .rules = {{.states = POINT " @exp_avg_sq=n", .each = "denominator=n", .lists = "denominators=n"}}},
    {.name = "schedulefree-radam",
     .aliases = "schedule-free-radam",
     .source = SCHEDULE_FREE "radam_schedulefree.py",
     .one_function = true,
     .note = "as from the fifth step on, when the variance is rectified",
     .rules = {{.states = POINT " @exp_avg_sq=n", .each = "denominator=n", .lists = "denominators=n"}}},
    {.name = "schedulefree-sgd",
     .aliases = "schedule-free-sgd",
     .source = SCHEDULE_FREE "sgd_schedulefree.py",
     .rules = {{.states = POINT}}},
    {.name = "grokadamw",
     .aliases = "",
     .source = "grokadamw/grokadamw.py",
     .rules = {{.each = "@exp_avg=n @exp_avg_sq=n @grok_exp_avg=n norm=1 -norm scaled=n amplified=n -scaled "
                        "root=n -root"}}},
    {.name = "stable-adamw",
     .aliases = "",
     .source = "optimi/stableadamw.py, the Triton form that it takes on a card; kahan_sum follows the dtype",
     .rules = {{.when = "16 bit", .applies = is_16_bit,
                .states = "@exp_avg=n @exp_avg_sq=n @eps_sq=1 @kahan=n @mean_square=1:fp32"},
               {.states = "@exp_avg=n @exp_avg_sq=n @eps_sq=1 @kahan=1:u8 @mean_square=1:fp32"}}},
    {.name = "lion",
     .aliases = "",
     .source = "pytorch_optimizer/optimizer/lion.py",
     .rules = {{.states = "@exp_avg=n", .each = "update=n", .lists = "updates=n"}}},
    {.name = "adan",
     .aliases = "",
     .source = "pytorch_optimizer/optimizer/adan.py",
     .rules = {{.states = "@exp_avg=n @exp_avg_sq=n @exp_avg_diff=n @previous_grad=n", .each = "root=n",
                .lists = "roots=n"}}},
    {.name = "soap",
     .aliases = "",
     .source = "pytorch_optimizer/optimizer/soap.py",
     .note = "the first step makes state alone; then as a step that refreshes the bases, every tenth",
     .unknown = "tensors of more than two dimensions are counted without preconditioners, the "
                "solver without workspace",
     .one_function = true,
     .rules = {{.when = "16-bit matrices up to 10000 wide", .applies = is_preconditioned_16,
                .each = SOAP(BASIS_16, REFRESH_16)},
               {.when = "other matrices up to 10000 wide", .applies = is_preconditioned,
                .each = SOAP(BASIS_32, REFRESH_32)},
               {.when = "16-bit matrices with one such side", .applies = is_half_preconditioned_16,
                .each = SOAP_HALF(BASIS_16, REFRESH_16)},
               {.when = "other matrices with one such side", .applies = is_half_preconditioned,
                .each = SOAP_HALF(BASIS_32, REFRESH_32)},
               {.each = ADAM_STATES " -gradient -newer +square=n -square +root=n -projected +update=n"}}},
    {.name = "shampoo",
     .aliases = "",
     .source = "pytorch_optimizer/optimizer/shampoo.py",
     .one_function = true,
     .unknown = "tensors of more than two dimensions are counted without preconditioners, the "
                "solver without workspace",
     .rules = {{.when = "16-bit matrices", .applies = is_matrix_16,
                .states = SIDE_16("1", "R") " " SIDE_16("2", "C"),
                .each = "-copy " POWER_16("R") " product=n copy=n -product " POWER_16("C") " ^momentum=n"},
               {.when = "16-bit vectors", .applies = is_vector_16, .states = SIDE_16("1", "n"),
                .each = "-copy " POWER_16("n") " ^momentum=n"},
               {.when = "matrices", .applies = is_matrix, .states = SIDE_32("1", "R") " " SIDE_32("2", "C"),
                .each = "-copy " POWER_32("R") " product=n copy=n -product " POWER_32("C") " ^momentum=n"},
               {.when = "vectors", .applies = is_vector, .states = SIDE_32("1", "n"),
                .each = "-copy " POWER_32("n") " ^momentum=n"},
               {.each = "^momentum=n"}}},
    {.name = "sophia",
     .aliases = "",
     .source = "pytorch_optimizer/optimizer/sophia.py SophiaH, read",
     .unknown = "the graph that backward keeps for the estimate of the Hessian, and the estimate, "
                "are not counted",
     .rules = {{.states = "@momentum=n @hessian_moment=n", .each = "@hessian=n update=n",
                .lists = "@hessian=n updates=n updates=n"}}},
    {.name = "adam-mini",
     .aliases = "",
     .source = "adam_mini/adam_mini.py",
     .one_function = true,
     .second = is_none, /* every tensor has a group of its own */
     .rules = {{.when = "biases", .applies = is_bias, .each = "@m=n @v=n root=n h=n -root"},
               {.when = "queries and keys (a mean a head)", .applies = is_query_or_key, .each = MINI("", "1")},
               {.when = "other matrices (a mean a row)", .applies = is_block, .each = MINI("", "n/C")},
               {.each = MINI("!square=n -square ", "1")}}},
    {.name = "anyprecision",
     .aliases = "adamw-anyprecision",
     .source = "torchdistx/optimizers/anyprecision_optimizer.py, with the dtypes of transformers 5.24; read",
     .one_function = true,
     .rules = {{.each = "@exp_avg=n:fp32 @exp_avg_sq=n:fp32 root=n:fp32 denominator=n:fp32 -root"}}},
    {.name = "adamw-apex-fused",
     .aliases = "",
     .source = "apex/optimizers/fused_adam.py, read",
     .note = "gone from transformers since",
     .rules = {{.when = "16 bit", .applies = is_16_bit,
                .each = "!zeros=n @exp_avg=n:fp32 -zeros !zeros=n @exp_avg_sq=n:fp32 -zeros"},
               {.each = ADAM_STATES}}},
    {.name = "adamw-torch-xla",
     .aliases = "",
     .source = "transformers 5.24 trainer_optimizer.py",
     .note = "a TPU's, which has no kernels here",
     .read_as = "adamw"},
    {.name = "adamw-torch-npu-fused",
     .aliases = "",
     .source = "transformers 5.24 trainer_optimizer.py",
     .note = "an NPU's kernel",
     .read_as = "adamw-fused"},
    {.name = NULL}};
