/* SPDX-License-Identifier: Apache-2.0
 *
 * A user's folder of template files.
 */
#ifndef VRAM_TEXT_FOLDER_H
#define VRAM_TEXT_FOLDER_H

#include "ir/program.h"

/* Parses every .vt file of the folder, in the order of their names. */
int vram_template_folder(struct vram_cx *cx, struct vram_program *program, const char *path);

#endif
