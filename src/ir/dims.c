/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of dims: numbers, and interned sums of products of atoms; see dims.h, dims_table.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/math.h"
#include "ir/dims_table.h"

vram_dim dim_broken(struct vram_dims *dims, enum vram_dim_broken why)
{
    if (!dims->broken)
        dims->broken = why;
    return VRAM_DIM_UNKNOWN;
}

enum vram_dim_broken vram_dims_broken(struct vram_dims *dims)
{
    enum vram_dim_broken why = dims->broken;
    dims->broken = VRAM_DIM_FINE;
    return why;
}

/* ---- hash indices -------------------------------------------------------------------------- */

static uint32_t mix(uint32_t h, uint64_t v)
{
    uint64_t x = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(x ^ (x >> 32));
}

static uint32_t seed_of(const struct vram_dims *dims) { return (uint32_t)dims->syms->seed; }

/* The next element whose hash is this one; UINT32_MAX when there is none.  *at starts as hash. */
static uint32_t probe(const struct dim_index *index, uint32_t hash, uint32_t *at)
{
    for (; index->slots; ++*at) {
        uint32_t slot = index->slots[*at & index->mask];
        if (!slot)
            break;
        if (index->hashes.at[slot - 1] == hash) {
            ++*at;
            return slot - 1;
        }
    }
    return UINT32_MAX;
}

static void occupy(struct dim_index *index, uint32_t hash, uint32_t element)
{
    uint32_t i = hash & index->mask;
    while (index->slots[i])
        i = (i + 1) & index->mask;
    index->slots[i] = element + 1;
}

/* Adds the element that comes next. */
static bool index_add(struct vram_dims *dims, struct dim_index *index, uint32_t hash)
{
    uint32_t n = (uint32_t)index->hashes.n;
    if (!index->slots || n >= index->mask / 2) {
        uint32_t mask = index->slots ? index->mask * 2 + 1 : 63;
        uint32_t *slots = vram_arena_array(dims->arena, (size_t)mask + 1, sizeof *slots);
        if (!slots || n >= INT32_MAX / 4)
            return false;
        index->slots = slots;
        index->mask = mask;
        for (uint32_t i = 0; i < n; i++)
            occupy(index, index->hashes.at[i], i);
    }
    if (!vram_vec_push(&index->hashes, dims->arena, hash))
        return false;
    occupy(index, hash, n);
    return true;
}

struct vram_dims *vram_dims_new(struct vram_arena *arena, struct vram_syms *syms)
{
    struct vram_dims *dims = vram_arena_alloc(arena, sizeof *dims);
    if (!dims)
        return NULL;
    dims->arena = arena;
    dims->syms = syms;
    /* element 0: no sum, the product of nothing */
    struct dim_product one = {.range = {1, 1}};
    if (!vram_vec_push(&dims->sums, arena, (struct dim_sum){.n = 0}) ||
        !index_add(dims, &dims->sum_index, 0) || !vram_vec_push(&dims->products, arena, one) ||
        !index_add(dims, &dims->product_index, 0))
        return NULL;
    return dims;
}

/* ---- products ------------------------------------------------------------------------------ */

uint32_t dim_product_of(struct vram_dims *dims, const uint32_t *atoms, uint32_t n)
{
    uint32_t hash = seed_of(dims), at, p;
    if (!n)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        hash = mix(hash, atoms[i]);
    for (at = hash; (p = probe(&dims->product_index, hash, &at)) != UINT32_MAX;)
        if (dims->products.at[p].n == n && !memcmp(dims->products.at[p].atoms, atoms, n * sizeof *atoms))
            return p;
    uint32_t *own = vram_arena_array(dims->arena, n, sizeof *own);
    struct dim_product product = {.n = n, .atoms = own, .range = {1, 1}};
    if (!own)
        return 0;
    memcpy(own, atoms, n * sizeof *own);
    for (uint32_t i = 0; i < n; i++) {
        const struct dim_atom *atom = &dims->atoms.at[atoms[i]];
        product.range = dim_range_mul(product.range, atom->range);
        product.leaves += atom->leaves;
        product.data |= atom->data;
    }
    if (!vram_vec_push(&dims->products, dims->arena, product) ||
        !index_add(dims, &dims->product_index, hash))
        return 0;
    return (uint32_t)dims->products.n - 1;
}

/* ---- sums ---------------------------------------------------------------------------------- */

static int by_product(const void *a, const void *b)
{
    uint32_t x = ((const struct dim_term *)a)->product, y = ((const struct dim_term *)b)->product;
    return (x > y) - (x < y);
}

/* Sorts, adds up equal products, drops zeros; UINT32_MAX when a coefficient overflows. */
static uint32_t tidy(struct dim_term *terms, uint32_t n)
{
    uint32_t kept = 0, i;
    for (i = 1; i < n && terms[i - 1].product < terms[i].product; i++)
        ;
    if (i < n)
        qsort(terms, n, sizeof *terms, by_product);
    for (i = 0; i < n;) {
        struct dim_term sum = terms[i++];
        for (; i < n && terms[i].product == sum.product; i++)
            if (!vram_add_i64(sum.c, terms[i].c, &sum.c))
                return UINT32_MAX;
        if (sum.c)
            terms[kept++] = sum;
    }
    return kept;
}

static vram_dim new_sum(struct vram_dims *dims, const struct dim_term *terms, uint32_t n, uint32_t hash)
{
    struct dim_sum sum = {.n = n, .range = {0, 0}};
    for (uint32_t i = 0; i < n; i++) {
        const struct dim_product *p = &dims->products.at[terms[i].product];
        struct dim_range c = {terms[i].c, terms[i].c};
        sum.range = dim_range_add(sum.range, dim_range_mul(c, p->range));
        sum.leaves += p->leaves + (!p->n || terms[i].c != 1);
        sum.data |= p->data;
    }
    if (sum.leaves > MOST_LEAVES)
        return VRAM_DIM_UNKNOWN;
    struct dim_term *own = vram_arena_array(dims->arena, n, sizeof *own);
    if (!own)
        return dim_broken(dims, VRAM_DIM_NO_MEMORY);
    memcpy(own, terms, n * sizeof *own);
    sum.terms = own;
    if (!vram_vec_push(&dims->sums, dims->arena, sum) || !index_add(dims, &dims->sum_index, hash))
        return dim_broken(dims, VRAM_DIM_NO_MEMORY);
    return (vram_dim)dims->sums.n - 1;
}

vram_dim dim_sum_of(struct vram_dims *dims, struct dim_term *terms, uint32_t n)
{
    n = tidy(terms, n);
    if (n == UINT32_MAX || n > VRAM_DIM_TERMS)
        return VRAM_DIM_UNKNOWN;
    if (n == 0)
        return dim_small_id(0);
    if (n == 1 && !terms->product && terms->c >= -SMALL && terms->c < SMALL)
        return dim_small_id(terms->c);
    uint32_t hash = seed_of(dims), at, s;
    for (uint32_t i = 0; i < n; i++)
        hash = mix(mix(hash, terms[i].product), (uint64_t)terms[i].c);
    for (at = hash; (s = probe(&dims->sum_index, hash, &at)) != UINT32_MAX;) {
        const struct dim_sum *sum = &dims->sums.at[s];
        uint32_t i = 0;
        while (sum->n == n && i < n && sum->terms[i].c == terms[i].c &&
               sum->terms[i].product == terms[i].product)
            i++;
        if (i == n && s)
            return s;
    }
    return new_sum(dims, terms, n, hash);
}

vram_dim vram_dim_int(struct vram_dims *dims, int64_t n)
{
    if (n >= -SMALL && n < SMALL)
        return dim_small_id(n);
    struct dim_term term = {n, 0};
    return dim_sum_of(dims, &term, 1);
}

int64_t dim_constant(const struct vram_dims *dims, vram_dim a)
{
    if (dim_small(a))
        return dim_small_value(a);
    const struct dim_sum *sum = &dims->sums.at[a];
    return sum->n && !sum->terms[0].product ? sum->terms[0].c : 0; /* the product 0 comes first */
}

bool vram_dim_is_int(const struct vram_dims *dims, vram_dim a, int64_t *out)
{
    if (dim_small(a)) {
        *out = dim_small_value(a);
        return true;
    }
    const struct dim_sum *sum = &dims->sums.at[a];
    if (!a || sum->n != 1 || sum->terms[0].product)
        return false;
    *out = sum->terms[0].c;
    return true;
}

/* ---- atoms --------------------------------------------------------------------------------- */

const struct dim_atom *dim_alone(const struct vram_dims *dims, vram_dim a)
{
    if (dim_small(a) || !a)
        return NULL;
    const struct dim_sum *sum = &dims->sums.at[a];
    if (sum->n != 1 || sum->terms[0].c != 1 || dims->products.at[sum->terms[0].product].n != 1)
        return NULL;
    return &dims->atoms.at[dims->products.at[sum->terms[0].product].atoms[0]];
}

/* Its number in the table; UINT32_MAX when there is none of this name. */
static uint32_t find_symbol(const struct vram_dims *dims, vram_sym name, uint32_t hash)
{
    uint32_t at = hash, i;
    while ((i = probe(&dims->atom_index, hash, &at)) != UINT32_MAX)
        if (dims->atoms.at[i].kind == ATOM_SYMBOL && dims->atoms.at[i].name == name)
            break;
    return i;
}

static vram_dim add_atom(struct vram_dims *dims, struct dim_atom atom, uint32_t hash)
{
    uint32_t number = (uint32_t)dims->atoms.n;
    if (!vram_vec_push(&dims->atoms, dims->arena, atom) || !index_add(dims, &dims->atom_index, hash))
        return dim_broken(dims, VRAM_DIM_NO_MEMORY);
    struct dim_term term = {1, dim_product_of(dims, &number, 1)};
    if (!term.product)
        return dim_broken(dims, VRAM_DIM_NO_MEMORY);
    return dims->atoms.at[number].self = dim_sum_of(dims, &term, 1);
}

static uint32_t symbol_hash(const struct vram_dims *dims, vram_sym name)
{
    return mix(mix(seed_of(dims), ATOM_SYMBOL), name);
}

vram_dim vram_dim_symbol(struct vram_dims *dims, vram_sym name)
{
    if (name == VRAM_SYM_NONE)
        return dim_broken(dims, VRAM_DIM_NO_MEMORY);
    uint32_t hash = symbol_hash(dims, name), i = find_symbol(dims, name, hash);
    if (i != UINT32_MAX)
        return dims->atoms.at[i].self;
    struct dim_atom atom = {.kind = ATOM_SYMBOL, .name = name, .leaves = 1,
                            .range = {0, VRAM_DIM_HIGHEST}};
    return add_atom(dims, atom, hash);
}

static vram_dim fresh(struct vram_dims *dims, const char *stem, struct dim_atom atom)
{
    char text[256];
    vram_sym first = vram_sym_of(dims->syms, stem), name = first;
    if (first == VRAM_SYM_NONE)
        return dim_broken(dims, VRAM_DIM_NO_MEMORY);
    uint32_t namesake = find_symbol(dims, first, symbol_hash(dims, first));
    for (uint32_t i = namesake; i != UINT32_MAX; i = find_symbol(dims, name, symbol_hash(dims, name))) {
        snprintf(text, sizeof text, "%.240s_%" PRIu32, stem, ++dims->atoms.at[namesake].next);
        name = vram_sym_of(dims->syms, text);
        if (name == VRAM_SYM_NONE)
            return dim_broken(dims, VRAM_DIM_NO_MEMORY);
    }
    atom.name = name;
    return add_atom(dims, atom, symbol_hash(dims, name));
}

vram_dim vram_dim_fresh(struct vram_dims *dims, const char *stem, int64_t low, int64_t high)
{
    struct dim_atom atom = {.kind = ATOM_SYMBOL, .data = true, .leaves = 1, .range = {low, high}};
    return fresh(dims, stem, atom);
}

vram_dim vram_dim_fresh_input(struct vram_dims *dims, const char *stem)
{
    struct dim_atom atom = {.kind = ATOM_SYMBOL, .leaves = 1, .range = {0, VRAM_DIM_HIGHEST}};
    return fresh(dims, stem, atom);
}

bool vram_dim_rename(struct vram_dims *dims, vram_dim symbol, vram_sym name)
{
    const struct dim_atom *atom = dim_alone(dims, symbol);
    uint32_t hash = symbol_hash(dims, name);
    if (!atom || atom->kind != ATOM_SYMBOL || name == VRAM_SYM_NONE ||
        find_symbol(dims, name, hash) != UINT32_MAX)
        return false;
    uint32_t number = (uint32_t)(atom - dims->atoms.at);
    dims->atoms.at[number].name = name;
    dims->atom_index.hashes.at[number] = hash;
    occupy(&dims->atom_index, hash, number); /* its old slot fits no name any more */
    return true;
}

void vram_dim_bound(struct vram_dims *dims, vram_dim symbol, int64_t low, int64_t high)
{
    const struct dim_atom *atom = dim_alone(dims, symbol);
    if (!atom || atom->kind != ATOM_SYMBOL)
        return;
    struct dim_range range = {low, high};
    dims->atoms.at[atom - dims->atoms.at].range = range;
    dims->products.at[dims->sums.at[symbol].terms[0].product].range = range;
    dims->sums.at[symbol].range = range;
}

vram_dim dim_atom_of(struct vram_dims *dims, enum atom_kind kind, vram_dim a, vram_dim b)
{
    uint32_t hash = mix(mix(mix(seed_of(dims), kind), a), b), at = hash, i;
    while ((i = probe(&dims->atom_index, hash, &at)) != UINT32_MAX) {
        const struct dim_atom *x = &dims->atoms.at[i];
        if (x->kind == kind && x->a == a && x->b == b)
            return x->self;
    }
    struct dim_atom atom = {.kind = (uint8_t)kind, .a = a, .b = b, .leaves = 0,
                            .range = dim_range_atom(dims, kind, a, b)};
    if (atom.range.low == atom.range.high)
        return vram_dim_int(dims, atom.range.low);
    for (int k = 0; k < 2; k++) {
        vram_dim x = k ? b : a;
        atom.leaves += dim_small(x) ? 1 : dims->sums.at[x].leaves;
        atom.data |= vram_dim_on_data(dims, x);
    }
    return atom.leaves > MOST_LEAVES ? VRAM_DIM_UNKNOWN : add_atom(dims, atom, hash);
}

bool vram_dim_is_symbol(const struct vram_dims *dims, vram_dim a, vram_sym *name)
{
    const struct dim_atom *atom = dim_alone(dims, a);
    if (!atom || atom->kind != ATOM_SYMBOL)
        return false;
    *name = atom->name;
    return true;
}

bool vram_dim_on_data(const struct vram_dims *dims, vram_dim a)
{
    return !dim_small(a) && dims->sums.at[a].data;
}

size_t vram_dims_count(const struct vram_dims *dims) { return dims->atoms.n; }
