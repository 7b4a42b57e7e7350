/* SPDX-License-Identifier: Apache-2.0
 *
 * What DeepSpeed moves to host memory (0.19.6, offload_optimizer and offload_param with device
 * cpu), and a meter of it.  Nothing of it is on the card, so the events do not know it: counted are
 * the bytes of the tensors, and what torch's host allocator takes for pinned ones, powers of two.
 * Of each rank; the model as it is read is not counted.
 */
#include "train/strategy.h"

static uint64_t power_of_two(uint64_t bytes)
{
    uint64_t size = 1;
    while (size < bytes)
        size *= 2;
    return bytes ? size : 0;
}

void vram_host_take(struct vram_strategy *s, uint64_t bytes, bool pinned)
{
    struct vram_host *h = s->host;
    h->exact += bytes;
    h->held += pinned ? power_of_two(bytes) : bytes;
    h->most_exact = h->exact > h->most_exact ? h->exact : h->most_exact;
    h->most_held = h->held > h->most_held ? h->held : h->most_held;
}

void vram_host_give(struct vram_strategy *s, uint64_t bytes, bool pinned)
{
    s->host->exact -= bytes;
    s->host->held -= pinned ? power_of_two(bytes) : bytes;
}

void vram_host_pin(struct vram_strategy *s, uint64_t bytes)
{
    vram_host_take(s, bytes, false);
    vram_host_take(s, bytes, true);
    vram_host_give(s, bytes, false);
}

bool vram_offloads(const struct vram_strategy *s) { return s->setup->offload != VRAM_OFFLOAD_NONE; }

/* The optimizer runs on the host, on fp32: its states are made in the first step. */
void vram_offload_step(struct vram_strategy *s, uint64_t elements)
{
    if (s->host->stepped)
        return;
    s->host->stepped = true;
    vram_host_take(s, (uint64_t)(s->optimizer->row->on_host - 1) * 4 * elements, false);
}

/* A gradient's piece leaves the card: its norm in float64, its fp32 copy. */
struct vram_handle *vram_offload_piece(struct vram_strategy *s, uint64_t elements,
                                       enum vram_dtype dtype)
{
    struct vram_machine *m = s->m;
    int64_t shape[1] = {(int64_t)elements};
    struct vram_handle *wide = vram_new(m, shape, 1, VRAM_DT_F64, NULL);
    struct vram_handle *norm = vram_new_scalar(m, VRAM_DT_F64);
    vram_drop(m, wide);
    if (dtype != VRAM_DT_F32)
        vram_drop(m, vram_new(m, shape, 1, VRAM_DT_F32, NULL));
    return norm;
}
