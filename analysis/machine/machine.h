/* SPDX-License-Identifier: Apache-2.0
 *
 * An eager framework without data.  A tensor (handle) is a shape, strides and a reference to a
 * storage; a storage is a size and a count of its holders.  Forward code runs, a tape is kept,
 * backward runs over it, and the list of allocations and frees falls out.  No lifetime is written
 * anywhere: a storage dies when its last holder lets go.
 *
 * Three kinds of holder, one counter: frame slots and temporaries (frame.c), tape entries
 * (tape.c), and what stays (parameters, .grad, optimizer state: train/).
 *
 * All memory of a run comes from one arena, so errors leave by longjmp (vram_throw) and nothing
 * leaks.  The early stop of a recomputed checkpoint is not an error: it releases what it holds
 * and is passed on by return values (`stopped`).
 *
 * One machine belongs to one thread; the program and the tree are shared and const.
 */
#ifndef VRAM_MACHINE_MACHINE_H
#define VRAM_MACHINE_MACHINE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cx.h"
#include "ir/dtype.h"
#include "ir/model.h"
#include "ir/program.h"
#include "ir/value.h"
#include "machine/events.h"

enum { VRAM_MAX_RANK = 10, VRAM_MAX_ARGS = 16, VRAM_MAX_BOX_DEPTH = 64, VRAM_MAX_BOX = 1 << 20 };

struct vram_machine;
struct vram_tape_node;
struct vram_checkpoint_frame;

struct vram_storage {
    int32_t refs;        /* handles on it */
    int32_t saved;       /* of them, tape entries and checkpoint arguments */
    uint32_t id;         /* row of the events; another one each time its bytes come back */
    uint8_t category;    /* now */
    uint8_t base_category; /* when the tape does not hold it */
    bool away;           /* its bytes are given up for now */
    struct vram_storage *next_free;
};

struct vram_handle {
    int32_t refs;
    uint8_t rank;
    uint8_t dtype;
    bool requires_grad;
    bool leaf;           /* a parameter, or an activation told to require grad */
    uint16_t out;        /* which output of node it is */
    uint32_t param;      /* parameter of the tree; VRAM_NO_PARAM = none */
    uint32_t cast_generation; /* autocast region in which `cast` was made */
    struct vram_storage *storage;  /* NULL: no bytes */
    struct vram_handle *base;      /* a view holds what it looks into */
    struct vram_tape_node *node;   /* made it; NULL for leaves and without grad */
    struct vram_tape_node *accumulate; /* leaf: its AccumulateGrad while an edge holds it (not owned) */
    struct vram_handle *grad;      /* leaf */
    struct vram_handle *cast;      /* leaf: its copy in the autocast cache (not owned) */
    struct vram_handle *next_free;
    int64_t shape[VRAM_MAX_RANK];
    int64_t stride[VRAM_MAX_RANK];
};

struct vram_holder;

/* An entry of the tape: a tensor, or under a checkpoint a holder that the recomputation fills. */
struct vram_saved {
    struct vram_handle *tensor;
    struct vram_holder *holder;
};

struct vram_edge {
    struct vram_tape_node *node; /* NULL: this input needs no gradient */
    uint16_t out;
};

/* shape and dtype of an input, as the gradient must come back */
struct vram_meta {
    uint8_t rank, dtype;
    int64_t shape[VRAM_MAX_RANK];
};

typedef void (*vram_backward_fn)(struct vram_machine *m, struct vram_tape_node *n,
                                 struct vram_handle **grads, struct vram_handle **saved,
                                 struct vram_handle **out);

enum { VRAM_NODE_STEPS = 32 };

struct vram_tape_node {
    int32_t refs;
    uint16_t nedges, nsaved, nouts;
    uint16_t op;
    uint8_t size_class;
    bool dead;                  /* in the list of nodes to be freed */
    uint32_t scope;             /* module that ran the forward */
    uint32_t task;              /* backward call that visits it, and its number there */
    uint32_t visit;
    uint64_t seq;
    vram_backward_fn backward;  /* NULL: AccumulateGrad of `variable` */
    struct vram_handle *variable;
    struct vram_checkpoint_frame *frame; /* reentrant: what the call captured; lives as long as the node */
    int64_t arg[6];             /* what the formula needs to know: a dim, a start */
    struct vram_edge *edges;
    struct vram_meta *meta;
    struct vram_saved *saved;
    struct vram_tape_node *next;
};

struct vram_op_row;

/* Around the calls of modules, where strategies gather parameters and let them go.  Backward of a
 * module begins as the gradient of one of its outputs comes, and ends when all its inputs have theirs:
 * it is told if before_forward (inputs) and after_forward (outputs) have said so by true. */
struct vram_module_hooks {
    bool (*before_forward)(struct vram_machine *m, uint32_t scope);
    bool (*after_forward)(struct vram_machine *m, uint32_t scope);
    void (*before_backward)(struct vram_machine *m, uint32_t scope); /* for each output */
    void (*after_backward)(struct vram_machine *m, uint32_t scope);
    bool (*wants)(struct vram_machine *m, uint32_t scope); /* NULL: every module */
    void (*names)(struct vram_machine *m, uint32_t param); /* code names a parameter; NULL: nothing */
    bool keywords; /* tensors among the keywords are inputs, too */
    bool behind;   /* at the tensor itself: an input's hook runs behind that of the output it is */
    bool casts, casts_top; /* hooked_dtype holds for inputs and outputs; for the top module's inputs */
};

/* How the run answers setting(KEY); false: there is no such key. */
typedef bool (*vram_setting_fn)(void *ctx, vram_sym key, struct vram_value *out);

/* attention=: which kernel scaled_dot_product_attention may take */
enum vram_attention { VRAM_ATTENTION_AUTO, VRAM_ATTENTION_EFFICIENT, VRAM_ATTENTION_MATH };
/* which one it took */
enum vram_kernel { VRAM_KERNEL_FLASH, VRAM_KERNEL_EFFICIENT, VRAM_KERNEL_MATH };

struct vram_machine {
    struct vram_cx *cx;
    const struct vram_program *program;
    const struct vram_tree *tree;
    struct vram_events *events;
    vram_setting_fn setting;
    void *setting_ctx;
    jmp_buf escape;             /* set by vram_machine_try's caller */

    /* the state of the framework */
    bool grad, training;
    bool checkpointing;         /* of any component: what models look at to drop their cache */
    bool card;                  /* kernels as a card has them (kernels_as=card) */
    bool selective;             /* checkpoints are around attention alone */
    uint32_t selected;          /* calls of it */
    vram_sym core_attention;    /* the function of templates */
    bool reentrant;             /* kind of checkpointing */
    bool input_grads;           /* checkpointing made embeddings require grad */
    bool workspaces;            /* memory inside kernels is counted as well */
    enum vram_attention attention;
    unsigned kernels;           /* one bit for each enum vram_kernel that ran */
    int sm;                     /* compute capability × 10 of the card */
    int sms;                    /* its multiprocessors */
    enum vram_dtype autocast;   /* VRAM_DT_NONE = off */
    uint32_t cache_generation;  /* 0 = no cache */
    uint32_t generations;
    VRAM_GROW(struct vram_handle *) cache;
    struct vram_checkpoint_frame *hooks; /* innermost checkpoint whose forward or recomputation runs */
    uint64_t live;              /* bytes of living storages */
    uint64_t seq;
    uint32_t tasks;
    uint32_t backwards;         /* that run now, one inside the other */
    bool stopped;               /* a recomputation has all it needs: unwind to it */

    /* where we are, for owners and errors */
    uint32_t scope;
    bool in_loss, loss_begun;
    uint16_t op;
    uint32_t at;                /* node of the program */
    uint64_t steps;
    uint32_t depth;
    struct vram_value *stack;   /* slots of all frames */
    uint32_t top, stack_size;
    const uint8_t *op_nparams;
    vram_sym sym_shape, sym_append;
    /* while a tree is built: where an integer came from (tree.c); NULL in a run */
    uint32_t (*tag_config)(struct vram_machine *m, struct vram_config *c);
    uint32_t (*tag_product)(struct vram_machine *m, const struct vram_value *a,
                            const struct vram_value *b);
    void *tags;
    uint16_t op_add, op_sub, op_mul, op_div, op_neg, op_compare;
    const char *phase_prefix;   /* "step1." */
    bool shared_sequence;       /* between ranks: attention has to know */
    bool quiet;                 /* code's own phases are not told */
    const bool *checkpointed_component; /* by component sym; NULL = none */
    const bool *passed_over;            /* by scope: a layer that is not, of every n-th; NULL = none */
    bool offload_inputs;                /* what a checkpoint keeps waits in host memory */
    uint64_t offloaded, most_offloaded; /* bytes of pinned host memory that it takes */
    uint32_t ncheckpointed;

    /* called when a leaf's gradient has been accumulated: where strategies hook */
    void (*accumulated)(struct vram_machine *m, struct vram_handle *leaf, struct vram_handle *g);
    void *strategy;
    const struct vram_module_hooks *around; /* NULL = none */
    enum vram_dtype hooked_dtype; /* of floats where the hooks cast; VRAM_DT_NONE: as they are */
    void (*finish)(struct vram_machine *m, struct vram_value *out); /* what wraps the top module's forward */
    uint32_t *inputs_left;      /* by scope: inputs whose gradient has not come */
    uint8_t stream;             /* of what is made next */
    bool keeps_linear;          /* a Linear saves all its operands, whoever trains */

    struct vram_handle **params; /* by number in the tree; NULL when absent */
    /* free lists */
    struct vram_handle *free_handles;
    struct vram_storage *free_storages;
    struct vram_tape_node *free_nodes[VRAM_NODE_STEPS + 64]; /* by size_class */
    struct vram_tape_node *dead;
    bool draining;
    struct vram_box *dead_boxes;
    int drops;                   /* containers that are dying, each inside the one before */
};

/* A machine at rest; the caller sets events, params and the state of the run, and sets `escape` by
 * setjmp before it calls anything that may throw. */
int vram_machine_init(struct vram_machine *m, struct vram_cx *cx, const struct vram_program *program,
                      const struct vram_tree *tree);
/* Leaves the run with an error; text as for vram_fail, the place in the template is added. */
__attribute__((noreturn, format(printf, 3, 4))) void vram_throw(struct vram_machine *m, int code,
                                                                const char *format, ...);
__attribute__((noreturn)) void vram_throw_memory(struct vram_machine *m);
void *vram_machine_alloc(struct vram_machine *m, size_t n, size_t size);
vram_sym vram_machine_sym(struct vram_machine *m, const char *text);

/* One call: arguments are owned by the call. */
struct vram_call {
    struct vram_value args[VRAM_MAX_ARGS];
    uint32_t nargs;
    struct { vram_sym name; struct vram_value value; } kw[VRAM_MAX_ARGS];
    uint32_t nkw;
};

/* ---- tensors (value.c) -------------------------------------------------------------------- */

/* A new tensor with its own storage; stride NULL = contiguous. */
struct vram_handle *vram_new(struct vram_machine *m, const int64_t *shape, int rank,
                             enum vram_dtype dtype, const int64_t *stride);
/* The same without a storage, for now. */
struct vram_handle *vram_blank(struct vram_machine *m, const int64_t *shape, int rank,
                               enum vram_dtype dtype);
struct vram_handle *vram_new_like(struct vram_machine *m, const struct vram_handle *x,
                                  enum vram_dtype dtype);
struct vram_handle *vram_new_scalar(struct vram_machine *m, enum vram_dtype dtype);
/* Another handle on x's storage.  view: it holds x too (and with it x's place in the graph). */
struct vram_handle *vram_alias(struct vram_machine *m, struct vram_handle *x, const int64_t *shape,
                               const int64_t *stride, int rank, bool view);
struct vram_handle *vram_detach(struct vram_machine *m, struct vram_handle *x);
static inline struct vram_handle *vram_hold(struct vram_handle *x)
{
    if (x)
        x->refs++;
    return x;
}
void vram_drop(struct vram_machine *m, struct vram_handle *x);
/* x becomes a look into another tensor's storage (NULL: none for now), its own bytes go. */
void vram_storage_move(struct vram_machine *m, struct vram_handle *x, struct vram_handle *to);
/* The bytes of a storage go and come back (as another row of the events, so many); its holders
 * do not notice. */
void vram_storage_leave(struct vram_machine *m, struct vram_storage *s);
void vram_storage_return(struct vram_machine *m, struct vram_storage *s, uint64_t bytes);
/* Drops *x and makes it NULL. */
void vram_let_go(struct vram_machine *m, struct vram_handle **x);
void vram_set_category(struct vram_machine *m, struct vram_handle *x, enum vram_category category);
/* The tape (or a checkpoint) begins and ends to hold x's storage. */
void vram_mark_saved(struct vram_machine *m, struct vram_handle *x);
void vram_unmark_saved(struct vram_machine *m, struct vram_handle *x); /* x is dropped next */
/* A block inside a kernel or library that lives while the op runs. */
struct vram_storage *vram_workspace_begin(struct vram_machine *m, uint64_t low, uint64_t expected,
                                          uint64_t high);
void vram_workspace_end(struct vram_machine *m, struct vram_storage *s);
void vram_phase(struct vram_machine *m, const char *name);
void vram_empty_cache(struct vram_machine *m); /* torch.cuda.empty_cache() */

int64_t vram_numel(const struct vram_handle *x);

/* ---- values (value.c) --------------------------------------------------------------------- */

struct vram_value vram_value_hold(struct vram_value v);
void vram_value_drop(struct vram_machine *m, struct vram_value v);
struct vram_box *vram_box_new(struct vram_machine *m, enum vram_box_kind kind, uint32_t n);
void vram_box_push(struct vram_machine *m, struct vram_box *box, struct vram_value v); /* takes v */
void vram_box_set(struct vram_machine *m, struct vram_box *box, uint32_t i,
                  struct vram_value v); /* takes v, drops the old one */
/* What a declaration makes lives as long as the tree and is shared: no longer counted or changed.
 * depth: 0. */
void vram_value_keep(struct vram_machine *m, struct vram_value v, int depth);
static inline struct vram_value vram_tensor_value(struct vram_handle *x) /* takes x */
{
    struct vram_value v = {.kind = x ? VRAM_V_TENSOR : VRAM_V_NONE};
    v.u.tensor = x;
    return v;
}

/* ---- layout (layout.c) -------------------------------------------------------------------- */

void vram_contiguous_strides(const int64_t *shape, int rank, int64_t *stride);
bool vram_is_contiguous(const struct vram_handle *x);
bool vram_is_dense(const int64_t *shape, const int64_t *stride, int rank);
/* Strides of x seen as shape; false when a copy is needed. */
bool vram_view_strides(const struct vram_handle *x, const int64_t *shape, int rank,
                       int64_t *stride);
/* Broadcast shape of n operands; throws when they do not fit. */
int vram_broadcast(struct vram_machine *m, struct vram_handle *const *xs, int n, int64_t *shape);
/* The strides that an elementwise result gets: the first operand with an opinion decides. */
void vram_elementwise_strides(const int64_t *shape, int rank, struct vram_handle *const *xs, int n,
                              int64_t *stride);
/* Strides of empty_like: x's own when dense, else as an elementwise op would choose. */
void vram_like_strides(const struct vram_handle *x, int64_t *stride);

/* ---- tape (tape.c) ------------------------------------------------------------------------ */

struct vram_begin {
    struct vram_handle *const *inputs; /* NULL entries: absent */
    int ninputs;
    struct vram_handle *const *save;   /* inputs to keep; NULL entries keep their place */
    int nsave;
    int nsave_out;                     /* outputs that vram_end will add */
    vram_backward_fn backward;
};
/* Before the kernel runs: a node with its edges, inputs packed in order.  *out = NULL when nothing
 * needs grad.  True: the recomputation stops here; the op returns at once. */
bool vram_begin(struct vram_machine *m, struct vram_tape_node **out, const struct vram_begin *b);
/* After it: outputs get their place in the graph, outputs to keep are packed.  True: stop. */
bool vram_end(struct vram_machine *m, struct vram_tape_node *n, struct vram_handle *const *outs,
              int nouts, struct vram_handle *const *save, int nsave);
static inline bool vram_needs(const struct vram_tape_node *n, int i)
{
    return n->edges[i].node != NULL;
}
void vram_node_drop(struct vram_machine *m, struct vram_tape_node *n);
void vram_saved_drop(struct vram_machine *m, struct vram_saved *s);
/* Notes for every storage that the graph of loss holds which module's entry is the first (row.saver). */
void vram_tape_savers(struct vram_machine *m, struct vram_handle *loss);
void vram_require_grad(struct vram_machine *m, struct vram_handle *x); /* makes x a leaf */
/* Where gradients of x go: the node that made it, a leaf's AccumulateGrad, NULL; new. */
struct vram_tape_node *vram_place(struct vram_machine *m, struct vram_handle *x);

/* ---- backward (backward.c) ---------------------------------------------------------------- */

/* Runs from loss; root: its gradient, taken (NULL = one is made).  Hooks of the strategy are
 * called where AccumulateGrad has set .grad. */
void vram_backward(struct vram_machine *m, struct vram_handle *loss, struct vram_handle *root);
/* From several tensors with the gradients that the caller holds. */
void vram_backward_from(struct vram_machine *m, struct vram_handle *const *xs,
                        struct vram_handle *const *grads, int n);
struct vram_handle *vram_reshape_gradient(struct vram_machine *m, struct vram_handle *g,
                                          const int64_t *shape, int rank);

/* ---- checkpoint (checkpoint.c) ------------------------------------------------------------ */

/* function: VRAM_NO_INDEX = the module that runs */
bool vram_checkpoint_call(struct vram_machine *m, uint32_t function, const struct vram_call *call,
                          struct vram_value *out);
bool vram_reentrant_call(struct vram_machine *m, const struct vram_call *call, struct vram_value *out);
bool vram_pack(struct vram_machine *m, struct vram_saved *entry, struct vram_handle *x);
struct vram_handle *vram_unpack(struct vram_machine *m, struct vram_saved *entry); /* new reference */
void vram_checkpoint_drop(struct vram_machine *m, struct vram_checkpoint_frame *f);
/* The arguments that a checkpoint keeps, when they were kept and by which module; NULL for no holder. */
const struct vram_call *vram_holder_call(const struct vram_holder *h, uint64_t *seq, uint32_t *scope);
void vram_holder_drop(struct vram_machine *m, struct vram_holder *h);

/* ---- autocast (autocast.c) ---------------------------------------------------------------- */

/* x in the autocast dtype (new reference); trainable fp32 leaves come from the cache. */
struct vram_handle *vram_autocast_lower(struct vram_machine *m, struct vram_handle *x);
struct vram_handle *vram_autocast_fp32(struct vram_machine *m, struct vram_handle *x);
struct vram_handle *vram_cast(struct vram_machine *m, struct vram_handle *x, enum vram_dtype dtype);
void vram_autocast_enter(struct vram_machine *m, enum vram_dtype dtype);
void vram_autocast_leave(struct vram_machine *m);

/* ---- interpreter (frame.c, eval.c) -------------------------------------------------------- */

void vram_call_drop(struct vram_machine *m, struct vram_call *call);
/* Calls a module as the framework does: its arguments live until it returns.  True: stopped.  */
bool vram_call_module(struct vram_machine *m, uint32_t scope, struct vram_call *call,
                      struct vram_value *out);
/* Runs the body of a scope's class without the wrapper of a module call. */
bool vram_run_forward(struct vram_machine *m, uint32_t scope, const struct vram_call *call,
                      struct vram_value *out);
/* The same of a module in a split model, without the function that is around its forward. */
bool vram_call_inner(struct vram_machine *m, uint32_t scope, struct vram_call *call, struct vram_value *out);
/* hooks.c: the same with hooks; body is what runs */
bool vram_hooked_forward(struct vram_machine *m, uint32_t scope, const struct vram_call *call,
                         struct vram_value *out,
                         bool (*body)(struct vram_machine *m, uint32_t scope,
                                      const struct vram_call *call, struct vram_value *out));
/* Calls a function; arguments are moved into its frame.  scope: of a method, else VRAM_NO_INDEX. */
bool vram_call_function(struct vram_machine *m, uint32_t function, uint32_t scope,
                        struct vram_call *call, struct vram_value *out);
struct vram_frame {
    uint32_t scope;             /* whose members are visible; VRAM_NO_INDEX in free functions */
    const struct vram_class *cls;
    struct vram_value *slots;
};
/* An expression's value, a new reference.  True: stopped. */
bool vram_eval(struct vram_machine *m, struct vram_frame *f, uint32_t node, struct vram_value *out);
bool vram_eval_call(struct vram_machine *m, struct vram_frame *f, uint32_t node,
                    struct vram_value *out);
bool vram_eval_binary(struct vram_machine *m, const struct vram_node *n, struct vram_value a,
                      struct vram_value b, struct vram_value *out); /* takes a and b */
bool vram_truth(struct vram_machine *m, struct vram_value v);
bool vram_values_equal(struct vram_machine *m, const struct vram_value *a,
                       const struct vram_value *b);
/* One step of the budget: throws when it is used up. */
void vram_step(struct vram_machine *m);
/* A step and one level of depth, which --m->depth takes back: throws when there are too many. */
void vram_deeper(struct vram_machine *m);
/* A config value as a value of the language; arrays become lists that live as long as the arena. */
struct vram_value vram_config_value(struct vram_machine *m, struct vram_config *c);
/* The member of a scope as a value (not a new reference, but for tensors). */
struct vram_value vram_member_value(struct vram_machine *m, uint32_t scope, uint32_t member);
/* Slots for a frame; throws when the stack is full. */
struct vram_value *vram_slots_take(struct vram_machine *m, uint32_t n);
void vram_slots_give(struct vram_machine *m, struct vram_value *slots, uint32_t n);

/* ---- ops (ops/) --------------------------------------------------------------------------- */

/* a: one value per name of the row's parameters, NONE when not given.  The function stores a new
 * reference in *out.  True: stopped. */
typedef bool (*vram_op_run_fn)(struct vram_machine *m, const struct vram_op_row *row,
                               struct vram_value *a, struct vram_value *out);

struct vram_op_row {
    const char *name;
    const char *params;    /* "x w b?" : ? = may be absent */
    const char *autocast;  /* "lower", "fp32", "promote", "" */
    const char *saves;     /* for people: "input if the weight trains, weight if the input does" */
    const char *allocates; /* for people: forward and backward */
    const char *source;
    vram_op_run_fn run;
    const char *torch;     /* aten kernel of a one-kernel family: picks the variant */
};
uint32_t vram_op_find(const char *name); /* VRAM_NO_INDEX when unknown */
const struct vram_op_row *vram_op_row_at(uint32_t op);
uint32_t vram_op_count(void);

#endif
