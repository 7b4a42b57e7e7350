/* SPDX-License-Identifier: Apache-2.0
 *
 * How files spell the paths of parameters, as rules: stored text, text of the path.
 */
#ifndef VRAM_IR_RENAME_H
#define VRAM_IR_RENAME_H

#include "ir/checkpoint.h"

/* The first rule whose `from` is found in a name replaces it by `to`: at the name's beginning, or
 * anywhere when `from` begins with a dot.  One star in `from` stands for a number: tensors that
 * such rules give one path are its parameter's parts.  Numbers are its first dimension; of rules
 * with one `to`, a number's parts lie one behind the other, in the order of the rules:
 *
 *     {".experts.*.w1.weight", ".experts.gate_up_proj"},
 *     {".experts.*.w3.weight", ".experts.gate_up_proj"},     [experts, rows of w1 and w3, columns]
 *
 * One '#' in `from` stands for a number as well, which `to` has again at its own '#'.
 */
struct vram_rename {
    const char *from, *to; /* end of a list: from NULL */
};

/* The path of one name; VRAM_SYM_NONE when out of memory.  rules may be NULL.  Of a part, *rule is
 * the rule's place in the list and *number what the star stood for; else *number is −1. */
vram_sym vram_rename_path(struct vram_cx *cx, const struct vram_rename *rules, vram_sym name,
                          uint32_t *rule, int64_t *number);

/* Gives every tensor another path, by the one it has, and makes one tensor of the parts of a
 * parameter: the array shrinks.  Parts that are not all here stay, marked `incomplete`.  Tensors of
 * files that are outside keep their path; files may be NULL. */
int vram_rename_tensors(struct vram_cx *cx, const struct vram_rename *rules,
                        const struct vram_file *files, struct vram_tensor *tensors, size_t *n);

#endif
