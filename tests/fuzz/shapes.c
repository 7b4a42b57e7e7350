/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes and claims of an ONNX graph of any bytes, or any text: whatever the file says, sizes that are numbers are
 * not below 0, and every expression reads back as itself.
 */
#include <stdlib.h>
#include <string.h>

#include "onnx/infer.h"
#include "onnx/onnx.h"
#include "target.h"

static void check_dim(struct vram_dims *dims, vram_dim d)
{
    int64_t n;
    const char *text = d ? vram_dim_text(dims, d) : NULL;
    if (d && vram_dim_is_int(dims, d, &n) && n < 0)
        abort();
    if (text && strlen(text) < 200 && !strchr(text, '`') && vram_dim_parse(dims, text, strlen(text)) != d)
        abort();
}

static void check(struct vram_cx *cx, const struct vram_inference *shapes)
{
    const struct vram_claim *claims;
    size_t n;
    for (uint32_t i = 1; i < shapes->n && i < 2000; i++)
        for (uint32_t k = 0; shapes->at[i].ranked && k < shapes->at[i].rank && k < 64; k++)
            check_dim(shapes->dims, shapes->at[i].dims[k]);
    vram_onnx_claims(cx, shapes, &claims, &n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz f;
    struct vram_cx *cx = fuzz_begin(&f);
    struct vram_onnx model;
    struct vram_inference shapes;
    bool text = n && (data[0] == '<' || data[0] == '#');
    int rc = text ? vram_onnx_load_text(cx, "input", (const char *)data, n, &model)
                  : vram_onnx_load_block(cx, "input", data, n, &model);
    if (!rc)
        rc = vram_onnx_infer(cx, &model, NULL, &shapes);
    fuzz_check(&f, rc, n);
    if (!rc)
        check(cx, &shapes);
    fuzz_end(&f);
    return 0;
}
