/* SPDX-License-Identifier: Apache-2.0
 *
 * What an optimizer does with a parameter, as a row says it: words in order, one tensor each.
 *
 *     NAME=SIZE    a new tensor; what NAME was dies when the new one is there
 *     NAME~grad    the gradient in fp32 (~param: the parameter): itself when it is that already
 *     NAME<OTHER   NAME is now what OTHER was (grad<OTHER, param<OTHER: the gradient becomes it; the parameter
 *                  lives in it; behind @: the state becomes what OTHER is, and OTHER what the state was)
 *     [WORDS]      in a list's script: these for one parameter after the other
 *     -NAME        NAME dies (-grad: the parameter's gradient)
 *
 * in front of NAME:   @ state that stays, made when it is not there yet    ^ state made anew each step
 *                     & state of the whole optimizer, made once
 *                     ? only with weight decay    % only without    ! only in the parameter's first step
 *                     + only in later ones
 *
 * SIZE is a count of elements, factors joined by * and / (rounded up), then :DTYPE when it is not the
 * parameter's, then :host or :managed when it is not on the card.  Factors: n all elements, C the last
 * dimension, R the one before, m and M the smaller and the larger of the two, r optimizer.rank, numbers.
 */
#ifndef VRAM_TRAIN_SCRIPT_H
#define VRAM_TRAIN_SCRIPT_H

#include "machine/machine.h"

enum vram_act { VRAM_ACT_NEW, VRAM_ACT_CAST, VRAM_ACT_RENAME, VRAM_ACT_DROP };
enum vram_keep { VRAM_KEEP_NO, VRAM_KEEP_STATE, VRAM_KEEP_REMADE, VRAM_KEEP_SHARED };
enum vram_place { VRAM_PLACE_CARD, VRAM_PLACE_HOST, VRAM_PLACE_MANAGED };

enum { VRAM_SCRIPT_NAMES = 32, VRAM_SCRIPT_FACTORS = 6, VRAM_SCRIPT_GRAD = VRAM_SCRIPT_NAMES,
       VRAM_SCRIPT_PARAM };

struct vram_factor {
    char letter;    /* 0: number */
    bool divide;
    int64_t number;
};

struct vram_word {
    uint8_t act, keep, place;
    bool decayed, undecayed, first, later;
    bool inner;     /* in brackets */
    bool grad;      /* CAST: of the gradient, not the parameter */
    uint8_t name;   /* number of the name; VRAM_SCRIPT_GRAD, _PARAM: these */
    uint8_t from;   /* RENAME */
    uint8_t dtype;  /* VRAM_DT_NONE: the parameter's */
    uint8_t nfactors;
    struct vram_factor factor[VRAM_SCRIPT_FACTORS];
};

struct vram_script {
    struct vram_word *at;
    uint32_t n;
};

/* Names of all scripts of an optimizer: a name is the same tensor in each. */
struct vram_script_names {
    const char *at[VRAM_SCRIPT_NAMES];
    uint8_t length[VRAM_SCRIPT_NAMES];
    uint32_t n;
};

/* text NULL or "": no words.  Throws when the text is wrong: a mistake in the table. */
struct vram_script vram_script_parse(struct vram_machine *m, struct vram_script_names *names,
                                     const char *text);
/* Elements of a SIZE for a parameter; throws when they are too many. */
int64_t vram_script_elements(struct vram_machine *m, const struct vram_word *w,
                             const struct vram_handle *p, int64_t rank);

#endif
