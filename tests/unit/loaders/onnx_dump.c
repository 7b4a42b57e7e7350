/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx-dump [-q] FILE...: opens ONNX files as the library does; *.txt in the textual syntax.  With one file and no -q the model is
 * printed; else a line a file: `ok`, `finding` or `error`, and why.  Exits with 3 when one is refused.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/print_onnx.h"
#include "onnx/onnx.h"

static int to_stdout(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    return fwrite(text, 1, n, stdout) != n;
}

static void print_model(const struct vram_onnx *model, const struct vram_syms *syms)
{
    static struct vram_text text;
    vram_text_init(&text, to_stdout, NULL);
    vram_onnx_print(model, syms, &text);
    vram_text_flush(&text);
}

static int load(struct vram_cx *cx, const char *path, struct vram_onnx *out)
{
    static char text[1 << 20];
    size_t n = strlen(path);
    if (n < 4 || strcmp(path + n - 4, ".txt"))
        return vram_onnx_load(cx, path, out);
    FILE *f = fopen(path, "rb");
    if (!f)
        return vram_fail(cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET, "there is no such file");
    n = fread(text, 1, sizeof text, f);
    fclose(f);
    return vram_onnx_load_text(cx, path, text, n, out);
}

static int one(const char *path, int quiet)
{
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_findings findings = {0};
    vram_error error = {.offset = VRAM_NO_OFFSET};
    struct vram_cx cx = {&arena, &syms, &vram_limits_default, &findings, &error};
    struct vram_onnx model = {0};
    vram_arena_init(&arena, vram_limits_default.arena_bytes);
    int rc = vram_syms_init(&syms, &arena), warned = 0;
    if (!rc)
        rc = load(&cx, path, &model);
    if (!rc && !quiet)
        print_model(&model, &syms);
    for (size_t i = 0; !rc && i < findings.n; i++) {
        const struct vram_finding_row *row = &vram_finding_rows[findings.at[i].kind];
        warned |= row->severity == VRAM_WARN;
        if (!quiet)
            fprintf(stderr, "%s %s: %s\n", row->id, findings.at[i].subject, findings.at[i].text);
    }
    if (quiet && rc)
        printf("error %s %s @%" PRId64 " %s: %s\n", path, vram_code_name(rc), (int64_t)error.offset, error.where, error.text);
    else if (quiet)
        printf("%s %s nodes %" PRIu32 " %s\n", warned ? "finding" : "ok", path, model.nodes.n - 1,
               findings.n ? findings.at[0].text : "");
    else if (rc)
        fprintf(stderr, "%s @%" PRId64 " %s: %s\n", vram_code_name(rc), (int64_t)error.offset, error.where, error.text);
    vram_arena_finish(&arena);
    return rc;
}

int main(int argc, char **argv)
{
    int quiet = argc > 1 && !strcmp(argv[1], "-q"), failed = 0;
    for (int i = 1 + quiet; i < argc; i++)
        failed |= one(argv[i], quiet || argc > 2) != 0;
    return failed ? 3 : 0;
}
