/* SPDX-License-Identifier: Apache-2.0
 *
 * How a table of dims is made; private to src/ir/dims*.c.
 *
 * A dim with its top bit set is a small number, which is never stored.  Any other is a sum:
 *
 *     sum      terms in the order of their products; the product 0 is 1
 *     product  atoms in their order, one that stands k times is a power
 *     atom     a symbol, or an operation of two dims that is no polynomial
 *
 * Sums, products and atoms are interned; their numbers are their order of making.
 */
#ifndef VRAM_IR_DIMS_TABLE_H
#define VRAM_IR_DIMS_TABLE_H

#include <string.h>

#include "base/vec.h"
#include "ir/dims.h"

enum atom_kind { ATOM_SYMBOL, ATOM_FLOORDIV, ATOM_MOD, ATOM_MIN, ATOM_MAX };

enum {
    SMALL = 1 << 30,    /* numbers in [−SMALL, SMALL) are their own ids */
    MOST_LEAVES = 256,  /* symbols and numbers in an expression when it is written out */
    MOST_PRODUCTS = 1024, /* of terms in one multiplication */
    MOST_OPERANDS = 16  /* of one min or max */
};

struct dim_range {
    int64_t low, high; /* INT64_MIN and INT64_MAX: no end */
};

struct dim_term {
    int64_t c; /* never 0 */
    uint32_t product;
};

struct dim_atom {
    uint8_t kind;
    bool data;      /* depends on a symbol that stands for data */
    vram_sym name;  /* of a symbol */
    vram_dim a, b;  /* of an operation */
    vram_dim self;  /* the sum of this atom alone */
    uint32_t leaves;
    uint32_t next;  /* of a symbol: number that its next namesake tries */
    struct dim_range range;
    uint32_t bound_in; /* binding number for which `bound` holds */
    vram_dim bound;
};

struct dim_product {
    uint32_t n, leaves;
    const uint32_t *atoms;
    bool data;
    struct dim_range range;
};

struct dim_sum {
    uint32_t n, leaves;
    const struct dim_term *terms;
    bool data;
    struct dim_range range;
};

/* Hash index over the elements of a vector. */
struct dim_index {
    uint32_t *slots; /* element numbers + 1; 0 = free */
    uint32_t mask;
    VRAM_VEC(uint32_t) hashes; /* by element */
};

struct vram_dims {
    struct vram_arena *arena;
    struct vram_syms *syms;
    enum vram_dim_broken broken;
    uint32_t binding; /* number of the last one */
    VRAM_VEC(struct dim_atom) atoms;
    VRAM_VEC(struct dim_product) products;
    VRAM_VEC(struct dim_sum) sums;
    struct dim_index atom_index, product_index, sum_index;
};

static inline bool dim_small(vram_dim a) { return a >> 31; }
static inline int64_t dim_small_value(vram_dim a) { return (int64_t)(a & INT32_MAX) - SMALL; }
static inline vram_dim dim_small_id(int64_t n) { return (uint32_t)(n + SMALL) | UINT32_C(1) << 31; }

/* A dim as terms; those of a small number are in *own. */
static inline const struct dim_term *dim_terms(const struct vram_dims *dims, vram_dim a,
                                               struct dim_term *own, uint32_t *n)
{
    if (!dim_small(a)) {
        *n = dims->sums.at[a].n;
        return dims->sums.at[a].terms;
    }
    *own = (struct dim_term){dim_small_value(a), 0};
    *n = own->c != 0;
    return own;
}

/* dims.c: terms in any order, equal products added up here; UNKNOWN when too many or out of memory */
vram_dim dim_sum_of(struct vram_dims *dims, struct dim_term *terms, uint32_t n);
/* atoms sorted; 0 on failure unless n is 0 */
uint32_t dim_product_of(struct vram_dims *dims, const uint32_t *atoms, uint32_t n);
vram_dim dim_atom_of(struct vram_dims *dims, enum atom_kind kind, vram_dim a, vram_dim b);
/* The atom that a is alone, or NULL. */
const struct dim_atom *dim_alone(const struct vram_dims *dims, vram_dim a);
/* The constant term. */
int64_t dim_constant(const struct vram_dims *dims, vram_dim a);
vram_dim dim_broken(struct vram_dims *dims, enum vram_dim_broken why);

/* dims_range.c */
struct dim_range dim_range_of(const struct vram_dims *dims, vram_dim a);
struct dim_range dim_range_mul(struct dim_range a, struct dim_range b);
struct dim_range dim_range_add(struct dim_range a, struct dim_range b);
struct dim_range dim_range_atom(const struct vram_dims *dims, enum atom_kind kind, vram_dim a,
                                vram_dim b);

#endif
