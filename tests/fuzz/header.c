/* SPDX-License-Identifier: Apache-2.0
 *
 * The safetensors header reader on a file of any bytes.
 */
#include "safetensors/header.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz f;
    struct vram_cx *cx = fuzz_begin(&f);
    struct vram_tensors tensors = {0};
    struct vram_file file = {0};
    int rc = vram_header_parse(cx, "input", data, n, n, 0, &tensors, &file);
    fuzz_check(&f, rc, n);
    for (size_t i = 0; !rc && i < tensors.n; i++)
        if (tensors.at[i].bytes > file.data_bytes || tensors.at[i].offset >= file.header_bytes)
            abort();
    fuzz_end(&f);
    return 0;
}
