/* SPDX-License-Identifier: Apache-2.0
 *
 * Launch commands: launcher, script, arguments, and the environment they are given, as statements.
 * Which programs launch, and which of their options have no value, are rows.
 */
#include <stdio.h>
#include <string.h>

#include "settings/settings.h"
#include "settings/shell.h"
#include "settings/tables.h"

/* How many processes there are. */
enum count {
    COUNT_ONE,     /* one, of the script itself */
    COUNT_PRODUCT, /* the option `per`, times the option `nodes` */
    COUNT_TOTAL,   /* the option `per` has all of them */
    COUNT_VISIBLE, /* as COUNT_PRODUCT or --include, else all GPUs that are visible */
    COUNT_ENV      /* the variables NPROC_PER_NODE and NNODES */
};

struct launcher {
    const char *names;   /* programs and modules, with spaces around */
    const char *words;   /* one of them must follow; "" = none */
    const char *flags;   /* options that have no value, with spaces around */
    const char *per, *nodes;
    enum count count;
    bool script;         /* what follows its options is a script with arguments of its own */
    enum vram_tool tool; /* whose the arguments are; NONE: they tell */
};

static const struct launcher launchers[] = {
    {" deepspeed deepspeed.launcher.runner ", "",
     " module no_python no_local_rank no_ssh no_ssh_check force_multi save_pid elastic_training "
     "bind_cores_to_rank q quiet ",
     "num_gpus", "num_nodes", COUNT_VISIBLE, true, VRAM_TOOL_NONE},
    {" torchrun torch.distributed.run torch.distributed.launch ", "",
     " m module no_python run_path standalone use_env ", "nproc_per_node", "nnodes", COUNT_PRODUCT,
     true, VRAM_TOOL_NONE},
    {" accelerate ", " launch ",
     " quiet q cpu multi_gpu tpu enable_cpu_affinity dynamo_use_fullgraph dynamo_use_dynamic "
     "dynamo_use_regional_compilation use_deepspeed use_fsdp use_parallelism_config use_megatron_lm "
     "same_network m module no_python tpu_cluster no_tpu_cluster tpu_use_sudo downcast_bf16 "
     "fp8_use_autocast_during_eval debug ",
     "num_processes", "", COUNT_TOTAL, true, VRAM_TOOL_NONE},
    {" accelerate.commands.launch ", "",
     " quiet q cpu multi_gpu use_deepspeed use_fsdp use_megatron_lm same_network m module no_python "
     "debug ",
     "num_processes", "", COUNT_TOTAL, true, VRAM_TOOL_NONE},
    {" swift ", " sft pt rlhf ", "", "NPROC_PER_NODE", "NNODES", COUNT_ENV, false, VRAM_TOOL_SWIFT},
    {" sft.py swift.cli.sft pt.py swift.cli.pt rlhf.py swift.cli.rlhf ", "", "", "", "", COUNT_ONE,
     false, VRAM_TOOL_SWIFT},
    {" llamafactory-cli lmf llamafactory.cli ", " train ", "", "NPROC_PER_NODE", "NNODES",
     COUNT_VISIBLE, false, VRAM_TOOL_LLAMAFACTORY},
    {" axolotl ", " train ", "", "", "", COUNT_VISIBLE, false, VRAM_TOOL_AXOLOTL},
    {" axolotl.cli.train ", "", "", "", "", COUNT_ONE, false, VRAM_TOOL_AXOLOTL},
    {" python python3 ", "", " u O OO B s S E I b q ", "", "", COUNT_ONE, true, VRAM_TOOL_NONE},
};

/* What may stand before a launcher. */
static const char wrappers[] = " nohup env time sudo exec eval srun numactl nice uv run poetry pipenv setsid "
                               "stdbuf ionice command ";

struct launching {
    struct vram_settings *s;
    uint32_t file;
    uint32_t line; /* of the launch that was found; 0: none yet */
};

static bool among(const char *list, const char *word)
{
    char spaced[80];
    if (!*word || strlen(word) > sizeof spaced - 3 || strchr(word, ' '))
        return false;
    snprintf(spaced, sizeof spaced, " %s ", word);
    return strstr(list, spaced) != NULL;
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "python3.11" is python3 */
static const struct launcher *launcher_of(const char *word)
{
    const char *name = base(word);
    if (!strncmp(name, "python3.", 8))
        name = "python3";
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (among(launchers[i].names, name))
            return &launchers[i];
    return NULL;
}

/* ---- saying ---- */

static int say(struct launching *l, enum vram_tool tool, const char *key, const char *value,
               const struct vram_word *word)
{
    VRAM_TRY(vram_settings_say(l->s, l->file, key, value, word->line));
    struct vram_said *said = &l->s->said.at[l->s->said.n - 1];
    said->tool = tool;
    said->computed = word->computed;
    return VRAM_OK;
}

static int say_count(struct launching *l, uint64_t n, const struct vram_word *at)
{
    char text[24];
    struct vram_word word = {NULL, at->line, false};
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    VRAM_TRY(say(l, VRAM_TOOL_LAUNCH, "processes", text, &word));
    return say(l, VRAM_TOOL_LAUNCH, "parallel", text, &word);
}

/* A count that no file holds: how it is found out is what is said. */
static int say_unknown(struct launching *l, const char *how, const struct vram_word *at)
{
    struct vram_word word = {NULL, at->line, at->computed};
    return say(l, VRAM_TOOL_LAUNCH, "processes", how, &word);
}

/* ---- options ---- */

struct option {
    char name[64]; /* '_' for '-' */
    const char *inlined; /* behind '='; NULL */
};

/* "--name", "--name=value", "-m" */
static bool is_option(const char *word, struct option *out)
{
    const char *name = word + strspn(word, "-");
    size_t n = strcspn(name, "=");
    if (*word != '-' || !*name || (*name >= '0' && *name <= '9') || *name == '.')
        return false;
    out->inlined = name[n] ? name + n + 1 : NULL;
    snprintf(out->name, sizeof out->name, "%.*s", n < sizeof out->name ? (int)n : 0, name);
    for (char *p = out->name; *p; p++)
        if (*p == '-')
            *p = '_';
    return true;
}

static bool decimal(const char *text, uint64_t *out)
{
    *out = 0;
    if (!*text || strlen(text) > 7)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        *out = *out * 10 + (uint64_t)(*text - '0');
    }
    return *out > 0;
}

/* "0,1,2,3"; 0 when it is no list of numbers */
static uint64_t devices(const char *text, size_t n)
{
    uint64_t count = 0;
    bool digit = false;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && text[i] >= '0' && text[i] <= '9') {
            digit = true;
        } else if (i == n || text[i] == ',') {
            if (!digit)
                return 0;
            count++;
            digit = false;
        } else {
            return 0;
        }
    }
    return count;
}

/* DeepSpeed's "host:0,1@other:2"; 0 when a host stands without its devices */
static uint64_t included(const char *text)
{
    uint64_t count = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "@"), colon = strcspn(p, ":@");
        uint64_t some = colon < n ? devices(p + colon + 1, n - colon - 1) : 0;
        if (!some)
            return 0;
        count += some;
        p += n + (p[n] == '@');
    }
    return count;
}

static const struct vram_word *variable(const struct vram_shell *shell,
                                        const struct vram_command *command, const char *name)
{
    for (size_t i = 0; i < command->before.n; i++)
        if (!strcmp(command->before.at[i].name, name) && command->before.at[i].n)
            return &command->before.at[i].words[0];
    const struct vram_variable *v;
    for (size_t i = 0; (v = vram_shell_exported(shell, i)); i++)
        if (!strcmp(v->name, name) && v->n)
            return &v->words[0];
    return NULL;
}

/* What a launcher's options and the environment say about processes. */
struct counting {
    const struct launcher *row;
    struct vram_word per, nodes, include; /* text NULL: not there */
    const struct vram_word *at;           /* the launcher */
};

static int count(struct launching *l, const struct counting *c, const struct vram_shell *shell,
                 const struct vram_command *command)
{
    const struct launcher *row = c->row;
    struct vram_word per = c->per, nodes = c->nodes;
    const struct vram_word *v, *visible = variable(shell, command, "CUDA_VISIBLE_DEVICES");
    uint64_t a = 1, b = 1;
    if (row->count == COUNT_ONE)
        return VRAM_OK;
    if (among(" NPROC_PER_NODE ", row->per)) {
        if ((v = variable(shell, command, row->per)))
            per = *v;
        if ((v = variable(shell, command, row->nodes)))
            nodes = *v;
    }
    if (c->include.text) {
        a = included(c->include.text);
        return a && !c->include.computed ? say_count(l, a, &c->include)
                                         : say_unknown(l, c->include.text, &c->include);
    }
    if (!per.text && row->count == COUNT_VISIBLE && visible && !nodes.text) {
        a = devices(visible->text, strlen(visible->text));
        return a && !visible->computed ? say_count(l, a, visible)
                                       : say_unknown(l, visible->text, visible);
    }
    if (!per.text && row->count == COUNT_TOTAL)
        return VRAM_OK;
    if (!per.text && row->count == COUNT_VISIBLE)
        return say_unknown(l, "all", c->at);
    if (!per.text && !nodes.text)
        return row->count == COUNT_PRODUCT ? say_count(l, 1, c->at) : VRAM_OK;
    if (per.text && (per.computed || !decimal(per.text, &a)))
        return say_unknown(l, per.text, &per);
    if (nodes.text && (nodes.computed || !decimal(nodes.text, &b)))
        return say_unknown(l, nodes.text, &nodes);
    return say_count(l, a * b, per.text ? &per : &nodes);
}

/* accelerate launch's options are the keys of its config file, but for the section. */
static int say_accelerate(struct launching *l, const char *name, const char *value,
                          const struct vram_word *word)
{
    static const char deepspeed[] = " zero_stage offload_optimizer_device offload_param_device "
                                    "gradient_clipping gradient_accumulation_steps "
                                    "deepspeed_config_file ";
    static const struct { const char *flag, *type; } types[] = {
        {"use_deepspeed", "DEEPSPEED"}, {"use_fsdp", "FSDP"}, {"multi_gpu", "MULTI_GPU"},
        {"use_megatron_lm", "MEGATRON_LM"}};
    char key[96];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].flag, name))
            return say(l, VRAM_TOOL_ACCELERATE, "distributed_type", types[i].type, word);
    if (!strcmp(name, "config_file"))
        return say(l, VRAM_TOOL_LAUNCH, name, value, word);
    if (!strcmp(name, "cpu"))
        name = "use_cpu";
    snprintf(key, sizeof key, "%s%s",
             among(deepspeed, name)                ? "deepspeed_config."
             : !strncmp(name, "fsdp_", 5)          ? "fsdp_config."
             : !strncmp(name, "dynamo_", 7)        ? "dynamo_config."
             : !strncmp(name, "parallelism_", 12)  ? "parallelism_config."
                                                   : "",
             name);
    return say(l, VRAM_TOOL_ACCELERATE, key, value, word);
}

/* The launcher's own options from word i on; returns where its script stands. */
static int launcher_options(struct launching *l, struct counting *c,
                            const struct vram_command *command, size_t *i, bool *module)
{
    const struct launcher *row = c->row;
    bool accelerate = row->count == COUNT_TOTAL;
    struct option o;
    *module = false;
    for (; *i < command->words.n; ++*i) {
        const struct vram_word *word = &command->words.at[*i];
        if (!is_option(word->text, &o)) {
            if (!word->computed || strstr(word->text, ".py"))
                return VRAM_OK; /* the script */
            c->per = *word; /* options that only the shell knows, the number of processes perhaps */
            continue;
        }
        bool flag = among(row->flags, o.name), last = *i + 1 == command->words.n;
        *module = *module || !strcmp(o.name, "m") || !strcmp(o.name, "module");
        struct vram_word value = {flag ? "true" : o.inlined, word->line, word->computed};
        if (!strcmp(row->names, " python python3 ") && *module) {
            ++*i;
            return VRAM_OK;
        }
        if (!flag && !o.inlined) {
            if (last)
                return VRAM_OK;
            value = command->words.at[++*i];
        }
        if (!strcmp(o.name, row->per) || (!strcmp(row->per, "num_gpus") &&
                                          !strcmp(o.name, "num_accelerators")))
            c->per = value;
        if (*row->nodes && !strcmp(o.name, row->nodes))
            c->nodes = value;
        if (row->count == COUNT_VISIBLE && (!strcmp(o.name, "include") || !strcmp(o.name, "i")))
            c->include = value;
        if (accelerate)
            VRAM_TRY(say_accelerate(l, o.name, value.text, &value));
    }
    return VRAM_OK;
}

/* ---- arguments of the script ---- */

static bool is_file(const char *text)
{
    const char *dot = strrchr(text, '.');
    return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") || !strcmp(dot, ".json"));
}

/* The words behind an option up to the next one, as a list. */
static int values(struct launching *l, const struct vram_command *command, size_t *i,
                  struct vram_word *out)
{
    struct option o;
    for (; *i + 1 < command->words.n; ++*i) {
        const struct vram_word *next = &command->words.at[*i + 1];
        if (is_option(next->text, &o) || (out->text && !strcmp(next->text, VRAM_SHELL_UNKNOWN)))
            return VRAM_OK; /* "$@" behind a value: further arguments */
        const char *text = out->text ? vram_format(l->s->cx->arena, "%s,%s", out->text, next->text)
                                     : next->text;
        if (!text)
            return vram_fail_memory(l->s->cx);
        if (strlen(text) > l->s->cx->limits->settings_bytes)
            return vram_fail(l->s->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "a value is too long");
        out->text = text;
        out->computed = out->computed || next->computed;
        if (strlen(text) > 4096) { /* longer than any that matters */
            out->text = "…";
            out->computed = true;
        }
    }
    return VRAM_OK;
}

/* "key=value", as LLaMA-Factory takes them, or a file of settings */
static int word_argument(struct launching *l, enum vram_tool tool, const struct vram_word *word)
{
    char key[64];
    size_t n = strcspn(word->text, "=");
    if (word->computed && !strchr(word->text, '='))
        return say(l, VRAM_TOOL_LAUNCH, "arguments", word->text, word);
    if (tool == VRAM_TOOL_LLAMAFACTORY && word->text[n] && n < sizeof key) {
        snprintf(key, sizeof key, "%.*s", (int)n, word->text);
        return say(l, tool, key, word->text + n + 1, word);
    }
    return is_file(word->text) ? say(l, VRAM_TOOL_LAUNCH, "settings_file", word->text, word) : VRAM_OK;
}

static int arguments(struct launching *l, enum vram_tool tool, const struct vram_command *command,
                     size_t i)
{
    struct option o;
    bool first = true;
    for (; i < command->words.n; i++) {
        const struct vram_word *word = &command->words.at[i];
        if (!is_option(word->text, &o)) {
            if (first || tool == VRAM_TOOL_LLAMAFACTORY || word->computed)
                VRAM_TRY(word_argument(l, tool, word));
            continue;
        }
        first = false;
        struct vram_word value = {o.inlined, word->line, word->computed};
        if (!o.inlined)
            VRAM_TRY(values(l, command, &i, &value));
        VRAM_TRY(say(l, tool, o.name, value.text ? value.text : "true", &value));
    }
    return VRAM_OK;
}

static int environment(struct launching *l, enum vram_tool tool, const struct vram_shell *shell,
                       const struct vram_command *command)
{
    const struct vram_variable *v;
    size_t n = command->before.n;
    for (size_t i = 0; (v = i < n ? &command->before.at[i] : vram_shell_exported(shell, i - n)); i++) {
        char key[80];
        if (!v->n || strlen(v->name) > 60)
            continue;
        snprintf(key, sizeof key, "$%s", v->name);
        VRAM_TRY(say(l, tool, key, v->words[0].text, &v->words[0]));
    }
    return VRAM_OK;
}

/* ---- commands ---- */

/* The launcher of a command and its place; behind wrappers and their options. */
static const struct launcher *find(const struct vram_command *command, size_t *i)
{
    for (*i = 0; *i < command->words.n; ++*i) {
        const char *word = command->words.at[*i].text;
        const struct launcher *row = launcher_of(word);
        if (row)
            return row;
        if (!among(wrappers, base(word)) && !(*i && (*word == '-' || strchr(word, '='))) &&
            !(*i && among(" srun numactl nice ionice ", base(command->words.at[0].text))))
            return NULL;
    }
    return NULL;
}

static int launch(struct launching *l, const struct launcher *row, const struct vram_shell *shell,
                  const struct vram_command *command, size_t i)
{
    struct counting c = {.at = &command->words.at[i]};
    struct vram_word plain = {NULL, c.at->line, false};
    enum vram_tool tool = VRAM_TOOL_NONE;
    bool module = false, counted = false;
    VRAM_TRY(say(l, VRAM_TOOL_LAUNCH, "launcher", base(c.at->text), &plain));
    for (;;) { /* a launcher's script may be one itself */
        c.row = row;
        i++;
        if (*row->words && (i == command->words.n || !among(row->words, command->words.at[i].text)))
            return VRAM_OK;
        i += *row->words != 0;
        if (row->script)
            VRAM_TRY(launcher_options(l, &c, command, &i, &module));
        if (!counted && row->count != COUNT_ONE) {
            VRAM_TRY(count(l, &c, shell, command));
            counted = true;
        }
        tool = row->tool;
        if (!row->script)
            break;
        if (i == command->words.n)
            return VRAM_OK;
        const struct launcher *next = launcher_of(command->words.at[i].text);
        if (!next) {
            i++;
            break;
        }
        row = next;
    }
    VRAM_TRY(arguments(l, tool, command, i));
    return environment(l, tool, shell, command);
}

static int on_command(void *ctx, const struct vram_shell *shell, const struct vram_command *command)
{
    struct launching *l = ctx;
    size_t i, before = l->s->said.n;
    const struct launcher *row = find(command, &i);
    if (!row)
        return VRAM_OK;
    uint32_t line = command->words.at[i].line;
    VRAM_TRY(launch(l, row, shell, command, i));
    bool trains = false;
    for (size_t k = before; k < l->s->said.n; k++)
        trains = trains || vram_settings_trains(&l->s->said.at[k]);
    if (trains && !l->line) {
        l->line = line;
        return VRAM_OK;
    }
    l->s->said.n = before; /* nothing to train with, or not the first that does */
    if (!trains)
        return VRAM_OK;
    const char *subject = vram_format(l->s->cx->arena, "%s:%u", l->s->files.at[l->file].name, line);
    if (!subject)
        return vram_fail_memory(l->s->cx);
    return vram_find(l->s->cx, VRAM_F_SETTINGS_NOT_READ, subject,
                     "another launch command: the one of line %u was taken", l->line);
}

int vram_settings_shell(struct vram_settings *s, uint32_t file, const char *text, size_t n)
{
    struct launching l = {s, file, 0};
    uint32_t line = 0;
    int rc = vram_shell_read(s->cx, text, n, on_command, &l, &line);
    if (rc)
        return vram_settings_where(s, file, line, rc);
    if (!l.line)
        return vram_settings_where(s, file, 0,
                                   vram_fail(s->cx, VRAM_E_UNSUPPORTED, VRAM_NO_OFFSET,
                                             "neither JSON nor YAML, and no command in it starts a "
                                             "training that is known"));
    return VRAM_OK;
}
