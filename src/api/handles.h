/* SPDX-License-Identifier: Apache-2.0
 *
 * What the public handles hold.  Private to src/api.
 */
#ifndef VRAM_API_HANDLES_H
#define VRAM_API_HANDLES_H

#ifndef VRAM_LAYER_API
#error "handles are private to src/api; use vram/vram.h"
#endif

#include "alloc/alloc.h"
#include "base/text.h"
#include "factor.h"
#include "ir/checkpoint.h"
#include "ir/model.h"
#include "train/train.h"

struct vram_model {
    struct vram_arena arena;
    struct vram_limits limits;
    struct vram_syms syms;
    struct vram_findings findings;
    struct vram_program program;
    struct vram_checkpoint checkpoint;
    struct vram_tree tree;
    const char *summary;
    uint64_t parameters, parameter_bytes;
    struct vram_factors components; /* counts only */
    const struct vram_config **config_rows;
    const char **config_keys, **config_values;
    uint32_t nconfig_rows;
};

enum { VRAM_METERS = 3 }; /* allocated, reserved, device */

struct vram_report {
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_findings findings; /* the model's, then the run's */
    const struct vram_model *model; /* outlives the report */
    struct vram_plan *own_plan;    /* a copy */
    struct vram_tree tree;         /* adapted */
    struct vram_setup setup;
    struct vram_run run;
    bool known;
    struct vram_factors factors;
    struct vram_replay replay[VRAM_METERS]; /* low, expected, high */
    struct vram_replay_phase *phases;
    vram_range allocated, reserved, device;
    uint64_t varied; /* reserved at most, after shorter batches */
    uint64_t rounding;
    const char *peak_phase, *peak_owner;
    uint64_t parameters_total;
    int verdict;
    vram_rank_view *ranks; /* all that differ; NULL = not asked for */
    size_t nranks;
    uint32_t *phase_made, *phase_gone; /* by storage: number of the phase; gone: UINT32_MAX = never */
    uint8_t *category_at_peak;
};

/* predict.c: the peak of r->run; or what is known without a run, and whether to say that no template is there */
int vram_run_known(struct vram_cx *cx, struct vram_report *r);
int vram_run_untold(struct vram_cx *cx, struct vram_report *r, bool untold);
/* graph_run.c: the run of an ONNX graph. */
int vram_graph_run(struct vram_cx *cx, struct vram_report *r);

/* templates.c */
struct vram_template_source {
    const char *dir;   /* the user's, or NULL */
    bool *parsed;      /* by embedded file */
};
int vram_templates_begin(struct vram_cx *cx, struct vram_program *program,
                         struct vram_template_source *source);
int vram_templates_require(void *ctx, struct vram_cx *cx, struct vram_program *program,
                           vram_sym name);

/* summary.c: one line about the model */
const char *vram_model_summary(struct vram_cx *cx, const struct vram_tree *tree);

/* predict.c: everything but the handle */
int vram_predict_into(struct vram_cx *cx, const struct vram_model *model,
                      const struct vram_plan *plan, struct vram_report *r);

/* blame.c: the plan failed with this error.  Names the setting in it, as VRAM_E_ARGUMENT, when the model
 * runs without that one. */
bool vram_blame(const struct vram_model *model, const struct vram_plan *plan, vram_error *error);

/* fills as much of a caller's view as it has room for */
void vram_view_copy(void *view, size_t view_size, const void *full, size_t full_size);
void vram_finding_copy(const struct vram_findings *f, size_t i, vram_finding_view *view);

/* report.c: who makes a storage: the path of its module, else the part of the run: "loss",
 * "backward", "optimizer" ... */
const char *vram_report_maker(const struct vram_report *r, uint32_t storage);

#endif
