/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of cards and constants: every name leads to its own row, and no figure is missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <string.h>

#include "tables/tables.h"

static void gpu_names_are_unique(void **state)
{
    (void)state;
    for (unsigned i = 0; i < vram_gpus_count; i++) {
        const struct vram_gpu_row *row = &vram_gpus[i];
        assert_ptr_equal(vram_gpu_find(row->short_name), row);
        assert_ptr_equal(vram_gpu_find(row->name), row);
        for (const char *p = row->aliases; *p;) {
            char alias[96];
            size_t n = strcspn(p, ";");
            assert_in_range(n, 1, sizeof alias - 1);
            memcpy(alias, p, n);
            alias[n] = 0;
            /* an earlier row of the same name would be found instead */
            if (vram_gpu_find(alias) != row)
                fail_msg("%s: alias '%s' is another row", row->short_name, alias);
            p += n + (p[n] == ';');
        }
    }
}

static void gpu_figures_are_there(void **state)
{
    (void)state;
    assert_int_equal(vram_gpus_count, 128);
    for (unsigned i = 0; i < vram_gpus_count; i++) {
        const struct vram_gpu_row *row = &vram_gpus[i];
        size_t n = strlen(row->short_name);
        assert_true(n > 4 && row->short_name[n - 1] == 'g' && isdigit(row->short_name[n - 2]));
        assert_non_null(strrchr(row->short_name, '-'));
        for (const char *p = row->short_name; *p; p++)
            assert_true(islower(*p) || isdigit(*p) || *p == '-');
        assert_true(row->architecture[0] && row->source[0]);
        assert_true(row->sm == 0 || (row->sm >= 60 && row->sm <= 121));
        assert_true(row->sms >= 0 && row->sms <= 200);
        assert_true(row->sm > 0 || row->sms == 0);
        /* usable bytes lie below the nominal size: below 10^9 times 1.08 of it in any case */
        uint64_t nominal = 0;
        for (const char *p = strrchr(row->short_name, '-') + 1; isdigit(*p); p++)
            nominal = nominal * 10 + (uint64_t)(*p - '0');
        assert_true(row->usable_bytes > 0 && row->usable_bytes <= nominal << 30);
        assert_true(row->usable_bytes * 10 >= (nominal << 30) * 6);
        assert_true(0 < row->context_low && row->context_low <= row->context_expected &&
                    row->context_expected <= row->context_high && row->context_high < 2000);
    }
}

static void gpu_find_is_lenient(void **state)
{
    (void)state;
    static const struct {
        const char *name, *found;
    } cases[] = {
        {"a100-80g", "a100-80g"},
        {"A100 80GB", "a100-80g"},
        {"a100_80gb", "a100-80g"},
        {"NVIDIA A100-SXM4-80GB", "a100-80g"},
        {"NVIDIA A100 80GB PCIe", "a100-pcie-80g"},
        {"a100-40g", "a100-40g"},
        {"a100-sxm-40g", "a100-40g"},
        {"a800-80g", "a800-80g"},
        {"a10g", "a10g-24g"},
        {"a10", "a10-24g"},
        {"h100", "h100-80g"},
        {"h100-80g", "h100-80g"},
        {"NVIDIA H100 80GB HBM3", "h100-80g"},
        {"h20-96g", "h20-96g"},
        {"h200", "h200-141g"},
        {"l4", "l4-24g"},
        {"l40s", "l40s-48g"},
        {"t4", "t4-16g"},
        {"v100-16g", "v100-16g"},
        {"rtx3060-12g", "rtx3060-12g"},
        {"rtx3090", "rtx3090-24g"},
        {"rtx3090-24g", "rtx3090-24g"},
        {"GeForce RTX 3090", "rtx3090-24g"},
        {"rtx 4090", "rtx4090-24g"},
        {"rtx4070ti-super", "rtx4070ti-super-16g"},
        {"rtxa6000", "rtxa6000-48g"},
        {"a6000", "rtxa6000-48g"},
        {"RTX 3080 12GB", "rtx3080-12g"},
        {"rtx3080", "rtx3080-10g"},
        {"mi300x", "mi300x-192g"},
        {"8060s", "8060s-128g"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vram_gpu_row *row = vram_gpu_find(cases[i].name);
        if (!row || strcmp(row->short_name, cases[i].found) != 0)
            fail_msg("'%s' is %s", cases[i].name, row ? row->short_name : "unknown");
    }
    static const char *const unknown[] = {"",        " ",     "-",           ";",
                                          "a100",    "v100",  "a100-8",      "a100-80gbb",
                                          "rtx3091", "l40s;", "NVIDIA A10;x"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (vram_gpu_find(unknown[i]))
            fail_msg("'%s' is %s", unknown[i], vram_gpu_find(unknown[i])->short_name);
}

static void known_multiprocessors(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int sm, sms;
    } cases[] = {{"a100-80g", 80, 108}, {"a100-pcie-40g", 80, 108},
                 {"h100-80g", 90, 132}, {"h100-pcie-80g", 90, 114},
                 {"h200", 90, 132},     {"rtx3090", 86, 82},
                 {"rtx4090", 89, 128},  {"l40s", 89, 142},
                 {"a6000", 86, 84},     {"v100-32g", 70, 80},
                 {"t4", 75, 40},        {"a10", 86, 72},
                 {"l4", 89, 58},        {"b200", 100, 148},
                 {"rtx5090", 120, 170}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vram_gpu_row *row = vram_gpu_find(cases[i].name);
        assert_non_null(row);
        assert_int_equal(row->sm, cases[i].sm);
        assert_int_equal(row->sms, cases[i].sms);
    }
}

static void constants(void **state)
{
    (void)state;
    for (unsigned i = 0; i < vram_constants_count; i++) {
        const struct vram_constant_row *row = &vram_constants[i];
        assert_ptr_equal(vram_constant_find(row->name), row);
        assert_true(row->when[0] && row->source[0]);
        assert_true(!strcmp(row->unit, "bytes") || !strcmp(row->unit, "count"));
        assert_true(row->low <= row->expected && row->expected <= row->high && row->high > 0);
        assert_true(row->high <= UINT64_C(4) << 30);
    }
    assert_null(vram_constant_find("cublas"));
    assert_int_equal(vram_constant_find("cublas-workspace")->expected, 8519680);
    assert_int_equal(vram_constant_find("cublas-workspace-sm90")->expected, 32 << 20);
    assert_int_equal(vram_constant_find("cublas-workspaces")->expected, 2);
    assert_int_equal(vram_constant_find("context-kernels")->expected, 120 << 20);
    assert_int_equal(vram_constant_find("nccl-first")->high, 1600 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpu_names_are_unique),
        cmocka_unit_test(gpu_figures_are_there),
        cmocka_unit_test(gpu_find_is_lenient),
        cmocka_unit_test(known_multiprocessors),
        cmocka_unit_test(constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
