/* SPDX-License-Identifier: Apache-2.0
 *
 * Interned strings; see sym.h.
 */
#include "base/sym.h"

#include <string.h>
#include <sys/random.h>

#include "vram/vram.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 u128;
    u128 p = (u128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) * (b ^ UINT64_C(0xd1b54a32d192ed03));
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t load(const char *p, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, p, n);
    return v;
}

static uint32_t hash_of(uint64_t seed, const char *text, size_t n)
{
    uint64_t h = seed ^ n;
    for (; n > 8; text += 8, n -= 8)
        h = mix(h, load(text, 8));
    h = mix(h, load(text, n));
    return (uint32_t)(h ^ (h >> 32));
}

int vram_syms_init(struct vram_syms *syms, struct vram_arena *arena)
{
    *syms = (struct vram_syms){.arena = arena, .cap = 512, .mask = 1023};
    syms->at = vram_arena_array(arena, syms->cap, sizeof *syms->at);
    syms->slots = vram_arena_array(arena, (size_t)syms->mask + 1, sizeof *syms->slots);
    if (!syms->at || !syms->slots)
        return VRAM_E_NOMEM;
    if (getrandom(&syms->seed, sizeof syms->seed, GRND_NONBLOCK) != sizeof syms->seed)
        syms->seed = (uint64_t)(uintptr_t)syms ^ UINT64_C(0x5851f42d4c957f2d);
    return vram_sym_add(syms, "", 0, 0) == 0 ? VRAM_OK : VRAM_E_NOMEM;
}

int vram_syms_layer(struct vram_syms *syms, const struct vram_syms *base, struct vram_arena *arena)
{
    *syms = (struct vram_syms){.arena = arena, .base = base, .first = base->first + base->n,
                               .cap = 64, .mask = 127, .seed = base->seed};
    syms->at = vram_arena_array(arena, syms->cap, sizeof *syms->at);
    syms->slots = vram_arena_array(arena, (size_t)syms->mask + 1, sizeof *syms->slots);
    return syms->at && syms->slots ? VRAM_OK : VRAM_E_NOMEM;
}

static uint32_t *slot_of(const struct vram_syms *syms, const char *text, size_t n, uint32_t hash)
{
    for (uint32_t i = hash;; i++) {
        uint32_t *slot = &syms->slots[i & syms->mask];
        if (*slot == 0)
            return slot;
        const struct vram_sym_entry *e = &syms->at[*slot - 1];
        if (e->hash == hash && e->n == n && memcmp(e->text, text, n) == 0)
            return slot;
    }
}

static int rehash(struct vram_syms *syms)
{
    uint32_t mask = syms->mask * 2 + 1;
    uint32_t *slots = vram_arena_array(syms->arena, (size_t)mask + 1, sizeof *slots);
    if (!slots)
        return -1;
    for (uint32_t id = 0; id < syms->n; id++) {
        uint32_t i = syms->at[id].hash & mask;
        while (slots[i])
            i = (i + 1) & mask;
        slots[i] = id + 1;
    }
    syms->slots = slots;
    syms->mask = mask;
    return 0;
}

static int room(struct vram_syms *syms)
{
    if (syms->n >= UINT32_MAX / 4)
        return -1;
    if (syms->n == syms->cap) {
        struct vram_sym_entry *at =
            vram_arena_array(syms->arena, (size_t)syms->cap * 2, sizeof *at);
        if (!at)
            return -1;
        memcpy(at, syms->at, syms->n * sizeof *at);
        syms->at = at;
        syms->cap *= 2;
    }
    if ((uint64_t)syms->n * 3 >= (uint64_t)syms->mask * 2)
        return rehash(syms);
    return 0;
}

vram_sym vram_sym_add(struct vram_syms *syms, const char *text, size_t n, int copy)
{
    if (n >= UINT32_MAX)
        return VRAM_SYM_NONE;
    uint32_t hash = hash_of(syms->seed, text, n);
    uint32_t *slot = slot_of(syms, text, n, hash);
    if (*slot)
        return syms->first + *slot - 1;
    if (syms->base) {
        vram_sym below = vram_sym_find(syms->base, text, n);
        if (below != VRAM_SYM_NONE)
            return below;
    }
    if (room(syms))
        return VRAM_SYM_NONE;
    const char *kept = copy ? vram_arena_strndup(syms->arena, text, n) : text;
    if (!kept)
        return VRAM_SYM_NONE;
    vram_sym id = syms->n++;
    syms->at[id] = (struct vram_sym_entry){kept, (uint32_t)n, hash};
    *slot_of(syms, text, n, hash) = id + 1;
    return syms->first + id;
}

vram_sym vram_sym_of(struct vram_syms *syms, const char *text)
{
    return vram_sym_add(syms, text, strlen(text), 1);
}

vram_sym vram_sym_find(const struct vram_syms *syms, const char *text, size_t n)
{
    const uint32_t *slot = slot_of(syms, text, n, hash_of(syms->seed, text, n));
    if (*slot)
        return syms->first + *slot - 1;
    return syms->base ? vram_sym_find(syms->base, text, n) : VRAM_SYM_NONE;
}

const char *vram_sym_text(const struct vram_syms *syms, vram_sym sym)
{
    while (sym < syms->first && syms->base)
        syms = syms->base;
    return sym - syms->first < syms->n ? syms->at[sym - syms->first].text : "?";
}
