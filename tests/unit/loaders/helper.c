/* SPDX-License-Identifier: Apache-2.0
 *
 * See helper.h.
 */
#define _XOPEN_SOURCE 700 /* nftw */
#include "helper.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct vram_cx *world_begin(struct world *w)
{
    *w = (struct world){.limits = vram_limits_default, .error = {.offset = VRAM_NO_OFFSET}};
    vram_arena_init(&w->arena, w->limits.arena_bytes);
    w->cx = (struct vram_cx){&w->arena, &w->syms, &w->limits, &w->findings, &w->error};
    assert_int_equal(vram_syms_init(&w->syms, &w->arena), 0);
    return &w->cx;
}

void world_end(struct world *w) { vram_arena_finish(&w->arena); }

void requote(char *text, char mark)
{
    for (; *text; text++)
        if (*text == mark)
            *text = '"';
}

const char *q(const char *text)
{
    static char copies[4][2048];
    static unsigned turn;
    char *copy = copies[turn++ % 4];
    assert_true(strlen(text) < sizeof copies[0]);
    requote(strcpy(copy, text), '\'');
    return copy;
}

unsigned world_found(const struct world *w, enum vram_finding_kind kind)
{
    unsigned n = 0;
    for (size_t i = 0; i < w->findings.n; i++)
        n += w->findings.at[i].kind == kind;
    return n;
}

static const struct vram_finding *first(const struct world *w, enum vram_finding_kind kind)
{
    for (size_t i = 0; i < w->findings.n; i++)
        if (w->findings.at[i].kind == kind)
            return &w->findings.at[i];
    return NULL;
}

const char *world_finding(const struct world *w, enum vram_finding_kind kind)
{
    return first(w, kind) ? first(w, kind)->text : "";
}

const char *world_subject(const struct world *w, enum vram_finding_kind kind)
{
    return first(w, kind) ? first(w, kind)->subject : "";
}

void world_check(const struct world *w, int code, const char *caret, size_t base, const char *text)
{
    size_t place = base + strlen(caret) - 1;
    if (w->error.code != code || w->error.offset != place || !strstr(w->error.text, text))
        fail_msg("%s at %llu: %s; expected %s at %zu: %s", vram_code_name(w->error.code),
                 (unsigned long long)w->error.offset, w->error.text, vram_code_name(code), place,
                 text);
}

char *make_folder(void)
{
    const char *base = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/vram-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(path));
    return strdup(path);
}

void world_load(struct world *w, const char *path, struct vram_checkpoint *out)
{
    if (vram_load(world_begin(w), path, NULL, out))
        fail_msg("%s: %s", w->error.where, w->error.text);
}

void world_sweep(const char *path, const char *tower)
{
    struct vram_load_options options = {.vision_tower = tower};
    for (uint64_t n = 1;; n++) {
        struct world w;
        struct vram_checkpoint c;
        struct vram_cx *cx = world_begin(&w);
        vram_fail_after(n);
        int rc = vram_load(cx, path, &options, &c);
        uint64_t made = vram_fail_after(0);
        if (rc && rc != VRAM_E_NOMEM)
            fail_msg("request %llu: %s: %s", (unsigned long long)n, w.error.where, w.error.text);
        assert_int_equal(rc, w.error.code);
        world_end(&w);
        if (made < n) {
            assert_int_equal(rc, 0);
            assert_true(n > 30);
            return;
        }
        assert_int_equal(rc, VRAM_E_NOMEM);
    }
}

static int forget(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

void remove_folder(char *path)
{
    nftw(path, forget, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
}

const char *at(const char *folder, const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void put_file(const char *folder, const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(at(folder, name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

void put_text(const char *folder, const char *name, const char *text)
{
    put_file(folder, name, q(text), strlen(text));
}

void put_tensors(const char *folder, const char *name, const char *header, uint64_t data)
{
    size_t n = strlen(header);
    char *bytes = malloc(n + 8);
    assert_non_null(bytes);
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)((uint64_t)n >> (8 * i) & 0xff);
    memcpy(bytes + 8, q(header), n);
    put_file(folder, name, bytes, n + 8);
    free(bytes);
    assert_int_equal(truncate(at(folder, name), (off_t)(n + 8 + data)), 0);
}

void put_folder(const char *folder, const char *name)
{
    assert_int_equal(mkdir(at(folder, name), 0700), 0);
}

void put_link(const char *folder, const char *name, const char *target)
{
    assert_int_equal(symlink(target, at(folder, name)), 0);
}

void add_entry(char *text, size_t size, const char *name, const char *shape, uint64_t *offset,
               uint64_t bytes)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s'%s':{'dtype':'F16','shape':%s,'data_offsets':[%llu,%llu]}",
             n > 1 ? "," : "", name, shape, (unsigned long long)*offset,
             (unsigned long long)(*offset + bytes));
    *offset += bytes;
}
