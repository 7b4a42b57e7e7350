/* SPDX-License-Identifier: Apache-2.0
 *
 * See inner.h.
 */
#include "inner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void check(struct inner *r, int code)
{
    if (code)
        fail_msg("%s: %s", r->error.where, r->error.text);
}

void inner_adapt(struct inner *r, const vram_model *model, const vram_plan *plan)
{
    memset(r, 0, sizeof *r);
    vram_arena_init(&r->arena, model->arena.cap);
    r->cx = (struct vram_cx){&r->arena, &r->syms, &model->limits, &r->findings, &r->error};
    assert_int_equal(vram_syms_layer(&r->syms, &model->syms, &r->arena), 0);
    check(r, vram_setup_resolve(&r->cx, plan, &model->tree, &r->setup));
    check(r, vram_adapt(&r->cx, &model->tree, &r->setup, &r->tree));
}

void inner_run(struct inner *r, const vram_model *model, const vram_plan *plan, bool every_step)
{
    inner_adapt(r, model, plan);
    r->setup.run_every_step = every_step;
    check(r, vram_run(&r->cx, &r->tree, &r->setup, &r->run));
}

void inner_free(struct inner *r) { vram_arena_finish(&r->arena); }
