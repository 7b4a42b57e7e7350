/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tensors say against what the config says, as far as formats go: empty tensors, dtypes,
 * quantisation.  Sizes are compared by who builds the module tree.
 */
#include <stdio.h>
#include <string.h>

#include "hf/checkpoint.h"
#include "hf/config.h"
#include "ir/dtype.h"

/* A sharded run that was saved without gathering leaves tensors of shape [0].  They say nothing of
 * the model and leave the list: as if they were not stored. */
int vram_check_empty(struct vram_loading *l)
{
    size_t kept = 0, empty = 0;
    uint32_t first = 0;
    for (size_t i = 0; i < l->tensors.n; i++) {
        struct vram_tensor t = l->tensors.at[i];
        if (t.rank == 1 && t.dims[0] == 0 && vram_dtype_is_float(t.dtype)) {
            if (empty++ == 0)
                first = t.file;
            continue;
        }
        l->tensors.at[kept++] = t;
    }
    if (l->tensors.n == 0 || kept == 0)
        l->out->partial = true;
    if (!empty)
        return VRAM_OK;
    l->tensors.n = kept;
    l->out->partial = true;
    return vram_find(l->cx, VRAM_F_TENSORS_EMPTY, l->files.at[first].name,
                     "%zu tensors have the shape [0]: a ZeRO-3 or FSDP run was saved without "
                     "gathering its weights", empty);
}

/* the float dtype that most of the bytes have; NONE when there is none */
static enum vram_dtype main_dtype(const struct vram_loading *l)
{
    uint64_t bytes[VRAM_DT_COUNT] = {0};
    enum vram_dtype best = VRAM_DT_NONE;
    for (size_t i = 0; i < l->tensors.n; i++) {
        const struct vram_tensor *t = &l->tensors.at[i];
        if (!t->buffer && vram_dtype_is_float(t->dtype) && !l->files.at[t->file].outside)
            bytes[t->dtype] += t->bytes;
    }
    for (int d = 1; d < VRAM_DT_COUNT; d++)
        if (bytes[d] > bytes[best])
            best = (enum vram_dtype)d;
    return best;
}

/* Tensors of a few bits, or integers in the place of weights.  Buffers and 64-bit integers are
 * none. */
static enum vram_dtype quantised_dtype(const struct vram_loading *l)
{
    for (size_t i = 0; i < l->tensors.n; i++) {
        const struct vram_tensor *t = &l->tensors.at[i];
        const struct vram_dtype_row *row = &vram_dtypes[t->dtype];
        bool small = row->kind == VRAM_KIND_FLOAT ? row->bits <= 8
                                                  : row->kind == VRAM_KIND_INT && row->bits <= 32;
        if (!t->buffer && small && t->rank >= 2)
            return t->dtype;
    }
    return VRAM_DT_NONE;
}

int vram_check_dtype(struct vram_loading *l)
{
    struct vram_cx *cx = l->cx;
    /* as the file spells it */
    const struct vram_config *v = vram_config_get_text(cx, l->config, "torch_dtype");
    if (!v || v->type == VRAM_CONFIG_NULL)
        v = vram_config_get_text(cx, l->config, "dtype");
    if (!v || v->type == VRAM_CONFIG_NULL)
        return VRAM_OK;
    char subject[300], shown[64] = "";
    enum vram_dtype said = VRAM_DT_NONE, is = main_dtype(l);
    if (v->type == VRAM_CONFIG_STRING) {
        const struct vram_sym_entry *text = &cx->syms->at[v->text];
        vram_escape(shown, sizeof shown, text->text, text->n);
        said = vram_dtype_by_torch(text->text, text->n);
    }
    vram_config_subject(cx, l->config_name, v, subject, sizeof subject);
    if (said == VRAM_DT_NONE && strcmp(shown, "auto") != 0)
        return vram_find(cx, VRAM_F_DTYPE_UNKNOWN, subject, "there is no dtype '%s'%s%s%s", shown,
                         is ? "; the tensors are " : "", is ? vram_dtypes[is].torch : "",
                         is ? "" : "; float32 is assumed");
    if (said != VRAM_DT_NONE && is != VRAM_DT_NONE && said != is &&
        quantised_dtype(l) == VRAM_DT_NONE)
        return vram_find(cx, VRAM_F_DTYPE_DIFFERS, subject, "it says %s, the tensors are %s", shown,
                         vram_dtypes[is].torch);
    return VRAM_OK;
}

int vram_check_quantised(struct vram_loading *l)
{
    struct vram_cx *cx = l->cx;
    const struct vram_config *v = vram_config_get_text(cx, l->config, "quantization_config");
    enum vram_dtype found = quantised_dtype(l), is = main_dtype(l);
    char subject[300], shown[64];
    if (v && v->type == VRAM_CONFIG_NULL)
        v = NULL;
    if (v)
        vram_config_subject(cx, l->config_name, v, subject, sizeof subject);
    const char *method = vram_config_text(cx, v, "quant_method", "quantised");
    vram_escape(shown, sizeof shown, method, strlen(method));
    if (v && found == VRAM_DT_NONE && is != VRAM_DT_NONE)
        return vram_find(cx, VRAM_F_QUANT_CLAIM, subject, "it says %s, the tensors are plain %s",
                         shown, vram_dtypes[is].torch);
    if (found == VRAM_DT_NONE)
        return VRAM_OK;
    return vram_find(cx, VRAM_F_QUANT_UNKNOWN, v ? subject : l->files.at[0].name,
                     "the weights are stored quantised (%s): their layout is not read yet",
                     vram_dtypes[found].name);
}
