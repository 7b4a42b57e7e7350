/* SPDX-License-Identifier: Apache-2.0
 *
 * ai.onnx.ml: classical models.  Data is [N, features]; one row of features is taken as [1,
 * features].
 */
#include <string.h>

#include "common.h"

/* Rows of the data. */
static vram_dim batch(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    if (!vram_onnx_ranked(x))
        return VRAM_DIM_UNKNOWN;
    return x->rank < 2 ? vram_onnx_num(op, 1) : x->dims[0];
}

/* Length of a list attribute, 0 when it is not there. */
static uint32_t length(struct vram_op *op, const char *name)
{
    for (uint32_t i = 0; i < op->node->attrs.n; i++) {
        const struct vram_onnx_attr *a = &op->model->attrs.at[op->node->attrs.first + i];
        vram_sym found = vram_sym_find(op->cx->syms, name, strlen(name));
        if (a->name == found)
            return a->n;
    }
    return 0;
}

static int columns(struct vram_op *op, uint32_t i, uint8_t dtype, vram_dim n)
{
    vram_dim dims[2] = {batch(op), n};
    return vram_op_out_dims(op, i, dtype, dims, 2);
}

/* Elements at places along the last axis; a vector counts as one row. */
static int array_features(struct vram_op *op)
{
    const struct vram_info *x = op->in[0], *y = op->in[1];
    VRAM_TRY(vram_onnx_rank(op, 0, 1, VRAM_ONNX_ANY));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, x->dtype);
    vram_dim n = vram_onnx_ranked(y) ? vram_op_product(op, y->dims, 0, y->rank) : VRAM_DIM_UNKNOWN;
    VRAM_TRY(vram_op_check(op));
    if (x->rank == 1) {
        vram_dim dims[2] = {vram_onnx_num(op, 1), n};
        return vram_op_out_dims(op, 0, x->dtype, dims, 2);
    }
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[x->rank - 1] = n;
    return vram_op_out_dims(op, 0, x->dtype, dims, x->rank);
}

static int cast_map(struct vram_op *op)
{
    const char *to, *form;
    int64_t most;
    VRAM_TRY(vram_op_string(op, "cast_to", "TO_FLOAT", &to));
    VRAM_TRY(vram_op_string(op, "map_form", "DENSE", &form));
    VRAM_TRY(vram_op_int(op, "max_map", 1, &most));
    uint8_t dtype = !strcmp(to, "TO_FLOAT")    ? VRAM_DT_F32
                    : !strcmp(to, "TO_STRING") ? VRAM_DT_STRING
                                               : VRAM_DT_I64;
    vram_dim dims[2] = {vram_onnx_num(op, 1), VRAM_DIM_UNKNOWN};
    dims[1] = !strcmp(form, "SPARSE") && most >= 0 ? vram_onnx_num(op, most)
                                                   : vram_op_fresh(op, "map", 0, VRAM_DIM_UNKNOWN);
    return vram_op_out_dims(op, 0, dtype, dims, 2);
}

/* Strings to whole numbers or back. */
static int category_mapper(struct vram_op *op)
{
    uint8_t from = op->in[0]->dtype;
    return vram_op_out_like(op, 0,
                            from == VRAM_DT_STRING ? (uint8_t)VRAM_DT_I64
                            : from != VRAM_DT_NONE ? (uint8_t)VRAM_DT_STRING
                                                   : from,
                            op->in[0]);
}

/* A map's values in the order of the vocabulary. */
static int dict_vectorizer(struct vram_op *op)
{
    uint32_t n = length(op, "int64_vocabulary");
    vram_dim dims[2] = {vram_onnx_num(op, 1), VRAM_DIM_UNKNOWN};
    dims[1] = vram_onnx_num(op, n ? n : length(op, "string_vocabulary"));
    const struct vram_info *value = op->in[0]->element;
    return vram_op_out_dims(op, 0, vram_onnx_dtype(value), dims, 2);
}

static int feature_vectorizer(struct vram_op *op)
{
    const int64_t *sizes;
    uint32_t n;
    vram_dim sum = vram_onnx_num(op, 0);
    VRAM_TRY(vram_op_ints(op, "inputdimensions", &sizes, &n));
    for (uint32_t i = 0; sizes && i < n; i++)
        sum = vram_dim_add(op->dims, sum, vram_onnx_num(op, sizes[i]));
    for (uint32_t i = 0; !sizes && i < op->n_in; i++) {
        const struct vram_info *x = op->in[i];
        sum =
            vram_dim_add(op->dims, sum,
                         vram_onnx_ranked(x) && x->rank ? x->dims[x->rank - 1] : VRAM_DIM_UNKNOWN);
    }
    VRAM_TRY(vram_op_check(op));
    return columns(op, 0, VRAM_DT_F32, sum);
}

static int label_encoder_1(struct vram_op *op) { return category_mapper(op); }

/* The type is that of the values, or of what stands for the missing ones. */
static int label_encoder(struct vram_op *op)
{
    static const struct {
        const char *name;
        uint8_t dtype;
    } kinds[] = {{"values_strings", VRAM_DT_STRING},
                 {"values_int64s", VRAM_DT_I64},
                 {"values_floats", VRAM_DT_F32}};
    const struct vram_onnx_tensor *tensor;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (vram_op_has(op, kinds[i].name))
            return vram_op_out_like(op, 0, kinds[i].dtype, op->in[0]);
    if (!vram_op_has(op, "values_tensor"))
        return vram_op_fail(op, "no attribute 'values_…' is given");
    VRAM_TRY(vram_op_tensor(op, "values_tensor", &tensor));
    return vram_op_out_like(op, 0, tensor->dtype, op->in[0]);
}

/* ---- models ---- */

/* Labels [N] of the type of the classes, scores [N, classes]. */
static int classifier(struct vram_op *op, const char *ints, const char *strings)
{
    vram_dim n = batch(op);
    bool texts = vram_op_has(op, strings) && length(op, strings) > 0;
    uint32_t classes = length(op, texts ? strings : ints);
    VRAM_TRY(columns(op, 1, VRAM_DT_F32, classes ? vram_onnx_num(op, classes) : VRAM_DIM_UNKNOWN));
    return vram_op_out_dims(op, 0, texts ? VRAM_DT_STRING : VRAM_DT_I64, &n, 1);
}

static int linear_classifier(struct vram_op *op)
{
    if (!vram_op_has(op, "coefficients"))
        return vram_op_fail(op, "attribute 'coefficients' is missing");
    return classifier(op, "classlabels_ints", "classlabels_strings");
}

/* Scores: a column for each class, or for each pair of them where nothing turns votes into
 * probabilities. */
static int svm_classifier(struct vram_op *op)
{
    vram_dim n = batch(op);
    bool texts = length(op, "classlabels_strings") > 0;
    uint32_t classes = length(op, texts ? "classlabels_strings" : "classlabels_ints");
    uint32_t vectors = length(op, "vectors_per_class");
    bool pairs = vectors > 0 && length(op, "prob_a") == 0;
    int64_t columns_n = pairs ? (int64_t)classes * (classes - 1) / 2 : classes;
    VRAM_TRY(columns(op, 1, VRAM_DT_F32,
                     classes > 2 || !pairs ? vram_onnx_num(op, columns_n) : vram_onnx_num(op, 2)));
    return vram_op_out_dims(op, 0, texts ? VRAM_DT_STRING : VRAM_DT_I64, &n, 1);
}

static int tree_classifier(struct vram_op *op)
{
    return classifier(op, "classlabels_int64s", "classlabels_strings");
}

static int regressor(struct vram_op *op, const char *targets, uint8_t dtype)
{
    int64_t n;
    VRAM_TRY(vram_onnx_int_from(op, targets, 1, 1, &n));
    return columns(op, 0, dtype, vram_onnx_num(op, n));
}

static int linear_regressor(struct vram_op *op) { return regressor(op, "targets", VRAM_DT_F32); }
static int tree_regressor(struct vram_op *op) { return regressor(op, "n_targets", VRAM_DT_F32); }

static int tree_ensemble(struct vram_op *op)
{
    static const char *const required[] = {
        "leaf_targetids",    "leaf_weights", "nodes_falseleafs", "nodes_falsenodeids",
        "nodes_featureids",  "nodes_modes",  "nodes_splits",     "nodes_trueleafs",
        "nodes_truenodeids", "tree_roots"};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!vram_op_has(op, required[i]))
            return vram_op_fail(op, "attribute '%s' is missing", required[i]);
    return regressor(op, "n_targets", op->in[0]->dtype);
}

static int svm_regressor(struct vram_op *op)
{
    return columns(op, 0, VRAM_DT_F32, vram_onnx_num(op, 1));
}

static int one_hot_encoder(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    uint32_t n = length(op, "cats_int64s");
    if (!n)
        n = length(op, "cats_strings");
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, VRAM_DT_F32);
    vram_dim *dims = vram_op_dims(op, x->rank + 1);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i] = x->dims[i];
    dims[x->rank] = vram_onnx_num(op, n);
    return vram_op_out_dims(op, 0, VRAM_DT_F32, dims, x->rank + 1);
}

/* A map for each row. */
static int zip_map(struct vram_op *op)
{
    if (!vram_op_has(op, "classlabels_int64s") && !vram_op_has(op, "classlabels_strings"))
        return vram_op_fail(op, "no attribute 'classlabels_…' is given");
    if (op->n_out) {
        op->out[0].kind = VRAM_ONNX_SEQUENCE;
        op->out[0].length = batch(op);
    }
    return 0;
}

static const struct vram_op_row rows[] = {
    {"ArrayFeatureExtractor", 1, 2, 2, 1, 1, array_features, NULL, NULL},
    {"Binarizer", 1, 1, 1, 1, 1, vram_onnx_like, NULL, NULL},
    {"CastMap", 1, 1, 1, 1, 1, cast_map, NULL, NULL},
    {"CategoryMapper", 1, 1, 1, 1, 1, category_mapper, NULL, NULL},
    {"DictVectorizer", 1, 1, 1, 1, 1, dict_vectorizer, NULL, NULL},
    {"FeatureVectorizer", 1, 1, VRAM_ONNX_ANY, 1, 1, feature_vectorizer, NULL, NULL},
    {"Imputer", 1, 1, 1, 1, 1, vram_onnx_like, NULL, NULL},
    {"LabelEncoder", 1, 1, 1, 1, 1, label_encoder_1, NULL, NULL},
    {"LabelEncoder", 2, 1, 1, 1, 1, label_encoder, NULL, "keys and values"},
    {"LabelEncoder", 4, 1, 1, 1, 1, label_encoder, NULL, "tensors of keys and values"},
    {"LinearClassifier", 1, 1, 1, 2, 2, linear_classifier, NULL, NULL},
    {"LinearRegressor", 1, 1, 1, 1, 1, linear_regressor, NULL, NULL},
    {"Normalizer", 1, 1, 1, 1, 1, vram_onnx_like_f32, NULL, NULL},
    {"OneHotEncoder", 1, 1, 1, 1, 1, one_hot_encoder, NULL, NULL},
    {"Scaler", 1, 1, 1, 1, 1, vram_onnx_like_f32, NULL, NULL},
    {"SVMClassifier", 1, 1, 1, 2, 2, svm_classifier, NULL, NULL},
    {"SVMRegressor", 1, 1, 1, 1, 1, svm_regressor, NULL, NULL},
    {"TreeEnsemble", 5, 1, 1, 1, 1, tree_ensemble, NULL, NULL},
    {"TreeEnsembleClassifier", 1, 1, 1, 2, 2, tree_classifier, NULL, NULL},
    {"TreeEnsembleClassifier", 3, 1, 1, 2, 2, tree_classifier, NULL, "'…_as_tensor'"},
    {"TreeEnsembleClassifier", 5, 1, 1, 2, 2, tree_classifier, NULL, "deprecated: TreeEnsemble"},
    {"TreeEnsembleRegressor", 1, 1, 1, 1, 1, tree_regressor, NULL, NULL},
    {"TreeEnsembleRegressor", 3, 1, 1, 1, 1, tree_regressor, NULL, "'…_as_tensor'"},
    {"TreeEnsembleRegressor", 5, 1, 1, 1, 1, tree_regressor, NULL, "deprecated: TreeEnsemble"},
    {"ZipMap", 1, 1, 1, 1, 1, zip_map, NULL, NULL},
};
VRAM_ONNX_FAMILY(ml, "ai.onnx.ml", "ml", rows);
