/* SPDX-License-Identifier: Apache-2.0
 *
 * What every pass is given: memory, names, limits, where to report.  Errors stop: the first one
 * wins and every function returns its code.  Findings accumulate: what a careful reader would
 * want to know and still get an answer.
 */
#ifndef VRAM_BASE_CX_H
#define VRAM_BASE_CX_H

#include <stdarg.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/sym.h"
#include "vram/vram.h" /* vram_error, VRAM_E_*, vram_severity */

/* Every kind of finding, in the order of their ids.  Rows in base/finding.c give the rest. */
enum vram_finding_kind {
#define VRAM_FINDING(name, id, severity, text) VRAM_F_##name,
#include "base/findings.def"
#undef VRAM_FINDING
    VRAM_F_COUNT
};

struct vram_finding_row {
    const char *id;       /* stable, "V0207" */
    const char *name;     /* "unknown-architecture" */
    int severity;         /* enum vram_severity */
    const char *meaning;  /* one line, for `vramcast list findings` */
};
extern const struct vram_finding_row vram_finding_rows[VRAM_F_COUNT];

struct vram_finding {
    enum vram_finding_kind kind;
    const char *subject; /* file, tensor, key or setting it is about */
    const char *text;    /* one line */
};

enum { VRAM_MAX_FINDINGS = 500 }; /* the last of them says that there are more */

struct vram_findings {
    struct vram_finding *at;
    size_t n, cap;
};

struct vram_cx {
    struct vram_arena *arena;
    struct vram_syms *syms;
    const struct vram_limits *limits;
    struct vram_findings *findings; /* may be NULL: findings are dropped */
    vram_error *error;              /* never NULL inside the library */
};

/* Sets the error unless one is set; returns its code.  offset: byte in the input or
 * VRAM_NO_OFFSET. */
__attribute__((format(printf, 4, 5))) int vram_fail(struct vram_cx *cx, int code, uint64_t offset,
                                                    const char *format, ...);
/* The usual answer to a NULL from the arena: LIMIT when its cap was hit, else NOMEM. */
int vram_fail_memory(struct vram_cx *cx);
/* Says where, unless a lower layer did: "model.safetensors: tensor 'x'". */
__attribute__((format(printf, 2, 3))) void vram_where(struct vram_cx *cx, const char *format, ...);

/* Adds a finding; an equal one (kind, subject and text) is kept once.  Returns 0 or an error code
 * (out of memory). */
__attribute__((format(printf, 4, 5))) int vram_find(struct vram_cx *cx, enum vram_finding_kind kind,
                                                    const char *subject, const char *format, ...);

/* printf into the arena; NULL when out of memory. */
__attribute__((format(printf, 2, 3))) char *vram_format(struct vram_arena *arena,
                                                        const char *format, ...);
char *vram_vformat(struct vram_arena *arena, const char *format, va_list args);

/* Copies at most size − 1 bytes of text into out, with everything that is not printable ASCII
 * (or valid UTF-8) shown as \xNN, so that a hostile name cannot drive a terminal. */
void vram_escape(char *out, size_t size, const char *text, size_t n);

#define VRAM_TRY(call)                                                                             \
    do {                                                                                           \
        int vram_try_ = (call);                                                                    \
        if (vram_try_)                                                                             \
            return vram_try_;                                                                      \
    } while (0)

#endif
