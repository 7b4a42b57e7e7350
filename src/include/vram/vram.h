/* SPDX-License-Identifier: Apache-2.0
 *
 * vramcast: peak GPU memory of training and inference, predicted from a model's files.
 *
 * The whole public interface.  Use:
 *
 *     vram_model *model; vram_plan *plan; vram_report *report; vram_error error;
 *     if (vram_model_open(&model, "llava-1.5-7b-hf", NULL, &error)) ...   error.text says why
 *     vram_plan_create(&plan, &error);
 *     vram_plan_set(plan, "micro_batch", "8", &error);
 *     vram_predict(&report, model, plan, &error);
 *     vram_report_view view = {.size = sizeof view};
 *     vram_report_get(report, &view);                  view.peak_allocated.expected bytes
 *
 * Conventions
 *   - Functions that can fail return VRAM_OK (0) or a negative VRAM_E_* code, take the result's
 *     place first and `vram_error *` last; the error may be NULL.  On failure the result is
 *     untouched.
 *   - Sizes are bytes, counts are elements, dimensions are int64_t ≥ 0.  Nothing is ever in MiB.
 *   - A view is a caller's struct whose first member `size` the caller sets to sizeof(view); only
 *     members that fit are filled, so that a program runs with a newer library.  Strings in views
 *     belong to the handle they came from and live as long as it does; none is ever NULL unless
 *     said.
 *   - Handles are freed by their _free function, which takes NULL.  Nothing else is freed.  A report
 *     refers to its model, which is freed after it.
 *   - Thread safety: the library has no global state that changes.  A vram_model and a
 *     vram_report never change once made, so any number of threads may read one at a time.  A
 *     vram_plan may be read by many threads while nobody sets.
 *   - The library never prints, never exits, never reads the environment, never opens a network
 *     connection, and reads only files of the model and the settings files it is pointed at.
 */
#ifndef VRAM_VRAM_H
#define VRAM_VRAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define VRAM_API __attribute__((visibility("default")))
#else
#define VRAM_API
#endif

/* Grows by one with every addition to this file. */
#define VRAM_API_VERSION 2

/* ---- errors ------------------------------------------------------------------------------- */

enum vram_code {
    VRAM_OK = 0,
    VRAM_E_NOMEM = -1,       /* out of memory */
    VRAM_E_IO = -2,          /* the operating system refused to open or read a file */
    VRAM_E_FORMAT = -3,      /* a file breaks the rules of its format */
    VRAM_E_LIMIT = -4,       /* a file asks for more than the library's limits allow */
    VRAM_E_UNSUPPORTED = -5, /* a valid input of a kind that is not supported */
    VRAM_E_CONFLICT = -6,    /* two statements contradict each other and none may win */
    VRAM_E_UNBOUND = -7,     /* a size that is needed is given nowhere */
    VRAM_E_ARGUMENT = -8,    /* the caller's argument or setting is wrong */
    VRAM_E_NOTFOUND = -9,    /* a file, setting or name does not exist */
    VRAM_E_RANGE = -10,      /* a number is outside its range, or a product overflows */
    VRAM_E_CANCELED = -11,   /* the caller's write function refused */
    VRAM_E_INTERNAL = -12    /* a fault of the library itself */
};

#define VRAM_NO_OFFSET UINT64_MAX

/* Caller-owned, fixed size, valid even when memory has run out. */
typedef struct vram_error {
    int code;        /* VRAM_OK or the returned code */
    uint64_t offset; /* byte in the file that `where` names, or VRAM_NO_OFFSET */
    char where[256]; /* "model.safetensors: tensor 'lm_head.weight'"; may be "" */
    char text[384];  /* one line, what is wrong and what to do */
} vram_error;

/* "format", "limit" ...; "unknown" for other numbers. */
VRAM_API const char *vram_code_name(int code);

/* "1.2.3" of the library that runs, and its VRAM_API_VERSION. */
VRAM_API const char *vram_version(void);
VRAM_API int vram_api_version(void);

/* Where text goes: n bytes; returns 0, or anything else to stop (VRAM_E_CANCELED). */
typedef int (*vram_write_fn)(void *ctx, const char *text, size_t n);

/* ---- findings ----------------------------------------------------------------------------- */

enum vram_severity {
    VRAM_NOTE = 0,   /* worth knowing */
    VRAM_ASSUME = 1, /* a default that the user did not state, or a rule with no proof */
    VRAM_WARN = 2    /* something is wrong with the input; the answer stands under that doubt */
};

typedef struct vram_finding_view {
    size_t size;
    const char *id;      /* stable: "V0207" */
    const char *name;    /* stable: "UNKNOWN_ARCHITECTURE" */
    int severity;        /* enum vram_severity */
    const char *subject; /* file, tensor, config key or setting; may be "" */
    const char *text;    /* one line */
} vram_finding_view;

/* ---- models ------------------------------------------------------------------------------- */

typedef struct vram_model vram_model;

typedef struct vram_open_options {
    size_t size;
    const char *templates_dir; /* further .vt files that go before the built-in ones; NULL = none */
    uint64_t memory_limit;     /* most bytes one handle may take; 0 = 2 GiB */
    const char *vision_tower;  /* directory of a tower the checkpoint only names; NULL = look beside it */
    const char *task;          /* "classify": the family's classifier in place of another head; NULL */
} vram_open_options;

/* Opens a checkpoint directory, one .safetensors file, a config.json (nothing downloaded yet), or an ONNX file.
 * Only headers are read, never weights.  Errors: VRAM_E_NOTFOUND, _IO, _FORMAT, _LIMIT,
 * _UNSUPPORTED, _CONFLICT, _RANGE, _NOMEM.  What is odd but leaves an answer is a finding. */
VRAM_API int vram_model_open(vram_model **out, const char *path, const vram_open_options *options,
                             vram_error *error);
VRAM_API void vram_model_free(vram_model *model);

typedef struct vram_model_view {
    size_t size;
    const char *path;           /* as given */
    const char *format;         /* "safetensors" or "config" */
    const char *family;         /* model_type: "llava"; "" when nothing says it */
    const char *class_name;     /* "LlavaForConditionalGeneration"; "" for an unknown architecture */
    const char *summary;        /* one line: "CLIP vision encoder ... 32-layer Llama decoder" */
    uint64_t parameters;        /* elements, tied weights once */
    uint64_t named_only;        /* of them: of a checkpoint that this one only names, not at hand */
    uint64_t parameter_bytes;   /* as stored, or as the config says for a bare config */
    uint32_t weight_files;      /* 0 for a bare config */
    uint32_t modules;
    int activations_known;      /* 0: no template says what this architecture runs */
} vram_model_view;
VRAM_API void vram_model_get(const vram_model *model, vram_model_view *view);

/* Components in the order of the data: vision, projector, decoder, lm_head, fusion ... */
typedef struct vram_component_view {
    size_t size;
    const char *name;
    uint64_t parameters, parameter_bytes; /* as stored */
    uint64_t named_only; /* of the parameters: see vram_model_view */
    uint32_t modules;
} vram_component_view;
VRAM_API size_t vram_model_component_count(const vram_model *model);
VRAM_API void vram_model_component(const vram_model *model, size_t i, vram_component_view *view);

/* Modules in registration order, parents first; number 0 is the model itself. */
typedef struct vram_module_view {
    size_t size;
    const char *path;       /* "model.language_model.layers.7.mlp"; "" for the model itself */
    const char *class_name; /* "LlamaMLP"; "" in an unknown architecture */
    const char *component;
    uint32_t parent;        /* number of the parent; 0 for the model itself */
    uint32_t depth;         /* 0 for the model itself */
    uint32_t repeat;        /* siblings alike in a row, this one included; 0 on the later ones */
    uint64_t parameters;    /* of the module and everything below, tied weights once */
    uint64_t parameter_bytes;
} vram_module_view;
VRAM_API size_t vram_model_module_count(const vram_model *model);
VRAM_API void vram_model_module(const vram_model *model, size_t i, vram_module_view *view);

/* Parameters and buffers in registration order. */
typedef struct vram_param_view {
    size_t size;
    const char *path;    /* "model.language_model.embed_tokens.weight" */
    const char *stored;  /* name in the file; "" when not stored */
    const char *file;    /* weight file; "" when not stored */
    const char *dtype;   /* "bf16" */
    const char *tied_to; /* path of the parameter it is; "" when it is its own */
    uint32_t module;     /* number of the module that owns it */
    uint32_t rank;
    const int64_t *dims; /* rank of them */
    uint64_t bytes;
    int buffer;          /* 1: a buffer, not a parameter */
} vram_param_view;
VRAM_API size_t vram_model_param_count(const vram_model *model);
VRAM_API void vram_model_param(const vram_model *model, size_t i, vram_param_view *view);

/* Config values that the module tree was built from, and who said them. */
typedef struct vram_config_view {
    size_t size;
    const char *key;      /* "text_config.hidden_size" */
    const char *value;    /* as JSON */
    const char *origin;   /* "config", "tensor", "default" (of the class), "derived" */
    uint64_t offset;      /* byte in config.json, or VRAM_NO_OFFSET */
} vram_config_view;
VRAM_API size_t vram_model_config_count(const vram_model *model);
VRAM_API void vram_model_config(const vram_model *model, size_t i, vram_config_view *view);

VRAM_API size_t vram_model_finding_count(const vram_model *model);
VRAM_API void vram_model_finding(const vram_model *model, size_t i, vram_finding_view *view);

/* ---- plans -------------------------------------------------------------------------------- */

/* The settings of one run; `vramcast list settings` shows all keys. */
typedef struct vram_plan vram_plan;

VRAM_API int vram_plan_create(vram_plan **out, vram_error *error);
VRAM_API void vram_plan_free(vram_plan *plan);
/* A second plan with the same values, who gave them and the findings: to try a change. */
VRAM_API int vram_plan_copy(vram_plan **out, const vram_plan *from, vram_error *error);
/* Sets one key from text.  VRAM_E_NOTFOUND: no such key; VRAM_E_ARGUMENT: not a value of its type;
 * VRAM_E_RANGE: outside its range. */
VRAM_API int vram_plan_set(vram_plan *plan, const char *key, const char *value, vram_error *error);
/* Sets keys from a flat JSON object {"micro_batch": 8, ...}; all of them or, on failure, none. */
VRAM_API int vram_plan_set_json(vram_plan *plan, const char *text, size_t n, vram_error *error);
/* The text of a key that was given; NULL when it was not (its default holds). */
VRAM_API const char *vram_plan_get(const vram_plan *plan, const char *key);

/* Sets keys from n files of other tools (docs/settings.md): DeepSpeed, TrainingArguments and accelerate
 * JSON or YAML, LLaMA-Factory and axolotl YAML, shell scripts with a launch command.  Keys that the
 * plan gives already stay as they are; vram_plan_set changes any of them afterwards.  Of two files that
 * disagree the later one is taken, with a finding.  All of what they say is set or, on failure, nothing.
 *
 * Reads the files, and those that they name below their own folder; a script is read as words, never
 * run.  Paths are only used during the call.  Errors: VRAM_E_NOTFOUND, _IO; _FORMAT, with
 * "FILE:LINE" in error->where; _UNSUPPORTED, no settings of a known tool; _LIMIT, too large, too deep or
 * too many; _ARGUMENT and _RANGE, a value that the plan refuses; _NOMEM.  What matters and is not
 * understood is a finding of the plan.  Not while another thread uses the plan. */
VRAM_API int vram_plan_set_files(vram_plan *plan, const char *const *paths, size_t n,
                                 vram_error *error);
/* Who gave a key: "zero2.json:12", or "default of TrainingArguments"; NULL when vram_plan_set did or
 * nobody.  Valid until the plan changes. */
VRAM_API const char *vram_plan_by(const vram_plan *plan, const char *key);
/* Findings about settings files; a report has them, too.  Valid until the plan changes. */
VRAM_API size_t vram_plan_finding_count(const vram_plan *plan);
VRAM_API void vram_plan_finding(const vram_plan *plan, size_t i, vram_finding_view *view);

typedef struct vram_setting_view {
    size_t size;
    const char *key;      /* "dim.NAME": NAME stands for any name */
    const char *type;     /* "integer", "number", "fraction", "choice", "switch", "bytes", "size",
                             "list", "text", "version", "shape" */
    const char *values;   /* choices or range: "fp32 bf16 ..." , "1..1048576" */
    const char *fallback; /* default, "" = decided by the model or by other settings */
    const char *help;
    const char *source;   /* where the default comes from */
} vram_setting_view;
VRAM_API size_t vram_setting_count(void);
VRAM_API void vram_setting(size_t i, vram_setting_view *view);

/* ---- reports ------------------------------------------------------------------------------ */

typedef struct vram_report vram_report;

/* Runs the plan on the model, without data.  The report refers to the model: free the model last.  Errors: VRAM_E_ARGUMENT, _RANGE (a plan that the model
 * cannot run, a total that overflows), _UNSUPPORTED, _LIMIT, _NOMEM.  An architecture without a template gives a
 * report without a peak. */
VRAM_API int vram_predict(vram_report **out, const vram_model *model, const vram_plan *plan,
                          vram_error *error);
VRAM_API void vram_report_free(vram_report *report);

typedef struct vram_range {
    uint64_t low, expected, high; /* bytes */
} vram_range;

enum vram_verdict { VRAM_FITS, VRAM_TIGHT, VRAM_DOES_NOT_FIT, VRAM_CANNOT_TELL, VRAM_NO_GPU };

typedef struct vram_report_view {
    size_t size;
    int peak_known;               /* 0: the figures of the peak below are 0 */
    vram_range allocated;         /* torch's memory_allocated at its highest */
    vram_range reserved;          /* torch's memory_reserved at its highest */
    vram_range device;            /* reserved + what lives outside torch: context, libraries, NCCL */
    const char *peak_phase;       /* "step2.backward" */
    const char *peak_owner;       /* module running at the peak */
    /* the factors at the peak; their sum is allocated.expected */
    uint64_t parameters, gradients, optimizer, activations, temporaries, inputs, buffers, workspace,
        rounding;
    uint64_t saved;               /* kept for backward at the end of the first forward */
    uint64_t saved_512;           /* the same, each storage rounded up to 512 bytes */
    uint64_t parameters_total, parameters_trainable; /* elements, adapters included */
    uint64_t named_only;          /* of the total: see vram_model_view */
    uint64_t events;              /* allocations and frees of the run */
    const char *gpu;              /* "" when none was given */
    uint64_t gpu_capacity;        /* usable bytes; 0 without a GPU */
    int verdict;                  /* enum vram_verdict */
    const char *verdict_name;     /* "fits", "tight", "does-not-fit", "cannot-tell", "" */
    const char *estimator;        /* "timeline" or "sum" */
    vram_range host;              /* host memory that offloading takes on each rank, at its highest */
} vram_report_view;
VRAM_API void vram_report_get(const vram_report *report, vram_report_view *view);

/* Bytes at the peak, but for `saved`. */
typedef struct vram_report_component_view {
    size_t size;
    const char *name;
    uint64_t parameter_count, trainable_count;
    uint64_t named_only; /* of the count: see vram_model_view */
    uint64_t parameters, gradients, optimizer, activations;
    uint64_t saved; /* kept for backward at the end of the first forward */
} vram_report_component_view;
VRAM_API size_t vram_report_component_count(const vram_report *report);
VRAM_API void vram_report_component(const vram_report *report, size_t i,
                                    vram_report_component_view *view);

/* The timeline; bytes of the framework's own tensors, without rounding and workspaces. */
typedef struct vram_phase_view {
    size_t size;
    const char *name; /* "load", "step1.forward" ... */
    uint64_t peak, end;
} vram_phase_view;
VRAM_API size_t vram_report_phase_count(const vram_report *report);
VRAM_API void vram_report_phase(const vram_report *report, size_t i, vram_phase_view *view);

/* With rank=all, where ranks differ: the first of those that are alike. */
typedef struct vram_rank_view {
    size_t size;
    uint64_t rank, stage;
    vram_range allocated, reserved, device;
    const char *phase; /* of its peak */
} vram_rank_view;
VRAM_API size_t vram_report_rank_count(const vram_report *report);
VRAM_API void vram_report_rank(const vram_report *report, size_t i, vram_rank_view *view);

typedef struct vram_report_setting_view {
    size_t size;
    const char *key, *value;
    const char *origin; /* "given", "model", "default", "assumed" */
    const char *by;     /* who gave it, as vram_plan_by says; "" when no settings file did */
} vram_report_setting_view;
VRAM_API size_t vram_report_setting_count(const vram_report *report);
VRAM_API void vram_report_setting(const vram_report *report, size_t i,
                                  vram_report_setting_view *view);

VRAM_API size_t vram_report_finding_count(const vram_report *report);
VRAM_API void vram_report_finding(const vram_report *report, size_t i, vram_finding_view *view);

/* Every allocation of the run, in order: what `vramcast explain` shows. */
typedef struct vram_storage_view {
    size_t size;
    uint64_t bytes;
    const char *module;      /* path of the innermost module running when it was made */
    const char *component;
    const char *op;          /* machine op, "linear"; or "load", "inputs", "adamw" */
    const char *what;        /* parameter name or "" */
    const char *category;    /* at the peak, or its last when it is not alive then */
    const char *rule;        /* why it is there and how large: the op row's sentence */
    const char *made, *gone; /* phases; gone = "" when it lives to the end */
    int at_peak;             /* 1: alive at the peak */
} vram_storage_view;
VRAM_API size_t vram_report_storage_count(const vram_report *report);
VRAM_API void vram_report_storage(const vram_report *report, size_t i, vram_storage_view *view);

/* The report as JSON, schema "vramcast.report/1" (docs/report.md); byte-stable. */
VRAM_API int vram_report_json(const vram_report *report, vram_write_fn write, void *ctx,
                              vram_error *error);

/* ---- ONNX graphs -------------------------------------------------------------------------- */

/* An ONNX file as it stands: nodes and the names of their values, never the weights.  Read-only once
 * open. */
typedef struct vram_graph vram_graph;

/* options may be NULL; its memory_limit counts.  Errors as vram_model_open. */
VRAM_API int vram_graph_open(vram_graph **out, const char *path, const vram_open_options *options,
                             vram_error *error);
VRAM_API void vram_graph_free(vram_graph *graph);

typedef struct vram_graph_view {
    size_t size;
    const char *path;                        /* as given */
    const char *producer, *producer_version; /* "pytorch", "2.9.1"; may be "" */
    int64_t ir_version, opset;               /* opset of ai.onnx; 0 = none */
    uint32_t graphs, nodes, values;          /* subgraphs and bodies of functions included */
    uint32_t initializers;
    uint64_t initializer_bytes;
} vram_graph_view;
VRAM_API void vram_graph_get(const vram_graph *graph, vram_graph_view *view);

/* What every value of the graphs is, as expressions over the sizes of the inputs. */
typedef struct vram_shapes vram_shapes;

/* plan may be NULL.  Of its settings count dim.NAME (a size that the file gives a name) and input.NAME (the shape
 * of an input).  The shapes refer to the graph: free it last.  Errors: VRAM_E_FORMAT, the graph contradicts itself;
 * _ARGUMENT, what the plan binds does not fit the inputs; _LIMIT, _NOMEM. */
VRAM_API int vram_shapes_infer(vram_shapes **out, const vram_graph *graph, const vram_plan *plan,
                               vram_error *error);
VRAM_API void vram_shapes_free(vram_shapes *shapes);

typedef struct vram_value_view {
    size_t size;
    const char *path;  /* of its graph: "" of the main one, "/NODE.then_branch" ... */
    const char *name;
    const char *role;  /* of the graph: "input", "output", "initializer"; "" of others */
    const char *kind;  /* "tensor", "sparse", "sequence", "optional", "map", "opaque"; "" = not known */
    const char *dtype; /* of a tensor, "fp32"; "" = not known */
    uint32_t rank;     /* 0 of a scalar; UINT32_MAX = not known */
} vram_value_view;
VRAM_API size_t vram_shapes_value_count(const vram_shapes *shapes);
VRAM_API void vram_shapes_value(const vram_shapes *shapes, size_t i, vram_value_view *view);
enum { VRAM_SIZE_EXPRESSION = -1, VRAM_SIZE_DATA = -2, VRAM_SIZE_UNKNOWN = -3 };
/* The size of value i along an axis: a number ≥ 0; VRAM_SIZE_EXPRESSION, over sizes of inputs; VRAM_SIZE_DATA, over
 * sizes that depend on data as well; VRAM_SIZE_UNKNOWN.  text gets it written out, cut to n bytes with the zero;
 * it may be NULL. */
VRAM_API int64_t vram_shapes_size(const vram_shapes *shapes, size_t i, uint32_t axis, char *text, size_t n);

/* n bytes of the graph's own file, from offset on, are to be written; returns 0, or anything else to stop. */
typedef int (*vram_copy_fn)(void *ctx, uint64_t offset, uint64_t n);
/* A copy of the file in which the tensors of the main graph that it declares nothing of are declared (value_info).  What
 * the file has is left to `copy`, so that weights need not pass through memory; *declared (may be NULL) is how many were
 * added.  VRAM_E_UNSUPPORTED: the file is packed, or text. */
VRAM_API int vram_shapes_fill(const vram_shapes *shapes, vram_write_fn write, vram_copy_fn copy, void *ctx,
                              size_t *declared, vram_error *error);

/* Sizes of the inputs that nothing binds, in the order of the inputs: "batch", "input_ids_1"; NULL past the end. */
VRAM_API const char *vram_shapes_symbol(const vram_shapes *shapes, size_t i);
VRAM_API size_t vram_shapes_finding_count(const vram_shapes *shapes);
VRAM_API void vram_shapes_finding(const vram_shapes *shapes, size_t i, vram_finding_view *view);

/* Compares what the file itself declares of its values; what differs are the claims, and those that cannot be true
 * findings as well.  Not while another thread uses the shapes. */
VRAM_API int vram_shapes_check(vram_shapes *shapes, vram_error *error);
typedef struct vram_claim_view {
    size_t size;
    size_t value;         /* number for vram_shapes_value */
    const char *says, *is; /* "fp32 [2, seq]" */
    int wrong;            /* 0: it may be so, but does not follow from the inputs */
} vram_claim_view;
VRAM_API size_t vram_shapes_claim_count(const vram_shapes *shapes);
VRAM_API void vram_shapes_claim(const vram_shapes *shapes, size_t i, vram_claim_view *view);

/* ---- tables and dumps --------------------------------------------------------------------- */

/* What the library knows: "settings", "gpus", "ops", "optimizers", "strategies", "families", ...
 * Row and column 0 onwards; NULL past the end. */
VRAM_API size_t vram_table_count(void);
VRAM_API const char *vram_table_name(size_t table);
VRAM_API const char *vram_table_help(size_t table);
VRAM_API const char *vram_table_column(size_t table, size_t column);
VRAM_API const char *vram_table_cell(size_t table, size_t row, size_t column);

/* Prints the product of one pass, for tests and for study: "tree", "config", "program", "plan",
 * "events", "replay".  plan may be NULL (defaults). */
VRAM_API int vram_dump(const vram_model *model, const vram_plan *plan, const char *pass,
                       vram_write_fn write, void *ctx, vram_error *error);

#ifdef __cplusplus
}
#endif

#endif
