/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in templates, as text, and an index of the names they define (made at build time by
 * embed.py), so that only the files that a model needs are parsed.
 */
#ifndef VRAM_MODELS_EMBEDDED_H
#define VRAM_MODELS_EMBEDDED_H

struct vram_embedded_file {
    const char *name;
    const char *text; /* without comments; lines keep their numbers */
};
extern const struct vram_embedded_file vram_embedded_files[];
extern const unsigned vram_embedded_files_count;

struct vram_embedded_name {
    const char *name; /* a module, function or model_type; sorted */
    unsigned file;
};
extern const struct vram_embedded_name vram_embedded_names[];
extern const unsigned vram_embedded_names_count;

#endif
