/* SPDX-License-Identifier: Apache-2.0
 *
 * Resizing, sampling and regions of images.
 */
#include <math.h>
#include <string.h>

#include "common.h"

/* ---- Resize and Upsample ---- */

/* floor(size·scale): in single precision for numbers, as runtimes have it. */
static vram_dim scaled(struct vram_op *op, vram_dim size, struct vram_element scale)
{
    int64_t n;
    double x;
    if (size == VRAM_DIM_UNKNOWN)
        return size;
    if (vram_dim_is_int(op->dims, size, &n) && vram_element_number(op, scale, &x)) {
        float to = floorf((float)n * (float)x);
        return to >= 0 && to < 9e18F ? vram_onnx_num(op, (int64_t)to) : VRAM_DIM_UNKNOWN;
    }
    struct vram_element e =
        vram_element_mul(op, vram_element_dim(size), scale, (uint8_t)VRAM_DT_F32);
    e = vram_element_floor(op, e, (uint8_t)VRAM_DT_F32);
    return e.kind == VRAM_ELEMENT_RATIO && e.den == 1 ? e.num : VRAM_DIM_UNKNOWN;
}

/* Dims by scales: `axes` of them (NULL: all). */
static int by_scales(struct vram_op *op, const struct vram_element *scales, uint32_t n,
                     const uint32_t *axes)
{
    const struct vram_info *x = op->in[0];
    vram_dim *dims = vram_onnx_copy(op, x);
    double scale;
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < n; i++) {
        if (vram_element_number(op, scales[i], &scale) && !(scale > 0))
            return vram_op_fail(op, "a scale that is not above 0");
        uint32_t a = axes ? axes[i] : i;
        dims[a] = scaled(op, dims[a], scales[i]);
    }
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int scales_input(struct vram_op *op, uint32_t i, const uint32_t *axes, uint32_t n_axes)
{
    const struct vram_info *x = op->in[0];
    struct vram_onnx_grid g;
    if (!vram_onnx_value(op, i, &g))
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank);
    if (g.n != (int64_t)n_axes)
        return vram_op_fail(op, "%lld scales for %u axes", (long long)g.n, n_axes);
    return by_scales(op, vram_op_value(op, op->in[i]), n_axes, axes);
}

/* Upsample 7: an attribute; 9 and Resize 10: the second input. */
static int upsample_attribute(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const double *scales;
    uint32_t n;
    if (!vram_op_has(op, "scales"))
        return vram_op_fail(op, "attribute 'scales' is missing");
    VRAM_TRY(vram_op_floats(op, "scales", &scales, &n));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (n != x->rank)
        return vram_op_fail(op, "%u scales for rank %u", n, x->rank);
    struct vram_element *e = vram_arena_array(op->cx->arena, n, sizeof *e);
    if (!e)
        return vram_fail_memory(op->cx);
    for (uint32_t i = 0; i < n; i++)
        e[i] = vram_element_real(scales[i]);
    return by_scales(op, e, n, NULL);
}

static int upsample_1(struct vram_op *op)
{
    double height, width;
    if (!vram_op_has(op, "height_scale") || !vram_op_has(op, "width_scale"))
        return vram_op_fail(op, "attribute '%s' is missing",
                            vram_op_has(op, "height_scale") ? "width_scale" : "height_scale");
    VRAM_TRY(vram_op_float(op, "height_scale", 1, &height));
    VRAM_TRY(vram_op_float(op, "width_scale", 1, &width));
    VRAM_TRY(vram_onnx_rank(op, 0, 4, 4));
    if (!vram_onnx_ranked(op->in[0]))
        return vram_onnx_out_rank(op, 0, op->in[0]->dtype, 4);
    const struct vram_element scales[] = {vram_element_real(1), vram_element_real(1),
                                          vram_element_real(height), vram_element_real(width)};
    return by_scales(op, scales, 4, NULL);
}

static int upsample_input(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    return vram_onnx_ranked(x) ? scales_input(op, 1, NULL, x->rank) : vram_op_out(op, 0, x->dtype);
}

/* One scale for all axes, the smallest or the largest; in numbers only. */
static int keep_aspect(struct vram_op *op, const vram_dim *sizes, uint32_t n, const uint32_t *axes,
                       bool smallest, vram_dim *dims)
{
    double scale = 0;
    int64_t from, to;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = axes ? axes[i] : i;
        if (!vram_dim_is_int(op->dims, dims[a], &from) || from <= 0 ||
            !vram_dim_is_int(op->dims, sizes[i], &to)) {
            for (uint32_t k = 0; k < n; k++)
                dims[axes ? axes[k] : k] = VRAM_DIM_UNKNOWN;
            return 0;
        }
        double own = (double)((float)to / (float)from);
        if (i == 0 || (smallest ? own < scale : own > scale))
            scale = own;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = axes ? axes[i] : i;
        vram_dim_is_int(op->dims, dims[a], &from);
        double size = floor(scale * (double)from + 0.5);
        dims[a] = size < 9e18 ? vram_onnx_num(op, (int64_t)size) : VRAM_DIM_UNKNOWN;
    }
    return 0;
}

static int by_sizes(struct vram_op *op, const uint32_t *axes, uint32_t n_axes)
{
    const struct vram_info *x = op->in[0];
    const vram_dim *sizes;
    const char *policy;
    uint32_t n;
    VRAM_TRY(vram_op_string(op, "keep_aspect_ratio_policy", "stretch", &policy));
    if (!vram_op_value_dims(op, op->in[3], &sizes, &n))
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank);
    if (n != n_axes)
        return vram_op_fail(op, "%u sizes for %u axes", n, n_axes);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    if (strcmp(policy, "stretch") != 0)
        VRAM_TRY(keep_aspect(op, sizes, n, axes, !strcmp(policy, "not_larger"), dims));
    else
        for (uint32_t i = 0; i < n; i++)
            dims[axes ? axes[i] : i] = sizes[i];
    VRAM_TRY(vram_op_check(op));
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

/* An input that is there and not empty. */
static bool given(struct vram_op *op, uint32_t i)
{
    const struct vram_info *x = vram_onnx_in(op, i);
    int64_t n;
    if (!x)
        return false;
    return !(vram_onnx_ranked(x) && x->rank == 1 && vram_dim_is_int(op->dims, x->dims[0], &n) &&
             n == 0);
}

static int resize(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const int64_t *list;
    const char *mode;
    uint32_t n, *axes = NULL;
    VRAM_TRY(vram_op_ints(op, "axes", &list, &n));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (list && !(axes = vram_arena_array(op->cx->arena, n, sizeof *axes)))
        return vram_fail_memory(op->cx);
    for (uint32_t i = 0; list && i < n; i++)
        VRAM_TRY(vram_op_axis(op, "axes", list[i], x->rank, &axes[i]));
    if (!list)
        n = x->rank;
    if (given(op, 3))
        return by_sizes(op, axes, n);
    if (!given(op, 2))
        return vram_op_fail(op, "neither scales nor sizes are given");
    VRAM_TRY(vram_op_string(op, "coordinate_transformation_mode", "half_pixel", &mode));
    if (!strcmp(mode, "tf_crop_and_resize") && given(op, 1)) /* sizes follow from the region */
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank);
    return scales_input(op, 2, axes, n);
}

/* ---- sampling ---- */

static int grid_sample(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *grid = op->in[1];
    VRAM_TRY(vram_onnx_rank(op, 0, 3, VRAM_ONNX_ANY));
    VRAM_TRY(vram_onnx_rank(op, 1, 3, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(x) && !vram_onnx_ranked(grid))
        return vram_op_out(op, 0, x->dtype);
    uint32_t rank = vram_onnx_ranked(x) ? x->rank : grid->rank;
    vram_dim *dims = vram_op_dims(op, rank);
    if (!dims)
        return op->cx->error->code;
    if (vram_onnx_ranked(grid) && grid->rank != rank)
        return vram_op_fail(op, "data of rank %u and grid of rank %u", rank, grid->rank);
    dims[0] = vram_onnx_ranked(x) ? x->dims[0] : grid->dims[0];
    dims[1] = vram_onnx_ranked(x) ? x->dims[1] : VRAM_DIM_UNKNOWN;
    for (uint32_t i = 2; i < rank; i++)
        dims[i] = vram_onnx_ranked(grid) ? grid->dims[i - 1] : VRAM_DIM_UNKNOWN;
    return vram_op_out_dims(op, 0, x->dtype, dims, rank);
}

/* [N, 2 or 3, …] and a size (N, C, spatial …) give [N, spatial …, 2 or 3] */
static int affine_grid(struct vram_op *op)
{
    const vram_dim *size;
    vram_dim dims[5];
    uint32_t n;
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    if (!vram_op_value_dims(op, op->in[1], &size, &n)) {
        if (vram_onnx_length(op, op->in[1], &n) && (n == 4 || n == 5))
            return vram_onnx_out_rank(op, 0, op->in[0]->dtype, n);
        return vram_op_out(op, 0, op->in[0]->dtype);
    }
    if (n != 4 && n != 5)
        return vram_op_fail(op, "a size of %u numbers", n);
    dims[0] = size[0];
    for (uint32_t i = 2; i < n; i++)
        dims[i - 1] = size[i];
    dims[n - 1] = vram_onnx_num(op, n - 2);
    return vram_op_out_dims(op, 0, op->in[0]->dtype, dims, n);
}

/* ---- regions ---- */

static int roi_align(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *rois = op->in[1], *batch = op->in[2];
    int64_t height, width;
    vram_dim dims[4] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    VRAM_TRY(vram_onnx_int_from(op, "output_height", 1, 1, &height));
    VRAM_TRY(vram_onnx_int_from(op, "output_width", 1, 1, &width));
    VRAM_TRY(vram_onnx_rank(op, 0, 4, 4));
    VRAM_TRY(vram_onnx_rank(op, 1, 2, 2));
    VRAM_TRY(vram_onnx_rank(op, 2, 1, 1));
    if (vram_onnx_ranked(rois))
        dims[0] = rois->dims[0];
    if (vram_onnx_ranked(batch))
        VRAM_TRY(
            vram_op_same(op, dims[0], batch->dims[0], "regions and their batch indices", &dims[0]));
    if (vram_onnx_ranked(x))
        dims[1] = x->dims[1];
    dims[2] = vram_onnx_num(op, height);
    dims[3] = vram_onnx_num(op, width);
    return vram_op_out_dims(op, 0, x->dtype, dims, 4);
}

static int max_roi_pool(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *rois = op->in[1];
    const int64_t *shape;
    uint32_t n;
    vram_dim dims[4] = {VRAM_DIM_UNKNOWN, VRAM_DIM_UNKNOWN};
    if (!vram_op_has(op, "pooled_shape"))
        return vram_op_fail(op, "attribute 'pooled_shape' is missing");
    VRAM_TRY(vram_op_ints(op, "pooled_shape", &shape, &n));
    VRAM_TRY(vram_onnx_rank(op, 0, 4, 4));
    VRAM_TRY(vram_onnx_rank(op, 1, 2, 2));
    if (n != 2 || shape[0] < 1 || shape[1] < 1)
        return vram_op_fail(op, "attribute 'pooled_shape' is no height and width");
    if (vram_onnx_ranked(rois))
        dims[0] = rois->dims[0];
    if (vram_onnx_ranked(x))
        dims[1] = x->dims[1];
    dims[2] = vram_onnx_num(op, shape[0]);
    dims[3] = vram_onnx_num(op, shape[1]);
    return vram_op_out_dims(op, 0, x->dtype, dims, 4);
}

/* At most max_output_boxes_per_class (0 when it is not given) for each batch and class. */
static int non_max_suppression(struct vram_op *op)
{
    const struct vram_info *scores = op->in[1], *limit = vram_onnx_in(op, 2);
    vram_dim most = VRAM_DIM_UNKNOWN, dims[2];
    int64_t n = 0;
    VRAM_TRY(vram_onnx_rank(op, 0, 3, 3));
    VRAM_TRY(vram_onnx_rank(op, 1, 3, 3));
    if (vram_onnx_ranked(scores) && (!limit || vram_op_value_int(op, limit, &n))) {
        most = vram_dim_min(op->dims, scores->dims[2], vram_onnx_num(op, n < 0 ? 0 : n));
        most =
            vram_dim_mul(op->dims, most, vram_dim_mul(op->dims, scores->dims[0], scores->dims[1]));
    }
    VRAM_TRY(vram_op_check(op));
    dims[0] = vram_op_fresh(op, "selected", 0, most);
    dims[1] = vram_onnx_num(op, 3);
    return vram_op_out_dims(op, 0, VRAM_DT_I64, dims, 2);
}

static int center_crop_pad(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    const int64_t *axes;
    const vram_dim *shape;
    uint32_t n, n_axes, axis;
    VRAM_TRY(vram_op_ints(op, "axes", &axes, &n_axes));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    if (!vram_op_value_dims(op, op->in[1], &shape, &n))
        return vram_onnx_out_rank(op, 0, x->dtype, x->rank);
    if (n != (axes ? n_axes : x->rank))
        return vram_op_fail(op, "%u sizes for %u axes", n, axes ? n_axes : x->rank);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < n; i++) {
        axis = i;
        if (axes)
            VRAM_TRY(vram_op_axis(op, "axes", axes[i], x->rank, &axis));
        dims[axis] = shape[i];
    }
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

/* Height, width and channels are those of the encoded image. */
static int image_decoder(struct vram_op *op)
{
    const char *format;
    vram_dim dims[3];
    VRAM_TRY(vram_op_string(op, "pixel_format", "RGB", &format));
    VRAM_TRY(vram_onnx_rank(op, 0, 1, 1));
    dims[0] = vram_op_fresh(op, "height", 0, VRAM_DIM_UNKNOWN);
    dims[1] = vram_op_fresh(op, "width", 0, VRAM_DIM_UNKNOWN);
    dims[2] = vram_onnx_num(op, strcmp(format, "Grayscale") ? 3 : 1);
    return vram_op_out_dims(op, 0, VRAM_DT_U8, dims, 3);
}

static const struct vram_op_row rows[] = {
    {"Resize", 10, 2, 2, 1, 1, upsample_input, NULL, NULL},
    {"Resize", 11, 3, 4, 1, 1, resize, NULL, "sizes instead of scales"},
    {"Resize", 13, 1, 4, 1, 1, resize, NULL, "region and scales may be left out"},
    {"Resize", 18, 1, 4, 1, 1, resize, NULL, "'axes', 'keep_aspect_ratio_policy'"},
    {"Upsample", 1, 1, 1, 1, 1, upsample_1, NULL, "attributes for height and width"},
    {"Upsample", 7, 1, 1, 1, 1, upsample_attribute, NULL, "attribute 'scales'"},
    {"Upsample", 9, 2, 2, 1, 1, upsample_input, NULL, "deprecated from 10: Resize"},
    {"GridSample", 16, 2, 2, 1, 1, grid_sample, NULL, NULL},
    {"AffineGrid", 20, 2, 2, 1, 1, affine_grid, NULL, NULL},
    {"RoiAlign", 10, 3, 3, 1, 1, roi_align, NULL, NULL},
    {"MaxRoiPool", 1, 2, 2, 1, 1, max_roi_pool, NULL, NULL},
    {"NonMaxSuppression", 10, 2, 5, 1, 1, non_max_suppression, NULL, "as many as the data says"},
    {"CenterCropPad", 18, 2, 2, 1, 1, center_crop_pad, NULL, NULL},
    {"ImageDecoder", 20, 1, 1, 1, 1, image_decoder, NULL, "the image's own size"},
};
VRAM_ONNX_FAMILY(image, "", "image", rows);
