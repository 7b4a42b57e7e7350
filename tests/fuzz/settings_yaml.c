/* SPDX-License-Identifier: Apache-2.0
 *
 * A settings file: YAML, its statements, and what the rows make of them.
 */
#include "settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    return fuzz_settings(vram_settings_yaml, data, n);
}
