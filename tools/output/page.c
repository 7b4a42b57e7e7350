/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages; see page.h.  Knows streams and columns, nothing of models.
 */
#include "output/page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* ---- opening and closing ------------------------------------------------------------------- */

/* The variable that decides the character set, by the rules of setlocale; the command never calls
 * setlocale, so that nothing else depends on it. */
static bool reads_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "utf-8") ||
                   strstr(value, "UTF8");
    }
    return false;
}

static int failed(const char *path)
{
    return cli_fail(CLI_SYSTEM, "%s: %s", path, strerror(errno));
}

/* As a file that open() creates would have it, or as the one that is replaced. */
static mode_t file_mode(const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    return old ? old->st_mode & 0777 : 0666 & ~mask;
}

/* Where the links at path lead, be there a file or not; NULL: round in circles, or no memory. */
static char *behind_links(const char *path)
{
    char *at = strdup(path), target[PATH_MAX];
    for (int hops = 0; at && hops < 40; hops++) {
        ssize_t n = readlink(at, target, sizeof target - 1);
        if (n < 0)
            return at;
        const char *slash = target[0] == '/' ? NULL : strrchr(at, '/');
        size_t folder = slash ? (size_t)(slash - at) + 1 : 0;
        char *next = malloc(folder + (size_t)n + 1);
        if (next) {
            memcpy(next, at, folder);
            memcpy(next + folder, target, (size_t)n);
            next[folder + (size_t)n] = 0;
        }
        free(at);
        at = next;
    }
    if (at)
        errno = ELOOP;
    free(at);
    return NULL;
}

/* A signal that ends the command takes the unfinished file along. */
static const char *volatile unfinished;

static void on_signal(int number)
{
    if (unfinished)
        unlink(unfinished);
    signal(number, SIG_DFL);
    raise(number);
}

static void guard(const char *temporary)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    unfinished = temporary;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old, new = {.sa_handler = temporary ? on_signal : SIG_DFL};
        sigemptyset(&new.sa_mask);
        if (!sigaction(numbers[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &new, NULL);
    }
}

static int open_temporary(struct page *page, const char *path, const struct stat *old)
{
    static const char suffix[] = ".XXXXXX";
    size_t n = strlen(path);
    page->temporary = malloc(n + sizeof suffix);
    if (!page->temporary)
        return cli_fail(CLI_SYSTEM, "out of memory");
    memcpy(page->temporary, path, n);
    memcpy(page->temporary + n, suffix, sizeof suffix);
    guard(page->temporary); /* the name is made in place */
    int fd = mkstemp(page->temporary);
    if (fd < 0) {
        guard(NULL);
        free(page->temporary);
        page->temporary = NULL;
        return failed(path);
    }
    page->file = fdopen(fd, "wb");
    if (page->file && !fchmod(fd, file_mode(old)))
        return 0;
    int code = failed(path);
    if (page->file)
        fclose(page->file);
    else
        close(fd);
    unlink(page->temporary);
    guard(NULL);
    free(page->temporary);
    page->temporary = NULL;
    return code;
}

/* A device or a pipe cannot be replaced; nobody waits for a pipe's reader. */
static int open_straight(struct page *page, const char *path)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENXIO ? cli_fail(CLI_SYSTEM, "%s: nobody reads this pipe", path) : failed(path);
    page->file = fcntl(fd, F_SETFL, 0) < 0 ? NULL : fdopen(fd, "wb");
    if (page->file)
        return 0;
    close(fd);
    return failed(path);
}

int page_open(struct page *page, const char *path)
{
    struct stat st;
    const char *term = getenv("TERM");
    *page = (struct page){.file = stdout, .target = path};
    if (!path) {
        bool terminal = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
        const char *no_colour = getenv("NO_COLOR");
        page->colour = terminal && !(no_colour && *no_colour);
        page->ascii = terminal && !reads_utf8();
        return 0;
    }
    bool exists = !stat(path, &st);
    if (exists && !S_ISREG(st.st_mode))
        return open_straight(page, path);
    page->real = behind_links(path);
    int code = page->real ? open_temporary(page, page->real, exists ? &st : NULL) : failed(path);
    if (code) {
        free(page->real);
        page->real = NULL;
    }
    return code;
}

int page_close(struct page *page, int code)
{
    const char *name = page->target ? page->target : "standard output";
    if (fflush(page->file) && !page->error)
        page->error = errno;
    if (page->target && fclose(page->file) && !page->error)
        page->error = errno;
    bool answer = code == CLI_DONE || code == CLI_NO || code == CLI_UNKNOWN;
    if (page->temporary && answer && !page->error && rename(page->temporary, page->real))
        page->error = errno;
    if (page->temporary && (!answer || page->error))
        unlink(page->temporary);
    if (page->temporary)
        guard(NULL);
    free(page->temporary);
    free(page->real);
    page->temporary = page->real = NULL;
    return answer && page->error ? cli_fail(CLI_SYSTEM, "%s: %s", name, strerror(page->error))
                                 : code;
}

/* ---- writing ------------------------------------------------------------------------------- */

int page_write(void *ctx, const char *text, size_t n)
{
    struct page *page = ctx;
    if (!page->error && fwrite(text, 1, n, page->file) != n)
        page->error = errno ? errno : EIO;
    return page->error;
}

/* Bytes of the character at p (not the end); 0: not a printable one. */
static size_t character(const unsigned char *p)
{
    size_t k = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < k; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool control = p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
    bool bidi = p[0] == 0xe2 && ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
                                 (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
    bool surrogate = p[0] == 0xed && p[1] >= 0xa0;
    return control || bidi || surrogate ? 0 : k;
}

void page_put(struct page *page, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        size_t n = 0, k; /* a run of what may pass */
        while (p[n] && (k = p[n] == '\n' ? 1 : character(p + n)) > 0)
            n += k;
        page_write(page, (const char *)p, n);
        p += n;
        if (*p) {
            char shown[8];
            snprintf(shown, sizeof shown, "\\x%02x", *p++);
            page_write(page, shown, 4);
        }
    }
}

void page_escape(char *out, size_t size, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t at = 0;
    while (*p) {
        size_t k = character(p), n = k ? k : 4;
        if (at + n + 1 > size)
            break;
        if (k)
            memcpy(out + at, p, k);
        else
            snprintf(out + at, size - at, "\\x%02x", *p);
        at += n;
        p += k ? k : 1;
    }
    out[at] = 0;
}

void page_printf(struct page *page, const char *format, ...)
{
    char small[4096];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof small) {
        page_put(page, small);
        return;
    }
    char *big = n < 0 ? NULL : malloc((size_t)n + 1);
    if (!big) {
        page->error = ENOMEM;
        return;
    }
    va_start(args, format);
    vsnprintf(big, (size_t)n + 1, format, args);
    va_end(args);
    page_put(page, big);
    free(big);
}

void page_style(struct page *page, enum page_style style)
{
    static const char *const codes[] = {"\033[0m",    "\033[1m",    "\033[2m",
                                        "\033[1;32m", "\033[1;33m", "\033[1;31m"};
    if (page->colour)
        page_write(page, codes[style], strlen(codes[style]));
}

/* ---- columns ------------------------------------------------------------------------------- */

/* East Asian wide and emoji, by their ranges. */
static size_t columns_of(const unsigned char *p, size_t k)
{
    static const uint32_t wide[][2] = {{0x1100, 0x115f},  {0x2e80, 0x303e},  {0x3041, 0xa4cf},
                                       {0xac00, 0xd7a3},  {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
                                       {0xff00, 0xff60},  {0xffe0, 0xffe6},  {0x1f300, 0x1faff},
                                       {0x20000, 0x3fffd}};
    uint32_t c = k == 1 ? p[0] : p[0] & (0x7fu >> k);
    for (size_t i = 1; i < k; i++)
        c = c << 6 | (p[i] & 0x3f);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i][0] && c <= wide[i][1])
            return 2;
    return c >= 0x300 && c <= 0x36f ? 0 : 1; /* combining accents */
}

/* Bytes of the next character and the columns it takes when printed. */
static size_t step(const unsigned char *p, size_t *columns)
{
    size_t k = character(p);
    *columns = k ? columns_of(p, k) : 4; /* \xNN */
    return k ? k : 1;
}

size_t page_width(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t width = 0, columns;
    while (*p) {
        p += step(p, &columns);
        width += columns;
    }
    return width;
}

void page_spaces(struct page *page, size_t n)
{
    static const char spaces[] = "                                                                ";
    for (; n; n -= n < sizeof spaces - 1 ? n : sizeof spaces - 1)
        page_write(page, spaces, n < sizeof spaces - 1 ? n : sizeof spaces - 1);
}

/* text without its first (or last) characters, so that it and an ellipsis take width columns */
static size_t shorten(struct page *page, const char *text, size_t width, bool start)
{
    const unsigned char *p = (const unsigned char *)text;
    const char *dots = page->ascii ? ".." : "…";
    size_t have = page_width(text) + page_width(dots), columns, used = page_width(dots);
    if (!start) {
        for (; have > width && *p; have -= columns)
            p += step(p, &columns);
        page_put(page, dots);
        page_put(page, (const char *)p);
        return have;
    }
    for (size_t k; *p && (k = step(p, &columns), used + columns <= width); p += k) {
        char one[8] = "";
        memcpy(one, p, k);
        page_put(page, one);
        used += columns;
    }
    page_put(page, dots);
    return used;
}

void page_cell(struct page *page, const char *text, size_t width, enum page_align align)
{
    size_t have = page_width(text);
    if (have > width && width > 3) {
        have = shorten(page, text, width, align == PAGE_START);
        align = PAGE_LEFT;
    } else if (align != PAGE_RIGHT) {
        page_put(page, text);
    }
    if (have < width)
        page_spaces(page, width - have);
    if (align == PAGE_RIGHT)
        page_put(page, text);
}

/* A word that is wider than a line is broken where the line ends; returns the column behind it. */
static size_t put_word(struct page *page, const char *word, size_t column, size_t indent)
{
    const unsigned char *p = (const unsigned char *)word;
    size_t columns;
    if (column + page_width(word) <= PAGE_COLUMNS) {
        page_put(page, word);
        return column + page_width(word);
    }
    for (size_t k; *p; p += k) {
        char one[8] = "";
        k = step(p, &columns);
        if (column + columns > PAGE_COLUMNS) {
            page_put(page, "\n");
            page_spaces(page, indent);
            column = indent;
        }
        memcpy(one, p, k);
        page_put(page, one);
        column += columns;
    }
    return column;
}

void page_paragraph(struct page *page, size_t indent, const char *text)
{
    char word[1024];
    size_t column = indent;
    for (bool first = true;; first = false) {
        text += strspn(text, " ");
        size_t n = strcspn(text, " ");
        if (!n)
            break;
        size_t keep = n < sizeof word - 1 ? n : sizeof word - 1;
        memcpy(word, text, keep);
        word[keep] = 0;
        if (!first && column + 1 + page_width(word) > PAGE_COLUMNS) {
            page_put(page, "\n");
            page_spaces(page, indent);
            column = indent;
        } else if (!first) {
            page_put(page, " ");
            column++;
        }
        column = put_word(page, word, column, indent);
        text += n;
    }
    page_put(page, "\n");
}
