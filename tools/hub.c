/* SPDX-License-Identifier: Apache-2.0
 *
 * The local hub cache; see hub.h.  Places and names are those of huggingface_hub (constants.py,
 * repo_folder_name in file_download.py).
 */
#include "hub.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ORG/NAME: one slash, letters, digits, '-', '_' and '.', no part that is hidden or leads upwards. */
int hub_is_name(const char *name)
{
    size_t slashes = 0;
    for (const char *p = name; *p; p++) {
        if (*p == '/')
            slashes++;
        else if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
            return 0;
        if ((p == name || p[-1] == '/') && (*p == '.' || *p == '/'))
            return 0;
    }
    size_t n = strlen(name);
    return slashes == 1 && n < 200 && name[n - 1] != '/';
}

/* Where the cache is: the value of a variable and what comes behind it. */
static const struct { const char *variable, *behind; } places[] = {
    {"HF_HUB_CACHE", ""},
    {"HF_HOME", "/hub"},
    {"XDG_CACHE_HOME", "/huggingface/hub"},
    {"HOME", "/.cache/huggingface/hub"}};

char *hub_find(const char *name)
{
    struct stat st;
    const char *slash = strchr(name, '/');
    if (!hub_is_name(name) || !stat(name, &st))
        return NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *root = getenv(places[i].variable);
        if (!root || !*root)
            continue;
        size_t size = strlen(root) + strlen(name) + 64;
        char *path = malloc(size);
        if (!path)
            return NULL;
        snprintf(path, size, "%s%s/models--%.*s--%s", root, places[i].behind, (int)(slash - name), name,
                 slash + 1);
        if (!stat(path, &st) && S_ISDIR(st.st_mode))
            return path;
        free(path);
        return NULL; /* the first place that is set is the cache */
    }
    return NULL;
}
