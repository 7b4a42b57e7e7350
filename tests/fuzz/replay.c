/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target over the files of folders, for compilers without libFuzzer: every input that
 * was ever kept is an ordinary test.  Each input lies in a block of exactly its size.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "target.h"

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return 1;
    size_t cap = 1 << 16, n = 0;
    uint8_t *data = malloc(cap);
    for (size_t got; data && (got = fread(data + n, 1, cap - n, f)) > 0;) {
        n += got;
        if (n == cap) {
            uint8_t *more = realloc(data, cap *= 2);
            if (!more)
                free(data);
            data = more;
        }
    }
    fclose(f);
    uint8_t *exact = data ? malloc(n ? n : 1) : NULL;
    if (exact) {
        memcpy(exact, data, n);
        LLVMFuzzerTestOneInput(exact, n);
    }
    free(data);
    free(exact);
    return exact ? 0 : 1;
}

int main(int argc, char **argv)
{
    char path[4096];
    unsigned n = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (!dir) {
            fprintf(stderr, "%s: no such folder\n", argv[i]);
            return 1;
        }
        for (struct dirent *e; (e = readdir(dir));) {
            if (e->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (run_file(path)) {
                fprintf(stderr, "%s: cannot be read\n", path);
                return 1;
            }
            n++;
        }
        closedir(dir);
    }
    printf("%u inputs\n", n);
    return n ? 0 : 1;
}
