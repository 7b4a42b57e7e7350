/* SPDX-License-Identifier: Apache-2.0
 *
 * See names.h.  Expressions are Python's, run by PCRE2.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "train/names.h"

/* Hostile expressions end: backtracking is bounded by steps, not by time. */
enum { MOST_STEPS = 100000, MOST_DEPTH = 1000, MOST_LENGTH = 4096 };

static void *in_arena(size_t n, void *arena) { return vram_arena_alloc(arena, n); }

static void stays(void *p, void *arena)
{
    (void)p;
    (void)arena;
}

static bool is_plain(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z') ||
              (text[i] >= '0' && text[i] <= '9') || text[i] == '_' || text[i] == '.' || text[i] == '-'))
            return false;
    return true;
}

static int compile(struct vram_cx *cx, const char *setting, bool tails, struct vram_name_item *item)
{
    int code;
    PCRE2_SIZE at;
    PCRE2_UCHAR why[128];
    if (item->n > MOST_LENGTH)
        return vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "%s: an expression of %zu bytes; at most %d",
                         setting, item->n, MOST_LENGTH);
    const char *text = vram_format(cx->arena, tails ? "(?:.*\\.)?(?:%.*s)" : "(?:%.*s)", (int)item->n, item->text);
    pcre2_general_context *memory = pcre2_general_context_create(in_arena, stays, cx->arena);
    pcre2_compile_context *how = memory ? pcre2_compile_context_create(memory) : NULL;
    if (!text || !how)
        return vram_fail_memory(cx);
    item->pattern = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                                  PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_NEVER_BACKSLASH_C, &code, &at, how);
    if (item->pattern)
        return VRAM_OK;
    if (code == PCRE2_ERROR_NOMEMORY || code == 121) /* 121: compile's own name for it */
        return vram_fail_memory(cx);
    pcre2_get_error_message(code, why, sizeof why);
    return vram_fail(cx, VRAM_E_ARGUMENT, VRAM_NO_OFFSET, "%s: '%.*s' is no name and no expression: %s", setting,
                     (int)item->n, item->text, (const char *)why);
}

int vram_names_read(struct vram_cx *cx, const char *setting, const char *list, bool tails,
                    struct vram_names *out)
{
    size_t most = 1;
    for (const char *p = list; *p; p++)
        most += *p == ',';
    *out = (struct vram_names){0};
    out->at = vram_arena_array(cx->arena, most, sizeof *out->at);
    if (!out->at)
        return vram_fail_memory(cx);
    for (const char *p = list; *p;) {
        struct vram_name_item *item = &out->at[out->n];
        *item = (struct vram_name_item){p, strcspn(p, ","), NULL};
        p += item->n + (p[item->n] == ',');
        if (item->n == 0)
            continue;
        out->n++;
        if (!is_plain(item->text, item->n))
            VRAM_TRY(compile(cx, setting, tails, item));
    }
    return VRAM_OK;
}

static bool ends_with(const char *path, const char *item, size_t n)
{
    size_t k = strlen(path);
    return k >= n && !memcmp(path + k - n, item, n) && (k == n || path[k - n - 1] == '.');
}

/* Short names and the modules that they stand for: of a fused projection each of its parts is a name. */
static bool short_for(const char *item, size_t n, const char *path)
{
    static const char *const rows[][2] = {
        {" q ", "q_proj"},       {" k ", "k_proj"},          {" v ", "v_proj"},
        {" o ", "o_proj"},       {" gate ", "gate_proj"},    {" up ", "up_proj"},
        {" down ", "down_proj"}, {" q k v ", "c_attn"},      {" q k v ", "query_key_value"},
        {" q k v ", "qkv_proj"}, {" q k v ", "wqkv"},        {" q k v ", "Wqkv"},
        {" q k v ", "W_pack"},   {" gate up ", "gate_up_proj"},
    };
    char word[8];
    if (n + 3 > sizeof word)
        return false;
    snprintf(word, sizeof word, " %.*s ", (int)n, item);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(rows[i][0], word) && ends_with(path, rows[i][1], strlen(rows[i][1])))
            return true;
    return false;
}

int vram_name_matches(struct vram_cx *cx, const struct vram_name_item *item, const char *path, bool *out)
{
    if (!item->pattern) {
        *out = ends_with(path, item->text, item->n) || short_for(item->text, item->n, path);
        return VRAM_OK;
    }
    pcre2_general_context *memory = pcre2_general_context_create(in_arena, stays, cx->arena);
    pcre2_match_context *how = memory ? pcre2_match_context_create(memory) : NULL;
    pcre2_match_data *found = memory ? pcre2_match_data_create(1, memory) : NULL;
    if (!how || !found)
        return vram_fail_memory(cx);
    pcre2_set_match_limit(how, MOST_STEPS);
    pcre2_set_depth_limit(how, MOST_DEPTH);
    int code = pcre2_match(item->pattern, (PCRE2_SPTR)path, strlen(path), 0, 0, found, how);
    *out = code >= 0;
    if (code == PCRE2_ERROR_NOMEMORY)
        return vram_fail_memory(cx);
    if (code < 0 && code != PCRE2_ERROR_NOMATCH)
        return vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "the expression '%.*s' takes too long on %s",
                         (int)item->n, item->text, path);
    return VRAM_OK;
}

int vram_names_find(struct vram_cx *cx, const struct vram_names *names, const char *path, size_t *item)
{
    bool found = false;
    for (*item = 0; *item < names->n; ++*item) {
        VRAM_TRY(vram_name_matches(cx, &names->at[*item], path, &found));
        if (found)
            break;
    }
    return VRAM_OK;
}
