/* SPDX-License-Identifier: Apache-2.0
 *
 * Later steps without running them: when nothing depends on the step's number, step n is step 1
 * without what step 1 left behind (optimizer state, workspaces of libraries).  Its events are
 * copied with new storages.  The test suite runs both ways and compares.
 */
#include <string.h>

#include "base/vec.h"
#include "train/repeat.h"

struct copy {
    struct vram_machine *m;
    uint32_t first;      /* storages made in the step begin here */
    uint32_t n;          /* so many */
    uint32_t *map;       /* by storage − first: its copy; 0 = stays behind, not made again */
    size_t from, to;     /* events of the step */
    uint32_t first_phase;
};

/* Which storages of the step are gone at its end?  false: it frees something older than itself. */
static bool find_gone(struct copy *c)
{
    const struct vram_events *e = c->m->events;
    for (size_t i = c->from; i < c->to; i++) {
        const struct vram_event *v = &e->at[i];
        if (v->kind != VRAM_EVENT_FREE)
            continue;
        if (v->storage < c->first)
            return false;
        c->map[v->storage - c->first] = 1;
    }
    return true;
}

static void add_phase(struct copy *c, uint32_t phase, const char *from, const char *to)
{
    struct vram_events *e = c->m->events;
    const char *name = e->phases[phase].name + strlen(from);
    char *full = vram_format(c->m->cx->arena, "%s%s", to, name);
    if (!full || !vram_events_phase_room(e, c->m->cx->arena))
        vram_throw_memory(c->m);
    e->phases[e->nphases++] = (struct vram_phase_row){full, (uint32_t)e->n};
}

static void copy_once(struct copy *c, const char *from, const char *to)
{
    struct vram_events *e = c->m->events;
    struct vram_arena *arena = c->m->cx->arena;
    if (!vram_vec_room(e, arena, c->to - c->from))
        vram_throw_memory(c->m);
    for (size_t i = c->from; i < c->to; i++) {
        struct vram_event v = e->at[i];
        uint32_t *mapped = v.storage >= c->first ? &c->map[v.storage - c->first] : NULL;
        if (v.kind == VRAM_EVENT_PHASE) {
            uint32_t phase = v.storage;
            v.storage = (uint32_t)e->nphases;
            add_phase(c, phase, from, to);
        } else if (v.kind != VRAM_EVENT_EMPTY_CACHE && mapped) {
            if (!*mapped)
                continue;
            if (v.kind == VRAM_EVENT_ALLOC) {
                if (!vram_events_room(e, arena))
                    vram_throw_memory(c->m);
                e->storages[e->nstorages] = e->storages[v.storage];
                *mapped = (uint32_t)e->nstorages++;
            }
            v.storage = *mapped;
        }
        e->at[e->n++] = v;
    }
}

bool vram_steps_repeat(struct vram_machine *m, size_t from, uint32_t first_storage, int steps)
{
    struct copy c = {.m = m, .first = first_storage, .from = from, .to = m->events->n};
    c.n = (uint32_t)m->events->nstorages - first_storage;
    c.map = vram_machine_alloc(m, c.n ? c.n : 1, sizeof *c.map);
    if (!find_gone(&c))
        return false;
    for (int i = 2; i <= steps; i++) {
        char *to = vram_format(m->cx->arena, "step%d", i);
        if (!to)
            vram_throw_memory(m);
        copy_once(&c, "step1", to);
    }
    return true;
}
