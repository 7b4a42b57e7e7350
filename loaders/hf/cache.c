/* SPDX-License-Identifier: Apache-2.0
 *
 * The hub's cache: models--ORG--NAME/{refs/main, snapshots/REVISION/…, blobs/…}.
 */
#include <dirent.h>
#include <string.h>

#include "hf/checkpoint.h"

enum { REVISION_MAX = 200 };

/* the revision that refs/main names, into out; false when there is none */
static int main_revision(struct vram_cx *cx, const struct vram_folder *folder,
                         char out[REVISION_MAX + 1], bool *found)
{
    struct vram_folder refs = {vram_format(cx->arena, "%s/refs", folder->path), "refs/"};
    struct vram_source source;
    enum vram_presence presence;
    *found = false;
    if (!refs.path)
        return vram_fail_memory(cx);
    VRAM_TRY(vram_source_open(cx, &refs, "main", &source, &presence));
    if (presence != VRAM_PRESENT)
        return VRAM_OK;
    size_t n = source.size < REVISION_MAX ? (size_t)source.size : REVISION_MAX;
    int rc = vram_source_read(cx, &source, 0, out, n);
    vram_source_close(&source);
    while (n && (out[n - 1] == '\n' || out[n - 1] == '\r' || out[n - 1] == ' '))
        n--;
    out[n] = 0;
    *found = vram_name_is_bare(out, n) && strlen(out) == n;
    if (!rc && !*found) {
        rc = vram_fail(cx, VRAM_E_FORMAT, 0, "no name of a snapshot");
        vram_where(cx, "refs/main");
    }
    return rc;
}

/* the only snapshot, when there is exactly one */
static bool only_snapshot(const char *path, char out[REVISION_MAX + 1])
{
    DIR *dir = opendir(path);
    size_t n = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t length = strlen(e->d_name);
        if (e->d_name[0] != '.' && length <= REVISION_MAX && n++ == 0)
            memcpy(out, e->d_name, length + 1);
    }
    if (dir)
        closedir(dir);
    return n == 1;
}

int vram_cache_snapshot(struct vram_cx *cx, struct vram_folder *folder)
{
    char revision[REVISION_MAX + 1], shown[REVISION_MAX + 1];
    bool found;
    size_t n;
    char *snapshots = vram_format(cx->arena, "%s/snapshots", folder->path);
    char *refs = vram_format(cx->arena, "%s/refs", folder->path);
    if (!snapshots || !refs)
        return vram_fail_memory(cx);
    if (!vram_is_folder(snapshots) ||
        !(vram_is_repository(vram_path_last(folder->path, &n)) || vram_is_folder(refs)))
        return VRAM_OK;
    VRAM_TRY(main_revision(cx, folder, revision, &found));
    if (!found && !only_snapshot(snapshots, revision))
        return vram_fail(cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET,
                         "refs/main is missing and there is not exactly one snapshot: point at one "
                         "in snapshots/");
    char *path = vram_format(cx->arena, "%s/%s", snapshots, revision);
    if (!path)
        return vram_fail_memory(cx);
    vram_escape(shown, sizeof shown, revision, strlen(revision));
    if (!vram_is_folder(path))
        return vram_fail(cx, VRAM_E_NOTFOUND, VRAM_NO_OFFSET,
                         "refs/main names snapshot %s, which is not there: download the model "
                         "again", shown);
    folder->path = path;
    return VRAM_OK;
}
