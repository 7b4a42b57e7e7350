/* SPDX-License-Identifier: Apache-2.0
 *
 * ONNX's textual syntax on any bytes; what is read must hang together.
 */
#include "onnx/onnx.h"
#include "onnx_model.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz f;
    struct vram_cx *cx = fuzz_begin(&f);
    struct vram_onnx model;
    int rc = vram_onnx_load_text(cx, "input", (const char *)data, n, &model);
    fuzz_check(&f, rc, n);
    if (!rc)
        fuzz_model(cx, &model);
    fuzz_end(&f);
    return 0;
}
