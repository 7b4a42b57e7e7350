/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's version, as meson.build says it.
 */
#include "vram/vram.h"

const char *vram_version(void) { return VRAM_PROJECT_VERSION; }

int vram_api_version(void) { return VRAM_API_VERSION; }
