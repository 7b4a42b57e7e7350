/* SPDX-License-Identifier: Apache-2.0
 *
 * Applies a row of defaults.c to a configuration: types and ranges of what is given, then what is
 * left out, then what follows.  A wrong type in a key the class reads is an error that names the
 * key and its byte: transformers refuses it too, and any other answer would be a guess.
 */
#include <stdio.h>
#include <string.h>

#include "hf/defaults.h"

/* Integer keys with a range; others may be any 64-bit integer.  The upper ends are far above any
 * model; products of them are still to be checked. */
static const struct range {
    const char *key;
    int64_t least, most;
} ranges[] = {
    {"d_ff", 1, 1 << 26},
    {"ffn_dim", 1, 1 << 26},
    {"ffn_hidden_size", 1, 1 << 26},
    {"head_dim", 1, 65536},
    {"hidden_size", 1, 1 << 24},
    {"image_seq_length", 0, 1 << 30},
    {"image_size", 1, 65536},
    {"intermediate_size", 1, 1 << 26},
    {"max_position_embeddings", 1, INT64_C(1) << 32},
    {"max_window_layers", 0, 1 << 30},
    {"moe_intermediate_size", 1, 1 << 26},
    {"n_inner", 1, 1 << 26},
    {"num_attention_heads", 1, 65536},
    {"num_channels", 1, 65536},
    {"num_decoder_layers", 1, 10000},
    {"num_experts", 1, 65536},
    {"num_experts_per_tok", 1, 65536},
    {"num_hidden_layers", 1, 10000},
    {"num_key_value_heads", 1, 65536},
    {"num_kv_heads", 1, 65536},
    {"num_local_experts", 1, 65536},
    {"patch_size", 1, 65536},
    {"projection_dim", 1, 1 << 24},
    {"projection_size", 1, 1 << 24},
    {"relative_attention_num_buckets", 1, 1 << 20},
    {"shared_expert_intermediate_size", 1, 1 << 26},
    {"sliding_window", 0, INT64_C(1) << 40},
    {"type_vocab_size", 1, 1 << 24},
    {"vision_feature_layer", -10000, 10000},
    {"vocab_size", 1, 1 << 28},
    {"word_embed_proj_dim", 1, 1 << 24},
};

/* Keys with a few words as values; transformers refuses others. */
static const struct words {
    const char *key, *all; /* " a b " */
} words[] = {
    {"layer_types", " full_attention sliding_attention "}, /* as the decoders here have them */
    {"vision_feature_select_strategy", " default full "},
};

static int check_words(struct vram_cx *cx, const char *name, const char *key,
                       const struct vram_config *v)
{
    const char *text = vram_sym_text(cx->syms, v->text);
    char shown[80], spaced[96];
    vram_escape(shown, sizeof shown, text, strlen(text));
    snprintf(spaced, sizeof spaced, " %s ", shown);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].key, key) && (strchr(shown, ' ') || !strstr(words[i].all, spaced)))
            return vram_config_fail(cx, name, v, VRAM_E_RANGE, "'%s' is none of:%.*s", shown,
                                    (int)strlen(words[i].all) - 1, words[i].all);
    return VRAM_OK;
}

static const char *const type_names[] = {"null", "true or false", "an integer",
                                         "a number", "a string", "a list", "an object"};

/* what the file has there, in words */
static const char *found(const struct vram_config *v)
{
    if (v->type == VRAM_CONFIG_BOOL)
        return v->integer ? "true" : "false";
    if (v->type != VRAM_CONFIG_FLOAT)
        return type_names[v->type];
    if (v->real != v->real)
        return "NaN";
    bool beyond = v->real > 9e18 || v->real < -9e18;
    return beyond ? "a number beyond 64 bits" : "a number with a fraction";
}

static int check_range(struct vram_cx *cx, const char *name, const struct vram_config *v)
{
    const char *key = vram_sym_text(cx->syms, v->key);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct range *r = &ranges[i];
        if (!strcmp(r->key, key) && (v->integer < r->least || v->integer > r->most))
            return vram_config_fail(cx, name, v, VRAM_E_RANGE,
                                    "%lld is out of range: %lld to %lld",
                                    (long long)v->integer, (long long)r->least,
                                    (long long)r->most);
    }
    return VRAM_OK;
}

/* [336, 336] → 336 */
static int unpair(struct vram_cx *cx, const char *name, struct vram_config *v)
{
    const struct vram_config *a = v->first, *b = a ? a->next : NULL;
    if (!b || b->next || a->type != VRAM_CONFIG_INT || b->type != VRAM_CONFIG_INT)
        return vram_config_fail(cx, name, v, VRAM_E_FORMAT,
                                "an integer or two of them expected, found another list");
    if (a->integer != b->integer)
        return vram_config_fail(cx, name, v, VRAM_E_UNSUPPORTED,
                                "height and width differ (%lld, %lld): only squares are supported",
                                (long long)a->integer, (long long)b->integer);
    v->type = VRAM_CONFIG_INT;
    v->integer = a->integer;
    v->real = a->real;
    v->first = v->last = NULL;
    return VRAM_OK;
}

static int check(struct vram_cx *cx, const char *name, struct vram_config *v,
                 const struct vram_class_key *k)
{
    if (v->type == VRAM_CONFIG_ARRAY && (k->flags & VRAM_KEY_PAIR))
        VRAM_TRY(unpair(cx, name, v));
    if (v->type == VRAM_CONFIG_NULL &&
        ((k->flags & VRAM_KEY_NULLABLE) || k->type != VRAM_CONFIG_INT))
        return VRAM_OK;
    if (v->type == VRAM_CONFIG_ARRAY && (k->flags & VRAM_KEY_LIST))
        return VRAM_OK;
    if (v->type != k->type && !(v->type == VRAM_CONFIG_INT && k->type == VRAM_CONFIG_FLOAT))
        return vram_config_fail(cx, name, v, VRAM_E_FORMAT, "%s expected, found %s",
                                type_names[k->type], found(v));
    return v->type == VRAM_CONFIG_INT      ? check_range(cx, name, v)
           : v->type == VRAM_CONFIG_STRING ? check_words(cx, name, k->key, v)
                                           : VRAM_OK;
}

static int set_default(struct vram_cx *cx, struct vram_config *v, const struct vram_class_key *k)
{
    if (k->null)
        return vram_config_set_null(cx, v, k->key, VRAM_ORIGIN_DEFAULT);
    if (k->type == VRAM_CONFIG_INT)
        return vram_config_set_int(cx, v, k->key, k->integer, VRAM_ORIGIN_DEFAULT);
    if (k->type == VRAM_CONFIG_BOOL)
        return vram_config_set_bool(cx, v, k->key, k->integer, VRAM_ORIGIN_DEFAULT);
    if (k->type == VRAM_CONFIG_FLOAT)
        return vram_config_set_real(cx, v, k->key, k->real, VRAM_ORIGIN_DEFAULT);
    return vram_config_set_text(cx, v, k->key, k->text, VRAM_ORIGIN_DEFAULT);
}

/* the sizes that came from the class, for one finding */
struct filled {
    char text[320];
    size_t n;
};

static void add_filled(struct filled *f, const struct vram_class_key *k)
{
    int n = snprintf(f->text + f->n, sizeof f->text - f->n, "%s%s %lld", f->n ? ", " : "", k->key,
                     (long long)k->integer);
    if (n > 0 && f->n + (size_t)n < sizeof f->text)
        f->n += (size_t)n;
    else
        f->text[f->n] = 0;
}

static int keys(struct vram_cx *cx, const char *name, struct vram_config *v,
                const struct vram_class *class)
{
    struct filled filled = {.n = 0};
    for (const struct vram_class_key *k = class->keys; k->key; k++) {
        struct vram_config *m = vram_config_get_text(cx, v, k->key);
        if (m)
            VRAM_TRY(check(cx, name, m, k));
        if (m && (m->type != VRAM_CONFIG_NULL || (k->flags & VRAM_KEY_NULLABLE)))
            continue;
        VRAM_TRY(set_default(cx, v, k));
        if (k->flags & VRAM_KEY_SIZE)
            add_filled(&filled, k);
    }
    if (!filled.n)
        return VRAM_OK;
    char subject[300];
    vram_config_subject(cx, name, v, subject, sizeof subject);
    return vram_find(cx, VRAM_F_CLASS_DEFAULT, subject,
                     "not in the file, so as the class %s has it: %s", class->model_type,
                     filled.text);
}

static int heads(struct vram_cx *cx, const char *name, const struct vram_config *v,
                 const struct vram_class *class)
{
    const struct vram_config *m = vram_config_get_text(cx, v, "num_attention_heads");
    int64_t hidden = vram_config_int(cx, v, "hidden_size", 0);
    if (!class->heads_divide || !m || hidden % m->integer == 0)
        return VRAM_OK;
    return vram_config_fail(cx, name, m, VRAM_E_CONFLICT,
                            "%lld heads do not divide hidden_size %lld evenly",
                            (long long)m->integer, (long long)hidden);
}

static int layer_types(struct vram_cx *cx, const char *name, const struct vram_config *v)
{
    const struct vram_config *list = vram_config_get_text(cx, v, "layer_types");
    bool is_list = list && list->type == VRAM_CONFIG_ARRAY;
    for (const struct vram_config *m = is_list ? list->first : NULL; m; m = m->next)
        if (m->type == VRAM_CONFIG_STRING)
            VRAM_TRY(check_words(cx, name, "layer_types", m));
    return VRAM_OK;
}

static int whole(struct vram_cx *cx, const char *name, struct vram_config *v,
                 const struct vram_class *class)
{
    VRAM_TRY(keys(cx, name, v, class));
    VRAM_TRY(layer_types(cx, name, v));
    VRAM_TRY(heads(cx, name, v, class));
    return class->derive ? class->derive(cx, v) : VRAM_OK;
}

/* CLIP's files say parts twice: "text_config_dict" with the class's defaults wins over text_config. */
static int said_twice(struct vram_cx *cx, struct vram_config *v, struct vram_config *part,
                      const char *key, const struct vram_class *class)
{
    char twice[64];
    snprintf(twice, sizeof twice, "%s_dict", key);
    const struct vram_config *dict = vram_config_get_text(cx, v, twice);
    if (!class || !dict || dict->type != VRAM_CONFIG_OBJECT)
        return VRAM_OK;
    for (const struct vram_class_key *k = class->keys; k->key; k++) {
        const struct vram_config *from = vram_config_get_text(cx, dict, k->key);
        VRAM_TRY(set_default(cx, part, k));
        if (!from || from->type == VRAM_CONFIG_OBJECT || from->type == VRAM_CONFIG_ARRAY)
            continue;
        struct vram_config *to = vram_config_get_text(cx, part, k->key);
        to->type = from->type;
        to->origin = from->origin;
        to->offset = from->offset;
        to->integer = from->integer;
        to->real = from->real;
        to->text = from->text;
    }
    return VRAM_OK;
}

/* The hub's Qwen2-VL: a decoder's keys beside vision_config. */
static int said_outside(struct vram_cx *cx, const struct vram_config *v, struct vram_config *part,
                        const struct vram_class_part *p)
{
    const struct vram_class *class = p->flat ? vram_class_find(p->model_type) : NULL;
    for (const struct vram_class_key *k = class ? class->keys : NULL; k && k->key; k++) {
        const struct vram_config *from = vram_config_get_text(cx, v, k->key);
        if (from)
            VRAM_TRY(vram_config_copy(cx, part, k->key, from, VRAM_ORIGIN_CONFIG));
    }
    return VRAM_OK;
}

/* A configuration inside v; made when v has none.  Parts have no parts of their own. */
static int part(struct vram_cx *cx, const char *name, struct vram_config *v,
                const struct vram_class_part *p)
{
    struct vram_config *m = vram_config_get_text(cx, v, p->key);
    if (m && m->type != VRAM_CONFIG_OBJECT)
        return vram_config_fail(cx, name, m, VRAM_E_FORMAT, "an object expected, found %s",
                                found(m));
    if (!m) {
        m = vram_config_add_branch(cx, v, p->key, VRAM_CONFIG_OBJECT, VRAM_ORIGIN_DEFAULT);
        if (!m)
            return vram_fail_memory(cx);
        VRAM_TRY(vram_config_set_text(cx, m, "model_type", p->model_type, VRAM_ORIGIN_DEFAULT));
        VRAM_TRY(said_outside(cx, v, m, p));
        for (const struct vram_class_key *k = p->given; k && k->key; k++)
            VRAM_TRY(set_default(cx, m, k));
    }
    const struct vram_config *type = vram_config_get_text(cx, m, "model_type");
    if (type && type->type != VRAM_CONFIG_STRING && type->type != VRAM_CONFIG_NULL)
        return vram_config_fail(cx, name, type, VRAM_E_FORMAT, "a string expected, found %s",
                                found(type));
    if (p->fixed || vram_config_unset(cx, m, "model_type"))
        if (strcmp(vram_config_text(cx, m, "model_type", ""), p->model_type) != 0)
            VRAM_TRY(vram_config_set_text(cx, m, "model_type", p->model_type, VRAM_ORIGIN_DEFAULT));
    const struct vram_class *class = vram_class_find(vram_config_text(cx, m, "model_type", ""));
    if (p->fixed)
        VRAM_TRY(said_twice(cx, v, m, p->key, class));
    return class && !class->parts ? whole(cx, name, m, class) : VRAM_OK;
}

int vram_class_apply(struct vram_cx *cx, const char *name, struct vram_config *v,
                     const struct vram_class *class)
{
    for (const struct vram_class_part *p = class->parts; p && p->key; p++)
        VRAM_TRY(part(cx, name, v, p));
    return whole(cx, name, v, class);
}
