/* SPDX-License-Identifier: Apache-2.0
 *
 * One model's record; see scan.h.  Errors and unknowns are records too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/page.h"
#include "scan.h"

const char *const scan_outcomes[] = {"ok", "finding", "unknown", "error"};

static void copy(char *out, size_t size, const char *text)
{
    page_escape(out, size, text);
}

static bool failed(struct record *r, const vram_error *e)
{
    r->outcome = SCAN_ERROR;
    copy(r->code, sizeof r->code, vram_code_name(e->code));
    copy(r->where, sizeof r->where, e->where);
    copy(r->text, sizeof r->text, e->text);
    r->offset = e->offset;
    return e->code != VRAM_E_NOMEM;
}

static void keep(struct record *r, const vram_finding_view *f)
{
    if (f->severity == VRAM_NOTE)
        return;
    if (f->severity == VRAM_WARN && r->outcome == SCAN_OK)
        r->outcome = SCAN_FINDING;
    if (r->nfindings == SCAN_FINDINGS) {
        r->more_findings++;
        return;
    }
    struct scan_finding *out = &r->findings[r->nfindings++];
    snprintf(out->id, sizeof out->id, "%s", f->id);
    out->severity = f->severity == VRAM_WARN ? "warn" : "assume";
    copy(out->subject, sizeof out->subject, f->subject);
    copy(out->text, sizeof out->text, f->text);
}

static void read_model(struct record *r, const vram_model *model)
{
    vram_model_view m = {.size = sizeof m};
    vram_model_get(model, &m);
    copy(r->format, sizeof r->format, m.format);
    copy(r->family, sizeof r->family, m.family);
    copy(r->class_name, sizeof r->class_name, m.class_name);
    r->parameters = m.parameters;
    r->parameter_bytes = m.parameter_bytes;
}

static void read_report(struct record *r, const vram_report *report)
{
    vram_report_view v = {.size = sizeof v};
    vram_report_get(report, &v);
    r->peak_known = v.peak_known;
    r->allocated = v.allocated;
    r->reserved = v.reserved;
    r->device = v.device;
    copy(r->verdict, sizeof r->verdict, v.verdict_name);
    for (size_t i = 0; i < vram_report_finding_count(report); i++) {
        vram_finding_view f = {.size = sizeof f};
        vram_report_finding(report, i, &f);
        keep(r, &f);
    }
    if (!v.peak_known)
        r->outcome = SCAN_UNKNOWN;
}

bool record_make(struct record *r, char *path, int trouble, const vram_plan *plan,
                 const vram_open_options *options, const char *stamp)
{
    vram_model *model = NULL;
    vram_report *report = NULL;
    vram_error e = {.offset = VRAM_NO_OFFSET};
    *r = (struct record){.path = path, .offset = VRAM_NO_OFFSET};
    snprintf(r->stamp, sizeof r->stamp, "%s", stamp);
    bool ok = true;
    if (trouble) {
        e.code = VRAM_E_IO;
        snprintf(e.text, sizeof e.text, "the folder cannot be read: %s",
                 trouble == EACCES ? "permission denied" : trouble == ELOOP ? "too deep" : "input/output error");
        return failed(r, &e);
    }
    if (vram_model_open(&model, path, options, &e)) {
        ok = failed(r, &e);
    } else {
        read_model(r, model);
        if (vram_predict(&report, model, plan, &e))
            ok = failed(r, &e);
        else
            read_report(r, report);
    }
    vram_report_free(report);
    vram_model_free(model);
    return ok;
}

void record_clear(struct record *r)
{
    free(r->path);
    r->path = NULL;
}

/* ---- stamps: has anything changed? ---------------------------------------------------------- */

static uint64_t fnv(uint64_t h, const void *bytes, size_t n)
{
    for (const unsigned char *p = bytes; n--; p++)
        h = (h ^ *p) * 1099511628211u;
    return h;
}

static const uint64_t FNV_START = 14695981039346656037u;

static uint64_t of_file(const char *name, const struct stat *st)
{
    uint64_t h = fnv(FNV_START, name, strlen(name) + 1);
    int64_t facts[] = {(int64_t)st->st_size, (int64_t)st->st_mtim.tv_sec, (int64_t)st->st_mtim.tv_nsec};
    return fnv(h, facts, sizeof facts);
}

/* The sum over a folder's files, so that their order does not matter; `deep` folders below it. */
static uint64_t of_folder(int fd, int deep)
{
    uint64_t sum = 0;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    for (struct dirent *d; (d = readdir(dir));) {
        struct stat st;
        if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..") || fstatat(dirfd(dir), d->d_name, &st, 0))
            continue;
        if (S_ISREG(st.st_mode))
            sum += of_file(d->d_name, &st);
        else if (S_ISDIR(st.st_mode) && deep)
            sum += fnv(of_folder(openat(dirfd(dir), d->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), deep - 1),
                       d->d_name, strlen(d->d_name));
    }
    closedir(dir);
    return sum;
}

void record_stamp(const char *path, const char *settings, char out[20])
{
    struct stat st;
    const char *slash = strrchr(path, '/');
    bool whole = !strncmp(slash ? slash + 1 : path, "models--", 8);
    out[0] = 0;
    if (stat(path, &st))
        return;
    uint64_t h = S_ISDIR(st.st_mode) ? of_folder(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), whole ? 3 : 0)
                                     : of_file("", &st);
    h = fnv(fnv(FNV_START, settings, strlen(settings)), &h, sizeof h);
    snprintf(out, 20, "%016" PRIx64, h);
}
