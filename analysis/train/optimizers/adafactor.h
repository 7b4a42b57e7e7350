/* SPDX-License-Identifier: Apache-2.0
 *
 * Scripts of transformers' Adafactor (optimization.py), which GaLore's has as well: everything in fp32;
 * names live on into the next parameter.
 */
#ifndef VRAM_TRAIN_OPTIMIZERS_ADAFACTOR_H
#define VRAM_TRAIN_OPTIMIZERS_ADAFACTOR_H

/* root mean square: a norm and its quotient */
#define RMS(name) "norm=1:fp32 " name "=1:fp32 -norm"
/* the update divided by how much its root mean square is too large */
#define CLIPPED RMS("ratio") " quotient=1:fp32 -ratio -quotient"

#define ADAFACTOR_MATRIX \
    "-grad32 grad32~grad @row=n/C:fp32 @column=n/R:fp32 -param32 param32~param " RMS("^rms") " " \
    "square=n:fp32 update=n:fp32 -square r=n/C:fp32 -r c=n/R:fp32 -c mean=n/C/R:fp32 r=n/C:fp32 -mean c=n/R:fp32 " \
    "product=n:fp32 -r -c update<product " CLIPPED " negated=n:fp32 -negated"
#define ADAFACTOR_VECTOR \
    "-grad32 grad32~grad @square_avg=n:fp32 -param32 param32~param " RMS("^rms") " " \
    "square=n:fp32 update=n:fp32 -square update=n:fp32 " CLIPPED " negated=n:fp32 -negated"

#endif
