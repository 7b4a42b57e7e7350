/* SPDX-License-Identifier: Apache-2.0
 *
 * The optimizers of torch.optim 2.9 (with what was different before) and the Adafactor of transformers.
 * Counters on the CPU are no words.  What the defaults are: those of the Trainer, no amsgrad, not
 * capturable, no maximize.
 */
#include "train/optimizer.h"
#include "train/optimizers/adafactor.h"

#define ADAM_STATES "@exp_avg=n @exp_avg_sq=n"

/* what torch.optim.Muon is given where the rest has an AdamW: hidden matrices */
static bool is_hidden_matrix(const struct vram_optimizer *o, const struct vram_handle *p)
{
    const struct vram_tree *t = o->m->tree;
    return p->rank == 2 && p->param < t->nparams && !vram_param_is_embedding(o, p) &&
           t->scopes[t->params[p->param].scope].component != vram_sym_find(t->syms, "lm_head", 7);
}

static bool is_not_hidden(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return !is_hidden_matrix(o, p);
}

static bool is_hidden_bf16(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return p->dtype == VRAM_DT_BF16 && is_hidden_matrix(o, p);
}

/* before torch 2.3 the root and the rate had names, which live on */
#define RADAM_BEFORE \
    "?decayed=n corrected=n root=n inverse=n rate=n -inverse a=n b=n -a c=n -b -c -decayed"

#define NORM "norm=1:bf16 least=1:bf16 -norm -least "

/* Newton-Schulz: five times the Gram matrix, its polynomial and the next iterate, each name taking the
 * place of the one before; in bf16 whatever the gradient is */
#define NS_ONE "gram=m*m:bf16 poly=m*m:bf16 x=n:bf16"
#define NEWTON_SCHULZ NS_ONE " " NS_ONE " " NS_ONE " " NS_ONE " " NS_ONE " -gram -poly"

const struct vram_optimizer_row vram_optimizers_torch[] = {
    {.name = "adamw-fused",
     .aliases = "adamw-torch-fused",
     .on_host = 3,
     .source = "torch/optim/adamw.py fused; transformers' default since 4.54 with torch 2.8",
     .rules = {{.states = "@step=1:fp32 " ADAM_STATES}}},
    {.name = "adamw",
     .aliases = "adamw-torch",
     .on_host = 3,
     .source = "torch/optim/adamw.py _multi_tensor_adamw (2.0 to 2.8), adam.py (2.9)",
     .rules = {{.when = "torch before 2.1", .until = 2001, .states = ADAM_STATES,
                .each = "root=n denominator=n -root", .lists = "roots=n denominators=n"},
               {.states = ADAM_STATES, .each = "root=n denominator=n -root", .lists = "roots=n"}}},
    {.name = "adam",
     .aliases = "",
     .on_host = 3,
     .source = "torch/optim/adam.py _multi_tensor_adam",
     .rules = {{.when = "torch before 2.1", .until = 2001, .states = ADAM_STATES,
                .each = "?decayed=n root=n denominator=n -root -decayed",
                .lists = "-decayed ?decayed=n roots=n denominators=n"},
               {.states = ADAM_STATES, .each = "?decayed=n root=n denominator=n -root -decayed",
                .lists = "?decayed=n -decayed roots=n"}}},
    {.name = "sgd",
     .aliases = "",
     .on_host = 1,
     .source = "torch/optim/sgd.py",
     .rules = {{.each = "?decayed=n -decayed", .lists = "?decayed=n -decayed"}}},
    {.name = "sgd-momentum",
     .aliases = "",
     .on_host = 2,
     .source = "torch/optim/sgd.py",
     .rules = {{.each = "?decayed=n @momentum=n -decayed", .lists = "?decayed=n @momentum=n -decayed"}}},
    {.name = "adagrad",
     .aliases = "",
     .source = "torch/optim/adagrad.py",
     .at_construction = true,
     .rules = {{.when = "torch before 2.1", .until = 2001, .states = "@sum=n",
                .each = "?decayed=n root=n -decayed",
                .lists = "-decayed ?decayed=n roots=n sums=n -roots products=n quotients=n -products"},
               {.states = "@sum=n", .each = "?decayed=n root=n -decayed",
                .lists = "?decayed=n roots=n %numerators=n"}}},
    {.name = "rmsprop",
     .aliases = "",
     .source = "torch/optim/rmsprop.py",
     .rules = {{.states = "@square_avg=n", .each = "?decayed=n root=n -decayed",
                .lists = "-decayed ?decayed=n roots=n"}}},
    {.name = "nadam",
     .aliases = "",
     .source = "torch/optim/nadam.py",
     .rules = {{.when = "torch before 2.1", .until = 2001, .states = ADAM_STATES,
                .each = "?decayed=n mean=n root=n -mean -decayed",
                .lists = "-decayed ?decayed=n roots=n denominators=n"},
               {.states = ADAM_STATES, .each = "?decayed=n mean=n root=n -mean -decayed",
                .lists = "-decayed ?decayed=n roots=n"}}},
    {.name = "radam",
     .aliases = "",
     .source = "torch/optim/radam.py",
     .note = "as from the sixth step on, when the variance is rectified",
     .rules = {{.when = "torch before 2.1", .until = 2001, .states = ADAM_STATES, .each = RADAM_BEFORE,
                .lists = "-decayed ?decayed=n roots=n denominators=n denominators=n"},
               {.when = "torch before 2.3", .until = 2003, .states = ADAM_STATES, .each = RADAM_BEFORE,
                .lists = "?decayed=n -decayed roots=n -roots"},
               {.states = ADAM_STATES,
                .each = "?decayed=n corrected=n a=n root=n inverse=n rate=n -inverse -root "
                        "b=n -a -rate c=n -b -c -decayed",
                .lists = "?decayed=n -decayed roots=n -roots"}}},
    {.name = "adadelta",
     .aliases = "",
     .source = "torch/optim/adadelta.py",
     .rules = {{.states = "@square_avg=n @acc_delta=n", .each = "?decayed=n root=n delta=n -decayed",
                .lists = "-decayed ?decayed=n roots=n deltas=n"}}},
    {.name = "adamax",
     .aliases = "",
     .source = "torch/optim/adamax.py",
     .rules = {{.when = "torch before 2.3", .until = 2003, .states = "@exp_avg=n @exp_inf=n",
                .each = "-decayed ?decayed=n abs=n both=2*n -abs",
                .lists = "-decayed ?decayed=n [abs=n both=2*n -abs places=n:i64 -places]"},
               {.states = "@exp_avg=n @exp_inf=n", .each = "?decayed=n abs=n -abs -decayed",
                .lists = "?decayed=n -decayed %abs=n -abs"}}},
    {.name = "asgd",
     .aliases = "",
     .source = "torch/optim/asgd.py",
     .rules = {{.when = "torch before 2.2", .until = 2002,
                .states = "@step=1:fp32 @eta=1:fp32 @mu=1:fp32 @ax=n",
                .each = "?decayed=n -decayed", .lists = "?decayed=n -decayed"},
               {.states = "@step=1:fp32 @eta=1:fp32 @mu=1:fp32 @ax=n", .each = "?decayed=n -decayed",
                .lists = "sum=n -sum difference=n -difference"}}},
    {.name = "rprop",
     .aliases = "",
     .source = "torch/optim/rprop.py; its foreach form: read",
     .rules = {{.states = "@prev=n @step_size=n",
                .each = "product=n sign=n -product mask=n:bool -mask mask=n:bool -mask mask=n:bool -mask "
                        "clone=n mask=n:bool -mask sign_of=n -sign_of -clone",
                .lists = "signs=n [mask=n:bool -mask mask=n:bool -mask mask=n:bool -mask] "
                         "[mask=n:bool kept=n -mask -kept] -signs signs=n -signs"}}},
    {.name = "muon+adamw",
     .aliases = "",
     .source = "torch/optim/_muon.py (2.9); the rest as adamw",
     .note = "first Muon, for hidden matrices, then AdamW for embeddings, the head, norms and biases",
     .since = 2009,
     .second = is_not_hidden,
     .rules = {{.when = "hidden matrices in bf16", .applies = is_hidden_bf16, .states = "@momentum=n",
                .each = "update=n -x " NORM NEWTON_SCHULZ " -update"},
               {.when = "other hidden matrices", .applies = is_hidden_matrix, .states = "@momentum=n",
                .each = "update=n -x x=n:bf16 " NORM NEWTON_SCHULZ " -update"},
               {.states = ADAM_STATES, .each = "root=n denominator=n -root", .lists = "roots=n"}}},
    {.name = "muon",
     .aliases = "",
     .source = "torch/optim/_muon.py (2.9)",
     .note = "torch.optim.Muon refuses what is no matrix",
     .read_as = "muon+adamw"},
    {.name = "adafactor",
     .aliases = "",
     .source = "transformers/optimization.py Adafactor",
     .one_function = true,
     .rules = {{.when = "matrices", .applies = vram_param_is_matrix, .each = ADAFACTOR_MATRIX},
               {.each = ADAFACTOR_VECTOR}}},
    {.name = "none", .aliases = "", .source = "forward and backward only", .no_step = true},
    {.name = NULL}};
