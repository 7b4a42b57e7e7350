/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings files: the tables are sound, shells' words are what sh makes of them, bad files are told with
 * FILE:LINE, hostile ones are refused in time.  What each tool's files mean stands in settings.txt.
 */
#include "helper.h"

#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "settings/shell.h"
#include "settings/tables.h"

/* ---- the tables ---- */

/* A value of the pattern that the key's type may take. */
static const char *sample(enum vram_key key)
{
    switch (vram_settings[key].type) {
    case VRAM_SETTING_LIST:
        return "q_proj,v_proj";
    case VRAM_SETTING_FRACTION:
        return "0.5";
    default:
        return "4";
    }
}

static void check_sets(const struct vram_settings_row *row)
{
    const char *at = row->sets, *word;
    size_t n;
    while (vram_next_word(&at, &word, &n)) {
        char text[200], canonical[VRAM_SETTING_CANONICAL];
        struct vram_setting_value value;
        vram_error e;
        const char *name;
        snprintf(text, sizeof text, "%.*s", (int)n, word);
        char *sign = strchr(text, '=');
        if (*text == '?') {
            assert_true(vram_setting_find(text + 1, &name) >= 0);
            continue;
        }
        assert_non_null(sign);
        *sign++ = 0;
        int key = vram_setting_find(text, &name);
        if (key < 0 || vram_setting_is_family((enum vram_key)key))
            fail_msg("%s: no setting '%s'", row->key, text);
        char full[300];
        char *star = strchr(sign, '*');
        snprintf(full, sizeof full, "%.*s%s%s", star ? (int)(star - sign) : (int)strlen(sign), sign,
                 star ? sample((enum vram_key)key) : "", star ? star + 1 : "");
        if (vram_setting_parse((enum vram_key)key, text, full, &value, canonical, &e))
            fail_msg("%s: %s", row->key, e.text);
    }
}

static void check_when(const struct vram_settings_row *row)
{
    const char *at = row->when, *word;
    size_t n;
    while (vram_next_word(&at, &word, &n)) {
        char text[200];
        const char *name;
        assert_true(n < 160); /* as resolve.c holds it */
        snprintf(text, sizeof text, "%.*s", (int)n, word);
        char *sign = strchr(text, '='), *key = text + (*text == '!');
        if (!sign)
            fail_msg("%s: no test: %s", row->key, text);
        *sign = 0;
        if (*key == ':' && vram_setting_find(key + 1, &name) < 0)
            fail_msg("%s: tests '%s'", row->key, key);
    }
}

/* Some row of the key, or of its parent's, may take the value. */
static bool taken(enum vram_tool tool, const char *key, const char *value)
{
    tool = vram_tool_of_key(tool, key);
    const struct vram_tool_row *t = tool == VRAM_TOOL_NONE ? NULL : &vram_tools[tool];
    for (uint32_t i = 0; t && i < t->n; i++)
        if (t->rows[i].kind == VRAM_ROW_SETS && !strcmp(t->rows[i].key, key) &&
            vram_value_is(t->rows[i].value, value))
            return true;
    return false;
}

static void test_rows(void **state)
{
    (void)state;
    for (int tool = 0; tool < VRAM_TOOLS; tool++) {
        const struct vram_tool_row *t = &vram_tools[tool];
        assert_true(t->n > 0 && *t->name && *t->shown);
        for (uint32_t i = 0; i < t->n; i++) {
            const struct vram_settings_row *row = &t->rows[i];
            assert_true(*row->key && *row->source);
            check_sets(row);
            check_when(row);
            if (row->kind == VRAM_ROW_DEFAULT && !taken((enum vram_tool)tool, row->key, row->value))
                fail_msg("%s: nothing takes the default %s=%s", t->name, row->key, row->value);
            for (uint32_t k = 0; k < i; k++) /* the same case twice: the later would never be used */
                if (row->kind == t->rows[k].kind && !strcmp(row->key, t->rows[k].key) &&
                    !strcmp(row->value, t->rows[k].value) && !strcmp(row->when, t->rows[k].when))
                    fail_msg("%s: %s stands twice for '%s'", t->name, row->key, row->value);
        }
    }
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *alternatives, *value;
        bool is;
    } cases[] = {
        {"*", "x", true},        {"*", "", false},         {"", "", true},      {"", "x", false},
        {"a|b", "B", true},      {"a|b", "ab", false},     {"a|", "", true},    {"true", "True", true},
        {"true", "1", true},     {"true", "yes", true},    {"true", "2", false}, {"false", "0", true},
        {"false", "Off", true},  {"no|false", "NO", true}, {"0", "0.0", true},  {"0", "0.", true},
        {"0|1", "1", true},      {"1", "1e0", true},       {">1", "8", true},   {">1", "1", false},
        {">0", "0.5", true},     {">0", "-1", false},      {">0", "auto", false}, {"-1", "-1", true},
        {"5e8", "500000000", true}, {"5e8", "5e+8", true}, {"2", "2x", false},  {">0", "1e999", true},
        {"0", "", false},        {"nf4", "nf", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (vram_value_is(cases[i].alternatives, cases[i].value) != cases[i].is)
            fail_msg("'%s' and '%s'", cases[i].alternatives, cases[i].value);
}

/* ---- shells' words ---- */

struct shown {
    char text[4096];
};

/* "a|b?c": a command's words with '|' between, '?' for what only a shell knows, '\n' at its end */
static int show(void *ctx, const struct vram_shell *shell, const struct vram_command *command)
{
    struct shown *s = ctx;
    (void)shell;
    for (size_t i = 0; i < command->words.n; i++) {
        size_t n = strlen(s->text);
        snprintf(s->text + n, sizeof s->text - n, "%s%s", i ? "|" : "", command->words.at[i].text);
    }
    for (char *p = s->text; (p = strstr(p, VRAM_SHELL_UNKNOWN));)
        *p = '?';
    strcat(s->text, "\n");
    return VRAM_OK;
}

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *script, *words;
    } cases[] = {
        {"a b  c\td\n", "a|b|c|d\n"},
        {"a b # c\nd", "a|b\nd\n"},
        {"a b#c '# d'", "a|b#c|# d\n"},
        {"a \\\n  b\\\nc d\\ e", "a|bc|d e\n"},
        {"a \\\r\n b\r\nc", "a|b\nc\n"},
        {"a 'b  c' \"d 'e'\" f'g'\"h\"", "a|b  c|d 'e'|fgh\n"},
        {"a '' \"\"", "a||\n"},
        {"a \"b\\\"c\\\\d\\e\\$f\"", "a|b\"c\\d\\e$f\n"},
        {"a; b && c || d | e & f", "a\nb\nc\nd\ne\nf\n"},
        {"X=1\na $X ${X} \"$X\" '$X' $X$X x${X}y", "a|1|1|1|$X|11|x1y\n"},
        {"X='1 2'\na $X \"$X\" b$X", "a|1|2|1 2|b1|2\n"},
        {"X=\na $X \"$X\" b", "a||b\n"},
        {"X=$HOME\na $X $Y $1 $@", "a|?|?|?|?\n"},
        {"a ${Y:-b} ${Y-c} ${Y:=d e} ${Y:-$Z} ${Y%x}", "a|b|c|d|e|?|?\n"},
        {"X=1\na ${X:-b} ${X:+c} ${#X}", "a|1|?|?\n"},
        {"a $(b c) `d` $((1 + 2)) \"$(e)f\"", "a|?|?|?|?f\n"},
        {"N=4\na $((2 * $N)) $((N*8)) $(expr 16 / $N) $(expr 2 \\* \"$N\")", "a|8|32|4|8\n"},
        {"N=x\na $((2 * N)) $((8 / 0)) $((-1)) $((2 **3)) $(expr 1) $(expr 8 /) $((9999999999))",
         "a|?|?|?|?|1|?|?\n"},
        {"N=2\nX=\"a $Y --n $((N * M)) -b $((N * N))\"\n$X c", "a|?|--n|?|-b|4|c\n"},
        {"a $(b ')' c) d", "a|?|d\n"},
        {"X=(1 '2 3' # four\n 5)\na ${X[@]} \"${X[@]}\" $X ${X[0]}", "a|1|2|3|5|1|2 3|5|1|?\n"},
        {"X=1\nX+=2\na $X", "a|12\n"},
        {"X=(1)\nX+=(2 3)\na \"${X[@]}\"", "a|1|2|3\n"},
        {"X=1 a $X\nb $X", "a|?\nb|?\n"},
        {"export X=1 Y=2\na $X$Y", "export\na|12\n"},
        {"a > b 2>&1 < c 3>d >>e f", "a|f\n"},
        {"a &> b c\nd >& e f", "a|c\nd|f\n"},
        {"a <<X b\nc $(\nX\nd", "a|b\nd\n"},
        {"a <<-'X Y'\nc '\n\tX Y\nd", "a\nd\n"},
        {"a <<< b c", "a|c\n"},
        {"if a; then b; else c; fi", "a\nb\nc\n"},
        {"while a; do { b; }; done", "a\nb\n"},
        {"(a b) && ! c", "a|b\nc\n"},
        {"a $ b$", "a|$|b$\n"},
        {"a $'b c'", "a|b c\n"},
        {"a=b=c d e=f", "d|e=f\n"},
        {"a --x=1 y=\"2 3\"", "a|--x=1|y=2 3\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct shown s = {""};
        uint32_t line;
        world_begin(&w);
        if (vram_shell_read(&w.cx, cases[i].script, strlen(cases[i].script), show, &s, &line))
            fail_msg("%s: %s", cases[i].script, w.error.text);
        if (strcmp(s.text, cases[i].words))
            fail_msg("%s\nexpected %s\nfound %s", cases[i].script, cases[i].words, s.text);
        world_end(&w);
    }
}

/* ---- files ---- */

static vram_plan *read_files(struct world *w, const char *const *paths, size_t n, int *rc)
{
    vram_plan *plan = NULL;
    vram_error e;
    assert_int_equal(vram_plan_create(&plan, &e), 0);
    *rc = vram_settings_read(&w->cx, plan, paths, n);
    return plan;
}

static void put(const char *folder, const char *name, const char *text)
{
    put_file(folder, name, text, strlen(text));
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        int code;
        unsigned line; /* 0: of the whole file */
        const char *says;
    } cases[] = {
        {"a.json", "{\n \"zero_optimization\": {\n  \"stage\": 2,\n }\n}", VRAM_E_FORMAT, 3, "comma before a closing"},
        {"a.json", "{\n\"bf16\": true\n", VRAM_E_FORMAT, 3, "cut off"},
        {"a.json", "[1]", VRAM_E_FORMAT, 1, "an object, not an array"},
        {"a.json", "", VRAM_E_FORMAT, 1, "empty"},
        {"a.json", "{\n \"bf16\": True}", VRAM_E_FORMAT, 2, "None is Python|True is Python"},
        {"a.json", "{\"x\": 1}", VRAM_E_UNSUPPORTED, 0, "no key is one of a tool"},
        {"a.json", "{\n\"output_dir\": \"x\",\n\"per_device_train_batch_size\": 0}", VRAM_E_RANGE, 3, "outside its range"},
        {"a.json", "{\n\"output_dir\": \"x\",\n\n\"gradient_accumulation_steps\": \"two\"}", VRAM_E_ARGUMENT, 4, "not an integer"},
        {"a.yaml", "base_model: x\nadapter: [lora\n", VRAM_E_FORMAT, 3, "while parsing a flow sequence"},
        {"a.yaml", "a: 1\n\tb: 2\n", VRAM_E_FORMAT, 2, "a tab character"},
        {"a.yaml", "a: 'b\n", VRAM_E_FORMAT, 2, "quoted scalar"},
        {"a.yaml", "a: 1\nb: *c\n", VRAM_E_FORMAT, 2, "anchor that is not there"},
        {"a.yaml", "a: &a\n  b: *a\n", VRAM_E_FORMAT, 2, "inside its own anchor"},
        {"a.yaml", "a: 1\n---\nb: 2\n", VRAM_E_UNSUPPORTED, 2, "second document"},
        {"a.yaml", "just words\n", VRAM_E_FORMAT, 1, "not a single value"},
        {"a.yaml", "a: 1\n? [b]\n: c\n", VRAM_E_UNSUPPORTED, 2, "a key that is a list"},
        {"a.yaml", "a: 1\n<<: {b: 2}\n", VRAM_E_UNSUPPORTED, 2, "'<<' takes one alias"},
        {"a.yaml", "a: \"\xff\"\n", VRAM_E_FORMAT, 1, "UTF-8"},
        {"a.sh", "python a.py \\\n --bf16 \\\n --output_dir 'x\n", VRAM_E_FORMAT, 3, "' quote is never closed"},
        {"a.sh", "a\nb \"c\nd", VRAM_E_FORMAT, 2, "\" quote is never closed"},
        {"a.sh", "a\nX=(1 2\n3\n", VRAM_E_FORMAT, 2, "array is never closed"},
        {"a.sh", "a\nb $(c\n", VRAM_E_FORMAT, 2, "substitution is never closed"},
        {"a.sh", "a ${b\n", VRAM_E_FORMAT, 1, "${ is never closed"},
        {"a.sh", "a\nX=(1; 2)\n", VRAM_E_FORMAT, 2, "operator inside an array"},
        {"a.sh", "echo hello\n", VRAM_E_UNSUPPORTED, 0, "no command in it starts a training"},
        {"a.sh", "<html>", VRAM_E_FORMAT, 0, "a web page"},
        {"a.sh", "version https://git-lfs.github.com/spec/v1\n", VRAM_E_FORMAT, 0, "Git LFS"},
    };
    char *folder = make_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        char where[400];
        int rc;
        world_begin(&w);
        put(folder, cases[i].name, cases[i].text);
        const char *path = at(folder, cases[i].name);
        snprintf(where, sizeof where, cases[i].line ? "%s:%u" : "%s", path, cases[i].line);
        vram_plan_free(read_files(&w, &path, 1, &rc));
        const char *bar = strchr(cases[i].says, '|');
        const char *says = bar ? bar + 1 : cases[i].says;
        if (rc != cases[i].code || rc != w.error.code || strcmp(w.error.where, where) ||
            !strstr(w.error.text, says))
            fail_msg("case %zu: %d '%s': %s", i, rc, w.error.where, w.error.text);
        world_end(&w);
    }
    remove_folder(folder);
}

static void test_missing(void **state)
{
    (void)state;
    char *folder = make_folder();
    put_folder(folder, "sub");
    const char *const names[] = {"", "none.json", "sub", "sub/none.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct world w;
        int rc;
        const char *path = *names[i] ? at(folder, names[i]) : "";
        world_begin(&w);
        vram_plan_free(read_files(&w, &path, 1, &rc));
        assert_int_equal(rc, i == 2 ? VRAM_E_IO : VRAM_E_NOTFOUND);
        assert_string_equal(w.error.where, path);
        world_end(&w);
    }
    remove_folder(folder);
}

/* ---- hostile files ---- */

static char *repeat(const char *before, const char *part, size_t times, const char *after)
{
    size_t n = strlen(part), k = strlen(before);
    char *text = malloc(k + n * times + strlen(after) + 1);
    assert_non_null(text);
    strcpy(text, before);
    for (size_t i = 0; i < times; i++)
        memcpy(text + k + i * n, part, n);
    strcpy(text + k + n * times, after);
    return text;
}

static void refused(const char *folder, const char *name, char *text, int code)
{
    struct world w;
    int rc;
    const char *path = at(folder, name);
    world_begin(&w);
    put(folder, name, text);
    vram_plan_free(read_files(&w, &path, 1, &rc));
    if (rc != code || !w.error.text[0] || strncmp(w.error.where, path, strlen(path)))
        fail_msg("%s %.40s: %d '%s' %s", name, text, rc, w.error.where, w.error.text);
    world_end(&w);
    free(text);
}

static void test_hostile(void **state)
{
    (void)state;
    char *folder = make_folder();
    refused(folder, "a.json", repeat("{\"a\":", "[", 500000, ""), VRAM_E_LIMIT);
    refused(folder, "a.yaml", repeat("a: ", "[", 500000, ""), VRAM_E_LIMIT);
    refused(folder, "a.yaml", repeat("", "- ", 500000, ""), VRAM_E_LIMIT);
    refused(folder, "a.yaml", repeat("a: ", "{a: ", 100000, ""), VRAM_E_LIMIT);
    refused(folder, "a.json", repeat("{", "\"a\": 1,\n", 30000, "\"b\": 1}"), VRAM_E_LIMIT);
    refused(folder, "a.yaml", repeat("", "a: 1\n", 30000, ""), VRAM_E_LIMIT);
    refused(folder, "a.json", repeat("{\"bf16\": \"", "x", 1 << 20, "\"}"), VRAM_E_LIMIT);
    refused(folder, "a.sh", repeat("A=x\n", "A=$A$A\n", 100, ""), VRAM_E_LIMIT);
    refused(folder, "a.sh", repeat("A=(x)\n", "A+=(${A[@]})\n", 100, ""), VRAM_E_LIMIT);
    refused(folder, "a.sh", repeat("python t.py --bf16", " --a 1", 100000, ""), VRAM_E_LIMIT);
    refused(folder, "a.sh", repeat("", "a $(", 100000, ""), VRAM_E_FORMAT);
    refused(folder, "a.sh", repeat("python t.py --bf16 --x", " 1", 600000, ""), VRAM_E_LIMIT);
    char *bomb = repeat("a0: &a0 {x: 1, y: 2}\n", "", 0, "");
    for (int i = 1; i < 40; i++) {
        char line[200];
        snprintf(line, sizeof line, "a%d: &a%d {p: *a%d, q: *a%d}\n", i, i, i - 1, i - 1);
        bomb = realloc(bomb, strlen(bomb) + strlen(line) + 1);
        assert_non_null(bomb);
        strcat(bomb, line);
    }
    refused(folder, "a.yaml", bomb, VRAM_E_LIMIT);
    char many[8000] = "";
    for (int i = 0; i < 1100; i++)
        sprintf(many + strlen(many), "A%d=\n", i);
    refused(folder, "a.sh", repeat(many, "", 0, ""), VRAM_E_LIMIT);
    remove_folder(folder);
}

/* A value longer than any that matters is told, not cut. */
static void test_long(void **state)
{
    (void)state;
    char *folder = make_folder();
    const char *path;
    struct world w;
    int rc;
    char *text = repeat("{\"base_model\": \"x\", \"adapter\": \"lora\", \"lora_target_modules\": [\"q\"",
                        ", \"long_name\"", 1000, "]}");
    world_begin(&w);
    put(folder, "a.json", text);
    path = at(folder, "a.json");
    vram_plan_free(read_files(&w, &path, 1, &rc));
    assert_int_equal(rc, 0);
    assert_int_equal(world_found(&w, VRAM_F_SETTINGS_UNKNOWN), 1);
    world_end(&w);
    free(text);
    remove_folder(folder);
}

/* What a file may make the library open. */
static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool read; /* its stage is taken */
        const char *finding; /* NULL: none */
    } cases[] = {{"in.json", true, NULL},
                 {"./sub/../in.json", true, NULL},
                 {"sub/deep.json", true, NULL},
                 {"link.json", true, NULL},
                 {"out.json", false, "not below the folder"},
                 {"../outside.json", false, "not below the folder"},
                 {"sub/../../outside.json", false, "not below the folder"},
                 {"none.json", false, "not there"},
                 {"sub", false, "a folder"}};
    char *top = make_folder(), settings[700];
    put_folder(top, "a");
    put_folder(top, "a/sub");
    static const char zero[] = "{\"zero_optimization\": {\"stage\": 1}}";
    put(top, "outside.json", zero);
    put(top, "a/in.json", zero);
    put(top, "a/sub/deep.json", zero);
    put_link(top, "a/link.json", "sub/deep.json");
    put_link(top, "a/out.json", "../outside.json");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        int rc;
        snprintf(settings, sizeof settings, "{\"output_dir\": \"x\", \"deepspeed\": \"%s\"}",
                 cases[i].value);
        world_begin(&w);
        put(top, "a/args.json", settings);
        char path[600];
        snprintf(path, sizeof path, "%s", at(top, "a/args.json"));
        const char *paths[] = {path};
        vram_plan *plan = read_files(&w, paths, 1, &rc);
        assert_int_equal(rc, 0);
        const char *strategy = vram_plan_get(plan, "strategy");
        if ((strategy != NULL) != cases[i].read)
            fail_msg("%s: %s", cases[i].value, strategy ? strategy : "not read");
        const char *finding = world_finding(&w, VRAM_F_SETTINGS_NOT_READ);
        if (cases[i].finding ? !strstr(finding, cases[i].finding) : *finding)
            fail_msg("%s: %s", cases[i].value, finding);
        vram_plan_free(plan);
        world_end(&w);
    }
    remove_folder(top);
}

/* Files that name each other are read once each. */
static void test_loops(void **state)
{
    (void)state;
    char *folder = make_folder(), a[600];
    struct world w;
    int rc;
    put(folder, "a.sh", "python t.py b.json\npython -u t.py a.json --bf16\n");
    put(folder, "b.json", "{\"output_dir\": \"x\", \"fsdp_config\": \"b.json\", \"deepspeed\": \"c.json\"}");
    put(folder, "c.json", "{\"zero_optimization\": {\"stage\": 2}, \"deepspeed\": \"b.json\"}");
    snprintf(a, sizeof a, "%s", at(folder, "a.sh"));
    const char *paths[] = {a, a};
    world_begin(&w);
    vram_plan *plan = read_files(&w, paths, 2, &rc);
    assert_int_equal(rc, 0);
    assert_string_equal(vram_plan_get(plan, "strategy"), "zero2");
    assert_int_equal(world_found(&w, VRAM_F_SETTINGS_NOT_READ), 1); /* the second launch */
    vram_plan_free(plan);
    world_end(&w);
    remove_folder(folder);
}

/* ---- memory ---- */

static void test_sweep(void **state)
{
    (void)state;
    char *folder = make_folder(), a[600], b[600];
    put(folder, "launch.sh", "A=(--bf16 True)\nexport B=1\nX=\"y z\" torchrun --nproc_per_node 2 t.py \"${A[@]}\" "
                             "--deepspeed z.json --fsdp 'full_shard offload' $X ${Q:-r}\npython t.py --bf16\n");
    put(folder, "z.json", "{\"zero_optimization\": {\"stage\": 2, \"st\\u0061ge\": 3}, \"x\": [1, [2, {\"y\": 3}]]}");
    put(folder, "a.yaml", "base_model: &a x\nd: &d {e: [1, 2], f: yes}\ng: *d\n<<: *d\nh: *a\nmicro_batch_size: 2\n"
                          "deepspeed: z.json\nfsdp_config: {fsdp_version: 2}\n");
    snprintf(a, sizeof a, "%s", at(folder, "launch.sh"));
    snprintf(b, sizeof b, "%s", at(folder, "a.yaml"));
    const char *paths[] = {a, b};
    for (uint64_t n = 1;; n++) {
        struct world w;
        vram_plan *plan = NULL;
        vram_error e;
        world_begin(&w);
        assert_int_equal(vram_plan_create(&plan, &e), 0);
        vram_fail_after(n);
        int rc = vram_settings_read(&w.cx, plan, paths, 2);
        bool over = vram_fail_after(0) < n;
        if (over)
            assert_int_equal(rc, 0);
        else if (rc != VRAM_E_NOMEM || w.error.code != VRAM_E_NOMEM)
            fail_msg("request %llu: %d %s", (unsigned long long)n, rc, w.error.text);
        vram_plan_free(plan);
        world_end(&w);
        if (over) {
            assert_true(n > 200);
            break;
        }
    }
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_values), cmocka_unit_test(test_words),
        cmocka_unit_test(test_errors),  cmocka_unit_test(test_missing), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_long),    cmocka_unit_test(test_paths),  cmocka_unit_test(test_loops),
        cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
