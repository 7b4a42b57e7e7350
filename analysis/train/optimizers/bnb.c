/* SPDX-License-Identifier: Apache-2.0
 *
 * bitsandbytes (0.50.2): state in blocks of 256 elements with a scale each, or in 32 bits.  Kernels work
 * in place.  Paged state lies in managed memory from 100,000 elements on.
 */
#include "train/optimizer.h"

enum { LEAST_8BIT = 4096, LEAST_PAGED = 100000 };

/* min_8bit_size, and the Trainer's override for embeddings (trainer.py create_optimizer) */
static bool in_32_bits(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return vram_numel(p) < LEAST_8BIT || vram_param_is_embedding(o, p);
}

static bool is_paged(const struct vram_optimizer *o, const struct vram_handle *p)
{
    (void)o;
    return vram_numel(p) >= LEAST_PAGED;
}

static bool is_paged_32(const struct vram_optimizer *o, const struct vram_handle *p)
{
    return is_paged(o, p) && in_32_bits(o, p);
}

#define SMALL "fewer than 4096 elements, and embeddings"
#define LARGE "from 100,000 elements on"

/* maps of the 256 values: one for both signs, one for positive ones */
#define SIGNED "&dynamic=256:fp32 "
#define MAPS SIGNED "&udynamic=256:fp32 "

#define ONE_32(place) "@state1=n:fp32" place
#define TWO_32(place) ONE_32(place) " @state2=n:fp32" place
#define THREE_32(place) "@state1=2*n:fp32" place " @state2=n:fp32" place
#define ONE_8(place) SIGNED "@state1=n:u8" place " @absmax1=n/256:fp32"
#define TWO_8(place) \
    MAPS "@state1=n:u8" place " @state2=n:u8" place " @absmax1=n/256:fp32 @absmax2=n/256:fp32"
/* the scales of two rows of the double state are counted by row */
#define THREE_8(place) \
    MAPS "@absmax1=n/256*2:fp32 @absmax2=n/256:fp32 @state1=2*n:u8" place " @state2=n:u8" place

#define IN_8_BITS(state) \
    {{.when = SMALL, .applies = in_32_bits, .each = state##_32("")}, {.each = state##_8("")}}
#define PAGED_8_BITS(state) \
    {{.when = SMALL " (" LARGE ")", .applies = is_paged_32, .each = state##_32(":managed")}, \
     {.when = SMALL, .applies = in_32_bits, .each = state##_32("")}, \
     {.when = LARGE, .applies = is_paged, .each = state##_8(":managed")}, \
     {.each = state##_8("")}}
#define PAGED_32_BITS(state) \
    {{.when = LARGE, .applies = is_paged, .each = state##_32(":managed")}, {.each = state##_32("")}}

#define TWO_STATES "bitsandbytes/optim/optimizer.py Optimizer2State.init_state"
#define ONE_STATE "bitsandbytes/optim/optimizer.py Optimizer1State.init_state"
#define THREE_STATES "bitsandbytes/optim/ademamix.py init_state"
#define PAGED "; paged (get_state_buffer): read"

const struct vram_optimizer_row vram_optimizers_bnb[] = {
    {.name = "adamw-8bit", .aliases = "adamw-bnb-8bit", .source = TWO_STATES, .rules = IN_8_BITS(TWO)},
    {.name = "adamw-32bit", .aliases = "", .source = TWO_STATES, .rules = {{.each = TWO_32("")}}},
    {.name = "paged-adamw-8bit", .aliases = "", .source = TWO_STATES PAGED, .rules = PAGED_8_BITS(TWO)},
    {.name = "paged-adamw-32bit", .aliases = "", .source = TWO_STATES PAGED, .rules = PAGED_32_BITS(TWO)},
    {.name = "lion-8bit", .aliases = "", .source = ONE_STATE, .rules = IN_8_BITS(ONE)},
    {.name = "lion-32bit", .aliases = "", .source = ONE_STATE, .rules = {{.each = ONE_32("")}}},
    {.name = "paged-lion-8bit", .aliases = "", .source = ONE_STATE PAGED, .rules = PAGED_8_BITS(ONE)},
    {.name = "paged-lion-32bit", .aliases = "", .source = ONE_STATE PAGED, .rules = PAGED_32_BITS(ONE)},
    {.name = "rmsprop-8bit", .aliases = "rmsprop-bnb-8bit", .source = ONE_STATE, .rules = IN_8_BITS(ONE)},
    {.name = "rmsprop-32bit",
     .aliases = "rmsprop-bnb-32bit rmsprop-bnb",
     .source = ONE_STATE,
     .note = "transformers takes 32 bits unless the name says 8bit",
     .rules = {{.each = ONE_32("")}}},
    {.name = "ademamix",
     .aliases = "",
     .source = THREE_STATES,
     .note = "transformers takes 32 bits unless the name says 8bit",
     .rules = {{.each = THREE_32("")}}},
    {.name = "ademamix-8bit", .aliases = "", .source = THREE_STATES, .rules = IN_8_BITS(THREE)},
    {.name = "paged-ademamix",
     .aliases = "paged-ademamix-32bit",
     .source = THREE_STATES PAGED,
     .note = "the double state is managed with the other",
     .rules = PAGED_32_BITS(THREE)},
    {.name = "paged-ademamix-8bit", .aliases = "", .source = THREE_STATES PAGED, .rules = PAGED_8_BITS(THREE)},
    {.name = NULL}};
