/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of tables/, their look-up, and how values are compared; see tables.h.
 */
#include "settings/tables.h"

#include <string.h>

#define VRAM_SETS(key, value, when, sets, source)                                                  \
    {VRAM_ROW_SETS, key, value, when, sets, "", source, VRAM_TOOL_NONE},
#define VRAM_NOTED(key, value, when, sets, note, source)                                           \
    {VRAM_ROW_SETS, key, value, when, sets, note, source, VRAM_TOOL_NONE},
#define VRAM_DEFAULT(key, value, when, source)                                                     \
    {VRAM_ROW_DEFAULT, key, value, when, "", "", source, VRAM_TOOL_NONE},
#define VRAM_CALLED(key, real, source)                                                             \
    {VRAM_ROW_CALLED, key, real, "", "", "", source, VRAM_TOOL_NONE},
#define VRAM_INSIDE(key, tool, source)                                                             \
    {VRAM_ROW_INSIDE, key, "", "", "", "", source, VRAM_TOOL_##tool},
#define VRAM_OPENS(key, source) {VRAM_ROW_OPENS, key, "", "", "", "", source, VRAM_TOOL_NONE},
#define VRAM_SPLITS(key, source) {VRAM_ROW_SPLITS, key, "", "", "", "", source, VRAM_TOOL_NONE},
#define VRAM_FOLLOWS(key, tool, prefix, source)                                                    \
    {VRAM_ROW_FOLLOWS, key, prefix, "", "", "", source, VRAM_TOOL_##tool},

static const struct vram_settings_row accelerate_rows[] = {
#include "settings/tables/accelerate.def"
};
static const struct vram_settings_row deepspeed_rows[] = {
#include "settings/tables/deepspeed.def"
};
static const struct vram_settings_row fsdp_rows[] = {
#include "settings/tables/fsdp.def"
};
static const struct vram_settings_row llava_rows[] = {
#include "settings/tables/llava.def"
};
static const struct vram_settings_row llamafactory_rows[] = {
#include "settings/tables/llamafactory.def"
};
static const struct vram_settings_row axolotl_rows[] = {
#include "settings/tables/axolotl.def"
};
static const struct vram_settings_row swift_rows[] = {
#include "settings/tables/swift.def"
};
static const struct vram_settings_row trainer_rows[] = {
#include "settings/tables/trainer.def"
};
static const struct vram_settings_row launch_rows[] = {
#include "settings/tables/launch.def"
};

#define ROWS(rows) rows, sizeof rows / sizeof *rows
#define ROWS_ACCELERATE ROWS(accelerate_rows)
#define ROWS_DEEPSPEED ROWS(deepspeed_rows)
#define ROWS_FSDP ROWS(fsdp_rows)
#define ROWS_LLAVA ROWS(llava_rows)
#define ROWS_LLAMAFACTORY ROWS(llamafactory_rows)
#define ROWS_AXOLOTL ROWS(axolotl_rows)
#define ROWS_SWIFT ROWS(swift_rows)
#define ROWS_TRAINER ROWS(trainer_rows)
#define ROWS_LAUNCH ROWS(launch_rows)

const struct vram_tool_row vram_tools[VRAM_TOOLS] = {
#define VRAM_TOOL(id, name, parent, shown, marks)                                                  \
    {name, VRAM_TOOL_##parent, shown, marks, ROWS_##id},
#include "settings/tables/tools.def"
#undef VRAM_TOOL
};

static bool has(enum vram_tool tool, const char *key)
{
    const struct vram_tool_row *t = &vram_tools[tool];
    for (uint32_t i = 0; i < t->n; i++)
        if (t->rows[i].kind == VRAM_ROW_SETS && !strcmp(t->rows[i].key, key))
            return true;
    return false;
}

enum vram_tool vram_tool_of_key(enum vram_tool tool, const char *key)
{
    for (; tool != VRAM_TOOL_NONE; tool = vram_tools[tool].parent)
        if (has(tool, key))
            return tool;
    return VRAM_TOOL_NONE;
}

bool vram_tool_knows(enum vram_tool tool, const char *key)
{
    return vram_tool_of_key(tool, key) != VRAM_TOOL_NONE;
}

bool vram_next_word(const char **at, const char **word, size_t *n)
{
    *word = *at + strspn(*at, " ");
    *n = strcspn(*word, " ");
    *at = *word + *n;
    return *n > 0;
}

/* ---- comparing values ---- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same(const char *a, size_t n, const char *b)
{
    if (strlen(b) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

static bool among(const char *value, const char *const *words)
{
    for (; *words; words++)
        if (same(*words, strlen(*words), value))
            return true;
    return false;
}

/* "-12.5e3"; without the locale's idea of a point */
static bool number(const char *p, size_t n, double *out)
{
    double v = 0, scale = 1;
    size_t i = n && (*p == '-' || *p == '+'), digits = 0;
    bool negative = n && *p == '-', fraction = false;
    for (; i < n && ((p[i] >= '0' && p[i] <= '9') || (p[i] == '.' && !fraction)); i++) {
        if (p[i] == '.') {
            fraction = true;
            continue;
        }
        digits++;
        v = v * 10 + (p[i] - '0');
        scale *= fraction ? 10 : 1;
    }
    if (!digits || digits > 300)
        return false;
    v /= scale;
    if (i < n && (p[i] == 'e' || p[i] == 'E')) {
        bool minus = ++i < n && p[i] == '-';
        int e = 0;
        i += i < n && (p[i] == '-' || p[i] == '+');
        for (digits = 0; i < n && p[i] >= '0' && p[i] <= '9'; i++, digits++)
            e = e < 400 ? e * 10 + (p[i] - '0') : e;
        if (!digits)
            return false;
        for (; e > 0; e--)
            v = minus ? v / 10 : v * 10;
    }
    *out = negative ? -v : v;
    return i == n;
}

static bool is(const char *p, size_t n, const char *value)
{
    static const char *const yes[] = {"true", "yes", "y", "t", "on", "1", NULL};
    static const char *const no[] = {"false", "no", "n", "f", "off", "0", NULL};
    double a, b;
    if (n == 1 && *p == '*')
        return *value;
    if (n > 1 && *p == '>')
        return number(p + 1, n - 1, &a) && number(value, strlen(value), &b) && b > a;
    if (same(p, n, value))
        return true;
    if (n == 4 && !memcmp(p, "true", 4))
        return among(value, yes);
    if (n == 5 && !memcmp(p, "false", 5))
        return among(value, no);
    return n && number(p, n, &a) && number(value, strlen(value), &b) && a >= b && a <= b;
}

bool vram_value_is(const char *alternatives, const char *value)
{
    for (const char *p = alternatives;; p++) {
        size_t n = strcspn(p, "|");
        if (is(p, n, value))
            return true;
        p += n;
        if (!*p)
            return false;
    }
}
