/* SPDX-License-Identifier: Apache-2.0
 *
 * The iteration: how a run is set up from a plan (setup/), what replaces parts of the tree
 * (adapt.c), load, forward, loss, backward, synchronise, clip, step, again (iteration.c), with
 * optimizers and strategies as rows.
 */
#ifndef VRAM_TRAIN_TRAIN_H
#define VRAM_TRAIN_TRAIN_H

#include "ir/model.h"
#include "machine/machine.h"
#include "plan/plan.h"
#include "train/pack.h"
#include "tables/tables.h"

struct vram_allocator_row;
struct vram_optimizer_row;
struct vram_strategy_row;
struct vram_script;
struct vram_names_value;
struct vram_optimizer;

enum vram_mode { VRAM_MODE_TRAIN, VRAM_MODE_INFER, VRAM_MODE_LOAD };
enum vram_offload { VRAM_OFFLOAD_NONE, VRAM_OFFLOAD_OPTIMIZER, VRAM_OFFLOAD_PARAMS };
enum vram_train_mode { VRAM_TRAIN_FULL, VRAM_TRAIN_FROZEN, VRAM_TRAIN_LORA };

/* One resolved setting, for the report. */
struct vram_resolved {
    const char *key, *value, *origin; /* "given", "model", "default", "assumed" */
};

/* A model whose forward is no template: what it makes of a batch, and what it returns, both records. */
struct vram_forward {
    void *ctx;
    struct vram_value (*inputs)(void *ctx, struct vram_machine *m);
    struct vram_value (*run)(void *ctx, struct vram_machine *m, struct vram_value batch);
};

/* A plan with every open value decided. */
struct vram_setup {
    const struct vram_plan *plan;
    enum vram_mode mode;
    int steps;
    int64_t micro_batch, accumulation, seq, images;
    int64_t text_tokens;      /* given instead of seq, which follows when the run begins; or unset */
    bool one_tile; /* each of the images is a tile */
    bool has_image_size;
    int64_t image_height, image_width;
    enum vram_dtype dtype;    /* of weights; a parameter's own fixed dtype wins */
    enum vram_dtype autocast; /* VRAM_DT_NONE = off */
    bool loss_scale;          /* fp16-mixed */
    bool deepspeed;           /* the engine holds fp32 masters of 16-bit weights */
    enum vram_dtype input_dtype; /* float inputs are moved in it; VRAM_DT_NONE = as collated */
    const uint8_t *train;     /* enum vram_train_mode by component sym */
    uint32_t ntrain;
    bool *checkpointed;       /* by component sym */
    bool checkpointing, selective, reentrant, offload_inputs;
    int64_t checkpoint_every; /* layers; 1 = each */
    bool eager, padded, card;
    bool compiled;            /* compile=on or kernels=unsloth */
    bool fused, fused_loss;   /* kernels=: modules are patched; the loss is, too, when nothing is said */
    enum vram_attention attention;
    bool flash_package; /* code that calls the flash-attn package itself does so */
    const char *loss, *logits;
    int64_t kv_tokens;        /* inference: positions in the cache at the end; 0 = no cache */
    const struct vram_optimizer_row *optimizer;
    bool foreach, clip, in_backward;
    int64_t optimizer_rank;
    const char *optimizer_targets;
    int transformers, torch;  /* versions whose rules hold: 2009 = 2.9 */
    const struct vram_strategy_row *strategy;
    int64_t ranks;            /* data-parallel GPUs that share one copy */
    int64_t tp;               /* ranks that split every layer */
    int64_t cp;               /* ranks that share a sequence */
    int64_t ep;               /* ranks that have different experts */
    int64_t pp, stage;        /* stages of a pipeline, and the one that is followed */
    enum vram_offload offload;
    bool host_optimizer, host_gradients; /* without a strategy: states, and gradients as they come */
    int64_t lora_rank;
    double lora_dropout;
    bool dora;
    enum vram_dtype lora_dtype; /* VRAM_DT_NONE = of the base weight */
    const struct vram_packing *packing; /* how matrices of Linears are held; NULL = plainly */
    const struct vram_gpu_row *gpu;
    double headroom;
    const struct vram_allocator_row *allocator;
    bool graph;               /* an inference of an ONNX graph: what of modules stands here means nothing */
    const struct vram_forward *forward; /* what is run; NULL: the top module */
    bool run_every_step;      /* tests: no step is copied */
    struct { struct vram_resolved *at; size_t n, cap; } resolved;
};

/* Notes a decision for the report. */
int vram_setup_note(struct vram_cx *cx, struct vram_setup *setup, const char *key, const char *value,
                    const char *origin);
/* A finding for every setting that was given and that nothing looked at; asked: by key, what
 * templates asked for. */
int vram_setup_unused(struct vram_cx *cx, const struct vram_setup *setup, const bool *asked);

/* Decides what the plan leaves open from the model.  Errors: VRAM_E_ARGUMENT, _RANGE,
 * _UNSUPPORTED. */
int vram_setup_resolve(struct vram_cx *cx, const struct vram_plan *plan,
                       const struct vram_tree *tree, struct vram_setup *out);
/* The same for the graph of an ONNX file: inference unless mode says other. */
int vram_setup_graph(struct vram_cx *cx, const struct vram_plan *plan, const struct vram_tree *tree,
                     struct vram_setup *out);
/* … for its training */
int vram_setup_graph_training(struct vram_cx *cx, const struct vram_plan *plan, const struct vram_tree *tree,
                              struct vram_setup *out);
enum vram_train_mode vram_setup_mode(const struct vram_setup *setup, vram_sym component);

/* adapt.c: a copy of the tree in which adapted modules run what PEFT puts in their place.  Without
 * adapters *out is *tree.  The program must have LoraLinear linked. */
int vram_adapt(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup,
               struct vram_tree *out);
/* Has the component anything that LoRA may adapt? */
bool vram_adaptable(struct vram_cx *cx, const struct vram_tree *tree, vram_sym component);

/* Host memory of a strategy: bytes of tensors, and as the allocator of pinned memory takes them. */
struct vram_host {
    uint64_t exact, held, most_exact, most_held;
    bool stepped;
};

/* What a run leaves beside the events. */
struct vram_run {
    struct vram_host host;
    uint64_t rank;         /* that was followed, where ranks differ */
    struct vram_events *events;
    uint32_t saved_event;  /* events up to here: the first forward is over, its output gone */
    uint32_t step_event;   /* events up to here: the first optimizer step is over */
    uint64_t trainable;    /* elements that require a gradient */
    bool *requires_grad;   /* by parameter of the adapted tree */
    uint8_t *dtype;        /* by parameter: as held in this run */
    bool asked[VRAM_KEY_COUNT]; /* settings that templates asked for */
};

/* Runs the setup on the (adapted) tree, and decides its seq when text_tokens was given. */
int vram_run(struct vram_cx *cx, const struct vram_tree *tree, struct vram_setup *setup,
             struct vram_run *out);

/* For an architecture that no template describes: load, a gradient for everything that trains, one
 * step of the optimizer. */
int vram_run_states(struct vram_cx *cx, const struct vram_tree *tree,
                    const struct vram_setup *setup, struct vram_run *out);

/* ---- optimizers (rows in optimizers/, their step in optimizer.c) --------------------------- */

enum { VRAM_OPTIMIZER_RULES = 8 };
/* When it steps instead of behind backward: as a gradient is stored, or when the next one comes. */
enum vram_in_backward { VRAM_BACKWARD_NO, VRAM_BACKWARD_STORED, VRAM_BACKWARD_NEXT };
enum vram_optimizer_pass { VRAM_PASS_STATES, VRAM_PASS_EACH, VRAM_PASS_LISTS, VRAM_PASSES };

/* What is done with parameters of a kind; texts as train/script.h has them. */
struct vram_optimizer_rule {
    const char *when;   /* which parameters, for people; NULL = all that no rule before is for */
    bool (*applies)(const struct vram_optimizer *o, const struct vram_handle *p); /* NULL = when is */
    int since, until;   /* versions of torch, 2001 = 2.1; 0 = open */
    const char *states; /* first, of all parameters of a group */
    const char *each;   /* then one parameter after the other */
    const char *lists;  /* or all of a dtype at once, where torch would on a card; NULL = each */
};

struct vram_optimizer_row {
    const char *name;
    const char *aliases;   /* names of transformers' TrainingArguments and others; "" = the same */
    const char *source;
    const char *note;      /* for people: what the rules do not say; NULL = nothing */
    int since;             /* version of torch that has it first; 0 = all that are known */
    bool no_step;
    bool at_construction;  /* states are there before the first step */
    bool one_function;     /* names live from parameter to parameter and group to group of a step */
    int on_host;           /* 1 + its fp32 states an element when DeepSpeed runs it on the host; 0 = it does not */
    bool low_rank;         /* optimizer.rank and optimizer.targets are read */
    bool (*second)(const struct vram_optimizer *o, const struct vram_handle *p); /* what the second group
                              has, none with weight decay; NULL = what has no weight decay */
    enum vram_in_backward in_backward;
    const char *unknown;   /* what is not counted, told with every prediction; NULL = nothing */
    const char *read_as;   /* runs as this row, with a finding: note says why */
    struct vram_optimizer_rule rules[VRAM_OPTIMIZER_RULES]; /* the first that is for a parameter */
};
uint32_t vram_optimizer_count(void);
const struct vram_optimizer_row *vram_optimizer_at(uint32_t i);
const struct vram_optimizer_row *vram_optimizer_find(const char *name); /* or alias; NULL = unknown */
/* What the rules say, as one line for people. */
void vram_optimizer_describe(const struct vram_optimizer_row *row, bool states, char *out, size_t size);
/* what the Trainer takes when nothing is said */
const char *vram_default_optimizer(int transformers, int torch);
/* Steps differ: something is made only in the first, or state is made anew. */
bool vram_optimizer_varies(const struct vram_optimizer_row *row);
bool vram_optimizer_has_lists(const struct vram_optimizer_row *row);

/* State of an optimizer in a run: the parameters in their two groups. */
struct vram_optimizer {
    struct vram_machine *m;
    const struct vram_setup *setup;
    const struct vram_optimizer_row *row;
    struct vram_handle **params[2];
    uint32_t n[2];
    uint8_t *group;                /* by parameter number */
    int decayed;                   /* the group with weight decay; -1 = none */
    bool decays;                   /* the group at work has weight decay */
    uint32_t nstates;              /* of a parameter */
    struct vram_handle **state;    /* by parameter number, nstates of each */
    struct vram_handle **shared;   /* of all parameters, by name */
    bool *stepped;                 /* by parameter number */
    struct vram_script *scripts;   /* by rule and pass */
    struct vram_names_value *names; /* what scripts' names are now */
    struct vram_handle *pending;   /* whose gradient waits for the next one */
    uint64_t host, managed;        /* bytes of state that are not on the card */
    uint32_t nflats, *share;       /* of flat partitions, whose numbers follow the tree's */
};

/* share.c: the same division of other bytes */
uint32_t vram_share_scale(struct vram_machine *m, uint32_t share, uint64_t bytes);

void vram_optimizer_init(struct vram_optimizer *o, struct vram_machine *m,
                         const struct vram_setup *setup);
/* Room for the states of n flat partitions; before any state is there. */
void vram_optimizer_flats(struct vram_optimizer *o, uint32_t n);
/* clip and step of all groups */
void vram_optimizer_step(struct vram_optimizer *o);
/* the step of some parameters, all of one group */
void vram_optimizer_update(struct vram_optimizer *o, struct vram_handle **params, uint32_t n, bool decay);
/* All that scripts' names hold dies. */
void vram_optimizer_forget(struct vram_optimizer *o);
/* Hooks: a gradient was stored; backward is over. */
void vram_optimizer_accumulated(struct vram_optimizer *o, struct vram_handle *leaf);
void vram_optimizer_backward_end(struct vram_optimizer *o);
/* State that is not on the card is not in the events: behind the first step it is told. */
void vram_optimizer_report(struct vram_optimizer *o);
/* Drops all state: the end of the run. */
void vram_optimizer_finish(struct vram_optimizer *o);
/* clip.c: the total norm, alive until the step is over; NULL when nothing has a gradient */
struct vram_handle *vram_clip(struct vram_machine *m, struct vram_handle **params, uint32_t n);

/* ---- strategies (strategies.c) ------------------------------------------------------------ */

/* Hooks at the places where the real ones hook; NULL = nothing happens there. */
struct vram_strategy {
    struct vram_machine *m;
    const struct vram_setup *setup;
    const struct vram_strategy_row *row;
    struct vram_handle **params; /* trainable, in registration order */
    uint32_t n;
    struct vram_optimizer *optimizer;
    struct vram_host *host;
    uint64_t rank;               /* that is followed: the one that needs most */
    uint32_t micro;              /* of the step, from 0 */
    void *own;                   /* the row's state */
};

struct vram_strategy_row {
    const char *name;
    const char *help;
    const char *source;
    bool deepspeed;
    bool fsdp;
    bool shards;                                     /* ranks hold different parts */
    bool loads_on_host;                              /* parameters come to the card in init */
    int communicators;                               /* NCCL groups of more than one rank */
    bool partitions_gradients;                       /* each backward leaves only the rank's own */
    bool changes;                                    /* steps differ: they are run one by one */
    const struct vram_module_hooks *around;          /* around modules */
    void (*load)(struct vram_strategy *s, uint32_t param); /* a parameter has been made */
    void (*init)(struct vram_strategy *s);           /* behind load */
    void (*forward_begin)(struct vram_strategy *s);
    void (*backward_begin)(struct vram_strategy *s);
    void (*accumulated)(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g);
    void (*backward_end)(struct vram_strategy *s);
    void (*reduce_all)(struct vram_strategy *s);     /* an unknown architecture: .grad is there for everything */
    bool (*synchronises)(const struct vram_strategy *s); /* has a phase of its own */
    void (*synchronise)(struct vram_strategy *s);
    void (*step)(struct vram_strategy *s);           /* instead of the optimizer's own */
    void (*zero_grad)(struct vram_strategy *s);      /* NULL: every .grad is dropped */
};
extern const struct vram_strategy_row vram_strategies[];
extern const uint32_t vram_strategies_count;
const struct vram_strategy_row *vram_strategy_find(const char *name); /* NULL = unknown */

#endif
