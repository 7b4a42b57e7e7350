/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbolic dimensions: whole numbers that may depend on names.  A dim is an id of an interned
 * canonical expression, so that equal expressions are the same id:
 *
 *     a sum of products with 64-bit coefficients over atoms, in a fixed order
 *     atoms: a symbol · floor(a/b) · a mod b · min(a, b) · max(a, b), of such sums
 *
 * ceil(a/b) is floor((a + b - 1)/b), or −floor(−a/b) where the sign of b is open.  A divisor is not 0: b // b is 1.
 *
 * Canonical means: equal by +, −, * is equal by id, and what can be decided is (6*b // 3 is 2*b,
 * (2*b + 1) // 2 is b, b % 1 is 0, max(b, 0) is b when b ≥ 0).  Every symbol has a range, 0 to 2^62 unless said
 * otherwise, and every expression one that follows from it.
 *
 * Arithmetic is exact or the answer is VRAM_DIM_UNKNOWN; it never wraps.  Where an answer is unknown
 * because numbers (not symbols) overflow or divide by zero, `broken` of the table says so until it is
 * cleared, and the pass makes an error of it.  Sizes of expressions are capped (VRAM_DIM_TERMS): a larger one becomes unknown.
 *
 * A table belongs to one pass; not thread safe.  Order of ids and of printed terms depends on the
 * order of the calls only: never on addresses or hashes.
 */
#ifndef VRAM_IR_DIMS_H
#define VRAM_IR_DIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sym.h"
#include "base/text.h"

typedef uint32_t vram_dim;
#define VRAM_DIM_UNKNOWN 0u

#define VRAM_DIM_HIGHEST (INT64_C(1) << 62) /* of a symbol of which nothing is said */

enum { VRAM_DIM_TERMS = 64 }; /* products of one sum, and factors of one product */

enum vram_dim_broken { VRAM_DIM_FINE, VRAM_DIM_OVERFLOW, VRAM_DIM_ZERO_DIVISION, VRAM_DIM_NO_MEMORY };

struct vram_dims; /* opaque */

/* NULL when out of memory.  Names of symbols are interned in syms. */
struct vram_dims *vram_dims_new(struct vram_arena *arena, struct vram_syms *syms);

enum vram_dim_broken vram_dims_broken(struct vram_dims *dims); /* reads and clears */

vram_dim vram_dim_int(struct vram_dims *dims, int64_t n);
/* A symbol of this name: the same one each time. */
vram_dim vram_dim_symbol(struct vram_dims *dims, vram_sym name);
/* A new symbol, for a size that depends on data; its name is stem, or stem_1 … when that is taken. */
vram_dim vram_dim_fresh(struct vram_dims *dims, const char *stem, int64_t low, int64_t high);
/* A new symbol that stands for no data, named likewise. */
vram_dim vram_dim_fresh_input(struct vram_dims *dims, const char *stem);
/* Gives a symbol another name; false when that one is taken. */
bool vram_dim_rename(struct vram_dims *dims, vram_dim symbol, vram_sym name);
/* low ≤ symbol ≤ high from now on; call before the symbol is used. */
void vram_dim_bound(struct vram_dims *dims, vram_dim symbol, int64_t low, int64_t high);

/* Any unknown operand gives unknown (0·unknown too).  floordiv and mod as Python's // and %, ceildiv
 * = −(−a // b). */
vram_dim vram_dim_add(struct vram_dims *dims, vram_dim a, vram_dim b);
vram_dim vram_dim_sub(struct vram_dims *dims, vram_dim a, vram_dim b);
vram_dim vram_dim_mul(struct vram_dims *dims, vram_dim a, vram_dim b);
vram_dim vram_dim_floordiv(struct vram_dims *dims, vram_dim a, vram_dim b);
vram_dim vram_dim_ceildiv(struct vram_dims *dims, vram_dim a, vram_dim b);
vram_dim vram_dim_mod(struct vram_dims *dims, vram_dim a, vram_dim b);
vram_dim vram_dim_min(struct vram_dims *dims, vram_dim a, vram_dim b);
vram_dim vram_dim_max(struct vram_dims *dims, vram_dim a, vram_dim b);
/* b·result = a as a polynomial (seq*batch*768 by batch*64); UNKNOWN when it does not divide. */
vram_dim vram_dim_exact(struct vram_dims *dims, vram_dim a, vram_dim b);

bool vram_dim_is_int(const struct vram_dims *dims, vram_dim a, int64_t *out);
bool vram_dim_is_symbol(const struct vram_dims *dims, vram_dim a, vram_sym *name);
/* Does it depend on a symbol that vram_dim_fresh made? */
bool vram_dim_on_data(const struct vram_dims *dims, vram_dim a);
/* Calls each for the symbols in a, one that stands twice perhaps twice; stops at what is not 0 and returns it. */
int vram_dim_symbols(const struct vram_dims *dims, vram_dim a, int (*each)(void *ctx, vram_dim symbol), void *ctx);
/* How many symbols and operations there are: a number that grows when one is made. */
size_t vram_dims_count(const struct vram_dims *dims);
/* Its range; INT64_MIN / INT64_MAX where it has no end. */
void vram_dim_range(const struct vram_dims *dims, vram_dim a, int64_t *low, int64_t *high);

enum vram_truth { VRAM_FALSE, VRAM_TRUE, VRAM_MAYBE };
/* What holds for every value of the symbols within their ranges. */
enum vram_truth vram_dim_equal(struct vram_dims *dims, vram_dim a, vram_dim b);
enum vram_truth vram_dim_less(struct vram_dims *dims, vram_dim a, vram_dim b); /* a < b */

/* Values for symbols. */
struct vram_dim_binding {
    vram_sym name;
    vram_dim value; /* a number or any expression */
};
vram_dim vram_dim_bind(struct vram_dims *dims, vram_dim a, const struct vram_dim_binding *at, size_t n);
/* a = c·symbol + rest with a number c and no symbol in the rest: what the symbol is where a is value.
 * UNKNOWN where a is not so, or the value does not divide. */
vram_dim vram_dim_solve(struct vram_dims *dims, vram_dim a, vram_dim symbol, vram_dim value);

/* "batch*(seq+576)": numbers, names, + - * // % ( ), min(a, b), max(a, b), in Python's grammar and
 * precedence; a name that is no identifier stands in backquotes.  parse(print(a)) is a. */
void vram_dim_print(const struct vram_dims *dims, vram_dim a, struct vram_text *out);
/* The same as a string in the arena; NULL when out of memory. */
const char *vram_dim_text(const struct vram_dims *dims, vram_dim a);
/* A name that needs no backquotes: letters, digits, _ and ., no digit first. */
bool vram_dim_is_name(const char *text, size_t n);
/* A dim_param as people and exporters write it: "2", "batch", "past + 1", "(((height - 1)//8)) + 1",
 * "floor(a/2)", "8//batch".  What does not parse is one symbol of that name, whole. */
vram_dim vram_dim_parse(struct vram_dims *dims, const char *text, size_t n);

#endif
