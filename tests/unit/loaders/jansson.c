/* SPDX-License-Identifier: Apache-2.0
 *
 * Our JSON reader against jansson: random documents, some of them damaged.  Both must accept the
 * same and read the same values.
 */
#include "helper.h"

#include <jansson.h>
#include <math.h>

#include "hf/config.h"

static uint64_t seed = 1;

static uint32_t next(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

struct out {
    char at[4096];
    size_t n;
};

static void put(struct out *o, const char *text)
{
    size_t n = strlen(text);
    if (o->n + n < sizeof o->at) {
        memcpy(o->at + o->n, text, n + 1);
        o->n += n;
    }
}

static void value(struct out *o, int depth)
{
    static const char *const plain[] = {
        "0", "1", "-7", "1.5", "-2.5e-3", "9007199254740993", "true", "false", "null", "\"\"",
        "\"text\"", "\"\\u20ac\\ud83d\\ude00\"", "\"\xc3\xa9\\n\\\"\"", "1E5", "0.1"};
    uint32_t kind = depth < 4 ? next(4) : 2;
    if (kind > 1) {
        put(o, plain[next(sizeof plain / sizeof *plain)]);
        return;
    }
    put(o, kind ? "[" : "{");
    for (uint32_t i = 0, n = next(4); i < n; i++) {
        char key[] = "\"k0\": ";
        key[2] = (char)('0' + i);
        put(o, i ? ", " : "");
        if (!kind)
            put(o, key);
        value(o, depth + 1);
    }
    put(o, kind ? "]" : "}");
}

static void damage(struct out *o)
{
    static const char pieces[] = "{}[],:\"01-.eE\\u nt\x01\x7f\xff\xc3";
    for (uint32_t i = 0, n = next(3); i < n && o->n; i++) {
        uint32_t place = next((uint32_t)o->n);
        if (next(2))
            o->at[place] = pieces[next(sizeof pieces - 1)];
        else
            memmove(o->at + place, o->at + place + 1, o->n-- - place);
    }
}

static bool same(const struct vram_cx *cx, const struct vram_config *v, json_t *j)
{
    switch (v->type) {
    case VRAM_CONFIG_NULL: return json_is_null(j);
    case VRAM_CONFIG_BOOL: return json_is_boolean(j) && json_is_true(j) == (v->integer != 0);
    case VRAM_CONFIG_INT: return json_is_integer(j) && json_integer_value(j) == v->integer;
    case VRAM_CONFIG_FLOAT: return json_is_real(j) && fabs(json_real_value(j) - v->real) <=
                                                          fabs(v->real) * 1e-15;
    case VRAM_CONFIG_STRING:
        return json_is_string(j) && !strcmp(json_string_value(j), vram_sym_text(cx->syms, v->text));
    case VRAM_CONFIG_ARRAY: {
        size_t i = 0;
        for (const struct vram_config *m = v->first; m; m = m->next, i++)
            if (!same(cx, m, json_array_get(j, i)))
                return false;
        return json_array_size(j) == i;
    }
    default: {
        size_t n = 0;
        for (const struct vram_config *m = v->first; m; m = m->next, n++) {
            json_t *theirs = json_object_get(j, vram_sym_text(cx->syms, m->key));
            if (!theirs || !same(cx, m, theirs))
                return false;
        }
        return json_object_size(j) == n;
    }
    }
}

static void test_same_as_jansson(void **state)
{
    (void)state;
    unsigned accepted = 0;
    for (int i = 0; i < 20000; i++) {
        struct out o = {.n = 0};
        put(&o, "{\"a\": ");
        value(&o, 0);
        put(&o, "}");
        damage(&o);
        struct world w;
        struct vram_cx *cx = world_begin(&w);
        struct vram_config *root = NULL;
        json_error_t error;
        json_t *theirs = json_loadb(o.at, o.n, JSON_ALLOW_NUL, &error);
        int rc = vram_config_parse(cx, "x", o.at, o.n, &root);
        accepted += rc == 0;
        if (theirs && json_is_object(theirs) && !rc && !same(cx, root, theirs))
            fail_msg("other values: %.*s", (int)o.n, o.at);
        /* as Python's json, ours reads half a surrogate pair, and 1e999 as infinity */
        bool laxer = !theirs && (strstr(error.text, "Unicode") || strstr(error.text, "overflow"));
        if (!laxer && (rc == 0) != (theirs && json_is_object(theirs)))
            fail_msg("ours: %s; theirs: %s; %.*s", rc ? w.error.text : "accepted",
                     theirs ? "accepted" : error.text, (int)o.n, o.at);
        json_decref(theirs);
        world_end(&w);
    }
    assert_true(accepted > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_jansson)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
