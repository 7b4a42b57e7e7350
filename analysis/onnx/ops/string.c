/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators on strings.
 */
#include "common.h"

static int concat(struct vram_op *op) { return vram_onnx_broadcast(op, VRAM_DT_STRING, op->in, 2); }

/* Pieces, as many columns as the longest row has, and how many each string has. */
static int split(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    VRAM_TRY(vram_op_out_like(op, 1, VRAM_DT_I64, x));
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, VRAM_DT_STRING);
    vram_dim *dims = vram_op_dims(op, x->rank + 1);
    if (!dims)
        return op->cx->error->code;
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i] = x->dims[i];
    dims[x->rank] = vram_op_fresh(op, "pieces", 0, VRAM_DIM_UNKNOWN);
    return vram_op_out_dims(op, 0, VRAM_DT_STRING, dims, x->rank + 1);
}

/* [C] or [1, C]; stop words go, and one empty string stays when all are gone. */
static int normalizer(struct vram_op *op)
{
    const struct vram_info *x = op->in[0];
    VRAM_TRY(vram_onnx_rank(op, 0, 1, 2));
    if (!vram_onnx_ranked(x) || !vram_op_has(op, "stopwords"))
        return vram_op_out_like(op, 0, VRAM_DT_STRING, x);
    vram_dim *dims = vram_onnx_copy(op, x);
    if (!dims)
        return op->cx->error->code;
    dims[x->rank - 1] = vram_op_fresh(op, "words", 1, x->dims[x->rank - 1]);
    return vram_op_out_dims(op, 0, VRAM_DT_STRING, dims, x->rank);
}

static int tf_idf(struct vram_op *op)
{
    static const char *const required[] = {"max_gram_length", "max_skip_count",
                                           "min_gram_length", "mode",
                                           "ngram_counts",    "ngram_indexes"};
    const struct vram_info *x = op->in[0];
    const int64_t *indexes;
    int64_t most = -1;
    uint32_t n;
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!vram_op_has(op, required[i]))
            return vram_op_fail(op, "attribute '%s' is missing", required[i]);
    VRAM_TRY(vram_op_ints(op, "ngram_indexes", &indexes, &n));
    VRAM_TRY(vram_onnx_rank(op, 0, 1, 2));
    for (uint32_t i = 0; i < n; i++)
        most = indexes[i] > most ? indexes[i] : most;
    if (most == INT64_MAX)
        return vram_op_fail(op, "attribute 'ngram_indexes' is out of range");
    if (!vram_onnx_ranked(x))
        return vram_op_out(op, 0, VRAM_DT_F32);
    vram_dim dims[2] = {x->dims[0]};
    dims[x->rank - 1] = vram_onnx_num(op, most + 1);
    return vram_op_out_dims(op, 0, VRAM_DT_F32, dims, x->rank);
}

static const struct vram_op_row rows[] = {
    {"StringConcat", 20, 2, 2, 1, 1, concat, NULL, NULL},
    {"StringSplit", 20, 1, 1, 2, 2, split, NULL, "as many columns as the data says"},
    {"RegexFullMatch", 20, 1, 1, 1, 1, vram_onnx_like_bool, NULL, NULL},
    {"StringNormalizer", 10, 1, 1, 1, 1, normalizer, NULL, "fewer words with 'stopwords'"},
    {"TfIdfVectorizer", 9, 1, 1, 1, 1, tf_idf, NULL, NULL},
};
VRAM_ONNX_FAMILY(string, "", "string", rows);
