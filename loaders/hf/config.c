/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON into configuration values; see config.h.  No recursion: the value that is open is all the
 * state.
 */
#include "hf/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"

enum { NAMED_DUPLICATES = 8 }; /* findings for single keys; the rest is counted */

/* members by object and key, so that a key that stands twice is seen at once; an entry whose member
 * lost its parent is free again */
struct known {
    struct vram_config **at;
    size_t n, mask; /* n: entries, free ones included */
};

struct reader {
    struct vram_cx *cx;
    const char *name;
    struct vram_json json;
    struct known known;
    unsigned twice;
};

static size_t hash(const struct reader *r, const struct vram_config *parent, vram_sym key)
{
    uint64_t h = ((uint64_t)(uintptr_t)parent ^ ((uint64_t)key << 32)) * (r->cx->syms->seed | 1);
    h ^= h >> 32;
    return (size_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

/* the member's entry, or the one to put it in */
static struct vram_config **slot(const struct reader *r, const struct vram_config *parent,
                                 vram_sym key)
{
    struct vram_config **lost = NULL;
    for (size_t i = hash(r, parent, key);; i++) {
        struct vram_config **at = &r->known.at[i & r->known.mask];
        if (!*at)
            return lost ? lost : at;
        if ((*at)->parent == parent && (*at)->key == key)
            return at;
        if (!(*at)->parent && !lost)
            lost = at;
    }
}

static int grow(struct reader *r)
{
    struct known old = r->known;
    if (old.at && old.n * 2 <= old.mask)
        return VRAM_OK;
    size_t cap = old.at ? (old.mask + 1) * 2 : 256;
    struct vram_config **at = vram_realloc(NULL, cap, sizeof *at);
    if (!at)
        return vram_fail_memory(r->cx);
    memset(at, 0, cap * sizeof *at);
    r->known = (struct known){at, 0, cap - 1};
    for (size_t i = 0; old.at && i <= old.mask; i++) {
        if (!old.at[i] || !old.at[i]->parent)
            continue;
        *slot(r, old.at[i]->parent, old.at[i]->key) = old.at[i];
        r->known.n++;
    }
    free(old.at);
    return VRAM_OK;
}

static int duplicate(struct reader *r, struct vram_config *v)
{
    char subject[300];
    vram_config_subject(r->cx, r->name, v, subject, sizeof subject);
    for (struct vram_config *m = v->first; m; m = m->next)
        m->parent = NULL; /* members of the lost value must not be found again */
    *v = (struct vram_config){.key = v->key, .parent = v->parent, .next = v->next};
    if (++r->twice > NAMED_DUPLICATES)
        return VRAM_OK;
    return vram_find(r->cx, VRAM_F_JSON_DUPLICATE, subject,
                     "the key stands twice, again at byte %llu; the last value was taken",
                     (unsigned long long)r->json.offset);
}

/* the place for the value behind the current key */
static int member(struct reader *r, struct vram_config *parent, struct vram_config **out)
{
    vram_sym key = vram_json_sym(&r->json);
    if (key == VRAM_SYM_NONE)
        return vram_fail_memory(r->cx);
    VRAM_TRY(grow(r));
    struct vram_config **at = slot(r, parent, key);
    if (*at && (*at)->parent) {
        *out = *at;
        return duplicate(r, *at);
    }
    *out = vram_config_add(r->cx, parent, key, VRAM_CONFIG_NULL, VRAM_ORIGIN_CONFIG);
    if (!*out)
        return vram_fail_memory(r->cx);
    r->known.n += !*at;
    *at = *out;
    return VRAM_OK;
}

static int fill(struct reader *r, struct vram_config *v)
{
    const struct vram_json *j = &r->json;
    v->origin = VRAM_ORIGIN_CONFIG;
    v->offset = j->offset;
    v->real = 0;
    switch (j->token) {
    case VRAM_JSON_OBJECT:
        v->type = VRAM_CONFIG_OBJECT;
        break;
    case VRAM_JSON_ARRAY:
        v->type = VRAM_CONFIG_ARRAY;
        break;
    case VRAM_JSON_STRING:
        v->type = VRAM_CONFIG_STRING;
        v->text = vram_json_sym(j);
        return v->text == VRAM_SYM_NONE ? vram_fail_memory(r->cx) : VRAM_OK;
    case VRAM_JSON_INT:
        v->type = VRAM_CONFIG_INT;
        v->integer = j->integer;
        v->real = (double)j->integer;
        break;
    case VRAM_JSON_UINT:
    case VRAM_JSON_FLOAT:
        v->type = VRAM_CONFIG_FLOAT;
        v->real = j->real;
        break;
    case VRAM_JSON_TRUE:
    case VRAM_JSON_FALSE:
        v->type = VRAM_CONFIG_BOOL;
        v->integer = j->token == VRAM_JSON_TRUE;
        break;
    default:
        v->type = VRAM_CONFIG_NULL;
    }
    return VRAM_OK;
}

static int read_tree(struct reader *r, struct vram_config *root)
{
    struct vram_json *j = &r->json;
    struct vram_config *open = root;
    while (open) {
        struct vram_config *v = NULL;
        VRAM_TRY(vram_json_next(j));
        if (j->token == VRAM_JSON_OBJECT_END || j->token == VRAM_JSON_ARRAY_END) {
            open = open->parent;
            continue;
        }
        if (j->token == VRAM_JSON_KEY) {
            VRAM_TRY(member(r, open, &v));
            VRAM_TRY(vram_json_next(j));
        } else {
            v = vram_config_add(r->cx, open, 0, VRAM_CONFIG_NULL, VRAM_ORIGIN_CONFIG);
            if (!v)
                return vram_fail_memory(r->cx);
        }
        VRAM_TRY(fill(r, v));
        if (v->type == VRAM_CONFIG_OBJECT || v->type == VRAM_CONFIG_ARRAY)
            open = v;
    }
    return vram_json_next(j);
}

static int tolerated(struct reader *r)
{
    const struct vram_json *j = &r->json;
    if (j->bom != VRAM_NO_OFFSET)
        VRAM_TRY(vram_find(r->cx, VRAM_F_JSON_TOLERATED, r->name,
                           "a byte order mark stands before the JSON text"));
    if (j->nonfinite != VRAM_NO_OFFSET)
        VRAM_TRY(vram_find(r->cx, VRAM_F_JSON_TOLERATED, r->name,
                           "NaN or Infinity is no JSON number; the first stands at byte %llu",
                           (unsigned long long)j->nonfinite));
    if (r->twice > NAMED_DUPLICATES)
        VRAM_TRY(vram_find(r->cx, VRAM_F_JSON_DUPLICATE, r->name,
                           "%u further keys stand twice; the last values were taken",
                           r->twice - NAMED_DUPLICATES));
    return VRAM_OK;
}

int vram_config_parse(struct vram_cx *cx, const char *name, const void *bytes, size_t n,
                      struct vram_config **out)
{
    struct reader r = {.cx = cx, .name = name};
    struct vram_config *root = NULL;
    int rc = vram_json_open(&r.json, cx, bytes, n, 0, VRAM_JSON_LENIENT);
    if (!rc)
        rc = vram_json_next(&r.json);
    if (!rc && r.json.token != VRAM_JSON_OBJECT)
        rc = vram_fail(cx, VRAM_E_FORMAT, r.json.offset, "an object of settings expected, found %s",
                       vram_json_token_name(r.json.token));
    if (!rc && !(root = vram_config_add(cx, NULL, 0, VRAM_CONFIG_OBJECT, VRAM_ORIGIN_CONFIG)))
        rc = vram_fail_memory(cx);
    if (!rc) {
        root->offset = r.json.offset;
        rc = read_tree(&r, root);
    }
    if (!rc)
        rc = tolerated(&r);
    free(r.known.at);
    if (rc)
        vram_where(cx, "%s", name);
    else
        *out = root;
    return rc;
}
