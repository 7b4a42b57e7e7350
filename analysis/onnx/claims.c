/* SPDX-License-Identifier: Apache-2.0
 *
 * What a file declares of its values, beside what follows from its inputs.
 */
#include <string.h>

#include "onnx/pass.h"

static const char *kinds[] = {"?", "tensor", "sparse tensor", "sequence", "optional", "map", "opaque"};

/* "fp32 [2, seq]"; NULL without memory */
static const char *text_of(struct vram_cx *cx, struct vram_dims *dims, const struct vram_info *info)
{
    const char *dtype = info->dtype ? vram_dtypes[info->dtype].name : "?", *all = "";
    if (info->kind != VRAM_ONNX_TENSOR)
        return kinds[info->kind];
    if (!info->ranked)
        return vram_format(cx->arena, "%s of unknown rank", dtype);
    for (uint32_t i = 0; i < info->rank && i < 12 && all; i++) {
        const char *d = info->dims[i] ? vram_dim_text(dims, info->dims[i]) : "?";
        all = d ? vram_format(cx->arena, "%s%s%s", all, i ? ", " : "", d) : NULL;
    }
    return all ? vram_format(cx->arena, "%s [%s%s]", dtype, all, info->rank > 12 ? ", ..." : "") : NULL;
}

/* What a declared dim and the one that follows say of each other; −1: nothing. */
static int compare_dim(struct vram_dims *dims, vram_dim says, vram_dim is)
{
    int64_t n;
    vram_sym name;
    if (!says || !is || says == is)
        return -1;
    if (vram_dim_equal(dims, says, is) == VRAM_FALSE)
        return VRAM_CLAIM_WRONG;
    if (vram_dim_on_data(dims, is))
        return -1;
    /* a name may be the file's own word for the size; a number or an expression says something */
    return vram_dim_is_int(dims, says, &n) || !vram_dim_is_symbol(dims, says, &name) ? VRAM_CLAIM_NARROW : -1;
}

static int compare(struct vram_dims *dims, const struct vram_info *says, const struct vram_info *is)
{
    int worst = -1;
    if (!says->kind || !is->kind)
        return -1;
    if (says->kind != is->kind || (says->dtype && is->dtype && says->dtype != is->dtype))
        return VRAM_CLAIM_WRONG;
    if (!says->ranked || !is->ranked)
        return -1;
    if (says->rank != is->rank)
        return VRAM_CLAIM_WRONG;
    for (uint32_t i = 0; i < is->rank; i++) {
        int c = compare_dim(dims, says->dims[i], is->dims[i]);
        if (c == VRAM_CLAIM_WRONG)
            return c;
        worst = c > worst ? c : worst;
    }
    return worst;
}

int vram_onnx_claims(struct vram_cx *cx, const struct vram_inference *shapes, const struct vram_claim **out, size_t *n)
{
    VRAM_VEC(struct vram_claim) claims = {0};
    struct vram_infer pass = {.cx = cx, .model = shapes->model, .dims = shapes->dims, .at = shapes->at};
    for (size_t i = 0; i < shapes->n_bound; i++)
        if (!vram_vec_push(&pass.bound, cx->arena, shapes->bound[i]))
            return vram_fail_memory(cx);
    for (uint32_t v = 1; v < shapes->n; v++) {
        const struct vram_onnx_value *value = &shapes->model->values.at[v];
        struct vram_info says;
        if (!value->type || (value->role == VRAM_ONNX_INPUT && value->graph == 1 && !value->tensor))
            continue;
        VRAM_TRY(vram_infer_declared(&pass, value->type, &says));
        int kind = compare(shapes->dims, &says, &shapes->at[v]);
        if (kind < 0)
            continue;
        struct vram_claim c = {(uint8_t)kind, v, text_of(cx, shapes->dims, &says),
                               text_of(cx, shapes->dims, &shapes->at[v])};
        if (!c.says || !c.is || !vram_vec_push(&claims, cx->arena, c))
            return vram_fail_memory(cx);
    }
    *out = claims.at;
    *n = claims.n;
    return VRAM_OK;
}
