/* SPDX-License-Identifier: Apache-2.0
 *
 * The iteration: how a run is set up from a plan (setup.c), what replaces parts of the tree
 * (adapt.c), load, forward, loss, backward, synchronise, clip, step, again (iteration.c), with
 * optimizers and strategies as rows.
 */
#ifndef VRAM_TRAIN_TRAIN_H
#define VRAM_TRAIN_TRAIN_H

#include "ir/model.h"
#include "machine/machine.h"
#include "plan/plan.h"
#include "tables/tables.h"

struct vram_optimizer_row;
struct vram_strategy_row;

enum vram_mode { VRAM_MODE_TRAIN, VRAM_MODE_INFER, VRAM_MODE_LOAD };
enum vram_train_mode { VRAM_TRAIN_FULL, VRAM_TRAIN_FROZEN, VRAM_TRAIN_LORA };

/* One resolved setting, for the report. */
struct vram_resolved {
    const char *key, *value, *origin; /* "given", "model", "default", "assumed" */
};

/* A plan with every open value decided. */
struct vram_setup {
    const struct vram_plan *plan;
    enum vram_mode mode;
    int steps;
    int64_t micro_batch, accumulation, seq, images;
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
    bool checkpointing, reentrant;
    bool eager, padded, card;
    enum vram_attention attention;
    const char *loss, *logits;
    const struct vram_optimizer_row *optimizer;
    bool foreach, clip;
    const struct vram_strategy_row *strategy;
    int64_t ranks;            /* data-parallel GPUs */
    int64_t lora_rank;
    double lora_dropout;
    enum vram_dtype lora_dtype; /* VRAM_DT_NONE = of the base weight */
    const struct vram_gpu_row *gpu;
    double headroom;
    bool run_every_step;      /* tests: no step is copied */
    struct { struct vram_resolved *at; size_t n, cap; } resolved;
};

/* Decides what the plan leaves open from the model.  Errors: VRAM_E_ARGUMENT, _RANGE,
 * _UNSUPPORTED. */
int vram_setup_resolve(struct vram_cx *cx, const struct vram_plan *plan,
                       const struct vram_tree *tree, struct vram_setup *out);
enum vram_train_mode vram_setup_mode(const struct vram_setup *setup, vram_sym component);

/* adapt.c: a copy of the tree in which adapted modules run what PEFT puts in their place.  Without
 * adapters *out is *tree.  The program must have LoraLinear linked. */
int vram_adapt(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup,
               struct vram_tree *out);
/* Has the component anything that LoRA may adapt? */
bool vram_adaptable(struct vram_cx *cx, const struct vram_tree *tree, vram_sym component);

/* What a run leaves beside the events. */
struct vram_run {
    struct vram_events *events;
    uint32_t saved_event;  /* events up to here: the first forward is over, its output gone */
    uint32_t step_event;   /* events up to here: the first optimizer step is over */
    uint64_t trainable;    /* elements that require a gradient */
    bool *requires_grad;   /* by parameter of the adapted tree */
    uint8_t *dtype;        /* by parameter: as held in this run */
};

/* Runs the setup on the (adapted) tree. */
int vram_run(struct vram_cx *cx, const struct vram_tree *tree, const struct vram_setup *setup,
             struct vram_run *out);

/* For an architecture that no template describes: load, a gradient for everything that trains, one
 * step of the optimizer. */
int vram_run_states(struct vram_cx *cx, const struct vram_tree *tree,
                    const struct vram_setup *setup, struct vram_run *out);

/* ---- optimizers (optimizers.c) ------------------------------------------------------------ */

/* State of an optimizer in a run: the parameters in their two groups (decayed, not decayed). */
struct vram_optimizer {
    struct vram_machine *m;
    const struct vram_setup *setup;
    const struct vram_optimizer_row *row;
    struct vram_handle **params[2];
    uint32_t n[2];
    struct vram_handle *(*state)[4]; /* by parameter number */
    struct vram_handle *names[3];    /* names that live on between parameters (Adafactor) */
    uint32_t share[2];               /* by group: of flat partitions, whose numbers follow the tree's */
};

struct vram_optimizer_row {
    const char *name;
    const char *states;  /* for people */
    const char *temporaries;
    const char *source;
    bool remakes_state;  /* every step replaces some state: steps are run one by one */
    /* one group; decay: its weight decay is not 0.  NULL = no step at all */
    void (*step)(struct vram_optimizer *o, struct vram_handle **params, uint32_t n, bool decay);
};
extern const struct vram_optimizer_row vram_optimizers[];
extern const uint32_t vram_optimizers_count;
const struct vram_optimizer_row *vram_optimizer_find(const char *name); /* NULL = unknown */

/* share.c: the same division of other bytes */
uint32_t vram_share_scale(struct vram_machine *m, uint32_t share, uint64_t bytes);

void vram_optimizer_init(struct vram_optimizer *o, struct vram_machine *m,
                         const struct vram_setup *setup);
/* clip and step of all groups */
void vram_optimizer_step(struct vram_optimizer *o);
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
    uint32_t micro;              /* of the step, from 0 */
    void *own;                   /* the row's state */
};

struct vram_strategy_row {
    const char *name;
    const char *help;
    const char *source;
    bool deepspeed;
    int communicators;                               /* NCCL groups of more than one rank */
    bool partitions_gradients;                       /* each backward leaves only the rank's own */
    void (*init)(struct vram_strategy *s);           /* behind load */
    void (*forward_begin)(struct vram_strategy *s);
    void (*backward_begin)(struct vram_strategy *s);
    void (*accumulated)(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g);
    void (*backward_end)(struct vram_strategy *s);
    bool (*synchronises)(const struct vram_strategy *s); /* has a phase of its own */
    void (*synchronise)(struct vram_strategy *s);
    void (*step)(struct vram_strategy *s);           /* instead of the optimizer's own */
    void (*zero_grad)(struct vram_strategy *s);      /* NULL: every .grad is dropped */
};
extern const struct vram_strategy_row vram_strategies[];
extern const uint32_t vram_strategies_count;
const struct vram_strategy_row *vram_strategy_find(const char *name); /* NULL = unknown */

#endif
