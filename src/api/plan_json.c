/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan from a flat JSON object, {"micro_batch": 8, "lora.targets": ["q", "v"]}.  Every value goes
 * through vram_plan_set as text, so that a key means the same wherever it is set.  All keys are set
 * on a copy, which replaces the plan when all of them were good.
 */
#include <stdio.h>
#include <string.h>

#include "base/cx.h"
#include "base/limits.h"
#include "json/json.h"
#include "plan/plan.h"

struct reader {
    struct vram_json j;
    struct vram_cx *cx;
    struct vram_plan *plan;
    char key[128];             /* as it is shown */
    uint64_t key_offset;
    char value[VRAM_SETTING_TEXT_MAX + 1];
    size_t n;
};

static int append(struct reader *r, const char *text, size_t n)
{
    if (n > VRAM_SETTING_TEXT_MAX - r->n)
        return vram_fail(r->cx, VRAM_E_LIMIT, r->j.offset, "a value of more than %d bytes",
                         VRAM_SETTING_TEXT_MAX);
    memcpy(r->value + r->n, text, n);
    r->n += n;
    r->value[r->n] = 0;
    return VRAM_OK;
}

static int string(struct reader *r, bool in_list)
{
    if (r->j.n > VRAM_SETTING_TEXT_MAX - r->n)
        return append(r, r->j.text, r->j.n);
    char *at = r->value + r->n;
    size_t n = vram_json_decode(&r->j, at);
    at[n] = 0;
    r->n += n;
    if (memchr(at, 0, n))
        return vram_fail(r->cx, VRAM_E_ARGUMENT, r->j.offset, "a string with a zero byte");
    if (in_list && strchr(at, ','))
        return vram_fail(r->cx, VRAM_E_ARGUMENT, r->j.offset,
                         "an item of a list has no commas");
    return VRAM_OK;
}

/* The current token as text, appended to the value. */
static int scalar(struct reader *r, bool in_list)
{
    switch (r->j.token) {
    case VRAM_JSON_STRING:
        return string(r, in_list);
    case VRAM_JSON_INT:
    case VRAM_JSON_UINT:
    case VRAM_JSON_FLOAT: /* its digits as written: the setting's own type decides */
        return append(r, r->j.text, r->j.n);
    case VRAM_JSON_TRUE:
        return append(r, "true", 4);
    case VRAM_JSON_FALSE:
        return append(r, "false", 5);
    default:
        return vram_fail(r->cx, VRAM_E_ARGUMENT, r->j.offset,
                         "%s cannot be a setting: numbers, strings, true, false and lists of them "
                         "can",
                         vram_json_token_name(r->j.token));
    }
}

static int value(struct reader *r)
{
    r->n = 0;
    r->value[0] = 0;
    VRAM_TRY(vram_json_next(&r->j));
    if (r->j.token != VRAM_JSON_ARRAY)
        return scalar(r, false);
    for (bool first = true;; first = false) {
        VRAM_TRY(vram_json_next(&r->j));
        if (r->j.token == VRAM_JSON_ARRAY_END)
            return VRAM_OK;
        if (!first)
            VRAM_TRY(append(r, ",", 1));
        VRAM_TRY(scalar(r, true));
    }
}

static int member(struct reader *r)
{
    char name[128];
    uint32_t known = r->cx->syms->n;
    r->key_offset = r->j.offset;
    vram_escape(r->key, sizeof r->key, r->j.text, r->j.n);
    vram_sym sym = vram_json_sym(&r->j);
    if (sym == VRAM_SYM_NONE)
        return vram_fail_memory(r->cx);
    if (sym && sym < known) /* only keys are interned here, and the empty string */
        return vram_fail(r->cx, VRAM_E_CONFLICT, r->key_offset, "the key stands twice");
    const char *text = vram_sym_text(r->cx->syms, sym);
    if (strlen(text) >= sizeof name)
        return vram_fail(r->cx, VRAM_E_NOTFOUND, r->key_offset, "there is no such setting");
    snprintf(name, sizeof name, "%s", text);
    VRAM_TRY(value(r));
    vram_error e;
    if (vram_plan_set(r->plan, name, r->value, &e))
        return vram_fail(r->cx, e.code, r->key_offset, "%s", e.text);
    return VRAM_OK;
}

static int object(struct reader *r)
{
    VRAM_TRY(vram_json_next(&r->j));
    if (r->j.token != VRAM_JSON_OBJECT)
        return vram_fail(r->cx, VRAM_E_FORMAT, r->j.offset, "a plan is an object, not %s",
                         vram_json_token_name(r->j.token));
    for (;;) {
        r->key[0] = 0;
        VRAM_TRY(vram_json_next(&r->j));
        if (r->j.token == VRAM_JSON_OBJECT_END)
            return vram_json_next(&r->j); /* nothing may follow */
        int code = member(r);
        if (code) {
            vram_where(r->cx, "'%s'", r->key);
            return code;
        }
    }
}

static int read_plan(struct vram_cx *cx, struct vram_plan *plan, const char *text, size_t n)
{
    struct reader *r = vram_arena_alloc(cx->arena, sizeof *r);
    if (!r || vram_syms_init(cx->syms, cx->arena))
        return vram_fail_memory(cx);
    r->cx = cx;
    r->plan = plan;
    if (n > cx->limits->json_bytes)
        return vram_fail(cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "a plan of more than %llu bytes",
                         (unsigned long long)cx->limits->json_bytes);
    VRAM_TRY(vram_json_open(&r->j, cx, text, n, 0, VRAM_JSON_LENIENT));
    return object(r);
}

int vram_plan_set_json(vram_plan *plan, const char *text, size_t n, vram_error *error)
{
    vram_error e = {.offset = VRAM_NO_OFFSET};
    struct vram_arena arena;
    struct vram_syms syms;
    struct vram_plan *copy = NULL;
    vram_arena_init(&arena, vram_limits_default.arena_bytes);
    struct vram_cx cx = {&arena, &syms, &vram_limits_default, NULL, &e};
    int code = vram_plan_copy(&copy, plan, &e);
    if (!code)
        code = read_plan(&cx, copy, text, n);
    if (!code)
        vram_plan_swap(plan, copy);
    vram_plan_free(copy);
    vram_arena_finish(&arena);
    if (error)
        *error = e;
    return code;
}
