/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings and plans: every default and a set of good values come back from their canonical text,
 * bad ones are refused with the right code, and a failed call changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "plan/plan.h"

static vram_plan *new_plan(void)
{
    vram_plan *plan = NULL;
    vram_error error;
    assert_int_equal(vram_plan_create(&plan, &error), VRAM_OK);
    return plan;
}

static void table_is_sound(void **state)
{
    (void)state;
    for (int i = 0; i < VRAM_KEY_COUNT; i++) {
        const struct vram_setting_row *row = &vram_settings[i];
        const char *name;
        if (vram_setting_find(row->key, &name) != i)
            fail_msg("%s stands twice", row->key);
        assert_true(row->values[0] && row->help[0] && row->source[0]);
        assert_true(strlen(row->help) <= 110);
        for (const char *p = row->key; *p; p++)
            assert_true(strchr("abcdefghijklmnopqrstuvwxyz0123456789_.NAME", *p));
        switch (row->type) {
        case VRAM_SETTING_INTEGER:
        case VRAM_SETTING_NUMBER:
        case VRAM_SETTING_FRACTION:
        case VRAM_SETTING_BYTES:
        case VRAM_SETTING_SIZE:
            assert_non_null(strstr(row->values, ".."));
            break;
        case VRAM_SETTING_CHOICE:
            assert_null(strstr(row->values, "  "));
            break;
        default:
            break;
        }
    }
}

static void defaults_come_back(void **state)
{
    (void)state;
    char canonical[VRAM_SETTING_CANONICAL];
    vram_plan *plan = new_plan();
    for (int i = 0; i < VRAM_KEY_COUNT; i++) {
        const struct vram_setting_row *row = &vram_settings[i];
        struct vram_setting_value value;
        vram_error error;
        assert_null(vram_plan_get(plan, row->key));
        assert_false(vram_plan_given(plan, (enum vram_key)i));
        assert_string_equal(vram_plan_text(plan, (enum vram_key)i), row->fallback);
        if (!row->fallback[0]) {
            assert_true(vram_plan_int(plan, (enum vram_key)i) == VRAM_PLAN_UNSET);
            continue;
        }
        assert_int_equal(vram_setting_parse((enum vram_key)i, row->key, row->fallback, &value,
                                            canonical, &error),
                         VRAM_OK);
        assert_string_equal(canonical, row->fallback);
        assert_true(vram_plan_int(plan, (enum vram_key)i) == value.number);
    }
    vram_plan_free(plan);
}

/* every word of every choice, and both ends of every range */
static void whole_table_is_accepted(void **state)
{
    (void)state;
    vram_plan *plan = new_plan();
    for (int i = 0; i < VRAM_KEY_COUNT; i++) {
        const struct vram_setting_row *row = &vram_settings[i];
        bool range = strstr(row->values, "..") != NULL;
        if (!range && row->type != VRAM_SETTING_CHOICE && row->type != VRAM_SETTING_SWITCH)
            continue;
        char values[1200];
        assert_true(strlen(row->values) < sizeof values);
        strcpy(values, row->values);
        if (range) { /* "1..9 auto" → "1 9 auto" */
            char *dots = strstr(values, "..");
            *dots = ' ';
            memmove(dots + 1, dots + 2, strlen(dots + 2) + 1);
        }
        for (char *word = strtok(values, " "); word; word = strtok(NULL, " ")) {
            vram_error error;
            if (vram_plan_set(plan, row->key, word, &error))
                fail_msg("%s=%s: %s", row->key, word, error.text);
            assert_string_equal(vram_plan_get(plan, row->key), word);
        }
    }
    vram_plan_free(plan);
}

static const struct {
    const char *key, *value, *canonical;
} good[] = {
    {"mode", "infer", "infer"},
    {"precision", "BF16", "bf16"},
    {"precision", "bf16_mixed", "bf16-mixed"},
    {"optimizer", "adamw_fused", "adamw-fused"},
    {"optimizer", "muon+adamw", "muon+adamw"},
    {"optimizer", "galore-adamw-8bit-layerwise", "galore-adamw-8bit-layerwise"},
    {"offload", "optimizer+grads", "optimizer+grads"},
    {"lora.bias", "lora_only", "lora-only"},
    {"micro_batch", "8", "8"},
    {"micro_batch", " 8 ", "8"},
    {"micro_batch", "+8", "8"},
    {"micro_batch", "008", "8"},
    {"micro_batch", "8.0", "8"},
    {"micro_batch", "1e3", "1000"},
    {"micro_batch", "2.5e1", "25"},
    {"micro_batch", "100e-2", "1"},
    {"vision_select_layer", "-2", "-2"},
    {"zero.reduce_bucket_size", "5e8", "500000000"},
    {"zero.reduce_bucket_size", "AUTO", "auto"},
    {"zero.reduce_bucket_size", "9223372036854775807", "9223372036854775807"},
    {"zero.overlap_comm", "True", "on"},
    {"clip_grad", "no", "off"},
    {"clip_grad", "0", "off"},
    {"clip_grad", "YES", "on"},
    {"headroom", "5%", "0.05"},
    {"headroom", "12.5%", "0.125"},
    {"headroom", "0.05", "0.05"},
    {"headroom", "1", "1"},
    {"headroom", "100%", "1"},
    {"headroom", "0.0", "0"},
    {"headroom", "1e-3", "0.001"},
    {"headroom", ".5", "0.5"},
    {"lora.dropout", "0.3333333333", "0.333333333"},
    {"lora.alpha", "12.5", "12.5"},
    {"lora.alpha", "32", "32"},
    {"audio_seconds", "30.000000001", "30.000000001"},
    {"ddp.bucket_cap", "25MiB", "26214400"},
    {"ddp.bucket_cap", "25 mib", "26214400"},
    {"ddp.bucket_cap", "1.5GiB", "1610612736"},
    {"ddp.bucket_cap", "0.1MB", "100000"},
    {"ddp.bucket_cap", "1024", "1024"},
    {"ddp.bucket_cap", "1e6B", "1000000"},
    {"ddp.bucket_cap", "0.3GiB", "322122547"},
    {"image_size", "336", "336"},
    {"image_size", "336x336", "336"},
    {"image_size", "336x672", "336x672"},
    {"image_size", "336X672", "336x672"},
    {"lora.targets", "q,k,v,o", "q,k,v,o"},
    {"lora.targets", " c_attn , attn.c_proj,w1 ", "c_attn,attn.c_proj,w1"},
    {"lora.targets", "all-linear", "all-linear"},
    {"lora.targets", ".*(q|k)_proj", ".*(q|k)_proj"},
    {"vision_tower", "a folder/CLIP, large", "a folder/CLIP, large"},
    {"gpu", "A100 80GB", "A100 80GB"},
    {"transformers", "4.46", "4.46"},
    {"transformers", "4.46.3", "4.46.3"},
    {"torch", "2.9.1+cu128", "2.9.1"},
    {"torch", "2.0", "2.0"},
    {"train.fusion", "Frozen", "frozen"},
    {"train.vision", "lora", "lora"},
    {"dim.batch", "4", "4"},
    {"dim.past seq + 1", "0", "0"},
    {"input.pixel_values", "2x3x64X64", "2x3x64x64"},
    {"input.x", "Scalar", "scalar"},
    {"input.x", "7", "7"},
    {"input.x", "1e2x0", "100x0"},
};

static void good_values_come_back(void **state)
{
    (void)state;
    vram_plan *plan = new_plan();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        vram_error error;
        for (int again = 0; again < 2; again++) {
            const char *value = again ? good[i].canonical : good[i].value;
            if (vram_plan_set(plan, good[i].key, value, &error))
                fail_msg("%s=%s: %s", good[i].key, value, error.text);
            assert_int_equal(error.code, VRAM_OK);
            assert_string_equal(vram_plan_get(plan, good[i].key), good[i].canonical);
        }
    }
    vram_plan_free(plan);
}

static const struct {
    const char *key, *value;
    int code;
    const char *says; /* part of the message */
} bad[] = {
    {"", "1", VRAM_E_NOTFOUND, "there is no setting ''"},
    {"micro-batch", "1", VRAM_E_NOTFOUND, "did you mean 'micro_batch'?"},
    {"mirco_batch", "1", VRAM_E_NOTFOUND, "did you mean 'micro_batch'?"},
    {"Seq", "1", VRAM_E_NOTFOUND, "did you mean 'seq'?"},
    {"batch_size", "1", VRAM_E_NOTFOUND, "did you mean 'micro_batch'?"},
    {"lora_rank", "1", VRAM_E_NOTFOUND, "did you mean 'lora.rank'?"},
    {"lora.rnak", "1", VRAM_E_NOTFOUND, "did you mean 'lora.rank'?"},
    {"reduce_bucket_size", "1", VRAM_E_NOTFOUND, "did you mean 'zero.reduce_bucket_size'?"},
    {"zero.reduce_buckt_size", "1", VRAM_E_NOTFOUND, "did you mean 'zero.reduce_bucket_size'?"},
    {"zero.", "1", VRAM_E_NOTFOUND, "there is no setting"},
    {"xyzzy", "1", VRAM_E_NOTFOUND, "`vramcast list settings`"},
    {"seq\x1b[31m", "1", VRAM_E_NOTFOUND, "'seq\\x1b[31m'"},
    {"dim.", "1", VRAM_E_NOTFOUND, "there is no setting 'dim.'"},
    {"dim.a\nb", "1", VRAM_E_NOTFOUND, "'dim.a\\x0ab'"},
    {"train.a b", "full", VRAM_E_NOTFOUND, "there is no setting"},
    {"micro_batch", "", VRAM_E_ARGUMENT, "micro_batch: '' is empty"},
    {"micro_batch", "  ", VRAM_E_ARGUMENT, "is empty"},
    {"micro_batch", "eight", VRAM_E_ARGUMENT, "is not an integer (1..1048576)"},
    {"micro_batch", "8x", VRAM_E_ARGUMENT, "is not an integer"},
    {"micro_batch", "8.5", VRAM_E_ARGUMENT, "is not an integer"},
    {"micro_batch", "1e-1", VRAM_E_ARGUMENT, "is not an integer"},
    {"micro_batch", "8 8", VRAM_E_ARGUMENT, "is not an integer"},
    {"micro_batch", "0x10", VRAM_E_ARGUMENT, "is not an integer"},
    {"micro_batch", ".", VRAM_E_ARGUMENT, "is not an integer"},
    {"micro_batch", "-", VRAM_E_ARGUMENT, "is not an integer"},
    {"micro_batch", "1e", VRAM_E_ARGUMENT, "is not an integer"},
    {"micro_batch", "inf", VRAM_E_ARGUMENT, "is not an integer"},
    {"micro_batch", "auto", VRAM_E_ARGUMENT, "is not an integer"},
    {"micro_batch", "1\x1b[31m", VRAM_E_ARGUMENT, "'1\\x1b[31m' has a control character"},
    {"micro_batch", "0", VRAM_E_RANGE, "'0' is outside its range, 1..1048576"},
    {"micro_batch", "-1", VRAM_E_RANGE, "outside its range"},
    {"micro_batch", "1048577", VRAM_E_RANGE, "outside its range"},
    {"micro_batch", "99999999999999999999", VRAM_E_RANGE, "outside its range"},
    {"micro_batch", "1e99999999999", VRAM_E_RANGE, "outside its range"},
    {"zero.sub_group_size", "9223372036854775808", VRAM_E_RANGE, "outside its range"},
    {"mode", "tain", VRAM_E_ARGUMENT, "did you mean train? (train infer load)"},
    {"mode", "evaluate-it", VRAM_E_ARGUMENT, "is not one of: train infer load"},
    {"optimizer", "adamm", VRAM_E_ARGUMENT, "did you mean adamw?"},
    {"optimizer", "something else", VRAM_E_ARGUMENT, "is not one of: none adamw "},
    {"strategy", "zero 3", VRAM_E_ARGUMENT, "did you mean zero3?"},
    {"clip_grad", "maybe", VRAM_E_ARGUMENT, "is neither on nor off"},
    {"clip_grad", "2", VRAM_E_ARGUMENT, "is neither on nor off"},
    {"headroom", "5 percent", VRAM_E_ARGUMENT, "is not a fraction (0..1, or per cent as 5%)"},
    {"headroom", "%", VRAM_E_ARGUMENT, "is not a fraction"},
    {"headroom", "nan", VRAM_E_ARGUMENT, "is not a fraction"},
    {"headroom", "5", VRAM_E_RANGE, "outside its range, 0..1"},
    {"headroom", "101%", VRAM_E_RANGE, "outside its range"},
    {"headroom", "-0.1", VRAM_E_RANGE, "outside its range"},
    {"headroom", "1e300", VRAM_E_RANGE, "outside its range"},
    {"lora.alpha", "50%", VRAM_E_ARGUMENT, "is not a number (0..1000000)"},
    {"ddp.bucket_cap", "25M", VRAM_E_ARGUMENT, "KiB, MiB, GiB"},
    {"ddp.bucket_cap", "MiB", VRAM_E_ARGUMENT, "KiB, MiB, GiB"},
    {"ddp.bucket_cap", "5EiB", VRAM_E_ARGUMENT, "KiB, MiB, GiB"},
    {"ddp.bucket_cap", "1.5", VRAM_E_ARGUMENT, "whole number of bytes"},
    {"ddp.bucket_cap", "0", VRAM_E_RANGE, "outside its range"},
    {"ddp.bucket_cap", "-1MiB", VRAM_E_RANGE, "outside its range"},
    {"ddp.bucket_cap", "99999999TiB", VRAM_E_RANGE, "outside its range"},
    {"ddp.bucket_cap", "99999999999999TiB", VRAM_E_RANGE, "outside its range"},
    {"image_size", "336x", VRAM_E_ARGUMENT, "is not a size"},
    {"image_size", "x336", VRAM_E_ARGUMENT, "is not a size"},
    {"image_size", "3x3x3", VRAM_E_ARGUMENT, "is not a size"},
    {"image_size", "336x0", VRAM_E_RANGE, "outside its range"},
    {"image_size", "0x336", VRAM_E_RANGE, "outside its range"},
    {"image_size", "336x99999999999999999999", VRAM_E_RANGE, "outside its range"},
    {"lora.targets", "q,,v", VRAM_E_ARGUMENT, "empty item"},
    {"lora.targets", ",", VRAM_E_ARGUMENT, "empty item"},
    {"lora.targets", "q, ", VRAM_E_ARGUMENT, "empty item"},
    {"vision_tower", "a\tb", VRAM_E_ARGUMENT, "control character"},
    {"torch", "2", VRAM_E_ARGUMENT, "is not a version"},
    {"torch", "2.", VRAM_E_ARGUMENT, "is not a version"},
    {"torch", "2.9.", VRAM_E_ARGUMENT, "is not a version"},
    {"torch", "2.9a", VRAM_E_ARGUMENT, "is not a version"},
    {"torch", "2.9999", VRAM_E_ARGUMENT, "is not a version"},
    {"torch", "v2.9", VRAM_E_ARGUMENT, "is not a version"},
    {"dim.batch", "-1", VRAM_E_RANGE, "dim.batch: '-1' is outside its range"},
    {"dim.batch", "n", VRAM_E_ARGUMENT, "is not an integer"},
    {"input.x", "2x", VRAM_E_ARGUMENT, "is not a shape"},
    {"input.x", "scalars", VRAM_E_ARGUMENT, "is not a shape"},
    {"input.x", "2x-1", VRAM_E_RANGE, "dimension below 0"},
    {"input.x", "9223372036854775807", VRAM_E_RANGE, "above 2^62"},
    {"input.x", "1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", VRAM_E_RANGE,
     "more than 32"},
    {"train.fusion", "on", VRAM_E_ARGUMENT, "train.fusion: 'on' is not one of: full frozen lora"},
};

static void bad_values_are_refused(void **state)
{
    (void)state;
    vram_plan *plan = new_plan();
    const char *const set_before[] = {"micro_batch", "mode", "headroom", "dim.batch", "input.x"};
    const char *const values[] = {"7", "load", "0.25", "7", "7"};
    for (int i = 0; i < 5; i++)
        assert_int_equal(vram_plan_set(plan, set_before[i], values[i], NULL), VRAM_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        vram_error error;
        int code = vram_plan_set(plan, bad[i].key, bad[i].value, &error);
        if (code != bad[i].code || !strstr(error.text, bad[i].says))
            fail_msg("%s=%s: %d '%s', expected %d '%s'", bad[i].key, bad[i].value, code, error.text,
                     bad[i].code, bad[i].says);
        assert_int_equal(error.code, code);
        assert_true(error.offset == VRAM_NO_OFFSET);
        assert_string_equal(error.where, "");
        for (const char *p = error.text; *p; p++)
            assert_true((unsigned char)*p >= 0x20);
        assert_int_equal(vram_plan_set(plan, bad[i].key, bad[i].value, NULL), code);
    }
    for (int i = 0; i < 5; i++)
        assert_string_equal(vram_plan_get(plan, set_before[i]), values[i]);
    assert_int_equal(vram_plan_extra_count(plan), 2);
    vram_plan_free(plan);
}

static void hostile_lengths(void **state)
{
    (void)state;
    static char text[100001];
    vram_plan *plan = new_plan();
    vram_error error;
    memset(text, '1', sizeof text - 1);
    assert_int_equal(vram_plan_set(plan, text, "1", &error), VRAM_E_NOTFOUND);
    assert_int_equal(vram_plan_set(plan, "micro_batch", text, &error), VRAM_E_RANGE);
    assert_int_equal(vram_plan_set(plan, "vision_tower", text, &error), VRAM_E_RANGE);
    assert_int_equal(vram_plan_set(plan, "mode", text, &error), VRAM_E_RANGE);
    text[VRAM_SETTING_TEXT_MAX] = 0;
    assert_int_equal(vram_plan_set(plan, "vision_tower", text, &error), VRAM_OK);
    assert_string_equal(vram_plan_get(plan, "vision_tower"), text);
    assert_int_equal(vram_plan_set(plan, "lora.targets", text, &error), VRAM_OK);
    assert_int_equal(vram_plan_set(plan, "micro_batch", text, &error), VRAM_E_ARGUMENT);
    memcpy(text, "dim.", 4);
    text[4 + 256] = 0;
    assert_int_equal(vram_plan_set(plan, text, "1", &error), VRAM_OK);
    text[4 + 256] = '1';
    text[4 + 257] = 0;
    assert_int_equal(vram_plan_set(plan, text, "1", &error), VRAM_E_NOTFOUND);
    assert_int_equal(vram_plan_set(plan, NULL, "1", &error), VRAM_E_ARGUMENT);
    assert_int_equal(vram_plan_set(plan, "seq", NULL, &error), VRAM_E_ARGUMENT);
    assert_null(vram_plan_get(plan, NULL));
    assert_null(vram_plan_get(plan, "nothing"));
    vram_plan_free(plan);
    vram_plan_free(NULL);
}

static void too_many_names(void **state)
{
    (void)state;
    vram_plan *plan = new_plan();
    vram_error error;
    for (int i = 0; i < 4096; i++) {
        char key[16] = "dim.";
        for (int n = i, k = 4; k < 8; k++, n /= 10)
            key[k] = (char)('0' + n % 10);
        assert_int_equal(vram_plan_set(plan, key, "1", &error), VRAM_OK);
    }
    assert_int_equal(vram_plan_set(plan, "dim.more", "1", &error), VRAM_E_RANGE);
    assert_int_equal(vram_plan_set(plan, "dim.0000", "2", &error), VRAM_OK);
    assert_string_equal(vram_plan_get(plan, "dim.0000"), "2");
    vram_plan_free(plan);
}

static void passes_read_values(void **state)
{
    (void)state;
    vram_plan *plan = new_plan();
    assert_int_equal(vram_plan_int(plan, VRAM_KEY_MICRO_BATCH), 1);
    assert_true(vram_plan_is(plan, VRAM_KEY_PRECISION, "bf16"));
    assert_true(vram_plan_on(plan, VRAM_KEY_CLIP_GRAD, false));
    assert_true(vram_plan_on(plan, VRAM_KEY_ZERO_OVERLAP_COMM, true)); /* unset */
    assert_false(vram_plan_on(plan, VRAM_KEY_ZERO_OVERLAP_COMM, false));
    assert_int_equal(vram_plan_int(plan, VRAM_KEY_DDP_BUCKET_CAP), 25 << 20);
    assert_true(vram_plan_int(plan, VRAM_KEY_TRANSFORMERS) == vram_setting_version(5, 24, 0));
    int64_t h = 7, w = 7;
    assert_false(vram_plan_size(plan, VRAM_KEY_IMAGE_SIZE, &h, &w));
    assert_int_equal(h, 7);

    assert_int_equal(vram_plan_set(plan, "image_size", "336x672", NULL), VRAM_OK);
    assert_true(vram_plan_size(plan, VRAM_KEY_IMAGE_SIZE, &h, &w));
    assert_int_equal(h, 336);
    assert_int_equal(w, 672);
    assert_int_equal(vram_plan_set(plan, "headroom", "5%", NULL), VRAM_OK);
    assert_true(vram_plan_number(plan, VRAM_KEY_HEADROOM) == 0.05);
    assert_int_equal(vram_plan_set(plan, "zero.reduce_bucket_size", "auto", NULL), VRAM_OK);
    assert_true(vram_plan_int(plan, VRAM_KEY_ZERO_REDUCE_BUCKET_SIZE) == VRAM_PLAN_AUTO);
    assert_int_equal(vram_plan_set(plan, "transformers", "4.46", NULL), VRAM_OK);
    assert_true(vram_plan_int(plan, VRAM_KEY_TRANSFORMERS) < vram_setting_version(5, 0, 0));
    assert_int_equal(vram_plan_set(plan, "clip_grad", "off", NULL), VRAM_OK);
    assert_false(vram_plan_on(plan, VRAM_KEY_CLIP_GRAD, true));

    assert_int_equal(vram_plan_set(plan, "lora.targets", "q, k_proj", NULL), VRAM_OK);
    const char *at = vram_plan_text(plan, VRAM_KEY_LORA_TARGETS), *item;
    size_t n;
    assert_true(vram_setting_item(&at, &item, &n) && n == 1 && !memcmp(item, "q", 1));
    assert_true(vram_setting_item(&at, &item, &n) && n == 6 && !memcmp(item, "k_proj", 6));
    assert_false(vram_setting_item(&at, &item, &n));

    assert_false(vram_plan_given(plan, VRAM_KEY_INPUT_NAME));
    assert_int_equal(vram_plan_set(plan, "input.x.y", "2x3x0", NULL), VRAM_OK);
    assert_int_equal(vram_plan_set(plan, "dim.b", "4", NULL), VRAM_OK);
    assert_true(vram_plan_given(plan, VRAM_KEY_INPUT_NAME));
    assert_int_equal(vram_plan_extra_count(plan), 2);
    const struct vram_plan_extra *extra = vram_plan_extra(plan, 0);
    assert_string_equal(extra->name, "x.y");
    assert_int_equal(extra->row, VRAM_KEY_INPUT_NAME);
    int64_t dims[VRAM_SETTING_RANK_MAX];
    assert_int_equal(vram_setting_shape(extra->text, dims), 3);
    assert_true(dims[0] == 2 && dims[1] == 3 && dims[2] == 0);
    assert_int_equal(vram_setting_shape("scalar", dims), 0);
    assert_int_equal(vram_plan_extra_find(plan, VRAM_KEY_DIM_NAME, "b")->number, 4);
    assert_null(vram_plan_extra_find(plan, VRAM_KEY_DIM_NAME, "x.y"));
    assert_null(vram_plan_extra(plan, 2));
    vram_plan_free(plan);
}

static void copies_and_swaps(void **state)
{
    (void)state;
    vram_plan *a = new_plan(), *b = NULL;
    vram_error error;
    vram_plan_set(a, "seq", "2048", NULL);
    vram_plan_set(a, "dim.n", "3", NULL);
    assert_int_equal(vram_plan_copy(&b, a, &error), VRAM_OK);
    vram_plan_set(b, "seq", "4096", NULL);
    vram_plan_set(b, "gpus", "8", NULL);
    assert_string_equal(vram_plan_get(a, "seq"), "2048");
    assert_null(vram_plan_get(a, "gpus"));
    assert_string_equal(vram_plan_get(b, "dim.n"), "3");
    vram_plan_swap(a, b);
    assert_string_equal(vram_plan_get(a, "seq"), "4096");
    assert_string_equal(vram_plan_get(b, "seq"), "2048");
    vram_plan_free(a);
    vram_plan_free(b);
}

static void views_fit_their_caller(void **state)
{
    (void)state;
    assert_int_equal(vram_setting_count(), VRAM_KEY_COUNT);
    for (size_t i = 0; i < vram_setting_count(); i++) {
        vram_setting_view view = {.size = sizeof view};
        vram_setting(i, &view);
        assert_string_equal(view.key, vram_settings[i].key);
        assert_string_equal(view.type, vram_setting_type_name(vram_settings[i].type));
        assert_string_equal(view.source, vram_settings[i].source);
        assert_int_equal(view.size, sizeof view);
    }
    vram_setting_view old = {.size = offsetof(vram_setting_view, values), .values = "untouched"};
    vram_setting(0, &old);
    assert_string_equal(old.key, "mode");
    assert_string_equal(old.values, "untouched");
    vram_setting_view none = {.size = sizeof none, .key = "untouched"};
    vram_setting(VRAM_KEY_COUNT, &none);
    assert_string_equal(none.key, "untouched");
}

/* create, set twelve keys, copy; with the n-th request for memory failing */
static int work(vram_plan **plan, vram_plan **copy, vram_error *error)
{
    int code = vram_plan_create(plan, error);
    for (char c = 'a'; !code && c < 'm'; c++) {
        char key[] = "dim.x";
        key[4] = c;
        code = vram_plan_set(*plan, key, "3", error);
        if (!code)
            code = vram_plan_set(*plan, "seq", "77", error);
        if (code) /* whatever was there before still is */
            assert_true(c == 'a' || !strcmp(vram_plan_get(*plan, "seq"), "77"));
    }
    return code ? code : vram_plan_copy(copy, *plan, error);
}

static void memory_runs_out_anywhere(void **state)
{
    (void)state;
    int code = VRAM_E_NOMEM;
    for (uint64_t n = 1; code; n++) {
        vram_plan *plan = NULL, *copy = NULL;
        vram_error error = {0};
        assert_true(n < 200);
        vram_fail_after(n);
        code = work(&plan, &copy, &error);
        vram_fail_after(0);
        assert_true(code == VRAM_OK || code == VRAM_E_NOMEM);
        assert_int_equal(error.code, code);
        assert_true((code == VRAM_OK) == (copy != NULL));
        vram_plan_free(plan);
        vram_plan_free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_sound),           cmocka_unit_test(defaults_come_back),
        cmocka_unit_test(whole_table_is_accepted),  cmocka_unit_test(good_values_come_back),
        cmocka_unit_test(bad_values_are_refused),   cmocka_unit_test(hostile_lengths),
        cmocka_unit_test(too_many_names),           cmocka_unit_test(passes_read_values),
        cmocka_unit_test(copies_and_swaps),         cmocka_unit_test(views_fit_their_caller),
        cmocka_unit_test(memory_runs_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
