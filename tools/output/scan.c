/* SPDX-License-Identifier: Apache-2.0
 *
 * Forms of a scan's records, a row each.  Every record is whole on disk before the next begins.
 */
#include "scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output/page.h"
#include "output/units.h"

struct scan_output {
    FILE *file;
};

static struct scan_output *start(FILE *file, const char *head)
{
    struct scan_output *out = malloc(sizeof *out);
    if (!out) {
        cli_fail(CLI_SYSTEM, "out of memory");
        return NULL;
    }
    out->file = file;
    fputs(head, file);
    return out;
}

static bool finish(struct scan_output *out)
{
    bool ok = !fflush(out->file);
    free(out);
    return ok;
}

/* ---- JSON lines ---- */

/* A JSON string; bytes that are not UTF-8 become U+FFFD, so that any path can be shown. */
static void string(FILE *f, const char *text)
{
    putc('"', f);
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t k = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3
                   : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;
        for (size_t i = 1; i < k; i++)
            if ((p[i] & 0xc0) != 0x80)
                k = 0;
        if ((k == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) ||
            (k == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))))
            k = 0;
        if (!k)
            fputs("\\ufffd", f);
        else if (*p == '"' || *p == '\\')
            fprintf(f, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(f, "\\u%04x", *p);
        else
            fwrite(p, 1, k, f);
        p += k ? k : 1;
    }
    putc('"', f);
}

static void member(FILE *f, const char *key, const char *text)
{
    fprintf(f, "\"%s\":", key);
    string(f, text);
}

static void range(FILE *f, const char *key, const vram_range *r)
{
    fprintf(f, "\"%s\":{\"low\":%" PRIu64 ",\"expected\":%" PRIu64 ",\"high\":%" PRIu64 "}", key, r->low,
            r->expected, r->high);
}

static void line(FILE *f, const struct record *r)
{
    fputs("{\"schema\":\"vramcast.scan/1\",", f);
    member(f, "path", r->path);
    putc(',', f);
    member(f, "outcome", scan_outcomes[r->outcome]);
    fputs(",\"model\":", f);
    if (*r->format) {
        putc('{', f);
        member(f, "format", r->format);
        putc(',', f);
        member(f, "family", r->family);
        putc(',', f);
        member(f, "class", r->class_name);
        fprintf(f, ",\"parameters\":%" PRIu64 ",\"parameter_bytes\":%" PRIu64 "}", r->parameters,
                r->parameter_bytes);
    } else {
        fputs("null", f);
    }
    fputs(",\"peak\":", f);
    if (r->peak_known) {
        putc('{', f);
        range(f, "allocated", &r->allocated);
        putc(',', f);
        range(f, "reserved", &r->reserved);
        putc(',', f);
        range(f, "device", &r->device);
        putc('}', f);
    } else {
        fputs("null", f);
    }
    fputs(",\"verdict\":", f);
    if (*r->verdict)
        string(f, r->verdict);
    else
        fputs("null", f);
    fputs(",\"findings\":[", f);
    for (size_t i = 0; i < r->nfindings; i++) {
        fputs(i ? ",{" : "{", f);
        member(f, "id", r->findings[i].id);
        putc(',', f);
        member(f, "severity", r->findings[i].severity);
        putc(',', f);
        member(f, "subject", r->findings[i].subject);
        putc(',', f);
        member(f, "text", r->findings[i].text);
        putc('}', f);
    }
    fprintf(f, "],\"more_findings\":%zu,\"error\":", r->more_findings);
    if (r->outcome == SCAN_ERROR) {
        putc('{', f);
        member(f, "code", r->code);
        putc(',', f);
        member(f, "where", r->where);
        if (r->offset == VRAM_NO_OFFSET)
            fputs(",\"offset\":null,", f);
        else
            fprintf(f, ",\"offset\":%" PRIu64 ",", r->offset);
        member(f, "text", r->text);
        putc('}', f);
    } else {
        fputs("null", f);
    }
    putc(',', f);
    member(f, "stamp", r->stamp);
    fputs("}\n", f);
}

static struct scan_output *jsonl_open(FILE *file, const char *path)
{
    (void)path;
    return start(file, "");
}

static bool jsonl_write(struct scan_output *out, const struct record *r)
{
    line(out->file, r);
    return !fflush(out->file) && !ferror(out->file);
}

/* ---- tables: one row a model ---- */

enum { CELLS = 13 };
static const char *const columns[CELLS] = {"path", "outcome", "format", "family", "parameters",
    "parameter_bytes", "allocated", "reserved", "device_low", "device", "device_high", "verdict", "text"};

static void number(char out[UNITS_TEXT], bool known, uint64_t n)
{
    out[0] = 0;
    if (known)
        snprintf(out, UNITS_TEXT, "%" PRIu64, n);
}

struct row {
    const char *cell[CELLS];
    char numbers[7][UNITS_TEXT];
    char text[SCAN_TEXT + 300];
};

static void fill(struct row *row, const struct record *r)
{
    const uint64_t n[7] = {r->parameters, r->parameter_bytes, r->allocated.expected, r->reserved.expected,
                           r->device.low, r->device.expected, r->device.high};
    for (size_t i = 0; i < 7; i++)
        number(row->numbers[i], i < 2 ? *r->format : r->peak_known, n[i]);
    row->text[0] = 0;
    if (r->outcome == SCAN_ERROR)
        snprintf(row->text, sizeof row->text, "%s%s%s", r->where, *r->where ? ": " : "", r->text);
    else
        for (size_t i = 0; i < r->nfindings && !*row->text; i++)
            if (!strcmp(r->findings[i].severity, "warn"))
                snprintf(row->text, sizeof row->text, "%s %s: %s", r->findings[i].id,
                         r->findings[i].subject, r->findings[i].text);
    const char *cells[CELLS] = {r->path, scan_outcomes[r->outcome], r->format, r->family, row->numbers[0],
        row->numbers[1], row->numbers[2], row->numbers[3], row->numbers[4], row->numbers[5],
        row->numbers[6], r->verdict, row->text};
    memcpy(row->cell, cells, sizeof cells);
}

static void csv_cell(FILE *f, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, f);
        return;
    }
    putc('"', f);
    for (; *text; text++)
        fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
    putc('"', f);
}

static struct scan_output *csv_open(FILE *file, const char *path)
{
    (void)path;
    struct scan_output *out = start(file, "");
    for (size_t i = 0; out && i < CELLS; i++)
        fprintf(file, "%s%s", columns[i], i + 1 < CELLS ? "," : "\n");
    return out;
}

static bool csv_write(struct scan_output *out, const struct record *r)
{
    struct row row;
    fill(&row, r);
    for (size_t i = 0; i < CELLS; i++) {
        csv_cell(out->file, row.cell[i]);
        putc(i + 1 < CELLS ? ',' : '\n', out->file);
    }
    return !fflush(out->file) && !ferror(out->file);
}

/* ---- for people: fewer columns, figures with units ---- */

enum { SHOWN = 7 };
static const char *const titles[SHOWN] = {"path", "outcome", "family", "parameters", "device", "verdict", "text"};

struct shown {
    const char *cell[SHOWN];
    char parameters[UNITS_TEXT], device[UNITS_TEXT];
    struct row row;
};

static void show(struct shown *s, const struct record *r)
{
    fill(&s->row, r);
    s->parameters[0] = s->device[0] = 0;
    if (*r->format)
        count_text(r->parameters, s->parameters);
    if (r->peak_known)
        bytes_text(r->device.expected, s->device);
    const char *cells[SHOWN] = {r->path, scan_outcomes[r->outcome], r->family, s->parameters, s->device,
                                r->verdict, s->row.text};
    memcpy(s->cell, cells, sizeof cells);
}

static void md_cell(FILE *f, const char *text)
{
    char safe[4096];
    page_escape(safe, sizeof safe, text);
    for (const char *p = safe; *p; p++) {
        if (strchr("\\|`*_<>[]#", *p))
            putc('\\', f);
        putc(*p, f);
    }
}

static struct scan_output *md_open(FILE *file, const char *path)
{
    (void)path;
    struct scan_output *out = start(file, "");
    for (size_t i = 0; out && i < SHOWN; i++)
        fprintf(file, "| %s %s", titles[i], i + 1 < SHOWN ? "" : "|\n|---|---|---|--:|--:|---|---|\n");
    return out;
}

static bool md_write(struct scan_output *out, const struct record *r)
{
    struct shown s;
    show(&s, r);
    for (size_t i = 0; i < SHOWN; i++) {
        fputs("| ", out->file);
        md_cell(out->file, s.cell[i]);
        putc(' ', out->file);
    }
    fputs("|\n", out->file);
    return !fflush(out->file) && !ferror(out->file);
}

static void html_text(FILE *f, const char *text)
{
    char safe[4096];
    page_escape(safe, sizeof safe, text);
    for (const char *p = safe; *p; p++)
        switch (*p) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '"': fputs("&quot;", f); break;
        default: putc(*p, f);
        }
}

static struct scan_output *html_open(FILE *file, const char *path)
{
    (void)path;
    return start(file,
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>vramcast scan</title>\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<style>:root{color-scheme:light dark}body{font:14px/1.4 system-ui,sans-serif;margin:1.5rem}\n"
        "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .6rem;"
        "border-bottom:1px solid #8884;vertical-align:top;overflow-wrap:anywhere}\n"
        "td:nth-child(4),td:nth-child(5){text-align:right;white-space:nowrap}th{position:sticky;top:0;"
        "background:Canvas}\n.error td:nth-child(2){color:#c22}.finding td:nth-child(2),"
        ".unknown td:nth-child(2){color:#a60}</style>\n<h1>vramcast scan</h1>\n<table><thead><tr>"
        "<th scope=\"col\">path<th scope=\"col\">outcome<th scope=\"col\">family<th scope=\"col\">parameters"
        "<th scope=\"col\">device<th scope=\"col\">verdict<th scope=\"col\">what is odd</tr></thead>\n<tbody>\n");
}

static bool html_write(struct scan_output *out, const struct record *r)
{
    struct shown s;
    show(&s, r);
    fprintf(out->file, "<tr class=\"%s\">", scan_outcomes[r->outcome]);
    for (size_t i = 0; i < SHOWN; i++) {
        fputs("<td>", out->file);
        html_text(out->file, s.cell[i]);
    }
    fputs("</tr>\n", out->file);
    return !fflush(out->file) && !ferror(out->file);
}

static bool html_close(struct scan_output *out)
{
    fputs("</tbody></table></html>\n", out->file);
    return finish(out);
}

/* ---- a database ---- */

#ifdef VRAM_SQLITE
#include <sqlite3.h>

struct database {
    struct scan_output base;
    sqlite3 *db;
    sqlite3_stmt *insert;
};

static struct scan_output *refuse(struct database *d, const char *path)
{
    cli_fail(CLI_SYSTEM, "%s: %s", path, d && d->db ? sqlite3_errmsg(d->db) : "out of memory");
    if (d) {
        sqlite3_finalize(d->insert);
        sqlite3_close(d->db);
    }
    free(d);
    return NULL;
}

static struct scan_output *sqlite_open(FILE *file, const char *path)
{
    (void)file;
    static const char make[] =
        "create table if not exists models(path text primary key, outcome text, format text, family text,"
        " parameters integer, parameter_bytes integer, allocated integer, reserved integer,"
        " device_low integer, device integer, device_high integer, verdict text, text text)";
    struct database *d = calloc(1, sizeof *d);
    if (!d || sqlite3_open(path, &d->db) || sqlite3_exec(d->db, make, NULL, NULL, NULL) ||
        sqlite3_prepare_v2(d->db, "insert or replace into models values(?,?,?,?,?,?,?,?,?,?,?,?,?)", -1,
                           &d->insert, NULL))
        return refuse(d, path);
    return &d->base;
}

static bool sqlite_write(struct scan_output *out, const struct record *r)
{
    struct database *d = (struct database *)out;
    struct row row;
    fill(&row, r);
    for (int i = 0; i < CELLS; i++) {
        bool whole = i >= 4 && i <= 10;
        if (!*row.cell[i])
            sqlite3_bind_null(d->insert, i + 1);
        else if (whole)
            sqlite3_bind_int64(d->insert, i + 1, strtoll(row.cell[i], NULL, 10));
        else
            sqlite3_bind_text(d->insert, i + 1, row.cell[i], -1, SQLITE_TRANSIENT);
    }
    bool ok = sqlite3_step(d->insert) == SQLITE_DONE;
    sqlite3_reset(d->insert);
    errno = ok ? 0 : EIO;
    return ok;
}

static bool sqlite_close(struct scan_output *out)
{
    struct database *d = (struct database *)out;
    sqlite3_finalize(d->insert);
    bool ok = sqlite3_close(d->db) == SQLITE_OK;
    free(d);
    errno = ok ? 0 : EIO;
    return ok;
}
#endif

const struct scan_output_row scan_outputs[] = {
    {"jsonl", "one JSON object a line (schema vramcast.scan/1)", jsonl_open, jsonl_write, finish, false},
    {"csv", "a table, sizes in bytes", csv_open, csv_write, finish, false},
    {"md", "a Markdown table", md_open, md_write, finish, false},
    {"html", "a page", html_open, html_write, html_close, false},
#ifdef VRAM_SQLITE
    {"sqlite", "a database with the table `models`", sqlite_open, sqlite_write, sqlite_close, true},
#endif
    {NULL, NULL, NULL, NULL, NULL, false}};
