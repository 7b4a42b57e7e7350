/* SPDX-License-Identifier: Apache-2.0
 *
 * config.json: the reader, the aliases, the naming row and the class that it picks.
 */
#include "hf/config.h"
#include "hf/defaults.h"
#include "hf/naming.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz f;
    struct vram_cx *cx = fuzz_begin(&f);
    struct vram_config *root = NULL;
    int rc = vram_config_parse(cx, "input", data, n, &root);
    if (!rc)
        rc = vram_config_canonical(cx, root);
    if (!rc) {
        const struct vram_naming *row = vram_naming_find(cx, root);
        const struct vram_class *class =
            vram_class_find(row ? row->config_class : vram_config_text(cx, root, "model_type", ""));
        rc = class ? vram_class_apply(cx, "input", root, class) : VRAM_OK;
    }
    fuzz_check(&f, rc, n);
    fuzz_end(&f);
    return 0;
}
