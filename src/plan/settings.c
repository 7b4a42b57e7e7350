/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of settings and its look-up; see settings.h.  How values are read stands in value.c.
 */
#include "plan/settings.h"

#include <string.h>

#include "plan/suggest.h"

const struct vram_setting_row vram_settings[VRAM_KEY_COUNT] = {
#define VRAM_SETTING(id, key, type, values, fallback, help, source)                                \
    {key, VRAM_SETTING_##type, values, fallback, help, source},
#include "plan/settings.def"
#undef VRAM_SETTING
};

static const char family[] = ".NAME"; /* how the key of a family ends */

static size_t prefix_of(enum vram_key row)
{
    size_t n = strlen(vram_settings[row].key), k = sizeof family - 1;
    return n > k && !strcmp(vram_settings[row].key + n - k, family) ? n - k + 1 : 0;
}

bool vram_setting_is_family(enum vram_key row) { return prefix_of(row) != 0; }

/* Names of dimensions and inputs come from files and hold anything printable; a component's name
 * is a word. */
static bool is_name(enum vram_key row, const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > 256)
        return false;
    for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
        bool word = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
                    (*p >= '0' && *p <= '9');
        if (*p < 0x20 || *p == 0x7f || (row == VRAM_KEY_TRAIN_NAME && !word))
            return false;
    }
    return true;
}

int vram_setting_find(const char *key, const char **name)
{
    *name = "";
    for (int i = 0; i < VRAM_KEY_COUNT; i++)
        if (!strcmp(vram_settings[i].key, key) && !vram_setting_is_family((enum vram_key)i))
            return i;
    for (int i = 0; i < VRAM_KEY_COUNT; i++) {
        size_t n = prefix_of((enum vram_key)i);
        if (n && !strncmp(vram_settings[i].key, key, n) && is_name((enum vram_key)i, key + n)) {
            *name = key + n;
            return i;
        }
    }
    return -1;
}

/* What other tools call it: no typing mistake leads from these to ours. */
static const struct {
    const char *theirs, *ours;
} elsewhere[] = {
    {"batch", "micro_batch"},
    {"batch_size", "micro_batch"},
    {"bs", "micro_batch"},
    {"per_device_train_batch_size", "micro_batch"},
    {"train_micro_batch_size_per_gpu", "micro_batch"},
    {"gradient_accumulation_steps", "accumulation"},
    {"grad_accumulation", "accumulation"},
    {"gradient_checkpointing", "checkpointing"},
    {"activation_checkpointing", "checkpointing"},
    {"context", "seq"},
    {"max_length", "seq"},
    {"max_seq_length", "seq"},
    {"model_max_length", "seq"},
    {"seq_len", "seq"},
    {"sequence_length", "seq"},
    {"dtype", "precision"},
    {"torch_dtype", "precision"},
    {"bf16", "precision"},
    {"fp16", "precision"},
    {"optim", "optimizer"},
    {"quantization", "weights"},
    {"load_in_4bit", "weights"},
    {"load_in_8bit", "weights"},
    {"attn_implementation", "attention"},
    {"max_grad_norm", "clip_grad"},
    {"deepspeed", "strategy"},
    {"stage", "strategy"},
    {"world_size", "gpus"},
    {"num_gpus", "gpus"},
    {"lora", "train"},
    {"lora_r", "lora.rank"},
    {"r", "lora.rank"},
    {"target_modules", "lora.targets"},
    {"bucket_cap_mb", "ddp.bucket_cap"},
    {"card", "gpu"},
    {"device", "gpu"},
};

const char *vram_setting_suggest(const char *key)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (!strcmp(elsewhere[i].theirs, key))
            return elsewhere[i].ours;
    struct vram_suggestion s;
    vram_suggest_init(&s, key);
    for (int i = 0; i < VRAM_KEY_COUNT; i++) {
        const char *whole = vram_settings[i].key, *dot = strrchr(whole, '.');
        if (vram_setting_is_family((enum vram_key)i))
            continue;
        if (dot && !strcmp(dot + 1, key)) /* "rank" for lora.rank */
            return whole;
        vram_suggest_offer(&s, whole, strlen(whole));
    }
    return s.word; /* a whole key, so it is terminated */
}

const char *vram_setting_type_name(enum vram_setting_type type)
{
    static const char *const names[] = {"integer", "number",  "fraction", "choice",
                                        "switch",  "bytes",   "size",     "list",
                                        "text",    "version", "shape"};
    _Static_assert(sizeof names / sizeof *names == VRAM_SETTING_TYPES, "a name for each type");
    return names[type];
}

size_t vram_setting_count(void) { return VRAM_KEY_COUNT; }

void vram_setting(size_t i, vram_setting_view *view)
{
    if (i >= VRAM_KEY_COUNT || view->size < sizeof view->size)
        return;
    const struct vram_setting_row *row = &vram_settings[i];
    vram_setting_view full = {.size = view->size,
                              .key = row->key,
                              .type = vram_setting_type_name(row->type),
                              .values = row->values,
                              .fallback = row->fallback,
                              .help = row->help,
                              .source = row->source};
    memcpy(view, &full, view->size < sizeof full ? view->size : sizeof full);
}
