/* SPDX-License-Identifier: Apache-2.0
 *
 * The index reader, and the comparison with shards that hold nothing.
 */
#include "safetensors/index.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz f;
    struct vram_cx *cx = fuzz_begin(&f);
    struct vram_index index = {0};
    struct vram_tensors tensors = {0};
    int rc = vram_index_parse(cx, "input", data, n, &index);
    fuzz_check(&f, rc, n);
    if (!rc) {
        struct vram_file *files = vram_arena_array(cx->arena, index.shards.n, sizeof *files);
        for (uint32_t i = 0; files && i < index.shards.n; i++) {
            index.shards.at[i].file = i;
            index.shards.at[i].missing = i % 2;
            files[i].name = "shard";
        }
        if (!files || vram_index_compare(cx, &index, files, &tensors))
            abort();
        for (size_t i = 0; i < index.entries.n; i++)
            if (index.entries.at[i].shard >= index.shards.n)
                abort();
    }
    fuzz_end(&f);
    return 0;
}
