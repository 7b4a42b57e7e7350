/* SPDX-License-Identifier: Apache-2.0
 *
 * Scanning: paths of models out of trees or out of a list, one record each, by several threads, written in
 * the order of the paths.  Memory does not grow with the number of models: at most SCAN_AHEAD of them
 * are under way, and of a tree only the entries of the folders on the way down are held.
 */
#ifndef VRAM_TOOLS_SCAN_H
#define VRAM_TOOLS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <vram/vram.h>

/* ---- which paths ------------------------------------------------------------------------- */

/* Depth-first, entries of a folder by name in byte order.  What counts as a model: a folder with a config.json,
 * a shard index or .safetensors files; a hub cache's models--ORG--NAME folder, whole; an .onnx file.
 * Links to folders are followed where they lead neither back up the way nor into the trees that are
 * scanned anyway. */
struct walk;
struct walk *walk_open(const char *const *roots, size_t n); /* NULL: out of memory */
/* The next model's path, valid until the next call; NULL at the end, or with *memory when out of it.
 * *trouble: a folder that could not be read is returned as a path with its errno, else 0. */
const char *walk_next(struct walk *walk, int *trouble, bool *memory);
void walk_close(struct walk *walk);

/* ---- one model ----------------------------------------------------------------------------- */

enum scan_outcome { SCAN_OK, SCAN_FINDING, SCAN_UNKNOWN, SCAN_ERROR };
extern const char *const scan_outcomes[]; /* "ok" … */

enum { SCAN_FINDINGS = 16, SCAN_TEXT = 512 };

struct scan_finding {
    char id[8];
    const char *severity;
    char subject[128], text[SCAN_TEXT / 2];
};

/* What a record says; no pointers into handles. */
struct record {
    char *path; /* malloc'ed */
    enum scan_outcome outcome;
    char format[24], family[64], class_name[96];
    uint64_t parameters, parameter_bytes;
    bool peak_known;
    vram_range allocated, reserved, device;
    char verdict[16]; /* "" without a card */
    size_t nfindings, more_findings; /* warnings and assumptions; those beyond SCAN_FINDINGS are counted */
    struct scan_finding findings[SCAN_FINDINGS];
    char code[24], where[256], text[384]; /* of an error */
    uint64_t offset;                      /* VRAM_NO_OFFSET: none */
    char stamp[20]; /* of the files (names, sizes, times) and the settings: equal = nothing has changed */
};

/* Fills in a record; path is taken over.  false: out of memory. */
bool record_make(struct record *r, char *path, int trouble, const vram_plan *plan,
                 const vram_open_options *options, const char *stamp);
void record_clear(struct record *r);
/* The stamp of a path under settings; "" where the path cannot be read. */
void record_stamp(const char *path, const char *settings, char out[20]);

/* ---- output -------------------------------------------------------------------------------- */

struct scan_output;
struct scan_output_row {
    const char *name;
    const char *help;
    struct scan_output *(*open)(FILE *file, const char *path); /* NULL: the error is printed */
    bool (*write)(struct scan_output *out, const struct record *r); /* false: errno says why */
    bool (*close)(struct scan_output *out); /* frees it; false: errno */
    bool file; /* needs --output FILE and writes it itself */
};
extern const struct scan_output_row scan_outputs[]; /* name NULL ends them */

#endif
