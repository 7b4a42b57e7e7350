/* SPDX-License-Identifier: Apache-2.0
 *
 * Going on with a scan: what a file of records has already, and its final form.  Records stand in the
 * file in the order in which they were made; at the end it is rewritten in the order of the paths, the
 * last record of each, without those of paths that are gone: the same bytes as a scan in one go.
 */
#ifndef VRAM_TOOLS_RESUME_H
#define VRAM_TOOLS_RESUME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct resume;

/* Reads the records of path (none is fine) and opens it for more; a last line that is not whole is cut
 * off.  NULL: the error is printed. */
struct resume *resume_open(const char *path, FILE **file);
/* Is there a record of this path with this stamp?  Then it stays.  Otherwise one will be written: call
 * resume_wrote behind it.  Paths come in their final order. */
bool resume_has(struct resume *r, const char *path, const char *stamp, bool *memory);
bool resume_wrote(struct resume *r, const char *path);
/* complete: all paths were seen; the file gets its final form.  false: errno. */
bool resume_close(struct resume *r, bool complete);

#endif
