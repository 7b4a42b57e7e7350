/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of kinds; see kind.h.
 */
#include "kind.h"

#include <stdbool.h>
#include <string.h>

static bool starts(const char *p, size_t n, const char *magic)
{
    size_t k = strlen(magic);
    return n >= k && memcmp(p, magic, k) == 0;
}

static size_t space(const char *p, size_t n)
{
    size_t i = n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < n && (p[i] == ' ' || p[i] == '\t' || p[i] == '\r' || p[i] == '\n'))
        i++;
    return i;
}

static bool is_empty(const char *p, size_t n) { return (void)p, n == 0; }

static bool is_lfs(const char *p, size_t n) { return starts(p, n, "version https://git-lfs"); }

/* "<!DOCTYPE html", "<html", "<?xml", "<Error>" */
static bool is_page(const char *p, size_t n)
{
    size_t i = space(p, n);
    if (i + 1 >= n || p[i] != '<')
        return false;
    int next = p[i + 1] | 32; /* lower case; '!' and '?' have that bit */
    return next == '!' || next == '?' || (next >= 'a' && next <= 'z');
}

static bool is_json(const char *p, size_t n)
{
    size_t i = space(p, n);
    if (i == n || p[i] != '{')
        return false;
    i += 1 + space(p + i + 1, n - i - 1);
    return i < n && (p[i] == '"' || p[i] == '}');
}

static bool is_gguf(const char *p, size_t n) { return starts(p, n, "GGUF"); }

static bool is_zip(const char *p, size_t n) { return starts(p, n, "PK\x03\x04"); }

/* pickle protocols 2 to 5 */
static bool is_pickle(const char *p, size_t n)
{
    return n >= 3 && (unsigned char)p[0] == 0x80 && p[1] >= 2 && p[1] <= 5;
}

static bool is_hdf5(const char *p, size_t n) { return starts(p, n, "\x89HDF\r\n\x1a\n"); }

static bool is_gzip(const char *p, size_t n) { return starts(p, n, "\x1f\x8b"); }

static const struct row {
    struct vram_kind kind;
    bool (*is)(const char *p, size_t n);
} rows[] = {
    {{"empty", "an empty file", "download it again"}, is_empty},
    {{"git-lfs", "a Git LFS pointer", "fetch them with: git lfs pull"}, is_lfs},
    {{"html", "a web page",
      "the download was refused or redirected: log in or accept the licence, then download again"},
     is_page},
    {{"json", "JSON text, perhaps a server's error reply", "download it again"},
     is_json},
    {{"gguf", "a GGUF file, not a Hugging Face checkpoint",
      "point at the original checkpoint with config.json and safetensors"}, is_gguf},
    {{"zip", "a zip archive, as torch.save writes it",
      "convert it to safetensors: such files can run code when they are opened"}, is_zip},
    {{"pickle", "a Python pickle",
      "convert it to safetensors: such files can run code when they are opened"}, is_pickle},
    {{"hdf5", "an HDF5 file (TensorFlow weights)", "point at the safetensors weights"}, is_hdf5},
    {{"gzip", "a gzip file", "unpack it first"}, is_gzip},
};

const struct vram_kind *vram_kind_of(const void *head, size_t n)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].is(head, n))
            return &rows[i].kind;
    return NULL;
}

const struct vram_kind *vram_kind_row(size_t i)
{
    return i < sizeof rows / sizeof *rows ? &rows[i].kind : NULL;
}
