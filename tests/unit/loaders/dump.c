/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints what vram_load makes of a path: files, tensors with their module paths, config values with
 * who said them, findings.  For people who work on the loaders; not installed.
 *
 *     loaders-dump PATH [TOWER]        -q: no tensors and no config, only counts
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "loaders.h"

static int put(void *ctx, const char *text, size_t n) { return fwrite(text, 1, n, ctx) != n; }

static void value(struct vram_text *t, const struct vram_cx *cx, const struct vram_config *v)
{
    char path[300], real[40];
    vram_config_path(cx, v, path, sizeof path);
    vram_text_printf(t, "  %s = ", path);
    switch (v->type) {
    case VRAM_CONFIG_NULL: vram_text_puts(t, "null"); break;
    case VRAM_CONFIG_BOOL: vram_text_puts(t, v->integer ? "true" : "false"); break;
    case VRAM_CONFIG_INT: vram_text_printf(t, "%lld", (long long)v->integer); break;
    case VRAM_CONFIG_FLOAT:
        snprintf(real, sizeof real, "%.17g", v->real);
        vram_text_puts(t, real);
        break;
    case VRAM_CONFIG_STRING: vram_text_json(t, vram_sym_text(cx->syms, v->text)); break;
    case VRAM_CONFIG_ARRAY: vram_text_puts(t, v->first ? "[" : "[]"); break;
    case VRAM_CONFIG_OBJECT: vram_text_puts(t, v->first ? "{" : "{}"); break;
    }
    vram_text_printf(t, "  (%s", vram_origin_name(v->origin));
    if (v->offset != VRAM_NO_OFFSET)
        vram_text_printf(t, " @%llu", (unsigned long long)v->offset);
    vram_text_puts(t, ")\n");
}

static void config(struct vram_text *t, const struct vram_cx *cx, const struct vram_config *v)
{
    for (const struct vram_config *m = v ? v->first : NULL; m; m = m->next) {
        value(t, cx, m);
        config(t, cx, m); /* trusted depth: the reader's limit */
    }
}

static void tensors(struct vram_text *t, const struct vram_cx *cx, const struct vram_checkpoint *c)
{
    for (uint32_t i = 0; i < c->ntensors; i++) {
        const struct vram_tensor *x = &c->tensors[i];
        const char *name = vram_sym_text(cx->syms, x->name),
                   *path = vram_sym_text(cx->syms, x->path);
        vram_text_printf(t, "  %u %s%s%s %s [", x->file, name, x->path != x->name ? " -> " : "",
                         x->path != x->name ? path : "", vram_dtypes[x->dtype].name);
        for (uint32_t d = 0; d < x->rank; d++)
            vram_text_printf(t, "%s%lld", d ? "," : "", (long long)x->dims[d]);
        vram_text_printf(t, "] %llu @%llu%s\n", (unsigned long long)x->bytes,
                         (unsigned long long)x->offset, x->buffer ? " buffer" : "");
    }
}

/* of the files that are, or are not, of another checkpoint */
static void sum(struct vram_text *t, const struct vram_checkpoint *c, bool outside)
{
    uint64_t all = 0, buffers = 0, bytes = 0;
    uint32_t tensors = 0;
    for (uint32_t i = 0; i < c->ntensors; i++) {
        uint64_t n = 1;
        if (c->files[c->tensors[i].file].outside != outside)
            continue;
        for (uint32_t d = 0; d < c->tensors[i].rank; d++)
            n *= (uint64_t)c->tensors[i].dims[d];
        tensors += c->tensors[i].parts ? c->tensors[i].parts : 1;
        all += n;
        buffers += c->tensors[i].buffer ? n : 0;
        bytes += c->tensors[i].bytes;
    }
    vram_text_printf(t, "%s: %u tensors, %llu elements (%llu in buffers), %llu bytes\n",
                     outside ? "outside" : "own", tensors, (unsigned long long)all,
                     (unsigned long long)buffers, (unsigned long long)bytes);
}

static void counts(struct vram_text *t, const struct vram_checkpoint *c)
{
    vram_text_printf(t, "%s: format %s, family '%s', class '%s'%s\n", c->name, c->format, c->family,
                     c->class_name, c->partial ? ", partial" : "");
    sum(t, c, false);
    if (c->outside_prefix) {
        sum(t, c, true);
        vram_text_printf(t, "outside: %s from %s\n", c->outside_prefix, c->outside_name);
    }
    for (uint32_t i = 0; i < c->nfiles; i++)
        vram_text_printf(t, "  file %u %s %llu = %llu + %llu%s\n", i, c->files[i].name,
                         (unsigned long long)c->files[i].size,
                         (unsigned long long)c->files[i].header_bytes,
                         (unsigned long long)c->files[i].data_bytes,
                         c->files[i].outside ? " outside" : "");
}

int main(int argc, char **argv)
{
    bool quiet = argc > 1 && !strcmp(argv[1], "-q");
    argv += quiet;
    argc -= quiet;
    if (argc < 2)
        return 2;
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_findings findings = {0};
    struct vram_checkpoint c;
    vram_error error = {.offset = VRAM_NO_OFFSET};
    struct vram_load_options options = {.vision_tower = argc > 2 ? argv[2] : NULL};
    struct vram_text out;
    vram_text_init(&out, put, stdout);
    vram_arena_init(&arena, vram_limits_default.arena_bytes);
    struct vram_cx cx = {&arena, &syms, &vram_limits_default, &findings, &error};
    int rc = vram_syms_init(&syms, &arena);
    if (!rc)
        rc = vram_load(&cx, argv[1], &options, &c);
    if (rc) {
        vram_text_printf(&out, "error %s: %s: %s", vram_code_name(rc), error.where, error.text);
        if (error.offset != VRAM_NO_OFFSET)
            vram_text_printf(&out, " (offset %llu)", (unsigned long long)error.offset);
        vram_text_puts(&out, "\n");
    } else {
        counts(&out, &c);
        if (!quiet) {
            tensors(&out, &cx, &c);
            config(&out, &cx, c.config);
        }
    }
    static const char *const severities[] = {"note", "assume", "warn"};
    for (size_t i = 0; i < findings.n; i++) {
        const struct vram_finding_row *row = &vram_finding_rows[findings.at[i].kind];
        vram_text_printf(&out, "%s %s %s: %s\n", severities[row->severity], row->name,
                         findings.at[i].subject, findings.at[i].text);
    }
    vram_text_flush(&out);
    vram_arena_finish(&arena);
    return rc ? 1 : 0;
}
